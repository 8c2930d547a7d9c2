"""What a class's results say, as rows: of lessons, exercises, misconceptions, faults, who needs help; who was late, in words."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from nbproof.command import course_command, formgrader_on_a_hub
from nbproof.course_file import Course
from nbproof.display.help import Hint, all_hints
from nbproof.display.outline import exercise_named
from nbproof.gradebook.marks import ClassLesson, ClassResults, Lateness, Mark
from nbproof.grouping import grouped
from nbproof.key import assignment_of
from nbproof.text import counted, duration, printable, some_of
from nbproof.values.results import FAULTS, Outcome, Status
from nbproof.values.words import Language, words_of

__all__ = [
    "exercise_rows",
    "fault_rows",
    "how_late",
    "late_lines",
    "lesson_row",
    "marker_lines",
    "misconception_rows",
    "missing_lines",
    "needs_help",
    "some",
    "titles_of",
]

Row = dict[str, Any]


def lesson_row(results: ClassResults, lesson: ClassLesson) -> Row:
    """The scores of all who handed in something that could be graded; who handed in nothing counts as missing, not as 0."""
    graded = results.of_lesson(lesson.slug)
    scores = [one.score for one in graded]
    there = {one.learner for one in results.marks.values() if one.lesson == lesson.slug and not one.absent}
    return {
        "lesson": lesson.slug,
        "title": lesson.title,
        "max_score": lesson.max_score,
        "due": lesson.due,
        "graded": len(graded),
        "missing": [person.id for person in results.people if there.isdisjoint(person.ids)],
        "not_graded": len(there) - len(graded),
        "to_mark": sum(one.pending for one in graded),
        "late": sum(one.is_late for one in graded),
        "lowest": min(scores, default=None),
        "median": statistics.median(scores) if scores else None,
        "mean": statistics.fmean(scores) if scores else None,
        "highest": max(scores, default=None),
    }


def exercise_rows(results: ClassResults, lesson: ClassLesson) -> list[Row]:
    """Every exercise of a lesson, in order. Rates are of all who handed in the lesson; who did not answer has a share of 0."""
    outcomes = (outcome for mark in results.of_lesson(lesson.slug) for outcome in mark.verdict.exercises)
    by_name = grouped((outcome.id, outcome) for outcome in outcomes)
    titles = titles_of(results, lesson.slug)
    return [_exercise_row(lesson.slug, titles[name], found) for name, found in by_name.items()]


def _exercise_row(lesson: str, title: str, outcomes: list[Outcome]) -> Row:
    statuses = Counter(one.status for one in outcomes)
    return {
        "lesson": lesson,
        "exercise": outcomes[0].id,
        "title": title,
        "points": max(one.max_score for one in outcomes),
        "learners": len(outcomes),
        "pass_rate": statuses[Status.PASSED] / len(outcomes),
        "mean_share": statistics.fmean(one.score / (one.max_score or 1.0) for one in outcomes),
        "longest_seconds": max(one.seconds for one in outcomes),
        **{status: statuses[status] for status in Status},
    }


def titles_of(results: ClassResults, lesson: str) -> dict[str, str]:
    """Exercise of a lesson -> its title, or its id if it has no title."""
    found: dict[str, str] = {}
    for mark in results.of_lesson(lesson):
        for one in mark.verdict.exercises:
            outlined = exercise_named(results.course, one.id)
            found[one.id] = mark.verdict.titles.get(one.id) or (outlined.title if outlined else one.id)
    return found


def misconception_rows(results: ClassResults) -> list[Row]:
    """Every misconception that a learner has, those of most learners first. A wrong answer that no check recognises has a
    row by the words that are said of it."""
    outcomes = ((mark, outcome) for mark in results.marks.values() for outcome in mark.verdict.exercises)
    fell = grouped(
        (hint, (mark, outcome.id)) for mark, outcome in outcomes for hint in _hints_of(results.course, outcome)
    )
    found = [_misconception_row(results, hint, cases) for hint, cases in fell.items()]
    return sorted(found, key=lambda one: (-len(one["learners"]), one["id"]))


def _hints_of(course: Course, outcome: Outcome) -> Iterator[Hint]:
    """What a wrong answer to an exercise shows."""
    if outcome.is_whole:
        return
    for name in outcome.hints:
        yield all_hints(course).get(name) or Hint(name, name.replace("_", " "), "", "", "")
    if outcome.status in (Status.FAILED, Status.ERROR) and not outcome.hints:
        words = words_of(course)
        said = next(filter(None, map(words.finding, outcome.costly)), "") or words.outcome(outcome)
        told = said.partition("\n")[0][:300]
        yield Hint(f"{outcome.id}: {told}", f"not recognised: {told or 'another answer'}", "", "", "")


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


def fault_rows(results: ClassResults) -> list[Row]:
    """Time-outs, memory, killed workers; recovered answers; what was not graded; what is out of date."""
    found: list[Row] = []
    for mark in results.marks.values():
        key = {"learner": mark.learner, "lesson": mark.lesson}
        found += [
            {**key, "exercise": name, "kind": kind, "sentence": told}
            for name, kind, told in _faults_of(mark, words_of(results.course))
        ]
    return found


def _faults_of(mark: Mark, words: Language) -> Iterator[tuple[str, str, str]]:
    """Exercise, kind and reason."""
    if mark.problem:
        yield "", "the grader's own problem" if mark.verdict.grader_failed else "not graded", mark.problem
    elif mark.behind:
        yield "", "out of date", mark.behind
    for outcome in mark.verdict.exercises:
        uncertain = outcome.status is Status.UNCERTAIN and outcome.id not in mark.settled
        if outcome.status in FAULTS or uncertain:
            yield outcome.id, outcome.status, words.outcome(outcome)
    for name, how in mark.verdict.recovered.items():
        yield name, "recovered", how


_FEW = 0.5


def needs_help(results: ClassResults) -> list[Row]:
    """A row for everybody who has less than half of the points, fewest first. A tenth of the class, 5 to 12 learners, come first:
    an instructor has time for some conversations, not for a third of a class.

    ``share``: points earned by points to earn, in lessons that at least half of the class or the learner handed in. What
    was not handed in, or could not be graded, counts as 0. What waits for a person's marks does not count, nor what an
    extension is running for.
    """
    handed_in = Counter(one.lesson for one in results.marks.values() if not one.absent)
    usual = [one for one in results.lessons if handed_in[one.slug] * 2 >= len(results.people)]
    marks = grouped((one.learner, one) for one in results.marks.values())
    found = []
    for person in results.people:
        mine = [mark for name in sorted(person.ids) for mark in marks[name]]
        due = [one for one in usual if results.more_time.isdisjoint((name, one.slug) for name in person.ids)]
        share = _share(mine, results.lessons, due)
        if share < _FEW:
            reasons = [f"{share:.0%} of the points", *_reasons(mine, due)]
            found.append(
                {
                    "learner": person.id,
                    "share": share,
                    "reasons": reasons,
                    "talk_about": _misconceptions(results.course, mine),
                }
            )
    found.sort(key=lambda row: (row["share"], row["learner"]))
    most = min(12, max(5, len(results.people) // 10))
    return [{**row, "first": place < most} for place, row in enumerate(found)]


def _share(mine: Sequence[Mark], lessons: Sequence[ClassLesson], due: Sequence[ClassLesson]) -> float:
    """The part of the points that the learner has, of those that do not wait for a person; 1 if there was nothing to earn yet."""
    counted = {mark.lesson for mark in mine if not mark.unmarked} | {lesson.slug for lesson in due}
    most = sum(lesson.max_score for lesson in lessons if lesson.slug in counted)
    most -= sum(mark.waiting_points for mark in mine)
    return sum(mark.score for mark in mine) / most if most > 0 else 1.0


def _reasons(mine: Sequence[Mark], due: Sequence[ClassLesson]) -> list[str]:
    """What has brought nothing."""
    there = {mark.lesson for mark in mine if not mark.absent}
    asked = dict.fromkeys([*(one.slug for one in due), *(mark.lesson for mark in mine if mark.absent)])
    ended = [outcome.status for mark in mine for outcome in mark.verdict.exercises]
    told = {
        "nothing handed in for {}": ", ".join(slug for slug in asked if slug not in there),
        "could not be graded: {}": ", ".join(mark.lesson for mark in mine if mark.unmarked),
        f"{{}} of {len(ended)} exercises not answered": ended.count(Status.NOT_ANSWERED),
        "{} exercises never ended": sum(status in FAULTS for status in ended),
    }
    return [reason.format(what) for reason, what in told.items() if what]


def _misconceptions(course: Course, mine: Sequence[Mark]) -> list[str]:
    """Their commonest."""
    wrong = (outcome for mark in mine for outcome in mark.verdict.exercises if not outcome.is_whole)
    counts = Counter(hint for outcome in wrong for hint in set(outcome.hints))
    hints = all_hints(course)
    return [hints[key].name if key in hints else key for key, _ in counts.most_common(3)]


_SHOWN = 20


def late_lines(marks: Iterable[Mark]) -> list[str]:
    """A line for each lesson: who was late, the latest first, how late, and what that costs."""
    late = [one for one in marks if one.is_late and not one.unmarked]
    told = defaultdict[str, list[str]](list)
    for one in sorted(late, key=lambda one: (one.lesson, -one.late.seconds, one.learner)):
        cost = f" (-{one.penalty:g})" if one.penalty else ""
        told[one.lesson].append(f"{one.learner} {how_late(one.late)}{cost}")
    return [f"late: {lesson}: {some(learners)}" for lesson, learners in told.items()]


def how_late(late: Lateness) -> str:
    """In words."""
    on_time = "; with an extension it counts as on time: look" if late.extended else ""
    return f"(the LMS says so, not when{on_time})" if late.said else duration(late.seconds)


def marker_lines(marks: Collection[Mark], root: Path) -> Iterator[str]:
    """What a person has to mark, or to look at again: a line each, with the command that shows it."""
    place = formgrader_on_a_hub() or course_command("formgrader", root)
    if waiting := sum(mark.waiting for mark in marks):
        yield f"waiting for your marks: {counted(waiting, 'written answer')}: {place}"
    every = [(mark.key.name, cell) for mark in marks for cell in mark.cells.values() if cell.by_person]
    told = {
        "you marked what is another now; your marks stand (Resolve, beside one, keeps it), look again": [
            name for name, cell in every if cell.listed
        ],
        "more than a cell's points, or less than 0; your marks count, look for a slip": [
            f"{name}, {cell.name} ({cell.score:g} of {cell.max_score:g})" for name, cell in every if cell.is_odd
        ],
    }
    yield from (f"{what}: {some_of([*dict.fromkeys(names)], 8)}: {place}" for what, names in told.items() if names)


def missing_lines(missing: Mapping[str, Collection[str]], called: Callable[[str], str]) -> Iterator[str]:
    """Who handed in nothing, a line an assignment; of several notebooks also who left out which.

    ``missing``: lesson, in order -> learners.
    """
    for assignment, names in groupby(missing, assignment_of):
        of = {name: missing[name] for name in names}
        nothing = set.intersection(*map(set, of.values()))
        left_out = [(name, [who for who in silent if who not in nothing]) for name, silent in of.items()]
        told = [
            f"{name}: {some([*map(called, who)])}" for name, who in [(assignment, sorted(nothing)), *left_out] if who
        ]
        if told:
            yield f"nothing handed in: {'; '.join(told)}"


def some(names: Sequence[str]) -> str:
    """Names for a terminal, of very many the first."""
    told = some_of([printable(name) for name in names], _SHOWN)
    return f"{told} (report and --json name all)" if len(names) > _SHOWN else told
