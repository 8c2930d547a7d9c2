"""Somebody else's table: a CSV in whatever encoding, with whatever between its cells, written again as it came."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nbproof.errors import UsageError
from nbproof_lms.names import bare

__all__ = ["Sheet", "number_in", "quoted", "read_sheet", "unquoted"]


_LARGEST = 32 << 20

_FORMULA = re.compile(r"'*[ \ufeff\u200b\u00a0]*[=+\-@\t\r\n＝＋－＠]")


def quoted(text: str) -> str:
    """A cell that no spreadsheet takes for a formula: with an apostrophe in front of what begins like one."""
    return f"'{text}" if _FORMULA.match(text) else text


def unquoted(text: str) -> str:
    """What ``quoted`` was given, whatever that was."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def number_in(text: str) -> float | None:
    """A number of points in a cell; None if there is none."""
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return value if 0 < value < 1e6 else None


@dataclass(frozen=True)
class Sheet:
    """A table, and how its file was written."""

    path: Path
    rows: list[list[str]]
    encoding: str
    delimiter: str
    line_end: str

    @property
    def head(self) -> list[str]:
        """The names of the columns."""
        return self.rows[0]

    def column(self, *names: str) -> int | None:
        """The first column that is called so, letter case and punctuation aside."""
        heads = [bare(cell) for cell in self.head]
        return next((heads.index(bare(name)) for name in names if bare(name) in heads), None)

    def columns(self, *names: str) -> tuple[int, ...]:
        """Those of the columns that are there, in the order of the names."""
        found = [self.column(name) for name in names]
        return tuple(column for column in found if column is not None)

    def text(self, rows: Iterable[Sequence[str]]) -> bytes:
        """Rows in the form of this file. The instructor's own cells are left as they are."""
        out = io.StringIO()
        csv.writer(out, delimiter=self.delimiter, lineterminator=self.line_end).writerows(rows)
        return out.getvalue().encode(self.encoding, "replace")


def read_sheet(path: Path, what: str, option: str) -> Sheet:
    """Read a table with a head and rows. Raises UsageError, with ``what`` it is and the ``option`` that named it."""
    again = f"save it as CSV (UTF-8), and name that file: {option} FILE"
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise UsageError(
            f"{what} cannot be read: {error.strerror}", str(path), f"choose a CSV: {option} FILE"
        ) from None
    if len(data) > _LARGEST or data.startswith((b"PK", b"\xd0\xcf\x11\xe0")):
        raise UsageError(f"{what} stand in a spreadsheet or an archive, not in a CSV", str(path), again)
    text, encoding = _decoded(data)
    if "\0" in text:
        raise UsageError(f"{what} stand in a file that is no text", str(path), again)
    lines = text.lstrip().split("\n", 2)
    if told := re.fullmatch(r"sep=(.)\s*", lines[0]):
        text, delimiter = "\n".join(lines[1:]), told[1]
    else:
        delimiter = max(",;\t|", key=lines[0].count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise UsageError(f"{what} cannot be read as CSV: {error}", str(path), again) from None
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    if len(rows) < 2:
        raise UsageError(
            f"the file of {what} {'holds no learner' if rows else 'is empty: it holds no learner'}", str(path), again
        )
    rows = [[*row, *[""] * (len(rows[0]) - len(row))] for row in rows]
    return Sheet(path, rows, encoding, delimiter, "\r\n" if "\r\n" in text else "\n")


def _decoded(data: bytes) -> tuple[str, str]:
    """Text and encoding: UTF-8 with or without a mark, UTF-16, or Windows' Latin-1; a zero byte for what is no text."""
    encodings = ["utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "utf-8", "cp1252"]
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    elif data[1::2].count(0) * 3 > len(data):
        encodings = ["utf-16-le"]
    for encoding in encodings:
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return "\0", ""
