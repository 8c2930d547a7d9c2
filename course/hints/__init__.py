"""Misconceptions by name, and the three steps of help for each.

The texts live in the ``.toml`` files of this folder: ``general.toml`` for what can go wrong
anywhere, ``<lesson slug>.toml`` for what belongs to one lesson. One table a misconception::

    [rebinds_output]
    name = "rebinding the name instead of returning a value"
    question = "Who sees the new value of `output` after your hook has ended?"
    idea = "A name inside a function is local. PyTorch replaces the output by what the hook returns."
    read = "Lesson 03, 'What a forward hook may return'"

A hint leads to the idea. It never holds a line of a solution.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

__all__ = ["Hint", "all_hints", "hint_named"]


@dataclass(frozen=True)
class Hint:
    """One misconception: what it is called, and three steps from a question to a place to read."""

    id: str
    name: str
    question: str
    idea: str
    read: str


@cache
def all_hints() -> dict[str, Hint]:
    """Every hint of the course by its id. Raises ValueError where an id is defined twice or a step is missing."""
    hints: dict[str, Hint] = {}
    folder = resources.files(__name__)
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if not entry.name.endswith(".toml"):
            continue
        for key, table in tomllib.loads(entry.read_text(encoding="utf-8")).items():
            if key in hints:
                raise ValueError(f"{entry.name}: the hint {key!r} is defined twice; rename one of them")
            try:
                hints[key] = Hint(key, table["name"], table["question"], table["idea"], table["read"])
            except KeyError as missing:
                raise ValueError(f"{entry.name}: the hint {key!r} has no {missing}; add it") from None
    return hints


def hint_named(key: str | None) -> Hint | None:
    """The hint with this id; None for None. Raises KeyError for an unknown id."""
    return None if key is None else all_hints()[key]
