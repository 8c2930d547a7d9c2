"""The simulated class lives in ``demo/``, is graded, reported and looked at there, and never meets the real one."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nbproof.authoring.simulate import DEMO, LEARNERS
from nbproof.cli.main import main
from nbproof.testing.small import RIGHT
from tests import needs_isolation
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


@pytest.mark.parametrize("left", ["roster.csv", "submitted/zoe/notes.txt"])
def test_where_a_class_is_known_none_is_made_up(left: str, fresh: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fresh / left).parent.mkdir(parents=True, exist_ok=True)
    (fresh / left).write_text("learner\nzoe\n")
    assert main(["grade", "--course", str(fresh), "--unsafe"]) == 2
    assert "nothing was handed in" in capsys.readouterr().err
    assert not (fresh / DEMO).exists()


def test_something_in_the_demos_place_is_told(fresh: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fresh / DEMO).write_text("mine")
    assert main(["grade", "--course", str(fresh), "--unsafe"]) != 0
    assert "the simulated class has no place" in capsys.readouterr().err
    assert (fresh / DEMO).read_text() == "mine"
