"""Feedback goes back to where the notebooks came from: zips that Moodle and Canvas take, or a folder for a mail merge.

``handback/record.json`` says which page went to whom, by a digest of what the page says, for each target by itself: a
second hand-back holds only what is new or has changed since. Nothing that was written is ever overwritten, because it
may not have been uploaded yet. Equal pages give equal zips.

What a page's name must begin with follows from what was collected, and each system says it (``System.feedback_start``).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from nbproof.errors import CourseError
from nbproof.feedback.page_task import page_path
from nbproof.files import replace_file, written_whole
from nbproof.report.findings import csv_of
from nbproof.report.records import ClassRecords, Person
from nbproof_lms.earlier import Key, lines_in
from nbproof_lms.outcome import STANDS, Line
from nbproof_lms.system import LmsEntry, System, systems

__all__ = ["Address", "HandedBack", "Parcel", "addresses", "hand_back", "systems_of"]


Address = str
"""What the name of a file begins with that the LMS is to give to a learner."""


def addresses(root: Path, system: System) -> dict[Key, Address]:
    """(learner, lesson) -> address in an LMS, of everybody for whom collected/ holds one.

    What came last counts: Canvas numbers every attempt anew. A number that two learners would have is nobody's.
    """
    found: dict[Key, tuple[tuple[bool, int], str, Address]] = {}
    for line in lines_in(root):
        key = line.key
        entry = _entry(line, system)
        start = system.feedback_start(entry) if entry is not None and all(key) else ""
        if entry is None or not start:
            continue
        when = (line.status in STANDS, entry.number)
        if key not in found or found[key][0] <= when:
            found[key] = (when, entry.account, start)
    taken = Counter((lesson, account) for (_, lesson), (_, account, _) in found.items())
    return {key: start for key, (_, account, start) in found.items() if taken[key[1], account] == 1}


def systems_of(root: Path) -> dict[str, set[str]]:
    """Learner -> the LMSs, such as ``Moodle`` and ``Canvas``, that their work came from, by what was collected."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in lines_in(root):
        if line.learner and line.account:
            found[line.learner].add(line.system)
    return found


def _entry(line: Line, system: System) -> LmsEntry | None:
    """What the LMS called the file. Whose number it is was settled when it was collected; the outermost name with it counts."""
    parts = [part for part in line.name.split("/") if part]
    for at, part in enumerate(parts):
        entry = system.read(part, at + 1 < len(parts))
        if entry is not None and f"{system.name}:{entry.account}" == line.account:
            return entry
    return None


_WHEN = (2026, 1, 1, 0, 0, 0)
_VARIES = re.compile(
    r'<meta name="course-feedback" content="[^"]*">|Graded \d{1,2} \w+ \d{4}, \d\d:\d\d UTC(?:, test cases of seed \d+)?\.'
)
"""What tells when and from what a page was made, and nothing about the learner's work."""
_NAME_OF_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Parcel:
    """One file to upload, or one folder to mail from."""

    path: Path
    lesson: str
    """Empty if it holds several."""
    keys: tuple[Key, ...]
    size: int
    """Bytes."""


@dataclass(frozen=True)
class HandedBack:
    """What a hand-back did."""

    target: str
    parcels: tuple[Parcel, ...] = ()
    unchanged: int = 0
    """Pages that were handed back before, and say the same now."""
    nowhere: Mapping[Key, Sequence[str]] = field(default_factory=dict)
    """Pages of which nothing says where the LMS takes them, and the targets that take them."""
    without_email: tuple[str, ...] = ()
    record_lost: bool = False
    """Whether what was handed back before could not be read."""


def hand_back(
    root: Path,
    target: str,
    keys: Iterable[Key],
    records: ClassRecords,
    emails: Mapping[str, str],
    *,
    out: Path | None = None,
    force: bool = False,
    excel: bool = False,
    step: Callable[[int, int, str], None] = lambda done, of, name: None,
) -> HandedBack:
    """Write what ``target`` takes, of these pages; all of them with ``force``. Raises CourseError if it cannot be written."""
    folder = out if out is not None else root / "handback"
    record = _Record.read(root / "handback" / "record.json", target)
    known = {one.option: addresses(root, one) for one in systems().values() if one.upload}
    addressed = known.pop(target, {})
    found = _Sorted()
    chosen = sorted(keys, key=lambda key: (key[1], key[0]))
    for done, key in enumerate(chosen, 1):
        step(done, len(chosen), "/".join(key))
        if page := _page(page_path(root, *key)):
            found.sort(key, page, None if target == "folder" else addressed, {} if force else record.digests, known)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        parcels = list(_packed(folder, target, found.pages, addressed, records, emails, excel, record))
    except OSError as error:
        place = str(error.filename or folder)
        fact = f"what is to be handed back cannot be written: {error.strerror}"
        raise CourseError(fact, place, "choose a place: --out DIR") from None
    without = {learner for learner, _ in found.pages if target == "folder" and not emails.get(learner)}
    return HandedBack(target, tuple(parcels), found.unchanged, found.nowhere, tuple(sorted(without)), record.lost)


def _packed(
    folder: Path,
    target: str,
    pages: Mapping[Key, bytes],
    addressed: Mapping[Key, Address],
    records: ClassRecords,
    emails: Mapping[str, str],
    excel: bool,
    record: _Record,
) -> Iterator[Parcel]:
    """Write the parcels. One by one: what is cut off is handed back once more, and never forgotten."""
    if target == "folder" and pages:
        parcel = _folder(folder, pages, records, emails, excel)
        record.note(pages, parcel.path)
        yield parcel
    for lesson, mine in _by_lesson(pages).items() if target != "folder" else ():
        path = _free(folder, f"{target}-{_safe(lesson)}", ".zip")
        _zip(path, {f"{addressed[key]}{_safe(lesson)}_feedback.html": page for key, page in mine.items()})
        record.note(mine, path)
        yield Parcel(path, lesson, tuple(mine), path.stat().st_size)


def _page(path: Path) -> bytes:
    """A feedback page; empty if there is none."""
    return path.read_bytes() if path.is_file() and not path.is_symlink() else b""


@dataclass
class _Sorted:
    """What is to become of each page."""

    pages: dict[Key, bytes] = field(default_factory=dict)
    nowhere: dict[Key, list[str]] = field(default_factory=dict)
    unchanged: int = 0

    def sort(
        self,
        key: Key,
        page: bytes,
        addressed: Mapping[Key, Address] | None,
        before: Mapping[Key, str],
        known: Mapping[str, Mapping[Key, Address]],
    ) -> None:
        """``addressed``: where it may go; None if anywhere. ``before``: what was handed back. ``known``: other targets."""
        if addressed is not None and key not in addressed:
            self.nowhere[key] = [option for option, others in known.items() if key in others]
        elif before.get(key) == _digest(page):
            self.unchanged += 1
        else:
            self.pages[key] = page


def _by_lesson(pages: Mapping[Key, bytes]) -> dict[str, dict[Key, bytes]]:
    found: dict[str, dict[Key, bytes]] = defaultdict(dict)
    for key, page in pages.items():
        found[key[1]][key] = page
    return found


def _digest(page: bytes) -> str:
    return hashlib.sha256(_VARIES.sub("", page.decode("utf-8", "replace")).encode()).hexdigest()


@dataclass
class _Record:
    """What was handed back to one target, in a file that holds those of all."""

    path: Path
    target: str
    entries: dict[Key, dict[str, Any]] = field(default_factory=dict)
    others: dict[str, object] = field(default_factory=dict)
    lost: bool = False

    @property
    def digests(self) -> dict[Key, str]:
        """What each page said when it was handed back."""
        return {key: str(entry["digest"]) for key, entry in self.entries.items()}

    @classmethod
    def read(cls, path: Path, target: str) -> _Record:
        found = cls(path, target)
        try:
            found.others = dict(json.loads(path.read_text(encoding="utf-8")))
            told = found.others.get(target, [])
            found.entries = {(one["learner"], one["lesson"]): {"digest": "", **one} for one in told}  # type: ignore[attr-defined]
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return cls(path, target, lost=True)
        return found

    def note(self, pages: Mapping[Key, bytes], parcel: Path) -> None:
        for (learner, lesson), page in pages.items():
            before = self.entries.get((learner, lesson), {}).get("parcels", [])
            self.entries[learner, lesson] = {
                "learner": learner,
                "lesson": lesson,
                "digest": _digest(page),
                "parcels": [*before, parcel.name],
            }
        told = [entry for _, entry in sorted(self.entries.items())]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.path, json.dumps({**self.others, self.target: told}, indent=1, sort_keys=True))


def _zip(path: Path, files: Mapping[str, bytes]) -> None:
    """Write a zip whole or not at all, the same for the same files."""
    with (
        written_whole(path) as fresh,
        zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
    ):
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _WHEN)
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, 3
            archive.writestr(entry, data)


def _folder(
    folder: Path, pages: Mapping[Key, bytes], records: ClassRecords, emails: Mapping[str, str], excel: bool
) -> Parcel:
    """Pages as ``<learner>/<lesson>.html``, and a table that mail-merge programs take, written last."""
    path = _free(folder, "mail", "")
    coming = path.with_name(f".{path.name}.new")
    people = {person.id: person for person in records.learners}
    titles = {lesson.slug: lesson.title for lesson in records.lessons}
    rows: list[Sequence[object]] = [
        ("learner", "first_name", "last_name", "email", "lesson", "title", "score", "max_score", "file", "path")
    ]
    own = _folders(learner for learner, _ in pages)
    try:
        for (learner, lesson), page in sorted(pages.items()):
            file = PurePosixPath(own[learner], f"{_safe(lesson)}.html")
            (coming / own[learner]).mkdir(parents=True, exist_ok=True)
            (coming / file).write_bytes(page)
            person, work = people.get(learner, Person(learner)), records.works.get((learner, lesson))
            names = (learner, person.first_name, person.last_name, emails.get(learner, ""))
            scored = (work.score, work.max_score) if work and not work.problem else (None, None)
            rows.append((*names, lesson, titles.get(lesson, lesson), *scored, str(file), str((path / file).absolute())))
        replace_file(coming / "mail.csv", csv_of(rows, excel))
        os.replace(coming, path)
    finally:
        shutil.rmtree(coming, ignore_errors=True)
    return Parcel(path, "", tuple(sorted(pages)), sum(map(len, pages.values())))


def _folders(learners: Iterable[str]) -> dict[str, str]:
    """A folder for each learner, on any file system: also there where Ada and ada are the same."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for learner in sorted(set(learners)):
        stem = name = _safe(learner)
        number = 1
        while name.casefold() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.casefold())
        found[learner] = name
    return found


def _safe(name: str) -> str:
    """A name as a file may have it on any system."""
    kept = re.sub(r"[^\w.@ +-]+", "-", name).strip(" .-+@")[:100].rstrip(" .") or "learner"
    return f"_{kept}" if _NAME_OF_DEVICE.match(kept) else kept


def _free(folder: Path, stem: str, ending: str) -> Path:
    """The next number that nothing there has."""
    taken = [
        int(found[1])
        for path in folder.iterdir()
        if (found := re.fullmatch(rf"\.?{re.escape(stem)}-(\d{{1,6}})(?:\.zip)?(?:\.new)?", path.name))
    ]
    return folder / f"{stem}-{max(taken, default=0) + 1}{ending}"
