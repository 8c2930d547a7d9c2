"""Grade files that an LMS imports, made from the instructor's own export of its gradebook.

Which column is what the system itself tells (``System.grade_table``); which row is which learner's is read from the table; which
column is which lesson's says its name, or the instructor. Grades in another place than theirs are worse than none: where two may
be meant, a person says which. Whoever has no grade here keeps what the LMS has.
"""

from __future__ import annotations

import re
import shlex
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import MappingProxyType

from nbproof.command import course_command
from nbproof.errors import CourseError, UsageError
from nbproof.gradebook.marks import ClassResults, Mark, Person, by_assignment
from nbproof.grouping import grouped
from nbproof.key import Key, assignment_of
from nbproof.marking.results import Verdict
from nbproof.text import some_of
from nbproof_lms.csv_table import Sheet, item_of, read_sheet
from nbproof_lms.names import bare, bare_words, plain
from nbproof_lms.system import GradeTable, System, find_system, systems

__all__ = [
    "NO_GRADE",
    "GradeFile",
    "columns_of",
    "exports_of",
    "grade_file",
    "grade_files",
    "known_elsewhere",
    "zeros",
]


@dataclass(frozen=True)
class GradeFile:
    """A file to import, and what a person should know before doing so.

    ``filled``: how many grades stand in it. ``columns``: lesson -> the column of its grades. Of learners with a grade: those whom
    the export knows (``found``), does not know (``unmatched``), and for whom several rows are meant, or whose row several mean
    (``unclear``).
    """

    data: bytes
    filled: int
    columns: Mapping[str, str]
    found: frozenset[str]
    unmatched: tuple[str, ...]
    unclear: tuple[str, ...]
    notes: tuple[str, ...]


def grade_file(
    system: System,
    export: Path,
    grades: Mapping[Key, Mark],
    people: Sequence[Person],
    titles: Mapping[str, str],
    lesson: str = "",
    chosen: Mapping[str, str] = MappingProxyType({}),
) -> GradeFile:
    """Fill an export of an LMS's gradebook. Raises UsageError if it is none.

    ``grades``: what is graded, manual marks and late penalty in it. ``titles``: lesson -> title. ``lesson``: which one a table
    of one assignment is about. ``chosen``: lesson -> the column that a person has named for it.
    """
    sheet = read_sheet(export, "the grades", f"--{system.option}")
    table = system.grade_table(sheet)
    if table is None:
        raise UsageError(
            f"this is no table that {system.name} takes grades in: it has no column that says who somebody is",
            f"{export}, whose first line is {', '.join(sheet.head)[:120]!r}",
            f"{system.export}; then --{system.option} FILE",
        )
    graded = {key[0] for key, grade in grades.items() if grade.cells}
    learners, lessons = sorted({learner for learner, _ in grades}), sorted({name for _, name in grades})
    places = _columns(sheet, table, system, lessons, titles, lesson, chosen)
    means = _rows_meant(sheet, table, people, learners)
    clear = {row: learner for learner, row in _sole(means).items()}
    filled, notes = _fill(sheet, table, clear, grades, places)
    without = [name for name in lessons if name not in places and table.only is None]
    missing = "no column of the export has its name, so its grades are not in the file: --column says which is its"
    keep = range(len(sheet.head)) if table.keep is None else (*table.keep, *sorted(places.values()))
    return GradeFile(
        sheet.text([[row[column] for column in keep] for row in sheet.rows]),
        filled,
        {name: sheet.head[column] for name, column in sorted(places.items())},
        frozenset(clear.values()) & set(learners),
        tuple(learner for learner in learners if not means[learner] and learner in graded),
        tuple(learner for learner in learners if means[learner] and learner not in clear.values()),
        (*table.notes, *notes, *(f"{name}: {missing}" for name in without)),
    )


def _columns(
    sheet: Sheet,
    table: GradeTable,
    system: System,
    lessons: Sequence[str],
    titles: Mapping[str, str],
    lesson: str,
    chosen: Mapping[str, str],
) -> Mapping[str, int]:
    """Where each lesson's grades go: a column that is called as it is, or as a person has said; letter case and signs aside.

    Raises UsageError if no lesson has a column, or a table about one assignment may be any lesson's.
    """
    if lesson and lesson not in lessons:
        raise UsageError(f"nobody has a grade for {lesson}", str(sheet.path), course_command(f"grade {lesson}"))
    asked = shlex.join((f"--{system.option}", str(sheet.path)))
    if table.only is not None:
        if not lesson and len(lessons) > 1:
            raise UsageError(
                "a grading worksheet is for one assignment, and does not say for which lesson",
                str(sheet.path),
                f"{course_command(f'report LESSON {asked}')}, where LESSON is {' or '.join(lessons)}",
            )
        return {lesson or lessons[0]: table.only}
    if found := _sole({name: _columns_called(name, table, titles, chosen) for name in lessons}):
        return found
    others = filter(str.strip, table.lessons.values())
    raise UsageError(
        f"no column of the export has the name of a lesson that has grades: {', '.join(lessons)}",
        f"{sheet.path}, which has {', '.join(map(repr, others))[:300] or 'none'}",
        f"say which it is, such as: {course_command(f'report {asked} --column {lessons[0]}=COLUMN')}",
    )


def _columns_called(lesson: str, table: GradeTable, titles: Mapping[str, str], chosen: Mapping[str, str]) -> set[int]:
    said = (chosen[lesson],) if lesson in chosen else (lesson, titles.get(lesson, lesson))
    forms = {bare(text) for text in said}
    return {at for at, head in table.lessons.items() if {bare(head), bare(item_of(head))} & forms}


def _sole(means: Mapping[str, Collection[int]]) -> dict[str, int]:
    """Of whatever means one only, which nothing else means: that one."""
    ones = {name: min(found) for name, found in means.items() if len(found) == 1}
    times = Counter(ones.values())
    return {name: one for name, one in ones.items() if times[one] == 1}


def _rows_meant(
    sheet: Sheet, table: GradeTable, people: Iterable[Person], learners: Iterable[str]
) -> dict[str, set[int]]:
    """The rows that may be each learner's: by identifiers, the surest first; what is left then, by name. Nobody is guessed."""
    asked = {**{learner: Person(learner) for learner in learners}, **{person.id: person for person in people}}
    forms = ((text, one.id) for one in asked.values() for text in (one.id, one.lms_id, one.email) if text)
    ids = grouped((plain(text), learner) for text, learner in forms)
    names = grouped((bare_words(one.name), one.id) for one in asked.values())
    means: dict[str, set[int]] = {learner: set() for learner in asked}
    rows = {at: row for at, row in list(enumerate(sheet.rows))[table.first_row :] if "Student, Test" not in row}
    for at, row in rows.items():
        # Brightspace writes #ada.
        found = (ids[form] for column in table.ids if (form := plain(row[column]).removeprefix("#")) in ids)
        for learner in next(found, ()):
            means[learner].add(at)
    by_id = {learner for learner, found in means.items() if found}
    for at in rows.keys() - set().union(*means.values()):
        name = bare_words(" ".join(rows[at][column] for column in table.names))
        if len(name) > 1:
            for learner in {*names[name]} - by_id:
                means[learner].add(at)
    return means


def _fill(
    sheet: Sheet, table: GradeTable, learners: Mapping[int, str], grades: Mapping[Key, Mark], places: Mapping[str, int]
) -> tuple[int, list[str]]:
    """Write the grades in, scaled if the LMS has another maximum; how many, and what was scaled."""
    count, notes = 0, []
    comma = any(re.fullmatch(r"\s*\d+,\d+\s*", cell) for row in sheet.rows[1:] for cell in row)
    for lesson, column in places.items():
        most = table.maxima.get(column)
        own = max((grade.max_score for (_, name), grade in grades.items() if name == lesson), default=0.0)
        scale = most / own if most and own else 1.0
        if abs(scale - 1) > 1e-9:
            notes.append(f"{lesson}: scaled from {own:g} points to the {most:g} of the LMS")
        kept = defaultdict[str, list[str]](list)
        for number, learner in learners.items():
            grade, cell = grades.get(Key(learner, lesson)), sheet.rows[number][column].strip()
            if grade and table.excused and cell.upper() == table.excused:
                kept["excused in the LMS, and left so"].append(learner)
            elif grade and cell.strip("-–") and not grade.cells:
                kept["has nothing here, and a grade in the LMS, which stays"].append(learner)
            elif grade:
                text = f"{round(grade.score * scale, 2):.2f}".rstrip("0").rstrip(".")
                sheet.rows[number][column] = text.replace(".", ",") if comma else text
                count += 1
                if re.fullmatch(r"\d+([.,]\d+)?", cell) and float(cell.replace(",", ".")) != float(text):
                    kept["replaces another grade, of the export"].append(f"{learner} ({cell})")
        notes += [f"{lesson}: {what}: {some_of(who, 8)}" for what, who in kept.items()]
    return count, notes


def exports_of(request: Namespace) -> dict[str, Path]:
    """The exports that a call of the command has named, by what it calls their LMS."""
    options = [system.option for system in systems().values() if system.export]
    return {option: path for option in options if (path := getattr(request, option)) is not None}


def columns_of(said: Sequence[str]) -> dict[str, str]:
    """Lesson -> column, of what ``--column`` has said. Raises UsageError."""
    example = "--column 01_sorting='Lesson 1: Sorting (4711)'"
    chosen = {}
    for text in said:
        lesson, _, column = text.partition("=")
        if not (lesson.strip() and column.strip()):
            raise UsageError("--column wants a lesson and the name of a column", f"--column {text}", example)
        chosen[lesson.strip()] = column.strip()
    return chosen


NO_GRADE = {"missing": "nothing handed in", "ungraded": "nothing that can be graded"}
"""Why somebody has no grade: what ``--zero`` takes, and what it means."""


_GETS = ("no grade in grade files (--zero {kind}: 0)", "0 in grade files, where the LMS has no grade")


def zeros(results: ClassResults, zero: Collection[str], seen: Mapping[Key, bool]) -> tuple[dict[Key, Mark], list[str]]:
    """Who has no grade, and gets a 0 in grade files; and of each lesson who gets one, and who none.

    ``zero``: of :data:`NO_GRADE`, who gets one. ``seen``: what a person has settled, and whether it was left open. Nothing is
    missing while an extension runs.
    """
    marks = by_assignment(results.marks)
    later = {Key(key.learner, key.assignment) for key in results.more_time}
    settled = {Key(key.learner, key.assignment) for key, is_open in seen.items() if not is_open}
    most = {key.lesson: mark.max_score for key, mark in marks.items() if not mark.problem}
    given: dict[Key, Mark] = {}
    told = defaultdict[str, list[str]](list)
    for lesson, person in product(most, results.people):
        key = Key(person.id, lesson)
        kind = _why_none(marks.get(key))
        if kind and key not in later:
            is_zero = kind in zero or key in settled
            if is_zero:
                given[key] = Mark(Verdict(*key), most[lesson])
            told[f"{lesson}: {NO_GRADE[kind]}: {_GETS[is_zero].format(kind=kind)}"].append(person.id)
    return given, [f"{what}: {some_of(who, 8)}" for what, who in told.items()]


def _why_none(mark: Mark | None) -> str:
    """Why there is no grade; empty if there is one."""
    if mark is None:
        return "missing"
    return "ungraded" if mark.problem else ""


def grade_files(
    root: Path,
    exports: Mapping[str, Path],
    results: ClassResults,
    chosen: Mapping[str, str],
    names: Sequence[str],
    given: Mapping[Key, Mark] = MappingProxyType({}),
) -> tuple[dict[str, GradeFile], list[CourseError]]:
    """The grade files, and why one cannot be made: page and tables are written all the same. ``given``: see :func:`zeros`."""
    made: dict[str, GradeFile] = {}
    refused: list[CourseError] = []
    grades = {key: mark for key, mark in by_assignment(results.marks).items() if not mark.problem}
    if exports and not grades:
        return made, [CourseError("nobody has a grade yet", str(root.resolve()), course_command("grade"))]
    grades |= given
    titles = {assignment_of(one.slug): assignment_of(one.slug).replace("_", " ") for one in results.lessons}
    titles |= {lesson.slug: lesson.title for lesson in results.lessons}
    if unknown := sorted(chosen.keys() - titles.keys()):
        known = f"choose from: {', '.join(titles)}"
        return made, [CourseError(f"no lesson is called {unknown[0]!r}", "--column", known)]
    lesson = assignment_of(names[0]) if len(names) == 1 else ""
    for option, export in exports.items():
        try:
            made[option] = grade_file(find_system(option), export, grades, results.people, titles, lesson, chosen)
        except CourseError as error:
            refused.append(error)
    return made, refused


def known_elsewhere(option: str, made: Mapping[str, GradeFile]) -> frozenset[str]:
    """Learners whom this export does not know, and another one does that was named in the same call."""
    others = frozenset().union(*(file.found for other, file in made.items() if other != option))
    return frozenset(made[option].unmatched) & others
