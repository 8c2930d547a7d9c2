"""How fast people have marked so far, by the times of the journal's lines.

From one line of a marker to their next one is work on what that next line tells of, unless it took so long that it was a pause.
What is at the end of a pause counts for nothing: nobody knows when work on it began.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

__all__ = ["Pace"]

_PAUSE = timedelta(minutes=5)
_ENOUGH = 10
"""Groups that have to be marked before a pace is told."""
_Place = tuple[str, str]


@dataclass
class _Spent:
    """Time that was spent on a question, and groups that wait no more since."""

    seconds: float = 0.0
    groups: int = 0


@dataclass
class Pace:
    """What the lines tell that were taken in. A question is known by its place."""

    _spent: dict[_Place, _Spent] = field(default_factory=lambda: defaultdict(_Spent))
    _last: dict[str, datetime] = field(default_factory=dict)

    def take_in(self, place: _Place, marker: str, time: datetime, groups: int) -> None:
        """A line. ``groups``: how many groups wait no more by it; less than 0 if they wait again."""
        before = self._last.get(marker)
        self._last[marker] = time
        if before is not None and timedelta() <= time - before <= _PAUSE:
            self._spent[place].seconds += (time - before).total_seconds()
            self._spent[place].groups += groups

    def seconds(self, places: Iterable[_Place]) -> float | None:
        """How long one group of these questions takes; None if too few were marked to say so."""
        spent = [self._spent[place] for place in places if place in self._spent]
        groups = sum(one.groups for one in spent)
        return sum(one.seconds for one in spent) / groups if groups >= _ENOUGH else None
