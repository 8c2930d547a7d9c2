"""Take a test cell apart: what goes to the learner's process, what stays at home, and which names are the cell's own.

The worker gets the checks without their truths, mistakes and messages, and of the cell's own
helpers only those that a probe uses.

A test cell runs among the learner's variables. If it defines a helper `walk`, and the learner's answer
rests on a function `walk` of their own, the check would break what it checks. So the cell's text is
noted before it runs; if it has taken a name, the learner gets it back, and the checks are made once
more, in a namespace where the name is theirs.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

__all__ = ["CHECK_LINE", "ProbePart", "names_bound", "needed_by", "on_their_own", "probe_part", "watch_test_cells"]


_ALWAYS = {"probe", "cases", "poison"}
"""Members of a check that its worker's half has in any case."""


@dataclass(frozen=True)
class ProbePart:
    """The worker's share of a test cell: importable source, and the names of its checks."""

    source: str
    checks: tuple[str, ...]

    @cached_property
    def _tree(self) -> ast.Module:
        return ast.parse(self.source)

    @cached_property
    def asks(self) -> frozenset[str]:
        """The names of a learner's that a probe may look at: whatever its text spells as one."""
        found = set()
        for node in _nodes_in(self._tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                found.add(node.value)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "nb":
                found.add(node.attr)
        return frozenset(found)


def _nodes_in(node: ast.AST) -> list[ast.AST]:
    """As :func:`ast.walk`, less what has no parts (such as ``Load()``), and several times as fast: a lesson has 100,000."""
    found = [node]
    for one in found:  # which grows meanwhile
        for name in one._fields:
            value = getattr(one, name, None)
            if isinstance(value, list):
                found += [part for part in value if isinstance(part, ast.AST)]
            elif isinstance(value, ast.AST) and value._fields:
                found.append(value)
    return found


def probe_part(source: str) -> ProbePart:
    """Strip a test cell of everything that knows, or helps to compute, what is wanted."""
    tree = ast.parse(source)
    checks = [name for node in tree.body for name in _checked_in(node)]
    definitions: dict[str, ast.stmt] = {}
    for node in tree.body:
        definitions.update(dict.fromkeys(_defined_in(node), node))
    mentioned: dict[int, set[str]] = {}
    reached = _reachable(checks, definitions, mentioned)
    family = _family(tree)
    members = _members([node for name, node in reached.items() if isinstance(node, ast.ClassDef) and name in family])
    body = [
        _only(node, members) if isinstance(node, ast.ClassDef) and node.name in family else node
        for node in tree.body
        if any(node is kept for kept in reached.values()) or isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    # Probe halves may use fewer helpers, and those fewer imports, than the whole cell did.
    halves = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    still = _reachable(checks, {**definitions, **halves}, mentioned)
    names = set(still)
    body = [node for node in body if isinstance(node, (ast.Import, ast.ImportFrom)) or _defined_in(node) & names]
    used = {name.id for node in body for name in _nodes_in(node) if isinstance(name, ast.Name)}
    body = [node for node in body if not isinstance(node, (ast.Import, ast.ImportFrom)) or _binds(node) & used]
    return ProbePart(ast.unparse(ast.Module(body, [])), tuple(checks))


def needed_by(part: ast.Module, before: str) -> list[str]:
    """The lines of the text ``before`` that bind what ``part`` uses and does not bind itself: whole statements."""
    own = {name for node in part.body for name in _defined_in(node)}
    wanted = {node.id for node in _nodes_in(part) if isinstance(node, ast.Name)} - own
    tree, bound = ast.parse(before), dict[str, ast.stmt]()
    for node in tree.body:
        names = _binds(node) if isinstance(node, (ast.Import, ast.ImportFrom)) else _defined_in(node)
        bound.update(dict.fromkeys(names, node))
    kept = {id(node) for node in _reachable(sorted(wanted), bound, {}).values()}
    lines, found, imports = before.split("\n"), list[str](), True
    for node in tree.body:
        if id(node) in kept:
            start = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                imports = False
            found += [*([] if imports or not found else ["", ""]), *lines[start - 1 : node.end_lineno]]
    return found


def _checked_in(node: ast.stmt) -> list[str]:
    """The classes that a top-level ``check("id", A, B)`` names."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "check":
        return []
    return [argument.id for argument in call.args[1:] if isinstance(argument, ast.Name)]


def _defined_in(node: ast.AST) -> set[str]:
    """The names that a top-level statement, imports aside, binds."""
    if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
        return {node.name}
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {name.id for target in targets for name in _nodes_in(target) if isinstance(name, ast.Name)}
    return set()


def _reachable(
    names: list[str], definitions: dict[str, ast.stmt], mentioned: dict[int, set[str]]
) -> dict[str, ast.stmt]:
    """The definitions that these names lead to, by any name that their bodies mention.

    ``mentioned``: by a definition's identity the names in it, as far as they are known; it is filled.
    """
    found: dict[str, ast.stmt] = {}
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        if name in found or name not in definitions:
            continue
        node = found[name] = definitions[name]
        if id(node) not in mentioned:
            mentioned[id(node)] = {part.id for part in _nodes_in(node) if isinstance(part, ast.Name)}
        waiting |= mentioned[id(node)] - found.keys()
    return found


def _members(classes: list[ast.ClassDef]) -> set[str]:
    """The members that a probe uses, by any attribute that it, or a member so reached, mentions."""
    kept = set(_ALWAYS)
    parts_of = [part for node in classes for part in node.body]
    attributes = [{n.attr for n in _nodes_in(part) if isinstance(n, ast.Attribute)} for part in parts_of]
    own = {name for part in parts_of for name in _defined_in(part)}
    while True:
        mentioned = set().union(
            *(names for part, names in zip(parts_of, attributes, strict=True) if _defined_in(part) & kept)
        )
        dunder = {name for name in own if name.startswith("__") and name != "__doc__"}
        fresh = kept | ((mentioned & own) - {"truth", "mistakes"}) | dunder
        if fresh == kept:
            return kept
        kept = fresh


def _family(tree: ast.Module) -> set[str]:
    """The names of the classes that are checks, by their bases."""
    family = {"Check"}
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and family & {base.id for base in node.bases if isinstance(base, ast.Name)}:
            family.add(node.name)
    return family


def _only(node: ast.ClassDef, members: set[str]) -> ast.ClassDef:
    """The check without members that are not named, and without its docstring."""
    body = [part for part in node.body if _defined_in(part) & members] or [ast.Pass()]
    copy = ast.ClassDef(node.name, node.bases, node.keywords, body, node.decorator_list)
    return ast.copy_location(copy, node)


def _binds(node: ast.Import | ast.ImportFrom) -> set[str]:
    return {(alias.asname or alias.name).split(".")[0] for alias in node.names}


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
                dict.fromkeys(part.id for target in targets for part in _nodes_in(target) if isinstance(part, ast.Name))
            )
    return list(names)
