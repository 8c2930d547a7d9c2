"""Copies of a model and its inputs that a picture may run, so that the learner's own stay as they are."""

from __future__ import annotations

import contextlib
import copy
import random
import types
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy
import torch
from torch import nn
from torch.nn.parameter import UninitializedBuffer
from torch.utils._pytree import tree_leaves, tree_map_only

__all__ = ["double_of", "quietly", "spare_copy"]


def double_of(model: nn.Module) -> nn.Module:
    """A copy of a model without the hooks of its owner: nothing that runs in it reaches the model.

    Hooks that PyTorch itself has put there, which make lazy modules or ``weight_norm`` work, stay.
    """
    memo: dict[int, Any] = {}
    for value in tree_leaves([vars(part) for part in model.modules()]):
        # What torch does not copy: a tensor that is kept from the last graph, a buffer without a shape.
        if isinstance(value, UninitializedBuffer):
            memo[id(value)] = UninitializedBuffer(device=value.device, dtype=value.dtype)  # type: ignore[call-arg]
        elif isinstance(value, torch.Tensor) and not value.is_leaf:
            memo[id(value)] = value.detach().clone()
    double = copy.deepcopy(model, memo)
    for module in double.modules():
        _drop_hooks(module)
    return double


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
    drawn, drawn_by_numpy = random.getstate(), numpy.random.get_state()
    devices = range(torch.cuda.device_count())
    try:
        with (
            warnings.catch_warnings(action="ignore"),
            torch.random.fork_rng(devices),
            torch.inference_mode(False),
            torch.enable_grad(),
        ):
            yield
    finally:
        random.setstate(drawn)
        numpy.random.set_state(drawn_by_numpy)


def spare_copy(value: Any) -> Any:
    """An input, apart from the caller's: a non-leaf, so that a model may even change it in place."""

    def spare(tensor: torch.Tensor) -> torch.Tensor:
        own = tensor.detach().clone()
        return own.requires_grad_().clone() if tensor.requires_grad else own

    return tree_map_only(torch.Tensor, spare, value)
