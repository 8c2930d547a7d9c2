"""Marks one handed-in notebook after another with an engine of this machine, whoever sent them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nbproof.errors import CourseError
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint, Damaged, read_attachments, read_file
from nbproof.marking.judge import Judge
from nbproof.marking.reading import read_answers
from nbproof.marking.results import SubmissionVerdict
from nbproof.marking.submission import mark
from nbproof.sandbox.engine import Engine

__all__ = ["Marker", "Order", "order_of"]


@dataclass(frozen=True)
class Order:
    """What a marker needs to know of one submission. Can be sent to another machine."""

    learner: str
    lesson: str
    data: bytes
    """The notebook as it was handed in."""
    files: dict[str, bytes] = field(default_factory=dict)
    """The submission's own data files by relative path."""
    only: tuple[str, ...] = ()
    """Exercises to be tested, all if it is empty."""
    skip: tuple[str, ...] = ()
    """Exercises whose cells do not run, because they are known to do harm."""


def order_of(
    learner: str, lesson: str, notebook: Path, limits: GradingLimits, only: tuple[str, ...] = (),
    skip: tuple[str, ...] = (),
) -> Order:  # fmt: skip
    """Read a submission's notebook, and what lies beside it. Raises Damaged or OSError."""
    data = read_file(notebook, limits.notebook_mb << 20)
    files = read_attachments(notebook.parent, notebook, limits.attachment_mb << 20)
    return Order(learner, lesson, data, files, only, skip)


class Marker:
    """One engine, one seed, the lessons' blueprints; may be asked from several threads."""

    def __init__(self, engine: Engine, blueprints: Mapping[str, Blueprint], seed: int) -> None:
        self.engine, self.blueprints, self.seed = engine, blueprints, seed
        self._judges: dict[str, Judge] = {}
        self._lock = threading.Lock()

    def mark(self, order: Order) -> SubmissionVerdict:
        """The verdict; never an exception for what a learner handed in."""
        try:
            blueprint = self.blueprints[order.lesson]
            rebuilt = read_answers(self.engine, blueprint, order.data)
            return mark(
                self.engine, blueprint, self._judge(order.lesson), rebuilt, order.learner, order.files, order.only,
                order.skip,
            )  # fmt: skip
        except Damaged as damage:
            return self.refuse(order.learner, order.lesson, str(damage))
        except CourseError:
            raise
        except Exception as error:
            # A flaw of the grader that one submission has found is that submission's problem, not the class's.
            told = f"the grader failed on it, please report this ({type(error).__name__}: {str(error)[:200]})"
            return self.refuse(order.learner, order.lesson, told, grader_failed=True)

    def refuse(self, learner: str, lesson: str, problem: str, *, grader_failed: bool = False) -> SubmissionVerdict:
        """The verdict on what cannot be graded."""
        return SubmissionVerdict(learner, lesson, self.seed, (), {}, {}, problem=problem, grader_failed=grader_failed)

    def _judge(self, lesson: str) -> Judge:
        with self._lock:
            if lesson not in self._judges:
                self._judges[lesson] = Judge(self.blueprints[lesson], self.seed)
            return self._judges[lesson]
