"""Of a submission, only the texts of the TODO cells count."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nbproof.marking.blueprint import (
    Blueprint,
    Damaged,
    Rebuilt,
    fill_in,
    lost_in,
    read_attachments,
    read_blueprint,
    read_file,
)
from nbproof.marking.marker import answers_in
from nbproof.nbgrader_setup import course_config
from tests.grading.conftest import LESSON, POINTS, RIGHT

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def blueprint(small_lesson: Path) -> Blueprint:
    return read_blueprint(small_lesson / "source" / LESSON / f"{LESSON}.ipynb", course_config(small_lesson))


def _damage(path: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> bytes:
    notebook = json.loads(path.read_text())
    notebook["cells"] = change(notebook["cells"])
    return json.dumps(notebook).encode()


def _grade_id(cell: dict[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def _without_metadata(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**cell, "metadata": {}} for cell in cells]


def _reversed(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return cells[::-1]


def _without_tests(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [cell for cell in cells if not _grade_id(cell).startswith("test_")]


def _as_lines(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**cell, "source": cell["source"].splitlines(keepends=True)} for cell in cells]


def _retyped(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**cell, "cell_type": "raw"} for cell in cells]


@pytest.mark.parametrize(
    "change", [_without_metadata, _reversed, _without_tests, _as_lines, _retyped], ids=lambda f: f.__name__
)
def test_a_damaged_notebook_gives_the_same_answers(
    blueprint: Blueprint, hand_in: Callable[..., Path], change: Any
) -> None:
    path = hand_in("ada", RIGHT)
    assert answers_in(blueprint, _damage(path, change)).answers == RIGHT


def test_of_two_cells_with_one_id_the_one_that_was_worked_on_counts(
    blueprint: Blueprint, hand_in: Callable[..., Path]
) -> None:
    path = hand_in("ada", RIGHT)

    def stubs_first(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """A TODO cell was copied, and the copy was worked on: both have the id."""
        copies = [{**cell, "source": blueprint.stubs[_grade_id(cell)]} for cell in cells if _grade_id(cell) in POINTS]
        return [*copies, *cells]

    rebuilt = answers_in(blueprint, _damage(path, stubs_first))
    assert rebuilt.answers["first"] == RIGHT["first"]
    assert "more than once" in rebuilt.recovered["first"]


def test_nothing_but_answers_is_taken(blueprint: Blueprint, hand_in: Callable[..., Path]) -> None:
    def hostile(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for cell in cells:
            cell["metadata"]["tags"] = ["skip-execution"]
            if _grade_id(cell).startswith("test_"):
                cell["source"] = "assert True"
                cell["metadata"]["nbgrader"]["points"] = 1000
        return cells

    path = hand_in("eve", RIGHT)
    notebook = fill_in(blueprint, answers_in(blueprint, _damage(path, hostile)))
    text = json.dumps(notebook)
    for word in ("skip-execution", "assert True", "1000"):
        assert word not in text
    assert "HIDDEN" not in text


def test_an_answer_that_is_gone_is_the_stub_and_said_so(blueprint: Blueprint, hand_in: Callable[..., Path]) -> None:
    path = hand_in("ada", RIGHT)
    data = _damage(path, lambda cells: [cell for cell in cells if _grade_id(cell) != "second"])
    rebuilt = answers_in(blueprint, data)
    assert rebuilt.answers["second"] == blueprint.stubs["second"]
    assert "missing" in rebuilt.lost["second"]
    assert "second" not in rebuilt.recovered


def test_another_learners_folder_is_not_read_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("secret")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "data.csv").write_text("1")
    (mine / "link.csv").symlink_to(tmp_path / "secret.csv")
    (mine / "up").symlink_to(tmp_path)
    assert read_attachments(mine, mine / "x.ipynb", 1000) == {"data.csv": b"1"}
    with pytest.raises(Damaged):
        read_file(mine / "link.csv", 1000)


def test_files_have_a_limit(tmp_path: Path) -> None:
    (tmp_path / "big.bin").write_bytes(b"x" * 2000)
    with pytest.raises(Damaged, match="more than"):
        read_file(tmp_path / "big.bin", 1000)
    assert read_attachments(tmp_path, tmp_path / "x.ipynb", 1000) == {}


def test_what_waits_for_a_person_comes_back_from_the_rebuilt_notebook(blueprint: Blueprint) -> None:
    rebuilt = Rebuilt({**RIGHT, "first": "# may be it"}, lost={"first": "A person has to look."})
    assert lost_in(fill_in(blueprint, rebuilt)) == rebuilt.lost
    assert rebuilt.waits(blueprint, "first")
    assert not rebuilt.waits(blueprint, "second")
