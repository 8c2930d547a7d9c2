"""Feedback pages for learners, by nbgrader's own generate_feedback, several at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

__all__ = ["write_feedback"]


def write_feedback(
    root: Path, graded: Sequence[tuple[str, str]], step: Callable[[int, int, str], None] = lambda done, of, name: None
) -> None:
    """Write ``feedback/<learner>/<lesson>/<lesson>.html`` for these (learner, lesson) pairs."""
    if not graded:
        return
    workers = min(os.cpu_count() or 1, len(graded))
    # Fresh processes: nbconvert's exporters keep state, and this process may hold threads and sockets.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        pending = {pool.submit(_write_one, str(root.resolve()), *pair): pair for pair in graded}
        for done, future in enumerate(as_completed(pending), 1):
            future.result()
            step(done, len(pending), "/".join(pending[future]))


def _write_one(root: str, learner: str, lesson: str) -> None:
    from nbgrader.apps import NbGraderAPI

    from course.nbgrader_setup import course_config

    outcome = NbGraderAPI(config=course_config(Path(root))).generate_feedback(lesson, learner, force=True)
    if not outcome["success"]:
        raise RuntimeError(f"no feedback for {learner}/{lesson}: {outcome.get('error') or outcome.get('log')}")
