"""Whoever starts a command that takes seconds sees at once what it does: before any large library is imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests import ROOT

PROGRAM = """
import sys
from nbproof import terminal

def shown(what, *more):
    slow = {"nbgrader", "nbformat", "numpy", "scipy", "sklearn", "matplotlib", "torch", "sphinx", "sqlalchemy"}
    print("shown:", sorted(slow & set(sys.modules)))
    sys.stdout.flush()
    raise KeyboardInterrupt

terminal.progress = shown
from nbproof.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    "words", ["site", "bundle", "wheels", "build", "check", "report", "feedback", "feedback --for folder"]
)
def test_a_sign_comes_before_anything_slow(words: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words.split()], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "shown: []" in ran.stdout, ran.stdout + ran.stderr
