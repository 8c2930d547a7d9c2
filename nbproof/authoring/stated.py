"""What a lesson's prose states of its exercises: headings, difficulty, minutes, points; and where the cells say otherwise.

nbgrader counts the points of the cells. A learner reads those of the prose: they must be the same.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbproof.authoring.lesson import Cell, Exercise, Lesson
from nbproof.cells import CellKind
from nbproof.command import course_command
from nbproof.errors import Violation
from nbproof.marking.manual_answers import HEADER

__all__ = ["Heading", "contradictions", "heading_of", "statement_of", "time_in", "unannounced", "unasked"]

_NUMBER = r"\d+(?:\.\d+)?"
_HEADING = re.compile(
    rf"### Exercise: (?P<title>.+)\n+(?P<difficulty>easy|medium|hard) · (?P<minutes>\d+) min · (?P<points>{_NUMBER}) points?"
    r"(?P<further> · further)?(?: · `(?P<id>\w+)`)?[ \t]*$",
    re.MULTILINE,
)
_TITLE = re.compile(r"^### Exercise: (.+)$", re.MULTILINE)


def _sentence(pattern: str) -> re.Pattern[str]:
    """Sentences go on in the next line, be it indented."""
    return re.compile(pattern.replace(" ", r"\s+"))


_PART = _sentence(rf"(?P<part>{_NUMBER}) of (?:the |its |these )?(?P<all>{_NUMBER}) points?\b")
_WORTH = _sentence(
    rf"(?:\(|\b(?:worth|brings?|earns?) (?:you )?|\bmin(?:utes)?\s*[·,;|-]\s*)(?P<points>{_NUMBER}) points?\b"
)
_EXERCISES = _sentence(rf"\b(?P<count>\w+) exercises?,? (?:for|worth|with|that bring) (?P<points>{_NUMBER}) points?\b")
_QUESTIONS = _sentence(
    rf"\b(?P<count>\w+) questions? in your own words,? (?:for |worth )?(?P<points>{_NUMBER}) points?\b"
)
_ALL = _sentence(rf"(?P<points>{_NUMBER}) points? (?:in all|in total|altogether)\b")
_TIME = _sentence(
    r"\*\*Time\*\*:? (?:about |some )?(?P<minutes>\d+) minutes\b"
    r"(?P<core> for the core path,? (?:and )?(?:about )?(?P<more>\d+) (?:minutes )?more\b)?"
)
_WORDS = {
    word: number
    for number, word in enumerate(
        (
            "no",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        )
    )
}
_FURTHER = re.compile(r"^#+ Further\b", re.MULTILINE)
_FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
_WORDS_A_MINUTE, _LINES_A_MINUTE, _ABOUT = 200, 15, 1.05
_EFFORT = re.compile(rf"^(?P<minutes>\d+) min · (?P<points>{_NUMBER}) points?$", re.MULTILINE)


@dataclass(frozen=True)
class Heading:
    """``### Exercise: <title>``, and the line ``<difficulty> · <minutes> min · <points> points · `<id>` `` below."""

    title: str
    difficulty: str
    minutes: int
    points: float
    place: str
    id: str
    """As learners see it, who need it for ``hint("...")``; empty if the line does not say it."""
    further: bool
    """Whether it stands outside the core path."""


def heading_of(lesson: Lesson, exercise: Exercise) -> Heading | None:
    """The last heading of an exercise between the exercise before and this one's TODO cell; None if there is none."""
    for cell in reversed(_prose_of(lesson, exercise)):
        found = list(_HEADING.finditer(cell.source))
        if found:
            one = found[-1]
            place = _place(cell, one.start("difficulty"))
            return Heading(
                one["title"].strip(),
                one["difficulty"],
                int(one["minutes"]),
                float(one["points"]),
                place,
                one["id"] or "",
                one["further"] is not None,
            )
    return None


def statement_of(lesson: Lesson, exercise: Exercise) -> str:
    """What stands between the line of difficulty, minutes and points and the TODO cell; empty if there is no such line."""
    prose = _prose_of(lesson, exercise)
    for at in range(len(prose) - 1, -1, -1):
        found = list(_HEADING.finditer(prose[at].source))
        if found:
            return "\n\n".join([prose[at].source[found[-1].end() :], *(cell.source for cell in prose[at + 1 :])])
    return ""


def _prose_of(lesson: Lesson, exercise: Exercise) -> list[Cell]:
    """The prose between the answer cell in front, or the lesson's beginning, and this exercise's answer cell."""
    end = lesson.cells.index(exercise.answer)
    start = max(
        (
            at
            for at, cell in enumerate(lesson.cells[:end])
            if cell.kind in (CellKind.ANSWER, CellKind.TEST, CellKind.WRITTEN)
        ),
        default=-1,
    )
    return [cell for cell in lesson.cells[start + 1 : end] if cell.kind is CellKind.PROSE]


def _place(cell: Cell, offset: int) -> str:
    """The line of the file in which this character of a prose cell stands: its text begins below the cell's marker."""
    path, _, line = cell.place.rpartition(":")
    return f"{path}:{int(line) + 1 + cell.source.count(chr(10), 0, offset)}"


def unannounced(lesson: Lesson) -> Iterator[Violation]:
    """Exercises that no heading announces, and headings that announce none."""
    for exercise in lesson.exercises:
        heading = heading_of(lesson, exercise)
        if heading is None:
            yield Violation(
                f"{exercise.id}: no heading above its TODO cell says its title, difficulty, minutes and points",
                exercise.answer.place,
                f"write above it '### Exercise: <title>', and below that 'easy · 5 min · {_points(exercise.points)} · "
                f"`{exercise.id}`' (or medium, or hard)",
                lesson.slug,
            )
        elif heading.id != exercise.id:
            yield Violation(
                f'{exercise.id}: nothing above its TODO cell says its id, which learners need for hint("{exercise.id}")',
                heading.place,
                f"end the line with ' · `{exercise.id}`'",
                lesson.slug,
            )

    answers = [at for at, cell in enumerate(lesson.cells) if cell.kind is CellKind.ANSWER]
    for start, end in itertools.pairwise([-1, *answers, len(lesson.cells)]):
        headings = [
            (found[1].strip(), _place(cell, found.start()))
            for cell in lesson.cells[start + 1 : end]
            if cell.kind is CellKind.PROSE
            for found in _TITLE.finditer(cell.source)
        ]
        for title, place in headings if end == len(lesson.cells) else headings[:-1]:
            yield Violation(
                f"the heading '### Exercise: {title}' has no TODO cell before the next one",
                place,
                "take it out, or bring its TODO cell back",
                lesson.slug,
            )


def unasked(lesson: Lesson) -> Iterator[Violation]:
    """A written answer needs its question right above it, with the points that it brings."""
    for before, cell in itertools.pairwise(lesson.cells):
        if cell.kind is not CellKind.WRITTEN:
            continue
        header = list(HEADER.finditer(before.source)) if before.kind is CellKind.PROSE else []
        asked = before.source[header[-1].end() :].strip() if header else ""
        effort = _EFFORT.match(asked.partition("\n")[0])
        if effort is None or float(effort["points"]) != cell.points or asked.count("\n") < 2:
            yield Violation(
                f"{cell.grade_id}: nothing right above it asks for it, and says that it brings {_points(cell.points)}",
                cell.place,
                f"begin the text above with '### In your own words: <title>' and '5 min · {_points(cell.points)}'",
            )


def time_in(opening: str) -> tuple[int, int] | None:
    """The minutes that a lesson's first text states, for its core path and for what goes further; None if it states none."""
    found = _TIME.search(opening)
    return (int(found["minutes"]), int(found["more"] or 0)) if found else None


def contradictions(lesson: Lesson) -> Iterator[Violation]:
    """Where the prose states other points, numbers or times than the cells have."""
    for exercise in lesson.exercises:
        yield from _of_exercise(lesson, exercise)
    for before, cell in itertools.pairwise(lesson.cells):
        found = (
            list(_EFFORT.finditer(before.source))
            if cell.kind is CellKind.WRITTEN and before.kind is CellKind.PROSE
            else []
        )
        if found and float(found[-1]["points"]) != cell.points:
            yield Violation(
                f"{cell.grade_id}: the question says {found[-1]['points']} points, its cell has {cell.points:g}",
                _place(before, found[-1].start()),
                f'write the same there, or change "points" in the first line of the cell; then: {course_command("build")}',
                lesson.slug,
            )
    opening = lesson.cells[0] if lesson.cells and lesson.cells[0].kind is CellKind.PROSE else None
    if opening is not None:
        yield from _of_opening(lesson, opening)


def _of_exercise(lesson: Lesson, exercise: Exercise) -> Iterator[Violation]:
    have, parts = exercise.points, {cell.points for cell in exercise.tests}
    cells = " + ".join(f"{cell.points:g} ({cell.grade_id})" for cell in exercise.tests)
    heading = heading_of(lesson, exercise)
    said = {heading.place: heading.points} if heading else {}
    prose = _prose_of(lesson, exercise)
    begins = max((at for at, cell in enumerate(prose) if _HEADING.search(cell.source)), default=len(prose) - 1)
    for cell in prose[max(0, begins) :]:
        for found in _PART.finditer(cell.source):
            said.setdefault(_place(cell, found.start()), float(found["all"]))
            if float(found["all"]) == have and float(found["part"]) not in parts:
                yield _differs(
                    lesson, exercise, f"{found['part']} of them for a part", cells, _place(cell, found.start())
                )
        for found in _WORTH.finditer(cell.source):
            points = float(found["points"])
            if points not in parts:
                said.setdefault(_place(cell, found.start("points")), points)
    for place, points in said.items():
        if points != have:
            yield _differs(lesson, exercise, _points(points), cells, place)


def _differs(lesson: Lesson, exercise: Exercise, said: str, cells: str, place: str) -> Violation:
    return Violation(
        f"{exercise.id}: the prose says {said}, its test cells have {exercise.points:g}: {cells}",
        place,
        f'write the {exercise.points:g} there, or change "points" in the first line of the test cell; '
        f"then: {course_command('build')}",
        lesson.slug,
    )


def _of_opening(lesson: Lesson, opening: Cell) -> Iterator[Violation]:
    text = opening.source
    tested, written = sum(one.points for one in lesson.exercises), sum(cell.points for cell in lesson.written)
    wanted = (
        (_EXERCISES, len(lesson.exercises), tested, "exercises"),
        (_QUESTIONS, len(lesson.written), written, "questions in your own words"),
        (_ALL, None, tested + written, ""),
    )
    for pattern, count, points, what in wanted:
        for found in pattern.finditer(text):
            number = _number(found.groupdict().get("count", ""))
            if number not in (None, count):
                yield _total(lesson, f"{found['count']} {what}", f"{count}", _place(opening, found.start()))
            if float(found["points"]) != points:
                of = f" for its {what}" if what else " in all"
                told = f"{found['points']} points{of}"
                yield _total(lesson, told, f"{points:g}", _place(opening, found.start("points")))
    core, more = _least_minutes(lesson)
    goes_further = any(one.further for one in (heading_of(lesson, exercise) for exercise in lesson.exercises) if one)
    for found in _TIME.finditer(text):
        minutes, place = int(found["minutes"]), _place(opening, found.start("minutes"))
        if minutes * _ABOUT < core or (minutes + int(found["more"] or 0)) * _ABOUT < core + more:
            told = f"{found['minutes']} minutes" + (f" and {found['more']} more" if found["more"] else "")
            have = f"{core:.0f}" + (f" for the core path and {more:.0f} more" if more else "")
            pace = f", if one reads {_WORDS_A_MINUTE} words or {_LINES_A_MINUTE} lines of code a minute"
            yield _total(lesson, told, have + pace, place)
        if goes_further and not found["core"]:
            yield _total(lesson, "one time for all of it", "some exercises go further, beyond the core path", place)


def _least_minutes(lesson: Lesson) -> tuple[float, float]:
    """The minutes of the core path and of what goes further: exercises, and reading what is not their statements.

    What is folded is read by few. What stands below a heading that begins with *Further* is no part of the core path.
    """
    minutes = {False: 0.0, True: 0.0}
    for exercise in lesson.exercises:
        heading = heading_of(lesson, exercise)
        if heading is not None:
            minutes[heading.further] += heading.minutes - _reading(statement_of(lesson, exercise))
    further = False
    for cell in lesson.cells:
        further = further or (cell.kind is CellKind.PROSE and _FURTHER.search(cell.source) is not None)
        if cell.kind is CellKind.WRITTEN:
            minutes[further] += _minutes_above(lesson, cell)
        elif cell.kind is CellKind.PROSE:
            minutes[further] += _reading(cell.source)
        elif cell.kind in (CellKind.SETUP, CellKind.SHOW):
            minutes[further] += sum(map(bool, map(str.strip, cell.source.splitlines()))) / _LINES_A_MINUTE
    return minutes[False], minutes[True]


def _reading(text: str) -> float:
    return sum(any(map(str.isalnum, word)) for word in _FOLDED.sub(" ", text).split()) / _WORDS_A_MINUTE


def _total(lesson: Lesson, said: str, have: str, place: str) -> Violation:
    return Violation(
        f"{lesson.slug}: its opening says {said}, its cells say {have}",
        place,
        f"mend the line; then: {course_command('build')}",
        lesson.slug,
    )


def _points(points: float) -> str:
    return f"{points:g} point{'' if points == 1 else 's'}"


def _number(word: str) -> int | None:
    """What a number means in digits or, up to twenty, as a word; None for any other word."""
    if word.isascii() and word.isdigit():
        return int(word)
    return _WORDS.get(word.lower())


def _minutes_above(lesson: Lesson, cell: Cell) -> int:
    """The minutes that the question right above a written answer states."""
    above = lesson.cells[lesson.cells.index(cell) - 1]
    found = list(_EFFORT.finditer(above.source)) if above.kind is CellKind.PROSE else []
    return int(found[-1]["minutes"]) if found else 0
