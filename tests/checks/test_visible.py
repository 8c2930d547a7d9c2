"""A check cell of two lines stands for the checks of the exercise that learners have."""

from __future__ import annotations

import ast
from functools import partial
from pathlib import Path

import pytest

from nbproof import course_file, course_here
from nbproof.authoring.build import in_the_notebook
from nbproof.checks.check import check, collecting
from nbproof.checks.visible import visible_text
from nbproof.errors import CourseError
from nbproof.handed_out import HIDDEN, digest_of_visible
from nbproof.lesson import lesson as value
from nbproof.lesson.check_cell import probe_in
from nbproof.lesson.from_notebook import with_checks
from tests import ROOT, SLUGS, some_by_day, the_lesson

DOUBLED = """\
from nbproof.checks.check import Check, check

helper = 4


class Doubled(Check):
    "The double."

    def probe(self, nb, case):
        return {"answer": nb.answer}

    def truth(self, case):
        return {"answer": helper}


check("doubled", Doubled)
"""


def whole(source: str) -> str:
    return with_checks(course_here(), source, partial(visible_text, course_here()))


CELL = '# Run this cell to check your answer.\nfrom knots import check\ncheck("doubled")'


@pytest.fixture(autouse=True)
def knots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course with the checks of one exercise, and of a part of another."""
    part = "# %% first\n" + DOUBLED.replace("doubled", "split").replace("4", "5")
    for exercise, text in (("doubled", f"{DOUBLED}\n\n{HIDDEN}\nraise ValueError"), ("split", part)):
        path = tmp_path / "lessons" / "01" / exercise / "checks.py"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (tmp_path / "knots").mkdir()
    (tmp_path / "knots" / "__init__.py").touch()
    monkeypatch.setattr(course_file, "used", [str(tmp_path / "knots")])
    return tmp_path / "lessons" / "01" / "doubled" / "checks.py"


def test_it_finds_them_and_leaves_the_learner_s_names_alone() -> None:
    for answer, passed in ((4, True), (3, False)):
        variables = {"answer": answer, "helper": "mine"}
        with collecting(course_here(), namespace=variables) as found:
            check("doubled")
        assert [(one.check, one.passed) for one in found] == [("Doubled", passed)]
        assert variables == {"answer": answer, "helper": "mine"}


def test_a_grader_has_the_whole_text_in_their_place() -> None:
    hidden = '\n\n### BEGIN HIDDEN TESTS\ncheck("doubled", Other)\n### END HIDDEN TESTS'
    assert whole(CELL + hidden) == "# Run this cell to check your answer.\n" + DOUBLED.strip() + hidden
    assert whole(CELL.replace("from knots", "from course")) == CELL.replace("from knots", "from course")
    assert whole(DOUBLED) == DOUBLED, "notebooks that were handed out earlier hold their checks"


@pytest.mark.parametrize("name", ["other", "split", "split/second"])
def test_a_notebook_of_another_version_is_told_so(name: str, knots: Path) -> None:
    exercise, _, part = name.partition("/")
    with pytest.raises(CourseError, match=rf"no checks for '{name}'.*\n.*\n.*install the one that it came with"):
        check(exercise, part=part)
    other = knots.parent.parent / exercise / "checks.py"
    other.parent.mkdir(exist_ok=True)
    other.write_text(f"# %% {part}\n{DOUBLED}" if part else DOUBLED)
    with collecting(course_here(), namespace={"answer": 4}) as found:
        check(exercise, part=part)
    assert [one.passed for one in found] == [True]


def test_what_regrades_is_the_lesson_whose_checks_changed(knots: Path) -> None:
    before = {name: digest_of_visible(course_here().texts, name) for name in ("01", "02")}
    shown, _, hidden = knots.read_text().partition(HIDDEN)
    knots.write_text(f"{shown}{HIDDEN}\npass")
    assert digest_of_visible(course_here().texts, "01") == before["01"], (
        "what is hidden stands in the notebook, whose bytes count"
    )
    knots.write_text(f"# A remark.\n{shown}{HIDDEN}{hidden}")
    assert (
        digest_of_visible(course_here().texts, "01") != before["01"]
        and digest_of_visible(course_here().texts, "02") == before["02"]
    )


@pytest.mark.parametrize("slug", some_by_day(SLUGS, 3))
def test_a_grader_s_text_is_what_the_author_wrote(slug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each definition once: of a base class that stood twice the first one was lost, for those who ask by themselves."""
    monkeypatch.undo()
    for cell in the_lesson(slug).cells:
        if isinstance(cell, value.TestCell):
            found = whole(in_the_notebook(cell))
            assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(cell.source)), cell.grade_id
            exec(compile(probe_in(found), cell.grade_id, "exec"), {"__name__": "probe"})


def test_no_check_walks_through_a_set() -> None:
    """Its words have another order in each process, and a difference is told where the first of them differs."""
    paths = [
        *ROOT.glob("lessons/*/*/checks.py"),
        *ROOT.glob("examples/*/lessons/*/*/checks.py"),
        *ROOT.glob("course/*.py"),
    ]
    nodes = [(path, node) for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    walked = [(path, node.iter) for path, node in nodes if isinstance(node, (ast.For, ast.comprehension))]
    sets = [f"{path}:{one.lineno}" for path, one in walked if isinstance(one, (ast.Set, ast.SetComp))]
    assert (bool(paths), sets) == (True, [])
