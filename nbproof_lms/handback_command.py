"""What ``python -m course feedback --for ...`` does: bring pages up to date, pack those that are new, say where to put
them."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path

from nbproof.command import course_command
from nbproof.feedback.pages import chosen_submissions, write_feedback
from nbproof.gradebook.marks import ClassResults
from nbproof.places import places
from nbproof.report.records import read_class
from nbproof.run.journal import only_run, problems_of
from nbproof.terminal import console_for_output, progress, say
from nbproof.text import counted, printable, some_of
from nbproof_lms.attendance import known_of
from nbproof_lms.handback import HandedBack, hand_back
from nbproof_lms.system import find_system

__all__ = ["addresses_of", "hand_back_pages"]


def hand_back_pages(request: Namespace) -> int:
    """0 if all is packed, or was before; 1 if something could not be, and is listed. Raises CourseError.

    ``request``: a call of the command.
    """
    root: Path = request.course
    keys = chosen_submissions(root, request.names, request.lesson, pages=True)
    with only_run(root):
        with progress("feedback") as step:
            graded = [key for key in keys if places(root).folder("autograded", *key).is_dir()]
            problems = {key: one.problem for key, one in problems_of(root).items() if key in set(keys)}
            feedback = write_feedback(root, graded, step, problems=problems)
        results = read_class(root, request.lesson, told=known_of(root))
        failed = {(learner, lesson) for learner, lesson, _ in feedback.failed}
        wanted = [key for key in keys if key not in failed]
        done = hand_back(root, request.target, wanted, results.people, addresses_of(results), force=request.force)
    lines = [
        f"! not written: feedback/{learner}{'/' if lesson else ''}{lesson}: {reason}: mend that, then this command again"
        for learner, lesson, reason in feedback.failed
    ]
    console = console_for_output()
    for line in (*lines, *_packed(done), *_notes(done, results), *_lost(done)):
        say(console, printable(line))
    return 1 if failed or done.nowhere else 0


def _packed(done: HandedBack) -> Iterator[str]:
    """What was packed and where it goes."""
    keys = [key for parcel in done.parcels for key in parcel.keys]
    before = f"{done.unchanged} handed back before, and unchanged since (--force: hand them back again)"
    told = "nothing new to hand back"
    if keys:
        told = f"to hand back: {counted(len(keys), 'page')} for {_people(learner for learner, _ in keys)}"
    yield f"{told}; {before}" if done.unchanged else told
    for parcel in done.parcels:
        yield f"  {parcel.path}  {counted(len(parcel.keys), 'page')}"
    if done.parcels and done.target == "folder":
        yield "next: give the table to your mail merge; its column path says what to attach"
    elif done.parcels:
        yield f"next: {find_system(done.target).upload}"
        yield f"note: {find_system(done.target).upload_remark}"


def _lost(done: HandedBack) -> Iterator[str]:
    """Of whom nothing says where their pages go."""
    for lesson in sorted({lesson for _, lesson in done.nowhere}):
        name, mine = find_system(done.target).name, _people(who for who, other in done.nowhere if other == lesson)
        yield f"! not in a zip: {lesson} of {mine}: nothing in collected/ holds the numbers by which {name} knows them"
    if done.nowhere:
        yield "  next: download the submissions there, then (what is unchanged stays as it is):"
        yield f"        {course_command('collect DOWNLOAD --lesson LESSON --names CSV')}"
        yield "        then this command again. Or hand back with --for of the LMS that they use, or by mail:"
        yield f"        {course_command('feedback LEARNER --for folder')}"


def _notes(done: HandedBack, results: ClassResults) -> Iterator[str]:
    """What a person should know."""
    keys = [key for parcel in done.parcels for key in parcel.keys]
    works = [mark for key in keys if (mark := results.marks.get(key)) is not None]
    if pending := sum(work.pending for work in works):
        waits = "with a written answer that waits for your mark; marked pages are handed back again"
        yield f"note: {counted(pending, 'page')} {waits}"
    if newer := {work.learner for work in works if work.behind}:
        yield f"note: {_people(newer)} handed in again since: {course_command('grade')}, then this command again"
    unknown = {learner for learner, _ in keys} - addresses_of(results).keys()
    if done.target == "folder" and unknown:
        table = course_command("roster import CSV")
        yield f"note: no e-mail address of {_people(unknown)}: {table} takes a table of them"


def _people(learners: Iterable[str]) -> str:
    return some_of(sorted({*learners}), 8)


def addresses_of(results: ClassResults) -> dict[str, str]:
    """E-mail addresses: of the roster and the gradebook, and ids that are one."""
    told = {person.id: person.email or person.id for person in results.people}
    return {learner: address for learner, address in told.items() if re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", address)}
