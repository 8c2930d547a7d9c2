"""Style, types and all tests: ``python -m tests``, which is what ``make test`` runs.

Two lanes take one group of tests after the other, the longest first: tests that mostly wait (for a browser, for stock
nbgrader's kernels) run beside tests that compute. The attacks, with their time-outs, come last. They leave half a core
idle, which is for tests that do not look at the clock; these stand back whenever an attack wants to run.
A single test: ``pytest tests/test_case.py -k words``.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parent.parent
LANES = 2


def _grading(*names: str) -> list[str]:
    return [f"tests/grading/test_{name}.py" for name in names]


STOCK, PARITY, MACHINES = _grading("stock", "penalties"), _grading("parity"), _grading("cluster", "postgres")
LESSONS, BROWSER, PICTURES, COLLECTING, REPORTING, ATTACKS = (
    ["tests/test_lessons.py"], ["tests/browser"], ["tests/pictures"], ["tests/collecting"], ["tests/reporting"],
    ["tests/attacks"],
)  # fmt: skip


def _but(place: str, *others: list[str]) -> list[str]:
    return [place, *(f"--ignore={path}" for paths in others for path in paths)]


GROUPS = {
    "lessons": LESSONS,
    "JupyterLab and formgrader": BROWSER,
    "stock nbgrader": STOCK,
    "grading": _but("tests/grading", STOCK, PARITY, MACHINES),
    "other machines": MACHINES,
    "every candidate": PARITY,
    "everything else": _but("tests", LESSONS, BROWSER, PICTURES, COLLECTING, REPORTING, ATTACKS, ["tests/grading"]),
}
"""What to say -> pytest's arguments, the longest first. Each file of tests is in one of them, or among these:"""

BESIDE_THE_ATTACKS = {"collecting, pictures": [*COLLECTING, *PICTURES], "reporting": REPORTING}

STYLE_AND_TYPES = [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]]
"""As ``make lint`` has them."""


def passes(name: str, arguments: list[str], last_in_line: bool = False) -> bool:
    """Whether this pytest run passes, or style and types where there are no arguments. Prints what it said when over."""
    start = time.monotonic()
    commands = [["pytest", *arguments, "-p", "no:cacheprovider"]] if arguments else STYLE_AND_TYPES
    run = [sys.executable, "-m", *(["tests.last_in_line"] if last_in_line else [])]
    # Where several programs share the cores, OpenMP's threads wait for each other most of the time, and burn it.
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    # Without it, hundreds of processes would compile the course anew.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryFile() as sink:
        good = all(
            subprocess.run(
                [*run, *command], cwd=ROOT, stdout=sink, stderr=sink, env=environment, check=False
            ).returncode == 0
            for command in commands
        )  # fmt: skip
        sink.seek(0)
        said = sink.read().decode(errors="replace").strip().splitlines()
    shown = said[-1:] if good else said
    print(f"--- {name}, {time.monotonic() - start:.0f} s\n" + "\n".join(shown), flush=True)
    return good


def side_by_side(groups: dict[str, list[str]]) -> bool:
    """Whether all of these pass, some at a time."""
    waiting: queue.SimpleQueue[tuple[str, list[str]]] = queue.SimpleQueue()
    good: list[bool] = []
    for group in groups.items():
        waiting.put(group)

    def lane() -> None:
        while True:
            try:
                name, arguments = waiting.get_nowait()
            except queue.Empty:
                return
            good.append(passes(name, arguments))

    lanes = [threading.Thread(target=lane) for _ in range(LANES)]
    for one in lanes:
        one.start()
    for one in lanes:
        one.join()
    return len(good) == len(groups) and all(good)


def main() -> int:
    """See the module's text."""
    start = time.monotonic()
    groups = len(GROUPS) + len(BESIDE_THE_ATTACKS) + 2
    print(f"--- {groups} groups, {LANES} at a time; each is told when it is over", flush=True)
    with ThreadPoolExecutor(1 + len(BESIDE_THE_ATTACKS)) as standing_back:
        others = [standing_back.submit(passes, "style and types", [], last_in_line=True)]
        good = side_by_side(GROUPS)
        others += [standing_back.submit(passes, *group, last_in_line=True) for group in BESIDE_THE_ATTACKS.items()]
        good = passes("attacks", ATTACKS) and good
        good = all(other.result() for other in others) and good
    said = "all tests pass" if good else "FAILED, see above"
    print(f"--- {said}, {time.monotonic() - start:.0f} s", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
