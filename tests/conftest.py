"""What several test modules share."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_numbers = itertools.count()
_LONGEST = ("tests/attacks", "tests/browser")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In several processes the tests of a file stay together, because they share what they set up. Slow files come first.

    Whoever needs a class or an engine is slow: setting one up takes seconds.
    """
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
        if {"engine", "registered_lesson"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
    slow = {_group(item) for item in items if any(map(item.get_closest_marker, ("slow", "stock", "browser")))}
    items.sort(key=lambda item: (not _group(item).startswith(_LONGEST), _group(item) not in slow))


def _group(item: pytest.Item) -> str:
    found = item.get_closest_marker("xdist_group")
    assert found is not None
    return str(found.args[0])


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
