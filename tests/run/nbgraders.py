"""Courses as anybody makes them with nbgrader: folders, notebooks, a configuration, and nothing of this project's."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Mapping
from pathlib import Path

import nbformat

Cells = Mapping[str, tuple[str, str]]
"""grade_id -> (kind, text); kinds: answer, test, manual, written, setup, show."""

SQUARES: Cells = {
    "squares": (
        "answer",
        "def squares(n):\n    ### BEGIN SOLUTION\n    return [i * i for i in range(n)]\n    ### END SOLUTION",
    ),
    "test_squares": (
        "test",
        "assert squares(3) == [0, 1, 4]\n### BEGIN HIDDEN TESTS\nassert squares(1) == [0]\n### END HIDDEN TESTS",
    ),
}
CUBES: Cells = {
    "cubes": (
        "answer",
        "def cubes(n):\n    ### BEGIN SOLUTION\n    return [i**3 for i in range(n)]\n    ### END SOLUTION",
    ),
    "test_squares": ("test", "assert cubes(3) == [0, 1, 8]"),
    "why": ("manual", "### BEGIN SOLUTION\n# Because three times.\n### END SOLUTION"),
}
"""One of its ids is also in :data:`SQUARES`: grade_ids are unique in a notebook only."""


def notebook(cells: Cells) -> nbformat.NotebookNode:
    """An instructor's notebook; each cell has two points."""
    made = nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "", "language": "python"}}
    )
    for name, (kind, text) in cells.items():
        solution, grade = kind in ("answer", "manual", "written"), kind in ("test", "manual", "written")
        locked = kind in ("test", "setup")
        grading = {
            "grade_id": name,
            "grade": grade,
            "solution": solution,
            "locked": locked,
            "schema_version": 3,
            "task": False,
        }
        grading |= {"points": 2} if grade else {}
        metadata = {"nbgrader": grading} if kind != "show" else {}
        new = nbformat.v4.new_markdown_cell if kind == "written" else nbformat.v4.new_code_cell
        made.cells.append(new(text, metadata=metadata, id=name.replace("_", "-") or "show"))
    return made


def written(path: Path, cells: Cells) -> Path:
    """An instructor's notebook in its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook(cells), path)
    return path


def hand_in(source: Path, target: Path, answers: Mapping[str, str] | None = None) -> Path:
    """The instructor's notebook with these texts in its cells, and what lies beside it, as a learner hands it in."""
    shutil.copytree(source.parent, target.parent, ignore=shutil.ignore_patterns("*.ipynb"), dirs_exist_ok=True)
    made = copy.deepcopy(nbformat.read(source, as_version=4))
    for cell in made.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        cell["source"] = (answers or {}).get(name, cell.source)
    nbformat.write(made, target)
    return target
