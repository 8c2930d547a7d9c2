"""Sources shown in the notebook."""

from __future__ import annotations

import html
import inspect
import re
import textwrap

import pytest
from torch import nn

from course import models
from course.models import Add, Model, TestNet
from course.sources import show_source, source_of


class Marked:
    """A class with all that is there for tools only."""

    __test__ = False  # pytest

    text = "# type: ignore stays in a text"  # this comment stays

    def one(self) -> int:
        return self.text  # type: ignore[return-value]

    # fmt: off
    def two(self) -> None:
        print(self)  # fmt: skip
        if True:  # pragma: no cover
            """One line,  # noqa
            another line."""


def test_in_a_terminal_the_sources_are_printed_one_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    show_source(Add, Model.forward)
    add, forward = capsys.readouterr().out.split("\n\n\n")
    assert add == inspect.getsource(Add).rstrip()
    # A method is shown from the margin.
    assert forward.startswith("def forward(self")
    assert "\n    return output" in forward


def test_what_is_there_for_tools_only_is_left_out() -> None:
    assert source_of(Marked) == textwrap.dedent('''\
        class Marked:
            """A class with all that is there for tools only."""

            text = "# type: ignore stays in a text"  # this comment stays

            def one(self) -> int:
                return self.text

            def two(self) -> None:
                print(self)
                if True:
                    """One line,  # noqa
                    another line."""''')


def test_a_model_reads_as_a_learner_would_write_it() -> None:
    lines = source_of(TestNet).splitlines()
    assert lines[1:4] == [
        '    """A convolution, a ReLU and a linear layer, for one image of shape (1, 3, 8, 8)."""',
        "",
        "    def __init__(self) -> None:",
    ]
    assert lines[-1] == "        return self.fc(x)"


@pytest.mark.parametrize("name", models.__all__)
def test_what_is_shown_of_a_model_is_python(name: str) -> None:
    shown = source_of(getattr(models, name))
    compile(shown, name, "exec", dont_inherit=True)
    assert "__test__" not in shown
    assert "type: ignore" not in shown


def test_in_a_notebook_it_is_monospaced_and_in_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    monkeypatch.setattr("course.sources.show", lambda page, plain: shown.append((page, plain)) or True)
    show_source(Add, nn.ReLU.forward)
    ((page, plain),) = shown
    assert plain == f"{source_of(Add)}\n\n\n{source_of(nn.ReLU.forward)}"
    # Nothing is lost between the colours.
    assert html.unescape(re.sub(r"<[^>]*>", "", page)) == plain
    assert page.startswith("<pre ")
    assert "monospace" in page
    assert re.search(r'<span style="color:[^"]*keyword[^"]*">class</span>', page)
    # Colours of JupyterLab's theme, and a colour of its own for every page that has no theme.
    assert all(re.match(r"var\(--jp-[\w-]+,#\w+\)", colour) for colour in re.findall(r'style="color:([^"]*)"', page))
