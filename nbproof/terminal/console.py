"""Where tables and lines are printed to."""

from __future__ import annotations

from rich.console import Console

__all__ = ["console_for_output", "say"]


def console_for_output(stderr: bool = False) -> Console:
    """Standard output, or standard error; in a file or a pipe wide enough for every table."""
    console = Console(stderr=stderr)
    return console if console.is_terminal else Console(stderr=stderr, width=120)


def say(console: Console, text: str) -> None:
    """Print a text as it is: what looks like markup stays, and no path or command is broken at the edge."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)
