"""The lessons as they are: the author contract over all of them, fresh notebooks, and what they bring along: pictures and
digits, sources that they show, a torchvision that fits torch. Solved runs: tests/run/test_stock.py.

Hostile answers cost no check more than it may cost: a small part of `python -m benchmarks.judge`.
"""

from __future__ import annotations

import ast
import inspect
import random
import re
import sys
import types
from pathlib import Path

import pytest
import torch

from benchmarks.judge import targets, tried
from benchmarks.seeds import failures
from course import gpt, models, vision
from course.data import digits, picture
from course.models import Add, Model
from course.patient import Reader, UnitLength
from course.sources import show_source
from nbproof.authoring.checkup import check_release
from nbproof.authoring.contract import check_contract, select
from nbproof.cells import CellKind
from nbproof.lesson.check_cell import probe_in
from nbproof.lesson.lesson import Lesson
from nbproof.limits import GradingLimits
from nbproof.places import course_config
from tests import COURSE, SLUGS, some_by_day, the_lesson, the_lessons

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(params=SLUGS)
def lesson(request: pytest.FixtureRequest) -> Lesson:
    return the_lesson(request.param)


@pytest.mark.parametrize("name", some_by_day(["double_grad", *SLUGS], 1 + len(SLUGS)))
def test_exercises_meet_the_author_contract(name: str) -> None:
    # One exercise by day: it takes a tenth of a second a candidate, and CI runs `make check` beside the tests.
    records = check_contract(select(COURSE, ROOT, [name]), mutant_seeds=(1,))
    broken = [one for record in records for one in record.violations]
    assert broken == [], "\n".join(f"{one.fact}\n  at:   {one.place}\n  next: {one.next_command}" for one in broken)


def test_a_wrong_answer_that_passed_by_chance_fails_with_that_seed() -> None:
    lesson = the_lesson("01_module_anatomy")
    exercise = next(one for one in lesson.exercises if one.id == "container_order")
    answer = next(one for one in exercise.candidates if one.name == "backwards")
    assert failures(lesson, exercise, answer.source, [930817165]), "where both orders are the same backwards"


@pytest.mark.slow
def test_derived_notebooks_are_fresh_and_leak_nothing() -> None:
    assert check_release(COURSE, ROOT, list(the_lessons())) == []


def test_the_lesson_opens_with_what_you_will_do_learn_need(lesson: Lesson) -> None:
    opening = lesson.cells[0].source.lower()
    for word in ("do", "learn", "need", "time", "out of scope"):
        assert re.search(rf"\b{word}\b", opening), f"{lesson.slug}'s first cell does not say {word!r}"
    assert lesson.cells[1].grade_id == "setup_imports"


def test_a_picture_is_what_its_cell_ends_with(lesson: Lesson) -> None:
    """A notebook shows the last expression of a cell: a picture that is drawn above it is seen by nobody."""
    sources = [cell.source for cell in lesson.cells if cell.kind is CellKind.SHOW]
    above = [statement for source in sources for statement in ast.parse(source).body[:-1]]
    assert [line for line in map(ast.unparse, above) if line.startswith("draw_")] == []


def test_no_probe_uses_what_only_truths_use(lesson: Lesson) -> None:
    """In a sealed process there is no such module."""
    parts = {cell.grade_id: probe_in(cell.source) for one in lesson.exercises for cell in one.tests}
    assert parts
    assert [name for name, text in parts.items() if any(module in text for module in COURSE.truths)] == []


def test_learners_are_told_the_grading_limits(lesson: Lesson) -> None:
    release = (ROOT / "release" / lesson.slug / f"{lesson.slug}.ipynb").read_text(encoding="utf-8")
    assert GradingLimits(config=course_config(ROOT)).sentence() in release


def test_titles_begin_alike_and_nobody_is_sent_to_an_answer_that_he_does_not_have(lesson: Lesson) -> None:
    """Bundles hold no right answers: a text that says "see the solution" leads nowhere."""
    release = (ROOT / "release" / lesson.slug / f"{lesson.slug}.ipynb").read_text(encoding="utf-8")
    assert re.findall(r"### Exercise: [a-z].*", release) == []
    assert re.findall(r"(?i).*\bthe solution\b.*", release) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(sys.platform != "linux", reason="how much memory a try takes at most, Linux alone tells")
@pytest.mark.parametrize("step", [pytest.param(40, id="some"), pytest.param(1, id="all", marks=pytest.mark.nightly)])
def test_hostile_answers_cost_little_in_every_check(step: int) -> None:
    chosen = list(enumerate(targets()))[::step]
    costs = [cost for number, target in chosen for cost in tried(target, random.Random(f"tests/{number}"))]
    assert len(costs) > 400 / step, "each check, at home and while grading"
    assert [str(cost) for cost in costs if cost.is_too_much] == []


# What they bring along


@pytest.mark.slow
def test_digits_are_scikit_learns() -> None:
    from sklearn.datasets import load_digits  # takes seconds, which nobody shall wait for who runs another test

    pictures, labels = digits()
    bunch = load_digits()
    assert pictures.shape == (1797, 1, 8, 8)
    assert torch.equal(pictures[:, 0] * 16, torch.from_numpy(bunch.images).float())
    assert torch.equal(labels, torch.from_numpy(bunch.target))
    assert labels.dtype == torch.int64


def test_a_picture_is_the_middle_of_the_photograph() -> None:
    large, small = picture(size=96), picture(size=24)
    assert small.shape == (1, 3, 24, 24) and 0 <= small.min() < small.max() <= 1
    assert torch.allclose(small, torch.nn.functional.avg_pool2d(large, 4), atol=0.1)


@pytest.mark.parametrize(
    ("version", "cuda", "cured"),
    [("0.28.0+cu130", None, True), ("0.28.0+cpu", None, False), ("0.28.0+cu130", "13.0", False)],
)
def test_only_a_cuda_build_beside_a_cpu_torch_gets_its_operators(
    version: str, cuda: str | None, cured: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, defined = types.SimpleNamespace(origin=str(tmp_path / "__init__.py")), list[str]()
    (tmp_path / "version.py").write_text(f"__version__ = {version!r}\n")
    monkeypatch.setattr(vision.importlib.util, "find_spec", lambda name: spec)
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.library, "define", lambda name, schema: defined.append(name))
    vision.make_torchvision_importable()
    assert defined == ["torchvision::nms", "torchvision::qnms"] * cured


def test_the_cure_waits_for_the_first_import_and_is_applied_once(monkeypatch: pytest.MonkeyPatch) -> None:
    applied: list[str] = []
    monkeypatch.setattr(vision, "make_torchvision_importable", lambda: applied.append("applied"))
    monkeypatch.setattr(sys, "meta_path", [])
    vision.watch_for_torchvision()
    vision.watch_for_torchvision()
    (watcher,) = sys.meta_path
    assert watcher.find_spec("torch", None) is None
    assert applied == []
    assert watcher.find_spec("torchvision", None) is None
    assert applied == ["applied"]
    assert sys.meta_path == []


def test_in_a_terminal_the_sources_are_printed_one_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    show_source(Add, Model.forward)
    add, forward = capsys.readouterr().out.split("\n\n\n")
    assert add == inspect.getsource(Add).rstrip()
    # A method is shown from the margin.
    assert forward.startswith("def forward(self")
    assert "\n    return output" in forward


def test_of_what_lessons_show_nothing_is_there_for_tools_only(capsys: pytest.CaptureFixture[str]) -> None:
    for one in [*map(models.__dict__.get, models.__all__), *map(gpt.__dict__.get, gpt.__all__), Reader, UnitLength]:
        show_source(one)
    shown = capsys.readouterr().out
    assert "__test__" not in shown and "type: ignore" not in shown and "noqa" not in shown and "fmt:" not in shown


@pytest.mark.parametrize("slug", SLUGS)
def test_a_lesson_is_one_chapter(slug: str) -> None:
    """A book's table of contents lists first-level headings: the title is the only one."""
    prose = "\n".join(cell.source for cell in the_lesson(slug).cells if cell.kind is CellKind.PROSE)
    assert len(re.findall(r"^# ", re.sub(r"```.*?```", "", prose, flags=re.DOTALL), re.MULTILINE)) == 1
