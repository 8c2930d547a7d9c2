"""What stands in for a learner's answer and for a case, to see what a hidden check asks of them."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from itertools import cycle
from types import MappingProxyType
from typing import Any, TypeVar

from nbproof.checks.case import Case
from nbproof.checks.check import Check
from nbproof.checks.namespace import Notebook, undisturbed
from nbproof.values.evidence import Evidence, snapshot
from nbproof.values.leaf import leaf_types

__all__ = ["Answer", "Idle", "NotingCase", "StandInCase", "attempt", "brought", "copied", "idle_answers", "redirected"]

Answer = Callable[..., object]


class _Handed(Notebook):
    """A notebook in which every name is one and the same answer, every list is empty, and every model is new.

    ``known``: the variables of a notebook in which the exercise is solved, for the class that a model has.
    """

    def __init__(self, answer: object, known: Mapping[str, object]) -> None:
        super().__init__({})
        self.__dict__.update(_answer=answer, _known=known)

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["_answer"]

    def list(self, name: str) -> list[Any]:
        """Nobody has put anything into it."""
        return self.__dict__.setdefault(f"list {name}", [])  # type: ignore[no-any-return]

    def module(self, name: str) -> Any:
        """Nobody has done anything to it."""
        return self.__dict__.setdefault(f"model {name}", type(self.__dict__["_known"][name])())


def brought(
    task: type[Check], answer: object, case: Case, known: Mapping[str, object] = MappingProxyType({})
) -> tuple[Evidence, ...]:
    """What a check's probe brings of this answer: nothing if it raises, be it what the stop button raises."""
    with undisturbed({}, task.poison, case), suppress(BaseException):
        return (snapshot(task().probe(_Handed(answer, known), case)),)
    return ()


T = TypeVar("T")


def copied(given: T) -> T:
    """A copy of what is given, which nobody else changes; itself if it cannot be copied."""
    with suppress(Exception):  # a tensor with a history
        return copy.deepcopy(given)
    return given


def attempt(say: Answer, *given: object) -> tuple[object, ...]:
    """What somebody says of what is given: nothing if it does not fit, be it what the stop button raises."""
    with suppress(Exception, KeyboardInterrupt):
        return (say(*given),)
    return ()


class Idle:
    """In the place of a learner's function: it notes what it is given, and does nothing, whatever is done with it.

    It can be called, entered as a block, gone through, and asked for anything, which is as idle as it is.
    """

    def __init__(self, heard: tuple[Any, ...] = (), calls: list[tuple[Any, ...]] | None = None) -> None:
        self.calls: list[tuple[Any, ...]] = [] if calls is None else calls
        """What each call was given: with what came before, if it is what an earlier call returned that is called."""
        self._heard = heard
        self._seen: dict[int, Any] = {}

    def note(self, *given: object, **named: object) -> tuple[Any, ...]:
        """Note a call. What comes again is noted as it was at first, whoever has changed it meanwhile."""
        heard = (*given, *named.values())
        with suppress(Exception):  # a tensor with a history cannot be copied
            heard = copy.deepcopy(heard, self._seen)
        self.calls.append((*self._heard, *heard))
        return self.calls[-1]

    def __call__(self, *given: object, **named: object) -> Idle:
        later = Idle(self.note(*given, **named), self.calls)
        later._seen = self._seen
        return later

    def __enter__(self) -> Idle:
        return self

    def __exit__(self, *error: object) -> None:
        """It lets errors out."""

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __getattr__(self, name: str) -> Idle:
        if name.startswith("__"):
            raise AttributeError(name)
        return self


def idle_answers() -> Iterator[tuple[Idle, Answer]]:
    """Answers that do nothing: one returns something idle, one nothing, one what it is given, one something to go through.

    Each with what notes its calls.
    """
    one, two, three, four = (Idle() for _ in range(4))

    def nothing(*given: object, **named: object) -> None:
        two.note(*given, **named)

    def the_first(*given: object, **named: object) -> object:
        three.note(*given, **named)
        return (*given, *named.values(), None)[0]

    def steps(*given: object, **named: object) -> Iterator[None]:
        four.note(*given, **named)
        yield

    yield from ((one, one), (two, nothing), (three, the_first), (four, steps))


class NotingCase(Case):
    """A case that notes what is drawn from it, as it is then; of a model what it holds."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.drawn: list[Evidence] = []


def _noting(name: str) -> Callable[..., Any]:
    def noted(self: NotingCase, *what: Any, **more: Any) -> Any:
        value = getattr(Case, name)(self, *what, **more)
        self.drawn.append(snapshot(dict(value.state_dict()) if hasattr(value, "state_dict") else value))
        return value

    return noted


for _name in ("tensor", "array", "integer", "shape", "words", "shuffled", "build"):
    setattr(NotingCase, _name, _noting(_name))


class StandInCase(Case):
    """A case that builds nothing: it hands out what it was given, the first as what is built, the others as tensors.

    As a number it hands out how long the first of these tensors is.
    """

    def __init__(self, given: tuple[Any, ...], seed: int = 1) -> None:
        super().__init__(seed)
        self._first, self._others = given[0], cycle(given[1:] or given)
        self._sized = (given[1:] or given)[0]

    def build(self, *what: object, **more: object) -> Any:
        """What was given first."""
        return self._first

    def tensor(self, *what: object, **more: object) -> Any:
        """What was given next."""
        return next(self._others)

    def integer(self, name: str, low: int, high: int) -> int:
        """The length of what was given, where it has one."""
        try:
            return len(self._sized)
        except TypeError:
            return super().integer(name, low, high)


def redirected(task: type[Check], role: str, seed: int) -> Iterator[tuple[str, Answer]]:
    """What a visible check's truth, or its mistakes, say if what they draw is what somebody gives them instead.

    Each with the name of what is replaced: the case, or a method that draws from it. ``role``: truth or mistakes.
    """
    told = getattr(task, role)

    def by_its_case(*given: object, **named: object) -> object:
        return told(task(), StandInCase((*given, *named.values()), seed))

    def by_a_method(name: str, usual: Callable[[], object], *given: object, **named: object) -> object:
        what = _in_the_form_of(usual(), (*given, *named.values()))
        made = type(task.__name__, (task,), {name: lambda *others: what})
        return getattr(made(), role)(Case(seed))

    yield "case", by_its_case
    own = {name for name, _ in inspect.getmembers(task, inspect.isfunction)} - {"probe", "truth", "mistakes"}
    for name in sorted(own & {*told.__code__.co_names}):
        yield name, partial(by_a_method, name, cache(partial(_usual, task, name, seed)))


def _usual(task: type[Check], name: str, seed: int) -> object:
    """What a method of a check draws; None if it needs more than a case."""
    with suppress(Exception):
        return getattr(task(), name)(Case(seed))
    return None


def _in_the_form_of(usual: object, given: tuple[object, ...]) -> object:
    """What is given, in the places where ``usual`` holds something of its kind; as it is if there are none."""
    stock = {kind: [one for one in given if _kind_of(one) == kind] for kind in map(_kind_of, given)}
    taken = {kind: cycle(ones) for kind, ones in stock.items()}
    replaced = []

    def filled(value: object) -> object:
        if _kind_of(value) in taken:
            replaced.append(value)
            return next(taken[_kind_of(value)])
        if isinstance(value, Mapping):
            return {key: filled(one) for key, one in value.items()}
        if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
            return type(value)(map(filled, value))
        return value

    found = filled(usual)
    if replaced:
        return found
    return given[0] if len(given) == 1 else given


def _kind_of(value: object) -> object:
    """Equal for two values that can stand for each other: two models, two arrays, two lists of names."""
    for leaf in leaf_types():
        for name, kinds in (("a model", leaf.models), ("an array", leaf.kinds)):
            if isinstance(value, kinds):
                return leaf.name, name
    names = isinstance(value, (list, tuple)) and bool(value) and all(isinstance(one, str) for one in value)
    return "names" if names else type(value)
