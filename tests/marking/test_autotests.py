"""``### AUTOTEST f(3)``: nbgrader's own preprocessor writes the tests, in a sealed process; marks are those of stock."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from nbproof.errors import CourseError
from nbproof.marking.autotests import with_tests
from nbproof.places import course_config
from nbproof.run.pool import PoolMaker
from tests import COURSE
from tests.run.test_any_course import Cells, book, graded, hand_in, written

TEMPLATES = """
python3:
    setup: "from hashlib import sha1"
    hash: 'sha1({{snippet}}.encode("utf-8")+b"{{salt}}").hexdigest()'
    dispatch: "type({{snippet}})"
    normalize: "str({{snippet}})"
    check: 'assert {{snippet}} == "{{value}}", "{{message}}"'
    success: "print('Success!')"
    templates:
        default:
            - test: "type({{snippet}})"
              fail: "the type of {{snippet}} is not right"
            - test: "{{snippet}}"
              fail: "the value of {{snippet}} is not right"
"""
LESSON: Cells = {
    "setup": ("setup", "from helper import base"),
    "twice": ("answer", "### BEGIN SOLUTION\ndef twice(n):\n    return base + 2 * n\n### END SOLUTION"),
    "test_shown": ("test", "### AUTOTEST twice(3)\n### HASHED AUTOTEST twice(4); twice(0)\nassert twice(1) == 2"),
    "test_hidden": ("test", "assert twice\n### BEGIN HIDDEN TESTS\n### AUTOTEST twice(5005)\n### END HIDDEN TESTS"),
}
ANSWERS = {
    "right": ("def twice(n):\n    return n + n", 4),
    "shown": ("def twice(n):\n    return 2 * min(n, 5000)", 2),
    "wrong": ("def twice(n):\n    return 3 * n", 0),
    "type": ("def twice(n):\n    return 2.0 * n", 0),
}


@pytest.fixture
def lesson(tmp_path: Path, one_engine: None) -> Path:
    (tmp_path / "autotests.yml").write_text(TEMPLATES)
    path = written(tmp_path / "source" / "ps1" / "ps1.ipynb", LESSON)
    (path.parent / "helper.py").write_text("base = 0\n")
    return path


def test_a_class_gets_the_marks_of_the_tests_and_nobody_sees_the_hidden_ones(lesson: Path, pool: PoolMaker) -> None:
    root = lesson.parents[2]
    for learner, (answer, _) in ANSWERS.items():
        hand_in(lesson, root / "submitted" / learner / "ps1" / "ps1.ipynb", {"twice": answer})
    told = graded(root, pool)
    assert not told.unfit and not told.refused
    assert {key.learner: mark.score for key, mark in told.marks.items()} == {
        name: most for name, (_, most) in ANSWERS.items()
    }
    assert sum(book(root).values()) == sum(most for _, most in ANSWERS.values())
    for learner in ANSWERS:
        text = (root / "autograded" / learner / "ps1" / "ps1.ipynb").read_text()
        assert "5005" not in text and "10010" not in text and "sha1(str(twice(4))" in text
    # The tests are written once; others where what they are written from is another.
    assert {mark.how for mark in graded(root, pool).marks.values()} == {"unchanged"}
    (root / "autotests.yml").write_text(
        TEMPLATES.replace('"type({{snippet}})"\n              fail', '"1"\n              fail')
    )
    again = graded(root, pool)
    assert {key.learner: mark.score for key, mark in again.marks.items()} == {
        "right": 4,
        "shown": 2,
        "wrong": 0,
        "type": 0,
    }
    assert {mark.how for mark in again.marks.values()} == {"graded"}


_STOCK = """
import json, sys, nbformat
from nbgrader.preprocessors import InstantiateTests
notebook = nbformat.read(sys.argv[1], as_version=4)
InstantiateTests().preprocess(notebook, {"metadata": {"path": "source/ps1"}})
print(json.dumps([cell.source for cell in notebook.cells]))
"""


@pytest.mark.stock
def test_the_text_is_nbgraders_own(lesson: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", _STOCK, str(lesson)]
    told = subprocess.run(command, cwd=lesson.parents[2], capture_output=True, text=True, check=True)
    ours = with_tests(COURSE, lesson, course_config(lesson.parents[2]))
    assert [cell.source for cell in ours.cells] == json.loads(told.stdout)
    assert "AUTOTEST" not in nbformat.writes(ours)


def test_another_header_writes_them_anew_and_a_footer_does_not_reach_them(lesson: Path) -> None:
    root = lesson.parents[2]
    written(lesson, {**LESSON, "test_shown": ("test", "### AUTOTEST twice(3)")})
    settings = "c = get_config()\nc.IncludeHeaderFooter.header = 'header.ipynb'\nc.IncludeHeaderFooter.footer = 'footer.ipynb'\n"
    (root / "nbgrader_config.py").write_text(settings)
    for header, footer in ((0, 5), (7, 0)):
        for place, base in (("header", header), ("footer", footer)):
            text = f"class helper: base = {base}\nimport sys; sys.modules['helper'] = helper"
            written(root / f"{place}.ipynb", {place: ("setup", text)})
        shown = "\n".join(cell.source for cell in with_tests(COURSE, lesson, course_config(root)).cells)
        assert f'"{6 + header}", "the value of twice(3)' in shown


WRONG = {
    "no templates": (lambda path: (path.parents[2] / "autotests.yml").unlink(), "FileNotFoundError"),
    "templates that are none": (lambda path: (path.parents[2] / "autotests.yml").write_text("a: ["), "Error: "),
    "a wrong reference": (
        lambda path: written(path, {**LESSON, "twice": ("answer", "### BEGIN SOLUTION\ntwice = 3\n### END SOLUTION")}),
        "'int' object is not callable",
    ),
    "an endless reference": (
        lambda path: written(
            path, {**LESSON, "twice": ("answer", "### BEGIN SOLUTION\nwhile 1: pass\n### END SOLUTION")}
        ),
        "WorkerLost: timeout",
    ),
    "a reference that leaves": (
        lambda path: written(
            path, {**LESSON, "twice": ("answer", "### BEGIN SOLUTION\nimport os\nos._exit(0)\n### END SOLUTION")}
        ),
        "WorkerLost: died",
    ),
    "a reference that reads the gradebook": (
        lambda path: written(path, {**LESSON, "setup": ("setup", f"open({str(path.parents[2] / 'gradebook.db')!r})")}),
        "No such file",
    ),
}


@pytest.mark.parametrize(("change", "said"), WRONG.values(), ids=list(WRONG))
def test_tests_that_cannot_be_written_are_named_and_the_cure_helps(lesson: Path, change: object, said: str) -> None:
    assert callable(change)
    root = lesson.parents[2]
    (root / "gradebook.db").write_text("")
    (root / "nbgrader_config.py").write_text("c = get_config()\nc.GradingLimits.submission_seconds = 3.0\n")
    change(lesson)
    with pytest.raises(CourseError, match="cannot write the tests of its AUTOTEST lines") as caught:
        with_tests(COURSE, lesson, course_config(root))
    assert said in caught.value.fact and caught.value.place == str(lesson)
    assert str(root / "autotests.yml") in caught.value.next_command
    (root / "autotests.yml").write_text(TEMPLATES)
    written(lesson, LESSON)
    assert "AUTOTEST" not in nbformat.writes(with_tests(COURSE, lesson, course_config(root)))
