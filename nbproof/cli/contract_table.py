"""The author contract in the terminal: a line an exercise as soon as it is done, what is broken, and what it all adds up to."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from nbproof.authoring.checkup import Checkup
from nbproof.authoring.contract import Record
from nbproof.command import course_command
from nbproof.errors import LessonError
from nbproof.terminal import console_for_output, say
from nbproof.text import counted

if TYPE_CHECKING:
    from nbproof.authoring.explorer import Explored

__all__ = ["Found", "print_contract", "tell_explored"]


class Found:
    """Tells what was found on an exercise as soon as it was looked at: an author who stops a run keeps what it has found."""

    done = 0

    def tell(self, record: Record, of: int) -> None:
        """A line for one exercise, and every violation with place and next command."""
        self.done += 1
        console = console_for_output()
        mutants = f"{record.killed} of {counted(len(record.exercise.mutants), 'mutant')} killed"
        broken = counted(len(record.violations), "violation") if record.violations else "holds"
        say(console, f"[{self.done}/{of}] {record.exercise.id}: {mutants}, {record.seconds:.1f} s: {broken}")
        _print(console, record.violations)
        sys.stdout.flush()


def _print(console: Console, violations: Iterable[LessonError]) -> None:
    for violation in violations:
        told = escape(str(violation)).replace("error:", "[red]error:[/]", 1)
        console.print(told, highlight=False, markup=True, soft_wrap=True)


def print_contract(checkup: Checkup) -> None:
    """What is broken beyond single exercises, what was looked at, and the totals."""
    console = console_for_output()
    _print(console, checkup.others)
    say(console, f"looked at: {checkup.looked_at}")
    console.print(_totals(checkup), highlight=False)


def _totals(checkup: Checkup) -> str:
    def total(name: str) -> Any:
        return sum(getattr(record, name) for record in checkup.records)

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
        f"{total('guarded')} of {counted(sum(len(one.tests) for one in exercises), 'test cell')} cannot be passed without an "
        f"answer ({total('exempt'):g} of {sum(one.points for one in exercises):g} points exempt)",
        counted(len(checkup.violations), "violation"),
        f"{checkup.seconds:.1f} s",
    )
    return ", ".join(parts)


def tell_explored(found: Explored) -> bool:
    """Print what was found on one exercise; returns whether all agree."""
    console = console_for_output()
    beyond = f" ({found.beyond} beyond the statement)" if found.beyond else ""
    parted = counted(len(found.disagreements), "disagreement") if found.disagreements else "all agree"
    say(console, f"{found.exercise}: {found.draws} draws{beyond}, {found.seconds:.1f} s: {parted}")
    for one in found.disagreements:
        wrong = {name: gave for name, gave in one.gave.items() if gave}
        right = [name for name in one.gave if name not in wrong]
        fact = f"in {one.exploration} not the truth: {', '.join(wrong)}"
        console.print(f"[red]error:[/] {escape(fact)}", highlight=False, soft_wrap=True)
        say(console, "".join(f"    {line}\n" for line in one.lines.split("\n")).rstrip())
        say(console, f"    # the truth: {one.truth}")
        for gave in dict.fromkeys(wrong.values()):
            say(console, f"    # {', '.join(name for name in wrong if wrong[name] == gave)}: {gave}")
        say(console, f"    # as the truth: {', '.join(right) or 'no answer'}")
        say(console, f"  at:   {found.place}")
        say(
            console,
            f"  next: run these lines below an answer: {course_command(f'check {found.exercise} --show reference')}",
        )
    sys.stdout.flush()
    return not found.disagreements
