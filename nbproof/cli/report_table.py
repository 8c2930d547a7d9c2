"""The report in the terminal: lessons, the hardest exercises, the commonest misconceptions, where the page lies."""

from __future__ import annotations

from pathlib import Path

from rich.markup import escape
from rich.table import Table

from nbproof.report.attendance import latecomers, some
from nbproof.report.findings import Findings
from nbproof.terminal.console import console_for_output
from nbproof.text import printable

__all__ = ["print_report"]


def print_report(findings: Findings, page: Path) -> None:
    """A plain summary on standard output."""
    console = console_for_output()
    records = findings.records
    table = Table(title=f"{escape(records.course)}: {len(records.learners)} learners")
    table.add_column("lesson", no_wrap=True)
    for name in ("graded", "missing", "not graded", "to mark", "of", "mean", "median"):
        table.add_column(name, justify="right")
    for one in findings.lessons:
        table.add_row(
            one.lesson, str(one.handed_in), str(len(one.missing)), str(one.ungraded), str(one.pending),
            f"{one.max_score:g}", "-" if one.mean is None else f"{one.mean:.1f}",
            "-" if one.median is None else f"{one.median:g}",
        )  # fmt: skip
    console.print(table)

    def say(text: str = "") -> None:
        console.print(text, highlight=False, markup=False, soft_wrap=True)

    for one in findings.lessons:
        if one.missing:
            say(f"nothing handed in: {one.lesson}: {some(one.missing)}")
        late = [work for work in records.of_lesson(one.lesson) if work.late]
        if late:
            say(f"late: {one.lesson}: {latecomers(late)}")
    for work in records.ungraded():
        say(f"! not graded: {work.learner}: {work.lesson}: {work.problem}")
    hardest = sorted(findings.exercises, key=lambda one: (one.pass_rate, one.mean_share, one.lesson, one.exercise))[:5]
    if hardest:
        say("hardest exercises")
        for hard in hardest:
            say(f"  {hard.pass_rate:4.0%} passed  {hard.exercise}  ({hard.lesson})")
    if findings.misconceptions:
        say("commonest misconceptions")
        for fell in findings.misconceptions[:3]:
            count = len(fell.learners)
            say(f"  {count} {'learner' if count == 1 else 'learners'}  {fell.hint.name.replace('`', '')}")
    serious = sum(one.kind not in ("recovered", "out of date") for one in findings.faults)
    parts = [f"{serious} {'fault' if serious == 1 else 'faults'} or time-outs"]
    if not findings.anonymous:
        parts.append(f"{len(findings.groups)} groups of near copies")
    say("also: " + ", ".join(parts))
    if findings.to_talk_to:
        say("talk first to")
        called = {person.id: person.called for person in records.learners}
        for person in findings.to_talk_to[:5]:
            name = called.get(person.learner, person.learner)
            name = printable(name)
            say(f"  {name}: {'; '.join(person.reasons)}")
        more, rest = len(findings.to_talk_to[5:]), sum(len(whose) for _, whose in findings.other_signs)
        if more or rest:
            say(f"  {more} more on the page; {rest} others show a sign, needs_help.csv has them")
    for note in records.notes:
        say(f"note: {note}")
    say(f"report:    {page.resolve()}")
