"""Collect uploads: keep what came, tell the learner and the lesson of each file, and put the copy that counts into
submitted/."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbproof.course_file import Course
from nbproof.errors import UsageError, disk_trouble
from nbproof.gradebook.receipts import TIME, time_in
from nbproof.key import assignment_of
from nbproof.places import places
from nbproof.run.hand_ins import Guess, LessonBook
from nbproof.run.intake import lessons_with_source
from nbproof.run.journal import is_noted, settled_in
from nbproof.text import in_one_line
from nbproof_lms.arrivals import Arrived, Item, Kind, Step, is_archive, is_junk, take_in, take_in_fetched
from nbproof_lms.choosing import attach, choose
from nbproof_lms.names import why_no_learner
from nbproof_lms.outcome import STANDS, Collected, KeptUpload, uploads_in, write_list
from nbproof_lms.placing import Desk, finish, place
from nbproof_lms.roster import Enrolment, Roster, import_roster, kept_roster
from nbproof_lms.system import Fetched, LmsEntry, System, systems
from nbproof_lms.system import fetch as fetched_by
from nbproof_lms.whose import Upload, Whose, owners, owners_by_system

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
    learner: str | None = None,
    fetch: Sequence[str] = (),
    step: Step = lambda done, of, name: None,
) -> Collected:
    """Collect folders, archives and notebooks into ``submitted/`` of the course in ``root``.

    ``lesson``: the lesson or assignment that it was handed in for; content decides between an assignment's notebooks, and
    between all lessons where none is named. ``names``: a CSV (``roster``). Its learners are used for this upload, and put on
    the roster that is kept. ``learner``: all of it is from this one.
    ``fetch``: ``NAME:ADDRESS`` of what systems fetch by themselves.
    Two at a time would judge by what the other is about to replace: a caller holds the course's lock (``only_run``).
    Raises UsageError for a wrong call and for what cannot be written; never for what a learner handed in.
    """
    finished = finish(root)
    book = LessonBook(course, root)
    asked = _uploads(root, [Path(path) for path in paths])
    brought = [fetched_by(one) for one in fetch]
    among = [] if lesson is None else lessons_with_source(root, [lesson])
    asked_for = among[0] if len(among) == 1 else lesson or ""
    told = Enrolment({}, (), ()) if names is None else import_roster(root, names)
    roster = kept_roster(root)
    whose = _named(root, learner, roster) if learner is not None else ""
    then = "mend that, then run the same command again: what was not finished was taken back"
    trouble = disk_trouble(UsageError, "the course's folder cannot be written", root / "collected", then)
    with trouble, _waiting_room(root) as room:
        arrived = _arrived(asked, brought, room, step)
        desk = Desk(root)
        filed = _filed(arrived, book, desk, roster, among, whose)
        items = [_as_it_counted(root, asked, item) for item in filed]
        items = attach(choose(items, desk, book, by_hand=learner is not None), desk)
        items = [_with_word(item, told.said) for item in items]
        collected = _kept(root, arrived, items, asked_for)
    return replace(_but_settled(root, collected), notes=(*finished, *collected.notes, *told.notes))


def _arrived(
    asked: Sequence[Sequence[Path]], brought: Sequence[tuple[System, list[Fetched]]], room: Path, step: Step
) -> list[Arrived]:
    """All that came, each upload in a folder of its own in the ``room``."""
    arrived = [take_in(one, room / str(at), step) for at, one in enumerate(asked)]
    return arrived + [take_in_fetched(*one, room / str(at), step) for at, one in enumerate(brought, len(asked))]


def _but_settled(root: Path, collected: Collected) -> Collected:
    """What a person has settled is told as that. The lists that are kept say what it is: it may be asked about again."""
    noted = settled_in(root)
    seen = {line for line in collected.needs_person if is_noted(noted, line.name, line.sha256)}
    uploads = []
    for one in collected.uploads:
        lines = (replace(line, status="settled", look=False) if line in seen else line for line in one.lines)
        uploads.append(replace(one, lines=tuple(lines)))
    return replace(collected, uploads=tuple(uploads))


def _named(root: Path, learner: str, roster: Roster | None) -> str:
    """The id of the learner that a person named; it may be a new one where there is no roster. Raises UsageError."""
    if roster is not None:
        from nbproof_lms.attendance import find_learners  # it needs nbgrader, which is slow to import

        return find_learners(root, [learner], "--learner")[0]
    if why := why_no_learner(learner):
        then = "choose another id, such as --learner jdoe"
        raise UsageError(f"{learner!r} cannot be a learner's id: {why}", "--learner", then)
    return learner


def _filed(
    uploads: Sequence[Arrived], book: LessonBook, desk: Desk, roster: Roster | None, among: Sequence[str], learner: str
) -> list[Item]:
    """Every file, with its owner, its time and its lesson. ``among``, ``learner``: what a person has said of all files."""
    items: list[Item] = []
    lesson = among[0] if len(among) == 1 else ""
    for at, upload in enumerate(uploads):
        own = [_looked_at(replace(item, upload=at), book) for item in upload.items]
        counted = (item for item in own if item.safe and not is_junk(item.parts))
        known = Upload(
            upload.name,
            [(item.parts, item.guess.lesson) for item in counted],
            tuple(book.lessons),
            tuple(systems().values()),
            {item.parts for item in own if item.archive},
            roster,
            places(desk.root).learners(),
            desk.numbers,
            lesson,
        )
        found = owners_by_system(known, upload.fetched, upload.system) if upload.system else owners(known)
        # If all entries of an archive are of one hour, it was packed then: Moodle since 2022 notes when each was downloaded.
        times = {item.time for item in own if item.time is not None}
        dated = bool(times) and max(times) - min(times) > _DOWNLOADING
        told = [_owned(item, found.get(item.parts, Whose()), learner, desk, dated) for item in own]
        desk.note(replace(item.line, lesson=lesson or item.guess.lesson) for item in told)
        items += told
    return [
        _of_lesson(item, among or _told(item, uploads[item.upload], book)) if item.is_answer else item for item in items
    ]


def _told(item: Item, upload: Arrived, book: LessonBook) -> list[str]:
    """The lessons that a system has a file for; nothing if it says none. One that the course does not have is no lesson of it."""
    told = upload.fetched[item.parts[0]].lesson if upload.fetched else ""
    fits = [one for one in book.lessons if told in (one, assignment_of(one))]
    return fits or [told] * bool(told)


def _owned(item: Item, whose: Whose, learner: str, desk: Desk, dated: bool) -> Item:
    """A file with its owner, and when it was handed in, as far as its LMS says so; ``dated``: whether times of entries may."""
    if whose.status:
        return item.ended(whose.status)
    if item.line.status == "junk" or not item.safe:
        return item
    if learner:
        whose = Whose(learner, file=item.parts[-1])
    if why := desk.why_not(whose.learner, "") if whose.learner else "":
        whose = Whose(why=why, file=whose.file)
    entry = whose.entry or LmsEntry("")
    time = None if entry.unsure else entry.when
    if dated and whose.system and systems()[whose.system].dates_entries:
        time = item.time
    line = replace(
        item.line,
        learner=whose.learner,
        why=item.line.why or whose.why,
        time=time if time and time <= datetime.now(UTC) + _FAR else None,
        late=entry.late,
        said="" if entry.unsure else entry.said,
        number=entry.number,
        account=f"{whose.system}:{entry.account}" if entry.account else "",
        system=whose.system,
    )
    return replace(item, line=line, called=whose.file)


def _as_it_counted(root: Path, asked: Sequence[Sequence[Path]], item: Item) -> Item:
    """With the time that lies beside it if it is a copy that a run has put aside; in other uploads it may be the learner's own.

    ``asked``: the paths of the uploads; one that a system has fetched has none.
    """
    if item.upload >= len(asked):
        return item
    path = asked[item.upload][0]
    home = root.resolve() / "collected"
    folder = (path if path.is_dir() else path.parent).resolve().joinpath(*item.parts[:-1])
    # graded/LEARNER/ASSIGNMENT/DIGEST or UPLOAD/replaced/LEARNER/ASSIGNMENT
    inside = folder.parts[len(home.parts) :]
    if not folder.is_relative_to(home) or ("graded" not in inside[:1] and "replaced" not in inside[1:2]):
        return item
    try:
        time = time_in(home.joinpath(*inside[:4], TIME), places(root).zone)
    except ValueError as error:
        return replace(item, line=replace(item.line, said=in_one_line(error)))
    return replace(item, line=replace(item.line, time=time))


def _with_word(item: Item, said: Mapping[str, str]) -> Item:
    """With what its LMS's table says of a hand-in that nothing dates, such as ``Submitted for grading - 2 days late``."""
    name, _, number = item.line.account.partition(":")
    if not name or item.line.time is not None or item.line.status not in STANDS or item.line.why:
        return item
    told = said.get(systems()[name].on_roster(number), "")
    # In every language the words for late hold a number; for in time they hold none.
    return item.ended(item.line.status, f"{name} says: {told}") if re.search(r"\d", told) else item


def _looked_at(item: Item, book: LessonBook) -> Item:
    """What kind of file it is, and which lesson its content belongs to."""
    name = item.parts[-1].casefold()
    # When something was handed in says an LMS, and no timestamp.txt. The files of an archive are listed by themselves.
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


def _of_lesson(item: Item, among: Sequence[str]) -> Item:
    """The lesson that a notebook counts for, or why it counts for none. ``among``: those that it may have been handed in for."""
    holds = item.guess.lesson
    if not item.line.learner:
        return item.ended("no learner known", item.line.why, lesson=holds)
    found = (holds,) if holds else item.guess.others or among
    fits = [one for one in found if not among or one in among]
    if among and not fits:
        asked = among[0] if len(among) == 1 else assignment_of(among[0])
        return item.ended("no lesson known", f"{item.holds}, handed in for {asked}")
    if len(fits) == 1 and (holds or item.kind is Kind.NOTEBOOK):
        return replace(item, line=replace(item.line, lesson=fits[0]))
    return item.ended("no lesson known", f"{item.holds}; --lesson LESSON hands it in all the same")


@contextlib.contextmanager
def _waiting_room(root: Path) -> Iterator[Path]:
    """Where uploads wait until all have come whole: nothing half-copied ever lies under its final name."""
    room = root / "collected" / ".coming"
    # What a run that was cut off left behind; nobody else is at work here.
    shutil.rmtree(room, ignore_errors=True)
    room.mkdir(parents=True)
    try:
        yield room
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _kept(root: Path, arrived: Sequence[Arrived], items: Sequence[Item], asked: str) -> Collected:
    """Give the uploads their folders and lists, and put into submitted/ what counts."""
    known = {upload.fingerprint: upload for upload in uploads_in(root)}
    uploads, notes, homes = [], [], []
    # Facts first: what follows may be cut off, and the next run then puts into submitted/ what is not there yet.
    for at, upload in enumerate(arrived):
        lines = [item.line for item in items if item.upload == at]
        changed = any(line.status == "taken" or line.beside for line in lines)
        before = known.get(upload.fingerprint, KeptUpload("", "", ""))
        folder, here = before.folder, upload.folder
        if folder:
            notes.append(f"{upload.name}: the same upload came before, as collected/{folder}")
            notes[-1] += "" if changed else "; nothing changed"
        else:
            folder = _next_folder(root, upload.name)
        placed = tuple(replace(one, folder=folder) for one in lines)
        kept = KeptUpload(upload.name, upload.fingerprint, folder, asked or before.handed_in_for, placed, changed)
        home = root / "collected" / folder
        if not before.folder:
            write_list(upload.folder, kept)
            here = Path(shutil.move(upload.folder, home))
        elif changed:
            write_list(home, kept)
        uploads.append(kept)
        homes.append((here, home))
    for kept, (here, home) in zip(uploads, homes, strict=True):
        if kept.unfinished:
            place(root, kept.lines, here, home / "replaced")
            write_list(home, replace(kept, unfinished=False))
    return Collected(tuple(uploads), tuple(notes))


def _next_folder(root: Path, name: str) -> str:
    """The name of a folder in collected/, with the next number."""
    taken = (re.match(r"\d{4,}", one.name) for one in (root / "collected").glob("*"))
    number = max((int(found[0]) for found in taken if found), default=0) + 1
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:60]
    return f"{number:04d}-{plain or 'upload'}"


def _uploads(root: Path, paths: Sequence[Path]) -> list[list[Path]]:
    """What is collected together: each folder and archive by itself, loose files as one upload. Raises UsageError."""
    own = {path.resolve() for path in (*places(root).private, root / "demo")}
    for path in paths:
        _refuse_unfit(root, path, own)
    alone = [path for path in paths if path.is_dir() or is_archive(path.name)]
    loose = [path for path in paths if path not in alone]
    return [[path] for path in alone] + ([loose] if loose else [])


def _refuse_unfit(root: Path, path: Path, own: set[Path]) -> None:
    """Raise UsageError for what is no upload."""
    name_it = "name the folder or zip that came"
    place, is_folder = path.resolve(), path.is_dir()
    if not is_folder and not path.is_file():
        raise UsageError("there is no such folder or file", str(path.absolute()), name_it)
    around = {root.resolve(), root.resolve() / "collected", *root.resolve().parents}
    if own & {place, *place.parents} or place in around:
        raise UsageError("this folder is the course's own: there is nothing to collect in it", str(place), name_it)
    if not os.access(path, os.R_OK | (os.X_OK if is_folder else 0)):
        raise UsageError("the upload cannot be read: permission denied", str(place), f"chmod -R u+rX {path}")
