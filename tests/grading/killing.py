"""``python killing.py COURSE``: grade a course with a grader that dies wherever an answer holds the word KILLER.

A flaw of the grader that nobody knows of yet, made on purpose. Run as a file, so that processes which it spawns have it too.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from course.grading import marker

_reads = marker.read_answers


def _dies(engine: Any, blueprint: Any, data: bytes) -> Any:
    if b"KILLER" in data:
        os.kill(os.getpid(), signal.SIGKILL)
    return _reads(engine, blueprint, data)


marker.read_answers = _dies


def main() -> int:
    """The exit code of the command `grade`."""
    from course.cli import main as command

    sys.argv = ["course", "grade", "--course", str(Path(sys.argv[1])), "--no-feedback", *sys.argv[2:]]
    return command()


if __name__ == "__main__":
    sys.exit(main())
