"""What goes out of the house is of today's due dates and hand-ins, or the command says that it is not."""

from __future__ import annotations

import csv
import os
import re
import shlex
import shutil
from functools import partial
from pathlib import Path

import pytest

from nbproof.run.journal import RunState, only_run
from nbproof.testing import Rehearsal
from nbproof.testing.small import LESSON, RIGHT
from tests import main, said
from tests.lms.uploads import zipped


@pytest.mark.usefixtures("one_engine")
def test_grade_files_and_pages_follow_due_dates_and_wait_for_what_came_since(
    course: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eve is late by Canvas's word; ada hands in again; of bob a picture came, then a notebook."""
    with (course / "nbgrader_config.py").open("a") as file:
        file.write("\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    up = tmp_path_factory.mktemp("up")
    data = Rehearsal(course, LESSON).hand_in("ada", RIGHT).read_bytes()
    (course / "roster.csv").write_text("learner,name,canvas\nada,Ada A,1\nbob,Bob B,2\neve,Eve E,3\n")
    rows = "".join(f"{name},{at},{name},\n" for at, name in enumerate(("ada", "bob", "eve"), 1))
    (up / "canvas.csv").write_text(f"Student,ID,SIS Login ID,{LESSON} (5)\n    Points Possible,,,4\n{rows}")
    (up / "first.zip").write_bytes(
        zipped({"aada_1_5_x.ipynb": data, "bbob_2_6_x.ipynb": b"\x89PNG", "eeve_LATE_3_7_x.ipynb": data})
    )
    (up / "second.zip").write_bytes(zipped({"aada_1_8_x.ipynb": data + b" ", "bbob_2_9_x.ipynb": data}))

    run = partial(said, capsys, course)

    def grades() -> tuple[int, str, list[str]]:
        code, told = run(f"report --canvas {up}/canvas.csv --zero ungraded")
        return code, told, [row[3] for row in csv.reader((course / "report/canvas.csv").read_text().splitlines())][2:]

    run(f"collect {up}/first.zip --lesson {LESSON}")
    assert run(f"roster due {LESSON} 2026-01-02")[0] == 0
    run("grade")
    for due in ("2026-03-02", "none", "2026-01-01"):
        assert run(f"roster due {LESSON} {due}")[0] == 0
        code, _, found = grades()
        assert (code, found) == (0, ["4", "0", "4" if due == "none" else "0"]), due
        run("feedback")
        assert ("Late" in (course / f"feedback/eve/{LESSON}/{LESSON}.html").read_text()) == (due != "none")
    with only_run(course):
        code, told, _ = grades()
    assert code == 1 and "another run is grading this course" in told
    assert run(f"collect {up}/second.zip --lesson {LESSON}")[0] == 0
    code, told, found = grades()
    line = f"! handed in, and not graded yet: ada/{LESSON}, bob/{LESSON}: "
    assert (code, line in told, found) == (1, True, ["", "", "0"])
    Rehearsal(course, LESSON).hand_in("zoe", RIGHT)
    for words, named in (("roster", True), ("feedback", True), ("feedback ada", False)):
        code, told = run(words)
        assert ("! handed in, and not graded yet: ada/" in told, f"zoe/{LESSON}" in told) == (True, named), words
        assert code == 0 and re.search("next: .* -m course grade", told), words
    code, told = run("feedback --for canvas")
    assert code == 1 and f"zoe/{LESSON}" in told and "1 page for eve" in told
    shutil.rmtree(course / "submitted" / "zoe")
    (step,) = re.findall("next: .* -m course (.*)", told)
    assert main(shlex.split(step)) == 0
    capsys.readouterr()
    code, told, found = grades()
    assert (code, "not graded yet" in told, found) == (0, False, ["4", "4", "0"])
    assert "2 pages for ada, bob" in run("feedback --for canvas")[1]


@pytest.mark.slow
def test_a_lesson_that_was_edited_and_not_built_is_named_until_it_is_built(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "own"
    for words in (["new", str(root)], ["build", "--course", str(root)]):
        assert main(words) == 0
    Rehearsal(root, "01_first").hand_in("ada", {})
    path = root / "lessons" / "01_first" / "lesson.py"
    path.write_text(path.read_text().replace("Sentences and words", "Sentences, and words"))
    for is_told in (True, False):
        capsys.readouterr()
        assert main(["grade", "--quiet", "--course", str(root)]) == 0
        told = capsys.readouterr().err
        assert ("! source/01_first is older than lessons/01_first" in told) is is_told
        for step in re.findall(r"to build it: .* -m \w+ (.*)", told):
            assert main(shlex.split(step)) == 0
    shutil.copytree(root / "lessons" / "01_first", root / "lessons" / "02_more")
    (root / "submitted" / "ada" / "02_more").mkdir()
    for words in (["grade"], ["grade", "02_more"], ["lab", "02_more"]):
        assert main([*words, "--course", str(root)]) > 0
        told = "".join(capsys.readouterr())
        assert "02_more is not built" in told and "build 02_more" in told, words


@pytest.mark.usefixtures("one_engine")
def test_reports_and_pages_tell_of_a_lesson_that_changed_and_of_a_run_that_broke_off(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Points change, a file comes beside the lesson, a run ends before its end; what the line says helps."""
    room = Rehearsal(course, LESSON)
    room.hand_in("ada", RIGHT)
    source = room.source().read_text()
    changes = {
        "is another since 1 of 1 were graded": lambda: room.source().write_text(
            source.replace('"points": 2', '"points": 3')
        ),
        f"{LESSON}: the lesson, its points": lambda: (room.source().parent / "more.csv").write_text("1"),
        "the last run broke off": RunState(course).begin,
    }
    step = "grade"
    for line, change in changes.items():
        assert main([*shlex.split(step), "--no-feedback", "--course", str(course)]) == 0
        capsys.readouterr()
        for is_told in (False, True):
            for words in ("report", "feedback", "feedback --for folder"):
                code = main([*words.split(), "--course", str(course)])
                told = capsys.readouterr().out
                assert (line in told) is is_told, (line, words)
                assert code == (is_told and "--for" in words)
            change() if not is_told else None
        step = re.findall("next: .* -m course (grade)", told)[0]


@pytest.mark.usefixtures("one_engine")
def test_what_an_upload_that_broke_off_has_not_placed_is_named_and_gets_no_zero(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ada is placed, bob's earlier copy stays, cyd has nothing there, dan's is graded; two uploads come in one call."""
    data = Rehearsal(course, LESSON).hand_in("bob", {}).read_bytes()
    ready = Rehearsal(course, LESSON).hand_in("ada", RIGHT).read_bytes()
    (course / "submitted" / "ada").rename(course / "submitted" / "dan")
    (course / "roster.csv").write_text("learner,name,canvas\nada,Ada A,1\nbob,Bob B,2\ncyd,Cyd C,3\ndan,Dan D,4\n")
    rows = "".join(f"{name},{at},{name},\n" for at, name in enumerate(("ada", "bob", "cyd", "dan"), 1))
    (tmp_path / "canvas.csv").write_text(f"Student,ID,SIS Login ID,{LESSON} (5)\n    Points Possible,,,4\n{rows}")
    assert main(["grade", "--no-feedback", "--course", str(course)]) == 0
    (tmp_path / "one.zip").write_bytes(zipped({"aada_1_5_x.ipynb": ready + b" ", "bbob_2_6_x.ipynb": ready}))
    (tmp_path / "two.zip").write_bytes(zipped({"ccyd_3_7_x.ipynb": ready + b"  ", "aada_1_4_x.ipynb": data}))
    upload = f"grade --from {tmp_path}/one.zip --from {tmp_path}/two.zip"

    run = partial(said, capsys, course)

    def grades(code: int) -> list[str]:
        assert run(f"report --canvas {tmp_path}/canvas.csv --zero missing")[0] == code
        return [row.rpartition(",")[2] for row in (course / "report/canvas.csv").read_text().splitlines()[2:]]

    rename = os.rename

    def broken(source: Path, target: Path) -> None:
        if target == course / "submitted" / "bob" / LESSON:
            raise KeyboardInterrupt
        rename(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", broken)
        assert run(upload)[0] == 130
    for words in ("roster", "report", "settle", "feedback"):
        told = run(words)[1]
        named = [f"{name}.zip broke off when it was collected, and 1 notebook did" in told for name in ("one", "two")]
        assert all(named) or words == "feedback", words
        assert "handed in, and not graded yet: " in told or words == "settle", words
        assert "nothing handed in" not in told, words
    assert grades(1) == ["", "", "", "4"]
    (step,) = {*re.findall("submitted/: .* -m course (.*) --course .* puts", run("settle")[1])}
    code, told = run(step)
    assert code == 0 and "one.zip broke off when it was collected: 1 notebook of it went to submitted/ now" in told
    assert "broke off" not in run("roster")[1] + run("settle")[1] + run("report")[1]
    assert grades(0) == ["4"] * 4
