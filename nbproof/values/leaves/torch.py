"""Tensors and modules of PyTorch as values."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch.nn.modules import module as module_internals
from torch.optim.optimizer import _global_optimizer_post_hooks, _global_optimizer_pre_hooks
from torch.utils import _python_dispatch

from nbproof.values.evidence import TOO_LARGE, TensorRecord, Unreadable
from nbproof.values.leaf import ITEM_SIZES, Leaf, Unlike
from nbproof.values.leaves.numpy import first_unlike

__all__ = ["LEAF"]

_HOOK_REGISTERS = tuple(
    name
    for name in dir(module_internals)
    if name.startswith("_global_") and isinstance(getattr(module_internals, name), dict)
)


class TorchLeaf(Leaf):
    """Dense tensors on the CPU, of the dtypes that torch can compare and print there; parameters count as tensors."""

    __slots__ = ()

    name = "torch"
    mark = "t"
    noun = "a tensor"
    folder = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
    kinds = (torch.Tensor,)
    models = (torch.nn.Module,)
    # The first optimizer step and the first vmap import torch._dynamo, for more than a second.
    warm = ("torch._dynamo", "torch.func", "torch.fx", "torch.utils.checkpoint", "torch.utils.flop_counter")

    def prepare(self) -> None:
        """Set one thread, and let torch look at the processor."""
        torch.set_num_threads(1)
        # torch looks once, at its first computation, what this processor can do, and it looks in /sys. In a sealed fork that
        # is not there: torch would compute without vector instructions, slower, and rounded otherwise than the judge does.
        torch.backends.cpu.get_cpu_capability()
        # A processor that is held down by ATEN_CPU_CAPABILITY is not looked at there, and convolutions need to know it.
        getattr(torch.cpu, "get_capabilities", lambda: torch.backends.quantized.supported_engines)()

    def taken(self, value: Any, room: int) -> TensorRecord | Unreadable:
        """A record of it, detached and dense."""
        if type(value) not in (torch.Tensor, torch.nn.Parameter):
            return Unreadable(f"a {type(value).__name__}, a subclass of torch.Tensor"[:200])
        with torch.no_grad():
            # A new object: attributes that were set on the learner's (tensor.numel = ...) stay behind.
            plain = torch.Tensor.detach(value)
            if plain.is_nested:
                return Unreadable("a nested tensor")
            if plain.layout is not torch.strided or plain.device.type != "cpu" or plain.is_quantized:
                return Unreadable(f"a tensor with layout {plain.layout} on device {plain.device}")
            dtype = str(plain.dtype).removeprefix("torch.")
            if dtype not in ITEM_SIZES:
                return Unreadable(f"a tensor of dtype {dtype}")
            size = plain.numel() * plain.element_size()
            if size > room:
                return TOO_LARGE
            if size and not plain.untyped_storage().nbytes():
                return Unreadable("a tensor with memory that was given back")
            dense = plain.resolve_conj().resolve_neg().contiguous()
            data = bytes(dense.reshape(-1).view(torch.uint8).numpy()) if size else b""
        return TensorRecord(dtype, tuple(plain.shape), data, self)

    def rebuilt(self, record: TensorRecord) -> torch.Tensor:
        """A tensor of its own, without a gradient."""
        dtype = getattr(torch, record.dtype)
        if not record.data:
            return torch.empty(record.shape, dtype=dtype)
        return torch.frombuffer(bytearray(record.data), dtype=dtype).reshape(record.shape)

    def first_unlike(
        self, got: TensorRecord, wanted: TensorRecord, tolerance: tuple[float, float] | None
    ) -> Unlike | None:
        """Compare with a tolerance in double precision, which holds every value of every dtype but the largest integers."""
        one = self.rebuilt(got)
        other = self.rebuilt(wanted)
        if tolerance is not None:
            wide = torch.complex128 if other.is_complex() else torch.float64
            one = one.to(wide)
            other = other.to(wide)
        return first_unlike(one.numpy(), other.numpy(), tolerance, near=1e-2)

    def drawn(self, seed: int, shape: tuple[int, ...], positive: bool, dtype: Any = None) -> torch.Tensor:
        """Draw a tensor, of float32 if no dtype is given."""
        dtype = dtype or torch.float32
        generator = torch.Generator().manual_seed(seed)
        values = torch.rand(shape, generator=generator, dtype=torch.float64) * 1.5 + 0.5
        if not (dtype.is_floating_point or dtype.is_complex):
            values = (values * 4).round()
        if not positive and dtype.is_signed:
            signs = torch.randint(0, 2, shape, generator=generator) * 2 - 1
            values = values * signs
        return values.to(dtype)

    def not_a_number(self) -> torch.Tensor:
        """A tensor of one NaN, so that it broadcasts. It asks for a gradient, as the value that it stands for may have done."""
        return torch.full((1,), float("nan"), requires_grad=True)

    @contextmanager
    def seeded(self, seed: int) -> Iterator[None]:
        """Seed the CPU's generator."""
        with torch.random.fork_rng(devices=[]):
            # Of the CPU alone: torch.manual_seed also formats a stack for every kind of GPU that may yet come.
            torch.default_generator.manual_seed(seed)
            yield

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Set global modes and hooks aside: gradients, inference, autocast, dtypes, modules, optimizers, saved tensors."""
        with ExitStack() as aside:
            aside.enter_context(torch.inference_mode(False))
            aside.enter_context(torch.enable_grad())
            aside.enter_context(_no_saved_tensors_hooks())
            aside.enter_context(_no_modes())
            aside.enter_context(torch.autograd.set_detect_anomaly(False))
            for now, put, fresh in _SETTINGS:
                aside.callback(put, now())
                put(fresh)
            is_full = module_internals._global_is_full_backward_hook
            aside.callback(setattr, module_internals, "_global_is_full_backward_hook", is_full)
            module_internals._global_is_full_backward_hook = None
            registers = [getattr(module_internals, name) for name in _HOOK_REGISTERS]
            for register in (*registers, _global_optimizer_pre_hooks, _global_optimizer_post_hooks):
                aside.enter_context(_emptied(register))
            yield


@contextmanager
def _emptied(register: dict[Any, Any]) -> Iterator[None]:
    """Within this block a register of hooks is empty; afterwards it holds what it held before."""
    before = register.copy()
    register.clear()
    try:
        yield
    finally:
        register.clear()
        register.update(before)


_SETTINGS: tuple[tuple[Callable[[], Any], Callable[[Any], None], Any], ...] = (
    (torch.get_default_dtype, torch.set_default_dtype, torch.float32),
    (partial(torch.is_autocast_enabled, "cpu"), partial(torch.set_autocast_enabled, "cpu"), False),
    (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "highest"),
    (torch.are_deterministic_algorithms_enabled, torch._C._set_deterministic_algorithms, False),
)
"""Settings of a whole process: a function that reads one, a function that sets it, and its value in a fresh process."""


@contextmanager
def _no_saved_tensors_hooks() -> Iterator[None]:
    """Set pack and unpack hooks aside that somebody has left on, and take those off that are left on meanwhile.

    Not on an older torch (2.6), which does not tell which ones are on: there they stay.
    """

    def take_off() -> list[tuple[Any, Any]]:
        pairs: list[tuple[Any, Any]] = []
        if not hasattr(autograd, "_top_saved_tensors_default_hooks"):
            return pairs
        while (pair := autograd._top_saved_tensors_default_hooks(True)) is not None:
            autograd._pop_saved_tensors_default_hooks()
            pairs.append(pair)
        return pairs

    autograd: Any = torch._C._autograd  # type: ignore[attr-defined]
    before = take_off()
    try:
        yield
    finally:
        take_off()
        for pack, unpack in reversed(before):
            autograd._push_saved_tensors_default_hooks(pack, unpack)


_STACKS: tuple[tuple[Callable[[], int], Callable[[int], Any], Callable[[], Any], Callable[[Any], None]], ...] = (
    (
        torch._C._len_torch_function_stack,
        torch._C._get_function_stack_at,
        torch._C._pop_torch_function_stack,
        torch._C._push_on_torch_function_stack,
    ),
    (
        torch._C._len_torch_dispatch_stack,
        torch._C._get_dispatch_stack_at,
        _python_dispatch._pop_mode,
        _python_dispatch._push_mode,
    ),
)
"""Torch's stacks of modes, for functions and for operators. Functions: the length, the mode at an index, pop one, push one."""


@contextmanager
def _no_modes() -> Iterator[None]:
    """Set modes aside that somebody has left on, such as a default device, and take those off that are left on meanwhile."""
    before = [_popped(count, pop) for count, _, pop, _ in _STACKS]
    try:
        yield
    finally:
        for (count, _, pop, push), modes in zip(_STACKS, before, strict=True):
            _popped(count, pop)
            for mode in reversed(modes):
                push(mode)


def _popped(count: Callable[[], int], pop: Callable[[], Any]) -> list[Any]:
    """All modes of a stack, taken off it; the last one comes first."""
    return [pop() for _ in range(count())]


LEAF = TorchLeaf()
