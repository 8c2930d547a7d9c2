"""What the halves of a hidden check share, and what a cheat could ask in place of the learner's answer.

The probe, and whatever it uses, is beside the learner's code. A helper that truths use too may make models and inputs there. One
that runs what it is given, goes backward or steps is an answer for the asking: ``task.run(case, lambda layer: None)``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

__all__ = ["answers_for_the_asking"]

_RUNS = frozenset({"backward", "grad", "step"})


def answers_for_the_asking(hidden: str) -> list[str]:
    """The names of such helpers in the text of hidden checks."""
    tree = ast.parse(hidden)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    found = []
    for check in tree.body:
        if isinstance(check, ast.ClassDef):
            known = functions | {node.name: node for node in check.body if isinstance(node, ast.FunctionDef)}
            if {"probe", "truth"} <= known.keys():
                shared = set(_used_by("probe", known)) & set(_used_by("truth", known))
                found += sorted(name for name in shared if _runs(known[name]))
    return found


def _used_by(name: str, known: Mapping[str, ast.FunctionDef]) -> Iterator[str]:
    """The helpers that a function uses, and those that they use."""
    seen, waiting = {name}, [name]
    while waiting:
        for node in ast.walk(known[waiting.pop()]):
            used = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
            if used in known and used not in seen:
                seen.add(used)
                waiting.append(used)
                yield used


def _runs(helper: ast.FunctionDef) -> bool:
    given = {one.arg for one in helper.args.args}
    for node in ast.walk(helper):
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Attribute) and called.attr in _RUNS:
                return True
            if isinstance(called, ast.Name) and called.id in given:
                return True
    return False
