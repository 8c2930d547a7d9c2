"""The engine inside ``nbgrader autograde``: two preprocessors that nbgrader_config.py puts in place of the stock ones.

nbgrader reads the submission, keeps the gradebook, formgrader and feedback; :class:`Rebuild` takes
the answers out of the submission into the instructor's notebook, :class:`Mark` has the engine run
it and leaves outputs that nbgrader's own rule for scores understands.
"""

from __future__ import annotations

import atexit
import os
import secrets
from functools import cache
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Unicode

__all__ = ["Mark", "Rebuild"]


class Rebuild(NbGraderPreprocessor):  # type: ignore[misc]
    """Sanitize: the instructor's notebook with the learner's answers, whatever else was handed in."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Replace the submission by its rebuilt twin. Raises where the submission's folder holds links."""
        from course.grading.reading import read_answers
        from course.grading.rebuild import fill_in, read_file

        folder = Path(resources["metadata"]["path"])
        links = [path for path in (folder, *folder.rglob("*")) if path.is_symlink()]
        if links:
            # nbgrader has copied what they point at; raising makes it remove the copies.
            raise ValueError(f"{links[0]} is a symbolic link: hand in the file itself")
        lesson = resources["nbgrader"]["assignment"]
        blueprint = _blueprint(str(_course(resources)), lesson)
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

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """The graded notebook: outputs and verdicts."""
        from course.grading.graded import graded_notebook
        from course.grading.marking import mark
        from course.grading.plain import said_aloud
        from course.grading.rebuild import Rebuilt, own_in, read_attachments

        told = resources["nbgrader"]
        root = _course(resources)
        blueprint = _blueprint(str(root), told["assignment"])
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
        judge = _judge(str(root), told["assignment"])
        verdict = mark(engine, blueprint, judge, Rebuilt(answers, own=own_in(nb)), told["student"], files)
        for exercise in verdict.exercises:
            self.log.info("%s: %s. %s", exercise.id, exercise.status, exercise.sentence)
        return graded_notebook(blueprint, verdict), resources


def _course(resources: dict[str, Any]) -> Path:
    """The course's folder: the one that nbgrader works in."""
    return Path(resources["nbgrader"].get("root") or os.getcwd())


@cache
def _blueprint(root: str, lesson: str) -> Any:
    from course.grading.rebuild import read_blueprint
    from course.nbgrader_setup import course_config

    return read_blueprint(Path(root, "source", lesson, f"{lesson}.ipynb"), course_config(Path(root)))


@cache
def _judge(root: str, lesson: str) -> Any:
    """One seed for all that this process grades, so that a class is judged alike."""
    from course.grading.judge import Judge

    return Judge(_blueprint(root, lesson), _seed())


@cache
def _seed() -> int:
    return secrets.randbelow(10**9) + 1


def _limits(config: Any) -> Any:
    from course.limits import GradingLimits

    return GradingLimits(config=config)


_engines: list[Any] = []
_told: set[str] = set()
"""Lessons of which it was said that their tests run beside the learner's code."""


def _engine(plugin: NbGraderPreprocessor, limits: Any, root: Path) -> Any:
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
