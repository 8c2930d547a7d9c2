"""What people wrote in a notebook outside of the cells that are made for it: text that is not the handout's own.

New text cells, lines added to the lesson's text, comments and strings long enough to be more than a remark about code.
Lines are compared without white space and signs, in any script. Nothing is run, nothing parsed: time grows with length.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from nbproof.cells import CellKind
from nbproof.recover.exported import ExportedCell
from nbproof.recover.lexer import tokens
from nbproof.recover.matching import placed, squashed
from nbproof.recover.released import Handout

__all__ = ["MOST", "Writing", "weight", "writings"]

MOST = 600_000
"""Characters of a notebook that are looked through."""
_COMMENT, _STRING, _SAID, _ALONE = 15, 25, 5, 1
"""Words that make an answer of comments in a row, of a string, of either if it says that it is one, and of what stands
alone. The longest comments and docstrings of right answers to this course's exercises have 14 and 20."""
_SAYS = re.compile(r"\b(?:my answer|own words|written answer|answer ?:|explanation|explain_\w+)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u3400-\u9fff\uf900-\ufaff]")
"""Letters of scripts that put no space between words: two of them count as a word."""
_LIKE_CODE = re.compile(
    r"\s*(?:(?:async )?def \w+ ?\(|class \w+|import \w|from [\w.]+ import|return\b|for .+ in .+:$|(?:if|while|with) .+:$|"
    r"[\w.\[\], ]+ ?[-+*/]?= ?\S|[\w.]+\(.*\)$|@\w|[%!]\w|[-=*#~_]+$)"
)
_SHOWS = frozenset({"print", "display", "Markdown", "Latex", "HTML", "answer", "IPython"})
_TEXT_MAGIC = re.compile(r"\s*%%(?:markdown|html|latex|writefile|script|bash)\b.*\n?")
_PAIR = re.compile(r"(?=(?<!\w)([^\W\d]\w*)[ \t]+([^\W\d]\w*))")
_TYPED = 3
"""Pairs of names beside each other that make prose of a code cell, and a third of the letters of :data:`_UNSPACED` that do."""


@dataclass(frozen=True)
class Writing:
    """A text, and where it stood."""

    at: int
    """The number of its cell in the submission."""
    text: str
    kind: str
    """cell: a text cell of its own; added: to a text of the handout; code: among code"""
    place: int | None = None
    """The released cell that it was added to."""


@lru_cache(maxsize=32)
def _given(handout: Handout) -> frozenset[str]:
    """The lines of the handout, also as a page shows them, without addresses, and what is a remark in them."""
    lines = [line for cell in handout.cells for line in cell.source.splitlines()]
    others = (other for line in lines for other in (re.sub(r"\]\([^)]*\)", "", line), line.partition("#")[2]))
    return frozenset(map(squashed, (*lines, *others)))


def _new_lines(handout: Handout, text: str) -> list[str]:
    """The lines that are not the handout's."""
    given = _given(handout)
    return [line for line in text.splitlines() if squashed(line) and squashed(line) not in given]


def writings(handout: Handout, cells: Sequence[ExportedCell]) -> list[Writing]:
    """All that people may have written, cell by cell; texts in the cells for written answers are left out."""
    kinds = {cell.name: cell.kind for cell in handout.cells if cell.name}
    given = {cell.source for cell in handout.cells}
    found: list[Writing] = []
    left = MOST
    for at, (cell, place) in enumerate(zip(cells, placed(handout, cells), strict=True)):
        left -= len(cell.source)
        if left < 0:
            break
        if kinds.get(cell.name or "") is CellKind.WRITTEN or not cell.source.strip() or cell.source in given:
            continue
        # Where the file breaks off stands half a line, as likely as not of the handout.
        source = cell.source if cell.whole else cell.source.rpartition("\n")[0]
        if cell.kind == "code":
            found += [Writing(at, text, "code") for text in _in_code(handout, source, cell.name in kinds)]
            continue
        lines = _new_lines(handout, source)
        if place is not None and lines:
            found.append(Writing(at, "\n".join(lines), "added", place))
        elif place is None and (lines or re.search(r"!\[|<img|https?://", cell.source)):
            # A picture or a rule has no words; only a picture says something.
            found.append(Writing(at, source, "cell"))
    return found


def weight(text: str) -> float:
    """How many words there are, lines that look like code left out."""
    total = 0.0
    for line in text.splitlines():
        if not _LIKE_CODE.match(line):
            unspaced = len(_UNSPACED.findall(line))
            total += unspaced / 2 + len(_WORD.findall(_UNSPACED.sub(" ", line)))
    return total


def _in_code(handout: Handout, source: str, ours: bool) -> list[str]:
    """Comments and strings of a code cell that are long enough, and prose that was typed into it as it is."""
    if magic := _TEXT_MAGIC.match(source):
        return [source[magic.end() :]] if _new_lines(handout, source[magic.end() :]) else []
    given = _given(handout)
    new = [squashed(line) not in given for line in source.split("\n")]
    remarks: list[tuple[str, str]] = []
    code, row = "", False
    for kind, text in tokens(source):
        remark = kind in ("comment", "string")
        if kind == "comment" and row:
            remarks[-1] = ("comment", f"{remarks[-1][1]}\n{text.lstrip('#').strip()}")
        elif remark and any(new[code.count("\n") :][: text.count("\n") + 1]):
            remarks.append((kind, text.lstrip("#rbufRBUF").strip("\"' ")))
        row = bool(remarks) and (kind == "comment" or (row and kind in ("space", "newline")))
        code += " . " + "\n" * text.count("\n") if remark else text
    lines = [line for at, line in enumerate(code.split("\n")) if new[at] and not line.lstrip().startswith(("%", "!"))]
    pairs = [pair for line in lines for pair in _PAIR.findall(line) if not any(map(_is_keyword, pair))]
    if len(pairs) >= _TYPED or sum(len(_UNSPACED.findall(line)) for line in lines) >= 3 * _TYPED:
        return [source if not ours else "\n".join(line for line in lines if weight(line))]
    # A cell of remarks alone, or what was written into a TODO cell in place of code.
    names = [
        name for name in re.findall(r"[^\W\d]\w*", "\n".join(lines)) if not _is_keyword(name) and name not in _SHOWS
    ]
    alone, found = len(names) <= 1, []
    for kind, text in remarks:
        said = "\n".join(line.rstrip() for line in _new_lines(handout, text))
        least = _COMMENT if kind == "comment" else _STRING
        if alone or _SAYS.search(text):
            least = _ALONE if alone and kind == "comment" and not ours else _SAID
        if weight(said) >= least:
            found.append(said)
    return found


def _is_keyword(name: str) -> bool:
    return keyword.iskeyword(name) or keyword.issoftkeyword(name)
