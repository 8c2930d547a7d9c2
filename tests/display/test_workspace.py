"""The learner's workspace, made once and never overwritten, and what help and progress know of the lessons."""

from __future__ import annotations

import json
import os
from pathlib import Path

import nbformat
import pytest

from nbproof.course_file import Course
from nbproof.display import lab
from nbproof.display.lab import open_lab, prepare_workspace, released_lessons, start_server
from nbproof.display.outline import OutlinedLesson, fingerprint, outline
from nbproof.errors import UsageError
from tests import COURSE, main


@pytest.fixture
def course(tmp_path: Path) -> Path:
    for name in ("02_b", "01_a"):
        path = tmp_path / "release" / name / f"{name}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(f"released {name}")
    return tmp_path


def test_a_learners_work_is_never_overwritten(course: Path) -> None:
    assert released_lessons(COURSE, course) == ["01_a", "02_b"]
    mine = prepare_workspace(COURSE, course) / "01_a" / "01_a.ipynb"
    assert mine.read_text() == "released 01_a"
    mine.write_text("my answers")
    prepare_workspace(COURSE, course)
    assert mine.read_text() == "my answers"


def test_copies_that_cannot_be_written_are_told(course: Path) -> None:
    (course / "learn").write_text("")
    with pytest.raises(UsageError, match="your copies of the lessons cannot be written"):
        prepare_workspace(COURSE, course)


@pytest.mark.parametrize(
    ("words", "lesson", "others"),
    [("02_b --no-browser", "02_b", "--no-browser"), ("--port 8931", None, "--port 8931")],
)
def test_the_lesson_comes_first_and_the_rest_is_jupyterlabs(
    course: Path, monkeypatch: pytest.MonkeyPatch, words: str, lesson: str | None, others: str
) -> None:
    asked: list[tuple[str | None, list[str]]] = []
    monkeypatch.setattr(lab, "open_lab", lambda course, root, *rest: asked.append(rest) or 0)
    assert main(["lab", "--course", str(course), *words.split()]) == 0
    assert asked == [(lesson, others.split())]


@pytest.fixture
def started(course: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """With which environment JupyterLab took the place of this process."""
    found: list[dict[str, str]] = []
    if os.name != "posix":
        pytest.skip("JupyterLab takes the place of this process on POSIX only")
    monkeypatch.setattr(os, "execve", lambda program, arguments, environment: found.append(environment))
    monkeypatch.setattr("subprocess.call", lambda *arguments, **options: 0)
    monkeypatch.chdir(course)
    return found


def test_a_learner_sees_no_panel_of_teachers_and_whoever_teaches_keeps_them(
    course: Path, started: list[dict[str, str]]
) -> None:
    open_lab(COURSE, course, None, [])
    start_server(COURSE, course, "/lab", [])
    learner, teacher = (environment.get("JUPYTER_CONFIG_PATH", "") for environment in started)
    settings = json.loads((Path(learner.split(os.pathsep)[0]) / "labconfig" / "page_config.json").read_text())
    assert {"@jupyter/nbgrader:menu", "@jupyter/nbgrader:create-assignment"} <= set(settings["disabledExtensions"])
    assert "@jupyter/nbgrader:validate-assignment" not in settings["disabledExtensions"]
    assert learner.endswith(teacher)
    assert learner != teacher


def test_a_folder_that_was_moved_since_it_was_installed_is_found(course: Path, started: list[dict[str, str]]) -> None:
    start_server(COURSE, course, "/lab", [])
    assert started[0]["PYTHONPATH"].split(os.pathsep)[0] == str(Path(__file__).parent.parent.parent)


ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("lesson", outline(COURSE), ids=lambda lesson: lesson.slug)
def test_it_says_what_the_released_notebook_holds(lesson: OutlinedLesson) -> None:
    notebook = nbformat.read(ROOT / "release" / lesson.slug / f"{lesson.slug}.ipynb", as_version=4)
    todo = {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution")
    }
    assert [one.id for one in lesson.exercises] == list(todo)
    assert notebook.cells[0].source.startswith(f"# {lesson.title}\n")
    for one in lesson.exercises:
        assert one.stub == fingerprint(todo[one.id]), one.id
        assert one.title and one.minutes > 0 and one.points > 0 and all(one.cells), one.id


def test_without_the_file_there_is_no_outline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert outline(Course("course", tmp_path / "course", "")) == ()
    (tmp_path / "later" / "handed_out").mkdir(parents=True)
    written = '{"01": {"title": "t", "exercises": [{"of": "another version"}]}}'
    (tmp_path / "later" / "handed_out" / "outline.json").write_text(written)
    assert outline(Course("course", tmp_path / "later", "")) == ()
