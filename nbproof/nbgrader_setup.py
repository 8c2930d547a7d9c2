"""What every use of nbgrader's API needs first: this course's configuration, and nbgrader's own tools on PATH."""

from __future__ import annotations

import logging
import os
import re
import shlex
import sys
import warnings
from pathlib import Path

from jupyter_core.paths import jupyter_config_path
from traitlets.config import Config, JSONFileConfigLoader, PyFileConfigLoader

from nbproof.course_file import is_nbgraders
from nbproof.errors import UsageError

__all__ = ["config_of", "config_stamp", "course_config"]

_FILES = {"nbgrader_config.py": PyFileConfigLoader, "nbgrader_config.json": JSONFileConfigLoader}
_OLDER = {"Exchange": ("course_id",)} | dict.fromkeys(
    ("NbGraderConfig", "BasicConfig", "BaseNbGraderApp", "BaseApp", "NbGrader"),
    (
        "course_id",
        "directory_structure",
        "source_directory",
        "release_directory",
        "submitted_directory",
        "autograded_directory",
        "feedback_directory",
        "db_url",
        "ignore",
    ),
)
"""What stood elsewhere before there was a CourseDirectory: nbgrader still reads it there."""


def course_config(root: Path) -> Config:
    """The configuration of the course in ``root``, as ``nbgrader`` started there would read it.

    Raises UsageError if nbgrader has nothing to work with there, or if the configuration cannot be read. Also puts the
    interpreter's own folder first on PATH: nbgrader starts ``alembic`` by its bare name, which is not found when Python was
    started as ``.venv/bin/python`` without activating the environment.
    """
    if not is_nbgraders(root):
        raise UsageError(
            "no course of nbgrader's here: neither nbgrader_config.py nor an assignment in source/ or release/",
            str(root.resolve()),
            "cd into the course's folder, or add --course FOLDER",
        )
    tools = os.path.dirname(os.path.abspath(sys.executable))
    if tools not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = tools + os.pathsep + os.environ.get("PATH", "")
    from sqlalchemy.exc import SAWarning

    # nbgrader adds rows in an order that SQLAlchemy 2 remarks on; the rows are right.
    warnings.filterwarnings("ignore", category=SAWarning, module="nbgrader")
    # So are old notebooks, whose cells have no ids, and what they are changed to.
    warnings.filterwarnings("ignore", message="Cell is missing an id field|Non-unique cell id")
    # What nbgrader says there is said in an error of ours.
    logging.getLogger("traitlets").setLevel(logging.CRITICAL)
    config = config_of(root)
    if not config.CourseDirectory.get("db_url"):
        _refuse_another_address(root.resolve())
    return config


def _refuse_another_address(home: Path) -> None:
    """Raise UsageError for a folder whose gradebook nbgrader would look for elsewhere."""
    from sqlalchemy.engine import make_url

    place = str(home / "gradebook.db")
    if make_url(f"sqlite:///{place}").database != place:
        odd = next(one for one in reversed((home, *home.parents)) if re.search("[?%]", one.name))
        raise UsageError(
            "the course cannot lie in a folder with ? or % in its name: nbgrader would make its gradebook elsewhere",
            str(odd),
            f"mv {shlex.quote(str(odd))} {shlex.quote(str(odd.with_name(re.sub('[?%]', '_', odd.name))))}; then run the same "
            "command there again",
        )


def config_of(root: Path) -> Config:
    """The same, of any folder: of one without a configuration that of this machine and its user."""
    home = root.resolve()
    config = Config()
    for path in _files(home):
        try:
            config.merge(_FILES[path.name](path.name, path=str(path.parent)).load_config())
        except Exception as error:  # whatever an instructor's own code raises
            fact = f"{path.name} cannot be read: {type(error).__name__}: {error}"
            raise UsageError(fact, str(path), "mend that line") from None
    config.CourseDirectory.root = str(home)
    config.NbGrader.logfile = ""
    _translate(config, home)
    return config


def _translate(config: Config, home: Path) -> None:
    """Older names of options, and paths that mean the folder that nbgrader is started in."""
    for section, names in _OLDER.items():
        for name in set(names) & config[section].keys():
            config.CourseDirectory.setdefault(name, config[section].pop(name))
    url = str(config.CourseDirectory.get("db_url", ""))
    if url.startswith("sqlite:///") and not url.startswith("sqlite:////"):
        config.CourseDirectory.db_url = f"sqlite:///{home / url.removeprefix('sqlite:///')}"
    for part in ("header", "footer"):
        if config.IncludeHeaderFooter.get(part):
            config.IncludeHeaderFooter[part] = str(home / config.IncludeHeaderFooter[part])


def config_stamp(root: Path) -> tuple[tuple[str, int, int], ...]:
    """Changes with every file that a configuration is read from."""
    found = ((path, path.stat()) for path in _files(root))
    return tuple((str(path), one.st_mtime_ns, one.st_size) for path, one in found)


def _files(root: Path) -> list[Path]:
    """The last one counts most."""
    folders = [*map(Path, reversed(jupyter_config_path())), root]
    return [path for folder in folders for name in _FILES if (path := folder / name).is_file()]
