"""What grading found, as frozen data; also what was brought beside what was wanted, in a few JSON-able bytes.

A verdict carries the latter, and a feedback page draws it.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from nbproof.recover.pieces import OwnCell
from nbproof.sandbox import evidence_wire, wire
from nbproof.values.evidence import Evidence, snapshot
from nbproof.values.place import Place, place_of, plainly, worth_drawing
from nbproof.values.results import FAULTS, Outcome, Status

__all__ = [
    "FAULTS",
    "STATUSES",
    "UNCERTAIN",
    "CellRun",
    "GradedClass",
    "Score",
    "SubmissionVerdict",
    "WrittenAnswer",
    "pack",
    "unpack",
]


STATUSES = tuple(Status)
UNCERTAIN = Status.UNCERTAIN


@dataclass(frozen=True)
class CellRun:
    """What running a cell left behind: nbformat outputs, and the exception that ended it."""

    outputs: tuple[dict[str, Any], ...] = ()
    error: str = ""


@dataclass(frozen=True)
class WrittenAnswer:
    """What a person is to mark, or need not, because nobody has written anything. Its text is among the answers."""

    id: str
    title: str
    max_score: float
    answered: bool


@dataclass(frozen=True)
class SubmissionVerdict:
    """How one submission ended."""

    learner: str
    lesson: str
    seed: int
    exercises: tuple[Outcome, ...]
    answers: dict[str, str]
    runs: dict[str, CellRun]
    """grade_id of a TODO cell -> what running it left behind."""
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
    """The learner's own cells that ran."""
    newer: tuple[str, ...] = ()
    """Of what is lost, what was added to the lesson after the notebook had been handed out."""

    @classmethod
    def refused(
        cls, learner: str, lesson: str, seed: int, problem: str, *, grader_failed: bool = False
    ) -> SubmissionVerdict:
        """The verdict on what cannot be graded."""
        return cls(learner, lesson, seed, (), {}, {}, problem=problem, grader_failed=grader_failed)

    @property
    def score(self) -> float:
        """Its marks, as far as they can be given without a person."""
        return sum(exercise.score for exercise in self.exercises)

    @property
    def scores(self) -> dict[str, float]:
        """Marks by grade_id: of every test cell, and 0 for each written answer that nobody has written."""
        scores = {one.id: 0.0 for one in self.written if not one.answered}
        for exercise in self.exercises:
            scores |= exercise.points
        return scores

    def in_short(self) -> SubmissionVerdict:
        """Without outputs and pictures: that much is kept of a whole class."""
        exercises = []
        for one in self.exercises:
            findings = tuple(replace(finding, picture=None) for finding in one.findings)
            exercises.append(replace(one, findings=findings))
        return replace(self, exercises=tuple(exercises), runs={}, own=())

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON-able data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SubmissionVerdict:
        """The verdict that :meth:`as_dict` wrote down."""
        exercises = tuple(Outcome.from_dict(one) for one in data["exercises"])
        runs = {name: CellRun(tuple(run["outputs"]), run["error"]) for name, run in data["runs"].items()}
        written = tuple(WrittenAnswer(**one) for one in data.get("written", ()))
        own, newer = tuple(OwnCell(**one) for one in data.get("own", ())), tuple(data.get("newer", ()))
        return cls(**{**data, "exercises": exercises, "runs": runs, "written": written, "own": own, "newer": newer})


_NOTHING = SubmissionVerdict("", "", 0, (), {}, {})


@dataclass(frozen=True)
class Score:
    """One submission of a class: its verdict, and what the gradebook and a run say of it."""

    learner: str
    lesson: str
    score: float = 0.0
    """With marks that people gave, less the late penalty."""
    max_score: float = 0.0
    problem: str = ""
    """Why it is not graded; empty if it is."""
    how: str = "graded"
    """``graded``; ``unchanged``; ``not graded``."""
    waiting: int = 0
    """Written answers that nobody has marked yet; their marks are in ``max_score``, not in ``score``."""
    pending: bool = False
    """Whether a person is still to look at anything."""
    penalty: float = 0.0
    """For being late; taken off ``score`` already."""
    seconds_late: float = 0.0
    said_late: bool = False
    """The LMS calls it late, and does not say when it came: ``seconds_late`` is 1 if it was due, and not extended, else 0."""
    extended: bool = False
    """Whether the learner had more time than the class."""
    verdict: SubmissionVerdict = _NOTHING
    """In short; of what is not graded, one that says nothing."""
    grader_failed: bool = False
    """Whether ``problem`` is a flaw of the grader."""
    waits: bool = False
    """Whether ``problem`` is only that nobody has graded it yet."""
    note: str = ""
    """What a person should know of it."""
    settled: frozenset[str] = frozenset()
    """Exercises whose marks a person has given."""

    @property
    def missing(self) -> dict[str, str]:
        """What the notebook should hold, does not, and nobody has marked: exercise -> why there is no answer."""
        known = {*self.verdict.newer, *self.settled}
        return {name: why for name, why in self.verdict.lost.items() if name not in known}

    @property
    def statuses(self) -> tuple[str, ...]:
        """How each exercise ended."""
        return tuple(exercise.status for exercise in self.verdict.exercises)

    @property
    def late(self) -> bool:
        """Whether it came after it was due, by the times or by the LMS's word."""
        return self.seconds_late > 0 or self.said_late or self.penalty > 0

    @property
    def share(self) -> float:
        """Score by maximum, 0 to 1."""
        return self.score / self.max_score if self.max_score else 0.0

    @property
    def fresh(self) -> bool:
        """Whether this run marked anything of it."""
        return self.how == "graded" and not self.problem


@dataclass(frozen=True)
class GradedClass:
    """Every score, ordered by learner and lesson, and where the records lie."""

    scores: tuple[Score, ...]
    seed: int
    gradebook: str
    graded: tuple[tuple[str, str], ...]
    """(learner, lesson) of what this run graded."""
    rewritten: tuple[tuple[str, str], ...] = ()
    """(learner, lesson) of what is shown anew, although nothing ran: its penalty changed."""
    reasons: tuple[str, ...] = ()
    """What was graded again, and why."""
    plain_tests: dict[str, int] = field(default_factory=dict)
    """Of the lessons of which this run marked something: how many test cells run beside the learner's code."""
    unfit: dict[str, str] = field(default_factory=dict)
    """Lesson -> why its reference answers lose marks here."""
    anyway: bool = False
    """Whether those were graded even so."""


_MOST_BYTES = 64 * 1024
"""Of arrays, both sides together, before they are compressed. A larger answer has no picture."""

_MOST_TEXT = 16 * 1024


def pack(compared: tuple[Evidence, object] | None) -> dict[str, Any] | None:
    """The place where both part, packed; None if a picture tells no more than the sentence, or would be too large."""
    if compared is None:
        return None
    try:
        place = place_of(*compared)
        if place is None or not worth_drawing(place):
            return None
        sides, payload = evidence_wire.encode([place.got, snapshot(plainly(place.wanted))])
        if len(payload) > _MOST_BYTES or len(json.dumps(sides)) > _MOST_TEXT:
            return None
        packed = base64.b64encode(zlib.compress(payload, 6)).decode("ascii")
    except Exception:  # it is there for a picture only: what a learner brings must not cost them the verdict
        return None
    return {"where": place.where[:200], "sides": sides, "bytes": packed, "tolerance": place.tolerance}


def unpack(packed: object) -> Place | None:
    """The place that :func:`pack` packed; None for anything else."""
    if not isinstance(packed, dict):
        return None
    try:
        unzip = zlib.decompressobj()
        payload = unzip.decompress(base64.b64decode(packed["bytes"], validate=True), _MOST_BYTES + 1)
        sides = evidence_wire.decode(packed["sides"], payload)
        if not isinstance(sides, list) or len(sides) != 2:
            return None
        near = packed["tolerance"]
        tolerance = None if near is None else (float(near[0]), float(near[1]))
        return Place(str(packed["where"])[:200], sides[0], sides[1], tolerance)
    except (KeyError, TypeError, ValueError, IndexError, zlib.error, wire.WireError):
        return None
