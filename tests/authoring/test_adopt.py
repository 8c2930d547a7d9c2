"""`nbproof adopt`: a lesson of an nbgrader notebook, with its asserts as they are, which the author contract can hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from nbproof.authoring.adopt import adopt
from nbproof.authoring.build import build
from nbproof.authoring.checkup import check_up
from nbproof.course_file import read_course
from nbproof.errors import LessonError, UsageError
from nbproof.lesson.from_text import read_lesson

SQUARES = """\
def squares(n):
    #### BEGIN SOLUTION
    if n < 1:
        raise ValueError(LIMIT)
    return [i ** 2 for i in range(1, n + 1)]
    #### END SOLUTION"""
TASK = "Sketch it.\n=== BEGIN MARK SCHEME ===\nAxes have names.\n=== END MARK SCHEME ===\nThen add a title."
ASSERTS = "from math import prod\nassert squares(2) == [1, 4]"


def _cell(source: str, grade_id: str = "", kind: str = "code", **marks: Any) -> Any:
    cell = getattr(nbformat.v4, f"new_{kind}_cell")(source)
    if grade_id:
        usual = dict.fromkeys(("task", "locked", "solution", "grade"), False)
        cell["metadata"]["nbgrader"] = {"grade_id": grade_id, "schema_version": 3, **usual, **marks}
    return cell


def _notebook(*more: Any) -> Any:
    tests: dict[str, Any] = {"grade": True, "locked": True}
    return nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        cells=[
            _cell("# Problem set 1", "cell-00", "markdown", locked=True),
            _cell("from beside import LIMIT"),
            _cell("## Part A (2 points)\n\nThe squares up to n.", kind="markdown"),
            _cell(SQUARES, "squares", solution=True),
            _cell("squares(10)"),
            _cell(ASSERTS, "correct", points=1, **tests),
            _cell("### BEGIN HIDDEN TESTS\nassert squares(3)[2] == 9\n### END HIDDEN TESTS", "more", points=0, **tests),
            nbformat.from_dict(
                {**_cell("Their sum.", kind="markdown"), "attachments": {"a.png": {"image/png": "YQ=="}}}
            ),
            _cell("total = 0", "cell-0ab1", solution=True),
            _cell("total = sum(squares(3))", "cell-0ab2", solution=True),
            _cell("assert total == prod([2, 7])", "cell-0ab3", points=2, **tests),
            _cell("Because.", "why", "markdown", grade=True, solution=True, points=3),
            _cell("plot()", "picture", grade=True, solution=True, points=3),
            _cell(TASK, "sketch", "markdown", task=True, locked=True, points=3),
            *more,
        ],
    )


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A plain nbgrader course with a header, a module beside its notebook, and a notebook that is not called like its folder."""
    (tmp_path / "source" / "ps1").mkdir(parents=True)
    (tmp_path / "nbgrader_config.py").write_text(
        'c = get_config()\nc.CourseDirectory.course_id = "x"\nc.IncludeHeaderFooter.header = "source/header.ipynb"\n'
    )
    nbformat.write(nbformat.v4.new_notebook(cells=[_cell("Your name:")]), tmp_path / "source" / "header.ipynb")
    nbformat.write(_notebook(), tmp_path / "source" / "ps1" / "problem1.ipynb")
    (tmp_path / "source" / "ps1" / "beside.py").write_text("LIMIT = 'n must be 1 or more'\n")
    (tmp_path / "source" / "ps1" / "data.csv").write_text("a,b\n")
    return tmp_path


def test_a_notebook_becomes_a_lesson_with_its_asserts(course: Path) -> None:
    made = adopt(course / "source" / "ps1" / "problem1.ipynb")
    assert made.slug == "ps1_problem1" and made.exercises == ["squares", "part_a_2_points"]
    told = "\n".join(made.remarks)
    parts = (
        "more has no points",
        "cell-0ab1 has no tests of its own",
        "picture: lessons have no",
        "pasted",
        "mark scheme",
        "correct: test_squares",
    )
    for said in parts:
        assert said in told
    lesson = read_lesson(read_course(course), course / "lessons" / made.slug)
    first, second = lesson.exercises
    assert [cell.grade_id for cell in first.tests] == ["test_squares", "test_squares_part_2"] and first.points == 2
    assert first.plain == {"test_squares", "test_squares_part_2"} and not first.mutants and not first.accepted
    assert second.answer.source.count("BEGIN SOLUTION") == 2
    assert [cell.grade_id for cell in lesson.questions] == ["explain_why"]
    assert "Sketch it.\nThen add a title." in [cell.source for cell in lesson.cells]
    assert "### Exercise: Part A (2 points)\n\nmedium · 10 min" in [cell.source for cell in lesson.cells]
    beside = {path.name for path in (course / "lessons" / made.slug / "files").iterdir()}
    assert beside == {"beside.py", "data.csv"}


def test_a_course_that_keeps_lessons_elsewhere_is_told_before_anything_is_written(course: Path) -> None:
    (course / "source").rename(course / "solutions")
    with (course / "nbgrader_config.py").open("a") as config:
        config.write('c.CourseDirectory.source_directory = "solutions"\n')
    with pytest.raises(UsageError, match="built into source/, and this course keeps them in solutions/"):
        adopt(course / "solutions" / "ps1" / "problem1.ipynb")
    assert not (course / "lessons").exists()


MUTANTS = """\
# %% from_zero
# misconception: counts from 0 | hint: none
# edits: reference
-    return [i ** 2 for i in range(1, n + 1)]
+    return [i ** 2 for i in range(n)]

# %% no_error
# misconception: forgets the error | hint: none
def squares(n):
    return [i ** 2 for i in range(1, n + 1)]
"""


CHECKS = """\
from nbproof import Check, check
Two = type("Two", (Check,), {"probe": lambda self, nb, case: nb.function("squares")(2), "truth": lambda self, case: [1, 4]})
check("squares", Two)
"""


@pytest.mark.slow
def test_the_contract_holds_it_and_names_a_mutant_that_its_asserts_let_through(course: Path) -> None:
    made = adopt(course / "source" / "ps1" / "problem1.ipynb")
    works_for = read_course(course)
    folder = course / "lessons" / made.slug
    (folder / "squares" / "wrong.py").write_text(MUTANTS)
    build(works_for, course, say=lambda line: None)
    assert (course / "release" / made.slug / "beside.py").exists()
    assert build(works_for, course, say=lambda line: None) == []
    found = check_up(works_for, course, [], lambda *step: None)
    assert [one.fact for one in found.violations] == [
        "squares: the mutant no_error survives: forgets the error",
        "part_a_2_points: 0 mutants, at least 2 are needed",
    ]
    assert found.violations[1].place == str(folder / "part_a_2_points" / "wrong.py")
    assert "write 2 more there, each as: # %% <name>, below it # misconception: " in found.violations[1].next_command
    assert (found.records[0].killed, found.records[0].seen) == (1, 0)
    (folder / "squares" / "checks.py").write_text(CHECKS)
    lesson = folder / "lesson.py"
    lesson.write_text(lesson.read_text().replace(ASSERTS, 'from nbproof import check\ncheck("squares")'))
    again = check_up(works_for, course, [], lambda *step: None).violations
    assert [one.place for one in again if "NameError: name 'prod'" in one.fact]


def test_a_notebook_that_a_build_would_write_anew_is_said_to_be(course: Path) -> None:
    path = (course / "source" / "ps1" / "problem1.ipynb").rename(course / "source" / "ps1" / "ps1.ipynb")
    made = adopt(path)
    assert made.slug == "ps1" and "writes this notebook anew" in made.remarks[-1]
    with pytest.raises(UsageError, match="there already"):
        adopt(path)
    assert adopt(path, "other").slug == "other"


def test_a_notebook_of_which_no_lesson_can_be_made_changes_nothing(course: Path) -> None:
    path = course / "source" / "ps1" / "problem1.ipynb"
    before = set(course.rglob("*"))
    nbformat.write(
        _notebook(_cell("def (:", "broken", solution=True), _cell("assert 1", "t", grade=True, points=1)), path
    )
    with pytest.raises(LessonError, match="broken") as caught:
        adopt(path)
    assert caught.value.place == str(path)
    nbformat.write(nbformat.v4.new_notebook(cells=[_cell("1")]), path)
    for bad in (path, course / "source" / "ps1" / "beside.py"):
        with pytest.raises(UsageError):
            adopt(bad)
    assert set(course.rglob("*")) - before <= {course / "lessons"}
