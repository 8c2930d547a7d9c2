"""What the gradebook knows of an assignment follows the instructor's notebooks. All that people gave stays.

nbgrader itself adds and removes no cell once somebody has handed in. So its `generate_assignment` fills a gradebook of its
own in a scratch folder, and what stands in that one goes into the course's, in one transaction: a run that is cut off leaves
the old cells or the new ones. No name of the course's comes to the scratch folder, where nbgrader would read it as a pattern.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
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
"""What nbgrader's notebooks call their cells -> the kind, what is kept of each, what each submission has of it."""
GONE = "removed_marks.csv"
_WHERE = ("learner", "assignment", "notebook", "cell")
_GIVEN = ("manual_score", "extra_credit", "manual_comment")
"""What people give, as nbgrader's columns are called, and the file's."""


def create_tables(db_url: str) -> None:
    """nbgrader's tables, and the version of their schema, in an empty database. Raises SQLAlchemyError.

    In one of this version it adds columns that are missing: nbgrader's own upgrade knows no late penalties. nbgrader's
    ``Gradebook`` makes tables, too, but starts the program ``alembic`` to ask for the version: that takes ten times as long, and
    wants it on PATH.
    """
    engine, versions = create_engine(db_url), ScriptDirectory(ALEMBIC_DIR)
    try:
        with engine.begin() as connection:
            context = MigrationContext.configure(connection)
            if not inspect(connection).get_table_names():
                context.stamp(versions, "heads")
            if context.get_current_revision() != versions.get_current_head():
                return
            Base.metadata.create_all(connection)
            for table in Base.metadata.sorted_tables:
                for name in {*table.columns.keys()} - {
                    one["name"] for one in inspect(connection).get_columns(table.name)
                }:
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

    Returns what a teacher should know of it: empty if nobody has handed in, or no cell has come or gone.
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
    """Have nbgrader register copies of these notebooks, called by their numbers; returns the gradebook that holds them."""
    source, url = scratch / "source" / _NAME, f"sqlite:///{scratch}/gradebook.db"
    source.mkdir(parents=True)
    create_tables(url)
    own = Config(config)
    own.CourseDirectory = Config(root=str(scratch), db_url=url)
    try:
        for number, path in enumerate(paths):
            nbformat.write(with_tests(course, path, config), source / f"{number}.ipynb")
        outcome = NbGraderAPI(config=own).generate_assignment(_NAME, force=True, create=True)
        said = f"{outcome.get('log') or ''}\n{outcome.get('error') or ''}" if not outcome["success"] else ""
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
    """The first error of nbgrader's log: all that come later only tell that there was one."""
    errors = [line for line in log if re.match(r"\s*[\w.]+(Error|Exception|Exit|Interrupt)\b", line)]
    said = [line for line in log if line.strip() and "traceback" not in line.lower()]
    return in_one_line((errors or said[-1:] or ["it gave no reason"])[0])


def is_by_person(grade: Any) -> bool:
    """Whether a person gave marks for a cell: all of them, or extra credit beside those of its tests."""
    return grade.manual_score is not None or bool(grade.extra_credit)


def _cells_of(notebook: Any) -> frozenset[str]:
    return frozenset(cell.name for kind in _KINDS for cell in getattr(notebook, kind))


def _removed_before(place: Path) -> set[tuple[str, ...]]:
    """What people gave for cells that are gone: the rows of the file in ``place``, below its heads.

    Raises CourseError if a person, or a spreadsheet, has made something else of it.
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
    """A change of what a gradebook knows of one assignment; nothing of it is committed."""

    db: Any
    assignment: Any
    place: Path
    removed: set[tuple[str, ...]]
    new: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    lost: set[tuple[str, ...]] = field(default_factory=set)
    back: set[tuple[str, ...]] = field(default_factory=set)

    def follow(self, notebooks: dict[str, Any]) -> None:
        """Have it these notebooks, and these cells in them."""
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
        """What has the same cells under another name keeps what people gave."""
        went = {_cells_of(known[title]): title for title in known.keys() - notebooks.keys()}
        self.gone.update(f"{title}.ipynb" for title in went.values())
        for title in sorted(notebooks.keys() - known.keys()):
            self.new.add(f"{title}.ipynb")
            if before := went.pop(_cells_of(notebooks[title]), ""):
                known[title] = known.pop(before)
                known[title].name = title

    def _follow_cells(self, mine: Any, theirs: Any | None) -> None:
        for called, (kind, fields, kept) in _KINDS.items():
            cells = {one.name: one for one in getattr(mine, called)}
            wanted = {one.name: one for one in getattr(theirs, called, ())}
            for name in cells.keys() - wanted.keys():
                self.gone.add(name)
                for row in self._given(cells[name]):
                    self.db.delete(row)
                self.db.delete(cells[name])
            for name, one in wanted.items():
                values = {field: getattr(one, field) for field in fields}
                if name in cells:
                    if values.get("max_score") != getattr(cells[name], "max_score", None):
                        for row in cells[name].grades:
                            row.needs_manual_grade |= is_by_person(row)
                    for field, value in values.items():
                        setattr(cells[name], field, value)
                    continue
                self.new.add(name)
                made = kind(name=name, notebook=mine, **values)
                self.db.add(made)
                rows = [row(cell=made, notebook=one) for one in mine.submissions for row in kept]
                self.db.add_all(rows)
                for row in rows:
                    self._give_back(row, name)

    def _given(self, cell: Any) -> Iterator[Any]:
        """What submissions have of a cell; what people gave is noted."""
        for row in (*getattr(cell, "grades", ()), *getattr(cell, "comments", ())):
            given = [getattr(row, one, None) for one in _GIVEN]
            if given != [None] * 3:
                self.lost.add((*self._where(row, cell.name), *("" if one is None else str(one) for one in given)))
            yield row

    def _where(self, row: Any, cell: str) -> tuple[str, ...]:
        return row.notebook.assignment.student_id, self.assignment.name, row.notebook.name, cell

    def _give_back(self, row: Any, cell: str) -> None:
        """Put back what a person gave before the cell was removed, and have a person look at it again."""
        for told in [one for one in self.removed if one[:4] == self._where(row, cell)]:
            for name, text in zip(_GIVEN, told[4:], strict=False):
                if text and hasattr(row, name):
                    setattr(row, name, text if name == "manual_comment" else float(text))
                    row.needs_manual_grade = True
                    self.back.add(told)

    def write(self) -> None:
        """What people gave for cells that are gone, to the file: the last of each cell."""
        newer = {row[:4] for row in self.lost}
        rows = {row for row in self.removed if row[:4] not in newer} | self.lost
        self.place.parent.mkdir(exist_ok=True)
        replace_file(self.place, csv_of([(*_WHERE, *_GIVEN), *sorted(rows)]))

    def note(self) -> str:
        """What a teacher should know."""
        if not self.assignment.submissions or not self.new | self.gone:
            return ""
        told = "; ".join(
            f"{what}: {some_of(sorted(names), 5)}" for what, names in (("new", self.new), ("gone", self.gone)) if names
        )
        where = ""
        lost = f"for what is gone: {self.place}, from which they come back with their cells"
        for rows, became in ((self.lost, lost), (self.back, "are back with their cells: look at them")):
            where += f"; {counted(len(rows), 'mark')} or comments given by hand {became}" * bool(rows)
        return (
            f"{self.assignment.name}: the gradebook has its cells as they are now ({told}); due date, extensions, and what "
            f"people gave for all other cells are kept{where}"
        )
