"""The five tools of lesson 06, as its solutions are: they work on models that people use at work, or say that they do not.

Every truth comes by another way than the tool's: a copy without hooks, a walk over the graph, torchvision's tracing,
or one sample at a time.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn

from course.patient import Reader, SoundUnitLength, UnitLength, is_written, scans_of_digits, tensors_in, train
from tests.course.solved import no_hooks, solutions

pytestmark = pytest.mark.slow


def tool(name: str) -> Any:
    return solutions("06_capstones")[name]


class CalledTwice(nn.Module):
    """One layer and one ReLU that run twice, and a weight that two layers share."""

    def __init__(self) -> None:
        super().__init__()
        self.enter, self.mix, self.leave = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6)
        self.relu = nn.ReLU(inplace=True)
        self.leave.weight = self.enter.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.relu(self.enter(x))
        for _ in range(2):
            x = self.relu(self.mix(x))
        return self.leave(x)  # type: ignore[no-any-return]


def resnet() -> nn.Module:
    from torchvision.models import resnet18

    return resnet18(weights=None, num_classes=5)  # type: ignore[no-any-return]


def encoder() -> nn.Module:
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 12, 0.0, batch_first=True), 2)


def half_frozen() -> nn.Module:
    frozen = nn.Linear(6, 6).requires_grad_(False)
    return nn.Sequential(frozen, nn.ReLU(inplace=True), nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 3))


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "resnet": (resnet, (2, 3, 32, 32)),
    "encoder": (encoder, (3, 5, 8)),
    "lstm": (lambda: nn.LSTM(6, 4, num_layers=2, batch_first=True), (3, 5, 6)),
    "frozen in part": (half_frozen, (5, 6)),
    "tied and called twice": (CalledTwice, (5, 6)),
    "one layer": (lambda: nn.Linear(6, 3), (5, 6)),
}
# The ResNet takes seconds each time; by day it has the tests that are about it, and lesson 06 runs with it.
every_model = pytest.mark.parametrize(
    "name", [pytest.param("resnet", marks=pytest.mark.nightly), *(name for name in MODELS if name != "resnet")]
)
in_both_precisions = pytest.mark.parametrize("half", [False, True], ids=["full", "autocast"])


def made(name: str, half: bool = False) -> tuple[nn.Module, torch.Tensor]:
    """A model and its input; a CPU without half precision for an LSTM, as most laptops' are, leaves that test out."""
    build, shape = MODELS[name]
    torch.manual_seed(0)
    model, x = build(), torch.randn(*shape)
    if half and name == "lstm":
        try:
            with precision(half):
                model(x)
        except RuntimeError as error:
            pytest.skip(f"this CPU cannot run an LSTM under autocast: {error}")
    return model, x


def precision(half: bool) -> AbstractContextManager[None]:
    return torch.autocast("cpu", enabled=half)


def loss_of(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    output = model(x)
    first = output[0] if isinstance(output, tuple) else output
    return first.float().flatten(1).pow(2).mean(1).mean()  # the mean over the samples


def gradients(model: nn.Module) -> dict[str, torch.Tensor | None]:
    return {name: parameter.grad for name, parameter in model.named_parameters()}


def assert_same_gradients(model: nn.Module, free: nn.Module) -> None:
    for (name, found), wanted in zip(gradients(model).items(), gradients(free).values(), strict=True):
        assert (found is None) == (wanted is None), name
        if found is not None:
            torch.testing.assert_close(found, wanted, equal_nan=True)


@every_model
@in_both_precisions
def test_the_debugger_finds_a_sound_model_sound_and_changes_nothing(name: str, half: bool) -> None:
    model, x = made(name, half)
    free = copy.deepcopy(model)
    with tool("gradient_flow_debugger")(model) as report, precision(half):
        loss_of(model, x).backward()
    with precision(half):
        loss_of(free, x).backward()
    assert (report["bad_output"], report["bad_gradient"]) == (None, None)
    assert report["no_gradient"] == [key for key, grad in gradients(free).items() if grad is None]
    sizes = {key: grad.abs().mean().item() for key, grad in gradients(free).items() if grad is not None}
    assert report["gradient_size"] == pytest.approx(sizes, rel=1e-4)
    assert_same_gradients(model, free)
    assert no_hooks(model)


@pytest.mark.parametrize("frozen", [False, True], ids=["trained", "frozen"])
def test_grad_cam_is_cam_at_the_end_of_a_resnet(frozen: bool) -> None:
    model, x = made("resnet")
    model.eval().requires_grad_(not frozen)
    targets = torch.tensor([3, 1])
    with torch.no_grad():
        last = torch.nn.Sequential(*list(model.children())[:-2])(x)
        wanted = torch.einsum("nk,nkhw->nhw", model.fc.weight[targets], last).relu() / last[0, 0].numel()
        for layer in ("layer4", "layer4.1", "layer4.1.relu"):  # the ReLU runs twice
            torch.testing.assert_close(tool("grad_cam")(model, layer, x, targets), wanted)
    assert all(grad is None for grad in gradients(model).values())
    assert no_hooks(model)


def test_grad_cam_refuses_training_mode_and_layers_without_positions_or_that_do_not_run() -> None:
    for name, layer, says in (
        ("encoder", "layers.0", "layers.0"),
        ("encoder", "layers.0.self_attn", "self_attn"),
        ("lstm", "", "N, K, h, w"),
    ):
        model, x = made(name)
        with pytest.raises(ValueError, match=says):
            tool("grad_cam")(model.eval(), layer, x, torch.zeros(len(x), dtype=torch.int64))
        assert no_hooks(model)
    model, x = made("resnet")
    model.spare = nn.Identity()
    model.eval()
    with pytest.raises(ValueError, match="a layer that runs"):
        tool("grad_cam")(model, "spare", x, torch.tensor([3, 1]))
    model.bn1.train()
    with pytest.raises(ValueError, match="evaluation mode"):
        tool("grad_cam")(model, "layer4", x, torch.tensor([3, 1]))


@every_model
@in_both_precisions
def test_per_sample_gradients_are_those_of_one_sample_at_a_time(name: str, half: bool) -> None:
    model, x = made(name, half)
    model.eval()  # a batch norm in training mode would mix the samples
    free = copy.deepcopy(model)
    with tool("PerSampleGradients")(model) as per_sample, precision(half):
        loss_of(model, x).backward()
    called = {"resnet": 2, "encoder": 8, "lstm": 0, "frozen in part": 4, "tied and called twice": 5, "one layer": 2}
    assert len(per_sample.gradients) == called[name]
    for n in range(len(x)):
        free.zero_grad()
        with precision(half):
            loss_of(free, x[n : n + 1]).backward()
        for key, found in per_sample.gradients.items():
            wanted = gradients(free)[key]
            assert wanted is not None
            near = {"rtol": 0.1, "atol": 0.05 * wanted.abs().max().item()} if half else {"rtol": 1e-4, "atol": 1e-5}
            torch.testing.assert_close(found[n], wanted, **near)
    with precision(half):
        loss_of(unhooked := made(name)[0].eval(), x).backward()
    assert_same_gradients(model, unhooked)
    assert no_hooks(model)


def test_per_sample_gradients_say_where_they_cannot_be_right() -> None:
    words = nn.Sequential(nn.Embedding(7, 6), nn.Linear(6, 7))
    words[1].weight = words[0].weight
    with pytest.raises(ValueError, match="Embedding"), tool("PerSampleGradients")(words):
        pass
    with pytest.raises(ValueError, match="samples"), tool("PerSampleGradients")(layer := nn.Linear(6, 3)):
        layer(torch.randn(6))
    assert no_hooks(words)
    assert no_hooks(layer)


def saved_by(output: torch.Tensor, parameters: list[torch.Tensor]) -> int:
    """Bytes of the storages that the graph of an output holds, those of the parameters left out."""
    storages, visited, left = {}, set(), [output.grad_fn]
    while left:
        node = left.pop()
        if node is None or node in visited:
            continue
        visited.add(node)
        left += [edge for edge, _ in node.next_functions]
        for name in dir(node):
            value = getattr(node, name) if name.startswith("_saved_") else None
            for tensor in value if isinstance(value, (tuple, list)) else [value]:
                if isinstance(tensor, torch.Tensor):
                    storages[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
    own = {parameter.untyped_storage().data_ptr() for parameter in parameters}
    return sum(size for address, size in storages.items() if address not in own)


@every_model
@in_both_precisions
def test_activation_memory_is_what_the_graph_holds(name: str, half: bool) -> None:
    model, x = made(name, half)
    free = copy.deepcopy(model)
    with precision(half):
        wanted = saved_by(loss_of(free, x), list(free.parameters()))
    memory = tool("ActivationMemory")(model)
    for _ in range(2):  # the second block begins at 0
        with memory, precision(half):
            loss = loss_of(model, x)
        assert memory.bytes == sum(memory.by_layer.values()) == wanted
    assert set(memory.by_layer) <= {key for key, _ in model.named_modules()}
    loss.backward()
    with precision(half):
        loss_of(free, x).backward()
    assert_same_gradients(model, free)
    assert no_hooks(model)


@every_model
@in_both_precisions
def test_an_optimizer_in_backward_is_an_ordinary_loop_bit_for_bit(name: str, half: bool) -> None:
    model, x = made(name, half)
    ordinary = copy.deepcopy(model)
    optimizer = torch.optim.SGD(ordinary.parameters(), lr=0.01, momentum=0.9)
    inside = tool("OptimizerInBackward")(model, partial(torch.optim.SGD, lr=0.01, momentum=0.9))
    for _ in range(2):  # the second block goes on with the first one's momentum
        with inside:
            for _ in range(2):
                with precision(half):
                    loss_of(model, x).backward()
                assert all(grad is None for grad in gradients(model).values())
        for _ in range(2):
            optimizer.zero_grad()
            with precision(half):
                loss_of(ordinary, x).backward()
            optimizer.step()
    trained = {p for p in model.parameters() if p.requires_grad}
    assert set(inside.optimizers) == trained
    for found, wanted in zip(model.parameters(), ordinary.parameters(), strict=True):
        assert torch.equal(found, wanted)
    assert no_hooks(model)


@dataclass
class Output:
    """What a layer may return."""

    parts: object


def test_tensors_are_found_at_whatever_depth_of_an_output() -> None:
    one, two, three = (torch.ones(size) for size in (1, 2, 3))
    output = (one, [None, {"a": two, "b": Output((three, "text"))}])
    assert [len(tensor) for tensor in tensors_in(output)] == [1, 2, 3]
    assert tensors_in(None) == []


def test_the_patient_dies_of_its_blank_scan_and_is_well_with_another_layer() -> None:
    scans, answers = scans_of_digits()
    batch = torch.tensor([868, *range(31)])
    for unit, dies in ((UnitLength, True), (SoundUnitLength, False)):
        torch.manual_seed(0)
        losses = train(Reader(unit), scans, answers, [batch, batch])
        assert [loss != loss for loss in losses] == [False, dies]


def test_a_cell_that_needs_a_tool_can_ask_whether_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    @contextmanager  # type: ignore[arg-type]
    def stub(model: nn.Module) -> None:
        pass

    class AsClass(AbstractContextManager[dict[str, Any]]):
        def __init__(self, model: nn.Module) -> None: ...

        def __exit__(self, *error: object) -> None: ...

    model = nn.ReLU()
    assert is_written(tool("gradient_flow_debugger"), model) and is_written(AsClass, model)
    assert no_hooks(model)
    assert not is_written(stub, model)
    assert capsys.readouterr().out == "stub is not written yet\n"
