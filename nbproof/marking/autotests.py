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

from nbproof.course_file import Course
from nbproof.errors import CourseError
from nbproof.files import digest_of, replace_file
from nbproof.limits import GradingLimits
from nbproof.recover.notebook_bytes import Attachments, in_version_4, read_attachments
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.isolation import isolation_or_refuse, why_not_isolated
from nbproof.sandbox.worker_handle import Worker
from nbproof.text import in_one_line

__all__ = ["read_from", "with_tests"]


@dataclass(frozen=True)
class _Client:
    """Stands in for a kernel's client: the preprocessor's code runs in a sealed process."""

    worker: Worker

    def execute_interactive(self, code: str, output_hook: Callable[[dict[str, Any]], None]) -> None:
        request = {"op": "cell", "source": code, "count": 1, "history": True, "room": 100_000}
        answer, _ = self.worker.request(request, {"outputs": list})
        for output in answer["outputs"]:
            if output["output_type"] == "error":
                raise RuntimeError(f"{output['ename']}: {output['evalue']}")
            output_hook({"header": {"msg_type": output["output_type"]}, "content": output})


class _Sealed(InstantiateTests):  # type: ignore[misc]
    """nbgrader's own preprocessor, which starts no kernel here: :attr:`kc` is given."""

    def preprocess(self, nb: nbformat.NotebookNode, resources: dict[str, Any]) -> Any:
        self._load_test_template_file(resources)
        self.global_tests_loaded = True
        self.sanitizer = self.sanitizers[resources["kernel_name"]]
        return super(InstantiateTests, self).preprocess(nb, resources)


def _templates(source: Path, config: Config) -> Path:
    """The file that says how tests are written. It lies beside the notebook, or in the course's folder."""
    name = str(InstantiateTests(config=config).autotest_filename)
    beside = source.parent / name
    return beside if beside.is_file() else Path(config.CourseDirectory.root, name)


def read_from(source: Path, config: Config) -> list[bytes]:
    """The bytes of the files that the instructor's notebook is read from: itself, header, footer and test templates."""
    around = (config.IncludeHeaderFooter.get(part) for part in ("header", "footer"))
    files = (source, _templates(source, config), *map(Path, filter(None, around)))
    return [path.read_bytes() for path in files if path.is_file()]


def with_tests(course: Course, source: Path, config: Config) -> nbformat.NotebookNode:
    """The instructor's notebook, with the tests that nbgrader writes into it. Raises CourseError if it cannot write them."""
    if InstantiateTests(config=config).autotest_delimiter.encode() not in source.read_bytes():
        return in_version_4(source)
    templates = _templates(source, config)
    try:
        beside = read_attachments(source.parent, source, CourseDirectory(config=config).max_dir_size * 1000)
        parts = [*map(os.fsencode, beside), *beside.values(), *read_from(source, config)]
        asked = [repr(config.get(one)).encode() for one in ("InstantiateTests", "IncludeHeaderFooter")]
        kept = Path(config.CourseDirectory.root, ".course", "autotests", f"{digest_of(*parts, *asked)}.ipynb")
        if not kept.is_file():
            kept.parent.mkdir(parents=True, exist_ok=True)
            replace_file(kept, nbformat.writes(_written(course, source, templates.parent, beside, config)))
        return in_version_4(kept)
    except Exception as error:  # the instructor's code, templates, or a limit that ended the process
        raise CourseError(
            f"nbgrader cannot write the tests of its AUTOTEST lines: {type(error).__name__}: {in_one_line(error)}",
            str(source),
            f"mend the line, the reference answer above it, or how tests are written, {templates}; then grade again",
        ) from None


def _written(course: Course, source: Path, folder: Path, beside: Attachments, config: Config) -> nbformat.NotebookNode:
    """The notebook with its tests. Header and footer run with it, and are left out again."""
    notebook, limits, preprocessor = in_version_4(source), GradingLimits(config=config), _Sealed(config=config)
    own = notebook.cells
    around, _ = IncludeHeaderFooter(config=config).preprocess(nbformat.from_dict(notebook), {})
    first = next(place for place in range(len(around.cells)) if around.cells[place:][: len(own)] == own)
    kernel = notebook.metadata.get("kernelspec", {}).get("name")
    known = kernel if kernel in preprocessor.sanitizers else "python3"
    # On a machine without isolation it is the instructor's own code all the same.
    level = isolation_or_refuse(unsafe=bool(why_not_isolated())).level
    with Engine(course, limits, level) as engine, engine.worker(beside) as worker:
        worker.deadline = time.monotonic() + limits.submission_seconds
        preprocessor.kc = _Client(worker)
        preprocessor.preprocess(around, {"metadata": {"path": str(folder)}, "kernel_name": known})
    return nbformat.from_dict({**notebook, "cells": around.cells[first:][: len(own)]})
