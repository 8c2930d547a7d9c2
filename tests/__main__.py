"""All tests, in three steps: ``python -m tests``, which is what ``make test`` runs after style and types.

Tests that mostly wait (for a browser, for stock nbgrader's kernels) run beside tests that compute. The attacks, with
their time-outs, have the machine for themselves. A single test: ``pytest tests/test_case.py -k words``.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parent.parent
STOCK, LESSONS, PICTURES, BROWSER, ATTACKS = (
    "tests/grading/test_stock.py", "tests/test_lessons.py", "tests/pictures", "tests/browser", "tests/attacks",
)  # fmt: skip
REST = ["tests", *(f"--ignore={path}" for path in (STOCK, LESSONS, PICTURES, BROWSER, ATTACKS))]
STEPS = (
    ("the lessons, and JupyterLab", ([LESSONS], [BROWSER])),
    ("stock nbgrader, pictures, everything else", (REST, [STOCK, PICTURES])),
    ("attacks", ([ATTACKS],)),
)
"""What to say, and pytest's arguments of the runs that go side by side; the first is shown while it runs."""


def side_by_side(runs: tuple[list[str], ...]) -> bool:
    """Whether all of these pytest runs pass. The output of those behind the first follows when it is over."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as files:
        started: list[tuple[subprocess.Popen[bytes], IO[bytes] | None]] = []
        for number, arguments in enumerate(runs):
            command = [sys.executable, "-m", "pytest", *arguments, "-p", "no:cacheprovider"]
            if number == 0:
                started.append((subprocess.Popen(command, cwd=ROOT), None))
            else:
                sink = files.enter_context(Path(name, f"{number}.txt").open("w+b"))
                started.append((subprocess.Popen(command, cwd=ROOT, stdout=sink, stderr=sink), sink))
        codes = []
        for process, sink in started:
            codes.append(process.wait())
            if sink is not None:
                sink.seek(0)
                sys.stdout.write(sink.read().decode(errors="replace"))
    return not any(codes)


def main() -> int:
    """See the module's text."""
    start, good = time.monotonic(), []
    for number, (what, runs) in enumerate(STEPS, 1):
        print(f"--- step {number} of {len(STEPS)}: {what}", flush=True)
        good.append(side_by_side(runs))
    said = "all tests pass" if all(good) else "FAILED, see above"
    print(f"--- {said}, {time.monotonic() - start:.0f} s", flush=True)
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
