"""What a class's records say: scores, exercises, misconceptions, faults, who needs help. Nothing is drawn or written
here."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nbproof.display.help import Hint, all_hints
from nbproof.display.words import ENGLISH
from nbproof.marking.results import FAULTS, UNCERTAIN, Score
from nbproof.report.answers import anonymous
from nbproof.report.records import ClassLesson, ClassRecords
from nbproof.values.results import Outcome

__all__ = [
    "FEWEST_FOR_DISCRIMINATION", "Different", "ExerciseStatistics", "Fault", "LessonStatistics", "Misconception",
    "discrimination", "exercise_statistics", "faults", "lesson_statistics", "misconceptions", "unrecognised",
]  # fmt: skip

FEWEST_FOR_DISCRIMINATION = 20
"""Below this a correlation is mostly chance."""


@dataclass(frozen=True)
class LessonStatistics:
    """The scores of one lesson. ``None`` if nobody has one."""

    lesson: str
    title: str
    max_score: float
    handed_in: int
    missing: tuple[str, ...]
    ungraded: int
    pending: int
    """Submissions that wait for a manual mark."""
    late: int
    scores: tuple[float, ...]
    mean: float | None
    median: float | None
    deviation: float | None
    quartiles: tuple[float, float] | None
    seconds: float
    """Median time that grading a submission took."""
    peak_mb: float


def lesson_statistics(records: ClassRecords, lesson: ClassLesson) -> LessonStatistics:
    """The scores of all who handed in something that could be graded; who handed in nothing counts as missing, not as 0."""
    import numpy as np

    works = records.of_lesson(lesson.slug)
    scores = np.array([work.score for work in works])
    there = {learner for learner, slug in records.works if slug == lesson.slug}
    some = bool(len(scores))
    first, third = np.quantile(scores, [0.25, 0.75]) if some else (0.0, 0.0)
    return LessonStatistics(
        lesson.slug, lesson.title, lesson.max_score, len(works),
        tuple(person.id for person in records.learners if person.id not in there),
        sum(work.lesson == lesson.slug for work in records.ungraded()),
        sum(work.pending for work in works), sum(work.late for work in works),
        tuple(float(score) for score in scores),
        float(scores.mean()) if some else None, float(np.median(scores)) if some else None,
        float(scores.std(ddof=1)) if len(scores) > 1 else None,
        (float(first), float(third)) if some else None,
        float(np.median([work.verdict.seconds for work in works])) if some else 0.0,
        max((work.verdict.peak_mb for work in works), default=0.0),
    )  # fmt: skip


@dataclass(frozen=True)
class ExerciseStatistics:
    """How one exercise went."""

    lesson: str
    exercise: str
    title: str
    points: float
    learners: int
    """Who handed in the lesson."""
    answered: int
    passed: int
    mean_share: float
    """Mean of points earned by points to earn; who did not answer counts as 0."""
    statuses: Mapping[str, int]
    discrimination: float | None
    remark: str
    median_seconds: float
    longest_seconds: float

    @property
    def pass_rate(self) -> float:
        """Of all who handed in the lesson."""
        return self.passed / self.learners if self.learners else 0.0


def discrimination(passed: Sequence[bool], rest: Sequence[float]) -> float | None:
    """Corrected item-total correlation: the point-biserial of an exercise with the points of all other exercises.

    None if it is not defined: all passed, nobody passed, or the rest is the same for all.
    """
    import numpy as np

    if len(passed) < 3 or len(set(passed)) < 2 or max(rest) - min(rest) < 1e-9:
        return None
    return float(np.corrcoef(passed, rest)[0, 1])


def exercise_statistics(records: ClassRecords, lesson: ClassLesson) -> list[ExerciseStatistics]:
    """Every exercise of a lesson, in order."""
    import numpy as np

    works = [work for work in records.of_lesson(lesson.slug) if work.verdict.exercises]
    found = []
    for exercise in lesson.exercises:
        pairs = [(one, work) for work in works for one in work.verdict.exercises if one.id == exercise.id]
        if not pairs:
            continue
        outcomes = [one for one, _ in pairs]
        passed = [one.status == "passed" for one in outcomes]
        rest = [sum(other.score for other in work.verdict.exercises if other.id != exercise.id) for _, work in pairs]
        telling = discrimination(passed, rest)
        answered = [one for one in outcomes if one.status != "not answered"]
        seconds = [one.seconds for one in answered]
        found.append(
            ExerciseStatistics(
                lesson.slug, exercise.id, exercise.title, max(one.max_score for one in outcomes), len(outcomes),
                len(answered), sum(passed),
                float(np.mean([one.score / one.max_score if one.max_score else 0.0 for one in outcomes])),
                dict(Counter(one.status for one in outcomes)), telling, _remark(telling, passed, rest),
                float(np.median(seconds)) if seconds else 0.0, max(seconds, default=0.0),
            )
        )  # fmt: skip
    return found


def _remark(value: float | None, passed: Sequence[bool], rest: Sequence[float]) -> str:
    if all(passed):
        return "all passed"
    if not any(passed):
        return "nobody passed: read its check and statement"
    if value is None:
        return "not defined: too few learners, or all have the same points"
    if len(passed) < FEWEST_FOR_DISCRIMINATION:
        return f"too few learners ({len(passed)}) to rely on"
    if value < 0:
        return "negative: whoever does well elsewhere fails here; read its check and statement"
    return "low: it tells little about who can do the rest" if value < 0.2 else ""


@dataclass(frozen=True)
class Misconception:
    """A misconception that the checks recognised, and how many fell for it."""

    hint: Hint
    exercises: tuple[str, ...]
    learners: tuple[str, ...]
    of: int
    """Learners who handed in one of the lessons with these exercises."""
    example: str
    """The commonest answer, without what could tell whose it is."""
    example_of: str
    """The exercise that it answers."""

    @property
    def share(self) -> float:
        """Of those who could have fallen for it."""
        return len(self.learners) / self.of if self.of else 0.0


def misconceptions(records: ClassRecords) -> list[Misconception]:
    """All that somebody fell for, most learners first."""
    hints = all_hints()
    fell: dict[str, list[tuple[Score, Outcome]]] = defaultdict(list)
    for _, work in sorted(records.works.items()):
        for outcome in work.verdict.exercises:
            if not outcome.is_whole:
                for hint in outcome.hints:
                    fell[hint].append((work, outcome))
    found = []
    for key, cases in fell.items():
        lessons = {work.lesson for work, _ in cases}
        of = {work.learner for work in records.works.values() if work.lesson in lessons and not work.problem}
        most = Counter(outcome.id for _, outcome in cases).most_common()
        example, example_of = _example(records, [case for case in cases if case[1].id == most[0][0]])
        found.append(
            Misconception(
                hints.get(key, Hint(key, key.replace("_", " "), "", "", "")), tuple(name for name, _ in most),
                tuple(sorted({work.learner for work, _ in cases})), len(of), example, example_of,
            )
        )  # fmt: skip
    return sorted(found, key=lambda one: (-len(one.learners), one.hint.id))


def _example(records: ClassRecords, cases: Sequence[tuple[Score, Outcome]]) -> tuple[str, str]:
    """The commonest of these answers to one exercise, anonymous, and the exercise."""
    lesson = records.lesson(cases[0][0].lesson)
    name = cases[0][1].id
    # Sixty say enough about a thousand.
    answers = [work.verdict.answers.get(name, "") for work, _ in cases[:60]]
    shown = Counter(anonymous(answer, lesson.given, records.names) for answer in answers)
    return shown.most_common(1)[0][0], name


@dataclass(frozen=True)
class Different:
    """Wrong answers that no check recognises, with the same first difference: a hint waits to be written."""

    lesson: str
    exercise: str
    difference: str
    learners: tuple[str, ...]
    example: str


_NUMBERS = re.compile(r"[-+]?\d++(?:[.,]\d++)*+(?:e[-+]?\d++)?")
_LISTS = re.compile(r"\[[\[\]#,.\s-]*+")
_QUOTED = re.compile(r"'[^'\n]{1,200}'|\"[^\"\n]{1,200}\"")


def unrecognised(records: ClassRecords) -> list[Different]:
    """Wrong answers without a hint, by exercise and first difference (numbers and quoted names aside), most learners first."""
    cases: dict[tuple[str, str, str], list[tuple[Score, Outcome]]] = defaultdict(list)
    for _, work in sorted(records.works.items()):
        for outcome in work.verdict.exercises:
            if outcome.status in ("failed", "error") and not outcome.is_whole and not outcome.hints:
                cases[work.lesson, outcome.id, _alike(_told(outcome))].append((work, outcome))
    found = []
    people = {word.lower() for name in records.names for word in re.findall(r"[^\W\d_]{3,}", name)}
    for (lesson, exercise, _), same in cases.items():
        example, _ = _example(records, same)
        learners = tuple(sorted({work.learner for work, _ in same}))
        found.append(Different(lesson, exercise, scrubbed(_told(same[0][1]), people), learners, example))
    return sorted(found, key=lambda one: (-len(one.learners), one.lesson, one.exercise, one.difference))


def _told(outcome: Outcome) -> str:
    """The first line of what the learner was told."""
    said = next(filter(None, map(ENGLISH.finding, outcome.costly)), "") or ENGLISH.outcome(outcome)
    return (said.splitlines() or [""])[0]


def _alike(told: str) -> str:
    return _LISTS.sub("[…", _NUMBERS.sub("#", _QUOTED.sub("'…'", told[:500])))


def scrubbed(told: str, people: set[str]) -> str:
    """A message that a learner's code brought about, without these names (in lower case)."""
    return re.sub(r"[^\W\d_]+", lambda word: "…" if word[0].lower() in people else word[0], told[:300])


@dataclass(frozen=True)
class Fault:
    """An exercise that did not end by itself, or a submission that needs an eye."""

    learner: str
    lesson: str
    exercise: str
    kind: str
    sentence: str


def faults(records: ClassRecords) -> list[Fault]:
    """Time-outs, memory, killed workers; recovered answers; what was not graded; what is out of date. By kind, then learner."""
    found = []
    for _, work in sorted(records.works.items()):
        if work.problem:
            kind = "the grader's own problem" if work.grader_failed else "not graded"
            found.append(Fault(work.learner, work.lesson, "", kind, work.problem))
        if work.note:
            found.append(Fault(work.learner, work.lesson, "", "out of date", work.note))
        found += [
            Fault(work.learner, work.lesson, outcome.id, outcome.status, ENGLISH.outcome(outcome))
            for outcome in work.verdict.exercises
            if outcome.status in FAULTS or (outcome.status == UNCERTAIN and outcome.id not in work.settled)
        ]
        found += [
            Fault(work.learner, work.lesson, name, "recovered", how) for name, how in work.verdict.recovered.items()
        ]
    order = ["the grader's own problem", "not graded", "out of date", UNCERTAIN, *FAULTS, "recovered"]
    return sorted(found, key=lambda one: (order.index(one.kind), one.learner, one.lesson, one.exercise))
