"""Each attack still attacks: what it names of the tool, the course or a check is there, so that it does not end before."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.attacks import arsenal_facts
from tests.attacks.arsenal_all import ARSENAL

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
FRAMES = {"co_name", "f_locals", "f_globals", "_asked_by", "asks"}
"""By what a program knows a frame of the stack that it walks."""


def _is_there(name: str) -> bool:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if found is None:
                return True  # a worker has it
            # What a dataclass's instances have, its class need not have.
            if not hasattr(found, part) and part not in getattr(found, "__dataclass_fields__", ()):
                return False
            found = getattr(found, part, None)
        return True
    return False


def _nodes(text: str) -> list[ast.AST]:
    try:
        return list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, MemoryError):
        return []


def _texts_in(nodes: Iterable[ast.AST]) -> set[str]:
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def _reached_for(text: str) -> set[str]:
    """The whole names of what a program takes from the tool or the course, or looks for among the modules."""
    nodes = _nodes(text)
    known: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            known |= {
                one.asname or one.name.split(".")[0]: (one.asname and one.name) or one.name.split(".")[0]
                for one in node.names
            }
        elif isinstance(node, ast.ImportFrom):
            known |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    found = set(known.values()) | _texts_in(nodes)
    for node in nodes:
        if isinstance(node, ast.Attribute):
            first, *rest = ast.unparse(node).split(".")
            found |= {".".join([known[first], *rest])} if first in known else set()
    return {name for name in found if re.fullmatch(r"(nbproof|course)(\.[A-Za-z_]\w*)+", name)}


def _looked_for_in_frames(text: str) -> set[str]:
    """Functions, variables and classes of checks by which a program knows a frame of the stack."""
    found: set[str] = set()
    for node in _nodes(text) if any(word in text for word in FRAMES) else ():
        if isinstance(node, ast.Compare):
            knows: ast.AST = node
        elif isinstance(node, ast.Call | ast.Subscript):
            knows = node.func if isinstance(node, ast.Call) else node.value
        else:
            continue
        words = {getattr(one, "attr", getattr(one, "id", "")) for one in ast.walk(knows)}
        found |= _texts_in(ast.walk(node)) if words & FRAMES else set()
    return {name for name in found if name.isidentifier()}


def _named_in(*paths: Path) -> set[str]:
    """The functions, classes, variables and arguments of these modules, and the functions that checks ask learners for."""
    found: set[str] = set()
    for node in (node for path in paths for node in _nodes(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name | ast.arg):
            found.add(node.id if isinstance(node, ast.Name) else node.arg)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".function"):
            found |= _texts_in(node.args)
    return found


def test_what_attacks_reach_for_is_there() -> None:
    """A module or function that was renamed would leave an attack that ends before it has tried anything."""
    texts = {text for path in HERE.glob("arsenal_*.py") for text in _texts_in(_nodes(path.read_text()))}
    names = {name for text in texts | {attack.text for attack in ARSENAL} for name in _reached_for(text)}
    assert len(names) > 40
    assert {name for name in names if not _is_there(name)} == set()


def test_the_frames_that_attacks_look_for_are_there() -> None:
    """A check or a function that was renamed would be asked by nobody that the attack knows."""
    tool = _named_in(*ROOT.glob("nbproof/**/*.py"), *ROOT.glob("course/*.py"))
    gone: dict[str, set[str]] = {}
    seen: set[str] = set()
    for attack in ARSENAL:
        text = attack.text
        if attack.family == "facts":
            answers: list[dict[str, str]] = []
            attack.build(SimpleNamespace(hand_in=answers.append))  # type: ignore[arg-type]
            # What all of them share looks for the helpers of any check.
            text = answers[0][attack.exercise].removeprefix(arsenal_facts._MINE)
        names = _looked_for_in_frames(text)
        seen |= names
        missing = names - tool
        if missing:
            gone[attack.name] = missing - _named_in(ROOT / "lessons" / attack.lesson / attack.exercise / "checks.py")
    assert {"probe", "task", "wanted"} <= seen
    assert {name: missing for name, missing in gone.items() if missing} == {}
