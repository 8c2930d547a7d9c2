"""One notebook of a learner's own, with the visible and the hidden tests: for people who study alone.

The same engine as for a class, with no gradebook: nothing is written. It needs Linux; elsewhere the checks in the notebook,
which know the hidden ones as well where these are at hand, say the same words.
"""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Iterator
from pathlib import Path

from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.display.panel import text_of
from nbproof.errors import UsageError
from nbproof.key import Key, assignment_of, notebook_of
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import read_blueprint
from nbproof.marking.results import Verdict
from nbproof.places import course_config, places
from nbproof.recover.notebook_bytes import Damaged, HandIn
from nbproof.run.hand_ins import LessonBook
from nbproof.sandbox.isolation import Isolation, isolation_or_refuse, why_not_isolated
from nbproof.sandbox.launch import refuse_if_exposed
from nbproof.terminal import console_for_output, say
from nbproof.values.results import Outcome, Status
from nbproof.values.words import words_of

__all__ = ["check_notebook", "print_notebook"]


def check_notebook(course: Course, root: Path, file: Path, lessons: list[str], *, seed: int | None = None) -> Verdict:
    """The verdict on ``file``. Raises UsageError if it is no notebook of this course, NoIsolation where there is no Linux."""
    # It is the learner's own code, on the learner's own machine: isolation is welcome, and not needed.
    isolation = isolation_or_refuse(unsafe=bool(why_not_isolated())).level
    if isolation is not Isolation.NONE:
        refuse_if_exposed(course, root)
    config = course_config(root)
    limits = GradingLimits.read(config, lessons)
    lesson = _lesson_of(LessonBook(course, root), file, lessons)
    try:
        hand_in = HandIn(Key("you", lesson), file).read(limits)
    except Damaged as damage:
        raise _unchecked(file, lesson, str(damage)) from None
    blueprint = read_blueprint(course, places(root).source(lesson), config, lesson)
    # Neither can be imported where there is no Linux.
    from nbproof.marking.marker import Marker
    from nbproof.sandbox.engine import Engine

    with Engine(course, limits, isolation) as engine:
        chosen = secrets.randbelow(10**9) + 1 if seed is None else seed
        marker = Marker(engine, {lesson: blueprint}, chosen)
        verdict = marker.mark(hand_in)
    if verdict.problem:
        raise _unchecked(file, lesson, verdict.problem, verdict.grader_failed)
    return verdict


def _unchecked(file: Path, lesson: str, why: str, grader_failed: bool = False) -> UsageError:
    made = course_command(shlex.join(["lab", lesson]))
    fresh = f"mend that, or move it away, and {made} makes a fresh one; then check it again"
    then = "send this message to the people who made the course" if grader_failed else fresh
    return UsageError(f"this cannot be checked: {why}", str(file), then)


def _lesson_of(book: LessonBook, file: Path, lessons: list[str]) -> str:
    """The lesson that a notebook belongs to. Of several that fit, the one with the notebook's name, or else the best."""
    guess = book.guess(file)
    if found := [one for one in (guess.lesson, *guess.others) if one]:
        called = file.resolve().parts[-2:]
        return max(found, key=lambda one: called == (assignment_of(one), f"{notebook_of(one)}.ipynb"))
    such = f"such as learn/{lessons[0]}/{lessons[0]}.ipynb"
    if not guess.notebook:
        raise UsageError(
            "this is no notebook", str(file), f"name a notebook, {such}; if it is in a zip, unpack that first"
        )
    raise UsageError(
        "this notebook belongs to no lesson of the course: none of its cells is a TODO cell",
        str(file),
        f"name a lesson's notebook, {such}",
    )


def print_notebook(course: Course, verdict: Verdict, seconds: float) -> None:
    """What the visible and hidden tests say about one notebook, an exercise after the other."""
    console = console_for_output()
    for exercise in verdict.exercises:
        say(console, *_lines_of(course, exercise))
    say(console, *(f"note: {name}: {how}" for name, how in verdict.recovered.items()))
    for text in verdict.written:
        told = "your text is there" if text.answered else "nothing is written yet"
        say(console, f"· {text.id}  not checked automatically: {told}")
    most = sum(one.max_score for one in verdict.exercises)
    say(console, f"{verdict.lesson}: {verdict.score:g} of {most:g} points, {seconds:.1f} s, seed {verdict.seed}")


def _lines_of(course: Course, one: Outcome) -> Iterator[str]:
    whole = one.score == one.max_score
    mark = "✓" if whole else {Status.NOT_ANSWERED: "○", Status.UNCERTAIN: "?"}.get(one.status, "✗")
    yield f"{mark} {one.id}  {one.score:g} of {one.max_score:g}"
    if whole:
        return
    told = words_of(course).outcome(one)
    if one.costly:
        told = text_of(course, one.costly[0], told)
    for line in told.splitlines():
        yield f"    {line}"
