"""A lesson that changes after a class has handed in: what is new costs one line; only the texts of the TODO cells count."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest
from rich.console import Console

from nbproof.cells import CellKind
from nbproof.cli.class_json import class_as_json
from nbproof.cli.class_table import Told, is_incomplete, print_class
from nbproof.display.words import ENGLISH
from nbproof.gradebook.marks import Mark
from nbproof.marking.blueprint import (
    Blueprint,
    Damaged,
    fill_in,
    read_attachments,
    read_blueprint,
    read_file,
)
from nbproof.marking.results import Verdict
from nbproof.nbgrader_setup import course_config
from nbproof.recover.answers import Answers
from nbproof.recover.fast_path import as_handed_in
from nbproof.recover.matching import NEWER
from nbproof.recover.notebook_bytes import ExportedCell
from nbproof.recover.released import HandedOut, Handout
from nbproof.recover.search import find_answers, found_in
from nbproof.run.batch import grade_class
from nbproof.run.intake import take_in
from nbproof.run.pool import PoolMaker
from nbproof.testing.small import LESSON, RIGHT
from tests.report.made import class_of, scored

PROSE = "### Exercise: {0}\neasy · 5 min · 2 points\n\nA long text about {0}, longer than what any two lessons share"
IDS = ("first", "second", "third", "fourth")


def released(*names: str) -> tuple[HandedOut, ...]:
    """A lesson of these exercises, and a question, a text and a picture around them."""
    cells = [HandedOut(CellKind.SETUP, "setup", "s", "import torch\nfrom torch import nn")]
    for name in names:
        stub = f"def {name}(x):\n    # TODO: what {name} does\n    pass"
        test = f"# check {name}\nfrom nbproof.checks.check import check\n\ncheck('{name}', ThatItIsRightInAllCases)"
        cells += [
            HandedOut(CellKind.SHOW, "", f"d-{name}", f"draw_everything('{name}')"),
            HandedOut(CellKind.PROSE, "", f"p-{name}", PROSE.format(name)),
            HandedOut(CellKind.ANSWER, name, f"a-{name}", stub),
            HandedOut(CellKind.TEST, f"test_{name}", f"t-{name}", test, name),
        ]
    return tuple(cells)


WHY = "### In your own words: why\n5 min · 2 points\n\nWhy is it that all of this is as it is?"
QUESTION = (
    HandedOut(CellKind.PROSE, "", "q", WHY),
    HandedOut(CellKind.WRITTEN, "explain_why", "w", "Your answer here."),
)


def handed_in(cells: Sequence[HandedOut]) -> list[ExportedCell]:
    """What a learner makes of a notebook of these cells: all is answered."""
    kinds = {"prose": "markdown", "written": "markdown"}
    texts = {name: f"def {name}(x):\n    return '{name}'" for name in IDS} | {"explain_why": "Because it is."}
    return [
        ExportedCell(cell.name or None, texts.get(cell.name, cell.source), kinds.get(cell.kind, "code"))
        for cell in cells
    ]


def found_among(now: Sequence[HandedOut], cells: Sequence[ExportedCell]) -> Answers:
    handout = Handout("01_x", tuple(now))
    answers = as_handed_in(handout, cells)
    return find_answers(handout, cells) if answers is None else Answers(answers)


@pytest.mark.parametrize("new", IDS)
@pytest.mark.parametrize("question", [QUESTION, ()])
def test_an_exercise_that_was_added_is_new_and_nothing_else_is_lost(new: str, question: tuple[HandedOut, ...]) -> None:
    old = [name for name in IDS if name != new]
    found = found_among(released(*IDS) + question, handed_in(released(*old) + question))
    assert found.newer == (new,)
    assert found.lost == {new: NEWER}
    assert found.recovered == {}
    assert all(found.answers[name].endswith(f"'{name}'") for name in old)


def test_several_can_be_new_and_one_that_is_gone_or_moved_loses_nothing() -> None:
    found = found_among(released(*IDS) + QUESTION, handed_in(released("first", "third") + QUESTION))
    assert found.newer == ("second", "fourth")
    assert found_among(released(*IDS) + QUESTION, handed_in(released(*IDS))).newer == ("explain_why",)
    for now in (("first", "third"), ("third", "first", "second"), ("second", "third", "first")):
        found = found_among(released(*now) + QUESTION, handed_in(released("first", "second", "third") + QUESTION))
        assert (found.newer, found.lost, found.recovered) == ((), {}, {})
        assert all(found.answers[name].endswith(f"'{name}'") for name in now)


@pytest.mark.parametrize("kept", ["prose", "heading", "test", "test without its id", "test in another cell"])
def test_of_what_was_handed_out_a_lost_cell_is_missing(kept: str) -> None:
    cells = handed_in(released(*IDS))
    (at,) = [number for number, cell in enumerate(cells) if cell.name == "second"]
    prose, _, test = cells[at - 1 : at + 2]
    left = {
        "prose": prose,
        "heading": prose._replace(source=prose.source.splitlines()[0] + "\nmine"),
        "test": test,
        "test without its id": test._replace(name=None),
        "test in another cell": test._replace(name=None, source=f"1\n{test.source}\n2"),
    }[kept]
    cells[at - 1 : at + 2] = [left]
    found = found_among(released(*IDS), cells)
    assert found.newer == ()
    assert "missing" in found.lost["second"]


def test_the_text_that_asks_may_stand_above_a_picture() -> None:
    now = list(released(*IDS))
    (at,) = [number for number, cell in enumerate(now) if cell.name == "second"]
    now.insert(at, HandedOut(CellKind.SHOW, "", "x", "draw_all_of_it_once_more('second')"))
    cells = [cell for cell in handed_in(now) if cell.name not in ("second", "test_second")]
    assert found_among(now, cells).newer == ()
    assert found_among(now, [cell for cell in cells if "second" not in cell.source]).newer == ("second",)


def test_a_notebook_that_ends_early_lacks_its_end() -> None:
    half = handed_in(released("first", "second"))
    assert set(found_among(released(*IDS), half).lost) == {"third", "fourth"}
    assert found_among(released(*IDS), half).newer == ()
    most = handed_in(released("first", "second", "third"))
    cut_off = [*most, ExportedCell(None, "", whole=False)]
    assert found_among(released(*IDS), cut_off).newer == ()
    assert found_among(released(*IDS), handed_in(released("first"))).newer == ()


def shown(scores: Sequence[Mark]) -> tuple[str, bool, dict[str, object]]:
    told = Told(class_of(scores), 1.0)
    console = Console(width=200, file=io.StringIO(), color_system=None)
    print_class(console, told)
    incomplete = is_incomplete(told)
    return console.file.getvalue(), incomplete, class_as_json(told, int(incomplete))  # type: ignore[attr-defined]


def without(learner: str, lost: dict[str, str]) -> Mark:
    """Half of the marks; of what is lost, ``fourth`` is new."""
    verdict = Verdict(learner, "01_x", 1, (), {}, {}, lost=lost, newer=("fourth",))
    return scored(learner, "01_x", 2, verdict=verdict)


def test_what_is_new_costs_a_class_one_line_and_no_exit_code() -> None:
    scores = [without(f"l{n:03d}", {"fourth": NEWER}) for n in range(120)]
    text, incomplete, data = shown(scores)
    assert [line for line in text.splitlines() if "fourth" in line] == [
        "120 of 120 notebooks lack fourth of 01_x, with its text and check: added after they were handed out, or deleted. "
        "It counts as not answered (l000, l001, l002 and 117 more)"
    ]
    assert "! missing" not in text
    assert "l007" not in text
    assert not incomplete
    assert data["totals"]["with_lost_answers"] == 0  # type: ignore[index]
    assert data["totals"]["with_newer_exercises"] == 120  # type: ignore[index]
    assert (data["submissions"][0]["lost"], data["submissions"][0]["newer"]) == ({}, ["fourth"])  # type: ignore[index]


def test_of_an_exercise_that_is_new_the_notebooks_of_its_lesson_are_counted() -> None:
    whole = [scored(f"l{n:03d}", "01_x") for n in range(20)]
    other = [scored(f"m{n:03d}", "02_y") for n in range(20)]
    text, _, _ = shown([*whole, *other, *(without(name, {"fourth": NEWER}) for name in ("ada", "ben"))])
    assert "2 of 22 notebooks lack fourth of 01_x, " in text and "(ada, ben)" in text


def test_what_is_missing_is_missing_beside_what_is_new() -> None:
    score = without("ada", {"fourth": NEWER, "first": "The TODO cell is missing."})
    text, incomplete, _ = shown([score])
    assert "! missing: submitted/ada/01_x: first: The TODO cell is missing." in text
    assert "1 of 1 notebooks lack fourth of 01_x" in text
    assert incomplete


def test_a_class_that_handed_in_before_an_exercise_was_added(
    course: Path, hand_in: Callable[..., Path], pool: PoolMaker
) -> None:
    for name in ("ada", "ben"):
        path = hand_in(name, RIGHT)
        notebook = nbformat.read(path, as_version=4)
        notebook.cells = [
            cell for cell in notebook.cells if "second" not in cell.metadata.get("nbgrader", {}).get("grade_id", "")
        ]
        path.write_text(json.dumps(notebook))
    for _ in range(2):  # as it is graded, and from what is kept of it
        graded = grade_class(course, take_in(course, [LESSON], [LESSON]), [LESSON], pool=pool)
        for score in graded.marks.values():
            assert (score.problem, score.score, score.verdict.newer, score.missing) == ("", 3.0, ("second",), {})
            assert [(one.status, ENGLISH.outcome(one)) for one in score.verdict.exercises][1] == ("not answered", NEWER)


@pytest.fixture(scope="module")
def blueprint(small_lesson: Path) -> Blueprint:
    return read_blueprint(small_lesson / "source" / LESSON / f"{LESSON}.ipynb", course_config(small_lesson))


def _grade_id(cell: dict[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


@pytest.mark.filterwarnings("ignore")
def test_nothing_but_answers_is_taken(blueprint: Blueprint, hand_in: Callable[..., Path]) -> None:
    notebook = json.loads(hand_in("eve", RIGHT).read_text())
    for cell in notebook["cells"]:
        cell["metadata"]["tags"] = ["skip-execution"]
        if _grade_id(cell).startswith("test_"):
            cell["source"] = "assert True"
            cell["metadata"]["nbgrader"]["points"] = 1000
    rebuilt = found_in(blueprint.handout, json.dumps(notebook).encode())
    text = json.dumps(fill_in(blueprint, rebuilt))
    assert rebuilt.answers == RIGHT
    assert not [word for word in ("skip-execution", "assert True", "1000", "HIDDEN") if word in text]


@pytest.mark.filterwarnings("ignore")
def test_another_learners_folder_is_not_read_through_a_link_and_files_have_a_limit(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("secret")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "data.csv").write_text("1")
    (mine / "link.csv").symlink_to(tmp_path / "secret.csv")
    (mine / "up").symlink_to(tmp_path)
    assert read_attachments(mine, mine / "x.ipynb", 1000) == {"data.csv": b"1"}
    with pytest.raises(Damaged):
        read_file(mine / "link.csv", 1000)
    (mine / "big.bin").write_bytes(b"x" * 2000)
    with pytest.raises(Damaged, match="more than"):
        read_file(mine / "big.bin", 1000)
    assert read_attachments(mine, mine / "x.ipynb", 1000) == {"data.csv": b"1"}
