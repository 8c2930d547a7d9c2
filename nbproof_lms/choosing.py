"""Which of several copies counts: the last, or the last that was on time.

Where nothing says which is the last, none of them counts before a person has decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

__all__ = ["Copy", "CopyOrder", "choose", "compare"]


@dataclass(frozen=True)
class CopyOrder:
    """What says when a copy was handed in; 0 if nothing is known. Times are seconds since 1970.

    Of copies that two systems handed over only the times of handing in can be compared.
    """

    said: float = 0.0
    """By an LMS, or a timestamp that no learner wrote: the time of handing in."""
    attempt: int = 0
    """Canvas's counter of hand-ins, plus 1."""
    number: int = 0
    """Canvas's number of the file."""
    disk: float = 0.0
    """By the file's name, the file system or an archive's entry: the time of the last change."""
    inner: float = 0.0
    """By the entry in a learner's own archive."""
    copied: int = 0
    """``(2)`` in the file's name, as browsers count."""


@dataclass(frozen=True)
class Copy:
    """One copy of a learner's notebook. ``key`` is what the caller knows it by."""

    key: int
    sha256: str
    order: CopyOrder
    late: bool = False
    tier: int = 0
    """0: a notebook of this lesson. 1: of this lesson, no notebook. 2: Jupyter's own copy. 3: it cannot be told what it is."""
    here: bool = False
    """It is what lies in submitted/ now."""
    untouched: bool = False
    system: str = ""
    """Who handed it over: ``Canvas``, ``Moodle`` ...; empty for a plain folder, and for what a person put there."""


@dataclass(frozen=True)
class Choice:
    """The copy that counts, what became of the others (key -> status, sentence), and what a person should know."""

    chosen: Copy | None
    """None if nothing says which is the last, and none of them lies in submitted/: a person decides."""
    others: dict[int, tuple[str, str]] = field(default_factory=dict)
    remark: str = ""
    """Empty, or why a person should look."""


def compare(one: CopyOrder, other: CopyOrder) -> int:
    """1 if ``one`` is the later, -1 if it is the earlier, 0 if nothing tells."""
    pairs: list[tuple[float, float]] = [(one.said, other.said)]
    if one.number and other.number:
        pairs += [(one.attempt, other.attempt), (one.number, other.number)]
    # To two seconds, as archives and some disks note it.
    pairs += [
        (_rough(one.said or one.disk), _rough(other.said or other.disk)),
        (_rough(one.inner), _rough(other.inner)),
    ]
    for mine, theirs in pairs:
        if mine and theirs and mine != theirs:
            return 1 if mine > theirs else -1
    return (one.copied > other.copied) - (one.copied < other.copied)


def later(one: Copy, other: Copy) -> int:
    """As ``compare``; what says nothing about handing in decides nothing between two systems."""
    if one.system != other.system and not (one.order.said and other.order.said):
        return 0
    return compare(one.order, other.order)


def _last(copies: Sequence[Copy]) -> list[Copy]:
    """Those of which none is known to be later; several where nothing tells."""
    return [one for one in copies if not any(later(other, one) > 0 for other in copies)] or list(copies)


def _first(copies: Sequence[Copy]) -> list[Copy]:
    return [one for one in copies if not any(later(other, one) < 0 for other in copies)] or list(copies)


def _clocks_differ(copies: Sequence[Copy]) -> bool:
    """Whether several systems handed them over, and one of them does not say when: then nobody knows which was on time."""
    return len({copy.system for copy in copies}) > 1 and not all(copy.order.said for copy in copies)


def _rough(time: float) -> float:
    return time // 2 * 2


def choose(copies: Sequence[Copy], *, on_time: bool = False, by_hand: bool = False) -> Choice:
    """Choose among a learner's copies of one lesson. ``by_hand``: a person named what came, if it is one, as theirs."""
    others: dict[int, tuple[str, str]] = {}
    distinct = _distinct(copies, others)
    best = min(copy.tier for copy in distinct)
    able = [copy for copy in distinct if copy.tier == best]
    # What was handed out and came back with nothing filled in replaces no work, however late it came.
    worked = [copy for copy in able if not copy.untouched] or able
    punctual = [copy for copy in worked if not copy.late]
    by_date = on_time and not _clocks_differ(worked)
    all_late = by_date and not punctual
    able = _first(worked) if all_late else _last(punctual if by_date else worked)
    came = [copy for copy in able if not copy.here]
    if by_hand and len(came) == 1:
        able = came
    chosen = able[0] if len(able) == 1 else next((copy for copy in distinct if copy.here), None)
    unclear = [copy for copy in able if copy is not chosen]
    remark = ""
    if chosen is None:
        remark = f"nothing says which of {len(unclear)} copies is the last"
    elif any(copy.tier > best and later(copy, chosen) > 0 and copy.tier == 3 for copy in distinct):
        remark = "a later file cannot be read as this lesson"
    for copy in distinct:
        if copy is not chosen:
            others[copy.key] = _became(copy, chosen, unclear, by_date)
    return Choice(chosen, others, remark)


def _became(copy: Copy, chosen: Copy | None, unclear: Sequence[Copy], on_time: bool) -> tuple[str, str]:
    if copy in unclear:
        than = "another copy" if chosen is None else "the one in submitted/, which stays"
        return "order unknown", f"nothing says whether it came later than {than}"
    if chosen is None:
        # Those that wait are work on this lesson.
        chosen = unclear[0]
    if copy.tier == 2:
        return "checkpoint", ""
    if copy.untouched and not chosen.untouched and copy.tier == chosen.tier:
        return "untouched", "nothing is filled in; the copy that was worked on counts"
    if on_time and copy.late and not chosen.late:
        return "late", "a copy that was on time counts (--prefer on-time)"
    if chosen.tier < copy.tier == 3:
        return "earlier copy", "its content is of no lesson; another copy's is"
    if chosen.tier < copy.tier:
        return "earlier copy", "the notebook counts"
    if chosen.here:
        return "older than submitted", ""
    return "earlier copy", "the first copy counts, all are late" if on_time and chosen.late else ""


def _distinct(copies: Sequence[Copy], others: dict[int, tuple[str, str]]) -> list[Copy]:
    """One copy for the same bytes: the latest in order, the one in submitted/ where it is among them."""
    groups: dict[str, list[Copy]] = {}
    for copy in copies:
        groups.setdefault(copy.sha256, []).append(copy)
    found = []
    for group in groups.values():
        latest = group[0]
        for copy in group[1:]:
            if copy.tier < latest.tier or (copy.tier == latest.tier and compare(copy.order, latest.order) > 0):
                latest = copy
        here = next((copy for copy in group if copy.here), None)
        keep = replace(latest, key=here.key, here=True) if here else latest
        punctual = all(copy.late for copy in group)
        found.append(replace(keep, late=punctual))
        for copy in group:
            if copy.key != keep.key:
                others[copy.key] = ("already there", "") if here else ("identical copy", "")
    return found
