"""Measures from outside the memory of a submission, and its disk if its scratch folder is an ordinary one."""

from __future__ import annotations

import contextlib
import math
import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path

__all__ = [
    "MAX_FILES",
    "family",
    "mapped_bytes",
    "memory_mb",
    "processor_seconds",
    "resident_mb",
    "scratch_bytes",
    "stat_of",
]

MAX_FILES = 20_000
"""Files in a scratch folder: an empty one takes a kilobyte that no limit on sizes counts."""

_DELETED = re.compile(rb"^\S+ \S+ \S+ (\S+) (\d+) +(.*) \(deleted\)$", re.MULTILINE)


def scratch_bytes(folder: str, processes: Iterable[int], most: int) -> int:
    """The bytes on disk below ``folder``, and of deleted files that these processes still hold.

    Looks no further than ``most`` bytes or :data:`MAX_FILES` files; beyond, and if a learner made folders that cannot be
    looked into by their names, it is more than ``most``. ``most`` is also what one file may have.
    """
    total = _below(folder, most)
    held: dict[tuple[int, int], int] = {}
    for process in processes:
        if total + sum(held.values()) <= most:
            _note_deleted(process, os.fsencode(os.path.realpath(folder)), most, held)
    return total + sum(held.values())


def _below(folder: str, most: int) -> int:
    total = files = 0
    waiting = [os.fsencode(folder)]
    while waiting:
        place = waiting.pop()
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    files += 1
                    if files > MAX_FILES or total > most:
                        return most + 1
                    with contextlib.suppress(FileNotFoundError):
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except (FileNotFoundError, PermissionError):
            continue  # gone, or closed by the learner, who cannot open it again either
        except OSError:
            return most + 1  # a path longer than the system takes
    return total


def _note_deleted(process: int, folder: bytes, most: int, held: dict[tuple[int, int], int]) -> None:
    """The deleted files of one process, by device and inode: they take room, and no folder lists them."""
    mapped: set[tuple[int, int]] = set()
    with contextlib.suppress(OSError), open(f"/proc/{process}/maps", "rb") as maps:
        for device, inode, path in _DELETED.findall(maps.read()):
            if path.startswith(folder + b"/"):
                major, minor = (int(part, 16) for part in device.split(b":"))
                mapped.add((os.makedev(major, minor), int(inode)))
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = os.listdir(f"/proc/{process}/fd")
    for name in names:
        with contextlib.suppress(OSError):
            found = os.stat(f"/proc/{process}/fd/{name}")
            if stat.S_ISREG(found.st_mode) and not found.st_nlink:
                held[found.st_dev, found.st_ino] = found.st_blocks * 512
    # Of one that is mapped and no longer open nobody can tell how large it is: as large as a file may be.
    held.update(dict.fromkeys(mapped - held.keys(), most))


def memory_mb(processes: Iterable[int], most: float = math.inf) -> float:
    """The proportional memory of these processes together, beyond what the warm interpreter shares with them.

    Adds up no further than to more than ``most``: each process takes milliseconds.
    """
    total = 0.0
    channels: set[str] = set()
    for process in processes:
        with contextlib.suppress(OSError, ValueError):
            total += _own_memory_mb(process)
            channels |= _channels_of(process)
        if total > most:
            break
    return total + len(channels) * _CHANNEL_MB


def resident_mb(pid: int) -> float:
    """The memory of one process without that of files, as everybody may read it in microseconds; 0 if it is gone.

    What a process shares with the one that forked it counts in both.
    """
    try:
        with open(f"/proc/{pid}/statm", "rb", 0) as statm:
            _, resident, shared, *_ = map(int, statm.read().split())
    except (OSError, ValueError):
        return 0.0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE") / 2**20


def stat_of(pid: int) -> list[bytes]:
    """The fields of a process or a thread in /proc/PID/stat, from its state on (proc(5)); zeros if it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return [b"0"] * 50
    # The program's name, in brackets, may hold anything.
    return text[text.rindex(b")") + 1 :].split()


def mapped_bytes(pid: int) -> int:
    """The bytes of a process's address space."""
    return int(stat_of(pid)[20])


def processor_seconds(pid: int) -> float:
    """The seconds of processor time that a process has used."""
    user, system = stat_of(pid)[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """A process and all living processes that descend from it. This takes microseconds if there are none."""
    members = [pid]
    for process in members:
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{process}/task"):
                members += map(int, Path(f"/proc/{process}/task/{task}/children").read_bytes().split())
    return members


_FEW_FILES = 40
_CHANNEL_MB = 0.3
"""Kernel memory behind a full socket of the usual size; it shows in no process. Full pipes hold less."""


def _channels_of(pid: int) -> set[str]:
    """The sockets and pipes that a process holds, if it holds more than a few files."""
    folder = f"/proc/{pid}/fd"
    names = os.listdir(folder)
    targets: set[str] = set()
    if len(names) <= _FEW_FILES:
        return targets
    for name in names:
        with contextlib.suppress(OSError):
            targets.add(os.readlink(f"{folder}/{name}"))
    return {target for target in targets if target.startswith(("socket:", "pipe:"))}


def _own_memory_mb(pid: int) -> float:
    """The memory of a process, with its share of what it has in common with others."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except PermissionError:
        # A process that hides itself is counted by what everybody may read, which is more than its share.
        return resident_mb(pid)
    counted = (line.split()[1] for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:", "SwapPss:")))
    return sum(int(number) for number in counted) / 1024
