"""Each attack still attacks: what it names of the tool and the course is there, so that it does not end before it has tried."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.arsenal_all import ARSENAL

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
OURS = r"(?:nbproof|course)(?:\.[A-Za-z_]\w*)+"


def _is_there(name: str) -> bool:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            # What a worker has, nobody has here; what a dataclass's instances have, its class need not have.
            if not hasattr(found, part):
                return part in getattr(found, "__annotations__", ())
            found = getattr(found, part)
        return True
    return False


def _reached_for(text: str) -> Iterator[str]:
    """The whole names of what a program takes from the tool or the course, or looks for among the modules."""
    known = {short: name for name, short in re.findall(rf"({OURS}) as (\w+)", text)}
    for module, names in re.findall(rf"from ({OURS}|course|nbproof) import ([\w, ]+)", text):
        known |= {name: f"{module}.{name}" for name in names.replace(",", " ").split()}
    yield from known.values()
    yield from re.findall(rf"(?<![\w./]){OURS}", text)
    for short, rest in re.findall(r"(?<![\w.])(\w+)((?:\.[A-Za-z_]\w*)+)", text):
        if short in known:
            yield known[short] + rest


def test_what_attacks_reach_for_is_there() -> None:
    """A module or function that was renamed would leave an attack that ends before it has tried anything."""
    texts = [path.read_text() for path in (*HERE.glob("arsenal_*.py"), *HERE.glob("programs/*.txt"))]
    names = {name for text in [*texts, *(attack.text for attack in ARSENAL)] for name in _reached_for(text)}
    assert len(names) > 40
    assert {name for name in names if not _is_there(name)} == set()
