"""A pool of plain processes: ``grade --pool processes:4``. Each has an engine of its own, and nothing of the run's.

It is as short as a pool can be, and shows what one on other machines has to do: what travels to a process is the lessons, as
they are taken apart, and hand-ins; what comes back are verdicts.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import Any

from nbproof.errors import UsageError
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint
from nbproof.marking.marker import Marker
from nbproof.marking.results import Verdict
from nbproof.recover.notebook_bytes import HandIn
from nbproof.run.pool import Pool, PoolMaker
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.isolation import Isolation

__all__ = ["pool"]

_markers: list[Marker] = []
"""Of a process of the pool: its one marker."""


def pool(address: str, *, isolation: Isolation, workers: int | None, says: Callable[[str], object]) -> PoolMaker:
    """``address``: how many processes; ``workers``, or as many as there are cores, if it is empty. Raises UsageError."""
    if address and not (address.isdecimal() and int(address)):
        raise UsageError(f"{address!r} is no number of processes", "--pool", "such as: --pool processes:4")
    count = int(address or workers or os.cpu_count() or 1)

    @contextlib.contextmanager
    def made(blueprints: Mapping[str, Blueprint], seed: int, limits: GradingLimits) -> Iterator[Pool]:
        given = {name: getattr(limits, name) for name in limits.traits(config=True)}
        plain = {name: replace(one) for name, one in blueprints.items()}  # without what they have cached
        begin = (_begin, (plain, seed, given, isolation))
        with ProcessPoolExecutor(count, get_context("spawn"), *begin) as executor:

            def submit(one: HandIn) -> Future[Verdict]:
                return executor.submit(_mark, one)

            yield Pool(submit, 2 * count, _alone(begin))

    return made


def _begin(blueprints: Mapping[str, Blueprint], seed: int, given: Mapping[str, Any], isolation: Isolation) -> None:
    """In a process of the pool, once. Its engine ends with it."""
    course = next(iter(blueprints.values())).course
    engine = Engine(course, GradingLimits(**given), isolation).__enter__()
    _markers.append(Marker(engine, blueprints, seed))


def _mark(one: HandIn) -> Verdict:
    return _markers[0].mark(one)


def _alone(begin: Any) -> Any:
    """Marks one in a pool of its own: what ends that has ended nothing else."""

    def mark(one: HandIn) -> Verdict:
        with ProcessPoolExecutor(1, get_context("spawn"), *begin) as executor:
            return executor.submit(_mark, one).result()

    return mark
