"""What tests of properties share: plain data of every sort that evidence knows, drawn by hypothesis, the same in every run."""

from __future__ import annotations

import string

import torch
from hypothesis import settings
from hypothesis import strategies as st

__all__ = ["DRAWN", "PLAIN", "TENSORS", "TEXTS", "plain_data"]

DRAWN = settings(derandomize=True, deadline=None, max_examples=50, database=None)
"""The same examples in every run of the same files, and no clock."""

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
_DTYPES = st.sampled_from([torch.float16, torch.float32, torch.float64, torch.int64, torch.bool, torch.complex64])


@st.composite
def _tensors(draw: st.DrawFn) -> torch.Tensor:
    shape = draw(st.lists(st.integers(0, 3), max_size=3))
    made = torch.randn(shape, generator=torch.Generator().manual_seed(draw(st.integers(0, 99)))) * 3
    return made.to(draw(_DTYPES))


TENSORS = _tensors()
"""Small tensors of every kind of dtype, those without an element included; no element is nan."""
_NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
_LEAVES = st.none() | st.booleans() | _NUMBERS | TEXTS | TENSORS


def plain_data(leaves: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """Lists and dicts of these leaves, some deep."""
    names = st.text(string.ascii_lowercase, min_size=1, max_size=3)
    return st.recursive(
        leaves, lambda part: st.lists(part, max_size=4) | st.dictionaries(names, part, max_size=4), max_leaves=12
    )


PLAIN = plain_data(_LEAVES)
"""What a right answer may be: it equals itself."""
