"""Which verdicts rest on what a process says about itself."""

from __future__ import annotations

import pytest
import torch

from nbproof.authoring.hearsay import rests_on_hearsay, said
from nbproof.checks.case import Case
from nbproof.checks.check import Check
from nbproof.values.compare import AnyOf, Close, Matches
from nbproof.values.evidence import snapshot


class Told(Check):
    """Brings a count, a flag, a number and a tensor."""

    def truth(self, case: Case) -> object:
        return {
            "hooks": 0,
            "modes": {"a": True, "b": AnyOf(False, True)},
            "macs": case.integer("macs", 1, 10**9),
            "x": Close(case.tensor("x", 3)),
            "grads": {"a": case.tensor("a", 2), "b": None},
            "list": [case.tensor("a", 2), "text"],
            "any": Matches(lambda got: None, "anything"),
        }


RIGHT = Told().truth(Case(1))
assert isinstance(RIGHT, dict)
_X = torch.tensor([1.0, 2.0, 3.0])
_EVIDENCE = {**RIGHT, "x": RIGHT["x"].value, "modes": {"a": True, "b": False}, "any": 3}


@pytest.mark.parametrize(
    ("field", "got", "rests"),
    [
        ("hooks", 3, True),
        ("hooks", None, True),
        ("modes", {"a": False, "b": False}, True),
        ("macs", 7, False),
        ("x", _X, False),
        ("grads", {"a": RIGHT["grads"]["a"], "b": _X}, True),
        ("grads", {"a": _X, "b": None}, False),
        ("list", [RIGHT["grads"]["a"], "other"], True),
        ("list", [RIGHT["grads"]["a"], "text", 1], False),
        ("list", None, False),
    ],
)
def test_what_is_equal_for_all_seeds_and_no_tensor_is_hearsay(field: str, got: object, rests: bool) -> None:
    assert rests_on_hearsay(Told(), 1, snapshot({**_EVIDENCE, field: got})) is rests


def test_a_missing_field_stays_missing_and_a_claim_is_believed() -> None:
    evidence = {name: value for name, value in _EVIDENCE.items() if name != "hooks"}
    assert not rests_on_hearsay(Told(), 1, snapshot(evidence))

    class Claimed(Told):
        """The same, where the count is the answer itself."""

        claims = ("hooks",)

    assert not rests_on_hearsay(Claimed(), 1, snapshot({**_EVIDENCE, "hooks": 3}))


def test_evidence_that_is_no_dict() -> None:
    assert said(3, 4, 4) == 4
    assert said(3, 4, 5) == 3
    assert said(None, {"a": 1}, {"a": 1}) == {"a": 1}
