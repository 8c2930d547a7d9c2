"""Measurements, each a command: ``python -m benchmarks.NAME --help``."""

import course  # noqa: F401 (the course that they measure)
