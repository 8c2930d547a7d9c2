# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Look inside a model that nobody lets you edit
#
# - **You will do** this: wrap a finished ResNet-18 so that it tells the shape of every step, then write `FeatureExt`,
#   which returns the output of any layer you name. You see what spoils such features, and leave with a small recorder
#   for your own work.
# - **You will learn** how to watch a model from outside with forward hooks; how nested layers are named; why a kept
#   tensor can change after the hook has ended; how hooks pile up, and how to be sure that they are gone; when
#   torchvision's `create_feature_extractor` is the better tool.
# - **You need** lesson 03: what a forward hook gets, and what happens to the value it returns.
# - **Time** about 45 minutes, two exercises, 5 points.
# - **Out of scope** training on the features, gradients of the features.
#
# <!-- grading limits -->

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
from contextlib import contextmanager
from functools import partial

import course  # first: it makes torchvision importable beside a CPU-only torch
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter
from torchvision.models import ResNet18_Weights, resnet18
from torchvision.models.feature_extraction import create_feature_extractor

# %% [markdown]
# ## The model and the picture
#
# ResNet-18 classifies photographs. You get it as a class from a library: you can run it, but its `forward` is not yours to edit.
# Without a network it comes with random weights. That is enough here: hooks do not care what the weights are.

# %%
from course.data import picture
from course.pictures.feature_maps import draw_clobber, draw_feature_maps
from course.sources import show_source

PRETRAINED = False  # True downloads 45 MB of trained weights, once

torch.manual_seed(0)
net = resnet18(weights=ResNet18_Weights.DEFAULT if PRETRAINED else None).eval()

mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])  # what ResNet-18 was trained with
x = (picture("flower", 96) - mean[:, None, None]) / std[:, None, None]

with torch.no_grad():
    output = net(x)
print("in", tuple(x.shape), "   out", tuple(output.shape))

# %% [markdown]
# 1,000 numbers come out. What happened in between? Somebody has written a tool that answers this, so let us see the aim first.
# Each row is a layer, each small picture one channel of its output: white is 0, red is positive, blue is negative.

# %%
with torch.no_grad():
    steps = create_feature_extractor(net, ["conv1", "layer1", "layer2", "layer3"])(x)
draw_feature_maps(steps, title="One flower on its way through ResNet-18")

# %% [markdown]
# The deeper the layer, the smaller the maps, and the more of them. In this lesson you build such a tool yourself, with hooks.
# Then you know what it does, and you can use it where torchvision's tool cannot go.
#
# ## The children are not the model
#
# Why hooks at all? Why not run the children one after another, and look at each result? Try it.

# %%
step = x
try:
    for name, child in net.named_children():
        step = child(step)
        print(f"{name:8} {tuple(step.shape)}")
except RuntimeError as error:
    print("stopped at", name, "-", error)

# %% [markdown]
# `named_children()` tells which layers the model *has*. Only `forward` tells how it *uses* them. Here is what lies between `avgpool` and
# `fc`: a call of `torch.flatten`, which is a function and no child.

# %%
show_source(type(net)._forward_impl)

# %% [markdown]
# Other models hide more between their children: a skip connection (`out += identity`), a second use of a layer, an `if`. So let the model
# run itself, and listen. A **forward hook** does that: PyTorch calls it with the module, its inputs and its output, each time
# the module has run.


# %%
def tell(module, args, output):
    print("the hook got:", type(module).__name__, "|", type(args).__name__, "|", tuple(output.shape))


handle = net.layer4.register_forward_hook(tell)
with torch.no_grad():
    net(x)
handle.remove()  # from here on the model is as it was

# %% [markdown]
# The hook learns the module's class, but not its name: a module does not know under which name its parent keeps it.
# You may read that every module has a `__name__`. Run this: classes and functions have one, module objects have not.

# %%
print(hasattr(nn.ReLU, "__name__"), hasattr(nn.ReLU(), "__name__"))

# %% [markdown]
# ### Give each hook its name
#
# So the name must come from the loop that registers the hooks. This is where most people trip. What will the first loop print?

# %%
toy = nn.Sequential()
for name in ("red", "green", "blue"):
    toy.add_module(name, nn.Identity())

handles = [child.register_forward_hook(lambda m, a, o: print(name, end=" ")) for name, child in toy.named_children()]
toy(torch.ones(1))
for handle in handles:
    handle.remove()
print("<- the name is looked up when the hook runs")


def say(name, module, args, output):
    print(name, end=" ")


handles = [child.register_forward_hook(partial(say, name)) for name, child in toy.named_children()]
toy(torch.ones(1))
for handle in handles:
    handle.remove()
print("<- the name is fixed when the hook is made")

# %% [markdown]
# Three hooks, one variable. A function looks up the variables around it **when it runs**, and by then the loop has ended
# (*late binding*). `partial(say, name)` takes the value now. So does a function that makes and returns the hook, or a
# default argument, `lambda m, a, o, name=name: ...`.
#
# ### Exercise: A net that tells
#
# easy · 8 min · 2 points
#
# Write `VerboseNet(model)`, a module that wraps any model.
#
# - Calling it returns what the model returns.
# - Meanwhile it prints exactly one line for each **direct child** of the model: the child's name, as a word of its own, and the shape
#   of its output. The order of the lines, the notation of the shape and other words on the line are up to you:
#   `conv1: torch.Size([1, 64, 48, 48])` is as good as `(1, 64, 48, 48) from conv1`.
# - Building it prints nothing. Every call prints one line per child again. Two of them, on two models, do not disturb each other.
#
# (In the models of the tests every child runs once a call.)


# %% nbgrader={"grade": false, "grade_id": "verbose_net", "locked": false, "schema_version": 3, "solution": true, "task": false}
class VerboseNet(nn.Module):
    """Runs `model`; meanwhile prints one line for each direct child: its name and the shape of its output."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

        # TODO: register a forward hook on each direct child of the model.
        ### BEGIN SOLUTION
        def tell(name, module, args, output):
            print(f"{name}: {tuple(output.shape)}")

        for name, child in model.named_children():
            child.register_forward_hook(partial(tell, name))
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # TODO: run the model and return its output.
        ### BEGIN SOLUTION
        return self.model(x)
        ### END SOLUTION


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))

# %% nbgrader={"grade": true, "grade_id": "test_verbose_net", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import re

import course
import torch
from torch import nn
from torchvision.models import resnet18

from course.checking import Check, check
from course.compare import Close, Matches
from course.probing import missing_lines, printed_lines


class SkipNet(nn.Module):
    """Two convolutions, a skip connection and a mean. Running its children in a row gives something else."""

    def __init__(self, first, second, third):
        super().__init__()
        self.names = (first, second, third)
        self.add_module(first, nn.Conv2d(3, 5, 3))
        self.add_module(second, nn.Sequential(nn.Conv2d(5, 5, 1), nn.ReLU()))
        self.add_module(third, nn.Conv2d(5, 7, 1, stride=2))

    def forward(self, x):
        first, second, third = (getattr(self, name) for name in self.names)
        x = first(x)
        x = x + second(x)
        return third(x).mean((2, 3))


def step_by_step(model, x):
    """Input shape and output shape of each child, and the model's output, without any hook."""
    inputs, outputs = {}, {}

    def run(name, x):
        inputs[name] = tuple(x.shape)
        x = getattr(model, name)(x)
        outputs[name] = tuple(x.shape)
        return x

    if isinstance(model, SkipNet):
        first, second, third = model.names
        x = run(first, x)
        x = run(third, x + run(second, x)).mean((2, 3))
        return inputs, outputs, x
    for name in "conv1 bn1 relu maxpool layer1 layer2 layer3 layer4 avgpool".split():
        x = run(name, x)
    return inputs, outputs, run("fc", torch.flatten(x, 1))


def lines_for(shapes):
    return Matches(
        lambda got: missing_lines(got, shapes), f"one line, with name and output shape, for each of {list(shapes)}"
    )


def told(test):
    """Printed lines with a certain flaw: `test` gets the lines, and for each the words in it."""

    def flaw(got):
        if not isinstance(got, list) or not got or not all(isinstance(line, str) for line in got):
            return "something else"
        return None if test(got, [set(re.findall(r"\w+", line)) for line in got]) else "something else"

    return Matches(flaw, "this flaw")


def flaws(model, x, field="what calling it prints"):
    inputs, outputs, _ = step_by_step(model, x)
    names, count = set(outputs), len(outputs)
    kinds = {name: type(child).__name__ for name, child in model.named_children()}
    last_of_kind = {kind: name for name, kind in kinds.items()}
    nested = [name for name, _ in model.named_modules() if "." in name]
    one_sample = {name: shape[1:] for name, shape in outputs.items()}

    def more(got, words):  # the right lines, and others that name no child
        right = [line for line, w in zip(got, words) if w & names]
        return len(right) < len(got) and missing_lines(right, outputs) is None

    return {
        "nothing_printed": {field: []},
        "one_hook_for_all": {field: told(lambda got, words: len(got) == 1)},
        "prints_again": {field: told(lambda got, words: len(got) > count == len(set(got)))},
        "children_or_modules": {field: told(lambda got, words: any(name in line for line in got for name in nested))},
        "extra_lines": {field: told(more)},
        "children_missing": {field: told(lambda got, words: len(got) < count and all(w & names for w in words))},
        "loop_variable": {
            field: told(lambda got, words: len(got) == count and all(w & names == {list(outputs)[-1]} for w in words))
        },
        "name_on_the_class": {
            field: told(
                lambda got, words: [w & names for w in words] == [{last_of_kind[kinds[name]]} for name in outputs]
            )
        },
        "class_or_name": {field: told(lambda got, words: all(w & {*kinds.values()} and not w & names for w in words))},
        "line_without_name": {field: told(lambda got, words: not any(w & names for w in words))},
        "line_without_shape": {
            field: told(lambda got, words: not any(re.search(r"\d\s*[,x]\s*\d", line) for line in got))
        },
        "input_or_output": {field: Matches(lambda got: missing_lines(got, inputs), "the shapes of the inputs")},
        "one_sample": {field: Matches(lambda got: missing_lines(got, one_sample), "the shapes of one sample")},
    }


class OneLineAChild(Check):
    """`VerboseNet(model)(x)` returns `model(x)` and prints one line per direct child: name and output shape."""

    blame = {"what building it prints": "prints_while_building"}

    def model(self, case):
        one, two = case.words("names", 2)
        return case.build("net", SkipNet, one, f"{one}0", f"{two}_{one}").eval(), case.tensor(
            "x", 2, 3, *case.shape("size", 2, 6, 9)
        )

    def probe(self, nb, case):
        model, x = self.model(case)
        with printed_lines() as building:
            verbose = nb.function("VerboseNet")(model)
        with printed_lines() as calling:
            output = verbose(x)
        return {"what building it prints": building, "what calling it prints": calling, "what it returns": output}

    def truth(self, case):
        _, shapes, output = step_by_step(*self.model(case))
        return {
            "what building it prints": [],
            "what calling it prints": lines_for(shapes),
            "what it returns": Close(output, rtol=1e-4, atol=1e-4),
        }

    def mistakes(self, case):
        model, x = self.model(case)
        in_a_row = x
        if isinstance(model, SkipNet):
            for child in model.children():
                in_a_row = child(in_a_row)
        printed = told(lambda got, words: True)
        return {
            "prints_while_building": {"what building it prints": printed},
            "children_in_a_row": {"what it returns": in_a_row},
            "returns_nothing": {"what it returns": None},
            **flaws(model, x),
        }


class OnResNet(OneLineAChild):
    """The same on ResNet-18: ten children, ten lines."""

    cases = 1

    def model(self, case):
        return case.build("net", resnet18, weights=None).eval(), case.tensor("x", 2, 3, 32, 32)


check("verbose_net", OneLineAChild, OnResNet)


### BEGIN HIDDEN TESTS
class CalledAgain(OneLineAChild):
    """Each further call prints one line per child again, for the new input."""

    def probe(self, nb, case):
        model, x = self.model(case)
        verbose = nb.function("VerboseNet")(model)
        brought = {}
        for number, one in (("first", x), ("second", x[:1, :, 1:]), ("third", x[:, :, :, 2:])):
            with printed_lines() as lines:
                output = verbose(one)
            brought |= {f"what the {number} call prints": lines, f"what the {number} call returns": output}
        return brought

    def truth(self, case):
        model, x = self.model(case)
        wanted = {}
        for number, one in (("first", x), ("second", x[:1, :, 1:]), ("third", x[:, :, :, 2:])):
            _, shapes, output = step_by_step(model, one)
            wanted[f"what the {number} call prints"] = lines_for(shapes)
            wanted[f"what the {number} call returns"] = Close(output, rtol=1e-4, atol=1e-4)
        return wanted

    def mistakes(self, case):
        model, x = self.model(case)
        again = flaws(model, x[:1, :, 1:], "what the second call prints")
        return {
            "hooks_pile_up": again["prints_again"],
            "silent_afterwards": again["nothing_printed"],
            "stale_result": {"what the second call prints": lines_for(step_by_step(model, x)[1])},
        }


class TwoAtOnce(OneLineAChild):
    """Two `VerboseNet` objects on two models do not disturb each other."""

    def models(self, case):
        words = case.words("names", 6)
        x = case.tensor("x", 2, 3, *case.shape("size", 2, 6, 9))
        return case.build("one", SkipNet, *words[:3]).eval(), case.build("two", SkipNet, *words[3:]).eval(), x

    def probe(self, nb, case):
        one, two, x = self.models(case)
        verbose = [nb.function("VerboseNet")(model) for model in (one, two)]
        brought = {}
        for number, index in (("first", 0), ("second", 1), ("first", 0)):
            with printed_lines() as lines:
                verbose[index](x)
            brought[f"what the {number} one prints"] = lines
        return brought

    def truth(self, case):
        one, two, x = self.models(case)
        shapes = [step_by_step(model, x)[1] for model in (one, two)]
        return {"what the first one prints": lines_for(shapes[0]), "what the second one prints": lines_for(shapes[1])}

    def mistakes(self, case):
        one, two, x = self.models(case)
        foreign = dict(zip(two.names, step_by_step(one, x)[1].values()))
        return {"shared_state": {"what the first one prints": lines_for(foreign)}}


check("verbose_net", CalledAgain, TwoAtOnce)
### END HIDDEN TESTS

# %% [markdown]
# ## Names of nested layers
#
# `layer1` is itself a model: two blocks, each with convolutions of its own. `named_children()` stops at the first level.
# `named_modules()` walks the whole tree. The names on the way down are joined by dots, and `get_submodule` finds a module by such a name.

# %%
modules = dict(net.named_modules())
print(f"{len(list(net.children()))} children, {len(modules)} modules (one is the model itself, under the name '')")
print([name for name in modules if name.startswith("layer2.0")])
print(net.get_submodule("layer2.0.downsample.0"))
print(net.get_submodule("layer2.0.downsample.0") is modules["layer2.0.downsample.0"])

# %% [markdown]
# `getattr` knows no dots. And compare whole names: `conv1` is the end of `layer1.0.conv1`, but another layer.

# %%
try:
    getattr(net, "layer1.0.conv1")
except AttributeError as error:
    print("getattr:", error)
print([name for name in modules if name.endswith("conv1")][:3], "...")

# %% [markdown]
# ### One layer, two calls
#
# A hook fires at each call of its module. Each block of ResNet-18 has one `relu` and runs it twice. If you keep outputs in a dict, the second
# replaces the first.

# %%
calls = {}


def count_call(name, module, args, output):
    calls[name] = calls.get(name, 0) + 1


handles = [module.register_forward_hook(partial(count_call, name)) for name, module in net.named_modules()]
with torch.no_grad():
    net(x)
for handle in handles:
    handle.remove()
print("more than once:", [name for name, times in calls.items() if times > 1])

# %% [markdown]
# ### Exercise: Feature extractor
#
# medium · 12 min · 3 points
#
# The outputs of inner layers are called **features**. Write `FeatureExt(model, layers)`, a module that wraps any model; `layers` is a list
# of layer names, nested ones with dots, in any order.
#
# - Calling it on `x` runs the model and returns a dict. Its keys are exactly the names in `layers`, each value is the output of that
#   layer for this `x`.
# - It leaves the model as it is: `model(x)` gives what it gave before, in the mode (`train` or `eval`) that it is in.
# - Calling it again gives the features of the new input. Later calls add no further hooks to the model.
# - Two of them, even on one model, do not disturb each other.
#
# (The tests ask for layers that run once a call, and whose output no later operation overwrites. What to do about the others comes
# right after.)


# %% nbgrader={"grade": false, "grade_id": "feature_extractor", "locked": false, "schema_version": 3, "solution": true, "task": false}
class FeatureExt(nn.Module):
    """Runs `model` and returns {layer name: output of that layer} for the names in `layers`, such as "layer1.0.conv2"."""

    def __init__(self, model: nn.Module, layers: list[str]) -> None:
        super().__init__()
        self.model = model
        self.layers = layers
        # TODO: find each layer by its name, and register a forward hook that keeps the layer's output under that name.
        ### BEGIN SOLUTION
        self._features = {}

        def keep(name, module, args, output):
            self._features[name] = output

        for name in layers:
            model.get_submodule(name).register_forward_hook(partial(keep, name))
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        # TODO: run the model, then return the kept outputs.
        ### BEGIN SOLUTION
        self._features.clear()
        self.model(x)
        return dict(self._features)
        ### END SOLUTION


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))

# %% nbgrader={"grade": true, "grade_id": "test_feature_extractor", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import course
import torch
from torch import nn
from torchvision.models import resnet18
from torchvision.models.feature_extraction import create_feature_extractor

from course.checking import Check, check
from course.compare import AnyOf, Close, Matches, first_difference
from course.evidence import TensorRecord, snapshot
from course.probing import hook_counts


class Block(nn.Module):
    """A convolution, a BatchNorm and a ReLU that works in a tensor of its own."""

    def __init__(self, name):
        super().__init__()
        self.name = name
        self.add_module(name, nn.Conv2d(3, 3, 3, padding=1))
        self.norm = nn.BatchNorm2d(3)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.norm(getattr(self, self.name)(x)))


class NestedNet(nn.Module):
    """A convolution, two blocks with a skip connection around them, a convolution, a mean."""

    def __init__(self, stem, body, head):
        super().__init__()
        self.names = (stem, body, head)
        self.add_module(stem, nn.Conv2d(3, 3, 3))
        self.add_module(body, nn.Sequential(Block(stem), Block(stem)))
        self.add_module(head, nn.Conv2d(3, 6, 1))

    def forward(self, x):
        stem, body, head = (getattr(self, name) for name in self.names)
        x = stem(x)
        x = x + body(x)
        return head(x).mean((2, 3))


def close(tensors):
    return {name: Close(tensor, rtol=1e-4, atol=1e-4) for name, tensor in tensors.items()}


def features_of(model, layers, x):
    """Truth: torchvision's own extractor on a model that no hook has ever been near."""
    with torch.no_grad():
        return create_feature_extractor(model, {name: name for name in layers})(x)


class NestedNames(Check):
    """`FeatureExt(model, layers)(x)` is `{name: output of that layer}`, for direct and for nested layers."""

    def given(self, case):
        stem, body, head = case.words("names", 3)
        model = case.build("net", NestedNet, stem, body, head).eval()
        layers = [head, f"{body}.0.{stem}", stem, f"{body}.1"]
        return model, layers, case.tensor("x", 2, 3, *case.shape("size", 2, 6, 9))

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        return {"features": nb.function("FeatureExt")(model, list(layers))(x)}

    def truth(self, case):
        return {"features": close(features_of(*self.given(case)))}

    def mistakes(self, case):
        model, layers, x = self.given(case)
        if not isinstance(model, NestedNet):
            return {}
        stem, body, head = model.names
        block, second = f"{body}.0.{stem}", f"{body}.1"
        with torch.no_grad():
            wanted, output = features_of(model, layers, x), model(x)
            middle = getattr(model, body)[0](wanted[stem])
            inputs = {head: wanted[stem] + wanted[second], block: wanted[stem], stem: x, second: middle}
            foreign = getattr(model, body)[1].get_submodule(stem)(middle)
            in_a_row = getattr(model, head)(wanted[second])
            direct = {name: model.get_submodule(name)(x) for name in layers}
        in_order = [wanted[name] for name in (stem, block, second, head)]
        kinds = {type(module).__name__ for module in model.modules()}
        ends = {name.split(".")[-1] for name in layers}

        def empty(value):
            return value is None or value == [] or (isinstance(value, TensorRecord) and not value.data)

        def flaw(test):
            return {"features": Matches(lambda got: None if isinstance(got, dict) and test(got) else "no", "this flaw")}

        def same(got, name, value):
            return first_difference(got.get(name), Close(value, rtol=1e-4, atol=1e-4)) is None

        def holds(name, value):
            return flaw(lambda got: same(got, name, value))

        return {
            "returns_nothing": {"features": None},
            "output_for_features": {
                "features": AnyOf(Close(output), Matches(lambda got: None if _pair(got, output) else "no", "a pair"))
            },
            "list_for_dict": {"features": AnyOf(list(wanted.values()), in_order)},
            "nothing_kept": flaw(lambda got: all(empty(value) for value in got.values())),
            "by_position": {"features": close(dict(zip(layers, in_order)))},
            "loop_variable": holds(layers[-1], wanted[head]),
            "all_layers": flaw(lambda got: set(layers) < set(got)),
            "class_or_name": flaw(lambda got: set(got) <= kinds),
            "dotted_name": flaw(lambda got: set(got) == ends),
            "name_in_name": holds(stem, foreign),
            "children_in_a_row": holds(head, in_a_row),
            "input_or_output": {
                "features": AnyOf(close(inputs), {name: [Close(value)] for name, value in inputs.items()})
            },
            "shape_for_output": {"features": {name: list(value.shape) for name, value in wanted.items()}},
            "all_calls": {"features": {name: [value] for name, value in close(wanted).items()}},
            "layers_on_the_input": {"features": close(direct)},
            "changes_mode": {"features": close(features_of(model.train(), layers, x))},
            "changes_the_flow": flaw(
                lambda got: (
                    set(got) == set(layers) and [name for name in layers if same(got, name, wanted[name])] == [stem]
                )
            ),
        }


def _pair(got, output):
    return isinstance(got, list) and len(got) == 2 and any(first_difference(one, Close(output)) is None for one in got)


class OnResNet(NestedNames):
    """The same on ResNet-18: other layers, at several depths, in another order."""

    cases = 1

    def given(self, case):
        model = case.build("net", resnet18, weights=None).eval()
        names = ["conv1", "layer1", "layer1.0.conv2", "layer2.0.downsample.0", "layer3.1", "layer4", "avgpool", "fc"]
        return model, case.shuffled("layers", names), case.tensor("x", 2, 3, 32, 32)


check("feature_extractor", NestedNames, OnResNet)


### BEGIN HIDDEN TESTS
class CalledAgain(NestedNames):
    """Each call returns the features of its own input, and later calls add no hooks."""

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        extractor = nb.function("FeatureExt")(model, list(layers))
        # A later call may change an earlier dict, so each is copied at once.
        first = snapshot(extractor(x))
        before = hook_counts(model)
        second, third = snapshot(extractor(x[:1, :, 1:])), snapshot(extractor(x * 2))
        after = hook_counts(model)
        added = sum(after.values()) - sum(before.values())
        return {
            "first features": first,
            "second features": second,
            "third features": third,
            "hooks that later calls add": added,
        }

    def truth(self, case):
        model, layers, x = self.given(case)
        return {
            "first features": close(features_of(model, layers, x)),
            "second features": close(features_of(model, layers, x[:1, :, 1:])),
            "third features": close(features_of(model, layers, x * 2)),
            "hooks that later calls add": 0,
        }

    def mistakes(self, case):
        def gone(got):
            return None if isinstance(got, dict) and len(got) == 0 else "no"

        return {
            "stale_result": {"second features": close(features_of(*self.given(case)))},
            "silent_afterwards": {"second features": Matches(gone, "nothing")},
            "hooks_pile_up": {"hooks that later calls add": Matches(lambda got: None if got else "no", "more")},
        }


class TwoAtOnce(NestedNames):
    """Two extractors on one model each return their own features."""

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        one = nb.function("FeatureExt")(model, layers[:2])
        two = nb.function("FeatureExt")(model, [layers[3], layers[0], layers[2]])
        return {"features of the first": snapshot(one(x)), "features of the second": snapshot(two(x + 1)),
                "features of the first again": snapshot(one(x * 2))}  # fmt: skip

    def truth(self, case):
        model, layers, x = self.given(case)
        return {
            "features of the first": close(features_of(model, layers[:2], x)),
            "features of the second": close(features_of(model, [layers[3], layers[0], layers[2]], x + 1)),
            "features of the first again": close(features_of(model, layers[:2], x * 2)),
        }

    def mistakes(self, case):
        _, layers, _ = self.given(case)

        def lacks(got):
            known = isinstance(got, dict) and all(got.get(name) is not None for name in layers[:2])
            return "no" if known and all(got[name].data for name in layers[:2]) else None

        def more(got):
            return None if isinstance(got, dict) and set(got) > set(layers[:2]) else "no"

        return {
            "removes_other_hooks": {"features of the first": Matches(lacks, "a layer without a value")},
            "shared_state": {"features of the first again": Matches(more, "more layers than asked for")},
        }


class TrainingMode(NestedNames):
    """A model in training mode stays in it, and gives the features of that mode."""

    blame = {"model.training afterwards": "changes_mode"}

    def given(self, case):
        model, layers, x = super().given(case)
        return model.train(), layers, x

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        features = nb.function("FeatureExt")(model, list(layers))(x)
        return {"features": features, "model.training afterwards": model.training}

    def truth(self, case):
        return {"features": close(features_of(*self.given(case))), "model.training afterwards": True}

    def mistakes(self, case):
        model, layers, x = self.given(case)
        return {"changes_mode": {"features": close(features_of(model.eval(), layers, x))}}


class LeftAsItIs(NestedNames):
    """Wrapped and used, the model itself still returns what it returned before."""

    blame = {"model(x) afterwards": "changes_model"}

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        extractor = nb.function("FeatureExt")(model, layers[1:3])
        extractor(x)
        return {"model(x) afterwards": model(x)}

    def truth(self, case):
        model, _, x = self.given(case)
        return {"model(x) afterwards": Close(model(x), rtol=1e-4, atol=1e-4)}

    def mistakes(self, case):
        return {}


check("feature_extractor", CalledAgain, TwoAtOnce, TrainingMode, LeftAsItIs)
### END HIDDEN TESTS

# %% [markdown]
# Your extractor at work, on the flower. These layers lie inside the blocks, where `named_children` does not reach.

# %%
torch.manual_seed(0)
inside = ["layer1.0.conv1", "layer1.0.conv2", "layer2.0.downsample.0", "layer3.0.conv2"]
with torch.no_grad():
    found = FeatureExt(resnet18(weights=None).eval(), inside)(x)
draw_feature_maps(
    found, title="Inside the blocks, by your own FeatureExt"
) if found else "FeatureExt returns nothing yet."

# %% [markdown]
# ## A feature can change after your hook has ended
#
# After `bn1` comes `ReLU(inplace=True)`. It writes its result into the tensor that it was given: the very tensor that your hook has just
# kept. BatchNorm's output has negative values, a ReLU's has none. Which of these three copies keep them?

# %%
kept = {}


def keep_three(module, args, output):
    kept["alias"] = output
    kept["detach"] = output.detach()
    kept["clone"] = output.clone()


print(net.relu)
with torch.no_grad(), net.bn1.register_forward_hook(keep_three):
    net(x)
for how, feature in kept.items():
    print(f"{how:7} smallest value {feature.min():6.3f}")

# %%
draw_clobber(kept["clone"], kept["alias"], title="The output of bn1: as it was, and as it is when you look at it")

# %% [markdown]
# `detach()` cuts the tensor off from autograd, but it shares the memory. Only `clone()` has memory of its own.
# Whatever an in-place operation writes into is at risk: in ResNet-18 the outputs of every `bn1` (the ReLU) and of every `bn2`
# (`out += identity`, then the ReLU). The outputs of `conv1`, `layer1` … `layer4`, `avgpool` and `fc` are safe.
#
# torchvision's tool has no clone in it either. It even depends on what else you ask for: if `bn1` is all you want, it cuts the
# model after it and the ReLU never runs.

# %%
with torch.no_grad():
    alone = create_feature_extractor(net, ["bn1"])(x)["bn1"]
    beside = create_feature_extractor(net, ["bn1", "layer1"])(x)["bn1"]
print(f"bn1 alone: smallest value {alone.min():.3f}   bn1 beside layer1: {beside.min():.3f}")

# %% [markdown]
# What to keep:
#
# | you want | keep |
# | --- | --- |
# | to look at values | `output.detach().clone()` |
# | gradients through the feature | `output.clone()` (keeps the whole graph alive: drop it soon) |
# | the cheapest, where nothing works in place | `output.detach()` |
#
# ## Hooks pile up
#
# A hook belongs to the model, not to the wrapper that registered it. Run a notebook cell twice, or wrap one model twice, and each
# hook is there twice. A variable that is overwritten takes the handle with it, but not the hook.

# %%
small = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
log = []


class Watcher(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.handle = model[0].register_forward_hook(lambda m, a, o: log.append(tuple(o.shape)))

    def forward(self, x):
        return self.model(x)


for _ in range(2):  # as if the cell were run twice
    watcher = Watcher(small)
watcher(torch.ones(1, 2))
print("one call, entries in the log:", len(log))
watcher.handle.remove()
del watcher
print("removed and deleted, hooks still there:", len(small[0]._forward_hooks))

# %% [markdown]
# The cure: whoever registers a hook also removes it, even when something fails on the way. Python's tool for *even when* is the
# context manager. A handle is one itself, which is why `with net.bn1.register_forward_hook(...)` worked above. For many hooks:


# %%
@contextmanager
def hooked(modules, hook):
    handles = [module.register_forward_hook(hook) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def count_hooks(model):
    return sum(len(module._forward_hooks) for module in model.modules())


fresh = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
try:
    with hooked(fresh, lambda m, a, o: None):
        print("inside:", count_hooks(fresh))
        fresh(torch.ones(1, 3))  # a wrong shape: forward raises
except RuntimeError:
    print("after an error:", count_hooks(fresh))

# %% [markdown]
# ## Looking must not change the model
#
# Extraction is not training, so people write `torch.no_grad()` and feel safe. It stops autograd, and nothing else. A BatchNorm layer
# in training mode updates its running statistics at each forward. Every picture you *look* at moves them.

# %%
for mode in ("train", "eval"):
    model = resnet18(weights=None)
    model.train(mode == "train")
    before = model.bn1.running_mean.clone()
    with torch.no_grad():
        model(x)
    print(f"{mode:5} with no_grad: running_mean unchanged: {torch.equal(before, model.bn1.running_mean)}")

# %% [markdown]
# So: `eval()` for the layers' behaviour **and** `no_grad()` for autograd. If the model is not yours, put its mode back afterwards.
#
# ## Outputs that are not tensors
#
# Some layers return a tuple: `nn.LSTM` gives `(output, (h, c))`. A hook that calls `output.shape` fails there. Take what you need by its place:

# %%
lstm = nn.LSTM(input_size=4, hidden_size=3)
with lstm.register_forward_hook(lambda m, a, output: print(type(output).__name__, "->", tuple(output[0].shape))):
    lstm(torch.ones(5, 2, 4))

# %% [markdown]
# ## Hooks, or `create_feature_extractor`?
#
# torchvision's tool does not listen. It runs `forward` with stand-ins instead of tensors and writes down each operation: this is
# *tracing*, done by `torch.fx`, once for each mode. From the notes it makes a **new** model that ends where your last layer ends.
# Both ways give the same numbers:

# %%
wanted = ["conv1", "layer1.0.conv2", "layer3"]
hooks = {}
with torch.no_grad():
    traced = create_feature_extractor(net, wanted)
    fx = traced(x)
    for name in wanted:
        with net.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: hooks.update({name: o.clone()})):
            net(x)
print("equal:", [torch.equal(hooks[name], fx[name]) for name in wanted])
print("parameters:", sum(p.numel() for p in net.parameters()), "->", sum(p.numel() for p in traced.parameters()))

# %% [markdown]
# The new model has dropped what comes after `layer3`. It can also return what is no module at all: among the steps of the first block
# are the sum, `layer1.0.add`, and the second call of its ReLU, `layer1.0.relu_1`.

# %%
from torchvision.models.feature_extraction import get_graph_node_names

_, steps = get_graph_node_names(net)
print([step for step in steps if step.startswith("layer1.0.")])

# %% [markdown]
# But `forward` has to be traceable. An `if` on a tensor's value ends it; a hook does not mind.


# %%
class Picky(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x) if x.sum() > 0 else x


picky = Picky()
try:
    create_feature_extractor(picky, ["fc"])
except torch.fx.proxy.TraceError as error:
    print("create_feature_extractor:", error)
with picky.fc.register_forward_hook(lambda m, a, o: print("a hook:", tuple(o.shape))):
    picky(torch.ones(1, 2))

# %% [markdown]
# | | forward hooks | `create_feature_extractor` |
# | --- | --- | --- |
# | which models | any `nn.Module` | those that can be traced |
# | what you can get | outputs of modules | also results of functions and `+`, and each call apart |
# | cost | the whole forward runs | stops after the last layer asked for |
# | the model | carries hooks until you remove them | a new model, which shares its parameters with the old one |
# | also good for | inputs, changing outputs, gradients | saving and using the cut model on its own |
#
# A short look into a model: hooks. A backbone that goes into a product: the extractor.
#
# ## For work: a recorder
#
# All of the lesson in one function: dotted names, every call of a layer, detached clones, eval mode and back, no gradients, and hooks that are
# gone at the end, whatever happens.


# %%
@contextmanager
def record_features(model, layers):
    """Within the block, outputs of the named layers gather in the yielded dict: {name: [one entry a call]}."""

    def copied(output):
        if isinstance(output, torch.Tensor):
            return output.detach().clone()
        if isinstance(output, (tuple, list)):
            return tuple(copied(item) for item in output)
        return output

    def keep(name, module, args, output):
        features[name].append(copied(output))

    features = {name: [] for name in layers}
    modes = {module: module.training for module in model.modules()}
    handles = []
    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(keep, name)))
        model.eval()
        with torch.no_grad():
            yield features
    finally:
        for handle in handles:
            handle.remove()
        for module, training in modes.items():
            module.training = training


# %%
torch.manual_seed(0)
model = resnet18(weights=None)  # in training mode
before = model.bn1.running_mean.clone()
with record_features(model, ["bn1", "layer1.0.relu", "fc"]) as recorded:
    model(x)

for name, values in recorded.items():
    print(f"{name:14} {len(values)} call(s), {tuple(values[0].shape)}, smallest value {values[0].min():.3f}")
print("hooks left:", count_hooks(model), "  training:", model.training)
print("running_mean unchanged:", torch.equal(before, model.bn1.running_mean))

# %% [markdown]
# `bn1` has kept its negative values, the reused ReLU shows both calls, and the model is as it was. Copy the function into your own project.
# If you don't know a model's names yet: `print([name for name, _ in model.named_modules()])`.
#
# ## What you take with you
#
# - A wrapper that registers forward hooks looks into any model without a change to its code.
# - Names come from `named_children` (one level) or `named_modules` (the whole tree, with dots); `get_submodule` finds one.
# - In a loop, fix the name when the hook is made: `partial`, a factory, or a default argument.
# - A kept output is an alias. Before an in-place operation only a clone stays true.
# - Hooks stay until they are removed. `with` removes them even after an error.
# - `no_grad` does not stop BatchNorm's running statistics; `eval` does.
#
# **Next:** lesson 06 puts hooks together to tools: Grad-CAM, a search for the first NaN, an optimizer inside the backward pass.
