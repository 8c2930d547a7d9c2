"""What people wrote in a notebook outside of the cells that are made for it, and which of it is a written answer.

New text cells, lines added to the lesson's text, comments and strings long enough to be more than a remark about code.
Lines are compared without white space and signs, in any script. Nothing is run, nothing parsed: time grows with length.

A written answer that does not stand in its cell is found, brought with its place, and left to a person. What stands right
beside the cell, and nothing else does, is taken as the answer. All that is less certain is brought as it is, below a line
that says so, in place of the answer: then it is not blank, and waits for a person.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from nbproof.cells import CellKind
from nbproof.recover.matching import placed, squashed
from nbproof.recover.notebook_bytes import ExportedCell
from nbproof.recover.pieces import tokens
from nbproof.recover.released import Handout

__all__ = ["MOST", "FoundElsewhere", "Writing", "bring", "may_stand_elsewhere", "weight", "writings"]


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


_MOST_TEXTS, _LONGEST_TEXT, _LONGEST = 12, 4_000, 16_000
"""Texts that are brought for one question, and characters of each and of all. Pages show 20,000."""
_NOTE = 5
"""Words added to a question that is answered in its place, from which on they may be a part of the answer."""
_UNDECIDED = "[{} {} A person decides what counts.]"
_MORE = "[Beside the cell for this answer stood more text.]"


@dataclass(frozen=True)
class FoundElsewhere:
    """A written answer that was found, and in a sentence for the learner where."""

    text: str
    told: str


@dataclass(frozen=True)
class _Looked:
    """A notebook, and where the cell for an answer stands in it."""

    handout: Handout
    cells: Sequence[ExportedCell]
    name: str

    @cached_property
    def places(self) -> list[int | None]:
        """The released cell that each one is."""
        return placed(self.handout, self.cells)

    @cached_property
    def place(self) -> int:
        """The released cell for the answer; the question stands above it."""
        return next(at for at, cell in enumerate(self.handout.cells) if cell.name == self.name)

    @cached_property
    def here(self) -> int | None:
        """Where the cell for the answer stands, or if it is gone its question; None if that is gone as well."""
        found = (self.places.index(place) for place in (self.place, self.place - 1) if place in self.places)
        return next(found, None)

    @property
    def lacks(self) -> str:
        """What became of the cell for the answer, in a sentence."""
        if self.place in self.places:
            return "Nothing stood in the cell for it."
        return "The cell for it is gone, or has lost its id."

    def beside(self, found: Sequence[Writing]) -> list[Writing]:
        """New text cells directly above and below the cell for the answer, and what was added to its question."""
        near = [one for one in found if one.kind == "added" and one.place == self.place - 1]
        own = {one.at: one for one in found if one.kind == "cell"}
        for step in (-1, 1) if self.here is not None else ():
            at = (self.here or 0) + step
            while 0 <= at < len(self.cells) and (at in own or not self.cells[at].source.strip()):
                near += [own[at]] if at in own else []
                at += step
        return sorted(near, key=lambda one: one.at)

    def side(self, one: Writing) -> str:
        """On which side of the cell it stood."""
        return "added" if one.kind == "added" else "above" if self.here is not None and one.at < self.here else "below"

    def where(self, one: Writing) -> str:
        """Where it stood, in words that hold nothing of what a learner has written."""
        number = f"cell {one.at + 1} of {len(self.cells)}"
        if one.kind == "added":
            return f"in the text of the lesson, below its own words ({number})"
        if one.kind == "code" and self.cells[one.at].name in self.handout.stubs:
            return f"in the TODO cell `{self.cells[one.at].name}` ({number})"
        what = "a new text cell" if one.kind == "cell" else "a code cell"
        here = one.at if self.here is None else self.here
        if here != one.at and not any(self.places[min(here, one.at) + 1 : max(here, one.at)]):
            beside = "the cell for the answer" if self.place in self.places else "the question"
            return f"in {what} directly {self.side(one)} {beside} ({number})"
        return f"in {what} ({number})"


def may_stand_elsewhere(handout: Handout, cells: Sequence[ExportedCell], answers: Mapping[str, str]) -> bool:
    """Whether a sound notebook has to be searched, because an answer may stand outside of the cell that is made for it."""
    if sum(len(cell.source) for cell in cells) > MOST:
        return True
    found = writings(handout, cells) if handout.written else []
    if any(_is_blank(answers.get(name, ""), stub) for name, stub in handout.written.items()):
        return bool(found) or len(handout.written) > 1
    return bool(found) and any(_more(_Looked(handout, cells, name).beside(found)) for name in handout.written)


def bring(handout: Handout, cells: Sequence[ExportedCell], answers: Mapping[str, str]) -> dict[str, FoundElsewhere]:
    """For each question whose answer stands elsewhere, or may do so: what is to be marked in its place."""
    taken = {squashed(text) for text in answers.values()} - {squashed(stub) for stub in handout.written.values()}
    found = [one for one in writings(handout, cells) if squashed(one.text) not in taken] if handout.written else []
    brought = {}
    for name, stub in handout.written.items():
        text, looked = answers.get(name, ""), _Looked(handout, cells, name)
        near = looked.beside(found)
        if not _is_blank(text, stub):
            if near := _more(near):
                rest = [(looked.where(one), one.text) for one in near[:_MOST_TEXTS]]
                places = ", and ".join(dict.fromkeys(place for place, _ in rest))
                told = f"More text stood {places}. It is shown below your answer."
                brought[name] = FoundElsewhere(f"{text}\n\n{_listed(_MORE, rest, len(near))}", told)
        elif len({looked.side(one) for one in near}) == 1:
            told = f"{looked.lacks} The text stood {looked.where(near[0])}, and was taken as the answer."
            brought[name] = FoundElsewhere("\n\n".join(one.text for one in near), told)
        else:
            first = looked.here or 0
            order = sorted(found, key=lambda one: (one not in near, one.kind == "code", abs(one.at - first)))
            all_ = [(looked.where(one), one.text) for one in order[:_MOST_TEXTS]]
            all_ += [
                ("in the cell for another written answer", other) for one, other in answers.items()
                if one in handout.written and one != name and not _is_blank(other, handout.written[one])
                and re.search(r"\S[^\S\n]*\n\s*\n\s*\S", other)
            ]  # fmt: skip
            if all_:
                total = max(len(order), len(all_))
                count = "A text elsewhere" if total == 1 else f"{total} texts elsewhere"
                may = f"{count} in the notebook may be meant as the answer."
                told = f"{looked.lacks} {may} A person looks at {'it' if total == 1 else 'them'}."
                brought[name] = FoundElsewhere(
                    _listed(_UNDECIDED.format(looked.lacks.replace("for it", "for this answer"), may), all_, total),
                    told,
                )
    return brought


def _is_blank(text: str, stub: str) -> bool:
    return text.strip() in ("", stub.strip())


def _more(near: Sequence[Writing]) -> list[Writing]:
    """What may go on with an answer that is there: a word or two added to the question are a note."""
    return [one for one in near if one.kind == "cell" or weight(one.text) >= _NOTE]


def _listed(head: str, texts: Sequence[tuple[str, str]], total: int) -> str:
    """The texts, each below its place; how many there are in all."""
    parts, left = [head], _LONGEST
    for number, (place, text) in enumerate(texts, 1):
        shown = text.strip("\n")[: min(_LONGEST_TEXT, left)]
        left -= len(shown)
        cut = "" if len(shown) == len(text.strip("\n")) else "\n[the rest is in the submitted notebook]"
        parts.append(f"[{number}: {place}]\n{shown}{cut}")
        if left <= 0:
            break
    more = total - (len(parts) - 1)
    return "\n\n".join([*parts, *([f"[{more} more in the submitted notebook]"] if more else [])])
