"""Stock nbgrader, the engine, and the floor, on the same submissions of the real lessons in one run.

    python -m benchmarks.bench                   40 submissions: seconds, ratios, parity, memory
    python -m benchmarks.bench --growth          cost a submission at 50, 200 and 1,000

The floor forks a warm interpreter for each submission and executes the bare cells: no capture, no
isolation, no verdict, no gradebook. It runs on as many processes at a time as the engine.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from nbproof.course_file import read_course

ROOT = Path(__file__).parent.parent
COURSE = read_course(ROOT / "course")
STOCK = str(Path(__file__).with_name("stock.py"))
"""Grades the course in a folder with stock nbgrader."""


@dataclass(frozen=True)
class Measured:
    """One way of grading: wall seconds, peak memory of all its processes, scores."""

    seconds: float
    peak_mb: float
    scores: dict[str, float]


def make_course(folder: Path, copies: int) -> int:
    """A course with every lesson and ``copies`` times the simulated class; returns the number of submissions."""
    from nbproof.authoring.simulate import simulate_class

    for name in ("source", "release", "lessons"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    count = len(simulate_class(COURSE, folder, []))
    for learner in sorted((folder / "submitted").iterdir()):
        for number in range(1, copies):
            shutil.copytree(learner, learner.with_name(f"{learner.name}{number:04d}"))
    return count * copies


def keep(folder: Path, number: int) -> int:
    """Leave ``number`` submissions of the course, spread over lessons; returns how many there are."""
    handed_in = sorted((folder / "submitted").glob("*/*"), key=lambda path: (path.parent.name, path.name))
    for path in handed_in[number:]:
        shutil.rmtree(path)
    return min(number, len(handed_in))


def run(command: list[str], folder: Path) -> Measured:
    """Run a command in the course's folder and watch the memory of its whole family (proportional shares)."""
    start = time.perf_counter()
    process = psutil.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, _family_mb(process))
        time.sleep(0.5)
    seconds = time.perf_counter() - start
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{process.stderr.read().decode()}")
    return Measured(seconds, peak, _scores(folder))


def _family_mb(process: psutil.Process) -> float:
    total = 0.0
    try:
        for one in [process, *process.children(recursive=True)]:
            for line in Path(f"/proc/{one.pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) / 1024
    except (OSError, psutil.Error):
        return 0.0
    return total


def _scores(folder: Path) -> dict[str, float]:
    if not (folder / "gradebook.db").exists():
        return {}
    code = (
        "import json, sys\nfrom nbgrader.api import Gradebook\n"
        "book = Gradebook('sqlite:///gradebook.db')\n"
        "print(json.dumps({f'{s.student.id}/{s.assignment.name}': s.score for a in book.assignments for s in a.submissions}))"
    )
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    return dict(json.loads(told.stdout.splitlines()[-1]))


def forget(folder: Path) -> None:
    """Remove what grading wrote."""
    for name in ("autograded", "feedback", ".course"):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "gradebook.db").unlink(missing_ok=True)


def compare(number: int, say: Callable[[str], None]) -> None:
    """Stock, engine and floor on ``number`` submissions."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_course(folder, max(1, -(-number // 40)))
        number = keep(folder, number)
        say(f"engine: {number} submissions")
        ours = run([sys.executable, "-m", "course", "grade", "--no-feedback"], folder)
        forget(folder)
        say(f"floor: {number} submissions")
        floor = run([sys.executable, str(Path(__file__).with_name("floor.py")), str(folder)], folder)
        say(f"stock nbgrader: {number} submissions, some seconds each")
        stock = run([sys.executable, STOCK, str(folder)], folder)
    table = Table(title=f"{number} submissions of the real lessons, start-up included")
    for column in ("", "seconds", "s / submission", "stock is slower by", "against the floor", "peak MB"):
        table.add_column(column, justify="left" if not column else "right")
    for label, measured in (("stock nbgrader autograde", stock), ("the engine", ours), ("the floor", floor)):
        table.add_row(
            label, f"{measured.seconds:.1f}", f"{measured.seconds / number:.3f}", f"{stock.seconds / measured.seconds:.1f}x",
            f"{measured.seconds / floor.seconds:.2f}x", f"{measured.peak_mb:.0f}",
        )  # fmt: skip
    Console().print(table)
    different = {key for key in stock.scores if stock.scores[key] != ours.scores.get(key)}
    say(
        f"scores: {len(stock.scores) - len(different)} of {len(stock.scores)} equal"
        + "".join(f"\n  {key}: stock {stock.scores[key]}, engine {ours.scores.get(key)}" for key in sorted(different))
    )


def growth(sizes: list[int], say: Callable[[str], None]) -> None:
    """The engine's cost a submission, and its memory, as the class grows."""
    table = Table(title="the engine as the class grows")
    for column in ("submissions", "seconds", "s / submission", "without start-up", "of the smallest", "peak MB"):
        table.add_column(column, justify="right")
    first = 0.0
    with tempfile.TemporaryDirectory() as name:
        for size in sizes:
            folder = Path(name, str(size))
            folder.mkdir()
            make_course(folder, -(-size // 40))
            keep(folder, size)
            say(f"engine: {size} submissions")
            command = [sys.executable, "-m", "course", "grade", "--no-feedback", "--force"]
            measured = run(command, folder)
            marginal = (measured.seconds - _start_up(folder)) / size
            first = first or marginal
            table.add_row(
                str(size), f"{measured.seconds:.1f}", f"{measured.seconds / size:.4f}", f"{marginal:.4f}",
                f"{marginal / first:.2f}x", f"{measured.peak_mb:.0f}",
            )  # fmt: skip
            shutil.rmtree(folder)
    Console().print(table)


def _start_up(folder: Path) -> float:
    """Seconds of a run that grades one submission, minus nothing: what every run pays."""
    keep(folder, 1)
    return run([sys.executable, "-m", "course", "grade", "--no-feedback", "--force"], folder).seconds


def main() -> None:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--growth", action="store_true", help="cost growth instead of the comparison")
    parser.add_argument("--submissions", type=int, default=40, help="for the comparison (default: 40)")
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[50, 200, 1000], help="for --growth (default: 50 200 1000)"
    )
    arguments = parser.parse_args()
    say = Console(stderr=True, highlight=False).print
    if arguments.growth:
        growth(arguments.sizes, say)
    else:
        compare(arguments.submissions, say)


if __name__ == "__main__":
    main()
