"""Doors: what packages next door add to the tool. Python's own packaging metadata says what is installed.

A package names it in its pyproject.toml, as an entry point, and is found once it is installed::

    [project.entry-points."nbproof.leaves"]
    polars = "nbproof_polars:LEAF"

docs/doors.md says what stands behind each door, with a package as an example.
"""

from __future__ import annotations

import contextlib
import reprlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from traceback import walk_tb
from typing import Any

from nbproof.command import this_python
from nbproof.errors import CourseError, UsageError, may_mean
from nbproof.grouping import grouped

__all__ = [
    "COMMANDS",
    "FORMATS",
    "LANGUAGES",
    "LEAVES",
    "POOLS",
    "SYSTEMS",
    "Door",
    "answerable",
    "as_pip",
    "blamed",
    "for_learners",
    "modules",
    "package_of",
]


@dataclass(frozen=True)
class Door:
    """One door. ``group``: of its entry points; ``noun``: what comes in by it; ``own``: names that the tool itself has there.

    ``wanted``: what an entry point has to be, in words.
    """

    group: str
    noun: str
    own: tuple[str, ...] = ()
    wanted: str = ""

    def installed(self) -> Mapping[str, Sequence[EntryPoint]]:
        """Name -> the packages' entry points of that name; two of one name are no error until somebody asks for it."""
        return grouped((one.name, one) for one in entry_points(group=self.group) if one.name not in self.own)

    def load(self, name: str, place: str, fits: Callable[[Any], bool] = lambda it: True) -> Any:
        """What a package has there under this name. ``place``: where the name was read.

        ``fits``: whether it is what the door wants. Raises UsageError, which names what is installed, or the package that has
        something else there.
        """
        found = self.installed()
        if name not in found:
            raise self.unknown(name, place, found)
        first, *others = found[name]
        if others:
            rivals = ", ".join(map(package_of, found[name]))
            raise UsageError(
                f"{len(found[name])} packages have a {self.noun} {name!r}: {rivals}",
                place,
                f"{this_python()} -m pip uninstall {package_of(others[-1])}",
            )
        try:
            loaded = first.load()
        except Exception as error:
            raise UsageError(
                f"the {self.noun} {name!r} of {package_of(first)} cannot be loaded: {type(error).__name__}: {error}",
                place,
                f"{this_python()} -m pip install --upgrade {package_of(first)}",
            ) from error
        if not fits(loaded):
            raise UsageError(
                f"what {package_of(first)} has as the {self.noun} {name!r} is none: {reprlib.repr(loaded)}",
                place,
                f"its author has to make it {self.wanted} (docs/doors.md)",
            )
        return loaded

    def unknown(self, name: str, place: str, found: Collection[str], cure: str = "") -> UsageError:
        """The error that says which names there are. ``cure``: what else to do, besides installing one."""
        there = sorted({*self.own, *found})
        choose = f"choose from: {', '.join(there)}; or " if there else ""
        more = f"{cure}; or " if cure else ""
        return UsageError(
            f"no {self.noun} is called {name!r}{may_mean(name, there)}",
            place,
            f"{choose}{more}install the package that has it (docs/doors.md)",
        )


LEAVES = Door(
    "nbproof.leaves",
    "leaf type",
    ("numpy", "pandas", "torch"),
    "an object of a class under nbproof.values.leaf.Leaf, with this name, and with a mark of one character, none of 'dlpu'",
)
SYSTEMS = Door(
    "nbproof.systems", "system", (), "an object (no class) of a class under nbproof_lms.system.System, with a name"
)
POOLS = Door("nbproof.pools", "pool", ("local",), "a nbproof.run.pool.PoolDoor")
FORMATS = Door("nbproof.formats", "format", ("csv", "html", "json"), "a nbproof.report.report.Format")
LANGUAGES = Door("nbproof.languages", "language", (), "a nbproof.values.words.Language")
COMMANDS = Door("nbproof.commands", "command", (), "a nbproof.command.Command")
_DOORS = (LEAVES, SYSTEMS, POOLS, FORMATS, LANGUAGES, COMMANDS)


def package_of(entry: EntryPoint) -> str:
    """The distribution that an entry point is of, as pip calls it."""
    return entry.dist.name if entry.dist is not None else entry.module


def for_learners(package: str) -> bool:
    """Whether learners need a distribution: not if all that it is known for is behind doors that only a grader opens."""
    behind = {door for door, entry in _all_entries() if as_pip(package_of(entry)) == as_pip(package)}
    return not behind or bool(behind & {LEAVES, LANGUAGES})


def as_pip(name: str) -> str:
    """The name of a package as pip compares it."""
    return name.lower().replace("_", "-").replace(".", "-")


def _all_entries() -> Iterator[tuple[Door, EntryPoint]]:
    for door in _DOORS:
        yield from ((door, one) for one in entry_points(group=door.group))


@contextlib.contextmanager
def answerable() -> Iterator[None]:
    """What a package next door raises in this block becomes a CourseError that names the package."""
    try:
        yield
    except Exception as error:
        told = blamed(error)
        if told is error:
            raise
        raise told from error


def blamed(error: Exception) -> Exception:
    """A CourseError that names the package next door, if its code raised this error; otherwise the error itself.

    Of what is neither the tool's nor a package's nor a notebook's, whoever called it has to answer for it.
    """
    if isinstance(error, (CourseError, BrokenPipeError)):
        return error
    brought = modules()
    for frame, line in reversed(list(walk_tb(error.__traceback__))):
        top = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if top in _OURS:
            return error
        if top in brought:
            package = brought[top]
            return CourseError(
                f"the package {package} raised {type(error).__name__}: {error}",
                f"{frame.f_code.co_filename}, line {line}",
                f"its author has to mend it, or has: {this_python()} -m pip install --upgrade {package}",
            )
    return error


_OURS = ("nbproof", "nbproof_lms", "__main__")
"""Top-level modules of the tool and of notebooks."""


@cache
def modules() -> Mapping[str, str]:
    """Top-level module -> the package that has it, of those next door. Looked up once: a sealed process cannot look."""
    return {entry.module.partition(".")[0]: package_of(entry) for _, entry in _all_entries()}
