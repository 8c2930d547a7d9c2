"""A class is graded once, survives being cut off anywhere, and is written down by one writer; ``--only`` takes a part of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from nbproof.cli.class_table import error_as_json
from nbproof.errors import UsageError
from nbproof.key import Key
from nbproof.marking.results import Verdict
from nbproof.recover.notebook_bytes import HandIn
from nbproof.run.batch import grade_class
from nbproof.run.intake import Intake, select, take_in
from nbproof.run.journal import Watch
from nbproof.run.pool import Pool
from nbproof.testing import Rehearsal, scores
from nbproof.testing.small import LESSON, POINTS, RIGHT
from tests import COURSE

ROOT = Path(__file__).parent.parent.parent
FULL = sum(POINTS.values())


@pytest.mark.slow
@pytest.mark.parametrize("bomb", ["\n\t" * 3_000, "\r\n \r" * 2_000, "\n#" * 100_000, "\n" * 3_000_000], ids=range(4))
def test_blank_lines_without_end_are_neither_coloured_nor_kept(room: Rehearsal, bomb: str) -> None:
    room.hand_in_all({"ada": {**RIGHT, "first": RIGHT["first"] + bomb}, "ben": RIGHT})
    assert scores(room.grade())["ben"] == 4
    kept = nbformat.read(room.autograded("ada"), 4).cells
    (cell,) = (one for one in kept if one.metadata.get("nbgrader", {}).get("grade_id") == "first")
    coloured = cell.metadata.get("magics_language") != "text"
    assert len(cell.source) < (500 if coloured else 31_000)
    assert len(room.page("ada")) < 1_000_000


def test_scores_notebooks_and_gradebook_agree(room: Rehearsal) -> None:
    room.hand_in_all({"ada": RIGHT, "ben": {**RIGHT, "first": "def first(x):\n    return x"}, "zoe": {}})
    assert scores(room.grade()) == room.book() == {"ada": FULL, "ben": FULL - POINTS["first"], "zoe": 0}
    notebook = nbformat.read(room.autograded("ben"), as_version=4)
    text = json.dumps(notebook)
    assert "HIDDEN" not in text
    assert "Shapes" not in text
    assert "CheckFailed" in text
    with room.gradebook() as gradebook:
        comments = {
            one.name: one.auto_comment for one in gradebook.find_submission(LESSON, "zoe").notebooks[0].comments
        }
        assert comments == dict.fromkeys(POINTS, "No response.")


def test_only_what_changed_is_graded_again(room: Rehearsal) -> None:
    room.hand_in_all({"ada": RIGHT, "zoe": {}})
    assert len(room.grade().graded) == 2
    assert room.grade().graded == ()
    room.hand_in("zoe", RIGHT)
    again = room.grade()
    assert again.graded == (("zoe", LESSON),)
    assert scores(again) == {"ada": FULL, "zoe": FULL}
    assert len(room.grade(force=True).graded) == 2


def test_what_changes_while_a_run_goes_on_is_filed_under_what_was_marked(room: Rehearsal) -> None:
    """Folders that are synchronised change between planning and reading: the verdict is on what was read."""
    room.hand_in("ada", RIGHT)
    intake = take_in(COURSE, room.root, [LESSON])

    def late(*given: object) -> Pool:
        room.hand_in("ada", {})  # everything is planned by now, and nothing read for marking
        return room.pool(*given)  # type: ignore[arg-type]

    (score,) = grade_class(COURSE, room.root, intake, [LESSON], pool=late).marks.values()
    assert (score.score, score.how) == (0, "graded")
    (same,) = grade_class(COURSE, room.root, intake, [LESSON], pool=room.pool).marks.values()
    assert (same.score, same.how) == (0, "unchanged")
    room.hand_in("ada", RIGHT)
    (anew,) = grade_class(COURSE, room.root, intake, [LESSON], pool=room.pool).marks.values()
    assert (anew.score, anew.how) == (FULL, "graded")


def test_answers_that_cannot_be_kept_stay_and_stop_nobody_else(room: Rehearsal) -> None:
    """Of ada's second hand-in nothing counts before there is a place for her first answers."""
    room.hand_in_all({"ada": RIGHT, "ben": RIGHT})
    room.grade()
    room.hand_in_all({"ada": {}, "ben": RIGHT, "cyd": RIGHT})
    (room.root / "collected").mkdir()
    (room.root / "collected" / "graded").write_text("")
    told = room.grade().marks
    assert [mark.how for mark in told.values()] == ["not graded", "unchanged", "graded"]
    assert "collected/graded/ada" in next(iter(told.values())).problem and room.verdict("ada").score == FULL
    (room.root / "collected" / "graded").unlink()
    assert scores(room.grade()) == {"ada": 0, "ben": FULL, "cyd": FULL}


def test_seeds_are_fresh_and_can_be_repeated(room: Rehearsal) -> None:
    room.hand_in("ada", RIGHT)
    first, second = room.grade(force=True), room.grade(force=True)
    assert first.seed != second.seed
    assert room.grade(force=True, seed=first.seed).seed == first.seed


def test_links_and_pipes_are_not_followed(room: Rehearsal) -> None:
    ada = room.hand_in("ada", RIGHT)
    for learner in ("link", "pipe", "folder"):
        (room.root / "submitted" / learner / LESSON).mkdir(parents=True)
    (room.root / "submitted" / "link" / LESSON / ada.name).symlink_to(ada)
    os.mkfifo(room.root / "submitted" / "pipe" / LESSON / ada.name)
    (room.root / "submitted" / "folder" / LESSON / ada.name).mkdir()
    (room.root / "submitted" / "thief").symlink_to(ada.parent.parent)
    graded = room.grade()
    assert {score.learner: score.score for score in graded.marks.values() if not score.problem} == {"ada": FULL}
    assert sum(bool(score.problem) for score in graded.marks.values()) >= 3


SIZE = 7


def _verdicts(course: Path) -> set[str]:
    return {path.parent.parent.name for path in course.glob("autograded/*/*/.verdict.json")}


@pytest.mark.slow
def test_killed_anywhere_the_next_run_completes_with_the_same_scores(room: Rehearsal) -> None:
    expected = {}
    for number in range(SIZE):
        right = dict(list(RIGHT.items())[: number % 4])
        room.hand_in(f"learner{number:02d}", right)
        expected[f"learner{number:02d}"] = sum(POINTS[name] for name in right)
    command = [sys.executable, "-m", "course", "grade", "--course", str(room.root), "--no-feedback"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not 2 <= len(_verdicts(room.root)) < SIZE:
        time.sleep(0.1)
    assert process.poll() is None, "it was to be killed in the middle"
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = _verdicts(room.root)
    again = room.grade()
    assert scores(again) == room.book() == expected
    assert {key.learner for key in again.graded} == {*expected} - done, "graded twice"


def test_names_choose_and_one_that_fits_nothing_ends_the_run() -> None:
    """Dropping a name must never mean more, or less, than was asked for."""
    intake = Intake(tuple(HandIn(Key(name, LESSON)) for name in ("ada", "adam", "ben", "second")), ())

    def chosen(*only: str) -> set[str]:
        return {one.key.learner for one in select(intake, only).submissions}

    assert chosen() == {"ada", "adam", "ben", "second"}
    assert chosen("ada", f"ben/{LESSON}") == {"ada", "ben"}
    assert chosen("ad?m/*") == {"adam"} and chosen("*d") == {"second"}
    with pytest.raises(UsageError, match="nothing that was handed in is called 'zoe'") as told:
        chosen("ada", "zoe")
    assert "choose from the learners in submitted/: ada" in told.value.next_command
    with pytest.raises(UsageError, match=rf"'ada/{LESSON[1]}', and may mean: ada/{LESSON}"):
        chosen(f"ada/{LESSON[1]}")


class _InterruptedAfter(Watch):
    """As if somebody pressed Ctrl-C when so many have their verdict."""

    def __init__(self, number: int) -> None:
        self.number = number

    def marked(self, name: str, verdict: Verdict) -> None:
        super().marked(name, verdict)
        if self.done == self.number:
            raise KeyboardInterrupt


def test_a_run_that_is_interrupted_tells_what_it_had_graded(room: Rehearsal) -> None:
    room.hand_in_all(dict.fromkeys(("ada", "ben", "cleo"), RIGHT))
    room.hand_in("ada", {})
    watch = _InterruptedAfter(2)
    with pytest.raises(KeyboardInterrupt):
        room.grade(watch=watch)
    data = error_as_json(COURSE, None, watch.marks, seconds=1)
    told = {one["learner"]: (one["how"], one["score"], len(one["exercises"])) for one in data["submissions"]}
    assert told == {"ada": ("graded", 0, len(POINTS)), "ben": ("graded", FULL, len(POINTS))}
    assert "run the same command again" in data["error"]["next"]
    assert {key.learner for key in room.grade().graded} >= {"cleo"} and len(room.book()) == 3
