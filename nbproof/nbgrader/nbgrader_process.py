"""What one process of nbgrader's keeps from one submission to the next: engine, seed, lessons and judges.

Formgrader's server grades for weeks, and asks for a new converter at each click: none of this belongs to a converter.
"""

from __future__ import annotations

import atexit
import secrets
from functools import cache
from pathlib import Path
from typing import Any

from nbproof.limits import GradingLimits

__all__ = ["blueprint_of", "engine_for", "judge_for", "registered", "seed"]


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
