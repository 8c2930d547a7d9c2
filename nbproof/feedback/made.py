"""What a learner's cell made, for their page: texts, pictures and tables, in their order.

A worker's outputs were made harmless when they came (nbproof/sandbox/outputs.py): a picture is a plain PNG. Of a table
only its words are taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bs4 import BeautifulSoup

__all__ = ["Made", "made_in"]

_MOST_PICTURES = 4
_LARGEST = 400_000
"""Characters of a picture in base64: a page goes by mail, and holds many."""
_MOST_ROWS, _MOST_COLUMNS = 25, 12


@dataclass(frozen=True)
class Made:
    """One of these."""

    text: str = ""
    picture: str = ""
    """A picture's address, which holds all of it."""
    rows: tuple[tuple[str, ...], ...] = ()
    """Of a table, the first one its head."""


def made_in(outputs: Sequence[Mapping[str, Any]], clean: Callable[[str], str]) -> tuple[Made, ...]:
    """All of it; texts that follow each other are one. ``clean``: makes a text fit to be shown."""
    texts, made, pictures = list[str](), list[Made](), 0

    def end_of_text() -> None:
        if told := clean("".join(texts)).strip("\n"):
            made.append(Made(told))
        texts.clear()

    for output in outputs:
        data = _data_of(output)
        address, rows = _address(data), _rows(data, clean)
        if address and pictures < _MOST_PICTURES:
            end_of_text()
            made.append(Made(picture=address))
            pictures += 1
        elif rows:
            end_of_text()
            made.append(Made(rows=rows))
        elif output.get("output_type") == "stream":
            texts.append(str(output.get("text", "")))
        elif data:
            texts.append("[a picture]\n" if any(kind in data for kind in _KINDS) else f"{data.get('text/plain', '')}\n")
    end_of_text()
    return tuple(made)


_KINDS = ("image/png", "image/jpeg")
_PACKED = re.compile(r"[A-Za-z0-9+/]+=*")


def _data_of(output: Mapping[str, Any]) -> Mapping[str, Any]:
    data = output.get("data") if output.get("output_type") in ("display_data", "execute_result") else None
    return data if isinstance(data, Mapping) else {}


def _address(data: Mapping[str, Any]) -> str:
    kind = next((kind for kind in _KINDS if kind in data), "")
    packed = "".join(str(data[kind]).split()) if kind else ""
    return f"data:{kind};base64,{packed}" if len(packed) <= _LARGEST and _PACKED.fullmatch(packed) else ""


def _rows(data: Mapping[str, Any], clean: Callable[[str], str]) -> tuple[tuple[str, ...], ...]:
    html = str(data.get("text/html", ""))
    if "<tr" not in html:
        return ()
    page = BeautifulSoup(html, "html.parser")
    rows = [[cell.get_text() for cell in row.find_all(["td", "th"])] for row in page.find_all("tr")]
    rows = [row for row in rows if row]
    spans = page.find(colspan=True) or page.find(rowspan=True)
    if spans or not 2 <= len(rows) <= _MOST_ROWS or {*map(len, rows)} != {min(len(rows[0]), _MOST_COLUMNS)}:
        return ()
    return tuple(tuple(clean(cell.strip()) for cell in row) for row in rows)
