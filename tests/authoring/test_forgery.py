"""What learners have earns nothing: a hidden check is found that can be answered with it, as evidence put together of
pieces, or as the answer itself."""

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
    assert guard.flaw.startswith("test_catch/Unseen: evidence put together of what learners have passes it")


def test_a_truth_of_its_own_on_values_of_its_own_guards_the_marks() -> None:
    (guard,) = guards(
        [("test_catch", hidden(drawn='"y"', truth='{"answer": [f"{word}s" for word in case.words("y", 4)]}'))]
    )
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

    def __mul__(self, times):
        return self

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
    "a hook of two parts": (
        "louder of longer by register_hook",
        RUNG,
        'def longer(word):\n    return word + "!"\n\n\ndef louder(word):\n    return word[:-1].upper()',
        "None",
        "return {}",
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


PIECES = {
    "what a known mistake counts, by chance the right number": '''\
import torch
from torch import nn
from nbproof import Check, check
from nbproof.values.compare import AnyOf


def slips(model, x):
    return {"square": [len(x) * model.in_features**2]}


class Whole(Check):
    """The products are counted."""

    def given(self, case):
        return {"model": case.build("net", nn.Linear, 4, 3), "x": case.tensor("x", case.integer("rows", 2, 9), 4)}

    def more(self, case, x):
        return torch.cat([x, x[: case.integer("more", 1, 2)]])

    def probe(self, nb, case):
        model, x = self.given(case).values()
        return {"products": nb.function("count")(model, self.more(case, x))}

    def truth(self, case):
        model, x = self.given(case).values()
        return {"products": len(self.more(case, x)) * model.in_features * model.out_features}

    def mistakes(self, case):
        return {hint: {"products": AnyOf(*found)} for hint, found in slips(**self.given(case)).items()}


check("count", Whole)
### BEGIN HIDDEN TESTS
class Unseen(Check):
    """Those of another model."""

    def given(self, case):
        size = case.integer("size", 3, 99)
        return case.build("another net", nn.Linear, size, size + {more}), case.tensor("y", case.integer("all", 2, 99), size)

    def probe(self, nb, case):
        return {"products of another": nb.function("count")(*self.given(case))}

    def truth(self, case):
        model, x = self.given(case)
        return {"products of another": len(x) * model.weight.numel()}


check("count", Unseen)
### END HIDDEN TESTS
''',
    "a visible truth on the same draws, and what the probe brings of a block that does nothing": '''\
from nbproof import Check, check


class Steps(Check):
    """A step is made."""

    def given(self, case):
        return case.tensor("w", 3), case.tensor("x", 3)

    def probe(self, nb, case):
        w, x = self.given(case)
        with nb.function("stepping")(w, x):
            pass
        return {"after": w}

    def truth(self, case):
        w, x = self.given(case)
        return {"after": w - x}


check("stepping", Steps)
### BEGIN HIDDEN TESTS
class Unseen(Steps):
    """Nothing else is changed."""

    def probe(self, nb, case):
        w, x = self.given(case)
        with nb.function("stepping")(w, x):
            seen = {"one": [x * 2]}
        return {"w": w, "seen": seen, "count": 1}

    def truth(self, case):
        w, x = self.given(case)
        return {"w": w - {twice}x, "seen": {"one": [x * 2]}, "count": 1}


check("stepping", Unseen)
### END HIDDEN TESTS
''',
    "what the case draws": '''\
from nbproof import Check, check


class Renamed(Check):
    """It has another name."""

    def probe(self, nb, case):
        return {"loaded": nb.function("renamed")({"old": case.tensor("x", 2)}, "old", "new")}

    def truth(self, case):
        return {"loaded": {"new": case.tensor("x", 2)}}


check("renamed", Renamed)
### BEGIN HIDDEN TESTS
class Unseen(Check):
    """So have others."""

    def probe(self, nb, case):
        old, new = case.words("names", 2)
        loaded = nb.function("renamed")({old: case.tensor("y", 2)}, old, new)
        return {"says": "fine", "loaded": {new: loaded[new]{times}}}

    def truth(self, case):
        _, new = case.words("names", 2)
        return {"says": "fine", "loaded": {new: case.tensor("y", 2){times}}}


check("renamed", Unseen)
### END HIDDEN TESTS
''',
    "a visible truth of what two calls are given": '''\
from torch import nn
from nbproof import Check, check


class AnyModel(Check):
    """The outputs are there."""

    def models(self, case):
        return {"one": (case.build("one", lambda: nn.ModuleDict({"a": nn.Linear(4, 2)})), case.tensor("x", 2, 4))}

    def probe(self, nb, case):
        return {says: nb.function("Outputs")(model, list(model))(x) for says, (model, x) in self.models(case).items()}

    def truth(self, case):
        models = self.models(case).items()
        return {says: {name: model[name](x) for name in model} for says, (model, x) in models}


check("outputs", AnyModel)
### BEGIN HIDDEN TESTS
class Unseen(Check):
    """Those of each call."""

    def given(self, case):
        names, inputs = case.words("names", 2), [case.tensor(f"y{number}", number, 3) for number in (2, 5)]
        return case.build("net", lambda: nn.ModuleDict({name: nn.Linear(3, 4) for name in names})), inputs

    def run(self, case, outputs):
        model, inputs = self.given(case)
        outputs, found = outputs(model, list(model)), {}
        for number, x in enumerate(inputs):
            for one in model.parameters():
                one.data += case.tensor(f"other weights {number}", *one.shape) * {changes}
            found[f"call {number}"] = outputs(x)
        return found

    def probe(self, nb, case):
        return self.run(case, nb.function("Outputs"))

    def truth(self, case):
        return self.run(case, lambda model, names: lambda x: {name: model[name](x).detach() for name in names})


check("outputs", Unseen)
### END HIDDEN TESTS
''',
    "a visible truth of one name at a time": '''\
from torch import nn
from nbproof import Check, check


def outputs_of(model, names, x):
    outputs = {name: layer(x) for name, layer in model.items() if len(name) < 20}
    return {name: outputs[name] for name in names}


class AsItIs(Check):
    """The outputs are there."""

    def given(self, case):
        return case.build("one", lambda: nn.ModuleDict({"a": nn.Linear(4, 2)})), ["a"], case.tensor("x", 2, 4)

    def probe(self, nb, case):
        return {"outputs": nb.function("outputs")(*self.given(case))}

    def truth(self, case):
        return {"outputs": outputs_of(*self.given(case))}


check("outputs", AsItIs)
### BEGIN HIDDEN TESTS
class Unseen(Check):
    """Those of the layers that run."""

    def run(self, case, outputs):
        names, found = [*case.words("names", 2), "a name of a layer that does not run"], []
        model = case.build("net", lambda: nn.ModuleDict({name: nn.Linear(3, 4) for name in names}))
        for number in (2, 5):
            for one in model.parameters():
                one.data += case.tensor(f"other weights {number}", *one.shape) * {changes}
            found.append(outputs(model, names, case.tensor(f"y{number}", number, 3)))
        return {"of both": found}

    def probe(self, nb, case):
        return self.run(case, nb.function("outputs"))

    def truth(self, case):
        return self.run(case, lambda model, names, x: {name: model[name](x).detach() for name in names[:2]})


check("outputs", Unseen)
### END HIDDEN TESTS
''',
}
FORGED_WITH = {"{more}": "0", "{twice}": "", "{times}": "", "{changes}": "0"}
MENDED_BY = {"{more}": "1", "{twice}": "2 * ", "{times}": " * 2", "{changes}": "1"}
"""What makes the same check want what exists only where the answer works."""


def filled(source: str, words: dict[str, str]) -> str:
    for place, word in words.items():
        source = source.replace(place, word)
    return source


@pytest.mark.parametrize("source", PIECES.values(), ids=PIECES)
def test_evidence_put_together_of_pieces_is_found(source: str) -> None:
    (guard,) = guards([("test_it", filled(source, FORGED_WITH))])
    assert guard.flaw.startswith("test_it/Unseen: evidence put together of what learners have passes it")
    assert not guard.answered


@pytest.mark.parametrize("source", PIECES.values(), ids=PIECES)
def test_one_leaf_that_is_no_piece_guards_the_marks(source: str) -> None:
    (guard,) = guards([("test_it", filled(source, MENDED_BY))])
    assert guard.flaw == ""


COMPOSED = '''\
from collections import namedtuple

from nbproof import Check, check

Heard = namedtuple("Heard", ["word", "number", "loud"])


def long_ones(words):
    return [word for word in words if len(word) > 0]


def heard_in(words):
    return [Heard(word, len(word), f"{{word.upper()}}{{word}}"{cut}) for word in words]


def loud_ones(words, long):
    if not isinstance(long, list):
        raise TypeError("no list")
    return {{word: f"{{word.upper()}}{{len(words)}}"{cut} for word in long}}


def numbered(loud):
    return [f"{{number}} {{word}}" for number, word in enumerate(loud.values())]{cut}


class Loud(Check):
    """The words are loud."""

    def probe(self, nb, case):
        return {{"loud": nb.function("loud")(tuple(case.words("x", 2)))}}

    def truth(self, case):
        return {{}}


check("loud", Loud)
### BEGIN HIDDEN TESTS
class Unseen(Check):
    """Other words are loud as well."""

    def probe(self, nb, case):
        return {{"told": nb.function("loud")(tuple(case.words("y", 3)))}}

    def truth(self, case):
        words = case.words("y", 3)
        return {{"told": {wanted}}}


check("loud", Unseen)
### END HIDDEN TESTS
'''
COMPOSITIONS = {
    "one function beside what is given": (
        "loud_ones of long_ones",
        '{word: f"{word.upper()}3" for word in words}',
        "[:1]",
    ),
    "a field of records": (
        "a list of the field 2 of heard_in",
        '[(word, f"{word.upper()}{word}") for word in words]',
        "[:1]",
    ),
    "those of records by their names": (
        "a dict of the field 2 of heard_in",
        '{word: f"{word.upper()}{word}" for word in words}',
        "[:1]",
    ),
    "an item": ("the item 1 of long_ones", "words[1]", None),
}


@pytest.mark.parametrize(("name", "wanted", "_"), COMPOSITIONS.values(), ids=COMPOSITIONS)
def test_two_visible_functions_put_together_are_no_answer(name: str, wanted: str, _: str | None) -> None:
    (guard,) = guards([("test_loud", COMPOSED.format(wanted=wanted, cut=""))])
    assert guard.flaw == f"test_loud/Unseen: {name}, which learners have, passes it as the answer"


@pytest.mark.parametrize(("name", "wanted", "cut"), [one for one in COMPOSITIONS.values() if one[2]])
def test_functions_that_say_less_are_no_answer_when_put_together(name: str, wanted: str, cut: str) -> None:
    (guard,) = guards([("test_loud", COMPOSED.format(wanted=wanted, cut=cut))])
    assert guard.flaw == ""


def test_a_right_answer_tells_which_compositions_are_worth_a_probe() -> None:
    def loud(words: tuple[str, ...]) -> dict[str, str]:
        return {word: f"{word.upper()}{len(words)}" for word in words}

    source = COMPOSED.format(wanted='{word: f"{word.upper()}3" for word in words}', cut="")
    (guard,) = guards([("test_loud", source)], {"loud": loud})
    assert guard.flaw == "test_loud/Unseen: loud_ones of long_ones, which learners have, passes it as the answer"
    for other in ({}, [print]):  # what is no data equals nothing
        (guard,) = guards([("test_loud", source)], {"loud": lambda words, other=other: other})
        assert guard.flaw == ""
