"""The panel and its plain text."""

from __future__ import annotations

import dataclasses
import sys
import types
from html.parser import HTMLParser
from typing import Any

import pytest
import torch

from course.pictures.difference import difference_html
from nbproof.display.help import all_hints
from nbproof.display.panel import html_of, show_findings, text_of
from nbproof.values.evidence import snapshot
from nbproof.values.results import CheckResult

HOSTILE = '<script>alert("x")</script>&<img src=x onerror=alert(1)>'
GOOD = CheckResult("forward", "Sum", "The `answer` is right.", True, 1)
BAD = CheckResult(
    "forward", "Order", "The order is right.", False, 1, "answer[0] is 1, wanted 2", got="1", wanted="2",
    where="answer[0]", hint="wrong_order", line="line 3 of your cell: x", printed="seen\n",
)  # fmt: skip


class Reader(HTMLParser):
    """Tags, attributes and text of a page; notes what is opened and never closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_hostile_text_stays_text_in_every_place() -> None:
    long = HOSTILE + "x" * 100
    finding = CheckResult(HOSTILE, HOSTILE, HOSTILE, False, 1, long, long, long, long, "wrong_order", long, long)
    for findings in ([finding], [finding, CheckResult(HOSTILE, HOSTILE, HOSTILE, True, 1)]):
        page = Reader(html_of(HOSTILE, findings))
        assert page.open == []
        assert not page.tags & {"script", "img"}
        assert page.attributes <= {"style", "role"}
        assert page.text.count('<script>alert("x")</script>') >= 7


def test_the_panel_says_which_checks_hold_and_explains_the_first_that_does_not() -> None:
    page = Reader(
        html_of("forward", [GOOD, BAD, CheckResult("forward", "Third", "More.", False, 1, "another sentence")])
    )
    hint = all_hints()["wrong_order"]
    assert "forward: not yet (1 of 3 checks)" in page.text
    assert "✓ The answer is right." in page.text
    assert "✗ The order is right." in page.text
    for part in (BAD.sentence, BAD.line, f"Looks like {hint.name}.", hint.question, "seen"):
        assert part in page.text
    assert "another sentence" not in page.text
    assert hint.idea not in page.text


def test_where_help_can_be_asked_for_the_panel_names_the_mistake_and_gives_no_step() -> None:
    page = Reader(html_of("forward", [GOOD, BAD], ask=True))
    hint = all_hints()["wrong_order"]
    assert f"Looks like {hint.name}. Run hint() in a cell for help." in page.text
    assert hint.question not in page.text
    unknown = CheckResult("forward", "Sum", "Asked.", False, 1, "it is wrong")
    assert "Run hint() in a cell for help." in Reader(html_of("forward", [unknown], ask=True)).text
    assert "hint()" not in Reader(html_of("forward", [unknown])).text


@pytest.mark.parametrize("picture", ["", "<span>drawn</span>"])
def test_long_values_are_shown_once(picture: str) -> None:
    got, wanted = f"[{'1, ' * 30}2]", f"[{'1, ' * 30}3]"
    finding = CheckResult("forward", "Sum", "Asked.", False, 1, got=got, wanted=wanted, where="answer")
    for rest, fact in (("", ""), (" (1 of 31 elements differs)", "answer: 1 of 31 elements differs")):
        told = dataclasses.replace(finding, sentence=f"answer is {got}, wanted {wanted}{rest}")
        page = Reader(html_of("forward", [told], picture=picture)).text
        assert (page.count(got), page.count(wanted)) == ((0, 0) if picture else (1, 1))
        assert fact in page
        assert got in text_of(told)
    other = dataclasses.replace(
        finding, sentence="The hook ran, but it was never asked for its result, nor for anything else; " * 2
    )
    assert other.sentence in Reader(html_of("forward", [other], picture=picture)).text


def test_a_right_answer_needs_no_details() -> None:
    page = Reader(html_of("forward", [GOOD]))
    assert page.text == "forward: passed ✓ The answer is right."
    assert "code" in page.tags


def test_a_hint_that_does_not_exist_costs_the_learner_nothing() -> None:
    finding = CheckResult("forward", "Sum", "Asked.", False, 1, "it is wrong", hint="no_such_hint")
    assert text_of(finding) == "it is wrong\n  asked: Asked."
    assert "it is wrong" in html_of("forward", [finding])


def test_much_printed_text_is_cut() -> None:
    finding = CheckResult("forward", "Sum", "Asked.", False, 1, "wrong", printed="line\n" * 50_000)
    assert Reader(html_of("forward", [finding])).text.count("line") == 20


def shell(has_kernel: bool) -> types.SimpleNamespace:
    return types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(has_trait=lambda name: has_kernel))


def test_a_front_end_gets_html_and_text(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown: list[Any] = []
    display = types.SimpleNamespace(display=lambda bundle, raw: shown.append(bundle))
    monkeypatch.setitem(sys.modules, "IPython", shell(has_kernel=True))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", display)  # type: ignore[arg-type]
    show_findings("forward", [GOOD, BAD])
    (bundle,) = shown
    assert bundle["text/html"] == html_of("forward", [GOOD, BAD], ask=True)
    assert bundle["text/plain"] == "forward: not yet (1 of 2 checks)\n" + text_of(BAD)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("loaded", [True, False])
def test_without_a_front_end_only_success_is_printed(
    loaded: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # What is wrong is the text of the exception that check raises next.
    if loaded:
        monkeypatch.setitem(sys.modules, "IPython", shell(has_kernel=False))  # type: ignore[arg-type]
    else:
        monkeypatch.delitem(sys.modules, "IPython", raising=False)
    show_findings("forward", [GOOD, BAD])
    assert capsys.readouterr().out == ""
    show_findings("forward", [GOOD])
    assert capsys.readouterr().out == "forward: passed\n"


@pytest.mark.parametrize(
    ("secret", "running", "seen"), [(False, "", True), (True, "", False), (False, "validate", False)]
)
def test_somebody_who_looks_sees_yours_beside_wanted(
    secret: bool, running: str, seen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    difference_html([1.0, 2.0], [1.0, 3.0])  # matplotlib, imported while IPython is what it is
    shown: list[Any] = []
    display = types.SimpleNamespace(display=lambda bundle, raw: shown.append(bundle["text/html"]))
    monkeypatch.setitem(sys.modules, "IPython", shell(has_kernel=True))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", display)  # type: ignore[arg-type]
    if running:
        monkeypatch.setenv("NBGRADER_EXECUTION", running)
    compared = None if secret else (snapshot([torch.tensor([1.0, 2.0])]), [torch.tensor([1.0, 3.0])])
    show_findings("forward", [CheckResult("forward", "Sum", "Asked.", False, 1, "it is wrong", compared=compared)])
    assert ("<img" in shown[0]) == seen


def test_code_in_the_name_of_a_misconception_is_shown_as_code() -> None:
    named = next(hint for hint in all_hints().values() if "`" in hint.name)
    page = html_of("forward", [dataclasses.replace(BAD, hint=named.id)])
    assert "`" not in Reader(page).text
    assert "code" in Reader(page).tags
