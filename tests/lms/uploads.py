"""Courses, notebooks and uploads, made for one test."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

LESSONS = {
    "01_first": {"double_it": "def twice_as_much(x):", "half_it": "def half_as_much(x):"},
    "02_other": {"name_it": "def what_it_is_called(model):", "count_it": "def how_many_layers(model):"},
    "03_third": {"last_of_all": "def the_very_last(model):", "swap_it": "def swapped_in_place(model):"},
}
"""Lesson -> exercise -> first line of its stub."""

_F, _MORE = {"f": "def f(x):"}, {"w": "def why(x):", "v": "def what(x):"}
WEEKS = {"ps1/problem1": _F | _MORE, "ps1/problem2": _F, "ps2/problem1": _F | _MORE, "ps2/problem2": _F}
"""The same, of notebooks that share their exercises' names."""


def notebook(lesson: str, answer: str | None = None, *, only: str | None = None, ids: bool = True) -> bytes:
    """A notebook of a lesson as a learner hands it in; without ``answer`` as it was handed out."""
    cells: list[dict[str, Any]] = [_cell("markdown", f"# What {lesson} is about, in one sentence of its own\n", {})]
    for name, head in (LESSONS | WEEKS)[lesson].items():
        if only is not None and name != only:
            continue
        body = "    pass  # TODO: your code" if answer is None else f"    return {answer!r}"
        cells.append(_cell("code", f"{head}\n    # TODO: do what {name} asks for\n{body}", _mark(name, solution=True)))
        cells.append(
            _cell("code", f"from nbproof.checks.check import check\ncheck('{name}')", _mark(f"test_{name}", grade=True))
        )
    if not ids:
        for cell in cells:
            cell["metadata"] = {}
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1).encode()


def _cell(kind: str, source: str, metadata: dict[str, Any]) -> dict[str, Any]:
    code = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "source": source.splitlines(keepends=True), "metadata": metadata, **code}


def _mark(name: str, *, solution: bool = False, grade: bool = False) -> dict[str, Any]:
    return {"nbgrader": {"grade_id": name, "solution": solution, "grade": grade, "locked": grade, "schema_version": 3}}


def make_course(root: Path) -> Path:
    """A course of three lessons: release/ and nbgrader_config.py."""
    for lesson in LESSONS:
        folder = root / "release" / lesson
        folder.mkdir(parents=True)
        (folder / f"{lesson}.ipynb").write_bytes(notebook(lesson))
    (root / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'small'\n")
    return root


def zipped(files: Mapping[str, bytes], *, time: datetime | None = None) -> bytes:
    """A zip of these files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            moment = (time or datetime(2026, 11, 1, 12, 0, tzinfo=UTC)).timetuple()[:6]
            archive.writestr(zipfile.ZipInfo(name, moment), data, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def folder_of(root: Path, files: Mapping[str, bytes]) -> Path:
    """A folder that holds these files."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def everything(root: Path) -> dict[str, bytes]:
    """Every file beneath a folder, but the lock."""
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*"))
            if path.is_file() and path.name.lstrip(".") != "lock"}  # fmt: skip
