"""The learner's workspace, made once and never overwritten, and what help and progress know of the lessons."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import nbformat
import pytest

from nbproof.checks.visible import whole
from nbproof.cli.main import main
from nbproof.course_file import CourseFile
from nbproof.display import lab
from nbproof.display.lab import folders_instead_of_home, open_lab, prepare_workspace, released_lessons, start_server
from nbproof.display.outline import OutlinedLesson, fingerprint, outline
from nbproof.errors import UsageError


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
    assert refusal.value.next_command == "cd into the course's folder, or add --course FOLDER"


@pytest.fixture
def no_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which nothing can be made, not even by root: it is a file."""
    place = tmp_path_factory.mktemp("nobody") / "home"
    place.write_text("")
    for name in [name for name in os.environ if name.startswith(("JUPYTER", "XDG_"))]:
        monkeypatch.delenv(name)
    for name in ("IPYTHONDIR", "MPLCONFIGDIR", "COURSE_PROGRESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(place))
    return place


def test_where_home_is_well_everything_stays_there(
    tmp_path: Path, course: Path, no_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert folders_instead_of_home(course) == {}


def test_without_a_home_that_can_be_written_the_course_has_the_folders(course: Path, no_home: Path) -> None:
    instead = folders_instead_of_home(course)
    assert set(instead) == {
        "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "MPLCONFIGDIR", "COURSE_PROGRESS",
    }  # fmt: skip
    assert all(Path(place).is_relative_to(course / ".course" / "home") for place in instead.values())
    assert Path(instead["COURSE_PROGRESS"]).parent.is_dir()


def test_with_no_place_at_all_the_next_step_is_told(course: Path, no_home: Path) -> None:
    (course / ".course").write_text("")  # in the folder's way
    with pytest.raises(UsageError, match="neither your home folder nor the course's can be written") as refusal:
        folders_instead_of_home(course)
    assert "set HOME" in refusal.value.next_command


def test_copies_that_cannot_be_written_are_told(course: Path) -> None:
    (course / "learn").write_text("")
    with pytest.raises(UsageError, match="your copies of the lessons cannot be written"):
        prepare_workspace(course)


@pytest.mark.parametrize(
    ("words", "lesson", "others"),
    [
        ("", None, ""),
        ("02_b", "02_b", ""),
        ("--port 8931", None, "--port 8931"),
        ("02_b --port 8931 --no-browser", "02_b", "--port 8931 --no-browser"),
        ("--no-browser 02_b --ip 0.0.0.0", "02_b", "--no-browser --ip 0.0.0.0"),
        ("--port=8931 02_c", "02_c", "--port=8931"),
        ("02_c", "02_c", ""),
    ],
)
def test_the_value_of_an_option_is_no_lesson(
    course: Path, monkeypatch: pytest.MonkeyPatch, words: str, lesson: str | None, others: str
) -> None:
    asked: list[tuple[str | None, list[str]]] = []
    monkeypatch.setattr(lab, "released_lessons", lambda root: ["01_a", "02_b"])
    monkeypatch.setattr(lab, "open_lab", lambda root, *rest: asked.append(rest) or 0)
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
    open_lab(course, None, [])
    start_server(course, "/lab", [])
    learner, teacher = (environment.get("JUPYTER_CONFIG_PATH", "") for environment in started)
    settings = json.loads((Path(learner.split(os.pathsep)[0]) / "labconfig" / "page_config.json").read_text())
    assert {"@jupyter/nbgrader:menu", "@jupyter/nbgrader:create-assignment"} <= set(settings["disabledExtensions"])
    assert "@jupyter/nbgrader:validate-assignment" not in settings["disabledExtensions"]
    assert learner.endswith(teacher)
    assert learner != teacher


def test_jupyterlab_is_told_these_folders_and_where_the_course_is(
    course: Path, no_home: Path, started: list[dict[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    before = dict(os.environ)
    start_server(course, "/lab", [])
    assert started[0]["JUPYTER_CONFIG_DIR"].startswith(str(course))
    # A folder that was moved since it was installed is found all the same.
    assert started[0]["PYTHONPATH"].split(os.pathsep)[0] == str(Path(__file__).parent.parent.parent)
    assert "your home folder cannot be written" in capsys.readouterr().out
    assert dict(os.environ) == before


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


def test_without_the_file_there_is_no_outline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nbproof.display.outline.the_course", lambda: CourseFile("course", tmp_path / "course", ""))
    assert outline() == ()
    (tmp_path / "later" / "handed_out").mkdir(parents=True)
    monkeypatch.setattr("nbproof.display.outline.the_course", lambda: CourseFile("course", tmp_path / "later", ""))
    written = '{"01": {"title": "t", "exercises": [{"of": "another version"}]}}'
    (tmp_path / "later" / "handed_out" / "outline.json").write_text(written)
    assert outline() == ()
