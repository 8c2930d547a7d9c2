"""For notebooks that were handed out before November 2026: their check cells import from here."""

from nbproof.checks.check import Check, check

__all__ = ["Check", "check"]
