"""Why runs could not grade what they could not: kept in ``.course/problems.json``, for reports that are written later."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nbproof.files import replace_file
from nbproof.marking.results import Score

__all__ = ["Ungraded", "forget_problems", "note_problems", "problems_of"]


@dataclass(frozen=True)
class Ungraded:
    """Why one submission was not graded, and whether that is a flaw of the grader."""

    why: str
    grader_failed: bool = False


def note_problems(root: Path, scores: Iterable[Score]) -> None:
    """Keep the problems of these scores, and forget those that are no longer there. Raises OSError."""
    kept = problems_of(root)
    for score in scores:
        kept.pop((score.learner, score.lesson), None)
        if score.problem:
            kept[score.learner, score.lesson] = Ungraded(score.problem, score.grader_failed)
    _write(root, kept)


def forget_problems(root: Path, learners: Collection[str]) -> None:
    """Forget the problems of these learners. Raises OSError."""
    kept = problems_of(root)
    if any(learner in learners for learner, _ in kept):
        _write(root, {key: one for key, one in kept.items() if key[0] not in learners})


def _write(root: Path, kept: Mapping[tuple[str, str], Ungraded]) -> None:
    problems = [
        {"learner": key[0], "lesson": key[1], "problem": kept[key].why, "grader_failed": kept[key].grader_failed}
        for key in sorted(kept)
    ]
    path = root / ".course" / "problems.json"
    path.parent.mkdir(exist_ok=True)
    replace_file(path, json.dumps({"problems": problems}, indent=1))


def problems_of(root: Path) -> dict[tuple[str, str], Ungraded]:
    """What was not graded, by learner and lesson."""
    try:
        kept = json.loads((root / ".course" / "problems.json").read_text(encoding="utf-8"))
        return {
            (one["learner"], one["lesson"]): Ungraded(str(one["problem"]), bool(one.get("grader_failed")))
            for one in kept["problems"]
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
