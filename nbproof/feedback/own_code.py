"""A learner's code on a page: coloured, bounded, and the line of it that an error came from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from markupsafe import Markup, escape

from nbproof.feedback.sanitize_text import harmless

__all__ = ["coloured", "own_line", "printed_in"]

LONGEST = 12_000
"""Characters of an answer that a page shows."""

_CLASSES = (
    ("Token.Comment", "c"), ("Token.Literal.String", "s"), ("Token.Literal.Number", "n"), ("Token.Keyword", "k"),
    ("Token.Operator.Word", "k"), ("Token.Name.Builtin", "b"), ("Token.Name.Function", "d"), ("Token.Name.Class", "d"),
    ("Token.Name.Decorator", "m"),
)  # fmt: skip


def coloured(source: str) -> Markup:
    """The source as HTML: a span with a class of one letter for what has a colour, everything escaped."""
    from pygments import lex  # type: ignore[import-untyped]
    from pygments.lexers import PythonLexer  # type: ignore[import-untyped]

    parts: list[Markup] = []
    for kind, word in lex(harmless(source.strip("\n"), LONGEST), PythonLexer(stripnl=False, ensurenl=False)):
        name = str(kind)
        css = next((css for start, css in _CLASSES if name.startswith(start)), "")
        parts.append(Markup('<span class="{}">{}</span>').format(css, word) if css else escape(word))
    return Markup("").join(parts)


_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_FRAME = re.compile(r"\s*Cell In\[\d{1,6}\], line (\d{1,6})")
_NEXT = re.compile(r"\s*(Cell In\[|File )")
_ARROW = re.compile(r"-{2,4}> ?\d{1,6} ?(.*)")


def own_line(outputs: tuple[Mapping[str, Any], ...]) -> str:
    """Where in the learner's cell its error came from: ``line 2 of your cell: return a / 0``; empty if unknown."""
    error = next((output for output in reversed(outputs) if output.get("output_type") == "error"), None)
    traceback = error.get("traceback") if error else None
    if not isinstance(traceback, list):
        return ""
    lines = "\n".join(_COLOURS.sub("", line) for line in traceback if isinstance(line, str)).split("\n")
    found = ""
    for at, line in enumerate(lines):
        frame = _FRAME.match(line)
        if frame:
            below = list(takewhile(lambda one: not _NEXT.match(one), lines[at + 1 : at + 12]))
            arrow = next((hit[1] for hit in map(_ARROW.match, below) if hit), None)
            text = (arrow if arrow is not None else next((one for one in below if one.strip()), "")).strip()
            found = f"line {frame[1]} of your cell: {text}" if text else f"line {frame[1]} of your cell"
    return found


def printed_in(outputs: tuple[Mapping[str, Any], ...]) -> str:
    """What a cell printed and displayed, as text: its pictures are in the learner's own notebook."""
    parts: list[str] = []
    for output in outputs:
        if output.get("output_type") == "stream":
            parts.append(str(output.get("text", "")))
        elif output.get("output_type") in ("display_data", "execute_result"):
            data = output.get("data") or {}
            picture = any(kind in data for kind in ("image/png", "image/jpeg"))
            parts.append("[a picture]\n" if picture else f"{data.get('text/plain', '')}\n")
    return "".join(parts)
