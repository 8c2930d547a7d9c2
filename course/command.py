"""What one command of the command line consists of."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Command"]


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
