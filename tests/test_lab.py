"""The learner's workspace: made once, never overwritten."""

from pathlib import Path

import pytest

from course.errors import UsageError
from course.lab import _is_ours, prepare_workspace, released_lessons


@pytest.fixture
def course(tmp_path: Path) -> Path:
    for name in ("02_b", "01_a"):
        path = tmp_path / "release" / name / f"{name}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(f"released {name}")
    return tmp_path


def test_lessons_are_copied_in_order(course: Path) -> None:
    assert released_lessons(course) == ["01_a", "02_b"]
    learn = prepare_workspace(course)
    assert (learn / "01_a" / "01_a.ipynb").read_text() == "released 01_a"


def test_a_learners_work_is_never_overwritten(course: Path) -> None:
    mine = prepare_workspace(course) / "01_a" / "01_a.ipynb"
    mine.write_text("my answers")
    prepare_workspace(course)
    assert mine.read_text() == "my answers"


def test_without_a_release_the_next_command_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refusal:
        released_lessons(tmp_path)
    assert refusal.value.next_command == "make build"


@pytest.mark.parametrize(("text", "ours"), [(None, True), ("{}", True), ('{"x": 1}', False), ("[", False)])
def test_settings_of_somebody_else_stay(text: str | None, ours: bool, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "overrides.json").write_text(text)
    assert _is_ours(tmp_path / "overrides.json") == ours
