"""Which verdicts rest on hearsay: on what the process that ran the answer says about itself.

A count, a flag, a name or a yes that is the same whatever the seed can be said without knowing anything: learner code
that patches ``len`` or ``all`` says what is wanted. Arrays, and whatever else follows from the seed, cannot. So the
author contract asks of each mutant: would it still fail if every such fact were just what is wanted?
"""

from __future__ import annotations

from collections.abc import Mapping

from nbproof.checks.case import Case
from nbproof.checks.check import Check
from nbproof.values.compare import AnyOf, Close, Matches, first_difference
from nbproof.values.evidence import Evidence, TensorRecord, key_text, snapshot

__all__ = ["is_hearsay", "narrowed", "rests_on_hearsay", "said"]


def rests_on_hearsay(task: Check, seed: int, evidence: Evidence) -> bool:
    """Whether this evidence, which fails, would pass if all hearsay in it were right."""
    wanted = task.truth(Case(seed))
    # Three others: small numbers are sometimes the same for two seeds.
    others = (task.truth(Case(seed + number)) for number in (1, 2, 3))
    return all(first_difference(said(evidence, wanted, other, task.claims), wanted) is None for other in others)


def said(evidence: Evidence, wanted: object, another: object, claims: tuple[str, ...] = ()) -> Evidence:
    """The evidence, with the wanted value wherever ``wanted`` and ``another``, truths of two seeds, are the same."""
    if not isinstance(wanted, Mapping) or not isinstance(evidence, dict):
        return _said(evidence, wanted, another)
    others = another if isinstance(another, Mapping) else {}
    fields = {
        key_text(key): _said(evidence.get(key_text(key)), value, others.get(key))
        for key, value in wanted.items()
        if key_text(key) in evidence and key not in claims
    }
    return {**evidence, **fields}


def _said(got: Evidence, wanted: object, another: object) -> Evidence:
    plain, other = narrowed(wanted), narrowed(another)
    if is_hearsay(plain, other):
        return snapshot(plain)
    if isinstance(got, dict) and isinstance(plain, Mapping) and isinstance(other, Mapping):
        return {key: _said(value, plain[key], other.get(key)) if key in plain else value for key, value in got.items()}
    if not isinstance(got, list) or not isinstance(plain, (list, tuple)) or not isinstance(other, (list, tuple)):
        return got
    if not len(got) == len(plain) == len(other):
        return got
    return [_said(one, two, three) for one, two, three in zip(got, plain, other, strict=True)]


def narrowed(wanted: object) -> object:
    """A truth without what widens it, at any depth."""
    if isinstance(wanted, AnyOf):
        return narrowed(wanted.options[0])
    if isinstance(wanted, Close):
        return narrowed(wanted.value)
    if isinstance(wanted, Mapping):
        return {key: narrowed(value) for key, value in wanted.items()}
    return [narrowed(value) for value in wanted] if isinstance(wanted, list) else wanted


def is_hearsay(one: object, other: object) -> bool:
    """Whether a value is plain, the same for two seeds, and holds no array."""
    one, other = narrowed(one), narrowed(other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(is_hearsay(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(is_hearsay, one, other))
    if isinstance(one, Matches) or isinstance(other, Matches):
        return False
    leaf = snapshot(one)
    return not isinstance(leaf, TensorRecord) and leaf == snapshot(other)
