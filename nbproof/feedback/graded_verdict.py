"""The verdict on a graded submission: from the engine's journal, or, if nbgrader graded, from its notebook.

A notebook that stock nbgrader has graded holds the hidden tests and their tracebacks. Of each test cell only the
sentence of a failed check is taken, which the check itself made for learners.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbproof.cells import CellKind, exercise_of, grading_of, kind_of, name_of, text_of
from nbproof.display.outline import exercise_named, fingerprint
from nbproof.gradebook.reader import Marks
from nbproof.marking.results import (
    ALL_PASSED,
    UNTOUCHED,
    CellRun,
    ExerciseVerdict,
    SubmissionVerdict,
    TestVerdict,
    WrittenAnswer,
)
from nbproof.run.journal import journal_of, journalled_verdict

__all__ = ["graded_verdict"]

_MOST_BYTES = 64 << 20


def graded_verdict(root: Path, learner: str, lesson: str, marks: Marks | None) -> SubmissionVerdict:
    """What ``autograded/<learner>/<lesson>/`` says. Raises OSError or ValueError if it says nothing."""
    verdict = journalled_verdict(root, learner, lesson)
    if verdict is not None:
        return verdict
    path = journal_of(root, learner, lesson).with_name(f"{lesson}.ipynb")
    if path.is_symlink() or path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"{path.name} is no record of ours")
    return _from_notebook(json.loads(path.read_bytes()), learner, lesson, marks)


def _from_notebook(notebook: Mapping[str, Any], learner: str, lesson: str, marks: Marks | None) -> SubmissionVerdict:
    answers: dict[str, str] = {}
    runs: dict[str, CellRun] = {}
    tests: list[tuple[str, float, str]] = []
    written: list[WrittenAnswer] = []
    for cell in notebook["cells"]:
        kind, name, source = kind_of(cell), name_of(cell), text_of(cell)
        points = float(grading_of(cell).get("points") or 0)
        outputs = tuple(output for output in cell.get("outputs", ()) if isinstance(output, dict))
        if kind is CellKind.WRITTEN:
            answers[name] = source
            mark = marks.cells.get(name) if marks else None
            waits = mark is None or mark.waits or mark.given is not None
            written.append(WrittenAnswer(name, name.replace("_", " "), points, waits))
        elif kind in (CellKind.ANSWER, CellKind.MANUAL):
            answers[name], runs[name] = source, CellRun(outputs, _error(outputs))
        elif kind is CellKind.TEST:
            tests.append((name, points, _error(outputs)))
    exercises = []
    for name in answers:
        own = [test for test in tests if exercise_of(test[0], answers) == name]
        if own:
            exercises.append(_exercise(name, answers[name], runs.get(name, CellRun()), own, marks))
    return SubmissionVerdict(learner, lesson, 0, tuple(exercises), answers, runs, written=tuple(written))


def _exercise(
    name: str, answer: str, run: CellRun, own: list[tuple[str, float, str]], marks: Marks | None
) -> ExerciseVerdict:
    told = []
    for test, points, error in own:
        mark = marks.cells.get(test) if marks else None
        score = points if not error else 0.0 if mark is None else min(mark.score, points)
        told.append(TestVerdict(test, score, points, (), (), sentence="" if score == points else error))
    if all(test.score == test.max_score for test in told):
        return ExerciseVerdict(name, "passed", ALL_PASSED, tuple(told))
    outlined = exercise_named(name)
    if not answer.strip() or (outlined is not None and fingerprint(answer) == outlined.stub):
        return ExerciseVerdict(name, "not answered", UNTOUCHED, tuple(told))
    if run.error:
        return ExerciseVerdict(name, "error", f"Your cell ended with an error: {run.error}", tuple(told))
    return ExerciseVerdict(name, "failed", next((test.sentence for test in told if test.sentence), ""), tuple(told))


def _error(outputs: tuple[Mapping[str, Any], ...]) -> str:
    """The first line of the error that a cell ended with; a check's own sentence without a word before it."""
    found = next((output for output in outputs if output.get("output_type") == "error"), None)
    if found is None:
        return ""
    line = next(iter(_text(found.get("evalue")).strip().splitlines()), "")
    kind = _text(found.get("ename"))
    return line if kind == "CheckFailed" and line else f"{kind}: {line}" if line else kind or "an error"


def _text(value: object) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")
