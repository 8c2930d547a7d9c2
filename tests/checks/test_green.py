"""Green means right: what a check cell asks, says and raises where a person is at work, and where nobody is."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch

from course import check, hint, solution
from nbproof import course_file, course_here
from nbproof.authoring.bundle import contents_of
from nbproof.checks.check import check_in
from nbproof.display.diary import entries, note
from nbproof.display.session import SESSION
from nbproof.lesson.from_notebook import name_of
from nbproof.values.results import CheckFailed, Finding
from tests import COURSE

RIGHT = "def func(grad):\n    return grad * 2"
TRAP = "def func(grad):\n    grad *= 2\n    return grad"
"""It changes what another hook, and a neighbour in a sum, will get: the visible check of old did not see it."""

Answer = Callable[[str], str]


class FrontEnd:
    """A kernel's shell with the request of a front end; keeps the words of what is displayed."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.user_ns: dict[str, Any] = {"In": [""]}
        self.request: Any = {"content": {"allow_stdin": True}, "metadata": {"cellId": "c1"}}
        self.kernel = types.SimpleNamespace(get_parent=lambda channel: self.request)

    def has_trait(self, name: str) -> bool:
        return name == "kernel"

    def display(self, data: Any, **kwargs: Any) -> None:
        self.said.append(data.get("text/plain", ""))


@pytest.fixture
def front_end(monkeypatch: pytest.MonkeyPatch) -> FrontEnd:
    found = FrontEnd()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: found))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=found.display))  # type: ignore[arg-type]
    monkeypatch.setattr(SESSION, "last", None)
    return found


@pytest.fixture
def answer(front_end: FrontEnd) -> Answer:
    """Run a TODO cell, then its check cell; what was displayed."""

    def run(text: str, call: str = 'check("double_grad")') -> str:
        front_end.said.clear()
        front_end.user_ns["In"] += [text, f"# Run this cell to check your answer.\nfrom course import check\n{call}"]
        space: dict[str, Any] = {"torch": torch, "check": check}
        exec(text, space)
        exec(call, space)
        return "\n".join(front_end.said)

    return run


@pytest.fixture
def class_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The course as a class's learners have it: no instructor's notebook, no lessons."""
    contents = contents_of(COURSE, COURSE.root, ["02_tensor_hooks"])
    for name, data in contents.items():
        if name.startswith("course/"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(data)
    monkeypatch.setattr(course_file, "used", [str(tmp_path / "course")])
    monkeypatch.chdir(tmp_path)


def test_a_trap_is_not_green(answer: Answer) -> None:
    assert "double_grad: not yet" in answer(TRAP)
    assert entries(COURSE)["double_grad"].solved is None
    assert "double_grad: passed (" in answer(RIGHT)
    assert entries(COURSE)["double_grad"].solved is not None


def test_what_is_hidden_is_asked_as_well_if_the_instructor_s_notebook_is_there(
    front_end: FrontEnd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A course of one exercise: the visible check wants four, the hidden one an integer."""
    check_of = (
        "from nbproof import Check, check\n\nclass {0}(Check):\n    'It is right.'\n"
        "    def probe(self, nb, case):\n        return {{'x': {1}}}\n"
        "    def truth(self, case):\n        return {{'x': {2}}}\n\ncheck('four', {0})\n"
    )
    (tmp_path / "course.toml").write_text('says = "Knots"')
    (tmp_path / "lessons" / "01" / "four").mkdir(parents=True)
    (tmp_path / "lessons" / "01" / "four" / "checks.py").write_text(check_of.format("Seen", "nb.x == 4", True))
    monkeypatch.setattr(course_file, "used", [str(tmp_path)])
    wrong = {"x": 4.0}
    check_in(course_here(), wrong, "four")
    assert front_end.said[-1] == "four: passed"
    hidden = check_of.format("Unseen", "type(nb.x).__name__", "'int'")
    source = f"check('four')\n### BEGIN HIDDEN TESTS\n{hidden}### END HIDDEN TESTS"
    grading = {"grade": True, "grade_id": "test_four", "locked": True, "points": 1, "solution": False}
    cell = {"cell_type": "code", "source": source.splitlines(keepends=True), "metadata": {"nbgrader": grading}}
    (tmp_path / "source" / "01").mkdir(parents=True)
    (tmp_path / "source" / "01" / "01.ipynb").write_text(json.dumps({"cells": [cell]}))
    check_in(course_here(), wrong, "four")
    assert front_end.said[-1].startswith("four: not yet (1 of 2 checks)")
    check_in(course_here(), {"x": 4}, "four")
    assert front_end.said[-1] == "four: passed (2 of 2 checks)"


@pytest.mark.usefixtures("class_copy")
def test_where_they_are_withheld_the_panel_and_hint_say_how_many_remain(answer: Answer, front_end: FrontEnd) -> None:
    path = course_here().handed_out / "outline.json"
    told = json.loads(path.read_text())
    for one in told["02_tensor_hooks"]["exercises"]:
        one["hidden"] = [2] * len(one["cells"])
    path.write_text(json.dumps(told))
    said = answer(RIGHT)
    assert "shown here" in said and "when it is graded" in said
    hint()
    assert "passed all checks that are shown here" in front_end.said[-1] and "when it is graded" in front_end.said[-1]


@pytest.mark.parametrize(
    "request_of",
    [
        {"content": {"allow_stdin": False}, "metadata": {"cellId": "c1"}},  # nbclient, and all that is built upon it
        {},
    ],
)
def test_whatever_runs_a_notebook_without_a_person_gets_the_error(
    answer: Answer, front_end: FrontEnd, request_of: Any
) -> None:
    front_end.request = request_of
    with pytest.raises(CheckFailed):
        answer(TRAP)


def test_nothing_is_written_down_while_nbgrader_runs_the_notebook(
    answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    answer(RIGHT)
    assert entries(COURSE) == {}


def test_below_a_panel_the_error_is_one_line_and_elsewhere_it_tells(
    front_end: FrontEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = CheckFailed(
        Finding("Right", "It is three.", False), "x is 2, wanted 3\n  asked: It is three.", "not yet, see above"
    )
    assert failed._render_traceback_() == ["CheckFailed: not yet, see above"]
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert failed._render_traceback_() == ["CheckFailed: x is 2, wanted 3\n  asked: It is three."]
    monkeypatch.delenv("NBGRADER_EXECUTION")
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))  # type: ignore[arg-type]
    assert failed._render_traceback_() == ["CheckFailed: x is 2, wanted 3"]


def test_an_untouched_cell_is_told_one_friendly_sentence(answer: Answer) -> None:
    released = nbformat.read(COURSE.root / "release/02_tensor_hooks/02_tensor_hooks.ipynb", 4)
    said = answer(next(one.source for one in released.cells if name_of(one) == "double_grad"))
    assert said == (
        "double_grad is still as you got it. Write your answer in the TODO cell above, run that cell, then this one."
    )
    assert entries(COURSE) == {}


def test_a_solution_is_shown_after_solving_and_not_before(front_end: FrontEnd) -> None:
    solution("double_grad")
    assert "is not solved yet" in front_end.said[-1]
    note(COURSE, "double_grad", {"A": True}, [("A",)])
    solution("double_grad")
    shown = front_end.said[-1]
    assert shown.startswith("**The reference answer**\n\n```python\ndef func(grad):") and "return grad * 2" in shown
    assert shown.count("**Also right:") == 2
    assert "SOLUTION" not in shown and "TODO" not in shown
    solution("duble_grad")
    assert "No exercise is called" in front_end.said[-1]


@pytest.mark.usefixtures("class_copy")
def test_a_class_is_not_given_the_solutions(front_end: FrontEnd) -> None:
    note(COURSE, "double_grad", {"A": True}, [("A",)])
    solution("double_grad")
    assert "not part of what you were handed" in front_end.said[-1]
