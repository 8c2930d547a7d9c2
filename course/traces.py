"""What hooks did: in a later run, every hook that runs leaves a trace in one number.

How many hooks hang on a model is what the process says about itself, and learner code can make it say anything. What a
hook did when the model ran again follows from the seed: the number can be had by running the model with just the hooks
that should be there, and in no shorter way. So a probe runs the model once more, and the truth does the same at home.

PyTorch itself tells when a hook runs, by the look-ups that it makes for each one. What the number is made of is plain
arithmetic on Python's integers, without a name that a notebook could give another meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn

from course.case import Case
from course.compare import Matches, is_same
from course.evidence import Evidence

__all__ = ["hooks_that_run", "those_from_before"]

_PRIME = 2_147_483_647

# Taken now, before any learner's code runs: a dict, or a tensor, of another class could tell another story.
_entries, _set_entry = dict.items, dict.__setitem__
_HOOKS_OF_TENSORS = tuple(
    torch._C.TensorBase.__dict__[name].__get__ for name in ("_backward_hooks", "_post_accumulate_grad_hooks")
)
_BACKWARD: Callable[[nn.Module], tuple[list[Any], list[Any]]] = nn.Module._get_backward_hooks
_BACKWARD_PRE: Callable[[nn.Module], list[Any]] = nn.Module._get_backward_pre_hooks


def hooks_that_run(model: nn.Module, case: Case, run: Callable[[], object]) -> int:
    """A number that follows from the hooks that run during ``run()``: their kinds, their places, their order.

    ``run`` should call the model, and go backward through it where hooks of that kind are asked about. Hooks of the
    model, of what is in it, of its parameters, and hooks for all modules count. A hook of the probe's own runs on every
    module, so that nobody can say that none did.
    """
    trace = _Trace(case)
    with ExitStack() as watched:
        for name, module in _parts(model):
            watched.callback(module.register_forward_hook(_nothing).remove)
            watched.enter_context(_watched(module, name, trace))
        run()
    return trace.number


def those_from_before(number: int) -> Matches:
    """In a truth: the number of the hooks that were there before, as :func:`hooks_that_run` finds it on a fresh model."""

    def test(got: Evidence) -> str | None:
        return None if is_same(got, number) else "not just those that were there before"

    return Matches(test, "those that were there before, and no others")


class _Trace:
    """The number, and what a hook of a kind at a place adds to it."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self.number = case.integer("trace", 1, _PRIME)

    def left_by(self, kind: str, place: str) -> Callable[[], None]:
        step = self._case.integer(f"trace of a {kind} hook on {place}", 1, _PRIME)

        def leave() -> None:
            self.number = (self.number * 31 + step) % _PRIME

        return leave


def _nothing(module: nn.Module, args: object, output: object) -> None:
    """The probe's own hook."""


def _parts(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Every module once, with its first dotted name: ``named_modules`` itself may be the learner's."""
    seen: dict[nn.Module, str] = {}
    waiting = [("", model)]
    while waiting:
        name, module = waiting.pop(0)
        if module in seen:
            continue
        seen[module] = name
        yield name, module
        for key, child in _entries(module.__dict__["_modules"]):
            if child is not None:
                waiting.append((f"{name}.{key}" if name else key, child))


class _Asked(dict[int, bool]):
    """Stands in for the dict in which PyTorch looks up, for each hook that it runs, whether it wants keywords."""

    def __init__(self, real: MutableMapping[int, bool], leave: Callable[[], None]) -> None:
        super().__init__()
        self._real, self._leave = real, leave

    def __contains__(self, hook: object) -> bool:
        self._leave()
        return hook in self._real

    def __setitem__(self, hook: int, wants: bool) -> None:
        self._real[hook] = wants


@contextmanager
def _watched(module: nn.Module, name: str, trace: _Trace) -> Iterator[None]:
    """Within the block each hook of the module, and of its own parameters, leaves a trace when it runs."""
    place, before, hung = module.__dict__, {}, []
    for kind, key in (("forward", "_forward_hooks_with_kwargs"), ("forward pre", "_forward_pre_hooks_with_kwargs")):
        before[key] = place[key]
        place[key] = _Asked(place[key], trace.left_by(kind, name))
    backward, backward_pre = trace.left_by("backward", name), trace.left_by("backward pre", name)
    place["_get_backward_hooks"] = lambda: [[_traced(one, backward) for one in kind] for kind in _BACKWARD(module)]
    place["_get_backward_pre_hooks"] = lambda: [_traced(one, backward_pre) for one in _BACKWARD_PRE(module)]
    for key, parameter in _entries(place["_parameters"]):
        for hooks_of in () if parameter is None else _HOOKS_OF_TENSORS:
            hooks = hooks_of(parameter)
            for number, hook in [] if hooks is None else [*_entries(hooks)]:
                hung.append((hooks, number, hook))
                _set_entry(hooks, number, _traced(hook, trace.left_by("tensor", f"{name}.{key}")))
    try:
        yield
    finally:
        for hooks, number, hook in hung:
            if number in hooks:
                _set_entry(hooks, number, hook)
        del place["_get_backward_hooks"], place["_get_backward_pre_hooks"]
        for key, real in before.items():
            place[key] = real


def _traced(hook: Callable[..., Any], leave: Callable[[], None]) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        leave()
        return hook(*args)

    return run
