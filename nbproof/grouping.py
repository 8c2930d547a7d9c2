"""What belongs together, by what it has in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TypeVar

__all__ = ["grouped", "merged"]

K = TypeVar("K")
V = TypeVar("V")


def grouped(pairs: Iterable[tuple[K, V]]) -> defaultdict[K, list[V]]:
    """First part -> the second parts of all pairs with it, in their order; nothing under any other key."""
    found = defaultdict[K, list[V]](list)
    for key, value in pairs:
        found[key].append(value)
    return found


def merged(maps: Iterable[Mapping[K, V]]) -> dict[K, V]:
    """One dict of several. The last of them counts for a key that is in more than one."""
    return dict(chain.from_iterable(one.items() for one in maps))
