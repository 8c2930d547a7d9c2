"""Puts the course's code, which probes are made of, back to what it was before any learner's code ran.

A probe draws inputs from the seed, runs the learner's code on them, and brings arrays and numbers. All that ran has left
a trace in them (:mod:`course.traces`). The probe uses functions of the course. If learner code has patched one of these, the
probe would not run as it was written. So the worker notes the course's modules, classes and functions while it is warmed up,
and puts back what was changed right before each probe.

This is no wall: builtins, libraries and the interpreter itself stay the learner's, and code that controls a process controls
what it says about itself. So no verdict rests on that: if code changes a library for everybody, a wrong answer passes there,
which shows it (:func:`nbproof.checks.check.bring`). A count, a flag or a name that is the same for every seed chooses the
words of a message: the author contract asks for a hidden check that nothing of the kind can answer
(:mod:`nbproof.authoring.forgery`).
"""

from __future__ import annotations

import operator
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

__all__ = ["Pristine"]

_ENGINE = ("nbproof.sandbox", "nbproof.marking", "nbproof.recover")


class _Insides:
    """The code of functions, their defaults, and what they close over and call, as they are now.

    The very same are wanted: what is only equal may say so of itself.
    """

    def __init__(self, values: Iterable[object]) -> None:
        self._functions, self._closed = _reached(values)
        self._keywords = list(filter(None, map(_keywords_of, self._functions)))
        self._had = self._now()
        self._inside = list(map(dict, self._keywords))  # dicts can be changed in place

    def _now(self) -> list[Any]:
        parts = [map(of, self._functions) for of in (_code_of, _defaults_of, _keywords_of)]
        cells = (_content_of(cell) for cell, _ in self._closed)
        return list(chain(*parts, cells, chain.from_iterable(self._keywords), _all_values(self._keywords)))

    def restore(self) -> None:
        """Put back what was changed."""
        if _are_the_very(self._now(), self._had):
            return
        for keywords, inside in zip(self._keywords, self._inside, strict=True):
            keywords.clear()
            keywords.update(inside)
        count = len(self._functions)
        for number, function in enumerate(self._functions):
            function.__code__ = self._had[number]
            function.__defaults__ = self._had[count + number]
            function.__kwdefaults__ = self._had[2 * count + number]
        for cell, held in self._closed:
            cell.cell_contents = held


def _reached(values: Iterable[object]) -> tuple[list[types.FunctionType], list[tuple[types.CellType, object]]]:
    """The functions in these values, in what wraps them and in what they close over; and where these close over one."""
    found: dict[types.FunctionType, None] = {}
    closed = list[tuple[types.CellType, object]]()
    waiting = list(values)
    while waiting:
        one = waiting.pop()
        if isinstance(one, (staticmethod, classmethod)):
            waiting.append(one.__func__)
        elif isinstance(one, property):
            waiting += (one.fget, one.fset)
        elif isinstance(one, types.FunctionType) and one not in found:
            found[one] = None
            inside = [(cell, held) for cell in one.__closure__ or () if callable(held := _content_of(cell))]
            closed += inside
            waiting += (held for _, held in inside)
    return list(found), closed


def _content_of(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # it is filled later
        return None


class _Spaces:
    """The namespaces of modules and classes, as they are now."""

    def __init__(self, owners: Iterable[Any]) -> None:
        self.before = {owner: dict(vars(owner)) for owner in owners}
        self._spaces = list(map(vars, self.before))
        self._had = self._now()

    def _now(self) -> list[Any]:
        return [*chain.from_iterable(self._spaces), *_all_values(self._spaces)]

    def touched(self) -> Iterator[tuple[Any, Mapping[str, Any], dict[str, Any]]]:
        """(owner, what is there, what was there) where anything is another one. Mostly nothing is, and that is soon said."""
        if _are_the_very(self._now(), self._had):
            return
        for owner, had in self.before.items():
            now = vars(owner)
            if not _are_the_very([*now, *now.values()], [*had, *had.values()]):
                yield owner, now, had


class Pristine:
    """The modules of these packages as they are now, the grading engine's own aside."""

    def __init__(self, *packages: str) -> None:
        inside = [name for name in sys.modules if name.split(".")[0] in packages]
        self._modules = {name: sys.modules[name] for name in inside if not name.startswith(_ENGINE)}
        classes = set[type]().union(*(_classes_of(name, vars(module)) for name, module in self._modules.items()))
        self._spaces = _Spaces([*self._modules.values(), *classes])
        self._insides = _Insides(chain.from_iterable(map(dict.values, self._spaces.before.values())))

    def restore(self) -> None:
        """Put back all that was changed, added or removed since. It comes before each probe, so it has to be fast."""
        sys.modules.update(self._modules)
        for owner, now, had in self._spaces.touched():
            put, remove = (type.__setattr__, type.__delattr__) if isinstance(owner, type) else (setattr, delattr)
            for name in [*now]:
                # A submodule that was imported since is an attribute of its package.
                if name not in had and name not in _OWN and not isinstance(now[name], types.ModuleType):
                    remove(owner, name)
            for name, value in had.items():
                if now.get(name) is not value and name not in _OWN:
                    put(owner, name, value)
        self._insides.restore()


def _classes_of(name: str, content: Mapping[str, Any]) -> Iterator[type]:
    """The classes that a module of this name defines itself."""
    return (value for value in content.values() if isinstance(value, type) and value.__module__ == name)


def _are_the_very(now: list[Any], before: list[Any]) -> bool:
    return len(now) == len(before) and all(map(operator.is_, now, before))


def _all_values(spaces: Iterable[Mapping[str, Any]]) -> Iterator[Any]:
    return chain.from_iterable(map(_values_of, spaces))


_values_of = operator.methodcaller("values")
_code_of, _defaults_of, _keywords_of = map(operator.attrgetter, ("__code__", "__defaults__", "__kwdefaults__"))

_OWN = frozenset({"__dict__", "__weakref__", "__abstractmethods__", "_abc_impl", "__doc__"})
"""Attributes of a class that are not ours to set."""
