"""nbgrader's own tests and notebooks: what they expect of stock nbgrader, does it hold here?

    python -m benchmarks.nbgrader_suite                      the tests that come with the nbgrader that is installed
    python -m benchmarks.nbgrader_suite --tests-of CLONE     those of a clone of jupyter/nbgrader
    python -m benchmarks.nbgrader_suite -k autotest          some of them

First nbgrader's tests of ``autograde`` run twice, as nbgrader wrote them: with stock nbgrader, and with ``nbgrader autograde``
on the engine. A test that fails here and holds with stock has its reason in benchmarks/nbgrader_suite.toml, or the run fails.
Of each, the marks that are in the gradebook in the end are compared cell by cell.

Then each notebook of ``tests/**/files`` becomes a course of its own, with the hand-ins that nbgrader's tests pair it with
(``submitted-*`` with ``submitted-unchanged``, ``autotest-simple-*`` with ``autotest-simple``; others with themselves), graded by
``nbgrader autograde`` and by ``nbproof grade``. None of these notebooks is in this repository.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import nbgrader
import pytest
from nbgrader.api import Gradebook

from benchmarks.foreign import Course, Measured, autograde, grade, run

_LOG = "NBGRADER_SUITE_LOG"
"""The environment variable that says where the tests' outcomes go: where it is set, this module is a plug-in of pytest's."""
_ENGINE = "c = get_config()\nfrom nbproof.nbgrader.settings import use_engine\nuse_engine(c)\n"
_WHY_NOT = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_PAIRS = {"submitted-": "submitted-unchanged", "autotest-": "", "test-v": "test-v2"}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Note how a test ended, and what its gradebook holds."""
    report: Any = yield
    if _LOG in os.environ and report.when == "call":
        given: dict[str, Any] = getattr(item, "funcargs", {})
        url = given.get("db", f"sqlite:///{given.get('course_dir')}/gradebook.db")
        crash = getattr(report.longrepr, "reprcrash", None)
        told = {"test": item.name, "outcome": report.outcome, "why": getattr(crash, "message", "").splitlines()[:1]}
        with Path(os.environ[_LOG]).open("a", encoding="utf-8") as file:
            print(json.dumps({**told, "marks": _marks(url)}), file=file)
    return report


def _marks(url: str) -> dict[str, str]:
    if not Path(url.removeprefix("sqlite:///")).is_file():
        return {}
    with Gradebook(url) as book:
        return {
            f"{submission.student.id}/{assignment.name}/{notebook.name}/{one.name}": (
                "waits" if one.needs_manual_grade else f"{one.score:g}"
            )
            for assignment in book.assignments
            for submission in assignment.submissions
            for notebook in submission.notebooks
            for one in notebook.grades
        }


def tested(tests: Path, chosen: str, on_engine: bool, folder: Path) -> dict[str, dict[str, Any]]:
    """Test -> its outcome and the marks in its gradebook, of nbgrader's tests of ``autograde``."""
    log, config = folder / f"{on_engine}.jsonl", folder / f"config-{on_engine}"
    config.mkdir()
    (config / "nbgrader_config.py").write_text(_ENGINE if on_engine else "")
    told = {
        _LOG: str(log),
        "JUPYTER_CONFIG_PATH": str(config),
        "PYTHONPATH": os.pathsep.join([str(tests), str(Path.cwd())]),
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:randomly",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        "-n",
        "0",
    ]
    command += ["-p", "benchmarks.nbgrader_suite", "--pyargs", "nbgrader.tests.apps.test_nbgrader_autograde"]
    said = run(
        ["env", *(f"{name}={value}" for name, value in told.items()), *command, *["-k", chosen] * bool(chosen)], folder
    )
    if not log.exists():
        raise SystemExit(f"nbgrader's tests do not run: {said.stdout[-2000:]}{said.stderr[-2000:]}")
    return {one["test"]: one for one in map(json.loads, log.read_text(encoding="utf-8").splitlines())}


def compared(stock: dict[str, dict[str, Any]], ours: dict[str, dict[str, Any]]) -> bool:
    """Print what differs; whether something does without a reason."""
    unexplained = False
    for name, theirs in stock.items():
        mine = ours.get(name, {"outcome": "did not run", "why": [], "marks": {}})
        if theirs["outcome"] == "passed" != mine["outcome"]:
            why = _WHY_NOT["tests"].get(name, "")
            unexplained |= not why
            print(f"{name}: {mine['outcome']}: {why or 'UNEXPLAINED: ' + ' '.join(mine['why'])}")
        for key in sorted(theirs["marks"].keys() | mine["marks"].keys()):
            if (pair := (theirs["marks"].get(key, "none"), mine["marks"].get(key, "none")))[0] != pair[1]:
                print(f"{name}: {key}: stock {pair[0]}, ours {pair[1]}")
    held = sum(one["outcome"] == "passed" for one in ours.values())
    print(f"nbgrader's tests of autograde: {len(stock)} run, {held} hold here")
    return unexplained


def courses(tests: Path, work: Path) -> Iterator[tuple[str, Path]]:
    """A course of each notebook that is nobody's hand-in to another one."""
    for path in sorted(tests.glob("nbgrader/tests/**/files/*.ipynb")):
        stem = path.stem
        source = next(
            (pair or stem.rpartition("-")[0] for begin, pair in _PAIRS.items() if stem.startswith(begin)), stem
        )
        while source and not path.with_stem(source).exists():
            source = source.rpartition("-")[0]
        root = work / f"{path.parents[1].name}-{source or stem}"
        if not root.exists():
            (root / "source" / "ps1").mkdir(parents=True)
            shutil.copy(path.with_stem(source or stem), root / "source" / "ps1" / "p1.ipynb")
            for beside in ("autotests.yml", "data.txt"):
                if path.with_name(beside).exists():
                    shutil.copy(path.with_name(beside), root / ("source/ps1" if beside == "data.txt" else "."))
        place = root / "submitted" / stem.replace(".", "-") / "ps1"
        place.mkdir(parents=True)
        shutil.copy(path, place / "p1.ipynb")
    yield from sorted((path.name, path) for path in work.iterdir())


def measured(name: str, root: Path, work: Path) -> Measured:
    """Stock and engine on one of these courses."""
    into = Measured(name)
    for kind in ("stock", "ours"):
        shutil.copytree(root, work / name / kind)
    stock, ours = (Course(work / name / kind, 15) for kind in ("stock", "ours"))
    told = stock.nbgrader("generate_assignment", "ps1", "--force", "--create")
    if told.returncode == 0:
        autograde(stock, ["ps1"], into)
    else:
        into.notes.append(f"stock does not release it: {(told.stdout + told.stderr).strip().splitlines()[-1][:200]}")
    grade(ours, into)
    return into


def main() -> int:
    """0 if all that nbgrader's tests expect holds here, or has its reason, and all marks are the same, or have theirs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--tests-of", type=Path, default=Path(nbgrader.__file__).parents[1], help="default: what is installed"
    )
    parser.add_argument("-k", default="", help="only these tests, as pytest's -k, and courses with this in their name")
    parser.add_argument("--only", choices=["tests", "courses"], help="one half of it")
    asked = parser.parse_args()
    tests, unexplained = asked.tests_of.resolve(), False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        if asked.only != "courses":
            unexplained = compared(tested(tests, asked.k, False, folder), tested(tests, asked.k, True, folder))
        (folder / "courses").mkdir()
        every = [] if asked.only == "tests" else list(courses(tests, folder / "courses"))
        same = 0
        for course, root in every:
            if asked.k not in course:
                continue
            found = measured(course, root, folder / "graded")
            why = _WHY_NOT["courses"].get(course, "")
            same += len({**found.stock, **found.ours}) - len(found.different)
            unexplained |= bool(found.different) and not why
            for note in found.notes:
                print(f"{course}: {note}")
            for key, (stock, ours) in sorted(found.different.items()):
                print(f"{course}: {key}: stock {stock}, ours {ours}: {why or 'UNEXPLAINED'}", flush=True)
        print(f"nbgrader's notebooks: {len(every)} courses, {same} cells the same")
    return int(unexplained)


if __name__ == "__main__":
    sys.exit(main())
