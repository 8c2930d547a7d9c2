"""Grade files that Canvas and Moodle import, made from the instructor's own export of their gradebook.

Canvas: *Grades, Export*. What comes back has the columns that name a student, and the columns of those lessons that have
grades; ``Points Possible`` and ids like ``Lesson 2 (12345)`` stay. Whoever has no grade here keeps what Canvas has.

Moodle: either a grading worksheet of one assignment (*View all submissions, Download grading worksheet*), whose
columns Grade and Feedback comments are filled, or an export of the gradebook (*Grades, Export, Plain text file*).

Which row of such a table is which learner's is read from the table itself; which column is which lesson's says :mod:`columns`.
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
from nbproof_lms.csv_table import Sheet, read_sheet
from nbproof_lms.lesson_columns import Columns, column_of, columns_of
from nbproof_lms.names import bare, plain
from nbproof_lms.sheet_columns import COMMENTS, FIRST, GRADE, IDENTIFIER, LAST, MAXIMUM, heads_of, is_percentage

__all__ = ["Grade", "GradeFile", "Matching", "canvas_file", "match", "moodle_file"]


@dataclass(frozen=True)
class Matching:
    """Rows of a sheet (numbers from 0, the head among them) and the learners that they are."""

    rows: dict[int, str]
    unmatched_learners: tuple[str, ...]
    unclear: tuple[str, ...]
    """Learners for whom several rows are meant, or whose row several learners mean."""
    by_id: frozenset[str] = frozenset()
    """Learners whom an identifier names, and no name."""


def match(
    rows: Mapping[int, tuple[Sequence[str], str]],
    people: Iterable[Person],
    learners: Iterable[str],
    elsewhere: Collection[str] = (),
) -> Matching:
    """Match by identifiers, the surest first; rows and learners that are left, by name. Nobody is guessed.

    ``rows``: row number -> (identifiers, the surest first; the full name). ``elsewhere``: learners of another LMS, whose
    name alone says nothing here.
    """
    known = {person.id: person for person in people}
    widths = max((len(ids) for ids, _ in rows.values()), default=0)
    tables: list[dict[str, set[int]]] = [{} for _ in range(widths + 1)]
    for number, (identifiers, name) in rows.items():
        for table, identifier in zip(tables, identifiers, strict=False):
            for form in _forms(identifier):
                table.setdefault(form, set()).add(number)
        for form in _name_forms(name):
            tables[-1].setdefault(form, set()).add(number)
    means: dict[str, set[int]] = {}
    for learner in learners:
        person = known.get(learner, Person(learner))
        own = [learner, person.lms_id, person.email]
        found: set[int] = set()
        for table in tables[:-1]:
            found = next((table[form] for text in own for form in _forms(text) if form in table), set())
            if found:
                break
        means[learner] = found
    by_id = frozenset(learner for learner, found in means.items() if found)
    settled = {row for found in means.values() for row in found}
    for learner in means.keys() - by_id - set(elsewhere):
        person = known.get(learner, Person(learner))
        names = [f"{person.first_name} {person.last_name}", learner.replace("_", " ").replace(".", " ")]
        forms = [form for text in names for form in _name_forms(text)]
        left = (tables[-1].get(form, set()) - settled for form in forms)
        means[learner] = next((found for found in left if found), set())
    taken: dict[int, list[str]] = {}
    for learner, found in means.items():
        if len(found) == 1:
            taken.setdefault(next(iter(found)), []).append(learner)
    clear = {row: whose[0] for row, whose in taken.items() if len(whose) == 1}
    return Matching(
        dict(sorted(clear.items())),
        tuple(sorted(learner for learner, found in means.items() if not found)),
        tuple(sorted(learner for learner, found in means.items() if found and learner not in clear.values())),
        by_id,
    )


def _forms(text: str) -> list[str]:
    """An identifier as it is; of an address the part before the @ as well. Letter case aside."""
    text = plain(text)
    return [form for form in (text, text.partition("@")[0] if "@" in text else "") if form]


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


def canvas_file(
    export: Path,
    grades: Grades,
    people: Sequence[Person],
    titles: Mapping[str, str],
    chosen: Mapping[str, str] = MappingProxyType({}),
    elsewhere: Collection[str] = (),
) -> GradeFile:
    """Fill the export of a Canvas gradebook. Raises UsageError if it is none.

    ``titles``: lesson -> title. ``chosen``: lesson -> the column that a person has named for it. ``elsewhere``: as for ``match``.
    """
    sheet = read_sheet(export, "the grades", "--canvas")
    student = sheet.column("Student")
    numbers = [sheet.column(name) for name in ("SIS Login ID", "SIS User ID", "ID")]
    if student is None or all(number is None for number in numbers):
        raise UsageError(
            "this is no export of a Canvas gradebook: it has no column 'Student' with 'ID' or 'SIS Login ID'",
            f"{export}, whose first line is {', '.join(sheet.head)[:120]!r}",
            "in Canvas: Grades, Export; then --canvas FILE",
        )
    possible = next((n for n, row in enumerate(sheet.rows) if row[student].strip() == "Points Possible"), None)
    rows = {
        number: ([row[column] for column in numbers if column is not None], row[student])
        for number, row in enumerate(sheet.rows)
        if number > (possible or 0) and row[student].strip() not in ("", "Points Possible", "Student, Test")
    }
    names = ["" if "(read only)" in cell.casefold() else cell for cell in sheet.head]
    own = [sheet.column(name) for name in ("Student", "ID", "SIS User ID", "SIS Login ID", "Root Account", "Section")]
    identity = [column for column in own if column is not None]
    others = {column: name for column, name in enumerate(names) if column not in identity}
    columns, notes = _places(sheet, "--canvas", others, sorted({lesson for _, lesson in grades}), titles, chosen)
    places = columns.places
    matching = match(rows, people, sorted({learner for learner, _ in grades}), elsewhere)
    maxima = {
        lesson: None if possible is None else _number(sheet.rows[possible][column]) for lesson, column in places.items()
    }
    filled = _fill(sheet, matching, grades, places, maxima, notes)
    keep = [*identity, *(column for column in sorted(places.values()))]
    data = sheet.text([[row[column] for column in keep] for row in sheet.rows])
    return _done(sheet, data, filled, columns, matching, notes)


def moodle_file(
    export: Path,
    grades: Grades,
    people: Sequence[Person],
    titles: Mapping[str, str],
    lesson: str = "",
    chosen: Mapping[str, str] = MappingProxyType({}),
    elsewhere: Collection[str] = (),
) -> GradeFile:
    """Fill a grading worksheet (of ``lesson``) or an export of the gradebook. Raises UsageError if it is neither.

    ``chosen``: lesson -> the export's column that a person has named for it. ``elsewhere``: as for ``match``.
    """
    sheet = read_sheet(export, "the grades", "--moodle")
    heads = heads_of(sheet.rows)

    def at(head: str) -> int | None:
        return heads.index(head) if head in heads else None

    own = [at("username"), at("id number"), at("email address")]
    full, first, last, identifier, grade = (at(head) for head in ("full name", FIRST, LAST, IDENTIFIER, GRADE))
    if all(column is None for column in (*own, full, first)):
        raise UsageError(
            "this is neither a Moodle grading worksheet nor an export of its gradebook",
            f"{export}, whose first line is {', '.join(sheet.head)[:120]!r}",
            "in Moodle: the assignment, Download grading worksheet; then --moodle FILE",
        )
    rows = {}
    for number, row in enumerate(sheet.rows[1:], 1):
        name = row[full] if full is not None else " ".join(row[part] for part in (first, last) if part is not None)
        rows[number] = ([row[column] for column in own if column is not None], name)
    matching = match(rows, people, sorted({learner for learner, _ in grades}), elsewhere)
    notes: list[str] = []
    lessons = sorted({name for _, name in grades})
    maxima: dict[str, float | None] = {}
    if grade is not None:
        said = [name for name, column in chosen.items() if bare(column) == bare(sheet.head[grade])]
        if not lesson and len(said) == 1:
            lesson = said[0]
        if not lesson:
            lesson = lessons[0] if len(lessons) == 1 else _lesson_of(export, lessons, titles)
        if all(name != lesson for _, name in grades):
            raise UsageError(f"nobody has a grade for {lesson}", str(export), course_command(f"grade {lesson}"))
        columns = Columns({lesson: grade}, {}, ())
        most = at(MAXIMUM)
        maxima[lesson] = next((told for n in rows if most is not None and (told := _number(sheet.rows[n][most]))), None)
        if maxima[lesson] is None:
            notes.append("the worksheet states no maximum grade: points are written as they are")
        comments = at(COMMENTS)
        if comments is not None:
            for number, learner in matching.rows.items():
                if found := grades.get((learner, lesson)):
                    sheet.rows[number][comments] = html.escape(str(safe_cell(found.comment)), quote=False)
        elif identifier is not None:
            notes.append("the worksheet has no column for feedback: switch 'Feedback comments' on in the assignment")
    else:
        taken = [column for column in (*own, full, first, last, identifier) if column is not None]
        others = {column: name for column, name in enumerate(sheet.head) if column not in taken}
        columns, notes = _places(sheet, "--moodle", others, lessons, titles, chosen)
        for name, column in columns.places.items():
            maxima[name] = 100.0 if is_percentage(sheet.head[column]) else None
        if any(value is None for value in maxima.values()):
            notes.append("Moodle's export states no maximum grade: set each assignment's to the lesson's points")
    filled = _fill(sheet, matching, grades, columns.places, maxima, notes)
    return _done(sheet, sheet.text(sheet.rows), filled, columns, matching, notes)


def _lesson_of(export: Path, lessons: list[str], titles: Mapping[str, str]) -> str:
    """Moodle calls a worksheet ``Grades-COURSE-ASSIGNMENT-123.csv``."""
    found = [lesson for lesson in lessons if column_of([export.stem], lesson, titles.get(lesson, "")) is not None]
    if len(found) != 1:
        raise UsageError(
            "a grading worksheet is for one assignment, and its name does not say for which lesson", str(export),
            course_command(f"report {lessons[0]} --moodle {shlex.quote(str(export))}"),
        )  # fmt: skip
    return found[0]


def _places(
    sheet: Sheet, option: str, names: Mapping[int, str], lessons: list[str], titles: Mapping[str, str],
    chosen: Mapping[str, str],
) -> tuple[Columns, list[str]]:  # fmt: skip
    """Where each lesson's grades go, and notes. Raises UsageError if no lesson has a column."""
    columns = columns_of(names, lessons, titles, chosen)
    if columns.places or columns.unclear:
        notes = [
            f"{lesson}: no column of the export has its name; its grades are not in the file"
            for lesson in columns.without
        ]
        return columns, notes
    others = [name for name in names.values() if name.strip()]
    near = difflib.get_close_matches(lessons[0], others, 1, 0.0) or ["COLUMN"]
    words = ("report", option, str(sheet.path), "--column", f"{lessons[0]}={near[0]}")
    raise UsageError(
        f"no column of the export has the name of a lesson that has grades: {', '.join(lessons)}",
        f"{sheet.path}, which has {', '.join(map(repr, others))[:300] or 'none'}",
        f"say which it is, such as: {course_command(shlex.join(words))}",
    )


def _fill(
    sheet: Sheet, matching: Matching, grades: Grades, places: Mapping[str, int],
    maxima: Mapping[str, float | None], notes: list[str],
) -> int:  # fmt: skip
    """Write the grades in, scaled if the LMS has another maximum; how many."""
    count = 0
    # As the file writes its own: grades, and the maximum beside them.
    heads = heads_of(sheet.rows)
    numbers = {*places.values(), *(column for column, head in enumerate(heads) if head == MAXIMUM)}
    own_cells = [row[column].strip() for row in sheet.rows[1:] for column in numbers]
    comma = any(re.fullmatch(r"\d+,\d+", cell) for cell in own_cells)
    for lesson, column in places.items():
        most = maxima.get(lesson)
        own = max(grade.max_score for (_, name), grade in grades.items() if name == lesson)
        scale = most / own if most and own else 1.0
        if abs(scale - 1) > 1e-9:
            notes.append(f"{lesson}: scaled from {own:g} points to the {most:g} of the LMS")
        for number, learner in matching.rows.items():
            grade = grades.get((learner, lesson))
            if grade is not None:
                text = f"{round(grade.score * scale, 2):.2f}".rstrip("0").rstrip(".")
                sheet.rows[number][column] = text.replace(".", ",") if comma else text
                count += 1
    return count


def _number(text: str) -> float | None:
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return value if 0 < value < 1e6 else None


def _done(sheet: Sheet, data: bytes, filled: int, columns: Columns, matching: Matching, notes: list[str]) -> GradeFile:
    return GradeFile(
        data,
        filled,
        {lesson: sheet.head[column] for lesson, column in sorted(columns.places.items())},
        columns.unclear,
        frozenset(matching.rows.values()),
        matching.unmatched_learners,
        matching.unclear,
        tuple(dict.fromkeys(notes)),
        matching.by_id,
    )
