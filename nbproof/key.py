"""Which submission: the learner's id, and the lesson."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Key", "assignment_of", "notebook_of"]


def assignment_of(lesson: str) -> str:
    """The assignment that a lesson is part of: ``ps1`` of ``ps1/problem1``; the same word where it has one notebook."""
    return lesson.partition("/")[0]


def notebook_of(lesson: str) -> str:
    """What the lesson's notebook is called, without its ending."""
    return lesson.rpartition("/")[2]


class Key(NamedTuple):
    """The learner and the lesson of a submission."""

    learner: str
    lesson: str

    @classmethod
    def of(cls, name: str) -> Key:
        """The key with this :attr:`name`."""
        learner, _, lesson = name.partition("/")
        return cls(learner, lesson)

    @property
    def name(self) -> str:
        """``learner/lesson``, as people read it."""
        return f"{self.learner}/{self.lesson}"

    @property
    def assignment(self) -> str:
        """The assignment that the lesson is part of."""
        return assignment_of(self.lesson)
