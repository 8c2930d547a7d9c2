"""The report of a class: one HTML file that needs no network, with the same tables as CSV and JSON beside it.

``report.json``, schema version 4, holds ``schema``, ``course``, ``generated`` (ISO time), ``anonymous`` (false: learners have
their names), ``lessons_asked`` (empty: all), and each of these tables as a list of rows; the same rows stand in a CSV file each:

- ``learners``: learner, score of each lesson ("not graded", or nothing), total, late_penalties, to_mark
- ``hand_ins``: each learner's submission of each lesson, as ``docs/grade_json.md`` lists its fields; how: also "nothing"
- ``scores``: learner, lesson, and each exercise as ``docs/grade_json.md`` lists its fields, without its sentence
- ``lessons``, ``exercises``: as :mod:`nbproof.report.statistics` computes them
- ``misconceptions``: id, name, question, idea, read, exercises, learners, of, share
- ``faults``: learner, lesson, exercise, kind, sentence
- ``needs_help``: learner, share, reasons, talk_about, first; fewest points first

Scores are with manual marks and less the late penalty. A key may be added without a new version.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import itertools
import json
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from nbproof.cells import is_made_up
from nbproof.course_file import Course
from nbproof.csv_text import csv_of
from nbproof.doors import FORMATS
from nbproof.errors import CourseError, UsageError, disk_trouble
from nbproof.feedback.own_code import harmless
from nbproof.files import replace_file
from nbproof.front_end import prose
from nbproof.gradebook.marks import ClassLesson, ClassResults, Mark, Person, by_assignment, exercise_row, submission_row
from nbproof.grouping import merged
from nbproof.key import Key
from nbproof.marking.results import Verdict
from nbproof.places import course_config
from nbproof.report.statistics import (
    exercise_rows,
    fault_rows,
    how_late,
    lesson_row,
    misconception_rows,
    needs_help,
    titles_of,
)
from nbproof.values.results import Status
from nbproof.values.words import Language, words_of

__all__ = ["SCHEMA", "Format", "find_formats", "html_of", "make_report", "tables", "write_files"]

_PAGES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Format:
    """One more way to write a report, which an installed package has (:data:`nbproof.doors.FORMATS`)."""

    file: str
    """The name of the file, beside ``report.json``."""
    write: Callable[[Mapping[str, Any]], bytes]
    """Returns the bytes of the file. It gets the content of ``report.json``, as plain data of its own."""


def find_formats(names: Sequence[str]) -> list[Format]:
    """The formats of these names. Raises UsageError if one is not installed, or is no :class:`Format`."""
    asked = [name for name in dict.fromkeys(names) if name not in FORMATS.own]
    return [FORMATS.load(name, "--format", fits=_is_format) for name in asked]


def _is_format(one: object) -> bool:
    return isinstance(one, Format) and Path(one.file).name == one.file


def _refuse_files_twice(formats: Sequence[Format], own: Iterable[str]) -> None:
    """Raise UsageError if a format would write a file that is there already: the report's own, or another format's."""
    taken = {name.casefold() for name in own}
    for one in formats:
        if one.file.casefold() in taken:
            raise UsageError(
                f"a format would write {one.file} over another file of the report",
                "--format",
                "leave that format out; its author has to choose another name for the file",
            )
        taken.add(one.file.casefold())


def make_report(
    root: Path,
    results: ClassResults,
    folder: Path,
    files: Mapping[str, bytes],
    excel: bool = False,
    names: Sequence[str] = (),
    formats: Sequence[Format] = (),
) -> dict[str, list[dict[str, Any]]]:
    """Write ``index.html``, CSV files, ``report.json``, these ``files`` and ``formats`` into a folder. Returns the tables.

    ``files``: name -> bytes. ``names``: the lessons that it is about, if not about all; its title names them. Raises CourseError
    if a file cannot be written.
    """
    made = tables(results)
    _refuse_files_twice(formats, ["index.html", "report.json", *(f"{name}.csv" for name in made), *files])
    course = _course_name(results.course, root)
    now = datetime.datetime.now(datetime.UTC).astimezone()
    with disk_trouble(CourseError, "the report cannot be written", folder, "choose a place: --out DIR"):
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(
            folder / "index.html", html_of(results, made, ": ".join((course, *names)), f"{now:%d %B %Y, %H:%M}")
        )
        head = {
            "course": course,
            "generated": now.isoformat(timespec="seconds"),
            "anonymous": False,
            "lessons_asked": [*names],
        }
        text = write_files(folder, head, made, excel)
        for one in formats:
            replace_file(folder / one.file, one.write(json.loads(text)))
        for name, data in files.items():
            replace_file(folder / name, data)
    return made


def _course_name(course: Course, root: Path) -> str:
    """The course's name: that of its course.toml, or else that in nbgrader's configuration, or else that of its folder."""
    if course.says != course.name:
        return course.says
    return course_config(root).CourseDirectory.get("course_id") or course.name


def html_of(results: ClassResults, made: Mapping[str, Any], course: str, generated: str) -> str:
    """The report as one HTML page. ``made``: its tables. ``generated``: the time, as the page shows it."""
    surroundings = Environment(
        loader=FileSystemLoader(_PAGES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    surroundings.filters |= {"harmless": partial(harmless, results.course), "prose": lambda text: _markup(prose(text))}
    surroundings.globals["how_late"] = how_late
    surroundings.tests["made_up"] = is_made_up
    titles = {lesson.slug: titles_of(results, lesson.slug) for lesson in results.lessons}
    script = (_PAGES / "report.js").read_text(encoding="utf-8")
    shares = [mark.share for mark in results.marks.values() if mark.max_score and not mark.unmarked]
    class_mean = statistics.fmean(shares) if shares else None
    return surroundings.get_template("report.html.j2").render(
        **made,
        results=results,
        titles=titles,
        title_of=merged(titles.values()),
        course=course,
        generated=generated,
        module=results.course.commands,
        called={person.id: person.called for person in results.people},
        css=_markup((_PAGES / "report.css").read_text(encoding="utf-8")),
        script=_markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        class_mean=class_mean,
        statuses=tuple(Status),
        most=sum(lesson.max_score for lesson in results.lessons),
        files=[*(f"{name}.csv" for name in made), "report.json"],
    )


def _markup(text: str) -> Markup:
    return Markup(text)  # noqa: S704  (our own style sheet and script)


SCHEMA = 4


def tables(results: ClassResults) -> dict[str, list[dict[str, Any]]]:
    """The tables of a report: name -> rows. The module's docstring lists their fields."""
    words = words_of(results.course)
    scores = (_scores(mark, words) for mark in results.marks.values())
    exercises = (exercise_rows(results, lesson) for lesson in results.lessons)
    return {
        "learners": [_learner(results, person) for person in results.people],
        "hand_ins": [_hand_in(results, *key) for key in itertools.product(results.people, results.lessons)],
        "scores": list(itertools.chain.from_iterable(scores)),
        "lessons": [lesson_row(results, lesson) for lesson in results.lessons],
        "exercises": list(itertools.chain.from_iterable(exercises)),
        "misconceptions": misconception_rows(results),
        "faults": fault_rows(results),
        "needs_help": needs_help(results),
    }


def _learner(results: ClassResults, person: Person) -> dict[str, Any]:
    """The row of a learner, with the scores of all lessons."""
    marks = {one.slug: results.marks.get(Key(person.id, one.slug)) for one in results.lessons}
    there = [mark for mark in marks.values() if mark is not None and not mark.unmarked]
    assignments = by_assignment({mark.key: mark for mark in there})
    return {
        "learner": person.id,
        **{slug: _score(mark) for slug, mark in marks.items()},
        "total": sum(mark.score for mark in assignments.values()),
        "late_penalties": sum(mark.penalty for mark in there),
        "to_mark": [mark.lesson for mark in there if mark.pending],
    }


def _score(mark: Mark | None) -> float | str | None:
    if mark is None:
        return None
    return "not graded" if mark.unmarked else mark.score


def _hand_in(results: ClassResults, person: Person, lesson: ClassLesson) -> dict[str, Any]:
    """The row of a submission, also if there is none."""
    key = Key(person.id, lesson.slug)
    mark = results.marks.get(key)
    if mark is not None:
        return submission_row(mark, words_of(results.course))
    return {**submission_row(Mark(Verdict(*key)), words_of(results.course)), "how": "nothing", "score": None}


def _scores(mark: Mark, words: Language) -> list[dict[str, Any]]:
    """The rows of a submission's exercises."""
    rows = []
    for one in mark.verdict.exercises:
        row = {"learner": mark.learner, "lesson": mark.lesson, **exercise_row(one, words)}
        del row["sentence"]
        rows.append(row)
    return rows


def write_files(
    out: Path, head: Mapping[str, Any], made: Mapping[str, list[dict[str, Any]]], excel: bool = False
) -> str:
    """Write a CSV file for each table, and all tables as ``report.json``, each file whole or not at all.

    ``head``: other fields of the JSON. ``excel``: whether the CSV is for Excel. Returns the JSON. Raises OSError.
    """
    for name, rows in made.items():
        table = [list(row) for row in rows[:1]]
        table += [list(row.values()) for row in rows]
        replace_file(out / f"{name}.csv", csv_of(table, excel))
    whole = {"schema": SCHEMA, **head, **made}
    text = json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False)
    replace_file(out / "report.json", text)
    return text
