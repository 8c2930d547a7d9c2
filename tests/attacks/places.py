"""Where an attack stands: in the TODO cell, or in a cell of the learner's own, which runs while grading as well."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from arsenal import HONEST, Attack, Scene

__all__ = ["PLACES", "new_cell", "ranged", "stands_at"]

PLACES = ("todo", "own", "shown", "setup")
"""The TODO cell; a new cell above it; the cell above it that shows something; the first setup cell."""

_BINDS = re.compile(r"^(?:def|class) +(\w+)|^(\w+) *=", re.MULTILINE)
_ENDED_ELSEWHERE = frozenset({"failed", "error", "not answered"})
"""How an exercise ends whose answer was lost with the cell in which it stood."""


def stands_at(attack: Attack, place: str) -> Attack:
    """The same attack, all of its TODO cell's text, from another place."""
    if place == "todo":
        return attack

    def build(scene: Scene) -> None:
        notebook = scene.notebook({one: HONEST[one] for one in attack.honest})
        todo = scene.cell(notebook, attack.exercise)
        names = [one or other for one, other in _BINDS.findall("".join(todo["source"]))]
        # A TODO cell that binds nothing would be taken for lost, and the attack for the answer.
        todo["source"] = "\n".join(f"{name} = {name}" for name in names)
        _put(notebook["cells"], attack.exercise, place, scene.targets.fill(attack.text))
        scene.write(notebook)

    return replace(attack, build=build, place=place, expects=attack.expects | _ENDED_ELSEWHERE)


def ranged(attacks: Sequence[Attack], place: str = "") -> list[Attack]:
    """All attacks from ``place``, as far as they can stand there.

    Without a place: every third one that is a TODO cell's text from another place, by its name, and all others as they
    are. That keeps the suite as short as it was.
    """
    if place:
        return [stands_at(attack, place) for attack in attacks if attack.text or place == attack.place]
    return [stands_at(attack, _place_of(attack.name)) if attack.text else attack for attack in attacks]


def _place_of(name: str) -> str:
    number = hashlib.sha256(name.encode()).digest()[0]
    # New cells have attacks of their own (arsenal_own); `--from own` hands all others in from there.
    return "todo" if number % 2 else ("todo", "shown", "setup")[number // 2 % 3]


def new_cell(source: str, number: int = 0) -> dict[str, Any]:
    """A code cell of the learner's own."""
    return {"cell_type": "code", "id": f"mine-{number}", "metadata": {}, "outputs": [], "execution_count": None,
            "source": source}  # fmt: skip


def _put(cells: list[dict[str, Any]], exercise: str, place: str, text: str) -> None:
    marks = [cell["metadata"].get("nbgrader", {}) for cell in cells]
    todo = next(i for i, mark in enumerate(marks) if mark.get("grade_id") == exercise)
    code = [i for i in range(todo) if cells[i]["cell_type"] == "code"]
    # A cell that looks like a part of the answer would be recovered as such.
    wrapped = f"ran_here = get_ipython().run_cell({text!r})"
    if place == "own":
        cells.insert(todo, new_cell(wrapped))
    elif place == "shown":
        cells[max(i for i in code if not marks[i])]["source"] = text
    else:
        setup = cells[next(i for i in code if marks[i])]
        # Of an edited setup cell those statements run that bind a new name.
        setup["source"] = "".join(setup["source"]) + f"\n{wrapped}\n"
