"""What learners are handed: whether the derived notebooks are fresh, and hold nothing that learners must not see."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat

from nbproof.authoring.build import derive
from nbproof.authoring.exercise_folder import FILES
from nbproof.authoring.headings import amiss
from nbproof.authoring.hinting import refuse_bad_hints
from nbproof.authoring.lesson import Lesson
from nbproof.cells import private_lines
from nbproof.command import course_command
from nbproof.errors import LessonError, Violation
from nbproof.nbgrader_setup import course_config

__all__ = ["check_release", "leaks"]


def check_release(root: Path, lessons: list[Lesson]) -> list[Violation]:
    """What is wrong with the derived notebooks and the prose: stale, misleading, or holding what learners must not see."""
    course_config(root)  # raises here, and not in the scratch course, where there is no configuration
    refuse_bad_hints(root / "lessons")
    found: list[Violation] = []
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name).resolve()
        try:
            derive(root, lessons, scratch, lambda line: None)
        except LessonError as error:
            return [Violation(error.fact, error.place, error.next_command)]
        for lesson in lessons:
            mine = [*_stale(root, lesson, scratch), *_extras(root, lesson)]
            release = root / "release" / lesson.slug / f"{lesson.slug}.ipynb"
            if release.exists():
                mine += leaks(lesson, release)
            mine += amiss(lesson)
            found += mine
    return found


def _stale(root: Path, lesson: Lesson, scratch: Path) -> Iterator[Violation]:
    for step in ("source", "release"):
        place = Path(step, lesson.slug, f"{lesson.slug}.ipynb")
        if not (root / place).exists():
            yield Violation(f"{step}/{lesson.slug} is missing", str(root / place), course_command("build"))
        elif (root / place).read_bytes() != (scratch / place).read_bytes():
            yield Violation(f"{step}/{lesson.slug} is outdated", str(root / place), course_command("build"))


def _extras(root: Path, lesson: Lesson) -> Iterator[Violation]:
    beside = [path.name for path in lesson.files.iterdir()] if lesson.files else []
    for step in ("source", "release"):
        for extra in sorted((root / step / lesson.slug).glob("*")):
            if extra.name not in (f"{lesson.slug}.ipynb", ".ipynb_checkpoints", *beside):
                yield Violation(
                    "learners would get this file as well: nbgrader hands out the whole folder",
                    str(extra),
                    f"move it out of {step}/, or, if they should, to {lesson.path.parent / FILES}",
                )


def leaks(lesson: Lesson, release: Path) -> Iterator[Violation]:
    """What a released notebook shows of the lesson's solutions and hidden tests, and what else it should not carry."""
    notebook = nbformat.read(release, as_version=4)
    place, again = str(release), f"{course_command('build')}, then {course_command(f'check {lesson.slug}')}"
    regions = [private_lines(cell.source) for cell in lesson.cells]
    # A line such as "return output" may stand in a solution and in plain sight as well.
    private = set().union(*(hidden for _, hidden in regions)).difference(*(public for public, _ in regions))
    for cell in notebook.cells:
        if cell.get("outputs"):
            yield Violation("the release carries an output", place, again)
        for line in map(str.strip, cell.source.splitlines()):
            if len(line) > 3 and line in private:
                yield Violation(f"the release shows a private line: {line[:80]}", place, again)
