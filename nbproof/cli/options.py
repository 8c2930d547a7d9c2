"""What a command takes, as data: options as argparse wants them told."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Option", "Options", "option"]


Option = tuple[tuple[str, ...], Mapping[str, Any]]


def option(*names: str, **how: Any) -> Option:
    """One argument of a command, as argparse's ``add_argument`` takes it."""
    return names, how


@dataclass(frozen=True)
class Options:
    """All that a command takes, for ``Command.add_arguments``."""

    given: Sequence[Option] = ()
    epilog: str = ""
    groups: Mapping[str, Sequence[Option]] = field(default_factory=dict)
    """Title -> options that stand together in the help."""

    def __call__(self, parser: argparse.ArgumentParser) -> None:
        """Tell argparse."""
        parser.epilog = self.epilog or None
        places: list[tuple[argparse._ActionsContainer, Sequence[Option]]] = [(parser, self.given)]
        places += [(parser.add_argument_group(title), given) for title, given in self.groups.items()]
        for place, given in places:
            for names, how in given:
                place.add_argument(*names, **how)
