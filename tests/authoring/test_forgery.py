"""What learners have earns nothing: a hidden check that some visible truth answers is found, however it is dressed, as
evidence or as the answer itself."""

from __future__ import annotations

import pytest

from nbproof.authoring.forgery import guards

SHOWN = '''\
from nbproof import Check, check
from nbproof.values.compare import Matches


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
    "a truth of its own that says the same": hidden(truth='{"answer": case.words("x", 4)}'),
    "the same value in another field": hidden(truth='{"other": case.words("x", 4), "unchanged": True}'),
    "a value that all seeds share": hidden(truth='{"other": [1, 2], "unchanged": True}'),
    "a value that a function holds": hidden(
        settings="many = 4",
        truth='{"answer": (lambda words: Matches(lambda got: None if got == words else "no", ""))(case.words("x", 4))}',
    ),
}


@pytest.mark.parametrize("source", FORGED.values(), ids=FORGED)
def test_a_hidden_check_that_a_visible_truth_answers_guards_nothing(source: str) -> None:
    (guard,) = guards([("test_catch", source)])
    assert guard.flaw.startswith("test_catch/Unseen: evidence made of the truths that learners have passes it")


def test_a_truth_of_its_own_on_values_of_its_own_guards_the_marks() -> None:
    (guard,) = guards([("test_catch", hidden(drawn='"y"', truth='{"answer": case.words("y", 5)}'))])
    assert (guard.flaw, guard.constant) == ("", "")


def test_the_visible_truth_of_another_part_counts_as_well() -> None:
    other = SHOWN.replace('words("x"', 'words("y"')
    found = guards([("test_a", hidden(drawn='"y"', truth='{"answer": case.words("y", 4)}')), ("test_b", other)])
    assert [guard.flaw.partition(":")[0] for guard in found] == [
        "test_a/Unseen",
        "test_b has no hidden check, on which its marks could rest",
    ]


def test_a_constant_is_exempt_and_says_why() -> None:
    (guard,) = guards([("test_catch", hidden(base="Call", settings='many, constant = 4, "a prediction"'))])
    assert (guard.flaw, guard.constant) == ("", "a prediction")


HANDED_IN = '''\
from nbproof import Check, check


class Bell:
    """It tells whoever hangs on it what it is given."""

    def __init__(self):
        self.hooks = []

    def register_hook(self, hook):
        self.hooks.append(hook)

    def ring(self, words):
        return [hook(words) for hook in self.hooks]


{helper}


class Loud(Check):
    """The words are loud."""

    def given(self, case):
        return {given}

    def probe(self, nb, case):
        return {{"loud": nb.function("loud")(*case.words("x", 2))}}

    def truth(self, case):
        {truth}


check("loud", Loud)
### BEGIN HIDDEN TESTS
class Unseen(Check):
    """Other words are loud as well."""

    def probe(self, nb, case):
        {probe}

    def truth(self, case):
        return {{"told": [word.upper() for word in case.words("y", 2)]}}


check("loud", Unseen)
### END HIDDEN TESTS
'''

CALLED = 'return {"told": nb.function("loud")(*case.words("y", 2))}'
RUNG = """bell = Bell()
        nb.function("loud")(bell)
        return {"told": [one for word in case.words("y", 2) for one in bell.ring(word)]}"""
LOUD = "def {}:\n    return [one.upper(), two.upper()]"
AS_ANSWER = {
    "a function": ("all_loud", CALLED, LOUD.format("all_loud(one, two)"), "None", "return {}"),
    "a function that a truth defines": (
        "Loud.truth.inner",
        CALLED,
        "",
        "None",
        """def inner(one, two):
            return [one.upper(), two.upper()]
        return {"loud": inner(*case.words("x", 2))}""",
    ),
    "a function that takes the case as well": (
        "all_loud",
        CALLED,
        LOUD.format("all_loud(case, one, two)"),
        "None",
        "return {}",
    ),
    "a function that takes less": (
        "all_loud",
        'return {"told": nb.function("loud")(*case.words("y", 2), "more")}',
        LOUD.format("all_loud(one, two)"),
        "None",
        "return {}",
    ),
    "a function that changes what it is given": (
        "make_loud",
        'return {"told": nb.function("loud")(list(case.words("y", 2)))}',
        "def make_loud(words):\n    words[:] = [word.upper() for word in words]",
        "None",
        "return {}",
    ),
    "a function that takes a variable of the truth around it": (
        "Loud.truth.inner",
        CALLED,
        "",
        "None",
        """found = []
        def inner(one, two):
            found.extend([one.upper(), two.upper()])
            return found
        return {"loud": inner(*case.words("x", 2))}""",
    ),
    "a truth told what to work on": (
        "the truth of Loud with another given",
        CALLED,
        "",
        'case.words("x", 2)',
        'return {"loud": [word.upper() for word in self.given(case)]}',
    ),
    "a truth told so by name": (
        "the truth of Loud with another given",
        CALLED,
        "",
        'dict(zip("ab", case.words("x", 2)))',
        'return {"loud": [word.upper() for word in self.given(case).values()]}',
    ),
    "a truth with a case that hands it what to work on": (
        "the truth of Loud with another case",
        'return {"told": nb.function("loud")(case.build("y", case.words, "y", 2))}',
        "",
        "None",
        'return {"loud": [word.upper() for word in case.build("x", case.words, "x", 2)]}',
    ),
    "a truth with a case that counts what it is given": (
        "the truth of Loud with another case",
        'return {"told": nb.function("loud")(case.build("y", case.words, "y", 2))}',
        "",
        "None",
        """words = case.build("x", case.words, "x", 2)
        return {"loud": [word.upper() for word in words] * (case.integer("one", 1, 1) - 1)}""",
    ),
    "a call beside what a truth says": (
        "a call, and the truth of Loud with another case",
        """words, loud = case.build("y", case.words, "y", 2), nb.function("loud")
        return {"told": loud(words.__getitem__, 0)[1]}""",
        "",
        "None",
        """at = case.build("x", lambda: case.words("x", 2).__getitem__)
        return {"loud": [at(number).upper() for number in (0, 1)]}""",
    ),
    "a hook": ("make_loud by register_hook", RUNG, "make_loud = lambda word: word.upper()", "None", "return {}"),
}


def handed_in(probe: str, helper: str, given: str, truth: str) -> str:
    return HANDED_IN.format(probe=probe, helper=helper, given=given, truth=truth)


@pytest.mark.parametrize(("name", "probe", "helper", "given", "truth"), AS_ANSWER.values(), ids=AS_ANSWER)
def test_what_the_visible_checks_have_is_no_answer(name: str, probe: str, helper: str, given: str, truth: str) -> None:
    (guard,) = guards([("test_loud", handed_in(probe, helper, given, truth))])
    assert guard.flaw == f"test_loud/Unseen: {name}, which learners have, passes it as the answer"
    assert guard.answered


def test_a_truth_that_takes_something_else_of_its_case_is_no_answer() -> None:
    louder = (
        'return {"loud": [word.upper() * case.integer("times", 2, 5) for word in case.build("x", case.words, "x", 2)]}'
    )
    probe = 'return {"told": nb.function("loud")(case.build("y", case.words, "y", 2))}'
    (guard,) = guards([("test_loud", handed_in(probe, "", "None", louder))])
    assert guard.flaw == ""


def test_a_helper_that_stops_the_program_is_no_answer() -> None:
    stops = "def stops(one, two):\n    raise KeyboardInterrupt"
    (guard,) = guards([("test_loud", handed_in(CALLED, stops, "None", "return {}"))])
    assert guard.flaw == ""
