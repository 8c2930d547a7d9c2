"""From a submission to a trusted notebook: only the texts of TODO cells are taken, everything else is the instructor's.

Tags, points, test cells, kernelspec, outputs and metadata of a submission count for nothing.
"""

from __future__ import annotations

import ast
import copy
import difflib
import json
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions, ComputeChecksums
from traitlets.config import Config

from course.grading.testcells import ProbePart, probe_part
from course.grading.written import Question, questions_in, written_answers

__all__ = [
    "SMALL",
    "Attachments",
    "Blueprint",
    "Cells",
    "Damaged",
    "Rebuilt",
    "TestCell",
    "cells_of",
    "fill_in",
    "read_attachments",
    "read_blueprint",
    "read_file",
    "rebuild",
]


class Damaged(Exception):
    """A file that holds no submission; the text says why."""


@dataclass(frozen=True)
class TestCell:
    """One autograder-tests cell of the instructor's notebook."""

    grade_id: str
    points: float
    source: str
    """With hidden tests: for the judge's eyes only."""
    probe: ProbePart
    exercise: str


@dataclass(frozen=True)
class Blueprint:
    """What the instructor's notebook of one lesson says."""

    lesson: str
    notebook: nbformat.NotebookNode
    """The learner's version: stubs, no hidden tests."""
    order: tuple[tuple[str, str], ...]
    """(kind, grade_id) of the cells that run while grading: setup, answer, test."""
    setup: dict[str, str]
    stubs: dict[str, str]
    tests: dict[str, TestCell]
    written: dict[str, Question] = field(default_factory=dict)
    """What a person marks: grade_id of the markdown cell -> the question."""

    @property
    def max_score(self) -> float:
        """The lesson's marks, those for written answers included."""
        tested = sum(test.points for test in self.tests.values())
        return tested + sum(question.points for question in self.written.values())


@dataclass(frozen=True)
class Rebuilt:
    """A submission's answers: grade_id -> text, and how each that was not where it should be was found.

    The texts of written answers are among them.
    """

    answers: dict[str, str]
    recovered: dict[str, str] = field(default_factory=dict)


def read_blueprint(source: Path, config: Config) -> Blueprint:
    """Read ``source/<lesson>/<lesson>.ipynb``."""
    instructor = nbformat.read(source, as_version=4)
    setup: dict[str, str] = {}
    tests: dict[str, str] = {}
    points: dict[str, float] = {}
    answers: list[str] = []
    order: list[tuple[str, str]] = []
    for cell in instructor.cells:
        grading = cell.metadata.get("nbgrader")
        if not grading or cell.cell_type != "code":
            continue
        name = grading["grade_id"]
        if grading.get("grade") and not grading.get("solution"):
            tests[name], points[name] = cell.source, float(grading["points"])
            order.append(("test", name))
        elif grading.get("solution") and not grading.get("grade"):
            answers.append(name)
            order.append(("answer", name))
        elif grading.get("locked"):
            setup[name] = cell.source
            order.append(("setup", name))
    learner = copy.deepcopy(instructor)
    resources: dict[str, Any] = {}
    # Mark schemes stand in solution regions. By its checksum nbgrader knows an answer that nobody has touched.
    for preprocessor in (ClearSolutions, ClearHiddenTests, ComputeChecksums):
        learner, resources = preprocessor(parent=None, config=config).preprocess(learner, resources)
    stubs = {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in learner.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") in answers
    }
    return Blueprint(
        source.stem, learner, tuple(order), setup, stubs,
        {name: TestCell(name, points[name], text, probe_part(text), _tested(name, answers)) for name, text in tests.items()},
        questions_in(instructor, learner),
    )  # fmt: skip


def _tested(test: str, answers: list[str]) -> str:
    """The exercise that ``test_<id>`` or ``test_<id>_<part>`` tests: the longest id that fits."""
    fits = [name for name in answers if test == f"test_{name}" or test.startswith(f"test_{name}_")]
    return max(fits, key=len) if fits else ""


Cells = Sequence[tuple[str | None, str]]
"""(grade_id or None, source) of code cells."""

SMALL = 2 * 1024 * 1024
"""Bytes of a notebook that is parsed at home. JSON can take fifty times its size in memory."""


def rebuild(blueprint: Blueprint, cells: Cells) -> Rebuilt:
    """The answers among a submission's cells, by grade_id, and by content where an id is lost."""
    rebuilt = _answers(blueprint, cells)
    return Rebuilt({**rebuilt.answers, **written_answers(blueprint.written, cells)}, rebuilt.recovered)


def fill_in(blueprint: Blueprint, rebuilt: Rebuilt) -> nbformat.NotebookNode:
    """The learner's version of the notebook with these answers in its TODO cells."""
    notebook = copy.deepcopy(blueprint.notebook)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in rebuilt.answers:
            cell["source"] = rebuilt.answers[name]
    return notebook


def read_file(path: Path, limit: int) -> bytes:
    """The bytes of a regular file; follows no link, waits for no pipe. Raises Damaged where there is none, or too many."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise Damaged(f"{path.name} cannot be opened: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise Damaged(f"{path.name} is not a regular file")
        if found.st_size > limit:
            raise Damaged(f"{path.name} has {found.st_size / 2**20:.0f} MB, more than {limit / 2**20:.0f} MB")
        return file.read(limit + 1)


def cells_of(data: bytes) -> list[tuple[str | None, str]]:
    """(grade_id or None, source) of every code cell. Nothing else of the file is looked at. Raises Damaged."""
    try:
        notebook = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Damaged(f"it is not a notebook ({type(error).__name__}: {str(error)[:80]})") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise Damaged("it is not a notebook: it holds no list of cells")
    found: list[tuple[str | None, str]] = []
    for cell in cells:
        if not isinstance(cell, dict):
            continue
        source = cell.get("source")
        if isinstance(source, list):
            source = "".join(part for part in source if isinstance(part, str))
        if not isinstance(source, str) or "\0" in source:
            continue
        metadata = cell.get("metadata")
        grading = metadata.get("nbgrader") if isinstance(metadata, dict) else None
        name = grading.get("grade_id") if isinstance(grading, dict) else None
        if cell.get("cell_type") == "code" or isinstance(name, str):
            found.append((name if isinstance(name, str) else None, source.encode(errors="replace").decode()))
    return found


_MOST_STRAYS = 300
_LONGEST_STRAY = 20_000
"""Cells and characters that a search by content looks at: it runs in the grader itself."""


def _answers(blueprint: Blueprint, cells: Cells) -> Rebuilt:
    answers: dict[str, str] = {}
    recovered: dict[str, str] = {}
    own = set(blueprint.stubs) | set(blueprint.tests) | set(blueprint.setup) | set(blueprint.written)
    strays = [source for name, source in cells if name not in own and len(source) <= _LONGEST_STRAY][:_MOST_STRAYS]
    for name, stub in blueprint.stubs.items():
        texts = [source for other, source in cells if other == name]
        touched = [text for text in texts if text.strip() != stub.strip()]
        if texts:
            answers[name] = (touched or texts)[0]
            if len(texts) > 1:
                recovered[name] = "the TODO cell is there more than once; the first that was worked on counts"
            continue
        best = max(strays, key=lambda source: _likeness(source, stub), default="")
        if best and _likeness(best, stub) >= 0.5:
            answers[name] = best
            recovered[name] = "the TODO cell had lost its id and was found by its content"
            strays.remove(best)
        else:
            answers[name] = stub
            recovered[name] = "the TODO cell is missing"
    return Rebuilt(answers, recovered)


def _likeness(source: str, stub: str) -> float:
    """From 0 to 1: whether the text defines what the stub defines, and how much of the stub's text it keeps."""
    wanted, found = _defined(stub), _defined(source)
    names = len(wanted & found) / len(wanted) if wanted else 0.0
    lines = [line.strip() for line in stub.splitlines() if len(line.strip()) > 3]
    given = {line.strip() for line in source.splitlines()}
    kept = sum(line in given for line in lines) / len(lines) if lines else 0.0
    close = difflib.SequenceMatcher(None, source[:4000], stub[:4000]).quick_ratio()
    return names * 0.5 + kept * 0.35 + close * 0.15


def _defined(source: str) -> set[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


_MOST_FILES, _DEEPEST = 1_000, 20
"""Files, and folders one in another, that a submission may bring."""

Attachments = dict[str, bytes]


def read_attachments(folder: Path, notebook: Path, limit: int) -> Attachments:
    """The submission's own data files by relative path: regular files, no links, 1000 files and ``limit`` bytes at most."""
    found: Attachments = {}
    left = limit
    for place, folders, files in os.walk(folder, followlinks=False):
        deep = len(Path(place).relative_to(folder).parts) >= _DEEPEST
        folders[:] = [] if deep else sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if len(found) >= _MOST_FILES:
                return found
            path = Path(place, name)
            if path == notebook or name.startswith(".") or path.suffix == ".ipynb" or name == "timestamp.txt":
                continue
            try:
                data = read_file(path, left)
            except Damaged:
                continue
            left -= len(data)
            found[str(path.relative_to(folder))] = data
    return found
