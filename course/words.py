"""For notebooks that were handed out before November 2026: their check cells import from here."""

from nbproof.values.describe import in_words

__all__ = ["in_words"]
