"""Receipts beside a hand-in: when it came, and its secret, as nbgrader's exchange writes them.

A module of its own, because a run asks for them before it imports what takes seconds.
"""

from __future__ import annotations

import contextlib
import os
import re
from datetime import datetime
from pathlib import Path

from nbproof.moments import moment_in
from nbproof.recover.notebook_bytes import Damaged, read_file

__all__ = ["SECRET", "TIME", "secret_in", "time_in", "time_told"]

TIME, SECRET = "timestamp.txt", "submission_secret.txt"


def time_in(path: Path, zone: str) -> datetime | None:
    """When it was handed in, in UTC; None if nothing is said. Raises ValueError if what is said cannot be read for certain.

    ``zone``: nbgrader's exchange, which writes it, may be told to write the time of one.
    """
    try:
        text = read_file(path, 200).decode().strip()
    except Damaged as error:
        if not os.path.lexists(path):
            return None
        raise ValueError(str(error)) from None
    return moment_in(text, home=zone) if text else None


def time_told(path: Path, zone: str) -> datetime | None:
    """What a timestamp says; None for nothing, and for what cannot be read for certain."""
    with contextlib.suppress(ValueError):
        return time_in(path, zone)
    return None


def secret_in(path: Path) -> str:
    """The secret in a file; empty if there is none that could be one."""
    try:
        text = read_file(path, 1_000).decode("ascii")
    except (Damaged, ValueError):
        return ""
    # The exchange's own are 128 hexadecimal digits. Of another one each character counts as well, to the last.
    return text if re.fullmatch(r"[!-~\s]{16,}", text) else ""
