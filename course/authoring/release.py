"""What learners are handed: whether the derived notebooks are fresh, and hold nothing that learners must not see."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat

from course.authoring.build import build
from course.authoring.lesson import Lesson
from course.authoring.outlining import outline_of, read_outline
from course.authoring.regions import private_lines
from course.command import course_command
from course.grading.written import HEADER
from course.nbgrader_setup import course_config

__all__ = ["Violation", "check_release", "leaks", "unasked"]


@dataclass(frozen=True)
class Violation:
    """One broken clause of the author contract: fact, place and next command."""

    fact: str
    place: str
    next_command: str


def check_release(root: Path, lessons: list[Lesson]) -> list[Violation]:
    """What is wrong with the derived notebooks: stale, or holding what learners must not see."""
    course_config(root)  # raises here, and not in the scratch course, where there is no configuration
    found = _orphans(root)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name).resolve()
        (scratch / "lessons").symlink_to(root.resolve() / "lessons")
        (scratch / "nbgrader_config.py").symlink_to(root.resolve() / "nbgrader_config.py")
        if lessons:
            build(scratch, [lesson.slug for lesson in lessons], say=lambda line: None)
        for lesson in lessons:
            notebook = f"{lesson.slug}.ipynb"
            for step in ("source", "release"):
                here, fresh = root / step / lesson.slug / notebook, scratch / step / lesson.slug / notebook
                if not here.exists():
                    found.append(Violation(f"{step}/{lesson.slug} is missing", str(here), "make build"))
                elif here.read_bytes() != fresh.read_bytes():
                    found.append(Violation(f"{step}/{lesson.slug} is outdated", str(here), "make build"))
                found += _extras(root / step / lesson.slug, notebook)
            release = root / "release" / lesson.slug / notebook
            if release.exists():
                found += leaks(lesson, release)
            found += unasked(lesson)
    found += _stale_outline(root, lessons)
    return found


_EFFORT = re.compile(r"(?P<minutes>\d+) min · (?P<points>[\d.]+) points?$")


def unasked(lesson: Lesson) -> Iterator[Violation]:
    """A written answer needs its question right above it, with the points that it brings."""
    for before, cell in zip(lesson.cells, lesson.cells[1:], strict=False):
        if cell.kind != "written":
            continue
        header = list(HEADER.finditer(before.source)) if before.kind == "prose" else []
        asked = before.source[header[-1].end() :].strip() if header else ""
        effort = _EFFORT.match(asked.partition("\n")[0])
        if effort is None or float(effort["points"]) != cell.points or asked.count("\n") < 2:
            yield Violation(
                f"{cell.grade_id}: nothing right above it asks for it, and says that it brings {cell.points:g} points",
                cell.place,
                f"begin the text above with '### In your own words: <title>' and '5 min · {cell.points:g} points'",
            )


def _stale_outline(root: Path, lessons: list[Lesson]) -> Iterator[Violation]:
    """Where the lessons stand beside the package, its outline must be theirs."""
    path = root / "course" / "outline.json"
    if (root / "course" / "__init__.py").exists():
        known = read_outline(root)
        for lesson in lessons:
            if known.get(lesson.slug) != outline_of(lesson):
                yield Violation(f"course/outline.json is outdated about {lesson.slug}", str(path), "make build")
        for slug in known:
            if not (root / "lessons" / slug / "lesson.py").exists():
                yield Violation(f"course/outline.json knows {slug}, which is no lesson", str(path), "make build")


def _orphans(root: Path) -> list[Violation]:
    """Folders in source/ and release/ whose lesson is gone, or was renamed."""
    found = []
    for step in ("source", "release"):
        for folder in sorted((root / step).glob("*")):
            if not folder.name.startswith(".") and not (root / "lessons" / folder.name / "lesson.py").exists():
                found.append(
                    Violation(f"{step}/{folder.name} is made from no lesson", str(folder), f"git rm -r {folder}")
                )
    return found


def _extras(folder: Path, notebook: str) -> Iterator[Violation]:
    for extra in sorted(folder.glob("*")):
        if extra.name not in (notebook, ".ipynb_checkpoints"):
            yield Violation(
                "learners would get this file as well: nbgrader hands out the whole folder",
                str(extra),
                f"move it out of {folder.parent.name}/",
            )


def leaks(lesson: Lesson, release: Path) -> Iterator[Violation]:
    """What a released notebook shows of the lesson's solutions and hidden tests, and what else it should not carry."""
    notebook = nbformat.read(release, as_version=4)
    place, again = str(release), f"make build, then {course_command(f'check {lesson.slug}')}"
    if "jupytext" in notebook.metadata:
        yield Violation("the release carries a jupytext key", place, again)
    regions = [private_lines(cell.source) for cell in lesson.cells]
    # A line such as "return output" may stand in a solution and in plain sight as well.
    private = set().union(*(hidden for _, hidden in regions)).difference(*(public for public, _ in regions))
    for cell in notebook.cells:
        if cell.get("outputs"):
            yield Violation("the release carries an output", place, again)
        for line in map(str.strip, cell.source.splitlines()):
            if len(line) > 3 and line in private:
                yield Violation(f"the release shows a private line: {line[:80]}", place, again)
