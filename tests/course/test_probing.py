"""What probes are made of: another forward, counts, and numbers of what ran that nobody can say without running the same."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

from course.models import Add
from course.probing import hook_counts, other_forward
from course.traces import Storages, gradients_left, parameters_of, what_runs
from course.truths import ANYTHING, other_than, same_both_times, storages_left, such_that, undisclosed
from nbproof.checks.case import Case
from nbproof.values.compare import first_difference, is_same
from nbproof.values.evidence import snapshot
from nbproof.values.leaf import leaves_of
from nbproof.values.words import ENGLISH
from tests import COURSE

# Values know a tensor once a course has named its library.
leaves_of(COURSE)
ONE, TWO = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])


def test_another_forward_keeps_the_hooks_and_ends_with_its_block() -> None:
    add, seen = Add(), []
    add.register_forward_hook(lambda module, args, output: seen.append(output))
    with other_forward(add, lambda self, x1, x2: x1 * x2):
        add(ONE, TWO)
    add(ONE, TWO)
    assert [output.tolist() for output in seen] == [[3.0, 10.0], [4.0, 7.0]]
    assert "forward" not in add.__dict__


def test_a_forward_that_the_learner_put_on_the_object_comes_back() -> None:
    add = Add()
    add.forward = lambda x1, x2: x1 - x2  # type: ignore[method-assign]
    with pytest.raises(ValueError, match="mine"), other_forward(add, lambda self, x1, x2: x1 * x2):
        del add.forward  # a learner's code may clean up too much
        raise ValueError("mine")
    assert add(TWO, ONE).tolist() == [2.0, 3.0]


def test_hooks_are_counted_by_kind_over_the_whole_model() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU()))
    shared = net[0].weight
    handle = net[1][0].register_forward_hook(print)
    net.register_forward_pre_hook(print)
    net[0].register_full_backward_hook(print)
    net[0].register_full_backward_pre_hook(print)
    shared.register_hook(print)
    shared.register_post_accumulate_grad_hook(print)
    net.tied = net[0]  # visited once
    assert hook_counts(net) == {"forward_pre": 1, "forward": 1, "backward_pre": 1, "backward": 1, "tensor": 2}
    handle.remove()
    assert hook_counts(net)["forward"] == 0


@pytest.mark.parametrize(
    ("got", "wanted", "right"),
    [
        ({"x": len}, {"x": ANYTHING}, True),
        (ONE, other_than(TWO), True),
        (ONE, other_than(ONE), False),
        (3, such_that(lambda got: got > 2), True),
        ("three", such_that(lambda got: got > 2), False),
    ],
)
def test_what_is_wanted_need_not_be_one_value(got: object, wanted: object, right: bool) -> None:
    assert (first_difference(snapshot(got), wanted, ENGLISH) is None) == right


def test_an_undisclosed_value_never_shows_in_a_message() -> None:
    assert first_difference(snapshot([22]), undisclosed([22.0], "a list of numbers"), ENGLISH) is None
    for wrong in ([22.0, 22.0], [10.0], "text", None):
        found = first_difference(snapshot(wrong), undisclosed([7.5], "a list of numbers"), ENGLISH)
        assert found is not None
        for reveal in (True, False):
            assert "7.5" not in ENGLISH.difference(found if reveal else found.withheld())
            assert "a list of numbers" in ENGLISH.difference(found if reveal else found.withheld())


# Traces


CASE = Case(7, COURSE)


def build() -> Any:
    return nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.Tanh(), nn.Linear(4, 2)))


def passes(model: nn.Module) -> Callable[[], object]:
    x = CASE.tensor("x", 5, 3, requires_grad=True)
    return lambda: model(x).backward(CASE.tensor("upstream", 5, 2))


def number(*hang: Callable[[Any], Any]) -> int:
    """The number of a model on which these hang their hooks."""
    model = build()
    for one in hang:
        one(model)
    return what_runs(model, CASE, passes(model))


HANGS: dict[str, Callable[[Any], Any]] = {
    "forward": lambda net: net[1].register_forward_hook(lambda module, args, output: None),
    "forward on another": lambda net: net[0].register_forward_hook(lambda module, args, output: None),
    "forward with keywords": lambda net: net[1].register_forward_hook(lambda m, a, k, o: None, with_kwargs=True),
    "pre": lambda net: net.register_forward_pre_hook(lambda module, args: None),
    "pre with keywords": lambda net: net[0].register_forward_pre_hook(lambda m, a, k: None, with_kwargs=True),
    "backward": lambda net: net[1][1].register_full_backward_hook(lambda module, before, after: None),
    "backward pre": lambda net: net[0].register_full_backward_pre_hook(lambda module, after: None),
    "tensor": lambda net: net[0].weight.register_hook(lambda grad: None),
    "post-accumulate": lambda net: net[1][1].bias.register_post_accumulate_grad_hook(lambda parameter: None),
}


MODES: list[Callable[[Any], Any]] = [
    lambda net: net[1][0].eval(),
    lambda net: net[0].eval(),
    lambda net: net[0].bias.requires_grad_(False),
    lambda net: setattr(net[0], "forward", lambda x: nn.Linear.forward(net[0], x)),
]


def test_hooks_of_any_kind_at_any_place_and_modes_of_modules_make_numbers_of_their_own() -> None:
    once = {kind: number(hang) for kind, hang in HANGS.items()}
    assert {kind: number(hang) for kind, hang in HANGS.items()} == once, "and the same again"
    assert once.pop("forward with keywords") == once["forward"], "it runs at the same moment"
    found = [number(), *once.values(), *(number(HANGS[kind], HANGS[kind]) for kind in once), *map(number, MODES)]
    assert len(set(found)) == len(found)


def test_a_forward_that_was_put_back_leaves_no_trace() -> None:
    assert number(lambda net: setattr(net[0], "forward", net[0].forward)) == number()


@pytest.mark.filterwarnings("ignore:Using a non-full backward hook")
def test_a_deprecated_hook_and_one_for_all_modules_leave_a_trace() -> None:
    assert number(lambda net: net[0].register_backward_hook(lambda module, before, after: None)) != number()
    for register in (
        nn.modules.module.register_module_forward_hook,
        nn.modules.module.register_module_forward_pre_hook,
        nn.modules.module.register_module_full_backward_hook,
    ):
        free = number()
        handle = register(lambda *args: None)  # type: ignore[arg-type]
        try:
            assert number() != free
        finally:
            handle.remove()


def attributes(model: nn.Module) -> list[dict[str, str]]:
    return [{key: str(value) for key, value in vars(one).items()} for one in model.modules()]


def test_what_the_hooks_do_and_the_model_stay_as_they_were() -> None:
    model = build()
    model.register_forward_hook(lambda module, args, output: output * 3)
    model[0].weight.register_hook(lambda grad: grad * 5)
    model[0].register_forward_pre_hook(lambda module, args, kwargs: ((args[0] * 2,), kwargs), with_kwargs=True)
    before = attributes(model)
    passes(model)()
    output, grad = model(CASE.tensor("x", 5, 3)), model[0].weight.grad.clone()
    model.zero_grad()
    what_runs(model, CASE, lambda: (passes(model)(), torch.testing.assert_close(model(CASE.tensor("x", 5, 3)), output)))
    assert torch.equal(model[0].weight.grad, grad)
    assert attributes(model) == before
    with pytest.raises(ZeroDivisionError):
        what_runs(model, CASE, lambda: 1 // 0)
    assert attributes(model) == before


LIES: dict[str, tuple[object, object]] = {
    "len": (builtins, lambda *a: 0),
    "getattr": (builtins, lambda *a: None),
    "named_modules": (nn.Module, lambda self, *a, **k: iter(())),
    "_backward_hooks": (torch.Tensor, None),
}
"""Whatever might be asked how many hooks there are, and what it is replaced by."""


@pytest.mark.parametrize("name", LIES)
def test_no_lie_hides_a_hook(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, says = LIES[name]
    free = number()
    model = build()
    for hang in HANGS.values():
        hang(model)
    run, found = passes(model), -1
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, says, raising=False)
        try:
            found = what_runs(model, CASE, run)
        except Exception:  # then there is no evidence at all
            return
    assert found != free


def test_the_same_hooks_twice_whatever_they_are() -> None:
    model = build()
    HANGS["forward"](model)
    one, two = (what_runs(model, CASE, passes(model), moment) for moment in ("one", "two"))
    HANGS["forward"](model)
    more = what_runs(model, CASE, passes(model), "two")
    wanted = same_both_times(CASE, "one", "two")
    assert is_same([one, two], wanted)
    for wrong in ([one, more], [one, one], [two, one], [0, 0], [one], None, 3, [True, True], ["", ""]):
        assert not is_same(snapshot(wrong), wanted)


def kept(*places: str) -> tuple[Storages, dict[str, torch.Tensor]]:
    """Two storages that are watched, of which these places are kept."""
    tensors = {place: torch.ones(3) for place in ("a", "b")}
    watched = Storages(CASE)
    for place, tensor in tensors.items():
        watched.watch(tensor, place)
    return watched, {place: tensor for place, tensor in tensors.items() if place in places}


def test_what_is_freed_leaves_another_trace_than_what_is_there() -> None:
    watched, tensors = kept("a")
    assert watched.left("now") == storages_left(CASE, "now", there=["a"], freed=["b"])
    assert watched.left("now") != watched.left("later")
    view = tensors.pop("a")[1:].detach()
    assert watched.left("now") == storages_left(CASE, "now", there=["a"], freed=["b"])
    del view
    assert watched.left("now") == storages_left(CASE, "now", freed=["b", "a"])
    watched.watch(torch.ones(2), "a")
    assert watched.left("now") != storages_left(CASE, "now", freed=["a", "b"])


def test_nobody_can_say_of_a_storage_that_it_is_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    watched, tensors = kept("a", "b")
    monkeypatch.setattr(torch.UntypedStorage, "_expired", lambda *args: True)
    monkeypatch.setattr(StorageWeakRef, "expired", lambda self: True)
    assert watched.left("now") == storages_left(CASE, "now", there=tensors)


def test_every_parameter_is_found_whatever_the_model_says(monkeypatch: pytest.MonkeyPatch) -> None:
    model, names = build(), [name for name, _ in build().named_parameters()]
    monkeypatch.setattr(nn.Module, "named_parameters", lambda self: iter(()))
    assert sorted(parameters_of(model)) == sorted(names)


def test_a_gradient_that_is_left_shows_though_grad_is_said_to_be_none(monkeypatch: pytest.MonkeyPatch) -> None:
    w, v = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
    (w * 3).sum().backward()  # type: ignore[no-untyped-call]
    monkeypatch.setattr(nn.Parameter, "grad", property(lambda self: None), raising=False)
    left = gradients_left({"w": w, "v": v}, CASE)
    assert left["w"].tolist() == [3.0, 3.0]
    assert torch.equal(left["v"], CASE.tensor("no gradient of v", 2))
