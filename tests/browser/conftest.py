"""A headless Chromium, and JupyterLab as `make lab` starts it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab."""

    url: str
    course: Path


@pytest.fixture(scope="module")
def browser():  # type: ignore[no-untyped-def]
    """Debian's Chromium, driven by Playwright, whose event loop must not outlive the file: others' tests have their own."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: JupyterLab is NOT tested (apt-get install chromium)")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=30_000)  # not 5 s: other tests run beside
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """`python -m course lab` on a copy of what learners get."""
    with running_lab(tmp_path_factory.mktemp("lab")) as started:
        yield started


@contextmanager
def running_lab(course: Path) -> Iterator[Lab]:
    """JupyterLab in this empty folder, with the released lessons; ends with the block. Raises RuntimeError."""
    shutil.copytree(ROOT / "release", course / "release")
    shutil.copy(ROOT / "nbgrader_config.py", course)
    with running(course, "lab") as started:
        yield started


def free_port() -> int:
    """One that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, server: subprocess.Popen[bytes], log: Path, seconds: float) -> None:
    """Until the server answers. Raises RuntimeError if it has ended, or takes longer."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{url} does not answer:\n{log.read_text(errors='replace')}") from None
            time.sleep(0.3)


@contextmanager
def running(course: Path, command: str) -> Iterator[Lab]:
    """The server that ``python -m course COMMAND`` starts in this folder; ends with the block. Raises RuntimeError."""
    port = free_port()
    log = course / "lab.log"
    # A learner's first start: no settings, no workspace of an earlier one, nothing solved.
    folders = ("JUPYTER_CONFIG_DIR", "JUPYTERLAB_WORKSPACES_DIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTER_RUNTIME_DIR")
    home = Path(tempfile.mkdtemp(prefix="lab-"))  # short: sockets lie in it, whose paths may have 107 bytes
    own = {**os.environ, **{name: str(home / name.lower()) for name in folders}}
    own["COURSE_PROGRESS"] = str(course / "progress.db")
    with log.open("w") as sink:
        server = subprocess.Popen(
            [
                sys.executable, "-m", "course", command, "--course", str(course), "--no-browser", f"--port={port}",
                "--ServerApp.port_retries=0", "--IdentityProvider.token=lab",
                "--LabApp.expose_app_in_browser=True",
            ],
            stdout=sink, stderr=sink, cwd=ROOT,
            env=own,
        )  # fmt: skip
    base = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{base}/api?token=lab", server, log, 60)
        yield Lab(base, course)
    finally:
        server.terminate()
        server.wait(20)
        shutil.rmtree(home, ignore_errors=True)
