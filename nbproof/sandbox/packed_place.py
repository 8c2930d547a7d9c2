"""Packs the values got and wanted into little JSON-able data: a verdict carries it, and a feedback page draws it."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

from nbproof.sandbox import evidence_wire, wire
from nbproof.values.compare import Place, place_of, plainly, worth_drawing
from nbproof.values.evidence import Evidence, snapshot
from nbproof.values.leaf import Leaves

__all__ = ["pack", "unpack"]

_MOST_BYTES = 64 * 1024
"""Bytes of arrays, both sides together, before they are compressed. A larger answer has no picture."""

_MOST_TEXT = 16 * 1024


def pack(compared: tuple[Evidence, object] | None) -> dict[str, Any] | None:
    """Pack the place where (got, wanted) differ; None if a picture tells no more than a sentence, or would be too large."""
    if compared is None:
        return None
    try:
        place = place_of(*compared)
        if place is None or not worth_drawing(place):
            return None
        sides, payload = evidence_wire.encode([place.got, snapshot(plainly(place.wanted))])
        if len(payload) > _MOST_BYTES or len(json.dumps(sides)) > _MOST_TEXT:
            return None
        packed = base64.b64encode(zlib.compress(payload, 6)).decode("ascii")
    except Exception:  # it is there for a picture only: what a learner brings must not cost them the verdict
        return None
    return {"where": place.where[:200], "sides": sides, "bytes": packed, "tolerance": place.tolerance}


def unpack(packed: object, leaves: Leaves) -> Place | None:
    """The place that :func:`pack` packed; None for anything else."""
    if not isinstance(packed, dict):
        return None
    try:
        unzip = zlib.decompressobj()
        payload = unzip.decompress(base64.b64decode(packed["bytes"], validate=True), _MOST_BYTES + 1)
        sides = evidence_wire.decode(packed["sides"], payload, leaves)
        if not isinstance(sides, list) or len(sides) != 2:
            return None
        near = packed["tolerance"]
        tolerance = None if near is None else (float(near[0]), float(near[1]))
        return Place(str(packed["where"])[:200], sides[0], sides[1], tolerance)
    except (KeyError, TypeError, ValueError, IndexError, zlib.error, wire.WireError):
        return None
