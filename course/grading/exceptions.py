"""What can go wrong while grading.

::

    CourseError                   (course.errors: fact, place, next command)
    └── GradingError
        ├── NoIsolation           this machine cannot isolate learners' code
        └── EngineFailed          the engine's own processes ended
    WorkerLost                    one worker ended, or broke the protocol: a learner's failure, never a run's
"""

from __future__ import annotations

from course.errors import CourseError

__all__ = ["EngineFailed", "GradingError", "NoIsolation", "WorkerLost"]


class GradingError(CourseError):
    """A run that cannot go on."""


class NoIsolation(GradingError):
    """The machine offers no isolation, and nobody said to go on without."""


class EngineFailed(GradingError):
    """The process that forks workers ended, or could not start."""


class WorkerLost(Exception):
    """A worker is gone. ``cause``: 'timeout', 'memory', 'died' or 'protocol'; ``detail`` says more, for people."""

    def __init__(self, cause: str, detail: str = "") -> None:
        super().__init__(f"{cause}: {detail}")
        self.cause, self.detail = cause, detail
