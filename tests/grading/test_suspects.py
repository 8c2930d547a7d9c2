"""What ended a run is found, set aside and reported at the next one; the rest of the class is graded."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from course.grading.intake import take_in
from course.grading.isolation import why_not_isolated
from course.grading.pool import Job
from course.grading.suspects import InProgress, Standing, note_of
from tests.grading.conftest import LESSON, POINTS, RIGHT
from tests.grading.test_batch import Grade, _book, grade

__all__ = ["grade"]

ROOT = Path(__file__).parent.parent.parent
FULL = sum(POINTS.values())

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(bool(why_not_isolated()), reason=f"the engine is NOT tested: {why_not_isolated()}"),
]

KILLER = {**RIGHT, "third": RIGHT["third"] + "  # KILLER"}


def _grade(course: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(Path(__file__).with_name("killing.py")), str(course), *options]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin"}
    )


def _notes(course: Path) -> dict[str, str]:
    kept = [json.loads(path.read_text()) for path in course.glob(".course/marking/*.json")]
    return {one["learner"]: one["standing"] for one in kept}


@pytest.mark.slow
def test_what_kills_a_run_is_set_aside_and_the_class_is_graded(course: Path, hand_in: Callable[..., Path]) -> None:
    learners = ["ada", "ben", "cleo", "dan", "eve"]
    for learner in learners:
        hand_in(learner, KILLER if learner == "cleo" else RIGHT)
    first = _grade(course)
    assert first.returncode == -signal.SIGKILL
    assert "cleo" in _notes(course)
    second = _grade(course)
    assert second.returncode == 1, second.stderr
    assert _book(course) == {learner: FULL for learner in learners if learner != "cleo"}
    said = second.stdout + second.stderr
    assert "cleo" in said
    assert "set aside" in said
    assert f"--only cleo/{LESSON}" in said
    assert _notes(course) == {"cleo": "set aside"}
    # It stays aside, and costs no process more, until it is handed in anew.
    third = _grade(course)
    assert third.returncode == 1
    assert "set aside" in third.stdout + third.stderr
    hand_in("cleo", RIGHT)
    assert _grade(course).returncode == 0
    assert _book(course) == dict.fromkeys(learners, FULL)
    assert _notes(course) == {}


@pytest.mark.slow
def test_by_force_what_was_set_aside_is_tried_once_more(course: Path, hand_in: Callable[..., Path]) -> None:
    hand_in("ada", KILLER)
    (job,) = _jobs(course)
    InProgress(course).write(note_of(job, Standing.SET_ASIDE))
    mended = [sys.executable, "-m", "course", "grade", "--course", str(course), "--no-feedback"]
    held = subprocess.run(mended, cwd=ROOT, capture_output=True, text=True)
    assert held.returncode == 1
    tried = subprocess.run([*mended, "--force", "--only", f"ada/{LESSON}"], cwd=ROOT, capture_output=True, text=True)
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert _book(course) == {"ada": FULL}
    assert _notes(course) == {}


def test_a_run_that_ends_by_itself_suspects_nobody(course: Path, grade: Grade, hand_in: Callable[..., Path]) -> None:
    hand_in("ada", RIGHT)
    (job,) = _jobs(course)
    InProgress(course).write(note_of(job, Standing.STARTED))

    def interrupted(done: int, of: int, name: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade(step=interrupted)
    assert _notes(course) == {}


def test_a_note_of_an_earlier_version_says_nothing_of_this_one(course: Path, hand_in: Callable[..., Path]) -> None:
    hand_in("ada", KILLER)
    (job,) = _jobs(course)
    notes = InProgress(course)
    notes.write(note_of(job, Standing.SET_ASIDE))
    assert notes.of(job) is Standing.SET_ASIDE
    hand_in("ada", RIGHT)
    (anew,) = _jobs(course)
    assert notes.of(anew) is None


def _jobs(course: Path) -> list[Job]:
    """As a run would make them."""
    from course.grading.class_run import ClassRun
    from course.grading.journal import RunState
    from course.limits import GradingLimits

    run = ClassRun.__new__(ClassRun)
    run.state, run.limits = RunState(course), GradingLimits()
    return [Job(one, run._handed_in(one)) for one in take_in(course, [LESSON], [LESSON]).submissions]
