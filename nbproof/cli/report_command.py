"""What ``python -m course report`` does: read the class, write page and files, fill grade files, tell."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from nbproof.command import course_command, nbgrader_command, with_extra
from nbproof.errors import CourseError, UsageError
from nbproof.files import replace_file
from nbproof.text import printable

if TYPE_CHECKING:
    from nbproof.marking.results import Score
    from nbproof.report.findings import Findings
    from nbproof.report.lms import Grade, GradeFile
    from nbproof.report.records import ClassRecords

__all__ = ["ReportRequest", "grades_of", "report"]


@dataclass(frozen=True)
class ReportRequest:
    """A call of the command."""

    root: Path
    lessons: tuple[str, ...] = ()
    out: Path | None = None
    canvas: Path | None = None
    moodle: Path | None = None
    anonymous: bool = False
    excel: bool = False
    json: bool = False


_LIBRARIES = ("matplotlib", "numpy", "scipy", "sklearn")
"""What grading needs none of: an extra of the tool's."""


def report(request: ReportRequest) -> int:
    """0 where all is written; 1 where a grade file lacks learners, who are listed. Raises CourseError."""
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    if missing:
        raise UsageError(
            "a report computes and draws with libraries that are not installed",
            ", ".join(missing),
            with_extra("report"),
        )
    from nbproof.cli.report_table import print_report
    from nbproof.report.records import read_class
    from nbproof.report.report import folder_of, make_report
    from nbproof.terminal.progress_bar import progress

    exports = [path for path in (request.canvas, request.moodle) if path is not None]
    if request.anonymous and exports:
        raise UsageError(
            "grade files name learners, and --anonymous hides them", str(exports[0]), "two calls, one with --anonymous"
        )
    with progress("reading") as step:
        records = read_class(request.root, list(request.lessons), step)
    made = _grade_files(request, records)
    folder = folder_of(request.root, request.out, request.anonymous)
    with progress("report") as step:
        found = make_report(request.root, records, folder, anonymous=request.anonymous, excel=request.excel, step=step)
    for name, file in made.items():
        _save(folder / f"{name}.csv", file.data)
    if request.json:
        print((folder / "report.json").read_text(encoding="utf-8"))
    else:
        print_report(found, folder / "index.html")
    incomplete = False
    for name, file in made.items():
        _tell(name, file, folder / f"{name}.csv", quiet=request.json)
        _tell_absent(found, file, quiet=request.json)
        incomplete = incomplete or bool(file.unmatched or file.unclear)
    return 1 if incomplete else 0


def _grade_files(request: ReportRequest, records: ClassRecords) -> dict[str, GradeFile]:
    from nbproof.report.lms import canvas_file, moodle_file

    made: dict[str, GradeFile] = {}
    if request.canvas is None and request.moodle is None:
        return made
    grades = grades_of(records)
    if not grades:
        raise UsageError("nobody has a grade yet", str(request.root.resolve()), course_command("grade"))
    titles = {lesson.slug: lesson.title for lesson in records.lessons}
    if request.canvas is not None:
        made["canvas"] = canvas_file(request.canvas, grades, records.learners, titles)
    if request.moodle is not None:
        lesson = request.lessons[0] if len(request.lessons) == 1 else ""
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
        more = f" and {len(open_ones) - 5} more" if len(open_ones) > 5 else ""
        told.append(f"To work on: {', '.join(open_ones[:5])}{more}.")
    return " ".join(told)


def _save(path: Path, data: bytes) -> None:
    try:
        replace_file(path, data)
    except OSError as error:
        raise CourseError(
            f"the grade file cannot be written: {error.strerror}", str(path), "choose a place: --out DIR"
        ) from None


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
    print(f"{(name + ':').ljust(10)} {path.resolve()}  ({file.filled} grades, {', '.join(file.lessons)})", file=stream)
    for note in file.notes:
        print(f"  note: {note}", file=stream)
    for learners, what in (
        (file.unmatched, f"has a grade, and {label}'s export has no such person"),
        (file.unclear, f"several rows of {label}'s export are meant, or one row by several learners"),
    ):
        for learner in learners:
            print(f"  ! {printable(learner)}: {what}", file=stream)
    if file.unmatched or file.unclear:
        told = (
            nbgrader_command("db student add ID --first-name ... --last-name ... --email ...") + ", then report again"
        )
        print(f"  next: {told}", file=stream)
