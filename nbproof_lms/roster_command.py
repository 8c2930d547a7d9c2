"""``python -m course roster``: who belongs to the class, and what of it has come; add, import and remove learners; and when a
lesson is due, for the class and for one learner."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
from argparse import Namespace
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
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
from nbproof.report.records import outdated, read_class
from nbproof.run.batch import register_lessons
from nbproof.run.digests import LessonState
from nbproof.run.intake import lessons_with_source, take_in
from nbproof.run.journal import RunState, forget, only_run, problems_of
from nbproof.terminal import console_for_output, say
from nbproof.text import counted, in_one_line, in_utc, printable
from nbproof_lms.attendance import (
    attend,
    find_learners,
    known_of,
    late_by_word,
    lines_of,
    name_in_gradebook,
    people_of,
)
from nbproof_lms.names import why_no_learner
from nbproof_lms.outcome import STANDS, Line, uploads_in, write_list
from nbproof_lms.roster import ROSTER, Member, enrol, import_roster, kept_roster, members_of, strike_off
from nbproof_lms.settling import but_settled, without_place

__all__ = ["lines_of_due_dates", "read_due", "run_roster"]


def _show(course: Course, root: Path) -> int:
    """Print the class, and what each has handed in."""
    lessons = lessons_with_source(root, [])
    intake = take_in(course, root, lessons)
    came = {one.key: one.problem for one in intake.submissions}
    # What a run could not grade either, such as a file that is no notebook.
    came |= {key: one.problem for key, one in problems_of(root).items() if key in came}
    known = known_of(course, root)
    came |= dict.fromkeys(known.coming, "")
    people = people_of(root)
    there = attend(root, people, came.keys(), lessons)
    found, seen = but_settled(root, came, replace(there, without_place=without_place(root, there.useless)))
    console = console_for_output()
    if not people and not found.useless:
        print(
            f"nobody is in the class yet. Next: {course_command('roster import FILE', root)}, or `roster add NAME`, or `collect`"
        )
        return 0
    late = late_by_word(root)
    useless = dict.fromkeys((one.key for one in found.useless), "it cannot be graded")
    console.print(_table(people.values(), _cells(came | useless, seen, late)))
    says_late = "; (l) late, as the LMS says" if late else ""
    say(console, f"- nothing, ! nothing that can be graded{says_late}")
    ungraded = outdated(read_class(course, root, [], told=known)) if came else []
    for line in (*lines_of(replace(found, missing={}), root), *ungraded, *lines_of_due_dates(root)):
        say(console, printable(line))
    if (root / ROSTER).exists():
        say(console, f"roster:    {(root / ROSTER).resolve()}")
    kept = kept_roster(root)
    for note in kept.notes if kept is not None else ():
        say(console, f"note: {printable(note)}")
    return 0


def _cells(came: Mapping[Key, str], seen: Collection[Key], late: Collection[Key]) -> dict[Key, str]:
    """What the table says of each hand-in. ``came``: with what is wrong with it, or nothing."""
    cells = dict.fromkeys(seen, "settled")
    cells |= {key: "[red]![/]" if why else "yes" for key, why in came.items() if not (why and key in seen)}
    return {key: told + " (l)" * (key in late) for key, told in cells.items()}


def _table(people: Collection[Person], cells: Mapping[Key, str]) -> Table:
    """Everybody, and of each lesson that somebody handed in what came."""
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
    """Put one learner on the roster, or a name, an address and other names to one who is there."""
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
"""What a member has got, by the column of the roster."""
_GOES = (
    "out of submitted/, autograded/, feedback/, collected/graded/, the gradebook with all marks, comments and extensions given "
    f"by hand, {ROSTER}, and the lists in collected/, where their files stay. handback/ and report/ go whole: `feedback` and "
    "`report` make them again; what you wrote elsewhere (--out) stays"
)
"""What is lost with a learner: nothing brings it back."""
_GOES_OF_ONE = (
    "{} goes out of submitted/, autograded/, feedback/, collected/graded/ and the gradebook, with all marks, comments and an "
    "extension given by hand. What came in uploads stays in collected/, and does not count when it comes "
    "again; handback/ and report/ go whole"
)


def _remove(root: Path, learners: Sequence[str], lesson: str, yes: bool) -> int:
    """Say what will go, ask, remove: of one assignment, if a ``lesson`` is named. 1 if the answer was no. Raises CourseError."""
    with only_run(root):
        # One notebook of several is not removed alone: the gradebook has marks of all of them together.
        known = dict.fromkeys(map(assignment_of, lessons_with_source(root, [])))
        refuse_unknown([lesson] * bool(lesson), "assignment", known, places(root).base("source"))
        # What cannot be brought back is never taken from somebody who is meant by a name, without a question.
        learners = find_learners(root, learners, "roster remove", by_id=yes)
        people = people_of(root)
        told = ", ".join(people.get(learner, Person(learner)).contact for learner in learners)
        print(f"{told}: {_GOES_OF_ONE.format(lesson) if lesson else _GOES}")
        if not yes and not _agreed():
            print("nothing was removed")
            return 1
        others = {name for one in learners if one in people for name in people[one].also}
        _take_out(root, learners, lesson, {*learners, *others.difference(people)})
    print(f"removed: {told}")
    return 0


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
    """Remove these learners, and take ``struck`` off the roster.

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
            if gone & {line.learner for line in upload.lines}:
                lines = (_removed(line, lesson) if line.learner in gone else line for line in upload.lines)
                write_list(root / "collected" / upload.folder, replace(upload, lines=tuple(lines)))
        if not lesson:
            forget(root, gone)
            # Late, so that the same command finds them again after a cut.
            strike_off(root, struck)
    _out_of_gradebook(root, gone, lesson)


def _out_of_gradebook(root: Path, gone: Collection[str], lesson: str) -> None:
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
    """A folder with all that is in it; of a link only the link."""
    if path.is_symlink() or not path.is_dir():
        path.unlink()
    else:
        shutil.rmtree(path)


def _removed(line: Line, lesson: str) -> Line:
    """What a list says of a removed learner's file. Beside its file the name stays: it is what the upload calls it. Of a
    ``lesson`` alone: that it does not count when it comes again."""
    if lesson:
        counts = line.key.assignment == lesson and line.status in STANDS | {"earlier copy", "waits"}
        return replace(line, status="removed", why="", look=False) if counts else line
    return replace(line, learner="", lesson="", status="removed", why="", account="", beside="")


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("nobody is here to say yes", "roster remove", "run the same command with --yes")
    return input("remove them? [y/N] ").strip().lower() in {"y", "yes"}


# When lessons are due.

_NONE = "none"


def _change_due_dates(arguments: Namespace) -> int:
    """Do what one of the two was asked for; 0. Raises CourseError."""
    root, lesson = arguments.course, arguments.lesson
    lessons_with_source(root, [lesson])
    when = None if arguments.when == _NONE else read_due(arguments.when, f"roster {arguments.what}", places(root).zone)
    if arguments.what == "due":
        _set_due(root, lesson, when)
    else:
        _extend(root, lesson, list(dict.fromkeys(arguments.learners)), when)
    if any(folder.name == assignment_of(lesson) for folder in places(root).handed_in()):
        graded = course_command(shlex.join(["grade", lesson]), root)
        print(f"next: {graded}: penalties follow, and what is graded does not run again")
        print(f"      {course_command('feedback', root)}: pages say it")
    elif arguments.what == "due":
        # A zip of several lessons may have been handed out: it stays.
        zipped = course_command(shlex.join(["bundle", lesson, "--out", f"{lesson}.zip"]), root)
        then = (
            zipped
            if (root / "lessons").is_dir()
            else nbgrader_command(shlex.join(["generate_assignment", lesson, "--force"]))
        )
        print(f"next: {then}: what learners get, if they do not have it yet")
    return 0


def lines_of_due_dates(root: Path) -> list[str]:
    """For a terminal: a line for each lesson that has a due date, and for each extension."""
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
def _gradebook(root: Path, lesson: str = "") -> Iterator[Writer]:
    """The gradebook, while no run writes to it; it knows this lesson as it is now."""
    config = course_config(root)
    course = NbGraderAPI(config=config).coursedir
    with only_run(root), trouble_with_gradebook(course.db_url), Writer(course.db_url, course.course_id) as writer:
        if lesson:
            limits = GradingLimits(config=config)
            states = {
                one: LessonState.of(course, root, one, config, limits) for one in lessons_with_source(root, [lesson])
            }
            for note in register_lessons(states, RunState(root), writer):
                print(f"note: {note}")
        yield writer


def _set_due(root: Path, lesson: str, when: datetime | None) -> None:
    with _gradebook(root) as writer:
        before = due_dates_in(writer).extensions
        writer.set_due(lesson, when)
        after = due_dates_in(writer).extensions
    print(f"{lesson} is due {in_utc(when)}" if when else f"{lesson} has no due date now")
    for learner, _ in before.keys() - after.keys():
        print(f"note: {printable(learner)} has no extension any more: it would not be later")


def _extend(root: Path, lesson: str, learners: Sequence[str], until: datetime | None) -> None:
    with _gradebook(root, lesson) as writer:
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
        told = f"{in_utc(until)}; for the class {in_utc(due)}" if until else f"{in_utc(due)}, as for the class"
        print(f"{printable(learner)}: {lesson} is due {told}")


def read_due(text: str, place: str, zone: str = "UTC") -> datetime:
    """The time, in UTC. ``place``: the option or the command that it was given to. Raises UsageError."""
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
    """Do what ``roster`` was asked for; returns its exit code."""
    root = arguments.course
    if arguments.what in {"due", "extend"}:
        if arguments.what == "extend":
            arguments.learners = find_learners(root, arguments.learners, "roster extend")
        return _change_due_dates(arguments)
    if arguments.what == "add":
        return _add(root, Member(arguments.learner, arguments.name, arguments.email, tuple(arguments.also)))
    if arguments.what == "import":
        return _import(root, arguments.file)
    if arguments.what == "remove":
        return _remove(root, arguments.learners, arguments.lesson, arguments.yes)
    return _show(arguments.works_for, root)
