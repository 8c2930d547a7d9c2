"""What a picture shows is what is there: real runs, real graphs, numbers in and the same numbers out."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from matplotlib.image import BboxImage
from torch import nn
from torch.utils.checkpoint import checkpoint

from course.data import picture as photograph
from course.models import Rounds
from course.pictures.activations import draw_activation_histograms
from course.pictures.autograd_graph import draw_autograd_graph
from course.pictures.feature_maps import draw_feature_maps
from course.pictures.gradient_flow import draw_gradient_flow
from course.pictures.graph import graph_of
from course.pictures.heat import draw_heat
from course.pictures.module_tree import draw_module_tree
from course.pictures.timeline import Event, draw_hook_timeline, record_hooks
from tests.pictures.gallery import PICTURES, Block, maps, order, shared, texts

SAYS = {
    "tree": "A small net; running_mean (2,); steps () not saved; 0, Linear [weight (2, 3), bias (2,) frozen]; "
    "weight (not yet known); parameter (shape); buffer (shape); container",
    "tree, shared": "same object as a; weight = a.weight; seen before",
    "tree, fifty": "+ 2 more modules inside",
    "graph with gradients": "grad [7, -11]; grad [21, -33]; grad not kept",
    "feature maps": "Features; conv: 8 of 12 maps, 9 × 7, values from; NaN or inf among them; layer4.1.conv2",
    "gradient flow": "2.weight: None: frozen, requires_grad is False; 4.bias: all zero; 6.bias: NaN in 1 of 8, mean; "
    "8.weight: inf in 1 of 64, mean; 8.bias: None: no gradient came here",
    "gradient flow, many": "no .grad anywhere: has backward() run?",
    "activations": "1.relu; NaN or inf from step 8; never: nothing recorded; constant: 2 steps",
    "memory": "0 B; 198 MiB",
    "heat, broken": "from 1 to 3, NaN or inf among them",
    "timeline, no backward": "no backward: nothing requires a gradient",
}


@pytest.mark.parametrize("name", SAYS)
def test_what_is_drawn_is_said_in_words(name: str) -> None:
    picture = PICTURES[name]()
    legend = [one.get_text() for box in picture.legends for one in box.get_texts()]
    said = "\n".join([*texts(picture), *legend, picture.alt])
    assert [one for one in SAYS[name].split("; ") if one not in said] == []


@pytest.mark.parametrize("make", [shared, lambda: nn.LSTM(2, 2)])
def test_numbers_stand_at_the_modules_they_are_given_for(make: Any) -> None:
    model = make()
    numbers = order(model)
    picture = draw_module_tree(model, numbers)
    badges = [one for one in picture.axes[0].texts if one.get_text().isdigit()]
    assert sorted(int(one.get_text()) for one in badges) == sorted(numbers.values())
    for name, number in numbers.items():
        assert f"number {number}: {name or 'root'}, {type(model.get_submodule(name)).__name__}" in picture.alt


# Graphs


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
    picture = draw_autograd_graph(loss, {"x": x, "h": h})
    assert {"x (2,)", "h (2,)", "output ()", "SumBackward0", "AccumulateGrad", "×2"} <= set(texts(picture))
    assert "output (), SumBackward0 → AddBackward0" in picture.alt and "h (2,) (2 times)" in picture.alt


def test_gradients_that_hooks_caught_fill_in_the_rest_and_nothing_is_computed() -> None:
    x, h, loss = small()
    ran: list[torch.Tensor] = []
    h.register_hook(lambda grad: ran.append(grad))  # type: ignore[no-untyped-call]
    before = texts(draw_autograd_graph(loss, {"x": x, "h": h}, gradients={}))
    assert ran == [] and "grad None" in before and x.grad is None
    loss.backward()  # type: ignore[no-untyped-call]
    picture = draw_autograd_graph(loss, {"x": x, "h": h}, gradients={"h": ran[0]})
    assert len(ran) == 1 and "h (2,), MulBackward0, tensor hook, grad [7, -11]" in picture.alt


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


# Timelines


def really(model: nn.Module, *inputs: Any) -> list[Event]:
    """The same order from hooks of the test's own, put on the model itself."""
    log: list[Event] = []
    for name, module in model.named_modules():
        for kind in ("forward_pre", "forward", "full_backward_pre", "full_backward"):
            event = Event(name, kind.removeprefix("full_"))
            getattr(module, f"register_{kind}_hook")(lambda *_, event=event: log.append(event))
    for name, weight in model.named_parameters():
        at = name.rpartition(".")[0]
        weight.register_hook(lambda grad, at=at: log.append(Event(at, "weight")))
    output = model(*inputs)
    first = output[0] if isinstance(output, tuple) else output
    first.sum().backward()
    return log


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize(
    "make", [lambda: nn.Sequential(Block(), Block()), Rounds, lambda: nn.LSTM(3, 2), lambda: nn.Dropout()]
)
def test_the_events_are_those_of_a_real_run(make: Any, grad: bool) -> None:
    model, x = make(), torch.randn(4, 3, requires_grad=grad)
    if grad or [*model.parameters()]:
        assert record_hooks(model, x, weights=True) == really(model, x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout()),
        lambda: nn.Sequential(nn.LazyLinear(3), nn.ReLU()),
        lambda: nn.utils.spectral_norm(nn.Linear(3, 3)),
    ],
)
def test_a_timeline_leaves_the_model_as_it_was_and_its_hooks_do_not_run(make: Any) -> None:
    model, seen = make(), list[int]()
    model.register_forward_hook(lambda *_: seen.append(1))
    model.register_full_backward_hook(lambda *_: seen.append(1))
    x = torch.randn(4, 3, requires_grad=True)
    before = {name: str(one) for name, one in model.state_dict().items()}, torch.get_rng_state().tolist()
    with torch.no_grad():
        draw_hook_timeline(model, x)
    assert ({name: str(one) for name, one in model.state_dict().items()}, torch.get_rng_state().tolist()) == before
    assert seen == [] and x.grad is None and all(one.grad is None for one in model.parameters())
    assert (len(model._forward_hooks), len(model._backward_hooks)) == (1, 1)


def test_marks_stand_in_the_order_of_the_events_each_in_its_modules_lane() -> None:
    model, x = nn.Sequential(Block(), Block()), torch.ones(2, 3, requires_grad=True)
    picture: Any = draw_hook_timeline(model, x, title="Two blocks")
    names = [event.name for event in record_hooks(model, x)]
    lanes = list(dict.fromkeys(names))
    marks = sorted(tuple(place) for one in picture.axes[0].collections for place in one.get_offsets())
    assert [int(lane) for _, lane in marks] == [lanes.index(name) for name in names]
    assert {"Two blocks", "forward →", "backward →", "full backward hook", "1", "28"} <= set(texts(picture))
    assert picture.alt.startswith("Two blocks. In this order: 1 forward pre-hook of Sequential; ")


def test_a_checkpoints_second_forward_stands_within_backward() -> None:
    class Checkpointed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.part, self.end = nn.Tanh(), nn.Linear(3, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.end(checkpoint(self.part, x, use_reentrant=False))  # type: ignore[no-any-return]

    model, x = Checkpointed(), torch.ones(2, 3, requires_grad=True)
    sequence = [event.kind for event in record_hooks(model, x)]
    begins = sequence.index("backward_pre")
    assert "forward_pre" in sequence[begins:]
    dashed = [line for line in draw_hook_timeline(model, x).axes[0].lines if line.is_dashed()]
    assert [set(line.get_xdata()) for line in dashed] == [{begins + 0.5}]


# Numbers


def test_each_layer_is_a_row_with_its_own_scale_or_all_share_one() -> None:
    images = draw_feature_maps(maps(), columns=8).findobj(BboxImage)
    assert len(images) == 8 + 3 + 2
    limits = [image.get_clim() for image in images]
    assert len(set(limits)) == 3 and all(low == -high for low, high in limits)
    picture = draw_feature_maps(maps(), columns=8, one_scale=True)
    assert len({image.get_clim() for image in picture.findobj(BboxImage)}) == 1
    values = torch.tensor([[1.0, 1.0], [-1.0, -1.0], [0.0, 0.0], [1.0, -1.0]]).reshape(1, 4, 1, 2)
    signs = [one.get_text() for one in draw_feature_maps({"a": values}).texts if one.get_bbox_patch() is not None]
    assert signs == ["+", "−", "0", "±"], "in a grey print, too, below is told from above"


WRONG = [
    (draw_feature_maps, [{"a": torch.ones(3, 4)}]),
    (draw_heat, [torch.rand(3, 4, 4), torch.rand(2)]),
]


@pytest.mark.parametrize(("draw", "given"), WRONG)
def test_a_picture_says_what_it_wants(draw: Any, given: list[Any]) -> None:
    with pytest.raises(ValueError, match="wanted"):
        draw(*given)


def test_bars_end_at_the_mean_and_diamonds_stand_at_the_largest() -> None:
    gradients = {"first": torch.tensor([1.0, -3.0]), "second": torch.tensor([[0.01, 0.03]]), "third": torch.ones(())}
    axes = draw_gradient_flow(gradients).axes[0]
    bars = [one for one in axes.patches if one.get_height() == pytest.approx(0.62)]
    ends = [one.get_x() + one.get_width() for one in sorted(bars, key=lambda one: one.get_y())]
    assert ends == pytest.approx([2.0, 0.02, 1.0])
    diamonds = next(line for line in axes.lines if line.get_marker() == "D")
    assert list(diamonds.get_xdata()) == pytest.approx([3.0, 0.03, 1.0]) and list(diamonds.get_ydata()) == [0, 1, 2]
    assert axes.get_xscale() == "log"


def test_each_column_is_the_histogram_of_its_step() -> None:
    steps = [torch.tensor([0.0, 0.0, 0.0, 1.0]), torch.tensor([1.0, 1.0, 1.0, 1.0])]
    picture = draw_activation_histograms({"relu": steps})
    heat, share = picture.axes
    columns = heat.images[0].get_array()
    assert columns.shape[1] == 2
    assert columns[0, 0] == pytest.approx(torch.tensor(0.7501).log10().item(), abs=1e-4), "three of four values are low"
    assert columns[0, 1] == pytest.approx(-4) and columns[-1, 1] == pytest.approx(0, abs=1e-3)
    assert list(share.lines[0].get_ydata()) == [0.75, 0.0]


def test_the_heat_map_is_scaled_up_to_the_picture_and_its_largest_value_marked() -> None:
    heat = torch.zeros(4, 4)
    heat[1, 2] = 2.0
    picture = draw_heat(photograph(), heat, title="Grad-CAM")
    side = photograph().shape[-1]
    first, second, third = picture.findobj(BboxImage)[:3]
    assert first.get_array().shape == third.get_array().shape == (side, side, 3)
    assert int(second.get_array().argmax()) == side * (row := 3 * side // 8 - 1) + (column := 5 * side // 8 - 1)
    assert f"heat map 4 × 4: from 0 to 2, largest at row {row}, column {column} of the picture" in picture.alt
