"""How a terminal is written to: tables and lines, and progress bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

__all__ = ["console_for_output", "progress", "say"]


def console_for_output(stderr: bool = False) -> Console:
    """Standard output, or standard error; in a file or a pipe wide enough for every table."""
    console = Console(stderr=stderr)
    return console if console.is_terminal else Console(stderr=stderr, width=120)


def say(console: Console, text: str) -> None:
    """Print a text as it is: what looks like markup stays, and no path or command is broken at the edge."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def progress(what: str, quiet: bool = False) -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar with an estimate; yields step(done, of, name). In a terminal only, and not if ``quiet``."""
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
    off = quiet or not console.is_terminal
    with Progress(*columns, console=console, disable=off, transient=True, redirect_stdout=above) as bar:
        task = bar.add_task(what, total=None, name="")

        def step(done: int, of: int, name: str) -> None:
            bar.update(task, completed=done, total=of, name=name)

        yield step
