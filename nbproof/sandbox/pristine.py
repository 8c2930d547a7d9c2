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
from typing import Any

__all__ = ["Libraries", "Pristine"]

_ENGINE = ("nbproof.sandbox", "nbproof.marking", "nbproof.recover")


class _Insides:
    """The code of functions, and their defaults, as they are now."""

    def __init__(self, values: Iterable[object]) -> None:
        self.functions = list(dict.fromkeys(one for one in values if isinstance(one, types.FunctionType)))
        self._code = list(map(_code_of, self.functions))
        self._defaults = list(map(_defaults_of, self.functions))

    def changed(self) -> list[tuple[types.FunctionType, types.CodeType, tuple[Any, ...] | None]]:
        """The functions with other insides, and what they had. Nothing is looked at one by one where nothing was touched."""
        same = all(map(operator.is_, map(_code_of, self.functions), self._code))
        if same and all(map(operator.is_, map(_defaults_of, self.functions), self._defaults)):
            return []
        had = zip(self.functions, self._code, self._defaults, strict=True)
        return [
            (one, code, given) for one, code, given in had if one.__code__ is not code or one.__defaults__ is not given
        ]

    def restore(self) -> None:
        """Put back what was changed."""
        for function, code, defaults in self.changed():
            function.__code__, function.__defaults__ = code, defaults


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
        itself = _ITS_OWN_DOING.get(owner.__name__, frozenset())
        self._noted[owner] = {name: value for name, value in noted.items() if name not in itself}
        self._looks[owner] = _Look(vars(owner))

    def restore(self) -> None:
        """Put back what was exchanged, and take away what hides something that a class has from another one."""
        self._insides.restore()
        for owner, name in list(self._changes()):
            if name in self._noted[owner]:
                setattr(owner, name, self._noted[owner][name])
            else:
                delattr(owner, name)

    def first_change(self) -> str:
        """What was exchanged since, such as ``ReLU.forward``; empty if nothing was."""
        rewritten = (function.__qualname__ for function, _, _ in self._insides.changed())
        return next((f"{owner.__name__}.{name}" for owner, name in self._changes()), next(rewritten, ""))

    def _changes(self) -> Iterator[tuple[Any, str]]:
        for owner, called in self._noted.items():
            now = vars(owner)
            if self._looks[owner].is_of(now):
                continue
            yield from ((owner, name) for name, value in called.items() if now.get(name) is not value)
            if isinstance(owner, type):
                inherited = ChainMap(*map(dict, map(vars, owner.__mro__[1:])))
                hiding = (now.keys() & inherited.keys()) - set(self._looks[owner].names)
                # Whoever puts back what was there by another class's right has hidden nothing.
                hiding = {name for name in hiding if now[name] is not inherited[name]}
                yield from ((owner, name) for name in sorted(hiding) if hasattr(now[name], "__get__"))


_CALLED = (types.FunctionType, types.BuiltinFunctionType, type)
_ITS_OWN_DOING = {"Module": frozenset({"__init__", "__setstate__"}), "torch": frozenset({"Storage"})}
"""What torch exchanges itself: ``torch.compile`` these two of ``nn.Module``, ``set_default_dtype`` that of ``torch``."""


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
