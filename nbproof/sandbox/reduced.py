"""Isolates where namespaces are refused: by Landlock, a longer system-call filter, and limits. It needs no right at all.

The learner's process stays in the machine's own file tree and among its processes, and runs as the same user as the grader.
So what it may open is a list (:mod:`nbproof.sandbox.landlock`), every call that reaches another process, a socket or a file's
owner and dates is refused (:mod:`nbproof.sandbox.syscalls`), and the fork server counts what it starts
(:mod:`nbproof.sandbox.overseer`). `docs/engine.md` says what holds at which level, and is tested.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import resource
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

from nbproof.sandbox import landlock
from nbproof.sandbox.namespaces import give_up_rights, limit, refused_in_child
from nbproof.sandbox.overseer import tasks_here
from nbproof.sandbox.syscalls import ask, call, filter_calls
from nbproof.sandbox.visible_tree import VisibleTree, shown

__all__ = ["become_subreaper", "end_children", "probe_reduced", "seal_reduced"]

_DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))
_FILES = ("/etc/ld.so.cache", "/etc/localtime")
_OTHERS = 1_000
"""Processes and threads that may come up beside a submission, its neighbours' and the user's own, while it runs."""


def _prctl(option: int, value: int) -> None:
    call("prctl", option, ctypes.c_ulong(value), 0, 0, 0)


def become_subreaper() -> None:
    """If the parent of a descendant ends, that descendant becomes this process's child: none is lost."""
    _prctl(36, 1)


def end_children() -> None:
    """Kill every process that became this process's child, with its process group, until none is left."""
    import psutil

    own = os.getpgrp()
    while True:
        for child in (one.pid for one in psutil.Process().children()):
            with contextlib.suppress(OSError):
                group = os.getpgid(child)
                if group == own:
                    os.kill(child, signal.SIGKILL)
                else:
                    os.killpg(group, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def seal_reduced(
    scratch: str,
    hand_over: Callable[[int], None],
    seen: VisibleTree,
    *,
    memory: int,
    processes: int,
    files: int,
    disk: int,
    seconds: int,
) -> None:
    """Lock this forked process up for good, without any namespace; otherwise as :func:`nbproof.sandbox.namespaces.seal`.

    ``hand_over`` gives the fork server the descriptor that it needs to decide about signals; it is called before a learner's
    code runs. ``seen``: what may be read.

    ``processes``: the fork server counts them, because a limit of the kernel's would count all of a user's.
    """
    Path("/proc/self/oom_score_adj").write_text("1000")
    # A session and a process group, which nothing that it starts can leave: the filter refuses both calls.
    os.setsid()
    become_subreaper()
    _prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it does not outlive the fork server
    os.chdir(scratch)
    limit(memory, files, disk, seconds)
    # A last barrier, far enough off not to be anybody else's.
    crowd = tasks_here() + _OTHERS
    _, most = resource.getrlimit(resource.RLIMIT_NPROC)
    if most != resource.RLIM_INFINITY:
        crowd = min(crowd, most)
    resource.setrlimit(resource.RLIMIT_NPROC, (crowd, crowd))
    give_up_rights()
    landlock.restrict([*seen.whole, *_FILES], seen.listed, _DEVICES, scratch)
    if landlock.abi() < landlock.SIGNALS:
        listener = ask()
        # Not later: the filter refuses what hands a descriptor to another process.
        hand_over(listener)
        os.close(listener)
    filter_calls(landlock.abi())


def probe_reduced() -> str:
    """Why this machine cannot isolate without namespaces either; empty if it can."""
    if not landlock.abi():
        return "the kernel has no Landlock (Linux 5.13 has it, if it is switched on), or a container refuses it"
    scratch = tempfile.mkdtemp(prefix="isolation-")
    try:
        refused = refused_in_child(lambda: _try(scratch))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return refused and f"the kernel refuses Landlock, or a system-call filter ({refused})"


def _try(scratch: str) -> None:
    tree = shown((), ())
    seal_reduced(
        scratch, lambda listener: None, tree, memory=1 << 40, processes=10, files=100, disk=1 << 20, seconds=60
    )
    with contextlib.suppress(PermissionError):
        os.listdir("/")
        raise OSError(errno.ENOTSUP, "Landlock was accepted, and does not hold")
