"""Every sentence of the panel in another language: one module, and nothing else in the tool changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
import torch

from nbproof.checks.case import Case
from nbproof.checks.check import Check, bring, judge_here
from nbproof.course_file import Course, read_course
from nbproof.display.panel import html_of, show_findings, text_of
from nbproof.feedback.page_texts import PAGE_TEXTS, language_notes
from nbproof.recover.search_texts import SEARCH_TEXTS
from nbproof.values.results import Finding
from nbproof.values.words import TEXTS, words_of
from tests import ROOT

HINTS = """
[cell_stopped]
name = "eine TODO-Zelle, die nicht zu Ende lief"
question = "Hast du sie ausgeführt?"
idea = "Erst sie, dann die Prüfung."
read = "Lektion 01"
"""


class Doubled(Check):
    """`answer` ist das Doppelte."""

    cases = 1

    def probe(self, nb: Any, case: Case) -> object:
        return {"answer": nb.function("double")(torch.ones(2))}

    def truth(self, case: Case) -> object:
        return {"answer": torch.full((2,), 2.0)}


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A course that speaks German, as its author's hints do."""
    monkeypatch.syspath_prepend(ROOT / "examples" / "plugins" / "nbproof-german")
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons" / "hints.toml").write_text(HINTS, encoding="utf-8")
    (tmp_path / "course.toml").write_text('says = "Kurs"\nleaves = ["torch"]\nlanguage = "nbproof_german"\n')
    return read_course(tmp_path)


def found(course: Course, **variables: object) -> Finding:
    return judge_here(Doubled(), Case(1, course), bring(Doubled(), variables, Case(1, course)))


def twice(x: torch.Tensor) -> torch.Tensor:
    return 2 * x


ASKED = "  gefragt: `answer` ist das Doppelte."
PANELS = {
    "right": (twice, "double: bestanden"),
    "a wrong value": (
        lambda x: x + torch.tensor([1.0, 0.0]),
        f"answer ist tensor([2., 1.]), verlangt ist tensor([2., 2.]) "
        f"(1 von 2 Elementen sind anders, zuerst an der Stelle 1: 1 statt 2)\n{ASKED}",
    ),
    "another shape": (lambda x: twice(x)[None], f"answer hat die Form (1, 2), verlangt ist (2,)\n{ASKED}"),
    "an object": (lambda x: {x}, f"answer ist ein set, verlangt ist ein Tensor der Form (2,)\n{ASKED}"),
    "an error": (lambda x: x.oops, f"AttributeError: 'Tensor' object has no attribute 'oops'\n{ASKED}"),
    "not a function": (3, f"`double` ist ein int, verlangt ist eine Funktion.\n{ASKED}"),
}


@pytest.mark.parametrize("what", PANELS)
def test_a_panel_in_german(german: Course, capsys: pytest.CaptureFixture[str], what: str) -> None:
    answer, told = PANELS[what]
    finding = found(german, double=answer)
    show_findings(german, "double", [finding])
    right = capsys.readouterr().out
    assert (right or text_of(german, finding)).strip() == told
    assert right or "double</span>: noch nicht" in html_of(german, "double", [finding])


def test_the_drawn_panel_says_nothing_in_english(german: Course) -> None:
    page = html_of(german, "double", [found(german)], ask=True)
    assert "</code> in einer Zelle hilft weiter." in page and "noch nicht" in page
    page = html_of(german, "double", [found(german, double=lambda x: [torch.ones(40)] * 3)], ask=True)
    assert "answer ist eine Liste von 3 Einträgen, verlangt ist ein Tensor der Form (2,)" in page


def _fields(text: str | tuple[str, ...]) -> set[str | None]:
    parts = [text] if isinstance(text, str) else text
    return {field for part in parts for _, field, _, _ in Formatter().parse(part)} - {None}


def test_another_language_has_every_text_and_fills_in_just_what_english_does(german: Course) -> None:
    known = {**TEXTS, **PAGE_TEXTS, **SEARCH_TEXTS}
    theirs = words_of(german).texts
    own = {key for key in theirs if key.startswith("value ") and key not in known}  # nouns of leaf types
    assert theirs.keys() - own == known.keys()
    assert [key for key in known if _fields(theirs[key]) != _fields(known[key])] == []
    assert {key for key in known if theirs[key] == known[key]} == {"because of lost", "more", "row", "value NoneType"}


def test_keys_that_are_not_there_and_texts_that_are_left_out_are_named(
    german: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "from nbproof.values.words import Language\nWORDS = Language({'fuond shape': '{where}', 'value shapely': 'x'})\n"
    (tmp_path / "of_two_words.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    misspelt, left_out = language_notes(replace(german, language="of_two_words"))
    assert misspelt.endswith("has a text for 'fuond shape', which nothing here is called: is it 'found shape'?")
    assert "texts to English: " in left_out
    assert [*language_notes(german), *language_notes(replace(german, language=""))] == []
