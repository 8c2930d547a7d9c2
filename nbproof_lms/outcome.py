"""What became of every file of an upload: in memory, and as the lists in ``collected/`` keep it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from nbproof.files import replace_file
from nbproof.key import Key, assignment_of
from nbproof.places import places

__all__ = [
    "NEEDS_NOBODY",
    "PLACED",
    "STANDS",
    "STATUSES",
    "Collected",
    "KeptUpload",
    "Line",
    "broken_off",
    "digest_in",
    "lines_in",
    "meant_in",
    "uploads_in",
    "write_list",
]

STATUSES = {
    "taken": "in submitted/",
    "already there": "submitted/ holds these bytes",
    "data file": "beside the notebook that it came with",
    "earlier copy": "another copy counts",
    "waits": "nothing says which copy is the last: it waits for you",
    "no lesson known": "its content is of no lesson, or of another one",
    "no learner known": "nothing says who handed it in, or several things do",
    "no notebook": "the learner handed in no notebook with it",
    "unsafe path": "its name leads out of the upload",
    "not read": "it cannot be opened or unpacked, or would be too large",
    "removed": "`roster remove` took it out; `collect FILE --learner NAME` has it count",
    "settled": "you have seen it, and `settle` has noted that",
    "test student": "the LMS's own student for tests has handed it in, and no learner",
    "junk": "made by a system, not by a learner",
}
"""What may become of a file, and what that means."""

STANDS = frozenset({"taken", "already there"})
"""A notebook that lies in submitted/ afterwards."""

PLACED = STANDS | {"data file"}
"""What lies in submitted/ afterwards."""

NEEDS_NOBODY = PLACED | {"earlier copy", "removed", "settled", "test student", "junk"}


@dataclass(frozen=True)
class Line:
    """One file that came, and what became of it. ``why`` is one sentence; ``look`` says that a person should look at it.

    ``time``: when it was handed in, UTC, if an LMS says it. ``late``: whether the LMS calls it late. ``said``: the LMS's
    time, where it cannot be read. ``kept``: where the
    byte-exact copy lies, relative to the upload's folder in collected/; empty if only the archive holds it. ``number``: the
    LMS's number of what was handed in, which grows; 0 if there is none. ``changed``: the file's last change, on a disk or by
    the innermost archive that tells, in seconds since 1970, or 0: it puts a learner's copies in order, and dates nothing.
    ``account``: the LMS and its own number of the learner: ``Canvas:123``. ``system``: the LMS that handed it over, if it was
    one. ``by_hand``: A person named it as the learner's, so it counts where nothing else tells. ``beside``: of a data file: its
    name beside the notebook. ``folder``: name of the folder in collected/ that keeps the upload.
    """

    name: str = ""
    status: str = ""
    why: str = ""
    learner: str = ""
    lesson: str = ""
    time: datetime | None = None
    late: bool = False
    said: str = ""
    look: bool = False
    sha256: str = ""
    kept: str = ""
    number: int = 0
    changed: float = 0.0
    account: str = ""
    system: str = ""
    by_hand: bool = False
    beside: str = ""
    folder: str = ""

    @property
    def key(self) -> Key:
        """The learner and the lesson."""
        return Key(self.learner, self.lesson)

    @property
    def file(self) -> tuple[str, str, str]:
        """What is the same wherever the learner's file comes again, in another upload as well."""
        return self.learner, self.name, self.sha256

    @property
    def place(self) -> str:
        """Where the copy lies, relative to the course's folder."""
        return f"collected/{self.folder}/{self.kept}"

    @property
    def needs_person(self) -> bool:
        """Whether nobody but a person can say what to do with it, or should know of it."""
        return self.look or self.status not in NEEDS_NOBODY

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        time = self.time and self.time.isoformat()
        return {**asdict(self), "time": time, "needs_person": self.needs_person}


@dataclass(frozen=True)
class KeptUpload:
    """One thing that was collected, and what became of each file of it.

    ``upload``: what it was called. ``folder``: name of the folder in collected/ that keeps it. ``handed_in_for``: the
    lesson that a person named, or the assignment of several; empty if none. ``unfinished``: whether its files were on their way
    into submitted/ when the list was written.
    """

    upload: str
    fingerprint: str
    folder: str
    handed_in_for: str = ""
    lines: tuple[Line, ...] = ()
    unfinished: bool = False


@dataclass(frozen=True)
class Collected:
    """What a call of ``collect`` did. ``notes`` are sentences for the person who called it."""

    uploads: tuple[KeptUpload, ...]
    notes: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every file that came."""
        return tuple(line for upload in self.uploads for line in upload.lines)

    @property
    def needs_person(self) -> tuple[Line, ...]:
        """What a person has to look at."""
        return tuple(line for line in self.lines if line.needs_person)

    @property
    def counts(self) -> dict[str, int]:
        """How many files became what, in the order of STATUSES."""
        found = Counter(line.status for line in self.lines)
        return {status: found[status] for status in STATUSES if found[status]}

    def as_dict(self) -> dict[str, Any]:
        """For JSON: counts first, then every file."""
        return {
            "counts": self.counts,
            "needs_person": len(self.needs_person),
            "uploads": [upload.folder or upload.upload for upload in self.uploads],
            "notes": list(self.notes),
            "files": [line.as_dict() for line in self.lines],
        }


def uploads_in(root: Path) -> Iterator[KeptUpload]:
    """Every upload, in the order of arrival. An upload with a list that cannot be read is passed over."""
    for path in sorted((root / "collected").glob("*/list.json")):
        folder = path.parent.name
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            lines = tuple(_line(one, folder) for one in told["files"] if isinstance(one, dict))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
        name, fingerprint, lesson = (str(told.get(word) or "") for word in ("upload", "fingerprint", "handed_in_for"))
        yield KeptUpload(name, fingerprint, folder, lesson, lines, told.get("unfinished") is True)


_KINDS: dict[str, Any] = {one.name: type(one.default) for one in fields(Line)}


def _line(told: dict[str, Any], folder: str) -> Line:
    """A line of a list; what it does not say as it should is left out."""
    known = {name: value for name, value in told.items() if name in _KINDS and isinstance(value, _KINDS[name])}
    time = datetime.fromisoformat(told["time"]) if told.get("time") else None
    return replace(Line(**known), time=time, folder=folder)


def write_list(folder: Path, upload: KeptUpload) -> None:
    """Write an upload's list into its folder, whole or not at all. Raises OSError."""
    told = {
        "upload": upload.upload,
        "fingerprint": upload.fingerprint,
        "handed_in_for": upload.handed_in_for,
        "unfinished": upload.unfinished,
        "files": [line.as_dict() for line in upload.lines],
    }
    replace_file(folder / "list.json", json.dumps(told, indent=1))


def broken_off(root: Path) -> Iterator[tuple[KeptUpload, list[Line]]]:
    """Each upload that was cut off on its way into ``submitted/``, with the notebooks that are not there yet."""
    for upload in uploads_in(root):
        if upload.unfinished:
            taken = (line for line in upload.lines if line.status == "taken")
            yield upload, [line for line in taken if digest_in(root, *line.key) != line.sha256]


def lines_in(root: Path) -> Iterator[Line]:
    """Every file that ever came."""
    for upload in uploads_in(root):
        yield from upload.lines


def meant_in(root: Path) -> Iterator[tuple[Line, Key]]:
    """Every file that ever came, with its learner and lesson. If only its assignment is known: for each notebook of it. Where an
    upload says no lesson, another one may, in which the same file came."""
    known = places(root).lessons()
    came = [(line, line.lesson or upload.handed_in_for) for upload in uploads_in(root) for line in upload.lines]
    said = {line.file: asked for line, asked in came if asked}
    for line, asked in came:
        meant = asked or said.get(line.file, "")
        lessons = [one for one in known if meant in (one, assignment_of(one))] or [meant]
        yield from ((line, Key(line.learner, one)) for one in lessons)


def digest_in(root: Path, learner: str, lesson: str) -> str:
    """The digest of the notebook in ``submitted/``; empty if there is none."""
    path = places(root).notebook("submitted", learner, lesson)
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
