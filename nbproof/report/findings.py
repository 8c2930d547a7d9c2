"""Everything that a report says about a class, as tables: for the page, CSV for spreadsheets, JSON for programs.

``report.json``, schema version 4, holds ``schema``, ``course``, ``generated`` (ISO time), ``anonymous`` (false: learners have
their names), ``lessons_asked`` (empty: all), and each of these tables as a list of rows; the same rows stand in a CSV file each:

- ``learners``: learner, score of each lesson ("not graded", or nothing), total, late_penalties, to_mark
- ``hand_ins``: of every learner and lesson what came, as ``docs/grade_json.md`` tells submissions; how: also "nothing"
- ``scores``: learner, lesson, and each exercise as ``docs/grade_json.md`` tells it, without its sentence
- ``lessons``, ``exercises``: as :mod:`nbproof.report.statistics` computes them
- ``misconceptions``: id, name, question, idea, read, exercises, learners, of, share
- ``faults``: learner, lesson, exercise, kind, sentence
- ``needs_help``: learner, share, reasons, talk_about, first; fewest points first

Scores are with manual marks and less the late penalty. A key may be added without a new version.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbproof.csv_text import csv_of
from nbproof.files import replace_file
from nbproof.gradebook.marks import ClassResults, Mark, Person, exercise_row, submission_row
from nbproof.key import Key
from nbproof.marking.results import Verdict
from nbproof.report.statistics import exercise_rows, fault_rows, lesson_row, misconception_rows, needs_help

__all__ = ["SCHEMA", "tables", "write_files"]

SCHEMA = 4


def tables(results: ClassResults) -> dict[str, list[dict[str, Any]]]:
    """Name -> rows; the module's docstring has their fields."""
    keys = itertools.product([person.id for person in results.people], [lesson.slug for lesson in results.lessons])
    return {
        "learners": [_learner(results, person) for person in results.people],
        "hand_ins": [_hand_in(results, learner, lesson) for learner, lesson in keys],
        "scores": [row for mark in results.marks.values() for row in _scores(mark)],
        "lessons": [lesson_row(results, lesson) for lesson in results.lessons],
        "exercises": [row for lesson in results.lessons for row in exercise_rows(results, lesson)],
        "misconceptions": misconception_rows(results),
        "faults": fault_rows(results),
        "needs_help": needs_help(results),
    }


def _learner(results: ClassResults, person: Person) -> dict[str, Any]:
    """All lessons of one learner in a row."""
    marks = {one.slug: results.marks.get(Key(person.id, one.slug)) for one in results.lessons}
    there = [mark for mark in marks.values() if mark is not None and not mark.problem]
    return {
        "learner": person.id,
        **{slug: _score(mark) for slug, mark in marks.items()},
        "total": sum(mark.score for mark in there),
        "late_penalties": sum(mark.penalty for mark in there),
        "to_mark": [mark.lesson for mark in there if mark.pending],
    }


def _score(mark: Mark | None) -> float | str | None:
    if mark is None:
        return None
    return "not graded" if mark.problem else mark.score


def _hand_in(results: ClassResults, learner: str, lesson: str) -> dict[str, Any]:
    mark = results.marks.get(Key(learner, lesson))
    if mark is not None:
        return submission_row(mark)
    return {**submission_row(Mark(Verdict(learner, lesson))), "how": "nothing", "score": None}


def _scores(mark: Mark) -> list[dict[str, Any]]:
    key = {"learner": mark.learner, "lesson": mark.lesson}
    rows = [exercise_row(one) for one in mark.verdict.exercises]
    return [{**key, **{name: value for name, value in row.items() if name != "sentence"}} for row in rows]


def write_files(
    out: Path, head: Mapping[str, Any], made: Mapping[str, list[dict[str, Any]]], excel: bool = False
) -> None:
    """Write a CSV file for each table, and all as ``report.json``, each whole or not at all. Raises OSError."""
    for name, rows in made.items():
        names = [list(rows[0])] if rows else []
        replace_file(out / f"{name}.csv", csv_of([*names, *(list(row.values()) for row in rows)], excel))
    whole = {"schema": SCHEMA, **head, **made}
    replace_file(out / "report.json", json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False))
