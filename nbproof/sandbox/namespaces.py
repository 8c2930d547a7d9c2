"""Isolation on Linux: namespaces, limits, dropped rights, a syscall filter. No root, no Docker, no second program.

Two steps. The fork server calls :func:`confine` once, after its imports: it moves into a file tree that
holds only the interpreter, its packages and the system's libraries, read-only. Every fork calls
:func:`seal`: namespaces of its own (user, mount, ipc, network; the fork server gives it its pid
namespace), a private scratch folder in memory, limits, no capability, a filter on system calls.

Measured on this course's machine (median of 20, forks of an interpreter with a large library): bare fork and
exit 16.5 ms; with all namespaces and a tmpfs 16.6 ms; bubblewrap starts a new interpreter, and
importing the library alone takes 900 ms. So namespaces it is.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import resource
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

from nbproof.sandbox.syscalls import NAMES, call, filter_calls
from nbproof.sandbox.usage import MAX_FILES
from nbproof.sandbox.visible_tree import VisibleTree, shown

__all__ = [
    "confine",
    "give_up_rights",
    "limit",
    "probe_isolation",
    "refused_in_child",
    "remember_mapped",
    "seal",
]

_SCRATCH = "/scratch"
"""The learner's home, working folder and only writable place."""
_SHARED = "/dev/shm"  # noqa: S108 (the sandbox's own)

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
_NEWUTS = 0x04000000
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
_NOATIME, _NODIRATIME, _RELATIME = 1024, 2048, 1 << 21
_DETACH = 2
_NOBODY = 65534
_SIGNALS_WAITING = 256
"""The kernel counts a user's waiting signals and timers together, and lets each process have as many as its own limit says."""


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    data = options.encode() if options else None
    call("mount", source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data)


def _become_root_of_own_namespace(flags: int, inside: int = 0) -> None:
    """Unshare a user namespace with the others in ``flags``; the caller becomes user ``inside`` there."""
    uid = os.geteuid()
    gid = os.getegid()
    call("unshare", _NEWUSER | flags)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{inside} {uid} 1")
    _write("/proc/self/gid_map", f"{inside} {gid} 1")


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def confine(root: str, tree: VisibleTree) -> None:
    """Move this process into a file tree of its own, ``tree``, built at the empty folder ``root``. Single-threaded callers only.

    Afterwards the process is no longer root on the machine, and the first in a pid namespace of its own
    with a fork in between: call it only where a fork is harmless. Raises OSError if the kernel refuses.
    """
    if os.geteuid() == 0:
        # Root could make a mount namespace of its own at once; then it stops being root for good.
        call("unshare", _NEWNS | _NEWIPC | _NEWUTS | _NEWNET)
        _build_tree(root, tree)
        _stop_being_root()
        _become_root_of_own_namespace(_NEWPID)
    else:
        _become_root_of_own_namespace(_NEWNS | _NEWIPC | _NEWUTS | _NEWNET | _NEWPID)
        _build_tree(root, tree)


def _stop_being_root() -> None:
    """Become nobody, if there is such a user: a user namespace may map no other than its own root, who is nobody outside."""
    if not (_is_mapped("/proc/self/uid_map") and _is_mapped("/proc/self/gid_map")):
        return
    os.setgroups([])
    os.setresgid(_NOBODY, _NOBODY, _NOBODY)
    os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    call("prctl", 4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: /proc/self belongs to the new user again


def _is_mapped(path: str) -> bool:
    ranges = (tuple(map(int, line.split())) for line in Path(path).read_text().splitlines())
    return any(first <= _NOBODY < first + count for first, _, count in ranges)


def _build_tree(root: str, tree: VisibleTree) -> None:
    _mount("none", "/", "", _REC | _PRIVATE)
    _mount("tmpfs", root, "tmpfs", _NOSUID | _NODEV, "size=1m,mode=755")
    for path in tree.whole:
        if os.path.islink(path):
            _parents(root + path)
            os.symlink(os.readlink(path), root + path)
            continue
        if os.path.isdir(path):
            os.makedirs(root + path, exist_ok=True)
            _mount(path, root + path, "", _BIND | _REC)
        else:
            _bind_file(path, root + path)
        _read_only_below(root + path)
    os.makedirs(root + _SHARED)
    for device in ("null", "zero", "full", "random", "urandom"):
        _bind_file(f"/dev/{device}", f"{root}/dev/{device}")
        # Processes can write to it all the same. Without this they could also set its date, which all would see.
        _read_only(f"{root}/dev/{device}", _NOSUID)
    os.makedirs(root + "/etc")
    for file in ("/etc/ld.so.cache", "/etc/localtime"):
        if os.path.exists(file):
            _bind_file(os.path.realpath(file), root + file)
            _read_only(root + file)
    for name, text in (("passwd", "learner:x:1000:1000::/scratch:/bin/sh\n"), ("group", "learner:x:1000:\n")):
        Path(root, "etc", name).write_text(text)
    # Namespaces of later forks write their own maps: /proc is kept until then, out of a learner's reach (seal).
    for folder in ("/proc", _SCRATCH, "/tmp", "/old"):  # noqa: S108 (the sandbox's own)
        os.makedirs(root + folder, exist_ok=True)
    _mount("/proc", root + "/proc", "", _BIND | _REC)
    os.chdir(root)
    call("syscall", ctypes.c_long(NAMES["pivot_root"]), b".", b"old")
    os.chdir("/")
    call("umount2", b"/old", _DETACH)
    os.rmdir("/old")
    _mount("none", "/", "", _REMOUNT | _BIND | _RDONLY | _NOSUID | _NODEV)


def _parents(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)


def _bind_file(source: str, target: str) -> None:
    _parents(target)
    Path(target).touch()
    _mount(source, target, "", _BIND)


_MOUNT_SETATTR = 442
_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_NOSUID, _MOUNT_ATTR_NODEV, _AT_RECURSIVE = 1, 2, 4, 0x8000


def _read_only_below(path: str) -> None:
    """Make a bind mount and all mounts below it read-only: a file system mounted inside a shown folder comes with it."""
    attributes = struct.pack("<4Q", _MOUNT_ATTR_RDONLY | _MOUNT_ATTR_NOSUID | _MOUNT_ATTR_NODEV, 0, _PRIVATE, 0)
    try:
        call(
            "syscall",
            ctypes.c_long(_MOUNT_SETATTR),
            -100,
            path.encode(),
            _AT_RECURSIVE,
            attributes,
            ctypes.c_size_t(len(attributes)),
        )
    except OSError:
        # Linux before 5.12 does not know the call.
        for mounted in _mounts_below(path):
            _read_only(mounted)


def _mounts_below(path: str) -> list[str]:
    """The mount points at and below ``path``, as the kernel lists them: blanks are written as \\040."""
    points = [os.fsdecode(line.split()[4]) for line in Path("/proc/self/mountinfo").read_bytes().splitlines()]
    points = [re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), point) for point in points]
    return [point for point in dict.fromkeys(points) if point == path or point.startswith(path + "/")]


def _read_only(path: str, keep: int = _NOSUID | _NODEV) -> None:
    """Remount a bind mount read-only, with the flags that the kernel does not let us drop."""
    flags = os.statvfs(path).f_flag
    for bit, name in (
        (os.ST_NOEXEC, _NOEXEC),
        (os.ST_NOATIME, _NOATIME),
        (os.ST_NODIRATIME, _NODIRATIME),
        (os.ST_RELATIME, _RELATIME),
    ):
        if flags & bit:
            keep |= name
    _mount("none", path, "", _REMOUNT | _BIND | _RDONLY | keep)


def seal(tree: VisibleTree, memory: int, processes: int, files: int, disk: int, seconds: int) -> None:
    """Lock this forked process up for good: what follows in it may be anybody's code.

    ``memory`` bytes beyond what the fork maps already, ``disk`` bytes of scratch in memory, ``seconds``
    of processor time as a backstop. Raises OSError if the kernel refuses anything.
    """
    _become_root_of_own_namespace(_NEWNS | _NEWIPC | _NEWNET | _NEWUTS, inside=1000)
    # Should memory run out on the machine, a submission goes first, never the grader.
    _write("/proc/self/oom_score_adj", "1000")
    # Kernels that share processors between sessions give each submission one share, however many processes it starts.
    os.setsid()
    _mount("tmpfs", _SCRATCH, "tmpfs", _NOSUID | _NODEV, f"size={disk},mode=700,nr_inodes={MAX_FILES}")
    if not any(folder.startswith("/tmp/") for folder in tree.folders):  # noqa: S108
        # Where the interpreter itself lives below /tmp, covering that would hide it; TMPDIR has to do.
        _mount(_SCRATCH, "/tmp", "", _BIND)  # noqa: S108
    # What multiprocessing keeps its locks in.
    _mount(_SCRATCH, _SHARED, "", _BIND)
    _mount("tmpfs", "/proc", "tmpfs", _RDONLY | _NOSUID | _NODEV | _NOEXEC, "size=4k")
    os.chdir(_SCRATCH)
    limit(memory, files, disk, seconds)
    resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
    give_up_rights()
    filter_calls()


def limit(memory: int, files: int, disk: int, seconds: int) -> None:
    """Limit what this process may use: ``memory`` bytes beyond what the warm interpreter maps (:func:`remember_mapped`), open
    ``files``, ``disk`` bytes of one file, and ``seconds`` of processor time.
    """
    values = {
        resource.RLIMIT_AS: _mapped_bytes + memory,
        resource.RLIMIT_NOFILE: files,
        resource.RLIMIT_FSIZE: disk,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_SIGPENDING: _SIGNALS_WAITING,
    }
    for kind, value in values.items():
        _, most = resource.getrlimit(kind)
        wanted = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(kind, (wanted, wanted))


def give_up_rights() -> None:
    """Give up all capabilities; no program that is started brings any."""
    call("prctl", 38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    header = struct.pack("<Ii", 0x20080522, 0)
    call("capset", header, struct.pack("<6I", 0, 0, 0, 0, 0, 0))


_mapped_bytes = 0


def remember_mapped() -> None:
    """Note how much address space the warm interpreter maps; limits count from there. Needs /proc, so: before seal."""
    global _mapped_bytes
    with open("/proc/self/statm") as statm:
        _mapped_bytes = int(statm.read().split()[0]) * resource.getpagesize()


def probe_isolation() -> str:
    """Why this machine cannot isolate by namespaces; empty if it can. Tries it in a process that ends at once."""
    folder = tempfile.mkdtemp(prefix="isolation-")
    try:
        # All of it: a machine may allow the namespaces and refuse the mounts, as AppArmor does in containers.
        refused = refused_in_child(lambda: _try(folder))
    finally:
        os.rmdir(folder)
    return refused and f"the kernel refuses user namespaces ({refused})"


def _try(root: str) -> None:
    tree = shown((), ())
    confine(root, tree)
    refused = refused_in_child(lambda: seal(tree, 1 << 40, 10, 100, 1 << 20, 60))
    if refused:
        raise OSError(errno.EPERM, refused)


def refused_in_child(do: Callable[[], object]) -> str:
    """Call ``do`` in a fork, which ends then. Returns the error that the kernel gave; empty if it gave none."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            do()
        except BaseException as error:
            os.write(theirs, str(getattr(error, "strerror", None) or error).encode()[:1_000])
        finally:
            os._exit(0)
    os.close(theirs)
    with open(ours, encoding="utf-8", errors="replace") as pipe:
        refused = pipe.read()
    _, status = os.waitpid(child, 0)
    if status and not refused:
        return f"it ended a process with status {status}"
    return refused
