"""Feedback for a class: how long our pages take, how long nbgrader's own take, and whether one of ours gives anything away.

    python -m benchmarks.feedback                 a simulated class of all lessons, graded first
    python -m benchmarks.feedback --course DIR    a class that is graded already; its feedback/ is written anew

Both are written by as many processes as there are cores, from the same graded notebooks, in one run. nbgrader's are
taken from a sample, because they take long; what is compared is the time a page.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.stock import plain_config
from nbproof.authoring.secret_lines import read_secrets, text_of
from nbproof.cli.main import main as course
from nbproof.course_file import read_course
from nbproof.feedback.page_writer import page_path
from nbproof.feedback.pages import chosen_submissions, write_feedback
from nbproof.key import Key
from nbproof.run.journal import journalled_verdict

ROOT = Path(__file__).parent.parent
COURSE = read_course(ROOT / "course")


def _stock(root: str, learner: str, lesson: str) -> None:
    from nbgrader.apps import NbGraderAPI

    outcome = NbGraderAPI(config=plain_config(Path(root))).generate_feedback(lesson, learner, force=True)
    if not outcome["success"]:
        raise RuntimeError(f"no feedback for {learner}/{lesson}: {outcome.get('error') or outcome.get('log')}")


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds, those of other processes that have ended included."""
    start, before = time.perf_counter(), os.times()
    work()
    after = os.times()
    return time.perf_counter() - start, sum(after[:4]) - sum(before[:4])


def _with_nbgrader(root: Path, pairs: list[Key]) -> None:
    with ProcessPoolExecutor(os.cpu_count() or 1, mp_context=get_context("spawn")) as pool:
        for future in [pool.submit(_stock, str(root), *pair) for pair in pairs]:
            future.result()


def main() -> int:
    """0 where no page gives anything away and ours take less time than nbgrader's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--course", type=Path, help="a graded course (default: a simulated class in a temporary one)")
    parser.add_argument("--sample", type=int, default=12, help="pages that nbgrader writes (default: 12)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = arguments.course or Path(scratch)
        if arguments.course is None:
            for name in ("source", "release", "lessons"):
                shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copy(ROOT / "nbgrader_config.py", root)
            course(["grade", "--course", str(root), "--no-feedback"], COURSE)
        pairs = chosen_submissions(root)
        sample = pairs[:: max(1, len(pairs) // arguments.sample)]
        theirs = _timed(lambda: _with_nbgrader(root, sample))
        few = _timed(lambda: write_feedback(COURSE, root, sample, force=True))
        ours = _timed(lambda: write_feedback(COURSE, root, pairs, force=True))
        again = _timed(lambda: write_feedback(COURSE, root, pairs))
        for name, (wall, cpu), count in (
            ("nbgrader", theirs, len(sample)), ("ours, the same", few, len(sample)), ("ours, the class", ours, len(pairs)),
            ("ours, unchanged", again, len(pairs)),
        ):  # fmt: skip
            print(
                f"{name:16} {count:4} pages  {wall:6.1f} s  {cpu:6.1f} s CPU  {1000 * cpu / count:7.0f} ms CPU a page"
            )
        print(
            f"for the same pages nbgrader takes {theirs[1] / few[1]:.1f} times the CPU of ours, start-up on both sides"
        )
        secrets, found = read_secrets(COURSE, ROOT), 0
        for learner, lesson in pairs:
            verdict = journalled_verdict(root, learner, lesson)
            typed = "\n".join(verdict.answers.values()) if verdict is not None else ""
            path = page_path(root, learner, lesson)
            for line in secrets.found_in(text_of(path.name, path.read_bytes()), typed):
                print(f"LEAK {path}: {line}  ({secrets.origins[line]})")
                found += 1
        sizes = sorted(page_path(root, *pair).stat().st_size for pair in pairs)
        print(
            f"{found} of {len(secrets)} secret lines in {len(pairs)} pages; {sizes[-1] / 1000:.0f} kB the largest page"
        )
        return 1 if found or theirs[1] < few[1] else 0


if __name__ == "__main__":
    sys.exit(main())
