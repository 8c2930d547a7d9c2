"""What a lesson's cells show: its notebook with the reference solutions is run once, and again only if something changed.

A cell that cannot be run ends its own lesson, and no other.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from threading import Event
from typing import Any

import nbformat

from nbproof.cells import CellKind, kind_of
from nbproof.command import course_command
from nbproof.course_file import the_course
from nbproof.errors import LessonError
from nbproof.files import digest_of, replace_file

__all__ = ["Shown", "notebook_at", "shown_by", "surroundings_now"]


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
    seconds: float | None
    """How long it ran; None if nothing had changed since it ran last."""
    stopped: LessonError | None = None
    """What kept the rest of it from being run; None if nothing did."""


@dataclass(frozen=True)
class Running:
    """The notebooks that are being run, each in a thread of its own."""

    tasks: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = field(default_factory=list)
    over: Event = field(default_factory=Event)

    async def until_done(self, work: Awaitable[Any]) -> None:
        """Wait for the work, which :meth:`end` may cut off."""
        task = asyncio.current_task()
        assert task is not None
        self.tasks.append((asyncio.get_running_loop(), task))
        if self.over.is_set():
            task.cancel()
        await work

    def end(self) -> None:
        """Cut off whatever runs; its kernel ends with it."""
        self.over.set()
        for loop, task in self.tasks:
            with contextlib.suppress(RuntimeError):  # it is done, and its loop is closed
                loop.call_soon_threadsafe(task.cancel)


def shown_by(root: Path, slugs: Sequence[str], kept: Path, told: Callable[[Shown], None]) -> dict[str, Shown]:
    """What the cells of these lessons show; two lessons run at a time. ``kept``: the folder for what may be shown again.

    ``told`` hears of each lesson as soon as it is there. A lesson that stops takes no other with it.
    """
    surroundings = surroundings_now()
    found: dict[str, Shown] = {}
    running = Running()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        waiting = [pool.submit(_shown, root, slug, kept / f"{slug}.json", surroundings, running) for slug in slugs]
        try:
            for one in as_completed(waiting):
                found[one.result().slug] = one.result()
                told(one.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            running.end()  # Ctrl-C reaches no kernel by itself
            raise
    return found


def notebook_at(path: Path) -> nbformat.NotebookNode:
    """The lesson's notebook. Raises LessonError, with what to do, if it is missing or cannot be read."""
    cure = course_command(f"build {path.stem}")
    try:
        return nbformat.read(path, as_version=4)
    except FileNotFoundError:
        raise LessonError(f"there is no notebook of {path.stem} in {path.parts[-3]}/", str(path), cure) from None
    except Exception as error:  # nbformat raises whatever json, jsonschema and its own converters raise
        raise LessonError(
            f"the notebook of {path.stem} in {path.parts[-3]}/ cannot be read: {type(error).__name__}", str(path), cure
        ) from None


def surroundings_now() -> str:
    """Changes with the interpreter, with what is installed for it, and with the modules that lessons import of the course."""
    installed = sorted({f"{one.name}=={one.version}" for one in metadata.distributions()})
    parts = [sys.version, *installed]
    for folder in the_course().own_code:
        for path in sorted(Path(folder).rglob("*.py")):
            parts += [path.as_posix(), path.read_text(encoding="utf-8")]
    return digest_of(*(part.encode() for part in parts))


def _shown(root: Path, slug: str, kept: Path, surroundings: str, running: Running) -> Shown:
    path = root / "source" / slug / f"{slug}.ipynb"
    try:
        notebook = notebook_at(path)
    except LessonError as error:
        return Shown(slug, {}, None, error)
    for cell in notebook.cells:
        if kind_of(cell) is CellKind.TEST:
            cell.source = ""  # what checks say is said to learners, of their own answers
    digest = digest_of(surroundings.encode(), *(cell.source.encode() for cell in notebook.cells))
    try:
        known = json.loads(kept.read_text(encoding="utf-8"))
        if known["digest"] == digest:
            return Shown(slug, known["outputs"], None)
    except (OSError, ValueError, KeyError):
        pass
    began = time.monotonic()
    stopped = _run(notebook, path, running)
    outputs = {cell.id: cell.outputs for cell in notebook.cells if cell.get("outputs")}
    if stopped is None:
        with contextlib.suppress(OSError):  # then it runs again the next time
            kept.parent.mkdir(parents=True, exist_ok=True)
            replace_file(kept, json.dumps({"digest": digest, "outputs": outputs}))
    return Shown(slug, outputs, time.monotonic() - began, stopped)


def _run(notebook: nbformat.NotebookNode, path: Path, running: Running) -> LessonError | None:
    """Fill in what its cells put out; what stopped it, if anything did."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    last: nbformat.NotebookNode | None = None

    def begins(cell: nbformat.NotebookNode, cell_index: int) -> None:
        nonlocal last
        last = cell

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
            on_cell_start=begins,
        )
        try:
            asyncio.run(running.until_done(client.async_execute(env=own)))  # a loop of its own, which ends with it
        except CellExecutionError as error:
            fact = f"{error.ename}: {' '.join(error.evalue.split())[:200]}"
        except CellTimeoutError:
            fact = f"it takes longer than {_PATIENCE} seconds"
        except DeadKernelError:
            fact = "its kernel died"
        else:
            return None
    place = str(path)
    if last is not None:
        last.outputs = []  # what it says is for whoever mends it, not for readers
        place = f"{path}, cell {last.id}: {last.source.strip().partition(chr(10))[0][:80]}"
    return LessonError(
        f"a cell of {path.stem} cannot be run here: {fact}",
        place,
        f"open it in JupyterLab, run it, and mend lessons/{path.stem}/lesson.py; then: {course_command('build')}",
    )
