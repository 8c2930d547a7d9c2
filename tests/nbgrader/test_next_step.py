"""Where nbgrader's own command cannot go on, it says below its error what to do next."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nbproof.nbgrader.next_step import NextStep

ROOT = Path(__file__).parent.parent.parent
LESSON = "01_small"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """As it is cloned: a lesson's source, this course's configuration, nothing graded."""
    (tmp_path / "nbgrader_config.py").write_text((ROOT / "nbgrader_config.py").read_text())
    (tmp_path / "source" / LESSON).mkdir(parents=True)
    (tmp_path / "source" / LESSON / f"{LESSON}.ipynb").write_text("{}")
    return tmp_path


def _nbgrader(course: Path, *words: str) -> str:
    tools = os.path.dirname(sys.executable)
    environment = {**os.environ, "PATH": tools + os.pathsep + os.environ["PATH"]}
    command = [sys.executable, "-m", "nbgrader", *words]
    ended = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    assert ended.returncode == 1, "nbgrader itself says that it failed"
    return ended.stderr


@pytest.mark.slow
def test_feedback_before_grading_names_the_command_that_grades(clone: Path) -> None:
    handed_in = clone / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb"
    handed_in.parent.mkdir(parents=True)
    handed_in.write_text("{}")
    said = _nbgrader(clone, "generate_feedback", LESSON)
    assert "No notebooks were matched" in said
    assert f"nothing of {LESSON} is graded yet" in said
    assert f"nbgrader autograde {LESSON}" in said


@pytest.mark.slow
def test_release_feedback_without_an_exchange_names_what_this_course_has(clone: Path) -> None:
    said = _nbgrader(clone, "release_feedback", LESSON, f"--Exchange.root={clone / 'none'}")
    assert "feedback --for folder" in said
    assert f"sudo install -d -m 777 {clone / 'none'}" in said


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="nbgrader has no exchange on Windows")
def test_release_feedback_says_that_there_is_nothing_to_release(clone: Path) -> None:
    (clone / "exchange").mkdir(mode=0o777)
    handed_in = clone / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb"
    graded = clone / "autograded" / "ada" / LESSON / f"{LESSON}.ipynb"
    for step, wanted in ((handed_in, "-m course grade"), (graded, "-m course feedback")):
        step.parent.mkdir(parents=True)
        step.write_text("{}")
        said = _nbgrader(clone, "release_feedback", LESSON, f"--Exchange.root={clone / 'exchange'}")
        assert f"There is no feedback to release in {clone}/feedback/*/{LESSON}" in said
        assert "  next: " in said and wanted in said
        assert "Traceback" not in said


def _said(message: str, program: str = "App", level: int = logging.ERROR) -> str:
    record = logging.LogRecord(program, level, "", 0, message, (), None)
    step = NextStep()
    assert step.filter(record)
    once = record.getMessage()
    assert step.filter(record)
    assert record.getMessage() == once, "two handlers, one next step"
    return once.removeprefix(message)


def test_each_reason_has_its_own_next_step(clone: Path) -> None:
    nothing = f"No notebooks were matched by '{clone}/%s/*/%s'"
    assert "submitted/<learner>/01_small/01_small.ipynb" in _said(nothing % ("autograded", LESSON))
    assert "submitted/<learner>/01_small/01_small.ipynb" in _said(nothing % ("submitted", LESSON))
    assert "no lesson is called 99_gone; choose from: 01_small" in _said(nothing % ("autograded", "99_gone"))
    denied = "Could not create /usr/local/share/nbgrader/exchange, permission denied."
    assert "-m course bundle" in _said(denied, "ReleaseAssignmentApp", logging.CRITICAL)


def test_what_it_does_not_know_stays_as_it_is() -> None:
    assert _said("No notebooks found, did you forget to run 'nbgrader generate_assignment'?") == ""
    assert _said("100 % of {this}", level=logging.INFO) == ""
