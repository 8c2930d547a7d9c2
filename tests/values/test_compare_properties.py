"""The comparison, on data that hypothesis draws: what holds of any answer and any wanted value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import asdict
from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st

from nbproof.values.compare import AnyOf, Difference, first_difference, is_same
from nbproof.values.evidence import snapshot
from nbproof.values.words import ENGLISH
from tests.drawn import DRAWN, PLAIN, plain_data

SECRET = "s3cret"


def _places(value: object, where: str) -> Iterator[tuple[str, list[str | int]]]:
    """Every leaf: its place as a learner would write it, and the steps that lead there."""
    pairs: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    else:
        yield where, []
    for step, part in pairs:
        for place, steps in _places(part, f"{where}[{step!r}]"):
            yield place, [step, *steps]


def _with(value: object, steps: list[str | int], leaf: object) -> Any:
    """The same, but for one leaf."""
    if not steps:
        return leaf
    changed: Any = deepcopy(value)
    changed[steps[0]] = _with(changed[steps[0]], steps[1:], leaf)
    return changed


@DRAWN
@given(PLAIN)
def test_what_is_wanted_is_right(value: object) -> None:
    assert first_difference(snapshot(value), value, ENGLISH, "answer") is None


@DRAWN
@given(PLAIN, st.data())
def test_one_wrong_leaf_is_found_where_it_is(value: object, data: st.DataObject) -> None:
    places = list(_places(value, "answer"))
    if places:
        place, steps = data.draw(st.sampled_from(places))
        found = first_difference(snapshot(_with(value, steps, "of no other leaf")), value, ENGLISH, "answer")
        assert found is not None
        assert found.where == place
        assert Difference.from_dict(json.loads(json.dumps(asdict(found)))) == found


@DRAWN
@given(plain_data(st.just(SECRET) | st.integers(-9, 9)), PLAIN)
def test_what_is_withheld_tells_no_wanted_leaf(wanted: object, got: object) -> None:
    for where in ("answer", ""):
        found = first_difference(snapshot(got), wanted, ENGLISH, where)
        assert found is None or SECRET not in repr(found.withheld())


@DRAWN
@given(PLAIN, st.lists(PLAIN, min_size=1, max_size=4))
def test_any_of_is_each_of_them_and_nothing_else(got: object, options: list[object]) -> None:
    taken = snapshot(got)
    assert is_same(taken, AnyOf(*options), "answer") == any(is_same(taken, one, "answer") for one in options)


NUMBERS = st.floats(width=32) | st.sampled_from([0.0, 1.0, -1.0, 3e-5, 1e4])
STEPS = st.sampled_from([0, 3e-8, 3e-7, 3e-6, 3e-5, 3e-4, 3e-3, 0.3])
"""None is a tolerance itself: there torch rounds in half precision, and the comparison does not."""


@DRAWN
@given(
    st.lists(st.tuples(NUMBERS, STEPS), min_size=1, max_size=4),
    st.sampled_from([torch.float16, torch.float32, torch.float64, torch.int32]),
)
def test_arrays_are_as_near_as_torch_says(pairs: list[tuple[float, float]], dtype: torch.dtype) -> None:
    wanted = torch.tensor([one for one, _ in pairs], dtype=torch.float64).to(dtype)
    got = torch.tensor([one + step for one, step in pairs], dtype=torch.float64).to(dtype)
    try:
        torch.testing.assert_close(got, wanted)
        near = True
    except AssertionError:
        near = False
    assert is_same(snapshot(got), wanted) == near
