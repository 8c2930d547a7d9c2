"""A lesson that is deleted or renamed leaves nothing behind that a build has made; what a person made is never touched."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny import WRITTEN, Sketch, metadata, write_lesson

from nbproof.authoring.build import LIMITS, build
from nbproof.authoring.bundle import bundle
from nbproof.authoring.derived_files import orphans, read_outline
from nbproof.authoring.lesson import read_syllabus
from nbproof.authoring.release import check_release
from nbproof.command import course_command
from nbproof.errors import CourseError, LessonError, UsageError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def two_built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course of two lessons, built; the second has whatever cells there are."""
    root = tmp_path_factory.mktemp("two")
    write_lesson(root, "00_tiny", [Sketch()])
    folder = write_lesson(root, "01_gone", [Sketch("again")])
    text = (folder / "lesson.py").read_text().replace("# # A tiny lesson", f"# # A tiny lesson\n#\n# {LIMITS}")
    show = "\n# %%\nprint('twice')\n\n# %%\nprint('twice')\n"
    (folder / "lesson.py").write_text(text + WRITTEN + show)
    (root / "course").mkdir()
    (root / "course" / "__init__.py").write_text("")
    build(root, say=lambda line: None)
    return root


@pytest.fixture
def two(two_built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(two_built, tmp_path / "course"))


def steps_of(root: Path, slug: str) -> list[Path]:
    return [root / step / slug for step in ("release", "source") if (root / step / slug).exists()]


def test_a_deleted_lesson_is_taken_away_and_that_is_said(two: Path) -> None:
    mine = two / "submitted" / "ada" / "01_gone" / "01_gone.ipynb"
    mine.parent.mkdir(parents=True)
    mine.write_text("{}")
    (two / "gradebook.db").write_bytes(b"marks")
    shutil.rmtree(two / "lessons" / "01_gone")
    facts = [(one.fact, one.next_command) for one in check_release(two, [])]
    assert ("release/01_gone is made from no lesson", f"{course_command('build')}: it takes it away") in facts
    said: list[str] = []
    build(two, say=said.append)
    assert steps_of(two, "01_gone") == []
    assert len(steps_of(two, "00_tiny")) == 2
    assert list(read_outline(two)) == ["00_tiny"]
    assert said[1:] == [
        f"removed {two / 'release' / '01_gone'}: there is no lessons/01_gone/lesson.py any more",
        f"removed {two / 'source' / '01_gone'}: there is no lessons/01_gone/lesson.py any more",
        "what was handed in for it, and its marks in the gradebook, stay",
    ]
    assert (mine.read_text(), (two / "gradebook.db").read_bytes()) == ("{}", b"marks")
    assert check_release(two, []) == []


def test_a_renamed_lesson_goes_on_under_its_new_name_alone(two: Path) -> None:
    (two / "lessons" / "01_gone").rename(two / "lessons" / "02_here")
    build(two, say=lambda line: None)
    assert steps_of(two, "01_gone") == []
    assert len(steps_of(two, "02_here")) == 2
    assert list(read_outline(two)) == ["00_tiny", "02_here"]


def test_a_build_of_one_lesson_takes_no_other_away(two: Path) -> None:
    shutil.rmtree(two / "lessons" / "01_gone")
    build(two, ["00_tiny"], say=lambda line: None)
    assert len(steps_of(two, "01_gone")) == 2


def edited(change: Callable[[dict], None]) -> Callable[[Path], None]:  # type: ignore[type-arg]
    """Change a notebook as a program does, which writes it as builds do."""

    def edit(path: Path) -> None:
        notebook = json.loads(path.read_text())
        change(notebook)
        path.write_text(json.dumps(notebook, sort_keys=True, indent=1, ensure_ascii=False) + "\n")

    return edit


def in_cell(kind: str, **changes: object) -> Callable[[Path], None]:
    def change(notebook: dict) -> None:  # type: ignore[type-arg]
        cell = next(one for one in notebook["cells"] if kind in (one["cell_type"], one["id"]))
        cell.update(changes)

    return edited(change)


PERSONS = {
    "a file beside it": lambda path: (path.parent / "data.csv").write_text("1"),
    "other text": in_cell("markdown", source=["# Mine"]),
    "other shown code": lambda path: path.write_text(path.read_text().replace('print(\\"shown\\")', "print(1)")),
    "another answer cell": in_cell("again", source=["answer = 1"]),
    "an output": in_cell("code", outputs=[{"output_type": "stream", "name": "stdout", "text": ["1"]}]),
    "it was run": in_cell("code", execution_count=3),
    "as JupyterLab saves": edited(lambda notebook: notebook["metadata"]["language_info"].update(version="3.11.2")),
    "other JSON": lambda path: path.write_text(json.dumps(json.loads(path.read_text()))),
    "no JSON": lambda path: path.write_text("mine"),
    "no text": lambda path: path.write_bytes(b"\xff\x00"),
    "no notebook": lambda path: path.write_text("[1]"),
    "a notebook of another name": lambda path: path.rename(path.with_name("mine.ipynb")),
    "a link": lambda path: (
        path.rename(path.parents[2] / "mine.ipynb"),
        path.symlink_to(path.parents[2] / "mine.ipynb"),
    ),
    "a folder": lambda path: (path.unlink(), path.mkdir(), (path / "mine").write_text("")),
}


@pytest.mark.parametrize("name", PERSONS)
def test_what_a_person_made_stays_and_is_named(name: str, two: Path) -> None:
    shutil.rmtree(two / "lessons" / "01_gone")
    folder = two / "release" / "01_gone"
    PERSONS[name](folder / "01_gone.ipynb")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    said: list[str] = []
    build(two, say=said.append)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert steps_of(two, "01_gone") == [folder]
    (left,) = [line for line in said if line.startswith("left ")]
    assert left.startswith(f"left {folder}: release/01_gone is made from no lesson, and holds what no build has made")
    assert left.endswith(f"move it elsewhere, or, if nobody needs it: git rm -r {folder}")
    assert any(one.fact in left and one.place == str(folder) for one in check_release(two, []))


def test_an_empty_folder_goes_and_a_linked_one_stays(two: Path, tmp_path: Path) -> None:
    (two / "release" / "05_empty").mkdir()
    mine = tmp_path / "mine"
    mine.mkdir()
    (two / "source" / "06_linked").symlink_to(mine)
    assert [(one.name, one.derived) for one in orphans(two)] == [
        ("release/05_empty", True),
        ("source/06_linked", False),
    ]
    build(two, say=lambda line: None)
    assert not (two / "release" / "05_empty").exists()
    assert mine.is_dir()
    assert (two / "source" / "06_linked").is_symlink()


def test_no_bundle_carries_a_lesson_that_is_gone(two: Path) -> None:
    shutil.rmtree(two / "lessons" / "01_gone")
    for names in ([], ["01_gone"]):
        with pytest.raises(CourseError) as caught:
            bundle(two, names)
        assert caught.value.fact == "release/01_gone was made from a lesson that is gone"
        assert caught.value.next_command == f"{course_command('build')}: it takes it away"
    assert not list(two.glob("*.zip"))


def test_a_course_that_came_without_its_lessons_has_no_orphans(two: Path) -> None:
    shutil.rmtree(two / "lessons")
    with pytest.raises(UsageError, match="requirements"):  # past that question, and on to what the tiny course lacks
        bundle(two, ["01_gone"])


def test_answers_without_a_lesson_are_named_and_nothing_is_taken_away(two: Path) -> None:
    folder = two / "lessons" / "01_gone"
    (folder / "lesson.py").unlink()
    with pytest.raises(LessonError) as caught:
        build(two, say=lambda line: None)
    assert caught.value.fact == "lessons/01_gone has no lesson.py, but again/checks.py"
    assert caught.value.next_command.endswith(f"git rm -r {folder}")
    assert len(steps_of(two, "01_gone")) == 2


def test_what_python_leaves_of_a_lesson_is_no_lesson(two: Path) -> None:
    folder = two / "lessons" / "01_gone"
    shutil.rmtree(folder)
    (folder / "again" / "__pycache__").mkdir(parents=True)
    (folder / "again" / "__pycache__" / "x.pyc").write_text("")
    build(two, say=lambda line: None)
    assert steps_of(two, "01_gone") == []


def test_an_exercise_that_is_gone_leaves_its_answers_to_the_author(two: Path) -> None:
    path = two / "lessons" / "00_tiny" / "lesson.py"
    path.write_text(
        path.read_text()
        .replace('"grade_id": "catch"', '"grade_id": "caught"')
        .replace("test_catch", "test_caught")
        .replace('check("catch")', 'check("caught")')
    )
    with pytest.raises(LessonError) as caught:
        build(two, say=lambda line: None)
    fact, place, cure = caught.value.fact, caught.value.place, caught.value.next_command
    assert fact == "an unexpected folder: the lesson has no exercise 'catch'"
    assert place == str(path.parent / "catch")
    assert cure.startswith("rename it if the exercise has another id now, or if the exercise is gone: git rm -r ")
    (path.parent / "catch").rename(path.parent / "caught")
    checks = path.parent / "caught" / "checks.py"
    checks.write_text(checks.read_text().replace("catch", "caught"))
    build(two, say=lambda line: None)
    for step in ("source", "release"):
        assert '"catch"' not in (two / step / "00_tiny" / "00_tiny.ipynb").read_text()
    assert [one["id"] for one in read_outline(two)["00_tiny"]["exercises"]] == ["caught"]


def test_the_build_of_one_lesson_sees_an_id_that_another_has(two: Path) -> None:
    path = two / "lessons" / "00_tiny" / "lesson.py"
    cell = f"\n# %% {metadata('again', solution=True, locked=False)}\n### BEGIN SOLUTION\n1\n### END SOLUTION\n"
    path.write_text(path.read_text() + cell + f"\n# %% {metadata('test_again', grade=True, points=1)}\n1\n")
    for names in ([], ["00_tiny"], ["01_gone"]):
        with pytest.raises(LessonError, match="the exercise id 'again' is used in two lessons"):
            build(two, names, say=lambda line: None)
    (two / "lessons" / "01_gone" / "stray.txt").write_text("")
    assert len(read_syllabus(two, ["00_tiny"]).unread) == 1
