"""What probes are made of, put back to what it was before any learner's code ran.

A probe draws inputs from the seed, runs the learner's code on them, and brings arrays and numbers in which whatever
ran has left a trace (:mod:`course.traces`). It does so with functions of the course, and learner code that has patched
one of these would run the probe in another way than it was written. So the worker notes the course's modules, classes
and functions while it is warmed up, and puts back what was changed right before each probe.

What can be called in the libraries that a course names (``steady`` in ``course.toml``) is put back as well, and an answer that
changes one while it is probed is told so: whoever makes ``nn.ReLU`` compute something else has changed it for everybody.

This is no wall: builtins, other libraries and the interpreter itself stay the learner's, and whoever controls a process controls
what it says about itself. So no verdict rests on that. A count, a flag or a name that is the same for every seed may
choose the words of a message; the author contract refuses a check that needs one to find a mutant
(:mod:`nbproof.authoring.hearsay`).
"""

from __future__ import annotations

import operator
import sys
import types
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

__all__ = ["Libraries", "Pristine"]

_ENGINE = ("nbproof.sandbox", "nbproof.marking", "nbproof.recover")


class _Insides:
    """The code of functions, and their defaults, as they are now."""

    def __init__(self, values: Iterable[object]) -> None:
        self.functions = list(dict.fromkeys(one for one in values if isinstance(one, types.FunctionType)))
        self._code = list(map(_code_of, self.functions))
        self._defaults = list(map(_defaults_of, self.functions))
        takes_keywords = (one for one in self.functions if one.__code__.co_kwonlyargcount)
        # A dict, which can be changed in place.
        self._keywords = {one: dict(one.__kwdefaults__ or {}) for one in takes_keywords}

    def changed(self) -> list[types.FunctionType]:
        """The functions with other insides. They are looked at one by one only where something was touched."""
        touched = [one for one, keywords in self._keywords.items() if (one.__kwdefaults__ or {}) != keywords]
        same = all(map(operator.is_, map(_code_of, self.functions), self._code))
        if same and all(map(operator.is_, map(_defaults_of, self.functions), self._defaults)):
            return touched
        had = zip(self.functions, self._code, self._defaults, strict=True)
        return touched + [one for one, code, given in had if (one.__code__, one.__defaults__) != (code, given)]

    def restore(self) -> None:
        """Put back what was changed."""
        changed = set(self.changed())
        for function, code, defaults in zip(self.functions, self._code, self._defaults, strict=True) if changed else ():
            if function in changed:
                function.__code__, function.__defaults__ = code, defaults
                function.__kwdefaults__ = dict(self._keywords.get(function, {})) or None


class Pristine:
    """The modules of these packages as they are now, the grading engine's own aside."""

    def __init__(self, *packages: str) -> None:
        inside = [name for name in sys.modules if name.split(".")[0] in packages]
        self._modules = {name: sys.modules[name] for name in inside if not name.startswith(_ENGINE)}
        self._contents = {name: dict(vars(module)) for name, module in self._modules.items()}
        classes = {one for name, content in self._contents.items() for one in _classes_of(name, content)}
        self._classes = {one: {key: value for key, value in vars(one).items() if key not in _OWN} for one in classes}
        self._looks = {one: _Look(vars(one)) for one in (*self._modules.values(), *classes)}
        contents = (*self._contents.values(), *self._classes.values())
        self._insides = _Insides(value for content in contents for value in content.values())

    def restore(self) -> None:
        """Put back whatever was changed, added or removed since. It comes before each probe: nothing is looked at one by one."""
        for name, module in self._modules.items():
            sys.modules[name] = module
            if not self._looks[module].is_of(vars(module)):
                _put_back(vars(module), self._contents[name])
        for one, content in self._classes.items():
            now = vars(one)
            if self._looks[one].is_of(now):
                continue
            for key in now.keys() - content.keys() - _OWN:
                type.__delattr__(one, key)
            if not _holds(now, content):
                for key, value in content.items():
                    type.__setattr__(one, key, value)
        self._insides.restore()


def _classes_of(name: str, content: Mapping[str, Any]) -> Iterator[type]:
    """The classes that a module of this name defines itself."""
    return (value for value in content.values() if isinstance(value, type) and value.__module__ == name)


class Libraries:
    """What can be called in these modules, and in classes of the same library there, as it is now; ``name.*``: in all below."""

    def __init__(self, *modules: str) -> None:
        self._noted: dict[Any, dict[str, Any]] = {}
        self._looks: dict[Any, _Look] = {}
        self._heads: dict[type, dict[str, Any]] = {}
        for name in list(sys.modules):
            if any(name == one or (one.endswith(".*") and name.startswith(one[:-1])) for one in modules):
                module, library = sys.modules[name], name.split(".")[0]
                self._note(module)
                for value in self._noted[module].values():
                    if isinstance(value, type) and value.__module__.split(".")[0] == library:
                        self._note(value)
        self._insides = _Insides(value for content in self._noted.values() for value in content.values())

    def _note(self, owner: Any) -> None:
        noted = {name: value for name, value in vars(owner).items() if isinstance(value, _CALLED)}
        self._noted[owner] = {
            name: value for name, value in noted.items() if (owner.__name__, name) != ("torch", "Storage")
        }
        self._looks[owner] = _Look(vars(owner))
        if isinstance(owner, type):
            self._heads[owner] = {"__name__": owner.__name__, "__bases__": owner.__bases__}

    def restore(self) -> None:
        """Put back what was exchanged, and take away what hides something that a class has from another one."""
        self._insides.restore()
        for owner, name in list(self._changes()):
            had = {**self._noted[owner], **self._heads.get(owner, {})}
            if name in had:
                setattr(owner, name, had[name])
            else:
                delattr(owner, name)

    def first_change(self) -> str:
        """What was exchanged since, such as ``ReLU.forward``; empty if nothing was."""
        changed = (f"{owner.__name__}.{name}" for owner, name in self._changes())
        return next(chain(changed, (function.__qualname__ for function in self._insides.changed())), "")

    def _changes(self) -> Iterator[tuple[Any, str]]:
        for owner, head in self._heads.items():
            yield from ((owner, name) for name, value in head.items() if getattr(owner, name) != value)
        for owner, called in self._noted.items():
            now = vars(owner)
            if self._looks[owner].is_of(now):
                continue
            for name, value in called.items():
                if now.get(name) is not value and not _is_its_own_doing(owner, name, now.get(name)):
                    yield owner, name
            if isinstance(owner, type):
                yield from ((owner, name) for name in self._hiding(owner))

    def _hiding(self, owner: type) -> list[str]:
        """What was added to a class, and hides what it has from another one. Who puts back what was there hides nothing."""
        now, inherited = vars(owner), ChainMap(*map(dict, map(vars, owner.__mro__[1:])))
        added = (now.keys() & inherited.keys()) - set(self._looks[owner].names)
        new = {name: now[name] for name in sorted(added) if now[name] is not inherited[name]}
        return [name for name, value in new.items() if callable(value) or hasattr(value, "__get__")]


_CALLED = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type, staticmethod, classmethod, property)


def _is_its_own_doing(owner: Any, name: str, value: object) -> bool:
    """Whether it is what ``torch.compile`` exchanges of ``nn.Module``, by a function of torch's own."""
    if (owner.__name__, name) not in {("Module", "__init__"), ("Module", "__setstate__")}:
        return False
    globals_of = getattr(value, "__globals__", None)
    its_own = (vars(module) for name, module in list(sys.modules.items()) if name.split(".")[0] == "torch")
    return any(globals_of is one for one in its_own)


class _Look:
    """The names and values of a namespace, in their order: what has the same was not touched, and that is soon said."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self.names, self._values = list(namespace), list(namespace.values())

    def is_of(self, now: Mapping[str, Any]) -> bool:
        """Whether a namespace has the very same."""
        return list(now) == self.names and all(map(operator.is_, now.values(), self._values))


_code_of, _defaults_of = operator.attrgetter("__code__"), operator.attrgetter("__defaults__")

_OWN = frozenset({"__dict__", "__weakref__", "__abstractmethods__", "_abc_impl", "__doc__"})
"""Attributes of a class that are not ours to set."""


def _holds(now: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether all that was there before is there now, the very same."""
    return before.keys() <= now.keys() and all(map(operator.is_, map(now.get, before), before.values()))


def _put_back(now: dict[str, Any], before: dict[str, Any]) -> None:
    if len(now) == len(before) and _holds(now, before):
        return
    # A submodule that was imported since is an attribute of its package.
    for key in [key for key, value in now.items() if key not in before and not isinstance(value, types.ModuleType)]:
        del now[key]
    now.update(before)
