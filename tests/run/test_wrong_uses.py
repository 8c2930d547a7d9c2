"""A gradebook, a folder or a disk that is not as it should be: fact, place, next command; nothing half-written."""

from __future__ import annotations

import errno
import io
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import InvalidEntry
from rich.console import Console
from sqlalchemy.exc import OperationalError

from nbproof.cli.class_table import RunReport, print_problems
from nbproof.errors import CourseError, UsageError
from nbproof.gradebook.storage_errors import trouble_with_gradebook
from nbproof.key import Key
from nbproof.marking.results import Verdict
from nbproof.recover.notebook_bytes import HandIn
from nbproof.run.batch import grade_class
from nbproof.run.intake import Intake, take_in
from nbproof.run.journal import only_run
from nbproof.sandbox.engine import Engine
from nbproof.testing import Rehearsal, scores
from nbproof.testing.small import LESSON, RIGHT
from tests import COURSE, main
from tests.warm import Mark, shared_pool

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('of_lesson = {"6_capstones": {"memory_mb": 4096}}', "limits for 6_capstones, which is no lesson here"),
        ("of_lesson = 7", "the grading limits cannot be used: .*'of_lesson' .* not the int 7"),
        ('memory_mb = "much"', "the grading limits cannot be used: .*'memory_mb'"),
    ],
)
def test_limits_that_are_none_are_named(room: Rehearsal, line: str, told: str) -> None:
    with (room.root / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc.GradingLimits.{line}\n")
    with pytest.raises(UsageError, match=told):
        room.grade()


def test_the_line_of_the_settings_that_raises_is_named(room: Rehearsal) -> None:
    settings = room.root / "nbgrader_config.py"
    settings.write_text("c = get_config()\n\nc.Mark.pool = local\n")
    with pytest.raises(UsageError, match="name 'local' is not defined") as told:
        room.grade()
    assert told.value.place == f"{settings}, line 3"


def test_who_may_only_read_a_course_gets_a_report_elsewhere(
    room: Rehearsal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    room.hand_in("ada", RIGHT)
    room.grade()

    def refused(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "run.json.new")

    monkeypatch.setattr("nbproof.run.journal.replace_file", refused)
    assert main(["report", "--course", str(room.root), "--out", str(room.root / "mine")]) == 1
    assert "error: this cannot be written\n  at:   run.json.new\n" in capsys.readouterr().err
    assert (room.root / "mine" / "index.html").exists()


def test_one_run_at_a_time_and_no_stale_lock(tmp_path: Path) -> None:
    code = "import sys\nfrom pathlib import Path\nfrom nbproof.run.journal import only_run\n"
    code += "with only_run(Path(sys.argv[1])): print('mine', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"mine\n"
        with pytest.raises(CourseError, match="another run is grading this course"), only_run(tmp_path):
            pass
        other.kill()
    with only_run(tmp_path):
        pass


@pytest.mark.parametrize(("call", "name"), [("open", "k.txt"), ("scandir", "images")])
def test_what_the_grader_may_not_read_beside_a_notebook_costs_nobody_marks(
    room: Rehearsal, monkeypatch: pytest.MonkeyPatch, call: str, name: str
) -> None:
    """Root may read everything, so the system says no by another mouth."""
    room.hand_in("ada", RIGHT)
    beside = room.submitted("ada").with_name(name)
    if call == "scandir":
        (beside / "in").mkdir(parents=True)
    else:
        beside.write_text("1")
    allowed = getattr(os, call)

    def asked(path: Any, *rest: Any, **how: Any) -> Any:
        if str(path) == str(beside):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return allowed(path, *rest, **how)

    reads = os.access
    monkeypatch.setattr(os, call, asked)
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != str(beside) and reads(path, mode))
    graded = room.grade()
    (mark,) = graded.marks.values()
    assert mark.problem.startswith(name) and mark.problem.endswith("Permission denied")
    console = Console(file=io.StringIO(), width=200)
    print_problems(console, RunReport(graded, 0.0, root=room.root))
    assert f"chmod -R u+rX {beside.parent}; then grade again" in console.file.getvalue()
    monkeypatch.setattr(os, call, allowed)
    monkeypatch.setattr(os, "access", reads)
    assert scores(room.grade()) == {"ada": 4}


def test_nobody_is_told_to_open_what_is_closed_to_nobody(room: Rehearsal) -> None:
    room.hand_in("ada", RIGHT)
    room.submitted("ada").write_text("no notebook")
    room.submitted("ada").with_name("gone.csv").symlink_to("nowhere")
    (room.root / "submitted" / "bo").mkdir()
    (room.root / "submitted" / "bo" / room.lesson).write_text("a file in the folder's place")
    console = Console(file=io.StringIO(), width=200)
    print_problems(console, RunReport(room.grade(), 0.0, root=room.root))
    assert "not graded: submitted/ada" in console.file.getvalue() and "chmod" not in console.file.getvalue()


def test_a_data_file_that_is_too_large_is_said_to_be_left_out(room: Rehearsal) -> None:
    room.hand_in("ada", RIGHT)
    with room.submitted("ada").with_name("k.bin").open("wb") as file:
        file.truncate(17 << 20)
    (mark,) = room.grade().marks.values()
    assert "left out of what lies beside it: k.bin has 17 MB, more than 16 MB" in mark.verdict.damage


def _half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20_000])


def _old(path: Path) -> None:
    with sqlite3.connect(path) as book:
        book.execute("ALTER TABLE grade DROP COLUMN extra_credit")
        book.execute("DELETE FROM alembic_version")
    book.close()


def _garbled(path: Path) -> None:
    path.write_bytes(b"no database " * 1_000)


@pytest.mark.parametrize(
    ("harm", "fact", "next_command"),
    [
        (_half, "the gradebook is damaged", "mv "),
        (
            _garbled,
            "the gradebook is damaged",
            "due dates, extensions, and marks and comments given by hand stay behind",
        ),
        (_old, "another version of nbgrader", "nbgrader db upgrade, in the course's folder"),
    ],
    ids=["half", "garbled", "old"],
)
def test_a_gradebook_that_is_none_is_told(
    room: Rehearsal, harm: Callable[[Path], None], fact: str, next_command: str
) -> None:
    room.hand_in("ada", RIGHT)
    harm(room.root / "gradebook.db")
    with pytest.raises(CourseError) as told:
        room.grade()
    assert fact in told.value.fact
    assert told.value.place == str(room.root / "gradebook.db")
    assert next_command in told.value.next_command
    # nbgrader's own word for any error of the database.
    with pytest.raises(CourseError, match="the disk is full"), trouble_with_gradebook("sqlite:///gradebook.db"):
        try:
            raise OperationalError("", None, sqlite3.OperationalError("database or disk is full"))
        except OperationalError as error:
            raise InvalidEntry(str(error))  # noqa: B904 as nbgrader raises it
    odd = room.root / 'it\'s a "course"'
    with pytest.raises(CourseError) as told, trouble_with_gradebook(f"sqlite:///{odd}/gradebook.db"):
        raise sqlite3.DatabaseError("file is not a database")
    odd.mkdir()
    (room.root / "gradebook.db").rename(odd / "gradebook.db")
    subprocess.run(told.value.next_command.partition(";")[0], shell=True, check=True)
    assert [path.name for path in odd.iterdir()] == ["gradebook.db.broken"]
    assert room.grade().marks


def test_a_gradebook_in_use_loses_nothing(room: Rehearsal, engine: Engine) -> None:
    room.hand_in_all(dict.fromkeys(("ada", "ben", "eve"), RIGHT))
    holder = sqlite3.connect(room.root / "gradebook.db", isolation_level=None, check_same_thread=False)

    def holding(mark: Mark) -> Mark:
        def one(handed_in: HandIn) -> Verdict:
            if not holder.in_transaction:
                holder.execute("BEGIN IMMEDIATE")
            return mark(handed_in)

        return one

    with pytest.raises(CourseError, match="another program is using the gradebook"):
        room.grade(pool=shared_pool(engine, holding))
    kept = len(list(room.root.glob("autograded/*/*/.verdict.json")))
    holder.execute("ROLLBACK")
    again = room.grade()
    assert len(again.graded) == 3 - kept < 3
    assert scores(again) == {"ada": 4, "ben": 4, "eve": 4}
    holder.close()


def test_a_verdict_that_cannot_be_written_is_its_own_problem(room: Rehearsal) -> None:
    room.hand_in_all(dict.fromkeys(("ada", "ben", "eve"), RIGHT))
    (room.root / "autograded").mkdir(exist_ok=True)
    (room.root / "autograded" / "ben").write_text("a file where a folder should be")
    odd = "half \udce9"  # a name that no database takes
    path = room.submitted("eve")
    intake = take_in(COURSE, room.root, [LESSON])
    intake = Intake((*intake.submissions, HandIn(Key(odd, LESSON), path)), ())
    graded = grade_class(COURSE, room.root, intake, [LESSON], pool=room.pool)
    told = {score.learner: score.problem for score in graded.marks.values()}
    assert told["ada"] == told["eve"] == ""
    assert "cannot be written" in told["ben"]
    assert "the gradebook does not take it" in told[odd]
