"""The warm interpreter that workers are forked from. Runs no learner's code and computes nothing.

Started by the engine as ``python -m nbproof.sandbox.fork_server FD ROOT LEVEL PATH COURSE WRITERS``, where PATH is what may be
imported from beyond the interpreter's own folders, COURSE where its course.toml lies, and WRITERS a descriptor for each fork
that is to write feedback pages. It imports what lessons import, forks these, confines itself
(:mod:`nbproof.sandbox.namespaces`), then forks a worker, or a judge, for each request that comes over the control socket, and
reports how each ended. OpenMP's thread pools do not survive a fork, so nothing is ever computed here.
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
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from nbproof.course_file import the_course, use_course
from nbproof.sandbox.isolation import Isolation
from nbproof.sandbox.kernel import call

if TYPE_CHECKING:
    from nbproof.sandbox.overseer import Census, Overseer

__all__ = ["ROLES", "ForkServer", "main"]

ROLES = {"worker": "nbproof.sandbox.worker", "judge": "nbproof.marking.judge_server"}
"""What a fork may be: modules with ``serve(channel)``."""

_WRITER = "nbproof.feedback.page_writer"
"""What a fork is that is not sealed, because no learner's code comes near it: it has ``serve(line)`` as well."""

_NEWPID = 0x20000000
_FULL = (errno.EAGAIN, errno.ENOMEM, errno.ENOSPC, errno.EMFILE, errno.ENFILE)
"""What the kernel says if there is no room: it may have some later."""


def main() -> int:
    """Import, confine, fork on request until the engine hangs up."""
    gc.disable()  # what is imported stays: to look through it for garbage would take a fifth of the time
    control = socket.socket(fileno=int(sys.argv[1]))
    root, isolation = sys.argv[2], Isolation(sys.argv[3])
    given, course = json.loads(sys.argv[4]), sys.argv[5]
    sys.path[:] = [*given, *(place for place in sys.path if place not in given)]
    try:
        use_course(os.path.join(course, "course.toml"))
        the_course().enter()
        from nbproof.sandbox import namespaces

        # All of it before the forks that use it.
        importlib.import_module(ROLES["judge"])
        importlib.import_module(ROLES["worker"]).warm_up()
        for name in os.environ.pop("NBPROOF_WARM", "").split():
            with contextlib.suppress(Exception):  # a learner's import says what is wrong with it
                importlib.import_module(name)
        gc.freeze()
        gc.enable()
        for descriptor in json.loads(sys.argv[6]):
            _fork_writer(descriptor)
        namespaces.remember_mapped()
        if isolation is Isolation.FULL:
            namespaces.confine(root)
        if isolation is not Isolation.NONE:
            # At full isolation the first fork after confine is process 1 of a pid namespace: when it ends, all workers end.
            # At the reduced level this process ends what that fork leaves behind, should it be killed.
            _keep(control, isolation)
    except Exception:
        with contextlib.suppress(OSError):
            control.send(json.dumps({"failed": traceback.format_exc(limit=-3)}).encode())
        return 1
    try:
        control.send(json.dumps({"ready": True}).encode())
    except OSError:
        os._exit(0)  # whoever wanted it is gone
    server = ForkServer(control, isolation)
    server.loop()
    server.end_all()
    # Taking an interpreter of this size apart properly costs a second, and has nothing to save.
    os._exit(0)


def _fork_writer(descriptor: int) -> None:
    """Start a process that writes feedback pages until its line is cut. It is nobody's child, so nobody here ends it."""
    between = os.fork()
    if between:
        os.close(descriptor)
        os.waitpid(between, 0)
        return
    if os.fork():
        os._exit(0)
    try:
        _close_all_but({0, 1, 2, descriptor})
        importlib.import_module(_WRITER).serve(Connection(descriptor))
    finally:
        os._exit(0)


def _close_all_but(kept: set[int]) -> None:
    for descriptor in [int(name) for name in os.listdir("/proc/self/fd")]:
        if descriptor not in kept:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _keep(control: socket.socket, isolation: Isolation) -> None:
    """Fork, and return in the child; the parent waits for it, and ends with it and after all that it started."""
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


class ForkServer:
    """The process that forks workers."""

    def __init__(self, control: socket.socket, isolation: Isolation) -> None:
        self.control, self.isolation = control, isolation
        self.own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY) if isolation is Isolation.FULL else -1
        self.names: dict[int, int] = {}
        self.overseers: dict[int, Overseer] = {}
        """By the descriptor that they are asked through."""
        self.ending: dict[int, int] = {}
        """Process group of a worker that ended -> its exit code, until nothing of the group is left."""
        self.wake_reader, wake_writer = os.pipe()
        os.set_blocking(wake_writer, False)
        os.set_blocking(self.wake_reader, False)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self.poll = select.poll()
        self.poll.register(self.control, select.POLLIN)
        self.poll.register(self.wake_reader, select.POLLIN)
        self.awaited: dict[int, tuple[socket.socket, int]] = {}
        """Where a fork hands its overseer's descriptor over: the line, its process."""
        self.most, self.crowded = 0, set[int]()
        """Processes and threads that a submission may have; workers that had more."""

    def loop(self) -> None:
        """Serve until the engine closes its end."""
        from nbproof.sandbox.overseer import Census

        census = Census()
        while True:
            counts = self.isolation is Isolation.REDUCED and bool(self.names)
            ready = dict(self.poll.poll(20 if self.ending or counts else None))
            if counts:
                self.disperse(census)
            for descriptor in ready:
                if descriptor in self.overseers:
                    self.decide(descriptor, ready[descriptor])
                elif descriptor in self.awaited:
                    self.take_over(descriptor)
            if self.wake_reader in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self.wake_reader, 4096)
            if self.wake_reader in ready or self.ending:
                self.reap()
            if self.control.fileno() in ready:
                message, descriptors = self.asked()
                if not message:
                    return
                self.fork(json.loads(message), descriptors[0])

    def asked(self) -> tuple[bytes, list[int]]:
        """What the engine wants; nothing if it has hung up, be it while something was on its way to it."""
        try:
            message, descriptors, _, _ = socket.recv_fds(self.control, 65536, 1)
        except ConnectionResetError:
            return b"", []
        return message, descriptors

    def disperse(self, census: Census) -> None:
        """End each worker that has started more than it may, all of it at once."""
        for leader in census.crowded(self.names.keys() - self.ending.keys(), self.most):
            self.crowded.add(leader)
            # Its number is nobody else's: it has not been waited for.
            with contextlib.suppress(OSError):
                os.killpg(leader, signal.SIGKILL)

    def decide(self, descriptor: int, event: int) -> None:
        """Answer one question of a submission's, or note that nobody is left to ask."""
        if event & select.POLLIN:
            self.overseers[descriptor].answer()
            return
        self.poll.unregister(descriptor)
        self.overseers.pop(descriptor).close()

    def take_over(self, descriptor: int) -> None:
        """Take the descriptor that a sealed fork hands over."""
        from nbproof.sandbox.overseer import Overseer

        line, leader = self.awaited.pop(descriptor)
        self.poll.unregister(descriptor)
        with line, contextlib.suppress(OSError):
            _, descriptors, _, _ = socket.recv_fds(line, 1, 1)
            for listener in descriptors:
                self.overseers[listener] = Overseer(listener, leader)
                self.poll.register(listener, select.POLLIN)

    def fork(self, request: dict[str, Any], channel: int) -> None:
        line, theirs = socket.socketpair() if self.isolation is Isolation.REDUCED else (None, None)
        try:
            if self.isolation is Isolation.FULL:
                call("unshare", _NEWPID)
            child = os.fork()
        except OSError as error:
            # The machine is full, and this process has to be there when it no longer is.
            if self.isolation is Isolation.FULL:
                call("setns", self.own_pids, _NEWPID)
            for one in (line, theirs):
                if one is not None:
                    one.close()
            os.close(channel)
            self.tell({"ended": request["id"], "code": None, "refused": error.strerror})
            return
        if child == 0:
            self.become_worker(request, channel, theirs)
        if self.isolation is Isolation.FULL:
            call("setns", self.own_pids, _NEWPID)
        os.close(channel)
        if line is not None and theirs is not None:
            theirs.close()
            self.awaited[line.fileno()] = (line, child)
            self.most = request["limits"]["processes"]
            self.poll.register(line, select.POLLIN)
        self.names[child] = request["id"]

    def become_worker(self, request: dict[str, Any], channel: int, line: socket.socket | None) -> None:
        """In the fork: never returns."""
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            from nbproof.sandbox import namespaces, reduced

            # Nothing that was open here is open there, but the worker's own channel.
            _close_all_but({0, 1, 2, channel, *([line.fileno()] if line is not None else [])})
            self.control.detach()
            if self.isolation is Isolation.FULL:
                namespaces.seal(**request["limits"])
            elif line is not None:
                user = reduced.spare_user(request["scratch"])
                with line:
                    reduced.seal_reduced(
                        request["scratch"], user, lambda one: _hand_over(line, one), **request["limits"]
                    )
            else:
                os.chdir(request["scratch"])
            role = importlib.import_module(ROLES[request["role"]])
            role.serve(socket.socket(fileno=channel))
        except BaseException as error:
            with contextlib.suppress(Exception):
                from nbproof.sandbox import wire

                later = isinstance(error, OSError) and error.errno in _FULL
                wire.send(socket.socket(fileno=channel), {"failed": traceback.format_exc(limit=-3), "later": later})
        finally:
            os._exit(0)

    def reap(self) -> None:
        """Note who ended. At the reduced level a worker's process group ends with it, all at once."""
        while True:
            try:
                # Still there as a zombie: until it is waited for, its number is nobody else's.
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                break
            if ended is None:
                break
            child = ended.si_pid
            if child in self.names and self.isolation is Isolation.REDUCED:
                with contextlib.suppress(OSError):
                    os.killpg(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            if child in self.names:
                self.ending[child] = os.waitstatus_to_exitcode(status)
        for child in list(self.ending):
            if self.isolation is not Isolation.REDUCED or _is_empty(child):
                told = {
                    "ended": self.names.pop(child),
                    "code": self.ending.pop(child),
                    "crowded": child in self.crowded,
                }
                self.crowded.discard(child)
                self.tell(told)

    def tell(self, fact: Mapping[str, object]) -> None:
        """Tell the engine, if it still listens: one that was interrupted has hung up, and the loop ends with its next turn."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.control.send(json.dumps(fact).encode())

    def end_all(self) -> None:
        """The engine hung up: nothing of any submission goes on."""
        if self.isolation is Isolation.REDUCED:
            for child in self.names:
                with contextlib.suppress(OSError):
                    os.killpg(child, signal.SIGKILL)


def _hand_over(line: socket.socket, listener: int) -> None:
    socket.send_fds(line, [b"x"], [listener])


def _is_empty(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


if __name__ == "__main__":
    sys.exit(main())
