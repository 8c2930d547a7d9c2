"""What runs when a model runs: every hook that does leaves a trace in one number.

How many hooks hang on a model, or which mode it is in, is what the process says about itself, and learner code can make
it say anything. What runs when the model runs again follows from the seed: the number can be had by running a model with
just the hooks, the modes and the frozen parameters that should be there, and in no shorter way. So a probe runs the model
once more, and the truth does the same at home.

Whether memory is freed is told in the same way: a number follows from what is watched and from what became of it.

PyTorch itself tells when a hook runs, by the look-ups that it makes for each one. What the number is made of is plain
arithmetic on Python's integers, without a name that a notebook could give another meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import torch
from torch import nn

from nbproof.checks.case import Case

__all__ = [
    "FACTOR",
    "PRIME",
    "Storages",
    "gradients_from",
    "gradients_left",
    "is_a",
    "of_a_storage",
    "parameters_of",
    "what_runs",
]

PRIME, FACTOR = 2_147_483_647, 31

# Taken now, before any learner's code runs: a dict, or a tensor, of another class could tell another story.
_entries, _set_entry, _has_entry = dict.items, dict.__setitem__, dict.__contains__
_HOOKS_OF_TENSORS = tuple(
    torch._C.TensorBase.__dict__[name].__get__ for name in ("_backward_hooks", "_post_accumulate_grad_hooks")
)
_BACKWARD: Callable[[nn.Module], tuple[list[Any], list[Any]]] = nn.Module._get_backward_hooks
_BACKWARD_PRE: Callable[[nn.Module], list[Any]] = nn.Module._get_backward_pre_hooks
_GRAD_OF: Callable[[torch.Tensor], torch.Tensor | None] = torch._C.TensorBase.__dict__["grad"].__get__
_DICT_OF_MODULE = nn.Module.__dict__["__dict__"].__get__
_STORAGE_OF: Callable[[torch.Tensor], torch.UntypedStorage] = torch._C.TensorBase.untyped_storage
_WEAK_REF: Callable[[torch.UntypedStorage], int] = torch._C.StorageBase.__dict__["_weak_ref"]
_EXPIRED: Callable[[int], bool] = torch.UntypedStorage._expired  # type: ignore[assignment]  # torch declares it otherwise
_FREE: Callable[[int], None] = torch.UntypedStorage._free_weak_ref


is_a = isinstance
"""The interpreter's own ``isinstance``. A notebook may have put another function in its place since."""


def what_runs(model: nn.Module, case: Case, run: Callable[[], object], moment: str = "afterwards") -> int:
    """A number of what runs during ``run()``: the hooks' kinds, places and order, and each module's mode and its forward.

    ``run`` calls the model, and goes backward through it where gradients matter: hooks of the model, of what is in it
    and of its parameters count, those for all modules, and which parameters a gradient reaches. A hook of the probe's
    own runs on every module and parameter, so that nobody can say that nothing did.
    """
    trace = _Trace(case, moment)
    with ExitStack() as watched:
        for name, module in _parts(model):
            watched.enter_context(_watched(module, name, trace))
        run()
    return trace.number


def parameters_of(model: nn.Module) -> dict[str, torch.Tensor]:
    """Every parameter that is registered in the model, by its dotted name: ``named_parameters`` may be the learner's."""
    found: dict[str, torch.Tensor] = {}
    for name, module in _parts(model):
        for key, parameter in _entries(_DICT_OF_MODULE(module)["_parameters"]):
            if parameter is not None:
                found[_dotted(name, key)] = parameter
    return found


def gradients_from(values: Iterable[Any], model: nn.Module, case: Case) -> dict[str, torch.Tensor | None]:
    """The gradients of the parameters after a backward from all these values together, and from a product of the probe's.

    Where no value has a graph that leads to the model, each gradient is :func:`no_gradients_from`'s, and else another.
    """
    parameters = dict(model.named_parameters())
    total = torch.zeros((), requires_grad=True)
    model.zero_grad(set_to_none=True)
    for name, parameter in parameters.items():
        total = total + (parameter * case.tensor(f"weight of {name}", *parameter.shape)).sum()
    for value in values:
        with suppress(AttributeError, TypeError, RuntimeError):  # no tensor of numbers
            total = total + value.sum()
    total.backward()  # type: ignore[no-untyped-call]
    return {name: parameter.grad for name, parameter in parameters.items()}


def gradients_left(named: Mapping[str, torch.Tensor], case: Case) -> dict[str, torch.Tensor]:
    """The ``.grad`` of each of these tensors; a tensor that follows from the seed if it is None."""
    found: dict[str, torch.Tensor] = {}
    for name, tensor in named.items():
        grad = _GRAD_OF(tensor)
        if grad is None:
            grad = case.tensor(f"no gradient of {name}", *tensor.shape).to(tensor.dtype)
        found[name] = grad
    return found


class _Trace:
    """The number, and what a hook of a kind at a place adds to it."""

    def __init__(self, case: Case, moment: str) -> None:
        self._case = case
        self._drawn: dict[str, int] = {}
        self.number = self._draw(moment)

    def _draw(self, what: str) -> int:
        """The number of what runs somewhere. Most never runs, so it is drawn when it is asked for."""
        if what not in self._drawn:
            self._drawn[what] = self._case.integer(f"trace {what}", 1, PRIME)
        return self._drawn[what]

    def left_by(self, kind: str, place: str, module: nn.Module) -> Callable[[], None]:
        def leave() -> None:
            left = self._draw(f"of a {kind} hook on {place}")
            if module.__dict__["training"]:
                left += self._draw(f"of training mode on {place}")
            if _has_another_forward(module):
                left += self._draw(f"of another forward on {place}")
            self.number = (self.number * FACTOR + left) % PRIME

        return leave


def _has_another_forward(module: nn.Module) -> bool:
    """Whether the object hides the forward of its class. An object that holds that same forward hides nothing."""
    own = module.__dict__.get("forward")
    return own is not None and getattr(own, "__func__", own) is not type(module).forward


def _nothing(*args: object) -> None:
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
                waiting.append((_dotted(name, key), child))


def _dotted(name: str, key: str) -> str:
    """The dotted name of what a module has under this key; the model's own name is empty."""
    return f"{name}.{key}" if name else key


class _Asked(dict[int, bool]):
    """Stands in for the dict that tells PyTorch, for each hook that it runs, whether the hook wants keywords."""

    def __init__(
        self,
        real: MutableMapping[int, bool],
        own: dict[int, Any],
        leave: Callable[[], None],
        all_modules: Callable[[], None],
    ) -> None:
        super().__init__()
        self._real, self._own, self._leave, self._for_all_modules = real, own, leave, all_modules

    def __contains__(self, hook: object) -> bool:
        if _has_entry(self._own, hook):
            self._leave()
        else:
            self._for_all_modules()
        return hook in self._real

    def __setitem__(self, hook: int, wants: bool) -> None:
        self._real[hook] = wants


@contextmanager
def _watched(module: nn.Module, name: str, trace: _Trace) -> Iterator[None]:
    """Within the block each hook of the module, and of its own parameters, leaves a trace when it runs."""
    place = module.__dict__
    before, hung, own = {}, [], [module.register_forward_hook(_nothing)]
    for kind, hooks in (("forward", "_forward_hooks"), ("forward pre", "_forward_pre_hooks")):
        key = f"{hooks}_with_kwargs"
        before[key] = place[key]
        leave, for_all = (trace.left_by(one, name, module) for one in (kind, f"{kind} hook for all modules, not a"))
        place[key] = _Asked(place[key], place[hooks], leave, for_all)
    backward, backward_pre = (trace.left_by(kind, name, module) for kind in ("backward", "backward pre"))
    place["_get_backward_hooks"] = lambda: [_all_traced(kind, backward) for kind in _BACKWARD(module)]
    place["_get_backward_pre_hooks"] = lambda: _all_traced(_BACKWARD_PRE(module), backward_pre)
    for key, parameter in _entries(place["_parameters"]):
        if parameter is None:
            continue
        with suppress(RuntimeError):  # a frozen parameter takes no hook
            own.append(parameter.register_hook(_nothing))
        for hooks_of in _HOOKS_OF_TENSORS:
            found = hooks_of(parameter)
            if found is None:
                continue
            for number, hook in [*_entries(found)]:
                hung.append((found, number, hook))
                _set_entry(found, number, _traced(hook, trace.left_by("tensor", f"{name}.{key}", module)))
    try:
        yield
    finally:
        for found, number, hook in reversed(hung):
            if _has_entry(found, number):
                _set_entry(found, number, hook)
        for handle in own:
            handle.remove()
        del place["_get_backward_hooks"], place["_get_backward_pre_hooks"]
        for key, real in before.items():
            place[key] = real


def _traced(hook: Callable[..., Any], leave: Callable[[], None]) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        leave()
        return hook(*args)

    return run


def _all_traced(hooks: Iterable[Callable[..., Any]], leave: Callable[[], None]) -> list[Callable[..., Any]]:
    return [_traced(hook, leave) for hook in hooks]


class Storages:
    """Memory that is watched, and not kept: which of it is still there shows in one number, another for each moment."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._watched: list[tuple[str, int]] = []

    def watch(self, tensor: torch.Tensor, place: str) -> None:
        """Watch the storage of a tensor; ``place`` says which one it is. One that comes twice leaves two traces."""
        self._watched.append((place, _WEAK_REF(_STORAGE_OF(tensor))))

    def left(self, moment: str) -> int:
        """The number of this moment: :func:`storages_left`, of what is there and of what is freed."""
        number = self._case.integer(f"trace of memory {moment}", 1, PRIME)
        for place, reference in self._watched:
            number += of_a_storage(self._case, place, moment, _EXPIRED(reference))
        return number % PRIME

    def __del__(self) -> None:
        for _, reference in self._watched:
            _FREE(reference)


def of_a_storage(case: Case, place: str, moment: str, freed: bool) -> int:
    """The number that one watched place adds at a moment."""
    state = "freed" if freed else "there"
    return case.integer(f"trace of memory of {place} {state} {moment}", 1, PRIME)
