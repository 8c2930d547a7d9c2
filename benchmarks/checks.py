"""How long a check in a learner's notebook takes beyond the learner's own code: truth, comparison, hint, panel, picture.

    python -m benchmarks.checks [--mutants N]

For each exercise the reference and its first N mutants (default: 3) answer the checks that learners have, three times; the
quickest counts.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from course.pictures.difference import difference_html
from nbproof.cells import CellKind, visible_and_hidden
from nbproof.checks import check as checking
from nbproof.course_file import read_course
from nbproof.display.panel import html_of
from nbproof.lesson.from_text import find_lessons, read_lesson
from nbproof.lesson.lesson import Exercise, Lesson
from nbproof.values.results import Finding

ROOT = Path(__file__).parent.parent
COURSE = read_course(ROOT / "course")
LIMIT = 0.1
"""Seconds."""


def overheads(lesson: Lesson, exercise: Exercise, mutants: int | None = None) -> Iterator[tuple[str, float]]:
    """(candidate, seconds) of the slowest test cell, for the reference and the first ``mutants`` wrong answers."""
    position = lesson.cells.index(exercise.answer)
    setup = [cell.source for cell in lesson.cells[:position] if cell.kind is CellKind.SETUP]
    wrong = [one for one in exercise.candidates if one.role == "mutant"]
    for candidate in [exercise.candidates[0], *wrong[:mutants]]:
        with contextlib.redirect_stdout(io.StringIO()):
            seconds = _slowest(setup, exercise, candidate.source)
        if seconds is not None:
            yield candidate.name, seconds


def _slowest(setup: list[str], exercise: Exercise, answer: str) -> float | None:
    """Of the exercise's test cells; None where the answer's own cell ends with an error, which is all a learner sees."""
    space: dict[str, object] = {"__name__": "__main__"}
    try:
        for source in [*setup, answer]:
            exec(source, space)
    except Exception:
        return None
    return max(_quickest(cell.source, space) for cell in exercise.tests)


def _quickest(test: str, space: dict[str, object]) -> float:
    code, bring = compile(visible_and_hidden(test)[0], "<test>", "exec"), checking.bring
    spent = 0.0

    def timed(*arguments: object) -> object:
        nonlocal spent
        start = time.perf_counter()
        try:
            return bring(*arguments)  # type: ignore[arg-type]
        finally:
            spent += time.perf_counter() - start

    best = float("inf")
    checking.bring = timed  # type: ignore[assignment]
    try:
        for _ in range(3):
            spent, start = 0.0, time.perf_counter()
            with checking.collecting(COURSE) as findings:
                exec(code, space)
            _show(findings)
            best = min(best, time.perf_counter() - start - spent)
    finally:
        checking.bring = bring
    return best


def _show(findings: list[Finding]) -> None:
    wrong = next((one for one in findings if not one.passed), None)
    picture = difference_html(*wrong.compared) if wrong is not None and wrong.compared is not None else ""
    html_of(COURSE, "exercise", findings, ask=True, picture=picture)


def main() -> int:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=3, help="wrong answers of each exercise (default: 3)")
    mutants = parser.parse_args().mutants
    say = Console(highlight=False).print
    found: list[tuple[float, str]] = []
    for folder in find_lessons(ROOT):
        lesson = read_lesson(COURSE, folder)
        for exercise in lesson.exercises:
            found += [(seconds, f"{exercise.id}/{name}") for name, seconds in overheads(lesson, exercise, mutants)]
    found.sort(reverse=True)
    for seconds, name in found[:15]:
        say(f"{seconds * 1000:7.1f} ms  {name}")
    over = [name for seconds, name in found if seconds >= LIMIT]
    say(
        f"{len(found)} candidates, median {found[len(found) // 2][0] * 1000:.1f} ms, {len(over)} over {LIMIT * 1000:g} ms"
    )
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
