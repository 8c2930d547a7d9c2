"""What a cell's text binds, needs and mentions: so that of a notebook only the cells run that something rests on.

Learners' texts are taken apart in their sealed process (parsing can be attacked, too); what comes back are names.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["ALWAYS_THERE", "CellNames", "additions", "names_in"]

ALWAYS_THERE = frozenset(dir(builtins)) | {"get_ipython", "display", "In", "Out", "_", "__", "___", "exit", "quit"}
"""Names that every notebook has."""

_OPEN = frozenset({"globals", "locals", "vars", "eval", "exec", "get_ipython", "__import__"})
"""Whoever uses one of these may bind or read any name."""
_MAGIC = re.compile(
    r"^\s*%%?(?:run|load|loadpy|store|macro|edit|rerun|recall|env|set_env|cd|pushd|pylab)\b", re.MULTILINE
)
_SETTING = re.compile(
    r"(?:set|use|enable|disable|register|add)_.*|(?:manual_)?seed|append|insert|extend|update|setdefault|pop|remove|clear"
    r"|(?:ch|mk)dir|makedirs|putenv|filterwarnings|simplefilter|patch"
)
"""Methods that set something for everybody, if they are a module's."""
_FOR_A_WHILE = frozenset({"seed", "manual_seed", "filterwarnings", "simplefilter"})
"""Of those, what every probe has of its own."""
_DEFINING = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LONGEST = 200_000
"""Characters of a cell that are looked into; a longer one counts as one that may do anything."""


@dataclass(frozen=True)
class CellNames:
    """The global names of one cell."""

    binds: frozenset[str] = frozenset()
    """What its statements bind: assignments, definitions, imports, loops, ``with``, ``del``."""
    now: frozenset[str] = frozenset()
    """What must be there when the cell runs."""
    later: frozenset[str] = frozenset()
    """What its functions need when somebody calls them."""
    defines: frozenset[str] = frozenset()
    """Of what it binds: functions, classes and imports, on which nobody works."""
    changes: frozenset[str] = frozenset()
    """Names on whose object it works for everybody to see: ``nn.Module.tag = 1``, ``sys.path.append("lib")``."""
    lasting: frozenset[str] = frozenset()
    """Of those, what the cell has not made itself, if it sets more than a generator's seed or a filter of warnings, of
    which every probe has its own."""
    anything: bool = False
    """Whether it may bind or read names that nobody can see in its text: ``from x import *``, ``exec``, ``%run``."""

    @property
    def mentions(self) -> frozenset[str]:
        """All of them."""
        return self.binds | self.now | self.later


def names_in(source: str) -> CellNames:
    """The names of a cell of a notebook, magics and shell commands included. A text that is no Python has none."""
    if len(source) > _LONGEST:
        return CellNames(anything=True)
    tree = _parsed(source)
    if tree is None:
        return CellNames()
    binds: set[str] = set()
    now: set[str] = set()
    later: set[str] = set()
    for statement in tree.body:
        scope = _Scope()
        scope.visit(statement)
        now |= scope.needs - binds
        later |= scope.later
        binds |= scope.binds
    # Magics are calls of get_ipython(), too: only who writes it means it.
    open_ = {name for name in (now | later) & _OPEN if name in source}
    anything = bool(open_) or _imports_star(tree) or _MAGIC.search(source) is not None
    defines = {name for statement in tree.body if isinstance(statement, _DEFINING) for name in _bound_by(statement)}
    changes = {name for statement in tree.body for name in _changed_by(statement)}
    imports = [statement for statement in tree.body if isinstance(statement, (ast.Import, ast.ImportFrom))]
    # What the cell has made itself is nobody else's; what it has imported is.
    made = binds - {name for statement in imports for name in _bound_by(statement)}
    lasting = {name for statement in tree.body for name in _changed_by(statement, but=_FOR_A_WHILE)} - made
    return CellNames(
        frozenset(binds),
        frozenset(now),
        frozenset(later - binds),
        frozenset(defines),
        frozenset(changes),
        frozenset(lasting),
        anything,
    )


def additions(source: str, original: str) -> str:
    """The statements of ``source`` that stand not in ``original``, and bind none of its names: imports, helpers."""
    tree, known = _parsed(source), _parsed(original)
    if tree is None or known is None:
        return ""
    there = {ast.dump(statement) for statement in known.body}
    bound = names_in(original).binds
    new = []
    for statement in tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            statement.names = [one for one in statement.names if _imported(one) not in bound]
            if statement.names:
                new.append(ast.unparse(statement))
        elif ast.dump(statement) not in there and not _bound_by(statement) & bound:
            new.append(ast.unparse(statement))
    return "\n".join(new)


def _imported(alias: ast.alias) -> str:
    return (alias.asname or alias.name).split(".")[0]


def _bound_by(statement: ast.stmt) -> set[str]:
    scope = _Scope()
    scope.visit(statement)
    return scope.binds


def _changed_by(statement: ast.stmt, but: Collection[str] = ()) -> set[str]:
    """Of what is not inside of a function: the names whose attributes or items are set, by ``=`` or by such a call."""
    found: set[str] = set()
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            found |= _root(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr"):
            found |= _root(node.args[0]) if node.args else set()
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _SETTING.fullmatch(node.func.attr):
            found |= _root(node.func) if node.func.attr not in but else set()
    return found


def _root(node: ast.AST) -> set[str]:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _parsed(source: str) -> ast.Module | None:
    # Most cells hold no magic, and IPython's way to Python takes ten times as long.
    try:
        return _python(source)
    except SyntaxError:
        pass
    except (ValueError, RecursionError, MemoryError):
        return None
    try:
        return _python(_as_python(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _python(source: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # A notebook's cell may await at its top.
        flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        tree = compile(source, "<cell>", "exec", flags, dont_inherit=True)
    return tree if isinstance(tree, ast.Module) else None


def _as_python(source: str) -> str:
    """The cell without its magics; of a cell magic what stands below it."""
    from IPython.core.inputtransformer2 import TransformerManager

    lines = source.lstrip("\n").splitlines(keepends=True)
    if lines and lines[0].startswith("%%"):
        source = "".join(lines[1:])
    manager: Any = TransformerManager
    return str(manager().transform_cell(source))


def _imports_star(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names) for node in ast.walk(tree)
    )


class _Scope(ast.NodeVisitor):
    """The names of one scope, functions inside of it taken apart as well."""

    def __init__(self) -> None:
        self.binds: set[str] = set()
        self.needs: set[str] = set()
        self.later: set[str] = set()
        self.globals: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            if node.id not in self.binds:
                self.needs.add(node.id)
        else:
            self.binds.add(node.id)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name) and node.target.id not in self.binds:
            self.needs.add(node.target.id)
        self.visit(node.value)
        self.visit(node.target)

    def visit_For(self, node: ast.For) -> None:
        for part in (node.iter, node.target, *node.body, *node.orelse):
            self.visit(part)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.globals |= set(node.names)

    visit_Nonlocal = visit_Global  # noqa: N815

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.binds |= {_imported(alias) for alias in node.names if alias.name != "*"}

    visit_ImportFrom = visit_Import  # noqa: N815

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.binds.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self.binds.add(node.name)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs  # noqa: N815

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._each(node.decorator_list, self._defaults(node.args))
        self._each(argument.annotation for argument in _arguments(node.args) if argument.annotation is not None)
        self._inside(node.args, node.body)
        self.binds.add(node.name)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._each(self._defaults(node.args))
        self._inside(node.args, [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._each(node.decorator_list, node.bases, (keyword.value for keyword in node.keywords))
        body = _Scope()
        body._each(node.body)
        # A class's own names are not seen by its methods.
        self.needs |= body.needs - self.binds
        self.later |= body.later | (body.binds & body.globals)
        self.binds |= (body.binds & body.globals) | {node.name}

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        body = _Scope()
        for generator in node.generators:
            body._each([generator.iter, generator.target], generator.ifs)
        body._each([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self.needs |= body.needs - self.binds
        self.later |= body.later - body.binds
        # `:=` binds outside.
        self.binds |= {part.target.id for part in ast.walk(node) if isinstance(part, ast.NamedExpr)}

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp  # noqa: N815

    def _inside(self, arguments: ast.arguments, body: Iterable[ast.AST]) -> None:
        """A function's body: what it needs it needs later, its own names aside."""
        scope = _Scope()
        scope.binds |= {argument.arg for argument in _arguments(arguments)}
        scope._each(body)
        own = scope.binds - scope.globals
        self.later |= (scope.needs | scope.later | scope.globals) - own
        # What a function declares global it may bind for everybody.
        self.binds |= scope.binds & scope.globals

    def _each(self, *groups: Iterable[ast.AST]) -> None:
        for group in groups:
            for node in group:
                self.visit(node)

    @staticmethod
    def _defaults(arguments: ast.arguments) -> list[ast.expr]:
        return [node for node in (*arguments.defaults, *arguments.kw_defaults) if node is not None]


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    extra = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]
