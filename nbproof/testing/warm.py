"""An engine that is warm already, for many runs: starting one takes seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint
from nbproof.marking.marker import Marker
from nbproof.marking.results import Verdict
from nbproof.recover.notebook_bytes import HandIn
from nbproof.run.pool import Pool, PoolMaker
from nbproof.sandbox.engine import Engine

__all__ = ["Mark", "shared_pool"]

Mark = Callable[[HandIn], Verdict]


def shared_pool(
    engine: Engine, wrap: Callable[[Mark], Mark] = lambda mark: mark, threads: int = 1, alone: Mark | None = None
) -> PoolMaker:
    """For ``grade_class(pool=...)``: an engine that is warm already, for starting one takes seconds. ``wrap``: what marks is
    put into it.
    """

    @contextmanager
    def make(blueprints: Mapping[str, Blueprint], seed: int, limits: GradingLimits) -> Iterator[Pool]:
        mark = wrap(Marker(engine, blueprints, seed).mark)
        with ThreadPoolExecutor(threads) as executor:
            yield Pool(lambda one: executor.submit(mark, one), threads, alone or mark)

    return make
