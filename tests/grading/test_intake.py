"""What was handed in is found, and what is no submission is named, before anything runs."""

from pathlib import Path

import nbformat
import pytest

from course.errors import UsageError
from course.grading.intake import lessons_with_source, notebook_problem, take_in


def _notebook(path: Path, cells: int = 1) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1") for _ in range(cells)]), path)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    for lesson in ("01_a", "02_b"):
        _notebook(tmp_path / "source" / lesson / f"{lesson}.ipynb")
    return tmp_path


def test_a_good_submission_has_no_problem(course: Path) -> None:
    _notebook(course / "submitted" / "ada" / "01_a" / "01_a.ipynb")
    (found,) = take_in(course, ["01_a"], ["01_a", "02_b"]).submissions
    assert (found.learner, found.lesson, found.problem) == ("ada", "01_a", "")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"hello", "is not a notebook"),
        (b"", "is not a notebook"),
        (b"{}", "is not a notebook"),
        (b"[1, 2]", "is not a notebook"),
        (b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', "holds no cells"),
        (b"\xff\xfe\x00", "cannot be read"),
        (b"[" * 100_000, "is not a notebook"),
    ],
    ids=["text", "empty", "no-notebook-json", "list", "no-cells", "not-utf8", "deep"],
)
def test_what_is_no_notebook_is_named(course: Path, content: bytes, says: str) -> None:
    path = course / "submitted" / "mal" / "01_a" / "01_a.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert says in notebook_problem(path)
    assert path.read_bytes() == content


def test_an_empty_folder_and_a_renamed_notebook_are_named(course: Path) -> None:
    (course / "submitted" / "eve" / "01_a").mkdir(parents=True)
    _notebook(course / "submitted" / "fay" / "01_a" / "copy.ipynb")
    problems = [one.problem for one in take_in(course, ["01_a"], ["01_a"]).submissions]
    assert "the folder holds no notebook" in problems[0]
    assert "only copy.ipynb" in problems[1]


def test_a_folder_for_no_lesson_is_passed_over_aloud(course: Path) -> None:
    _notebook(course / "submitted" / "ada" / "99_z" / "99_z.ipynb")
    intake = take_in(course, ["01_a"], ["01_a", "02_b"])
    assert intake.submissions == ()
    assert "99_z" in intake.notes[0]


def test_the_digest_follows_submission_and_source(course: Path) -> None:
    path = course / "submitted" / "ada" / "01_a" / "01_a.ipynb"
    _notebook(path)
    source = course / "source" / "01_a" / "01_a.ipynb"
    (found,) = take_in(course, ["01_a"], ["01_a"]).submissions
    first = found.digest(source)
    assert found.digest(source) == first
    _notebook(path, cells=2)
    second = found.digest(source)
    _notebook(source, cells=3)
    assert len({first, second, found.digest(source)}) == 3


def test_an_unknown_lesson_is_refused_with_a_choice(course: Path) -> None:
    with pytest.raises(UsageError) as refusal:
        lessons_with_source(course, ["03_c"])
    assert "'03_c'" in refusal.value.fact
    assert refusal.value.place.endswith("source")
    assert "01_a, 02_b" in refusal.value.next_command


def test_a_course_without_notebooks_is_told_to_build(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refusal:
        lessons_with_source(tmp_path, [])
    assert refusal.value.next_command == "make build"
