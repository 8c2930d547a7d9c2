"""What a lesson's prose says of its exercises and questions: title, difficulty, minutes. The build writes points and ids beside.

An exercise is announced in the prose above its TODO cell, a question in the cell right above its answer::

    ### Exercise: A chain in any order           ### In your own words: Why twice?

    easy · 7 min                                 5 min

or ``easy · 7 min · further``, beyond the core path. In a lesson's first cell :data:`SUM` stands for its time and points.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from nbproof.authoring.lesson import Cell, Exercise, Lesson
from nbproof.cells import CellKind
from nbproof.errors import Violation
from nbproof.text import counted

__all__ = ["SUM", "amiss", "minutes_of", "prose_of", "statement_of"]

_HEADER = re.compile(r"^### In your own words: (?P<title>.+)$", re.MULTILINE)
"""How the prose in front of a written answer begins."""

SUM = "<!-- time and points -->"
"""In the prose: stands for the lesson's minutes, number of exercises and questions, and points."""

_HEADING = re.compile(
    r"### Exercise: (?P<title>.+)\n+(?P<effort>(?P<difficulty>easy|medium|hard) · (?P<minutes>\d+) min)"
    r"(?P<further> · further)?[ \t]*$",
    re.MULTILINE,
)
_EFFORT = re.compile(r"\s*(?P<minutes>\d+) min[ \t]*$", re.MULTILINE)
_FURTHER = re.compile(r"^#+ Further\b", re.MULTILINE)
_FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
_WORDS_A_MINUTE, _LINES_A_MINUTE, _STEP = 200, 15, 5
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def statement_of(lesson: Lesson, exercise: Exercise) -> str:
    """What stands between the line of difficulty and minutes and the TODO cell; empty if there is no such line."""
    found = _announced(lesson, exercise)
    if found is None:
        return ""
    cell, said = found
    prose = _prose_above(lesson, exercise)
    after = prose[prose.index(cell) + 1 :]
    return "\n\n".join([cell.source[said.end() :], *(one.source for one in after)])


def _announced(lesson: Lesson, exercise: Exercise) -> tuple[Cell, re.Match[str]] | None:
    for cell in reversed(_prose_above(lesson, exercise)):
        found = list(_HEADING.finditer(cell.source))
        if found:
            return cell, found[-1]
    return None


def _prose_above(lesson: Lesson, exercise: Exercise) -> list[Cell]:
    """The prose between the graded cell in front, or the lesson's beginning, and this exercise's answer cell."""
    above = lesson.cells[: lesson.cells.index(exercise.answer)]
    near = itertools.takewhile(lambda cell: cell.kind not in _GRADED, reversed(above))
    return [cell for cell in near if cell.kind is CellKind.PROSE][::-1]


_GRADED = (CellKind.ANSWER, CellKind.TEST, CellKind.WRITTEN)


def prose_of(lesson: Lesson) -> dict[str, str]:
    """Place -> the text that learners read, of each prose cell: with points, ids, and the sum."""
    texts = {cell.place: cell.source for cell in lesson.cells if cell.kind is CellKind.PROSE}
    for exercise in lesson.exercises:
        found = _announced(lesson, exercise)
        if found is not None:
            cell, said = found
            effort = f"{said['effort']} · {_points(exercise.points)}{said['further'] or ''} · `{exercise.id}`"
            texts[cell.place] = cell.source[: said.start("effort")] + effort + cell.source[said.end() :]
    for above, written in itertools.pairwise(lesson.cells):
        effort_of = _effort_above(above, written)
        if effort_of is not None:
            at = effort_of.end()
            texts[above.place] = f"{above.source[:at]} · {_points(written.points)}{above.source[at:]}"
    whole = _sum(lesson)
    return {place: text.replace(SUM, whole) for place, text in texts.items()}


def _effort_above(above: Cell, written: Cell) -> re.Match[str] | None:
    """The line of minutes of a question, if the cell above a written answer asks one."""
    if written.kind is not CellKind.WRITTEN or above.kind is not CellKind.PROSE:
        return None
    headers = list(_HEADER.finditer(above.source))
    found = _EFFORT.match(above.source, headers[-1].end()) if headers else None
    return found if found is not None and above.source[found.end() :].strip() else None


def _sum(lesson: Lesson) -> str:
    core, further = minutes_of(lesson)
    time = f"about {core} minutes"
    if further:
        time += f" for the core path, {further} more for what goes further"
    what = f"{_number(lesson.exercises, 'exercise')} for {_points(sum(one.points for one in lesson.exercises))}"
    if lesson.written:
        points = _points(sum(cell.points for cell in lesson.written))
        what += f", and {_number(lesson.written, 'question')} in your own words, {points}"
    return f"{time}: {what}"


def _number(things: Sequence[object], noun: str) -> str:
    count = counted(len(things), noun)
    if len(things) >= len(_WORDS):
        return count
    return f"{_WORDS[len(things)]} {count.partition(' ')[2]}"


def _points(points: float) -> str:
    return f"{points:g} point{'' if points == 1 else 's'}"


def minutes_of(lesson: Lesson) -> tuple[int, int]:
    """The minutes of the core path and of what goes further: exercises, and reading what is not their statements.

    What is folded is read by few. What stands below a heading that begins with *Further* is no part of the core path.
    """
    minutes = {False: 0.0, True: 0.0}
    for exercise in lesson.exercises:
        found = _announced(lesson, exercise)
        if found is not None:
            of_its_own = int(found[1]["minutes"]) - _reading(statement_of(lesson, exercise))
            minutes[found[1]["further"] is not None] += of_its_own
    further = False
    for above, cell in itertools.pairwise([lesson.cells[0], *lesson.cells]):
        further = further or (cell.kind is CellKind.PROSE and _FURTHER.search(cell.source) is not None)
        minutes[further] += _minutes_at(above, cell)
    core, more = (_STEP * round(minutes[where] / _STEP + 0.3) for where in (False, True))
    return core, more


def _minutes_at(above: Cell, cell: Cell) -> float:
    if cell.kind is CellKind.WRITTEN:
        asked = _effort_above(above, cell)
        return float(asked["minutes"]) if asked else 0.0
    if cell.kind is CellKind.PROSE:
        return _reading(cell.source)
    if cell.kind in (CellKind.SETUP, CellKind.SHOW):
        return sum(bool(line.strip()) for line in cell.source.splitlines()) / _LINES_A_MINUTE
    return 0.0


def _reading(text: str) -> float:
    return sum(any(map(str.isalnum, word)) for word in _FOLDED.sub(" ", text).split()) / _WORDS_A_MINUTE


def amiss(lesson: Lesson) -> Iterator[Violation]:
    """Exercises and questions that nothing announces."""
    for exercise in lesson.exercises:
        if _announced(lesson, exercise) is None:
            yield Violation(
                f"{exercise.id}: no heading above its TODO cell says its title, difficulty and minutes",
                exercise.answer.place,
                "write above it '### Exercise: <title>', and below that 'easy · 5 min' (or medium, or hard)",
            )
    for above, written in itertools.pairwise(lesson.cells):
        if written.kind is CellKind.WRITTEN and _effort_above(above, written) is None:
            yield Violation(
                f"{written.grade_id}: nothing right above it asks for it",
                written.place,
                "begin the text above with '### In your own words: <title>' and '5 min', and ask",
            )
