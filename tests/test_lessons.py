"""The lessons as they are: the author contract over all of them, fresh notebooks. Solved runs: grading/test_stock.py."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from nbproof.authoring.contract import Record, check_contract, check_release, select
from nbproof.authoring.lesson import find_lessons, read_lesson
from nbproof.authoring.release import unasked
from nbproof.limits import GradingLimits
from nbproof.nbgrader_setup import course_config

ROOT = Path(__file__).parent.parent
LESSONS = [read_lesson(folder) for folder in find_lessons(ROOT)]


@pytest.fixture(scope="module")
def records() -> dict[str, Record]:
    # Each mutant with one seed here, every sixth with another one in tests/grading/test_parity.py; `make check` takes two.
    return {record.exercise.id: record for record in check_contract(select(ROOT, []), mutant_seeds=(1,))}


@pytest.mark.slow
@pytest.mark.parametrize("exercise", [exercise.id for lesson in LESSONS for exercise in lesson.exercises])
def test_the_exercise_meets_the_author_contract(records: dict[str, Record], exercise: str) -> None:
    violations = records[exercise].violations
    assert not violations, "\n".join(
        f"{one.fact}\n  at:   {one.place}\n  next: {one.next_command}" for one in violations
    )


@pytest.mark.slow
def test_derived_notebooks_are_fresh_and_leak_nothing() -> None:
    assert check_release(ROOT, LESSONS) == []


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_the_lesson_opens_with_what_you_will_do_learn_need(lesson) -> None:
    opening = lesson.cells[0].source.lower()
    for word in ("do", "learn", "need", "minutes", "out of scope"):
        assert re.search(rf"\b{word}\b", opening), f"{lesson.slug}'s first cell does not say {word!r}"
    assert lesson.cells[1].grade_id == "setup_imports"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_every_exercise_shows_difficulty_minutes_and_points(lesson) -> None:
    for exercise in lesson.exercises:
        position = lesson.cells.index(exercise.answer)
        prose = "\n".join(cell.source for cell in lesson.cells[:position] if cell.kind == "prose").rsplit(
            "### Exercise", 1
        )[1]
        found = re.search(r"(easy|medium|hard) · (\d+) min · (\d+) points?", prose)
        assert found, f"{exercise.id}: no line '<difficulty> · <minutes> min · <points> points'"
        assert int(found[3]) == exercise.points


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_the_opening_counts_exercises_and_points_as_they_are(lesson) -> None:
    words = {5: "five", 7: "seven", 9: "nine", 10: "ten", 12: "twelve"}
    opening = " ".join(lesson.cells[0].source.split())
    found = re.search(r"(\w+) exercises for (\d+) points.*? and one question in your own words, (\d+) points", opening)
    assert found, opening
    (written,) = lesson.written
    points = sum(exercise.points for exercise in lesson.exercises)
    assert found.groups() == (words[len(lesson.exercises)], f"{points:g}", f"{written.points:g}")
    assert list(unasked(lesson)) == []


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_committed_notebooks_hold_no_outputs_and_unique_ids(lesson) -> None:
    for step in ("source", "release"):
        notebook = nbformat.read(ROOT / step / lesson.slug / f"{lesson.slug}.ipynb", as_version=4)
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)
        ids = [cell.id for cell in notebook.cells]
        assert len(ids) == len(set(ids))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_folded_test_cells_say_what_to_do(lesson) -> None:
    for exercise in lesson.exercises:
        for cell in exercise.tests:
            assert cell.source.startswith("# Run this cell to check your answer.\n"), cell.place


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_learners_are_told_the_grading_limits(lesson) -> None:
    release = (ROOT / "release" / lesson.slug / f"{lesson.slug}.ipynb").read_text(encoding="utf-8")
    assert GradingLimits(config=course_config(ROOT)).sentence() in release
