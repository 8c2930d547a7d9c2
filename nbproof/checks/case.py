"""A test case: one seed, and the inputs that follow from it.

A check draws its inputs by name. Probe and truth run apart, perhaps in two processes, and must
see the same numbers, even if they draw in another order. So the name, not the order, decides.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from nbproof.course_file import Course
from nbproof.values.leaf import Leaves, leaves_of

__all__ = ["Case", "Plan", "seeds_of"]

T = TypeVar("T")
M = TypeVar("M")

_WORDS = (  # noqa: SIM905
    "amber birch cedar coral delta ember fjord grove heron indigo juniper koala lemon maple nectar "
    "onyx pearl quartz raven sable tulip umber violet willow xenon yarrow zephyr"
).split()


def seeds_of(cases: int, base: int) -> list[int]:
    """The seeds of so many test cases of a check. ``base``: that of a run, the same for a whole class."""
    return [base * 1000 + number for number in range(1, cases + 1)]


@dataclass(frozen=True)
class Case:
    """The inputs of one test case. Equal seeds give equal inputs on every machine of one kind."""

    seed: int
    course: Course

    @property
    def leaves(self) -> Leaves:
        """The leaf types of the course, which draw."""
        return leaves_of(self.course)

    def seed_of(self, name: str) -> int:
        """The seed of the input with this name."""
        digest = hashlib.blake2b(f"{self.seed}/{name}".encode(), digest_size=7).digest()
        return int.from_bytes(digest, "big")

    def tensor(
        self, name: str, *shape: int, requires_grad: bool = False, positive: bool = False, dtype: Any = None
    ) -> Any:
        """A new leaf ``torch.Tensor`` of ``shape``, float32 if no dtype is named.

        Magnitudes from 0.5 to 2 (integers: 2 to 8), signs mixed unless ``positive``. No element is near 0, so that products,
        quotients and ratios of sums stay well behaved.
        """
        values = self.leaves.named("torch").drawn(self.seed_of(name), shape, positive, dtype)
        return values.requires_grad_(requires_grad)

    def array(self, name: str, *shape: int, positive: bool = False, dtype: Any = None) -> Any:
        """A new ``numpy.ndarray``, drawn as :meth:`tensor` draws, float64 if no dtype is named."""
        return self.leaves.named("numpy").drawn(self.seed_of(name), shape, positive, dtype)

    def frame(self, name: str, rows: int, /, **columns: Any) -> Any:
        """A new ``pandas.DataFrame``, a column for each name: of ``float``, of ``int`` (2 to 99), or of some of these items."""
        return self.leaves.named("pandas").drawn(self.seed_of(name), (rows,), True, columns)

    def of(self, library: str, name: str, *shape: int, positive: bool = False, dtype: Any = None) -> Any:
        """A new value of another leaf type of the course, drawn by that leaf type."""
        return self.leaves.named(library).drawn(self.seed_of(name), shape, positive, dtype)

    def integer(self, name: str, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``, both included."""
        return random.Random(self.seed_of(name)).randint(low, high)

    def shape(self, name: str, dims: int = 2, low: int = 2, high: int = 6) -> tuple[int, ...]:
        """A shape of ``dims`` different sizes from ``low`` to ``high``: never square, never 1 wide."""
        return tuple(random.Random(self.seed_of(name)).sample(range(low, high + 1), dims))

    def words(self, name: str, count: int) -> list[str]:
        """``count`` different lower-case words, for names that nobody can have typed in."""
        return random.Random(self.seed_of(name)).sample(_WORDS, count)

    def shuffled(self, name: str, items: Sequence[T]) -> list[T]:
        """The items in another order."""
        return random.Random(self.seed_of(name)).sample(list(items), len(items))

    def seeded(self, name: str) -> AbstractContextManager[None]:
        """Within this block the generators of the leaf types start from the case's seed; afterwards they go on as before."""
        return self.leaves.seeded(self.seed_of(name))

    def build(self, name: str, factory: Callable[..., M], *args: object, **kwargs: object) -> M:
        """``factory(*args, **kwargs)`` with seeded initial weights: two calls give two equal, separate models."""
        with self.seeded(name):
            return factory(*args, **kwargs)


@dataclass(frozen=True)
class Plan:
    """Lines of Python that make a value: the same text runs and is printed.

    In them ``_`` is the value: ``_ = [3, 1]``. Two builds are two values that share nothing.
    """

    text: str

    def build(self) -> Any:
        """A new value."""
        names: dict[str, Any] = {"__name__": "drawn"}
        exec(self.text, names)  # noqa: S102 (the course's own text)
        return names["_"]

    def source(self, name: str) -> str:
        """The lines that make the value under this name."""
        return re.sub(r"\b_\b", name, self.text)
