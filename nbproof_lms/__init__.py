"""From what an LMS hands over to ``submitted/``: who handed in what, which copy counts, and what became of every file."""

from nbproof_lms.collecting import collect
from nbproof_lms.outcome import Collected

__all__ = ["Collected", "collect"]
