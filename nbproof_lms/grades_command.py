"""What ``report --canvas`` and its like do: fill the exports of LMSs with what is graded."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from nbproof.command import course_command
from nbproof.errors import CourseError, UsageError
from nbproof.gradebook.marks import ClassResults, by_assignment
from nbproof.key import Key, assignment_of
from nbproof_lms.grade_files import Grade, GradeFile, grade_file
from nbproof_lms.handback import systems_of
from nbproof_lms.system import find_system, systems

__all__ = ["columns_of", "exports_of", "grade_files", "grades_of", "known_elsewhere"]


def exports_of(request: Namespace) -> dict[str, Path]:
    """The exports that a call of the command has named, by what it calls their LMS."""
    options = [system.option for system in systems().values() if system.export]
    return {option: path for option in options if (path := getattr(request, option)) is not None}


def columns_of(said: Sequence[str], exports: Mapping[str, Path]) -> dict[str, str]:
    """Lesson -> column, of what ``--column`` has said. Raises UsageError."""
    example = "--column 01_sorting='Lesson 1: Sorting (4711)'"
    if said and not exports:
        raise UsageError("--column is for a grade file, and none is named", f"--column {said[0]}", "add --canvas CSV")
    chosen = {}
    for text in said:
        lesson, _, column = text.partition("=")
        if not (lesson.strip() and column.strip()):
            raise UsageError("--column wants a lesson and the name of a column", f"--column {text}", example)
        chosen[lesson.strip()] = column.strip()
    return chosen


def grade_files(
    root: Path,
    exports: Mapping[str, Path],
    results: ClassResults,
    chosen: Mapping[str, str],
    names: Sequence[str],
) -> tuple[dict[str, GradeFile], list[CourseError]]:
    """The grade files, and why one cannot be made: page and tables are written all the same."""
    made: dict[str, GradeFile] = {}
    refused: list[CourseError] = []
    grades = grades_of(results)
    if exports and not grades:
        return made, [CourseError("nobody has a grade yet", str(root.resolve()), course_command("grade"))]
    titles = {assignment_of(one.slug): assignment_of(one.slug).replace("_", " ") for one in results.lessons}
    titles |= {lesson.slug: lesson.title for lesson in results.lessons}
    lesson = assignment_of(names[0]) if len(names) == 1 else ""
    for option, export in exports.items():
        elsewhere = _came_elsewhere(root, option)
        try:
            made[option] = grade_file(
                find_system(option), export, grades, results.people, titles, lesson, chosen, elsewhere
            )
        except CourseError as error:
            refused.append(error)
    return made, refused or _unused(chosen, made, titles)


def _unused(chosen: Mapping[str, str], made: Mapping[str, GradeFile], titles: Mapping[str, str]) -> list[CourseError]:
    """What ``--column`` named, and no export has."""
    used = {lesson for file in made.values() for lesson in (*file.columns, *file.unclear_columns)}
    return [
        CourseError(
            f"no export has a column {column!r}" if lesson in titles else f"no grades are there for {lesson!r}",
            f"--column {lesson}={column}",
            "name the column as its export has it; the lesson as its folder is called: " + ", ".join(titles),
        )
        for lesson, column in chosen.items()
        if lesson not in used
    ]


def known_elsewhere(root: Path, option: str, made: Mapping[str, GradeFile]) -> frozenset[str]:
    """Learners of another LMS: its export, named in the same call, has them, or their work came from there alone."""
    others = frozenset().union(*(file.found for other, file in made.items() if other != option))
    return frozenset(made[option].unmatched) & (others | _came_elsewhere(root, option))


def _came_elsewhere(root: Path, option: str) -> frozenset[str]:
    """Learners whose work came from another LMS alone."""
    name = find_system(option).name
    return frozenset(learner for learner, came in systems_of(root).items() if name not in came)


def grades_of(results: ClassResults) -> dict[Key, Grade]:
    """What is graded. Who handed in nothing, or what could not be graded, has no grade: a person decides about zeros."""
    graded = [(key, mark) for key, mark in by_assignment(results.marks).items() if not mark.problem]
    return {key: Grade(mark.score, mark.max_score) for key, mark in graded}
