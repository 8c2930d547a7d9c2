"""Is a verdict the same whatever the seed is? Each reference, and some accepted answers, against many seeds.

    python -m benchmarks.seeds [--seeds N] [--first N] [--accepted N] [--engine] [LESSON ...]
    python -m benchmarks.seeds --wrong [--seeds N] [--first N] [LESSON ...]

Grading draws a fresh seed for every run, so one that a right answer fails on is a wrong mark some day: an order of
summation that float32 does not forgive, a random input on which two values happen to be equal. With ``--engine`` the
answers run in a sealed worker and are judged outside, as in grading; without it, in this process, as in a notebook.

So is one that a wrong answer passes on: a permutation that leaves all in place, a sum that the mistake does not change.
With ``--wrong`` each mutant has to lose marks under every seed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from multiprocessing import Pipe
from pathlib import Path

from rich.console import Console

from nbproof.cells import CellKind
from nbproof.checks import check as checking
from nbproof.checks.check import Check
from nbproof.course_file import read_course
from nbproof.lesson.from_text import find_lessons, read_lesson
from nbproof.lesson.lesson import Candidate, Exercise, Lesson
from nbproof.marking.blueprint import read_blueprint
from nbproof.marking.judge_client import Judge
from nbproof.marking.marker import mark
from nbproof.places import course_config
from nbproof.recover.answers import Answers
from nbproof.sandbox.engine import Engine
from nbproof.terminal import progress
from nbproof.values.words import ENGLISH

Asked = tuple[str, type[Check]]
ROOT = Path(__file__).parent.parent
COURSE = read_course(ROOT / "course")


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
            with checking.collecting(COURSE, seed, space) as findings:
                for test in tests:
                    exec(test, dict(space))
            wrong = next((one for one in findings if not one.passed), None)
            if wrong is not None:
                found.append((seed, f"{wrong.check}: {ENGLISH.finding(wrong)}"))
    return found


def failures_in_engine(lesson: Lesson, number: int, seeds: Iterable[int]) -> Iterator[tuple[str, int, str]]:
    """(exercise/answer, seed, what was wrong), for the ``number``-th right answer of every exercise in one submission."""
    blueprint = read_blueprint(COURSE, ROOT / "source" / lesson.slug / f"{lesson.slug}.ipynb", course_config(ROOT))
    held = {one.id: right for one in lesson.exercises for right in _right(one)[number : number + 1]}
    answers = {**blueprint.stubs, **{name: one.source for name, one in held.items()}}
    with Engine(COURSE) as engine:
        for seed in seeds:
            verdict = mark(engine, blueprint, Judge(blueprint, seed, engine.judge), Answers(answers), "somebody", {})
            for found in verdict.exercises:
                if found.id in held and found.status != "passed":
                    yield f"{found.id}/{held[found.id].name}", seed, f"{found.status}: {ENGLISH.outcome(found)}"


def passed_by(lesson: Lesson, exercise: Exercise, answers: Iterable[str], seeds: Iterable[int]) -> Iterator[list[int]]:
    """The seeds on which each of these wrong answers passes every check, hidden ones included."""
    space: dict[str, object] = {"__name__": "__main__"}
    position = lesson.cells.index(exercise.tests[-1])
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in lesson.cells[:position]:
            if cell.kind is CellKind.SETUP:
                exec(cell.source, space)
    with checking.listing() as tasks:
        for number, cell in enumerate(exercise.tests):
            exec(cell.source, {"__name__": f"{exercise.id}_{number}"})
    for answer in answers:
        yield _in_a_fork(partial(_passing_seeds, answer, space, tasks, seeds))


def _passing_seeds(answer: str, space: dict[str, object], tasks: list[Asked], seeds: Iterable[int]) -> list[int]:
    return [seed for seed in seeds if _passes(answer, dict(space), tasks, seed)]


def _passes(answer: str, space: dict[str, object], tasks: list[Asked], seed: int) -> bool:
    """Whether it passes all checks; the one that it does not pass is asked first under the next seed."""
    try:
        exec(answer, space)
        for number, (exercise, task) in enumerate(tasks):
            with checking.collecting(COURSE, seed, space) as found:
                checking.check_in(COURSE, space, exercise, task)
            if not found[0].passed:
                tasks.insert(0, tasks.pop(number))
                return False
    except BaseException:
        return False
    return True


def _in_a_fork(asked: Callable[[], list[int]], limit: float = 30.0) -> list[int]:
    """What it says in a process of its own; nothing if that ends otherwise, or takes longer than ``limit`` seconds."""
    ours, theirs = Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                warnings.simplefilter("ignore")
                theirs.send(asked())
        finally:
            os._exit(0)
    theirs.close()
    try:
        return list(ours.recv()) if ours.poll(limit) else []
    except EOFError:
        return []
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _right(exercise: Exercise) -> list[Candidate]:
    return [one for one in exercise.candidates if one.role in ("reference", "accepted")]


def main() -> int:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help="default: all")
    parser.add_argument("--seeds", type=int, default=100, help="how many (default: 100)")
    parser.add_argument("--first", type=int, default=1_000, help="the first seed (default: 1000)")
    parser.add_argument("--accepted", type=int, default=0, help="accepted answers of each exercise (default: 0)")
    parser.add_argument("--engine", action="store_true", help="as in grading: a sealed worker, judged outside")
    parser.add_argument("--wrong", action="store_true", help="wrong answers instead: each has to fail under every seed")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.seeds)
    say = Console(highlight=False).print
    bad: Counter[str] = Counter()

    def fails(name: str, seed: int, wrong: str) -> None:
        bad[name] += 1
        say(f"{name} fails on seed {seed}: {wrong[:300]}", markup=False)

    lessons = [read_lesson(COURSE, folder) for folder in find_lessons(ROOT, asked.lessons)]
    if asked.wrong:
        return _try_wrong(lessons, seeds)
    rights = [
        (lesson, e, one) for lesson in lessons for e in lesson.exercises for one in _right(e)[: 1 + asked.accepted]
    ]
    with progress("answers") as step:
        if asked.engine:
            for done, lesson in enumerate(lessons, 1):
                for number in range(1 + asked.accepted):
                    for found in failures_in_engine(lesson, number, seeds):
                        fails(*found)
                step(done, len(lessons), lesson.slug)
        else:
            for done, (lesson, exercise, one) in enumerate(rights, 1):
                for seed, wrong in failures(lesson, exercise, one.source, seeds):
                    fails(f"{exercise.id}/{one.name}", seed, wrong)
                step(done, len(rights), f"{exercise.id}/{one.name}")
    say(f"{len(rights)} right answers, {len(seeds)} seeds each: {sum(bad.values())} failures in {len(bad)} answers")
    return 1 if bad else 0


def _try_wrong(lessons: list[Lesson], seeds: Sequence[int]) -> int:
    say = Console(highlight=False).print
    exercises = [(lesson, exercise) for lesson in lessons for exercise in lesson.exercises]
    tried, passed = 0, 0
    with progress("exercises") as step:
        for done, (lesson, exercise) in enumerate(exercises, 1):
            wrong = [one for one in exercise.candidates if one.role == "mutant"]
            for one, kept in zip(wrong, passed_by(lesson, exercise, [one.source for one in wrong], seeds), strict=True):
                tried += 1
                passed += bool(kept)
                if kept:
                    say(
                        f"{exercise.id}/{one.name} passes under {len(kept)} of {len(seeds)} seeds: {kept[:10]}",
                        markup=False,
                    )
            step(done, len(exercises), exercise.id)
    say(f"{tried} wrong answers, {len(seeds)} seeds each: {passed} of them pass under some seed")
    return 1 if passed else 0


if __name__ == "__main__":
    sys.exit(main())
