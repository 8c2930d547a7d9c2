"""A graded class in the terminal: scores, what a person must look at, totals, where everything lies."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nbproof.cli.live import duration
from nbproof.command import course_command, formgrader_place
from nbproof.marking.plain import said_aloud
from nbproof.marking.results import STATUSES, UNCERTAIN, GradedClass, Score
from nbproof.report.lateness import late_lines
from nbproof.terminal import say
from nbproof.text import counted, some_of
from nbproof_lms.attendance import Attendance, lines_of

if TYPE_CHECKING:
    from nbproof_lms import Collected
    from nbproof_lms.attendance import Useless

__all__ = ["MANY", "Told", "is_incomplete", "print_class", "print_failed_pages", "print_problems", "summary_line"]

MANY = 40
"""Learners from which on a table of everybody helps nobody."""


@dataclass(frozen=True)
class Told:
    """A run that came to its end, and what was noticed on the way."""

    graded: GradedClass
    notes: Sequence[str]
    feedback: Path | None
    """The folder; None if no pages were asked for."""
    seconds: float
    failed_pages: Sequence[tuple[str, str, str]] = ()
    """Learner, lesson and reason, of feedback pages that could not be written."""
    collected: Collected | None = None
    """What became of an upload, if one was named."""
    attendance: Attendance = field(default_factory=Attendance)
    root: Path = Path()
    passed_over: bool = False
    """Whether a note says of something that it was passed over."""


def is_incomplete(told: Told) -> bool:
    """Whether something that was handed in is not graded: that is what the exit code says."""
    ungraded = any(score.problem or score.missing for score in told.graded.scores) or bool(told.failed_pages)
    # A notebook that was taken under another name is graded all the same.
    needs_person = bool(told.collected and told.collected.needs_person)
    return ungraded or told.passed_over or needs_person or bool(told.attendance.useless or told.attendance.undecided)


def print_class(console: Console, told: Told, everybody: bool = False) -> None:
    """All scores, of many learners a summary; then what could not be graded and why; then totals and places."""
    scores = told.graded.scores
    learners = sorted({score.learner for score in scores})
    if len(learners) <= MANY or everybody:
        console.print(_table_of(scores, learners))
    else:
        console.print(_summary_of(scores, told.attendance.useless))
        looked_at = sorted(
            {score.learner for score in scores if score.problem or score.late or _is_mended(score) or score.missing}
        )
        if looked_at:
            console.print(_table_of(scores, looked_at[:MANY], "late, recovered, not graded"))
        if len(looked_at) > MANY:
            say(console, f"and {len(looked_at) - MANY} more; --all prints all {len(learners)} learners")
        else:
            say(console, f"--all prints all {len(learners)} learners")
    print_problems(console, told)
    ended = Counter(status for score in scores for status in score.statuses)
    if ended:
        parts = ", ".join(f"{ended[status]} {status}" for status in STATUSES if ended[status])
        say(console, f"exercises: {parts}")
    recovered = sum(_is_mended(score) for score in scores)
    if recovered:
        say(console, f"(r) damaged, and recovered: {counted(recovered, 'submission')}; feedback and --json say how")
    for line in late_lines(scores):
        say(console, line)
    if fined := [score.penalty for score in scores if score.penalty]:
        say(console, f"late penalties: {sum(fined):g} points in all, taken off {counted(len(fined), 'submission')}")
    waiting = sum(score.waiting for score in scores)
    if waiting:
        line = "1 written answer waits" if waiting == 1 else f"{waiting} written answers wait"
        say(console, f"{line} for your marks: {formgrader_place(told.root)}")
    say(console, summary_line(told))
    say(console, f"gradebook: {told.graded.gradebook}")
    say(console, f"report:    {course_command('report', told.root)}")


def print_problems(console: Console, told: Told) -> None:
    """What could not be graded, and which marks could be forged: a line each."""
    for score in told.graded.scores:
        if score.problem:
            place = f"submitted/{score.learner}/{score.lesson}"
            say(console, f"! not graded: {place}: {score.problem}")
        uncertain = {one.id for one in score.verdict.exercises if one.status == UNCERTAIN}
        by_reason: dict[tuple[str, str], list[str]] = {}
        for exercise, reason in score.missing.items():
            by_reason.setdefault((UNCERTAIN if exercise in uncertain else "missing", reason), []).append(exercise)
        for (what, reason), exercises in by_reason.items():
            line = f"! {what}: submitted/{score.learner}/{score.lesson}: {', '.join(exercises)}: {reason}"
            say(console, line)
    for line in (*_newer(told.graded.scores), *lines_of(told.attendance, told.root)):
        say(console, line)
    for note in told.notes:
        say(console, note)
    for lesson, count in told.graded.plain_tests.items():
        say(console, said_aloud(lesson, count))


def print_failed_pages(console: Console, told: Told) -> None:
    """A line for each feedback page that could not be written."""
    for learner, lesson, reason in told.failed_pages:
        place = f"feedback/{learner}/{lesson}"
        say(console, f"! not written: {place}: {reason}")


def _newer(scores: Sequence[Score]) -> Iterator[str]:
    """A line for each exercise of which some notebooks have neither text nor check nor TODO cell.

    If most of a class have none of it, it was added after the notebooks had been handed out; if most have it, the
    others deleted it, or worked on an older copy.
    """
    older: dict[tuple[str, str], list[str]] = {}
    for score in scores:
        for exercise in score.verdict.newer:
            older.setdefault((score.lesson, exercise), []).append(score.learner)
    graded = Counter(score.lesson for score in scores if not score.problem)
    for (lesson, exercise), learners in sorted(older.items()):
        listed = some_of(learners, 3)
        have = graded[lesson] - len(learners)
        if have > len(learners):
            yield (
                f"{len(learners)} of {graded[lesson]} notebooks lack {exercise} of {lesson}, with its text and check: "
                f"deleted, or never handed out. It counts as not answered ({listed})"
            )
            continue
        which = f"these {len(learners)} notebooks were" if len(learners) > 1 else "this notebook was"
        yield f"{exercise} of {lesson} was added after {which} handed out. It counts as not answered ({listed})"


def summary_line(told: Told) -> str:
    """One line for the whole run."""
    counts = Counter("not graded" if score.problem else score.how for score in told.graded.scores)
    # As in the table of a large class: what came and waits, or cannot be read, is not graded either.
    counts["not graded"] += len(told.attendance.useless)
    names = ("graded", "unchanged", "not graded")
    parts = [f"{name} {counts[name]}" for name in names if counts[name] or name in ("graded", "unchanged")]
    seed = f", seed {told.graded.seed}" if told.graded.graded else ""
    return f"{', '.join(parts)}, {duration(told.seconds) if told.seconds >= 90 else f'{told.seconds:.1f} s'}{seed}"


def _most(scores: Sequence[Score], lesson: str) -> float:
    return max(score.max_score for score in scores if score.lesson == lesson)


def _table_of(scores: Sequence[Score], learners: Sequence[str], title: str = "scores") -> Table:
    lessons = sorted({score.lesson for score in scores})
    cells = {(score.learner, score.lesson): score for score in scores}
    table = Table(title=title)
    table.add_column("learner", overflow="fold", max_width=30)
    for lesson in lessons:
        table.add_column(f"{escape(lesson.replace('_', ' '))}\nof {_most(scores, lesson):g}", justify="right")
    table.add_column("total", justify="right")
    for learner in learners:
        own = [cells.get((learner, lesson)) for lesson in lessons]
        total = sum(score.score for score in own if score)
        table.add_row(escape(learner), *(_shown(score) for score in own), f"{total:g}")
    return table


def _shown(score: Score | None) -> str:
    if score is None:
        return "-"
    if score.problem:
        return "[red]![/]"
    marks = "(l)" * score.late + "(r)" * _is_mended(score)
    return f"{marks} {score.score:g}".strip()


def _is_mended(score: Score) -> bool:
    """Whether the file was damaged, or an answer stood elsewhere: the ``(r)`` of the table and of the line that counts it."""
    return bool(score.verdict.recovered or score.verdict.damage)


def _summary_of(scores: Sequence[Score], others: Sequence[Useless]) -> Table:
    table = Table(title=f"scores of {counted(len({score.learner for score in scores}), 'learner')}")
    table.add_column("lesson")
    for name in ("of", "handed in", "lowest", "median", "mean", "highest", "not graded"):
        table.add_column(name, justify="right")
    for lesson in sorted({score.lesson for score in scores}):
        own = [score for score in scores if score.lesson == lesson]
        marks = [score.score for score in own if not score.problem]
        figures = (
            [min(marks), statistics.median(marks), statistics.fmean(marks), max(marks)] if marks else [float("nan")] * 4
        )
        came = len(own) + sum(one.lesson == lesson for one in others)
        bad = came - len(marks)
        table.add_row(
            escape(lesson), f"{_most(scores, lesson):g}", str(came), *(f"{figure:.4g}" for figure in figures),
            f"[red]{bad}[/]" if bad else "",
        )  # fmt: skip
    return table
