"""Learners who need help: why, and who first. An instructor has time for some conversations, not for a third of a class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from nbproof.display.help import all_hints
from nbproof.gradebook.marks import ClassLesson, ClassResults, Mark
from nbproof.marking.results import FAULTS
from nbproof.values.results import Status

__all__ = ["needs_help"]

_FEW = 0.5


def needs_help(results: ClassResults) -> list[dict[str, Any]]:
    """A row for everybody who has less than half of the points, fewest first. A tenth of the class, 5 to 12 learners, come first.

    ``share``: points earned by points to earn, in lessons that at least half of the class or the learner handed in. What
    was not handed in, or could not be graded, counts as 0; while an extension runs it does not count.
    """
    handed_in = Counter(lesson for _, lesson in results.marks)
    usual = [one for one in results.lessons if handed_in[one.slug] * 2 >= len(results.people)]
    found = []
    for person in results.people:
        marks = [results.mark_of(person.id, lesson.slug) for lesson in results.lessons]
        mine = [mark for mark in marks if mark is not None]
        due = [one for one in usual if (person.id, one.slug) not in results.more_time]
        share = _share(mine, results.lessons, due)
        if share < _FEW:
            reasons = [f"{share:.0%} of the points", *_reasons(mine, due)]
            found.append(
                {"learner": person.id, "share": share, "reasons": reasons, "talk_about": _misconceptions(mine)}
            )
    found.sort(key=lambda row: (row["share"], row["learner"]))
    most = min(12, max(5, len(results.people) // 10))
    return [{**row, "first": place < most} for place, row in enumerate(found)]


def _share(mine: Sequence[Mark], lessons: Sequence[ClassLesson], due: Sequence[ClassLesson]) -> float:
    """1 for whoever has nothing to earn yet."""
    counted = {mark.lesson for mark in mine if not mark.problem} | {lesson.slug for lesson in due}
    most = sum(lesson.max_score for lesson in lessons if lesson.slug in counted)
    return sum(mark.score for mark in mine) / most if most else 1.0


def _reasons(mine: Sequence[Mark], due: Sequence[ClassLesson]) -> list[str]:
    """What has brought nothing."""
    there = {mark.lesson for mark in mine}
    ended = [outcome.status for mark in mine for outcome in mark.verdict.exercises]
    told = {
        "nothing handed in for {}": ", ".join(one.slug for one in due if one.slug not in there),
        "could not be graded: {}": ", ".join(mark.lesson for mark in mine if mark.problem),
        f"{{}} of {len(ended)} exercises not answered": ended.count(Status.NOT_ANSWERED),
        "{} exercises never ended": sum(status in FAULTS for status in ended),
    }
    return [reason.format(what) for reason, what in told.items() if what]


def _misconceptions(mine: Sequence[Mark]) -> list[str]:
    """Their commonest."""
    counts = Counter[str]()
    for mark in mine:
        for outcome in mark.verdict.exercises:
            if not outcome.is_whole:
                counts.update(set(outcome.hints))
    hints = all_hints()
    return [hints[key].name if key in hints else key for key, _ in counts.most_common(3)]
