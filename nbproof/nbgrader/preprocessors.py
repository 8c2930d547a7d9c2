"""The engine inside ``nbgrader autograde``: an exporter and two preprocessors that nbgrader_config.py puts in place of
the stock ones.

nbgrader keeps the gradebook, formgrader and feedback. :class:`LookFirst`, which nbgrader makes before it copies or reads
anything, lets it have of a submission only what was looked at; :class:`Rebuild` takes the answers out of it into the
instructor's notebook, :class:`Mark` has the engine run that and leaves outputs that nbgrader's own rule for scores
understands.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.v4 import new_notebook
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Unicode

from nbproof.errors import CourseError
from nbproof.limits import GradingLimits
from nbproof.nbgrader.one_by_one import blueprint_of, engine_for, judge_for, registered, seed

__all__ = ["LookFirst", "Mark", "Rebuild"]

_told: set[str] = set()
"""Lessons of which it was said that their tests run beside the learner's code."""


class LookFirst(NotebookExporter):  # type: ignore[misc]
    """For ``c.Autograde.exporter_class``: readies a run of ``nbgrader autograde``, and keeps submissions unread."""

    def __init__(self, config: Any = None, **given: Any) -> None:
        """Raises NbGraderException, having said why, if nothing can be graded."""
        super().__init__(config=config, **given)
        self.converter = self.parent if isinstance(self.parent, Autograde) else None
        self.marked_apart: dict[tuple[str, str], Any] = {}
        """Verdicts on what may have ended an earlier run, by learner and lesson."""
        if self.converter is not None:
            try:
                self._make_ready(self.converter)
            except CourseError as error:
                for line in error.lines():
                    self.log.error("%s", line.removeprefix("error: "))
                raise NbGraderException(error.fact) from None

    def _make_ready(self, converter: Autograde) -> None:
        from nbproof.nbgrader.one_by_one import LastPlace, OneByOne
        from nbproof.nbgrader.vetting import VettedCourse
        from nbproof.run.intake import lessons_with_source
        from nbproof.run.journal import JOURNAL
        from nbproof.run.suspects import InProgress

        limits = GradingLimits(config=self.config)
        whose = self._whose(converter)
        root = Path(converter.coursedir.root)
        lessons = lessons_with_source(root, sorted({lesson for _, lesson in whose.values()}))
        assignments = {place: found for place, found in converter.assignments.items() if place in whose}
        converter.coursedir = VettedCourse(converter.coursedir, limits, lambda told: self.log.warning("%s", told))
        states, state = registered(root, lessons, converter.coursedir)
        self._engine, self._limits, self._states = engine_for(self, limits, root), limits, states
        self._try_references(self._engine, states, state)
        self._run = OneByOne(InProgress(root), state.key, limits, whose)
        for learner, lesson in self._run.cut_off:
            # nbgrader takes what a killed run has left there for graded, and would pass over it.
            graded = Path(converter.coursedir.format_path(converter.coursedir.autograded_directory, learner, lesson))
            if not (graded / JOURNAL).exists():
                shutil.rmtree(graded, ignore_errors=True)
        converter.assignments = {
            LastPlace(place) if self._run.is_suspect(whose[place]) else place: found
            for place, found in assignments.items()
        }

    def _try_references(self, engine: Any, states: Any, state: Any) -> None:
        """Raise ReferencesFail if the reference answers themselves lose marks, and nobody said to go on."""
        from nbproof.command import nbgrader_command
        from nbproof.marking.marker import Marker
        from nbproof.run.references import References, where_of

        anyway = bool(self.config.Mark.get("anyway", False))
        references = References(states, state, where_of(True, engine.isolation), anyway)
        for job in references.jobs(states):
            lesson = job.submission.lesson
            marker = Marker(engine, {lesson: states[lesson].blueprint}, seed())
            while references.is_pending(lesson):
                references.note(job, marker.mark(job.order))
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
                self.log.error(
                    "passed over %s: this is not a learner's name", ascii(os.path.relpath(place, course.root))
                )
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
        if converter is None or resources is None:
            return super().from_filename(filename, resources, **given)  # type: ignore[no-any-return]
        if not any(filename in own for own in converter.assignments.values()):
            # Rebuilt by now, and being marked. Whatever this raises has not ended the run.
            try:
                return super().from_filename(filename, resources, **given)  # type: ignore[no-any-return]
            finally:
                self._run.end()
        folder, name = os.path.split(filename)
        resources["metadata"] = {"name": os.path.splitext(name)[0], "path": folder}
        try:
            self._begin(converter, resources["nbgrader"]["student"], resources["nbgrader"]["assignment"])
            return self.from_notebook_node(new_notebook(), resources, **given)  # type: ignore[no-any-return]
        except BaseException:
            self._run.end()
            raise

    def _begin(self, converter: Autograde, learner: str, lesson: str) -> None:
        """Raises NotGradable if it may not be marked, or has ended what marked it."""
        from nbproof.nbgrader.vetting import NotGradable
        from nbproof.run.pool import LocalPool

        converter.coursedir.refuse(learner, lesson)
        pool = LocalPool(
            {lesson: self._states[lesson].blueprint}, seed(), self._limits, isolation=self._engine.isolation
        )
        verdict = self._run.begin((learner, lesson), pool.apart, converter.force)
        if verdict is not None and verdict.problem:
            raise NotGradable(f"{learner} is not graded: {verdict.problem}", f"submitted/{learner}/{lesson}")
        if verdict is not None:
            self.marked_apart[learner, lesson] = verdict


class Rebuild(NbGraderPreprocessor):  # type: ignore[misc]
    """Sanitize: the instructor's notebook with the learner's answers, whatever else was handed in."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Replace the submission by its rebuilt twin. Raises Damaged if there is no reading it."""
        from nbproof.marking.blueprint import Rebuilt, fill_in, read_attachments, read_file
        from nbproof.marking.marker import read_answers

        folder = Path(resources["metadata"]["path"])
        if not isinstance(self.parent, LookFirst):
            # The configuration is an earlier one: nbgrader has copied what links point at. Now it removes the copies.
            links = [path for path in (folder, *folder.rglob("*")) if path.is_symlink()]
            if links:
                raise ValueError(f"{links[0]} is a symbolic link: hand in the file itself")
        lesson = resources["nbgrader"]["assignment"]
        blueprint = blueprint_of(_course(resources), lesson)
        apart = _marked_apart(self, resources)
        if apart is not None:
            # Marked already, elsewhere. Of what it holds this process needs only the verdict.
            for name, told in {**apart.recovered, **apart.lost}.items():
                self.log.warning("%s: %s", name, told)
            return fill_in(blueprint, Rebuilt({})), resources
        limits = GradingLimits(config=self.config)
        data = read_file(folder / f"{lesson}.ipynb", limits.notebook_mb << 20)
        files = read_attachments(folder, folder / f"{lesson}.ipynb", limits.attachment_mb << 20)
        rebuilt = read_answers(engine_for(self, limits, _course(resources)), blueprint, data, files)
        if rebuilt.damage:
            self.log.warning("%s", rebuilt.damage)
        for name, told in {**rebuilt.recovered, **rebuilt.lost}.items():
            self.log.warning("%s: %s", name, told)
        return fill_in(blueprint, rebuilt), resources


class Mark(NbGraderPreprocessor):  # type: ignore[misc]
    """Execute: mark the rebuilt notebook with the engine."""

    unsafe = Bool(False, help="run submissions without isolation if the machine offers none").tag(config=True)
    isolation = Unicode("", help="demand this level, full or reduced (default: the best there is)").tag(config=True)
    anyway = Bool(False, help="also grade a lesson whose reference answers lose marks here").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """The graded notebook: outputs and verdicts."""
        from nbproof.gradebook.graded_notebook import graded_notebook
        from nbproof.marking.plain import said_aloud

        told = resources["nbgrader"]
        root = _course(resources)
        blueprint = blueprint_of(root, told["assignment"])
        if blueprint.plain and blueprint.lesson not in _told:
            _told.add(blueprint.lesson)
            self.log.warning("%s", said_aloud(blueprint.lesson, len(blueprint.plain)))
        verdict = _marked_apart(self, resources) or self._marked(nb, resources, blueprint, root)
        for exercise in verdict.exercises:
            self.log.info("%s: %s. %s", exercise.id, exercise.status, exercise.sentence)
        return graded_notebook(blueprint, verdict), resources

    def _marked(self, nb: NotebookNode, resources: dict[str, Any], blueprint: Any, root: Path) -> Any:
        from nbproof.marking.blueprint import read_attachments, rebuilt_in
        from nbproof.marking.submission import mark

        limits = GradingLimits(config=self.config)
        # nbgrader has copied the submission's own files next to the notebook.
        folder = Path(resources["metadata"]["path"])
        files = read_attachments(folder, folder / f"{blueprint.lesson}.ipynb", limits.attachment_mb << 20)
        engine = engine_for(self, limits, root)
        judge = judge_for(blueprint)
        learner = resources["nbgrader"]["student"]
        return mark(engine, blueprint, judge, rebuilt_in(blueprint, nb), learner, files)


def _marked_apart(plugin: Any, resources: dict[str, Any]) -> Any:
    """The verdict on what may have ended an earlier run; None for everything else."""
    told = resources["nbgrader"]
    known: dict[tuple[str, str], Any] = getattr(plugin.parent, "marked_apart", {})
    return known.get((told["student"], told["assignment"]))


def _course(resources: dict[str, Any]) -> Path:
    """The course's folder: the one that nbgrader works in."""
    return Path(resources["nbgrader"].get("root") or os.getcwd())
