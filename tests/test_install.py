"""Setting up: which Pythons serve, what is said if something fails, what an earlier run left behind."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType

import pytest
from packaging.specifiers import SpecifierSet

from tests import ROOT, loaded


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """install.py, as if it lay in an empty folder."""
    shutil.copy(ROOT / "install.py", tmp_path)
    return loaded(tmp_path / "install.py")


def _pins() -> dict[str, str]:
    lines = [
        line for name in ("constraints.txt", "requirements.txt") for line in (ROOT / name).read_text().splitlines()
    ]
    return dict(line.split("==") for line in lines if re.match(r"[\w.-]+==", line))


def test_every_pin_takes_every_python_that_the_course_takes(install: ModuleType) -> None:
    assert install.OLDEST == (3, 11)
    served = [f"3.{minor}.{patch}" for minor in range(install.OLDEST[1], install.NEWEST[1] + 1) for patch in (0, 2)]
    pins = _pins()
    assert len(pins) > 100
    wrong = {}
    for name, version in pins.items():
        try:
            found = distribution(name)
        except PackageNotFoundError:
            if name != "pgserver":  # has no wheel for newer Pythons
                wrong[name] = "is pinned, and not installed"
            continue
        takes = SpecifierSet(found.metadata.get("Requires-Python") or "")
        if found.version.split("+")[0] != version:
            wrong[name] = f"{found.version} is not the pinned one: make test sets it up"
        elif refused := [one for one in served if not takes.contains(one)]:
            wrong[name] = f"does not take {', '.join(refused)}"
    assert wrong == {}


def test_a_python_that_does_not_serve_is_told_which_do(install: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "OLDEST", (3, 98))
    monkeypatch.setattr(install, "NEWEST", (3, 99))
    with pytest.raises(install.SetupError) as told:
        install.use_a_python_that_serves("make grade")
    ast.parse(Path(install.__file__).read_text(encoding="utf-8"), feature_version=(3, 6))  # old ones can read it
    fact, place, then = told.value.lines
    assert fact == f"error: Python 3.98 to 3.99 is needed, and this is {sys.version.split()[0]}"
    assert sys.executable in place
    assert "make grade PYTHON=/path/to/python3" in then


SAID = (
    "ERROR: Could not find a version that satisfies the requirement torch==2.13.0 (from versions: none)\n"
    "ERROR: No matching distribution found for torch==2.13.0\n"
)


def test_what_pip_says_becomes_a_fact_and_a_next_step(install: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install.sys, "platform", "linux")
    monkeypatch.setattr(install.shutil, "which", lambda name: f"/usr/bin/{name}")
    fact, place, then = install.in_words(SAID, "make lab").lines
    assert "torch==2.13.0 is not available for this machine" in fact
    assert "64-bit Python" in then and "\n" not in fact + place + then


def test_a_moved_or_half_made_environment_is_noticed(install: ModuleType) -> None:
    os.makedirs(os.path.dirname(install.PYTHON))
    assert "cut off" in install.what_is_broken()  # no Python in it
    os.symlink("/nowhere/python3", install.PYTHON)
    assert "gone" in install.what_is_broken()
    stamp = Path(install.VENV, install.STAMPS["use"])
    stamp.write_text("/elsewhere/course\n")
    assert install.what_is_broken() == "it was made in /elsewhere/course, and cannot be moved"
    Path(install.UNFINISHED).touch()
    assert "while it wrote packages" in install.what_is_broken()


def _make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "1", "PIP_CONFIG_FILE": os.devnull}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "MAKE", "MFLAGS"))}
    command = ["make", f"PYTHON={sys.executable}", *words]
    return subprocess.run(command, cwd=folder, env={**kept, **nowhere}, capture_output=True, text=True)


@pytest.mark.nightly
def test_a_set_up_that_failed_goes_on_when_it_can(tmp_path: Path) -> None:
    """Offline; then with nothing to install; then in a folder that was moved. No traceback, no word of pip's."""
    folder = tmp_path / "course"
    folder.mkdir()
    for name in ("install.py", "Makefile", "constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "requirements.txt").write_text("nothing-of-this-name==1\n")
    failed = _make(folder, "lab")
    assert failed.returncode == 2
    assert "error: the packages cannot be downloaded: there is no network" in failed.stderr
    assert f"  next: connect, or set HTTPS_PROXY, then: make lab PYTHON={sys.executable}" in failed.stderr
    assert "Traceback" not in failed.stderr and "WARNING" not in failed.stderr + failed.stdout
    log = re.search(r"all that pip said: (.+)", failed.stderr)
    assert log is not None and "nothing-of-this-name" in Path(log[1]).read_text()
    (folder / "requirements.txt").write_text("")
    made = _make(folder, ".venv/.for-use")
    assert made.returncode == 0, made.stderr
    assert "setting up" not in made.stdout  # what the first run made is kept
    again = _make(folder, ".venv/.for-use")
    assert "up to date" in again.stdout
    moved = folder.rename(folder.with_name("moved"))
    anew = _make(moved, ".venv/.for-use")
    assert anew.returncode == 0, anew.stderr
    assert f"making .venv anew: it was made in {folder}, and cannot be moved" in anew.stdout
    assert (moved / ".venv" / ".for-use").read_text() == f"{moved}\n"


@pytest.mark.parametrize("keeps_nothing", (True, False))
def test_where_python_keeps_nothing_that_it_compiles_pip_compiles(
    install: ModuleType, monkeypatch: pytest.MonkeyPatch, keeps_nothing: bool
) -> None:
    """Else each start of a kernel and of a grader compiles torch anew, which takes 5 s."""
    commands: list[list[str]] = []
    monkeypatch.setattr(install.sys, "dont_write_bytecode", keeps_nothing)
    monkeypatch.setattr(install, "make_environment", lambda torch, again: True)
    monkeypatch.setattr(install, "run_pip", commands.append)
    os.makedirs(install.VENV)
    install.set_up("default", False, "make lab")
    assert ["--no-compile" in command for command in commands] == [not keeps_nothing]
