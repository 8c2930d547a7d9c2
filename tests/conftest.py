"""What several test modules share: a small course with one exercise, a warm engine for the whole session."""

from __future__ import annotations

import gc
import itertools
import linecache
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nbproof.command import called_for
from nbproof.course_file import used
from nbproof.testing.small import LESSON, RIGHT
from tests import COURSE

if TYPE_CHECKING:
    # What grades is slow to import, and a test of something else is over before it would be there.
    import bs4

    from nbproof.run.pool import PoolMaker
    from nbproof.sandbox.engine import Engine
    from nbproof.testing import Bench, Rehearsal

gc.disable()  # what is imported for tests stays: to look for garbage among it takes a fifth of the time of collecting them
_numbers = itertools.count()
_LONGEST = (
    "tests/attacks",
    "tests/browser",
    "tests/test_house",
    "tests/test_wheels",
    "tests/test_next_steps",
    "tests/doors/test_doors",
    "tests/gradebook/test_penalties",
    "tests/run/test_any_course",
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


def pytest_collection_finish() -> None:
    """From the first test on, garbage is looked for as ever, among what tests make."""
    gc.freeze()
    gc.enable()


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


@pytest.fixture(autouse=True)
def diary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A diary of the test's own: no test touches what a person has solved on this machine."""
    path = tmp_path_factory.getbasetemp() / f"diary-{next(_numbers)}" / "progress.db"
    path.parent.mkdir()
    monkeypatch.setenv("COURSE_PROGRESS", str(path))
    # A command that a test has called for another course leaves the next tests to this one.
    monkeypatch.setattr("nbproof.course_file.used", [*used])
    called_for(COURSE)
    monkeypatch.setenv("NBPROOF_COURSE", used[0])
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


@pytest.fixture(scope="session")
def small_lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder with one lesson of three exercises: lessons/, source/, nbgrader_config.py with short limits."""
    from nbproof.testing import small_course
    from tests.warm import LIMITS

    limits = "".join(f"\nc.GradingLimits.{name} = {value}" for name, value in LIMITS.items())
    return small_course(tmp_path_factory.mktemp("course"), (ROOT / "nbgrader_config.py").read_text() + limits)


@pytest.fixture(scope="session")
def registered_lesson(small_lesson: Path) -> Path:
    """The small course, whose gradebook knows the lesson: nbgrader takes seconds to make one."""
    from tests.warm import registered

    return registered(small_lesson)


@pytest.fixture
def course(registered_lesson: Path, tmp_path: Path) -> Path:
    """A copy of the small course, with nothing handed in."""
    from nbproof.testing import Rehearsal

    Rehearsal.of(registered_lesson, tmp_path)
    shutil.copytree(registered_lesson / ".course", tmp_path / ".course")
    shutil.copy(registered_lesson / "gradebook.db", tmp_path)
    return tmp_path


@pytest.fixture
def room(course: Path, pool: PoolMaker) -> Rehearsal:
    """A class of the small course, which the session's engine grades."""
    from nbproof.testing import Rehearsal

    return Rehearsal(course, LESSON, pool)


@pytest.fixture
def hand_in(course: Path) -> Callable[..., Path]:
    """hand_in("ada", {"first": "def ..."}): write a submission; what is not named stays the stub."""
    from nbproof.testing import Rehearsal

    return Rehearsal(course, LESSON).hand_in


@pytest.fixture(scope="session")
def bench(small_lesson: Path, engine: Engine) -> Bench:
    """Where a hand-in of the small lesson is marked: what it does not answer, it answers right."""
    from nbproof.marking.blueprint import read_blueprint
    from nbproof.places import course_config
    from nbproof.testing import Bench

    source = small_lesson / "source" / LESSON / f"{LESSON}.ipynb"
    return Bench(engine, read_blueprint(COURSE, source, course_config(small_lesson)), RIGHT)


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """A started, isolated engine with short limits; skipped aloud where the machine cannot isolate."""
    from nbproof.limits import GradingLimits
    from nbproof.sandbox.engine import Engine
    from nbproof.sandbox.isolation import why_not_isolated
    from tests.warm import LIMITS

    reason = why_not_isolated()
    if reason:
        pytest.skip(f"the engine is NOT tested: {reason}")
    with Engine(COURSE, GradingLimits(**LIMITS)) as started:
        yield started


@pytest.fixture
def pool(engine: Engine) -> PoolMaker:
    """For ``grade_class(pool=...)``."""
    from tests.warm import shared_pool

    return shared_pool(engine)


@pytest.fixture
def one_engine(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is graded in this process is marked by the session's engine: for each command to start one takes seconds."""
    from tests.warm import Lent

    monkeypatch.setattr("nbproof.cli.head_start.launch", lambda *asked: None)
    monkeypatch.setattr("nbproof.run.batch.local_pool", Lent(engine).pool)
    monkeypatch.setattr("nbproof.marking.autotests.Engine", Lent(engine).started)


@pytest.fixture
def looked_at() -> Callable[[str], bs4.BeautifulSoup]:
    """Parse a page, after asking of it what is asked of any: nothing runs, everything has a name, ids are unique."""
    import bs4

    from tests.feedback.page_rules import what_runs

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


@pytest.fixture(scope="session")
def plugins() -> Iterator[Path]:
    """A folder for ``PYTHONPATH`` with the packages of examples/plugins/, as pip installs them."""
    # Not in a folder for temporary files: no sealed process sees those.
    with tempfile.TemporaryDirectory(prefix="plugins-", dir=sys.prefix) as folder:
        made = Path(folder)
        shutil.copytree(Path(__file__).parents[1] / "examples" / "plugins", made / "from")
        quiet = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
        command = [sys.executable, "-m", "pip", "install", *quiet, "--target", str(made / "to")]
        subprocess.run([*command, *map(str, sorted((made / "from").iterdir()))], check=True)
        yield made / "to"
