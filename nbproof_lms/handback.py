"""Feedback goes back to where the notebooks came from: zips that Moodle and Canvas take, or a table for a mail merge.

A second hand-back holds only what is new or has changed since, as ``handback/record.json`` says. Nothing that was written is ever
overwritten, because it may not have been uploaded yet.

Each system says what a page's name must begin with (``System.feedback_start``). That follows from the names of collected files.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import zipfile
from argparse import Namespace
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

from nbproof.command import course_command
from nbproof.csv_text import csv_of
from nbproof.errors import CourseError, disk_trouble
from nbproof.feedback.page_writer import page_path
from nbproof.feedback.pages import chosen_submissions, write_feedback
from nbproof.files import read_dict, replace_file, written_whole
from nbproof.gradebook.marks import Mark, Person
from nbproof.key import Key
from nbproof.places import places
from nbproof.report.records import outdated, read_class, up_to_date
from nbproof.report.statistics import marker_lines
from nbproof.run.journal import only_run, problems_of
from nbproof.terminal import console_for_output, progress, say
from nbproof.text import counted, printable, some_of
from nbproof_lms.arrivals import safe_name
from nbproof_lms.attendance import background_of
from nbproof_lms.outcome import FileRecord, digest_in, meant_in
from nbproof_lms.roster import Roster, members_of
from nbproof_lms.system import LmsEntry, System, find_system, offered

__all__ = ["MAIL_TABLE", "email_of", "hand_back_pages"]


def hand_back_pages(request: Namespace) -> int:
    """Bring pages up to date, pack those that are new, and print where to put them. ``request``: a call of the command.

    Returns 0 if all is packed, or was before; 1 if something could not be packed, which is listed. Raises CourseError if a lesson
    or a file cannot be used.
    """
    root: Path = request.course
    keys = chosen_submissions(root, request.names, request.lesson, pages=True)
    with only_run(root):
        with progress("feedback") as step:
            results = read_class(
                request.works_for, root, request.lesson, background=background_of(request.works_for, root)
            )
            current = up_to_date(results, keys)
            graded = [key for key in current if _has_page(root, key, results.marks.get(key))]
            problems = {key: one.problem for key, one in problems_of(root).items() if key in set(keys)}
            feedback = write_feedback(request.works_for, root, graded, step, problems=problems)
        failed = {(learner, lesson) for learner, lesson, _ in feedback.failed}
        wanted = [key for key in current if key not in failed]
        done = _hand_back(root, request.target, wanted, results.people, force=request.force)
    behind = outdated(results, request.names)
    asked = marker_lines([one for key, one in results.marks.items() if key in set(keys)], root)
    failures = map(_failure, feedback.failed)
    lines = (*failures, *behind, *asked, *_packed(done, results.people), *_lost(done))
    say(console_for_output(), *map(printable, lines))
    return 1 if failed or behind or done.nowhere else 0


def _failure(failed: tuple[str, str, str]) -> str:
    """A line on a page that could not be written: learner, lesson, which may be empty, and the reason."""
    learner, lesson, reason = failed
    page = "/".join(filter(None, (learner, lesson)))
    return f"! not written: feedback/{page}: {reason}: mend that, then this command again"


def _has_page(root: Path, key: Key, mark: Mark | None) -> bool:
    """Whether it is graded, or a person has marked it."""
    return bool(mark and mark.by_person) or places(root).folder("autograded", *key).is_dir()


class _Address(NamedTuple):
    """The address of a learner's page. The account of the highest one counts.

    ``is_sure``: the roster has this number of the learner. ``is_current``: it came with the copy in submitted/. ``number``: the
    LMS's number of what was handed in. ``account``: its number of the learner. ``start``: what the page's name begins with.
    """

    is_sure: bool
    is_current: bool
    number: int
    account: str
    start: str


def _addresses(root: Path, system: System) -> dict[Key, str]:
    """Key -> what the name of the page begins with, for all learners with a number of this LMS in collected/.

    A number that two learners would have is nobody's.
    """
    found, unsure = _found_addresses(root, system)
    takers = Counter((key.lesson, address.account) for key, address in found.items())
    return {key: one.start for key, one in found.items() if key not in unsure and takers[key.lesson, one.account] == 1}


def _found_addresses(root: Path, system: System) -> tuple[dict[Key, _Address], set[Key]]:
    """Key -> the address that counts, and the keys for which it may be another learner's.

    The account that came with the copy in submitted/ counts; if that copy came in another way, the account of another copy may be
    another learner's, unless the roster has this number of the learner. Of an account the newest number in the assignment counts,
    whichever copy came with it: Canvas takes a page for the latest attempt only.
    """
    found: dict[Key, _Address] = {}
    newest: dict[tuple[Key, str], _Address] = {}
    roster = Roster(members_of(root))
    current: set[Key] = set()
    others: set[Key] = set()
    digest_of = cache(partial(digest_in, root))
    # A learner who handed in a picture there, and sent the notebook later, is known there all the same.
    for record, key in meant_in(root):
        if not all(key):
            continue
        is_current = record.sha256 == digest_of(*key)
        if record.lesson and record.status != "data file":
            copies = current if is_current else others
            copies.add(key)
        entry = _entry(record, system)
        if entry is not None and (start := system.feedback_start(entry)):
            is_sure = roster.numbered(system.on_roster(entry.account)) == {record.learner}
            address = _Address(is_sure, is_current, entry.number, entry.account, start)
            if key not in found or found[key][:3] <= address[:3]:
                found[key] = address
            attempts = Key(key.learner, key.assignment), entry.account
            if attempts not in newest or newest[attempts].number <= entry.number:
                newest[attempts] = address
    for key, one in [*found.items()]:
        last = newest[Key(key.learner, key.assignment), one.account]
        found[key] = one._replace(number=last.number, start=last.start)
    unsure = {key for key in current & others if key in found and not (found[key].is_sure or found[key].is_current)}
    return found, unsure


def _doubts(root: Path, system: System, keys: Collection[Key]) -> dict[Key, _Address]:
    """Key -> the address that may be another learner's, for those of these keys for which a person can say on the roster that it
    is not."""
    found, unsure = _found_addresses(root, system)
    members = {member.learner for member in members_of(root)}
    theirs = (key for key in sorted(unsure.intersection(keys)) if key.learner in members)
    return {key: found[key] for key in theirs if system.on_roster(found[key].account)}


def _handed_over(root: Path, system: System) -> Set[str]:
    """The lessons of which something came in a download of this LMS."""
    return {key.lesson for record, key in meant_in(root) if record.account.startswith(f"{system.name}:")}


def _entry(record: FileRecord, system: System) -> LmsEntry | None:
    """The LMS's name for a file, read. `collect` has settled who has that number; the outermost name with the number counts."""
    read = (system.read(part) for part in record.name.split("/") if part)
    return next((one for one in read if one is not None and f"{system.name}:{one.account}" == record.account), None)


_VARIES = re.compile('<meta name="course-feedback" content="[^"]*">|<footer><p>Graded [^.<]*')
"""The parts of a page that say when and from what it was made, and nothing about the learner's work."""


@dataclass(frozen=True)
class _HandedBack:
    """The result of a hand-back. A page is told by its learner and lesson.

    ``parcels``: each file to upload, or to mail from, and the pages in it. ``unchanged``: how many pages were handed back
    before, and say the same now. ``nowhere``: pages that cannot go back, because nothing says where the LMS takes them.
    ``elsewhere``: another LMS, and the pages that it takes. ``doubts``: an address that may be another learner's. ``mailed``:
    pages that this LMS does not take, and that stand in a table of ``--for folder``. ``came``: the lessons that this LMS handed
    over.
    """

    target: str
    unchanged: int
    nowhere: Set[Key]
    elsewhere: Mapping[str, Collection[Key]]
    doubts: Mapping[Key, _Address]
    mailed: Collection[Key] = frozenset()
    came: Set[str] = frozenset()
    parcels: dict[Path, Collection[Key]] = field(default_factory=dict)


def _hand_back(root: Path, target: str, keys: Iterable[Key], people: Sequence[Person], *, force: bool) -> _HandedBack:
    """Write what ``target`` takes, of these pages; all of them with ``force``. Raises CourseError if it cannot be written."""
    folder = root / "handback"
    written = _written(root, keys)
    starts = dict.fromkeys(written, "") if target == "folder" else _addresses(root, find_system(target))
    record = _read_record(root)
    before, posted = record.get(target, {}), record.get("folder", {})
    asked = {key: page for key, page in written.items() if key in starts}
    pages = {key: page for key, page in asked.items() if force or before.get("/".join(key)) != _digest(page)}
    left = written.keys() - asked.keys()
    elsewhere = _elsewhere(root, target, left)
    mailed = {key for key in left if posted.get("/".join(key)) == _digest(written[key])}.difference(*elsewhere.values())
    nowhere = left.difference(mailed, *elsewhere.values())
    doubts = _doubts(root, find_system(target), nowhere) if nowhere else {}
    came = _handed_over(root, find_system(target)) if nowhere else frozenset[str]()
    done = _HandedBack(target, len(asked) - len(pages), nowhere, elsewhere, doubts, mailed, came)
    then = "move away what lies there, free some space, or let your user write there; then run the same command again"
    with disk_trouble(CourseError, "what is to be handed back cannot be written", folder, then):
        folder.mkdir(parents=True, exist_ok=True)
        if target != "folder":
            _write_zips(root, done, pages, starts)
        elif pages:
            path = _mail_table(root, folder, pages, people)
            done.parcels[path] = _noted(root, target, pages)
    return done


def _write_zips(root: Path, done: _HandedBack, pages: Mapping[Key, bytes], starts: Mapping[Key, str]) -> None:
    """Write a zip for each lesson, and note it in ``done``. ``starts``: what the names of the pages begin with."""
    for lesson in sorted({key.lesson for key in pages}):
        name = safe_name(lesson)
        mine = {key: page for key, page in pages.items() if key.lesson == lesson}
        path = _free(root / "handback", f"{done.target}-{name}", ".zip")
        _zip(path, {f"{starts[key]}{name}_feedback.html": page for key, page in mine.items()})
        done.parcels[path] = _noted(root, done.target, mine)


def _elsewhere(root: Path, target: str, keys: Collection[Key]) -> dict[str, Collection[Key]]:
    """Other LMSs, and the pages of these that each takes."""
    if not keys:
        return {}
    others = [one for one in offered().values() if one.upload and one.option != target]
    theirs = {one.option: _addresses(root, one).keys() & keys for one in others}
    return {option: found for option, found in theirs.items() if found}


def _written(root: Path, keys: Iterable[Key]) -> dict[Key, bytes]:
    """The pages of these keys that are there, lesson by lesson."""
    paths = {key: page_path(root, *key) for key in sorted(keys, key=lambda key: (key[1], key[0]))}
    return {key: path.read_bytes() for key, path in paths.items() if path.is_file() and not path.is_symlink()}


def _digest(page: bytes) -> str:
    return hashlib.sha256(_VARIES.sub("", page.decode("utf-8", "replace")).encode()).hexdigest()


def _noted(root: Path, target: str, pages: Mapping[Key, bytes]) -> Collection[Key]:
    """Write into the record which pages were packed. A page after a cut is handed back once more, and never forgotten."""
    record = _read_record(root)
    record[target] = record.get(target, {}) | {"/".join(key): _digest(page) for key, page in pages.items()}
    replace_file(root / "handback" / _NAME, json.dumps(record, indent=1, sort_keys=True))
    return pages.keys()


def _zip(path: Path, files: Mapping[str, bytes]) -> None:
    """Pages in a zip, written whole or not at all."""
    with (
        written_whole(path) as fresh,
        zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, data in sorted(files.items()):
            archive.writestr(name, data)


MAIL_TABLE = ("learner", "name", "first_name", "last_name", "email", "lesson", "path")


def _mail_table(root: Path, folder: Path, keys: Iterable[Key], people: Sequence[Person]) -> Path:
    """A table that mail-merge programs take: who gets which page of feedback/."""
    path = _free(folder, "mail", ".csv")
    known = {person.id: person for person in people}
    rows: list[Sequence[object]] = [MAIL_TABLE]
    for learner, lesson in sorted(keys):
        person = known.get(learner, Person(learner))
        page = page_path(root, learner, lesson).absolute()
        who = (learner, person.name, person.first_name, person.last_name, email_of(person))
        rows.append((*who, lesson, str(page)))
    replace_file(path, csv_of(rows))
    return path


def email_of(person: Person) -> str:
    """A person's address, or the id if that is an address; empty if there is none."""
    address = person.email or person.id
    return address if re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", address) else ""


def _free(folder: Path, stem: str, ending: str) -> Path:
    """The path with the next number that nothing in the folder has."""
    return next(path for at in count(1) if not (path := folder / f"{stem}-{at}{ending}").exists())


_NAME = "record.json"


def _read_record(root: Path) -> dict[str, dict[str, str]]:
    """Target -> learner and lesson, with a slash between -> the digest of their page when it was handed back.

    It is empty if the file cannot be read: then everything goes back once more.
    """
    record = read_dict(root / "handback" / _NAME)
    return {target: pages for target, pages in record.items() if isinstance(pages, dict)}


def _packed(done: _HandedBack, people: Sequence[Person]) -> Iterator[str]:
    """Lines on what was packed and where it goes."""
    first = "nothing new to hand back"
    packed = list(chain.from_iterable(done.parcels.values()))
    learners = {learner for learner, _ in packed}
    if packed:
        first = f"to hand back: {counted(len(packed), 'page')} for {_people(learners)}"
    if done.unchanged:
        first += f"; {done.unchanged} handed back before, and unchanged since (--force: hand them back again)"
    yield first
    for path, keys in done.parcels.items():
        yield f"  {path}  {counted(len(keys), 'page')}"
    if done.parcels and done.target == "folder":
        yield "next: give the table to your mail merge; its column path says what to attach"
        if unknown := learners - {person.id for person in people if email_of(person)}:
            table = course_command("roster import CSV")
            yield f"note: no e-mail address of {_people(unknown)}: {table} takes a table of them"
    elif done.parcels:
        yield f"next: {find_system(done.target).upload}"
        yield f"note: {find_system(done.target).upload_remark}"


def _lost(done: _HandedBack) -> Iterator[str]:
    """Lines on the pages that another LMS takes, or that went by mail, and on those that cannot go back anywhere."""
    for option, keys in done.elsewhere.items():
        pages = f"{counted(len(keys), 'page')} of {_people(learner for learner, _ in keys)}"
        yield f"note: {find_system(option).name} takes {pages}: {course_command(f'feedback --for {option}')}"
    if done.mailed:
        pages = f"{counted(len(done.mailed), 'page')} of {_people(learner for learner, _ in done.mailed)}"
        yield f"note: not in a zip, but in a table of --for folder, and unchanged since: {pages}"
    if done.nowhere:
        yield from _lost_everywhere(done)


def _lost_everywhere(done: _HandedBack) -> Iterator[str]:
    """Lines on the pages that cannot go back anywhere, and what to do about them."""
    for lesson in sorted({lesson for _, lesson in done.nowhere}):
        name = find_system(done.target).name
        mine = _people(key.learner for key in done.nowhere if key.lesson == lesson)
        why = f"nothing says for certain which numbers {name} has for them"
        if lesson not in done.came:
            why = f"nothing of it came from {name}, so the number that {name} gives to a hand-in is missing"
        yield f"! not in a zip: {lesson} of {mine}: {why}"
    for key, one in done.doubts.items():
        also = find_system(done.target).on_roster(one.account)
        step = course_command(shlex.join(["roster", "add", key.learner, "--also", also]))
        yield f"  next: only if {one.start!r} there is {key.learner}'s own, and nobody else's: {step}"
        yield "        then this command again"
    unknown = done.nowhere - done.doubts.keys()
    mail = course_command("feedback LEARNER --for folder")
    is_by_hand = done.came.isdisjoint(key.lesson for key in done.nowhere)
    if is_by_hand:
        yield f"  next: {mail}: by mail"
        yield "  or hand back with --for of the LMS that they use; or, if they handed it in there as well:"
        yield "        download the submissions there, then (what is unchanged stays as it is):"
    elif unknown:
        yield "  next: download the submissions there, then (what is unchanged stays as it is):"
    if unknown:
        yield f"        {course_command('collect DOWNLOAD --lesson LESSON --names CSV')}"
        if table := find_system(done.target).export:
            yield f"        where CSV is the table that has these numbers ({table})"
        yield "        then this command again"
    if not is_by_hand:
        yield "  or hand back with --for of the LMS that they use, or by mail:"
        yield f"        {mail}"


def _people(learners: Iterable[str]) -> str:
    return some_of(sorted({*learners}), 8)
