"""Commands that are printed as a next step: as they work for whoever reads them, where they stand."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nbproof import command
from nbproof.cli.main import main
from nbproof.command import course_command, course_in
from tests import ROOT, some_by_day


@pytest.fixture(autouse=True)
def not_activated(monkeypatch: pytest.MonkeyPatch) -> None:
    # For this process, and for those that tests start: others have put this environment on PATH.
    monkeypatch.setattr(command, "PATH_AT_START", "/usr/bin:/bin")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


def test_a_course_in_another_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with course_in(tmp_path / "a b"):
        assert course_command("grade").endswith(f" -m course grade --course '{tmp_path}/a b'")
    with course_in(tmp_path):
        assert course_command("grade").endswith(" -m course grade")


def test_what_an_error_tells_to_do_next_runs_as_it_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path / "empty")
    monkeypatch.chdir(tmp_path)
    assert main(["feedback", "--course", "empty"]) == 2
    told = capsys.readouterr().err.splitlines()[-1].removeprefix("  next: ")
    run = subprocess.run(["sh", "-c", f"{told} --help"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "usage: " in run.stdout and "course grade" in told


def _bare(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A Python in which nothing is installed, on a course that has no environment."""
    for package in ("course", "nbproof"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "install.py", tmp_path)
    return subprocess.run([sys.executable, "-S", "-m", "course", *words], cwd=tmp_path, capture_output=True, text=True)


def test_a_python_without_the_packages_says_so(tmp_path: Path) -> None:
    told = _bare(tmp_path, "grade")
    assert told.returncode == 1
    assert "Traceback" not in told.stderr
    fact, place, then = told.stderr.splitlines()
    assert fact.startswith("error: this Python cannot run the course: ") and "is not installed" in fact
    assert place == f"  at:   {sys.executable}"
    assert then == f"  next: {sys.executable} install.py"


@pytest.mark.skipif(os.name != "posix", reason="a POSIX shell's way to set PATH")
@pytest.mark.parametrize("words", some_by_day(["command -v alembic", "nbgrader db upgrade"], 2))
def test_nbgrader_finds_alembic_though_nothing_is_activated(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = command.nbgrader_command("db upgrade").replace("nbgrader db upgrade", words)
    run = subprocess.run(["sh", "-c", told], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    monkeypatch.setattr(command, "PATH_AT_START", str(Path(sys.executable).parent))
    assert command.nbgrader_command("db upgrade") == "nbgrader db upgrade"
