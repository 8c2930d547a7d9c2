"""Where tables are printed to."""

from __future__ import annotations

from rich.console import Console

__all__ = ["console_for_output"]


def console_for_output() -> Console:
    """Standard output; in a file or a pipe wide enough for every table."""
    console = Console()
    return console if console.is_terminal else Console(width=120)
