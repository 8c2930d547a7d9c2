"""When hooks fire: one forward and one backward of any module, event after event."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Event", "draw_hook_timeline", "record_hooks"]

_BLUE, _ORANGE, _INK, _PAPER, _BAND = "#1f5fa8", "#b8500a", "#1d2733", "#fbfaf6", "#eceff2"
_KINDS = {
    "forward_pre": ("forward pre-hook", ">", _BLUE, True),
    "forward": ("forward hook", "s", _BLUE, False),
    "backward_pre": ("full backward pre-hook", "<", _ORANGE, True),
    "backward": ("full backward hook", "s", _ORANGE, False),
}
_OWN = "full backward hooks"
_TENSORS = "tensor hooks on inputs and outputs"


@dataclass(frozen=True)
class Event:
    """One hook call: on which module (dotted name, '' is the root), of which kind, within which call, how deep."""

    name: str
    kind: str
    """forward_pre, forward, backward_pre or backward."""
    call: int
    """The number of the module's call, counted over all modules from 0. A reused module has several."""
    depth: int


def draw_hook_timeline(model: nn.Module, *inputs: torch.Tensor, title: str | None = None) -> Figure:
    """Run ``model(*inputs)`` and one backward of its summed output, and draw every module hook in the order it fires.

    One lane a module, the outer ones on top; a bar reaches from a module's first hook to its last. Nothing of the
    model, its gradients, its buffers, the inputs or the random generator is changed; the hooks are always removed.
    Hooks that the model has already run as they would in any other call.
    """
    import matplotlib.pyplot as plt

    events, note = record_hooks(model, *inputs)
    lanes = list(dict.fromkeys(event.name for event in events))
    depth = {name: min(event.depth for event in events if event.name == name) for name in lanes}
    figure: Figure = plt.figure(
        figsize=(min(16.0, max(7.5, 2.8 + 0.36 * len(events))), min(30.0, 1.7 + 0.42 * len(lanes))),
        facecolor=_PAPER, layout="constrained",
    )  # fmt: skip
    axes = figure.add_subplot(facecolor=_PAPER)
    row = {name: number for number, name in enumerate(lanes)}
    for number in range(0, len(lanes), 2):
        axes.axhspan(number - 0.5, number + 0.5, color=_BAND, zorder=0)
    for start, end, event in _spans(events):
        colour = _KINDS[event.kind][2]
        axes.plot([start, end], [row[event.name]] * 2, color=colour, linewidth=7, alpha=0.35, solid_capstyle="butt")
    labels = {kind: look[0] for kind, look in _KINDS.items()}
    if note:
        labels |= {"backward_pre": "gradient of its output", "backward": "gradient of its input"}
    _draw_marks(axes, events, row, labels)
    names = ["    " * depth[name] + _label(model, name) for name in lanes]
    axes.set_yticks(range(len(lanes)), names, fontsize=9, color=_INK, ha="left", family="monospace")
    width = max(len(name) for name in names)
    axes.tick_params(axis="y", length=0, pad=6 * width + 6)
    axes.set(xlim=(-0.2, len(events) + 1.2), ylim=(len(lanes) - 0.4, -1.0))
    _draw_sides(axes, events)
    title = title or f"Hooks of one forward and one backward of {type(model).__name__}"
    axes.set_title(f"{title}\n({note})" if note else title, color=_INK, fontsize=11)
    # A closed figure is shown once, as the value of the cell, and not a second time by the front end.
    plt.close(figure)
    return figure


def record_hooks(model: nn.Module, *inputs: torch.Tensor) -> tuple[list[Event], str]:
    """The events of one forward and one backward, in order, and a note where something is unusual ('' where not).

    In-place operations forbid full backward hooks; where torch says so, tensor hooks on the modules' inputs and
    outputs take their place, and the note tells it.
    """
    try:
        return _recorded(model, inputs, _OWN)
    except RuntimeError as error:
        if "BackwardHookFunction" not in str(error):
            raise
    events, _ = _recorded(model, inputs, _TENSORS)
    return events, f"in-place operations: backward seen by {_TENSORS}"


def _recorded(model: nn.Module, inputs: tuple[Any, ...], how: str) -> tuple[list[Event], str]:
    recorder = _Recorder(how)
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(torch.random.fork_rng(devices=[]))
        stack.enter_context(torch.enable_grad())
        stack.enter_context(_spare_buffers(model))
        for name, module in model.named_modules():
            recorder.watch(stack, name, module)
        output = model(*(_copy(value) for value in inputs))
        outputs = [tensor for tensor in _tensors(output) if tensor.requires_grad]
        if not outputs:
            return recorder.events, "no backward: nothing requires a gradient"
        # autograd.grad, not backward: no .grad anywhere is touched. All leaves are asked for, so all of the graph runs.
        torch.autograd.grad(
            outputs, _leaves(outputs), [torch.ones_like(tensor) for tensor in outputs], allow_unused=True
        )
    return recorder.events, ""


class _Recorder:
    """Hooks that write down when they are called."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.events: list[Event] = []
        self.open: list[Event] = []
        self.calls = 0

    def watch(self, stack: contextlib.ExitStack, name: str, module: nn.Module) -> None:
        """Hook one module until the stack unwinds."""
        waiting: list[Event] = []
        """The module's calls whose backward has not come yet."""
        started: list[Event] = []

        def before(module: nn.Module, args: Any) -> None:
            event = Event(name, "forward_pre", self.calls, len(self.open))
            self.calls += 1
            self.open.append(event)
            self.events.append(event)
            if self.how == _TENSORS:
                self._on_gradients(_tensors(args), event, "backward", first=False)

        def after(module: nn.Module, args: Any, output: Any) -> None:
            event = self.open.pop()
            self._add("forward", event)
            waiting.append(event)
            if self.how == _TENSORS:
                self._on_gradients(_tensors(output), event, "backward_pre", first=True)

        def backward_before(module: nn.Module, grad_output: Any) -> None:
            # Of a reused module the last call is the first that backward comes to.
            if waiting:
                started.append(waiting.pop())
                self._add("backward_pre", started[-1])

        def backward_after(module: nn.Module, grad_input: Any, grad_output: Any) -> None:
            if started:
                self._add("backward", started.pop(0))

        stack.callback(module.register_forward_pre_hook(before).remove)
        stack.callback(module.register_forward_hook(after).remove)
        if self.how == _OWN and not _is_legacy(module):
            stack.callback(module.register_full_backward_pre_hook(backward_before).remove)
            stack.callback(module.register_full_backward_hook(backward_after).remove)

    def _add(self, kind: str, event: Event) -> None:
        self.events.append(Event(event.name, kind, event.call, event.depth))

    def _on_gradients(self, tensors: list[torch.Tensor], event: Event, kind: str, first: bool) -> None:
        """Note the first, or the last, of the gradients of ``tensors`` that arrive."""
        wanted = [tensor for tensor in tensors if tensor.requires_grad]
        arrived: list[int] = []

        def note(grad: torch.Tensor) -> None:
            arrived.append(1)
            if len(arrived) == (1 if first else len(wanted)):
                self._add(kind, event)

        for tensor in wanted:
            tensor.register_hook(note)  # type: ignore[no-untyped-call]


def _is_legacy(module: nn.Module) -> bool:
    return module._is_full_backward_hook is False


def _copy(value: Any) -> Any:
    """The input, apart from the caller's: a non-leaf, so that a model may even change it in place."""
    if not isinstance(value, torch.Tensor):
        return value
    own = value.detach().clone()
    return own.requires_grad_().clone() if value.requires_grad else own


@contextlib.contextmanager
def _spare_buffers(model: nn.Module) -> Iterator[None]:
    """Let the run change copies of the buffers (a BatchNorm's statistics), and put the buffers themselves back."""
    kept = [(module, dict(module._buffers)) for module in model.modules()]
    try:
        for module, buffers in kept:
            module._buffers.update({key: None if one is None else one.clone() for key, one in buffers.items()})
        yield
    finally:
        for module, buffers in kept:
            module._buffers.clear()
            module._buffers.update(buffers)


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _tensors(item)]
    return []


def _leaves(outputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """Every leaf that a backward from ``outputs`` reaches, found on the graph that was recorded."""
    found: dict[int, torch.Tensor] = {id(one): one for one in outputs if one.grad_fn is None}
    nodes = [one.grad_fn for one in outputs if one.grad_fn is not None]
    seen = set(nodes)
    while nodes:
        node = nodes.pop()
        if hasattr(node, "variable"):
            found[id(node.variable)] = node.variable
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                nodes.append(following)
    return list(found.values())


def _spans(events: list[Event]) -> Iterator[tuple[int, int, Event]]:
    """Bars: from a call's first event to its last, forward and backward apart, as (start, end, first event)."""
    begun: dict[tuple[int, bool], tuple[int, Event]] = {}
    for number, event in enumerate(events, 1):
        key = (event.call, event.kind.startswith("forward"))
        if key in begun:
            start, first = begun.pop(key)
            yield start, number, first
        else:
            begun[key] = (number, event)


def _label(model: nn.Module, name: str) -> str:
    kind = type(model.get_submodule(name)).__name__
    return f"{name}: {kind}" if name else kind


def _draw_marks(axes: Axes, events: list[Event], row: dict[str, int], labels: dict[str, str]) -> None:
    size = 52 if len(events) <= 60 else 14
    for kind, (_, marker, colour, hollow) in _KINDS.items():
        places = [(number, row[event.name]) for number, event in enumerate(events, 1) if event.kind == kind]
        if places:
            x, y = zip(*places, strict=True)
            face = _PAPER if hollow else colour
            axes.scatter(
                x,
                y,
                s=size,
                marker=marker,
                facecolor=face,
                edgecolor=colour,
                linewidth=1.6,
                label=labels[kind],
                zorder=3,
            )
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=4, fontsize=8.5, frameon=False, labelcolor=_INK,
        handletextpad=0.3, columnspacing=1.4,
    )  # fmt: skip
    if len(events) <= 60:
        for number, event in enumerate(events, 1):
            axes.annotate(
                str(number), (number, row[event.name]), (0, 7), textcoords="offset points", ha="center", fontsize=7.5,
                color=_INK,
            )  # fmt: skip


def _draw_sides(axes: Axes, events: list[Event]) -> None:
    last_forward = max((n for n, event in enumerate(events, 1) if event.kind.startswith("forward")), default=0)
    axes.text(
        (1 + last_forward) / 2, -0.62, "forward →", color=_BLUE, ha="center", va="center", weight="bold", fontsize=9.5
    )
    if last_forward < len(events):
        axes.axvline(last_forward + 0.5, color=_INK, linewidth=1, linestyle=(0, (4, 3)))
        middle = (last_forward + 1 + len(events)) / 2
        axes.text(middle, -0.62, "backward →", color=_ORANGE, ha="center", va="center", weight="bold", fontsize=9.5)
    axes.set_xticks([])
    for side in axes.spines.values():
        side.set_visible(False)
