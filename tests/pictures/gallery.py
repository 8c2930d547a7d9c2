"""One of every picture, of easy models and odd ones: what holds for all pictures is tested on these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from course.data import picture as photograph
from course.pictures.activations import draw_activation_histograms
from course.pictures.attention import draw_attention
from course.pictures.autograd_graph import draw_autograd_graph
from course.pictures.canvas import Picture
from course.pictures.curves import draw_curves
from course.pictures.difference import draw_difference
from course.pictures.feature_maps import draw_digits, draw_feature_maps
from course.pictures.gradient_flow import draw_gradient_flow
from course.pictures.heat import draw_heat
from course.pictures.memory import draw_memory
from course.pictures.module_tree import draw_module_tree
from course.pictures.timeline import draw_hook_timeline


class Block(nn.Module):
    """A linear layer and an activation."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.act = nn.Tanh()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.act(self.fc(x))  # type: ignore[no-any-return]


def order(model: nn.Module) -> dict[str, int]:
    """The place of every module in named_modules()."""
    return {name: number for number, (name, _) in enumerate(model.named_modules(), 1)}


def small() -> nn.Module:
    """What can stand in a box: buffers, a frozen parameter, one that is not known yet."""
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.LazyLinear(3))
    model[0].bias.requires_grad_(False)
    model.register_buffer("steps", torch.zeros(()), persistent=False)
    return model


def fifty() -> nn.Module:
    """Fifty modules, four levels deep."""
    groups = [nn.Sequential(Block(), Block(), Block(), Block()) for _ in range(3)]
    return nn.Sequential(*groups, nn.Sequential(nn.Sequential(Block(), Block()), Block()))


def shared() -> nn.Module:
    """One module in three places, one parameter in two modules."""
    one = nn.Linear(3, 3)
    model = nn.ModuleDict({"a": one, "b": nn.Sequential(one, nn.ReLU()), "c": nn.Sequential(one), "d": nn.Linear(3, 3)})
    model["d"].weight = one.weight
    return model


def after_backward() -> nn.Module:
    """A deep net of sigmoids after a backward, with every oddity that a gradient can have."""
    torch.manual_seed(0)
    layers = [layer for _ in range(5) for layer in (nn.Linear(8, 8), nn.Sigmoid())]
    model = nn.Sequential(*layers, nn.Linear(8, 3), nn.LazyLinear(2))
    model[2].weight.requires_grad_(False)
    model[:-1](torch.randn(5, 8)).sum().backward()
    model[4].bias.grad.zero_()
    model[6].bias.grad[3] = torch.nan
    model[8].bias.grad = None
    model[8].weight.grad[0, 0] = torch.inf
    return model


def graph(gradients: bool = False) -> Picture:
    """A small graph with hooks of every kind, after its backward."""
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    h = x * 3
    h.register_hook(lambda grad: None)
    h.register_hook(lambda grad: None)
    h.retain_grad()
    x.register_post_accumulate_grad_hook(lambda tensor: None)
    output = h * h + h
    output.backward(torch.ones(2))
    changed = [h] if gradients else []
    return draw_autograd_graph(output, {"x": x, "h": h}, gradients={} if gradients else None, changed=changed)


def history() -> dict[str, list[torch.Tensor]]:
    torch.manual_seed(0)
    steps = range(1, 21)
    return {
        "0": [torch.randn(64, 5) * step for step in steps],
        "1.relu": [(torch.randn(64, 5) - 0.1 * step).relu() for step in steps],
        "broken": [torch.randn(8) / (torch.nan if step == 9 else 1.0) for step in steps],
        "a.very.long.name.of.a.layer.deep.inside": [torch.tensor([1.0, 2.0])],
        "never": [],
        "constant": [torch.zeros(3), torch.zeros(3)],
    }


def maps() -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    broken = torch.randn(1, 2, 4, 4)
    broken[0, 0, :2] = torch.nan
    return {"conv": torch.randn(2, 12, 9, 7), "relu": torch.rand(1, 3, 5, 5), "layer4.1.conv2": broken}


def attention() -> Picture:
    """Two lines, read by three heads each, one of which has a long name."""
    torch.manual_seed(0)
    words = {"copy": ["copy", *"4072", "="], "another": ["another", *"4072", "a long word"]}
    heads = ["blocks.0.heads.0", "blocks.0.heads.1", "a.very.long.name.of.a.head.deep.inside"]
    found = {line: {head: torch.randn(1, 6, 6).softmax(-1) for head in heads} for line in words}
    return draw_attention(found, words, last=3)


def digits() -> Picture:
    return draw_digits(torch.rand(12, 1, 8, 8), [f"says {n}\nis {n}" for n in range(12)], marked=[3], title="Digits")


def heat() -> Picture:
    torch.manual_seed(0)
    return draw_heat(photograph(), torch.rand(7, 7))


MEMORY = {
    "plain": {"parameters": 44e6, "gradients": 44e6, "saved tensors": 120e6, "other": 0},
    "with checkpointing": {"parameters": 44e6, "gradients": 44e6, "saved tensors": 30e6},
    "nothing": {},
}
ORDERS = ["enter net", "enter a", "leave a", "leave net"], ["enter net", "leave net", "enter a", "leave a", "end"]

PICTURES: dict[str, Callable[[], Picture]] = {
    "activations": lambda: draw_activation_histograms(history()),
    "activations, none": lambda: draw_activation_histograms({}),
    "attention": attention,
    "curves": lambda: draw_curves(
        {"as it was": [2.5, 1.0, 0.9, torch.nan], "cured": [2.0 / step for step in range(1, 9)]}
    ),
    "curves, cut off": lambda: draw_curves({"as it was": [0.5, 0.25, 264.0]}, most=3),
    "difference, matrix": lambda: draw_difference(torch.eye(3), torch.ones(3, 3)),
    "difference, orders": lambda: draw_difference(*ORDERS),
    "difference, shades": lambda: draw_difference({"answer": torch.eye(20)}, {"answer": torch.ones(20, 20)}),
    "difference, vector": lambda: draw_difference(torch.tensor([1.0, torch.nan, 3.0]), torch.tensor([1.0, 2.0, 2.5])),
    "digits": digits,
    "feature maps": lambda: draw_feature_maps(maps(), title="Features"),
    "gradient flow": lambda: draw_gradient_flow(after_backward()),
    "gradient flow, many": lambda: draw_gradient_flow(nn.Sequential(*(nn.Linear(2, 2) for _ in range(40)))),
    "graph": graph,
    "graph with gradients": lambda: graph(gradients=True),
    "heat": heat,
    "heat, broken": lambda: draw_heat(torch.rand(1, 3, 4, 4), torch.tensor([[1.0, torch.nan], [2.0, 3.0]])),
    "memory": lambda: draw_memory(MEMORY),
    "timeline": lambda: draw_hook_timeline(
        nn.Sequential(Block(), Block()), torch.ones(2, 3, requires_grad=True), weights=True
    ),
    "timeline, attention": lambda: draw_hook_timeline(nn.MultiheadAttention(4, 2), *[torch.ones(2, 1, 4)] * 3),
    "timeline, fifty": lambda: draw_hook_timeline(fifty(), torch.ones(2, 3)),
    "timeline, no backward": lambda: draw_hook_timeline(nn.ReLU(), torch.ones(3)),
    "tree": lambda: draw_module_tree(small(), order(small()), title="A small net"),
    "tree, LSTM": lambda: draw_module_tree(nn.LSTM(3, 4, 2)),
    "tree, fifty": lambda: draw_module_tree(fifty(), order(fifty())),
    "tree, shared": lambda: draw_module_tree(shared(), order(shared())),
}


def texts(picture: Any) -> list[str]:
    """All that is written in a picture."""
    from matplotlib.text import Text

    return [text.get_text() for text in picture.findobj(Text) if text.get_visible() and text.get_text()]
