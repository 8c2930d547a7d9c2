"""Derive ``course/hints.json``, which learners have, from the ``hints.toml`` files in ``lessons/``.

==========================================  =========================================================
``lessons/<slug>/<exercise>/hints.toml``    the way into the exercise, and what goes wrong in it alone
``lessons/<slug>/hints.toml``               what goes wrong in several exercises of the lesson
``lessons/hints.toml``                      what goes wrong in any lesson
==========================================  =========================================================

One table a misconception::

    [rebinds_output]
    name = "rebinding the name instead of returning a value"
    question = "Who sees the new value of `output` after your function has ended?"
    idea = "A name inside a function is local. Whoever calls it gets what it returns."
    read = "Lesson 03, 'What a function may return'"

and, in an exercise's own file, ``[way_in]`` for a learner who does not know how to begin: question, idea, read.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

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
    for path in _files(root / "lessons"):
        for key, table in _tables(path).items():
            if key == WAY_IN and _is_of_exercise(path):
                ways_in[path.parent.name] = _steps(path, key, table, _STEPS)
            elif key == WAY_IN:
                raise HintError(
                    "a way in, and no exercise that it leads into",
                    str(path),
                    f"move [{WAY_IN}] into an exercise's {HINTS}",
                )
            elif key in misconceptions:
                raise HintError(
                    f"the hint {key!r} is defined twice",
                    f"{path} and {places[key]}",
                    "rename one of the two, ids are unique; or, if they mean the same, move one up to where both see it",
                )
            else:
                misconceptions[key], places[key] = _steps(path, key, table, ("name", *_STEPS)), path
    # Ids are no keys there: `"hint_id": {` is a line of many a hidden check, and no such line gets into a bundle.
    both = {
        name: [{"id": key, **steps} for key, steps in sorted(found.items())]
        for name, found in (("exercises", ways_in), ("misconceptions", misconceptions))
    }
    return json.dumps(both, indent=1, ensure_ascii=False) + "\n"


def _files(lessons: Path) -> Iterator[Path]:
    for pattern in (HINTS, f"*/{HINTS}", f"*/*/{HINTS}"):
        yield from sorted(lessons.glob(pattern))


def _is_of_exercise(path: Path) -> bool:
    return (path.parent.parent / "lesson.py").exists()


def _tables(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # no TOML, or no UTF-8
        raise HintError(f"the file is no TOML: {error}", str(path), "mend it: texts stand in quotation marks") from None


def _steps(path: Path, key: str, table: object, steps: tuple[str, ...]) -> dict[str, str]:
    given = table if isinstance(table, dict) else {}
    for step in steps:
        if not isinstance(given.get(step), str):
            raise HintError(f"the hint {key!r} has no {step!r}", str(path), f'add {step} = "..."')
    return {step: given[step] for step in steps}


def place_of(root: Path, key: str) -> str:
    """Where the misconception ``key`` stands, or the way into the exercise ``key``: ``<file>:<line>``."""
    for path in _files(root / "lessons"):
        wanted = f"[{WAY_IN if _is_of_exercise(path) and path.parent.name == key else key}]"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip() == wanted:
                return f"{path}:{number}"
    return str(root / "lessons")
