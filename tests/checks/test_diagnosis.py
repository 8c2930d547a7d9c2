"""From a difference or an error to the misconception: only what is certain gets a name."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch

from nbproof.checks.diagnosis import hint_for_difference, hint_for_error
from nbproof.values.compare import AnyOf, Close, Matches, first_difference
from nbproof.values.evidence import snapshot

T = torch.tensor
NAN = float("nan")


def hint(
    got: object,
    wanted: object,
    mistakes: Mapping[str, object] | None = None,
    blame: Mapping[str, str] | None = None,
    poisoned: bool = False,
) -> str | None:
    evidence = snapshot(got)
    difference = first_difference(evidence, wanted)
    assert difference is not None
    return hint_for_difference(evidence, difference, wanted, mistakes or {}, blame or {}, poisoned)


def test_a_mistake_is_recognised_by_what_it_brings() -> None:
    mistakes = {"doubled": {"answer": [T([4.0])]}, "negated": {"answer": [T([-2.0])]}}
    assert hint({"answer": [T([-2.0])]}, {"answer": [T([2.0])]}, mistakes) == "negated"
    assert hint({"answer": [T([5.0])]}, {"answer": [T([2.0])]}, mistakes) is None


def test_a_mistake_names_only_the_fields_that_tell() -> None:
    mistakes = {"accumulates": {"x.grad": 6.0}}
    wanted = {"answer": 1.0, "x.grad": 3.0}
    assert hint({"answer": 1.0, "x.grad": 6.0}, wanted, mistakes) == "accumulates"
    assert hint({"answer": 9.0, "x.grad": 6.0}, wanted, mistakes) == "accumulates"
    assert hint({"answer": 9.0, "x.grad": 3.0}, wanted, mistakes) is None


def test_a_mistake_that_brings_what_is_right_explains_nothing() -> None:
    wanted = {"answer": [1.0], "x.grad": 3.0}
    assert hint({"answer": [1.0], "x.grad": 9.0}, wanted, {"harmless_here": {"answer": [1.0]}}) is None
    assert hint({"answer": [2.0], "x.grad": 3.0}, wanted, {"nothing": {}}) is None


def test_a_field_that_is_only_looked_at_tells() -> None:
    wanted = {"answer": 1.0, "hooks": Matches(lambda got: None, "anything")}
    assert hint({"answer": 2.0, "hooks": 2}, wanted, {"registered_twice": {"hooks": 2}}) == "registered_twice"


def test_an_empty_list_is_a_hook_that_never_ran_where_a_whole_field_is_empty() -> None:
    assert hint({"answer": []}, {"answer": [T([1.0])]}) == "hook_never_ran"
    assert hint({"answer": [[1], []]}, {"answer": [[1], [2]]}) is None
    assert hint({"answer": []}, {"answer": [1]}, {"typed_in": {"answer": []}}) == "typed_in"


@pytest.mark.parametrize("answer", [T([NAN]), T([1.0, NAN, 2.0]), NAN, T([[NAN]])])
def test_the_poison_shows_who_reads_the_notebooks_variables(answer: object) -> None:
    wanted = {"answer": 2.0 if isinstance(answer, float) else T([1.0, 2.0, 3.0])}
    assert hint({"answer": answer}, wanted, poisoned=True) == "reads_globals"
    assert hint({"answer": answer}, wanted, poisoned=False) is None


def test_infinity_is_not_the_poison() -> None:
    assert hint({"answer": T([float("inf")])}, {"answer": T([1.0])}, poisoned=True) is None


def test_nan_in_another_field_does_not_explain_this_one() -> None:
    got, wanted = {"answer": 1.0, "later": T([NAN])}, {"answer": 2.0, "later": T([1.0])}
    assert hint(got, wanted, poisoned=True) is None


def test_blame_goes_by_the_whole_name_of_a_field() -> None:
    blame = {"x1": "wrong_x1", "x1.grad": "wrong_grad"}
    wanted = {"x1.grad": [1.0, 2.0], "x1": 1.0}
    assert hint({"x1.grad": [1.0, 3.0], "x1": 1.0}, wanted, blame=blame) == "wrong_grad"
    assert hint({"x1.grad": [1.0, 2.0], "x1": 2.0}, wanted, blame=blame) == "wrong_x1"


@pytest.mark.parametrize(
    ("got", "wanted", "permuted"),
    [
        ([T([1.0]), T([2.0])], [T([2.0]), T([1.0])], True),
        (["a", "b", "c"], ("c", "a", "b"), True),
        (["b", "a"], AnyOf(["x", "y"], ["a", "b"]), True),
        ([T([1.05]), T([2.0])], Close([T([2.0]), T([1.0])], atol=0.1), True),
        ([T([1.0]), T([3.0])], [T([2.0]), T([1.0])], False),
        (["a", "a", "b"], ["a", "b", "b"], False),
        ([True, False], [False, True], False),
    ],
)
def test_the_right_values_in_the_wrong_order(got: object, wanted: object, permuted: bool) -> None:
    assert hint({"answer": got}, {"answer": wanted}) == ("wrong_order" if permuted else None)


def test_another_order_in_another_field_does_not_explain_this_one() -> None:
    assert hint({"answer": 1, "names": ["b", "a"]}, {"answer": 2, "names": ["a", "b"]}) is None


@pytest.mark.parametrize(
    ("message", "inside", "named"),
    [
        ("hook() takes 1 positional argument but 3 were given", "_call_impl", "hook_arguments"),
        ("Logger.on_forward() takes 2 positional arguments but 4 were given", "_call_impl", "hook_arguments"),
        ("<lambda>() missing 1 required positional argument: 'grad'", "_engine_run_backward", "hook_arguments"),
        ("f.<locals>.hook() missing 1 required positional argument: 'grad'", "", "hook_arguments"),
        # The learner's own calls, a model's forward, and functions that apply calls are no hooks.
        ("scale() takes 1 positional argument but 2 were given", "", None),
        ("grad_clipper() missing 1 required positional argument: 'cap'", "", None),
        ("Add.forward() takes 3 positional arguments but 4 were given", "_call_impl", None),
        ("Add.__init__() takes 1 positional argument but 2 were given", "", None),
        ("init() takes 0 positional arguments but 1 was given", "apply", None),
    ],
)
def test_a_hook_with_the_wrong_arguments_is_told_from_other_calls(message: str, inside: str, named: str | None) -> None:
    assert hint_for_error("TypeError", message, inside=inside) == named


def test_a_missing_input_is_a_pre_hooks_where_the_learner_called_nothing() -> None:
    message = "Add.forward() missing 1 required positional argument: 'x2'"
    assert hint_for_error("TypeError", message, inside="_call_impl") == "drops_argument"
    assert hint_for_error("TypeError", message, "line 2 of your cell: add(x1)", "_call_impl") is None


def test_only_a_bare_not_implemented_error_is_a_stub() -> None:
    assert hint_for_error("NotImplementedError", "") == "not_started"
    assert hint_for_error("NotImplementedError", "Could not run 'aten::add' with arguments from 'SparseCPU'") is None


def test_an_unknown_error_gets_no_name() -> None:
    assert hint_for_error("ValueError", "something of the learner's own") is None


# What torch really says, so that a new version of it cannot silence a hint unnoticed.
REAL = {
    "leaf_in_place": "torch.ones(2, requires_grad=True).add_(1)",
    "overwrites_saved": "x = torch.ones(2, requires_grad=True); y = x.exp(); y.mul_(2); y.sum().backward()",
    "truth_of_tensor": "bool(torch.ones(2) == torch.ones(2))",
    "unknown_method": "torch.ones(2).climp_(0)",
    "undefined_name": "no_such_name",
    "tensor_for_parameter": "m = nn.Linear(2, 2); m.weight = torch.ones(2, 2)",
    "full_hook_return": "m = nn.Linear(2, 2); m.register_full_backward_hook(lambda m, i, o: (i[0], i[0]));"
    "m(torch.ones(2, requires_grad=True)).sum().backward()",
    "in_place_after_full_hook": "m = nn.Linear(2, 2); m.register_full_backward_hook(lambda m, i, o: None);"
    "m(torch.ones(1, 2)).relu_()",
    "hook_arguments": "w = torch.ones(2, requires_grad=True); w.register_hook(lambda a, b: a); w.sum().backward()",
}


@pytest.mark.parametrize("named", REAL)
def test_torchs_own_messages_are_recognised(named: str) -> None:
    from nbproof.checks.namespace import trouble_of

    try:
        exec(compile(REAL[named], "<cell>", "exec"), {"torch": torch, "nn": torch.nn})
    except Exception as error:
        told = trouble_of(error, __file__)
    assert hint_for_error(told.kind, told.message, told.line, told.inside) == named
