"""Learners who need help: why, and who first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from course.reporting.records import ClassRecords, Lesson, Work
from course.reporting.statistics import FAULTS

__all__ = ["Needy", "needs_help"]

_FEW, _VERY_FEW = 0.5, 0.25
_FALL = 0.25
_ALSO_HANDED_IN = 0.5


@dataclass(frozen=True)
class Needy:
    """A learner to talk to. ``urgency``: the higher, the sooner; it has no unit."""

    learner: str
    urgency: float
    share: float
    """Points earned by points to earn, over all lessons of the class; what was not handed in counts as 0."""
    reasons: tuple[str, ...]
    talk_about: tuple[str, ...]
    """Their commonest misconceptions."""


def needs_help(records: ClassRecords) -> list[Needy]:
    """Everybody with at least one reason, most urgent first.

    Reasons: less than half of the points; lessons that are missing although most of the class handed
    them in; a third of the exercises or more untouched; two exercises or more that never ended; at least 25 points of 100 less
    in the latest lesson than in the median of those before; submissions that could not be graded.
    """
    import numpy as np

    size = len(records.learners)
    handed = Counter(lesson for _, lesson in records.works)
    expected = [one for one in records.lessons if handed[one.slug] >= _ALSO_HANDED_IN * size]
    all_points = sum(lesson.max_score for lesson in expected)
    found = []
    for person in records.learners:
        works = {one.slug: work for one in records.lessons if (work := records.works.get((person.id, one.slug)))}
        share = _share(works, expected, all_points)
        reasons: list[tuple[float, str]] = []
        if all_points and share < _FEW:
            weight = (_FEW - share) * 6 + (1 if share < _VERY_FEW else 0)
            reasons.append((weight, f"{share:.0%} of the points"))
        missing = [lesson.slug for lesson in expected if lesson.slug not in works]
        if missing:
            reasons.append((1.5 * len(missing) / len(expected) + 0.5, f"nothing handed in for {', '.join(missing)}"))
        outcomes = [one for work in works.values() for one in work.outcomes]
        untouched = sum(one.status == "not answered" for one in outcomes)
        if outcomes and untouched >= len(outcomes) / 3:
            reasons.append((2 * untouched / len(outcomes), f"{untouched} of {len(outcomes)} exercises not answered"))
        stuck = sum(one.status in FAULTS for one in outcomes)
        if stuck >= 2:
            reasons.append((min(2.0, 0.4 * stuck), f"{stuck} exercises timed out or were killed"))
        graded = [work for _, work in sorted(works.items()) if not work.problem]
        if len(graded) >= 2:
            before = float(np.median([work.share for work in graded[:-1]]))
            fall = before - graded[-1].share
            if fall >= _FALL:
                told = f"falling: {before:.0%} before, {graded[-1].share:.0%} in {graded[-1].lesson}"
                reasons.append((2 * fall, told))
        broken = [work.lesson for work in works.values() if work.problem]
        if broken:
            reasons.append((0.5 + 0.5 * len(broken), f"could not be graded: {', '.join(broken)}"))
        if reasons:
            reasons.sort(key=lambda one: -one[0])
            urgency = round(sum(weight for weight, _ in reasons), 3)
            told_reasons = tuple(text for _, text in reasons)
            found.append(Needy(person.id, urgency, share, told_reasons, _misconceptions(list(works.values()))))
    return sorted(found, key=lambda one: (-one.urgency, one.learner))


def _share(works: dict[str, Work], expected: list[Lesson], all_points: float) -> float:
    slugs = {lesson.slug for lesson in expected}
    return sum(work.score for slug, work in works.items() if slug in slugs) / all_points if all_points else 0.0


def _misconceptions(works: list[Work]) -> tuple[str, ...]:
    from course.hints import all_hints

    counts = Counter(hint for work in works for one in work.outcomes if not one.whole for hint in set(one.hints))
    hints = all_hints()
    return tuple(hints[key].name if key in hints else key for key, _ in counts.most_common(3))
