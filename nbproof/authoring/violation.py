"""One broken clause of the author contract."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Violation"]


@dataclass(frozen=True)
class Violation:
    """Fact, place and next command."""

    fact: str
    place: str
    next_command: str
    lesson: str = field(default="", compare=False)
    """The slug of the lesson that it concerns as a whole; empty if it concerns one exercise, or the course."""
