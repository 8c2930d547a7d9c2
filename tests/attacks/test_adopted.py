"""A lesson made of somebody's nbgrader notebook is attacked as the others are: the command finds it, and two attacks fail."""

from __future__ import annotations

import subprocess
import sys

import pytest

from nbproof.sandbox.isolation import why_not_isolated
from tests.attacks.assault import REPO


@pytest.mark.nightly
@pytest.mark.skipif(bool(why_not_isolated()), reason="this machine cannot isolate submissions")
def test_two_attacks_on_an_adopted_lesson_fail() -> None:
    only = ("--only", "reads_source", "--only", "exits")
    command = [sys.executable, "-m", "tests.attacks", "--adopted", *only]
    told = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=900, check=False)
    assert "2 of 2 attacks fail, honest neighbours have their marks" in told.stdout, told.stdout + told.stderr
    assert told.returncode == 0
