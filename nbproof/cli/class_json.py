"""``grade --json``: everything that a script needs. The form is told in ``docs/grade_json.md``."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbproof.cli.class_table import Told
from nbproof.errors import CourseError
from nbproof.files import replace_file
from nbproof.gradebook.marks import Mark, exercise_row, submission_row
from nbproof.interrupt import EXIT_CODE
from nbproof.marking.results import STATUSES

__all__ = ["GO_ON", "SCHEMA", "class_as_json", "error_as_json", "write_json"]

GO_ON = "run the same command again, without --force, to go on"
"""What to do after an interruption."""
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
        "totals": _totals(list(graded.marks.values())),
        "submissions": _submissions(graded.marks.values()),
        "nothing_handed_in": {lesson: list(who) for lesson, who in told.attendance.missing.items()},
        "nothing_gradable": [asdict(one) for one in told.attendance.useless],
        "undecided": [asdict(one) for one in told.attendance.undecided],
        "passed_over": list(graded.notes),
        "feedback_not_written": [list(page) for page in told.failed_pages],
        "collected": told.collected.as_dict() if told.collected else None,
    }


def error_as_json(error: CourseError | None, reached: Iterable[Mark] = (), *, seconds: float) -> dict[str, Any]:
    """The JSON of a run that did not come to its end, and what it had ``reached``; ``error`` is None if it was interrupted."""
    told = error or CourseError("interrupted", "", GO_ON)
    fact = {"fact": told.fact, "place": told.place, "next": told.next_command}
    code = EXIT_CODE if error is None else error.exit_code
    return {**_head(code, seconds), "error": fact, "submissions": _submissions(reached)}


def _head(exit_code: int, seconds: float) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "command": "grade",
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "exit_code": exit_code,
        "seconds": round(seconds, 3),
        "error": None,
    }


def _totals(marks: list[Mark]) -> dict[str, Any]:
    how = Counter(mark.how for mark in marks)
    statuses = Counter(one.status for mark in marks for one in mark.verdict.exercises)
    return {
        "submissions": len(marks),
        "graded": how["graded"],
        "unchanged": how["unchanged"],
        "not_graded": how["not graded"],
        "recovered": sum(mark.is_mended for mark in marks),
        "with_lost_answers": sum(bool(mark.missing) for mark in marks),
        "late": sum(mark.is_late for mark in marks),
        "waiting_for_marks": sum(mark.waiting for mark in marks),
        "exercises": {status: statuses[status] for status in STATUSES},
    }


def _submissions(marks: Iterable[Mark]) -> list[dict[str, Any]]:
    return [
        {**submission_row(mark), "exercises": [exercise_row(one) for one in mark.verdict.exercises]} for mark in marks
    ]


def write_json(target: str, told: dict[str, Any]) -> None:
    """Write it to a file, whole or not at all, or to standard output if ``target`` is ``-``. Raises OSError."""
    # Names may hold halves of surrogate pairs, which no file does: they are escaped.
    text = json.dumps(told, indent=1) + "\n"
    if target == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        replace_file(Path(target), text.encode())
