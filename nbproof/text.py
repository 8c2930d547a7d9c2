"""Text that can be written anywhere."""

from __future__ import annotations

__all__ = ["printable", "readable"]


def readable(text: str) -> str:
    """Half a surrogate pair, which no file and no front end takes, is escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def printable(text: str) -> str:
    """For a terminal, and on one line: text with a control character or half a surrogate pair in it is escaped."""
    return text if text.isprintable() else ascii(text)[1:-1]
