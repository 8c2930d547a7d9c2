"""``python killing.py COURSE``: grade a course with a grader that dies wherever an answer holds the word KILLER.

A flaw of the grader that nobody knows of yet, made on purpose. Run as a file, so that processes which it spawns have it too.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from nbproof.marking import marker as marking

_marks = marking.mark


def _dies(engine: Any, blueprint: Any, judge: Any, rebuilt: Any, *given: Any) -> Any:
    if any("KILLER" in text for text in rebuilt.answers.values()):
        os.kill(os.getpid(), signal.SIGKILL)
    return _marks(engine, blueprint, judge, rebuilt, *given)


# Before anything else imports it.
marking.mark = _dies


def main() -> int:
    """The exit code of the command."""
    course, *words = sys.argv[1:]
    from nbproof.cli.main import main as command

    sys.argv = ["course", "grade", "--course", str(Path(course)), "--no-feedback", *words]
    return command()


if __name__ == "__main__":
    sys.exit(main())
