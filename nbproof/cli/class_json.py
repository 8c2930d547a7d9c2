"""``grade --json``: everything that a script needs. The form is told in ``docs/grade_json.md``."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbproof.cli.class_table import Told
from nbproof.display.words import ENGLISH
from nbproof.errors import CourseError
from nbproof.files import replace_file
from nbproof.marking.results import STATUSES, Score
from nbproof.values.results import Outcome

__all__ = ["SCHEMA", "class_as_json", "error_as_json", "write_json"]

SCHEMA = 2
"""Rises when a field is renamed, taken away or means something else; not when one is added."""


def class_as_json(told: Told, exit_code: int) -> dict[str, Any]:
    """The JSON of a run that came to its end."""
    graded = told.graded
    return {
        **_head(exit_code, told.seconds),
        "seed": graded.seed if graded.graded else None,
        "gradebook": graded.gradebook,
        "feedback": str(told.feedback.resolve()) if told.feedback else None,
        "regraded_because": list(graded.reasons),
        "plain_tests": graded.plain_tests,
        "totals": _totals(graded.scores),
        "submissions": [_submission(score) for score in graded.scores],
        "nothing_handed_in": {lesson: list(who) for lesson, who in told.attendance.missing.items()},
        "nothing_gradable": [asdict(one) for one in told.attendance.useless],
        "undecided": [asdict(one) for one in told.attendance.undecided],
        "passed_over": list(told.notes),
        "feedback_not_written": [list(page) for page in told.failed_pages],
        "collected": told.collected.as_dict() if told.collected else None,
    }


def error_as_json(
    error: CourseError | None, reached: Sequence[Score] = (), *, exit_code: int, seconds: float, force: bool = False
) -> dict[str, Any]:
    """The JSON of a run that did not come to its end, and what it had ``reached``; ``error`` is None if it was interrupted."""
    without = ", without --force," if force else ""
    fact = {"fact": "interrupted", "place": "", "next": f"run the same command again{without} to go on"}
    if error is not None:
        fact = {"fact": error.fact, "place": error.place, "next": error.next_command}
    submissions = [_submission(score) for score in reached]
    return {**_head(exit_code, seconds), "error": fact, "submissions": submissions}


def _head(exit_code: int, seconds: float) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "command": "grade",
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "exit_code": exit_code,
        "seconds": round(seconds, 3),
        "error": None,
    }


def _totals(scores: Sequence[Score]) -> dict[str, Any]:
    how = Counter("not graded" if score.problem else score.how for score in scores)
    statuses = Counter(status for score in scores for status in score.statuses)
    return {
        "submissions": len(scores),
        "graded": how["graded"],
        "unchanged": how["unchanged"],
        "not_graded": how["not graded"],
        "recovered": sum(bool(score.verdict.recovered or score.verdict.damage) for score in scores),
        "with_lost_answers": sum(bool(score.missing) for score in scores),
        "with_newer_exercises": sum(bool(score.verdict.newer) for score in scores),
        "late": sum(score.late for score in scores),
        "waiting_for_marks": sum(score.waiting for score in scores),
        "exercises": {status: statuses[status] for status in STATUSES},
    }


def _submission(score: Score) -> dict[str, Any]:
    return {
        "learner": score.learner,
        "lesson": score.lesson,
        "how": "not graded" if score.problem else score.how,
        "problem": score.problem or None,
        "score": None if score.problem else score.score,
        "max_score": score.max_score,
        "late_penalty": score.penalty,
        "late": score.late,
        "seconds_late": score.seconds_late,
        "only_said_late": score.said_late,
        "extended": score.extended,
        "waiting_for_marks": score.waiting,
        "recovered": score.verdict.recovered,
        "lost": score.missing,
        "newer": list(score.verdict.newer),
        "damage": score.verdict.damage or None,
        "seed": score.verdict.seed,
        "exercises": [_exercise(one) for one in score.verdict.exercises],
    }


def _exercise(one: Outcome) -> dict[str, Any]:
    return {
        "id": one.id,
        "status": one.status,
        "score": one.score,
        "max_score": one.max_score,
        "sentence": ENGLISH.outcome(one),
        "hint": one.hint,
        "seconds": one.seconds,
    }


def write_json(target: str, told: dict[str, Any]) -> None:
    """Write it to a file, whole or not at all, or to standard output if ``target`` is ``-``. Raises OSError."""
    # Names may hold halves of surrogate pairs, which no file does: they are escaped.
    text = json.dumps(told, indent=1) + "\n"
    if target == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        replace_file(Path(target), text.encode())
