"""What learners have, put together: one function of the visible checks on what another one says of what is given.

There are many compositions, and a probe takes time. So a composition is tried only if it returns for the first call what
a right answer returns, where that is known, and if no other one has returned the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from inspect import Parameter, signature
from itertools import chain, combinations
from types import FunctionType, MethodType
from typing import Any

from nbproof.authoring.hearsay import narrowed
from nbproof.authoring.pieces import hashable
from nbproof.authoring.stand_ins import Answer, attempt, copied
from nbproof.values.compare import Close, is_same
from nbproof.values.evidence import Evidence, Unreadable, snapshot

__all__ = ["UNKNOWN", "Given", "composed_answers", "takes_just"]

Given = tuple[tuple[Any, ...], dict[str, Any]]
"""What a call of the learner's function is given."""

UNKNOWN = object()
"""What a right answer returns, if nobody knows."""


@dataclass(frozen=True)
class _Made:
    """A way to make something of what is given, and what it makes of the first call."""

    name: str
    make: Answer
    value: object


def composed_answers(
    helpers: Iterable[tuple[str, Answer]], call: Given, returned: object
) -> Iterator[tuple[str, Answer]]:
    """What two of these functions bring, one on what the other one says; and parts of what one says.

    ``returned``: what a right answer returns for the first call.
    """
    if returned is None or (returned is not UNKNOWN and not _is_data(snapshot(returned))):
        return
    given = (*call[0], *call[1].values())
    functions = list({helper: (name, helper) for name, helper in helpers if _is_plain(helper)}.values())
    alone = list(_once(chain.from_iterable(_on_given(name, helper, given) for name, helper in functions)))
    parts = list(_once(part for one in alone for part in _parts_of(one, given)))
    twice = (one for name, helper in functions for one in _on_made(name, helper, given, [*alone, *parts]))
    right = Close(returned, 1e-4, 1e-4)
    for made in _once(
        one for one in chain(parts, twice) if returned is UNKNOWN or is_same(snapshot(narrowed(one.value)), right)
    ):
        yield made.name, made.make


def _is_plain(helper: Answer) -> bool:
    """Whether it is a function that somebody has written for a course: no class, and no library's."""
    function = helper.__func__ if isinstance(helper, MethodType) else helper
    return isinstance(function, FunctionType) and function.__module__.partition(".")[0] not in ("torch", "nbproof")


def _once(found: Iterable[_Made]) -> Iterator[_Made]:
    """Each value once. What is no plain data may be anything, so it is kept."""
    seen = set[Hashable]()
    for made in found:
        evidence = snapshot(narrowed(made.value))
        taken = hashable(evidence)
        if taken not in seen or not _is_data(evidence):
            seen.add(taken)  # type: ignore[arg-type]
            yield made


def _is_data(evidence: Evidence) -> bool:
    """Whether it holds nothing that is no plain data."""
    if isinstance(evidence, (dict, list)):
        return all(map(_is_data, evidence.values() if isinstance(evidence, dict) else evidence))
    return not isinstance(evidence, Unreadable)


def _places(helper: Answer, given: tuple[Any, ...]) -> Iterator[tuple[int, ...]]:
    """Which of the arguments a function may take, in their order."""
    for number in range(1, len(given) + 1):
        if takes_just(helper, number):
            yield from combinations(range(len(given)), number)


def takes_just(helper: Answer, number: int) -> bool:
    """Whether it takes so many arguments by their places, and needs each of them."""
    usual = [one for one in signature(helper).parameters.values() if one.default is Parameter.empty]
    return len(usual) == number and all(one.kind <= Parameter.POSITIONAL_OR_KEYWORD for one in usual)


def _on_given(name: str, helper: Answer, given: tuple[Any, ...]) -> Iterator[_Made]:
    for places in _places(helper, given):
        make = partial(_called, helper, places)
        for value in attempt(make, *given):
            yield _Made(name, make, value)


def _called(helper: Answer, places: tuple[int, ...], *given: Any, **named: Any) -> object:
    dealt = (*given, *named.values())
    return helper(*(copied(dealt[place]) for place in places))


def _on_made(name: str, helper: Answer, given: tuple[Any, ...], made: list[_Made]) -> Iterator[_Made]:
    """What a function says of what others have made, alone and beside what is given; once of a type that it refuses."""
    refused, dealt, sides = set[Hashable](), copied(given), list(_sides(helper, given))
    for one in made if sides else ():
        for before, after in sides:
            kind = before, after, type(one.value)
            if kind not in refused:
                values = attempt(partial(_beside, helper, before, after, one.value), *dealt)
                refused |= set() if values else {kind}
                make = partial(_around, helper, before, after, one.make)
                yield from (_Made(f"{name} of {one.name}", make, value) for value in values)


def _sides(helper: Answer, given: tuple[Any, ...]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """What is given beside what somebody has made: nothing, or one of the arguments or all of them, in front or behind."""
    every = tuple(range(len(given)))
    for beside in dict.fromkeys([(), *((place,) for place in every), every]):
        if takes_just(helper, 1 + len(beside)):
            yield beside, ()
            if beside:
                yield (), beside


def _beside(helper: Answer, before: tuple[int, ...], after: tuple[int, ...], made: object, *dealt: object) -> object:
    return helper(*(dealt[place] for place in before), made, *(dealt[place] for place in after))


def _around(
    helper: Answer, before: tuple[int, ...], after: tuple[int, ...], make: Answer, *given: Any, **named: Any
) -> object:
    dealt = (*given, *named.values())
    return _beside(helper, before, after, make(*dealt), *dealt)


_Shape = Callable[[Any, tuple[Any, ...]], object]


def _parts_of(made: _Made, given: tuple[Any, ...]) -> Iterator[_Made]:
    """What can be read off what somebody has made: one item, or of records one field of each, by their first field."""
    for says, shape in _shapes_of(made.value):
        with suppress(Exception):
            yield _Made(f"{says} of {made.name}", partial(_shaped, made.make, shape), shape(made.value, given))


def _shaped(make: Answer, shape: _Shape, *given: Any, **named: Any) -> object:
    return shape(make(*given, **named), (*given, *named.values()))


_MOST_ITEMS = 4


def _shapes_of(value: Any) -> Iterator[tuple[str, _Shape]]:
    if isinstance(value, Mapping):
        for key in list(value)[:_MOST_ITEMS]:
            yield f"the item {key!r}", partial(_item, key)
        value = list(value.items())
    elif isinstance(value, (list, tuple)):
        for place in range(min(len(value), _MOST_ITEMS)):
            yield f"the item {place}", partial(_item, place)
    if isinstance(value, (list, tuple)) and value:
        for place in range(1, len(_record(value[0]))):
            yield f"a list of the field {place}", partial(_pairs, place)
            yield f"a dict of the field {place}", partial(_by_name, place)


def _item(key: Any, value: Any, given: tuple[Any, ...]) -> object:
    return value[key]


def _record(value: Any) -> tuple[Any, ...]:
    """The fields of a record; of a pair whose second part is a record, the first part and the fields of that."""
    if is_dataclass(value):
        return tuple(getattr(value, field.name) for field in fields(value))
    if isinstance(value, tuple) and len(value) == 2 and is_dataclass(value[1]):
        return value[0], *_record(value[1])
    return value if isinstance(value, tuple) else ()


def _pairs(place: int, value: Any, given: tuple[Any, ...]) -> object:
    """For each record with a name that name, and this field."""
    records = map(_record, value.items() if isinstance(value, Mapping) else value)
    return [(record[0], record[place]) for record in records if record[0]]


def _by_name(place: int, value: Any, given: tuple[Any, ...]) -> object:
    """By name this field; if somebody gives a list of names, just theirs."""
    found = dict(_pairs(place, value, given))  # type: ignore[call-overload]
    asked = next((one for one in given if isinstance(one, list) and all(isinstance(name, str) for name in one)), found)
    return {name: found[name] for name in asked if name in found}
