"""From what an LMS hands over to ``submitted/``: who handed in what, which copy counts, and what became of every file."""

from course.collecting.gathering import collect
from course.collecting.outcome import Collected

__all__ = ["Collected", "collect"]
