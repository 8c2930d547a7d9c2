"""The tools that lesson 05 hands on, on models as people have them: what its reference solutions do, or say that they cannot."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from torchvision.models import resnet18

from tests.course import odd_models
from tests.course.solved import no_hooks, solutions

pytestmark = pytest.mark.slow
GIVEN = tuple[nn.Module, torch.Tensor]
Precision = Callable[[], AbstractContextManager[Any]]


class Reader(nn.Module):
    """An LSTM, and a layer on its last step."""

    def __init__(self) -> None:
        super().__init__()
        self.enter, self.lstm, self.head = nn.Linear(8, 8), nn.LSTM(8, 6, batch_first=True), nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        steps, _ = self.lstm(self.enter(x))
        return self.head(steps[:, -1])  # type: ignore[no-any-return]


def odd(kind: str) -> GIVEN:
    return odd_models.MODELS[kind](), torch.randn(3, 4)


def encoder() -> GIVEN:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return nn.TransformerEncoder(layer, 2).eval(), torch.randn(2, 5, 8)


MODELS: dict[str, Callable[[], GIVEN]] = {
    "resnet18": lambda: (resnet18(weights=None).eval(), torch.randn(1, 3, 32, 32)),
    "resnet18 that trains": lambda: (resnet18(weights=None), torch.randn(2, 3, 32, 32)),
    "transformer encoder": encoder,
    "lstm": lambda: (Reader(), torch.randn(2, 5, 8)),
    **{kind: partial(odd, kind) for kind in odd_models.MODELS},
}


@dataclass(frozen=True)
class Call:
    """One call of a module: its dotted name, its output as it was, and the output itself."""

    name: str
    output: Any
    later: Any


def calls_of(model: nn.Module, x: torch.Tensor) -> list[Call]:
    """Each call of a module while ``model(x)`` runs, in the order in which they end, without any hook; the model is spent."""
    calls: list[Call] = []

    def listening(name: str, forward: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            output = forward(*given, **named)
            if isinstance(output, torch.Tensor):
                calls.append(Call(name, output.detach().clone(), output.detach()))
            else:
                calls.append(Call(name, output, output))
            return output

        return run

    for name, module in model.named_modules():
        module.forward = listening(name, module.forward)
    model(x)
    return calls


def single_calls(model: nn.Module, x: torch.Tensor) -> dict[str, Call]:
    """By name, the calls of modules inside the model that run just once and return one tensor."""
    calls = calls_of(model, x)
    names = [call.name for call in calls]
    tensors = [call for call in calls if isinstance(call.output, torch.Tensor)]
    return {call.name: call for call in tensors if call.name and names.count(call.name) == 1}


@pytest.fixture(scope="module")
def tools() -> dict[str, Any]:
    return solutions("05_feature_extraction")


@pytest.fixture(params=MODELS)
def given(request: pytest.FixtureRequest) -> GIVEN:
    torch.manual_seed(7)
    return MODELS[request.param]()


@pytest.fixture(params=["float32", "autocast"])
def precision(request: pytest.FixtureRequest) -> Precision:
    if request.param == "float32":
        return nullcontext
    return lambda: torch.autocast("cpu")


def same(got: torch.Tensor, wanted: torch.Tensor) -> None:
    tolerance = 1e-2 if wanted.dtype == torch.bfloat16 else 1e-4
    torch.testing.assert_close(got, wanted, rtol=tolerance, atol=tolerance)


def test_features_are_what_the_layers_put_out(tools: dict[str, Any], given: GIVEN, precision: Precision) -> None:
    model, x = given
    with precision():
        calls = single_calls(copy.deepcopy(model), x)
        features = tools["safe_features"](model, list(calls), x)
        assert no_hooks(model)
        kept = [name for name, call in calls.items() if torch.equal(call.output, call.later)]
        extracted = tools["FeatureExt"](model, kept)(x)
    assert list(features) == list(calls)
    assert not any(value.requires_grad for value in features.values())
    for name, value in features.items():
        same(value, calls[name].output)
    assert set(extracted) == set(kept)
    for name, value in extracted.items():
        same(value.detach(), calls[name].output)


def test_every_call_is_recorded_in_order(tools: dict[str, Any], given: GIVEN, precision: Precision) -> None:
    model, x = given
    with precision():
        wanted = [call for call in calls_of(copy.deepcopy(model), x) if call.name]
        calls = tools["record_calls"](model, x)
    assert [name for name, _ in calls] == [call.name for call in wanted]
    for (_, output), call in zip(calls, wanted, strict=True):
        if isinstance(output, torch.Tensor):
            same(output, call.output)
    assert no_hooks(model)


def test_a_guest_leaves_no_trace(tools: dict[str, Any], given: GIVEN) -> None:
    model, x = given
    (name, *_), modes = single_calls(copy.deepcopy(model), x), [module.training for module in model.modules()]
    state, got = copy.deepcopy(model.state_dict()), list[torch.Tensor]()
    frozen = [one.requires_grad for one in model.parameters()]
    with tools["looking_at"](model, {name: lambda module, args, output: got.append(output)}):
        assert not model(x).requires_grad
        assert not any(module.training for module in model.modules())
    assert len(got) == 1
    assert [module.training for module in model.modules()] == modes
    assert [one.requires_grad for one in model.parameters()] == frozen
    assert all(torch.equal(value, state[key]) for key, value in model.state_dict().items())
    assert no_hooks(model)


def test_a_patched_layer_puts_out_what_it_put_out_before(
    tools: dict[str, Any], given: GIVEN, precision: Precision
) -> None:
    model, clean = given
    corrupted = clean.flip(-1) * 2
    for name in [*single_calls(copy.deepcopy(model), clean)][:3]:
        by_hand = copy.deepcopy(model)
        with precision():
            kept = single_calls(copy.deepcopy(model), clean)[name].output
            by_hand.get_submodule(name).forward = lambda *args, kept=kept, **kwargs: kept.clone()
            same(tools["patch_activation"](model, name, clean, corrupted).detach(), by_hand(corrupted).detach())
    assert no_hooks(model)


@pytest.mark.parametrize("model", ["resnet18", "partly frozen", "tied", "called twice", "shared", "lstm"])
def test_linear_layers_and_convolutions_are_counted_as_torch_counts_them(tools: dict[str, Any], model: str) -> None:
    net, x = MODELS[model]()
    with FlopCounterMode(display=False) as counter:
        net(x)
    counts = counter.get_flop_counts()["Global"].items()
    by_torch = sum(count for operator, count in counts if "lstm" not in str(operator).lower())
    # An LSTM multiplies by itself: it counts as 0, as the statement says.
    wanted = 2 * 5 * 8 * 8 + 2 * 6 * 3 if model == "lstm" else by_torch // 2
    assert tools["count_macs"](net, x) == wanted


def test_outputs_in_parts_are_taken_apart(tools: dict[str, Any]) -> None:
    model, x = MODELS["lstm"]()
    assert list(tools["every_tensor"](model, ["lstm", "head"], x)) == ["lstm.0", "lstm.1.0", "lstm.1.1", "head"]
    model, x = encoder()
    assert "layers.0.self_attn.0" in tools["every_tensor"](model, ["layers.0.self_attn"], x)


def test_what_cannot_be_done_is_said(tools: dict[str, Any]) -> None:
    model, x = MODELS["lstm"]()
    for tool, more in ((tools["safe_features"], (["lstm"], x)), (tools["patch_activation"], ("lstm", x, -x))):
        with pytest.raises(TypeError, match="lstm returned a tuple, not one tensor"):
            tool(model, *more)
        assert no_hooks(model)
    twice, x = odd("called twice")
    with pytest.raises(ValueError, match="mix ran 2 times in one call"):
        tools["patch_activation"](twice, "mix", x, -x)
    used = nn.Linear(4, 4)
    used.register_module("spare", nn.Linear(4, 4))
    never = nn.Sequential(OrderedDict(used=used))
    assert tools["safe_features"](never, ["used.spare"], x) == {}
    with pytest.raises(ValueError, match=r"used.spare ran 0 times"):
        tools["patch_activation"](never, "used.spare", x, -x)
    assert no_hooks(twice) and no_hooks(never)
