"""What a lesson is: cells, exercises and questions, as values. Two readers make it, and nobody else reads a lesson's notebook.

A :class:`Cell` has a text that learners get, but for the solution in an answer cell. What they do not get of tests is in a
:class:`TestCell`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nbproof.cells import CellKind, stub_of

__all__ = ["FILES", "Candidate", "Cell", "Exercise", "Lesson", "Question", "TestCell"]

FILES = "files"
"""In a lesson's folder: what lies beside the notebook, such as data, and modules that it imports."""


@dataclass(frozen=True)
class Cell:
    """One cell, with the place it comes from."""

    kind: CellKind
    source: str
    place: str = ""
    grade_id: str = ""
    points: float = 0.0
    metadata: tuple[tuple[str, Any], ...] = ()
    id: str = ""
    """The notebook format's own; empty in the text that authors write."""


@dataclass(frozen=True)
class TestCell(Cell):
    """A cell of autograder tests. ``source`` is all of it, with what is hidden between nbgrader's marks."""

    shown: str = ""
    """What learners have."""
    hidden: str = ""
    """What they do not have."""
    call: str = ""
    """Its two lines, if its checks stand in its exercise's folder; ``source`` and ``shown`` have the checks in their place."""
    is_plain: bool = False
    """Whether it is nbgrader's own kind, such as asserts: it calls no check."""


@dataclass(frozen=True)
class Candidate:
    """The text of a TODO cell as somebody might hand it in."""

    name: str
    """'reference', 'stub', or the name of its cell."""
    role: str
    """'reference', 'stub', 'accepted' or 'mutant'."""
    source: str
    place: str = ""
    """``<file>:<line>`` of its cell in right.py or wrong.py; empty for reference and stub."""
    misconception: str = ""
    hint: str | None = None
    breaks: tuple[str, ...] = ()
    """What it breaks of the statement, in the statement's words."""
    is_canary: bool = False
    """Whether it is asked beside each learner's answer: where it passes, a library was changed for everybody."""

    @property
    def bare(self) -> str:
        """Its text without the lines that say what it is."""
        return "\n".join(self.source.split("\n")[bool(self.misconception) + len(self.breaks) :])


@dataclass(frozen=True)
class Exercise:
    """One TODO cell with its test cells, accepted answers and mutants."""

    id: str
    lesson: str
    answer: Cell
    tests: tuple[TestCell, ...]
    accepted: tuple[Candidate, ...] = ()
    mutants: tuple[Candidate, ...] = ()
    title: str = ""
    """As it is written above its TODO cell; empty if nothing announces it."""
    difficulty: str = ""
    """easy, medium or hard."""
    minutes: int = 0
    further: bool = False
    """Whether it lies beyond the core path."""
    statement: str = ""
    """What stands between the line of difficulty and minutes and the TODO cell."""
    heading: Cell | None = None
    """The prose that announces it."""

    @property
    def points(self) -> float:
        """The marks of all its test cells."""
        return sum(cell.points for cell in self.tests)

    @property
    def stub(self) -> str:
        """The TODO cell as it is handed out."""
        return stub_of(self.answer.source)

    @cached_property
    def plain(self) -> frozenset[str]:
        """The grade_ids of test cells that are nbgrader's own kind."""
        return frozenset(cell.grade_id for cell in self.tests if cell.is_plain)

    @property
    def canary(self) -> str:
        """The text of the mutant that is asked beside each learner's answer; empty if none is."""
        return next((one.bare for one in self.mutants if one.is_canary), "")

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """Reference, stub, accepted answers and mutants, in this order."""
        reference = Candidate("reference", "reference", self.answer.source)
        return (reference, Candidate("stub", "stub", self.stub), *self.accepted, *self.mutants)


@dataclass(frozen=True)
class Question:
    """What a person marks: a written answer, code, or a task."""

    id: str
    points: float
    stub: str
    """The cell's text as it is handed out."""
    kind: CellKind = CellKind.WRITTEN
    """WRITTEN, MANUAL or TASK."""
    minutes: int = 0
    heading: Cell | None = None
    """The prose that asks it, right above the answer; None if no such prose is known."""


@dataclass(frozen=True)
class Lesson:
    """A lesson, with all that learners do not get."""

    slug: str
    path: Path
    cells: tuple[Cell, ...]
    exercises: tuple[Exercise, ...]
    questions: tuple[Question, ...] = ()
    title: str = ""

    @property
    def files(self) -> Path | None:
        """The folder of what lies beside its notebook; None if there is nothing."""
        folder = self.path.parent / FILES
        return folder.resolve() if folder.is_dir() else None

    @property
    def written(self) -> tuple[Cell, ...]:
        """The cells with answers that a person marks."""
        return tuple(cell for cell in self.cells if cell.kind is CellKind.WRITTEN)

    def exercise(self, name: str) -> Exercise:
        """The exercise with this id."""
        return next(exercise for exercise in self.exercises if exercise.id == name)
