"""What each exercise asks for, and which text may be an answer to it: the names that it binds decide.

A stub leaves functions, classes and empty values to be filled in, and binds other names. Where it binds nothing, its tests say
what is asked for. A text may be the answer if it binds all of that, or fills in something that no other cell of the lesson has;
in the exercise's own part of the notebook, from the text above its TODO cell to the text above the next one, anything that is to
be filled in. Nobody who only calls something, or binds other names, has answered anything by that.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from nbproof.cells import CellKind
from nbproof.recover.matching import FENCE, Names, bare, names_in, view
from nbproof.recover.released import Handout

__all__ = ["Asked", "asked_in", "binds", "is_commented_out", "may_bind", "parts_of"]

_WORD = re.compile(r"[^\W\d]\w*")
_HASH = re.compile(r"^#+ ?", re.MULTILINE)
_IMPORTS = re.compile(r"^from +[\w.]+ +import +\(?([\w, \t]+)", re.MULTILINE)
_EMPTY = re.compile(r"^(\w+) *(?::[^=\n]{1,80})?= *(?:None|\[\]|\{\}|\.\.\.|\"\"|'') *(?:#.*)?$", re.MULTILINE)
_FILLS = re.compile(r"\b(\w+)(?:\.(?:append|extend|insert|update|add)\(|\[[^\]\n]{1,80}\] *=(?!=)| *[+|]=)")
_BODY = re.compile(r"^(?:async +def|def|class|@).*\n(?:(?:[ \t].*)?\n)*", re.MULTILINE)
_CODE = (CellKind.SETUP, CellKind.SHOW, CellKind.TEST)


@dataclass(frozen=True)
class Asked:
    """What one exercise asks for."""

    functions: frozenset[str]
    """Functions and classes that its stub begins."""
    bound: frozenset[str]
    """These, and everything else that it binds."""
    blank: frozenset[str]
    """Functions, classes and empty values: what is to be filled in; if there are none, all that it binds."""
    own: frozenset[str] = frozenset()
    """Of these, what no other cell of the lesson binds."""

    def is_answered_by(self, names: Names) -> bool:
        """Whether a text that binds these names binds all that is asked for, or at least the functions and classes."""
        whole = bool(self.bound) and self.bound <= names[1]
        return whole or (bool(self.functions) and self.functions <= names[0])

    def may_be(self, names: Collection[str], *, here: bool) -> bool:
        """Whether a text that binds these names may be the answer; ``here``: it stands in the exercise's own part."""
        bound = frozenset(names)
        return bool((self.blank if here else self.own) & bound) or (bool(self.bound) and self.bound <= bound)


@lru_cache(maxsize=32)
def asked_in(handout: Handout) -> Mapping[str, Asked]:
    """exercise -> what it asks for."""
    found = {}
    for name, stub in handout.stubs.items():
        functions, bound = names_in(stub)
        bound = bound or _needed_by_tests(handout, name)
        found[name] = Asked(functions, bound, functions.union(_EMPTY.findall(stub)) or bound)
    given = frozenset[str]().union(*(names_in(cell.source)[1] for cell in handout.cells if cell.kind in _CODE))
    return {name: replace(one, own=one.blank.difference(given, *_others(found, name))) for name, one in found.items()}


def _others(found: Mapping[str, Asked], name: str) -> list[frozenset[str]]:
    return [one.bound for other, one in found.items() if other != name]


def _needed_by_tests(handout: Handout, name: str) -> frozenset[str]:
    """The words that the tests of an exercise use, and no other released code."""
    words: dict[bool, set[str]] = {True: set(dir(builtins)).union(keyword.kwlist), False: set()}
    for cell in handout.cells:
        is_its_test = cell.kind is CellKind.TEST and cell.exercise == name
        if is_its_test or cell.kind in _CODE:
            words[not is_its_test].update(_WORD.findall(cell.source))
    return frozenset(words[False] - words[True])


@lru_cache(maxsize=32)
def parts_of(handout: Handout) -> tuple[str, ...]:
    """For each released cell the exercise to whose part of the notebook it belongs; empty above the first."""
    found = [""] * len(handout.cells)
    end = len(found)
    for place in reversed(range(len(found))):
        if handout.cells[place].kind is not CellKind.ANSWER:
            continue
        start = place
        while start and not handout.cells[start - 1].name and handout.cells[start].kind is not CellKind.PROSE:
            start -= 1
        found[start:end] = [handout.cells[place].name] * (end - start)
        end = start
    return tuple(found)


def binds(text: str) -> frozenset[str]:
    """The names that a text binds or fills if it runs: also by an import from a file, or by putting something into a list."""
    seen = view(text)
    imported = (name.split() for names in _IMPORTS.findall(seen) for name in names.split(","))
    filled = _FILLS.findall(_BODY.sub("\n", f"{seen}\n"))
    return names_in(seen)[1].union(filled, (words[-1] for words in imported if words))


def may_bind(text: str) -> frozenset[str]:
    """The names that a text would bind as code: also those in comments, and what is fenced in text."""
    fenced = "\n".join(inside for _, inside in FENCE.findall(text))
    forms = (form for part in (text, fenced) for form in (part, _HASH.sub("", part)))
    return frozenset[str]().union(*map(binds, forms))


def is_commented_out(asked: Asked, stub: str, text: str) -> bool:
    """Whether all code of a TODO cell is the stub's, or stands in comments, and those bind what is asked for."""
    given = {bare(line) for line in stub.splitlines()}
    new = [line for line in text.splitlines() if bare(line) not in given]
    return all(line.lstrip().startswith("#") for line in new) and bool(asked.blank & may_bind("\n".join(new)))
