"""A learner's copy of a lesson, to be worked on as people do, and right answers taken apart."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import nbformat

__all__ = ["Draft", "Helped", "helped", "is_definition", "statements"]


@dataclass
class Draft:
    """A learner's copy of a released lesson, and the files beside it."""

    notebook: Any
    files: dict[str, str] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    """The exercises that have been worked on."""

    def at(self, name: str) -> int:
        """The place of the TODO cell of an exercise."""
        ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in self.notebook.cells]
        return ids.index(name)

    def todo(self, name: str, text: str) -> None:
        """Fill in the TODO cell."""
        self.notebook.cells[self.at(name)]["source"] = text

    def text(self, name: str) -> str:
        """What the TODO cell holds now."""
        return str(self.notebook.cells[self.at(name)].source)

    def above(self, name: str, *texts: str) -> None:
        """New code cells directly above the TODO cell, in this order."""
        for text in texts:
            self.notebook.cells.insert(self.at(name), nbformat.v4.new_code_cell(text))

    def below(self, name: str, *texts: str) -> None:
        """New code cells directly below the TODO cell, in this order."""
        for text in reversed(texts):
            self.notebook.cells.insert(self.at(name) + 1, nbformat.v4.new_code_cell(text))

    def top(self, text: str) -> None:
        """A new first cell."""
        self.notebook.cells.insert(0, nbformat.v4.new_code_cell(text))

    def setup(self, text: str) -> None:
        """Write below the setup cell's own lines."""
        cell = next(cell for cell in self.notebook.cells if _is_setup(cell))
        cell["source"] += f"\n{text}"

    def shown(self, name: str) -> Any:
        """The cell that shows something which stands nearest above the TODO cell; None if there is none."""
        cells = self.notebook.cells[: self.at(name)]
        return next((cell for cell in reversed(cells) if _shows(cell)), None)

    def edit_shown(self, name: str, text: str) -> None:
        """Write above the lines of the nearest cell that shows something."""
        cell = self.shown(name)
        if cell is None:
            self.above(name, text)
        else:
            cell["source"] = f"{text}\n{cell.source}"


def _is_setup(cell: Any) -> bool:
    told = cell.metadata.get("nbgrader", {})
    return bool(cell.cell_type == "code" and told.get("locked") and not told.get("grade"))


def _shows(cell: Any) -> bool:
    return bool(cell.cell_type == "code" and not cell.metadata.get("nbgrader") and cell.get("id"))


# An answer taken apart.


def statements(text: str) -> list[str]:
    """The texts of its statements, each with the comments above it."""
    lines, found, start = text.splitlines(), [], 0
    for node in ast.parse(text).body:
        assert node.end_lineno is not None
        found.append("\n".join(lines[start : node.end_lineno]).strip("\n"))
        start = node.end_lineno
    return found


def is_definition(statement: str) -> bool:
    return isinstance(ast.parse(statement).body[0], (ast.FunctionDef, ast.ClassDef))


@dataclass(frozen=True)
class Helped:
    """An answer whose first function, or method, only calls a helper."""

    helper: str
    answer: str
    rest: str
    """What the answer shows when it is there."""
    name: str

    @property
    def whole(self) -> str:
        return f"{self.answer}\n\n\n{self.rest}".strip("\n")


def helped(text: str, helper: str, call: str = "{helper}({arguments})") -> Helped | None:
    """``call``: how the answer calls it. None for an answer without a function."""
    tree = ast.parse(text)
    for node in tree.body:
        found = node if isinstance(node, ast.FunctionDef) else _method(node)
        if found is None:
            continue
        made = deepcopy(found)
        made.name, made.decorator_list, made.returns = helper, [], None
        made.args.defaults, made.args.kw_defaults = [], [None] * len(made.args.kw_defaults)
        for one in _parameters(made.args):
            one.annotation = None
        said = call.format(helper=helper, arguments=_passed(found.args))
        found.body = [*_docstring(found), *ast.parse(f"return {said}").body]
        ast.fix_missing_locations(tree)
        last = max(i for i, one in enumerate(tree.body) if isinstance(one, (ast.FunctionDef, ast.ClassDef)))
        kept, rest = tree.body[: last + 1], tree.body[last + 1 :]
        return Helped(ast.unparse(made), _unparsed(kept), _unparsed(rest), helper)
    return None


def _unparsed(statements: Iterable[ast.stmt]) -> str:
    return "\n".join(ast.unparse(one) for one in statements)


def _method(node: ast.stmt) -> ast.FunctionDef | None:
    if not isinstance(node, ast.ClassDef):
        return None
    for one in node.body:
        names = {part.id for part in ast.walk(one) if isinstance(part, ast.Name)}
        if isinstance(one, ast.FunctionDef) and not names & {"super", "__class__"} and not one.decorator_list:
            return one
    return None


def _parameters(arguments: ast.arguments) -> list[ast.arg]:
    extra = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]


def _passed(arguments: ast.arguments) -> str:
    told = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    told += [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    told += [f"{one.arg}={one.arg}" for one in arguments.kwonlyargs]
    told += [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    return ", ".join(told)


def _docstring(function: ast.FunctionDef) -> list[ast.stmt]:
    return function.body[:1] if ast.get_docstring(function) else []
