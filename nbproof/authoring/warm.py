"""What the server of :mod:`nbproof.authoring.forks` has ready for its forks. Import it there only.

IPython's shell; what lessons import, matplotlib above all; and the parts of its leaf types that import themselves when they
are first used.
"""

from __future__ import annotations

import contextlib
import gc
import os
import tempfile
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from nbproof.authoring.forks import WARM_FOR
from nbproof.command import called_for
from nbproof.course_file import read_course
from nbproof.errors import CourseError
from nbproof.values import leaf

__all__ = ["SHELL", "TROUBLE"]

TROUBLE: tuple[str, str, str] | None = None
"""Fact, place and next step, if what lessons import is not there."""

with contextlib.suppress(ImportError):
    import matplotlib

    matplotlib.use("agg")
if _folder := os.environ.get(WARM_FOR):
    _course = read_course(Path(_folder))
    called_for(_course)
    try:
        leaf.warm_up(_course)
    except CourseError as error:
        # Who asks for a trial is told: this process would end with a traceback.
        TROUBLE = (error.fact, error.place, error.next_command)

_config = Config()
# A history needs a thread and a file; threads do not survive a fork, and nobody wants the file.
_config.HistoryManager.enabled = False
# Nobody reads what a cell raises but its name, and IPython's usual traceback takes longer than a trial.
_config.InteractiveShell.xmode = "Minimal"

with tempfile.TemporaryDirectory() as _scratch:
    os.environ["IPYTHONDIR"] = _scratch
    SHELL = InteractiveShell.instance(config=_config)

# Collecting garbage in a fork would visit, and thereby copy, all that was imported here.
gc.collect()
gc.freeze()
