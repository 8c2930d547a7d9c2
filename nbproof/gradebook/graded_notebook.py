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
import os
import re
import secrets
import shutil
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat

from nbproof.cells import name_of
from nbproof.display.panel import html_of, text_of
from nbproof.display.words import words
from nbproof.files import replace_file
from nbproof.marking.blueprint import Blueprint, fill_in, is_blank
from nbproof.marking.plain import plain_outputs
from nbproof.marking.results import CellRun, Verdict
from nbproof.moments import moment_in
from nbproof.places import places
from nbproof.recover.answers import Answers, to_be_shown
from nbproof.recover.notebook_bytes import Damaged, read_file
from nbproof.text import code_parts
from nbproof.values.results import FAULTS, Finding, Outcome, Status, first_wrong

__all__ = ["TIME", "graded_notebook", "hand_on", "shown_as_text", "time_in"]


def graded_notebook(blueprint: Blueprint, verdict: Verdict) -> nbformat.NotebookNode:
    """The notebook for ``autograded/``, formgrader and feedback."""
    blank = {
        name
        for name, question in blueprint.written.items()
        if is_blank(question, verdict.answers.get(name, question.stub))
    }
    answers = {name: text for name, text in verdict.answers.items() if name not in blank}
    notebook = fill_in(blueprint, Answers(answers, own=to_be_shown(verdict.own)))
    tests = {part: exercise for exercise in verdict.exercises for part in exercise.most}
    for number, cell in enumerate(notebook.cells, 1):
        name = name_of(cell)
        if name in blueprint.texts and name not in blank:
            cell["source"] = shown_as_text(cell["source"])
        elif name in blueprint.stubs or name in tests:
            outputs: Sequence[dict[str, Any]] = verdict.runs.get(name, CellRun()).outputs
            if name in tests:
                outputs = _outputs(tests[name], name, outputs if name in blueprint.plain else None)
            cell["outputs"] = [nbformat.from_dict(output) for output in outputs]
            cell["execution_count"] = number
    return notebook


def _outputs(exercise: Outcome, part: str, plain: Sequence[dict[str, Any]] | None) -> list[dict[str, Any]]:
    """The panel of one test cell, and the error that ends it if it is not whole. ``plain``: what tests of its own have shown."""
    whole, points = exercise.is_whole_in(part), exercise.points[part]
    shown = plain_outputs(points, exercise.most[part], plain) if plain is not None else []
    findings = list(exercise.findings_of(part)) or [Finding("", "", True, part=part)]
    if whole:
        return [_shown(html_of(exercise.id, findings), f"{exercise.id}: passed"), *shown]
    wrong, instead = first_wrong(findings), words().outcome(exercise)
    # Where the worker was lost, or nothing was marked, the status has to say it.
    lost = exercise.status in (*FAULTS, Status.NOT_ANSWERED, Status.UNCERTAIN)
    if wrong is None:  # a person is to give the marks
        wrong = findings[0] = replace(findings[0], passed=False)
    if not lost and words().finding(wrong):
        instead = ""
    if lost:
        findings[findings.index(wrong)] = wrong = replace(wrong, hint=None)
    panel = _shown(html_of(exercise.id, findings, instead=instead), f"{exercise.id}: {exercise.status}")
    lines = text_of(wrong, instead=instead).splitlines()
    traceback = ["CheckFailed: " + "\n".join(lines)]
    error = {"output_type": "error", "ename": "CheckFailed", "evalue": lines[0], "traceback": traceback}
    # An error of ours, if there is one, stands last: it is what tells why.
    told = [error] if plain is None or points == 0 else []
    return [panel, *shown, *told]


def _shown(panel: str, plain: str) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {"text/html": panel, "text/plain": plain}, "metadata": {}}


_LONGEST = 20_000
"""Characters of an answer that a page shows."""
_PICTURE = re.compile(r"\(attachment:|<img\b|!\[[^\]\n]*\]\(\S")
_TURNING = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Signs that turn the direction of text: what is read would not be what was written."""


def shown_as_text(text: str) -> str:
    """Markdown that looks like the text as it was typed, with `code` in backticks, and cannot do anything.

    Instructors read it logged in. All is one line of HTML, so that markdown leaves it alone; every character that
    means something to markdown, HTML or MathJax is an entity.
    """
    kept = text.encode("utf-8", "backslashreplace").decode()
    kept = _TURNING.sub(lambda sign: f"\\u{ord(sign[0]):04x}", kept)
    if len(kept) > _LONGEST:
        kept = kept[:_LONGEST] + "\n[cut off: a page shows no more of it; the whole text is in the submission]"
    if _PICTURE.search(kept):
        kept = kept.rstrip("\n") + "\n[pictures are not shown here: open the submitted notebook to see them]"
    lines = [_line(line) for line in kept.strip("\n").splitlines()]
    return f'<div class="tex2jax_ignore mathjax_ignore">{"<br>".join(lines)}</div>'


def _line(line: str) -> str:
    indent = len(line) - len(line.lstrip())
    marked = [
        f"<code>{_entities(part)}</code>" if at % 2 and part else _entities(part)
        for at, part in enumerate(code_parts(line.lstrip()))
    ]
    return "&nbsp;" * min(indent, 40) + "".join(marked)


def _entities(text: str) -> str:
    return "".join(sign if sign.isalnum() or sign == " " else f"&#{ord(sign)};" for sign in text)


TIME, SECRET = "timestamp.txt", "submission_secret.txt"


def time_in(path: Path) -> datetime | None:
    """When it was handed in, in UTC; None if nothing is said. Raises ValueError if what is said cannot be read for certain."""
    try:
        text = read_file(path, 200).decode().strip()
    except Damaged as error:
        if not os.path.lexists(path):
            return None
        raise ValueError(str(error)) from None
    return moment_in(text) if text else None


def _secret_in(path: Path) -> str:
    try:
        text = read_file(path, 1_000).decode("ascii")
    except (Damaged, ValueError):
        return ""
    # The exchange's own are 128 hexadecimal digits. Whatever it is, it counts to the last character.
    return text if re.fullmatch(r"[!-~\s]{16,}", text) else ""


def hand_on(root: Path, learner: str, lesson: str, parts: Collection[str] = ("autograded", "feedback")) -> None:
    """Put both files of a submission beside its graded notebook and its feedback, as far as there are any. Raises OSError.

    ``parts``: where they are put.

    A secret that was made up stays the same for as long as one of the folders holds it.
    """
    here = places(root)
    handed_in = here.folder("submitted", learner, lesson)
    made = {part: here.folder(part, learner, lesson) for part in ("autograded", "feedback")}
    known = (_secret_in(folder / SECRET) for folder in (handed_in, *made.values()))
    secret = next(filter(None, known), "") or secrets.token_hex(64)
    time = "" if os.path.lexists(handed_in / TIME) else None
    with contextlib.suppress(ValueError):
        if told := time_in(handed_in / TIME):
            time = f"{told:%Y-%m-%d %H:%M:%S.%f} UTC"
    for part in parts:
        if made[part].is_dir():
            _write(made[part] / SECRET, secret)
            _write(made[part] / TIME, time or "" if part == "feedback" else time)


def _write(path: Path, text: str | None) -> None:
    """As it is, if it is so already. Nothing: there is no such file."""
    with contextlib.suppress(Damaged):
        if text is not None and read_file(path, 1_000) == text.encode():
            return
    # A folder of that name, which nbgrader has copied out of a submission.
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    if text is None:
        path.unlink(missing_ok=True)
    else:
        replace_file(path, text.encode())
