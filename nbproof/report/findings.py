"""Everything that a report says about a class, in one value: what the page, the files and the terminal show."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from nbproof.report.near_copies import Group, Pair, grouped, near_copies
from nbproof.report.needs_help import Needy, Sign, needs_help
from nbproof.report.records import ClassRecords, Person
from nbproof.report.statistics import (
    Different,
    ExerciseStatistics,
    Fault,
    LessonStatistics,
    Misconception,
    exercise_statistics,
    faults,
    lesson_statistics,
    misconceptions,
    scrubbed,
    unrecognised,
)  # fmt: skip

__all__ = ["Findings", "find", "under_codes"]


@dataclass(frozen=True)
class Findings:
    """What was found. With ``anonymous`` learners have codes, and what singles somebody out is left out."""

    records: ClassRecords
    lessons: tuple[LessonStatistics, ...]
    exercises: tuple[ExerciseStatistics, ...]
    misconceptions: tuple[Misconception, ...]
    unrecognised: tuple[Different, ...]
    faults: tuple[Fault, ...]
    needy: tuple[Needy, ...]
    pairs: tuple[Pair, ...]
    groups: tuple[Group, ...]
    anonymous: bool = False

    @property
    def to_talk_to(self) -> tuple[Needy, ...]:
        """Those of ``needy`` who come first."""
        return tuple(one for one in self.needy if one.first)

    @property
    def other_signs(self) -> list[tuple[Sign, list[str]]]:
        """The rest of ``needy`` by their weightiest sign, the commonest first."""
        whose: dict[Sign, list[str]] = {}
        for one in self.needy:
            if not one.first:
                whose.setdefault(one.signs[0], []).append(one.learner)
        return sorted(whose.items(), key=lambda item: -len(item[1]))


def find(
    records: ClassRecords,
    anonymous: bool = False,
    step: Callable[[int, int, str], None] = lambda done, of, name: None,
) -> Findings:
    """Compute it all. A class of 1,000 takes some seconds a lesson, nearly all of them for near copies."""
    pairs: list[Pair] = []
    for done, lesson in enumerate(records.lessons):
        step(done, len(records.lessons), lesson.slug)
        if not anonymous:
            pairs += near_copies(lesson, records.of_lesson(lesson.slug))
    exercises = [one for lesson in records.lessons for one in exercise_statistics(records, lesson)]
    return Findings(
        records,
        tuple(lesson_statistics(records, lesson) for lesson in records.lessons),
        tuple(exercises), tuple(misconceptions(records)), tuple(unrecognised(records)), tuple(faults(records)),
        () if anonymous else tuple(needs_help(records)), tuple(pairs), tuple(grouped(pairs)), anonymous,
    )  # fmt: skip


def under_codes(records: ClassRecords, root: Path) -> ClassRecords:
    """The same class with a code for each learner: the same one in each report of this course, in no order that tells.

    Messages lose the names of the class, notes go altogether.
    """
    key = _key(root)
    order = sorted(records.learners, key=lambda one: hashlib.sha256((key + one.id).encode("utf-8", "replace")).digest())
    width = max(2, len(str(len(order))))
    codes = {person.id: f"L{number:0{width}}" for number, person in enumerate(order, 1)}
    people = {word.lower() for name in records.names for word in re.findall(r"[^\W\d_]{3,}", name)}
    works = {}
    for (learner, lesson), work in records.works.items():
        exercises = tuple(
            replace(
                one, sentence=scrubbed(one.sentence, people),
                tests=tuple(replace(test, sentence=scrubbed(test.sentence, people)) for test in one.tests),
            )
            for one in work.verdict.exercises
        )  # fmt: skip
        # A file's name may name its learner in a way that no list of names knows.
        told = scrubbed(re.sub(r"^only .* came: ", "only another file came: ", work.problem), people)
        verdict = replace(work.verdict, learner=codes[learner], exercises=exercises)
        works[codes[learner], lesson] = replace(work, learner=codes[learner], verdict=verdict, problem=told)
    learners = tuple(sorted((Person(code) for code in codes.values()), key=lambda one: one.id))
    return replace(records, learners=learners, works=works, notes=())


def _key(root: Path) -> str:
    """The course's own secret, so that nobody computes a code from a name."""
    try:
        return str(json.loads((root / ".course" / "run.json").read_text(encoding="utf-8"))["key"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
