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
# - **You will do** this: get at the numbers that a finished net works out on its way and never returns, and use them to sort digits that
#   it has never seen. You write `VerboseNet`, which tells the shape of every step of a ResNet-18, and `FeatureExt`, which returns the output
#   of any layer that you name. You find out what spoils such outputs. Then you put a few feature maps of a handwritten 3 into an 8, and
#   the net changes its mind. You leave with a toolbox of seven functions for your own work.
# - **You will learn** how to watch a model from outside with forward hooks; how nested layers are named; why a kept tensor can change
#   after the hook has ended; how hooks pile up, and how to be sure that they are gone; how to find out whether a model uses a feature.
#   Further on: what looking does to a model in training mode, layers that run twice, outputs in parts, what hooks cannot see, and what a layer costs.
# - **You need** lesson 03: what a forward hook gets, and what happens to the value it returns.
# - **Time** <!-- time and points -->.
# - **Help** after a check that failed, `hint()` in any cell gives the next step. `hint("verbose_net")`, with an exercise's id, helps you to begin.
# - **Out of scope** training on the features, gradients of the features.

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
from course import hint, progress, solution  # first: it makes torchvision importable beside a CPU-only torch

from contextlib import ExitStack, contextmanager
from copy import deepcopy
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter
from torchvision.models import ResNet18_Weights, resnet18
from torchvision.models.feature_extraction import create_feature_extractor, get_graph_node_names

# %% [markdown]
# ## What a net knows and does not say
#
# A colleague hands you a small net. It was trained to tell the handwritten digits 0, 1, 2, 3, 5, 6 and 8 apart. (Here it is trained in front of
# you, which takes about a second.) It returns seven scores, one for each of these digits.

# %%
from course.data import digits, jittered, picture
from course.models import TinyResNet

straight, labels = digits()                                            # 1,797 pictures of 8 x 8 pixels
moved = jittered(straight, torch.Generator().manual_seed(0))           # each one up to a pixel off its place
known = torch.tensor([0, 1, 2, 3, 5, 6, 8])
seen = torch.isin(labels, known)
pictures, answers = straight[seen], torch.searchsorted(known, labels[seen])

torch.manual_seed(0)
digit_net = TinyResNet(channels=16, classes=7, colours=1, places=2)
optimizer = torch.optim.Adam(digit_net.parameters(), lr=0.006)
for _ in range(5):
    for batch in torch.randperm(1000).split(50):
        optimizer.zero_grad()
        F.cross_entropy(digit_net(jittered(pictures[batch])), answers[batch]).backward()
        optimizer.step()

digit_net.eval()
with torch.no_grad():
    right = digit_net(moved[seen][1000:]).argmax(1) == answers[1000:]
print(f"{right.float().mean():.0%} of {len(right)} pictures that were not trained on are read correctly")

# %% [markdown]
# You have other plans with it. You want to sort 4s, 7s and 9s, and of each you have just three pictures with a label. The net cannot say "4".
#
# With three examples of each digit there is not much to train. The simplest method needs no training: **nearest neighbour** gives each
# picture the label of the example that is closest to it. But closest in what? First try the 64 pixels. Then try 64 numbers from inside the net:
# what its layer `pool` puts out on the way to the seven scores. The function `keep` gets them, and you will understand every line of it in a quarter of an hour.


# %%
def nearest(values, labels, examples=3):
    """The share of samples that get the right label from the nearest of `examples` labelled samples of each digit."""
    generator, shares = torch.Generator().manual_seed(0), []
    for _ in range(20):                                                # other examples each time
        order = torch.randperm(len(labels), generator=generator)
        chosen = torch.cat([order[labels[order] == digit][:examples] for digit in labels.unique()])
        others = order[~torch.isin(order, chosen)]
        closest = torch.cdist(values[others].flatten(1), values[chosen].flatten(1)).argmin(1)
        shares.append((labels[chosen][closest] == labels[others]).float().mean())
    return torch.stack(shares).mean().item()


kept = {}


def keep(module, args, output):
    kept["pool"] = output.detach()


for how, everything in (("up to a pixel off", moved), ("all in the middle", straight)):
    new = everything[~seen]                                            # 4s, 7s and 9s
    handle = digit_net.pool.register_forward_hook(keep)
    digit_net(new)
    handle.remove()
    share = nearest(new, labels[~seen]), nearest(kept["pool"], labels[~seen])
    print(f"{how}: {share[0]:.0%} right by {new[0].numel()} pixels, {share[1]:.0%} by {kept['pool'][0].numel()} numbers of `pool`")

# %% [markdown]
# The net has never seen a 4, a 7 or a 9. Yet the numbers that it works out on the way sort them much better than the pixels do, as soon as
# the pictures are a little off their place, as they are in real life. (If every digit sits exactly in the middle, pixels do well, too.)
# Such inner outputs are called **features**.
# The net computes them at each call and throws them away, because its `forward` returns the scores only. A hook got them out, and not a line of the net was changed.
#
# This lesson is about that: how to get at what is inside a model that you cannot edit, and how not to be fooled by what you get.
#
# ## The model and the picture
#
# Now for a model that really comes from a library. ResNet-18 classifies photographs. You can run it, but its `forward` is not yours to edit.
# Without a network it comes with random weights. That is enough here, because hooks do not care what the weights are.

# %%
from course.pictures.digits import draw_digits
from course.pictures.feature_maps import draw_clobber, draw_feature_maps
from course.sources import show_source

PRETRAINED = False  # True downloads 45 MB of trained weights, once

torch.manual_seed(0)
net = resnet18(weights=ResNet18_Weights.DEFAULT if PRETRAINED else None).eval()

mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])  # as ResNet-18 was trained
x = (picture("flower", 96) - mean[:, None, None]) / std[:, None, None]

with torch.no_grad():
    output = net(x)
print("in", tuple(x.shape), "   out", tuple(output.shape))

# %% [markdown]
# 1,000 numbers come out. What happened on the way? Somebody has written a tool that answers this, so let us see the aim first.
# Each row is a layer, and each small picture is one channel of its output: white is 0, red is positive, blue is negative.

# %%
with torch.no_grad():
    steps = create_feature_extractor(net, ["conv1", "layer1", "layer2", "layer3"])(x)
draw_feature_maps(steps, columns=6, title="One flower on its way through ResNet-18")

# %% [markdown]
# From row to row the maps become smaller; their number and size stand on the left. In this lesson you build such a tool yourself, with hooks.
# Then you know what it does, and you can use it in places where torchvision's tool cannot go.
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
# run itself, and listen. A **forward hook** does that: PyTorch calls it with the module, its inputs and its output, each time that
# the module has been called. So call the model, `model(x)`: `model.forward(x)` goes past the hooks that hang on the model itself.


# %%
def tell(module, args, output):
    print("the hook got:", type(module).__name__, "|", type(args).__name__, "|", tuple(output.shape))


handle = net.layer4.register_forward_hook(tell)
with torch.no_grad():
    net(x)
handle.remove()  # from here on the model is as it was

# %% [markdown]
# The hook learns the module's class, but not its name: a module does not know under which name its parent keeps it.
# A common belief is that every module inherits a `__name__`. Classes and functions have one, module objects do not:

# %%
print(hasattr(nn.ReLU, "__name__"), hasattr(nn.ReLU(), "__name__"))

# %% [markdown]
# ### Give each hook its name
#
# So the name must come from the loop that registers the hooks, and this is where most people trip. What will the first loop print?

# %%
toy = nn.Sequential()
for name in ("red", "green", "blue"):
    toy.add_module(name, nn.Identity())

handles = []
for name, child in toy.named_children():
    handles.append(child.register_forward_hook(lambda m, a, o: print(name, end=" ")))
toy(torch.ones(1))
for handle in handles:
    handle.remove()
print("<- the name is looked up when the hook runs")


def say(name, module, args, output):
    print(name, end=" ")


handles = []
for name, child in toy.named_children():
    handles.append(child.register_forward_hook(partial(say, name)))
toy(torch.ones(1))
for handle in handles:
    handle.remove()
print("<- the name is fixed when the hook is made")

# %% [markdown]
# There were three hooks and one variable. A function looks up the variables around it **when it runs**, and by then the loop has ended.
# This is called *late binding*. `partial(say, name)` makes a new function that calls `say` with this first argument, and it takes the value now.
# Two other ways do the same: a function that makes the hook and returns it, and a default argument, `lambda m, a, o, name=name: ...`.
#
# ### Exercise: A net that tells
#
# easy · 10 min
#
# Write `VerboseNet(model)`, a module that wraps any model.
#
# - Calling it runs the model once, as it is at that time, and returns what the model returns.
# - Meanwhile it prints one line for each **direct child** of the model, and nothing else. The line gives the child's name, as a word of
#   its own, and the shape of the child's output. It is about this child only.
# - Building it prints nothing. Each call prints its own lines. Two of them, on two models that share no layer, do not disturb each other.
#
# <details><summary>Fine print</summary>
#
# The order of the lines, the notation of the shape and other words on the line are up to you: `conv1: torch.Size([1, 64, 48, 48])` is as good
# as `(1, 64, 48, 48) from conv1`. The numbers of a shape stand in their order, with commas or an `x` between them. You may print the
# input's shape as well. Every child in the tests runs once a call and returns one tensor, and no model raises an error or gets another child later.
#
# </details>


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
# `layer1` is itself a model: it has two blocks, each with convolutions of its own. `named_children()` stops at the first level.
# `named_modules()` walks through the whole tree. It joins the names on the way by dots, and `get_submodule` finds a module by such a name.

# %%
modules = dict(net.named_modules())
print(len(list(net.children())), "children,", len(modules), "modules (one is the model itself, under the name '')")
print([name for name in modules if name.startswith("layer2.0")])
print(net.get_submodule("layer2.0.downsample.0"))
print(net.get_submodule("layer2.0.downsample.0") is modules["layer2.0.downsample.0"])

# %% [markdown]
# `getattr` knows no dots. And compare whole names: many names end with `conv1`, and each of them is another layer.

# %%
try:
    getattr(net, "layer1.0.conv1")
except AttributeError as error:
    print("getattr:", error)
print([name for name in modules if name.endswith("conv1")][:3], "...")

# %% [markdown]
# ### Exercise: Feature extractor
#
# medium · 15 min
#
# Write `FeatureExt(model, layers)`, a module that wraps any model. `layers` is a list of one or more layer names as `named_modules()` gives them (but not `''`, the model itself), in any order.
#
# - Calling it on `x` runs the model on `x` once, as it is at that time, and returns a dict. Its keys are exactly the names in `layers`. Each value is the
#   output of that layer in this run.
# - It leaves the model as it is: `model(x)` gives what it gave before, and the model stays in the mode (`train` or `eval`) that it is in.
# - It may be called again: each call returns the features of its own input. Later calls add no further hooks to the model.
# - Two of them, even on one model, do not disturb each other.
#
# <details><summary>Fine print</summary>
#
# The tests ask for layers that run once a call, that return one tensor, and whose output no later operation overwrites. What to do about the
# others comes right after. What you keep may be detached or not. A later call may change the dict that an earlier one returned. Whether what comes
# after the last of these layers runs as well is up to you. No model raises an error or catches one,
# carries hooks of other people, or gets another layer later. All modules of a model are in the same mode, its `forward` does not ask in which one,
# and torchvision's tool can handle each model.
#
# </details>


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
# Here is your extractor at work on the flower. These layers lie inside the blocks, which `named_children` does not reach.

# %%
inside = ["layer1.0.conv2", "layer2.0.downsample.0", "layer3.0.conv2"]
with torch.no_grad():
    found = FeatureExt(deepcopy(net), inside)(x)                       # a copy: `net` stays without hooks
title = "Inside the blocks, by your own FeatureExt"
draw_feature_maps(found, columns=6, title=title) if found else "FeatureExt returns nothing yet."

# %% [markdown]
# And now back to the 4s, 7s and 9s. Which layer's features sort them best? Ask for all of them at once, in the order in which they run:

# %%
layers = ["conv1", "block.conv1", "block.conv2", "block", "pool", "fc"]
with torch.no_grad():
    found = FeatureExt(digit_net, layers)(moved[~seen]) or {}
print(f"{'pixels':12} {nearest(moved[~seen], labels[~seen]):.0%}")
for name, value in found.items():
    share = nearest(value, labels[~seen])
    print(f"{name:12} {share:.0%} {'█' * round(40 * share)}")

# %% [markdown]
# An early layer still knows little more than pixels. The last layer has thrown away whatever does not help with its own seven digits. The
# layers between them know about strokes in general. That is why people who reuse a trained net take its features from a late layer, but
# seldom from the last one.
#
# ## A small model with the same habits
#
# ResNet-18 takes a while to build, so from here on most cells use a model with one block instead of eight. The digit net is such a `TinyResNet`.
# Read its `forward` once: one ReLU runs twice, it works in place, and so does the sum; and some steps are no layers at all. Each of these will matter.

# %% nbgrader={"grade": false, "grade_id": "setup_tiny", "locked": true, "schema_version": 3, "solution": false, "task": false}
from course.models import Residual, Rounds, TinyResNet
from course.sources import show_source

# %%
show_source(Residual, TinyResNet)

# %% [markdown]
# ## A feature can change after your hook has ended
#
# In ResNet-18, `bn1` is followed by `ReLU(inplace=True)`. This ReLU writes its result into the tensor that it is given, and that is the very tensor
# that your hook has just kept. The output of a BatchNorm has negative values, the output of a ReLU has none. Which of these three still have them?

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
title = "The output of bn1: as it was, and as it is when you look at it"
draw_clobber(kept["clone"], kept["alias"], columns=4, title=title)

# %% [markdown]
# `detach()` cuts the tensor off from autograd, but it shares the memory. Only `clone()` has memory of its own.
#
# Whatever a later operation writes into is at risk. Which outputs of ResNet-18 are at risk? Keep each of them twice, and compare after the run:

# %%
pairs = {}


def keep_both(name, module, args, output):
    pairs.setdefault(name, []).append((output, output.clone()))


with torch.no_grad(), ExitStack() as stack:                            # a `with` for any number of hooks
    for name, module in net.named_modules():
        stack.enter_context(module.register_forward_hook(partial(keep_both, name)))
    net(x)
changed = [name for name, calls in pairs.items() if any(not torch.equal(one, copy) for one, copy in calls)]
print(len(changed), "of", len(pairs), "modules:", *changed)

# %% [markdown]
# They are the outputs of every `bn1` (the ReLU comes next) and of every `bn2` (then comes `out += identity`). The other outputs are safe
# in this model. In a model that you do not know you would have to measure it as we did just now, or keep copies:
#
# | you want | keep |
# | --- | --- |
# | to look at values | `output.detach().clone()` |
# | gradients through the feature | `output.clone()` (keeps the whole graph alive: drop it soon) |
# | the cheapest, if no later operation works in place | `output.detach()` |
#
# ## Hooks pile up
#
# A hook belongs to the model, not to the wrapper that registered it. Run a notebook cell twice, or wrap one model twice, and each
# hook is there twice. If the variable that holds a handle gets another value, the handle is lost, but the hook stays.

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
# The cure is that whoever registers a hook also removes it, even if something fails on the way. Python's tool for *even if* is `finally`, and
# the context manager that is built on it. A handle is a context manager itself, which is why `with net.bn1.register_forward_hook(...)` worked a moment ago. For many hooks:


# %%
@contextmanager
def hooked(modules, hook):
    handles = [module.register_forward_hook(hook) for module in modules]
    try:
        yield                                                          # here the block of the `with` runs
    finally:
        for handle in handles:
            handle.remove()


def count_hooks(model):
    return sum(len(module._forward_hooks) for module in model.modules())


fresh = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
try:
    with hooked(fresh, lambda m, a, o: None):
        print("inside:", count_hooks(fresh))
        fresh(torch.ones(1, 3))                                        # a wrong shape: forward raises
except RuntimeError:
    print("after an error:", count_hooks(fresh))

# %% [markdown]
# ### Exercise: Features that stay true
#
# medium · 15 min
#
# Now deal with both troubles at once. Write `safe_features(model, layers, x)`. It runs `model` on `x` once, in the mode that it is in, and returns a dict: under
# each name in `layers` the output of that layer.
#
# - Each value is what the layer put out **at that moment**. It stays so, whatever is written afterwards: by the model, by a later call, or by
#   somebody who changes `x`.
# - No feature requires a gradient.
# - A layer that did not run in this call (there may be an `if` in `forward`) has no entry.
# - Afterwards your hooks are gone, also if the model raises an error or somebody interrupts it. The error reaches the caller. Other people's hooks stay.
#
# <details><summary>Fine print</summary>
#
# In the tests each layer runs at most once a call and returns one tensor, not of `bfloat16`. `layers` holds one name or more, as `named_modules()`
# gives them (but not `''`, the model itself). No model switches gradients, or registers hooks while it runs. For a layer that returns a tuple,
# as an LSTM does, the reference solution raises a `TypeError` that names the layer. No check asks that of yours.
#
# </details>


# %% nbgrader={"grade": false, "grade_id": "safe_features", "locked": false, "schema_version": 3, "solution": true, "task": false}
def safe_features(model: nn.Module, layers: list[str], x: torch.Tensor) -> dict[str, torch.Tensor]:
    """Run `model` on `x`; return {name: its output as it was} for the layers that ran; leave no hook."""
    # TODO: register, run, and remove, whatever happens. What do you keep of each output?
    ### BEGIN SOLUTION
    features, handles = {}, []

    def keep(name, module, args, output):
        if not isinstance(output, torch.Tensor):
            raise TypeError(f"{name} returned a {type(output).__name__}, not one tensor")
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
# ## Change a feature and see what happens
#
# Looking tells what a layer holds. It does not tell whether the net *uses* it. To find that out, change it, and see whether the answer changes.
# **Activation patching** takes two inputs, such as a picture of a 3 and one of an 8. It runs the net on the 8, but lets one layer put out what
# it put out for the 3. If the answer becomes "3", the net told the two apart by what you have put in.
#
# Forward hooks do both halves. A hook that returns `None` looks on. A hook that returns something else **replaces** the output:

# %%
toy = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
kept = {}


def keep_it(module, args, output):
    kept["relu"] = output.clone()                                      # returns None


def put_it(module, args, output):
    return kept["relu"]                                                # returns a tensor


with torch.no_grad():
    with toy[1].register_forward_hook(keep_it):
        clean = toy(torch.tensor([[1.0, 2.0]]))
    with toy[1].register_forward_hook(put_it):
        patched = toy(torch.tensor([[-9.0, 4.0]]))
print("the answer for the first input, twice:", torch.equal(clean, patched))

# %% [markdown]
# ### Exercise: Patch an activation
#
# medium · 15 min
#
# Write `patch_activation(model, layer, clean, corrupted, channels=None)`.
#
# - It runs `model` on `clean` and keeps the output of `layer` (a dotted name), as it was.
# - It runs `model` on `corrupted`, with that layer's output replaced by the kept one, and returns what the model puts out in this run.
# - If `channels` is a list of numbers, only these channels (dimension 1 of the output) are replaced. The others stay as the
#   corrupted run made them. `None` means all of them, and an empty list means none.
# - Afterwards your hooks are gone, other people's are still there, every module is in the mode that it was in, and `clean` and `corrupted`
#   hold the numbers that they held.
#
# <details><summary>Fine print</summary>
#
# In the tests both inputs have the same shape, no model writes into its input, and the layer runs once a call and returns one tensor.
# If it does not, the reference solution raises an error that says so: of two calls nobody could tell which one is meant.
# No check asks that of yours, nor what is left after an error. How often the model runs, and whether both inputs go through it in one batch, is up to you.
#
# </details>


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
        if not isinstance(output, torch.Tensor):
            raise TypeError(f"{layer} returned a {type(output).__name__}, not one tensor")
        kept.append(output.detach().clone())

    def patch(module, args, output):
        if channels is None:
            return kept[0]
        patched = output.clone()
        patched[:, channels] = kept[0][:, channels]
        return patched

    with module.register_forward_hook(keep):
        model(clean)
    if len(kept) != 1:
        raise ValueError(f"{layer} ran {len(kept)} times in one call: only what runs once can be patched")
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
# Now for a real 3 and a real 8, both of them pictures that the digit net was not trained on and reads correctly.

# %%
def first_that_is_read(digit):
    place = int((right & (labels[seen][1000:] == digit)).nonzero()[0])
    return moved[seen][1000:][place : place + 1]


def chances(scores):
    """How likely the net finds a 3, and an 8."""
    chance = scores.detach().softmax(1)[0]
    return f"3: {chance[3]:.0%}, 8: {chance[6]:.0%}"                   # places 3 and 6 of 0, 1, 2, 3, 5, 6, 8


three, eight = first_that_is_read(3), first_that_is_read(8)
captions = [chances(digit_net(one)).replace(", ", "\n") for one in (three, eight)]
draw_digits(torch.cat([three, eight]), captions, title="What the net makes of a 3 and of an 8")

# %% [markdown]
# First, whole layers. How far does a patch bring the answer back, from that for the 8 (0) to that for the 3 (1)? If everything
# goes through the layer, the answer comes back all the way. Inside the block it need not: the skip connection carries the 8 around the patch.

# %%
with torch.no_grad():
    for_three, for_eight = digit_net(three), digit_net(eight)
    for layer in ("conv1", "bn1", "block.conv1", "block.bn1", "block.bn2", "block", "pool", "fc"):
        patched = patch_activation(digit_net, layer, three, eight)
        if patched is None:
            print("patch_activation is not written yet")
            break
        back = 1 - (patched - for_three).norm().item() / (for_eight - for_three).norm().item()
        print(f"{layer:12} {back:5.2f} {'█' * round(40 * max(back, 0))}")

# %% [markdown]
# Then single channels. The output of `block` has sixteen feature maps. Patch one of them at a time, and put them in the order in which they help the 3. How
# many does it take to turn the 8 into a 3?

# %%
def patched_with(channels):
    with torch.no_grad():
        return patch_activation(digit_net, "block", three, eight, channels)


if patched_with([0]) is None:
    print("patch_activation is not written yet")
else:
    order = sorted(range(16), key=lambda channel: -patched_with([channel]).softmax(1)[0, 3].item())
    for many in (0, 1, 2, 3, 4, 6, 16):
        print(f"{many:2} of 16 feature maps from the 3 -> {chances(patched_with(order[:many]))}")

# %%
maps = {}
for digit, one in (("the 3", three), ("the 8", eight)):
    maps[digit] = (safe_features(digit_net, ["block"], one) or {}).get("block")
if all(value is not None for value in maps.values()) and patched_with([0]) is not None:
    found = draw_feature_maps({digit: value[:, order] for digit, value in maps.items()}, title="Eight maps of `block`, the most telling first")
else:
    found = "One of the two tools is not written yet."
found

# %% [markdown]
# The table shows how many maps it took. All the other maps still carry the 8, and yet the net says 3. In the picture, the maps that
# did it are the first columns. You have not only looked into the net: you have found what it goes by.

# %% [markdown]
# ### In your own words: No negative values anywhere
#
# 5 min
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
# # Further
#
# You have come to the end of the core path. What follows deals with models that are less tidy, and with tools beside hooks. Its parts
# do not build on each other, except that the last one puts your tools together.
#
# ## Looking must not change the model
#
# Extraction is not training, so people write `torch.no_grad()` and feel safe. It stops autograd from recording. But a BatchNorm layer
# in training mode updates its running statistics at each forward, recorded or not. Every picture that you *look* at moves them.

# %%
for mode in ("train", "eval"):
    model = TinyResNet().train(mode == "train")
    before = model.bn1.running_mean.clone()
    with torch.no_grad():
        model(x)
    print(f"{mode:5} with no_grad: running_mean unchanged: {torch.equal(before, model.bn1.running_mean)}")

# %% [markdown]
# So you need both: `eval()` for what the layers do, **and** `no_grad()` for autograd. If the model is not yours, put its mode back afterwards. That takes
# some care. Each module has a mode of its own, and `train()` and `eval()` set that of every module inside as well. Whoever fine-tunes a
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
# medium · 15 min · further
#
# Write the context manager `looking_at(model, hooks)`. `hooks` is a dict {layer name: forward hook}.
#
# - **Inside** the block each hook sits on its layer, every module of the model is in eval mode, and autograd records nothing.
# - **After** it, each module is in the mode in which it was before (they may differ), your hooks are gone, and other people's are
#   still there. BatchNorm's statistics and the `requires_grad` of the parameters are what they were. Autograd records again if it did before.
# - All this also holds if the block ends with an error, and the error reaches the caller.
# - It can be used again, also inside a block of its own.
#
# It is always used as `with looking_at(model, hooks):`. A layer that belongs to two parents is in the same mode as both of them.
#
# You may write a function with `@contextmanager` and `yield`, or a class with `__enter__` and `__exit__`.


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
# ## Outputs that are not tensors
#
# Some layers return more than one thing. An LSTM returns a tuple in a tuple: the outputs of all steps, and a pair of last states. Attention
# returns a tuple too, and its second part may be `None`. A hook that calls `output.detach()` fails at all of these.


# %%
def parts(output, place=""):
    return " ".join(
        f"[{place}{i}] {type(part).__name__ if not isinstance(part, torch.Tensor) else tuple(part.shape)}"
        for i, part in enumerate(output)
    )


lstm = nn.LSTM(4, 3, batch_first=True)
attention = nn.MultiheadAttention(4, 2, batch_first=True)
tokens = torch.ones(2, 5, 4)  # 2 sentences, 5 words, 4 numbers a word
for layer in (lstm, attention):
    layer.register_forward_hook(lambda m, args, output: print(f"{type(m).__name__:18}", parts(output)))
lstm(tokens)
attention(tokens, tokens, tokens)
_ = attention(tokens, tokens, tokens, need_weights=False)

# %% [markdown]
# `output[0]` is no way out. It loses the rest, and for a layer that returns one tensor it means something else:

# %%
output = nn.Linear(4, 3)(tokens)
print(tuple(output.shape), "-> output[0] is the first sentence only:", tuple(output[0].shape))

# %% [markdown]
# And some layers are never called. `attention` has a child `out_proj`, but it hands that layer's weights to a function and does not call the layer. A hook on it stays silent:

# %%
attention.out_proj.register_forward_hook(lambda m, args, output: print("out_proj has run"))
_ = attention(tokens, tokens, tokens)

# %% [markdown]
# ### Exercise: Every tensor
#
# medium · 15 min · further
#
# Write `every_tensor(model, layers, x)`. It runs `model` on `x` once and returns a flat dict with **every** tensor that the named layers return. Its
# keys tell where each one was:
#
# | the layer `rnn` returns | keys |
# | --- | --- |
# | a tensor | `rnn` |
# | a tuple or list, as an LSTM does: `(output, (h, c))` | `rnn.0`, `rnn.1.0`, `rnn.1.1` |
# | a dict `{"score": ..., "extra": [...]}`, whose keys are text | `rnn.score`, `rnn.extra.0`, ... |
#
# - Go on like this, however deep the parts lie. A named tuple is a tuple, and an `OrderedDict` is a dict; no other classes derived from these occur in the tests. (For the numbers of a named tuple you may use the names of its fields.)
# - Leave out what is no tensor at the end of its path: `None`, a number, text. A parameter, a tensor of one number, and one without any are tensors.
# - Keep the tensors as in `safe_features`: as they were, and without a gradient. Afterwards your hooks are gone, and every module is in the mode that it was in.
#   (There is one name or more in `layers`. Each layer runs once a call, and no model switches gradients on by itself. What is left after an error is not asked here.)


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
# ## One layer, two calls
#
# A hook fires at each call of its module. Each block of ResNet-18 has one `relu` and calls it twice. If you keep outputs in a dict, the second call's output
# replaces the first one's.

# %%
calls = {}


def count_call(name, module, args, output):
    calls[name] = calls.get(name, 0) + 1


with torch.no_grad(), ExitStack() as stack:
    for name, module in net.named_modules():
        stack.enter_context(module.register_forward_hook(partial(count_call, name)))
    net(x)
print("more than once:", [name for name, times in calls.items() if times > 1])

# %% [markdown]
# The other way round, one module may have several names. Which of these loops would give it two hooks? `named_modules()` lists it once, under its
# first name. `named_children()` drops doubles too, but it only looks at one parent. Whoever walks from parent to parent meets the layer
# again in the second one.


# %%
def walk(parent, path=""):
    for name, child in parent.named_children():
        yield path + name
        yield from walk(child, f"{path}{name}.")


shared = nn.ReLU()
twins = nn.Sequential(nn.Linear(2, 2), shared, shared)                        # twice in one parent
cousins = nn.Sequential(nn.Sequential(shared), nn.Sequential(shared))         # once in each of two parents
for model in (twins, cousins):
    print("named_modules:                        ", [name for name, _ in model.named_modules() if name])
    print("named_modules, remove_duplicate=False:", [name for name, _ in model.named_modules(remove_duplicate=False) if name])
    print("from parent to parent:                ", [*walk(model)])

# %% [markdown]
# ### Exercise: Every call
#
# medium · 12 min · further
#
# Predict first. Here is a model. Each of its modules, but not the model itself, gets a forward hook. Which names do the hooks report
# in one call, in which order?

# %%
show_source(Rounds)

# %% [markdown]
# Write the names into the list `predicted` before you run anything. Keep your prediction as you made it. If the run shows something else,
# write what ran into `what_ran`. Otherwise you can leave it `None`.
#
# Then write the tool that tells. `record_calls(model, x)` runs any model on `x` once, in the modes that it is in, and returns a list of
# pairs `(name, output)`: **one for each call** of each module inside the model, in the order in which the hooks fire. Containers count as well, the model itself does not.
#
# - The name is the one that `named_modules()` gives.
# - Outputs are kept as in `safe_features`: as they were, and without a gradient.
# - Each call of `record_calls` returns a list of its own, and leaves no hook behind.
#
# (In the tests every output is one tensor, and no model raises an error or switches gradients on by itself. The reference solution copies tuples as well.)


# %% nbgrader={"grade": false, "grade_id": "reused_modules", "locked": false, "schema_version": 3, "solution": true, "task": false}
predicted = []  # TODO: the names, in the order in which the hooks of Rounds() fire

### BEGIN SOLUTION
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]
### END SOLUTION
what_ran = None  # if the run shows something else, write that list here; `predicted` stays as it is


def record_calls(model: nn.Module, x: torch.Tensor) -> list[tuple[str, torch.Tensor]]:
    """Run `model` on `x`; return (name, copy of the output) for each call of each module, in order."""
    # TODO: one hook a module, one entry a call.
    ### BEGIN SOLUTION
    calls, handles = [], []

    def copied(output):
        if isinstance(output, torch.Tensor):
            return output.detach().clone()
        if isinstance(output, (tuple, list)):
            return tuple(copied(part) for part in output)
        return output

    def keep(name, module, args, output):
        calls.append((name, copied(output)))

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
# <details><summary>What ran, and why (open it when your check has passed)</summary>
#
# `enter`, `relu`, `mix`, `relu`, `mix`, `relu`. The loop in `forward` calls `mix` and `relu` twice, and every call counts. The last line calls
# `torch.relu`, which is a function: no module is called, so no hook fires.
#
# </details>
#
# ## What hooks cannot see
#
# A hook sees modules: what goes in, and what comes out. The sum in the residual block is no module, and neither is `torch.flatten`. torchvision's
# tool sees them, because it does not listen. It runs `forward` with stand-ins instead of tensors, and writes down each operation. This is called
# *tracing*, and `torch.fx` does it. Here are the steps of the small model that are not simply the first call of a module:

# %%
tiny = TinyResNet().eval()
steps = get_graph_node_names(tiny)[1]  # for eval mode; [0] is for training mode
print("no module has this name:", [step for step in steps if step not in dict(tiny.named_modules())])

# %% [markdown]
# `x` is the input. `block.add` is the sum, `flatten` is a function, and `block.relu_1` is the **second call** of `block.relu`: a hook
# reports twice under one name, but here each call is a step of its own. From its notes the tool makes a **new** model that returns the steps
# that you name, and ends where the last of them ends. For layers, both ways give the same numbers:

# %%
wanted = ["conv1", "layer1.0.conv2", "layer3"]
traced = create_feature_extractor(net, wanted)
with torch.no_grad():
    by_fx, by_hooks = traced(x), safe_features(net, wanted, x) or {}
print("equal:", [name in by_hooks and torch.equal(by_hooks[name], by_fx[name]) for name in wanted])
for how, model in (("ResNet-18", net), ("cut after layer3", traced)):
    print(f"{how:17} {sum(p.numel() for p in model.parameters()):>11,} parameters")

# %% [markdown]
# The tool makes no copies either. What you get for a step depends on what else you ask for: if `bn1` is all you want, the new model
# ends there, and the in-place ReLU never runs.

# %%
with torch.no_grad():
    alone = create_feature_extractor(net, ["bn1"])(x)["bn1"]
    beside = create_feature_extractor(net, ["bn1", "layer1"])(x)["bn1"]
print(f"bn1 alone: smallest value {alone.min():.3f}   bn1 beside layer1: {beside.min():.3f}")

# %% [markdown]
# And `forward` has to be traceable. An `if` on a tensor's value ends the tracing, and leaves the model in training mode: the tool traces it
# in that mode first, and does not come to the line that puts the mode back. A hook does not mind.


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
# | cost | the whole forward runs | it stops after the last step asked for |
# | the model | carries hooks until you remove them | a new model, which shares its parameters with the old one |
# | also good for | changing outputs, gradients | saving and using the cut model on its own |
#
# For a short look into a model, take hooks. For a backbone that goes into a product, take the extractor.
#
# ### Exercise: Hooks or fx?
#
# medium · 15 min · further
#
# Write `value_at(model, step, x)`. It runs `model` on `x` and returns the value of one step, as it was when it was computed. Choose the
# tool by the step:
#
# - If `step` is the dotted name of a module, as `named_modules()` gives it, it means this module's output. If there are several calls, it means the **first** one's. It works for any model,
#   even one that cannot be traced. In a model that can be traced, each container runs once and puts out what its last step gives,
#   and no function's step is called like a module.
# - Otherwise it is a step as `get_graph_node_names` lists them, such as `block.add`, `flatten` or `block.relu_1`, but not the input. Then the model can be traced.
#
# You may stop the run as soon as you have the value. No hook of yours is left on the model, and other people's stay. What is left after an error is not asked.
# (The models are in eval mode and catch no errors. Only models that cannot be traced carry hooks of other people. The value is one tensor, and nobody writes into `x` afterwards.)


# %% nbgrader={"grade": false, "grade_id": "hooks_or_fx", "locked": false, "schema_version": 3, "solution": true, "task": false}
def value_at(model: nn.Module, step: str, x: torch.Tensor) -> torch.Tensor:
    """The value of one step of `model(x)`: a module's first output, or any other step of its graph."""
    # TODO: is there a module of that name?
    ### BEGIN SOLUTION
    if step not in dict(model.named_modules()):
        return create_feature_extractor(model, [step])(x)[step]
    outputs = []
    hook = lambda module, args, output: outputs.append(output.detach().clone())
    with model.get_submodule(step).register_forward_hook(hook):
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
# its product to a sum. How many of them go into **one number** of a layer's output? Let the layer count itself. If all weights and inputs are 1, every product is
# 1, and the sum is the number of products:


# %%
def products(text, layer, *shape):
    nn.init.ones_(layer.weight)
    with torch.no_grad():
        count = layer(torch.ones(shape)).max()
    print(f"{text:26} {count:.0f} for each number of the output, weight {tuple(layer.weight.shape)}")


products("Linear(7, 4)", nn.Linear(7, 4, bias=False), 1, 7)
products("Conv2d(6, 4, 3)", nn.Conv2d(6, 4, 3, bias=False), 1, 6, 8, 8)
products("Conv2d(6, 4, (3, 5))", nn.Conv2d(6, 4, (3, 5), bias=False), 1, 6, 8, 8)
products("Conv2d(6, 4, 3, groups=2)", nn.Conv2d(6, 4, 3, groups=2, bias=False), 1, 6, 8, 8)

# %% [markdown]
# A linear layer takes `in_features` products for each number that it puts out. A convolution takes one for each number in its window, over the channels that
# it looks at; with groups these are only `in_channels / groups`. How many numbers there are is up to the output: the whole batch, all places, all channels.
#
# ### Exercise: Count the MACs
#
# hard · 20 min · further
#
# Write `count_macs(model, x)`. It runs `model` on `x` once, with forward hooks, and returns how many MACs this one call took,
# as a whole number (an `int`, or a `float` such as `12.0`):
#
# - in all `nn.Linear` and `nn.Conv2d` layers, wherever they are in the model, also if the model is itself such a layer,
# - but in no other layers (BatchNorm and the like count as 0), and without the bias,
# - for the **whole batch**; inputs of `nn.Linear` may have more than two dimensions,
# - for each call of a layer that is used several times, and for none of a layer that is not used.
#
# - Windows that reach into the padding count in full.
# - Each call of `count_macs` counts afresh and leaves no hook behind, also if the model raises an error or somebody interrupts it.
# - Each module stays in its mode.
#
# (In the tests there are no classes derived from these two, no other kinds of convolution and no matrix products outside of layers.
# Inputs of `nn.Conv2d` have a batch, and each layer gets its input by position, not by keyword.)


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
# torch can count as well, below the modules: `FlopCounterMode` counts the matrix products and convolutions that run, also those in functions without a module. It counts
# **FLOPs**, the multiplication and the addition apart, so its numbers are twice as large. Papers mix the two units: look which one they mean.
# The second line shows what is left after the cut; the difference is what it saves. The third one shows what hooks on layers miss: attention multiplies in functions.
# (torch would miss a part of these as well: on a CPU, attention is one fused operation that it has no count for. `SDPBackend.MATH` takes it apart.)

# %%
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), num_layers=2).eval()
words = torch.randn(2, 5, 8)  # 2 sentences, 5 words, 8 numbers a word
for what, model, given in (("ResNet-18", net, x), ("cut after layer3", traced, x), ("TransformerEncoder", encoder, words)):
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model(given)
    print(f"{what:19} {count_macs(model, given) or 0:>12,} MACs by hooks, {counter.get_total_flops():>12,} FLOPs by torch")

# %% [markdown]
# ## For work: your own toolbox
#
# You have written the parts of a recorder. Put them together: `looking_at` keeps the model as it is, `safe_features` keeps the features
# as they were. Here they look into ResNet-18, which is in training mode, with one layer in eval mode and its stem frozen:

# %%
net.train()
net.bn1.eval()
net.conv1.requires_grad_(False)
before = net.layer1[0].bn1.running_mean.clone()
try:
    with looking_at(net, {}):
        recorded = safe_features(net, ["bn1", "layer1.0.conv2", "fc"], x)
    for name, value in recorded.items():
        print(f"{name:14} {tuple(value.shape)}, smallest value {value.min():.3f}, gradient: {value.requires_grad}")
except (AttributeError, TypeError):
    print("One of the two parts is not written yet.")

print("hooks left:", count_hooks(net), "  modes:", net.training, net.bn1.training)
print("running_mean unchanged:", torch.equal(before, net.layer1[0].bn1.running_mean))

# %% [markdown]
# Do the tools survive other models? Here is a Transformer encoder, once in mixed precision, and an LSTM. If a tool cannot do what it
# is asked for, it should say so. What do yours say?

# %%
def attempt(what, tool, *given):
    try:
        print(f"{what:48}", tool(*given))
    except Exception as error:
        print(f"{what:48} {type(error).__name__}: {error}")


def shapes(found):
    return {name: tuple(value.shape) for name, value in found.items()}


def in_mixed_precision(model, layers, x):
    with torch.autocast("cpu"):
        return {name: value.dtype for name, value in safe_features(model, layers, x).items()}


reader = nn.Sequential(nn.LSTM(8, 6, batch_first=True))
inner, other = ["layers.0.linear1", "layers.1"], torch.randn(2, 5, 8)
attempt("FeatureExt, a Transformer encoder", lambda: shapes(FeatureExt(encoder, inner)(words)))
attempt("safe_features, the same in mixed precision", in_mixed_precision, encoder, inner, words)
attempt("record_calls, a Transformer encoder", lambda: [name for name, _ in record_calls(encoder, words)][:4])
attempt("patch_activation, a Transformer encoder", lambda: patch_activation(encoder, "layers.0", words, other).shape)
attempt("every_tensor, an LSTM", lambda: shapes(every_tensor(reader, ["0"], words)))
attempt("safe_features, an LSTM", safe_features, reader, ["0"], words)
attempt("patch_activation, a layer that runs twice", patch_activation, net, "layer1.0.relu", x, -x)

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
# ## What you take with you
#
# - A finished net knows more than it returns. A hook gets its features, and they are good for tasks that the net was not trained for.
# - A wrapper that registers forward hooks looks into any model without a change to its code.
# - Names come from `named_children` (one level) or `named_modules` (the whole tree, with dots). `get_submodule` finds a module by its name.
# - In a loop, fix the name when the hook is made: by `partial`, by a function that makes the hook, or by a default argument.
# - A kept output is an alias. If a later operation works in place, only a clone stays true.
# - Hooks stay until they are removed. `with` and `finally` remove them even after an error.
# - A hook that returns a value replaces the output. That is how to ask whether a feature matters.
#
# And further:
#
# - `no_grad` does not stop BatchNorm's running statistics, `eval` does. Each module has a mode of its own.
# - A hook fires once a call, not once a module. Outputs may be tuples, dicts or `None`.
# - Hooks see modules. Sums and functions between them are seen by `torch.fx`, if `forward` can be traced.
#
# **Next:** lesson 06 builds tools of hooks: Grad-CAM, a search for the first NaN, an optimizer inside the backward pass.
#
# ### Limits, if a class is graded
#
# <!-- grading limits -->

# %%
progress()
