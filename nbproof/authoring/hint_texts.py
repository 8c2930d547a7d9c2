"""Derive ``hints.json``, which learners have, from the ``hints.toml`` files in ``lessons/``.

============================  ===========================================================================
``lessons/<slug>/hints.toml``  the ways into the exercises of the lesson, and what goes wrong in it
``lessons/hints.toml``         what goes wrong in any lesson
============================  ===========================================================================

One table a misconception::

    [rebinds_output]
    name = "rebinding the name instead of returning a value"
    question = "Who sees the new value of `output` after your function has ended?"
    idea = "A name inside a function is local. Whoever calls it gets what it returns."
    read = "Lesson 03, 'What a function may return'"

and ``[way_in.<exercise>]`` for a learner who does not know how to begin: question, idea, read.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbproof.authoring.exercise_folder import HINTS
from nbproof.errors import HintError

__all__ = ["WAY_IN", "derived_hints", "place_of"]

WAY_IN = "way_in"
_STEPS = ("question", "idea", "read")


def derived_hints(root: Path) -> str:
    """The text of hints.json. Raises HintError if an id stands twice, or a step is missing."""
    misconceptions: dict[str, dict[str, str]] = {}
    ways_in: dict[str, dict[str, str]] = {}
    places: dict[str, Path] = {}
    for path in _files(root):
        tables = _tables(path)
        for exercise, table in tables.pop(WAY_IN, {}).items():
            if not (path.parent / exercise).is_dir():
                raise HintError(
                    "a way in, and no exercise that it leads into",
                    str(path),
                    f"write [{WAY_IN}.<exercise>] in the {HINTS} of its lesson",
                )
            ways_in[exercise] = _steps(path, f"{WAY_IN}.{exercise}", table, _STEPS)
        for key, table in tables.items():
            if key in misconceptions:
                raise HintError(
                    f"the hint {key!r} is defined twice",
                    f"{path} and {places[key]}",
                    "rename one of the two, ids are unique; or, if they mean the same, move one up to where both see it",
                )
            misconceptions[key], places[key] = _steps(path, key, table, ("name", *_STEPS)), path
    # Ids are no keys there: `"hint_id": {` is a line of many a hidden check, and no such line gets into a bundle.
    both = {
        name: [{"id": key, **steps} for key, steps in sorted(found.items())]
        for name, found in (("exercises", ways_in), ("misconceptions", misconceptions))
    }
    return json.dumps(both, indent=1, ensure_ascii=False) + "\n"


def _files(root: Path) -> list[Path]:
    found = [root / "lessons" / HINTS, *sorted((root / "lessons").glob(f"*/{HINTS}"))]
    return [path for path in found if path.is_file()]


def _tables(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # no TOML, or no UTF-8
        raise HintError(f"the file is no TOML: {error}", str(path), "mend it: texts stand in quotation marks") from None


def _steps(path: Path, key: str, table: object, steps: tuple[str, ...]) -> dict[str, str]:
    given: Mapping[str, Any] = table if isinstance(table, dict) else {}
    for step in steps:
        if not isinstance(given.get(step), str):
            raise HintError(f"the hint {key!r} has no {step!r}", str(path), f'add {step} = "..."')
    return {step: given[step] for step in steps}


def place_of(root: Path, key: str) -> str:
    """Where the misconception ``key`` stands, or the way into the exercise ``key``: ``<file>:<line>``."""
    wanted = (f"[{key}]", f"[{WAY_IN}.{key}]")
    for path in _files(root):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip() in wanted:
                return f"{path}:{number}"
    return str(root / "lessons")
