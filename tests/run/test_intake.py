"""What was handed in is found, and what is no submission is named, before anything runs."""

from pathlib import Path

import nbformat
import pytest

from nbproof.command import course_command
from nbproof.errors import UsageError
from nbproof.run.intake import gradable_lessons, take_in
from tests import COURSE
from tests.damage import NAMES


def _notebook(path: Path, text: str = "1") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text)]), path)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    for lesson in ("01_a", "02_b"):
        _notebook(tmp_path / "source" / lesson / f"{lesson}.ipynb")
    return tmp_path


@pytest.mark.parametrize("path", [path.format(lesson="01_a") for path in NAMES.values()])
def test_the_only_notebook_is_taken_whatever_it_is_called(course: Path, path: str) -> None:
    folder = course / "submitted" / "fay" / "01_a"
    _notebook(folder / path)
    for other in ("timestamp.txt", "data.csv", ".ipynb_checkpoints/01_a-checkpoint.ipynb", "__MACOSX/._x.ipynb"):
        (folder / other).parent.mkdir(exist_ok=True)
        (folder / other).write_text("2026-01-01 00:00")
    intake = take_in(COURSE, course, ["01_a"])
    assert [(one.path, one.problem) for one in intake.submissions] == [(folder / path, "")]
    assert any(path in note for note in intake.notes)
    assert not intake.passed_over


def test_of_several_notebooks_the_one_with_the_lessons_name_is_taken(course: Path) -> None:
    folder = course / "submitted" / "gus" / "01_a"
    for name in ("scratch.ipynb", "01_a (1).ipynb"):
        _notebook(folder / name, "mine")
    (found,) = take_in(COURSE, course, ["01_a"]).submissions
    assert found.path.name == "01_a (1).ipynb"


@pytest.mark.parametrize(
    ("names", "said"),
    [(("one.ipynb", "two.ipynb"), "one.ipynb, two.ipynb"), ((), "the folder holds no notebook")],
)
def test_of_several_notebooks_without_it_none_is_guessed(course: Path, names: tuple[str, ...], said: str) -> None:
    (course / "submitted" / "hal" / "01_a").mkdir(parents=True)
    for name in names:
        _notebook(course / "submitted" / "hal" / "01_a" / name)
    (found,) = take_in(COURSE, course, ["01_a"]).submissions
    assert said in found.problem


def test_a_folder_for_no_lesson_is_passed_over_aloud(course: Path) -> None:
    _notebook(course / "submitted" / "ada" / "99_z" / "99_z.ipynb")
    intake = take_in(COURSE, course, ["01_a"])
    assert intake.submissions == ()
    assert "99_z" in intake.notes[0]
    assert intake.passed_over


def test_an_unknown_lesson_is_refused_with_a_choice(course: Path) -> None:
    with pytest.raises(UsageError) as refusal:
        gradable_lessons(course, ["03_c"])
    assert "'03_c'" in refusal.value.fact
    assert refusal.value.place.endswith("source")
    assert "01_a, 02_b" in refusal.value.next_command


def test_a_course_without_notebooks_is_told_to_build(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refusal:
        gradable_lessons(tmp_path, [])
    assert "build" not in refusal.value.next_command, "there is nothing to build"
    (tmp_path / "lessons").mkdir()
    with pytest.raises(UsageError) as refusal:
        gradable_lessons(tmp_path, [])
    assert refusal.value.next_command == course_command("build")
