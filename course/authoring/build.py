"""Derive the notebooks: ``lesson.py`` -> ``source/`` -> ``release/``, one way only.

The same lesson always gives the same bytes: cell ids follow from content, keys are sorted, nothing
of the machine gets in. The release is made by nbgrader's own generate_assignment, in a scratch
course, so that building never touches a gradebook.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.apps import NbGraderAPI

from course.authoring.lesson import Cell, Lesson, find_lessons, read_lesson
from course.authoring.outlining import write_outline
from course.command import course_command
from course.errors import LessonError
from course.grading.schema import create_tables
from course.limits import GradingLimits
from course.nbgrader_setup import course_config

__all__ = ["LIMITS", "build", "notebook_of"]

_KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


LIMITS = "<!-- grading limits -->"
"""In a lesson's prose: stands for the sentence that nbgrader_config.py's limits make."""


def notebook_of(lesson: Lesson, limits: GradingLimits | None = None) -> nbformat.NotebookNode:
    """The instructor's notebook: all cells with fixed ids, no outputs, solutions and hidden tests inside."""
    said = (limits or GradingLimits()).sentence()
    seen: set[str] = set()
    cells = []
    for cell in lesson.cells:
        make = nbformat.v4.new_markdown_cell if cell.kind in ("prose", "written") else nbformat.v4.new_code_cell
        node = make(cell.source.replace(LIMITS, said) if cell.kind == "prose" else cell.source)
        node["id"] = _cell_id(cell, seen)
        node["metadata"] = nbformat.from_dict({**dict(cell.metadata), **_nbgrader(cell)})
        cells.append(node)
    metadata = {"kernelspec": dict(_KERNEL), "language_info": {"name": "python"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def _nbgrader(cell: Cell) -> dict[str, Any]:
    if not cell.grade_id:
        return {}
    grading: dict[str, Any] = {
        "grade": cell.kind in ("test", "written"),
        "grade_id": cell.grade_id,
        "locked": cell.kind not in ("answer", "written"),
        "schema_version": 3,
        "solution": cell.kind in ("answer", "written"),
        "task": False,
    }
    if grading["grade"]:
        grading["points"] = int(cell.points) if cell.points.is_integer() else cell.points
    if cell.kind == "test":
        # Folded in JupyterLab: a learner reads the lesson and the panel; a click opens the test.
        return {"nbgrader": grading, "jupyter": {"source_hidden": True}}
    return {"nbgrader": grading}


def _cell_id(cell: Cell, seen: set[str]) -> str:
    """An id that stays the same when cells around it come and go: the grade_id, or a hash of the text."""
    base = cell.grade_id.replace("_", "-") or hashlib.sha256(cell.source.encode()).hexdigest()[:12]
    name, count = base[:60], 1
    while name in seen:
        count += 1
        name = f"{base[:57]}-{count}"
    seen.add(name)
    return name


def _write(notebook: nbformat.NotebookNode, path: Path) -> bool:
    """Write where the bytes differ; True then."""
    text = nbformat.writes(notebook, sort_keys=True, indent=1, ensure_ascii=False)
    text = text if text.endswith("\n") else text + "\n"
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return True


def build(root: Path, names: list[str] | None = None, say: Callable[[str], None] = print) -> list[Path]:
    """Derive source and release of the named lessons, or of all. Returns the files that changed."""
    folders = find_lessons(root, names)
    lessons = [read_lesson(folder) for folder in folders]
    limits = GradingLimits(config=course_config(root))
    changed = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, lesson in enumerate(lessons, 1):
            say(f"[{number}/{len(lessons)}] {lesson.slug}: {len(lesson.exercises)} exercises")
            source = root / "source" / lesson.slug / f"{lesson.slug}.ipynb"
            if _write(notebook_of(lesson, limits), source):
                changed.append(source)
            release = root / "release" / lesson.slug / f"{lesson.slug}.ipynb"
            if _write(_release(root, lesson, source, Path(scratch).resolve()), release):
                changed.append(release)
    if (root / "course" / "__init__.py").exists():
        outlined = write_outline(root, lessons, [folder.name for folder in find_lessons(root)])
        changed += [outlined] if outlined else []
    return changed


def _release(root: Path, lesson: Lesson, source: Path, scratch: Path) -> nbformat.NotebookNode:
    """What nbgrader's generate_assignment makes of ``source``, in a scratch course with a scratch gradebook."""
    shutil.copytree(source.parent, scratch / "source" / lesson.slug)
    config = course_config(root)
    config.CourseDirectory.root = str(scratch)
    gradebook = scratch / "gradebook.db"
    config.CourseDirectory.db_url = f"sqlite:///{gradebook}"
    if not gradebook.exists():
        create_tables(config.CourseDirectory.db_url)
    outcome = NbGraderAPI(config=config).generate_assignment(lesson.slug, force=True, create=True)
    if not outcome["success"]:
        raise LessonError(
            f"nbgrader cannot make the release: {outcome.get('error') or outcome.get('log')}",
            str(lesson.path),
            course_command(f"check {lesson.slug}"),
        )
    released = nbformat.read(scratch / "release" / lesson.slug / f"{lesson.slug}.ipynb", as_version=4)
    for cell in released.cells:
        if cell.cell_type == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return released
