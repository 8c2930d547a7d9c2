"""What disks and databases say when they fail, as errors that a person can mend."""

from __future__ import annotations

import contextlib
import errno
import logging
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, InterfaceError, OperationalError, SQLAlchemyError

from nbproof.command import nbgrader_command, with_extra
from nbproof.errors import CourseError
from nbproof.sandbox.exceptions import GradingError

__all__ = [
    "is_busy",
    "is_one_files",
    "is_one_submissions",
    "masked",
    "not_logged",
    "trouble_with_disk",
    "trouble_with_gradebook",
]

_DISK = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your disk quota is used up",
    errno.EROFS: "this is on a disk that can only be read",
    errno.EACCES: "this cannot be written",
    errno.EPERM: "this cannot be written",
    errno.EIO: "the disk fails",
}
_KEPT = "then run the same command again: what was graded is kept, and not graded again"


def trouble_with_disk(error: OSError, place: Path) -> CourseError | None:
    """The error that stops a run, in words; None if it is the trouble of one file only."""
    fact = _DISK.get(error.errno or 0)
    if fact is None:
        return None
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    cure = "free some space, " if full else "let your user write there, "
    return GradingError(fact, str(error.filename or place.resolve()), cure + _KEPT)


def is_one_files(error: OSError) -> bool:
    """Whether it concerns the one file that was to be written, and the others may be well."""
    return error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


def masked(db_url: str) -> str:
    """A gradebook's address without its password."""
    try:
        return make_url(db_url).render_as_string(hide_password=True)
    except ArgumentError:
        return db_url.split("@")[-1]


@contextlib.contextmanager
def trouble_with_gradebook(db_url: str) -> Iterator[None]:
    """Whatever the database raises in this block comes out as a GradingError, and nbgrader logs nothing of it."""
    try:
        with not_logged():
            yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise _told(error, db_url) from None
    except ModuleNotFoundError as error:
        if error.name not in ("psycopg", "psycopg2"):
            raise
        raise GradingError(
            f"the gradebook's driver is not installed: {error}", masked(db_url),
            f"{with_extra('postgres')}, {_KEPT}",
        ) from None  # fmt: skip


@contextlib.contextmanager
def not_logged() -> Iterator[None]:
    """nbgrader logs what it raises, with a traceback to the terminal; what is raised is told in words."""
    logger = logging.getLogger("tornado.application")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before


def is_one_submissions(error: Exception) -> bool:
    """Whether the database refuses what one submission brings, such as a name that is too long, and is well itself."""
    if isinstance(error, (InterfaceError, OperationalError)):
        return False
    if isinstance(error, DBAPIError):
        return isinstance(error, IntegrityError) or type(error).__name__ == "DataError"
    return isinstance(error, (UnicodeError, ValueError, LookupError, OverflowError))


def is_busy(error: Exception) -> bool:
    """Whether another program holds the gradebook just now."""
    return isinstance(error, OperationalError) and "locked" in str(error.orig)


def _createdb(db_url: str) -> str:
    url = make_url(db_url)
    return f"createdb -h {url.host or 'localhost'} -p {url.port or 5432} -U {url.username or 'USER'} {url.database}"


def _told(error: Exception, db_url: str) -> GradingError:
    said = " ".join(str(getattr(error, "orig", None) or error).split())[:200]
    place = masked(db_url)
    file = Path(db_url.removeprefix("sqlite:///")) if db_url.startswith("sqlite:///") else None
    if file is None:
        if "password" in said or "authentication" in said:
            return GradingError(
                f"the gradebook's server refuses the user or the password: {said}", place,
                "mend c.CourseDirectory.db_url in nbgrader_config.py, " + _KEPT,
            )  # fmt: skip
        if "does not exist" in said and isinstance(error, OperationalError):
            return GradingError(f"the gradebook's database is missing: {said}", place, f"{_createdb(db_url)}, {_KEPT}")
        return GradingError(
            f"the gradebook does not answer: {said}", place,
            "see that the server runs and c.CourseDirectory.db_url is right, " + _KEPT,
        )  # fmt: skip
    aside = f"mv {file} {file}.broken; then grade again: a new gradebook is filled from what was graded, nothing runs"
    if file.is_dir():
        return GradingError("there is a folder in the gradebook's place", str(file), aside)
    if "locked" in said:
        return GradingError("another program is using the gradebook", str(file), f"close it, {_KEPT}")
    if "readonly" in said or "unable to open" in said:
        return GradingError(
            f"the gradebook cannot be written: {said}", str(file), "let your user write there, " + _KEPT
        )
    if "full" in said:
        return GradingError("the disk is full", str(file), "free some space, " + _KEPT)
    if "no such column" in said or "no such table" in said or "has no column" in said:
        return GradingError(
            f"the gradebook was made by another version of nbgrader: {said}", str(file),
            f"{nbgrader_command('db upgrade')}, in the course's folder; then grade again",
        )  # fmt: skip
    return GradingError(
        f"the gradebook is damaged: {said}", str(file),
        aside + " (marks and comments given by hand are in the broken file only)",
    )  # fmt: skip
