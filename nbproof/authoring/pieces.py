"""Whether what a hidden check wants can be put together, leaf by leaf, of values that a forger has.

A list of numbers and texts is one leaf: that it holds these, in this order, is what somebody has to know.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from types import FunctionType

from nbproof.authoring.hearsay import narrowed
from nbproof.values.compare import AnyOf, Close, Matches, is_same
from nbproof.values.evidence import Evidence, TensorRecord, Unreadable, key_text, snapshot

__all__ = ["Stock", "hashable"]

_Sort = tuple[object, ...]
"""What two leaves have in common that may be equal."""


class Stock:
    """Values of which evidence for ``wanted`` may be made: those of other sorts than its leaves are left out at once.

    ``others``: what the same check wants under other seeds. A plain value that all of them hold can be said without
    knowing anything, unless it stands in a field that ``claims`` names.
    """

    def __init__(self, wanted: object, others: Iterable[object], claims: tuple[str, ...]) -> None:
        self._wanted, self._claims = wanted, claims
        self._shapes = {tuple(leaf.shape) for leaf in _leaves(wanted) if hasattr(leaf, "shape")}
        self._asks = any(isinstance(one, Matches) for one in _all_in(wanted))
        self._known = frozenset.intersection(*(self._plain_of(other) for other in others))
        self._leaves: dict[_Sort, dict[object, Evidence]] = {}
        self._wholes: dict[object, Evidence] = {}

    def add(self, value: object) -> None:
        """A piece, and all that it is made of, are at hand from now on."""
        for leaf in _leaves(value):
            shape = getattr(leaf, "shape", None)
            if shape is None or tuple(shape) in self._shapes:
                taken = snapshot(leaf)
                self._leaves.setdefault(_sort_of(taken), {})[hashable(taken)] = taken
        if self._asks:
            for part in _all_in(value):
                if isinstance(part, (Mapping, list, tuple)):
                    taken = snapshot(narrowed(part))
                    self._wholes[hashable(taken)] = taken

    def make_it(self) -> bool:
        """Whether what is wanted can be made of them."""
        if not isinstance(self._wanted, Mapping):
            return self._make(self._wanted, None, True)
        fields = sorted(self._wanted.items(), key=lambda field: -_size(field[1]))
        return all(self._make(value, None, key_text(key) not in self._claims) for key, value in fields)

    def _make(self, wanted: object, near: Close | None, free: bool) -> bool:
        """``near``: the Close around it. ``free``: whether what all seeds want may be said."""
        if isinstance(wanted, AnyOf):
            return any(self._make(option, near, free) for option in wanted.options)
        if isinstance(wanted, Close):
            return self._make(wanted.value, wanted, free)
        if isinstance(wanted, Matches):
            held = list(_held_by(wanted))
            return (bool(held) and self._make(held, near, free)) or self._have_what_matches(wanted)
        if isinstance(wanted, Mapping):
            wanted = list(wanted.values())
        if isinstance(wanted, (list, tuple)) and not _is_plain(wanted):
            return all(self._make(part, near, free) for part in sorted(wanted, key=_size, reverse=True))
        return self._have(wanted, near, free)

    def _have(self, leaf: object, near: Close | None, free: bool) -> bool:
        taken = snapshot(leaf)
        if free and hashable(taken) in self._known:
            return True
        at_hand = self._leaves.get(_sort_of(taken), {})
        wanted = leaf if near is None else Close(leaf, near.rtol, near.atol)
        return hashable(taken) in at_hand or any(is_same(piece, wanted) for piece in at_hand.values())

    def _have_what_matches(self, wanted: Matches) -> bool:
        leaves = (piece for pieces in self._leaves.values() for piece in pieces.values())
        return any(is_same(piece, wanted) for piece in (None, *self._wholes.values(), *leaves))

    def _plain_of(self, truth: object) -> frozenset[object]:
        if isinstance(truth, Mapping):
            truth = [value for key, value in truth.items() if key_text(key) not in self._claims]
        taken = map(snapshot, _leaves(truth))
        return frozenset(hashable(one) for one in taken if not isinstance(one, (TensorRecord, Unreadable)))


def _parts_of(value: object) -> Iterable[object] | None:
    """What a value is made of, or allows; None if it is a leaf."""
    if isinstance(value, AnyOf):
        return value.options
    if isinstance(value, Close):
        return (value.value,)
    if isinstance(value, Matches):
        return _held_by(value)
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, (list, tuple)) else None


def _all_in(value: object) -> Iterator[object]:
    """It, and all that it is made of."""
    yield value
    for part in _parts_of(value) or ():
        yield from _all_in(part)


def _leaves(value: object) -> Iterator[object]:
    for one in _all_in(value):
        if _parts_of(one) is None or (isinstance(one, (list, tuple)) and _is_plain(one)):
            yield one


def _is_plain(value: object) -> bool:
    """Whether it is made of numbers and texts alone, however deep."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return isinstance(value, (bool, int, float, complex, str, bytes, type(None)))


def _held_by(wanted: Matches) -> Iterator[object]:
    """The plain data that only the test of a Matches knows: what its function holds on to."""
    waiting, seen = [wanted.test], set[int]()
    while waiting:
        function = waiting.pop()
        for cell in getattr(function, "__closure__", None) or ():
            content = cell.cell_contents
            if isinstance(content, FunctionType) and id(content) not in seen:
                seen.add(id(content))
                waiting.append(content)
            elif not isinstance(snapshot(content), Unreadable):
                yield content


def _size(wanted: object) -> float:
    """How much a wanted value holds: what holds most is least likely to be at hand, so it is looked for first."""
    parts = _parts_of(wanted)
    if isinstance(wanted, Matches):
        return 0
    if isinstance(wanted, AnyOf):
        return min(map(_size, wanted.options))
    if parts is not None:
        return sum(map(_size, parts))
    if isinstance(wanted, str):
        return len(wanted)
    return math.prod(getattr(wanted, "shape", ()))


def _sort_of(leaf: Evidence) -> _Sort:
    if isinstance(leaf, TensorRecord):
        return leaf.dtype, leaf.shape
    return ("number",) if type(leaf) in (int, float) else (type(leaf),)


def hashable(value: Evidence) -> object:
    """What is equal for equal evidence, and another thing for a number of another type."""
    if isinstance(value, dict):
        return "dict", *((key, hashable(one)) for key, one in value.items())
    if isinstance(value, list):
        return "list", *map(hashable, value)
    return type(value), value
