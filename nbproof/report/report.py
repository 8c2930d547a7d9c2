"""The report of a class: one HTML file that needs no network, with the same as CSV and JSON beside it."""

from __future__ import annotations

import base64
import datetime
import hashlib
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from nbproof.command import module_name
from nbproof.errors import CourseError
from nbproof.feedback.own_code import harmless
from nbproof.files import replace_file
from nbproof.front_end import prose
from nbproof.report.charts import score_chart, status_chart
from nbproof.report.findings import Findings, find, tables, under_codes, write_files
from nbproof.report.lateness import how_late
from nbproof.report.records import ClassRecords, Person
from nbproof.report.statistics import FEWEST_FOR_DISCRIMINATION

__all__ = ["folder_of", "html_of", "make_report"]

_PAGES = Path(__file__).parent / "templates"


def make_report(
    root: Path,
    records: ClassRecords,
    folder: Path,
    *,
    anonymous: bool = False,
    excel: bool = False,
) -> Findings:
    """Write ``index.html``, CSV files and ``report.json`` into a folder. Raises CourseError."""
    from nbproof.display.lab import let_matplotlib_write

    let_matplotlib_write(root)
    if anonymous:
        records = under_codes(records, root)
    findings = find(records, anonymous)
    now = datetime.datetime.now(datetime.UTC).astimezone()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / "index.html", html_of(findings, f"{now:%d %B %Y, %H:%M}"))
        write_files(folder, findings, now.isoformat(timespec="seconds"), excel)
    except OSError as error:
        raise CourseError(
            f"the report cannot be written: {error.strerror}",
            str(error.filename or folder),
            "choose a place: --out DIR",
        ) from None
    return findings


def folder_of(root: Path, out: Path | None, anonymous: bool) -> Path:
    """Where a report goes. One for showing never replaces the instructor's."""
    return out if out is not None else root / ("report-anonymous" if anonymous else "report")


def html_of(findings: Findings, generated: str) -> str:
    """The report as one HTML page. ``generated``: the time, as the page shows it."""
    surroundings = Environment(
        loader=FileSystemLoader(_PAGES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    surroundings.filters["harmless"] = harmless
    surroundings.filters["short"] = _short
    surroundings.filters["prose"] = lambda text: _markup(prose(text))
    records = findings.records
    script = (_PAGES / "report.js").read_text(encoding="utf-8")
    works = [work for work in records.works.values() if not work.problem]
    shares = [work.share for work in works if work.max_score]
    serious = [one for one in findings.faults if one.kind != "recovered"]
    return surroundings.get_template("report.html.j2").render(
        found=findings, generated=generated, module=module_name(),
        called={person.id: person.called for person in records.learners},
        css=_markup((_PAGES / "report.css").read_text(encoding="utf-8")),
        script=_markup(script), script_hash=_hash(script), graded=len(works), ungraded=len(records.ungraded()),
        pending=sum(work.pending for work in works), class_mean=sum(shares) / len(shares) if shares else None,
        fewest=FEWEST_FOR_DISCRIMINATION,
        titles={one.id: one.title for lesson in records.lessons for one in lesson.exercises},
        by_lesson={
            lesson.slug: [one for one in findings.exercises if one.lesson == lesson.slug] for lesson in records.lessons
        },
        score_charts={
            one.lesson: _markup(score_chart(one.scores, one.max_score, one.median or 0.0, one.title, f"scores{number}"))
            for number, one in enumerate(findings.lessons) if one.scores
        },
        status_charts=_status_charts(findings), serious=serious,
        recovered=[one for one in findings.faults if one.kind == "recovered"],
        late={one.lesson: [w for w in records.of_lesson(one.lesson) if w.late] for one in findings.lessons}, how_late=how_late,
        learners=[_row(records, person) for person in records.learners],
        files=sorted([*tables(findings), "report.json"]),
    )  # fmt: skip


def _markup(text: str) -> Markup:
    return Markup(text)  # noqa: S704  (our own style sheet, script and pictures)


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _short(value: float, digits: int = 1) -> str:
    """At most so many decimals, and no zeros at the end."""
    text = f"{value:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


def _status_charts(findings: Findings) -> dict[str, Any]:
    charts = {}
    for number, lesson in enumerate(findings.lessons):
        rows = [(one.exercise, one.statuses) for one in findings.exercises if one.lesson == lesson.lesson]
        if rows:
            charts[lesson.lesson] = _markup(status_chart(rows, lesson.title, f"ended{number}"))
    return charts


def _row(records: ClassRecords, person: Person) -> dict[str, Any]:
    cells, total = [], 0.0
    for lesson in records.lessons:
        work = records.works.get((person.id, lesson.slug))
        if work is None or work.problem:
            cells.append("–" if work is None else "!")
            continue
        total += work.score
        cells.append(_short(work.score, 2) + ("*" if work.pending else ""))
    most = sum(lesson.max_score for lesson in records.lessons)
    return {"shown": person.id, "cells": cells, "total": total, "share": total / most if most else 0.0}
