"""A learner's code, text and outputs, as a page may show them: bounded, with nothing invisible, and without paths of the grader.

The template escapes HTML. This module treats text that is long, that turns the direction of reading, that stacks marks over its
neighbours, or that tells where the grader lies.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from nbproof.course_file import Course
from nbproof.gradebook.graded_notebook import is_coloured, without_blank_lines

__all__ = ["LARGEST_PICTURE", "Made", "coloured", "harmless", "made_in", "own_line", "shortened", "visible"]


_LONGEST_LINE = 400
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]{0,500}(?:\x07|\x1b\\)?|[@-_])")
"""Signs that a terminal would obey: colours, links, titles."""
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
"""Controls, and marks that turn or hide text. Joiners, which scripts and emoji need, are none of them."""
_OVER = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_STACKED = re.compile(f"({_OVER}{{3}}){_OVER}+")
_CELL_FILE = re.compile(r"<ipython-input-\d+-[0-9a-f]+>")
_LIBRARY = re.compile(r"…?(?:/[^\s/'\"<>()]{1,100}){0,20}/(?=(?:site-packages|dist-packages|python3\.\d+)/)")


def harmless(course: Course, text: object, most: int = 2_000) -> str:
    """A learner's text, or a text that their code made, fit to be shown: with at most ``most`` characters and a little."""
    return visible(course, shortened(str(text), most))


def visible(course: Course, text: str) -> str:
    """The text with everything in it to be seen: no control, no sign that turns or hides other text, no path of the grader."""
    kept = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    # A progress bar writes over itself: one saw what was written last.
    kept = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in kept.split("\n"))
    kept = _STACKED.sub(r"\1", _INVISIBLE.sub(lambda sign: f"‹U+{ord(sign[0]):04X}›", kept))
    kept = _CELL_FILE.sub("your cell", kept)
    for folder in _own_folders(course):
        kept = kept.replace(folder, "…")
    # Half a surrogate pair, which no file takes, is written out.
    return _LIBRARY.sub("…/", kept).encode("utf-8", "backslashreplace").decode()


def shortened(text: str, most: int) -> str:
    """The beginning and the end of a text longer than ``most`` characters, with a note on what is missing. Long lines are cut."""
    if len(text) > most:
        head = text[: most * 2 // 3]
        tail = text[len(text) - most // 3 :]
        # Whole lines, if that costs no more than a part of either.
        if "\n" in head[len(head) // 2 :]:
            head = head[: head.rfind("\n") + 1]
        if "\n" in tail[: len(tail) // 2]:
            tail = tail[tail.find("\n") + 1 :]
        left_out = len(text) - len(head) - len(tail)
        text = f"{head.rstrip()}\n[… {left_out:,} characters left out …]\n{tail}"
    return "\n".join(map(_shortened_line, text.split("\n")))


def _shortened_line(line: str) -> str:
    left_out = len(line) - _LONGEST_LINE
    return f"{line[:_LONGEST_LINE]} [… {left_out:,} more]" if left_out > 0 else line


@cache
def _own_folders(course: Course) -> tuple[str, ...]:
    """The folders that hold the grader's Python, its packages and its course, and its home; the longest path first."""
    ours = {str(Path(__file__).resolve().parents[2]), str(course.root)}
    places = {sys.prefix, sys.base_prefix, sys.exec_prefix, os.getcwd(), *ours, os.path.expanduser("~")}
    return tuple(sorted((place for place in places if len(place) > 5), key=len, reverse=True))


_LONGEST = 12_000
"""Characters of an answer that a page shows."""


def coloured(course: Course, source: str) -> Markup:
    """The source as escaped HTML, in spans with the classes of Pygments."""
    from pygments import highlight  # type: ignore[import-untyped]
    from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
    from pygments.lexers import PythonLexer  # type: ignore[import-untyped]

    shown = harmless(course, without_blank_lines(source).strip("\n"), _LONGEST)
    if not is_coloured(shown):
        return escape(shown)
    page = highlight(shown, PythonLexer(stripnl=False, ensurenl=False), HtmlFormatter(nowrap=True))
    return Markup(page.rstrip("\n"))  # noqa: S704 escaped by Pygments


# Nothing in it goes over the end of a line in search of a beginning: of a traceback of empty lines that would take hours.
_FRAME = re.compile(
    r"^[^\S\n]*Cell In\[\d{1,6}\], line (\d{1,6}).*((?:\n(?![^\S\n]*(?:Cell In\[|File )).*){0,11})", re.MULTILINE
)
_ARROW = re.compile(r"^-{2,4}> ?\d{1,6} ?(.*)", re.MULTILINE)


def own_line(outputs: tuple[Mapping[str, Any], ...]) -> str:
    """The line of the learner's cell that its error came from: ``line 2 of your cell: return a / 0``; empty if unknown."""
    tracebacks = [output.get("traceback") for output in outputs if output.get("output_type") == "error"]
    traceback = tracebacks[-1] if tracebacks else None
    if not isinstance(traceback, list):
        return ""
    lines = "\n".join(_ESCAPES.sub("", line) for line in traceback if isinstance(line, str))
    found = ""
    for number, below in _FRAME.findall(lines):
        # Python shows a line that it cannot read without an arrow.
        arrow = _ARROW.search(below)
        text = arrow[1] if arrow else below.strip().partition("\n")[0]
        found = f"line {number} of your cell"
        if text.strip():
            found += f": {text.strip()}"
    return found


_MOST_PICTURES = 4
LARGEST_PICTURE = 400_000
"""Characters of a picture in base64: a page goes by mail, and holds many."""
_PACKED = re.compile(r"[A-Za-z0-9+/]+=*")


@dataclass(frozen=True)
class Made:
    """One output of a learner's cell: a text, such as a table in print, or a picture."""

    text: str = ""
    picture: str = ""
    """A picture's address, which holds all of it."""


def made_in(outputs: Sequence[Mapping[str, Any]], clean: Callable[[str], str]) -> tuple[Made, ...]:
    """All outputs of a cell, in their order; texts that follow each other become one. ``clean`` makes a text fit to be shown.

    A worker's outputs were made harmless when they came (nbproof/sandbox/outputs.py): a picture is a plain PNG.
    """
    made: list[Made] = []
    texts: list[str] = []
    room = _MOST_PICTURES
    for output in outputs:
        picture, text = _picture_and_text(output)
        if room and picture:
            room -= 1
            made += [Made(clean("".join(texts)).strip("\n")), Made(picture=f"data:image/png;base64,{picture}")]
            texts = []
        else:
            texts.append(text)
    made.append(Made(clean("".join(texts)).strip("\n")))
    return tuple(one for one in made if one.picture or one.text)


def _picture_and_text(output: Mapping[str, Any]) -> tuple[str, str]:
    """The picture of an output, in base64, if a page can show it, and the text that stands for the output otherwise."""
    data = output.get("data")
    if not isinstance(data, Mapping):
        data = {}
    packed = "".join(str(data.get("image/png", "")).split())
    picture = packed if len(packed) <= LARGEST_PICTURE and _PACKED.fullmatch(packed) else ""
    if output.get("output_type") == "stream":
        return picture, str(output.get("text", ""))
    if not data:
        return picture, ""
    text = "[a picture]" if packed else data.get("text/plain", "")
    return picture, f"{text}\n"
