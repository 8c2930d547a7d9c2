"""A simulated class: each learner's answers are drawn from the accepted answers and the mutants.

Where nobody has handed in anything it is graded as a course of its own in ``demo/``, so that nothing of it ever meets the real
one. Every run looks whether it is there: what reads lessons is slow to import, and waits until a class is made up.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nbproof.course_file import Course
from nbproof.lesson.from_notebook import name_of, read_notebook

if TYPE_CHECKING:
    import nbformat

    from nbproof.lesson.lesson import Candidate, Exercise

__all__ = [
    "DEMO",
    "LEARNERS",
    "Learner",
    "as_handed_in",
    "hand_in",
    "prepare_demo",
    "simulate_class",
]

DEMO = "demo"
"""The folder, beside the real ``submitted/``; ``--course demo`` leads every command there."""


@dataclass(frozen=True)
class Learner:
    """``skill``: how often an answer is right. ``effort``: how often an exercise is tried at all."""

    name: str
    skill: float
    effort: float


LEARNERS = (
    Learner("ada", 1.0, 1.0),
    Learner("ben", 0.9, 1.0),
    Learner("chloe", 0.75, 0.95),
    Learner("deniz", 0.6, 0.95),
    Learner("emeka", 0.45, 0.8),
    Learner("farah", 0.25, 0.7),
    Learner("goro", 0.0, 1.0),
    Learner("hanna", 0.0, 0.0),
)


def hand_in(release: Path, answers: Mapping[str, str]) -> nbformat.NotebookNode:
    """The released notebook with these TODO cells (grade_id -> text) filled in, as a learner saves it."""
    import nbformat

    notebook = nbformat.from_dict(read_notebook(release.read_bytes()))
    for cell in notebook.cells:
        if name_of(cell) in answers:
            cell["source"] = answers[name_of(cell)]
    return notebook


def simulate_class(course: Course, root: Path, lessons: list[str], into: Path | None = None) -> list[Path]:
    """Write ``submitted/<learner>/<lesson>/<lesson>.ipynb`` for every learner, always the same; returns the files.

    ``into``: the folder that holds ``submitted/``, if it is not the course's own.
    """
    import nbformat

    from nbproof.lesson.from_text import find_lessons, read_lesson

    written = []
    for folder in find_lessons(root, lessons):
        lesson = read_lesson(course, folder)
        release = root / "release" / lesson.slug / f"{lesson.slug}.ipynb"
        for learner in LEARNERS:
            chance = random.Random(f"0/{learner.name}/{lesson.slug}")
            drawn = {exercise.id: _draw(exercise, learner, chance) for exercise in lesson.exercises}
            answers = {name: as_handed_in(candidate) for name, candidate in drawn.items() if candidate is not None}
            path = (into or root) / "submitted" / learner.name / lesson.slug / f"{lesson.slug}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(hand_in(release, answers), path)
            written.append(path)
    return written


def _draw(exercise: Exercise, learner: Learner, chance: random.Random) -> Candidate | None:
    """What this learner hands in; None for the untouched stub."""
    if chance.random() >= learner.effort:
        return None
    right = [one for one in exercise.candidates if one.role in ("reference", "accepted")]
    wrong = [one for one in exercise.candidates if one.role == "mutant"]
    handed_in = right if chance.random() < learner.skill or not wrong else wrong
    return chance.choice(handed_in)


def as_handed_in(candidate: Candidate) -> str:
    """The answer's text, without the lines of a mutant that name its misconception and what it breaks."""
    return candidate.bare.strip("\n")


def prepare_demo(course: Course, root: Path) -> Path:
    """The folder of the demo, with the lessons as they are now. Learners hand in each lesson that is new there, or another."""
    demo = root / DEMO
    lessons = sorted(path.parent.name for path in root.glob("lessons/*/lesson.py"))
    if any(demo.glob("submitted/*/*/*.ipynb")):
        lessons = [lesson for lesson in lessons if _released(root, lesson) != _released(demo, lesson)]
    for name in ("source", "release"):
        shutil.rmtree(demo / name, ignore_errors=True)
        shutil.copytree(root / name, demo / name)
    for config in root.glob("nbgrader_config.*"):
        shutil.copyfile(config, demo / config.name)
    if lessons:
        simulate_class(course, root, lessons, into=demo)
    return demo


def _released(root: Path, lesson: str) -> bytes:
    """The notebook that learners get; nothing if it is not there."""
    path = root / "release" / lesson / f"{lesson}.ipynb"
    return path.read_bytes() if path.is_file() else b""
