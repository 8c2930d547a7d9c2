"""Derive the notebooks: ``lessons/`` -> ``source/`` -> ``release/``, one way only.

The same lesson always gives the same bytes: cell ids follow from content, keys are sorted, nothing
of the machine gets in. In source/ a check cell has two lines, and below them, between nbgrader's marks, what is hidden.
The release is made by nbgrader's own generate_assignment, in a scratch course, so that building never touches a gradebook.
"""

from __future__ import annotations

import copy
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from filecmp import cmpfiles
from itertools import chain
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.apps import NbGraderAPI

from nbproof.authoring.hinting import refuse_bad_hints
from nbproof.authoring.statements import amiss, prose_of
from nbproof.cells import BEGIN_HIDDEN, END_HIDDEN, CellKind
from nbproof.command import course_command, not_built
from nbproof.course_file import Course
from nbproof.errors import CourseError, LessonError, UsageError
from nbproof.gradebook.registry import create_tables
from nbproof.handed_out import HIDDEN
from nbproof.lesson.check_cell import CHECK_LINE
from nbproof.lesson.from_notebook import cells_of, marked, read_notebook
from nbproof.lesson.from_text import find_lessons, read_lesson, read_lessons
from nbproof.lesson.lesson import FILES, Cell, Lesson, TestCell
from nbproof.limits import GradingLimits
from nbproof.places import course_config, places
from nbproof.run.journal import keep_version
from nbproof.text import counted
from nbproof.values.leaf import refuse_unknown_leaves
from nbproof.values.words import words_of

__all__ = [
    "LIMITS",
    "as_text",
    "build",
    "derive",
    "how_to_install",
    "in_the_notebook",
    "notebook_of",
    "stand_where_lessons_go",
    "unbuilt",
]


LIMITS = "<!-- grading limits -->"
"""In a lesson's prose: stands for the sentence that nbgrader_config.py's limits make."""

_METADATA: dict[str, Any] = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""The metadata of every derived notebook."""

_FOLDED: dict[str, Any] = {"jupyter": {"source_hidden": True}, "cellView": "form"}
"""Hides a cell's code in JupyterLab and in Colab: no learner has to read it. If all is installed, the notice says nothing."""


def notebook_of(lesson: Lesson, limits: GradingLimits | None = None, two_lines: bool = False) -> nbformat.NotebookNode:
    """The instructor's notebook: all cells with fixed ids, no outputs, solutions and hidden tests inside.

    ``two_lines``: its check cells name their checks, which the course has. Without it they hold them.
    """
    prose = prose_of(lesson)
    said = (limits or GradingLimits()).for_lesson(lesson.slug).sentence()
    seen: set[str] = set()
    canaries = _find_canaries(lesson)
    cells = []
    is_answered = False
    for cell in lesson.cells:
        is_text = cell.kind in (CellKind.PROSE, CellKind.WRITTEN)
        make = nbformat.v4.new_markdown_cell if is_text else nbformat.v4.new_code_cell
        text = cell.source
        if two_lines and isinstance(cell, TestCell):
            text = in_the_notebook(cell)
        if cell.kind is CellKind.PROSE:
            text = prose[cell.place].replace(LIMITS, said)
        if cell.grade_id in canaries:
            text = text.replace(END_HIDDEN, f"CANARY = {canaries[cell.grade_id]!r}\n{END_HIDDEN}")
        node = make(text)
        node["id"] = _cell_id(cell.grade_id, cell.source, seen)
        node["metadata"] = nbformat.from_dict(
            {**dict(cell.metadata), **_nbgrader(cell, isinstance(cell, TestCell) and not (two_lines and cell.call))}
        )
        is_answered = is_answered or cell.kind is CellKind.ANSWER
        if is_answered and cell.kind is CellKind.SHOW:
            # It may show a learner's own tool. A wrong one breaks it, and the check has told of that by then: Run All goes on.
            node["metadata"]["tags"] = [*node["metadata"].get("tags", []), "raises-exception"]
        cells.append(node)
    if two_lines and lesson.course.package:
        told = how_to_install(lesson.course)
        notice = nbformat.v4.new_code_cell(told, id=_cell_id("", told, seen), metadata=_FOLDED)
        cells.insert(next(at for at, cell in enumerate(cells) if cell.cell_type == "code"), notice)
    return nbformat.v4.new_notebook(cells=cells, metadata=copy.deepcopy(_METADATA))


def _find_canaries(lesson: Lesson) -> dict[str, str]:
    """The canaries of a lesson's test cells, by grade_id; an exercise may have none."""
    canaries: dict[str, str] = {}
    for exercise in lesson.exercises:
        if exercise.canary:
            canaries |= {test.grade_id: exercise.canary for test in exercise.tests}
    return canaries


def _nbgrader(cell: Cell, folded: bool) -> dict[str, Any]:
    if not cell.grade_id:
        return {}
    is_answer = cell.kind in (CellKind.ANSWER, CellKind.WRITTEN)
    marks: dict[str, Any] = {"locked": not is_answer, "solution": is_answer}
    if cell.kind in (CellKind.TEST, CellKind.WRITTEN):
        marks["grade"] = True
        marks["points"] = int(cell.points) if cell.points.is_integer() else cell.points
    # A learner reads the lesson and the panel; a click opens the test.
    hidden = {"jupyter": {"source_hidden": True}} if folded else {}
    return {**marked(cell.grade_id, **marks), **hidden}


def build(course: Course, root: Path, names: list[str] | None = None, say: Callable[[str], None] = print) -> list[Path]:
    """Derive source and release of the named lessons, or of all. Returns the files that changed.

    Raises CourseError, before anything is written, for a lesson that cannot be read, or has an exercise with no text above it,
    and for a leaf type or a language of the course that is not installed.
    """
    refuse_unknown_leaves(course)
    words_of(course)
    folders = [folder.name for folder in find_lessons(root, names)]
    lessons = [lesson for lesson in read_lessons(course, root) if lesson.slug in folders]
    for violation in chain.from_iterable(map(amiss, lessons)):
        raise violation
    refuse_bad_hints(course, root / "lessons")
    return derive(root, lessons, root, say)


def derive(
    root: Path,
    lessons: list[Lesson],
    into: Path,
    say: Callable[[str], None],
) -> list[Path]:
    """Write source/ and release/ of these lessons below ``into``, by the configuration of ``root``; returns what changed.

    Raises LessonError if nbgrader makes no release of a lesson.
    """
    stand_where_lessons_go(root)
    changed = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, lesson in enumerate(lessons, 1):
            say(f"[{number}/{len(lessons)}] {lesson.slug}: {counted(len(lesson.exercises), 'exercise')}")
            source = into / "source" / lesson.slug / f"{lesson.slug}.ipynb"
            if _write_where_it_differs(_source_text(root, lesson), source):
                changed.append(source)
            release = into / "release" / lesson.slug / f"{lesson.slug}.ipynb"
            text = as_text(_release(root, lesson, source, Path(scratch).resolve()))
            if into == root:
                keep_version(root, lesson.slug)  # the one before
            if _write_where_it_differs(text, release):
                changed.append(release)
            if lesson.files:
                shutil.copytree(lesson.files, source.parent, dirs_exist_ok=True)
                shutil.copytree(lesson.files, release.parent, dirs_exist_ok=True)
    return changed


def _source_text(root: Path, lesson: Lesson) -> str:
    """The file in source/ that a build makes of a lesson."""
    limits = GradingLimits.read(course_config(root), places(root).written())
    return as_text(notebook_of(lesson, limits, two_lines=lesson.course.lies_in(root)))


def unbuilt(course: Course, root: Path, names: Collection[str] = ()) -> Iterator[CourseError]:
    """Which of these lessons (default: all in lessons/) a build would change in source/; and why one of them cannot be read."""
    for name in filter(places(root).is_edited, names or places(root).written()):
        folder, source = root / "lessons" / name, places(root).notebook("source", ".", name)
        if not source.exists():
            yield not_built(root, name)
            continue
        try:
            is_same = _source_text(root, read_lesson(course, folder)) == source.read_text(encoding="utf-8")
        except LessonError as error:
            yield error
            continue
        data = [path.relative_to(folder / FILES) for path in folder.glob(f"{FILES}/**/*") if path.is_file()]
        same = cmpfiles(folder / FILES, source.parent, list(map(str, data)), shallow=False)[0]
        if not is_same or len(same) < len(data):
            yield LessonError(
                f"source/{name} is older than lessons/{name}", str(source), course_command(f"build {name}")
            )


def stand_where_lessons_go(root: Path) -> None:
    """Raise UsageError if nbgrader, and so grading, looks for lessons in other folders than a build writes them to."""
    for step in ("source", "release"):
        theirs = places(root).base(step).name
        if theirs != step:
            raise UsageError(
                f"lessons are built into {step}/, and this course keeps them in {theirs}/",
                f"c.CourseDirectory.{step}_directory in {root / 'nbgrader_config.py'}",
                f"take that line out, and rename {theirs}/ to {step}/",
            )


def _release(root: Path, lesson: Lesson, source: Path, scratch: Path) -> nbformat.NotebookNode:
    """What nbgrader's generate_assignment makes of ``source``, in a scratch course with a scratch gradebook."""
    shutil.copytree(source.parent, scratch / "source" / lesson.slug)
    config = course_config(root)
    config.CourseDirectory.root = str(scratch)
    config.CourseDirectory.db_url = f"sqlite:///{scratch}/gradebook.db"
    create_tables(config.CourseDirectory.db_url)
    outcome = NbGraderAPI(config=config).generate_assignment(lesson.slug, force=True, create=True)
    if not outcome["success"]:
        raise LessonError(
            f"nbgrader cannot make the release: {outcome.get('error') or outcome.get('log')}",
            str(lesson.path),
            f"mend what it names, then: {course_command(f'build {lesson.slug}')}",
        )
    made = scratch / "release" / lesson.slug / f"{lesson.slug}.ipynb"
    released = nbformat.from_dict(read_notebook(made.read_bytes()))
    own, seen = {cell.id for cell in cells_of(source.read_bytes())}, set[str]()
    for cell in released.cells:
        if cell.get("id") not in own:  # of a header or a footer: their cells may have none
            cell["id"] = _cell_id("", cell.source, seen)
        if cell.cell_type == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return released


def how_to_install(course: Course) -> str:
    """The first code cell of a notebook: silent if the course is installed, else it says what to do there."""
    wheel = f"{course.name.replace('-', '_')}*.whl"
    said = ["The course is not installed here yet."]
    if not course.wheel:
        said[0] += f" Put the file {wheel} beside this notebook"
        said.append("(in Colab: into the folder on the left).")
    said += [
        "Run the next line in a new cell. Then run this notebook from its top:",
        f"    %pip install -q {course.wheel or wheel}",
    ]
    lines = [
        "try:",
        f"    import {course.package}",
        "except ModuleNotFoundError:",
        *(f'    print("{one}")' for one in said),
    ]
    return "\n".join(lines)


def _cell_id(grade_id: str, source: str, seen: set[str]) -> str:
    """An id that stays the same when cells around it come and go: the grade_id, or a hash of the text."""
    base = grade_id.replace("_", "-") or hashlib.sha256(source.encode()).hexdigest()[:12]
    name, count = base[:60], 1
    while name in seen:
        count += 1
        name = f"{base[:57]}-{count}"
    seen.add(name)
    return name


def as_text(notebook: nbformat.NotebookNode) -> str:
    """The notebook as the text of its file."""
    text: str = nbformat.writes(notebook, sort_keys=True, indent=1, ensure_ascii=False)
    return text if text.endswith("\n") else text + "\n"


def _write_where_it_differs(text: str, path: Path) -> bool:
    """Write the text if the file has other bytes; returns whether it had."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return True


def in_the_notebook(cell: TestCell) -> str:
    """The text of a check cell in the instructor's notebook."""
    if not cell.call:
        return cell.source
    lines = [CHECK_LINE, cell.call]
    if cell.hidden:
        names = f"globals().update({cell.call.splitlines()[-1].replace('check(', 'names_of(', 1)})"
        lines += ["", BEGIN_HIDDEN, "from nbproof.checks.check import names_of", "", names, "", HIDDEN]
        lines += [cell.hidden.strip("\n"), END_HIDDEN]
    return "\n".join(lines)
