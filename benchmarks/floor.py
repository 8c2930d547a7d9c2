"""The floor: fork a warm interpreter for each submission, exec its bare cells. ``python floor.py COURSE``."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import nbformat
import torch
import torch._dynamo

import course
import course.probing

with contextlib.suppress(ImportError):
    import matplotlib.pyplot
    import torchvision.models.feature_extraction  # noqa: F401

    matplotlib.use("agg")

assert course


def cells_of(root: Path, submitted: Path) -> list[str]:
    """The cells that grading runs: read-only ones and tests of the instructor, TODO cells of the learner."""
    lesson = submitted.stem
    answers = {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in nbformat.read(submitted, as_version=4).cells
        if "nbgrader" in cell.metadata
    }
    cells = []
    for cell in nbformat.read(root / "source" / lesson / f"{lesson}.ipynb", as_version=4).cells:
        grading = cell.metadata.get("nbgrader")
        if grading:
            cells.append(answers.get(grading.grade_id, "") if grading.solution else cell.source)
    return cells


def run(cells: list[str]) -> None:
    """In the fork."""
    torch.set_num_threads(1)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for cell in cells:
        with contextlib.suppress(Exception):
            exec(compile(cell, "cell", "exec"), namespace)


def main() -> None:
    """As many forks at a time as there are cores."""
    root = Path(sys.argv[1])
    jobs = [cells_of(root, path) for path in sorted((root / "submitted").glob("*/*/*.ipynb"))]
    running = 0
    sys.stdout = io.StringIO()
    for cells in jobs:
        if running == (os.cpu_count() or 1):
            os.wait()
            running -= 1
        if os.fork() == 0:
            with contextlib.suppress(BaseException):
                run(cells)
            os._exit(0)
        running += 1
    while running:
        os.wait()
        running -= 1


if __name__ == "__main__":
    main()
