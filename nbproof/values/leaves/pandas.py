"""pandas' tables as values: a DataFrame, a Series and an Index are what they are made of, as numbers and texts of Python's own.

Two of them are equal if all is equal that ``pandas.testing`` compares: labels, their names, dtypes, then values. A missing
value is None. Cells may hold any object, but only plain data leaves the process of a learner's code.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

import pandas as pd

from nbproof.values.evidence import MAX_ITEMS, Evidence, Parts, Unreadable
from nbproof.values.leaf import Leaf
from nbproof.values.leaves.numpy import LEAF as NUMPY

__all__ = ["LEAF"]

_SINGLE = (pd.Timestamp, pd.Timedelta, pd.Period, pd.Interval)
_MISSING = (type(pd.NaT), type(pd.NA))


class PandasLeaf(Leaf):
    """Tables. What a single cell of one gives is a number or a text of Python's own."""

    __slots__ = ()

    name = "pandas"
    mark = "-"
    noun = "a table"
    folder = os.path.dirname(os.path.abspath(pd.__file__)) + os.sep
    kinds = (pd.DataFrame, pd.Series, pd.Index, *_SINGLE, *_MISSING, NUMPY.kinds[1])
    item_sizes = MappingProxyType({})  # nothing of it travels as an array

    def taken(self, value: Any, room: int) -> Evidence:
        """The parts of a table; of a single value the number or the text."""
        kind = type(value)
        if isinstance(value, (pd.DataFrame, pd.Series, pd.Index)):
            if kind.__module__.partition(".")[0] != "pandas":
                return Unreadable(f"a {kind.__name__}, a subclass of pandas'"[:200])
            if value.size > MAX_ITEMS:
                return Unreadable(f"a {kind.__name__} of more than {MAX_ITEMS} values")
            if isinstance(value, pd.Index):
                return Parts(f"an Index of {len(value)}", _axis("", value))
            return _of_table(value)
        return _plain(value) if issubclass(kind, (*_SINGLE, *_MISSING)) else NUMPY.taken(value, room)

    def drawn(self, seed: int, shape: tuple[int, ...], positive: bool, dtype: Any = None) -> pd.DataFrame:
        """Draw a DataFrame; ``dtype``: name of a column -> float, int, or the items that its cells are drawn from."""
        draw = random.Random(seed)
        return pd.DataFrame({name: _column(draw, of, shape[0]) for name, of in dtype.items()})

    def not_a_number(self) -> float:
        """A number, as one cell of a table is."""
        return math.nan


def _column(draw: random.Random, of: Any, rows: int) -> list[Any]:
    return [_cell(draw, of) for _ in range(rows)]


def _cell(draw: random.Random, of: Any) -> Any:
    if of is float:
        return round(draw.uniform(0.5, 20), 2)
    return draw.randint(2, 99) if of is int else draw.choice(list(of))


def _of_table(table: pd.DataFrame | pd.Series[Any]) -> Parts:
    index = _axis(".index", table.index)
    if isinstance(table, pd.Series):
        name = {} if table.name is None else {".name": _plain(table.name)}
        values = {".dtype": str(table.dtype), ".iloc": _labels(table)}
        return Parts(f"a Series of {len(table)}", {**name, **index, **values})
    columns = _labels(table.columns)
    dtypes = [str(dtype) for dtype in table.dtypes]
    parts: dict[str, Any] = {**_axis(".columns", table.columns), **index, ".dtypes": dtypes}
    names = [str(label) for label in columns]
    if len(set(names)) == len(names):
        parts[".dtypes"] = dict(zip(names, dtypes, strict=True))
    for number, label in enumerate(columns):
        is_unique = isinstance(label, (str, int)) and columns.count(label) == 1
        step = f"[{label!r}].iloc" if is_unique else f".iloc[:, {number}]"
        parts[step] = _labels(table.iloc[:, number])
    return Parts(f"a DataFrame of shape {table.shape}", parts)


def _axis(part: str, labels: pd.Index[Any]) -> dict[str, Any]:
    """The levels, which explain the rest, then the labels, and the names if there are any.

    Without names in a truth, an answer may have any names.
    """
    names = _labels(labels.names)
    named = {} if names.count(None) == len(names) else {f"{part}.names": names}
    return {f"{part}.nlevels": labels.nlevels, part: _labels(labels), **named}


def _labels(values: Iterable[Any]) -> list[Any]:
    return [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    """A cell or a label as Python's own number or text; None if it is missing."""
    kind = type(value)
    if kind in _MISSING or (isinstance(value, float) and value != value):
        return None
    if kind in _SINGLE:
        return str(value)
    return [_plain(one) for one in value] if kind is tuple else value


LEAF = PandasLeaf()
