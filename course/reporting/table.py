"""Tables and progress bars in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from course.grading.results import STATUSES

if TYPE_CHECKING:
    from pathlib import Path

    from course.authoring.contract import Record, Violation
    from course.grading.results import GradedClass

__all__ = ["console_for_output", "print_class", "print_contract", "progress"]


def console_for_output() -> Console:
    """Standard output; in a file or a pipe wide enough for every table."""
    console = Console()
    return console if console.is_terminal else Console(width=120)


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar with an estimate; yields step(done, of, name). Prints nothing where stderr is not a terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"),
        TimeRemainingColumn(), TextColumn("{task.fields[name]}"),
    )  # fmt: skip
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(what, total=None, name="")

        def step(done: int, of: int, name: str) -> None:
            bar.update(task, completed=done, total=of, name=name)

        yield step


def print_contract(records: Sequence[Record], violations: Sequence[Violation], seconds: float) -> None:
    """A row an exercise, then every violation with place and next command, then the totals."""
    console = console_for_output()
    table = Table("lesson", "exercise", *(), title="author contract")
    for name in ("points", "accepted", "mutants killed", "hinted", "seconds"):
        table.add_column(name, justify="right")
    table.add_column("")
    for record in records:
        exercise = record.exercise
        table.add_row(
            exercise.lesson, exercise.id, f"{exercise.points:g}", f"{record.accepted}/{len(exercise.accepted)}",
            f"{record.killed}/{len(exercise.mutants)}", f"{record.named}/{len(exercise.mutants)}",
            f"{record.seconds:.1f}", "[red]broken[/]" if record.violations else "[green]holds[/]",
        )  # fmt: skip
    console.print(table)
    for violation in violations:
        console.print(f"[red]error:[/] {violation.fact}", highlight=False, markup=True, soft_wrap=True)
        console.print(f"  at:   {violation.place}", highlight=False, markup=False, soft_wrap=True)
        console.print(f"  next: {violation.next_command}", highlight=False, markup=False, soft_wrap=True)
    mutants = sum(len(record.exercise.mutants) for record in records)
    console.print(
        f"{len(records)} exercises, {sum(r.accepted for r in records)} accepted answers, "
        f"{sum(r.killed for r in records)} of {mutants} mutants killed, "
        f"{sum(r.hinted for r in records)} hinted as declared, "
        f"{sum(r.named for r in records) / max(mutants, 1):.1%} of mutants with a hint of their own, "
        f"{len(violations)} violations, {seconds:.1f} s",
        highlight=False,
    )


def print_class(graded: GradedClass, notes: Sequence[str], feedback: Path, seconds: float) -> None:
    """Learners x lessons, then what could not be graded and why, then where everything lies."""
    console = console_for_output()
    lessons = sorted({score.lesson for score in graded.scores})
    learners = sorted({score.learner for score in graded.scores})
    cells = {(score.learner, score.lesson): score for score in graded.scores}
    table = Table(title="scores")
    table.add_column("learner", no_wrap=True)
    for lesson in lessons:
        most = max(score.max_score for score in graded.scores if score.lesson == lesson)
        table.add_column(f"{lesson.replace('_', ' ')}\nof {most:g}", justify="right")
    table.add_column("total", justify="right")
    for learner in learners:
        row, total = [], 0.0
        for lesson in lessons:
            score = cells.get((learner, lesson))
            total += score.score if score else 0.0
            row.append("-" if score is None else "[red]![/]" if score.problem else f"{score.score:g}")
        table.add_row(escape(learner), *row, f"{total:g}")
    console.print(table)
    for score in graded.scores:
        if score.problem:
            place = f"submitted/{score.learner}/{score.lesson}"
            console.print(f"! not graded: {place}: {score.problem}", highlight=False, markup=False, soft_wrap=True)
    for note in notes:
        console.print(note, highlight=False, markup=False, soft_wrap=True)
    ended = Counter(status for score in graded.scores for status in score.statuses)
    if ended:
        parts = ", ".join(f"{ended[status]} {status}" for status in STATUSES if ended[status])
        console.print(f"exercises: {parts}", highlight=False)
    waiting = sum(score.waiting for score in graded.scores)
    if waiting:
        told = "1 written answer waits" if waiting == 1 else f"{waiting} written answers wait"
        console.print(f"{told} for your marks: python -m course formgrader", highlight=False)
    fresh = sum(score.fresh and not score.problem for score in graded.scores)
    kept = sum(not score.fresh for score in graded.scores)
    console.print(f"graded {fresh}, unchanged {kept}, {seconds:.1f} s, seed {graded.seed}", highlight=False)
    console.print(f"gradebook: {graded.gradebook}", highlight=False, soft_wrap=True)
    console.print(f"feedback:  {feedback.resolve()}", highlight=False, soft_wrap=True)
