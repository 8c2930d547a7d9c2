"""The search for lines that learners must not see finds them, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nbproof.authoring.secret_lines import Secrets, read_secrets, text_of, text_of_page
from tests import COURSE
from tests.conftest import course, registered_lesson, small_lesson  # noqa: F401

LINE = "answer = [grad.clone() for grad in seen if grad is not None]"


@pytest.fixture(scope="module")
def secrets() -> Secrets:
    return Secrets([(LINE, "source/02: catch"), ("return value * 2", "accepted/double.py"), ("x = 1", "too short")])


PAGES = {
    "plain": f"<pre>{LINE}</pre>",
    "spans and entities": f"<pre>{LINE.replace('grad', '<span>grad</span>').replace('[', '&#91;')}</pre>",
    "white space": f"<p>   {LINE.replace(' ', '   ')}\t</p>",
    "attribute": f'<img alt="{LINE}">',
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_line_is_found_whatever_stands_around_it(secrets: Secrets, page: str) -> None:
    assert secrets.found_in(text_of_page(f"<html>\n{page}\n</html>")) == [LINE]


def test_what_is_no_leak(secrets: Secrets) -> None:
    assert secrets.found_in(f"1: {LINE}", own=f"def f():\n    {LINE}\n") == [], "the learner wrote it themselves"
    assert secrets.found_in(LINE[:-4]) == []
    assert secrets.found_in("x = 1") == []
    assert secrets.found_in("it may return value * 2 as well") == [], "a short line within a sentence"
    assert len(secrets.found_in("   return value  * 2")) == 1


def test_secret_lines_are_taken_out_of_what_a_learner_printed(secrets: Secrets) -> None:
    assert secrets.taken_out(f"a\n>> {LINE}\nb") == "a\n[a line of the tests or of a solution: not shown]\nb"
    assert secrets.taken_out(f"a\n{LINE}", own=LINE) == f"a\n{LINE}"


def test_what_is_secret_in_a_course(course: Path) -> None:  # noqa: F811
    found = read_secrets(COURSE, course)
    assert "return x * 2" in found.origins
    assert 'x = case.tensor("x", 2, 4)' in found.origins, "a hidden test"
    assert not [line for line in found.origins if "Values(Check)" in line], "a visible test"
    assert found.origins["return x * 2"].startswith("source/01_small: first")


def test_a_line_anywhere_in_a_notebook_is_found(secrets: Secrets) -> None:
    pieces = {"source": "b", "outputs": [{"data": {"text/plain": [LINE[:9], LINE[9:] + "\n"]}}]}
    for cell in ({"source": ["a\n", LINE]}, pieces):
        data = json.dumps({"cells": [{"source": "sound"}, cell]}).encode()
        assert secrets.found_in(text_of("a.ipynb", data)) == [LINE]
