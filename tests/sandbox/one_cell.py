"""Run cells in one sealed worker, in a process of its own, and print what they brought: ``python one_cell.py CELL ...``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

# This folder is for pytest only.
sys.path = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).resolve().parent]


def main() -> None:
    """Prints a JSON list: what each cell printed, with its error's name below it."""
    from nbproof.limits import GradingLimits
    from nbproof.sandbox.engine import Engine
    from nbproof.sandbox.isolation import Isolation

    limits = GradingLimits(**json.loads(os.environ.get("ONE_CELL_LIMITS", "{}")))
    told = []
    level = os.environ.get("ONE_CELL_ISOLATION")
    if os.environ.get("ONE_CELL_EACH"):
        with Engine(limits, Isolation(level)) as engine:
            print(json.dumps([_alone(engine, source) for source in sys.argv[1:]]))
        return
    with Engine(limits, Isolation(level) if level else None) as engine, engine.worker({"data.csv": b"1,2\n"}) as worker:
        for number, source in enumerate(sys.argv[1:], 1):
            answer, _ = worker.request(
                {"op": "cell", "source": source, "count": number}, {"outputs": list, "error": (list, type(None))}
            )
            told.append(answer)
    print(json.dumps([_said(answer) for answer in told]))


def _alone(engine: Any, source: str) -> str:
    """In a worker of its own: what the cell printed, or what ended it."""
    from nbproof.sandbox.exceptions import WorkerLost

    with engine.worker({}) as worker:
        try:
            answer, _ = worker.request(
                {"op": "cell", "source": source, "count": 1}, {"outputs": list, "error": (list, type(None))}
            )
        except WorkerLost as loss:
            return loss.cause
        return _said(answer)


def _said(answer: dict) -> str:  # type: ignore[type-arg]
    text = "".join(str(one.get("text", "")) for one in answer["outputs"])
    return text + (": ".join(answer["error"]) if answer["error"] else "")


if __name__ == "__main__":
    main()
