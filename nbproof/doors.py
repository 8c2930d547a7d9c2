"""Doors: what packages next door add to the tool. Python's own packaging metadata says what is installed.

A package names it in its pyproject.toml, as an entry point, and is found once it is installed::

    [project.entry-points."nbproof.leaves"]
    polars = "nbproof_polars:LEAF"

docs/doors.md says what stands behind each door, with a package as an example.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from nbproof.command import this_python
from nbproof.errors import UsageError
from nbproof.grouping import grouped

__all__ = ["COMMANDS", "FORMATS", "LANGUAGES", "LEAVES", "POOLS", "SYSTEMS", "Door"]


@dataclass(frozen=True)
class Door:
    """One door. ``group``: of its entry points; ``noun``: what comes in by it; ``own``: names that the tool itself has there."""

    group: str
    noun: str
    own: tuple[str, ...] = ()

    def installed(self) -> Mapping[str, Sequence[EntryPoint]]:
        """Name -> the packages' entry points of that name; two of one name are no error until somebody asks for it."""
        return grouped((one.name, one) for one in entry_points(group=self.group) if one.name not in self.own)

    def load(self, name: str, place: str, cure: str = "") -> Any:
        """What a package has there under this name. ``place``: where the name was read.

        ``cure``: what to do if there is none, besides installing it. Raises UsageError, which names what is installed.
        """
        found = self.installed()
        if name not in found:
            raise self.unknown(name, place, found, cure)
        first, *others = found[name]
        if others:
            rivals = ", ".join(map(_package_of, found[name]))
            raise UsageError(
                f"{len(found[name])} packages have a {self.noun} {name!r}: {rivals}",
                place,
                f"{this_python()} -m pip uninstall {_package_of(others[-1])}",
            )
        try:
            return first.load()
        except Exception as error:
            raise UsageError(
                f"the {self.noun} {name!r} of {_package_of(first)} cannot be loaded: {type(error).__name__}: {error}",
                place,
                f"{this_python()} -m pip install --upgrade {_package_of(first)}",
            ) from error

    def unknown(self, name: str, place: str, found: Collection[str], cure: str = "") -> UsageError:
        """The error that says which names there are."""
        there = sorted({*self.own, *found})
        choose = f"choose from: {', '.join(there)}; or " if there else ""
        more = f"{cure}; or " if cure else ""
        return UsageError(
            f"no {self.noun} is called {name!r}",
            place,
            f"{choose}{more}install the package that has it (docs/doors.md)",
        )


LEAVES = Door("nbproof.leaves", "leaf type", ("numpy", "pandas", "torch"))
SYSTEMS = Door("nbproof.systems", "system")
POOLS = Door("nbproof.pools", "pool", ("local",))
FORMATS = Door("nbproof.formats", "format", ("csv", "html", "json"))
LANGUAGES = Door("nbproof.languages", "language")
COMMANDS = Door("nbproof.commands", "command")


def _package_of(entry: EntryPoint) -> str:
    """The distribution that an entry point is of, as pip calls it."""
    return entry.dist.name if entry.dist is not None else entry.module
