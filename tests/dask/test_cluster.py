"""A class on a Dask cluster: the same verdicts as at home, whoever dies, leaves, joins or must not take part."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from nbproof.dask import tasks, workers
from nbproof.dask.address import Address
from nbproof.dask.pool import Cluster, DaskPool, connect
from nbproof.errors import UsageError
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint, read_blueprint
from nbproof.marking.order import Order, order_of
from nbproof.marking.results import SubmissionVerdict
from nbproof.nbgrader_setup import course_config
from nbproof.run.batch import grade_class
from nbproof.run.class_run import PoolMaker
from nbproof.run.digests import versions
from nbproof.run.intake import take_in
from nbproof.run.plan import Job
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import ClusterLost
from nbproof.sandbox.isolation import Isolation
from tests import needs_isolation
from tests.conftest import LESSON, POINTS, RIGHT, ROOT, limited, shared_pool

distributed = pytest.importorskip(
    "distributed", reason="a Dask cluster is NOT tested: the extra [dask] is not installed"
)

pytestmark = pytest.mark.filterwarnings("ignore")

# A busy machine must not look like a slow learner.
GENEROUS = {"exercise_seconds": 3.0, "submission_seconds": 120.0}
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


def _read(job: Job) -> Order:
    one = job.submission
    return order_of(one.learner, one.lesson, one.path, LIMITS)


def _blueprints(course: Path) -> dict[str, Blueprint]:
    return {LESSON: read_blueprint(course / "source" / LESSON / f"{LESSON}.ipynb", course_config(course))}


def _told(verdict: SubmissionVerdict) -> Any:
    """A verdict without what depends on the clock."""

    def stripped(data: Any) -> Any:
        if isinstance(data, dict):
            return {key: stripped(value) for key, value in data.items() if key not in ("seconds", "peak_mb")}
        return [stripped(one) for one in data] if isinstance(data, list) else data

    return stripped(json.loads(json.dumps(verdict.as_dict())))


def _pids(cluster: Any) -> dict[str, int]:
    with distributed.Client(cluster, set_as_default=False) as client:
        return dict(client.run(os.getpid))


def _zygotes(pids: dict[str, int]) -> int:
    import psutil

    found = 0
    for pid in pids.values():
        for child in psutil.Process(pid).children():
            with contextlib.suppress(psutil.NoSuchProcess):  # it has ended meanwhile
                alive = child.status() != psutil.STATUS_ZOMBIE
                found += alive and "nbproof.sandbox.fork_server" in " ".join(child.cmdline())
    return found


def test_a_worker_that_was_started_anywhere_learns_which_course_it_is(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if name != "NBPROOF_COURSE"}
    code = "from nbproof.dask import tasks; print(tasks.prepare('run', b'', {'torch': '1.0'}, ('course', ''))['unfit'])"
    told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=kept, capture_output=True, text=True)
    assert "torch is " in told.stdout, told.stderr


@needs_isolation
def test_a_class_on_two_machines_has_the_verdicts_of_one(
    course: Path, hand_in: Callable[..., Path], two_workers: Any, engine: Engine
) -> None:
    for learner, answers in CLASS.items():
        hand_in(learner, answers)
    hand_in("hal", {}).write_bytes(b"hello")
    blueprints = _blueprints(course)
    with limited(engine, memory_mb=512, **GENEROUS):
        home = shared_pool(engine)(blueprints, 7, LIMITS)
        wanted = {job.submission.learner: _told(verdict) for job, verdict in home.marked(_jobs(course), _read)}
    said: list[str] = []
    # A test whose coordinator was killed has left some, for as long as a station waits for one.
    before = _zygotes(_pids(two_workers))
    with connect(two_workers.scheduler_address, None, 30, said.append) as cluster:
        graded = grade_class(course, take_in(course, [LESSON], [LESSON]), [LESSON], seed=7, pool=cluster.pool)
    for learner in CLASS:
        journal = course / "autograded" / learner / LESSON / ".verdict.json"
        kept = SubmissionVerdict.from_dict(json.loads(journal.read_text())["verdict"])
        assert _told(kept) == wanted[learner]
    scores = {score.learner: score for score in graded.scores}
    assert scores["ada"].score == FULL
    assert scores["cem"].score == scores["dia"].score == FULL - POINTS["second"]
    assert "not a notebook" in scores["hal"].problem
    assert said[-1] == "marking on 2 Dask workers, 2 submissions at a time"
    until = time.monotonic() + 10
    while _zygotes(_pids(two_workers)) > before and time.monotonic() < until:
        time.sleep(0.1)
    assert _zygotes(_pids(two_workers)) <= before, "the run left engines behind"


@pytest.mark.nightly
@needs_isolation
def test_a_killed_worker_loses_and_doubles_nothing_and_one_that_joins_late_helps(
    course: Path, hand_in: Callable[..., Path], two_workers: Any
) -> None:
    wanted = {}
    for number in range(48):
        answers = dict(list(RIGHT.items())[: number % 4])
        hand_in(f"learner{number:02d}", answers)
        wanted[f"learner{number:02d}"] = sum(POINTS[name] for name in answers)
    before = _pids(two_workers)
    both = "marking on 2 Dask workers, 2 submissions at a time"
    found: list[tuple[str, float]] = []
    said: list[str] = []
    most, killed = 0, False
    with connect(two_workers.scheduler_address, None, 30, said.append) as cluster:
        for job, verdict in cluster.pool(_blueprints(course), 3, LIMITS).marked(_jobs(course), _read):
            found.append((job.submission.learner, verdict.score))
            most = max(most, sum(str(key).startswith("mark-") for key in list(two_workers.scheduler.tasks)))
            if both in said and not killed:
                os.kill(next(iter(before.values())), signal.SIGKILL)
                killed = True
            if said.count(both) < 2:
                # Time for the second to start, and for the nanny's new process after the kill.
                time.sleep(1.5)
    assert sorted(found) == sorted(wanted.items())
    assert 0 < most <= 5, "the class is fed through a window of twice the threads, and one that is just released"
    assert "lost 1 Dask worker; what it was marking goes to the others" in said
    assert said.count(both) == 2, "the worker that joined late was to mark, too"


@pytest.mark.nightly
@needs_isolation
def test_what_kills_the_coordinator_is_tried_last_and_set_aside(
    course: Path, hand_in: Callable[..., Path], two_workers: Any
) -> None:
    learners = ["ada", "ben", "cem"]
    for learner in learners:
        hand_in(learner, RIGHT if learner != "ben" else {**RIGHT, "third": RIGHT["third"] + "  # KILLER"})
    # Workers whose code is the coordinator's own: they mark it, and it is the verdict that kills.
    words = [
        sys.executable,
        str(ROOT / "tests/run/killing.py"),
        str(course),
        "--dask",
        two_workers.scheduler_address,
    ]

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=ROOT, capture_output=True, text=True)

    def notes() -> dict[str, str]:
        kept = [json.loads(path.read_text()) for path in course.glob(".course/marking/*.json")]
        return {one["learner"]: one["standing"] for one in kept}

    first = run()
    assert first.returncode == -signal.SIGKILL, first.stderr
    assert notes()["ben"] == "started"
    second = run()
    assert second.returncode == 1, second.stderr
    assert "set aside" in second.stdout + second.stderr
    assert notes() == {"ben": "set aside"}
    done = {path.parent.parent.name for path in course.glob("autograded/*/*/.verdict.json")}
    assert done == {"ada", "cem"}


@pytest.mark.nightly
@needs_isolation
def test_a_lost_scheduler_ends_the_run_and_the_next_run_goes_on(
    course: Path, hand_in: Callable[..., Path], pool: PoolMaker
) -> None:
    for number in range(4):
        hand_in(f"learner{number}", RIGHT)
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=None
    )
    closing = threading.Thread(target=cluster.close)
    try:
        with connect(cluster.scheduler_address, None, 30) as there, pytest.raises(ClusterLost) as lost:
            grade_class(
                course, take_in(course, [LESSON], [LESSON]), [LESSON], seed=7, pool=there.pool,
                step=lambda done, of, name: closing.start() if done == 2 else None,
            )  # fmt: skip
    finally:
        closing.join()
    assert "scheduler" in lost.value.fact
    assert cluster.scheduler_address in lost.value.place
    assert "goes on" in lost.value.next_command
    done = {path.parent.parent.name for path in course.glob("autograded/*/*/.verdict.json")}
    assert len(done) >= 2
    again = grade_class(course, take_in(course, [LESSON], [LESSON]), [LESSON], pool=pool)
    assert again.seed == 7
    assert {learner for learner, _ in again.graded} == {f"learner{number}" for number in range(4)} - done
    assert all(score.score == FULL for score in again.scores)


def test_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(distributed, "Client", lambda *given, **more: asked.append(given))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ClusterLost) as lost, connect(f"127.0.0.1:{port}"):
        pass
    assert "nobody listens" in lost.value.fact
    assert str(port) in lost.value.place
    assert f"dask scheduler --port {port}" in lost.value.next_command
    assert asked == [], "Dask's own client tries for half a minute"


def test_something_else_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nbproof.dask.address._CONNECT_SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(ClusterLost) as lost:  # noqa: SIM117
        with connect(f"tcp://127.0.0.1:{server.getsockname()[1]}"):
            pass
    assert "not answer as a Dask scheduler" in lost.value.fact
    assert "8787" in lost.value.next_command


@pytest.mark.parametrize(
    "typed", ["", "tcp://", "http://host:8786", "host:port", "tcp://host:99999", "a b", "host:8786/x"]
)
def test_what_is_no_address(typed: str) -> None:
    with pytest.raises(UsageError) as error:
        Address.of(typed)
    assert error.value.next_command


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("host", "tcp://host:8786"), ("10.0.0.7:99", "tcp://10.0.0.7:99"), ("tls://h:1", "tls://h:1"), ("tcp://[::1]:5", "tcp://[::1]:5")],
)  # fmt: skip
def test_what_is_an_address(typed: str, meant: str) -> None:
    assert Address.of(typed).text == meant


def test_a_scheduler_file_names_the_address(tmp_path: Path) -> None:
    path = tmp_path / "scheduler.json"
    path.write_text('{"address": "tcp://10.0.0.7:8786"}')
    assert Address.of(str(path)).text == "tcp://10.0.0.7:8786"
    with pytest.raises(UsageError, match="cannot be read"):
        Address.of(str(tmp_path / "missing.json"))


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="dask is not installed") as error, connect("host:1"):
        pass
    assert "[dask]" in error.value.next_command


def test_without_workers_it_waits_says_so_and_gives_up(
    course: Path, hand_in: Callable[..., Path], scheduler: Any
) -> None:
    hand_in("ada", RIGHT)
    said: list[str] = []
    with connect(scheduler.scheduler_address, True, 1.5, said.append) as cluster, pytest.raises(ClusterLost) as lost:
        list(cluster.pool(_blueprints(course), 1, LIMITS).marked(_jobs(course), _read))
    assert "no Dask worker came within 1.5 s" in lost.value.fact
    assert any("dask worker tcp://" in text for text in said)


def test_a_worker_of_another_version_is_not_used(
    course: Path, hand_in: Callable[..., Path], scheduler: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in("ada", RIGHT)
    scheduler.scale(1)
    wanted = {**versions(), "torch": "1.0"}
    monkeypatch.setattr(workers, "versions", lambda: wanted)
    said: list[str] = []
    with connect(scheduler.scheduler_address, True, 30, said.append) as cluster, pytest.raises(ClusterLost) as lost:
        list(cluster.pool(_blueprints(course), 1, LIMITS).marked(_jobs(course), _read))
    assert "wanted 1.0" in lost.value.fact
    assert any(text.startswith("not used: worker ") for text in said)


def test_a_worker_that_cannot_isolate_says_so(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_isolation", lambda wanted: (None, "it cannot isolate submissions: the kernel refuses"))
    setup = tasks.packed(tasks.Setup(_blueprints(course), 1, {}, None))
    assert (
        tasks.prepare("run", setup, versions(), ("course", ""))["unfit"]
        == "it cannot isolate submissions: the kernel refuses"
    )


def test_a_worker_has_a_level_of_its_own_which_is_not_there_where_another_is_demanded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = {"": "reduced isolation: reduced, because", "full": "refused this machine offers no full isolation"}

    def tried(words: list[str], **_: object) -> SimpleNamespace:
        return SimpleNamespace(returncode=0, stdout=answers[words[-1]])

    monkeypatch.setattr(tasks.subprocess, "run", tried)
    assert tasks._isolation(None) == (Isolation.REDUCED, "isolation: reduced, because")
    assert tasks._isolation(Isolation.FULL) == (None, "this machine offers no full isolation")


class _Future:
    def __init__(self, key: str, outcome: Any) -> None:
        self.key, self.outcome = key, outcome

    def done(self) -> bool:
        return True

    def add_done_callback(self, call: Callable[[Any], None]) -> None:
        call(self)

    def cancel(self, force: bool = False) -> None:
        pass

    def result(self, timeout: float) -> Any:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


class _Client:
    """In place of Dask's: what becomes of each order is written down beforehand."""

    status = "running"
    scheduler = SimpleNamespace(ncores=None)
    fitness: ClassVar[dict[str, str]] = {"unfit": ""}

    def __init__(self, outcomes: dict[str, list[Any]], workers: dict[str, int]) -> None:
        self.outcomes, self.workers = outcomes, workers
        self.prepared: list[str] = []

    def sync(self, *_: object, **__: object) -> dict[str, int]:
        return self.workers

    def run(self, *_: object, **__: object) -> None:
        pass

    def submit(self, task: Any, *arguments: Any, key: str, **options: Any) -> _Future:
        if task is tasks.prepare:
            self.prepared += options["workers"]
            return _Future(key, self.fitness)
        order: Order = pickle.loads(arguments[1])
        outcome = self.outcomes[order.learner].pop(0)
        if callable(outcome):
            outcome = outcome(order, sorted(options["workers"]))
        return _Future(key, outcome if isinstance(outcome, Exception) else json.dumps(outcome).encode())


def _verdict(order: Order, workers: list[str], **changed: Any) -> dict[str, Any]:
    verdict = SubmissionVerdict(order.learner, order.lesson, 1, (), {}, {}).as_dict()
    return {"verdict": {**verdict, **changed}, "worker": workers[0]}


def _killed() -> Exception:
    return distributed.KilledWorker("mark", SimpleNamespace(address="tcp://x"), 3)


_OUTCOMES: dict[str, tuple[list[Any], str]] = {
    "marked at once": ([_verdict], ""),
    "its neighbour killed the worker": ([_killed(), _verdict], ""),
    "it kills every worker": ([_killed(), _killed()], "every worker that marked it died"),
    "the worker forgot the run": ([{"unprepared": True, "worker": "a"}, _verdict], ""),
    "the worker's engine failed": ([{"failed": "no", "worker": "a"}, lambda order, workers: _verdict(order, workers)], ""),
    "no JSON, then a verdict": ([ValueError("x"), _verdict], ""),
    "a verdict on somebody else": ([lambda o, w: _verdict(o, w, learner="eve")] * 3, "please report this"),
    "too many marks": (
        [
            lambda o, w: _verdict(
                o, w, exercises=[{"id": "first", "status": "passed", "sentence": "", "hint": None, "seconds": 0, "tests": [
                    {"grade_id": "test_first", "score": 99.0, "max_score": 99.0, "passed": [], "failed": []}]}],
            )
        ] * 3, "99.0 marks",
    ),
    "no known status": (
        [lambda o, w: _verdict(o, w, exercises=[{"id": "first", "status": "rich", "sentence": "", "tests": []}])] * 3,
        "no known status",
    ),
}  # fmt: skip


def test_a_worker_whose_isolation_is_reduced_is_named(course: Path, hand_in: Callable[..., Path]) -> None:
    hand_in("ada", RIGHT)
    client: Any = _Client({"ada": [_verdict]}, {"a": 1})
    client.fitness = {"unfit": "", "reduced": "isolation: reduced"}
    said: list[str] = []
    cluster = Cluster(client, Address.of("tcp://host:1"), None, 5.0, said.append)
    assert [
        verdict.problem for _, verdict in DaskPool(cluster, _blueprints(course), 1, LIMITS).marked(_jobs(course), _read)
    ] == [""]
    assert "worker a: isolation: reduced" in said


@pytest.mark.parametrize("name", _OUTCOMES)
def test_what_becomes_of_an_order(course: Path, hand_in: Callable[..., Path], name: str) -> None:
    outcomes, problem = _OUTCOMES[name]
    hand_in("ada", RIGHT)
    hand_in("ben", RIGHT)
    client: Any = _Client(
        {"ada": list(outcomes), "ben": [_verdict]}, {"a": 1} if "forgot" in name else {"a": 1, "b": 1}
    )
    cluster = Cluster(client, Address.of("tcp://host:1"), True, 5.0, lambda text: None)
    found = {
        job.submission.learner: verdict
        for job, verdict in DaskPool(cluster, _blueprints(course), 1, LIMITS).marked(_jobs(course), _read)
    }
    assert found["ben"].problem == ""
    assert problem in found["ada"].problem
    assert bool(found["ada"].problem) == bool(problem)
    assert client.prepared == (["a", "a"] if "forgot" in name else ["a", "b"])
    with contextlib.suppress(IndexError):
        assert not client.outcomes["ada"].pop(), "an order was given up too soon"
