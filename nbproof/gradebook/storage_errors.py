"""Errors of disks and databases, as errors that say what a person can do."""

from __future__ import annotations

import contextlib
import errno
import logging
import re
import shlex
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import InvalidEntry
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, InterfaceError, OperationalError, SQLAlchemyError

from nbproof.command import nbgrader_command, with_extra
from nbproof.errors import CourseError
from nbproof.sandbox.exceptions import GradingError

__all__ = [
    "is_one_files",
    "is_one_submissions",
    "masked",
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
    """The error that stops a run, for an error of the disk; None if it may concern one file only. ``place``: the path that it
    names, if ``error`` has none."""
    fact = _DISK.get(error.errno or 0)
    if fact is None:
        return None
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    cure = "free some space, " if is_full else "let your user write there, "
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
    """Raise an error of the database in this block as a GradingError, and have nbgrader log nothing of it."""
    logger = logging.getLogger("tornado.application")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, InvalidEntry) as error:
        # nbgrader raises InvalidEntry for any error of the database, a full disk too.
        cause = error.__context__ if isinstance(error, InvalidEntry) else error
        if not isinstance(cause, (SQLAlchemyError, sqlite3.Error)):
            raise
        raise _as_grading_error(cause, db_url) from None
    except ModuleNotFoundError as error:
        if error.name not in ("psycopg", "psycopg2"):
            raise
        fact = f"the gradebook's driver is not installed: {error}"
        raise GradingError(fact, masked(db_url), f"{with_extra('postgres')}, {_KEPT}") from None
    finally:
        logger.disabled = before


def is_one_submissions(error: Exception) -> bool:
    """Whether only this submission is refused, such as for a name that is too long, and the database itself is well."""
    if isinstance(error, (InterfaceError, OperationalError)):
        return False
    if isinstance(error, DBAPIError):
        return isinstance(error, IntegrityError) or type(error).__name__ == "DataError"
    return isinstance(error, (UnicodeError, ValueError, LookupError, OverflowError))


_OF_A_SERVER = (
    (
        "password|authentication",
        "the gradebook's server refuses the user or the password: {said}",
        f"mend c.CourseDirectory.db_url in nbgrader_config.py, {_KEPT}",
    ),
    (
        "",
        "the gradebook does not answer: {said}",
        f"see that the server runs, has this database, and c.CourseDirectory.db_url is right, {_KEPT}",
    ),
)
"""Words in the error, what that means, and what to do."""
_OF_A_FILE = (
    ("locked", "another program is using the gradebook", f"close it, {_KEPT}"),
    (
        "readonly|unable to open",
        "the gradebook cannot be written: {said}",
        f"let your user write there, {_KEPT}",
    ),
    ("full", "the disk is full", f"free some space, {_KEPT}"),
    (
        "no such column|no such table|has no column",
        "the gradebook was made by another version of nbgrader: {said}",
        "{upgrade}, in the course's folder; then grade again",
    ),
    (
        "",
        "the gradebook is damaged: {said}",
        "{aside}; then grade again: a new gradebook is filled from what was graded, nothing runs (due dates, extensions, and "
        "marks and comments given by hand stay behind in the broken file)",
    ),
)


def _as_grading_error(error: Exception, db_url: str) -> GradingError:
    """An error of the gradebook's database, with what to do."""
    said = " ".join(str(getattr(error, "orig", None) or error).split())[:200]
    file = str(Path(db_url.removeprefix("sqlite:///")))
    rows: tuple[tuple[str, str, str], ...] = _OF_A_SERVER
    place = masked(db_url)
    if db_url.startswith("sqlite:///"):
        rows = _OF_A_FILE
        place = file
    fact, cure = next((fact, cure) for words, fact, cure in rows if re.search(words, said))
    aside = shlex.join(["mv", "--", file, f"{file}.broken"])
    then = cure.format(aside=aside, upgrade=nbgrader_command("db upgrade"))
    return GradingError(fact.format(said=said), place, then)
