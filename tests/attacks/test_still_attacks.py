"""Each attack still attacks: what it names of the tool and the course is there, so that it does not end before it has tried."""

from __future__ import annotations

import ast
import re
import socket
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.attacks.arsenal_all import ATTACKS
from tests.attacks.arsenal_facts import MINE
from tests.attacks.assault import listeners

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
FRAMES = re.compile(r"co_name|f_locals|f_globals|f_code|_asked_by\(")
"""By what a program knows a frame of the stack that it walks."""
OURS = r"(?:nbproof|course)(?:\.[A-Za-z_]\w*)+"


def test_listeners_hear_the_token_and_no_stranger(tmp_path: Path) -> None:
    with listeners(tmp_path) as (reach, heard):
        for said in (b"a stranger's", reach["token"].encode()):
            with socket.create_connection(("127.0.0.1", reach["tcp"])) as one:
                one.sendall(said)
    assert heard == ["tcp"]


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
    names = {name for text in [*texts, *(attack.text for attack in ATTACKS)] for name in _reached_for(text)}
    assert len(names) > 40
    assert {name for name in names if not _is_there(name)} == set()


def _named_in(*paths: Path) -> set[str]:
    """The functions, classes, variables and arguments of these modules, and the texts: what checks ask learners for."""
    found: set[str] = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            found |= {str(getattr(node, name, "")) for name in ("name", "id", "arg", "value")}
    return found


def test_the_frames_that_attacks_look_for_are_there() -> None:
    """A function or a variable that was renamed would be known to nobody, and no lie would be told."""
    rooms = [*ROOT.glob("nbproof/*/*.py"), *ROOT.glob("course/*.py")]
    tool, seen, gone = _named_in(*rooms), set(), {}
    for attack in ATTACKS:
        # All lies share what looks for the helpers of any check.
        lines = filter(FRAMES.search, attack.text.removeprefix(MINE).splitlines())
        names = set(re.findall(r"['\"]([A-Za-z_]\w*)['\"]", "\n".join(lines)))
        checks = _named_in(ROOT / "lessons" / attack.lesson / attack.exercise / "checks.py") if names else set()
        # What a lie about one check looks for, that check has to have.
        missing = names - checks - (set() if attack.family == "facts" else tool)
        seen |= names
        if missing:
            gone[attack.name] = missing
    assert {"probe", "task", "wanted", "counts_on", "loss"} <= seen
    assert gone == {}
