"""What ``python -m course report`` does: read the class, write page and files, fill grade files, tell what stands in them."""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbproof.command import course_command
from nbproof.errors import CourseError, UsageError
from nbproof.files import replace_file
from nbproof.text import counted, printable

if TYPE_CHECKING:
    from nbproof.gradebook.marks import ClassResults
    from nbproof_lms.grade_files import GradeFile

__all__ = ["report"]


def report(request: Namespace) -> int:
    """0 if all is written; 1 if something is missing, which is listed. Raises CourseError.

    ``request``: a call of the command.
    """
    from nbproof.terminal import progress

    with progress("reading"):
        from nbproof.report.records import read_class
        from nbproof.report.report import folder_of, make_report
        from nbproof.run.batch import follow_marks
        from nbproof_lms.attendance import known_of
        from nbproof_lms.grades_command import columns_of, exports_of, grade_files, known_elsewhere

    exports = exports_of(request)
    if request.anonymous and exports:
        raise UsageError(
            "grade files name learners, and --anonymous hides them",
            str(min(exports.values())),
            "run it twice: once with --anonymous, once with the grade file",
        )
    chosen = columns_of(request.column, exports)
    with progress("reading") as step:
        follow_marks(request.course)
        results = read_class(request.course, request.names, step, known_of(request.course))
    made, refused = grade_files(request.course, exports, results, chosen, request.names)
    folder = folder_of(request.course, request.out, request.anonymous)
    with progress("report"):
        told = make_report(request.course, results, folder, anonymous=request.anonymous, excel=request.excel)
    if request.json:
        print((folder / "report.json").read_text(encoding="utf-8"))
    else:
        _print_report(results, told.get("needs_help", ()), folder / "index.html")
    complete = not (refused or results.unreadable)
    for name, file in made.items():
        path = folder / f"{name}.csv"
        _save(path, file.data)
        call = _Filled(exports[name], len(made), request.json)
        complete &= _tell_file(name, file, path, known_elsewhere(request.course, name, made), call)
    for error in (*results.unreadable, *refused):
        print("\n".join(error.lines()), file=sys.stderr)
    return 0 if complete else 1


def _save(path: Path, data: bytes) -> None:
    try:
        replace_file(path, data)
    except OSError as error:
        fact = f"the grade file cannot be written: {error.strerror}"
        raise CourseError(fact, str(path), "choose a place: --out DIR") from None


def _print_report(results: ClassResults, needy: Sequence[Mapping[str, Any]], page: Path) -> None:
    """A plain summary on standard output."""
    from nbproof.cli.class_table import lesson_table
    from nbproof.gradebook.marks import by_assignment
    from nbproof.report.lateness import late_lines, some
    from nbproof.terminal import console_for_output, say

    console = console_for_output()
    console.print(lesson_table(results))
    called = {person.id: person.called for person in results.people}
    lines = []
    for lesson in results.lessons:
        silent = [person.called for person in results.people if (person.id, lesson.slug) not in results.marks]
        if silent:
            lines.append(f"nothing handed in: {lesson.slug}: {some(silent)}")
    lines += late_lines(by_assignment(results.marks).values())
    lines += [f"! not graded: {called[one.learner]}: {one.lesson}: {one.problem}" for one in results.ungraded()]
    first = [row for row in needy if row["first"]]
    lines += ["talk first to"] if first else []
    lines += [f"  {printable(called[row['learner']])}: {'; '.join(row['reasons'])}" for row in first]
    lines += [f"note: {note}" for note in results.notes]
    for line in (*lines, f"report:    {page.resolve()}"):
        say(console, line)


@dataclass(frozen=True)
class _Filled:
    """What of the call a grade file's lines depend on."""

    export: Path
    files: int
    quiet: bool
    """Whether standard output is the JSON's."""


def _tell_file(name: str, file: GradeFile, path: Path, elsewhere: frozenset[str], call: _Filled) -> bool:
    """What stands in the file, and whether nobody has to do anything about the rest."""
    label = name.capitalize()
    lines = [f"{(name + ':').ljust(10)} {path.resolve()}  ({counted(file.filled, 'grade')})"]
    lines += [f"  {lesson}: in the column {printable(column)!r}" for lesson, column in file.columns.items()]
    lines += [f"  note: {note}" for note in file.notes]
    if elsewhere:
        lines.append(f"  {counted(len(elsewhere), 'learner')} of another LMS: their grades are not for this file")
    for lesson, columns in file.unclear_columns.items():
        told = " or ".join(repr(printable(column)) for column in columns)
        words = ("report", f"--{name}", str(call.export), "--column", f"{lesson}={columns[0]}")
        lines.append(f"  ! {lesson}: its grades are not in the file: they may belong to {told}")
        lines.append(f"  next: say which it is, such as: {course_command(shlex.join(words))}")
    unknown = [learner for learner in file.unmatched if learner not in elsewhere]
    several = f"fits several rows of {label}'s export, or shares a row with another learner"
    lines += [f"  ! {printable(who)}: has a grade, and {label}'s export has no such person" for who in unknown]
    lines += [f"  ! {printable(who)}: has a grade, and {several}" for who in file.unclear]
    if unknown or file.unclear:
        add = course_command("roster add ID --name '...' --email ...")
        lines.append("  next: nothing, of whoever has left the class there. Of others:")
        lines.append(f"        {add}, with name or address as the export has them, then run the same report again")
        if call.files == 1:
            other = "--moodle" if name == "canvas" else "--canvas"
            lines.append(f"        or, if the class is in two LMSs: name the other's export as well, {other} CSV")
    print("\n".join(lines), file=sys.stderr if call.quiet else sys.stdout)
    return not (unknown or file.unclear or file.unclear_columns)
