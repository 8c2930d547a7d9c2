"""Isolation where namespaces are refused: Landlock, a longer system-call filter, limits. It needs no right at all.

The learner's process stays in the machine's own file tree and among its processes, and, unless root grades, runs as the
same user as the grader. So what it may open is a list (:mod:`nbproof.sandbox.landlock`), every call that reaches another
process, a socket or a file's owner and dates is refused (:mod:`nbproof.sandbox.syscalls`), and the fork server counts what it
starts (:mod:`nbproof.sandbox.overseer`). `docs/engine.md` says what holds at which level, and is tested.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import pwd
import random
import resource
import shutil
import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from nbproof.sandbox import landlock
from nbproof.sandbox.kernel import call
from nbproof.sandbox.namespaces import give_up_rights, limit, said_by_child
from nbproof.sandbox.overseer import tasks_here
from nbproof.sandbox.shown import shown, visible_folders
from nbproof.sandbox.syscalls import ARCHITECTURES, ask, filter_calls

__all__ = ["become_subreaper", "end_children", "probe_reduced", "seal_reduced", "spare_user"]

_DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))
_FILES = ("/etc/ld.so.cache", "/etc/localtime")
_OTHERS = 1_000
"""Processes and threads that may come up beside a submission, its neighbours' and the user's own, while it runs."""
_FIRST_SPARE, _LAST_SPARE = 10_000, 2**31 - 2

_RIGHTS = 1 << 0 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 19
"""CAP_CHOWN, CAP_KILL, CAP_SETGID, CAP_SETUID and CAP_SYS_PTRACE."""


def _prctl(option: int, value: int) -> None:
    call("prctl", option, ctypes.c_ulong(value), 0, 0, 0)


def become_subreaper() -> None:
    """Descendants whose parent ends become this process's children: none is lost."""
    _prctl(36, 1)


def end_children() -> None:
    """Kill whatever became this process's child, with its process group, until nothing is left."""
    import psutil

    own = os.getpgrp()
    while True:
        for child in (one.pid for one in psutil.Process().children()):
            with contextlib.suppress(OSError):
                group = os.getpgid(child)
                os.kill(child, signal.SIGKILL) if group == own else os.killpg(group, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def seal_reduced(
    scratch: str,
    user: int | None,
    hand_over: Callable[[int], None],
    *,
    memory: int,
    processes: int,
    files: int,
    disk: int,
    seconds: int,
) -> None:
    """Lock this forked process up for good, without any namespace; otherwise as :func:`nbproof.sandbox.namespaces.seal`.

    ``user``: who it becomes, if root grades. ``hand_over`` gives the descriptor by which signals are decided about to
    the fork server; it is called before anybody's code runs.
    """
    Path("/proc/self/oom_score_adj").write_text("1000")
    # A session and a process group, which nothing that it starts can leave: the filter refuses both calls.
    os.setsid()
    if user is not None:
        os.chown(scratch, user, user)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    _prctl(4, 1)  # PR_SET_DUMPABLE, lost with another user: the engine adds up the memory
    become_subreaper()
    _prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it does not outlive the fork server
    os.chdir(scratch)
    limit(memory, files, disk, seconds)
    # Counts all that this user runs: a last barrier, far enough off not to be anybody else's. The fork server counts better.
    crowd = processes if user is not None else tasks_here() + _OTHERS
    _, most = resource.getrlimit(resource.RLIMIT_NPROC)
    crowd = crowd if most == resource.RLIM_INFINITY else min(crowd, most)
    resource.setrlimit(resource.RLIMIT_NPROC, (crowd, crowd))
    give_up_rights()
    seen = shown()
    landlock.restrict([*seen.whole, *_FILES], seen.listed, _DEVICES, scratch)
    if landlock.abi() < landlock.SIGNALS:
        listener = ask()
        # Not later: the filter refuses what hands a descriptor to another process.
        hand_over(listener)
        os.close(listener)
    filter_calls(landlock.abi())


def spare_user(scratch: str) -> int | None:
    """A user id that nobody has, for one submission; None if this process cannot become anybody else.

    Nor if the interpreter or the scratch folder lies below a folder that only its owner may enter, such as /root, or
    if root may not look at other users' processes, as in a usual container: it has to see how much they use.
    Then the submission runs as this user, as it does for everybody who is not root, and is sealed the same.
    """
    if os.geteuid() != 0 or not _has_rights():
        return None
    if not all(_may_be_entered(path) for path in (*visible_folders(), os.path.dirname(scratch))):
        return None
    ranges = [_range(file) for file in ("/proc/self/uid_map", "/proc/self/gid_map")]
    first, last = max(low for low, _ in ranges), min(high for _, high in ranges)
    if last - first < 1000:
        return None
    for _ in range(100):
        user = random.SystemRandom().randint(first, last)
        try:
            pwd.getpwuid(user)
        except KeyError:
            return user
    return None


def _has_rights() -> bool:
    """Whether root may become others, end them, and see how much they use: in a usual container it may not do the last."""
    line = next(one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("CapEff:"))
    return int(line.split()[1], 16) & _RIGHTS == _RIGHTS


def _range(file: str) -> tuple[int, int]:
    """The longest run of ids from :data:`_FIRST_SPARE` on that this user namespace knows."""
    lines = [tuple(map(int, line.split())) for line in Path(file).read_text().splitlines()]
    runs = [(max(low, _FIRST_SPARE), min(low + count - 1, _LAST_SPARE)) for low, _, count in lines]
    return max(runs, key=lambda run: run[1] - run[0], default=(0, 0))


def _may_be_entered(path: str) -> bool:
    """Whether everybody may go to a folder."""
    place = Path(path).resolve()
    return all(os.stat(one).st_mode & stat.S_IXOTH for one in (place, *place.parents) if one.is_dir())


def probe_reduced() -> str:
    """Why this machine cannot isolate without namespaces either, in words; empty if it can."""
    if sys.platform != "linux":
        return f"Landlock exists on Linux only, and this is {sys.platform}"
    if platform.machine() not in ARCHITECTURES:
        return f"no system-call filter is written for {platform.machine()}"
    if not landlock.abi():
        return "the kernel has no Landlock (Linux 5.13 has it, if it is switched on), or a container refuses it"
    scratch = tempfile.mkdtemp(prefix="isolation-")
    try:
        return said_by_child(lambda: _try(scratch))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _try(scratch: str) -> str:
    here, _there = socket.socketpair()

    def hand_over(listener: int) -> None:
        socket.send_fds(here, [b"x"], [listener])

    try:
        seal_reduced(
            scratch, spare_user(scratch), hand_over, memory=1 << 40, processes=10, files=100, disk=1 << 20, seconds=60
        )
    except OSError as error:
        return f"the kernel refuses it ({error.strerror})"
    try:
        os.listdir("/")
    except PermissionError:
        return ""
    return "Landlock was accepted, and does not hold"
