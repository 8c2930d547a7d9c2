"""Evidence, on data that hypothesis draws: a snapshot is plain, lasts, and has a budget."""

from __future__ import annotations

from collections import OrderedDict, UserDict

import torch
from hypothesis import given
from hypothesis import strategies as st

from nbproof.values.evidence import MAX_ITEMS, Parts, TensorRecord, Unreadable, key_text, snapshot
from tests.drawn import DRAWN, PLAIN, TENSORS

KINDS = (type(None), bool, int, float, str, list, dict, Parts, TensorRecord, Unreadable)


class Row(list[object]):
    """A list of a learner's own class, and an array beside it."""


def _kinds(value: object) -> set[type]:
    parts = {list: list, dict: lambda pairs: list(pairs.values())}.get(type(value), lambda leaf: [])(value)
    return {type(value)}.union(*map(_kinds, parts))


def _count(value: object) -> int:
    return 1 + sum(map(_count, value)) if isinstance(value, list) else 1


@DRAWN
@given(PLAIN)
def test_a_snapshot_is_its_own_snapshot(value: object) -> None:
    taken = snapshot(value)
    assert snapshot(taken) == taken


@DRAWN
@given(PLAIN, st.sampled_from([Row, tuple]), st.sampled_from([OrderedDict, UserDict]))
def test_nothing_of_a_learners_own_class_is_left(value: object, items: type, pairs: type) -> None:
    taken = snapshot(items([value, pairs({"a": value, 1: items([Row])})]))
    assert _kinds(taken) <= set(KINDS)
    assert taken == [snapshot(value), {"a": snapshot(value), "1 (int)": [Unreadable("object", "type")]}]


@DRAWN
@given(TENSORS, st.data())
def test_an_array_comes_back_bit_by_bit_and_lasts(tensor: torch.Tensor, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(tensor.dim())))
    seen = tensor.permute(*order) if order else tensor
    wanted = seen.clone()
    taken = snapshot(seen)
    tensor.fill_(1)
    assert isinstance(taken, TensorRecord)
    rebuilt = taken.tensor()
    assert rebuilt.dtype == wanted.dtype
    assert torch.equal(rebuilt, wanted)


@DRAWN
@given(st.integers(1, 60), st.integers(1, 14))
def test_what_grows_without_end_is_cut_off(width: int, depth: int) -> None:
    value: object = 0
    for _ in range(depth):
        value = [value] * width
    assert _count(snapshot(value)) <= MAX_ITEMS + 1


@DRAWN
@given(st.lists(st.integers(-3, 3) | st.booleans() | st.text(max_size=3) | st.floats(-2, 2), unique_by=repr))
def test_keys_of_different_sorts_stay_apart(keys: list[object]) -> None:
    assert len({key_text(key) for key in keys}) == len(keys)
