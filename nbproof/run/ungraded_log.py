"""Why runs could not grade what they could not: kept in ``.course/problems.json``, for reports that are written later."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from nbproof.files import replace_file

__all__ = ["forget_problems", "note_problems", "problems_of"]


def note_problems(root: Path, scores: Iterable[Any]) -> None:
    """Keep the problems of these scores, and forget those that are no longer there. Raises OSError."""
    kept = problems_of(root)
    for score in scores:
        kept.pop((score.learner, score.lesson), None)
        if score.problem:
            kept[score.learner, score.lesson] = score.problem
    _write(root, kept)


def forget_problems(root: Path, learners: Collection[str]) -> None:
    """Forget the problems of these learners. Raises OSError."""
    kept = problems_of(root)
    if any(learner in learners for learner, _ in kept):
        _write(root, {key: why for key, why in kept.items() if key[0] not in learners})


def _write(root: Path, kept: Mapping[tuple[str, str], str]) -> None:
    problems = [{"learner": who, "lesson": lesson, "problem": why} for (who, lesson), why in sorted(kept.items())]
    path = root / ".course" / "problems.json"
    path.parent.mkdir(exist_ok=True)
    replace_file(path, json.dumps({"problems": problems}, indent=1))


def problems_of(root: Path) -> dict[tuple[str, str], str]:
    """(learner, lesson) -> why it was not graded."""
    try:
        kept = json.loads((root / ".course" / "problems.json").read_text(encoding="utf-8"))
        return {(one["learner"], one["lesson"]): str(one["problem"]) for one in kept["problems"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
