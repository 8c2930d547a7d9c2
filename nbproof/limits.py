"""What a submission may use while it is graded. Set in nbgrader_config.py, as ``c.GradingLimits.memory_mb = 2048``.

A lesson that needs more, or less, has limits of its own: ``c.GradingLimits.of_lesson = {"06_capstones": {"memory_mb": 4096}}``.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection

from traitlets import Dict, Float, Int, TraitError
from traitlets.config import Config, Configurable

from nbproof.errors import UsageError
from nbproof.key import assignment_of

__all__ = ["GradingLimits"]


class GradingLimits(Configurable):  # type: ignore[misc]
    """The limits of one submission, enforced from outside the learner's process."""

    exercise_seconds = Float(30.0, min=0.1, help="wall time of one exercise: its TODO cell and its tests").tag(
        config=True
    )
    submission_seconds = Float(180.0, min=1, help="wall time of a whole submission").tag(config=True)
    memory_mb = Int(2048, min=256, help="memory of all processes of a submission, beyond the interpreter's").tag(
        config=True
    )
    processes = Int(48, min=2, help="processes and threads at one time").tag(config=True)
    open_files = Int(256, min=32, help="open files of one process").tag(config=True)
    output_bytes = Int(1_000_000, min=1_000, help="printed and displayed bytes of a submission; the rest is cut").tag(
        config=True
    )
    disk_mb = Int(64, min=1, help="the private scratch folder, in memory").tag(config=True)
    notebook_mb = Int(64, min=1, help="size of a submitted notebook").tag(config=True)
    attachment_mb = Int(16, min=0, help="a submission's own data files together").tag(config=True)

    of_lesson = Dict(help="lesson -> limits of its own; what is not named there is as for all").tag(config=True)

    @classmethod
    def read(cls, config: Config, lessons: Collection[str]) -> GradingLimits:
        """The limits of a course with these lessons. Raises UsageError if a value is none, or one is for another lesson."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", UserWarning)  # that traitlets knows no such option is a warning
                limits = cls(config=config)
        except (TraitError, UserWarning) as error:
            raise UsageError(
                f"the grading limits cannot be used: {error}",
                "c.GradingLimits in nbgrader_config.py",
                "correct that line; the limits and their defaults: docs/engine.md, 'Limits'",
            ) from None
        for name in limits.of_lesson.keys() - {*lessons, *map(assignment_of, lessons)}:
            raise UsageError(
                f"there are limits for {name}, which is no lesson here",
                "c.GradingLimits.of_lesson in nbgrader_config.py",
                f"choose from: {', '.join(lessons)}",
            )
        return limits

    def for_lesson(self, lesson: str) -> GradingLimits:
        """What holds for a lesson. Raises UsageError if its own limits are none."""
        shared = {name: getattr(self, name) for name in self.traits(config=True) if name != "of_lesson"}
        own = self.of_lesson.get(lesson, self.of_lesson.get(assignment_of(lesson), {}))
        try:
            if unknown := sorted(set(own) - set(shared)):
                raise TraitError(f"no limit is called {unknown[0]!r}")
            return GradingLimits(**{**shared, **own})
        except (TraitError, TypeError) as error:
            raise UsageError(
                f"the limits of {lesson} cannot be used: {error}",
                "c.GradingLimits.of_lesson in nbgrader_config.py",
                f"correct that value, or its name; choose from: {', '.join(sorted(shared))}",
            ) from None

    def widest(self) -> GradingLimits:
        """The most memory and the most processes that any lesson allows: a run makes room for so much."""
        each = [self, *map(self.for_lesson, self.of_lesson)]
        return GradingLimits(memory_mb=max(one.memory_mb for one in each), processes=max(one.processes for one in each))

    def sentence(self) -> str:
        """The limits in one sentence, for learners."""
        return (
            f"Grading has these limits: {_time(self.exercise_seconds)} for each exercise; for the whole notebook "
            f"{_time(self.submission_seconds)}, {_size(self.memory_mb)} of memory, {_size(self.disk_mb)} of disk and "
            f"{_size(self.output_bytes / 1e6)} of output. There is no network."
        )


def _time(seconds: float) -> str:
    if seconds >= 120 and seconds % 60 == 0:
        return f"{seconds / 60:g} minutes"
    return f"{seconds:g} seconds"


def _size(megabytes: float) -> str:
    return f"{megabytes / 1024:g} GB" if megabytes >= 1024 else f"{megabytes:g} MB"
