"""Packages that nobody of this tree wrote plug in: those of examples/plugins/, installed by pip in a folder of their own.

A course that knows none of them has all six: its values are Polars' tables, its learners read German, their work is fetched
from clones, marked in plain processes, reported as JUnit XML, and counted by a command of one more package.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from nbproof import doors
from nbproof.doors import Door
from nbproof.errors import UsageError
from nbproof.gradebook.receipts import TIME
from tests import ROOT, needs_isolation, typed

LESSON = "01_tables"
CHECKS = '''\
from nbproof.checks.check import Check, check


class Totals(Check):
    """`total(sales)` has a column `sum`: price times count, and keeps the others."""

    def probe(self, nb, case):
        sales = case.of("polars", "sales", 4, dtype={"price": float, "count": int, "town": "ABC"})
        return {"result": nb.function("total")(sales), "sales": sales}

    def truth(self, case):
        sales = case.of("polars", "sales", 4, dtype={"price": float, "count": int, "town": "ABC"})
        sums = [price * count for price, count in zip(sales["price"], sales["count"])]
        return {"result": sales.with_columns(pl.Series("sum", sums)), "sales": sales}


import polars as pl

check("total", Totals)
'''
ANSWER = """\
import polars as pl

def total(sales):
    return sales.with_columns((pl.col('price') * pl.col('count')).alias('sum'))"""
ANSWERS = {
    "ada": ANSWER,
    "bo": ANSWER.replace(" * ", " + "),
    "cy": ANSWER.replace("sales.with", "sales.lazy().with"),
    "di": None,
}


nightly = partial(pytest.param, marks=pytest.mark.nightly)


def _cell(name: str, source: str, **grading: object) -> str:
    kind = {"grade": False, "locked": True, "schema_version": 3, "solution": False, "task": False}
    return f"# %% nbgrader={json.dumps({**kind, 'grade_id': name, **grading})}\n{source}\n\n"


@dataclass(frozen=True)
class Course:
    """A course's folder, and where the packages are that it may plug in."""

    root: Path
    plugins: Path | None

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """One command of the tool."""
        return typed(self.root, *words, given={"PYTHONPATH": str(self.plugins or "")})

    def report(self, name: str) -> str:
        """A file of its report."""
        return (self.root / "report" / name).read_text(encoding="utf-8")


def _course(folder: Path, plugins: Path | None, settings: str) -> Course:
    lesson = folder / "lessons" / LESSON
    lesson.mkdir(parents=True)
    solution = f"### BEGIN SOLUTION\n{ANSWER}\n### END SOLUTION"
    text = "# %% [markdown]\n# # Tables\n#\n# ### Exercise: Totals\n#\n# easy · 5 min\n\n" + _cell(
        "total", solution, solution=True, locked=False
    )
    text += _cell("test_total", CHECKS, grade=True, points=2)
    (lesson / "lesson.py").write_text(text, encoding="utf-8")
    (folder / "course.toml").write_text(settings, encoding="utf-8")
    (folder / "nbgrader_config.py").write_text("c = get_config()\n")
    return Course(folder, plugins)


def _pushed(course: Course, folder: Path) -> Path:
    """Clones of what everybody has pushed, and the forge's list of them."""
    released = (course.root / "release" / LESSON / f"{LESSON}.ipynb").read_text()
    forks = []
    for number, (who, answer) in enumerate(ANSWERS.items(), 1):
        book = json.loads(released)
        for cell in book["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == "total":
                cell["source"] = answer or cell["source"]
        clone = folder / who
        (clone / ".git").mkdir(parents=True)
        (clone / ".git" / "config").write_text("[core]\n")
        (clone / "homework.ipynb").write_text(json.dumps(book))
        forks.append({"owner": {"login": who}, "pushed_at": f"2026-11-0{number}T10:00:00Z"})
    (folder / "forks.json").write_text(json.dumps([forks[:2], forks[2:]]))  # page by page
    return folder


@pytest.fixture(scope="module")
def course(plugins: Path, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course with all six, built, its class fetched, graded and reported."""
    folder = tmp_path_factory.mktemp("open")
    made = _course(folder / "course", plugins, 'says = "Tabellen"\nleaves = ["polars"]\nlanguage = "german"\n')
    built = made.command("build")
    assert built.returncode == 0, built.stderr
    clones = _pushed(made, folder / "clones")
    graded = made.command("grade", "--fetch", f"clones:{clones}", "--pool", "processes:2", "--json", "grade.json")
    assert graded.returncode == 0, graded.stdout + graded.stderr
    reported = made.command("report", "--format", "junit")
    assert reported.returncode == 0, reported.stderr
    return made


@pytest.mark.slow
@needs_isolation
def test_tables_of_another_library_are_compared_as_values(course: Course) -> None:
    graded = json.loads((course.root / "grade.json").read_text())
    assert {one["learner"]: one["score"] for one in graded["submissions"]} == {"ada": 2, "bo": 0, "cy": 0, "di": 0}
    said = {one["learner"]: one["exercises"][0]["sentence"] for one in graded["submissions"]}
    assert said["bo"].startswith("result['sum'][0] ist ")
    assert "LazyFrame" in said["cy"]


@pytest.mark.slow
@needs_isolation
def test_the_forge_says_who_and_when(course: Course) -> None:
    told = (course.root / "submitted" / "bo" / LESSON / TIME).read_text()
    assert told == "2026-11-02 10:00:00.000000 UTC"
    assert not (course.root / "submitted" / "bo" / LESSON / "config").exists()


@pytest.mark.slow
@needs_isolation
def test_learners_read_their_language(course: Course) -> None:
    pages = {path.parts[-3]: path.read_text() for path in course.root.glob(f"feedback/*/{LESSON}/*.html")}
    assert '<html lang="de">' in pages["ada"] and "Volle Punktzahl." in pages["ada"]
    assert "Noch nicht" in pages["bo"] and "Deine Antwort" in pages["bo"]
    assert "In diese Zelle wurde nichts geschrieben." in pages["di"]
    for page in pages.values():
        assert not {"Exercise", "points", "Your", "Graded"} & set(page.replace("<", " ").replace(">", " ").split())


@pytest.mark.slow
@needs_isolation
def test_a_zip_is_made_when_its_requirements_name_what_the_checks_need(course: Course) -> None:
    for requirements, code in (("jupyterlab", 2), ("jupyterlab\nnbproof_german\nnbproof-polars", 0)):
        (course.root / "requirements.txt").write_text(f"{requirements}\n")
        told = course.command("bundle")
        assert told.returncode == code, told.stderr
        assert ("it needs nbproof-german, and requirements.txt does not name that" in told.stderr) is (code == 2)
        assert ("write it there, as pip takes it, in a line of its own" in told.stderr) is (code == 2)


@pytest.mark.slow
@needs_isolation
def test_a_ci_server_reads_the_report(course: Course) -> None:
    import junitparser

    suites = junitparser.JUnitXml.fromstring(course.report("junit.xml"))
    found = {suite.name: [type(one).__name__ for case in suite for one in case.result] for suite in suites}
    assert found == {
        f"ada/{LESSON}": [],
        f"bo/{LESSON}": ["Failure"],
        f"cy/{LESSON}": ["Failure"],
        f"di/{LESSON}": ["Skipped"],
    }
    assert (suites.tests, suites.failures, suites.skipped) == (4, 2, 1)


@pytest.mark.slow
@needs_isolation
def test_a_command_of_another_package(course: Course) -> None:
    told = course.command("solved")
    assert (told.returncode, told.stdout) == (0, f"{LESSON}  total: 1 of 4\n")
    assert "solved" in course.command("--help").stdout


@pytest.mark.slow
@needs_isolation
def test_nothing_is_graded_again_until_the_leaf_type_changes(course: Course) -> None:
    again = course.command("grade", "--json", "-", "--no-feedback")
    assert {one["how"] for one in json.loads(again.stdout)["submissions"]} == {"unchanged"}
    module = course.plugins / "nbproof_polars.py"
    text = module.read_text()
    module.write_text(text + "# changed\n")
    try:
        again = course.command("grade", "--json", "-", "--no-feedback")
    finally:
        module.write_text(text)
    assert {one["how"] for one in json.loads(again.stdout)["submissions"]} == {"graded"}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course that plugs in nothing, where no such package is installed; built."""
    made = _course(tmp_path_factory.mktemp("alone") / "course", None, "")
    lesson = made.root / "lessons" / LESSON / "lesson.py"
    drawn = 'case.of("polars", "sales", 4, dtype={"price": float, "count": int, "town": "ABC"})'
    lesson.write_text(lesson.read_text().replace(CHECKS, CHECKS.replace(drawn, "[1, 2]")))
    assert made.command("build").returncode == 0
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "words", "told"),
    [
        ('leaves = ["polars"]', ["build"], "no leaf type is called 'polars'"),
        nightly('language = "german"', ["build"], "no language is called 'german'"),
        nightly("", ["grade", "--pool", "processes:2"], "no pool is called 'processes'"),
        nightly("", ["report", "--format", "junit"], "no format is called 'junit'"),
        ("", ["collect", "--fetch", "clones:here"], "no system is called 'clones'"),
    ],
)
def test_what_is_not_installed_is_named_with_what_is_and_installing_it_helps(
    alone: Course, plugins: Path, settings: str, words: list[str], told: str
) -> None:
    (alone.root / "course.toml").write_text(settings, encoding="utf-8")
    ended = alone.command(*words)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"error: {told}") or f"\nerror: {told}" in ended.stderr
    assert "install the package that has it (docs/doors.md)" in ended.stderr
    assert told not in Course(alone.root, plugins).command(*words).stderr


@pytest.mark.slow
def test_a_fetch_that_fails_says_what_helps(course: Course, tmp_path: Path) -> None:
    clones = _pushed(course, tmp_path)
    assert "nothing to collect is named" in course.command("collect").stderr
    unnamed = course.command("collect", "--fetch", "clones:").stderr
    assert "clones needs an address: the folder with forks.json" in unnamed and "--fetch clones:ADDRESS" in unnamed
    forks = (clones / "forks.json").read_text()
    (clones / "forks.json").write_text('[{"owner": {"login": "ada"}, "pushed_at": "yesterday"}]')
    wrong = course.command("collect", "--fetch", f"clones:{clones}")
    assert wrong.returncode == 2 and "gh api" in wrong.stderr
    (clones / "forks.json").write_text('[{"owner": {"login": "ada"}, "pushed_at": "2026-11-01T10:00:00"}]')
    assert "the time of ada has no zone" in course.command("collect", "--fetch", f"clones:{clones}").stderr
    (clones / "forks.json").write_text('{"message": "Not Found"}')
    wrong = course.command("collect", "--fetch", f"clones:{clones}")
    assert "mend that, then run the same command again; nothing was changed" in wrong.stderr
    (clones / "forks.json").write_text(forks)
    assert course.command("collect", "--fetch", f"clones:{clones}").returncode == 0
    assert course.command("collect", str(clones)).returncode != 2


@pytest.mark.slow
@needs_isolation
def test_what_starts_threads_is_named_and_taking_it_out_helps(alone: Course, plugins: Path) -> None:
    busy = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    (plugins / "busy.py").write_text(busy)
    threaded = Course(alone.root, plugins)
    released = (alone.root / "release" / LESSON / f"{LESSON}.ipynb").read_bytes()
    for who in ("ada", "bo"):
        folder = alone.root / "submitted" / who / LESSON
        folder.mkdir(parents=True)
        (folder / f"{LESSON}.ipynb").write_bytes(released)
    (alone.root / "course.toml").write_text('warm = ["busy"]', encoding="utf-8")
    told = threaded.command("grade", "--anyway", "--no-feedback")
    assert told.returncode == 1 and "what lessons import has started threads (python" in told.stderr
    assert "take the library that starts them out of warm in course.toml" in told.stderr
    (alone.root / "course.toml").write_text("", encoding="utf-8")
    assert "threads" not in threaded.command("grade", "--anyway", "--no-feedback").stderr


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Door:
    """A door, behind which are two packages' things of one name, and one that cannot be loaded."""
    listed = [
        EntryPoint("twice", "json:loads", "nbproof.tried"),
        EntryPoint("twice", "json:dumps", "nbproof.tried"),
        EntryPoint("broken", "no_such_module:X", "nbproof.tried"),
        EntryPoint("fine", "json:loads", "nbproof.tried"),
        EntryPoint("ours", "json:loads", "nbproof.tried"),
    ]
    monkeypatch.setattr(doors, "entry_points", lambda group: listed if group == "nbproof.tried" else [])
    return Door("nbproof.tried", "thing", ("ours",))


@pytest.mark.parametrize(
    ("name", "fact", "cure"),
    [
        ("twice", "2 packages have a thing 'twice': json, json", "pip uninstall json"),
        (
            "broken",
            "the thing 'broken' of no_such_module cannot be loaded: ModuleNotFoundError",
            "pip install --upgrade",
        ),
        ("other", "no thing is called 'other'", "choose from: broken, fine, ours, twice; or install"),
        ("ours", "no thing is called 'ours'", "choose from"),
    ],
)
def test_a_door_says_what_is_wrong_with_what_stands_behind_it(there: Door, name: str, fact: str, cure: str) -> None:
    assert there.load("fine", "here") is json.loads
    with pytest.raises(UsageError) as told:
        there.load(name, "here")
    assert fact in told.value.fact and cure in told.value.next_command and told.value.place == "here"


def test_times_of_a_forge_have_their_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "examples" / "plugins" / "nbproof-clones")
    from nbproof_clones import SYSTEM

    (tmp_path / "ada").mkdir()
    (tmp_path / "forks.json").write_text('[{"owner": {"login": "ada"}, "updated_at": "2026-11-01T10:00:00+01:00"}]')
    (one,) = SYSTEM.fetch(str(tmp_path))
    assert one.when == datetime(2026, 11, 1, 9, tzinfo=UTC)
    (tmp_path / "ada").rmdir()
    with pytest.raises(UsageError, match="ada has a fork, and there is no clone of it"):
        list(SYSTEM.fetch(str(tmp_path)))
