"""What people wrote outside of the cells for written answers. If such a cell is blank or gone, they are shown in its place.

Text cells, lines added to the lesson's text, and prose among code. Lines are compared without white space and signs, in any
script; nothing is run, nothing parsed. Who reads written answers decides what counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from nbproof.cells import CellKind
from nbproof.recover.matching import placed, squashed
from nbproof.recover.notebook_bytes import ExportedCell
from nbproof.recover.released import Handout

__all__ = ["MOST", "FoundElsewhere", "bring"]

MOST = 600_000
"""Characters of a notebook that are looked through."""
_PROSE = re.compile(
    r"(?<!\w)(?:[^\W\d_]{1,40}[ \t,.;:'’!?()-]{1,3}){14}[^\W\d_]"
    r"|(?:[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u3400-\u9fff\uf900-\ufaff]){8}"
)
"""Fifteen words in a row, or eight letters of scripts that put no space between words: the longest comments of right answers
to this course's exercises have 14."""
_MOST_TEXTS, _LONGEST_TEXT, _LONGEST = 12, 4_000, 16_000
"""Texts that are brought for one question, and characters of each and of all. Pages show 20,000."""
_UNDECIDED = "[Nothing stood in the cell for this answer, or it is gone. A person decides what counts.]"
_MORE = "[Beside the cell for this answer stood more text.]"


@dataclass(frozen=True)
class FoundElsewhere:
    """What is to be marked, and in a sentence for the learner where it stood."""

    text: str
    told: str


def bring(handout: Handout, cells: Sequence[ExportedCell], answers: Mapping[str, str]) -> dict[str, FoundElsewhere]:
    """For each question whose answer may stand elsewhere, or goes on there: what is to be marked in its place."""
    found = _texts(handout, cells) if handout.written else {}
    brought = {}
    for name, stub in handout.written.items():
        answer = answers.get(name, "")
        blank = answer.strip() in ("", stub.strip())
        beside = {at + step for at, cell in enumerate(cells) for step in (-1, 1) if cell.name == name}
        texts = {at: text for at, text in found.items() if blank or (at in beside and cells[at].kind != "code")}
        if not texts:
            continue
        numbers = ", ".join(str(at + 1) for at in list(texts)[:_MOST_TEXTS])
        where = f"cell{'s' if len(texts) > 1 else ''} {numbers} of {len(cells)}"
        if blank:
            told = f"Nothing stood in the cell for it, or it is gone. What may be the answer stands in {where}: a person looks."
            brought[name] = FoundElsewhere(_listed(_UNDECIDED, texts), told)
        else:
            told = f"More text stood in {where}. It is shown below your answer."
            brought[name] = FoundElsewhere(f"{answer}\n\n{_listed(_MORE, texts)}", told)
    return brought


@lru_cache(maxsize=32)
def _given(handout: Handout) -> frozenset[str]:
    """The lines of the handout."""
    return frozenset(squashed(line) for cell in handout.cells for line in cell.source.splitlines())


def _texts(handout: Handout, cells: Sequence[ExportedCell]) -> dict[int, str]:
    """Cell -> what a person may have written in it that was not handed out."""
    given = _given(handout)
    found = {}
    left = MOST
    for at, (cell, place) in enumerate(zip(cells, placed(handout, cells), strict=True)):
        left -= len(cell.source)
        if left < 0:
            break
        kind = None if place is None else handout.cells[place].kind
        # Where the file breaks off stands half a line, as likely as not of the handout.
        if kind is CellKind.WRITTEN or not cell.whole:
            continue
        lines = [line for line in cell.source.splitlines() if squashed(line) and squashed(line) not in given]
        if lines and (_is_written(cell, kind, lines) if cell.kind == "code" else kind is not CellKind.ANSWER):
            found[at] = "\n".join(lines) if cell.kind == "code" or kind is not None else cell.source
    return found


def _is_written(cell: ExportedCell, kind: CellKind | None, lines: Sequence[str]) -> bool:
    """Whether these lines of a code cell are prose: comments alone, or many words. Of an answer only its comments are read."""
    if kind is None and all(line.lstrip().startswith("#") for line in lines):
        return True
    text = "\n".join(lines)
    if kind is CellKind.ANSWER:
        return _PROSE.search(" ".join(re.findall(r"#(.*)", text))) is not None
    return _PROSE.search(re.sub(r"\n\s*#+", " ", text)) is not None


def _listed(head: str, texts: Mapping[int, str]) -> str:
    """The texts, each below its place, as far as they are shown."""
    parts = [f"[cell {at + 1}]\n{text[:_LONGEST_TEXT]}" for at, text in list(texts.items())[:_MOST_TEXTS]]
    shown = "\n\n".join([head, *parts])[:_LONGEST]
    cut = len(texts) > _MOST_TEXTS or sum(map(len, texts.values())) > len(shown)
    return f"{shown}\n\n[more in the submitted notebook]" if cut else shown
