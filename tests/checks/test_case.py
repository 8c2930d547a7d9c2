"""Cases: one seed, equal inputs for probe and truth, whatever each draws first."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from nbproof.checks.case import Case

SEEDS = range(1, 40)


def test_equal_names_give_equal_separate_leaves() -> None:
    one, other = (Case(5).tensor("x", 3, 4, requires_grad=True) for _ in range(2))
    assert torch.equal(one, other)
    assert one is not other
    assert one.is_leaf
    assert one.requires_grad


def test_a_draw_depends_on_seed_and_name_only() -> None:
    first = Case(5)
    first.tensor("other", 100)
    first.integer("n", 1, 9)
    assert torch.equal(first.tensor("x", 3), Case(5).tensor("x", 3))
    assert not torch.equal(Case(5).tensor("x", 3), Case(5).tensor("y", 3))
    assert not torch.equal(Case(5).tensor("x", 3), Case(6).tensor("x", 3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.uint8])
def test_no_element_is_near_zero(dtype: torch.dtype) -> None:
    drawn = torch.stack([Case(seed).tensor("x", 20, dtype=dtype) for seed in SEEDS])
    assert drawn.dtype == dtype
    assert float(drawn.double().abs().min()) >= 0.5
    assert bool((drawn < 0).any()) == dtype.is_signed
    assert bool((Case(1).tensor("x", 50, positive=True, dtype=dtype) > 0).all())


def test_drawing_leaves_the_global_generator_alone() -> None:
    state = torch.get_rng_state()
    case = Case(3)
    case.tensor("x", 3)
    case.build("net", nn.Linear, 2, 2)
    assert torch.equal(torch.get_rng_state(), state)


def test_built_models_are_equal_and_share_nothing() -> None:
    one, other = (Case(3).build("net", nn.Linear, 2, 3) for _ in range(2))
    assert torch.equal(one.weight, other.weight)
    assert one.weight.data_ptr() != other.weight.data_ptr()
    assert not torch.equal(one.weight, Case(4).build("net", nn.Linear, 2, 3).weight)


def test_shapes_tell_rows_from_columns() -> None:
    for seed in SEEDS:
        shape = Case(seed).shape("s", 3, 2, 6)
        assert len(set(shape)) == 3
        assert min(shape) >= 2


def test_integers_reach_both_ends() -> None:
    assert {Case(seed).integer("n", 1, 3) for seed in range(60)} == {1, 2, 3}


def test_words_differ_from_each_other_and_between_seeds() -> None:
    drawn = [tuple(Case(seed).words("names", 4)) for seed in SEEDS]
    assert all(len(set(words)) == 4 for words in drawn)
    assert len(set(drawn)) > len(drawn) / 2


def test_shuffling_keeps_the_items() -> None:
    assert sorted(Case(2).shuffled("order", "abcdef")) == list("abcdef")
    assert len({tuple(Case(seed).shuffled("order", "abcdef")) for seed in SEEDS}) > 10
