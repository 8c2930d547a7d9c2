"""What a submission may use while it is graded. Set in nbgrader_config.py, as ``c.GradingLimits.memory_mb = 2048``."""

from __future__ import annotations

from traitlets import Float, Int
from traitlets.config import Configurable

__all__ = ["GradingLimits"]


class GradingLimits(Configurable):  # type: ignore[misc]
    """The limits of one submission, enforced from outside the learner's process."""

    exercise_seconds = Float(30.0, min=0.1, help="wall time of one exercise: its TODO cell and its tests").tag(config=True)
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
