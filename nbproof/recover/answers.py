"""What is found in a submission: its answers, how each that was not where it should be was found, and the learner's own cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from nbproof.recover.own_cells import OwnCell, read_back
from nbproof.recover.released import Handout

__all__ = ["Answers"]


@dataclass(frozen=True)
class Answers:
    """A submission's answers, those in words among them: grade_id -> text; the rest in sentences for the learner."""

    answers: dict[str, str]
    recovered: dict[str, str] = field(default_factory=dict)
    """How an answer was found that was not where it should be."""
    lost: dict[str, str] = field(default_factory=dict)
    """Why there is no answer, or none that is certain."""
    damage: str = ""
    """What was wrong with the file, and was mended while reading."""
    own: tuple[OwnCell, ...] = ()
    """The learner's own cells, in their order: what is code and no part of an answer."""
    python: str = ""
    """The Python that it was written with, such as ``3.14``, if that is newer than the one which grades."""

    def is_untouched(self, stubs: Mapping[str, str], exercise: str) -> bool:
        """Whether the TODO cell is as handed out: by itself that earns nothing (the author contract proves it)."""
        return exercise in stubs and self.answers[exercise].strip() in ("", stubs[exercise].strip())

    def waits(self, stubs: Mapping[str, str], exercise: str) -> bool:
        """Whether something was found that may be the answer: it stands there as comments, and a person has to look."""
        return exercise in self.lost and not self.is_untouched(stubs, exercise)

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON-able data."""
        return asdict(self)

    @classmethod
    def from_worker(cls, handout: Handout, data: object) -> Answers:
        """What :meth:`as_dict` wrote down, from a process that may have been told to lie. Raises ValueError."""
        told = data if isinstance(data, dict) else {}
        answers, recovered, lost = (_words(told.get(name)) for name in ("answers", "recovered", "lost"))
        if answers.keys() != {*handout.stubs, *handout.written} or not isinstance(told.get("damage"), str):
            raise ValueError("what was not asked for")
        return cls(answers, recovered, lost, told["damage"], read_back(handout, told.get("own")))


def _words(given: object) -> dict[str, str]:
    found = given if isinstance(given, dict) else {}
    return {str(name): text for name, text in found.items() if isinstance(text, str)}
