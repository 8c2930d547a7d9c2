"""The graded notebook: the learner's answers and their outputs in the instructor's copy, verdicts below the tests.

It holds no hidden test, and a written answer stands in it as text that does nothing. A failed test cell carries
an error output, as after stock grading, so that nbgrader's own rule for scores comes to the same marks.
"""

from __future__ import annotations

import nbformat

from nbproof.cells import name_of
from nbproof.display.panel import html_of, text_of
from nbproof.marking.blueprint import Blueprint, Rebuilt, fill_in
from nbproof.marking.manual_answers import is_blank, shown
from nbproof.marking.plain import plain_outputs
from nbproof.marking.results import FAULTS, UNCERTAIN, ExerciseVerdict, SubmissionVerdict, TestVerdict
from nbproof.recover.own_cells import to_be_shown
from nbproof.values.results import CheckResult

__all__ = ["graded_notebook"]


def graded_notebook(blueprint: Blueprint, verdict: SubmissionVerdict) -> nbformat.NotebookNode:
    """The notebook for ``autograded/``, formgrader and feedback."""
    blank = {name for name, question in blueprint.written.items() if is_blank(question, verdict.answers.get(name, ""))}
    answers = {name: text for name, text in verdict.answers.items() if name not in blank}
    notebook = fill_in(blueprint, Rebuilt(answers, own=to_be_shown(verdict.own)))
    tests = {test.grade_id: (exercise, test) for exercise in verdict.exercises for test in exercise.tests}
    for number, cell in enumerate(notebook.cells, 1):
        name = name_of(cell)
        if name in blueprint.texts and name not in blank:
            cell["source"] = shown(cell["source"])
        elif name in blueprint.stubs:
            run = verdict.runs.get(name)
            cell["outputs"] = [nbformat.from_dict(output) for output in run.outputs] if run else []
            cell["execution_count"] = number
        elif name in tests:
            outputs = _outputs(*tests[name])
            if name in blueprint.plain:
                _, test = tests[name]
                ran = verdict.runs[name].outputs if name in verdict.runs else ()
                # An error of ours, if there is one, stands last: it is what tells why.
                outputs[1:1] = plain_outputs(test.score, test.max_score, ran)
                outputs = outputs if test.score == 0 or test.is_whole else outputs[:-1]
            cell["outputs"] = [nbformat.from_dict(output) for output in outputs]
            cell["execution_count"] = number
    return notebook


def _outputs(exercise: ExerciseVerdict, test: TestVerdict) -> list[dict[str, object]]:
    findings = _findings(exercise, test)
    panel = html_of(exercise.id, findings)
    whole = test.is_whole
    plain = f"{exercise.id}: {'passed' if whole else exercise.status}"
    shown: dict[str, object] = {
        "output_type": "display_data", "data": {"text/html": panel, "text/plain": plain}, "metadata": {},
    }  # fmt: skip
    if whole:
        return [shown]
    wrong = next(finding for finding in findings if not finding.passed)
    lines = text_of(wrong).splitlines()
    return [
        shown,
        {
            "output_type": "error",
            "ename": "CheckFailed",
            "evalue": lines[0],
            "traceback": ["CheckFailed: " + "\n".join(lines)],
        },
    ]


def _findings(exercise: ExerciseVerdict, test: TestVerdict) -> list[CheckResult]:
    passed = [CheckResult(exercise.id, "", asked, True, 0) for asked in test.passed]
    if test.is_whole:
        return passed
    # The first failed check has the details; where the worker was lost, the status has to say it.
    lost = exercise.status in (*FAULTS, "not answered", UNCERTAIN)
    first = CheckResult(
        exercise.id, "", test.asked, False, 0,
        sentence=exercise.sentence if lost or not test.sentence else test.sentence,
        where=test.where, got="" if lost else test.got, wanted=test.wanted, hint=None if lost else test.hint,
        line="" if lost else test.line, printed=test.printed,
    )  # fmt: skip
    others = [CheckResult(exercise.id, "", asked, False, 0) for asked in test.failed if asked != test.asked]
    return [*passed, first, *others]
