"""What was brought beside what was wanted, as two tables, where both are tables: rows that differ first, a few around."""

from __future__ import annotations

from html import escape
from itertools import zip_longest
from typing import Any

from nbproof.display.words import words
from nbproof.front_end import MONO
from nbproof.values.compare import place_of, plainly
from nbproof.values.evidence import Parts, snapshot

__all__ = ["tables_html"]

_ROWS, _COLUMNS = 8, 8
_CELL = f"padding:.1em .6em;text-align:right;border:0;{MONO}"


def tables_html(got: object, wanted: object) -> str:
    """Both tables side by side; empty if the first difference is not between two tables."""
    place = place_of(got, wanted)
    if place is None:
        return ""
    sides = [snapshot(place.got), snapshot(plainly(place.wanted))]
    if not all(isinstance(side, Parts) for side in sides):
        return ""
    one, other = (_rows(side, sides[1]) for side in sides)
    names = (f"{place.where}: {words().text('got')}", words().text("wanted"))
    tables = (_table(name, mine, beside) for name, mine, beside in zip(names, (one, other), (other, one), strict=True))
    return f'<div style="display:flex;flex-wrap:wrap;gap:1.5em;overflow-x:auto">{"".join(tables)}</div>'


def _rows(parts: Any, wanted: Any) -> list[list[Any]]:
    """The labels of its columns, or the name of a Series if one is wanted, then each row with its label in front."""
    columns = [part for step, part in parts.items() if ".iloc" in step]
    heads = parts.get(".columns", [parts.get(".name") if ".name" in wanted else ""])
    return [["", *heads], *map(list, zip(parts.get(".index", ()), *columns, strict=False))]


def _table(name: str, rows: list[list[Any]], others: list[list[Any]]) -> str:
    differing = [number for number, (row, other) in enumerate(zip_longest(rows, others)) if row != other and number]
    first = max(1, min(differing, default=1) - _ROWS // 2)
    shown = [0, *range(first, min(len(rows), first + _ROWS))]
    lines = "".join(_line(rows[number], others[number] if number < len(others) else [], number) for number in shown)
    more = len(rows) - len(shown)
    rest = f'<div style="opacity:.75">{words().counted("more rows", more)}</div>' if more else ""
    return (
        f'<div><b>{escape(name)}</b><table style="border-collapse:collapse;font-size:1em">{lines}</table>{rest}</div>'
    )


def _line(row: list[Any], other: list[Any], number: int) -> str:
    cells = []
    for at, value in enumerate(row[:_COLUMNS]):
        differs = at >= len(other) or other[at] != value
        style = f"{_CELL};font-weight:{700 if differs or number == 0 else 400}" + (";color:#e2604c" if differs else "")
        text = value if isinstance(value, str) else f"{value:.6g}" if isinstance(value, float) else repr(value)
        cells.append(f'<td style="{style}">{escape(text[:40])}</td>')
    return f'<tr style="background:none">{"".join(cells)}</tr>'
