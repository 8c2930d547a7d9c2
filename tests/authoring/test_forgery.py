"""What learners have earns nothing: a hidden check is found that evidence made from the truths of visible checks answers."""

from __future__ import annotations

import pytest

from nbproof.authoring.forgery import can_be_made, guards
from nbproof.values.compare import AnyOf, Close
from tests import COURSE
from tests.authoring.tiny import cell_of

SHOWN = '''\
from nbproof import Check, check


class Call(Check):
    """After a call `answer` holds the words."""

    many = 4

    def probe(self, nb, case):
        return {"answer": nb.function("words")(case.words("x", self.many))}

    def truth(self, case):
        return {"answer": case.words("x", self.many), "unchanged": True}


check("catch", Call)
'''

HIDDEN = """
### BEGIN HIDDEN TESTS
class Unseen({base}):
    {settings}

    def probe(self, nb, case):
        return {{"answer": nb.function("words")(case.words({drawn}, self.many))}}
{truth}

check("catch", Unseen)
### END HIDDEN TESTS
"""

OWN = """
    def truth(self, case):
        return {}
"""


def hidden(base: str = "Check", settings: str = "many = 4", drawn: str = '"x"', truth: str = "") -> str:
    return SHOWN + HIDDEN.format(base=base, settings=settings, drawn=drawn, truth=OWN.format(truth) if truth else "")


FORGED = {
    "the same truth": hidden(base="Call"),
    "the same truth with other settings": hidden(base="Call", settings="many = 7"),
    "the same value in another field": hidden(truth='{"other": {"four": case.words("x", 4)}, "unchanged": True}'),
    "a value that all seeds share": hidden(truth='{"other": [1, 2], "unchanged": True}'),
}


@pytest.mark.parametrize("source", FORGED.values(), ids=FORGED)
def test_a_hidden_check_that_a_visible_truth_answers_guards_nothing(source: str) -> None:
    (guard,) = guards(COURSE, [cell_of("test_catch", source)])
    assert guard.flaw.startswith("test_catch/Unseen: evidence put together of what learners have passes it")


def test_the_visible_truth_of_another_part_counts_as_well() -> None:
    other = SHOWN.replace('words("x"', 'words("y"')
    found = guards(
        COURSE,
        [cell_of("test_a", hidden(drawn='"y"', truth='{"answer": case.words("y", 4)}')), cell_of("test_b", other)],
    )
    assert [guard.flaw.partition(":")[0] for guard in found] == [
        "test_a/Unseen",
        "test_b has no hidden check, on which its marks could rest",
    ]


def test_a_constant_is_exempt_and_says_why() -> None:
    (guard,) = guards(
        COURSE, [cell_of("test_catch", hidden(base="Call", settings='many, constant = 4, "a prediction"'))]
    )
    assert (guard.flaw, guard.constant) == ("", "a prediction")


def test_one_leaf_that_nobody_has_guards_the_marks() -> None:
    wanted = {"names": ["a", "b"], "each": [Close(1.5), AnyOf("no", "yes")], "fixed": True}
    others = [{"names": ["c"], "each": [Close(2.5), "maybe"], "fixed": True}]
    assert can_be_made(wanted, [["a", "b"], 1.500001, "yes"], others)
    assert not can_be_made(wanted, [["a"], ["b"], 1.5, "yes"], others)
    assert not can_be_made(wanted, [["a", "b"], 1.5, "yes"], others, claims=("fixed",))
