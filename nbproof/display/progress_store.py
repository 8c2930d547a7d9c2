"""What was tried and solved, in one small file on the learner's own disk. It is never sent anywhere.

The file is an SQLite database, so that two notebooks may write at one time; it lies where the system
keeps a user's data, or where the environment variable COURSE_PROGRESS says. Whatever is wrong with
it (a full disk, a folder that is read-only) costs a learner the overview and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nbproof.course_file import the_course

__all__ = ["DiaryError", "StoredTry", "diary_path", "entries", "forget", "note"]


class DiaryError(Exception):
    """The file cannot be read or written; the text says why and where."""


@dataclass(frozen=True)
class StoredTry:
    """One exercise: how often it was checked, when first and last, and when it was solved (seconds since 1970)."""

    exercise: str
    tries: int
    first: float
    last: float
    solved: float | None


def diary_path() -> Path:
    """Where the file lies."""
    chosen = os.environ.get("COURSE_PROGRESS")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return platformdirs.user_data_path(the_course().name, appauthor=False) / "progress.db"


_TABLES = """
CREATE TABLE IF NOT EXISTS exercise (id TEXT PRIMARY KEY, tries INTEGER NOT NULL, first REAL, last REAL, solved REAL);
CREATE TABLE IF NOT EXISTS cell (exercise TEXT, checks TEXT, passed INTEGER NOT NULL, PRIMARY KEY (exercise, checks));
"""


@contextlib.contextmanager
def _opened() -> Iterator[sqlite3.Connection]:
    path = diary_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(path, timeout=2)) as connection, connection:
            connection.executescript(_TABLES)
            yield connection
    except (OSError, sqlite3.Error) as error:
        raise DiaryError(f"{path} cannot be used: {error}") from None


def note(exercise: str, passed: Mapping[str, bool], cells: Sequence[Sequence[str]]) -> bool:
    """Write down one run of a test cell: which of its checks passed. ``cells``: the checks of each test cell.

    An exercise is solved once every cell's checks have passed together, and stays so; returns whether it is. Raises
    DiaryError.
    """
    key, now = ",".join(passed), time.time()
    with _opened() as connection:
        connection.execute(
            "INSERT INTO exercise VALUES (?, 1, ?, ?, NULL) ON CONFLICT (id) DO UPDATE SET tries = tries + 1, last = ?",
            (exercise, now, now, now),
        )
        connection.execute(
            "INSERT INTO cell VALUES (?, ?, ?) ON CONFLICT (exercise, checks) DO UPDATE SET passed = excluded.passed",
            (exercise, key, int(all(passed.values()))),
        )
        whole = {
            row[0] for row in connection.execute("SELECT checks FROM cell WHERE exercise = ? AND passed", (exercise,))
        }
        if {",".join(cell) for cell in cells} <= whole:
            connection.execute("UPDATE exercise SET solved = ? WHERE id = ? AND solved IS NULL", (now, exercise))
        (solved,) = connection.execute("SELECT solved FROM exercise WHERE id = ?", (exercise,)).fetchone()
        return solved is not None


def entries() -> dict[str, StoredTry]:
    """Every exercise that was tried, by id. Raises DiaryError."""
    with contextlib.suppress(OSError):
        if not diary_path().exists():
            return {}
    with _opened() as connection:
        rows = connection.execute("SELECT id, tries, first, last, solved FROM exercise").fetchall()
    return {row[0]: StoredTry(*row) for row in rows}


def forget() -> bool:
    """Start afresh: delete the file. False if there was none. Raises DiaryError."""
    path = diary_path()
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise DiaryError(f"{path} cannot be removed: {error}") from None
    return True
