"""What ``python -m course feedback --for ...`` does: bring pages up to date, pack those that are new, say where to put
them."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from nbproof.command import course_command
from nbproof.feedback.pages import chosen_submissions, write_feedback
from nbproof.gradebook.marks import ClassResults
from nbproof.key import Key
from nbproof.places import places
from nbproof.report.records import read_class
from nbproof.run.journal import problems_of
from nbproof.terminal import progress
from nbproof.text import counted, printable
from nbproof_lms.attendance import known_of
from nbproof_lms.handback import HandedBack, hand_back
from nbproof_lms.system import find_system

__all__ = ["addresses_of", "hand_back_pages"]

_SHOWN = 8
"""Learners that are named in one line; of more the number is told as well."""

_MAIL = "give the table to your mail merge; its column path says what to attach"


def hand_back_pages(request: Namespace) -> int:
    """0 if all is packed, or was before; 1 if something could not be, and is listed. Raises CourseError.

    ``request``: a call of the command.
    """
    from nbproof.run.lock import only_run
    from nbproof.terminal import console_for_output

    root: Path = request.course
    keys = chosen_submissions(root, request.names, request.lesson, pages=True)
    with only_run(root):
        with progress("feedback") as step:
            graded = [key for key in keys if places(root).folder("autograded", *key).is_dir()]
            problems = {key: one.problem for key, one in problems_of(root).items() if key in set(keys)}
            feedback = write_feedback(root, graded, step, problems=problems)
        results = read_class(root, request.lesson, told=known_of(root))
        failed = {(learner, lesson) for learner, lesson, _ in feedback.failed}
        with progress("packing") as step:
            done = hand_back(
                root,
                request.target,
                [key for key in keys if key not in failed],
                results,
                addresses_of(results),
                out=request.out,
                force=request.force,
                excel=request.excel,
                step=step,
            )
    lost = [key for key, others in done.nowhere.items() if not others]
    console = console_for_output()
    for line in (*_failed(feedback.failed), *_packed(done), *_notes(done, results), *_lost(done.target, lost)):
        console.print(printable(line), highlight=False, markup=False, soft_wrap=True)
    return 1 if failed or lost else 0


def _failed(pages: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """What could not be written: learner, lesson and reason."""
    for learner, lesson, reason in pages:
        yield f"! not written: feedback/{learner}{'/' if lesson else ''}{lesson}: {reason}"
    if pages:
        yield "  next: mend that, then this command again: it packs what is missing only"


def _packed(done: HandedBack) -> Iterator[str]:
    """What was packed and where it goes."""
    keys = [key for parcel in done.parcels for key in parcel.keys]
    before = f"{done.unchanged} handed back before, and unchanged since (--force: hand them back again)"
    told = "nothing new to hand back"
    if keys:
        told = f"to hand back: {counted(len(keys), 'page')} for {_people(sorted({learner for learner, _ in keys}))}"
    yield f"{told}; {before}" if done.unchanged else told
    for parcel in done.parcels:
        yield f"  {parcel.path}  {counted(len(parcel.keys), 'page')}"
    if done.parcels and done.target == "folder":
        yield f"next: {_MAIL}"
    elif done.parcels:
        yield f"next: {find_system(done.target).upload}"
        yield f"note: {find_system(done.target).upload_remark}"


def _lost(target: str, keys: Sequence[Key]) -> Iterator[str]:
    """Of whom nothing says where their pages go."""
    for lesson in sorted({lesson for _, lesson in keys}):
        name, mine = find_system(target).name, _people(learner for learner, other in keys if other == lesson)
        yield f"! not in a zip: {lesson} of {mine}: nothing in collected/ holds the numbers by which {name} knows them"
    if keys:
        yield "  next: download the submissions there, then (what is unchanged stays as it is):"
        yield f"        {course_command('collect DOWNLOAD --lesson LESSON --names CSV')}"
        yield f"        then this command again. Or mail their pages: {course_command('feedback LEARNER --for folder')}"


def _notes(done: HandedBack, results: ClassResults) -> Iterator[str]:
    """What a person should know."""
    keys = [key for parcel in done.parcels for key in parcel.keys]
    works = [mark for key in keys if (mark := results.mark_of(*key)) is not None]
    if pending := sum(work.pending for work in works):
        waits = "with a written answer that waits for your mark; marked pages are handed back again"
        yield f"note: {counted(pending, 'page')} {waits}"
    if newer := sorted({work.learner for work in works if work.behind}):
        yield f"note: {_people(newer)} handed in again since: {course_command('grade')}, then this command again"
    elsewhere = {(others[0], learner) for (learner, _), others in done.nowhere.items() if others}
    for option, count in sorted(Counter(option for option, _ in elsewhere).items()):
        yield f"note: {counted(count, 'learner')} came by another LMS: {course_command(f'feedback --for {option}')}"
    if done.target == "folder":
        yield from _without_address({learner for learner, _ in keys} - addresses_of(results).keys())


def _without_address(learners: Collection[str]) -> Iterator[str]:
    if learners:
        table = course_command("roster import CSV")
        yield f"note: no e-mail address of {_people(sorted(learners))}: {table} takes a table of them"


def _people(learners: Iterable[str]) -> str:
    names = list(dict.fromkeys(learners))
    if len(names) <= _SHOWN:
        return ", ".join(names)
    return f"{len(names)} learners ({', '.join(names[: _SHOWN - 2])}, ...)"


def addresses_of(results: ClassResults) -> dict[str, str]:
    """E-mail addresses: of the roster and the gradebook, and ids that are one."""
    told = {person.id: person.email or person.id for person in results.people}
    return {learner: address for learner, address in told.items() if _is_address(address)}


def _is_address(text: str) -> bool:
    name, at, place = text.partition("@")
    return bool(name and at and "." in place) and " " not in text and "@" not in place
