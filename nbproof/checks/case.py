"""A test case: one seed, and the inputs that follow from it.

A check draws its inputs by name. Probe and truth run apart, perhaps in two processes, and must
see the same numbers, whatever each draws first: so the name, not the order, decides.
"""

from __future__ import annotations

import copy
import hashlib
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import torch

__all__ = ["Case"]

T = TypeVar("T")
M = TypeVar("M", bound=torch.nn.Module)

_WORDS = (  # noqa: SIM905
    "amber birch cedar coral delta ember fjord grove heron indigo juniper koala lemon maple nectar "
    "onyx pearl quartz raven sable tulip umber violet willow xenon yarrow zephyr"
).split()


@dataclass(frozen=True)
class Case:
    """The inputs of one test case. Equal seeds give equal inputs on every machine of one kind."""

    seed: int

    def _derived(self, name: str) -> int:
        digest = hashlib.blake2b(f"{self.seed}/{name}".encode(), digest_size=7).digest()
        return int.from_bytes(digest, "big")

    def tensor(
        self,
        name: str,
        *shape: int,
        requires_grad: bool = False,
        positive: bool = False,
        dtype: torch.dtype = torch.float32,
    ) -> torch.Tensor:
        """A new leaf tensor of ``shape``: magnitudes from 0.5 to 2 (integers: 2 to 8), signs mixed unless ``positive``.

        No element is near 0, so that products, quotients and ratios of sums stay well behaved.
        """
        generator = torch.Generator().manual_seed(self._derived(name))
        values = torch.rand(shape, generator=generator, dtype=torch.float64) * 1.5 + 0.5
        if not (dtype.is_floating_point or dtype.is_complex):
            values = (values * 4).round()
        if not positive and dtype.is_signed:
            signs = torch.randint(0, 2, shape, generator=generator) * 2 - 1
            values = values * signs
        return values.to(dtype).requires_grad_(requires_grad)

    def integer(self, name: str, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``, both included."""
        return random.Random(self._derived(name)).randint(low, high)

    def shape(self, name: str, dims: int = 2, low: int = 2, high: int = 6) -> tuple[int, ...]:
        """A shape of ``dims`` different sizes from ``low`` to ``high``: never square, never 1 wide."""
        return tuple(random.Random(self._derived(name)).sample(range(low, high + 1), dims))

    def words(self, name: str, count: int) -> list[str]:
        """``count`` different lower-case words, for names that nobody can have typed in."""
        return random.Random(self._derived(name)).sample(_WORDS, count)

    def shuffled(self, name: str, items: Sequence[T]) -> list[T]:
        """The items in another order."""
        return random.Random(self._derived(name)).sample(list(items), len(items))

    @contextmanager
    def seeded(self, name: str) -> Iterator[None]:
        """Within this block torch's global generator starts from the case's seed; restored afterwards."""
        with torch.random.fork_rng(devices=[]):
            # The CPU's generator alone: torch.manual_seed also formats a stack for every kind of GPU that may yet come.
            torch.default_generator.manual_seed(self._derived(name))
            yield

    def build(self, name: str, factory: Callable[..., M], *args: object, **kwargs: object) -> M:
        """``factory(*args, **kwargs)`` with seeded initial weights: two calls give two equal, separate models."""
        plain = all(isinstance(one, (str, int, float, type(None))) for one in (*args, *kwargs.values()))
        key = (self.seed, name, factory, args, tuple(sorted(kwargs.items()))) if plain else ()
        kept = _large.get(key)
        if kept is not None:
            return copy.deepcopy(kept)  # type: ignore[return-value]
        with self.seeded(name):
            model = factory(*args, **kwargs)
        if plain and sum(parameter.numel() for parameter in model.parameters()) > _WORTH_KEEPING:
            # Drawing eleven million weights takes ten times as long as copying them.
            _large.clear()
            _large[key] = copy.deepcopy(model)
        return model


_WORTH_KEEPING = 1_000_000
_large: dict[tuple[object, ...], torch.nn.Module] = {}
"""The large model that was built last, for the truth and the mistakes that want it again."""
