"""Run each cell in a sealed worker of its own, and print what it brought: ``python one_cell.py CELL ...``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

# This folder is for pytest only.
sys.path = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).resolve().parent]


def main() -> None:
    """Prints a JSON list: what each cell printed, with its error's name below it, or what ended it."""
    from nbproof.limits import GradingLimits
    from nbproof.sandbox.engine import Engine
    from nbproof.sandbox.isolation import Isolation

    limits = GradingLimits(**json.loads(os.environ.get("ONE_CELL_LIMITS", "{}")))
    with Engine(limits, Isolation(os.environ["ONE_CELL_ISOLATION"])) as engine:
        print(json.dumps([_said(engine, source) for source in sys.argv[1:]]))


def _said(engine: Any, source: str) -> str:
    from nbproof.sandbox.exceptions import WorkerLost

    request = {"op": "cell", "source": source, "count": 1}
    with engine.worker({}) as worker:
        try:
            answer, _ = worker.request(request, {"outputs": list, "error": (list, type(None))})
        except WorkerLost as loss:
            return loss.cause
    text = "".join(str(one.get("text", "")) for one in answer["outputs"])
    return text + ": ".join(answer["error"] or ())


if __name__ == "__main__":
    main()
