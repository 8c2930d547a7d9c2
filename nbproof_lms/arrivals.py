"""What came: every file of a folder or an archive, copied byte for byte into a folder of the course, or why not."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import IntEnum
from itertools import chain, count
from pathlib import Path
from typing import Any

from nbproof.run.hand_ins import Guess
from nbproof.text import printable
from nbproof_lms.archives import Budget, NotUnpacked, entries
from nbproof_lms.outcome import FileRecord
from nbproof_lms.system import Fetched, System

__all__ = [
    "Arrived",
    "IncomingFile",
    "Kind",
    "Step",
    "is_archive",
    "is_junk",
    "safe_name",
    "take_in",
    "take_in_fetched",
]

Step = Callable[[int, int, str], None]
"""Called with how many are done, of how many, and what is at hand."""

_PIECE = 1 << 16
_MOST_KEPT = 1 << 30
"""Bytes of one file of a folder that are copied; an archive is kept whole, and unpacked within its budget."""
_ARCHIVE = re.compile(r"\.(?:zip|tar|tgz|tar\.(?:gz|bz2|xz)|7z|rar)(?: ?\(\d{0,3}\))?$", re.IGNORECASE)
"""What an archive is called; a model or a table is packed, too, and is data."""

_MADE = {"__MACOSX", "__pycache__", ".git", ".vscode", ".idea", ".venv", "$RECYCLE.BIN"}
_MADE_FILES = {"thumbs.db", "desktop.ini", ".ds_store", "icon\r"}


class Kind(IntEnum):
    """What a file may be to a lesson, the best first. ``UNKNOWN``: handed in for the lesson, but its content is not of it."""

    NOTEBOOK = 0
    SCRIPT = 1
    CHECKPOINT = 2
    UNKNOWN = 3
    DATA = 4


@dataclass(frozen=True)
class IncomingFile:
    """One file that came, or something that is none: then ``problem`` says why. ``record``: what is known of it so far.

    ``parts``: its path within the upload; an archive counts as a folder. ``path``: its copy. ``time``: if the upload is an
    archive, the time of the entry that it came in. ``archive``: whether it is one that was unpacked: then its files are items
    as well. ``upload``: the number of its upload. ``called``: the name that the learner gave it.
    """

    parts: tuple[str, ...]
    record: FileRecord
    path: Path = Path()
    time: datetime | None = None
    problem: NotUnpacked | None = None
    archive: bool = False
    upload: int = 0
    kind: Kind = Kind.DATA
    guess: Guess = field(default_factory=Guess)
    called: str = ""

    @property
    def safe(self) -> bool:
        """Whether its name stays within the upload."""
        return self.problem is None or self.problem.status != "unsafe path"

    def ended(self, status: str, why: str = "", **told: Any) -> IncomingFile:
        """The same file with the end that it has come to, and other fields of its record.

        ``why`` may quote a file's name, so signs that a terminal obeys are taken out.
        """
        return replace(self, record=replace(self.record, status=status, why=printable(why), **told))

    @property
    def is_answer(self) -> bool:
        """Whether it may be a learner's answer to a lesson, and is still on its way."""
        return self.kind < Kind.UNKNOWN and not self.record.status

    @property
    def rank(self) -> Kind:
        """Its kind, seen from the lesson that it counts for."""
        return self.kind if self.guess.lesson == self.record.lesson else Kind.UNKNOWN

    @property
    def holds(self) -> str:
        """A clause that says which lesson its content belongs to."""
        if self.guess.others:
            return f"it holds parts of {' and '.join(self.guess.others)}"
        return f"it holds {self.guess.lesson}" if self.guess.lesson else "its content is of no lesson"


@dataclass(frozen=True)
class Arrived:
    """One upload, and the folder that its copies lie in."""

    name: str
    folder: Path
    items: tuple[IncomingFile, ...]
    fetched: Mapping[str, Fetched] = field(default_factory=dict)
    """If a system has fetched the upload: the first part of its files' paths -> what the system says of them."""
    system: str = ""
    """The name of that system."""

    @property
    def fingerprint(self) -> str:
        """A digest of names and bytes: two uploads have the same one if both are the same."""
        files = [(item.record.name, item.record.sha256 or str(item.problem)) for item in self.items]
        return hashlib.sha256(repr(files).encode(errors="surrogatepass")).hexdigest()


def is_junk(parts: tuple[str, ...]) -> bool:
    """Whether a system made this file, not a learner."""
    name = parts[-1]
    if _MADE & set(parts) or name.startswith(("._", "~$", ".~")):
        return True
    return name.casefold() in _MADE_FILES or (name.startswith(".") and ".ipynb" not in name.casefold())


def take_in(paths: Sequence[Path], folder: Path, step: Step, budget: Budget | None = None) -> Arrived:
    """Copy an upload into ``folder``: folders, archives, files. Raises OSError only for what cannot be written."""
    folder.mkdir()
    name = (paths[0].name or paths[0].resolve().name) if len(paths) == 1 else "files"
    budget = budget or Budget()
    arrivals = _Arrivals(folder, budget, replace(budget), step)
    for path in paths:
        arrivals.take(path)
    return Arrived(name, folder, tuple(arrivals.items))


def take_in_fetched(system: System, hand_ins: Sequence[Fetched], folder: Path, step: Step) -> Arrived:
    """Copy what a system has fetched into ``folder``. Raises OSError only for what cannot be written."""
    folder.mkdir()
    arrivals = _Arrivals(folder, Budget(), Budget(), step)
    heads: dict[str, Fetched] = {}
    for one in hand_ins:
        names = chain([one.who], (f"{one.who} ({number})" for number in count(2)))
        head = next(name for name in names if name not in heads)
        heads[head] = one
        arrivals.take(one.path, head)
    return Arrived(system.option, folder, tuple(arrivals.items), heads, system.name)


@dataclass
class _Arrivals:
    """What has arrived of an upload so far.

    ``budget``: how much an upload that is an archive may unpack; ``apart``: how much all archives within it may take together. So
    a bomb in a learner's archive, or ten of them, take nothing from what lies beside them.
    """

    folder: Path
    budget: Budget
    apart: Budget
    step: Step
    items: list[IncomingFile] = field(default_factory=list)
    _copies: int = 0

    def take(self, path: Path, *around: str) -> None:
        """Take in a file, or all that lies in a folder. Only ``path`` itself may be a link. ``around``: folders around it."""
        if not path.is_dir():
            self.step(1, 1, "/".join((*around, path.name)))
            self._keep(_found_on_disk(path, (*around, path.name)), _read(path, follow=True), self.apart, top=not around)
            return
        files = [one for one in sorted(path.rglob("*")) if not _is_open_folder(one)]
        for done, file in enumerate(files, 1):
            parts = (*around, *file.relative_to(path).parts)
            self.step(done, len(files), "/".join(parts))
            self._keep(_found_on_disk(file, parts), _read(file, follow=False), self.apart)

    def _keep(self, item: IncomingFile, data: Iterable[bytes], budget: Budget, *, top: bool = False) -> None:
        """Write one file down, and unpack it if it is an archive. ``top``: whether it is the upload itself."""
        name = item.parts[-1]
        # A folder for each: names that learners gave meet nowhere, on no system.
        self._copies += 1
        kept = f"upload/{safe_name(name)}" if top else f"files/{self._copies}/{safe_name(name)}"
        path = self.folder / kept
        try:
            digest = _write(path, data)
        except NotUnpacked as problem:
            path.unlink(missing_ok=True)
            self.items.append(replace(item, problem=problem))
            return
        item = replace(item, path=path, record=replace(item.record, kept=kept, sha256=digest))
        if is_archive(name) and not is_junk(item.parts):
            self._unpack(item, budget, top)
        else:
            self.items.append(item)

    def _unpack(self, archive: IncomingFile, budget: Budget, top: bool) -> None:
        """Take in what an archive holds. ``budget``: of what is around it."""
        at = len(self.items)
        problem = None
        try:
            # A plain archive on this disk is an upload, and its entries have times of their own; one within it is a learner's.
            if top:
                self._take_entries(replace(archive, parts=()), self.budget, self.apart, top)
            else:
                own = budget.inner()
                self._take_entries(archive, own, own, top)
        except NotUnpacked as found:
            problem = found
        self.items.insert(at, replace(archive, problem=problem, archive=True))

    def _take_entries(self, archive: IncomingFile, budget: Budget, inner: Budget, has_times: bool) -> None:
        """Take in each entry of an archive. ``inner``: the budget of archives in it. Raises NotUnpacked."""
        if budget.depth < 0:
            raise NotUnpacked("archives within archives within archives")
        for entry in entries(archive.path, budget):
            parts = (*archive.parts, *entry.parts)
            self.step(len(self.items), len(self.items) + 1, "/".join(parts))
            changed = entry.time.timestamp() if entry.time else archive.record.changed
            time = entry.time if has_times else archive.time
            item = IncomingFile(parts, FileRecord("/".join(parts), changed=changed), time=time)
            self._keep(item, entry.pieces, inner)


def _found_on_disk(file: Path, parts: tuple[str, ...]) -> IncomingFile:
    """A file that was not read yet, with its last change. ``parts``: its path within the upload."""
    changed = file.lstat().st_mtime if os.path.lexists(file) else 0.0
    return IncomingFile(parts, FileRecord("/".join(parts), changed=changed))


def _is_open_folder(path: Path) -> bool:
    """Whether it is a folder that can be read, so that its files come by themselves. Any other one is told of like a file."""
    return path.is_dir() and not path.is_symlink() and os.access(path, os.R_OK | os.X_OK)


def is_archive(name: str) -> bool:
    """Whether a file has the name of an archive. Its content may still be something else."""
    return _ARCHIVE.search(name) is not None


def safe_name(part: str) -> str:
    """A part of a path made printable, without separators, and at most 120 bytes long."""
    refused = {letter for letter in part if letter in '/\\:*?"<>|' or not letter.isprintable()}
    shown = part.translate(dict.fromkeys(map(ord, refused), "_"))
    shown = shown.encode("utf-8", "replace").decode().strip() or "_"
    if len(shown.encode()) > 120:
        digest = hashlib.sha256(part.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        shown = f"{shown.encode()[:60].decode(errors='ignore')}~{digest}~{shown.encode()[-40:].decode(errors='ignore')}"
    return f"_{shown}" if shown in {".", ".."} else shown


def _read(file: Path, *, follow: bool) -> Iterator[bytes]:
    """The bytes of a regular file in pieces; of a link only with ``follow``. Raises NotUnpacked if it cannot be read."""
    if not follow and file.is_symlink():
        raise NotUnpacked("a link: ask for the file itself")
    try:
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as opened:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode):
                raise NotUnpacked("no regular file: ask for the file itself")
            if info.st_size > _MOST_KEPT:
                raise NotUnpacked(f"{info.st_size >> 20} MB; it stays where it is")
            while piece := opened.read(_PIECE):
                yield piece
    except PermissionError:
        raise NotUnpacked("your user may not read it: chmod -R u+rX there, then the same command") from None
    except OSError as error:
        raise NotUnpacked(error.strerror or "it cannot be read") from None


def _write(path: Path, data: Iterable[bytes]) -> str:
    """Write a new file with its folders, and return the digest of its bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    seen = hashlib.sha256()
    with path.open("xb") as file:
        for piece in data:
            file.write(piece)
            seen.update(piece)
    return seen.hexdigest()
