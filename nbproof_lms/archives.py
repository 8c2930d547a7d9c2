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
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

__all__ = ["Budget", "NotUnpacked", "entries"]

MB = 1 << 20
_PIECE = 1 << 16
_UNIX = 3
"""What a zip says of the system that packed it."""


class NotUnpacked(Exception):
    """Something was not unpacked. ``why`` is a sentence, ``status`` one of ``outcome.STATUSES``."""

    def __init__(self, why: str, status: str = "not read") -> None:
        super().__init__(why)
        self.why = why
        self.status = status


@dataclass
class Budget:
    """What one upload may still unpack, in bytes and files. ``inner_...`` is what one learner's archive within it may take.

    ``entry``: the bytes of one file. ``depth``: how many archives may lie within each other. ``table``: the bytes of a zip's
    table of contents, which is read as a whole. ``outer``: the budget of the archive around, which pays as well.
    """

    entry: int = 64 * MB
    total: int = 8192 * MB
    files: int = 20_000
    inner_total: int = 256 * MB
    inner_files: int = 2_000
    depth: int = 3
    table: int = 8 * MB
    outer: Budget | None = None

    def inner(self) -> Budget:
        """The budget of an archive that lies within the one of this budget."""
        return replace(self, total=self.inner_total, files=self.inner_files, depth=self.depth - 1, outer=self)

    def spend(self, size: int = 0, files: int = 0) -> None:
        """Take off so many bytes and files, here and in the budget around. Raises NotUnpacked if too little is left."""
        self.total -= size
        self.files -= files
        if self.outer is not None:
            self.outer.spend(size, files)
        if self.total < 0:
            raise NotUnpacked("the archive holds more than may be unpacked in all")
        if self.files < 0:
            raise NotUnpacked("the archive holds too many files")


class _ArchiveEntry(NamedTuple):
    """One entry of an archive: its name in parts, its time in UTC, and its bytes in pieces.

    To read ``pieces`` raises NotUnpacked if the entry may not be unpacked, or its bytes are too many or broken.
    """

    parts: tuple[str, ...]
    time: datetime | None
    pieces: Iterator[bytes]


@contextlib.contextmanager
def _damage() -> Iterator[None]:
    """Turn what the unpackers raise for broken bytes into NotUnpacked."""
    try:
        yield
    except (
        # A position may lie before the file's beginning.
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


class _File(io.BufferedReader):
    """A zip that refuses to be read by more than ``most`` bytes at one go: zipfile reads the table of contents at one go."""

    def __init__(self, path: Path, most: int) -> None:
        super().__init__(io.FileIO(path))
        self._most = most

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > self._most:
            raise NotUnpacked(f"its table of contents has more than {self._most // MB} MB")
        return super().read(size)


def entries(path: Path, budget: Budget) -> Iterator[_ArchiveEntry]:
    """Yield every entry of the zip at ``path`` that is no folder. Raises NotUnpacked if it is no zip, or holds too much.

    Read the pieces of an entry before the next one is asked for. ``budget``: what may be unpacked; each entry takes from it.
    """
    with _File(path, budget.table) as file:
        if not file.read(4).startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
            raise NotUnpacked("it is no zip: ask for one, or unpack it yourself and collect the folder")
        with _damage():
            archive = zipfile.ZipFile(file)
        with archive:
            for info in archive.infolist():
                if info.filename.endswith("/") and not info.file_size:
                    continue
                budget.spend(files=1)
                name = _zip_name(info)
                yield _ArchiveEntry(_parts(name) or ("?",), _zip_time(info), _pieces(archive, info, name, budget))


def _pieces(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, budget: Budget) -> Iterator[bytes]:
    _refuse(info, name)
    read = 0
    with _damage(), archive.open(info) as file:
        while piece := file.read(_PIECE):
            read += len(piece)
            if read > budget.entry:
                raise NotUnpacked(f"more than {budget.entry // MB} MB when unpacked")
            budget.spend(len(piece))
            yield piece


def _refuse(info: zipfile.ZipInfo, name: str) -> None:
    """Raise NotUnpacked if an entry's own record says that it is not to be unpacked."""
    parts = _parts(name)
    # On Unix a backslash makes no folder, but may stand in a name.
    unsafe = not parts or ".." in parts or "\0" in name or ("\\" in name and info.create_system == _UNIX)
    if unsafe or re.match(r"[/\\]|[A-Za-z]:", name):
        raise NotUnpacked("its name leads out of the archive", "unsafe path")
    if stat.S_IFMT(info.external_attr >> 16) not in {0, stat.S_IFREG}:
        raise NotUnpacked("a link or device in the archive: ask for the file itself")
    if info.flag_bits & 1:
        raise NotUnpacked("it needs a password: ask for it without one")
    if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        # zipfile unpacks the others without a limit: forty bytes of bzip2 become 46 MB at one go.
        raise NotUnpacked("packed in an unusual way: ask for an ordinary zip")


def _zip_name(info: zipfile.ZipInfo) -> str:
    """The name; older packers write UTF-8 and do not say so, and zipfile then reads it as cp437."""
    name = info.orig_filename
    if not info.flag_bits & 0x800 and not name.isascii():
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name


def _zip_time(info: zipfile.ZipInfo) -> datetime | None:
    """The entry's time, as UTC; None if it is the zero of DOS."""
    if info.date_time[0] > 1980:
        with contextlib.suppress(ValueError):
            return datetime(*info.date_time, tzinfo=UTC)
    return None


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part for part in name.replace("\\", "/").split("/") if part not in {"", "."})
