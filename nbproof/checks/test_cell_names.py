"""A test cell's own names, kept apart from the learner's variables of the same name.

A test cell runs among the learner's variables. If it defines a helper `walk`, and the learner's answer
rests on a function `walk` of their own, the check would break what it checks. So the cell's text is
noted before it runs; if it has taken a name, the learner gets it back, and the checks are made once
more, in a namespace where the name is theirs.
"""

from __future__ import annotations

import ast
import sys
from typing import Any, TypeVar

__all__ = ["CHECK_LINE", "names_bound", "on_their_own", "watch_test_cells"]

T = TypeVar("T")

CHECK_LINE = "# Run this cell to check your answer."
"""The first line of every test cell."""

_source = ""
_before: dict[str, Any] | None = None
_remade: dict[str, type] | None = None
_left_by_checks: dict[str, Any] = {}


def watch_test_cells() -> None:
    """From now on note the variables before each test cell; does nothing if no IPython runs."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    if shell is not None:
        shell.events.register("pre_run_cell", lambda info: note_cell(info.raw_cell, shell.user_ns))


def note_cell(source: object, namespace: dict[str, Any]) -> None:
    """Remember what is defined before a cell runs, if it is a test cell."""
    global _source, _before, _remade
    _remade = None
    if isinstance(source, str) and source.lstrip().startswith(CHECK_LINE):
        _source, _before = source, dict(namespace)
    else:
        _source, _before = "", None


def on_their_own(tasks: tuple[type[T], ...], namespace: dict[str, Any]) -> tuple[type[T], ...]:
    """These checks, made anew if their cell has taken names of the learner's, who then has them back."""
    global _remade
    if _before is None:
        return tasks
    if _remade is None:
        bound = [name for name in names_bound(_source) if name in namespace]
        taken = [
            name
            for name in bound
            if name in _before
            and _before[name] is not namespace[name]
            # What an earlier run of a test cell has left is nobody's.
            and not (name in _left_by_checks and _left_by_checks[name] is _before[name])
        ]
        _left_by_checks.update({name: namespace[name] for name in bound if name not in taken})
        if not taken:
            return tasks
        _remade = _made_apart()
        if _remade is not None:
            namespace.update({name: _before[name] for name in taken})
    made = _remade or {}
    return tuple(made.get(task.__name__, task) for task in tasks)


def _made_apart() -> dict[str, type] | None:
    """The classes that the noted cell hands to ``check``; None if its text is more than plain Python."""
    from nbproof.checks.check import listing

    try:
        with listing() as listed:
            exec(compile(_source, "<the check>", "exec"), dict(_before or {}))  # noqa: S102 (it has just run)
    except Exception:
        return None
    return {task.__name__: task for _, task in listed}


def names_bound(source: str) -> list[str]:
    """The names that the top-level statements of a cell define; none if it is more than plain Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    names: dict[str, None] = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names[node.name] = None
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update(dict.fromkeys((alias.asname or alias.name).split(".")[0] for alias in node.names))
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(
                dict.fromkeys(part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name))
            )
    return list(names)
