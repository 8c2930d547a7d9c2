"""Feature maps, heat maps, gradient flow, histograms, memory bars: numbers in, the same numbers out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import torch
from matplotlib.image import BboxImage
from torch import nn

from course.data import picture as photograph
from course.pictures.activations import draw_activation_histograms
from course.pictures.attention import draw_attention
from course.pictures.beside import beside
from course.pictures.canvas import Picture
from course.pictures.digits import draw_digits
from course.pictures.feature_maps import draw_clobber, draw_feature_maps
from course.pictures.gradient_flow import draw_gradient_flow
from course.pictures.heat import draw_heat
from course.pictures.memory import draw_memory
from course.pictures.module_tree import draw_module_tree
from tests.pictures.gallery import MEMORY, after_backward, history, maps, texts


def test_each_layer_is_a_row_with_its_own_scale_and_both_of_a_pair_have_one() -> None:
    images = draw_feature_maps(maps(), columns=8, title="Features").findobj(BboxImage)
    assert len(images) == 8 + 3 + 2
    limits = [image.get_clim() for image in images]
    assert len(set(limits)) == 3 and all(low == -high for low, high in limits)
    assert images[0].get_array().shape == (9, 7)
    pair = draw_clobber(BEFORE, BEFORE.relu())
    shown = pair.findobj(BboxImage)
    assert len(shown) == 4 and len({image.get_clim() for image in shown}) == 1
    assert {"when the hook ran", "after forward"} <= set(texts(pair))


def test_rows_that_are_compared_can_share_one_scale() -> None:
    picture = draw_feature_maps(maps(), columns=8, one_scale=True)
    assert len({image.get_clim() for image in picture.findobj(BboxImage)}) == 1
    assert any("share one scale" in said for said in texts(picture))


def test_in_a_grey_print_a_sign_tells_below_from_above_zero() -> None:
    values = torch.tensor([[1.0, 1.0], [-1.0, -1.0], [0.0, 0.0], [1.0, -1.0]]).reshape(1, 4, 1, 2)
    picture = draw_feature_maps({"layer": values})
    assert [one.get_text() for one in picture.texts if one.get_bbox_patch() is not None] == ["+", "−", "0", "±"]


BEFORE = torch.tensor([[[[-2.0, 1.0]], [[3.0, -1.0]]]])
GRADIENTS = {
    "broken": torch.tensor([torch.nan, 2.0, -4.0, torch.inf]),
    "half": torch.ones(2, dtype=torch.bfloat16),
    "complex": torch.tensor([3 + 4j]),
    "empty": torch.ones(0),
    "nothing": None,
}
STEPS = {
    "grown": [torch.randn(number + 1, 3, requires_grad=True) for number in range(4)],
    "bool": [torch.tensor([True, False])],
    "half": [torch.ones(3).half()],
    "complex": [torch.tensor([3 + 4j])],
    "empty": [torch.ones(0)],
    "huge": [torch.ones(1_000_003)],
}


def sparse() -> nn.Module:
    embedding = nn.Embedding(5, 2, sparse=True)
    embedding(torch.tensor([1, 1])).sum().backward()
    return embedding


def many() -> nn.Module:
    model = nn.Sequential(*[nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)) for _ in range(30)])
    model(torch.ones(1, 2)).sum().backward()
    model[3][0].weight.grad[0, 0] = torch.nan
    model[4][0].weight.grad = None
    return model


def kept() -> nn.Parameter:
    parameter = nn.Parameter(torch.ones(2))
    parameter.grad = torch.full((2,), 5.0)
    return parameter


ODD = {
    "2.weight: None: frozen, requires_grad is False",
    "4.bias: all zero",
    "6.bias: NaN in 1 of 8, mean",
    "8.weight: inf in 1 of 64, mean",
    "8.bias: None: no gradient came here",
    "11.weight: None: no gradient came here",
}
TOLD = [
    "broken: NaN in 1 of 4, inf in 1 of 4, mean 3, max 4; half: mean 1, max 1; complex: mean 5, max 5; empty: no elements",
    "nothing: None: no gradient came here",
]
SAYS: dict[str, tuple[Callable[[], Picture], Iterable[str]]] = {
    "feature maps": (
        lambda: draw_feature_maps(maps(), title="Features"),
        ["Features", "conv: 8 of 12 maps, 9 × 7, values from", "NaN or inf among them", "layer4.1.conv2"],
    ),
    "clobber": (
        lambda: draw_clobber(BEFORE, BEFORE.relu(), title="bn1"),
        [
            "bn1",
            "when the hook ran: 2 maps, 1 × 2, values from -2 to 3; after forward: 2 maps, 1 × 2, values from 0 to 3",
        ],
    ),
    "odd gradients": (lambda: draw_gradient_flow(after_backward()), ODD),
    "sparse gradients": (lambda: draw_gradient_flow(sparse()), ["weight: mean 2, max 2"]),
    "gradients of every kind": (lambda: draw_gradient_flow(GRADIENTS), TOLD),
    "before a backward": (lambda: draw_gradient_flow(nn.LSTM(3, 4)), ["no .grad anywhere: has backward() run?"]),
    "a parameter": (lambda: draw_gradient_flow({"one": kept()}), ["one: mean 5, max 5"]),
    "many parameters": (
        lambda: draw_gradient_flow(many()),
        ["120 parameters, of which the first and the last 32 are drawn", "3.0.weight: NaN in 1 of 4"],
    ),
    "activations": (
        lambda: draw_activation_histograms(history(), title="Training"),
        ["Training", "1.relu", "NaN or inf from step 8", "never: nothing recorded", "constant: 2 steps"],
    ),
    "activations of every kind": (
        lambda: draw_activation_histograms(STEPS),
        ["complex: 1 step, values from 4.5 to 5.5", "bool: 1 step, values from 0 to 1, zeros 50%", "grown: 4 steps"],
    ),
    "nearly all zeros": (
        lambda: draw_activation_histograms({"relu": [torch.ones(480), torch.eye(480)[7]]}),
        ["99.79% at last"],
    ),
    "memory": (lambda: draw_memory(MEMORY), ["0 B", "198 MiB"]),
    "no memory": (lambda: draw_memory({}), ["Nothing was measured."]),
    "many kinds of memory": (
        lambda: draw_memory({"all": {f"kind {number}": 10.0**number for number in range(9)}}),
        [f"kind {number}" for number in range(9)],
    ),
    "normalized": (
        lambda: draw_heat(torch.randn(3, 4, 4) * 3, torch.ones(2, 2)),
        ["stretched to 0 … 1", "heat map 2 × 2: 1 everywhere"],
    ),
    "broken heat": (
        lambda: draw_heat(torch.rand(3, 4, 4), torch.tensor([[torch.nan, 1.0], [2.0, 3.0]])),
        ["1 of 4 values of the heat map are NaN or inf"],
    ),
    "no heat": (lambda: draw_heat(torch.rand(3, 4, 4), torch.full((2, 2), torch.nan)), ["4 of 4 values"]),
}


@pytest.mark.filterwarnings("ignore:Sparse invariant")
@pytest.mark.parametrize("name", SAYS)
def test_what_is_odd_is_said_in_words(name: str) -> None:
    draw, words = SAYS[name]
    said = "\n".join([*texts(picture := draw()), picture.alt])
    assert [one for one in words if one not in said] == []
    assert len(picture.png()) > 1000


def test_pictures_stand_beside_each_other_with_their_own_words_or_given_ones() -> None:
    left, right = draw_module_tree(nn.ReLU(), title="left"), draw_module_tree(nn.Tanh())
    row = beside(left, (right, 'in "other" <words>'))
    assert re.findall('<img class="two-looks" alt="(.*?)"', row._repr_html_()) == [
        left.alt,
        "in &quot;other&quot; &lt;words&gt;",
    ]
    assert repr(row) == f'{left.alt}\nin "other" <words>'


WRONG = [
    *((draw_feature_maps, [one]) for one in ({"a": torch.ones(3, 4)}, {"a": torch.ones(0, 1, 2, 2)})),
    (draw_activation_histograms, [{"a": ["text"]}]),
    (draw_heat, [torch.rand(2, 3, 4, 4), torch.rand(2, 2)]),
    *((draw_heat, [torch.rand(3, 4, 4), one]) for one in (torch.rand(2), torch.rand(0, 2), 1.0)),
    (draw_digits, [torch.rand(2, 3, 4, 4), ["a", "b"]]),
]


@pytest.mark.parametrize(("draw", "given"), WRONG)
def test_every_picture_says_what_it_wants(draw: Any, given: list[Any]) -> None:
    with pytest.raises(ValueError, match="wanted"):
        draw(*given)


def bars(picture: Any) -> list[float]:
    """The right ends of the bars, from top to bottom."""
    found = [one for one in picture.axes[0].patches if getattr(one, "get_height", int)() == pytest.approx(0.62)]
    return [one.get_x() + one.get_width() for one in sorted(found, key=lambda one: one.get_y())]


def test_bars_end_at_the_mean_and_diamonds_stand_at_the_largest() -> None:
    gradients = {"first": torch.tensor([1.0, -3.0]), "second": torch.tensor([[0.01, 0.03]]), "third": torch.ones(())}
    picture = draw_gradient_flow(gradients)
    assert bars(picture) == pytest.approx([2.0, 0.02, 1.0])
    diamonds = next(line for line in picture.axes[0].lines if line.get_marker() == "D")
    assert list(diamonds.get_xdata()) == pytest.approx([3.0, 0.03, 1.0]) and list(diamonds.get_ydata()) == [0, 1, 2]
    assert picture.axes[0].get_xscale() == "log"
    said = texts(picture)
    assert [one for one in said if one in gradients] == list(gradients)
    assert {"mean 2, max 3", "mean 0.02, max 0.03", "mean 1, max 1"} <= set(said)
    assert "first: mean 2, max 3; second: mean 0.02, max 0.03; third: mean 1, max 1" in picture.alt


# Activations


def test_each_column_is_the_histogram_of_its_step() -> None:
    steps = [torch.tensor([0.0, 0.0, 0.0, 1.0]), torch.tensor([1.0, 1.0, 1.0, 1.0])]
    picture = draw_activation_histograms({"relu": steps})
    heat, share = picture.axes
    columns = heat.images[0].get_array()
    assert columns.shape[1] == 2
    assert columns[0, 0] == pytest.approx(torch.tensor(0.7501).log10().item(), abs=1e-4), "three of four values are low"
    assert columns[0, 1] == pytest.approx(-4) and columns[-1, 1] == pytest.approx(0, abs=1e-3)
    assert list(share.lines[0].get_ydata()) == [0.75, 0.0]
    assert [tick.get_text() for tick in share.get_xticklabels()] == ["step 0", "1"], (
        "counted as in the exercise beside it"
    )
    assert "relu: 2 steps, values from 0 to 1, zeros 75% at first, 0% at last" in picture.alt


# Memory


def test_segments_are_as_wide_as_their_bytes_and_totals_are_readable() -> None:
    picture = draw_memory({"a": {"x": 1000, "y": 3000}, "b": {"y": 2000}})
    first, _, second, last = picture.axes[0].patches
    assert [one.get_width() for one in (first, second, last)] == [1000, 3000, 2000]
    assert [one.get_x() for one in (first, second, last)] == [0, 1000, 0]
    looks = [(one.get_facecolor(), one.get_hatch()) for one in (first, second, last)]
    assert looks[0] != looks[1] == looks[2], "a kind looks the same in every bar"
    assert {"a", "b", "x", "y", "3.91 KiB", "1.95 KiB"} <= set(texts(picture))
    assert picture.alt == "Memory. a 3.91 KiB (x 1000 B, y 2.93 KiB); b 1.95 KiB (y 1.95 KiB)"


# Heat


def test_the_heat_map_is_scaled_up_to_the_picture_and_its_largest_value_marked() -> None:
    heat = torch.zeros(4, 4)
    heat[1, 2] = 2.0
    picture = draw_heat(photograph(), heat, title="Grad-CAM")
    side = photograph().shape[-1]
    (bar,) = picture.axes
    first, second, third = picture.findobj(BboxImage)[:3]
    assert first.get_array().shape == third.get_array().shape == (side, side, 3)
    assert int(second.get_array().argmax()) == side * (row := 3 * side // 8 - 1) + (column := 5 * side // 8 - 1)
    assert f"heat map 4 × 4: from 0 to 2, largest at row {row}, column {column} of the picture" in picture.alt
    assert [one.get_text() for one in bar.get_yticklabels()] == ["0", "2"]
    assert {"Grad-CAM", f"the picture, {side} × {side}", "heat map", "heat map over picture"} <= set(texts(picture))


@pytest.mark.parametrize("shape", [(3, 8, 6), (1, 3, 8, 6), (1, 8, 6), (1, 1, 8, 6)])
@pytest.mark.parametrize("heat", [(2, 2), (1, 2, 2), (1, 1, 8, 6), (20, 30), (1, 1)])
def test_pictures_and_heat_maps_of_any_usual_shape(shape: tuple[int, ...], heat: tuple[int, ...]) -> None:
    picture = draw_heat(torch.rand(shape), torch.rand(heat, requires_grad=True))
    assert "the picture, 8 × 6;" in picture.alt


def test_attention_is_drawn_as_it_was_and_told_in_words() -> None:
    looks = torch.eye(3).roll(-1, 0) * 0.75 + 0.08
    drawn = draw_attention(
        {"a line": {"head": looks[None], "other": looks.mT}}, {"a line": ["to", "be", "not"]}, last=2
    )
    images = drawn.findobj(BboxImage)
    assert [
        torch.equal(torch.tensor(image.get_array()), one)
        for image, one in zip(images, (looks[1:], looks.mT[1:]), strict=True)
    ]
    assert {image.get_clim() for image in images} == {(0.0, 1.0)}
    assert "a line, head: looks most at not (place 2), to (place 0)" in drawn.alt
