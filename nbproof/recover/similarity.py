"""How much a piece of code looks like the answer to an exercise: names that it defines, lines of the stub that it keeps."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from nbproof.recover.released import Handout

__all__ = ["Code", "Likeness", "Statement", "bare", "line_keys", "view"]

_LONGEST = 500_000
"""Characters of one cell that are looked into."""
_UNSURE = re.compile(r"[^!-~]+|[\"'`?]+")
_PROMPT = re.compile(r"(?:>>> ?|\.\.\. ?|In ?\[\d*\]: ?|\s*\.\.\.: ?)")
_DEFINES = re.compile(r"(?:async\s+def|def|class)\s+(\w+)")
_ASSIGNS = re.compile(r"(\w+(?:\s*,\s*\w+)*)\s*(?::[^=\n]{1,80})?=(?!=)")
_CONTINUES = re.compile(r"[)\]}]|(?:else|elif|except|finally)\b")


def bare(text: str) -> str:
    """The text without white space, quotation marks and what is not ASCII: what survives most ways of copying it."""
    return _UNSURE.sub("", text)


def line_keys(text: str) -> list[str]:
    """The lines in bare form, empty ones left out."""
    return [key for line in text.splitlines() if (key := bare(line))]


def view(text: str) -> str:
    """The code as the shell will see it: without prompts, indentation of the whole, and tabs."""
    lines = text[:_LONGEST].expandtabs(4).splitlines()
    first = next((line for line in lines if line.strip()), "")
    if _PROMPT.match(first) and not first.startswith("..."):
        lines = [line[match.end() :] if (match := _PROMPT.match(line)) else line for line in lines]
    return textwrap.dedent("\n".join(lines)).strip("\n")


@dataclass(frozen=True)
class Statement:
    """A statement at the top of a cell, with the comments in front of it."""

    first: int
    last: int
    """Its lines, from 0; ``last`` is not its own any more."""
    defines: frozenset[str]
    """Functions and classes."""
    assigns: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        """All that it binds."""
        return self.defines | self.assigns


@dataclass(frozen=True)
class Code:
    """A text, taken apart."""

    text: str

    @cached_property
    def seen(self) -> str:
        """See :func:`view`."""
        return view(self.text)

    @cached_property
    def lines(self) -> list[str]:
        """Of what is seen."""
        return self.seen.splitlines()

    @cached_property
    def parses(self) -> bool:
        """Whether it is Python by itself."""
        return self._tree is not None

    @cached_property
    def indented(self) -> bool:
        """Whether it begins within a block that began elsewhere."""
        first = next((line for line in self.text.splitlines() if line.strip()), "")
        return first[:1] in " \t"

    @cached_property
    def _tree(self) -> ast.Module | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(self.seen)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """From the syntax tree, and by indentation where the text is no Python."""
        if self._tree is None:
            return tuple(self._by_indentation())
        found, end = [], 0
        for node in self._tree.body:
            last = node.end_lineno or node.lineno
            if last <= end:
                continue  # a second statement behind a semicolon
            found.append(Statement(end, last, frozenset(_defined(node)), frozenset(_assigned(node))))
            end = last
        if found and end < len(self.lines):
            found[-1] = Statement(found[-1].first, len(self.lines), found[-1].defines, found[-1].assigns)
        return tuple(found)

    def _by_indentation(self) -> list[Statement]:
        starts: list[int] = []
        pending: int | None = None
        for number, line in enumerate(self.lines):
            if not line.strip() or line[0] in " \t" or _CONTINUES.match(line):
                continue
            if line[0] in "#@":
                pending = number if pending is None else pending
                continue
            starts.append(number if pending is None else pending)
            pending = None
        if not starts:
            return [Statement(0, len(self.lines), frozenset(), frozenset())] if self.lines else []
        starts[0] = 0
        found = []
        for first, last in zip(starts, [*starts[1:], len(self.lines)], strict=True):
            block = [line for line in self.lines[first:last] if line[:1] not in ("", " ", "\t", "#", "@")]
            defines = {match[1] for line in block if (match := _DEFINES.match(line))}
            assigns = {
                name.strip() for line in block if (match := _ASSIGNS.match(line)) for name in match[1].split(",")
            }
            found.append(Statement(first, last, frozenset(defines), frozenset(assigns)))
        return found

    @cached_property
    def names(self) -> frozenset[str]:
        """All names that the top of the text binds."""
        return frozenset().union(*(statement.names for statement in self.statements))

    @cached_property
    def keys(self) -> list[str]:
        """See :func:`line_keys`."""
        return line_keys(self.seen)

    def cut(self, first: int, last: int) -> str:
        """The text of lines ``first`` to ``last``."""
        return "\n".join(self.lines[first:last]).strip("\n")


def _defined(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    return {name for inner in _blocks(node) for name in _defined(inner)}


def _assigned(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return set()
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return {name for inner in _blocks(node) for name in _assigned(inner)}


def _blocks(node: ast.stmt) -> list[ast.stmt]:
    if isinstance(node, ast.Try):
        handled = [inner for handler in node.handlers for inner in handler.body]
        return [*node.body, *handled, *node.orelse, *node.finalbody]
    if isinstance(node, (ast.If, ast.With, ast.For, ast.While)):
        return [*node.body, *getattr(node, "orelse", [])]
    return []


@dataclass(frozen=True)
class Likeness:
    """What tells one lesson's exercises apart: rare names and rare lines of their stubs weigh more."""

    handout: Handout
    stubs: dict[str, Code] = field(init=False)
    names: dict[str, dict[str, float]] = field(init=False)
    """exercise -> name that its stub binds -> weight"""
    defined: dict[str, frozenset[str]] = field(init=False)
    """exercise -> functions and classes of its stub"""
    lines: dict[str, dict[str, float]] = field(init=False)
    """exercise -> line of its stub -> weight"""

    def __post_init__(self) -> None:
        stubs = {name: Code(text) for name, text in self.handout.stubs.items()}
        binding = Counter(name for code in stubs.values() for name in code.names)
        writing = Counter(key for code in stubs.values() for key in set(code.keys))
        shown = Counter(
            key
            for cell in self.handout.cells
            if cell.kind in ("show", "test", "setup")
            for key in set(line_keys(cell.source))
        )
        set_ = object.__setattr__
        set_(self, "stubs", stubs)
        set_(self, "defined", {
            name: frozenset().union(*(statement.defines for statement in code.statements)) for name, code in stubs.items()
        })  # fmt: skip
        set_(self, "names", {
            name: {one: (3.0 if one in self.defined[name] else 0.5) / binding[one] for one in code.names}
            for name, code in stubs.items()
        })  # fmt: skip
        set_(self, "lines", {
            name: {key: 1 / (writing[key] + shown[key]) ** 2 for key in set(code.keys) if len(key) > 3}
            for name, code in stubs.items()
        })  # fmt: skip
        set_(self, "anything", frozenset(binding))

    anything: frozenset[str] = field(init=False)
    """Names that any stub binds."""

    def of(self, exercise: str, names: Sequence[str], keys: Sequence[str]) -> float:
        """From 0 to 1. A name bound twice, or another exercise's name, counts against it."""
        wanted, lines = self.names[exercise], self.lines[exercise]
        counted = Counter(name for name in names if name in self.anything)
        found = sum(weight for name, weight in wanted.items() if name in counted)
        foreign = sum(
            max(self.names[other].get(name, 0.0) for other in self.names) * (count - (name in wanted))
            for name, count in counted.items()
        )
        whole = sum(wanted.values()) + foreign
        given = set(keys)
        kept = sum(weight for key, weight in lines.items() if key in given)
        return 0.65 * (found / whole if whole else 0.0) + 0.35 * (kept / (sum(lines.values()) or 1.0))

    def whole(self, exercise: str, code: Code) -> bool:
        """Whether it defines the functions and classes that the stub defines."""
        return self.defined[exercise] <= code.names

    def tail_missing(self, exercise: str, code: Code) -> bool:
        """Whether the stub goes on after its last function or class, and the code does not."""
        stub = self.stubs[exercise].statements
        return (
            bool(self.defined[exercise]) and bool(stub) and not stub[-1].defines
            and bool(code.statements) and bool(code.statements[-1].defines)
        )  # fmt: skip

    def evident(self, exercise: str, code: Code) -> bool:
        """Whether there is any sign of this exercise: a function or class of its own, or a rare line of its stub."""
        rare = {key for key, weight in self.lines[exercise].items() if weight >= 0.25}
        return bool(self.defined[exercise] & code.names) or bool(rare & set(code.keys))
