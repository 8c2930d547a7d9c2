"""The gradebook on a real PostgreSQL server: grading, going on, nbgrader's own commands, and what fails in words."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from nbproof.cli.main import main
from nbproof.testing import Rehearsal, scores
from nbproof.testing.small import LESSON, POINTS, RIGHT
from tests.gradebook.postgres_server import PASSWORD, Server, server

psycopg = pytest.importorskip("psycopg", reason="PostgreSQL is NOT tested: the extra [postgres] is not installed")

FULL = sum(POINTS.values())
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    """A server for this module; skipped aloud where none can be started."""
    with server() as started:
        if isinstance(started, str):
            pytest.skip(f"PostgreSQL is NOT tested: {started}")
        yield started


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
