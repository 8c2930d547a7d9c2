"""What ``python -m course report`` does: read the class, write page and files, fill grade files."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from nbproof.cli.report_table import Filled, print_report, tell_absent, tell_file
from nbproof.command import course_command, with_extra
from nbproof.errors import CourseError, UsageError
from nbproof.files import replace_file
from nbproof.text import some_of

if TYPE_CHECKING:
    from nbproof.marking.results import Score
    from nbproof.report.records import ClassRecords
    from nbproof_lms.grade_files import Grade, GradeFile

__all__ = ["grades_of", "report"]

_LIBRARIES = ("matplotlib", "numpy")
"""What grading needs none of: an extra of the tool's."""


def report(request: Namespace) -> int:
    """0 if all is written; 1 if something is missing, which is listed. Raises CourseError.

    ``request``: a call of the command.
    """
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    if missing:
        raise UsageError(
            "a report computes and draws with libraries that are not installed",
            ", ".join(missing),
            with_extra("report"),
        )
    from nbproof.terminal import progress

    with progress("reading"):
        from nbproof.report.records import read_class
        from nbproof.report.report import folder_of, make_report
        from nbproof_lms.attendance import known_of

    exports = [path for path in (request.canvas, request.moodle) if path is not None]
    if request.anonymous and exports:
        raise UsageError(
            "grade files name learners, and --anonymous hides them",
            str(exports[0]),
            "run it twice: once with --anonymous, once with the grade file",
        )
    chosen = _columns(request.column, exports)
    with progress("reading") as step:
        records = read_class(request.course, request.names, step, known_of(request.course))
    made, refused = _grade_files(request, records, chosen)
    folder = folder_of(request.course, request.out, request.anonymous)
    with progress("report"):
        found = make_report(request.course, records, folder, anonymous=request.anonymous, excel=request.excel)
    for name, file in made.items():
        _save(folder / f"{name}.csv", file.data)
    if request.json:
        print((folder / "report.json").read_text(encoding="utf-8"))
    else:
        print_report(found, folder / "index.html")
    complete = not (refused or records.unreadable)
    for name, file in made.items():
        elsewhere = _known_elsewhere(request.course, name, made)
        call = Filled(getattr(request, name), len(made), request.json)
        whole = tell_file(name, file, folder / f"{name}.csv", elsewhere, call)
        tell_absent(found, file, quiet=request.json)
        complete = complete and whole
    for error in (*records.unreadable, *refused):
        print("\n".join(error.lines()), file=sys.stderr)
    return 0 if complete else 1


def _columns(said: Sequence[str], exports: Sequence[Path]) -> dict[str, str]:
    """Lesson -> column, of what ``--column`` has said. Raises UsageError."""
    example = "--column 01_sorting='Lesson 1: Sorting (4711)'"
    if said and not exports:
        raise UsageError("--column is for a grade file, and none is named", f"--column {said[0]}", "add --canvas CSV")
    chosen = {}
    for text in said:
        lesson, sign, column = text.partition("=")
        if not (lesson.strip() and sign and column.strip()):
            raise UsageError("--column wants a lesson and the name of a column", f"--column {text}", example)
        chosen[lesson.strip()] = column.strip()
    return chosen


def _grade_files(
    request: Namespace, records: ClassRecords, chosen: Mapping[str, str]
) -> tuple[dict[str, GradeFile], list[CourseError]]:
    """The grade files, and why one cannot be made: page and tables are written all the same."""
    from nbproof_lms.grade_files import canvas_file, moodle_file

    made: dict[str, GradeFile] = {}
    refused: list[CourseError] = []
    if request.canvas is None and request.moodle is None:
        return made, refused
    grades = grades_of(records)
    if not grades:
        return made, [CourseError("nobody has a grade yet", str(request.course.resolve()), course_command("grade"))]
    titles = {lesson.slug: lesson.title for lesson in records.lessons}
    lesson = request.names[0] if len(request.names) == 1 else ""
    came = {name: _came_elsewhere(request.course, name) for name in ("canvas", "moodle")}

    def fill(name: str, others: frozenset[str]) -> None:
        try:
            if name == "canvas":
                made[name] = canvas_file(request.canvas, grades, records.learners, titles, chosen, came[name] | others)
            else:
                made[name] = moodle_file(
                    request.moodle, grades, records.learners, titles, lesson, chosen, came[name] | others
                )
        except CourseError as error:
            refused.append(error)

    if request.canvas is not None:
        fill("canvas", frozenset())
    if request.moodle is not None:
        fill("moodle", made["canvas"].by_id if "canvas" in made else frozenset())
    if len(made) == 2 and made["moodle"].by_id:
        # Whom Moodle's export knows by an id is no namesake in Canvas's.
        fill("canvas", made["moodle"].by_id)
    if not refused:
        refused += _unused(chosen, made, titles)
    return made, refused


def _unused(chosen: Mapping[str, str], made: Mapping[str, GradeFile], titles: Mapping[str, str]) -> list[CourseError]:
    """What ``--column`` named, and no export has."""
    used = {lesson for file in made.values() for lesson in (*file.columns, *file.unclear_columns)}
    lost = [
        CourseError(
            f"no export has a column {column!r}" if lesson in titles else f"no grades are there for {lesson!r}",
            f"--column {lesson}={column}",
            "name the column as its export has it; the lesson as its folder is called: " + ", ".join(titles),
        )
        for lesson, column in chosen.items()
        if lesson not in used
    ]
    return lost


def _known_elsewhere(root: Path, name: str, made: Mapping[str, GradeFile]) -> frozenset[str]:
    """Learners of another LMS: its export, named in the same call, has them, or their work came from there alone."""
    others = frozenset().union(*(file.found for other, file in made.items() if other != name))
    return frozenset(made[name].unmatched) & (others | _came_elsewhere(root, name))


def _came_elsewhere(root: Path, name: str) -> frozenset[str]:
    """Learners whose work came from another LMS alone."""
    from nbproof_lms.handback import systems_of

    return frozenset(learner for learner, systems in systems_of(root).items() if name.capitalize() not in systems)


def grades_of(records: ClassRecords) -> dict[tuple[str, str], Grade]:
    """What is graded. Who handed in nothing, or what could not be graded, has no grade: a person decides about zeros."""
    from nbproof_lms.grade_files import Grade

    titles = {one.id: one.title for lesson in records.lessons for one in lesson.exercises}
    return {
        key: Grade(work.score, records.lesson(work.lesson).max_score, _comment(work, titles))
        for key, work in sorted(records.works.items())
        if not work.problem
    }


def _comment(work: Score, titles: dict[str, str]) -> str:
    """Feedback in a few words; the page has the rest."""
    from nbproof.marking.results import UNCERTAIN

    told = [f"{work.score:g} of {work.max_score:g} points."]
    if work.penalty:
        told.append(f"{work.penalty:g} points were taken off for being late.")
    if work.pending:
        told.append("An answer is still to be marked.")
    # What is uncertain is a person's to mark, and perhaps right.
    shown = [one for one in work.verdict.exercises if one.status != UNCERTAIN]
    open_ones = [titles.get(one.id, one.id).replace("`", "") for one in shown if not one.is_whole]
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
