"""The course in `examples/`: another subject, no package of its own, no torch; everything works for it as for the first."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nbproof.display.help import read_hints

pytestmark = pytest.mark.slow
EXAMPLE = Path(__file__).parent.parent / "examples" / "iterators"
LESSONS = ("01_iterators", "02_generators")


def run(folder: Path, *words: str) -> str:
    """What `python -m nbproof WORDS` prints there; it has to succeed."""
    kept = {name: value for name, value in os.environ.items() if name != "NBPROOF_COURSE"}
    command = [sys.executable, "-m", "nbproof", *words]
    done = subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


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
    told = run(course, "grade", "--seed", "1", "--json", "class.json")
    assert "isolation: " in told and "NONE" not in told
    return course / "demo"


def test_the_contract_holds_and_what_is_built_is_up_to_date(course: Path) -> None:
    told = " ".join(run(course, "check").split())
    assert told.count("holds") == 6 and "0 violations" in told and "100.0% of mutants" in told
    assert "none is in it" in run(course, "bundle"), "the tool's own lines are nobody's secret"


def test_it_is_not_about_hooks_and_needs_no_torch() -> None:
    texts = [path.read_text() for folder in ("lessons", "release") for path in (EXAMPLE / folder).rglob("*.*")]
    assert len(texts) > 22
    assert [text[:80] for text in texts if re.search(r"hook|torch|import course", text)] == []
    assert "leaves = []" in (EXAMPLE / "course.toml").read_text()


@pytest.mark.nightly
def test_it_becomes_a_site_to_read(course: Path) -> None:
    told = run(course, "site")
    assert re.search(r"01_iterators: [\d.]+ s\n", told) and "none is in it" in told
    chapter = (course / "build/site/lessons/01_iterators.html").read_text(encoding="utf-8")
    assert "cell_output" in chapter and "exercise-end" in chapter and "Traceback" not in chapter
    assert "01_iterators: shown as before" in run(course, "site")


def test_a_class_gets_the_marks_that_its_answers_deserve(graded: Path) -> None:
    """Ada's answers are drawn from the accepted ones, Goro's from the mutants; Hanna hands in what she got."""
    told = json.loads((graded.parent / "class.json").read_text())
    score = {(one["learner"], one["lesson"]): one["score"] for one in told["submissions"]}
    assert len(score) == 16
    assert [score["ada", lesson] for lesson in LESSONS] == [8.0, 9.0], "the 2 points in words wait for a person"
    assert [score[name, lesson] for name in ("goro", "hanna") for lesson in LESSONS] == [0.0] * 4


def test_feedback_and_report_call_the_misconceptions_by_name(graded: Path) -> None:
    names = {one.name for one in read_hints(EXAMPLE / "lessons")[0].values()}
    page = _text(graded / "feedback/goro/02_generators/02_generators.html")
    assert "Generators: a function that pauses" in page
    told = re.findall(r"<h3>Looks like (.+?)</h3>", page)
    assert len(told) == 3 and set(told) <= names
    run(graded.parent, "report", "--course", "demo")
    report = _text(graded / "report/index.html")
    assert "Class report: Iterators and generators" in report and [name for name in told if name not in report] == []


def _text(page: Path) -> str:
    """A page as its reader sees it, with `backticks` for code."""
    return html.unescape(re.sub(r"</?code>", "`", page.read_text()))


def test_a_notebook_finds_its_course_checks_and_helps(course: Path, diary: Path) -> None:
    """In a kernel that nobody has told which course it is: the folder says so."""
    cells = json.loads((course / "release/02_generators/02_generators.ipynb").read_text())["cells"]
    by_id = {cell["id"]: "".join(cell["source"]) for cell in cells}
    folder = course / "learn" / "02_generators"
    folder.mkdir(parents=True)
    answer = (
        "def flatten(nested):\n    for item in nested:\n        if isinstance(item, list):\n            flatten(item)\n"
    )
    parts = [by_id["setup-imports"], answer + "        else:\n            yield item", by_id["test-flatten"]]
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\nshell = InteractiveShell.instance()\n"
        f"for part in {parts!r}: done = shell.run_cell(part)\n"
        "print(done.error_in_exec)\n"
        "shell.run_cell('hint(\"flatten\")')\n"
        "shell.run_cell('from nbproof.display.progress import overview; print(overview().total)')\n"
    )
    kept = {name: value for name, value in os.environ.items() if name != "NBPROOF_COURSE"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=kept | {"IPYTHONDIR": str(diary.parent)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "looks like: a generator that nobody asks." in done.stdout, done.stdout + done.stderr
    assert "flatten: A way in." in done.stdout
    assert "0 of 6 exercises solved, 0 of 17 points" in done.stdout
