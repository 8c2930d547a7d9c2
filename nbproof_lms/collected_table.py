"""What was collected, as a table in the terminal."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nbproof.command import course_command
from nbproof.gradebook.marks import Person
from nbproof.terminal import console_for_output, say
from nbproof.text import counted, in_utc, printable, some_of
from nbproof_lms.attendance import choice
from nbproof_lms.outcome import PLACED, STANDS, STATUSES, Collected, Line
from nbproof_lms.roster import members_of
from nbproof_lms.system import systems

__all__ = ["cures", "print_collected"]

_NEXT = {
    "taken": "`grade` marks what can be read of it, and says what cannot; if it is no answer, ask for the right notebook",
    "no lesson known": "--lesson LESSON says what they were handed in for. Of another lesson's: ask for the right notebook; "
    "collected without --lesson, they are filed where they belong",
    "no notebook": "ask for the .ipynb file; `grade` and `report` list who handed in nothing else",
    "unsafe path": "ask for the file itself",
    "not read": "ask for the file itself or an ordinary zip, or unpack it yourself and collect the folder",
}
"""What to do about files that need a person."""


def print_collected(collected: Collected, root: Path, console: Console | None = None) -> None:
    """What became of each file that learners handed in, and why; what needs a person stands last.

    A file with nothing to say of it is counted only.
    """
    console = console or console_for_output()
    rows = [line for line in collected.lines if line.status != "junk"]
    if shown := [line for line in rows if _says_something(line)]:
        console.print(_table(shown, root))
    if needs := len(collected.needs_person):
        verb = "needs" if needs == 1 else "need"
        console.print(f"[red]{counted(needs, 'file')} {verb} you[/]: the last rows of the table", highlight=False)
    if usual := Counter(one.status for one in rows) - Counter(one.status for one in shown):
        there = ", ".join(f"{count} {status}" for status, count in usual.items())
        say(console, f"not shown, for there is nothing to say of them: {there}; list.json names every file")
    told = ", ".join(f"{count} {status}" for status, count in collected.counts.items() if status != "junk")
    for line in (*collected.notes, *_times(collected, root), told or "no file came", *cures(collected, root)):
        say(console, printable(line))
    for upload in collected.uploads:
        say(console, f"kept: {root / 'collected' / upload.folder / 'list.json'}")


def _times(collected: Collected, root: Path) -> Iterator[str]:
    """How times were read that an LMS writes without a zone, beside what they are compared with."""
    fetched = {one.name for one in systems().values() if one.address}  # its times have zones
    dated = {line.time: line.system for line in collected.lines if line.system and line.time}
    dated = {time: name for time, name in dated.items() if name not in fetched}
    if times := list(dated):
        from nbproof_lms.roster_command import lines_of_due_dates  # slow to import

        name = dated[times[0]]
        yield f"{name}'s times have no zone, and are read as UTC: the last one is {in_utc(max(times))}."
        yield f"  Due dates are what {name} shows, without a zone: {course_command('roster due LESSON WHEN', root)}"
        yield from lines_of_due_dates(root)
    yield from _without_time(collected)


def _without_time(collected: Collected) -> Iterator[str]:
    """A line, if nothing in an upload says when its notebooks were handed in, though such an upload may say so."""
    there = [line for line in collected.lines if line.status in STANDS and line.system and line.time is None]
    for name in sorted({line.system for line in there if systems()[line.system].dates_entries}):
        own = sorted((line for line in there if line.system == name), key=lambda line: not line.why)
        names = [line.key.name + f" ({line.why})" * bool(line.why) for line in own]
        yield (
            f"nothing in this upload says when these were handed in, so they count as in time: {some_of(names, 8)}. {name} shows "
            f"when, also in a table that --names takes ({systems()[name].export}): for who was late write that into "
            "submitted/LEARNER/LESSON/timestamp.txt, such as 2026-11-20 18:00 UTC"
        )


def _says_something(line: Line) -> bool:
    """Whether there is more to tell of a file than that it has its usual place."""
    is_late = line.late and line.status in STANDS
    return bool(line.why or line.needs_person or line.status not in PLACED or is_late)


def _table(lines: Sequence[Line], root: Path) -> Table:
    people = {member.learner: member.person for member in members_of(root)}
    table = Table(title="collected")
    for head, ratio in (("file", 4), ("learner", 2), ("lesson", 2), ("what became of it", 4)):
        table.add_column(head, overflow="fold", ratio=ratio)
    for line in sorted(lines, key=lambda one: (one.needs_person, one.learner, one.lesson, one.name)):
        whose = people.get(line.learner, Person(line.learner)).called
        table.add_row(*(escape(printable(cell)) for cell in (line.name, whose, line.lesson)), _ending(line))
    return table


def _ending(line: Line) -> str:
    colour = "green" if line.status in PLACED else "dim"
    if line.needs_person:
        colour = "red"
    why = line.why or ("" if line.status in PLACED else STATUSES[line.status])
    return f"[{colour}]{line.status}[/]" + (f": {escape(printable(why))}" if why else "")


def cures(collected: Collected, root: Path) -> list[str]:
    """What to do about the files that need a person, a line each: commands that work as they stand, but for NAME."""
    found: list[str] = []
    for status in dict.fromkeys(line.status for line in collected.needs_person):
        lines = [line for line in collected.needs_person if line.status == status]
        if status == "no learner known":
            found += _whose(lines, root)
        elif status == "waits":
            found.append("waits: open the copies, then say which one counts; what waits has no mark:")
            found += [f"  {choice(root, line.place, *line.key)}" for line in lines if line.lesson]
        elif status in _NEXT:
            found.append(f"{status}: {_NEXT[status]}")
    return [f"  {line}" for line in found]


def _whose(lines: Sequence[Line], root: Path) -> Iterator[str]:
    """How a person can say which learner a file is from, if nothing did."""
    if unsaid := [line for line in lines if line.kept]:
        # The numbers of the others stand in no table that they give.
        told = {systems()[line.system] for line in lines if line.account}
        exports = sorted(system.export for system in told if system.roster_number)
        numbers = "".join(f", by the numbers of that download ({export})" for export in exports)
        one = course_command(f"collect {shlex.quote(str(root / unsaid[0].place))} --learner NAME", root)
        yield f"no learner known: --names CSV says who handed them in{numbers}; or one by one: {one}"
