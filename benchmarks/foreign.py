"""Other people's nbgrader courses: does every cell get the marks that stock nbgrader gives it, and how long do both take?

    python -m benchmarks.foreign FOLDER                  every course in FOLDER
    python -m benchmarks.foreign FOLDER num-meth ids     these courses

A course is a folder in which nbgrader works; which ones were measured, and from where they are, says
benchmarks/foreign_courses.toml. Nothing of them is in this repository, and FOLDER stays as it is: all is done in copies.

Five variants of each assignment are handed in: solved; blank, as released; half, every second answer solved; error, solved
with an error at the end of the middle answer; loop, solved with an endless loop there. ``nbgrader autograde`` and
``nbproof grade`` each mark all of them, with a gradebook of their own, and every cell of both is compared: its marks, and
whether it waits for a person.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbgrader.coursedir import CourseDirectory
from rich.console import Console
from rich.table import Table

from nbproof.cells import CellKind
from nbproof.lesson.from_notebook import kind_of, name_of
from nbproof.places import course_config

VARIANTS = ("solved", "blank", "half", "error", "loop")
"""They are the learners' names too."""
_ENDINGS = {"error": "\n1 / 0", "loop": "\nwhile True:\n    pass"}
_ANSWERS = (CellKind.ANSWER, CellKind.MANUAL, CellKind.WRITTEN)
_LONGEST = 1_800
"""Seconds of one command."""
_READ = """
import json, sys
from nbgrader.api import Gradebook
book = Gradebook(sys.argv[1])
print(json.dumps({
    f"{submission.student.id}/{assignment.name}/{notebook.name}/{grade.name}":
        "waits" if grade.needs_manual_grade else f"{grade.score:g}"
    for assignment in book.assignments
    for submission in assignment.submissions
    for notebook in submission.notebooks
    for grade in notebook.grades
}))
"""


@dataclass
class Measured:
    """One course."""

    name: str
    notebooks: int = 0
    stock: dict[str, str] = field(default_factory=dict)
    """variant/assignment/notebook/cell -> its marks, or that it waits for a person."""
    ours: dict[str, str] = field(default_factory=dict)
    stock_seconds: float = 0.0
    our_seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    """What refused or failed, and what it said."""

    @property
    def different(self) -> dict[str, tuple[str, str]]:
        """Cells with other marks: stock's, ours."""
        both = {key: (self.stock.get(key, "none"), self.ours.get(key, "none")) for key in {**self.stock, **self.ours}}
        return {key: marks for key, marks in both.items() if marks[0] != marks[1]}


class Course:
    """A copy of a course, as nbgrader's configuration there says where everything lies."""

    def __init__(self, root: Path, timeout: int) -> None:
        self.root, self.timeout = root, timeout
        self.configure(f"c.ExecutePreprocessor.timeout = {timeout}", f"c.CourseDirectory.root = {str(root)!r}")
        # On a busy machine stock takes a submission back whose outputs are more than 4 s late.
        self.configure(f"c.ExecutePreprocessor.iopub_timeout = {timeout}")

    def configure(self, *lines: str) -> None:
        """Have the configuration say this too, whatever it says before."""
        path = self.root / "nbgrader_config.py"
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text("\n".join([before, *lines, ""]), encoding="utf-8")

    @property
    def directory(self) -> CourseDirectory:
        """nbgrader's own view of it."""
        return CourseDirectory(config=course_config(self.root))

    def place(self, step: str, learner: str, assignment: str) -> Path:
        """The folder of an assignment at a step: source, release, submitted."""
        course = self.directory
        return Path(course.format_path(getattr(course, f"{step}_directory"), learner, assignment))

    def assignments(self) -> list[str]:
        """All that have a notebook in source/; what lies in release/ only is taken for a source, as an instructor would."""
        source, release = self.place("source", ".", "x").parent, self.place("release", ".", "x").parent
        if not source.is_dir():
            shutil.copytree(release, source)
        return sorted(path.name for path in source.iterdir() if any(path.glob("*.ipynb")))

    def nbgrader(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one of nbgrader's commands here."""
        return run([sys.executable, "-W", "ignore", "-m", "nbgrader", *arguments], self.root)

    def marks(self) -> dict[str, str]:
        """What the gradebook holds."""
        told = run([sys.executable, "-W", "ignore", "-c", _READ, self.directory.db_url], self.root)
        return dict(json.loads(told.stdout.splitlines()[-1])) if told.returncode == 0 else {}


def run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command there; what takes too long is ended, and has failed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    # What the process that measures was told of a course is not for others.
    told = {name: value for name, value in os.environ.items() if name != "NBPROOF_COURSE"}
    try:
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_LONGEST, env={**told, "PATH": path}
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"ended after {_LONGEST} s")


def answered(source: Path, released: Path, variant: str) -> nbformat.NotebookNode:
    """A released notebook as a learner hands it in who is one of :data:`VARIANTS`."""
    solved = {name_of(cell): cell.source for cell in nbformat.read(source, as_version=4).cells}
    notebook = nbformat.read(released, as_version=4)
    answers = [cell for cell in notebook.cells if kind_of(cell) in _ANSWERS]
    chosen = {"blank": [], "half": answers[::2]}.get(variant, answers)
    for cell in chosen:
        cell["source"] = solved[name_of(cell)]
    code = [cell for cell in answers if cell.cell_type == "code"]
    if code and variant in _ENDINGS:
        code[len(code) // 2]["source"] += _ENDINGS[variant]
    return notebook


def hand_in(course: Course, assignment: str) -> int:
    """Five learners hand it in; returns how many notebooks it has."""
    source, released = (course.place(step, ".", assignment) for step in ("source", "release"))
    found = sorted(released.glob("*.ipynb"))
    for variant in VARIANTS:
        folder = course.place("submitted", variant, assignment)
        shutil.copytree(released, folder)
        for path in found:
            nbformat.write(answered(source / path.name, path, variant), folder / path.name)
    return len(found)


def _said(told: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (told.stdout + told.stderr).splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")] or lines[-3:]
    return f"ended with {told.returncode}: {' | '.join(errors[-3:])[:500]}"


def autograde(course: Course, assignments: Sequence[str], into: Measured) -> None:
    """Stock nbgrader, an assignment after the other."""
    for assignment in assignments:
        start = time.perf_counter()
        told = course.nbgrader("autograde", assignment, "--force", "--create")
        into.stock_seconds += time.perf_counter() - start
        if told.returncode:
            into.notes.append(f"stock: {assignment}: {_said(told)}")
    into.stock = {key: marks if _is_graded(course, key) else "not graded" for key, marks in course.marks().items()}


def _is_graded(course: Course, key: str) -> bool:
    """Whether nbgrader came to the end of this submission: what fails on the way it takes away."""
    variant, assignment, _ = key.split("/", 2)
    return course.place("autograded", variant, assignment).is_dir()


def grade(course: Course, into: Measured) -> None:
    """The engine on all of it."""
    for anyway in ([], ["--anyway"]):
        start = time.perf_counter()
        told = run(
            [sys.executable, "-m", "nbproof", "grade", "--no-feedback", "--all", *anyway, "--course", "."], course.root
        )
        into.our_seconds = time.perf_counter() - start
        refused = [line for line in told.stdout.splitlines() if "reference answers lose marks" in line]
        into.notes += [f"ours: {line.strip()[:400]}" for line in refused if not anyway]
        if told.returncode not in (0, 1) or any(word in told.stderr for word in ("error:", "Traceback")):
            into.notes.append(f"ours: {_said(told)}")
        if not refused and "reference answers" not in told.stderr:
            break
    into.ours = course.marks()


def measure(original: Path, work: Path, timeout: int, say: Callable[[str], None]) -> Measured:
    """Stock and engine on one course. ``work``: an empty folder for the copies."""
    into = Measured(original.name)
    shutil.copytree(original, work / "stock")
    course = Course(work / "stock", timeout)
    assignments = []
    for assignment in course.assignments():
        told = course.nbgrader("generate_assignment", assignment, "--force", "--create")
        if told.returncode:
            into.notes.append(f"stock does not release {assignment}: {_said(told)}")
            shutil.rmtree(course.place("source", ".", assignment))
            continue
        assignments.append(assignment)
        into.notebooks += hand_in(course, assignment)
    if not assignments:
        return into
    shutil.copytree(work / "stock", work / "ours", ignore=shutil.ignore_patterns("gradebook.db"))
    ours = Course(work / "ours", timeout)
    say(f"{original.name}: {len(assignments)} assignments, {into.notebooks} notebooks, {len(VARIANTS)} variants: stock")
    autograde(course, assignments, into)
    say(f"{original.name}: ours")
    grade(ours, into)
    return into


def table_of(found: Sequence[Measured]) -> Table:
    """A line a course."""
    table = Table(title="stock nbgrader and nbproof on other people's courses, five variants each")
    for column in ("course", "notebooks", "cells", "equal", "different", "stock s", "ours s", "faster by"):
        table.add_column(column, justify="left" if column == "course" else "right")
    for one in found:
        cells, different = len({**one.stock, **one.ours}), len(one.different)
        faster = f"{one.stock_seconds / one.our_seconds:.1f}x" if one.ours else "-"
        counts = (str(number) for number in (one.notebooks, cells, cells - different, different))
        table.add_row(one.name, *counts, f"{one.stock_seconds:.1f}", f"{one.our_seconds:.1f}", faster)
    return table


def lines_of(found: Sequence[Measured]) -> Iterator[str]:
    """What there is to say of each course besides, and every cell that differs."""
    for one in found:
        yield from (f"{one.name}: {note}" for note in one.notes)
        for key, (stock, ours) in sorted(one.different.items()):
            yield f"{one.name}: {key}: stock {stock}, ours {ours}"


def main() -> int:
    """0 if every cell has the same marks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="holds a folder for each course")
    parser.add_argument("courses", nargs="*", metavar="COURSE", help="default: all")
    parser.add_argument("--timeout", type=int, default=15, help="seconds of a cell, for both (default: 15)")
    parser.add_argument("--keep", type=Path, help="leave the copies there, to be looked at")
    asked = parser.parse_args()
    console, say = Console(width=120), Console(stderr=True, highlight=False).print
    found: list[Measured] = []
    for original in sorted(path for path in asked.folder.iterdir() if path.is_dir()):
        if asked.courses and original.name not in asked.courses:
            continue
        with tempfile.TemporaryDirectory() as name:
            work = asked.keep / original.name if asked.keep else Path(name)
            work.mkdir(parents=True, exist_ok=True)
            found.append(one := measure(original, work.resolve(), asked.timeout, say))
            say(f"{one.name}: {len(one.stock)} cells, {len(one.different)} of them different")
    console.print(table_of(found))
    for line in lines_of(found):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    return 1 if any(one.different for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
