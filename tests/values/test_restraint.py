"""What an author's function computes from a learner's shapes is bounded, and what it usually computes is let be."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from nbproof.values.compare import Matches, first_difference
from nbproof.values.evidence import snapshot
from nbproof.values.leaf import TooMuch, restrained

ROW, COLUMN = torch.ones(1, 30_000), torch.ones(30_000, 1)
LARGE = torch.ones(2**23)

TOO_MUCH: dict[str, Callable[[], object]] = {
    "multiplied": lambda: ROW * COLUMN,
    "in place": lambda: torch.ones(1).expand_as(ROW) + COLUMN,
    "compared": lambda: torch.allclose(ROW, COLUMN),
    "equal or not": lambda: ROW == COLUMN,
    "matrices": lambda: COLUMN @ ROW,
    "outer": lambda: torch.outer(ROW[0], ROW[0]),
    "einsum": lambda: torch.einsum("i,j->ij", ROW[0], ROW[0]),
    "added up": lambda: sum(torch.ones([10 if i == j else 1 for i in range(12)]) for j in range(12)),
    "one by one": lambda: [torch.ones(2_000, 1) * torch.ones(1, 2_000) for _ in range(20)],
    "again and again": lambda: [torch.ones(2**20).sum() for _ in range(1_000)],
    "listed": lambda: torch.zeros(2**20).tolist(),
    "iterated": lambda: list(torch.zeros(2**20)),
    "sized by a number": lambda: torch.zeros(2**40),
    "expanded": lambda: ROW.repeat(30_000, 1),
}

USUAL: dict[str, Callable[[], object]] = {
    "large, and of one shape": lambda: (LARGE - LARGE).abs().max(),
    "small matrices": lambda: torch.ones(60, 50) @ torch.ones(50, 70),
    "stacked": lambda: torch.stack([torch.ones(4, 5)] * 200).mean(0),
    "listed": lambda: torch.ones(1_000).tolist(),
    "a number on top": lambda: torch.ones(2**21) * 2 + 1,
    "outer": lambda: torch.outer(torch.ones(100), torch.ones(100)),
}


@pytest.mark.parametrize("how", TOO_MUCH)
def test_what_grows_beyond_all_it_is_made_of_is_refused(how: str) -> None:
    with pytest.raises(TooMuch), restrained():
        TOO_MUCH[how]()


@pytest.mark.parametrize("how", USUAL)
def test_what_checks_usually_compute_is_computed(how: str) -> None:
    with restrained():
        USUAL[how]()


def test_an_answer_that_takes_too_much_to_look_at_is_a_wrong_answer() -> None:
    fits = Matches(lambda got: None if (got[0].tensor() * got[1].tensor()).sum() else "no", "two that fit")  # type: ignore[index, union-attr]
    assert first_difference(snapshot([torch.ones(3), torch.ones(3)]), fits) is None
    difference = first_difference(snapshot([ROW, COLUMN]), fits)
    assert difference is not None
    assert difference.sentence() == "the result is a list of 2 items, wanted two that fit"
