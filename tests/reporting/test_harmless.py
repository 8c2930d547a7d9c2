"""Whatever a learner's code says can be shown: bounded, visible, and without a word on the grader's machine."""

from __future__ import annotations

import os
import sys
import time

import pytest
import torch

from nbproof.feedback.own_code import harmless
from tests.reporting.page_rules import what_runs


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext ✓ é 漢字 👩‍💻", "plain\n\ttext ✓ é 漢字 👩‍💻"),
        ("\x1b[31mred\x1b[0m \x1b]8;;javascript:alert(1)\x1b\\link\x1b]8;;\x1b\\", "red link"),
        ("user\u202egnp.exe\u202c", "user‹U+202E›gnp.exe‹U+202C›"),
        ("a\u200bb\ufeffc\U000e0041", "a‹U+200B›b‹U+FEFF›c‹U+E0041›"),
        ("bell\x07 null\x00", "bell‹U+0007› null‹U+0000›"),
        ("a\r\nb", "a\nb"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("\ud800 half", "\\ud800 half"),
        ("e" + "\u0301" * 50, "e" + "\u0301" * 3),
        ("one\u2028two", "one\ntwo"),
        ("SyntaxError: invalid (<ipython-input-9-08bde0d2c95d>, line 1)", "SyntaxError: invalid (line 1 of your cell)"),
    ],
)  # fmt: skip
def test_what_is_shown(text: str, shown: str) -> None:
    assert harmless(text) == shown


def test_no_folder_of_the_machine_is_named() -> None:
    places = [
        torch.__file__,
        os.__file__,
        __file__,
        sys.prefix,
        "/opt/x/lib/python3.12/site-packages/a.py",
        os.path.expanduser("~/x"),
    ]
    shown = harmless("\n".join(f'File "{place}", line 3' for place in places))
    for folder in (
        sys.prefix,
        sys.base_prefix,
        os.path.dirname(os.path.dirname(torch.__file__)),
        os.getcwd(),
        "/opt/x",
    ):
        assert folder not in shown
    assert "site-packages/torch/__init__.py" in shown


def test_long_texts_keep_their_two_ends() -> None:
    shown = harmless("\n".join(f"line {number}" for number in range(100_000)), 1_000)
    assert len(shown) < 1_100
    assert shown.startswith("line 0\nline 1\n")
    assert shown.endswith("line 99998\nline 99999")
    assert "characters left out" in shown
    assert len(harmless("x" * 1_000_000, 5_000)) < 1_500, "of a line of a million letters a part"


@pytest.mark.parametrize(
    "text",
    ["/" * 500_000, "/a" * 250_000, "\x1b]" * 250_000, "\u0301" * 500_000, "\r" * 500_000, "<ipython-input-" * 40_000,
     "a/" * 250_000 + "\n" + "/site-packages" * 40_000, "\x1b[" + "0;" * 250_000],
    ids=range(8),
)  # fmt: skip
def test_no_text_takes_long(text: str) -> None:
    harmless("warm")
    start = time.process_time()
    harmless(text, 12_000)
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize(
    "piece",
    [
        "<script>1</script>",
        "<img src=x>",
        '<img src="data:image/png;base64,AA" onerror=alert(1)>',
        "<a href='//evil'>x</a>",
        "<p style='position:fixed'>",
        "<a href='JavaScript:alert(1)'>x</a>",
        "<meta http-equiv=refresh>",
        "<style>p{}</style>",
        "<svg/onload=x>",
    ],
)
def test_the_rules_for_pages_see_what_runs(piece: str) -> None:
    page = '<html><head><meta http-equiv="Content-Security-Policy" content="default-src \'none\'"></head><body>{}</body></html>'
    assert what_runs(page.format("<p>calm</p>")) == []
    assert what_runs(page.format(piece)) != []
    assert what_runs("<html><head></head><body></body></html>") == ["no policy that forbids scripts"]
