"""CSV, JSON, and the files that Canvas and Moodle import."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from nbproof.errors import UsageError
from nbproof.nbgrader.export_plugins import CanvasExport, MoodleExport
from nbproof.report.findings import as_data, find, safe_cell, tables, write_files
from nbproof.report.lms import Grade, canvas_file, moodle_file
from nbproof.report.records import Person
from tests.reporting.made import LESSON, outcome, records, work

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,02 Tensor hooks (4711),Essay (4712),Final Score (read only)\r\n"
    ",,,,,Manual Posting,,\r\n"
    "    Points Possible,,,,,66,10,(read only)\r\n"
    '"Lovelace, Ada",11,A-1,ada,CS 1,,9,80\r\n'
    '"Brown, Bob",12,A-2,bob@uni.example,CS 1,20,8,70\r\n'
    '"=cmd, Cy",13,A-3,cy,CS 1,,,60\r\n'
    '"Student, Test",99,,,CS 1,,,\r\n'
)
GRADES = {
    ("ada", "02_tensor_hooks"): Grade(20.5, 33.0, "=1+1 <b>"), ("BOB", "02_tensor_hooks"): Grade(0.0, 33.0),
    ("eve", "02_tensor_hooks"): Grade(33.0, 33.0),
}  # fmt: skip
TITLES = {"02_tensor_hooks": "Tensor hooks: watch"}


def _rows(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_canvas_keeps_what_is_the_teachers_and_scales(tmp_path: Path) -> None:
    export = tmp_path / "c.csv"
    export.write_bytes(b"\xef\xbb\xbf" + CANVAS.encode())
    made = canvas_file(export, GRADES, [Person("ada")], TITLES)
    rows = _rows(made.data)
    assert rows[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "02 Tensor hooks (4711)"]
    assert rows[2][0] == "    Points Possible" and rows[2][-1] == "66"
    assert [row[-1] for row in rows[3:]] == ["41", "0", "", ""]
    assert made.data.startswith(b"\xef\xbb\xbf") and b"\r\n" in made.data
    assert made.unmatched == ("eve",) and made.filled == 2 and "scaled from 33" in made.notes[0]


@pytest.mark.parametrize("plugin", [CanvasExport, MoodleExport])
def test_nbgrader_s_own_export_fills_the_same_files(
    plugin: type[CanvasExport | MoodleExport], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = {"ada": SimpleNamespace(score=20.5, max_score=33.0), "zoe": SimpleNamespace(score=1.0, max_score=33.0)}
    monkeypatch.setattr("nbproof.nbgrader.export_plugins.marks_in", lambda gradebook, lesson: marks)
    monkeypatch.setattr("nbproof.nbgrader.export_plugins.people_in", lambda gradebook: [Person("ada")])
    export = tmp_path / "c.csv"
    moodle = "Identifier,Full name,Username,Grade,Maximum Grade,Feedback comments\nParticipant 1,Ada,ada,,66.00,\n"
    export.write_text(CANVAS if plugin is CanvasExport else moodle)
    one = plugin()
    one.template, one.student = str(export), ["ada"]
    one.export(SimpleNamespace(assignments=[SimpleNamespace(name="02_tensor_hooks")]))
    rows = _rows((tmp_path / "c-graded.csv").read_bytes())
    assert [row for row in rows if "41" in row] == [row for row in rows if "ada" in row] != []


def test_two_learners_never_share_a_row(tmp_path: Path) -> None:
    export = tmp_path / "c.csv"
    export.write_text(CANVAS)
    grades = {(name, "02_tensor_hooks"): Grade(1.0, 33.0) for name in ("ada", "lovelace_ada")}
    made = canvas_file(export, grades, [], TITLES)
    assert made.filled == 0 and made.unclear == ("ada", "lovelace_ada")


def test_canvas_rows_that_are_nobody_stay_as_they_are(tmp_path: Path) -> None:
    export = tmp_path / "c.csv"
    export.write_text(CANVAS)
    names = ("student", "points possible", "test_student", "99", "id")
    made = canvas_file(export, {(name, "02_tensor_hooks"): Grade(1.0, 33.0) for name in names}, [], TITLES)
    assert made.filled == 0 and set(made.unmatched) == set(names)
    assert [row[-1] for row in _rows(made.data)[:3]] == ["02 Tensor hooks (4711)", "Manual Posting", "66"]


def test_moodle_worksheet_gets_grade_and_comment(tmp_path: Path) -> None:
    sheet = tmp_path / "Grades-HOOKS-02 Tensor hooks-77.csv"
    sheet.write_text(
        "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
        "Last modified (submission),Last modified (grade),Feedback comments\n"
        'Participant 5,Ada Lovelace,ada@uni.example,Submitted,,33.00,Yes,-,"Monday, 1 June",\n'
        "Participant 6,Nobody Else,no@uni.example,Submitted,12,33.00,Yes,-,-,keep\n"
    )
    made = moodle_file(sheet, {**GRADES, ("ada", "01_x"): Grade(1, 2)}, [], {**TITLES, "01_x": "X"})
    rows = _rows(made.data)
    assert rows[1][4] == "20.5" and rows[1][9] == "'=1+1 &lt;b&gt;" and rows[1][8] == "Monday, 1 June"
    assert rows[2] == [
        "Participant 6",
        "Nobody Else",
        "no@uni.example",
        "Submitted",
        "12",
        "33.00",
        "Yes",
        "-",
        "-",
        "keep",
    ]
    sheet.rename(tmp_path / "sheet.csv")
    with pytest.raises(UsageError, match="one assignment"):
        moodle_file(tmp_path / "sheet.csv", {**GRADES, ("ada", "01_x"): Grade(1, 2)}, [], {**TITLES, "01_x": "X"})


def test_moodle_gradebook_in_semicolons(tmp_path: Path) -> None:
    sheet = tmp_path / "g.csv"
    sheet.write_text("First name;Last name;ID number;Assignment: 02 Tensor hooks (Real)\nAda;Lovelace;ada;3,5\n")
    assert moodle_file(sheet, GRADES, [], TITLES).data.decode().splitlines()[1] == "Ada;Lovelace;ada;20,5"


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (b"", "no learner"), (b"PK\x03\x04", "spreadsheet"), (b"a,b\n1,2\n", "no export of a Canvas"),
        (b"\x00\x01\n\x00", "no text"),
        (b"Student,ID,Quiz (1)\nAda,1,2\n", "no column of the export"),
    ],
)  # fmt: skip
def test_a_wrong_export_says_what_to_do(tmp_path: Path, text: bytes, fact: str) -> None:
    export = tmp_path / "wrong.csv"
    export.write_bytes(text)
    with pytest.raises(UsageError, match=fact) as told:
        canvas_file(export, GRADES, [], TITLES)
    assert told.value.place and told.value.next_command


def test_no_cell_is_a_formula() -> None:
    for hostile in ("=cmd|' /C calc'!A0", "+1", "-1", "@sum", "\t=1", "  =1", "＝1", "\r=1", "\ufeff=1"):
        assert str(safe_cell(hostile)).startswith("'")
    assert safe_cell(-1.5) == -1.5 and safe_cell("plain") == "plain" and safe_cell("") == ""


def test_files_hold_what_was_found(tmp_path: Path) -> None:
    works = [work("=evil", [outcome("first", "failed", hints=["local_name"])]), work("bo", [outcome("first")])]
    broken = work("cy", [], problem="no notebook")
    found = find(records([*works, broken]))
    write_files(tmp_path, found, "now", excel=True)
    rows = _rows((tmp_path / "scores.csv").read_bytes())
    assert rows[1][:4] == ["'=evil", LESSON, "first", "failed"] and rows[3][-1] == "no notebook"
    assert (tmp_path / "scores.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    data = json.loads((tmp_path / "report.json").read_text())
    assert data["schema"] == 1 and data == json.loads(json.dumps(as_data(found, "now")))
    assert [one["score"] for one in data["scores"]] == [0.0, 2.0, None]
    assert tables(found)["learners.csv"][3][1] == "not graded"
