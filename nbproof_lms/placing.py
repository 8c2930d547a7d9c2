"""Put a submission into ``submitted/<learner>/<lesson>/``: whole or not at all, and what was there is kept."""

from __future__ import annotations

import filecmp
import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import chain, count
from pathlib import Path

from nbproof.errors import UsageError, disk_trouble
from nbproof.gradebook.receipts import TIME, readable_time_in
from nbproof.grouping import grouped
from nbproof.key import Key, notebook_of
from nbproof.places import places
from nbproof.text import counted
from nbproof_lms.arrivals import safe_name
from nbproof_lms.outcome import STANDS, FileRecord, broken_off, digest_in, records_in, write_list
from nbproof_lms.system import Numbers, System, systems

__all__ = ["SubmittedFolder", "finish_broken_off", "put_into_submitted", "same_bytes"]


@dataclass
class SubmittedFolder:
    """The course's submitted/, and what earlier lists in collected/ say of what lies there.

    ``said``: number -> the status that a table gives to its learner, if a person has named one.
    """

    root: Path
    said: Mapping[str, str] = field(default_factory=dict)
    numbers: Numbers = field(default_factory=lambda: defaultdict(set))

    def __post_init__(self) -> None:
        self.note_numbers(self._earlier)

    @cached_property
    def _earlier(self) -> list[FileRecord]:
        """The records of all files that ever came."""
        return list(records_in(self.root))

    @cached_property
    def _by_key(self) -> Mapping[Key, Sequence[FileRecord]]:
        """The same records by learner and lesson."""
        return grouped((record.key, record) for record in self._earlier)

    @cached_property
    def _statuses(self) -> Mapping[tuple[str, str], str]:
        """Account and digest -> what the LMS's table said last of these bytes."""
        return {(one.account, one.sha256): one.lms_status for one in self._earlier if one.account and one.lms_status}

    def lms_status(self, record: FileRecord) -> str:
        """What the LMS's table says of a file, or said before; empty if it says nothing."""
        name, _, number = record.account.partition(":")
        system = systems().get(name, System())
        before = self._statuses.get((record.account, record.sha256), record.lms_status)
        return self.said.get(system.on_roster(number)) or before

    def note_numbers(self, records: Iterable[FileRecord]) -> None:
        """Keep which learner has which number by these records of an upload: the next upload is compared with that."""
        for record in records:
            name, _, number = record.account.partition(":")
            system = systems().get(name)
            lesson = record.lesson
            if system is not None and system.lasting_numbers:
                lesson = ""
            elif not lesson:
                # The number is an assignment's, and nothing says which.
                continue
            if number and record.learner:
                self.numbers[name, lesson].add((record.learner, number))

    def decided_against(self, key: Key, digest: str) -> set[str]:
        """The digests of the copies that had come when a person chose the one with this ``digest``: these do not count."""
        came: set[str] = set()
        settled: set[str] = set()
        for record in self._by_key[key]:
            if record.sha256 == digest and record.by_hand:
                settled = came - {digest}
            came.add(record.sha256)
        return settled

    def last_status(self, record: FileRecord) -> str:
        """What became of these bytes when this learner handed them in last for this lesson; empty if they are new."""
        same = (one.status for one in reversed(self._by_key[record.key]) if one.sha256 == record.sha256)
        return next(same, "")

    def with_lms_time(self, record: FileRecord) -> FileRecord:
        """The record with what the LMS that handed over these bytes before says of them: time, late, number, status.

        They came as this learner's, as nobody's, or under the name that the LMS gave to another's file: then a group has handed
        it in. A copy that a run has put aside keeps its own.
        """
        if (record.time is not None or record.late) and not record.system:
            return record
        same = (one for one in reversed(self._earlier) if one.says_when and one.sha256 == record.sha256)
        own = (one for one in same if one.learner in {"", record.learner} or _is_same_entry(one, record))
        fitting = [one for one in own if one.lesson in {"", record.lesson}]
        before = next(iter(fitting), record)
        status = next(filter(None, map(self.lms_status, fitting)), "")
        record = replace(record, time=before.time, late=before.late, said=before.said, lms_status=status)
        return replace(record, system=before.system, number=before.number)

    def given(self, key: Key, digest: str) -> list[str]:
        """The other learners with these bytes in ``submitted/``, if a person has given them to any, as to a group."""
        same = [one for one in self._earlier if one.sha256 == digest and one.lesson == key.lesson]
        if not any(one.by_hand for one in same):
            return []
        keys = {one.key for one in same} - {key}
        return sorted(one.learner for one in keys if digest_in(self.root, *one) == digest)

    def replaced(self, record: FileRecord) -> str:
        """The digest of the copy that stood before a file of other bytes; empty if none did."""
        stood = (one.sha256 for one in reversed(self._by_key[record.key]) if one.status in STANDS)
        return next((digest for digest in stood if digest != record.sha256), "")

    def why_blocked(self, learner: str, lesson: str) -> str:
        """A sentence if nothing may be put into this folder, because a link or a file is in its place; else empty."""
        folder = places(self.root).folder("submitted", learner, lesson)
        for there in (folder.parent, folder):
            if there.is_symlink():
                return f"{there.relative_to(self.root)} is a link: remove it"
            if there.exists() and not there.is_dir():
                return f"{there.relative_to(self.root)} is a file: remove it"
        return ""

    def current(self, key: Key) -> FileRecord | None:
        """The record of the notebook that lies there now, with the time that stands beside it; None if there is none."""
        digest = digest_in(self.root, *key)
        if not digest:
            return None
        path = self.notebook_path(key)
        time = readable_time_in(path.with_name(TIME), places(self.root).zone)
        record = FileRecord(learner=key[0], lesson=key[1], sha256=digest, changed=path.stat().st_mtime)
        # What was taken says more than the same bytes that came again.
        for one in sorted(self._by_key[key], key=lambda one: one.status in STANDS):
            if one.sha256 == digest:
                record = one
        return replace(record, time=record.time or time)

    def notebook_path(self, key: Key) -> Path:
        """The path of a learner's notebook of a lesson, which may not be there."""
        return places(self.root).notebook("submitted", *key)


def _is_same_entry(one: FileRecord, other: FileRecord) -> bool:
    """Whether two files have the same name, and ``one`` has it from its LMS: learners have not chosen it."""
    name, own = (safe_name(record.name.rpartition("/")[2]) for record in (one, other))
    return name == own and bool(one.system) and systems()[one.system].read(name) is not None


def put_into_submitted(root: Path, records: Sequence[FileRecord], here: Path, replaced: Path) -> None:
    """Put into submitted/ what counts of an upload. Its copies lie ``here``; what was in submitted/ moves to ``replaced``."""
    data = grouped((record.key, record) for record in records if record.beside)
    submitted = SubmittedFolder(root)
    for record in records:
        if record.status == "taken":
            target = places(root).folder("submitted", *record.key)
            beside: list[datetime] = []
            if "/" in record.lesson:
                beside = _times_beside(record, submitted)
            _put(record, data[record.key], here, target, replaced / record.learner, beside)


def finish_broken_off(root: Path) -> tuple[str, ...]:
    """Put into submitted/ what uploads that were cut off did not bring there, and return a sentence for each upload.

    A caller holds the course's lock. Raises UsageError if a file cannot be written.
    """
    told = []
    then = "mend that, then run the same command again"
    with disk_trouble(UsageError, "an upload that broke off cannot be put into submitted/", root, then):
        for upload, left in broken_off(root):
            home = root / "collected" / upload.folder
            others = (record for record in upload.records if record.status != "taken")
            put_into_submitted(root, [*left, *others], home, home / "replaced")
            write_list(home, replace(upload, unfinished=False))
            told.append(
                f"{upload.upload} broke off when it was collected: {counted(len(left), 'notebook')} of it went to submitted/ now"
            )
    return tuple(told)


def _times_beside(record: FileRecord, submitted: SubmittedFolder) -> list[datetime]:
    """When the other notebooks of its assignment came: the time in their folder, if it is not that of the one to be replaced."""
    target = submitted.notebook_path(record.key).parent
    stamp = readable_time_in(target / TIME, places(submitted.root).zone)
    came = dict[str, datetime | None]()
    for path in target.glob("*.ipynb"):
        one = submitted.current(Key(record.learner, f"{record.key.assignment}/{path.stem}"))
        if one is not None:
            came[path.stem] = one.time
    if stamp not in came.values():
        # A person wrote it.
        return [*filter(None, [stamp])]
    return [time for name, time in came.items() if time is not None and name != notebook_of(record.lesson)]


def _put(
    record: FileRecord, data: Sequence[FileRecord], here: Path, target: Path, replaced: Path, times: Sequence[datetime]
) -> None:
    """Put a notebook and its data files in the place of what was there. ``times``: of the notebooks beside it."""
    fresh = target.with_name(f".{target.name}.coming")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    try:
        notebook = fresh / f"{notebook_of(record.lesson)}.ipynb"
        shutil.copyfile(here / record.kept, notebook)
        for one in data:
            (fresh / one.beside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(here / one.kept, fresh / one.beside)
        _write_time(notebook, (record, *data), times)
        if "/" in record.lesson and target.is_dir():
            # Of an assignment of several notebooks the others stay as they are. Nothing is written where a link leads.
            shutil.copytree(target, fresh, symlinks=True, dirs_exist_ok=True, ignore=partial(_has_come, target, fresh))
        _swap(fresh, target, replaced)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _write_time(notebook: Path, records: Sequence[FileRecord], times: Sequence[datetime]) -> None:
    """Write beside a notebook when it was handed in: with the last of its files, and of the other notebooks (``times``)."""
    file = notebook.with_name(TIME)
    if unread := next((one.said for one in records if one.said), ""):
        # The run asks about a time that it cannot read.
        file.write_text(unread, encoding="utf-8")
    elif own := [one.time.astimezone(UTC) for one in records if one.time]:
        last = max(own).timestamp()
        os.utime(notebook, (last, last))
        file.write_text(f"{max([*own, *times]).astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} UTC", encoding="utf-8")


def _has_come(target: Path, fresh: Path, folder: str, names: Sequence[str]) -> set[str]:
    """The names in a folder of ``target`` that are files or links, and that ``fresh`` has something in place of."""
    new = fresh / Path(folder).relative_to(target)
    there = (Path(folder, name) for name in names if (new / name).exists())
    return {path.name for path in there if path.is_symlink() or not path.is_dir()}


def _swap(fresh: Path, target: Path, replaced: Path) -> None:
    """Put ``fresh`` in the place of ``target``; what was there moves to ``replaced``."""
    if target.exists():
        replaced.mkdir(parents=True, exist_ok=True)
        names = chain([target.name], (f"{target.name}~{number}" for number in count(2)))
        aside = next(path for name in names if not (path := replaced / name).exists())
        # By another way if submitted/ lies on another disk.
        shutil.move(target, aside)
    os.rename(fresh, target)


def same_bytes(one: Path, other: Path) -> bool:
    """Whether two files hold the same."""
    return other.is_file() and not other.is_symlink() and filecmp.cmp(one, other, shallow=False)
