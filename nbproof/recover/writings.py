"""What people wrote in a notebook outside of the cells that are made for it: text that is not the handout's own.

New text cells, lines added to the lesson's text, comments and strings long enough to be more than a remark about code.
Lines are compared without white space and signs, in any script. Nothing is run, nothing parsed: time grows with length.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from nbproof.recover.exported import ExportedCell
from nbproof.recover.lexer import tokens
from nbproof.recover.released import Handout

__all__ = ["MOST", "Writing", "new_text", "place_of", "squashed", "weight", "without_half_a_line", "writings"]

MOST = 600_000
"""Characters of a notebook that are looked through."""
_COMMENT, _STRING, _SAID, _ALONE = 15, 25, 5, 1
"""Words that make an answer of comments in a row, of a string, of either where it says that it is one, and of what stands
alone. The longest comments and docstrings of right answers to this course's exercises have 14 and 20."""
_SAYS = re.compile(r"\b(?:my answer|own words|written answer|answer ?:|explanation|explain_\w+)", re.IGNORECASE)
_SIGNS = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W\d_]+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u3400-\u9fff\uf900-\ufaff]")
"""Letters of scripts that put no space between words: two of them count as a word."""
_LIKE_CODE = re.compile(
    r"\s*(?:(?:async )?def \w+ ?\(|class \w+|import \w|from [\w.]+ import|return\b|for .+ in .+:$|(?:if|while|with) .+:$|"
    r"[\w.\[\], ]+ ?[-+*/]?= ?\S|[\w.]+\(.*\)$|@\w|[%!]\w|[-=*#~_]+$)"
)
_SHOWS = frozenset({"print", "display", "Markdown", "Latex", "HTML", "answer", "IPython", "import", "from"})
_TEXT_MAGIC = re.compile(r"%%(?:markdown|html|latex|writefile|script|bash)\b.*\n?")


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


@dataclass(frozen=True)
class _Own:
    """The handout's own words."""

    lines: frozenset[str]
    runs: dict[tuple[str, ...], tuple[int, ...]]
    """three words in a row -> the released cells that hold them"""
    places: dict[str, tuple[int, ...]]
    """line -> the released cells that hold it"""
    counts: tuple[int, ...]
    whole: dict[str, int]
    """all of a released text -> its place"""
    texts: frozenset[str]


def squashed(text: str) -> str:
    """Letters and digits of any script; where there are none, whatever can be seen and is not ASCII."""
    return _SIGNS.sub("", text).casefold() or "".join(sign for sign in text if sign > "\x7f" and not sign.isspace())


@lru_cache(maxsize=32)
def _own(handout: Handout) -> _Own:
    places: dict[str, list[int]] = {}
    runs: dict[tuple[str, ...], list[int]] = {}
    counts = []
    for place, cell in enumerate(handout.cells):
        keys = {key for line in cell.source.splitlines() if (key := squashed(line))}
        counts.append(len(keys))
        for key in keys:
            places.setdefault(key, []).append(place)
        for run in set(_runs(_words(cell.source))):
            runs.setdefault(run, []).append(place)
    whole = {squashed(cell.source): place for place, cell in enumerate(handout.cells)}
    fixed = {key: tuple(found) for key, found in places.items()}
    texts = frozenset(cell.source for cell in handout.cells)
    spoken = {run: tuple(found) for run, found in runs.items()}
    return _Own(frozenset(places), spoken, fixed, tuple(counts), whole, texts)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in re.findall(r"[^\W_]+", text)]


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(words, words[1:], words[2:], strict=False)


def place_of(handout: Handout, cell: ExportedCell) -> int | None:
    """The released cell that this is, by its id or its whole text, or because it holds half of the lines of one."""
    own = _own(handout)
    if cell.name:
        named = next((place for place, one in enumerate(handout.cells) if one.name == cell.name), None)
        if named is not None:
            return named
    exact = own.whole.get(squashed(cell.source))
    if exact is not None and squashed(cell.source):
        return exact
    votes = Counter(place for key in _keys(cell.source) for place in own.places.get(key, ()))
    best = max(votes, key=lambda place: votes[place] / own.counts[place], default=None)
    return best if best is not None and 2 * votes[best] >= own.counts[best] else None


def _keys(text: str) -> set[str]:
    return {key for line in text.splitlines() if (key := squashed(line))}


def without_half_a_line(handout: Handout, cells: Sequence[ExportedCell]) -> list[ExportedCell]:
    """The cells of a file that breaks off: without a last line that is the beginning of one of the handout's."""
    *rest, last = cells
    above, _, line = last.source.rpartition("\n")
    begun = squashed(line) and any(one.startswith(squashed(line)) for one in _own(handout).lines)
    return [*rest, last._replace(source=above) if begun else last]


def new_text(handout: Handout, text: str, closely: bool = False) -> list[str]:
    """The lines that are not the handout's. A slip mended in one of its lines is nothing new, unless looked at ``closely``."""
    own, found = _own(handout), []
    for line in text.splitlines():
        key = squashed(line)
        if not key or key in own.lines:
            continue
        words = _words(line)
        known = _known(own, words)
        new = len(words) - known
        if not new and len(words) >= 3:
            continue
        if not closely and known >= 6 and new <= 2:
            continue
        found.append(_behind(own, line) if closely else line)
    return found


def _known(own: _Own, words: Sequence[str]) -> int:
    """How many of these words stand, three in a row at least, in the one released cell that holds most of them."""
    known: dict[int, set[int]] = {}
    for at, run in enumerate(_runs(words)):
        for place in own.runs.get(run, ()):
            known.setdefault(place, set()).update((at, at + 1, at + 2))
    return max(map(len, known.values()), default=0)


def _behind(own: _Own, line: str) -> str:
    """What was typed behind a sentence of the handout, on the same line."""
    for end in range(len(line) - 1, 0, -1):
        if line[end - 1] in ".?!:" and squashed(line[:end]) in own.lines and line[end:].strip():
            return line[end:].strip()
    return line


def writings(handout: Handout, cells: Sequence[ExportedCell]) -> list[Writing]:
    """All that people may have written, cell by cell; texts in the cells for written answers are left out."""
    kinds = {cell.name: cell.kind for cell in handout.cells if cell.name}
    own = _own(handout)
    asking = {at - 1 for at, cell in enumerate(handout.cells) if cell.kind == "written"}
    found: list[Writing] = []
    left = MOST
    for at, cell in enumerate(cells):
        left -= len(cell.source)
        if left < 0:
            break
        if kinds.get(cell.name or "") == "written" or not cell.source.strip() or cell.source in own.texts:
            continue
        if cell.kind == "code":
            found += [Writing(at, text, "code") for text in _in_code(handout, cell, cell.name in kinds)]
        elif (kept := _in_text(handout, cell, at, asking)) is not None:
            found.append(kept)
    return found


def _in_text(handout: Handout, cell: ExportedCell, at: int, asking: set[int]) -> Writing | None:
    place = place_of(handout, cell)
    lines = new_text(handout, cell.source, place in asking)
    if not lines:
        # A picture or a rule has no words; only a picture says something.
        pictured = place is None and re.search(r"!\[|<img|https?://", cell.source)
        return Writing(at, cell.source, "cell") if pictured else None
    if place is None:
        return Writing(at, cell.source, "cell")
    return Writing(at, "\n".join(lines), "added", place)


def weight(text: str) -> float:
    """How many words there are, lines that look like code left out."""
    total = 0.0
    for line in text.splitlines():
        if not _LIKE_CODE.match(line):
            unspaced = len(_UNSPACED.findall(line))
            total += unspaced / 2 + len(_WORD.findall(_UNSPACED.sub(" ", line)))
    return total


def _in_code(handout: Handout, cell: ExportedCell, ours: bool) -> list[str]:
    """Comments and strings of a code cell that are long enough, and prose that was typed into it as it is."""
    source, own = cell.source, _own(handout)
    if squashed(source) in own.whole:
        return []
    magic = _TEXT_MAGIC.match(source.lstrip())
    if magic:
        rest = source.lstrip()[magic.end() :]
        return [rest] if new_text(handout, rest) else []
    remarks, code, typed = _taken_apart(source, own)
    if typed:
        return [source if not ours else "\n".join(typed)]
    # A cell of remarks alone, or what was written into a TODO cell in place of code.
    alone = code <= 1
    found = []
    for kind, text in remarks:
        lines = new_text(handout, text)
        most = weight("\n".join(lines))
        least = _ALONE if alone and kind == "comment" and not ours else _SAID if alone or _SAYS.search(text) else (
            _COMMENT if kind == "comment" else _STRING
        )  # fmt: skip
        if most >= least:
            found.append("\n".join(line.rstrip() for line in lines))
    return found


def _taken_apart(source: str, own: _Own) -> tuple[list[tuple[str, str]], int, list[str]]:
    """Comments in a row and strings; how many names the code beside them has; lines that are prose and no Python.

    Of two names beside each other with nothing in between one is a keyword, where the text is Python.
    """
    remarks: list[tuple[str, str]] = []
    names, pairs = 0, Counter[int]()
    line, before, row = 0, "", False
    theirs = [bool(key := squashed(text)) and key not in own.lines for text in source.splitlines()] + [False]
    spoken: Counter[int] = Counter()
    magic = [text.lstrip()[:1] in ("%", "!") for text in source.splitlines()] + [False]
    for kind, text in tokens(source):
        if kind == "comment":
            said = text.lstrip("#").strip()
            if row and remarks:
                remarks[-1] = ("comment", remarks[-1][1] + "\n" + said)
            else:
                remarks.append(("comment", said))
            row = True
        elif kind not in ("space", "newline"):
            row = False
        if kind == "string":
            remarks.append(("string", text.strip("rbufRBUF").strip("\"'")))
        elif kind == "name" and theirs[min(line, len(theirs) - 1)] and not magic[min(line, len(theirs) - 1)]:
            plain = not keyword.iskeyword(text) and not keyword.issoftkeyword(text)
            spoken[line] += plain
            if plain and before == "name":
                pairs[line] += 1
            if len(_UNSPACED.findall(text)) >= 6:
                pairs[line] += 3
            names += plain and text not in _SHOWS
            before = "name" if plain else ""
        if kind not in ("space", "name"):
            before = ""
        line += text.count("\n")
    lines = source.splitlines()
    typed = [lines[at] for at in sorted(pairs) if at < len(lines) and pairs[at] >= min(2, spoken[at] - 1)]
    return remarks, names, typed if sum(pairs.values()) >= 3 else []
