"""Every check is asked once, whatever came before; nothing that learner code can see tells whether it passed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from course.grading.engine import Engine, Worker
from course.grading.judge import Judge
from course.grading.marking import mark
from course.grading.own_cells import OwnCell
from course.grading.rebuild import Blueprint, Rebuilt, read_blueprint
from course.grading.results import SubmissionVerdict
from course.nbgrader_setup import course_config
from tests.grading.conftest import LESSON, POINTS, RIGHT

pytestmark = pytest.mark.filterwarnings("ignore")

ALL = sum(POINTS.values())


@pytest.fixture(scope="module")
def blueprint(small_lesson: Path, tmp_path_factory: pytest.TempPathFactory) -> Blueprint:
    """The small lesson with a setup cell in front of its second exercise."""
    notebook = nbformat.read(small_lesson / "source" / LESSON / f"{LESSON}.ipynb", as_version=4)
    names = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    setup = nbformat.v4.new_code_cell("import torch.nn.functional as F", id="setup-again")
    setup.metadata["nbgrader"] = {
        **notebook.cells[names.index("setup_imports")].metadata.nbgrader,
        "grade_id": "setup_again",
    }
    notebook.cells.insert(names.index("second"), setup)
    source = tmp_path_factory.mktemp("setups") / f"{LESSON}.ipynb"
    nbformat.write(notebook, source)
    return read_blueprint(source, course_config(small_lesson))


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, ...]]]:
    """What workers were asked: (what, test cell, check, seed)."""
    seen: list[tuple[str, ...]] = []
    ask = Worker.request

    def request(self: Worker, header: dict[str, Any], *rest: Any, **more: Any) -> Any:
        seen.append((header["op"], header.get("test", ""), header.get("check", ""), str(header.get("seed", ""))))
        return ask(self, header, *rest, **more)

    monkeypatch.setattr(Worker, "request", request)
    yield seen


@pytest.fixture
def graded(engine: Engine, blueprint: Blueprint) -> Callable[..., SubmissionVerdict]:
    """graded({"first": ...}, own cells): the verdict, all else being right."""

    def of(answers: dict[str, str], *own: OwnCell) -> SubmissionVerdict:
        rebuilt = Rebuilt({**blueprint.stubs, **RIGHT, **answers}, own=own)
        return mark(engine, blueprint, Judge(blueprint, seed=7), rebuilt, "ada", {})

    return of


WRONG = {name: f"def {name}(x):\n    return x * 99" for name in POINTS}
RAISES = {name: f"def {name}(x):\n    raise ValueError('no')" for name in POINTS}


@pytest.mark.parametrize("answers", [WRONG, RAISES, {"first": WRONG["first"]}], ids=["wrong", "raises", "one"])
def test_the_requests_do_not_tell_how_an_answer_did(
    graded: Callable[..., SubmissionVerdict], requests: list[tuple[str, ...]], answers: dict[str, str]
) -> None:
    assert graded({}).score == ALL
    right = list(requests)
    requests.clear()
    assert graded(answers).score < ALL
    assert requests == right


def _one_of(variants: int, after: str) -> str:
    return f"""
import os, random
which = int.from_bytes(os.urandom(2), "big") % {variants}
def first(x):
    return x * (2 if which == 0 else 99)
{after}
"""


ENDS_IN_SETUP = """
shell = get_ipython()
def ends(info):
    if "functional as F" in info.raw_cell and which:
        os._exit(3)
shell.events.register("pre_run_cell", ends)
"""


def test_no_check_is_asked_again_when_a_setup_cell_is_lost(
    graded: Callable[..., SubmissionVerdict], requests: list[tuple[str, ...]]
) -> None:
    verdict = graded({"first": _one_of(10_000, ENDS_IN_SETUP)})
    asked = [one for one in requests if one[0] == "probe"]
    assert len(asked) == len(set(asked))
    first, second, third = verdict.exercises
    assert (first.status, first.score) == ("killed", 0)
    assert (second.status, third.status) == ("passed", "passed")


def test_a_loss_in_a_setup_cell_is_charged_to_what_ran_before_it(graded: Callable[..., SubmissionVerdict]) -> None:
    ends = ENDS_IN_SETUP.replace(" and which", "")
    verdict = graded({"first": f"import os\n{RIGHT['first']}\n{ends}"})
    assert [one.status for one in verdict.exercises] == ["killed", "passed", "passed"]
    assert verdict.score == ALL - POINTS["first"]


def test_an_own_cell_that_ends_setup_gives_no_second_try(
    graded: Callable[..., SubmissionVerdict], requests: list[tuple[str, ...]]
) -> None:
    own = OwnCell(f"import os\nfirst_helper = first\nwhich = 1\n{ENDS_IN_SETUP}", 2)
    graded({"first": _one_of(10_000, "")}, own)
    asked = [one for one in requests if one[0] == "probe"]
    assert len(asked) == len(set(asked))
