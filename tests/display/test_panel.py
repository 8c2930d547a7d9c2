"""The panel and its plain text."""

from __future__ import annotations

import dataclasses
import sys
import types
from typing import Any

import pytest
import torch
from bs4 import BeautifulSoup

from course.pictures.difference import difference_html
from nbproof.display.help import all_hints
from nbproof.display.panel import html_of, show_findings, text_of
from nbproof.values.compare import Detail, Difference, Differs
from nbproof.values.evidence import snapshot
from nbproof.values.results import Finding, ProbeError
from tests import COURSE

HOSTILE = '<script>alert("x")</script>&<img src=x onerror=alert(1)>'
GOOD = Finding("Sum", "The `answer` is right.", True)
BAD = Finding(
    "Order",
    "The order is right.",
    False,
    difference=Difference("answer[0]", Differs.VALUE, "1", "2"),
    hint="wrong_order",
    printed="seen\n",
)


def failed(said: str = "it is wrong", **more: Any) -> Finding:
    """A check that failed with this message."""
    return Finding("Sum", "Asked.", False, trouble=ProbeError("", said), **more)


def read(page: str) -> BeautifulSoup:
    return BeautifulSoup(page, "html.parser")


def test_hostile_text_stays_text_in_every_place() -> None:
    long = HOSTILE + "x" * 100
    values = Difference(long, Differs.VALUE, long, long, Detail(long, long, (1,), 1, 2))
    finding = Finding(HOSTILE, HOSTILE, False, difference=values, hint="wrong_order", printed=long)
    error = dataclasses.replace(finding, difference=None, trouble=ProbeError(HOSTILE, long, 1, long))
    for one, times in ((finding, 8), (error, 6)):
        for findings in ([one], [one, Finding(HOSTILE, HOSTILE, True)]):
            page = read(html_of(COURSE, HOSTILE, findings))
            assert not page.select("script, img")
            assert {name for tag in page.find_all(True) for name in tag.attrs} <= {"style", "role"}
            assert page.text.count('<script>alert("x")</script>') >= times


def test_the_panel_says_which_checks_hold_and_explains_the_first_that_does_not() -> None:
    page = read(html_of(COURSE, "forward", [GOOD, BAD, failed("another sentence")]))
    hint = all_hints(COURSE)["wrong_order"]
    assert "forward: not yet (1 of 3 checks)" in page.text
    assert "✓ The answer is right." in page.text
    assert "✗ The order is right." in page.text
    for part in ("answer[0] is 1, wanted 2", f"Looks like {hint.name}.", hint.question, "seen"):
        assert part in page.text
    assert "another sentence" not in page.text
    assert hint.idea not in page.text


def test_where_help_can_be_asked_for_the_panel_names_the_mistake_and_gives_no_step() -> None:
    page = read(html_of(COURSE, "forward", [GOOD, BAD], ask=True))
    hint = all_hints(COURSE)["wrong_order"]
    assert f"Looks like {hint.name}. Run hint() in a cell for help." in page.text
    assert hint.question not in page.text
    unknown = failed()
    assert "Run hint() in a cell for help." in read(html_of(COURSE, "double_grad", [unknown], ask=True)).text
    assert "hint()" not in read(html_of(COURSE, "double_grad", [unknown])).text


@pytest.mark.parametrize("picture", ["", "<span>drawn</span>"])
def test_long_values_are_shown_once(picture: str) -> None:
    got, wanted = f"[{'1, ' * 30}2]", f"[{'1, ' * 30}3]"
    detail = Detail("2", "3", (30,), 1, 31)
    fact = "answer: 1 of 31 elements differ, first at index 30: 2 instead of 3"
    for known, said in ((None, ""), (detail, fact)):
        told = Finding("Sum", "Asked.", False, difference=Difference("answer", Differs.VALUE, got, wanted, known))
        page = read(html_of(COURSE, "forward", [told], picture=picture)).text
        assert (page.count(got), page.count(wanted)) == ((0, 0) if picture else (1, 1))
        assert said in page
        assert got in text_of(COURSE, told)
    long = "The hook ran, but it was never asked for its result, nor for anything else; " * 2
    assert long in read(html_of(COURSE, "forward", [failed(long)], picture=picture)).text


def test_a_hint_that_does_not_exist_costs_the_learner_nothing() -> None:
    finding = failed(hint="no_such_hint")
    assert text_of(COURSE, finding) == "it is wrong\n  asked: Asked."
    assert "it is wrong" in html_of(COURSE, "forward", [finding])


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """What a notebook displays."""
    difference_html([1.0, 2.0], [1.0, 3.0])  # matplotlib, imported while IPython is what it is
    found: list[dict[str, str]] = []
    shell = types.SimpleNamespace(has_trait=lambda name: True)
    fake = {
        "IPython": {"get_ipython": lambda: shell},
        "IPython.display": {"display": lambda one, raw: found.append(one)},
    }
    for name, holds in fake.items():
        monkeypatch.setitem(sys.modules, name, types.SimpleNamespace(**holds))  # type: ignore[arg-type]
    return found


def test_a_front_end_gets_html_and_text(shown: list[dict[str, str]], capsys: pytest.CaptureFixture[str]) -> None:
    show_findings(COURSE, "forward", [GOOD, BAD])
    plain = "forward: not yet (1 of 2 checks)\n" + text_of(COURSE, BAD)
    assert shown == [{"text/html": html_of(COURSE, "forward", [GOOD, BAD], ask=True), "text/plain": plain}]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("secret", "running", "seen"), [(False, "", True), (True, "", False), (False, "validate", False)]
)
def test_somebody_who_looks_sees_yours_beside_wanted(
    secret: bool, running: str, seen: bool, shown: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    if running:
        monkeypatch.setenv("NBGRADER_EXECUTION", running)
    compared = None if secret else (snapshot([torch.tensor([1.0, 2.0])]), [torch.tensor([1.0, 3.0])])
    show_findings(COURSE, "forward", [failed(compared=compared)])
    assert ("<img" in shown[0]["text/html"]) == seen
