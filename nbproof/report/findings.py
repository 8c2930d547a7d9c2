"""Everything that a report says about a class, in one value, and as files: CSV for spreadsheets, JSON for programs.

``report.json``, schema version 2::

    {"schema": 2, "course": str, "generated": ISO time, "anonymous": bool,
     "lessons": [{"lesson", "title", "max_score", "due", "handed_in", "missing": [learner], "ungraded", "pending", "late",
                  "mean", "median", "deviation", "quartiles", "median_seconds", "peak_mb"}],
     "exercises": [{"lesson", "exercise", "title", "points", "learners", "answered", "passed", "pass_rate", "mean_share",
                    "statuses": {status: count}, "discrimination": float or null, "remark", "median_seconds", "longest_seconds"}],
     "scores": [{"learner", "lesson", "score", "max_score", "late_penalty", "pending", "problem",
                 "exercises": {exercise: {"status", "score", "max_score", "hints": [id]}}}],
     "hand_ins": [{"learner", "lesson", "state": "handed in", "late", "nothing" or "not graded", "late": in words,
                   "seconds_late", "late_penalty", "problem"}],
     "misconceptions": [{"id", "name", "exercises", "learners": count, "of", "share", "read", "example", "example_of"}],
     "unrecognised": [{"lesson", "exercise", "difference", "learners": count, "example"}],
     "faults": [{"learner", "lesson", "exercise", "kind", "sentence"}],
     "needs_help": [{"learner", "urgency", "share", "reasons", "talk_about", "signs", "first"}]}   # most urgent first

Scores are with manual marks and less the late penalty. A key may be added without a new version.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbproof.files import replace_file
from nbproof.marking.results import STATUSES
from nbproof.report.lateness import how_late
from nbproof.report.needs_help import Needy, Sign, needs_help
from nbproof.report.records import ClassRecords, Person
from nbproof.report.statistics import (
    Different,
    ExerciseStatistics,
    Fault,
    LessonStatistics,
    Misconception,
    exercise_statistics,
    faults,
    lesson_statistics,
    misconceptions,
    scrubbed,
    unrecognised,
)  # fmt: skip
from nbproof.values.results import Outcome

__all__ = ["SCHEMA", "Findings", "as_data", "csv_of", "find", "safe_cell", "tables", "under_codes", "write_files"]


@dataclass(frozen=True)
class Findings:
    """What was found. With ``anonymous`` learners have codes, and what singles somebody out is left out."""

    records: ClassRecords
    lessons: tuple[LessonStatistics, ...]
    exercises: tuple[ExerciseStatistics, ...]
    misconceptions: tuple[Misconception, ...]
    unrecognised: tuple[Different, ...]
    faults: tuple[Fault, ...]
    needy: tuple[Needy, ...]
    anonymous: bool = False

    @property
    def to_talk_to(self) -> tuple[Needy, ...]:
        """Those of ``needy`` who come first."""
        return tuple(one for one in self.needy if one.first)

    @property
    def other_signs(self) -> list[tuple[Sign, list[str]]]:
        """The rest of ``needy`` by their weightiest sign, the commonest first."""
        whose: dict[Sign, list[str]] = {}
        for one in self.needy:
            if not one.first:
                whose.setdefault(one.signs[0], []).append(one.learner)
        return sorted(whose.items(), key=lambda item: -len(item[1]))


def find(records: ClassRecords, anonymous: bool = False) -> Findings:
    """Compute it all."""
    exercises = [one for lesson in records.lessons for one in exercise_statistics(records, lesson)]
    return Findings(
        records,
        tuple(lesson_statistics(records, lesson) for lesson in records.lessons),
        tuple(exercises), tuple(misconceptions(records)), tuple(unrecognised(records)), tuple(faults(records)),
        () if anonymous else tuple(needs_help(records)), anonymous,
    )  # fmt: skip


def _without_names(outcome: Outcome, people: set[str]) -> Outcome:
    """What a learner's code brought about may name somebody."""
    reason = outcome.reason
    if reason is not None:
        reason = replace(reason, detail=scrubbed(reason.detail, people))
    findings = []
    for one in outcome.findings:
        difference, trouble = one.difference, one.trouble
        if difference is not None:
            difference = replace(difference, got=scrubbed(difference.got, people), detail=None)
        if trouble is not None:
            trouble = replace(trouble, message=scrubbed(trouble.message, people), line="")
        findings.append(replace(one, difference=difference, trouble=trouble, printed=""))
    return replace(outcome, reason=reason, findings=tuple(findings))


def under_codes(records: ClassRecords, root: Path) -> ClassRecords:
    """The same class with a code for each learner: the same one in each report of this course, in no order that tells.

    Messages lose the names of the class, notes go altogether.
    """
    key = _key(root)
    order = sorted(records.learners, key=lambda one: hashlib.sha256((key + one.id).encode("utf-8", "replace")).digest())
    width = max(2, len(str(len(order))))
    codes = {person.id: f"L{number:0{width}}" for number, person in enumerate(order, 1)}
    people = {word.lower() for name in records.names for word in re.findall(r"[^\W\d_]{3,}", name)}
    works = {}
    for (learner, lesson), work in records.works.items():
        exercises = tuple(_without_names(one, people) for one in work.verdict.exercises)
        # A file's name may name its learner in a way that no list of names knows.
        told = scrubbed(re.sub(r"^only .* came: ", "only another file came: ", work.problem), people)
        verdict = replace(work.verdict, learner=codes[learner], exercises=exercises)
        works[codes[learner], lesson] = replace(work, learner=codes[learner], verdict=verdict, problem=told)
    learners = tuple(sorted((Person(code) for code in codes.values()), key=lambda one: one.id))
    return replace(records, learners=learners, works=works, notes=())


def _key(root: Path) -> str:
    """The course's own secret, so that nobody computes a code from a name."""
    try:
        return str(json.loads((root / ".course" / "run.json").read_text(encoding="utf-8"))["key"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


SCHEMA = 2


_CONTROLS = dict.fromkeys({*range(32), *range(127, 160)} - {ord(sign) for sign in "\t\r\n"})
"""What a terminal would obey if the file is shown in one, none of which belongs into a table."""


def safe_cell(value: object) -> object:
    """A cell that no spreadsheet takes for a formula: text that begins like one gets an apostrophe in front."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return round(value, 4)
    if not isinstance(value, str):
        return value
    text = value.encode("utf-8", "backslashreplace").decode().translate(_CONTROLS)
    # Wide forms of the four signs as well: East Asian versions take them. Spaces do not protect.
    first = text.strip(" \ufeff\u200b\u00a0")[:1]
    return "'" + text if first and first in "=+-@\t\r\n＝＋－＠" else text


def tables(findings: Findings) -> dict[str, list[list[Any]]]:
    """File name -> rows, the first of which is the header."""
    records = findings.records
    slugs = [lesson.slug for lesson in records.lessons]
    long: list[list[Any]] = [
        ["learner", "lesson", "exercise", "status", "score", "max_score", "hints", "seconds", "problem"]
    ]
    for (learner, lesson), work in sorted(records.works.items()):
        if work.problem or not work.verdict.exercises:
            long.append([learner, lesson, "", "not graded" if work.problem else "", None, None, "", None, work.problem])
        long += [
            [learner, lesson, one.id, one.status, one.score, one.max_score, " ".join(one.hints), one.seconds, ""]
            for one in work.verdict.exercises
        ]
    wide: list[list[Any]] = [["learner", *slugs, "total", "late penalties", "waits for a manual mark"]]
    for person in records.learners:
        works = [records.works.get((person.id, slug)) for slug in slugs]
        graded = [work for work in works if work and not work.problem]
        scores = [None if work is None else "not graded" if work.problem else work.score for work in works]
        total = sum(work.score for work in graded)
        wide.append(
            [person.id, *scores, total, sum(w.penalty for w in graded), " ".join(w.lesson for w in graded if w.pending)]
        )
    data = as_data(findings, "")
    zeros: dict[str, Any] = dict.fromkeys(STATUSES, 0)
    fell = [{**one, "exercises": " ".join(one["exercises"])} for one in data["misconceptions"]]
    fell += [
        {"name": f"not recognised: {one['difference']}", "exercises": one["exercise"], "learners": one["learners"],
         "example_of": one["exercise"], "example": one["example"]}
        for one in data["unrecognised"]
    ]  # fmt: skip
    found = {
        "scores.csv": long,
        "learners.csv": wide,
        "hand_ins.csv": _table("learner lesson state late seconds_late late_penalty problem", data["hand_ins"]),
        "exercises.csv": _table(
            "lesson exercise title points learners answered passed pass_rate mean_share discrimination remark "
            "median_seconds longest_seconds", [{**zeros, **one["statuses"], **one} for one in data["exercises"]], STATUSES,
        ),
        "misconceptions.csv": _table("id name exercises learners of share read example_of example", fell),
    }  # fmt: skip
    if not findings.anonymous:
        found["needs_help.csv"] = _table(
            "learner urgency share reasons talk_about talk_to_first",
            [
                {**one, "reasons": "; ".join(one["reasons"]), "talk_about": "; ".join(one["talk_about"]),
                 "talk_to_first": one["first"]}
                for one in data["needs_help"]
            ],
        )  # fmt: skip
    return found


def _table(columns: str, rows: Iterable[Mapping[str, Any]], more: Sequence[str] = ()) -> list[list[Any]]:
    names = [*columns.split(), *more]
    return [names, *([row.get(name) for name in names] for row in rows)]


def _hand_ins(findings: Findings) -> list[dict[str, Any]]:
    """Of every learner and lesson what came; lessons that anybody handed in."""
    records, found = findings.records, []
    for person in records.learners:
        for lesson in records.lessons:
            work = records.works.get((person.id, lesson.slug), None)
            late = work is not None and work.late
            state = "nothing" if work is None else "not graded" if work.problem else "late" if late else "handed in"
            found.append({
                "learner": person.id, "lesson": lesson.slug, "state": state,
                "late": how_late(work.seconds_late, work.said_late, work.extended) if work is not None and late else "",
                "seconds_late": work.seconds_late if work else 0.0, "late_penalty": work.penalty if work else 0.0,
                "problem": work.problem if work else "",
            })  # fmt: skip
    return found


def as_data(findings: Findings, generated: str) -> dict[str, Any]:
    """What ``report.json`` holds; the module's docstring has the schema."""
    records = findings.records
    return {
        "schema": SCHEMA, "course": records.course, "generated": generated, "anonymous": findings.anonymous,
        "lessons": [
            {"lesson": one.lesson, "title": one.title, "max_score": one.max_score, "due": records.lesson(one.lesson).due,
             "handed_in": one.handed_in, "missing": one.missing, "ungraded": one.ungraded, "pending": one.pending,
             "late": one.late, "mean": one.mean, "median": one.median, "deviation": one.deviation,
             "quartiles": one.quartiles, "median_seconds": one.seconds, "peak_mb": one.peak_mb}
            for one in findings.lessons
        ],
        "exercises": [{**vars(one), "pass_rate": one.pass_rate} for one in findings.exercises],
        "scores": [
            {
                "learner": work.learner, "lesson": work.lesson,
                "score": None if work.problem else work.score, "max_score": records.lesson(work.lesson).max_score,
                "late_penalty": work.penalty, "pending": work.pending, "problem": work.problem,
                "exercises": {
                    one.id: {"status": one.status, "score": one.score, "max_score": one.max_score, "hints": one.hints}
                    for one in work.verdict.exercises
                },
            }
            for _, work in sorted(records.works.items())
        ],
        "hand_ins": _hand_ins(findings),
        "misconceptions": [
            {"id": one.hint.id, "name": one.hint.name, "exercises": one.exercises, "learners": len(one.learners), "of": one.of,
             "share": one.share, "read": one.hint.read, "example": one.example, "example_of": one.example_of}
            for one in findings.misconceptions
        ],
        "unrecognised": [{**vars(one), "learners": len(one.learners)} for one in findings.unrecognised],
        "faults": [vars(one) for one in findings.faults],
        "needs_help": [vars(one) for one in findings.needy],
    }  # fmt: skip


def write_files(out: Path, findings: Findings, generated: str, excel: bool = False) -> None:
    """Write the CSV files and ``report.json``, each whole or not at all. Raises OSError."""
    for name, rows in tables(findings).items():
        replace_file(out / name, csv_of(rows, excel))
    replace_file(
        out / "report.json", json.dumps(as_data(findings, generated), indent=1, ensure_ascii=False, allow_nan=False)
    )


def csv_of(rows: Iterable[Sequence[object]], excel: bool = False) -> bytes:
    """Rows as CSV with LF line ends; ``excel``: with the mark at the beginning that Excel needs to read UTF-8."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([safe_cell(cell) for cell in row] for row in rows)
    return text.getvalue().encode("utf-8-sig" if excel else "utf-8", "backslashreplace")
