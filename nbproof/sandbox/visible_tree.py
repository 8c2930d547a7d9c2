"""Lists what every sealed process may see: the system's programs and libraries, the interpreter, and folders of `sys.path`."""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["VisibleTree", "import_path", "shown", "visible_folders"]

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32")
_NEVER = ("/boot", "/dev", "/etc", "/home", "/media", "/mnt", "/opt", "/proc", "/root", "/run", "/srv", "/sys", "/var")
"""Folders that are never shown themselves, though folders of packages in them may be (/opt/python/lib)."""
_UNREAL = ("/proc/", "/sys/", "/dev/")
_OF_A_COURSE = ("nbgrader_config.py", "gradebook.db", "submitted", "autograded")


@dataclass(frozen=True)
class VisibleTree:
    """The folders and files that the sandbox shows, read-only."""

    whole: tuple[str, ...]
    """Folders that are shown with all that is in them, and files, such as zipped packages."""
    listed: tuple[str, ...]
    """Folders that hold something withheld: a sandbox lists their names. :attr:`whole` has the parts of them that it shows."""
    folders: tuple[str, ...]
    """The outermost of both."""


def visible_folders(own_code: Sequence[str]) -> list[str]:
    """The paths of the outermost folders, and files, that a sandbox shows, as a whole or in part.

    ``own_code``: folders of the course's.
    """
    return list(_visible(tuple(import_path()), tuple(own_code)))


def shown(own_code: Sequence[str], withheld: Iterable[Path]) -> VisibleTree:
    """The tree that a sandbox shows: those folders, without the course's files that know what is wanted, ``withheld``."""
    whole: list[str] = []
    listed: list[str] = []
    withheld_paths = {os.path.realpath(path) for path in withheld}
    folders = visible_folders(own_code)
    waiting = [*folders]
    while waiting:
        path = waiting.pop()
        real = os.path.realpath(path)
        if real in withheld_paths:
            continue
        if os.path.islink(path) or not any(_is_within(one, real) for one in withheld_paths):
            whole.append(path)
            continue
        listed.append(path)
        waiting += [os.path.join(path, name) for name in os.listdir(path)]
    return VisibleTree(tuple(sorted(whole)), tuple(sorted(listed)), tuple(folders))


def import_path() -> list[str]:
    """The places of `sys.path` that sealed processes may import from, in its order.

    What `.pth` files, PYTHONPATH, ``pip install --user`` and a cluster's modules add is there; the folder that Python
    was started in, homes, and folders of courses are not.
    """
    return [place for place in dict.fromkeys(sys.path) if os.path.exists(place) and not _is_closed(place)]


def _is_closed(place: str) -> bool:
    """Whether this place of `sys.path` is, or holds, what no learner may see."""
    if not os.path.isabs(place):
        return True  # '' and '.': the folder that the grader was started in
    real = os.path.realpath(place)
    names = {os.path.normpath(place), real}
    if any(name.startswith(_UNREAL) for name in names):
        return True
    if any(os.path.exists(os.path.join(real, name)) for name in _OF_A_COURSE):
        return True
    homes = _homes()
    # Somebody else's home lies beside one's own.
    beside = {os.path.dirname(home) for home in homes} - {"/"}
    if any(os.path.dirname(name) in beside for name in names):
        return True
    private = {*homes, os.path.realpath(os.getcwd()), os.path.realpath(tempfile.gettempdir()), *_NEVER}
    return any(_is_within(folder, name) for folder, name in itertools.product(private, names))


def _homes() -> set[str]:
    homes = {os.path.realpath(os.path.expanduser("~"))}
    with contextlib.suppress(KeyError):  # a user without a name, as containers have them
        homes.add(os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir))
    return homes - {"/"}


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


@cache
def _visible(imported: Sequence[str], own_code: Sequence[str]) -> tuple[str, ...]:
    ours = (str(Path(__file__).resolve().parent.parent), *own_code)
    own = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    own |= {sys.prefix, sys.base_prefix, *ours, *_SYSTEM, *_libraries()}
    paths = {path for path in own if os.path.isdir(path)} | {os.path.normpath(path) for path in imported}
    return _outermost(paths | {os.path.realpath(path) for path in paths})


def _libraries() -> list[str]:
    """Where the loader looks for shared libraries: the interpreter of a cluster's module may need them to start."""
    given = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return [place for place in given if not _is_closed(place)]


def _outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """A folder inside another comes with it: /usr/lib inside /usr, a package folder inside the environment."""
    known = set(paths)
    return tuple(sorted(path for path in known if not _lies_in_another(path, known)))


def _lies_in_another(path: str, folders: Iterable[str]) -> bool:
    return any(path != other and _is_within(path, other) for other in folders)
