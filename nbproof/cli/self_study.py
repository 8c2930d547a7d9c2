"""What somebody who studies alone sees in the terminal: a checked notebook, and the way so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from nbproof.display.help import Hint, all_hints
from nbproof.terminal import console_for_output, say
from nbproof.text import counted

if TYPE_CHECKING:
    from nbproof.display.progress import Overview
    from nbproof.marking.results import ExerciseVerdict, SubmissionVerdict, TestVerdict

__all__ = ["print_notebook", "print_progress"]


def print_notebook(verdict: SubmissionVerdict, seconds: float) -> None:
    """What the visible and hidden tests say about one notebook, an exercise after the other."""
    from nbproof.marking.results import UNCERTAIN

    console = console_for_output()
    hints = all_hints()
    for exercise in verdict.exercises:
        most = sum(test.max_score for test in exercise.tests)
        whole = exercise.score == most
        unasked = {"not answered": "[yellow]○[/]", UNCERTAIN: "[yellow]?[/]"}.get(exercise.status)
        mark = "[green]✓[/]" if whole else unasked or "[red]✗[/]"
        console.print(f"{mark} [bold]{exercise.id}[/]  {exercise.score:g} of {most:g}", highlight=False)
        if whole:
            continue
        wrong = next((test for test in exercise.tests if test.score < test.max_score), exercise.tests[0])
        lines = [exercise.sentence] if unasked else _said(exercise, wrong, hints)
        for line in lines:
            say(console, f"    {line}")
    for name, how in verdict.recovered.items():
        say(console, f"note: {name}: {how}")
    for one in verdict.written:
        told = "your text is there" if one.answered else "nothing is written yet"
        console.print(f"[dim]·[/] [bold]{one.id}[/]  not checked automatically: {told}", highlight=False)
    most = sum(test.max_score for exercise in verdict.exercises for test in exercise.tests)
    say(console, f"{verdict.lesson}: {verdict.score:g} of {most:g} points, {seconds:.1f} s, seed {verdict.seed}")


def _said(exercise: ExerciseVerdict, wrong: TestVerdict, hints: Mapping[str, Hint]) -> list[str]:
    lines = exercise.sentence.splitlines()
    if wrong.line and wrong.line not in exercise.sentence:
        lines.append(wrong.line)
    if wrong.asked:
        lines.append(f"asked: {wrong.asked}")
    hint = hints.get(wrong.hint or "")
    if hint is not None:
        lines.append(f"looks like {hint.name}. {hint.question}")
    return lines


def print_progress(seen: Overview) -> None:
    """A learner's own overview."""
    colours = {"solved": "green", "tried": "yellow", "untried": "dim"}
    console = console_for_output()
    for lesson in seen.lessons:
        console.print(f"[bold]{lesson.slug}[/]  {escape(lesson.title.replace('`', ''))}", highlight=False)
        table = Table(box=None, show_header=False, padding=(0, 2))
        for one in lesson.exercises:
            state = seen.states[one.id]
            style = colours[state]
            tries = seen.tries.get(one.id, 0)
            table.add_row(
                f"[{style}]{state}[/]",
                escape(one.title),
                f"[dim]{one.id}[/]",
                f"{one.minutes} min",
                counted(tries, "check") if tries else "",
            )
        console.print(table)
    say(console, seen.total)
    if seen.next is not None:
        say(console, f"go on with: {seen.next[1].title}, in {seen.next[0].slug}")
    if seen.trouble:
        say(console, f"progress is not kept: {seen.trouble}")
