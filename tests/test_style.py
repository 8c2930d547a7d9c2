"""Style and types, as ``make lint`` has them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT


@pytest.mark.parametrize("command", ["ruff check .", "ruff format --check .", "mypy"])
def test_style_and_types(command: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", *command.split()], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_style_is_read_of_every_module() -> None:
    # An exclusion by a folder's name once left out nbproof/feedback/ beside the feedback/ that was meant.
    said = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--show-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    read = {Path(line) for line in said.stdout.splitlines()}
    modules = {
        path for room in ("nbproof", "course", "tests", "benchmarks", "deploy") for path in (ROOT / room).rglob("*.py")
    }
    assert len(modules) > 100
    assert not modules - read
