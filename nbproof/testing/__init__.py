"""Tests have a front door: a class, a hand-in, a graded lesson, in one line each. For any course, and for this tool's own tests.

``Classroom`` is a class that hands in and is graded as a whole, ``Desk`` marks one hand-in after another without a gradebook.
"""

from __future__ import annotations

from nbproof.testing.classroom import Classroom, scores
from nbproof.testing.desk import Desk
from nbproof.testing.small import small_course

__all__ = ["Classroom", "Desk", "scores", "small_course"]
