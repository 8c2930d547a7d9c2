"""Which files of the tool are in which distribution. In a clone packages/ says it, elsewhere what pip has noted."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.metadata import files
from pathlib import Path
from typing import Any

__all__ = ["LEARNERS_PROJECT", "PACKAGES", "TOOL", "is_for_learners"]

TOOL = Path(__file__).resolve().parent.parent
"""The folder of the tool's package."""
PACKAGES = TOOL.with_name("packages")
"""A folder with one pyproject.toml for each distribution; only a clone has it."""
LEARNERS_PROJECT = PACKAGES / "nbproof" / "pyproject.toml"
"""What installs the learners' part of the tool."""


def is_for_learners(name: str) -> bool:
    """Whether learners get this file of the tool: whether it is in the distribution ``nbproof``.

    ``name``: its path within the package.
    """
    if not PACKAGES.is_dir():
        return name in _installed()
    told = _told()
    *folders, file = name.split("/")
    package = ".".join(["nbproof", *folders])
    if package in told["packages"]:
        return True
    # With a module setuptools takes the __init__ of the package that it is in.
    brought = (f"{one.rpartition('.')[0]}.__init__" for one in told["py-modules"])
    return f"{package}.{file.removesuffix('.py')}" in {*told["py-modules"], *brought}


@cache
def _told() -> dict[str, Any]:
    """What setuptools is told of ``nbproof``."""
    return dict(tomllib.loads(LEARNERS_PROJECT.read_text(encoding="utf-8"))["tool"]["setuptools"])


@cache
def _installed() -> frozenset[str]:
    """The files that the distribution ``nbproof`` has put into the package, by their paths within it."""
    return frozenset(
        one.relative_to("nbproof").as_posix() for one in files("nbproof") or () if one.parts[0] == "nbproof"
    )
