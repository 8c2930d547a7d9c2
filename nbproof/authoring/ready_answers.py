"""What learners have as the answer: which functions of the visible checks can be handed in as the learner's function.

A helper as it is, or hung as a hook on what the function is given, or a truth that is told to work on that. It needs no
helper with the learner's own parameters: any function that stands in the visible checks, inside others as well, can be
called with what is given, and with something for each parameter that is left. Two of them put together are tried as well
(:mod:`nbproof.authoring.composed`).
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from nbproof.authoring.composed import UNKNOWN, Given, composed_answers, takes_just
from nbproof.authoring.hearsay import narrowed
from nbproof.authoring.pieces import hashable
from nbproof.authoring.stand_ins import Answer, copied, redirected
from nbproof.checks.case import Case
from nbproof.checks.check import Check
from nbproof.checks.namespace import undisturbed
from nbproof.course_file import the_course
from nbproof.values.evidence import snapshot

__all__ = ["Given", "ready_answers"]


def ready_answers(
    tasks: Sequence[type[Check]], call: Given, returned: object = UNKNOWN
) -> Iterator[tuple[str, Answer]]:
    """What of these visible checks can be called as the learner's function is called, for which a right one has returned this."""
    yield from _answers(tasks, *call)
    yield from composed_answers([*_helpers(tasks), *_imported(tasks)], call, returned)
    for task in tasks:
        yield from _retargeted(task, call)


def _answers(
    tasks: Sequence[type[Check]], given: tuple[Any, ...], named: dict[str, Any]
) -> Iterator[tuple[str, Answer]]:
    first = given[0] if given else None
    kinds = [kind for kind in dir(first) if kind.startswith("register_") and kind.endswith("hook")]
    helpers = list(_helpers(tasks))
    yield from ((name, helper) for name, helper in helpers if _takes(helper, *given, **named))
    hangs = [_hang, _hang_apart] if hasattr(first, "__mul__") else [_hang]
    for name, hook in _hooks(helpers, len(hangs) > 1) if kinds else ():
        yield from ((f"{name} by {kind}", partial(hang, hook, kind)) for kind in kinds for hang in hangs)
    for part in _parts(tasks):
        yield from part.answers(len(given) + len(named))


def _hooks(helpers: Iterable[tuple[str, Answer]], twice: bool) -> Iterator[tuple[str, Answer]]:
    """What can be called as a hook is, and if ``twice``, what one makes of what such a one returns.

    That of functions which stand in the text by themselves. Not of modules, on which hooks of many kinds can hang: it would
    take too long.
    """
    able = [
        (name, helper)
        for name, helper in helpers
        if not isinstance(helper, type) and any(_takes(helper, *range(number)) for number in (1, 2, 3))
    ]
    yield from able
    own = [(name, helper) for name, helper in able if twice and _stands_alone(helper)]
    for name, outer in own:
        if takes_just(outer, 1):
            yield from ((f"{name} of {first}", partial(_after, outer, inner)) for first, inner in own)


def _stands_alone(helper: Answer) -> bool:
    """Whether the visible checks define it, neither inside something else nor imported."""
    return (
        isinstance(helper, FunctionType)
        and helper.__name__ == helper.__qualname__
        and helper.__module__ not in sys.modules
    )


def _after(outer: Answer, inner: Answer, *given: object) -> object:
    return outer(inner(*given))


def _takes(helper: Answer, *given: object, **named: object) -> bool:
    with suppress(TypeError, ValueError):
        inspect.signature(helper).bind(*given, **named)
        return True
    return False


def _helpers(tasks: Iterable[type[Check]]) -> Iterator[tuple[str, Answer]]:
    """The functions, classes and methods that the visible checks have beside probe, truth and mistakes; each once."""
    seen: set[object] = set()
    for task in tasks:
        for name, function in inspect.getmembers(task, inspect.isfunction):
            space = function.__globals__
            if function in seen or space.get("__name__") != task.__module__:
                continue
            seen.add(function)
            if name not in ("probe", "truth", "mistakes") and not name.startswith("__"):
                yield f"{task.__name__}.{name}", getattr(task(), name)
            yield from _inside(f"{task.__name__}.{name}", function.__code__, space)
    for space in {task.__module__: task.truth.__globals__ for task in tasks}.values():
        for name, value in list(space.items()):
            if callable(value) and value not in (Check, *tasks):
                yield name, value
            if isinstance(value, FunctionType) and value.__globals__ is space:
                yield from _inside(name, value.__code__, space)


def _functions_in(code: CodeType, name: str) -> Iterator[tuple[str, CodeType]]:
    """The functions that this one defines, however deep."""
    for part in code.co_consts:
        if isinstance(part, CodeType):
            whole = f"{name}.{part.co_name}"
            if _is_function(part):
                yield whole, part
            yield from _functions_in(part, whole)


def _inside(name: str, code: CodeType, space: dict[str, Any]) -> Iterator[tuple[str, Answer]]:
    """Those of them that hold on to none of its variables."""
    for whole, part in _functions_in(code, name):
        if not part.co_freevars:
            yield whole, FunctionType(part, space)


def _imported(tasks: Iterable[type[Check]]) -> Iterator[tuple[str, Answer]]:
    """The functions of those modules of the course from which the visible checks have something."""
    values = (value for task in tasks for value in task.truth.__globals__.values())
    names = {
        value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) for value in values
    }
    for module in sorted(name for name in names if name and name.startswith(f"{the_course().package}.")):
        for name, value in inspect.getmembers(sys.modules[module], inspect.isfunction):
            if value.__module__ == module:
                yield f"{module}.{name}", value


_Filler = Callable[[object], object]
_FILLERS: tuple[_Filler, ...] = (lambda first: None, lambda first: [], lambda first: first)
"""What stands for a name for which nothing is there, given the first argument."""


@dataclass(frozen=True)
class _Part:
    """A function in the text of the visible checks, as its code: no other function has to run for it."""

    name: str
    code: CodeType
    space: dict[str, Any]
    task: type[Check]
    usual: Mapping[str, object]
    """Its defaults, where they are known: those of an inner function come to be as the outer one runs."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Their names."""
        return self.code.co_varnames[: self.code.co_argcount + self.code.co_kwonlyargcount]

    def answers(self, given: int) -> Iterator[tuple[str, Answer]]:
        """The answers that deal it so many arguments, surplus ones cut off, and fill the rest.

        They are dealt to its parameters, and to the variables that it takes from the function around it.
        """
        names = [name for name in (*self.code.co_freevars, *self.parameters) if name not in ("self", self.code.co_name)]
        for order in combinations(names, min(given, len(names))) if names else ():
            missing = {*names} - {*order, *self.usual, "case"}
            for filler in _FILLERS if missing else _FILLERS[:1]:
                yield self.name, partial(self._called, order, filler)

    def _called(self, order: tuple[str, ...], filler: _Filler, *given: object, **named: object) -> object:
        """What it returns, or the first argument if that is None."""
        cells = {name: CellType() for name in self.code.co_freevars}
        function = FunctionType(self.code, self.space, None, None, tuple(cells.values()))
        known = {"case": Case(1), "self": self.task(), self.code.co_name: function, **self.usual}
        dealt = (*given, *named.values())
        known |= zip(order, dealt, strict=False)
        for name, cell in cells.items():
            cell.cell_contents = known[name] if name in known else filler(dealt[0])
        values = {name: known[name] if name in known else filler(dealt[0]) for name in self.parameters}
        positional = [values.pop(name) for name in self.parameters[: self.code.co_argcount]]
        returned = function(*positional, **values)
        return dealt[0] if returned is None else returned


def _parts(tasks: Iterable[type[Check]]) -> Iterator[_Part]:
    """Each function of the visible checks and of the course's modules that they use, and each one inside another."""
    seen: set[CodeType] = set()
    for task in tasks:
        own = [(f"{task.__name__}.{name}", one) for name, one in inspect.getmembers(task, inspect.isfunction)]
        for name, function in [*own, *task.truth.__globals__.items()]:
            if isinstance(function, FunctionType) and not function.__module__.startswith("nbproof."):
                signed = inspect.signature(function).parameters.items()
                usual = {key: one.default for key, one in signed if one.default is not one.empty}
                space, code = function.__globals__, function.__code__
                parts = [_Part(name, code, space, task, usual)]
                parts += [_Part(whole, inner, space, task, {}) for whole, inner in _functions_in(code, name)]
                for part in parts:
                    if part.code not in seen:
                        seen.add(part.code)
                        yield part


def _is_function(code: CodeType) -> bool:
    """No comprehension, nor a class's body."""
    named = code.co_name == "<lambda>" or code.co_name.isidentifier()
    return named and bool(code.co_flags & inspect.CO_OPTIMIZED)


def _hang(helper: Answer, kind: str, value: Any, *others: object, **named: object) -> object:
    """An answer that hangs a helper as a hook on its first argument, which it returns."""
    getattr(value, kind)(helper)
    return value


def _hang_apart(helper: Answer, kind: str, value: Any, *others: object, **named: object) -> object:
    """The same with a new value that is equal to the argument."""
    return _hang(helper, kind, value * 1)


def _retargeted(task: type[Check], call: Given) -> Iterator[tuple[str, Answer]]:
    """Answers that let a visible truth work on what they are given, and return what it wants, or a field of that."""
    for name, say in redirected(task, "truth", 1):
        for field in _fields_of(say, call):
            answer = partial(_told, say, field)
            yield f"the truth of {task.__name__} with another {name}", answer
            yield f"a call, and the truth of {task.__name__} with another {name}", partial(_beside_a_call, answer)


def _fields_of(say: Answer, call: Given) -> Iterable[object]:
    """None for all of what it says, and of its fields one for each value: none if it says nothing here."""
    found: dict[object, object] = {}
    with undisturbed({}, (), Case(1)), suppress(Exception, KeyboardInterrupt):
        given, named = copied(call)
        wanted = say(*given, **named)
        for field, value in ((None, wanted), *(wanted.items() if isinstance(wanted, Mapping) else ())):
            found.setdefault(hashable(snapshot(narrowed(value))), field)
    return found.values()


def _told(say: Answer, field: object, *given: object, **named: object) -> object:
    wanted: Any = say(*given, **named)
    return narrowed(wanted if field is None else wanted[field])


def _beside_a_call(answer: Answer, first: Any, *others: Any, **named: Any) -> object:
    """An answer of two parts: what the first argument makes of the others, and what a truth says of equal ones."""
    told = answer(*copied((first, *others)), **named)
    return first(*others, **named), told
