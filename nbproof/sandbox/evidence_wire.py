"""Makes bytes of evidence, and evidence of bytes: JSON for its form, then the bytes of its arrays; never pickle.

Arrays travel as dtype, shape and bytes. The sender is a process that ran a learner's code. So everything is bounded before it
is parsed or copied, and anything that does not fit the form exactly is a WireError.
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any

from nbproof.sandbox.wire import WireError
from nbproof.text import printable, readable
from nbproof.values.evidence import MAX_ITEMS, Evidence, Parts, TensorRecord, Unreadable
from nbproof.values.leaf import Leaf, Leaves

__all__ = ["decode", "encode", "pack", "unpack"]

_MAX_TEXT = 200_000
"""Characters of all names and texts of one evidence: what judges them may take longer than linear time."""

_MAX_NUMBER = 2**63
_MAX_SIZE = 2**40
"""Elements of an array, sizes of 0 left out. Evidence has few bytes, but a shape without elements could say anything."""

_FORM = struct.Struct(">I")
_MAX_FORM = 4 * 1024 * 1024
"""Most bytes of evidence's JSON: values, shapes and texts. All its texts together have at most :data:`_MAX_TEXT` characters."""
_MAX_MARKS = 30 * MAX_ITEMS + _MAX_TEXT
"""Commas and brackets in it: an array's shape has up to 16, and text may consist of them."""


def encode(evidence: Evidence) -> tuple[Any, bytes]:
    """Evidence as JSON-able data and the bytes of its arrays, one after another."""
    blobs: list[bytes] = []
    characters = 0

    def count(text: str) -> str:
        nonlocal characters
        characters += len(text)
        return text

    def walk(value: Evidence) -> Any:
        if isinstance(value, str):
            return count(value)
        if isinstance(value, TensorRecord):
            blobs.append(value.data)
            return {value.leaf.mark: [value.dtype, list(value.shape), len(value.data)]}
        if isinstance(value, Unreadable):
            return {"u": [count(value.what[:200]), count(value.of[:200])]}
        if isinstance(value, list):
            return {"l": [walk(item) for item in value]}
        if isinstance(value, Parts):
            return {"p": [count(value.noun), *([count(key), walk(item)] for key, item in value.items())]}
        if isinstance(value, dict):
            return {"d": [[count(key), walk(item)] for key, item in value.items()]}
        return value

    encoded = walk(evidence)
    if characters > _MAX_TEXT:
        return {"u": [f"more than {_MAX_TEXT} characters of text", ""]}, b""
    return encoded, b"".join(blobs)


def pack(evidence: Evidence) -> bytes:
    """Make bytes of evidence. A process that only hands them on need not look into them."""
    form, blobs = encode(evidence)
    text = json.dumps(form).encode()
    return _FORM.pack(len(text)) + text + blobs


def unpack(data: bytes, leaves: Leaves) -> Evidence:
    """The evidence that :func:`pack` packed, of these leaf types. Raises WireError for anything else, before it costs much."""
    if len(data) < _FORM.size:
        raise WireError("evidence of no known form")
    (size,) = _FORM.unpack(data[: _FORM.size])
    text = data[_FORM.size : _FORM.size + size]
    # Parsed, JSON can take fifty times its size: what could not be a snapshot is not parsed.
    if size > _MAX_FORM or len(text) != size or sum(text.count(mark) for mark in b",[{") > _MAX_MARKS:
        raise WireError("more evidence than a snapshot holds")
    try:
        form = json.loads(text)
    except (ValueError, RecursionError):
        raise WireError("evidence that is not JSON") from None
    return decode(form, data[_FORM.size + size :], leaves)


def decode(data: Any, payload: bytes, leaves: Leaves) -> Evidence:
    """The evidence that :func:`encode` made. Raises WireError for anything that encode never makes."""
    return _Decoder(payload, leaves).decode(data)


class _Decoder:
    def __init__(self, payload: bytes, leaves: Leaves) -> None:
        self.payload = payload
        self.position = 0
        self.items = 0
        self.characters = 0
        self.leaves = {leaf.mark: leaf for leaf in leaves}

    def decode(self, data: Any) -> Evidence:
        """The evidence in all of the payload."""
        try:
            evidence = self.walk(data, 0)
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise WireError(f"evidence of no known form: {error}") from None
        if self.position != len(self.payload):
            raise WireError("bytes that belong to nothing")
        return evidence

    def walk(self, data: Any, depth: int) -> Evidence:
        """Decode one value that stands in ``depth`` containers."""
        self.items += 1
        if self.items > MAX_ITEMS + 1 or depth > 20:
            raise WireError("more evidence than a snapshot holds")
        if isinstance(data, str):
            return self.take_text(data)
        if isinstance(data, int) and not -_MAX_NUMBER <= data < _MAX_NUMBER:
            raise WireError("a number beyond 64 bits")
        if data is None or isinstance(data, (bool, int, float)):
            return data
        if not isinstance(data, dict) or len(data) != 1:
            raise WireError("evidence of no known form")
        ((kind, value),) = data.items()
        if kind in self.leaves:
            return self.take_array(self.leaves[kind], *value)
        if kind == "u" and isinstance(value, list):
            return Unreadable(*(printable(self.take_text(part[:200])) for part in value))
        if isinstance(value, list):
            return self.decode_items(kind, value, depth + 1)
        raise WireError("evidence of no known form")

    def decode_items(self, kind: str, value: list[Any], depth: int) -> Evidence:
        if kind == "l":
            return [self.walk(item, depth) for item in value]
        if kind == "d":
            return {self.take_text(key): self.walk(item, depth) for key, item in value}
        if kind == "p":
            noun = printable(self.take_text(*value[:1]))
            return Parts(noun, {self.take_text(key): self.walk(item, depth) for key, item in value[1:]})
        raise WireError("evidence of no known form")

    def take_text(self, text: str) -> str:
        if not isinstance(text, str):
            raise WireError("a name that is no text")
        self.characters += len(text)
        if self.characters > _MAX_TEXT:
            raise WireError("more text than a check reads")
        return readable(text)

    def take_array(self, leaf: Leaf, dtype: str, shape: list[int], size: int) -> TensorRecord:
        if dtype not in leaf.item_sizes or len(shape) > 16 or any(type(n) is not int or n < 0 for n in shape):
            raise WireError("an array of no known form")
        if math.prod(max(n, 1) for n in shape) > _MAX_SIZE:
            raise WireError("an array of impossible size")
        if type(size) is not int or size != math.prod(shape) * leaf.item_sizes[dtype]:
            raise WireError("an array with bytes that do not fit its shape")
        data = self.payload[self.position : self.position + size]
        if len(data) != size:
            raise WireError("an array without its bytes")
        self.position += size
        return TensorRecord(dtype, tuple(shape), data, leaf)
