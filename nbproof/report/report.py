"""The report of a class: one HTML file that needs no network, with the same as CSV and JSON beside it."""

from __future__ import annotations

import base64
import datetime
import hashlib
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from nbproof.cells import is_made_up
from nbproof.command import module_name
from nbproof.course_file import the_course
from nbproof.errors import CourseError, disk_trouble
from nbproof.feedback.own_code import harmless
from nbproof.files import replace_file
from nbproof.front_end import prose
from nbproof.gradebook.marks import ClassResults
from nbproof.nbgrader_setup import course_config
from nbproof.report.findings import tables, write_files
from nbproof.report.statistics import how_late, titles_of
from nbproof.values.results import Status

__all__ = ["html_of", "make_report"]

_PAGES = Path(__file__).parent / "templates"


def make_report(
    root: Path,
    results: ClassResults,
    folder: Path,
    files: Mapping[str, bytes],
    excel: bool = False,
    names: Sequence[str] = (),
) -> dict[str, list[dict[str, Any]]]:
    """Write ``index.html``, CSV files, ``report.json``, and these ``files`` into a folder. Raises CourseError.

    ``names``: the lessons that it is about, if not about all; its title names them.
    """
    made = tables(results)
    course = _called(root)
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
        write_files(folder, head, made, excel)
        for name, data in files.items():
            replace_file(folder / name, data)
    return made


def _called(root: Path) -> str:
    """What the course is called: as its course.toml says it, else as nbgrader knows it, else as its folder."""
    told = the_course()
    return told.says if told.says != told.name else course_config(root).CourseDirectory.get("course_id") or told.name


def html_of(results: ClassResults, made: Mapping[str, Any], course: str, generated: str) -> str:
    """The report as one HTML page. ``made``: its tables. ``generated``: the time, as the page shows it."""
    surroundings = Environment(
        loader=FileSystemLoader(_PAGES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    surroundings.filters |= {"harmless": harmless, "prose": lambda text: _markup(prose(text))}
    surroundings.globals["how_late"] = how_late
    surroundings.tests["made_up"] = is_made_up
    titles = {lesson.slug: titles_of(results, lesson.slug) for lesson in results.lessons}
    script = (_PAGES / "report.js").read_text(encoding="utf-8")
    shares = [mark.share for mark in results.marks.values() if mark.max_score and not mark.problem]
    return surroundings.get_template("report.html.j2").render(
        **made,
        results=results,
        titles=titles,
        title_of={name: title for one in titles.values() for name, title in one.items()},
        course=course,
        generated=generated,
        module=module_name(),
        called={person.id: person.called for person in results.people},
        css=_markup((_PAGES / "report.css").read_text(encoding="utf-8")),
        script=_markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        class_mean=statistics.fmean(shares) if shares else None,
        statuses=tuple(Status),
        most=sum(lesson.max_score for lesson in results.lessons),
        files=[*(f"{name}.csv" for name in made), "report.json"],
    )


def _markup(text: str) -> Markup:
    return Markup(text)  # noqa: S704  (our own style sheet and script)
