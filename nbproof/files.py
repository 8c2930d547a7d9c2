"""Files that are written whole or not at all, digests of what they hold, and text that can be written anywhere."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["code_parts", "counted", "digest_of", "printable", "readable", "replace_file", "some_of", "written_whole"]


def digest_of(*parts: bytes) -> str:
    """Changes with any part; where one part ends and the next begins matters too."""
    seen = hashlib.sha256()
    for part in parts:
        seen.update(len(part).to_bytes(8, "big") + part)
    return seen.hexdigest()


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A place beside ``path`` to write to, which takes the place of ``path`` when the block ends.

    If the block raises, or the move does, ``path`` stays as it was and nothing is left behind.
    """
    fresh = path.with_name(f"{path.name[:80]}.new")
    try:
        yield fresh
        os.replace(fresh, path)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise


def replace_file(path: Path, data: bytes | str) -> None:
    """Write a file whole or not at all; text as UTF-8, half surrogate pairs escaped. Raises OSError."""
    with written_whole(path) as fresh:
        fresh.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "backslashreplace"))


def readable(text: str) -> str:
    """Half a surrogate pair, which no file and no front end takes, is escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def printable(text: str) -> str:
    """For a terminal, and on one line: text with a control character or half a surrogate pair in it is escaped."""
    return text if text.isprintable() else ascii(text)[1:-1]


def counted(number: int, noun: str) -> str:
    """``1 page``, ``2 pages``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def some_of(names: Sequence[str], most: int, between: str = ", ") -> str:
    """``ada, ben and 3 more``: of many names the first ones."""
    return between.join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def code_parts(text: str) -> list[str]:
    """The text cut at its backticks: every other part is code. One without a partner stays a backtick."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        parts[-2:] = ["`".join(parts[-2:])]
    return parts
