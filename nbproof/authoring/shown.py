"""What a lesson's cells show: its notebook with the reference solutions is run once.

A cell that cannot be run ends its own lesson, and no other.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from nbproof.cells import CellKind, kind_of
from nbproof.command import course_command
from nbproof.errors import LessonError

__all__ = ["Shown", "notebook_at", "shown_by"]


_AT_ONCE = 2
"""Lessons that run side by side."""
_PATIENCE = 300
"""Seconds for one cell, on a machine that does something else as well."""


@dataclass(frozen=True)
class Shown:
    """What one lesson's cells have put out."""

    slug: str
    outputs: Mapping[str, Sequence[Mapping[str, Any]]]
    """Cell id -> outputs, in nbformat's form."""
    seconds: float
    stopped: LessonError | None = None
    """What kept the rest of it from being run; None if nothing did."""


def shown_by(root: Path, slugs: Sequence[str], told: Callable[[Shown], None]) -> dict[str, Shown]:
    """What the cells of these lessons show; two lessons run at a time. ``told`` hears of each, in their order."""
    found: dict[str, Shown] = {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for one in pool.map(_shown, [root / "source" / slug / f"{slug}.ipynb" for slug in slugs]):
            found[one.slug] = one
            told(one)
    return found


def notebook_at(path: Path) -> nbformat.NotebookNode:
    """The lesson's notebook. Raises LessonError, with what to do, if it is missing or cannot be read."""
    try:
        return nbformat.read(path, as_version=4)
    except Exception as error:  # nbformat raises whatever json, jsonschema and its own converters raise
        raise LessonError(
            f"there is no notebook of {path.stem} in {path.parts[-3]}/ that can be read: {type(error).__name__}",
            str(path),
            course_command(f"build {path.stem}"),
        ) from None


def _shown(path: Path) -> Shown:
    began = time.monotonic()
    try:
        notebook = notebook_at(path)
    except LessonError as error:
        return Shown(path.stem, {}, 0, error)
    for cell in notebook.cells:
        if kind_of(cell) is CellKind.TEST:
            cell.source = ""  # what checks say is said to learners, of their own answers
    stopped = _run(notebook, path)
    # What an error says is for whoever mends it, not for readers.
    outputs = {
        cell.id: [one for one in cell.outputs if one.output_type != "error"]
        for cell in notebook.cells
        if cell.get("outputs")
    }
    return Shown(path.stem, outputs, time.monotonic() - began, stopped)


def _run(notebook: nbformat.NotebookNode, path: Path) -> LessonError | None:
    """Fill in what its cells put out; what stopped it, if anything did."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    with tempfile.TemporaryDirectory(prefix="shown-") as folder:
        # Two lessons run beside each other, so each gets one core; and nobody's own progress is touched.
        own = {**os.environ, "OMP_NUM_THREADS": "1", "COURSE_PROGRESS": str(Path(folder, "progress.db"))}
        client = NotebookClient(
            notebook,
            timeout=_PATIENCE,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            extra_arguments=["--IPKernelApp.log_level=50"],  # what concerns anybody is in the outputs
            force_raise_errors=True,  # here the answers are right, so the cells that lean on them run, too
        )
        try:
            asyncio.run(client.async_execute(env=own))  # a loop of its own, which ends with it
        except CellExecutionError as error:
            fact = f"{error.ename}: {' '.join(error.evalue.split())[:200]}"
        except (CellTimeoutError, DeadKernelError) as error:
            fact = type(error).__name__
        else:
            return None
    return LessonError(
        f"a cell of {path.stem} cannot be run here: {fact}",
        str(path),
        f"open it in JupyterLab, run it, and mend lessons/{path.stem}/lesson.py; then: {course_command('build')}",
    )
