"""Work that may end whatever does it, in a fresh process: the caller lives on, and learns of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

__all__ = ["in_a_process_of_its_own"]

_T = TypeVar("_T")


def in_a_process_of_its_own(work: Callable[[], _T]) -> _T:
    """What ``work``, which can be pickled, returns or raises. Raises BrokenProcessPool if its process ends."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other:
        return other.submit(_first_to_go, work).result()


def _first_to_go(work: Callable[[], _T]) -> _T:
    with contextlib.suppress(OSError):
        # Should memory run out on the machine, this process goes first.
        Path("/proc/self/oom_score_adj").write_text("1000")
    return work()
