"""What a verdict depends on besides the lesson and the submission: interpreter, libraries, and the code that grades.

Imports nothing heavy: a cluster's scheduler imports it too.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

from nbproof.course_file import the_course
from nbproof.files import digest_of

__all__ = ["MARKED_BY", "SHOWN_BY", "digest_of_course", "digest_of_rooms", "environment", "leaf_versions", "versions"]


def leaf_versions() -> dict[str, str]:
    """The versions of the course's leaf types. Nothing of them is imported."""
    found = {}
    for name in the_course().leaves:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "none"
    return found


MARKED_BY = ("cells.py", "regions.py", "checks", "marking", "recover", "sandbox", "values")
"""What a verdict depends on: what says which cell is an answer, and these rooms of the tool.

Whatever else a run uses decides where, when and for whom.
"""
SHOWN_BY = ("display", "gradebook")
"""Rooms that graded notebooks are written by."""


def digest_of_rooms(rooms: Sequence[str]) -> str:
    """Changes with any module in these rooms."""
    places = [Path(__file__).resolve().parent.parent / room for room in rooms]
    return _digest_of_files(path for place in places for path in ([place] if place.is_file() else place.rglob("*.py")))


def digest_of_course() -> str:
    """Changes with the modules that this course's checks are made of, with its hints and with its ``course.toml``."""
    one = the_course()
    modules = one.folder.glob("*.py") if one.package else ()
    return _digest_of_files((*modules, *one.folder.glob("course.toml"), one.folder / "hints.json"))


def _digest_of_files(paths: Iterable[Path]) -> str:
    return digest_of(*(part for path in sorted(paths) for part in (path.name.encode(), path.read_bytes())))


@cache
def _loaded() -> dict[str, str]:
    # When it is first asked, and never again: a process that goes on after `git pull` still runs the old code.
    python = ".".join(platform.python_version_tuple()[:2])
    code = {"the grader": digest_of_rooms(MARKED_BY), "the course": digest_of_course()}
    return {"Python": python, **leaf_versions(), **{name: digest[:12] for name, digest in code.items()}}


def versions() -> dict[str, str]:
    """What has to be the same here and there, for a verdict to be the same."""
    return dict(_loaded())


def environment() -> bytes:
    """Changes with the interpreter, with what is installed for it, and with the code that grades."""
    parts = [sys.version, sys.prefix, json.dumps(versions(), sort_keys=True)]
    for entry in sys.path:
        try:
            parts.append(f"{entry} {os.stat(entry).st_mtime_ns}")
        except OSError:
            continue
    return "\0".join(parts).encode()
