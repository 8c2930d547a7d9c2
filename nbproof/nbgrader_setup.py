"""What every use of nbgrader's API needs first: this course's configuration, and nbgrader's own tools on PATH."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from pathlib import Path

from sqlalchemy.exc import SAWarning
from traitlets.config import Config, PyFileConfigLoader

from nbproof.errors import UsageError

__all__ = ["course_config"]


def course_config(root: Path) -> Config:
    """The configuration of the course in ``root``, as ``nbgrader`` started there would read it.

    Raises UsageError if there is no nbgrader_config.py, or if it imports what is gone. Also puts the interpreter's own folder
    first on PATH: nbgrader starts ``alembic`` by its bare name, which is not found when Python was
    started as ``.venv/bin/python`` without activating the environment.
    """
    path = root / "nbgrader_config.py"
    if not path.exists():
        raise UsageError(
            "no nbgrader_config.py here", str(root.resolve()), "cd into the course's folder, or add --course FOLDER"
        )
    tools = os.path.dirname(os.path.abspath(sys.executable))
    if tools not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = tools + os.pathsep + os.environ.get("PATH", "")
    # nbgrader adds rows in an order that SQLAlchemy 2 remarks on; the rows are right.
    warnings.filterwarnings("ignore", category=SAWarning, module="nbgrader")
    logging.getLogger("traitlets").setLevel(logging.ERROR)
    try:
        config = PyFileConfigLoader(path.name, path=str(root.resolve())).load_config()
    except ImportError as error:
        raise UsageError(
            f"nbgrader_config.py imports what is not there: {error}",
            str(path.resolve()),
            "take its imports from the nbgrader_config.py that came with this version of the course",
        ) from None
    config.CourseDirectory.root = str(root.resolve())
    config.NbGrader.logfile = ""
    return config
