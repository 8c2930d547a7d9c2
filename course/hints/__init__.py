"""Misconceptions by name, and the three steps of help for each.

The texts live in the ``.toml`` files of this folder: ``general.toml`` for what can go wrong
anywhere, ``<lesson slug>.toml`` for what belongs to one lesson. One table a misconception::

    [rebinds_output]
    name = "rebinding the name instead of returning a value"
    question = "Who sees the new value of `output` after your hook has ended?"
    idea = "A name inside a function is local. PyTorch replaces the output by what the hook returns."
    read = "Lesson 03, 'What a forward hook may return'"

For a learner who has not gone wrong yet, but does not know how to begin, each exercise has steps of its
own, in the file of its lesson::

    [exercises.add_five]
    question = "What does PyTorch do with the value that a forward hook returns?"
    idea = "..."
    read = "..."

A hint leads to the idea. It never holds a line of a solution.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache

from course.course_file import the_course
from course.errors import HintError

__all__ = ["Hint", "all_hints", "exercise_hints", "hint_named"]


@dataclass(frozen=True)
class Hint:
    """One misconception: what it is called, and three steps from a question to a place to read."""

    id: str
    name: str
    question: str
    idea: str
    read: str


@cache
def _tables() -> tuple[dict[str, Hint], dict[str, Hint]]:
    misconceptions: dict[str, Hint] = {}
    starts: dict[str, Hint] = {}
    folder = the_course().folder / "hints"
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.name.endswith(".toml"):
            try:
                tables = tomllib.loads(entry.read_text(encoding="utf-8"))
            except ValueError as error:  # no TOML, or no UTF-8
                raise HintError(
                    f"the file is no TOML: {error}",
                    f"course/hints/{entry.name}",
                    "mend it: texts stand in quotation marks",
                ) from None
            for key, table in tables.pop("exercises", {}).items():
                _add(starts, entry.name, key, {"name": key, **table})
            for key, table in tables.items():
                _add(misconceptions, entry.name, key, table)
    return misconceptions, starts


def _add(hints: dict[str, Hint], file: str, key: str, table: dict[str, str]) -> None:
    if key in hints:
        raise HintError(
            f"the hint {key!r} is defined twice", f"course/hints/{file}", "rename one of the two, ids are unique"
        )
    try:
        hints[key] = Hint(key, table["name"], table["question"], table["idea"], table["read"])
    except KeyError as missing:
        raise HintError(f"the hint {key!r} has no {missing}", f"course/hints/{file}", f"add {missing}") from None


def all_hints() -> dict[str, Hint]:
    """Every misconception of the course by its id. Raises HintError where an id stands twice or a step is missing."""
    return _tables()[0]


def exercise_hints() -> dict[str, Hint]:
    """The way into each exercise, by exercise id; ``name`` is the id."""
    return _tables()[1]


def hint_named(key: str | None) -> Hint | None:
    """The hint with this id; None for None. Raises KeyError for an unknown id."""
    return None if key is None else all_hints()[key]
