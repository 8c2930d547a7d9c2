"""What grading found, as frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nbproof.grouping import merged
from nbproof.recover.answers import OwnCell
from nbproof.values.results import Outcome

__all__ = [
    "CellRun",
    "Verdict",
    "WrittenAnswer",
]


@dataclass(frozen=True)
class CellRun:
    """What running a cell left behind: nbformat outputs, and the exception that ended it."""

    outputs: tuple[dict[str, Any], ...] = ()
    error: str = ""


@dataclass(frozen=True)
class WrittenAnswer:
    """What a person is to mark, or need not, because nobody has written anything. Its text is among the answers."""

    id: str
    max_score: float
    answered: bool
    code: bool = False
    """Whether it is code, that a person marks."""


@dataclass(frozen=True)
class Verdict:
    """How one submission ended; without exercises, what no run has graded."""

    learner: str
    lesson: str
    seed: int = 0
    exercises: tuple[Outcome, ...] = ()
    answers: dict[str, str] = field(default_factory=dict)
    runs: dict[str, CellRun] = field(default_factory=dict)
    """grade_id of a TODO cell, or ``own <number>`` of a cell that a person reads -> what running it left behind."""
    recovered: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    peak_mb: float = 0.0
    problem: str = ""
    """Why it was not graded; empty if it was."""
    grader_failed: bool = False
    """Whether that is a flaw of the grader, and nothing that was handed in."""
    written: tuple[WrittenAnswer, ...] = ()
    lost: dict[str, str] = field(default_factory=dict)
    """exercise -> why there is no answer, if its TODO cell is missing, or nobody can tell where it stands."""
    damage: str = ""
    """What was wrong with the file, and was mended while reading."""
    own: tuple[OwnCell, ...] = ()
    """The learner's own cells."""
    pictures: Mapping[str, str] = field(default_factory=dict)
    """Name of a picture that the learner's text shows -> a plain PNG in base64."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """Exercise, or written answer -> what it is called where people read."""
    handed_in: str = ""
    """Digest of the bytes that were marked, and of the journals' key; empty until it is journalled."""
    source: str = ""
    """Digest of all else that the verdict rests on. If both digests are as they were, nothing of it runs again."""
    shown: str = ""
    """Digest of all that the graded notebook shows and the marks count: the lesson's prose and points are in it as well."""
    late: bool = False
    """Whether an LMS calls it late, and does not say when it came."""

    @property
    def score(self) -> float:
        """The marks that need no person."""
        return sum(exercise.score for exercise in self.exercises)

    @property
    def scores(self) -> dict[str, float]:
        """Marks by grade_id: of every test cell, and 0 for each written answer that nobody has written."""
        unwritten = {one.id: 0.0 for one in self.written if not one.answered}
        return merged((unwritten, *(exercise.points for exercise in self.exercises)))

    def in_short(self) -> Verdict:
        """The verdict without outputs and pictures: a run keeps so much of each submission in memory."""
        exercises = []
        for one in self.exercises:
            findings = tuple(replace(finding, picture=None) for finding in one.findings)
            exercises.append(replace(one, findings=findings))
        return replace(self, exercises=tuple(exercises), runs={}, own=(), pictures={})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Verdict:
        """The verdict that ``asdict`` wrote down."""
        exercises = tuple(Outcome.from_dict(one) for one in data["exercises"])
        runs = {name: CellRun(tuple(run["outputs"]), run["error"]) for name, run in data["runs"].items()}
        written = tuple(WrittenAnswer(**one) for one in data.get("written", ()))
        own = tuple(OwnCell(**{**one, "questions": tuple(one.get("questions", ()))}) for one in data.get("own", ()))
        return cls(**{**data, "exercises": exercises, "runs": runs, "written": written, "own": own})
