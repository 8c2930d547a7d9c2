"""From the bytes that were handed in to text: out of archives and encodings, with bounds on all that comes out.

What is no text (a picture, a PDF, a Word file) is named by its first bytes.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import codecs
import gzip
import io
import lzma
import re
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from nbproof.text import printable

__all__ = ["HAND_IN", "MOST", "Damaged", "text_of", "unwrapped"]


class Damaged(Exception):
    """A file that holds no submission; the text says why."""


MOST = 64 << 20
"""Bytes that an archive may bring."""
_DEEPEST = 3
"""Archives one in another."""
_MOST_ENTRIES = 2_000

_KNOWN = (
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"RIFF", "a picture, sound or film"),
    (b"BM", "a picture (BMP)"),
    (b"II*\0", "a picture (TIFF)"),
    (b"MM\0*", "a picture (TIFF)"),
    (b"\0\0\0\x18ftyp", "a film or a picture"),
    (b"\0\0\0\x1cftyp", "a film or a picture"),
    (b"\0\0\0\x20ftyp", "a film or a picture"),
    (b"ID3", "sound (MP3)"),
    (b"OggS", "sound or film (Ogg)"),
    (b"\x1aE\xdf\xa3", "a film"),
    (b"\xd0\xcf\x11\xe0", "an old Word, Excel or PowerPoint file"),
    (b"{\\rtf", "a rich text document (RTF)"),
    (b"%!PS", "a PostScript document"),
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"SQLite format 3\0", "a database (SQLite)"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"\x80\x02", "a Python pickle"),
    (b"\x80\x04", "a Python pickle"),
    (b"\x80\x05", "a Python pickle"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF", "an HDF5 file"),
    (b"bplist00", "a link or a settings file of macOS"),
    (b"L\0\0\0\x01\x14\x02\0", "a Windows shortcut, which only says where the file was"),
    (b"\0\x05\x16\x07", "what macOS keeps beside a file (._name), not the file"),
    (b"version https://git-lfs", "a pointer of git LFS, not the file that it points to"),
)
HAND_IN = "hand in the .ipynb file itself"


def unwrapped(data: bytes, lesson: str = "", depth: int = 0) -> tuple[bytes, list[str]]:
    """The bytes inside gzip, zip, tar, bz2, xz or base64, and what was taken off. Raises Damaged."""
    if not data.strip(b"\0 \t\r\n\f\v"):
        fact = "the file is empty" if not data.strip(b" \t\r\n") else "the file holds nothing but zero bytes"
        raise Damaged(f"{fact}: save the notebook, look at its size, and {HAND_IN}")
    found = _inside(data, lesson)
    if found is not None:
        if depth >= _DEEPEST:
            raise Damaged(f"it is an archive in an archive in an archive: {HAND_IN}")
        inner, told = found
        data, more = unwrapped(inner, lesson, depth + 1)
        return data, [told, *more]
    for start, kind in _KNOWN:
        if data.startswith(start):
            raise Damaged(f"it is not a notebook but {kind}: {HAND_IN}")
    return data, []


def _inside(data: bytes, lesson: str) -> tuple[bytes, str] | None:
    if data.startswith(b"\x1f\x8b"):
        return _expanded(lambda: gzip.GzipFile(fileobj=io.BytesIO(data)), "gzip"), "the file was packed with gzip"
    if data.startswith(b"BZh"):
        return _expanded(lambda: bz2.BZ2File(io.BytesIO(data)), "bzip2"), "the file was packed with bzip2"
    if data.startswith(b"\xfd7zXZ\0"):
        return _expanded(lambda: lzma.LZMAFile(io.BytesIO(data)), "xz"), "the file was packed with xz"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _from_zip(data, lesson)
    if data[257:262] == b"ustar":
        return _from_tar(data, lesson)
    if data[:2000].strip()[:1].isalnum() and re.fullmatch(rb"[A-Za-z0-9+/\s]{200,}={0,2}\s*", data):
        with_padding = b"".join(data.split())
        try:
            inner = base64.b64decode(with_padding + b"=" * (-len(with_padding) % 4))
        except (binascii.Error, ValueError):
            return None
        if inner.lstrip()[:1] in (b"{", b"[") or inner.startswith((b"\x1f\x8b", b"PK\x03\x04")):
            return inner, "the file was encoded in base64"
    return None


def _expanded(opened: Callable[[], Any], kind: str) -> bytes:
    """All bytes of a compressed stream, as far as it goes; not more than MOST."""
    pieces, size = [], 0
    try:
        with opened() as file:
            while piece := file.read(1 << 20):
                pieces.append(piece)
                size += len(piece)
                if size > MOST:
                    raise Damaged(f"packed with {kind}, it holds more than {MOST >> 20} MB: {HAND_IN}")
    except Damaged:
        raise
    except Exception as error:  # whatever the library raises on what is no archive
        if not size:
            raise Damaged(
                f"it is packed with {kind}, and cannot be unpacked ({type(error).__name__}): {HAND_IN}"
            ) from None
    return b"".join(pieces)


def _from_zip(data: bytes, lesson: str) -> tuple[bytes, str]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
            _refuse_documents(names)
            name = _the_notebook(names, lesson, "zip archive")
            return _expanded(lambda: archive.open(name), "zip"), f"the file was a zip archive; {_base(name)} was in it"
    except Damaged:
        raise
    except Exception as error:  # whatever zipfile raises on a broken archive
        raise Damaged(f"it is a zip archive that cannot be read ({type(error).__name__}): {HAND_IN}") from None


def _from_tar(data: bytes, lesson: str) -> tuple[bytes, str]:
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            names = []
            for info in archive:
                names += [info.name] if info.isfile() else []
                if len(names) > _MOST_ENTRIES:
                    break
            name = _the_notebook(names, lesson, "tar archive")
            file = archive.extractfile(name)
            if file is None:
                raise Damaged(f"it is a tar archive without a notebook: {HAND_IN}")
            return _expanded(lambda: file, "tar"), f"the file was a tar archive; {_base(name)} was in it"
    except Damaged:
        raise
    except Exception as error:  # whatever tarfile raises on a broken archive
        raise Damaged(f"it is a tar archive that cannot be read ({type(error).__name__}): {HAND_IN}") from None


def _refuse_documents(names: list[str]) -> None:
    kinds = {"word/": "a Word document", "xl/": "an Excel sheet", "ppt/": "a PowerPoint presentation"}
    for start, kind in kinds.items():
        if any(name.startswith(start) for name in names):
            raise Damaged(f"it is not a notebook but {kind}: {HAND_IN}")
    if "mimetype" in names and "content.xml" in names:
        raise Damaged(f"it is not a notebook but an OpenDocument file: {HAND_IN}")
    if any(name.endswith("/data.pkl") for name in names):
        raise Damaged(f"it is not a notebook but saved data, such as a model's weights: {HAND_IN}")


def _base(name: str) -> str:
    short = PurePosixPath(name.replace("\\", "/")).name[:80]
    return printable(short)


def _the_notebook(names: list[str], lesson: str, kind: str) -> str:
    """The one notebook among an archive's files: the only one, or the one that is called as the lesson is."""
    real = [
        name
        for name in names[:_MOST_ENTRIES]
        if name.lower().endswith(".ipynb") and "__MACOSX" not in name and ".ipynb_checkpoints" not in name
        and not _base(name).startswith(".")
    ]  # fmt: skip
    named = [name for name in real if lesson and _base(name).startswith(lesson)]
    exact = [name for name in named if _base(name) == f"{lesson}.ipynb"]
    for choice in (exact, named, real):
        if len(choice) == 1:
            return choice[0]
    if not real:
        raise Damaged(f"it is a {kind} without a notebook: {HAND_IN}")
    shown = ", ".join(sorted(_base(name) for name in real)[:4])
    raise Damaged(
        f"it is a {kind} with {len(real)} notebooks ({shown}), and which one counts cannot be told: {HAND_IN}"
    )


def text_of(data: bytes) -> tuple[str, list[str]]:
    """The text, in whatever encoding, and a note if it is not UTF-8."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
        (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):  # fmt: skip
        if data.startswith(mark):
            if encoding == "utf-8":
                return _as_utf8(data[len(mark) :])
            return data[len(mark) :].decode(encoding, "replace"), [f"the file was saved as {encoding[:6].upper()}"]
    head = data[:400]
    if head.count(b"\0") * 3 > len(head):
        encoding = "utf-16-be" if head[:1] == b"\0" else "utf-16-le"
        return data.decode(encoding, "replace"), ["the file was saved as UTF-16"]
    return _as_utf8(data.rstrip(b"\0"))


def _as_utf8(data: bytes) -> tuple[str, list[str]]:
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError:
        encoding = _eastern(data)
        if encoding:
            return data.decode(encoding, "replace"), [f"the file was saved as {encoding.upper()}, and not as UTF-8"]
        return data.decode("utf-8", _WINDOWS), ["the file was not saved as UTF-8"]


_EASTERN = ("gb18030", "cp949", "big5", "cp1251")
"""What text editors save by themselves, set to Chinese, Korean or Russian. Japanese is told by its syllables."""
_ENOUGH = 1 << 16
"""Bytes that are looked at to tell an encoding."""


def _eastern(data: bytes) -> str:
    """Which of these encodings a text has; empty if it looks western, or like UTF-8 with some bytes spoiled."""
    from charset_normalizer import from_bytes

    # The lines of the texts in it too: JSON may be all on one line.
    pieces = dict.fromkeys(line for line in re.split(rb"\n|\\n|\"", data) if not line.isascii())
    every = b"\n".join(pieces)[:_ENOUGH]
    if 2 * len(every.decode("utf-8", "ignore").encode("utf-8").translate(None, bytes(range(128)))) >= _high(every):
        return ""
    # A sign here and there, as in "easy · 5 min", stands in every lesson and tells nothing: text in another script is dense.
    lines = b"\n".join([line for line in pieces if 4 * _high(line) > len(line)])[:_ENOUGH] or every
    # Bytes of the others make no kana of full width.
    kana = sum("\u3041" <= sign <= "\u30fe" for sign in lines.decode("cp932", "ignore"))
    if 4 * kana > _high(lines) / 2:
        return "cp932"
    # The dot between words of two bytes, as Chinese and Korean encodings have it; a western text has no such pair.
    western = [] if any(b" \xa1\xa4 " in line for line in pieces) else ["cp1251", "cp1252", "cp1250"]
    best = from_bytes(lines, cp_isolation=[*_EASTERN[:3], *western]).best()
    if best is None and not western:
        return _EASTERN[0]  # a few signs alone: what most people have who have that dot
    return best.encoding if best is not None and best.encoding in _EASTERN else ""


def _high(line: bytes) -> int:
    """How many of its bytes are no ASCII."""
    return sum(byte > 0x7F for byte in line)


_WINDOWS = "course-windows-1252"


def _windows(error: UnicodeError) -> tuple[str, int]:
    """What is no UTF-8 is read as Windows' western encoding, byte by byte."""
    assert isinstance(error, UnicodeDecodeError)
    wrong = error.object[error.start : error.end]
    return "".join(bytes([byte]).decode("cp1252", "replace") for byte in wrong), error.end


codecs.register_error(_WINDOWS, _windows)
