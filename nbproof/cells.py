"""What a cell of a lesson is for, and the marked regions of its text.

A reference solution stands between ``### BEGIN SOLUTION`` and ``### END SOLUTION`` in an answer cell,
hidden tests between ``### BEGIN HIDDEN TESTS`` and ``### END HIDDEN TESTS`` in a test cell. The cell of a
written answer is one solution region; in it, between ``### BEGIN MARK SCHEME`` and ``### END MARK SCHEME``,
stands what graders go by.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from itertools import chain

from nbproof.errors import LessonError

__all__ = [
    "BEGIN_HIDDEN",
    "BEGIN_SCHEME",
    "BEGIN_SOLUTION",
    "END_HIDDEN",
    "END_SCHEME",
    "END_SOLUTION",
    "ITS_TESTS",
    "CellKind",
    "exercise_of",
    "is_made_up",
    "private_lines",
    "refuse_bad_markers",
    "refuse_markers",
    "refuse_unmarkable",
    "solution_of",
    "stub_of",
    "visible_and_hidden",
]


class CellKind(StrEnum):
    """What a cell is for."""

    PROSE = "prose"
    SHOW = "show"
    """Code that only shows something."""
    SETUP = "setup"
    """Read-only code: what answers and tests rely on."""
    ANSWER = "answer"
    """A TODO cell: test cells mark it."""
    MANUAL = "manual"
    """A TODO cell with points of its own: a person marks it."""
    TEST = "test"
    WRITTEN = "written"
    """Text that a learner writes and a person marks."""
    TASK = "task"
    """Text with points, which learners answer in cells of their own."""
    OWN = "own"
    """A cell that a learner has added: no metadata tells it."""


def exercise_of(test: str, exercises: Iterable[str]) -> str:
    """The exercise that ``test_<id>`` or ``test_<id>_<part>`` tests: the longest id that fits; empty if none does."""
    fits = [name for name in exercises if test == f"test_{name}" or test.startswith(f"test_{name}_")]
    return max(fits, key=len, default="")


BEGIN_SOLUTION, END_SOLUTION = "### BEGIN SOLUTION", "### END SOLUTION"
BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
BEGIN_SCHEME, END_SCHEME = "### BEGIN MARK SCHEME", "### END MARK SCHEME"

# The kinds of cells that each pair of markers belongs in; nbgrader refuses it in any other.
_PAIRS = (
    ((CellKind.ANSWER, CellKind.WRITTEN), BEGIN_SOLUTION, END_SOLUTION),
    ((CellKind.TEST,), BEGIN_HIDDEN, END_HIDDEN),
    ((CellKind.WRITTEN,), BEGIN_SCHEME, END_SCHEME),
)
_BEGINS = [begin for _, begin, _ in _PAIRS]
_ENDS = [end for _, _, end in _PAIRS]
# nbgrader takes any line with these words in it for a marker.
_MARKER = re.compile(r"(BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME)")


def _cut(source: str, begin: str, end: str, instead: str = "") -> tuple[str, str]:
    """A cell's text without its regions, and what stands in them. ``instead`` takes a region's place, as far in as it is."""
    outside, inside, within = list[str](), list[str](), False
    for line in source.splitlines():
        if begin in line:
            within = True
            if instead:
                outside.append(line[: len(line) - len(line.lstrip())] + instead)
        elif end in line:
            within = False
        else:
            part = inside if within else outside
            part.append(line)
    return "\n".join(outside), "\n".join(inside)


def stub_of(source: str) -> str:
    """The TODO cell as released: each solution region replaced by the stub (nbgrader does the same)."""
    return _cut(source, BEGIN_SOLUTION, END_SOLUTION, "pass  # TODO: your code")[0]


def solution_of(source: str) -> str:
    """The TODO cell as its author wrote it, without the lines that mark the solution."""
    return "\n".join(line for line in source.split("\n") if line.strip() not in (BEGIN_SOLUTION, END_SOLUTION))


def visible_and_hidden(source: str) -> tuple[str, str]:
    """A test cell as released, and its hidden tests, which nbgrader takes out for that; both without the markers."""
    return _cut(source, BEGIN_HIDDEN, END_HIDDEN)


def private_lines(source: str) -> tuple[set[str], set[str]]:
    """A cell's lines outside of its regions, and those in them with their markers; stripped, without blank ones."""
    public: set[str] = set()
    private: set[str] = set()
    depth = 0  # a mark scheme stands in a solution region
    for line in map(str.strip, source.splitlines()):
        depth += line in _BEGINS
        if line:
            part = private if depth else public
            part.add(line)
        depth = max(0, depth - (line in _ENDS))
    return public, private


def refuse_bad_markers(source: str, place: str, grade_id: str, kind: CellKind) -> None:
    """Raise LessonError if a cell's markers are not in pairs, not spelt exactly, or in the wrong kind of cell."""
    markers = list(chain.from_iterable(zip(_BEGINS, _ENDS, strict=True)))
    for line in source.splitlines():
        if _MARKER.search(line) and line.strip() not in markers:
            raise LessonError(
                f"{grade_id}: nbgrader takes this line for a marker: {line.strip()!r}",
                place,
                f"write exactly one of: {', '.join(markers)}; or other words",
            )
    for homes, begin, end in _PAIRS:
        if kind not in homes and (begin in source or end in source):
            marker = begin if begin in source else end
            raise LessonError(
                f"{grade_id}: {marker!r} stands in the wrong kind of cell",
                place,
                "move it: solutions belong in answer cells, hidden tests in test cells, mark schemes in those of "
                f"written answers; this is a {kind} cell",
            )
        found = [line.strip() for line in source.splitlines() if line.strip() in (begin, end)]
        if found != [begin, end] * (len(found) // 2):
            raise LessonError(
                f"{grade_id}: {begin!r} and {end!r} do not come by turns",
                place,
                "let each region begin once, and end once",
            )


def refuse_markers(source: str, place: str) -> None:
    """Raise LessonError for any marker: nbgrader only looks for them in cells with metadata."""
    found = _MARKER.search(source)
    if found:
        begins = source.strip().splitlines()[0][:60]
        raise LessonError(
            f"{found[0]!r} stands in a cell without nbgrader metadata, {begins!r}: it would be released as it is",
            place,
            "give the cell its nbgrader metadata, or drop the marker",
        )


def refuse_unmarkable(source: str, place: str, grade_id: str) -> None:
    """Raise LessonError if a written answer's cell is not one solution region with a mark scheme at its end."""
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    if lines[:1] != [BEGIN_SOLUTION] or lines[-1:] != [END_SOLUTION] or source.count(BEGIN_SOLUTION) > 1:
        raise LessonError(
            f"{grade_id}: the cell holds more than its reference answer: learners would find that in their answer",
            place,
            f"begin the cell with '{BEGIN_SOLUTION}', end it with '{END_SOLUTION}'; the question goes into the prose above",
        )
    if lines[-2] != END_SCHEME or lines[1] == BEGIN_SCHEME:
        raise LessonError(
            f"{grade_id}: graders need a reference answer, and below it what earns how many points",
            place,
            f"put '{BEGIN_SCHEME}' and '{END_SCHEME}' below the reference answer, before '{END_SOLUTION}'",
        )


ITS_TESTS = "The tests of this exercise."
"""What is asked by tests that say nothing of themselves, in a cell that has no name either."""
_MADE_UP = re.compile(r"cell-\w{6,}")


def is_made_up(name: str) -> bool:
    """Whether nbgrader, and nobody else, has given a cell this name."""
    return _MADE_UP.fullmatch(name) is not None
