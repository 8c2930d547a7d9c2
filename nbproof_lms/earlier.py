"""What the lists in ``collected/`` say of everything that ever came: who was late, and who handed in nothing that counts."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from nbproof.files import replace_file
from nbproof.text import printable
from nbproof_lms.outcome import NEEDS_NOBODY, STANDS, KeptUpload, Line

__all__ = [
    "Key",
    "Undecided",
    "Useless",
    "digest_in",
    "late_by_word",
    "lines_in",
    "undecided",
    "uploads_in",
    "useless",
    "write_list",
]

Key = tuple[str, str]
"""(learner, lesson)."""


@dataclass(frozen=True)
class Useless:
    """What somebody handed in, of which nothing could be graded. ``lesson`` is empty if nothing says for which it was."""

    learner: str
    lesson: str
    file: str
    why: str
    status: str = ""
    """One of ``outcome.STATUSES``."""

    def __str__(self) -> str:
        if self.status == "waits":
            return f"{self.file} and another copy wait for you to say which one counts"
        return f"only {self.file} came: {self.why}"


@dataclass(frozen=True)
class Undecided:
    """A learner's copies of which nothing says which is the last; one that lies in ``submitted/`` is graded meanwhile."""

    learner: str
    lesson: str
    copies: tuple[str, ...]
    """Where each is kept, relative to the course's folder; the one that is graded first, if a list knows it."""


def uploads_in(root: Path) -> Iterator[KeptUpload]:
    """Every upload, in the order in which they came; one whose list cannot be read is passed over."""

    def number(path: Path) -> tuple[int, str]:
        return int(re.sub(r"\D.*", "", path.parent.name) or 0), path.parent.name

    for path in sorted((root / "collected").glob("*/list.json"), key=number):
        folder = path.parent.name
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            lines = tuple(_line(one, folder) for one in told["files"] if isinstance(one, dict))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
        name, fingerprint, lesson = (str(told.get(word) or "") for word in ("upload", "fingerprint", "handed_in_for"))
        yield KeptUpload(name, fingerprint, folder, lesson, lines)


_KINDS: dict[str, Any] = {one.name: type(one.default) for one in fields(Line)}


def _line(told: dict[str, Any], folder: str) -> Line:
    """A line of a list; what it does not say as it should is left out."""
    known = {name: value for name, value in told.items() if name in _KINDS and isinstance(value, _KINDS[name])}
    time = datetime.fromisoformat(told["time"]) if told.get("time") else None
    return replace(Line(**known), time=time, folder=folder)


def write_list(root: Path, upload: KeptUpload) -> None:
    """Write an upload's list, whole or not at all. Raises OSError."""
    replace_file(root / "collected" / upload.folder / "list.json", json.dumps(upload.as_dict(), indent=1))


def lines_in(root: Path) -> Iterator[Line]:
    """Every file that ever came."""
    for upload in uploads_in(root):
        yield from upload.lines


def digest_in(root: Path, learner: str, lesson: str) -> str:
    """The digest of the notebook in ``submitted/``; empty if there is none."""
    path = root / "submitted" / learner / lesson / f"{lesson}.ipynb"
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def late_by_word(root: Path) -> frozenset[Key]:
    """(learner, lesson) of what an LMS calls late without saying when it came, and lies in ``submitted/`` now."""
    told = {(line.key, line.sha256): line.late and line.time is None for line in lines_in(root) if all(line.key)}
    late = {key for (key, _), is_late in told.items() if is_late}
    dated = {key for key in late if (root / "submitted" / key[0] / key[1] / "timestamp.txt").exists()}
    return frozenset(key for key in late - dated if told.get((key, digest_in(root, *key))))


def useless(root: Path, handed_in: Collection[Key]) -> tuple[Useless, ...]:
    """The last of what learners handed in for a lesson of which ``handed_in`` (learner, lesson) has nothing from them."""
    found: dict[Key, Useless] = {}
    there = {learner for learner, _ in handed_in}
    for upload in uploads_in(root):
        for line in upload.lines:
            key = line.learner, line.lesson or upload.handed_in_for
            # Without a lesson waits what came with a notebook that waits.
            known = key in handed_in or (not key[1] and (line.learner in there or line.status == "waits"))
            if line.learner and not known and line.status not in NEEDS_NOBODY:
                found[key] = _useless(line, key)
    return tuple(one for _, one in sorted(found.items()))


def _useless(line: Line, key: Key) -> Useless:
    name = line.name.rsplit("/", 1)[-1][:120]
    why = f"{line.status}, {line.why}" if line.status != "no notebook" and line.why else line.status
    return Useless(*key, printable(name), why[:200], line.status)


def undecided(root: Path, handed_in: Collection[Key]) -> tuple[Undecided, ...]:
    """Of what ``handed_in`` (learner, lesson) has: where another copy may be the last, until a person names one."""
    waiting: dict[Key, dict[str, str]] = defaultdict(dict)
    known: dict[Key, dict[str, str]] = defaultdict(dict)
    for line in lines_in(root):
        if line.key not in handed_in or not line.kept:
            continue
        if line.by_hand and line.status in STANDS:
            waiting.pop(line.key, None)
        known[line.key][line.sha256] = line.place
        if line.status == "waits":
            waiting[line.key][line.sha256] = line.place
    found = []
    for key, copies in sorted(waiting.items()):
        graded = digest_in(root, *key)
        if graded not in copies:
            first = [known[key][graded]] if graded in known[key] else []
            found.append(Undecided(*key, (*first, *copies.values())))
    return tuple(found)
