"""From what an LMS hands over to ``submitted/``: who handed in what, which copy counts, and what became of every file."""

from nbproof.collect.gathering import collect
from nbproof.collect.outcome import Collected

__all__ = ["Collected", "collect"]
