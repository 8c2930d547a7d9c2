"""Every kind of made damage, over real lessons: a damaged notebook runs as its sound twin does, or a person looks.

Files in any state give cells if there are any, a reason if not, in bounded time and memory.
"""

from __future__ import annotations

import ast
import contextlib
import json
import random
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest

from nbproof.authoring.simulate import as_handed_in, hand_in
from nbproof.lesson.from_notebook import kind_of, name_of, text_of
from nbproof.lesson.from_text import find_lessons, read_lesson
from nbproof.lesson.lesson import Lesson
from nbproof.marking import marker
from nbproof.marking.blueprint import Blueprint, read_blueprint
from nbproof.places import course_config
from nbproof.recover.answers import Answers
from nbproof.recover.matching import bare, view
from nbproof.recover.notebook_bytes import Damaged, cells_in
from nbproof.recover.search import find_answers_in_bytes
from nbproof.sandbox.engine import Engine
from nbproof.testing.bench import Bench
from nbproof.values.words import ENGLISH
from tests import COURSE, some_by_day
from tests.conftest import ROOT
from tests.damage import KINDS, WAITS, Damage, damaged
from tests.damage.cells import LOSE_IDS

LESSONS = ("02_tensor_hooks", "04_apply")
"""Those with many exercises, which share names: `model`, `answer`, `hook`, `module_hook`, `weight_initialization`."""


@cache
def lesson_of(slug: str) -> tuple[Lesson, Blueprint]:
    (folder,) = find_lessons(ROOT, [slug])
    return read_lesson(COURSE, folder), read_blueprint(
        COURSE, ROOT / "source" / slug / f"{slug}.ipynb", course_config(ROOT)
    )


def _release(slug: str) -> Path:
    return ROOT / "release" / slug / f"{slug}.ipynb"


def _handed_in(slug: str, seed: object) -> dict[str, Any]:
    """A notebook with answers, right and wrong, drawn from the lesson's candidates, and some TODO cells untouched."""
    notebook: dict[str, Any] = json.loads(_text_of_one(slug, seed))
    return {**notebook, "cells": [{**cell, "source": text_of(cell)} for cell in notebook["cells"]]}


@cache
def _text_of_one(slug: str, seed: object) -> str:
    chance = random.Random(f"{seed}/{slug}")
    exercises = [one for one in lesson_of(slug)[0].exercises if chance.random() < 0.85]
    answers = {
        one.id: as_handed_in(chance.choice([c for c in one.candidates if c.role != "stub"])) for one in exercises
    }
    answers |= {name: f"Because of {name}, and of nothing else." for name in lesson_of(slug)[1].written}
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


def _compare(blueprint: Blueprint, notebook: dict[str, Any], damage: Damage, found: Answers) -> set[str]:
    """Each answer is that of the sound twin, by itself or with the cells around it, or waits. Which ones wait."""
    stubs = blueprint.handout.stubs | blueprint.handout.written
    waiting = set()
    for cell in notebook["cells"]:
        name = name_of(cell)
        if kind_of(cell) not in ("answer", "written"):
            continue
        if name in damage.lost:
            assert "is needed." in found.lost[name]
            assert found.answers[name].strip() == stubs[name].strip() or found.waits(blueprint.stubs, name)
        elif name in found.lost:
            assert found.waits(blueprint.stubs, name), found.lost
            shown = {bare(line) for line in found.answers[name].replace("# ", "", -1).splitlines()}
            hidden = {bare(line) for line in view(text_of(cell)).replace("# ", "").splitlines()} - shown
            untouched = bare(text_of(cell)) == bare(stubs[name])
            assert untouched or hidden <= {"", "#"} or len(found.answers[name]) > 8_000
            waiting.add(name)
        elif kind_of(cell) == "written":
            assert text_of(cell).strip() in found.answers[name] or "A person decides" in found.answers[name]
        else:
            assert _same(text_of(cell), found.answers[name]) or _runs_as(cell, blueprint, found), found.recovered.get(
                name
            )
    return waiting


def _runs_as(cell: dict[str, Any], blueprint: Blueprint, found: Answers) -> bool:
    """Whether the TODO cell and the learner's own cells around it are, one after another, this answer."""
    name = name_of(cell)
    place = next(at for at, one in enumerate(blueprint.handout.cells) if one.grade_id == name)
    above, below = ([one.source for one in found.own if one.after == at] for at in (place - 1, place))
    text = found.answers[name]
    stub = blueprint.handout.stubs.get(name, "")
    texts = [*above, *([] if bare(text) in ("", bare(stub)) else [text]), *below]
    ran, wanted = bare("".join(texts)), bare(text_of(cell))
    return ran == wanted or (found.lost != {} and wanted in ran)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("slug", "kind"),
    [
        pytest.param(slug, kind.name, marks=[pytest.mark.nightly] * (slug != LESSONS[number % len(LESSONS)]))
        for number, kind in enumerate(KINDS.values())
        for slug in (LESSONS if kind.of == "cells" else [LESSONS[number % len(LESSONS)]])
        if kind.of != "name" and not kind.refused
    ],
)
def test_what_is_still_there_is_found(slug: str, kind: str) -> None:
    _, blueprint = lesson_of(slug)
    notebook, damage = _damage(slug, [kind], 1)
    waiting = _compare(blueprint, notebook, damage, find_answers_in_bytes(blueprint.handout, damage.data, ENGLISH))
    assert not waiting or kind in WAITS


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [kind.name for kind in KINDS.values() if kind.refused])
def test_what_is_no_submission_is_refused_with_a_reason(kind: str) -> None:
    _, blueprint = lesson_of(LESSONS[0])
    _, damage = _damage(LESSONS[0], [kind], 1)
    with pytest.raises(Damaged) as refusal:
        find_answers_in_bytes(blueprint.handout, damage.data, ENGLISH)
    said = str(refusal.value)
    assert len(said) > 20 and "hand in" not in said.lower(), "what to do stands on the learner's page alone"


def test_a_list_that_is_filled_below_the_check_waits() -> None:
    _, blueprint = lesson_of("04_apply")
    release = json.loads(_release("04_apply").read_text(encoding="utf-8"))
    at = next(at for at, cell in enumerate(release["cells"]) if name_of(cell) == "test_visit_order") + 1
    for says, waits in (("answer.append(module)", True), ("print(module, answer)", False)):
        new = {"cell_type": "code", "metadata": {}, "source": f"for module in model.modules():\n    {says}"}
        cells = [*release["cells"][:at], new, *release["cells"][at:]]
        found = find_answers_in_bytes(blueprint.handout, json.dumps({**release, "cells": cells}).encode(), ENGLISH)
        assert set(found.lost) == ({"visit_order"} if waits else set())


_CELLS = [kind.name for kind in KINDS.values() if kind.of == "cells"]
_FILES = [kind.name for kind in KINDS.values() if kind.of == "file" and not kind.refused]


def _pairs(count: int) -> list[tuple[str, str]]:
    chance = random.Random(20)
    pairs = [(chance.choice(_CELLS), chance.choice(_FILES)) for _ in range(count)]
    # Of a notebook without ids, or with all cells twice, nobody can say which cells are gone.
    return [pair for pair in pairs if pair[1] != "truncated" or pair[0] not in (*LOSE_IDS, "all twice")]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("both", some_by_day(_pairs(25), 2), ids="+".join)
def test_damage_to_cells_and_damage_to_the_file_together(both: tuple[str, str]) -> None:
    first, second = both
    slug = LESSONS[len(first + second) % len(LESSONS)]
    _, blueprint = lesson_of(slug)
    notebook, damage = _damage(slug, [first, second], 2)
    waiting = _compare(blueprint, notebook, damage, find_answers_in_bytes(blueprint.handout, damage.data, ENGLISH))
    assert not waiting or first in {*WAITS, *LOSE_IDS}


@pytest.mark.filterwarnings("ignore")
def test_another_lessons_notebook_is_refused_also_without_ids() -> None:
    for slug, other in zip(LESSONS, (*LESSONS[1:], LESSONS[0]), strict=True):
        for kinds in ([], ["colab"]):
            _, damage = _damage(other, kinds, 3)
            with pytest.raises(Damaged, match="another notebook"):
                find_answers_in_bytes(lesson_of(slug)[1].handout, damage.data, ENGLISH)


def _notebook(*sources: str) -> str:
    cells = [{"cell_type": "code", "metadata": {}, "source": source, "outputs": []} for source in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def _sources(data: bytes | str) -> list[str]:
    return [cell.source for cell in cells_in(data.encode() if isinstance(data, str) else data)[0]]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "[" * 500_000,
        '{"cells": [' + '{"cell_type": "code", ' * 20_000,
        '"cell_type"' * 100_000,
        '{"cells": [{"cell_type": "code", "source": "' + "\\" * 300_001,
        '{"cells": [{"cell_type": "code"},' + "{}," * 2_000_000,
    ],
    ids=lambda text: text[:20],
)
def test_hostile_text_ends_in_time(text: str) -> None:
    start = time.process_time()
    with contextlib.suppress(Damaged):
        cells_in(text.encode())
    assert time.process_time() - start < 8


def test_broken_json_that_takes_long_is_refused_by_the_clock(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marker, "SECONDS", 2.0)
    text = '{"cells": [{"cell_type": "code", "source": ["' + 'a"b ' * 100_000
    with pytest.raises(Damaged, match="takes too long"):
        Bench(engine, lesson_of(LESSONS[0])[1]).read(text.encode())


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("gb18030", "钩子运行时，头部的梯度已经算好了。"),
        ("big5", "鉤子執行時，頭部的梯度已經算好了。"),
        ("cp1251", "Хук срабатывает после того, как градиент уже вычислен."),
        ("cp1252", "Le crochet s’exécute après « voilà », Größe übermäßig."),
        ("utf-16", "Größe"),
    ],
)
@pytest.mark.parametrize("slug", ["02_tensor_hooks", "06_capstones"])
def test_a_notebook_in_the_encoding_of_an_editor_is_read(slug: str, encoding: str, text: str) -> None:
    notebook = json.loads(_release(slug).read_text(encoding="utf-8"))
    notebook["cells"][-2]["source"] = text
    for indent in (1, None):
        cells, damage = cells_in(json.dumps(notebook, ensure_ascii=False, indent=indent).encode(encoding, "replace"))
        assert cells[-2].source == text
        assert "UTF-8" in damage


def test_utf_8_of_which_some_bytes_are_spoiled_stays_utf_8() -> None:
    data = _notebook("x").replace('"x"', '"钩子运行时，梯度已经算好了 §"').encode().replace("§".encode(), b"\xe9")
    assert _sources(data) == ["钩子运行时，梯度已经算好了 \ufffd"]
