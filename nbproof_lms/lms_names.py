"""What an LMS calls what learners hand in: Canvas, Moodle, Classroom, Blackboard, a copy of nbgrader's exchange.

Nothing here decides: whether a name is an LMS's at all says the layout of the whole upload (``layouts``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from nbproof_lms.names import bare

__all__ = ["ENDINGS", "TIME", "Said", "own_time", "read_time", "readings"]


@dataclass(frozen=True)
class Said:
    """What place and name say of a file."""

    file: str
    """The name that the learner gave it."""
    names: tuple[str, ...] = ()
    """Who it may be of: with an LMS's name one, else every folder's and the file's, outermost first."""
    folders: int = 0
    """How many of the names are those of folders."""
    account: str = ""
    """The LMS's number of the learner."""
    lesson: str = ""
    """The lesson that a folder names, as it is written there."""
    time: datetime | None = None
    """When it was handed in, as the LMS or the instructor's pattern says."""
    late: bool | None = None
    """What the LMS says; None if it says nothing."""
    counters: tuple[int, int] = (0, 0)
    """Canvas's counter of hand-ins (``x-2.ipynb``), and its number of the file, which grows."""
    system: str = ""
    scope: str = ""
    """Where the LMS's name stands: the folder above it, in which its numbers mean something."""
    hidden: bool = False
    """The LMS hides whose it is: the name stands for somebody in this one download only."""
    alone: tuple[tuple[str, str], ...] = ()
    """Those of the names that a file or an archive bears alone, and where it lies: they are a learner's only where
    others beside it are named so, or where the learner is known."""
    named: datetime | None = None
    """The time in the name that the learner gave it: it puts their copies in order, and dates nothing."""
    around: str = ""
    """Who may have packed all of it: what the one folder around an LMS's names is called, or the upload itself."""
    deviates: str = ""
    """The LMS whose download it is, where this name is none that it gives."""


_CANVAS = re.compile(
    r"(?P<name>[^_]{1,120}?)(?P<late>_LATE)?_(?P<account>\d{1,20})_(?P<file>\d{1,20})_(?P<rest>.+)", re.DOTALL
)
_CANVAS_TEXT = re.compile(r"(?P<name>[^_]{1,120}?)(?P<late>_LATE)?_(?P<account>\d{1,20})_text(?P<rest>\.html?)")
_CANVAS_ANONYMOUS = re.compile(
    r"(?P<late>LATE_)?(?P<name>anon_[A-Za-z0-9]{5})_(?:(?P<file>\d{1,20})_(?P<rest>.+)|text\.html?)", re.DOTALL
)
_MOODLE = re.compile(
    r"(?P<name>.{1,200}?)_(?P<account>\d{1,20})_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)", re.DOTALL
)
_MOODLE_FOLDER = re.compile(
    # What a learner may choose stands before the number: the last one is Moodle's.
    r"(?P<name>.{1,200})_(?P<account>\d{1,20})_assignsubmission_(?:file|onlinetext)_?(?P<rest>)",
    re.DOTALL,
)
_BLACKBOARD = re.compile(
    r"(?P<lesson>.{1,80}?)_(?P<name>[^_]{1,80})_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<rest>.+))?", re.DOTALL
)
_EXCHANGE = re.compile(r"(?P<name>[^+]+)\+(?P<lesson>[^+]+)\+(?P<time>\d{4}-[^+]+)(?:\+.*)?", re.DOTALL)
_CLASSROOM = re.compile(
    r"(?:(?:Copy of|Copie de|Copia de|Kopie von|Cópia de)\s+)?(?P<name>.{2,120}?) [-–] (?!(?:copy|kopie|copie)\b)(?P<rest>.+)",
    re.DOTALL | re.IGNORECASE,
)
ENDINGS = re.compile(
    r"(?:\.ipynb|\.eml|\.txt|\.json|\.html?|\.py|\.md|\.gz|\.zip|\.tar|\.tgz|\.7z|\.rar|\.xz|\.bz2)+$", re.IGNORECASE
)
TIME = re.compile(r"(20\d\d)-?(\d\d)-?(\d\d)(?:[T_ -]+(\d\d)[-:.h]?(\d\d)(?:[-:.m]?(\d\d))?)?(?!\d)")
_ANONYMOUS = {
    "participant",
    "anonymous",
    "anon",
    "teilnehmer",
    "teilnehmerin",
    "user",
    "student",
    "participante",
    "partecipante",
    "deelnemer",
    "uczestnik",
    "ucastnik",
    "deltagare",
    "deltager",
    "osallistuja",
    "katilimci",
    "участник",
}
"""What Moodle calls somebody whose name it hides, in its languages."""


def readings(part: str, below: bool) -> Iterator[Said]:
    """What the name of a file, folder or archive says, as each LMS reads it that might have given it.

    ``below``: whether something lies in it.
    """
    found = (_MOODLE_FOLDER.fullmatch(part) if below else None) or _MOODLE.fullmatch(part)
    if found:
        yield _said("Moodle", found, part)
    if found := _CANVAS_ANONYMOUS.fullmatch(part):
        counters = (0, int(found["file"] or 0))
        yield _said("Canvas", found, part, late=bool(found["late"]), counters=counters, hidden=True)
    elif found := _CANVAS.fullmatch(part) or _CANVAS_TEXT.fullmatch(part):
        counter = re.search(r"-(\d{1,3})(?=(?:\.[^.]+)*$)", found["rest"])
        counters = (int(counter[1]) if counter else 0, int(found.groupdict().get("file") or 0))
        yield _said("Canvas", found, part, late=bool(found["late"]), counters=counters)
    if found := _BLACKBOARD.fullmatch(part):
        yield _said("Blackboard", found, part)
    if (found := _EXCHANGE.fullmatch(part)) and (below or ENDINGS.search(part)):
        yield _said("nbgrader", found, part)
    if found := _CLASSROOM.fullmatch(part):
        yield _said("Classroom", found, part)


def _said(
    system: str,
    found: re.Match[str],
    part: str,
    *,
    late: bool | None = None,
    counters: tuple[int, int] = (0, 0),
    hidden: bool = False,
) -> Said:
    groups = found.groupdict()
    name, account = found["name"], groups.get("account") or ""
    if bare(name) in _ANONYMOUS and account:
        name = f"{name} {account}"
    return Said(
        groups.get("rest") or part,
        (" ".join(name.split()),),
        account=account,
        lesson=groups.get("lesson") or "",
        time=read_time(groups.get("time") or ""),
        late=late,
        counters=counters,
        system=system,
        hidden=hidden,
    )


def own_time(file: str) -> datetime | None:
    """The time of a day that stands in a file's name."""
    return read_time(file) if re.search(r"20\d\d-?\d\d-?\d\d[T_ -]+\d\d[-:.h]?\d\d", file) else None


def read_time(text: str) -> datetime | None:
    """A time as people and systems write it, UTC if no zone is said. None if there is none."""
    found = TIME.search(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=_zone(text[found.end() :])).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _zone(text: str) -> tzinfo:
    """The zone that stands after a time: ``+01:00``, ``+0100``, ``CET``; UTC if none does."""
    found = re.match(r"[.,\d]*\s*(?:([+-])(\d\d):?(\d\d)|([A-Z]{3,4}))\s*$", text)
    if found and found[1]:
        offset = timedelta(hours=int(found[2]), minutes=int(found[3]))
        return timezone(offset if found[1] == "+" else -offset)
    try:
        return ZoneInfo(found[4]) if found and found[4] != "UTC" else UTC
    except (ZoneInfoNotFoundError, OSError):
        return UTC
