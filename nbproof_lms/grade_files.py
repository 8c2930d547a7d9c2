"""Grade files that an LMS imports, made from the instructor's own export of its gradebook.

Which column is what the system itself tells (``System.grade_table``); which row is which learner's is read from the table; which
column is which lesson's says its name, or the instructor. Grades in another place than theirs are worse than none: where two may
be meant, a person says which. A learner who has no grade here keeps what the LMS has.
"""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
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
from nbproof.places import places
from nbproof.text import some_of
from nbproof_lms.csv_table import LETTERS, Sheet, decimal_sign, item_of, number_in, read_sheet, shows
from nbproof_lms.names import bare, bare_words
from nbproof_lms.row_owners import RowOwners, row_owners
from nbproof_lms.system import GradeTable, System, find_system, systems

__all__ = [
    "NO_GRADE",
    "GradeFile",
    "columns_of",
    "exports_of",
    "grade_file",
    "grade_files",
    "known_elsewhere",
    "options_of_exports",
    "zeros",
]


@dataclass(frozen=True)
class GradeFile:
    """A file to import, and what a person should know before doing so.

    ``filled``: how many grades stand in it. ``columns``: lesson -> the column of its grades. Learners with a grade are of
    three kinds: the export knows them (``found``); it does not (``unmatched``); or several rows fit the learner, or several
    learners fit the row (``unclear``). ``left_out``: why a lesson's grades are not in the file.
    """

    data: bytes
    filled: int
    columns: Mapping[str, str]
    found: frozenset[str]
    unmatched: tuple[str, ...]
    unclear: tuple[str, ...]
    notes: tuple[str, ...]
    left_out: tuple[CourseError, ...]


def grade_file(
    system: System,
    export: Path,
    grades: Mapping[Key, Mark],
    people: Sequence[Person],
    titles: Mapping[str, str],
    lesson: str = "",
    chosen: Mapping[str, str] = MappingProxyType({}),
) -> GradeFile:
    """Fill an export of an LMS's gradebook. Raises UsageError if it is none, or nothing can be written.

    ``grades``: what is graded, manual marks and late penalty in it. ``titles``: lesson -> title. ``lesson``: which one a table
    of one assignment is about. ``chosen``: lesson -> the column that a person has named for it.
    """
    sheet = read_sheet(export, "the grades", f"--{system.option}")
    table = system.grade_table(sheet)
    if table is None:
        raise UsageError(
            f"this is no table that {system.name} takes grades in: it has no column that says who somebody is",
            f"{export}, with the first line {', '.join(sheet.head)[:120]!r}",
            f"{system.export}; then --{system.option} FILE",
        )
    graded = {key[0] for key, grade in grades.items() if grade.cells}
    learners, lessons = sorted({learner for learner, _ in grades}), sorted({name for _, name in grades})
    places, left_out = _columns(sheet, table, system, lessons, titles, lesson, chosen)
    left_out += _without_maximum(sheet, table, places)
    if not places:
        raise left_out[0]
    asked = {**{learner: Person(learner) for learner in learners}, **{person.id: person for person in people}}
    owners = row_owners(sheet, table, asked)
    clear = {row: learner for learner, row in _sole(owners.rows).items()}
    there = {learner for learner, rows in owners.rows.items() if rows}.union(*owners.mixed.values())
    filled, notes = _fill(sheet, table, clear, grades, places)
    keep = range(len(sheet.head)) if table.keep is None else (*table.keep, *sorted(places.values()))
    return GradeFile(
        sheet.text([[row[column] for column in keep] for row in sheet.rows]),
        filled,
        {name: sheet.head[column] for name, column in sorted(places.items())},
        frozenset(clear.values()) & set(learners),
        tuple(sorted(graded - there)),
        tuple(sorted(there.intersection(learners).difference(clear.values()))),
        (
            *sheet.doubts,
            *table.notes,
            *notes,
            *_unwritten(sheet, table, owners, asked, graded),
        ),
        tuple(left_out),
    )


def _columns(
    sheet: Sheet,
    table: GradeTable,
    system: System,
    lessons: Sequence[str],
    titles: Mapping[str, str],
    lesson: str,
    chosen: Mapping[str, str],
) -> tuple[dict[str, int], list[CourseError]]:
    """Where each lesson's grades go, and why another lesson's go nowhere: into a column that is called as it is, or that a person
    has said; letter case and signs aside. Raises UsageError if a table about one assignment may be any lesson's.
    """
    asked = (f"--{system.option}", str(sheet.path))
    if table.only is not None:
        if not lesson and len(lessons) > 1:
            raise UsageError(
                "a grading worksheet is for one assignment, and does not say for which lesson",
                str(sheet.path),
                f"{course_command(shlex.join(['report', 'LESSON', *asked]))}, where LESSON is {' or '.join(lessons)}",
            )
        return {lesson or lessons[0]: table.only}, []
    means = {name: _columns_called(name, table, titles, chosen) for name in lessons}
    places = _sole(means)

    left_out: list[CourseError] = []
    for columns, names in grouped((frozenset(means[name]), name) for name in lessons if name not in places).items():
        which = ", ".join(f"#{at + 1} {sheet.head[at]!r}" for at in sorted(columns or table.lessons))
        says = {**chosen, names[0]: f"#{min(columns) + 1}" if len(columns) > 1 else "COLUMN"}
        told = (word for name, column in says.items() for word in ("--column", f"{name}={column}"))
        left_out.append(
            UsageError(
                f"each lesson with grades needs a column of its own, and the export has {len(columns) or 'none'} with the name "
                f"of {', '.join(names)}",
                f"{sheet.path}, which has {which[:300] or 'no column for grades'}",
                f"say which it is, such as: {course_command(shlex.join(['report', *lesson.split(), *asked, *told]))}; "
                "or, if the LMS has none for it, name the other lessons",
            )
        )
    return places, left_out


def _columns_called(lesson: str, table: GradeTable, titles: Mapping[str, str], chosen: Mapping[str, str]) -> set[int]:
    """The columns with the lesson's name or title; or with the name, or the number from 1 on (``#5``), that a person has said."""
    said = (chosen[lesson],) if lesson in chosen else (lesson, titles.get(lesson, lesson))
    forms = {*map(bare, said), *said[:1]}
    return {at for at, head in table.lessons.items() if {bare(head), bare(item_of(head)), f"#{at + 1}"} & forms}


def _without_maximum(sheet: Sheet, table: GradeTable, places: dict[str, int]) -> list[CourseError]:
    """Take out the lessons whose maximum in the LMS stands there and cannot be read: nobody knows how to scale those."""
    unread = {
        lesson: told for lesson, at in places.items() for told in table.maxima.get(at, ()) if number_in(told) is None
    }
    return [
        UsageError(
            f"the LMS's maximum for {lesson} cannot be read, so its grades are not written: {told[:60]!r}",
            f"{sheet.path}, column {sheet.head[places.pop(lesson)]!r}",
            "write it there as digits and one sign, such as 1000.00, wherever it stands; then run the same report again",
        )
        for lesson, told in unread.items()
    ]


def _sole(means: Mapping[str, Collection[int]]) -> dict[str, int]:
    """Name -> the one number that it means; without names that mean several, and without names that mean the same one."""
    ones = {name: min(found) for name, found in means.items() if len(found) == 1}
    times = Counter(ones.values())
    return {name: one for name, one in ones.items() if times[one] == 1}


def _unwritten(
    sheet: Sheet, table: GradeTable, found: RowOwners, asked: Mapping[str, Person], graded: Collection[str]
) -> Iterator[str]:
    """A line for each row that gets nothing because of what else stands in it: the row, and the people."""

    def ids(at: int) -> dict[str, str]:
        cells = {column: sheet.rows[at][column].strip().removeprefix("#") for column in table.ids}
        return {
            cell: f"id {cell}" if cell.isdecimal() and column not in table.numbers else cell
            for column, cell in cells.items()
            if cell
        }

    then = "Correct the ids there, or in roster.csv, then run the same report again"
    known = {*found.mixed}.union(*found.rows.values(), *found.doubted.values())
    others = (_called(sheet.rows[at], table) for at in range(table.first_row, len(sheet.rows)) if at not in known)
    if named := [*filter(None, others)]:
        yield f"rows of nobody in the class are left as they are: {some_of(named, 8)}"
    for at, several in found.mixed.items():
        told = " and of ".join(asked[one].called for one in sorted(several))
        yield f"the row with {', '.join(ids(at))} has ids or names of {told}: nothing is written there. {then}"
    lost = [learner for learner in found.doubted if learner in graded and not found.rows[learner]]
    for learner in lost:
        for at, kinds in found.doubted[learner].items():
            also = (part for one in ids(at).values() for part in ("--also", one))
            then = course_command(shlex.join(["roster", "add", learner, *also]))
            told = f"the row with {', '.join(ids(at))} may belong to {asked[learner].called}"
            yield f"{told}, but has another {' and '.join(kinds)}: nothing is written there. If it does: {then}"


def _called(row: Sequence[str], table: GradeTable) -> str:
    """Who stands in a row, as it says it; empty if nobody does."""
    name, ids = (" ".join(filter(None, (row[at] for at in columns))) for columns in (table.names, table.ids))
    if not (name or ids) or bare_words(name) == ("student", "test"):
        return ""
    return repr((name or ids).replace("#", ""))


def _fill(
    sheet: Sheet, table: GradeTable, learners: Mapping[int, str], grades: Mapping[Key, Mark], places: Mapping[str, int]
) -> tuple[int, list[str]]:
    """Write the grades in, scaled if the LMS has another maximum; how many, and what was scaled."""
    count, notes = 0, []
    cells = ((*table.maxima.get(at, ()), *(row[at] for row in sheet.rows[1:])) for at in places.values())
    comma = {decimal_sign(cell) for several in cells for cell in several} - {""} == {","}
    for lesson, column in places.items():
        own = max((grade.max_score for (_, name), grade in grades.items() if name == lesson), default=0.0)
        scale, told = _scale(sheet.head[column], table.maxima.get(column, ()), own)
        notes += [f"{lesson}: {what}" for what in told]
        if not scale:
            continue
        kept = defaultdict[str, list[str]](list)
        for number, learner in learners.items():
            grade, cell = grades.get(Key(learner, lesson)), sheet.rows[number][column].strip()
            if why := _why_it_stays(table, number, cell, grade):
                kept[why].append(learner if grade else f"{learner} ({cell})")
            elif grade:
                text = f"{round(grade.score * scale, 2):.2f}".rstrip("0").rstrip(".")
                sheet.rows[number][column] = text.replace(".", ",") if comma else text
                count += 1
                if grade.score > own > 0:
                    kept[f"more than its {own * scale:g} points in the LMS"].append(f"{learner} ({text})")
                if cell.strip("-–") and number_in(cell) != float(text):
                    kept["replaces another grade, of the export"].append(f"{learner} ({cell})")
        notes += [f"{lesson}: {what}: {some_of(who, 8)}" for what, who in kept.items()]
    return count, notes


def _scale(head: str, maxima: Collection[str], own: float) -> tuple[float, list[str]]:
    """By how much a lesson's points are scaled, 0 if none are written; and what to say of it. ``own``: its points here."""
    most = max((number_in(told) or 0.0 for told in maxima), default=None)
    if most and not own:
        return 0.0, [f"it gives no points here, and {most:g} in the LMS: nothing is written"]
    notes = ["0 points in the LMS, so the points are written as they are"] if most == 0 else []
    if most is None:
        notes.append(f"the file does not say how many points the LMS gives, so it is taken to be {own:g}, as here")
    if shows(head, LETTERS):
        notes.append("points are written into a column of letters: better export it with grade type Real")
    scale = most / own if most else 1.0
    if most and abs(scale - 1) > 1e-9:
        notes.append(f"scaled from {own:g} points to the {most:g} of the LMS")
    return scale, notes


def _why_it_stays(table: GradeTable, row: int, cell: str, grade: Mark | None) -> str:
    """Why the LMS's grade is left; empty if it is not, or there is none."""
    is_there = cell.strip("-–") != ""
    if row in table.locked and (grade or is_there):
        return "the LMS says that the grade cannot be changed, so it is left"
    if table.excused and cell.upper() == table.excused:
        return "excused in the LMS, and left so"
    if not is_there or (grade and (grade.cells or number_in(cell) == 0)):
        return ""
    return "no grade from here, and one in the LMS, which stays (if it holds no longer, clear it in the LMS)"


def exports_of(request: Namespace) -> dict[str, Path]:
    """The exports that a call of the command has named, by what it calls their LMS."""
    return {option: path for option in options_of_exports() if (path := getattr(request, option)) is not None}


def options_of_exports() -> list[str]:
    """What the command calls each LMS that has an export to fill."""
    return [system.option for system in systems().values() if system.export]


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


_GETS = ("nothing written in grade files (--zero {kind}: 0)", "0 in grade files, where the LMS has no grade")


def zeros(
    results: ClassResults, zero: Collection[str], seen: Mapping[Key, bool], came: Collection[Key] = ()
) -> tuple[dict[Key, Mark], list[str]]:
    """Who has no grade, and gets a 0 in grade files; and of each lesson who gets one, and who none.

    ``zero``: of :data:`NO_GRADE`, who gets one. ``seen``: what a person has settled, and whether it was left open. ``came``:
    files that nothing can be graded of; the lesson is empty if nobody knows it. Nothing is missing while an extension runs.
    """
    marks = by_assignment(results.marks)
    later = {Key(key.learner, key.assignment) for key in results.more_time}
    settled = {Key(key.learner, key.assignment) for key, is_open in seen.items() if not is_open}
    early = {assignment_of(one.slug): one.due for one in results.lessons if one.is_open}
    most = {key.lesson: mark.max_score for key, mark in marks.items() if not mark.unmarked}
    useless = {Key(key.learner, assignment_of(key.lesson)) for key in came}
    given: dict[Key, Mark] = {}
    told = defaultdict[str, list[str]](list)
    for lesson, person in product(most, results.people):
        keys = {Key(name, lesson) for name in person.ids}
        kinds = {_why_none(marks.get(key), not useless.isdisjoint((key, Key(key.learner, "")))) for key in keys}
        kind = next(one for one in ("", "ungraded", "missing") if one in kinds)
        if kind == "missing" and lesson in early and settled.isdisjoint(keys):
            told[f"{lesson}: {NO_GRADE[kind]} yet, due {early[lesson]}: nothing written in grade files"].append(
                person.id
            )
        elif kind and later.isdisjoint(keys):
            is_zero = kind in zero or not settled.isdisjoint(keys)
            if is_zero:
                given[Key(person.id, lesson)] = Mark(Verdict(person.id, lesson), most[lesson])
            told[f"{lesson}: {NO_GRADE[kind]}: {_GETS[is_zero].format(kind=kind)}"].append(person.id)
    return given, [f"{what}: {some_of(who, 8)}" for what, who in told.items()]


def _why_none(mark: Mark | None, came: bool) -> str:
    """Why there is no grade; empty if there is one. ``came``: something that cannot be graded was handed in."""
    if mark is None:
        return "ungraded" if came else "missing"
    # What nobody has graded yet may be good work.
    return "ungraded" if mark.unmarked and not mark.behind else ""


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
    grades = {key: mark for key, mark in by_assignment(results.marks).items() if not (mark.unmarked or mark.behind)}
    if exports and not grades:
        return made, [CourseError("nobody has a grade yet", str(root.resolve()), course_command("grade"))]
    if exports and results.without_gradebook:
        return made, [*results.without_gradebook]
    grades |= given
    grades, people, twice = _by_person(root, grades, results.people)
    refused += twice * bool(exports)
    titles = {assignment_of(one.slug): assignment_of(one.slug).replace("_", " ") for one in results.lessons}
    titles |= {lesson.slug: lesson.title for lesson in results.lessons}
    if unknown := sorted(chosen.keys() - titles.keys()):
        known = f"choose from: {', '.join(titles)}"
        return made, [CourseError(f"no lesson is called {unknown[0]!r}", "--column", known)]
    lesson = assignment_of(names[0]) if len(names) == 1 else ""
    for option, export in exports.items():
        try:
            made[option] = grade_file(find_system(option), export, grades, people, titles, lesson, chosen)
            refused += made[option].left_out
        except CourseError as error:
            refused.append(error)
    return made, refused


def _by_person(
    root: Path, grades: Mapping[Key, Mark], people: Sequence[Person]
) -> tuple[dict[Key, Mark], list[Person], list[CourseError]]:
    """Grades and people, each person once: who has work under two ids is there under one. No grade where both have one."""
    known = {one.id for one in people}
    first = {one.id: min(one.ids & known) for one in people}
    found = grouped((Key(first[learner], lesson), mark) for (learner, lesson), mark in grades.items())
    # Somebody's 0 for nothing stands beside no grade.
    marks = {key: [one for one in several if one.cells] or several[:1] for key, several in found.items()}
    ones = {key: several[0] for key, several in marks.items() if len(several) == 1}
    twice = [_two_grades(root, marks[key]) for key in sorted(marks.keys() - ones.keys())]
    return ones, [one for one in people if first[one.id] == one.id], twice


def _two_grades(root: Path, several: Sequence[Mark]) -> CourseError:
    # As `grade` names it: what both lines say takes nothing else away.
    without_work = (one for one in several if not places(root).folder("submitted", *one.key).exists())
    one = next(without_work, several[-1])
    told = " and ".join(one.learner for one in several)
    then = course_command(shlex.join(["roster", "remove", one.learner, "--lesson", one.lesson]))
    return CourseError(
        f"{told} are one person, and each has a grade for {one.lesson}",
        "submitted/",
        f"give what people gave for it to the other id, and take away the one that does not count: {then}",
    )


def known_elsewhere(option: str, made: Mapping[str, GradeFile]) -> frozenset[str]:
    """Learners that this export does not know, but another export in the same call does."""
    others = frozenset().union(*(file.found for other, file in made.items() if other != option))
    return frozenset(made[option].unmatched) & others
