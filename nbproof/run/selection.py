"""``--only``: what of a class is to be graded, by the names that an instructor would say."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from nbproof.cells import CellKind, kind_of, name_of
from nbproof.command import course_command
from nbproof.errors import UsageError
from nbproof.run.intake import Intake

__all__ = ["Selection", "exercises_of", "select"]

_SHOWN = 5


@dataclass(frozen=True)
class Selection:
    """What is left of an intake, and the exercises that may be marked again: all if it is empty."""

    intake: Intake
    exercises: frozenset[str] = frozenset()


def exercises_of(root: Path, lesson: str) -> list[str]:
    """The ids of a lesson's TODO cells, in order."""
    notebook = json.loads((root / "source" / lesson / f"{lesson}.ipynb").read_text(encoding="utf-8"))
    return [name_of(cell) for cell in notebook["cells"] if kind_of(cell) is CellKind.ANSWER]


def select(root: Path, intake: Intake, lessons: Sequence[str], only: Sequence[str]) -> Selection:
    """``only``: ``ada``, ``ada/02_sorting`` (either way round), ``fan_out``; with ``*`` and ``?``.

    Learners add up, exercises add up; both together mean these exercises of these learners. Raises UsageError if a
    name fits nothing, or is a learner's and an exercise's.
    """
    if not only:
        return Selection(intake)
    exercises = {name: lesson for lesson in lessons for name in exercises_of(root, lesson)}
    pairs: set[tuple[str, str]] = set()
    wanted: set[str] = set()
    named_learners = False
    for pattern in only:
        found = _pairs(intake, pattern)
        tested = {name for name in exercises if fnmatchcase(name, pattern)}
        if found and tested and "/" not in pattern and not _is_pattern(pattern):
            raise UsageError(
                f"{pattern!r} is the name of a learner and of an exercise",
                f"--only {pattern}",
                f"for the learner: --only '{pattern}/*'",
            )
        if not found and not tested:
            raise _unknown(pattern, intake, lessons, exercises)
        # A pattern that fits both, such as *, means learners: exercises are asked for by what only they are called.
        if found:
            pairs |= found
            named_learners = True
        else:
            wanted |= tested
    kept = tuple(
        one for one in intake.submissions
        if (not named_learners or (one.learner, one.lesson) in pairs)
        and (not wanted or any(exercises[name] == one.lesson for name in wanted))
    )  # fmt: skip
    if not kept:
        raise UsageError(
            "none of those learners has handed in the lesson of that exercise", "--only " + " --only ".join(only),
            f"name other learners, or collect {', '.join(sorted({exercises[name] for name in wanted}))}: "
            + course_command("grade --from PATH"),
        )  # fmt: skip
    return Selection(replace(intake, submissions=kept), frozenset(wanted))


def _is_pattern(text: str) -> bool:
    return any(sign in text for sign in "*?[")


def _pairs(intake: Intake, pattern: str) -> set[tuple[str, str]]:
    """The submissions that a pattern names. A name is first taken as it is: learners may be called ``[x]``."""
    found = set()
    for one in intake.submissions:
        names = (one.learner, f"{one.learner}/{one.lesson}", f"{one.lesson}/{one.learner}")
        if pattern in names or any(fnmatchcase(name, pattern) for name in names[: 1 if "/" not in pattern else 3]):
            found.add((one.learner, one.lesson))
    return found


def _unknown(pattern: str, intake: Intake, lessons: Sequence[str], exercises: dict[str, str]) -> UsageError:
    learners = sorted({one.learner for one in intake.submissions})
    place = f"--only {pattern}"
    learner = next((part for part in pattern.split("/") if part not in lessons), pattern) if "/" in pattern else pattern
    if learner in learners:
        own = ", ".join(one.lesson for one in intake.submissions if one.learner == learner)
        return UsageError(
            f"{learner} has not handed in {pattern.replace(learner, '').strip('/')!r}",
            place,
            f"from {learner} there is: {own}",
        )
    known = learners if "/" in pattern else [*learners, *exercises]
    lower = learner.casefold()
    close = [name for name in known if lower in name.casefold()][:_SHOWN]
    close += [name for name in difflib.get_close_matches(learner, known, 3, 0.6) if name not in close]
    some = ", ".join(learners[:_SHOWN]) + (", ..." if len(learners) > _SHOWN else "")
    return UsageError(
        f"no learner {'' if '/' in pattern else 'and no exercise '}is called {learner!r}", place,
        f"did you mean {' or '.join(close)}?" if close else f"choose from the learners in submitted/: {some}",
    )  # fmt: skip
