"""The page: whole, self-contained, harmless; the command: what is wrong, where, what next."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from nbgrader.api import Gradebook

from nbproof.places import course_config
from nbproof.report.records import read_class
from nbproof.report.statistics import fault_rows
from nbproof.run.journal import note_problems
from nbproof_lms.attendance import people_of
from tests import COURSE, main
from tests.report.made import LESSON, course_on_disk, refused

ROOT = Path(__file__).parent.parent.parent
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    answers = {f"s{n}": {"answer": f"def first(x):\n    return {n} * x"} for n in range(6)}
    answers["evil<img src=x onerror=alert(1)>"] = {
        "answer": f"# {HOSTILE}\nname_of_evil = '{HOSTILE}'", "status": "failed", "sentence": HOSTILE, "hint": HOSTILE,
    }  # fmt: skip
    answers["tim"] = {"status": "timeout", "sentence": "Your code was still running after 30 seconds."}
    return course_on_disk(tmp_path, answers)


def _page(root: Path, folder: str = "report") -> BeautifulSoup:
    return BeautifulSoup((root / folder / "index.html").read_text(), "html.parser")


def test_the_page_is_one_harmless_accessible_file(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--course", str(course)]) == 0
    text = (course / "report" / "index.html").read_text()
    page = BeautifulSoup(text, "html.parser")
    assert [script.get("src") for script in page.find_all("script")] == [None], "one script, our own"
    assert not page.find_all(["img", "iframe", "link", "object"])
    assert not [tag for tag in page.find_all(True) for name in tag.attrs if name.startswith("on")]
    addresses = [tag[name] for tag in page.find_all(True) for name in ("src", "href") if tag.has_attr(name)]
    assert all(address.startswith("#") for address in addresses)
    assert HOSTILE not in text.replace("&lt;", "")
    assert "default-src 'none'" in page.find("meta", attrs={"http-equiv": True})["content"]
    for table in page.find_all("table"):
        assert all(head.get("scope") for head in table.find_all("th"))
    ids = [tag["id"] for tag in page.find_all(id=True)]
    assert len(ids) == len(set(ids))
    told = capsys.readouterr().out
    assert "talk first to" in told and str(course / "report" / "index.html") in told.replace("\n", "")
    assert "timeout" in page.find(id="faults").get_text()


def test_whoever_is_to_be_talked_to_is_called_by_name(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    course_config(course)  # nbgrader finds its own tools
    (course / "roster.csv").write_text("learner,name\ntim,Tim Zed\ns0,Ann Li\nzoe,Zoe Nobody\n")
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_hooks") as gradebook:
        gradebook.update_or_create_student("tim", first_name="Timothy", last_name="Before")
    assert people_of(course)["tim"].name == "Tim Zed"
    assert main(["report", "--course", str(course)]) == 0
    page = _page(course)
    assert "tim (Tim Zed)" in page.find(id="help").get_text()
    assert "tim (Tim Zed)" in page.find(id="faults").get_text()
    assert "zoe (Zoe Nobody)" in page.find(id="scores").get_text(), "who handed in nothing"
    assert "  tim Tim Zed: " in capsys.readouterr().out


def test_what_could_not_be_graded_keeps_its_reason(course: Path) -> None:
    note_problems(
        course, [refused("s0", LESSON, "it is not a notebook"), refused("s3", LESSON, "oh no", grader_failed=True)]
    )
    (course / "autograded" / "s1" / LESSON / ".verdict.json").write_text('{"verdict": 7}')
    (course / "submitted" / "new" / LESSON).mkdir(parents=True)
    records = read_class(COURSE, course, [])
    works = records.marks
    assert works["s0", LESSON].problem == "it is not a notebook"
    kinds = {one["learner"]: one["kind"] for one in fault_rows(records)}
    assert (kinds["s0"], kinds["s3"]) == ("not graded", "the grader's own problem")
    assert "cannot be read" in works["s1", LESSON].problem
    assert [one.place for one in records.unreadable] == [str(course / "autograded" / "s1" / LESSON / ".verdict.json")]
    assert works["new", LESSON].problem.startswith(f"no {LESSON}.ipynb")
    assert works["s2", LESSON].score == 2.0


def test_what_is_damaged_is_listed_and_the_rest_is_reported(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A verdict that is no verdict, and another lesson whose notebook is none."""
    (course / "autograded" / "s1" / LESSON / ".verdict.json").write_text("{")
    (course / "source" / "02_broken").mkdir()
    (course / "source" / "02_broken" / "02_broken.ipynb").write_text("no notebook")
    (course / "submitted" / "s2" / "02_broken").mkdir(parents=True)
    (course / "submitted" / "s2" / "02_broken" / "02_broken.ipynb").write_text("{}")
    assert main(["report", "--course", str(course)]) == 1
    told = capsys.readouterr().err
    assert "the verdict on s1's 01_small cannot be read" in told
    assert told.count("  at:   ") == told.count("  next: ") == 1
    assert "01 small" in _page(course).get_text() and "not graded yet" in _page(course).get_text()
    assert "s2" in (course / "report" / "learners.csv").read_text()


def test_page_and_tables_are_written_whatever_the_exports_are(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An export that cannot be read, and one in which no column, or more than one, may be the lesson's."""
    export = course / "canvas.csv"
    head = "Student,ID,SIS Login ID"
    for columns, option, told in (
        ("", ["--moodle", str(course)], "cannot be read"),
        ("Essay (5),Talk (6)", ["--canvas", str(export)], "the export has none with the name of 01_small"),
        ("01 small (5),01 small (6)", ["--canvas", str(export)], "--column '01_small=#4'"),
    ):
        export.write_text(f"{head},{columns}\n    Points Possible,,,4,4\nA,1,s0,,\n")
        shutil.rmtree(course / "report", ignore_errors=True)
        assert main(["report", "--course", str(course), *option]) == 1
        said = "".join(capsys.readouterr())
        assert told in said and "next: " in said
        assert (course / "report" / "index.html").exists() and (course / "report" / "learners.csv").exists()
    assert main(["report", "--course", str(course), *option, "--column", "01_small=#5"]) == 1
    assert "! s1: has a grade" in capsys.readouterr().out
    assert main(["report", "--course", str(course), *option, "--column", "01_smal=#5"]) == 1
    assert "no lesson is called '01_smal', and may mean: 01_small\n" in capsys.readouterr().err
    assert main(["report", "--course", str(course), *option, "--column", "01_small=#5"]) == 1
    assert (course / "report" / "canvas.csv").read_text().splitlines()[2] == "A,1,s0,4"


def test_persons_of_another_lms_are_one_line(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the other's export is named in the same call; else they are listed, one by one."""
    names = sorted(path.name for path in (course / "autograded").iterdir())
    canvas, moodle = course / "canvas.csv", course / "moodle.csv"
    canvas.write_text("Student,ID,SIS Login ID,01 small (5)\n    Points Possible,,,4\nA,1,s0,\n")
    rows = "".join(f"{name},\n" for name in names if name != "s0")
    moodle.write_text("Username,Assignment: 01_small (Real)\n" + rows)
    both = ["report", "--course", str(course), "--canvas", str(canvas), "--moodle", str(moodle)]
    assert main(both) == 0
    told = capsys.readouterr().out
    assert (
        f"{len(names) - 1} learners of another LMS" in told
        and "1 learner of another LMS" in told
        and "  ! " not in told
    )
    assert main(both[:5]) == 1
    told = capsys.readouterr().out
    assert "  ! s1: has a grade, and Canvas's export has no such person\n" in told
    assert told.index("  next: nothing for learners who") < told.index("a group that handed in as one"), "it may be one"
    assert (
        f"! not of now: {course}/report/moodle.csv is of an earlier report" in told
        and "report/canvas.csv is" not in told
    )
    (course / "roster.csv").write_text("learner,name\ns0,Sue\n")
    assert main([*both[:3], *both[5:]]) == 1
    listed = capsys.readouterr().out
    assert "s0: has a grade, and Moodle's export has no such person\n  next: " in listed and "GROUP" not in listed
    moodle.write_text("Username,Assignment: 01_small (Real)\ns0,\ns0,\n" + rows)
    assert main([*both[:3], *both[5:], "--zero", "missing"]) == 1
    listed = capsys.readouterr().out
    assert "s0: has a grade, and fits several rows" in listed and "--zero:" not in listed
    assert main([*both[:3], "--zero", "missing"]) == 0
    assert "! --zero: its 0 stands in grade files alone, and none was asked for: add " in capsys.readouterr().out


def test_wrong_uses_say_fact_place_and_next(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    for call in (["02_none"], ["--out", str(blocked)], ["--canvas", "nowhere.csv"], ["--moodle", str(blocked)]):
        assert main(["report", "--course", str(course), *call]) != 0
        told = capsys.readouterr().err
        assert "error: " in told and "  at: " in told and "  next: " in told and "Traceback" not in told


@pytest.mark.slow
def test_whoever_has_no_grade_is_named_and_gets_what_was_asked_for(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """zoe, xia and yan handed in nothing, s3 no notebook. Excused stays excused, and a grade that the LMS has stays."""
    (course / "roster.csv").write_text("learner,name,email\nzoe,Zoe Zed,z@u.edu\nxia,,\nyan,,\n")
    note_problems(course, [refused("s3", LESSON, "it is not a notebook")])
    names = {"s0": "3", "s3": "", "zoe": "", "xia": "1", "yan": "EX"}
    rows = "".join(f"A,1,{name},{grade}\n" for name, grade in names.items())
    export = course / "canvas.csv"
    export.write_text(f"Student,ID,SIS Login ID,01 small (5)\n    Points Possible,,,2\n{rows}")

    def filled(*words: str) -> tuple[dict[str, str], str]:
        main(["report", LESSON, "--course", str(course), "--canvas", str(export), *words])
        told = capsys.readouterr().out
        lines = (course / "report" / LESSON / "canvas.csv").read_text().splitlines()[2:]
        return {line.split(",")[2]: line.split(",")[3] for line in lines}, told

    grades, told = filled()
    assert grades == {"s0": "2", "s3": "", "zoe": "", "xia": "1", "yan": "EX"}
    empty = "01_small: nothing handed in: nothing written in grade files (--zero missing: 0): xia, yan, zoe"
    assert (
        empty in told and "nothing that can be graded: nothing written in grade files (--zero ungraded: 0): s3" in told
    )
    stays = (
        "01_small: no grade from here, and one in the LMS, which stays (if it holds no longer, clear it in the LMS): "
    )
    assert f"{stays}xia (1)\n" in told
    assert "replaces another grade, of the export: s0 (3)" in told
    assert empty in _page(course, f"report/{LESSON}").get_text(), "the page says the same"
    grades, told = filled("--zero", "missing")
    assert grades == {"s0": "2", "s3": "", "zoe": "0", "xia": "1", "yan": "EX"}
    assert "01_small: excused in the LMS, and left so: yan" in told
    assert f"{stays}xia\n" in told
    assert main(["settle", f"s3/{LESSON}", "--course", str(course)]) == 0
    assert filled()[0]["s3"] == "0", "a person has said so"
    assert main(["settle", f"s3/{LESSON}", "--open", "--course", str(course)]) == 0
    assert (filled()[0]["s3"], filled("--zero", "ungraded")[0]["s3"]) == ("", "0")
    assert main(["roster", "due", LESSON, "2999-01-01", "--course", str(course)]) == 0
    grades, told = filled("--zero", "missing")
    assert grades["zoe"] == "" and "nothing handed in yet, due 2999-01-01" in told
    export.write_bytes((course / "report" / LESSON / "canvas.csv").read_bytes().replace(b",xia,1", b",xia,0"))
    for day, extended in (("2001-01-01", ""), ("2001-01-01", f"{stays}xia (0)\n")):
        assert main(["roster", "due", LESSON, day, "--course", str(course)]) == 0
        assert (
            main(["roster", "extend", "xia", LESSON, *["2999-01-01" if extended else "none"], "--course", str(course)])
            == 0
        )
        grades, told = filled("--zero", "missing")
        assert grades["xia"] == "0" and (extended in told if extended else stays not in told), "a 0 from before"


def test_a_report_of_one_lesson_leaves_that_of_the_term(course: Path) -> None:
    assert main(["report", "--course", str(course)]) == 0
    before = {path: path.read_bytes() for path in (course / "report").iterdir()}
    assert main(["report", LESSON, "--course", str(course)]) == 0
    assert before == {path: path.read_bytes() for path in before}
    head = _page(course, f"report/{LESSON}").h1.get_text()
    assert head.endswith(f": {LESSON}") and LESSON not in _page(course).h1.get_text()
    assert '"lessons_asked": [\n  "01_small"\n ]' in (course / "report" / LESSON / "report.json").read_text()
