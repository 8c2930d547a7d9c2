"""When something is due, as people write it: a date alone means its last second, and a time without a zone is UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from nbproof.errors import UsageError

__all__ = ["read_due"]

_DUE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]+(\d\d:\d\d(?::\d\d)?))? *(Z|[+-]\d\d:?\d\d|[A-Za-z][\w/+-]*)?")
_LAST_SECOND = time(23, 59, 59)


def read_due(text: str, place: str) -> datetime:
    """The time, in UTC. ``place``: the option or the command that it was given to. Raises UsageError."""
    found = _DUE.fullmatch(text.strip())
    try:
        if found is None:
            raise ValueError(text)
        day, clock, zone = found.groups()
        moment = time.fromisoformat(clock) if clock else _LAST_SECOND
        return datetime.combine(datetime.fromisoformat(day), moment, _zone(zone or "UTC")).astimezone(UTC)
    except (ValueError, KeyError, OSError, OverflowError):  # what zoneinfo raises for a zone that it does not know
        raise UsageError(
            f"{text!r} is no time",
            place,
            "write it as 2026-11-20 (the end of that day, in UTC) or '2026-11-20 18:00', with +01:00 or Europe/Berlin behind it "
            "for another zone",
        ) from None


def _zone(name: str) -> tzinfo:
    if name in {"Z", "UTC"}:
        return UTC
    if name[0] in "+-":
        offset = timedelta(hours=int(name[1:3]), minutes=int(name[-2:]))
        return timezone(offset if name[0] == "+" else -offset)
    return ZoneInfo(name)
