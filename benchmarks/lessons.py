"""How long Run All of each solved lesson takes, from its first cell to its last: ``python -m benchmarks.lessons``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from datetime import datetime
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
LIMIT = 10.0
"""Seconds, on 2 cores that do nothing else."""


def seconds(path: Path) -> float:
    """From the start of the first cell to the end of the last one, as the kernel tells."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, resources={"metadata": {"path": folder}}, force_raise_errors=True).execute()
    times = [cell.metadata["execution"] for cell in notebook.cells if "execution" in cell.metadata]
    first, last = times[0]["iopub.execute_input"], times[-1]["shell.execute_reply"]
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()


def main() -> int:
    """0 if each takes less than the limit."""
    argparse.ArgumentParser(prog="python -m benchmarks.lessons", description=__doc__).parse_args()
    found = {path.stem: seconds(path) for path in sorted(ROOT.glob("source/*/*.ipynb"))}
    for name, took in found.items():
        print(f"{took:6.1f} s  {name}{'  too long' if took > LIMIT else ''}")
    return 1 if max(found.values()) > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
