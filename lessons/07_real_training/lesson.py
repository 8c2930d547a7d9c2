# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Hooks in real training
#
# - **You will do:** make hooks that stay correct with `torch.compile`, checkpoints, a `GradScaler` and several processes.
# - **You will learn:** what a hook sees in these cases, and what not.
# - **You need:** lessons 02 to 04; for *Further* also 06.
# - **Time:** <!-- time and points -->.
# - **Out of scope:** GPUs.

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import copy
from contextlib import ExitStack, contextmanager
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter
from torch.utils.module_tracker import ModuleTracker

from course import hint, progress, solution
from course.patient import UnitLength, is_written, tensors_in

torch.set_num_threads(1)  # nets as small as these run fastest on one thread

# %% [markdown]
# ## A watcher that finds nothing wrong
#
# The net of lesson 03 dies in training. Here it is compiled by
# [`torch.compile`](https://docs.pytorch.org/docs/stable/generated/torch.compile.html). After training, a *watcher* (it only looks) uses
# two forward hooks to find ReLUs that output only zeros:

# %%
from course.data import digit_batches


def digit_net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def train(net, optimizer):
    losses = []
    for pictures, labels in digit_batches():
        loss = F.cross_entropy(net(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def dead_relus(net, x):
    alive = {}
    with ExitStack() as hooks:
        for name, module in net.named_modules():
            if isinstance(module, nn.ReLU):
                look = lambda module, args, output, name=name: alive.update({name: output.any()})
                hooks.enter_context(module.register_forward_hook(look))
        net(x)
    return [name for name in alive if not alive[name]]


sgd = partial(torch.optim.SGD, lr=0.05, momentum=0.9)
net = torch.compile(digit_net(), backend="eager")  # this backend needs no C++ compiler
loss = train(net, sgd(net.parameters()))[-1]
pictures, labels = next(iter(digit_batches()))
print(f"loss: {loss:.2f}, guessing gives {torch.tensor(10.0).log():.2f}")
print("dead ReLUs:", dead_relus(net, pictures))

# %% [markdown]
# The hooks were never called: they were registered after the code was compiled. But an empty list looks like good news.
#
# ### Exercise: A watcher that reports silence
# easy · 6 min
#
# Write `features(model, layers, x)`. It calls `model(x)` once, and returns a dict: for each name in `layers` the output of that module.
#
# - If a layer's hook was never called, `features` raises a `RuntimeError`; its message names exactly these layers.
# - It does not catch an error of the model.
# - Afterwards, even after an error, none of its hooks is left.
#
# ```python
# features(net, ["2", "4"], pictures)  # RuntimeError: not called: 2, 4
# ```

# %% nbgrader={"grade": false, "grade_id": "features_or_error", "locked": false, "schema_version": 3, "solution": true, "task": false}
def features(model, layers, x):
    """The layers' outputs in one run of the model, or an error that names the layers that were not called."""
    ### BEGIN SOLUTION
    found = {}

    def keep(name, module, args, output):
        found[name] = output

    with ExitStack() as hooks:
        for name in layers:
            hooks.enter_context(model.get_submodule(name).register_forward_hook(partial(keep, name)))
        model(x)
    silent = [name for name in layers if name not in found]
    if silent:
        raise RuntimeError(f"not called: {', '.join(silent)}")
    return found
    ### END SOLUTION
# %% nbgrader={"grade": true, "grade_id": "test_features_or_error", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("features_or_error")
# %% [markdown]
# Your watcher on the same net:

# %%
try:
    if is_written(features, net, [], pictures):
        print("no error:", features(net, ["2", "4"], pictures))
except RuntimeError as error:
    print("RuntimeError:", error)
print("dead ReLUs of the uncompiled net:", dead_relus(net._orig_mod, pictures))

# %% [markdown]
# The first call compiles the code. A later call compiles again if a *guard* fails: a guard checks that a fact, such as the batch size, is
# the same. A hook is *early* if you register it before the first call, else *late*. `count(forward, 4, "register", 4)` means: call the
# net with 4 rows, register the hook, call the net again with 4 rows, and return how often the hook ran in the last call.

# %%
def count(hook, *moments, sentinel=None):
    torch.compiler.reset()  # discards all compiled code
    net, calls = nn.Sequential(nn.Linear(3, 3), nn.ReLU()), []
    compiled = torch.compile(net, backend="eager")
    if sentinel:
        sentinel(net)(lambda *_: None)
    for moment in moments:
        if moment == "register":
            hook(net)(lambda *_: calls.append(hook))
        else:
            calls.clear()
            compiled(torch.ones(moment, 3)).sum().backward()
    return len(calls)


forward = lambda net: net[1].register_forward_hook
print("early:", count(forward, "register", 4))
print("late: ", count(forward, 4, "register", 4))

# %% [markdown]
# Why? Each module has a set of hooks for each kind. An **empty** set is not guarded, a non-empty one is: a hook that is added to it makes
# the next call compile again. A **sentinel** is another, early hook. Which late hooks does a sentinel help? **Stop and predict** the table
# and the two lines below.

# %%
kinds = {
    "forward hook": forward,
    "full backward hook": lambda net: net[1].register_full_backward_hook,
    "tensor hook on a parameter": lambda net: net[0].weight.register_hook,
}
print(f"{'':28} late  sentinel, late")
for kind, hook in kinds.items():
    late, helped = count(hook, 4, "register", 4), count(hook, 4, "register", 4, sentinel=hook)
    print(f"{kind:28} {late}     {helped}")
print("sentinel of another kind:  ", count(forward, 4, "register", 4, sentinel=lambda net: net[1].register_forward_pre_hook))
print("sentinel on another module:", count(forward, 4, "register", 4, sentinel=lambda net: net[0].register_forward_hook))

# %% [markdown]
# A sentinel must be of the same kind and on the same module, and must still be there in the last call before you register the late hook.
#
# Autograd calls a parameter's late hook even in compiled code. If a hook is late, call `torch.compiler.reset()` before the next call. Or
# call the uncompiled net, `net._orig_mod`.
#
# ## What runs twice calls its hooks twice
#
# A [*checkpoint*](https://docs.pytorch.org/docs/stable/checkpoint.html) throws away what backward needs, and computes it again in
# backward: less memory, more time. Here the `middle` of the net that died is in a checkpoint. Which hooks run again?

# %%
from course.pictures.timeline import draw_hook_timeline
from torch.utils.checkpoint import CheckpointError, checkpoint


class Halved(nn.Module):
    def __init__(self):
        super().__init__()
        net = digit_net()
        self.first, self.middle, self.last = net[:2], net[2:5], net[5]

    def forward(self, x):
        return self.last(checkpoint(self.middle, self.first(x), use_reentrant=False))


draw_hook_timeline(Halved(), pictures.clone().requires_grad_(), title="A checkpoint: middle is called again in backward")

# %% [markdown]
# Here all forward pre-hooks in `middle` run again, and forward hooks only of its first two layers: the second forward stops once backward has
# what it needs. `middle.4` begins again (29 in the picture), and does not end: 30 is its backward hook. Backward hooks run once. The second
# forward must save the same tensors as the first.
# [`ModuleTracker().is_bw`](https://docs.pytorch.org/docs/stable/module_tracker.html) asks autograd whether backward is running:

# %%
net, squares = Halved(), []


def look(module, args, output):
    print("backward is running:", ModuleTracker().is_bw)
    if not squares:
        squares.append(output.pow(2).mean())


net.middle[1].register_forward_hook(look)
try:
    net(pictures).sum().backward()
except CheckpointError as error:
    print("CheckpointError:", str(error).split(":")[1].split("\n")[0])

# %% [markdown]
# The hook's `pow` saved a tensor in the first forward only. So look at `output.detach()`.
#
# ### Exercise: One entry per call
# medium · 15 min
#
# Write the context manager `recorder(model, layers)`. It yields a dict: for each name in `layers` a list of entries.
#
# - Each call of `model`, which runs each of these layers once, adds one entry per layer: the mean of the squares of the layer's output, as
#   a Python number.
# - If a checkpoint runs one layer, or the whole `model`, again in backward, this adds no entry.
# - After the block, even after an error, no hook is left.
#
# ```python
# with recorder(net, ["0", "2"]) as history:
#     run(net)     # calls net three times
# history          # {'0': [0.9, 0.8, 0.8], '2': [0.2, 0.3, 0.4]}
# ```

# %% nbgrader={"grade": false, "grade_id": "one_entry_a_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
@contextmanager
def recorder(model, layers):
    """Within the block, each call of the model adds one entry per layer, even if a checkpoint runs the layer twice."""
    ### BEGIN SOLUTION
    history = {name: [] for name in layers}

    def keep(name, module, args, output):
        if not ModuleTracker().is_bw:
            history[name].append(output.detach().pow(2).mean().item())

    with ExitStack() as hooks:
        for name in layers:
            hooks.enter_context(model.get_submodule(name).register_forward_hook(partial(keep, name)))
        yield history
    ### END SOLUTION
# %% nbgrader={"grade": true, "grade_id": "test_one_entry_a_step", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("one_entry_a_step")
# %% [markdown]
# Which ReLU of this net dies, and when?

# %%
from course.pictures.curves import draw_curves

net, layers, history = Halved(), ["middle.2", "middle.4"], {}  # a slice of a Sequential keeps the names of its layers
if is_written(recorder, net, layers):
    with recorder(net, layers) as history:
        train(net, sgd(net.parameters()))
draw_curves(history, title="Mean of the squares of the outputs", most=3)

# %% [markdown]
# `middle.4`: after a jump at step 60, it outputs only zeros from step 64 on.
#
# ## A gradient that is 65,536 times too large
#
# Under `torch.autocast` layers such as Linear return half precision: float16 or bfloat16. How do both store a small and a large number?
# Which entry does your recorder compute for an output of 300?

# %%
for dtype in (torch.float16, torch.bfloat16):
    small, large, scaled = torch.tensor([1e-8, 70_000.0, 1e-8 * 65_536]).to(dtype).tolist()
    print(f"{dtype!s:14} {small:.1g}, {large:g}; 1e-8, scaled up and back: {scaled / 65_536:.1g}")
layer = nn.Linear(1, 1, bias=False)
nn.init.constant_(layer.weight, 300.0)
with torch.autocast("cpu", dtype=torch.float16):
    output = layer(torch.ones(1, 1)).detach()
    print(output.dtype, "mean of the squares:", output.pow(2).mean().item(), "in float32:", output.float().pow(2).mean().item())

# %% [markdown]
# The square of 300 is too large for **float16**: a recorder for such nets needs `output.detach().float()`. Small gradients become 0. So
# [`GradScaler`](https://docs.pytorch.org/docs/stable/amp.html) multiplies the loss by a *scale*, at first 65,536, and divides the gradients
# by it right before the step. bfloat16 has the range of float32, and needs no scaler. How large is the gradient of the last bias in a
# tensor hook, and right before the step? And how much is left at the step if a tensor hook clamps the gradient to (-1, 1)?

# %%
def train_in_half(net, optimizer, scaler, steps=100):
    losses = []
    for pictures, labels in digit_batches(steps):
        with torch.autocast("cpu", dtype=torch.float16):
            loss = F.cross_entropy(net(pictures), labels)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses


net, scaler, in_backward, at_step = Halved(), torch.amp.GradScaler("cpu"), [], {}
bias, optimizer = net.last.bias, sgd(net.parameters())
bias.register_hook(lambda grad: in_backward.append(grad.norm().item()))
optimizer.register_step_pre_hook(lambda *_: at_step.update({len(in_backward) - 1: bias.grad.norm().item()}))
loss = train_in_half(net, optimizer, scaler)[-1]
print(f"step 0: norm {in_backward[0]:.0f} in backward, {at_step[0]:.2f} right before the step")
print(f"loss {loss:.2f}; skipped: step {set(range(100)) - set(at_step)}; the scale is now {scaler.get_scale():.0f}")
with bias.register_hook(lambda grad: grad.clamp(-1, 1)):
    train_in_half(net, optimizer, scaler, steps=1)
print(f"a tensor hook clamps to (-1, 1): norm {at_step[100]:.5f} right before the step")

# %% [markdown]
# In step 60 the batch that killed the net makes a gradient that overflows in float16. So the scaler skips this step, no hook of this
# optimizer runs, and the scale is halved. This saves the net, but only by luck.
#
# An optimizer has hooks of its own:
# [`register_step_pre_hook(hook)`](https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.register_step_pre_hook.html) and
# `register_step_post_hook(hook)` call `hook(optimizer, args, kwargs)` around each step. A pre-hook returns `None`, or a pair that
# replaces `(args, kwargs)`.
#
# ### Exercise: Clipping that works with a scaler
# easy · 9 min
#
# Write `clip_at_step(optimizer, most)`. From then on, each step of `optimizer` first clips the norm of all gradients together to `most`,
# if the norm is larger: `nn.utils.clip_grad_norm_` does that. Your clipping also works with a `GradScaler`, if the optimizer is not *fused*
# (see *Further*). Parameters that are added to the optimizer later are clipped, too. Return a handle; its `remove()` ends the clipping.
#
# ```python
# clip_at_step(optimizer, 0.5)
# scaler.scale(loss).backward()   # gradients of 6 and 8, times 65,536
# scaler.step(optimizer)          # a step with 0.3 and 0.4
# ```

# %% nbgrader={"grade": false, "grade_id": "clip_at_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def clip_at_step(optimizer, most):
    """Each step of the optimizer first clips the norm of all gradients together to `most`."""
    ### BEGIN SOLUTION

    def clip(optimizer, args, kwargs):
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        nn.utils.clip_grad_norm_(parameters, most)

    return optimizer.register_step_pre_hook(clip)
    ### END SOLUTION
# %% nbgrader={"grade": true, "grade_id": "test_clip_at_step", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("clip_at_step")
# %% [markdown]
# Does clipping help the net that died? Each of its ReLUs has a sentinel now:

# %%
runs = {}
for way in ("as it was", "with clipping"):
    net = digit_net()
    for layer in (net[2], net[4]):
        layer.register_forward_hook(lambda module, args, output: None)
    net = torch.compile(net, backend="eager")
    optimizer = sgd(net.parameters())
    if way == "with clipping":
        clip_at_step(optimizer, 1.0) or print("clip_at_step is not written yet")
    runs[way] = train(net, optimizer)
    print(f"{way}: dead ReLUs: {dead_relus(net, pictures)}")
draw_curves(runs, title="Loss of the net that died", most=3)

# %% [markdown]
# The step that killed the net does no harm now.
#
# ### In your own words: A gradient of forty thousand
#
# 5 min
#
# A colleague trains with a `GradScaler`, and half of her model is checkpointed. Tensor hooks on parameters log the norms of gradients,
# forward hooks on layers count batches. Her log says: norms of 40,000, and twice as many batches in some layers as in others. She
# divides the learning rate by a thousand, and the model stops learning.
#
# Why are the norms so large, and why are some counts doubled? Where would hooks log the true values? Was anything wrong with the model? (A
# person reads your answer, no check does.)

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_scaled_norm", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# Nothing was wrong with the model. The scaler multiplies the loss by 65,536 at first, so in backward all gradients are larger by this
# factor: 40,000 is a norm of about 0.6. The scaler divides them right before the step: log them in a pre-hook of the optimizer's step. A
# checkpoint runs its layers again in backward, with their hooks. Count nothing while backward is running (`ModuleTracker().is_bw`).
#
# ### BEGIN MARK SCHEME
# - 2 points: norms are scaled during backward and divided before the step, **and** a checkpoint's second forward calls the hooks again.
#   Names a place for each: the optimizer's step pre-hook, or after `unscale_`; while backward is not running, or the model's own calls.
# - 1 point: only one of the two numbers explained, with its place; or both without places.
# - Common wrong explanations, 0 points for that part: gradients explode; two backward passes add up; the hooks were registered twice.
# ### END MARK SCHEME
# ### END SOLUTION

# %% [markdown]
# ## A list to print
#
# | before you trust a hook | because |
# | --- | --- |
# | **Was it called?** Count its calls. Before the model's first call, register the hook, or a sentinel: same kind, same module. | Compiled code may ignore a late hook. |
# | **How many calls per step?** In a *forward* hook, write nothing if `ModuleTracker().is_bw`. | A checkpoint runs its part again. |
# | **Does it only look?** Use `output.detach().float()`, and draw no random number, or use a generator of its own (see *Further*). | The second forward must save and draw what the first did. |
# | **Are the numbers true?** Clip and log right before the step. (Fused optimizers: see *Further*.) | In float16 a scaler multiplies by 65,536. |
#
# ## Further
#
# Four parts follow, in any order:
#
# - *Batch sizes, random numbers, fused optimizers* (5 minutes)
# - *Adapt a frozen model* (20 minutes)
# - *Which operation made the NaN?* (35 minutes)
# - *Two replicas, two gradients* (25 minutes)
#
# ## Batch sizes, random numbers, fused optimizers
#
# Does compiled code run a late hook if the batch size changes, and if it changes again?

# %%
print("batch sizes 4, 6:", count(forward, 4, "register", 6), "  4, 6, 8:", count(forward, 4, 6, "register", 8))

# %% [markdown]
# With the second size the net is compiled again, now for all sizes above 1. So the third compiles nothing, and a hook registered after the
# second is not called.
#
# Before the second forward, a checkpoint resets the random generator. How wrong does the gradient become if a hook draws a number in the
# first forward only?

# %%
part, x = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.Linear(3, 3)), torch.randn(5, 3)


def gradient(run, generator):
    def draw(module, args, output):
        if not ModuleTracker().is_bw:
            torch.rand(1, generator=generator)

    torch.manual_seed(0)
    with part[0].register_forward_hook(draw):
        return torch.autograd.grad(run(x).sum(), part[0].weight)[0]


for generator in (None, torch.Generator()):
    right, found = gradient(part, generator), gradient(partial(checkpoint, part, use_reentrant=False), generator)
    print(f"wrong by {(found - right).norm() / right.norm():.0%}; the hook has its own generator: {generator is not None}")

# %% [markdown]
# The random number changed the Dropout's mask in the first forward only. Give the hook its own generator.
#
# A *fused* optimizer divides the gradients by the scale inside its own step, unless `scaler.unscale_(optimizer)` divides them before.
# Does your clipping work?

# %%
for fused, unscale in ((False, False), (True, False), (True, True)):
    w = Parameter(torch.zeros(2))
    optimizer = torch.optim.SGD([w], lr=1.0, fused=fused)
    scaler = torch.amp.GradScaler("cpu")
    clip_at_step(optimizer, 0.5) or print("clip_at_step is not written yet")
    scaler.scale((w * torch.tensor([6.0, 8.0])).sum()).backward()
    if unscale:
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    print(f"fused={fused!s:5}  unscale_: {unscale!s:5}  {w.detach()}")

# %% [markdown]
# Your hook clips gradients that a fused optimizer has not divided yet; `unscale_` before the step cures that. If the scaler skips a step, a
# fused optimizer still calls its hooks, but changes no parameter. (In torch 2.13, a skipped first step
# leaves the momentum of fused SGD uninitialised.)
#
# ## Adapt a frozen model
#
# *Low-rank adaptation*, LoRA (lesson 04), trains a small part beside each frozen layer. A matrix `A` has few rows, a matrix `B` few columns;
# their product `B @ A` has the weight's size, and corrects the weight. In lesson 04 a hook added it. This does not always work:
# `nn.MultiheadAttention` reads the weight of its layer `out_proj`, and never calls this layer:

# %%
attention, tokens = nn.MultiheadAttention(8, 2, batch_first=True).eval(), torch.randn(1, 5, 8)
before = attention(tokens, tokens, tokens)[0]
with attention.out_proj.register_forward_hook(lambda module, args, output: output + 1000):
    print("the hook on out_proj changes the output:", not torch.equal(before, attention(tokens, tokens, tokens)[0]))

# %% [markdown]
# A module can replace a layer that the model *calls* (lesson 04, 'Replacing modules').
#
# ### Exercise: LoRA for any Linear
# medium · 15 min · further
#
# Write `LoRA(linear, rank)`, a module that can replace any `nn.Linear` that the model calls, of any dtype. It computes
# `linear(x) + x @ A.T @ B.T`.
#
# - It trains only two parameters of its own: `A`, random, has `rank` rows; `B`, zeros, has `rank` columns; it holds the given layer itself,
#   frozen, and no copy.
# - `merged()` does not change the LoRA, and returns a new `nn.Linear` that computes the same, with tensors of its own.
#
# ```python
# lora = LoRA(nn.Linear(64, 10), rank=2)
# lora(x), lora.merged()(x)   # the same
# ```

# %% nbgrader={"grade": false, "grade_id": "lora", "locked": false, "schema_version": 3, "solution": true, "task": false}
class LoRA(nn.Module):
    """A frozen linear layer, and a correction of low rank that is trained."""

    def __init__(self, linear, rank):
        super().__init__()
        # TODO: keep the frozen layer, and make self.A and self.B.
        ### BEGIN SOLUTION
        self.linear = linear.requires_grad_(False)
        weight = linear.weight
        self.A = Parameter(torch.randn(rank, linear.in_features).to(weight) / linear.in_features**0.5)
        self.B = Parameter(torch.zeros(linear.out_features, rank).to(weight))
        ### END SOLUTION

    def forward(self, x):
        # TODO: what the layer computes, and the correction.
        ### BEGIN SOLUTION
        return self.linear(x) + x @ self.A.T @ self.B.T
        ### END SOLUTION

    def merged(self):
        # TODO: a new nn.Linear that computes the same.
        ### BEGIN SOLUTION
        new = copy.deepcopy(self.linear)
        with torch.no_grad():
            new.weight += self.B @ self.A
        return new
        ### END SOLUTION
# %% nbgrader={"grade": true, "grade_id": "test_lora", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("lora")
# %% [markdown]
# A net that reads digits gets pictures that are upside down.

# %%
from course.data import reads, train_to_read

turned = lambda net, pictures: net(pictures.flatten(1).flip(1))
net = digit_net()
train_to_read(net)
print("digits read:", reads(net), "  upside down:", reads(partial(turned, net)))
frozen = nn.Sequential(*net)
for name, module in list(net.named_modules()):
    if isinstance(module, nn.Linear):
        net.set_submodule(name, LoRA(module, rank=4))

trained = [parameter for parameter in net.parameters() if parameter.requires_grad]
print("trained:", sum(one.numel() for one in trained), "of", sum(one.numel() for one in net.parameters()))
if trained:
    optimizer = torch.optim.Adam(trained, lr=0.01)
    clip_at_step(optimizer, 1.0)  # for the batch that killed the first net
    for _ in range(3):
        train(partial(turned, net), optimizer)
    merged = nn.Sequential(*(part.merged() if isinstance(part, LoRA) else part for part in net))
    print("after 300 steps, merged:  ", reads(merged), "  upside down:", reads(partial(turned, merged)))
    print("the frozen layers alone:  ", reads(frozen))
else:
    print("LoRA is not written yet")

# %% [markdown]
# By training 13% of its numbers the net learned the new task. With the corrections it forgot half of the old one, but without them,
# the frozen layers still read as before.
#
# A LoRA has no `weight`, so it cannot replace a layer whose weight other code reads: `out_proj`, or, in eval mode, `linear1` of
# an `nn.TransformerEncoderLayer` with `batch_first=True`.
# [`parametrize`](https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrize.register_parametrization.html) puts a
# module between a parameter and the code that reads it.

# %%
from torch.nn.utils import parametrize


class LowRank(nn.Module):
    def __init__(self, weight, rank):
        super().__init__()
        self.A = Parameter(torch.randn(rank, weight.shape[1]) / weight.shape[1] ** 0.5)
        self.B = Parameter(torch.zeros(weight.shape[0], rank))

    def forward(self, weight):
        return weight + self.B @ self.A


place = attention.requires_grad_(False).out_proj
parametrize.register_parametrization(place, "weight", LowRank(place.weight, rank=2))
attention(tokens, tokens, tokens)[0].pow(2).sum().backward()
print("trained:", [name for name, one in attention.named_parameters() if one.grad is not None])
nn.init.ones_(place.parametrizations.weight[0].B)  # as if it had learned
before = attention(tokens, tokens, tokens)[0]
parametrize.remove_parametrizations(place, "weight")
print("merged, the same output:", torch.allclose(before, attention(tokens, tokens, tokens)[0]))

# %% [markdown]
# ## Which operation made the NaN?
#
# In lesson 06 a blank scan made the patient's gradients NaN, and your debugger named a layer. Anomaly detection (lesson 02) names a line, and
# stops at NaN, not at infinity. Could a hook name the *operation*? Each operation that autograd records is a **node**, such as
# `y.grad_fn`. A node has a `name()`; its `next_functions` hold the nodes of its inputs. [`node.register_hook(hook)`](https://docs.pytorch.org/docs/stable/generated/torch.autograd.graph.Node.register_hook.html) calls
# `hook(grad_inputs, grad_outputs)` after the node has run. Both are tuples; an entry may be `None`. "Inputs" and "outputs" are those of
# forward: in backward, the node *gets* `grad_outputs`, and *makes* `grad_inputs`. Here is the line of `UnitLength`:

# %%
def tell(name, made, got):
    print(f"{name:15} got {got}, made {made}")


def one_way(node):
    """This node, then the last of its next nodes, and so on."""
    while node is not None:
        yield node
        node = next((one for one, _ in reversed(node.next_functions) if one is not None), None)


x = torch.zeros(2, requires_grad=True)
y = x / (x.pow(2).sum().sqrt() + 1e-6)
for node in one_way(y.grad_fn):
    node.register_hook(partial(tell, node.name()))
y.sum().backward()
print("forward:", y.detach(), "  gradient:", x.grad)

# %% [markdown]
# `sqrt` gets a gradient of 0, divides it by 0, and makes the first NaN.
#
# Which module made the NaN? `made_by` notes for each node the name of its module. When a module begins, `made_by` follows the graph back from
# the arguments: nodes without a note were made before the module began. When the module ends, `made_by` follows it back from the output: nodes
# without a note were made in the module. (A tensor that the module reads from an attribute counts as made in the module.)

# %% nbgrader={"grade": false, "grade_id": "setup_made_by", "locked": true, "schema_version": 3, "solution": false, "task": false}
@contextmanager
def made_by(model):
    """Within the block: for each node of the model, note the name of the innermost module that made it."""
    names, running = {}, [""]

    def note(values, name):  # only what has no note yet
        waiting = [tensor.grad_fn for tensor in tensors_in(values)]
        while waiting:
            node = waiting.pop()
            if node is not None and node not in names:
                names[node] = name
                waiting += [one for one, _ in node.next_functions]

    def begin(name, module, args, kwargs):
        note([args, kwargs], running[-1])
        running.append(name)

    def end(module, args, output):
        note(output, running.pop())

    with ExitStack() as hooks:
        for name, module in model.named_modules():
            hooks.enter_context(module.register_forward_pre_hook(partial(begin, name), with_kwargs=True))
            hooks.enter_context(module.register_forward_hook(end))
        yield names

# %%
net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
with made_by(net) as names:
    loss = net(torch.ones(1, 2)).pow(2).sum()
for node in one_way(loss.grad_fn):
    print(f"{node.name():15} {names.get(node, 'not noted')}")

# %% [markdown]
# ### Exercise: Where the NaN was born
# hard · 30 min · further
#
# Write `nan_in_backward(model, x, loss_of)`. It computes `loss_of(model(x))`, runs backward, and returns a pair of names: the name of the
# first operation that made NaN or infinity in a gradient, and the name of the innermost module around it, from `made_by`. For an operation
# of the loss, the second name is `''`, as for the model's own forward. If all gradients are finite, it returns `None`.
#
# ```python
# nan_in_backward(net, x, lambda output: output.sum())  # ('SqrtBackward0', '1')
# ```

# %% nbgrader={"grade": false, "grade_id": "nan_in_backward", "locked": false, "schema_version": 3, "solution": true, "task": false}
def nan_in_backward(model, x, loss_of):
    """The first operation that made a non-finite gradient, and its module; None if all gradients are finite."""
    ### BEGIN SOLUTION
    with made_by(model) as names:
        loss = loss_of(model(x))
    found = []

    def look(where, made, got):
        if not all(grad is None or grad.isfinite().all() for grad in made):
            found.append(where)

    seen, waiting = set(), [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            node.register_hook(partial(look, (node.name(), names.get(node, ""))))
            waiting += [one for one, _ in node.next_functions]
    loss.backward()
    return found[0] if found else None
    ### END SOLUTION
# %% nbgrader={"grade": true, "grade_id": "test_nan_in_backward", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
from course import check
check("nan_in_backward")
# %% [markdown]
# Now use it:

# %%
net = nn.Sequential(nn.Linear(8, 4, bias=False), UnitLength(), nn.Linear(4, 2))
x = torch.randn(5, 8)
total = lambda output: output.sum()
if is_written(nan_in_backward, net, torch.zeros(5, 8), total):
    print("all rows fine:   ", nan_in_backward(net, x, total))
    x[3] = 0
    print("one row of zeros:", nan_in_backward(net, x, total))

# %% [markdown]
# ## Two replicas, two gradients
#
# In *data-parallel* training several processes hold the same model. Each process, a *replica*, computes gradients from its own part of the
# batch, and `DistributedDataParallel` averages them. `in_replicas` runs a function in two processes:

# %%
import tempfile
from datetime import timedelta

from joblib import Parallel, delayed
from torch.nn.parallel import DistributedDataParallel


def one_replica(work, rank, meeting):
    store = torch.distributed.FileStore(meeting, 2)
    torch.distributed.init_process_group("gloo", store=store, rank=rank, world_size=2, timeout=timedelta(seconds=60))
    found = work(rank)
    torch.distributed.destroy_process_group()
    return found


def in_replicas(work):
    with tempfile.TemporaryDirectory() as folder:
        return Parallel(2)(delayed(one_replica)(work, rank, f"{folder}/meeting") for rank in range(2))


def watched(rank):
    model, seen = nn.Linear(1, 1, bias=False), []
    nn.init.zeros_(model.weight)

    def step(weight):  # in backward, as in lesson 06
        with torch.no_grad():
            weight -= 0.1 * weight.grad

    model.weight.register_hook(lambda grad: seen.append(grad.item()))
    model.weight.register_post_accumulate_grad_hook(step)
    replica = DistributedDataParallel(model)
    replica(torch.full((1, 1), rank + 1.0)).sum().backward()
    return seen[0], model.weight.grad.item(), round(model.weight.item(), 3)


for rank, (seen, grad, weight) in enumerate(in_replicas(watched)):
    print(f"replica {rank}: the hook saw {seen}, .grad: {grad}, weight: {weight}")

# %% [markdown]
# A hook on a parameter sees the gradient of its own replica. If the hook updates the weight, the replicas become two different models, without
# an error.
#
# `DistributedDataParallel` gathers gradients in flat *buckets*. To average a complete bucket, it can call a hook of yours, a [**communication
# hook**](https://docs.pytorch.org/docs/stable/ddp_comm_hooks.html), `hook(state, bucket)`. The hook returns a *future*, the promise of a
# tensor, so that backward can go on. For example, `future.then(lambda future: future.value() / 2)` returns a new future immediately. Once
# `future` is done, the new one holds half of its value. Here the `state` is a `Wire`:

# %% nbgrader={"grade": false, "grade_id": "setup_wire", "locked": true, "schema_version": 3, "solution": false, "task": false}
class Wire:
    def __init__(self):
        self.size = torch.distributed.get_world_size()  # how many replicas there are
        self.bytes = 0  # how many bytes this replica has sent

    def sum(self, tensor):
        """Send the tensor; returns the future of the sum over all replicas."""
        done = torch.distributed.all_reduce(tensor, async_op=True).get_future()
        return done.then(lambda future: future.value()[0])

# %% [markdown]
# ### Exercise: Gradients in half the bytes
# medium · 20 min · further
#
# Write `bf16_average(wire, bucket)`, a communication hook. `bucket.buffer()` is a flat tensor of gradients. Send it in bfloat16:
# `wire.sum(tensor)` returns the future of the sum. Return a future of the average over the `wire.size` replicas, in the buffer's dtype.
# Add the number of bytes that you send to `wire.bytes`. Do not wait: the sum comes after your hook has returned.
#
# ```python
# # two replicas with the gradients [1., 3.] and [3., 3.]
# bf16_average(wire, bucket)   # a future of tensor([2., 3.]), and 4 bytes
# ```

# %% nbgrader={"grade": false, "grade_id": "bf16_average", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bf16_average(wire, bucket):
    """A communication hook that averages in bfloat16, and counts the bytes that it sends."""
    ### BEGIN SOLUTION
    buffer = bucket.buffer()
    sent = buffer.bfloat16()
    wire.bytes += sent.numel() * sent.element_size()
    return wire.sum(sent).then(lambda total: total.value().to(buffer.dtype) / wire.size)
    ### END SOLUTION
# %% nbgrader={"grade": true, "grade_id": "test_bf16_average", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("bf16_average")
# %% [markdown]
# Two real replicas:

# %%
def trained(rank):
    torch.manual_seed(0)
    model = nn.Linear(256, 4)
    replica, wire = DistributedDataParallel(model), Wire()
    # None, in place of a future, would crash the process.
    replica.register_comm_hook(wire, lambda wire, bucket: bf16_average(wire, bucket) or wire.sum(bucket.buffer()))
    torch.manual_seed(rank)
    replica(torch.randn(8, 256)).pow(2).sum().backward()
    return [round(one, 2) for one in model.weight.grad[0, :3].tolist()], wire.bytes


for rank, (grad, sent) in enumerate(in_replicas(trained)):
    print(f"replica {rank}: {grad}, {sent} bytes for {256 * 4 + 4} gradients")

# %% [markdown]
# With [`fully_shard`](https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html) (FSDP2) each replica keeps only a slice of
# each weight. `fully_shard` replaces the parameters by slices; forward uses full weights, which are gathered for the call. **Stop and
# predict**: the weight gets a tensor hook and a post-accumulate hook before `fully_shard`, and again after it. Which of these four are
# called? The post-accumulate hooks update the weight.

# %%
def sharded(rank):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    def step(when, weight):
        calls.append(f"post-accumulate hook {when}")
        with torch.no_grad():
            weight -= 0.1 * weight.grad

    model, calls = nn.Linear(1, 2, bias=False), []
    nn.init.zeros_(model.weight)
    for when in ("before", "after"):
        if when == "after":
            fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
        model.weight.register_hook(lambda grad, when=when: calls.append(f"tensor hook {when}"))
        model.weight.register_post_accumulate_grad_hook(partial(step, when))
    model(torch.full((1, 1), rank + 1.0)).sum().backward()
    return calls, [round(one, 3) for one in model.weight.full_tensor().flatten().tolist()]


try:
    for calls, weight in in_replicas(sharded):
        print(f"called: {calls}, weight: {weight}")
except AttributeError as error:
    print("torch 2.6 shards on GPUs only:", error)

# %% [markdown]
# Forward does not use the slice, so its tensor hook is not called. Hooks on an old parameter are silently lost. A post-accumulate hook on a
# slice gets the *averaged* gradient. So its step in backward is right: both weights moved by -0.15.
#
# ## Where to go on
#
# - [Hooks and `torch.compile`](https://docs.pytorch.org/docs/stable/torch.compiler_nn_module.html): what PyTorch supports.
# - [PEFT](https://huggingface.co/docs/peft): LoRA in practice.
#
# ### When this notebook is graded
#
# <!-- grading limits -->

# %%
progress()
