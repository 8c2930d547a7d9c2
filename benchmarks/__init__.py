"""Measurements, each a command: ``python -m benchmarks.NAME --help``."""

import os
import tempfile

import course  # noqa: F401 (the course that they measure)

# Lessons that are run here say nothing about the progress of whoever works at this machine.
_PROGRESS = tempfile.TemporaryDirectory(prefix="progress-")
os.environ["COURSE_PROGRESS"] = os.path.join(_PROGRESS.name, "progress.db")
