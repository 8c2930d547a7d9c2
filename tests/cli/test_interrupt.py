"""Ctrl-C as a terminal sends it, to all processes at once, at a chosen moment: one sentence, 130, and nothing half done."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import COURSE, ROOT, some_by_day
from tests.report.made import course_on_disk

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="signals of a terminal are sent as POSIX has them"),
]

# Found by every Python that is started with its folder on the path.
HOOK = """
import os, signal, sys
moment, marker = os.environ["INTERRUPTED"].split("|")
def hook(event, arguments):
    if event == "import" and arguments[0] == moment:
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        os.killpg(0, signal.SIGINT)
if "multiprocessing" not in " ".join(sys.orig_argv):
    sys.addaudithook(hook)
"""


@pytest.mark.parametrize(
    "moment", some_by_day(["nbproof.cli.main", "nbproof.cli.authors", "nbgrader.api", "jinja2"], 3)
)
def test_at_any_moment_of_a_command(moment: str, tmp_path: Path) -> None:
    """``moment``: the module that is about to be imported when Ctrl-C comes."""
    course_on_disk(tmp_path / "course", {f"s{number:02}": {} for number in range(3)})
    (tmp_path / "sitecustomize.py").write_text(HOOK)
    told = {"PYTHONPATH": str(tmp_path), "INTERRUPTED": f"{moment}|{tmp_path / 'sent'}", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "course", "report", "--course", str(tmp_path / "course")]
    errors = tmp_path / "errors"
    # To a file: a process that outlives the command for a moment would keep a pipe open.
    with errors.open("w") as file:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **told},
            stdout=subprocess.DEVNULL,
            stderr=file,
            start_new_session=True,
        )
        code = process.wait(300)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    assert (tmp_path / "sent").exists(), f"it was not interrupted: {errors.read_text()}"
    assert code == 130
    assert errors.read_text().startswith("interrupted") and "Traceback" not in errors.read_text()


def test_a_second_one_cuts_no_clearing_up_off_and_a_third_one_leaves() -> None:
    script = """
import os, signal
from nbproof.interrupt import for_this_process_only, listen
listen()
try:
    with for_this_process_only():
        os.kill(os.getpid(), signal.SIGINT)
        print("blocked", flush=True)
    print("never")
except KeyboardInterrupt:
    os.kill(os.getpid(), signal.SIGINT)
    print("cleared up", flush=True)
    os.kill(os.getpid(), signal.SIGINT)
    print("never")
"""
    told = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert (told.returncode, told.stdout) == (130, "blocked\ncleared up\n")
    assert told.stderr == "still clearing up; Ctrl-C once more leaves at once\n"


def test_an_error_that_a_library_made_of_it_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from nbproof.cli import main as cli

    def failing(argv: list[str] | None, without: object) -> int:
        raise RuntimeError("cannot load the library")

    monkeypatch.setattr(cli, "run_command", failing)
    with pytest.raises(RuntimeError):
        cli.main([], COURSE)
    monkeypatch.setattr(cli, "told_to_stop", lambda: True)
    assert cli.main([], COURSE) == 130
