"""Autograde one submission with stock nbgrader, in a process of its own: run as a program by :mod:`stock_range`."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

sys.path = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).resolve().parent]
warnings.simplefilter("ignore")


def main() -> None:
    """Arguments: the course, the lesson, the learner. The last line says the score. Without a learner: only register."""
    root, lesson, learner = Path(sys.argv[1]), sys.argv[2], "".join(sys.argv[3:])
    from nbgrader.api import Gradebook, MissingEntry
    from nbgrader.apps import NbGraderAPI

    from nbproof.nbgrader_setup import course_config

    api = NbGraderAPI(config=course_config(root))
    if not learner:
        api.generate_assignment(lesson, force=True, create=True)
        return
    outcome = api.autograde(lesson, learner, force=True, create=True)
    log = [line for line in (outcome.get("log") or "").splitlines() if "Error" in line or "ERROR" in line]
    log = [line for line in log if "error processing" not in line and "Traceback" not in line]
    told: dict[str, object] = {"score": None, "cells": {}, "why": (log or ["no reason given"])[0].split("] ")[-1]}
    if outcome["success"]:
        with Gradebook(api.coursedir.db_url, api.coursedir.course_id) as book:
            try:
                submission = book.find_submission(lesson, learner)
            except MissingEntry:
                pass
            else:
                cells = {grade.cell.name: float(grade.score or 0) for nb in submission.notebooks for grade in nb.grades}
                told = {"score": float(submission.score), "cells": cells, "why": ""}
    print("RESULT " + json.dumps(told))


if __name__ == "__main__":
    main()
