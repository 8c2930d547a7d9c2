"""A learner's code, text and what their cell made, as a page may show them: bounded, nothing invisible, no path of ours.

HTML is the template's business: it escapes everything. What is left is text that is long, that turns the
direction of reading, that stacks marks over its neighbours, or that tells where the grader lives.
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
"""What a terminal would obey: colours, links, titles."""
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
    """A learner's text, or a text that their code made, fit to be shown: at most ``most`` characters and a little."""
    return visible(course, shortened(text if isinstance(text, str) else str(text), most))


def visible(course: Course, text: str) -> str:
    """The text with everything in it to be seen: no control, nothing that turns or hides other text, no own path."""
    kept = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    # A progress bar writes over itself: what was written last is what one saw.
    kept = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in kept.split("\n"))
    kept = _STACKED.sub(r"\1", _INVISIBLE.sub(lambda sign: f"‹U+{ord(sign[0]):04X}›", kept))
    kept = _CELL_FILE.sub("your cell", kept)
    for folder in _own_folders(course):
        kept = kept.replace(folder, "…")
    # Half a surrogate pair, which no file takes, is written out.
    return _LIBRARY.sub("…/", kept).encode("utf-8", "backslashreplace").decode()


def shortened(text: str, most: int) -> str:
    """The beginning and the end of a long text, and of long lines the beginning, with a word on what is missing."""
    if len(text) > most:
        head, tail = text[: most * 2 // 3], text[len(text) - most // 3 :]
        # Whole lines, where that costs no more than a part of either.
        head = head[: head.rfind("\n") + 1] or head if "\n" in head[len(head) // 2 :] else head
        tail = tail[tail.find("\n") + 1 :] if "\n" in tail[: len(tail) // 2] else tail
        left_out = len(text) - len(head) - len(tail)
        text = f"{head.rstrip()}\n[… {left_out:,} characters left out …]\n{tail}"
    lines = text.split("\n")
    if max(map(len, lines)) > _LONGEST_LINE:
        lines = [
            line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} [… {len(line) - _LONGEST_LINE:,} more]"
            for line in lines
        ]
    return "\n".join(lines)


@cache
def _own_folders(course: Course) -> tuple[str, ...]:
    """The folders that hold the grader's Python, its packages and its course, and its home; the longest path first."""
    ours = {str(Path(__file__).resolve().parents[2]), str(course.root)}
    places = {sys.prefix, sys.base_prefix, sys.exec_prefix, os.getcwd(), *ours, os.path.expanduser("~")}
    return tuple(sorted((place for place in places if len(place) > 5), key=len, reverse=True))


LONGEST = 12_000
"""Characters of an answer that a page shows."""


def coloured(course: Course, source: str) -> Markup:
    """The source as HTML, everything escaped: in spans with the classes that Pygments has for what a word is."""
    from pygments import highlight  # type: ignore[import-untyped]
    from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
    from pygments.lexers import PythonLexer  # type: ignore[import-untyped]

    shown = harmless(course, without_blank_lines(source).strip("\n"), LONGEST)
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
    """Where in the learner's cell its error came from: ``line 2 of your cell: return a / 0``; empty if unknown."""
    errors = [output for output in outputs if output.get("output_type") == "error"]
    traceback = errors[-1].get("traceback") if errors else None
    if not isinstance(traceback, list):
        return ""
    lines = "\n".join(_ESCAPES.sub("", line) for line in traceback if isinstance(line, str))
    found = ""
    for number, below in _FRAME.findall(lines):
        arrow = _ARROW.search(below)
        # Python shows a line that it cannot read without an arrow.
        text = arrow[1].strip() if arrow else below.strip().partition("\n")[0].strip()
        found = f"line {number} of your cell: {text}" if text else f"line {number} of your cell"
    return found


_MOST_PICTURES = 4
LARGEST_PICTURE = 400_000
"""Characters of a picture in base64: a page goes by mail, and holds many."""
_PACKED = re.compile(r"[A-Za-z0-9+/]+=*")


@dataclass(frozen=True)
class Made:
    """One thing that a learner's cell made: a text, such as what a table looks like in print, or a picture."""

    text: str = ""
    picture: str = ""
    """A picture's address, which holds all of it."""


def made_in(outputs: Sequence[Mapping[str, Any]], clean: Callable[[str], str]) -> tuple[Made, ...]:
    """All that a cell made, in its order; texts that follow each other become one. ``clean`` makes a text fit to be shown.

    A worker's outputs were made harmless when they came (nbproof/sandbox/outputs.py): a picture is a plain PNG.
    """
    parts, room = [Made()], _MOST_PICTURES
    for output in outputs:
        data = output.get("data")
        data = data if isinstance(data, Mapping) else {}
        packed = "".join(str(data.get("image/png", "")).split())
        if room and len(packed) <= LARGEST_PICTURE and _PACKED.fullmatch(packed):
            room -= 1
            parts += [Made(picture=f"data:image/png;base64,{packed}"), Made()]
        elif output.get("output_type") == "stream":
            parts[-1] = Made(f"{parts[-1].text}{output.get('text', '')}")
        elif data:
            told = "[a picture]" if packed else data.get("text/plain", "")
            parts[-1] = Made(f"{parts[-1].text}{told}\n")
    shown = [one if one.picture else Made(clean(one.text).strip("\n")) for one in parts]
    return tuple(one for one in shown if one.picture or one.text)
