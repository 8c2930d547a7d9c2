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
# - **You will do:** get numbers that a trained net never returns, and use them to sort digits that the net has never seen. Replace a few feature maps
#   of an 8 with maps of a 3, and see how the net's answer changes. In a small GPT, find the attention head that carries the task word to the digits.
#   Steer that GPT: the prompt says `copy`, but the GPT reverses the digits.
# - **You will learn:** what spoils the outputs that you keep, and how to leave the model as it was.
# - **You need:** lesson 03: what a forward hook gets, what becomes of the value it returns, and handles.
# - **Time:** <!-- time and points -->.
# - **Help:** If a check fails, call `hint()`. To get a first idea, call it with the exercise's id: `hint("verbose_net")`.
# - **Out of scope:** training on the features.

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
from course import hint, progress, solution  # first: with it, torchvision works with a CPU-only torch

from contextlib import ExitStack, contextmanager
from copy import deepcopy
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter
from torchvision.models import ResNet18_Weights, resnet18
from torchvision.models.feature_extraction import create_feature_extractor, get_graph_node_names

from course.gpt import Block, Head, TinyGPT
from course.models import Residual, Rounds, TinyResNet
from course.sources import show_source

torch.set_num_threads(1)  # nets as small as these run fastest on one thread

# %% [markdown]
# ## What a net knows and does not say
#
# Here is a small net for the handwritten digits 0, 1, 2, 3, 5, 6 and 8. It returns seven scores.

# %%
from course.data import digits, jittered, picture

straight, labels = digits()                                            # 1,797 pictures of 8 x 8 pixels
moved = jittered(straight, torch.Generator().manual_seed(0))           # each one shifted by up to a pixel
known = torch.tensor([0, 1, 2, 3, 5, 6, 8])
seen = torch.isin(labels, known)
pictures, answers = straight[seen], torch.searchsorted(known, labels[seen])

torch.manual_seed(0)
digit_net = TinyResNet(channels=16, classes=7, colours=1, places=2)
untrained = deepcopy(digit_net).eval()
optimizer = torch.optim.Adam(digit_net.parameters(), lr=0.006)
for _ in range(5):                                                     # takes a second or two
    for batch in torch.randperm(1000).split(50):                       # trained on shifted pictures
        optimizer.zero_grad()
        F.cross_entropy(digit_net(jittered(pictures[batch])), answers[batch]).backward()
        optimizer.step()

digit_net.eval()
with torch.no_grad():
    right = digit_net(moved[seen][1000:]).argmax(1) == answers[1000:]
print(f"{right.float().mean():.0%} of {len(right)} pictures outside its training are read correctly")

# %% [markdown]
# You want to sort 4s, 7s and 9s, with just three labelled examples of each. The net cannot say "4". But on the way to its scores a layer, `pool`,
# turns each picture into 64 numbers. Can these numbers sort digits that the net has never seen? Get them out.

# %% [markdown]
# ### Exercise: What the net never returns
#
# easy · 4 min
#
# Write `pooled(net, pictures)`: it runs `net` on `pictures` and returns what the layer `net.pool` outputs on the way.
#
# - Afterwards your hooks are gone, and other people's hooks are still there.
#
# ```python
# pooled(digit_net, moved[:5]).shape  # torch.Size([5, 16, 2, 2]): 64 numbers per picture
# ```

# %% nbgrader={"grade": false, "grade_id": "pooled", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pooled(net: nn.Module, pictures: torch.Tensor) -> torch.Tensor:
    """What `net.pool` outputs while `net` runs on `pictures`."""
    # TODO: register a hook on net.pool, run the net, and remove the hook.
    ### BEGIN SOLUTION
    kept = []
    with net.pool.register_forward_hook(lambda module, args, output: kept.append(output)):
        net(pictures)
    return kept[0]
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_pooled", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course import check
check("pooled")

# %% [markdown]
# **Nearest neighbour** needs no training: each picture gets the label of the closest example. Which distance is better: between 64 pixels, or between
# the 64 extracted numbers?

# %%
def nearest(values, labels, examples=3):
    """The share of samples that get the right label from their nearest example, with `examples` examples per digit."""
    generator, shares = torch.Generator().manual_seed(0), []
    for _ in range(20):                                                # other examples each time
        order = torch.randperm(len(labels), generator=generator)
        chosen = torch.cat([order[labels[order] == digit][:examples] for digit in labels.unique()])
        others = order[~torch.isin(order, chosen)]
        closest = torch.cdist(values[others].flatten(1), values[chosen].flatten(1)).argmin(1)
        shares.append((labels[chosen][closest] == labels[others]).float().mean())
    return torch.stack(shares).mean().item()


for how, everything in (("shifted", moved), ("not shifted", straight)):
    new = everything[~seen]                                            # 4s, 7s and 9s
    inside = {"pool": pooled(digit_net, new), "pool of an untrained net": pooled(untrained, new)}
    if None in inside.values():
        print("`pooled` returns nothing yet.")
        break
    shares = [f"{nearest(value.detach(), labels[~seen]):.0%} right by {what}" for what, value in {"pixels": new, **inside}.items()]
    print(f"{how}: {', '.join(shares)}")

# %% [markdown]
# The net has never seen a 4, a 7 or a 9. Yet its inner numbers sort slightly shifted pictures much better than pixels do. The reason is the training:
# an untrained net's numbers are about as good as pixels. Such inner outputs are called **features**.
#
# ## The children are not the model
#
# ResNet-18, a model from a library, classifies photographs; you cannot edit its `forward`. With `PRETRAINED = False` its weights are random, which is
# enough here. Why not just run the children one after another?

# %%
from course.pictures.feature_maps import draw_digits, draw_feature_maps

PRETRAINED = False  # True downloads 45 MB of trained weights, once

torch.manual_seed(0)
net = resnet18(weights=ResNet18_Weights.DEFAULT if PRETRAINED else None).eval()

mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])  # of its training pictures
x = (picture("flower", 96) - mean[:, None, None]) / std[:, None, None]

step = x
try:
    for name, child in net.named_children():
        step = child(step)
        print(f"{name:8} {tuple(step.shape)}")
except RuntimeError as error:
    print("stopped at", name, "-", error)

# %% [markdown]
# `named_children()` shows which layers the model *has*; only `forward` shows how the model *uses* them. What does `forward` do after `avgpool`?

# %%
show_source(type(net)._forward_impl)

# %% [markdown]
# `torch.flatten` is a function, not a child. Other models hide more: a skip connection, an `if`. So let `forward` run, and listen with hooks.
#
# ### Give each hook its name
#
# A hook gets the module, and a module does not know its own name: its parent does. So take the name from the loop that registers the hooks. A closure
# that uses the loop's own variable looks the name up too late: when the closure runs (lesson 02). Use a default argument, `partial`, or your own
# function that returns the hook.
#
# ### Exercise: A net that reports
#
# easy · 5 min
#
# Write `VerboseNet(model)`, a module that wraps any model; each direct child of the model returns one tensor.
#
# - Calling it runs the model once, and returns what the model returns.
# - While the model runs, `VerboseNet` prints one line for each **direct child** of the model, and nothing else: the child's name and the shape of its
#   output.
# - Building it prints nothing, and each call prints the lines again.
#
# ```python
# verbose = VerboseNet(nn.Sequential(nn.Linear(3, 5), nn.Tanh()))
# verbose(torch.ones(2, 3))
# # 0: (2, 5)
# # 1: (2, 5)
# ```

# %% nbgrader={"grade": false, "grade_id": "verbose_net", "locked": false, "schema_version": 3, "solution": true, "task": false}
class VerboseNet(nn.Module):
    """Runs `model`, and prints one line for each direct child: its name and the shape of its output."""

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
        return self.model(x)


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))

# %% nbgrader={"grade": true, "grade_id": "test_verbose_net", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("verbose_net")

# %% [markdown]
# ## Names of nested layers
#
# `layer1` is itself a model with two blocks. `named_modules()` walks through the whole tree and joins the names with dots.
# `get_submodule` finds a module by such a name; `getattr` does not follow dots.

# %%
modules = dict(net.named_modules())
print(len(list(net.children())), "children,", len(modules), "modules (one is the model itself, under the name '')")
print([name for name in modules if name.startswith("layer2.0")])
print(net.get_submodule("layer2.0.downsample.0") is modules["layer2.0.downsample.0"])
try:
    getattr(net, "layer1.0.conv1")
except AttributeError as error:
    print("getattr:", error)
print([name for name in modules if name.endswith("conv1")][:3], "... many names end with conv1: compare whole names")

# %% [markdown]
# ### Exercise: Feature extractor
#
# medium · 10 min
#
# Write `FeatureExt(model, layers)`, a module that wraps any model; `layers` are dotted names. Assume that each layer returns one tensor and runs
# once.
#
# - Calling it on `x` runs the model once and returns a new dict: its keys are the names in `layers`, its values these layers' outputs.
# - No call adds a hook, or changes a mode or the model's output; each call returns the features of its `x`.
# - Two `FeatureExt` objects on one model do not disturb each other.
#
# ```python
# model = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU()))
# FeatureExt(model, ["1.0"])(torch.ones(4, 2))  # {"1.0": a tensor of shape (4, 3)}
# ```

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
# Which layer's features sort the 4s, 7s and 9s best? Guess first. Then ask your extractor for six layers at once:

# %%
layers = ["conv1", "block.conv1", "block.conv2", "block", "pool", "fc"]
with torch.no_grad():
    by_layer = FeatureExt(deepcopy(digit_net), layers)(moved[~seen]) or {}  # a copy: `digit_net` stays without hooks
for name, value in {"pixels": moved[~seen], **by_layer}.items():
    share = nearest(value, labels[~seen])
    print(f"{name:12} {share:.0%} {'█' * round(40 * share)}")

# %% [markdown]
# The first layer's features sort about as well as the pixels. The last layer's scores sort worse than the outputs of the three layers before.
#
# ## A feature can change after your hook has ended
#
# The digit net is a `TinyResNet`, a small ResNet-18. Read its `forward`. One ReLU runs twice. The ReLU and the sum work in place.

# %%
show_source(Residual, TinyResNet)

# %% [markdown]
# In ResNet-18, too, `bn1` is followed by `ReLU(inplace=True)`, which writes its result into the tensor that your hook has kept. This BatchNorm's
# output has negative values, a ReLU's has none. The hook below keeps three tensors: which of them still have negative values?

# %%
kept = {}


def keep_three(module, args, output):
    kept["alias"] = output
    kept["detach"] = output.detach()
    kept["clone"] = output.clone()


with torch.no_grad(), net.bn1.register_forward_hook(keep_three):
    net(x)
for how, feature in kept.items():
    print(f"{how:7} smallest value {feature.min():6.3f}")
twice = {"when the hook ran": kept["clone"], "after forward": kept["alias"]}
draw_feature_maps(twice, columns=4, title="The output of bn1, kept and looked at later", one_scale=True)

# %% [markdown]
# `detach()` shares the output's memory, only `clone()` has memory of its own. In a model that you do not know, keep a clone.
#
# | you want | keep |
# | --- | --- |
# | to look at values | `output.detach().clone()` |
# | to call `backward()` on the feature itself | `output.clone()` (keeps the graph up to this layer alive: delete the clone soon) |
# | to save memory, if no later operation works in place | `output.detach()` |
#
# ## Hooks pile up
#
# Hooks that `FeatureExt` registers in `__init__` stay: build it twice on one model, and each is there twice. What helps (lesson
# 03): `with`, an `ExitStack` for many hooks, or `finally`. Register inside such a block, too: when a misspelt name raises an
# error, other hooks are already there.
#
# ### Exercise: Features that do not change
#
# medium · 12 min
#
# Write `safe_features(model, layers, x)`: it runs `model` on `x` once, in its current mode, and returns `{name: output}` for the names in `layers`.
# Each layer returns one tensor and runs at most once.
#
# - Each value is what the layer returned, even if overwritten later; it requires no gradient; you can train a layer on it.
# - A layer that did not run has no entry.
# - Afterwards your hooks are gone, even after an error or a misspelt name; other hooks stay.
#
# ```python
# model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))
# safe_features(model, ["0"], torch.ones(1, 2))  # {"0": the output of Linear, with its negative values}
# ```

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
# ### In your own words: No negative values anywhere
#
# 5 min
#
# A colleague records every convolution of a network with `kept[name] = output.detach()` and draws histograms. Not one convolution has a negative
# output. She wants to write a blog post: "After training, no convolution is negative." In this network a `ReLU(inplace=True)` follows each
# convolution. She knows that, but she says: "I have called `detach()`, so whatever happens later cannot reach my copies."
#
# What does `detach()` cut, and what does it not cut? Say what her histograms really show, which single change to her line makes the histograms right,
# and how she could have noticed. (A person reads your answer.)

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_detach", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# `detach()` gives a new tensor object that autograd does not follow, on the **same memory**. There is no copy. The in-place ReLU writes its result
# into that memory after the hook has run, so her histograms show the outputs of the ReLUs. With `output.detach().clone()` she has memory of her own.
# She could have compared with `F.conv2d` on the same input, or with values printed inside the hook. Or with `data_ptr()`: it is the same for her
# tensor and the ReLU's output.
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
# You may call these two functions, and your `safe_features`, from here on, also in exercises:

# %% nbgrader={"grade": false, "grade_id": "setup_run_with", "locked": true, "schema_version": 3, "solution": false, "task": false}
@contextmanager
def hooked(model, hooks):
    """`hooks`, {layer name: forward hook}, are there in the `with` block, and gone afterwards, even after an error."""
    with ExitStack() as stack:
        for name, hook in hooks.items():
            stack.enter_context(model.get_submodule(name).register_forward_hook(hook))
        yield


def run_with(model, hooks, x):
    """`model(x)` with `hooks`."""
    with hooked(model, hooks):
        return model(x)

# %% [markdown]
# ## Change a feature and see what happens
#
# Looking shows what a layer returns. To find out whether the net *uses* this output, change it. **Activation patching** takes two inputs: a *clean*
# one, such as a 3, and a *corrupted* one, such as an 8. It runs the net on the 3 and keeps one layer's output. Then it runs the net on the 8, but
# makes that layer return the kept output.
#
# If a forward hook returns `None`, it does not replace the output. Any other value **replaces** it.
#
# ### Exercise: Patch an activation
#
# medium · 12 min
#
# Write `patch_activation(model, layer, clean, corrupted, channels=None)`.
#
# - It runs `model` on `corrupted`, but makes `layer` (a dotted name) return what this layer returns for `clean`. `patch_activation` returns the
#   model's answer, with gradients or without: both are right.
# - If `channels` is a list, only these channels (dimension 1 of the output) are replaced; an empty list means none.
# - No hook of yours stays, and every module keeps its mode. Your answer is checked in eval mode only.
#
# ```python
# clean, corrupted = torch.tensor([[1.0, 2.0, 3.0]]), torch.zeros(1, 3)
# model = nn.Sequential(nn.Identity(), nn.Flatten())
# patch_activation(model, "0", clean, corrupted, [0, 2])  # tensor([[1., 0., 3.]])
# ```

# %% nbgrader={"grade": false, "grade_id": "patch_activation", "locked": false, "schema_version": 3, "solution": true, "task": false}
def patch_activation(
    model: nn.Module,
    layer: str,
    clean: torch.Tensor,
    corrupted: torch.Tensor,
    channels: list[int] | None = None,
) -> torch.Tensor:
    """`model(corrupted)`, where `layer` returns (in these channels) what it returned for `clean`."""
    # TODO: two runs, two hooks.
    ### BEGIN SOLUTION
    kept = []

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

    run_with(model, {layer: keep}, clean)
    if len(kept) != 1:
        raise ValueError(f"{layer} ran {len(kept)} times in one call: only what runs once can be patched")
    return run_with(model, {layer: patch}, corrupted)
    ### END SOLUTION


torch.manual_seed(0)
clean, corrupted = torch.randn(2, 1, 3, 8, 8)
model = TinyResNet().eval()
print("clean:    ", model(clean), "\ncorrupted:", model(corrupted))
print("patched:  ", patch_activation(model, "bn1", clean, corrupted))  # as clean: all that follows depends on bn1's output only

# %% nbgrader={"grade": true, "grade_id": "test_patch_activation", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("patch_activation")

# %% [markdown]
# Now take a 3 and an 8 that the net was not trained on.

# %%
def that_are_read(digit):
    ones = straight[seen][1000:][labels[seen][1000:] == digit]
    return ones[known[digit_net(ones).argmax(1)] == digit]


def chances(scores):
    """The net's probabilities for a 3 and an 8."""
    chance = scores.detach().softmax(1)[0]
    return f"3: {chance[3]:.0%}, 8: {chance[6]:.0%}"                   # their indices in `known`


threes = that_are_read(3)
three, eight = threes[:1], that_are_read(8)[:1]
captions = [chances(digit_net(one)) for one in (three, eight)]
draw_digits(torch.cat([three, eight]), captions, title="The net's answers for a 3 and for an 8")

# %% [markdown]
# The output of `block` has sixteen feature maps. The cell patches each map alone, and ranks the maps by how much each raises the probability of 3.
# Then it replaces more and more maps of the 8 by those of the 3. **Guess:** how many of the best maps turn the 8 into a 3? How many of the worst?

# %%
def patched(clean, corrupted, channels):
    with torch.no_grad():
        return patch_activation(digit_net, "block", clean, corrupted, channels)


order = []
if patched(three, eight, []) is not None:
    order = sorted(range(16), key=lambda channel: -patched(three, eight, [channel]).softmax(1)[0, 3].item())
for many in (0, 2, 4, 6, 12, 16) if order else ():
    best, worst = (chances(patched(three, eight, maps[:many])) for maps in (order, order[::-1]))
    print(f"{many:2} of the best: {best:16}  {many:2} of the worst: {worst}")

# %% [markdown]
# For this 3 and this 8, four maps are *enough*: the other twelve still carry the 8, and yet the net says 3. The six worst change
# almost nothing. So does a 3 *need* its best maps? Now take all new 3s that the net reads correctly, and replace six of their maps
# by the 8's maps, or by zeros:

# %%
def without(one, channels):
    def hook(module, args, output):
        output = output.clone()
        output[:, channels] = 0
        return output

    with torch.no_grad():
        return run_with(digit_net, {"block": hook}, one)


for which, channels in {"best": order[:6], "worst": order[10:]}.items():
    if channels:
        ways = {"the 8's maps": patched(eight.expand_as(threes), threes, channels), "zeros": without(threes, channels)}
        stay = [f"{(scores.argmax(1) == 3).float().mean():.0%} with {what}" for what, scores in ways.items()]
        print(f"the six {which} maps replaced: of {len(threes)} threes, these stay a 3: {', '.join(stay)}")

# %% [markdown]
# With zeros in place of the six best maps, nearly every 3 stays a 3 in this net; with this 8's maps, hardly any. "Needed" depends
# on the replacement.
#
# ## The same with a GPT
#
# Most large language models consist of *blocks*, and each block contains *heads*. In a head, a *token* looks at itself and at earlier tokens. Here
# is a small GPT. Its tokens are words, digits and `=`. It completes `copy 4 0 7 2 9 =` and `reverse 4 0 7 2 9 =`. In its source, `softmax` is a module,
# and a block returns a dict.

# %%
show_source(Head, Block)

# %%
from course.data import DIGITS, WORDS, lines, train_to_write, write

torch.manual_seed(0)
gpt = TinyGPT()                                                        # two blocks of two heads each
train_to_write(gpt)                                                    # takes a few seconds
for task in ("copy", "reverse"):
    print(f"{task:7} 4 0 7 2 9 =", write(gpt, f"{task} 4 0 7 2 9 ="))

# %% [markdown]
# Where do the GPT's heads look? The `softmax` of a head returns its **attention**: for each token a row that says how much the token takes from
# itself and from each earlier token. Your `safe_features` gets these rows.

# %%
from course.pictures.attention import draw_attention

heads = [name for name, module in gpt.named_modules() if isinstance(module, Head)]
given = {task: lines(task, torch.tensor([[4, 0, 7, 2, 9]])) for task in ("copy", "reverse")}
attention = {}
for task, tokens in given.items():
    outputs = safe_features(gpt, [f"{name}.softmax" for name in heads], tokens) or {}
    attention[task] = {name.removesuffix(".softmax"): value for name, value in outputs.items()}
words = {task: [WORDS[token] for token in tokens[0]] for task, tokens in given.items()}
draw_attention(attention, words)

# %% [markdown]
# The last five rows predict the digits of the answer: the row `=` predicts the first. In these rows one head of the second block follows a diagonal
# for both tasks, the other clearly only for `reverse`: from the first digit to the last for `copy`, from the last to the first for `reverse`. Each
# head of the first block looks at the task word (the left column) in the rows of some digits. Which of these two heads carries the task to the
# digits? Guess first. The cell runs 300 `copy` lines, and patches one head at a time: the head returns what it returned for the `reverse` line of the
# same five digits.

# %%
rows = torch.randint(10, (300, DIGITS), generator=torch.Generator().manual_seed(0))
many = {task: lines(task, rows) for task in ("copy", "reverse")}


def show_answers(what, head, places=None):
    """How many of 300 `copy` lines are copied, and how many reversed, if `head` returns its output for `reverse`."""
    scores = patch_activation(gpt, head, many["reverse"], many["copy"], places)
    if scores is not None:
        written = scores[:, -DIGITS:].argmax(2)
        shares = [(written == wanted).all(1).float().mean() for wanted in (rows, rows.flip(1))]
        print("{:16} {:4.0%} copied, {:4.0%} reversed".format(what, *shares))


show_answers("nothing patched", heads[0], [])
for head in heads:
    show_answers(head, head)
show_answers("both of blocks.1", "blocks.1.project")                   # this layer gets only what the two heads return

# %% [markdown]
# **Your turn:** which head of the first block carries the task? Write its name into `found`. Where does its output matter: at the digits, or from
# `=` on, where the answer is written? Predict it, then run the cell:

# %%
found = None
equals = 1 + DIGITS                                                    # the position of `=`; dimension 1 is the position
if found in heads:
    show_answers("at the digits", found, list(range(1, equals)))
    show_answers("from = on", found, list(range(equals, equals + DIGITS)))

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# If the right head is patched, the net reverses most `copy` lines, even if only this head's outputs at the digits are patched. A
# patch from `=` on changes hardly any line. The other head of the first block looks at the same word, but its patch at the digits
# changes hardly any line: put its name into `found`. (The 2% above are lines that read the same both ways.) **Where a head looks
# is not what it does.** The heads of the second block share their work: a patch of one leaves most lines neither copied nor
# reversed, a patch of both reverses nearly all.
#
# </details>
#
# You can also change the task without a second run: add to a block's output the **direction** from `copy` to `reverse`. This is called *steering*.

# %% [markdown]
# ### Exercise: Steer a block
#
# easy · 5 min
#
# Write `steer(block, direction)`. After the call, the entry `"hidden"` of the block's output is larger by `direction`; everything else in the dict stays.
#
# - Outputs that others have kept do not change, and gradients still flow through the block.
# - `steer` returns the handle; once the hook is removed, the block works as before.
#
# ```python
# block, x = Block(width=4, heads=2), torch.zeros(1, 3, 4)
# steer(block, torch.ones(4))
# block(x)["hidden"]  # 1 more than before, everywhere
# ```

# %% nbgrader={"grade": false, "grade_id": "steer_block", "locked": false, "schema_version": 3, "solution": true, "task": false}
def steer(block: nn.Module, direction: torch.Tensor):
    """Make the entry "hidden" of the block's output larger by `direction`. Returns the handle."""
    # TODO: what does the hook return for a dict?
    ### BEGIN SOLUTION
    def hook(module, args, output):
        return {**output, "hidden": output["hidden"] + direction}

    return block.register_forward_hook(hook)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_steer_block", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("steer_block")

# %% [markdown]
# At each of the 11 positions, the direction is the block's mean output for 1,000 `reverse` lines minus that for 1,000 `copy` lines. How much of
# this direction makes the net reverse?

# %%
def hidden(task):
    """What the first block returns, on average over a thousand lines."""
    kept = []
    with torch.no_grad():
        run_with(gpt, {"blocks.0": lambda m, a, o: kept.append(o["hidden"])}, lines(task, torch.randint(10, (1000, DIGITS))))
    return kept[0].mean(0)


direction = hidden("reverse") - hidden("copy")
steps = {f"{strength} of it": strength * direction for strength in (0, 0.5, 0.75)}
at_digits = torch.zeros(len(direction), 1)
at_digits[1:equals] = 1
steps["all of it, only at the digits"] = direction * at_digits
steps["its mean at the digits"] = direction[1:equals].mean(0) * at_digits
steps["3 x its mean at the digits"] = 3 * steps["its mean at the digits"]
for what, step in steps.items():
    if (handle := steer(gpt.blocks[0], step)) is None:
        print("steer is not written yet")
        break
    print(f"{what:30} copy 4 0 7 2 9 =", write(gpt, "copy 4 0 7 2 9 ="))
    handle.remove()

# %% [markdown]
# At 0.75 the net reverses this line; at 0.5 it neither copies nor reverses it. No weight has changed: the hook alone did this. As
# with the head, a change at the digits is enough. But the direction is not the same at each digit: the mean of the five fails.
#
# ## Further 1: the model as it was, and outputs in parts (30 minutes)
#
# The core path ends here. You can do the further parts on different days. (The third uses `create_feature_extractor` from the second.)
#
# ### Looking must not change the model
#
# `torch.no_grad()` stops autograd from recording. But in training mode a BatchNorm updates its running statistics in each forward pass, recorded or
# not. How well does the digit net read after 40 looks at one 0?

# %%
for mode in ("train", "eval"):
    model = deepcopy(digit_net).train(mode == "train")
    with torch.no_grad():
        for _ in range(40):
            model(straight[:1])
        right = model.eval()(moved[seen][1000:]).argmax(1) == answers[1000:]
    print(f"40 looks with no_grad in {mode:5} mode: then {right.float().mean():.0%} are read correctly")

# %% [markdown]
# So use both `no_grad` and `eval`, then put the old mode back. Each module has a mode of its own, and `train()` and `eval()` also set the mode of
# every module inside. So put each module's own `training` back.
#
# ### Exercise: A guest that leaves no trace
#
# medium · 15 min · further
#
# Write the context manager `looking_at(model, hooks)`; `hooks` is a dict `{layer name: forward hook}`.
#
# - **Inside** the `with` block, each hook is on its layer, every module is in eval mode, and autograd records nothing.
# - **Afterwards** each module has its old mode, and autograd its old state; your hooks are gone, and other people's hooks are still there.
# - All this holds even if a layer name is misspelt, or the `with` block ends with an error; the caller gets that error.
#
# ```python
# with looking_at(net, {"fc": lambda module, args, output: print(tuple(output.shape))}):
#     net(x)  # prints (1, 1000)
# ```

# %% nbgrader={"grade": false, "grade_id": "untouched_model", "locked": false, "schema_version": 3, "solution": true, "task": false}
@contextmanager
def looking_at(model: nn.Module, hooks: dict):
    """In the block: hooks on their layers, eval mode, no gradients. Afterwards: the model as it was."""
    # TODO: `hooked` takes care of the hooks. What do you have to remember first? What has to happen at the end, in any case?
    ### BEGIN SOLUTION
    modes = [(module, module.training) for module in model.modules()]
    try:
        with hooked(model, hooks), torch.no_grad():
            model.eval()
            yield
    finally:
        for module, training in modes:
            module.training = training
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_untouched_model", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("untouched_model")

# %% [markdown]
# ### Outputs that are not tensors
#
# An LSTM returns a tuple in a tuple. Attention also returns a tuple, and that tuple's second part may be `None`. `output.detach()` fails for all of
# these, and `output[0]` keeps only the first part.

# %%
def parts(output):
    return [tuple(part.shape) if isinstance(part, torch.Tensor) else type(part).__name__ for part in output]


lstm = nn.LSTM(4, 3, batch_first=True)
attention = nn.MultiheadAttention(4, 2, batch_first=True)
tokens = torch.ones(2, 5, 4)  # 2 sentences, 5 words, 4 numbers per word
for layer in (lstm, attention):
    layer.register_forward_hook(lambda m, args, output: print(f"{type(m).__name__:18}", parts(output)))
lstm(tokens)
attention(tokens, tokens, tokens)
_ = attention(tokens, tokens, tokens, need_weights=False)

# %% [markdown]
# ### Exercise: Every tensor
#
# medium · 10 min · further
#
# Complete `every_tensor(model, layers, x)`: it runs `model` on `x` once and returns a flat dict with **every** tensor that the named layers return; a
# tensor's key gives its position.
#
# - Tuples, lists and dicts are opened, however deeply nested; anything that is not a tensor is left out.
# - Each tensor is kept as in `safe_features`: as it was, and without a gradient. No hook stays.
#
# ```python
# # what a layer `rnn` returns           its keys
# # a tensor                             rnn
# # (output, (h, c)), as an LSTM does    rnn.0, rnn.1.0, rnn.1.1
# # {"score": s, "extra": [e, None]}     rnn.score, rnn.extra.0
# ```

# %% nbgrader={"grade": false, "grade_id": "tuple_outputs", "locked": false, "schema_version": 3, "solution": true, "task": false}
def every_tensor(model: nn.Module, layers: list[str], x: torch.Tensor) -> dict[str, torch.Tensor]:
    """Run `model` on `x`; return a copy of every tensor that the layers returned, by name and place."""
    tensors = {}

    def put(place, output):
        # TODO: what is to be done with a tensor, with a tuple or list, with a dict, with anything else?
        ### BEGIN SOLUTION
        if isinstance(output, torch.Tensor):
            tensors[place] = output.detach().clone()
        elif isinstance(output, dict):
            for key, part in output.items():
                put(f"{place}.{key}", part)
        elif isinstance(output, (tuple, list)):
            for index, part in enumerate(output):
                put(f"{place}.{index}", part)
        ### END SOLUTION

    def hook(name, module, args, output):
        put(name, output)

    run_with(model, {name: partial(hook, name) for name in layers}, x)
    return tensors


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4))
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})

# %% nbgrader={"grade": true, "grade_id": "test_tuple_outputs", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("tuple_outputs")

# %% [markdown]
# ## Further 2: what ran, and what hooks cannot see (30 minutes)
#
# ### One layer, two calls
#
# A hook fires at each call of its module. Each block of ResNet-18 calls its one `relu` twice, as `Residual` does. In a dict the
# second call's output replaces the first. What runs more than once here?

# %%
show_source(Rounds)

# %% [markdown]
# ### Exercise: Every call
#
# medium · 12 min · further
#
# Which names do hooks on all modules inside `Rounds()` report? Write your guess, in order, into `predicted`; if it was wrong, write the real order
# into `what_ran`.
#
# Write `record_calls(model, x)`: it calls `model(x)` once, in its current mode, and returns a list of pairs `(name, output)`, **one for each call** of
# a module inside `model`, in the order in which hooks fire. Outputs are kept as in `safe_features`; a module with several names reports under the
# first. No hook stays.
#
# ```python
# relu = nn.ReLU()
# record_calls(nn.Sequential(nn.Sequential(relu), relu), x)  # [("0.0", ...), ("0", ...), ("0.0", ...)]
# ```

# %% nbgrader={"grade": false, "grade_id": "reused_modules", "locked": false, "schema_version": 3, "solution": true, "task": false}
predicted = []  # TODO: before the first run, the names, in the order in which the hooks of Rounds() fire

### BEGIN SOLUTION
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]
### END SOLUTION
what_ran = None  # if you were wrong: the real order; leave `predicted` as it is


def record_calls(model: nn.Module, x: torch.Tensor) -> list[tuple[str, torch.Tensor]]:
    """Run `model` on `x`; return (name, copy of the output) for each call of each module, in order."""
    # TODO: one hook per module, one entry per call.
    ### BEGIN SOLUTION
    calls = []

    def copied(output):
        if isinstance(output, torch.Tensor):
            return output.detach().clone()
        if isinstance(output, (tuple, list)):
            return tuple(copied(part) for part in output)
        return output

    def keep(name, module, args, output):
        calls.append((name, copied(output)))

    run_with(model, {name: partial(keep, name) for name, _ in model.named_modules() if name}, x)
    return calls
    ### END SOLUTION


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])

# %% nbgrader={"grade": true, "grade_id": "test_reused_modules", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("reused_modules")

# %% [markdown]
# <details><summary>Why this order (open it when your check has passed)</summary>
#
# The loop in `forward` calls `mix` and `relu` twice. The last line calls `torch.relu`, a function, not a module: no hook fires.
#
# </details>
#
# ### What hooks cannot see
#
# A sum is not a module, and neither is `torch.flatten`. torchvision's
# [`create_feature_extractor`](https://docs.pytorch.org/vision/stable/feature_extraction.html) sees both, because it uses no hooks: it runs `forward`
# with *proxies*, objects that stand for tensors, and writes down each operation on them. This is called *tracing*; `torch.fx` does it.

# %%
tiny = TinyResNet().eval()
steps = get_graph_node_names(tiny)[1]  # for eval mode; [0] is for training mode
print("no module has this name:", [step for step in steps if step not in dict(tiny.named_modules())])

# %% [markdown]
# `x` is the input, `block.add` the sum, and `block.relu_1` the **second call** of `block.relu`.
#
# | | forward hooks | `create_feature_extractor` |
# | --- | --- | --- |
# | which models | those that call their modules | those that can be traced |
# | what you can get | inputs and outputs of modules | also results of functions and of `+`; each single call has a name |
# | cost | the whole forward runs; to stop it early, a hook must raise an error | forward stops after the last step that you asked for |
# | modes afterwards | as before | each module has the mode of the model itself; after any error, all may be in training mode |
#
# The extractor, a new model, returns the results of the steps that you name, not copies. A later in-place step overwrites such a
# result, but it runs only if you also asked for a result that needs it:

# %%
with torch.no_grad():
    alone = create_feature_extractor(net, ["bn1"])(x)["bn1"]
    beside = create_feature_extractor(net, ["bn1", "layer1"])(x)["bn1"]
print(f"bn1 alone: smallest value {alone.min():.3f}   bn1 beside layer1, so that the ReLU runs: {beside.min():.3f}")

# %% [markdown]
# Some models do not suit fx. A call with an unused result is usually left out, even if it works in place. Then fx returns a value
# that the model never computes, without an error:

# %%
class Unused(nn.Sequential):
    def forward(self, x):
        x = x + 0
        x.relu_()                                                      # nobody uses what this call returns
        return self[0](x)


model, minus = Unused(nn.Identity()).eval(), torch.tensor([-1.0])
print("a hook gets", safe_features(model, ["0"], minus), "  fx gets", create_feature_extractor(model, ["0"])(minus))

# %% [markdown]
# And tracing fails if an `if` in your own `forward` depends on a tensor's value or shape. A hook works on this model, too:

# %%
class Picky(nn.Sequential):
    def forward(self, x):
        return self[0](x) if x.sum() < 0 else x


model = Picky(nn.Identity()).eval()
print("a hook gets", safe_features(model, ["0"], minus))
try:
    create_feature_extractor(model, ["0"])
except torch.fx.proxy.TraceError as error:
    print("fx:", error, "\nin training mode now:", model.training)

# %% [markdown]
# ### Exercise: Hooks or fx?
#
# medium · 15 min · further
#
# Write `value_at(model, step, x)`: it runs `model`, which is in eval mode, on `x` and returns the value that one step computed, even if a later
# step overwrites it.
#
# - If `step` is a name in `model.named_modules()`, the value is this module's **first** output, in any model, also one like `Picky` or `Unused`.
# - Otherwise `step` is a name in both lists of `get_graph_node_names`; assume the model uses each call's result.
# - No hook of yours stays; the model stays in eval mode.
#
# ```python
# value_at(tiny, "bn1", x)           # the output of a module
# value_at(tiny, "block.add", x)     # of a sum, which is not a module
# value_at(tiny, "block.relu_1", x)  # of a second call
# ```

# %% nbgrader={"grade": false, "grade_id": "hooks_or_fx", "locked": false, "schema_version": 3, "solution": true, "task": false}
def value_at(model: nn.Module, step: str, x: torch.Tensor) -> torch.Tensor:
    """The value of one step of `model(x)`: a module's first output, or any other step of its graph."""
    # TODO: is there a module of that name?
    ### BEGIN SOLUTION
    if step not in dict(model.named_modules()):
        try:
            return create_feature_extractor(model, [step])(x)[step]
        finally:
            model.eval()  # after an error it may be in training mode
    outputs = []
    run_with(model, {step: lambda module, args, output: outputs.append(output.detach().clone())}, x)
    return outputs[0]
    ### END SOLUTION


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))

# %% nbgrader={"grade": true, "grade_id": "test_hooks_or_fx", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("hooks_or_fx")

# %% [markdown]
# ## Further 3: counting (15 minutes)
#
# ### What a layer costs
#
# A hook sees shapes, and shapes show how much work a layer does. The usual unit is the **MAC** (multiply-accumulate): multiply two numbers, and add
# the product to a sum. How many products go into **one number** of a layer's output? Let the layer count: if all weights and inputs are 1, the sum is
# the number of products:

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
# Multiply this number by the number of elements in the output: samples times channels times positions. Products with padding count, too.
#
# ### Exercise: Count the MACs
#
# medium · 10 min · further
#
# Write `count_macs(model, x)`: it runs `model` on `x` once and returns how many MACs this call took, as a whole number.
#
# - All `nn.Linear` and `nn.Conv2d` layers count, subclasses too, wherever they are in the model, for **each call**; other layers count as 0, and so does the bias.
# - The count is for the **whole batch**; inputs of `nn.Linear` may have more than two dimensions.
# - Each call starts from 0, and no hook stays.
#
# ```python
# count_macs(nn.Linear(7, 4), torch.ones(2, 7))  # 56, for 8 numbers of 7 products each
# ```

# %% nbgrader={"grade": false, "grade_id": "count_macs", "locked": false, "schema_version": 3, "solution": true, "task": false}
def count_macs(model: nn.Module, x: torch.Tensor) -> int:
    """The MACs of all calls of nn.Linear and nn.Conv2d while `model` runs on `x`."""
    # TODO: multiply the output's elements by the products for each, and add up over all calls.
    ### BEGIN SOLUTION
    counts = []

    def count(module, args, output):
        counts.append(output.numel() * module.weight[0].numel())

    layers = [name for name, module in model.named_modules() if isinstance(module, (nn.Linear, nn.Conv2d))]
    run_with(model, dict.fromkeys(layers, count), x)
    return sum(counts)
    ### END SOLUTION


print(count_macs(TinyResNet(), torch.ones(1, 3, 8, 8)))

# %% nbgrader={"grade": true, "grade_id": "test_count_macs", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("count_macs")

# %% [markdown]
# torch has a counter, too. `FlopCounterMode` counts operations, not calls of modules, and for each MAC two **FLOPs**: a product
# and a sum. The second line shows the work of a model that ends after `layer3`. The third shows work that hooks on layers do not
# see: attention computes its products in a function. Even its `out_proj`, an `nn.Linear`, is not called: the function gets its
# weight. **A hook sees calls, not layers.** The counter has gaps, too: an operation without a formula counts 0, for example a
# *fused* one, which does the work of several. On a CPU, this layer's attention without dropout is one operation, and in the fourth
# line the whole layer is: in eval mode, without hooks, where autograd records nothing.

# %%
from torch.utils.flop_counter import FlopCounterMode

cut = create_feature_extractor(net, ["layer3"])
layer, sentence = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), torch.randn(1, 50, 16)
frozen = deepcopy(layer).eval().requires_grad_(False)
models = {"ResNet-18": (net, x), "cut after layer3": (cut, x), "Transformer layer": (layer, sentence), "frozen, eval mode": (frozen, sentence)}
for what, (model, given) in models.items():
    with FlopCounterMode(display=False) as counter:
        model(given)
        flops = counter.get_total_flops()
    print(f"{what:17} {count_macs(model, given) or 0:>12,} MACs by hooks, {flops:>12,} FLOPs by torch")

# %% [markdown]
# ## What you take with you
#
# - A trained net knows more than it returns. A hook gets its features out, also for tasks that the net was not trained for.
# - A kept output is an alias. If a later operation works in place, only a clone is unchanged.
# - A hook that returns a value replaces the output. A patch shows what is enough. What is needed depends on what replaces it.
#
# ## Where to go on
#
# - [timm](https://huggingface.co/docs/timm/feature_extraction): `features_only=True` gives maps of several sizes from hundreds of models.
# - [Hugging Face](https://huggingface.co/docs/transformers/main_classes/output): with `output_hidden_states=True` you often need no hook.
# - [TransformerLens](https://transformerlensorg.github.io/TransformerLens/): its demo patches every head and position of a real GPT-2, and draws heat maps.
#
# **Next:** lesson 06 builds tools from hooks.
#
# ### When this notebook is graded
#
# <!-- grading limits -->

# %%
progress()
