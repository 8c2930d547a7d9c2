"""Misconceptions by name, and the three steps of help for each.

The texts are written in ``lessons/``, beside what they are about; a build gathers them in ``hints.json``, which
learners have (:mod:`nbproof.authoring.hint_texts`). For a learner who has not gone wrong yet, but does not know how to
begin, each exercise has steps of its own: the way in.

A hint leads to the idea. It never holds a line of a solution.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nbproof.command import course_command
from nbproof.course_file import the_course
from nbproof.errors import HintError

__all__ = ["Hint", "all_hints", "exercise_hints", "known_hint"]


@dataclass(frozen=True)
class Hint:
    """One misconception: what it is called, and three steps from a question to a place to read."""

    id: str
    name: str
    question: str
    idea: str
    read: str


@cache
def _tables(path: Path) -> tuple[dict[str, Hint], dict[str, Hint]]:
    try:
        tables = json.loads(path.read_text(encoding="utf-8"))
        misconceptions = {table["id"]: Hint(**table) for table in tables["misconceptions"]}
        starts = {table["id"]: Hint(name=table["id"], **table) for table in tables["exercises"]}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise HintError(
            f"the hints cannot be read: {error}", str(path),
            f"if lessons/ is there: {course_command('build')}; else install the course again",
        ) from None  # fmt: skip
    return misconceptions, starts


def _path() -> Path:
    return the_course().folder / "hints.json"


def all_hints() -> dict[str, Hint]:
    """Every misconception of the course by its id. Raises HintError if hints.json is missing or damaged."""
    return _tables(_path())[0]


def exercise_hints() -> dict[str, Hint]:
    """The way into each exercise, by exercise id; ``name`` is the id."""
    return _tables(_path())[1]


def known_hint(key: str | None) -> str | None:
    """This id if the course has such a hint, else None: what an error gives away anywhere, not every course has words for."""
    return key if key is not None and key in all_hints() else None
