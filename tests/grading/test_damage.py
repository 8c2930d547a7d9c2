"""Every kind of made damage, over real lessons: a damaged notebook runs as its sound twin does, or waits for a person."""

from __future__ import annotations

import ast
import json
import random
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest

from nbproof.authoring.lesson import Lesson, find_lessons, read_lesson
from nbproof.authoring.simulate import as_handed_in, hand_in
from nbproof.marking.blueprint import Blueprint, Damaged, Rebuilt, read_blueprint
from nbproof.marking.marker import answers_in
from nbproof.nbgrader_setup import course_config
from nbproof.recover.matching import bare, view
from tests import some_by_day
from tests.damage import KINDS, WAITS, Damage, damaged, kind_of, name_of, text_of
from tests.grading.conftest import LESSON, RIGHT, ROOT

pytestmark = pytest.mark.filterwarnings("ignore")

LESSONS = ("02_tensor_hooks", "04_apply")
"""Those with many exercises, which share names: `model`, `answer`, `hook`, `module_hook`, `weight_initialization`."""


@cache
def _lesson(slug: str) -> tuple[Lesson, Blueprint]:
    (folder,) = find_lessons(ROOT, [slug])
    return read_lesson(folder), read_blueprint(ROOT / "source" / slug / f"{slug}.ipynb", course_config(ROOT))


def _release(slug: str) -> Path:
    return ROOT / "release" / slug / f"{slug}.ipynb"


def _handed_in(slug: str, seed: object) -> dict[str, Any]:
    """A notebook with answers, right and wrong, drawn from the lesson's candidates, and some TODO cells untouched."""
    notebook: dict[str, Any] = json.loads(_text_of_one(slug, seed))
    return {**notebook, "cells": [{**cell, "source": text_of(cell)} for cell in notebook["cells"]]}


@cache
def _text_of_one(slug: str, seed: object) -> str:
    chance = random.Random(f"{seed}/{slug}")
    exercises = [one for one in _lesson(slug)[0].exercises if chance.random() < 0.85]
    answers = {
        one.id: as_handed_in(chance.choice([c for c in one.candidates if c.role != "stub"])) for one in exercises
    }
    answers |= {name: f"Because of {name}, and of nothing else." for name in _lesson(slug)[1].written}
    return str(nbformat.writes(hand_in(_release(slug), answers)))


def _same(one: str, other: str) -> bool:
    """Whether two answers are the same program, or where they are none, the same text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.dump(ast.parse(view(one))) == ast.dump(ast.parse(view(other)))
        except SyntaxError:
            return bare(view(one)) == bare(view(other))


def _damage(slug: str, kinds: list[str], seed: int) -> tuple[dict[str, Any], Damage]:
    notebook = _handed_in(slug, seed)
    release = json.loads(_release(slug).read_text(encoding="utf-8"))
    return notebook, damaged(notebook, kinds, release, seed)


def _compare(blueprint: Blueprint, notebook: dict[str, Any], damage: Damage, found: Rebuilt) -> set[str]:
    """Each answer is that of the sound twin, by itself or with the cells around it, or waits. Which ones wait."""
    stubs = blueprint.handout.stubs | blueprint.handout.written
    waiting = set()
    for cell in notebook["cells"]:
        name = name_of(cell)
        if kind_of(cell) not in ("answer", "written"):
            continue
        if name in damage.lost:
            assert "Hand in" in found.lost[name]
            assert found.answers[name].strip() == stubs[name].strip() or found.waits(blueprint, name)
        elif name in found.lost:
            assert found.waits(blueprint, name), found.lost
            shown = {bare(line) for line in found.answers[name].replace("# ", "", -1).splitlines()}
            hidden = {bare(line) for line in view(text_of(cell)).replace("# ", "").splitlines()} - shown
            assert hidden <= {"", "#"} or len(found.answers[name]) > 8_000
            waiting.add(name)
        elif kind_of(cell) == "written":
            assert text_of(cell).strip() in found.answers[name] or "A person decides" in found.answers[name]
        else:
            assert _same(text_of(cell), found.answers[name]) or _runs_as(cell, blueprint, found), found.recovered.get(
                name
            )
    return waiting


def _runs_as(cell: dict[str, Any], blueprint: Blueprint, found: Rebuilt) -> bool:
    """Whether the TODO cell and the learner's own cells around it are, one after another, this answer."""
    name = name_of(cell)
    place = next(at for at, one in enumerate(blueprint.handout.cells) if one.name == name)
    above, below = ([one.source for one in found.own if one.after == at] for at in (place - 1, place))
    text = found.answers[name]
    stub = blueprint.handout.stubs.get(name, "")
    texts = [*above, *([] if bare(text) in ("", bare(stub)) else [text]), *below]
    merged = any(f"in the TODO cell of `{name}`" in why for why in found.lost.values())
    ran, wanted = bare("".join(texts)), bare(text_of(cell))
    return ran == wanted or (merged and wanted in ran)


@pytest.mark.parametrize(
    ("slug", "kind"),
    [
        pytest.param(slug, kind.name, marks=[pytest.mark.nightly] * (slug != LESSONS[number % len(LESSONS)]))
        for number, kind in enumerate(KINDS.values())
        for slug in (LESSONS if kind.of == "cells" else [LESSONS[number % len(LESSONS)]])
        if kind.of != "name" and not kind.refused and "page" not in kind.name
    ],
)
def test_what_is_still_there_is_found(slug: str, kind: str) -> None:
    _, blueprint = _lesson(slug)
    notebook, damage = _damage(slug, [kind], 1)
    waiting = _compare(blueprint, notebook, damage, answers_in(blueprint, damage.data))
    assert not waiting or kind in WAITS


@pytest.mark.parametrize("kind", ["nbconvert page", "nbconvert classic page"])
def test_answers_are_found_in_a_page(small_lesson: Path, hand_in: Callable[..., Path], kind: str) -> None:
    blueprint = read_blueprint(small_lesson / "source" / LESSON / f"{LESSON}.ipynb", course_config(small_lesson))
    notebook = json.loads(hand_in("ada", RIGHT).read_text())
    assert answers_in(blueprint, damaged(notebook, [kind], notebook, 1).data).answers == RIGHT


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS.values() if kind.refused])
def test_what_is_no_submission_is_refused_with_a_reason(kind: str) -> None:
    _, blueprint = _lesson(LESSONS[0])
    _, damage = _damage(LESSONS[0], [kind], 1)
    with pytest.raises(Damaged) as refusal:
        answers_in(blueprint, damage.data)
    assert any(word in str(refusal.value).lower() for word in ("hand in", "save"))


_CELLS = [kind.name for kind in KINDS.values() if kind.of == "cells"]
_FILES = [kind.name for kind in KINDS.values() if kind.of == "file" and not kind.refused and "page" not in kind.name]


def _pairs(count: int) -> list[tuple[str, str]]:
    chance = random.Random(20)
    pairs = [(chance.choice(_CELLS), chance.choice(_FILES)) for _ in range(count)]
    # nbconvert takes the indentation away with which the second half of a cell begins: nobody can tell where it was.
    return [(first, second) for first, second in pairs if not ("split" in first and "nbconvert" in second)]


@pytest.mark.parametrize("both", some_by_day(_pairs(25), 2), ids="+".join)
def test_damage_to_cells_and_damage_to_the_file_together(both: tuple[str, str]) -> None:
    first, second = both
    slug = LESSONS[len(first + second) % len(LESSONS)]
    _, blueprint = _lesson(slug)
    notebook, damage = _damage(slug, [first, second], 2)
    waiting = _compare(blueprint, notebook, damage, answers_in(blueprint, damage.data))
    assert not waiting or {first, second} & WAITS


def test_a_sound_submission_is_taken_as_it_is() -> None:
    for slug in LESSONS:
        _, blueprint = _lesson(slug)
        for seed in range(3):
            notebook = _handed_in(slug, seed)
            found = answers_in(blueprint, json.dumps(notebook).encode())
            wanted = {name_of(c): text_of(c) for c in notebook["cells"] if kind_of(c) in ("answer", "written")}
            assert found == Rebuilt(wanted)


def test_another_lessons_notebook_is_refused_also_without_ids() -> None:
    for slug, other in zip(LESSONS, (*LESSONS[1:], LESSONS[0]), strict=True):
        for kinds in ([], ["colab"]):
            _, damage = _damage(other, kinds, 3)
            with pytest.raises(Damaged, match="another notebook"):
                answers_in(_lesson(slug)[1], damage.data)
