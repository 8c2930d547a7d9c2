"""The process that runs learner code: an IPython shell in a sealed fork. It holds nothing that is worth reading.

It answers the engine's requests: run a cell, run a probe. Everything it sends is what a learner's
code may have made up, and the engine treats it so.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import os
import signal
import socket
import sys
import tempfile
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any

from IPython.core.error import StdinNotImplementedError

from nbproof.checks.case import Case
from nbproof.checks.check import Check, bring
from nbproof.checks.namespace import missing_name, trouble_of
from nbproof.course_file import Course
from nbproof.front_end import seal
from nbproof.recover.matching import ReleasedNotebook
from nbproof.recover.notebook_bytes import Damaged
from nbproof.recover.search import find_answers_in_bytes
from nbproof.sandbox import wire
from nbproof.sandbox.evidence_wire import pack
from nbproof.sandbox.launch import CPU_KIND
from nbproof.sandbox.pristine import Pristine
from nbproof.sandbox.shell import Shell, Stream, new_shell, outputs
from nbproof.values import leaf
from nbproof.values.results import ProbeResult
from nbproof.values.words import words_of

__all__ = ["serve", "warm_up"]


_MOST_FILES = 1 << 30
"""Bytes of a course's data files and a submission's files together."""

# Made by warm_up.
_course: Course
_shell: Shell
_pristine: Pristine
_tasks: dict[str, dict[str, type[Check]]] = {}
"""The checks of each test cell."""


def warm_up(course: Course) -> None:
    """Import what lessons import, and make the shell: all before the fork, and without computing anything."""
    global _course, _shell, _pristine
    _course = course
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    _shell = new_shell()
    leaf.warm_up(course)
    seal()
    _pristine = Pristine("nbproof", course.package)


def serve(channel: socket.socket, course: Course) -> None:
    """Answer requests until the engine hangs up. ``course``: the one that it was warmed up for."""
    settings, files = wire.receive(channel, most=_MOST_FILES)
    _settle(settings, files)
    wire.send(channel, {"hello": True})
    # A learner's os.fork() makes a second process that runs on, out of the cell and to here. It is nobody to answer.
    os.register_at_fork(after_in_child=channel.close)
    operations = {"cell": _cell, "probe": _probe, "notebook": _notebook}
    while True:
        try:
            header, given = wire.receive(channel)
        except wire.Closed:
            return
        answer, payload = operations[header["op"]](header, given)
        wire.send(channel, {"id": header["id"], **answer}, payload)


def _settle(request: dict[str, Any], data: bytes) -> None:
    """Make the fork look like a fresh notebook kernel in a folder of its own."""
    outputs.left = int(request["output_bytes"])
    position = 0
    for name, size in request["files"]:
        path = Path.cwd() / name
        content = data[position : position + size]
        position += size
        # What does not fit the scratch folder is missing there, which is the submission's own affair.
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644), "wb") as file:
                file.write(content)
    cpu = {name: os.environ[name] for name in CPU_KIND if name in os.environ}
    os.environ.clear()
    os.environ.update(
        cpu,
        HOME=os.getcwd(),
        TMPDIR=os.getcwd(),
        PATH="/usr/local/bin:/usr/bin:/bin",
        LANG="C.UTF-8",
        TERM="xterm-color",
        MPLBACKEND="module://matplotlib_inline.backend_inline",
        OMP_NUM_THREADS="1",
        NBGRADER_EXECUTION="autograde",
        LOGNAME="learner",
        PIP_NO_INDEX="1",  # there is no network: pip says so at once, and does not try again and again
    )
    tempfile.tempdir = None  # noted while warming up; to be looked up anew
    # A submission's own modules can be imported, but come last: none of them takes a library's place.
    sys.path[:] = [path for path in sys.path if path] + [os.getcwd()]
    sys.stdin = io.StringIO()
    sys.stdout = Stream("stdout")
    sys.stderr = Stream("stderr")
    sink = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(sink, descriptor)

    def no_input(prompt: object = "") -> str:
        raise StdinNotImplementedError("raw_input was called, but this frontend does not support input requests.")

    builtins.input = no_input
    _shell.user_ns["exit"] = _shell.user_ns["quit"] = sys.exit


def _notebook(header: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """Find the answers in a notebook where it can hurt nobody. No learner's code has run in this fork."""
    try:
        found = find_answers_in_bytes(
            ReleasedNotebook.from_dict(header["handout"]), data, words_of(_course), header["scripts"]
        )
        return {"found": asdict(found), "damaged": ""}, b""
    except Damaged as damage:
        why = str(damage)
    except Exception as error:
        # A flaw of the reader that one file has found is that submission's problem.
        why = f"it cannot be read, please report this ({type(error).__name__}: {str(error)[:200]})"
    return {"found": {}, "damaged": why}, b""


def _cell(header: dict[str, Any], _: bytes) -> tuple[dict[str, Any], bytes]:
    """Run a cell as a notebook would."""
    outputs.begin()
    if "room" in header:
        outputs.make_room(int(header["room"]))
    _shell.execution_count = header["count"]
    # A person's stop button, where nbgrader would press it. Elsewhere than in a cell nothing is interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = _shell.run_in_loop(header["source"], bool(header.get("history")))
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    error = result.error_before_exec or result.error_in_exec
    named = None if error is None else [type(error).__name__, str(error)[:2000]]
    return {
        "outputs": outputs.finished(),
        "error": named,
        "missing": missing_name(error),
        "line": _line(error, header["source"]),
    }, b""


def _line(error: BaseException | None, source: str) -> int:
    """The line of the cell, from 1 on, that led to an error; 0 if that cannot be told."""
    step = error.__traceback__ if error is not None else None
    while step is not None and step.tb_frame.f_globals is not _shell.user_ns:
        step = step.tb_next
    if step is None or source.lstrip().startswith("%%"):
        return 0
    # IPython takes empty lines at the top of a cell away.
    lines = source.splitlines()
    return step.tb_lineno + next((number for number, line in enumerate(lines) if line.strip()), 0)


def _learn(header: dict[str, Any]) -> None:
    """Take the instructor's half of a test cell. Its names are its own: a learner may call a variable ``sum``."""
    name = header["test"]
    apart: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(header["source"], f"<{name}>", "exec"), apart)  # noqa: S102
    _tasks[name] = {key: value for key, value in apart.items() if isinstance(value, type) and issubclass(value, Check)}


def _probe(header: dict[str, Any], _: bytes) -> tuple[dict[str, Any], bytes]:
    """Run one probe. The classes of its test cell are made on the first request, in a namespace of their own."""
    name = header["test"]
    try:
        _pristine.restore()
        if "source" in header:
            _learn(header)
        brought = bring(
            _tasks[name][header["check"]](), _shell.user_ns, Case(header["seed"], _course), header["canary"]
        )
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a learner who broke what the test cell needs hears of it
        brought = ProbeResult(trouble=trouble_of(error, f"<{name}>", _course))
    evidence = pack(brought.evidence)
    trouble = None if brought.trouble is None else list(astuple(brought.trouble))
    return {
        "trouble": trouble,
        "printed": brought.printed[:5_000],
        "size": len(evidence),
    }, evidence + pack(brought.canary)
