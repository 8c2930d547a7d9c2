"""Does a right answer pass whatever the seed is? Each reference, and some accepted answers, against many seeds.

    python -m benchmarks.seeds [--seeds N] [--first N] [--accepted N] [LESSON ...]

Grading draws a fresh seed for every run, so one that a right answer fails on is a wrong mark some day: an order of
summation that float32 does not forgive, a random input on which two values happen to be equal.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console

from course import checking
from course.authoring.lesson import Exercise, Lesson, find_lessons, read_lesson
from course.reporting.table import progress

ROOT = Path(__file__).parent.parent


def failures(lesson: Lesson, exercise: Exercise, answer: str, seeds: Iterable[int]) -> list[tuple[int, str]]:
    """(seed, what was wrong) of each seed on which this right answer does not pass every check, hidden ones included."""
    position = lesson.cells.index(exercise.answer)
    space: dict[str, object] = {"__name__": "__main__"}
    tests = [compile(cell.source, f"<{exercise.id}>", "exec") for cell in exercise.tests]
    found = []
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for source in [*(cell.source for cell in lesson.cells[:position] if cell.kind == "setup"), answer]:
            exec(source, space)
        for seed in seeds:
            # Test cells see the learner's names and keep their own.
            with checking.collecting(seed, space) as findings:
                for test in tests:
                    exec(test, dict(space))
            wrong = next((one for one in findings if not one.passed), None)
            if wrong is not None:
                found.append((seed, f"{wrong.check}: {wrong.sentence}"))
    return found


def main() -> int:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help="default: all")
    parser.add_argument("--seeds", type=int, default=100, help="how many (default: 100)")
    parser.add_argument("--first", type=int, default=1_000, help="the first seed (default: 1000)")
    parser.add_argument("--accepted", type=int, default=0, help="accepted answers of each exercise (default: 0)")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.seeds)
    say = Console(highlight=False).print
    work = []
    for folder in find_lessons(ROOT, asked.lessons):
        lesson = read_lesson(folder)
        for exercise in lesson.exercises:
            right = [one for one in exercise.candidates if one.role in ("reference", "accepted")]
            work += [(lesson, exercise, one) for one in right[: 1 + asked.accepted]]
    bad: Counter[str] = Counter()
    with progress("answers") as step:
        for done, (lesson, exercise, one) in enumerate(work, 1):
            for seed, wrong in failures(lesson, exercise, one.source, seeds):
                bad[f"{exercise.id}/{one.name}"] += 1
                say(f"{exercise.id}/{one.name} fails on seed {seed}: {wrong[:300]}", markup=False)
            step(done, len(work), f"{exercise.id}/{one.name}")
    say(f"{len(work)} right answers, {len(seeds)} seeds each: {sum(bad.values())} failures in {len(bad)} answers")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
