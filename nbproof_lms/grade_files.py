"""Grade files that an LMS imports, made from the instructor's own export of its gradebook.

The system itself says what each column holds (``System.grade_table``), and the table says which row belongs to which learner. The
name of a column, or the instructor, says which lesson it belongs to. Grades in another place than theirs are worse than none: if
two may be meant, a person says which. A learner who has no grade here keeps what the LMS has.
"""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from types import MappingProxyType

from nbproof.command import course_command
from nbproof.errors import CourseError, UsageError, may_mean
from nbproof.gradebook.marks import ClassResults, Mark, Person, by_assignment
from nbproof.grouping import grouped
from nbproof.key import Key, assignment_of
from nbproof.marking.results import Verdict
from nbproof.places import places
from nbproof.text import some_of
from nbproof_lms.csv_table import LETTERS, Sheet, decimal_sign, item_of, number_in, read_sheet, shows
from nbproof_lms.names import bare, bare_words
from nbproof_lms.outcome import meant_in
from nbproof_lms.row_owners import RowOwners, row_owners
from nbproof_lms.system import GradeTable, System, find_system, offered

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

    ``filled``: the number of grades in it. ``columns``: lesson -> the column of its grades. Learners with a grade are of
    three kinds: the export knows them (``matched``); it does not (``unmatched``); or several rows fit the learner, or several
    learners fit the row (``unclear``). ``left_out``: an error for each lesson without grades in the file.
    """

    data: bytes
    filled: int
    columns: Mapping[str, str]
    matched: frozenset[str]
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
    came: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> GradeFile:
    """Fill an export of an LMS's gradebook. Raises UsageError if it is none, or nothing can be written.

    ``grades``: the marks, manual ones and late penalties included. ``titles``: lesson -> title. ``lesson``: the lesson of a table
    of one assignment. ``chosen``: lesson -> the column that a person has named for it. ``came``: assignment -> the numbers of
    learners that came with it.
    """
    sheet = read_sheet(export, "the grades", f"--{system.option}")
    table = system.grade_table(sheet)
    if table is None:
        raise UsageError(
            f"this is no table that {system.name} takes grades in: it has no column that says who somebody is",
            f"{export}, with the first line {', '.join(sheet.head)[:120]!r}",
            f"{system.export}; then --{system.option} FILE",
        )
    lessons = sorted({name for _, name in grades})
    places, left_out = _columns(sheet, table, system, lessons, titles, lesson, chosen, came)
    left_out += _without_maximum(sheet, table, places)
    if not places:
        raise left_out[0]
    learners = {learner for learner, _ in grades}
    asked = {learner: Person(learner) for learner in learners} | {person.id: person for person in people}
    owners = row_owners(sheet, table, asked, chain.from_iterable(came.get(name, ()) for name in places))
    clear = {row: learner for learner, row in _sole(owners.rows).items()}
    graded = {learner for (learner, _), grade in grades.items() if grade.cells}
    there = {learner for learner, rows in owners.rows.items() if rows}.union(*owners.mixed.values())
    namesakes = _namesakes(asked, {*clear.values()} - graded, graded - there)
    sure = {row: learner for row, learner in clear.items() if learner not in namesakes}
    filling = _Filling(sheet, table, sure, grades, places)
    for name, column in places.items():
        filling.fill(name, column)
    return GradeFile(
        sheet.text(_kept_columns(sheet, table, places.values())),
        filling.count,
        {name: sheet.head[column] for name, column in sorted(places.items())},
        frozenset(clear.values()) & learners,
        tuple(sorted(graded - there)),
        tuple(sorted((there & learners).difference(clear.values()))),
        (
            *sheet.doubts,
            *table.notes,
            *_not_as_chosen(sheet, table, places, chosen),
            *filling.notes,
            *_unwritten(sheet, table, owners, asked, graded),
            *(_one_or_two(asked[one], asked[other]) for one, other in namesakes.items()),
        ),
        tuple(left_out),
    )


def _not_as_chosen(
    sheet: Sheet, table: GradeTable, places: Mapping[str, int], chosen: Mapping[str, str]
) -> Iterator[str]:
    """A sentence for each lesson with grades in another column than a person has named: a worksheet has one for grades."""
    if table.only is None:
        return
    for lesson in sorted(places.keys() & chosen.keys()):
        if bare(chosen[lesson]) != bare(sheet.head[places[lesson]]):
            yield f"a grading worksheet has one column for grades, so --column {lesson}={chosen[lesson]} is not used"


def _kept_columns(sheet: Sheet, table: GradeTable, filled: Iterable[int]) -> list[list[str]]:
    """The rows with the columns that are written. ``filled``: columns with grades."""
    if table.keep is None:
        return sheet.rows
    columns = (*table.keep, *sorted(filled))
    return [list(map(row.__getitem__, columns)) for row in sheet.rows]


def _columns(
    sheet: Sheet,
    table: GradeTable,
    system: System,
    lessons: Sequence[str],
    titles: Mapping[str, str],
    lesson: str,
    chosen: Mapping[str, str],
    came: Mapping[str, Collection[str]],
) -> tuple[dict[str, int], list[CourseError]]:
    """The column for each lesson's grades, and an error for each lesson without one.

    A lesson's column has its name or title, letter case and signs aside, or a person has said it. Raises UsageError if a table
    about one assignment may be any lesson's, or is another's. ``came``: as in :func:`grade_file`.
    """
    asked = (f"--{system.option}", str(sheet.path))
    if table.only is not None:
        return {_lesson_of_worksheet(sheet, table, system, lesson, lessons, chosen, came): table.only}, []
    means = {name: _columns_called(name, table, titles, chosen) for name in lessons}
    places = _sole(means)
    left_out: list[CourseError] = []
    wrong = {name: said for name, said in chosen.items() if name in means and not means[name]}
    without = [name for name in lessons if name not in places]
    for (columns, said), names in grouped(
        ((frozenset(means[name]), wrong.get(name, "")), name) for name in without
    ).items():
        several = columns if len(columns) > 1 else frozenset[int]()
        if said:
            several = frozenset(_columns_called(names[0], table, titles, {}))
        column = f"#{min(several) + 1}" if several else "COLUMN"
        options = (("--column", f"{name}={one}") for name, one in {**chosen, names[0]: column}.items())
        command = ["report", *lesson.split(), *asked, *chain.from_iterable(options)]
        left_out.append(_no_column(sheet, columns, sorted(columns or table.lessons), names, command, said))
    return places, left_out


def _lesson_of_worksheet(
    sheet: Sheet,
    table: GradeTable,
    system: System,
    lesson: str,
    lessons: Sequence[str],
    chosen: Mapping[str, str],
    came: Mapping[str, Collection[str]],
) -> str:
    """The lesson that the one column for grades of a worksheet is for; see :func:`_columns`. Raises UsageError."""
    asked = (f"--{system.option}", str(sheet.path))
    numbers_there = {*table.assigned.values()}
    known = sorted(name for name, numbers in came.items() if not numbers_there.isdisjoint(numbers))
    if not lesson and len(lessons) > 1:
        theirs = [name for name in lessons if name in known] or lessons
        raise UsageError(
            "a grading worksheet is for one assignment, and does not say for which lesson",
            str(sheet.path),
            f"{course_command(shlex.join(['report', 'LESSON', *asked]))}, where LESSON is {' or '.join(theirs)}",
        )
    own, column = lesson or lessons[0], sheet.head[table.only or 0]
    is_anothers = own not in known and bool(known or (table.assigned and came.get(own)))
    if is_anothers and bare(chosen.get(own, "")) != bare(column):
        theirs = [course_command(shlex.join(["report", name, *asked])) for name in known[:1]]
        one = course_command(shlex.join(["report", own, *asked, "--column", f"{own}={column}"]))
        raise UsageError(
            f"the numbers in this grading worksheet came with {' and '.join(known) or 'no lesson'}, and none of them with {own}",
            str(sheet.path),
            "; or ".join(
                [*theirs, f"choose the worksheet of {own} ({system.export})", f"if it is its worksheet: {one}"]
            ),
        )
    return own


def _no_column(
    sheet: Sheet, columns: Collection[int], able: Sequence[int], names: Sequence[str], command: Sequence[str], said: str
) -> UsageError:
    """The error for lessons (``names``) that have no column of their own. ``columns``: those with their name; ``able``: those
    that may be theirs; ``command``: an example that says it; ``said``: what a person has named, and no column is called."""
    which = ", ".join(f"#{at + 1} {sheet.head[at]!r}" for at in able)
    there = f"{sheet.path}, which has {which[:300] or 'no column for grades'}"
    then = f"say which it is, such as: {course_command(shlex.join(command))}"
    if said:
        return UsageError(f"the export has no column {said!r} for the grades of {', '.join(names)}", there, then)
    return UsageError(
        f"each lesson with grades needs a column of its own, and the export has {len(columns) or 'none'} with the name "
        f"of {', '.join(names)}",
        there,
        f"{then}; or, if the LMS has none for it, name the other lessons",
    )


def _columns_called(lesson: str, table: GradeTable, titles: Mapping[str, str], chosen: Mapping[str, str]) -> set[int]:
    """The columns with the lesson's name or title; or with the name, or the number from 1 on (``#5``), that a person has said."""
    said = (chosen[lesson],) if lesson in chosen else (lesson, titles.get(lesson, lesson))
    forms = {*map(bare, said), said[0]}
    return {at for at, head in table.lessons.items() if {bare(head), bare(item_of(head)), f"#{at + 1}"} & forms}


def _without_maximum(sheet: Sheet, table: GradeTable, places: dict[str, int]) -> list[CourseError]:
    """Take out the lessons with a maximum in the LMS that cannot be read, because nobody knows how to scale their grades.

    An error for each of them.
    """
    errors: list[CourseError] = []
    for lesson, column in list(places.items()):
        unread = [text for text in table.maxima.get(column, ()) if number_in(text) is None]
        if unread:
            del places[lesson]
            errors.append(
                UsageError(
                    f"the LMS's maximum for {lesson} cannot be read, so its grades are not written: {unread[-1][:60]!r}",
                    f"{sheet.path}, column {sheet.head[column]!r}",
                    "write it there as digits and one sign, such as 1000.00, wherever it stands; then run the same report again",
                )
            )
    return errors


def _sole(means: Mapping[str, Collection[int]]) -> dict[str, int]:
    """Name -> the one number that it means, without names that mean several numbers, or a number that another name means."""
    ones = {name: min(found) for name, found in means.items() if len(found) == 1}
    times = Counter(ones.values())
    return {name: one for name, one in ones.items() if times[one] == 1}


def _unwritten(
    sheet: Sheet, table: GradeTable, found: RowOwners, asked: Mapping[str, Person], graded: Collection[str]
) -> Iterator[str]:
    """Lines on rows that get nothing because of what else stands in them."""
    known = {*found.mixed}.union(*found.rows.values(), *found.doubted.values())
    others = (_called(sheet.rows[at], table) for at in range(table.first_row, len(sheet.rows)) if at not in known)
    if named := [*filter(None, others)]:
        yield f"rows of nobody in the class are left as they are: {some_of(named, 8)}"
    for at, several in found.mixed.items():
        told = " and of ".join(asked[one].called for one in sorted(several))
        yield (
            f"the row with {', '.join(_ids_in(sheet, table, at))} has ids or names of {told}: nothing is written there. "
            "Correct the ids there, or in roster.csv, then run the same report again"
        )
    for learner in found.doubted:
        if learner in graded and not found.rows[learner]:
            for at, kinds in found.doubted[learner].items():
                yield _doubt(asked[learner], _ids_in(sheet, table, at), kinds)


def _namesakes(asked: Mapping[str, Person], without: Collection[str], astray: Collection[str]) -> dict[str, str]:
    """Learners ``without`` a grade -> who has their name, a grade, and no row: an id that changed makes one person two."""
    known = {bare_words(asked[learner].name): learner for learner in sorted(astray)}
    called = {learner: bare_words(asked[learner].name) for learner in sorted(without)}
    return {learner: known[words] for learner, words in called.items() if words in known and len(words) > 1}


def _one_or_two(learner: Person, other: Person) -> str:
    """A line on the row of a learner who has no grade, and may be the ``other`` one, who has a grade and no row."""
    told = f"the row of {learner.contact} gets no 0: {other.contact} has the same name, a grade, and no row"
    return (
        f"{told}. If they are one person, make one line of the two in roster.csv, with {learner.id} in its column also"
    )


def _doubt(learner: Person, ids: Mapping[str, str], kinds: Sequence[str]) -> str:
    """A line on a row that has an id or the name of a learner, and other facts against it. ``ids``: those in the row."""
    command = ["roster", "add", learner.id]
    for one in ids.values():
        command += ["--also", one]
    told = f"the row with {', '.join(ids)} may belong to {learner.called}"
    then = course_command(shlex.join(command))
    return f"{told}, but has another {' and '.join(kinds)}: nothing is written there. If it does: {then}"


def _ids_in(sheet: Sheet, table: GradeTable, at: int) -> dict[str, str]:
    """The ids in a row, as they stand there -> as the roster's column ``also`` holds them."""
    own = table.assigned.get(at)
    ids = {own: own} if own else {}
    for column in table.ids:
        cell = sheet.rows[at][column].strip().removeprefix("#")
        if cell:
            ids[cell] = cell
            if cell.isdecimal() and column not in table.numbers:
                ids[cell] = f"id {cell}"
    return ids


def _called(row: Sequence[str], table: GradeTable) -> str:
    """The name or the ids in a row, for people; empty if there are none, or if it is Canvas's own row for a test."""
    name, ids = (" ".join(filter(None, map(row.__getitem__, columns))) for columns in (table.names, table.ids))
    if not (name or ids) or bare_words(name) == ("student", "test"):
        return ""
    return repr((name or ids).replace("#", ""))


class _Filling:
    """An export while grades are written into it. ``learners``: row -> its learner.

    ``count``: how many grades were written. ``notes``: sentences on what was scaled, kept or replaced.
    """

    def __init__(
        self,
        sheet: Sheet,
        table: GradeTable,
        learners: Mapping[int, str],
        grades: Mapping[Key, Mark],
        places: Mapping[str, int],
    ) -> None:
        self.count = 0
        self.notes: list[str] = []
        self._sheet = sheet
        self._table = table
        self._learners = learners
        self._grades = grades
        self._came = self._word_for_handed_in()
        signs: set[str] = set()
        for column in places.values():
            cells = (*table.maxima.get(column, ()), *(row[column] for row in sheet.rows[1:]))
            signs.update(map(decimal_sign, cells))
        self._sign = "," if signs - {""} == {","} else "."

    def _word_for_handed_in(self) -> str:
        """What the table's status says of most people with a grade here, unless it says the same of everybody; else nothing."""
        graded = {learner for (learner, _), grade in self._grades.items() if grade.cells}
        said = {row: self._status(row) for row in range(self._table.first_row, len(self._sheet.rows))}
        words = Counter(said[row] for row, learner in self._learners.items() if learner in graded)
        if not words or len({*said.values()}) == 1:
            return ""
        return words.most_common(1)[0][0]

    def _status(self, row: int) -> str:
        """The first words of the status in a row: how late it was comes behind them."""
        if self._table.status is None:
            return ""
        return self._sheet.rows[row][self._table.status].partition(" - ")[0].strip()

    def _why_left(self, row: int, cell: str, grade: Mark | None) -> str:
        """As :func:`_why_it_stays`; also where the LMS has a hand-in that never came here."""
        if grade is not None and grade.problem and self._came and self._status(row) == self._came:
            return f"the LMS says {self._came!r}, and nothing came here: no 0 is written. Download it again, and collect it"
        return _why_it_stays(self._table, row, cell, grade)

    def fill(self, lesson: str, column: int) -> None:
        """Write the grades of a lesson into its column, scaled if the LMS has another maximum."""
        own = max((grade.max_score for (_, name), grade in self._grades.items() if name == lesson), default=0.0)
        scale, told = _scale(self._sheet.head[column], self._table.maxima.get(column, ()), own)
        self.notes += [f"{lesson}: {what}" for what in told]
        if not scale:
            return
        remarks = defaultdict[str, list[str]](list)
        for row, learner in self._learners.items():
            grade = self._grades.get(Key(learner, lesson))
            cell = self._sheet.rows[row][column].strip()
            if why := self._why_left(row, cell, grade):
                who = learner if grade else f"{learner} ({cell})"
                remarks[why].append(who)
            elif grade:
                text = self._write(row, column, grade.score * scale)
                if grade.score > own > 0:
                    remarks[f"more than its {own * scale:g} points in the LMS"].append(f"{learner} ({text})")
                if cell.strip("-–") and number_in(cell) != float(text):
                    remarks["replaces another grade, of the export"].append(f"{learner} ({cell})")
        self.notes += [f"{lesson}: {what}: {some_of(learners, 8)}" for what, learners in remarks.items()]

    def _write(self, row: int, column: int, points: float) -> str:
        """Write points into a cell, with the sign for decimals that the export has; the text with a point in it."""
        text = f"{round(points, 2):.2f}".rstrip("0").rstrip(".")
        self._sheet.rows[row][column] = text.replace(".", self._sign)
        self.count += 1
        return text


def _scale(head: str, maxima: Collection[str], own: float) -> tuple[float, list[str]]:
    """The factor for a lesson's points, 0 if none are written, and sentences on it. ``own``: the points of the lesson here."""
    most = max((number_in(told) or 0.0 for told in maxima), default=None)
    if most and not own:
        return 0.0, [f"it gives no points here, and {most:g} in the LMS: nothing is written"]
    notes = ["0 points in the LMS, so the points are written as they are"] if most == 0 else []
    if most is None:
        notes.append(f"the file does not say how many points the LMS gives, so it is taken to be {own:g}, as here")
    if shows(head, LETTERS):
        notes.append("points are written into a column of letters: better export it with grade type Real")
    if not most:
        return 1.0, notes
    scale = most / own
    if abs(scale - 1) > 1e-9:
        notes.append(f"scaled from {own:g} points to the {most:g} of the LMS")
    return scale, notes


def _why_it_stays(table: GradeTable, row: int, cell: str, grade: Mark | None) -> str:
    """A clause if the LMS's grade in a cell is left; empty if it is not, or there is none. ``grade``: the one from here."""
    is_there = cell.strip("-–") != ""
    if row in table.locked and (grade or is_there):
        return "the LMS says that the grade cannot be changed, so it is left"
    if table.excused and cell.upper() == table.excused:
        return "excused in the LMS, and left so"
    if not is_there or (grade and (grade.cells or number_in(cell) == 0)):
        return ""
    return "no grade from here, and one in the LMS, which stays (if it holds no longer, clear it in the LMS)"


def exports_of(request: Namespace) -> dict[str, Path]:
    """The exports that a call of the command has named, by the option of their LMS."""
    return {option: path for option in options_of_exports() if (path := getattr(request, option)) is not None}


def options_of_exports() -> list[str]:
    """The options of all LMSs that have an export to fill."""
    return [system.option for system in offered().values() if system.export]


def columns_of(said: Sequence[str]) -> dict[str, str]:
    """Lesson -> column, as texts of ``--column`` say: ``LESSON=COLUMN``. Raises UsageError if one has another form."""
    example = "--column 01_sorting='Lesson 1: Sorting (4711)'"
    chosen = {}
    for text in said:
        lesson, _, column = text.partition("=")
        if not (lesson.strip() and column.strip()):
            raise UsageError("--column wants a lesson and the name of a column", f"--column {text}", example)
        chosen[lesson.strip()] = column.strip()
    return chosen


NO_GRADE = {"missing": "nothing handed in", "ungraded": "nothing that can be graded"}
"""The reasons for no grade: the word that ``--zero`` takes, and its meaning."""


def zeros(
    results: ClassResults, zero: Collection[str], seen: Mapping[Key, bool], came: Collection[Key] = ()
) -> tuple[dict[Key, Mark], list[str]]:
    """The marks of 0 for people without a grade in grade files, and lines that say of each lesson who gets one, and who does not.

    ``zero``: the words of :data:`NO_GRADE` that give a 0. ``seen``: what a person has settled, and whether it was left open.
    ``came``: files that cannot be graded; the lesson is empty if nobody knows it. Nothing is missing while an extension runs.
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
        kind = _why_no_grade((marks.get(key), not useless.isdisjoint((key, Key(key.learner, "")))) for key in keys)
        is_settled = not settled.isdisjoint(keys)
        if kind == "missing" and lesson in early and not is_settled:
            told[f"{lesson}: {NO_GRADE[kind]} yet, due {early[lesson]}: nothing written in grade files"].append(
                person.id
            )
        elif kind and later.isdisjoint(keys):
            gets = f"nothing written in grade files (--zero {kind}: 0)"
            if kind in zero or is_settled:
                gets = "0 in grade files, where the LMS has no grade and no hand-in"
                why = NO_GRADE["missing"] * (kind == "missing" and not is_settled)
                given[Key(person.id, lesson)] = Mark(Verdict(person.id, lesson, problem=why), most[lesson])
            told[f"{lesson}: {NO_GRADE[kind]}: {gets}"].append(person.id)
    return given, [f"{what}: {some_of(ids, 8)}" for what, ids in told.items()]


def _why_no_grade(tried: Iterable[tuple[Mark | None, bool]]) -> str:
    """The reason why a person has no grade under any of several ids; empty if there is one. ``tried``: see :func:`_why_none`."""
    reasons = {_why_none(mark, came) for mark, came in tried}
    return next(one for one in ("", "ungraded", "missing") if one in reasons)


def _why_none(mark: Mark | None, came: bool) -> str:
    """The reason why there is no grade, a word of :data:`NO_GRADE`; empty if there is one.

    ``came``: whether something that cannot be graded was handed in.
    """
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
    """The grade files by the option of their LMS, and an error for each file or grade that cannot be made.

    ``exports``: option -> file. ``chosen``: lesson -> column. ``names``: the lessons that a person has asked for. ``given``: see
    :func:`zeros`.
    """
    made: dict[str, GradeFile] = {}
    titles = {assignment_of(one.slug): assignment_of(one.slug).replace("_", " ") for one in results.lessons}
    titles |= {lesson.slug: lesson.title for lesson in results.lessons}
    grades = {key: mark for key, mark in by_assignment(results.marks).items() if not (mark.unmarked or mark.behind)}
    if exports and not grades:
        return made, [CourseError("nobody has a grade yet", str(root.resolve()), course_command("grade"))]
    if exports and results.without_gradebook:
        return made, [*results.without_gradebook]
    if unknown := sorted(chosen.keys() - titles.keys()):
        known = f"choose from: {', '.join(titles)}"
        return made, [
            CourseError(f"no lesson is called {unknown[0]!r}{may_mean(unknown[0], titles)}", "--column", known)
        ]
    if chosen and not exports:
        then = f"{course_command('report --canvas FILE')}, or the LMS that it is, with the same --column"
        return made, [CourseError("no export of an LMS is named that could have this column", "--column", then)]
    if not exports:
        return made, []
    grades, people, refused = _by_person(root, {**grades, **given}, results.people)
    lesson = assignment_of(names[0]) if len(names) == 1 else ""
    for option, export in exports.items():
        try:
            system = find_system(option)
            came = _numbers_of(root, system)
            made[option] = grade_file(system, export, grades, people, titles, lesson, chosen, came)
            refused += made[option].left_out
        except CourseError as error:
            refused.append(error)
    return made, refused


def _numbers_of(root: Path, system: System) -> Mapping[str, Collection[str]]:
    """Assignment -> the LMS's numbers of learners that came with it, as the roster writes them."""
    came = ((record.account.partition(":"), key.assignment) for record, key in meant_in(root))
    ours = ((number, lesson) for (name, _, number), lesson in came if lesson and name == system.name)
    return grouped((lesson, system.on_roster(number)) for number, lesson in ours)


def _by_person(
    root: Path, grades: Mapping[Key, Mark], people: Sequence[Person]
) -> tuple[dict[Key, Mark], list[Person], list[CourseError]]:
    """Grades and people with each person once, under one id, and an error for each lesson with grades under two ids."""
    known = {one.id for one in people}
    first = {one.id: min(one.ids & known) for one in people}
    found = grouped((Key(first[learner], lesson), mark) for (learner, lesson), mark in grades.items())
    ones: dict[Key, Mark] = {}
    twice: list[CourseError] = []
    for key, several in sorted(found.items()):
        # A 0 for nothing does not count beside a grade.
        marks = [one for one in several if one.cells] or several[:1]
        if len(marks) == 1:
            ones[key] = marks[0]
        else:
            twice.append(_two_grades(root, marks))
    return ones, [one for one in people if first[one.id] == one.id], twice


def _two_grades(root: Path, several: Sequence[Mark]) -> CourseError:
    """The error for a person with grades for one lesson under several ids. It names the same id as a line of `grade` does."""
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
    """The learners that this export does not know, but another export in the same call does."""
    others = frozenset().union(*(file.matched for other, file in made.items() if other != option))
    return frozenset(made[option].unmatched) & others
