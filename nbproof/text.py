"""Text that can be written anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from unicodedata import category

__all__ = ["code_parts", "counted", "duration", "head_of", "in_one_line", "in_utc", "printable", "readable", "some_of"]


def readable(text: str) -> str:
    """The text with half surrogate pairs escaped: no file and no front end takes these."""
    return text.encode("utf-8", "backslashreplace").decode()


def printable(text: str) -> str:
    """The text on one line, for a terminal: signs that a terminal obeys, and half surrogate pairs, are escaped."""
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(sign: str) -> str:
    return sign if sign.isprintable() or category(sign) == "Zs" else ascii(sign)[1:-1]


def head_of(value: object, most: int) -> str:
    """The first ``most`` characters of a text; empty for what is no text."""
    return value[:most] if isinstance(value, str) else ""


def in_one_line(said: object) -> str:
    """The beginning of what an error of others says, to be put into a sentence."""
    return printable(" ".join(str(said).split())[:200])


def in_utc(moment: datetime) -> str:
    """``2026-11-30 23:59 UTC``, of a moment that is in UTC, whether it says so or not."""
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def counted(number: int, noun: str) -> str:
    """``1 page``, ``2 pages``."""
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"


def duration(seconds: float) -> str:
    """``1 d 10 h``: the two largest units."""
    minutes = int(seconds // 60)
    parts = [(minutes // 1440, "d"), (minutes // 60 % 24, "h"), (minutes % 60, "min")]
    return " ".join([f"{count} {unit}" for count, unit in parts if count][:2]) or f"{seconds:.0f} s"


def some_of(names: Sequence[str], most: int) -> str:
    """``ada, ben and 3 more``: of many names the first ones."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def code_parts(text: str) -> list[str]:
    """The text cut at its backticks: every other part is code. One without a partner stays a backtick."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        parts[-2:] = ["`".join(parts[-2:])]
    return parts
