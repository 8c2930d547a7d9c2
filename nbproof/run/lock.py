"""One run at a time in a course's folder: two would write the same journals and the same gradebook."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from nbproof.sandbox.exceptions import GradingError

__all__ = ["only_run"]


@contextlib.contextmanager
def only_run(root: Path) -> Iterator[None]:
    """Hold the course's lock. It ends with the process, however that ends: no stale lock is ever left.

    Raises GradingError if another run holds it, or if the folder cannot be written.
    """
    path = root / ".course" / "lock"
    try:
        path.parent.mkdir(exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        from nbproof.gradebook.storage_errors import (
            trouble_with_disk,
        )  # which knows databases, and takes long to import

        raise trouble_with_disk(error, root) or GradingError(
            f"no lock can be made: {error.strerror}",
            str(path.absolute()),
            "move away what lies there, then run the same command again",
        ) from None
    try:
        if not _take(descriptor):
            raise GradingError(
                f"another run is grading this course{_holder(descriptor)}", str(root.resolve()),
                "wait until it has ended, then run the same command again",
            )  # fmt: skip
        # Only for the message that another run prints: a full disk must not stop this one here.
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()}, since {datetime.now():%H:%M}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> bool:
    """Whether the lock is ours now. Where the file system knows no locks, it is."""
    try:
        import fcntl
    except ImportError:
        return _take_on_windows(descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN)
    return True


def _take_on_windows(descriptor: int) -> bool:
    import importlib

    msvcrt = importlib.import_module("msvcrt")
    try:
        # Far behind the text, which another process may then still read.
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True


def _holder(descriptor: int) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        told = os.pread(descriptor, 100, 0).decode("ascii").strip()
        if told.isprintable() and told:
            return f" ({told})"
    return ""
