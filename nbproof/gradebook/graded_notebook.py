"""Make what ``autograded/`` has for nbgrader: the graded notebook, and receipts such as ``timestamp.txt``.

The graded notebook has the learner's answers and their outputs in the instructor's copy, verdicts below the tests.
It holds no hidden test, and a written answer stands in it as text that does nothing. A failed test cell carries
an error output, as after stock grading, so that nbgrader's own rule for scores comes to the same marks.

Receipts are ``timestamp.txt`` and ``submission_secret.txt``. nbgrader's exchange writes both when a learner hands in.
`nbgrader release_feedback` names a page in the exchange by the secret, and ends for a whole class if one learner's secret is
missing or is no text, or if there is no time. What came by an LMS has neither: it gets a secret of its own, and with its
feedback an empty time, because nobody has said one.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import replace
from mimetypes import guess_type
from pathlib import Path
from typing import Any

import nbformat
from traitlets.config import Config

from nbproof.cells import CellKind
from nbproof.course_file import Course
from nbproof.display.panel import html_of, text_of
from nbproof.files import replace_file
from nbproof.gradebook.receipts import SECRET, TIME, secret_in, time_in
from nbproof.gradebook.typeset import Typesetter
from nbproof.grouping import merged
from nbproof.lesson.from_notebook import name_of
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import OWN, Blueprint, files_beside, fill_in, is_blank
from nbproof.marking.plain import plain_outputs
from nbproof.marking.results import CellRun, Verdict
from nbproof.places import config_of, places
from nbproof.recover.answers import Answers
from nbproof.recover.notebook_bytes import Damaged, files_below, read_file
from nbproof.values.results import FAULTS, Finding, Outcome, Status, first_wrong
from nbproof.values.words import words_of

__all__ = ["copy_receipts", "graded_notebook", "is_coloured", "without_blank_lines"]


def graded_notebook(blueprint: Blueprint, verdict: Verdict) -> nbformat.NotebookNode:
    """The notebook for ``autograded/``, formgrader and feedback, from a lesson and the verdict on a submission."""
    written = {name: verdict.answers.get(name, question.stub) for name, question in blueprint.written.items()}
    texts = {name for name, question in blueprint.written.items() if question.kind is CellKind.WRITTEN}
    blank = {name for name, text in written.items() if is_blank(blueprint.written[name], text)}
    answers = {name: text for name, text in verdict.answers.items() if name not in blank}
    notebook = fill_in(blueprint, Answers(answers, own=verdict.own))
    editor = _CellEditor(verdict)
    tests = merged(dict.fromkeys(exercise.most, exercise) for exercise in verdict.exercises)
    for number, cell in enumerate(notebook.cells, 1):
        name = name_of(cell)
        if OWN in cell.metadata:
            _show_own(cell, verdict, editor)
        elif name in texts and name not in blank:
            cell["source"] = editor.typesetter.typeset(cell.source)
        elif name in blueprint.stubs or name in tests:
            if name in blueprint.stubs:
                editor.shorten(cell)
            outputs: Sequence[dict[str, Any]] = verdict.runs.get(name, CellRun()).outputs
            if name in tests:
                plain = outputs if name in blueprint.plain else None
                outputs = _outputs(blueprint.course, tests[name], name, plain)
            _set_outputs(cell, outputs)
            cell["execution_count"] = number
    return notebook


def _show_own(cell: nbformat.NotebookNode, verdict: Verdict, editor: _CellEditor) -> None:
    """Prepare a cell that the learner added, with its outputs, if a person reads it."""
    number = cell.metadata[OWN]
    if cell.cell_type == "markdown":
        cell["source"] = _ADDED.format(editor.typesetter.typeset(cell.source))
        return
    editor.shorten_own(cell)
    if verdict.own[number].questions:
        _set_outputs(cell, verdict.runs.get(f"own {number}", _NOT_RUN).outputs)


def _set_outputs(cell: nbformat.NotebookNode, outputs: Sequence[dict[str, Any]]) -> None:
    cell["outputs"] = [nbformat.from_dict(output) for output in outputs]


_ADDED = (
    '<div style="border-left:4px solid #9aa;padding-left:.8em"><small>A cell that the learner added:</small>{}</div>'
)
_NOT_RUN = CellRun(
    (
        {
            "output_type": "stream",
            "name": "stderr",
            "text": "[nothing to show: it did not run to its end while grading]\n",
        },
    )
)


def _outputs(
    course: Course, exercise: Outcome, part: str, plain: Sequence[dict[str, Any]] | None
) -> list[dict[str, Any]]:
    """The panel of one test cell, and the error that ends it if it does not have all points.

    ``plain``: the outputs of its plain tests; None if it has none.
    """
    points = exercise.points[part]
    shown = [] if plain is None else plain_outputs(points, exercise.most[part], plain)
    findings = list(exercise.findings_of(part)) or [Finding("", "", True, part=part)]
    if exercise.is_whole_in(part):
        return [_panel(html_of(course, exercise.id, findings), f"{exercise.id}: passed"), *shown]
    wrong = first_wrong(findings)
    if wrong is None:  # a person is to give the marks
        wrong = findings[0] = replace(findings[0], passed=False)
    words = words_of(course)
    instead = words.outcome(exercise)
    if exercise.status in (*FAULTS, Status.NOT_ANSWERED, Status.UNCERTAIN):
        # The worker was lost, or nothing was marked: the status has to say it, and a hint would not be true.
        findings[findings.index(wrong)] = wrong = replace(wrong, hint=None)
    elif words.finding(wrong):
        instead = ""
    panel = _panel(html_of(course, exercise.id, findings, instead=instead), f"{exercise.id}: {exercise.status}")
    if plain is not None and points != 0:
        return [panel, *shown]
    lines = text_of(course, wrong, instead=instead).splitlines()
    traceback = ["CheckFailed: " + "\n".join(lines)]
    error = {"output_type": "error", "ename": "CheckFailed", "evalue": lines[0], "traceback": traceback}
    # It stands last, because it says why.
    return [panel, *shown, error]


def _panel(panel: str, plain: str) -> dict[str, Any]:
    """The output with a panel, as HTML and as text."""
    return {"output_type": "display_data", "data": {"text/html": panel, "text/plain": plain}, "metadata": {}}


_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n){3,}")
_LONGEST = 20_000
"""Characters of an answer's code that a page shows."""
_LONGEST_OWN = 10_000
"""Characters of a cell that the learner added."""
_LONGEST_OF_ALL = 50_000
"""Characters of all cells that the learner added."""
_LONGEST_COLOURED = 10_000
"""Characters of code that is coloured: a lexer's time can grow with their square."""
_LONGEST_LINE = 500
"""Characters of a line of code that is coloured."""
_CUT = "\n# [cut off: it is longer than a page shows; the whole cell is in the submission]"


def without_blank_lines(code: str) -> str:
    """Code with at most two blank lines after each other, because to colour more can take hours."""
    return _BLANK_LINES.sub("\n\n\n", code.replace("\r\n", "\n").replace("\r", "\n"))


def is_coloured(code: str) -> bool:
    """Whether code is short enough for a lexer."""
    return len(code) <= _LONGEST_COLOURED and max(map(len, code.split("\n"))) <= _LONGEST_LINE


class _CellEditor:
    """Prepares one learner's texts and code for people, as far as there is room on a page."""

    def __init__(self, verdict: Verdict) -> None:
        self.typesetter = Typesetter(verdict.pictures)
        self._room = _LONGEST_OF_ALL

    def shorten_own(self, cell: nbformat.NotebookNode) -> None:
        """Shorten the code of a cell that the learner added."""
        self.shorten(cell, min(_LONGEST_OWN, self._room))
        self._room = max(0, self._room - len(cell.source))

    def shorten(self, cell: nbformat.NotebookNode, most: int = _LONGEST) -> None:
        """Shorten the code of a cell to ``most`` characters, and say so below it."""
        code = without_blank_lines(cell.source)
        if len(code) > most:
            code = code[:most] + _CUT
        cell["source"] = code
        if not is_coloured(cell.source):
            # For nbconvert: the language that a cell is in.
            cell["metadata"]["magics_language"] = "text"


_RUNS = re.compile("html|[/+]xml|javascript")
"""In the type of a file that a browser may run: formgrader serves what lies there to the instructor, logged in."""
_NBGRADERS_TIME = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})? (UTC|[A-Za-z]+(/[\w+-]+)+)")
"""A time as nbgrader's exchange writes it, in a zone that means the same everywhere: nbgrader reads it as we do."""


def copy_receipts(root: Path, learner: str, lesson: str, part: str, config: Config | None = None) -> dict[str, bool]:
    """Put both receipts of a submission beside its graded notebook or its feedback, if that is there. Raises OSError.

    ``part``: ``autograded`` or ``feedback``. Beside the graded notebook come the files that nbgrader copies there, too: the
    learner's, and those of the instructor, which replace them. Returns the names of the learner's files that are left out, and
    for each whether the instructor's is there, with another content; else a browser may run it.

    ``config``: nbgrader's, if it is not just as the course's file has it.

    A secret that was made up stays the same as long as one of the folders has it.
    """
    here = places(root)
    handed_in = here.notebook("submitted", learner, lesson)
    made = {part: here.folder(part, learner, lesson) for part in ("autograded", "feedback")}
    known = (secret_in(folder / SECRET) for folder in (handed_in.parent, *made.values()))
    secret = next(filter(None, known), "") or secrets.token_hex(64)
    time = _time_for_nbgrader(handed_in.parent / TIME, here.zone)
    folder = made[part]
    if not folder.is_dir():
        return {}
    _write(folder / SECRET, secret.encode())
    if part == "feedback":
        _write(folder / TIME, time or b"")
        return {}
    _write(folder / TIME, time)
    return _copy_files_beside(folder, here.source(lesson), handed_in, lesson, config or config_of(root))


def _time_for_nbgrader(path: Path, zone: str) -> bytes | None:
    """The bytes of a time, if nbgrader reads them as we do; else the same moment in its form. None if there is no file."""
    with contextlib.suppress(ValueError, Damaged):
        if time := time_in(path, zone):
            said = read_file(path, 200)
            if _NBGRADERS_TIME.fullmatch(said):
                return said
            return f"{time:%Y-%m-%d %H:%M:%S.%f} UTC".encode()
    return b"" if os.path.lexists(path) else None


def _copy_files_beside(folder: Path, source: Path, handed_in: Path, lesson: str, config: Config) -> dict[str, bool]:
    """Copy the files beside the instructor's notebook and beside the learner's into a folder: see :func:`copy_receipts`."""
    ours = files_beside(source, config)
    most = GradingLimits(config=config).for_lesson(lesson).attachment_mb << 20
    theirs = files_beside(handed_in, config, theirs=None, most=most)
    runs = {name for name in theirs if _RUNS.search(guess_type(f"/{name}")[0] or "")}
    there = {str(path.relative_to(folder)) for path in files_below(folder) if path.suffix != ".ipynb"}
    for name in there - {SECRET} - ({*ours, *theirs} - runs):
        (folder / name).unlink()  # of an earlier submission
    # If one side has a file and the other a folder of that name, the instructor's counts.
    taken = runs | {SECRET} | set().union(*map(_with_folders, ours))
    for name, data in theirs.items():
        if ".ipynb" not in name and name not in taken and ours.keys().isdisjoint(_with_folders(name)):
            _write(folder / name, data)
    for name, data in ours.items():
        _write(folder / name, data)
    replaced = [name for name, data in theirs.items() if ours.get(name, data) != data]
    return dict.fromkeys(sorted(runs - ours.keys()), False) | dict.fromkeys(replaced, True)


def _with_folders(name: str) -> set[str]:
    """The path of a file, and those of the folders around it."""
    return {name, *map(str, Path(name).parents)}


def _write(path: Path, data: bytes | None) -> None:
    """Have a file hold these bytes; it is not touched if it does already. None: there is to be no such file."""
    with contextlib.suppress(Damaged):
        if data is not None and read_file(path, len(data)) == data:
            return
    # nbgrader may have copied a folder of that name out of a submission.
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if data is None:
        path.unlink(missing_ok=True)
    else:
        replace_file(path, data)
