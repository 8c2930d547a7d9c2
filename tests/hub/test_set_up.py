"""What needs no hub: the set-up's own small parts, and that the hostile student's searches find what is open."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

from tests.hub import hostile
from tests.hub.hostile import Hostile

ROOT = Path(__file__).parent.parent.parent
SLUG = "01_module_anatomy"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a class's hub runs on Linux")


def _loaded(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("set_up", root / "deploy" / "jupyterhub" / "set_up.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def set_up() -> ModuleType:
    return _loaded(ROOT)


def test_it_needs_no_package() -> None:
    text = (ROOT / "deploy" / "jupyterhub" / "set_up.py").read_text(encoding="utf-8")
    named = {line.split()[1].partition(".")[0] for line in text.splitlines() if line.startswith(("import ", "from "))}
    assert named <= sys.stdlib_module_names


def test_what_lies_in_a_json_file_stays(set_up: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "labconfig" / "page_config.json"
    set_up.merge(path, {"disabledExtensions": {"a": True}})
    path.write_text(json.dumps({"disabledExtensions": {"b": True}, "c": 1}))
    for _ in range(2):
        set_up.merge(path, {"disabledExtensions": {"a": True}})
        assert json.loads(path.read_text()) == {"disabledExtensions": {"a": True, "b": True}, "c": 1}


def test_a_file_of_somebody_else_s_is_not_overwritten(set_up: ModuleType, tmp_path: Path) -> None:
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


def test_each_file_that_it_puts_somewhere_says_whose_it_is() -> None:
    files = sorted((ROOT / "deploy" / "jupyterhub").glob("*_config.py"))
    assert [path.name for path in files] == ["jupyter_server_config.py", "jupyterhub_config.py", "nbgrader_config.py"]
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert "set_up.py" in text
        compile(text, path.name, "exec")


def test_students_stand_one_on_a_line(set_up: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "students.txt"
    path.write_text("# class of 2026\njupyter-ada  # Ada\n\n  jupyter-ben\n")
    assert set_up.names_in(path) == ["jupyter-ada", "jupyter-ben"]
    assert set_up.names_in(None) == []


def test_without_wheels_it_says_how_to_make_them(set_up: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(set_up.SetUpError, match=r"(?s)two wheels.*pins.txt.*next: make wheels"):
        set_up.made_files(tmp_path)


def test_dist_and_deploy_alone_are_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copied to the hub's machine without a clone, as docs/jupyterhub.md offers: up to the first user that it would make."""
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
    dist = tmp_path / "dist"
    dist.mkdir()
    for name in ("nbproof-1-py3-none-any.whl", "course-1-py3-none-any.whl", "course-solutions.zip", "pins.txt"):
        (dist / name).write_bytes(b"numpy==2.4.6\n")
    copied, asked = _loaded(tmp_path), []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        asked.append(command)
        return subprocess.CompletedProcess(command, 0)

    def user(name: str) -> None:
        raise copied.SetUpError("far enough", name, "nothing")

    monkeypatch.setattr(copied.subprocess, "run", run)
    monkeypatch.setattr(copied.os, "geteuid", lambda: 0)
    monkeypatch.setattr(copied, "user", user)
    assert copied.main(["--instructor", "prof", "--env", str(tmp_path / "env")]) == 1
    installed = [command for command in asked if "pip" in command]
    assert len(installed) == 3
    for command in installed:
        assert command[command.index("-c") + 1] == str(dist / "pins.txt")


def test_pytorch_s_own_server_is_asked_for_two_packages_once(
    set_up: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        asked.append(command)
        return subprocess.CompletedProcess(command, int(set_up.CPU_WHEELS in command))

    monkeypatch.setattr(set_up.subprocess, "run", run)
    set_up.install(tmp_path, [Path("nbproof-1.whl"), Path("course-1.whl")], Path("pins.txt"), [])
    (there,) = [command for command in asked if set_up.CPU_WHEELS in command]
    assert there[there.index("--retries") + 1] == "1" and there[-2:] == ["torch", "torchvision"]
    assert "cannot be reached: going on with PyPI's" in capsys.readouterr().out
    assert any("[grading,jupyterlab,torch]" in word for word in asked[-2] if set_up.CPU_WHEELS not in asked[-2])


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied", "python"), None], ids=["hidden", "broken"])
def test_a_python_that_users_cannot_run_is_refused_before_anything_is_installed(
    set_up: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception | None
) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], **as_whom: object) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        assert as_whom["user"], "somebody who is not root"
        if error is not None:
            raise error
        return subprocess.CompletedProcess(command, 1, "", "Fatal Python error\n")

    monkeypatch.setattr(set_up.subprocess, "run", run)
    with pytest.raises(
        set_up.SetUpError, match=r"(?s)users cannot run this Python.*next: .*not below /root\): /usr/bin"
    ):
        set_up.install(tmp_path / "env", [Path("nbproof-1.whl"), Path("course-1.whl")], Path("pins.txt"), [])
    assert asked == [[sys.executable, "-c", ""]]


def test_only_root_may_set_up(
    set_up: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert set_up.main(["--instructor", "prof"]) == 1
    assert "next: the same with sudo" in capsys.readouterr().err


def test_learners_see_what_the_command_lab_shows(set_up: ModuleType) -> None:
    from nbproof.display import lab

    assert set_up.SETTINGS == lab.SETTINGS
    assert set(set_up.FOR_TEACHERS) <= set(lab.OF_TEACHERS)


@pytest.mark.slow
def test_the_attacks_do_find_what_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    one = Hostile(facts)
    assert list(one.homes()) and list(one.hidden_checks()) and next(one.processes())
    assert "listed inbound" in list(one.exchange_is_kept())

    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "none")
    with socket.create_server(("127.0.0.1", 0)) as kernel:
        kernel.settimeout(0)
        port = kernel.getsockname()[1]
        # Nobody else's ports on this machine are asked.
        monkeypatch.setattr(Hostile, "_listening", lambda self: iter([(port, "ada")]))
        monkeypatch.setattr(hostile, "_WAIT", 0.2)
        assert list(one.ports())


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left on device", "/opt/x"), "error: No space left on device\n  at:   /opt/x\n  next: "),
        (subprocess.CalledProcessError(1, ["pip", "install"]), "this command failed; it says why above\n  at:   pip install\n"),
    ],
    ids=["the machine", "a command"],
)  # fmt: skip
def test_whatever_stops_it_says_fact_place_and_next_step(
    set_up: ModuleType, error: Exception, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(folder: Path) -> None:
        raise error

    monkeypatch.setattr(set_up.os, "geteuid", lambda: 0)
    monkeypatch.setattr(set_up, "made_files", fails)
    assert set_up.main(["--instructor", "prof"]) == 1
    assert said in capsys.readouterr().err
    assert set_up.main(["--instructor", ""]) == 1
    assert "error: '' cannot be a user's name\n" in capsys.readouterr().err, "before anything is installed"
