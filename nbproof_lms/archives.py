"""Unpack what learners and an LMS packed, safely: nothing is believed, everything is counted while it is read.

Names of entries never become paths here: each entry is handed to the caller with its name in parts, and its bytes come
in pieces, until a limit. An entry that would do harm is reported, and the rest goes on.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

__all__ = ["ArchiveEntry", "Budget", "NotUnpacked", "entries", "packing_of"]

MB = 1 << 20
_PIECE = 1 << 16


class NotUnpacked(Exception):
    """Why something was not unpacked: ``status`` as in ``outcome.STATUSES``, and a sentence."""

    def __init__(self, status: str, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


@dataclass
class Budget:
    """What one upload may still unpack. ``sub`` is what one learner's archive within it may take."""

    entry: int = 64 * MB
    total: int = 8192 * MB
    files: int = 20_000
    inner_total: int = 256 * MB
    inner_files: int = 2_000
    depth: int = 3
    table: int = 8 * MB
    """Bytes of a zip's table of contents: it is read as a whole."""

    def inner(self) -> Budget:
        """The budget of an archive within this one: a bomb in it takes nothing from the neighbours."""
        return Budget(
            self.entry,
            min(self.total, self.inner_total),
            min(self.files, self.inner_files),
            self.inner_total,
            self.inner_files,
            self.depth - 1,
            self.table,
        )

    def took(self, other: Budget, before: tuple[int, int]) -> None:
        """Take off what an archive within this one used."""
        self.total -= before[0] - other.total
        self.files -= before[1] - other.files


@dataclass
class ArchiveEntry:
    """One entry of an archive: its name in parts; ``problem`` if it is not to be unpacked."""

    parts: tuple[str, ...]
    time: datetime | None = None
    problem: NotUnpacked | None = None
    _open: IO[bytes] | None = field(default=None, repr=False)
    _budget: Budget | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """As in the archive, with slashes."""
        return "/".join(self.parts)

    def pieces(self) -> Iterator[bytes]:
        """The bytes, piece by piece. Raises NotUnpacked if they are too many or broken."""
        assert self._open is not None
        assert self._budget is not None
        read = 0
        with _damage():
            while piece := self._open.read(_PIECE):
                read += len(piece)
                self._budget.total -= len(piece)
                if read > self._budget.entry:
                    raise NotUnpacked("not read", f"more than {self._budget.entry // MB} MB when unpacked")
                if self._budget.total < 0:
                    raise NotUnpacked("not read", "the archive holds more than may be unpacked in all")
                yield piece


class _damage:
    """Turn what the unpackers raise for broken bytes into NotUnpacked."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, RuntimeError) and "password" in str(error):
            raise NotUnpacked("not read", "it needs a password: ask for it without one") from None
        broken = (
            zipfile.BadZipFile,
            tarfile.TarError,
            zlib.error,
            lzma.LZMAError,
            EOFError,
            ValueError,
            OverflowError,
            struct.error,
            MemoryError,
            RuntimeError,
            gzip.BadGzipFile,
        )
        if isinstance(error, broken) or (isinstance(error, OSError) and error.errno is None):
            raise NotUnpacked("not read", f"broken bytes ({str(error)[:80] or type(error).__name__})") from None


def packing_of(head: bytes) -> str:
    """What the first 512 bytes say: zip, tar, gzip, xz, bzip2, 7z, rar, or nothing that is known."""
    for start, kind in (
        (b"PK\x03\x04", "zip"),
        (b"PK\x05\x06", "zip"),
        (b"PK\x07\x08", "zip"),
        (b"\x1f\x8b", "gzip"),
        (b"\xfd7zXZ\0", "xz"),
        (b"7z\xbc\xaf\x27\x1c", "7z"),
        (b"Rar!\x1a\x07", "rar"),
    ):
        if head.startswith(start):
            return kind
    if re.match(rb"BZh[1-9]1AY&SY", head):
        return "bzip2"
    return "tar" if head[257:262] == b"ustar" else ""


def entries(path: Path, budget: Budget) -> Iterator[ArchiveEntry]:
    """Every entry of an archive but its folders. Raises NotUnpacked if it is none, or cannot be looked into."""
    with path.open("rb") as file:
        for entry in _entries(file, path.name, budget):
            budget.files -= 1
            if budget.files < 0:
                problem = NotUnpacked("not read", "the archive holds too many files")
                yield ArchiveEntry((entry.name[:80], "..."), problem=problem)
                return
            yield entry


def _entries(file: IO[bytes], name: str, budget: Budget) -> Iterator[ArchiveEntry]:
    kind = packing_of(file.read(512))
    file.seek(0)
    if kind == "zip":
        yield from _zip(file, budget)
    elif kind == "tar":
        yield from _tar(file, budget)
    elif kind in {"gzip", "xz", "bzip2"}:
        yield from _packed(file, kind, name, budget)
    elif kind:
        raise NotUnpacked("not read", f"a .{kind} archive cannot be unpacked here: ask for a zip")
    else:
        raise NotUnpacked("not read", "it is no archive")


def _zip(file: IO[bytes], budget: Budget) -> Iterator[ArchiveEntry]:
    if _table_size(file) > budget.table:
        raise NotUnpacked("not read", f"its table of contents has more than {budget.table // MB} MB")
    with _damage():
        archive = zipfile.ZipFile(file)
    with archive:
        for info in archive.infolist():
            if info.is_dir() and not info.file_size:
                continue
            name = _zip_name(info)
            parts, problem = _parts(name)
            mode = info.external_attr >> 16
            if problem is None and stat.S_IFMT(mode) not in {0, stat.S_IFREG}:
                problem = NotUnpacked("not read", "a link or device in the archive: ask for the file itself")
            if problem is None and info.flag_bits & 1:
                problem = NotUnpacked("not read", "it needs a password: ask for it without one")
            if problem is None and info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                # zipfile unpacks the others without a limit: forty bytes of bzip2 become 46 MB at one go.
                problem = NotUnpacked("not read", "packed in an unusual way: ask for an ordinary zip")
            entry = ArchiveEntry(parts, _zip_time(info), problem, None, budget)
            if problem is None:
                try:
                    with _damage():
                        entry._open = archive.open(info)
                except NotUnpacked as broken:
                    entry.problem = broken
            yield entry
            if entry._open is not None:
                entry._open.close()


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
    if told == 0xFFFFFFFF:
        return size
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
    try:
        return datetime(*info.date_time, tzinfo=UTC) if info.date_time[0] > 1980 else None
    except ValueError:
        return None


def _parts(name: str) -> tuple[tuple[str, ...], NotUnpacked | None]:
    """A name in parts, and why it is not to be followed."""
    parts = tuple(part for part in name.replace("\\", "/").split("/") if part not in {"", "."})
    unsafe = name.startswith(("/", "\\")) or ".." in parts or re.match(r"[A-Za-z]:", name) or "\0" in name or not parts
    return parts or ("?",), NotUnpacked("unsafe path", "its name leads out of the archive") if unsafe else None


class _Counted(io.RawIOBase):
    """An unpacked stream that ends with an error if it is longer than the budget allows."""

    def __init__(self, inner: IO[bytes], budget: Budget) -> None:
        self._inner, self._budget = inner, budget

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > self._budget.entry + MB:
            raise NotUnpacked("not read", "a part of it is longer than may be read at one time")
        data = self._inner.read(size)
        self._budget.total -= len(data)
        if self._budget.total < 0:
            raise NotUnpacked("not read", "it holds more than may be unpacked in all")
        return data


def _packed(file: IO[bytes], kind: str, name: str, budget: Budget) -> Iterator[ArchiveEntry]:
    """A file packed by gzip, xz or bzip2: a tar, or one file."""
    import bz2

    def unpacked() -> IO[bytes]:
        file.seek(0)
        if kind == "gzip":
            return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]
        return lzma.LZMAFile(file) if kind == "xz" else bz2.BZ2File(file)  # type: ignore[return-value]

    with _damage():
        head = unpacked().read(512)
    if packing_of(head) == "tar":
        yield from _tar(unpacked(), budget)
        return
    inner = re.sub(r"\.(gz|xz|bz2)$", "", name, flags=re.IGNORECASE)
    yield ArchiveEntry((inner,), None, None, unpacked(), budget)


def _tar(file: IO[bytes], budget: Budget) -> Iterator[ArchiveEntry]:
    # What is read is counted here, so that skipping a huge entry counts as well.
    counted = _Counted(file, budget)
    free = Budget(budget.entry, 1 << 62)
    with _damage():
        archive = tarfile.open(fileobj=counted, mode="r|", errors="surrogateescape")  # noqa: SIM115 - closed below
    with archive:
        while True:
            with _damage():
                member = archive.next()
            if member is None:
                return
            if member.isdir():
                continue
            parts, problem = _parts(member.name)
            if problem is None and not member.isreg():
                problem = NotUnpacked("not read", "a link or device in the archive: ask for the file itself")
            if problem is None and member.size > budget.entry:
                problem = NotUnpacked("not read", f"more than {budget.entry // MB} MB when unpacked")
            try:
                time = datetime.fromtimestamp(member.mtime, UTC) if member.mtime > 0 else None
            except (ValueError, OverflowError, OSError):
                time = None
            opened = None if problem else archive.extractfile(member)
            yield ArchiveEntry(parts, time, problem, opened, free)
