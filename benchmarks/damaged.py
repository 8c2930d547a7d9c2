"""A class of 300 damaged submissions, each beside its sound twin: ``python -m benchmarks.damaged [--submissions N]``.

Answers are drawn from accepted answers and mutants, every kind of damage comes several times, also two at a time, over
all lessons. One run of ``grade_class`` with one seed grades all. Then: every recoverable submission has the marks of
its twin, exercise by exercise, or waits for a person, if the damage leaves nobody certain of what is whose; every
other one, and every exercise that is gone, is listed with a reason.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from nbproof.authoring.simulate import as_handed_in, hand_in
from nbproof.cli.grade_command import watching
from nbproof.course_file import read_course
from nbproof.gradebook.marks import Mark
from nbproof.lesson.from_notebook import text_of
from nbproof.lesson.from_text import find_lessons, read_lesson
from nbproof.lesson.lesson import Lesson
from nbproof.run.batch import grade_class
from nbproof.run.intake import take_in
from nbproof.values.results import Status
from tests.damage import KINDS, WAITS, Damage, damaged

ROOT = Path(__file__).parent.parent
COURSE = read_course(ROOT / "course")


@dataclass(frozen=True)
class Made:
    """One damaged submission; its sound twin is called the same, with ``twin`` for ``made``."""

    learner: str
    lesson: str
    kinds: tuple[str, ...]
    damage: Damage

    @property
    def twin(self) -> str:
        """The learner who handed in the same answers, undamaged."""
        return self.learner.replace("made", "twin")


def make_class(root: Path, count: int, seed: int) -> list[Made]:
    """Write the submissions and their twins below ``root``."""
    lessons = [read_lesson(COURSE, folder) for folder in find_lessons(root, [])]
    kinds = list(KINDS)
    made = []
    for number in range(count):
        chance = random.Random(f"{seed}/{number}")
        lesson = lessons[number % len(lessons)]
        chosen = [kinds[number % len(kinds)]]
        if number >= 2 * len(kinds):
            chosen.append(chance.choice([name for name in kinds if KINDS[name].of != KINDS[chosen[0]].of]))
        notebook = _answered(root, lesson, chance)
        release = json.loads(_release(root, lesson).read_text(encoding="utf-8"))
        one = Made(f"made{number:03}", lesson.slug, tuple(chosen), damaged(notebook, chosen, release, seed))
        folder = root / "submitted" / one.learner / lesson.slug
        path = folder / one.damage.path.format(lesson=lesson.slug)
        path.parent.mkdir(parents=True)
        path.write_bytes(one.damage.data)
        twin = root / "submitted" / one.twin / lesson.slug / f"{lesson.slug}.ipynb"
        twin.parent.mkdir(parents=True)
        twin.write_text(json.dumps(notebook), encoding="utf-8")
        made.append(one)
    return made


def _release(root: Path, lesson: Lesson) -> Path:
    return root / "release" / lesson.slug / f"{lesson.slug}.ipynb"


def _answered(root: Path, lesson: Lesson, chance: random.Random) -> dict[str, Any]:
    answers = {
        one.id: as_handed_in(chance.choice([c for c in one.candidates if c.role != "stub"]))
        for one in lesson.exercises
        if chance.random() < 0.9
    }
    notebook: dict[str, Any] = json.loads(nbformat.writes(hand_in(_release(root, lesson), answers)))
    return {**notebook, "cells": [{**cell, "source": text_of(cell)} for cell in notebook["cells"]]}


def faults_of(made: Made, scores: dict[tuple[str, str], Mark]) -> list[str]:
    """What is not as it should be."""
    got, twin = scores[made.learner, made.lesson], scores[made.twin, made.lesson]
    if made.damage.refused:
        return [] if got.problem else [f"graded, {got.score:g} marks, although nothing of it can be"]
    if got.problem:
        return [f"not graded: {got.problem}"]
    wanted = {one.id: one for one in twin.verdict.exercises}
    found, lost = [], got.verdict.lost
    for one in got.verdict.exercises:
        if one.id in made.damage.lost:
            if one.score or one.id not in lost:
                found.append(f"{one.id} is gone, and has {one.score:g} marks, reason {lost.get(one.id)!r}")
        elif one.status == Status.UNCERTAIN:
            if one.score or one.id not in lost or not WAITS & set(made.kinds):
                found.append(f"{one.id} waits for a person, with {one.score:g} marks: {lost.get(one.id)}")
        elif one.score != wanted[one.id].score:
            found.append(
                f"{one.id}: {one.score:g} marks ({one.status}), its twin {wanted[one.id].score:g} "
                f"({wanted[one.id].status}); {got.verdict.recovered.get(one.id) or lost.get(one.id)}"
            )
    return found


def main() -> int:
    """Make, grade, compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.damaged", description=__doc__)
    parser.add_argument("--submissions", type=int, default=300, help="damaged ones; each has a twin (default: 300)")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--keep", type=Path, help="a folder to work in, which stays")
    arguments = parser.parse_args()
    root = arguments.keep or Path(tempfile.mkdtemp(prefix="damaged-"))
    root.mkdir(parents=True, exist_ok=True)
    for name in ("source", "release", "lessons"):
        shutil.copytree(ROOT / name, root / name)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    start = time.perf_counter()
    made = make_class(root, arguments.submissions, arguments.seed)
    lessons = sorted({one.lesson for one in made})
    print(f"{len(made)} damaged submissions, {len({k for one in made for k in one.kinds})} kinds of damage, "
          f"made in {time.perf_counter() - start:.0f} s: {root}")  # fmt: skip
    start = time.perf_counter()
    intake = take_in(COURSE, root, lessons)
    with watching() as watch:
        graded = grade_class(COURSE, root, intake, lessons, seed=arguments.seed, workers=arguments.workers, watch=watch)
    seconds = time.perf_counter() - start
    scores = {(score.learner, score.lesson): score for score in graded.marks.values()}
    wrong = 0
    for one in made:
        for fault in faults_of(one, scores):
            wrong += 1
            print(f"WRONG {one.learner}/{one.lesson} ({' + '.join(one.kinds)}): {fault}")
    waiting = {
        one: count for one in made
        if (count := sum(exercise.status == Status.UNCERTAIN for exercise in scores[one.learner, one.lesson].verdict.exercises))
    }  # fmt: skip
    refused = [one for one in made if one.damage.refused]
    told = Counter(bool(scores[one.learner, one.lesson].problem) for one in refused)
    compared = sum(len(scores[one.learner, one.lesson].verdict.exercises) for one in made)
    print(f"{len(scores)} submissions graded in {seconds:.0f} s, seed {graded.seed}")
    print(f"recoverable: {len(made) - len(refused)}, {compared} exercises compared with their twins'; wrong: {wrong}")
    print(f"waiting for a person: {sum(waiting.values())} exercises of {len(waiting)} submissions")
    for one, count in waiting.items():
        print(f"  {count} of {one.learner}/{one.lesson} ({' + '.join(one.kinds)})")
    print(f"not gradable: {len(refused)}, refused with a reason: {told[True]}")
    if not arguments.keep:
        shutil.rmtree(root)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
