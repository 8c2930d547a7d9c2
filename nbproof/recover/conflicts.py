"""Marks that git leaves in a file which it could not merge: one version stands above ``=======``, the other below it.

Whoever mends that by hand forgets a mark. Where nothing but the first or the last mark of a conflict is left, the lines around
it are the version that was kept. Where both versions may stand in a TODO cell, a person has to look.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from nbproof.recover.exported import ExportedCell

__all__ = ["LEFT", "has_marks", "has_two_versions", "marks_into_cells", "versions", "without_lone_marks"]

LEFT = "git had left a mark of a conflict in the notebook, and its other half is gone"
"""What is said of a file with a mark that stands alone."""
_MARK = re.compile(r"^(<{7}|\|{7}|={7}|>{7})(?: .*)?\r?$", re.MULTILINE)
_STRING = re.compile(r'\s*(?:"source": \[|"(?:[^"\\]|\\.)*",?)\s*')
"""A line within the text of a cell, as notebooks on the disk have it, or the line above the first one."""


def _signs(text: str) -> set[str]:
    return {found[1][0] for found in _MARK.finditer(text)} if "<<<<<<<" in text or ">>>>>>>" in text else set()


def has_marks(source: str) -> bool:
    """Whether a cell holds a mark; seven equals signs alone may underline a title."""
    return bool(_signs(source) & {"<", ">"})


def has_two_versions(source: str) -> bool:
    """Whether both versions of a conflict may stand in a cell."""
    return has_marks(source) and "=" in _signs(source)


def versions(text: str) -> tuple[str, str] | None:
    """The two versions of a file in which git has left a conflict; None if it has not."""
    if not {"<", "=", ">"} <= _signs(text):
        return None
    ours: list[str] = []
    theirs: list[str] = []
    state = ""
    for line in text.splitlines(keepends=True):
        mark = _MARK.fullmatch(line.rstrip("\n"))
        if mark is not None:
            state = {"<": "ours", "|": "base", "=": "theirs", ">": ""}[mark[1][0]]
            continue
        if state in ("", "ours"):
            ours.append(line)
        if state in ("", "theirs"):
            theirs.append(line)
    return "".join(ours), "".join(theirs)


def marks_into_cells(text: str) -> str:
    """The text of a notebook with each mark as a line of the cell that it stands in; what stands in none is left out."""
    kept: list[str] = []
    for line in text.splitlines():
        mark = _MARK.fullmatch(line)
        if mark is None:
            kept.append(line)
        elif kept and _STRING.fullmatch(kept[-1]):
            kept.append(f'"\\n{mark[1]}\\n",')
    return "\n".join(kept)


def without_lone_marks(cells: Sequence[ExportedCell]) -> tuple[tuple[ExportedCell, ...], str]:
    """The cells without marks that stand alone in one, and what is to be said of that."""
    mended = tuple(
        cell._replace(source=_MARK.sub("", cell.source).strip("\n")) if _is_lone(cell) else cell for cell in cells
    )
    return mended, LEFT if mended != tuple(cells) else ""


def _is_lone(cell: ExportedCell) -> bool:
    return has_marks(cell.source) and not has_two_versions(cell.source)
