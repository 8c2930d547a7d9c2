"""The tools that lessons 05 and 06 hand on, as their reference solutions are, on models as people have them.

They work there, or say that they do not. Every truth comes by another way than the tool's: a copy without hooks, a walk over
the graph, PyTorch's own counter, or one sample at a time.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial
from typing import Any

import nbformat
import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from course.patient import ill_gpt, is_written, layer_report
from course.probing import hook_counts
from tests import ROOT

pytestmark = pytest.mark.slow
GIVEN = tuple[nn.Module, torch.Tensor]


@cache
def solutions(slug: str) -> dict[str, Any]:
    """The names that the read-only cells and the answers of a source notebook define."""
    names: dict[str, Any] = {}
    for cell in nbformat.read(ROOT / "source" / slug / f"{slug}.ipynb", as_version=4).cells:
        marks = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and marks and not marks["grade"]:
            exec(cell.source, names)
    return names


def no_hooks(model: nn.Module) -> bool:
    return not any(hook_counts(model).values())


def _tangled() -> nn.Module:
    """A frozen layer, one in two places, a tied weight, a part in eval mode, activations that overwrite what they get."""
    twice, last = nn.Linear(4, 4), nn.Linear(4, 4)
    last.weight = twice.weight
    part = nn.Sequential(nn.Dropout(0.5), nn.Linear(4, 4)).eval()
    first = nn.Linear(4, 4).requires_grad_(False)
    layers = [first, nn.ReLU(inplace=True), twice, nn.Tanh(), twice, part, last, nn.ELU(inplace=True)]
    return nn.Sequential(*layers, nn.Linear(4, 3))


class Recurrent(nn.Module):
    """An LSTM, and a layer on its last step."""

    def __init__(self) -> None:
        super().__init__()
        self.enter, self.lstm, self.head = nn.Linear(4, 8), nn.LSTM(8, 6, batch_first=True), nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        steps, _ = self.lstm(self.enter(x))
        return self.head(steps[:, -1])  # type: ignore[no-any-return]


def _resnet() -> nn.Module:
    from torchvision.models import resnet18

    return resnet18(weights=None, num_classes=5).eval()  # type: ignore[no-any-return]


def _encoder() -> nn.Module:
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 12, 0.0, batch_first=True), 2).eval()


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "resnet": (_resnet, (2, 3, 32, 32)),
    "encoder": (_encoder, (3, 5, 4)),
    "lstm": (Recurrent, (3, 5, 4)),
    "tangled": (_tangled, (3, 4)),
}
"""Models as people have them, each with the shape of an input that it takes."""
# The ResNet takes seconds each time; by day it has the tests that are about it, and lesson 06 runs with it.
BY_DAY = [name for name in MODELS if name != "resnet"]
every_model = pytest.mark.parametrize("name", [pytest.param("resnet", marks=pytest.mark.nightly), *BY_DAY])
in_both_precisions = pytest.mark.parametrize(
    ("name", "half"),
    [
        *((name, False) for name in BY_DAY),
        ("encoder", True),
        ("tangled", True),
        pytest.param("resnet", False, marks=pytest.mark.nightly),
    ],
)
"""Full precision and autocast. An LSTM runs under that on few CPUs."""


def precision(half: bool) -> AbstractContextManager[None]:
    return torch.autocast("cpu", enabled=half)


def made(name: str) -> GIVEN:
    """A model and its input."""
    build, shape = MODELS[name]
    torch.manual_seed(7)
    return build(), torch.randn(*shape)


# Lesson 05


Call = tuple[str, Any, Any]
"""One call of a module: its dotted name, its output as it was, and the output itself."""


def calls_of(model: nn.Module, x: torch.Tensor) -> list[Call]:
    """Each call of a module while ``model(x)`` runs, in the order in which they end, without any hook; the model is spent."""
    calls: list[Call] = []

    def listening(name: str, forward: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            output = forward(*given, **named)
            calls.append((name, output.detach().clone() if isinstance(output, torch.Tensor) else output, output))
            return output

        return run

    for name, module in model.named_modules():
        module.forward = listening(name, module.forward)
    model(x)
    return calls


def single_calls(model: nn.Module, x: torch.Tensor) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """By name, the outputs of modules inside the model that run just once and return one tensor."""
    calls = calls_of(model, x)
    names = [name for name, _, _ in calls]
    single = [call for call in calls if isinstance(call[1], torch.Tensor) and names.count(call[0]) == 1]
    return {name: (output, later) for name, output, later in single if name}


def same(got: torch.Tensor, wanted: torch.Tensor) -> None:
    tolerance = 1e-2 if wanted.dtype == torch.bfloat16 else 1e-4
    torch.testing.assert_close(got, wanted, rtol=tolerance, atol=tolerance)


@in_both_precisions
def test_features_are_what_the_layers_put_out(name: str, half: bool) -> None:
    tools, (model, x) = solutions("05_feature_extraction"), made(name)
    with precision(half):
        calls = single_calls(copy.deepcopy(model), x)
        features = tools["safe_features"](model, list(calls), x)
        assert no_hooks(model)
        kept = [name for name, (output, later) in calls.items() if torch.equal(output, later)]
        extracted = tools["FeatureExt"](model, kept)(x)
    assert list(features) == list(calls)
    assert not any(value.requires_grad for value in features.values())
    for name, value in features.items():
        same(value, calls[name][0])
    assert set(extracted) == set(kept)
    for name, value in extracted.items():
        same(value.detach(), calls[name][0])


@every_model
def test_every_call_is_recorded_in_order(name: str) -> None:
    model, x = made(name)
    wanted = [call for call in calls_of(copy.deepcopy(model), x) if call[0]]
    calls = solutions("05_feature_extraction")["record_calls"](model, x)
    assert [name for name, _ in calls] == [name for name, _, _ in wanted]
    for (_, output), (_, right, _) in zip(calls, wanted, strict=True):
        if isinstance(output, torch.Tensor):
            same(output, right)
    assert no_hooks(model)


@every_model
def test_a_guest_leaves_no_trace(name: str) -> None:
    model, x = made(name)
    (name, *_), modes = single_calls(copy.deepcopy(model), x), [module.training for module in model.modules()]
    state, got = copy.deepcopy(model.state_dict()), list[torch.Tensor]()
    frozen = [one.requires_grad for one in model.parameters()]
    with solutions("05_feature_extraction")["looking_at"](
        model, {name: lambda module, args, output: got.append(output)}
    ):
        assert not model(x).requires_grad
        assert not any(module.training for module in model.modules())
    assert len(got) == 1
    assert [module.training for module in model.modules()] == modes
    assert [one.requires_grad for one in model.parameters()] == frozen
    assert all(torch.equal(value, state[key]) for key, value in model.state_dict().items())
    assert no_hooks(model)


@every_model
def test_a_patched_layer_puts_out_what_it_put_out_before(name: str) -> None:
    patch, (model, clean) = solutions("05_feature_extraction")["patch_activation"], made(name)
    corrupted = clean.flip(-1) * 2
    for layer in [*single_calls(copy.deepcopy(model), clean)][:3]:
        by_hand = copy.deepcopy(model)
        kept = single_calls(copy.deepcopy(model), clean)[layer][0]
        by_hand.get_submodule(layer).forward = lambda *args, kept=kept, **kwargs: kept.clone()
        same(patch(model, layer, clean, corrupted).detach(), by_hand(corrupted).detach())
    assert no_hooks(model)


@pytest.mark.parametrize("name", ["resnet", "tangled", "lstm"])
def test_linear_layers_and_convolutions_are_counted_as_torch_counts_them(name: str) -> None:
    net, x = made(name)
    with FlopCounterMode(display=False) as counter:
        net(x)
    counts = counter.get_flop_counts()["Global"].items()
    by_torch = sum(count for operator, count in counts if "lstm" not in str(operator).lower())
    # An LSTM multiplies by itself: it counts as 0, as the statement says.
    wanted = 3 * 5 * 4 * 8 + 3 * 6 * 3 if name == "lstm" else by_torch // 2
    assert solutions("05_feature_extraction")["count_macs"](net, x) == wanted


def test_what_cannot_be_done_is_said() -> None:
    tools, (model, x) = solutions("05_feature_extraction"), made("lstm")
    assert list(tools["every_tensor"](model, ["lstm", "head"], x)) == ["lstm.0", "lstm.1.0", "lstm.1.1", "head"]
    for tool, more in ((tools["safe_features"], (["lstm"], x)), (tools["patch_activation"], ("lstm", x, -x))):
        with pytest.raises(TypeError, match="lstm returned a tuple, not one tensor"):
            tool(model, *more)
        assert no_hooks(model)
    twice, x = made("tangled")
    with pytest.raises(ValueError, match="2 ran 2 times in one call"):
        tools["patch_activation"](twice, "2", x, -x)
    used = nn.Linear(4, 4)
    used.register_module("spare", nn.Linear(4, 4))
    never = nn.Sequential(OrderedDict(used=used))
    assert tools["safe_features"](never, ["used.spare"], x) == {}
    with pytest.raises(ValueError, match=r"used.spare ran 0 times"):
        tools["patch_activation"](never, "used.spare", x, -x)
    assert no_hooks(twice) and no_hooks(never)


# Lesson 06


def tool(name: str) -> Any:
    return solutions("06_capstones")[name]


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


@in_both_precisions
def test_the_debugger_finds_a_sound_model_sound_and_changes_nothing(name: str, half: bool) -> None:
    model, x = made(name)
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
    for name, layer, says in (("encoder", "layers.0.self_attn", "self_attn"), ("lstm", "", "N, K, h, w")):
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


@in_both_precisions
def test_per_sample_gradients_are_those_of_one_sample_at_a_time(name: str, half: bool) -> None:
    model, x = made(name)
    model.eval().requires_grad_()  # as the tool may assume: a batch norm in training mode would mix the samples
    free = copy.deepcopy(model)
    with tool("PerSampleGradients")(model) as per_sample, precision(half):
        loss_of(model, x).backward()
    assert per_sample.gradients
    for n in range(len(x)):
        free.zero_grad()
        with precision(half):
            loss_of(free, x[n : n + 1]).backward()
        for key, found in per_sample.gradients.items():
            wanted = gradients(free)[key]
            assert wanted is not None
            near = {"rtol": 0.1, "atol": 0.05 * found.abs().max().item()} if half else {"rtol": 1e-4, "atol": 1e-5}
            torch.testing.assert_close(found[n].to(wanted.dtype), wanted, **near)
    with precision(half):
        loss_of(unhooked := made(name)[0].eval().requires_grad_(), x).backward()
    assert_same_gradients(model, unhooked)
    assert no_hooks(model)


def test_per_sample_gradients_say_where_they_cannot_be_right() -> None:
    words = nn.Sequential(nn.Embedding(7, 6), nn.Linear(6, 7))
    words[1].weight = words[0].weight
    with pytest.raises(ValueError, match="Embedding"), tool("PerSampleGradients")(words):
        pass
    with pytest.raises(RuntimeError, match="dimensions"), tool("PerSampleGradients")(layer := nn.Linear(6, 3)):
        layer(torch.randn(6)).sum().backward()
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


@in_both_precisions
def test_activation_memory_is_what_the_graph_holds(name: str, half: bool) -> None:
    model, x = made(name)
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


@in_both_precisions
def test_an_optimizer_in_backward_is_an_ordinary_loop_bit_for_bit(name: str, half: bool) -> None:
    model, x = made(name)
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


def test_a_cell_that_needs_a_tool_can_ask_whether_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    @contextmanager  # type: ignore[arg-type]
    def stub(model: nn.Module) -> None:
        pass

    assert is_written(tool("gradient_flow_debugger"), nn.ReLU()) and not is_written(stub, nn.ReLU())
    assert capsys.readouterr().out == "stub is not written yet\n"


def test_a_report_shows_the_dead_layer_and_the_one_without_a_gradient(capsys: pytest.CaptureFixture[str]) -> None:
    gpt = ill_gpt()
    layer_report(gpt, lambda: gpt(torch.tensor([[4, 0, 7]])).square().mean())
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert [name for name, row in rows.items() if "output 0 " in row] == ["blocks.0.mlp.1"]
    assert {name.rpartition(".")[0] for name, row in rows.items() if "gradient" not in row} == {"blocks.0.heads.1"}
    assert no_hooks(gpt.blocks[0].mlp) and all(parameter.grad is None for parameter in gpt.parameters())
