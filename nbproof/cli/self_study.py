"""What somebody who studies alone sees in the terminal: a checked notebook."""

from __future__ import annotations

from collections.abc import Mapping

from nbproof.display.help import Hint, all_hints
from nbproof.display.words import words
from nbproof.marking.results import UNCERTAIN, Verdict
from nbproof.terminal import console_for_output, say
from nbproof.values.results import Outcome

__all__ = ["print_notebook"]


def print_notebook(verdict: Verdict, seconds: float) -> None:
    """What the visible and hidden tests say about one notebook, an exercise after the other."""
    console = console_for_output()
    hints = all_hints()
    for exercise in verdict.exercises:
        most = exercise.max_score
        whole = exercise.score == most
        unasked = {"not answered": "[yellow]○[/]", UNCERTAIN: "[yellow]?[/]"}.get(exercise.status)
        mark = "[green]✓[/]" if whole else unasked or "[red]✗[/]"
        console.print(f"{mark} [bold]{exercise.id}[/]  {exercise.score:g} of {most:g}", highlight=False)
        if whole:
            continue
        lines = [words().outcome(exercise)] if unasked else _said(exercise, hints)
        for line in lines:
            say(console, f"    {line}")
    for name, how in verdict.recovered.items():
        say(console, f"note: {name}: {how}")
    for one in verdict.written:
        told = "your text is there" if one.answered else "nothing is written yet"
        console.print(f"[dim]·[/] [bold]{one.id}[/]  not checked automatically: {told}", highlight=False)
    most = sum(exercise.max_score for exercise in verdict.exercises)
    say(console, f"{verdict.lesson}: {verdict.score:g} of {most:g} points, {seconds:.1f} s, seed {verdict.seed}")


def _said(exercise: Outcome, hints: Mapping[str, Hint]) -> list[str]:
    lines = words().outcome(exercise).splitlines()
    wrong = next(iter(exercise.costly), None)
    if wrong is None:
        return lines
    if wrong.line and exercise.reason is not None:
        lines.append(words().line(wrong))
    lines.append(f"asked: {wrong.asked}")
    hint = hints.get(wrong.hint or "")
    if hint is not None:
        lines.append(f"looks like {hint.name}. {hint.question}")
    return lines
