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
# - **You will do** this: wrap a finished ResNet-18 so that it tells the shape of every step, write `FeatureExt`, which returns the output of
#   any layer you name, and find out what spoils such features. Then you count what layers cost, and change a feature to see whether
#   it matters. You leave with a toolbox of seven functions for your own work.
# - **You will learn** how to watch a model from outside with forward hooks; how nested layers are named; why a kept
#   tensor can change after the hook has ended; how hooks pile up, and how to be sure that they are gone; what to do about reused layers
#   and outputs in parts; what hooks cannot see, and when torchvision's `create_feature_extractor` is the better tool.
# - **You need** lesson 03: what a forward hook gets, and what happens to the value it returns.
# - **Time** about 155 minutes: nine exercises for 26 points, and one question in your own words, 2 points. A good place for a break is before
#   *One layer, two calls*.
# - **Help** after a check that failed, `hint()` in any cell gives the next step. `hint("verbose_net")`, with an exercise's id, helps you to begin.
# - **Out of scope** training on the features, gradients of the features.
#
# <!-- grading limits -->

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
from contextlib import ExitStack, contextmanager
from functools import partial

from course import (
    hint,
    progress,
)  # first: it makes torchvision importable beside a CPU-only torch
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter
from torchvision.models import ResNet18_Weights, resnet18
from torchvision.models.feature_extraction import create_feature_extractor, get_graph_node_names

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

mean, std = (
    torch.tensor([0.485, 0.456, 0.406]),
    torch.tensor([0.229, 0.224, 0.225]),
)  # what ResNet-18 was trained with
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
draw_feature_maps(steps, columns=6, title="One flower on its way through ResNet-18")

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
    print(
        "the hook got:", type(module).__name__, "|", type(args).__name__, "|", tuple(output.shape)
    )


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

handles = [
    child.register_forward_hook(lambda m, a, o: print(name, end=" "))
    for name, child in toy.named_children()
]
toy(torch.ones(1))
for handle in handles:
    handle.remove()
print("<- the name is looked up when the hook runs")


def say(name, module, args, output):
    print(name, end=" ")


handles = [
    child.register_forward_hook(partial(say, name)) for name, child in toy.named_children()
]
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

ERRORS = {
    r"AttributeError: '\w+' object has no attribute '(conv1|bn1|maxpool|layer[1-4]|avgpool)'": "typed_in_names",
    r"TypeError: .*some of the arguments have invalid types: \(!tuple of \(": "hook_replaces_output",
}


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

    errors = ERRORS
    claims = ("what building it prints",)  # what an answer prints is what it does
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
print(
    f"{len(list(net.children()))} children, {len(modules)} modules (one is the model itself, under the name '')"
)
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

from course.checking import Check, check
from course.compare import AnyOf, Close, Matches, is_same
from course.evidence import TensorRecord, snapshot
from course.probing import hook_counts
from course.traces import same_both_times, what_runs

ERRORS = {
    r"AttributeError: '\w+' object has no attribute '\w+\.\w+(\.\w+)*'": "dotted_name",
    r"KeyError: '\w+\.\d+\.\w+'": "dotted_name",
    r"AttributeError: '\w+' object has no attribute '(conv1|bn1|maxpool|layer[1-4]|avgpool)'": "typed_in_names",
    r"TypeError: .*some of the arguments have invalid types: \(!tuple of \(": "hook_replaces_output",
}


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


def resnet18_outputs(net, x):
    """What the layers of ResNet-18 give, by its definition: a stem, eight blocks with a shortcut each, a head."""
    outputs = {"conv1": net.conv1(x)}
    x = net.maxpool(net.bn1(outputs["conv1"]).relu())
    for layer in ("layer1", "layer2", "layer3", "layer4"):
        for number, block in enumerate(getattr(net, layer)):
            name, shortcut = f"{layer}.{number}", x
            if block.downsample is not None:
                outputs[f"{name}.downsample.0"] = block.downsample[0](x)
                shortcut = block.downsample[1](outputs[f"{name}.downsample.0"])
            outputs[f"{name}.conv2"] = block.conv2(block.bn1(block.conv1(x)).relu())
            x = outputs[layer] = outputs[name] = (block.bn2(outputs[f"{name}.conv2"]) + shortcut).relu()
    outputs["avgpool"] = net.avgpool(x)
    outputs["fc"] = net.fc(outputs["avgpool"].flatten(1))
    return outputs


def features_of(model, layers, x):
    """Truth, on a model that no hook has ever been near: layer by layer."""
    with torch.no_grad():
        if not isinstance(model, NestedNet):
            outputs = resnet18_outputs(model, x)
            return {name: outputs[name] for name in layers}
        stem, body, head = model.names
        outputs = {stem: getattr(model, stem)(x)}
        value = outputs[stem]
        for number, block in enumerate(getattr(model, body)):
            inner = outputs[f"{body}.{number}.{stem}"] = getattr(block, stem)(value)
            value = outputs[f"{body}.{number}"] = block.act(block.norm(inner))
        outputs[head] = getattr(model, head)(outputs[stem] + value)
        return {name: outputs[name] for name in layers}


class NestedNames(Check):
    """`FeatureExt(model, layers)(x)` is `{name: output of that layer}`, for direct and for nested layers."""

    errors = ERRORS

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
            return is_same(got.get(name), Close(value, rtol=1e-4, atol=1e-4))

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
    return isinstance(got, list) and len(got) == 2 and any(is_same(one, Close(output)) for one in got)


class OnResNet(NestedNames):
    """The same on ResNet-18: other layers, at several depths, in another order."""

    cases = 1

    def given(self, case):
        model = case.build("net", resnet18, weights=None).eval()
        names = ["conv1", "layer1", "layer1.0.conv2", "layer2.0.downsample.0", "layer3.1", "layer4", "avgpool", "fc"]
        return model, case.shuffled("layers", names), case.tensor("x", 2, 3, 32, 32)

    def mistakes(self, case):
        return {}


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
        ran = what_runs(model, case, lambda: model(x), "first")
        second, third = snapshot(extractor(x[:1, :, 1:])), snapshot(extractor(x * 2))
        after = hook_counts(model)
        added = sum(after.values()) - sum(before.values())
        return {
            "first features": first,
            "second features": second,
            "third features": third,
            "hooks that later calls add": added,
            "what runs in model(x), before and after later calls": [
                ran, what_runs(model, case, lambda: model(x), "later")
            ],
        }  # fmt: skip

    def truth(self, case):
        model, layers, x = self.given(case)
        return {
            "first features": close(features_of(model, layers, x)),
            "second features": close(features_of(model, layers, x[:1, :, 1:])),
            "third features": close(features_of(model, layers, x * 2)),
            "hooks that later calls add": 0,
            "what runs in model(x), before and after later calls": same_both_times(case, "first", "later"),
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
        return {
            "features": features,
            "model.training afterwards": model.training,
            "what a BatchNorm of the model gives afterwards": self.norm(model, case),
        }

    def truth(self, case):
        model, layers, x = self.given(case)
        return {
            "features": close(features_of(model, layers, x)),
            "model.training afterwards": True,
            "what a BatchNorm of the model gives afterwards": self.norm(model, case),
        }

    def norm(self, model, case):
        """Its mode shows in its values."""
        return getattr(model, model.names[1])[0].norm(case.tensor("for the norm", 4, 3, 5, 2))

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
inside = ["layer1.0.conv2", "layer2.0.downsample.0", "layer3.0.conv2"]
with torch.no_grad():
    found = FeatureExt(resnet18(weights=None).eval(), inside)(x)
draw_feature_maps(
    found, columns=6, title="Inside the blocks, by your own FeatureExt"
) if found else "FeatureExt returns nothing yet."

# %% [markdown]
# ## A small model with the same habits
#
# ResNet-18 takes a while to build. From here on most cells use a model with one block instead of eight. Read its `forward` once: one ReLU
# runs twice, it works in place, so does the sum, and some steps are no layers at all. Each of these will matter.

# %% nbgrader={"grade": false, "grade_id": "setup_tiny", "locked": true, "schema_version": 3, "solution": false, "task": false}
from course.models import Residual, Rounds, TinyResNet
from course.sources import show_source

# %%
show_source(Residual, TinyResNet)

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
draw_clobber(
    kept["clone"],
    kept["alias"],
    columns=4,
    title="The output of bn1: as it was, and as it is when you look at it",
)

# %% [markdown]
# `detach()` cuts the tensor off from autograd, but it shares the memory. Only `clone()` has memory of its own.
# Whatever an in-place operation writes into is at risk: in ResNet-18 the outputs of every `bn1` (the ReLU) and of every `bn2`
# (`out += identity`, then the ReLU). The outputs of `conv1`, `layer1` … `layer4`, `avgpool` and `fc` are safe.
#
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
# ### Exercise: Features that stay true
#
# medium · 12 min · 3 points
#
# Both troubles at once. Write `safe_features(model, layers, x)`. It runs `model` on `x` and returns a dict: under each name in `layers`
# the output of that layer.
#
# - Each value is what the layer put out **at that moment**. It stays so, whatever is written afterwards, by the model, by a later call, or by
#   somebody who changes `x`.
# - No feature requires a gradient.
# - A layer that did not run in this call (there may be an `if` in `forward`) has no entry.
# - Afterwards your hooks are gone, also when the model raises an error. The error reaches the caller. Other people's hooks stay.
#
# (Here each layer runs at most once a call, and returns one tensor.)


# %% nbgrader={"grade": false, "grade_id": "safe_features", "locked": false, "schema_version": 3, "solution": true, "task": false}
def safe_features(
    model: nn.Module, layers: list[str], x: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Run `model` on `x`; return {name: its output as it was} for the layers that ran; leave no hook."""
    # TODO: register, run, and remove, whatever happens. What do you keep of each output?
    ### BEGIN SOLUTION
    features, handles = {}, []

    def keep(name, module, args, output):
        features[name] = output.detach().clone()

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(keep, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return features
    ### END SOLUTION


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))

# %% nbgrader={"grade": true, "grade_id": "test_safe_features", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import contextlib
from collections import OrderedDict

import torch
from torch import nn

from course.checking import Check, check
from course.compare import AnyOf, Close, Matches, is_same
from course.evidence import TensorRecord, snapshot
from course.models import TinyResNet
from course.probing import hook_counts
from course.traces import as_before, gradients_from, no_gradients_from, what_runs

ERRORS = {
    r"AttributeError: '\w+' object has no attribute '\w+(\.\w+)+'": "dotted_name",
    r"KeyError: '\w+(\.\w+)+'": "dotted_name",
    r"AttributeError: '(Fork|Fragile|Sequential)' object has no attribute '(conv1|bn1|relu|block|pool|fc)'": "typed_in_names",
    r"RuntimeError: Only Tensors created explicitly by the user .*deepcopy": "feat_deepcopy",
    r"RuntimeError: you can only change requires_grad flags of leaf": "feat_graph",
    r"TypeError: .*(argument 'input'|some of the arguments have invalid types).*tuple": "hook_replaces_output",
    r"AttributeError: 'tuple' object has no attribute 'dim'": "hook_replaces_output",
}


def run_of(model, x):
    """One run without any hook: {layer name: (its input, a copy of its output, the output itself)}, and what it returned."""
    seen = {}

    def wrapped(name, forward):
        def run(x):
            given, output = x.detach().clone(), forward(x)
            seen[name] = (given, output.detach().clone(), output.detach())
            return output

        return run

    for name, module in model.named_modules():
        module.forward = wrapped(name, module.forward)
    return seen, model(x)


def close(tensors):
    return {name: Close(tensor, rtol=1e-4, atol=1e-4) for name, tensor in tensors.items()}


def attached(features):
    """The names of the features that require a gradient."""
    pairs = features.items() if isinstance(features, dict) else ()
    return sorted(str(name) for name, value in pairs if getattr(value, "requires_grad", False))


def reached_from(features, model, case):
    """What a backward from the features leaves in the model."""
    try:
        return gradients_from(features.values(), model, case)
    except AttributeError:  # no dict, and told as such
        return None


class AsItWas(Check):
    """`safe_features(model, layers, x)` is `{name: output}`, each value as it was when that layer had just run."""

    errors = ERRORS
    blame = {"features that require a gradient": "feat_graph"}

    def given(self, case):
        model = case.build("net", TinyResNet).eval()
        names = ["conv1", "bn1", "relu", "block.bn1", "block.conv2", "block.bn2", "block", "fc"]
        return model, case.shuffled("layers", names), case.tensor("x", 2, 3, *case.shape("size", 2, 6, 9))

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        features = nb.function("safe_features")(model, list(layers), x)
        brought = {"features": snapshot(features), "features that require a gradient": attached(features)}
        return {**brought, "gradients of the model, from the features": reached_from(features, model, case)}

    def truth(self, case):
        model, layers, x = self.given(case)
        seen, _ = run_of(model, x)
        return {
            "features": close({name: seen[name][1] for name in layers}),
            "features that require a gradient": [],
            "gradients of the model, from the features": no_gradients_from(model, case),
        }

    def mistakes(self, case):
        model, layers, x = self.given(case)
        seen, output = run_of(model, x)
        given, _, later = ({name: seen[name][part] for name in layers} for part in range(3))

        def flaw(test):
            return {"features": Matches(lambda got: None if test(got) else "no", "this flaw")}

        def empty(value):
            return value is None or value == [] or (isinstance(value, TensorRecord) and not value.data)

        def same(got, value):
            return is_same(got, Close(value, rtol=1e-4, atol=1e-4))

        def pair(got):
            return any(same(one, output) for one in got)

        return {
            "returns_nothing": {"features": None},
            "output_for_features": flaw(lambda got: (isinstance(got, list) and pair(got)) or pair([got])),
            "nothing_kept": flaw(lambda got: isinstance(got, dict) and all(map(empty, got.values()))),
            "loop_variable": flaw(lambda got: set(got) == {layers[-1]}),
            "all_layers": flaw(lambda got: set(got) > set(layers)),
            "feat_alias": flaw(
                lambda got: all(same(got[name], seen[name][1]) or same(got[name], later[name]) for name in layers)
            ),
            "input_or_output": {
                "features": AnyOf(close(given), {name: [Close(value)] for name, value in given.items()})
            },
        }


class NoHookLeft(AsItWas):
    """Afterwards the model has the hooks that it had before, and no others."""

    def hooked(self, case):
        model, layers, x = self.given(case)
        for name in ("bn1", "block"):
            model.get_submodule(name).register_forward_hook(lambda module, args, output: None)
        return model, layers, x

    def probe(self, nb, case):
        model, layers, x = self.hooked(case)
        nb.function("safe_features")(model, list(layers), x)
        return {
            "hooks on the model, 2 before": sum(hook_counts(model).values()),
            "what runs in model(x) afterwards": what_runs(model, case, lambda: model(x).sum().backward()),
        }

    def truth(self, case):
        model, _, x = self.hooked(case)
        return {
            "hooks on the model, 2 before": 2,
            "what runs in model(x) afterwards": as_before(
                what_runs(model, case, lambda: model(x).sum().backward())
            ),
        }

    def mistakes(self, case):
        return {
            "removes_other_hooks": {
                "hooks on the model, 2 before": Matches(lambda got: None if got < 2 else "no", "few")
            },
            "feat_hook_left": {"hooks on the model, 2 before": Matches(lambda got: None if got > 2 else "no", "more")},
        }


check("safe_features", AsItWas, NoHookLeft)


### BEGIN HIDDEN TESTS
class TooHot(Exception):
    """What the model of the next check raises."""


class Fragile(nn.Module):
    """Runs its first layer, and raises before the second."""

    def __init__(self, first, second, says):
        super().__init__()
        self.first, self.says = first, says
        self.add_module(first, nn.Linear(4, 4))
        self.add_module(second, nn.Linear(4, 4))

    def forward(self, x):
        raise TooHot(f"{self.says}: stopped at {getattr(self, self.first)(x).shape}")


class GoneAfterAnError(Check):
    """Where the model raises, the error reaches the caller, and the hooks are gone all the same."""

    errors = ERRORS
    blame = {"the model's error reaches the caller": "feat_error_swallowed"}

    def given(self, case):
        names = case.words("names", 2)
        model, x = case.build("net", Fragile, *names, *case.words("error", 1)), case.tensor("x", 2, 4)
        model.get_submodule(names[0]).register_forward_hook(lambda module, args, output: None)
        return model, names, x

    def runs(self, case, model, x):
        def run():
            with contextlib.suppress(TooHot):
                model(x)
            model.get_submodule(model.first)(x).sum().backward()

        return what_runs(model, case, run)

    def probe(self, nb, case):
        model, names, x = self.given(case)
        reached = "nothing"
        try:
            nb.function("safe_features")(model, names, x)
        except TooHot as error:
            reached = str(error)
        return {
            "the model's error reaches the caller": reached != "nothing",
            "hooks on the model, 1 before": sum(hook_counts(model).values()),
            "what runs in the model afterwards": self.runs(case, model, x),
            "the error that came out": reached,
        }

    def truth(self, case):
        model, _, x = self.given(case)
        return {
            "the model's error reaches the caller": True,
            "hooks on the model, 1 before": 1,
            "what runs in the model afterwards": as_before(self.runs(case, model, x)),
            "the error that came out": f"{case.words('error', 1)[0]}: stopped at {model.get_submodule(model.first)(x).shape}",
        }

    def mistakes(self, case):
        return {
            "removes_other_hooks": {"hooks on the model, 1 before": 0},
            "feat_error_skips": {
                "hooks on the model, 1 before": Matches(lambda got: None if got > 1 else "no", "more")
            },
        }


class Fork(nn.Module):
    """One of two layers, by the sign of the input; then a third."""

    def __init__(self, left, right, last):
        super().__init__()
        self.names = (left, right, last)
        for name in self.names:
            self.add_module(name, nn.Linear(4, 4))

    def forward(self, x):
        left, right, last = (getattr(self, name) for name in self.names)
        return last(left(x) if x.sum() > 0 else right(x))


class OnlyWhatRan(Check):
    """Each call's dict holds the layers that ran in this call, and no others."""

    errors = {**ERRORS, r"KeyError": "feat_not_run"}

    def given(self, case):
        names = case.words("names", 3)
        return case.build("net", Fork, *names), names, case.tensor("x", 2, 4, positive=True)

    def probe(self, nb, case):
        model, names, x = self.given(case)
        # A later call may change an earlier dict, so each is copied at once.
        first = snapshot(nb.function("safe_features")(model, list(names), x))
        second = snapshot(nb.function("safe_features")(model, list(names), -x))
        hooks = sum(hook_counts(model).values())
        return {
            "features of the first call": first, "features of the second call": second, "hooks on the model": hooks,
            "what runs in model(x) afterwards": self.runs(case, model, x),
        }  # fmt: skip

    def runs(self, case, model, x):
        return what_runs(model, case, lambda: (model(x) + model(-x)).sum().backward())

    def truth(self, case):
        model, (left, right, last), x = self.given(case)
        first, second = (
            {name: model.get_submodule(name)(x) for name, x in ((one, x), (last, model.get_submodule(one)(x)))}
            for one, x in ((left, x), (right, -x))
        )
        return {
            "features of the first call": close(first),
            "features of the second call": close(second),
            "hooks on the model": 0,
            "what runs in model(x) afterwards": as_before(self.runs(case, model, x)),
        }

    def mistakes(self, case):
        _, (left, right, last), _ = self.given(case)

        def keys(*names):
            return Matches(lambda got: None if set(got) == set(names) else "no", "these keys")

        return {
            "stale_result": {
                "features of the first call": keys(left, last),
                "features of the second call": keys(left, right, last),
            },
            "feat_not_run": {"features of the first call": keys(left, right, last)},
            "feat_hook_left": {"hooks on the model": Matches(lambda got: None if got else "no", "some")},
        }


class StaysTrue(Check):
    """The features of a call stay as they are when the model runs again, and when somebody writes into `x`."""

    errors = ERRORS

    def given(self, case):
        one, two = case.words("names", 2)
        layers = [(one, nn.Identity()), (two, nn.Linear(4, 4))]
        model = case.build("net", lambda: nn.Sequential(OrderedDict([(one, nn.Identity()), (two, nn.Linear(4, 4))])))
        return model, [name for name, _ in layers], case.tensor("x", 2, 4)

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        first = nb.function("safe_features")(model, list(layers), x)
        nb.function("safe_features")(model, list(layers), x * 2)
        again = snapshot(first)
        x.zero_()
        return {"features, after another call": again, "features, after x was set to 0": first}

    def truth(self, case):
        model, (one, two), x = self.given(case)
        features = close({one: x, two: model.get_submodule(two)(x)})
        return {"features, after another call": features, "features, after x was set to 0": features}

    def mistakes(self, case):
        model, (one, two), x = self.given(case)
        later = {one: x * 2, two: model.get_submodule(two)(x * 2)}
        zero = Matches(lambda got: None if not got[one].tensor().any() else "no", "zeros")
        return {
            "feat_one_dict": {"features, after another call": close(later)},
            "feat_alias": {"features, after x was set to 0": zero},
        }


check("safe_features", GoneAfterAnError, OnlyWhatRan, StaysTrue)
### END HIDDEN TESTS

# %% [markdown]
# ## Looking must not change the model
#
# Extraction is not training, so people write `torch.no_grad()` and feel safe. It stops autograd, and nothing else. A BatchNorm layer
# in training mode updates its running statistics at each forward. Every picture you *look* at moves them.

# %%
for mode in ("train", "eval"):
    model = TinyResNet().train(mode == "train")
    before = model.bn1.running_mean.clone()
    with torch.no_grad():
        model(x)
    print(
        f"{mode:5} with no_grad: running_mean unchanged: {torch.equal(before, model.bn1.running_mean)}"
    )

# %% [markdown]
# So: `eval()` for the layers' behaviour **and** `no_grad()` for autograd. If the model is not yours, put its mode back afterwards. That takes
# some care: a mode belongs to each module, not to the model, and `train()` and `eval()` reach everything below. Whoever fine-tunes a
# model often keeps its BatchNorm layers in eval mode, on purpose. Even torchvision's tool forgets that:

# %%
for visitor in ("eval() and train()", "create_feature_extractor"):
    model = TinyResNet().train()
    model.bn1.eval()  # its owner wants it so
    if visitor == "create_feature_extractor":
        create_feature_extractor(model, ["fc"])
    else:
        model.eval()
        model.train()
    print(f"{visitor:24} bn1, in eval mode before, is in training mode: {model.bn1.training}")

# %% [markdown]
# ### Exercise: A guest that leaves no trace
#
# medium · 12 min · 3 points
#
# Write the context manager `looking_at(model, hooks)`; `hooks` is a dict {layer name: forward hook}.
#
# - **Inside** the block each hook sits on its layer, every module of the model is in eval mode, and autograd records nothing.
# - **After** it, each module is in the mode in which it was before (they may differ), your hooks are gone, and other people's are
#   still there. BatchNorm's statistics and the `requires_grad` of the parameters are what they were. Autograd records again if it did before.
# - All this also holds if the block ends with an error, and the error reaches the caller.
#
# A function with `@contextmanager` and `yield`, or a class with `__enter__` and `__exit__`: as you like.


# %% nbgrader={"grade": false, "grade_id": "untouched_model", "locked": false, "schema_version": 3, "solution": true, "task": false}
@contextmanager
def looking_at(model: nn.Module, hooks: dict):
    """In the block: hooks on their layers, eval mode, no gradients. Afterwards: the model as it was."""
    # TODO: what do you have to remember first? What has to happen at the end, in any case?
    ### BEGIN SOLUTION
    modes = [(module, module.training) for module in model.modules()]
    handles = []
    try:
        for name, hook in hooks.items():
            handles.append(model.get_submodule(name).register_forward_hook(hook))
        model.eval()
        with torch.no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training
        for handle in handles:
            handle.remove()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_untouched_model", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import contextlib

import torch

from course.checking import Check, check
from course.compare import AnyOf, Close, Matches
from course.models import TinyResNet
from course.probing import ANYTHING, hook_counts
from course.traces import as_before, what_runs

ERRORS = {
    r"TypeError: 'generator' object does not support the context manager": "feat_no_context_manager",
    r"AttributeError: __enter__": "feat_no_context_manager",
    r"TypeError: 'NoneType' object (is not an iterator|does not support the context manager)": "feat_no_yield",
    r"RuntimeError: generator didn't (yield|stop)": "feat_no_yield",
    r"AttributeError: '\w+' object has no attribute '\w+(\.\w+)+'": "dotted_name",
    r"KeyError: '\w+(\.\w+)+'": "dotted_name",
}
AFTER = {
    "in training mode after": "feat_mode_lost",
    "buffers after": "feat_statistics",
    "requires_grad after": "feat_freezes",
    "autograd records after": "feat_grad_mode",
}


def training(model):
    """Whether each module is in training mode; the model itself is called "model"."""
    return {name or "model": module.training for name, module in model.named_modules()}


def state(model, x, case, known=lambda number: number):
    """What a guest must leave as it was: what the model says, and what shows when it runs."""
    return {
        "in training mode after": training(model),
        "hooks after, 1 before": sum(hook_counts(model).values()),
        "buffers after": {name: buffer.clone() for name, buffer in model.named_buffers()},
        "requires_grad after": {name: one.requires_grad for name, one in model.named_parameters()},
        "autograd records after": torch.is_grad_enabled(),
        "what runs in model(x) after": known(what_runs(model, case, lambda: passes(model, x))),
    }


def passes(model, x):
    """Forward, and backward as far as autograd records."""
    output = model(x)
    with contextlib.suppress(RuntimeError):  # nothing was recorded
        output.sum().backward()


class Inside(Check):
    """Within `with looking_at(model, hooks):` the hooks run, every module is in eval mode, and autograd records nothing."""

    errors = ERRORS
    blame = {"model(x) requires a gradient": "feat_eval_is_not_no_grad", "what the hooks got": "feat_hooks_silent"}

    def given(self, case):
        return case.build("net", TinyResNet).train(), case.tensor("x", 2, 3, *case.shape("size", 2, 6, 9))

    def probe(self, nb, case):
        model, x = self.given(case)
        got = {}
        hooks = {
            "conv1": lambda module, args, output: got.update(conv1=output.detach().clone()),
            "block.conv2": lambda module, args, output: got.update({"block.conv2": output.detach().clone()}),
        }
        with nb.function("looking_at")(model, hooks):
            modes, trainable = training(model), sum(one.requires_grad for one in model.parameters())
            ran = what_runs(model, case, lambda: passes(model, x.requires_grad_()))
            got.clear()
            output = model(x)
        return {
            "in training mode inside": modes,
            "model(x)": output,
            "model(x) requires a gradient": output.requires_grad,
            "trainable parameters inside": trainable,
            "what the hooks got": got,
            "what runs inside": ran,
        }

    def runs(self, case):
        """What runs with two hooks, in eval mode, and without autograd."""
        model, x = self.given(case)
        for name in ("conv1", "block.conv2"):
            model.get_submodule(name).register_forward_hook(lambda module, args, output: None)
        model.eval()
        with torch.no_grad():
            return what_runs(model, case, lambda: passes(model, x.requires_grad_()))

    def truth(self, case):
        model, x = self.given(case)
        model.eval()
        middle = torch.relu(model.bn1(model.conv1(x)))
        inner = torch.relu(model.block.bn1(model.block.conv1(middle)))
        features = {"conv1": model.conv1(x), "block.conv2": model.block.conv2(inner)}
        return {
            "in training mode inside": dict.fromkeys(training(model), False),
            "model(x)": Close(model(x), rtol=1e-4, atol=1e-4),
            "model(x) requires a gradient": False,
            "trainable parameters inside": ANYTHING,
            "what the hooks got": {name: Close(value, rtol=1e-4, atol=1e-4) for name, value in features.items()},
            "what runs inside": as_before(self.runs(case)),
        }

    def mistakes(self, case):
        model, _ = self.given(case)
        everything = training(model)

        def modes(test):
            return {"in training mode inside": Matches(lambda got: None if test(got.values()) else "no", "these modes")}

        return {
            "feat_on_a_copy": {"in training mode inside": everything, "what the hooks got": {}},
            "feat_no_grad_is_not_eval": modes(all),
            "feat_some_modules_only": modes(any),
            "feat_freezes": {"model(x) requires a gradient": True, "trainable parameters inside": 0},
        }


class Afterwards(Check):
    """After the block the model's modes, hooks, buffers and `requires_grad` are what they were before."""

    errors = ERRORS
    blame = AFTER

    def given(self, case):
        model = case.build("net", TinyResNet).train()
        model.conv1.requires_grad_(False)
        return model, case.tensor("x", 2, 3, *case.shape("size", 2, 6, 9))

    def probe(self, nb, case):
        model, x = self.hooked(case)
        with nb.function("looking_at")(model, {"bn1": lambda module, args, output: None}):
            model(x)
        return state(model, x, case)

    def hooked(self, case):
        model, x = self.given(case)
        model.bn1.register_forward_hook(lambda module, args, output: None)
        return model, x

    def truth(self, case):
        return state(*self.hooked(case), case, as_before)

    def mistakes(self, case):
        return {
            "removes_other_hooks": {"hooks after, 1 before": 0},
            "feat_hook_left": {"hooks after, 1 before": Matches(lambda got: None if got > 1 else "no", "more")},
        }


check("untouched_model", Inside, Afterwards)


### BEGIN HIDDEN TESTS
class EachInItsOwnMode(Afterwards):
    """Where modules were in different modes, each one is in its own again."""

    blame = {**AFTER, "in training mode after": "feat_one_mode_for_all"}

    def given(self, case):
        model, x = super().given(case)
        names = case.shuffled("frozen", ["bn1", "block.bn1", "block.bn2", "block.relu", "pool"])
        for name in names[:2]:
            model.get_submodule(name).eval()
        model.block.training = False  # and most of its children are in training mode
        return model, x


class AfterAnError(Afterwards):
    """Where the block ends with an error, the error reaches the caller, and the model is as it was all the same."""

    blame = {**AFTER, "the error reaches the caller": "feat_error_swallowed"}

    def probe(self, nb, case):
        model, x = self.hooked(case)
        reached = "nothing"
        try:
            with nb.function("looking_at")(model, {"bn1": lambda module, args, output: None}):
                model(x)
                raise ZeroDivisionError(case.words("error", 1)[0])
        except ZeroDivisionError as error:
            reached = str(error)
        return {"the error reaches the caller": reached, **state(model, x, case)}

    def truth(self, case):
        return {"the error reaches the caller": case.words("error", 1)[0], **super().truth(case)}

    def mistakes(self, case):
        more = Matches(lambda got: None if got > 1 else "no", "more")
        none = Matches(lambda got: "no" if any(got.values()) else None, "no module in training mode")
        return {
            "removes_other_hooks": {"hooks after, 1 before": 0},
            "feat_error_skips": AnyOf({"in training mode after": none}, {"hooks after, 1 before": more}),
        }


class WhereNothingIsRecorded(Afterwards):
    """Where autograd did not record before the block, it does not record after it."""

    def probe(self, nb, case):
        model, x = self.hooked(case)
        with torch.no_grad():
            with nb.function("looking_at")(model, {"bn1": lambda module, args, output: None}):
                model(x)
            return state(model, x, case)

    def truth(self, case):
        with torch.no_grad():
            return super().truth(case)


check("untouched_model", EachInItsOwnMode, AfterAnError, WhereNothingIsRecorded)
### END HIDDEN TESTS

# %% [markdown]
# ## One layer, two calls
#
# A hook fires at each call of its module. Each block of ResNet-18 has one `relu` and runs it twice. If you keep outputs in a dict, the second
# replaces the first.

# %%
calls = {}


def count_call(name, module, args, output):
    calls[name] = calls.get(name, 0) + 1


handles = [
    module.register_forward_hook(partial(count_call, name))
    for name, module in net.named_modules()
]
with torch.no_grad():
    net(x)
for handle in handles:
    handle.remove()
print("more than once:", [name for name, times in calls.items() if times > 1])

# %% [markdown]
# The other way round, one module may be known under several names. `named_modules()` lists it once, under the first name; a loop over the
# children of each module, or `remove_duplicate=False`, would give it two hooks.

# %%
shared = nn.ReLU()
twins = nn.Sequential(nn.Linear(2, 2), shared, nn.Linear(2, 2), shared)
print([name for name, _ in twins.named_modules()])
print([name for name, _ in twins.named_modules(remove_duplicate=False)])

# %% [markdown]
# ### Exercise: Every call
#
# medium · 10 min · 3 points
#
# Predict first. Here is a model. Its modules (without the model itself) get a forward hook each. Which names do the hooks report
# in one call, in which order? Write the names into the list `predicted`, before you run anything.

# %%
show_source(Rounds)

# %% [markdown]
# Then let the machine tell. Write `record_calls(model, x)`: it runs any model on `x` once and returns a list of pairs `(name, output)`, **one
# for each call** of each module below the model, in the order in which the hooks fire. Containers count as well.
#
# - The name is the one that `named_modules()` gives.
# - Outputs are kept as in `safe_features`: as they were, without a gradient. Each call returns a list of its own, and leaves no hook
#   behind. (Every output is one tensor.)


# %% nbgrader={"grade": false, "grade_id": "reused_modules", "locked": false, "schema_version": 3, "solution": true, "task": false}
predicted = []  # TODO: the names, in the order in which the hooks of Rounds() fire

### BEGIN SOLUTION
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]
### END SOLUTION


def record_calls(model: nn.Module, x: torch.Tensor) -> list[tuple[str, torch.Tensor]]:
    """Run `model` on `x`; return (name, copy of the output) for each call of each module, in order."""
    # TODO: one hook a module, one entry a call.
    ### BEGIN SOLUTION
    calls, handles = [], []

    def keep(name, module, args, output):
        calls.append((name, output.detach().clone()))

    try:
        for name, module in model.named_modules():
            if name:
                handles.append(module.register_forward_hook(partial(keep, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return calls
    ### END SOLUTION


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])

# %% nbgrader={"grade": true, "grade_id": "test_reused_modules", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch
from torch import nn

from course.checking import Check, check
from course.compare import AnyOf, Close, Matches
from course.models import Rounds, TinyResNet
from course.probing import hook_counts, other_than
from course.traces import as_before, gradients_from, no_gradients_from, what_runs

ERRORS = {
    r"TypeError: .*(argument 'input'|some of the arguments have invalid types).*tuple": "hook_replaces_output",
    r"AttributeError: 'tuple' object has no attribute 'dim'": "hook_replaces_output",
}


def calls_of(model, x):
    """Each call of a module below the model, without any hook: name, copy of the output, the output itself, its start."""
    calls, starts = [], []

    def wrapped(name, forward):
        def run(*args):
            start = len(starts)
            starts.append(name)
            output = forward(*args)
            calls.append((name, output.detach().clone(), output.detach(), start))
            return output

        return run

    for name, module in model.named_modules():
        if name:
            module.forward = wrapped(name, module.forward)
    model(x)
    return calls


def pairs(calls, part=1):
    return [[call[0], Close(call[part], rtol=1e-4, atol=1e-4)] for call in calls]


def flaws(calls, model, field="calls"):
    """What known misconceptions would bring for these calls."""
    names = [call[0] for call in calls]
    once = list(dict.fromkeys(names))
    last, first = {call[0]: call for call in calls}, {call[0]: call for call in reversed(calls)}
    kinds = {name: type(module).__name__ for name, module in model.named_modules()}
    parents = {name for name, module in model.named_modules() if list(module.children())}

    def told(test):
        def flaw(got):
            return None if test([pair[0] for pair in got]) else "no"

        return {field: Matches(flaw, "this flaw")}

    return {
        "returns_nothing": {field: None},
        "nothing_kept": {field: []},
        "feat_one_entry": {
            field: AnyOf(
                *(pairs([found[name] for name in order]) for found in (last, first) for order in (once, [*found]))
            )
        },
        "feat_grouped": {field: pairs([call for name in once for call in calls if call[0] == name])},
        "loop_variable": told(lambda got: len(got) >= len(names) and len(set(got)) == 1 < len(once)),
        "class_or_name": told(lambda got: got == [kinds[name] for name in names]),
        "feat_root_listed": told(lambda got: len(got) == len(names) + 1 and got[:-1] == names),
        "feat_numbered": told(lambda got: got != names and [name.rsplit("_", 1)[0] for name in got] == names),
        "feat_top_level": told(lambda got: got == [name for name in names if "." not in name]),
        "feat_no_containers": told(lambda got: got == [name for name in names if name not in parents]),
        "feat_alias": {field: pairs(calls, 2)},
        "feat_begins": {field: pairs(sorted(calls, key=lambda call: call[3]))},
        "feat_outputs_only": {field: [pair[1] for pair in pairs(calls)]},
        "feat_names_only": {field: names},
    }


def attached(calls):
    """The places of the outputs that require a gradient."""
    outputs = (
        [pair[-1] for pair in calls if isinstance(pair, (tuple, list)) and pair] if isinstance(calls, list) else []
    )
    return [place for place, output in enumerate(outputs) if getattr(output, "requires_grad", False)]


def reached_from(calls, model, case):
    """What a backward from the outputs leaves in the model."""
    try:
        return gradients_from([pair[-1] for pair in calls], model, case)
    except (TypeError, IndexError, KeyError):  # no list of pairs, and told as such
        return None


class Predicted(Check):
    """`predicted` holds the names of the modules of `Rounds()` in the order in which their hooks fire."""

    secret = True

    def probe(self, nb, case):
        return {"predicted": nb.list("predicted")}

    def truth(self, case):
        return {"predicted": [call[0] for call in calls_of(Rounds(), torch.ones(1, 3))]}

    def mistakes(self, case):
        names = self.truth(case)["predicted"]
        once = list(dict.fromkeys(names))
        others = [one for other in ("relu", "torch.relu", "F.relu", "sub", "rsub") for one in (other,)]

        def test(says):
            return {"predicted": Matches(lambda got: None if says(got) else "no", "this flaw")}

        return {
            "feat_no_prediction": {"predicted": []},
            "feat_one_entry": {"predicted": once},
            "feat_grouped": test(
                lambda got: got != names and sorted(got) == sorted(names) and len(set(map(str, got))) == 3
            ),
            "feat_function_fires": test(
                lambda got: len(got) > len(names) and got[:6] == names and set(got[6:]) <= {*others}
            ),
            "feat_root_listed": test(lambda got: got[:6] == names and len(got) == 7),
            "class_or_name": test(lambda got: set(got) <= {"Linear", "ReLU", "Rounds"}),
            "feat_rounds_counted": test(lambda got: set(got) == {*names} and len(got) != len(names)),
        }


class EveryCall(Check):
    """`record_calls(model, x)` is a list of `(name, output)`, one pair for each call, in the order of the calls."""

    errors = ERRORS
    blame = {"outputs that require a gradient": "feat_graph"}

    def given(self, case):
        return case.build("net", Rounds), case.tensor("x", *case.shape("size", 1, 2, 5), 3)

    def probe(self, nb, case):
        model, x = self.given(case)
        calls = nb.function("record_calls")(model, x)
        reached = reached_from(calls, model, case)
        return {
            "calls": calls, "outputs that require a gradient": attached(calls),
            "gradients of the model, from the outputs": reached,
        }  # fmt: skip

    def truth(self, case):
        model, x = self.given(case)
        return {
            "calls": pairs(calls_of(model, x)), "outputs that require a gradient": [],
            "gradients of the model, from the outputs": no_gradients_from(model, case),
        }  # fmt: skip

    def mistakes(self, case):
        return flaws(calls_of(*self.given(case)), self.given(case)[0])


check("reused_modules", Predicted, EveryCall)


### BEGIN HIDDEN TESTS
class NestedAndInPlace(EveryCall):
    """Nested modules report as well, a container after its parts, and every output is as it was when its call ended."""

    def given(self, case):
        return case.build("net", TinyResNet).eval(), case.tensor("x", 2, 3, *case.shape("size", 2, 6, 9))


class Twins(nn.Module):
    """One layer, known under two names."""

    def __init__(self, one, two, three):
        super().__init__()
        self.names = (one, two, three)
        self.add_module(one, nn.Sequential(nn.Linear(3, 3), nn.Tanh()))
        self.add_module(two, nn.Linear(3, 3))
        self.add_module(three, nn.Sequential(getattr(self, two), nn.Sigmoid()))

    def forward(self, x):
        for name in self.names:
            x = getattr(self, name)(x)
        return x


class UnderTwoNames(EveryCall):
    """A module that is known under two names has one hook, and reports under the first name."""

    def given(self, case):
        return case.build("net", Twins, *case.words("names", 3)), case.tensor("x", 2, 3)

    def mistakes(self, case):
        model, x = self.given(case)
        calls = calls_of(model, x)

        def often(got):
            return None if len(got) > len(calls) else "no"

        return {"feat_under_each_name": {"calls": Matches(often, "more calls")}, **flaws(calls, model)}


class CalledAgain(EveryCall):
    """A second run brings its own calls only, an earlier list stays as it is, and no hook is left on the model."""

    blame = {"hooks on the model": "feat_hook_left", "calls of the first run, later": "feat_one_dict"}

    def probe(self, nb, case):
        model, x = self.given(case)
        first = nb.function("record_calls")(model, x)
        second = nb.function("record_calls")(model, -x)
        hooks = sum(hook_counts(model).values())
        return {
            "calls of the first run, later": first,
            "calls of the second run": second,
            "hooks on the model": hooks,
            "what runs in model(x) afterwards": what_runs(model, case, lambda: model(x).sum().backward()),
        }

    def truth(self, case):
        model, x = self.given(case)
        first, second, fresh = calls_of(model, x), calls_of(self.given(case)[0], -x), self.given(case)[0]
        return {
            "calls of the first run, later": pairs(first),
            "calls of the second run": pairs(second),
            "hooks on the model": 0,
            "what runs in model(x) afterwards": as_before(
                what_runs(fresh, case, lambda: fresh(x).sum().backward())
            ),
        }

    def mistakes(self, case):
        return {"feat_hook_left": {"hooks on the model": other_than(0)}}


check("reused_modules", NestedAndInPlace, UnderTwoNames, CalledAgain)
### END HIDDEN TESTS

# %% [markdown]
# ## Outputs that are not tensors
#
# Some layers return more than one thing. An LSTM gives a tuple in a tuple: the outputs of all steps, and a pair of last states. Attention
# gives a tuple too, and its second part may be `None`. A hook that calls `output.detach()` fails at all of these.


# %%
def parts(output, place=""):
    return " ".join(
        f"[{place}{i}] {type(part).__name__ if not isinstance(part, torch.Tensor) else tuple(part.shape)}"
        for i, part in enumerate(output)
    )


lstm, attention = nn.LSTM(4, 3, batch_first=True), nn.MultiheadAttention(4, 2, batch_first=True)
tokens = torch.ones(2, 5, 4)  # 2 sentences, 5 words, 4 numbers a word
for layer in (lstm, attention):
    layer.register_forward_hook(
        lambda m, args, output: print(f"{type(m).__name__:18}", parts(output))
    )
_ = (
    lstm(tokens),
    attention(tokens, tokens, tokens),
    attention(tokens, tokens, tokens, need_weights=False),
)

# %% [markdown]
# `output[0]` is no way out. It loses the rest, and on a layer that returns one tensor it means something else:

# %%
output = nn.Linear(4, 3)(tokens)
print(tuple(output.shape), "-> output[0] is the first sentence only:", tuple(output[0].shape))

# %% [markdown]
# (And some layers never speak: `attention` has a child `out_proj`, but uses its weights in a function, without calling it. A hook on it stays silent.)

# %%
attention.out_proj.register_forward_hook(lambda m, args, output: print("out_proj has run"))
_ = attention(tokens, tokens, tokens)

# %% [markdown]
# ### Exercise: Every tensor
#
# medium · 12 min · 3 points
#
# Write `every_tensor(model, layers, x)`. It runs `model` on `x` and returns a flat dict with **every** tensor that the named layers return. Its
# keys tell where each one was:
#
# | the layer `rnn` returns | keys |
# | --- | --- |
# | a tensor | `rnn` |
# | a tuple or list, as an LSTM does: `(output, (h, c))` | `rnn.0`, `rnn.1.0`, `rnn.1.1` |
# | a dict `{"score": ..., "extra": [...]}` | `rnn.score`, `rnn.extra.0`, ... |
#
# and so on, however deep. What is no tensor at the end of its path (`None`, a number, text) is left out. Tensors are kept as before: as they
# were, without a gradient. The hooks are gone afterwards. (Each layer runs once a call.)


# %% nbgrader={"grade": false, "grade_id": "tuple_outputs", "locked": false, "schema_version": 3, "solution": true, "task": false}
def every_tensor(model: nn.Module, layers: list[str], x: torch.Tensor) -> dict[str, torch.Tensor]:
    """Run `model` on `x`; return a copy of every tensor that the layers returned, by name and place."""
    # TODO: what is to be done with a tensor, with a tuple or list, with a dict, with anything else?
    ### BEGIN SOLUTION
    found, handles = {}, []

    def put(place, output):
        if isinstance(output, torch.Tensor):
            found[place] = output.detach().clone()
        elif isinstance(output, dict):
            for key, part in output.items():
                put(f"{place}.{key}", part)
        elif isinstance(output, (tuple, list)):
            for index, part in enumerate(output):
                put(f"{place}.{index}", part)

    def hook(name, module, args, output):
        put(name, output)

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found
    ### END SOLUTION


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% nbgrader={"grade": true, "grade_id": "test_tuple_outputs", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch
from torch import nn

from course.checking import Check, check
from course.compare import AnyOf, Close, Matches, is_same
from course.probing import hook_counts
from course.traces import as_before, gradients_from, no_gradients_from, what_runs

ERRORS = {
    r"AttributeError: 'tuple' object has no attribute": "feat_output_is_tuple",
    r"AttributeError: 'dict' object has no attribute '(detach|clone|data|cpu)'": "feat_dict_skipped",
    r"AttributeError: '(NoneType|str|int|float)' object has no attribute": "feat_none_part",
    r"TypeError: '(NoneType|int|float)' object is not iterable": "feat_none_part",
    r"TypeError: cannot unpack non-iterable NoneType": "feat_none_part",
    r"RecursionError": "feat_into_text",
    r"TypeError: iteration over a 0-d tensor": "feat_tensor_apart",
    r"(TypeError: '\w+' object is not subscriptable|ValueError: (too many|not enough) values to unpack)": "feat_typed_in_form",
    r"IndexError: tuple index out of range": "feat_typed_in_form",
    r"AttributeError: '\w+' object has no attribute '\w+(\.\w+)+'": "dotted_name",
    r"KeyError: '\w+(\.\w+)+'": "dotted_name",
}


class Reader(nn.Module):
    """Reads sentences: an LSTM, attention over its outputs, and a block with a linear layer in it."""

    def __init__(self, lstm, attention, block):
        super().__init__()
        self.names = (lstm, attention, block)
        self.add_module(lstm, nn.LSTM(4, 6, num_layers=2, batch_first=True))
        self.add_module(attention, nn.MultiheadAttention(6, 2, batch_first=True))
        self.add_module(block, nn.Sequential(nn.Linear(6, 3), nn.Tanh()))

    def forward(self, x):
        lstm, attention, block = (getattr(self, name) for name in self.names)
        output, _ = lstm(x)
        mixed, _ = attention(output, output, output)
        return block(mixed)


def close(tensors):
    return {name: Close(tensor, rtol=1e-4, atol=1e-4) for name, tensor in tensors.items()}


def attached(tensors):
    """The names of the tensors that require a gradient."""
    pairs = tensors.items() if isinstance(tensors, dict) else ()
    return sorted(str(name) for name, value in pairs if getattr(value, "requires_grad", False))


def reached_from(tensors, model, case):
    """What a backward from the tensors leaves in the model."""
    try:
        return gradients_from(tensors.values(), model, case)
    except AttributeError:  # no dict, and told as such
        return None


class LstmAndAttention(Check):
    """`every_tensor(model, layers, x)` holds every tensor of an LSTM, of attention and of a linear layer, by its place."""

    errors = ERRORS
    blame = {"tensors that require a gradient": "feat_graph"}

    def given(self, case):
        names = case.words("names", 3)
        model = case.build("net", Reader, *names).eval()
        return model, [names[1], f"{names[2]}.0", names[0]], case.tensor("x", *case.shape("size", 2, 2, 5), 4)

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        tensors = nb.function("every_tensor")(model, list(layers), x)
        hooks = sum(hook_counts(model).values())
        return {
            "tensors": tensors, "tensors that require a gradient": attached(tensors), "hooks on the model": hooks,
            "what runs in model(x) afterwards": what_runs(model, case, lambda: model(x).sum().backward()),
            "gradients of the model, from the tensors": reached_from(tensors, model, case),
        }  # fmt: skip

    def parts(self, case):
        """What the layers return, by hand."""
        model, _, x = self.given(case)
        lstm, attention, block = model.names
        found = getattr(model, lstm)(x)
        mixed = getattr(model, attention)(*[found[0]] * 3)
        return {attention: mixed, f"{block}.0": getattr(model, block)[0](mixed[0]), lstm: found}

    def truth(self, case):
        (attention, (mixed, weights)), (linear, output), (lstm, (steps, (h, c))) = self.parts(case).items()
        tensors = {f"{attention}.0": mixed, f"{attention}.1": weights, linear: output}
        tensors |= {f"{lstm}.0": steps, f"{lstm}.1.0": h, f"{lstm}.1.1": c}
        model, _, x = self.given(case)
        runs = as_before(what_runs(model, case, lambda: model(x).sum().backward()))
        return {
            "tensors": close(tensors), "tensors that require a gradient": [], "hooks on the model": 0,
            "what runs in model(x) afterwards": runs,
            "gradients of the model, from the tensors": no_gradients_from(model, case),
        }  # fmt: skip

    def mistakes(self, case):
        (attention, _), (linear, output), (lstm, (_, (_, c))) = self.parts(case).items()
        wanted = self.truth(case)["tensors"]

        def flaw(test):
            return {"tensors": Matches(lambda got: None if isinstance(got, dict) and test(got) else "no", "this flaw")}

        def same(got, value):
            return is_same(got, Close(value, rtol=1e-4, atol=1e-4))

        return {
            "returns_nothing": {"tensors": None},
            "nothing_kept": {"tensors": {}},
            "feat_tensor_apart": flaw(lambda got: any(key.startswith(f"{linear}.") for key in got)),
            "feat_first_part": flaw(
                lambda got: same(got.get(linear), output[0]) or set(got) == {f"{attention}.0", linear, f"{lstm}.0"}
            ),
            "feat_tuples_skipped": {"tensors": close({linear: output})},
            "feat_one_level": flaw(lambda got: set(got) == set(wanted) - {f"{lstm}.1.0", f"{lstm}.1.1"}),
            "feat_flat_numbers": flaw(lambda got: {f"{lstm}.1", f"{lstm}.2"} < set(got) and len(got) == len(wanted)),
            "feat_parts_overwrite": flaw(lambda got: same(got.get(lstm), c)),
            "feat_nested_value": flaw(lambda got: set(got) == {attention, linear, lstm}),
            "loop_variable": flaw(lambda got: {name.split(".")[0] for name in got} == {lstm}),
            "feat_hook_left": {"hooks on the model": Matches(lambda got: None if got else "no", "some")},
        }  # fmt: skip


check("tuple_outputs", LstmAndAttention)


### BEGIN HIDDEN TESTS
class Mixed(nn.Module):
    """Returns tensors, and things that are none, in a dict with a list and a dict in it."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        score = self.fc(x)
        extra = [score * 2, None, (x + 1,), []]
        return {"score": score, "extra": extra, "name": "mixed", "size": 3, "more": {"mean": score.mean(0)}}


class NoneAndDicts(Check):
    """Dicts and lists at any depth are opened; None, numbers and text are left out."""

    errors = ERRORS

    def given(self, case):
        one, two = case.words("names", 2)

        class Both(nn.Module):
            def __init__(self):
                super().__init__()
                self.add_module(one, nn.MultiheadAttention(4, 2, batch_first=True))
                self.add_module(two, Mixed())

            def forward(self, x):
                x, _ = getattr(self, one)(x, x, x, need_weights=False)
                return getattr(self, two)(x)["score"]

        return case.build("net", Both), [two, one], case.tensor("x", *case.shape("size", 2, 2, 5), 4)

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        return {"tensors": nb.function("every_tensor")(model, list(layers), x)}

    def truth(self, case):
        model, (mixed, attention), x = self.given(case)
        middle, _ = getattr(model, attention)(x, x, x)
        found = getattr(model, mixed)(middle)
        tensors = {
            f"{mixed}.score": found["score"],
            f"{mixed}.extra.0": found["score"] * 2,
            f"{mixed}.extra.2.0": middle + 1,
            f"{mixed}.more.mean": found["score"].mean(0),
            f"{attention}.0": middle,
        }
        return {"tensors": close(tensors)}

    def mistakes(self, case):
        _, (mixed, attention), _ = self.given(case)
        wanted = set(self.truth(case)["tensors"])

        def flaw(test):
            return {"tensors": Matches(lambda got: None if test(set(got)) else "no", "this flaw")}

        return {
            "feat_dict_skipped": flaw(
                lambda got: got == {f"{attention}.0"} or f"{mixed}.more.0" in got or f"{mixed}.0" in got
            ),
            "feat_none_part": flaw(lambda got: wanted < got),
            "feat_one_level": flaw(lambda got: got < wanted and f"{mixed}.extra.2.0" not in got),
        }


class WritesBehind(nn.Module):
    """A pair, of which the caller overwrites the first part."""

    def forward(self, x):
        return x * 2, x * 3


class InPlaceAfterwards(Check):
    """A tensor inside a tuple is kept as it was, whatever is written into it later."""

    errors = ERRORS

    def given(self, case):
        (name,) = case.words("name", 1)

        class Caller(nn.Module):
            def __init__(self):
                super().__init__()
                self.add_module(name, WritesBehind())

            def forward(self, x):
                one, two = getattr(self, name)(x)
                return one.relu_() + two

        return Caller(), name, case.tensor("x", 3, 4)

    def probe(self, nb, case):
        model, name, x = self.given(case)
        return {"tensors": nb.function("every_tensor")(model, [name], x)}

    def truth(self, case):
        _, name, x = self.given(case)
        return {"tensors": {f"{name}.0": x * 2, f"{name}.1": x * 3}}

    def mistakes(self, case):
        _, name, x = self.given(case)
        return {"feat_alias": {"tensors": {f"{name}.0": (x * 2).relu(), f"{name}.1": x * 3}}}


check("tuple_outputs", NoneAndDicts, InPlaceAfterwards)
### END HIDDEN TESTS

# %% [markdown]
# ## What hooks cannot see
#
# A hook sees modules: what goes in, what comes out. The sum in the residual block is no module, and neither is `torch.flatten`. torchvision's
# tool sees them, because it does not listen. It runs `forward` with stand-ins instead of tensors and writes down each operation: this is
# *tracing*, done by `torch.fx`. Here are its notes on the small model, and the modules that have a hook's chance:

# %%
tiny = TinyResNet().eval()
steps = get_graph_node_names(tiny)[1]  # for eval mode; [0] is for training mode
print(
    "steps without a module of that name:",
    [step for step in steps if step not in dict(tiny.named_modules())],
)

# %% [markdown]
# `x` is the input. `block.add` is the sum, `flatten` a function, and `block.relu_1` the **second call** of `block.relu`: where a hook
# reports twice under one name, each call has a step of its own here. From the notes the tool makes a **new** model that returns the steps
# you name, and ends where the last of them ends. For layers, both ways give the same numbers. (An `ExitStack` is a `with` for any
# number of hooks.)

# %%
wanted = ["conv1", "layer1.0.conv2", "layer3"]
hooks = {}
with torch.no_grad(), ExitStack() as stack:
    traced = create_feature_extractor(net, wanted)
    fx = traced(x)
    for name in wanted:
        layer = net.get_submodule(name)
        stack.enter_context(
            layer.register_forward_hook(
                lambda m, a, o, name=name: hooks.update({name: o.clone()})
            )
        )
    net(x)
print("equal:", [torch.equal(hooks[name], fx[name]) for name in wanted])
print(
    "parameters:",
    sum(p.numel() for p in net.parameters()),
    "->",
    sum(p.numel() for p in traced.parameters()),
)

# %% [markdown]
# There is no clone in it either. What you get for a step depends on what else you ask for: if `bn1` is all you want, the new model
# ends there, and the in-place ReLU never runs.

# %%
with torch.no_grad():
    alone = create_feature_extractor(net, ["bn1"])(x)["bn1"]
    beside = create_feature_extractor(net, ["bn1", "layer1"])(x)["bn1"]
print(f"bn1 alone: smallest value {alone.min():.3f}   bn1 beside layer1: {beside.min():.3f}")

# %% [markdown]
# And `forward` has to be traceable. An `if` on a tensor's value ends it; a hook does not mind.


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
# | what you can get | inputs and outputs of modules | also results of functions and `+`, and each call apart |
# | cost | the whole forward runs | stops after the last step asked for |
# | the model | carries hooks until you remove them | a new model, which shares its parameters with the old one |
# | also good for | changing outputs, gradients | saving and using the cut model on its own |
#
# A short look into a model: hooks. A backbone that goes into a product: the extractor.
#
# ### Exercise: Hooks or fx?
#
# medium · 12 min · 3 points
#
# Write `value_at(model, step, x)`. It runs `model` on `x` and returns the value of one step, as it was when it was computed. Choose the
# tool by the step:
#
# - If `step` is the dotted name of a module, it means this module's output; the **first** call's, if there are several. The model may be any,
#   also one that cannot be traced.
# - Otherwise it is a step as `get_graph_node_names` lists them, such as `block.add`, `flatten` or `block.relu_1`. Then the model can be traced.
#
# No hook of yours is left on the model. (The models are in eval mode, and the value is one tensor.)


# %% nbgrader={"grade": false, "grade_id": "hooks_or_fx", "locked": false, "schema_version": 3, "solution": true, "task": false}
def value_at(model: nn.Module, step: str, x: torch.Tensor) -> torch.Tensor:
    """The value of one step of `model(x)`: a module's first output, or any other step of its graph."""
    # TODO: is there a module of that name?
    ### BEGIN SOLUTION
    if step not in dict(model.named_modules()):
        return create_feature_extractor(model, [step])(x)[step]
    outputs = []
    with model.get_submodule(step).register_forward_hook(
        lambda m, a, output: outputs.append(output.detach().clone())
    ):
        model(x)
    return outputs[0]
    ### END SOLUTION


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))

# %% nbgrader={"grade": true, "grade_id": "test_hooks_or_fx", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import course
import torch
from torch import nn
from torch.nn import functional

from course.checking import Check, check
from course.compare import AnyOf, Close, Matches, is_same
from course.models import TinyResNet
from course.probing import hook_counts
from course.traces import as_before, what_runs

ERRORS = {
    r"AttributeError: \w+ has no attribute `\w+`": "feat_no_module_behind",
    r"KeyError: ": "feat_fx_own_names",
    r"ValueError: return_layers are not present in model": "dotted_name",
    r"RuntimeError: mat1 and mat2 shapes": "children_in_a_row",
    r"TraceError: symbolically traced variables": "feat_cannot_be_traced",
    r"AttributeError: '\w+' object has no attribute '\w+(\.\w+)+'": "dotted_name",
    r"AttributeError: '(Picky|Functional)' object has no attribute '(conv1|bn1|relu|block|pool|fc)'": "typed_in_names",
}


class Steps(Check):
    """`value_at(model, step, x)` is the value of that step: of a layer, of a later call of a layer, of a sum or function."""

    errors = ERRORS

    def given(self, case):
        steps = ["bn1", "block.bn2", "block.add", "block.relu", "block.relu_1", "flatten", "fc"]
        return case.build("net", TinyResNet).eval(), case.shuffled("steps", steps), case.tensor("x", 2, 3, 7, 9)

    def probe(self, nb, case):
        model, steps, x = self.given(case)
        values = {step: nb.function("value_at")(model, step, x) for step in steps}
        return {
            "values": values,
            "hooks on the model": sum(hook_counts(model).values()),
            "what runs in model(x) afterwards": what_runs(model, case, lambda: model(x).sum().backward()),
        }

    def by_hand(self, case):
        """Each step's value, from the model's forward, with nothing in place."""
        model, _, x = self.given(case)
        block, v = model.block, {}
        v["conv1"] = model.conv1(x)
        v["bn1"] = model.bn1(v["conv1"])
        v["relu"] = torch.relu(v["bn1"])
        v["block.bn1"] = block.bn1(block.conv1(v["relu"]))
        v["block.relu"] = torch.relu(v["block.bn1"])
        v["block.bn2"] = block.bn2(block.conv2(v["block.relu"]))
        v["block.add"] = v["block.bn2"] + v["relu"]
        v["block.relu_1"] = torch.relu(v["block.add"])
        v["flatten"] = model.pool(v["block.relu_1"]).flatten(1)
        v["fc"] = model.fc(v["flatten"])
        return v

    def truth(self, case):
        values, (model, steps, x) = self.by_hand(case), self.given(case)
        wanted = {step: Close(values[step].detach(), rtol=1e-4, atol=1e-4) for step in steps}
        runs = as_before(what_runs(model, case, lambda: model(x).sum().backward()))
        return {"values": wanted, "hooks on the model": 0, "what runs in model(x) afterwards": runs}

    def mistakes(self, case):
        model, _, x = self.given(case)
        values = self.by_hand(case)
        train = model.train().conv1(x)

        def flaw(test):
            return {"values": Matches(lambda got: None if test(got) else "no", "this flaw")}

        def same(got, value):
            return is_same(got, Close(value.detach(), rtol=1e-4, atol=1e-4))

        return {
            "returns_nothing": flaw(lambda got: all(value is None for value in got.values())),
            "feat_no_module_behind": flaw(lambda got: got["block.add"] is None or got["flatten"] is None),
            "feat_dict_for_value": flaw(lambda got: any(isinstance(value, (dict, list)) for value in got.values())),
            "output_for_features": flaw(lambda got: same(got["bn1"], values["fc"])),
            "changes_mode": flaw(lambda got: same(got["bn1"], model.bn1(train))),
            "feat_suffix": flaw(
                lambda got: same(got["block.relu"], values["block.relu"]) and same(got["block.relu_1"], values["block.relu"])
            ),
            "feat_last_call": flaw(lambda got: same(got["block.relu"], values["block.relu_1"])),
            "feat_alias": flaw(
                lambda got: any(
                    same(got[step], later)
                    for step, later in (("bn1", values["relu"]), ("block.bn2", values["block.relu_1"]),
                                        ("block.add", values["block.relu_1"]))
                )
            ),
            "feat_hook_left": {"hooks on the model": Matches(lambda got: None if got else "no", "some")},
        }  # fmt: skip


check("hooks_or_fx", Steps)


### BEGIN HIDDEN TESTS
class Picky(nn.Module):
    """Asks a tensor how to go on, so it cannot be traced. One layer runs at least twice."""

    def __init__(self, first, second):
        super().__init__()
        self.names = (first, second)
        self.add_module(first, nn.Linear(4, 4))
        self.add_module(second, nn.Sequential(nn.Linear(4, 4), nn.Tanh()))

    def forward(self, x):
        first, second = (getattr(self, name) for name in self.names)
        x = second(first(x))
        while x.norm() < 1000:
            x = second(x) + x * 100
        return x


class NotTraceable(Check):
    """A module's output is found in a model that cannot be traced, too: the first call's."""

    errors = ERRORS

    def given(self, case):
        first, second = case.words("names", 2)
        return case.build("net", Picky, first, second).eval(), [f"{second}.0", first, second], case.tensor("x", 2, 4)

    def probe(self, nb, case):
        model, steps, x = self.given(case)
        return {"values": {step: nb.function("value_at")(model, step, x) for step in steps}}

    def truth(self, case):
        model, (inner, first, second), x = self.given(case)
        values = {first: model.get_submodule(first)(x)}
        values[inner] = model.get_submodule(inner)(values[first])
        values[second] = torch.tanh(values[inner])
        return {"values": {step: Close(values[step].detach(), rtol=1e-4, atol=1e-4) for step in (inner, first, second)}}

    def mistakes(self, case):
        return {}


class Functional(nn.Module):
    """A layer that runs twice; between its calls, functions, an operator and a method."""

    def __init__(self, first, last):
        super().__init__()
        self.names = (first, last)
        self.add_module(first, nn.Linear(4, 4))
        self.add_module(last, nn.Linear(8, 3))

    def forward(self, x):
        first, last = (getattr(self, name) for name in self.names)
        one = functional.relu(first(x))
        two = functional.relu(first(one)) * 3
        return last(torch.cat([one, two], 1)).mean(0)


class OtherFunctions(Steps):
    """Functions, operators and methods of any model are found, also a function that is called twice."""

    errors = {r"AttributeError: Functional has no attribute `relu`": "feat_call_number", **ERRORS}

    def given(self, case):
        first, last = case.words("names", 2)
        steps = ["relu", f"{first}_1", "relu_1", "mul", "cat", "mean"]
        return case.build("net", Functional, first, last).eval(), case.shuffled("steps", steps), case.tensor("x", 2, 4)

    def by_hand(self, case):
        model, _, x = self.given(case)
        first, last = (getattr(model, name) for name in model.names)
        v = {"relu": functional.relu(first(x))}
        v[f"{model.names[0]}_1"] = first(v["relu"])
        v["relu_1"] = functional.relu(v[f"{model.names[0]}_1"])
        v["mul"] = v["relu_1"] * 3
        v["cat"] = torch.cat([v["relu"], v["mul"]], 1)
        v["mean"] = last(v["cat"]).mean(0)
        return v

    def mistakes(self, case):
        return {}


check("hooks_or_fx", NotTraceable, OtherFunctions)
### END HIDDEN TESTS

# %% [markdown]
# ## What a layer costs
#
# A hook sees shapes, and shapes tell how much work a layer is. The usual unit is the **MAC**: one multiplication, and the addition of
# its product to a sum. How many go into **one number** of a layer's output? Let the layer count itself. With weights and inputs of 1 every product is
# 1, and the sum is the number of products:


# %%
def products(layer, *shape):
    nn.init.ones_(layer.weight)
    with torch.no_grad():
        return f"{layer(torch.ones(shape)).max():.0f} for each number of the output, weight {tuple(layer.weight.shape)}"


print("Linear(7, 4)               ", products(nn.Linear(7, 4, bias=False), 1, 7))
print("Conv2d(6, 4, 3)            ", products(nn.Conv2d(6, 4, 3, bias=False), 1, 6, 8, 8))
print("Conv2d(6, 4, (3, 5))       ", products(nn.Conv2d(6, 4, (3, 5), bias=False), 1, 6, 8, 8))
print(
    "Conv2d(6, 4, 3, groups=2)  ", products(nn.Conv2d(6, 4, 3, groups=2, bias=False), 1, 6, 8, 8)
)

# %% [markdown]
# A linear layer takes `in_features` products for each number it puts out, a convolution one for each number in its window, over the channels that
# it looks at. With groups these are only `in_channels / groups`. How many numbers there are is up to the output: the whole batch, all places, all channels.
#
# ### Exercise: Count the MACs
#
# hard · 15 min · 3 points
#
# Write `count_macs(model, x)`. It runs `model` on `x` with forward hooks, and returns how many MACs this one call took, as an `int`:
#
# - in all `nn.Linear` and `nn.Conv2d` layers, wherever they are in the model; everything else (bias, ReLU, BatchNorm, pooling) counts as 0,
# - for the **whole batch**; inputs of `nn.Linear` may have more than two dimensions,
# - each call of a layer that is used several times, and none of a layer that is not used,
# - windows that reach into the padding count in full.
#
# Each call of `count_macs` counts afresh, and leaves no hook behind.


# %% nbgrader={"grade": false, "grade_id": "count_macs", "locked": false, "schema_version": 3, "solution": true, "task": false}
def count_macs(model: nn.Module, x: torch.Tensor) -> int:
    """The MACs of all calls of nn.Linear and nn.Conv2d while `model` runs on `x`."""
    # TODO: numbers in the output, times products for each of them, summed over the calls.
    ### BEGIN SOLUTION
    counts, handles = [], []

    def count(module, args, output):
        counts.append(output.numel() * module.weight[0].numel())

    try:
        for module in model.modules():
            if isinstance(module, (nn.Linear, nn.Conv2d)):
                handles.append(module.register_forward_hook(count))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return sum(counts)
    ### END SOLUTION


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))

# %% nbgrader={"grade": true, "grade_id": "test_count_macs", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import math
import numbers

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.models import TinyResNet
from course.probing import ANYTHING, hook_counts, other_than
from course.traces import as_before, what_runs


def flops_of(model, x):
    """Torch's own count, below the modules: each operator's multiplications and additions."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(x)
    return counter.get_total_flops()


def calls_of(model, x):
    """(layer, input shape, output shape) of each call of a layer with a weight, without any hook."""
    calls = []

    def wrapped(module, forward):
        def run(x):
            output = forward(x)
            calls.append((module, x.shape, output.shape))
            return output

        return run

    for module in list(model.modules()):
        if isinstance(module, (nn.Linear, nn.Conv2d, nn.BatchNorm2d, nn.ReLU)):
            module.forward = wrapped(module, module.forward)
    model(x)
    return calls


def taps(module, groups=True, sides=(0, 1)):
    """Products for one number of the output; the last two arguments are for what people get wrong."""
    if isinstance(module, nn.Linear):
        return module.in_features
    window = module.kernel_size[sides[0]] * module.kernel_size[sides[1]]
    return module.in_channels // (module.groups if groups else 1) * window


def mistaken(model, x):
    """Counts that known misconceptions bring: hint id -> numbers."""
    calls = calls_of(model, x)
    weighty = [call for call in calls if isinstance(call[0], (nn.Linear, nn.Conv2d))]
    numel = math.prod

    def total(of, calls=weighty):
        return sum(of(*call) for call in calls)

    def macs(m, i, o):
        return numel(o) * taps(m)

    def size(m, i=None, o=None):
        return m.weight.numel()

    def on_input(m, i, o):
        return macs(m, i, o) if isinstance(m, nn.Linear) else i[0] * size(m) * numel(i[2:])

    def own_formula(m, i, o):
        if isinstance(m, nn.Linear):
            return macs(m, i, o)
        stops = ((n + 2 * p - k) // s + 1 for n, p, k, s in zip(i[2:], m.padding, m.kernel_size, m.stride))
        return i[0] * size(m) * numel(stops)

    def one_vector(m, i, o):
        return i[0] * size(m) if isinstance(m, nn.Linear) else macs(m, i, o)

    def numbers_of(*kinds):
        return total(lambda m, i, o: numel(o), [call for call in calls if isinstance(call[0], kinds)])

    exact, biased = total(macs), total(lambda m, i, o: macs(m, i, o) + numel(o) * (m.bias is not None))
    layers = [m for m in model.modules() if isinstance(m, (nn.Linear, nn.Conv2d))]
    used = {id(call[0]): call for call in weighty}
    spare, once = sum(size(m) for m in layers if id(m) not in used), total(macs, used.values())
    norms, relus = numbers_of(nn.BatchNorm2d), numbers_of(nn.ReLU)
    return {
        "feat_batch_forgotten": [exact // x.shape[0]],
        "feat_flops": [2 * exact],
        "feat_bias": [biased, exact + biased],
        "feat_parameters": [
            total(size),
            sum(map(size, layers)),
            sum(one.numel() for one in model.parameters()),
            sum(one.numel() for m in layers for one in m.parameters()),
        ],
        "feat_input_size": [total(on_input), total(own_formula)],
        "feat_groups": [total(lambda m, i, o: numel(o) * taps(m, groups=False))],
        "feat_square": [total(lambda m, i, o: numel(o) * taps(m, sides=sides)) for sides in ((0, 0), (1, 1))],
        "feat_tokens": [total(one_vector)],
        "feat_once_each": [once],
        "feat_unused": [counted + spare * times for counted in (once, exact) for times in (1, x.shape[0])],
        "feat_one_kind": [
            total(macs, [call for call in weighty if type(call[0]) is k]) for k in (nn.Linear, nn.Conv2d)
        ],
        "feat_top_level": [total(macs, [call for call in weighty if call[0] in list(model.children())])],
        "feat_other_layers": [exact + norms, exact + relus, exact + norms + relus],
        "feat_outputs_only_counted": [numbers_of(nn.Linear, nn.Conv2d), numbers_of(nn.Module)],
        "feat_one_output_channel": [total(lambda m, i, o: macs(m, i, o) // o[1])],
    }


def whole(number):
    """An integer of any library as Python's own; everything else as it is."""
    return int(number) if isinstance(number, numbers.Integral) else number


class WholeBatch(Check):
    """`count_macs(model, x)` is the number of MACs of all linear and convolution layers, for the whole batch, as an int."""

    field = "count_macs(model, x)"
    errors = {
        r"RuntimeError: (shape|The size|mat1|Given)": "shapes_do_not_fit",
        r"AttributeError: '(ReLU|BatchNorm2d|AdaptiveAvgPool2d|Residual|TinyResNet|Sequential|Tanh)' object has no attribute": "feat_every_module",
    }  # fmt: skip

    def given(self, case):
        batch, height, width = case.shape("size", 3, 2, 9)
        return case.build("net", TinyResNet, 4 + case.integer("more", 0, 3)), case.tensor(
            "x", batch + 1, 3, height + 3, width + 3
        )

    def probe(self, nb, case):
        model, x = self.given(case)
        first, second = (whole(nb.function("count_macs")(model, x)) for _ in range(2))
        both = all(isinstance(count, (int, float)) for count in (first, second))
        return {
            self.field: first, "the same call again": second,
            "how much more the same call counts again": second - first if both else 0,
        }  # fmt: skip

    def truth(self, case):
        macs = flops_of(*self.given(case)) // 2
        right = AnyOf(macs, float(macs))
        return {self.field: right, "the same call again": right, "how much more the same call counts again": ANYTHING}

    def mistakes(self, case):
        counts = {hint: AnyOf(*found, *map(float, found)) for hint, found in mistaken(*self.given(case)).items()}
        return {
            "returns_nothing": {self.field: None},
            "feat_not_summed": {self.field: Matches(_parts, "parts")},
            "feat_goes_on": {"how much more the same call counts again": other_than(0)},
            **{hint: {self.field: count} for hint, count in counts.items()},
        }


def _parts(got):
    return None if isinstance(got, (list, dict)) else "no"


check("count_macs", WholeBatch)


### BEGIN HIDDEN TESTS
class AnyConvolution(WholeBatch):
    """Strides, padding, dilation, groups and windows that are not square are counted by the output that they bring."""

    def given(self, case):
        one, two = case.integer("one", 2, 3), case.integer("two", 4, 5)

        def net():
            return nn.Sequential(
                nn.Conv2d(4, 8, (one, two), stride=(2, 1), padding=1, groups=2),
                nn.Conv2d(8, 8, 3, groups=8, dilation=2, padding=2, bias=False),
                nn.Sequential(nn.Tanh(), nn.Conv2d(8, 3, 1)),
            )

        return case.build("net", net), case.tensor("x", 2, 4, 9, 11)


class ManyTokens(WholeBatch):
    """A linear layer on inputs with more than two dimensions works for each of the vectors."""

    def given(self, case):
        def net():
            return nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 3, bias=False))

        return case.build("net", net), case.tensor("x", 2, *case.shape("size", 2, 3, 7), 5)


class Rare(nn.Module):
    """One layer that runs three times, and one that never runs."""

    def __init__(self):
        super().__init__()
        self.spare = nn.Conv2d(3, 5, 3)
        self.again = nn.Conv2d(3, 3, 3)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        for _ in range(3):
            x = self.again(x)
        return self.head(x.mean((2, 3)))


class UsedOrNot(WholeBatch):
    """Each call counts, also where a layer is used several times; a layer that is not used counts as 0."""

    def given(self, case):
        return case.build("net", Rare), case.tensor("x", 2, 3, *case.shape("size", 2, 9, 14))


class NoHookLeft(WholeBatch):
    """A later call counts its own input, and no hook is left on the model."""

    blame = {"hooks on the model": "feat_hook_left"}

    def probe(self, nb, case):
        model, x = self.given(case)
        nb.function("count_macs")(model, x)
        count = whole(nb.function("count_macs")(model, x[1:]))
        return {
            "the second count": count,
            "hooks on the model": sum(hook_counts(model).values()),
            "what runs in model(x) afterwards": what_runs(model, case, lambda: model(x).sum().backward()),
        }

    def truth(self, case):
        model, x = self.given(case)
        macs = flops_of(model, x[1:]) // 2
        runs = as_before(what_runs(model, case, lambda: model(x).sum().backward()))
        return {
            "the second count": AnyOf(macs, float(macs)),
            "hooks on the model": 0,
            "what runs in model(x) afterwards": runs,
        }

    def mistakes(self, case):
        model, x = self.given(case)
        macs = flops_of(model, x) // 2
        return {"stale_result": {"the second count": AnyOf(macs, float(macs))}}


check("count_macs", AnyConvolution, ManyTokens, UsedOrNot, NoHookLeft)
### END HIDDEN TESTS

# %% [markdown]
# torch can count as well, below the modules: `FlopCounterMode` sees each operator that runs, also the functions without a module. It counts
# **FLOPs**, a multiplication and an addition apart, so its number is twice as large. Papers mix the two: look which one they mean.

# %%
from torch.utils.flop_counter import FlopCounterMode

with torch.no_grad(), FlopCounterMode(display=False) as counter:
    net(x)
macs = count_macs(net, x) or 0
print(
    f"ResNet-18, one picture of {tuple(x.shape)}: {macs:,} MACs, {counter.get_total_flops():,} FLOPs"
)

# %% [markdown]
# ## Change a feature and see what happens
#
# Looking tells what is in a layer. Does the model *use* it? To find out, change it. **Activation patching** takes two inputs, such as
# a picture of a 3 and one of an 8. It runs the model on the 8, but one layer puts out what it put out for the 3. If the answer becomes "3", then
# what tells the two apart goes through this layer.
#
# One tool is enough for both halves. A forward hook that returns `None` looks on; a hook that returns something else **replaces** the output.

# %%
toy = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
kept = {}
with torch.no_grad():
    with toy[1].register_forward_hook(
        lambda m, a, out: kept.update(relu=out.clone())
    ):  # returns None
        clean = toy(torch.tensor([[1.0, 2.0]]))
    with toy[1].register_forward_hook(lambda m, a, out: kept["relu"]):  # returns a tensor
        patched = toy(torch.tensor([[-9.0, 4.0]]))
print(torch.equal(clean, patched))

# %% [markdown]
# ### Exercise: Patch an activation
#
# medium · 12 min · 3 points
#
# Write `patch_activation(model, layer, clean, corrupted, channels=None)`.
#
# - It runs `model` on `clean` and keeps the output of `layer` (a dotted name), as it was.
# - It runs `model` on `corrupted`, where that layer's output is replaced by the kept one, and returns what the model puts out in this run.
# - If `channels` is a list of numbers, only these channels (dimension 1 of the output) are replaced. The others stay as the
#   corrupted run made them. `None` means all of them; an empty list, none.
# - Afterwards your hooks are gone, and `clean` and `corrupted` hold the numbers that they held.
#
# (Both inputs have the same shape. The layer runs once a call and returns one tensor.)


# %% nbgrader={"grade": false, "grade_id": "patch_activation", "locked": false, "schema_version": 3, "solution": true, "task": false}
def patch_activation(
    model: nn.Module,
    layer: str,
    clean: torch.Tensor,
    corrupted: torch.Tensor,
    channels: list[int] | None = None,
) -> torch.Tensor:
    """`model(corrupted)`, where `layer` puts out (in these channels) what it put out for `clean`."""
    # TODO: two runs, two hooks.
    ### BEGIN SOLUTION
    module, kept = model.get_submodule(layer), []

    def keep(module, args, output):
        kept.append(output.detach().clone())

    def patch(module, args, output):
        if channels is None:
            return kept[0]
        patched = output.clone()
        patched[:, channels] = kept[0][:, channels]
        return patched

    with module.register_forward_hook(keep):
        model(clean)
    with module.register_forward_hook(patch):
        return model(corrupted)
    ### END SOLUTION


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print(model(clean), model(corrupted), patch_activation(model, "bn1", clean, corrupted), sep="\n")

# %% nbgrader={"grade": true, "grade_id": "test_patch_activation", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
from collections import OrderedDict
from functools import partial

import torch
from torch import nn

from course.checking import Check, check
from course.compare import AnyOf, Close, Matches
from course.models import TinyResNet
from course.probing import hook_counts
from course.traces import as_before, what_runs

ERRORS = {
    r"AttributeError: '\w+' object has no attribute '\w+(\.\w+)+'": "dotted_name",
    r"KeyError: '\w+(\.\w+)+'": "dotted_name",
    r"TypeError: .*(argument 'input'|some of the arguments have invalid types).*(tuple|list|dict)": "hook_replaces_output",
    r"IndexError: index \d+ is out of bounds for dimension 0": "feat_channel_dimension",
    r"(IndexError: The shape of the mask|RuntimeError: shape mismatch)": "feat_channel_dimension",
}


def run(model, layer, x, replace):
    """model(x) where `layer` puts out replace(its input, its output), without any hook: its forward is wrapped for this run."""
    module = model.get_submodule(layer)
    forward = module.forward
    module.forward = lambda given: replace(given, forward(given))
    try:
        with torch.no_grad():
            return model(x)
    finally:
        module.forward = forward


def kept_at(model, layer, x):
    """Copies of the input and of the output of `layer` in model(x), and the output's memory after the run."""
    found = []

    def keep(given, output):
        found.extend([given.clone(), output.clone(), output])
        return output

    run(model, layer, x, keep)
    return found


def mixed(now, kept, numbers):
    """The corrupted output with these channels of the clean one: what patching means."""
    return kept if numbers is None else now.index_copy(1, torch.tensor(numbers, dtype=torch.long), kept[:, numbers])


def close(tensor):
    return Close(tensor.detach(), rtol=1e-4, atol=1e-4)


class Patched(Check):
    """With a whole layer patched, the answer is the one that the model gives where this layer has its clean output."""

    errors = ERRORS
    layers: tuple[str, ...] = ("bn1", "block.bn2", "block", "fc")

    def given(self, case):
        model, size = case.build("net", TinyResNet).eval(), case.shape("size", 2, 6, 9)
        return model, case.tensor("clean", 2, 3, *size), case.tensor("corrupted", 2, 3, *size)

    def numbers(self, case, layer):
        return None

    def probe(self, nb, case):
        answers = {}
        for layer in self.layers:
            (model, clean, corrupted), numbers = self.given(case), self.numbers(case, layer)
            more = () if numbers is None else (numbers,)
            answers[layer] = nb.function("patch_activation")(model, layer, clean, corrupted, *more)
        return {"answers, by layer": answers}

    def answers(self, case, replace):
        """What the model answers to the corrupted input where each layer in turn puts out what `replace` says."""
        model, clean, corrupted = self.given(case)
        found = {}
        for layer in self.layers:
            put = partial(replace, kept_at(model, layer, clean), self.numbers(case, layer), model.get_submodule(layer))
            found[layer] = close(run(model, layer, corrupted, put))
        return {"answers, by layer": found}

    def truth(self, case):
        return self.answers(case, lambda kept, numbers, module, given, output: mixed(output, kept[1], numbers))

    def mistakes(self, case):
        model, clean, corrupted = self.given(case)
        swapped = type(self)()
        swapped.given = lambda case: (model, corrupted, clean)
        shapes = {layer: tuple(kept_at(model, layer, clean)[1].shape) for layer in self.layers}

        def features(got):
            return None if all(got[layer].shape == shape for layer, shape in shapes.items()) else "no"

        return {
            "returns_nothing": {"answers, by layer": dict.fromkeys(self.layers, None)},
            "feat_returns_feature": {"answers, by layer": Matches(features, "outputs of the layers")},
            "feat_returns_clean": {"answers, by layer": dict.fromkeys(self.layers, close(model(clean)))},
            "feat_patch_never_ran": {"answers, by layer": dict.fromkeys(self.layers, close(model(corrupted)))},
            "feat_roles_swapped": swapped.truth(case),
            "feat_alias": self.answers(
                case, lambda kept, numbers, module, given, output: mixed(output, kept[2], numbers)
            ),
        }


class NoHookLeft(Patched):
    """Afterwards the model has the hooks that it had before, and answers as it did before."""

    blame = {"model(corrupted) afterwards": "feat_hook_left"}

    def probe(self, nb, case):
        model, clean, corrupted = self.hooked(case)
        nb.function("patch_activation")(model, "block", clean, corrupted)
        return {
            "hooks on the model, 1 before": sum(hook_counts(model).values()),
            "model(corrupted) afterwards": model(corrupted),
            "what runs in model(clean) afterwards": what_runs(model, case, lambda: model(clean).sum().backward()),
        }

    def hooked(self, case):
        model, clean, corrupted = self.given(case)
        model.block.register_forward_hook(lambda module, args, output: None)
        return model, clean, corrupted

    def truth(self, case):
        model, clean, corrupted = self.hooked(case)
        return {
            "hooks on the model, 1 before": 1,
            "model(corrupted) afterwards": close(model(corrupted)),
            "what runs in model(clean) afterwards": as_before(
                what_runs(model, case, lambda: model(clean).sum().backward())
            ),
        }

    def mistakes(self, case):
        return {
            "removes_other_hooks": {"hooks on the model, 1 before": 0},
            "feat_hook_left": {"hooks on the model, 1 before": Matches(lambda got: None if got > 1 else "no", "more")},
        }


check("patch_activation", Patched, NoHookLeft)


### BEGIN HIDDEN TESTS
class SomeChannels(Patched):
    """Only the channels that are named are replaced; `None` means all of them, an empty list none."""

    layers = ("block.conv1", "block.bn2", "conv1", "fc")

    def numbers(self, case, layer):
        if layer == "conv1":
            return []
        return case.shuffled(f"channels of {layer}", range(3))[: case.integer(f"how many of {layer}", 1, 2)]

    def mistakes(self, case):
        def others(output, numbers):
            return [number for number in range(output.shape[1]) if number not in numbers]

        def at_the_end(output, kept, numbers):
            output = output.clone()
            output[..., numbers] = kept[..., numbers]
            return output

        def some(test):
            return self.answers(
                case, lambda kept, numbers, module, given, output: test(module, given, output, kept, numbers)
            )

        return {
            **super().mistakes(case),
            "feat_none_or_empty": some(
                lambda module, given, output, kept, numbers: mixed(output, kept[1], numbers or None)
            ),
            "feat_channels_ignored": some(lambda module, given, output, kept, numbers: kept[1]),
            "feat_channel_dimension": some(
                lambda module, given, output, kept, numbers: at_the_end(output, kept[1], numbers)
            ),
            "feat_channels_inverted": some(
                lambda module, given, output, kept, numbers: mixed(output, kept[1], others(output, numbers))
            ),
            "feat_zero_elsewhere": some(
                lambda module, given, output, kept, numbers: mixed(output * 0, kept[1], numbers)
            ),
            "feat_patches_input": some(
                lambda module, given, output, kept, numbers: type(module).forward(
                    module, mixed(given, kept[0], numbers)
                )
            ),
        }


class InputsAsTheyWere(Patched):
    """`clean` and `corrupted` hold afterwards what they held before, also where a layer hands on its own input."""

    blame = {"clean afterwards": "feat_writes_into_input", "corrupted afterwards": "feat_writes_into_input"}

    def given(self, case):
        one, two = case.words("names", 2)
        model = case.build("net", lambda: nn.Sequential(OrderedDict([(one, nn.Identity()), (two, nn.Linear(4, 3))])))
        return model, one, case.tensor("clean", 2, 4), case.tensor("corrupted", 2, 4)

    def probe(self, nb, case):
        model, layer, clean, corrupted = self.given(case)
        answer = nb.function("patch_activation")(model, layer, clean, corrupted, [1, 3])
        return {"answer": answer, "clean afterwards": clean, "corrupted afterwards": corrupted}

    def truth(self, case):
        model, _, clean, corrupted = self.given(case)
        answer = close(model(mixed(corrupted, clean, [1, 3])))
        return {"answer": answer, "clean afterwards": clean, "corrupted afterwards": corrupted}

    def mistakes(self, case):
        return {}


class EachCallItsOwn(Patched):
    """A second call on the same model patches with its own clean input."""

    blame = {"the second answer": "stale_result"}

    def probe(self, nb, case):
        model, clean, corrupted = self.given(case)
        patch = nb.function("patch_activation")
        return {
            "the first answer": patch(model, "block", clean, corrupted),
            "the second answer": patch(model, "block", clean * 2, corrupted),
        }

    def truth(self, case):
        model, clean, _ = self.given(case)
        return {"the first answer": close(model(clean)), "the second answer": close(model(clean * 2))}

    def mistakes(self, case):
        return {}


check("patch_activation", SomeChannels, InputsAsTheyWere, EachCallItsOwn)
### END HIDDEN TESTS

# %% [markdown]
# Layer by layer: how far does the patch bring the answer back, from that for `corrupted` (0) to that for `clean` (1)? Where everything
# goes through one layer, all the way. Inside the block it does not: the skip connection carries the corrupted picture around the patch.

# %%
for layer in ("conv1", "bn1", "block.conv1", "block.bn1", "block.bn2", "block", "pool", "fc"):
    patched = patch_activation(model, layer, clean, corrupted)
    if patched is None:
        print("patch_activation is not written yet")
        break
    with torch.no_grad():
        back = (
            1
            - (patched - model(clean)).norm().item()
            / (model(corrupted) - model(clean)).norm().item()
        )
    print(f"{layer:12} {back:5.2f} {'█' * round(40 * max(back, 0))}")

# %% [markdown]
# ## For work: your own toolbox
#
# You have written the parts of a recorder. Put them together: `looking_at` keeps the model as it is, `safe_features` keeps the features
# as they were, whatever the model is. Here they look into ResNet-18, which is in training mode with one frozen layer:

# %%
net.train()
net.bn1.eval()
before = net.layer1[0].bn1.running_mean.clone()
try:
    with looking_at(net, {}):
        recorded = safe_features(net, ["bn1", "layer1.0.conv2", "fc"], x)
    for name, value in recorded.items():
        print(
            f"{name:14} {tuple(value.shape)}, smallest value {value.min():.3f}, gradient: {value.requires_grad}"
        )
except (AttributeError, TypeError):
    print("One of the two parts is not written yet.")

print("hooks left:", count_hooks(net), "  modes:", net.training, net.bn1.training)
print("running_mean unchanged:", torch.equal(before, net.layer1[0].bn1.running_mean))

# %% [markdown]
# Copy your functions into a file of your own project. They need nothing from this course:
#
# | you want to know | your tool |
# | --- | --- |
# | the outputs of some layers | `safe_features` |
# | all of it while the model stays as it is | `looking_at` |
# | what ran, how often, in which order | `record_calls` |
# | all parts of an LSTM's or attention's output | `every_tensor` |
# | one step, even one that is no module | `value_at` |
# | what a call costs | `count_macs` |
# | whether a feature matters | `patch_activation` |
#
# If you don't know a model's names yet: `print([name for name, _ in model.named_modules()])`.

# %% [markdown]
# ### In your own words: No negative values anywhere
#
# 5 min · 2 points
#
# A colleague records every convolution of a network with `kept[name] = output.detach()` and draws histograms. Not one
# convolution has a negative output. She is about to write a blog post: "After training, convolutions only ever say yes." In
# this network a `ReLU(inplace=True)` follows each convolution. She knows that, but: "I have detached, so whatever happens later
# cannot reach my copies."
#
# What does `detach()` cut, and what does it not? Say what her histograms really show, which single change makes them true, and
# how she could have noticed before the blog post.
#
# Where this notebook is handed in, a person reads your answer. No check looks at it, and `progress()` does not count it.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_detach", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# `detach()` gives a new tensor object that autograd does not follow, on the **same memory**. There is no copy. The in-place
# ReLU writes its result into that memory after the hook has run, so her histograms show the outputs of the ReLUs. With
# `output.detach().clone()` she has memory of her own, taken at the moment of the hook. She could have noticed by comparing
# with what `F.conv2d` gives on the same input, with the values printed inside the hook, or by the `data_ptr()` of what she kept
# and what the ReLU returns: they are equal.
#
# ### BEGIN MARK SCHEME
# - 2 points: `detach` cuts off the history and shares the memory, **and** the ReLU wrote into it afterwards, so that she sees
#   the ReLU's output. `clone()`. Any check that would really have shown it.
# - 1 point: "use clone" with only a vague reason, or the sharing without what she therefore sees.
# - Common wrong explanations, 0 points for that part: the hook ran after the ReLU; `detach` is a copy of the values, but a lazy
#   one; `no_grad` would have helped; an in-place operation raises an error if somebody holds the tensor.
# ### END MARK SCHEME
# ### END SOLUTION

# %% [markdown]
# ## What you take with you
#
# - A wrapper that registers forward hooks looks into any model without a change to its code.
# - Names come from `named_children` (one level) or `named_modules` (the whole tree, with dots); `get_submodule` finds one.
# - In a loop, fix the name when the hook is made: `partial`, a factory, or a default argument.
# - A kept output is an alias. Before an in-place operation only a clone stays true.
# - Hooks stay until they are removed. `with` and `finally` remove them even after an error.
# - `no_grad` does not stop BatchNorm's running statistics; `eval` does. Each module has a mode of its own.
# - A hook fires once a call, not once a module. Outputs may be tuples, dicts, `None`.
# - Hooks see modules. Sums and functions between them are seen by `torch.fx`, where `forward` can be traced.
# - A hook that returns a value replaces the output: that is how to ask whether a feature matters.
#
# **Next:** lesson 06 puts hooks together to tools: Grad-CAM, a search for the first NaN, an optimizer inside the backward pass.

# %%
progress()
