"""Who handed in nothing, who only what cannot be graded, who was late: named by report, files and terminal."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from nbproof.cli.class_table import RunReport, class_as_json, is_incomplete, summary_line
from nbproof.gradebook.marks import Lateness, Person
from nbproof.key import Key
from nbproof.report.statistics import late_lines
from nbproof_lms import collect
from nbproof_lms.attendance import attend, lines_of, people_of
from tests import COURSE, main
from tests.lms.uploads import make_course, notebook, zipped
from tests.report.made import class_of, scored

pytestmark = pytest.mark.filterwarnings("ignore:Cell is missing an id field")

FIRST = {
    "doejane_1_5_01_first.ipynb": notebook("01_first", 1), "roebob_LATE_2_6_01_first.ipynb": notebook("01_first", 2),
    "leekim_3_7_essay.pdf": b"%PDF-1.7 my answers", "maxeva_4_8_02_other.ipynb": notebook("02_other", 3),
}  # fmt: skip
NAMES = (
    "learner,name,email,canvas\njd,Jane Doe,jd@u.edu,1\nbr,Bob Roe,,2\nkl,Kim Lee,,3\nem,Eva Max,,4\nzz,Zoe Zed,,5\n"
)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """One on time, one late, one with a PDF, one with another lesson, one who is on the roster only."""
    root = make_course(tmp_path / "course")
    for lesson in root.glob("release/*/*.ipynb"):
        source = root / "source" / lesson.stem
        source.mkdir(parents=True)
        cells = json.loads(lesson.read_text())
        for cell in cells["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade"):
                cell["metadata"]["nbgrader"]["points"] = 2
        (source / lesson.name).write_text(json.dumps(cells))
    (tmp_path / "names.csv").write_text(NAMES)
    (tmp_path / "up.zip").write_bytes(zipped(FIRST))
    collect(COURSE, root, [tmp_path / "up.zip"], lesson="01_first", names=tmp_path / "names.csv")
    return root


def test_the_class_is_held_against_what_came(course: Path) -> None:
    everybody = people_of(course)
    assert (list(everybody), everybody["zz"].name) == (["br", "em", "jd", "kl", "zz"], "Zoe Zed")
    found = attend(course, everybody, {("jd", "01_first"), ("br", "01_first")}, ["01_first", "02_other", "03_third"])
    assert found.missing == {"01_first": ("zz",)}
    assert [(one.learner, one.lesson, one.file) for one in found.nothing_gradable] == [
        ("em", "01_first", "maxeva_4_8_02_other.ipynb"), ("kl", "01_first", "leekim_3_7_essay.pdf"),
    ]  # fmt: skip
    contacts = ["jd Jane Doe <jd@u.edu>", "br Bob Roe", "nobody", r"a\nb@u.edu"]
    assert [found.contact(one) for one in ("jd", "br", "nobody", "a\nb@u.edu")] == contacts
    told = "\n".join(lines_of(found, course))
    assert "nothing handed in: 01_first: zz Zoe Zed" in told
    assert "kl Kim Lee: 01_first: only leekim_3_7_essay.pdf came: no notebook" in told
    assert "em Eva Max: 01_first: only maxeva_4_8_02_other.ipynb came: another lesson, it holds 02_other" in told


def test_of_an_assignment_of_several_who_is_missing_is_one_line(tmp_path: Path) -> None:
    came = {Key("ada", "ps/a"), Key("ada", "ps/b"), Key("ben", "ps/a"), Key("cai", "qs/a"), Key("dee", "single")}
    people = {name: Person(name) for name in ("ada", "ben", "cai", "dee")}
    lessons = ["ps/a", "ps/b", "ps/c", "qs/a", "qs/b", "rs/a", "single"]
    found = attend(tmp_path, people, came, lessons)
    assert lines_of(found, tmp_path) == [
        "nothing handed in: ps: cai, dee; ps/b: ben; ps/c: ada, ben",
        "nothing handed in: qs: ada, ben, dee; qs/b: cai",
        "nothing handed in: single: ada, ben, cai",
    ]
    assert found.missing["ps/c"] == ("ada", "ben", "cai", "dee") and "rs/a" not in found.missing


def test_whoever_sends_the_notebook_after_the_pdf_is_listed_no_longer(course: Path, tmp_path: Path) -> None:
    (tmp_path / "up2.zip").write_bytes(zipped({"leekim_3_9_01_first.ipynb": notebook("01_first", 9)}))
    collect(COURSE, course, [tmp_path / "up2.zip"], lesson="01_first")
    found = attend(course, people_of(course), {(name, "01_first") for name in ("jd", "br", "kl")}, ["01_first"])
    assert [one.learner for one in found.nothing_gradable] == ["em"]


def test_the_report_names_them_on_the_page_in_files_and_in_the_terminal(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "--course", str(course)]) == 0
    told = capsys.readouterr().out
    assert "nothing handed in: 01_first: zz Zoe Zed" in told
    assert "! not graded: kl Kim Lee: 01_first: only leekim_3_7_essay.pdf came: no notebook" in told
    with (course / "report" / "hand_ins.csv").open() as file:
        rows = {row["learner"]: row for row in csv.DictReader(file)}
    assert {name: row["how"] for name, row in rows.items()} == {
        "jd": "not graded", "br": "not graded", "kl": "not graded", "em": "not graded", "zz": "nothing",
    }  # fmt: skip
    assert "essay.pdf" in rows["kl"]["problem"]
    assert (rows["br"]["late"], rows["br"]["only_said_late"]) == ("yes", "yes")
    page = (course / "report" / "index.html").read_text()
    assert "Zoe Zed" in page and "leekim_3_7_essay.pdf" in page


def test_a_file_of_no_known_lesson_may_be_for_each_and_is_named_with_each(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of Zoe nothing else came; Jane has handed in another lesson than the one that is asked about. The upload has both."""
    (tmp_path / "up.zip").write_bytes(
        zipped(
            {
                "zedzoe_5_9_a.pdf": b"%PDF-1.7 a",
                "doejane_1_9_b.pdf": b"%PDF-1.7 b",
                "roebob_2_9_x.ipynb": notebook("02_other", 4),
                "leekim_3_9_x.ipynb": notebook("01_first", 4),
            }
        )
    )
    collect(COURSE, course, [tmp_path / "up.zip"])
    assert main(["report", "02_other", "--course", str(course)]) == 0
    told = capsys.readouterr().out
    assert "nothing that can be graded came from zz: only zedzoe_5_9_a.pdf came" in told
    (missing,) = re.findall("nothing handed in: (.*)", told)
    assert "jd Jane Doe" in missing and "Zoe" not in missing
    assert "! came, and counts for nobody yet: doejane_1_9_b.pdf; why: " in told


def test_a_file_of_no_known_lesson_is_for_that_of_all_notebooks_it_came_with_and_is_not_forgotten(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, lesson, hers in (("one", "02_other", b"%PDF-1.7"), ("two", "01_first", notebook("01_first", 5))):
        files = {"zedzoe_5_9_a.ipynb": hers, "roebob_2_9_x.ipynb": notebook(lesson, 4)}
        (tmp_path / f"{name}.zip").write_bytes(zipped(files))
        collect(COURSE, course, [tmp_path / f"{name}.zip"])
        capsys.readouterr()
        main(["report", "--course", str(course)])
        assert "02_other: only zedzoe_5_9_a.ipynb came" in " ".join(capsys.readouterr().out.split()), name


def test_grades_json_and_lines_name_them(course: Path) -> None:
    scores = (scored("br", "01_first", penalty=0.5, late=Lateness(1, True)), scored("jd", "01_first"))
    found = attend(course, people_of(course), {one.key for one in scores}, ["01_first"])
    class_ = RunReport(class_of(scores), 1.0, attendance=found, root=course)
    assert is_incomplete(class_) and "nothing that can be graded 2" in summary_line(class_)
    assert not is_incomplete(replace(class_, attendance=replace(found, nothing_gradable=())))
    told = class_as_json(class_, 0)
    assert told["nothing_handed_in"] == {"01_first": ["zz"]}
    assert [one["learner"] for one in told["nothing_gradable"]] == ["em", "kl"]
    assert told["totals"]["late"] == 1
    assert [(one["late"], one["only_said_late"]) for one in told["submissions"]] == [(True, True), (False, False)]
    assert late_lines(scores) == ["late: 01_first: br (the LMS says so, not when) (-0.5)"]
    said = tuple(scored(name, "01_first", late=Lateness(said=True)) for name in ("a", "b"))
    known = (scored("c", "01_first", late=Lateness(60)), scored("d", "01_first", late=Lateness(120)))
    both = "late: 01_first: d 2 min, c 1 min, a (the LMS says so, not when), b (the LMS says so, not when)"
    assert late_lines((*said, *known)) == [both]
    (extended,) = late_lines([scored("a", "01_first", late=Lateness(said=True, extended=True))])
    assert extended == "late: 01_first: a (the LMS says so, not when; with an extension it counts as on time: look)"


def test_a_list_in_collected_that_is_broken_harms_nobody(course: Path) -> None:
    broken = ("{", "[]", '{"files": [1]}', '{"files": [{"learner": 5, "status": "damaged"}]}', "[" * 9999)
    for number, text in enumerate(broken):
        folder = course / "collected" / f"9{number}00-x"
        folder.mkdir()
        (folder / "list.json").write_text(text)
    assert main(["report", "--course", str(course)]) == 0
