"""What of a submission has to be marked: all of it, the exercises that a change touches, nothing, or what ``--only``
names.
"""

from __future__ import annotations

import difflib
import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path

from nbproof.cells import CellKind, kind_of, name_of
from nbproof.command import course_command
from nbproof.errors import CourseError, UsageError
from nbproof.files import digest_of
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint, Damaged
from nbproof.marking.manual_answers import written_in
from nbproof.marking.order import Order, order_of
from nbproof.marking.results import FAULTS, ExerciseVerdict, SubmissionVerdict
from nbproof.run.digests import BASIS, LessonState
from nbproof.run.intake import Intake, Submission
from nbproof.run.journal import Entry
from nbproof.text import counted

__all__ = [
    "Kind",
    "Selection",
    "Work",
    "digest_of_order",
    "entry_of",
    "exercises_of",
    "handed_in_digest",
    "plan",
    "select",
    "told",
]


class Kind(Enum):
    """What is to be done with a submission."""

    WHOLE = "graded"
    PART = "regraded"
    """Some exercises are marked again, the others keep their verdicts."""
    SHOWN = "rewritten"
    """Prose or points changed: notebook and gradebook are written anew, nothing runs."""
    NONE = "unchanged"


@dataclass(frozen=True)
class Work:
    """What is to be done with one submission, and why."""

    submission: Submission
    handed_in: str
    kind: Kind
    entry: Entry | None = None
    """What was journalled before; None if nothing is to be kept of it."""
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    """What a run says about it; nothing for what was handed in anew."""


def handed_in_digest(one: Submission, key: str, limits: GradingLimits) -> str:
    """Changes with any byte that was handed in. ``key``: of the course's journals, so that nobody else can make it."""
    try:
        order = order_of(one.learner, one.lesson, one.path, limits)
    except (Damaged, OSError) as error:
        return digest_of(key.encode(), str(error).encode(errors="replace"))
    return digest_of_order(order, key)


def digest_of_order(order: Order, key: str) -> str:
    """The same, of bytes that have been read."""
    files = (part for name, data in order.files.items() for part in (os.fsencode(name), data))
    return digest_of(key.encode(), order.data, *files)


def plan(
    submission: Submission,
    handed_in: str,
    entry: Entry | None,
    state: LessonState,
    force: bool,
    exercises: frozenset[str],
    owed: frozenset[str] = frozenset(),
) -> Work:
    """``exercises``: what may be marked again, all if it is empty. ``force``: mark that although nothing changed.

    ``owed``: what an earlier run with ``--force`` did not come to.
    """
    if entry is None or entry.handed_in != handed_in:
        return Work(submission, handed_in, Kind.WHOLE)
    if force and not exercises:
        return Work(submission, handed_in, Kind.WHOLE, reasons=("as --force asks",))
    again = exercises if force else owed
    if entry.source == state.source and not force and not again:
        return Work(submission, handed_in, Kind.NONE, entry)
    differs = [BASIS[name] for name, digest in state.basis.items() if entry.basis.get(name) != digest]
    if differs:
        return Work(submission, handed_in, Kind.WHOLE, reasons=(f"{submission.lesson}: {differs[0]}",))
    stale = {name for name, digest in state.tests.items() if entry.tests.get(name) != digest}
    wanted = (stale | again) & (exercises or stale | again) & set(state.tests)
    if not wanted:
        if entry.source == state.source:
            return Work(submission, handed_in, Kind.NONE, entry)
        return Work(submission, handed_in, Kind.SHOWN, entry, reasons=(f"{submission.lesson}: text or points changed",))
    only = tuple(name for name in state.tests if name in wanted)
    harmful = {one.id for one in entry.verdict.exercises if one.status in FAULTS}
    return Work(
        submission, handed_in, Kind.PART, entry, only, tuple(sorted(harmful - wanted)),
        tuple(f"{name}: {'its test changed' if name in stale else 'as --force asks'}" for name in only),
    )  # fmt: skip


def told(work: Iterable[Work]) -> tuple[str, ...]:
    """What a run grades again and why, a line each: "fan_out: its test changed, 300 submissions"."""
    counts = Counter(reason for one in work for reason in one.reasons)
    lines = []
    for reason, number in counts.items():
        end = "; nothing runs" if reason.endswith("text or points changed") else " graded again"
        lines.append(f"{reason}, {counted(number, 'submission')}{end}")
    return tuple(lines)


def entry_of(work: Work, state: LessonState, verdict: SubmissionVerdict | None) -> Entry:
    """What to journal, now that the work is done. ``verdict``: what marking brought; None if nothing ran."""
    if work.entry is None:
        assert verdict is not None
        return Entry(work.handed_in, state.source, state.basis, state.tests, verdict)
    old = work.entry
    merged = old.verdict if verdict is None else _merged(old.verdict, verdict, state.blueprint)
    tests = {**old.tests, **{name: state.tests[name] for name in work.only}}
    # Where a test that changed was left out, because only others were asked for, the next run looks again.
    source = state.source if tests == state.tests else ""
    return Entry(work.handed_in, source, state.basis, tests, _with_points(merged, state.blueprint))


def _merged(old: SubmissionVerdict, new: SubmissionVerdict, blueprint: Blueprint) -> SubmissionVerdict:
    """The old verdict with the exercises of the new one in place of its own."""
    known = {one.id: one for one in old.exercises}
    for one in new.exercises:
        known[one.id] = replace(one, seed=new.seed)
    marked = {name for one in new.exercises for name in (one.id, *(test.grade_id for test in one.tests))}
    ran = {name: run for name, run in new.runs.items() if name in marked}
    return replace(
        old, exercises=tuple(known[name] for name in blueprint.exercises if name in known), runs={**old.runs, **ran}
    )


def _with_points(verdict: SubmissionVerdict, blueprint: Blueprint) -> SubmissionVerdict:
    """The verdict with the points that the lesson gives now: a check earns all of them or none."""
    return replace(
        verdict, exercises=tuple(_exercise_with_points(one, blueprint) for one in verdict.exercises),
        written=written_in(blueprint.written, verdict.answers),
    )  # fmt: skip


def _exercise_with_points(exercise: ExerciseVerdict, blueprint: Blueprint) -> ExerciseVerdict:
    tests = []
    for test in exercise.tests:
        points = blueprint.tests[test.grade_id].points if test.grade_id in blueprint.tests else test.max_score
        # Less than all of it is a plain test cell's own count.
        tests.append(replace(test, max_score=points, score=points if test.is_whole else min(test.score, points)))
    return replace(exercise, tests=tuple(tests))


_SHOWN = 5


@dataclass(frozen=True)
class Selection:
    """What is left of an intake, and the exercises that may be marked again: all if it is empty."""

    intake: Intake
    exercises: frozenset[str] = frozenset()
    absent: tuple[str, ...] = ()
    """A sentence for each name of somebody of the class of whom nothing is there."""


def exercises_of(root: Path, lesson: str) -> list[str]:
    """The ids of a lesson's TODO cells, in order."""
    notebook = json.loads((root / "source" / lesson / f"{lesson}.ipynb").read_text(encoding="utf-8"))
    return [name_of(cell) for cell in notebook["cells"] if kind_of(cell) is CellKind.ANSWER]


def select(
    root: Path, intake: Intake, lessons: Sequence[str], only: Sequence[str], known: Collection[str] = ()
) -> Selection:
    """``only``: ``ada``, ``ada/02_sorting`` (either way round), ``fan_out``; with ``*`` and ``?``. ``known``: the class.

    Learners add up, exercises add up; both together mean these exercises of these learners. Raises CourseError if none of
    these learners has handed in anything, UsageError if a name fits nothing, or is a learner's and an exercise's.
    """
    if not only:
        return Selection(intake)
    exercises = {name: lesson for lesson in lessons for name in exercises_of(root, lesson)}
    pairs: set[tuple[str, str]] = set()
    wanted: set[str] = set()
    named_learners = False
    absent: list[str] = []
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
            if not _is_absent(pattern, lessons, known):
                raise _unknown(pattern, intake, lessons, exercises)
            absent.append(f"nothing handed in: {pattern}, as --only names")
            continue
        # A pattern that fits both, such as *, means learners: exercises are asked for by what only they are called.
        if found:
            pairs |= found
            named_learners = True
        else:
            wanted |= tested
    if absent and not named_learners:
        raise CourseError(
            "none of these learners has handed in anything", "--only " + " --only ".join(only),
            f"collect what they handed in: {course_command('grade --from PATH')}",
        )  # fmt: skip
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
    return Selection(replace(intake, submissions=kept), frozenset(wanted), tuple(absent))


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


def _is_absent(pattern: str, lessons: Sequence[str], known: Collection[str]) -> bool:
    """Whether it names somebody of the class, alone or with a lesson: then it is no slip of the pen."""
    first, _, second = pattern.partition("/")
    return pattern in known or (first in known and second in lessons) or (second in known and first in lessons)


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
