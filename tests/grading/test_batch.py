"""A class is graded once, survives being cut off anywhere, and is written down by one writer."""

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
from nbgrader.api import Gradebook

from course.grading.batch import grade_class
from course.grading.intake import take_in
from course.grading.results import GradedClass
from course.grading.sandbox import probe_isolation
from tests.grading.conftest import LESSON, POINTS, RIGHT

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(bool(probe_isolation()), reason=f"the engine is NOT tested: {probe_isolation()}"),
]
ROOT = Path(__file__).parent.parent.parent
FULL = sum(POINTS.values())


def _grade(course: Path, **options: object) -> GradedClass:
    return grade_class(course, take_in(course, [LESSON], [LESSON]), [LESSON], **options)  # type: ignore[arg-type]


def _book(course: Path) -> dict[str, float]:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {one.student.id: one.score for one in gradebook.assignment_submissions(LESSON)}


def test_scores_notebooks_and_gradebook_agree(course: Path, hand_in: Callable[..., Path]) -> None:
    hand_in("ada", RIGHT)
    hand_in("ben", {**RIGHT, "first": "def first(x):\n    return x"})
    hand_in("zoe", {})
    graded = _grade(course)
    scores = {score.learner: score.score for score in graded.scores}
    assert scores == {"ada": FULL, "ben": FULL - POINTS["first"], "zoe": 0}
    assert _book(course) == scores
    notebook = nbformat.read(course / "autograded" / "ben" / LESSON / f"{LESSON}.ipynb", as_version=4)
    text = json.dumps(notebook)
    assert "HIDDEN" not in text
    assert "Shapes" not in text
    assert "CheckFailed" in text
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        comments = {
            one.name: one.auto_comment for one in gradebook.find_submission(LESSON, "zoe").notebooks[0].comments
        }
        assert comments == dict.fromkeys(POINTS, "No response.")


def test_only_what_changed_is_graded_again(course: Path, hand_in: Callable[..., Path]) -> None:
    hand_in("ada", RIGHT)
    hand_in("zoe", {})
    assert len(_grade(course).graded) == 2
    assert _grade(course).graded == ()
    hand_in("zoe", RIGHT)
    again = _grade(course)
    assert again.graded == (("zoe", LESSON),)
    assert {score.learner: score.score for score in again.scores} == {"ada": FULL, "zoe": FULL}
    assert len(_grade(course, force=True).graded) == 2


def test_seeds_are_fresh_and_can_be_repeated(course: Path, hand_in: Callable[..., Path]) -> None:
    hand_in("ada", RIGHT)
    first, second = _grade(course, force=True), _grade(course, force=True)
    assert first.seed != second.seed
    assert _grade(course, force=True, seed=first.seed).seed == first.seed


def test_a_manual_mark_stays(course: Path, hand_in: Callable[..., Path]) -> None:
    hand_in("zoe", {})
    _grade(course)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        grade = gradebook.find_grade("test_first", LESSON, LESSON, "zoe")
        grade.manual_score = 1.5
        gradebook.db.commit()
    (score,) = _grade(course, force=True).scores
    assert score.score == 1.5


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"hello", "not a notebook"), (b"", "not a notebook"), (b"{}", "no list of cells"), (b"[" * 200_000, "not a notebook"),
     (b'{"cells": ' + b"[" * 3_000_000, "not a notebook")],
    ids=["text", "empty", "no cells", "deep", "large and deep"],
)  # fmt: skip
def test_a_broken_file_is_listed_and_the_others_go_on(
    course: Path, hand_in: Callable[..., Path], content: bytes, says: str
) -> None:
    hand_in("ada", RIGHT)
    broken = hand_in("mal", {})
    broken.write_bytes(content)
    ada, mal = _grade(course).scores
    assert ada.score == FULL
    assert says in mal.problem
    assert broken.read_bytes() == content


def test_links_and_pipes_are_not_followed(course: Path, hand_in: Callable[..., Path]) -> None:
    ada = hand_in("ada", RIGHT)
    for learner in ("link", "pipe", "folder"):
        (course / "submitted" / learner / LESSON).mkdir(parents=True)
    (course / "submitted" / "link" / LESSON / ada.name).symlink_to(ada)
    os.mkfifo(course / "submitted" / "pipe" / LESSON / ada.name)
    (course / "submitted" / "folder" / LESSON / ada.name).mkdir()
    (course / "submitted" / "thief").symlink_to(ada.parent.parent)
    graded = _grade(course)
    assert {score.learner: score.score for score in graded.scores if not score.problem} == {"ada": FULL}
    assert sum(bool(score.problem) for score in graded.scores) >= 3


@pytest.mark.slow
def test_killed_anywhere_the_next_run_completes_with_the_same_scores(
    course: Path, hand_in: Callable[..., Path]
) -> None:
    expected = {}
    for number in range(12):
        right = dict(list(RIGHT.items())[: number % 4])
        hand_in(f"learner{number:02d}", right)
        expected[f"learner{number:02d}"] = sum(POINTS[name] for name in right)
    chance = random.Random(11)
    command = [sys.executable, "-m", "course", "grade", "--course", str(course), "--no-feedback"]
    for _ in range(6):
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.5, 9))
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = {path.parent.parent.name: path.stat().st_mtime_ns for path in course.glob("autograded/*/*/.verdict.json")}
    last = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert last.returncode == 0, last.stderr
    assert _book(course) == expected
    for learner, stamp in done.items():
        assert (course / "autograded" / learner / LESSON / ".verdict.json").stat().st_mtime_ns == stamp, "graded twice"
