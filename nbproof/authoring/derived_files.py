"""Derived files are notebooks; the same lesson always gives the same bytes.

In the notebook a check cell has two lines, and below them, between nbgrader's marks, what is hidden, with what that needs of
the visible part: nbgrader takes it out for the release.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import nbformat

from nbproof.authoring.lesson import Cell
from nbproof.cells import BEGIN_HIDDEN, END_HIDDEN
from nbproof.checks.check_cells import CHECK_LINE, needed_by
from nbproof.course_file import the_course
from nbproof.handed_out import HIDDEN

__all__ = [
    "LIMITS",
    "METADATA",
    "as_text",
    "cell_id",
    "how_to_install",
    "in_the_notebook",
    "write_where_it_differs",
]


LIMITS = "<!-- grading limits -->"
"""In a lesson's prose: stands for the sentence that nbgrader_config.py's limits make."""

METADATA: dict[str, Any] = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""Of every derived notebook."""


def how_to_install() -> str:
    """The first code cell of a notebook: silent if the course is installed, else it says what to do there."""
    course = the_course()
    wheel = f"{course.name.replace('-', '_')}*.whl"
    said = ["The course is not installed here yet."]
    if not course.wheel:
        said[0] += f" Put the file {wheel} beside this notebook"
        said.append("(in Colab: into the folder on the left).")
    said += [
        "Run the next line in a new cell, then this notebook from its top:",
        f"    %pip install -q {course.wheel or wheel}",
    ]
    lines = [
        "try:",
        f"    import {course.package}",
        "except ModuleNotFoundError:",
        *(f'    print("{one}")' for one in said),
    ]
    return "\n".join(lines)


def cell_id(grade_id: str, source: str, seen: set[str]) -> str:
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


def write_where_it_differs(text: str, path: Path) -> bool:
    """Write the text if the file has other bytes; returns whether it had."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return True


def in_the_notebook(cell: Cell) -> str:
    """The text of a check cell in the instructor's notebook."""
    if not cell.call:
        return cell.source
    lines = [CHECK_LINE, cell.call]
    if cell.hidden:
        brought = needed_by(cell.hidden, cell.visible)
        if brought:
            brought.append("")
        lines += ["", BEGIN_HIDDEN, *brought, HIDDEN, cell.hidden.strip("\n"), END_HIDDEN]
    return "\n".join(lines)
