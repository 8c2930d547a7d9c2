"""Starts the fork server early, so that it and the command that starts it import at the same time, which takes seconds.

This module imports nothing heavy itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from nbproof.course_file import Course
from nbproof.places import places
from nbproof.sandbox.exceptions import NoIsolation
from nbproof.sandbox.isolation import Isolation

__all__ = ["CPU_KIND", "Launched", "launch", "refuse_if_exposed", "remove_folder"]

CPU_KIND = ("ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS")
"""Environment variables that hold libraries to some of the CPU's instructions. All processes of a run, the workers and the
judge as well, get the same ones, so that all round alike."""


def refuse_if_exposed(course: Course, root: Path) -> None:
    """Raise NoIsolation if the course lies inside a folder that every sandbox shows, such as its interpreter's."""
    from nbproof.sandbox.visible_tree import visible_folders

    home = root.resolve()
    private = [Path(os.path.realpath(path)) for path in places(home).private]
    for folder in visible_folders(course.own_code):
        if home.is_relative_to(folder):
            raise NoIsolation(
                f"the course lies inside {folder}, which learners' code can read",
                str(home),
                "take that folder off PYTHONPATH; or move the course, or its Python environment, as `make` does in .venv",
            )
        if any(Path(folder).is_relative_to(one) or one.is_relative_to(folder) for one in private):
            raise NoIsolation(
                f"Python imports from {folder}, so that learners' code could read it",
                str(home),
                "take it off PYTHONPATH, or out of the .pth file that names it",
            )


@dataclass(frozen=True)
class Launched:
    """A fork server on its way: its process, the engine's end of the control socket, a folder for both."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    folder: Path
    writers: tuple[Connection, ...] = ()
    """Lines to forks that write feedback pages. They outlive the engine, and end when these are closed."""

    def end(self) -> None:
        """Hang up. This tells the fork server to end, and its workers end with it. A second call does nothing."""
        with contextlib.suppress(OSError):
            self.control.shutdown(socket.SHUT_RDWR)
        try:
            # A fork server that still imports hears of nothing; what it forked ends by itself, because the line is cut.
            self.process.wait(1)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.control.close()
        remove_folder(self.folder)

    def dismiss_writers(self) -> None:
        """End the writers, because no more page has to be written. A second call does nothing."""
        for line in self.writers:
            line.close()


def remove_folder(folder: Path | str) -> None:
    """Remove a folder that learners' code may have filled: deeper than Python recurses, or closed to its owner."""
    for command in (["rm", "-rf", str(folder)], ["chmod", "-R", "u+rwx", str(folder)], ["rm", "-rf", str(folder)]):
        if os.path.lexists(folder):
            subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


_IMPORTS = re.compile(r"^\s*\"?\s*(?:import|from) +([\w.]+)", re.MULTILINE)
_WARM = frozenset({"bs4", "matplotlib", "networkx", "numpy", "pandas", "PIL", "scipy", "seaborn", "sklearn", "sympy"})
"""Libraries that start no thread and compute nothing when they are imported."""


def _imported_by_lessons(course: Course) -> list[str]:
    """The libraries that the notebooks import and that are known to do no harm, if the course itself names none to warm up."""
    if course.warm or course.package:
        return []
    here = places(course.root)
    names: set[str] = set()
    for lesson in here.lessons():
        names.update(_IMPORTS.findall(here.source(lesson).read_text(encoding="utf-8", errors="replace")))
    return sorted(name for name in names if name.partition(".")[0] in _WARM)


_START = (
    "import sys; sys.path.insert(0, sys.argv.pop()); from nbproof.sandbox.fork_server import main; del sys.path[0]; "
    "sys.exit(main())"
)
"""The tool that grades is the one that judges: by PYTHONPATH it may be another one than the interpreter would find."""


def launch(course: Course, isolation: Isolation, writer: str = "", writers: int = 0) -> Launched:
    """Start :mod:`nbproof.sandbox.fork_server`, and return at once.

    ``writer``: a module that writes feedback pages. ``writers``: the number of forks that run it.
    """
    folder = Path(tempfile.mkdtemp(prefix="grading-"))
    (folder / "root").mkdir()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    lines = [socket.socketpair() for _ in range(writers)]
    far_ends = [far.fileno() for _, far in lines]
    # Enough to import; one thread a library, because a process with threads cannot enter namespaces.
    from nbproof.sandbox.visible_tree import import_path

    kept = {
        name: os.environ[name]
        for name in ("PATH", "HOME", "MPLCONFIGDIR", "LD_LIBRARY_PATH", "COURSE_LANDLOCK_ABI", *CPU_KIND)
        if name in os.environ
    }
    kept["NBPROOF_WARM"] = " ".join(_imported_by_lessons(course))
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    threads["NUMEXPR_MAX_THREADS"] = "1"
    command = [sys.executable, "-I", "-c", _START, str(theirs.fileno()), str(folder / "root")]
    process = subprocess.Popen(
        [
            *command,
            isolation.value,
            json.dumps(import_path()),
            str(course.folder),
            writer,
            json.dumps(far_ends),
            str(Path(__file__).resolve().parents[2]),
        ],
        pass_fds=[theirs.fileno(), *far_ends],
        env={**kept, **threads, "LANG": "C.UTF-8", "IPYTHONDIR": str(folder / "ipython")},
        stdin=subprocess.DEVNULL,
        cwd="/",
        # Ctrl-C in the terminal reaches the grader only, which then ends this.
        start_new_session=True,
    )
    theirs.close()
    for _, far in lines:
        far.close()
    return Launched(process, ours, folder, tuple(Connection(near.detach()) for near, _ in lines))
