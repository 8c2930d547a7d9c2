"""Read the receipts beside a hand-in: the time when it came, and its secret, as nbgrader's exchange writes them.

This is a module of its own, because a run reads them before it imports modules that take seconds.
"""

from __future__ import annotations

import contextlib
import os
import re
from datetime import datetime
from pathlib import Path

from nbproof.moments import moment_in
from nbproof.recover.notebook_bytes import Damaged, read_file

__all__ = ["LATE", "SECRET", "TIME", "readable_time_in", "secret_in", "time_in"]

TIME, SECRET = "timestamp.txt", "submission_secret.txt"
LATE = ".late"
"""The file beside a copy that a run has put aside, if an LMS calls it late and does not say when it came."""


def time_in(path: Path, zone: str) -> datetime | None:
    """The time in a file, in UTC; None if there is no file, or it is empty. Raises ValueError if it cannot be read for certain.

    ``zone``: that of a time without one: nbgrader's exchange may be set to write such a time.
    """
    try:
        text = read_file(path, 200).decode().strip()
    except Damaged as error:
        if not os.path.lexists(path):
            return None
        raise ValueError(str(error)) from None
    return moment_in(text, home=zone) if text else None


def readable_time_in(path: Path, zone: str) -> datetime | None:
    """As :func:`time_in`, but None also for a time that cannot be read for certain."""
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
