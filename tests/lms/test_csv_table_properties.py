"""Somebody else's table, on cells that hypothesis draws: read as it was written, and written again as it came."""

from __future__ import annotations

import contextlib
import csv
import io
import tempfile
from pathlib import Path

from hypothesis import assume, given
from hypothesis import strategies as st

from nbproof.csv_text import csv_of, unquoted
from nbproof.errors import UsageError
from nbproof_lms.csv_table import Sheet, decimal_sign, head_of, heads_of, number_in, read_sheet
from tests.drawn import DRAWN

HEADS = st.text("abcdefgh", min_size=1, max_size=6)
CELLS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=8)
TABLES = st.integers(1, 4).flatmap(
    lambda wide: st.builds(
        lambda head, rows: [head, *rows],
        st.lists(HEADS, min_size=wide, max_size=wide),
        st.lists(st.lists(CELLS, min_size=wide, max_size=wide), min_size=1, max_size=4),
    )
)


def _read(data: bytes) -> Sheet:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        path.write_bytes(data)
        return read_sheet(path, "the names", "--names")


@DRAWN
@given(
    TABLES,
    st.sampled_from(",;\t|"),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_a_table_is_read_as_it_is_and_written_again_as_it_came(
    rows: list[list[str]], delimiter: str, encoding: str, end: str
) -> None:
    assume(len(rows[0]) > 1 or delimiter == ",")  # nothing tells what separates the cells of one column
    assume(all("".join(row).strip() for row in rows))
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerows(rows)
    data = text.getvalue().encode(encoding)
    sheet = _read(data)
    assert sheet.rows == rows
    assert sheet.text(rows) == data


@DRAWN
@given(st.binary(max_size=60) | st.text(",;\t|\"'\n\r abü=1", max_size=60).map(str.encode))
def test_any_file_is_a_table_or_is_refused_in_words(data: bytes) -> None:
    with contextlib.suppress(UsageError):
        sheet = _read(data)
        assert len(sheet.rows) > 1
        assert {len(row) for row in sheet.rows} == {len(sheet.head)}
        assert len(heads_of(sheet.rows)) == len(sheet.head)


@DRAWN
@given(
    st.integers(0, 99_999_900),
    st.integers(0, 2),
    st.sampled_from([("", "."), ("", ","), (",", "."), (".", ","), (" ", ",")]),
)
def test_a_number_is_read_in_any_way_of_writing_it(hundredths: int, places: int, signs: tuple[str, str]) -> None:
    group, point = signs
    written = f"{hundredths / 100:_.{places}f}"
    number = float(written)
    assume(not group or places or number < 1000)  # "1,000" may be one or a thousand
    shown = written.replace(".", "p").replace("_", group).replace("p", point)
    assert number_in(f" {shown} ") == number
    assert decimal_sign(shown) == (point if places else "")


@DRAWN
@given(st.text(max_size=20))
def test_a_head_stays_as_it_was_read(head: str) -> None:
    assert head_of(head_of(head)) == head_of(head)


@DRAWN
@given(st.lists(st.text(max_size=10), min_size=1, max_size=4))
def test_no_cell_of_ours_is_a_formula_and_each_is_read_back(cells: list[str]) -> None:
    (row,) = csv.reader(io.StringIO(csv_of([cells]).decode(), newline=""))
    assert not [cell for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))]
    assert csv_of([[unquoted(cell) for cell in row]]) == csv_of([cells])
