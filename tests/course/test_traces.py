"""What hooks did in a later run, as a number that nobody can say without running the same hooks, and models for it.

Models that are not tidy are so in the way that their kind says, run, and follow from the seed.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

from course.storages import Storages
from course.traces import gradients_left, parameters_of, what_runs
from course.truths import same_both_times, storages_left
from nbproof.checks.case import Case
from nbproof.values.compare import is_same
from nbproof.values.evidence import snapshot

CASE = Case(7)


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
    "forward, first": lambda net: net[1][0].register_forward_hook(lambda *args: None, prepend=True),
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


def _lies() -> Iterator[tuple[object, str, object]]:
    """(owner, name, what it is replaced by): whatever might be asked how many hooks there are."""
    for name, lie in {
        "len": lambda *a: 0, "sum": lambda *a: 0, "any": lambda *a: False, "all": lambda *a: True,
        "id": lambda *a: 0, "sorted": lambda *a: [], "enumerate": lambda *a: iter(()), "zip": lambda *a: iter(()),
        "dict": lambda *a: {}, "list": lambda *a: [], "set": lambda *a: set(), "hash": lambda *a: 0,
        "bool": lambda *a: False, "vars": lambda *a: {}, "getattr": lambda *a: None, "hasattr": lambda *a: False,
    }.items():  # fmt: skip
        yield builtins, name, lie
    yield nn.Module, "named_modules", lambda self, *a, **k: iter(())
    yield nn.Module, "modules", lambda self: iter(())
    yield nn.Module, "parameters", lambda self, *a: iter(())
    yield torch.Tensor, "_backward_hooks", None
    yield torch.Tensor, "_post_accumulate_grad_hooks", None


@pytest.mark.parametrize("lie", [*_lies()], ids=lambda lie: lie[1])
def test_no_lie_hides_a_hook(lie: tuple[object, str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, says = lie
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


def test_hooks_may_be_registered_and_removed_meanwhile() -> None:
    model = build()
    handles: list[Any] = []

    def grow(module: nn.Module, args: object, output: object) -> None:
        handles.append(module.register_forward_hook(lambda m, a, k, o: None, with_kwargs=True))

    first = model.register_forward_hook(grow)
    what_runs(model, CASE, passes(model))
    assert model(CASE.tensor("x", 5, 3)).shape == (5, 2)
    for handle in (*handles, first):
        handle.remove()
    assert not model._forward_hooks


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


def test_what_stands_for_no_gradient_has_the_dtype_of_its_parameter() -> None:
    double = nn.Parameter(torch.ones(2, dtype=torch.float64))
    assert gradients_left({"double": double}, CASE)["double"].dtype == torch.float64
