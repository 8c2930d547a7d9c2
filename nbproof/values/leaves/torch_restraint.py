"""A bound on what may be computed from data that a learner shaped.

A truth or a mistake may look at an answer with a function of the lesson's author (:class:`nbproof.values.compare.Matches`).
Such a function multiplies, adds up and lists what it is given, and means tensors of a few elements. Two tensors of 30,000
elements, one a row and one a column, make a product of 3.6 GB; ten small ones can make one that fits no machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from nbproof.values.leaf import TooMuch

__all__ = ["TorchRestraint"]

_MOST_GROWN = 2**22
"""Elements that an operation may have to do with, where none of its tensors has as many."""
_MOST_GROWN_TOGETHER = 2**24
"""Of all such operations: a list may keep what each of them made."""
_MOST_TOGETHER = 2**28
"""Elements that all operations may have to do with: seconds, however many there are."""
_MOST_LISTED = 2**18
"""Elements of a tensor that becomes Python objects, which take thirty bytes and more each."""

_EACH_WITH_EACH = frozenset(
    "outer ger kron einsum cdist tensordot meshgrid cartesian_prod combinations inner bilinear vander".split()  # noqa: SIM905
)
"""Operations whose result may have as many elements as their tensors' numbers of elements make when multiplied."""
_LISTING = frozenset("tolist unbind __iter__ split chunk tensor_split".split())  # noqa: SIM905
_SIZED = frozenset(
    "expand repeat tile repeat_interleave broadcast_to one_hot diag_embed diag eye full zeros ones empty rand randn arange "  # noqa: SIM905
    "linspace resize_ pad roll unfold expand_as bincount histc new_zeros new_ones new_full new_empty".split()
)
"""Operations whose result is as large as a number says."""


class TorchRestraint(TorchFunctionMode):
    """Within this block an operation on tensors that would take much more than they do raises TooMuch, before it begins."""

    def __init__(self) -> None:
        super().__init__()
        self._grown, self._together = 0, 0

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Look at the shapes, then compute."""
        given = kwargs or {}
        name = getattr(func, "__name__", "")
        if name != "__get__":
            self._look(name, args, given)
        return func(*args, **given)

    def _look(self, name: str, args: tuple[Any, ...], given: dict[str, Any]) -> None:
        tensors = list(_tensors((*args, *given.values())))
        largest = max((one.numel() for one in tensors), default=0)
        if name in _LISTING and largest > _MOST_LISTED:
            raise TooMuch(f"{name} of {largest} elements")
        together = _joint(tensors)
        if name in _EACH_WITH_EACH:
            together = max(together, math.prod(max(1, one.numel()) for one in tensors))
        if name in _SIZED:
            # As if every number were a size, on top of what is there: too strict where that is large, which no check needs.
            sizes = math.prod(max(1, abs(int(number))) for number in _numbers((*args, *given.values())))
            together = max(together, sizes * max(1, largest))
        self._together += together
        if together > largest:
            self._grown += together
            if together > _MOST_GROWN or self._grown > _MOST_GROWN_TOGETHER:
                raise TooMuch(f"{name} of {together} elements, from {largest}")
        if self._together > _MOST_TOGETHER:
            raise TooMuch(f"{self._together} elements in all")


def _tensors(values: Iterable[Any], depth: int = 0) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif depth < 2 and isinstance(value, (list, tuple)):
            yield from _tensors(value, depth + 1)


def _numbers(values: Iterable[Any], depth: int = 0) -> Iterator[float]:
    for value in values:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            yield value
        elif depth < 2 and isinstance(value, (list, tuple)):
            yield from _numbers(value, depth + 1)


def _joint(tensors: list[torch.Tensor]) -> int:
    """Elements of the shape that all of these make together, broadcast; at least that of any result of multiplying matrices."""
    sizes: list[int] = []
    for tensor in tensors:
        for place, size in enumerate(reversed(tensor.shape)):
            if place == len(sizes):
                sizes.append(size)
            else:
                sizes[place] = max(sizes[place], size)
    return math.prod(sizes)
