"""What the tool has to know of the course that it works for: ``course.toml``, in the course's own package.

A process works for one course. Its package says so when it is imported (:func:`use_course`); whoever starts from a folder
looks for it there (:func:`find_course`).
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import sys
import tomllib
from dataclasses import dataclass
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
    """Libraries whose values count as values, besides Python's own: ``torch``."""
    warm: tuple[str, ...] = ()
    """Modules that lessons import, so that they are there before a process is forked for a submission. One that is not
    installed is passed over; ``course.pictures.*`` means all that are in a package."""
    picture: str = ""
    """The module whose ``difference_html(got, wanted)`` and ``draw_place(place)`` show what was brought beside what was
    wanted; empty where a course has no such pictures."""

    def pictures(self) -> Any:
        """The module of :attr:`picture`; None where a course has no such pictures. Importing it may take seconds."""
        return importlib.import_module(self.picture) if self.picture else None

    def warm_up(self) -> None:
        """Import the course, then what :attr:`warm` names."""
        if (self.folder / "__init__.py").exists():
            # First: it may have to mend what others import.
            importlib.import_module(self.package)
        for name in self.warm:
            with contextlib.suppress(ImportError):
                module = importlib.import_module(name.removesuffix(".*"))
                for one in pkgutil.iter_modules(module.__path__ if name.endswith(".*") else ()):
                    importlib.import_module(f"{module.__name__}.{one.name}")


_used: list[CourseFile] = []
_folder: list[Path] = []
_INHERITED = "NBPROOF_COURSE"
"""The environment variable that tells a process which course the one that started it works for."""


def use_course(file: str) -> None:
    """Work for the course whose package has this ``__init__.py``, and so do processes that are started from now on.

    Reads nothing before it is asked.
    """
    _folder[:] = [Path(file).resolve().parent]
    _used.clear()
    os.environ[_INHERITED] = str(_folder[0])


def the_course() -> CourseFile:
    """The course that this process works for. Raises UsageError if there is none, or if its file cannot be read."""
    if not _used:
        if not _folder and os.environ.get(_INHERITED):
            _enter(Path(os.environ[_INHERITED]))
        if not _folder:
            find_course(Path())
        _used.append(_read(_folder[0]))
    return _used[0]


def find_course(root: Path) -> None:
    """Work for the course in this folder: the one whose package lies there, unless one is in use already.

    Raises UsageError where there is none, or more than one.
    """
    if _folder:
        return
    found = sorted(path.parent for path in root.resolve().glob(f"*/{_NAME}"))
    if len(found) != 1:
        what = "more than one course" if found else "no course"
        raise UsageError(
            f"{what} here: {', '.join(map(str, found)) or f'no folder holds a {_NAME}'}", str(root.resolve()),
            "cd into the course's folder, or --course DIR",
        )  # fmt: skip
    _enter(found[0])


def _enter(folder: Path) -> None:
    if str(folder.parent) not in sys.path:
        sys.path.insert(0, str(folder.parent))
    use_course(str(folder / "__init__.py"))


def _read(folder: Path) -> CourseFile:
    path = folder / _NAME
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        lists = {name: tuple(map(str, told.get(name, ()))) for name in ("leaves", "warm")}
        return CourseFile(folder.name, folder, str(told["says"]), picture=str(told.get("picture", "")), **lists)
    except (OSError, ValueError) as error:
        raise UsageError(f"the course's own file cannot be read: {error}", str(path), "mend it") from None
    except KeyError as missing:
        raise UsageError(f"the course's own file has no {missing}", str(path), f"add {missing}") from None
