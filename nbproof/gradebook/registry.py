"""What the gradebook knows of an assignment follows the instructor's notebooks. Whatever people gave stays.

nbgrader itself adds and removes no cell once somebody has handed in. So its `generate_assignment` fills a gradebook of its
own in a scratch folder, and what stands in that one goes into the course's, in one transaction: a run that is cut off leaves
the old cells or the new ones. No name of the course's comes to the scratch folder, where nbgrader would read it as a pattern.
"""

from __future__ import annotations

import csv
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from nbgrader.api import (
    Assignment,
    Base,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    SolutionCell,
    SourceCell,
    SubmittedNotebook,
    TaskCell,
)
from nbgrader.apps import NbGraderAPI
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import create_engine
from traitlets.config import Config

from nbproof.errors import CourseError
from nbproof.marking.autotests import with_tests
from nbproof.text import counted, in_one_line, some_of

__all__ = ["create_tables", "follow"]

_NAME = "assignment"
_KINDS = {
    "grade_cells": (GradeCell, ("max_score", "cell_type"), (Grade,)),
    "solution_cells": (SolutionCell, (), (Comment,)),
    "task_cells": (TaskCell, ("max_score", "cell_type"), (Grade, Comment)),
    "source_cells": (SourceCell, ("cell_type", "locked", "source", "checksum"), ()),
}
"""What nbgrader's notebooks call their cells -> the kind, what is kept of each, what each submission has of it."""
GONE = "removed_marks.csv"


def create_tables(db_url: str) -> None:
    """nbgrader's tables, and the version of their schema, in an empty database. Raises SQLAlchemyError.

    nbgrader's ``Gradebook`` does the same where there are no tables, but starts the program ``alembic`` to ask for the
    version: that takes ten times as long, and wants it on PATH.
    """
    engine = create_engine(db_url)
    try:
        Base.metadata.create_all(engine)
        with engine.begin() as connection:
            MigrationContext.configure(connection).stamp(ScriptDirectory(ALEMBIC_DIR), "heads")
    finally:
        engine.dispose()


def follow(book: Any, config: Config, assignment: str, folder: Path) -> str:
    """Have a gradebook know an assignment's cells and points as the notebooks in ``folder`` have them.

    Returns what a teacher should know of it: empty if nobody has handed in, or no cell has come or gone.
    """
    paths = sorted(path for path in folder.glob("*.ipynb") if not path.name.startswith("."))
    with (
        tempfile.TemporaryDirectory() as scratch,
        Gradebook(_registered_alone(config, assignment, folder, paths, Path(scratch))) as made,
    ):
        change = _Change(book, assignment)
        change.follow({paths[int(one.name)].stem: one for one in made.find_assignment(_NAME).notebooks})
        note = change.note(Path(config.CourseDirectory.root, ".course", GONE))
        book.db.commit()
    return note


def _registered_alone(config: Config, assignment: str, folder: Path, paths: Sequence[Path], scratch: Path) -> str:
    """Have nbgrader register copies of these notebooks, called by their numbers; returns the gradebook that holds them."""
    source, url = scratch / "source" / _NAME, f"sqlite:///{scratch}/gradebook.db"
    source.mkdir(parents=True)
    create_tables(url)
    own = Config(config)
    own.CourseDirectory = Config(root=str(scratch), db_url=url)
    try:
        for number, path in enumerate(paths):
            nbformat.write(with_tests(path, config), source / f"{number}.ipynb")
        outcome = NbGraderAPI(config=own).generate_assignment(_NAME, force=True, create=True)
        said = f"{outcome.get('log') or ''}\n{outcome.get('error') or ''}" if not outcome["success"] else ""
    except CourseError:
        raise
    except Exception as error:  # nbgrader's, and whatever an instructor's own preprocessor raises
        said = f"{type(error).__name__}: {error}"
    if said:
        raise CourseError(
            f"nbgrader cannot register {assignment}: {_reason_in(said.splitlines())}",
            str(folder),
            "mend what that names, in this notebook or in nbgrader_config.py; then grade again",
        )
    return url


def _reason_in(log: Sequence[str]) -> str:
    """The first error of nbgrader's log: all that come later only tell that there was one."""
    errors = [line for line in log if re.match(r"\s*[\w.]+(Error|Exception|Exit|Interrupt)\b", line)]
    said = [line for line in log if line.strip() and "traceback" not in line.lower()]
    return in_one_line((errors or said[-1:] or ["it gave no reason"])[0])


class _Change:
    """Of what a gradebook knows of one assignment; nothing of it is committed."""

    def __init__(self, book: Any, assignment: str) -> None:
        self._db, self._name = book.db, assignment
        known = self._db.query(Assignment).filter(Assignment.name == assignment).one_or_none()
        self._known = known or Assignment(name=assignment, course_id=book.course_id)
        self._db.add(self._known)
        self._new: list[str] = []
        self._gone: list[str] = []
        self._lost: list[tuple[object, ...]] = []

    def follow(self, notebooks: dict[str, Any]) -> None:
        """Have it these notebooks, and these cells in them."""
        ours = {one.name: one for one in self._known.notebooks}
        for title in ours.keys() - notebooks.keys():
            self._follow_cells(ours[title], None)
            for submitted in list(ours[title].submissions):
                self._db.delete(submitted)
            self._db.delete(ours[title])
        for title, theirs in notebooks.items():
            mine = ours.get(title)
            if mine is None:
                mine = Notebook(name=title, assignment=self._known)
                self._db.add(mine)
                for one in list(self._known.submissions):
                    self._db.add(SubmittedNotebook(notebook=mine, assignment=one))
            mine.kernelspec = theirs.kernelspec
            self._follow_cells(mine, theirs)

    def _follow_cells(self, mine: Any, theirs: Any | None) -> None:
        for called, (kind, fields, kept) in _KINDS.items():
            cells = {one.name: one for one in getattr(mine, called)}
            wanted = {one.name: one for one in getattr(theirs, called, ())}
            for name in cells.keys() - wanted.keys():
                self._remove(mine.name, cells[name])
            for name, one in wanted.items():
                values = {field: getattr(one, field) for field in fields}
                if name not in cells:
                    self._add(kind(name=name, notebook=mine, **values), mine, kept)
                for field, value in values.items() if name in cells else ():
                    setattr(cells[name], field, value)

    def _add(self, cell: Any, mine: Any, kept: Sequence[Any]) -> None:
        self._db.add(cell)
        self._new += [cell.name]
        for submitted in mine.submissions if kept else ():
            self._db.add_all(one(cell=cell, notebook=submitted) for one in kept)
        # Whether a person has to mark it is known once it is graded.
        for grade in getattr(cell, "grades", None) or ():
            grade.needs_manual_grade = False

    def _remove(self, notebook: str, cell: Any) -> None:
        self._gone += [cell.name]
        for row in (*(getattr(cell, "grades", None) or ()), *(getattr(cell, "comments", None) or ())):
            given = [getattr(row, one, None) for one in ("manual_score", "extra_credit", "manual_comment")]
            if any(one is not None for one in given):
                self._lost += [(row.notebook.assignment.student_id, self._name, notebook, cell.name, *given)]
            self._db.delete(row)
        self._db.delete(cell)

    def note(self, place: Path) -> str:
        """What a teacher should know; what people gave for cells that are gone goes to the file in ``place``."""
        if not (self._known.submissions and (self._new or self._gone)):
            return ""
        cells = {"new": self._new, "gone": self._gone}
        told = "; ".join(f"{what}: {some_of(sorted(set(names)), 5)}" for what, names in cells.items() if names)
        note = (
            f"{self._name}: the gradebook has its cells as they are now ({told}); due date, extensions, and what people gave "
            "for all other cells are kept"
        )
        if self._lost:
            place.parent.mkdir(exist_ok=True)
            with place.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(sorted(self._lost, key=str))
            note += f"; {counted(len(self._lost), 'mark')} or comments given by hand for what is gone: {place}"
        return note
