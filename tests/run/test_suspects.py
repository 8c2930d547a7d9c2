"""What ended a run is found, set aside and reported at the next one; the rest of the class is graded."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from nbproof.limits import GradingLimits
from nbproof.marking.hand_in import HandIn
from nbproof.marking.results import Verdict
from nbproof.run.batch import grade_class
from nbproof.run.intake import take_in
from nbproof.run.journal import RunState
from nbproof.run.plan import Job
from nbproof.run.pool import Pool
from nbproof.run.suspects import InProgress, Standing
from nbproof.run.watch import Watch
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import EngineLost
from nbproof.testing import Rehearsal
from nbproof.testing.small import LESSON, POINTS, RIGHT
from nbproof.testing.warm import Mark, shared_pool

ROOT = Path(__file__).parent.parent.parent
FULL = sum(POINTS.values())

KILLER = {**RIGHT, "third": RIGHT["third"] + "  # KILLER"}


def _grade(course: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(Path(__file__).with_name("killing.py")), str(course), *options]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin"}
    )


def _notes(course: Path) -> dict[str, str]:
    kept = [json.loads(path.read_text()) for path in course.glob(".course/marking/*.json")]
    return {one["learner"]: one["standing"] for one in kept}


@pytest.mark.nightly
def test_what_kills_a_run_is_set_aside_and_the_class_is_graded(room: Rehearsal) -> None:
    learners = ["ada", "ben", "cleo", "dan", "eve"]
    for learner in learners:
        room.hand_in(learner, KILLER if learner == "cleo" else RIGHT)
    first = _grade(room.root)
    assert first.returncode == -signal.SIGKILL
    assert "cleo" in _notes(room.root)
    second = _grade(room.root)
    assert second.returncode == 1, second.stderr
    assert room.book() == {learner: FULL for learner in learners if learner != "cleo"}
    said = second.stdout + second.stderr
    assert "cleo" in said
    assert "set aside" in said
    assert f"--only cleo/{LESSON}" in said
    assert _notes(room.root) == {"cleo": "set aside"}
    # It stays aside, and costs no process more, until it is handed in anew.
    third = _grade(room.root)
    assert third.returncode == 1
    assert "set aside" in third.stdout + third.stderr
    room.hand_in("cleo", RIGHT)
    assert _grade(room.root).returncode == 0
    assert room.book() == dict.fromkeys(learners, FULL)
    assert _notes(room.root) == {}


@pytest.mark.nightly
def test_by_force_what_was_set_aside_is_tried_once_more(room: Rehearsal) -> None:
    room.hand_in("ada", KILLER)
    (job,) = _jobs(room.root)
    InProgress(room.root).write(job, Standing.SET_ASIDE)
    mended = [sys.executable, "-m", "course", "grade", "--course", str(room.root), "--no-feedback"]
    held = subprocess.run(mended, cwd=ROOT, capture_output=True, text=True)
    assert held.returncode == 1
    tried = subprocess.run([*mended, "--force", "--only", f"ada/{LESSON}"], cwd=ROOT, capture_output=True, text=True)
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert room.book() == {"ada": FULL}
    assert _notes(room.root) == {}


@pytest.mark.nightly
def test_what_kills_nbgrader_autograde_is_tried_last_and_set_aside(room: Rehearsal) -> None:
    learners = ["ada", "ben", "cleo", "dan"]
    for learner in learners:
        room.hand_in(learner, KILLER if learner == "ben" else RIGHT)
    first = _grade(room.root, "nbgrader", "autograde", LESSON)
    assert first.returncode == -signal.SIGKILL
    assert _notes(room.root)["ben"] == "started"
    second = _grade(room.root, "nbgrader", "autograde", LESSON)
    assert second.returncode == 1, second.stderr
    assert _scored(room.root) == {learner: FULL for learner in learners if learner != "ben"}
    assert "ben is not graded: it was being marked when a run was killed" in second.stderr
    assert f"--only ben/{LESSON}" in second.stderr
    assert _notes(room.root) == {"ben": "set aside"}
    # By a grader that is mended, and by force. It is marked in another process, and written down like the rest.
    forced = subprocess.run(
        [sys.executable, "-m", "nbgrader", "autograde", LESSON, "--student=ben", "--force"],
        cwd=room.root,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": os.path.dirname(sys.executable) + ":/usr/bin"},
    )
    assert forced.returncode == 0, forced.stderr
    assert _scored(room.root) == dict.fromkeys(learners, FULL)
    assert _notes(room.root) == {}
    graded = room.autograded("ben").read_text()
    assert "# KILLER" in graded


@pytest.mark.nightly
def test_what_was_cut_off_in_nbgrader_autograde_and_harms_nobody_is_graded(room: Rehearsal) -> None:
    """It may have been the machine. Stock nbgrader takes the half-graded notebook for a graded one, with no score."""
    room.hand_in("ada", RIGHT)
    (job,) = _jobs(room.root)
    InProgress(room.root).write(job, Standing.STARTED)
    half = room.root / "autograded" / "ada" / LESSON
    half.mkdir(parents=True)
    (half / f"{LESSON}.ipynb").write_text("{}")
    done = _grade(room.root, "nbgrader", "autograde", LESSON)
    assert done.returncode == 0, done.stderr
    assert _scored(room.root) == {"ada": FULL}
    assert _notes(room.root) == {}


def test_what_is_noted_is_tried_last_and_alone_and_stays_aside_if_it_ends_that(room: Rehearsal, engine: Engine) -> None:
    room.hand_in_all(dict.fromkeys(("a b", "ben"), RIGHT))
    tried: list[str] = []
    deadly = True

    def noting(mark: Mark) -> Mark:
        def one(handed_in: HandIn) -> Verdict:
            # Reference answers are tried as well where they have not passed before.
            tried.extend([handed_in.key.learner] if handed_in.key.learner in ("a b", "ben") else [])
            return mark(handed_in)

        return one

    def graded(force: bool = False) -> dict[str, str]:
        @contextmanager
        def make(*given: Any) -> Iterator[Pool]:
            with shared_pool(engine, noting)(*given) as pool, shared_pool(engine)(*given) as other:

                def alone(handed_in: HandIn) -> Verdict:
                    tried.append(f"{handed_in.key.learner}, alone")
                    if deadly:
                        raise BrokenProcessPool
                    return other.alone(handed_in)

                yield replace(pool, alone=alone)

        tried.clear()
        intake = take_in(room.root, [LESSON], [LESSON])
        scores = grade_class(room.root, intake, [LESSON], pool=make, force=force).marks.values()
        return {score.learner: score.problem for score in scores}

    InProgress(room.root).write(_jobs(room.root)[0], Standing.STARTED)
    first = graded()
    assert tried == ["ben", "a b, alone"]
    assert first["ben"] == "" and "tried again alone, it ended that process, too" in first["a b"]
    command = first["a b"].rpartition(": ")[2]
    assert shlex.split(command)[-4:] == ["grade", "--force", "--only", f"a b/{LESSON}"]
    assert _notes(room.root) == {"a b": "set aside"}
    assert "it was set aside" in graded()["a b"]
    assert tried == [], "it is not even tried without --force"
    deadly = False
    assert graded(force=True) == {"a b": "", "ben": ""}
    assert tried == ["ben", "a b, alone"]
    assert _notes(room.root) == {}
    assert room.book() == {"a b": FULL, "ben": FULL}


@pytest.mark.parametrize("times", [1, 2])
def test_what_ends_the_place_where_it_is_marked_is_tried_once_more_last(
    room: Rehearsal, engine: Engine, times: int
) -> None:
    """Such as a worker's machine: whose doing that was nobody knows."""
    room.hand_in_all(dict.fromkeys(("ada", "ben", "cleo"), RIGHT))
    tried: list[str] = []

    def deadly(mark: Mark) -> Mark:
        def one(handed_in: HandIn) -> Verdict:
            tried.append(handed_in.key.learner)
            if handed_in.key.learner == "ada" and tried.count("ada") <= times:
                raise EngineLost("the engine is gone")
            return mark(handed_in)

        return one

    scores = room.grade(pool=shared_pool(engine, deadly)).marks.values()
    problems = {score.learner: score.problem for score in scores}
    assert tried[-1] == "ada" and tried.count("ada") == 2
    assert not problems["ben"] and not problems["cleo"]
    assert ("ended twice" in problems["ada"]) == (times == 2)


def test_a_run_that_ends_by_itself_suspects_nobody(room: Rehearsal) -> None:
    room.hand_in("ada", RIGHT)
    (job,) = _jobs(room.root)
    InProgress(room.root).write(job, Standing.STARTED)

    class Interrupted(Watch):
        def marked(self, name: str, verdict: Verdict) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        room.grade(watch=Interrupted())
    assert _notes(room.root) == {}


def test_a_note_of_an_earlier_version_says_nothing_of_this_one(room: Rehearsal) -> None:
    room.hand_in("ada", KILLER)
    (job,) = _jobs(room.root)
    notes = InProgress(room.root)
    notes.write(job, Standing.SET_ASIDE)
    assert notes.of(job) is Standing.SET_ASIDE
    room.hand_in("ada", RIGHT)
    (anew,) = _jobs(room.root)
    assert notes.of(anew) is None


def _scored(course: Path) -> dict[str, float]:
    """Of submissions that were marked: nbgrader makes a row for one that it could not mark as well."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        rows = gradebook.assignment_submissions(LESSON)
        return {one.student.id: one.score for one in rows if one.score}


def _jobs(course: Path) -> list[Job]:
    """As a run would make them."""
    from nbproof.run.plan import handed_in_digest

    key, limits = RunState(course).key, GradingLimits()
    return [Job(one, handed_in_digest(one, key, limits)) for one in take_in(course, [LESSON], [LESSON]).submissions]
