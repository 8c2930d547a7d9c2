"""The session's engine and its course: with other limits, and as a gradebook knows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.apps import NbGraderAPI

from nbproof.course_file import Course
from nbproof.gradebook.writer import Writer
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint
from nbproof.marking.marker import Marker
from nbproof.marking.results import Verdict
from nbproof.places import course_config
from nbproof.recover.notebook_bytes import HandIn
from nbproof.run.batch import register_lessons
from nbproof.run.digests import LessonState
from nbproof.run.journal import RunState
from nbproof.run.pool import Pool, PoolMaker
from nbproof.run.references import References
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.isolation import Isolation
from nbproof.testing.small import LESSON
from tests import COURSE

LIMITS: dict[str, Any] = {"exercise_seconds": 4.0, "submission_seconds": 24.0, "memory_mb": 512}
"""Short, and still long for honest work on a machine that does something else as well."""


@contextmanager
def limited(engine: Engine, **limits: Any) -> Iterator[Engine]:
    """The session's engine with other limits, the course's own if none are named: starting another one takes seconds."""
    before, engine.limits = engine.limits, GradingLimits(**limits)
    try:
        yield engine
    finally:
        engine.limits = before


def registered(small_lesson: Path) -> Path:
    """Have the gradebook of the small course know its lesson."""
    config = course_config(small_lesson)
    coursedir = NbGraderAPI(config=config).coursedir
    source = small_lesson / "source" / LESSON / f"{LESSON}.ipynb"
    states = {LESSON: LessonState(COURSE, source, config, GradingLimits(config=config))}
    with Writer(coursedir.db_url, coursedir.course_id) as writer:
        register_lessons(states, RunState(small_lesson), writer)
    note_references(small_lesson)
    return small_lesson


def note_references(course: Path) -> None:
    """As if the reference answers had been tried: tests of something else need not wait for them."""
    config, state = course_config(course), RunState(course)
    one = LessonState(COURSE, course / "source" / LESSON / f"{LESSON}.ipynb", config, GradingLimits(config=config))
    References({LESSON: one}, state, Isolation.FULL).keep(LESSON)


Mark = Callable[[HandIn], Verdict]


def shared_pool(
    engine: Engine, wrap: Callable[[Mark], Mark] = lambda mark: mark, threads: int = 1, alone: Mark | None = None
) -> PoolMaker:
    """For ``grade_class(pool=...)``: an engine that is warm already, for starting one takes seconds. ``wrap``: what marks is
    put into it.
    """

    @contextmanager
    def make(blueprints: Mapping[str, Blueprint], seed: int, limits: GradingLimits) -> Iterator[Pool]:
        mark = wrap(Marker(engine, blueprints, seed).mark)
        with ThreadPoolExecutor(threads) as executor:
            yield Pool(lambda one: executor.submit(mark, one), threads, alone or mark)

    return make


@dataclass(frozen=True)
class Lent:
    """The session's engine in place of one that a run would start. Another course, or level of isolation, has its own."""

    engine: Engine

    @contextmanager
    def started(self, course: Course, limits: GradingLimits, isolation: Isolation) -> Iterator[Engine]:
        """In place of :class:`Engine`: this one, with the limits of the run."""
        if (course, isolation) != (self.engine.course, self.engine.isolation):
            with Engine(course, limits, isolation) as own:
                yield own
            return
        before, self.engine.limits = self.engine.limits, limits
        try:
            yield self.engine
        finally:
            self.engine.limits = before

    @contextmanager
    def pool(
        self, course: Course, blueprints: Mapping[str, Blueprint], seed: int, limits: GradingLimits, **how: Any
    ) -> Iterator[Pool]:
        """In place of ``local_pool``."""
        with (
            self.started(course, limits, how["isolation"]) as engine,
            shared_pool(engine)(blueprints, seed, limits) as pool,
        ):
            yield pool
