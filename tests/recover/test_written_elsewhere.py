"""What a person wrote is seen, wherever it stands: brought as the answer, or left to a person, never passed over.

Code between marks in a text cell is its exercise's answer, or a person is told to look.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import nbformat
import pytest

from nbproof.authoring.lesson import Lesson, find_lessons, read_lesson
from nbproof.authoring.simulate import as_handed_in as without_head
from nbproof.authoring.simulate import hand_in
from nbproof.cells import kind_of, name_of, text_of
from nbproof.marking.blueprint import Blueprint, read_blueprint
from nbproof.marking.manual_answers import is_blank
from nbproof.nbgrader_setup import course_config
from nbproof.recover.answers import Answers
from nbproof.recover.notebook_bytes import plain_cells
from nbproof.recover.search import find_answers, found_in
from tests import some_by_day
from tests.conftest import ROOT

SLUG = "02_tensor_hooks"
TEXT = "The hook runs after the gradient of the head was computed, so only the features see zeros."
CHINESE = "钩子运行时，头部的梯度已经算好了，所以只有前面的层收到零。"


@cache
def _lesson(slug: str) -> tuple[Lesson, Blueprint]:
    (folder,) = find_lessons(ROOT, [slug])
    return read_lesson(folder), read_blueprint(ROOT / "source" / slug / f"{slug}.ipynb", course_config(ROOT))


@cache
def _untouched(slug: str) -> str:
    return str(nbformat.writes(hand_in(ROOT / "release" / slug / f"{slug}.ipynb", {})))


def _notebook(slug: str = SLUG, answers: dict[str, str] | None = None) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(
        nbformat.writes(hand_in(ROOT / "release" / slug / f"{slug}.ipynb", answers)) if answers else _untouched(slug)
    )
    return {**made, "cells": [{**cell, "source": text_of(cell)} for cell in made["cells"]]}


def _text(source: str, kind: str = "markdown") -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "source": source, **({"outputs": []} if kind == "code" else {})}


def _stub(cells: list[dict[str, Any]]) -> int:
    return next(at for at, cell in enumerate(cells) if kind_of(cell) == "written")


def _todo(cells: list[dict[str, Any]], name: str = "intermediate_grad") -> int:
    return next(at for at, cell in enumerate(cells) if name_of(cell) == name and kind_of(cell) == "answer")


def _read(notebook: dict[str, Any]) -> Answers:
    return found_in(_lesson(SLUG)[1].handout, json.dumps(notebook).encode())


BESIDE = {"below": 1, "above": 0, "behind the next prose": 2}


def _put(place: str, text: str, kind: str = "markdown") -> dict[str, Any]:
    notebook = _notebook()
    cells = notebook["cells"]
    at, new = _stub(cells), _text(text, kind)
    if place in BESIDE:
        cells.insert(at + BESIDE[place], new)
    elif place == "emptied":
        cells[at]["source"] = ""
        cells.insert(at + 1, new)
    elif place == "deleted":
        cells[at] = new
    elif place == "end":
        cells.append(new)
    elif place == "start":
        cells.insert(1, new)
    else:
        within = {"question": at - 1, "question, same line": at - 1, "prose elsewhere": 5, "todo": _todo(cells)}
        cells[within[place]]["source"] += f" {text}" if "same line" in place else f"\n\n{text}"
    return notebook


@pytest.mark.parametrize("ids", [True, False], ids=["ids", "no ids"])
@pytest.mark.parametrize("text", [TEXT, CHINESE, "Order.", "![image.png](attachment:image.png)", "👍"])
@pytest.mark.parametrize("place", ["below", "above", "emptied", "question", "deleted"])
def test_what_stands_beside_the_stub_is_brought(place: str, text: str, ids: bool) -> None:
    notebook = _put(place, text)
    if not ids:
        for cell in notebook["cells"]:
            cell["metadata"] = {}
    found = _read(notebook)
    assert text in found.answers["explain_reach"]
    assert "a person looks" in found.recovered["explain_reach"]
    assert not found.lost.get("explain_reach")


REMARK = "# " + TEXT
STRING = f'"""{TEXT} And more than that: he would need a hook on the parameters of the head."""'


@pytest.mark.parametrize(
    ("place", "text", "kind"),
    [
        ("below", TEXT, "raw"),
        ("end", TEXT, "markdown"),
        ("start", TEXT, "markdown"),
        ("end", CHINESE, "markdown"),
        ("behind the next prose", TEXT, "markdown"),
        ("prose elsewhere", TEXT, "markdown"),
        ("question, same line", "Because of order.", "markdown"),
        ("end", "Order.", "markdown"),
        ("below", REMARK, "code"),
        ("below", "# order", "code"),
        ("end", f"print('{TEXT}')", "code"),
        ("end", STRING, "code"),
        ("end", TEXT, "code"),
        ("end", f"%%markdown\n{TEXT}", "code"),
        ("end", f"answer = '{TEXT}'", "code"),
        ("below", CHINESE, "code"),
        ("below", "# " + CHINESE, "code"),
        ("todo", REMARK, "code"),
        ("todo", "# " + CHINESE, "code"),
        ("end", "https://docs.example/my-answer", "markdown"),
    ],
)
@pytest.mark.parametrize("ids", [True, False], ids=["ids", "no ids"])
def test_what_may_be_the_answer_waits_for_a_person(place: str, text: str, kind: str, ids: bool) -> None:
    notebook = _put(place, text, kind)
    if not ids:
        for cell in notebook["cells"]:
            cell["metadata"] = {}
    found = _read(notebook)
    said = text.lstrip("#% ").removeprefix("markdown\n").removeprefix("print('").removeprefix("answer = '")
    assert said.strip("'\")")[:30] in found.answers["explain_reach"]
    (question,) = _lesson(SLUG)[1].written.values()
    assert not is_blank(question, found.answers["explain_reach"])
    assert "cell" in found.recovered["explain_reach"]


def test_every_candidate_is_brought_with_its_place_and_what_goes_on_is_seen_whole() -> None:
    notebook = _put("end", TEXT)
    notebook["cells"].insert(1, _text("Another thought."))
    answer = _read(notebook).answers["explain_reach"]
    assert TEXT in answer and "Another thought." in answer
    assert f"[cell {len(notebook['cells'])}]" in answer and "A person decides" in answer
    notebook = _put("below", "And the second half of it.")
    notebook["cells"][_stub(notebook["cells"])]["source"] = TEXT
    answer = _read(notebook).answers["explain_reach"]
    assert answer.startswith(TEXT) and "second half" in answer


def test_many_long_texts_stay_short_enough_to_be_shown() -> None:
    notebook = _notebook()
    notebook["cells"] += [_text(f"text {number} " * 3_000) for number in range(60)]
    notebook["cells"].insert(1, _text("a"))
    answer = _read(notebook).answers["explain_reach"]
    assert len(answer) < 20_000
    assert "more in the submitted notebook" in answer


SLUGS = sorted(path.name for path in (ROOT / "lessons").iterdir() if path.name[:1].isdigit())


@pytest.mark.parametrize("slug", some_by_day(SLUGS, len(SLUGS)))
def test_ordinary_answers_make_nobody_wait_and_are_found_alike_by_the_search(slug: str) -> None:
    lesson, blueprint = _lesson(slug)
    accepted = {one.id: [c for c in one.candidates if c.role == "accepted"] for one in lesson.exercises}
    for number in range(max(map(len, accepted.values()))):
        answers = {name: without_head(found[number % len(found)]) for name, found in accepted.items() if found}
        notebook = _notebook(slug, answers)
        # Scratch cells, with the comments that people write.
        at = _todo(notebook["cells"], next(iter(answers)))
        notebook["cells"].insert(at + 2, _text("# check the shapes\nprint('shape is', x1.shape)  # 2 rows", "code"))
        cells = plain_cells(json.dumps(notebook).encode()) or []
        (stub,) = blueprint.handout.written.values()
        wanted = {**blueprint.handout.stubs, **answers, **dict.fromkeys(blueprint.written, stub)}
        assert find_answers(blueprint.handout, cells).answers == wanted


def _fenced(text: str, at: int = 1, *, name: str = "intermediate_grad") -> Answers:
    notebook = _notebook()
    notebook["cells"].insert(_todo(notebook["cells"], name) + at, _text(text))
    return found_in(_lesson(SLUG)[1].handout, json.dumps(notebook).encode())


def _right(name: str) -> str:
    (exercise,) = [one for one in _lesson(SLUG)[0].exercises if one.id == name]
    return without_head(next(one for one in exercise.candidates if one.role == "accepted"))


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("frame", ["```python\n{}\n```", "My answer:\n\n~~~\n{}\n~~~\nIt works.", "```\n{}"])
def test_code_fenced_in_a_text_cell_waits_for_a_person(frame: str, at: int) -> None:
    for name in ("intermediate_grad", "grad_clipper"):
        found = _fenced(frame.format(_right(name)), at, name=name)
        assert all(line in found.answers[name] for line in _right(name).splitlines())
        assert "a person has to look" in found.lost[name]


def test_code_of_two_exercises_or_in_two_versions_waits_for_a_person() -> None:
    both = f"```\n{_right('intermediate_grad')}\n\n{_right('grad_clipper')}\n```"
    versions = f"```\n{_right('intermediate_grad')}\n```\n```\n{_right('intermediate_grad')}\nlog.clear()\n```"
    for text in (both, versions):
        found = _fenced(text)
        assert found.answers["intermediate_grad"].startswith("# [Not certain")
        assert "# def watch_gradient(tensor" in found.answers["intermediate_grad"]
        assert "a person has to look" in found.lost["intermediate_grad"]


def test_quoted_code_of_the_lesson_and_of_nobody_changes_nothing() -> None:
    stub = _lesson(SLUG)[1].stubs["intermediate_grad"]
    for text in (f"```\n{stub}\n```", "```\nhello\n```"):
        found = _fenced(text)
        assert found.answers["intermediate_grad"] == stub
        assert not found.lost


def test_a_todo_cell_that_became_text_with_a_fence_is_taken_without_it() -> None:
    notebook = _notebook()
    cell = notebook["cells"][_todo(notebook["cells"])]
    cell.update(cell_type="markdown", source=f"```python\n{_right('intermediate_grad')}\n```")
    assert _read(notebook).answers["intermediate_grad"].strip() == _right("intermediate_grad").strip()


def test_a_renamed_id_of_a_written_answer_is_a_lost_id() -> None:
    notebook = _notebook()
    cell = notebook["cells"][_stub(notebook["cells"])]
    cell["source"], cell["metadata"]["nbgrader"]["grade_id"] = TEXT, "explain-Copy1"
    found = _read(notebook)
    assert TEXT in found.answers["explain_reach"]
    assert not found.lost
