"""What help and progress know of the lessons."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from nbproof.checks.visible import whole
from nbproof.course_file import CourseFile
from nbproof.display.outline import OutlinedLesson, exercise_named, fingerprint, outline

ROOT = Path(__file__).parent.parent.parent


def released() -> list[str]:
    return sorted(path.stem for path in (ROOT / "release").glob("*/*.ipynb"))


def test_every_released_lesson_is_in_it_in_order() -> None:
    assert [lesson.slug for lesson in outline()] == released()


@pytest.mark.parametrize("lesson", outline(), ids=lambda lesson: lesson.slug)
def test_it_says_what_the_released_notebook_holds(lesson: OutlinedLesson) -> None:
    notebook = nbformat.read(ROOT / "release" / lesson.slug / f"{lesson.slug}.ipynb", as_version=4)
    todo = {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution")
    }
    tests = "\n".join(whole(cell.source) for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade"))
    assert [one.id for one in lesson.exercises] == list(todo)
    assert notebook.cells[0].source.startswith(f"# {lesson.title}\n")
    for one in lesson.exercises:
        assert one.stub == fingerprint(todo[one.id]), one.id
        assert one.minutes > 0
        assert one.points > 0
        assert one.difficulty in ("easy", "medium", "hard")
        assert one.title
        for cell in one.cells:
            assert cell, f"{one.id}: a test cell without a visible check"
            assert f'check("{one.id}",{",".join(cell)})' in re.sub(r",?\s+\)", ")", tests).replace(
                "\n    ", ""
            ).replace(", ", ",")


def test_a_fingerprint_overlooks_spaces_at_line_ends_only() -> None:
    assert fingerprint("a = 1  \nb = 2\n") == fingerprint("a = 1\nb = 2")
    assert fingerprint("a = 1") != fingerprint(" a = 2")
    assert fingerprint("\ud800") == fingerprint("\ud800")


def test_an_exercise_is_found_by_its_id() -> None:
    first = outline()[0].exercises[0]
    assert exercise_named(first.id) is first
    assert exercise_named("no_such_exercise") is None


def test_without_the_file_there_is_no_outline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("nbproof.display.outline.the_course", lambda: CourseFile("course", tmp_path, ""))
    assert outline() == ()
    (tmp_path / "later").mkdir()
    monkeypatch.setattr("nbproof.display.outline.the_course", lambda: CourseFile("course", tmp_path / "later", ""))
    (tmp_path / "later" / "outline.json").write_text('{"01": {"title": "t", "exercises": [{"of": "another version"}]}}')
    assert outline() == ()
