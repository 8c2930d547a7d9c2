"""``python -m course roster``: what it prints, puts down and takes away; nothing comes back, nobody else is touched."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from nbproof.key import Key
from nbproof.run.journal import InProgress, RunState, note_problems, problems_of
from nbproof.testing import Rehearsal
from nbproof.testing.small import LESSON, RIGHT
from nbproof_lms import collect
from tests import COURSE, main
from tests.lms.uploads import everything, zipped
from tests.report.made import refused

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::sqlalchemy.exc.SAWarning")


@pytest.fixture
def two(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ada and bob: collected, graded, in the gradebook with a mark by hand, on the roster, reported."""
    shutil.copytree(course / "source", course / "release")
    up, room = tmp_path_factory.mktemp("up"), Rehearsal(course, LESSON)
    for learner in ("ada", "bob"):
        data = room.hand_in(learner, RIGHT).read_bytes()
        shutil.rmtree(course / "submitted" / learner)
        (up / f"{learner}.zip").write_bytes(zipped({f"{learner}/{LESSON}/{LESSON}.ipynb": data}))
        collect(COURSE, course, [up / f"{learner}.zip"], learners=[learner])
        for folder in ("autograded", "feedback"):
            (course / folder / learner / LESSON).mkdir(parents=True)
            (course / folder / learner / LESSON / ".verdict.json").write_text("{}")
    with room.gradebook() as book:
        for learner in ("ada", "bob"):
            submission = _added(book, learner)
            submission.notebooks[0].grades[0].manual_score = 1.0
        book.db.commit()
    (course / "roster.csv").write_text("learner,name,email\nada,Ada A,\nbob,Bob B,b@u.edu\n")

    note_problems(course, [refused("ada", LESSON, "it is a picture")])
    state = RunState(course)
    state.named = {"ada": {"email": "a@u.edu"}, "bob": {"email": "b@u.edu"}}
    state.save()
    for learner in ("ada", "bob"):
        InProgress(course).note(Key(learner, LESSON), "", set_aside=True)
    return course


def _added(book: Gradebook, learner: str) -> Any:
    book.add_student(learner)
    return book.add_submission(LESSON, learner)


def _roster(course: Path, *words: str) -> int:
    return main(["roster", *words, "--course", str(course)])


def test_a_learner_who_is_removed_leaves_no_trace(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bobs = {path: data for path, data in everything(two).items() if "bob" in path and "collected" not in path}
    uploads = {path: data for path, data in everything(two / "collected").items() if not path.endswith("list.json")}
    (two / "handback").mkdir()
    (two / "report" / LESSON).mkdir(parents=True)
    (two / "report" / LESSON / "moodle.csv").write_text("ada,4")
    assert _roster(two, "remove", "ada", "--yes") == 0
    assert not (two / "handback").exists() and not (two / "report").exists()
    told = capsys.readouterr().out
    assert "next: " not in told, "nobody may be left to report"
    for what in (
        "submitted/",
        "feedback/",
        "all marks",
        "roster.csv",
        "lists in collected/",
        "handback/ and report/ go whole",
    ):
        assert what in told
    left = everything(two)
    assert {path: data for path, data in left.items() if "bob" in path and "collected" not in path} == bobs
    assert not [path for path in left if path.split("/")[1:2] == ["ada"]]
    with Rehearsal(two, LESSON).gradebook() as book:
        assert [student.id for student in book.students] == ["bob"]
        assert len(book.assignment_submissions(LESSON)) == 1
    assert "ada" not in (two / "roster.csv").read_text()
    assert problems_of(two) == {}
    # A digest may hold these three letters.
    assert not [path.name for path in (two / ".course").glob("*.json") if '"ada' in path.read_text()]
    assert all("bob" in (two / ".course" / name).read_text() for name in ("run.json", "marking.json"))
    assert _roster(two, "remove", "ada", "--yes") == 2, "nobody knows them any more"
    capsys.readouterr()
    kept = everything(two / "collected")
    assert {path: data for path, data in kept.items() if not path.endswith("list.json")} == uploads
    assert _roster(two) == 0
    assert "ada" not in capsys.readouterr().out.replace("/ada.zip", "")


def test_it_asks_first(two: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything(two)
    assert _roster(two, "remove", "ada") == 2
    assert "nobody is here to say yes" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    for answer in ("", "no"):
        monkeypatch.setattr("builtins.input", lambda text, answer=answer: answer)
        assert _roster(two, "remove", "ada") == 1
    assert everything(two).keys() == before.keys()
    monkeypatch.setattr("builtins.input", lambda text: "y")
    assert _roster(two, "remove", "ada") == 0
    assert not (two / "submitted/ada").exists()


def test_one_notebook_of_an_assignment_is_not_removed_alone(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = two / "source" / LESSON / f"{LESSON}.ipynb"
    source.with_name("more.ipynb").write_bytes(source.read_bytes())
    before = everything(two)
    assert _roster(two, "remove", "ada", "--lesson", f"{LESSON}/more", "--yes") == 2
    assert f"next: choose from: {LESSON}\n" in capsys.readouterr().err and everything(two) == before
    assert _roster(two, "remove", "ada", "--lesson", LESSON, "--yes") == 0
    assert before.keys() - everything(two).keys() >= {f"submitted/ada/{LESSON}/{LESSON}.ipynb"}


@pytest.mark.parametrize("name", ["Ada", "../bob"])
def test_who_is_not_there_is_not_removed(name: str, two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(everything(two))
    assert _roster(two, "remove", name, "bob", "--yes") == 2
    told = capsys.readouterr().err
    assert "is no learner's id" in told and "shows all" in told
    assert sorted(everything(two)) == before


def test_a_link_is_removed_and_what_it_leads_to_is_not(two: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("x")
    shutil.rmtree(two / "feedback" / "ada")
    (two / "feedback" / "ada").symlink_to(outside)
    with Rehearsal(two, LESSON).gradebook() as book:
        _added(book, "../source")
        book.db.commit()
    assert _roster(two, "remove", "ada", "../source", "--yes") == 0
    assert (outside / "x").exists() and (two / "source").is_dir()


def test_the_roster_is_filled_by_names_imports_and_one_by_one(
    two: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = tmp_path / "names.csv"
    names.write_text('Student,ID,SIS Login ID\n    Points Possible,,\n"Zed, Zoe",77,zz\n"B, Bob",78,bob\n')
    assert _roster(two, "import", str(names)) == 0
    assert _roster(two, "add", "eve", "--email", "e@u.edu") == 0
    assert _roster(two, "add", "../x") == 2
    assert (two / "roster.csv").read_text().splitlines() == [
        "learner,name,email,also", "ada,Ada A,,",
        'bob,"B, Bob",b@u.edu,78', 'zz,"Zed, Zoe",,77', "eve,,e@u.edu,",
    ]  # fmt: skip
    said = capsys.readouterr().out
    assert "1 added, 1 were there before, 1 got another name, 1 got a number" in said and "eve is on the roster" in said
    assert _roster(two) == 0
    told = capsys.readouterr().out
    assert "4 learners" in told and "Zoe Zed" in told
    work = (two / f"submitted/ada/{LESSON}/{LESSON}.ipynb").read_bytes()
    (tmp_path / "up.zip").write_bytes(zipped({"zedzoe_77_9_x.ipynb": work, "bbob_78_8_x.ipynb": work}))
    collect(COURSE, two, [tmp_path / "up.zip"])
    assert (two / "submitted/zz").is_dir()


@pytest.mark.parametrize(
    ("row", "line", "code"),
    [
        ("102,Cyd Orr,cyd@u.edu", "line 4: 102 Cyd Orr <cyd@u.edu>, and above it 102 Ben Bell <ben@u.edu>", 1),
        ("102,Cyd Orr,", "line 4: 102 Cyd Orr, and above it 102 Ben Bell <ben@u.edu>", 1),
        ("102,Cyd Orr,\n102,Ben Bell,", "line 4: 102 Cyd Orr, and above it 102 Ben Bell <ben@u.edu>", 1),
        ("102,Ben Bell-Orr,ben@u.edu", "2 added", 0),
        ("102,BELL Ben,b@u.edu", "2 added", 0),
        ("105,,", "no name stands beside 105", 0),
        ("106,cyd@u.edu", "the last ones are taken as empty: line 4 (106,cyd@u.edu)", 0),
    ],
)
def test_a_row_of_a_table_that_is_not_taken_as_it_stands_is_named(
    row: str, line: str, code: int, course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "class.csv"
    table.write_text(f"learner,name,email\n101,Ada King,ada@u.edu\n102,Ben Bell,ben@u.edu\n{row}\n")
    assert _roster(course, "import", str(table)) == code
    told = capsys.readouterr()
    assert line in told.out + told.err
    if code:
        assert not (course / "roster.csv").exists() and "next: give each of them an id of their own there" in told.err
        table.write_text(table.read_text().replace("102,Cyd", "103,Cyd"))
        assert _roster(course, "import", str(table)) == 0 and "3 added" in capsys.readouterr().out


def test_a_name_that_was_typed_as_an_id_is_said_with_what_makes_it_the_name(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _roster(course, "add", "Öztürk Gül") == _roster(course, "add", "x y", "--name", "Gül") == 0
    told = capsys.readouterr().out
    assert told.count("because it was typed there. If it is the name: ") == 1
    for command in told.partition("If it is the name: ")[2].splitlines()[0].split("; then: "):
        assert _roster(course, *(word.replace("ID", "og") for word in shlex.split(command)[4:])) == 0
    assert "og,Öztürk Gül" in (course / "roster.csv").read_text()


@pytest.mark.usefixtures("one_engine")
def test_what_a_run_could_not_grade_is_no_yes(room: Rehearsal, capsys: pytest.CaptureFixture[str]) -> None:
    room.hand_in("ada", RIGHT)
    room.hand_in("ben", RIGHT).write_text('{"cells": 7}')
    room.grade()
    assert main(["roster", "--course", str(room.root)]) == 0
    rows = {one.split()[1]: one.split()[-2] for one in capsys.readouterr().out.splitlines() if one.startswith("│")}
    assert rows == {"ada": "yes", "ben": "!"}


def test_what_a_table_leaves_open_is_said(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A report's own table holds no names; a program has saved roster.csv in an alphabet that it does not name."""
    (course / "scores.csv").write_text("learner,status,score\nada,passed,3.0\n")
    assert _roster(course, "import", str(course / "scores.csv")) == 0
    assert "other names of each learner: 'status', 'score'" in capsys.readouterr().out
    (course / "roster.csv").write_bytes("learner,name\nada,Micha\u0142\n".encode("cp1250"))
    for words in ((), ("add", "bob")):
        assert _roster(course, *words) == 0
        assert "roster.csv is no UTF-8" in capsys.readouterr().out


def test_a_line_taken_out_of_the_roster_by_hand_is_named_until_its_learner_is_removed(
    two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (two / "roster.csv").write_text("learner,name,email\nada,Ada A,\n")
    assert _roster(two) == 0
    told = capsys.readouterr().out
    assert "! no longer in roster.csv, and still of the class, with marks or work: bob" in " ".join(told.split())
    assert _roster(two, "remove", "bob", "--yes") == 0
    capsys.readouterr()
    assert _roster(two) == 0
    assert "no longer" not in capsys.readouterr().out
