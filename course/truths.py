"""What only truths use: it never lies where a learner's code runs while it is graded.

A sealed process has the probes and what they need. What tells, or helps to compute, a wanted value is read by the process
that judges, from here (``truths`` in ``course.toml``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from course.storages import of_a_storage
from course.traces import FACTOR, PRIME
from nbproof.checks.case import Case
from nbproof.values.compare import Matches, is_same
from nbproof.values.describe import in_words
from nbproof.values.evidence import Evidence

__all__ = [
    "ANYTHING",
    "as_before",
    "missing_lines",
    "no_gradients_from",
    "other_than",
    "same_both_times",
    "storages_left",
    "such_that",
    "undisclosed",
]

ANYTHING = Matches(lambda got: None, "anything")
"""In a truth: a field that nothing is asked about, there for ``mistakes`` to tell one misconception from another."""


def other_than(value: object) -> Matches:
    """In ``mistakes``: any evidence but ``value``."""
    return Matches(lambda got: "just this" if is_same(got, value) else None, "another value")


def such_that(test: Callable[[Any], bool]) -> Matches:
    """In ``mistakes``: any evidence that ``test`` says yes to. Where ``test`` raises, it does not."""
    return Matches(lambda got: None if test(got) else "something else", "such a value")


def undisclosed(value: object, says: str) -> Matches:
    """In a truth: just ``value``, which no message may show, because it is the answer. ``says`` tells its form."""
    return Matches(lambda got: None if is_same(got, value) else in_words(got), says)


def as_before(number: int) -> Matches:
    """In a truth: the number of just what should run, as :func:`what_runs` finds it on a fresh model."""
    says = "just what would run without this call: the same hooks, modules in the same modes"
    return Matches(lambda got: None if is_same(got, number) else "not just that", says)


def same_both_times(case: Case, one: str, two: str) -> Matches:
    """In a truth: two numbers of what ran, whatever it was, at two moments, if it was the same both times."""
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


def missing_lines(lines: object, shapes: Mapping[str, Sequence[int]]) -> str | None:
    """What is wrong with printed lines that should give each name and its shape, one line a name; None if nothing is.

    The order is free, and so are the notation of a shape (``torch.Size([2, 3])``, ``(2, 3)``, ``[2, 3]``,
    ``2x3``) and the words around. A name counts where it stands alone: ``conv1`` is not in ``conv10``.
    """
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        return "not a list of lines"
    if len(lines) != len(shapes):
        return f"{len(lines)} line{'' if len(lines) == 1 else 's'}"
    fits = [[name for name, shape in shapes.items() if _tells(line, name, shape)] for line in lines]
    taken: dict[str, int] = {}
    for index, line in enumerate(lines):
        if not _assign(index, fits, taken, set()):
            return repr(line) if not fits[index] else f"more than one line for {fits[index][0]!r}"
    return None


_LONGEST_LINE = 2_000
"""Characters: the search for shapes takes quadratic time, and a grader's time is not a learner's to spend."""
_MOST_SHAPES = 8
"""Shapes in a line: those of an input, an output and a few weights. Who prints every shape that there may be tells none."""


def _tells(line: str, name: str, shape: Sequence[int]) -> bool:
    """Whether the line holds the shape, and, outside it, the name as a word."""
    if len(line) > _LONGEST_LINE:
        return False
    found, line = False, re.sub(r"\x1b\[[0-9;]*m", "", line)  # terminal colours are no words
    told = set[tuple[int, ...]]()
    for match in re.finditer(r"(?:torch\.Size\(\s*)?[(\[]?(?<![\w.])\d+(?:\s*[,x×]\s*\d+)*\s*,?[)\]]*", line):
        numbers = tuple(int(number) for number in re.findall(r"\d+", match[0]))
        told.add(numbers)
        if numbers == tuple(shape):
            rest = f"{line[: match.start()]} {line[match.end() :]}"
            found = found or re.search(rf"(?<!\w){re.escape(name)}(?!\w|\.\w)", rest) is not None
    return found and len(told) <= _MOST_SHAPES


def _assign(index: int, fits: Sequence[Sequence[str]], taken: dict[str, int], tried: set[str]) -> bool:
    """Give line ``index`` a name of its own, moving other lines to another name of theirs where needed."""
    for name in fits[index]:
        if name not in tried:
            tried.add(name)
            if name not in taken or _assign(taken[name], fits, taken, tried):
                taken[name] = index
                return True
    return False
