"""Take a test cell apart: what goes to the learner's process, what stays at home, and which names are the cell's own.

The worker gets the checks without their truths, mistakes and messages, and of the cell's own
helpers only those that a probe uses.

A test cell runs among the learner's variables. If it defines a helper `walk`, and the learner's answer
rests on a function `walk` of their own, the check would break what it checks; if the learner calls a variable `sum`,
so would the answer break the check. So the checks are made once more, in a namespace of their own, and when the cell has
run the learner gets back what it has taken.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, TypeVar

__all__ = [
    "CHECK_LINE",
    "ProbePart",
    "names_bound",
    "names_given_back",
    "needed_by",
    "on_their_own",
    "probe_part",
    "watch_test_cells",
]


_ALWAYS = {"probe", "cases", "poison"}
"""Members of a check that its worker's half has in any case."""
_AT_HOME = {"truth", "mistakes"}
"""Those that it never has."""


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
    family = _family(tree)
    whole = [node for node in _reached(checks, tree.body) if isinstance(node, ast.ClassDef) and node.name in family]
    members = _members(whole)
    halves = [_only(node, members) if node in whole else node for node in tree.body]
    # Halves may use fewer helpers, and those fewer imports, than the whole cell did.
    reached = _reached(checks, halves)
    used = set[str]().union(*map(_names_in, reached))
    body = [node for node in halves if node in reached or _imported_by(node) & used]
    return ProbePart(ast.unparse(ast.Module(body, [])), tuple(checks))


def needed_by(hidden: str, visible: str) -> list[str]:
    """The lines of the text ``visible`` that bind what ``hidden`` uses and does not bind itself: whole statements."""
    body = ast.parse(hidden).body
    wanted = set[str]().union(*map(_names_in, body)).difference(*map(_defined_in, body))
    statements = ast.parse(visible).body
    reached = _reached(wanted, statements)
    lines, found, among_imports = visible.split("\n"), list[str](), True
    for node in statements:
        if node in reached:
            among_imports = among_imports and bool(_imported_by(node))
            if found and not among_imports:
                found += ["", ""]
            found += lines[_first_line(node) - 1 : node.end_lineno]
    return found


def _first_line(node: ast.stmt) -> int:
    """Of a statement, or of its first decorator."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


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
    if isinstance(node, ast.Assign):
        return set[str]().union(*map(_names_in, node.targets))
    return _names_in(node.target) if isinstance(node, ast.AnnAssign) else set()


def _imported_by(node: ast.AST) -> set[str]:
    """The names that an import binds; none for any other statement."""
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        return set()
    return {(alias.asname or alias.name).split(".")[0] for alias in node.names}


@lru_cache(maxsize=1_000)
def _names_in(node: ast.AST) -> set[str]:
    # A statement is asked for its names again and again, and none is changed once it is parsed.
    return {part.id for part in _nodes_in(node) if isinstance(part, ast.Name)}


def _reached(names: Iterable[str], statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements that bind these names, or any that they themselves mention; of a name's two, the last one."""
    binding: dict[str, ast.stmt] = {}
    for node in statements:
        binding.update(dict.fromkeys(_defined_in(node) | _imported_by(node), node))
    found: list[ast.stmt] = []
    waiting = set(names) & binding.keys()
    while waiting:
        node = binding[waiting.pop()]
        if node not in found:
            found.append(node)
            waiting |= _names_in(node) & binding.keys()
    return found


def _members(classes: Iterable[ast.ClassDef]) -> set[str]:
    """The members that a probe uses, by any attribute that it, or a member so reached, mentions."""
    mentioned: dict[str, set[str]] = {}
    for part in chain.from_iterable(node.body for node in classes):
        attributes = {node.attr for node in _nodes_in(part) if isinstance(node, ast.Attribute)}
        for name in _defined_in(part):
            mentioned.setdefault(name, set()).update(attributes)
    kept = _ALWAYS | {name for name in mentioned if name.startswith("__")} - {"__doc__"}
    fresh = kept
    while fresh:
        reached = set[str]().union(*(mentioned.get(name, ()) for name in fresh))
        fresh = (reached & mentioned.keys()) - kept - _AT_HOME
        kept = kept | fresh
    return kept


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


T = TypeVar("T")

CHECK_LINE = "# Run this cell to check your answer."
"""The first line of every test cell."""

_source = ""
_before: dict[str, Any] = {}
_remade: dict[str, type] = {}


def watch_test_cells() -> None:
    """From now on a test cell takes no name of a learner's for good; does nothing if no IPython runs."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    if shell is not None:
        shell.events.register("pre_run_cell", lambda info: _note_cell(info.raw_cell, shell.user_ns))
        shell.events.register("post_run_cell", lambda result: _give_back(shell.user_ns))


def _note_cell(source: object, namespace: dict[str, Any]) -> None:
    """Remember what is defined before a cell runs, if it is a test cell."""
    global _source, _before, _remade
    _source, _before, _remade = "", {}, {}
    if isinstance(source, str) and source.lstrip().startswith(CHECK_LINE):
        _source, _before = source, dict(namespace)


def _give_back(namespace: dict[str, Any]) -> None:
    namespace.update({name: _before[name] for name in names_bound(_source) & _before.keys()})


@contextmanager
def names_given_back(namespace: dict[str, Any]) -> Iterator[None]:
    """Within this block whatever the test cell that runs has taken is the learner's, on whose names an answer may rest."""
    taken = {name: namespace[name] for name in names_bound(_source) & namespace.keys()}
    _give_back(namespace)
    try:
        yield
    finally:
        namespace.update(taken)


def on_their_own(tasks: tuple[type[T], ...]) -> tuple[type[T], ...]:
    """These checks of the test cell that runs, made anew in a namespace of their own: a learner may call a variable ``sum``."""
    global _remade
    if _source and not _remade:
        _remade = _made_apart()
    return tuple(_remade.get(task.__name__, task) for task in tasks)


def _made_apart() -> dict[str, type]:
    """The classes that the noted cell hands to ``check``; none if its text is more than plain Python."""
    from nbproof.checks.check import listing

    try:
        with listing() as listed:
            exec(compile(_source, "<the check>", "exec"), {"__name__": "__main__"})  # noqa: S102 (it runs just now)
    except Exception:
        return {}
    return {task.__name__: task for _, task in listed}


def names_bound(source: str) -> set[str]:
    """The names that the top-level statements of a cell define; none if it is more than plain Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return set()
    names = set[str]()
    for node in tree.body:
        names |= _defined_in(node) | _imported_by(node)
        if isinstance(node, ast.AugAssign):
            names |= _names_in(node.target)
    return names
