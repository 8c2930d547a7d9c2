"""CSV that is safe to open in a spreadsheet: a learner may have any name, but nothing in the file becomes a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence

__all__ = ["csv_of", "safe_cell", "unquoted"]

_CONTROLS = dict.fromkeys({*range(32), *range(127, 160)} - {ord(sign) for sign in "\t\r\n"})
"""Signs that a terminal would obey if the file is shown in one. None of them belongs into a table."""

# Wide forms of the four signs as well: East Asian versions take them. Spaces do not protect.
_FORMULA = re.compile(r"'*[ \ufeff\u200b\u00a0]*[=+\-@\t\r\n＝＋－＠]")


def safe_cell(value: object) -> object:
    """A cell that no spreadsheet takes for a formula: text that begins like one gets an apostrophe in front."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, Mapping):
        value = [f"{name}: {told}" for name, told in value.items()]
    if isinstance(value, (list, tuple)):
        value = "; ".join(map(str, value))
    if not isinstance(value, str):
        return value
    text = value.encode("utf-8", "backslashreplace").decode().translate(_CONTROLS)
    return f"'{text}" if _FORMULA.match(text) else text


def unquoted(text: str) -> str:
    """The text that :func:`safe_cell` was given, from the text that it returned."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def csv_of(rows: Iterable[Sequence[object]], excel: bool = False) -> bytes:
    """Rows as CSV with LF line ends; ``excel``: with the mark at the beginning that Excel needs to read UTF-8."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(list(map(safe_cell, row)) for row in rows)
    encoding = "utf-8-sig" if excel else "utf-8"
    return text.getvalue().encode(encoding, "backslashreplace")
