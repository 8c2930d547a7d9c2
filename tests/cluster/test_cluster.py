"""A class on a small Dask cluster: the verdicts are those of this machine, and nothing stays behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nbproof.authoring.simulate import LEARNERS, simulate_class
from nbproof.errors import CourseError, UsageError
from nbproof.marking.results import Verdict
from nbproof.run.journal import Watch
from nbproof.run.pool import PoolMaker, pool_named
from nbproof.sandbox.isolation import Isolation
from nbproof.terminal import tell
from nbproof.testing import Rehearsal, scores
from nbproof.testing.small import POINTS, RIGHT
from tests import COURSE, ROOT, SLUGS, needs_isolation

pytest.importorskip("nbproof_dask", reason="a Dask cluster is NOT tested: nbproof-dask is not installed")

import dask
from distributed import Client

from tests.cluster.machines import Machines, machines, until

# Dask itself leaves files and loops open.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore"), needs_isolation]

CLASS = {
    "ada": RIGHT,
    "ben": {**RIGHT, "first": "def first(x):\n    return x"},
    "cem": {**RIGHT, "second": "import os\ndef second(x):\n    os._exit(3)"},
}


def told(verdict: Any) -> str:
    """A verdict, without what depends on the clock and on what the memory held before."""

    def stripped(data: Any) -> Any:
        if isinstance(data, dict):
            return {key: stripped(value) for key, value in data.items() if key not in ("seconds", "peak_mb")}
        return [stripped(one) for one in data] if isinstance(data, list) else data

    return json.dumps(stripped(verdict), sort_keys=True)


def verdicts(room: Rehearsal) -> dict[str, str]:
    """``learner/lesson`` -> what the journal has of the last run."""
    paths = room.root.glob("autograded/*/*/.verdict.json")
    return {"/".join(path.parts[-3:-1]): told(json.loads(path.read_text())) for path in paths}


def essences(room: Rehearsal) -> dict[str, Any]:
    """The same without texts that differ from run to run: addresses in memory, and random numbers without a seed."""
    found = {}
    for path in room.root.glob("autograded/*/*/.verdict.json"):
        verdict = json.loads(path.read_text())
        kept = {name: verdict[name] for name in ("answers", "written", "recovered", "lost", "damage", "own")}
        for one in verdict["exercises"]:
            findings = [
                (finding["check"], finding["passed"], finding["hint"], _place(finding)) for finding in one["findings"]
            ]
            kept[f"exercise {one['id']}"] = [one["status"], one["points"], findings]
        found["/".join(path.parts[-3:-1])] = kept
    return found


def _place(finding: Any) -> list[str]:
    """Where the first difference is, and of which kind."""
    return [finding["difference"][name] for name in ("where", "kind")] if finding.get("difference") else []


def pool_of(cluster: Machines, isolation: Isolation = Isolation.FULL) -> PoolMaker | None:
    """The pool that ``--pool`` would name."""
    return pool_named(cluster.pool, "--pool", isolation=isolation, says=tell)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """One worker: another one costs as much again, and at night there are more."""
    with machines(tmp_path_factory.mktemp("cluster"), "one") as made:
        yield made


def test_a_class_on_a_cluster_has_the_verdicts_of_this_machine(
    room: Rehearsal, cluster: Machines, capfd: pytest.CaptureFixture[str]
) -> None:
    room.hand_in_all(CLASS)
    there = scores(room.grade(seed=7, pool=pool_of(cluster)))
    found = verdicts(room)
    assert "marking on 1 Dask worker, 1 submission at a time" in capfd.readouterr().err
    assert (there, found) == (scores(room.grade(seed=7, force=True)), verdicts(room))
    assert sorted(found) == sorted(f"{name}/{room.lesson}" for name in CLASS)
    until(lambda: not cluster.stations())


@pytest.mark.parametrize("address", ["127.0.0.1:8786", "nowhere.json", ""])
def test_what_is_no_address_is_said_at_once(address: str) -> None:
    with pytest.raises(UsageError, match="neither the address of a Dask scheduler nor a file"):
        pool_named(f"dask:{address}", "--pool", isolation=Isolation.FULL)


class _Then(Watch):
    """Does something once so many are marked, and looks at what all are given."""

    def __init__(self, count: int, does: Callable[[], object]) -> None:
        self.count, self.does = count, does
        self.names: list[str] = []

    def marked(self, name: str, verdict: Verdict) -> None:
        super().marked(name, verdict)
        self.names.append(name)
        if self.done == self.count:
            self.does()


def a_class(room: Rehearsal, count: int) -> dict[str, float]:
    """Have so many hand in; learner -> the marks that each has to get."""
    wanted = {}
    for number in range(count):
        answers = dict(list(RIGHT.items())[: number % 4])
        room.hand_in(f"learner{number:02d}", answers)
        wanted[f"learner{number:02d}"] = sum(POINTS[name] for name in answers)
    return wanted


@pytest.mark.nightly
@pytest.mark.parametrize("deaths", [1, 2])
def test_of_workers_that_are_killed_nothing_is_lost_or_marked_twice(
    room: Rehearsal, tmp_path_factory: pytest.TempPathFactory, deaths: int
) -> None:
    wanted = a_class(room, 24)
    with machines(tmp_path_factory.mktemp("cluster"), "one", "two", "three") as cluster:
        doomed = list(cluster.processes)[1 : 1 + deaths]
        watch = _Then(5, lambda: [cluster.kill(name) for name in doomed])
        graded = room.grade(seed=7, pool=pool_of(cluster), watch=watch)
        until(lambda: not cluster.stations())
    assert scores(graded) == wanted
    assert sorted(watch.names) == sorted(f"{name}/{room.lesson}" for name in wanted)


@pytest.mark.nightly
def test_a_worker_that_joins_later_gets_work(
    room: Rehearsal, tmp_path_factory: pytest.TempPathFactory, capfd: pytest.CaptureFixture[str]
) -> None:
    wanted = a_class(room, 24)
    heard = [""]

    def is_at_work() -> bool:
        heard[0] += capfd.readouterr().err
        return "marking on 2 Dask workers, 2 submissions at a time" in heard[0]

    with machines(tmp_path_factory.mktemp("cluster"), "early") as cluster:

        def joins() -> None:
            cluster.start_worker("late")
            until(is_at_work)

        assert scores(room.grade(seed=7, pool=pool_of(cluster), watch=_Then(2, joins))) == wanted
        until(lambda: not cluster.stations())


@pytest.mark.nightly
def test_when_the_scheduler_is_killed_what_was_marked_stands_and_the_same_command_goes_on(
    room: Rehearsal, tmp_path_factory: pytest.TempPathFactory
) -> None:
    wanted = a_class(room, 12)
    with machines(tmp_path_factory.mktemp("cluster"), "one", "two") as cluster:
        with pytest.raises(CourseError) as lost:
            room.grade(seed=7, pool=pool_of(cluster), watch=_Then(4, lambda: cluster.kill("scheduler")))
        assert "the Dask scheduler is gone, or does not answer" in lost.value.fact
        assert "the same command goes on" in lost.value.next_command
        done = set(verdicts(room))
        assert len(done) >= 4
        for name in list(cluster.processes):
            cluster.kill(name)
        until(lambda: not cluster.stations())
        cluster.start_scheduler()
        cluster.start_worker("three")
        again = _Then(0, bool)
        graded = room.grade(pool=pool_of(cluster), watch=again)
    assert scores(graded) == wanted
    assert {*again.names} == {f"{name}/{room.lesson}" for name in wanted} - done


_MARKS = "from nbproof_dask import station, worker\nmark = vars(station).setdefault('mark', worker.mark)\n"
"""How a program begins that changes ``mark`` of a worker: Dask runs what it preloads four times."""
_OTHER_TORCH = """
from importlib import metadata
true = metadata.version
metadata.version = lambda name: "1.0" if name == "torch" else true(name)
"""
_NO_NAMESPACES = ["unshare", "-Ur", "sh", "-c", 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', "sh"]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("versions", "torch is 1.0 there and "),
        ("isolation", "offers no full isolation"),
        ("package", "nbproof_dask is not installed there: python -m pip install nbproof-dask"),
    ],
)
def test_a_worker_that_would_come_to_another_verdict_is_named_and_not_asked(
    room: Rehearsal,
    tmp_path_factory: pytest.TempPathFactory,
    capfd: pytest.CaptureFixture[str],
    what: str,
    says: str,
) -> None:
    wanted = a_class(room, 4)
    folder = tmp_path_factory.mktemp("cluster")
    with machines(folder) as cluster:
        if what == "versions":
            (folder / "sitecustomize.py").write_text(_OTHER_TORCH)
            cluster.start_worker("other", PYTHONPATH=str(folder))
        elif what == "isolation":
            cluster.start_worker("other", before=_NO_NAMESPACES)
        else:
            cluster.start_worker("other", preload="import sys; sys.modules['nbproof_dask'] = None")
        with pytest.raises(CourseError, match="no worker can mark") as refused:
            room.grade(seed=7, pool=pool_of(cluster))
        assert says in refused.value.fact
        cluster.start_worker("fit")
        until(lambda: "Registered to" in cluster.log("fit"))
        assert scores(room.grade(seed=7, pool=pool_of(cluster))) == wanted
        until(lambda: not cluster.stations())
    said = capfd.readouterr().err
    assert "is not asked: " in said and says in said


def _run(room: Rehearsal, *command: str) -> str:
    """What a command prints, run in the course as somebody types it."""
    ended = subprocess.run([sys.executable, "-m", *command], cwd=room.root, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


@pytest.mark.nightly
def test_as_nbgrader_is_configured(room: Rehearsal, cluster: Machines) -> None:
    wanted = a_class(room, 4)
    config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    (room.root / "nbgrader_config.py").write_text(f"{config}\nc.Mark.pool = {cluster.pool!r}\n", encoding="utf-8")
    assert "Dask worker" in _run(room, "nbgrader", "autograde", room.lesson)
    assert room.book() == wanted
    until(lambda: not cluster.stations())


@pytest.mark.nightly
def test_with_reduced_isolation_where_no_more_is_to_be_had_and_quietly(
    room: Rehearsal, tmp_path_factory: pytest.TempPathFactory
) -> None:
    wanted = a_class(room, 4)
    with machines(tmp_path_factory.mktemp("cluster")) as cluster:
        cluster.start_worker("less", before=_NO_NAMESPACES)
        command = ["course", "grade", "--course", str(room.root), "--pool", cluster.pool, "--isolation", "reduced"]
        assert "Dask" not in _run(room, *command, "--quiet")
        assert room.book() == wanted
        assert "marking on 1 Dask worker" in _run(room, *command, "--force")
        assert room.book() == wanted


@pytest.mark.nightly
def test_a_worker_where_reference_answers_lose_marks_is_not_asked(
    room: Rehearsal, tmp_path_factory: pytest.TempPathFactory, capfd: pytest.CaptureFixture[str]
) -> None:
    """As on a processor that rounds otherwise."""
    wanted = a_class(room, 4)
    folder = tmp_path_factory.mktemp("cluster")
    program = "import nbproof_dask.fitness as one; one.shortfall = lambda *given: 'first earns 0 of 2'"
    (folder / "sitecustomize.py").write_text(
        f"import sys, importlib.util\nif 'nbproof_dask.station' in sys.orig_argv:\n    {program}\n"
    )
    with machines(folder) as cluster:
        cluster.start_worker("odd", PYTHONPATH=str(folder))
        cluster.start_worker("fit")
        until(lambda: "Registered to" in cluster.log("fit") and "Registered to" in cluster.log("odd"))
        assert scores(room.grade(seed=7, pool=pool_of(cluster))) == wanted
    assert f"reference answers end otherwise there: {room.lesson}: first earns 0 of 2" in capfd.readouterr().err


@pytest.mark.nightly
def test_a_slow_worker_holds_up_what_it_has_and_nothing_else(
    room: Rehearsal, tmp_path_factory: pytest.TempPathFactory
) -> None:
    wanted = a_class(room, 16)
    slow = (
        f"{_MARKS}import time\n"
        "def slowly(*given):\n    print('HERE IS ONE')\n    time.sleep(30)\n    return mark(*given)\nworker.mark = slowly"
    )
    with machines(tmp_path_factory.mktemp("cluster"), "one") as cluster:
        cluster.start_worker("slow", preload=slow)
        until(lambda: "Registered to" in cluster.log("slow"))
        watch = _Then(0, bool)
        assert scores(room.grade(seed=7, pool=pool_of(cluster), watch=watch)) == wanted
        begun = cluster.log("slow").count("HERE IS ONE")
    assert len(watch.names) == len(wanted)
    # While it has one, the other marks the rest; one more if that takes longer than 30 s.
    assert 1 <= begun <= 3


@pytest.mark.nightly
def test_a_hand_in_that_ends_its_workers_is_set_aside_by_name_and_the_others_are_marked(
    room: Rehearsal, tmp_path_factory: pytest.TempPathFactory
) -> None:
    wanted = a_class(room, 8)
    room.hand_in("mallory", {"first": "# THIS ENDS THE WORKER"})
    deadly = (
        f"{_MARKS}import os\n"
        "def dies(run, hand_in):\n    if b'THIS ENDS THE WORKER' in hand_in: os.kill(os.getpid(), 9)\n"
        "    return mark(run, hand_in)\nworker.mark = dies"
    )
    with machines(tmp_path_factory.mktemp("cluster")) as cluster:
        for name in ("one", "two"):
            cluster.start_worker(name, preload=deadly, comes_again=True)
        graded = room.grade(seed=7, pool=pool_of(cluster))
    problems = {one.learner: one.problem for one in graded.ungraded()}
    problem = problems.pop("mallory")
    assert problems == {}
    assert "what marked it ended twice (PlaceLost: worker tcp://" in problem
    assert {name: score for name, score in scores(graded).items() if name != "mallory"} == wanted


@pytest.mark.nightly
def test_a_hand_in_that_ends_the_process_that_marks_costs_no_worker(
    room: Rehearsal, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """As when a machine without memory ends it."""
    wanted = a_class(room, 8)
    room.hand_in("mallory", {"first": "# THIS ENDS THE STATION"})
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "sitecustomize.py").write_text(
        "import sys\nif 'nbproof_dask.station' in sys.orig_argv:\n"
        "    import os\n    from nbproof_dask import parcels\n    read = parcels.hand_in_of\n"
        "    def dies(data):\n        if b'THIS ENDS THE STATION' in data: os.kill(os.getpid(), 9)\n"
        "        return read(data)\n    parcels.hand_in_of = dies\n"
    )
    with machines(folder) as cluster:
        for name in ("one", "two"):
            cluster.start_worker(name, PYTHONPATH=str(folder))
        graded = room.grade(seed=7, pool=pool_of(cluster))
        assert all(process.poll() is None for process in cluster.processes.values())
    problems = {one.learner: one.problem for one in graded.ungraded()}
    problem = problems.pop("mallory")
    assert problems == {}
    assert "what marked it ended twice (PlaceLost: the process that marks ended)" in problem
    assert {name: score for name, score in scores(graded).items() if name != "mallory"} == wanted


_ELSEWHERE = """
set -e
umask 022
mount -t tmpfs none /mnt
mkdir -p /mnt/python
mount --rbind "$1" /mnt/python
mount -t tmpfs none "$2"
mount -t tmpfs none "$3"
mkdir -p "$1"
mount --rbind /mnt/python "$1"
shift 3
exec "$@"
"""
"""In a mount namespace: the environment $1 is there, and what else lies in $2 and in $3 is not."""


@pytest.fixture(scope="module")
def installed() -> Iterator[Path]:
    """A folder for ``PYTHONPATH`` with what a worker needs, as pip installs it."""
    # Not in a folder for temporary files: no sealed process sees those.
    with tempfile.TemporaryDirectory(prefix="worker-", dir=sys.prefix) as folder:
        quiet = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
        packages = [str(ROOT / "packages" / name) for name in ("nbproof", "nbproof-grader", "nbproof-dask")]
        command = [sys.executable, "-m", "pip", "install", *quiet, "--target", folder, *packages]
        subprocess.run(command, check=True)
        yield Path(folder)


@pytest.fixture
def far_away(room: Rehearsal, installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """Three workers that see neither this repository nor the course's folder; skipped aloud where only root may do that."""
    if os.geteuid():
        pytest.skip("mount namespaces are NOT tested: that takes root")
    before = ["unshare", "--mount", "sh", "-c", _ELSEWHERE, "sh", sys.prefix, str(ROOT), str(room.root)]
    hidden = [str(ROOT / "lessons"), str(room.root / "source")]
    looks = f"import os; print('sees', [one for one in {hidden} if os.path.exists(one)])"
    with machines(tmp_path_factory.mktemp("cluster")) as cluster:
        for name in ("one", "two", "three"):
            cluster.start_worker(name, before=before, preload=looks, PYTHONPATH=str(installed))
        yield cluster
        assert all("sees []" in cluster.log(name) for name in ("one", "two", "three"))


@pytest.mark.nightly
def test_workers_without_the_courses_folder_come_to_the_same_verdicts(room: Rehearsal, far_away: Machines) -> None:
    wanted = a_class(room, 97)
    room.hand_in_all(CLASS)
    there = scores(room.grade(seed=7, pool=pool_of(far_away)))
    found = verdicts(room)
    assert (there, found) == (scores(room.grade(seed=7, force=True)), verdicts(room))
    assert len(found) == len(wanted) + len(CLASS)


@pytest.mark.nightly
def test_the_simulated_class_has_the_same_verdicts_there(
    room: Rehearsal, far_away: Machines, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = Rehearsal.of(ROOT, tmp_path_factory.mktemp("whole"))
    simulate_class(COURSE, ROOT, [], into=whole.root)
    whole.grade(SLUGS, seed=7, pool=pool_of(far_away))
    found = essences(whole)
    whole.grade(SLUGS, seed=7, force=True)
    here = essences(whole)
    assert {name: (one, here[name]) for name, one in found.items() if one != here[name]} == {}
    assert len(found) == len(SLUGS) * len(LEARNERS)


def _certificates(folder: Path) -> dict[str, str]:
    """An authority and a certificate, as docs/more_machines.md makes them: their files, by Dask's options."""
    new = ["openssl", "req", "-newkey", "rsa:2048", "-nodes"]
    sign = ["openssl", "x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial"]
    commands = [
        [*new, "-x509", "-subj", "/CN=authority", "-keyout", "ca-key.pem", "-out", "ca.pem"],
        [*new, "-subj", "/CN=grading", "-keyout", "key.pem", "-out", "request.pem"],
        [*sign, "-out", "cert.pem"],
    ]
    for command in commands:
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return {name: str(folder / f"{file}.pem") for name, file in (("ca-file", "ca"), ("cert", "cert"), ("key", "key"))}


@pytest.mark.nightly
def test_by_tls_and_nobody_comes_in_without_a_certificate(
    room: Rehearsal, tmp_path_factory: pytest.TempPathFactory
) -> None:
    wanted = a_class(room, 4)
    folder = tmp_path_factory.mktemp("cluster")
    files = _certificates(folder)
    options = [f"--tls-{name}={file}" for name, file in files.items()]
    with machines(folder, "one", options=[*options, "--protocol", "tls"]) as cluster:
        assert cluster.address.startswith("tls://")
        with pytest.raises(CourseError, match="no Dask scheduler answers there"):
            room.grade(seed=7, pool=pool_of(cluster))
        names = {"ca-file": "ca-file", "client.cert": "cert", "client.key": "key"}
        with dask.config.set({f"distributed.comm.tls.{name}": files[file] for name, file in names.items()}):
            assert scores(room.grade(seed=7, pool=pool_of(cluster))) == wanted


@pytest.mark.nightly
def test_ctrl_c_leaves_no_work_behind(room: Rehearsal, tmp_path_factory: pytest.TempPathFactory) -> None:
    a_class(room, 24)
    with machines(tmp_path_factory.mktemp("cluster"), "one", "two") as cluster:
        command = [sys.executable, "-m", "course", "grade", "--course", str(room.root), "--pool", cluster.pool]
        run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        until(lambda: len(verdicts(room)) >= 2)
        run.send_signal(signal.SIGINT)
        said, _ = run.communicate(timeout=180)
        assert run.returncode == 130
        assert "interrupted after" in said and "Traceback" not in said
        until(lambda: not cluster.stations())
        with Client(cluster.address, set_as_default=False) as client:
            assert sum(map(len, client.processing().values())) == 0
            assert not client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))
