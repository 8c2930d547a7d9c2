"""What the statement of an exercise demands, and what a build writes into prose: points, ids, and the sum of a lesson.

In a lesson's first cell :data:`SUM` stands for its time and points (:mod:`nbproof.lesson.heading` has the headings).

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

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from nbproof.cells import CellKind
from nbproof.errors import LessonError
from nbproof.handed_out import CHECKS
from nbproof.lesson.exercise_folder import nothing_to_break
from nbproof.lesson.heading import begins_further, points_in_words, with_points
from nbproof.lesson.lesson import Cell, Exercise, Lesson
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
    "unbroken",
    "words_in",
]

SUM = "<!-- time and points -->"
"""In the prose: stands for the lesson's minutes, number of exercises and questions, and points."""

_FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
_WORDS_A_MINUTE, _LINES_A_MINUTE, _STEP = 120, 15, 5


def prose_of(lesson: Lesson) -> dict[str, str]:
    """Place -> the text that learners read, of each prose cell: with points, ids, and the sum."""
    texts = {cell.place: cell.source for cell in lesson.cells if cell.kind is CellKind.PROSE}
    for exercise in lesson.exercises:
        if exercise.heading is not None:
            texts[exercise.heading.place] = with_points(exercise.heading.source, exercise.points, exercise.id)
    for question in lesson.questions:
        if question.heading is not None:
            texts[question.heading.place] = with_points(question.heading.source, question.points)
    whole = _sum(lesson)
    return {place: text.replace(SUM, whole) for place, text in texts.items()}


def _sum(lesson: Lesson) -> str:
    core, further = minutes_of(lesson)
    time = f"about {core} minutes:"
    if further:
        beyond = sum(one.further for one in lesson.exercises)
        time = f"about {core} minutes for the core path ({counted(len(lesson.exercises) - beyond, 'exercise')}), and"
        time += f" {further} minutes for the further parts ({counted(beyond, 'exercise')}). In all:"
    what = f"{counted(len(lesson.exercises), 'exercise')} for {points_in_words(sum(one.points for one in lesson.exercises))}"
    if lesson.questions:
        points = points_in_words(sum(cell.points for cell in lesson.questions))
        what += f", and {counted(len(lesson.questions), 'question')} in your own words, {points}"
    return f"{time} {what}"


def minutes_of(lesson: Lesson) -> tuple[int, int]:
    """The minutes of the core path and of what goes further: exercises, and reading what is not their statements.

    What is folded is read by few. What stands below a heading that begins with *Further* is no part of the core path.
    """
    minutes = {False: 0.0, True: 0.0}
    for exercise in lesson.exercises:
        minutes[exercise.further] += exercise.minutes - _reading(exercise.statement)
    further, asked = False, {question.grade_id: question.minutes for question in lesson.questions}
    for cell in lesson.cells:
        further = further or (cell.kind is CellKind.PROSE and begins_further(cell.source))
        minutes[further] += asked.get(cell.grade_id, 0) or _minutes_at(cell)
    core, more = (_STEP * round(minutes[where] / _STEP + 0.3) for where in (False, True))
    return core, more


def _minutes_at(cell: Cell) -> float:
    """How long it takes to read a cell."""
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
        if exercise.heading is None:
            yield LessonError(
                f"{exercise.id}: no heading above its TODO cell says its title, difficulty and minutes",
                exercise.answer.place,
                "write above it '### Exercise: <title>', and below that 'easy · 5 min' (or medium, or hard)",
            )
    for question in lesson.questions:
        if question.heading is None:
            yield LessonError(
                f"{question.grade_id}: nothing right above it asks for it",
                question.place,
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
    quotes = list(chain.from_iterable(mutant.breaks for mutant in exercise.mutants))
    none = [quote for quote, _ in nothing_to_break(lesson.path.parent / exercise.id)]
    broken, unbroken = [], []
    for sentence in sentences(exercise.statement):
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
    text = " ".join(sentences(exercise.statement))
    said: list[tuple[str, str]] = []
    for mutant in exercise.mutants:
        said += [(quote, mutant.place) for quote in mutant.breaks]
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
    check_lines = path.read_text(encoding="utf-8").count("\n") if path.exists() else 0
    there = {
        "words": round(sum(map(words_in, sentences(exercise.statement)))),
        "demands": demands_of(lesson, exercise).count,
        "mutants": len(exercise.mutants),
        "check_lines": check_lines,
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
