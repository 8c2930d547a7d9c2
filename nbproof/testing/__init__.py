"""Tests have a front door: a class, a hand-in, a graded lesson, in one line each. For any course, and for this tool's own tests.

``Classroom`` (:mod:`nbproof.testing.classroom`) is a class that hands in and is graded as a whole; ``Desk``
(:mod:`nbproof.testing.desk`) marks one hand-in after another without a gradebook.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbproof.testing.classroom import Classroom, scores
    from nbproof.testing.desk import Desk
    from nbproof.testing.small import small_course

__all__ = ["Classroom", "Desk", "scores", "small_course"]

_MODULES = {"Classroom": "classroom", "Desk": "desk", "scores": "classroom", "small_course": "small"}


def __getattr__(name: str) -> Any:
    # What grades is slow to import, and a test of something else is over before it would be there.
    if name in _MODULES:
        return getattr(importlib.import_module(f"nbproof.testing.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
