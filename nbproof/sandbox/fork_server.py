"""The warm interpreter that workers are forked from. It runs no learner's code and computes nothing.

The engine starts it with the arguments FD ROOT LEVEL PATH COURSE WRITER LINES. PATH: folders to import from, beside the
interpreter's own. COURSE: the folder of course.toml. WRITER: a module that writes feedback pages, by
``serve(line, course)``. LINES: a descriptor for each fork that writes them. It imports what lessons import, forks these,
confines itself (:mod:`nbproof.sandbox.namespaces`), then forks a worker, or a judge, for each request that comes over the
control socket, and reports how each ended. OpenMP's thread pools do not survive a fork, so nothing is ever computed here.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import traceback
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbproof.command import called_for
from nbproof.course_file import Course, read_course, use_course
from nbproof.errors import CourseError, UsageError
from nbproof.sandbox.isolation import Isolation
from nbproof.sandbox.syscalls import call
from nbproof.sandbox.visible_tree import VisibleTree, shown

if TYPE_CHECKING:
    from nbproof.sandbox.overseer import Overseer

__all__ = ["ROLES", "ForkServer", "main"]

ROLES = {"worker": "nbproof.sandbox.worker", "judge": "nbproof.sandbox.judge_server"}
"""The roles of forks: modules with ``serve(channel, course)``."""

_NEWPID = 0x20000000
_TICK_MS = 5
"""Milliseconds between two looks, while there are workers: who has ended, and at the reduced level who has started too much."""
_FULL = (errno.EAGAIN, errno.ENOMEM, errno.ENOSPC, errno.EMFILE, errno.ENFILE)
"""The errors of a kernel that has no room now: it may have some later."""


def main() -> int:
    """Import, confine, fork on request until the engine hangs up."""
    gc.disable()  # what is imported stays: to look through it for garbage would take a fifth of the time
    control = socket.socket(fileno=int(sys.argv[1]))
    root = sys.argv[2]
    isolation = Isolation(sys.argv[3])
    given = json.loads(sys.argv[4])
    folder = Path(sys.argv[5])
    sys.path[:] = [*given, *(place for place in sys.path if place not in given)]
    try:
        use_course(str(folder / "course.toml"))  # for a learner's own `check`
        course = read_course(folder)
        called_for(course)
        course.enter()
        from nbproof.sandbox import namespaces

        # All of it before the forks that use it, and before folders are out of sight.
        importlib.import_module("nbproof.sandbox.reduced")
        importlib.import_module(ROLES["judge"])
        importlib.import_module(ROLES["worker"]).warm_up(course)
        for name in os.environ.pop("NBPROOF_WARM", "").split():
            with contextlib.suppress(Exception):  # a learner's import says what is wrong with it
                importlib.import_module(name)
        _refuse_threads()
        gc.freeze()
        gc.enable()
        for descriptor in json.loads(sys.argv[7]):
            _fork_writer(sys.argv[6], descriptor, course)
        tree = shown(course.own_code, course.withheld)
        namespaces.remember_mapped()
        if isolation is Isolation.FULL:
            namespaces.confine(root, tree)
        if isolation is not Isolation.NONE:
            # At full isolation the first fork after confine is process 1 of a pid namespace: when it ends, all workers end.
            # At the reduced level this process ends what that fork leaves behind, should it be killed.
            _keep(control, isolation)
    except Exception as error:
        report = {"failed": traceback.format_exc(limit=-3)}
        if isinstance(error, CourseError):
            report = {"failed": error.fact, "next": error.next_command}
        with contextlib.suppress(OSError):
            control.send(json.dumps(report).encode())
        return 1
    try:
        control.send(json.dumps({"ready": True}).encode())
    except OSError:
        os._exit(0)  # the grader that started it is gone
    server = ForkServer(control, isolation, course, tree)
    server.loop()
    server.end_all()
    # Taking an interpreter of this size apart properly costs a second, and has nothing to save.
    os._exit(0)


def _refuse_threads() -> None:
    """Raise UsageError if something that was imported has started a thread: a fork has no threads, and their locks stay shut."""
    tasks = Path("/proc/self/task").iterdir()
    names = sorted((task / "comm").read_text().strip() for task in tasks if task.name != str(os.getpid()))
    if names:
        raise UsageError(
            f"what lessons import has started threads ({', '.join(names)}), and a process with threads cannot be forked",
            "",
            "take the library that starts them out of warm in course.toml; of a leaf type, see docs/doors.md",
        )


def _fork_writer(module: str, descriptor: int, course: Course) -> None:
    """Start a process that writes feedback pages until its line is cut. It is nobody's child, so nobody here ends it.

    It is not sealed, because no learner's code comes near it.
    """
    between = os.fork()
    if between:
        os.close(descriptor)
        os.waitpid(between, 0)
        return
    if os.fork():
        os._exit(0)
    try:
        _close_all_but({0, 1, 2, descriptor})
        importlib.import_module(module).serve(Connection(descriptor), course)
    finally:
        os._exit(0)


def _close_all_but(kept: set[int]) -> None:
    for descriptor in [int(name) for name in os.listdir("/proc/self/fd")]:
        if descriptor not in kept:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _keep(control: socket.socket, isolation: Isolation) -> None:
    """Fork, and return in the child. The parent waits for the child, ends all that the child has left behind, and then ends."""
    from nbproof.sandbox import reduced

    if isolation is Isolation.REDUCED:
        reduced.become_subreaper()
    child = os.fork()
    if not child:
        if isolation is Isolation.REDUCED:
            reduced.become_subreaper()
        return
    control.close()
    _, status = os.waitpid(child, 0)
    if isolation is Isolation.REDUCED:
        reduced.end_children()
    os._exit(min(255, abs(os.waitstatus_to_exitcode(status))))


@dataclass
class _Child:
    """A worker that was forked."""

    number: int
    """The engine's number for it."""
    most: int
    """The number of processes and threads that it may have."""
    crowded: bool = False
    """Whether it was ended for more processes and threads than it may have."""


class ForkServer:
    """The process that forks workers."""

    def __init__(self, control: socket.socket, isolation: Isolation, course: Course, tree: VisibleTree) -> None:
        from nbproof.sandbox.overseer import Census

        self.control = control
        self.isolation = isolation
        self.course = course
        self.tree = tree
        self.own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY) if isolation is Isolation.FULL else -1
        self.children: dict[int, _Child] = {}
        self.overseers: dict[int, Overseer] = {}
        """Descriptor of the questions -> the overseer that answers them."""
        self.awaited: dict[int, tuple[socket.socket, int]] = {}
        """Descriptor of a line -> (the line on which a fork hands over its overseer's descriptor, the fork's process)."""
        self.poll = select.poll()
        self.poll.register(control, select.POLLIN)
        self.census = Census()
        """It counts processes and threads."""

    def loop(self) -> None:
        """Serve until the engine closes its end."""
        while True:
            wait = _TICK_MS if self.children else None
            ready = dict(self.poll.poll(wait))
            if self.isolation is Isolation.REDUCED and self.children:
                self.disperse()
            for descriptor in ready:
                if descriptor in self.overseers:
                    self.decide(descriptor, ready[descriptor])
                elif descriptor in self.awaited:
                    self.take_over(descriptor)
            self.reap()
            if self.control.fileno() in ready:
                message, descriptors = self.receive_request()
                if not message:
                    return
                self.fork(json.loads(message), descriptors[0])

    def receive_request(self) -> tuple[bytes, list[int]]:
        """The engine's request and its descriptors; empty if the engine has hung up, even with an answer on its way."""
        try:
            message, descriptors, _, _ = socket.recv_fds(self.control, 65536, 1)
        except ConnectionResetError:
            return b"", []
        return message, descriptors

    def disperse(self) -> None:
        """End each worker that has started more than it may, all of it at once."""
        for leader in self.census.crowded({leader: one.most for leader, one in self.children.items()}):
            self.children[leader].crowded = True
            _end_group(leader)

    def decide(self, descriptor: int, event: int) -> None:
        """Answer one question of a submission, or note that nobody is left who asks."""
        if event & select.POLLIN:
            self.overseers[descriptor].answer()
            return
        self.poll.unregister(descriptor)
        self.overseers.pop(descriptor).close()

    def take_over(self, descriptor: int) -> None:
        """Take the descriptor that a sealed fork hands over, if it hands one over."""
        from nbproof.sandbox.overseer import Overseer

        line, leader = self.awaited.pop(descriptor)
        self.poll.unregister(descriptor)
        with line, contextlib.suppress(OSError):
            _, descriptors, _, _ = socket.recv_fds(line, 1, 1)
            for listener in descriptors:
                self.overseers[listener] = Overseer(listener, leader)
                self.poll.register(listener, select.POLLIN)

    def fork(self, request: dict[str, Any], channel: int) -> None:
        """Fork a worker for a request, or tell the engine that the machine is full."""
        line, theirs = socket.socketpair()
        child = -1
        refused = ""
        try:
            if self.isolation is Isolation.FULL:
                call("unshare", _NEWPID)
            child = os.fork()
        except OSError as error:
            # This process has to be there when the machine is no longer full.
            refused = str(error.strerror)
        if child == 0:
            self.become_worker(request, channel, theirs)
        if self.isolation is Isolation.FULL:
            call("setns", self.own_pids, _NEWPID)
        os.close(channel)
        theirs.close()
        if refused:
            line.close()
            self.tell(request["id"], None, refused)
            return
        self.awaited[line.fileno()] = (line, child)
        self.poll.register(line, select.POLLIN)
        self.children[child] = _Child(request["id"], request["limits"]["processes"])

    def become_worker(self, request: dict[str, Any], channel: int, line: socket.socket) -> None:
        """Seal this fork and serve in its role. Never returns."""
        try:
            from nbproof.sandbox import namespaces, reduced

            # Nothing that was open here is open there, but the worker's own channel.
            _close_all_but({0, 1, 2, channel, line.fileno()})
            self.control.detach()
            with line:
                if self.isolation is Isolation.FULL:
                    namespaces.seal(self.tree, **request["limits"])
                elif self.isolation is Isolation.REDUCED:
                    hand_over = partial(_hand_over, line)
                    reduced.seal_reduced(request["scratch"], hand_over, self.tree, **request["limits"])
                else:
                    os.chdir(request["scratch"])
            role = importlib.import_module(ROLES[request["role"]])
            role.serve(socket.socket(fileno=channel), self.course)
        except BaseException as error:
            with contextlib.suppress(Exception):
                from nbproof.sandbox import wire

                later = isinstance(error, OSError) and error.errno in _FULL
                wire.send(socket.socket(fileno=channel), {"failed": traceback.format_exc(limit=-3), "later": later})
        finally:
            os._exit(0)

    def reap(self) -> None:
        """Tell the engine which workers ended. At the reduced level a worker's process group ends with it, all at once."""
        with contextlib.suppress(ChildProcessError):
            # Still there as a zombie: until it is waited for, its number is nobody else's.
            while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                one = self.children.pop(ended.si_pid, None)
                if one is not None and self.isolation is Isolation.REDUCED:
                    _end_group(ended.si_pid)
                _, status = os.waitpid(ended.si_pid, 0)
                if one is not None:
                    self.tell(one.number, os.waitstatus_to_exitcode(status), crowded=one.crowded)

    def tell(self, number: int, code: int | None, refused: str = "", crowded: bool = False) -> None:
        """Tell the engine how a worker ended, if it still listens: after an interrupt it has hung up, and the loop ends soon."""
        report = {"ended": number, "code": code, "refused": refused, "crowded": crowded}
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.control.send(json.dumps(report).encode())

    def end_all(self) -> None:
        """End every submission, because the engine has hung up."""
        if self.isolation is Isolation.REDUCED:
            for child in self.children:
                _end_group(child)


def _hand_over(line: socket.socket, listener: int) -> None:
    socket.send_fds(line, [b"x"], [listener])


def _end_group(leader: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(leader, signal.SIGKILL)
