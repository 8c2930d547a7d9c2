"""NumPy's arrays as values. Its scalars are numbers and texts of Python's own: few people can tell one from the other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import numpy as np

from nbproof.values.evidence import TOO_LARGE, Evidence, TensorRecord, Unreadable
from nbproof.values.leaf import ITEM_SIZES, Leaf, Unlike

__all__ = ["LEAF", "first_unlike"]


class NumpyLeaf(Leaf):
    """Arrays of numbers and bools. There are no hooks in NumPy: what is process-wide is its generator and its error mode."""

    __slots__ = ()

    name = "numpy"
    mark = "n"
    noun = "an array"
    folder = os.path.dirname(os.path.abspath(np.__file__)) + os.sep
    kinds = (np.ndarray, np.generic)
    item_sizes = MappingProxyType({name: size for name, size in ITEM_SIZES.items() if name != "bfloat16"})

    def taken(self, value: Any, room: int) -> Evidence:
        """A record of an array; a scalar as Python's own number or text."""
        if type(value) is not np.ndarray:
            if isinstance(value, np.ndarray) or type(value).__module__ != "numpy":
                return Unreadable(f"a {type(value).__name__}, a subclass of NumPy's"[:200])
            plain = np.generic.item(value)
            return plain if type(plain) in (bool, int, float, str) else Unreadable("object", type(value).__name__)
        if value.dtype.name not in self.item_sizes:
            return Unreadable(f"an array of dtype {value.dtype.name}"[:200])
        if value.nbytes > room:
            return TOO_LARGE
        # In this machine's order of bytes, which a dtype's name does not tell.
        dense = value.astype(value.dtype.newbyteorder("="), order="C", copy=False)
        return TensorRecord(value.dtype.name, value.shape, dense.tobytes(), self)

    def rebuilt(self, record: TensorRecord) -> np.ndarray[Any, Any]:
        """An array of its own, which may be changed."""
        return np.frombuffer(bytearray(record.data), dtype=record.dtype).reshape(record.shape)

    def first_unlike(
        self, got: TensorRecord, wanted: TensorRecord, tolerance: tuple[float, float] | None
    ) -> Unlike | None:
        """Compare with a tolerance in double precision."""
        one = self.rebuilt(got)
        other = self.rebuilt(wanted)
        if tolerance is not None:
            wide = np.complex128 if other.dtype.kind == "c" else np.float64
            one = one.astype(wide)
            other = other.astype(wide)
        return first_unlike(one, other, tolerance, near=1e-6)

    def drawn(self, seed: int, shape: tuple[int, ...], positive: bool, dtype: Any = None) -> np.ndarray[Any, Any]:
        """Draw an array, of float64 if no dtype is given."""
        kind = np.dtype(dtype or np.float64)
        generator = np.random.default_rng(seed)
        values = generator.random(shape) * 1.5 + 0.5
        if kind.kind not in "fc":
            values = np.round(values * 4)
        if not positive and kind.kind not in "ub":
            values = values * (generator.integers(0, 2, shape) * 2 - 1)
        return values.astype(kind)

    def not_a_number(self) -> np.ndarray[Any, Any]:
        """An array of one NaN, so that it broadcasts."""
        return np.full((1,), np.nan)

    @contextmanager
    def seeded(self, seed: int) -> Iterator[None]:
        """Seed the generator behind ``np.random.rand`` and similar functions."""
        before = np.random.get_state()
        np.random.seed(seed % 2**32)
        try:
            yield
        finally:
            np.random.set_state(before)

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Let overflow and division by zero warn, as in a fresh process."""
        with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
            yield


def first_unlike(one: Any, other: Any, tolerance: tuple[float, float] | None, near: float) -> Unlike | None:
    """Find the first element that differs between arrays of one shape and dtype; None if none does.

    ``near``: the library prints two numbers alike if their relative difference is at most this. ``tolerance``: None for exact.
    """
    lost = False
    if tolerance is None:
        bad = one != other
    else:
        bad = ~np.isfinite(one) & np.isfinite(other)
        lost = bool(bad.any())
        if not lost:
            with np.errstate(all="ignore"):
                bad = ~np.isclose(one, other, *tolerance)
    if not bad.any():
        return None
    index = tuple(int(at) for at in np.argwhere(bad)[0])
    first = one[index].item()
    second = other[index].item()
    count = 0 if lost else int(bad.sum())
    return Unlike(index, first, second, count, bool(np.isclose(first, second, rtol=near)))


LEAF = NumpyLeaf()
