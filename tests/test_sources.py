"""Sources shown in the notebook."""

from __future__ import annotations

import inspect

import pytest
from IPython.core import display_functions, getipython

from course.models import Add, Model
from course.sources import show_source


def test_in_a_terminal_the_sources_are_printed_one_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    show_source(Add, Model.forward)
    add, forward = capsys.readouterr().out.split("\n\n\n" if "\n\n\n" in inspect.getsource(Add) else "\n\ndef ")
    assert add == inspect.getsource(Add).rstrip()
    # A method is shown from the margin.
    assert forward.startswith("forward(self")
    assert "\n    return output" in forward


def test_in_a_notebook_the_front_end_highlights_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    monkeypatch.setattr(getipython, "get_ipython", lambda: object())
    monkeypatch.setattr("IPython.display.display", shown.append)
    show_source(Add)
    (markdown,) = shown
    assert markdown.data == f"```python\n{inspect.getsource(Add).rstrip()}\n```"
    assert display_functions is not None
