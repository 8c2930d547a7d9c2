"""Style and types, as ``make lint`` has them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests import ROOT


@pytest.mark.parametrize("command", ["ruff check .", "ruff format --check .", "mypy"])
def test_style_and_types(command: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", *command.split()], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
