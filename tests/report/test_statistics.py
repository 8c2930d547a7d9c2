"""Numbers of a class against their definitions, on classes made by hand; CSV, JSON, and files that Canvas and Moodle import."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from nbproof.csv_text import safe_cell
from nbproof.errors import UsageError
from nbproof.gradebook.marks import CellMark, Mark, Person, by_assignment
from nbproof.key import Key
from nbproof.marking.results import Verdict
from nbproof.report.report import html_of, tables, write_files
from nbproof.report.statistics import (
    exercise_rows,
    fault_rows,
    lesson_row,
    marker_lines,
    misconception_rows,
    needs_help,
)
from nbproof_lms.grade_files import columns_of, grade_file, grade_files, zeros
from nbproof_lms.roster import Member
from nbproof_lms.system import systems
from tests.report.made import LESSON, outcome, records, refused, scored, work


def test_scores_leave_out_who_handed_in_nothing_and_what_was_not_graded() -> None:
    good = [work(f"s{n}", [outcome("first", "passed", points=n)]) for n in (1, 2, 3, 6)]
    broken = work("t", [], problem="it is not a notebook")
    other = work("u", [outcome("first")], lesson="02_other")
    made = records([*good, broken, other])
    told = lesson_row(made, made.lessons[0])
    assert (told["graded"], told["not_graded"], told["missing"]) == (4, 1, ["u"])
    assert (told["mean"], told["median"], told["lowest"], told["highest"]) == (3.0, 2.5, 1.0, 6.0)
    assert [one["kind"] for one in fault_rows(made)] == ["not graded"]


def test_less_than_0_for_one_notebook_of_several_counts_for_their_sum_everywhere() -> None:
    below, above = (scored("ada", f"ps1/{name}", score, 9) for name, score in (("p1", -2), ("p2", 5)))
    alone = scored("ada", "ps2", -2)
    assert (below.score, above.score, alone.score) == (-2, 5, 0)
    both = {one.key: one for one in (below, above, alone)}
    assert {key.lesson: one.score for key, one in by_assignment(both).items()} == {"ps1": 3, "ps2": 0}
    (row,) = tables(records([below, above]))["learners"]
    assert row["total"] == 3


def test_an_exercise_is_passed_by_so_many_of_all_who_handed_in() -> None:
    ends = ("passed", "passed", "failed", "not answered")
    made = records([work(f"s{n}", [outcome("first", end)]) for n, end in enumerate(ends)])
    (told,) = exercise_rows(made, made.lessons[0])
    assert (told["learners"], told["pass_rate"], told["mean_share"], told["points"]) == (4, 0.5, 0.5, 2.0)
    assert (told["passed"], told["failed"], told["not answered"], told["timeout"]) == (2, 1, 1, 0)
    assert told["longest_seconds"] == 0.5


def test_misconceptions_are_ranked_by_learners() -> None:
    works = [
        work(name, [outcome("first", "failed", hints=["local_name"]), outcome("second", "failed", hints=hints)])
        for name, hints in (("zora", ["registered_twice"]), ("yan", ["local_name"]), ("xu", []))
    ]
    first, second, other = misconception_rows(records(works))
    assert (first["id"], first["of"], first["share"]) == ("local_name", 3, 1.0)
    assert (first["learners"], first["exercises"]) == (["xu", "yan", "zora"], ["first", "second"])
    assert second["id"] == "registered_twice" and second["learners"] == ["zora"]
    assert other["name"].startswith("not recognised: ") and other["learners"] == ["xu"]


def test_who_needs_help_and_why() -> None:
    ends = {"ann": "passed", "cid": "not answered", "dee": "passed", "eve": "timeout", "fay": "passed"}
    works = []
    for lesson in ("01_a", "02_b", "03_c"):
        works += [work(name, [outcome("first", end)], lesson=lesson) for name, end in ends.items()]
    works = [one for one in works if (one.learner, one.lesson) not in {("dee", "02_b"), ("dee", "03_c")}]
    works.append(refused("dee", "03_c", "the file is empty"))
    found = {one["learner"]: one["reasons"] for one in needs_help(records(works, [Person("zoe")]))}
    assert found == {
        "cid": ["0% of the points", "3 of 3 exercises not answered"],
        "eve": ["0% of the points", "3 exercises never ended"],
        "zoe": ["0% of the points", "nothing handed in for 01_a, 02_b, 03_c"],
        "dee": ["33% of the points", "nothing handed in for 02_b", "could not be graded: 03_c"],
    }


def test_points_that_wait_for_a_teacher_are_no_reason_to_talk_to_the_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = work("ann", [outcome("first")])
    waiting = CellMark("essay", 3 * mark.max_score, waits_for_person=True, by_hand=True)
    mark = replace(mark, max_score=4 * mark.max_score, cells={**mark.cells, "essay": waiting})
    assert needs_help(records([mark])) == []
    for there, place in (({"desk": []}, "desk"), ({}, "formgrader")):
        monkeypatch.setattr("nbproof.doors.Door.installed", lambda door, there=there: there)
        assert re.fullmatch(f"waiting for your marks: 1 written answer: .* {place}", *marker_lines([mark], Path()))
    settled = replace(mark, cells={**mark.cells, "essay": replace(waiting, waits_for_person=False)})
    assert [one["share"] for one in needs_help(records([settled]))] == [0.25]


def test_nothing_is_missing_while_an_extension_runs() -> None:
    works = [work(name, [outcome("first")], lesson="01_a") for name in ("ann", "bob", "cid")]
    made = records([*works, work("ann", [outcome("first", "failed")], lesson="02_few")], [Person("dee")])
    assert {one["learner"]: one["share"] for one in needs_help(made)} == {"dee": 0.0}, "few handed in 02_few"
    assert needs_help(replace(made, more_time=frozenset({("dee", "01_a")}))) == []


def test_who_comes_first_is_a_list_for_one_evening_and_the_rest_is_counted() -> None:
    """120 learners, of whom 40 have less than half of the points: a list of them all tells a teacher nothing."""
    ends = [["failed"] * 4] * 10 + [["passed"] + ["failed"] * 3] * 30 + [["passed"] * 4] * 80
    works = [
        work(f"s{number:03}", [outcome(f"e{at}", end) for at, end in enumerate(mine)])
        for number, mine in enumerate(ends)
    ]
    made = records(works)
    found = needs_help(made)
    assert [one["learner"] for one in found] == [f"s{number:03}" for number in range(40)]
    assert [one["first"] for one in found] == [True] * 12 + [False] * 28
    page = BeautifulSoup(html_of(made, tables(made), "course", "today"), "html.parser").find(id="help")
    assert page is not None and [len(table.select("tbody tr")) for table in page.select("table")] == [12, 28]
    assert sum(one["first"] for one in needs_help(records(works[:9]))) == 5, "of a small class five"


def test_who_sent_what_cannot_be_graded_has_not_handed_in_nothing() -> None:
    """`--zero missing` wrote 0 for a learner with a notebook that nobody could read."""
    class_ = records([scored("ann")], [Person("ben"), Person("cem"), Person("dee")])
    came = [Key("ben", ""), Key("cem", LESSON)]
    for kind, who in (("missing", {"dee"}), ("ungraded", {"ben", "cem"})):
        assert {key.learner for key in zeros(class_, [kind], {}, came)[0]} == who


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
    ("ada", "02_tensor_hooks"): scored("", "", 20.5, 33.0), ("BOB", "02_tensor_hooks"): scored("", "", 0.0, 33.0),
    ("eve", "02_tensor_hooks"): scored("", "", 33.0, 33.0),
}  # fmt: skip
TITLES = {"02_tensor_hooks": "Tensor hooks: watch"}
PEOPLE = [Person("ada"), Person("BOB", email="bob@uni.example", also=frozenset({"number participant 2"}))]
TWO_NUMBERS = ["number participant 1", "number participant 2"]


def _rows(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_canvas_keeps_what_is_the_teachers_and_scales(tmp_path: Path) -> None:
    export = tmp_path / "c.csv"
    export.write_bytes(b"\xef\xbb\xbf" + CANVAS.encode())
    made = grade_file(systems()["Canvas"], export, GRADES, PEOPLE, TITLES)
    rows = _rows(made.data)
    assert rows[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "02 Tensor hooks (4711)"]
    assert rows[2][0] == "    Points Possible" and rows[2][-1] == "66"
    assert [row[-1] for row in rows[3:]] == ["41", "0", "", ""]
    assert made.data.startswith(b"\xef\xbb\xbf") and b"\r\n" in made.data
    assert made.unmatched == ("eve",) and made.filled == 2 and "scaled from 33" in made.notes[0]
    export.write_text(CANVAS.replace("CS 1,,9,80", "CS 1,EX,9,80"))
    excused = grade_file(systems()["Canvas"], export, GRADES, PEOPLE, TITLES)
    assert [row[-1] for row in _rows(excused.data)[3:]] == ["EX", "0", "", ""]
    assert excused.filled == 1 and "02_tensor_hooks: excused in the LMS, and left so: ada" in excused.notes


WORKSHEET = "Identifier,Full name,ID number,Grade,{0},May it?\nParticipant 1,Ada,ada,{1},{2},{3}\nParticipant 2,Bob,BOB,,{2},Ja\n"


@pytest.mark.parametrize(
    ("system", "export", "most", "also", "written", "note"),
    [
        ("Canvas", CANVAS.replace("CS 1,,9,80", "CS 1,complete,9,80"), 33.0, (), ["41", "0"], "ada (complete)"),
        ("Canvas", CANVAS, 0.0, (), ["", "20"], "it gives no points here, and 66 in the LMS: nothing is written"),
        ("Canvas", CANVAS, 33.0, ["number 12"], ["", "20"], "ids or names of BOB and of ada: nothing is written there"),
        ("Canvas", CANVAS, 33.0, ["A-2"], ["41", "20"], "A-2, 12 has ids or names of BOB and of ada"),
        ("Moodle", WORKSHEET.format("Maximum grade", "B1", "33", "Yes"), 33.0, (), ["20.5", "0"], "ada (B1)"),
        ("Moodle", WORKSHEET.format("Maximum grade", "7", "33", "No"), 33.0, (), ["7", "0"], "changed, so it is left: ada"),
        ("Moodle", WORKSHEET.format("Bestwertung", "", "33", "Ja"), 33.0, TWO_NUMBERS, ["20.5", ""], "BOB and of ada: nothing"),
        ("Moodle", WORKSHEET.format("Bestwertung", "", "33.00", "Nein"), 33.0, (), ["", "0"], "cannot be changed"),
    ],
)  # fmt: skip
def test_what_is_replaced_and_what_is_not_written_is_named(
    system: str, export: str, most: float, also: list[str], written: list[str], note: str, tmp_path: Path
) -> None:
    table = tmp_path / "c.csv"
    table.write_text(export)
    grades = {key: replace(one, max_score=most) for key, one in GRADES.items()}
    people = [replace(PEOPLE[0], also=frozenset(also)), PEOPLE[1]]
    made = grade_file(systems()[system], table, grades, people, TITLES)
    row, column = (1, 3) if system == "Moodle" else (3, -1)
    assert [cells[column] for cells in _rows(made.data)[row : row + 2]] == written
    assert note in "\n".join(made.notes) and made.unclear[:1] == (("BOB",) if also else ())


@pytest.mark.parametrize("head", ["Scale", "Skala", "Maximum grade"])
def test_a_scale_of_moodles_takes_no_points(head: str, tmp_path: Path) -> None:
    table = tmp_path / "m.csv"
    table.write_text(WORKSHEET.format(head, "B1", '"C, B1, A1"', "Yes"))
    with pytest.raises(UsageError, match="Moodle grades this assignment by a scale"):
        grade_file(systems()["Moodle"], table, GRADES, PEOPLE, TITLES)


HEADS = {
    "Canvas": "Student,ID,SIS User ID,SIS Login ID,02 Tensor hooks (4711)\n",
    "Canvas, split": "LastName,FirstName,ID,SIS Login ID,Section,02 Tensor hooks (4711)\nPoints Possible,,,,,\n",
    "Moodle": "First name,Last name,Username,ID number,Email address,02_tensor_hooks\n",
    "Moodle, worksheet": "Identifier,Full name,Username,Email address,Grade\n",
    "Brightspace": "OrgDefinedId,Username,Last Name,First Name,Email,02 Tensor hooks Points Grade <>,End-of-Line Indicator\n",
}
ETHAN = Person("elin", "Ethan", "Lin", "elin@u.edu", also=frozenset({"number 501", "40211"}))
PLAIN = Person("elin", full_name="Ethan Lin")
NUMBERED = Person("40211", "Ada", "King")
BEN = Person("ben", "Ben", "Bell", also=frozenset({"number 8", "number participant 8"}))
AWAY = replace(ETHAN, also=frozenset({"number participant 7", "number 501"}))
BENS = "Participant 8,Ben Bell,ben,,\n"
ADA, DAN = (Person(one, one.title(), "King", "king@home.org") for one in ("ada", "dan"))
SIBLINGS = "Dan,King,,,king@home.org,\nAda,King,,,king@home.org,"


@pytest.mark.parametrize(
    ("system", "rows", "who", "kinds"),
    [
        ("Canvas", '"Lin, Ethan",777,e2@u.edu,e2,', ETHAN, "address and number"),
        ("Moodle", "Ethan,Lin,e2,,e2@u.edu,", ETHAN, "address"),
        ("Brightspace", "#e2,#e2,Lin,Ethan,e2@u.edu,,#", ETHAN, "address"),
        ("Canvas", '"Lin, Ethan",777,,e2,', ETHAN, "number"),
        ("Moodle", "Ben,Bell,ben,,,\nEthan,Lin,e2,,,", PLAIN, "id"),
        ("Canvas", '"Ethan, Lin",,,e2,', replace(ETHAN, also=frozenset()), "order"),
        ("Canvas", '"Doe, Jane",777,,elin,', ETHAN, "number and order"),
        ("Canvas", '"Zed, Zoe",40211,,zz,', NUMBERED, "order"),
        ("Moodle", "Zoe,Zed,zz,701,,", replace(PLAIN, also=frozenset({"number participant 701"})), ""),
        ("Canvas", '"Zed, Zoe",777,501,zz,', ETHAN, ""),
        ("Canvas", '"Bell, Ben",8,,ben,\n"Lin, Ethan",777,,elin,', ETHAN, "number"),
        ("Moodle, worksheet", f"{BENS}Participant 9,Ethan Lin,elin,,", AWAY, "participant number"),
        ("Moodle, worksheet", f"{BENS}Participant 9,Ethan Lin,elin,e@x.org,", AWAY, "address and participant number"),
    ],
)
def test_a_row_that_says_something_else_of_its_owner_gets_nothing(
    system: str, rows: str, who: Person, kinds: str, tmp_path: Path
) -> None:
    """And is the learner's after the command that is printed."""
    table = tmp_path / "c.csv"
    table.write_text(HEADS[system] + rows + "\n")
    grades = {(who.id, "02_tensor_hooks"): scored("", "", 5.0, 33.0)}
    came = {"02_tensor_hooks": ["participant 7", "participant 8"]}
    lms = systems()[system.partition(",")[0]]
    made = grade_file(lms, table, grades, [who, BEN], TITLES, came=came)
    assert (made.filled, (*made.unmatched, *made.unclear)) == (0, (who.id,))
    told = [note for note in made.notes if "nothing is written there" in note]
    assert [note.partition("another ")[2].partition(":")[0] for note in told] == [kinds] * bool(kinds)
    if told:
        step = shlex.split(told[0].partition("If it does: ")[2].partition("roster add ")[2])
        numbers = Member(who.id, also=(*step[2::2],)).numbers
        add = {*map("number {}".format, numbers), *(one.removeprefix("id ") for one in step)}
        who = replace(who, also=who.also | add)
        assert grade_file(lms, table, grades, [who, BEN], TITLES, came=came).filled == 1


@pytest.mark.parametrize(
    ("system", "rows", "people", "written"),
    [
        ("Moodle", "A,One,ab1,,,\nB,Two,AB1,,,", [Person("AB1"), Person("ab1")], ["2", "1"]),
        ("Moodle", "A,One,AB1,,,\nB,Two,ab1,,,", [Person("AB1")], ["1", ""]),
        ("Canvas", '"Lin, Ethan",777,,elin,', [ETHAN], ["1"]),
        ("Canvas", '"Lynn, Ethan",501,,e9,', [ETHAN], ["1"]),
        ("Canvas", '"Lin, Ethan",9,,e2,', [PLAIN], ["1"]),
        ("Canvas", '"King, Ada",40211,,ada,', [NUMBERED], ["1"]),
        ("Moodle", "Lin,Ethan,elin,,elin@u.edu,", [ETHAN], ["1"]),
        ("Moodle", SIBLINGS, [ADA, DAN], ["2", "1"]),
        ("Moodle, worksheet", "Participant 9,Ethan Lin,elin,,", [AWAY], ["1"]),
        ("Moodle, worksheet", "Participant 8,B. B.,,,\nParticipant 9,Ethan Lin,elin,,", [BEN, AWAY], ["1", "2"]),
        ("Moodle", SIBLINGS, [ADA], ["", "1"]),
        ("Canvas, split", "Lin,Ethan,501,elin,A,\nStudent,Test,9,aa,A,", [ETHAN, Person("9", "Test", "Student")], ["1", ""]),
    ],
)  # fmt: skip
def test_a_row_is_its_owners(system: str, rows: str, people: list[Person], written: list[str], tmp_path: Path) -> None:
    table = tmp_path / "c.csv"
    table.write_text(HEADS[system] + rows + "\n")
    grades = {(one.id, "02_tensor_hooks"): scored("", "", at, 33.0) for at, one in enumerate(people, 1)}
    made = grade_file(systems()[system.partition(",")[0]], table, grades, people, TITLES)
    column = -2 if system == "Brightspace" else -1
    assert [row[column] for row in _rows(made.data)[-len(written) :]] == written


@pytest.mark.parametrize(
    ("name", "is_told"), [("Lab Final Score (991)", True), ("Final Exam (991)", False), ("Final Score", False)]
)
def test_a_column_that_canvas_would_not_read_is_named(name: str, is_told: bool, tmp_path: Path) -> None:
    table = tmp_path / "c.csv"
    table.write_text(CANVAS.replace("Essay (4712)", name).replace("02 Tensor hooks (4711)", "02"))
    made = grade_file(systems()["Canvas"], table, GRADES, PEOPLE, TITLES, chosen={"02_tensor_hooks": name})
    assert (f"takes no grades in '{name}': rename" in "\n".join(made.notes)) is is_told


@pytest.mark.parametrize(
    ("words", "written"),
    [
        (("Abgegeben", "Abgegeben - 1 Stunde zu spät", "Keine Abgabe", "Abgegeben"), ["20", "", "0", "0"]),
        (("Keine Abgabe", "Keine Abgabe", "Keine Abgabe", "Keine Abgabe"), ["20", "0", "0", "0"]),
        (("", "", "", ""), ["20", "0", "0", "0"]),
    ],
)
def test_nobody_gets_0_for_what_the_lms_has_and_the_course_has_not(
    words: tuple[str, ...], written: list[str], tmp_path: Path
) -> None:
    """Where it says the same of everybody it says nothing; what came and is settled counts 0."""
    rows = [f"Participant {at},Lin {at},l{at},{said},,33\n" for at, said in enumerate(words)]
    table = tmp_path / "w.csv"
    table.write_text("Identifier,Full name,ID number,Status,Grade,Maximum grade\n" + "".join(rows))
    class_ = records([scored("l0", "02_tensor_hooks", 20.0, 33.0)], [Person(f"l{at}") for at in range(4)])
    given, lines = zeros(class_, ["missing"], {Key("l3", "02_tensor_hooks"): False})
    assert "no grade and no hand-in: l1, l2, l3" in "; ".join(lines)
    grades = {Key("l0", "02_tensor_hooks"): scored("l0", "02_tensor_hooks", 20.0, 33.0), **given}
    made = grade_file(systems()["Moodle"], table, grades, [Person(f"l{at}") for at in range(4)], TITLES)
    assert [row[4] for row in _rows(made.data)[1:]] == written
    assert ("the LMS says 'Abgegeben', and nothing came here: no 0 is written" in "\n".join(made.notes)) is (
        written[1] == ""
    )


@pytest.mark.parametrize(("astray", "written"), [("Ethan", "-"), ("Evan", "0")])
def test_who_has_a_grade_under_another_id_gets_no_0_beside_it(astray: str, written: str, tmp_path: Path) -> None:
    """An address that changed made two lines of one person. Somebody else without a row takes no 0 away."""
    table = tmp_path / "c.csv"
    table.write_text(f"{HEADS['Moodle']}Ethan,Lin,,,e2@u.edu,-\n")
    people = [Person("e2@u.edu", "Ethan", "Lin", "e2@u.edu"), Person("elin", astray, "Lin", "elin@u.edu")]
    nothing = Mark(Verdict("e2@u.edu", "02_tensor_hooks"), 33.0)
    grades = {("elin", "02_tensor_hooks"): scored("", "", 19.0, 33.0), ("e2@u.edu", "02_tensor_hooks"): nothing}
    made = grade_file(systems()["Moodle"], table, grades, people, TITLES)
    assert _rows(made.data)[1][-1] == written and made.unmatched == ("elin",)
    one = "e2@u.edu Ethan Lin gets no 0: elin Ethan Lin <elin@u.edu> has the same name, a grade, and no row"
    assert (one in "\n".join(made.notes)) is (written == "-")


@pytest.mark.parametrize("system", ["Canvas", "Moodle", "Moodle, worksheet", "Brightspace"])
def test_in_an_export_with_one_column_sorted_alone_nobody_gets_anothers_grade(system: str, tmp_path: Path) -> None:
    table, dot = tmp_path / "c.csv", Person("dot", "Dot", "Dix")
    rows = {
        "Canvas": '"Lin, Ethan",,,ben,\n"Bell, Ben",,,elin,\n"Dix-Roe, Dot",,,dot,\n',
        "Moodle": "Ethan,Lin,ben,,,\nBen,Bell,elin,,,\nDot,Dix-Roe,dot,,,\n",
        "Moodle, worksheet": "Participant 9,Ethan Lin,elin,,\nParticipant 8,Ben Bell,ben,,\nParticipant 7,Dot Dix,dot,,\n",
        "Brightspace": "#ben,#ben,Lin,Ethan,,,#\n#elin,#elin,Bell,Ben,,,#\n#dot,#dot,Dix-Roe,Dot,,,#\n",
    }
    table.write_text(HEADS[system] + rows[system])
    grades = {(one, "02_tensor_hooks"): scored("", "", 5.0, 33.0) for one in ("elin", "ben", "dot")}
    numbers = {f"number participant {at}": one for at, one in enumerate((dot, PLAIN, BEN), 7)}
    people = [replace(one, also=frozenset({number})) for number, one in numbers.items()]
    made = grade_file(systems()[system.partition(",")[0]], table, grades, people, TITLES)
    assert made.filled == 1
    assert sum("has ids or names of" in note and "Ethan" in note and "Ben" in note for note in made.notes) == 2


NOBODY = ("student", "points possible", "test_student", "99", "id")


@pytest.mark.parametrize(
    ("names", "column", "unmatched", "unclear"),
    [
        (("al1", "al2"), ["", "20", "", ""], (), ("al1", "al2")),
        (NOBODY, ["", "20", "", ""], tuple(sorted(NOBODY)), ()),
    ],
    ids=["two for one row", "rows that are nobody's"],
)
def test_whose_a_row_is(
    tmp_path: Path, names: tuple[str, ...], column: list[str], unmatched: tuple[str, ...], unclear: tuple[str, ...]
) -> None:
    export = tmp_path / "c.csv"
    export.write_text(CANVAS)
    grades = {(name, "02_tensor_hooks"): scored("", "", 1.0, 33.0) for name in names}
    people = [Person(name, "Ada", "Lovelace") for name in names if name.startswith("al")]
    made = grade_file(systems()["Canvas"], export, grades, people, TITLES)
    assert [row[-1] for row in _rows(made.data)] == ["02 Tensor hooks (4711)", "Manual Posting", "66", *column]
    assert (tuple(sorted(made.unmatched)), made.unclear) == (unmatched, unclear)


def test_moodle_worksheet_gets_the_grade(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(
        "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
        "Last modified (submission),Last modified (grade),Feedback comments\n"
        'Participant 5,Ada Lovelace,ada@uni.example,Submitted,,33.00,Yes,-,"Monday, 1 June",\n'
        "Participant 6,Nobody Else,no@uni.example,Submitted,12,33.00,Yes,-,-,keep\n"
    )
    grades, titles = {**GRADES, ("ada", "01_x"): scored("", "", 1, 2)}, {**TITLES, "01_x": "X"}
    people = [Person("ada", email="ada@uni.example")]
    rows = _rows(grade_file(systems()["Moodle"], sheet, grades, people, titles, "02_tensor_hooks").data)
    assert rows[1][4] == "20.5" and rows[1][9] == "" and rows[1][8] == "Monday, 1 June"
    assert ",".join(rows[2]) == "Participant 6,Nobody Else,no@uni.example,Submitted,12,33.00,Yes,-,-,keep"
    with pytest.raises(UsageError, match=r"report LESSON .*, where LESSON is 01_x or 02_tensor_hooks"):
        grade_file(systems()["Moodle"], sheet, grades, [], titles)


@pytest.mark.parametrize(
    ("number", "words", "told"),
    [
        ("4711", ["x"], ""),
        ("9", ["y"], ""),
        ("7", ["y"], "came with no lesson, and none of them with y"),
        ("4711", ["y"], "came with x, and none of them with y"),
        ("5001", ["x"], "came with y, and none of them with x"),
        ("4711", ["y", "--column", "y=Grade"], ""),
        ("5001", [], "for which lesson"),
    ],
)
def test_a_worksheet_with_numbers_of_another_assignment_takes_no_grades(
    number: str, words: list[str], told: str, tmp_path: Path
) -> None:
    """Its numbers are of one assignment, as those in the names of a download are; the command that is printed is right."""
    sheet, came = tmp_path / "w.csv", [("x", "4711"), ("y", "05001"), ("", "9")]
    sheet.write_text(f"Identifier,ID number,Grade,Maximum grade\nTeilnehmer/in{number},ada,,2\n")
    (tmp_path / "collected" / "1").mkdir(parents=True)
    files = [{"learner": "ada", "lesson": lesson, "account": f"Moodle:{number}"} for lesson, number in came]
    (tmp_path / "collected" / "1" / "list.json").write_text(json.dumps({"files": files}))
    results = records([work("ada", [outcome("first")], lesson=lesson) for lesson in ("x", "y")])

    def filled(words: list[str]) -> Any:
        chosen = columns_of([word for word in words if "=" in word])
        return grade_files(tmp_path, {"moodle": sheet}, results, chosen, [word for word in words if word in ("x", "y")])

    made, errors = filled(words)
    if told:
        assert told in errors[0].fact and not made
        command, *_ = (part for part in errors[0].next_command.split("; or") if " report " in part)
        made, errors = filled(re.split("[ ,;]", command))
    assert [one.filled for one in made.values()] == [1] and not errors
    (tmp_path / "collected" / "1" / "list.json").unlink()
    assert filled(words or ["x"])[0]["moodle"].filled == 1, "nobody knows its numbers"


def test_a_worksheet_in_any_language_is_filled_in_its_own_scale_and_numbers(tmp_path: Path) -> None:
    head = (
        "Identifiant;Nom complet;Numéro d’identification;Statut;Note;Note maximale;Si;Remis;Le;Commentaires de feedback"
    )
    sheet = tmp_path / "export.csv"
    sheet.write_text(f"{head}\nParticipant 1;Ada Lovelace;ada;Remis;;20,00;Oui;lundi, 18:14;-;\n", encoding="utf-8")
    grades = {("ada", "01_x"): scored("", "", 1, 2)}
    for score, given, more in ((20.0, "12,5", []), (40.0, "25", ["more than its 20 points in the LMS: ada (25)"])):
        grades["ada", "02_tensor_hooks"] = scored("", "", score, 32.0)
        made = grade_file(systems()["Moodle"], sheet, grades, [], {**TITLES, "01_x": "X"}, "02_tensor_hooks")
        row = f"Participant 1;Ada Lovelace;ada;Remis;{given};20,00;Oui;lundi, 18:14;-;"
        assert made.data.decode().splitlines()[1] == row
        notes = ["scaled from 32 points to the 20 of the LMS", *more]
        assert [*made.notes] == [f"02_tensor_hooks: {note}" for note in notes]


def test_ids_decide_before_names_and_names_are_asked_of_who_is_left(tmp_path: Path) -> None:
    """Three of one name: one by id, one of another LMS, one whom only the name can tell."""
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(
        "Identifier,Full name,ID number,Grade,Maximum Grade\n"
        "Participant 1,Marie Dupont,80,,33\nParticipant 2,Marie Dupont,,,33\n"
    )
    people = [Person(name, "Marie", "Dupont") for name in ("80", "dupont40", "dupont41")]
    grades = {(person.id, "02_tensor_hooks"): scored("", "", float(at), 33.0) for at, person in enumerate(people, 1)}
    unsure = grade_file(systems()["Moodle"], sheet, grades, people, TITLES, chosen={"02_tensor_hooks": "Points"})
    assert "so --column 02_tensor_hooks=Points is not used" in " ".join(unsure.notes)
    assert [row[3] for row in _rows(unsure.data)[1:]] == ["1", ""] and unsure.unclear == ("dupont40", "dupont41")


@pytest.mark.parametrize(
    ("columns", "chosen", "found"),
    [
        (["01 module anatomy (5)", "Quiz 1", "Tensor hooks (Real)"], {}, {"01": 0, "02": 2}),
        (["Lesson 1 (5)", "Tensor hooks", "02_tensor_hooks"], {"01_module_anatomy": "lesson 1"}, {"01": 0}),
        (["Lesson 1", "Lesson 1 (9)", "Tensor hooks"], {"01_module_anatomy": "Lesson 1"}, {"02": 2}),
    ],
)
def test_a_lessons_column_has_its_name_or_is_said(
    columns: list[str], chosen: dict[str, str], found: dict[str, int], tmp_path: Path
) -> None:
    """Nobody's grades go elsewhere: where two may be meant, neither is filled."""
    export = tmp_path / "g.csv"
    export.write_text(",".join(["Student", "ID", *columns]) + "\nAda,ada" + "," * len(columns) + "\n")
    titles = {"01_module_anatomy": "What a Module is", "02_tensor_hooks": "Tensor hooks"}
    grades = {("ada", lesson): scored("", "", 1, 2) for lesson in titles}
    made = grade_file(systems()["Canvas"], export, grades, [], titles, chosen=chosen)
    assert {lesson[:2]: columns.index(name) for lesson, name in made.columns.items()} == found
    assert len(made.left_out) == 2 - len(found)


@pytest.mark.parametrize(
    ("heads", "chosen", "fact"),
    [
        ("Assignment: hooks (Real),Assignment: hooks (Real)", {}, "has 2 with the name of hooks"),
        ("Hooks (Real),hooks (Letter)", {}, "has 2 with the name of hooks"),
        ("A,A", {"hooks": "A"}, "has 2 with the name of hooks"),
        ("A,B", {}, "has none with the name of hooks"),
        ("A,B", {"hooks": "x"}, "has 1 with the name of hooks, x"),
        ("A,B", {"hooks": "#60"}, "has no column '#60' for the grades of hooks"),
        ("hooks,B", {"hooks": "#60"}, "has no column '#60' for the grades of hooks"),
    ],
)
def test_a_lesson_without_a_column_of_its_own_is_an_error_and_the_columns_number_helps(
    heads: str, chosen: dict[str, str], fact: str, tmp_path: Path
) -> None:
    export = tmp_path / "g.csv"
    export.write_text(f"Username,Y,X,{heads}\nada,,,,\n")
    results = records([work("ada", [outcome("first")], lesson=lesson) for lesson in ("hooks", "x", "y")])
    made, (told,) = grade_files(tmp_path, {"moodle": export}, results, chosen, [])
    assert fact in told.fact and made["moodle"].columns["y"] == "Y"
    words = shlex.split(told.next_command.partition(";")[0].replace("COLUMN", "#4"))
    made, left_out = grade_files(
        tmp_path, {"moodle": export}, results, columns_of([word for word in words if "=" in word]), []
    )
    assert (_rows(made["moodle"].data)[1], left_out) == (["ada", "2", "2", "2", ""], [])


POSSIBLE = {
    "Canvas": "Student,ID,Notes,X\n    Points Possible,,,{0}\nAda,ada,{1},\nBob,bob,,{2}\n",
    "Moodle": "Identifier,ID number,Grade,Maximum grade,Text\nParticipant 1,ada,,{0},{1}\nParticipant 2,bob,{2},{0},\n",
    "Brightspace": "Username\tX Points Grade <Numeric MaxPoints:{0} Weight:1>\tT\tEnd-of-Line Indicator\n"
    "#ada\t\t{1}\t#\n#b\t{2}\t\t#\n",
}


@pytest.mark.parametrize("system", POSSIBLE)
@pytest.mark.parametrize(
    ("most", "beside", "theirs", "written"),
    [
        ("2.50", '"1,2"', "", "1.25"),
        ("2.50", "", '"1,5"', "1.25"),
        ("2", "1.2", '"1,5"', "1"),
        ("1", "1.2", '"1,5"', "0,5"),
        ('"1,000.00"', "", "", "500"),
        ('"1.001,00"', "", "", "500,5"),
        ("1’001.0", "", "", "500.5"),
        ('"1,000"', "", "", ""),
        ("1.000", "", "", ""),
        ("#", "", "", ""),
    ],
)
def test_numbers_are_read_as_the_lms_writes_them_or_not_at_all(
    system: str, most: str, beside: str, theirs: str, written: str, tmp_path: Path
) -> None:
    """ada has 0.5 of 1 point. What a teacher or learner writes beside the grades says nothing about them."""
    export = tmp_path / "c.csv"
    most = most.strip('"') if system == "Brightspace" else most
    export.write_text(POSSIBLE[system].format(most, beside, theirs))
    grades = {("ada", "x"): scored("", "", 0.5, 1)}
    with nullcontext() if written else pytest.raises(UsageError, match="maximum for x cannot be read"):
        made = grade_file(systems()[system], export, grades, [], {})
        sheet = csv.reader(io.StringIO(made.data.decode()), delimiter="\t" if system == "Brightspace" else ",")
        assert written in next(row for row in sheet if {"ada", "#ada"} & {*row})


@pytest.mark.parametrize(
    ("system", "export", "note"),
    [
        ("Canvas", POSSIBLE["Canvas"].format("0.00", "", ""), "x: 0 points in the LMS"),
        ("Moodle", "Username,X (Letter)\nada,\n", "x: points are written into a column of letters"),
        ("Canvas", "Student,ID,X\nAda,ada,\n", "x: the file does not say how many points the LMS gives"),
        ("Canvas", "Student,ID,X\n    Points Possible,,\nAda,ada,\n", "so it is taken to be 1, as here"),
        ("Moodle", "Identifier,ID number,Grade\nParticipant 1,ada,\n", "so it is taken to be 1, as here"),
        (
            "Moodle",
            "Username,X,Notes\nada,\n",
            "fewer cells than the first line, so the last ones are taken as empty: line 2 (ada,)",
        ),
    ],
)
def test_a_column_that_is_for_no_points_is_named(system: str, export: str, note: str, tmp_path: Path) -> None:
    table = tmp_path / "c.csv"
    table.write_text(export)
    made = grade_file(systems()[system], table, {("ada", "x"): scored("", "", 0.5, 1)}, [], {})
    assert made.filled == 1 and note in "\n".join(made.notes)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        (b"", "no learner"),
        (b"PK\x03\x04", "no CSV"),
        (b"Student,ID,Quiz (1)\nAda,1,2\n", "has none with the name of 02"),
    ],
)
def test_a_wrong_export_says_what_to_do(tmp_path: Path, text: bytes, fact: str) -> None:
    export = tmp_path / "wrong.csv"
    export.write_bytes(text)
    with pytest.raises(UsageError, match=fact) as told:
        grade_file(systems()["Canvas"], export, GRADES, [], TITLES)
    assert told.value.place and told.value.next_command


def test_no_cell_is_a_formula() -> None:
    for hostile in ("=cmd|' /C calc'!A0", "+1", "-1", "@sum", "\t=1", "  =1", "＝1", "\ufeff=1", "\x1b=1"):
        assert str(safe_cell(hostile)).startswith("'")
    assert safe_cell(-1.5) == -1.5 and safe_cell("plain") == "plain" and safe_cell("") == ""


def test_files_hold_what_was_found(tmp_path: Path) -> None:
    works = [work("=evil", [outcome("first", "failed", hints=["local_name"])]), work("bo", [outcome("first")])]
    broken = work("cy", [], problem="no notebook")
    found = tables(records([*works, broken]))
    write_files(tmp_path, {"course": "made", "anonymous": False}, found, excel=True)
    rows = _rows((tmp_path / "scores.csv").read_bytes())
    assert rows[1][:4] == ["'=evil", LESSON, "first", "failed"]
    assert (tmp_path / "scores.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    data = json.loads((tmp_path / "report.json").read_text())
    assert (data["schema"], data["course"], data["anonymous"]) == (4, "made", False)
    assert [(one["learner"], one["score"], one["problem"]) for one in data["hand_ins"]] == [
        ("=evil", 0.0, None),
        ("bo", 2.0, None),
        ("cy", None, "no notebook"),
    ]
    assert [row[1] for row in _rows((tmp_path / "learners.csv").read_bytes())[1:]] == ["0.0", "2.0", "not graded"]
    for name, table in found.items():
        assert len(_rows((tmp_path / f"{name}.csv").read_bytes())) == len(table) + bool(table)
