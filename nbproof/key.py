"""Which submission: whose, and of which lesson."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Key"]


class Key(NamedTuple):
    """Learner and lesson."""

    learner: str
    lesson: str

    @property
    def name(self) -> str:
        """``learner/lesson``, as people read it."""
        return f"{self.learner}/{self.lesson}"
