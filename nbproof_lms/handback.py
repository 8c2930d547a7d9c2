"""Feedback goes back to where the notebooks came from: zips that Moodle and Canvas take, or a table for a mail merge.

A second hand-back holds only what is new or has changed since, as ``handback/record.json`` says. Nothing that was written is ever
overwritten, because it may not have been uploaded yet.

What a page's name must begin with follows from what was collected, and each system says it (``System.feedback_start``).
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
from pathlib import Path

from nbproof.errors import CourseError
from nbproof.feedback.page_writer import page_path
from nbproof.files import replace_file, written_whole
from nbproof.gradebook.marks import Person
from nbproof.key import Key
from nbproof.report.findings import csv_of
from nbproof_lms.arrivals import safe_name
from nbproof_lms.outcome import Line, digest_in, uploads_in
from nbproof_lms.system import LmsEntry, System, systems

__all__ = [
    "Address",
    "HandedBack",
    "Parcel",
    "addresses",
    "hand_back",
    "is_in_parcels",
]


Address = str
"""What the name of a file begins with that the LMS is to give to a learner."""


def addresses(root: Path, system: System) -> dict[Key, Address]:
    """(learner, lesson) -> address in an LMS, of everybody for whom collected/ holds one.

    What came with the copy in submitted/ counts, the last of it: Canvas numbers every attempt anew. Where that copy came in
    another way, the address of another copy may be somebody else's. A number that two learners would have is nobody's.
    """
    found: dict[Key, tuple[tuple[bool, int], str, Address]] = {}
    came, others = set[Key](), set[Key]()
    held = cache(partial(digest_in, root))
    for line, asked in ((line, upload.handed_in_for) for upload in uploads_in(root) for line in upload.lines):
        # Whoever handed in a picture there, and sent the notebook later, is known there all the same.
        key = Key(line.learner, line.lesson or asked)
        if line.lesson and line.status != "data file":
            (came if line.sha256 == held(*key) else others).add(key)
        entry = _entry(line, system)
        start = system.feedback_start(entry) if entry is not None and all(key) else ""
        if entry is None or not start:
            continue
        when = (line.sha256 == held(*key), entry.number)
        if key not in found or found[key][0] <= when:
            found[key] = (when, entry.account, start)
    taken = Counter((lesson, account) for (_, lesson), (_, account, _) in found.items())
    unsure = {key for key in came & others if key in found and not found[key][0][0]}
    return {
        key: start for key, (_, account, start) in found.items() if taken[key[1], account] == 1 and key not in unsure
    }


def _entry(line: Line, system: System) -> LmsEntry | None:
    """What the LMS called the file. Whose number it is was settled when it was collected; the outermost name with it counts."""
    for part in filter(None, line.name.split("/")):
        entry = system.read(part)
        if entry is not None and f"{system.name}:{entry.account}" == line.account:
            return entry
    return None


_VARIES = re.compile(
    r'<meta name="course-feedback" content="[^"]*">|Graded \d{1,2} \w+ \d{4}, \d\d:\d\d UTC(?:, test cases of seed \d+)?\.'
)
"""What tells when and from what a page was made, and nothing about the learner's work."""


@dataclass(frozen=True)
class Parcel:
    """One file to upload, or a table to mail from."""

    path: Path
    keys: tuple[Key, ...]


@dataclass(frozen=True)
class HandedBack:
    """What a hand-back did.

    ``unchanged``: pages that were handed back before, and say the same now. ``nowhere``: whose pages nothing says where the
    LMS takes them.
    """

    target: str
    parcels: tuple[Parcel, ...] = ()
    unchanged: int = 0
    nowhere: tuple[Key, ...] = ()


def hand_back(
    root: Path,
    target: str,
    keys: Iterable[Key],
    people: Sequence[Person],
    emails: Mapping[str, str],
    *,
    force: bool = False,
) -> HandedBack:
    """Write what ``target`` takes, of these pages; all of them with ``force``. Raises CourseError if it cannot be written."""
    folder = root / "handback"
    system = next((one for one in systems().values() if one.option == target), None)
    known = None if system is None else addresses(root, system)
    before = read_record(root).get(target, {})
    written = _written(root, keys)
    asked = {key: page for key, page in written.items() if known is None or key in known}
    pages = {key: page for key, page in asked.items() if force or before.get("/".join(key)) != _digest(page)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if known is not None:
            lessons = sorted({lesson for _, lesson in pages})
            parcels = [_zip(root, folder, target, lesson, pages, known) for lesson in lessons]
        else:
            parcels = [_mail_table(root, folder, pages, people, emails)] if pages else []
    except OSError as error:
        place = str(error.filename or folder)
        fact = f"what is to be handed back cannot be written: {error.strerror}"
        raise CourseError(fact, place, "mend that, then run the same command again") from None
    return HandedBack(target, tuple(parcels), len(asked) - len(pages), tuple(written.keys() - asked.keys()))


def _written(root: Path, keys: Iterable[Key]) -> dict[Key, bytes]:
    """The pages that there are, lesson by lesson."""
    paths = {key: page_path(root, *key) for key in sorted(keys, key=lambda key: (key[1], key[0]))}
    return {key: path.read_bytes() for key, path in paths.items() if path.is_file() and not path.is_symlink()}


def _digest(page: bytes) -> str:
    return hashlib.sha256(_VARIES.sub("", page.decode("utf-8", "replace")).encode()).hexdigest()


def _noted(root: Path, target: str, pages: Mapping[Key, bytes], path: Path) -> Parcel:
    """The parcel, in the record. One by one: what is cut off is handed back once more, and never forgotten."""
    record = read_record(root)
    record[target] = record.get(target, {}) | {"/".join(key): _digest(page) for key, page in pages.items()}
    replace_file(root / "handback" / _NAME, json.dumps(record, indent=1, sort_keys=True))
    return Parcel(path, tuple(pages))


def _zip(
    root: Path, folder: Path, target: str, lesson: str, pages: Mapping[Key, bytes], starts: Mapping[Key, Address]
) -> Parcel:
    """A lesson's pages in a zip, written whole or not at all."""
    mine = {key: page for key, page in pages.items() if key[1] == lesson}
    files = {f"{starts[key]}{safe_name(lesson)}_feedback.html": page for key, page in mine.items()}
    path = _free(folder, f"{target}-{safe_name(lesson)}", ".zip")
    with (
        written_whole(path) as fresh,
        zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, data in sorted(files.items()):
            archive.writestr(name, data)
    return _noted(root, target, mine, path)


_TABLE = ("learner", "first_name", "last_name", "email", "lesson", "path")


def _mail_table(
    root: Path, folder: Path, pages: Mapping[Key, bytes], people: Sequence[Person], emails: Mapping[str, str]
) -> Parcel:
    """A table that mail-merge programs take: who gets which page of feedback/."""
    path = _free(folder, "mail", ".csv")
    known = {person.id: person for person in people}
    rows: list[Sequence[object]] = [_TABLE]
    for learner, lesson in sorted(pages):
        person = known.get(learner, Person(learner))
        page = page_path(root, learner, lesson).absolute()
        rows.append((learner, person.first_name, person.last_name, emails.get(learner, ""), lesson, str(page)))
    replace_file(path, csv_of(rows))
    return _noted(root, "folder", pages, path)


def _free(folder: Path, stem: str, ending: str) -> Path:
    """The next number that nothing there has."""
    return next(path for at in count(1) if not (path := folder / f"{stem}-{at}{ending}").exists())


Record = dict[str, dict[str, str]]
"""By target: learner and lesson, with a slash between, and the digest of what their page said the last time."""
_NAME = "record.json"


def read_record(root: Path) -> Record:
    """What was handed back; nothing, if that cannot be read: then everything goes back once more."""
    try:
        told = json.loads((root / "handback" / _NAME).read_text(encoding="utf-8"))
        return {target: {**pages} for target, pages in told.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def is_in_parcels(root: Path, learner: str) -> bool:
    """Whether something in handback/ holds pages of a learner."""
    keys = (key for pages in read_record(root).values() for key in pages)
    return any(key.startswith(f"{learner}/") for key in keys)
