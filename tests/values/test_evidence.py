"""Evidence: whatever a learner answers with becomes plain data, at once and within a budget."""

from __future__ import annotations

import collections
import itertools
import types
import warnings
from collections.abc import Iterator, Mapping

import pytest
import torch

from nbproof.values.describe import sort_of
from nbproof.values.evidence import MAX_BYTES, MAX_ITEMS, TensorRecord, Unreadable, snapshot
from nbproof.values.leaf import ITEM_SIZES
from nbproof.values.words import ENGLISH
from tests.leaves import LEAVES

DTYPES = [getattr(torch, name) for name in sorted(ITEM_SIZES)]


class Liar:
    """Equals everything, and says it is a tensor."""

    __class__ = torch.Tensor  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True


class LyingList(list):
    def __eq__(self, other: object) -> bool:
        return True

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[object]:
        return iter([42])

    __hash__ = None  # type: ignore[assignment]


class LyingTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def, override]
        return True


class Endless(Mapping[str, int]):
    def __getitem__(self, key: str) -> int:
        return 0

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        return (str(number) for number in itertools.count())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_tensor_comes_back_with_its_dtype_shape_and_elements(dtype: torch.dtype) -> None:
    for shape in ((), (2, 0, 3), (2, 3)):
        tensor = torch.arange(torch.Size(shape).numel()).reshape(shape).to(dtype)
        record = snapshot(tensor)
        assert isinstance(record, TensorRecord)
        rebuilt = record.tensor()
        assert (rebuilt.dtype, tuple(rebuilt.shape)) == (dtype, shape)
        assert bool((rebuilt == tensor).all())


def test_views_and_parameters_come_back_element_by_element() -> None:
    negated = torch.tensor([1 + 2j, 3 - 1j]).conj().imag
    for tensor in (torch.arange(6.0).reshape(2, 3).T, negated, torch.nn.Parameter(torch.ones(2))):
        record = snapshot(tensor)
        assert isinstance(record, TensorRecord)
        assert not record.tensor().requires_grad
        assert record.tensor().tolist() == tensor.tolist()


def test_later_changes_of_the_answer_do_not_show_and_a_snapshot_in_another_stays_as_it_is() -> None:
    tensor, answer = torch.ones(2), [1]
    before = snapshot({"tensor": tensor, "answer": answer})
    tensor.zero_()
    answer.append(2)
    assert before == {"tensor": snapshot(torch.ones(2)), "answer": [1]}
    assert snapshot({"before": before, "f": snapshot(len)}) == {"before": before, "f": snapshot(len)}


def test_attributes_that_a_learner_put_on_a_tensor_do_not_count() -> None:
    tensor = torch.ones(2)
    tensor.detach = lambda: torch.zeros(2)  # type: ignore[method-assign]
    tensor.numel = lambda: 0  # type: ignore[method-assign]
    assert snapshot(tensor) == snapshot(torch.ones(2))


def given_back() -> torch.Tensor:
    tensor = torch.ones(3)
    tensor.untyped_storage().resize_(0)
    return tensor


def nested() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (Liar(), "a Liar"),
        (torch.ones(2).as_subclass(LyingTensor), "a LyingTensor, a subclass of torch.Tensor"),
        (torch.ones(2, device="meta"), "a tensor with layout torch.strided on device meta"),
        ({1, 2}, "a set"),
        (len, "a function (len)"),
        (10**30, "an int beyond 64 bits"),
        ("a" * 200_000, "a string of 200000 characters"),
        (given_back(), "a tensor with memory that was given back"),
        (nested(), "a nested tensor"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 60 else "",
)
def test_what_is_not_plain_data_is_named(value: object, what: str) -> None:
    taken = snapshot(value)
    assert isinstance(taken, Unreadable)
    assert sort_of(taken, ENGLISH) == what


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ((1, (2, [3])), [1, [2, [3]]]),
        (collections.namedtuple("Pair", "a b")(1, 2), [1, 2]),
        (types.MappingProxyType({"a": True}), {"a": True}),
        ({1: "a", "1": "b"}, {"1 (int)": "a", "1": "b"}),
        ({10**10_000: 1}, {"beyond 64 bits (int)": 1}),
        (LyingList([1, 2]), [1, 2]),
    ],
)
def test_containers_become_lists_and_dicts(value: object, plain: object) -> None:
    assert snapshot(value) == plain


@pytest.mark.parametrize("huge", [[0] * (MAX_ITEMS + 1), tuple(range(10**6)), dict.fromkeys(range(10**5)), Endless()])
def test_a_huge_or_endless_answer_ends_the_walk_and_leaves_its_neighbours_readable(huge: object) -> None:
    assert snapshot({"answer": huge, "other": [1]}) == {
        "answer": Unreadable(f"more than {MAX_ITEMS} values"),
        "other": [1],
    }


def count(value: object) -> int:
    """Values in a snapshot, containers included."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(count(part) for part in parts)


@pytest.mark.parametrize(("copies", "said"), [(1, "nested more than 12 deep"), (50, f"more than {MAX_ITEMS} values")])
def test_an_answer_that_holds_itself_ends(copies: int, said: str) -> None:
    answer: list[object] = [1]
    answer += [answer] * copies
    taken = snapshot({"first": 1, "answer": answer})
    assert isinstance(taken, dict)
    assert taken["first"] == 1
    assert said in repr(taken["answer"])


@pytest.mark.parametrize("inner", [[0] * 15_000, {str(number): 0 for number in range(15_000)}])
def test_no_snapshot_holds_more_than_its_budget(inner: object) -> None:
    # Graders refuse what is larger before they look at it.
    for value in ([inner] + [0] * 15_000, {"a": inner, "b": [inner]}, {str(i): [0] * 9_000 for i in range(1_500)}):
        assert count(snapshot(value)) <= MAX_ITEMS + 1


def test_the_tensors_of_one_answer_share_a_budget_of_bytes() -> None:
    expanded = torch.ones(1).expand(MAX_BYTES)
    taken = snapshot([expanded, torch.ones(2)])
    assert taken == [Unreadable("more than 64 MiB of tensors"), snapshot(torch.ones(2))]


@pytest.mark.parametrize(
    ("dtype", "shape", "data"),
    [("float32", (2,), b"1234"), ("float31", (1,), b"1234"), ("load", (0,), b""), ("uint8", (-1, -4), b"1234")],
)
def test_a_record_that_does_not_fit_together_cannot_be_made(dtype: str, shape: tuple[int, ...], data: bytes) -> None:
    with pytest.raises(ValueError, match="tensor"):
        TensorRecord(dtype, shape, data, LEAVES.named("torch"))
