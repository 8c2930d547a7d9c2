"""What several test modules share."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_numbers = itertools.count()


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
