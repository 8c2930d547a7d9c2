"""Who was late, how late, and what that cost: in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from nbproof.marking.results import Score
from nbproof.text import printable

__all__ = ["how_late", "late_lines", "latecomers", "some"]

_SHOWN = 20


def late_lines(scores: Sequence[Score]) -> list[str]:
    """Who was late, how late, and what that costs."""
    late = [score for score in scores if score.late and not score.problem]
    return [
        f"(l) late: {lesson}: {latecomers(score for score in late if score.lesson == lesson)}"
        for lesson in sorted({score.lesson for score in late})
    ]


def latecomers(late: Iterable[Score]) -> str:
    """Who was how late, the latest first, and what it costs; of whom only the LMS tells that, together."""
    told, together = [], defaultdict[str, list[str]](list)
    for one in sorted(late, key=lambda one: (-one.seconds_late, one.learner)):
        how, cost = (
            how_late(one.seconds_late, one.said_late, one.extended),
            f" (-{one.penalty:g})" if one.penalty else "",
        )
        if one.said_late:
            together[how].append(one.learner + cost)
        else:
            told.append(f"{one.learner} {how}{cost}")
    lists = [some(told)] if told else []
    return "; ".join([*lists, *(f"{some(names)} {how}" for how, names in together.items())])


def how_late(seconds: float, said: bool = False, extended: bool = False) -> str:
    """In words. ``said``: only the LMS's word tells of it. ``extended``: the learner had more time than the class."""
    if said and seconds > 0:
        return "at least 1 s (the LMS says late, not when)"
    if said and extended:
        return "(the LMS says so, not when: perhaps within the extension)"
    if said:
        return "(the LMS says so, no due date is set)"
    minutes = int(seconds // 60)
    parts = [(minutes // 1440, "d"), (minutes // 60 % 24, "h"), (minutes % 60, "min")]
    told = [f"{count} {unit}" for count, unit in parts if count][:2]
    return " ".join(told) or f"{seconds:.0f} s"


def some(names: Sequence[str]) -> str:
    """Names for a terminal, of very many the first."""
    shown = [printable(name) for name in names[:_SHOWN]]
    return ", ".join(shown) + (
        f" and {len(names) - _SHOWN} more (report and --json name all)" if len(names) > _SHOWN else ""
    )
