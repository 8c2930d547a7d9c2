"""A fault in the instructor's own notebook is that assignment's: named with cell, cause and cure; the rest is graded."""

from __future__ import annotations

import json
import shlex
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nbproof.errors import CourseError
from nbproof.marking.blueprint import read_blueprint
from nbproof.places import course_config
from nbproof.run.pool import PoolMaker
from tests import COURSE
from tests.run.test_any_course import CUBES, SQUARES, graded, hand_in, written

Cell = dict[str, Any]


def _set(**what: object) -> Callable[[Cell], object]:
    return lambda test: test["metadata"]["nbgrader"].update(what)


BROKEN: dict[str, tuple[Callable[[Cell], object], str]] = {
    "no points": (lambda test: test["metadata"]["nbgrader"].pop("points"), "does not have points"),
    "no id": (
        lambda test: test["metadata"]["nbgrader"].pop("grade_id"),
        "without an id): nbgrader cell does not have a",
    ),
    "a blank id": (_set(grade_id=""), "grade_id is empty"),
    "an id twice": (_set(grade_id="squares"), "the same id, squares"),
    "an id with a space": (_set(grade_id="a b"), "grade_id: 'a b' does not match"),
    "an id with a slash": (_set(grade_id="../a"), "grade_id: '../a' does not"),
    "points as text": (_set(points="two"), "points: 'two' is not of type"),
    "points below zero": (_set(points=-1), "points: -1"),
    "points that are none": (_set(points=float("nan")), "points: nan"),
    "endless points": (_set(points=float("inf")), "points: inf"),
    "a version as text": (_set(schema_version="3"), "not supported between"),
    "a newer version": (_set(schema_version=4), "too new"),
    "half of its metadata": (
        lambda test: test["metadata"].update(nbgrader={"grade_id": "a", "schema_version": 3}),
        "required",
    ),
    "no metadata of nbgrader's": (lambda test: test["metadata"].update(nbgrader=None), "cell 2 (without an id)"),
    "no metadata at all": (lambda test: test.update(metadata=None), "cannot be read"),
    "no text": (lambda test: test.pop("source"), "cell 2 (test_squares): source"),
    "a graded cell of text": (
        lambda test: [test.update(cell_type="markdown"), test.pop("outputs"), test.pop("execution_count")],
        "is not marked as a solution cell",
    ),
    "another type of cell": (lambda test: test.update(cell_type="heading"), "no cell is of the type heading"),
    "a solution in a test": (
        lambda test: test.update(source="### BEGIN SOLUTION\n1\n### END SOLUTION"),
        "Solution region",
    ),
    "a region without an end": (lambda test: test.update(source="### BEGIN HIDDEN TESTS"), "No end hidden tests"),
}


def _break(path: Path, change: Callable[[Cell], object]) -> None:
    notebook = json.loads(path.read_text())
    change(notebook["cells"][1])
    path.write_text(json.dumps(notebook))


@pytest.mark.parametrize(("change", "cause"), BROKEN.values(), ids=list(BROKEN))
def test_a_broken_cell_is_named_with_its_cause(
    tmp_path: Path, change: Callable[[Cell], object], cause: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "source" / "ps1" / "ps1.ipynb", SQUARES)
    _break(path, change)
    with pytest.raises(CourseError) as caught:
        read_blueprint(COURSE, path, course_config(tmp_path))
    told = "\n".join(caught.value.lines())
    assert cause in told and str(path) in told and "otter" not in told
    assert "cell 2 (" in told or "in JupyterLab" in told, told
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", ["no points", "no id", "no metadata at all", "a solution in a test"])
def test_the_assignment_beside_it_is_graded_and_the_cure_helps(tmp_path: Path, pool: PoolMaker, name: str) -> None:
    good, bad = (
        written(tmp_path / "source" / one / "nb.ipynb", cells) for one, cells in (("ps1", SQUARES), ("ps2", CUBES))
    )
    for path in (good, bad):
        hand_in(path, tmp_path / "submitted" / "ada" / path.parent.name / "nb.ipynb")
    right = bad.read_text()
    _break(bad, BROKEN[name][0])
    told = graded(tmp_path, pool)
    assert {key.name: mark.score for key, mark in told.marks.items()} == {"ada/ps1/nb": 2}
    assert told.refused.keys() == {"ps2/nb"}
    bad.write_text(right)  # as the panel would set it
    assert {key.name: mark.score for key, mark in graded(tmp_path, pool).marks.items()} == {
        "ada/ps1/nb": 2,
        "ada/ps2/nb": 2,
    }


def test_a_pattern_that_is_none_is_named_and_the_cure_helps(tmp_path: Path) -> None:
    path = written(tmp_path / "source" / "ps1" / "ps1.ipynb", SQUARES)
    config = tmp_path / "nbgrader_config.py"
    config.write_text("c = get_config()\nc.IgnorePattern.enabled = True\nc.IgnorePattern.pattern = '('\n")
    with pytest.raises(CourseError, match="no regular expression") as caught:
        read_blueprint(COURSE, path, course_config(tmp_path))
    assert caught.value.next_command.startswith("mend it there")
    Path(caught.value.place).write_text(config.read_text().replace("'('", "'[(]'"))
    assert read_blueprint(COURSE, path, course_config(tmp_path)).plain["test_squares"].harmless == "[(]"


def test_metadata_of_an_older_nbgrader_is_cured_by_the_command_that_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "source" / "ps1" / "ps1.ipynb", SQUARES)
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        cell["metadata"]["nbgrader"] |= {"schema_version": 1}
    path.write_text(json.dumps(notebook))
    with pytest.raises(CourseError, match="older nbgrader") as caught:
        read_blueprint(COURSE, path, course_config(tmp_path))
    subprocess.run(caught.value.next_command, shell=True, cwd=tmp_path, check=True, capture_output=True)
    assert sum(cell.points for cell in read_blueprint(COURSE, path, course_config(tmp_path)).cells) == 2
    assert shlex.quote(str(path)) in caught.value.next_command


def test_a_notebook_from_before_cells_had_ids_is_read_without_a_warning(tmp_path: Path) -> None:
    path = written(tmp_path / "source" / "ps1" / "ps1.ipynb", SQUARES)
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        cell["id"] = "same"
    notebook["cells"][0].pop("id")
    path.write_text(json.dumps(notebook))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config = course_config(tmp_path)
        assert sum(cell.points for cell in read_blueprint(COURSE, path, config).cells) == 2
