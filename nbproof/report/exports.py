"""The report as files: CSV for spreadsheets, JSON for programs.

``report.json``, schema version 1::

    {"schema": 1, "course": str, "generated": ISO time, "anonymous": bool,
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
     "needs_help": [{"learner", "urgency", "share", "reasons", "talk_about", "signs", "first"}],   # most urgent first
     "near_copies": [{"lesson", "first", "second", "probability", "bits", "near", "both_answered",
                      "exercises": [{"exercise", "bits", "similarity", "verbatim", "as_near"}]}]}

Scores are with manual marks and less the late penalty. A key may be added without a new version.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nbproof.files import replace_file
from nbproof.marking.results import STATUSES
from nbproof.report.attendance import how_late
from nbproof.report.findings import Findings
from nbproof.report.statistics import ExerciseStatistics, LessonStatistics

__all__ = ["SCHEMA", "as_data", "safe_cell", "tables", "write_file", "write_files"]

SCHEMA = 1


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
    text = value.encode("utf-8", "backslashreplace").decode().replace("\0", "")
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
    exercises: list[list[Any]] = [
        ["lesson", "exercise", "title", "points", "learners", "answered", "passed", "pass_rate", "mean_share",
         "discrimination", "remark", "median_seconds", "longest_seconds", *STATUSES],
    ]  # fmt: skip
    exercises += [
        [one.lesson, one.exercise, one.title, one.points, one.learners, one.answered, one.passed, one.pass_rate,
         one.mean_share, one.discrimination, one.remark, one.median_seconds, one.longest_seconds,
         *(one.statuses.get(status, 0) for status in STATUSES)]
        for one in findings.exercises
    ]  # fmt: skip
    fell: list[list[Any]] = [["id", "name", "exercises", "learners", "of", "share", "read", "example_of", "example"]]
    fell += [
        [one.id, one.name, " ".join(one.exercises), len(one.learners), one.of, one.share, one.read, one.example_of, one.example]
        for one in findings.misconceptions
    ]  # fmt: skip
    fell += [
        ["", f"not recognised: {one.difference}", one.exercise, len(one.learners), None, None, "", one.exercise, one.example]
        for one in findings.unrecognised
    ]  # fmt: skip
    came: list[list[Any]] = [["learner", "lesson", "state", "late", "seconds_late", "late_penalty", "problem"]]
    came += [list(one.values()) for one in _hand_ins(findings)]
    found = {
        "scores.csv": long,
        "learners.csv": wide,
        "hand_ins.csv": came,
        "exercises.csv": exercises,
        "misconceptions.csv": fell,
    }
    if not findings.anonymous:
        copies: list[list[Any]] = [
            ["lesson", "first", "second", "probability", "bits", "near_answers", "both_answered", "most_telling"]
        ]
        copies += [
            [one.lesson, one.first, one.second, one.probability, one.bits, one.near, one.both_answered,
             " ".join(item.exercise for item in one.evidence[:3] if item.bits > 0)]
            for one in findings.pairs
        ]  # fmt: skip
        needy: list[list[Any]] = [["learner", "urgency", "share", "reasons", "talk_about", "talk_to_first"]]
        needy += [
            [one.learner, one.urgency, one.share, "; ".join(one.reasons), "; ".join(one.talk_about), one.first]
            for one in findings.needy
        ]
        found |= {"near_copies.csv": copies, "needs_help.csv": needy}
    return found


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
                "late": how_late(work.seconds_late, work.said_late) if work is not None and late else "",
                "seconds_late": work.seconds_late if work else 0.0, "late_penalty": work.penalty if work else 0.0,
                "problem": work.problem if work else "",
            })  # fmt: skip
    return found


def as_data(findings: Findings, generated: str) -> dict[str, Any]:
    """What ``report.json`` holds; the module's docstring has the schema."""
    records = findings.records
    return {
        "schema": SCHEMA, "course": records.course, "generated": generated, "anonymous": findings.anonymous,
        "lessons": [_lesson(one, records.lesson(one.lesson).due) for one in findings.lessons],
        "exercises": [_exercise(one) for one in findings.exercises],
        "scores": [
            {
                "learner": work.learner, "lesson": work.lesson,
                "score": None if work.problem else work.score, "max_score": records.lesson(work.lesson).max_score,
                "late_penalty": work.penalty, "pending": work.pending, "problem": work.problem,
                "exercises": {
                    one.id: {"status": one.status, "score": one.score, "max_score": one.max_score, "hints": list(one.hints)}
                    for one in work.verdict.exercises
                },
            }
            for _, work in sorted(records.works.items())
        ],
        "hand_ins": _hand_ins(findings),
        "misconceptions": [
            {"id": one.id, "name": one.name, "exercises": list(one.exercises), "learners": len(one.learners), "of": one.of,
             "share": one.share, "read": one.read, "example": one.example, "example_of": one.example_of}
            for one in findings.misconceptions
        ],
        "unrecognised": [{**vars(one), "learners": len(one.learners)} for one in findings.unrecognised],
        "faults": [vars(one) for one in findings.faults],
        "needs_help": [
            {**vars(one), "reasons": list(one.reasons), "talk_about": list(one.talk_about), "signs": list(one.signs)}
            for one in findings.needy
        ],
        "near_copies": [
            {"lesson": one.lesson, "first": one.first, "second": one.second, "probability": one.probability,
             "bits": one.bits, "near": one.near, "both_answered": one.both_answered,
             "exercises": [vars(item) for item in one.evidence]}
            for one in findings.pairs
        ],
    }  # fmt: skip


def _lesson(one: LessonStatistics, due: str) -> Mapping[str, Any]:
    return {
        "lesson": one.lesson, "title": one.title, "max_score": one.max_score, "due": due, "handed_in": one.handed_in,
        "missing": list(one.missing), "ungraded": one.ungraded, "pending": one.pending, "late": one.late, "mean": one.mean,
        "median": one.median, "deviation": one.deviation, "quartiles": list(one.quartiles) if one.quartiles else None,
        "median_seconds": one.seconds, "peak_mb": one.peak_mb,
    }  # fmt: skip


def _exercise(one: ExerciseStatistics) -> Mapping[str, Any]:
    return {**vars(one), "statuses": dict(one.statuses), "pass_rate": one.pass_rate}


def write_files(out: Path, findings: Findings, generated: str, excel: bool = False) -> list[Path]:
    """Write the CSV files and ``report.json``; ``excel``: with the mark at the beginning that Excel needs to read UTF-8."""
    written = [
        write_file(out / name, csv_text(rows), "utf-8-sig" if excel else "utf-8")
        for name, rows in tables(findings).items()
    ]
    text = json.dumps(as_data(findings, generated), indent=1, ensure_ascii=False, allow_nan=False)
    return [*written, write_file(out / "report.json", text.encode("utf-8", "backslashreplace").decode())]


def csv_text(rows: Iterable[Sequence[object]], delimiter: str = ",", safe: bool = True) -> str:
    """Rows as CSV with LF line ends."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerows([safe_cell(cell) if safe else cell for cell in row] for row in rows)
    return text.getvalue()


def write_file(path: Path, text: str, encoding: str = "utf-8") -> Path:
    """Write a file whole or not at all, and return where. Raises OSError, and then leaves nothing behind."""
    replace_file(path, text.encode(encoding))
    return path
