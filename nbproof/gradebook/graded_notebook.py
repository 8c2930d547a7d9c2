"""What lies in ``autograded/`` for nbgrader: the graded notebook, and receipts such as ``timestamp.txt``.

The graded notebook has the learner's answers and their outputs in the instructor's copy, verdicts below the tests.
It holds no hidden test, and a written answer stands in it as text that does nothing. A failed test cell carries
an error output, as after stock grading, so that nbgrader's own rule for scores comes to the same marks.

Receipts are ``timestamp.txt`` and ``submission_secret.txt``. nbgrader's exchange writes both when a learner hands in.
`nbgrader release_feedback` names a page in the exchange by the secret, and ends for a whole class where one learner's is
missing or is no text, or where there is no time. What came by an LMS has neither: it gets a secret of its own, and with its
feedback a time that is empty, because nobody has said one.
"""

from __future__ import annotations

import contextlib
import json
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

from nbproof.cells import name_of
from nbproof.course_file import Course
from nbproof.display.panel import html_of, text_of
from nbproof.files import digest_of, replace_file
from nbproof.gradebook.receipts import SECRET, TIME, secret_in, time_in
from nbproof.gradebook.typeset import Typesetter
from nbproof.key import Key, notebook_of
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import OWN, Blueprint, files_beside, fill_in, is_blank
from nbproof.marking.plain import plain_outputs
from nbproof.marking.results import CellRun, Verdict
from nbproof.places import config_of, places
from nbproof.recover.answers import Answers
from nbproof.recover.notebook_bytes import Damaged, files_below, read_file
from nbproof.values.results import FAULTS, Finding, Outcome, Status, first_wrong
from nbproof.values.words import words_of

__all__ = ["earlier_folder", "graded_notebook", "hand_on", "is_coloured", "keep_earlier", "without_blank_lines"]


def graded_notebook(blueprint: Blueprint, verdict: Verdict) -> nbformat.NotebookNode:
    """The notebook for ``autograded/``, formgrader and feedback."""
    blank = {
        name
        for name, question in blueprint.written.items()
        if is_blank(question, verdict.answers.get(name, question.stub))
    }
    answers = {name: text for name, text in verdict.answers.items() if name not in blank}
    notebook, shown = fill_in(blueprint, Answers(answers, own=verdict.own)), _Shown(verdict)
    tests = {part: exercise for exercise in verdict.exercises for part in exercise.most}
    for number, cell in enumerate(notebook.cells, 1):
        name = name_of(cell)
        if OWN in cell.metadata:
            _show_own(cell, verdict, shown)
        elif name in blueprint.texts and name not in blank:
            cell["source"] = shown.typesetter.typeset(cell.source)
        elif name in blueprint.stubs or name in tests:
            outputs: Sequence[dict[str, Any]] = verdict.runs.get(name, CellRun()).outputs
            if name in tests:
                outputs = _outputs(blueprint.course, tests[name], name, outputs if name in blueprint.plain else None)
            if name in blueprint.stubs:
                shown.code(cell)
            cell["outputs"] = [nbformat.from_dict(output) for output in outputs]
            cell["execution_count"] = number
    return notebook


def _show_own(cell: nbformat.NotebookNode, verdict: Verdict, shown: _Shown) -> None:
    """A cell of the learner's own, with what it made, if a person reads it."""
    number = cell.metadata[OWN]
    if cell.cell_type == "markdown":
        cell["source"] = _ADDED.format(shown.typesetter.typeset(cell.source))
        return
    shown.own_code(cell)
    if verdict.own[number].questions:
        run = verdict.runs.get(f"own {number}", _NOT_RUN)
        cell["outputs"] = [nbformat.from_dict(output) for output in run.outputs]


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
    """The panel of one test cell, and the error that ends it if it is not whole. ``plain``: what its plain tests have shown."""
    whole, points = exercise.is_whole_in(part), exercise.points[part]
    shown = plain_outputs(points, exercise.most[part], plain) if plain is not None else []
    findings = list(exercise.findings_of(part)) or [Finding("", "", True, part=part)]
    if whole:
        return [_shown(html_of(course, exercise.id, findings), f"{exercise.id}: passed"), *shown]
    words, wrong = words_of(course), first_wrong(findings)
    instead = words.outcome(exercise)
    # Where the worker was lost, or nothing was marked, the status has to say it.
    lost = exercise.status in (*FAULTS, Status.NOT_ANSWERED, Status.UNCERTAIN)
    if wrong is None:  # a person is to give the marks
        wrong = findings[0] = replace(findings[0], passed=False)
    if not lost and words.finding(wrong):
        instead = ""
    if lost:
        findings[findings.index(wrong)] = wrong = replace(wrong, hint=None)
    panel = _shown(html_of(course, exercise.id, findings, instead=instead), f"{exercise.id}: {exercise.status}")
    lines = text_of(course, wrong, instead=instead).splitlines()
    traceback = ["CheckFailed: " + "\n".join(lines)]
    error = {"output_type": "error", "ename": "CheckFailed", "evalue": lines[0], "traceback": traceback}
    # An error of ours, if there is one, stands last: it is what tells why.
    told = [error] if plain is None or points == 0 else []
    return [panel, *shown, *told]


def _shown(panel: str, plain: str) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {"text/html": panel, "text/plain": plain}, "metadata": {}}


_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n){3,}")
_LONGEST, _LONGEST_OWN, _LONGEST_OF_ALL = 20_000, 10_000, 50_000
"""Characters of an answer's code that a page shows, of a cell of the learner's own, and of all of these."""
_LONGEST_COLOURED, _LONGEST_LINE = 10_000, 500
"""Characters of code, and of a line of it, that is coloured: a lexer's time can grow with their square."""
_CUT = "\n# [cut off: it is longer than a page shows; the whole cell is in the submission]"


def without_blank_lines(code: str) -> str:
    """Runs of blank lines as two: to colour them takes hours."""
    return _BLANK_LINES.sub("\n\n\n", code.replace("\r\n", "\n").replace("\r", "\n"))


def is_coloured(code: str) -> bool:
    """Whether code is short enough for a lexer."""
    return len(code) <= _LONGEST_COLOURED and max(map(len, code.split("\n"))) <= _LONGEST_LINE


class _Shown:
    """What people see of one learner's texts, as far as there is room."""

    def __init__(self, verdict: Verdict) -> None:
        self.typesetter = Typesetter(verdict.pictures)
        self._room = _LONGEST_OF_ALL

    def own_code(self, cell: nbformat.NotebookNode) -> None:
        self.code(cell, min(_LONGEST_OWN, self._room))
        self._room = max(0, self._room - len(cell.source))

    def code(self, cell: nbformat.NotebookNode, most: int = _LONGEST) -> None:
        kept = without_blank_lines(cell.source)
        cell["source"] = kept if len(kept) <= most else kept[:most] + _CUT
        if not is_coloured(cell.source):
            # For nbconvert: the language that a cell is in.
            cell["metadata"]["magics_language"] = "text"


_RUNS = re.compile("html|[/+]xml|javascript")
"""In the type of a file that a browser may run: formgrader serves what lies there to the instructor, logged in."""
_NBGRADERS_TIME = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})? (UTC|[A-Za-z]+(/[\w+-]+)+)")
"""A time as nbgrader's exchange writes it, in a zone that means the same everywhere: nbgrader reads it as we do."""


def hand_on(root: Path, learner: str, lesson: str, part: str, config: Config | None = None) -> dict[str, bool]:
    """Put both files of a submission beside its graded notebook or its feedback, as far as there are any. Raises OSError.

    ``part``: ``autograded`` or ``feedback``. Beside the graded notebook comes what nbgrader copies there, too: the learner's
    files, and in the place of those the instructor's. Returns the names of the learner's that are left out, and of each whether
    the instructor's is there, which holds something else, or a browser may run it.

    ``config``: nbgrader's, if it is not just as the course's file has it.

    A secret that was made up stays the same for as long as one of the folders holds it.
    """
    here, config = places(root), config or config_of(root)
    handed_in = here.notebook("submitted", learner, lesson)
    made = {part: here.folder(part, learner, lesson) for part in ("autograded", "feedback")}
    known = (secret_in(folder / SECRET) for folder in (handed_in.parent, *made.values()))
    secret = next(filter(None, known), "") or secrets.token_hex(64)
    time = _time_for_nbgrader(handed_in.parent / TIME, here.zone)
    if not made[part].is_dir():
        return {}
    _write(made[part] / SECRET, secret.encode())
    _write(made[part] / TIME, time or b"" if part == "feedback" else time)
    return _lay_beside(made[part], here.source(lesson), handed_in, lesson, config) if part == "autograded" else {}


def _time_for_nbgrader(path: Path, zone: str) -> bytes | None:
    """What was handed in, if nbgrader reads it as we do; else the same moment in its form, or nothing. None: there is no file."""
    with contextlib.suppress(ValueError, Damaged):
        if told := time_in(path, zone):
            said = read_file(path, 200)
            return said if _NBGRADERS_TIME.fullmatch(said) else f"{told:%Y-%m-%d %H:%M:%S.%f} UTC".encode()
    return b"" if os.path.lexists(path) else None


def _lay_beside(folder: Path, source: Path, handed_in: Path, lesson: str, config: Config) -> dict[str, bool]:
    """What lies beside the instructor's notebook and beside the learner's, into this folder, as :func:`hand_on` says."""
    ours = files_beside(source, config)
    most = GradingLimits(config=config).for_lesson(lesson).attachment_mb << 20
    theirs = files_beside(handed_in, config, theirs=None, most=most)
    runs = {name for name in theirs if _RUNS.search(guess_type(f"/{name}")[0] or "")}
    there = {str(path.relative_to(folder)) for path in files_below(folder) if path.suffix != ".ipynb"}
    for name in there - {SECRET} - ({*ours, *theirs} - runs):
        (folder / name).unlink()  # of an earlier submission
    # Where one side has a file and the other a folder of that name, the instructor's counts.
    taken = {str(place) for name in ours for place in (Path(name), *Path(name).parents)}
    for name, data in theirs.items():
        if not (
            ".ipynb" in name or {name} & (runs | taken | {SECRET}) or ours.keys() & set(map(str, Path(name).parents))
        ):
            _write(folder / name, data)
    for name, data in ours.items():
        _write(folder / name, data)
    replaced = [name for name, data in theirs.items() if ours.get(name, data) != data]
    return dict.fromkeys(sorted(runs - ours.keys()), False) | dict.fromkeys(replaced, True)


def _write(path: Path, data: bytes | None) -> None:
    """As it is, if it is so already. Nothing: there is no such file."""
    with contextlib.suppress(Damaged):
        if data is not None and read_file(path, len(data)) == data:
            return
    # A folder of that name, which nbgrader has copied out of a submission.
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if data is None:
        path.unlink(missing_ok=True)
    else:
        replace_file(path, data)


def earlier_folder(root: Path, key: Key, handed_in: str) -> Path:
    """Where :func:`keep_earlier` keeps the answers that counted, by the digest of what was handed in."""
    return root / "collected" / "graded" / key.learner / key.assignment / digest_of(handed_in.encode())[:8]


def keep_earlier(root: Path, earlier: Verdict, blueprint: Blueprint, came: str) -> None:
    """Keep the answers that counted until now, because others came, and the files beside them.

    ``came``: when they were handed in, as text; empty if nothing says it. Raises OSError for the notebook.
    """
    key = Key(earlier.learner, earlier.lesson)
    kept = earlier_folder(root, key, earlier.handed_in)
    but = shutil.ignore_patterns(".*", "*.ipynb")
    with contextlib.suppress(OSError):  # a path that is too long there
        shutil.copytree(places(root).folder("autograded", *key), kept, symlinks=True, ignore=but, dirs_exist_ok=True)
    if came and kept.is_dir():
        # Another notebook of the assignment may have come since, and brought its time.
        replace_file(kept / TIME, came)
    # The lesson may have fewer cells by now.
    last = len(blueprint.notebook.cells) - 1
    own = tuple(replace(one, after=min(one.after, last), place=None) for one in earlier.own)
    notebook = fill_in(blueprint, Answers(earlier.answers, own=own))
    replace_file(kept / f"{notebook_of(key.lesson)}.ipynb", json.dumps(notebook))
