"""What a lesson's prose says of its exercises and questions: title, difficulty, minutes, and what is demanded.

The build writes points and ids beside. An exercise is announced in the prose above its TODO cell, a question in the cell
right above its answer::

    ### Exercise: A chain in any order           ### In your own words: Why twice?

    easy · 7 min                                 5 min

or ``easy · 7 min · further``, beyond the core path. In a lesson's first cell :data:`SUM` stands for its time and points.

Each sentence of the statement is quoted by a mutant that breaks it, or said to demand nothing. A mutant quotes the statement
below its first line, and the head of ``wrong.py`` what no answer can break::

    # nothing to break: Do it with a loop, as in the section before.

    # %% keeps_the_old_one
    # misconception: hands back the model that it was given | hint: none
    # breaks: a new model
    def copied(model):

A demand that nothing breaks is one that no check asks, as far as anybody has shown: an answer that ignores it would pass.

How much a statement, and an exercise, may be says ``course.toml``, for all lessons and for one where that one needs more::

    [budget]
    words = 80
    demands = 4
    mutants = 30
    check_lines = 300
    hidden_share = 0.8  # of the mutants, how many must fail a hidden check
    06_capstones = { words = 120, demands = 6 }
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbproof.authoring.exercise_folder import nothing_to_break
from nbproof.authoring.lesson import Cell, Exercise, Lesson
from nbproof.cells import CellKind
from nbproof.errors import LessonError
from nbproof.handed_out import CHECKS
from nbproof.text import counted

__all__ = [
    "SUM",
    "Demands",
    "amiss",
    "demands_of",
    "minutes_of",
    "over_budget",
    "prose_of",
    "sentences",
    "statement_of",
    "unbroken",
    "words_in",
]

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
_WORDS_A_MINUTE, _LINES_A_MINUTE, _STEP = 120, 15, 5


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
        time += f" for the core path, and {further} minutes for what is called *further*"
    what = f"{counted(len(lesson.exercises), 'exercise')} for {_points(sum(one.points for one in lesson.exercises))}"
    if lesson.written:
        points = _points(sum(cell.points for cell in lesson.written))
        what += f", and {counted(len(lesson.written), 'question')} in your own words, {points}"
    return f"{time}: {what}"


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
    read = [word for word in _FOLDED.sub(" ", text).split() if any(map(str.isalnum, word))]
    return words_in(" ".join(read)) / _WORDS_A_MINUTE


def amiss(lesson: Lesson) -> Iterator[LessonError]:
    """Exercises and questions that nothing announces."""
    for exercise in lesson.exercises:
        if _announced(lesson, exercise) is None:
            yield LessonError(
                f"{exercise.id}: no heading above its TODO cell says its title, difficulty and minutes",
                exercise.answer.place,
                "write above it '### Exercise: <title>', and below that 'easy · 5 min' (or medium, or hard)",
            )
    for above, written in itertools.pairwise(lesson.cells):
        if written.kind is CellKind.WRITTEN and _effort_above(above, written) is None:
            yield LessonError(
                f"{written.grade_id}: nothing right above it asks for it",
                written.place,
                "begin the text above with '### In your own words: <title>' and '5 min', and ask",
            )


_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.|\|)\s)")
_ENDS = re.compile(r"(?:(?<!\b\w\.\w\.)(?<=[.!?])[\"'*_)]*\s+|(?<=[。！？])[」』”’）*_]*\s*)(?=(?P<next>\S))")
"""Where a sentence may end: not behind an abbreviation such as "e.g.". Chinese and Japanese have no space there."""
_HAN = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_HAN_A_WORD = 1.6
"""So many of these characters, which no space parts, say as much as a word."""
_MARKUP = re.compile(
    r"```.*?```|<!--.*?-->|<summary>.*?</summary>|</?\w+[^>`]*>|^\s*\|[^\n]*\n\s*\|[ |:-]+\|\s*$",
    re.DOTALL | re.MULTILINE,
)
_BULLET = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")


@dataclass(frozen=True)
class Demands:
    """The sentences of one statement."""

    broken: tuple[str, ...] = ()
    """A mutant quotes a part of each."""
    unbroken: tuple[str, ...] = ()
    """The other ones that demand something: no questions, no ways to a hint, and none that wrong.py says demand nothing."""

    @property
    def count(self) -> int:
        """How many demands there are."""
        return len(self.broken) + len(self.unbroken)


def sentences(statement: str) -> Iterator[str]:
    """The sentences, list items and rows of tables of a text in markdown, in one line each, without code blocks and tags."""
    for block in _BLOCK.split(_MARKUP.sub("\n", statement)):
        text = " ".join(_BULLET.sub("", block).strip(" |\n").split())
        if text and not text.startswith("#"):
            yield from _apart(text)


def _apart(text: str) -> Iterator[str]:
    """The sentences of a text in one line. One begins with a capital, in a script without capitals with any letter."""
    begun = 0
    for end in _ENDS.finditer(text):
        first = end["next"]
        if (first.isalpha() and not first.islower()) or first in "`\"'*_([":
            yield text[begun : end.start()]
            begun = end.end()
    yield text[begun:]


def words_in(text: str) -> float:
    """How many words a text has, for limits and reading time. Where no spaces part them, characters are counted."""
    return len(_HAN.sub(" ", text).split()) + len(_HAN.findall(text)) / _HAN_A_WORD


def demands_of(lesson: Lesson, exercise: Exercise) -> Demands:
    """What the statement demands, and what of it is broken by a mutant."""
    quotes = [quote for mutant in exercise.mutants for quote in mutant.breaks]
    none = [quote for quote, _ in nothing_to_break(lesson.path.parent / exercise.id)]
    broken, unbroken = [], []
    for sentence in sentences(statement_of(lesson, exercise)):
        if _meets(sentence, quotes):
            broken.append(sentence)
        elif not (sentence.endswith("?") or "hint(" in sentence or _meets(sentence, none)):
            unbroken.append(sentence)
    return Demands(tuple(broken), tuple(unbroken))


def _meets(sentence: str, quotes: Sequence[str]) -> bool:
    """Whether one of the quotes lies in the sentence, or the sentence in one of them."""
    return any(quote in sentence or sentence in quote for quote in quotes)


def unbroken(lesson: Lesson, exercise: Exercise) -> Iterator[LessonError]:
    """Demands that no mutant breaks, and quotes that the statement does not hold."""
    for sentence in demands_of(lesson, exercise).unbroken:
        yield LessonError(
            f"{exercise.id}: no mutant breaks this sentence of the statement: {sentence!r}",
            exercise.answer.place,
            f"write below a mutant's first line in {exercise.id}/wrong.py '# breaks: <a piece of it>', or, at the head of the "
            "file, '# nothing to break: <a piece of it>'; a demand that no check asks is to be asked, or to go",
        )
    text = " ".join(sentences(statement_of(lesson, exercise)))
    said = [(quote, mutant.place) for mutant in exercise.mutants for quote in mutant.breaks]
    for quote, place in [*said, *nothing_to_break(lesson.path.parent / exercise.id)]:
        if quote not in text:
            yield LessonError(
                f"{exercise.id}: the statement does not say {quote!r}",
                place,
                "quote it word for word, in one line, without the marks of a list",
            )


_CURES = {
    "words": "say less: what any careful person expects need not be said; an example in a code block does not count",
    "demands": "ask less, or make a second exercise of it",
    "mutants": "keep those that a learner would hand in",
    "check_lines": "take out the cases that only defend the check",
}


def over_budget(lesson: Lesson, exercise: Exercise, budget: Mapping[str, Any]) -> Iterator[LessonError]:
    """What of an exercise is more than its lesson's budget allows."""
    path = lesson.path.parent / exercise.id / CHECKS
    there = {
        "words": round(sum(map(words_in, sentences(statement_of(lesson, exercise))))),
        "demands": demands_of(lesson, exercise).count,
        "mutants": len(exercise.mutants),
        "check_lines": path.read_text(encoding="utf-8").count("\n") if path.exists() else 0,
    }
    for what, number in there.items():
        most = budget.get(what, number)
        if number > most:
            said = what.replace("_", " ")
            yield LessonError(
                f"{exercise.id}: {number} {said}, at most {most} are allowed",
                exercise.answer.place,
                _CURES[what],
            )
