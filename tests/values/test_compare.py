"""The comparison: no wrong value passes, no right one fails, and the first difference is said in one sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from nbproof.values.compare import (
    AnyOf,
    Close,
    Difference,
    Differs,
    FirstMismatch,
    Matches,
    Place,
    first_difference,
    first_mismatch,
    place_of,
    plainly,
    worth_drawing,
)
from nbproof.values.describe import in_words
from nbproof.values.evidence import Parts, snapshot
from nbproof.values.words import ENGLISH

T = torch.tensor
NAN = float("nan")
NEARLY = AnyOf([1, 2, 3], [1, 5, 4], [9, 2, 4])


def difference(got: object, wanted: object, where: str = "answer") -> Difference | None:
    return first_difference(snapshot(got), wanted, ENGLISH, where)


def sentence(got: object, wanted: object) -> str:
    found = difference(got, wanted)
    return "" if found is None else ENGLISH.difference(found)


@pytest.mark.parametrize(
    ("got", "wanted"),
    [
        (2, 2.0),
        (1.0000001, 1.0),
        ((1, 2), [1, 2]),
        (T([1.0]), torch.nn.Parameter(T([1.0]))),
        (torch.empty(0, 3), torch.empty(0, 3)),
        (torch.ones(2, 3).T, torch.ones(3, 2)),
        (2, AnyOf(1, 2)),
        (1.05, Close(1.0, atol=0.1)),
        ([T([1.05]), {"a": 2.05}], Close([T([1.0]), {"a": 2.0}], atol=0.1)),
        (T([10]), Close(T([11]), atol=1)),
        ([9, 2, 4], NEARLY),
    ],
)
def test_what_is_right_passes(got: object, wanted: object) -> None:
    assert difference(got, wanted) is None


@pytest.mark.parametrize(
    ("got", "wanted", "said"),
    [
        ([T([1.0]), T([1.0, 2, 3])], [T([1.0]), torch.ones(3, 1)], "answer[1] has shape (3,), wanted (3, 1)"),
        (T([1]), T([1.0]), "answer has dtype int64, wanted float32"),
        ([1], [1, 2], "answer has 1 item, wanted 2 (got [1])"),
        (None, T([1.0]), "answer is None, wanted a tensor of shape (1,)"),
        (T(1.0), 1.0, "answer is a tensor of shape (), wanted a float"),
        (1, True, "answer is an int, 1, wanted a bool"),
        (len, [5], "answer is a function (len), wanted a list of 1 item"),
        (3, (2, 3), "answer is an int, 3, wanted a tuple of 2 items"),
        (None, "goose", "answer is None, wanted a string"),
        ("duck", "goose", "answer is 'duck', wanted 'goose'"),
        (NAN, NAN, "answer is nan, wanted nan"),
        ({"a": 1, "x": 2}, {"a": 1, "b": 2}, "answer has the keys ['a', 'x'], wanted ['a', 'b'] ('b' is missing)"),
        ({"a": [1, 2]}, {"a": [1, 3]}, "answer['a'][1] is 2, wanted 3"),
        (T([1.0, NAN]), T([1.0, 2.0]), "answer is tensor([1., nan]), wanted tensor([1., 2.]) (nan at index 1)"),
        (
            T([[1.0, 2.0], [3.0, 4.0]]),
            T([[1.0, 2.0], [3.5, 5.0]]),
            "answer is tensor([[1., 2.], [3., 4.]]), wanted tensor([[1.0000, 2.0000], [3.5000, 5.0000]]) "
            "(2 of 4 elements differ, first at index (1, 0): 3 instead of 3.5)",
        ),
        (T([3.0]), AnyOf(2.0, T([2.0])), "answer is tensor([3.]), wanted tensor([2.])"),
        ([3.0], AnyOf(T([2.0]), None, [2.0]), "answer[0] is 3.0, wanted 2.0"),
        (4, Matches(lambda got: None if got < 4 else "too many", "at most 3"), "answer is too many, wanted at most 3"),
        (None, Matches(lambda got: None if len(got) == 2 else "x", "two items"), "answer is None, wanted two items"),
        (T([1.0]), T([1.00005]), "answer is tensor([1.]), wanted tensor([1.0000]) (1 instead of 1.00004995)"),
        # Told against the first, whichever else nearly fits; in words, also where it stands in another one.
        ([1, 2, 4], NEARLY, "answer[2] is 4, wanted 3"),
        ({"a": 3}, {"a": AnyOf(AnyOf(1, 2), 4)}, "answer['a'] is 3, wanted 1"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(got: object, wanted: object, said: str) -> None:
    assert sentence(got, wanted) == said


@pytest.mark.parametrize(
    ("got", "wanted"),
    [
        # Within float32's tolerance, but whole numbers are exact.
        (T([1_000_001]), T([1_000_000])),
        # Near enough in single precision, not in double.
        (T([1 + 3e-7], dtype=torch.float64), T([1], dtype=torch.float64)),
        (T([1.01], dtype=torch.float16), T([1.0], dtype=torch.float16)),
        (T([complex(NAN, 0)]), T([complex(NAN, 0)])),
        # A small element is held to its own size, whatever stands beside it.
        (T([1000.0, 0.2507]), T([1000.0, 0.25])),
        (torch.ones(3), torch.ones(1, 3)),
        (Close(1.0), 1.0),
        ([1, 2], Close([1, 2.5], atol=0.1)),
    ],
)
def test_what_is_nearly_right_does_not_pass(got: object, wanted: object) -> None:
    assert difference(got, wanted) is not None


@pytest.mark.parametrize("wanted", [{1, 2}, len, 10**30])
def test_a_truth_that_no_answer_can_equal_is_the_authors_error(wanted: object) -> None:
    # Were it an ordinary value, any set would pass for {1, 2}.
    with pytest.raises(TypeError, match="no answer can equal"):
        difference(wanted, wanted)


def test_the_fields_of_a_result_are_named_as_the_learner_knows_them() -> None:
    wanted = {"answer": [1], "x.grad": T([1.0])}
    assert first_difference({"answer": [2]}, wanted, ENGLISH) == Difference("answer[0]", Differs.VALUE, "2", "1")
    missing = first_difference({"answer": [1]}, wanted, ENGLISH)
    assert missing is not None
    assert ENGLISH.difference(missing) == "x.grad is missing"
    extra = first_difference({"answer": [1], "more": 1}, {"answer": [1]}, ENGLISH)
    assert extra is not None
    assert extra.where == "more"


# One pair of got and wanted a kind of difference; what must not show is the 7s and 'secret'.
SECRETS = [
    ("value", 5, 77),
    ("value", T([1.0, 2.0]), T([7.0, 77.0])),
    ("nonfinite", T([NAN, 1.0]), T([7.0, 77.0])),
    ("type", 5, "secret"),
    ("key missing", {"open": 1}, {"secret": 1}),
    ("count", [1], [7, 77]),
    ("shape", T([1.0]), T([7.0, 77.0])),
]


@pytest.mark.parametrize(("kind", "got", "wanted"), SECRETS)
def test_without_reveal_no_wanted_value_is_told(kind: str, got: object, wanted: object) -> None:
    found = difference(got, wanted)
    assert found is not None
    assert found.kind == kind
    for text in (repr(found.withheld()), ENGLISH.difference(found.withheld())):
        assert "7" not in text
        assert "secret" not in text
    assert found != found.withheld() or kind in ("type", "count", "shape", "dtype")


def test_words_are_short_whatever_the_value() -> None:
    nested = snapshot([{"key" * 50: ["x" * 500] * 50}] * 50)
    for value in (nested, snapshot(torch.rand(100, 100)), snapshot(torch.ones(600_000)), "x" * 10_000):
        assert len(in_words(value)) <= 160
    found = first_difference({"a": 1, "b" * 100_000: 2}, {"a": 1}, ENGLISH)
    assert found is not None and len(ENGLISH.difference(found)) < 200
    assert in_words(snapshot(torch.arange(65.0))) == "tensor([0., 1., 2., 3., 4., 5., ...]) of shape (65,)"
    double = "tensor([1., 1., 1., 1., 1., 1., ...], dtype=torch.float64) of shape (9, 9)"
    assert in_words(snapshot(torch.ones(9, 9, dtype=torch.float64))) == double
    assert in_words(snapshot(torch.ones(1, 2) > 0)) == "tensor([[True, True]])"


@pytest.mark.parametrize("text", ["DefaultCPUAllocator: can't allocate memory: x", "Cannot allocate memory"])
def test_a_test_that_ran_out_of_memory_has_judged_nothing(text: str) -> None:
    def test(got: object) -> str | None:
        raise RuntimeError(text)

    with pytest.raises(MemoryError, match="answer"):
        difference(1, Matches(test, "small"))


def test_a_part_that_is_missing_or_one_too_many_is_seen_with_what_is_around_it() -> None:
    whole = Place("", {"a": 1, "more" * 20: 2}, {"a": 1})
    extra = FirstMismatch(Place("more" * 20, 2, None), Differs.EXTRA, ("", "['a']"), around=whole)
    assert first_mismatch(whole) == extra
    long = first_difference({"a": 1, "m" * 81: 2}, {"a": 1}, ENGLISH)
    assert long is not None and long.where == "m" * 77 + "..."
    missing = Place("", {}, {"a": 1})
    assert first_mismatch(missing) == FirstMismatch(Place("a", None, 1), Differs.MISSING, ("", ""), around=missing)
    table = Place("answer", Parts("a table of 1", {".a": 1}), Parts("a table of 2", {".a": 1, ".b": 2}))
    assert first_mismatch(table) == FirstMismatch(Place("answer.b", None, 2), Differs.VALUE, around=table)
    other = replace(table, got=Parts("a row", {}))
    assert first_mismatch(other) == FirstMismatch(other, Differs.TYPE)


@pytest.mark.parametrize(
    ("got", "wanted", "as_a_whole"),
    [
        ([1, "x", None], [1, "y", None], True),
        ([["a", 1, 2, 3]], [["b", 1, 2, 3]], True),
        ([["a", 1, 2, 3, 4]], [["b", 1, 2, 3, 4]], False),
        ([1, T([1.0])], [2, T([1.0])], False),
        ([[[1]]], [[[2]]], False),
    ],
)
def test_a_list_of_words_is_seen_as_a_whole(got: object, wanted: object, as_a_whole: bool) -> None:
    place = Place("answer", snapshot(got), wanted)
    found = first_mismatch(place)
    assert found is not None
    assert (found.around == place) == as_a_whole
    assert (place_of(got, wanted) == replace(place, where="")) == as_a_whole


def test_a_dict_says_which_key_is_missing_or_one_too_many() -> None:
    for got, wanted, kind, key in (
        ({"a": 1}, {"a": 1, "b": 2}, Differs.KEY_MISSING, "'b'"),
        ({"a": 1, "b": 2}, {"a": 1}, Differs.KEY_EXTRA, "'b'"),
        ([1], {"a": 1}, Differs.TYPE, ""),
    ):
        place = Place("answer", snapshot(got), wanted)
        found = first_mismatch(place)
        assert found is not None
        assert (found.place, found.kind, found.key) == (place, kind, key)
    for key, shown in ((1, "answer[1]"), (None, "answer['None (NoneType)']")):
        inside = difference({key: 1}, {key: 2})
        assert inside is not None
        assert inside.where == shown


def test_nothing_is_pointed_at_where_a_test_was_asked() -> None:
    asked = Matches(lambda got: "no", "yes")
    assert place_of([1], asked) is None
    assert place_of({"a": 1}, {"a": asked}) is None
    assert place_of(1, 1) == Place("", 1, 1)


def test_what_was_wanted_is_told_plainly() -> None:
    wanted = {"a": AnyOf(Close(1.0), 2), "b": (Close([3]), Matches(lambda got: None, "small")), "c": "x"}
    assert plainly(wanted) == {"a": 1.0, "b": [[3], "small"], "c": "x"}


@pytest.mark.parametrize(
    ("got", "wanted", "worth"),
    [
        (T([1.0]), T([2.0]), False),
        (T([1.0]), T([1.0, 2.0]), True),
        (1, 2, False),
        ("a", "b" * 40, False),
        ("a", "b" * 41, True),
        ("a", "b\n", True),
        ([1], [2], False),
        ([1], [1, 2], True),
        ([1, 2], 1, False),
        ({"a": 1, "b": 2}, {"a": 1}, True),
    ],
)
def test_a_picture_is_worth_drawing_of_more_than_one_thing(got: object, wanted: object, worth: bool) -> None:
    assert worth_drawing(Place("", snapshot(got), wanted)) == worth
