"""What one command of the command line consists of."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Command", "for_course"]


@dataclass(frozen=True)
class Command:
    """``python -m course NAME``."""

    name: str
    run: Callable[[argparse.Namespace], int]
    """The exit code. What it needs it imports itself: asking for help must not wait for torch."""
    says: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    passes_on: bool = False
    """Whether options that it does not know are another program's."""


def for_course(root: Path) -> str:
    """What a command that is printed as the next step needs to work on the same course: empty where it is this folder."""
    return "" if root.resolve() == Path().resolve() else f" --course {shlex.quote(str(root))}"
