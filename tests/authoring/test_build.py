"""The derived notebooks: the same bytes at every build, whole in source/, bare in release/."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbgrader.utils import compute_checksum

from nbproof.authoring.build import build, how_to_install, notebook_of, unbuilt
from nbproof.authoring.checkup import leaks
from nbproof.authoring.statements import amiss, prose_of
from nbproof.cells import CellKind
from nbproof.errors import LessonError
from nbproof.lesson.from_text import read_lesson
from nbproof.lesson.lesson import Cell, Lesson
from nbproof.places import places
from tests import COURSE, ROOT
from tests.authoring.tiny import WRITTEN, Sketch, write_lesson
from tests.lms.uploads import folder_of

NOTEBOOK = "00_tiny/00_tiny.ipynb"


def lesson_of(course: Path) -> Lesson:
    return read_lesson(COURSE, course / "lessons" / "00_tiny")


def test_a_rebuild_changes_no_byte(course: Path) -> None:
    before = {path: path.read_bytes() for step in ("source", "release") for path in (course / step).rglob("*.ipynb")}
    assert len(before) == 2
    assert build(COURSE, course, say=lambda line: None) == []
    assert {path: path.read_bytes() for path in before} == before


def test_source_is_the_lesson_with_nbgraders_metadata(built: Path) -> None:
    notebook = nbformat.read(built / "source" / NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    lesson = lesson_of(built)
    texts = prose_of(lesson)
    assert [cell.source for cell in notebook.cells] == [texts.get(cell.place, cell.source) for cell in lesson.cells]
    assert "jupytext" not in notebook.metadata
    answer, test = notebook.cells[-2:]
    usual = {"schema_version": 3, "task": False}
    assert answer.metadata.nbgrader == {**usual, "grade_id": "catch", "grade": False, "locked": False, "solution": True}
    assert test.metadata.nbgrader.items() >= {**usual, "grade": True, "locked": True, "points": 2}.items()
    assert all(cell.get("outputs", []) == [] and cell.get("execution_count") is None for cell in notebook.cells)


def test_release_keeps_the_cells_and_loses_what_is_private(built: Path) -> None:
    source = nbformat.read(built / "source" / NOTEBOOK, as_version=4)
    release = nbformat.read(built / "release" / NOTEBOOK, as_version=4)
    assert [cell.id for cell in release.cells] == [cell.id for cell in source.cells]
    text = "\n".join(cell.source for cell in release.cells)
    assert "class Call(Check)" in text
    assert "OtherForward" not in text
    assert "BEGIN" not in text
    # What the contract tries as the stub is what nbgrader really hands out.
    assert release.cells[-2].source == lesson_of(built).exercise("catch").candidates[1].source
    assert list(leaks(lesson_of(built), built / "release" / NOTEBOOK)) == []


def test_cell_ids_follow_content_so_that_other_cells_may_come_and_go(course: Path) -> None:
    before = {cell.source: cell.id for cell in notebook_of(lesson_of(course)).cells}
    path = course / "lessons" / "00_tiny" / "lesson.py"
    path.write_text(path.read_text().replace("# %%\n", "# %%\nprint(0)\n\n# %%\nprint(0)\n\n# %%\n", 1))
    after = notebook_of(lesson_of(course)).cells
    assert {cell.source: cell.id for cell in after}.items() >= before.items()
    assert len({cell.id for cell in after}) == len(after) == len(before) + 2


def test_run_all_goes_on_below_a_wrong_answer(course: Path) -> None:
    """What a lesson shows below an answer may break if that is wrong; tests, answers and setup fail aloud."""
    lesson = lesson_of(course)
    show = Cell(CellKind.SHOW, "hook(2)", "here")
    cells = notebook_of(replace(lesson, cells=(show, *lesson.cells, show))).cells
    assert [cell.metadata.get("tags") == ["raises-exception"] for cell in cells] == [False] * (len(cells) - 1) + [True]


def test_where_the_course_is_missing_the_first_cell_says_what_to_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in sorted((ROOT / "release").glob("*/*.ipynb")):
        first = next(one for one in nbformat.read(path, as_version=4).cells if one.cell_type == "code")
        exec(first.source, {})
        assert capsys.readouterr().out == ""
        assert first.metadata["jupyter"]["source_hidden"] and first.metadata["cellView"] == "form"
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "course", None)
            exec(first.source, {})
        said = capsys.readouterr().out
        assert said.startswith("The course is not installed here yet.")
        assert said.rstrip().endswith("%pip install -q pytorch_hooks_course*.whl")


def test_a_course_whose_wheel_has_an_address_names_it() -> None:
    address = "https://example.org/pytorch_hooks_course-1.0.0-py3-none-any.whl"
    assert f'print("    %pip install -q {address}")' in how_to_install(replace(COURSE, wheel=address))


def test_the_build_of_one_lesson_sees_an_id_that_another_has(course: Path) -> None:
    write_lesson(course, "01_other", [Sketch()])
    with pytest.raises(LessonError, match="the exercise id 'catch' is used in two lessons"):
        build(COURSE, course, ["00_tiny"], say=lambda line: None)


def test_the_answer_and_the_mark_scheme_stay_with_the_instructor(tmp_path: Path) -> None:
    path = write_lesson(tmp_path, "00_tiny", [Sketch()]) / "lesson.py"
    path.write_text(path.read_text() + WRITTEN)
    lesson = read_lesson(COURSE, path.parent)
    assert [cell.grade_id for cell in lesson.questions] == ["explain_twice"]
    assert len(lesson.exercises) == 1
    build(COURSE, tmp_path, say=lambda line: None)
    source, release = (
        nbformat.read(tmp_path / step / NOTEBOOK, as_version=4).cells[-1] for step in ("source", "release")
    )
    assert source.cell_type == release.cell_type == "markdown"
    assert source.metadata.nbgrader.points == 2 and source.metadata.nbgrader.solution and source.metadata.nbgrader.grade
    assert "registered twice" in source.source
    assert release.source == "Write your answer here, in two or three sentences."
    assert release.metadata.nbgrader.checksum == compute_checksum(release)
    assert list(amiss(lesson)) == list(leaks(lesson, tmp_path / "release" / NOTEBOOK)) == []


OLDER = "source/00_tiny is older than lessons/00_tiny"


@pytest.mark.parametrize(
    ("name", "before", "after", "fact"),
    [
        ("lesson.py", "A tiny", "A small", OLDER),
        ("files/data.csv", "", "1,2", OLDER),
        ("files/data.csv", "", "1;2", ""),
        ("lesson.py", "A tiny", "A tiny", ""),
        ("lesson.py", "# %% [markdown]\n# # A tiny", "# # A tiny", "cell markers but"),
    ],
)
def test_what_was_edited_and_not_built_is_told(name: str, before: str, after: str, fact: str, course: Path) -> None:
    """Of what is newer than the notebook; where a build would change nothing, nothing is told."""
    path, beside = course / "lessons/00_tiny" / name, course / "source/00_tiny/data.csv"
    path.parent.mkdir(exist_ok=True)
    beside.write_text("1;2")
    text = path.read_text() if path.exists() else ""
    path.write_text(text.replace(before, after, 1))
    found = [one.fact for one in unbuilt(COURSE, course, ["00_tiny"])]
    assert len(found) == bool(fact) and all(fact in one for one in found), found
    if fact == OLDER:
        build(COURSE, course, say=lambda line: None)
        assert list(unbuilt(COURSE, course, ["00_tiny"])) == []


def test_right_answers_without_a_lesson_are_nothing_that_could_be_built(tmp_path: Path) -> None:
    folder_of(tmp_path, {"source/01_a/01_a.ipynb": b"{}", "nbgrader_config.py": b"c = get_config()\n"})
    folder_of(tmp_path, {"lessons/01_a/one/right.py": b"x = 1"})
    assert not places(tmp_path).is_edited("01_a"), "a folder is as new as the zip that was unpacked"
    folder_of(tmp_path, {"lessons/01_a/lesson.py": b""})
    assert places(tmp_path).is_edited("01_a")
