"""Copies of a model and its inputs that a picture may run, so that the learner's own stay as they are."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import random
import sys
import types
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import UninitializedBuffer

__all__ = ["double_of", "quietly", "spare_copy", "tensors_in"]


def double_of(model: nn.Module) -> nn.Module:
    """A copy of a model without the hooks of its owner: nothing that runs in it reaches the model.

    Hooks that PyTorch itself has put there, which make lazy modules or ``weight_norm`` work, stay.
    What cannot be copied (a lock, an open file) is shared.
    """
    memo: dict[int, Any] = {}
    doubles: list[tuple[nn.Module, nn.Module]] = []
    try:
        double = copy.deepcopy(model, memo)
    except Exception:
        # Part by part: a model that keeps a tensor of its last graph, say, cannot be copied as a whole.
        memo = {}
        for module in model.modules():
            shell = type(module).__new__(type(module))
            memo[id(module)] = shell
            doubles.append((module, shell))
        for module, shell in doubles:
            for key, value in vars(module).items():
                shell.__dict__[key] = _copy_of(value, memo)
        double = memo[id(model)]
    for module in double.modules():
        _drop_hooks(module)
    return double


def _copy_of(value: Any, memo: dict[int, Any]) -> Any:
    """A deep copy as far as one can be had."""
    try:
        return copy.deepcopy(value, memo)
    except Exception:
        if isinstance(value, UninitializedBuffer):
            return memo.setdefault(id(value), UninitializedBuffer(device=value.device, dtype=value.dtype))  # type: ignore[call-arg]
        if isinstance(value, torch.Tensor):
            return memo.setdefault(id(value), value.detach().clone())
        if type(value) in (dict, OrderedDict):
            return type(value)((key, _copy_of(one, memo)) for key, one in value.items())
        if type(value) in (list, tuple):
            return type(value)(_copy_of(one, memo) for one in value)
        return value


def _drop_hooks(module: nn.Module) -> None:
    for name, hooks in list(vars(module).items()):
        if not (name.endswith("_hooks") and isinstance(hooks, OrderedDict)):
            continue
        for key, hook in list(hooks.items()):
            function = hook.__func__ if isinstance(hook, types.MethodType) else hook
            if not str(getattr(function, "__module__", None) or type(hook).__module__).startswith("torch."):
                del hooks[key]
    if not module._backward_hooks:
        module._is_full_backward_hook = None


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """No warnings, gradients on, and all random generators as they were before."""
    numpy = sys.modules.get("numpy")
    drawn, drawn_by_numpy = random.getstate(), numpy.random.get_state() if numpy else None
    devices = range(torch.cuda.device_count())
    try:
        with (
            warnings.catch_warnings(),
            torch.random.fork_rng(devices),
            torch.inference_mode(False),
            torch.enable_grad(),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        random.setstate(drawn)
        if numpy:
            numpy.random.set_state(drawn_by_numpy)


def spare_copy(value: Any) -> Any:
    """An input, apart from the caller's: a non-leaf, so that a model may even change it in place."""
    if isinstance(value, torch.Tensor):
        own = value.detach().clone()
        return own.requires_grad_().clone() if value.requires_grad else own
    if isinstance(value, dict):
        return {key: spare_copy(one) for key, one in value.items()}
    if type(value) in (list, tuple):
        return type(value)(spare_copy(one) for one in value)
    return value


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors in an input or output, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = vars(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_in(item)]
    return []
