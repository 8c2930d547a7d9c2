"""Marks one handed-in notebook after another with an engine of this machine, whoever sent them.

A sound, small notebook is read at home, anything else in a sealed fork that nothing can hurt.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nbproof.errors import CourseError
from nbproof.marking.blueprint import Blueprint, Rebuilt
from nbproof.marking.hand_in import HandIn
from nbproof.marking.judge import Judge
from nbproof.marking.results import SubmissionVerdict
from nbproof.marking.submission import mark
from nbproof.recover.fast_path import as_handed_in
from nbproof.recover.notebook_bytes import SMALL, Damaged, plain_cells
from nbproof.recover.pieces import own_cells, read_back
from nbproof.recover.search import found_in
from nbproof.recover.waiting import in_files
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import WorkerLost

__all__ = ["Marker", "answers_in", "read_answers"]


_SECONDS = 30.0
"""For one submission. A damaged one takes some tenths of a second."""


def read_answers(engine: Engine, blueprint: Blueprint, data: bytes, files: Mapping[str, bytes]) -> Rebuilt:
    """The answers in the bytes that were handed in. Raises Damaged, whose text says why there are none.

    ``files``: what lies beside the notebook. What may be an answer there waits for a person.
    """
    rebuilt = _in_notebook(engine, blueprint, data)
    settled = [name for name in blueprint.stubs if name in rebuilt.recovered or rebuilt.waits(blueprint, name)]
    texts = "\n".join([*rebuilt.answers.values(), *(one.source for one in rebuilt.own)])
    theirs = {name: content for name, content in files.items() if name not in blueprint.files}
    found = in_files(blueprint.handout, rebuilt.answers, settled, texts, theirs)
    return replace(
        rebuilt,
        answers=rebuilt.answers | {name: text for name, (_, text) in found.items()},
        lost=rebuilt.lost | {name: why for name, (why, _) in found.items()},
        newer=tuple(name for name in rebuilt.newer if name not in found),
    )


def _in_notebook(engine: Engine, blueprint: Blueprint, data: bytes) -> Rebuilt:
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


class Marker:
    """One engine, one seed, the lessons' blueprints; may be asked from several threads."""

    def __init__(self, engine: Engine, blueprints: Mapping[str, Blueprint], seed: int) -> None:
        self.engine, self.blueprints, self.seed = engine, blueprints, seed
        self._judges: dict[str, Judge] = {}
        self._lock = threading.Lock()

    def mark(self, one: HandIn) -> SubmissionVerdict:
        """The verdict; never an exception for what a learner handed in."""
        learner, lesson = one.key
        try:
            blueprint = self.blueprints[lesson]
            rebuilt = read_answers(self.engine, blueprint, one.notebook, one.files)
            return mark(self.engine, blueprint, self._judge(lesson), rebuilt, learner, one.files)
        except Damaged as damage:
            return SubmissionVerdict.refused(learner, lesson, self.seed, str(damage))
        except CourseError:
            raise
        except Exception as error:
            # A flaw of the grader that one submission has found is that submission's problem, not the class's.
            told = f"the grader failed on it, please report this ({type(error).__name__}: {str(error)[:200]})"
            return SubmissionVerdict.refused(learner, lesson, self.seed, told, grader_failed=True)

    def _judge(self, lesson: str) -> Judge:
        with self._lock:
            if lesson not in self._judges:
                self._judges[lesson] = Judge(self.blueprints[lesson], self.seed)
            return self._judges[lesson]
