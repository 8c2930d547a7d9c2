"""The author contract in the terminal: a row an exercise, what is broken, what was looked at."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nbproof.authoring.checkup import Checkup
from nbproof.authoring.contract import Record
from nbproof.errors import Violation
from nbproof.terminal import console_for_output, say
from nbproof.text import counted

__all__ = ["Found", "print_contract"]


class Found:
    """Tells what was found on an exercise as soon as it was looked at: whoever stops a run keeps what it has found."""

    def __init__(self) -> None:
        self._done = 0

    def tell(self, record: Record, of: int) -> None:
        """A line for one exercise, and every violation with place and next command."""
        self._done += 1
        console = console_for_output()
        broken = counted(len(record.violations), "violation")
        tried = counted(len(record.exercise.candidates), "candidate")
        say(console, f"[{self._done}/{of}] {record.exercise.id}: {tried}, {record.seconds:.1f} s: {broken}")
        _print(console, record.violations)
        sys.stdout.flush()


def _print(console: Console, violations: Iterable[Violation]) -> None:
    for violation in violations:
        console.print(f"[red]error:[/] {escape(violation.fact)}", highlight=False, markup=True, soft_wrap=True)
        say(console, f"  at:   {violation.place}")
        say(console, f"  next: {violation.next_command}")


def print_contract(checkup: Checkup) -> None:
    """A row an exercise, then what is broken beyond single exercises, then what was looked at, and the totals."""
    console = console_for_output()
    table = Table("lesson", "exercise", title="author contract")
    for name in ("points", "accepted", "mutants killed", "by visible checks", "hinted", "demands", "seconds"):
        table.add_column(name, justify="right")
    table.add_column("")
    for record in checkup.records:
        table.add_row(*_cells(record), _state(record, checkup))
    console.print(table)
    _print(console, checkup.others)
    say(console, f"looked at: {checkup.looked_at}")
    console.print(_totals(checkup), highlight=False)


def _cells(record: Record) -> tuple[str, ...]:
    exercise, mutants = record.exercise, len(record.exercise.mutants)
    return (
        exercise.lesson,
        exercise.id,
        f"{exercise.points:g}",
        f"{record.accepted}/{len(exercise.accepted)}",
        f"{record.killed}/{mutants}",
        f"{record.seen / max(mutants, 1):.0%}" if not exercise.plain else "-",
        f"{record.named}/{mutants}",
        f"{len(record.demands.broken)}/{record.demands.count}",
        f"{record.seconds:.1f}",
    )


def _totals(checkup: Checkup) -> str:
    def total(name: str) -> float:
        counts: list[float] = [getattr(record, name) for record in checkup.records]
        return sum(counts)

    exercises = [record.exercise for record in checkup.records]
    mutants = sum(len(one.mutants) for one in exercises)
    parts = (
        counted(len(exercises), "exercise"),
        f"{total('accepted')} accepted answers",
        f"{total('killed')} of {mutants} mutants killed",
        f"{total('seen') / max(mutants, 1):.1%} by visible checks",
        f"{total('named') / max(mutants, 1):.1%} of mutants with a hint of their own",
        f"{sum(len(record.demands.broken) for record in checkup.records)} of "
        f"{sum(record.demands.count for record in checkup.records)} demands have a mutant",
        f"{total('guarded')} of {counted(sum(len(one.tests) for one in exercises), 'test cell')} with a hidden check that "
        f"nothing learners have answers ({total('exempt'):g} of {sum(one.points for one in exercises):g} points exempt)",
        counted(len(checkup.violations), "violation"),
        f"{checkup.seconds:.1f} s",
    )
    return ", ".join(parts)


def _guarded(records: Sequence[Record]) -> str:
    """How many test cells have a hidden check that what learners have does not answer, and which points are exempt."""
    cells = sum(len(record.exercise.tests) for record in records)
    points = sum(record.exercise.points for record in records)
    exempt = sum(record.exempt for record in records)
    told = f"{sum(record.guarded for record in records)} of {counted(cells, 'test cell')} with a hidden check that"
    told += " nothing learners have answers"
    return f"{told} ({exempt:g} of {points:g} points exempt)" if exempt else told


def _state(record: Record, checkup: Checkup) -> str:
    """Whether the contract holds for an exercise: its own part, and that of its lesson, which learners get as a whole."""
    if record.violations:
        return "[red]broken[/]"
    return "[red]lesson broken[/]" if record.exercise.lesson in checkup.broken_lessons else "[green]holds[/]"
