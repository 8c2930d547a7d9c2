"""What belongs together, by what it has in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar

__all__ = ["grouped"]

K = TypeVar("K")
V = TypeVar("V")


def grouped(pairs: Iterable[tuple[K, V]]) -> defaultdict[K, list[V]]:
    """First part -> the second parts of all pairs with it, in their order; nothing under any other key."""
    found = defaultdict[K, list[V]](list)
    for key, value in pairs:
        found[key].append(value)
    return found
