"""A run that nbgrader drives, one submission after another: noted as a class's are, and what ended a run comes last, alone.

From one submission to the next a process of nbgrader's keeps engine, seed, lessons and judges. Formgrader's server grades
for weeks, and asks for a new converter at each click: none of this belongs to a converter.
"""

from __future__ import annotations

import atexit
import secrets
import shlex
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from nbproof.command import nbgrader_command
from nbproof.limits import GradingLimits
from nbproof.marking.order import Order, order_of
from nbproof.marking.results import SubmissionVerdict
from nbproof.run.intake import submission_at
from nbproof.run.plan import Job, handed_in_digest
from nbproof.run.suspects import InProgress, Standing, tried_last

__all__ = ["LastPlace", "OneByOne", "blueprint_of", "engine_for", "judge_for", "registered", "seed"]


Key = tuple[str, str]
"""Learner, lesson."""


class LastPlace(str):
    """A submission's folder that comes after all others. nbgrader goes through the folders in their order as text."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return isinstance(other, LastPlace) and str.__lt__(self, other)

    def __gt__(self, other: str) -> bool:
        return not isinstance(other, LastPlace) or str.__gt__(self, other)


class OneByOne:
    """The notes of one run of ``nbgrader autograde``."""

    def __init__(self, notes: InProgress, key: str, limits: GradingLimits, whose: Mapping[str, Key]) -> None:
        """``key``: of the course's journals; ``whose``: learner and lesson of each folder that may be marked."""
        self._notes, self._key, self._limits = notes, key, limits
        self._jobs = {of: self._job(of[0], Path(place)) for place, of in whose.items()}
        self._standing = {of: notes.of(job) for of, job in self._jobs.items()}
        self._open: Key | None = None

    def _job(self, learner: str, folder: Path) -> Job:
        one = submission_at(learner, folder)
        return Job(one, "" if one.problem else handed_in_digest(one, self._key, self._limits))

    def is_suspect(self, of: Key) -> bool:
        """Whether it may have ended an earlier run."""
        return self._standing.get(of) is not None

    @property
    def cut_off(self) -> list[Key]:
        """What was being marked when an earlier run was killed."""
        return [of for of, noted in self._standing.items() if noted is Standing.STARTED]

    def begin(self, of: Key, apart: Callable[[Order], SubmissionVerdict], force: bool) -> SubmissionVerdict | None:
        """Note it; the verdict on a suspect, which is marked by that. To be called before it is read."""
        self.end()
        job, self._open = self._jobs[of], of
        if not self.is_suspect(of):
            self._notes.write(job, Standing.STARTED)
            return None
        one = job.submission

        def mark() -> SubmissionVerdict:
            return apart(order_of(one.learner, one.lesson, one.path, self._limits))

        again = nbgrader_command(f"autograde {one.lesson} --student={shlex.quote(one.learner)} --force")
        return tried_last(job, self._notes, mark, seed(), force, again)

    def end(self) -> None:
        """What was begun is written down, or has failed; it has ended nothing."""
        if self._open is not None:
            self._notes.done(*self._open)
            self._open = None


def blueprint_of(root: Path, lesson: str) -> Any:
    """The lesson as it is now: formgrader's server lives for weeks."""
    source = root / "source" / lesson / f"{lesson}.ipynb"
    found = source.stat()
    return _blueprint_of(root, source, found.st_mtime_ns, found.st_size)


@cache
def _blueprint_of(root: Path, source: Path, *version: int) -> Any:
    from nbproof.marking.blueprint import read_blueprint
    from nbproof.nbgrader_setup import course_config

    return read_blueprint(source, course_config(root))


_judges: dict[int, tuple[Any, Any]] = {}


def judge_for(blueprint: Any) -> Any:
    """One seed for all that this process grades, so that a class is judged alike."""
    from nbproof.marking.judge import Judge

    # The blueprint is kept beside its judge, so that no other one takes its id.
    if id(blueprint) not in _judges:
        _judges[id(blueprint)] = (blueprint, Judge(blueprint, seed()))
    return _judges[id(blueprint)][1]


def registered(root: Path, lessons: list[str], course: Any) -> tuple[Any, Any]:
    """Have the gradebook know these lessons as they are now: ``generate_assignment``, if nobody has run it.

    Returns the lessons' states, and the runs'.
    """
    from nbproof.gradebook.writer import Writer
    from nbproof.nbgrader_setup import course_config
    from nbproof.run.batch import register_lessons
    from nbproof.run.digests import LessonState
    from nbproof.run.journal import RunState

    config = course_config(root)
    config.CourseDirectory.db_url = course.db_url
    config.CourseDirectory.course_id = course.course_id
    states = {
        name: LessonState(root / "source" / name / f"{name}.ipynb", config, GradingLimits(config=config)) for name in lessons
    }  # fmt: skip
    state = RunState(root)
    with Writer(course.db_url, course.course_id) as writer:
        register_lessons(states, state, writer, config)
    return states, state


@cache
def seed() -> int:
    """Of all that this process grades."""
    return secrets.randbelow(10**9) + 1


_engines: list[Any] = []


def engine_for(plugin: Any, limits: Any, root: Path) -> Any:
    """The engine of this process, started for the first submission."""
    if not _engines:
        from nbproof.sandbox.engine import Engine
        from nbproof.sandbox.isolation import Isolation, isolation_or_refuse
        from nbproof.sandbox.launch import refuse_if_exposed

        told = plugin.config.Mark
        said = isolation_or_refuse(bool(told.get("unsafe", False)), str(told.get("isolation", "")) or None)
        plugin.log.info("%s; seed %d", said, seed())
        if said.level is not Isolation.NONE:
            refuse_if_exposed(root)
        engine = Engine(limits, said.level)
        engine.__enter__()
        atexit.register(engine.__exit__)
        _engines.append(engine)
    return _engines[0]
