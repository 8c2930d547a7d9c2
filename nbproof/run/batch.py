"""Grade a class: plan what has to be marked, mark it in parallel, write it down one after another.

Every verdict is first journalled whole in ``autograded/<learner>/<lesson>/``, then written to the
gradebook. A run that is cut off at any point goes on from the journal: what is there is not
graded again, and the seed of the run is kept until the run is complete. What was being marked when a
run was killed is tried last, alone (:mod:`nbproof.run.suspects`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
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
from nbproof.key import Key
from nbproof.limits import GradingLimits
from nbproof.nbgrader_setup import course_config
from nbproof.run.class_run import ClassRun
from nbproof.run.digests import LessonState
from nbproof.run.intake import Intake, lessons_with_source
from nbproof.run.journal import RunState, note_problems
from nbproof.run.lock import only_run
from nbproof.run.pool import PoolMaker, local_pool
from nbproof.run.references import References, where_of
from nbproof.run.watch import Watch
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
    states = {
        name: LessonState(root / "source" / name / f"{name}.ipynb", config, limits.for_lesson(name)) for name in lessons
    }
    try:
        with trouble_with_gradebook(coursedir.db_url), Writer(coursedir.db_url, coursedir.course_id, late) as writer:
            penalties = Penalties(root, config, coursedir.db_url)
            handed_in = {one.lesson for one in intake.submissions}
            register_lessons({name: one for name, one in states.items() if name in handed_in}, state, writer, config)
            references = References(states, state, where_of(pool is None, isolation), anyway)
            run = ClassRun(root, state, states, limits, writer, penalties, watch, references)
            graded = run.go(intake, made, force)
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
            for (learner, lesson), held in read_marks(root, lessons).items():
                if penalties.concerns(held, noted.get(f"{lesson}/{learner}")):
                    penalties.assign(learner, lesson)


def register_lessons(states: Mapping[str, LessonState], state: RunState, writer: Writer, config: Config) -> None:
    """Have the gradebook know these lessons as they are now."""
    known = writer.lessons()
    for lesson, one in states.items():
        if lesson not in known or state.registered.get(lesson) != one.registered:
            register(config, lesson)
            state.registered[lesson] = one.registered
            state.save()


def _refuse_unknown(limits: GradingLimits, root: Path) -> None:
    for name in limits.of_lesson:
        if not (root / "source" / name).is_dir():
            raise UsageError(
                f"limits for {name}, which is no lesson here",
                "c.GradingLimits.of_lesson in nbgrader_config.py",
                "name it like its folder in source/",
            )
