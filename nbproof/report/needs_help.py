"""Learners who need help: why, and who first. An instructor has time for some conversations, not for a third of a class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbproof.display.help import all_hints
from nbproof.gradebook.marks import ClassLesson, ClassResults, Mark
from nbproof.key import Key
from nbproof.marking.results import FAULTS
from nbproof.values.results import Status

__all__ = ["needs_help"]

_FEW, _VERY_FEW = 0.5, 0.25
_MUCH_UNTOUCHED = 1 / 3


@dataclass(frozen=True)
class _Usual:
    """What is usual in the class."""

    expected: tuple[ClassLesson, ...]
    """Lessons that at least half of the class handed in."""
    shares: Mapping[str, float]
    """Learner -> points earned by points to earn."""
    more_time: frozenset[Key]
    """(learner, lesson) of what may come later than the class's."""


_Reason = tuple[float, str]
"""How much it weighs, and what it is."""


def needs_help(results: ClassResults) -> list[dict[str, Any]]:
    """A row for everybody with at least one reason, most urgent first; each rule below is one. A tenth of the class, 5 to 12
    learners, come first.

    ``share``: points earned by points to earn; what was not handed in counts as 0. ``urgency`` has no unit.
    """
    by_learner: dict[str, list[Mark]] = {person.id: [] for person in results.people}
    for (learner, _), mark in results.marks.items():
        by_learner[learner].append(mark)
    usual = _usual(results, by_learner)
    found: list[dict[str, Any]] = []
    for learner, mine in by_learner.items():
        told = [rule(learner, mine, usual) for rule in _RULES]
        reasons = sorted([reason for reason in told if reason is not None], reverse=True)
        if reasons:
            urgency = round(sum(weight for weight, _ in reasons), 3)
            row = {"learner": learner, "urgency": urgency, "share": usual.shares[learner]}
            found.append({**row, "reasons": [why for _, why in reasons], "talk_about": _misconceptions(mine)})
    found.sort(key=lambda row: (-row["urgency"], row["learner"]))
    most = min(12, max(5, len(by_learner) // 10))
    return [{**row, "first": place < most} for place, row in enumerate(found)]


def _usual(results: ClassResults, by_learner: Mapping[str, Sequence[Mark]]) -> _Usual:
    handed = Counter(lesson for _, lesson in results.marks)
    expected = tuple(one for one in results.lessons if handed[one.slug] * 2 >= len(by_learner))
    shares = {}
    for learner, mine in by_learner.items():
        due = [one for one in expected if (learner, one.slug) not in results.more_time]
        shares[learner] = _share(mine, results.lessons, due)
    return _Usual(expected, shares, results.more_time)


def _share(mine: Sequence[Mark], lessons: Sequence[ClassLesson], expected: Sequence[ClassLesson]) -> float:
    """In what most of the class or the learner handed in; what the learner did not counts as 0."""
    counted = {mark.lesson for mark in mine if not mark.problem} | {lesson.slug for lesson in expected}
    most = sum(lesson.max_score for lesson in lessons if lesson.slug in counted)
    return sum(mark.score for mark in mine) / (most or 1.0)


def _missing(learner: str, mine: Sequence[Mark], usual: _Usual) -> list[str]:
    there = {mark.lesson for mark in mine} | {lesson for who, lesson in usual.more_time if who == learner}
    return [lesson.slug for lesson in usual.expected if lesson.slug not in there]


def _few_points(learner: str, mine: Sequence[Mark], usual: _Usual) -> _Reason | None:
    """Less than half of the points."""
    share, missing = usual.shares[learner], _missing(learner, mine, usual)
    if share >= _FEW or not (mine or missing):
        return None
    # What was not handed in counts as 0: whoever reads the share should know.
    told = f"{share:.0%} of the points"
    if missing and _stays_away(learner, mine, usual) is None:
        told += f", without {', '.join(missing)}"
    return (_FEW - share) * 6 + (share < _VERY_FEW), told


def _stays_away(learner: str, mine: Sequence[Mark], usual: _Usual) -> _Reason | None:
    """The latest lesson is missing, or two are, although most of the class handed them in."""
    missing = _missing(learner, mine, usual)
    latest = bool(missing) and missing[-1] == usual.expected[-1].slug
    if len(missing) < 2 and not latest:
        return None
    return 1.5 * len(missing) / len(usual.expected) + 0.5, f"nothing handed in for {', '.join(missing)}"


def _leaves_much(learner: str, mine: Sequence[Mark], usual: _Usual) -> _Reason | None:
    """A third of the exercises or more are untouched."""
    untouched, of, rate = _unanswered(mine)
    if rate < _MUCH_UNTOUCHED:
        return None
    return 2 * rate, f"{untouched} of {of} exercises not answered"


def _is_stuck(learner: str, mine: Sequence[Mark], usual: _Usual) -> _Reason | None:
    """Two exercises or more never ended."""
    stuck = sum(outcome.status in FAULTS for mark in mine for outcome in mark.verdict.exercises)
    return (min(2.0, 0.4 * stuck), f"{stuck} exercises timed out or were killed") if stuck >= 2 else None


def _not_graded(learner: str, mine: Sequence[Mark], usual: _Usual) -> _Reason | None:
    """A submission could not be graded."""
    broken = [mark.lesson for mark in mine if mark.problem]
    return (0.5 + 0.5 * len(broken), f"could not be graded: {', '.join(broken)}") if broken else None


_RULES: tuple[Callable[[str, Sequence[Mark], _Usual], _Reason | None], ...] = (
    _few_points,
    _stays_away,
    _leaves_much,
    _is_stuck,
    _not_graded,
)


def _unanswered(mine: Sequence[Mark]) -> tuple[int, int, float]:
    """Exercises that were not answered, of how many, and the rate."""
    ended = [outcome.status for mark in mine for outcome in mark.verdict.exercises]
    untouched = ended.count(Status.NOT_ANSWERED)
    return untouched, len(ended), untouched / (len(ended) or 1)


def _misconceptions(mine: Sequence[Mark]) -> list[str]:
    """Their commonest."""
    counts = Counter[str]()
    for mark in mine:
        for outcome in mark.verdict.exercises:
            counts.update(set() if outcome.is_whole else set(outcome.hints))
    hints = all_hints()
    return [hints[key].name if key in hints else key for key, _ in counts.most_common(3)]
