"""What ``python -m course report`` does: read the class, write page and files, fill grade files, tell."""

from __future__ import annotations

import sys
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from nbproof.command import course_command, with_extra
from nbproof.errors import CourseError, UsageError
from nbproof.files import replace_file
from nbproof.text import counted, printable, some_of

if TYPE_CHECKING:
    from nbproof.marking.results import Score
    from nbproof.report.findings import Findings
    from nbproof.report.lms import Grade, GradeFile
    from nbproof.report.records import ClassRecords

__all__ = ["grades_of", "report"]

_LIBRARIES = ("matplotlib", "numpy", "scipy", "sklearn")
"""What grading needs none of: an extra of the tool's."""


def report(request: Namespace) -> int:
    """0 if all is written; 1 if a grade file lacks learners, who are listed. Raises CourseError.

    ``request``: a call of the command.
    """
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    if missing:
        raise UsageError(
            "a report computes and draws with libraries that are not installed",
            ", ".join(missing),
            with_extra("report"),
        )
    from nbproof.report.records import read_class
    from nbproof.report.report import folder_of, make_report
    from nbproof.terminal import progress

    exports = [path for path in (request.canvas, request.moodle) if path is not None]
    if request.anonymous and exports:
        raise UsageError(
            "grade files name learners, and --anonymous hides them",
            str(exports[0]),
            "run it twice: once with --anonymous, once with the grade file",
        )
    with progress("reading") as step:
        records = read_class(request.course, request.names, step)
    made = _grade_files(request, records)
    folder = folder_of(request.course, request.out, request.anonymous)
    with progress("report") as step:
        found = make_report(
            request.course, records, folder, anonymous=request.anonymous, excel=request.excel, step=step
        )
    for name, file in made.items():
        _save(folder / f"{name}.csv", file.data)
    if request.json:
        print((folder / "report.json").read_text(encoding="utf-8"))
    else:
        _print_report(found, folder / "index.html")
    incomplete = False
    for name, file in made.items():
        _tell(name, file, folder / f"{name}.csv", quiet=request.json)
        _tell_absent(found, file, quiet=request.json)
        incomplete = incomplete or bool(file.unmatched or file.unclear)
    return 1 if incomplete else 0


def _grade_files(request: Namespace, records: ClassRecords) -> dict[str, GradeFile]:
    from nbproof.report.lms import canvas_file, moodle_file

    made: dict[str, GradeFile] = {}
    if request.canvas is None and request.moodle is None:
        return made
    grades = grades_of(records)
    if not grades:
        raise UsageError("nobody has a grade yet", str(request.course.resolve()), course_command("grade"))
    titles = {lesson.slug: lesson.title for lesson in records.lessons}
    if request.canvas is not None:
        made["canvas"] = canvas_file(request.canvas, grades, records.learners, titles)
    if request.moodle is not None:
        lesson = request.names[0] if len(request.names) == 1 else ""
        made["moodle"] = moodle_file(request.moodle, grades, records.learners, titles, lesson)
    return made


def grades_of(records: ClassRecords) -> dict[tuple[str, str], Grade]:
    """What is graded. Who handed in nothing, or what could not be graded, has no grade: a person decides about zeros."""
    from nbproof.report.lms import Grade

    titles = {one.id: one.title for lesson in records.lessons for one in lesson.exercises}
    return {
        key: Grade(work.score, records.lesson(work.lesson).max_score, _comment(work, titles))
        for key, work in sorted(records.works.items())
        if not work.problem
    }


def _comment(work: Score, titles: dict[str, str]) -> str:
    """Feedback in a few words; the page has the rest."""
    told = [f"{work.score:g} of {work.max_score:g} points."]
    if work.penalty:
        told.append(f"{work.penalty:g} points were taken off for being late.")
    if work.pending:
        told.append("A written answer is still to be marked.")
    open_ones = [titles.get(one.id, one.id).replace("`", "") for one in work.verdict.exercises if not one.is_whole]
    if open_ones:
        told.append(f"To work on: {some_of(open_ones, 5)}.")
    return " ".join(told)


def _save(path: Path, data: bytes) -> None:
    try:
        replace_file(path, data)
    except OSError as error:
        raise CourseError(
            f"the grade file cannot be written: {error.strerror}", str(path), "choose a place: --out DIR"
        ) from None


def _print_report(findings: Findings, page: Path) -> None:
    """A plain summary on standard output."""
    from rich.markup import escape
    from rich.table import Table

    from nbproof.report.attendance import latecomers, some
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

    for one in findings.lessons:
        if one.missing:
            say(f"nothing handed in: {one.lesson}: {some(one.missing)}")
        late = [work for work in records.of_lesson(one.lesson) if work.late]
        if late:
            say(f"late: {one.lesson}: {latecomers(late)}")
    for work in records.ungraded():
        say(f"! not graded: {work.learner}: {work.lesson}: {work.problem}")
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
    parts = [f"{serious} {'fault or time-out' if serious == 1 else 'faults or time-outs'}"]
    if not findings.anonymous:
        parts.append(f"{counted(len(findings.groups), 'group')} of near copies")
    say("also: " + ", ".join(parts))
    if findings.to_talk_to:
        say("talk first to")
        called = {person.id: person.called for person in records.learners}
        for person in findings.to_talk_to[:5]:
            say(f"  {printable(called.get(person.learner, person.learner))}: {'; '.join(person.reasons)}")
        more, rest = len(findings.to_talk_to[5:]), sum(len(whose) for _, whose in findings.other_signs)
        if more or rest:
            say(f"  {more} more on the page; needs_help.csv has {counted(rest, 'other learner')} with a sign")
    for note in records.notes:
        say(f"note: {note}")
    say(f"report:    {page.resolve()}")


def _tell_absent(findings: Findings, file: GradeFile, quiet: bool) -> None:
    """Who has no grade in the file and why, and whose is a late one: a person decides about zeros."""
    from nbproof.report.attendance import latecomers, some

    stream = sys.stderr if quiet else sys.stdout
    for lesson in (one for one in findings.lessons if one.lesson in file.lessons):
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


def _tell(name: str, file: GradeFile, path: Path, quiet: bool) -> None:
    stream = sys.stderr if quiet else sys.stdout
    label = name.capitalize()
    print(
        f"{(name + ':').ljust(10)} {path.resolve()}  ({counted(file.filled, 'grade')}, {', '.join(file.lessons)})",
        file=stream,
    )
    for note in file.notes:
        print(f"  note: {note}", file=stream)
    for learners, what in (
        (file.unmatched, f"has a grade, and {label}'s export has no such person"),
        (file.unclear, f"has a grade, and fits several rows of {label}'s export, or shares a row with another learner"),
    ):
        for learner in learners:
            print(f"  ! {printable(learner)}: {what}", file=stream)
    if file.unmatched or file.unclear:
        told = (
            course_command("roster add ID --name '...' --email ...")
            + ", with name or address as the export has them, then run the same report again"
        )
        print(f"  next: {told}", file=stream)
