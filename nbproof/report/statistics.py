"""What a class's results say, as rows: of lessons, exercises, misconceptions, faults. Nothing is drawn or written here."""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from nbproof.display.help import Hint, all_hints
from nbproof.display.outline import exercise_named
from nbproof.display.words import words
from nbproof.gradebook.marks import ClassLesson, ClassResults, Mark
from nbproof.marking.results import FAULTS, STATUSES, UNCERTAIN
from nbproof.values.results import Outcome, Status

__all__ = ["exercise_rows", "fault_rows", "lesson_row", "misconception_rows", "titles_of"]

Row = dict[str, Any]


def lesson_row(results: ClassResults, lesson: ClassLesson) -> Row:
    """The scores of all who handed in something that could be graded; who handed in nothing counts as missing, not as 0."""
    graded = results.of_lesson(lesson.slug)
    scores = [one.score for one in graded]
    there = {learner for learner, slug in results.marks if slug == lesson.slug}
    return {
        "lesson": lesson.slug,
        "title": lesson.title,
        "max_score": lesson.max_score,
        "due": lesson.due,
        "graded": len(graded),
        "missing": [person.id for person in results.people if person.id not in there],
        "not_graded": len(there) - len(graded),
        "to_mark": sum(one.pending for one in graded),
        "late": sum(one.is_late for one in graded),
        "lowest": min(scores, default=None),
        "median": statistics.median(scores) if scores else None,
        "mean": statistics.fmean(scores) if scores else None,
        "highest": max(scores, default=None),
        "median_seconds": statistics.median([one.verdict.seconds for one in graded] or [0.0]),
    }


def exercise_rows(results: ClassResults, lesson: ClassLesson) -> list[Row]:
    """Every exercise of a lesson, in order. Rates are of all who handed in the lesson; who did not answer has a share of 0."""
    by_name: dict[str, list[Outcome]] = defaultdict(list)
    for mark in results.of_lesson(lesson.slug):
        for outcome in mark.verdict.exercises:
            by_name[outcome.id].append(outcome)
    titles = titles_of(results, lesson.slug)
    return [_exercise_row(lesson.slug, titles[name], outcomes) for name, outcomes in by_name.items()]


def _exercise_row(lesson: str, title: str, outcomes: list[Outcome]) -> Row:
    statuses = Counter(one.status for one in outcomes)
    seconds = [one.seconds for one in outcomes if one.status is not Status.NOT_ANSWERED] or [0.0]
    return {
        "lesson": lesson,
        "exercise": outcomes[0].id,
        "title": title,
        "points": max(one.max_score for one in outcomes),
        "learners": len(outcomes),
        "pass_rate": statuses[Status.PASSED] / len(outcomes),
        "mean_share": statistics.fmean(one.score / (one.max_score or 1.0) for one in outcomes),
        "median_seconds": statistics.median(seconds),
        "longest_seconds": max(seconds),
        **{status: statuses[status] for status in STATUSES},
    }


def titles_of(results: ClassResults, lesson: str) -> dict[str, str]:
    """Of each exercise of a lesson: its title; its id if nobody knows it."""
    found: dict[str, str] = {}
    for mark in results.of_lesson(lesson):
        for one in mark.verdict.exercises:
            outlined = exercise_named(one.id)
            found[one.id] = mark.verdict.titles.get(one.id) or (outlined.title if outlined else one.id)
    return found


_VARIES = re.compile(r"'[^'\n]{1,200}'|\"[^\"\n]{1,200}\"|[-+]?\d++(?:[.,]\d++)*+(?:e[-+]?\d++)?|\[[\[\]\d,.e\s+-]*+")
"""What two messages that mean the same may differ in: quoted names, numbers, lists of them."""


def misconception_rows(results: ClassResults) -> list[Row]:
    """All that somebody fell for, most learners first; wrong answers that no check recognises by their first difference."""
    fell: dict[str, list[tuple[Mark, str]]] = defaultdict(list)
    hints: dict[str, Hint] = {}
    for mark in results.marks.values():
        for outcome in mark.verdict.exercises:
            for hint in _hints_of(outcome):
                hints.setdefault(hint.id, hint)
                fell[hint.id].append((mark, outcome.id))
    found = [_misconception_row(results, hints[key], cases) for key, cases in fell.items()]
    return sorted(found, key=lambda one: (-len(one["learners"]), one["id"]))


def _hints_of(outcome: Outcome) -> Iterator[Hint]:
    """What a wrong answer to an exercise shows."""
    if outcome.is_whole:
        return
    for name in outcome.hints:
        yield all_hints().get(name) or Hint(name, name.replace("_", " "), "", "", "")
    if outcome.status in (Status.FAILED, Status.ERROR) and not outcome.hints:
        said = next(filter(None, map(words().finding, outcome.costly)), "") or words().outcome(outcome)
        told = said.partition("\n")[0][:300]
        yield Hint(f"{outcome.id}: {_VARIES.sub('#', told)}", f"not recognised: {told or 'another answer'}", "", "", "")


def _misconception_row(results: ClassResults, hint: Hint, cases: list[tuple[Mark, str]]) -> Row:
    could = {one.learner for slug in {mark.lesson for mark, _ in cases} for one in results.of_lesson(slug)}
    learners = sorted({mark.learner for mark, _ in cases})
    exercises = Counter(exercise for _, exercise in cases).most_common()
    return {
        **vars(hint),
        "exercises": [name for name, _ in exercises],
        "learners": learners,
        "of": len(could),
        "share": len(learners) / len(could),
    }


_KINDS = ("the grader's own problem", "not graded", "out of date", UNCERTAIN, *FAULTS, "recovered")


def fault_rows(results: ClassResults) -> list[Row]:
    """Time-outs, memory, killed workers; recovered answers; what was not graded; what is out of date. By kind, then learner."""
    found = []
    for mark in results.marks.values():
        for exercise, kind, sentence in _faults_of(mark):
            key = {"learner": mark.learner, "lesson": mark.lesson}
            found.append({**key, "exercise": exercise, "kind": kind, "sentence": sentence})
    return sorted(found, key=lambda one: (_KINDS.index(one["kind"]), one["learner"], one["lesson"]))


def _faults_of(mark: Mark) -> Iterator[tuple[str, str, str]]:
    """Exercise, kind and reason."""
    if mark.problem:
        yield "", "the grader's own problem" if mark.verdict.grader_failed else "not graded", mark.problem
    elif mark.behind:
        yield "", "out of date", "handed in again after it was graded"
    for outcome in mark.verdict.exercises:
        uncertain = outcome.status == UNCERTAIN and outcome.id not in mark.settled
        if outcome.status in FAULTS or uncertain:
            yield outcome.id, outcome.status, words().outcome(outcome)
    for name, how in mark.verdict.recovered.items():
        yield name, "recovered", how
