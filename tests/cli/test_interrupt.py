"""Ctrl-C as a terminal sends it, to all processes at once, at a chosen moment: one sentence, 130, and nothing half done."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT, some_by_day
from tests.report.made import LESSON, course_on_disk

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="signals of a terminal are sent as POSIX has them"),
]

# Found by every Python that is started with its folder on the path, children included.
HOOK = """
import os, signal, sys
where, moment, marker = os.environ["INTERRUPTED"].split("|")
def hook(event, arguments):
    if event == "import" and arguments[0] == moment:
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:  # of two children that come here at once, one sends it
            return
        os.killpg(0, signal.SIGINT)
if (where == "child") == ("multiprocessing" in " ".join(sys.orig_argv)):
    sys.addaudithook(hook)
"""


def _run(tmp_path: Path, where: str, moment: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command; ``moment``: the module that is about to be imported there when Ctrl-C comes."""
    (tmp_path / "sitecustomize.py").write_text(HOOK)
    environment = {
        **os.environ, "PYTHONPATH": str(tmp_path), "INTERRUPTED": f"{where}|{moment}|{tmp_path / 'sent'}",
        "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    out, errors = tmp_path / "out", tmp_path / "errors"
    # To files: a process that outlives the command for a moment would keep a pipe open.
    with out.open("w") as out_file, errors.open("w") as errors_file:
        process = subprocess.Popen(
            [sys.executable, "-m", "course", *arguments], cwd=ROOT, env=environment, stdout=out_file,
            stderr=errors_file, start_new_session=True,
        )  # fmt: skip
        code = process.wait(300)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    told = subprocess.CompletedProcess(arguments, code, out.read_text(), errors.read_text())
    assert (tmp_path / "sent").exists(), f"it was not interrupted: {told}"
    return told


def _class(root: Path, size: int) -> Path:
    course_on_disk(root, {f"s{number:02}": {} for number in range(size)})
    for number in range(size):
        (root / "autograded" / f"s{number:02}" / LESSON / f"{LESSON}.ipynb").write_text("{}")
    return root


@pytest.mark.parametrize(
    "moment", some_by_day(["nbproof.cli.main", "nbproof.cli.authors", "nbgrader.api", "jinja2"], 3)
)
def test_at_any_moment_of_a_command(moment: str, tmp_path: Path) -> None:
    told = _run(tmp_path, "parent", moment, "report", "--course", str(_class(tmp_path / "course", 3)))
    assert told.returncode == 130
    assert told.stderr.startswith("interrupted") and "Traceback" not in told.stderr


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
        cli.main([])
    monkeypatch.setattr(cli, "told_to_stop", lambda: True)
    assert cli.main([]) == 130
