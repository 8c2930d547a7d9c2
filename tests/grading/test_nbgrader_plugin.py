"""Plain `nbgrader autograde` runs on the engine, and the gradebook, comments and feedback are as after stock grading."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course.grading.isolation import why_not_isolated
from tests.grading.conftest import LESSON, POINTS, RIGHT

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(bool(why_not_isolated()), reason=f"the engine is NOT tested: {why_not_isolated()}"),
]


def _nbgrader(course: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    tools = os.path.dirname(sys.executable)
    environment = {**os.environ, "PATH": tools + os.pathsep + os.environ["PATH"]}
    command = [os.path.join(tools, "nbgrader"), *arguments]
    return subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)


@pytest.mark.slow
def test_nbgraders_own_commands_run_on_the_engine(course: Path, hand_in: Callable[..., Path]) -> None:
    hand_in("ada", RIGHT)
    hand_in("ben", {**RIGHT, "first": "import os\nos._exit(3)"})
    cheat = hand_in("eve", {"first": "import course.checking\ncourse.checking.judge = lambda *a, **k: None"})
    notebook = json.loads(cheat.read_text())
    for cell in notebook["cells"]:
        cell["metadata"]["tags"] = ["skip-execution"]
    cheat.write_text(json.dumps(notebook))
    (course / "submitted" / "mal" / LESSON).mkdir(parents=True)
    (course / "submitted" / "mal" / LESSON / f"{LESSON}.ipynb").write_text("not a notebook")
    link = course / "submitted" / "lin" / LESSON
    link.mkdir(parents=True)
    (link / "data.csv").symlink_to(course / "nbgrader_config.py")
    (link / f"{LESSON}.ipynb").write_bytes(hand_in("ada", RIGHT).read_bytes())

    made = _nbgrader(course, "generate_assignment", LESSON)
    assert made.returncode == 0, made.stderr
    graded = _nbgrader(course, "autograde", LESSON)
    assert "isolation: user, mount, pid" in graded.stderr
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        scores = {one.student.id: one.score for one in gradebook.assignment_submissions(LESSON)}
    full = sum(POINTS.values())
    assert (scores["ada"], scores["ben"], scores["eve"]) == (full, full - POINTS["first"], 0)
    assert scores.get("mal", 0) == scores.get("lin", 0) == 0
    assert not list(course.glob("autograded/lin/**/data.csv")), "a link was followed"
    assert "HIDDEN" not in (course / "autograded" / "ada" / LESSON / f"{LESSON}.ipynb").read_text()
    told = _nbgrader(course, "generate_feedback", LESSON, "--student=ben")
    assert told.returncode == 0, told.stderr
    page = (course / "feedback" / "ben" / LESSON / f"{LESSON}.html").read_text()
    assert "status 3" in page
    assert "class Shapes" not in page
