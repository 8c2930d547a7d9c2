"""Learners who need help: why, and who first. An instructor has time for some conversations, not for a third of a class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from nbproof.marking.results import FAULTS, Score
from nbproof.report.records import ClassLesson, ClassRecords
from nbproof.values.results import Status

__all__ = ["Needy", "Sign", "needs_help"]

_FEW, _VERY_FEW = 0.5, 0.25
_FALL = 0.3
_FIRST_SHARE, _FIRST_LEAST, _FIRST_MOST = 10, 5, 12
"""Whom to talk to first: one of so many in the class, and how many at least and at most."""


class Sign(StrEnum):
    """A kind of reason, in words that follow a number of learners."""

    FEW_POINTS = "with few points"
    MISSING = "with lessons missing"
    UNTOUCHED = "who left much unanswered"
    STUCK = "whose code often never ended"
    FALLING = "who fell behind"
    UNGRADED = "with something that could not be graded"


@dataclass(frozen=True)
class Needy:
    """A learner to talk to. ``urgency``: the higher, the sooner; it has no unit."""

    learner: str
    urgency: float
    share: float
    """Points earned by points to earn, in what most of the class or they handed in; what they did not counts as 0."""
    reasons: tuple[str, ...]
    talk_about: tuple[str, ...]
    """Their commonest misconceptions."""
    signs: tuple[Sign, ...] = ()
    """The kind of each reason, in the same order: the weightiest first."""
    first: bool = False
    """Whether they are among those to talk to first."""


def needs_help(records: ClassRecords) -> list[Needy]:
    """Everybody with at least one reason, most urgent first.

    Reasons: less than a quarter of the points, or less than half and among the lowest quarter of the class; the latest
    lesson is missing, or two are, although most of the class handed them in; a third of the exercises or more
    untouched, and at most a quarter of the class leave so many; two exercises or more that never ended; falling: in
    the latest lesson 30 points of 100 less than before, when the class's own ups and downs are taken off; a submission
    that could not be graded. A tenth of the class, 5 to 12 learners, come first.
    """
    import numpy as np

    size = len(records.learners)
    handed = Counter(lesson for _, lesson in records.works)
    expected = [one for one in records.lessons if handed[one.slug] * 2 >= size]
    all_points = sum(lesson.max_score for lesson in expected)
    usual = {
        one.slug: float(np.median([work.share for work in records.of_lesson(one.slug)] or [0.0]))
        for one in records.lessons
    }
    by_learner: dict[str, dict[str, Score]] = {person.id: {} for person in records.learners}
    for (learner, slug), work in sorted(records.works.items()):
        by_learner[learner][slug] = work
    shares = {learner: _share(works, records.lessons, expected) for learner, works in by_learner.items()}
    low = float(np.quantile(list(shares.values()), 0.25)) if shares else 0.0
    many = float(np.quantile([_untouched(works)[2] for works in by_learner.values()], 0.75)) if by_learner else 0.0
    found = []
    for learner, works in by_learner.items():
        share = shares[learner]
        missing = [lesson.slug for lesson in expected if lesson.slug not in works]
        stays_away = len(missing) > 1 or bool(missing and missing[-1] == expected[-1].slug)
        reasons: list[tuple[float, Sign, str]] = []
        if all_points and (share < _VERY_FEW or (share < _FEW and share <= low)):
            weight = (_FEW - share) * 6 + (1 if share < _VERY_FEW else 0)
            # What was not handed in counts as 0: whoever reads the share should know.
            why = f", without {', '.join(missing)}" if missing and not stays_away else ""
            reasons.append((weight, Sign.FEW_POINTS, f"{share:.0%} of the points{why}"))
        if stays_away:
            weight = 1.5 * len(missing) / len(expected) + 0.5
            reasons.append((weight, Sign.MISSING, f"nothing handed in for {', '.join(missing)}"))
        untouched, of, rate = _untouched(works)
        if of and rate >= 1 / 3 and rate >= many:
            reasons.append((2 * rate, Sign.UNTOUCHED, f"{untouched} of {of} exercises not answered"))
        stuck = sum(one.status in FAULTS for work in works.values() for one in work.verdict.exercises)
        if stuck >= 2:
            reasons.append((min(2.0, 0.4 * stuck), Sign.STUCK, f"{stuck} exercises timed out or were killed"))
        graded = [work for work in works.values() if not work.problem]
        if len(graded) > 1:
            against = [work.share - usual[work.lesson] for work in graded]
            before = float(np.median([work.share for work in graded[:-1]]))
            fall = float(np.median(against[:-1])) - against[-1]
            if fall >= _FALL and graded[-1].share < before:
                told = f"falling: {before:.0%} before, {graded[-1].share:.0%} in {graded[-1].lesson}"
                reasons.append((2 * fall, Sign.FALLING, told))
        broken = [work.lesson for work in works.values() if work.problem]
        if broken:
            reasons.append((0.5 + 0.5 * len(broken), Sign.UNGRADED, f"could not be graded: {', '.join(broken)}"))
        if reasons:
            reasons.sort(key=lambda one: -one[0])
            urgency = round(sum(weight for weight, _, _ in reasons), 3)
            told_reasons, signs = tuple(text for _, _, text in reasons), tuple(sign for _, sign, _ in reasons)
            about = _misconceptions(list(works.values()))
            found.append(Needy(learner, urgency, share, told_reasons, about, signs))
    found.sort(key=lambda one: (-one.urgency, one.learner))
    most = min(_FIRST_MOST, max(_FIRST_LEAST, size // _FIRST_SHARE))
    return [replace(one, first=place < most) for place, one in enumerate(found)]


def _untouched(works: dict[str, Score]) -> tuple[int, int, float]:
    """Exercises that were not answered, of how many, and the rate."""
    ended = [one.status for work in works.values() for one in work.verdict.exercises]
    untouched = ended.count(Status.NOT_ANSWERED)
    return untouched, len(ended), untouched / len(ended) if ended else 0.0


def _share(works: dict[str, Score], lessons: Sequence[ClassLesson], expected: Sequence[ClassLesson]) -> float:
    counted = {slug for slug, work in works.items() if not work.problem} | {lesson.slug for lesson in expected}
    most = sum(lesson.max_score for lesson in lessons if lesson.slug in counted)
    return sum(work.score for work in works.values()) / most if most else 0.0


def _misconceptions(works: list[Score]) -> tuple[str, ...]:
    from nbproof.display.help import all_hints

    counts = Counter(
        hint for work in works for one in work.verdict.exercises if not one.is_whole for hint in set(one.hints)
    )
    hints = all_hints()
    return tuple(hints[key].name if key in hints else key for key, _ in counts.most_common(3))
