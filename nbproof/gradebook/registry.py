"""Have the gradebook know an assignment's cells as the instructor's notebooks have them. All that people gave stays.

nbgrader itself adds and removes no cell once somebody has handed in. So its `generate_assignment` fills a gradebook of its
own in a scratch folder, and the cells of that one go into the course's, in one transaction: a run that is cut off leaves
the old cells or the new ones. No name of the course comes to the scratch folder, because nbgrader would read it as a pattern.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Any

import nbformat
from alembic.operations import Operations
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
from sqlalchemy import Column, create_engine, inspect
from traitlets.config import Config

from nbproof.course_file import Course
from nbproof.csv_text import csv_of, unquoted
from nbproof.errors import CourseError
from nbproof.files import replace_file
from nbproof.marking.autotests import with_tests
from nbproof.text import counted, in_one_line, some_of

__all__ = ["create_tables", "follow", "has_notebooks", "is_by_person"]

_NAME = "assignment"
_UNMARKED = partial(Grade, needs_manual_grade=False)
"""Whether a person has to mark it is known once it is graded."""
_KINDS = {
    "grade_cells": (GradeCell, ("max_score", "cell_type"), (_UNMARKED,)),
    "solution_cells": (SolutionCell, (), (Comment,)),
    "task_cells": (TaskCell, ("max_score", "cell_type"), (_UNMARKED, Comment)),
    "source_cells": (SourceCell, ("cell_type", "locked", "source", "checksum"), ()),
}
"""The fields for cells of nbgrader's notebooks -> the kind, the values that are kept, and the rows that each submission has."""
GONE = "removed_marks.csv"
_WHERE = ("learner", "assignment", "notebook", "cell")
_GIVEN = ("manual_score", "extra_credit", "manual_comment")
"""The columns of nbgrader, and of the file, for what people give."""


def create_tables(db_url: str) -> None:
    """Make nbgrader's tables, and note the version of their schema, in an empty database. Raises SQLAlchemyError.

    In a database of this version it adds columns that are missing, because nbgrader's own upgrade knows no late penalties.
    nbgrader's ``Gradebook`` makes tables as well, but starts the program ``alembic`` to ask for the version: that takes ten
    times as long, and needs it on PATH.
    """
    engine = create_engine(db_url)
    versions = ScriptDirectory(ALEMBIC_DIR)
    try:
        with engine.begin() as connection:
            context = MigrationContext.configure(connection)
            if not inspect(connection).get_table_names():
                context.stamp(versions, "heads")
            if context.get_current_revision() != versions.get_current_head():
                return
            Base.metadata.create_all(connection)
            for table in Base.metadata.sorted_tables:
                known = {one["name"] for one in inspect(connection).get_columns(table.name)}
                for name in {*table.columns.keys()} - known:
                    Operations(context).add_column(table.name, Column(name, table.columns[name].type))
    finally:
        engine.dispose()


def has_notebooks(book: Any, assignment: str, folder: Path) -> bool:
    """Whether a gradebook knows the notebooks of an assignment that are in ``folder``, and no others."""
    known = book.db.query(Notebook.name).join(Assignment).filter(Assignment.name == assignment)
    return {name for (name,) in known} == {path.stem for path in _notebooks_in(folder)}


def _notebooks_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("[!.]*.ipynb"))


def follow(book: Any, course: Course, config: Config, assignment: str, folder: Path) -> str:
    """Have a gradebook know an assignment's cells and points as the notebooks in ``folder`` have them.

    Returns a sentence for the teacher: empty if nobody has handed in, or no cell has come or gone. Raises CourseError if nbgrader
    cannot register the notebooks.
    """
    paths = _notebooks_in(folder)
    with (
        tempfile.TemporaryDirectory() as scratch,
        Gradebook(_registered_alone(course, config, assignment, folder, paths, Path(scratch))) as made,
    ):
        known = book.db.query(Assignment).filter(Assignment.name == assignment).one_or_none()
        known = known or Assignment(name=assignment, course_id=book.course_id)
        book.db.add(known)
        place = Path(config.CourseDirectory.root, ".course", GONE)
        change = _Change(book.db, known, place, _removed_before(place))
        change.follow({paths[int(one.name)].stem: one for one in made.find_assignment(_NAME).notebooks})
        note = change.note()
        if change.lost:
            change.write()
        book.db.commit()
        if change.back:
            change.removed.difference_update(change.back)
            change.write()
    return note


def _registered_alone(
    course: Course, config: Config, assignment: str, folder: Path, paths: Sequence[Path], scratch: Path
) -> str:
    """Have nbgrader register copies of these notebooks, with numbers as names. Returns the address of the gradebook with them."""
    source = scratch / "source" / _NAME
    url = f"sqlite:///{scratch}/gradebook.db"
    source.mkdir(parents=True)
    create_tables(url)
    own = Config(config)
    own.CourseDirectory = Config(root=str(scratch), db_url=url)
    try:
        for number, path in enumerate(paths):
            nbformat.write(with_tests(course, path, config), source / f"{number}.ipynb")
        outcome = NbGraderAPI(config=own).generate_assignment(_NAME, force=True, create=True)
        said = ""
        if not outcome["success"]:
            said = f"{outcome.get('log') or ''}\n{outcome.get('error') or ''}"
    except CourseError:
        raise
    except Exception as error:  # nbgrader's, and any that an instructor's own preprocessor raises
        said = f"{type(error).__name__}: {error}"
    if said:
        raise CourseError(
            f"nbgrader cannot register {assignment}: {_reason_in(said.splitlines())}",
            str(folder),
            "mend what that names, in this notebook or in nbgrader_config.py; then grade again",
        )
    return url


def _reason_in(log: Sequence[str]) -> str:
    """The first error of nbgrader's log, because all later ones only say that there was one."""
    errors = [line for line in log if re.match(r"\s*[\w.]+(Error|Exception|Exit|Interrupt)\b", line)]
    said = [line for line in log if line.strip() and "traceback" not in line.lower()]
    return in_one_line((errors or said[-1:] or ["it gave no reason"])[0])


def is_by_person(grade: Any) -> bool:
    """Whether a person gave marks for a cell: all of them, or extra credit beside those of its tests."""
    return grade.manual_score is not None or bool(grade.extra_credit)


def _cells_of(notebook: Any) -> frozenset[str]:
    """The names of all cells that a gradebook knows of a notebook."""
    cells = chain.from_iterable(getattr(notebook, kind) for kind in _KINDS)
    return frozenset(cell.name for cell in cells)


def _removed_before(place: Path) -> set[tuple[str, ...]]:
    """The rows of the file in ``place``, below its heads: what people gave for cells that are gone.

    Raises CourseError if a person, or a spreadsheet, has made something else of the file.
    """
    text = place.read_bytes() if place.exists() else b""
    try:
        read = csv.reader(io.StringIO(text.decode("utf-8-sig"), newline=""))
        rows = {tuple(map(unquoted, row)) for row in read} - {(*_WHERE, *_GIVEN)}
        for _, _, _, _, score, extra, _ in rows:
            _ = float(score or 0) + float(extra or 0)
    except (ValueError, csv.Error) as error:
        raise CourseError(
            f"what you gave for cells that are gone cannot be read: {in_one_line(error)}",
            str(place),
            "save it as CSV with commas, in UTF-8, numbers as 1.5; or move it away: nothing comes back then; grade again",
        ) from None
    return rows


@dataclass(frozen=True)
class _Change:
    """A change of the cells that a gradebook knows of one assignment; nothing of it is committed.

    ``place``: the file for what people gave for cells that are gone; ``removed``: its rows. ``new``, ``gone``: names of notebooks
    and cells. ``lost``, ``back``: rows that go into the file, and that come out of it.
    """

    db: Any
    assignment: Any
    place: Path
    removed: set[tuple[str, ...]]
    new: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    lost: set[tuple[str, ...]] = field(default_factory=set)
    back: set[tuple[str, ...]] = field(default_factory=set)

    def follow(self, notebooks: dict[str, Any]) -> None:
        """Have the assignment these notebooks, by name, with their cells."""
        known = {one.name: one for one in self.assignment.notebooks}
        self._rename(known, notebooks)
        for title in known.keys() - notebooks.keys():
            self._follow_cells(known[title], None)
            for one in [*known[title].submissions, known[title]]:
                self.db.delete(one)
        for title, theirs in notebooks.items():
            mine = known.get(title) or Notebook(name=title, assignment=self.assignment)
            mine.kernelspec = theirs.kernelspec
            self.db.add(mine)
            if title not in known:
                self.db.add_all(SubmittedNotebook(notebook=mine, assignment=one) for one in self.assignment.submissions)
            self._follow_cells(mine, theirs)

    def _rename(self, known: dict[str, Any], notebooks: dict[str, Any]) -> None:
        """Rename a notebook that has the same cells under another name now, so that it keeps what people gave."""
        went = {_cells_of(known[title]): title for title in known.keys() - notebooks.keys()}
        self.gone.update(f"{title}.ipynb" for title in went.values())
        for title in sorted(notebooks.keys() - known.keys()):
            self.new.add(f"{title}.ipynb")
            if before := went.pop(_cells_of(notebooks[title]), ""):
                known[title] = known.pop(before)
                known[title].name = title

    def _follow_cells(self, mine: Any, theirs: Any | None) -> None:
        """Have a notebook the cells of another one; none if that is None."""
        for field_, (_, fields, _) in _KINDS.items():
            cells = {one.name: one for one in getattr(mine, field_)}
            wanted = {one.name: one for one in getattr(theirs, field_, ())}
            for name in cells.keys() - wanted.keys():
                self._remove(cells[name])
            for name, one in wanted.items():
                values = {value: getattr(one, value) for value in fields}
                if name in cells:
                    _update(cells[name], values)
                else:
                    self._add(mine, field_, name, values)

    def _add(self, notebook: Any, field_: str, name: str, values: Mapping[str, Any]) -> None:
        """Add a cell to a notebook and to its submissions, with what people gave before it was removed."""
        self.new.add(name)
        kind, _, kept = _KINDS[field_]
        made = kind(name=name, notebook=notebook, **values)
        self.db.add(made)
        rows = [row(cell=made, notebook=one) for one, row in product(notebook.submissions, kept)]
        self.db.add_all(rows)
        for row in rows:
            self._give_back(row, name)

    def _remove(self, cell: Any) -> None:
        """Remove a cell with all that submissions have of it, and note what people gave."""
        self.gone.add(cell.name)
        for row in (*getattr(cell, "grades", ()), *getattr(cell, "comments", ())):
            given = [getattr(row, column, None) for column in _GIVEN]
            if given != [None] * 3:
                texts = map(str, ({None: ""}.get(value, value) for value in given))
                self.lost.add((*self._where(row, cell.name), *texts))
            self.db.delete(row)
        self.db.delete(cell)

    def _where(self, row: Any, cell: str) -> tuple[str, ...]:
        return row.notebook.assignment.student_id, self.assignment.name, row.notebook.name, cell

    def _give_back(self, row: Any, cell: str) -> None:
        """Put back what a person gave before the cell was removed, and have a person look at it again."""
        for given in [one for one in self.removed if one[:4] == self._where(row, cell)]:
            for name, text in zip(_GIVEN, given[4:], strict=False):
                if text and hasattr(row, name):
                    value = text if name == "manual_comment" else float(text)
                    setattr(row, name, value)
                    row.needs_manual_grade = True
                    self.back.add(given)

    def write(self) -> None:
        """Write what people gave for cells that are gone into the file: the last of each cell."""
        newer = {row[:4] for row in self.lost}
        rows = {row for row in self.removed if row[:4] not in newer} | self.lost
        self.place.parent.mkdir(exist_ok=True)
        replace_file(self.place, csv_of([(*_WHERE, *_GIVEN), *sorted(rows)]))

    def note(self) -> str:
        """A sentence for the teacher; empty if nobody has handed in, or no cell has come or gone."""
        if not self.assignment.submissions or not self.new | self.gone:
            return ""
        cells = {"new": self.new, "gone": self.gone}
        told = "; ".join(f"{what}: {some_of(sorted(names), 5)}" for what, names in cells.items() if names)
        by_hand = {
            f"for what is gone: {self.place}, from which they come back with their cells": self.lost,
            "are back with their cells: look at them": self.back,
        }
        kept = [
            f"; {counted(len(rows), 'mark')} or comments given by hand {became}"
            for became, rows in by_hand.items()
            if rows
        ]
        return (
            f"{self.assignment.name}: the gradebook has its cells as they are now ({told}); due date, extensions, and what "
            f"people gave for all other cells are kept{''.join(kept)}"
        )


def _update(cell: Any, values: Mapping[str, Any]) -> None:
    """Give a cell these values. If its points change, a person has to look at the marks that people gave for it."""
    if values.get("max_score") != getattr(cell, "max_score", None):
        for row in cell.grades:
            row.needs_manual_grade |= is_by_person(row)
    for name, value in values.items():
        setattr(cell, name, value)
