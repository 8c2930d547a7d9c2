"""Draw chains of functions, nets and tensors for explorations, as lines of Python that make them.

An exploration (``nbproof/authoring/explorer.py``) names the kinds that a statement allows. No list of cases holds all that may
occur: each of these kinds was once a case that nobody had thought of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch
from hypothesis import assume
from hypothesis import strategies as st
from torch import nn
from torch.utils.checkpoint import checkpoint

from nbproof.checks.case import Plan

__all__ = [
    "KINDS",
    "TWISTS",
    "Added",
    "Boxed",
    "ByKeyword",
    "Checkpointed",
    "Inverse",
    "Narrowed",
    "Output",
    "Repeated",
    "Root",
    "Training",
    "Turned",
    "WithSpare",
    "chains",
    "fit",
    "listening",
    "nets",
    "picked",
    "tensors",
    "trainings",
]

_IMPORTS = "import torch\nfrom torch import nn\n"

Function = Callable[[torch.Tensor], torch.Tensor]
Draw = Callable[[st.SearchStrategy[Any]], Any]


class Checkpointed(nn.Module):
    """Its layer runs in a checkpoint."""

    def __init__(self, layer: nn.Module, use_reentrant: bool = False) -> None:
        super().__init__()
        self.layer = layer
        self.use_reentrant = use_reentrant

    def forward(self, x: torch.Tensor) -> Any:
        return checkpoint(self.layer, x, use_reentrant=self.use_reentrant)


class Added(nn.Module):
    """Its layer's output is added to the input."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.layer(x)  # type: ignore[no-any-return]


class Repeated(nn.Module):
    """Its layer runs twice in each call."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(self.layer(x))


class Turned(nn.Module):
    """Its second layer runs before the first one."""

    def __init__(self, layer: nn.Module, first: nn.Module) -> None:
        super().__init__()
        self.layer = layer
        self.first = first

    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(self.first(x))


class WithSpare(nn.Module):
    """Its second layer never runs."""

    def __init__(self, layer: nn.Module, spare: nn.Module) -> None:
        super().__init__()
        self.spare = spare
        self.layer = layer

    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x)


class ByKeyword(nn.Module):
    """Its inner layer gets its input by name."""

    class TakesInputs(nn.Module):
        """Takes `inputs`."""

        def __init__(self, layer: nn.Module) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, inputs: torch.Tensor) -> Any:
            """Give the layer's output."""
            return self.layer(inputs)

    def __init__(self, layer: nn.Module, first: Function = torch.clone) -> None:
        super().__init__()
        self.inner, self.first = self.TakesInputs(layer), first

    def forward(self, x: torch.Tensor) -> Any:
        return self.inner(inputs=self.first(x))


@dataclass
class Output:
    """A dataclass with a tensor, as some libraries' models return it."""

    value: torch.Tensor


class Boxed(nn.Module):
    """Its inner module returns a tuple, a list, a dict or an :class:`Output` with the layer's output in it."""

    class ReturnsABox(nn.Module):
        """Returns the box."""

        def __init__(self, layer: nn.Module, box: str, then: Function) -> None:
            super().__init__()
            self.layer, self.box, self.then = layer, box, then

        def forward(self, x: torch.Tensor) -> Any:
            """The box."""
            out = self.then(self.layer(x))
            return {"tuple": (out, None), "list": [out], "dict": {"out": out}, "dataclass": Output(out)}[self.box]

    def __init__(self, layer: nn.Module, box: str, then: Function = torch.clone) -> None:
        super().__init__()
        self.inner = self.ReturnsABox(layer, box, then)

    def forward(self, x: torch.Tensor) -> Any:
        box = self.inner(x)
        if isinstance(box, Output):
            return box.value
        return box["out"] if isinstance(box, dict) else box[0]


_STEPS = {
    "sound": ("lambda t: 3 * t", "torch.tanh", "lambda t: t - 1", "torch.abs", "lambda t: t * 0"),
    "bad": ("torch.sqrt", "torch.log", "lambda t: 1 / t", "lambda t: torch.where(t > 0, t * t.log(), 0.0)"),
    "same": ("nn.Identity()", "nn.Dropout().eval()", "lambda t: t.contiguous()", "lambda t: t.float()", "lambda t: t"),
    "view": ("lambda t: t.view(-1)", "lambda t: t[:1]", "lambda t: t.flip(0)", "lambda t: t.sum()"),
    "checkpointed": ("Checkpointed(nn.Tanh())", "lambda t: checkpoint(torch.sqrt, t, use_reentrant=False)"),
    "dtype": ("lambda t: t.double()", "lambda t: t.bfloat16()"),
    "layer": ("nn.ReLU()", "nn.LogSoftmax(-1)", "nn.ELU()"),
}


def chains(*kinds: str, most: int = 5) -> st.SearchStrategy[Plan]:
    """A dict of names and functions of one tensor; ``kinds``: of :data:`_STEPS`, all if none is named."""
    steps = st.sampled_from(list(chain.from_iterable(_STEPS[kind] for kind in kinds or _STEPS)))

    def plan(drawn: list[str]) -> Plan:
        named = ", ".join(f'"{name}": {step}' for name, step in zip("cadbe", drawn, strict=False))
        return Plan(f"{_imports_of(named)}_ = {{{named}}}")

    return st.lists(steps, min_size=1, max_size=most).map(plan)


def _imports_of(code: str) -> str:
    ours = [name for name in __all__ if f"{name}(" in code and name[0].isupper()]
    found = _IMPORTS
    if ours:
        found += f"from course.drawn import {', '.join(ours)}\n"
    if "checkpoint(" in code:
        found += "from torch.utils.checkpoint import checkpoint\n"
    if "OrderedDict" in code:
        found += "from collections import OrderedDict\n"
    return found


@st.composite
def tensors(
    draw: Draw,
    shapes: Sequence[tuple[int, ...]] = ((1,), (2,), (1, 2), (3, 2)),
    values: Sequence[float] = (0.0, 1.0, -1.0, 2.0, 0.5, -3.0),
    dtypes: Sequence[str] = ("float32",),
    requires_grad: bool | None = False,
    views: bool = False,
) -> Plan:
    """A tensor of one of these shapes; ``requires_grad``: None if both may be; ``views``: it may be a view of another one."""
    shape = draw(st.sampled_from(shapes))
    dtype = draw(st.sampled_from(dtypes))
    numbers = draw(st.lists(st.sampled_from(values), min_size=_size(shape), max_size=_size(shape)))
    text = f"torch.tensor({torch.tensor(numbers).reshape(shape).tolist()}"
    if dtype != "float32":
        text += f", dtype=torch.{dtype}"
    grad = draw(st.booleans()) if requires_grad is None else requires_grad
    if views and len(shape) > 1 and draw(st.booleans()):
        end = ".requires_grad_()" if grad else ""
        return Plan(f"import torch\n_ = {text}).mT.contiguous().mT{end}")
    end = ", requires_grad=True" if grad else ""
    return Plan(f"import torch\n_ = {text}{end})")


def _size(shape: tuple[int, ...]) -> int:
    return torch.Size(shape).numel()


KINDS = {
    "plain": ("nn.Linear(2, 2)", "nn.ReLU()", "nn.Tanh()"),
    "same": ("nn.Identity()", "nn.Dropout(0.5).eval()"),
    "nested": ("nn.Sequential({}, {})", "nn.Sequential({})"),
    "residual": ("Added({})",),
    "repeated": ("Repeated({})",),
    "turned": ("Turned({}, {})",),
    "beside": ("WithSpare({}, {})",),
    "checkpointed": ("Checkpointed({})",),
    "reentrant": ("Checkpointed({}, use_reentrant=True)",),
    "boxed": ("Boxed({}, 'tuple')", "Boxed({}, 'list')", "Boxed({}, 'dict')", "Boxed({}, 'dataclass')"),
    "keyword": ("ByKeyword({})",),
    "in_place": ("nn.ReLU(inplace=True)", "Added(nn.Sequential({}, nn.ReLU(inplace=True)))"),
    "norm": ("nn.LayerNorm(2)",),
    "view": ("Narrowed()",),
    "bad": (
        "Root()",
        "Inverse()",
        "Boxed({}, 'tuple', torch.sqrt)",
        "Boxed({}, 'list', torch.sqrt)",
        "ByKeyword({}, torch.sqrt)",
    ),
}
"""Kinds of layers, which take and give 2 features; ``{}`` is another layer."""


class Root(nn.Module):
    """The square root: its gradient at 0 is infinite."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sqrt()


class Narrowed(nn.Module):
    """A view of its input, on the same memory."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[..., :2]


class Inverse(nn.Module):
    """1 / x."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 1 / x


TWISTS = {
    "frozen": "_.get_parameter('{parameter}').requires_grad_(False)",
    "zero": "nn.init.zeros_(_.get_parameter('{parameter}'))",
    "negative": "nn.init.constant_(_.get_parameter('{parameter}'), -1.0)",
    "old_grad": "_.get_parameter('{parameter}').grad = torch.ones_like(_.get_parameter('{parameter}'))",
    "shared_layer": "_.append(_.get_submodule('{module}'))",
    "shared_weight": "_.get_submodule('{linear}').weight = _.get_parameter('{weight}')",
    "part_eval": "_.get_submodule('{module}').eval()",
    "eval": "_.eval()",
    "double": "_.double()",
    "bfloat16": "_.bfloat16()",
    "hooked": "_ .get_submodule('{module}').register_forward_hook(lambda module, args, output: None)",
}
"""Changes that may be made to a net afterwards."""


@st.composite
def nets(
    draw: Draw, *allowed: str, most: int = 4, twists: int = 3, whole: Sequence[str] = ("nn.Sequential({})",)
) -> Plan:
    """A net that takes and gives 2 features, of plain layers and of these :data:`KINDS`, with some of these :data:`TWISTS`.

    ``whole``: what may be around all of it; "{layer}" alone is a net that is one bare layer.
    """
    layers = _layers(tuple(one for one in ("plain", *allowed) if one in KINDS))
    around = draw(st.sampled_from(list(whole)))
    code = draw(layers) if around == "{layer}" else around.format(_sequence(draw, layers, most))
    text = f"{_imports_of(code)}torch.manual_seed(0)\n_ = {code}"
    names = [one for one in allowed if one in TWISTS]
    if names:
        for twist in draw(st.lists(st.sampled_from(names), max_size=twists, unique=False)):
            text = _twisted(draw, text, twist)
    assume(_runs(Plan(text)))
    return Plan(text)


def _sequence(draw: Draw, layers: st.SearchStrategy[str], most: int) -> str:
    """The arguments of nn.Sequential; if the layers have names, these come in no alphabetical order."""
    chosen = draw(st.lists(layers, min_size=1, max_size=most))
    if not draw(st.booleans()):
        return ", ".join(chosen)
    named = ", ".join(f"{name}={layer}" for name, layer in zip(("stem", "body", "neck", "head"), chosen, strict=False))
    return f"OrderedDict({named})"


def _runs(plan: Plan) -> bool:
    """Whether the net works as it is: nobody has to cope with one that does not."""
    net = plan.build()
    try:
        output = net(fit(torch.ones(1, 2), net))
        if output.requires_grad:
            torch.autograd.backward(output.sum())
    except (RuntimeError, AttributeError, TypeError):
        return False
    return True


def _layers(kinds: tuple[str, ...]) -> st.SearchStrategy[str]:
    every = list(chain.from_iterable(KINDS[kind] for kind in kinds))
    simple = st.sampled_from([one for one in every if "{" not in one])
    outer = [one for one in every if "{" in one]
    if not outer:
        return simple

    def around(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.tuples(st.sampled_from(outer), inner, inner).map(lambda some: some[0].format(*some[1:]))

    return st.recursive(simple, around, max_leaves=3)


def _twisted(draw: Draw, text: str, twist: str) -> str:
    """The text with this twist, if the net has the modules and parameters that it changes."""
    net = Plan(text).build()
    if ".append" in TWISTS[twist] and not isinstance(net, nn.Sequential):
        return text
    modules = {name: one for name, one in net.named_modules() if name}
    linears = [name for name, one in modules.items() if isinstance(one, nn.Linear)]
    places = {
        "parameter": [name for name, _ in net.named_parameters()],
        "module": list(modules),
        "linear": linears,
        "weight": [f"{name}.weight" for name in linears],
    }
    needed = {place: names for place, names in places.items() if f"{{{place}}}" in TWISTS[twist]}
    if not all(needed.values()):
        return text
    chosen = {place: draw(st.sampled_from(names)) for place, names in needed.items()}
    return f"{text}\n{TWISTS[twist].format(**chosen)}"


def fit(x: torch.Tensor, net: nn.Module) -> torch.Tensor:
    """The input in the dtype of the net's parameters."""
    return x.to(next((one.dtype for one in net.parameters()), x.dtype))


def picked(net: nn.Module, numbers: Sequence[int]) -> list[str]:
    """Names of modules in the net, each once."""
    names = [name for name, _ in net.named_modules() if name]
    return list(dict.fromkeys(names[number % len(names)] for number in numbers))


@contextmanager
def listening(after: Callable[[nn.Module, Any], object], before: Callable[[nn.Module], object] = id) -> Iterator[None]:
    """Call ``before`` and ``after`` at each call of a module in this block, without a hook."""
    call = nn.Module.__call__

    def heard(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
        before(module)
        output = call(module, *args, **kwargs)
        after(module, output)
        return output

    nn.Module.__call__ = heard  # type: ignore[method-assign]
    try:
        yield
    finally:
        nn.Module.__call__ = call  # type: ignore[method-assign]


@dataclass(frozen=True)
class Training:
    """Calls a net on one batch after another; backward, and a step of plain SGD if there is a rate."""

    batches: Sequence[Any]
    backward: bool = True
    rate: float = 0.0
    checkpointed: bool = False
    """Whether all of the net runs in a checkpoint, as the blocks of large models do."""

    def __call__(self, net: nn.Module) -> None:
        for batch in self.batches:
            x = fit(torch.tensor(batch), net)
            output = checkpoint(net, x, use_reentrant=False) if self.checkpointed else net(x)
            if self.backward and output.requires_grad:
                torch.autograd.backward(output.sum())
            for one in net.parameters():
                if self.rate and one.grad is not None:
                    one.data -= self.rate * one.grad
                    one.grad = None


@st.composite
def trainings(draw: Draw, *, checkpointed: bool = False, most: int = 3) -> Plan:
    """A :class:`Training` of some batches, with or without backward and steps; ``checkpointed``: perhaps in a checkpoint."""
    numbers = st.sampled_from((0.0, 1.0, -1.0, 2.0, -3.0))
    batches = draw(
        st.lists(st.lists(st.tuples(numbers, numbers).map(list), min_size=1, max_size=2), min_size=1, max_size=most)
    )
    more = ", backward=False" if draw(st.booleans()) else ""
    if draw(st.booleans()):
        more += f", rate={draw(st.sampled_from((0.1, 1.0, 10.0)))}"
    if checkpointed and draw(st.booleans()):
        more += ", checkpointed=True"
    return Plan(f"from course.drawn import Training\n_ = Training({batches}{more})")
