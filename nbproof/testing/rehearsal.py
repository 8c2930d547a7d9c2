"""A class of a course, in a folder of its own: it hands in, is graded, and what came of it is read.

::

    room = Rehearsal.of("examples/iterators", tmp_path)             # its lessons, with nobody's work
    room.hand_in("ada", {"last_word_first": "def last_word_first..."})   # what is not named stays as it was handed out
    assert scores(room.grade()) == {"ada": 2}
    assert "passed" in room.page("ada")
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI

from nbproof.course_file import Course
from nbproof.feedback.page import page_of
from nbproof.feedback.pages import task_of
from nbproof.gradebook.marks import GradedClass
from nbproof.key import Key
from nbproof.lesson.from_notebook import name_of, read_notebook
from nbproof.marking.blueprint import read_blueprint
from nbproof.marking.results import Verdict
from nbproof.places import course_config, places
from nbproof.run.batch import grade_class
from nbproof.run.intake import select, take_in
from nbproof.run.journal import journalled_verdict
from nbproof.run.pool import PoolMaker
from nbproof.testing.small import course_of

__all__ = ["Rehearsal", "scores"]

_OF_A_COURSE = ("source", "release", "lessons", "nbgrader_config.py", "course.toml")


def scores(graded: GradedClass) -> dict[str, float]:
    """Learner -> marks, from a run over one lesson."""
    return {one.learner: one.score for one in graded.marks.values()}


@dataclass
class Rehearsal:
    """A class in a folder of its own."""

    root: Path
    lesson: str
    """The lesson that is meant where none is named."""
    pool: PoolMaker | None = None
    """Who marks, if it is not an engine that is started for each run: an engine that is warm already, for many tests."""

    @classmethod
    def of(cls, course: str | Path, folder: Path, lesson: str = "", pool: PoolMaker | None = None) -> Rehearsal:
        """The class of a course that was built, in a folder that is empty yet; ``lesson``: the first one, if none is named."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in _OF_A_COURSE:
            there = Path(course) / name
            if there.is_dir():
                shutil.copytree(there, folder / name)
            elif there.exists():
                shutil.copy(there, folder)
        return cls(folder, lesson or min(path.name for path in (folder / "source").iterdir()), pool)

    @property
    def course(self) -> Course:
        """The course of the folder, or, if that says nothing, the one that the tests work for."""
        return course_of(self.root)

    def source(self, lesson: str = "") -> Path:
        """The instructor's notebook."""
        return places(self.root).notebook("source", ".", lesson or self.lesson)

    def submitted(self, learner: str, lesson: str = "") -> Path:
        """What a learner handed in."""
        return places(self.root).notebook("submitted", learner, lesson or self.lesson)

    def autograded(self, learner: str, lesson: str = "") -> Path:
        """The notebook that grading has made of it, for people."""
        return places(self.root).notebook("autograded", learner, lesson or self.lesson)

    def hand_in(self, learner: str, answers: Mapping[str, str], lesson: str = "") -> Path:
        """Hand in the lesson with these answers, by the TODO cell's id; returns the file. What is not named stays the stub."""
        # As learners were handed it, also where it was never released.
        notebook = read_blueprint(self.course, self.source(lesson), course_config(self.root)).notebook
        for cell in notebook.cells:
            cell["source"] = answers.get(name_of(cell), cell.source)
        path = self.submitted(learner, lesson)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(notebook), encoding="utf-8")
        return path

    def hand_in_all(self, work: Mapping[str, Mapping[str, str]], lesson: str = "") -> None:
        """Hand in for a whole class: learner -> answers."""
        for learner, answers in work.items():
            self.hand_in(learner, answers, lesson)

    @contextmanager
    def edited(self, lesson: str = "") -> Iterator[dict[str, dict[str, Any]]]:
        """The cells of the instructor's notebook by their ids, to be changed within the block."""
        path = self.source(lesson)
        notebook = read_notebook(path.read_bytes())
        yield {name_of(cell): cell for cell in notebook["cells"]}
        path.write_text(json.dumps(notebook), encoding="utf-8")

    def grade(self, lessons: Sequence[str] = (), only: Sequence[str] = (), **options: Any) -> GradedClass:
        """Grade what was handed in; ``options`` as :func:`grade_class` takes them."""
        names = list(lessons or (self.lesson,))
        intake = select(take_in(self.course, self.root, names), only)
        return grade_class(self.course, self.root, intake, names, **{"pool": self.pool, **options})

    def verdict(self, learner: str, lesson: str = "") -> Verdict:
        """What the last run found of a learner's work. Raises FileNotFoundError if it has found nothing."""
        found = journalled_verdict(self.root, learner, lesson or self.lesson)
        if found is None:
            raise FileNotFoundError(f"nothing of {learner} was graded")
        return found

    def page(self, learner: str, lesson: str = "") -> str:
        """The feedback page, as HTML."""
        return page_of(
            self.course, self.root, task_of(self.course, self.root, Key(learner, lesson or self.lesson), None)
        )

    def gradebook(self) -> Gradebook:
        """nbgrader's gradebook, which closes at the end of a ``with`` block."""
        coursedir = NbGraderAPI(config=course_config(self.root)).coursedir
        return Gradebook(coursedir.db_url, coursedir.course_id)

    def book(self) -> dict[str, float]:
        """Learner -> marks, as nbgrader's gradebook has them."""
        with self.gradebook() as book:
            return {one.student.id: one.score for one in book.assignment_submissions(self.lesson)}
