"""The plain data that a probe brings back from a learner's code.

A learner may answer with anything: a subclass of an array that claims to equal everything, a list
with an ``__eq__`` that is always true, a mapping that never ends. :func:`snapshot` copies the value
into plain data at once, so that nothing of the learner's takes part in a comparison.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeAlias, cast

from nbproof.doors import answerable
from nbproof.values.leaf import Leaf, known_leaves

__all__ = [
    "MAX_BYTES",
    "MAX_ITEMS",
    "TOO_LARGE",
    "Evidence",
    "Parts",
    "TensorRecord",
    "Unreadable",
    "key_text",
    "snapshot",
]

MAX_BYTES = 64 * 1024 * 1024
"""Bytes of arrays that one snapshot may carry."""

MAX_ITEMS = 20_000
"""Values, in all nested lists and dicts together, that one snapshot may carry."""

_MAX_DEPTH = 12
_MAX_TEXT = 100_000


@dataclass(frozen=True)
class TensorRecord:
    """A dense tensor or array as bytes: ``data`` holds its elements in row-major order.

    Raises ValueError if its parts do not belong together, so that no record, wherever it comes from, can break the comparison.
    """

    dtype: str
    shape: tuple[int, ...]
    data: bytes
    leaf: Leaf
    """The library that the array belongs to."""

    def __post_init__(self) -> None:
        item = self.leaf.item_sizes.get(self.dtype)
        if item is None or any(type(size) is not int or size < 0 for size in self.shape):
            raise ValueError(f"no tensor has dtype {self.dtype!r} and shape {self.shape!r}")
        if len(self.data) != math.prod(self.shape) * item:
            raise ValueError(f"{len(self.data)} bytes are no {self.dtype} tensor of shape {self.shape}")

    def tensor(self) -> Any:
        """The recorded tensor or array, rebuilt (shape and dtype as recorded, no gradient)."""
        return self.leaf.rebuilt(self)


@dataclass(frozen=True)
class Unreadable:
    """A value that is not plain data, by its sort. The course's language has words for it."""

    what: str
    """The sort of thing that it is: ``function``, ``object`` or ``long text``. People read any other text as it is."""
    of: str = ""
    """The name of the function or of the class, or the number of characters."""


class Parts(dict[str, Any]):
    """A value with several parts, such as a DataFrame: text to write behind the value to get a part -> that part as plain data.

    ``answer`` with the part ``.columns`` is ``answer.columns``. The parts are compared in their order.
    """

    def __init__(self, noun: str, parts: Mapping[str, Any]) -> None:
        super().__init__(parts)
        self.noun = noun
        """The sort of thing that it is, such as ``a DataFrame of shape (3, 2)``."""


TOO_LARGE = Unreadable(f"more than {MAX_BYTES // 2**20} MiB of tensors")
_TOO_MANY = Unreadable(f"more than {MAX_ITEMS} values")

Evidence: TypeAlias = (
    "bool | int | float | str | TensorRecord | Unreadable | list[Evidence] | dict[str, Evidence] | None"
)


def key_text(key: object) -> str:
    """A dict's key as text: text stays as it is, ``1`` becomes ``1 (int)``, which no text is mistaken for."""
    if type(key) is int and not -(2**63) <= key < 2**63:
        return "beyond 64 bits (int)"  # Python refuses to write out a number of some thousand digits
    return key if type(key) is str else f"{repr(key)[:80]} ({type(key).__name__})"


class _Snapshot:
    """One walk through a value, with a budget, so that a huge or endless answer ends it."""

    def __init__(self) -> None:
        self.items = 0
        self.bytes = 0
        self.leaves = known_leaves()

    def take(self, value: Any, depth: int = 0) -> Evidence:
        """Copy a value that stands in ``depth`` containers."""
        self.items += 1
        if self.items > MAX_ITEMS:
            return _TOO_MANY
        if depth > _MAX_DEPTH:
            return Unreadable(f"nested more than {_MAX_DEPTH} deep")
        # type(), not isinstance(): a learner's class may claim any __class__.
        kind = type(value)
        if value is None or kind is bool or kind is float:
            return cast(Evidence, value)
        if kind is int:
            # A number of a thousand digits is not an answer, and writing it out costs minutes.
            return cast(int, value) if -(2**63) <= value < 2**63 else Unreadable("an int beyond 64 bits")
        if kind is str:
            return cast(str, value) if len(value) <= _MAX_TEXT else Unreadable("long text", str(len(value)))
        for leaf in self.leaves:
            if issubclass(kind, leaf.kinds):
                return self.take_leaf(leaf, value)
        return self.take_composed(value, kind, depth)

    def take_composed(self, value: Any, kind: type, depth: int) -> Evidence:
        """Copy a value of Python's own: evidence that was taken already, or a container."""
        if kind is TensorRecord:
            return self.take_record(value)
        if kind is Parts:
            found = self.take_items(value.items(), depth, dict)
            return Parts(str(value.noun)[:200], found) if isinstance(found, dict) else found
        if kind is Unreadable:
            return Unreadable(str(value.what)[:200], str(value.of)[:200])
        for container, items in ((dict, dict.items), (list, list.__iter__), (tuple, tuple.__iter__)):
            if issubclass(kind, container):
                return self.take_items(items(value), depth, container)
        if issubclass(kind, Mapping):
            return self.take_items(value.items(), depth, dict)
        return _of_another_sort(value)

    def take_items(self, items: Iterable[Any], depth: int, container: type) -> Evidence:
        """Copy the items of a list, or the pairs of a dict."""
        taken = list(islice(items, MAX_ITEMS - self.items + 1))
        if len(taken) > MAX_ITEMS - self.items:
            return _TOO_MANY
        found: Evidence
        if container is dict:
            found = {key_text(key): self.take(item, depth + 1) for key, item in taken}
        else:
            found = [self.take(item, depth + 1) for item in taken]
        # Of a probe's own fields those that came before the endless one stay readable.
        if self.items > MAX_ITEMS and (container is not dict or depth > 0 or len(taken) > 1000):
            return _TOO_MANY
        return found if len(found) == len(taken) else Unreadable("a dict with keys that look alike")

    def take_record(self, value: TensorRecord) -> Evidence:
        """Copy an array that was taken already."""
        if self.bytes + len(value.data) > MAX_BYTES:
            return TOO_LARGE
        self.bytes += len(value.data)
        return TensorRecord(value.dtype, tuple(value.shape), bytes(value.data), value.leaf)

    def take_leaf(self, leaf: Leaf, value: object) -> Evidence:
        """Copy a value of a leaf type."""
        with answerable():
            found = leaf.taken(value, MAX_BYTES - self.bytes)
        if isinstance(found, TensorRecord):
            self.bytes += len(found.data)
        return found if isinstance(found, (TensorRecord, Unreadable)) else self.take(found)


def _of_another_sort(value: object) -> Unreadable:
    name = str(type(value).__name__)[:80]
    models = chain.from_iterable(leaf.models for leaf in known_leaves())
    if callable(value) and not isinstance(value, (type, *models)):
        return Unreadable("function", str(getattr(value, "__name__", name))[:80])
    return Unreadable("object", name)


def snapshot(value: object) -> Evidence:
    """Copy ``value`` into plain data now; later changes of it do not show.

    Tuples become lists, mappings become dicts with text keys (:func:`key_text`), arrays (of the course's leaf
    types) become bytes. Anything else, and anything beyond the budgets above, becomes :class:`Unreadable`,
    which equals nothing that a check could want.
    """
    return _Snapshot().take(value)
