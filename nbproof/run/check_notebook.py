"""One notebook of a learner's own, with the visible and the hidden tests: for people who study alone.

The same engine as for a class, with no gradebook: nothing is written. Where the engine cannot run
(it needs Linux), the rebuilt notebook runs in a kernel, and its test cells say the same words.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from nbproof.cells import CellKind
from nbproof.errors import UsageError
from nbproof.key import Key
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import (
    Blueprint,
    Damaged,
    Rebuilt,
    read_attachments,
    read_blueprint,
    read_file,
)
from nbproof.marking.hand_in import HandIn
from nbproof.marking.manual_answers import written_in
from nbproof.marking.marker import Marker, answers_in
from nbproof.marking.program import program
from nbproof.marking.results import ExerciseVerdict, SubmissionVerdict, TestVerdict
from nbproof.marking.verdicts import status_without_error
from nbproof.nbgrader_setup import course_config
from nbproof.recover.notebook_bytes import ExportedCell, plain_cells, salvaged
from nbproof.recover.pieces import OwnCell
from nbproof.sandbox.cell_names import additions
from nbproof.sandbox.isolation import Isolation

__all__ = ["check_notebook", "lesson_of"]


def check_notebook(
    root: Path, file: Path, lessons: list[str], *, seed: int | None = None, isolation: Isolation | None = None,
    step: Callable[[int, int, str], None] = lambda done, of, name: None,
) -> SubmissionVerdict:  # fmt: skip
    """The verdict on ``file``. Raises UsageError if it is no notebook of this course."""
    config = course_config(root)
    limits = GradingLimits(config=config)
    blueprints = {name: read_blueprint(root / "source" / name / f"{name}.ipynb", config) for name in lessons}
    try:
        data = read_file(file, limits.notebook_mb << 20)
        cells = plain_cells(data) or salvaged(data).cells
        blueprint = blueprints[lesson_of(file, cells, blueprints)]
        seed = seed if seed is not None else secrets.randbelow(10**9) + 1
        if sys.platform != "linux":
            return _in_a_kernel(blueprint, answers_in(blueprint, data), seed, step)
    except Damaged as damage:
        raise _unchecked(file, str(damage)) from None
    from nbproof.sandbox.engine import Engine

    step(0, 1, blueprint.lesson)
    files = read_attachments(file.parent, file, limits.attachment_mb << 20)
    with Engine(limits, isolation) as engine:
        verdict = Marker(engine, blueprints, seed).mark(HandIn(Key("you", blueprint.lesson), data, files))
    if verdict.problem:
        raise _unchecked(file, verdict.problem)
    return verdict


def _unchecked(file: Path, why: str) -> UsageError:
    return UsageError(
        f"this cannot be checked: {why}", str(file), "save the notebook in JupyterLab, then check it again"
    )


def lesson_of(file: Path, cells: Sequence[ExportedCell], blueprints: dict[str, Blueprint]) -> str:
    """The lesson that a notebook belongs to, by its cells' ids, and by its name if it has none of ours."""
    ids = {cell.name for cell in cells if cell.name}
    shared = {name: len(ids & set(blueprint.stubs)) for name, blueprint in blueprints.items()}
    best = max(shared, key=lambda name: shared[name])
    if shared[best]:
        return best
    if file.stem in blueprints:
        return file.stem
    raise UsageError(
        "this notebook belongs to no lesson of the course: none of its cells is a TODO cell",
        str(file),
        "name a lesson's notebook, such as learn/{0}/{0}.ipynb".format(min(blueprints)),
    )


def _in_a_kernel(
    blueprint: Blueprint, rebuilt: Rebuilt, seed: int, step: Callable[[int, int, str], None]
) -> SubmissionVerdict:
    """Run all of it, with the full tests, in a Jupyter kernel, as stock nbgrader would."""
    import nbformat
    from nbclient import NotebookClient

    cells = [
        nbformat.v4.new_code_cell(f"import os; os.environ.update(COURSE_SEED='{seed}', NBGRADER_EXECUTION='alone')")
    ]
    answers = dict(rebuilt.answers)
    own = [_added(blueprint, one) for one in rebuilt.own]
    whole = program(blueprint, answers, own, {}, all_of_it=True)
    tests = {name: test.source for name, test in blueprint.tests.items()}
    texts = {**whole.texts, **blueprint.setup, **answers, **tests}
    cells += [nbformat.v4.new_code_cell(texts[name]) for _, name in whole.steps]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = NotebookClient(notebook, allow_errors=True, timeout=60, kernel_name="python3")
    ran: dict[str, str] = {}
    with client.setup_kernel():
        client.execute_cell(cells[0], 0)
        for number, (kind, name) in enumerate(whole.steps, 1):
            step(number, len(cells), name)
            cell = client.execute_cell(cells[number], number)
            error = next((out for out in cell.outputs if out.output_type == "error"), None)
            if kind is CellKind.TEST:
                ran[name] = "" if error is None else error.evalue
    tested = {test.exercise for test in blueprint.tests.values()}
    return SubmissionVerdict(
        "you", blueprint.lesson, seed,
        tuple(_told(blueprint, rebuilt, name, ran) for name in blueprint.exercises if name in tested),
        answers, {}, dict(rebuilt.recovered), written=written_in(blueprint.written, answers),
    )  # fmt: skip


def _added(blueprint: Blueprint, own: OwnCell) -> OwnCell:
    """Of a setup cell that was edited only what was added."""
    if own.place is None or blueprint.shows(own.place):
        return own
    return replace(own, source=additions(own.source, blueprint.handout.cells[own.place].source))


def _told(blueprint: Blueprint, rebuilt: Rebuilt, exercise: str, ran: dict[str, str]) -> ExerciseVerdict:
    waits = rebuilt.waits(blueprint, exercise)
    tests = tuple(
        TestVerdict(name, 0.0 if ran[name] or waits else test.points, test.points, (), (), sentence=ran[name])
        for name, test in blueprint.tests.items()
        if test.exercise == exercise
    )
    wrong = "failed", next((test.sentence for test in tests if test.sentence), "")
    return ExerciseVerdict(exercise, *(status_without_error(blueprint, rebuilt, exercise, tests) or wrong), tests)
