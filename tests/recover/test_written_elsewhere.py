"""What a person wrote is seen, wherever it stands: shown as the answer to a person who decides, never passed over."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest
from nbgrader.utils import compute_checksum

from nbproof.authoring.simulate import as_handed_in, hand_in
from nbproof.lesson.from_notebook import kind_of, name_of, text_of
from nbproof.marking.blueprint import is_blank
from nbproof.recover.answers import Answers
from nbproof.recover.search import find_answers_in_bytes
from nbproof.values.words import ENGLISH
from tests import some_by_day
from tests.conftest import ROOT
from tests.recover.test_damage import lesson_of

SLUG = "02_tensor_hooks"
TEXT = "The hook runs after the gradient of the head was computed, so only the features see zeros."
CHINESE = "钩子运行时，头部的梯度已经算好了，所以只有前面的层收到零。"


def _notebook(slug: str = SLUG, answers: dict[str, str] | None = None) -> dict[str, Any]:
    made = json.loads(nbformat.writes(hand_in(ROOT / "release" / slug / f"{slug}.ipynb", answers or {})))
    return {**made, "cells": [{**cell, "source": text_of(cell)} for cell in made["cells"]]}


def _text(source: str, kind: str = "markdown") -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "source": source, **({"outputs": []} if kind == "code" else {})}


def _stub(cells: list[dict[str, Any]]) -> int:
    return next(at for at, cell in enumerate(cells) if kind_of(cell) == "written")


def _read(notebook: dict[str, Any]) -> Answers:
    return find_answers_in_bytes(lesson_of(SLUG)[1].handout, json.dumps(notebook).encode(), ENGLISH)


def _put(place: str, text: str, kind: str = "markdown") -> dict[str, Any]:
    notebook = _notebook()
    cells = notebook["cells"]
    at, new = _stub(cells), _text(text, kind)
    if place == "deleted":
        cells[at] = new
    elif place == "TODO cell":
        cells[_todo(cells)]["source"] += f"\n# {text}"
    elif place in ("question", "prose elsewhere"):
        cells[at - 1 if place == "question" else 5]["source"] += f"\n\n{text}"
    else:
        cells[at]["source"] *= place != "emptied"
        cells.insert({"above": at, "start": 1, "end": len(cells)}.get(place, at + 1), new)
    return notebook


@pytest.mark.parametrize(
    ("place", "text", "kind"),
    [
        *((place, TEXT, "markdown") for place in ("below", "above", "emptied", "question", "deleted", "start", "end")),
        *(("below", text, "markdown") for text in (CHINESE, "Order.", "![image.png](attachment:image.png)", "👍")),
        ("prose elsewhere", TEXT, "markdown"),
        ("TODO cell", TEXT, "code"),
        ("below", TEXT, "raw"),
        ("below", "# order", "code"),
        ("end", f"# {TEXT}", "code"),
        ("end", f"print('{TEXT}')", "code"),
        ("end", TEXT, "code"),
        ("below", CHINESE, "code"),
    ],
)
@pytest.mark.parametrize("ids", [True, False], ids=["ids", "no ids"])
def test_what_may_be_the_answer_waits_for_a_person(place: str, text: str, kind: str, ids: bool) -> None:
    notebook = _put(place, text, kind)
    if not ids:
        for cell in notebook["cells"]:
            cell["metadata"] = {}
    found = _read(notebook)
    (question,) = lesson_of(SLUG)[1].written.values()
    assert text in found.answers["explain_reach"]
    assert "A person decides" in found.answers["explain_reach"]
    assert not is_blank(question, found.answers["explain_reach"])
    assert "cell" in found.recovered["explain_reach"]
    assert not found.lost


def test_every_candidate_is_brought_with_its_place_and_what_goes_on_is_seen_whole() -> None:
    notebook = _put("end", TEXT)
    notebook["cells"].insert(1, _text("Another thought."))
    answer = _read(notebook).answers["explain_reach"]
    assert TEXT in answer and "Another thought." in answer
    assert f"[cell {len(notebook['cells'])}]" in answer
    notebook = _put("below", "And the second half of it.")
    notebook["cells"][_stub(notebook["cells"])]["source"] = TEXT
    answer = _read(notebook).answers["explain_reach"]
    assert answer.startswith(TEXT) and "second half" in answer


def test_letters_of_any_script_are_an_answer() -> None:
    notebook = _put("end", "Крюк видит градиент.")
    notebook["cells"].insert(-1, _text("А я видел слово."))
    answer = _read(notebook).answers["explain_reach"]
    assert "Крюк" in answer and "слово" in answer


def test_many_long_texts_stay_short_enough_to_be_shown() -> None:
    notebook = _notebook()
    notebook["cells"] += [_text(f"text {number} " * 3_000) for number in range(60)]
    answer = _read(notebook).answers["explain_reach"]
    assert len(answer) < 20_000
    assert "more in the submitted notebook" in answer


SLUGS = sorted(path.name for path in (ROOT / "lessons").iterdir() if path.name[:1].isdigit())


@pytest.mark.parametrize("slug", some_by_day(SLUGS, len(SLUGS)))
def test_ordinary_answers_make_nobody_wait(slug: str) -> None:
    lesson, blueprint = lesson_of(slug)
    accepted = {one.id: [c for c in one.candidates if c.role == "accepted"] for one in lesson.exercises}
    for number in range(max(map(len, accepted.values()))):
        answers = {
            name: f"# {TEXT}\n{as_handed_in(found[number % len(found)])}" for name, found in accepted.items() if found
        }
        notebook = _notebook(slug, answers)
        # Scratch cells, with the comments that people write.
        at = next(at for at, cell in enumerate(notebook["cells"]) if name_of(cell) == next(iter(answers)))
        notebook["cells"].insert(at + 2, _text("# check the shapes\nprint('shape is', x1.shape)  # 2 rows", "code"))
        found = find_answers_in_bytes(blueprint.handout, json.dumps(notebook).encode(), ENGLISH)
        (stub,) = blueprint.handout.written.values()
        assert found.answers == {**blueprint.handout.stubs, **answers, **dict.fromkeys(blueprint.written, stub)}
        assert (found.lost, found.recovered) == ({}, {})


def _right(name: str) -> str:
    (exercise,) = [one for one in lesson_of(SLUG)[0].exercises if one.id == name]
    return as_handed_in(next(one for one in exercise.candidates if one.role == "accepted"))


def _todo(cells: list[dict[str, Any]]) -> int:
    return next(at for at, cell in enumerate(cells) if name_of(cell) == "intermediate_grad")


def test_comments_beside_code_are_no_written_answer() -> None:
    for answer, waits in {_right("intermediate_grad"): False, "# nothing yet": True}.items():
        notebook = _notebook(answers={"intermediate_grad": f"# {TEXT}\n{answer}"})
        assert ("explain_reach" in _read(notebook).recovered) is waits


def test_a_line_that_is_broken_in_two_is_still_the_teachers() -> None:
    notebook = _notebook()
    cell = notebook["cells"][5]
    cell["source"] = cell["source"].replace(" ", "\n\n", 3)
    assert not _read(notebook).recovered


@pytest.mark.parametrize("untouched", [True, False])
@pytest.mark.parametrize(
    ("kind", "grading"),
    [
        ("markdown", {"locked": True}),
        ("markdown", {"grade": True, "locked": False, "solution": True, "points": 2, "grade_id": "explain_reach"}),
        ("code", {"grade": True, "locked": True, "points": 1.5}),
        ("code", {"locked": True}),
    ],
)
def test_a_cell_whose_checksum_agrees_is_as_it_was_handed_out(
    kind: str, grading: dict[str, Any], untouched: bool
) -> None:
    old = _text(TEXT if kind == "markdown" else f"# {TEXT}\nprint('{TEXT}')", kind)
    plain = {"grade": False, "solution": False, "task": False, "schema_version": 3, "grade_id": "of_version_1"}
    old["metadata"]["nbgrader"] = {**plain, **grading}
    old["metadata"]["nbgrader"]["checksum"] = compute_checksum(nbformat.from_dict(old))
    old["source"] += "" if untouched else "\n# And this I think."
    notebook = _notebook()
    at = _stub(notebook["cells"])
    notebook["cells"][at : at + bool(grading.get("solution"))] = [old]
    (question,) = lesson_of(SLUG)[1].written.values()
    # Of an answer it tells nothing: nbgrader's own quickstart has summed up cells with answers in them.
    untouched = untouched and not grading.get("solution")
    assert is_blank(question, _read(notebook).answers["explain_reach"]) is untouched


def test_what_colab_puts_above_a_notebook_is_nobodys_answer() -> None:
    notebook = _notebook()
    badge = '<a href="https://colab.research.google.com/github/x"><img src="https://colab.research.google.com/assets/colab-badge.svg"/></a>'
    notebook["cells"].insert(0, _text(badge))
    assert not _read(notebook).recovered


def test_code_in_a_text_cell_waits_for_a_person_if_it_may_be_an_answer() -> None:
    both = f"{_right('intermediate_grad')}\n\n{_right('grad_clipper')}"
    for text, waits in {both: {"intermediate_grad", "grad_clipper"}, "hello": set()}.items():
        notebook = _notebook()
        notebook["cells"].insert(
            _todo(notebook["cells"]) + 1, _text(f"My answer:\n\n```python\n{text}\n```\nIt works.")
        )
        found = _read(notebook)
        assert set(found.lost) == waits
        assert all("# def watch_gradient(tensor" in found.answers[name] for name in waits)


def test_a_todo_cell_that_became_text_with_marks_around_its_code_waits() -> None:
    notebook = _notebook()
    cell = notebook["cells"][_todo(notebook["cells"])]
    cell.update(cell_type="markdown", source=f"```python\n{_right('intermediate_grad')}\n```")
    assert "a person has to look" in _read(notebook).lost["intermediate_grad"]
