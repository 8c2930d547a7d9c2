"""Grade one course in a process of its own, and write down what it took: run as a program by :mod:`assault`."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path

# This folder holds modules of the attack suite only; none of them is for the process that grades.
sys.path = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).resolve().parent]


def main() -> None:
    """Arguments: the course, the seed, the file for the facts, the level of isolation that is demanded (or nothing)."""
    root, seed, facts = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    from course.grading.batch import grade_class
    from course.grading.intake import lessons_with_source, take_in
    from course.grading.isolation import isolation_or_refuse

    level = isolation_or_refuse(wanted=sys.argv[4] or None).level

    lessons = lessons_with_source(root, [])
    start = time.monotonic()
    intake = take_in(root, lessons, lessons)
    graded = grade_class(root, intake, lessons, seed=seed, workers=2, isolation=level, step=_said)
    scores = [{"learner": s.learner, "lesson": s.lesson, "score": s.score, "problem": s.problem} for s in graded.scores]
    told = {
        "scores": scores,
        "notes": list(intake.notes),
        "uid": os.geteuid(),
        "level": level.value,
        "seconds": time.monotonic() - start,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    facts.write_text(json.dumps(told), encoding="utf-8")


def _said(done: int, of: int, name: str) -> None:
    print(f"{done}/{of} {name!a}", flush=True)


if __name__ == "__main__":
    main()
