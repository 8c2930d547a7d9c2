"""What needs no hub: the set-up's own small parts, and that the hostile student's searches find what is open."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

from tests import ROOT, loaded
from tests.hub import hostile

SLUG = "01_module_anatomy"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a class's hub runs on Linux")


SET_UP = Path("deploy", "jupyterhub", "set_up.py")


@pytest.fixture(scope="module")
def set_up() -> ModuleType:
    return loaded(ROOT / SET_UP)


def test_what_somebody_else_wrote_is_not_overwritten(set_up: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "page_config.json"
    path.write_text(json.dumps({"disabledExtensions": {"b": True}, "c": 1}))
    set_up.merge(path, {"disabledExtensions": {"a": True}})
    assert json.loads(path.read_text()) == {"disabledExtensions": {"a": True, "b": True}, "c": 1}
    path = tmp_path / "nbgrader_config.py"
    path.write_text("c.CourseDirectory.course_id = 'other'")
    with pytest.raises(
        set_up.SetUpError, match=r"(?s)somebody else's.*at:   .*nbgrader_config.py.*next: move it aside"
    ):
        set_up.put(path, "# set_up.py")
    path.unlink()
    set_up.put(path, "# set_up.py 1")
    set_up.put(path, "# set_up.py 2")
    assert path.read_text().endswith("2")


def test_dist_and_deploy_alone_are_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copied to the hub's machine without a clone, as docs/jupyterhub.md offers: up to the first user that it would make."""
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
    dist = tmp_path / "dist"
    dist.mkdir()
    wheels = [f"{name}-1-py3-none-any.whl" for name in ("nbproof", "nbproof_grader", "nbproof_lms", "course")]
    for name in (*wheels, "course-solutions.zip", "pins.txt"):
        (dist / name).write_bytes(b"numpy==2.4.6\n")
    copied, asked = loaded(tmp_path / SET_UP), []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        asked.append(command)
        # PyTorch's own server cannot be reached.
        return subprocess.CompletedProcess(command, int(copied.CPU_WHEELS in command))

    def user(name: str) -> None:
        raise copied.SetUpError("far enough", name, "nothing")

    monkeypatch.setattr(copied.os, "geteuid", lambda: 0)
    monkeypatch.setattr(copied, "user", user)
    monkeypatch.setattr(copied.subprocess, "run", run)
    assert copied.main(["--instructor", "prof", "--env", str(tmp_path / "env")]) == 1
    installed = [command for command in asked if "pip" in command]
    assert len(installed) == 3
    for command in installed:
        assert command[command.index("-c") + 1] == str(dist / "pins.txt")
    assert f"{dist / wheels[0]}[jupyterlab,torch]" in installed[1]
    assert {str(dist / name) for name in wheels} < {*installed[2]}


def test_a_python_that_users_cannot_run_is_refused_before_anything_is_installed(
    set_up: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], **as_whom: object) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        assert as_whom["user"], "somebody who is not root"
        raise PermissionError(13, "Permission denied", "python")

    monkeypatch.setattr(set_up.subprocess, "run", run)
    with pytest.raises(
        set_up.SetUpError, match=r"(?s)users cannot run this Python.*next: .*not below /root\): /usr/bin"
    ):
        set_up.install(tmp_path / "env", [Path("nbproof-1.whl"), Path("course-1.whl")], Path("pins.txt"), [])
    assert asked == [[sys.executable, "-c", ""]]


@pytest.mark.slow
def test_the_attacks_do_find_what_is_open(tmp_path: Path) -> None:
    """The same searches, on a machine where nothing is closed, gain something."""
    lesson = tmp_path / "home" / SLUG
    lesson.mkdir(parents=True)
    line = "assert torch.equal(weights, wanted_of(model))"
    nbformat.write(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"x = 1\n{line}\n")]), lesson / f"{SLUG}.ipynb"
    )
    inbound = tmp_path / "exchange" / "inbound" / "ada+1"
    inbound.mkdir(parents=True)
    (inbound.parent.parent / "outbound").mkdir()
    facts = {
        "others": {os.getuid(): "ada"}, "homes": [str(tmp_path / "home")], "exchange": str(tmp_path / "exchange"),
        "handed_in": "ada+1", "lesson": SLUG, "packages": [str(tmp_path / "home")],
        "hidden": [hashlib.sha256(line.encode()).hexdigest()],
    }  # fmt: skip
    assert list(hostile.homes(facts)) and list(hostile.hidden_checks(facts)) and next(hostile.processes(facts))
    assert "listed inbound" in list(hostile.exchange_is_kept(facts))
