"""Make a lesson of an nbgrader notebook: its asserts stay as they are until somebody turns them into checks.

Each answer becomes an exercise with the tests below it, and an empty ``wrong.py``. What a lesson has no form for is told, and
stays in the notebook, which is not changed.
"""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jupytext
import nbformat

from nbproof.authoring.build import stand_where_lessons_go
from nbproof.authoring.new import filled, written
from nbproof.cells import BEGIN_SCHEME, BEGIN_SOLUTION, END_SCHEME, END_SOLUTION, CellKind
from nbproof.course_file import Course, find_course, read_course
from nbproof.errors import LessonError, UsageError
from nbproof.lesson.exercise_folder import WRONG
from nbproof.lesson.from_notebook import grading_of, kind_of, marked, name_of
from nbproof.lesson.from_text import read_lesson
from nbproof.lesson.heading import sections, unannounced
from nbproof.lesson.lesson import FILES
from nbproof.recover.notebook_bytes import in_version_4
from nbproof.text import some_of

__all__ = ["adopt"]

_MARKS = ("course.toml", "nbgrader_config.py", "source")
_MARK = re.compile(r"^(\s*)[#=]+\s*(BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME)\b.*$", re.MULTILINE)
_SCHEME = re.compile(r"^[^\n]*BEGIN MARK SCHEME.*?END MARK SCHEME[^\n]*\n?", re.MULTILINE | re.DOTALL)
_WORDS = """\
# Wrong answers, as learners hand them in, at least two: a cell each, such as this one without the '# ' in front.
#
# # %% starts_at_zero
# # misconception: counts from 0 | hint: none
# # edits: reference
# -    return list(range(1, n + 1))
# +    return list(range(n))
"""


@dataclass
class _Adopted:
    """What was made of a notebook."""

    root: Path
    slug: str
    exercises: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """What is otherwise than in the notebook, a sentence each."""
    other_ids: list[str] = field(default_factory=list)
    """Ids of cells in the notebook, with those in the lesson."""


def adopt(notebook: Path, name: str = "") -> _Adopted:
    """Write ``lessons/<slug>`` in the course of an nbgrader notebook, and a course.toml if it has none.

    ``name``: the slug; made of the folder's and the notebook's names if none is given. Raises UsageError if it is taken, or the
    notebook cannot be read; LessonError, with nothing written, if no lesson can be made of it.
    """
    given, root = _read(notebook), _root_of(notebook.resolve())
    made = _Adopted(root, name or _slug_of(notebook.resolve(), root))
    form = _Cells(given.cells, made)
    cells = list(itertools.chain.from_iterable(itertools.starmap(form.renamed, enumerate(given.cells))))
    stand_where_lessons_go(root)
    if not made.exercises:
        raise UsageError(
            "no answer with a test cell below it", str(notebook), "name the notebook of source/, not of release/"
        )
    if made.other_ids:
        ids = some_of(made.other_ids, 8)
        made.remarks.append(
            f"cells have other ids in the lesson, so hand out its own notebook, no longer this one: {ids}"
        )
    folder = root / "lessons" / made.slug
    if folder.exists():
        raise UsageError("a lesson of this name is there already", str(folder), "add --name OTHER_NAME")
    lesson = jupytext.writes(nbformat.v4.new_notebook(cells=cells, metadata=_KERNEL), fmt="py:percent")
    written({folder / "lesson.py": lesson, **{folder / one / WRONG: _WORDS for one in made.exercises}}, folder)
    shutil.copytree(notebook.parent, folder / FILES, ignore=shutil.ignore_patterns("*.ipynb", ".*", "__pycache__"))
    try:
        read_lesson(_course_of(root), folder)
    except LessonError as error:
        shutil.rmtree(folder)
        cure = f"mend it in the notebook ({error.next_command}), and adopt again"
        raise LessonError(error.fact, str(notebook), cure) from None
    written({path: text for path, text in _course_files(root).items() if not path.exists()}, root)
    if notebook.resolve() == root / "source" / made.slug / f"{made.slug}.ipynb":
        made.remarks.append(
            "a build writes this notebook anew, from the lesson: commit it first, or add --name OTHER_NAME"
        )
    return made


def _read(notebook: Path) -> Any:
    try:
        return in_version_4(notebook)
    except Exception as error:  # a file that is no notebook can raise any kind
        why = getattr(error, "strerror", None) or error
        raise UsageError(
            f"it cannot be read as a notebook: {why}", str(notebook.absolute()), "name a notebook of source/"
        ) from None


_KERNEL = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}}


def _root_of(notebook: Path) -> Path:
    """The course's folder: the nearest that says so, or what holds source/."""
    for folder in notebook.parents:
        if any((folder / mark).exists() for mark in _MARKS):
            return folder
    return notebook.parent


def _course_of(root: Path) -> Course:
    """The course that lies there, or one without settings."""
    try:
        return find_course(root)
    except UsageError:
        return read_course(root)


def _slug_of(notebook: Path, root: Path) -> str:
    if notebook.parent == root or _snake(notebook.parent.name) in _snake(notebook.stem):
        return _snake(notebook.stem)
    return _snake(f"{notebook.parent.name}_{notebook.stem}")


def _snake(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def _course_files(root: Path) -> dict[Path, str]:
    """What a course has besides lessons."""
    name = _snake(root.name) or "course"
    words = {
        "title": name.replace("_", " ").capitalize(),
        "name": name,
        "leaves": "",
        "imports": "",
        "requirements": "",
    }
    return {root / place: text for place, text in filled("course", words) if place in _MARKS}


class _Cells:
    """The lesson's cells, one by one: each cell of the notebook in the form that lessons have."""

    def __init__(self, given: list[Any], made: _Adopted) -> None:
        self.given, self.made = given, made
        self.title, self.waiting, self.exercise, self.tests = "", "", "", 0
        self.taken: set[str] = {folder.name for folder in (made.root / "lessons").glob("*/*/")}

    def renamed(self, number: int, cell: Any) -> list[Any]:
        """What becomes of one of them, with a remark if its id becomes another one."""
        made = list(self.made_of(number, cell))
        ids = [name_of(one) for one in made if name_of(one)]
        if ids and name_of(cell) not in ids:
            self.made.other_ids.append(f"{name_of(cell)}: {ids[-1]}")
        return made

    def made_of(self, number: int, cell: Any) -> Iterator[Any]:
        """What becomes of one of them."""
        kind = kind_of(cell) if cell.cell_type != "raw" else CellKind.PROSE
        if kind is CellKind.ANSWER:
            yield from self.answer(cell, number)
        elif kind is CellKind.TEST:
            yield from self.test(cell)
        elif kind in (CellKind.WRITTEN, CellKind.MANUAL, CellKind.TASK):
            yield from self.by_hand(cell, kind)
        elif kind is CellKind.SETUP:
            yield _code(cell.source, self.name_for(name_of(cell), "setup"), locked=True)
        elif kind is CellKind.SHOW:
            yield nbformat.v4.new_code_cell(cell.source)
        else:
            self.title = next(reversed(sections(cell.source)), self.title)
            if cell.pop("attachments", None):
                said = f"pictures pasted into the cell below {self.title!r} are left out: put their files beside the notebook"
                self.made.remarks.append(said)
            yield nbformat.v4.new_markdown_cell(unannounced(cell.source))

    def answer(self, cell: Any, number: int) -> Iterator[Any]:
        source = "\n\n\n".join(filter(None, (self.waiting, _with_region(cell.source))))
        following = (kind_of(one) for one in self.given[number + 1 :])
        if next((kind for kind in following if kind in (CellKind.ANSWER, CellKind.TEST)), None) is not CellKind.TEST:
            self.waiting = source
            self.made.remarks.append(f"{name_of(cell)} has no tests of its own: it is a part of the next answer")
            return
        self.waiting, self.tests = "", 0
        self.exercise = self.name_for(name_of(cell), self.title or "exercise")
        self.made.exercises.append(self.exercise)
        title = self.title or self.exercise.replace("_", " ").capitalize()
        yield nbformat.v4.new_markdown_cell(f"### Exercise: {title}\n\nmedium · 10 min")
        yield _code(source, self.exercise, solution=True)

    def test(self, cell: Any) -> Iterator[Any]:
        if not self.exercise:
            self.made.remarks.append(f"{name_of(cell)} tests nothing above it: left out")
            return
        self.tests += 1
        points = grading_of(cell).get("points") or 0
        if points <= 0:
            self.made.remarks.append(
                f"{name_of(cell)} has no points: it gives 1, as each test cell of a lesson gives some"
            )
        part = f"_part_{self.tests}" if self.tests > 1 else ""
        name = f"test_{self.exercise}{part}"
        yield _code(_MARK.sub(r"\1### \2 \3", cell.source), name, locked=True, grade=True, points=points or 1)

    def by_hand(self, cell: Any, kind: CellKind) -> Iterator[Any]:
        points = grading_of(cell).get("points") or 1
        if kind is not CellKind.WRITTEN:
            text = cell.source if kind is CellKind.TASK else f"*{self.title}*"
            kept, schemes = _SCHEME.subn("", text)
            stays = "as text without points" + ", and without its mark scheme" * bool(schemes)
            self.made.remarks.append(f"{name_of(cell)}: lessons have no {kind} cell; it stays {stays}")
            yield nbformat.v4.new_markdown_cell(kept)
            return
        name = self.name_for("explain_" + _snake(name_of(cell)), "explain")
        scheme = f"{BEGIN_SCHEME}\n- {points:g} points: what earns them is for you to write here.\n{END_SCHEME}"
        text = "\n".join(line for line in _MARK.sub("", cell.source).splitlines() if line.strip()) or "An answer."
        yield nbformat.v4.new_markdown_cell(
            f"### In your own words: {self.title or 'Explain'}\n\n5 min\n\nAnswer below."
        )
        source = f"{BEGIN_SOLUTION}\n{text}\n\n{scheme}\n{END_SOLUTION}"
        yield nbformat.v4.new_markdown_cell(source, metadata=marked(name, solution=True, grade=True, points=points))

    def name_for(self, grade_id: str, otherwise: str) -> str:
        """An id of lower-case words that nothing else has."""
        own = "" if re.fullmatch(r"cell-[0-9a-f]+", grade_id) else _snake(grade_id)
        name = (own or _snake(otherwise))[:40].strip("_") or "exercise"
        name = name if name[0].isalpha() else f"exercise_{name}"
        others = (f"{name}_{number}" for number in range(2, 1_000))
        found = next(one for one in (name, *others) if one not in self.taken)
        self.taken.add(found)
        return found


def _with_region(source: str) -> str:
    """An answer with exact marks around its solution: around all of it, if it has none."""
    source = _MARK.sub(r"\1### \2 \3", source)
    return source if BEGIN_SOLUTION in source else f"{BEGIN_SOLUTION}\n{source}\n{END_SOLUTION}"


def _code(source: str, name: str, **marks: Any) -> Any:
    return nbformat.v4.new_code_cell(source, metadata=marked(name, **marks))
