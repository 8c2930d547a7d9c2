"""Collect uploads: keep what came, tell the learner and the lesson of each file, and put the copy that counts into
submitted/."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from pathlib import Path

from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.errors import UsageError, disk_trouble
from nbproof.gradebook.receipts import LATE, TIME, time_in
from nbproof.key import assignment_of
from nbproof.places import places
from nbproof.run.hand_ins import Guess, LessonBook
from nbproof.run.intake import gradable_lessons
from nbproof.run.journal import is_noted, settled_in
from nbproof.text import in_one_line, in_utc, some_of
from nbproof_lms.arrivals import Arrived, IncomingFile, Kind, Step, is_archive, is_junk, take_in, take_in_fetched
from nbproof_lms.choosing import attach, choose
from nbproof_lms.names import why_no_learner
from nbproof_lms.outcome import STANDS, Collected, FileRecord, KeptUpload, uploads_in, write_list
from nbproof_lms.owners import Owner, Parts, Upload, find_fetched_owners, find_owners
from nbproof_lms.placing import SubmittedFolder, finish_broken_off, put_into_submitted
from nbproof_lms.roster import Enrolment, Roster, import_roster, is_of_people, kept_roster
from nbproof_lms.system import Fetched, LmsEntry, System, systems
from nbproof_lms.system import fetch as fetched_by

__all__ = ["collect"]

_SCRIPT = re.compile(r"\.(?:py|html?|txt|json)$|^[^.]+$", re.IGNORECASE)
_FAR = timedelta(days=366)
_DOWNLOADING = timedelta(hours=1)


def collect(
    course: Course,
    root: Path,
    paths: Sequence[Path | str],
    *,
    lesson: str | None = None,
    names: Path | None = None,
    learners: Sequence[str] = (),
    fetch: Sequence[str] = (),
    step: Step = lambda done, of, name: None,
) -> Collected:
    """Collect folders, archives and notebooks into ``submitted/`` of the course in ``root``, and say what became of each file.

    ``lesson``: the lesson or assignment that it was handed in for; content decides between an assignment's notebooks, and
    between all lessons if none is named. ``names``: a CSV (``roster``). Its learners are used for this upload, and put on
    the roster that is kept. ``learners``: each of them has handed in all of it, as a group does.
    ``fetch``: ``NAME:ADDRESS`` of what systems fetch by themselves.
    Two at a time would judge by what the other is about to replace: a caller holds the course's lock (``only_run``).
    Raises UsageError for a wrong call and for what cannot be written; never for what a learner handed in.
    """
    if len(learners) > 1:
        each = partial(collect, course, root, paths, lesson=lesson, names=names, fetch=fetch, step=step)
        done = [each(learners=[one]) for one in learners]
        uploads = chain.from_iterable(one.uploads for one in done)
        notes = chain.from_iterable(one.notes for one in done)
        return Collected((*uploads,), (*dict.fromkeys(notes),))
    finished = finish_broken_off(root)
    book = LessonBook(course, root)
    asked = _uploads(root, [Path(path) for path in paths], by_hand=bool(learners))
    brought = [fetched_by(one) for one in fetch]
    among = [] if lesson is None else gradable_lessons(root, [lesson])
    asked_for = among[0] if len(among) == 1 else lesson or ""
    told = Enrolment({}, (), ()) if names is None else import_roster(root, names)
    roster = kept_roster(root)
    named = _named(root, learners[0], roster) if learners else ""
    then = "mend that, then run the same command again: what was not finished was taken back"
    trouble = disk_trouble(UsageError, "the course's folder cannot be written", root / "collected", then)
    with trouble, _waiting_room(root) as room:
        arrived = _arrived(asked, brought, room, step)
        _refuse_a_class(root, arrived, named)
        submitted = SubmittedFolder(root, told.said)
        filing = _Filing(book, submitted, roster, among, named)
        items = [_with_its_time(root, asked, item) for item in filing.file(arrived)]
        items = attach(choose(items, submitted, book, by_hand=bool(learners)), submitted)
        items = [_with_word(item) for item in items]
        collected = _kept(root, arrived, items, asked_for)
    added = [*_lines_on_groups(root, filing, collected.records)]
    if told.added:
        added += [
            f"added to the roster: {some_of(told.added, 8)} (`roster remove` takes off who does not belong there)"
        ]
    return replace(_but_settled(root, collected), notes=(*finished, *collected.notes, *told.notes, *added))


def _lines_on_groups(root: Path, filing: _Filing, records: Iterable[FileRecord]) -> Iterator[str]:
    """Lines on files that may be a group's, and that nobody but one member has, each with the command that gives it to others."""
    lines = []
    for record in records:
        submitted = filing.submitted
        if record.learner not in filing.called or not record.system or record.status not in STANDS:
            continue
        if submitted.given(record.key, record.sha256):
            continue
        had = submitted.given(record.key, submitted.replaced(record))
        told = f"replaces what {', '.join(had)} still have: " if had else ""
        to = " ".join(f"--learner {shlex.quote(one)}" for one in had or ["MEMBER"])
        command = course_command(f"collect {shlex.quote(str(root / record.path_in_course))} {to}", root)
        lines.append(f"  {record.learner} ({filing.called[record.learner]}): {told}{command}")
    if lines:
        yield (
            "the LMS has another name for these files. If it is a group's, give the file to each other member (--learner may be "
            "repeated):"
        )
        yield from lines


def _arrived(
    asked: Sequence[Sequence[Path]], brought: Sequence[tuple[System, list[Fetched]]], room: Path, step: Step
) -> list[Arrived]:
    """All that came, each upload in a folder of its own in the ``room``."""
    arrived = [take_in(one, room / str(at), step) for at, one in enumerate(asked)]
    return arrived + [take_in_fetched(*one, room / str(at), step) for at, one in enumerate(brought, len(asked))]


def _refuse_a_class(root: Path, arrived: Sequence[Arrived], learner: str) -> None:
    """Raise UsageError if all of an upload is said to be this learner's, and it came before with files of others.

    One file alone may be that of several: a group has handed it in.
    """
    if not learner:
        return
    came = {upload.fingerprint for upload in arrived if len(upload.items) > 1}
    for before in uploads_in(root):
        others = {record.learner for record in before.records} - {"", learner}
        if others and before.fingerprint in came:
            own = (record.path_in_course for record in before.records if record.learner == learner)
            file, *_ = *own, f"collected/{before.folder}/files/FILE"
            raise UsageError(
                f"{before.upload} came before, with files of {some_of(sorted(others), 8)}; --learner would make all {learner}'s",
                f"collected/{before.folder}",
                course_command(shlex.join(["collect", str(root / file), "--learner", learner]), root),
            )


def _but_settled(root: Path, collected: Collected) -> Collected:
    """What was collected, with the status "settled" for each file that a person has settled.

    The lists that are kept have its own status, because a person may ask about it again.
    """
    noted = settled_in(root)
    seen = {record for record in collected.needs_person if is_noted(noted, record.name, record.sha256)}
    settled = {record: replace(record, status="settled", look=False) for record in seen}
    uploads = []
    for one in collected.uploads:
        records = tuple(settled.get(record, record) for record in one.records)
        uploads.append(replace(one, records=records))
    return replace(collected, uploads=tuple(uploads))


def _named(root: Path, learner: str, roster: Roster | None) -> str:
    """The id of the learner that a person named; without a roster it may be a new one. Raises UsageError for no such learner."""
    if roster is not None:
        from nbproof_lms.attendance import find_learners  # it needs nbgrader, which is slow to import

        return find_learners(root, [learner], "--learner")[0]
    if why := why_no_learner(learner):
        then = "choose another id, such as --learner jdoe"
        raise UsageError(f"{learner!r} cannot be a learner's id: {why}", "--learner", then)
    return learner


@dataclass
class _Filing:
    """What is known when files are filed: the course, and what a person has said of all files.

    ``among``: the lessons that they may have been handed in for; empty if a person named none. ``learner``: the one who has
    handed in all of them; empty if a person named none.
    """

    book: LessonBook
    submitted: SubmittedFolder
    roster: Roster | None
    among: Sequence[str]
    learner: str
    called: dict[str, str] = field(default_factory=dict)
    """Learner -> a name that an LMS gave to a file of theirs, and that is nobody's on the roster."""

    @property
    def lesson(self) -> str:
        """The one lesson that a person named for all files; else empty."""
        return self.among[0] if len(self.among) == 1 else ""

    def file(self, uploads: Sequence[Arrived]) -> list[IncomingFile]:
        """Every file of these uploads, with its owner, its time and its lesson."""
        items: list[IncomingFile] = []
        for at, upload in enumerate(uploads):
            own = [_looked_at(replace(item, upload=at), self.book) for item in upload.items]
            owners = self._owners(upload, own)
            has_times = _has_times(own)
            owned = [self._owned(item, owners.get(item.parts, Owner()), has_times) for item in own]
            noted = (replace(item.record, lesson=self.lesson or item.guess.lesson) for item in owned)
            self.submitted.note_numbers(noted)
            for item in owned:
                if item.is_answer:
                    item = _of_lesson(item, self.among or _fetched_for(item, upload, self.book))
                items.append(item)
        return items

    def _owners(self, upload: Arrived, items: Sequence[IncomingFile]) -> dict[Parts, Owner]:
        """The owners of an upload's files, by their paths in it."""
        counted = (item for item in items if item.safe and not is_junk(item.parts))
        known = Upload(
            upload.name,
            [(item.parts, item.guess.lesson) for item in counted],
            tuple(self.book.lessons),
            tuple(systems().values()),
            {item.parts for item in items if item.archive},
            self.roster,
            places(self.submitted.root).learners(),
            self.submitted.numbers,
            self.lesson,
        )
        if upload.system:
            return find_fetched_owners(known, upload.fetched, upload.system)
        return find_owners(known)

    def _owned(self, item: IncomingFile, owner: Owner, has_times: bool) -> IncomingFile:
        """A file with its owner. ``has_times``: whether the time of its entry may be that of handing in."""
        if owner.status:
            return item.ended(owner.status)
        if item.record.status == "junk" or not item.safe:
            return item
        if self.learner:
            owner = self._as_said(owner, item.parts[-1])
        if owner.learner and (why := self.submitted.why_blocked(owner.learner, "")):
            owner = Owner(why=why, file=owner.file)
        record = replace(item.record, learner=owner.learner, why=item.record.why or owner.why, system=owner.system)
        if owner.system and owner.entry is not None:
            self._note_name(owner.system, owner.learner, owner.entry.name)
            record = _with_entry(record, owner.entry)
            record = replace(record, lms_status=self.submitted.lms_status(record))
            if has_times and systems()[owner.system].dates_entries:
                record = replace(record, time=_unless_far(item.time))
        return replace(item, record=record, called=owner.file)

    def _note_name(self, system: str, learner: str, name: str) -> None:
        """Keep a name in an LMS that is another than the learner's, who was found by number: it may be that of a group."""
        if self.roster is not None and systems()[system].lasting_numbers and name and not self.roster.called(name):
            named = {one.learner for one in self.roster.members if one.name}
            if learner in named:
                self.called[learner] = name

    def _as_said(self, owner: Owner, name: str) -> Owner:
        """The learner that a person named for all files; nobody if a class's folders say that a file is another's."""
        other = owner.learner not in {"", self.learner}
        if other and (self.roster is not None or owner.learner in places(self.submitted.root).learners()):
            why = (
                f"its place in the upload says {owner.learner!r}, and --learner {self.learner!r}: collect it by itself"
            )
            return Owner(why=why, file=name)
        return Owner(self.learner, file=name)


def _has_times(items: Sequence[IncomingFile]) -> bool:
    """Whether the times of an archive's entries may be those of handing in.

    If all are of one hour, the archive was packed then: Moodle since 2022 notes when each was downloaded.
    """
    times = {item.time for item in items if item.time is not None}
    return bool(times) and max(times) - min(times) > _DOWNLOADING


def _with_entry(record: FileRecord, entry: LmsEntry) -> FileRecord:
    """The record of a file with what its LMS says of it: time, late, numbers. ``record`` has its system."""
    account = f"{record.system}:{entry.account}" if entry.account else ""
    record = replace(record, late=entry.late, number=entry.number, account=account)
    if entry.unsure:
        return record
    return replace(record, time=_unless_far(entry.when), said=entry.said)


def _unless_far(time: datetime | None) -> datetime | None:
    """The time that something was handed in; None if that is unknown, or a year and more from now."""
    is_far = time is not None and time > datetime.now(UTC) + _FAR
    return None if is_far else time


def _fetched_for(item: IncomingFile, upload: Arrived, book: LessonBook) -> list[str]:
    """The lessons that a system has fetched a file for; empty if it says none. It may name one that the course does not have."""
    if not upload.fetched:
        return []
    lesson = upload.fetched[item.parts[0]].lesson
    fitting = [one for one in book.lessons if lesson in (one, assignment_of(one))]
    if lesson and not fitting:
        return [lesson]
    return fitting


def _with_its_time(root: Path, asked: Sequence[Sequence[Path]], item: IncomingFile) -> IncomingFile:
    """A file with the time, or the word late, that lies beside it, if it is a copy that was put aside.

    In other uploads such a time may be the learner's own. ``asked``: the paths of the uploads; one that a system has fetched has
    none.
    """
    if item.upload >= len(asked):
        return item
    folder = asked[item.upload][0]
    if not folder.is_dir():
        folder = folder.parent
    home = root.resolve() / "collected"
    folder = folder.resolve().joinpath(*item.parts[:-1])
    # graded/LEARNER/ASSIGNMENT/DIGEST or UPLOAD/replaced/LEARNER/ASSIGNMENT
    inside = folder.parts[len(home.parts) :]
    if not folder.is_relative_to(home) or ("graded" not in inside[:1] and "replaced" not in inside[1:2]):
        return item
    aside = home.joinpath(*inside[:4])
    try:
        time = time_in(aside / TIME, places(root).zone)
    except ValueError as error:
        return replace(item, record=replace(item.record, said=in_one_line(error), aside=True))
    # Into graded/ no learner's file comes that has such a name.
    late = "graded" in inside[:1] and (aside / LATE).exists()
    return replace(item, record=replace(item.record, time=time, late=late, aside=True))


def _with_word(item: IncomingFile) -> IncomingFile:
    """A notebook with what its LMS says of when it came. What its table says, such as ``Submitted - 2 days late``, is told if
    nothing dates it."""
    record = item.record
    if item.kind is Kind.DATA or record.status not in STANDS | {"waits"}:
        return item
    remarks = [record.why]
    if record.time is not None and record.status == "waits":
        remarks.append(f"handed in {in_utc(record.time)}")
    if record.late and record.status == "already there":
        remarks.append("the LMS calls it late now")
    elif record.late:
        remarks.append("late")
    # In every language the words for late hold a number; for in time they hold none.
    if record.time is None and re.search(r"\d", record.lms_status):
        remarks.append(f"the LMS says: {record.lms_status}")
    return item.ended(record.status, "; ".join(filter(None, remarks)))


def _looked_at(item: IncomingFile, book: LessonBook) -> IncomingFile:
    """The file with its kind, and with the lesson that its content belongs to."""
    name = item.parts[-1].casefold()
    # An LMS says when something was handed in, and no timestamp.txt. The files of an archive are listed by themselves.
    if is_junk(item.parts) or (item.problem is None and (item.archive or name.endswith("timestamp.txt"))):
        return item.ended("junk")
    if item.problem is not None:
        return item.ended(item.problem.status, item.problem.why)
    if ".ipynb" not in name and not _SCRIPT.search(re.sub(r" ?\(\d+\)$", "", name)):
        return replace(item, kind=Kind.DATA)
    guess = book.guess(item.path)
    return replace(item, guess=guess, kind=_kind(item.parts, name, guess))


def _kind(parts: Sequence[str], name: str, guess: Guess) -> Kind:
    if ".ipynb_checkpoints" in parts or name.endswith("-checkpoint.ipynb"):
        return Kind.CHECKPOINT
    if ".ipynb" in name or (guess.notebook and (guess.lesson or guess.others)):
        return Kind.NOTEBOOK
    return Kind.SCRIPT if guess.lesson else Kind.DATA


def _of_lesson(item: IncomingFile, among: Sequence[str]) -> IncomingFile:
    """The file with the lesson that it counts for, or with its end if it counts for none.

    ``among``: the lessons that it may have been handed in for; empty if nobody said.
    """
    holds = item.guess.lesson
    if not item.record.learner:
        return item.ended("no learner known", item.record.why, lesson=holds)
    fitting = [holds] if holds else item.guess.others or among
    if among:
        fitting = [one for one in fitting if one in among]
    if among and not fitting:
        asked = among[0] if len(among) == 1 else assignment_of(among[0])
        status = "another lesson" if holds else "no lesson known"
        return item.ended(status, f"{item.holds}, handed in for {asked}")
    if len(fitting) == 1 and (holds or item.kind is Kind.NOTEBOOK):
        return replace(item, record=replace(item.record, lesson=fitting[0]))
    return item.ended("no lesson known", f"{item.holds}; --lesson LESSON hands it in all the same")


@contextlib.contextmanager
def _waiting_room(root: Path) -> Iterator[Path]:
    """Make a folder in which uploads wait until all have come whole: nothing half-copied ever has its final name."""
    room = root / "collected" / ".coming"
    # A run that was cut off may have left files behind; nobody else is at work here.
    shutil.rmtree(room, ignore_errors=True)
    room.mkdir(parents=True)
    try:
        yield room
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _kept(root: Path, arrived: Sequence[Arrived], items: Sequence[IncomingFile], asked: str) -> Collected:
    """Give the uploads their folders and lists, and put into submitted/ what counts."""
    known = {upload.fingerprint: upload for upload in uploads_in(root)}
    uploads, notes, heres = [], [], []
    # Facts first: what follows may be cut off, and the next run then puts into submitted/ what is not there yet.
    for at, upload in enumerate(arrived):
        records = [item.record for item in items if item.upload == at]
        is_changed = any(record.status == "taken" or record.beside for record in records)
        before = known.get(upload.fingerprint, KeptUpload("", "", ""))
        mine, theirs = map(_learners_in, (records, before.records))
        if mine and theirs and mine.isdisjoint(theirs):
            # One file of a group, which another member gets now: the list keeps who had it before.
            before = KeptUpload("", "", "")
        folder = before.folder or _next_folder(root, upload.name)
        placed = tuple(replace(one, folder=folder) for one in records)
        kept = KeptUpload(upload.name, upload.fingerprint, folder, asked or before.handed_in_for, placed, is_changed)
        home = root / "collected" / folder
        if before.folder:
            note = f"{upload.name}: the same upload came before, as collected/{folder}"
            if is_changed:
                write_list(home, kept)
            else:
                note += "; nothing changed"
                _note_statuses(home, before, records)
            notes.append(note)
            heres.append(upload.folder)
        else:
            write_list(upload.folder, kept)
            heres.append(Path(shutil.move(upload.folder, home)))
        uploads.append(kept)
    for kept, here in zip(uploads, heres, strict=True):
        if kept.unfinished:
            home = root / "collected" / kept.folder
            put_into_submitted(root, kept.records, here, home / "replaced")
            write_list(home, replace(kept, unfinished=False))
    return Collected(tuple(uploads), tuple(notes))


def _learners_in(records: Iterable[FileRecord]) -> set[str]:
    return {one.learner for one in records} - {""}


def _note_statuses(home: Path, before: KeptUpload, records: Sequence[FileRecord]) -> None:
    """Write into an upload's list what the LMS's table says of its files now, where that is new."""
    statuses = {(one.name, one.sha256): one.lms_status for one in records if one.lms_status}
    found = []
    for one in before.records:
        found.append(replace(one, lms_status=statuses.get((one.name, one.sha256), one.lms_status)))
    if (*found,) != before.records:
        write_list(home, replace(before, records=tuple(found)))


def _next_folder(root: Path, name: str) -> str:
    """The name of a folder in collected/, with the next number."""
    taken = (re.match(r"\d{4,}", one.name) for one in (root / "collected").glob("*"))
    number = max((int(found[0]) for found in taken if found), default=0) + 1
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:60]
    return f"{number:04d}-{plain or 'upload'}"


def _uploads(root: Path, paths: Sequence[Path], *, by_hand: bool) -> list[list[Path]]:
    """What is collected together: each folder and archive by itself, loose files as one upload. Raises UsageError.

    ``by_hand``: a person has named the learner who has handed in all of it.
    """
    own = {path.resolve() for path in (*places(root).private, root / "demo")}
    for path in paths:
        _refuse_unfit(root, path, own)
    alone = [path for path in paths if path.is_dir() or is_archive(path.name)]
    loose = [path for path in paths if path not in alone]
    for path in loose:
        if not by_hand and is_of_people(path):
            step = course_command(shlex.join(["roster", "import", str(path)]), root)
            raise UsageError(
                "this is no notebook, and looks like a table of people",
                str(path.absolute()),
                f"{step}; if a learner handed it in, add --learner NAME",
            )
    uploads = [[path] for path in alone]
    if loose:
        uploads.append(loose)
    return uploads


def _refuse_unfit(root: Path, path: Path, own: set[Path]) -> None:
    """Raise UsageError for a path that is no upload. ``own``: folders of the course that hold no upload."""
    name_it = "name the folder or zip that came"
    place = path.resolve()
    mode = os.R_OK
    if path.is_dir():
        mode |= os.X_OK
    elif not path.is_file():
        raise UsageError("there is no such folder or file", str(path.absolute()), name_it)
    around = {root.resolve(), root.resolve() / "collected", *root.resolve().parents}
    if own & {place, *place.parents} or place in around:
        raise UsageError("this folder is the course's own: there is nothing to collect in it", str(place), name_it)
    if not os.access(path, mode):
        raise UsageError("the upload cannot be read: permission denied", str(place), f"chmod -R u+rX {path}")
