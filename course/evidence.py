"""For notebooks that were handed out before November 2026: their check cells import from here."""

from nbproof.values.evidence import TensorRecord, Unreadable, snapshot

__all__ = ["TensorRecord", "Unreadable", "snapshot"]
