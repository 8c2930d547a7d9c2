"""The tests that nbgrader writes for lines such as ``### AUTOTEST f(3)``: by its own preprocessor, in a sealed process.

nbgrader runs the instructor's notebook to learn the wanted values. What it has written is kept in ``.course/autotests/``, by a
digest of all that it was written from, so that a class is graded by the tests that it was handed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import IncludeHeaderFooter, InstantiateTests
from traitlets.config import Config

from nbproof.errors import CourseError
from nbproof.files import digest_of, replace_file
from nbproof.limits import GradingLimits
from nbproof.recover.notebook_bytes import Attachments, read_attachments
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.isolation import isolation_or_refuse, why_not_isolated
from nbproof.sandbox.worker_handle import Worker
from nbproof.text import in_one_line

__all__ = ["templates_beside", "with_tests"]

_ROOM = 100_000
"""Bytes of what one line of the instructor's may show."""


@dataclass(frozen=True)
class _Client:
    """What the preprocessor asks of a kernel's client, from a sealed process."""

    worker: Worker

    def execute_interactive(self, code: str, output_hook: Callable[[dict[str, Any]], None]) -> None:
        request = {"op": "cell", "source": code, "count": 1, "history": True, "room": _ROOM}
        answer, _ = self.worker.request(request, {"outputs": list})
        for output in answer["outputs"]:
            if output["output_type"] == "error":
                raise RuntimeError(f"{output['ename']}: {output['evalue']}")
            output_hook({"header": {"msg_type": output["output_type"]}, "content": output})


class _Sealed(InstantiateTests):  # type: ignore[misc]
    """nbgrader's own, but that it starts no kernel: :attr:`kc` is given."""

    def preprocess(self, nb: nbformat.NotebookNode, resources: dict[str, Any]) -> Any:
        self._load_test_template_file(resources)
        self.global_tests_loaded = True
        self.sanitizer = self.sanitizers[resources["kernel_name"]]
        return super(InstantiateTests, self).preprocess(nb, resources)


def _holds_templates(source: Path, config: Config) -> bool:
    return InstantiateTests(config=config).autotest_delimiter.encode() in source.read_bytes()


def templates_beside(source: Path, config: Config) -> Path:
    """The file that says how tests are written: beside the notebook, or else in the course's folder."""
    name = InstantiateTests(config=config).autotest_filename
    return next(filter(Path.is_file, [source.parent / name]), Path(CourseDirectory(config=config).root, name))


def with_tests(source: Path, config: Config) -> nbformat.NotebookNode:
    """The instructor's notebook, with the tests that nbgrader writes into it. Raises CourseError if it cannot write them."""
    notebook = nbformat.read(source, as_version=4)
    if not _holds_templates(source, config):
        return notebook
    templates = templates_beside(source, config)
    try:
        beside = read_attachments(source.parent, source, CourseDirectory(config=config).max_dir_size * 1000)
        parts = [part for name, data in beside.items() for part in (os.fsencode(name), data)]
        asked = repr([config.get(name) for name in ("InstantiateTests", "IncludeHeaderFooter")])
        digest = digest_of(source.read_bytes(), templates.read_bytes(), asked.encode(), *parts)
        kept = Path(CourseDirectory(config=config).root, ".course", "autotests", f"{digest}.ipynb")
        if not kept.is_file():
            kept.parent.mkdir(parents=True, exist_ok=True)
            replace_file(kept, nbformat.writes(_written(notebook, templates.parent, beside, config)).encode())
        return nbformat.read(kept, as_version=4)
    except CourseError:
        raise
    except Exception as error:  # the instructor's code, templates, or a limit that ended the process
        raise CourseError(
            f"nbgrader cannot write the tests of its AUTOTEST lines: {type(error).__name__}: {in_one_line(error)}",
            str(source),
            f"mend the line, or the reference answer above it; how tests are written says {templates}; then grade again",
        ) from None


def _written(
    notebook: nbformat.NotebookNode, folder: Path, beside: Attachments, config: Config
) -> nbformat.NotebookNode:
    own, limits = notebook.cells, GradingLimits(config=config)
    around, _ = IncludeHeaderFooter(config=config).preprocess(nbformat.from_dict(notebook), {})
    first = next(place for place in range(len(around.cells)) if around.cells[place:][: len(own)] == own)
    kernel = notebook.metadata.get("kernelspec", {}).get("name")
    preprocessor = _Sealed(config=config)
    resources = {
        "metadata": {"path": str(folder)},
        "kernel_name": kernel if kernel in preprocessor.sanitizers else "python3",
    }
    # On a machine without isolation it is the instructor's own code all the same.
    level = isolation_or_refuse(unsafe=bool(why_not_isolated())).level
    with Engine(limits, level) as engine, engine.worker(beside) as worker:
        worker.deadline = time.monotonic() + limits.submission_seconds
        preprocessor.kc = _Client(worker)
        preprocessor.preprocess(around, resources)
    return nbformat.from_dict({**notebook, "cells": around.cells[first:][: len(own)]})
