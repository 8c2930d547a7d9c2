"""Whatever a submission patches, no line of a hidden check is found in what it is handed, however it is written."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import nbformat
import pytest

from nbproof.gradebook.graded_notebook import graded_notebook
from nbproof.lesson.lesson import Cell
from nbproof.marking.blueprint import Blueprint
from nbproof.marking.results import Verdict
from nbproof.testing import Bench
from nbproof.testing.small import RIGHT
from tests import some_by_day
from tests.attacks.arsenal_oracle import CATCHERS, INSIDE, ROUTES, caught_and_told
from tests.attacks.judging import leaked, secret_lines, texts_in


def _leaky(blueprint: Blueprint) -> Blueprint:
    """As the engine was: all checks are asked where they stand, and nothing that they bring is withheld."""
    return replace(blueprint, cells=tuple(replace(cell, shown=cell.source) for cell in blueprint.tests.values()))


def _handed_out(blueprint: Blueprint, verdict: Verdict) -> tuple[list[str], list[bytes]]:
    """All texts and pictures of the verdict and the graded notebook, the learner's own answers aside."""
    told = asdict(verdict)
    told.pop("answers")
    notebook = graded_notebook(blueprint, replace(verdict, answers=dict(blueprint.stubs)))
    pictures: list[bytes] = []
    return [*texts_in([told, json.loads(nbformat.writes(notebook))], pictures)], pictures


def test_what_learners_get_has_no_field_for_what_is_hidden(bench: Bench) -> None:
    assert {*map(type, bench.blueprint.handout.cells)} == {Cell}


WAYS = [(catcher, "base64") for catcher in CATCHERS]
WAYS += [("compile", route) for route in (*ROUTES, *INSIDE, "split") if route != "base64"]


@pytest.mark.parametrize("way", some_by_day(WAYS, 4), ids=" as ".join)
@pytest.mark.parametrize("leaky", [False, True], ids=["as it is", "leaky"])
def test_what_is_caught_does_not_come_out(bench: Bench, way: tuple[str, str], leaky: bool) -> None:
    """Where the engine leaks, the tricks work, and the search finds what they bring out: else this could not fail."""
    blueprint = bench.blueprint
    asked = replace(bench, blueprint=_leaky(blueprint)) if leaky else bench
    verdict = asked.mark(caught_and_told(*way, RIGHT))
    assert bool(leaked(*_handed_out(blueprint, verdict), secret_lines(blueprint, 16))) == leaky
