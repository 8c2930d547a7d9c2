"""A class holds an older version of a lesson than the instructor has: what was handed out once is nobody's answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nbproof.authoring.simulate import as_handed_in
from nbproof.cells import CellKind
from nbproof.lesson.from_notebook import name_of, text_of
from nbproof.lesson.lesson import Cell
from nbproof.marking.blueprint import Blueprint, read_blueprint
from nbproof.places import course_config
from nbproof.recover.answers import Answers
from nbproof.recover.matching import ReleasedNotebook, bare, former_cells
from nbproof.recover.notebook_bytes import ExportedCell, cells_in
from nbproof.recover.search import find_answers, find_answers_in_bytes
from nbproof.values.words import ENGLISH
from tests import COURSE
from tests.conftest import ROOT
from tests.recover.test_damage import lesson_of

SLUG = "01_module_anatomy"
FIRST, SECOND, QUESTION = "forgetful_net", "container_order", "explain_plain_list"
Cells = list[dict[str, Any]]


def _read(step: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads((ROOT / step / SLUG / f"{SLUG}.ipynb").read_text())
    return {**made, "cells": [{**cell, "source": text_of(cell)} for cell in made["cells"]]}


def _at(cells: Cells, name: str) -> int:
    return next(at for at, cell in enumerate(cells) if name_of(cell) == name)


def _prose(cells: Cells) -> None:
    for at in (0, 3, _at(cells, FIRST) - 1):
        cells[at]["source"] = cells[at]["source"].replace("network", "nettwork").replace("2 points", "3 points")


def _translated(cells: Cells) -> None:
    for cell in cells:
        if cell["cell_type"] == "markdown" and not name_of(cell):
            cell["source"] = f"Übersetzt: {cell['source'][::-1]}"
            cell["id"] = f"t-{cell['id']}"


def _points(cells: Cells) -> None:
    cells[_at(cells, f"test_{FIRST}")]["metadata"]["nbgrader"]["points"] = 3


def _given(cells: Cells) -> None:
    for cell in (cells[_at(cells, "setup_digit_net")], cells[5]):
        cell["source"] = cell["source"].replace("\n", "\n# As in 1998.\nyear = 1998\n", 1)


def _stub(cells: Cells) -> None:
    cell = cells[_at(cells, FIRST)]
    cell["source"] = (
        f"# RepairedNet: one that an optimizer sees, all of it.\n{cell['source']}\n\n# TODO: print its parameters"
    )


def _question(cells: Cells) -> None:
    cells[_at(cells, QUESTION)]["metadata"]["nbgrader"]["points"] += 1
    cells[_at(cells, QUESTION) - 1]["source"] += "\n\nTwo sentences are enough, and please no picture."


def _removed(cells: Cells) -> None:
    at = _at(cells, SECOND)
    del cells[at - 1 : at + 2]


def _moved(cells: Cells) -> None:
    at = _at(cells, SECOND)
    moved = cells[at - 1 : at + 2]
    del cells[at - 1 : at + 2]
    cells += moved


def _added(cells: Cells) -> None:
    cells.insert(
        3, {"cell_type": "markdown", "id": "new", "metadata": {}, "source": "## Before we begin\n\nRead this first."}
    )


CHANGES: dict[str, Callable[[Cells], None]] = {
    one.__name__.strip("_"): one
    for one in (_prose, _translated, _points, _given, _stub, _question, _removed, _moved, _added)
}


@cache
def _today(tmp: Path, *changes: str) -> Blueprint:
    """The lesson after these changes, with what was handed out before."""
    notebook = _read("source")
    for change in changes:
        CHANGES[change](notebook["cells"])
    path = tmp / "-".join(changes) / f"{SLUG}.ipynb"
    path.parent.mkdir()
    path.write_text(json.dumps(notebook))
    made = read_blueprint(COURSE, path, course_config(ROOT))
    before = cells_in(json.dumps(_read("release")).encode())[0]
    return replace(made, former=tuple(former_cells(made.handout, before)))


def _no_ids(cells: Cells) -> None:
    for cell in cells:
        cell["metadata"] = {}
        del cell["id"]


def _other_ids(cells: Cells) -> None:
    for at, cell in enumerate(cells):
        cell["id"] = f"{at:08x}"


def _windows(cells: Cells) -> None:
    for cell in cells:
        cell["source"] = cell["source"].replace("\n", " \r\n") + "\r\n"


def _colab(cells: Cells) -> None:
    _no_ids(cells)
    badge = '<a href="https://colab.research.google.com/github/x"><img src="https://colab.research.google.com/assets/colab-badge.svg"/></a>'
    cells.insert(0, {"cell_type": "markdown", "metadata": {"id": "view-in-github"}, "source": badge})


FORMS: dict[str, Callable[[Cells], None]] = {
    "as it is": lambda cells: None,
    **{one.__name__.strip("_"): one for one in (_no_ids, _other_ids, _windows, _colab)},
}


def _hand_in(form: str, answers: dict[str, str]) -> bytes:
    notebook = _read("release")
    for cell in notebook["cells"]:
        cell["source"] = answers.get(name_of(cell), cell["source"])
    FORMS[form](notebook["cells"])
    return json.dumps({**notebook, "nbformat_minor": 2 if form in ("no_ids", "colab") else 5}).encode()


@pytest.fixture(scope="module")
def tmp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("versions")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("change", CHANGES)
def test_what_was_handed_out_before_is_nobodys_answer(tmp: Path, change: str, form: str) -> None:
    today = _today(tmp, change)
    found = find_answers_in_bytes(today.handout, _hand_in(form, {}), ENGLISH)
    assert {name: bare(text) for name, text in found.answers.items()} == {
        name: bare(text) for name, text in {**today.handout.stubs, **today.handout.written}.items()
    }
    assert replace(found, answers={}, own=()) == Answers({})
    # What is gone runs, where learners' own code may rest on it.
    given = {bare(one.source) for one in today.former if one.index is None}
    assert {bare(one.source) for one in found.own} <= (given if change == "removed" else set())


@pytest.mark.parametrize("missing", ["", "why"])
def test_an_answer_to_a_withdrawn_question_is_no_other_questions(missing: str) -> None:
    """Unless that one's cell is missing: it may be the same one under another name."""
    test = Cell(CellKind.TEST, "assert " + "all" * 50, grade_id="test", id="t")
    asked = [Cell(CellKind.WRITTEN, "YOUR ANSWER HERE", grade_id=name, id=name) for name in ("why", "how")]
    handed_in = [ExportedCell(test.grade_id, test.source, "code")]
    handed_in += [ExportedCell(one.grade_id, one.source, "markdown", one.id) for one in asked]
    former = tuple(former_cells(ReleasedNotebook("x", (test, asked[0])), handed_in))
    texts = {"why": "A", "how": "B"}
    cells = [
        cell._replace(source=texts.get(str(cell.grade_id), cell.source))
        for cell in handed_in
        if cell.grade_id != missing
    ]
    found = find_answers(ReleasedNotebook("x", (test, asked[0]), former), cells, ENGLISH)
    assert (found.own, [*found.recovered]) == ((), ["why"] * bool(missing))
    assert found.answers["why"].endswith("B" if missing else "A")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("change", CHANGES)
def test_answers_in_an_older_version_are_found_by_it(tmp: Path, change: str, form: str) -> None:
    today = _today(tmp, change)
    exercise = next(one for one in lesson_of(SLUG)[0].exercises if one.id == FIRST)
    right = as_handed_in(next(one for one in exercise.candidates if one.role == "accepted"))
    found = find_answers_in_bytes(today.handout, _hand_in(form, {FIRST: right, QUESTION: "Because."}), ENGLISH)
    assert found.answers[FIRST].split() == right.split()
    # Text in a cell that nothing names is shown to a person, in its place.
    assert "Because." in found.answers[QUESTION]
    assert (form in ("no_ids", "colab")) or found.answers[QUESTION].strip() == "Because."
    own = [one.source for one in found.own if one.code or one.source.strip() != "Because."]
    assert (found.lost, own if change != "removed" else []) == ({}, [])


def test_of_a_file_that_breaks_off_whatever_is_gone_says_so() -> None:
    """It is no earlier version, which had no such question."""
    handout = lesson_of(SLUG)[1].handout
    text = json.dumps(_read("release"))
    between_cells = text.rindex('"cell_type": "markdown"', 0, len(text) // 3)
    lost = find_answers_in_bytes(handout, text[:between_cells].encode(), ENGLISH).lost
    assert handout.written.keys() <= lost.keys() and len(lost) > len(handout.written)
    assert {*lost.values()} == {"The file breaks off before this cell. The whole notebook is needed."}
