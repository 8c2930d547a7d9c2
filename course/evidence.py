"""What a probe brings back from a learner's code, as plain data.

A learner may answer with anything: a tensor subclass that claims to equal everything, a list
whose ``__eq__`` is always true, a generator that never ends. :func:`snapshot` copies the value
into plain data at once, so that nothing of the learner's takes part in a comparison.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import torch

__all__ = ["MAX_BYTES", "MAX_ITEMS", "Evidence", "TensorRecord", "Unreadable", "snapshot"]

MAX_BYTES = 64 * 1024 * 1024
"""Bytes of tensor data that one snapshot may carry."""

MAX_ITEMS = 20_000
"""Values, in all nested lists and dicts together, that one snapshot may carry."""

_MAX_DEPTH = 12
_MAX_TEXT = 100_000


@dataclass(frozen=True)
class TensorRecord:
    """A dense tensor as bytes: ``data`` holds its elements in row-major order."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    def tensor(self) -> torch.Tensor:
        """The recorded tensor, rebuilt (shape and dtype as recorded, no gradient)."""
        dtype = getattr(torch, self.dtype)
        if not self.data:
            return torch.empty(self.shape, dtype=dtype)
        return torch.frombuffer(bytearray(self.data), dtype=dtype).reshape(self.shape)


@dataclass(frozen=True)
class Unreadable:
    """A value that is not plain data; ``what`` names it in words: 'a function', 'a set'."""

    what: str


Evidence: TypeAlias = (
    "None | bool | int | float | str | TensorRecord | Unreadable | list[Evidence] | dict[str, Evidence]"
)


class _Snapshot:
    """One walk through a value, with a budget, so that a huge or endless answer ends it."""

    def __init__(self) -> None:
        self.items = 0
        self.bytes = 0

    def take(self, value: object, depth: int = 0) -> Evidence:
        self.items += 1
        if self.items > MAX_ITEMS:
            return Unreadable(f"more than {MAX_ITEMS} values")
        if depth > _MAX_DEPTH:
            return Unreadable(f"nested more than {_MAX_DEPTH} deep")
        kind = type(value)
        if value is None or kind is bool or kind is float:
            return value  # type: ignore[return-value]
        if kind is int:
            # A number of a thousand digits is not an answer, and writing it out costs minutes.
            small = -(2**63) <= value < 2**63  # type: ignore[operator]
            return value if small else Unreadable("an int beyond 64 bits")  # type: ignore[return-value]
        if kind is str:
            return value[:_MAX_TEXT]  # type: ignore[index]
        if isinstance(value, torch.Tensor):
            return self.take_tensor(value)
        if isinstance(value, (TensorRecord, Unreadable)):
            return value
        if isinstance(value, Mapping):
            pairs = dict.items(value) if isinstance(value, dict) else value.items()
            return {key if type(key) is str else repr(key)[:80]: self.take(item, depth + 1) for key, item in pairs}
        if isinstance(value, list):
            return [self.take(item, depth + 1) for item in list.__iter__(value)]
        if isinstance(value, tuple):
            return [self.take(item, depth + 1) for item in tuple.__iter__(value)]
        return Unreadable(_in_words(value))

    def take_tensor(self, value: torch.Tensor) -> Evidence:
        if type(value) not in (torch.Tensor, torch.nn.Parameter):
            return Unreadable(f"a {type(value).__name__}, a subclass of torch.Tensor")
        if value.layout is not torch.strided or value.device.type != "cpu" or value.is_quantized:
            return Unreadable(f"a tensor with layout {value.layout} on device {value.device}")
        self.bytes += value.numel() * value.element_size()
        if self.bytes > MAX_BYTES:
            return Unreadable(f"more than {MAX_BYTES // 2**20} MiB of tensors")
        with torch.no_grad():
            dense = value.detach().resolve_conj().resolve_neg().contiguous()
            data = bytes(dense.reshape(-1).view(torch.uint8).numpy()) if dense.numel() else b""
        return TensorRecord(str(value.dtype).removeprefix("torch."), tuple(value.shape), data)


def _in_words(value: object) -> str:
    if callable(value) and not isinstance(value, (type, torch.nn.Module)):
        return f"a function ({getattr(value, '__name__', '?')})"
    name = type(value).__name__
    article = "an" if name[:1].lower() in "aeiou" else "a"
    return f"{article} {name}"


def snapshot(value: object) -> Evidence:
    """Copy ``value`` into plain data now; later changes of it do not show.

    Tuples become lists, mappings become dicts with text keys, tensors become bytes. Anything
    else, and whatever goes beyond the budgets above, becomes :class:`Unreadable`, which equals
    nothing that a check could want.
    """
    return _Snapshot().take(value)
