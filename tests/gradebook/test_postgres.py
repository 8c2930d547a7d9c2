"""The gradebook on a real PostgreSQL server: grading, going on, nbgrader's own commands, and what fails in words."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from nbproof.testing import Rehearsal, scores
from nbproof.testing.small import LESSON, POINTS, RIGHT
from tests import ROOT, main, needs_isolation, python

psycopg = pytest.importorskip("psycopg", reason="PostgreSQL is NOT tested: the extra [postgres] is not installed")

PASSWORD = "s3cret-of-the-teacher"
_NOBODY = 65534
FULL = sum(POINTS.values())
_FORMGRADER = """
import itertools, json, select, sys
from nbgrader.api import Gradebook

url, lesson, name, *learners = sys.argv[1:]
book, given = Gradebook(url), {}
for number, learner in enumerate(itertools.cycle(learners)):
    if number == len(learners):
        print("all have a mark", flush=True)
    if select.select([sys.stdin], [], [], 0)[0]:
        break
    grade = book.find_grade(f"test_{name}", lesson, lesson, learner)
    comment = book.find_comment(name, lesson, lesson, learner)
    found = [grade.manual_score, comment.manual_comment]
    if found != given.get(learner, found):
        sys.exit(f"{learner} has {found} in place of {given[learner]}")
    given[learner] = [number % 100 / 100, f"the {number}th look at {name}"]
    grade.manual_score, grade.needs_manual_grade = given[learner][0], False
    if name == "first":
        book.db.commit()
    comment.manual_comment = given[learner][1]
    book.db.commit()
    grade.to_dict(), comment.to_dict()  # which open the next transaction
print(json.dumps(given))
"""
"""Gives marks in one session that stays open, and looks each time whether what it gave is still there. Of the first exercise it
does so as formgrader, which commits mark and comment one after the other; of others both together, as a script may."""
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


@pytest.mark.nightly
@needs_isolation
def test_of_two_people_and_a_run_that_write_at_the_same_time_nobody_loses_anything(
    room: Rehearsal, db_url: str
) -> None:
    _configure(room.root, db_url.replace("postgresql", "postgresql+psycopg", 1))
    marked, late = [f"ada{number}" for number in range(12)], [f"zoë{number}" for number in range(4)]
    room.hand_in_all(dict.fromkeys(marked, RIGHT))
    room.grade()
    room.hand_in_all({learner: {"first": RIGHT["first"]} for learner in [*marked, *late]})
    with _formgrader(db_url, "first", marked) as one, _formgrader(db_url, "second", marked) as other:
        before = _given(db_url)
        done = python(ROOT, "-m", "course", "grade", "--no-feedback", "--course", str(room.root))
        assert done.returncode == 0, done.stdout + done.stderr
        assert all(before[who] != now for who, now in _given(db_url).items())
    assert _given(db_url) == {**one, **other}
    assert _marks(db_url) == dict.fromkeys([*marked, *late], POINTS["first"])


@contextlib.contextmanager
def _formgrader(db_url: str, name: str, learners: Sequence[str]) -> Iterator[dict[tuple[str, str], list[object]]]:
    """Somebody marks and comments one exercise of these learners over and over; at the end there is what they gave last."""
    given: dict[tuple[str, str], list[object]] = {}
    command = [sys.executable, "-W", "ignore", "-c", _FORMGRADER, db_url, LESSON, name, *learners]
    with subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "all have a mark\n"
        yield given
        told, _ = process.communicate("enough\n")
    assert process.returncode == 0
    given.update({(who, name): marks for who, marks in json.loads(told).items()})


def _given(db_url: str) -> dict[tuple[str, str], list[object]]:
    """(learner, exercise) -> the mark and the comment that a person gave, read without nbgrader."""
    query = """
        SELECT a.student_id, asked.name, g.manual_score, c.manual_comment FROM grade g
        JOIN base_cell test ON test.id = g.cell_id
        JOIN comment c ON c.notebook_id = g.notebook_id JOIN base_cell asked ON asked.id = c.cell_id
        JOIN submitted_notebook n ON g.notebook_id = n.id JOIN submitted_assignment a ON n.assignment_id = a.id
        WHERE g.manual_score IS NOT NULL AND test.name = 'test_' || asked.name
    """
    with psycopg.connect(db_url) as connection:
        return {(who, name): given for who, name, *given in connection.execute(query).fetchall()}


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
