"""Times as people and programs write them: read where they mean one moment, and never guessed."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import product

from dateutil import parser, tz

__all__ = ["moment_in"]

_UNREAD = {
    "Unknown string format": "dates are not read in this form",
    "String does not contain a date": "it holds no date",
    "day is out of range for month": "the month has no such day",
    "hour must be in 0..23": "hours are 00 to 23, and the end of a day is 23:59",
}
"""What dateutil says -> what it means."""
_BLANKS = (datetime(2000, 1, 1), datetime(2004, 2, 2))
"""Two days of leap years with nothing in common: a text that leaves out a part of its date means another day beside each."""
_ZONE = re.compile(r"\s+([A-Za-z]+(?:/[\w+-]+)+)$")


def moment_in(text: str, end_of_day: bool = False, home: str = "UTC") -> datetime:
    """The moment that a text means, in UTC, by dateutil; without a zone it is UTC, as nbgrader has it.

    Raises ValueError, with the reason, for what has no date or time of day, or means several moments, or none.
    ``end_of_day``: a date alone means the last second of that day, and 23:59 the end of that minute.
    ``home``: the time zone that short names are taken from, such as CEST. They mean other times in other zones.
    """
    plain, zone = _without_zone(text)
    try:
        one = _time_in(plain, end_of_day, home)
        told = one if one.tzinfo else one.replace(tzinfo=zone)
        found: datetime = told.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(str(error)) from None
    except parser.ParserError as error:
        why = str(error.args[0]).removesuffix(": %s")
        raise ValueError(_UNREAD.get(why, why)) from None
    if not tz.datetime_exists(told) or (one.tzinfo is None and tz.datetime_ambiguous(told)):
        raise ValueError("the clocks are changed in that hour: no time is called so, or two are; say it in UTC")
    # Python's calendar ends with the year 9999; time zones must not lead beyond it.
    if not 1970 < found.year < 9000:
        raise ValueError(f"the year {found.year}")
    return found


def _without_zone(text: str) -> tuple[str, tzinfo]:
    """What stands before a zone's whole name, such as Europe/Berlin, and that zone; UTC where there is no such name."""
    named = _ZONE.search(text)
    plain, name = (text[: named.start()].strip(), named[1]) if named else (text.strip(), "UTC")
    zone = tz.gettz(name)
    if zone is None:
        raise ValueError(f"no time zone is called {name}")
    if (plain.isdigit() and len(plain) not in (8, 14)) or re.search(r"\d *[A-Z]{3,5}[+-]\d", plain):
        raise ValueError("programs read such times in several ways")
    return plain, zone


def _time_in(plain: str, end_of_day: bool, home: str) -> datetime:
    """The one time that a text means, with the zone that it states by an offset or a short name."""
    short: str | None = None

    def zone_of(name: str | None, offset: int | None) -> tzinfo | None:
        nonlocal short
        if offset is not None:
            return timezone(timedelta(seconds=offset))
        short = name
        return tz.gettz(home) if name else None

    read = _readings(plain, zone_of)
    late = parser.parse(plain, default=datetime(2000, 1, 1, 1), tzinfos=zone_of, yearfirst=True)
    missing = _missing(plain, zone_of)
    if len(missing) > 2:
        raise ValueError("it holds no date")
    if missing:
        raise ValueError(f"it does not say the {' and the '.join(missing)}")
    if len(read) > 1:
        several = sorted({f"{one:%Y-%m-%d}" for one in read})[:4]
        raise ValueError("it can be read as several: " + ", ".join(several))
    (one,) = read
    if short and one.tzname() != short:
        raise ValueError(f"no time is called {short} then in the time zone {home}")
    if late.hour != one.hour:
        if not end_of_day:
            raise ValueError("it has no time of day")
        one = one.replace(hour=23, minute=59)
    if end_of_day and (one.hour, one.minute, one.second) == (23, 59, 0):
        one = one.replace(second=59)
    return one


def _missing(text: str, zone_of: Callable[[str | None, int | None], tzinfo | None]) -> list[str]:
    """The parts of a date that a text does not have."""
    one, other = (parser.parse(text, default=blank, tzinfos=zone_of, yearfirst=True) for blank in _BLANKS)
    return [part for part in ("day", "month", "year") if getattr(one, part) != getattr(other, part)]


def _readings(text: str, zone_of: Callable[[str | None, int | None], tzinfo | None]) -> set[datetime]:
    """The times that a text means, in each order of day, month and year. It is one time if the text leaves no choice."""
    iso = re.match(r"(\d{4}-\d\d?-\d\d?|\d{8})(?!\d)", text)
    orders = [(False, True)] if iso else list(product((False, True), repeat=2))
    return {
        parser.parse(text, default=blank, tzinfos=zone_of, dayfirst=day, yearfirst=year)
        for (day, year), blank in product(orders, _BLANKS)
    }
