"""What was collected, as a table in the terminal and as JSON."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections import Counter
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from nbproof.command import course_command
from nbproof.errors import UsageError
from nbproof.files import replace_file
from nbproof.terminal import console_for_output, say
from nbproof.text import counted, printable, some_of
from nbproof_lms.outcome import PLACED, STATUSES, Collected, Line
from nbproof_lms.owners import HIDDEN
from nbproof_lms.roster import members_of

__all__ = ["MANY", "cures", "print_collected", "write_json"]

_SHOWN = 12
"""Commands for copies that wait, one for each."""

MANY = 40
"""Files from which on a list of all of them hides what is special."""

_NEXT = {
    "ambiguous learner": "say who is who with --names CSV. If learners share a name, it needs the LMS's numbers: take "
    "Canvas's gradebook export or Moodle's grading worksheet, or add a column of these numbers to your CSV",
    "no lesson known": "--lesson LESSON says what they were handed in for",
    "no notebook": "ask for the .ipynb file; `grade` and `report` list who handed in nothing else",
    "waits": "once you have said which notebook counts, put the files that came with it beside it in submitted/",
    "name taken": "put the right file into submitted/ yourself; it stays",
    "wrong lesson": "collect again without --lesson to file them where their content belongs",
    "link": "ask for the file itself",
    "unsafe path": "ask for the file itself",
    "too large": "ask for a smaller file, or unpack it yourself and collect the folder",
    "encrypted": "ask for one without a password, or unpack it yourself and collect the folder",
    "damaged": "ask for the file again",
    "unknown archive": "ask for a zip, or unpack it yourself and collect the folder",
    "unreadable": "mend what its row says, then collect again",
}
"""What to do about files that need a person."""


def print_collected(collected: Collected, root: Path, everything: bool = False) -> None:
    """Files that learners handed in, what became of each and why; what needs a person stands last.

    Of very many those without anything special are counted only, unless ``everything`` is wanted.
    """
    console = console_for_output()
    people = {member.learner: member.name for member in members_of(root)}
    rows = [line for line in collected.lines if line.status != "junk"]
    usual: Counter[str] = Counter()
    if len(rows) > MANY and not everything:
        usual = Counter(line.status for line in rows if _is_usual(line))
        rows = [line for line in rows if not _is_usual(line)]
    if rows:
        table = Table(title="collected" + (" (dry run: nothing was written)" if collected.dry_run else ""))
        table.add_column("file", overflow="fold", ratio=4)
        table.add_column("learner", overflow="fold", ratio=2)
        table.add_column("lesson", overflow="fold", ratio=2)
        table.add_column("what became of it", overflow="fold", ratio=4)
        for line in sorted(rows, key=lambda one: (one.needs_person, one.learner, one.lesson, one.name)):
            name = people.get(line.learner, "")
            whose = line.learner if name in {"", line.learner} else f"{line.learner} ({name})"
            table.add_row(*(escape(printable(cell)) for cell in (line.name, whose, line.lesson)), _ending(line))
        console.print(table)
    if usual:
        told = ", ".join(f"{count} {status}" for status, count in usual.items())
        say(console, f"not shown: {told}; --all lists every file")
    if junk := Counter(line.status for line in collected.lines)["junk"]:
        say(console, f"not listed: {counted(junk, 'file')} that no learner wrote (archives, .DS_Store and the like)")
    for note in collected.notes:
        say(console, printable(note))
    if collected.missing:
        say(console, f"nothing came from {some_of(collected.missing, 8)}")
    told = ", ".join(f"{count} {status}" for status, count in collected.counts.items() if status != "junk")
    say(console, told or "no file came")
    if needs := len(collected.needs_person):
        console.print(
            f"[red]{counted(needs, 'file')} need{'s' if needs == 1 else ''} you[/]: the last rows of the table",
            highlight=False,
        )
        for told in cures(collected, root):
            say(console, f"  {told}")
    for upload in collected.uploads:
        if upload.folder:
            place = root / "collected" / upload.folder / "list.json"
            say(console, f"kept: {place}")


def _is_usual(line: Line) -> bool:
    """Whether a file is where it was meant to be, and there is nothing to say of it."""
    return line.status in {"taken", "already there"} and not (line.why or line.late or line.needs_person)


def cures(collected: Collected, root: Path) -> list[str]:
    """What to do about the files that need a person, a line each: commands that work as they stand, but for NAME."""
    found = []
    for status in dict.fromkeys(line.status for line in collected.needs_person):
        if status == "no learner known":
            found += _whose(collected, root)
        elif status == "order unknown":
            found += _which(collected, root)
        elif status in _NEXT:
            found.append(f"{status}: {_NEXT[status]}")
    return [printable(line) for line in found]


def _which(collected: Collected, root: Path) -> list[str]:
    """What makes one of several copies count, a command for each copy that waits."""
    if collected.dry_run:
        return ["order unknown: collect them without --dry-run, which prints a command for each copy"]
    lines = [line for line in collected.needs_person if line.status == "order unknown"]
    found = ["order unknown: open the copies, then say which one counts; what waits has no mark:"]
    for line in lines[:_SHOWN]:
        path = shlex.quote(str(_kept(line, collected, root)))
        choice = f"collect {path} --learner {shlex.quote(line.learner)} --lesson {line.lesson}"
        found.append(f"  {course_command(choice, root)}")
    if len(lines) > _SHOWN:
        found.append(f"  and {len(lines) - _SHOWN} more in the same way; list.json names them")
    return found


def _kept(line: Line, collected: Collected, root: Path) -> Path:
    """Where the copy of a file that came lies; what its upload was called if nothing is kept."""
    for upload in collected.uploads:
        path = root / "collected" / upload.folder / line.kept
        # Two uploads may bear one name, and hold files of one name.
        if upload.folder and path.is_file():
            with path.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() == line.sha256:
                    return path
    return Path(line.upload)


def _whose(collected: Collected, root: Path) -> list[str]:
    """What says whose a file is, if nothing did."""
    lines = [line for line in collected.needs_person if line.status == "no learner known"]
    found = []
    sent = next((line for line in lines if "@" in line.sender), None)
    if sent is not None:
        add = course_command(f"roster add NAME --email {shlex.quote(sent.sender)}", root)
        found.append(f"no learner known, by mail: {add}; then collect again")
    if any(line.why == HIDDEN for line in lines):
        found.append(
            "no learner known, anonymous: post the grades in Canvas, or turn anonymous grading off there, and download "
            "again; or name them in a column of --names CSV, such as anon_aB3x9"
        )
    unsaid = next((line for line in lines if "@" not in line.sender and line.kept and line.why != HIDDEN), None)
    if unsaid is not None:
        path = shlex.quote(str(_kept(unsaid, collected, root)))
        one = course_command(f"collect {path} --learner NAME", root)
        # In a dry run nothing lies anywhere by itself yet.
        one = "collect them without --dry-run" if collected.dry_run else one
        found.append(f"no learner known: --names CSV or --pattern REGEX says whose they are; or one by one: {one}")
    return found


def _ending(line: Line) -> str:
    colour = "red" if line.needs_person else "green" if line.status in PLACED else "dim"
    why = line.why or ("" if line.status in PLACED else STATUSES[line.status])
    return f"[{colour}]{line.status}[/]" + (f": {escape(printable(why))}" if why else "")


def write_json(collected: Collected, path: Path) -> None:
    """Write the list of all files as JSON. Raises UsageError if it cannot be written."""
    try:
        replace_file(path, json.dumps(collected.as_dict(), indent=1) + "\n")
    except OSError as error:
        raise UsageError(
            f"the list cannot be written ({error.strerror})", str(path), "choose another file: --json FILE"
        ) from None
