"""Gives help in three steps to a learner who asks: a question, the idea, a place to read. It never gives the answer.

What the help is about is the check that failed last in this notebook: the misconception that it named,
or else the way into its exercise. Each call shows one step more; another mistake starts anew.

A hint leads to the idea. It never holds a line of a solution. Hints are written beside what they are about, in files
``hints.toml`` (:mod:`nbproof.handed_out`), one table a misconception::

    [rebinds_output]
    name = "rebinding the name instead of returning a value"
    question = "Who sees the new value of `output` after your function has ended?"
    idea = "A name inside a function is local. The caller gets what the function returns."
    read = "Lesson 03, 'What a function may return'"

and ``[way_in.<exercise>]`` for a learner who does not know how to begin: question, idea, read.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from nbproof.course_file import Course
from nbproof.display.outline import exercise_named
from nbproof.display.session import SESSION
from nbproof.errors import LessonError
from nbproof.front_end import MONO, framed, prose, show
from nbproof.handed_out import hint_files
from nbproof.values.words import Language, words_of

__all__ = [
    "WAY_IN",
    "Hint",
    "all_hints",
    "exercise_hints",
    "hint_for",
    "known_hint",
    "read_hints",
    "say",
    "show_next_step",
    "steps",
]

WAY_IN = "way_in"


@dataclass(frozen=True)
class Hint:
    """One misconception: its name, and three steps from a question to a place to read."""

    id: str
    name: str
    question: str
    idea: str
    read: str


def read_hints(texts: Path) -> tuple[dict[str, Hint], dict[str, Hint]]:
    """Read the misconceptions, and the ways into exercises, by their ids.

    Raises LessonError if an id stands twice, or if a step is missing.
    """
    misconceptions: dict[str, Hint] = {}
    ways_in: dict[str, Hint] = {}
    places: dict[str, Path] = {}
    for path in hint_files(texts):
        tables = _tables(path)
        for exercise, table in tables.pop(WAY_IN, {}).items():
            ways_in[exercise] = Hint(exercise, exercise, *_texts(path, f"{WAY_IN}.{exercise}", table, _STEPS))
        for key, table in tables.items():
            if key in misconceptions:
                raise LessonError(
                    f"the hint {key!r} is defined twice",
                    f"{path} and {places[key]}",
                    "rename one of the two, ids are unique; or, if they mean the same, move one up to where both see it",
                )
            misconceptions[key] = Hint(key, *_texts(path, key, table, ("name", *_STEPS)))
            places[key] = path
    return misconceptions, ways_in


_STEPS = ("question", "idea", "read")


def _tables(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # no TOML, or no UTF-8
        raise LessonError(
            f"the file is no TOML: {error}", str(path), "mend it: texts stand in quotation marks"
        ) from None


def _texts(path: Path, key: str, table: object, steps: tuple[str, ...]) -> list[str]:
    given = table if isinstance(table, dict) else {}
    for step in steps:
        if not isinstance(given.get(step), str):
            raise LessonError(f"the hint {key!r} has no {step!r}", str(path), f'add {step} = "..."')
    return [given[step] for step in steps]


_read = cache(read_hints)


def all_hints(course: Course) -> dict[str, Hint]:
    """Every misconception of a course by its id. Raises LessonError as :func:`read_hints` does."""
    return _read(course.texts)[0]


def exercise_hints(course: Course) -> dict[str, Hint]:
    """The way into each exercise, by exercise id; ``name`` is the id."""
    return _read(course.texts)[1]


def known_hint(course: Course, key: str | None) -> str | None:
    """This id if the course has such a hint, else None. Some errors give away a misconception that a course has no hint for."""
    return key if key is not None and key in all_hints(course) else None


def hint_for(course: Course, exercise: str, key: str | None) -> Hint | None:
    """The hint for the misconception of this id, else the way into the exercise; None if there is neither."""
    return all_hints(course).get(key or "") or exercise_hints(course).get(exercise)


def steps(hint: Hint, words: Language) -> tuple[tuple[str, str], ...]:
    """The three steps of a hint, each as (its name, its text)."""
    return tuple(zip(words.texts["steps"], (hint.question, hint.idea, hint.read), strict=True))


def show_next_step(course: Course, exercise: str | None = None) -> None:
    """Show one step more than the last time, or say what to do if there is nothing to help with.

    ``exercise``: its id; None for the exercise of the check that ran last.
    """
    words = words_of(course)
    key = None
    if exercise is None:
        last = SESSION.last
        if last is None:
            return say(*words.pair("no check"))
        if last.passed:
            return say(*_praise(SESSION.exercise, words))
        exercise = SESSION.exercise
        key = last.hint
    elif exercise not in exercise_hints(course) and exercise_named(course, exercise) is None:
        return say(*words.pair("unknown", exercise=exercise))
    hint = hint_for(course, exercise, key)
    if hint is None:
        return say(*words.pair("no hints", exercise=exercise))
    shown = (exercise, hint.id)
    count = min(SESSION.steps.get(shown, 0) + 1, 3)
    SESSION.steps[shown] = count
    title = f"{words.text('looks like')} {hint.name}." if known_hint(course, key) else words.text("a way in")
    return _show(exercise, title, steps(hint, words)[:count], count < 3, words)


def _praise(exercise: str, words: Language) -> tuple[str, ...]:
    """The two sentences after a check that passed."""
    if not SESSION.solved:
        return words.pair("one has passed", exercise=exercise)
    more = words.counted("more run", SESSION.withheld)
    key = "shown have passed" if SESSION.withheld else "all have passed"
    return words.pair(key, exercise=exercise, more=more)


def _show(exercise: str, title: str, seen: tuple[tuple[str, str], ...], more: bool, words: Language) -> None:
    key = "next step" if more else "last step"
    after = words.text(key)
    numbered = [(words.text("step", number=n, name=name), text) for n, (name, text) in enumerate(seen, 1)]
    rows = "".join(
        f'<div style="margin:.15em 0"><span style="opacity:.75">{name}:</span> {prose(text)}</div>'
        for name, text in numbered
    )
    page = framed(
        f'<div style="font-weight:600"><span style="{MONO}">{escape(exercise)}</span>: {prose(title)}</div>'
        f'{rows}<div style="opacity:.75">{after}</div>'
    )
    plain = [f"{exercise}: {title}", *(f"  {name}: {text}" for name, text in numbered), after]
    show(page, "\n".join(plain))


def say(fact: str, then: str) -> None:
    """Show a fact, and what to do about it."""
    show(framed(f"<b>{prose(fact)}</b> {prose(then)}"), f"{fact} {then}")
