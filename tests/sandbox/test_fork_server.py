"""The process that forks workers ends in silence when the engine has hung up, as after Ctrl-C."""

from __future__ import annotations

import socket
from unittest.mock import Mock

import pytest

from nbproof.sandbox import fork_server
from nbproof.sandbox.isolation import Isolation


def test_a_worker_that_ends_after_the_engine_hung_up_is_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.close()
    monkeypatch.setattr(fork_server.os, "waitid", Mock(side_effect=ChildProcessError))
    server = fork_server.ForkServer.__new__(fork_server.ForkServer)
    server.control, server.isolation = theirs, Isolation.FULL
    server.names, server.ending, server.crowded = {41: 7, 42: 8}, {41: -9}, set()
    with theirs:
        server.reap()
    assert (server.names, server.ending) == ({42: 8}, {})


def test_an_engine_that_hangs_up_before_it_has_read_all_is_no_trouble() -> None:
    """As after an error while everything was on its way: its end is closed, and what was sent to it stays unread."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = fork_server.ForkServer.__new__(fork_server.ForkServer)
    server.control = theirs
    with theirs:
        theirs.send(b'{"ready": true}')
        ours.close()
        assert server.asked() == (b"", [])
