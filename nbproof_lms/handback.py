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
from argparse import Namespace
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain, count
from pathlib import Path

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
from nbproof_lms.attendance import known_of
from nbproof_lms.outcome import Line, digest_in, meant_in
from nbproof_lms.roster import Roster, members_of
from nbproof_lms.system import LmsEntry, System, find_system, systems

__all__ = ["hand_back_pages"]


def hand_back_pages(request: Namespace) -> int:
    """Bring pages up to date, pack those that are new, say where to put them; ``request``: a call of the command.

    0 if all is packed, or was before; 1 if something could not be, and is listed. Raises CourseError.
    """
    root: Path = request.course
    keys = chosen_submissions(root, request.names, request.lesson, pages=True)
    with only_run(root):
        with progress("feedback") as step:
            results = read_class(request.works_for, root, request.lesson, told=known_of(request.works_for, root))
            current = up_to_date(results, keys)
            graded = [key for key in current if _has_page(root, key, results.marks.get(key))]
            problems = {key: one.problem for key, one in problems_of(root).items() if key in set(keys)}
            feedback = write_feedback(request.works_for, root, graded, step, problems=problems)
        failed = {(learner, lesson) for learner, lesson, _ in feedback.failed}
        wanted = [key for key in current if key not in failed]
        done = _hand_back(root, request.target, wanted, results.people, force=request.force)
    lines = [
        f"! not written: feedback/{learner}{'/' if lesson else ''}{lesson}: {reason}: mend that, then this command again"
        for learner, lesson, reason in feedback.failed
    ]
    console = console_for_output()
    told = outdated(results, request.names)
    asked = marker_lines([one for key, one in results.marks.items() if key in set(keys)], root)
    for line in (*lines, *told, *asked, *_packed(done, results.people), *_lost(done)):
        say(console, printable(line))
    return 1 if failed or told or done.nowhere else 0


def _has_page(root: Path, key: Key, mark: Mark | None) -> bool:
    """Whether it is graded, or a person has marked it."""
    return bool(mark and mark.by_person) or places(root).folder("autograded", *key).is_dir()


def _addresses(root: Path, system: System) -> dict[Key, str]:
    """(learner, lesson) -> how the name of their page begins, for all learners with a number of this LMS in collected/.

    What came with the copy in submitted/ counts, the last of it: Canvas numbers every attempt anew. Where that copy came in
    another way, the address of another copy may be somebody else's, unless the roster has this number of the learner's. A
    number that two learners would have is nobody's.
    """
    found: dict[Key, tuple[tuple[bool, bool, int], str, str]] = {}
    roster = Roster(members_of(root))
    came, others = set[Key](), set[Key]()
    held = cache(partial(digest_in, root))
    # A learner who handed in a picture there, and sent the notebook later, is known there all the same.
    for line, key in meant_in(root):
        if line.lesson and line.status != "data file":
            (came if line.sha256 == held(*key) else others).add(key)
        entry = _entry(line, system)
        start = system.feedback_start(entry) if entry is not None and all(key) else ""
        if entry is None or not start:
            continue
        is_sure = roster.numbered(system.on_roster(entry.account)) == {line.learner}
        when = (is_sure, line.sha256 == held(*key), entry.number)
        if key not in found or found[key][0] <= when:
            found[key] = (when, entry.account, start)
    taken = Counter((lesson, account) for (_, lesson), (_, account, _) in found.items())
    unsure = {key for key in came & others if key in found and not any(found[key][0][:2])}
    return {
        key: start for key, (_, account, start) in found.items() if taken[key[1], account] == 1 and key not in unsure
    }


def _entry(line: Line, system: System) -> LmsEntry | None:
    """What the LMS called the file. `collect` has settled who has that number; the outermost name with the number counts."""
    read = (system.read(part) for part in line.name.split("/") if part)
    return next((one for one in read if one is not None and f"{system.name}:{one.account}" == line.account), None)


_VARIES = re.compile('<meta name="course-feedback" content="[^"]*">|<footer><p>Graded [^.<]*')
"""What tells when and from what a page was made, and nothing about the learner's work."""


@dataclass(frozen=True)
class HandedBack:
    """What a hand-back did.

    ``parcels``: each file to upload, or to mail from, and the pages in it. ``unchanged``: how many pages were handed back
    before, and say the same now. ``nowhere``: pages that cannot go back, because nothing says where the LMS takes them.
    ``elsewhere``: another LMS, and the pages that it takes. A page is told by its learner and lesson.
    """

    target: str
    unchanged: int
    nowhere: Collection[Key]
    elsewhere: Mapping[str, Collection[Key]]
    parcels: dict[Path, Collection[Key]] = field(default_factory=dict)


def _hand_back(root: Path, target: str, keys: Iterable[Key], people: Sequence[Person], *, force: bool) -> HandedBack:
    """Write what ``target`` takes, of these pages; all of them with ``force``. Raises CourseError if it cannot be written."""
    folder = root / "handback"
    written = _written(root, keys)
    starts = dict.fromkeys(written, "") if target == "folder" else _addresses(root, find_system(target))
    before = _read_record(root).get(target, {})
    asked = {key: page for key, page in written.items() if key in starts}
    pages = {key: page for key, page in asked.items() if force or before.get("/".join(key)) != _digest(page)}
    left = written.keys() - asked.keys()
    elsewhere = _elsewhere(root, target, left) if left else {}
    done = HandedBack(target, len(asked) - len(pages), left.difference(*elsewhere.values()), elsewhere)
    then = "move away what lies there, free some space, or let your user write there; then run the same command again"
    with disk_trouble(CourseError, "what is to be handed back cannot be written", folder, then):
        folder.mkdir(parents=True, exist_ok=True)
        if target == "folder" and pages:
            path = _mail_table(root, folder, pages, people)
            done.parcels[path] = _noted(root, target, pages)
        for lesson in sorted({lesson for _, lesson in pages if target != "folder"}):
            mine = {key: page for key, page in pages.items() if key[1] == lesson}
            path = _free(folder, f"{target}-{safe_name(lesson)}", ".zip")
            _zip(path, {f"{starts[key]}{safe_name(lesson)}_feedback.html": page for key, page in mine.items()})
            done.parcels[path] = _noted(root, target, mine)
    return done


def _elsewhere(root: Path, target: str, keys: Collection[Key]) -> dict[str, Collection[Key]]:
    """Another LMS, and which of these pages it takes."""
    others = [one for one in systems().values() if one.upload and one.option != target]
    theirs = {one.option: _addresses(root, one).keys() & keys for one in others}
    return {option: found for option, found in theirs.items() if found}


def _written(root: Path, keys: Iterable[Key]) -> dict[Key, bytes]:
    """The pages that there are, lesson by lesson."""
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


_TABLE = ("learner", "name", "first_name", "last_name", "email", "lesson", "path")


def _mail_table(root: Path, folder: Path, keys: Iterable[Key], people: Sequence[Person]) -> Path:
    """A table that mail-merge programs take: who gets which page of feedback/."""
    path = _free(folder, "mail", ".csv")
    known = {person.id: person for person in people}
    rows: list[Sequence[object]] = [_TABLE]
    for learner, lesson in sorted(keys):
        person = known.get(learner, Person(learner))
        page = page_path(root, learner, lesson).absolute()
        who = (learner, person.name, person.first_name, person.last_name, _email(person))
        rows.append((*who, lesson, str(page)))
    replace_file(path, csv_of(rows))
    return path


def _email(person: Person) -> str:
    """Their address, of the roster or the gradebook, or an id that is one; empty if there is none."""
    told = person.email or person.id
    return told if re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", told) else ""


def _free(folder: Path, stem: str, ending: str) -> Path:
    """The next number that nothing there has."""
    return next(path for at in count(1) if not (path := folder / f"{stem}-{at}{ending}").exists())


_NAME = "record.json"


def _read_record(root: Path) -> dict[str, dict[str, str]]:
    """By target: learner and lesson, with a slash between, and the digest of what their page said when it was handed back.

    Nothing, if that cannot be read: then everything goes back once more.
    """
    told = read_dict(root / "handback" / _NAME)
    return {target: pages for target, pages in told.items() if isinstance(pages, dict)}


def _packed(done: HandedBack, people: Sequence[Person]) -> Iterator[str]:
    """What was packed and where it goes."""
    told = "nothing new to hand back"
    packed = list(chain.from_iterable(done.parcels.values()))
    learners = {learner for learner, _ in packed}
    if packed:
        told = f"to hand back: {counted(len(packed), 'page')} for {_people(learners)}"
    before = f"; {done.unchanged} handed back before, and unchanged since (--force: hand them back again)"
    yield f"{told}{before}" if done.unchanged else told
    for path, keys in done.parcels.items():
        yield f"  {path}  {counted(len(keys), 'page')}"
    if done.parcels and done.target == "folder":
        yield "next: give the table to your mail merge; its column path says what to attach"
        if unknown := learners - {person.id for person in people if _email(person)}:
            table = course_command("roster import CSV")
            yield f"note: no e-mail address of {_people(unknown)}: {table} takes a table of them"
    elif done.parcels:
        yield f"next: {find_system(done.target).upload}"
        yield f"note: {find_system(done.target).upload_remark}"


def _lost(done: HandedBack) -> Iterator[str]:
    """Lines on the pages that another LMS takes, and on those that cannot go back anywhere."""
    for option, keys in done.elsewhere.items():
        pages = f"{counted(len(keys), 'page')} of {_people(learner for learner, _ in keys)}"
        yield f"note: {find_system(option).name} takes {pages}: {course_command(f'feedback --for {option}')}"
    for lesson in sorted({lesson for _, lesson in done.nowhere}):
        name, mine = find_system(done.target).name, _people(who for who, other in done.nowhere if other == lesson)
        yield f"! not in a zip: {lesson} of {mine}: nothing says for certain which numbers {name} has for them"
    if done.nowhere:
        yield "  next: download the submissions there, then (what is unchanged stays as it is):"
        yield f"        {course_command('collect DOWNLOAD --lesson LESSON --names CSV')}"
        yield "        then this command again. Or hand back with --for of the LMS that they use, or by mail:"
        yield f"        {course_command('feedback LEARNER --for folder')}"


def _people(learners: Iterable[str]) -> str:
    return some_of(sorted({*learners}), 8)
