"""What a submission may use while it is graded. Set in nbgrader_config.py, as ``c.GradingLimits.memory_mb = 2048``."""

from __future__ import annotations

from traitlets import Float, Int
from traitlets.config import Configurable

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

    def sentence(self) -> str:
        """The limits in one sentence, for learners."""
        return (
            f"While it is graded, an exercise may take {_time(self.exercise_seconds)}, the whole notebook "
            f"{_time(self.submission_seconds)}, {_size(self.memory_mb)} of memory, {_size(self.disk_mb)} of disk and "
            f"{_size(self.output_bytes / 1e6)} of output. There is no network."
        )


def _time(seconds: float) -> str:
    if seconds >= 120 and seconds % 60 == 0:
        return f"{seconds / 60:g} minutes"
    return f"{seconds:g} seconds"


def _size(megabytes: float) -> str:
    return f"{megabytes / 1024:g} GB" if megabytes >= 1024 else f"{megabytes:g} MB"
