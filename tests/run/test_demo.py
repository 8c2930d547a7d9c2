"""The simulated class lives in ``demo/``, is graded, reported and looked at there, and never meets the real one."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nbproof.authoring.simulate import DEMO, LEARNERS, prepare_demo
from nbproof.course_file import read_course
from nbproof.errors import UsageError
from nbproof.testing.small import RIGHT
from tests import main, needs_isolation
from tests.lms.uploads import everything

NAMES = {one.name for one in LEARNERS}


@pytest.fixture
def fresh(course: Path) -> Path:
    """A course as it comes: nothing handed in, nothing graded."""
    shutil.copytree(course / "source", course / "release")
    (course / "gradebook.db").unlink()
    return course


@needs_isolation
def test_a_fresh_course_grades_a_simulated_class_apart_and_a_real_one_by_itself(
    fresh: Path, hand_in: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before = everything(fresh)
    assert main(["grade", "--course", str(fresh), "--no-feedback", "--workers", "2"]) == 0
    told = capsys.readouterr().out
    assert {path: data for path, data in everything(fresh).items() if not path.startswith(f"{DEMO}/")} == before
    assert {path.name for path in (fresh / DEMO / "autograded").iterdir()} == NAMES
    (next_command,) = re.findall(r"report: +.* -m course (report --course .*)", told)
    assert main(next_command.split()) == 0
    assert (fresh / DEMO / "report" / "index.html").is_file()
    hand_in("zoe", RIGHT)
    assert main(["report", "--course", str(fresh)]) == 0
    assert main(["roster", "--course", str(fresh)]) == 0
    told = capsys.readouterr().out
    assert "zoe" in told and not [name for name in NAMES if re.search(rf"\b{name}\b", told)]


def test_a_lesson_that_has_changed_is_handed_in_anew(tmp_path: Path) -> None:
    assert main(["new", str(tmp_path / "own")]) == 0
    root, course = tmp_path / "own", read_course(tmp_path / "own")
    said = ["--course", str(root)]
    for exercise in ("", "one_more"):
        if exercise:
            assert main(["new-exercise", "01_first", exercise, *said]) == 0
        assert main(["build", *said]) == 0
        demo = prepare_demo(course, root)
        work = demo / "submitted" / "ada" / "01_first" / "01_first.ipynb"
        assert f'"{exercise or "last_word_first"}"' in work.read_text()
        work.write_text(f"{work.read_text()}\n")
    before = work.read_text()
    assert prepare_demo(course, root) == demo and work.read_text() == before, "the same lesson: their work stays"


@pytest.mark.parametrize("left", ["roster.csv", "submitted/zoe/notes.txt"])
def test_where_a_class_is_known_none_is_made_up(left: str, fresh: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fresh / left).parent.mkdir(parents=True, exist_ok=True)
    (fresh / left).write_text("learner\nzoe\n")
    assert main(["grade", "--course", str(fresh), "--unsafe"]) == 2
    assert "nothing was handed in" in capsys.readouterr().err
    assert not (fresh / DEMO).exists()


@pytest.mark.slow
@pytest.mark.parametrize("place", ["demo", "demo/source", "demo/submitted", "a link", "release"])
def test_something_in_the_demos_place_is_told_and_the_cure_helps(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "own"]) == 0
    monkeypatch.chdir("own")
    assert main(["build"]) == 0
    Path("nbgrader_config.py").unlink()
    if place == "release":
        shutil.rmtree(place)
    else:
        Path(place).parent.mkdir(exist_ok=True)
        Path(place).write_text("mine")
    if place == "a link":
        Path(DEMO).symlink_to(place)
    assert main(["grade", "--unsafe"]) == 2
    said = capsys.readouterr().err
    assert "the simulated class cannot be made" in said
    if place != "release":
        assert Path(place).read_text() == "mine"
        Path(place if place.startswith(DEMO) else DEMO).unlink()
    else:
        (command,) = re.findall(r"next: move away .* if nothing is built yet: .* -m \w+ (.*); then run", said)
        assert main(command.split()) == 0

    def graded(root: Path) -> None:
        raise UsageError(f"{root} would be graded")  # which takes long

    monkeypatch.setattr("nbproof.cli.grade_command.members_of", graded)
    assert main(["grade", "--unsafe"]) == 2
    assert f"{DEMO} would be graded" in capsys.readouterr().err
    assert {one.name for one in Path(DEMO, "submitted").iterdir()} == NAMES
