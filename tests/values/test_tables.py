"""pandas' tables as values: taken apart into plain data, compared part by part, and drawn beside each other."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbproof.authoring.forgery import can_be_made
from nbproof.checks.case import Case
from nbproof.course_file import Course
from nbproof.display.panel import tables_html
from nbproof.sandbox.evidence_wire import pack, unpack
from nbproof.sandbox.wire import WireError
from nbproof.values.compare import Close, Matches, first_difference
from nbproof.values.evidence import Parts, Unreadable, snapshot
from nbproof.values.leaf import leaves_of
from nbproof.values.words import ENGLISH

COURSE = Course("", Path(), "x", leaves=("pandas",))
"""Its values are those of pandas."""
LEAVES = leaves_of(COURSE)


def _sales() -> Any:
    return pd.DataFrame({"town": ["Ulm", "Bonn", "Kiel"], "price": [1.5, 2.0, 4.0], "count": [3, 1, 2]})


SALES = _sales()
GAP = SALES.assign(price=[1.5, None, 4.0])
TWICE = pd.concat([SALES["price"], SALES["price"] * 2], axis=1)


@pytest.mark.parametrize(
    ("got", "wanted", "said"),
    [
        (_sales(), SALES, None),
        (SALES.rename(columns={"price": "b"}), SALES, "answer.columns[1] is 'b', wanted 'price'"),
        (SALES[["town"]], SALES, "answer.columns has 1 item, wanted 3"),
        (SALES.astype({"count": float}), SALES, "answer.dtypes['count'] is 'float64', wanted 'int64'"),
        (GAP, SALES, "answer['price'].iloc[1] is None, wanted a float"),
        (SALES.assign(count=[3, 1, 9]), SALES, "answer['count'].iloc[2] is 9, wanted 2"),
        (SALES["price"], SALES, "answer is a Series of 3, wanted a DataFrame of shape (3, 3)"),
        (SALES["price"] * 1, SALES["price"] + 1, "answer.iloc[0] is 1.5, wanted 2.5"),
        (SALES["price"], SALES["price"].rename(None), None),
        (SALES.rename_axis("row").rename_axis("part", axis=1), SALES, None),
        (SALES.index, pd.Index([0, 1, 3]), "answer[2] is 2, wanted 3"),
        (SALES.set_index(["town", "count"]), SALES.set_index(["count", "town"]), "answer.index[0][0] is a string, 'Ulm'"),
        (TWICE.iloc[::-1].reset_index(drop=True), TWICE, "answer.iloc[:, 0][0] is 4.0, wanted 1.5"),
        (SALES, Close(SALES.assign(price=SALES["price"] * 1.01), rtol=0.1), None),
        (pd.Timestamp("2026-11-26"), "2026-11-26 00:00:00", None),
    ],
)  # fmt: skip
def test_tables_are_compared_part_by_part(got: Any, wanted: Any, said: str | None) -> None:
    evidence = unpack(pack(snapshot({"answer": got})), LEAVES)
    difference = first_difference(evidence, {"answer": wanted}, ENGLISH)
    assert (difference is None) == (said is None)
    assert difference is None or ENGLISH.difference(difference).startswith(said or "")


def test_a_function_decides_about_the_parts_of_a_table_as_the_guide_says() -> None:
    def any_order(found: Any) -> str | None:
        return None if sorted(found["['price'].iloc"]) == [1.5, 2.0, 4.0] else "other prices"

    wanted = {"answer": Matches(any_order, "these prices")}
    for answer, right in ((SALES.iloc[::-1], True), (SALES.head(2), False), (GAP, False), (SALES["price"], False)):
        evidence = unpack(pack(snapshot({"answer": answer})), LEAVES)
        assert (first_difference(evidence, wanted, ENGLISH) is None) is right
    assert set(unpack(pack(snapshot(SALES)), LEAVES)) >= {".columns", ".index", ".dtypes", "['price'].iloc"}


class Told(pd.DataFrame):  # type: ignore[misc]
    """A learner's own."""


def test_what_is_no_plain_table_is_named_and_a_cell_of_anything_is_no_value() -> None:
    assert snapshot(Told(SALES)) == Unreadable("a Told, a subclass of pandas'")
    assert snapshot(pd.DataFrame({"a": range(20_001)})) == Unreadable("a DataFrame of more than 20000 values")
    taken = snapshot(pd.Series([print, "a"]))
    assert isinstance(taken, Parts) and taken[".iloc"] == [Unreadable("function", "print"), "a"]


def test_parts_come_over_the_wire_as_they_are_and_nothing_else_does() -> None:
    taken = snapshot([SALES, GAP])
    back = unpack(pack(taken), LEAVES)
    assert back == taken and isinstance(back, list) and isinstance(back[0], Parts)
    assert back[0].noun == "a DataFrame of shape (3, 3)" == pickle.loads(pickle.dumps(back[0])).noun
    for form in (b'{"p": []}', b'{"p": [1]}', b'{"p": ["a", 2]}', b'{"-": ["float64", [1], 8]}'):
        with pytest.raises(WireError):
            unpack(len(form).to_bytes(4, "big") + form + bytes(8), LEAVES)


def test_a_table_that_is_drawn_from_the_case_is_at_hand_and_one_that_is_made_of_it_is_not() -> None:
    frames = [Case(seed, COURSE).frame("sales", 4, name=("Ulm", "Bonn"), price=float, count=int) for seed in (1, 1, 2)]
    assert snapshot(frames[0]) == snapshot(frames[1]) != snapshot(frames[2])
    for wanted, made in ((frames[0], True), (frames[0].iloc[::-1], False)):
        assert can_be_made({"answer": wanted}, [snapshot(frames[1])], [{"answer": frames[2]}]) is made


def test_both_tables_are_drawn_where_they_differ_and_nothing_of_a_secret() -> None:
    long = pd.concat([SALES] * 20, ignore_index=True)
    wrong = long.assign(count=[*long["count"][:-1], 77])
    drawn = tables_html(snapshot({"answer": wrong}), {"answer": long}, ENGLISH)
    assert "answer: got" in drawn and ">77<" in drawn and drawn.count("color:#e2604c") == 2 and "more rows" in drawn
    assert "price" not in tables_html(snapshot([SALES["price"]]), [SALES["price"].rename(None) + 1], ENGLISH)
    assert "<script>" not in tables_html(
        snapshot({"answer": SALES.assign(town="<script>")}), {"answer": SALES}, ENGLISH
    )
    assert (
        tables_html(snapshot({"answer": wrong}), None, ENGLISH)
        == ""
        == tables_html(snapshot({"answer": 1}), {"answer": long}, ENGLISH)
    )
