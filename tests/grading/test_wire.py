"""Messages between engine and worker: what goes in comes out, and nothing else is believed."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time

import pytest
import torch

from nbproof.sandbox import evidence_wire, wire
from nbproof.values.compare import first_difference
from nbproof.values.evidence import TensorRecord, Unreadable, snapshot


@pytest.fixture
def ends():  # type: ignore[no-untyped-def]
    one, other = socket.socketpair()
    yield one, other
    one.close()
    other.close()


@pytest.mark.parametrize(
    "value",
    [
        None, True, 3, -2.5, "text", [], {}, [1, [2.5, None]], {"a": [torch.tensor([[0.5, 2.0, -1.0]]), "b"]},
        torch.empty(0, 3), torch.tensor(2), torch.tensor([[0.1], [0.2]], dtype=torch.float64),
        torch.tensor([True, False]), torch.tensor([0.5, 3.0]).to(torch.bfloat16), torch.tensor([1 + 2j, 3 - 1j]),
        [torch.tensor([0.1]), torch.tensor([0.2, 0.3])],
    ],
    ids=repr,
)  # fmt: skip
def test_evidence_comes_back_as_it_was(value: object) -> None:
    evidence = snapshot(value)
    data, payload = evidence_wire.encode(evidence)
    assert evidence_wire.decode(json.loads(json.dumps(data)), payload) == evidence
    assert first_difference(evidence_wire.decode(data, payload), value) is None


def test_what_is_unreadable_stays_unreadable() -> None:
    data, payload = evidence_wire.encode(Unreadable("a function"))
    assert evidence_wire.decode(data, payload) == Unreadable("a function")


@pytest.mark.parametrize(
    ("data", "payload"),
    [
        ({"t": ["float32", [2], 4]}, b"1234"),  # bytes do not fit the shape
        ({"t": ["float32", [2], 8]}, b"1234"),  # bytes are missing
        ({"t": ["float32", [-1], 4]}, b"1234"),
        ({"t": ["float32", [True], 4]}, b"1234"),
        ({"t": ["object", [1], 8]}, b"12345678"),
        ({"t": ["__class__", [1], 8]}, b"12345678"),
        ({"t": ["float32", [1]]}, b"1234"),
        ({"t": 3}, b""),
        ({"l": {"a": 1}}, b""),
        ({"d": [["a"]]}, b""),
        ({"x": 1}, b""),
        ({"l": [], "d": []}, b""),
        ([1, 2], b""),
        (None, b"bytes that belong to nothing"),
        ({"l": [0] * 30_000}, b""),
    ],
)
def test_a_lie_is_a_wire_error(data: object, payload: bytes) -> None:
    with pytest.raises(wire.WireError):
        evidence_wire.decode(data, payload)


def test_deep_nesting_is_a_wire_error() -> None:
    data: object = None
    for _ in range(500):
        data = {"l": [data]}
    with pytest.raises(wire.WireError):
        evidence_wire.decode(data, b"")


def test_frames_arrive_whole(ends) -> None:  # type: ignore[no-untyped-def]
    one, other = ends
    wire.send(one, {"op": "x"}, b"payload")
    assert wire.receive(other) == ({"op": "x"}, b"payload")


@pytest.mark.parametrize(
    "frame",
    [
        struct.pack(">II", wire.MAX_HEADER + 1, 0),
        struct.pack(">II", 10, wire.MAX_FRAME),
        struct.pack(">II", 3, 0) + b"{x}",
        struct.pack(">II", 4, 0) + b"[12]",
        struct.pack(">II", 5000, 0) + b"[" * 5000,
    ],
    ids=["header too long", "payload too long", "not JSON", "not an object", "deep"],
)
def test_a_broken_frame_is_a_wire_error(ends, frame: bytes) -> None:  # type: ignore[no-untyped-def]
    one, other = ends
    one.sendall(frame)
    with pytest.raises(wire.WireError):
        wire.receive(other, time.monotonic() + 2)


def test_silence_is_late_and_a_dead_peer_is_closed(ends) -> None:  # type: ignore[no-untyped-def]
    one, other = ends
    with pytest.raises(wire.Late):
        wire.receive(other, time.monotonic() + 0.05)
    one.sendall(b"\0\0\0")
    one.close()
    with pytest.raises(wire.Closed):
        wire.receive(other, time.monotonic() + 2)


def test_the_watch_ticks_while_waiting(ends) -> None:  # type: ignore[no-untyped-def]
    ticks = []
    with pytest.raises(wire.Late):
        wire.receive(ends[1], time.monotonic() + 0.35, lambda: ticks.append(1))
    assert len(ticks) >= 2


def test_a_record_of_nan_is_not_equal_to_anything_wanted() -> None:
    evidence = evidence_wire.decode(*evidence_wire.encode(snapshot(torch.tensor([float("nan")]))))
    assert isinstance(evidence, TensorRecord)
    assert first_difference(evidence, torch.tensor([float("nan")])) is not None


def test_a_header_that_costs_fifty_times_its_length_is_not_parsed(ends) -> None:  # type: ignore[no-untyped-def]
    one, other = ends
    text = b'{"outputs": [' + b"[]," * 1_600_000 + b"0]}"
    threading.Thread(target=one.sendall, args=(struct.pack(">II", len(text), 0) + text,), daemon=True).start()
    with pytest.raises(wire.WireError, match="too many parts"):
        wire.receive(other, time.monotonic() + 20)


@pytest.mark.parametrize(
    "data",
    [b"", b"abc", struct.pack(">I", 2) + b"[", struct.pack(">I", 4) + b"{x}]", struct.pack(">I", 5_000_000) + b"0" * 5_000_000,
     struct.pack(">I", 3_000_000) + b"[]," * 1_000_000, struct.pack(">I", 9_000) + b"[" * 9_000,
     struct.pack(">I", 5_000) + b"9" * 5_000, struct.pack(">I", 4) + b"nullrest"],
    ids=["nothing", "no length", "cut off", "not JSON", "too long", "too many parts", "deep", "endless number", "bytes left"],
)  # fmt: skip
def test_evidence_that_was_never_packed_is_a_wire_error(data: bytes) -> None:
    with pytest.raises(wire.WireError):
        evidence_wire.opened(data)


def test_what_was_packed_is_opened() -> None:
    evidence = snapshot({"a": [torch.ones(2, 3), 1, None, "text"], "b": {"c": 1.5}})
    assert evidence_wire.opened(evidence_wire.packed(evidence)) == evidence
