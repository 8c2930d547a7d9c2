"""One forward and one backward of any module, and every call of a module hook in it, in order.

The run is a copy's: nothing of the model, its gradients, its buffers, the inputs or the random generators is changed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from course.pictures.doubles import double_of, quietly, spare_copy, tensors_in
from course.pictures.words import in_brief

__all__ = ["Event", "record_hooks"]

_OWN = "full backward hooks"
_TENSORS = "tensor hooks on inputs and outputs"


@dataclass(frozen=True)
class Event:
    """One hook call: on which module (dotted name, '' is the root), of which kind, within which call, how deep."""

    name: str
    kind: str
    """forward_pre, forward, backward_pre or backward; raised where an error ended the run."""
    call: int
    """The number of the module's call, counted over all modules from 0. A reused module has several."""
    depth: int


def record_hooks(model: nn.Module, *inputs: Any, **keywords: Any) -> tuple[list[Event], str]:
    """The events of one ``model(*inputs, **keywords)`` and one backward of its summed output, and a note ('' for none).

    The hooks are the recording's own; those of the model's owner do not run. In-place operations forbid full backward
    hooks; where torch says so, tensor hooks on the modules' inputs and outputs take their place. An error of the model
    ends the recording: the last event's kind is then ``raised``, and the note names the error.
    """
    events, error = _recorded(model, inputs, keywords, _OWN)
    if error is None or not (isinstance(error, RuntimeError) and "BackwardHookFunction" in str(error)):
        return events, _note(events, error)
    events, error = _recorded(model, inputs, keywords, _TENSORS)
    return events, _note(events, error) or f"in-place operations: backward seen by {_TENSORS}"


def _note(events: list[Event], error: Exception | None) -> str:
    if error is not None:
        where = events[-1].name
        side = "forward" if all(event.kind.startswith("forward") for event in events[:-1]) else "the run"
        return f"{side} stops{f' in {where}' if where else ''}: {in_brief(error)}"
    if not any(event.kind.startswith("backward") for event in events):
        return "no backward: nothing requires a gradient"
    return ""


def _recorded(
    model: nn.Module, inputs: tuple[Any, ...], keywords: Mapping[str, Any], how: str
) -> tuple[list[Event], Exception | None]:
    recorder = _Recorder(how)
    try:
        with contextlib.ExitStack() as hooks:
            hooks.enter_context(quietly())
            double = double_of(model)
            for name, module in double.named_modules():
                recorder.watch(hooks, name, module)
            output = double(*spare_copy(inputs), **spare_copy(dict(keywords)))
            recorder.open.clear()
            outputs = [tensor for tensor in tensors_in(output) if tensor.requires_grad]
            if outputs:
                # autograd.grad, not backward: what the model shares with others, a global tensor, keeps its .grad.
                # All leaves are asked for, so all of the graph runs.
                torch.autograd.grad(
                    outputs, _leaves(outputs), [torch.ones_like(tensor) for tensor in outputs], allow_unused=True
                )
    except Exception as error:
        at = recorder.innermost()
        recorder.events.append(Event(at.name, "raised", at.call, at.depth))
        return recorder.events, error
    return recorder.events, None


class _Recorder:
    """Hooks that write down when they are called."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.events: list[Event] = []
        self.open: list[Event] = []
        """The modules whose forward has begun and not ended, outer ones first."""
        self.calls = 0

    def innermost(self) -> Event:
        """Where the run is: in the forward that began last, or in the backward that began last."""
        if self.open:
            return self.open[-1]
        ended = {event.call for event in self.events if event.kind == "backward"}
        begun = [event for event in self.events if event.kind == "backward_pre" and event.call not in ended]
        return begun[-1] if begun else Event("", "raised", 0, 0)

    def watch(self, stack: contextlib.ExitStack, name: str, module: nn.Module) -> None:
        """Hook one module until the stack unwinds."""
        waiting: list[Event] = []
        """The module's calls whose backward has not come yet."""
        started: list[Event] = []

        def before(module: nn.Module, args: Any, kwargs: Any) -> None:
            event = Event(name, "forward_pre", self.calls, len(self.open))
            self.calls += 1
            self.open.append(event)
            self.events.append(event)
            if self.how == _TENSORS:
                self.on_gradients(tensors_in([args, kwargs]), event, "backward", first=False)

        def after(module: nn.Module, args: Any, output: Any) -> None:
            event = self.open.pop()
            self.add("forward", event)
            waiting.append(event)
            if self.how == _TENSORS:
                self.on_gradients(tensors_in(output), event, "backward_pre", first=True)

        def backward_before(module: nn.Module, grad_output: Any) -> None:
            # Of a reused module the last call is the first that backward comes to.
            if waiting:
                started.append(waiting.pop())
                self.add("backward_pre", started[-1])

        def backward_after(module: nn.Module, grad_input: Any, grad_output: Any) -> None:
            if started:
                self.add("backward", started.pop(0))

        # First of all, before what makes a lazy module initialize itself: that runs a module as well.
        stack.callback(module.register_forward_pre_hook(before, prepend=True, with_kwargs=True).remove)
        stack.callback(module.register_forward_hook(after).remove)
        if self.how == _OWN:
            stack.callback(module.register_full_backward_pre_hook(backward_before).remove)
            stack.callback(module.register_full_backward_hook(backward_after).remove)

    def add(self, kind: str, event: Event) -> None:
        self.events.append(Event(event.name, kind, event.call, event.depth))

    def on_gradients(self, tensors: list[torch.Tensor], event: Event, kind: str, first: bool) -> None:
        """Note the first, or the last, of the gradients of ``tensors`` that arrive."""
        wanted = [tensor for tensor in tensors if tensor.requires_grad]
        arrived: list[int] = []

        def note(grad: torch.Tensor) -> None:
            arrived.append(1)
            if len(arrived) == (1 if first else len(wanted)):
                self.add(kind, event)

        for tensor in wanted:
            tensor.register_hook(note)  # type: ignore[no-untyped-call]


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
