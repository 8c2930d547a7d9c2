"""Tests have a front door: a class, a hand-in, a graded lesson, in one line each. For any course, and for this tool's own tests.

``Rehearsal`` (:mod:`nbproof.testing.rehearsal`) is a class that hands in and is graded as a whole; ``Bench``
(:mod:`nbproof.testing.bench`) marks one hand-in after another without a gradebook.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbproof.testing.bench import Bench
    from nbproof.testing.rehearsal import Rehearsal, scores
    from nbproof.testing.small import small_course

__all__ = ["Bench", "Rehearsal", "scores", "small_course"]

_MODULES = {"Rehearsal": "rehearsal", "Bench": "bench", "scores": "rehearsal", "small_course": "small"}


def __getattr__(name: str) -> Any:
    # What grades is slow to import, and a test of something else is over before it would be there.
    if name in _MODULES:
        return getattr(importlib.import_module(f"nbproof.testing.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
