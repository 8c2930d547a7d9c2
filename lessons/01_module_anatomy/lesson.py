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
# - **Time** about 75 minutes: seven exercises for 20 points, the first one takes five minutes, and one question in your
#   own words, 2 points.
# - **Out of scope** hooks (from lesson 02 on), how to design a network, how to make it fast.
#
# ## How this works
#
# A notebook is made of cells. Press **Shift+Enter**: it runs the cell you are in and goes on to the next one. Run every cell
# as you come to it, from the top; what it prints or draws appears below it. A `[*]` beside a cell says that it is still
# running. (The first one takes some seconds: it loads PyTorch.) Soon you meet an exercise:
#
# 1. **Fill in.** Below the text is a *TODO cell*: the beginning of an answer. Replace each line `pass  # TODO: your code` by
#    your own lines, as many as you like, and run the cell.
# 2. **Check.** Run the cell below it. (It is folded: its code is only the test.) A panel says line by line what was checked,
#    ✓ or ✗. At the first ✗ it says what your code gave, what was wanted, and, where it knows the mistake, what it looks like.
# 3. **Ask.** Type `hint()` into any cell, such as a new one from the **+** in the toolbar, and run it. After a check that failed
#    you get a question; run it again for the idea, and again for where to read. It never shows the answer. You do not know how
#    to begin? Below each exercise's title stands what to type, such as `hint("container_order")`.
# 4. **Try again** as often as you like, it costs nothing. `progress()` shows what you have solved and where to go on.
#
# Nothing leaves your disk: not your code, not the results, not your progress. If something looks odd, *Run* → *Restart Kernel
# and Run up to Selected Cell…* makes everything above anew.
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

from course import hint, progress
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
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(),
        )
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
# easy · 5 min · 2 points · a way in: `hint("container_order")`
#
# Complete `Chain(steps, order)`. `steps` is a list of modules, `order` a list of indices: `order=[2, 0]` sends the input
# through `steps[2]` first, then through `steps[0]`. An index may appear twice, or not at all.
#
# - Keep *all* steps in `self.steps`, the modules themselves, in the order in which they were handed in. Their parameters are
#   registered: `named_parameters()` finds them under names that begin with `steps.0`, `steps.1` and so on.
# - `forward(x)` returns the result, through which gradients reach the steps. A chain can be called any number of times.
# - What was handed in stays as it was: `x`, and both lists.


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
from itertools import permutations

import torch
import torch.nn as nn

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.probing import ANYTHING


def _linear_steps(case, count):
    return [case.build(f"step{number}", nn.Linear, 3, 3) for number in range(count)]


def _through(steps, order, x):
    return nn.Sequential(*(steps[number] for number in order))(x)


class _Affine(nn.Module):
    """A step whose results can be followed in one's head."""

    def __init__(self, scale, shift):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.tensor(scale)), nn.Parameter(torch.tensor(shift))

    def forward(self, x):
        return x * self.scale + self.shift


class _OfTheChain(Check):
    """What all checks of the chain have in common: the errors that only one misconception brings."""

    errors = {
        r"TypeError: 'int' object is not callable": "anatomy_index_for_module",
        r"AttributeError: 'Chain' object has no attribute 'steps'": "attributes_missing",
        r"NameError: name '(order|steps)'": "anatomy_read_without_self",
        r"AttributeError: module '\S+' has no attribute": "anatomy_misspelt_method",
        r"TypeError: Chain\.\w+\(\) (takes|got|missing)": "anatomy_other_signature",
        r"TypeError: (ModuleList|ModuleDict|Sequential)\b": "anatomy_container_arguments",
        r"TypeError: \S+ is not a Module subclass": "anatomy_container_arguments",
        r"TypeError: module name should be a string": "anatomy_container_arguments",
        r"ValueError: ModuleDict": "anatomy_container_arguments",
        r"KeyError: ": "anatomy_container_arguments",
        r"ValueError: (too many|not enough) values to unpack": "anatomy_order_of_example",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
    }


class StepsAreRegistered(_OfTheChain):
    """The parameters of every step are found below the name `steps`, in the order in which they were handed in."""

    def probe(self, nb, case):
        chain = nb.function("Chain")(_linear_steps(case, 3), [2, 0, 1])
        return {
            "type(self.steps)": type(getattr(chain, "steps", None)).__name__,
            "parameters": dict(chain.named_parameters()),
        }

    def truth(self, case):
        steps = _linear_steps(case, 3)
        wanted = {f"steps.{i}.{name}": p for i in range(3) for name, p in steps[i].named_parameters()}
        return {"type(self.steps)": ANYTHING, "parameters": wanted}

    def mistakes(self, case):
        steps, wanted = _linear_steps(case, 3), self.truth(case)["parameters"]
        moved = [
            {f"steps.{i}.{name}": p for i, j in enumerate(order) for name, p in steps[j].named_parameters()}
            for order in list(permutations(range(3)))[1:]
        ]
        renamed = Matches(
            lambda found: None if found and set(found) != set(wanted) else "the same names", "other names"
        )
        return {
            "attributes_missing": {"type(self.steps)": "NoneType", "parameters": {}},
            "python_list": {"type(self.steps)": AnyOf("list", "tuple", "dict"), "parameters": {}},
            "anatomy_kept_on_the_class": {"parameters": {}},
            "registered_in_run_order": {"parameters": AnyOf(*moved)},
            "anatomy_other_names": {"parameters": renamed},
        }


class RunsInOrder(_OfTheChain):
    """The input goes through the steps in the given order."""

    def steps(self):
        return [_Affine(2.0, 1.0), _Affine(3.0, 10.0), _Affine(-1.0, 100.0)]

    def order(self, case):
        return case.shuffled("which", [[2, 0, 1], [1, 2, 0]])[0]

    def x(self, case):
        return torch.tensor([float(case.integer(name, 2, 20)) for name in ("first", "second")])

    def probe(self, nb, case):
        chain = nb.function("Chain")(self.steps(), self.order(case))
        return {"output": chain(self.x(case))}

    def truth(self, case):
        return {"output": _through(self.steps(), self.order(case), self.x(case))}

    def mistakes(self, case):
        steps, order, x = self.steps(), self.order(case), self.x(case)
        inverted = sorted(range(3), key=lambda number: order[number])
        several = Matches(lambda found: None if isinstance(found, list) else "one result", "a list")
        return {
            "returns_nothing": {"output": None},
            "given_order": {"output": _through(steps, range(3), x)},
            "anatomy_reversed_order": {"output": _through(steps, order[::-1], x)},
            "anatomy_inverted_order": {"output": _through(steps, inverted, x)},
            "anatomy_order_of_example": {"output": _through(steps, [1, 0], x)},
            "returns_too_early": {"output": _through(steps, order[:1], x)},
            "result_not_passed_on": {"output": AnyOf(_through(steps, order[-1:], x), sum(step(x) for step in steps))},
            "anatomy_all_results": {"output": several},
        }


check("container_order", StepsAreRegistered, RunsInOrder)


### BEGIN HIDDEN TESTS
class AnyOrderTwice(_OfTheChain):
    """A step may run twice or not at all, a chain may be called twice, and what it was given stays as it was."""

    blame = {
        "keeps the steps themselves": "copied_steps",
        "x after the call": "overwrites_input",
        "output of the second call": "consumes_order",
        "order after the calls": "anatomy_changes_callers_list",
        "len(steps) after the calls": "anatomy_changes_callers_list",
        "outputs of the steps in the list after the calls": "anatomy_changes_callers_list",
    }

    def order(self, case):
        """One step twice, one not at all."""
        return case.shuffled("order", [3, 1, 3, 0])

    def probe(self, nb, case):
        steps, order = _linear_steps(case, 4), self.order(case)
        handed_in = list(steps)
        chain = nb.function("Chain")(handed_in, order)
        x = case.tensor("x", 2, 3)
        first = chain(x)
        nb.function("Chain")(_linear_steps(case, 2), [0])  # another chain is nobody's business
        kept = {id(parameter) for parameter in chain.parameters()}
        return {
            "parameters": sorted(name for name, _ in chain.named_parameters()),
            "keeps the steps themselves": all(id(p) in kept for step in steps for p in step.parameters()),
            "x after the call": x,
            "output of the first call": first,
            "output of the second call": chain(case.tensor("another x", 5, 3)),
            "order after the calls": order,
            "len(steps) after the calls": len(handed_in),
            "values of the parameters": dict(chain.named_parameters()),
            "outputs of the steps in the list after the calls": [step(case.tensor("x", 2, 3)) for step in handed_in],
        }

    def truth(self, case):
        steps, order = _linear_steps(case, 4), self.order(case)
        return {
            "parameters": sorted(f"steps.{i}.{name}" for i in range(4) for name, _ in steps[i].named_parameters()),
            "keeps the steps themselves": True,
            "x after the call": case.tensor("x", 2, 3),
            "output of the first call": _through(steps, order, case.tensor("x", 2, 3)),
            "output of the second call": _through(steps, order, case.tensor("another x", 5, 3)),
            "order after the calls": order,
            "len(steps) after the calls": 4,
            "values of the parameters": {f"steps.{i}.{name}": p for i in range(4) for name, p in steps[i].named_parameters()},
            "outputs of the steps in the list after the calls": [step(case.tensor("x", 2, 3)) for step in steps],
        }

    def mistakes(self, case):
        steps, wanted = _linear_steps(case, 4), self.truth(case)
        once = _through(steps, dict.fromkeys(self.order(case)), case.tensor("x", 2, 3))
        return {
            "steps_dropped": {"parameters": [name for name in wanted["parameters"] if not name.startswith("steps.3")]},
            "step_used_once": {"output of the first call": once},
            "anatomy_kept_on_the_class": {
                "output of the second call": _through(steps, [0], case.tensor("another x", 5, 3))
            },
        }


class GradientsArrive(_OfTheChain):
    """Gradients reach every step that was used."""

    def probe(self, nb, case):
        steps = _linear_steps(case, 3)
        nb.function("Chain")(list(steps), [1, 2, 0])(case.tensor("x", 4, 3)).backward(case.tensor("upstream", 4, 3))
        return {f"gradient of steps[{i}].weight": step.weight.grad for i, step in enumerate(steps)}

    def truth(self, case):
        steps = _linear_steps(case, 3)
        _through(steps, [1, 2, 0], case.tensor("x", 4, 3)).backward(case.tensor("upstream", 4, 3))
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
# easy · 7 min · 2 points · a way in: `hint("linear_from_parameters")`
#
# Write `MyLinear(in_features, out_features)` yourself, with no `nn.Linear` inside and none as its base class:
#
# - two parameters of its own and nothing else: `weight` of shape `(out_features, in_features)` and `bias` of shape
#   `(out_features,)`, both filled with ones to start with (`torch.float32`);
# - `forward(x)` returns x · weightᵀ + bias, with the weight and the bias that the layer has at that moment. `x` has the shape
#   `(..., in_features)`: one row, a batch of rows, a batch of matrices. Gradients reach the weight, the bias and `x`.


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
import torch.nn as nn
import torch.nn.functional as F

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.probing import other_than
from course.traces import is_a


class _OfMyLinear(Check):
    """What all checks of MyLinear have in common: the errors that only one misconception brings."""

    errors = {
        r"NameError: name '(weight|bias)'": "anatomy_read_without_self",
        r"AttributeError: 'MyLinear' object has no attribute '(weight|bias)'": "attributes_missing",
        r"TypeError: descriptor '__init__' of 'super'": "init_forgotten",
        r"AttributeError: module '\S+' has no attribute": "anatomy_misspelt_method",
        r"TypeError: MyLinear\.\w+\(\) (takes|got|missing)": "anatomy_other_signature",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
        r"RuntimeError: Only Tensors of floating point": "anatomy_whole_numbers",
        r"RuntimeError: unsupported operation: more than one element": "anatomy_one_number_for_all",
        r"RuntimeError: The size of tensor a \(\d+\) must match the size of tensor b": "shapes_do_not_fit",
    }

    def layer(self, nb, case, *size):
        """The learner's layer with the case's values in its parameters."""
        layer = nb.function("MyLinear")(*size)
        with torch.no_grad():
            layer.weight.copy_(case.tensor("weight", size[1], size[0]))
            layer.bias.copy_(case.tensor("bias", size[1]))
        return layer


def _those(says, test):
    """For mistakes: parameters of which ``test`` says yes."""
    return {"parameters": Matches(lambda found: None if test(found) else "others", says)}


class HasParameters(_OfMyLinear):
    """`weight` and `bias` are registered parameters of the layer itself, with the right shapes, filled with ones."""

    claims = ("isinstance(layer, nn.Linear)",)  # asked with the interpreter's own isinstance
    blame = {
        "buffers": "anatomy_more_than_asked",
        "modules inside": "linear_inside",
        "isinstance(layer, nn.Linear)": "linear_inside",
    }

    def probe(self, nb, case):
        layer = nb.function("MyLinear")(*case.shape("size"))
        found = [name for name in ("weight", "bias") if hasattr(layer, name)]
        return {
            "attributes": ", ".join(found) or "none",
            "parameters": dict(layer.named_parameters()),
            "buffers": [name for name, _ in layer.named_buffers()],
            "modules inside": [f"{name}: {type(part).__name__}" for name, part in layer.named_modules() if name],
            "isinstance(layer, nn.Linear)": is_a(layer, nn.Linear),
            "parameters after load_state_dict": self.loaded(nb.function("MyLinear")(*case.shape("size")), case),
        }

    def loaded(self, layer, case):
        """The parameters, where a checkpoint of a weight and a bias is all that the layer needs."""
        try:
            nn.Module.load_state_dict(layer, self.saved(case))
            return {"weight": layer.weight, "bias": layer.bias}
        except Exception as error:  # told by what comes before
            return str(error)

    def saved(self, case):
        inside, outside = case.shape("size")
        return {"weight": case.tensor("weight", outside, inside), "bias": case.tensor("bias", outside)}

    def truth(self, case):
        inside, outside = case.shape("size")
        wanted = {"weight": torch.ones(outside, inside), "bias": torch.ones(outside)}
        return {
            "attributes": "weight, bias",
            "parameters": wanted,
            "buffers": [],
            "modules inside": [],
            "isinstance(layer, nn.Linear)": False,
            "parameters after load_state_dict": self.saved(case),
        }

    def mistakes(self, case):
        wanted = self.truth(case)["parameters"]
        weight, bias = wanted["weight"], wanted["bias"]

        def shapes(found):
            return [tuple(found[name].shape) for name in ("weight", "bias")] if set(found) == set(wanted) else []

        right = [tuple(weight.shape), tuple(bias.shape)]
        linear = Matches(lambda found: None if any("Linear" in one for one in found) else "no Linear", "a Linear")
        return {
            "linear_inside": {"modules inside": linear},
            "anatomy_other_names": {"attributes": "none", **_those("other names", bool)},
            "attributes_missing": {"attributes": other_than("weight, bias")},
            "sizes_of_example": {"parameters": {"weight": torch.ones(2, 3), "bias": torch.ones(2)}},
            "anatomy_not_a_parameter": {
                "attributes": "weight, bias",
                **_those("not both", lambda found: set(found) < set(wanted)),
            },
            "anatomy_more_than_asked": _those("more", lambda found: set(found) > set(wanted)),
            "weight_transposed": {"parameters": {"weight": weight.T, "bias": AnyOf(bias, weight[0])}},
            "anatomy_bias_shape": _those(
                "another bias", lambda found: shapes(found)[:1] == right[:1] and shapes(found) != right
            ),
            "anatomy_wrong_dtype": _those(
                "another dtype",
                lambda found: shapes(found) == right and {p.dtype for p in found.values()} != {"float32"},
            ),
            "wrong_start": _those("other values", lambda found: shapes(found) == right),
            "anatomy_one_number_for_all": {
                "parameters after load_state_dict": Matches(
                    lambda found: None if "more than one element" in found else "something else", "shared memory"
                )
            },
        }


class ComputesTheFormula(_OfMyLinear):
    """The output is x · weightᵀ + bias, whatever the values of the parameters."""

    def probe(self, nb, case):
        return {"output": self.layer(nb, case, 3, 4)(case.tensor("x", 2, 3))}

    def truth(self, case):
        x, weight, bias = case.tensor("x", 2, 3), case.tensor("weight", 4, 3), case.tensor("bias", 4)
        return {"output": F.linear(x, weight, bias)}

    def mistakes(self, case):
        x, weight, bias = case.tensor("x", 2, 3), case.tensor("weight", 4, 3), case.tensor("bias", 4)
        product, of_ones, ones = F.linear(x, weight), x.sum(1, keepdim=True), torch.ones(4)
        return {
            "returns_nothing": {"output": None},
            "bias_unused": {"output": product},
            "weight_reshaped": {"output": x @ weight.reshape(3, 4) + bias},
            "start_values_typed_in": {"output": AnyOf(of_ones + bias, of_ones + ones, product + ones)},
            "anatomy_other_formula": {"output": AnyOf(product * bias, product - bias, F.relu(product + bias))},
        }


check("linear_from_parameters", HasParameters, ComputesTheFormula)


### BEGIN HIDDEN TESTS
class AnyLeadingShape(_OfMyLinear):
    """`x` may be one row, a batch of rows, or a batch of matrices; forward uses the parameters that are there."""

    shapes = ((4,), (3, 5, 4), (1, 4))
    errors = {**_OfMyLinear.errors, r"(Runtime|Value|Index|Type)Error: ": "matrix_only"}
    blame = {f"output for x of shape {shape}": "matrix_only" for shape in ((4,), (3, 5, 4), (1, 4))}

    def probe(self, nb, case):
        layer = nb.function("MyLinear")(4, 2)
        layer.weight, layer.bias = nn.Parameter(case.tensor("weight", 2, 4)), nn.Parameter(case.tensor("bias", 2))
        return {f"output for x of shape {shape}": layer(case.tensor("x", *shape)) for shape in self.shapes}

    def with_parameters(self, case, weight, bias):
        return {f"output for x of shape {s}": F.linear(case.tensor("x", *s), weight, bias) for s in self.shapes}

    def truth(self, case):
        return self.with_parameters(case, case.tensor("weight", 2, 4), case.tensor("bias", 2))

    def mistakes(self, case):
        weight, bias, ones = case.tensor("weight", 2, 4), case.tensor("bias", 2), torch.ones(2, 4)
        old = [(ones, bias), (weight, ones[:, 0]), (ones, ones[:, 0])]
        return {"anatomy_kept_copy": AnyOf(*(self.with_parameters(case, *pair) for pair in old))}


class GradientsArrive(_OfMyLinear):
    """Gradients reach the weight, the bias and `x`."""

    blame = {"weight.grad": "gradient_cut", "bias.grad": "gradient_cut", "x.grad": "anatomy_input_cut"}

    def probe(self, nb, case):
        layer, x = self.layer(nb, case, 3, 2), case.tensor("x", 5, 3, requires_grad=True)
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
# medium · 8 min · 3 points · a way in: `hint("buffer_or_parameter")`
#
# `AudioFrame` prepares short pieces of sound, `n` samples each. Its `forward` is ready. In `__init__`, put each of the
# four things where it belongs, and register nothing else:
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
from course.compare import AnyOf, Close, Matches
from course.probing import ANYTHING, other_than

_NAMES = ("gain", "mean", "window", "rate")


class _OfTheFrame(Check):
    """What all checks of AudioFrame have in common: the errors that only one misconception brings."""

    errors = {
        r"TypeError: (Buffer\.__new__|\S*register_(buffer|parameter))\(\)": "anatomy_register_arguments",
        r"TypeError: (buffer|parameter) name should be a string": "anatomy_register_arguments",
        r"TypeError: cannot assign '(numpy|int|float|list)": "anatomy_no_tensor",
        r"AttributeError: '\S+' object has no attribute 'detach'": "anatomy_no_tensor",
        r"KeyError: .attribute '\w+' already exists": "anatomy_name_taken",
        r"AttributeError: 'AudioFrame' object has no attribute '(gain|mean|window|rate)'": "attributes_missing",
        r"AttributeError: 'AudioFrame' object has no attribute": "anatomy_misspelt_method",
        r"NameError: name '(gain|window)'": "anatomy_read_without_self",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
        r"AttributeError: module '\S+' has no attribute": "anatomy_misspelt_method",
        r"TypeError: AudioFrame\.\w+\(\) (takes|got|missing)": "anatomy_other_signature",
        r"RuntimeError: Only Tensors of floating point": "anatomy_whole_numbers",
    }


def _with(*names):
    """For mistakes: a list that holds one of these names."""
    return Matches(lambda found: None if set(names) & set(found) else "none of them", "one of them")


_of_another_dtype = Matches(
    lambda found: None if {one.dtype for one in found.values()} != {"float32"} else "float32", "another dtype"
)
"""For mistakes: tensors of which one is not of float32."""


class InTheRightPlace(_OfTheFrame):
    """Each of the four is registered as what it is: parameter, buffer, saved or not, plain attribute."""

    blame = {f"values {where}": "wrong_start" for where in ("of the parameters", "of the buffers", "in the state_dict")}

    def probe(self, nb, case):
        frame = nb.function("AudioFrame")(case.tensor("mean", 4), 8_000)
        return {
            "attributes": ", ".join(name for name in _NAMES if hasattr(frame, name)) or "none",
            "types": {name: type(getattr(frame, name, None)).__name__ for name in _NAMES},
            "parameters": sorted(name for name, _ in frame.named_parameters()),
            "buffers": sorted(name for name, _ in frame.named_buffers()),
            "state_dict": sorted(frame.state_dict()),
            "values of the parameters": dict(frame.named_parameters()),
            "values of the buffers": dict(frame.named_buffers()),
            "values in the state_dict": dict(frame.state_dict()),
        }

    def truth(self, case):
        gain, mean, window = torch.ones(1), case.tensor("mean", 4), Close(torch.hann_window(4), 1e-5, 1e-6)
        return {
            "attributes": ", ".join(_NAMES),
            "types": ANYTHING,
            "parameters": ["gain"],
            "buffers": ["mean", "window"],
            "state_dict": ["gain", "mean"],
            "values of the parameters": {"gain": gain},
            "values of the buffers": {"mean": mean, "window": window},
            "values in the state_dict": {"gain": gain, "mean": mean},
        }

    def mistakes(self, case):
        nothing = Matches(lambda types: None if "NoneType" in types.values() else "all there", "None")
        return {
            "attributes_missing": {"attributes": other_than(", ".join(_NAMES))},
            "anatomy_buffer_is_none": {"types": nothing},
            "setting_as_tensor": AnyOf({"buffers": _with("rate")}, {"parameters": _with("rate")}),
            "buffer_as_parameter": {"parameters": _with("mean", "window")},
            "parameter_as_buffer": {"buffers": _with("gain")},
            "anatomy_not_a_parameter": {"parameters": []},
            "plain_tensor": {"buffers": AnyOf([], ["mean"], ["window"])},
            "anatomy_more_than_asked": AnyOf(
                {"parameters": other_than(["gain"])}, {"buffers": other_than(["mean", "window"])}
            ),
            "saved_anyway": {"state_dict": ["gain", "mean", "window"]},
            "not_saved": {"state_dict": AnyOf(["gain"], ["gain", "window"])},
            "anatomy_wrong_dtype": {"values of the buffers": _of_another_dtype},
        }


class StartValues(_OfTheFrame):
    """The four have their start values, and after `.double()` all tensors are float64."""

    n = 4
    blame = {name: "wrong_start" for name in ("gain", "mean", "window", "rate")}

    def probe(self, nb, case):
        frame = nb.function("AudioFrame")(case.tensor("mean", self.n), case.integer("rate", 1_000, 99_000)).double()
        x = case.tensor("x", 3, self.n, dtype=torch.float64)
        return {**{name: getattr(frame, name) for name in _NAMES}, "output": frame(x)}

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
    errors = {
        **_OfTheFrame.errors,
        r"RuntimeError: The (size of tensor a|expanded size)": "sizes_of_example",
    }


class OnlyTheGainLearns(_OfTheFrame):
    """One step of an optimizer changes `gain`, and nothing else."""

    blame = {"window": "anatomy_wrong_dtype"}

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
# medium · 8 min · 3 points · a way in: `hint("traverse")`
#
# Write `inventory(model)`. It returns a dict with five entries. All names are dotted names, in the order in which the
# methods above give them. The model itself is not one of its parts, so a single layer has none. An object that stands at two
# places counts once.
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
    """What is in a model: its children, modules, leaves, parameters and buffers."""
    # TODO: return a dict with the five entries.
    ### BEGIN SOLUTION
    parts = [(name, module) for name, module in model.named_modules() if module is not model]
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in parts],
        "leaves": sum(1 for _, module in parts if not list(module.children())),
        "parameters": {name: tuple(tensor.shape) for name, tensor in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }
    ### END SOLUTION


inventory(TinyNet())

# %% nbgrader={"grade": true, "grade_id": "test_traverse", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch
import torch.nn as nn

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.evidence import TensorRecord, Unreadable

_FIVE = ("children", "modules", "leaves", "parameters", "buffers")


class _Pair(nn.Module):
    """Two modules under two names: a branch of the tree that is no container of PyTorch's."""

    def __init__(self, left, right):
        super().__init__()
        self.left, self.right = left, right


class _Nested(nn.Module):
    """Four levels, with the given names; ``shared`` is None or a module for two places."""

    def __init__(self, names, shared=None, bias=True):
        super().__init__()
        first, second, third, fourth = names
        body = nn.Sequential(nn.Linear(4, 5, bias=bias), nn.BatchNorm1d(5))
        self.add_module(first, nn.ModuleDict({third: _Pair(body, shared or nn.ReLU()), fourth: shared or nn.Tanh()}))
        self.add_module(second, _Pair(nn.Linear(5, 2), nn.Sequential(nn.Dropout())))
        self.register_parameter("gain", nn.Parameter(torch.ones(3), requires_grad=False))
        self.register_buffer("count", torch.zeros(2))


def _names(case):
    return sorted(case.words("names", 4), reverse=True)  # an inventory is in the model's order, not in the alphabet's


def _below(module):
    """(dotted name, module) of everything below, by the definition: each object once, None is nothing."""
    found, seen = [], {id(module)}

    def visit(one, prefix):
        for key, child in one._modules.items():
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                found.append((prefix + key, child))
                visit(child, f"{prefix}{key}.")

    visit(module, "")
    return found


def _registered(model, register):
    """(dotted name, tensor) of everything in this register of the model and below, each object once, None is nothing."""
    found = {}
    for name, part in [("", model), *_below(model)]:
        for key, value in getattr(part, register).items():
            if value is not None:
                found.setdefault(id(value), (f"{name}.{key}".lstrip("."), value))
    return list(found.values())


def _is_leaf(module):
    return all(child is None for child in module._modules.values())


def _says(test):
    """For mistakes: an entry, or the whole result, of which ``test`` says yes."""
    return Matches(lambda found: None if test(found) else "something else", "this mistake")


def _one_of(**entries):
    """For mistakes: one of these entries is as given, the others are not asked about."""
    return AnyOf(*({key: value} for key, value in entries.items()))


class FiveEntries(Check):
    """The five entries are right for a model with several levels."""

    claims = ("children", "modules", "leaves", "parameters", "buffers")  # the answer itself
    errors = {
        r"NameError: name '(net|shared|tiny|order|steps)'": "anatomy_notebooks_own_model",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
        r"TypeError: inventory\(\) (takes|got|missing)": "anatomy_other_signature",
    }

    def model(self, case):
        return _Nested(_names(case))

    def probe(self, nb, case):
        return nb.function("inventory")(self.model(case))

    def truth(self, case):
        model = self.model(case)
        parts = _below(model)
        return {
            "children": [name for name, _ in parts if "." not in name],
            "modules": [name for name, _ in parts],
            "leaves": sum(_is_leaf(part) for _, part in parts),
            "parameters": {name: tuple(value.shape) for name, value in _registered(model, "_parameters")},
            "buffers": [name for name, _ in _registered(model, "_buffers")],
        }

    def mistakes(self, case):
        model, wanted = self.model(case), self.truth(case)
        children, modules, leaves = wanted["children"], wanted["modules"], wanted["leaves"]
        parameters, buffers = wanted["parameters"], wanted["buffers"]
        below = [part for _, part in _below(model)]
        kinds = [type(part).__name__ for part in below]
        containers = (nn.Sequential, nn.ModuleList, nn.ModuleDict)

        def last(names):
            return [name.rpartition(".")[2] for name in names]

        def other_order(names):
            return _says(lambda found: sorted(found) == sorted(names))

        lists = {
            key: _says(lambda found: isinstance(found, (dict, str, Unreadable)))
            for key in ("children", "modules", "buffers")
        }
        not_names = _says(lambda found: not all(isinstance(one, str) for one in found))
        return {
            "returns_nothing": None,
            "anatomy_entry_missing": _says(lambda found: isinstance(found, dict) and set(found) != set(_FIVE)),
            "anatomy_not_a_dict": _says(lambda found: not isinstance(found, dict)),
            "anatomy_notebooks_own_model": {"children": ["features", "heads"]},
            "iterator_not_list": _one_of(**lists),
            "anatomy_modules_for_names": AnyOf(
                *({key: not_names} for key in ("children", "modules", "buffers")),
                {"modules": AnyOf(kinds, [type(model).__name__, *kinds])},
            ),
            "counts_root": AnyOf(
                {"modules": _says(lambda found: "" in found)},
                {"children": _says(lambda found: "" in found)},
                {"children": children, "modules": modules, "leaves": leaves + 1},
            ),
            "anatomy_kept_between_calls": {"children": _says(lambda found: len(found) > 2 and found[-2:] == children)},
            "anatomy_looks_among_attributes": _one_of(children=[], modules=[], buffers=[]),
            "children_for_modules": {
                "modules": AnyOf(children, children + [name for name in modules if name.count(".") == 1])
            },
            "modules_for_children": {"children": AnyOf(modules, ["", *modules])},
            "name_without_path": AnyOf(
                {"modules": _says(lambda found: sorted(found) == sorted(last(modules)))},
                {"parameters": {name.rpartition(".")[2]: shape for name, shape in parameters.items()}},
                {"buffers": last(buffers)},
            ),
            "anatomy_another_order": _one_of(
                children=other_order(children), modules=other_order(modules), buffers=other_order(buffers)
            ),
            "anatomy_list_for_number": {"leaves": _says(lambda found: isinstance(found, list))},
            "counts_branches": {"leaves": len(modules)},
            "anatomy_containers_for_branches": {"leaves": sum(not isinstance(part, containers) for part in below)},
            "anatomy_leaves_with_parameters": {
                "leaves": AnyOf(
                    sum(_is_leaf(part) and any(True for _ in part.parameters()) for part in below),
                    sum(any(True for _ in part.parameters(recurse=False)) for part in model.modules()),
                )
            },
            "anatomy_leaves_by_name": {"leaves": sum("." in name for name in modules)},
            "frozen_left_out": {"parameters": {name: shape for name, shape in parameters.items() if name != "gain"}},
            "size_not_shape": {
                "parameters": AnyOf(
                    {name: p.numel() for name, p in model.named_parameters()},
                    {name: [p.numel()] for name, p in model.named_parameters()},
                )
            },
            "anatomy_frozen_as_buffer": {"buffers": _says(lambda found: "gain" in found)},
            "anatomy_buffers_among_parameters": {"parameters": _says(lambda found: "count" in found)},
            "anatomy_parameters_in_another_form": {
                "parameters": _says(
                    lambda found: (
                        not isinstance(found, dict)
                        or any(isinstance(shape, (str, TensorRecord)) for shape in found.values())
                    )
                )
            },
            "own_only": AnyOf(
                {"leaves": AnyOf(sum(_is_leaf(child) for child in model.children()), len(children))},
                {"parameters": {"gain": (3,)}},
                {"buffers": ["count"]},
            ),
        }


check("traverse", FiveEntries)


### BEGIN HIDDEN TESTS
class SharedModule(FiveEntries):
    """A module, or a parameter, that stands at two places counts once, under its first name."""

    def model(self, case):
        model = _Nested(_names(case), shared=nn.Sequential(nn.PReLU(), nn.BatchNorm1d(5)))
        linear, norm = model.get_submodule(f"{_names(case)[0]}.{_names(case)[2]}.left")
        norm.bias = linear.bias
        return model

    def mistakes(self, case):
        model = self.model(case)
        places = dict(model.named_modules(remove_duplicate=False))
        return {
            "counts_twice": _one_of(
                modules=list(places)[1:],
                leaves=sum(_is_leaf(part) for part in places.values()),
                parameters=_says(lambda found: len(found) > len(dict(model.named_parameters()))),
                buffers=[name for name, _ in model.named_buffers(remove_duplicate=False)],
            ),
        }


class EmptyAndUnsaved(FiveEntries):
    """An empty place is not listed; a buffer that is not saved is."""

    errors = {**FiveEntries.errors, r"AttributeError: 'NoneType' object": "absent_is_none"}
    blame = {"buffers": "unsaved_buffers_missing"}

    def model(self, case):
        model = _Nested(_names(case), bias=False)
        model.register_buffer("cache", torch.ones(1), persistent=False)
        model.register_buffer("later", None)
        model.register_module("unused", None)
        model.get_submodule(_names(case)[1]).left.register_module("unused", None)
        return model

    def mistakes(self, case):
        wanted = self.truth(case)
        return {
            "absent_is_none": _one_of(
                children=[*wanted["children"], "unused"],
                modules=_says(lambda found: any(name.endswith("unused") for name in found)),
                leaves=wanted["leaves"] - 1,
                buffers=_says(lambda found: "later" in found),
            )
        }


class OneLayer(FiveEntries):
    """A single layer has no parts: it has no children, no modules below it, and no leaves."""

    def model(self, case):
        return nn.BatchNorm1d(case.integer("size", 2, 9))

    def mistakes(self, case):
        return {"counts_root": _one_of(leaves=1, modules=[""])}


check("traverse", EmptyAndUnsaved, SharedModule, OneLayer)
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
# medium · 10 min · 3 points · a way in: `hint("swap_submodules")`
#
# Write `swap_relu(model)`. It changes the model itself and returns it. Afterwards an `nn.Tanh` stands at every place, at any
# depth, where an `nn.ReLU` stood. A ReLU that stands at two places is replaced at both. Each Tanh is in the mode (training
# or eval) of the ReLU that it replaces. Everything else stays as it was. (The model itself is not a ReLU.)


# %% nbgrader={"grade": false, "grade_id": "swap_submodules", "locked": false, "schema_version": 3, "solution": true, "task": false}
def swap_relu(model: nn.Module) -> nn.Module:
    """Put an nn.Tanh at every place where an nn.ReLU stands, and return the model."""
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
from course.compare import Matches
from course.probing import ANYTHING, other_than
from course.traces import as_before, gradients_from, what_runs


class _ActBlock(nn.Module):
    """Two layers, each with an activation after it."""

    def __init__(self, first, second):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), first, nn.LeakyReLU())
        self.linear = nn.Linear(3, 3)
        self.act = second

    def forward(self, x):
        return self.act(self.linear(self.inner(x)))


class _ActNet(nn.Module):
    """Activations on three levels. ``kind`` makes them; ``shared`` puts one object at two places."""

    def __init__(self, kind, shared=False):
        super().__init__()
        one = kind()
        self.stem = nn.Linear(3, 3)
        self.act = kind()
        self.last = self.act if shared else kind()
        self.blocks = nn.ModuleList([_ActBlock(one, kind()), _ActBlock(one if shared else kind(), nn.PReLU())])
        self.stem.bias.requires_grad_(False)

    def forward(self, x):
        x = self.act(self.stem(x))
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def _places(model):
    """What stands where below the model: 'blocks.0.act: Tanh'."""
    return [
        f"{name}: {'Tanh' if isinstance(module, nn.Tanh) else type(module).__name__.lstrip('_')}"
        for name, module in model.named_modules(remove_duplicate=False)
        if name
    ]


class _OfTheSwap(Check):
    """What all checks of swap_relu have in common: the errors that only one misconception brings."""

    errors = {
        r"TypeError: cannot assign 'torch\.nn\.modules\.": "anatomy_class_for_module",
        r"ValueError: .module. is not an nn.Module, found <class 'type'>": "anatomy_class_for_module",
        r"ValueError: .module. is not an nn.Module": "function_for_module",
        r"ValueError: (not enough|too many) values to unpack": "anatomy_parent_not_found",
        r"AttributeError: '\w+' object has no attribute '(|[\w.]*\.[\w.]*|\d+)'": "anatomy_parent_not_found",
        r"AttributeError: .* has no attribute `": "anatomy_parent_not_found",
        r"ValueError: Cannot set the submodule without a target": "anatomy_root_has_no_parent",
        r"RuntimeError: (OrderedDict mutated|dictionary)": "anatomy_changed_while_walking",
        r"KeyError: .module name can.?.?t contain": "dotted_setattr",
        r"(ValueError: invalid literal for int|TypeError: 'str' object cannot be inter)": "anatomy_parent_not_found",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
        r"AttributeError: module '\S+' has no attribute": "anatomy_misspelt_method",
        r"TypeError: swap_relu\(\) (takes|got|missing)": "anatomy_other_signature",
    }

    def runs(self, model, case):
        return what_runs(model, case, lambda: model(case.tensor("another x", 4, 3)))

    def with_another_tanh(self, model, case):
        """What only a real nn.Tanh takes part in: its class computes something else meanwhile."""
        before, scale = nn.Tanh.forward, case.tensor("scale", 3)
        nn.Tanh.forward = lambda self, x: x * scale
        try:
            return model(case.tensor("x", 4, 3))
        finally:
            nn.Tanh.forward = before


class EveryReluReplaced(_OfTheSwap):
    """Every ReLU, at any depth, is replaced in the model itself; nothing else is."""

    claims = ("the returned value",)  # `is` belongs to the language
    blame = {
        "the returned value": "copied_model",
        "everything else is kept": "anatomy_changes_the_rest",
        "output": "anatomy_changes_the_rest",
    }

    def probe(self, nb, case):
        model = case.build("net", _ActNet, nn.ReLU)
        kept = [id(part) for part in model.modules() if type(part) is not nn.ReLU] + [id(p) for p in model.parameters()]
        returned = nb.function("swap_relu")(model)
        after = {id(part) for part in model.modules()} | {id(p) for p in model.parameters()}
        return {
            "places": _places(model),
            "the returned value": "nothing"
            if returned is None
            else "the model"
            if returned is model
            else "something else",
            "everything else is kept": all(one in after for one in kept),
            "parameters that need a gradient": [name for name, p in model.named_parameters() if p.requires_grad],
            "output": model(case.tensor("x", 4, 3)),
            "output where every Tanh computes something else": self.with_another_tanh(model, case),
            "parameter.grad": gradients_from([model(case.tensor("x", 4, 3))], model, case),
        }

    def truth(self, case):
        model = case.build("net", _ActNet, nn.Tanh)
        return {
            "places": _places(model),
            "the returned value": "the model",
            "everything else is kept": True,
            "parameters that need a gradient": [name for name, p in model.named_parameters() if p.requires_grad],
            "output": model(case.tensor("x", 4, 3)),
            "output where every Tanh computes something else": self.with_another_tanh(model, case),
            "parameter.grad": gradients_from([model(case.tensor("x", 4, 3))], model, case),
        }

    def mistakes(self, case):
        wanted, untouched = self.truth(case)["places"], _places(_ActNet(nn.ReLU))
        children, named_act, dotted, names = (_ActNet(nn.ReLU) for _ in range(4))
        children.act, children.last = nn.Tanh(), nn.Tanh()
        for part in (named_act, *named_act.blocks):
            part.act = nn.Tanh()
        for name, part in list(dotted.named_modules()):
            if isinstance(part, nn.ReLU):
                setattr(dotted, name, nn.Tanh())
        for name, part in list(names.named_modules()):
            if "ReLU" in type(part).__name__:
                names.set_submodule(name, nn.Tanh())

        def says(test):
            return {"places": Matches(lambda found: None if test(found) else "something else", "this mistake")}

        def only_the_first(found):
            return len(found) == len(wanted) and [f != u for f, u in zip(found, untouched)].count(True) == 1

        def another_class(found):
            kinds = {f.partition(": ")[2] for f, u in zip(found, untouched) if u.endswith(": ReLU")}
            same = all(f == u for f, u in zip(found, untouched) if not u.endswith(": ReLU"))
            return len(found) == len(wanted) and same and not kinds & {"ReLU", "Tanh"}

        return {
            "not_started": {"places": untouched, "the returned value": "nothing"},
            "copied_model": {"places": untouched, "the returned value": "something else"},
            "rebinds_name": {"places": untouched, "the returned value": "the model"},
            "first_level_only": {"places": _places(children)},
            "anatomy_by_attribute_name": {"places": _places(named_act)},
            "dotted_setattr": {"places": _places(dotted)},
            "by_class_name": {"places": _places(names)},
            "returns_too_early": says(only_the_first),
            "anatomy_wrapped_not_replaced": says(lambda found: len(found) > len(wanted)),
            "anatomy_moved_to_the_end": says(lambda found: sorted(found) == sorted(wanted)),
            "anatomy_another_class": says(another_class),
            "returns_nothing": {"places": wanted, "the returned value": "nothing"},
            "anatomy_changes_the_rest": {
                "parameters that need a gradient": other_than(self.truth(case)["parameters that need a gradient"])
            },
        }


check("swap_submodules", EveryReluReplaced)


### BEGIN HIDDEN TESTS
class SharedPlaces(_OfTheSwap):
    """A ReLU that stands at two places is replaced at both."""

    blame = {"places": "shared_place_missed"}

    def probe(self, nb, case):
        model = case.build("net", _ActNet, nn.ReLU, shared=True)
        nb.function("swap_relu")(model)
        return self.brought(model, case)

    def truth(self, case):
        return self.brought(case.build("net", _ActNet, nn.Tanh, shared=True), case)

    def brought(self, model, case):
        return {
            "places": _places(model),
            "output": model(case.tensor("x", 4, 3)),
            "output where every Tanh computes something else": self.with_another_tanh(model, case),
        }


class ModeKept(_OfTheSwap):
    """Each Tanh is in the mode of the ReLU that it replaces, whatever the mode of the modules around it."""

    blame = {"training": "mode_lost"}

    def mixed(self, model):
        """In eval mode but for one activation of its own, and one block but for the activation in it."""
        model.eval()
        model.act.train()
        model.blocks[0].train()
        model.blocks[0].inner[1].eval()
        return model

    def modes(self, model):
        return {name: part.training for name, part in model.named_modules(remove_duplicate=False)}

    def probe(self, nb, case):
        model = self.mixed(case.build("net", _ActNet, nn.ReLU))
        nb.function("swap_relu")(model)
        made = {id(part) for part in model.modules() if isinstance(part, nn.Tanh)}
        return {
            "different Tanh objects": len(made),
            "training": self.modes(model),
            "what runs": self.runs(model, case),
        }

    def truth(self, case):
        model = self.mixed(case.build("net", _ActNet, nn.Tanh))
        runs = as_before(self.runs(model, case))
        return {"different Tanh objects": ANYTHING, "training": self.modes(model), "what runs": runs}

    def mistakes(self, case):
        return {"anatomy_one_for_all": {"different Tanh objects": 1}}


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
# easy · 4 min · 2 points · a way in: `hint("extra_repr")`
#
# Write `extra_repr` for `Clip`, so that `print(Clip(-1, 2))` shows `Clip(low=-1, high=2)`. It shows the limits that this
# Clip has at the moment it is printed. Where a Clip stands in a model, or has submodules itself, print still shows the tree.
# The rest of the class stays as it is.


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
import torch
import torch.nn as nn

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.probing import ANYTHING


def _limits(case):
    return -case.integer("low", 3, 99) - 0.5, case.integer("high", 3, 99)


class _OfTheClip(Check):
    """What all checks of Clip have in common: the errors that only one misconception brings."""

    errors = {
        r"TypeError: \S*extra_repr\(\) (takes 0|missing 1)": "anatomy_method_without_self",
        r"NameError: name '(low|high)'": "anatomy_read_without_self",
        r"AttributeError: '(tuple|list|dict|set)' object has no attribute 'split'": "repr_not_text",
        r"RecursionError": "repr_asks_itself",
        r"AttributeError: 'Clip' object has no attribute": "attributes_missing",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
        r"TypeError: Clip\.\w+\(\) (takes|got|missing)": "anatomy_other_signature",
    }

    def clip(self, nb, case):
        return nb.function("Clip")(*_limits(case))


class ShowsLimits(_OfTheClip):
    """`repr` of a Clip shows its class and its two limits."""

    def probe(self, nb, case):
        clip = self.clip(nb, case)
        is_method = callable(clip.extra_repr)
        inherited = getattr(clip.extra_repr, "__func__", None) is nn.Module.extra_repr
        return {
            "callable(clip.extra_repr)": is_method,
            "clip.extra_repr is that of nn.Module": inherited,
            "repr(clip)": repr(clip) if is_method else None,
        }

    def truth(self, case):
        low, high = _limits(case)
        return {
            "callable(clip.extra_repr)": True,
            "clip.extra_repr is that of nn.Module": ANYTHING,
            "repr(clip)": f"Clip(low={low}, high={high})",
        }

    def mistakes(self, case):
        text, (low, high) = self.truth(case)["repr(clip)"], _limits(case)

        def says(test):
            return {"repr(clip)": Matches(lambda found: None if test(found) else "something else", "this mistake")}

        def numbers_there(found):
            return str(low) in found and str(high) in found

        return {
            "repr_not_method": {"callable(clip.extra_repr)": False},
            "repr_misnamed": {"clip.extra_repr is that of nn.Module": True, **says(lambda found: found != text)},
            "repr_nothing": {"repr(clip)": "Clip()"},
            "repr_with_name": {"repr(clip)": AnyOf(f"Clip({text})", f"Clip{text[4:-1]}))", f"Clip({text[4:]})")},
            "repr_not_filled_in": says(lambda found: "{" in found),
            "repr_hard_coded": {"repr(clip)": "Clip(low=-1, high=2)"},
            "repr_limits_swapped": {"repr(clip)": f"Clip(low={high}, high={low})"},
            "repr_incomplete": {"repr(clip)": AnyOf(f"Clip(low={low})", f"Clip(high={high})")},
            "repr_without_names": says(
                lambda found: numbers_there(found) and "low" not in found and "high" not in found
            ),
            "repr_rounded": says(lambda found: found.startswith(f"Clip(low={int(low)}") and found != text),
            "repr_other_spelling": says(numbers_there),
        }


check("extra_repr", ShowsLimits)


### BEGIN HIDDEN TESTS
class TreeStays(_OfTheClip):
    """Within a model, and with a submodule of its own, each Clip shows its own limits and its place in the tree."""

    blame = {"repr(model)": "repr_overridden"}

    def probe(self, nb, case):
        outer, inner = nb.function("Clip")(*_limits(case)), nb.function("Clip")(0, 1)
        outer.add_module("inner", inner)
        return {"repr(model)": repr(nn.Sequential(nn.ReLU(), outer, nn.Tanh()))}

    def drawn(self, outer, inner):
        class Clip(nn.Module):
            def __init__(self, limits):
                super().__init__()
                self.limits = limits

            def extra_repr(self):
                return "low={}, high={}".format(*self.limits)

        clip = Clip(outer)
        clip.add_module("inner", Clip(inner))
        return {"repr(model)": repr(nn.Sequential(nn.ReLU(), clip, nn.Tanh()))}

    def truth(self, case):
        return self.drawn(_limits(case), (0, 1))

    def mistakes(self, case):
        return {"anatomy_kept_on_the_class": self.drawn((0, 1), (0, 1))}


class ShowsTheMoment(_OfTheClip):
    """After a limit has changed, the new one is shown, and used."""

    blame = {"repr(clip) after the change": "repr_frozen", "clip(x)": "anatomy_changes_the_rest"}

    def probe(self, nb, case):
        clip = nb.function("Clip")(0, 1)
        before = repr(clip)
        clip.low, clip.high = self.later(case)
        return {
            "repr(clip)": before,
            "repr(clip) after the change": repr(clip),
            "clip(x)": clip(case.tensor("x", 3, 4)),
        }

    def truth(self, case):
        return {
            "repr(clip)": "Clip(low=0, high=1)",
            "repr(clip) after the change": "Clip(low={}, high={})".format(*self.later(case)),
            "clip(x)": torch.clamp(case.tensor("x", 3, 4), *self.later(case)),
        }

    def later(self, case):
        """Limits within the numbers that x may hold."""
        return -case.integer("later low", 6, 19) / 10, case.integer("later high", 6, 19) / 10


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
# hard · 12 min · 5 points · a way in: `hint("parameter_from_outside")`
#
# Training has begun, and the optimizer is there. Write `add_offset(model, size, optimizer)`:
#
# - it gives the model a new parameter `offset`: zeros, shape `(size,)`, `torch.float32`, registered under that name;
# - from then on the given `optimizer` trains it too, with the settings that the optimizer was built with;
# - all other parameters are trained on as if nothing had happened: their values, gradients and momentum stay.
#
# The function returns nothing, and leaves `forward` and the model's output alone: the check adds `model.offset` to the
# output itself.


# %% nbgrader={"grade": false, "grade_id": "parameter_from_outside", "locked": false, "schema_version": 3, "solution": true, "task": false}
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    """Give the model a parameter `offset`, zeros of shape (size,), for the optimizer to train."""
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
from course.probing import ANYTHING, other_than


def _sgd(parameters, case):
    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9)


def _train_step(model, offset, optimizers, case, name):
    """One step of training on data called ``name``; the offset, where there is one, is added to the output."""
    output = model(case.tensor(f"x {name}", 5, 3))
    loss = ((output if offset is None else output + offset) * case.tensor(f"upstream {name}", 5, 2)).sum()
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()


def _trained_by_learner(nb, case, make):
    """A model after one step without the offset and two steps with it, its optimizer, and a gradient in between."""
    model = case.build("model", nn.Linear, 3, 2)
    optimizer = make(model.parameters(), case)
    _train_step(model, None, [optimizer], case, "one")
    nb.function("add_offset")(model, 2, optimizer)
    gradient = None if model.weight.grad is None else model.weight.grad.clone()
    for name in ("two", "three"):
        _train_step(model, model.offset, [optimizer], case, name)
    return model, optimizer, gradient


def _trained_apart(case, make, times=1, extra_step=False):
    """The same, by an optimizer for the old parameters and another, of the same kind, for the offset.

    The options are mistakes: the offset is added more than once; one step more is made.
    """
    model = case.build("model", nn.Linear, 3, 2)
    offset = nn.Parameter(torch.zeros(2))
    old, new = make(model.parameters(), case), make([offset], case)
    _train_step(model, None, [old], case, "one")
    gradient = model.weight.grad.clone()
    if extra_step:
        old.step()
    for name in ("two", "three"):
        _train_step(model, times * offset, [old, new], case, name)
    return model, offset, gradient


class _OfTheOffset(Check):
    """What all checks of add_offset have in common: the errors that only one misconception brings."""

    errors = {
        r"TypeError: param_group must be a dict": "anatomy_group_in_another_form",
        r"TypeError: optimizer can only optimize Tensors": "anatomy_group_in_another_form",
        r"ValueError: can't optimize a non-leaf": "optimizer_does_not_know",
        r"ValueError: loaded state dict": "group_replaced",
        r"KeyError: '(lr|momentum|weight_decay|maximize|foreach|fused|betas)'": "anatomy_group_without_settings",
        r"TypeError: (parameter|buffer) name should be a string": "anatomy_register_arguments",
        r"AttributeError: 'Linear' object has no attribute 'offset'": "attributes_missing",
        r"KeyError: .attribute 'offset' already exists": "anatomy_name_taken",
        r"RuntimeError: Only Tensors of floating point": "anatomy_whole_numbers",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
        r"AttributeError: module '\S+' has no attribute": "anatomy_misspelt_method",
        r"TypeError: add_offset\(\) (takes|got|missing)": "anatomy_other_signature",
    }


class OffsetIsRegistered(_OfTheOffset):
    """The model has a parameter `offset`: zeros, of the given size, which needs a gradient."""

    blame = {"isinstance(model.offset, Parameter)": "unregistered_from_outside"}

    def probe(self, nb, case):
        size = case.integer("size", 3, 9)
        model = self.model(case)
        nb.function("add_offset")(model, size, torch.optim.SGD(model.parameters(), lr=0.1))
        offset = getattr(model, "offset", None)
        return {
            "model.offset": offset,
            "parameters": sorted(name for name, _ in model.named_parameters()),
            "offset.requires_grad": getattr(offset, "requires_grad", None),
            "isinstance(model.offset, Parameter)": isinstance(offset, nn.Parameter),
            "values of the parameters": dict(model.named_parameters()),
            "offset, asked for what only a Parameter has": self.asked_as_parameter(offset, case),
        }

    def asked_as_parameter(self, offset, case):
        """What only a real Parameter has: its class has a method more meanwhile."""
        nn.Parameter.in_this_check = lambda self: self.detach() + case.tensor("only a Parameter", *self.shape)
        try:
            return offset.in_this_check()
        except AttributeError:
            return None
        finally:
            del nn.Parameter.in_this_check

    def model(self, case):
        return case.build("model", lambda: nn.Sequential(nn.Linear(3, case.integer("size", 3, 9)), nn.ReLU()))

    def truth(self, case):
        offset = torch.zeros(case.integer("size", 3, 9))
        return {
            "model.offset": torch.zeros(case.integer("size", 3, 9)),
            "parameters": ["0.bias", "0.weight", "offset"],
            "offset.requires_grad": True,
            "isinstance(model.offset, Parameter)": True,
            "values of the parameters": {"offset": offset, **dict(self.model(case).named_parameters())},
            "offset, asked for what only a Parameter has": case.tensor("only a Parameter", *offset.shape),
        }

    def mistakes(self, case):
        size = case.integer("size", 3, 9)

        def says(test):
            return {"model.offset": Matches(lambda found: None if test(found) else "something else", "this mistake")}

        return {
            "attributes_missing": {"model.offset": None, "parameters": ["0.bias", "0.weight"]},
            "anatomy_other_names": {"model.offset": None},
            "sizes_of_example": {"model.offset": torch.zeros(2)},
            "offset_shape": says(lambda found: found.shape != (size,)),
            "anatomy_wrong_dtype": says(lambda found: found.dtype != "float32"),
            "wrong_start": {"model.offset": other_than(torch.zeros(size))},
            "unregistered_from_outside": {"parameters": ["0.bias", "0.weight"]},
            "gradient_cut": {"parameters": ["0.bias", "0.weight", "offset"], "offset.requires_grad": False},
        }


class JoinsTheTraining(_OfTheOffset):
    """The optimizer that was there before trains `offset`."""

    blame = {"model.offset": "anatomy_settings_typed_in"}

    def probe(self, nb, case):
        return {"model.offset": _trained_by_learner(nb, case, _sgd)[0].offset}

    def truth(self, case):
        return {"model.offset": _trained_apart(case, _sgd)[1]}

    def mistakes(self, case):
        return {
            "optimizer_does_not_know": {"model.offset": torch.zeros(2)},
            "offset_used_twice": {"model.offset": _trained_apart(case, _sgd, times=2)[1]},
        }


check("parameter_from_outside", OffsetIsRegistered, JoinsTheTraining)


### BEGIN HIDDEN TESTS
class OthersGoOn(_OfTheOffset):
    """The other parameters are trained on as if nothing had happened: values, gradients and momentum stay."""

    blame = {
        "model.weight": "group_replaced",
        "model.bias": "group_replaced",
        "model.weight.grad after the call": "anatomy_gradients_thrown_away",
    }

    def probe(self, nb, case):
        model, optimizer, gradient = _trained_by_learner(nb, case, _sgd)
        held = [id(p) for group in optimizer.param_groups for p in group["params"]]
        return {
            "model.weight": model.weight,
            "model.bias": model.bias,
            "model.weight.grad after the call": gradient,
            "times the optimizer holds model.weight": held.count(id(model.weight)),
        }

    def truth(self, case):
        model, _, gradient = _trained_apart(case, _sgd)
        return {
            "model.weight": model.weight,
            "model.bias": model.bias,
            "model.weight.grad after the call": gradient,
            "times the optimizer holds model.weight": ANYTHING,
        }

    def mistakes(self, case):
        return {
            "parameter_in_two_groups": {"times the optimizer holds model.weight": 2},
            "anatomy_one_step_more": {"model.weight": _trained_apart(case, _sgd, extra_step=True)[0].weight},
        }


def _another(parameters, case):
    return torch.optim.AdamW(parameters, lr=case.integer("lr", 2, 9) / 100, weight_decay=0.5)


class AnotherOptimizer(_OfTheOffset):
    """The same with another optimizer and another learning rate."""

    blame = {"model.offset": "anatomy_settings_typed_in"}

    def probe(self, nb, case):
        return {"model.offset": _trained_by_learner(nb, case, _another)[0].offset}

    def truth(self, case):
        return {"model.offset": _trained_apart(case, _another)[1]}


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
            tracked = [one for one in items if isinstance(one, (nn.Module, torch.Tensor))]
            if key not in internal and any(id(one) not in known for one in tracked):
                found.append(f"{name}.{key}" if name else key)
    return found


model = TinyNet()
model.extra = [nn.Linear(8, 8), nn.Linear(8, 8)]
model.features.mask = torch.ones(8)
print(find_unregistered(model))

# %% [markdown]
# ### In your own words: The layers that nobody missed
#
# 5 min · 2 points
#
# A colleague keeps two layers of her network in a plain python list, and a third one, `head`, in an attribute. `forward`
# goes through all three. She builds the optimizer from `net.parameters()`, trains, and the loss falls. "So it works," she
# says. "And if PyTorch did not know my layers, they would get no gradient. But look: `net.layers[0].weight.grad` is full of
# numbers."
#
# She is right about the gradient. How can a layer have a gradient and still not learn, why does the loss fall nevertheless,
# and what will she find when she saves the model and loads it into a new one?
#
# To answer, double-click the text below, write, and press Shift+Enter. Where this notebook is handed in, a person reads your
# answer. No check looks at it, and `progress()` does not count it.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_plain_list", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# Autograd follows the computation: whatever tensor with `requires_grad` took part in `forward` gets a gradient, registered
# or not. The optimizer knows only what `parameters()` listed when it was built, and that is what the register of the module
# holds. A list is not looked into, so the two layers are never stepped (their gradients are not even zeroed, they pile up).
# The loss falls because `head` learns on top of two random layers. `state_dict()` holds `head` alone: the loaded model has
# other random layers in the list, no error is raised, and its results are wrong.
#
# ### BEGIN MARK SCHEME
# - 2 points: says that autograd (what was computed) and the register (what was assigned to attributes) are two different
#   things, **and** that the optimizer or the file only knows the second. The loss falls because of `head`.
# - 1 point: one of the two halves, or only the remedy ("use a ModuleList") with a true reason.
# - Common wrong explanations, 0 points for that part: the layers get no gradient; the graph is cut by the list; the layers
#   learn, but slowly; loading raises an error about missing keys (nothing is missing: the names were never there).
# ### END MARK SCHEME
# ### END SOLUTION

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

# %%
progress()
