"""What cannot be graded, and will never change, is asked about until somebody says that they have seen it, and no longer."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from nbproof.testing import Rehearsal
from nbproof.testing.small import LESSON, RIGHT
from tests import main, said
from tests.lms.uploads import make_course, notebook, zipped


@pytest.mark.usefixtures("one_engine")
def test_a_file_that_will_never_change_is_settled_until_other_bytes_come(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of three: no notebook, and one whose cells are gone; a page that says what to hand in."""
    room = Rehearsal(course, LESSON)
    (course / "roster.csv").write_text("learner,name,email\nbob,Bob Roe,bob@u.edu\n")
    room.hand_in("ada", RIGHT)
    broken, lost = room.hand_in("bob", {}), room.hand_in("cyd", RIGHT)
    broken.write_bytes(b"%PDF-1.7 my answers")
    cells = json.loads(lost.read_text())
    cells["cells"] = [one for one in cells["cells"] if "first" not in str(one["metadata"].get("nbgrader"))]
    lost.write_text(json.dumps(cells))
    code, told = said(capsys, course, "grade")
    page = course / "feedback" / "bob" / LESSON / f"{LESSON}.html"
    assert code == 1 and f"! not graded: submitted/bob/{LESSON}: bob Bob Roe <bob@u.edu>: it is no notebook" in told
    assert f"send them their page, which says what to hand in: {page}" in told and "JupyterLab" not in told
    assert "hand in the .ipynb file itself" in page.read_text()
    assert "! missing: " in told
    assert f"bob/{LESSON}  (bob Bob Roe <bob@u.edu>)  waits for you" in said(capsys, course, "settle")[1]
    code, told = said(capsys, course, f"settle bob/{LESSON} cyd")
    assert code == 0 and told.count("seen: what has no mark counts 0") == 2
    code, told = said(capsys, course, "grade --json -")
    assert code == 0 and "\n! " not in told and "settled, and the same since: 2" in told
    assert json.loads(told[told.index("{\n") : told.rindex("\n}") + 2])["settled"] == [f"bob/{LESSON}", f"cyd/{LESSON}"]
    assert "not graded: " not in said(capsys, course, "report")[1]
    assert said(capsys, course, f"settle cyd/{LESSON} --undo")[0] == 0
    code, told = said(capsys, course, "grade")
    assert code == 1 and "! missing: " in told and "! not graded" not in told
    assert said(capsys, course, f"settle cyd/{LESSON} --open")[0] == 0
    broken.write_bytes(b"%PDF-1.7 other answers")
    code, told = said(capsys, course, "grade")
    assert code == 1 and "! not graded: submitted/bob" in told and "! missing: " not in told
    broken.write_bytes(b"%PDF-1.7 my answers")
    code, told = said(capsys, course, "grade")
    assert code == 1 and "! not graded: submitted/bob" in told, "the same once more, after another file"
    assert said(capsys, course, "settle bob")[0] == 0
    assert "bob" in (course / ".course" / "settled.json").read_text()
    assert said(capsys, course, "roster remove bob --yes")[0] == 0
    assert "bob" not in (course / ".course" / "settled.json").read_text()
    assert "'zoe' is no learner's id" in said(capsys, course, "settle zoe")[1]


@pytest.mark.filterwarnings("ignore:Cell is missing an id field")
def test_a_file_that_comes_in_each_download_is_settled_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same bytes under the same name, in a download that is another one; not those of somebody else."""
    root = make_course(tmp_path / "course")
    shutil.copytree(root / "release", root / "source")
    essay = {"leekim_33_7_essay.pdf": b"%PDF-1.7 my answers"}
    first = {"doejane_1_5_01_first.ipynb": notebook("01_first", 1), **essay}
    for number, files in enumerate((first, first | {"roebob_2_8_01_first.ipynb": notebook("01_first", 2)})):
        (tmp_path / f"{number}.zip").write_bytes(zipped(files))
    assert said(capsys, root, f"collect {tmp_path}/0.zip --lesson 01_first")[0] == 1
    assert "'nobody' is no learner's id" in said(capsys, root, "settle nobody")[1]
    code, told = said(capsys, root, "settle leekim_33_7_essay.pdf")
    assert code == 0 and "seen: what has no mark counts 0" in told
    code, told = said(capsys, root, f"collect {tmp_path}/1.zip --lesson 01_first")
    assert code == 0 and "1 settled" in told and "needs you" not in told
    (tmp_path / "2.zip").write_bytes(zipped({**first, "maxeva_4_9_essay.pdf": essay["leekim_33_7_essay.pdf"]}))
    assert said(capsys, root, f"collect {tmp_path}/2.zip --lesson 01_first")[0] == 1


@pytest.mark.filterwarnings("ignore:Cell is missing an id field")
def test_a_file_is_settled_under_each_of_its_names_and_in_every_upload(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Kim's essay by lesson, a stranger's notebook by its path; Eva sends a notebook after her essay, and Kim his essay again."""
    root = make_course(tmp_path / "course")
    shutil.copytree(root / "release", root / "source")
    assert said(capsys, root, "settle") == (0, "nothing waits for you, and nothing is settled\n")
    (root / "roster.csv").write_text("learner,name,canvas id\njd,Doe Jane,31\nkl,Lee Kim,33\nem,Max Eva,34\n")
    first = {"doejane_31_5_x.ipynb": notebook("01_first", 1), "leekim_33_7_e.pdf": b"%PDF-1.7 my answers"}
    first |= {"maxeva_34_8_e.pdf": b"%PDF-1.7 hers", "who_77_6_x.ipynb": notebook("01_first", 3)}
    for number, files in enumerate((first, first | {"maxeva_34_9_x.ipynb": notebook("01_first", 2)})):
        (tmp_path / f"{number}.zip").write_bytes(zipped(files))
    told = said(capsys, root, f"collect {tmp_path}/0.zip --lesson 01_first")[1]
    path = shlex.split(told.partition("one by one: ")[2].partition(" --learner")[0])[-1]
    for name in (path, "kl/01_first"):
        assert said(capsys, root, f"settle {name}")[0] == 0
    told = said(capsys, root, "settle")[1]
    assert [line.split()[0] for line in told.splitlines() if "waits" in line] == ["maxeva_34_8_e.pdf", "em/01_first"]
    for number in (0, 1):
        assert " settled" in said(capsys, root, f"collect {tmp_path}/{number}.zip")[1]
    assert "! nothing that can be graded: " not in said(capsys, root, "roster")[1]
    assert "waits for you" not in said(capsys, root, "settle")[1]
    assert said(capsys, root, "settle kl --undo")[1].count("asked about again") == 2
    assert "! nothing that can be graded: kl Lee Kim: 01_first: only" in said(capsys, root, "roster")[1]


@pytest.mark.filterwarnings("ignore:Cell is missing an id field")
def test_an_earlier_file_of_a_number_that_is_known_by_now_is_named_with_its_learner(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Kim's account has a newer copy of 01_first, with a table that knows it; of 02_other nothing came since."""
    root = make_course(tmp_path / "course")
    shutil.copytree(root / "release", root / "source")
    (root / "roster.csv").write_text("learner,name,canvas id\njd,Doe Jane,31\nem,Max Eva,34\n")
    (tmp_path / "names.csv").write_text("learner,name,canvas id\nkl,Kim Lee-Oh,33\n")
    for number, lesson in enumerate(("01_first", "02_other", "01_first")):
        files = {f"{one}_{number}_x.ipynb": notebook(lesson, one) for one in ("doejane_31", "maxeva_34")}
        files[f"leek_33_{number}_x.ipynb"] = notebook(lesson, number)
        (tmp_path / f"{number}.zip").write_bytes(zipped(files))
    for call, code in (("0.zip", 1), ("1.zip", 1), (f"2.zip --names {tmp_path}/names.csv", 0)):
        assert said(capsys, root, f"collect {tmp_path}/{call}")[0] == code, call
    waits = [line for line in said(capsys, root, "settle")[1].splitlines() if "waits" in line]
    told = [line for line in waits if "kl has the same number, and a newer file that counts" in line]
    assert [line.split()[0] for line in told] == ["leek_33_0_x.ipynb"] and len(waits) == 2
    assert main(shlex.split(told[0].rpartition(" -m course ")[2])) == 0
    capsys.readouterr()
    assert "leek_33_0" not in said(capsys, root, "roster")[1]


@pytest.mark.usefixtures("one_engine")
def test_marks_without_a_hand_in_links_and_late_copies_are_named_with_a_command_that_helps(
    course: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    """ada's folder is taken out, and ben's; cyd is removed by nbgrader alone; dee's folder is a link; eve hands in twice."""
    with (course / "nbgrader_config.py").open("a") as file:
        file.write("\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    room, up = Rehearsal(course, LESSON), tmp_path_factory.mktemp("up")
    for learner in ("ada", "ben", "cyd", "cal"):
        data = room.hand_in(learner, RIGHT).read_bytes()
    (up / "names.csv").write_text("learner,name,canvas\neve,Eve Eve,11\nfay,Fay Fay,12\n")
    for name, end in {"eveeve_11_5": b"", "eveeve_LATE_11_7": b" "}.items():
        (up / f"{len(end)}.zip").write_bytes(zipped({f"{name}_x.ipynb": data + end, "fayfay_12_6_x.ipynb": data}))
    collect = f"collect {up}/{{}}.zip --lesson {LESSON} --names {up}/names.csv"
    assert said(capsys, course, collect.format(0))[0] == 0
    assert said(capsys, course, f"roster due {LESSON} 2026-01-02")[0] == 0
    assert said(capsys, course, "grade --no-feedback")[0] == 0
    for learner in ("ada", "ben"):
        shutil.rmtree(course / "submitted" / learner)
    with room.gradebook() as book:
        book.remove_student("cyd")
    (course / "submitted/dee").symlink_to("cyd")
    room.submitted("cal").write_bytes(b"\x89PNG")
    assert said(capsys, course, collect.format(1))[0] == 0
    code, told = said(capsys, course, "grade")
    assert code == 1 and room.book() == {"ada": 4, "ben": 4, "cyd": 4, "eve": 4, "fay": 4, "cal": 4}
    assert f"and has it again: cyd/{LESSON}; " in told
    line = f"a mark, and nothing in submitted/ that can be graded: {LESSON}: ada (4), ben (4), cal (4); "
    assert "hand in" not in told.partition("dee is a symbolic link")[2].partition("settle")[0]
    assert line in told and line in said(capsys, course, "report")[1]
    steps = [
        told.partition(before)[2].partition("\n")[0] for before in ("take it away: ", "have it count: ", "there: rm ")
    ]
    away, earlier, copy = steps
    subprocess.run(f"rm {copy}", shell=True, check=True)
    for words in (away.replace(" ada ", " ada ben cal --yes "), earlier):
        assert main(shlex.split(words.partition(" -m course ")[2])) == 0, words
    capsys.readouterr()
    told = said(capsys, course, "grade")[1]
    assert line not in told and "(l)" not in told and room.book() == {"cyd": 4, "dee": 4, "eve": 4, "fay": 4}
    assert line not in said(capsys, course, "report")[1]


@pytest.mark.usefixtures("one_engine")
def test_what_never_was_in_submitted_is_settled_in_roster_and_grade_files(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only a PDF came of bob, with his number; a 0 is in the file as long as it is settled, and nothing asks about it."""
    data = Rehearsal(course, LESSON).hand_in("ada", RIGHT).read_bytes()
    (course / "roster.csv").write_text("learner,name,canvas\nada,Ada A,1\nbob,Bob B,2\n")
    (tmp_path / "up.zip").write_bytes(zipped({"aada_1_7_x.ipynb": data, "bbob_2_8_essay.pdf": b"%PDF-1.7"}))
    (tmp_path / "canvas.csv").write_text(
        f"Student,ID,SIS Login ID,{LESSON} (5)\n    Points Possible,,,4\nA,1,ada,\nB,2,bob,\n"
    )
    told = said(capsys, course, f"grade --from {tmp_path}/up.zip --lesson {LESSON} --no-feedback")[1]
    assert [line.split()[1::2] for line in told.splitlines() if line.startswith("│ bob")][-1] == ["bob", "!", "0"]
    assert f" settle bob/{LESSON} --course" in told.partition("seen, and nothing more to come: ")[2]
    for how, mark, asks in (("--undo", "", True), ("", "0", False), ("--open", "", False)):
        assert said(capsys, course, f"settle bob {how}")[0] == 0
        code, told = said(capsys, course, f"report {LESSON} --canvas {tmp_path}/canvas.csv")
        assert code == 0 and "bob (0)" not in told
        filled = (course / "report" / LESSON / "canvas.csv").read_text().splitlines()
        assert filled[2:] == ["A,1,ada,4", f"B,2,bob,{mark}"], how
        assert ("! nothing that can be graded: bob" in said(capsys, course, "roster")[1]) is asks


@pytest.mark.usefixtures("one_engine")
def test_an_exercise_that_was_added_is_one_line_for_the_class_and_settled_at_once(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Five hold the version without the third exercise; zoe's PDF is no submission of theirs. Wildcards are those of --only."""
    room = Rehearsal(course, LESSON)
    for learner in ("ada", "bob", "cyd", "dee", "eve"):
        path = room.hand_in(learner, RIGHT)
        old = json.loads(path.read_text())
        old["cells"] = [one for one in old["cells"] if "third" not in str(one["metadata"].get("nbgrader"))]
        path.write_text(json.dumps(old))
    code, told = said(capsys, course, "grade")
    line = (
        f"! missing: {LESSON}: third: in 5 submissions: The notebook holds nothing of it: it may have been made before"
    )
    assert code == 1 and line in told and told.count("! missing") == 1 and "nothing more to come" not in told
    assert "The instructor has the lesson as it is now" in room.page("ada")
    step = told.partition("seen, all of them: ")[2].partition("\n")[0].partition(" -m course ")[2]
    assert main(shlex.split(step)) == 0
    assert said(capsys, course, "grade")[0] == 0
    for words, count in ((f"*/{LESSON}", 5), (f"?d?/{LESSON} bob", 2), ("e*", 1)):
        assert said(capsys, course, f"settle {words} --undo")[1].count("asked about again") == count
    assert f"called 'ada/1', and may mean: ada/{LESSON}" in said(capsys, course, "settle ada/1")[1]


@pytest.mark.usefixtures("one_engine")
@pytest.mark.parametrize(
    ("later", "then"),
    [("zoezed_77_9_x.ipynb", "collect {kept} --learner cyd"), ("bbob_2_9_essay.pdf", "settle {name}")],
    ids=["nobodys", "after-work-that-counts"],
)
def test_a_file_without_a_place_is_named_by_each_run_until_a_person_decides(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], later: str, then: str
) -> None:
    """The upload's own run has named it; so do the next ones, and grading does not end with 0."""
    data = Rehearsal(course, LESSON).hand_in("ada", RIGHT).read_bytes()
    (course / "roster.csv").write_text("learner,name,canvas\nada,Ada A,1\nbob,Bob B,2\ncyd,Cyd C,3\n")
    first = {"aada_1_7_x.ipynb": data, "bbob_2_8_x.ipynb": data + b" "}
    for number, files in enumerate((first, first | {later: data if "77" in later else b"%PDF-1.7"})):
        (tmp_path / f"up{number}.zip").write_bytes(zipped(files))
        said(capsys, course, f"collect {tmp_path}/up{number}.zip --lesson {LESSON}")
    assert said(capsys, course, "grade --no-feedback")[0] == 1
    told = [said(capsys, course, words)[1] for words in ("grade --no-feedback --json -", "roster", "report")]
    assert all(f"! came, and counts for nobody yet: {later}; why: " in one for one in told)
    assert json.loads(told[0][told[0].index("{\n") : told[0].rindex("\n}") + 2])["without_place"] == [later]
    step = told[1].partition("; why: ")[2].partition("\n")[0].partition(" -m course ")[2]
    assert f"{later}  (" in said(capsys, course, step)[1]
    (kept,) = course.glob(f"collected/0002-*/files/*/{later}")
    assert said(capsys, course, then.format(kept=kept, name=later))[0] == 0
    code, told_then = said(capsys, course, "grade --no-feedback")
    assert code == 0 and later not in told_then
