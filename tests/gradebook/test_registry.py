"""What the gradebook knows of an assignment follows the instructor's notebooks, and takes nothing that people gave with it."""

from __future__ import annotations

import contextlib
import csv
import json
import sqlite3
import subprocess
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from sqlalchemy.orm import Session

from nbproof.errors import CourseError, UsageError
from nbproof.gradebook.storage_errors import trouble_with_gradebook
from nbproof.gradebook.writer import Writer
from nbproof.key import Key
from nbproof.places import course_config
from nbproof.run.pool import PoolMaker
from tests import COURSE
from tests.run.test_any_course import CUBES, SQUARES, Cells, graded, hand_in, written

DUE, LATE = datetime(2026, 11, 20), datetime(2026, 11, 21)
GIVEN: dict[str, Any] = {
    "due": DUE, "extensions": {"cara": timedelta(days=10)}, "times": {"ada": LATE, "cara": None}, "penalty": 1.0,
    "marks": {"ada/test_squares": (2, None), "ada/why": (None, 1.5), "cara/test_squares": (None, None), "cara/why": (None, None)},
    "comments": {"ada/why": "Well said."},
}  # fmt: skip
CELLS: Cells = {**SQUARES, "why": CUBES["why"]}


def _registered(root: Path, *names: str) -> str:
    """What is told."""
    with Writer(f"sqlite:///{root}/gradebook.db", "numbers") as writer:
        config = course_config(root)
        return [writer.register(COURSE, config, name, root / "source" / name) for name in names or ("ps1",)][-1]


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    """ada was late, and has marks and a comment of a person's; cara has more time, and handed in nothing."""
    written(tmp_path / "source" / "ps1" / "ps1.ipynb", CELLS)
    assert _registered(tmp_path) == "", "nobody has handed in"
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db", "numbers") as book:
        book.find_assignment("ps1").duedate = DUE
        for learner in GIVEN["extensions"] | {"ada": None}:
            book.add_student(learner)
            for one in book.add_submission("ps1", learner).notebooks[0].grades:
                one.needs_manual_grade = False
        book.grant_extension("ps1", "cara", days=10)
        book.find_submission("ps1", "ada").timestamp = LATE
        book.find_submission_notebook("ps1", "ps1", "ada").late_submission_penalty = 1.0
        book.find_grade("test_squares", "ps1", "ps1", "ada").auto_score = 2
        book.find_grade("why", "ps1", "ps1", "ada").manual_score = 1.5
        book.find_comment("why", "ps1", "ps1", "ada").manual_comment = "Well said."
        book.db.commit()
    return tmp_path


def _given(root: Path, assignment: str = "ps1") -> dict[str, Any]:
    with Gradebook(f"sqlite:///{root}/gradebook.db", "numbers") as book:
        one = book.find_assignment(assignment)
        rows = [(each.student.id, nb) for each in one.submissions for nb in each.notebooks]
        return {
            "due": one.duedate,
            "extensions": {each.student.id: each.extension for each in one.submissions if each.extension},
            "times": {each.student.id: each.timestamp for each in one.submissions},
            "penalty": sum(each.late_submission_penalty or 0 for each in one.submissions),
            "marks": {f"{who}/{g.name}": (g.auto_score, g.manual_score) for who, nb in rows for g in nb.grades},
            "comments": {f"{who}/{c.name}": c.manual_comment for who, nb in rows for c in nb.comments if c.manual_comment},
            "waiting": sum(g.needs_manual_grade for _, nb in rows for g in nb.grades),
            "max": one.max_score,
        }  # fmt: skip


NEW = ("test", "assert squares(2) == [0, 1]")
CHANGES: dict[str, tuple[Callable[[], Cells], dict[str, Any], str, int]] = {
    "added": (
        lambda: {**CELLS, "test_more": NEW},
        {"marks": {**GIVEN["marks"], "ada/test_more": (None, None), "cara/test_more": (None, None)}, "max": 6},
        "(new: test_more)", 0,
    ),
    "removed": (
        lambda: {**SQUARES},
        {"marks": {name: of for name, of in GIVEN["marks"].items() if "why" not in name}, "comments": {}, "max": 2},
        "(gone: why)", 2,
    ),
    "renamed": (
        lambda: {**SQUARES, "because": CUBES["why"]},
        {"marks": {name.replace("why", "because"): (of[0], None) for name, of in GIVEN["marks"].items()}, "comments": {}},
        "(new: because; gone: why)", 2,
    ),
    "of another type": (lambda: {**SQUARES, "why": ("written", "So.")}, {}, "", 0),
    "a test now": (lambda: {**SQUARES, "why": NEW}, {"comments": {}}, "(gone: why)", 1),
    "with another text": (lambda: {**CELLS, "test_squares": NEW}, {}, "", 0),
}  # fmt: skip


@pytest.mark.parametrize(("cells", "other", "told", "lost"), CHANGES.values(), ids=list(CHANGES))
def test_what_people_gave_stays_when_cells_change(
    marked: Path, cells: Callable[[], Cells], other: dict[str, Any], told: str, lost: int
) -> None:
    before = _given(marked)
    assert before == {**GIVEN, "waiting": 0, "max": 4}
    written(marked / "source" / "ps1" / "ps1.ipynb", cells())
    note = _registered(marked)
    assert _given(marked) == {**before, **other}
    assert (told in note and "due date, extensions" in note) if told else note == ""
    kept = marked / ".course" / "removed_marks.csv"
    rows = list(csv.reader(kept.read_text().splitlines()))[1:] if kept.exists() else []
    assert [row[:4] for row in rows] == [["ada", "ps1", "ps1", "why"]] * lost
    assert {"1.5", "Well said."} & {word for row in rows for word in row[4:]} == set(["Well said.", "1.5"][:lost])
    assert (str(kept) in note) == bool(lost)
    assert _registered(marked) == "", "nothing has changed since"
    written(marked / "source" / "ps1" / "ps1.ipynb", CELLS)
    assert ("are back with their cells: look at them" in _registered(marked)) == bool(lost)
    assert _given(marked) == {**before, "waiting": int(lost > 1)}
    assert not lost or kept.read_text() == "learner,assignment,notebook,cell,manual_score,extra_credit,manual_comment\n"


def test_points_a_notebook_more_and_one_less(marked: Path) -> None:
    path = marked / "source" / "ps1" / "ps1.ipynb"
    changed = json.loads(path.read_text())
    changed["cells"][1]["metadata"]["nbgrader"]["points"] = 5
    changed["cells"][2]["metadata"]["nbgrader"]["points"] = 3
    path.write_text(json.dumps(changed))
    more = written(marked / "source" / "ps1" / "more.ipynb", {"also": SQUARES["squares"], "test_also": NEW})
    assert "(new: also, more.ipynb, test_also)" in _registered(marked)
    marks = {**GIVEN["marks"], "ada/test_also": (None, None), "cara/test_also": (None, None)}
    assert _given(marked) == {**GIVEN, "marks": marks, "max": 10, "waiting": 1}, (
        "what a person marked has other points now"
    )
    more.unlink()
    assert "(gone: also, more.ipynb, test_also)" in _registered(marked)
    assert _given(marked) == {**GIVEN, "max": 8, "waiting": 1}


ID = "id VARCHAR(32) NOT NULL PRIMARY KEY"
OLD = f"""
CREATE TABLE assignment ({ID}, name VARCHAR(128) NOT NULL, duedate DATETIME, UNIQUE (name));
CREATE TABLE student (id VARCHAR(128) NOT NULL PRIMARY KEY, first_name VARCHAR(128), last_name VARCHAR(128), email VARCHAR(128));
CREATE TABLE notebook ({ID}, name VARCHAR(128) NOT NULL, assignment_id VARCHAR(32));
CREATE TABLE submitted_assignment ({ID}, assignment_id VARCHAR(32), student_id VARCHAR(128), timestamp DATETIME,
  extension DATETIME);
CREATE TABLE grade_cell ({ID}, name VARCHAR(128), max_score FLOAT, cell_type VARCHAR(8), notebook_id VARCHAR(32));
CREATE TABLE solution_cell ({ID}, name VARCHAR(128) NOT NULL, notebook_id VARCHAR(32));
CREATE TABLE source_cell ({ID}, name VARCHAR(128), cell_type VARCHAR(8), locked BOOLEAN, source TEXT, checksum VARCHAR(128),
  notebook_id VARCHAR(32));
CREATE TABLE submitted_notebook ({ID}, assignment_id VARCHAR(32), notebook_id VARCHAR(32), flagged BOOLEAN);
CREATE TABLE grade ({ID}, notebook_id VARCHAR(32), cell_id VARCHAR(32), auto_score FLOAT, manual_score FLOAT,
  needs_manual_grade BOOLEAN NOT NULL);
CREATE TABLE comment ({ID}, notebook_id VARCHAR(32), cell_id VARCHAR(32), auto_comment TEXT, manual_comment TEXT);
INSERT INTO assignment VALUES ('a', 'ps1', '{DUE}.000000');
INSERT INTO notebook VALUES ('n', 'ps1', 'a');
INSERT INTO student VALUES ('ada', 'Ada', NULL, NULL);
INSERT INTO grade_cell VALUES ('g', 'test_squares', 2, 'code', 'n'), ('w', 'why', 2, 'markdown', 'n');
INSERT INTO solution_cell VALUES ('s', 'squares', 'n'), ('c', 'why', 'n');
INSERT INTO submitted_assignment VALUES ('x', 'a', 'ada', '{LATE}.000000', '1970-01-02 00:00:00.000000');
INSERT INTO submitted_notebook VALUES ('y', 'x', 'n', 0);
INSERT INTO grade VALUES ('h', 'y', 'g', 2, NULL, 0), ('i', 'y', 'w', NULL, 1.5, 0);
INSERT INTO comment VALUES ('m', 'y', 's', NULL, NULL), ('o', 'y', 'c', NULL, 'Well said.');
"""
"""A gradebook of nbgrader 0.3, which knew no late penalties."""


def test_a_gradebook_of_long_ago_is_read_after_the_step_that_is_told(tmp_path: Path) -> None:
    written(tmp_path / "source" / "ps1" / "ps1.ipynb", CELLS)
    with contextlib.closing(sqlite3.connect(tmp_path / "gradebook.db")) as book:
        book.executescript(OLD)
    with (
        pytest.raises(CourseError, match="another version of nbgrader") as told,
        trouble_with_gradebook(f"sqlite:///{tmp_path}/gradebook.db"),
    ):
        _registered(tmp_path)
    subprocess.run(told.value.next_command.partition(", in the")[0], shell=True, check=True, cwd=tmp_path)
    _registered(tmp_path)
    found = _given(tmp_path)
    assert found == {
        **GIVEN, "extensions": {"ada": timedelta(days=1)}, "times": {"ada": LATE}, "penalty": 0,
        "marks": {"ada/test_squares": (2, None), "ada/why": (None, 1.5)}, "waiting": 0, "max": 4,
    }  # fmt: skip


def test_what_is_cut_off_changes_nothing(marked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = Session.commit

    def cut(session: Session) -> None:
        session.flush()
        if str(marked) in str(session.get_bind().engine.url):
            raise KeyboardInterrupt
        commit(session)

    for cells, told in (({**SQUARES, "test_more": NEW}, "gone: why"), (CELLS, "are back with their cells")):
        before = _given(marked)
        written(marked / "source" / "ps1" / "ps1.ipynb", cells)
        with Writer(f"sqlite:///{marked}/gradebook.db", "numbers") as writer, monkeypatch.context() as patched:
            patched.setattr(Session, "commit", cut)
            with pytest.raises(KeyboardInterrupt):
                writer.register(COURSE, course_config(marked), "ps1", marked / "source" / "ps1")
        assert _given(marked) == before
        assert told in _registered(marked)
    assert _given(marked)["comments"] == GIVEN["comments"]


@pytest.mark.parametrize(
    ("before", "after"), [(b"said", b"s\xe4id"), (b"1.5", b'"1,5"'), (b",", b";"), (b"said", b"said" * 40_000)]
)
def test_removed_marks_that_a_spreadsheet_has_saved_come_back_or_are_named(
    marked: Path, before: bytes, after: bytes
) -> None:
    for cells in (SQUARES, CELLS):
        written(marked / "source" / "ps1" / "ps1.ipynb", cells)
        if cells is CELLS:
            kept = marked / ".course" / "removed_marks.csv"
            whole = kept.read_bytes()
            kept.write_bytes(whole.replace(before, after))
            with pytest.raises(CourseError, match="for cells that are gone cannot be read") as told:
                _registered(marked)
            assert "save it as CSV with commas, in UTF-8, numbers as 1.5;" in told.value.next_command
            kept.write_bytes(b"\xef\xbb\xbf" + whole.replace(b"\n", b"\r\n"))
        _registered(marked)
    assert _given(marked)["comments"] == GIVEN["comments"] and "ada" not in kept.read_text()


NAMES = [
    "hw+x",
    "hw [2]",
    "what? *",
    " a b ",
    "-rf",
    "50%20off",
    'it\'s "$HOME" ~',
    "a\nb",
    "{student_id}",
    "ä" * 120,
    "a:b@c#d",
]


def test_any_name_of_a_folder_will_do(tmp_path: Path) -> None:
    for name in NAMES:
        written(tmp_path / "source" / name / "a [1]+\n.ipynb", SQUARES)
    _registered(tmp_path, *NAMES)
    assert {_given(tmp_path, name)["max"] for name in NAMES} == {2}
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db", "numbers") as book:
        assert {nb.name for one in book.assignments for nb in one.notebooks} == {"a [1]+\n"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gradebook.db", "source"]


@pytest.mark.parametrize(
    "name", ["c [1]", "c*", "c#1", 'it\'s "c" $HOME ~', "-c", "c\nd", "a:b@c", "c \udce9", "c" * 200, "100%"]
)
def test_a_course_in_a_folder_of_any_name_has_its_gradebook_there(tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    written(root / "source" / "ps1" / "ps1.ipynb", SQUARES)
    (tmp_path / "link").symlink_to(root)
    _registered(tmp_path / "link")
    assert {path.name for path in root.iterdir()} == {"gradebook.db", "source"}
    assert set(tmp_path.iterdir()) == {root, tmp_path / "link"}


@pytest.mark.parametrize("name", ["what?", "50%25", "a?b%41"])
def test_a_folder_that_sqlite_would_take_for_another_is_refused_and_the_command_helps(
    tmp_path: Path, name: str
) -> None:
    root = tmp_path / name / "course"
    written(root / "source" / "ps1" / "ps1.ipynb", SQUARES)
    with pytest.raises(UsageError, match=r"[?%]") as told:
        course_config(root)
    assert {*tmp_path.rglob("*.db"), *tmp_path.glob(".*")} == set()
    subprocess.run(told.value.next_command.partition("; then")[0], shell=True, check=True)
    (moved,) = tmp_path.iterdir()
    _registered(moved / "course")
    assert (moved / "course" / "gradebook.db").is_file()


def test_a_name_that_no_database_takes_is_told_and_the_gradebook_goes_on(tmp_path: Path) -> None:
    broken = written(tmp_path / "source" / "half \udce9" / "a.ipynb", SQUARES).parent
    written(tmp_path / "source" / "ps1" / "ps1.ipynb", SQUARES)
    with pytest.raises(CourseError, match="the gradebook does not take half") as told:
        _registered(tmp_path, "ps1", broken.name)
    assert "give the folder a name" in told.value.next_command
    broken.rename(broken.with_name("half"))
    _registered(tmp_path, "half")
    assert _given(tmp_path, "half")["max"] == _given(tmp_path)["max"] == 2


def test_a_run_brings_the_new_cells_and_the_assignment_beside_it_is_graded(tmp_path: Path, pool: PoolMaker) -> None:
    """nbgrader itself ends for a `+`."""
    source = written(tmp_path / "source" / "hw+x [1]" / "a.ipynb", SQUARES)
    beside = written(tmp_path / "source" / "ps1" / "ps1.ipynb", SQUARES)
    hand_in(source, tmp_path / "submitted" / "ada" / "hw+x [1]" / "a.ipynb")
    assert graded(tmp_path, pool).marks[Key("ada", "hw+x [1]/a")].score == 2
    hand_in(beside, tmp_path / "submitted" / "ada" / "ps1" / "ps1.ipynb")
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as book:
        book.find_assignment("hw+x [1]").duedate = DUE
        book.db.commit()
    written(source, {**SQUARES, "test_more": NEW})
    told = graded(tmp_path, pool)
    assert "(new: test_more)" in told.reasons[0]
    assert {key.name: mark.score for key, mark in told.marks.items()} == {"ada/hw+x [1]/a": 4, "ada/ps1": 2}
    assert _given(tmp_path, "hw+x [1]")["due"] == DUE


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("c.ClearSolutions.code_stub = 7", "AttributeError"),
        ("c.GenerateAssignment.create_assignment = 7", "TraitError"),
        ("c.GenerateAssignment.preprocessors = ['no.such.Class']", "no"),
        ("c.IncludeHeaderFooter.header = 'nowhere.ipynb'", "nowhere.ipynb"),
    ],
)
def test_what_nbgrader_raises_is_that_assignments_and_names_the_cause(tmp_path: Path, line: str, says: str) -> None:
    written(tmp_path / "source" / "ps1" / "ps1.ipynb", SQUARES)
    (tmp_path / "nbgrader_config.py").write_text(f"c = get_config()\n{line}\n")
    with pytest.raises(CourseError, match=f"cannot register ps1: .*{says}") as told:
        _registered(tmp_path)
    assert "nbgrader_config.py" in told.value.next_command
    (tmp_path / "nbgrader_config.py").unlink()
    assert _registered(tmp_path) == ""
