"""What a lesson is: cells, exercises and questions, as values. Two readers make it, and nobody else reads a lesson's notebook.

A :class:`Cell` has a text that learners get, but for the solution in an answer cell. What they do not get of tests is in a
:class:`TestCell`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from nbproof.cells import CellKind, stub_of
from nbproof.course_file import Course
from nbproof.lesson.check_cell import canary_in, checks_in, names_asked, probe_in

__all__ = ["FILES", "Candidate", "Cell", "CheckCell", "Exercise", "Lesson", "PlainCell", "Question", "TestCell"]

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
    exercise: str = ""
    """The exercise that a test cell tests; empty for any other cell, and in a cell that was read by itself."""

    @property
    def is_code(self) -> bool:
        """Whether it holds code."""
        return self.kind not in (CellKind.PROSE, CellKind.WRITTEN, CellKind.TASK)


@dataclass(frozen=True)
class Question(Cell):
    """What a person marks: a written answer, code, or a task."""

    minutes: int = 0
    heading: Cell | None = None
    """The prose that asks it, right above the answer; None if no such prose is known."""

    @property
    def stub(self) -> str:
        """Its text, where it is read as learners have it. Of a task nothing was handed out that could be its answer."""
        return "" if self.kind is CellKind.TASK else self.source


@dataclass(frozen=True)
class TestCell(Cell):
    """A cell of autograder tests. ``source`` is all of it, with what is hidden between nbgrader's marks."""

    shown: str = ""
    """What learners have."""
    hidden: str = ""
    """What they do not have, as far as its reader cuts that off."""
    call: str = ""
    """Its two lines, if its checks stand in its exercise's folder; ``source`` and ``shown`` have the checks in their place."""

    @property
    def hides(self) -> bool:
        """Whether anything of it is hidden."""
        return bool(self.hidden)


@dataclass(frozen=True)
class CheckCell(TestCell):
    """One of checks: probes run beside the learner's code, truths elsewhere. ``source`` is for the judge's eyes only."""

    @cached_property
    def probe(self) -> str:
        """What a worker gets, with hidden checks: for a process that shows nothing any more."""
        return probe_in(self.source)

    @cached_property
    def names_asked(self) -> frozenset[str]:
        """The learner's names that this may look at."""
        return names_asked(self.probe)

    @cached_property
    def shown_probe(self) -> str:
        """The same of what learners have."""
        return probe_in(self.shown)

    @cached_property
    def shown_checks(self) -> tuple[str, ...]:
        """The names of the checks that learners have."""
        return checks_in(self.shown)

    @cached_property
    def hidden_checks(self) -> tuple[str, ...]:
        """The names of the checks that learners do not have."""
        return tuple(name for name in checks_in(self.source) if name not in self.shown_checks)

    @property
    def hides(self) -> bool:
        """Whether anything of it is hidden."""
        return bool(self.hidden_checks)

    @property
    def canary(self) -> str:
        """A wrong answer that a hidden check finds, to be asked beside the learner's; empty if there is none."""
        return canary_in(self.source)


_SHORTEST = 10
"""Characters of a hidden line that is looked for in outputs."""


@dataclass(frozen=True)
class PlainCell(TestCell):
    """One of nbgrader's own kind, such as asserts: it calls no check, and all of it runs beside the learner's code."""

    asked: str = ""
    """What it says of itself."""
    harmless: str = ""
    """By ``c.IgnorePattern``, what on stderr costs no points: a regular expression."""
    decides: bool = True
    """False if it ends with a comparison that nothing is done with: whatever that gives, nbgrader gives full marks."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The hidden lines that are long enough to be known again."""
        found = {line.strip() for line in self.hidden.splitlines()} - {line.strip() for line in self.shown.splitlines()}
        return tuple(line for line in sorted(found) if len(line) >= _SHORTEST)

    def line(self, number: object) -> str:
        """The line of this number, of those that learners have; empty if there is none."""
        lines = self.shown.splitlines()
        return lines[number - 1].strip() if type(number) is int and 1 <= number <= len(lines) else ""


@dataclass(frozen=True)
class Candidate:
    """The text of a TODO cell as somebody might hand it in."""

    name: str
    """'reference', 'stub', or the name of its cell."""
    role: Literal["reference", "stub", "accepted", "mutant"]
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

    course: Course
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
        return frozenset(cell.grade_id for cell in self.tests if isinstance(cell, PlainCell))

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
class Lesson:
    """A lesson of a course, with all that learners do not get."""

    course: Course
    slug: str
    path: Path
    cells: tuple[Cell, ...]
    exercises: tuple[Exercise, ...]
    title: str = ""

    @property
    def files(self) -> Path | None:
        """The folder of what lies beside its notebook; None if there is nothing."""
        folder = self.path.parent / FILES
        return folder.resolve() if folder.is_dir() else None

    @property
    def questions(self) -> tuple[Question, ...]:
        """The cells with answers that a person marks."""
        return tuple(cell for cell in self.cells if isinstance(cell, Question))

    def exercise(self, name: str) -> Exercise:
        """The exercise with this id."""
        return next(exercise for exercise in self.exercises if exercise.id == name)
