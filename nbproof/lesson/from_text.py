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

A test cell is two lines, which stand for the checks in the exercise's folder. A :class:`TestCell` has their text, with what
learners do not get between nbgrader's marks.

Of all lessons together it says what one must not have because another has it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import jupytext
from IPython.core.inputtransformer2 import TransformerManager

from nbproof.cells import (
    BEGIN_HIDDEN,
    BEGIN_SOLUTION,
    END_HIDDEN,
    END_SOLUTION,
    CellKind,
    exercise_of,
    refuse_bad_markers,
    refuse_markers,
    refuse_unmarkable,
    solution_of,
    stub_of,
)
from nbproof.course_file import Course
from nbproof.errors import LessonError, UsageError, refuse_unknown
from nbproof.grouping import grouped
from nbproof.handed_out import NamedCell
from nbproof.lesson import heading
from nbproof.lesson.check_cell import CHECK_LINE, is_plain
from nbproof.lesson.exercise_folder import (
    key_called,
    read_accepted,
    read_checks,
    read_mutants,
    refuse_no_python,
    refuse_unexpected,
    refuse_unmatched,
)
from nbproof.lesson.from_notebook import cell_of
from nbproof.lesson.lesson import Candidate, Cell, CheckCell, Exercise, Lesson, PlainCell, Question, TestCell

__all__ = ["find_lessons", "read_lesson", "read_lessons"]


_ID = re.compile(r"[a-z][a-z0-9_]*")


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
    tests = [cell for cell in cells if isinstance(cell, TestCell)]
    keys = {cell.place: key_called(course, cell.source, cell.grade_id, cell.place) for cell in tests}
    refuse_unmatched({key: place for place, key in keys.items() if key}, checks, folder)
    tested = {cell.place: _tested(course, cell, checks.get(keys[cell.place]), ids) for cell in tests}
    cells = tuple(tested.get(cell.place) or _asked(above, cell) for above, cell in pairwise([cells[0], *cells]))
    prose = "\n\n".join(cell.source for cell in cells if cell.kind is CellKind.PROSE)
    return Lesson(course, folder.name, path, cells, _exercises(course, cells, folder), heading.lesson_title(prose))


def _tested(course: Course, cell: TestCell, found: NamedCell | None, ids: Collection[str]) -> TestCell:
    """A test cell with its whole text: the checks that its two lines stand for, if they do."""
    exercise = exercise_of(cell.grade_id, ids)
    if not exercise:
        raise LessonError(
            f"{cell.grade_id} tests no exercise of this lesson",
            cell.place,
            f"call it test_<id> with one of: {', '.join(sorted(ids))}",
        )
    if found is None:
        refuse_no_python(cell.source, cell.place, cell.grade_id)
        refuse_bad_markers(cell.source, cell.place, cell.grade_id, cell.kind)
        made = PlainCell if "nbproof" not in cell.source and is_plain(course, cell.source) else CheckCell
        return made(**{**vars(cell), "exercise": exercise})
    shown, hidden = f"{CHECK_LINE}\n{found.visible}", found.hidden
    source = "\n".join([shown, BEGIN_HIDDEN, hidden, END_HIDDEN]) if hidden else shown
    refuse_bad_markers(source, found.place, cell.grade_id, cell.kind)
    whole = {"source": source, "shown": shown, "hidden": hidden, "call": cell.source.strip(), "exercise": exercise}
    return CheckCell(**{**vars(cell), **whole})


def _cell(raw: Any, place: str) -> Cell:
    if raw.cell_type not in ("markdown", "code"):
        raise LessonError(f"a {raw.cell_type} cell", place, "make it a code cell, or a '# %% [markdown]' one")
    metadata = tuple(sorted((key, raw.metadata[key]) for key in {"tags", "jupyter"} & set(raw.metadata)))
    cell = replace(cell_of(raw), place=place, metadata=metadata, id="")
    marks = raw.metadata.get("nbgrader")
    if marks is None:
        refuse_markers(raw.source, place)
        if cell.kind is CellKind.SHOW:  # it may hold magics, which are no Python until IPython has been over them
            refuse_no_python(TransformerManager().transform_cell(raw.source), place, "a cell that shows something")
        return cell
    if not _ID.fullmatch(cell.grade_id):
        raise LessonError(
            f"grade_id {cell.grade_id!r} is not lower snake case",
            place,
            "use letters a-z, digits and _, a letter first",
        )
    if marks.get("grade") and cell.points <= 0:
        raise LessonError(f"{cell.grade_id} has no points", place, 'add "points": 1 to its nbgrader metadata')
    if cell.kind is CellKind.SHOW:  # an author who gives it a name means it to be locked
        cell = replace(cell, kind=CellKind.SETUP)
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


def _exercises(course: Course, cells: Sequence[Cell], folder: Path) -> tuple[Exercise, ...]:
    tests = grouped((cell.exercise, cell) for cell in cells if isinstance(cell, TestCell))
    answers = [at for at, cell in enumerate(cells) if cell.kind is CellKind.ANSWER]
    return tuple(_exercise(course, cells[: at + 1], tests.get(cells[at].grade_id, ()), folder) for at in answers)


def _exercise(course: Course, cells: Sequence[Cell], tests: Sequence[TestCell], folder: Path) -> Exercise:
    """The exercise that the last of these cells answers."""
    *above, answer = cells
    name = answer.grade_id
    if not tests:
        raise LessonError(f"the exercise {name} has no test cell", answer.place, f"add one: test_{name}")
    if BEGIN_SOLUTION not in answer.source:
        raise LessonError(
            f"the exercise {name} has no solution region: it would be released solved",
            answer.place,
            f"put '{BEGIN_SOLUTION}' and '{END_SOLUTION}' around the reference solution",
        )
    accepted = read_accepted(folder / name)
    reference = Candidate("reference", "reference", solution_of(answer.source))
    mutants = read_mutants(folder / name, (reference, *accepted))
    made = (course, name, folder.name, answer, tuple(tests), accepted, mutants)
    near = itertools.takewhile(lambda cell: cell.kind not in _GRADED, reversed(above))
    below: list[str] = []
    for cell in near:
        said = heading.announced(cell.source) if cell.kind is CellKind.PROSE else None
        if said is not None:
            effort, text = said
            return Exercise(*made, *effort, "\n\n".join([text, *below]), cell)
        if cell.kind is CellKind.PROSE:
            below.insert(0, cell.source)
    return Exercise(*made)


_GRADED = (CellKind.ANSWER, CellKind.TEST, CellKind.WRITTEN)


def _asked(above: Cell, cell: Cell) -> Cell:
    """A written answer with the prose right above that asks it; any other cell as it is."""
    if not isinstance(cell, Question):
        return cell
    asked = heading.asked(above.source) if above.kind is CellKind.PROSE else None
    return cell if asked is None else replace(cell, minutes=asked[1], heading=above)


def read_lessons(course: Course, root: Path) -> tuple[Lesson, ...]:
    """Every lesson below ``root``. Raises LessonError for one that cannot be read, and if two have an exercise of the same id."""
    lessons = tuple(read_lesson(course, folder) for folder in find_lessons(root))
    exercises = chain.from_iterable(lesson.exercises for lesson in lessons)
    _refuse_twice("the exercise id {!r} is used in two lessons", ((one.id, one.answer.place) for one in exercises))
    return lessons
