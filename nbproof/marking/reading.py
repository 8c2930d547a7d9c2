"""Reads a submission: a sound, small notebook at home, anything else in a sealed fork that nothing can hurt."""

from __future__ import annotations

import time
from typing import Any

from nbproof.marking.blueprint import Blueprint, Rebuilt
from nbproof.recover.fast_path import as_handed_in
from nbproof.recover.notebook_bytes import SMALL, Damaged, plain_cells
from nbproof.recover.own_cells import own_cells, read_back
from nbproof.recover.recovery import found_in
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import WorkerLost

__all__ = ["answers_in", "read_answers"]

_SECONDS = 30.0
"""For one submission. A damaged one takes some tenths of a second."""


def read_answers(engine: Engine, blueprint: Blueprint, data: bytes) -> Rebuilt:
    """The answers in the bytes that were handed in. Raises Damaged, whose text says why there are none."""
    if len(data) <= SMALL:
        cells = plain_cells(data)
        answers = as_handed_in(blueprint.handout, cells) if cells else None
        if answers is not None:
            return Rebuilt(answers, own=own_cells(blueprint.handout, cells or ()))
    keys: dict[str, type | tuple[type, ...]] = {
        "answers": dict, "own": list, "recovered": dict, "lost": dict, "newer": dict, "damage": str, "damaged": str,
    }  # fmt: skip
    try:
        with engine.worker({}) as worker:
            worker.deadline = time.monotonic() + _SECONDS
            answer, _ = worker.request({"op": "notebook", "handout": blueprint.handout.as_dict()}, keys, data)
    except WorkerLost as loss:
        why = {"timeout": "takes too long", "memory": "takes too much memory"}.get(loss.cause, "ends the reader")
        raise Damaged(f"it cannot be read: reading it {why}. Hand in the notebook as JupyterLab saves it") from None
    if answer["damaged"]:
        raise Damaged(answer["damaged"])
    names = {*blueprint.stubs, *blueprint.texts}
    if answer["answers"].keys() != names or not all(isinstance(text, str) for text in answer["answers"].values()):
        raise Damaged("it cannot be read: the reader brought what was not asked for")
    try:
        own = read_back(blueprint.handout, answer["own"])
    except ValueError as error:
        raise Damaged(f"it cannot be read: the reader brought {error}") from None
    newer = tuple(sorted(names & answer["newer"].keys()))
    lost = _words(answer["lost"])
    return Rebuilt(answer["answers"], _words(answer["recovered"]), lost, answer["damage"], own, newer)


def _words(given: dict[Any, Any]) -> dict[str, str]:
    return {str(name): text for name, text in given.items() if isinstance(text, str)}


def answers_in(blueprint: Blueprint, data: bytes) -> Rebuilt:
    """As :func:`read_answers`, in this process: for a learner's own notebook."""
    found = found_in(blueprint.handout, data)
    own = read_back(blueprint.handout, found["own"])
    return Rebuilt(found["answers"], found["recovered"], found["lost"], found["damage"], own, tuple(found["newer"]))
