"""Grade files that an LMS imports, made from the instructor's own export of its gradebook.

Which column is what the system itself tells (``System.grade_table``); which row is which learner's is read from the table; which
column is which lesson's says the instructor, or its name. Grades in another place than theirs are worse than none: where two may
be meant, a person says which. Whoever has no grade here keeps what the LMS has.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from nbproof.command import course_command
from nbproof.errors import UsageError
from nbproof.gradebook.marks import Person
from nbproof.key import Key
from nbproof.text import some_of
from nbproof_lms.csv_table import Sheet, item_of, read_sheet
from nbproof_lms.names import TASK, bare, plain
from nbproof_lms.system import GradeTable, System

__all__ = ["Columns", "Grade", "GradeFile", "Grades", "columns_of", "grade_file"]


@dataclass(frozen=True)
class Grade:
    """One learner's score of one lesson, manual marks and late penalty in it."""

    score: float
    max_score: float


Grades = Mapping[Key, Grade]
"""(learner, lesson) -> grade."""


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
    """Learners with a grade for whom several rows are meant, or whose row several learners mean."""
    notes: tuple[str, ...]


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
    person has named for it. ``elsewhere``: learners of another LMS, whose name alone says nothing here.
    """
    sheet = read_sheet(export, "the grades", f"--{system.option}")
    table = system.grade_table(sheet)
    if table is None:
        raise UsageError(
            f"this is no table that {system.name} takes grades in: it has no column that says who somebody is",
            f"{export}, whose first line is {', '.join(sheet.head)[:120]!r}",
            f"{system.export}; then --{system.option} FILE",
        )
    learners = sorted({learner for learner, _ in grades})
    means = _rows_meant(_rows_in(sheet, table), people, learners, elsewhere)
    clear = {row: learner for learner, row in _sole(means).items()}
    columns = _columns(sheet, table, system, sorted({name for _, name in grades}), titles, lesson, chosen)
    filled, notes = _fill(sheet, table, clear, grades, columns.places)
    missing = "no column of the export has its name; its grades are not in the file"
    keep = range(len(sheet.head)) if table.keep is None else (*table.keep, *sorted(columns.places.values()))
    return GradeFile(
        sheet.text([[row[column] for column in keep] for row in sheet.rows]),
        filled,
        {name: sheet.head[column] for name, column in sorted(columns.places.items())},
        columns.unclear,
        frozenset(clear.values()) & set(learners),
        tuple(learner for learner in learners if not means[learner]),
        tuple(learner for learner in learners if means[learner] and learner not in clear.values()),
        (*table.notes, *(f"{name}: {missing}" for name in columns.without), *notes),
    )


Rows = Mapping[int, tuple[Sequence[str], str]]
"""Row number, from 0, the head among them -> (identifiers, the surest first; the full name)."""


def _rows_in(sheet: Sheet, table: GradeTable) -> Rows:
    """The rows that are a learner's."""
    rows = list(enumerate(sheet.rows))[table.first_row :]
    return {
        number: ([row[column] for column in table.ids], " ".join(row[column] for column in table.names))
        for number, row in rows
        if any(row) and "Student, Test" not in row
    }


def _rows_meant(
    rows: Rows, people: Iterable[Person], learners: Iterable[str], elsewhere: Collection[str]
) -> dict[str, set[int]]:
    """The rows that may be each learner's: by identifiers, the surest first; what is left then, by name. Nobody is guessed."""
    asked = {**{learner: Person(learner) for learner in learners}, **{person.id: person for person in people}}
    ids = _whose(asked, _ids_of)
    names = _whose(asked, _names_of)
    means: dict[str, set[int]] = {learner: set() for learner in asked}
    # Where most have the school's, bob@gmail.com may be anybody's.
    domains = Counter(found for cells, _ in rows.values() for found in re.findall(r"@\S+", " ".join(map(plain, cells))))
    domain = max(domains, key=lambda one: domains[one], default="")
    for number, (cells, _) in rows.items():
        for learner in _first(ids, (form for cell in cells for form in _forms(cell, domain))):
            means[learner].add(number)
    by_id = {learner for learner, found in means.items() if found}
    settled = set().union(*means.values())
    for number in rows.keys() - settled:
        for learner in _first(names, _name_forms(rows[number][1])) - by_id - set(elsewhere):
            means[learner].add(number)
    return means


def _whose(people: Mapping[str, Person], forms_of: Callable[[Person], Iterable[str]]) -> dict[str, set[str]]:
    """What these people are called, and who is called so."""
    found: dict[str, set[str]] = defaultdict(set)
    for learner, person in people.items():
        for form in forms_of(person):
            found[form].add(learner)
    return found


def _ids_of(person: Person) -> Iterable[str]:
    return (form for text in (person.id, person.lms_id, person.email) for form in _forms(text))


def _names_of(person: Person) -> Iterable[str]:
    texts = (f"{person.first_name} {person.last_name}", person.id.replace("_", " ").replace(".", " "))
    return (form for text in texts for form in _name_forms(text))


def _first(known: Mapping[str, set[str]], forms: Iterable[str]) -> set[str]:
    """Whose the first of these forms is that is anybody's."""
    return next((known[form] for form in forms if form in known), set())


def _forms(text: str, domain: str = "") -> list[str]:
    """An identifier as it is; of an address there the part before the @ as well. Letter case and Brightspace's ``#`` aside."""
    text = plain(text).removeprefix("#")
    return [form for form in (text, text.partition("@")[0] if text.endswith(domain) else "") if form]


def _name_forms(name: str) -> list[str]:
    """A full name in any order of its parts."""
    parts = sorted(part for part in (bare(part) for part in re.split(r"[\s,]+", name)) if part)
    return [" ".join(parts), "".join(parts)] if len(parts) > 1 else []


@dataclass(frozen=True)
class Columns:
    """What was found of the lessons that have grades."""

    places: Mapping[str, int]
    """Lesson -> column."""
    unclear: Mapping[str, tuple[str, ...]]
    """Lesson -> the names of the columns that may be meant."""
    without: tuple[str, ...]
    """Lessons of which no column is."""


def _columns(
    sheet: Sheet,
    table: GradeTable,
    system: System,
    lessons: list[str],
    titles: Mapping[str, str],
    lesson: str,
    chosen: Mapping[str, str],
) -> Columns:
    """Where each lesson's grades go. Raises UsageError if no lesson has a column."""
    if table.only is not None:
        columns = Columns(
            {lesson or _lesson_of(sheet, table.only, lessons, titles, chosen, system): table.only}, {}, ()
        )
    else:
        columns = columns_of(table.lessons, lessons, titles, chosen)
        if not columns.places and not columns.unclear:
            raise _no_column(sheet, table, system, lessons)
    if lesson and not set(lessons) & {lesson, *columns.places}:
        raise UsageError(f"nobody has a grade for {lesson}", str(sheet.path), course_command(f"grade {lesson}"))
    return columns


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
    title_in_name = {name for name in lessons if len(bare(titles[name])) > 5 and bare(titles[name]) in stem}
    named = [name for name in lessons if bare(name) in stem or name in title_in_name]
    for found in (said, lessons, named):
        if len(found) == 1:
            return found[0]
    again = course_command(f"report LESSON --{system.option} {shlex.quote(str(sheet.path))}")
    raise UsageError(
        "a grading worksheet is for one assignment, and its name does not say for which lesson",
        str(sheet.path),
        f"{again}, where LESSON is {' or '.join(lessons)}",
    )


def _no_column(sheet: Sheet, table: GradeTable, system: System, lessons: Sequence[str]) -> UsageError:
    others = [name for name in table.lessons.values() if name.strip()]
    near = difflib.get_close_matches(lessons[0], others, 1, 0.0) or ["COLUMN"]
    words = ("report", f"--{system.option}", str(sheet.path), "--column", f"{lessons[0]}={near[0]}")
    return UsageError(
        f"no column of the export has the name of a lesson that has grades: {', '.join(lessons)}",
        f"{sheet.path}, which has {', '.join(map(repr, others))[:300] or 'none'}",
        f"say which it is, such as: {course_command(shlex.join(words))}",
    )


def columns_of(
    names: Mapping[int, str], lessons: Sequence[str], titles: Mapping[str, str], chosen: Mapping[str, str]
) -> Columns:
    """``names``: column -> what it is called. ``chosen``: lesson -> the column's name, as a person has said."""
    said = {lesson: own for lesson, column in chosen.items() if (own := _called(names, column)) is not None}
    free = {column: name for column, name in names.items() if column not in said.values()}
    found = {lesson: _found(free, lesson, titles.get(lesson, "")) for lesson in lessons}
    found |= {lesson: [said[lesson]] for lesson in lessons if lesson in said}
    places = _sole(found)
    unclear = {name: found[name] for name in found if found[name] and name not in places}
    called = {name: tuple(names[column] for column in columns) for name, columns in unclear.items()}
    return Columns(places, called, tuple(name for name in lessons if not found[name]))


def _sole(means: Mapping[str, Collection[int]]) -> dict[str, int]:
    """Of whatever means one only, which nothing else means: that one."""
    ones = {name: min(found) for name, found in means.items() if len(found) == 1}
    times = Counter(ones.values())
    return {name: one for name, one in ones.items() if times[one] == 1}


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


def _fill(
    sheet: Sheet, table: GradeTable, learners: Mapping[int, str], grades: Grades, places: Mapping[str, int]
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
        excused = []
        for number, learner in learners.items():
            grade, cell = grades.get(Key(learner, lesson)), sheet.rows[number][column].strip()
            if grade and table.excused and cell.upper() == table.excused:
                excused.append(learner)
            elif grade:
                text = f"{round(grade.score * scale, 2):.2f}".rstrip("0").rstrip(".")
                sheet.rows[number][column] = text.replace(".", ",") if comma else text
                count += 1
        if excused:
            notes.append(f"{lesson}: excused in the LMS, and left so: {some_of(excused, 8)}")
    return count, notes
