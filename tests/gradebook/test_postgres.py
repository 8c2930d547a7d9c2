"""The gradebook on a real PostgreSQL server: grading, going on, nbgrader's own commands, and what fails in words."""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from nbproof.testing import Rehearsal, scores
from nbproof.testing.small import LESSON, POINTS, RIGHT
from tests import main

psycopg = pytest.importorskip("psycopg", reason="PostgreSQL is NOT tested: the extra [postgres] is not installed")

PASSWORD = "s3cret-of-the-teacher"
_NOBODY = 65534
FULL = sum(POINTS.values())
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Server:
    """Listens on this machine; its superuser is ``teacher``."""

    port: int

    def url(self, database: str, password: str = PASSWORD) -> str:
        """As in nbgrader_config.py."""
        return f"postgresql://teacher:{password}@127.0.0.1:{self.port}/{database}"


def _programs() -> Path:
    """The folder of initdb and pg_ctl."""
    found = [*Path("/usr/lib/postgresql").glob("*/bin"), Path(shutil.which("initdb") or "").resolve().parent]
    spec = find_spec("pgserver")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        found.append(Path(folder, "pginstall", "bin"))
    there = [folder for folder in found if (folder / "initdb").exists() and (folder / "pg_ctl").exists()]
    return there[0] if there else pytest.skip("PostgreSQL is NOT tested: no initdb here, and no package pgserver")


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    """A server for this module; skipped aloud where none can be started. Never as root, which PostgreSQL refuses."""
    programs, folder = _programs(), Path(tempfile.mkdtemp(prefix="postgres-"))
    other: dict[str, Any] = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    secret = folder / "password"
    secret.write_text(PASSWORD)
    for path in (folder, secret) if other else ():
        os.chown(path, _NOBODY, _NOBODY)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    initdb = ["initdb", "-U", "teacher", "--pwfile", secret, "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "-N"]
    start = ["pg_ctl", "-l", folder / "log", "-w", "-o", f"-p {port} -k {folder} -h 127.0.0.1 -F", "start"]
    stop = ["pg_ctl", "-m", "immediate", "stop"]

    def run(name: str, *options: str | Path) -> subprocess.CompletedProcess[str]:
        told = folder / "told"  # no pipe: the server would keep it open
        with told.open("w") as file:
            words = [programs / name, "-D", folder / "data", *options]
            done = subprocess.run(words, stdout=file, stderr=file, cwd=folder, check=False, **other)
        return subprocess.CompletedProcess(words, done.returncode, told.read_text())

    try:
        for words in (initdb, start):
            if (done := run(*words)).returncode:
                pytest.skip(f"PostgreSQL is NOT tested: {words[0]} fails: {done.stdout[-300:]}")
        yield Server(port)
    finally:
        run(*stop)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def db_url(postgres: Server) -> str:
    """A fresh database."""
    name = f"gradebook{next(_numbers)}"
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgres.url(name)


def _configure(course: Path, db_url: str) -> None:
    (course / "gradebook.db").unlink(missing_ok=True)
    with (course / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc.CourseDirectory.db_url = {db_url!r}\nc.GradingLimits.submission_seconds = 120.0\n")


def _marks(db_url: str) -> dict[str, float]:
    """Learner -> marks of the autograder, read without nbgrader."""
    query = """
        SELECT a.student_id, sum(g.auto_score) FROM grade g
        JOIN submitted_notebook n ON g.notebook_id = n.id JOIN submitted_assignment a ON n.assignment_id = a.id
        GROUP BY a.student_id
    """
    with psycopg.connect(db_url) as connection:
        return {learner: float(marks or 0) for learner, marks in connection.execute(query).fetchall()}


def test_a_class_is_graded_resumed_and_keeps_a_persons_mark(room: Rehearsal, db_url: str) -> None:
    _configure(room.root, db_url)
    room.hand_in_all({"ada": RIGHT, "zoë": {"first": RIGHT["first"]}})
    graded = room.grade()
    assert _marks(db_url) == {"ada": FULL, "zoë": POINTS["first"]}
    assert PASSWORD not in graded.gradebook
    assert not (room.root / "gradebook.db").exists()
    # A run that was cut off after the journal and before the gradebook: the marks are written, nothing runs again.
    with psycopg.connect(db_url) as connection:
        connection.execute("UPDATE grade SET auto_score = NULL")
    with Gradebook(db_url) as book:
        book.find_grade("test_second", LESSON, LESSON, "zoë").manual_score = 0.5
        book.db.commit()
    again = room.grade()
    assert again.graded == ()
    assert _marks(db_url) == {"ada": FULL, "zoë": POINTS["first"]}
    assert scores(again) == {"ada": FULL, "zoë": POINTS["first"] + 0.5}


@pytest.mark.parametrize(
    ("broken", "says", "then"),
    [
        (lambda there: there.url("postgres", "wrong-pa55word"), "password", "db_url"),
        (lambda there: there.url("nowhere"), "does not exist", "has this database"),
        (lambda there: Server(1).url("postgres"), "refused", "server runs"),
        (lambda there: there.url("postgres").replace("postgresql", "postgres+"), "gradebook", "db_url"),
    ],
    ids=["wrong password", "no such database", "unreachable", "no such driver"],
)
def test_what_fails_is_said_without_the_password(
    course: Path, hand_in: Callable[..., Path], postgres: Server, capsys: pytest.CaptureFixture[str],
    broken: Callable[[Server], str], says: str, then: str,
) -> None:  # fmt: skip
    _configure(course, broken(postgres))
    hand_in("ada", RIGHT)
    assert main(["grade", "--course", str(course), "--no-feedback"]) == 1
    told = capsys.readouterr()
    assert says in told.err
    assert then in told.err
    assert "Traceback" not in told.err
    assert "at:" in told.err
    for secret in (PASSWORD, "wrong-pa55word"):
        assert secret not in told.err + told.out
