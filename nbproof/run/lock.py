"""One run at a time in a course's folder: two would write the same journals and the same gradebook."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from nbproof.sandbox.exceptions import GradingError

__all__ = ["only_run"]


@contextlib.contextmanager
def only_run(root: Path) -> Iterator[None]:
    """Hold the course's lock. It ends with the process, however that ends: no stale lock is ever left.

    Raises GradingError if another run holds it, or if the folder cannot be written.
    """
    path = root / ".course" / "lock"
    lock = FileLock(path, timeout=0, mode=0o666)
    try:
        path.parent.mkdir(exist_ok=True)
        lock.acquire()
    except Timeout:
        raise GradingError(
            "another run is grading this course",
            str(root.resolve()),
            "wait until it has ended, then run the same command again",
        ) from None
    except OSError as error:
        # It knows databases, and takes long to import.
        from nbproof.gradebook.storage_errors import trouble_with_disk

        raise trouble_with_disk(error, root) or GradingError(
            f"no lock can be made: {error.strerror}",
            str(path.absolute()),
            "move away what lies there, then run the same command again",
        ) from None
    try:
        yield
    finally:
        lock.release()
