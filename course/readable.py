"""Text that can be written anywhere."""

from __future__ import annotations

__all__ = ["readable"]


def readable(text: str) -> str:
    """Half a surrogate pair, which no file and no front end takes, is escaped."""
    return text.encode("utf-8", "backslashreplace").decode()
