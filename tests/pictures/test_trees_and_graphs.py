"""The module tree, the autograd graph with hooks and gradients, and legacy against full backward hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from course.models import Model
from course.pictures.autograd_graph import draw_autograd_graph, in_short
from course.pictures.canvas import Picture
from course.pictures.graph import graph_of
from course.pictures.legacy import draw_legacy_comparison, reported_grad_input
from course.pictures.module_tree import draw_module_tree
from course.tree import Model as Tree
from tests.pictures import gallery
from tests.pictures.gallery import chain, order, resnet, shared, texts


def badges(picture: Any) -> list[str]:
    """The numbers in circles, from top to bottom and left to right."""
    found = [one for one in picture.axes[0].texts if one.get_bbox_patch() is not None]
    return [one.get_text() for one in sorted(found, key=lambda one: (-one.get_position()[1], one.get_position()[0]))]


@pytest.mark.parametrize("make", [Tree, shared, lambda: chain(24), lambda: nn.ReLU(), lambda: nn.LSTM(2, 2)])
def test_numbers_stand_at_the_modules_they_are_given_for(make: Any) -> None:
    model = make()
    numbers = order(model)
    picture = draw_module_tree(model, numbers)
    assert sorted(map(int, badges(picture))) == sorted(numbers.values())
    for name, number in numbers.items():
        assert f"number {number}: {name or 'root'}, {type(model.get_submodule(name)).__name__}" in picture.alt


def net() -> nn.Module:
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.LazyLinear(3))
    model[0].bias.requires_grad_(False)
    model.register_buffer("steps", torch.zeros(()), persistent=False)
    return model


def wide() -> nn.Module:
    return nn.Sequential(*[nn.Linear(3, 3) for _ in range(40)])


SAYS: dict[str, tuple[Callable[[], Picture], list[str]]] = {
    "tree": (
        lambda: draw_module_tree(net(), title="A small net"),
        [
            "A small net",
            "running_mean (2,)",
            "steps () not saved",
            "0, Linear [weight (2, 3), bias (2,) frozen]",
            "weight (not yet known)",
            "parameter (shape)",
            "buffer (shape)",
            "container",
        ],
    ),
    "shared": (
        lambda: draw_module_tree(shared(), order(shared())),
        ["same object as a", "weight = a.weight", "seen before"],
    ),
    "many children": (
        lambda: draw_module_tree(wide(), order(wide())),
        ["+ 29 more modules"],
    ),
    "many levels": (lambda: draw_module_tree(resnet(), order(resnet())), ["+ 5 modules, 6 parameters inside"]),
    "many parameters": (
        lambda: draw_module_tree(nn.ParameterDict({f"p{at}": nn.Parameter(torch.ones(1)) for at in range(20)})),
        ["+ 15 more"],
    ),
    "hooks": (
        gallery.graph,
        [
            "tensor hook: runs",
            "retain_grad: keeps",
            "post-accumulate hook: runs",
            "x (2,), AccumulateGrad, post-accumulate hook",
            "h (2,), MulBackward0, tensor hook × 2, retain_grad → x (2,)",
        ],
    ),
    "gradients": (lambda: gallery.graph(gradients=True), ["grad [7, -11]", "grad [21, -33]", "grad not kept"]),
    "legacy": (
        lambda: gallery.legacy().pictures[0],
        ["grad_input = (5, 6) gradients of its last operation, MulBackward0.", "x1 = 2", "W = 5"],
    ),
    "full": (
        lambda: gallery.legacy().pictures[1],
        ["[0]: 15", "[1]: 10", "grad_input = (15, 10) gradients of its inputs: x1, x2."],
    ),
}


@pytest.mark.parametrize("name", SAYS)
def test_what_is_drawn_is_said(name: str) -> None:
    draw, words = SAYS[name]
    picture = draw()
    legend = [one.get_text() for box in picture.legends for one in box.get_texts()]
    said = "\n".join([*texts(picture), *legend, picture.alt])
    assert [one for one in words if one not in said] == []


def test_the_tree_leaves_lazy_modules_lazy_and_opens_a_shared_one_once() -> None:
    model = nn.Sequential(nn.LazyLinear(3))
    draw_module_tree(model)
    assert isinstance(model[0], nn.LazyLinear) and model[0].has_uninitialized_params()
    assert texts(draw_module_tree(shared())).count("same object as a") == 2


# The graph


def small() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    h = x * 3
    return x, h, (h * h + h).sum()


def test_every_node_of_the_graph_is_a_box_and_every_edge_an_arrow() -> None:
    x, h, loss = small()
    graph = graph_of(loss, {"x": x, "h": h})
    assert [box.operation for box in graph.boxes][:2] == ["SumBackward0", "AddBackward0"]
    edges = {(route.boxes[0].operation, route.boxes[-1].operation, route.times) for route in graph.routes}
    add, mul = "AddBackward0", "MulBackward0"
    assert edges == {("SumBackward0", add, 1), (add, mul, 1), (mul, mul, 2), (mul, "AccumulateGrad", 1)}
    assert sum(route.times for route in graph.routes) == 6
    picture = draw_autograd_graph(loss, {"x": x, "h": h})
    assert {"x (2,)", "h (2,)", "output ()", "SumBackward0", "AccumulateGrad", "×2"} <= set(texts(picture))
    assert "output (), SumBackward0 → AddBackward0" in picture.alt and "h (2,) (2 times)" in picture.alt
    assert not any("hook" in one or "grad " in one for one in texts(picture))


def test_gradients_that_hooks_caught_fill_in_the_rest_and_nothing_is_computed() -> None:
    x, h, loss = small()
    caught: dict[str, torch.Tensor | None] = {}
    ran: list[int] = []

    def catch(grad: torch.Tensor) -> None:
        ran.append(1)
        caught["h"] = grad

    h.register_hook(catch)  # type: ignore[no-untyped-call]
    before = texts(draw_autograd_graph(loss, {"x": x, "h": h}, gradients={}))
    assert ran == [] and "grad None" in before and x.grad is None
    loss.backward()  # type: ignore[no-untyped-call]
    picture = draw_autograd_graph(loss, {"x": x, "h": h}, gradients=caught)
    assert ran == [1] and h.grad_fn is not None
    assert "grad [7, -11]" in texts(picture) and "h (2,), MulBackward0, tensor hook, grad [7, -11]" in picture.alt


def test_what_a_changed_gradient_reaches_is_what_a_hook_changes() -> None:
    net = nn.ModuleDict({"first": nn.Linear(2, 2), "last": nn.Linear(2, 1)})
    names = dict(net.named_parameters())
    middle = net["first"](torch.ones(1, 2))
    loss = net["last"](middle).sum()
    before = torch.autograd.grad(loss, names.values(), retain_graph=True)
    middle.register_hook(lambda grad: grad * 100)
    after = torch.autograd.grad(loss, names.values(), retain_graph=True)
    follow = {name for name, old, new in zip(names, before, after, strict=True) if not torch.equal(old, new)}
    told = draw_autograd_graph(loss, names, changed=[middle]).alt.partition("A changed gradient comes to ")[2]
    assert {name for name in names if name in told} == follow == {"first.weight", "first.bias"}
    assert "changed" not in draw_autograd_graph(loss, names).alt


@pytest.mark.filterwarnings("ignore:Sparse invariant")
def test_short_gradients_are_written_out_of_long_ones_the_norm() -> None:
    assert in_short(None) == "None" and in_short(torch.tensor(6.0)) == "6"
    assert in_short(torch.tensor([[1.0, 2.5]])) == "[1, 2.5]" and in_short(torch.full((25,), 2.0)) == "norm 10"
    assert in_short(torch.tensor([torch.nan])) == "NaN"
    assert in_short(torch.sparse_coo_tensor([[1]], [4.0], (5,))) == "4"


def test_a_tensor_without_a_graph_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="no autograd graph"):
        draw_autograd_graph(torch.ones(2), {})
    leaf = torch.ones(2, requires_grad=True)
    assert "x (2,)" in texts(draw_autograd_graph(leaf, {"x": leaf, "other": torch.ones(3)}))


# Legacy against full


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize("make", [Model, lambda: nn.Linear(3, 2), lambda: nn.Sequential(nn.Linear(3, 2), nn.Tanh())])
def test_the_numbers_are_what_the_two_hooks_report(make: Any, legacy: bool) -> None:
    model = make()
    inputs = (torch.tensor([2.0]), torch.tensor([3.0])) if isinstance(model, Model) else (torch.ones(4, 3),)
    reported = reported_grad_input(model, *inputs, legacy=legacy)
    seen: list[Any] = []
    register = model.register_backward_hook if legacy else model.register_full_backward_hook
    register(lambda module, grad_input, grad_output: seen.extend(grad_input))
    model(*(one.clone().requires_grad_() for one in inputs)).sum().backward()
    assert all(torch.equal(one, other) for one, other in zip(reported, seen, strict=True))
    with pytest.raises(ValueError, match="nothing here requires a gradient"):
        reported_grad_input(nn.Identity(), torch.ones(2, dtype=torch.int64), legacy=legacy)


def test_the_legacy_numbers_stand_at_what_the_last_operation_used() -> None:
    picture = draw_legacy_comparison(nn.Linear(3, 2), torch.ones(4, 3)).pictures[0]
    left = {text.get_text(): text.get_position() for text in picture.axes[0].texts}
    assert left["[0]: [4, 4]"][0] == left["bias (2,)"][0], "the first is the bias's"
    second = next(one for one in left if one.startswith("[1]: norm"))
    assert left[second][0] == left["input (4, 3)"][0], "the second is the input's"


@pytest.mark.filterwarnings("ignore")
def test_the_model_stays_as_it_is_and_its_hooks_do_not_run() -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    seen: list[int] = []
    model.register_full_backward_hook(lambda *_: seen.append(1))
    x = torch.ones(4, 3, requires_grad=True)
    before = {name: one.clone() for name, one in model.state_dict().items()}
    draw_legacy_comparison(model, x)
    assert seen == [] and x.grad is None and all(one.grad is None for one in model.parameters())
    assert all(torch.equal(one, before[name]) for name, one in model.state_dict().items())
    assert len(model._backward_hooks) == 1 and model._is_full_backward_hook is True
