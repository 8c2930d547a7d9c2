"""What only truths use: it never lies where a learner's code runs while it is graded.

A sealed process has the probes and what they need. What tells, or helps to compute, a wanted value is read by the process
that judges, from here (``truths`` in ``course.toml``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

from course.traces import FACTOR, PRIME, of_a_storage
from nbproof.checks.case import Case
from nbproof.values.compare import Matches, is_same
from nbproof.values.describe import in_words
from nbproof.values.evidence import Evidence

__all__ = [
    "ANYTHING",
    "as_before",
    "no_gradients_from",
    "other_than",
    "same_both_times",
    "storages_left",
    "such_that",
    "undisclosed",
]

ANYTHING = Matches(lambda got: None, "anything")
"""In a truth: a field that no check judges. It helps ``mistakes`` to tell one misconception from another."""


def other_than(value: object) -> Matches:
    """In ``mistakes``: any evidence but ``value``."""

    def judge(got: Evidence) -> str | None:
        return "just this" if is_same(got, value) else None

    return Matches(judge, "another value")


def such_that(test: Callable[[Any], bool]) -> Matches:
    """In ``mistakes``: any evidence that ``test`` says yes to. If ``test`` raises, that is a no."""

    def judge(got: Evidence) -> str | None:
        return None if test(got) else "something else"

    return Matches(judge, "such a value")


def undisclosed(value: object, says: str) -> Matches:
    """In a truth: just ``value``, which no message may show, because it is the answer. ``says`` tells its form."""

    def judge(got: Evidence) -> str | None:
        return None if is_same(got, value) else in_words(got)

    return Matches(judge, says)


def as_before(number: int) -> Matches:
    """In a truth: the number of just what should run, as :func:`what_runs` finds it on a fresh model."""
    says = "what would run without this call: the same hooks, modules in the same modes"

    def judge(got: Evidence) -> str | None:
        return None if is_same(got, number) else "something else"

    return Matches(judge, says)


def same_both_times(case: Case, one: str, two: str) -> Matches:
    """In a truth: two numbers tell what ran at two moments. They are right if the same ran both times, no matter what."""
    apart = case.integer(f"trace {two}", 1, PRIME) - case.integer(f"trace {one}", 1, PRIME)
    possible = {apart * pow(FACTOR, traces, PRIME) % PRIME for traces in range(1, 2000)}

    def test(got: Evidence) -> str | None:
        first, second = got if isinstance(got, list) else (None, None)
        same = type(first) is int and type(second) is int and (second - first) % PRIME in possible
        return None if same else "not the same both times"

    return Matches(test, "the same both times")


def no_gradients_from(model: nn.Module, case: Case) -> dict[str, torch.Tensor]:
    """For the truth: what :func:`gradients_from` brings where no value leads to the model."""
    return {name: case.tensor(f"weight of {name}", *one.shape) for name, one in model.named_parameters()}


def storages_left(case: Case, moment: str, there: Iterable[str] = (), freed: Iterable[str] = ()) -> int:
    """For the truth: what :meth:`Storages.left` brings where just these places were watched, once each."""
    number = case.integer(f"trace of memory {moment}", 1, PRIME)
    number += sum(of_a_storage(case, place, moment, False) for place in there)
    return (number + sum(of_a_storage(case, place, moment, True) for place in freed)) % PRIME
