"""What probes are made of, put back to what it was before any learner's code ran.

A probe draws inputs from the seed, runs the learner's code on them, and brings arrays and numbers in which whatever
ran has left a trace (:mod:`course.traces`). It does so with functions of the course, and learner code that has patched
one of these would run the probe in another way than it was written. So the worker notes the course's modules, classes
and functions while it is warmed up, and puts back what was changed right before each probe.

What can be called in the libraries that a course names (``steady`` in ``course.toml``) is put back as well, and an answer that
changes one while it is probed is told so: whoever makes ``nn.ReLU`` compute something else has changed it for everybody.
So has whoever has the interpreter call a function whatever runs: a trace, a profile, one at each collection of garbage.

This is no wall: builtins, other libraries and the interpreter itself stay the learner's, and whoever controls a process controls
what it says about itself. So no verdict rests on that. A count, a flag or a name that is the same for every seed chooses the
words of a message: the author contract asks for a hidden check that nothing of the kind can answer
(:mod:`nbproof.authoring.forgery`).
"""

from __future__ import annotations

import builtins
import gc
import operator
import sys
import types
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, compress, product, starmap
from sys import getprofile, gettrace, setprofile, settrace
from typing import Any

__all__ = ["Libraries", "Pristine", "unwatched", "watched"]

_ENGINE = ("nbproof.sandbox", "nbproof.marking", "nbproof.recover")


class _Insides:
    """The code of functions, their defaults, and what they close over and call, as they are now.

    The very same are wanted: what is only equal may say so of itself.
    """

    def __init__(self, values: Iterable[object]) -> None:
        self.functions, self._closed = _reached(values)
        self._keywords = list(filter(None, map(_keywords_of, self.functions)))
        self._had, self._inside = self._now(), list(map(dict, self._keywords))  # dicts can be changed in place
        takes = [one for one in self.functions if one.__kwdefaults__ for _ in one.__kwdefaults__]
        have = [one for one in self.functions if one.__kwdefaults__]
        self._whose = [*self.functions * 3, *(one for one, *_ in self._closed), *have, *takes * 2]

    def _now(self) -> list[Any]:
        parts = [map(of, self.functions) for of in (_code_of, _defaults_of, _keywords_of)]
        cells = (_held(cell) for _, cell, _ in self._closed)
        sizes = map(len, self._keywords)  # Python has small numbers once
        return list(chain(*parts, cells, sizes, chain.from_iterable(self._keywords), _all_values(self._keywords)))

    def changed(self) -> list[types.FunctionType]:
        """The functions with other insides."""
        return list(compress(self._whose, map(operator.is_not, self._now(), self._had)))

    def restore(self) -> None:
        """Put back what was changed."""
        if self.changed():
            for keywords, inside in zip(self._keywords, self._inside, strict=True):
                keywords.clear()
                keywords.update(inside)
            for number, function in enumerate(self.functions):
                function.__code__, function.__defaults__, function.__kwdefaults__ = self._had[
                    number : 3 * len(self.functions) : len(self.functions)
                ]
            for _, cell, held in self._closed:
                cell.cell_contents = held


_Closed = list[tuple[types.FunctionType, types.CellType, object]]


def _reached(values: Iterable[object]) -> tuple[list[types.FunctionType], _Closed]:
    """The functions in these values, in what wraps them and in what they close over; and where each closes over one."""
    found: dict[types.FunctionType, None] = {}
    closed: _Closed = []
    waiting = list(values)
    while waiting:
        one = waiting.pop()
        if isinstance(one, (staticmethod, classmethod)):
            waiting.append(one.__func__)
        elif isinstance(one, property):
            waiting += (one.fget, one.fset)
        elif isinstance(one, types.FunctionType) and one not in found:
            found[one] = None
            inside = [(one, cell, held) for cell in one.__closure__ or () if callable(held := _held(cell))]
            closed += inside
            waiting += (held for *_, held in inside)
    return list(found), closed


def _held(cell: types.CellType) -> object:
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
        classes = {one for name, module in self._modules.items() for one in _classes_of(name, vars(module))}
        self._spaces = _Spaces([*self._modules.values(), *classes])
        self._insides = _Insides(chain.from_iterable(map(dict.values, self._spaces.before.values())))

    def restore(self) -> None:
        """Put back whatever was changed, added or removed since. It comes before each probe: nothing is looked at one by one."""
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


class Libraries:
    """What can be called in these modules, and in classes of the same library there, as it is now; ``name.*``: in all below.

    So are descriptors, and the library's own objects, such as an engine that functions ask to run something.
    """

    def __init__(self, *modules: str) -> None:
        owners: dict[Any, str] = {}
        for name in list(sys.modules):
            if any(name == one or (one.endswith(".*") and name.startswith(one[:-1])) for one in modules):
                module, library = sys.modules[name], name.split(".")[0]
                within = [value for value in vars(module).values() if _is_class_of(library, value)]
                owners |= dict.fromkeys([module, *within], library)
        self._steady = {owner: _steady_of(owner, library) for owner, library in owners.items()}
        self._looks = [(vars(owner).get, held) for owner, held in self._steady.items()]
        self._whose = [(owner, name) for owner, held in self._steady.items() for name in held]
        self._had = list(_all_values(self._steady.values()))
        classes = [owner for owner in owners if isinstance(owner, type)]
        self._modules = [owner for owner in owners if not isinstance(owner, type)]
        self._kinds = list(map(type, self._modules))
        self._spaces = list(map(vars, owners))
        self._names = list(chain.from_iterable(self._spaces))
        self._names_of = dict(zip(owners, map(frozenset, self._spaces), strict=True))
        self._heads = list(product(classes, _HEAD))
        self._had_heads = list(starmap(getattr, self._heads))
        self._fields: dict[Any, set[str]] = {}
        for owner in classes:
            for base in owner.__mro__:
                self._fields.setdefault(base, set()).update(_fields_of(owner, base))
        self._insides = _Insides(chain.from_iterable(map(dict.values, self._steady.values())))
        self._known = frozenset(self._insides.functions)

    def restore(self) -> None:
        """Put back what was exchanged, and take away what hides something that a class has from another one."""
        self._insides.restore()
        heads = dict(zip(self._heads, self._had_heads, strict=True))
        for module, kind in zip(self._modules, self._kinds, strict=True):
            types.ModuleType.__setattr__(module, "__class__", kind)
        for owner, name in list(self._changes()):
            if (owner, name) in heads:
                setattr(owner, name, heads[owner, name])
            elif name in self._steady[owner]:
                setattr(owner, name, self._steady[owner][name])
            else:
                delattr(owner, name)

    def first_change(self) -> str:
        """What was exchanged since, such as ``ReLU.forward``; empty if nothing was."""
        changed = (f"{owner.__name__}.{name}" for owner, name in self._changes())
        return next(chain(changed, (function.__qualname__ for function in self._insides.changed())), "")

    def _changes(self) -> Iterator[tuple[Any, str]]:
        """After each probe: nothing is looked at one by one, and what is not steady, such as a counter of hooks, not at all."""
        heads = starmap(getattr, self._heads)
        yield from compress(self._heads, map(operator.is_not, heads, self._had_heads))
        changed = map(operator.is_not, map(type, self._modules), self._kinds)
        yield from product(compress(self._modules, changed), ("__class__",))
        values = chain.from_iterable(starmap(map, self._looks))
        for owner, name in compress(self._whose, map(operator.is_not, values, self._had)):
            is_filled = self._steady[owner][name] is not None or _is_called(vars(owner).get(name))
            if is_filled and not self._is_its_own_doing(owner, name):
                yield owner, name
        if not _are_the_very(list(chain.from_iterable(self._spaces)), self._names):
            for owner, had in self._names_of.items():
                yield from ((owner, name) for name in self._hiding(owner, had))

    def _hiding(self, owner: Any, had: frozenset[str]) -> list[str]:
        """What was added to a class, and hides what it has from another one, or what its objects have; or to a module, and
        hides a builtin. Who puts back what was there hides nothing.
        """
        now = vars(owner)
        if had.issuperset(now):
            return []
        above = owner.__mro__ if isinstance(owner, type) else (owner, builtins)
        fields = (dict.fromkeys(self._fields.get(one, ())) for one in above)
        inherited = ChainMap(*map(dict, map(vars, above[1:])), *fields)
        new = {name: now[name] for name in sorted((now.keys() - had) & inherited.keys())}
        hiding = [name for name, value in new.items() if value is not inherited[name] and _is_called(value)]
        return [name for name in hiding if not self._is_its_own_doing(owner, name)]

    def _is_its_own_doing(self, owner: Any, name: str) -> bool:
        """Whether a function of the library's own, which calls what was there, is there now: ``torch.compile`` exchanges some
        of ``nn.Module`` and of optimizers, and the first object of an optimizer's class its ``step``.
        """
        if name not in {"__init__", "__setstate__", "_init_group", "step"} and not name.startswith("_fused_"):
            return False
        functions, _ = _reached([vars(owner).get(name)])
        library = owner.__module__ if isinstance(owner, type) else owner.__name__
        return not self._known.isdisjoint(functions) and all(_is_of(library, one) for one in functions)


def _is_class_of(library: str, value: object) -> bool:
    """Whether it is a class of this library that can be changed: one in C, such as ``torch.FloatTensor``, cannot."""
    if not isinstance(value, type) or not value.__flags__ & _MADE_BY_PYTHON:
        return False
    return value.__module__.split(".")[0] == library


def _is_called(value: object) -> bool:
    return callable(value) or hasattr(value, "__get__")


def _steady_of(owner: Any, library: str) -> dict[str, Any]:
    """What of a namespace is put back."""
    found = {}
    for name, value in vars(owner).items():
        of_library = type(value).__module__.split(".")[0] == library
        is_slot = value is None and isinstance(owner, type)  # what is called instead if a function is put there
        if (of_library or is_slot or isinstance(value, types.ModuleType) or _is_called(value)) and name != "Storage":
            found[name] = value
    return found


def _is_of(library: str, function: types.FunctionType) -> bool:
    """Whether it is one that stands in a module of this library."""
    name = str(function.__globals__.get("__name__"))
    module = sys.modules.get(name) if name.split(".")[0] == library.split(".")[0] else None
    return module is not None and vars(module) is function.__globals__


def _fields_of(owner: type, base: type) -> Iterator[str]:
    """What objects of a class have of their own by its annotations; of what they inherit from, arrays such as a weight alone."""
    for name, kind in vars(owner).get("__annotations__", {}).items():
        if base is owner or "Tensor" in str(kind):
            yield name


def _are_the_very(now: list[Any], before: list[Any]) -> bool:
    return len(now) == len(before) and all(map(operator.is_, now, before))


def _all_values(spaces: Iterable[Mapping[str, Any]]) -> Iterator[Any]:
    return chain.from_iterable(map(_values_of, spaces))


_values_of = operator.methodcaller("values")
_code_of, _defaults_of, _keywords_of = map(operator.attrgetter, ("__code__", "__defaults__", "__kwdefaults__"))

_OWN = frozenset({"__dict__", "__weakref__", "__abstractmethods__", "_abc_impl", "__doc__"})
"""Attributes of a class that are not ours to set."""

_HEAD, _MADE_BY_PYTHON = ("__name__", "__bases__"), 1 << 9
"""What a class is by, that stands in no namespace; and the flag of classes that are not in C."""


def watched() -> bool:
    """Whether a function of the learner's is called whatever runs: it sees what is computed, and can change it."""
    return gettrace() is not None or getprofile() is not None or bool(_AT_COLLECTIONS or _tools())


@contextmanager
def unwatched() -> Iterator[None]:
    """Within this block no such function is on. Traces and profiles end here: one in C, as cProfile's is, nobody can put back."""
    before = _AT_COLLECTIONS[:], _tools()
    _watch([], dict.fromkeys(before[-1], 0))
    try:
        yield
    finally:
        _watch(*before)


def _watch(at_collections: list[Any], tools: Mapping[int, int]) -> None:
    settrace(None)
    setprofile(None)
    _AT_COLLECTIONS[:] = at_collections
    for tool, events in tools.items():
        _MONITORING.set_events(tool, events)


def _tools() -> dict[int, int]:
    """Which events Python tells its tools for monitoring, by their numbers."""
    used = (tool for tool in range(6) if _MONITORING is not None and _MONITORING.get_tool(tool) is not None)
    return {tool: events for tool in used if (events := _MONITORING.get_events(tool))}


# Taken now, before any learner's code runs.
_AT_COLLECTIONS = gc.callbacks
_MONITORING: Any = getattr(sys, "monitoring", None)
"""None before Python 3.12."""
