"""``python -m course roster``: show the class and what it has handed in; add, import and remove learners; and set when a lesson
is due, for the class and for one learner."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
from argparse import Namespace
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from rich.table import Table
from rich.text import Text

from nbproof.command import course_command, nbgrader_command
from nbproof.course_file import Course
from nbproof.errors import CourseError, UsageError, disk_trouble, refuse_unknown
from nbproof.gradebook.marks import Person
from nbproof.gradebook.reader import due_dates_in, opened_gradebook
from nbproof.gradebook.storage_errors import trouble_with_gradebook
from nbproof.gradebook.writer import Writer
from nbproof.key import Key, assignment_of
from nbproof.limits import GradingLimits
from nbproof.moments import moment_in
from nbproof.places import course_config, places
from nbproof.report.records import ClassBackground, outdated, read_class
from nbproof.run.batch import register_lessons
from nbproof.run.digests import LessonState
from nbproof.run.intake import gradable_lessons, take_in
from nbproof.run.journal import RunState, forget, only_run, problems_of
from nbproof.terminal import agreed, console_for_output, say
from nbproof.text import counted, in_one_line, in_utc, printable
from nbproof_lms.attendance import (
    attend,
    background_of,
    find_learners,
    late_by_lms,
    lines_of,
    name_in_gradebook,
    people_of,
    taken_off_lines,
)
from nbproof_lms.names import why_no_learner
from nbproof_lms.outcome import STANDS, FileRecord, uploads_in, write_list
from nbproof_lms.roster import ROSTER, Member, enrol, import_roster, kept_roster, members_of, strike_off
from nbproof_lms.settling import but_settled, without_place

__all__ = ["lines_of_due_dates", "read_due", "run_roster"]


def _show(course: Course, root: Path) -> int:
    """Print the class, and what each learner has handed in."""
    lessons = gradable_lessons(root, [])
    background = background_of(course, root)
    came = _came(course, root, lessons, background)
    people = people_of(root)
    there = attend(root, people, came.keys(), lessons)
    found, seen = but_settled(root, came, replace(there, without_place=without_place(root, there.nothing_gradable)))
    console = console_for_output()
    if not people and not found.nothing_gradable:
        print(
            f"nobody is in the class yet. Next: {course_command('roster import FILE', root)}, or `roster add NAME`, or `collect`"
        )
        return 0
    late = late_by_lms(root)
    not_gradable = dict.fromkeys((one.key for one in found.nothing_gradable), "it cannot be graded")
    console.print(_table(people.values(), _cells(came | not_gradable, seen, late)))
    says_late = "; (l) late, as the LMS says" if late else ""
    say(console, f"- nothing, ! nothing that can be graded{says_late}")
    ungraded = outdated(read_class(course, root, [], background=background)) if came else []
    lines = (*lines_of(replace(found, missing={}), root), *ungraded, *lines_of_due_dates(root))
    say(console, *map(printable, lines))
    if (root / ROSTER).exists():
        for line in (*taken_off_lines(root, people), f"roster:    {(root / ROSTER).resolve()}"):
            say(console, line)
    if (kept := kept_roster(root)) is not None:
        say(console, *(f"note: {printable(note)}" for note in kept.notes))
    return 0


def _came(course: Course, root: Path, lessons: list[str], background: ClassBackground) -> dict[Key, str]:
    """All that lies in submitted/ or is on its way there -> a sentence on what is wrong with it; empty if it can be graded."""
    came = {one.key: one.problem for one in take_in(course, root, lessons).submissions}
    # A run may have found more that cannot be graded, such as a file that is no notebook.
    came |= {key: one.problem for key, one in problems_of(root).items() if key in came}
    return came | dict.fromkeys(background.coming, "")


def _cells(came: Mapping[Key, str], seen: Collection[Key], late: Collection[Key]) -> dict[Key, str]:
    """The texts of the table for each hand-in. ``came``: each with a sentence on what is wrong with it, or an empty one."""
    cells = dict.fromkeys(seen, "settled")
    for key, why in came.items():
        if not why:
            cells[key] = "yes"
        elif key not in seen:
            cells[key] = "[red]![/]"
    for key in cells.keys() & late:
        cells[key] += " (l)"
    return cells


def _table(people: Collection[Person], cells: Mapping[Key, str]) -> Table:
    """The class, with a column for each lesson that somebody handed in."""
    table = Table(title=counted(len(people), "learner"))
    for head in ("learner", "name", "email"):
        table.add_column(head, overflow="fold")
    lessons = sorted({lesson for _, lesson in cells if lesson})
    for lesson in lessons:
        table.add_column(Text(lesson), justify="center", overflow="fold")
    for one in people:
        who = (Text(printable(part)) for part in (one.id, one.name, one.email))
        table.add_row(*who, *(cells.get(Key(one.id, lesson), "-") for lesson in lessons))
    return table


def _add(root: Path, member: Member) -> int:
    """Put one learner on the roster, or add a name, an address and other names to a learner who is there."""
    learner = member.learner
    there = {one.learner for one in members_of(root)}
    if why := why_no_learner(learner):
        raise UsageError(
            f"{learner!r} cannot be a learner's id: {why}",
            "roster add",
            f"choose another id, such as: {course_command('roster add jdoe')} --name 'J. Doe'",
        )
    if taken := sorted(there & {*member.also} - {learner}):
        raise UsageError(
            f"{taken[0]} is on the roster, and nobody else's other name",
            "roster add --also",
            f"if they are one person, make one line of the two in {ROSTER}. Marks, extensions and submitted/ stay with an id",
        )
    with only_run(root):
        done = enrol(root, [member])
        name_in_gradebook(root)
    if learner in done.added and " " in learner and not member.name:
        add = course_command(shlex.join(["roster", "add", "ID", "--name", learner]))
        then = f"{_remove_command([learner])}; then: {add}"
        print(f"note: {learner!r} is the learner's id now, because it was typed there. If it is the name: {then}")
    learner = done.ids[learner]
    for line in (f"{learner} is on the roster: {(root / ROSTER).resolve()}", *(f"note: {note}" for note in done.notes)):
        print(line)
    return 0


def _import(root: Path, file: Path) -> int:
    """Put everybody of a table on the roster."""
    with only_run(root):
        done = import_roster(root, file, course_command("roster import"))
        name_in_gradebook(root)
    told = f"{len(done.added)} added, {len(done.ids) - len(done.added)} were there before"
    told += "".join(f", {count} got {_NEWS[head]}" for head, count in done.changed.items())
    for line in (*(f"note: {note}" for note in done.notes), f"{told}: {(root / ROSTER).resolve()}"):
        print(line)
    return 0


_NEWS = {"name": "another name", "email": "another address", "also": "a number or one more name"}
"""The news of a member, by the column of the roster."""
_GOES = (
    "out of submitted/, autograded/, feedback/, collected/graded/, the gradebook with all marks, comments and extensions given "
    f"by hand, {ROSTER}, and the lists in collected/, where their files stay: who comes back is collected once more. handback/ "
    "and report/ go whole: `feedback` and `report` make them again; what you wrote elsewhere (--out) stays"
)
"""All that is lost with a learner: nothing brings it back."""
_GOES_OF_ONE = (
    "{} goes out of submitted/, autograded/, feedback/, collected/graded/ and the gradebook, with all marks, comments and an "
    "extension given by hand. What came in uploads stays in collected/, and does not count when it comes "
    "again; handback/ and report/ go whole"
)


def _remove(root: Path, learners: Sequence[str], lesson: str, yes: bool) -> int:
    """Say what will go, ask, and remove it: all of the learners, or of one assignment, if a ``lesson`` is named.

    Returns the exit code: 1 if the answer was no. Raises CourseError.
    """
    with only_run(root):
        goes = _GOES
        if lesson:
            # One notebook of several is not removed alone: the gradebook has marks of all of them together.
            known = dict.fromkeys(map(assignment_of, gradable_lessons(root, [])))
            refuse_unknown([lesson], "assignment", known, places(root).base("source"))
            goes = _GOES_OF_ONE.format(lesson)
        # If a name means a learner, there is a question before anything is taken away that cannot be brought back.
        learners = find_learners(root, learners, "roster remove", by_id=yes)
        people = people_of(root)
        struck = [people.get(learner, Person(learner)) for learner in learners]
        told = ", ".join(one.contact for one in struck)
        print(f"{told}: {goes}")
        if not yes and not agreed("remove them?", "roster remove", _remove_command(learners, lesson)):
            print("nothing was removed")
            return 1
        others = set().union(*(one.also for one in struck))
        _take_out(root, learners, lesson, {*learners, *others.difference(people)})
    print(f"removed: {told}")
    return 0


def _remove_command(learners: Sequence[str], lesson: str = "") -> str:
    """The command that removes them without a question."""
    which = ("--lesson", lesson) if lesson else ()
    return course_command(shlex.join(["roster", "remove", *learners, *which, "--yes"]))


def _folders(root: Path, learner: str, lesson: str) -> list[Path]:
    """A learner's own folders, of a ``lesson`` if one is named, or links in their place; none if a name leads elsewhere."""
    if learner in {"", ".", ".."} or Path(learner).name != learner or "\0" in learner:
        return []
    homes = [*map(places(root).base, ("submitted", "autograded", "feedback")), root / "collected" / "graded"]
    homes.append(root / ".course" / "answers")
    found = (home / learner / lesson for home in homes)
    # A link in the place of a learner's folder leads to what is not theirs.
    return [path for path in found if os.path.lexists(path) and not (lesson and path.parent.is_symlink())]


def _take_out(root: Path, learners: Collection[str], lesson: str, struck: Collection[str]) -> None:
    """Remove these learners, or what they have of one ``lesson``, and take ``struck`` off the roster.

    The journals go before the gradebook: a run that comes after a cut brings nobody back.

    What came in uploads stays byte for byte, but lists no longer say who handed it in. Raises CourseError.
    """
    gone = set(learners)
    then = "mend that, then run the same command again"
    with disk_trouble(CourseError, "not everything could be removed", root.resolve(), then):
        for learner in sorted(gone):
            for path in _folders(root, learner, lesson):
                _delete(path)
        for made in filter(Path.exists, (root / "handback", root / "report")):
            shutil.rmtree(made)
        for upload in uploads_in(root):
            if gone & {record.learner for record in upload.records}:
                records = tuple(_removed(record, lesson, gone) for record in upload.records)
                write_list(root / "collected" / upload.folder, replace(upload, records=records))
        if not lesson:
            forget(root, gone)
            # Late, so that the same command finds them again after a cut.
            strike_off(root, struck)
    _remove_from_gradebook(root, gone, lesson)


def _remove_from_gradebook(root: Path, gone: Collection[str], lesson: str) -> None:
    """Remove these learners, or their marks of one ``lesson``, from the gradebook, if there is one."""
    with opened_gradebook(root) as book:
        if book is not None:
            from nbgrader.api import MissingEntry, Student

            for learner in sorted(gone):
                if lesson:
                    with contextlib.suppress(MissingEntry):
                        book.remove_submission(lesson, learner)
                elif book.db.get(Student, learner) is not None:
                    book.remove_student(learner)


def _delete(path: Path) -> None:
    """Delete a file, or a folder with all that is in it; of a link only the link."""
    if path.is_symlink() or not path.is_dir():
        path.unlink()
    else:
        shutil.rmtree(path)


def _removed(record: FileRecord, lesson: str, gone: Collection[str]) -> FileRecord:
    """The record of a file after the learners in ``gone`` were removed; the name stays, because the upload has the file by it.

    If only a ``lesson`` was removed, it says that the file does not count when it comes again.
    """
    if record.learner not in gone:
        return record
    if not lesson:
        return replace(record, learner="", lesson="", status="removed", why="", account="", beside="")
    if record.key.assignment != lesson or record.status not in STANDS | {"earlier copy", "not chosen", "waits"}:
        return record
    return replace(record, status="removed", why="", look=False)


# When lessons are due.

_NONE = "none"


def _change_due_dates(arguments: Namespace) -> int:
    """Do what ``roster due`` or ``roster extend`` was asked for. Returns the exit code, 0. Raises CourseError."""
    root: Path = arguments.course
    names, lesson, told = _parts_of_call(root, arguments)
    when = None if told == _NONE else read_due(told, f"roster {arguments.what}", places(root).zone)
    if arguments.what == "due":
        _set_due(arguments.works_for, root, lesson, when)
    else:
        _extend(arguments.works_for, root, lesson, find_learners(root, names, "roster extend"), when)
    if any(folder.name == assignment_of(lesson) for folder in places(root).handed_in()):
        graded = course_command(shlex.join(["grade", lesson]), root)
        print(f"next: {graded}: penalties follow, and what is graded does not run again")
        print(f"      {course_command('feedback', root)}: pages say it")
    elif arguments.what == "due" and when is not None:
        # A zip of several lessons may have been handed out: it stays.
        then = nbgrader_command(shlex.join(["generate_assignment", lesson, "--force"]))
        if (root / "lessons").is_dir():
            then = course_command(shlex.join(["bundle", lesson, "--out", f"{lesson}.zip"]), root)
        print(f"next: {then}: what learners get, if they do not have it yet")
    return 0


def lines_of_due_dates(root: Path) -> list[str]:
    """Lines for a terminal: one for each lesson that has a due date, and for each extension."""
    with opened_gradebook(root) as book:
        if book is None:
            return []
        dates = due_dates_in(book)
    lines = [f"due:       {lesson}: {in_utc(when)}" for lesson, when in sorted(dates.lessons.items())]
    return lines + [
        f"extension: {lesson}: {printable(learner)} until {in_utc(until)}"
        for (learner, lesson), until in dates.extensions.items()
    ]


@contextlib.contextmanager
def _gradebook(course: Course, root: Path, lesson: str = "") -> Iterator[Writer]:
    """Open the gradebook while no run writes to it. With a ``lesson``, its cells are registered there as they are now."""
    config = course_config(root)
    told = NbGraderAPI(config=config).coursedir
    with only_run(root), trouble_with_gradebook(told.db_url), Writer(told.db_url, told.course_id) as writer:
        if lesson:
            limits = GradingLimits(config=config)
            states = {
                one: LessonState.of(course, root, one, config, limits) for one in gradable_lessons(root, [lesson])
            }
            for note in register_lessons(states, RunState(root), writer):
                print(f"note: {note}")
        yield writer


def _parts_of_call(root: Path, arguments: Namespace) -> tuple[list[str], str, str]:
    """The learners, the lesson and the time of a call. Raises UsageError if no lesson, or none of its learners, is named.

    A shell splits a time without quotes, so the lesson's place tells where the learners end and the time begins.
    """
    learners = getattr(arguments, "learners", None)
    words = [*(learners or ()), arguments.lesson, *arguments.when]
    lessons = gradable_lessons(root, [])
    named = {*lessons, *map(assignment_of, lessons)}.intersection(words)
    at = max(map(words.index, named), default=words.index(arguments.lesson))
    lesson = words[at]
    gradable_lessons(root, [lesson])
    if at > 0 and not learners:
        raise UsageError(
            f"{' '.join(words[:at])!r} stands before {lesson}",
            "roster due",
            "name the lesson, then the time: "
            + course_command(shlex.join(["roster", "due", lesson, "2026-11-20"]), root),
        )
    if learners and at == 0:
        raise UsageError(
            f"no learner is named before {lesson}",
            "roster extend",
            "name learners, then the lesson, then the time: "
            + course_command(shlex.join(["roster", "extend", "NAME", lesson, "2026-11-30"]), root),
        )
    return words[:at], lesson, " ".join(words[at + 1 :])


def _set_due(course: Course, root: Path, lesson: str, when: datetime | None) -> None:
    """Set when a lesson is due for the class, or take that away, and print it."""
    with _gradebook(course, root) as writer:
        before = due_dates_in(writer).extensions
        writer.set_due(lesson, when)
        after = due_dates_in(writer).extensions
    told = f"is due {in_utc(when)}" if when else "has no due date now"
    print(f"{lesson} {told}{_far(when)}")
    for key in sorted(before.keys() - after.keys()):
        again = shlex.join(["roster", "extend", key.learner, lesson, in_utc(before[key])])
        print(
            f"note: {printable(key.learner)} has no extension any more: {in_utc(before[key])} would not be later. If the class's "
            f"date moves back, this gives it again: {course_command(again, root)}"
        )


def _far(when: datetime | None) -> str:
    """Words on a time that is past, or more than a year away; else none."""
    days = (when - datetime.now(UTC)).days if when else 0
    if days < 0:
        return f" (past: {counted(-days, 'day')} ago)"
    return f" (in {days} days)" if days > 366 else ""


def _extend(course: Course, root: Path, lesson: str, learners: Sequence[str], until: datetime | None) -> None:
    """Set when a lesson is due for some learners, or take that away, and print it. Raises UsageError if it would not be later."""
    with _gradebook(course, root, lesson) as writer:
        dates = due_dates_in(writer)
        due = dates.lessons.get(lesson)
        if due is None:
            raise UsageError(
                f"{lesson} has no due date yet, so nobody can have more time",
                "roster extend",
                "set the due date of the class first: "
                + course_command(shlex.join(["roster", "due", lesson, "2026-11-20"]), root),
            )
        if until is not None and until <= due:
            raise UsageError(
                f"{in_utc(until)} is not later than for the class, {in_utc(due)}",
                "roster extend",
                "name a later time; or take an extension away: "
                + course_command(shlex.join(["roster", "extend", "NAME", lesson, _NONE]), root),
            )
        for learner in learners:
            if until is not None or (learner, lesson) in dates.extensions:
                writer.extend(lesson, learner, until)
    for learner in learners:
        told = (
            f"{in_utc(until)}; for the class {in_utc(due)}{_far(until)}"
            if until
            else f"{in_utc(due)}, as for the class"
        )
        print(f"{printable(learner)}: {lesson} is due {told}")


def read_due(text: str, place: str, zone: str = "UTC") -> datetime:
    """The time that a text means, in UTC. ``zone``: that of a text without one; a day means its last second.

    ``place``: the option or the command that it was given to, for errors. Raises UsageError if it is no time for certain.
    """
    try:
        return moment_in(text, end_of_day=True, home=zone)
    except ValueError as error:
        raise UsageError(
            f"{text!r} is no time, or not for certain: {in_one_line(error)}",
            place,
            "write it as 2026-11-20 (the end of that day, in UTC) or '2026-11-20 18:00', with +01:00 or Europe/Berlin behind it "
            "for another zone",
        ) from None


def run_roster(arguments: Namespace) -> int:
    """Do what the command ``roster`` was asked for. Returns its exit code."""
    root: Path = arguments.course
    if arguments.what in {"due", "extend"}:
        return _change_due_dates(arguments)
    if arguments.what == "add":
        return _add(root, Member(arguments.learner, arguments.name, arguments.email, tuple(arguments.also)))
    if arguments.what == "import":
        return _import(root, arguments.file)
    if arguments.what == "remove":
        return _remove(root, arguments.learners, arguments.lesson, arguments.yes)
    return _show(arguments.works_for, root)
