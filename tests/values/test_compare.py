"""The comparison: no wrong value passes, no right one fails, and the first difference is said in one sentence."""

from __future__ import annotations

import pytest
import torch

from nbproof.display.words import ENGLISH
from nbproof.values.compare import AnyOf, Close, Difference, Differs, Matches, first_difference, leaves
from nbproof.values.describe import in_words
from nbproof.values.evidence import TensorRecord, snapshot

T = torch.tensor
NAN = float("nan")
INF = float("inf")


def difference(got: object, wanted: object, where: str = "answer") -> Difference | None:
    return first_difference(snapshot(got), wanted, where)


def sentence(got: object, wanted: object) -> str:
    found = difference(got, wanted)
    return "" if found is None else ENGLISH.difference(found)


@pytest.mark.parametrize(
    ("got", "wanted"),
    [
        (None, None),
        (2, 2.0),
        (1.0000001, 1.0),
        (INF, INF),
        (-0.0, 0.0),
        ("a", "a"),
        ((1, 2), [1, 2]),
        ([], ()),
        (T([1.0]), torch.nn.Parameter(T([1.0]))),
        (T([1.0 + 1e-7]), T([1.0])),
        (T([INF, 1.0]), T([INF, 1.0])),
        (torch.empty(0, 3), torch.empty(0, 3)),
        (T(1 + 1j), T(1 + 1j)),
        (torch.ones(2, 3).T, torch.ones(3, 2)),
        ({"b": 1, "a": T([1])}, {"a": T([1]), "b": 1}),
        ({1: "x"}, {1: "x"}),
        (2, AnyOf(1, 2)),
        ([1, T([2.0])], AnyOf([1], [1, T([2.0])])),
        (1.05, Close(1.0, atol=0.1)),
        (3.0, Close(2, atol=1.5)),
        ([T([1.05]), {"a": 2.05}], Close([T([1.0]), {"a": 2.0}], atol=0.1)),
        ([1.05, 7], [Close(1.0, atol=0.1), 7]),
        (T([10]), Close(T([11]), atol=1)),
        ("abc", Matches(lambda got: None if got == "abc" else "wrong", "abc")),
    ],
)
def test_what_is_right_passes(got: object, wanted: object) -> None:
    assert difference(got, wanted) is None


@pytest.mark.parametrize(
    ("got", "wanted", "said"),
    [
        ([T([1.0]), T([1.0, 2, 3])], [T([1.0]), torch.ones(3, 1)], "answer[1] has shape (3,), wanted (3, 1)"),
        (T(1.0), T([1.0]), "answer has shape (), wanted (1,)"),
        (T([1]), T([1.0]), "answer has dtype int64, wanted float32"),
        (T([1.0]), T([1.0]).double(), "answer has dtype float32, wanted float64"),
        ([], [1], "answer has 0 items, wanted 1"),
        ([1], [1, 2], "answer has 1 item, wanted 2 (got [1])"),
        (None, T([1.0]), "answer is None, wanted a tensor of shape (1,)"),
        (1.0, T(1.0), "answer is a float, 1.0, wanted a tensor of shape ()"),
        (T(1.0), 1.0, "answer is a tensor of shape (), wanted a float"),
        (True, 1, "answer is a bool, True, wanted an int"),
        (1, True, "answer is an int, 1, wanted a bool"),
        (True, 1.0, "answer is a bool, True, wanted a float"),
        (2.0, 2, "answer is a float, 2.0, wanted an int"),
        ("1", 1, "answer is text, '1', wanted an int"),
        (5, [5], "answer is an int, 5, wanted a list of 1 item"),
        ([5], {"a": 5}, "answer is a list of 1 item, wanted a dict of 1 item"),
        (len, [5], "answer is a function (len), wanted a list of 1 item"),
        ("duck", "goose", "answer is 'duck', wanted 'goose'"),
        (3, 4, "answer is 3, wanted 4"),
        (NAN, 1.0, "answer is nan, wanted 1.0"),
        (NAN, NAN, "answer is nan, wanted nan"),
        (1.0, INF, "answer is 1.0, wanted inf"),
        ({"a": 1, "x": 2}, {"a": 1, "b": 2}, "answer has the keys ['a', 'x'], wanted ['a', 'b'] ('b' is missing)"),
        ({"a": 1, "b": 2}, {"a": 1}, "answer has the keys ['a', 'b'], wanted ['a'] ('b' is one too many)"),
        ({1: 0}, {"1": 0}, "answer has the keys ['1 (int)'], wanted ['1'] ('1' is missing)"),
        ({"a": [1, 2]}, {"a": [1, 3]}, "answer['a'][1] is 2, wanted 3"),
        (T([2.0]), T([3.0]), "answer is tensor([2.]), wanted tensor([3.])"),
        (T([1.0, NAN]), T([1.0, 2.0]), "answer is tensor([1., nan]), wanted tensor([1., 2.]) (nan at index 1)"),
        (T([INF]), T([2.0]), "answer is tensor([inf]), wanted tensor([2.]) (inf at index 0)"),
        (T([NAN]), T([NAN]), "answer is tensor([nan]), wanted tensor([nan])"),
        (
            T([[1.0, 2.0], [3.0, 4.0]]),
            T([[1.0, 2.0], [3.5, 5.0]]),
            "answer is tensor([[1., 2.], [3., 4.]]), wanted tensor([[1.0000, 2.0000], [3.5000, 5.0000]]) "
            "(2 of 4 elements differ, first at index (1, 0): 3 instead of 3.5)",
        ),
        (5, AnyOf(1, 2), "answer is 5, wanted 1"),
        (T([3.0]), AnyOf(2.0, T([2.0])), "answer is tensor([3.]), wanted tensor([2.])"),
        (3.0, AnyOf(T([2.0]), None, 2.0), "answer is 3.0, wanted 2.0"),
        ([3.0], AnyOf(T([2.0]), None, [2.0]), "answer[0] is 3.0, wanted 2.0"),
        ("three", AnyOf(1, 2.0), "answer is text, 'three', wanted an int"),
        (1.2, Close(1.0, atol=0.1), "answer is 1.2, wanted 1.0"),
        (4, Matches(lambda got: None if got < 4 else "too many", "at most 3"), "answer is too many, wanted at most 3"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(got: object, wanted: object, said: str) -> None:
    assert sentence(got, wanted) == said


@pytest.mark.parametrize(
    ("got", "wanted"),
    [
        # Within float32's tolerance, but whole numbers are exact.
        (T([1_000_001]), T([1_000_000])),
        (T([1_000_001], dtype=torch.int32), T([1_000_000], dtype=torch.int32)),
        (10**9 + 1, 10**9),
        (T([True, False]), T([True, True])),
        (T([3], dtype=torch.uint16), T([4], dtype=torch.uint16)),
        # Near enough in single precision, not in double.
        (T([1 + 3e-7], dtype=torch.float64), T([1], dtype=torch.float64)),
        (T([1.01], dtype=torch.float16), T([1.0], dtype=torch.float16)),
        (T([1 + 1j]), T([1 + 1.001j])),
        (T([complex(NAN, 0)]), T([complex(NAN, 0)])),
        (torch.ones(3), torch.ones(1, 3)),
        (torch.ones(0, 3), torch.ones(0, 2)),
        (Close(1.0), 1.0),
        ([1, 2], Close([1, 2.5], atol=0.1)),
    ],
)
def test_what_is_nearly_right_does_not_pass(got: object, wanted: object) -> None:
    assert difference(got, wanted) is not None


def test_equal_looking_values_are_told_apart() -> None:
    assert (
        sentence(T([1.0]), T([1.00005])) == "answer is tensor([1.]), wanted tensor([1.0000]) (1 instead of 1.00004995)"
    )


class EqualsAll:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("wanted", [None, 1, "a", T([1.0]), [1], {"a": 1}, AnyOf(1, None)])
def test_an_object_that_equals_everything_passes_for_nothing(wanted: object) -> None:
    assert difference(EqualsAll(), wanted) is not None


@pytest.mark.parametrize("wanted", [{1, 2}, torch.float32, len, 3 + 4j, 10**30, torch.nn.ReLU()])
def test_a_truth_that_no_answer_can_equal_is_the_authors_error(wanted: object) -> None:
    # Were it an ordinary value, any set would pass for {1, 2}.
    with pytest.raises(TypeError, match="no answer can equal"):
        difference(wanted, wanted)


def test_a_matcher_that_trips_over_an_odd_answer_rejects_it() -> None:
    assert sentence(None, Matches(lambda got: None if len(got) == 2 else "x", "two items")) == (
        "answer is None, wanted two items"
    )


def test_any_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="AnyOf"):
        AnyOf()


def test_the_fields_of_a_result_are_named_as_the_learner_knows_them() -> None:
    wanted = {"answer": [1], "x.grad": T([1.0])}
    assert first_difference({"answer": [2]}, wanted) == Difference("answer[0]", Differs.VALUE, "2", "1")
    missing = first_difference({"answer": [1]}, wanted)
    assert missing is not None
    assert ENGLISH.difference(missing) == "x.grad is missing"
    extra = first_difference({"answer": [1], "more": 1}, {"answer": [1]})
    assert extra is not None
    assert extra.where == "more"


# One pair of got and wanted a kind of difference; what must not show is the 7s and 'secret'.
SECRETS = [
    ("value", 5, 77),
    ("value", 5.0, 7.75),
    ("value", T([1.0, 2.0]), T([7.0, 77.0])),
    ("value", T([1, 2]), T([7, 77])),
    ("text", "open", "secret"),
    ("nonfinite", T([NAN, 1.0]), T([7.0, 77.0])),
    ("nonfinite", NAN, 7.75),
    ("type", None, 77),
    ("type", None, 7.75),
    ("type", 5, "secret"),
    ("type", 5, T([7.0])),
    ("key missing", {"open": 1}, {"secret": 1}),
    ("key missing", {"open": 1, "more": 2}, {"open": 1, "more": 2, "secret": 7}),
    ("count", [1], [7, 77]),
    ("shape", T([1.0]), T([7.0, 77.0])),
    ("dtype", T([1.0]), T([7])),
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


def test_the_leaves_of_a_truth_come_with_place_and_tolerance() -> None:
    wanted = {"a": [T([1.0]).double(), Close(2.0, atol=0.5)], "b": AnyOf(1, Close({"c": 3}, atol=0.25))}
    found = {(where, atol) for where, leaf, atol in leaves(wanted, "truth")}
    assert found == {("truth['a'][0]", 1e-7), ("truth['a'][1]", 0.5), ("truth['b']", 1e-5), ("truth['b']['c']", 0.25)}


def test_a_record_is_as_good_as_its_tensor_in_a_truth() -> None:
    record = snapshot(T([1.0]))
    assert isinstance(record, TensorRecord)
    assert difference(T([1.0]), record) is None
    assert difference(T([2.0]), record) is not None


def test_a_small_element_is_held_to_its_own_size_whatever_stands_beside_it() -> None:
    found = first_difference(snapshot(torch.tensor([1000.0, 0.2507])), torch.tensor([1000.0, 0.25]))
    assert found is not None and found.detail is not None and found.detail.index == (1,)


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (torch.arange(65.0), "tensor([0., 1., 2., 3., 4., 5., ...]) of shape (65,)"),
        (torch.arange(72).reshape(2, 4, 9), "tensor([0, 1, 2, 3, 4, 5, ...]) of shape (2, 4, 9)"),
        (torch.ones(9, 9, dtype=torch.float64), "tensor([1., 1., 1., 1., 1., 1., ...], dtype=torch.float64) of shape (9, 9)"),
        (torch.ones(2, 3) > 0, "tensor([[True, True, True], [True, True, True]])"),
    ],
)  # fmt: skip
def test_a_large_tensor_is_told_by_its_first_elements_and_its_shape(tensor: torch.Tensor, words: str) -> None:
    assert in_words(snapshot(tensor)) == words


def test_any_of_is_told_against_the_first_whichever_else_nearly_fits() -> None:
    found = difference([1, 2, 4], AnyOf([1, 2, 3], [1, 5, 4], [9, 2, 4]))
    assert found is not None
    assert (found.where, found.got, found.wanted) == ("answer[2]", "4", "3")
    assert difference([9, 2, 4], AnyOf([1, 2, 3], [1, 5, 4], [9, 2, 4])) is None
    # One that fits nothing is told in words, also where it stands in another one.
    nested = difference({"a": 3}, {"a": AnyOf(AnyOf(1, 2), 4)})
    assert nested is not None
    assert (nested.got, nested.wanted) == ("3", "1")


def test_a_field_too_many_is_named_in_short_however_long_its_name_is() -> None:
    found = first_difference({"a": 1, "b" * 100_000: 2}, {"a": 1})
    assert found is not None
    assert len(ENGLISH.difference(found)) < 200
