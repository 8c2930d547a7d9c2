"""The course in `examples/`: another subject, no package of its own, no torch; everything works for it as for the first."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path

import pytest

from nbproof.display.help import read_hints
from tests import printed, python

pytestmark = pytest.mark.slow
EXAMPLE = Path(__file__).parent.parent / "examples" / "iterators"
LESSON = "01_iterators"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, as it is in the repository."""
    made = ("demo", "learn", ".course", "*.zip")
    return Path(
        shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("second") / "iterators", ignore=shutil.ignore_patterns(*made))
    )


@pytest.fixture(scope="module")
def graded(course: Path) -> Path:
    """Its simulated class, graded."""
    told = printed(course, "grade", "--seed", "1", "--json", "class.json")
    assert "isolation: " in told and "NONE" not in told
    return course / "demo"


def test_the_contract_holds_and_what_is_built_is_up_to_date(course: Path) -> None:
    told = " ".join(printed(course, "check").split())
    assert told.count("holds") == 3 and "0 violations" in told
    assert "none is in it" in printed(course, "bundle"), "the tool's own lines are nobody's secret"


@pytest.mark.nightly
def test_it_becomes_a_site_to_read(course: Path) -> None:
    told = printed(course, "site")
    assert re.search(r"01_iterators: [\d.]+ s\n", told) and "none is in it" in told
    chapter = (course / "build/site/lessons/01_iterators.html").read_text(encoding="utf-8")
    assert "cell_output" in chapter and "Traceback" not in chapter


def test_a_class_gets_the_marks_that_its_answers_deserve(graded: Path) -> None:
    """Ada's answers are drawn from the accepted ones, Goro's from the mutants; Hanna hands in what she got."""
    told = json.loads((graded.parent / "class.json").read_text())
    score = {one["learner"]: one["score"] for one in told["submissions"]}
    assert len(score) == 8
    assert score["ada"] == 8.0, "the 2 points in words wait for a person"
    assert (score["goro"], score["hanna"]) == (0.0, 0.0)


def test_feedback_and_report_call_the_misconceptions_by_name(graded: Path) -> None:
    names = {one.name for one in read_hints(EXAMPLE / "lessons")[0].values()}
    page = _text(graded / "feedback/goro/01_iterators/01_iterators.html")
    assert "Iterators: one thing at a time" in page
    told = re.findall(r"<h3>Looks like (.+?)</h3>", page)
    assert len(told) == 3 and set(told) <= names
    printed(graded.parent, "report", "--course", "demo")
    report = _text(graded / "report/index.html")
    assert "Class report: Iterators and generators" in report and [name for name in told if name not in report] == []


def _text(page: Path) -> str:
    """A page as its reader sees it, with `backticks` for code."""
    return html.unescape(re.sub(r"</?code>", "`", page.read_text()))


def test_a_notebook_finds_its_course_checks_and_helps(course: Path, diary: Path) -> None:
    """In a kernel that nobody has told which course it is: the folder says so."""
    cells = json.loads((course / f"release/{LESSON}/{LESSON}.ipynb").read_text())["cells"]
    by_id = {cell["id"]: "".join(cell["source"]) for cell in cells}
    folder = course / "learn" / LESSON
    folder.mkdir(parents=True)
    parts = [by_id["setup-imports"], "def take(items, n):\n    return list(items)[:n]", by_id["test-take"]]
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\nshell = InteractiveShell.instance()\n"
        f"for part in {parts!r}: done = shell.run_cell(part)\n"
        "print(done.error_in_exec)\n"
        "shell.run_cell('hint(\"take\")')\n"
        "shell.run_cell('from nbproof import progress; progress()')\n"
    )
    done = python(folder, "-c", code, given={"IPYTHONDIR": str(diary.parent)})
    assert "looks like: a source that is read to its end." in done.stdout, done.stdout + done.stderr
    assert "take: A way in." in done.stdout
    assert "0 of 3 exercises solved, 0 of 8 points" in done.stdout
