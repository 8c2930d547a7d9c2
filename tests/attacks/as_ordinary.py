"""Become an ordinary user, for good, and run a command: ``python as_ordinary.py UID COMMAND ...``, as root.

The interpreter may lie below a folder that only root may enter, such as /root. In a mount namespace of its own,
which ends with the command, such a folder is covered by an empty one that holds what the command needs, and no more.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys

_NEWNS, _BIND, _REC, _PRIVATE = 0x00020000, 4096, 16384, 1 << 18
_libc = ctypes.CDLL(None, use_errno=True)


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    words = [word.encode() if word is not None else None for word in (source, target, kind)]
    if _libc.mount(*words, ctypes.c_ulong(flags), options.encode() if options else None) < 0:
        raise OSError(ctypes.get_errno(), f"mount {target}")


def _closed_folder(path: str) -> str:
    """The first folder on the way to ``path`` that others may not enter; empty where there is none."""
    place = "/"
    for part in path.strip("/").split("/"):
        place = os.path.join(place, part)
        if os.path.isdir(place) and not os.stat(place).st_mode & stat.S_IXOTH:
            return place
    return ""


def open_the_way(paths: list[str]) -> None:
    """Make every path reachable for others, in this mount namespace only. Raises OSError where the kernel refuses."""
    if _libc.unshare(_NEWNS) < 0:
        raise OSError(ctypes.get_errno(), "unshare")
    _mount("none", "/", None, _REC | _PRIVATE)
    os.umask(0o022)
    wanted = {path: _closed_folder(path) for path in sorted({os.path.realpath(path) for path in paths})}
    held = {path: os.open(path, os.O_PATH) for path, closed in wanted.items() if closed}
    for closed in sorted(set(wanted.values()) - {""}):
        _mount("tmpfs", closed, "tmpfs", 0, "mode=755")
    for path, descriptor in held.items():
        os.makedirs(path, exist_ok=True)
        _mount(f"/proc/self/fd/{descriptor}", path, None, _BIND | _REC)
        os.close(descriptor)


def main() -> None:
    """Exit status 77 says that this machine does not let root do it."""
    uid = int(sys.argv[1])
    try:
        here = os.path.dirname(os.path.abspath(__file__))
        root = os.path.dirname(os.path.dirname(here))
        ours = [os.path.join(root, name) for name in ("course", "nbproof")]
        open_the_way([sys.prefix, sys.base_prefix, here, *ours])
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    except OSError as error:
        print(f"this machine does not let root become an ordinary user here: {error}", file=sys.stderr)
        sys.exit(77)
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
