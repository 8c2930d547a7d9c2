"""What several test modules share: a small course with one exercise, a warm engine for the whole session."""

from __future__ import annotations

import itertools
import json
import linecache
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import bs4
import nbformat
import pytest
from nbgrader.apps import NbGraderAPI

from nbproof.authoring.build import notebook_of
from nbproof.authoring.lesson import read_lesson, stub_of
from nbproof.gradebook.writer import Writer
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint
from nbproof.marking.hand_in import HandIn
from nbproof.marking.marker import Marker
from nbproof.marking.results import Verdict
from nbproof.nbgrader_setup import course_config
from nbproof.run.batch import register_lessons
from nbproof.run.digests import LessonState
from nbproof.run.journal import RunState
from nbproof.run.pool import Pool, PoolMaker
from nbproof.run.references import References, where_of
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.isolation import Isolation, why_not_isolated
from tests.feedback.page_rules import what_runs

Mark = Callable[[HandIn], Verdict]
_numbers = itertools.count()
_LONGEST = (
    "tests/attacks",
    "tests/browser",
    "tests/test_house",
    "tests/dask",
    "tests/run/test_batch",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """`-n auto`: one process more than cores, because some tests wait: for a limit to end an attack, for a browser."""
    return None if config.option.numprocesses == "logical" else (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow files come first: what begins last ends last. Whoever needs a class or an engine is slow: that takes seconds."""
    for item in items:
        if {"engine", "registered_lesson"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
    slow = {_file(item) for item in items if any(map(item.get_closest_marker, ("slow", "stock", "browser")))}
    items.sort(key=lambda item: (not _file(item).startswith(_LONGEST), _file(item) not in slow))


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


@pytest.fixture(autouse=True)
def diary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A diary of the test's own: no test touches what a person has solved on this machine."""
    path = tmp_path_factory.mktemp("diary") / "progress.db"
    monkeypatch.setenv("COURSE_PROGRESS", str(path))
    return path


@pytest.fixture
def cell() -> Callable[..., dict[str, Any]]:
    """Run text as a notebook cell: in a namespace, under a file name of its own, with its lines at hand for errors."""

    def run(source: str, namespace: dict[str, Any] | None = None) -> dict[str, Any]:
        name = f"<cell {next(_numbers)}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        found = {"__name__": "__main__"} if namespace is None else namespace
        exec(compile(source, name, "exec"), found)
        return found

    return run


ROOT = Path(__file__).parent.parent
LESSON = "01_small"
LIMITS: dict[str, Any] = {"exercise_seconds": 4.0, "submission_seconds": 24.0, "memory_mb": 512}
"""Short, and still long for honest work on a machine that does something else as well."""
POINTS = {"first": 2.0, "second": 1.0, "third": 1.0}

_HEAD = (
    '{{"grade": {grade}, "grade_id": "{name}", "locked": {locked}, {points}"schema_version": 3, '
    '"solution": {solution}, "task": false}}'
)


def _cell(name: str, source: str, *, grade: bool = False, solution: bool = False, points: float = 0) -> str:
    words = {True: "true", False: "false"}
    head = _HEAD.format(
        grade=words[grade], name=name, locked=words[not solution], solution=words[solution],
        points=f'"points": {points:g}, ' if grade else "",
    )  # fmt: skip
    return f"# %% nbgrader={head}\n{source}\n\n"


def _exercise(name: str, factor: int, points: float) -> str:
    answer = (
        f"def {name}(x):\n    # TODO: {factor} times x\n"
        f"    ### BEGIN SOLUTION\n    return x * {factor}\n    ### END SOLUTION"
    )
    test = f'''from nbproof.checks.check import Check, check


class Values(Check):
    """`{name}(x)` is {factor} times x."""

    def probe(self, nb, case):
        return {{"result": nb.function("{name}")(case.tensor("x", 3))}}

    def truth(self, case):
        return {{"result": sum(case.tensor("x", 3) for _ in range({factor}))}}


check("{name}", Values)
### BEGIN HIDDEN TESTS
class Shapes(Check):
    """It works for any shape, and leaves x alone."""

    def probe(self, nb, case):
        x = case.tensor("x", 2, 4)
        return {{"result": nb.function("{name}")(x), "x": x}}

    def truth(self, case):
        x = case.tensor("x", 2, 4)
        return {{"result": x * {factor}, "x": x}}


check("{name}", Shapes)
### END HIDDEN TESTS'''
    return _cell(name, answer, solution=True) + _cell(f"test_{name}", test, grade=True, points=points)


@pytest.fixture(scope="session")
def small_lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder with one lesson of three exercises: lessons/, source/, nbgrader_config.py with short limits."""
    root = tmp_path_factory.mktemp("course")
    folder = root / "lessons" / LESSON
    folder.mkdir(parents=True)
    text = "# %% [markdown]\n# # Small\n\n" + _cell("setup_imports", "import torch\nfrom torch import nn")
    text += "".join(_exercise(name, factor, POINTS[name]) for factor, name in enumerate(POINTS, 2))
    (folder / "lesson.py").write_text(text)
    (root / "source" / LESSON).mkdir(parents=True)
    nbformat.write(notebook_of(read_lesson(folder)), root / "source" / LESSON / f"{LESSON}.ipynb")
    config = (ROOT / "nbgrader_config.py").read_text()
    for name, value in LIMITS.items():
        config += f"\nc.GradingLimits.{name} = {value}"
    (root / "nbgrader_config.py").write_text(config)
    return root


@pytest.fixture(scope="session")
def registered_lesson(small_lesson: Path) -> Path:
    """The small course, whose gradebook knows the lesson: nbgrader takes seconds to make one."""
    config = course_config(small_lesson)
    coursedir = NbGraderAPI(config=config).coursedir
    source = small_lesson / "source" / LESSON / f"{LESSON}.ipynb"
    states = {LESSON: LessonState(source, config, GradingLimits(config=config))}
    with Writer(coursedir.db_url, coursedir.course_id) as writer:
        register_lessons(states, RunState(small_lesson), writer, config)
    note_references(small_lesson)
    return small_lesson


def note_references(course: Path) -> None:
    """As if the reference answers had been tried: tests of something else need not wait for them."""
    config, state = course_config(course), RunState(course)
    one = LessonState(course / "source" / LESSON / f"{LESSON}.ipynb", config, GradingLimits(config=config))
    for here in (True, False):
        References({LESSON: one}, state, where_of(here, Isolation.FULL)).keep(LESSON)


@pytest.fixture
def course(registered_lesson: Path, tmp_path: Path) -> Path:
    """A copy of the small course, with nothing handed in."""
    for name in ("source", "lessons", ".course"):
        shutil.copytree(registered_lesson / name, tmp_path / name)
    for name in ("nbgrader_config.py", "gradebook.db"):
        shutil.copy(registered_lesson / name, tmp_path)
    return tmp_path


RIGHT = {name: f"def {name}(x):\n    return x * {factor}" for factor, name in enumerate(POINTS, 2)}


@pytest.fixture
def hand_in(course: Path) -> Callable[..., Path]:
    """hand_in("ada", {"first": "def ..."}): write a submission; what is not named stays the stub."""

    def write(learner: str, answers: Mapping[str, str]) -> Path:
        notebook = nbformat.read(course / "source" / LESSON / f"{LESSON}.ipynb", as_version=4)
        for cell in notebook.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            if name in POINTS:
                cell["source"] = answers.get(name, stub_of(cell.source))
            elif name.startswith("test_"):
                cell["source"] = cell.source.split("### BEGIN HIDDEN")[0]
        path = course / "submitted" / learner / LESSON / f"{LESSON}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(notebook))
        return path

    return write


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """A started, isolated engine with short limits; skipped aloud where the machine cannot isolate."""
    reason = why_not_isolated()
    if reason:
        pytest.skip(f"the engine is NOT tested: {reason}")
    with Engine(GradingLimits(**LIMITS)) as started:
        yield started


@contextmanager
def limited(engine: Engine, **limits: Any) -> Iterator[Engine]:
    """The session's engine with other limits, the course's own if none are named: starting another one takes seconds."""
    before, engine.limits = engine.limits, GradingLimits(**limits)
    try:
        yield engine
    finally:
        engine.limits = before


def shared_pool(
    engine: Engine, wrap: Callable[[Mark], Mark] = lambda mark: mark, threads: int = 1, alone: Mark | None = None
) -> PoolMaker:
    """For ``grade_class(pool=...)``: an engine that is warm already, for starting one takes seconds. ``wrap``: what marks is
    put into it.
    """

    @contextmanager
    def make(blueprints: Mapping[str, Blueprint], seed: int, limits: GradingLimits) -> Iterator[Pool]:
        mark = wrap(Marker(engine, blueprints, seed).mark)
        with ThreadPoolExecutor(threads) as executor:
            yield Pool(partial(executor.submit, mark), lambda: threads, alone or mark)

    return make


@pytest.fixture
def pool(engine: Engine) -> PoolMaker:
    """For ``grade_class(pool=...)``."""
    return shared_pool(engine)


@pytest.fixture
def looked_at() -> Callable[[str], bs4.BeautifulSoup]:
    """Parse a page, after asking of it what is asked of any: nothing runs, everything has a name, ids are unique."""

    def parse(page: str) -> bs4.BeautifulSoup:
        assert what_runs(page) == []
        tree = bs4.BeautifulSoup(page, "html.parser")
        assert tree.html is not None and tree.html["lang"] == "en"
        assert len(tree.find_all("h1")) == 1
        assert all(image.get("alt") for image in tree.find_all("img"))
        ids = [tag["id"] for tag in tree.find_all(id=True)]
        assert len(ids) == len(set(ids))
        assert {str(link["href"])[1:] for link in tree.select('a[href^="#"]')} <= set(ids)
        assert {tag["aria-labelledby"] for tag in tree.find_all(attrs={"aria-labelledby": True})} <= set(ids)
        return tree

    return parse
