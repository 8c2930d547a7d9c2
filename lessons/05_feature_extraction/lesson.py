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
# easy · 8 min · 2 points · `verbose_net`
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
from course import check
check("verbose_net")

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
# medium · 12 min · 3 points · `feature_extractor`
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
from course import check
check("feature_extractor")

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
# medium · 12 min · 3 points · `safe_features`
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
from course import check
check("safe_features")

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
# medium · 12 min · 3 points · `untouched_model`
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
from course import check
check("untouched_model")

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
# medium · 10 min · 3 points · `reused_modules`
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
from course import check
check("reused_modules")

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
# medium · 12 min · 3 points · `tuple_outputs`
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
from course import check
check("tuple_outputs")

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
# medium · 12 min · 3 points · `hooks_or_fx`
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
from course import check
check("hooks_or_fx")

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
# hard · 15 min · 3 points · `count_macs`
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
from course import check
check("count_macs")

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
# medium · 12 min · 3 points · `patch_activation`
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
from course import check
check("patch_activation")

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
