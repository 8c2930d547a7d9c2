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


class Hostile:
    """One method an idea; each yields what was gained by it, and nothing if all of it was refused."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts = facts
        self.others = {int(uid): name for uid, name in facts["others"].items()}
        self.exchange = Path(facts["exchange"])
        self.lesson = str(facts["lesson"])

    def homes(self) -> Iterator[str]:
        """Lists, and files whose names everybody knows."""
        for home in map(Path, self.facts["homes"]):
            names = ["", ".jupyter", ".jupyter/run", ".local/share/jupyter/nbgrader_cache", "pytorch_hooks"]
            names += ["pytorch_hooks/source", "pytorch_hooks/submitted", "pytorch_hooks/feedback"]
            yield from (f"listed {home / name}" for name in names if _done(os.listdir, home / name))
            names = [f"{self.lesson}/{self.lesson}.ipynb", "pytorch_hooks/gradebook.db", ".bash_history"]
            names += [f"pytorch_hooks/source/{self.lesson}/{self.lesson}.ipynb", ".jupyter/nbgrader_config.py"]
            yield from (f"read {home / name}" for name in names if _done(_read, home / name))
            yield from (f"wrote {home / name}" for name in ("x", ".bashrc") if _done(_append, home / name))

    def exchange_is_kept(self) -> Iterator[str]:
        """Others' work and feedback; the lesson that others fetch; the folders themselves."""
        for name in ("inbound", "feedback"):
            if _done(os.listdir, self.exchange / name):
                yield f"listed {name}"
        known = self.exchange / "inbound" / self.facts["handed_in"]
        ways: dict[str, Callable[[], object]] = {
            "renamed the course": lambda: self.exchange.rename(self.exchange.with_name("mine")),
            "removed what another handed in": lambda: known.rename(self.exchange / "inbound" / "gone"),
            "changed what another handed in": lambda: _append(known / f"{self.lesson}.ipynb"),
            "changed the lesson": lambda: _append(self.exchange / "outbound" / self.lesson / f"{self.lesson}.ipynb"),
            "removed the lesson": lambda: shutil.rmtree(self.exchange / "outbound" / self.lesson),
            "added a lesson": lambda: (self.exchange / "outbound" / "07_mine").mkdir(),
            "added feedback": lambda: _append(self.exchange / "feedback" / "x.html"),
        }
        yield from (what for what, way in ways.items() if _done(way))

    def hidden_checks(self) -> Iterator[str]:
        """Every file that she can read where the course lies: does a line of a hidden check stand in it?"""
        wanted = set(self.facts["hidden"])
        for place in (*self.facts["packages"], str(self.exchange)):
            for folder, _, names in os.walk(place):
                for name in names:
                    with contextlib.suppress(OSError, UnicodeDecodeError):
                        if re.search(r"\.(py|ipynb|json|toml|html|txt|zip)$", name):
                            text = Path(folder, name).read_text().replace("\\n", "\n").replace('\\"', '"')
                            lines = {line.strip(' \t",') for line in text.splitlines()}
                            if wanted & {hashlib.sha256(line.encode()).hexdigest() for line in lines}:
                                yield f"a hidden check in {folder}/{name}"

    def processes(self) -> Iterator[str]:
        """Others' environment (tokens), memory, open files, working folders."""
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                owner = self.others.get(entry.stat().st_uid) if int(entry.name) else None
                if owner is None:
                    continue
                yield from (f"{owner}: {name}" for name in ("environ", "mem", "maps") if _done(_read, entry / name))
                yield from (f"{owner}: {name}" for name in ("fd", "map_files") if _done(os.listdir, entry / name))
                yield from (f"{owner}: {name}" for name in ("cwd", "root", "exe") if _done(os.readlink, entry / name))
                said = (entry / "cmdline").read_bytes().decode(errors="replace")
                if re.search(r"token|secret|password", said, re.IGNORECASE):
                    yield f"{owner}: {said}"

    def sockets(self) -> Iterator[str]:
        """Unix sockets of others' kernels, where they lie."""
        for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
            path = line.split(maxsplit=7)[7:]
            if path and any(path[0].startswith(home) for home in self.facts["homes"]):
                with socket.socket(socket.AF_UNIX) as one:
                    if _done(one.connect, path[0]):
                        yield f"reached {path[0]}"

    def left_lying(self) -> Iterator[str]:
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
                        ours = there.st_uid in self.others and there.st_ctime >= self.facts["since"]
                        if ours and not path.is_symlink() and _done(_read, path):
                            yield f"read {path}"


def forge(facts: dict[str, Any]) -> None:
    """Into the inbound folder: work under another's name, a name that cannot be read, folders that are links, an early date."""
    inbound, lesson = Path(facts["exchange"], "inbound"), facts["lesson"]
    me, (victim, *_) = os.environ["USER"], facts["others"].values()
    theirs = inbound / f"{victim}+{lesson}+2098-01-01 00:00:00.000000 UTC+forged"
    theirs.mkdir()
    (theirs / f"{lesson}.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    (inbound / f"{me}+{lesson}+no date at all").mkdir()
    (inbound / f"{me}+{lesson}+2099-01-01 00:00:00.000000 UTC+linked").symlink_to(Path(facts["source"], lesson))
    link(facts, "2001-01-01 00:00:00.000000 UTC+early")


def link(facts: dict[str, Any], when: str) -> None:
    """Hand in links to the instructor's notebook and gradebook: whoever follows them has the instructor's rights."""
    place = Path(facts["exchange"], "inbound", f"{os.environ['USER']}+{facts['lesson']}+{when}")
    place.mkdir()
    (place / f"{facts['lesson']}.ipynb").symlink_to(Path(facts["source"], facts["lesson"], f"{facts['lesson']}.ipynb"))
    (place / "data").symlink_to(Path(facts["source"]))
    os.mkfifo(place / "pipe")


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
        one = Hostile(facts)
        ideas = ("homes", "exchange_is_kept", "hidden_checks", "processes", "sockets", "left_lying")
        print("gained", json.dumps({name: list(getattr(one, name)()) for name in ideas}))


if __name__ == "__main__":
    main()
