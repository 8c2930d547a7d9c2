"""A class on a Dask cluster: the same verdicts as at home, whoever dies, leaves, joins or must not take part."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nbproof.cli.live import Counting
from nbproof.dask import pool, tasks
from nbproof.dask.pool import connect
from nbproof.errors import UsageError
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint, read_blueprint
from nbproof.marking.hand_in import HandIn, read_hand_in
from nbproof.marking.results import Verdict
from nbproof.nbgrader_setup import course_config
from nbproof.run.digests import versions
from nbproof.run.intake import take_in
from nbproof.run.plan import Job
from nbproof.run.pool import Pool, PoolMaker, marked
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import ClusterLost
from nbproof.sandbox.isolation import Isolation
from nbproof.testing import Rehearsal
from nbproof.testing.small import LESSON, POINTS, RIGHT
from nbproof.testing.warm import shared_pool
from tests.warm import limited

distributed = pytest.importorskip(
    "distributed", reason="a Dask cluster is NOT tested: the extra [dask] is not installed"
)

# Dask itself leaves files and loops open.
pytestmark = pytest.mark.filterwarnings("ignore")

# A busy machine must not look like a slow learner.
GENEROUS = {"exercise_seconds": 6.0, "submission_seconds": 120.0}
LIMITS = GradingLimits(memory_mb=512, **GENEROUS)
FULL = sum(POINTS.values())

CLASS = {
    "ada": RIGHT,
    "ben": {**RIGHT, "first": "def first(x):\n    return x"},
    "cem": {**RIGHT, "second": "def second(x):\n    while True: pass"},
    "dia": {**RIGHT, "second": "import os\ndef second(x):\n    os._exit(3)"},
    "eli": {**RIGHT, "third": "def third(x):\n    import ctypes; ctypes.string_at(0)"},
    "fay": {"first": "def first(x:"},
    "gus": {},
}


@pytest.fixture
def course(course: Path) -> Path:
    """The small course, with generous limits."""
    lines = [f"c.GradingLimits.{name} = {value}\n" for name, value in GENEROUS.items()]
    with (course / "nbgrader_config.py").open("a") as config:
        config.writelines(["\n", *lines])
    return course


@pytest.fixture
def scheduler() -> Iterator[Any]:
    """A scheduler in this process, without workers."""
    with distributed.LocalCluster(n_workers=0, processes=False, protocol="tcp://", dashboard_address=None) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Any]:
    """Two worker processes of one thread each, which come again when they are killed."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster


def _jobs(course: Path) -> list[Job]:
    return [Job(submission, "") for submission in take_in(course, [LESSON], [LESSON]).submissions]


def _read(job: Job) -> HandIn:
    return read_hand_in(job.submission.key, job.submission.path, LIMITS)


def _blueprints(course: Path) -> dict[str, Blueprint]:
    return {LESSON: read_blueprint(course / "source" / LESSON / f"{LESSON}.ipynb", course_config(course))}


def _told(verdict: Verdict) -> Any:
    """A verdict without what depends on the clock."""

    def stripped(data: Any) -> Any:
        if isinstance(data, dict):
            return {key: stripped(value) for key, value in data.items() if key not in ("seconds", "peak_mb")}
        return [stripped(one) for one in data] if isinstance(data, list) else data

    return stripped(json.loads(json.dumps(verdict.as_dict())))


def _pids(cluster: Any) -> dict[str, int]:
    with distributed.Client(cluster, set_as_default=False) as client:
        return dict(client.run(os.getpid))


def _fork_servers(pids: dict[str, int]) -> int:
    import psutil

    found = 0
    for pid in pids.values():
        for child in psutil.Process(pid).children():
            with contextlib.suppress(psutil.NoSuchProcess):  # it has ended meanwhile
                alive = child.status() != psutil.STATUS_ZOMBIE
                found += alive and "nbproof.sandbox.fork_server" in " ".join(child.cmdline())
    return found


def _marked(made: PoolMaker, course: Path, seed: int = 7) -> Iterator[tuple[Job, Verdict]]:
    with made(_blueprints(course), seed, LIMITS) as pool:
        yield from marked(pool, _jobs(course), _read, seed)


def test_a_class_on_two_machines_has_the_verdicts_of_one(room: Rehearsal, two_workers: Any, engine: Engine) -> None:
    room.hand_in_all(CLASS)
    room.hand_in("hal", {}).write_bytes(b"hello")
    with limited(engine, memory_mb=512, **GENEROUS):
        home = _marked(shared_pool(engine), room.root)
        wanted = {job.submission.learner: _told(verdict) for job, verdict in home}
    said: list[str] = []
    before = _fork_servers(_pids(two_workers))
    with connect(two_workers.scheduler_address, None, 30, said.append) as cluster:
        graded = room.grade(seed=7, pool=cluster.pool)
    for learner in CLASS:
        assert _told(room.verdict(learner)) == wanted[learner]
    scores = {score.learner: score for score in graded.marks.values()}
    assert scores["ada"].score == FULL
    assert scores["cem"].score == scores["dia"].score == FULL - POINTS["second"]
    assert "not a notebook" in scores["hal"].problem
    assert said[-1] == "marking on 2 Dask workers, 2 submissions at a time"
    until = time.monotonic() + 10
    while _fork_servers(_pids(two_workers)) > before and time.monotonic() < until:
        time.sleep(0.1)
    assert _fork_servers(_pids(two_workers)) <= before, "the run left engines behind"


@pytest.mark.nightly
def test_a_killed_worker_loses_and_doubles_nothing(room: Rehearsal, two_workers: Any) -> None:
    wanted = {}
    for number in range(24):
        answers = dict(list(RIGHT.items())[: number % 4])
        room.hand_in(f"learner{number:02d}", answers)
        wanted[f"learner{number:02d}"] = sum(POINTS[name] for name in answers)
    before = _pids(two_workers)
    found: list[tuple[str, float]] = []
    most = 0
    with connect(two_workers.scheduler_address, None, 30) as cluster:
        for job, verdict in _marked(cluster.pool, room.root):
            found.append((job.submission.learner, verdict.score))
            most = max(most, sum(str(key).startswith("mark-") for key in list(two_workers.scheduler.tasks)))
            if len(found) == 5:
                os.kill(next(iter(before.values())), signal.SIGKILL)
    assert sorted(found) == sorted(wanted.items())
    assert 0 < most <= 5, "the class is fed through a window of twice the threads, and one that is just released"


@pytest.mark.nightly
def test_what_kills_each_worker_is_given_up_and_the_others_are_marked(
    room: Rehearsal, two_workers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Else each of two tries costs four workers.
    monkeypatch.setattr(two_workers.scheduler, "allowed_failures", 0)
    learners = ["ada", "ben", "cem", "dia"]
    room.hand_in_all(dict.fromkeys(learners, RIGHT))
    with connect(two_workers.scheduler_address, None, 120) as cluster:

        @contextlib.contextmanager
        def deadly(*given: Any) -> Iterator[Pool]:
            with cluster.pool(*given) as pool:
                executor = cluster.client.get_executor(pure=False)

                def submit(one: HandIn) -> Any:
                    return executor.submit(_die) if one.key.learner == "ben" else pool.submit(one)

                yield replace(pool, submit=submit)

        problems = {job.submission.learner: verdict.problem for job, verdict in _marked(deadly, room.root)}
    assert "KilledWorker" in problems.pop("ben")
    assert problems == dict.fromkeys(("ada", "cem", "dia"), "")


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class _Closing(Counting):
    """Starts a thread when two submissions have their verdict."""

    def __init__(self, thread: threading.Thread) -> None:
        super().__init__()
        self.thread = thread

    def marked(self, name: str, verdict: Verdict) -> None:
        super().marked(name, verdict)
        if self.done == 2:
            self.thread.start()


@pytest.mark.nightly
def test_a_lost_scheduler_ends_the_run_and_the_next_run_goes_on(room: Rehearsal) -> None:
    for number in range(4):
        room.hand_in(f"learner{number}", RIGHT)
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=None
    )
    closing = threading.Thread(target=cluster.close)
    try:
        with connect(cluster.scheduler_address, None, 30) as there, pytest.raises(ClusterLost) as lost:
            room.grade(
                seed=7,
                pool=there.pool,
                watch=_Closing(closing),
            )
    finally:
        closing.join()
    assert "scheduler" in lost.value.fact
    assert cluster.scheduler_address in lost.value.place
    assert "goes on" in lost.value.next_command
    done = {path.parent.parent.name for path in room.root.glob("autograded/*/*/.verdict.json")}
    assert len(done) >= 2
    again = room.grade()
    assert again.seed == 7
    assert {learner for learner, _ in again.graded} == {f"learner{number}" for number in range(4)} - done
    assert all(score.score == FULL for score in again.marks.values())


@pytest.mark.parametrize("typed", ["127.0.0.1:1", "a b", "http://host:8786/x", "missing.json"])
def test_nobody_listens(typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(distributed, "Client", lambda *given, **more: asked.append(given))
    with pytest.raises(ClusterLost) as lost, connect(typed):
        pass
    assert "no Dask scheduler answers" in lost.value.fact
    assert lost.value.place == f"--dask {typed}"
    assert "start a scheduler" in lost.value.next_command
    assert asked == [], "Dask's own client tries for half a minute"


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="dask is not installed") as error, connect("host:1"):
        pass
    assert "[dask]" in error.value.next_command


def test_without_workers_it_waits_says_so_and_gives_up(
    room: Rehearsal, scheduler: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    room.hand_in("ada", RIGHT)
    said: list[str] = []
    path = tmp_path_factory.mktemp("dask") / "scheduler.json"
    path.write_text(json.dumps({"address": scheduler.scheduler_address}))
    with connect(str(path), None, 1.5, said.append) as cluster, pytest.raises(ClusterLost) as lost:
        list(_marked(cluster.pool, room.root))
    assert "no Dask worker came within 1.5 s" in lost.value.fact
    assert any("dask worker tcp://" in text for text in said)


def test_a_worker_of_another_version_is_not_used(
    room: Rehearsal, scheduler: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.hand_in("ada", RIGHT)
    scheduler.scale(1)
    wanted = {**versions(), "torch": "1.0"}
    monkeypatch.setattr(pool, "versions", lambda: wanted)
    said: list[str] = []
    with connect(scheduler.scheduler_address, None, 30, said.append) as cluster, pytest.raises(ClusterLost) as lost:
        list(_marked(cluster.pool, room.root))
    assert "wanted 1.0" in lost.value.fact
    assert lost.value.fact.startswith("worker tcp://")


@pytest.mark.parametrize(
    ("wanted", "told", "found"),
    [
        (None, (0, "reduced isolation: reduced, because", ""), (Isolation.REDUCED, "isolation: reduced, because")),
        (Isolation.FULL, (1, "", "this machine offers no full isolation"), None),
    ],
)
def test_a_worker_has_a_level_of_its_own_and_must_not_mark_where_another_is_demanded(
    monkeypatch: pytest.MonkeyPatch, wanted: Isolation | None, told: tuple[int, str, str], found: object
) -> None:
    ended = SimpleNamespace(returncode=told[0], stdout=told[1], stderr=told[2])
    monkeypatch.setattr(tasks.subprocess, "run", lambda *_, **__: ended)
    if found:
        assert tasks.isolation_here(wanted) == found
    else:
        with pytest.raises(ClusterLost, match="no full isolation"):
            tasks.isolation_here(wanted)
