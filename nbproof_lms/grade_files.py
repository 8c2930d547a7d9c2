"""Grade files that an LMS imports, made from the instructor's own export of its gradebook.

Which column is what the system itself tells (``System.grade_table``); which row is which learner's is read from the table; which
column is which lesson's says the instructor, or its name. Grades in another column than theirs are worse than none: where two may
be meant, a person says which. Whoever has no grade here keeps what the LMS has.
"""

from __future__ import annotations

import difflib
import html
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from nbproof.command import course_command
from nbproof.errors import UsageError
from nbproof.report.findings import safe_cell
from nbproof.report.records import Person
from nbproof_lms.csv_table import Sheet, item_of, read_sheet
from nbproof_lms.names import TASK, bare, plain
from nbproof_lms.system import GradeTable, System

__all__ = ["Columns", "Grade", "GradeFile", "Grades", "Matching", "columns_of", "grade_file", "match"]


@dataclass(frozen=True)
class Matching:
    """Rows of a sheet (numbers from 0, the head among them) and the learners that they are."""

    rows: dict[int, str]
    unmatched_learners: tuple[str, ...]
    unclear: tuple[str, ...]
    """Learners for whom several rows are meant, or whose row several learners mean."""
    by_id: frozenset[str] = frozenset()
    """Learners whom an identifier names, and no name."""


Rows = Mapping[int, tuple[Sequence[str], str]]
"""Row number -> (identifiers, the surest first; the full name)."""


def match(rows: Rows, people: Iterable[Person], learners: Iterable[str], elsewhere: Collection[str] = ()) -> Matching:
    """Match by identifiers, the surest first; rows and learners that are left, by name. Nobody is guessed.

    ``elsewhere``: learners of another LMS, whose name alone says nothing here.
    """
    known = {person.id: person for person in people}
    asked = [known.get(learner, Person(learner)) for learner in learners]
    means = {person.id: _rows_by_id(rows, person) for person in asked}
    by_id = frozenset(learner for learner, found in means.items() if found)
    settled = {row for found in means.values() for row in found}
    left = {number: row for number, row in rows.items() if number not in settled}
    for person in asked:
        if person.id not in by_id and person.id not in elsewhere:
            means[person.id] = _rows_by_name(left, person)
    return _matching(means, by_id)


def _matching(means: Mapping[str, set[int]], by_id: frozenset[str]) -> Matching:
    """Rows that one learner means, who means no other."""
    whose = [min(found) for found in means.values() if len(found) == 1]
    clear = {
        min(found): learner for learner, found in means.items() if len(found) == 1 and whose.count(min(found)) == 1
    }
    return Matching(
        dict(sorted(clear.items())),
        tuple(sorted(learner for learner, found in means.items() if not found)),
        tuple(sorted(learner for learner, found in means.items() if found and learner not in clear.values())),
        by_id,
    )


def _rows_by_id(rows: Rows, person: Person) -> set[int]:
    """The rows that hold an identifier of a person's, by the surest column that has one."""
    widest = max((len(ids) for ids, _ in rows.values()), default=0)
    forms = [form for text in (person.id, person.lms_id, person.email) for form in _forms(text)]
    for column in range(widest):
        for form in forms:
            found = {number for number, (ids, _) in rows.items() if form in _forms(ids[column])}
            if found:
                return found
    return set()


def _rows_by_name(rows: Rows, person: Person) -> set[int]:
    names = (f"{person.first_name} {person.last_name}", person.id.replace("_", " ").replace(".", " "))
    for form in (form for text in names for form in _name_forms(text)):
        found = {number for number, (_, name) in rows.items() if form in _name_forms(name)}
        if found:
            return found
    return set()


def _forms(text: str) -> list[str]:
    """An identifier as it is; of an address the part before the @ as well. Letter case and Brightspace's ``#`` aside."""
    text = plain(text).removeprefix("#")
    return [form for form in (text, text.partition("@")[0]) if form]


def _name_forms(name: str) -> list[str]:
    """A full name in any order of its parts."""
    parts = sorted(part for part in (bare(part) for part in re.split(r"[\s,]+", name)) if part)
    return [" ".join(parts), "".join(parts)] if len(parts) > 1 else []


@dataclass(frozen=True)
class Grade:
    """One learner's score of one lesson, manual marks and late penalty in it."""

    score: float
    max_score: float
    comment: str = ""


@dataclass(frozen=True)
class GradeFile:
    """A file to import, and what a person should know before doing so."""

    data: bytes
    filled: int
    """Grades that stand in it."""
    columns: Mapping[str, str]
    """Lesson -> the column that its grades stand in."""
    unclear_columns: Mapping[str, tuple[str, ...]]
    """Lessons whose grades are not in it -> the columns that may be meant."""
    found: frozenset[str]
    """Learners with a grade whom the export knows."""
    unmatched: tuple[str, ...]
    """Learners with a grade whom the export does not know."""
    unclear: tuple[str, ...]
    notes: tuple[str, ...]
    by_id: frozenset[str] = frozenset()
    """Those of the found whom an identifier names, and no name."""


Grades = Mapping[tuple[str, str], Grade]
"""(learner, lesson) -> grade."""


def grade_file(
    system: System,
    export: Path,
    grades: Grades,
    people: Sequence[Person],
    titles: Mapping[str, str],
    lesson: str = "",
    chosen: Mapping[str, str] = MappingProxyType({}),
    elsewhere: Collection[str] = (),
) -> GradeFile:
    """Fill an export of an LMS's gradebook. Raises UsageError if it is none.

    ``titles``: lesson -> title. ``lesson``: which one a table of one assignment is about. ``chosen``: lesson -> the column that a
    person has named for it. ``elsewhere``: as for ``match``.
    """
    sheet = read_sheet(export, "the grades", f"--{system.option}")
    table = system.grade_table(sheet)
    if table is None:
        raise UsageError(
            f"this is no table that {system.name} takes grades in: it has no column that says who somebody is",
            f"{export}, whose first line is {', '.join(sheet.head)[:120]!r}",
            f"{system.export}; then --{system.option} FILE",
        )
    matching = match(_learners_in(sheet, table), people, sorted({learner for learner, _ in grades}), elsewhere)
    lessons = sorted({name for _, name in grades})
    if table.only is None:
        columns = _places(sheet, system, table.lessons, lessons, titles, chosen)
    else:
        lesson = lesson or _lesson_of(sheet, table.only, lessons, titles, chosen, system)
        columns = Columns({lesson: table.only}, {}, ())
    if lesson not in (*lessons, "") and not set(lessons) & set(columns.places):
        raise UsageError(f"nobody has a grade for {lesson}", str(export), course_command(f"grade {lesson}"))
    missing = "no column of the export has its name; its grades are not in the file"
    notes = [*table.notes, *(f"{name}: {missing}" for name in columns.without)]
    filled = _fill(sheet, table, matching, grades, columns.places, notes)
    keep = range(len(sheet.head)) if table.keep is None else (*table.keep, *sorted(columns.places.values()))
    return GradeFile(
        sheet.text([[row[column] for column in keep] for row in sheet.rows]),
        filled,
        {name: sheet.head[column] for name, column in sorted(columns.places.items())},
        columns.unclear,
        frozenset(matching.rows.values()),
        matching.unmatched_learners,
        matching.unclear,
        tuple(dict.fromkeys(notes)),
        matching.by_id,
    )


def _learners_in(sheet: Sheet, table: GradeTable) -> Rows:
    """The rows that are a learner's."""
    rows = list(enumerate(sheet.rows))[table.first_row :]
    return {
        number: ([row[column] for column in table.ids], " ".join(row[column] for column in table.names))
        for number, row in rows
        if any(row) and "Student, Test" not in row
    }


def _lesson_of(
    sheet: Sheet,
    column: int,
    lessons: Sequence[str],
    titles: Mapping[str, str],
    chosen: Mapping[str, str],
    system: System,
) -> str:
    """The lesson of a table about one assignment: Moodle calls its file ``Grades-COURSE-ASSIGNMENT-123.csv``."""
    said = [name for name, called in chosen.items() if bare(called) == bare(sheet.head[column])]
    stem = bare(sheet.path.stem)
    named = [
        name for name in lessons if bare(name) in stem or (len(bare(titles[name])) > 5 and bare(titles[name]) in stem)
    ]
    for found in (said, lessons, named):
        if len(found) == 1:
            return found[0]
    again = course_command(f"report LESSON --{system.option} {shlex.quote(str(sheet.path))}")
    raise UsageError(
        "a grading worksheet is for one assignment, and its name does not say for which lesson",
        str(sheet.path),
        f"{again}, where LESSON is {' or '.join(lessons)}",
    )


def _places(
    sheet: Sheet,
    system: System,
    names: Mapping[int, str],
    lessons: list[str],
    titles: Mapping[str, str],
    chosen: Mapping[str, str],
) -> Columns:
    """Where each lesson's grades go. Raises UsageError if no lesson has a column."""
    columns = columns_of(names, lessons, titles, chosen)
    if columns.places or columns.unclear:
        return columns
    others = [name for name in names.values() if name.strip()]
    near = difflib.get_close_matches(lessons[0], others, 1, 0.0) or ["COLUMN"]
    words = ("report", f"--{system.option}", str(sheet.path), "--column", f"{lessons[0]}={near[0]}")
    raise UsageError(
        f"no column of the export has the name of a lesson that has grades: {', '.join(lessons)}",
        f"{sheet.path}, which has {', '.join(map(repr, others))[:300] or 'none'}",
        f"say which it is, such as: {course_command(shlex.join(words))}",
    )


def _fill(
    sheet: Sheet,
    table: GradeTable,
    matching: Matching,
    grades: Grades,
    places: Mapping[str, int],
    notes: list[str],
) -> int:
    """Write the grades in, scaled if the LMS has another maximum; how many."""
    count = 0
    cells = [cell.strip() for row in sheet.rows[1:] for cell in row]
    comma = any(re.fullmatch(r"\d+,\d+", cell) for cell in cells)
    for lesson, column in places.items():
        most = table.maxima.get(column)
        own = max((grade.max_score for (_, name), grade in grades.items() if name == lesson), default=0.0)
        scale = most / own if most and own else 1.0
        if abs(scale - 1) > 1e-9:
            notes.append(f"{lesson}: scaled from {own:g} points to the {most:g} of the LMS")
        for number, learner in matching.rows.items():
            grade = grades.get((learner, lesson))
            if grade is None:
                continue
            text = f"{round(grade.score * scale, 2):.2f}".rstrip("0").rstrip(".")
            sheet.rows[number][column] = text.replace(".", ",") if comma else text
            if table.comments is not None:
                sheet.rows[number][table.comments] = html.escape(str(safe_cell(grade.comment)), quote=False)
            count += 1
    return count


@dataclass(frozen=True)
class Columns:
    """What was found of the lessons that have grades."""

    places: Mapping[str, int]
    """Lesson -> column."""
    unclear: Mapping[str, tuple[str, ...]]
    """Lesson -> the names of the columns that may be meant."""
    without: tuple[str, ...]
    """Lessons of which no column is."""


def columns_of(
    names: Mapping[int, str], lessons: Sequence[str], titles: Mapping[str, str], chosen: Mapping[str, str]
) -> Columns:
    """``names``: column -> what it is called. ``chosen``: lesson -> the column's name, as a person has said."""
    places: dict[str, int] = {}
    unclear: dict[str, tuple[str, ...]] = {}
    without = []
    said = {lesson: _called(names, column) for lesson, column in chosen.items()}
    free = {column: name for column, name in names.items() if column not in said.values()}
    for lesson in lessons:
        own = said.get(lesson)
        found = _found(free, lesson, titles.get(lesson, "")) if own is None else [own]
        if len(found) == 1:
            places[lesson] = found[0]
        elif found:
            unclear[lesson] = tuple(names[column] for column in found)
        else:
            without.append(lesson)
    for column in set(places.values()):
        sharing = [lesson for lesson, place in places.items() if place == column]
        for lesson in sharing if len(sharing) > 1 else ():
            del places[lesson]
            unclear[lesson] = (names[column],)
    return Columns(places, unclear, tuple(without))


def _called(names: Mapping[int, str], name: str) -> int | None:
    """The column with this name, as a person writes it: with the LMS's id, or without."""
    for form in (str.strip, bare, lambda text: bare(item_of(text))):
        found = [column for column, one in names.items() if form(one) == form(name)]
        if len(found) == 1:
            return found[0]
    return None


_WORDS = TASK | {"hw", "lab", "week", "unit", "chapter", "module", "session", "ex", "part"}
_NUMBERED = re.compile(r"([^\W\d_]+)[\W_]*0*(\d{1,9})\b\W*(.*)")
"""``Lesson 1: Anatomy``, ``HW01``."""


def _found(names: Mapping[int, str], slug: str, title: str) -> list[int]:
    """The columns that may be a lesson's: those that bear its name, else those of its number."""
    number, _, topic = slug.partition("_")
    wanted = {bare(text) for text in (slug, title, title.partition(":")[0], number + title, topic)} - {""}
    found = [column for column, name in names.items() if bare(item_of(name)) in wanted]
    if found:
        return found
    parts = {column: _NUMBERED.fullmatch(item_of(name).strip()) for column, name in names.items()}
    return [column for column, part in parts.items() if part and _is_numbered(part, number, wanted | {""})]


def _is_numbered(part: re.Match[str], number: str, wanted: set[str]) -> bool:
    """Whether it is a task's word and this number, with nothing behind it but the lesson's name."""
    word, digits, rest = part.groups()
    return word.casefold() in _WORDS and digits == number.lstrip("0") and bare(rest) in wanted
