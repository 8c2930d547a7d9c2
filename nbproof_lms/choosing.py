"""Which of several copies counts: the last. Where nothing says which is the last, none does before a person has decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

__all__ = ["Copy", "CopyOrder", "choose", "later"]


@dataclass(frozen=True)
class CopyOrder:
    """What says when a copy was handed in; 0 if nothing is known. Times are seconds since 1970."""

    said: float = 0.0
    """By an LMS: the time of handing in."""
    number: int = 0
    """The LMS's number of what was handed in, which grows."""
    disk: float = 0.0
    """The time of the file's last change, on this disk or in the archive."""


@dataclass(frozen=True)
class Copy:
    """One copy of a learner's notebook. ``key`` is what the caller knows it by."""

    key: int
    sha256: str
    order: CopyOrder
    tier: int = 0
    """0: a notebook of this lesson. 1: of this lesson, no notebook. 2: Jupyter's own copy. 3: it cannot be told what it is."""
    here: bool = False
    """It is what lies in submitted/ now."""
    untouched: bool = False
    """Nothing is filled in."""
    system: str = ""
    """Who handed it over: ``Canvas``, ``Moodle`` ...; empty for a plain folder, and for what a person put there."""


@dataclass(frozen=True)
class Choice:
    """The copy that counts, and what became of the others (key -> status, sentence)."""

    chosen: Copy | None
    """None if nothing says which is the last, and none of them lies in submitted/: a person decides."""
    others: dict[int, tuple[str, str]] = field(default_factory=dict)


def later(one: Copy, other: Copy) -> bool:
    """Whether a copy is known to be the later; what says nothing about handing in decides nothing between two systems."""
    mine, theirs = one.order, other.order
    if mine.said and theirs.said and mine.said != theirs.said:
        return mine.said > theirs.said
    if one.system != other.system:
        return False
    if mine.number and theirs.number:
        return mine.number > theirs.number
    # To two seconds, as archives and some disks note it.
    return bool(mine.disk and theirs.disk) and mine.disk // 2 > theirs.disk // 2


def choose(copies: Sequence[Copy], *, by_hand: bool = False) -> Choice:
    """Choose among a learner's copies of one lesson. ``by_hand``: a person named what came, if it is one, as theirs."""
    others: dict[int, tuple[str, str]] = {}
    distinct = _distinct(copies, others)
    able = _able(distinct)
    last = [copy for copy in able if not any(later(other, copy) for other in able)]
    came = [copy for copy in able if not copy.here]
    if by_hand and len(came) == 1:
        last = came
    chosen = last[0] if len(last) == 1 else next((copy for copy in distinct if copy.here), None)
    for copy in distinct:
        if copy is not chosen:
            others[copy.key] = _ending(copy, chosen, copy in last)
    return Choice(chosen, others)


def _able(copies: Sequence[Copy]) -> list[Copy]:
    """Those that may count: the best of what came."""
    best = min(copy.tier for copy in copies)
    able = [copy for copy in copies if copy.tier == best]
    # What was handed out and came back with nothing filled in replaces no work, however late it came.
    return [copy for copy in able if not copy.untouched] or able


def _ending(copy: Copy, chosen: Copy | None, may_be_last: bool) -> tuple[str, str]:
    if chosen is None and may_be_last:
        return "waits", "nothing says whether it came later than another copy"
    if may_be_last:
        return "waits", "nothing says whether it came later than the one in submitted/, which stays"
    if chosen is not None and copy.tier == 3 and later(copy, chosen):
        return "waits", "it came later, and cannot be read as this lesson; the copy before it counts meanwhile"
    return "earlier copy", ""


def _distinct(copies: Sequence[Copy], others: dict[int, tuple[str, str]]) -> list[Copy]:
    """One copy for the same bytes: the latest of them, the one in submitted/ where it is among them."""
    groups: dict[str, list[Copy]] = {}
    for copy in copies:
        groups.setdefault(copy.sha256, []).append(copy)
    found = []
    for group in groups.values():
        latest = group[0]
        for copy in group[1:]:
            if copy.tier < latest.tier or (copy.tier == latest.tier and later(copy, latest)):
                latest = copy
        here = next((copy for copy in group if copy.here), None)
        keep = replace(latest, key=here.key, here=True) if here else latest
        found.append(keep)
        ending = ("already there", "") if here else ("earlier copy", "the same bytes came twice")
        others.update({copy.key: ending for copy in group if copy.key != keep.key})
    return found
