# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What an nn.Module is made of
#
# Welcome! This is the first lesson of a hands-on course on PyTorch hooks and `Module.apply`. With them you can look into
# a model, and change what it does, without touching its code. Before you hang something on a model, it helps to know
# what hangs there already. That is this lesson.
#
# - **You will do** this: take models apart, exchange their layers, and train a parameter that you add from outside.
# - **You will learn** what PyTorch registers in a module and what it does not see, and how to walk through any model.
# - **You need** Python classes, tensors, and `loss.backward()`. No GPU, no download.
# - **Time** about 70 minutes, seven exercises, 20 points. The first one takes five minutes.
# - **Out of scope** hooks (from lesson 02 on), how to design a network, how to make it fast.
#
# ## How an exercise works here
#
# Read from the top, and run each cell as you come to it (Shift+Enter). Where you meet an exercise:
#
# 1. **Fill in.** Replace each line `pass  # TODO: your code` in the exercise's cell by your own, and run the cell.
# 2. **Check.** Run the cell below it. A panel says what was checked. Where something is wrong it says what it got, what
#    it wanted, and, if it recognises the mistake, which one it looks like. The check's code is folded away: a click opens it.
# 3. **Try again** as often as you like. Nobody counts.
#
# At the end, the *Validate* button in the toolbar restarts everything and runs every check once more. When your notebook is
# graded, some more checks run: on other numbers, other shapes, a second call. They ask nothing that the text does not say.
# <!-- grading limits -->

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter

from course.pictures.module_tree import draw_module_tree

# %% [markdown]
# ## A model is a tree
#
# Here is a small network. Like every module it is a class with two methods: `__init__` says what the module has,
# `forward` says what it does.

# %% nbgrader={"grade": false, "grade_id": "setup_models", "locked": true, "schema_version": 3, "solution": false, "task": false}
class TinyNet(nn.Module):
    """A convolution, then one linear layer for each of two tasks."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU())
        self.heads = nn.ModuleDict({"animal": nn.Linear(8, 10), "size": nn.Linear(8, 1)})
        self.scale = Parameter(torch.ones(1))

    def forward(self, x, task: str):
        x = self.features(x).mean(dim=(2, 3))
        return self.heads[task](x) * self.scale

# %% [markdown]
# `draw_module_tree` draws any model. One box is one module: the name of the attribute, then the class. In the box stand
# the tensors that belong to this very module: **parameters** are trained, **buffers** are kept with it.

# %%
torch.manual_seed(0)
net = TinyNet()
draw_module_tree(net, title="TinyNet")

# %% [markdown]
# What is in this picture, PyTorch finds: to train it, to save it, to move it to a GPU. What is not in the picture it does
# not find. At the end of this lesson you know why each thing is there, and you can put other things in its place. Let us
# begin with the grey boxes.
#
# ## Containers: modules that hold modules
#
# A container keeps several modules under one name.
#
# | container | you reach a module by | does it run by itself? |
# | --- | --- | --- |
# | `nn.Sequential` | `seq[0]` | yes: one after the other, in the order they stand |
# | `nn.ModuleList` | `modules[0]` | no: your `forward` decides |
# | `nn.ModuleDict` | `modules["name"]` | no: your `forward` decides |
#
# Two very small modules show why the order matters: (3 + 1) · 2 is not 3 · 2 + 1.

# %% nbgrader={"grade": false, "grade_id": "setup_steps", "locked": true, "schema_version": 3, "solution": false, "task": false}
class Scale(nn.Module):
    """Multiplies by a number that can be trained."""

    def __init__(self, by: float):
        super().__init__()
        self.by = Parameter(torch.tensor(by))

    def forward(self, x):
        return x * self.by


class Shift(nn.Module):
    """Adds a number that can be trained."""

    def __init__(self, by: float):
        super().__init__()
        self.by = Parameter(torch.tensor(by))

    def forward(self, x):
        return x + self.by


# %%
x = torch.tensor(3.0)
print("shift, then scale:", nn.Sequential(Shift(1.0), Scale(2.0))(x).item())
print("scale, then shift:", nn.Sequential(Scale(2.0), Shift(1.0))(x).item())

steps = nn.ModuleList([Shift(1.0), Scale(2.0)])
print("your own order   :", steps[1](steps[0](steps[1](x))).item())
try:
    steps(x)
except NotImplementedError as error:
    print("a ModuleList by itself:", error)

# %% [markdown]
# Why not a plain python list? Because a module looks only at what is assigned to its attributes, not into lists. The
# list below would work in `forward`, so nothing seems wrong. But no optimizer ever sees these layers, and no file saves them.

# %%
class Steps(nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.steps = steps


for kind in (list, nn.ModuleList):
    model = Steps(kind([Shift(1.0), Scale(2.0)]))
    trained = [name for name, _ in model.named_parameters()]
    print(f"{kind.__name__:10} trained: {trained}  saved: {list(model.state_dict())}")

# %% [markdown]
# ### Exercise: A chain in any order
#
# easy · 5 min · 2 points
#
# Complete `Chain(steps, order)`. `steps` is a list of modules, `order` a list of indices: `order=[2, 0]` sends the input
# through `steps[2]` first, then through `steps[0]`. An index may appear twice, or not at all.
#
# - Keep *all* steps in `self.steps`, the modules themselves, in the order in which they were handed in. Their parameters are
#   registered: `named_parameters()` finds them under names that begin with `steps.0`, `steps.1` and so on.
# - `forward(x)` returns the result, through which gradients reach the steps. It does not change `x`, and a chain can be
#   called any number of times.

# %% nbgrader={"grade": false, "grade_id": "container_order", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Chain(nn.Module):
    """Keeps `steps`, and sends its input through them in the given `order`."""

    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        # TODO: keep the steps in self.steps, in a container that registers them.
        ### BEGIN SOLUTION
        self.steps = nn.ModuleList(steps)
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # TODO: send x through the steps in the order of self.order, and return the result.
        ### BEGIN SOLUTION
        for index in self.order:
            x = self.steps[index](x)
        return x
        ### END SOLUTION


chain = Chain([Shift(1.0), Scale(2.0)], order=[1, 0])
print(chain)
print(chain(torch.tensor(3.0)))  # 3 * 2 + 1

# %% nbgrader={"grade": true, "grade_id": "test_container_order", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch
import torch.nn as nn

from course.checking import Check, check


def make_steps(case, count):
    return [case.build(f"step{number}", nn.Linear, 3, 3) for number in range(count)]


def run(steps, order, x):
    return nn.Sequential(*(steps[number] for number in order))(x)


class RunsInOrder(Check):
    """The input goes through the steps in the given order."""

    def order(self, case):
        return case.shuffled("which", [[2, 0, 1], [1, 2, 0]])[0]

    def probe(self, nb, case):
        chain = nb.function("Chain")(make_steps(case, 3), self.order(case))
        return {"output": chain(case.tensor("x", 4, 3))}

    def truth(self, case):
        return {"output": run(make_steps(case, 3), self.order(case), case.tensor("x", 4, 3))}

    def mistakes(self, case):
        steps, order, x = make_steps(case, 3), self.order(case), case.tensor("x", 4, 3)
        return {
            "returns_nothing": {"output": None},
            "given_order": {"output": run(steps, range(3), x)},
            "returns_too_early": {"output": run(steps, order[:1], x)},
            "result_not_passed_on": {"output": run(steps, order[-1:], x)},
        }


class StepsAreRegistered(Check):
    """The parameters of every step are found below the name `steps`, in the order in which they were handed in."""

    def probe(self, nb, case):
        chain = nb.function("Chain")(make_steps(case, 3), [2, 0, 1])
        return {"parameters": dict(chain.named_parameters())}

    def truth(self, case):
        steps = make_steps(case, 3)
        return {"parameters": {f"steps.{i}.{name}": p for i in range(3) for name, p in steps[i].named_parameters()}}

    def mistakes(self, case):
        steps = make_steps(case, 3)
        moved = {f"steps.{i}.{name}": p for i, j in enumerate([2, 0, 1]) for name, p in steps[j].named_parameters()}
        return {"python_list": {"parameters": {}}, "registered_in_run_order": {"parameters": moved}}


check("container_order", RunsInOrder, StepsAreRegistered)

### BEGIN HIDDEN TESTS
class AnyOrderTwice(Check):
    """A step may be used twice or not at all, a chain may be called twice, and its input stays as it was."""

    blame = {
        "x after the call": "overwrites_input",
        "output of the second call": "consumes_order",
        "keeps the steps themselves": "copied_steps",
    }

    def probe(self, nb, case):
        steps = make_steps(case, 4)
        chain = nb.function("Chain")(steps, [3, 1, 3, 0])
        x = case.tensor("x", 2, 3)
        first = chain(x)
        kept = {id(parameter) for parameter in chain.parameters()}
        return {
            "parameters": sorted(name for name, _ in chain.named_parameters()),
            "keeps the steps themselves": all(id(p) in kept for step in steps for p in step.parameters()),
            "x after the call": x,
            "output of the first call": first,
            "output of the second call": chain(case.tensor("another x", 5, 3)),
        }

    def truth(self, case):
        steps = make_steps(case, 4)
        return {
            "parameters": sorted(f"steps.{i}.{name}" for i in range(4) for name, _ in steps[i].named_parameters()),
            "keeps the steps themselves": True,
            "x after the call": case.tensor("x", 2, 3),
            "output of the first call": run(steps, [3, 1, 3, 0], case.tensor("x", 2, 3)),
            "output of the second call": run(steps, [3, 1, 3, 0], case.tensor("another x", 5, 3)),
        }

    def mistakes(self, case):
        steps, wanted = make_steps(case, 4), self.truth(case)
        once = run(steps, [3, 1, 0], case.tensor("x", 2, 3))
        return {
            "steps_dropped": {"parameters": [name for name in wanted["parameters"] if not name.startswith("steps.3")]},
            "step_used_once": {"output of the first call": once},
        }


class GradientsArrive(Check):
    """Gradients reach every step that was used."""

    def probe(self, nb, case):
        steps = make_steps(case, 3)
        nb.function("Chain")(steps, [1, 2, 0])(case.tensor("x", 4, 3)).backward(case.tensor("upstream", 4, 3))
        return {f"gradient of steps[{i}].weight": step.weight.grad for i, step in enumerate(steps)}

    def truth(self, case):
        steps = make_steps(case, 3)
        run(steps, [1, 2, 0], case.tensor("x", 4, 3)).backward(case.tensor("upstream", 4, 3))
        return {f"gradient of steps[{i}].weight": step.weight.grad for i, step in enumerate(steps)}

    def mistakes(self, case):
        return {"gradient_cut": {"gradient of steps[1].weight": None}}

check("container_order", AnyOrderTwice, GradientsArrive)
### END HIDDEN TESTS

# %% [markdown]
# ## Parameters: what an optimizer may change
#
# A `Parameter` is a tensor that says: *I am here to be trained*. Assign one to an attribute of a module and the module
# registers it: `parameters()` lists it, and that list is what you hand to an optimizer. A plain tensor is not registered,
# not even with `requires_grad=True`:

# %%
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Parameter(torch.ones(2))
        self.second = torch.ones(2, requires_grad=True)


print([name for name, _ in Two().named_parameters()])

# %% [markdown]
# The place where this happens is built by `super().__init__()`. You may read that a class without this call is "an empty
# shell". Run this: it does not get that far.

# %%
class Forgetful(nn.Module):
    def __init__(self):
        self.layer = nn.Linear(3, 2)


try:
    Forgetful()
except AttributeError as error:
    print(error)

# %% [markdown]
# `nn.Linear(in_features, out_features)` holds two parameters. Note the shape of the weight: **out** comes first.

# %%
for name, parameter in nn.Linear(3, 2).named_parameters():
    print(name, tuple(parameter.shape))

# %% [markdown]
# ### Exercise: A linear layer from Parameters
#
# easy · 7 min · 2 points
#
# Write `MyLinear(in_features, out_features)` yourself, without an `nn.Linear` inside:
#
# - two parameters of its own, `weight` of shape `(out_features, in_features)` and `bias` of shape `(out_features,)`, both
#   filled with ones to start with (`torch.float32`);
# - `forward(x)` returns x · weightᵀ + bias, for `x` of shape `(..., in_features)`: one row, a batch of rows, a batch of
#   matrices. Gradients reach the weight, the bias and `x`.

# %% nbgrader={"grade": false, "grade_id": "linear_from_parameters", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MyLinear(nn.Module):
    """x · weightᵀ + bias, for x of shape (..., in_features)."""

    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        # TODO: the parameters self.weight and self.bias, filled with ones.
        ### BEGIN SOLUTION
        self.weight = Parameter(torch.ones(out_features, in_features))
        self.bias = Parameter(torch.ones(out_features))
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # TODO: return the result.
        ### BEGIN SOLUTION
        return x @ self.weight.T + self.bias
        ### END SOLUTION


print(MyLinear(3, 2)(torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 0.5]])))  # [[7, 7], [1.5, 1.5]]

# %% nbgrader={"grade": true, "grade_id": "test_linear_from_parameters", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch
import torch.nn.functional as F

from course.checking import Check, check
from course.compare import AnyOf, Matches


def dotted(names):
    return None if any("." in name for name in names) else "no dot"


def same_shapes(wanted):
    def test(found):
        kinds, right = ({k: (tuple(v.shape), "float32" in str(v.dtype)) for k, v in d.items()} for d in (found, wanted))
        return None if kinds == right else "of another kind"

    return test


def filled(nb, case, size):
    """The learner's layer with the case's values in its parameters."""
    layer = nb.function("MyLinear")(*size)
    with torch.no_grad():
        layer.weight.copy_(case.tensor("weight", size[1], size[0]))
        layer.bias.copy_(case.tensor("bias", size[1]))
    return layer


class HasParameters(Check):
    """`weight` and `bias` are registered parameters, with the right shapes, filled with ones."""

    def probe(self, nb, case):
        layer = nb.function("MyLinear")(*case.shape("size"))
        found = [name for name in ("weight", "bias") if hasattr(layer, name)]
        return {"attributes": ", ".join(found) or "none", "parameters": dict(layer.named_parameters())}

    def truth(self, case):
        inside, outside = case.shape("size")
        wanted = {"weight": torch.ones(outside, inside), "bias": torch.ones(outside)}
        return {"attributes": "weight, bias", "parameters": wanted}

    def mistakes(self, case):
        wanted = self.truth(case)["parameters"]
        example = {"weight": torch.ones(2, 3), "bias": torch.ones(2)}
        return {
            "linear_inside": {"parameters": Matches(dotted, "names with a dot")},
            "attributes_missing": {"attributes": "none"},
            "sizes_of_example": {"parameters": example},
            "tensor_for_parameter": {
                "attributes": "weight, bias",
                "parameters": AnyOf({}, {"weight": wanted["weight"]}, {"bias": wanted["bias"]}),
            },
            "weight_transposed": {"parameters": {"weight": wanted["weight"].T, "bias": wanted["bias"]}},
            "wrong_start": {"parameters": Matches(same_shapes(wanted), "other values")},
        }


class Computes(Check):
    """The output is x · weightᵀ + bias, whatever the values of the parameters."""

    def probe(self, nb, case):
        return {"output": filled(nb, case, (3, 4))(case.tensor("x", 5, 3))}

    def truth(self, case):
        x, weight, bias = case.tensor("x", 5, 3), case.tensor("weight", 4, 3), case.tensor("bias", 4)
        return {"output": F.linear(x, weight, bias)}

    def mistakes(self, case):
        x, weight = case.tensor("x", 5, 3), case.tensor("weight", 4, 3)
        bias = case.tensor("bias", 4)
        return {
            "returns_nothing": {"output": None},
            "bias_unused": {"output": F.linear(x, weight)},
            "weight_reshaped": {"output": x @ weight.reshape(3, 4) + bias},
            "start_values_typed_in": {
                "output": AnyOf(x.sum(1, keepdim=True) + bias, x.sum(1, keepdim=True) + torch.ones(4))
            },
        }


check("linear_from_parameters", HasParameters, Computes)

### BEGIN HIDDEN TESTS
class AnyLeadingShape(Check):
    """`x` may be one row, a batch of rows, or a batch of matrices."""

    def probe(self, nb, case):
        layer = filled(nb, case, (4, 2))
        return {str(shape): layer(case.tensor("x", *shape)) for shape in ((4,), (3, 5, 4), (1, 4))}

    def truth(self, case):
        weight, bias = case.tensor("weight", 2, 4), case.tensor("bias", 2)
        return {str(shape): F.linear(case.tensor("x", *shape), weight, bias) for shape in ((4,), (3, 5, 4), (1, 4))}


class GradientsArrive(Check):
    """Gradients reach the weight, the bias and `x`."""

    blame = {name: "gradient_cut" for name in ("weight.grad", "bias.grad", "x.grad")}

    def probe(self, nb, case):
        layer, x = filled(nb, case, (3, 2)), case.tensor("x", 5, 3, requires_grad=True)
        layer(x).backward(case.tensor("upstream", 5, 2))
        return {"weight.grad": layer.weight.grad, "bias.grad": layer.bias.grad, "x.grad": x.grad}

    def truth(self, case):
        weight, bias = case.tensor("weight", 2, 3, requires_grad=True), case.tensor("bias", 2, requires_grad=True)
        leaves = weight, bias, x = weight, bias, case.tensor("x", 5, 3, requires_grad=True)
        gradients = torch.autograd.grad(F.linear(x, weight, bias), leaves, case.tensor("upstream", 5, 2))
        return dict(zip(("weight.grad", "bias.grad", "x.grad"), gradients))

check("linear_from_parameters", AnyLeadingShape, GradientsArrive)
### END HIDDEN TESTS

# %% [markdown]
# ## Parameter, Buffer, or just an attribute
#
# Not everything in a model is trained. There are four ways to keep a thing in a module, and three questions tell them
# apart: Shall an optimizer change it? Shall it be in a saved file? Shall it follow the model to another dtype or device?

# %%
class Kinds(nn.Module):
    def __init__(self):
        super().__init__()
        self.learned = Parameter(torch.ones(2))
        self.kept = nn.Buffer(torch.ones(2))
        self.remade = nn.Buffer(torch.ones(2), persistent=False)
        self.plain = torch.ones(2)


kinds = Kinds().double()
for name in ("learned", "kept", "remade", "plain"):
    print(
        f"{name:8}",
        f"to the optimizer: {name in dict(kinds.named_parameters())!s:6}",
        f"saved: {name in kinds.state_dict()!s:6}",
        f"follows .double(): {getattr(kinds, name).dtype == torch.float64}",
    )

# %% [markdown]
# - **Parameter**: what is learned.
# - **Buffer**: what belongs to the model's state, but is not learned: a measured mean, running statistics, a counter.
#   `self.register_buffer("kept", tensor)` is the older way to write the same.
# - **Buffer, `persistent=False`**: a tensor that `__init__` can compute again: a window, a mask, a table of positions.
# - **Plain attribute**: settings that are not tensors: a size, a rate, a name.
#
# You may read that all tensors inside a model's layers are parameters, or that a buffer is something temporary. Run this.
# A `BatchNorm` layer learns two tensors and keeps three buffers, and all five are in its `state_dict()`, which is what you
# save. (A Parameter that is "frozen" with `requires_grad=False` is still in `parameters()`. It is a parameter that rests,
# not a buffer.)

# %%
norm = nn.BatchNorm2d(8)
print("parameters:", [name for name, _ in norm.named_parameters()])
print("buffers   :", [name for name, _ in norm.named_buffers()])
print("saved     :", list(norm.state_dict()))

norm.weight.requires_grad_(False)
print("frozen, and still a parameter:", "weight" in dict(norm.named_parameters()))

# %% [markdown]
# ### Exercise: Parameter, buffer or attribute?
#
# medium · 8 min · 3 points
#
# `AudioFrame` prepares short pieces of sound, `n` samples each. Its `forward` is ready. In `__init__`, put each of the
# four things where it belongs:
#
# | attribute | start value | what it is |
# | --- | --- | --- |
# | `gain` | `torch.ones(1)` | the loudness: to be learned |
# | `mean` | the argument `mean`, shape `(n,)` | measured on the training data: never trained, needed in a saved file |
# | `window` | `torch.hann_window(n)` | depends on `n` alone: not to be saved, but it follows `.double()` and `.to(device)` |
# | `rate` | the argument `rate`, an int | samples per second: a setting |

# %% nbgrader={"grade": false, "grade_id": "buffer_or_parameter", "locked": false, "schema_version": 3, "solution": true, "task": false}
class AudioFrame(nn.Module):
    """Removes the mean of a piece of sound, fades its ends, and scales it."""

    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        # TODO: self.gain, self.mean, self.window and self.rate.
        ### BEGIN SOLUTION
        self.gain = Parameter(torch.ones(1))
        self.mean = nn.Buffer(mean)
        self.window = nn.Buffer(torch.hann_window(n), persistent=False)
        self.rate = rate
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain


frame = AudioFrame(torch.tensor([0.1, 0.2, 0.3, 0.4]), rate=16_000)
print("parameters:", [name for name, _ in frame.named_parameters()])
print("buffers   :", [name for name, _ in frame.named_buffers()])
print("saved     :", list(frame.state_dict()))

# %% nbgrader={"grade": true, "grade_id": "test_buffer_or_parameter", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf, Close

NAMES = ("gain", "mean", "window", "rate")


class InTheRightPlace(Check):
    """Each of the four is registered as what it is: parameter, buffer, saved or not, plain attribute."""

    def probe(self, nb, case):
        frame = nb.function("AudioFrame")(case.tensor("mean", 4), 8_000)
        return {
            "attributes": ", ".join(name for name in NAMES if hasattr(frame, name)) or "none",
            "parameters": sorted(name for name, _ in frame.named_parameters()),
            "buffers": sorted(name for name, _ in frame.named_buffers()),
            "state_dict": sorted(frame.state_dict()),
        }

    def truth(self, case):
        return {
            "attributes": ", ".join(NAMES),
            "parameters": ["gain"],
            "buffers": ["mean", "window"],
            "state_dict": ["gain", "mean"],
        }

    def mistakes(self, case):
        return {
            "attributes_missing": {"attributes": "none"},
            "setting_as_tensor": {"buffers": AnyOf(["mean", "rate", "window"], ["mean", "rate"], ["rate"])},
            "buffer_as_parameter": {
                "parameters": AnyOf(["gain", "mean"], ["gain", "window"], ["gain", "mean", "window"]),
            },
            "parameter_as_buffer": {"buffers": AnyOf(["gain", "mean", "window"], ["gain", "mean"])},
            "tensor_for_parameter": {"attributes": ", ".join(NAMES), "parameters": []},
            "plain_tensor": {"attributes": ", ".join(NAMES), "buffers": AnyOf([], ["mean"], ["window"])},
            "saved_anyway": {"buffers": ["mean", "window"], "state_dict": ["gain", "mean", "window"]},
            "not_saved": {"buffers": ["mean", "window"], "state_dict": ["gain"]},
        }


class StartValues(Check):
    """The four have their start values, and after `.double()` all tensors are float64."""

    n = 4
    blame = {name: "wrong_start" for name in NAMES}

    def probe(self, nb, case):
        frame = nb.function("AudioFrame")(case.tensor("mean", self.n), case.integer("rate", 1_000, 99_000)).double()
        x = case.tensor("x", 3, self.n, dtype=torch.float64)
        return {**{name: getattr(frame, name) for name in NAMES}, "output": frame(x)}

    def truth(self, case):
        gain, mean = torch.ones(1).double(), case.tensor("mean", self.n).double()
        window, rate = torch.hann_window(self.n).double(), case.integer("rate", 1_000, 99_000)
        x = case.tensor("x", 3, self.n, dtype=torch.float64)
        output = (x - mean) * window * gain
        rounded = {"window": Close(window, 1e-5, 1e-6), "output": Close(output, 1e-5, 1e-6)}  # float32 until .double()
        return {"gain": gain, "mean": mean, "rate": rate, **rounded}

    def mistakes(self, case):
        return {"setting_as_tensor": {"rate": torch.tensor(case.integer("rate", 1_000, 99_000))}}


check("buffer_or_parameter", InTheRightPlace, StartValues)

### BEGIN HIDDEN TESTS
class AnotherLength(StartValues):
    """The same for another number of samples."""

    n = 7


class OnlyTheGainLearns(Check):
    """One step of an optimizer changes `gain`, and nothing else."""

    def probe(self, nb, case):
        frame = nb.function("AudioFrame")(case.tensor("mean", 4), 8_000)
        frame(case.tensor("x", 3, 4, requires_grad=True)).backward(case.tensor("upstream", 3, 4))
        torch.optim.SGD(frame.parameters(), lr=0.1).step()
        return {"gain": frame.gain, "mean": frame.mean, "window": frame.window}

    def truth(self, case):
        gain, mean, window = torch.ones(1, requires_grad=True), case.tensor("mean", 4), torch.hann_window(4)
        output = (case.tensor("x", 3, 4) - mean) * window * gain
        (gradient,) = torch.autograd.grad(output, gain, case.tensor("upstream", 3, 4))
        return {"gain": (gain - 0.1 * gradient).detach(), "mean": mean, "window": Close(window, 1e-5, 1e-6)}

    def mistakes(self, case):
        return {"gradient_cut": {"gain": torch.ones(1)}}

check("buffer_or_parameter", AnotherLength, OnlyTheGainLearns)
### END HIDDEN TESTS

# %% [markdown]
# ## Walking through a model
#
# You get a model that somebody else has written. What is in it? Four methods walk through it. All give pairs of a
# *dotted name* and the thing: `features.1.weight` is the `weight` of the child `1` of the child `features`.
#
# | method | gives |
# | --- | --- |
# | `named_children()` | the modules one level below, and no deeper |
# | `named_modules()` | all modules of the tree, beginning with the model itself, under the name `''` |
# | `named_parameters()` | all parameters of the tree |
# | `named_buffers()` | all buffers of the tree, saved or not |
#
# With a dotted name you get the thing back: `get_submodule`, `get_parameter`, `get_buffer`.

# %%
print("children  :", [name for name, _ in net.named_children()])
print("modules   :", [name for name, _ in net.named_modules()])
print("parameters:", [name for name, _ in net.named_parameters()])
print(net.get_submodule("heads.size"), tuple(net.get_parameter("heads.size.weight").shape))

# %% [markdown]
# The numbers in the next picture are the order in which `named_modules()` visits the modules: a parent before its children.
# (`apply` goes the other way round. Lesson 04 is about that.)
#
# Two things need care. **One object can stand at two places.** Below, `act` is one single `ReLU` under two names.
# `named_modules()` lists an object once, under the first name it meets; so the second place has no number.
# **A place can be empty.** A convolution with `bias=False` still knows the name `bias`, and keeps `None` there. The methods
# above skip what is empty.

# %%
class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        act = nn.ReLU()
        self.one = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), act)
        self.two = nn.Sequential(nn.Conv2d(8, 8, 3), act)


shared = Shared()
print("kept under the name bias:", shared.one[0].bias)
order = {name: number for number, (name, _) in enumerate(shared.named_modules(), 1)}
draw_module_tree(shared, numbers=order, title="The order of named_modules()")

# %% [markdown]
# ### Exercise: An inventory of any model
#
# medium · 8 min · 3 points
#
# Write `inventory(model)`. It returns a dict with five entries. All names are dotted names, in the order in which the
# methods above give them. The model itself is not one of its parts. An object that stands at two places counts once.
#
# | key | value |
# | --- | --- |
# | `"children"` | list of the names of the modules one level below |
# | `"modules"` | list of the names of all modules below the model |
# | `"leaves"` | an int: how many of those `"modules"` have no children |
# | `"parameters"` | dict: name of each parameter → its shape, as a tuple |
# | `"buffers"` | list of the names of all buffers, saved or not |

# %% nbgrader={"grade": false, "grade_id": "traverse", "locked": false, "schema_version": 3, "solution": true, "task": false}
def inventory(model: nn.Module) -> dict[str, object]:
    """What is in a model: names of its parts, number of leaves, shapes of its parameters, names of its buffers."""
    # TODO: return a dict with the five entries.
    ### BEGIN SOLUTION
    parts = [(name, module) for name, module in model.named_modules() if module is not model]
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in parts],
        "leaves": sum(1 for _, module in parts if not list(module.children())),
        "parameters": {name: tuple(parameter.shape) for name, parameter in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }
    ### END SOLUTION


inventory(TinyNet())

# %% nbgrader={"grade": true, "grade_id": "test_traverse", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch
import torch.nn as nn

from course.checking import Check, check
from course.compare import Matches, first_difference
from course.evidence import Unreadable


class Nested(nn.Module):
    """Three levels, with the given names; ``shared`` is None or a module for two places."""

    def __init__(self, names, shared=None, bias=True):
        super().__init__()
        first, second, third, fourth = names
        inner = nn.Sequential(nn.Linear(4, 5, bias=bias), nn.BatchNorm1d(5), shared or nn.ReLU())
        self.add_module(first, nn.ModuleDict({third: inner, fourth: shared or nn.Tanh()}))
        self.add_module(second, nn.Linear(5, 2))
        self.register_parameter("gain", nn.Parameter(torch.ones(3), requires_grad=False))
        self.register_buffer("count", torch.zeros(2))


def names_of(case):
    return sorted(case.words("names", 4), reverse=True)  # an inventory is in the model's order, not in the alphabet's


def walk(module, prefix=""):
    """(dotted name, module) of everything below, by the definition: each object once, None is nothing."""
    found, seen = [], {id(module)}

    def below(one, prefix):
        for key, child in one._modules.items():
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                found.append((prefix + key, child))
                below(child, f"{prefix}{key}.")

    below(module, prefix)
    return found


def either(*options):
    """A mistake that shows in one of these ways; each names the entries that tell."""

    def test(got):
        for option in options:
            if all(key in (got or {}) and first_difference(got[key], option[key]) is None for key in option):
                return None
        return "none of these"

    return Matches(test, "one of these")


class Inventory(Check):
    """The five entries are right for a model with three levels."""

    def model(self, case):
        return Nested(names_of(case))

    def probe(self, nb, case):
        return nb.function("inventory")(self.model(case))

    def truth(self, case):
        model = self.model(case)
        parts, everything = walk(model), [("", model), *walk(model)]
        return {
            "children": [name for name, _ in parts if "." not in name],
            "modules": [name for name, _ in parts],
            "leaves": sum(1 for _, part in parts if all(child is None for child in part._modules.values())),
            "parameters": {
                f"{name}.{key}".lstrip("."): tuple(value.shape)
                for name, part in everything
                for key, value in part._parameters.items()
                if value is not None
            },
            "buffers": [
                f"{name}.{key}".lstrip(".")
                for name, part in everything
                for key, value in part._buffers.items()
                if value is not None
            ],
        }

    def mistakes(self, case):
        wanted = self.truth(case)
        children, modules, leaves = wanted["children"], wanted["modules"], wanted["leaves"]
        model = self.model(case)
        last = sorted(name.rpartition(".")[2] for name in modules)
        short = Matches(lambda names: None if sorted(names) == last else "other names", "no path")
        kinds = [f"a {what}" for what in ("generator", "dict_keys", "odict_keys", "map", "filter", "set")]
        lazy = Matches(lambda one: None if isinstance(one, Unreadable) and one.what in kinds else "a list", "lazy")
        return {
            "returns_nothing": None,
            "iterator_not_list": either({"children": lazy}, {"modules": lazy}, {"buffers": lazy}),
            "counts_root": either(
                {"children": children, "modules": ["", *modules]},
                {"children": children, "modules": modules, "leaves": leaves + 1},
            ),
            "children_for_modules": either({"children": children, "modules": children}),
            "modules_for_children": either({"children": modules}, {"children": ["", *modules]}),
            "name_without_path": either(
                {"modules": short},
                {"parameters": {name.rpartition(".")[2]: shape for name, shape in wanted["parameters"].items()}},
                {"buffers": [name.rpartition(".")[2] for name in wanted["buffers"]]},
            ),
            "counts_branches": either({"children": children, "modules": modules, "leaves": len(modules)}),
            "frozen_left_out": either(
                {"parameters": {name: shape for name, shape in wanted["parameters"].items() if name != "gain"}}
            ),
            "size_not_shape": either({"parameters": {n: p.numel() for n, p in model.named_parameters()}}),
            "own_only": either(
                {"modules": modules, "leaves": sum(not list(child.children()) for child in model.children())},
                {"parameters": {"gain": (3,)}},
                {"buffers": ["count"]},
            ),
        }


check("traverse", Inventory)

### BEGIN HIDDEN TESTS
class SharedModule(Inventory):
    """A module that stands at two places counts once, under its first name."""

    def model(self, case):
        return Nested(names_of(case), shared=nn.Sequential(nn.PReLU()))

    def mistakes(self, case):
        places = [name for name, _ in self.model(case).named_modules(remove_duplicate=False)][1:]
        wanted = self.truth(case)
        twice = {n: tuple(p.shape) for n, p in self.model(case).named_parameters(remove_duplicate=False)}
        return {"counts_twice": either({"modules": places}, {"leaves": wanted["leaves"] + 1}, {"parameters": twice})}


class EmptyAndUnsaved(Inventory):
    """An empty place is not listed; a buffer that is not saved is."""

    blame = {"buffers": "unsaved_buffers_missing"}

    def model(self, case):
        model = Nested(names_of(case), bias=False)
        model.register_buffer("cache", torch.ones(1), persistent=False)
        model.register_buffer("later", None)
        model.register_module("unused", None)
        model.get_submodule(names_of(case)[1]).register_module("unused", None)
        return model

    def mistakes(self, case):
        wanted = self.truth(case)
        later = Matches(lambda names: None if "later" in names else "no later", "later")
        unused = {"children": [*wanted["children"], "unused"]}
        return {"absent_is_none": either(unused, {"leaves": wanted["leaves"] - 1}, {"buffers": later})}

check("traverse", EmptyAndUnsaved, SharedModule)
### END HIDDEN TESTS

# %% [markdown]
# ## Replacing a part
#
# A module is an attribute of its parent. To replace it, give the parent's attribute a new value; the register follows. A
# loop variable is not enough: it is only another name for the same module.
#
# `set_submodule` does it by a dotted name. `setattr` with a dotted name does *not*: it knows no path, raises no error, and
# adds a new child with a dot in its name. The old module stays where it was.

# %%
torch.manual_seed(0)
tiny = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), nn.ReLU())

for module in tiny.modules():
    if isinstance(module, nn.ReLU):
        module = nn.Tanh()
print("a new value for the loop variable:", [type(m).__name__ for m in tiny.modules()])

tiny.set_submodule("0.1", nn.Tanh())
print("set_submodule('0.1', ...)        :", [type(m).__name__ for m in tiny.modules()])

setattr(tiny, "0.0", nn.Identity())
print("setattr with '0.0'               :", [name for name, _ in tiny.named_children()])

# %% [markdown]
# Three things go wrong easily here, and none of them raises an error.
#
# - **The second place** of a shared module. `named_modules()` and `named_children()` show each object once;
#   `named_modules(remove_duplicate=False)` shows every place.
# - **The mode.** `model.eval()` sets a flag on each module that is there. A module made later starts in training mode.
# - **Too much.** `"ReLU" in type(m).__name__` also takes `LeakyReLU`. `isinstance(m, nn.ReLU)` asks for the class.

# %%
model = nn.Sequential(nn.Dropout(0.5)).eval()
model[0] = nn.Dropout(0.2)
print("mode of the model:", model.training, " mode of the new part:", model[0].training)
print("LeakyReLU is a ReLU:", isinstance(nn.LeakyReLU(), nn.ReLU))

# %% [markdown]
# ### Exercise: Every ReLU becomes a Tanh
#
# medium · 10 min · 3 points
#
# Write `swap_relu(model)`. It changes the model itself and returns it. Afterwards an `nn.Tanh` stands at every place, at any
# depth, where an `nn.ReLU` stood. A ReLU that stands at two places is replaced at both. Each Tanh is in the mode (training
# or eval) of the ReLU that it replaces. Everything else stays as it was. (The model itself is not a ReLU.)

# %% nbgrader={"grade": false, "grade_id": "swap_submodules", "locked": false, "schema_version": 3, "solution": true, "task": false}
def swap_relu(model: nn.Module) -> nn.Module:
    """Put an nn.Tanh at every place of the model where an nn.ReLU stands, and return the model."""
    # TODO: replace every nn.ReLU, and return the model.
    ### BEGIN SOLUTION
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Tanh().train(module.training))
    return model
    ### END SOLUTION


swap_relu(TinyNet())

# %% nbgrader={"grade": true, "grade_id": "test_swap_submodules", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch
import torch.nn as nn

from course.checking import Check, check
from course.compare import AnyOf


class Block(nn.Module):
    """Two layers, each with an activation after it."""

    def __init__(self, first, second):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), first, nn.LeakyReLU())
        self.linear = nn.Linear(3, 3)
        self.act = second

    def forward(self, x):
        return self.act(self.linear(self.inner(x)))


class Net(nn.Module):
    """Activations on three levels. ``kind`` makes them; ``shared`` puts one object at two places."""

    def __init__(self, kind, shared=False):
        super().__init__()
        one = kind()
        self.stem = nn.Linear(3, 3)
        self.act = kind()
        self.last = self.act if shared else kind()
        self.blocks = nn.ModuleList([Block(one, kind()), Block(one if shared else kind(), nn.PReLU())])

    def forward(self, x):
        x = self.act(self.stem(x))
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def places(model):
    """What stands where: 'blocks.0.act: Tanh'."""
    return [f"{name}: {type(module).__name__}" for name, module in model.named_modules(remove_duplicate=False)]


class Swapped(Check):
    """Every ReLU, at any depth, is replaced in the model itself; nothing else is."""

    def probe(self, nb, case):
        model = case.build("net", Net, nn.ReLU)
        kept = [id(part) for part in model.modules() if type(part) is not nn.ReLU] + [id(p) for p in model.parameters()]
        returned = nb.function("swap_relu")(model)
        after = {id(part) for part in model.modules()} | {id(p) for p in model.parameters()}
        return {
            "places": places(model),
            "returns the model": "nothing" if returned is None else returned is model,
            "everything else is kept": all(one in after for one in kept),
            "output": model(case.tensor("x", 4, 3)),
        }

    def truth(self, case):
        model = case.build("net", Net, nn.Tanh)
        return {
            "places": places(model),
            "returns the model": True,
            "everything else is kept": True,
            "output": model(case.tensor("x", 4, 3)),
        }

    def mistakes(self, case):
        untouched, children, dotted, names = (Net(nn.ReLU) for _ in range(4))
        children.act, children.last = nn.Tanh(), nn.Tanh()
        for name, part in list(dotted.named_modules()):
            if isinstance(part, nn.ReLU):
                setattr(dotted, name, nn.Tanh())
        for name, part in list(names.named_modules()):
            if "ReLU" in type(part).__name__:
                names.set_submodule(name, nn.Tanh())
        return {
            "not_started": {"places": places(untouched), "returns the model": "nothing"},
            "copied_model": {"places": places(untouched), "returns the model": False},
            "rebinds_name": {"places": places(untouched), "returns the model": True},
            "first_level_only": {"places": places(children)},
            "dotted_setattr": {"places": places(dotted)},
            "by_class_name": {"places": places(names)},
            "returns_nothing": {"places": self.truth(case)["places"], "returns the model": "nothing"},
        }


check("swap_submodules", Swapped)

### BEGIN HIDDEN TESTS
class SharedPlaces(Check):
    """A ReLU that stands at two places is replaced at both."""

    blame = {"places": "shared_place_missed"}

    def probe(self, nb, case):
        model = case.build("net", Net, nn.ReLU, shared=True)
        nb.function("swap_relu")(model)
        return {"places": places(model), "output": model(case.tensor("x", 4, 3))}

    def truth(self, case):
        model = case.build("net", Net, nn.Tanh, shared=True)
        return {"places": places(model), "output": model(case.tensor("x", 4, 3))}


class ModeKept(Check):
    """Each Tanh is in the mode of the ReLU that it replaces."""

    blame = {"training": "mode_lost"}

    def modes(self, model):
        return {name: part.training for name, part in model.named_modules(remove_duplicate=False)}

    def probe(self, nb, case):
        model = case.build("net", Net, nn.ReLU).eval()
        model.blocks[0].train()
        nb.function("swap_relu")(model)
        return {"training": self.modes(model)}

    def truth(self, case):
        model = case.build("net", Net, nn.Tanh).eval()
        model.blocks[0].train()
        return {"training": self.modes(model)}

check("swap_submodules", SharedPlaces, ModeKept)
### END HIDDEN TESTS

# %% [markdown]
# ## What print says about a module
#
# `print(model)` draws the tree in text. Between the brackets of `Linear(in_features=3, ...)` stands what the module's method
# `extra_repr()` returns. `nn.Module` calls it for each module, and draws names, brackets and indentation itself. Without an
# `extra_repr` of its own, a module shows nothing there:

# %%
print(nn.Linear(3, 2))
print(Scale(2.0))
print("Linear's own line:", nn.Linear(3, 2).extra_repr())

# %% [markdown]
# ### Exercise: A module that says what it is set to
#
# easy · 4 min · 2 points
#
# Write `extra_repr` for `Clip`, so that `print(Clip(-1, 2))` shows `Clip(low=-1, high=2)`. It shows the limits that the
# module has at the moment it is printed. Where a Clip stands in a model, or has submodules itself, print still shows the tree.

# %% nbgrader={"grade": false, "grade_id": "extra_repr", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Clip(nn.Module):
    """Keeps values between two limits."""

    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def extra_repr(self) -> str:
        # TODO: return the text between the brackets.
        ### BEGIN SOLUTION
        return f"low={self.low}, high={self.high}"
        ### END SOLUTION


print(nn.Sequential(nn.Linear(3, 2), Clip(-1, 2)))

# %% nbgrader={"grade": true, "grade_id": "test_extra_repr", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch.nn as nn

from course.checking import Check, check
from course.compare import AnyOf


def limits(case):
    return -case.integer("low", 3, 99) / 4, case.integer("high", 3, 99)


class ShowsLimits(Check):
    """`repr` of a Clip shows its class and its two limits."""

    def probe(self, nb, case):
        clip = nb.function("Clip")(*limits(case))
        is_method = callable(clip.extra_repr)
        return {"extra_repr is a method": is_method, "repr(clip)": repr(clip) if is_method else None}

    def truth(self, case):
        low, high = limits(case)
        return {"extra_repr is a method": True, "repr(clip)": f"Clip(low={low}, high={high})"}

    def mistakes(self, case):
        text, (low, high) = self.truth(case)["repr(clip)"], limits(case)
        return {
            "repr_not_method": {"extra_repr is a method": False},
            "repr_nothing": {"repr(clip)": "Clip()"},
            "repr_with_name": {"repr(clip)": f"Clip({text})"},
            "repr_hard_coded": {"repr(clip)": "Clip(low=-1, high=2)"},
            "repr_without_names": {"repr(clip)": AnyOf(*(f"Clip({low}{gap}{high})" for gap in (", ", " ", ",")))},
        }


check("extra_repr", ShowsLimits)

### BEGIN HIDDEN TESTS
class TreeStays(Check):
    """Within a model, and with a submodule of its own, a Clip shows its limits and its place in the tree."""

    blame = {"repr(model)": "repr_overridden"}

    def probe(self, nb, case):
        clip = nb.function("Clip")(*limits(case))
        clip.add_module("inner", nn.Tanh())
        return {"repr(model)": repr(nn.Sequential(nn.ReLU(), clip))}

    def truth(self, case):
        class Clip(nn.Module):
            extra_repr = lambda self: "low={}, high={}".format(*limits(case))

        clip = Clip()
        clip.add_module("inner", nn.Tanh())
        return {"repr(model)": repr(nn.Sequential(nn.ReLU(), clip))}


class ShowsTheMoment(Check):
    """After a limit has changed, the new one is shown."""

    blame = {"repr(clip)": "repr_frozen"}

    def probe(self, nb, case):
        clip = nb.function("Clip")(0, 1)
        clip.low, clip.high = limits(case)
        return {"repr(clip)": repr(clip)}

    def truth(self, case):
        low, high = limits(case)
        return {"repr(clip)": f"Clip(low={low}, high={high})"}

check("extra_repr", TreeStays, ShowsTheMoment)
### END HIDDEN TESTS

# %% [markdown]
# ## A parameter from outside
#
# Can a parameter be added to a model from outside, without a change of its class? Learners of an earlier course on this
# subject asked that, and got no answer. The answer is **yes**. It is one assignment: a module registers what it is given at
# any time, not only in `__init__`. But three things are left to you.

# %%
torch.manual_seed(0)
model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # built now, before the rest

model.offset = Parameter(torch.zeros(2))
model.plain = torch.zeros(2, requires_grad=True)
print("1. registered:", [name for name, _ in model.named_parameters()])

held = {id(p) for group in optimizer.param_groups for p in group["params"]}
print("2. held by the optimizer that was there before?", id(model.offset) in held)

x = torch.ones(1, 3)
with torch.no_grad():
    before = model(x)
    model.offset.fill_(100.0)
    print("3. does the output change with it?", not torch.equal(model(x), before))

# %% [markdown]
# 1. **It must be a `Parameter`.** The same rule holds as in `__init__`: `plain` is a tensor, and is not registered.
# 2. **The optimizer must be told.** It keeps the list it was given when it was built. Build the optimizer later; or, where it
#    already holds momentum that you want to keep, hand the new parameter to
#    [`optimizer.add_param_group({"params": [...]})`](https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.add_param_group.html).
#    A new group takes the optimizer's own settings for all that you do not give.
# 3. **Something must use it.** Registering a parameter does not bring it into `forward`. The code that uses it can also come
#    from outside. This one line is a *hook*, and what the next lessons are about:

# %%
handle = model.register_forward_hook(lambda module, inputs, output: output + module.offset)
print("with the hook   :", model(x).detach())
handle.remove()
print("without the hook:", model(x).detach())

# %% [markdown]
# ### Exercise: A parameter that joins the training
#
# hard · 12 min · 5 points
#
# Training has begun, and the optimizer is there. Write `add_offset(model, size, optimizer)`. It gives the model a new
# parameter `offset`: zeros, shape `(size,)`, registered under that name. From then on the given `optimizer` trains it too, with
# the settings that the optimizer has for the others. All other parameters are trained on as if nothing had happened, with
# their momentum. The function returns nothing. You need not change `forward`: the check adds `model.offset` to the output.

# %% nbgrader={"grade": false, "grade_id": "parameter_from_outside", "locked": false, "schema_version": 3, "solution": true, "task": false}
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    """Give the model a parameter `offset` of zeros, shape (size,), which the given optimizer trains from now on."""
    # TODO: add the parameter, and let the optimizer train it.
    ### BEGIN SOLUTION
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset]})
    ### END SOLUTION


model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
add_offset(model, 2, optimizer)
print([name for name, _ in model.named_parameters()])
print([[tuple(p.shape) for p in group["params"]] for group in optimizer.param_groups])

# %% nbgrader={"grade": true, "grade_id": "test_parameter_from_outside", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch
import torch.nn as nn

from course.checking import Check, check
from course.compare import Matches


def sgd(parameters, case):
    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9)


def train_step(model, offset, optimizers, case, name):
    """One step of training on data called ``name``; the offset, where there is one, is added to the output."""
    output = model(case.tensor(f"x {name}", 5, 3))
    loss = ((output if offset is None else output + offset) * case.tensor(f"upstream {name}", 5, 2)).sum()
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()


def trained_by_learner(nb, case, make):
    """A model after one step without the offset and two steps with it."""
    model = case.build("model", nn.Linear, 3, 2)
    optimizer = make(model.parameters(), case)
    train_step(model, None, [optimizer], case, "one")
    nb.function("add_offset")(model, 2, optimizer)
    for name in ("two", "three"):
        train_step(model, model.offset, [optimizer], case, name)
    return model


def trained_apart(case, make):
    """The same, by an optimizer for the old parameters and another, of the same kind, for the offset."""
    model = case.build("model", nn.Linear, 3, 2)
    offset = nn.Parameter(torch.zeros(2))
    old, new = make(model.parameters(), case), make([offset], case)
    train_step(model, None, [old], case, "one")
    for name in ("two", "three"):
        train_step(model, offset, [old, new], case, name)
    return model, offset


class Registered(Check):
    """The model has a parameter `offset`: zeros, of the given size, which needs a gradient."""

    blame = {"offset is a Parameter": "unregistered_from_outside"}

    def probe(self, nb, case):
        size = case.integer("size", 3, 9)
        model = nn.Sequential(nn.Linear(3, size), nn.ReLU())
        nb.function("add_offset")(model, size, torch.optim.SGD(model.parameters(), lr=0.1))
        offset = getattr(model, "offset", None)
        return {
            "model.offset": offset,
            "parameters": sorted(name for name, _ in model.named_parameters()),
            "offset.requires_grad": getattr(offset, "requires_grad", None),
            "offset is a Parameter": isinstance(offset, nn.Parameter),
        }

    def other_values(self, case):
        kind = (case.integer("size", 3, 9),), "float32"
        return lambda found: None if (found.shape, found.dtype) == kind else "of another kind"

    def truth(self, case):
        return {
            "model.offset": torch.zeros(case.integer("size", 3, 9)),
            "parameters": ["0.bias", "0.weight", "offset"],
            "offset.requires_grad": True,
            "offset is a Parameter": True,
        }

    def mistakes(self, case):
        return {
            "attributes_missing": {"model.offset": None, "parameters": ["0.bias", "0.weight"]},
            "sizes_of_example": {"model.offset": torch.zeros(2)},
            "wrong_start": {"model.offset": Matches(self.other_values(case), "other values")},
            "unregistered_from_outside": {"parameters": ["0.bias", "0.weight"]},
            "gradient_cut": {"parameters": ["0.bias", "0.weight", "offset"], "offset.requires_grad": False},
        }


class JoinsTheTraining(Check):
    """The optimizer that was there before trains `offset`."""

    def probe(self, nb, case):
        return {"model.offset": trained_by_learner(nb, case, sgd).offset}

    def truth(self, case):
        return {"model.offset": trained_apart(case, sgd)[1]}

    def mistakes(self, case):
        return {"optimizer_does_not_know": {"model.offset": torch.zeros(2)}}


check("parameter_from_outside", Registered, JoinsTheTraining)

### BEGIN HIDDEN TESTS
class OthersGoOn(Check):
    """The other parameters are trained on, with their momentum."""

    blame = {"model.weight": "group_replaced", "model.bias": "group_replaced"}

    def probe(self, nb, case):
        model = trained_by_learner(nb, case, sgd)
        return {"model.weight": model.weight, "model.bias": model.bias}

    def truth(self, case):
        model, _ = trained_apart(case, sgd)
        return {"model.weight": model.weight, "model.bias": model.bias}


def another(parameters, case):
    return torch.optim.AdamW(parameters, lr=case.integer("lr", 2, 9) / 100, weight_decay=0.5)


class AnotherOptimizer(Check):
    """The same with another optimizer and another learning rate."""

    blame = {"model.offset": "fixed_learning_rate"}

    def probe(self, nb, case):
        return {"model.offset": trained_by_learner(nb, case, another).offset}

    def truth(self, case):
        return {"model.offset": trained_apart(case, another)[1]}

check("parameter_from_outside", OthersGoOn, AnotherOptimizer)
### END HIDDEN TESTS

# %% [markdown]
# One more consequence, for the day you save such a model: the file now holds a name that a freshly built model does not know.
# Add the parameter first, then load.

# %%
grown = nn.Linear(3, 2)
grown.offset = Parameter(torch.ones(2))
fresh = nn.Linear(3, 2)
try:
    fresh.load_state_dict(grown.state_dict())
except RuntimeError as error:
    print(str(error).splitlines()[-1].strip())
fresh.offset = Parameter(torch.zeros(2))
print(fresh.load_state_dict(grown.state_dict()), fresh.offset.data)

# %% [markdown]
# ## To take to work: what did I forget to register?
#
# The worst of this lesson's mistakes raise no error: a layer in a list, a tensor under a plain attribute. This function finds
# them in any model. Run it on the next model that you write.

# %%
def find_unregistered(model: nn.Module) -> list[str]:
    """Dotted names of attributes that hold tensors or modules which the model does not know."""
    known = {id(one) for one in (*model.modules(), *model.parameters(), *model.buffers())}
    internal = set(vars(nn.Module()))
    found = []
    for name, module in model.named_modules():
        for key, value in vars(module).items():
            if isinstance(value, dict):
                value = list(value.values())
            items = value if isinstance(value, (list, tuple)) else [value]
            lost = [one for one in items if isinstance(one, (nn.Module, torch.Tensor)) and id(one) not in known]
            if lost and key not in internal:
                found.append(f"{name}.{key}" if name else key)
    return found


model = TinyNet()
model.extra = [nn.Linear(8, 8), nn.Linear(8, 8)]
model.features.mask = torch.ones(8)
print(find_unregistered(model))

# %% [markdown]
# ## What to remember
#
# - A module registers what is assigned to its attributes: modules, `Parameter`s, buffers. It does not look into lists.
# - `Sequential` runs by itself. With `ModuleList` and `ModuleDict` your `forward` decides.
# - Learned: Parameter. State, not learned: buffer. Can be computed again: buffer with `persistent=False`. Not a tensor: attribute.
# - `named_children` is one level; `named_modules` is the whole tree, with the model itself first, each object once.
# - Replace a part by an assignment to its parent. Think of shared modules and of the mode.
# - A parameter may come from outside, at any time. Tell the optimizer, and let something use it.
#
# **Next:** lesson 02 hangs the first hooks on tensors, and looks at gradients while they flow.
