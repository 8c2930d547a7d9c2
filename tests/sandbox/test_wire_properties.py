"""What goes over the wire, on data that hypothesis draws: it comes back as it was, or is refused by its name."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nbproof.sandbox.evidence_wire import decode, pack, unpack
from nbproof.sandbox.wire import Closed, WireError, receive, send
from nbproof.values.evidence import Evidence, snapshot
from tests.drawn import DRAWN, PLAIN
from tests.leaves import LEAVES

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.sampled_from("ldptnu x"), part, max_size=2),
    max_leaves=10,
)


@DRAWN
@given(st.dictionaries(st.text(max_size=6), JSON, max_size=4), st.binary())
def test_a_frame_comes_back_as_it_was_sent(header: dict[str, Any], payload: bytes) -> None:
    here, there = socket.socketpair()
    with here, there:
        send(here, header, payload)
        assert receive(there) == (header, payload)


@DRAWN
@given(st.binary(max_size=40) | st.builds(lambda head, rest: head + rest, st.just(b"\0\0\0\2\0\0\0\1"), st.binary()))
def test_bytes_that_are_no_frame_are_refused_by_name(data: bytes) -> None:
    here, there = socket.socketpair()
    with there:
        with here:
            here.sendall(data)
        with contextlib.suppress(WireError, Closed):
            header, _ = receive(there)
            assert isinstance(header, dict)


@DRAWN
@given(PLAIN)
def test_evidence_comes_back_as_it_was_packed(value: object) -> None:
    assert unpack(pack(snapshot(value)), LEAVES) == snapshot(value)


def _is_settled(read: Evidence) -> bool:
    """Whether what was taken goes over the wire once more as it is."""
    return pack(unpack(pack(read), LEAVES)) == pack(read)


@DRAWN
@given(PLAIN, st.integers(0, 400), st.binary(max_size=3), st.integers(0, 3))
def test_bent_evidence_is_refused_or_read_as_plain_data(value: object, at: int, new: bytes, gone: int) -> None:
    data = pack(snapshot(value))
    at = min(at, len(data))
    with contextlib.suppress(WireError):
        assert _is_settled(unpack(data[:at] + new + data[at + gone :], LEAVES))


@DRAWN
@given(JSON, st.binary(max_size=8))
def test_json_that_nobody_packed_is_refused_or_read_as_plain_data(form: object, payload: bytes) -> None:
    with contextlib.suppress(WireError):
        assert _is_settled(decode(form, payload, LEAVES))
