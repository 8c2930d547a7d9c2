"""A class is graded once, survives being cut off anywhere, and is written down by one writer; ``--only`` takes a part of it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from nbproof.cli.class_json import error_as_json
from nbproof.cli.live import Counting
from nbproof.errors import CourseError, UsageError
from nbproof.marking.results import Verdict
from nbproof.run.batch import grade_class
from nbproof.run.intake import Intake, Submission, take_in
from nbproof.run.plan import select
from nbproof.run.pool import Pool
from nbproof.testing import Rehearsal, scores
from nbproof.testing.small import LESSON, POINTS, RIGHT

ROOT = Path(__file__).parent.parent.parent
FULL = sum(POINTS.values())


def test_a_lesson_that_nobody_has_handed_in_is_not_taken_apart(room: Rehearsal) -> None:
    (room.root / "source" / "02_later").mkdir()
    (room.root / "source" / "02_later" / "02_later.ipynb").write_text("no notebook yet")
    room.hand_in("ada", RIGHT)
    assert scores(room.grade([LESSON, "02_later"])) == {"ada": FULL}


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


@pytest.mark.nightly
def test_submissions_are_marked_side_by_side(room: Rehearsal) -> None:
    for number in range(5):
        room.hand_in(f"learner{number}", dict(list(RIGHT.items())[: number % 4]))
    graded = room.grade(pool=None, workers=3)
    assert [score.score for score in graded.marks.values()] == [0, 2, 3, 4, 0]


def test_only_what_changed_is_graded_again(room: Rehearsal) -> None:
    room.hand_in_all({"ada": RIGHT, "zoe": {}})
    assert len(room.grade().graded) == 2
    assert room.grade().graded == ()
    room.hand_in("zoe", RIGHT)
    again = room.grade()
    assert again.graded == (("zoe", LESSON),)
    assert scores(again) == {"ada": FULL, "zoe": FULL}
    assert len(room.grade(force=True).graded) == 2


@pytest.mark.parametrize(
    "before", [{}, {"first": "def first(x):\n    return x"}], ids=["never graded", "graded before"]
)
def test_what_changes_while_a_run_goes_on_is_filed_under_what_was_marked(
    room: Rehearsal, before: dict[str, str]
) -> None:
    """Folders that are synchronised change between planning and reading: the verdict is on what was read."""
    room.hand_in("ada", {**RIGHT, **before})
    intake = take_in(room.root, [LESSON], [LESSON])
    if before:
        grade_class(room.root, intake, [LESSON], pool=room.pool)

    def late(*given: object) -> Pool:
        room.hand_in("ada", {})  # everything is planned by now, and nothing read for marking
        return room.pool(*given)  # type: ignore[arg-type]

    (score,) = grade_class(room.root, intake, [LESSON], pool=late, force=bool(before)).marks.values()
    assert (score.score, score.how) == (0, "graded")
    (same,) = grade_class(room.root, intake, [LESSON], pool=room.pool).marks.values()
    assert (same.score, same.how) == (0, "unchanged")
    room.hand_in("ada", {**RIGHT, **before})
    (anew,) = grade_class(room.root, intake, [LESSON], pool=room.pool).marks.values()
    assert (anew.score, anew.how) == (FULL - (POINTS["first"] if before else 0), "graded")


class _InterruptedAfter(Counting):
    """As if somebody pressed Ctrl-C when so many have their verdict."""

    def __init__(self, number: int) -> None:
        super().__init__()
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
    data = error_as_json(None, watch.marks, exit_code=130, seconds=1)
    told = {one["learner"]: (one["how"], one["score"], len(one["exercises"])) for one in data["submissions"]}
    assert told == {"ada": ("graded", 0, len(POINTS)), "ben": ("graded", FULL, len(POINTS))}


def test_a_forced_run_that_is_interrupted_tells_what_it_graded_and_goes_on_without_force(room: Rehearsal) -> None:
    learners = ("ada", "ben", "cleo")
    room.hand_in_all(dict.fromkeys(learners, RIGHT))
    before = room.grade().seed

    watch = _InterruptedAfter(1)
    with pytest.raises(KeyboardInterrupt):
        room.grade(force=True, watch=watch)
    (first,) = watch.marks
    assert first.how == "graded"
    gone_on = room.grade()
    assert {score.learner for score in gone_on.marks.values() if score.how == "graded"} == {*learners} - {first.learner}
    assert {score.verdict.seed for score in gone_on.marks.values()} == {gone_on.seed}
    assert gone_on.seed != before
    assert room.grade().graded == ()


def test_seeds_are_fresh_and_can_be_repeated(room: Rehearsal) -> None:
    room.hand_in("ada", RIGHT)
    first, second = room.grade(force=True), room.grade(force=True)
    assert first.seed != second.seed
    assert room.grade(force=True, seed=first.seed).seed == first.seed


def test_a_manual_mark_stays(room: Rehearsal) -> None:
    room.hand_in("zoe", {})
    room.grade()
    with room.gradebook() as gradebook:
        mark = gradebook.find_grade("test_first", LESSON, LESSON, "zoe")
        mark.manual_score = 1.5
        gradebook.db.commit()
    (score,) = room.grade(force=True).marks.values()
    assert score.score == 1.5


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"hello", "not a notebook"),
        (b"", "the file is empty"),
        (b"{}", "holds no cells"),
        (b"[" * 200_000, "holds no cells"),
        (b'{"cells": ' + b"[" * 3_000_000, "holds no cells"),
    ],
    ids=["text", "empty", "no cells", "deep", "large and deep"],
)
def test_a_broken_file_is_listed_and_the_others_go_on(room: Rehearsal, content: bytes, says: str) -> None:
    room.hand_in("ada", RIGHT)
    broken = room.hand_in("mal", {})
    broken.write_bytes(content)
    ada, mal = room.grade().marks.values()
    assert ada.score == FULL
    assert says in mal.problem
    assert broken.read_bytes() == content


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


def _verdicts(course: Path) -> dict[str, int]:
    return {path.parent.parent.name: path.stat().st_mtime_ns for path in course.glob("autograded/*/*/.verdict.json")}


def _until_some_are_graded(course: Path, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None and not 2 <= len(_verdicts(course)) < SIZE:
        time.sleep(0.1)
    assert process.poll() is None, "it was to be killed in the middle"


def _until_chance_says(course: Path, process: subprocess.Popen[bytes]) -> None:
    time.sleep(random.uniform(0.5, 9))


@pytest.mark.slow
@pytest.mark.parametrize(
    "moments",
    [[_until_some_are_graded], pytest.param([_until_chance_says] * 3, marks=pytest.mark.nightly)],
    ids=["in the middle", "anywhere"],
)
def test_killed_anywhere_the_next_run_completes_with_the_same_scores(
    room: Rehearsal, moments: list[Callable[[Path, subprocess.Popen[bytes]], None]]
) -> None:
    expected = {}
    for number in range(SIZE):
        right = dict(list(RIGHT.items())[: number % 4])
        room.hand_in(f"learner{number:02d}", right)
        expected[f"learner{number:02d}"] = sum(POINTS[name] for name in right)
    command = [sys.executable, "-m", "course", "grade", "--course", str(room.root), "--no-feedback"]
    for moment in moments:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        moment(room.root, process)
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = _verdicts(room.root)
    assert scores(room.grade()) == expected
    assert room.book() == expected
    assert done.items() <= _verdicts(room.root).items(), "graded twice"


@pytest.mark.nightly
def test_whoever_grades_a_class_never_imports_torch(room: Rehearsal) -> None:
    # It takes a second, which the process that forks workers spends anyway. Pages with pictures need it, and draw
    # from few bytes that the judge has packed.
    room.hand_in_all({"ada": RIGHT, "ben": {**RIGHT, "third": "def third(x):\n    return x * 2"}})
    program = (
        "import sys; from nbproof.cli.main import main\n"
        f"sys.argv = ['course', 'grade', '--no-feedback', '--course', {str(room.root)!r}]\n"
        "code = main(); print('torch:', 'torch' in sys.modules); sys.exit(code)"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "torch: False" in run.stdout
    assert room.book() == {"ada": FULL, "ben": FULL - POINTS["third"]}


LEARNERS = ("ada", "adam", "ben", "second")


def _chosen(*only: str) -> set[str]:
    one = Intake(tuple(Submission(name, LESSON, Path(name)) for name in LEARNERS), ())
    chosen = select(one, [LESSON], only)
    return {submission.learner for submission in chosen.intake.submissions}


@pytest.mark.parametrize(
    ("only", "learners"),
    [
        ((), set(LEARNERS)),
        (("ada",), {"ada"}),
        (("ada*",), {"ada", "adam"}),
        (("ada", "ben"), {"ada", "ben"}),
        ((f"ben/{LESSON}",), {"ben"}),
        ((f"{LESSON}/ben",), {"ben"}),
        (("ad?m/*",), {"adam"}),
        (("second",), {"second"}),
        (("*",), set(LEARNERS)),
    ],
)
def test_names_choose(only: tuple[str, ...], learners: set[str]) -> None:
    assert _chosen(*only) == learners


@pytest.mark.parametrize(
    ("only", "fact", "next_command"),
    [
        ("adaa", "no learner is called 'adaa'", "did you mean ada"),
        ("nobody", "no learner is called 'nobody'", "choose from the learners in submitted/"),
        (f"bne/{LESSON}", f"nothing that was handed in is called 'bne/{LESSON}'", f"did you mean ben/{LESSON}"),
        ("ben/07_none", "nothing that was handed in is called 'ben/07_none'", "in submitted/: ada"),
    ],
)
def test_an_unknown_name_is_told_what_is_near(only: str, fact: str, next_command: str) -> None:
    with pytest.raises(UsageError) as told:
        _chosen(only)
    assert told.value.fact == fact
    assert next_command in told.value.next_command
    assert told.value.exit_code == 2


def test_who_handed_in_nothing_is_a_line_and_no_end() -> None:
    """Dropping a name must never mean more than was asked for: without any learner left, nothing runs."""
    everything = Intake(tuple(Submission(name, LESSON, Path(name)) for name in LEARNERS), ())
    for zoe in ("zoe", f"zoe/{LESSON}", f"{LESSON}/zoe"):
        chosen = select(everything, [LESSON], ("ada", zoe), {"ada", "zoe"})
        assert {one.learner for one in chosen.intake.submissions} == {"ada"}
        assert chosen.absent == (f"nothing handed in: {zoe}, as --only names",)
        with pytest.raises(CourseError, match="none of these learners") as told:
            select(everything, [LESSON], (zoe,), {"ada", "zoe"})
        assert told.value.exit_code == 1
    with pytest.raises(UsageError, match="no learner is called 'zeo'"):
        select(everything, [LESSON], ("ada", "zeo"), {"ada", "zoe"})


@pytest.mark.nightly
def test_an_interrupted_run_does_not_wait_for_a_learners_code(room: Rehearsal) -> None:
    for learner in ("ada", "ben", "cleo"):
        room.hand_in(learner, {**RIGHT, "second": "def second(x):\n    while True: pass"})
    with (room.root / "nbgrader_config.py").open("a") as config:
        config.write("\nc.GradingLimits.exercise_seconds = 600\nc.GradingLimits.submission_seconds = 900\n")
    words = [sys.executable, "-m", "course", "grade", "--course", str(room.root), "--no-feedback", "--workers", "2"]
    with subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as run:
        until = time.monotonic() + 120
        while not list(room.root.glob(".course/marking/*.json")) and time.monotonic() < until:
            time.sleep(0.1)
        time.sleep(5)
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60)
    assert run.returncode == 130, said
    assert "Traceback" not in said
