"""Grade a class: plan what has to be marked, mark it in parallel, write it down one after another.

Every verdict is first journalled whole in ``autograded/<learner>/<lesson>/``, then written to the
gradebook. A run that is cut off at any point goes on from the journal: what is there is not
graded again, and the seed of the run is kept until the run is complete. What was being marked when a
run was killed is tried last, alone (:mod:`nbproof.run.suspects`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from nbproof.errors import CourseError, UsageError
from nbproof.gradebook.marks import GradedClass
from nbproof.gradebook.penalties import Penalties
from nbproof.gradebook.reader import read_marks
from nbproof.gradebook.storage_errors import trouble_with_disk, trouble_with_gradebook
from nbproof.gradebook.writer import Writer, register
from nbproof.key import Key, assignment_of
from nbproof.limits import GradingLimits
from nbproof.nbgrader_setup import course_config
from nbproof.places import places
from nbproof.run.class_run import ClassRun
from nbproof.run.digests import LessonState
from nbproof.run.intake import Intake, lessons_with_source
from nbproof.run.journal import RunState, note_problems
from nbproof.run.lock import only_run
from nbproof.run.pool import PoolMaker, local_pool
from nbproof.run.references import References, where_of
from nbproof.run.watch import Watch
from nbproof.sandbox.exceptions import GradingError
from nbproof.sandbox.isolation import Isolation, isolation_or_refuse
from nbproof.sandbox.launch import Launched, refuse_if_exposed

__all__ = ["follow_marks", "grade_class", "register_lessons"]


def grade_class(
    root: Path,
    intake: Intake,
    lessons: list[str],
    *,
    force: bool = False,
    isolation: Isolation | None = None,
    workers: int | None = None,
    seed: int | None = None,
    launched: Launched | None = None,
    pool: PoolMaker | None = None,
    watch: Watch | None = None,
    anyway: bool = False,
    config: Config | None = None,
    late: frozenset[Key] = frozenset(),
) -> GradedClass:
    """Mark every submission that changed since it was last graded (all with ``force``), and write it down.

    `course grade` and `nbgrader autograde` both call this. ``pool``: who marks, in place of this machine. ``config``:
    nbgrader's, if it is not just as the course's file has it. ``late``: (learner, lesson) of what is late by the word of an
    LMS that does not say when it came.
    """
    isolation = isolation or (isolation_or_refuse().level if pool is None else Isolation.FULL)
    if isolation is not Isolation.NONE:
        refuse_if_exposed(root)
    watch = watch or Watch()
    config = config or course_config(root)
    coursedir = NbGraderAPI(config=config).coursedir
    limits = GradingLimits.read(config)
    state = RunState(root, seed)
    made = pool or partial(local_pool, isolation=isolation, workers=workers, launched=launched)
    _refuse_unknown(limits, root)
    states = {name: LessonState.of(root, name, config, limits) for name in lessons}
    try:
        with trouble_with_gradebook(coursedir.db_url), Writer(coursedir.db_url, coursedir.course_id, late) as writer:
            penalties = Penalties(root, config, coursedir.db_url)
            handed_in = {one.lesson for one in intake.submissions}
            here = {name: one for name, one in states.items() if name in handed_in}
            refused = _unregistered(here, state, writer)
            if refused and refused.keys() == here.keys():
                raise next(iter(refused.values()))
            kept = tuple(one for one in intake.submissions if one.lesson not in refused)
            intake = replace(intake, submissions=kept)
            references = References(states, state, where_of(pool is None, isolation), anyway)
            run = ClassRun(root, state, states, limits, writer, penalties, watch, references)
            graded = replace(run.go(intake, made, force), refused={name: one.fact for name, one in refused.items()})
        with contextlib.suppress(OSError):  # a report that comes later tells them then as not graded yet
            note_problems(root, graded.marks.values())
        return graded
    except OSError as error:
        trouble = trouble_with_disk(error, root)
        if trouble is None:
            raise
        raise trouble from None


def follow_marks(root: Path) -> None:
    """Have late penalties follow marks that people gave since a run. Where that fails, the next run does it, and says why."""
    with contextlib.suppress(CourseError):
        config = course_config(root)
        penalties = Penalties(root, config, NbGraderAPI(config=config).coursedir.db_url)
        lessons = lessons_with_source(root, [])
        with only_run(root):
            noted = RunState(root).penalties
            for (learner, lesson), held in read_marks(root, {assignment_of(one) for one in lessons}).items():
                if penalties.concerns(held, noted.get(f"{lesson}/{learner}")):
                    penalties.assign(learner, min(one for one in lessons if assignment_of(one) == lesson))


def register_lessons(states: Mapping[str, LessonState], state: RunState, writer: Writer) -> None:
    """Have the gradebook know these lessons as they are now. Raises CourseError for those that cannot be graded."""
    for name, why in _unregistered(states, state, writer).items():
        raise CourseError(f"{name}: {why.fact}", why.place, why.next_command)


def _unregistered(states: Mapping[str, LessonState], state: RunState, writer: Writer) -> dict[str, CourseError]:
    """The same; why some cannot be graded, by lesson: all of an assignment, if nbgrader does not take it."""
    known = writer.lessons()
    changed = [
        name for name, one in states.items() if name not in known or state.registered.get(name) != one.registered
    ]
    failed: dict[str, CourseError] = {}
    for assignment in dict.fromkeys(map(assignment_of, changed)):
        names = [name for name in states if assignment_of(name) == assignment]
        try:
            for name in names:
                _ = states[name].blueprint
            register(states[names[0]].config, assignment)
        except GradingError:
            raise
        except CourseError as error:
            failed |= dict.fromkeys(names, error)
            continue
        state.registered |= {name: states[name].registered for name in names}
        state.save()
    return failed


def _refuse_unknown(limits: GradingLimits, root: Path) -> None:
    for name in limits.of_lesson:
        if not places(root).source(name).parent.is_dir():
            raise UsageError(
                f"limits for {name}, which is no lesson here",
                "c.GradingLimits.of_lesson in nbgrader_config.py",
                "name it like its folder in source/",
            )
