"""``nbgrader autograde``, and formgrader's button: `course grade` for the submissions that nbgrader was asked for.

nbgrader_config.py names :class:`Mark` as the exporter. nbgrader makes it before it copies or reads anything of a submission,
and finds nothing left to convert: journals, graded notebooks and the gradebook are written by then.
"""

from __future__ import annotations

import glob
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nbconvert.exporters import NotebookExporter
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from traitlets import Bool, Unicode
from traitlets.config import Config

from nbproof.errors import CourseError
from nbproof.key import Key, assignment_of
from nbproof.nbgrader.settings import course_told
from nbproof.places import course_config, places

if TYPE_CHECKING:
    from nbproof.course_file import Course
    from nbproof.gradebook.marks import GradedClass
    from nbproof.run.intake import Intake

__all__ = ["Mark"]


class Mark(NotebookExporter):  # type: ignore[misc]
    """The exporter for ``c.Autograde.exporter_class``: it has everything marked when nbgrader makes it."""

    unsafe = Bool(False, help="run submissions without isolation if the machine offers none").tag(config=True)
    isolation = Unicode("", help="demand this level, full or reduced (default: the best there is)").tag(config=True)
    pool = Unicode("", help="where submissions are marked, as --pool of the command grade says it").tag(config=True)
    works_for = Unicode("", help="the folder with the course.toml, noted by use_engine").tag(config=True)
    anyway = Bool(False, help="also grade a lesson if its reference answers lose marks here").tag(config=True)

    def __init__(self, config: Config | None = None, **given: object) -> None:
        """Have everything marked. Raises NbGraderException if something is not graded; the log says why."""
        super().__init__(config=config, **given)
        if not isinstance(self.parent, Autograde):
            return
        try:
            self._grade(self.parent)
        except CourseError as error:
            for line in error.lines():
                self.log.error("%s", line.removeprefix("error: "))
            raise NbGraderException(error.fact) from None

    def _grade(self, converter: Autograde) -> None:
        from nbproof.sandbox.isolation import isolation_or_refuse

        # Of the rest nothing can even be imported where there is no Linux.
        chosen = isolation_or_refuse(self.unsafe, self.isolation or None)
        from nbproof.nbgrader.next_door import but_settled, forget_others, late_by_lms
        from nbproof.report.attendance import Attendance
        from nbproof.run.batch import grade_class
        from nbproof.run.journal import only_run
        from nbproof.run.options import not_obeyed
        from nbproof.run.pool import pool_named

        root = Path(converter.coursedir.root)
        course = course_told(self.works_for, root)
        config = _as_configured(converter)
        self.log.info("%s", chosen.line)
        for line in not_obeyed(config):
            self.log.warning("%s", line)
        with only_run(root):
            intake = self._intake(course, converter, root)
            converter.assignments = {}
            converter.notebooks = [str(one.path) for one in intake.submissions]
            converter.run_pre_convert_hook()
            graded = grade_class(
                course,
                root,
                intake,
                sorted({one.key.lesson for one in intake.submissions}),
                force=converter.force,
                isolation=chosen.level,
                anyway=self.anyway,
                pool=pool_named(
                    self.pool, "c.Mark.pool in nbgrader_config.py", isolation=chosen.level, says=self.log.info
                ),
                config=config,
                late=late_by_lms(root),
            )
            for learner, lesson in graded.graded:
                try:
                    converter.set_permissions(assignment_of(lesson), learner)
                except OSError as error:
                    self.log.warning("%s: %s: %s", learner, error.filename, error.strerror)
            converter.run_post_convert_hook()
            forget_others(root, graded.marks)
            _, seen = but_settled(root, graded.marks, Attendance())
        self._tell(graded, seen)

    def _intake(self, works_for: Course, converter: Autograde, root: Path) -> Intake:
        """What lies where nbgrader was told to look, as `course grade` sees it."""
        from nbproof.run.intake import gradable_lessons, take_in

        course = converter.coursedir
        asked = set(glob.glob(course.format_path(course.submitted_directory, course.student_id, course.assignment_id)))
        course_places = places(root)
        lessons = gradable_lessons(root, sorted({Path(place).name for place in asked}))
        intake = take_in(works_for, root, lessons)
        notes = intake.notes if course.student_id == "*" else ()
        for note in notes:
            self.log.warning("%s", note)
        left_out = set((course.student_id_exclude or "").split(","))

        def is_chosen(key: Key) -> bool:
            return key.learner not in left_out and str(course_places.folder("submitted", *key)) in asked

        absent = tuple(filter(is_chosen, intake.absent))
        for key in absent:
            self.log.warning("nothing handed in: %s", key.name)
        return replace(
            intake, submissions=tuple(one for one in intake.submissions if is_chosen(one.key)), absent=absent
        )

    def _tell(self, graded: GradedClass, seen: Collection[Key]) -> None:
        """Log what came of it. Raises NbGraderException if something is not graded that no person has settled (``seen``)."""
        from nbproof.marking.plain import plain_test_lines
        from nbproof.values.words import words_of

        for note in graded.notes:
            self.log.error("%s", note)
        lines = (
            *graded.remarks,
            *plain_test_lines(graded.plain_tests),
            *(f"{lesson}: {what}" for lesson, what in graded.given_away.items()),
            *(f"{lesson}: its reference answers lose marks here: {why}" for lesson, why in graded.unfit.items()),
        )
        for line in lines:
            self.log.warning("%s", line)
        for one in graded.marks.values():
            if one.key in seen:
                self.log.info("%s is settled, and the same since", one.key.name)
                continue
            if one.problem:
                self.log.error("%s is not graded: %s", one.learner, one.problem)
            else:
                self.log.info("%s/%s: %g of %g, %s", one.learner, one.lesson, one.score, one.max_score, one.how)
            for exercise, why in one.missing(words_of(graded.course)).items():
                self.log.warning("%s/%s: %s: %s", one.learner, one.lesson, exercise, why)
        self.log.info("seed %d", graded.seed)
        problems = [one.learner for one in graded.ungraded() if one.key not in seen]
        if problems:
            raise NbGraderException(f"not graded: {', '.join(problems)}")
        if graded.notes:
            raise NbGraderException(f"all is graded, but {graded.notes[0]}")


def _as_configured(converter: Autograde) -> Config:
    """The course's configuration, and what else nbgrader was told, such as on the command line."""
    course, told = converter.coursedir, Config(converter.config)
    # Which learners and lessons, which the lessons that are registered on the way have nothing to do with.
    told.pop("CourseDirectory", None)
    config = course_config(Path(course.root))
    config.merge(told)
    config.CourseDirectory.db_url, config.CourseDirectory.course_id = course.db_url, course.course_id
    if course.notebook_id != "*":
        config.CourseDirectory.notebook_id = course.notebook_id
    return config
