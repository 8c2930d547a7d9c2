"""What the place and name of a file say: Canvas, Moodle, Classroom, Blackboard, nbgrader, or a plain folder.

Nothing here decides: a file's name says whose it *may* be, which lesson it was handed in for, and when.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import PurePosixPath
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from nbproof.collect.names import COPY, NOBODY, TASK, bare
from nbproof.course_file import the_course
from nbproof.values.leaf import leaf_words

__all__ = ["Pattern", "Said", "is_junk", "is_nobody", "lesson_named", "read_place", "read_time", "without_copy_marks"]


@dataclass(frozen=True)
class Said:
    """What place and name say of a file."""

    file: str
    """The name that the learner gave it."""
    names: tuple[str, ...] = ()
    """Who it may be of: with an LMS's pattern one name, else every folder's and the file's, outermost first."""
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
    """Where the LMS's own pattern stands: the folder above it, in which its numbers mean something."""
    hidden: bool = False
    """The LMS hides whose it is: the name stands for somebody in this one download only."""
    alone: tuple[tuple[str, str], ...] = ()
    """Those of the names that a file or an archive bears alone, and where it lies: they are a learner's only where
    others beside it are named so, or where the learner is known."""
    named: datetime | None = None
    """The time in the name that the learner gave it: it puts their copies in order, and dates nothing."""


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
_BLACKBOARD = re.compile(
    r"(?P<lesson>.{1,80}?)_(?P<name>[^_]{1,80})_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<rest>.+))?", re.DOTALL
)
_EXCHANGE = re.compile(r"(?P<name>[^+]+)\+(?P<lesson>[^+]+)\+(?P<time>\d{4}-[^+]+)(?:\+.*)?", re.DOTALL)
_CLASSROOM = re.compile(
    r"(?:(?:Copy of|Copie de|Copia de|Kopie von|Cópia de)\s+)?(?P<name>.{2,120}?) [-–] (?!(?:copy|kopie|copie)\b)(?P<rest>.+)",
    re.DOTALL | re.IGNORECASE,
)
_COPIES = "|".join(sorted(COPY, key=len, reverse=True))
_COPY_OF = re.compile(
    rf"^(?:(?:{_COPIES})\s*(?:\(\d{{1,3}}\)\s*)?(?:of|de|von|di|da|av|af|van|z|от|из)?(?:\s+|[-_–—]+))+", re.IGNORECASE
)
_COPY = re.compile(
    rf"(?:\s*\(\d{{1,3}}\)|\s*\((?:{_COPIES})\)|(?:\s*[-–—]\s*|[-_ ])(?:{_COPIES})\s?\d*)$", re.IGNORECASE
)
_ENDINGS = re.compile(
    r"(?:\.ipynb|\.eml|\.txt|\.json|\.html?|\.py|\.md|\.gz|\.zip|\.tar|\.tgz|\.7z|\.rar|\.xz|\.bz2)+$", re.IGNORECASE
)
_ENDING = re.compile(r"\.(?=\w*[A-Za-z])[A-Za-z0-9]{1,5}$")
_TIME = re.compile(r"(20\d\d)-?(\d\d)-?(\d\d)(?:[T_ -]+(\d\d)[-:.h]?(\d\d)(?:[-:.m]?(\d\d))?)?(?!\d)")
_ANONYMOUS = {"participant", "anonymous", "anon", "teilnehmer", "teilnehmerin", "user", "student"}


def read_place(
    parts: tuple[str, ...], lessons: list[str], titles: Sequence[str] = (), packed: Collection[int] = ()
) -> Said:
    """Read a file's path within the upload; archives in it count as folders.

    ``titles``: what lessons are called besides. ``packed``: which of the parts are archives.
    """
    folders, file = list(parts[:-1]), parts[-1]
    for at, part in enumerate(parts):
        rest, scope = parts[at + 1 :], "/".join(parts[:at])
        if found := _MOODLE.fullmatch(part):
            name = rest[-1] if rest else found["rest"] or part
            return _said(found["name"], found["account"], name, "Moodle", scope)
        if found := _CANVAS_ANONYMOUS.fullmatch(part):
            own = rest[-1] if rest else found["rest"] or part
            counters = (0, int(found["file"] or 0))
            return replace(
                _said(found["name"], "", own, "Canvas", scope, late=bool(found["late"]), counters=counters), hidden=True
            )
        if (found := _CANVAS.fullmatch(part)) or (found := _CANVAS_TEXT.fullmatch(part)):
            own = found["rest"]
            counter = re.search(r"-(\d{1,3})(?=(?:\.[^.]+)*$)", own)
            number = int(found.groupdict().get("file") or 0)
            return _said(
                found["name"], found["account"], rest[-1] if rest else own, "Canvas", scope,
                late=bool(found["late"]), counters=(int(counter[1]) if counter else 0, number),
            )  # fmt: skip
        if found := _BLACKBOARD.fullmatch(part):
            own = rest[-1] if rest else found["rest"] or part
            return _said(
                found["name"], "", own, "Blackboard", scope, lesson=found["lesson"], time=read_time(found["time"])
            )
        if (found := _EXCHANGE.fullmatch(part)) and (rest or _ENDINGS.search(part)):
            return _said(
                found["name"], "", file, "nbgrader", scope, lesson=found["lesson"], time=read_time(found["time"])
            )
    if (
        (found := _CLASSROOM.fullmatch(file))
        and not lesson_named(found["name"], lessons)
        and not is_nobody(found["name"])
    ):
        return _said(found["name"], "", found["rest"], "Classroom", "/".join(folders))
    lesson = next((name for part in reversed(folders) if (name := lesson_named(_ENDINGS.sub("", part), lessons))), "")
    called = [*lessons, *titles]
    names: dict[str, None] = {}
    alone: list[tuple[str, str]] = []
    for at, part in enumerate(folders):
        name, beside = _learner_in(part, called)
        # A folder that is called like the archive around it is the archive's.
        wrapped = at - 1 in packed and bare(part) == bare(without_copy_marks(parts[at - 1]))
        if name and name not in names and part[0] != "." and not wrapped:
            names[name] = None
            if at in packed and not beside:
                alone.append((name, f"archives in {'/'.join(parts[:at])}"))
    count = len(names)
    own, beside = _learner_in(file, called, is_file=True)
    if own and own not in names:
        names[own] = None
        if not beside:
            alone.append((own, f"files in {'/'.join(folders)}"))
    return Said(
        file, tuple(names), count, lesson=lesson, named=_own_time(file), scope="/".join(folders), alone=tuple(alone)
    )


def _said(
    name: str, account: str, file: str, system: str, scope: str, *, lesson: str = "",
    time: datetime | None = None, late: bool | None = None, counters: tuple[int, int] = (0, 0),
) -> Said:  # fmt: skip
    if bare(name) in _ANONYMOUS and account:
        name = f"{name} {account}"
    return Said(
        file, (" ".join(name.split()),), 0, account, lesson, time, late, counters, system, scope, named=_own_time(file)
    )  # fmt: skip


def _own_time(file: str) -> datetime | None:
    return read_time(file) if re.search(r"20\d\d-?\d\d-?\d\d[T_ -]+\d\d[-:.h]?\d\d", file) else None


def lesson_named(name: str, lessons: list[str]) -> str:
    """The lesson that a folder's or file's name is, apart from letter case and signs."""
    asked = bare(name)
    return next((lesson for lesson in lessons if bare(lesson) == asked), "")


def is_nobody(name: str, lessons: Iterable[str] = ()) -> bool:
    """Whether a name is one that no learner bears: ``submissions``, ``Untitled3``, ``final version``, ``Hand-in lesson 1``."""
    if not bare(name) or len(name) > 200:
        return True
    words = _words(name)
    course = the_course()
    own = {word for name in (course.says, course.name, *lessons) for word in _words(name)}
    return any(word in TASK or word in leaf_words().called for word in words) or all(
        word in NOBODY or word in own or (word.isdigit() and len(word) < 4) for word in words
    )


def _words(name: str) -> list[str]:
    # Composed: a letter and its accent apart would be two words.
    return re.findall(r"[^\W\d_]+|\d+", unicodedata.normalize("NFC", name.casefold()))


def without_copy_marks(name: str) -> str:
    """A file's name without endings, ``(1)``, ``Copy of`` and ``- Copy``."""
    stem = _COPY_OF.sub("", _ENDINGS.sub("", name))
    while (shorter := _COPY.sub("", _ENDINGS.sub("", stem))) != stem:
        stem = shorter
    return stem.strip()


def _learner_in(name: str, called: list[str], *, is_file: bool = False) -> tuple[str, bool]:
    """The learner that a name holds, and whether a lesson's stands beside it: ``02_sorting_jane.ipynb``."""
    # An ending that is none of a notebook's: a picture's, a document's.
    name = _ENDING.sub("", name) if is_file and not _ENDINGS.search(_COPY.sub("", name)) else name
    stem = without_copy_marks(name)
    if stem.endswith("-checkpoint"):
        stem = stem.removesuffix("-checkpoint")
    beside = False
    for lesson in sorted(called, key=len, reverse=True):
        loose = r"[\W_]*".join(re.escape(part) for part in re.split(r"[\W_]+", lesson) if part)
        if found := re.search(rf"(?<![^\W_]){loose}(?![^\W_])", stem, re.IGNORECASE):
            before, after = stem[: found.start()], stem[found.end() :]
            stem, beside = after if is_nobody(before, called) else before, True
            break
    stem = without_copy_marks(_TIME.sub("", stem)).strip(" _-–—.+")
    return ("", False) if is_nobody(stem, called) else (stem, beside)


def is_junk(parts: tuple[str, ...]) -> bool:
    """Whether a system made this file, not a learner."""
    name = parts[-1]
    if any(part in {"__MACOSX", "__pycache__", ".git", ".vscode", ".idea", ".venv", "$RECYCLE.BIN"} for part in parts):
        return True
    if name.lower() in {"thumbs.db", "desktop.ini", ".ds_store", "icon\r"} or name.startswith(("._", "~$", ".~")):
        return True
    return name.startswith(".") and ".ipynb" not in name.lower()


def read_time(text: str) -> datetime | None:
    """A time as people and systems write it, UTC if no zone is said. None if there is none."""
    found = _TIME.search(text)
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


class Pattern:
    """An instructor's own regular expression, with the groups learner (or student_id), timestamp, lesson, late."""

    def __init__(self, text: str) -> None:
        from nbproof.errors import UsageError

        again = "write one such as --pattern '(?P<lesson>[^_]+)_(?P<learner>[^_]+)_(?P<timestamp>[0-9-]+)'"
        try:
            self._pattern = re.compile(text)
        except re.error as error:
            raise UsageError(f"the pattern is no regular expression: {error}", text, again) from None
        if not {"learner", "student_id"} & set(self._pattern.groupindex):
            raise UsageError("the pattern has no group called learner", text, again)

    def read(self, parts: tuple[str, ...]) -> Said | None:
        """What the file's name says, or its whole path; None if the pattern does not match."""
        found = self._pattern.match(parts[-1]) or self._pattern.search("/".join(parts))
        if found is None:
            return None
        groups = {name: text or "" for name, text in found.groupdict().items()}
        learner = groups.get("learner") or groups.get("student_id", "")
        if not learner:
            return None
        late = bool(groups["late"]) if "late" in groups else None
        own = PurePosixPath(groups.get("file_id", "") or parts[-1]).name
        return Said(
            own, (learner,), lesson=groups.get("lesson", ""), time=read_time(groups.get("timestamp", "")), late=late,
            system="pattern", scope="/".join(parts[:-1]),
        )  # fmt: skip
