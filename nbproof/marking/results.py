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

__all__ = [
    "ALL_PASSED",
    "FAULTS",
    "STATUSES",
    "UNCERTAIN",
    "UNTOUCHED",
    "CellRun",
    "ExerciseVerdict",
    "SubmissionVerdict",
    "TestVerdict",
    "WrittenAnswer",
    "pack",
    "unpack",
]


STATUSES = ("passed", "failed", "error", "timeout", "out of memory", "killed", "not answered", "uncertain")
UNCERTAIN = STATUSES[-1]
"""What may be the answer was found, and was not marked: it waits for a person."""
FAULTS = ("timeout", "out of memory", "killed")
"""Of what did not end by itself."""
ALL_PASSED, UNTOUCHED = "Every check passed.", "The TODO cell is as it was handed out."
"""What is said of an exercise that passed, and of one that was not answered."""


@dataclass(frozen=True)
class CellRun:
    """What running a cell left behind: nbformat outputs, and the exception that ended it."""

    outputs: tuple[dict[str, Any], ...] = ()
    error: str = ""


@dataclass(frozen=True)
class TestVerdict:
    """One test cell: its marks, and what its panel says."""

    grade_id: str
    score: float
    max_score: float
    passed: tuple[str, ...]
    """What its passed checks ask."""
    failed: tuple[str, ...]
    sentence: str = ""
    asked: str = ""
    where: str = ""
    got: str = ""
    wanted: str = ""
    hint: str | None = None
    line: str = ""
    printed: str = ""
    compared: dict[str, Any] | None = None
    """What was brought and what was wanted, for a picture (:mod:`nbproof.marking.results`); None if none helps."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing is wrong, also if there are no points to earn."""
        return self.score == self.max_score and not self.sentence


@dataclass(frozen=True)
class ExerciseVerdict:
    """How one exercise ended, with one sentence for the learner."""

    id: str
    status: str
    sentence: str
    tests: tuple[TestVerdict, ...]
    hint: str | None = None
    seconds: float = 0.0

    @property
    def max_score(self) -> float:
        """The marks that can be earned."""
        return sum(test.max_score for test in self.tests)

    @property
    def score(self) -> float:
        """Its marks."""
        return sum(test.score for test in self.tests)

    @property
    def is_whole(self) -> bool:
        """Whether it earned every point."""
        return self.score >= self.max_score

    @property
    def hints(self) -> tuple[str, ...]:
        """Misconceptions that the checks recognised."""
        return tuple(dict.fromkeys(test.hint for test in self.tests if test.hint and test.score < test.max_score))

    @property
    def difference(self) -> str:
        """The first difference that a check found; empty if none got that far."""
        return next((test.sentence for test in self.tests if test.sentence and test.score < test.max_score), "")


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
    exercises: tuple[ExerciseVerdict, ...]
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
        tested = {test.grade_id: test.score for exercise in self.exercises for test in exercise.tests}
        return {**tested, **{one.id: 0.0 for one in self.written if not one.answered}}

    def in_short(self) -> SubmissionVerdict:
        """Without outputs and pictures: that much is kept of a whole class."""
        told = (replace(one, tests=tuple(replace(test, compared=None) for test in one.tests)) for one in self.exercises)
        return replace(self, exercises=tuple(told), runs={}, own=())

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON-able data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SubmissionVerdict:
        """The verdict that :meth:`as_dict` wrote down."""
        exercises = tuple(_exercise_from(one) for one in data["exercises"])
        runs = {name: CellRun(tuple(run["outputs"]), run["error"]) for name, run in data["runs"].items()}
        written = tuple(WrittenAnswer(**one) for one in data.get("written", ()))
        own, newer = tuple(OwnCell(**one) for one in data.get("own", ())), tuple(data.get("newer", ()))
        return cls(**{**data, "exercises": exercises, "runs": runs, "written": written, "own": own, "newer": newer})


def _exercise_from(data: dict[str, Any]) -> ExerciseVerdict:
    tests = [
        TestVerdict(**{**test, "passed": tuple(test["passed"]), "failed": tuple(test["failed"])})
        for test in data["tests"]
    ]
    # An earlier version wrote down a seed of its own: without what it knew, written answers would wait once more.
    known = {name: value for name, value in data.items() if name != "seed"}
    return ExerciseVerdict(**{**known, "tests": tuple(tests)})


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
