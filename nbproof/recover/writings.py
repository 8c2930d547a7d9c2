"""What people wrote outside of the cells for written answers. If such a cell is blank or gone, they are shown in its place.

Text cells, lines added to the lesson's text, and prose among code. Nothing is run, nothing parsed. Who reads written answers
decides what counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from nbproof.cells import CellKind
from nbproof.recover.matching import bare
from nbproof.recover.notebook_bytes import ExportedCell
from nbproof.recover.released import Handout

__all__ = ["bring"]

_PROSE = re.compile(
    r"(?<!\w)(?:[^\W\d_]{1,40}[ \t,.;:'’!?()-]{1,3}){14}[^\W\d_]"
    r"|(?:[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u3400-\u9fff\uf900-\ufaff]){8}"
)
"""Fifteen words in a row, or eight letters of scripts that put no space between words."""
_LONGEST = 16_000
"""Characters that are brought for one question. Pages show 20,000."""
_UNDECIDED = "[Nothing stood in the cell for this answer, or it is gone. A person decides what counts.]"


def bring(
    handout: Handout, cells: Sequence[ExportedCell], places: Sequence[int | None], answers: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """For each question whose answer may stand elsewhere, or goes on there: what is to be marked in its place, and in a
    sentence for the learner where it stood.
    """
    found = _texts(handout, cells, places) if handout.written else {}
    brought = {}
    for name, stub in handout.written.items():
        blank = answers[name].strip() in ("", stub.strip())
        beside = {at + step for at, cell in enumerate(cells) for step in (-1, 1) if cell.name == name}
        texts = {at: text for at, text in found.items() if blank or (at in beside and cells[at].kind != "code")}
        if texts:
            where = f"cell {', '.join(str(at + 1) for at in list(texts)[:5])} of {len(cells)}"
            told = f"More text stood in {where}. It is shown below your answer."
            if blank:
                told = f"Nothing stood in the cell for it. What may be the answer stands in {where}: a person looks."
            brought[name] = (_listed(_UNDECIDED if blank else answers[name], texts), told)
    return brought


def _texts(handout: Handout, cells: Sequence[ExportedCell], places: Sequence[int | None]) -> dict[int, str]:
    """Cell -> what a person may have written in it that was not handed out: text, comments alone, or many words."""
    given = {bare(line) for cell in handout.cells for line in cell.source.splitlines()} | {""}
    found = {}
    for at, (cell, place) in enumerate(zip(cells, places, strict=True)):
        kind = None if place is None else handout.cells[place].kind
        # Where the file breaks off stands half a line, as likely as not of the handout.
        if kind in (CellKind.WRITTEN, CellKind.ANSWER) or not cell.whole:
            continue
        lines = [line for line in cell.source.splitlines() if bare(line) not in given]
        text = "\n".join(lines)
        comments = kind is None and all(line.lstrip().startswith("#") for line in lines)
        if lines and (cell.kind != "code" or comments or _PROSE.search(re.sub(r"\n\s*#+", " ", text))):
            found[at] = text
    return found


def _listed(head: str, texts: Mapping[int, str]) -> str:
    """The texts, each below its place, as far as they are shown."""
    whole = "\n\n".join([head, *(f"[cell {at + 1}]\n{text}" for at, text in texts.items())])
    return whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST]}\n\n[more in the submitted notebook]"
