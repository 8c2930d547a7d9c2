"""Errors that a person can mend: each says the fact, the place and the next command.

::

    CourseError
    ├── LessonError     a lesson file, or one of hints, breaks the author contract's form
    └── UsageError      a command was asked for something that is not there

A :class:`Violation` says the same of a broken clause of the author contract: there may be many, so none is raised.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CourseError", "LessonError", "UsageError", "Violation"]


class CourseError(Exception):
    """``fact``: what is wrong. ``place``: where. ``next_command``: what to do now."""

    exit_code = 1
    """Of the command that ends with it."""

    def __init__(self, fact: str, place: str = "", next_command: str = "") -> None:
        self.fact, self.place, self.next_command = fact, place, next_command
        super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """The message, a line each for fact, place and next command."""
        told = (("error: ", self.fact), ("  at:   ", self.place), ("  next: ", self.next_command))
        return [label + text for label, text in told if text]


class LessonError(CourseError):
    """A lesson folder that cannot be built, or a hint that cannot be shown."""


class UsageError(CourseError):
    """A command that names something unknown, or finds nothing to work on."""

    exit_code = 2


@dataclass(frozen=True)
class Violation:
    """One broken clause of the author contract."""

    fact: str
    place: str
    next_command: str
