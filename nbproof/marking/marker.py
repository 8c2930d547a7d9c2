"""Marks one handed-in notebook after another with an engine of this machine, whoever sent them.

A sound, small notebook is read at home, anything else in a sealed fork that nothing can hurt.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import replace

from nbproof.errors import CourseError
from nbproof.marking.blueprint import Blueprint
from nbproof.marking.hand_in import HandIn
from nbproof.marking.judge import Judge
from nbproof.marking.results import SubmissionVerdict
from nbproof.marking.submission import mark
from nbproof.recover.answers import Answers
from nbproof.recover.fast_path import as_handed_in
from nbproof.recover.notebook_bytes import SMALL, Damaged, plain_cells
from nbproof.recover.pieces import own_cells
from nbproof.recover.search import found_in
from nbproof.recover.waiting import in_files
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import WorkerLost

__all__ = ["SECONDS", "Marker", "answers_in", "read_answers"]


SECONDS = 30.0
"""For one submission. A damaged one takes some tenths of a second."""


def read_answers(engine: Engine, blueprint: Blueprint, data: bytes, files: Mapping[str, bytes]) -> Answers:
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


def _in_notebook(engine: Engine, blueprint: Blueprint, data: bytes) -> Answers:
    if len(data) <= SMALL:
        cells = plain_cells(data)
        answers = as_handed_in(blueprint.handout, cells) if cells else None
        if answers is not None:
            return Answers(answers, own=own_cells(blueprint.handout, cells or ()))
    try:
        with engine.worker({}) as worker:
            worker.deadline = time.monotonic() + SECONDS
            request = {"op": "notebook", "handout": blueprint.handout.as_dict()}
            answer, _ = worker.request(request, {"found": dict, "damaged": str}, data)
    except WorkerLost as loss:
        why = {"timeout": "takes too long", "memory": "takes too much memory"}.get(loss.cause, "ends the reader")
        raise Damaged(f"it cannot be read: reading it {why}. Hand in the notebook as JupyterLab saves it") from None
    if answer["damaged"]:
        raise Damaged(answer["damaged"])
    try:
        return Answers.from_worker(blueprint.handout, answer["found"])
    except ValueError as error:
        raise Damaged(f"it cannot be read: the reader brought {error}") from None


def answers_in(blueprint: Blueprint, data: bytes) -> Answers:
    """As :func:`read_answers`, in this process: for a learner's own notebook."""
    return found_in(blueprint.handout, data)


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
