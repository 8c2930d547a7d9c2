"""Messages between the engine and a worker: a JSON header and raw bytes, never pickle.

A frame is ``<4 bytes: header length><4 bytes: payload length><header><payload>``, lengths big-endian.
What a worker sends is untrusted: lengths are bounded before anything is read, and anything that does not
fit the form exactly is a WireError. Evidence is bytes here (:mod:`nbproof.sandbox.evidence_wire`).
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

__all__ = ["MAX_FRAME", "MAX_HEADER", "Closed", "Late", "WireError", "receive", "send"]

MAX_FRAME = 80 * 1024 * 1024
"""Bytes of one frame; snapshots stay below by :data:`nbproof.values.evidence.MAX_BYTES`."""

MAX_HEADER = 8 * 1024 * 1024
"""Bytes of a frame's JSON: parsed, JSON can take fifty times its size."""

_MAX_BRACKETS = 1_500_000
"""Lists and objects in it, those in a printed text included: empty ones are what takes most memory for its length."""

_HEAD = struct.Struct(">II")


class WireError(Exception):
    """Bytes that are no message."""


class Closed(Exception):
    """The other side is gone."""


class Late(Exception):
    """Nothing came in time."""


def send(channel: socket.socket, header: dict[str, Any], payload: bytes = b"") -> None:
    """Write one frame. Raises Closed if nobody reads any more."""
    text = json.dumps(header).encode()
    try:
        channel.sendall(_HEAD.pack(len(text), len(payload)) + text)
        channel.sendall(payload)  # a notebook may be large: no copy of it is made
    except TimeoutError:
        raise Late from None
    except OSError:
        raise Closed from None


def receive(
    channel: socket.socket,
    deadline: float | None = None,
    tick: Callable[[], None] | None = None,
    most: int = MAX_FRAME,
) -> tuple[dict[str, Any], bytes]:
    """Read one frame of at most ``most`` bytes: its header and its payload.

    ``tick`` is called ten times a second or more meanwhile, and may raise. Raises Closed, Late past ``deadline``
    (time.monotonic), and WireError for bytes that are no frame.
    """
    header_size, payload_size = _HEAD.unpack(_exactly(channel, _HEAD.size, deadline, tick))
    if header_size > MAX_HEADER or header_size + payload_size > most:
        raise WireError(f"a frame of {header_size + payload_size} bytes")
    text = _exactly(channel, header_size, deadline, tick)
    if text.count(b"[") + text.count(b"{") > _MAX_BRACKETS:
        raise WireError("a header of too many parts")
    payload = _exactly(channel, payload_size, deadline, tick)
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise WireError("a header that is not JSON") from None
    if not isinstance(header, dict):
        raise WireError("a header that is not an object")
    return header, bytes(payload)


def _exactly(channel: socket.socket, size: int, deadline: float | None, tick: Callable[[], None] | None) -> bytearray:
    # Grown as bytes arrive: a liar who announces 80 MB and sends nothing costs nothing.
    data = bytearray()
    while len(data) < size:
        wait = 0.1 if tick is not None else None
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Late
            wait = left if wait is None else min(wait, left)
        if tick is not None:
            # Also while bytes arrive: one that drips must not keep the watch from looking.
            tick()
        channel.settimeout(wait)
        try:
            chunk = channel.recv(min(size - len(data), 1 << 20))
        except TimeoutError:
            continue
        except OSError:
            raise Closed from None
        if not chunk:
            raise Closed
        data += chunk
    return data
