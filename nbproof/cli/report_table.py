"""What ``python -m course report`` tells: the class in a table, then what stands in each grade file and what does not."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nbproof.command import course_command
from nbproof.text import counted, printable

if TYPE_CHECKING:
    from nbproof.report.findings import Findings
    from nbproof_lms.grade_files import GradeFile

__all__ = ["Filled", "print_report", "tell_absent", "tell_file"]


def print_report(findings: Findings, page: Path) -> None:
    """A plain summary on standard output."""
    from rich.markup import escape
    from rich.table import Table

    from nbproof.report.lateness import latecomers, some
    from nbproof.terminal import console_for_output

    console = console_for_output()
    records = findings.records
    table = Table(title=f"{escape(records.course)}: {counted(len(records.learners), 'learner')}")
    table.add_column("lesson", no_wrap=True)
    for name in ("graded", "missing", "not graded", "to mark", "of", "mean", "median"):
        table.add_column(name, justify="right")
    for one in findings.lessons:
        table.add_row(
            one.lesson, str(one.handed_in), str(len(one.missing)), str(one.ungraded), str(one.pending),
            f"{one.max_score:g}", "-" if one.mean is None else f"{one.mean:.1f}",
            "-" if one.median is None else f"{one.median:g}",
        )  # fmt: skip
    console.print(table)

    def say(text: str = "") -> None:
        console.print(text, highlight=False, markup=False, soft_wrap=True)

    called = {person.id: person.called for person in records.learners}
    for one in findings.lessons:
        if one.missing:
            say(f"nothing handed in: {one.lesson}: {some([called.get(who, who) for who in one.missing])}")
        late = [work for work in records.of_lesson(one.lesson) if work.late]
        if late:
            say(f"late: {one.lesson}: {latecomers(late)}")
    for work in records.ungraded():
        say(f"! not graded: {called.get(work.learner, work.learner)}: {work.lesson}: {work.problem}")
    hardest = sorted(findings.exercises, key=lambda one: (one.pass_rate, one.mean_share, one.lesson, one.exercise))[:5]
    if hardest:
        say("hardest exercises")
        for hard in hardest:
            say(f"  {hard.pass_rate:4.0%} passed  {hard.exercise}  ({hard.lesson})")
    if findings.misconceptions:
        say("commonest misconceptions")
        for fell in findings.misconceptions[:3]:
            say(f"  {counted(len(fell.learners), 'learner')}  {fell.hint.name.replace('`', '')}")
    serious = sum(one.kind not in ("recovered", "out of date") for one in findings.faults)
    say(f"also: {serious} {'fault or time-out' if serious == 1 else 'faults or time-outs'}")
    if findings.to_talk_to:
        say("talk first to")
        for person in findings.to_talk_to[:5]:
            say(f"  {printable(called.get(person.learner, person.learner))}: {'; '.join(person.reasons)}")
        more, rest = len(findings.to_talk_to[5:]), sum(len(whose) for _, whose in findings.other_signs)
        if more or rest:
            say(f"  {more} more on the page; needs_help.csv has {counted(rest, 'other learner')} with a sign")
    for note in records.notes:
        say(f"note: {note}")
    say(f"report:    {page.resolve()}")


def tell_absent(findings: Findings, file: GradeFile, quiet: bool) -> None:
    """Who has no grade in the file and why, and whose is a late one: a person decides about zeros."""
    from nbproof.report.lateness import latecomers, some

    stream = sys.stderr if quiet else sys.stdout
    for lesson in (one for one in findings.lessons if one.lesson in file.columns):
        works = [work for (_, slug), work in sorted(findings.records.works.items()) if slug == lesson.lesson]
        late = [one for one in works if one.late and not one.problem]
        for what, names in (
            ("no grade, nothing handed in", lesson.missing),
            ("no grade, not graded", [f"{one.learner} ({one.problem})" for one in works if one.problem]),
        ):
            if names:
                print(f"  {lesson.lesson}: {what}: {some(names)}", file=stream)
        if late:
            print(f"  {lesson.lesson}: late: {latecomers(late)}", file=stream)


@dataclass(frozen=True)
class Filled:
    """What of the call a grade file's lines depend on."""

    export: Path
    files: int
    quiet: bool
    """Whether standard output is the JSON's."""


def tell_file(name: str, file: GradeFile, path: Path, elsewhere: frozenset[str], call: Filled) -> bool:
    """What stands in the file, and whether nobody has to do anything about the rest."""
    stream = sys.stderr if call.quiet else sys.stdout
    label = name.capitalize()

    def say(text: str) -> None:
        print(text, file=stream)

    say(f"{(name + ':').ljust(10)} {path.resolve()}  ({counted(file.filled, 'grade')})")
    for lesson, column in file.columns.items():
        say(f"  {lesson}: in the column {printable(column)!r}")
    for note in file.notes:
        say(f"  note: {note}")
    if elsewhere:
        say(f"  {counted(len(elsewhere), 'learner')} of another LMS: their grades are not for this file")
    for lesson, columns in file.unclear_columns.items():
        told = " or ".join(repr(printable(column)) for column in columns)
        say(f"  ! {lesson}: its grades are not in the file: they may belong to {told}")
        words = ("report", f"--{name}", str(call.export), "--column", f"{lesson}={columns[0]}")
        say(f"  next: say which it is, such as: {course_command(shlex.join(words))}")
    unknown = [learner for learner in file.unmatched if learner not in elsewhere]
    for learners, what in (
        (unknown, f"has a grade, and {label}'s export has no such person"),
        (file.unclear, f"has a grade, and fits several rows of {label}'s export, or shares a row with another learner"),
    ):
        for learner in learners:
            say(f"  ! {printable(learner)}: {what}")
    if unknown or file.unclear:
        told = (
            course_command("roster add ID --name '...' --email ...")
            + ", with name or address as the export has them, then run the same report again"
        )
        say(f"  next: {told}")
        if call.files == 1:
            other = "--moodle" if name == "canvas" else "--canvas"
            say(f"        or, if the class is in two LMSs: name the other's export in the same call, {other} CSV")
    return not (unknown or file.unclear or file.unclear_columns)
