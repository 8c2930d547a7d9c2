"""From the bytes that were handed in to the notebook's cells, whatever happened to the file on its way.

``plain_cells`` reads a sound notebook. ``salvaged`` reads everything else, slowly: what is damaged or
hostile is read in a sealed worker (:mod:`nbproof.marking.marker`). Nothing of a file is ever run, and
of a cell only its text, its type and its ids are looked at.
"""

from __future__ import annotations

import html
import json
import re
import urllib.parse
from dataclasses import dataclass
from typing import Any

from nbproof.cells import name_of
from nbproof.recover.broken_json import CutDict, CutList, CutText, TooDeep, value_at, values_in
from nbproof.recover.conflicts import LEFT, has_marks, marks_into_cells, versions
from nbproof.recover.exported import ExportedCell, cells_of_page, cells_of_text
from nbproof.recover.unpacking import HAND_IN, Damaged, text_of, unwrapped

__all__ = ["SMALL", "Damaged", "ExportedCell", "Salvaged", "plain_cells", "salvaged"]

SMALL = 2 * 1024 * 1024
"""Bytes of a notebook that is parsed at home. JSON can take fifty times its size in memory."""

_MOST_CELLS = 5_000
_MOST_TEXT = 4_000_000
"""Cells, and characters of all of them, that are looked at."""
_DEEPEST = 4
"""Wrappers around a notebook: JSON in a string of JSON, a web page around it."""


@dataclass(frozen=True)
class Salvaged:
    """The cells of a file, and in words what was wrong with it; empty if nothing was."""

    cells: tuple[ExportedCell, ...]
    damage: str = ""


def plain_cells(data: bytes) -> list[ExportedCell] | None:
    """The cells of a sound notebook; None if the file is anything else."""
    try:
        notebook = json.loads(data)
    except (ValueError, RecursionError):
        return None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    return [found for cell in cells if (found := _cell(cell))] if isinstance(cells, list) and cells else None


def salvaged(data: bytes, lesson: str = "") -> Salvaged:
    """The cells of a file in whatever state. Raises Damaged if there are none; the text says what to do."""
    inner, notes = unwrapped(data, lesson)
    text, more = text_of(inner)
    try:
        cells, told = _cells(text, 0)
    except TooDeep:
        raise Damaged(f"it is JSON nested deeper than any notebook: {HAND_IN}") from None
    if not any(cell.source.strip() for cell in cells):
        raise Damaged(f"the notebook holds no cells with anything in them: save it, look at it, and {HAND_IN}")
    left, kept = _MOST_TEXT, []
    for cell in cells[:_MOST_CELLS]:
        left -= len(cell.source)
        if left < 0:
            told.append("the notebook holds more text than any notebook of this course, and was read in part")
            break
        kept.append(cell)
    return Salvaged(tuple(kept), "; ".join(dict.fromkeys([*notes, *more, *told])))


def _cells(text: str, depth: int) -> tuple[list[ExportedCell], list[str]]:
    text = text.strip("\ufeff \t\r\n\0")
    if depth > _DEEPEST:
        raise Damaged(f"it is wrapped too often to be a notebook: {HAND_IN}")
    if not text:
        raise Damaged(f"the file is empty: save the notebook, look at its size, and {HAND_IN}")
    sides = versions(text)
    if sides is not None:
        return _both(sides, depth)
    if has_marks(text) and '"cell_type"' in text:
        cells, told = _cells(marks_into_cells(text), depth + 1)
        return cells, [LEFT, *told]
    if re.match(r"%7B|%5B", text, re.IGNORECASE):
        cells, told = _cells(urllib.parse.unquote(text), depth + 1)
        return cells, ["the file was percent-encoded, as for a web address", *told]
    if "&quot;cell_type&quot;" in text and '"cell_type"' not in text:
        cells, told = _cells(html.unescape(text), depth + 1)
        return cells, ["the file was escaped as for a web page", *told]
    if re.match(r"[\[{]\s*[“”„‟]", text):
        straight = text.translate({ord(sign): '"' for sign in "“”„‟"} | {ord(sign): "'" for sign in "‘’‚‛"})
        cells, told = _cells(straight, depth + 1)
        return cells, ["a word processor had bent the file's quotation marks", *told]
    if text[0] == "<":
        cells, inside = cells_of_page(text)
        if inside:
            cells, told = _cells(inside, depth + 1)
            return cells, ["the file was a web page with the notebook's text in it", *told]
        return cells, ["the file was a web page made from the notebook"]
    if text[0] in "{[\"'" or '"cell_type"' in text:
        found = _cells_of_json(text, depth)
        if found is not None:
            return found
    if text[0] in "{[":
        raise Damaged(_what_json(text))
    return cells_of_text(text), ["the file was a script or text made from the notebook"]


def _both(sides: tuple[str, str], depth: int) -> tuple[list[ExportedCell], list[str]]:
    """The cells of the first version, and each of the second that differs directly after it."""
    ours, told = _cells(sides[0], depth + 1)
    theirs, _ = _cells(sides[1], depth + 1)
    known = {cell.source for cell in ours}
    extra = [cell for cell in theirs if cell.source not in known]
    return [*ours, *extra], ["git had left a conflict in the file: both versions were read, the first one first", *told]


def _cells_of_json(text: str, depth: int) -> tuple[list[ExportedCell], list[str]] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        pass
    else:
        return _notebook_in(value, depth)
    values = values_in(text)
    found = [one for value in values if (one := _notebook_in(value, depth))]
    if not found and '"cell_type"' in text and (scattered := _scattered(text)):
        found = [(scattered, ["only parts of the file could be read"])]
    if not found:
        return None
    cells = [cell for part, _ in found for cell in part]
    told = [line for _, notes in found for line in notes]
    if len(found) > 1:
        told.append(f"{len(found)} notebooks stood in the file, one after another")
    if any(isinstance(value, (CutDict, CutList)) for value in values):
        told.append(f"the file breaks off after {len(cells)} cells")
        # A cell that is not whole stands where it breaks off.
        cells += [ExportedCell(None, "", whole=False)] if not cells or cells[-1].whole else []
    return cells, told or ["the file was broken JSON, and was mended while reading"]


def _scattered(text: str) -> list[ExportedCell]:
    """The cells of a text whose beginning is lost: whatever object has a cell's type."""
    found: list[ExportedCell] = []
    position = 0
    while (at := text.find('"cell_type"', position)) >= 0 and len(found) < _MOST_CELLS:
        start, cell = at, None
        for _ in range(4):
            start = text.rfind("{", position, start)
            if start < 0:
                break
            value = value_at(text, start)
            cell = _cell(value) if isinstance(value, dict) and "cell_type" in value else None
            if cell is not None:
                found.append(cell)
                break
        position = at + 11
    return found


def _notebook_in(value: Any, depth: int) -> tuple[list[ExportedCell], list[str]] | None:
    """The cells of a notebook of any version, or of one that something was wrapped around."""
    if isinstance(value, str):
        return (_cells(value, depth + 1)[0], ["the notebook stood in a string of JSON"]) if "cell" in value else None
    if isinstance(value, list):
        if any(isinstance(one, dict) and "cell_type" in one for one in value):
            return [cell for one in value if (cell := _cell(one))], ["only the list of cells was handed in"]
        value = next((one for one in value[:20] if isinstance(one, dict)), None)
    if not isinstance(value, dict):
        return None
    cells = value.get("cells")
    if isinstance(cells, list):
        return [cell for one in cells if (cell := _cell(one))], []
    sheets = value.get("worksheets")
    if isinstance(sheets, list):
        inside = [one for sheet in sheets if isinstance(sheet, dict) for one in _listed(sheet.get("cells"))]
        return [cell for one in inside if (cell := _cell(one))], ["the notebook was in the format of ten years ago"]
    for key in ("content", "notebook", "data", "ipynb", "body"):
        inner = value.get(key)
        if isinstance(inner, (dict, str)) and (found := _notebook_in(inner, depth + 1) if depth < _DEEPEST else None):
            return found[0], ["something was wrapped around the notebook", *found[1]]
    return ([cell], []) if "cell_type" in value and (cell := _cell(value)) else None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _cell(cell: Any) -> ExportedCell | None:
    if not isinstance(cell, dict):
        return None
    source = cell.get("source", cell.get("input"))
    whole = not isinstance(source, (CutList, CutText)) and not (source is None and isinstance(cell, CutDict))
    if isinstance(source, list):
        whole = whole and not any(isinstance(part, CutText) for part in source)
        source = "".join(part for part in source if isinstance(part, str))
    if source is None and not whole:
        source = ""
    if not isinstance(source, str):
        return None
    kind = cell.get("cell_type")
    number = cell.get("id")
    # Half a surrogate pair goes into no file, a null byte through no compiler.
    text = str(source).replace("\0", "\ufffd").encode(errors="replace").decode()
    # A picture that was dropped into a text cell may be all that somebody has answered.
    attached = cell.get("attachments") if kind != "code" else None
    loose = [str(one)[:80] for one in attached if str(one) not in text][:20] if isinstance(attached, dict) else []
    text = "\n".join([text, *(ascii(f"![{one}](attachment:{one})")[1:-1] for one in loose)]) if loose else text
    return ExportedCell(
        name_of(cell) or None, text.replace("\r\n", "\n"),
        "code" if kind == "code" else "raw" if kind == "raw" else "markdown",
        number if isinstance(number, str) else "", whole,
    )  # fmt: skip


def _what_json(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return f"it is broken JSON without any cell of a notebook: save it in JupyterLab, and {HAND_IN}"
    if isinstance(value, dict) and ("url" in value or "doc_id" in value) and len(value) < 10:
        return f"it holds only a link to a file elsewhere: download the notebook, and {HAND_IN}"
    if isinstance(value, dict) and isinstance(value.get("cells"), list):
        return f"the notebook holds no cells: save it, look at it, and {HAND_IN}"
    return f"it is JSON, but not a notebook, for it holds no list of cells: {HAND_IN}"
