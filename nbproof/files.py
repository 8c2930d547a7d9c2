"""Files that are written whole or not at all, and digests of what they hold; JSON that may be broken."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["digest_of", "read_dict", "replace_file", "written_whole"]


def digest_of(*parts: bytes) -> str:
    """A digest that changes with any part. Where one part ends and the next begins matters too."""
    seen = hashlib.sha256()
    for part in parts:
        seen.update(len(part).to_bytes(8, "big"))
        seen.update(part)  # it may be large: no copy of it is made
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
    whole = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    with written_whole(path) as fresh:
        fresh.write_bytes(whole)


def read_dict(path: Path) -> dict[str, Any]:
    """The dict in a file of JSON; empty if the file cannot be read, or holds anything else."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return kept if isinstance(kept, dict) else {}
