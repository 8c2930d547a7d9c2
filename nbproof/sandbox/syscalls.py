"""System calls: how one is made that Python does not have, and the filter on them (seccomp), as rules by their names.

There is one filter for both levels of isolation. Where namespaces are refused it refuses more calls, because a submission then
sees the files, sockets and processes of the user who grades.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Sequence

__all__ = ["ARCHITECTURES", "NAMES", "NEWEST", "NUMBERS", "ask", "call", "filter_calls", "numbers_on", "rules_of"]

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_X86, _ARM = "x86_64", "aarch64"
_TRUNCATES = 3
"""From this ABI on Landlock looks at truncate."""

_libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: object, about: str = "") -> int:
    """Call the C library's function of this name. Raises OSError if the kernel refuses; the error names ``about``, or it.

    An ``int`` is passed as C's ``int``; a wider argument has to say so (``ctypes.c_ulong``).
    """
    result = int(getattr(_libc, name)(*arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{about or name}: {os.strerror(number)}")
    return result


# name: number on x86-64, number on arm64; one number where it is the same; a dash where there is no such call.
NUMBERS = """
accept 43 202, accept4 288 242, acct 163 89, add_key 248 217, bind 49 200, bpf 321 280, chmod 90 -,
chown 92 -, chroot 161 51, clock_getres 229 114, clock_gettime 228 113, clock_nanosleep 230 115, clone 56 220,
clone3 435, connect 42 203, delete_module 176 106, fadvise64 221 223, fanotify_init 300 262, fchmod 91 52,
fchmodat 268 53, fchown 93 55, fchownat 260 54, fcntl 72 25, fgetxattr 193 10, finit_module 313 273,
flistxattr 196 13, flock 73 32, fork 57 -, fremovexattr 199 16, fsconfig 431, fsetxattr 190 7, fsmount 432,
fsopen 430, fstatfs 138 44, futex 202 98, futimesat 261 -, get_mempolicy 239 236, get_robust_list 274 100,
getpgid 121 155, getpriority 140 141, getsid 124 156, getxattr 191 8, init_module 175 105, inotify_init 253 -,
inotify_init1 294 26, io_setup 206 0, io_uring_enter 426, io_uring_register 427, io_uring_setup 425, ioctl 16 29,
ioprio_get 252 31, ioprio_set 251 30, kcmp 312 272, kexec_file_load 320 294, kexec_load 246 104, keyctl 250 219,
kill 62 129, lchown 94 -, lgetxattr 192 9, listen 50 201, listxattr 194 11, llistxattr 195 12, lookup_dcookie 212 18,
lremovexattr 198 15, lsetxattr 189 6, madvise 28 233, mbind 237 235, memfd_create 319 279, migrate_pages 256 238,
mincore 27 232, mmap 9 222, mount 165 40, mount_setattr 442, move_mount 429, move_pages 279 239, mq_getsetattr 245 185,
mq_notify 244 184, mq_open 240 180, mq_timedreceive 243 183, mq_timedsend 242 182, mq_unlink 241 181, msgctl 71 187,
msgget 68 186, msgrcv 70 188, msgsnd 69 189, name_to_handle_at 303 264, open 2 -, open_by_handle_at 304 265,
open_tree 428, openat 257 56, openat2 437, perf_event_open 298 241, personality 135 92, pidfd_getfd 438,
pidfd_open 434, pidfd_send_signal 424, pivot_root 155 41, prctl 157 167, preadv2 327 286, prlimit64 302 261,
process_madvise 440, process_vm_readv 310 270, process_vm_writev 311 271, ptrace 101 117, pwritev2 328 287,
quotactl 179 60, quotactl_fd 443, readahead 187 213, reboot 169 142, removexattr 197 14, request_key 249 218,
rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240, sched_getaffinity 204 123, sched_getattr 315 275,
sched_getparam 143 121, sched_getscheduler 145 120, sched_rr_get_interval 148 127, sched_setaffinity 203 122,
sched_setattr 314 274, sched_setparam 142 118, sched_setscheduler 144 119, semctl 66 191, semget 64 190, semop 65 193,
semtimedop 220 192, sendmmsg 307 269, sendmsg 46 211, setns 308 268, setpgid 109 154, setpriority 141 140,
setsid 112 157, setsockopt 54 208, setxattr 188 5, shmat 30 196, shmctl 31 195, shmget 29 194, socket 41 198,
socketpair 53 199, statfs 137 43, swapon 167 224, sync 162 81, sync_file_range 277 84, syncfs 306 267, sysinfo 99 179,
syslog 103 116, tgkill 234 131, timer_create 222 107, tkill 200 130, truncate 76 45, umount2 166 39, unshare 272 97,
userfaultfd 323 282, ustat 136 -, utime 132 -, utimensat 280 88, utimes 235 -, vfork 58 -, vmsplice 278 75
"""


def numbers_on(machine: str) -> dict[str, int]:
    """The numbers of the calls on a machine, such as ``x86_64``: name -> number."""
    numbers = {}
    for entry in NUMBERS.split(","):
        words = entry.split()
        number = words[-1] if machine == _ARM else words[1]
        if number != "-":
            numbers[words[0]] = int(number)
    return numbers


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


NAMES = numbers_on(platform.machine())
"""The numbers of the calls that the filters know, on this machine."""

# What no lesson needs and what reaches far: other processes' memory, kernel objects outside every limit (memfd, shared
# memory, message queues, keys), new namespaces and mounts, tracing, raw kernel interfaces. And what tells of others, or
# keeps them waiting: which pages are in memory, how much the machine has left, a timer out of the user's store.
_REFUSED = _words("""
acct add_key bpf chroot delete_module fanotify_init finit_module fsconfig fsmount fsopen fstatfs get_mempolicy
init_module inotify_init inotify_init1 io_setup io_uring_enter io_uring_register io_uring_setup kcmp kexec_file_load
kexec_load keyctl lookup_dcookie mbind memfd_create migrate_pages mincore mount mount_setattr move_mount move_pages
mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink msgctl msgget msgrcv msgsnd name_to_handle_at
open_by_handle_at open_tree perf_event_open personality pidfd_getfd pivot_root process_madvise process_vm_readv
process_vm_writev ptrace quotactl quotactl_fd reboot request_key semctl semget semop semtimedop setns setsid shmat
shmctl shmget statfs swapon sync syncfs sysinfo syslog timer_create umount2 unshare userfaultfd ustat vmsplice
""")
_WITHOUT_EFFECT = _words("""
fadvise64 flock readahead sync_file_range
""")
"""They say that they did it: advice costs nobody anything, and nobody shares a submission's own files."""

# Where files of the one who grades are in sight, and their processes and sockets: what Landlock does not look at.
_REFUSED_WITHOUT_NAMESPACES = _words("""
accept accept4 bind chown connect fchown fchownat get_robust_list ioprio_get ioprio_set lchown listen
pidfd_open pidfd_send_signal rt_sigqueueinfo rt_tgsigqueueinfo sendmmsg sendmsg setpgid socket
""")
_NOT_SUPPORTED = _words("""
fgetxattr flistxattr fremovexattr fsetxattr getxattr lgetxattr listxattr llistxattr lremovexattr lsetxattr removexattr
setxattr
""")
_WITHOUT_EFFECT_WITHOUT_NAMESPACES = _words("""
chmod fchmod fchmodat futimesat utime utimensat utimes
""")
"""They, too: shutil.copy and tarfile would stop otherwise, though the copy is there."""
_OF_ITSELF_ONLY = _words("""
getpgid getsid prlimit64 sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity
sched_setattr sched_setparam sched_setscheduler
""")
"""Their first argument is a process; 0 is oneself."""
_OF_A_CLOCK = _words("""
clock_getres clock_gettime clock_nanosleep
""")
"""Their first argument is a clock; a negative one is what a process has used."""

NEWEST = 446
"""The last call of Linux 5.13, the oldest that isolates without namespaces: no program can rely on a newer one."""

_NEW_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_CLONE_FILES, _CLONE_PARENT, _CLONE_THREAD = 0x400, 0x8000, 0x10000
_SET_DUMPABLE, _SET_CHILD_SUBREAPER = 4, 36
_SNDBUF, _SNDBUFFORCE = 7, 32
# DUPFD, GETFD, SETFD, GETFL, SETFL, DUPFD_CLOEXEC, GETPIPE_SZ: nothing that others notice, or wait for.
_FCNTL_ALLOWED = (0, 1, 2, 3, 4, 1030, 1032)
# GETLK, SETLK, SETLKW, and the same of open files.
_FCNTL_LOCKS = (5, 6, 7, 36, 37, 38)
# TCGETS (isatty), TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: all that Python asks of its own files.
_IOCTL_ALLOWED = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# NORMAL, RANDOM, SEQUENTIAL, DONTNEED, FREE, REMOVE, DONTFORK, DOFORK, HUGEPAGE, NOHUGEPAGE, DONTDUMP, DODUMP, WIPEONFORK,
# KEEPONFORK, GUARD_INSTALL, GUARD_REMOVE: what allocators say of memory of their own.
_MADVISE_ALLOWED = (0, 1, 2, 4, 8, 9, 10, 11, 14, 15, 16, 17, 18, 19, 102, 103)
_PRIVATE_FUTEX, _HUGE_PAGES = 128, 0x40000
_AF_UNIX, _STREAM, _SEQPACKET, _KIND = 1, 1, 5, 0xF
_ACCESS, _TRUNCATE = 3, 0x200

_ALLOW, _KILL, _ERRNO, _NOTIFY = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000
_EPERM, _EINVAL, _ENOTTY, _ENOSYS, _ENOTSUP = _ERRNO | 1, _ERRNO | 22, _ERRNO | 25, _ERRNO | 38, _ERRNO | 95
_DONE = _ERRNO
"""The error number 0: the call says that it did it, and was not made."""
_LOAD, _AND, _EQUAL, _AT_LEAST, _ANY_BIT, _END = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06

_Line = tuple[int, int, int, int]


def _argument(number: int) -> _Line:
    # The lower half: all arguments that are looked at here are 32 bits wide to the kernel.
    return (_LOAD, 0, 0, 16 + 8 * number)


def _end(action: int) -> _Line:
    return (_END, 0, 0, action)


def _one_of(number: int, values: Sequence[int], then: int, otherwise: int) -> list[_Line]:
    """``then`` if the argument is one of ``values``."""
    last = len(values)
    tests = [(_EQUAL, last - place, 0, value) for place, value in enumerate(values)]
    return [_argument(number), *tests, _end(otherwise), _end(then)]


def _if_one_of(number: int, values: Sequence[int], then: int) -> list[_Line]:
    """``then`` if the argument is one of ``values``; otherwise the rule goes on."""
    lines = [_argument(number)]
    for value in values:
        lines += [(_EQUAL, 0, 1, value), _end(then)]
    return lines


def _clone(refused: int, good: int) -> list[_Line]:
    """No new namespaces, no child of one's parent; and threads have one table of files, which the engine looks at."""
    return [
        _argument(0),
        (_ANY_BIT, 0, 1, refused),
        _end(_EPERM),
        (_ANY_BIT, 0, 2, _CLONE_THREAD),
        (_ANY_BIT, 1, 0, _CLONE_FILES),
        _end(_EPERM),
        _end(good),
    ]


def rules_of(abi: int | None) -> dict[str, list[_Line]]:
    """The rule for each call that is not simply allowed: its name -> lines of the filter.

    ``abi``: Landlock's, if it stands in for namespaces; None if there are namespaces.
    """
    refused = list(_REFUSED)
    without_effect = list(_WITHOUT_EFFECT)
    rules = {
        # glibc falls back to clone where clone3 is unknown; clone's flags can be looked at.
        "clone3": [_end(_ENOSYS)],
        "clone": _clone(_NEW_NAMESPACES, _ALLOW),
        "socket": _one_of(0, [_AF_UNIX], _ALLOW, _EPERM),
        # A socket's buffer is kernel memory that shows in no process: it keeps its usual size.
        "setsockopt": _one_of(2, [_SNDBUF, _SNDBUFFORCE], _EPERM, _ALLOW),
        # A process that is not dumpable hides its memory from the engine, which adds it up.
        "prctl": _one_of(0, [_SET_DUMPABLE], _EPERM, _ALLOW),
        # It can ask whether a path was looked up before, by anybody.
        "openat2": [_end(_ENOSYS)],
        "ioctl": _one_of(1, _IOCTL_ALLOWED, _ALLOW, _ENOTTY),
        "fcntl": [*_if_one_of(1, _FCNTL_LOCKS, _DONE), *_one_of(1, _FCNTL_ALLOWED, _ALLOW, _EPERM)],
        "madvise": _one_of(2, _MADVISE_ALLOWED, _ALLOW, _DONE),
        # Their flags ask what is in memory, and what is not.
        "preadv2": _one_of(5, [0], _ALLOW, _ENOTSUP),
        "pwritev2": _one_of(5, [0], _ALLOW, _ENOTSUP),
        # One that is not private may lie in a file that others map, and tells how many it woke. A thread that waits looks
        # again: it cannot know that it was not woken. So pthread_join goes on working, though it does not rest meanwhile.
        "futex": [_argument(1), (_ANY_BIT, 1, 0, _PRIVATE_FUTEX), _end(_DONE), _end(_ALLOW)],
        # The machine has a store of them, or none. Transparent ones need no store.
        "mmap": [_argument(3), (_ANY_BIT, 0, 1, _HUGE_PAGES), _end(_EPERM), _end(_ALLOW)],
    }
    if abi is not None:
        refused += _REFUSED_WITHOUT_NAMESPACES
        without_effect += _WITHOUT_EFFECT_WITHOUT_NAMESPACES
        oneself = [0, os.getpid()]
        rules |= {name: [_end(_ENOTSUP)] for name in _NOT_SUPPORTED}
        rules |= {name: _one_of(0, oneself, _ALLOW, _EPERM) for name in _OF_ITSELF_ONLY}
        rules |= {name: [_argument(0), (_AT_LEAST, 0, 1, 1 << 31), _end(_EINVAL), _end(_ALLOW)] for name in _OF_A_CLOCK}
        priority = [_argument(0), (_EQUAL, 1, 0, 0), _end(_EPERM), *_one_of(1, oneself, _ALLOW, _EPERM)]
        rules |= {
            "clone": _clone(_NEW_NAMESPACES | _CLONE_PARENT, _ALLOW),
            "prctl": _one_of(0, [_SET_DUMPABLE, _SET_CHILD_SUBREAPER], _EPERM, _ALLOW),
            "getpriority": priority,
            "setpriority": priority,
            # As if unknown: glibc asks it to describe a thread's stack, and can do without.
            "sched_getaffinity": _one_of(0, oneself, _ALLOW, _ENOSYS),
            # Connected to each other for ever; a datagram socket could send to any address.
            "socketpair": [
                _argument(0),
                (_EQUAL, 1, 0, _AF_UNIX),
                _end(_EPERM),
                _argument(1),
                (_AND, 0, 0, _KIND),
                (_EQUAL, 2, 0, _STREAM),
                (_EQUAL, 1, 0, _SEQPACKET),
                _end(_EPERM),
                _end(_ALLOW),
            ],
        }
        rules.pop("socket")
        if abi < _TRUNCATES:
            refused.append("truncate")
            rules |= {"open": _no_truncation_by_reading(1), "openat": _no_truncation_by_reading(2)}
    rules |= {name: [_end(_DONE)] for name in without_effect}
    return rules | {name: [_end(_EPERM)] for name in refused}


def _no_truncation_by_reading(flags: int) -> list[_Line]:
    """O_RDONLY | O_TRUNC empties a file that may only be read."""
    return [
        _argument(flags),
        (_AND, 0, 0, _ACCESS | _TRUNCATE),
        (_EQUAL, 0, 1, _TRUNCATE),
        _end(_EPERM),
        _end(_ALLOW),
    ]


def filter_calls(abi: int | None = None) -> None:
    """Install the filter for good. Raises OSError if the kernel refuses."""
    _install(_program(rules_of(abi)), 0)


def ask() -> int:
    """Let another process decide about signals, if Landlock does not do so. Returns the descriptor for its decisions."""
    program = _program({name: [_end(_NOTIFY)] for name in ("kill", "tkill", "tgkill")})
    try:
        return _install(program, _LISTEN | _WAIT_KILLABLE)
    except OSError:
        # Linux before 5.19: a signal may interrupt the call while it waits for the answer, too.
        return _install(program, _LISTEN)


def _program(rules: dict[str, list[_Line]]) -> list[_Line]:
    program: list[_Line] = [
        (_LOAD, 0, 0, 4),  # the architecture
        (_EQUAL, 1, 0, ARCHITECTURES[platform.machine()]),
        _end(_KILL),
        (_LOAD, 0, 0, 0),  # the system call's number
        # What came later, and x32, which has other numbers for the same calls, is unknown here.
        (_AT_LEAST, 0, 1, NEWEST + 1),
        _end(_ENOSYS),
    ]
    for name, body in rules.items():
        if name in NAMES:
            program += [(_EQUAL, 0, len(body), NAMES[name]), *body]
    return [*program, _end(_ALLOW)]


_LISTEN, _WAIT_KILLABLE = 8, 32
"""The filter asks a listener about a call. Once the listener has the question, only a fatal signal interrupts the call."""
_SECCOMP = {_X86: 317, _ARM: 277}


def _install(program: list[_Line], flags: int) -> int:
    code = b"".join(struct.pack("<HBBI", *line) for line in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    whole = struct.pack("@HP", len(program), ctypes.addressof(buffer))
    number = ctypes.c_long(_SECCOMP[platform.machine()])
    return call("syscall", number, ctypes.c_uint(1), ctypes.c_uint(flags), whole, about="seccomp")
