"""The hook timeline: every event as it happens in torch, and a model that stays as it was."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.parameter import is_lazy
from torch.utils.checkpoint import checkpoint

from course.pictures.timeline import MAX_LANES, Event, draw_hook_timeline, record_hooks
from tests.pictures.gallery import Block, fifty, texts

Kinds = list[tuple[str, str]]


def kinds(events: list[Event]) -> Kinds:
    return [(event.kind, event.name) for event in events if event.kind != "parameter"]


def really(model: nn.Module, *inputs: Any, **keywords: Any) -> Kinds:
    """The same order from hooks of the test's own, put on the model itself."""
    log: Kinds = []
    handles = []
    for name, module in model.named_modules():
        for kind in ("forward_pre", "forward", "full_backward_pre", "full_backward"):
            event = kind.removeprefix("full_"), name
            handles.append(getattr(module, f"register_{kind}_hook")(lambda *_, event=event: log.append(event)))
    output = model(*inputs, **keywords)
    first = output[0] if isinstance(output, tuple) else output
    first.sum().backward()
    for handle in handles:
        handle.remove()
    model.zero_grad()
    return log


class TwoInputs(nn.Module):
    """Takes a keyword, returns a dict, uses one module twice."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor, *, scale: float = 1.0) -> torch.Tensor:
        return self.fc(self.fc(x)) * scale  # type: ignore[no-any-return]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Linear(3, 3), lambda: nn.Sequential(Block(), Block()), TwoInputs, fifty,
        lambda: nn.Sequential(nn.Dropout(), nn.Linear(3, 3), nn.BatchNorm1d(3)), lambda: nn.LSTM(3, 2),
        lambda: nn.TransformerEncoderLayer(3, 1, 4, batch_first=True),
    ],
)  # fmt: skip
def test_the_events_are_those_of_a_real_run(make: Any, grad: bool) -> None:
    model = make()
    x = torch.randn(4, 3, requires_grad=grad)
    events, note = record_hooks(model, x)
    assert kinds(events) == really(model, x)
    assert note == ""


@pytest.mark.filterwarnings("ignore")
def test_keywords_come_to_the_model_and_calls_are_counted() -> None:
    events, _ = record_hooks(TwoInputs(), torch.ones(2, 3), scale=2.0)
    assert kinds(events) == really(TwoInputs(), torch.ones(2, 3), scale=2.0)
    assert [event.call for event in events if event.name == "fc" and event.kind == "backward"] == [2, 1]
    attention = nn.MultiheadAttention(4, 2)
    events, note = record_hooks(attention, **dict.fromkeys(("query", "key", "value"), torch.ones(2, 1, 4)))
    assert note == "" and events[0].kind == "forward_pre"


def told(value: Any) -> Any:
    """What ``==`` compares: elements of tensors, what stands in containers, and of all else which object it is."""
    if isinstance(value, torch.Tensor):
        grad = told(value.grad) if value.is_leaf and not is_lazy(value) else None
        return id(value), is_lazy(value) or value.tolist(), grad, value.requires_grad
    if isinstance(value, dict):
        return [(key, told(one)) for key, one in value.items()]
    if isinstance(value, list):
        return list(map(told, value))
    return value if isinstance(value, (bool, int, float, str)) else id(value)


def state(model: nn.Module) -> list[Any]:
    """All of a model that a run could change, and the generators of random numbers."""
    generators = torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist()
    return [generators, *((name, told(vars(module))) for name, module in model.named_modules())]


class Keeps(nn.Module):
    """Keeps its last activations and counts its calls; draws random numbers of every kind."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("count", torch.zeros(()))
        self.last: Any = None
        self.calls = 0
        self.log: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        self.count += 1
        self.last = self.fc(x) * random.random() * float(np.random.rand()) * torch.rand(())
        self.log.append(self.last)
        return self.last  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout()), (4, 3)),
        (lambda: nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d(), nn.ReLU(inplace=True)), (4, 3)),
        (lambda: nn.Sequential(nn.LazyConv2d(2, 1), nn.Flatten(), nn.LazyLinear(1)), (2, 3, 4, 4)),
        (lambda: nn.utils.spectral_norm(nn.Linear(3, 3)), (4, 3)),
        (lambda: nn.utils.parametrizations.weight_norm(nn.Linear(3, 3)), (4, 3)),
        (Keeps, (4, 3)),
        (lambda: nn.Sequential(nn.Linear(3, 3), nn.Dropout()).eval(), (4, 3)),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_nothing_of_the_model_is_changed(make: Any, shape: tuple[int, ...]) -> None:
    model = make()
    if isinstance(model, Keeps):
        model(torch.ones(2, 3)).sum().backward()  # it now holds a tensor of a graph, which cannot be copied as usual
    model.register_forward_hook(lambda *_: None)
    x = torch.randn(shape, requires_grad=True)
    before, input_before = state(model), x.detach().clone()
    draw_hook_timeline(model, x)
    assert state(model) == before
    assert torch.equal(x, input_before) and x.grad is None
    assert not nn.modules.module._has_any_global_hook()


def test_the_owners_hooks_do_not_run_and_stay_where_they_are() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
    seen: list[str] = []
    names = {module: name for name, module in model.named_modules()}
    model[0].register_forward_hook(lambda module, *_: seen.append(names[module]))
    model[1].register_full_backward_hook(lambda *_: seen.append("backward"))
    model[0].weight.register_hook(lambda grad: seen.append("tensor"))
    events, note = record_hooks(model, torch.ones(2, 3))
    assert seen == [] and note == "" and len(kinds(events)) == 12
    model(torch.ones(2, 3)).sum().backward()
    assert sorted(seen) == ["0", "backward", "tensor"]
    record_hooks(Uses(), torch.ones(3))
    assert Uses.shared.grad is None, "nor is what a model only uses touched"


class Uses(nn.Module):
    shared = torch.ones(3, requires_grad=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.shared


def test_it_runs_under_no_grad_and_inference_mode() -> None:
    wanted = kinds(record_hooks(Block(), torch.ones(2, 3))[0])
    with torch.no_grad():
        assert kinds(record_hooks(Block(), torch.ones(2, 3))[0]) == wanted
    with torch.inference_mode():
        assert kinds(record_hooks(Block(), torch.ones(2, 3))[0]) == wanted
        assert torch.is_inference_mode_enabled()


def test_in_place_operations_are_seen_by_tensor_hooks() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU(inplace=True), nn.Linear(3, 3))
    events, note = record_hooks(model, torch.ones(2, 3, requires_grad=True))
    assert note == "in-place operations: backward seen by tensor hooks on inputs and outputs"
    assert [event.kind for event in events[:8]].count("forward") == 4
    assert {kind for kind, _ in kinds(events)[8:]} == {"backward_pre", "backward"}
    drawn = texts(draw_hook_timeline(model, torch.ones(2, 3)))
    assert note in drawn and "gradient of its output" in drawn and "full backward hook" not in drawn


def test_what_the_model_raises_is_raised_and_leaves_it_as_it_was() -> None:
    model = nn.Sequential(Block())
    before = state(model)
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        draw_hook_timeline(model, torch.ones(2, 7))
    assert state(model) == before


def test_without_gradients_there_is_no_backward() -> None:
    for model in (nn.ReLU(), nn.Linear(3, 3).requires_grad_(False)):
        events, note = record_hooks(model, torch.ones(3))
        assert note == "no backward: nothing requires a gradient" and len(events) == 2

    class Nothing(nn.Module):
        def forward(self) -> str:
            return "no tensor"

    assert "no backward: nothing requires a gradient" in texts(draw_hook_timeline(Nothing()))


# The drawing


def marks(picture: Any) -> Kinds:
    """The marks from left to right: look and lane."""
    found = [(*place, one.get_label()) for one in picture.axes[0].collections for place in one.get_offsets()]
    return [(label, str(int(lane))) for _, lane, label in sorted(found)]


def test_marks_stand_in_the_order_of_the_events_each_in_its_modules_lane() -> None:
    model = nn.Sequential(Block(), Block())
    x = torch.ones(2, 3, requires_grad=True)
    picture = draw_hook_timeline(model, x, title="Two blocks")
    names = [name for _, name in kinds(record_hooks(model, x)[0])]
    lanes = list(dict.fromkeys(names))
    assert [int(lane) for _, lane in marks(picture)] == [lanes.index(name) for name in names]
    said = texts(picture)
    assert {"Two blocks", "forward →", "backward →", "forward pre-hook", "full backward hook"} <= set(said)
    assert [one.strip() for one in said if ":" in one][:3] == ["0: Block", "0.fc: Linear", "0.act: Tanh"]
    assert {str(number) for number in range(1, 29)} <= set(said)
    assert picture.alt.startswith(
        "Two blocks. In this order: 1 forward pre-hook of Sequential; 2 forward pre-hook of 0: "
    )
    assert picture.alt.endswith("28 full backward hook of Sequential")


def test_a_checkpoints_second_forward_stands_within_backward() -> None:
    class Checkpointed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.part, self.end = nn.Tanh(), nn.Linear(3, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.end(checkpoint(self.part, x, use_reentrant=False))  # type: ignore[no-any-return]

    model, x = Checkpointed(), torch.ones(2, 3, requires_grad=True)
    events, _ = record_hooks(model, x)
    order = [event.kind for event in events]
    begins = order.index("backward_pre")
    assert "forward_pre" in order[begins:]
    dashed = [line for line in draw_hook_timeline(model, x).axes[0].lines if line.is_dashed()]
    assert [set(line.get_xdata()) for line in dashed] == [{begins + 0.5}]


def test_of_more_modules_than_lanes_the_deepest_are_left_out_and_counted() -> None:
    model = nn.Sequential(*[nn.Sequential(nn.Sequential(Block(), Block())) for _ in range(12)])
    picture = draw_hook_timeline(model, torch.ones(2, 3))
    lanes = picture.axes[0].get_yticklabels()
    assert len(lanes) <= MAX_LANES
    left_out = len(list(model.modules())) - len(lanes)
    assert any(one.startswith(f"{left_out} modules below level") for one in texts(picture))
