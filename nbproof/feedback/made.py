"""What a learner's cell made, for their page: texts, pictures and tables, in their order.

A worker's outputs were made harmless when they came (nbproof/sandbox/outputs.py): a picture is a plain PNG or JPEG. Of a table
only its words are taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

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
    found = _Table()
    found.feed(str(data.get("text/html", "")))
    rows = [row for row in found.rows if row]
    if found.spans or not 2 <= len(rows) <= _MOST_ROWS or {*map(len, rows)} != {min(len(rows[0]), _MOST_COLUMNS)}:
        return ()
    return tuple(tuple(clean(cell.strip()) for cell in row) for row in rows)


class _Table(HTMLParser):
    """The words in the cells of the tables of some HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.spans = False
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.spans = self.spans or any(name in ("colspan", "rowspan") for name, _ in attrs)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        self._inside = tag in ("td", "th") or (self._inside and tag not in ("tr", "table"))

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag not in ("td", "th", "tr", "table")

    def handle_data(self, data: str) -> None:
        if self._inside and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data
