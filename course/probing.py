"""What probes need again and again: another forward, hook counts, an error that comes out."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

__all__ = [
    "error_out_of",
    "hook_counts",
    "in_float32",
    "other_forward",
    "parameters_in_float32",
    "statistics",
    "tensor_hook_count",
]


@contextlib.contextmanager
def other_forward(module: nn.Module, forward: Callable[..., Any]) -> Iterator[nn.Module]:
    """Give one module another ``forward(self, ...)`` for a while, so that a formula typed from the old one fails.

    Hooks stay as they are: PyTorch runs them around the new ``forward`` as well.
    """
    before = module.__dict__.get("forward")
    module.forward = types.MethodType(forward, module)
    try:
        yield module
    finally:
        module.__dict__.pop("forward", None)
        if before is not None:
            module.__dict__["forward"] = before


def statistics(model: nn.Module) -> dict[str, torch.Tensor]:
    """What batch norm has gathered so far: each run in training mode moves it, so it tells how often a model ran."""
    return {name: one.clone() for name, one in model.named_buffers() if one.dim()}


def error_out_of(block: contextlib.AbstractContextManager[Any], text: str) -> str:
    """What reaches the caller of an error with this text in the block: a tool that only looks does not swallow it."""
    try:
        with block:
            raise ArithmeticError(text)
    except ArithmeticError as error:
        return str(error)
    return "nothing"


def hook_counts(module: nn.Module) -> dict[str, int]:
    """How many hooks of each kind hang on the module, its descendants and its parameters together."""
    counts = {"forward_pre": 0, "forward": 0, "backward_pre": 0, "backward": 0, "tensor": 0}
    for part in module.modules():
        counts["forward_pre"] += len(part._forward_pre_hooks)
        counts["forward"] += len(part._forward_hooks)
        counts["backward_pre"] += len(part._backward_pre_hooks)
        counts["backward"] += len(part._backward_hooks)
    for one in module.parameters():
        counts["tensor"] += tensor_hook_count(one)
    return counts


def tensor_hook_count(tensor: torch.Tensor) -> int:
    """How many hooks ``register_hook`` and ``register_post_accumulate_grad_hook`` left on the tensor."""
    total = len(tensor._backward_hooks or {})
    return total + len(getattr(tensor, "_post_accumulate_grad_hooks", None) or {})


def in_float32(value: Any) -> Any:
    """What a learner's code has made, with float32 for float64, as numpy and ``.double()`` make it: no statement asks for one."""
    if isinstance(value, torch.Tensor) and value.dtype == torch.float64:
        return value.float()
    return type(value)(map(in_float32, value)) if type(value) in (list, tuple) else value


@contextlib.contextmanager
def parameters_in_float32(model: nn.Module) -> Iterator[nn.Module]:
    """Meanwhile its parameters are copies, of float32 where they are float64: what is done to them is gone afterwards."""
    before = [(one, one.data) for one in model.parameters()]
    for one, data in before:
        one.data = in_float32(data).clone()
    try:
        yield model
    finally:
        for one, data in before:
            one.data = data
