"""Any nbgrader course, as it is: nothing of this project's is written for it, and nbgrader's settings say where it lies."""

from __future__ import annotations

import copy
import io
import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.converters import GenerateFeedback
from rich.console import Console

from nbproof.cli.class_table import RunReport, print_class
from nbproof.errors import CourseError, UsageError
from nbproof.feedback.pages import write_feedback
from nbproof.gradebook.marks import GradedClass, by_assignment
from nbproof.key import Key
from nbproof.places import course_config, places
from nbproof.report.records import read_class
from nbproof.report.report import tables
from nbproof.run.batch import grade_class
from nbproof.run.intake import gradable_lessons, take_in
from nbproof.run.journal import journal_of
from nbproof.run.pool import PoolMaker
from nbproof_lms import collect
from nbproof_lms.attendance import attend, people_of
from tests import COURSE, typed

Cells = Mapping[str, tuple[str, str]]
"""grade_id -> (kind, text); kinds: answer, test, manual, written, setup, show."""

SQUARES: Cells = {
    "squares": (
        "answer",
        "def squares(n):\n    ### BEGIN SOLUTION\n    return [i * i for i in range(n)]\n    ### END SOLUTION",
    ),
    "test_squares": (
        "test",
        "assert squares(3) == [0, 1, 4]\n### BEGIN HIDDEN TESTS\nassert squares(1) == [0]\n### END HIDDEN TESTS",
    ),
}
CUBES: Cells = {
    "cubes": (
        "answer",
        "def cubes(n):\n    ### BEGIN SOLUTION\n    return [i**3 for i in range(n)]\n    ### END SOLUTION",
    ),
    "test_squares": ("test", "assert cubes(3) == [0, 1, 8]"),
    "why": ("manual", "### BEGIN SOLUTION\n# Because three times.\n### END SOLUTION"),
}
"""One of its ids is also in :data:`SQUARES`: grade_ids are unique in a notebook only."""


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
"""A PNG of one pixel."""


def notebook(cells: Cells) -> nbformat.NotebookNode:
    """An instructor's notebook; each cell has two points."""
    made = nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "", "language": "python"}}
    )
    for name, (kind, text) in cells.items():
        grading = {"grade_id": name, "schema_version": 3, "task": False, "locked": kind in ("test", "setup")}
        grading |= {"solution": kind in ("answer", "manual", "written"), "grade": kind in ("test", "manual", "written")}
        grading |= {"points": 2} if grading["grade"] else {}
        metadata = {"nbgrader": grading} if kind != "show" else {}
        new = nbformat.v4.new_markdown_cell if kind == "written" else nbformat.v4.new_code_cell
        made.cells.append(new(text, metadata=metadata, id=name.replace("_", "-") or "show"))
    return made


def written(path: Path, cells: Cells) -> Path:
    """An instructor's notebook in its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook(cells), path)
    return path


def hand_in(source: Path, target: Path, answers: Mapping[str, str] | None = None) -> Path:
    """The instructor's notebook with these texts in its cells, and what lies beside it, as a learner hands it in."""
    shutil.copytree(source.parent, target.parent, ignore=shutil.ignore_patterns("*.ipynb"), dirs_exist_ok=True)
    made = copy.deepcopy(nbformat.read(source, as_version=4))
    for cell in made.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        cell["source"] = (answers or {}).get(name, cell.source)
    nbformat.write(made, target)
    return target


CONFIG = """c = get_config()
c.CourseDirectory.course_id = "numbers"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.submitted_directory = "exchange/numbers/submitted"
c.IncludeHeaderFooter.header = "solutions/header.ipynb"
"""


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    """A course with folders of other names, two notebooks in an assignment, one of another name, and a header."""
    root = tmp_path / "numbers"
    home = root / "solutions"
    written(home / "ps1" / "problem1.ipynb", {"": ("show", "from helper import zero"), **SQUARES})
    written(home / "ps1" / "problem2.ipynb", CUBES)
    written(home / "ps2" / "Second sheet.ipynb", SQUARES)
    written(home / "header.ipynb", {"check_name": ("test", "assert NAME")})
    (home / "ps1" / "helper.py").write_text("zero = 0\n")
    (root / "nbgrader_config.py").write_text(CONFIG)
    return root


def ours(root: Path, learner: str, assignment: str, notebook: str, **answers: str) -> Path:
    """Hand in one notebook."""
    here = places(root)
    target = here.folder("submitted", learner, assignment) / f"{notebook}.ipynb"
    return hand_in(here.folder("source", ".", assignment) / f"{notebook}.ipynb", target, answers)


def graded(root: Path, pool: PoolMaker) -> GradedClass:
    """All that was handed in."""
    lessons = gradable_lessons(root, [])
    # The header's cell cannot be right: nobody has a name in the instructor's version.
    return grade_class(COURSE, root, take_in(COURSE, root, lessons), lessons, pool=pool, anyway=True)


def book(root: Path) -> dict[str, float]:
    """learner/assignment/notebook/cell -> marks."""
    with Gradebook(f"sqlite:///{root}/gradebook.db", "numbers") as opened:
        return {
            f"{submission.student.id}/{assignment.name}/{notebook.name}/{grade.name}": grade.score
            for assignment in opened.assignments
            for submission in assignment.submissions
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


def test_several_notebooks_in_folders_of_any_name_are_graded_each_by_itself(numbers: Path, pool: PoolMaker) -> None:
    assert gradable_lessons(numbers, []) == ["ps1/problem1", "ps1/problem2", "ps2/Second sheet"]
    assert gradable_lessons(numbers, ["ps1"]) == ["ps1/problem1", "ps1/problem2"]
    ours(numbers, "ada", "ps1", "problem1")
    ours(numbers, "ada", "ps1", "problem2", cubes="def cubes(n):\n    return []", why="# So.")
    ours(numbers, "ada", "ps2", "Second sheet")
    ours(numbers, "bob", "ps1", "problem1", squares="def squares(n):\n    return [0, 1, 4]")
    told = graded(numbers, pool)
    assert not told.ungraded()
    assert {key.name: mark.score for key, mark in told.marks.items()} == {
        "ada/ps1/problem1": 2, "ada/ps1/problem2": 0, "ada/ps2/Second sheet": 2, "bob/ps1/problem1": 0,
    }  # fmt: skip
    assert by_assignment(told.marks)[Key("ada", "ps1")].score == 2
    marks = book(numbers)
    assert marks["ada/ps1/problem1/test_squares"] == 2 and marks["ada/ps1/problem2/test_squares"] == 0
    assert marks["bob/ps1/problem2/test_squares"] == 0, "what was not handed in"
    assert (numbers / "autograded" / "ada" / "ps1" / "problem2.ipynb").is_file()
    again = graded(numbers, pool)
    assert {mark.how for mark in again.marks.values()} == {"unchanged"}
    # One notebook is another one now: its neighbour is as it was.
    ours(numbers, "ada", "ps1", "problem2")
    assert graded(numbers, pool).graded == (Key("ada", "ps1/problem2"),)


@pytest.mark.parametrize("others", [(), ("problem1", "problem2")])
def test_a_notebook_that_was_not_handed_in_counts_0_waits_for_nobody_and_is_named(
    numbers: Path, pool: PoolMaker, others: tuple[str, ...]
) -> None:
    """By nbgrader's own gradebook. ``others``: what a neighbour handed in; without one nobody handed problem1 in."""
    (numbers / "nbgrader_config.py").write_text(CONFIG.replace("c.Include", "# c.Include"))
    ours(numbers, "ada", "ps1", "problem2")
    for name in others:
        ours(numbers, "ben", "ps1", name)
    told = graded(numbers, pool)
    lessons = gradable_lessons(numbers, [])
    attendance = attend(numbers, people_of(numbers), told.marks.keys(), lessons)
    console = Console(width=100, file=io.StringIO(), color_system=None)
    print_class(console, RunReport(told, 1.0, attendance=attendance, root=numbers))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "of 6" in text and "nothing handed in: ps1/problem1: ada\n" in text
    with Gradebook(f"sqlite:///{numbers}/gradebook.db", "numbers") as opened:
        (absent,) = opened.find_submission_notebook("problem1", "ps1", "ada").grades
        assert (absent.auto_score, absent.needs_manual_grade) == (0, False)
        by_hand = opened.find_grade("why", "problem2", "ps1", "ada")
        by_hand.manual_score, by_hand.needs_manual_grade = 2, False
        opened.db.commit()
        assert not opened.find_submission("ps1", "ada").needs_manual_grade
    results = read_class(COURSE, numbers, [])
    made = tables(results)
    row = next(one for one in made["lessons"] if one["lesson"] == "ps1/problem1")
    assert (row["missing"], row["graded"]) == (["ada"], len(others) // 2)
    assert sum(one.max_score for one in results.lessons) == 6
    (how,) = [one["how"] for one in made["hand_ins"] if one["learner"] == "ada" and one["lesson"] == "ps1/problem1"]
    assert how == "nothing"
    # It comes after all, and is taken away again: its marks come and go, a person's stay.
    path = ours(numbers, "ada", "ps1", "problem1")
    graded(numbers, pool)
    assert book(numbers)["ada/ps1/problem1/test_squares"] == 2
    path.unlink()
    graded(numbers, pool)
    assert book(numbers)["ada/ps1/problem1/test_squares"] == 0
    with Gradebook(f"sqlite:///{numbers}/gradebook.db", "numbers") as opened:
        opened.find_grade("test_squares", "problem1", "ps1", "ada").manual_score = 1
        opened.db.commit()
    graded(numbers, pool)
    assert book(numbers)["ada/ps1/problem1/test_squares"] == 1
    one, gone = Key("ada", "ps1/problem1"), "this notebook did not come with what was handed in last"
    write_feedback(COURSE, numbers, [one, Key("ada", "ps1/problem2")])
    assert (read_class(COURSE, numbers, []).marks[one].problem, read_class(COURSE, numbers, []).marks[one].score) == (
        gone,
        1,
    )
    assert gone in (numbers / "feedback/ada/ps1/problem1.html").read_text()
    assert gone not in (numbers / "feedback/ada/ps1/problem2.html").read_text()


def test_what_an_assignment_holds_says_source_alone_and_what_is_taken_out_comes_back_with_its_marks(
    tmp_path: Path, pool: PoolMaker
) -> None:
    source, away = tmp_path / "source" / "ps1", tmp_path / "part2.off"
    for name, cells in {"part1": SQUARES, "part2": CUBES}.items():
        path = written(source / f"{name}.ipynb", cells)
        hand_in(path, tmp_path / "release" / "ps1" / path.name, dict.fromkeys(("squares", "cubes"), "pass"))
        hand_in(
            path,
            tmp_path / "submitted" / "ada" / "ps1" / path.name,
            {"squares": "def squares(n):\n    return [0, 1, 4][:n]"},
        )
        # Of the part that stays nothing.
        hand_in(path, tmp_path / "submitted" / "ben" / "ps1" / path.name, {"squares": "pass"})

    def told() -> tuple[float, float, float]:
        """Points of the table, of the LMS file, of the gradebook."""
        run = graded(tmp_path, pool)
        table, other = by_assignment(run.marks).values()
        in_file, _ = by_assignment(read_class(COURSE, tmp_path, []).marks).values()
        assert other.problem == ""
        with Gradebook(f"sqlite:///{tmp_path}/gradebook.db", "numbers") as opened:
            row = opened.find_submission("ps1", "ada")
            assert (row.score, row.score) == (table.score, in_file.score)
            (most,) = [one.max_score for one in run.lessons if one.slug == "ps1"]
            return most, in_file.max_score, row.max_score

    assert told() == (6, 6, 6)
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db", "numbers") as opened:
        by_hand = opened.find_grade("why", "part2", "ps1", "ada")
        by_hand.manual_score, by_hand.needs_manual_grade = 1.5, False
        opened.db.commit()
    # Renamed, with its marks; taken out; back.
    (source / "part2.ipynb").rename(source / "sheet2.ipynb")
    assert (told(), book(tmp_path)["ada/ps1/sheet2/why"]) == ((6, 6, 6), 1.5)
    (source / "sheet2.ipynb").rename(away)
    assert (told(), told()) == ((2, 2, 2), (2, 2, 2))
    assert "ada,ps1,sheet2,why,1.5" in (tmp_path / ".course" / "removed_marks.csv").read_text()
    away.rename(source / "sheet2.ipynb")
    assert (told(), book(tmp_path)["ada/ps1/sheet2/why"]) == ((6, 6, 6), 1.5)
    # A copy of the teacher's: the way out that is told helps.
    copy = written(source / "part1-Copy1.ipynb", SQUARES)
    assert told() == (8, 8, 8)
    (note,) = [one for one in read_class(COURSE, tmp_path, []).notes if "move it away" in one]
    assert note.startswith("source/ps1/part1-Copy1.ipynb counts")
    copy.unlink()
    assert told() == (6, 6, 6)
    assert not [one for one in read_class(COURSE, tmp_path, []).notes if "move it away" in one]


def test_what_has_no_source_any_more_is_named_and_its_pages_go(tmp_path: Path, pool: PoolMaker) -> None:
    for name, cells in {"part1": SQUARES, "part2": CUBES}.items():
        path = written(tmp_path / "source" / "ps1" / f"{name}.ipynb", cells)
        hand_in(path, tmp_path / "submitted" / "ada" / "ps1" / path.name)
    write_feedback(COURSE, tmp_path, graded(tmp_path, pool).marks)
    (tmp_path / "feedback" / "ada" / "ps1" / "mine.html").write_text("no page of ours")
    path.rename(path.with_name("sheet2.ipynb"))
    write_feedback(COURSE, tmp_path, graded(tmp_path, pool).marks)
    pages = {one.name for one in (tmp_path / "feedback" / "ada" / "ps1").glob("*.html")}
    assert pages == {"part1.html", "sheet2.html", "mine.html"}

    def move(old: str, new: str) -> tuple[str, ...]:
        for folder in ("source", "submitted/ada"):
            (tmp_path / folder / old).rename(tmp_path / folder / new)
        return graded(tmp_path, pool).remarks

    assert move("ps1", "ps2") == (), "nobody gave anything to it"
    assert move("ps2", "ps1") == ()
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db", "numbers") as opened:
        opened.find_grade("why", "sheet2", "ps1", "ada").manual_score = 1.5
        opened.find_comment("why", "sheet2", "ps1", "ada").manual_comment = "Well said."
        opened.update_or_create_assignment("ps1", duedate="2026-11-20")
        opened.update_or_create_assignment("ps3", duedate="2026-11-20")  # to come
        opened.grant_extension("ps1", "ada", days=1)
    (told,) = move("ps1", "ps2")
    assert told.startswith("ps1 is in the gradebook only, with 1 manual mark, 1 comment, 1 due date, 1 extension: ")
    assert told in read_class(COURSE, tmp_path, []).notes
    # Both ways out help.
    assert move("ps2", "ps1") == () and book(tmp_path)["ada/ps1/sheet2/why"] == 1.5
    assert move("ps1", "ps2") == (told,)
    subprocess.run(told.rpartition(": ")[2], shell=True, cwd=tmp_path, check=True)
    assert graded(tmp_path, pool).remarks == ()


def test_pictures_and_formulas_of_a_learner_reach_the_marker_and_the_page(tmp_path: Path, pool: PoolMaker) -> None:
    source = written(tmp_path / "source" / "ps1" / "ps1.ipynb", {**SQUARES, "say": ("written", "So.")})
    text = "Because $\\frac{1}{2}$:\n\n![f](attachment:f.png)\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    path = hand_in(source, tmp_path / "submitted" / "ada" / "ps1" / "ps1.ipynb", {"say": text})
    made = nbformat.read(path, as_version=4)
    made.cells[-1]["attachments"] = {"f.png": {"image/png": PIXEL}}
    nbformat.write(made, path)
    write_feedback(COURSE, tmp_path, graded(tmp_path, pool).marks)
    kept = nbformat.read(tmp_path / "autograded" / "ada" / "ps1" / "ps1.ipynb", as_version=4).cells[-1]
    page = (tmp_path / "feedback" / "ada" / "ps1" / "ps1.html").read_text()
    for shown in (kept.source, page):
        assert PIXEL in shown and "<mfrac" in shown and "<td" in shown


def test_a_header_is_part_of_every_notebook(numbers: Path, pool: PoolMaker) -> None:
    ours(numbers, "ada", "ps2", "Second sheet")
    path = places(numbers).notebook("submitted", "ada", "ps2/Second sheet")
    sheet = nbformat.read(path, as_version=4)
    header = nbformat.read(numbers / "solutions" / "header.ipynb", as_version=4)
    sheet.cells[:0] = [nbformat.v4.new_code_cell("NAME = 'Ada'"), *header.cells]
    nbformat.write(sheet, path)
    graded(numbers, pool)
    assert book(numbers)["ada/ps2/Second sheet/check_name"] == 2


def test_a_release_alone_is_graded_by_what_it_shows(tmp_path: Path, pool: PoolMaker) -> None:
    root = tmp_path / "course"
    source = written(
        root / "release" / "ps1" / "ps1.ipynb", {**SQUARES, "squares": ("answer", "def squares(n):\n    pass")}
    )
    answers = {"ada": "def squares(n):\n    return [0, 1, 4][:n]", "bob": "def squares(n):\n    pass"}
    for learner, text in answers.items():
        hand_in(source, root / "submitted" / learner / "ps1" / "ps1.ipynb", {"squares": text})
    told = graded(root, pool)
    assert {key.name: mark.score for key, mark in told.marks.items()} == {"ada/ps1": 2, "bob/ps1": 0}
    assert journal_of(root, "ada", "ps1").name == ".verdict.json"


@pytest.mark.parametrize(
    ("name", "cells", "lessons", "released_only"),
    [
        ("scratch", {"": ("show", "1 + 1")}, ["ps1"], True),
        ("ps1", {"": ("show", "1 + 1")}, ["ps1"], False),
        ("problem1", SQUARES, ["ps1/problem1"], False),
    ],
)
def test_notes_of_the_instructor_hide_no_release(
    name: str, cells: Cells, lessons: list[str], released_only: bool, tmp_path: Path
) -> None:
    written(tmp_path / "release" / "ps1" / "ps1.ipynb", SQUARES)
    written(tmp_path / "source" / "ps1" / f"{name}.ipynb", cells)
    assert places(tmp_path).lessons() == lessons
    assert places(tmp_path).is_released_only(lessons[0]) is released_only


def test_a_structure_that_is_another_is_named(numbers: Path) -> None:
    with (numbers / "nbgrader_config.py").open("a") as file:
        file.write('c.CourseDirectory.directory_structure = "{student_id}/{nbgrader_step}/{assignment_id}"\n')
    with pytest.raises(UsageError, match="assignments lie where"):
        places(numbers)


@pytest.mark.parametrize("section", ["NbGrader", "Exchange"])
def test_older_names_of_options_hold(tmp_path: Path, section: str) -> None:
    (tmp_path / "nbgrader_config.py").write_text(f'c = get_config()\nc.{section}.course_id = "old"\n')
    assert course_config(tmp_path).CourseDirectory.course_id == "old"


def test_what_is_configured_for_the_machine_holds_and_the_course_comes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_all = "course_id = 'all'\nc.CourseDirectory.source_directory = 'x'"
    for name, text in {"etc": of_all, "course": "course_id = 'own'"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "nbgrader_config.py").write_text(f"c = get_config()\nc.CourseDirectory.{text}\n")
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path / "etc"))
    config = course_config(tmp_path / "course").CourseDirectory
    assert (config.course_id, config.source_directory) == ("own", "x")


def test_the_commands_need_nothing_but_the_course(numbers: Path) -> None:
    """`grade` twice, `feedback`, `report`: in a folder where nobody has ever heard of this tool."""
    ours(numbers, "ada", "ps1", "problem1")

    def run(*words: str) -> str:
        told = typed(numbers, *words)
        assert "Traceback" not in told.stderr, told.stderr
        assert told.returncode in (0, 1), told.stdout + told.stderr
        return told.stdout

    (numbers / "nbgrader_config.py").write_text(CONFIG.replace("c.Include", "# c.Include"))
    first = run("grade").splitlines()
    found = "found:     2 assignments with 3 notebooks in solutions, 1 learner in exchange/numbers/submitted"
    assert first[0].startswith(found)
    assert first[1].startswith("taken for granted: cells run as Python") and "course.toml" in first[2]
    assert "unchanged 1" in run("grade")
    run("feedback")
    run("report")
    assert (numbers / "feedback" / "ada" / "ps1" / "problem1.html").is_file()
    assert (numbers / "report" / "index.html").is_file()


def marked(root: Path, pool: PoolMaker, cells: Cells, config: str = "", **answers: str) -> dict[str, float]:
    """What the cells of a notebook earn, after a learner's answers were put into it: cell -> marks; -1: it waits."""
    source = written(root / "source" / "ps1" / "ps1.ipynb", cells)
    (root / "nbgrader_config.py").write_text(f"c = get_config()\nc.CourseDirectory.course_id = 'numbers'\n{config}")
    hand_in(source, root / "submitted" / "ada" / "ps1" / "ps1.ipynb", answers)
    told = graded(root, pool)
    assert not told.ungraded(), told.ungraded()
    return {one.name: -1 if one.waits_for_person else one.score for one in told.marks[Key("ada", "ps1")].cells.values()}


def test_what_a_cell_defined_before_it_ran_too_long_stands(tmp_path: Path, pool: PoolMaker) -> None:
    """As with nbgrader, by its own option: the cell is interrupted, and the tests below it see what is there."""
    loop = "def squares(n):\n    return [i * i for i in range(n)]\nwhile True:\n    pass"
    cells = {**SQUARES, "test_more": ("test", "while True: pass"), "test_last": ("test", "assert squares(1) == [0]")}
    earned = marked(tmp_path, pool, cells, "c.ExecutePreprocessor.timeout = 1\n", squares=loop)
    assert earned == {"test_squares": 2, "test_more": 0, "test_last": 2}


def test_hidden_tests_do_not_wait_for_an_endless_loop_again(tmp_path: Path, pool: PoolMaker) -> None:
    """They run in a process of their own, which stops soon where the first one was interrupted; what was defined stands."""
    loop = (
        "import time\n\ndef squares(n):\n    return [i * i for i in range(n)]\n\nbegin = time.monotonic()\n"
        "try:\n    while True:\n        pass\nfinally:\n    spent = time.monotonic() - begin"
    )
    hidden = "assert squares(2) == [0, 1]\n### BEGIN HIDDEN TESTS\nassert spent < 3.5\n### END HIDDEN TESTS"
    cells = {**SQUARES, "test_spent": ("test", hidden)}
    earned = marked(tmp_path, pool, cells, "c.ExecutePreprocessor.timeout = 4\n", squares=loop)
    assert earned == {"test_squares": 2, "test_spent": 2}


def test_a_read_only_cell_of_the_instructors_may_take_longer(tmp_path: Path, pool: PoolMaker) -> None:
    """What it imports takes its time on a busy machine, and without it every answer would be wrong."""
    cells = {"setup": ("setup", "import time\ntime.sleep(1.5)\nready = 1"), **SQUARES}
    cells |= {"test_ready": ("test", "assert ready")}
    earned = marked(
        tmp_path, pool, cells, "c.ExecutePreprocessor.timeout = 1\n", squares="squares = lambda n: [0, 1, 4][:n]"
    )
    assert earned == {"test_squares": 2, "test_ready": 2}


def test_who_holds_on_when_interrupted_is_ended(tmp_path: Path, pool: PoolMaker) -> None:
    loop = "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"
    cells = {**SQUARES, "cubes": ("answer", "cubes = 3"), "test_cubes": ("test", "assert cubes == 3")}
    earned = marked(tmp_path, pool, cells, "c.Execute.timeout = 1\n", squares=loop)
    assert earned == {"test_squares": 0, "test_cubes": 2}


def test_an_emptied_answer_waits_for_a_person_and_an_untouched_one_does_not(tmp_path: Path, pool: PoolMaker) -> None:
    cells: Cells = dict.fromkeys(("why", "what", "how"), ("written", "So."))
    earned = marked(tmp_path, pool, cells, why="", what="So!", how="YOUR ANSWER HERE")
    assert earned == {"why": -1, "what": -1, "how": 0}


@pytest.mark.parametrize(("ids", "told"), [("ba", "a is b now, b is a now"), ("ca", "a is c now"), ("ab", "")])
def test_questions_that_change_ids_are_named(tmp_path: Path, pool: PoolMaker, ids: str, told: str) -> None:
    """In the second version they are called so; a learner has the first one."""
    for names in ("ab", ids):
        asked: Cells = dict(
            pair
            for text, name in zip(("What", "Why"), names, strict=True)
            for pair in ((text, ("show", f"# {text}?")), (name, ("written", "So.")))
        )
        source = written(tmp_path / "source" / "ps1" / "ps1.ipynb", asked)
        if names == "ab":
            hand_in(source, tmp_path / "submitted" / "ada" / "ps1" / "ps1.ipynb", {"a": "This.", "b": "Because."})
        reasons = " ".join(graded(tmp_path, pool).reasons)
    assert f"({told})" in reasons if told else "other ids" not in reasons


def test_tests_find_what_a_kernel_has(tmp_path: Path, pool: PoolMaker) -> None:
    """A patched input, the cells that ran, locks of processes, data that can be written, and that is large."""
    (tmp_path / "source" / "ps1").mkdir(parents=True)
    (tmp_path / "source" / "ps1" / "large.bin").write_bytes(bytes(20 << 20))
    asked = {
        "answer": ("answer", "def asks():\n    return input('n? ')"),
        "test_input": (
            "test", "from unittest.mock import patch\nwith patch('builtins.input', return_value='7'):\n    assert asks() == '7'",
        ),
        "test_history": ("test", "assert any('def asks' in cell for cell in In)"),
        "test_locks": ("test", "import multiprocessing\nmultiprocessing.Lock()\nmultiprocessing.Queue()"),
        "test_files": (
            "test", "with open('large.bin', 'r+b') as f:\n    f.write(b'x')\n    assert f.seek(0, 2) == 20 << 20",
        ),
    }  # fmt: skip
    assert marked(tmp_path, pool, asked) == dict.fromkeys([one for one in asked if one != "answer"], 2)


def test_what_cannot_be_graded_is_named_and_the_rest_is_graded(numbers: Path, pool: PoolMaker) -> None:
    home = numbers / "solutions"
    written(home / "ps3" / "ps3.ipynb", {**SQUARES, "test_squares": ("test", "### AUTOTEST squares(2)")})
    other = json.loads(written(home / "ps4" / "ps4.ipynb", SQUARES).read_text())
    other["metadata"]["kernelspec"] = {"name": "ir", "display_name": "R", "language": "R"}
    (home / "ps4" / "ps4.ipynb").write_text(json.dumps(other))
    written(home / "ps5" / "ps5.ipynb", {"": ("show", "grader = otter.Notebook('ps5.ipynb')")})
    for assignment, name in {"ps1": "problem1", "ps3": "ps3", "ps4": "ps4", "ps5": "ps5"}.items():
        ours(numbers, "ada", assignment, name)
    told = graded(numbers, pool)
    assert [key.name for key in told.marks] == ["ada/ps1/problem1"]
    assert set(told.refused) == {"ps3", "ps4", "ps5"}
    assert "no cell of it is nbgrader's: it is made for otter" in told.refused["ps5"]
    assert (
        "cannot write the tests of its AUTOTEST" in told.refused["ps3"]
        and "R, for the kernel 'ir'" in told.refused["ps4"]
    )
    for name in ("ps1", "ps2"):
        shutil.rmtree(home / name)
        shutil.rmtree(numbers / "exchange/numbers/submitted/ada" / name, ignore_errors=True)
    with pytest.raises(CourseError):
        graded(numbers, pool)


def test_a_penalty_is_taken_off_each_notebook_as_nbgrader_takes_it(numbers: Path, pool: PoolMaker) -> None:
    (numbers / "late.py").write_text(
        "from nbgrader.plugins import BasePlugin\n"
        "class Late(BasePlugin):\n"
        "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n"
        "        return score - 0.5\n"
    )
    with (numbers / "nbgrader_config.py").open("a") as file:
        file.write(f"import sys\nsys.path.append({str(numbers)!r})\nc.AssignLatePenalties.plugin_class = 'late.Late'\n")
    for name in ("problem1", "problem2"):
        ours(numbers, "ada", "ps1", name, why="### BEGIN SOLUTION\n# Because three times.\n### END SOLUTION")
    (numbers / "exchange/numbers/submitted/ada/ps1/timestamp.txt").write_text("2026-01-02 00:00:00 UTC")
    graded(numbers, pool)
    with Gradebook(f"sqlite:///{numbers}/gradebook.db", "numbers") as opened:
        opened.update_or_create_assignment("ps1", duedate="2026-01-01 00:00:00 UTC")
    told = graded(numbers, pool)
    assert [mark.score for mark in told.marks.values()] == [0.5, 0.5]
    assert sum(mark.penalty for mark in told.marks.values()) == 3
    with Gradebook(f"sqlite:///{numbers}/gradebook.db", "numbers") as opened:
        # Nothing else sets it: nbgrader's own command does, notebook by notebook, and it stays.
        assert opened.find_submission("ps1", "ada").late_submission_penalty == 3
    # What never came is not late.
    (numbers / "exchange/numbers/submitted/ada/ps1/problem2.ipynb").unlink()
    graded(numbers, pool)
    rows = [one for one in tables(read_class(COURSE, numbers, []))["hand_ins"] if one["lesson"].startswith("ps1/")]
    assert [(one["how"], one["late"], one["seconds_late"]) for one in rows] == [
        ("graded", True, 86400), ("nothing", False, 0),
    ]  # fmt: skip


def test_an_upload_is_collected_notebook_by_notebook(numbers: Path, tmp_path: Path) -> None:
    # It has the same ids: from what is in it nobody could tell one from the other.
    shutil.rmtree(numbers / "solutions" / "ps2")
    upload = tmp_path / "upload"
    for name in ("problem1", "problem2"):
        hand_in(numbers / "solutions" / "ps1" / f"{name}.ipynb", upload / f"{name}.ipynb")
    collect(COURSE, numbers, [upload], learners=["ada"])
    there = numbers / "exchange/numbers/submitted/ada/ps1"
    assert {path.name for path in there.iterdir()} >= {"problem1.ipynb", "problem2.ipynb"}
    # Another copy of one takes its place, and its neighbour stays.
    again = hand_in(there / "problem2.ipynb", tmp_path / "again" / "problem2.ipynb", {"cubes": "cubes = len"})
    collect(COURSE, numbers, [again], learners=["ada"])
    assert "cubes = len" in (there / "problem2.ipynb").read_text() and (there / "problem1.ipynb").is_file()


def test_nbgraders_own_command_writes_todays_marks_and_keeps_why_a_neighbour_is_not_graded(
    numbers: Path, pool: PoolMaker
) -> None:
    """By ``use_engine`` alone: nobody says ``--force``. A late penalty follows the mark that was given."""
    asked = "from nbproof.nbgrader.settings import use_engine\nuse_engine(c)\n"
    (numbers / "nbgrader_config.py").write_text(CONFIG.replace("c.Include", "# ") + asked)
    shutil.rmtree(numbers / "solutions/ps2")
    for name in ("problem1", "problem2"):
        path = ours(numbers, "ada", "ps1", name, why="# Three times.")
    path.with_name("problem1.ipynb").write_text("{")
    path.with_name("timestamp.txt").write_text("2026-01-02 00:00:00 UTC")
    graded(numbers, pool)
    with Gradebook(f"sqlite:///{numbers}/gradebook.db", "numbers") as opened:
        opened.update_or_create_assignment("ps1", duedate="2026-01-01 00:00:00 UTC")
    told = graded(numbers, pool)
    write_feedback(COURSE, numbers, told.marks, problems={one.key: one.problem for one in told.ungraded()})
    pages = {name: numbers / f"feedback/ada/ps1/{name}.html" for name in ("problem1", "problem2")}
    before = {name: page.read_text() for name, page in pages.items()}
    with Gradebook(f"sqlite:///{numbers}/gradebook.db", "numbers") as opened:
        opened.find_grade("why", "problem2", "ps1", "ada").manual_score = 1.5
        opened.find_comment("why", "problem2", "ps1", "ada").manual_comment = "Well said."
        opened.db.commit()
    api = NbGraderAPI(config=course_config(numbers))
    api.coursedir.assignment_id = "ps1"

    GenerateFeedback(coursedir=api.coursedir, parent=api).start()

    page = pages["problem2"].read_text()
    assert "Well said." in page and "Well said." not in before["problem2"]
    assert "1.5 of 2" in page
    assert pages["problem1"].read_text() == before["problem1"]
    assert api.generate_feedback("ps1", "ada")["success"]
    assert (pages["problem1"].read_text(), pages["problem2"].read_text()) == (before["problem1"], page)
