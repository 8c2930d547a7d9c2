"""The text of a test cell: the two lines that stand for checks, and what of the checks goes to the learner's process.

The worker gets the checks without their truths, mistakes and messages, and of the cell's own
helpers only those that a probe uses.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import cast

from nbproof.course_file import Course
from nbproof.syntax import parsed

__all__ = [
    "CHECK_LINE",
    "canary_in",
    "checks_in",
    "grade_id_of",
    "import_lines",
    "is_plain",
    "left_out",
    "may_score",
    "names_asked",
    "probe_in",
    "the_call",
    "two_lines",
]


_ALWAYS = {"probe", "cases", "poison"}
"""Members of a check that its worker's half always has."""
_AT_HOME = {"truth", "mistakes"}
"""Members that it never has."""


def probe_in(source: str) -> str:
    """The part of a test cell without anything that knows, or helps to compute, what is wanted."""
    tree = parsed(source)
    checks = _checks_called(tree.body)
    family = _family(tree)
    whole = [node for node in _reached(checks, tree.body) if isinstance(node, ast.ClassDef) and node.name in family]
    members = _members(whole)
    halves: list[ast.stmt] = []
    for node in tree.body:
        half = _only(node, members) if isinstance(node, ast.ClassDef) and node in whole else node
        halves.append(half)
    # Halves may use fewer helpers, and those fewer imports, than the whole cell did.
    reached = _reached(checks, halves)
    used = set[str]().union(*map(_names_in, reached))
    body = [node for node in halves if node in reached or _imported_by(node) & used]
    return ast.unparse(ast.Module(body, []))


def names_asked(probe: str) -> frozenset[str]:
    """The learner's names that a probe may look at: each string in its text that could be a name, and each ``nb.name``."""
    names = set()
    for node in ast.walk(parsed(probe)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            names.add(node.value)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "nb":
            names.add(node.attr)
    return frozenset(names)


def left_out(source: str) -> list[ast.stmt]:
    """The statements of a test cell, and of its checks, that bind no new name: the worker's half leaves them out."""
    tree = parsed(source)
    family = _family(tree)
    statements: list[ast.stmt] = []
    bound: set[str] = set()
    for node in tree.body:
        names = _defined_in(node)
        if names & bound or not (names or _imported_by(node) - {"*"} or _check_call(node) or _does_nothing(node)):
            statements.append(node)
        bound |= names | _imported_by(node)
        if isinstance(node, ast.ClassDef) and node.name in family:
            statements += [part for part in node.body if not (_defined_in(part) or _does_nothing(part))]
    return statements


def _does_nothing(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _check_call(node: ast.stmt) -> ast.Call | None:
    """A top-level ``check("id", A, B)``; None for any other statement."""
    call = node.value if isinstance(node, ast.Expr) else None
    is_check = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "check"
    return cast(ast.Call, call) if is_check else None


def _checks_called(statements: Iterable[ast.stmt]) -> list[str]:
    """The names of the classes that these statements hand to ``check``."""
    calls = filter(None, map(_check_call, statements))
    arguments = chain.from_iterable(call.args[1:] for call in calls)
    return [one.id for one in arguments if isinstance(one, ast.Name)]


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
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


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
        attributes = {node.attr for node in ast.walk(part) if isinstance(node, ast.Attribute)}
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


CHECK_LINE = "# Run this cell to check your answer."
"""The first line of every test cell."""
_CANARY = re.compile(r"^CANARY = (.+)$", re.MULTILINE)


def canary_in(source: str) -> str:
    """The wrong answer that the hidden half of a test cell holds; empty if it holds none."""
    found = _CANARY.search(source)
    return str(ast.literal_eval(found[1])) if found else ""


_TWO = r'check\("(?P<id>[a-z0-9_]+)"(?:, part="(?P<part>[a-z0-9_]+)")?\)'


def grade_id_of(key: str) -> str:
    """The grade_id of the cell that calls the checks of this key."""
    return "test_" + key.replace("/", "_")


def import_lines(course: Course) -> tuple[str, ...]:
    """The lines that may begin a check cell of two lines: it imports from nbproof, or from the course's own package."""
    return tuple(f"from {package} import check" for package in dict.fromkeys(("nbproof", course.package)) if package)


def two_lines(course: Course) -> re.Pattern[str]:
    """What the two lines of a check cell look like, within its text: the id of the exercise, and the part."""
    imports = "|".join(map(re.escape, import_lines(course)))
    return re.compile(rf"^(?:{imports})\n(?:[ \t]*\n)*{_TWO}$", re.MULTILINE)


def the_call(course: Course, source: str) -> re.Match[str] | None:
    """The match of ``id`` and ``part`` in a text that is just the two lines of a check cell; None for any other text."""
    return two_lines(course).fullmatch(source)


def _statements(source: str) -> list[ast.stmt] | None:
    """Those of a text; None if it is no Python."""
    try:
        return parsed(source).body
    except (SyntaxError, ValueError, RecursionError):
        return None


def is_plain(course: Course, source: str) -> bool:
    """Whether a test cell is none of this project's: it imports no ``check`` from there, or calls none at its top level."""
    body = _statements(source) or []
    ours = ["nbproof", course.package]
    ours += [f"{name}.{module}" for name, module in (("nbproof", "checks.check"), (course.package, "checking"))]
    imports = [node for node in body if isinstance(node, ast.ImportFrom) and node.module in ours]
    names = chain.from_iterable(node.names for node in imports)
    imported = "check" in {name.name for name in names}
    return not (imported and any(map(_check_call, body)))


def may_score(course: Course, source: str) -> bool:
    """Whether a plain test may end with a result: nbgrader takes it for points, and not for a part of them."""
    body = _statements(source)
    return body is None or (is_plain(course, source) and any(isinstance(node, ast.Expr) for node in body[-1:]))


def checks_in(source: str) -> tuple[str, ...]:
    """The names of the classes that the text of a test cell hands to ``check``; none if it is no Python."""
    return tuple(_checks_called(_statements(source) or []))
