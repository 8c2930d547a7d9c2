"""What several test modules share: a small course with one exercise, a warm engine for the whole session."""

from __future__ import annotations

import itertools
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
import pytest
from nbgrader.apps import NbGraderAPI

from nbproof.gradebook.writer import Writer
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint, read_blueprint
from nbproof.marking.hand_in import HandIn
from nbproof.marking.marker import Marker
from nbproof.marking.results import SubmissionVerdict
from nbproof.nbgrader_setup import course_config
from nbproof.run.batch import register_lessons
from nbproof.run.digests import LessonState
from nbproof.run.journal import RunState
from nbproof.run.pool import Pool, PoolMaker
from nbproof.run.references import References, where_of
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.isolation import Isolation, why_not_isolated
from nbproof.testing import Classroom, Desk, small_course
from nbproof.testing.small import LESSON, RIGHT
from tests.feedback.page_rules import what_runs

Mark = Callable[[HandIn], SubmissionVerdict]
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
LIMITS: dict[str, Any] = {"exercise_seconds": 4.0, "submission_seconds": 24.0, "memory_mb": 512}
"""Short, and still long for honest work on a machine that does something else as well."""


@pytest.fixture(scope="session")
def small_lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder with one lesson of three exercises: lessons/, source/, nbgrader_config.py with short limits."""
    limits = "".join(f"\nc.GradingLimits.{name} = {value}" for name, value in LIMITS.items())
    return small_course(tmp_path_factory.mktemp("course"), (ROOT / "nbgrader_config.py").read_text() + limits)


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
    Classroom.of(registered_lesson, tmp_path)
    shutil.copytree(registered_lesson / ".course", tmp_path / ".course")
    shutil.copy(registered_lesson / "gradebook.db", tmp_path)
    return tmp_path


@pytest.fixture
def room(course: Path, pool: PoolMaker) -> Classroom:
    """A class of the small course, which the session's engine grades."""
    return Classroom(course, LESSON, pool)


@pytest.fixture
def hand_in(course: Path) -> Callable[..., Path]:
    """hand_in("ada", {"first": "def ..."}): write a submission; what is not named stays the stub."""
    return Classroom(course, LESSON).hand_in


@pytest.fixture(scope="session")
def desk(small_lesson: Path, engine: Engine) -> Desk:
    """Where a hand-in of the small lesson is marked: what it does not answer, it answers right."""
    source = small_lesson / "source" / LESSON / f"{LESSON}.ipynb"
    return Desk(engine, read_blueprint(source, course_config(small_lesson)), RIGHT)


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
