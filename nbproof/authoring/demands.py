"""What a statement demands: each demand is asked by a check, or it is said why not.

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
from typing import Any

from nbproof.authoring.exercise_folder import nothing_to_break
from nbproof.authoring.headings import statement_of
from nbproof.authoring.lesson import Exercise, Lesson
from nbproof.errors import Violation
from nbproof.handed_out import CHECKS

__all__ = ["Demands", "demands_of", "over_budget", "sentences", "unbroken"]


_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.|\|)\s)")
_ENDS = re.compile(r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<=[.!?])[\"'*_)]*\s+(?=[A-Z`\"'*_(\[])")
_MARKUP = re.compile(
    r"```.*?```|<!--.*?-->|<summary>.*?</summary>|</?\w+[^>`]*>|^\s*\|.*\n\s*\|[ |:-]+\|\s*$", re.DOTALL | re.MULTILINE
)
_BULLET = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")


@dataclass(frozen=True)
class Demands:
    """The sentences of one statement."""

    broken: tuple[str, ...] = ()
    """A mutant quotes a part of each."""
    unbroken: tuple[str, ...] = ()
    nothing: int = 0
    """Questions, ways to a hint, and sentences that wrong.py says demand nothing."""

    @property
    def count(self) -> int:
        """How many demands there are."""
        return len(self.broken) + len(self.unbroken)


def sentences(statement: str) -> Iterator[str]:
    """The sentences, list items and rows of tables of a text in markdown, in one line each, without code blocks and tags."""
    for block in _BLOCK.split(_MARKUP.sub("\n", statement)):
        text = " ".join(_BULLET.sub("", block).strip(" |\n").split())
        if text and not text.startswith("#"):
            yield from _ENDS.split(text)


def demands_of(lesson: Lesson, exercise: Exercise) -> Demands:
    """What the statement demands, and what of it is broken by a mutant."""
    quotes = [quote for mutant in exercise.mutants for quote in mutant.breaks]
    none = [quote for quote, _ in nothing_to_break(lesson.path.parent / exercise.id)]
    broken, unbroken, nothing = [], [], 0
    for sentence in sentences(statement_of(lesson, exercise)):
        if _meets(sentence, quotes):
            broken.append(sentence)
        elif sentence.endswith("?") or "hint(" in sentence or _meets(sentence, none):
            nothing += 1
        else:
            unbroken.append(sentence)
    return Demands(tuple(broken), tuple(unbroken), nothing)


def _meets(sentence: str, quotes: Sequence[str]) -> bool:
    """Whether one of the quotes lies in the sentence, or the sentence in one of them."""
    return any(quote in sentence or sentence in quote for quote in quotes)


def unbroken(lesson: Lesson, exercise: Exercise) -> Iterator[Violation]:
    """Demands that no mutant breaks, and quotes that the statement does not hold."""
    for sentence in demands_of(lesson, exercise).unbroken:
        yield Violation(
            f"{exercise.id}: no mutant breaks this sentence of the statement: {sentence!r}",
            exercise.answer.place,
            f"write below a mutant's first line in {exercise.id}/wrong.py '# breaks: <a piece of it>', or, at the head of the "
            "file, '# nothing to break: <a piece of it>'; a demand that no check asks is to be asked, or to go",
        )
    text = " ".join(" ".join(sentences(statement_of(lesson, exercise))).split())
    said = [(quote, mutant.place) for mutant in exercise.mutants for quote in mutant.breaks]
    for quote, place in [*said, *nothing_to_break(lesson.path.parent / exercise.id)]:
        if quote not in text:
            yield Violation(
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


def over_budget(lesson: Lesson, exercise: Exercise, budget: Mapping[str, Any]) -> Iterator[Violation]:
    """What of an exercise is more than its lesson's budget allows."""
    path = lesson.path.parent / exercise.id / CHECKS
    there = {
        "words": sum(len(sentence.split()) for sentence in sentences(statement_of(lesson, exercise))),
        "demands": demands_of(lesson, exercise).count,
        "mutants": len(exercise.mutants),
        "check_lines": path.read_text(encoding="utf-8").count("\n") if path.exists() else 0,
    }
    for what, number in there.items():
        most = budget.get(what, number)
        if number > most:
            said = what.replace("_", " ")
            yield Violation(
                f"{exercise.id}: {number} {said}, at most {most} are allowed",
                exercise.answer.place,
                _CURES[what],
            )
