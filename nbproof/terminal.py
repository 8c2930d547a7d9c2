"""How a terminal is written to: tables and lines, and progress bars."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from nbproof.errors import UsageError
from nbproof.text import duration

__all__ = ["EVERY", "agreed", "console_for_output", "progress", "say", "tell"]

EVERY = 30.0
"""Seconds between two lines on how far it is, in a pipe or a log, where no bar is drawn."""


def console_for_output(stderr: bool = False) -> Console:
    """Standard output, or standard error; in a file or a pipe wide enough for every table."""
    console = Console(stderr=stderr)
    return console if console.is_terminal else Console(stderr=stderr, width=120)


def say(console: Console, *lines: str) -> None:
    """Print lines as they are: what looks like markup stays, and no path or command is broken at the edge."""
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def agreed(question: str, command: str, then: str = "run the same command with --yes") -> bool:
    """Ask the person who has called this command; returns whether they say yes. Raises UsageError if nobody is at a terminal.

    ``then``: what to do then.
    """
    if not sys.stdin.isatty():
        raise UsageError("nobody is here to say yes", command, then)
    return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}


@contextmanager
def progress(what: str, quiet: bool = False) -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar with an estimate, in a pipe or a log a line now and then; yields step(done, of, name).

    Nothing if ``quiet``.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[name]}"),
    )
    # What is printed meanwhile stands above the bar, but in a file where standard output is one.
    above = sys.stdout.isatty()
    in_lines = not console.is_terminal
    off = quiet or in_lines
    began = said = time.monotonic()
    with Progress(*columns, console=console, disable=off, transient=True, redirect_stdout=above) as bar:
        task = bar.add_task(what, total=None, name="")

        def step(done: int, of: int, name: str) -> None:
            nonlocal said
            bar.update(task, completed=done, total=of, name=name)
            now = time.monotonic()
            if in_lines and not quiet and done and now - said >= EVERY:
                said = now
                # The first ones wait for what starts meanwhile, and tell nothing of the others.
                left = f", about {duration((now - began) * (of - done) / done)} left" * (done >= 5)
                tell(f"{what}: {done} of {of}{left}")

        yield step


def tell(*lines: str) -> None:
    """Lines on standard error, at once."""
    # The reader at the other end may have gone; the work goes on.
    with suppress(OSError, ValueError):
        for line in lines:
            print(line, file=sys.stderr, flush=True)
