"""Whatever a submission patches, no line of a hidden check is found in what it is handed, however it is written."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import nbformat
import pytest

from nbproof.gradebook.graded_notebook import graded_notebook
from nbproof.marking.blueprint import Blueprint
from nbproof.marking.results import Verdict
from nbproof.testing import Bench
from nbproof.testing.small import RIGHT
from tests import some_by_day
from tests.attacks.arsenal_oracle import CATCHERS, INSIDE, ROUTES, caught_and_told
from tests.attacks.judging import leaked


def _leaky(blueprint: Blueprint) -> Blueprint:
    """As the engine was: all checks are asked where they stand, and nothing that they bring is withheld."""
    tests = {name: replace(test, shown=test.probe) for name, test in blueprint.tests.items()}
    return replace(blueprint, tests=tests)


def _secrets(blueprint: Blueprint) -> list[str]:
    """The lines of hidden checks that a worker gets to see; what they ask, in a sentence, is told on purpose."""

    def bare(text: str) -> str:
        return "".join(text.replace("'", '"').split())

    shown = "".join(bare(cell.source) for cell in blueprint.notebook.cells)
    lines = {line.strip() for test in blueprint.tests.values() for line in test.probe.source.splitlines()}
    return [line for line in lines if len(line) > 15 and bare(line) not in shown]


def _handed_out(blueprint: Blueprint, verdict: Verdict) -> tuple[list[str], list[bytes]]:
    """All texts and pictures of the verdict and the graded notebook, the learner's own answers aside."""
    told = asdict(verdict)
    told.pop("answers")
    notebook = graded_notebook(blueprint, replace(verdict, answers=dict(blueprint.stubs)))
    texts: list[str] = []
    pictures: list[bytes] = []

    def walk(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            if isinstance(value.get("image/png"), str):
                pictures.append(base64.b64decode(value["image/png"]))
            for key, inner in value.items():
                yield str(key)
                yield from walk(inner)
        elif isinstance(value, (list, tuple)):
            if value and all(isinstance(one, (int, float)) for one in value):
                yield " ".join(map(str, value))
            for inner in value:
                yield from walk(inner)

    for data in (told, json.loads(nbformat.writes(notebook))):
        texts += walk(data)
    return texts, pictures


def _found(bench: Bench, answers: dict[str, str], leaky: bool = False) -> list[str]:
    blueprint = bench.blueprint
    asked = replace(bench, blueprint=_leaky(blueprint)) if leaky else bench
    return leaked(*_handed_out(blueprint, asked.mark(answers)), _secrets(blueprint))


@pytest.mark.parametrize("catcher", some_by_day(CATCHERS, 4))
def test_what_is_caught_does_not_come_out(bench: Bench, catcher: str) -> None:
    assert _found(bench, caught_and_told(catcher, "base64", RIGHT)) == []


@pytest.mark.parametrize("route", some_by_day([*ROUTES, *INSIDE, "split"], 4))
def test_no_way_out_is_left(bench: Bench, route: str) -> None:
    assert _found(bench, caught_and_told("compile", route, RIGHT)) == []


@pytest.mark.parametrize("catcher", some_by_day(CATCHERS, 4))
def test_each_trick_does_catch_a_check_that_is_not_hidden(bench: Bench, catcher: str) -> None:
    """The tricks work, and the search finds what they print: else the tests above could not fail."""
    assert _found(bench, caught_and_told(catcher, "base64", RIGHT), leaky=True)


@pytest.mark.parametrize("route", some_by_day([*ROUTES, *INSIDE, "split"], 4))
def test_each_way_out_is_looked_into(bench: Bench, route: str) -> None:
    assert _found(bench, caught_and_told("compile", route, RIGHT), leaky=True)
