"""What ``python -m course feedback --for ...`` does: bring pages up to date, pack those that are new, say where to put
them."""

from __future__ import annotations

from argparse import Namespace
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from nbproof.command import course_command
from nbproof.errors import CourseError, UsageError
from nbproof.feedback.handed_back import note_handed_back
from nbproof.feedback.pages import chosen_submissions, write_feedback
from nbproof.report.records import ClassRecords, read_class
from nbproof.run.journal import problems_of
from nbproof.terminal import progress
from nbproof.text import counted, printable
from nbproof_lms.attendance import known_of
from nbproof_lms.csv_table import Sheet, read_sheet
from nbproof_lms.grade_files import match
from nbproof_lms.handback import HandedBack, Parcel, hand_back, other_lms
from nbproof_lms.sheet_columns import FIRST, LAST, LEARNER, heads_of

__all__ = ["addresses_of", "hand_back_pages"]

_LARGE = 50_000_000
"""Bytes of a zip that many an LMS does not take at once."""
_SHOWN = 8
"""Learners that are named in one line; of more the number is told as well."""

_WHERE = {
    "moodle": "in Moodle, in the lesson's assignment: Submissions (View all submissions), Actions (Grading action), "
    "Upload multiple feedback files in a zip",
    "canvas": "in Canvas, in the lesson's assignment: Re-Upload Submissions, below Download Submissions",
    "folder": "give mail.csv to your mail merge; its column file or path says what to attach",
}
_REMARK = {
    "moodle": "the assignment's settings must have the feedback type 'Feedback files'",
    "canvas": "Canvas names each page after the notebook that was handed in: tell your learners to save it as .html",
}


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
            graded = [key for key in keys if (root / "autograded" / key[0] / key[1]).is_dir()]
            problems = {key: one.why for key, one in problems_of(root).items() if key in set(keys)}
            feedback = write_feedback(root, graded, step, problems=problems, workers=request.workers)
        records = read_class(root, request.lesson, told=known_of(root))
        emails: Mapping[str, str] = {}
        if request.target == "folder":
            try:
                emails = addresses_of(root, records, [learner for learner, _ in keys], request.addresses)
            except CourseError as error:
                # A folder without addresses would count as handed back.
                fact = f"nothing is packed, only {counted(len(feedback.written), 'page')} written: {error.fact}"
                raise CourseError(fact, error.place, error.next_command) from None
        failed = {(learner, lesson) for learner, lesson, _ in feedback.failed}
        with progress("packing") as step:
            done = hand_back(
                root, request.target, [key for key in keys if key not in failed], records, emails, out=request.out,
                force=request.force, excel=request.excel, step=step,
            )  # fmt: skip
        note_handed_back(root, [key for parcel in done.parcels for key in parcel.keys])
    console = console_for_output()

    def say(text: str) -> None:
        console.print(printable(text), highlight=False, markup=False, soft_wrap=True)

    for learner, lesson, reason in feedback.failed:
        say(f"! not written: feedback/{learner}{'/' if lesson else ''}{lesson}: {reason}")
    if feedback.failed:
        say("  next: mend that, then this command again: it packs what is missing only")
    _tell(done, records, say)
    return 1 if failed or done.unknown else 0


def _tell(done: HandedBack, records: ClassRecords, say: Callable[[str], None]) -> None:
    """What was packed and where it goes, then what a person should know or do."""
    keys = [key for parcel in done.parcels for key in parcel.keys]
    learners = sorted({learner for learner, _ in keys})
    before = f"{done.unchanged} handed back before, and unchanged since" if done.unchanged else ""
    again = " (--force: hand them back again)" if done.unchanged else ""
    if keys:
        say(
            f"to hand back: {counted(len(keys), 'page')} for {_people(learners)}{'; ' if before else ''}{before}{again}"
        )
    else:
        say(f"nothing new to hand back{': ' if before else ''}{before}{again}")
    for parcel in done.parcels:
        say(f"  {parcel.path}  {counted(len(parcel.keys), 'page')}, {max(1, parcel.size // 1000):,} kB")
    if done.parcels:
        say(f"next: {_WHERE[done.target]}")
        if done.target in _REMARK:
            say(f"note: {_REMARK[done.target]}")
    for note in _notes(done, keys, records):
        say(f"note: {note}")
    lost: dict[str, list[str]] = defaultdict(list)
    for learner, lesson in done.unknown:
        lost[lesson].append(learner)
    system = done.target.capitalize()
    for lesson, mine in lost.items():
        say(
            f"! not in a zip: {lesson} of {_people(mine)}: nothing in collected/ holds the numbers by which {system} knows them"
        )
    if lost:
        say(f"  next: download the submissions from {system}, then (what is unchanged stays as it is):")
        collect = course_command("collect DOWNLOAD --lesson LESSON --names CSV")
        say(f"        {collect}")
        say(f"        then this command again. Or mail their pages: {course_command('feedback LEARNER --for folder')}")


def _notes(done: HandedBack, keys: Iterable[tuple[str, str]], records: ClassRecords) -> list[str]:
    works = [records.works[key] for key in keys if key in records.works]
    pending = sum(work.pending for work in works)
    newer = sorted({work.learner for work in works if work.note or work.waits})
    notes = []
    if pending:
        notes.append(
            f"{counted(pending, 'page')} with a written answer that waits for your mark; marked pages are handed back again"
        )
    if newer:
        notes.append(f"{_people(newer)} handed in again since: {course_command('grade')}, then this command again")
    if others := {learner for learner, _ in done.elsewhere}:
        command = course_command(f"feedback --for {other_lms(done.target)}")
        notes.append(f"{counted(len(others), 'learner')} came by another LMS: {command}")
    if done.without_email:
        notes.append(f"no e-mail address of {_people(done.without_email)}: name a table of them with --addresses CSV")
    if done.record_lost:
        notes.append("handback/record.json could not be read: so everything counts as new")
    notes += [_too_large(parcel) for parcel in done.parcels if done.target != "folder" and parcel.size > _LARGE]
    return notes


def _too_large(parcel: Parcel) -> str:
    return (
        f"{parcel.path.name} has {parcel.size / 1e6:.0f} MB, more than many an LMS takes at once: "
        "name some learners at a time, with --force"
    )


def _people(learners: Iterable[str]) -> str:
    names = list(dict.fromkeys(learners))
    if len(names) <= _SHOWN:
        return ", ".join(names)
    return f"{len(names)} learners ({', '.join(names[: _SHOWN - 2])}, ...)"


def addresses_of(root: Path, records: ClassRecords, learners: Iterable[str], table: Path | None) -> dict[str, str]:
    """E-mail addresses: of the table that was named, or the course's roster; then of the gradebook; then ids that are one.

    Raises UsageError if the table that was named cannot be used.
    """
    names = sorted(set(learners))
    found = {name: name for name in names if _is_address(name)}
    found |= {person.id: person.email for person in records.learners if _is_address(person.email)}
    roster = root / "roster.csv"
    if table is None and not (roster.is_file() and len(roster.read_bytes().strip().splitlines()) > 1):
        return found
    sheet = read_sheet(table or roster, "the addresses", "--addresses")
    heads = heads_of(sheet.rows)
    column = _email_column(sheet, heads)
    if column is None:
        if table is None:
            return found
        raise UsageError("the table holds no e-mail address", str(table), "a CSV with the columns learner and email")
    whole = [heads.index(head) for head in ("name", "full name", "student") if head in heads]
    names_at = whole[:1] or [heads.index(head) for head in (FIRST, LAST) if head in heads]
    ids = [at for at, head in enumerate(heads) if head in LEARNER and at not in names_at]
    rows = {
        number: ([row[at] for at in dict.fromkeys((*ids, column))], " ".join(row[at] for at in names_at))
        for number, row in enumerate(sheet.rows)
        if number
    }
    for number, learner in match(rows, records.learners, names).rows.items():
        if _is_address(sheet.rows[number][column].strip()):
            found[learner] = sheet.rows[number][column].strip()
    return found


def _email_column(sheet: Sheet, heads: Sequence[str]) -> int | None:
    if "email address" in heads:
        return heads.index("email address")
    counts = [sum(_is_address(row[at].strip()) for row in sheet.rows[1:]) for at in range(len(sheet.head))]
    most = max(counts, default=0)
    return counts.index(most) if most else None


def _is_address(text: str) -> bool:
    name, at, place = text.partition("@")
    return bool(name and at and "." in place) and " " not in text and "@" not in place
