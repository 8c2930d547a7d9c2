"""What the tool has to know of the course that it works for: ``course.toml``, in the course's own package.

A process works for one course, and so does every process that it starts. The course's package says so when it is imported
(:func:`use_course`); whoever starts from a folder looks for it there (:func:`find_course`).
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from nbproof.errors import UsageError

__all__ = ["CourseFile", "find_course", "the_course", "use_course"]

_NAME = "course.toml"


@dataclass(frozen=True)
class CourseFile:
    """One course, as its ``course.toml`` tells it."""

    package: str
    """What lessons import it as."""
    folder: Path
    """Of that package: its hints and its outline lie in there."""
    says: str
    """One sentence, for the head of the help."""
    leaves: tuple[str, ...] = ()
    """Libraries whose values count as values, besides Python's own: ``torch``, ``numpy`` (nbproof/values/leaf.py)."""
    warm: tuple[str, ...] = ()
    """Modules that lessons import, so that they are there before a process is forked for a submission. One that is not
    installed is passed over; ``course.pictures.*`` means all that are in a package."""
    picture: str = ""
    """The module whose ``difference_html(got, wanted)`` and ``draw_place(place)`` show what was brought beside what was
    wanted; empty where a course has no such pictures."""

    def pictures(self) -> Any:
        """The module of :attr:`picture`; None where a course has no such pictures. Importing it may take seconds."""
        return importlib.import_module(self.picture) if self.picture else None

    def source_of(self, lesson: str) -> Path:
        """The instructor's notebook of a lesson, beside the package. A class's learners do not have it."""
        return self.folder.parent / "source" / lesson / f"{lesson}.ipynb"

    def warm_up(self) -> None:
        """Import the course first, for it may have to mend what others import; then what :attr:`warm` names."""
        self.enter()
        for name in self.warm:
            if importlib.util.find_spec(name.split(".")[0]) is None:
                continue
            module = importlib.import_module(name.removesuffix(".*"))
            for one in pkgutil.iter_modules(module.__path__ if name.endswith(".*") else ()):
                importlib.import_module(f"{module.__name__}.{one.name}")

    def enter(self) -> None:
        """Import the course's package, also if it is not installed but only lies there."""
        if str(self.folder.parent) not in sys.path:
            sys.path.append(str(self.folder.parent))
        importlib.import_module(self.package)


_INHERITED = "NBPROOF_COURSE"
"""The environment variable that tells a process which course the one that started it works for: its package's folder."""
_used = [os.environ.get(_INHERITED, "")]
"""The folder of the course's package: kept here too, for what a learner's code makes of the environment is not asked."""


def use_course(file: str) -> None:
    """Work for the course whose package has this ``__init__.py``. Reads nothing before it is asked."""
    _used[0] = os.environ[_INHERITED] = str(Path(file).resolve().parent)


def the_course() -> CourseFile:
    """The course that this process works for. Raises UsageError if there is none, or if its file cannot be read."""
    if not _used[0]:
        find_course(Path())
    return _read(_used[0])


def find_course(root: Path) -> None:
    """Work for the course in this folder: the one whose package lies there, which is imported.

    Raises UsageError if there is none, or more than one.
    """
    found = sorted(path.parent for path in root.resolve().glob(f"*/{_NAME}"))
    if len(found) != 1:
        what = "more than one course" if found else "no course"
        raise UsageError(
            f"{what} here: {', '.join(map(str, found)) or f'no folder holds a {_NAME}'}", str(root.resolve()),
            "cd into the course's folder, or --course DIR",
        )  # fmt: skip
    use_course(str(found[0] / "__init__.py"))
    the_course().enter()


@cache
def _read(package: str) -> CourseFile:
    folder = Path(package)
    path = folder / _NAME
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        lists = {name: tuple(map(str, told.get(name, ()))) for name in ("leaves", "warm")}
        return CourseFile(folder.name, folder, str(told["says"]), picture=str(told.get("picture", "")), **lists)
    except (OSError, ValueError) as error:
        raise UsageError(f"the course's own file cannot be read: {error}", str(path), "mend it") from None
    except KeyError as missing:
        raise UsageError(f"the course's own file has no {missing}", str(path), f"add {missing}") from None
