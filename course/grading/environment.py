"""What a verdict depends on besides the lesson and the submission: interpreter, libraries, and the code that grades.

Imports nothing heavy: a cluster's scheduler imports it too.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from importlib import metadata
from pathlib import Path

__all__ = ["environment", "versions"]


def _versions() -> dict[str, str]:
    found = {"Python": ".".join(platform.python_version_tuple()[:2])}
    for name in ("torch", "numpy"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "none"
    return {**found, "the course": _digest_of_code()}


def _digest_of_code() -> str:
    """Changes with whatever can change a verdict; reports and authors' tools cannot."""
    seen, folder = hashlib.sha256(), Path(__file__).parent.parent
    for path in sorted((*folder.rglob("*.py"), *folder.rglob("*.toml"))):
        place = path.relative_to(folder)
        if place.parts[0] not in ("authoring", "collecting", "reporting", "cli.py"):
            seen.update(str(place).encode() + b"\0" + path.read_bytes() + b"\0")
    return seen.hexdigest()[:12]


# When this is imported, not when it is asked: a process that goes on after `git pull` still runs the old code.
_LOADED = _versions()


def versions() -> dict[str, str]:
    """What has to be the same here and there, for a verdict to be the same."""
    return dict(_LOADED)


def environment() -> bytes:
    """Changes with the interpreter, with what is installed for it, and with the code that grades."""
    parts = [sys.version, sys.prefix, json.dumps(versions(), sort_keys=True)]
    for entry in sys.path:
        try:
            parts.append(f"{entry} {os.stat(entry).st_mtime_ns}")
        except OSError:
            continue
    return "\0".join(parts).encode()
