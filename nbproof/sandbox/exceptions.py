"""The exceptions of grading.

::

    CourseError                   (nbproof.errors: fact, place, next command)
    └── GradingError
        ├── NoIsolation           this machine cannot isolate learners' code
        └── EngineFailed          the engine's own processes ended, or cannot start
            └── EngineLost        they ended while a submission was being marked; the next one starts them again
    JudgeFailed                   a lesson's own truth raised: nobody who handed in can mend it
    WorkerLost                    one worker ended, or broke the protocol: a learner's failure, never a run's
"""

from __future__ import annotations

from typing import Literal

from nbproof.errors import CourseError

__all__ = ["EngineFailed", "EngineLost", "GradingError", "JudgeFailed", "LossCause", "NoIsolation", "WorkerLost"]


class GradingError(CourseError):
    """A run that cannot go on."""


class NoIsolation(GradingError):
    """The machine offers no isolation, and nobody said to go on without."""


class EngineFailed(GradingError):
    """The process that forks workers ended, or could not start."""


class EngineLost(EngineFailed):
    """The process that forks workers ended, and the workers with it. The engine starts another one."""


class JudgeFailed(Exception):
    """A truth, or the mistakes, of a lesson's check raised an error."""


LossCause = Literal["timeout", "memory", "disk", "processes", "died", "protocol"]


class WorkerLost(Exception):
    """A worker is gone; ``detail`` is for people."""

    def __init__(self, cause: LossCause, detail: str = "") -> None:
        super().__init__(f"{cause}: {detail}")
        self.cause = cause
        self.detail = detail
