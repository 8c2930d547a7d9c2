"""A real JupyterHub for one class on this machine: made by the set-up script that docs/jupyterhub.md tells of, and taken away.

It needs root, and a machine on which users may be made. JupyterHub is no requirement of the course: it is installed into
a folder below /opt, with configurable-http-proxy beside it. ``HOOKS_HUB=/opt/FOLDER`` keeps that folder for the next time,
which spares the minutes of downloading; everything else is made anew.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nbproof.authoring.bundle import write_wheels
from tests import COURSE
from tests.browser.conftest import free_port, wait_for

ROOT = Path(__file__).parent.parent.parent
SET_UP = ROOT / "deploy" / "jupyterhub" / "set_up.py"
PASSWORD = secrets.token_hex(8)
_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

__all__ = ["PASSWORD", "ROOT", "SET_UP", "Hub", "running_hub", "why_no_hub"]


@dataclass(frozen=True)
class Hub:
    """A running hub, and where the set-up has put things."""

    url: str
    folder: Path
    env: Path
    exchange: Path
    teacher: str
    learners: tuple[str, ...]

    def home(self, name: str) -> Path:
        """Of a user."""
        return Path(pwd.getpwnam(name).pw_dir)

    @property
    def course(self) -> Path:
        """The instructor's folder."""
        return self.home(self.teacher) / "pytorch_hooks"


def _python_for_all() -> str:
    """A Python of a series that the course takes, which other users can start; empty if there is none."""
    for name in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        path = Path(os.path.realpath(name))
        if path.exists() and all(folder.stat().st_mode & stat.S_IXOTH for folder in path.parents):
            code = "import sys, venv, ensurepip; sys.exit(sys.version_info[:2] < (3, 11))"
            if subprocess.run([path, "-c", code], capture_output=True).returncode == 0:
                return str(path)
    return ""


def why_no_hub() -> str:
    """Why no hub can be tried here, with what would change it; empty if one can."""
    if sys.platform != "linux" or os.geteuid():
        return "only root can make a class's users"
    missing = [tool for tool in ("useradd", "userdel", "npm", "node") if shutil.which(tool, path=_PATH) is None]
    if missing:
        return f"{', '.join(missing)} is missing (apt-get install nodejs npm passwd)"
    return "" if _python_for_all() else "no Python 3.11 that all users can start (apt-get install python3-venv)"


@contextmanager
def running_hub() -> Iterator[Hub]:
    """Installed, set up twice, started; users, exchange and folder go with the block. Raises RuntimeError."""
    kept = os.environ.get("HOOKS_HUB", "")
    folder = Path(kept or tempfile.mkdtemp(prefix="hub-", dir="/opt"))
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    # Only root enters it: the hub's database, its cookie secret.
    run = Path(tempfile.mkdtemp(prefix="run-", dir=folder))
    tag = secrets.token_hex(3)
    teacher, *learners = (f"hub{tag}-{name}" for name in ("prof", "ada", "ben", "mallory"))
    hub = Hub(
        f"http://127.0.0.1:{free_port()}", run, folder / "user", folder / f"exchange-{tag}", teacher, tuple(learners)
    )
    try:
        # A user with a high number, and none of the next ones has been anybody's: their files would count as the class's.
        number = str(20_000 + secrets.randbelow(20_000))
        subprocess.run(["useradd", "--uid", number, "--no-create-home", f"hub{tag}-0"], check=True, env={"PATH": _PATH})
        _install(folder)
        write_wheels(COURSE, ROOT, run / "dist")
        (run / "students.txt").write_text("".join(f"{name}  # a learner\n" for name in learners))
        # Run again, it changes no mode, no owner, no file.
        _set_up(hub)
        once = _state(hub)
        _set_up(hub)
        assert _state(hub) == once
        with _started(hub):
            yield hub
    finally:
        for name in (teacher, *learners, f"hub{tag}-0"):
            subprocess.run(["userdel", "--remove", name], capture_output=True, check=False)
        shutil.rmtree(hub.exchange, ignore_errors=True)
        shutil.rmtree(run if kept else folder, ignore_errors=True)


def _set_up(hub: Hub) -> None:
    said = subprocess.run(
        [
            _python_for_all(), SET_UP, "--instructor", hub.teacher, "--students", hub.folder / "students.txt",
            "--env", hub.env, "--exchange", hub.exchange, "--wheels", hub.folder / "dist",
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if said.returncode:
        raise RuntimeError(said.stdout + said.stderr)
    assert "ready: " in said.stdout and "3 students" in said.stdout


def _state(hub: Hub) -> dict[str, tuple[int, int, int]]:
    """Mode, owner and size of what was set up, but for the environment's packages."""
    places = [hub.exchange, hub.env / "etc", *(hub.home(name) for name in (hub.teacher, *hub.learners))]
    found = {path: path.lstat() for place in places for path in (place, *place.rglob("*"))}
    return {str(path): (one.st_mode, one.st_uid, one.st_size) for path, one in found.items() if path.is_file() or one}


def _install(folder: Path) -> None:
    """JupyterHub and its proxy, each as its own documentation says, if they are not there yet."""
    if not (folder / "hub" / "bin" / "jupyterhub").exists():
        subprocess.run([_python_for_all(), "-m", "venv", folder / "hub"], check=True)
        subprocess.run([folder / "hub/bin/python", "-m", "pip", "install", "--quiet", "jupyterhub"], check=True)
    if not (folder / "proxy" / "node_modules").exists():
        npm = ["npm", "install", "--silent", "--no-fund", "configurable-http-proxy"]
        subprocess.run([*npm, "--prefix", folder / "proxy"], check=True)


@contextmanager
def _started(hub: Hub) -> Iterator[None]:
    home = hub.env.parent
    config = hub.folder / "jupyterhub_config.py"
    config.write_text(
        f"load_subconfig({str(SET_UP.with_name('jupyterhub_config.py'))!r})\n"
        f"c.JupyterHub.bind_url = {hub.url!r}\n"
        f"c.JupyterHub.hub_bind_url = 'http://127.0.0.1:{free_port()}'\n"
        f"c.ConfigurableHTTPProxy.api_url = 'http://127.0.0.1:{free_port()}'\n"
        f"c.ConfigurableHTTPProxy.command = [{str(home / 'proxy/node_modules/.bin/configurable-http-proxy')!r}]\n"
        f"c.JupyterHub.authenticator_class = 'dummy'\nc.DummyAuthenticator.password = {PASSWORD!r}\n"
        f"c.Authenticator.allowed_users = { ({hub.teacher, *hub.learners})!r}\n"
        f"c.JupyterHub.spawner_class = 'localprocess'\n"
        f"c.Spawner.cmd = [{str(hub.env / 'bin' / 'jupyterhub-singleuser')!r}]\n"
        # So that the test can ask JupyterLab where a cell is.
        "c.Spawner.args = ['--LabApp.expose_app_in_browser=True']\n"
    )
    with (hub.folder / "hub.log").open("w") as log:
        process = subprocess.Popen(
            [home / "hub/bin/jupyterhub", "-f", config], cwd=hub.folder, stdout=log, stderr=log,
            env={"PATH": _PATH, "HOME": "/root", "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
    try:
        wait_for(f"{hub.url}/hub/login", process, hub.folder / "hub.log", 120)
        yield
    finally:
        process.send_signal(signal.SIGINT)  # it ends the users' servers as well
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
