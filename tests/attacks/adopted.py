"""Somebody's nbgrader notebook, adopted as a lesson: the same exercises, held by plain asserts.

Asserts run beside the learner's code and can be forged there, as a run says; so only those families are asked that forge nothing.
At full isolation /dev/shm is the submission's own (docs/engine.md), which two of their attacks take for the machine's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat

from nbproof.authoring.adopt import adopt
from nbproof.authoring.build import build
from nbproof.course_file import read_course
from tests.attacks.arsenal import HONEST, LESSON

__all__ = ["FAMILIES", "FORGES", "adopt_into"]

FAMILIES = ("escape", "resources", "html", "secrets", "folder")
"""What has to fail whatever kind of tests a lesson has."""
FORGES = "outputs_forged"
"""The one of these that forges: of a plain test its outputs are the result, so it costs itself its marks."""

_SETUP = """\
import torch
from torch import nn

course = torch


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.W = nn.Parameter(torch.tensor([1.0, 2.0]))

    def forward(self, x):
        return x * self.W
"""
_HIDDEN = "### BEGIN HIDDEN TESTS\nwritten_by = '{token}'\n{lines}\n### END HIDDEN TESTS"
_TESTS = {
    "weight_grad": (
        "model(torch.tensor([3.0, 4.0])).sum().backward()\nassert answer[-1].tolist() == [3.0, 4.0]",
        "model(torch.tensor([5.0, 7.0])).sum().backward()\nassert answer[-1].tolist() == [5.0, 7.0]",
    ),
    "double_grad": (
        "assert func(torch.tensor([1.0])).item() == 2.0",
        "assert func(torch.tensor([-3.5])).item() == -7.0",
    ),
    "intermediate_grad": (
        "leaf = torch.ones(2, requires_grad=True)\nmiddle = leaf * 2\nseen = watch_gradient(middle)\n"
        "(middle * 3).sum().backward()\nassert seen[0].tolist() == [3.0, 3.0]",
        "late = leaf * 4\nheard = watch_gradient(late)\n(late * 5).sum().backward()\nassert heard[0].tolist() == [5.0, 5.0]",
    ),
}


def adopt_into(root: Path, token: str) -> None:
    """A folder of nbgrader's with one notebook, adopted and built; the token in its hidden lines."""
    notebook = root / "source" / "ps1" / f"{LESSON}.ipynb"
    notebook.parent.mkdir(parents=True)
    nbformat.write(_notebook(token), notebook)
    made = adopt(notebook, LESSON)
    build(read_course(root), root, say=lambda line: None)
    assert made.exercises == [*HONEST], made.remarks


def _notebook(token: str) -> Any:
    cells = [_cell("# Hooks", "title", "markdown", locked=True), _cell(_SETUP, "setup", locked=True)]
    for name, answer in HONEST.items():
        shown, hidden = _TESTS[name]
        tests = f"{shown}\n{_HIDDEN.format(token=token, lines=hidden)}"
        cells += [
            _cell(f"## {name}", kind="markdown"),
            _cell("torch.ones(2).sum()"),
            _cell(f"### BEGIN SOLUTION\n{answer}\n### END SOLUTION", name, solution=True),
            _cell(tests, f"test_{name}", grade=True, locked=True, points=2),
        ]
    return nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    )


def _cell(source: str, grade_id: str = "", kind: str = "code", **marks: Any) -> Any:
    cell = getattr(nbformat.v4, f"new_{kind}_cell")(source)
    if grade_id:
        usual = {"schema_version": 3, "task": False, "locked": False, "solution": False, "grade": False}
        cell["metadata"]["nbgrader"] = {"grade_id": grade_id, **usual, **marks}
    return cell
