"""Start the zygote early: it imports for seconds, and so does whoever starts it. Imports nothing heavy itself."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from course.command import course_command
from course.grading.exceptions import NoIsolation

__all__ = ["Launched", "isolation_or_refuse", "launch", "refuse_if_exposed", "why_not_isolated"]


def isolation_or_refuse(unsafe: bool) -> str:
    """The first line of a run: what isolation is active. Raises NoIsolation where there is none and ``unsafe`` is not set."""
    if sys.platform != "linux":
        raise NoIsolation(
            f"the grading engine runs on Linux only, and this is {sys.platform}",
            course_command("grade"),
            f"grade on Linux, or with stock nbgrader: {course_command('grade --stock --unsafe')}",
        )
    reason = why_not_isolated()
    if not reason and not unsafe:
        return (
            "isolation: user, mount, pid, ipc and network namespaces, system-call filter and limits for each submission"
        )
    if unsafe:
        return "isolation: NONE (--unsafe): submissions run as you, with your files and network in reach"
    raise NoIsolation(
        f"this machine cannot isolate submissions: {reason}",
        "Linux with unprivileged user namespaces is needed",
        "grade on such a machine, or add --unsafe if you would run every submission yourself",
    )


def why_not_isolated() -> str:
    """Why this machine cannot isolate submissions, in words; empty where it can."""
    if sys.platform != "linux":
        return f"namespaces exist on Linux only, and this is {sys.platform}"
    # Not before: what the sandbox imports does not exist on Windows.
    from course.grading.sandbox import probe_isolation

    return probe_isolation()


def refuse_if_exposed(root: Path) -> None:
    """Raise NoIsolation where the course lies inside a folder that every sandbox shows, such as its interpreter's."""
    from course.grading.shown import visible_folders

    home = root.resolve()
    for folder in visible_folders():
        if home.is_relative_to(folder):
            raise NoIsolation(
                f"the course lies inside {folder}, which learners' code can read",
                str(home),
                "move the course elsewhere, or make its Python environment elsewhere, as `make` does in .venv",
            )
        if any(Path(folder).is_relative_to(home / part) for part in _PRIVATE):
            raise NoIsolation(
                f"Python imports from {folder}, so that learners' code could read it",
                str(home),
                "take it off PYTHONPATH, or out of the .pth file that names it",
            )


_PRIVATE = ("source", "lessons", "submitted", "autograded", "feedback", ".course")
"""What of a course no learner's code may read."""


@dataclass(frozen=True)
class Launched:
    """A zygote on its way: its process, the engine's end of the control socket, a folder for both."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    folder: Path

    def end(self) -> None:
        """Hang up, which is the zygote's sign to end, its workers with it; idempotent."""
        with contextlib.suppress(OSError):
            self.control.shutdown(socket.SHUT_RDWR)
        try:
            # A zygote that still imports hears of nothing; what it forked ends by itself, because the line is cut.
            self.process.wait(1)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.control.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def launch(isolated: bool) -> Launched:
    """Start ``python -m course.grading.zygote``; returns at once."""
    folder = Path(tempfile.mkdtemp(prefix="grading-"))
    (folder / "root").mkdir()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # Enough to import; one thread a library, because a process with threads cannot enter namespaces.
    from course.grading.shown import import_path

    kept = {
        name: os.environ[name] for name in ("PATH", "HOME", "MPLCONFIGDIR", "LD_LIBRARY_PATH") if name in os.environ
    }
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, "-I", "-m", "course.grading.zygote", str(theirs.fileno()), str(folder / "root")]
    process = subprocess.Popen(
        [*command, "isolated" if isolated else "unsafe", json.dumps(import_path())],
        pass_fds=[theirs.fileno()],
        env={**kept, **threads, "LANG": "C.UTF-8", "IPYTHONDIR": str(folder / "ipython")},
        stdin=subprocess.DEVNULL,
        cwd="/",
        # Ctrl-C in the terminal is for whoever grades, who then ends this.
        start_new_session=True,
    )
    theirs.close()
    return Launched(process, ours, folder)
