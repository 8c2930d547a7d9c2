"""The warm interpreter that workers are forked from. Runs no learner's code and computes nothing.

Started by the engine as ``python -m course.grading.zygote FD ROOT MODE PATH``, where PATH is what may be imported
from beyond the interpreter's own folders. It imports what lessons
import, confines itself (:mod:`course.grading.sandbox`), then forks a worker for each request that
comes over the control socket, and reports how each ended. OpenMP's thread pools do not survive a
fork, so no tensor is ever added here.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
import traceback
from typing import Any

__all__ = ["main"]

_NEWPID = 0x20000000


def main() -> int:
    """Import, confine, fork on request until the engine hangs up."""
    control = socket.socket(fileno=int(sys.argv[1]))
    root, isolated = sys.argv[2], sys.argv[3] == "isolated"
    given = json.loads(sys.argv[4]) if len(sys.argv) > 4 else []
    sys.path[:] = [*given, *(place for place in sys.path if place not in given)]
    try:
        from course.grading import sandbox, worker

        worker.warm_up()
        if isolated:
            sandbox.remember_mapped()
            sandbox.confine(root)
            # The first fork after confine is process 1 of a pid namespace: when it ends, all workers end.
            child = os.fork()
            if child:
                control.close()
                _, status = os.waitpid(child, 0)
                os._exit(min(255, abs(os.waitstatus_to_exitcode(status))))
        else:
            sandbox.remember_mapped()
    except Exception:
        with contextlib.suppress(OSError):
            control.send(json.dumps({"failed": traceback.format_exc(limit=-3)}).encode())
        return 1
    gc.collect()
    gc.freeze()
    try:
        control.send(json.dumps({"ready": True}).encode())
    except OSError:
        os._exit(0)  # whoever wanted it is gone
    _Zygote(control, isolated).loop()
    # Taking an interpreter of this size apart properly costs a second, and has nothing to save.
    os._exit(0)


class _Zygote:
    def __init__(self, control: socket.socket, isolated: bool) -> None:
        self.control, self.isolated = control, isolated
        self.own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY) if isolated else -1
        self.names: dict[int, int] = {}
        self.wake_reader, wake_writer = os.pipe()
        os.set_blocking(wake_writer, False)
        os.set_blocking(self.wake_reader, False)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)

    def loop(self) -> None:
        """Serve until the engine closes its end."""
        while True:
            ready, _, _ = select.select([self.control.fileno(), self.wake_reader], [], [])
            if self.wake_reader in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self.wake_reader, 4096)
                self.reap()
            if self.control.fileno() in ready:
                message, descriptors, _, _ = socket.recv_fds(self.control, 65536, 1)
                if not message:
                    return
                self.fork(json.loads(message), descriptors[0])

    def fork(self, request: dict[str, Any], channel: int) -> None:
        if self.isolated:
            _unshare(_NEWPID)
        child = os.fork()
        if child == 0:
            self.become_worker(request, channel)
        if self.isolated:
            _setns(self.own_pids, _NEWPID)
        os.close(channel)
        self.names[child] = request["id"]

    def become_worker(self, request: dict[str, Any], channel: int) -> None:
        """In the fork: never returns."""
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            from course.grading import sandbox, worker

            # Nothing that was open here is open there, but the worker's own channel.
            for descriptor in [int(name) for name in os.listdir("/proc/self/fd")]:
                if descriptor > 2 and descriptor != channel:
                    with contextlib.suppress(OSError):
                        os.close(descriptor)
            self.control.detach()
            if self.isolated:
                sandbox.seal(**request["limits"])
            else:
                os.chdir(request["scratch"])
            worker.serve(socket.socket(fileno=channel))
        except BaseException:
            with contextlib.suppress(Exception):
                from course.grading import wire

                wire.send(socket.socket(fileno=channel), {"failed": traceback.format_exc(limit=-3)})
        finally:
            os._exit(0)

    def reap(self) -> None:
        while self.names:
            try:
                child, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if child == 0:
                return
            name = self.names.pop(child, None)
            if name is not None:
                code = os.waitstatus_to_exitcode(status)
                self.control.send(json.dumps({"ended": name, "code": code}).encode())


def _unshare(flags: int) -> None:
    from course.grading.sandbox import _call

    _call("unshare", flags)


def _setns(descriptor: int, kind: int) -> None:
    from course.grading.sandbox import _call

    _call("setns", descriptor, kind)


if __name__ == "__main__":
    sys.exit(main())
