"""Every way to read what a learner was handed: plain, backwards, in hex or base64, compressed, as numbers, as a picture.

A leak is looked for in all of these, in each output and in all of them put together.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import contextlib
import io
import lzma
import re
import struct
import zlib
from collections.abc import Callable, Collection, Iterator

__all__ = ["leaked", "readings"]

_MOST = 2_000_000
_RUN = re.compile(r"[A-Za-z0-9+/=_-]{12,}")
_WIDE = re.compile(r"(?:\b\d{5,8}\.?[\],;\s\[]+){3,}\d{5,8}")
"""Numbers that hold three letters each."""
_NUMBERS = re.compile(r"(?:\b\d{1,3}(?:\.0*)?[,;\s]+){8,}\d{1,3}")


def leaked(texts: Collection[str], pictures: Collection[bytes], lines: Collection[str]) -> list[str]:
    """Which of these secret lines stand in the texts, or in the pictures, however they were written."""
    wanted = {bare: line for line in lines if len(bare := _bare(line)) >= 12}
    found: dict[str, None] = {}
    runs = [run for text in texts for run in _RUN.findall(text)]
    # Short ones stand between the parts of a text that came out in parts.
    together = ["".join(run for run in runs if len(run) >= least) for least in (12, 100)]
    for reading in _all_readings([*texts, *together], pictures):
        even = _bare(reading)
        found.update({line: None for bare, line in wanted.items() if bare in even})
        if len(found) == len(wanted):
            break
    return list(found)


def _bare(text: str) -> str:
    """Without blanks and quotes: source that went through ``ast.unparse`` has others."""
    return re.sub(r"[\s'\"\\]+", "", text)


def _all_readings(texts: Collection[str], pictures: Collection[bytes]) -> Iterator[str]:
    for text in texts:
        yield from readings(text.encode("utf-8", "replace"))
    for picture in pictures:
        with contextlib.suppress(Exception):
            yield from readings(_pixels(picture))


def readings(data: bytes, depth: int = 2) -> Iterator[str]:
    """What these bytes may say."""
    for one in (data, data[::-1]):
        text = one[:_MOST].decode("utf-8", "replace")
        yield text
        yield "".join(text.split("\0"))
        if depth:
            for inner in _inside(one, text):
                yield from readings(inner, depth - 1)


def _inside(data: bytes, text: str) -> Iterator[bytes]:
    for open_ in (_unzipped, bz2.decompress, lzma.decompress):
        yield from _tried(open_, data)
    if len(data) % 4 == 0:
        numbers = struct.unpack(f"<{len(data) // 4}f", data)
        yield bytes(int(number) for number in numbers if number.is_integer() and 0 <= number < 256)
    runs = list(dict.fromkeys(_RUN.findall(text)))[:200]
    for run in runs:
        yield from _tried(bytes.fromhex, run)
        yield from _tried(_from_base64, run)
    for run in list(dict.fromkeys(_NUMBERS.findall(text)))[:50]:
        numbers = [int(float(number)) for number in re.findall(r"\d+(?:\.\d*)?", run)]
        yield bytes(number for number in numbers if number < 256)
    for run in list(dict.fromkeys(_WIDE.findall(text)))[:50]:
        yield b"".join(int(number).to_bytes(4, "big").lstrip(b"\0") for number in re.findall(r"\d+", run))


def _tried(decode: Callable[..., bytes], what: object) -> Iterator[bytes]:
    with contextlib.suppress(ValueError, OSError, EOFError, zlib.error, lzma.LZMAError, binascii.Error):
        made = decode(what)
        if len(made) >= 8:
            yield made[:_MOST]


def _from_base64(run: str) -> bytes:
    even = run.rstrip("=")
    return base64.b64decode(even[: len(even) - (len(even) % 4 == 1)] + "=" * (-len(even) % 4), altchars=None)


def _unzipped(data: bytes) -> bytes:
    """As far as it goes: a stream that is cut off has said most of it."""
    try:
        return zlib.decompressobj(47).decompress(data, _MOST)
    except zlib.error:
        return zlib.decompressobj(-15).decompress(data, _MOST)


def _pixels(picture: bytes) -> bytes:
    from PIL import Image

    with Image.open(io.BytesIO(picture)) as image:
        return image.convert("L").tobytes()
