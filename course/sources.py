"""Show a class or function's source in the notebook, so that nothing a lesson uses is a black box."""

from __future__ import annotations

import inspect
import io
import re
import textwrap
import tokenize
from collections.abc import Callable
from html import escape
from typing import Any

from nbproof.front_end import show

__all__ = ["show_source", "source_of"]

_FOR_TOOLS = re.compile(r"#\s*(type:\s*ignore|noqa|fmt:|pragma:)")
"""Comments that talk to a type checker, a linter or a formatter, not to a reader."""

_FOR_PYTEST = re.compile(r"\s*__test__ = ")

# JupyterLab's own editor colours, which follow its theme; the fallbacks serve nbconvert's pages and print.
_PAPER = (
    "margin:.3em 0;padding:.5em .8em;overflow-x:auto;line-height:1.4;white-space:pre;"
    "font-family:var(--jp-code-font-family,monospace);font-size:var(--jp-code-font-size,13px);"
    "color:var(--jp-mirror-editor-variable-color,#212121);background:var(--jp-cell-editor-background,#f5f5f5)"
)
_COLOURS = (
    ("Comment", "var(--jp-mirror-editor-comment-color,#357070);font-style:italic"),
    ("Literal.String", "var(--jp-mirror-editor-string-color,#ba2121)"),
    ("Literal.Number", "var(--jp-mirror-editor-number-color,#007a00)"),
    ("Keyword", "var(--jp-mirror-editor-keyword-color,#008000);font-weight:bold"),
    ("Operator.Word", "var(--jp-mirror-editor-keyword-color,#008000);font-weight:bold"),
    ("Operator", "var(--jp-mirror-editor-operator-color,#7800c2)"),
    ("Name.Builtin", "var(--jp-mirror-editor-builtin-color,#008000)"),
    ("Name.Function", "var(--jp-mirror-editor-def-color,#00f)"),
    ("Name.Class", "var(--jp-mirror-editor-def-color,#00f)"),
    ("Name.Decorator", "var(--jp-mirror-editor-meta-color,#9a1fe8)"),
)


def source_of(one: type | Callable[..., Any]) -> str:
    """The source of a class or function from the margin, without what is there for tools only."""
    text = textwrap.dedent(inspect.getsource(one)).rstrip()
    lines: list[str | None] = list(text.splitlines())
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and _FOR_TOOLS.match(token.string):
            row, column = token.start
            # The token knows its line as it was, which no cut before it has changed: one comment a line.
            lines[row - 1] = token.line[:column].rstrip() or None
    for row, line in enumerate(lines):
        if line is not None and _FOR_PYTEST.match(line):
            lines[row] = None
            if 0 < row < len(lines) - 1 and lines[row - 1] == lines[row + 1] == "":
                lines[row + 1] = None
    return "\n".join(line for line in lines if line is not None)


def _html_of(text: str) -> str:
    """The source as HTML with colours. They stand at each word, so that it looks alike wherever a page is shown."""
    from pygments import lex  # type: ignore[import-untyped]
    from pygments.lexers import PythonLexer  # type: ignore[import-untyped]

    parts = []
    for kind, word in lex(text, PythonLexer(stripnl=False, ensurenl=False)):
        name = str(kind).removeprefix("Token.")
        colour = next((colour for start, colour in _COLOURS if name.startswith(start)), None)
        parts.append(f'<span style="color:{colour}">{escape(word)}</span>' if colour else escape(word))
    return f'<pre style="{_PAPER}">{"".join(parts)}</pre>'


def show_source(*objects: type | Callable[..., Any]) -> None:
    """Show the source of each object in the colours of the front end's own theme; print it where there is none."""
    text = "\n\n\n".join(map(source_of, objects))
    if not show(_html_of(text), text):
        print(text)
