"""Who was late, how late, and what that cost: in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from nbproof.gradebook.marks import Lateness, Mark
from nbproof.text import duration, printable, some_of

__all__ = ["how_late", "late_lines", "latecomers", "some"]

_SHOWN = 20


def late_lines(marks: Iterable[Mark]) -> list[str]:
    """Of each lesson who was late, how late, and what that costs."""
    by_lesson: dict[str, list[Mark]] = defaultdict(list)
    for one in marks:
        if one.is_late and not one.problem:
            by_lesson[one.lesson].append(one)
    return [f"late: {lesson}: {latecomers(mine)}" for lesson, mine in sorted(by_lesson.items())]


def latecomers(late: Iterable[Mark]) -> str:
    """Who was how late, the latest first, and what it costs; of whom only the LMS tells that, together."""
    told, together = [], defaultdict[str, list[str]](list)
    for one in sorted(late, key=lambda one: (-one.late.seconds, one.learner)):
        how = how_late(one.late)
        cost = f" (-{one.penalty:g})" if one.penalty else ""
        if one.late.said:
            together[how].append(one.learner + cost)
        else:
            told.append(f"{one.learner} {how}{cost}")
    lists = [some(told)] if told else []
    return "; ".join([*lists, *(f"{some(names)} {how}" for how, names in together.items())])


def how_late(late: Lateness) -> str:
    """In words."""
    if late.said and late.seconds > 0:
        return "at least 1 s (the LMS says late, not when)"
    if late.said and late.extended:
        return "(the LMS says so, not when: perhaps within the extension)"
    if late.said:
        return "(the LMS says so, no due date is set)"
    return duration(late.seconds)


def some(names: Sequence[str]) -> str:
    """Names for a terminal, of very many the first."""
    told = some_of([printable(name) for name in names], _SHOWN)
    return f"{told} (report and --json name all)" if len(names) > _SHOWN else told
