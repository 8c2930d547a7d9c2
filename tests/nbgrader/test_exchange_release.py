"""`nbgrader release_feedback` says so if there is nothing to release, where nbgrader's own says nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

LESSON = "01_small"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="nbgrader has no exchange on Windows")
def test_release_feedback_says_that_there_is_nothing_to_release(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text((ROOT / "nbgrader_config.py").read_text())
    (tmp_path / "exchange").mkdir(mode=0o777)
    command = [sys.executable, "-m", "nbgrader", "release_feedback", LESSON, f"--Exchange.root={tmp_path / 'exchange'}"]
    environment = {**os.environ, "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ended.returncode == 1
    assert f"There is no feedback to release in {tmp_path}/feedback/*/{LESSON}" in ended.stderr
    assert "  next: " in ended.stderr and "-m course feedback" in ended.stderr
    assert "Traceback" not in ended.stderr
