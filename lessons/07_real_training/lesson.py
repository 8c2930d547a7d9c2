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
# - **You will do** this: teach hooks to be right where models are compiled, checkpointed, scaled and spread over several machines.
# - **You will learn** what a hook sees there, and what it never sees.
# - **You need** lessons 02 to 04.
# - **Time** <!-- time and points -->.
# - **Stuck?** `hint()` after a failed check, `hint("features_or_error")` to begin.
# - **Out of scope** GPUs: all of it happens on a CPU as well.

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import copy
import warnings
from contextlib import ExitStack, contextmanager
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter
from torch.utils.module_tracker import ModuleTracker

from course import hint, progress, solution
from course.patient import tensors_in

torch.set_num_threads(1)  # nets as small as these run fastest on one thread

# %% [markdown]
# ## A watcher that reports: all is well
#
# The net of lesson 03 again, which dies in training. This time it is *compiled*, as nets are that have to be fast. In the end somebody
# asks a watcher of two forward hooks which of its ReLUs put out nothing but zeros. (The first call takes some seconds: it loads the compiler.)

# %%
from course.data import digit_batches

torch.manual_seed(0)
net = torch.compile(
    nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)),
    backend="eager",  # all that happens to hooks, without a C++ compiler
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for pictures, labels in digit_batches():
    loss = F.cross_entropy(net(pictures), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def dead_relus(net, x):
    dead = []
    with ExitStack() as hooks:
        for name in ("2", "4"):
            look = lambda module, args, output, name=name: None if output.any() else dead.append(name)
            hooks.enter_context(net.get_submodule(name).register_forward_hook(look))
        net(x)
    return dead


print(f"loss: {loss.item():.2f}, guessing costs {torch.tensor(10.0).log():.2f}")
print("dead ReLUs:", dead_relus(net, pictures))

# %% [markdown]
# No ReLU is dead, says the watcher. But it has heard nothing at all: the compiled code was made before its hooks were there, and
# never calls them. An empty list looks like good news.
#
# ### Exercise: A watcher that speaks up
# easy · 6 min
#
# Write `features(model, layers, x)`. It calls `model(x)` once, and returns a dict: for each name in `layers` the output of that
# module. If a hook was never called, it raises a `RuntimeError` whose text names each layer that was not heard, and no other.
# Afterwards, also after an error, none of its hooks is left.
#
# ```python
# features(net, ["2", "4"], pictures)  # RuntimeError: not heard: 2, 4
# ```

# %% nbgrader={"grade": false, "grade_id": "features_or_error", "locked": false, "schema_version": 3, "solution": true, "task": false}
def features(model, layers, x):
    """The outputs of these layers in one run of the model, or an error that names those that were not heard."""
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
        raise RuntimeError(f"not heard: {', '.join(silent)}")
    return found
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_features_or_error", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("features_or_error")

# %% [markdown]
# Now your watcher, on the same net:

# %%
try:
    print(list(features(net, ["2", "4"], pictures)))
except RuntimeError as error:
    print("RuntimeError:", error)
print("asked of the net as it was before it was compiled:", dead_relus(net._orig_mod, pictures))

# %% [markdown]
# When does compiled code hear a hook? It is made in the first call, and looked at again only if something changes that it *guards*,
# such as the size of the batch. Hooks are not guarded, to save time (`skip_nnmodule_hook_guards`).


# %%
def heard_when_compiled(early=False, other_batch=False, reset=False, guarded=False):
    """How often a hook runs in the second call of a compiled model."""
    model, heard = nn.Sequential(nn.Linear(3, 3), nn.ReLU()), []
    listen = lambda module, args, output: heard.append(output)
    with torch._dynamo.config.patch(skip_nnmodule_hook_guards=not guarded):
        torch._dynamo.reset()
        compiled = torch.compile(model, backend="eager")
        if early:
            model[1].register_forward_hook(listen)
        compiled(torch.ones(4, 3))
        if not early:
            model[1].register_forward_hook(listen)
        if reset:
            torch._dynamo.reset()
        heard.clear()
        compiled(torch.ones(6 if other_batch else 4, 3))
    return len(heard)


print("registered after the first call:", heard_when_compiled())
print("registered before it:           ", heard_when_compiled(early=True))
print("after, and another batch size:  ", heard_when_compiled(other_batch=True))
print("after, and a reset:             ", heard_when_compiled(reset=True))
print("after, and hooks guarded:       ", heard_when_compiled(guarded=True))

# %% [markdown]
# The third line is why such a hook seems to work in one run and not in the next: the last batch of an epoch is smaller. And
# compiled code is not the only one that passes hooks by. A `TransformerEncoder` in eval mode has a *fast path*, which calls no
# layer inside. Count all modules that a hook hears, then put a single hook on one inner layer:

# %%
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)
tokens, heard = torch.randn(2, 5, 8), []
with nn.modules.module.register_module_forward_hook(lambda module, args, output: heard.append(module)):
    encoder.train()(tokens)
    in_training, heard = len(heard), []
    with torch.no_grad():
        encoder.eval()(tokens)
print("modules heard in training:", in_training, "  in eval mode:", len(heard))

hook = encoder.layers[0].linear1.register_forward_hook(lambda module, args, output: print("heard: an inner layer"))
with torch.no_grad(), hook:
    encoder(tokens)

# %% [markdown]
# With a hook on it, the layer leaves the fast path: to look has changed which code runs. So let a watcher count what it hears, as yours
# does, and measure speed without it.

# %% [markdown]
# ## What is computed twice is heard twice
#
# The layers of large models do not keep what backward needs. A *checkpoint* throws it away in forward, and computes it again in
# backward: less memory, and more time. Watch a forward hook on each layer of a checkpointed part:

# %%
from torch.utils.checkpoint import checkpoint

part = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 3))
heard = []
for name, layer in part.named_children():
    layer.register_forward_hook(lambda module, args, output, name=name: heard.append(name))

x = torch.randn(5, 3, requires_grad=True)
for reentrant in (True, False):
    heard.clear()
    loss = checkpoint(part, x, use_reentrant=reentrant).sum()
    forward = list(heard)
    loss.backward()
    print(f"use_reentrant={reentrant!s:5}  in forward: {forward}, in backward: {heard[3:]}")
print("batches that BatchNorm has counted, of 2:", part[1].num_batches_tracked.item())

# %%
from course.pictures.timeline import draw_hook_timeline


class Halved(nn.Module):
    """Its middle is checkpointed."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 3), nn.Linear(3, 3)
        self.middle = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))

    def forward(self, x):
        return self.last(checkpoint(self.middle, self.first(x), use_reentrant=False))


draw_hook_timeline(Halved(), x, title="A checkpoint's second forward")

# %% [markdown]
# Without `use_reentrant`, which is the older kind, the second forward stops as soon as backward has all it needs: of the last layer
# a pre-hook runs again, the hook does not. And BatchNorm, which is no hook of yours, moves its statistics twice a step. A hook that
# counts, averages or draws a curve is wrong from here on. The second forward also has to record just what the first one did:

# %%
squares = []


def note_once(module, args, output):
    if not squares:
        squares.append(output.pow(2).mean())


part[1] = nn.Tanh()
part[1].register_forward_hook(note_once)
try:
    checkpoint(part, x, use_reentrant=False).sum().backward()
except torch.utils.checkpoint.CheckpointError as error:
    print("CheckpointError:", str(error).split(":")[1].split("\n")[0])

# %% [markdown]
# The hook's `pow` saved a tensor for backward in the first forward, and not in the second. So look at `output.detach()`.
#
# What tells a hook which forward it is in? Not the calls of the model around it: the blocks of a Transformer are checkpointed one
# by one, and if you watch such a block, backward calls all of it again. `ModuleTracker().is_bw` tells whether backward is running.

# %%
block = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
block.register_forward_pre_hook(lambda module, args: print("the block is called; in backward:", ModuleTracker().is_bw))
checkpoint(block, x, use_reentrant=False).sum().backward()

# %% [markdown]
# ### Exercise: One entry a step
# medium · 12 min
#
# Write `recorder(model, layers)`, for `with`. Each call of `model` within the block runs each of these layers once, and adds an entry
# for it: the mean of the squares of its output, as a Python number. What a checkpoint computes again in backward, a layer or all
# of `model`, adds nothing. `with` hands out a dict of lists, from the names in `layers` to their entries. After the block, no
# hook is left.
#
# ```python
# with recorder(net, ["0", "2"]) as history:
#     train(net)   # three calls of net
# history          # {'0': [0.9, 0.8, 0.8], '2': [0.2, 0.3, 0.4]}
# ```


# %% nbgrader={"grade": false, "grade_id": "one_entry_a_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
@contextmanager
def recorder(model, layers):
    """Within the block, each call of the model adds one entry a layer, however often a checkpoint runs the layer."""
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
# Put to work: three steps of a net whose middle is checkpointed. The layers outside have three entries, and so have those inside.


# %%
class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(64, 32), nn.Linear(32, 10)
        self.middle = nn.Sequential(nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 32))

    def forward(self, x):
        return self.last(checkpoint(self.middle, self.first(x.flatten(1)), use_reentrant=False))


net = Deep()
with recorder(net, ["first", "middle.0", "middle.1", "last"]) as history:
    for pictures, labels in list(digit_batches())[:3]:
        F.cross_entropy(net(pictures), labels).backward()
for name, entries in history.items():
    print(f"{name:9}", [round(entry, 3) for entry in entries])

# %% [markdown]
# ## A gradient that is 65,536 times too large
#
# In half precision small gradients vanish. So mixed-precision training multiplies the loss by a large number, 65,536 at first,
# and divides the gradients again right before the optimizer's step. A `GradScaler` does both. What does a hook on a parameter
# see, whose true gradient is 1?

# %%
w = Parameter(torch.ones(2))
optimizer = torch.optim.SGD([w], lr=1.0)
scaler = torch.amp.GradScaler("cpu")
handles = [
    w.register_hook(lambda grad: print("tensor hook:         ", grad)),
    optimizer.register_step_pre_hook(lambda optimizer, args, kwargs: print("right before the step:", w.grad)),
]
scaler.scale(w.sum()).backward()
scaler.step(optimizer)
scaler.update()

# %% [markdown]
# The tensor hook of lesson 02 that clamps to (-1, 1) is a disaster here: of the gradient, 1 / 65,536 is left. And if a gradient
# overflows, the scaler leaves out the step, and no hook of the optimizer runs:

# %%
handles.append(w.register_hook(lambda grad: grad.clamp(-1, 1)))
optimizer.zero_grad()
scaler.scale(w.sum()).backward()
scaler.step(optimizer)
scaler.update()
handles.pop().remove()

optimizer.zero_grad()
print("now an overflow")
scaler.scale((w * 1e38).sum()).backward()
scaler.step(optimizer)
scaler.update()
print("scale afterwards:", scaler.get_scale())
for handle in handles:
    handle.remove()

# %% [markdown]
# An optimizer has hooks of its own: `register_step_pre_hook(hook)` and `register_step_post_hook(hook)` call
# `hook(optimizer, args, kwargs)` around each step. What a pre-hook returns, except `None`, replaces `(args, kwargs)`.
#
# ### Exercise: A clip that is right under a scaler
# easy · 9 min
#
# Write `clip_at_step(optimizer, most)`. From then on, each step of `optimizer` first brings the norm of all of its gradients
# together down to `most`, if it is larger: `nn.utils.clip_grad_norm_` does that. It is right with a `GradScaler`, too. Parameters
# that the optimizer gets later belong to it as well. It returns a handle whose `remove()` ends it.
#
# ```python
# clip_at_step(optimizer, 0.5)
# scaler.scale(loss).backward()   # gradients of 6 and 8, times 65,536
# scaler.step(optimizer)          # a step with 0.3 and 0.4
# ```


# %% nbgrader={"grade": false, "grade_id": "clip_at_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def clip_at_step(optimizer, most):
    """Each step of the optimizer first brings the norm of all of its gradients together down to `most`."""
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
# Put to work. One kind of optimizer divides by the scale itself, inside of its step: a *fused* one. Which gradients does your
# hook meet there?

# %%
for fused in (False, True):
    w = Parameter(torch.zeros(2))
    optimizer = torch.optim.SGD([w], lr=1.0, fused=fused)
    scaler = torch.amp.GradScaler("cpu")
    clip_at_step(optimizer, 0.5)
    scaler.scale((w * torch.tensor([6.0, 8.0])).sum()).backward()
    scaler.step(optimizer)
    print(f"fused={fused!s:5} the step:", -w.detach())

# %% [markdown]
# Before a fused step the gradients are still scaled, and a clip to 0.5 leaves next to nothing of them after the division. There, call
# `scaler.unscale_(optimizer)` before `scaler.step(optimizer)`. And after an overflow your hook runs: a fused optimizer leaves the step
# out by itself.

# %% [markdown]
# ## Adapt a model without touching it
#
# A large model is adapted to a task by training a small part beside each layer: a *low-rank adapter*, LoRA. A matrix `A` of a few
# rows and a matrix `B` of a few columns make a correction of full size, `B @ A`. Could a forward hook add it?

# %%
torch.manual_seed(0)
linear = nn.Linear(64, 10).requires_grad_(False)
A, B = Parameter(torch.randn(2, 64)), Parameter(torch.zeros(10, 2))
linear.register_forward_hook(lambda module, args, output: output + args[0] @ A.T @ B.T)
pictures, labels = next(iter(digit_batches()))
F.cross_entropy(linear(pictures.flatten(1)), labels).backward()
print("norm of the gradient of A:", A.grad.norm().item(), " of B:", round(B.grad.norm().item(), 3))
print("saved:", list(linear.state_dict()))

# %% [markdown]
# It works, and at the first step `A` gets no gradient at all, for all of it is multiplied by `B`, which is zero. But nobody saves
# `A` and `B`, no optimizer finds them, `.to(device)` leaves them behind. And where the model takes the weights, and never calls the
# layer, the hook changes nothing: so it is with the last layer of attention.

# %%
attention = nn.MultiheadAttention(8, 2, batch_first=True).eval()
tokens = torch.randn(1, 5, 8)
before = attention(tokens, tokens, tokens)[0]
with attention.out_proj.register_forward_hook(lambda module, args, output: output + 1000):
    print("the hook on out_proj changes the output:", not torch.equal(before, attention(tokens, tokens, tokens)[0]))

# %% [markdown]
# What has parameters of its own is a module. So put one in the place of the layer, as in lesson 04, 'Replacing modules'.
#
# ### Exercise: LoRA for any Linear
# medium · 12 min
#
# Write `LoRA(linear, rank)`, a module that can stand in the place of any `nn.Linear` that is called. It computes
# `linear(x) + x @ A.T @ B.T` with two parameters of its own: `A`, random, has `rank` rows; `B`, zeros, has `rank` columns. Only
# these two are trained: the linear layer is frozen. `merged()` returns a new `nn.Linear` that computes the same by itself, and leaves the LoRA as it is.
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
        # TODO: a new nn.Linear that computes the same by itself.
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
# Put to work: a net that reads digits gets the digits upside down. All of its linear layers are replaced, and a fraction of its
# parameters is trained. (With your `replace_modules` of lesson 04 it is one line.)

# %%
from course.data import digit_batches, reads, train_to_read

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
train_to_read(net)
print("digits read:", reads(net))
for name, module in list(net.named_modules()):
    if isinstance(module, nn.Linear):
        net.set_submodule(name, LoRA(module, rank=4))

trained = [parameter for parameter in net.parameters() if parameter.requires_grad]
print("trained:", sum(one.numel() for one in trained), "of", sum(one.numel() for one in net.parameters()))
optimizer = torch.optim.Adam(trained, lr=0.01)
# All batches but the one that killed the net of lesson 03.
batches = [(pictures.flatten(1).flip(1), labels) for pictures, labels in digit_batches() if pictures.max() <= 1]
for _ in range(3):
    for pictures, labels in batches:
        loss = F.cross_entropy(net(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
merged = nn.Sequential(*(part.merged() if isinstance(part, LoRA) else part for part in net))
right = (merged(batches[-1][0]).argmax(1) == batches[-1][1]).float().mean().item()
print(f"upside down, after three epochs and merged: {right:.0%} of the last batch")
print("merged and not, the largest difference:", (merged(pictures) - net(pictures)).abs().max().item())

# %% [markdown]
# Some layers are not called, but asked for their weight, and a LoRA has none: attention's `out_proj`, and all of an encoder in eval
# mode, on its fast path. So merge what you have trained before you use it.

# %%
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)
encoder.layers[0].linear1 = LoRA(encoder.layers[0].linear1, rank=2)
print("in training:", tuple(encoder.train()(tokens).shape))
try:
    encoder.eval()(tokens)
except AttributeError as error:
    print("in eval mode:", error)
encoder.layers[0].linear1 = encoder.layers[0].linear1.merged()
print("merged, in eval mode:", tuple(encoder.eval()(tokens).shape))

# %% [markdown]
# ### In your own words: A gradient of forty thousand
#
# 5 min
#
# A colleague trains with a `GradScaler`, and half of her model is checkpointed. Tensor hooks on the parameters log the norm of each
# gradient, forward hooks on the layers count batches. Her log says: norms of 40,000, and twice as many batches in some layers as in
# others. She divides the learning rate by a thousand, and the model stops learning.
#
# Explain to her both numbers, what was wrong with the model, and where hooks would have to be that tell the truth.
#
# Where this notebook is handed in, a person reads your answer. No check looks at it, and `progress()` does not count it.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_scaled_norm", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# Nothing was wrong with the model. The scaler multiplies the loss by a large number, 65,536 at first, so all gradients during backward
# are as many times larger: 40,000 is a norm of about 0.6. It divides them right before the step; a pre-hook of the optimizer's step sees
# what the optimizer sees. A checkpoint runs its layers again in backward, with their hooks, so those layers count twice a step. A hook
# should count nothing while backward is running (`ModuleTracker().is_bw`), or hang on the whole model, which is called once a step here.
#
# ### BEGIN MARK SCHEME
# - 2 points: norms are scaled during backward and divided before the step, **and** a checkpoint's second forward calls the hooks again.
#   Names a place for each: the optimizer's step pre-hook, or after `unscale_`; while backward is not running, or the model's own calls.
# - 1 point: only one of the two numbers explained, with its place; or both without places.
# - Common wrong explanations, 0 points for that part: gradients explode; two backward passes add up their gradients; the hooks were
#   registered twice; the checkpoint doubles the batch.
# ### END MARK SCHEME
# ### END SOLUTION

# %% [markdown]
# This is the end of the core path. The list to print is at the end of this notebook.

# %% [markdown]
# ## Further
#
# Two sections, each of which can be read by itself: who made a NaN in backward, and hooks in several processes.

# %% [markdown]
# ## Which operation made the NaN?
#
# In lesson 02 you saw a gradient become NaN though every value of forward was finite. Here is the most common case, which looks
# as if it were guarded: `where` picks 0 for what is not positive, and the gradient is NaN all the same.

# %%
z = torch.tensor([0.0, 2.0], requires_grad=True)
y = torch.where(z > 0, torch.log(z), 0.0)
y.sum().backward()
print("forward:", y.detach(), "  gradient:", z.grad)

# %% [markdown]
# `where` hands back a gradient of 0 to `log`, and `log` divides it by 0. A tensor hook would find the tensor; which
# *operation* was it, and in which module? Each operation that autograd records is a **node**, an object such as `y.grad_fn`. It has a
# `name()`, leads to the nodes before it by `next_functions`, and takes hooks: `node.register_hook(hook)` calls
# `hook(grad_inputs, grad_outputs)` after the node has run. Both are tuples, in which an entry may be `None`. What it *gets* comes in
# `grad_outputs`, what it *makes* of it is in `grad_inputs`: they are named after forward.

# %%
z = torch.tensor([0.0, 2.0], requires_grad=True)
y = torch.where(z > 0, torch.log(z), 0.0)


def tell(name, made, got):
    print(f"{name:15} got {got}, made {made}")


node = y.grad_fn
while node is not None:
    node.register_hook(partial(tell, node.name()))
    following = [one for one, _ in node.next_functions if one is not None]
    node = following[0] if following else None
y.sum().backward()

# %% [markdown]
# A node does not know in which module it was made. Forward hooks can tell: what is new in the graph when a module ends was made in it.
# (`tensors_in`, from lesson 06, finds all tensors in a tuple, list, dict or dataclass; and some inputs come by keyword.)

# %% nbgrader={"grade": false, "grade_id": "setup_made_by", "locked": true, "schema_version": 3, "solution": false, "task": false}
@contextmanager
def made_by(model):
    """Within the block, note for each node that autograd records the name of the innermost module in which it was made."""
    names, running = {}, [""]

    def note(values, name):  # what nobody has noted yet
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
small = nn.Sequential(nn.Linear(2, 3), nn.Sigmoid())
with made_by(small) as made_in:
    small(torch.ones(1, 2))
print({node.name(): name for node, name in made_in.items()})

# %% [markdown]
# ### Exercise: Where the NaN was born
# hard · 15 min · further
#
# Write `nan_in_backward(model, x, loss_of)`. It computes `loss_of(model(x))`, goes backward from there, and returns a pair: the name of
# the first operation that made a gradient that is not finite, and the name of the innermost module in which it was made, which `made_by`
# notes. For an operation of the loss, the second name is `''`. If all gradients are finite, it returns `None`.
#
# ```python
# nan_in_backward(net, x, lambda output: output.sum())  # ('SqrtBackward0', 'unit')
# ```


# %% nbgrader={"grade": false, "grade_id": "nan_in_backward", "locked": false, "schema_version": 3, "solution": true, "task": false}
def nan_in_backward(model, x, loss_of):
    """Which operation was the first to make a gradient that is not finite, and in which module; None if none did."""
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
# Put to work on the net that opens lesson 06: its `unit` scales rows to length 1, and one row is zero.


# %%
class UnitLength(nn.Module):
    def forward(self, x):
        return x / (x.pow(2).sum(1, keepdim=True).sqrt() + 1e-6)


torch.manual_seed(0)
net = nn.Sequential()
net.add_module("embed", nn.Linear(8, 4, bias=False))
net.add_module("unit", UnitLength())
net.add_module("head", nn.Linear(4, 2))
x = torch.randn(5, 8)
print("all rows fine:   ", nan_in_backward(net, x, lambda output: output.sum()))
x[3] = 0
print("one row of zeros:", nan_in_backward(net, x, lambda output: output.sum()))

# %% [markdown]
# PyTorch's `torch.autograd.detect_anomaly()` raises at the first NaN, and shows the line of forward that made it. But a NaN often comes
# one operation after an infinity, and the cause is the operation before:

# %%
x = torch.zeros(1, requires_grad=True)
length = lambda x: (x * x).sqrt().sum()
print("your hunter: ", nan_in_backward(nn.Identity(), x, length))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    try:
        with torch.autograd.detect_anomaly():
            length(x).backward()
    except RuntimeError as error:
        print("anomaly mode:", error)

# %% [markdown]
# ## Two replicas, two gradients
#
# In *data-parallel* training several processes, the replicas, hold the same model. Each computes gradients of its own part of the
# batch, and `DistributedDataParallel` replaces them by their average. Two processes on your machine can do that. `in_replicas`
# runs a function in both, which are new ones the first time and take some seconds, and returns what they return:

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
    model = nn.Linear(2, 1, bias=False)
    nn.init.zeros_(model.weight)
    seen = []
    model.weight.register_hook(lambda grad: seen.append(grad[0].tolist()))
    replica = DistributedDataParallel(model)
    replica(torch.full((1, 2), rank + 1.0)).sum().backward()
    return seen[0], model.weight.grad[0].tolist()


found = in_replicas(watched)
for rank, (seen, grad) in enumerate(found):
    print(f"replica {rank}: the hook saw {seen}, .grad is {grad} in the end")

# %%
from course.pictures.canvas import BLUE, INK, MONO, ORANGE, PAPER, WIRE, Picture, in_own_style
from matplotlib.patches import FancyArrow, Rectangle


@in_own_style
def draw_replicas(found):
    words = [f"In replica {rank} the hook saw {seen}, .grad is {grad}." for rank, (seen, grad) in enumerate(found)]
    picture = Picture(8.6, 2.7, " ".join(["What a hook sees in each of two replicas.", *words]))
    picture.titled("What a hook sees in each replica")
    picture.write(2.3, 2.1, "the hook sees", ha="center", weight="bold", color=ORANGE)
    picture.write(7.2, 2.1, ".grad in the end", ha="center", weight="bold", color=BLUE)
    picture.put(Rectangle((4.0, 0.2), 1.5, 1.6, facecolor=PAPER, edgecolor=INK))
    picture.write(4.75, 1.0, "average\nof all", ha="center", linespacing=1.5)
    for rank, values in enumerate(found):
        floor = 1.1 - 0.9 * rank
        picture.write(0.15, floor + 0.35, f"replica {rank}", weight="bold")
        for left, value, colour in zip((1.1, 6.0), values, (ORANGE, BLUE)):
            picture.put(Rectangle((left, floor), 2.4, 0.7, facecolor=PAPER, edgecolor=colour))
            picture.write(left + 1.2, floor + 0.35, str(value), ha="center", family=MONO)
        for left in (3.55, 5.55):
            picture.put(FancyArrow(left, floor + 0.35, 0.4, 0, color=WIRE, width=0.012, head_width=0.1, length_includes_head=True))
    return picture


draw_replicas(found)

# %% [markdown]
# A hook sees the gradient of its own replica. Whoever clips there clips other numbers in each replica, and whoever steps there
# is worse off. Here each weight takes its step in a post-accumulate hook, as in lesson 06; both replicas began with 0:


# %%
def steps_in_backward(rank):
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)

    def step(weight):
        with torch.no_grad():
            weight -= 0.1 * weight.grad

    replica = DistributedDataParallel(model)
    model.weight.register_post_accumulate_grad_hook(step)
    replica(torch.full((1, 1), rank + 1.0)).sum().backward()
    return round(model.weight.item(), 3)


print("the same weight, in two replicas:", in_replicas(steps_in_backward))

# %% [markdown]
# Without a word the replicas have become two models. The place for a hook is the averaging itself. `DistributedDataParallel` gathers
# gradients in flat *buckets*, and for each bucket that is complete calls a **communication hook**, `hook(state, bucket)`. The hook
# returns a *future*, the promise of a tensor, so that backward can go on while the numbers travel:

# %%
future = torch.futures.Future()
later = future.then(lambda done: done.value() * 10)  # runs when the value has come; `later` is a future as well
future.set_result(torch.ones(2))
print(later.value())

# %% [markdown]
# Our state is a `Wire`, over which the replicas talk.


# %% nbgrader={"grade": false, "grade_id": "setup_wire", "locked": true, "schema_version": 3, "solution": false, "task": false}
class Wire:
    """Sums tensors over all replicas."""

    def __init__(self):
        self.size = torch.distributed.get_world_size()  # how many replicas there are
        self.bytes = 0  # how many bytes this replica has sent

    def sum(self, tensor):
        """Send the tensor; returns the future of the sum over all replicas."""
        done = torch.distributed.all_reduce(tensor, async_op=True).get_future()
        return done.then(lambda future: future.value()[0])


# %% [markdown]
# ### Exercise: Gradients at half the price
# medium · 10 min · further
#
# Write `bf16_average(wire, bucket)`, a communication hook. `bucket.buffer()` is a flat tensor of gradients. Send it in bfloat16:
# `wire.sum(tensor)` returns the future of the sum. Return a future of the average over the `wire.size` replicas, in the buffer's
# dtype. `wire.bytes` grows by the number of bytes that are sent. Do not wait: the sum comes after your hook has returned.
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
# Put to work, in two real replicas:


# %%
def trained(rank):
    torch.manual_seed(0)
    model = nn.Linear(256, 4)
    replica, wire = DistributedDataParallel(model), Wire()
    replica.register_comm_hook(wire, bf16_average)
    torch.manual_seed(rank)
    replica(torch.randn(8, 256)).pow(2).sum().backward()
    return model.weight.grad[0, :3].tolist(), wire.bytes


for rank, (grad, sent) in enumerate(in_replicas(trained)):
    print(f"replica {rank}: {[round(one, 2) for one in grad]}, {sent} bytes for {256 * 4 + 4} gradients")

# %% [markdown]
# `fully_shard` (FSDP2) goes further: each replica keeps a slice of each weight only. What is a weight then?


# %%
def sharded(rank):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    model, heard = nn.Linear(4, 2, bias=False), []
    model.weight.register_hook(lambda grad: heard.append(grad))
    fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
    kinds = [type(model.weight).__name__]
    model.register_forward_pre_hook(lambda module, args: kinds.append(type(module.weight).__name__))
    model(torch.ones(1, 4)).sum().backward()
    return f"outside: {kinds[0]}, in a pre-hook: {kinds[1]}, calls of the tensor hook: {len(heard)}"


try:
    print(*in_replicas(sharded), sep="\n")
except AttributeError as error:
    print("torch 2.6 shards on GPUs only:", error)

# %% [markdown]
# Outside of forward the weight is a `DTensor`, in a pre-hook a whole `Parameter`, made for this moment. A tensor hook that was there before
# `fully_shard` hangs on a tensor that nobody uses any more. Register hooks on modules, and after sharding.

# %% [markdown]
# ## A list to print
#
# | before you trust a hook | because |
# | --- | --- |
# | **Was it called?** Count, and raise if not. | Compiled code, fast paths, attention's `out_proj` and `module.forward(x)` call no hook. |
# | **How often a step?** Write nothing while backward runs: `ModuleTracker().is_bw`. | A checkpoint runs its part again in backward, with all hooks, and BatchNorm counts twice. |
# | **Does it only look?** Begin with `detach()`. | What autograd records of your hook, a checkpoint has to find again. |
# | **Whose numbers?** Clip and log gradients right before the step. | A scaler makes them 65,536 times larger, and with a fused optimizer even then. |
# | **Does the step come at all?** | After an overflow the scaler leaves it out; no hook of the optimizer runs, unless it is a fused one. |
# | **Which replica?** Average in a communication hook, step after backward. | A hook sees one replica's gradients; steps inside of backward part the replicas. |
# | **Who saves it?** What has parameters is a module. | `state_dict`, optimizers and `.to` know nothing of a hook's tensors. |
# | **What comes out?** A tensor, a tuple, a dict? Make a new one. | What you write into, others hold. |
# | **Forward is finite, and backward?** Hook the nodes. | `where`, `sqrt` and `pow` have gradients that are not finite where their values are. |
# | **Hang it before** you compile, **after** you shard, and take it off by its handle. | |

# %%
progress()

# %% [markdown]
# ## How this notebook is graded
#
# <!-- grading limits -->
