"""Marks that people gave count everywhere as they stand, and every command says the same of them."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from nbproof.testing import Rehearsal
from nbproof.testing.small import LESSON, RIGHT
from tests import main, said


@pytest.mark.usefixtures("one_engine")
def test_what_a_person_gave_counts_everywhere_until_that_person_takes_it_away(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A PDF came of bob and nothing of dot, whom a person marked. cal has a comment, more time, and extra credit to no mark.
    ada and eve have marks that may be slips."""
    room, people = Rehearsal(course, LESSON), ("ada", "bob", "cal", "dot", "eve")
    (course / "roster.csv").write_text("learner\n" + "\n".join(people))
    rows = "".join(f"{name},{at},{name},\n" for at, name in enumerate(people))
    (tmp_path / "canvas.csv").write_text(f"Student,ID,SIS Login ID,{LESSON} (5)\n    Points Possible,,,4\n{rows}")
    room.hand_in("bob", {}).write_bytes(b"%PDF-1.7")
    for name in ("ada", "eve"):
        room.hand_in(name, RIGHT)

    def run(words: str) -> str:
        return said(capsys, course, words)[1]

    def filled() -> list[str]:
        run(f"report --canvas {tmp_path}/canvas.csv")
        return [row.split(",")[3] for row in (course / "report/canvas.csv").read_text().splitlines()[2:]]

    def page_of(learner: str) -> str:
        return (course / "feedback" / learner / LESSON / f"{LESSON}.html").read_text()

    run("grade")
    with room.gradebook() as book:
        for name in ("bob", "cal", "dot"):
            book.update_or_create_student(name)
            submission = book.update_or_create_submission(LESSON, name)
            for one in submission.notebooks[0].grades:
                one.manual_score, one.needs_manual_grade = None if name == "cal" else one.max_score, False
            submission.notebooks[0].comments[0].manual_comment = f"read by a person, {name}"
        submission = book.find_submission(LESSON, "cal")
        submission.extension, submission.notebooks[0].grades[0].extra_credit = timedelta(9), 0.5
        for name, points in (("ada", 16), ("eve", -5)):
            book.find_grade("test_first", LESSON, LESSON, name).manual_score = points
        book.find_grade("test_first", LESSON, LESSON, "ada").needs_manual_grade = True
        book.db.commit()
    assert "it has 4 with what a person gave, and that counts" in run("settle bob")
    odd = f"ada/{LESSON}, test_first (16 of 2), eve/{LESSON}, test_first (-5 of 2): "
    for words in ("grade", f"report --canvas {tmp_path}/canvas.csv", "feedback", "feedback --for folder"):
        told = run(words)
        assert odd in told and f"look again: ada/{LESSON}: " in told, words
    assert filled() == ["18", "4", "", "4", "0"]
    for name in ("bob", "dot"):
        page = page_of(name)
        assert "<strong>4</strong> of 4" in page and f"read by a person, {name}" in page
        assert ("could not be graded by itself: it is no notebook" in page) is (name == "bob")
    assert "<strong>0</strong> of 4 points; the points below make -3" in page_of("eve")
    told = run("grade --all")
    assert [line.split()[-2] for line in told.splitlines() if re.match(r"│ (bob|dot) ", line)] == ["4", "4"]
    line = f"a mark that a person gave, and nothing in submitted/ that can be graded: {LESSON}: bob (4), dot (4); "
    assert line in told and line in run("report")
    step = told.partition(line)[2].partition(" -m course ")[2].partition("\n")[0]
    assert main([*shlex.split(step.replace(" bob ", " bob dot --yes "))]) == 0
    assert filled() == ["18", "", "", "", "0"] and line not in run("report")


@pytest.mark.usefixtures("one_engine")
def test_one_person_in_two_rows_and_a_group_get_their_grades_by_what_is_said(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export = tmp_path / "canvas.csv"
    rows = ["A,1,ada,", "B,2,ben,", "C,3,cyd,", "A,1,ada,"]
    head = f"Student,ID,SIS Login ID,{LESSON} (5)\n    Points Possible,,,4\n"
    (course / "roster.csv").write_text("learner,also\nada,\nteam,ben | id ben | cyd | id cyd\n")
    for name in ("ada", "team"):
        Rehearsal(course, LESSON).hand_in(name, RIGHT)
    for words in ("grade --no-feedback", f"roster due {LESSON} 2099-01-01", f"roster extend team {LESSON} 2099-02-02"):
        assert main([*words.split(), "--course", str(course)]) == 0
    for found in (["", "", "", ""], ["4", "4", "4"]):
        export.write_text(head + "\n".join(rows))
        assert main(["report", "--canvas", str(export), "--course", str(course)]) == (found[0] == "")
        told = capsys.readouterr().out
        filled = (course / "report/canvas.csv").read_text().splitlines()[2:]
        assert [row.split(",")[3] for row in filled] == found
        if found[0] == "":
            assert "leave one of these rows in the export" in told
            rows.pop()
            copy, _, steps = told.partition("handed in as one: ")[2].partition(" for each member, then: ")
            Rehearsal(course, LESSON).hand_in("ben", {})
            draft, own = (course / f"submitted/ben/{LESSON}"), tmp_path / "own"
            before = [path.read_bytes() for path in draft.iterdir()]
            for member in ("ben", "cyd", "ben"):
                words = copy.replace("GROUP", "team").replace("MEMBER", member)
                said = subprocess.check_output(words, cwd=course, shell=True, text=True)
                assert (said == f"ben/{LESSON}\n") == (not own.exists() and member == "ben")
                if said:
                    assert [path.read_bytes() for path in draft.iterdir()] == before, "own work stays as it is"
                elif not own.exists():
                    draft.rename(own)
            extend = (
                steps.partition("the extension by\n")[2]
                .partition("\n")[0]
                .replace("LESSON DATE", f"{LESSON} 2099-02-02")
            )
            for step in (*steps.splitlines()[0].strip(";").split("; then: "), extend):
                words = step.partition(" -m course ")[2].replace("GROUP", "team --yes").replace("MEMBER", "cyd")
                assert main(shlex.split(words)) == 0


@pytest.mark.usefixtures("one_engine")
def test_what_a_person_marked_waits_after_stock_nbgrader_only_if_it_is_another(room: Rehearsal) -> None:
    """ada's and ben's work is the same after it, cyd's another; ben's mark waited before. Stock deletes graded folders."""
    learners = ("ada", "ben", "cyd")
    room.hand_in_all(dict.fromkeys(learners, RIGHT))
    room.grade()

    def waits(new: dict[str, bool]) -> list[bool]:
        with room.gradebook() as book:
            rows = [book.find_grade("test_first", LESSON, LESSON, name) for name in learners]
            for row, told in zip(rows, new.values(), strict=False):
                row.manual_score, row.needs_manual_grade = 1.5, told
            book.db.commit()
            return [row.needs_manual_grade for row in rows]

    waits(dict.fromkeys(learners, False))
    room.hand_in("ben", RIGHT | {"first": f"{RIGHT['first']}  # mine"})
    room.grade()
    assert waits({}) == [False, True, False]
    room.hand_in("cyd", RIGHT | {"first": f"{RIGHT['first']}  # mine"})
    for name in learners:
        shutil.rmtree(room.autograded(name).parent)
    waits(dict.fromkeys(learners, True))
    room.grade()
    assert waits({}) == [False, True, True]


@pytest.mark.usefixtures("one_engine")
def test_what_was_marked_before_the_first_run_here_waits_only_if_it_is_another(room: Rehearsal) -> None:
    """Stock nbgrader graded ada and ben, a person marked them; ben hands in another answer. Nothing of ours is there yet."""
    for name in ("ada", "ben"):
        work = room.hand_in(name, RIGHT)
        graded = room.autograded(name)
        graded.parent.mkdir(parents=True)
        graded.write_bytes(work.read_bytes())
    room.hand_in("ben", RIGHT | {"first": f"{RIGHT['first']}  # mine"})
    with room.gradebook() as book:
        for name in ("ada", "ben"):
            book.add_student(name)
            for row in book.add_submission(LESSON, name).notebooks[0].grades:
                row.auto_score = row.manual_score = row.max_score
                row.needs_manual_grade = False
        book.db.commit()
    for _ in range(2):
        room.grade()
        with room.gradebook() as book:
            waits = [book.find_grade("test_first", LESSON, LESSON, name).needs_manual_grade for name in ("ada", "ben")]
        assert waits == [False, True]
