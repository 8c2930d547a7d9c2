"""Unpack the zips of learners and an LMS, safely: nothing is believed, everything is counted while it is read.

Names of entries never become paths here: each entry is handed to the caller with its name in parts, and its bytes come
in pieces, until a limit. An entry that would do harm is reported, and the rest goes on.
"""

from __future__ import annotations

import contextlib
import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO

__all__ = ["ArchiveEntry", "Budget", "NotUnpacked", "entries"]

MB = 1 << 20
_PIECE = 1 << 16
_A_LINK = "a link or device in the archive: ask for the file itself"
_UNIX = 3
"""Where a zip was packed, as it says itself."""
_LOCKED = "it needs a password: ask for it without one"


class NotUnpacked(Exception):
    """Why something was not unpacked: a sentence, and a ``status`` as in ``outcome.STATUSES``."""

    def __init__(self, why: str, status: str = "not read") -> None:
        super().__init__(why)
        self.why, self.status = why, status


@dataclass
class Budget:
    """What one upload may still unpack. ``inner_...`` is what one learner's archive within it may take.

    ``table``: bytes of a zip's table of contents: it is read as a whole. ``apart``: what all archives within an upload may
    take together. None of it is taken from what lies beside them.
    """

    entry: int = 64 * MB
    total: int = 8192 * MB
    files: int = 20_000
    inner_total: int = 256 * MB
    inner_files: int = 2_000
    depth: int = 3
    table: int = 8 * MB
    outer: Budget | None = None
    apart: Budget | None = None

    def inner(self) -> Budget:
        """The budget of an archive within this one: a bomb in it, or ten of them, take nothing from the neighbours' files."""
        if self.outer is None and self.apart is None:
            self.apart = replace(self)
        outer = self.apart or self
        return replace(
            self, total=self.inner_total, files=self.inner_files, depth=self.depth - 1, outer=outer, apart=None
        )

    def spend(self, size: int = 0, files: int = 0) -> None:
        """Take off so much, here and in what is around. Raises NotUnpacked if there is not so much left."""
        self.total -= size
        self.files -= files
        if self.outer is not None:
            self.outer.spend(size, files)
        if self.total < 0:
            raise NotUnpacked("the archive holds more than may be unpacked in all")
        if self.files < 0:
            raise NotUnpacked("the archive holds too many files")


@dataclass(frozen=True)
class ArchiveEntry:
    """One entry of an archive: its name in parts; ``problem`` if it is not to be unpacked.

    ``pieces``: the bytes. Raises NotUnpacked if they are too many or broken.
    """

    parts: tuple[str, ...]
    time: datetime | None = None
    problem: NotUnpacked | None = None
    pieces: Iterable[bytes] = ()


@contextlib.contextmanager
def _damage() -> Iterator[None]:
    """Turn what the unpackers raise for broken bytes into NotUnpacked."""
    try:
        yield
    except (
        # Of a place that lies before the file's beginning.
        OSError,
        RuntimeError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        ValueError,
        OverflowError,
        struct.error,
        MemoryError,
    ) as error:
        raise NotUnpacked(f"broken bytes ({str(error)[:80] or type(error).__name__})") from None


def entries(path: Path, budget: Budget) -> Iterator[ArchiveEntry]:
    """Every entry of a zip but its folders. Raises NotUnpacked if it is none, or holds too many."""
    with path.open("rb") as file:
        if not file.read(4).startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
            raise NotUnpacked("it is no zip: ask for one, or unpack it yourself and collect the folder")
        if _table_size(file) > budget.table:
            raise NotUnpacked(f"its table of contents has more than {budget.table // MB} MB")
        with _damage():
            archive = zipfile.ZipFile(file)
        with archive:
            for info in archive.infolist():
                if info.filename.endswith("/") and not info.file_size:
                    continue
                budget.spend(files=1)
                parts, problem = _parts(_zip_name(info), info.create_system == _UNIX)
                pieces = _pieces(partial(archive.open, info), budget)
                yield ArchiveEntry(parts, _zip_time(info), problem or _why_not(info), pieces)


def _pieces(opened: Callable[[], IO[bytes]], budget: Budget) -> Iterator[bytes]:
    read = 0
    with _damage(), opened() as file:
        while piece := file.read(_PIECE):
            read += len(piece)
            if read > budget.entry:
                raise NotUnpacked(f"more than {budget.entry // MB} MB when unpacked")
            budget.spend(len(piece))
            yield piece


def _why_not(info: zipfile.ZipInfo) -> NotUnpacked | None:
    """Why an entry of a zip is not to be unpacked, if its own record says so."""
    if stat.S_IFMT(info.external_attr >> 16) not in {0, stat.S_IFREG}:
        return NotUnpacked(_A_LINK)
    if info.flag_bits & 1:
        return NotUnpacked(_LOCKED)
    if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        # zipfile unpacks the others without a limit: forty bytes of bzip2 become 46 MB at one go.
        return NotUnpacked("packed in an unusual way: ask for an ordinary zip")
    return None


def _table_size(file: IO[bytes]) -> int:
    """Bytes of the table of contents, as the end of the file says; 0 if there is no end."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - 65_557))
    tail = file.read(65_557)
    at = tail.rfind(b"PK\x05\x06")
    file.seek(0)
    if at < 0 or len(tail) < at + 22:
        return 0
    told: int = struct.unpack_from("<I", tail, at + 12)[0]
    return min(told, size)


def _zip_name(info: zipfile.ZipInfo) -> str:
    """The name; older packers write UTF-8 and do not say so, and zipfile then reads it as cp437."""
    name = info.orig_filename
    if not info.flag_bits & 0x800 and not name.isascii():
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name


def _zip_time(info: zipfile.ZipInfo) -> datetime | None:
    """The entry's time, as UTC; None if it is the zero of DOS."""
    with contextlib.suppress(ValueError):
        return datetime(*info.date_time, tzinfo=UTC) if info.date_time[0] > 1980 else None
    return None


def _parts(name: str, is_unix: bool) -> tuple[tuple[str, ...], NotUnpacked | None]:
    """A name in parts, and why it is not to be followed. On Unix a backslash makes no folder, but may stand in a name."""
    parts = tuple(part for part in name.replace("\\", "/").split("/") if part not in {"", "."})
    unsafe = name.startswith(("/", "\\")) or ".." in parts or re.match(r"[A-Za-z]:", name) or "\0" in name or not parts
    unsafe = unsafe or (is_unix and "\\" in name)
    return parts or ("?",), NotUnpacked("its name leads out of the archive", "unsafe path") if unsafe else None
