"""What ended a run is found, set aside and reported at the next one; the rest of the class is graded."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nbproof.limits import GradingLimits
from nbproof.marking.results import Verdict
from nbproof.recover.notebook_bytes import HandIn
from nbproof.run.batch import grade_class
from nbproof.run.intake import handed_in_digest, take_in
from nbproof.run.journal import InProgress, RunState, Watch
from nbproof.run.pool import Pool
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import EngineLost
from nbproof.testing import Rehearsal
from nbproof.testing.small import LESSON, POINTS, RIGHT
from tests import COURSE
from tests.warm import Mark, shared_pool

FULL = sum(POINTS.values())


def _notes(course: Path) -> dict[str, bool]:
    """Learner -> whether it is set aside."""
    kept = json.loads((course / ".course" / "marking.json").read_text())
    return {name.partition("/")[0]: one["set_aside"] for name, one in kept.items()}


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
        intake = take_in(COURSE, room.root, [LESSON])
        scores = grade_class(COURSE, room.root, intake, [LESSON], pool=make, force=force).marks.values()
        return {score.learner: score.problem for score in scores}

    _note(room)
    first = graded()
    assert tried == ["ben", "a b, alone"]
    assert first["ben"] == "" and "tried again alone, it ended that process, too" in first["a b"]
    command = first["a b"].rpartition(": ")[2]
    assert shlex.split(command)[-4:] == ["grade", "--force", "--only", f"a b/{LESSON}"]
    assert _notes(room.root) == {"a b": True}
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
    _note(room)

    class Interrupted(Watch):
        def marked(self, name: str, verdict: Verdict) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        room.grade(watch=Interrupted())
    assert _notes(room.root) == {}


def _note(room: Rehearsal) -> None:
    """As if a run had been killed while it marked what was handed in first."""
    (first, *_) = take_in(COURSE, room.root, [LESSON]).submissions
    InProgress(room.root).note(first.key, handed_in_digest(first, RunState(room.root).key, GradingLimits()))
