"""The statistics of a class, as rows on lessons, exercises, misconceptions, faults and learners who need help; and as lines."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from nbproof import doors
from nbproof.command import course_command, formgrader_on_a_hub
from nbproof.course_file import Course
from nbproof.display.help import Hint, all_hints
from nbproof.display.outline import exercise_named
from nbproof.gradebook.marks import ClassLesson, ClassResults, Lateness, Mark, Person
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
    """The row of a lesson: the scores of all submissions that could be graded. A learner without one is missing, and no 0."""
    graded = results.of_lesson(lesson.slug)
    scores = [one.score for one in graded]
    there = {one.learner for one in results.marks.values() if one.lesson == lesson.slug and not one.absent}
    median = statistics.median(scores) if scores else None
    mean = statistics.fmean(scores) if scores else None
    return {
        "lesson": lesson.slug,
        "title": lesson.title,
        "max_score": lesson.max_score,
        "due": lesson.due,
        "graded": len(graded),
        "missing": [person.id for person in results.people if person.ids.isdisjoint(there | results.silent)],
        "not_graded": len(there) - len(graded),
        "to_mark": sum(one.pending for one in graded),
        "late": sum(one.is_late for one in graded),
        "lowest": min(scores, default=None),
        "median": median,
        "mean": mean,
        "highest": max(scores, default=None),
    }


def exercise_rows(results: ClassResults, lesson: ClassLesson) -> list[Row]:
    """The rows of a lesson's exercises, in order. Rates are of all who handed in the lesson; no answer has a share of 0."""
    by_name = grouped((outcome.id, outcome) for _, outcome in _outcomes(results.of_lesson(lesson.slug)))
    titles = titles_of(results, lesson.slug)
    return [_exercise_row(lesson.slug, titles[name], found) for name, found in by_name.items()]


def _outcomes(marks: Iterable[Mark]) -> Iterator[tuple[Mark, Outcome]]:
    """All exercises of these submissions, each with its submission."""
    for mark in marks:
        for outcome in mark.verdict.exercises:
            yield mark, outcome


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
    for mark, one in _outcomes(results.of_lesson(lesson)):
        outlined = exercise_named(results.course, one.id)
        title = outlined.title if outlined else one.id
        found[one.id] = mark.verdict.titles.get(one.id) or title
    return found


def misconception_rows(results: ClassResults) -> list[Row]:
    """The rows of all misconceptions that a learner has, those of most learners first. A wrong answer that no check recognises
    has a row with its sentence."""
    cases: dict[Hint, list[tuple[Mark, str]]] = defaultdict(list)
    for mark, outcome in _outcomes(results.marks.values()):
        for hint in _hints_of(results.course, outcome):
            cases[hint].append((mark, outcome.id))
    rows = [_misconception_row(results, hint, several) for hint, several in cases.items()]
    return sorted(rows, key=lambda one: (-len(one["learners"]), one["id"]))


def _hints_of(course: Course, outcome: Outcome) -> Iterator[Hint]:
    """The hints that fit a wrong answer to an exercise; none if it is right."""
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
    marks = chain.from_iterable(map(results.of_lesson, {mark.lesson for mark, _ in cases}))
    could = {one.learner for one in marks}
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
    """The rows of faults: time-outs, memory, killed workers; recovered answers; what was not graded, or is out of date."""
    words = words_of(results.course)
    found: list[Row] = []
    for mark in results.marks.values():
        key = {"learner": mark.learner, "lesson": mark.lesson}
        found += [
            {**key, "exercise": name, "kind": kind, "sentence": told} for name, kind, told in _faults_of(mark, words)
        ]
    return found


def _faults_of(mark: Mark, words: Language) -> Iterator[tuple[str, str, str]]:
    """The faults of a submission: exercise, kind and reason of each."""
    if mark.problem:
        kind = "the grader's own problem" if mark.verdict.grader_failed else "not graded"
        yield "", kind, mark.problem
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
    """A row for each learner with less than half of the points, fewest first. A tenth of the class, 5 to 12 learners, come first:
    an instructor has time for some conversations, not for a third of a class.

    ``share``: points earned divided by points to earn, in lessons that at least half of the class or the learner handed in. Work
    that was not handed in, or could not be graded, counts as 0. Points that wait for a person, and lessons with an extension
    that runs, do not count.
    """
    handed_in = Counter(one.lesson for one in results.marks.values() if not one.absent)
    usual = [one for one in results.lessons if handed_in[one.slug] * 2 >= len(results.people)]
    marks = grouped((one.learner, one) for one in results.marks.values())
    rows: list[Row] = []
    for person in results.people:
        mine = list(chain.from_iterable(marks[name] for name in sorted(person.ids)))
        due = _due(results, usual, person)
        share = _share(mine, results.lessons, due)
        if share < _FEW:
            reasons = [f"{share:.0%} of the points", *_reasons(mine, due)]
            rows.append(
                {
                    "learner": person.id,
                    "share": share,
                    "reasons": reasons,
                    "talk_about": _misconceptions(results.course, mine),
                }
            )
    rows.sort(key=lambda row: (row["share"], row["learner"]))
    most = min(12, max(5, len(results.people) // 10))
    return [{**row, "first": place < most} for place, row in enumerate(rows)]


def _due(results: ClassResults, lessons: Iterable[ClassLesson], person: Person) -> list[ClassLesson]:
    """Those of the lessons for which no extension of this person runs."""
    extended = {lesson for learner, lesson in results.more_time if learner in person.ids}
    return [one for one in lessons if one.slug not in extended]


def _share(mine: Sequence[Mark], lessons: Sequence[ClassLesson], due: Sequence[ClassLesson]) -> float:
    """The part of the points that the learner has, of those that do not wait for a person; 1 if there was nothing to earn yet."""
    counted = {mark.lesson for mark in mine if not mark.unmarked} | {lesson.slug for lesson in due}
    most = sum(lesson.max_score for lesson in lessons if lesson.slug in counted)
    most -= sum(mark.waiting_points for mark in mine)
    return sum(mark.score for mark in mine) / most if most > 0 else 1.0


def _reasons(mine: Sequence[Mark], due: Sequence[ClassLesson]) -> list[str]:
    """Clauses on what has brought the learner no points."""
    there = {mark.lesson for mark in mine if not mark.absent}
    absent = [mark.lesson for mark in mine if mark.absent]
    asked = dict.fromkeys([*(one.slug for one in due), *absent])
    ended = [outcome.status for _, outcome in _outcomes(mine)]
    clauses = {
        "nothing handed in for {}": ", ".join(slug for slug in asked if slug not in there),
        "could not be graded: {}": ", ".join(mark.lesson for mark in mine if mark.unmarked),
        f"{{}} of {len(ended)} exercises not answered": ended.count(Status.NOT_ANSWERED),
        "{} exercises never ended": sum(map(FAULTS.__contains__, ended)),
    }
    return [clause.format(what) for clause, what in clauses.items() if what]


def _misconceptions(course: Course, mine: Sequence[Mark]) -> list[str]:
    """The names of the learner's three commonest misconceptions."""
    hints = (set(outcome.hints) for _, outcome in _outcomes(mine) if not outcome.is_whole)
    counts = Counter(chain.from_iterable(hints))
    names = {key: hint.name for key, hint in all_hints(course).items()}
    return [names.get(key, key) for key, _ in counts.most_common(3)]


_SHOWN = 20


def late_lines(marks: Iterable[Mark]) -> list[str]:
    """A line for each lesson on the learners who were late, the latest first: how late, and what that costs."""
    late = [one for one in marks if one.is_late and not one.unmarked]
    told = defaultdict[str, list[str]](list)
    for one in sorted(late, key=lambda one: (one.lesson, -one.late.seconds, one.learner)):
        cost = f" (-{one.penalty:g})" if one.penalty else ""
        told[one.lesson].append(f"{one.learner} {how_late(one.late)}{cost}")
    return [f"late: {lesson}: {some(learners)}" for lesson, learners in told.items()]


def how_late(late: Lateness) -> str:
    """How late a submission was, as a clause: the time, or that only an LMS says it."""
    if not late.said:
        return duration(late.seconds)
    on_time = "; with an extension it counts as on time: look" if late.extended else ""
    return f"(the LMS says so, not when{on_time})"


def marker_lines(marks: Collection[Mark], root: Path) -> Iterator[str]:
    """Lines on what a person has to mark, or to look at again, with the command that shows it."""
    place = formgrader_on_a_hub() or course_command("formgrader", root)
    if waiting := sum(mark.waiting for mark in marks):
        at_desk = "desk" in doors.COMMANDS.installed() and not formgrader_on_a_hub()
        first = course_command("desk", root) if at_desk else place
        yield f"waiting for your marks: {counted(waiting, 'written answer')}: {first}"
    changed: dict[str, None] = {}
    odd: dict[str, None] = {}
    for mark in marks:
        for cell in mark.cells.values():
            if cell.by_person and cell.waits_for_person:
                changed[mark.key.name] = None
            if cell.by_person and cell.is_odd:
                odd[f"{mark.key.name}, {cell.name} ({cell.score:g} of {cell.max_score:g})"] = None
    again = "you marked what is another now; your marks stand (Resolve, beside one, keeps it), look again"
    slip = "more than a cell's points, or less than 0; your marks count, look for a slip"
    for what, names in ((again, changed), (slip, odd)):
        if names:
            yield f"{what}: {some_of([*names], 8)}: {place}"


def missing_lines(missing: Mapping[str, Collection[str]], called: Callable[[str], str]) -> Iterator[str]:
    """Lines on learners who handed in nothing, one for each assignment; of several notebooks also on those who left one out.

    ``missing``: lesson, in order -> learners. ``called``: the text that stands for a learner.
    """
    for assignment, names in groupby(missing, assignment_of):
        silent = {name: missing[name] for name in names}
        nothing = set.intersection(*map(set, silent.values()))
        told = [(assignment, sorted(nothing))]
        for name, learners in silent.items():
            told.append((name, [one for one in learners if one not in nothing]))
        parts = [f"{name}: {some([*map(called, learners)])}" for name, learners in told if learners]
        if parts:
            yield f"nothing handed in: {'; '.join(parts)}"


def some(names: Sequence[str]) -> str:
    """Names for a terminal: at most 20 of them, and where all are."""
    told = some_of([printable(name) for name in names], _SHOWN)
    return f"{told} (report and --json name all)" if len(names) > _SHOWN else told
