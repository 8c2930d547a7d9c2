"""Grade one course in a process of its own, and write down what it took: run as a program by :mod:`assault`."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

# This folder holds modules of the attack suite only; none of them is for the process that grades.
sys.path = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).resolve().parent]


def main() -> None:
    """Arguments: the course, the seed, the file for the facts, the level of isolation that is demanded (or nothing), and
    ``grade`` or ``autograde``: who is to grade."""
    root, seed, facts = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    wanted, nbgrader = sys.argv[4], sys.argv[5] == "autograde"
    import course  # noqa: F401 (what is graded here)
    from nbproof.run.intake import lessons_with_source, take_in
    from nbproof.sandbox.isolation import isolation_or_refuse

    level = isolation_or_refuse(wanted=wanted or None).level

    lessons = lessons_with_source(root, [])
    start = time.monotonic()
    intake = take_in(root, lessons, lessons)
    scores = (
        _by_nbgrader(root, intake, lessons, seed, wanted) if nbgrader else _by_us(root, intake, lessons, seed, level)
    )
    told = {
        "scores": scores,
        "notes": list(intake.notes),
        "uid": os.geteuid(),
        "level": level.value,
        "seconds": time.monotonic() - start,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    facts.write_text(json.dumps(told), encoding="utf-8")


def _by_us(root: Path, intake: Any, lessons: list[str], seed: int, level: Any) -> list[dict[str, Any]]:
    from nbproof.run.batch import grade_class
    from nbproof.run.journal import Watch

    class Said(Watch):
        def marked(self, name: str, verdict: Any) -> None:
            print(f"{name!a}", flush=True)

    graded = grade_class(root, intake, lessons, seed=seed, workers=2, isolation=level, watch=Said())
    return [
        {"learner": s.learner, "lesson": s.lesson, "score": s.score, "problem": s.problem}
        for s in graded.marks.values()
    ]


def _by_nbgrader(root: Path, intake: Any, lessons: list[str], seed: int, wanted: str) -> list[dict[str, Any]]:
    """``nbgrader autograde``, lesson by lesson."""
    from nbgrader.api import Gradebook, MissingEntry
    from nbgrader.apps import AutogradeApp

    from nbproof.run.journal import RunState, problems_of

    os.chdir(root)
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    for lesson in lessons:
        app = AutogradeApp()
        # As if a run with this seed had been cut off.
        RunState(root, seed).begin()
        with contextlib.suppress(SystemExit):
            app.initialize([lesson, *([f"--Mark.isolation={wanted}"] if wanted else [])])
            app.start()
    scores, problems = [], problems_of(root)
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        for one in intake.submissions:
            try:
                score = gradebook.find_submission(one.key.lesson, one.key.learner).score
            except MissingEntry:
                score = 0.0
            problem = problems.get(one.key)
            why = problem.problem if problem else ""
            scores.append({"learner": one.key.learner, "lesson": one.key.lesson, "score": score, "problem": why})
    return scores


if __name__ == "__main__":
    main()
