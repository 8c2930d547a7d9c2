"""Landlock, the kernel's sandbox that needs no right: it says which files a process may open. Linux 5.13 and later.

What it does not look at is refused by the filter on system calls (:mod:`nbproof.sandbox.syscalls`).
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Sequence

from nbproof.sandbox.syscalls import call

__all__ = ["NEWEST", "SIGNALS", "abi", "restrict"]

NEWEST = 6
"""The newest ABI that is used here: later ones add no right over anything that learners' code could reach."""
_NETWORK = 4
"""From this ABI on Landlock looks at TCP."""
SIGNALS = 6
"""From this ABI on Landlock looks at signals and abstract sockets."""

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_FILES = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
"""Rights on files by the ABI that brought them: 13 of them; refer; truncate; ioctl on devices."""
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14 | 1 << 15
"""Those that a rule about a single file may name."""
_TCP, _SCOPED = 3, 3
"""Bind and connect; abstract sockets and signals."""


def _syscall(number: int, *arguments: object) -> int:
    return call("syscall", ctypes.c_long(number), *arguments, about="landlock")


def abi() -> int:
    """The kernel's ABI, at most :data:`NEWEST`; 0 if it has no Landlock, or if the container refuses the question."""
    try:
        found = min(_syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1)), NEWEST)
    except OSError:
        return 0
    # For tests: as an older kernel would have it. Learners' code is not there yet.
    return min(found, int(os.environ.get("COURSE_LANDLOCK_ABI") or NEWEST))


def restrict(shown: Sequence[str], listed: Sequence[str], devices: Sequence[str], own: str) -> None:
    """Let this process read and run only what is ``shown``, read and write ``devices``, and use the folder ``own`` freely.

    It may read the names of the files in folders that are ``listed``. Nothing else can be opened, listed, made or removed; no
    TCP, no abstract socket and no signal leaves, as far as the kernel's ABI goes. It needs no_new_privs. Raises OSError if the
    kernel refuses.
    """
    known = abi()
    files = sum(bits for since, bits in _FILES.items() if known >= since)
    attributes = struct.pack("<Q", files)
    if known >= _NETWORK:
        attributes += struct.pack("<Q", _TCP)
    if known >= SIGNALS:
        attributes += struct.pack("<Q", _SCOPED)
    rules = _syscall(_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    try:
        for path in shown:
            _allow(rules, path, (_EXECUTE | _READ_FILE | _READ_DIR) & files)
        for path in listed:
            _allow(rules, path, _READ_DIR)
        for path in devices:
            _allow(rules, path, (_READ_FILE | _WRITE_FILE) & files)
        _allow(rules, own, files & ~(_MAKE_CHAR | _MAKE_BLOCK))
        _syscall(_RESTRICT, rules, ctypes.c_uint32(0))
    finally:
        os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    """Add a rule that gives these rights on a path, if it is there."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _OF_FILES
        _syscall(_ADD, rules, ctypes.c_int(1), struct.pack("<Qi", rights, descriptor), ctypes.c_uint32(0))
    finally:
        os.close(descriptor)
