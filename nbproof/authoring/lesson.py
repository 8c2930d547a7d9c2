"""Read a lesson: from ``lessons/<slug>/lesson.py`` and the folders of its exercises to cells and exercises.

A lesson is a jupytext file in the py:percent format. Its cells carry nbgrader's own metadata, as
JupyterLab writes them when the file is edited as a notebook, and that metadata says what a cell is:

==================  =========================================================================
autograded answer   ``solution`` true, ``grade`` false: the TODO cell, ``grade_id`` = exercise id
autograder tests    ``grade`` true, ``solution`` false: ``test_<id>`` or ``test_<id>_<part>``
written answer      markdown, ``grade`` and ``solution`` true: ``explain_<topic>``, marked by a person
read-only           ``locked`` only: definitions that answers and tests rely on; run while grading
no metadata         prose, and code that only shows something; not run while grading
==================  =========================================================================

A test cell is two lines, which stand for the checks in the exercise's folder. A :class:`Cell` has their text, with what learners
do not get between nbgrader's marks.

Of all lessons together it says what one must not have because another has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import jupytext
from IPython.core.inputtransformer2 import TransformerManager

from nbproof.authoring.exercise_folder import (
    FILES,
    Candidate,
    key_called,
    read_accepted,
    read_checks,
    read_mutants,
    refuse_no_python,
    refuse_unexpected,
    refuse_unmatched,
)
from nbproof.cells import (
    BEGIN_HIDDEN,
    BEGIN_SOLUTION,
    END_HIDDEN,
    END_SOLUTION,
    CellKind,
    exercise_of,
    kind_of,
    refuse_bad_markers,
    refuse_markers,
    refuse_unmarkable,
    solution_of,
    stub_of,
)
from nbproof.checks.check_cells import CHECK_LINE
from nbproof.course_file import Course
from nbproof.errors import LessonError, UsageError, refuse_unknown
from nbproof.handed_out import NamedCell
from nbproof.marking.plain import is_plain

__all__ = [
    "Candidate",
    "Cell",
    "Exercise",
    "Lesson",
    "find_lessons",
    "read_lesson",
    "read_lessons",
]


_ID = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Cell:
    """One cell, with the place it comes from."""

    kind: CellKind
    source: str
    place: str
    grade_id: str = ""
    points: float = 0.0
    metadata: tuple[tuple[str, Any], ...] = ()
    call: str = ""
    """The two lines of a test cell, if its checks stand in its exercise's folder; ``source`` has the checks in their place."""


@dataclass(frozen=True)
class Exercise:
    """One TODO cell with its test cells, accepted answers and mutants."""

    course: Course
    id: str
    lesson: str
    answer: Cell
    tests: tuple[Cell, ...]
    accepted: tuple[Candidate, ...]
    mutants: tuple[Candidate, ...]

    @property
    def points(self) -> float:
        """The marks of all its test cells."""
        return sum(cell.points for cell in self.tests)

    @cached_property
    def plain(self) -> frozenset[str]:
        """The grade_ids of test cells that are nbgrader's own kind, such as cells of asserts: they call no check."""
        own = (cell for cell in self.tests if not cell.call and "nbproof" not in cell.source)
        return frozenset(cell.grade_id for cell in own if is_plain(self.course, cell.source))

    @property
    def canary(self) -> str:
        """The text of the mutant that is asked beside each learner's answer; empty if none is."""
        return next((one.bare for one in self.mutants if one.is_canary), "")

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """Reference, stub, accepted answers and mutants, in this order."""
        reference = Candidate("reference", "reference", self.answer.source)
        stub = Candidate("stub", "stub", stub_of(self.answer.source))
        return (reference, stub, *self.accepted, *self.mutants)


@dataclass(frozen=True)
class Lesson:
    """A parsed lesson of a course."""

    course: Course
    slug: str
    path: Path
    cells: tuple[Cell, ...]
    exercises: tuple[Exercise, ...]

    @property
    def files(self) -> Path | None:
        """The folder of what lies beside its notebook; None if there is nothing."""
        folder = self.path.parent / FILES
        return folder.resolve() if folder.is_dir() else None

    @property
    def written(self) -> tuple[Cell, ...]:
        """The cells with answers that a person marks."""
        return tuple(cell for cell in self.cells if cell.kind is CellKind.WRITTEN)

    def exercise(self, name: str) -> Exercise:
        """The exercise with this id."""
        return next(exercise for exercise in self.exercises if exercise.id == name)


def find_lessons(root: Path, names: list[str] | None = None) -> list[Path]:
    """The lesson folders below ``root``/lessons, or those named. Raises UsageError for an unknown name."""
    folder = root / "lessons"
    known = {path.parent.name: path.parent for path in sorted(folder.glob("*/lesson.py"))}
    if not known:
        raise UsageError(
            "no lessons here", f"{folder} holds no <slug>/lesson.py", "cd into the course's folder, or add --course DIR"
        )
    refuse_unknown(names or (), "lesson", known, folder)
    return [known[name] for name in names or known]


def read_lesson(course: Course, folder: Path) -> Lesson:
    """Parse ``folder``/lesson.py with what its exercises' folders hold. Raises LessonError with place and cure."""
    path = folder / "lesson.py"
    try:
        text = path.read_text(encoding="utf-8")
        notebook = jupytext.reads(text, fmt="py:percent")
    except Exception as error:  # jupytext has no exception class of its own
        raise LessonError(f"jupytext cannot read it: {error}", str(path), "open it in an editor and mend it") from None
    starts = [number for number, line in enumerate(text.splitlines(), 1) if re.match(r"# ?%%", line)]
    if len(starts) != len(notebook.cells):
        raise LessonError(
            f"{len(starts)} cell markers but {len(notebook.cells)} cells", f"{path}:1", "put a '# %%' before every cell"
        )
    cells = tuple(_cell(raw, f"{path}:{line}") for raw, line in zip(notebook.cells, starts, strict=True))
    _refuse_twice("grade_id {!r} is used twice", ((cell.grade_id, cell.place) for cell in cells if cell.grade_id))
    ids = {cell.grade_id for cell in cells if cell.kind is CellKind.ANSWER}
    refuse_unexpected(folder, ids)
    checks = read_checks(folder, ids)
    keys = {
        cell.place: key_called(course, cell.source, cell.grade_id, cell.place)
        for cell in cells
        if cell.kind is CellKind.TEST
    }
    refuse_unmatched({key: place for place, key in keys.items() if key}, checks, folder)
    cells = tuple(_tested(cell, checks.get(keys[cell.place])) if cell.kind is CellKind.TEST else cell for cell in cells)
    return Lesson(course, folder.name, path, cells, _exercises(course, cells, folder))


def _tested(cell: Cell, found: NamedCell | None) -> Cell:
    """A test cell with its whole text: the checks that its two lines stand for, if they do."""
    if found is None:
        refuse_no_python(cell.source, cell.place, cell.grade_id)
        refuse_bad_markers(cell.source, cell.place, cell.grade_id, cell.kind)
        return cell
    lines = [CHECK_LINE, found.visible]
    if found.hidden:
        lines += [BEGIN_HIDDEN, found.hidden, END_HIDDEN]
    source = "\n".join(lines)
    refuse_bad_markers(source, found.place, cell.grade_id, cell.kind)
    return replace(cell, source=source, call=cell.source.strip())


def _cell(raw: Any, place: str) -> Cell:
    if raw.cell_type not in ("markdown", "code"):
        raise LessonError(f"a {raw.cell_type} cell", place, "make it a code cell, or a '# %% [markdown]' one")
    metadata = tuple(sorted((key, raw.metadata[key]) for key in {"tags", "jupyter"} & set(raw.metadata)))
    marks, kind = raw.metadata.get("nbgrader"), kind_of(raw)
    if marks is None:
        refuse_markers(raw.source, place)
        if kind is CellKind.SHOW:  # it may hold magics, which are no Python until IPython has been over them
            refuse_no_python(TransformerManager().transform_cell(raw.source), place, "a cell that shows something")
        return Cell(kind, raw.source, place, metadata=metadata)
    grade_id = str(marks.get("grade_id", ""))
    if not _ID.fullmatch(grade_id):
        raise LessonError(
            f"grade_id {grade_id!r} is not lower snake case", place, "use letters a-z, digits and _, a letter first"
        )
    points = marks.get("points") if marks.get("grade") else 0
    if marks.get("grade") and (not isinstance(points, (int, float)) or points <= 0):
        raise LessonError(f"{grade_id} has no points", place, 'add "points": 1 to its nbgrader metadata')
    if kind is CellKind.SHOW:  # an author who gives it a name means it to be locked
        kind = CellKind.SETUP
    cell = Cell(kind, raw.source, place, grade_id, float(points), metadata)
    _refuse_bad_form(cell, raw.cell_type == "markdown")
    return cell


def _refuse_bad_form(cell: Cell, is_text: bool) -> None:
    known = (CellKind.WRITTEN,) if is_text else (CellKind.TEST, CellKind.ANSWER, CellKind.SETUP)
    is_marked = cell.points > 0 and cell.grade_id.startswith("explain_")
    if cell.kind not in known or (is_text and not is_marked):
        raise LessonError(
            f"{cell.grade_id} is a kind of cell that lessons do not use",
            cell.place,
            "see docs/authors.md, 'Cells': text with nbgrader metadata is a written answer, explain_<topic>, and has points",
        )
    if cell.kind is CellKind.TEST:  # its text may stand elsewhere
        return
    refuse_bad_markers(cell.source, cell.place, cell.grade_id, cell.kind)
    if is_text:
        refuse_unmarkable(cell.source, cell.place, cell.grade_id)
        return
    refuse_no_python(cell.source, cell.place, cell.grade_id)
    if cell.kind is CellKind.ANSWER:
        stub = f"{cell.grade_id} as released, with the stub for the solution"
        refuse_no_python(stub_of(cell.source), cell.place, stub)


def _refuse_twice(fact: str, places: Iterable[tuple[str, str]]) -> None:
    """Raise LessonError if two things are called the same; ``places``: of each its name, and where it stands."""
    seen: dict[str, str] = {}
    for name, place in places:
        if name in seen:
            raise LessonError(fact.format(name), f"{place} and {seen[name]}", "rename one of them")
        seen[name] = place


def _exercises(course: Course, cells: tuple[Cell, ...], folder: Path) -> tuple[Exercise, ...]:
    answers = [cell for cell in cells if cell.kind is CellKind.ANSWER]
    ids = {cell.grade_id for cell in answers}
    tests: dict[str, list[Cell]] = {name: [] for name in ids}
    for cell in cells:
        if cell.kind is CellKind.TEST:
            name = exercise_of(cell.grade_id, ids)
            if not name:
                raise LessonError(
                    f"{cell.grade_id} tests no exercise of this lesson",
                    cell.place,
                    f"call it test_<id> with one of: {', '.join(sorted(ids))}",
                )
            tests[name].append(cell)
    exercises = []
    for answer in answers:
        if not tests[answer.grade_id]:
            raise LessonError(
                f"the exercise {answer.grade_id} has no test cell", answer.place, f"add one: test_{answer.grade_id}"
            )
        if BEGIN_SOLUTION not in answer.source:
            raise LessonError(
                f"the exercise {answer.grade_id} has no solution region: it would be released solved",
                answer.place,
                f"put '{BEGIN_SOLUTION}' and '{END_SOLUTION}' around the reference solution",
            )
        accepted = read_accepted(folder / answer.grade_id)
        reference = Candidate("reference", "reference", solution_of(answer.source))
        mutants = read_mutants(folder / answer.grade_id, (reference, *accepted))
        exercises.append(
            Exercise(course, answer.grade_id, folder.name, answer, tuple(tests[answer.grade_id]), accepted, mutants)
        )
    return tuple(exercises)


def read_lessons(course: Course, root: Path) -> tuple[Lesson, ...]:
    """Every lesson below ``root``. Raises LessonError for one that cannot be read, and if two have an exercise of the same id."""
    lessons = tuple(read_lesson(course, folder) for folder in find_lessons(root))
    exercises = chain.from_iterable(lesson.exercises for lesson in lessons)
    _refuse_twice("the exercise id {!r} is used in two lessons", ((one.id, one.answer.place) for one in exercises))
    return lessons
