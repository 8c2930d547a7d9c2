"""Chooses how far submissions are kept apart from the machine, among the levels that it offers, and says which one it is."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from enum import Enum
from functools import cache

from nbproof.command import course_command
from nbproof.sandbox.exceptions import NoIsolation

__all__ = ["Isolation", "isolation_or_refuse", "offered", "why_not", "why_not_isolated"]


class Isolation(Enum):
    """The levels, as the command line and the configuration name them; `docs/engine.md` says what each one holds."""

    FULL = "full"
    REDUCED = "reduced"
    NONE = "none"


@dataclass(frozen=True)
class _Chosen:
    """A level of isolation, and the first line of a run, which names the level."""

    level: Isolation
    line: str

    def __str__(self) -> str:
        return self.line


@cache
def why_not(level: Isolation) -> str:
    """Why this machine does not offer a level; empty if it does. It is tried once."""
    if sys.platform != "linux":
        return f"it exists on Linux only, and this is {sys.platform}"
    # Not before: what these import does not exist on Windows.
    from nbproof.sandbox.syscalls import ARCHITECTURES

    if platform.machine() not in ARCHITECTURES:
        return f"no system-call filter is written for {platform.machine()}"
    if level is Isolation.FULL:
        from nbproof.sandbox.namespaces import probe_isolation

        return probe_isolation()
    from nbproof.sandbox.reduced import probe_reduced

    return probe_reduced()


def offered() -> dict[Isolation, str]:
    """For each level why this machine does not offer it; empty if it does. Each is tried, in processes that end at once."""
    return {level: why_not(level) for level in (Isolation.FULL, Isolation.REDUCED)}


def why_not_isolated() -> str:
    """Why this machine cannot isolate submissions at any level; empty if it can."""
    full = why_not(Isolation.FULL)
    reduced = full and why_not(Isolation.REDUCED)
    return reduced and f"{full}; {reduced}"


def isolation_or_refuse(unsafe: bool = False, wanted: str | None = None) -> _Chosen:
    """Choose the best level that this machine offers, or the one that is ``wanted``.

    ``unsafe``: choose no isolation. Raises NoIsolation if the machine does not offer that level, or offers none.
    """
    if sys.platform != "linux":
        raise NoIsolation(
            f"the grading engine runs on Linux only, and this is {sys.platform}",
            "docs/engine.md, 'Which machine'",
            "grade in a container: docs/engine.md, 'In a container'",
        )
    if unsafe:
        return _Chosen(
            Isolation.NONE, "isolation: NONE (--unsafe): submissions run as you, with your files and network in reach"
        )
    if wanted not in (None, Isolation.FULL.value, Isolation.REDUCED.value):
        raise NoIsolation(
            f"there is no level of isolation called {wanted}",
            "c.Mark.isolation, or --isolation",
            "choose from: full, reduced",
        )
    levels = (Isolation.FULL, Isolation.REDUCED) if wanted is None else (Isolation(wanted),)
    for level in levels:
        if not why_not(level):
            return _Chosen(level, _line(level, wanted))
    if wanted is not None:
        raise NoIsolation(
            f"this machine offers no {wanted} isolation: {why_not(levels[0])}",
            f"--isolation {wanted}",
            f"see what it offers, and how to mend that: {course_command('isolation')}",
        )
    raise NoIsolation(
        f"this machine cannot isolate submissions: {why_not_isolated()}",
        "the kernel: it has to offer unprivileged user namespaces, or Landlock",
        f"see {course_command('isolation')}; or add --unsafe if you would run every submission yourself",
    )


def _line(level: Isolation, wanted: str | None) -> str:
    if level is Isolation.FULL:
        return "isolation: full (user, mount, pid, ipc and network namespaces, system-call filter, limits)"
    from nbproof.sandbox.landlock import abi

    because = f"because {why_not(Isolation.FULL)}" if wanted is None else "as you wished"
    return (
        f"isolation: reduced (Landlock ABI {abi()}, system-call filter, limits), {because}; "
        "what it lacks: docs/engine.md, 'What each level holds'"
    )
