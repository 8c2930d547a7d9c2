"""What became of every file of an upload: in memory, and as the lists in ``collected/`` keep it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from itertools import chain
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
    "FileRecord",
    "KeptUpload",
    "broken_off",
    "digest_in",
    "meant_in",
    "records_in",
    "uploads_in",
    "write_list",
]

STATUSES = {
    "taken": "in submitted/",
    "already there": "submitted/ holds these bytes",
    "data file": "beside the notebook that it came with",
    "earlier copy": "another copy counts",
    "not chosen": "a person chose the copy in submitted/",
    "waits": "nothing says which copy is the last: it waits for you",
    "another lesson": "its content is of another lesson than the one that it was handed in for",
    "no lesson known": "its content is of no lesson, or of several",
    "no learner known": "nothing says who handed it in, or several things do",
    "no notebook": "the learner handed in no notebook with it",
    "unsafe path": "its name leads out of the upload",
    "not read": "it cannot be opened or unpacked, or would be too large",
    "removed": "`roster remove` took it out; `collect` of the file itself with --learner NAME has it count",
    "settled": "you have seen it, and `settle` has noted that",
    "test student": "the LMS's own student for tests has handed it in, and no learner",
    "junk": "made by a system, not by a learner",
}
"""What may become of a file, and what that means."""

STANDS = frozenset({"taken", "already there"})
"""A notebook that lies in submitted/ afterwards."""

PLACED = STANDS | {"data file"}
"""What lies in submitted/ afterwards."""

NEEDS_NOBODY = PLACED | {"earlier copy", "not chosen", "removed", "settled", "test student", "junk"}


@dataclass(frozen=True)
class FileRecord:
    """One file that came, and what became of it. ``why`` is one sentence; ``look`` says that a person should look at it.

    ``time``: when it was handed in, UTC, if an LMS says it. ``late``: whether the LMS calls it late. ``said``: the LMS's time,
    if it cannot be read. ``lms_status``: what the LMS's table said of it last, such as ``Submitted - 2 days late``. ``kept``:
    the path of the byte-exact copy, relative to the upload's folder in collected/; empty if only the archive holds it.
    ``number``: the LMS's number of what was handed in, which grows; 0 if there is none. ``changed``: the file's last change in
    seconds since 1970, on a disk or by the innermost archive that tells it, or 0: it puts a learner's copies in order, and dates
    nothing. ``account``: the LMS and its own number of the learner: ``Canvas:123``. ``system``: the LMS that handed it over, if
    one did. ``by_hand``: a person has said that it is the learner's, so it counts if nothing else tells. ``aside``: it came from
    a copy that was put aside before. ``beside``: the name of a data file beside its notebook. ``folder``: the name of the folder
    in collected/ that keeps the upload.
    """

    name: str = ""
    status: str = ""
    why: str = ""
    learner: str = ""
    lesson: str = ""
    time: datetime | None = None
    late: bool = False
    said: str = ""
    lms_status: str = ""
    look: bool = False
    sha256: str = ""
    kept: str = ""
    number: int = 0
    changed: float = 0.0
    account: str = ""
    system: str = ""
    by_hand: bool = False
    aside: bool = False
    beside: str = ""
    folder: str = ""

    @property
    def key(self) -> Key:
        """The learner and the lesson."""
        return Key(self.learner, self.lesson)

    @property
    def file(self) -> tuple[str, str, str]:
        """Learner, name and digest: these are the same if the learner's file comes again in another upload."""
        return self.learner, self.name, self.sha256

    @property
    def path_in_course(self) -> str:
        """The path of the copy, relative to the course's folder."""
        return f"collected/{self.folder}/{self.kept}"

    @property
    def says_when(self) -> bool:
        """Whether it may say that a file was late: not if it came by mail or in a folder, unless a person chose it, or a run had
        put it aside as late."""
        return bool(self.system or self.by_hand or self.late)

    @property
    def needs_person(self) -> bool:
        """Whether a person has to decide about it, or should know of it."""
        return self.look or self.status not in NEEDS_NOBODY

    def as_dict(self) -> dict[str, Any]:
        """The record as JSON holds it: its fields, the time as text, and whether it needs a person."""
        time = self.time and self.time.isoformat()
        return {**asdict(self), "time": time, "needs_person": self.needs_person}


@dataclass(frozen=True)
class KeptUpload:
    """One upload that was collected, and what became of each of its files.

    ``upload``: its name. ``folder``: the name of the folder in collected/ that keeps it. ``handed_in_for``: the lesson or
    assignment that a person named; empty if nobody did. ``unfinished``: whether its files were on their way into submitted/
    when the list was written.
    """

    upload: str
    fingerprint: str
    folder: str
    handed_in_for: str = ""
    records: tuple[FileRecord, ...] = ()
    unfinished: bool = False


@dataclass(frozen=True)
class Collected:
    """What a call of ``collect`` did. ``notes`` are sentences for the person who called it."""

    uploads: tuple[KeptUpload, ...]
    notes: tuple[str, ...] = ()

    @property
    def records(self) -> tuple[FileRecord, ...]:
        """The records of all files that came."""
        return tuple(chain.from_iterable(upload.records for upload in self.uploads))

    @property
    def needs_person(self) -> tuple[FileRecord, ...]:
        """The records that a person has to look at."""
        return tuple(record for record in self.records if record.needs_person)

    @property
    def counts(self) -> dict[str, int]:
        """How many files became what, in the order of STATUSES."""
        found = Counter(record.status for record in self.records)
        return {status: found[status] for status in STATUSES if found[status]}

    def as_dict(self) -> dict[str, Any]:
        """What was collected as JSON holds it: counts first, then every file."""
        return {
            "counts": self.counts,
            "needs_person": len(self.needs_person),
            "uploads": [upload.folder or upload.upload for upload in self.uploads],
            "notes": list(self.notes),
            "files": [record.as_dict() for record in self.records],
        }


def uploads_in(root: Path) -> Iterator[KeptUpload]:
    """Every upload, in the order of arrival. An upload with a list that cannot be read is passed over."""
    for path in sorted((root / "collected").glob("*/list.json")):
        folder = path.parent.name
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            records = tuple(_record_in(one, folder) for one in told["files"] if isinstance(one, dict))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
        name, fingerprint, lesson = (str(told.get(word) or "") for word in ("upload", "fingerprint", "handed_in_for"))
        is_unfinished = told.get("unfinished") is True
        yield KeptUpload(name, fingerprint, folder, lesson, records, is_unfinished)


_KINDS: dict[str, Any] = {one.name: type(one.default) for one in fields(FileRecord)}


def _record_in(told: dict[str, Any], folder: str) -> FileRecord:
    """A file's record in a list, without fields that are no field of it, or have a value of another type."""
    known = {name: value for name, value in told.items() if isinstance(value, _KINDS.get(name, ()))}
    time = datetime.fromisoformat(told["time"]) if told.get("time") else None
    return replace(FileRecord(**known), time=time, folder=folder)


def write_list(folder: Path, upload: KeptUpload) -> None:
    """Write an upload's list into its folder, whole or not at all. Raises OSError."""
    told = {
        "upload": upload.upload,
        "fingerprint": upload.fingerprint,
        "handed_in_for": upload.handed_in_for,
        "unfinished": upload.unfinished,
        "files": [record.as_dict() for record in upload.records],
    }
    replace_file(folder / "list.json", json.dumps(told, indent=1))


def broken_off(root: Path) -> Iterator[tuple[KeptUpload, list[FileRecord]]]:
    """Each upload that was cut off on its way into ``submitted/``, with the notebooks that are not there yet."""
    for upload in uploads_in(root):
        if upload.unfinished:
            taken = (record for record in upload.records if record.status == "taken")
            yield upload, [record for record in taken if digest_in(root, *record.key) != record.sha256]


def records_in(root: Path) -> Iterator[FileRecord]:
    """The records of all files that ever came, in the order of arrival."""
    for upload in uploads_in(root):
        yield from upload.records


def meant_in(root: Path) -> Iterator[tuple[FileRecord, Key]]:
    """Every file that ever came, with its learner and each lesson that it may be for.

    If only its assignment is known, that is each notebook of the assignment. If nobody named the lesson of an upload, it is the
    one that all its notebooks are of, or another upload with the same file names it.
    """
    known = places(root).lessons()
    came: list[tuple[FileRecord, str]] = []
    for upload in uploads_in(root):
        lesson = _handed_in_for(upload)
        came += [(record, record.lesson or lesson) for record in upload.records]
    said = {record.file: lesson for record, lesson in came if lesson}
    for record, lesson in came:
        for one in _lessons_of(lesson or said.get(record.file, ""), known):
            yield record, Key(record.learner, one)


def _handed_in_for(upload: KeptUpload) -> str:
    """The lesson or assignment that an upload was handed in for; empty if it is not known."""
    found = {record.key.assignment for record in upload.records if record.lesson and record.status in STANDS}
    if upload.handed_in_for or len(found) != 1:
        return upload.handed_in_for
    return found.pop()


def _lessons_of(name: str, known: Sequence[str]) -> list[str]:
    """The lessons with this name, or of the assignment with it; the name itself if there are none."""
    return [one for one in known if name in (one, assignment_of(one))] or [name]


def digest_in(root: Path, learner: str, lesson: str) -> str:
    """The digest of the notebook in ``submitted/``; empty if there is none."""
    path = places(root).notebook("submitted", learner, lesson)
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
