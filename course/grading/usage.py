"""How much disk a submission uses where its scratch folder is an ordinary one: watched from outside, as memory is."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable

__all__ = ["MAX_FILES", "scratch_bytes"]

MAX_FILES = 20_000
"""Files in a scratch folder: an empty one takes a kilobyte that no limit on sizes counts."""

_DELETED = re.compile(rb"^\S+ \S+ \S+ (\S+) (\d+) +(.*) \(deleted\)$", re.MULTILINE)


def scratch_bytes(folder: str, processes: Iterable[int], most: int) -> int:
    """Bytes on disk below ``folder``, and of files that were deleted and are held by these processes.

    Looks no further than ``most`` bytes or :data:`MAX_FILES` files; beyond, and where a learner made folders that cannot be
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
    for key in mapped - held.keys():
        held[key] = most
