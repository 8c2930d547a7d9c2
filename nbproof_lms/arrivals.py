"""What came: every file of a folder or an archive, copied byte for byte into a folder of the course, or why not."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from nbproof_lms.archives import ArchiveEntry, Budget, NotUnpacked, entries, packing_of

__all__ = ["Arrivals", "ArrivedPiece", "fingerprint", "is_junk", "safe_name"]

_PIECE = 1 << 16
_MOST_KEPT = 1 << 30
"""Bytes of one file of a folder that are copied; an archive is kept whole, and unpacked within its budget."""
_PACKED = re.compile(
    r"(?:\.(?:zip|tar|tgz|tbz2?|txz|txt|json)|\.tar\.(?:gz|bz2|xz))(?:[ -]?\(?\d{0,3}\)?)$|\.ipynb|^[^.]+(?:\.gz)?$",
    re.I,
)
"""Names of files that are unpacked where their bytes are an archive's; a model or a table is packed, too, and is data."""

_MADE = {"__MACOSX", "__pycache__", ".git", ".vscode", ".idea", ".venv", "$RECYCLE.BIN"}
_MADE_FILES = {"thumbs.db", "desktop.ini", ".ds_store", "icon\r"}
_CALLED_ARCHIVE = re.compile(r"\.(?:zip|tar|tgz|7z|rar)(?:[ -]?\(?\d{0,3}\)?)$", re.IGNORECASE)


@dataclass(frozen=True)
class ArrivedPiece:
    """One file that came, or something that is none: then ``problem`` says why."""

    parts: tuple[str, ...]
    """Its path within the upload; an archive counts as a folder."""
    kept: str = ""
    """Where its copy lies, relative to the folder of the upload."""
    size: int = 0
    sha256: str = ""
    time: datetime | None = None
    """Of the file, or of the archive that it came in."""
    changed: datetime | None = None
    """Its last change, by the innermost archive that tells: it puts a learner's copies in order, and dates nothing."""
    packed: bool = False
    """Whether ``time`` is that of an entry of the upload, not of a file on this disk."""
    problem: NotUnpacked | None = None
    archive: bool = False
    """It was unpacked: its files are pieces of their own."""

    @property
    def name(self) -> str:
        """Its path, for people."""
        return "/".join(self.parts)

    @property
    def safe(self) -> bool:
        """Whether its name stays within the upload."""
        return self.problem is None or self.problem.status != "unsafe path"


def is_junk(parts: tuple[str, ...]) -> bool:
    """Whether a system made this file, not a learner."""
    name = parts[-1]
    if _MADE & set(parts) or name.startswith(("._", "~$", ".~")):
        return True
    return name.casefold() in _MADE_FILES or (name.startswith(".") and ".ipynb" not in name.casefold())


def fingerprint(paths: list[Path]) -> str:
    """The same for the same bytes under the same names; links count by what they say."""
    seen = hashlib.sha256()
    for path in paths:
        if len(paths) > 1:
            seen.update(path.name.encode(errors="surrogateescape") + b"\0")
        for name, file in _walk(path):
            seen.update("/".join(name).encode(errors="surrogateescape") + b"\0")
            try:
                info = file.lstat()
                if stat.S_ISREG(info.st_mode):
                    with file.open("rb") as opened:
                        seen.update(hashlib.file_digest(opened, "sha256").digest())
            except OSError as error:
                seen.update(str(error.errno).encode())
    return seen.hexdigest()


def _walk(path: Path) -> Iterator[tuple[tuple[str, ...], Path]]:
    """(name in parts, path) of every file, link and other thing that is no folder; follows no link but ``path`` itself."""
    if not path.is_dir():
        yield (), path
        return
    for place, folders, files in os.walk(path, followlinks=False):
        folders.sort()
        here = Path(place)
        for name in sorted(folders):
            if (here / name).is_symlink():
                yield (*here.relative_to(path).parts, name), here / name
        for name in sorted(files):
            yield (*here.relative_to(path).parts, name), here / name


@dataclass
class Arrivals:
    """Copies what came into ``folder``. Raises OSError only for what cannot be written."""

    folder: Path
    budget: Budget = field(default_factory=Budget)
    step: Callable[[int, int, str], None] = lambda done, of, name: None
    pieces: list[ArrivedPiece] = field(default_factory=list)
    _copies: int = 0

    def take(self, path: Path) -> None:
        """Take in a folder, an archive, or one file."""
        found = list(_walk(path))
        for done, (parts, file) in enumerate(found, 1):
            self.step(done, len(found), "/".join(parts) or path.name)
            self._file(parts or (path.name,), file, alone=not parts)

    def _file(self, parts: tuple[str, ...], file: Path, *, alone: bool) -> None:
        try:
            info = file.stat() if alone else file.lstat()
        except OSError as error:
            self.pieces.append(
                ArrivedPiece(parts, problem=NotUnpacked("not read", error.strerror or "it cannot be read"))
            )
            return
        if not stat.S_ISREG(info.st_mode):
            what = "a link: ask for the file itself" if stat.S_ISLNK(info.st_mode) else "no regular file"
            self.pieces.append(ArrivedPiece(parts, problem=NotUnpacked("not read", what)))
            return
        if info.st_size > _MOST_KEPT:
            problem = NotUnpacked("not read", f"{info.st_size >> 20} MB; it stays where it is")
            self.pieces.append(ArrivedPiece(parts, size=info.st_size, problem=problem))
            return
        time = datetime.fromtimestamp(info.st_mtime, UTC)
        self._keep(ArrivedPiece(parts, time=time, changed=time), _read(file), self.budget, top=alone)

    def _keep(self, told: ArrivedPiece, data: Iterator[bytes], budget: Budget, *, top: bool = False) -> None:
        """Write one file down, and unpack it if it is an archive. ``told``: what is known of it before."""
        parts = told.parts
        # A folder for each: names that learners gave meet nowhere, on no system.
        self._copies += 1
        kept = f"upload/{safe_name(parts[-1])}" if top else f"files/{self._copies}/{safe_name(parts[-1])}"
        path = self.folder / kept
        try:
            size, digest, head = _write(path, data)
        except NotUnpacked as problem:
            path.unlink(missing_ok=True)
            self.pieces.append(replace(told, problem=problem))
            return
        piece = replace(told, kept=kept, size=size, sha256=digest)
        kind = packing_of(head)
        name = parts[-1]
        if is_junk(parts):
            self.pieces.append(piece)
        elif kind in {"7z", "rar"} or (kind and _PACKED.search(name)):
            self._unpack(piece, path, budget, top)
        elif not kind and _CALLED_ARCHIVE.search(name):
            none = NotUnpacked("not read", "it is called an archive, and is none")
            self.pieces.append(replace(piece, problem=none))
        else:
            self.pieces.append(piece)

    def _unpack(self, piece: ArrivedPiece, path: Path, budget: Budget, top: bool) -> None:
        at = len(self.pieces)
        # A plain archive on this disk is an upload, and its entries have times of their own; one within it is a learner's.
        within = () if top else piece.parts
        inner = budget if top else budget.inner()
        before = inner.total, inner.files
        problem = None
        if inner.depth < 0:
            problem = NotUnpacked("not read", "archives within archives within archives")
        else:
            try:
                for entry in entries(path, inner):
                    self._entry(within, entry, inner, piece, top)
            except NotUnpacked as found:
                problem = found
        if inner is not budget:
            budget.took(inner, before)
        self.pieces.insert(at, replace(piece, problem=problem, archive=True))

    def _entry(
        self, within: tuple[str, ...], entry: ArchiveEntry, budget: Budget, archive: ArrivedPiece, top: bool
    ) -> None:
        parts = (*within, *entry.parts)
        self.step(len(self.pieces), len(self.pieces) + 1, "/".join(parts))
        piece = ArrivedPiece(
            parts,
            time=entry.time if top else archive.time,
            changed=entry.time or archive.changed,
            packed=top or archive.packed,
            problem=entry.problem,
        )
        if entry.problem is not None:
            self.pieces.append(piece)
            return
        self._keep(piece, entry.pieces(), budget)


def safe_name(part: str) -> str:
    """A part of a path: printable, no separators, at most 120 bytes."""
    shown = "".join(letter if letter.isprintable() and letter not in '/\\:*?"<>|' else "_" for letter in part)
    shown = shown.encode("utf-8", "replace").decode().strip() or "_"
    if len(shown.encode()) > 120:
        digest = hashlib.sha256(part.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        shown = f"{shown.encode()[:60].decode(errors='ignore')}~{digest}~{shown.encode()[-40:].decode(errors='ignore')}"
    return f"_{shown}" if shown in {".", ".."} else shown


def _read(file: Path) -> Iterator[bytes]:
    """A regular file's bytes. Raises NotUnpacked if it cannot be read."""
    try:
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as opened:
            while piece := opened.read(_PIECE):
                yield piece
    except OSError as error:
        raise NotUnpacked("not read", error.strerror or "it cannot be read") from None


def _write(path: Path, data: Iterator[bytes]) -> tuple[int, str, bytes]:
    """Size, digest and first 512 bytes of what was written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    seen, size, head = hashlib.sha256(), 0, b""
    with path.open("xb") as file:
        for piece in data:
            file.write(piece)
            seen.update(piece)
            size += len(piece)
            if len(head) < 512:
                head += piece[: 512 - len(head)]
    return size, seen.hexdigest(), head
