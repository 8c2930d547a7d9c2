"""`nbproof new` and `nbproof new-exercise`: what they make works as it stands, and nothing is overwritten."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from nbproof.authoring.new import FIRST, new_course, new_exercise
from nbproof.checks.case import Case
from nbproof.checks.check import bring, judge_here, listing
from nbproof.errors import UsageError
from tests import COURSE, printed

LESSON, EXERCISE = FIRST


def run(folder: Path, *words: str) -> str:
    """What `python -m nbproof WORDS` prints there; it has to succeed."""
    return printed(folder, *words, given={"COURSE_PROGRESS": str(folder / "progress.db")})


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course as `new` makes it, with an exercise more, built and proven."""
    folder = tmp_path_factory.mktemp("made")
    told = run(folder, "new", "knots", "--title", "Knots and bends")
    assert "-m nbproof build" in told.splitlines()[-1]
    told = run(folder / "knots", "new-exercise", LESSON, "another")
    assert "to do" not in told and "-m nbproof check another" in told.splitlines()[-1]
    run(folder / "knots", "build")
    return folder / "knots"


def test_an_exercise_is_the_least_that_works(tmp_path: Path) -> None:
    new_course(tmp_path)
    before = (tmp_path / "lessons" / LESSON / "lesson.py").read_text()
    lesson, *files = new_exercise(COURSE, tmp_path, LESSON, "mine")
    assert [path.name for path in files] == ["checks.py", "wrong.py"]
    text = "\n".join([lesson.read_text()[len(before) :], *(one.read_text() for one in files)])
    assert len([line for line in text.splitlines() if line.strip(" #")]) <= 40


@pytest.mark.slow
def test_both_exercises_hold_and_learners_get_them_without_answers(course: Path) -> None:
    told = run(course, "check")
    assert told.count("holds") == 2 and "0 violations" in " ".join(told.split())
    assert "Last word first" in run(course, "progress")
    assert "none is in it" in run(course, "bundle", "--out", "handed_out.zip")


def test_the_check_that_the_guide_shows_tells_right_from_wrong() -> None:
    page = (Path(__file__).parent.parent.parent / "docs/authors.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```python\n(from nbproof import Check.*?)```", page, re.DOTALL)
    with listing() as tasks:
        exec(text, {"__name__": "guide"})
    ((exercise, task),) = tasks
    assert exercise == EXERCISE
    found = []
    for answer in (lambda sentence: " ".join(reversed(sentence.split())), print):
        found.append(judge_here(task(), Case(1, COURSE), bring(task(), {EXERCISE: answer}, Case(1, COURSE))))
    assert [(one.passed, one.hint) for one in found] == [(True, None), (False, "returns_nothing")]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(UsageError, match="nothing was changed") as caught:
        new_course(tmp_path)
    assert caught.value.place == str(tmp_path / "README.md")
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
    assert (tmp_path / "README.md").read_text() == "mine"


def test_leaves_are_installed_imported_and_named(tmp_path: Path) -> None:
    leaf = "pandas"
    new_course(tmp_path, leaves=[leaf])
    for place in ("course.toml", "requirements.txt", f"lessons/{LESSON}/lesson.py"):
        assert leaf in (tmp_path / place).read_text(), place
    named = tomllib.loads((tmp_path / "course.toml").read_text())["leaves"]
    assert named == ["numpy", "pandas"]  # case.array makes columns
    new_course(tmp_path / "plain")
    assert not [path for path in (tmp_path / "plain").rglob("*.py") if leaf in path.read_text()]
    assert "leaves = []" in (tmp_path / "plain/course.toml").read_text()


def test_an_exercise_that_cannot_be_added_changes_nothing(tmp_path: Path) -> None:
    new_course(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for lesson, name, said in ((LESSON, EXERCISE, "is taken"), ("02_gone", "mine", "no lesson is called")):
        with pytest.raises(UsageError, match=said):
            new_exercise(COURSE, tmp_path, lesson, name)
    other = tmp_path / "lessons" / "00_before" / "lesson.py"
    other.parent.mkdir()
    other.write_text("# %% [markdown]\n# # Before\n")
    with pytest.raises(UsageError, match="is taken") as told:
        new_exercise(COURSE, tmp_path, LESSON, EXERCISE)
    assert told.value.place == str(tmp_path / "lessons" / LESSON / EXERCISE)
    other.unlink()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
