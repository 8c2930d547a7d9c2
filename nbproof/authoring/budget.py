"""How much an exercise may be: of words that a learner reads, and of cases that its author keeps.

``course.toml`` says it for all lessons, and for one where that one needs more::

    [budget]
    words = 80
    demands = 4
    mutants = 30
    check_lines = 300
    hidden_share = 0.8  # of the mutants, how many must fail a hidden check
    06_capstones = { words = 120, demands = 6 }
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nbproof.authoring.demands import demands_of, sentences
from nbproof.authoring.headings import statement_of
from nbproof.authoring.lesson import Exercise, Lesson
from nbproof.errors import Violation
from nbproof.handed_out import CHECKS

__all__ = ["over_budget"]

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
                lesson.slug,
            )
