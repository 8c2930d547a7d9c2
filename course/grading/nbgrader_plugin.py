"""The engine inside ``nbgrader autograde``: an exporter and two preprocessors that nbgrader_config.py puts in place of
the stock ones.

nbgrader keeps the gradebook, formgrader and feedback. :class:`LookFirst`, which nbgrader makes before it copies or reads
anything, lets it have of a submission only what was looked at; :class:`Rebuild` takes the answers out of it into the
instructor's notebook, :class:`Mark` has the engine run that and leaves outputs that nbgrader's own rule for scores
understands.
"""

from __future__ import annotations

import atexit
import os
import re
import secrets
from functools import cache
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.v4 import new_notebook
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Unicode

from course.errors import CourseError

__all__ = ["LookFirst", "Mark", "Rebuild"]


class LookFirst(NotebookExporter):  # type: ignore[misc]
    """For ``c.Autograde.exporter_class``: readies a run of ``nbgrader autograde``, and keeps submissions unread."""

    def __init__(self, config: Any = None, **given: Any) -> None:
        """Raises NbGraderException, having said why, where nothing can be graded."""
        super().__init__(config=config, **given)
        self.converter = self.parent if isinstance(self.parent, Autograde) else None
        if self.converter is not None:
            try:
                self._make_ready(self.converter)
            except CourseError as error:
                for line in error.lines():
                    self.log.error("%s", line.removeprefix("error: "))
                raise NbGraderException(error.fact) from None

    def _make_ready(self, converter: Autograde) -> None:
        from course.grading.intake import lessons_with_source
        from course.grading.vetting import VettedCourse

        limits = _limits(self.config)
        whose = self._whose(converter)
        root = Path(converter.coursedir.root)
        lessons = lessons_with_source(root, sorted({lesson for _, lesson in whose.values()}))
        converter.assignments = {place: found for place, found in converter.assignments.items() if place in whose}
        converter.coursedir = VettedCourse(converter.coursedir, limits, lambda told: self.log.warning("%s", told))
        states, state = _register(root, lessons, converter.coursedir)
        self._try_references(_engine(self, limits, root), limits, states, state)

    def _try_references(self, engine: Any, limits: Any, states: Any, state: Any) -> None:
        """Raise ReferencesFail where the reference answers themselves lose marks, and nobody said to go on."""
        from course.command import nbgrader_command
        from course.grading.marker import Marker
        from course.grading.references import References, where_of

        anyway = bool(self.config.Mark.get("anyway", False))
        references = References(states, state, where_of(True, engine.isolation), anyway)
        for job in references.jobs(states):
            lesson = job.submission.lesson
            marker = Marker(engine, {lesson: states[lesson].blueprint}, _seed())
            while references.is_pending(lesson):
                references.note(job, marker.mark(job.order(limits)))
        if references.unfit:
            lesson = next(iter(references.unfit))
            references.refuse(nbgrader_command(f"autograde {lesson} --Mark.anyway=True"))
        for lesson, why in references.failed.items():
            self.log.warning("%s: its reference answers lose marks here: %s", lesson, why)

    def _whose(self, converter: Autograde) -> dict[str, tuple[str, str]]:
        """Learner and lesson of each folder. nbgrader would end for a name that it cannot take apart."""
        course = converter.coursedir
        parts = course.format_path(course.submitted_directory, "(?P<learner>.*)", "(?P<lesson>.*)", escape=True)
        found = {}
        for place in converter.assignments:
            match = re.fullmatch(parts, place)
            if match is None or not match["learner"].isprintable():
                self.log.error("passed over %s: this is no learner's name", ascii(os.path.relpath(place, course.root)))
            else:
                found[place] = (match["learner"], match["lesson"])
        if not found:
            raise NbGraderException("nothing is left to grade")
        return found

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **given: Any
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """As ever, but an empty notebook in place of a submission: :class:`Rebuild` reads that, where it can do no harm."""
        converter = self.converter
        if converter is None or resources is None or not any(filename in own for own in converter.assignments.values()):
            return super().from_filename(filename, resources, **given)  # type: ignore[no-any-return]
        converter.coursedir.refuse(resources["nbgrader"]["student"], resources["nbgrader"]["assignment"])
        folder, name = os.path.split(filename)
        resources["metadata"] = {"name": os.path.splitext(name)[0], "path": folder}
        return self.from_notebook_node(new_notebook(), resources, **given)  # type: ignore[no-any-return]


class Rebuild(NbGraderPreprocessor):  # type: ignore[misc]
    """Sanitize: the instructor's notebook with the learner's answers, whatever else was handed in."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Replace the submission by its rebuilt twin. Raises Damaged where there is no reading it."""
        from course.grading.reading import read_answers
        from course.grading.rebuild import fill_in, read_file

        folder = Path(resources["metadata"]["path"])
        if not isinstance(self.parent, LookFirst):
            # The configuration is an earlier one: nbgrader has copied what links point at. Now it removes the copies.
            links = [path for path in (folder, *folder.rglob("*")) if path.is_symlink()]
            if links:
                raise ValueError(f"{links[0]} is a symbolic link: hand in the file itself")
        lesson = resources["nbgrader"]["assignment"]
        blueprint = _blueprint(_course(resources), lesson)
        limits = _limits(self.config)
        data = read_file(folder / f"{lesson}.ipynb", limits.notebook_mb << 20)
        rebuilt = read_answers(_engine(self, limits, _course(resources)), blueprint, data)
        for name, told in {**rebuilt.recovered, **rebuilt.lost}.items():
            self.log.warning("%s: %s", name, told)
        return fill_in(blueprint, rebuilt), resources


class Mark(NbGraderPreprocessor):  # type: ignore[misc]
    """Execute: mark the rebuilt notebook with the engine."""

    unsafe = Bool(False, help="run submissions without isolation where the machine offers none").tag(config=True)
    isolation = Unicode("", help="demand this level, full or reduced (default: the best there is)").tag(config=True)
    anyway = Bool(False, help="grade also a lesson whose reference answers lose marks here").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """The graded notebook: outputs and verdicts."""
        from course.grading.graded import graded_notebook
        from course.grading.marking import mark
        from course.grading.plain import said_aloud
        from course.grading.rebuild import Rebuilt, own_in, read_attachments

        told = resources["nbgrader"]
        root = _course(resources)
        blueprint = _blueprint(root, told["assignment"])
        answers = {
            cell.metadata.nbgrader.grade_id: cell.source
            for cell in nb.cells
            if cell.metadata.get("nbgrader", {}).get("grade_id") in (*blueprint.stubs, *blueprint.written)
        }
        if blueprint.plain and blueprint.lesson not in _told:
            _told.add(blueprint.lesson)
            self.log.warning("%s", said_aloud(blueprint.lesson, len(blueprint.plain)))
        limits = _limits(self.config)
        # nbgrader has copied the submission's own files next to the notebook.
        folder = Path(resources["metadata"]["path"])
        files = read_attachments(folder, folder / f"{blueprint.lesson}.ipynb", limits.attachment_mb << 20)
        engine = _engine(self, limits, root)
        judge = _judge(blueprint)
        verdict = mark(engine, blueprint, judge, Rebuilt(answers, own=own_in(nb)), told["student"], files)
        for exercise in verdict.exercises:
            self.log.info("%s: %s. %s", exercise.id, exercise.status, exercise.sentence)
        return graded_notebook(blueprint, verdict), resources


def _course(resources: dict[str, Any]) -> Path:
    """The course's folder: the one that nbgrader works in."""
    return Path(resources["nbgrader"].get("root") or os.getcwd())


def _blueprint(root: Path, lesson: str) -> Any:
    """The lesson as it is now: formgrader's server lives for weeks."""
    source = root / "source" / lesson / f"{lesson}.ipynb"
    found = source.stat()
    return _blueprint_of(root, source, found.st_mtime_ns, found.st_size)


@cache
def _blueprint_of(root: Path, source: Path, *version: int) -> Any:
    from course.grading.rebuild import read_blueprint
    from course.nbgrader_setup import course_config

    return read_blueprint(source, course_config(root))


_judges: dict[int, tuple[Any, Any]] = {}


def _judge(blueprint: Any) -> Any:
    """One seed for all that this process grades, so that a class is judged alike."""
    from course.grading.judge import Judge

    # The blueprint is kept beside its judge, so that no other one takes its id.
    if id(blueprint) not in _judges:
        _judges[id(blueprint)] = (blueprint, Judge(blueprint, _seed()))
    return _judges[id(blueprint)][1]


def _register(root: Path, lessons: list[str], course: Any) -> tuple[Any, Any]:
    """Have the gradebook know these lessons as they are now: ``generate_assignment``, where nobody has said it.

    Returns the lessons' states, and the runs'.
    """
    from course.grading.batch import register_lessons
    from course.grading.digests import LessonState
    from course.grading.gradebook import Writer
    from course.grading.journal import RunState
    from course.nbgrader_setup import course_config

    config = course_config(root)
    config.CourseDirectory.db_url = course.db_url
    config.CourseDirectory.course_id = course.course_id
    states = {
        name: LessonState(root / "source" / name / f"{name}.ipynb", config, _limits(config)) for name in lessons
    }  # fmt: skip
    state = RunState(root)
    with Writer(course.db_url, course.course_id) as writer:
        register_lessons(states, state, writer, config)
    return states, state


@cache
def _seed() -> int:
    return secrets.randbelow(10**9) + 1


def _limits(config: Any) -> Any:
    from course.limits import GradingLimits

    return GradingLimits(config=config)


_engines: list[Any] = []
_told: set[str] = set()
"""Lessons of which it was said that their tests run beside the learner's code."""


def _engine(plugin: Any, limits: Any, root: Path) -> Any:
    """The engine of this process, started for the first submission."""
    if not _engines:
        from course.grading.engine import Engine
        from course.grading.isolation import Isolation, isolation_or_refuse
        from course.grading.launch import refuse_if_exposed

        told = plugin.config.Mark
        said = isolation_or_refuse(bool(told.get("unsafe", False)), str(told.get("isolation", "")) or None)
        plugin.log.info("%s; seed %d", said, _seed())
        if said.level is not Isolation.NONE:
            refuse_if_exposed(root)
        engine = Engine(limits, said.level)
        engine.__enter__()
        atexit.register(engine.__exit__)
        _engines.append(engine)
    return _engines[0]
