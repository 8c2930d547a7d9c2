"""What was collected, as a table in the terminal."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nbproof.command import course_command
from nbproof.gradebook.marks import Person
from nbproof.gradebook.receipts import TIME
from nbproof.places import places
from nbproof.terminal import console_for_output, say
from nbproof.text import counted, in_utc, printable, some_of
from nbproof_lms.attendance import choice
from nbproof_lms.outcome import PLACED, STANDS, STATUSES, Collected, FileRecord
from nbproof_lms.owners import ALONE
from nbproof_lms.roster import members_of
from nbproof_lms.system import systems

__all__ = ["cures", "print_collected"]

_NEXT = {
    "taken": "`grade` marks what can be read of it, and says what cannot; if it is no answer, ask for the right notebook",
    "another lesson": "ask for the right notebook. Or file them where they belong, by their content: {}",
    "no lesson known": "--lesson LESSON says what they were handed in for",
    "no notebook": "ask for the .ipynb file; `grade` and `report` list who handed in nothing else",
    "unsafe path": "ask for the file itself",
    "not read": "ask for the file itself or an ordinary zip, or unpack it yourself and collect the folder",
}
"""What to do about files that need a person."""


def print_collected(
    collected: Collected, root: Path, paths: Sequence[Path], request: Namespace, console: Console | None = None
) -> None:
    """Print what became of each file that learners handed in, and why. Files that need a person stand last.

    A file with nothing to say of it is only counted. ``paths``: those that were collected in the call of a command, ``request``.
    ``console``: standard output if none is given.
    """
    console = console or console_for_output()
    came = [*map(str, paths), *(f"--fetch={one}" for one in request.fetch)]
    came += [f"--learner={one}" for one in request.learners]
    rows = [record for record in collected.records if record.status != "junk"]
    if shown := [record for record in rows if _says_something(record)]:
        console.print(_table(shown, root))
    if needs := len(collected.needs_person):
        verb = "needs" if needs == 1 else "need"
        console.print(f"[red]{counted(needs, 'file')} {verb} you[/]: the last rows of the table", highlight=False)
    statuses = Counter(one.status for one in rows)
    if usual := statuses - Counter(one.status for one in shown):
        say(console, f"not shown, for there is nothing to say of them: {_counts(usual)}; list.json names every file")
    told = _counts({status: count for status, count in collected.counts.items() if status != "junk"})
    lines = (*collected.notes, *_times(collected, root), told or "no file came", *cures(collected, root, came))
    say(console, *map(printable, lines))
    say(console, *(f"kept: {root / 'collected' / upload.folder / 'list.json'}" for upload in collected.uploads))


def _counts(statuses: Mapping[str, int]) -> str:
    """``3 taken, 1 waits``."""
    return ", ".join(f"{count} {status}" for status, count in statuses.items())


def _times(collected: Collected, root: Path) -> Iterator[str]:
    """Lines on the times that an LMS writes without a zone, and on due dates, which they are compared with."""
    fetched = {one.name for one in systems().values() if one.address}  # its times have zones
    unzoned = [record for record in collected.records if record.system not in {"", *fetched}]
    if dated := {record.time: record.system for record in unzoned if record.time}:
        from nbproof_lms.roster_command import lines_of_due_dates  # slow to import

        name = next(iter(dated.values()))
        yield f"{name}'s times have no zone, and are read as UTC: the last one is {in_utc(max(dated))}."
        yield f"  Due dates are what {name} shows, without a zone: {course_command('roster due LESSON WHEN', root)}"
        yield from lines_of_due_dates(root)
    yield from _without_time(collected, root)


def _without_time(collected: Collected, root: Path) -> Iterator[str]:
    """A line for each LMS that can say when notebooks were handed in, and does not in this upload, nor did before."""
    said = (one for one in collected.records if one.status in STANDS and one.system and one.time is None)
    there = [one for one in said if not (places(root).folder("submitted", *one.key) / TIME).exists()]
    for name in sorted({record.system for record in there if systems()[record.system].dates_entries}):
        own = sorted((record for record in there if record.system == name), key=lambda record: not record.why)
        names = [_with_why(record) for record in own]
        also = f", also in a table that --names takes ({systems()[name].export})"
        if all(record.lms_status for record in own):
            also = ""
        yield (
            f"nothing in this upload says when these were handed in, so they count as in time: {some_of(names, 8)}. {name} shows "
            f"when{also}: for who was late write that into "
            "submitted/LEARNER/LESSON/timestamp.txt, such as 2026-11-20 18:00 UTC"
        )


def _with_why(record: FileRecord) -> str:
    """Learner and lesson of a file, with its sentence in brackets if it has one."""
    return f"{record.key.name} ({record.why})" if record.why else record.key.name


def _says_something(record: FileRecord) -> bool:
    """Whether there is more to say of a file than that it has its usual place."""
    return bool(record.why or record.needs_person or record.status not in PLACED)


def _table(records: Sequence[FileRecord], root: Path) -> Table:
    people = {member.learner: member.person for member in members_of(root)}
    table = Table(title="collected")
    for head, ratio in (("file", 4), ("learner", 2), ("lesson", 2), ("what became of it", 4)):
        table.add_column(head, overflow="fold", ratio=ratio)
    for record in sorted(records, key=lambda one: (one.needs_person, one.learner, one.lesson, one.name)):
        learner = people.get(record.learner, Person(record.learner)).called
        cells = (escape(printable(cell)) for cell in (record.name, learner, record.lesson))
        table.add_row(*cells, _ending(record))
    return table


def _ending(record: FileRecord) -> str:
    colour = "dim"
    why = record.why or STATUSES[record.status]
    if record.status in PLACED:
        colour = "green"
        why = record.why
    if record.needs_person:
        colour = "red"
    ending = f"[{colour}]{record.status}[/]"
    if why:
        ending += f": {escape(printable(why))}"
    return ending


def cures(collected: Collected, root: Path, came: Sequence[str]) -> list[str]:
    """Lines that say what to do about the files that need a person. Only NAME has to be replaced in their commands.

    ``came``: the words that follow `collect` where all of it is collected again.
    """
    found: list[str] = []
    again = course_command(shlex.join(["collect", *came]), root)
    for status in dict.fromkeys(record.status for record in collected.needs_person):
        records = [record for record in collected.needs_person if record.status == status]
        if status == "no learner known":
            whole = again if len(collected.uploads) == 1 else ""
            found += _name_owners(records, root, whole)
        elif status == "waits":
            found.append("waits: open the copies, then say which one counts; what waits has no mark:")
            found += [f"  {choice(root, record.path_in_course, *record.key)}" for record in records if record.lesson]
        elif status in _NEXT:
            found.append(f"{status}: {_NEXT[status].format(again)}")
    return [f"  {line}" for line in found]


def _name_owners(records: Sequence[FileRecord], root: Path, again: str) -> Iterator[str]:
    """A line that says how a person can name the learner of a file, if nothing else does. ``again``: the command that collects
    the upload again; empty if there are several."""
    if again and {record.why for record in records} == {ALONE}:
        yield f"no learner known: {again} --learner NAME says who handed in all of it"
    elif unsaid := [record for record in records if record.kept]:
        # The numbers of other systems stand in no table that they give.
        numbering = {systems()[record.system] for record in records if record.account}
        exports = sorted(system.export for system in numbering if system.roster_number)
        numbers = "".join(
            f", where CSV is the table with the numbers of that download ({export})" for export in exports
        )
        one = course_command(f"collect {shlex.quote(str(root / unsaid[0].path_in_course))} --learner NAME", root)
        first = "" if len(unsaid) == 1 else f", as for the first of these {len(unsaid)}"
        yield f"no learner known: --names CSV says who handed them in{numbers}; or one by one{first}: {one}"
