"""What several test modules share."""

from __future__ import annotations

import itertools
import linecache
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_numbers = itertools.count()
_LONGEST = (
    "tests/attacks",
    "tests/browser",
    "tests/test_style",
    "tests/grading/test_cluster",
    "tests/grading/test_batch",
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
