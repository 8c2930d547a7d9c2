"""The machine's own limits: they are read, a run fits itself into them, and what they end is started again."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import threading
import time
from pathlib import Path

import psutil
import pytest

from nbproof.course_file import Course
from nbproof.sandbox import engine, machine
from nbproof.sandbox.exceptions import EngineFailed, EngineLost
from nbproof.sandbox.fork_server import ForkServer
from nbproof.sandbox.isolation import Isolation, offered
from nbproof.sandbox.launch import Launched
from nbproof.sandbox.machine import Fit, Room, room_here
from nbproof.sandbox.visible_tree import VisibleTree
from nbproof.testing import Rehearsal
from nbproof.testing.small import RIGHT
from tests import COURSE, needs_isolation, some_by_day

pytestmark = needs_isolation
_levels = pytest.mark.parametrize(
    "level", some_by_day([one for one in offered() if not offered()[one]], 2), ids=lambda one: one.value
)


@_levels
def test_a_fork_server_that_is_killed_is_started_again(room: Rehearsal, level: Isolation) -> None:
    slow = "import time\ntime.sleep(1.5)\n" + RIGHT["first"]
    room.hand_in_all({"ada": {**RIGHT, "first": slow}, "bob": {**RIGHT, "first": slow}})
    killed: list[int] = []
    others = set(psutil.Process().children())  # the session's engine is one

    def kill() -> None:
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline and not killed:
            time.sleep(0.2)
            for one in set(psutil.Process().children()) - others:
                with contextlib.suppress(psutil.Error):  # it has ended meanwhile
                    family = (
                        one.children(recursive=True) if "nbproof.sandbox.fork_server" in "".join(one.cmdline()) else []
                    )
                    # The process that forks, below the one that keeps it; as soon as it has a worker.
                    if len(family) >= 2 and family[0].children():
                        time.sleep(0.5)
                        family[0].kill()
                        killed.append(family[0].pid)
                        break

    killer = threading.Thread(target=kill)
    killer.start()
    graded = room.grade(pool=None, isolation=level)
    killer.join()
    assert killed
    assert {one.learner: (one.score, one.problem) for one in graded.marks.values()} == dict.fromkeys(
        ("ada", "bob"), (4.0, "")
    )
    assert not [
        one for one in psutil.process_iter(["cmdline"]) if str(room.root) in " ".join(one.info["cmdline"] or ())
    ]


@pytest.mark.parametrize(
    ("room", "workers", "wanted"),
    [
        (Room(8), None, Fit(8, 48)),
        (Room(2, processes=60), None, Fit(1, 17)),
        (Room(8, processes=100), 4, Fit(4, 12)),
        (Room(8, memory_mb=4096), None, Fit(3, 48)),
        (Room(8, memory_mb=1024), None, Fit(1, 48)),
    ],
)
def test_workers_and_their_processes_fit_the_room(room: Room, workers: int | None, wanted: Fit) -> None:
    assert room.fit(48, 2048, workers) == wanted


def test_the_limits_of_both_versions_of_cgroups_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new, above, old = tmp_path / "new", tmp_path / "above", tmp_path / "old"
    files = {
        new: {"cpu.max": "max 100000", "pids.max": "500", "pids.current": "20"},
        above: {"cpu.max": "150000 100000", "pids.max": "max", "memory.max": str(3 << 30)},
        old: {
            "pids.max": "300", "memory.limit_in_bytes": "9223372036854771712",
            "cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000",
        },
    }  # fmt: skip
    for folder, texts in files.items():
        folder.mkdir()
        for name, text in texts.items():
            (folder / name).write_text(f"{text}\n")
    monkeypatch.setattr(machine, "own_cgroups", lambda: iter([new, above, old]))
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(16)))
    assert room_here() == Room(2, 300, 3072)
    (old / "cpu.cfs_quota_us").write_text("50000\n")
    assert room_here().cpus == 1


@pytest.mark.slow
def test_a_fork_server_that_always_ends_is_not_started_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def ends_at_once(course: Course, isolation: Isolation) -> Launched:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        theirs.send(b'{"ready": true}')
        theirs.close()
        started.append(ours)
        return Launched(subprocess.Popen(["true"]), ours, tmp_path / "nothing")

    monkeypatch.setattr(engine, "launch", ends_at_once)
    with (
        engine.Engine(COURSE, isolation=Isolation.FULL) as one,
        pytest.raises(EngineFailed, match="forks workers ended") as said,
    ):
        while True:
            try:
                with one.worker({}):
                    pass
            except EngineLost as lost:
                assert lost.next_command == "grade again"
    assert not isinstance(said.value, EngineLost) and len(started) == 4
    assert "grade again" in said.value.next_command
    monkeypatch.undo()
    with engine.Engine(COURSE) as again, again.worker({}) as worker:
        assert worker.pid


def test_an_engine_that_hangs_up_before_it_has_read_all_is_no_trouble() -> None:
    """As after Ctrl-C, or an error while everything was on its way: what was sent to it stays unread."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = ForkServer(theirs, Isolation.REDUCED, COURSE, VisibleTree((), (), ()))
    with theirs:
        theirs.send(b'{"ready": true}')
        ours.close()
        server.tell(7, -9)
        server.loop()
