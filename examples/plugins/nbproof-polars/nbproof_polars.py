"""Polars' tables as values of a course: a DataFrame and a Series are what they are made of, as numbers and texts of Python's own.

``course.toml`` says ``leaves = ["polars"]``. A check then draws one by ``case.of("polars", "sales", 5, dtype={"price": float})``.

Polars starts threads when it is imported, and a process with threads cannot be forked for each submission. So it is imported
where it is used, never at the top of this module, and where nobody has imported it there are no values of it.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

from nbproof.values.evidence import MAX_ITEMS, Evidence, Parts, Unreadable
from nbproof.values.leaf import Leaf

__all__ = ["LEAF"]


class PolarsLeaf(Leaf):
    """Tables. null is None, and so nothing but null; NaN is a text, so that two of them are equal."""

    __slots__ = ()

    name, mark, noun = "polars", "P", "a table"
    folder = os.path.dirname(str(getattr(find_spec("polars"), "origin", ""))) + os.sep
    item_sizes = MappingProxyType({})  # nothing of it travels as an array

    @property
    def kinds(self) -> tuple[type, ...]:
        """Classes of its values."""
        pl = sys.modules.get("polars")
        return (pl.DataFrame, pl.Series, pl.LazyFrame, pl.Expr) if pl is not None else ()

    def taken(self, value: Any, room: int) -> Evidence:
        """Its columns, with their dtypes. A query that nobody has collected has no values."""
        import polars as pl

        if not isinstance(value, (pl.DataFrame, pl.Series)):
            return Unreadable(f"a {type(value).__name__}, which has no values before it is collected")
        if value.estimated_size() > room or len(value) > MAX_ITEMS:
            return Unreadable(f"a {type(value).__name__} of {len(value)} rows, which are too many")
        if isinstance(value, pl.Series):
            parts = {".name": value.name, ".dtype": str(value.dtype), ".to_list()": _plain(value)}
            return Parts(f"a Series of {len(value)}", parts)
        columns: dict[str, Evidence] = {".columns": list(value.columns)}
        columns[".schema"] = {name: str(dtype) for name, dtype in value.schema.items()}
        columns |= {f"[{name!r}]": _plain(value[name]) for name in value.columns}
        return Parts(f"a DataFrame of shape {value.shape}", columns)

    def drawn(self, seed: int, shape: tuple[int, ...], positive: bool, dtype: Any = None) -> Any:
        """A DataFrame of ``shape[0]`` rows; ``dtype``: name of a column -> float, int, or the items that it is drawn from."""
        import polars as pl

        draw = random.Random(seed)
        columns: Mapping[str, Any] = dtype or {"x": float}
        return pl.DataFrame({name: [_drawn(draw, of) for _ in range(shape[0])] for name, of in columns.items()})

    def not_a_number(self) -> float:
        """A number, as one cell of a table is."""
        return float("nan")


def _drawn(draw: random.Random, of: Any) -> Any:
    if of is float:
        return round(draw.uniform(0.5, 20), 2)
    return draw.randint(2, 99) if of is int else draw.choice(list(of))


def _plain(values: Iterable[Any]) -> list[Any]:
    return [_cell(value) for value in values]


def _cell(value: Any) -> Any:
    """One cell as plain data: lists and structs as they are, days and times as texts."""
    if isinstance(value, float) and value != value:
        return "NaN"
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(name): _cell(one) for name, one in value.items()}
    if isinstance(value, Iterable):  # a list, or what an array column holds
        return _plain(value)
    return str(value)


LEAF = PolarsLeaf()
