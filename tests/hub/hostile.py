"""What a hostile student runs in her own kernel on the hub, to read others' work, hidden checks and outputs, or to change them.

Runs there as a file of its own: ``facts`` is a JSON file with what she may know of the machine. Prints what she gained.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_DEEP = 6
Facts = dict[str, Any]
"""What she may know of the machine. Each of her ideas yields what was gained by it, and nothing if all of it was refused."""


def homes(facts: Facts) -> Iterator[str]:
    """Lists, and files whose names everybody knows."""
    for home in map(Path, facts["homes"]):
        names = ["", ".jupyter", ".jupyter/run", ".local/share/jupyter/nbgrader_cache", "pytorch_hooks"]
        names += ["pytorch_hooks/source", "pytorch_hooks/submitted", "pytorch_hooks/feedback"]
        yield from (f"listed {home / name}" for name in names if _done(os.listdir, home / name))
        names = [f"{facts['lesson']}/{facts['lesson']}.ipynb", "pytorch_hooks/gradebook.db", ".bash_history"]
        names += [f"pytorch_hooks/source/{facts['lesson']}/{facts['lesson']}.ipynb", ".jupyter/nbgrader_config.py"]
        yield from (f"read {home / name}" for name in names if _done(_read, home / name))
        yield from (f"wrote {home / name}" for name in ("x", ".bashrc") if _done(_append, home / name))


def exchange_is_kept(facts: Facts) -> Iterator[str]:
    """Others' work and feedback; the lesson that others fetch; the folders themselves."""
    exchange = Path(facts["exchange"])
    for name in ("inbound", "feedback"):
        if _done(os.listdir, exchange / name):
            yield f"listed {name}"
    known = exchange / "inbound" / facts["handed_in"]
    ways: dict[str, Callable[[], object]] = {
        "renamed the course": lambda: exchange.rename(exchange.with_name("mine")),
        "removed what another handed in": lambda: known.rename(exchange / "inbound" / "gone"),
        "changed what another handed in": lambda: _append(known / f"{facts['lesson']}.ipynb"),
        "changed the lesson": lambda: _append(exchange / "outbound" / facts["lesson"] / f"{facts['lesson']}.ipynb"),
        "removed the lesson": lambda: shutil.rmtree(exchange / "outbound" / facts["lesson"]),
        "added a lesson": lambda: (exchange / "outbound" / "07_mine").mkdir(),
        "added feedback": lambda: _append(exchange / "feedback" / "x.html"),
    }
    yield from (what for what, way in ways.items() if _done(way))


def hidden_checks(facts: Facts) -> Iterator[str]:
    """Every file that she can read where the course lies: does a line of a hidden check stand in it?"""
    wanted = set(facts["hidden"])
    for place in (*facts["packages"], facts["exchange"]):
        for folder, _, names in os.walk(place):
            for name in names:
                with contextlib.suppress(OSError, UnicodeDecodeError):
                    if re.search(r"\.(py|ipynb|json|toml|html|txt|zip)$", name):
                        text = Path(folder, name).read_text().replace("\\n", "\n").replace('\\"', '"')
                        lines = {line.strip(' \t",') for line in text.splitlines()}
                        if wanted & {hashlib.sha256(line.encode()).hexdigest() for line in lines}:
                            yield f"a hidden check in {folder}/{name}"


def processes(facts: Facts) -> Iterator[str]:
    """Others' environment (tokens), memory, open files, working folders."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            owner = _others(facts).get(entry.stat().st_uid) if int(entry.name) else None
            if owner is None:
                continue
            yield from (f"{owner}: {name}" for name in ("environ", "mem", "maps") if _done(_read, entry / name))
            yield from (f"{owner}: {name}" for name in ("fd", "map_files") if _done(os.listdir, entry / name))
            yield from (f"{owner}: {name}" for name in ("cwd", "root", "exe") if _done(os.readlink, entry / name))
            said = (entry / "cmdline").read_bytes().decode(errors="replace")
            if re.search(r"token|secret|password", said, re.IGNORECASE):
                yield f"{owner}: {said}"


def sockets(facts: Facts) -> Iterator[str]:
    """Unix sockets of others' kernels, where they lie."""
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        path = line.split(maxsplit=7)[7:]
        if path and any(path[0].startswith(home) for home in facts["homes"]):
            with socket.socket(socket.AF_UNIX) as one:
                if _done(one.connect, path[0]):
                    yield f"reached {path[0]}"


def left_lying(facts: Facts) -> Iterator[str]:
    """Others' files in folders that everybody uses."""
    for place in ("/tmp", "/var/tmp", "/dev/shm"):
        for folder, folders, names in os.walk(place):
            if folder.count("/") > _DEEP:
                folders.clear()
            for name in names:
                path = Path(folder, name)
                with contextlib.suppress(OSError):
                    there = path.lstat()
                    # What lay there before these users were made is nobody's of the class.
                    ours = there.st_uid in _others(facts) and there.st_ctime >= facts["since"]
                    if ours and not path.is_symlink() and _done(_read, path):
                        yield f"read {path}"


def forge(facts: Facts) -> None:
    """Into the inbound folder: work under another's name, a name that cannot be read, folders that are links, an early date."""
    inbound, lesson = Path(facts["exchange"], "inbound"), facts["lesson"]
    me, (victim, *_) = os.environ["USER"], facts["others"].values()
    theirs = inbound / f"{victim}+{lesson}+2098-01-01 00:00:00.000000 UTC+forged"
    theirs.mkdir()
    (theirs / f"{lesson}.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    (inbound / f"{me}+{lesson}+no date at all").mkdir()
    (inbound / f"{me}+{lesson}+2099-01-01 00:00:00.000000 UTC+linked").symlink_to(Path(facts["source"], lesson))
    link(facts, "2001-01-01 00:00:00.000000 UTC+early")


def link(facts: Facts, when: str) -> None:
    """Hand in links to the instructor's notebook and gradebook: whoever follows them has the instructor's rights."""
    place = Path(facts["exchange"], "inbound", f"{os.environ['USER']}+{facts['lesson']}+{when}")
    place.mkdir()
    (place / f"{facts['lesson']}.ipynb").symlink_to(Path(facts["source"], facts["lesson"], f"{facts['lesson']}.ipynb"))
    (place / "data").symlink_to(Path(facts["source"]))
    os.mkfifo(place / "pipe")


def _others(facts: Facts) -> dict[int, str]:
    return {int(uid): name for uid, name in facts["others"].items()}


def _done(way: Callable[..., object], *what: object) -> bool:
    try:
        way(*what)
    except (OSError, ValueError):
        return False
    return True


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(1)


def _append(path: Path) -> None:
    with path.open("a") as file:
        file.write("\n")


def main() -> None:
    """``hostile.py FACTS [forge | WHEN]``."""
    facts = json.loads(Path(sys.argv[1]).read_text())
    os.umask(0o022)  # what she hands in can be read, as it is if nbgrader hands it in
    if sys.argv[2:] == ["forge"]:
        forge(facts)
    elif sys.argv[2:]:
        link(facts, sys.argv[2])
    else:
        ideas = (homes, exchange_is_kept, hidden_checks, processes, sockets, left_lying)
        print("gained", json.dumps({idea.__name__: list(idea(facts)) for idea in ideas}))


if __name__ == "__main__":
    main()
