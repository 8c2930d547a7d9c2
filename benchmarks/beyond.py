"""What a run, a gradebook and a Dask scheduler take with far more hand-ins than these machines could mark.

    python -m benchmarks.beyond writes                    1,000 verdicts journalled and written to SQLite
    python -m benchmarks.beyond writes --db-url URL       the same, to an empty database of a server
    python -m benchmarks.beyond pool --hand-ins 10000     Dask alone: a pool that writes nothing down
    python -m benchmarks.beyond run --hand-ins 1000       `course grade --pool dask:FILE`, from its start to its end

The hand-ins are those of the simulated class, under other names. Their verdicts are those that the engine has reached once:
--like FOLDER takes a class that is graded already, otherwise one is graded first. On Dask a worker waits in place of marking;
scheduler, pool and run are the real ones, each in a process of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console

from benchmarks.bench import COURSE, ROOT, make_course

SEED = 20260
WAITING = '''
"""A Dask worker that has the verdict already, and waits as long as marking would take."""
import json, os, tempfile, time
from pathlib import Path

from nbproof_dask import worker
from nbproof_dask.fitness import Card, versions
from nbproof_dask.parcels import Answer, Said, Work, hand_in_of

SECONDS, CLASS = float(os.environ["WAITING_SECONDS"]), Path(os.environ["WAITING_CLASS"])
VERDICTS = {path.parts[-3:-1]: path.read_text() for path in CLASS.glob("autograded/*/*/.verdict.json")}


def join(run, work, slots):
    found = Work.read(work)
    lessons = found.unpacked(Path(tempfile.mkdtemp(prefix="waiting-")))
    return Answer(Said.FIT, Card(slots, found.isolation.value, versions(lessons), {}).as_bytes()).as_bytes()


def mark(run, data):
    time.sleep(SECONDS)
    learner, lesson = hand_in_of(data).key
    kept = VERDICTS[learner.rstrip("0123456789"), lesson]
    first, _, rest = kept.partition(", ")
    return Answer(Said.VERDICT, ('{"learner": ' + json.dumps(learner) + ", " + rest).encode()).as_bytes()


worker.join, worker.mark, worker.leave = join, mark, lambda run: None
'''
"""What a worker runs first (``--preload``)."""


@dataclass(frozen=True)
class Used:
    """What a process has used."""

    cpu: float
    peak_mb: float

    @classmethod
    def by(cls, process: psutil.Process) -> Used:
        """So far."""
        times, status = process.cpu_times(), Path(f"/proc/{process.pid}/status").read_text()
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return cls(times.user + times.system, int(peak.split()[1]) / 1024)


def graded_class(folder: Path) -> Path:
    """The simulated class, graded by the engine; its hand-ins and verdicts are repeated."""
    make_course(folder, 1)
    subprocess.run([sys.executable, "-m", "course", "grade", "--course", str(folder), "--no-feedback"], check=True)
    return folder


def make_class(folder: Path, like: Path, number: int) -> None:
    """A course with ``number`` hand-ins, of which nothing is graded; its reference answers need not be tried."""
    from nbproof.limits import GradingLimits
    from nbproof.places import course_config
    from nbproof.run.digests import LessonState
    from nbproof.run.journal import RunState
    from nbproof.run.references import References
    from nbproof.sandbox.isolation import Isolation

    for name in ("source", "release"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    for path, name in islice(_copies(like), number):
        place = folder / "submitted" / name / path.parent.name / path.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.hardlink_to(path)
    config, lessons = course_config(folder), sorted(path.name for path in (folder / "source").iterdir())
    limits = GradingLimits(config=config)
    states = {name: LessonState.of(COURSE, folder, name, config, limits) for name in lessons}
    references = References(states, RunState(folder), Isolation.FULL)
    for name in lessons:
        references.keep(name)


def _copies(like: Path) -> Iterator[tuple[Path, str]]:
    """Notebooks of the class that is graded, each with the name of somebody who hands it in, without end."""
    paths = [path for path in sorted(like.glob("submitted/*/*/*.ipynb")) if not path.name.startswith(".")]
    copy = 0
    while True:
        yield from ((path, f"{path.parts[-3]}{copy:05d}") for path in paths)
        copy += 1


def verdicts_of(like: Path) -> Mapping[tuple[str, str], Any]:
    """(learner, lesson) -> the verdict that the engine reached."""
    from nbproof.marking.results import Verdict

    paths = like.glob("autograded/*/*/.verdict.json")
    return {path.parts[-3:-1]: Verdict.from_dict(json.loads(path.read_text())) for path in paths}  # type: ignore[misc]


@contextlib.contextmanager
def _at_once(known: Mapping[tuple[str, str], Any], *given: object) -> Iterator[Any]:
    """A pool that has every verdict already: what is left is the run's own work."""
    from nbproof.run.pool import Pool

    def submit(one: Any) -> Future[Any]:
        future: Future[Any] = Future()
        learner, lesson = one.key
        future.set_result(replace(known[learner.rstrip("0123456789"), lesson], learner=learner))
        return future

    yield Pool(submit, 2, lambda one: submit(one).result())


def writes(folder: Path, like: Path, arguments: argparse.Namespace, say: Callable[[str], None]) -> None:
    """One writer: everything that a run does with a hand-in but marking it."""
    from nbproof.gradebook.writer import Writer
    from nbproof.run.batch import grade_class
    from nbproof.run.intake import gradable_lessons, take_in

    make_class(folder, like, arguments.hand_ins)
    if arguments.db_url:
        with (folder / "nbgrader_config.py").open("a") as config:
            config.write(f"\nc.CourseDirectory.db_url = {arguments.db_url!r}\n")
    known, lessons, spent, write = verdicts_of(like), gradable_lessons(folder, []), [0.0, 0.0], Writer.write

    def timed(*given: Any) -> Any:
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            return write(*given)
        finally:
            spent[0] += time.perf_counter() - wall
            spent[1] += time.process_time() - cpu

    Writer.write = timed  # type: ignore[assignment, method-assign]
    wall, cpu = time.perf_counter(), time.process_time()
    intake = take_in(COURSE, folder, lessons)
    graded = grade_class(COURSE, folder, intake, lessons, seed=SEED, pool=partial(_at_once, known))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    count, peak = len(graded.graded), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    where = graded.gradebook.partition(":")[0]
    say(
        f"{where}: {count} verdicts; the run {cpu / count * 1000:.1f} ms of CPU each ({count / cpu:.0f} in a second of CPU, "
        f"{count / wall:.1f} in a second of this machine), {peak:.0f} MB; of that the gradebook {spent[1] / count * 1000:.1f} ms "
        f"of CPU, {spent[0] / count * 1000:.1f} ms of time"
    )


@contextlib.contextmanager
def waiting_cluster(folder: Path, like: Path, arguments: argparse.Namespace) -> Iterator[dict[str, psutil.Popen]]:
    """A scheduler and workers that wait; the file that the scheduler writes is ``scheduler.json``."""
    folder.mkdir()
    (folder / "waiting.py").write_text(WAITING)
    env = {**os.environ, "WAITING_SECONDS": str(arguments.seconds), "WAITING_CLASS": str(like)}
    file, started = folder / "scheduler.json", {}

    def start(name: str, *words: str) -> None:
        command = [sys.executable, "-m", f"distributed.cli.dask_{name.rstrip('0123456789')}", *words]
        with (folder / f"{name}.log").open("wb") as log:
            started[name] = psutil.Popen(
                [*command, "--scheduler-file", str(file), "--host", "127.0.0.1", "--no-dashboard"],
                stdout=log, stderr=log, env=env, cwd=folder,
            )  # fmt: skip

    try:
        start("scheduler", "--port", "0")
        while not file.exists():
            time.sleep(0.1)
        for number in range(arguments.workers):
            threads = ["--nthreads", str(arguments.slots // arguments.workers), "--memory-limit", "0"]
            start(f"worker{number}", "--no-nanny", "--preload", str(folder / "waiting.py"), *threads)
        yield started
    finally:
        for process in started.values():
            process.kill()
            process.wait()


def _told(used: Mapping[str, Used], before: Mapping[str, Used], count: int) -> str:
    return "; ".join(
        f"{name} {(one.cpu - before[name].cpu) / count * 1000:.2f} ms of CPU each, "
        f"{before[name].peak_mb:.0f} MB before, {one.peak_mb:.0f} MB at most"
        for name, one in used.items()
    )


def pool(folder: Path, like: Path, arguments: argparse.Namespace, say: Callable[[str], None]) -> None:
    """Dask alone: hand-ins go to workers, verdicts come back, nothing is written down."""
    from nbproof.key import Key
    from nbproof.limits import GradingLimits
    from nbproof.marking.blueprint import read_blueprint
    from nbproof.places import course_config, places
    from nbproof.recover.notebook_bytes import HandIn
    from nbproof.run.pool import marked, pool_named
    from nbproof.sandbox.isolation import Isolation

    config, here = course_config(ROOT), places(ROOT)
    blueprints = {name: read_blueprint(COURSE, here.source(name), config, name) for name in here.lessons()}
    copies = islice(_copies(like), arguments.hand_ins)
    jobs = [HandIn(Key(name, path.parent.name), path) for path, name in copies]
    with waiting_cluster(folder / "cluster", like, arguments) as started:
        made = pool_named(f"dask:{folder / 'cluster' / 'scheduler.json'}", "--pool", isolation=Isolation.FULL, says=say)
        assert made is not None
        watched = {"scheduler": started["scheduler"], "the run": psutil.Process(), "a worker": started["worker0"]}
        with made(blueprints, SEED, GradingLimits()) as cluster:
            while cluster.room < 2 * arguments.slots:
                time.sleep(0.2)
            before = {name: Used.by(one) for name, one in watched.items()}
            wall, count = time.perf_counter(), 0
            for _, verdict in marked(cluster, jobs, lambda one: replace(one, notebook=one.path.read_bytes()), SEED):
                assert not verdict.problem, verdict.problem
                count += 1
            wall = time.perf_counter() - wall
            used = {name: Used.by(one) for name, one in watched.items()}
    say(f"{count} hand-ins on {arguments.slots} threads: {count / wall:.0f} in a second; {_told(used, before, count)}")


def run(folder: Path, like: Path, arguments: argparse.Namespace, say: Callable[[str], None]) -> None:
    """The command as a teacher types it."""
    make_class(folder / "course", like, arguments.hand_ins)
    with waiting_cluster(folder / "cluster", like, arguments) as started:
        words = ["--no-feedback", "--quiet", "--seed", str(SEED), "--pool", f"dask:{folder / 'cluster/scheduler.json'}"]
        command = [sys.executable, "-m", "course", "grade", "--course", str(folder / "course"), *words]
        before, wall = Used.by(started["scheduler"]), time.perf_counter()
        with subprocess.Popen(command) as process:
            _, status, spent = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        wall, after = time.perf_counter() - wall, Used.by(started["scheduler"])
    count = len([*(folder / "course").glob("autograded/*/*/.verdict.json")])
    cpu = spent.ru_utime + spent.ru_stime
    say(
        f"exit {process.returncode}, {count} hand-ins in {wall:.0f} s; the run {cpu / count * 1000:.1f} ms of CPU each, "
        f"{spent.ru_maxrss / 1024:.0f} MB; {_told({'scheduler': after}, {'scheduler': before}, count)}"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = {"writes": writes, "pool": pool, "run": run}
    parser.add_argument("what", choices=kinds)
    parser.add_argument("--hand-ins", type=int, default=1000)
    parser.add_argument("--like", type=Path, help="a class that is graded already")
    parser.add_argument("--db-url", default="", help="of an empty database (default: SQLite, in the course's folder)")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long a worker waits in place of marking")
    parser.add_argument("--slots", type=int, default=64, help="threads of all workers together")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--in", type=Path, dest="into", help="where the class is made: on the disk of --like (default: temporary files)"
    )
    arguments = parser.parse_args(argv)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    with tempfile.TemporaryDirectory(dir=arguments.into) as name:
        like = (arguments.like or graded_class(Path(name, "graded"))).resolve()
        (folder := Path(name, "grown")).mkdir()
        kinds[arguments.what](folder, like, arguments, console.print)
        load = ", ".join(f"{one:.0f}" for one in os.getloadavg())
        console.print(f"(load of the machine, over 1, 5 and 15 minutes: {load}; {os.cpu_count()} cores)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
