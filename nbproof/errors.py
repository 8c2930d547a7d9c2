"""Errors that a person can mend: each says the fact, the place and the next command.

::

    CourseError
    ├── LessonError     a lesson file, or one of hints, breaks the author contract's form
    └── UsageError      a command was asked for something that is not there

Clauses of the author contract that are broken are LessonErrors as well: there may be many, so they are listed, not raised.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path

__all__ = ["CourseError", "LessonError", "UsageError", "disk_trouble", "may_mean", "refuse_unknown"]


class CourseError(Exception):
    """``fact``: what is wrong. ``place``: where. ``next_command``: what to do now."""

    exit_code = 1
    """The exit code of a command that ends with this error."""

    def __init__(self, fact: str, place: str = "", next_command: str = "") -> None:
        self.fact, self.place, self.next_command = fact, place, next_command
        super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """The message, a line each for fact, place and next command."""
        told = (("error: ", self.fact), ("  at:   ", self.place), ("  next: ", self.next_command))
        return [label + text for label, text in told if text]

    def _render_traceback_(self) -> list[str]:
        # IPython asks for this: in a notebook the message says all, and where it was raised helps nobody.
        return self.lines()


class LessonError(CourseError):
    """A lesson folder that cannot be built, a hint that cannot be shown, or a broken clause of the author contract."""


class UsageError(CourseError):
    """A command that names something unknown, or finds nothing to work on."""

    exit_code = 2


@contextlib.contextmanager
def disk_trouble(kind: type[CourseError], fact: str, place: Path, next_command: str) -> Iterator[None]:
    """If the disk refuses something in this block, raise an error of this kind. Its fact ends with what the disk says.

    ``place``: what is read or written. If it is a folder, the error tells the file that the disk names instead.
    """
    try:
        yield
    except OSError as error:
        named = (error.filename2 or error.filename) if place.is_dir() else None
        raise kind(f"{fact}: {error.strerror or error}", str(named or place), next_command) from None


def refuse_unknown(names: Iterable[str], what: str, known: Collection[str], place: Path | str) -> None:
    """Raise UsageError for the first of these names that is not known; ``what``: the kind of thing that they name."""
    for name in names:
        if name not in known:
            fact = f"no {what} is called {name!r}{may_mean(name, known)}"
            raise UsageError(fact, str(place), f"choose from: {', '.join(known)}")


def may_mean(name: str, known: Collection[str]) -> str:
    """The end of a sentence on a name that is not known: which of those that are known it may mean; empty if it is near none."""
    words = _words_of(name)
    near = [one for one in known if words and words <= _words_of(one)][:8]
    near += [one for one in get_close_matches(name, known) if one not in near]
    return f", and may mean: {', '.join(near)}" if near else ""


def _words_of(name: str) -> set[str]:
    """The words and numbers in a name, numbers without zeros in front: ``2`` and ``hooks`` are in ``02_hooks``."""
    return {one.lstrip("0") for one in re.findall(r"[^\W\d_]+|\d+", name.casefold())}
