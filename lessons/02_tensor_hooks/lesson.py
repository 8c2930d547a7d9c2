# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Tensor hooks: watch and change gradients
#
# The backward pass calls a tensor hook, a function of yours, with a gradient. The hook looks at it, or replaces it.
#
# - **You will do:** double, clip and stop gradients, and find out why two nets die.
# - **You will learn:** when a hook runs, what it may return, and how far the returned value reaches.
# - **You need:** `requires_grad`, `backward()`, `.grad`, and lesson 01.
# - **Time:** <!-- time and points -->.
# - **Stuck?** Call `hint()` after a failed check, or `hint("weight_grad")` before you begin.
# - **Out of scope:** hooks on modules (lesson 03), `torch.compile`, gradients of gradients.

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter

from course import hint, progress, solution
from course.models import Model, TestNet

torch.set_num_threads(1)  # nets as small as these run fastest on one thread

# %% [markdown]
# ## Part 1: the first hooks
#
# ### Why hooks
#
# `backward()` throws most gradients away. By default, only *leaves* keep theirs, in `.grad`. A leaf is a tensor that no recorded
# operation made, such as a parameter. After
# [`tensor.register_hook(function)`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.register_hook.html), backward
# calls `function` with the tensor's gradient, once that gradient is complete.

# %%
x = torch.tensor([1.0, -2.0], requires_grad=True)
h = x * 3
h.register_hook(lambda grad: print("   the hook runs: the gradient of h is", grad.tolist()))
loss = (h**2).sum()
print("forward is done, backward starts")
loss.backward()
print("backward is done. x.grad:", x.grad.tolist(), "  h keeps its gradient:", h.retains_grad)

# %% [markdown]
# Your turn, with this model:

# %%
from course.sources import show_source

show_source(Model)

# %% [markdown]
# ### Exercise: Catch the gradient of a weight
#
# easy · 5 min
#
# Write `tensor_hook(grad)` and register it on `model.W`. Each backward pass adds one entry to the list `answer`: the gradient,
# as a tensor, that this pass has computed for `W`; no later pass changes this entry (keep a clone: part 2 shows why). Your hook
# only watches: `model.W.grad` is the same as without it.

# %% nbgrader={"grade": false, "grade_id": "weight_grad", "locked": false, "schema_version": 3, "solution": true, "task": false}
model = Model()
answer = []


def tensor_hook(grad):
    # TODO: add the gradient to `answer`.
    ### BEGIN SOLUTION
    answer.append(grad.clone())
    ### END SOLUTION


# TODO: register tensor_hook on model.W.
### BEGIN SOLUTION
model.W.register_hook(tensor_hook)
### END SOLUTION

model(torch.tensor([2.0]), torch.tensor([3.0])).backward()
print(answer)  # [tensor([6.])]
# %% nbgrader={"grade": true, "grade_id": "test_weight_grad", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("weight_grad")
# %% [markdown]
# ### The argument is not `.grad`
#
# Your hook got the gradient of **this** backward. `.grad` is written later, and **accumulates**: it sums all passes since its last
# reset. To see the sum, use a [*post-accumulate*
# hook](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.register_post_accumulate_grad_hook.html) (leaves only). It runs
# as soon as `.grad` is written. `torch.autograd.grad` returns gradients and writes no leaf's `.grad`: post-accumulate hooks do not
# run, tensor hooks do.

# %%
w = torch.tensor([1.0, 2.0], requires_grad=True)
w.register_hook(lambda grad: print("   tensor hook: argument", grad.tolist(), "  w.grad now:", w.grad))
w.register_post_accumulate_grad_hook(lambda tensor: print("   post-accumulate hook: .grad is", tensor.grad.tolist()))

for number in (1, 2):
    print("backward pass", number)
    (w * 3).sum().backward()
print("torch.autograd.grad")
torch.autograd.grad((w * 3).sum(), w)
# %% [markdown]
# ### The way back
#
# This is the graph of the first hook. Each box is one step of backward. The green one, `AccumulateGrad`, adds to a leaf's
# `.grad`. Each other box belongs to one operation: it is the `grad_fn` of the result. Forward went from the top to the bottom,
# **the gradient goes the other way, along the arrows**. The dot is the hook: it gets the gradient of `h` before the box of `h`
# does.

# %%
from course.pictures.autograd_graph import draw_autograd_graph

x = torch.tensor([1.0, -2.0], requires_grad=True)
h = x * 3
h.register_hook(lambda grad: None)
loss = (h**2).sum()
draw_autograd_graph(loss, {"x": x, "h": h, "loss": loss})

# %% [markdown]
# From here on, **earlier** means towards the inputs, **later** towards the loss.
#
# ### What a tensor hook may return
#
# A hook that returns None only watches. If it **returns a tensor, backward continues with that tensor**. It must have the same
# shape and dtype. Anything else raises an error. Below, backward begins at `h`, with the gradient `[1, 10]`:

# %%
def backward_with(hook):
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    h = x * 3
    h.register_hook(hook)
    try:
        h.backward(torch.tensor([1.0, 10.0]))
        return x.grad.tolist()
    except (RuntimeError, TypeError) as error:
        return f"{type(error).__name__}: {error}"


print("returns None          ", backward_with(lambda grad: None))
print("returns -grad         ", backward_with(lambda grad: -grad))
print("returns another shape ", backward_with(lambda grad: grad.sum()))
print("returns another dtype ", backward_with(lambda grad: grad.double()))
print("returns a number      ", backward_with(lambda grad: 0))
# %% [markdown]
# ### Never edit the gradient in place
#
# `grad.mul_(10)` writes into the tensor that PyTorch gave you. For `b + c` the gradients of `b` and `c` are equal, so autograd
# hands *the same tensor* to both:

# %%
def siblings(hooked, hook):
    b = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.tensor([3.0, 4.0], requires_grad=True)
    {"b": b, "c": c}[hooked].register_hook(hook)
    start = torch.tensor([1.0, 1.0])
    (b + c).backward(start)
    return f"b.grad {b.grad.tolist()}   c.grad {c.grad.tolist()}   start {start.tolist()}"


for hooked in ("b", "c"):
    print(f"hook on {hooked}, a new tensor:", siblings(hooked, lambda grad: grad * 10))
    print(f"hook on {hooked}, in place:    ", siblings(hooked, lambda grad: grad.mul_(10)))
# %% [markdown]
# Both in-place hooks changed the caller's `start`. The one on `b` also changed the gradient of `c`. **Return a new tensor.**
#
# ### Exercise: Double a gradient
#
# easy · 5 min
#
# Write `func(grad)`, a tensor hook that doubles the gradient. It may be on any tensor: a loss, a leaf, or one of two tensors that
# are added. The gradients of all earlier tensors change accordingly. Everything else stays as it is.

# %% nbgrader={"grade": false, "grade_id": "double_grad", "locked": false, "schema_version": 3, "solution": true, "task": false}
def func(grad):
    # TODO: make backward go on with twice the gradient.
    ### BEGIN SOLUTION
    return grad * 2
    ### END SOLUTION


x = torch.tensor([1.0, 2.0], requires_grad=True)
x.register_hook(func)
(x * 3).sum().backward()
print(x.grad)  # tensor([6., 6.])
# %% nbgrader={"grade": true, "grade_id": "test_double_grad", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("double_grad")
# %% [markdown]
# ## Part 2: tensors in the middle
#
# ### Looking: `retain_grad` or a hook?
#
# [`retain_grad()`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.retain_grad.html) keeps the gradient of a
# non-leaf tensor in its `.grad`, where gradients add up. A hook sees each pass on its own. Both belong to **this** tensor: the
# next forward pass makes a new tensor.

# %%
w = torch.tensor([1.0, 2.0], requires_grad=True)
first = w + 5
first.retain_grad()
first.register_hook(lambda grad: print("   the hook gets", grad.tolist()))
for name, h in {"first": first, "first again": first, "a new tensor": w + 5}.items():
    print("backward from", name)
    (h * 3).sum().backward()
    print("   first.grad is", first.grad.tolist())
# %% [markdown]
# A hook is called with the gradient alone. To keep it in a list, make the hook a **closure**, a function inside a function: it
# can use the outer function's variables, here `kept`, even after the outer function has returned.

# %%
def two_passes(keep, make=lambda w: w + 5):
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    h, kept = make(w), []
    h.register_hook(lambda grad: kept.append(keep(grad)))
    for _ in range(2):
        (h * 3).backward(torch.tensor([1.0, 10.0]))
    return f"{[grad.tolist() for grad in kept]}   w.grad: {w.grad.tolist()}"


print("w + 5, keeps grad.detach():", two_passes(lambda grad: grad.detach()))
print("w + 5, keeps grad:         ", two_passes(lambda grad: grad))
print("a view of w, keeps grad:   ", two_passes(lambda grad: grad, make=lambda w: w.view(2)))
# %% [markdown]
# Why 6 and 60? Autograd used the memory of the kept gradient for `w.grad`, and added the second pass there. `detach()` and
# `.data` share that memory. Whether `grad` itself is safe depends on the operation. **To keep a gradient, keep a clone.**
#
# ### Exercise: Watch a gradient in the middle
#
# medium · 8 min
#
# Write `watch_gradient(tensor)`, for a tensor in the middle of a graph. It returns an empty list immediately. Every later
# backward pass adds one entry to the list: the gradient of `tensor` in that pass; no later pass changes an entry. Only watch:
# nothing is kept in `tensor.grad`, and each call has a list of its own.

# %% nbgrader={"grade": false, "grade_id": "intermediate_grad", "locked": false, "schema_version": 3, "solution": true, "task": false}
def watch_gradient(tensor: torch.Tensor) -> list:
    """Return a list that gets the gradient of ``tensor`` at each backward pass."""
    # TODO: make the list, register a hook that fills it, return the list.
    ### BEGIN SOLUTION
    seen = []

    def remember(grad):
        seen.append(grad.clone())

    tensor.register_hook(remember)
    return seen
    ### END SOLUTION


h = torch.ones(2, requires_grad=True) * 3
seen = watch_gradient(h)
(h * 5).sum().backward()
print(seen)  # [tensor([5., 5.])]
# %% nbgrader={"grade": true, "grade_id": "test_intermediate_grad", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("intermediate_grad")
# %% [markdown]
# ### A tensor that is used twice
#
# In a residual connection, or with a shared weight, one tensor goes into several operations. Here `h`, which is 6, goes into
# `10 h` and into `h²`; their slopes are 10 and 12. **Stop and predict:** how often does one backward pass call the hook on `h`,
# and with what?

# %%
w = torch.tensor(2.0, requires_grad=True)
h = w * 3
left, right = h * 10, h**2
h.register_hook(lambda grad: print("the hook on h is called with", grad.item()))
(left + right).backward()

# %% [markdown]
# **Once, with the sum.** Autograd waits for the gradients from all uses of `h` that this pass reaches. To see what each use
# sends back, give each use its own tensor: `h.clone()` has the same values, but it is a new tensor in the graph.
#
# ### Functions that remember
#
# A hook that is registered in a loop often needs the tensor's name. A closure looks a variable up **when the closure runs**, after
# the loop, not when it is made. `partial(keep, name)` fixes the name at once, and waits for the remaining argument.

# %%
closures, partials = [lambda: name for name in "abc"], [partial(str, name) for name in "abc"]
print("closures find:", [one() for one in closures], "  partials keep:", [one() for one in partials])

# %%
w = torch.tensor(2.0, requires_grad=True)
h = w * 3
for_left, for_right = h.clone(), h.clone()
loss = for_left * 10 + for_right**2
names = {"w": w, "h": h, "for_left": for_left, "for_right": for_right, "loss": loss}
caught = {}


def keep(name, grad):
    caught[name] = grad.clone()


for name, tensor in names.items():
    tensor.register_hook(partial(keep, name))
loss.backward()
draw_autograd_graph(loss, names, gradients=caught)

# %% [markdown]
# ### Where to put a hook: on a leaf, or in the middle
#
# How far does a changed gradient reach? In this net one hook is on `fc.bias`, one on `h`, the output of the ReLU. Each hook
# multiplies by 100. Which gradients will change?

# %%
show_source(TestNet)
torch.manual_seed(0)
net = TestNet()
h = net.relu(net.conv(torch.rand(1, 3, 8, 8)))
loss = net.fc(net.flatten(h)).mean()

without_hooks = torch.autograd.grad(loss, list(net.parameters()), retain_graph=True)
for tensor in (net.fc.bias, h):
    tensor.register_hook(lambda grad: grad * 100)
names = {**dict(net.named_parameters()), "h": h, "loss": loss}
draw_autograd_graph(loss, names)

# %%
with_hooks = torch.autograd.grad(loss, list(net.parameters()), retain_graph=True)
for (name, _), before, after in zip(net.named_parameters(), without_hooks, with_hooks):
    times = after.norm() / before.norm()
    print(f"{name:12} {times:4.0f} times the gradient without hooks")
draw_autograd_graph(loss, names, changed=[net.fc.bias, h])

# %% [markdown]
# `AddmmBackward0` is the box of `fc`; in forward, `fc` takes the bias, the input and the transposed weight (`TBackward0`). Boxes
# with `View` in their names only change shapes.
#
# Nothing is earlier than a leaf, so the first hook has changed only the gradient of `fc.bias`. `h` is in the middle: its hook has
# changed the gradients of `conv`, an earlier layer. The gradient of `fc.weight` is unchanged: it is computed from the gradient of
# `fc`'s output, which is later than `h`. In *guided backpropagation*, a hook on each ReLU's output sets negative gradients to 0.
#
# ### Exercise: One hook on a leaf, one in the middle
#
# medium · 8 min
#
# 1. `freeze_bias(net)`: `net.fc.bias.grad` is None before the call; after it, each `backward()` makes this `.grad` a tensor of
#    zeros. Everything else stays as it is.
# 2. `clamp_downstream(tensor)`: after the call, each backward pass sets the negative elements of the gradient of `tensor` to 0.
#    Gradients of earlier tensors change accordingly, everything else stays. You may assume finite gradients.

# %% nbgrader={"grade": false, "grade_id": "bias_and_clamp", "locked": false, "schema_version": 3, "solution": true, "task": false}
def freeze_bias(net: nn.Module) -> None:
    """Make the gradient of ``net.fc.bias`` zeros in each backward pass."""
    # TODO: a hook on the right parameter.
    ### BEGIN SOLUTION
    net.fc.bias.register_hook(torch.zeros_like)
    ### END SOLUTION


def clamp_downstream(tensor: torch.Tensor) -> None:
    """Set the negative elements of the gradient of ``tensor`` to 0. (Downstream is where the gradient flows: to earlier tensors.)"""
    # TODO: a hook on the tensor.
    ### BEGIN SOLUTION
    tensor.register_hook(lambda grad: grad.clamp(min=0))
    ### END SOLUTION


x = torch.ones(2, requires_grad=True)
h = x * 3
clamp_downstream(h)
h.backward(torch.tensor([1.0, -1.0]))
print(x.grad)  # tensor([3., 0.]): the hook passes on 1 and 0
# %% nbgrader={"grade": true, "grade_id": "test_bias_and_clamp_bias", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course import check
check("bias_and_clamp", part="bias")
# %% nbgrader={"grade": true, "grade_id": "test_bias_and_clamp_clamp", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("bias_and_clamp", part="clamp")
# %% [markdown]
# ## Part 3: a whole model
#
# ### Removing a hook
#
# A parameter lives long, and so do its hooks: register one three times, and the layer has three. `register_hook` returns a
# **handle**: `handle.remove()` takes the hook away. A `with` block removes its hook at its end. A deep copy has no tensor hooks.

# %%
import copy

layer = nn.Linear(2, 1)


def weight_gradient(layer):
    layer.weight.grad = None
    layer(torch.ones(1, 2)).backward()
    return layer.weight.grad.tolist()


handles = [layer.weight.register_hook(lambda grad: grad * 3) for _ in range(3)]
print("three hooks:   ", weight_gradient(layer))
print("a deep copy:   ", weight_gradient(copy.deepcopy(layer)))
for handle in handles:
    handle.remove()
with layer.weight.register_hook(lambda grad: grad * 3):
    print("one, in `with`:", weight_gradient(layer))
print("none any more: ", weight_gradient(layer))

# %% [markdown]
# ### Clipping gradients
#
# *Clipping* limits huge gradients:
#
# - **By value:** each element is clamped to a range. A hook on each parameter clips the gradient of each pass;
#   `clip_grad_value_` clips once: the sum in `.grad`. A *frozen* parameter (`requires_grad=False`) gets no gradient:
#   `register_hook` refuses it.
# - **By norm:** if the norm of *all* gradients together is too large, all are scaled by one factor, which keeps their
#   direction. A tensor hook knows only its own tensor, so this kind of clipping runs after backward:
#   [`nn.utils.clip_grad_norm_`](https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html).
#
# ### Exercise: Clip every gradient of a model
#
# medium · 8 min
#
# Write `grad_clipper(model, floor, cap)`, which returns the model. After the call, each backward pass, even by
# `torch.autograd.grad`, clamps the gradient of each parameter to the range from `floor` to `cap`, before it is added to
# `.grad`. Frozen parameters stay as they are. Another model may have limits of its own.

# %% nbgrader={"grade": false, "grade_id": "grad_clipper", "locked": false, "schema_version": 3, "solution": true, "task": false}
def grad_clipper(model: nn.Module, floor: float, cap: float) -> nn.Module:
    """Clamp every parameter's gradient to [floor, cap]; return ``model``."""
    # TODO: one hook for each parameter; return the model.
    ### BEGIN SOLUTION
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.register_hook(lambda grad: grad.clamp(floor, cap))
    return model
    ### END SOLUTION


net = nn.Linear(2, 1)
grad_clipper(net, -0.5, 1.0)
net(torch.tensor([3.0, -3.0])).backward()
print(net.weight.grad)  # tensor([[ 1.0000, -0.5000]])
# %% nbgrader={"grade": true, "grade_id": "test_grad_clipper", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("grad_clipper")
# %% [markdown]
# ### A net that dies in training
#
# This network turns each picture of a digit into eight numbers. It learns from pairs: pictures of the same digit should be close,
# pictures of different digits at least 2 apart. `train` stops when the gradient of a weight has a NaN, "not a number": the next
# step would make the weight NaN. `root` is the square root at first; later, another function takes its place.

# %%
from course.data import digits, reads, train_to_read, train_until_nan
from course.pictures.curves import draw_curves
from course.pictures.feature_maps import draw_digits

pictures, labels = digits()


def forward(embed, first, second, root):
    """One forward pass for pairs of pictures: every tensor on the way to the loss, by name."""
    difference = embed(pictures[first]) - embed(pictures[second])
    squares = difference**2
    total = squares.sum(dim=1)
    distance = root(total)
    same_digit = labels[first] == labels[second]
    loss = torch.where(same_digit, distance, F.relu(2 - distance)).mean()
    return {"difference": difference, "squares": squares, "total": total, "distance": distance, "loss": loss}


def new_net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 8))


def train(embed, root):
    """Train the net; return its losses and the last pairs."""
    batches = torch.randint(len(labels), (300, 2, 16))   # for each step 16 pairs of pictures
    return train_until_nan(embed, lambda pairs: forward(embed, *pairs, root)["loss"], batches, lr=0.1)


embed = new_net()
losses, pairs = train(embed, torch.sqrt)
print(f"NaN in step {len(losses) - 1}   the last losses: {losses[-2]:.2f}, {losses[-1]:.2f}")
last_step = forward(embed, *pairs, torch.sqrt)
print("all values of the last forward pass are finite:", all(bool(value.isfinite().all()) for value in last_step.values()))

# %% [markdown]
# Forward was finite, so the error happened in *backward*, which does not keep the gradients in the middle.
# **Write the line** that prints `name`, and how many elements of `grad` are infinite, and how many are NaN.

# %%
def count_bad(name, grad):
    pass  # Your line here.


for name, tensor in last_step.items():
    tensor.register_hook(partial(count_bad, name))
last_step["loss"].backward()

closest = last_step["total"].argmin()
print("the smallest total:", last_step["total"][closest].item())
draw_digits(pictures[pairs[:, closest]], [f"picture {int(n)}" for n in pairs[:, closest]], title="The closest pair")

# %% [markdown]
# One line that does it: `print(name, grad.isinf().sum(), grad.isnan().sum())`.
#
# The gradient of `distance` is fine, the gradient of `total` has an infinite element. So the square root, between the two, is the
# cause: its slope at 0 is infinite. And one `total` was 0: a picture was paired *with itself*. The sum passes the infinity on to
# 8 `squares`. Backward through the square multiplies each infinity by twice the `difference`, which is 0: **0 · ∞** is NaN. The
# next cell tries three cures. Which one helps, and leaves the gradient of a healthy pair (differences of 0.1) as it is?

# %%
def safe_root(total):
    return (total + 1e-12).sqrt()


def gradients(root, clipped=None):
    found = []
    for number in (0.0, 0.1):   # a picture and itself, and a healthy pair
        difference = torch.full((1, 8), number, requires_grad=True)
        total = (difference**2).sum(dim=1)
        if clipped:
            {"difference": difference, "total": total}[clipped].register_hook(lambda grad: grad.clamp(-1, 1))
        root(total).sum().backward()
        found.append(f"{difference.grad[0, 0]:6.3f}")
    return found


print("differences of                          0.0    0.1")
print("square root                         ", *gradients(torch.sqrt))
print("clipped at `difference`, after 0 · ∞", *gradients(torch.sqrt, clipped="difference"))
print("clipped at `total`, before 0 · ∞    ", *gradients(torch.sqrt, clipped="total"))
print("square root of (total + 1e-12)      ", *gradients(safe_root))

# %% [markdown]
# **The place of a hook matters.** Clipping leaves NaN as it is, and your `grad_clipper` comes too late: backward reaches the
# parameters after `difference`. At `total`, clipping turns the infinity into 1, and 1 times 0 is 0. But clipping also cuts the
# healthy pair's gradient at `total`, from 1.77 to 1: so 0.354 became 0.2. A root that makes no infinity needs no clipping:

# %%
def smooth(run):
    return [sum(run[max(0, end - 20) : end]) / min(end, 20) for end in range(1, len(run) + 1)]


runs = {"square root": smooth(losses), "square root of (total + 1e-12)": smooth(train(new_net(), safe_root)[0])}
draw_curves(runs, title="Loss of the net that died, the mean of the last 20 steps")

# %% [markdown]
# ## Part 4: who made the NaN?
#
# The second net reads digits, and then learns without labels. The loss is the **entropy** of its probabilities,
# `-(p log p).sum()`: it falls if the net gets surer of its answers. At `p = 0` the logarithm is infinite, so `torch.where` puts
# a 0 in place of `p log p`.

# %%
torch.manual_seed(0)
reader = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
train_to_read(reader, steps=15)

steps = {
    "scores": reader,
    "softmax": lambda scores: scores.softmax(dim=1),
    "p log p": lambda p: torch.where(p > 0, p * p.log(), 0.0),
    "entropy": lambda terms: -terms.sum(dim=1),
    "mean": torch.mean,
}


def adapt(steps, lr=4):
    """Learn without labels; return the losses and the last pictures."""

    def loss_of(chosen):
        x = pictures[chosen].flatten(1)
        for step in steps.values():
            x = step(x)
        return x

    torch.manual_seed(0)
    losses, chosen = train_until_nan(reader, loss_of, torch.randint(len(pictures), (100, 128)), lr)
    return losses, pictures[chosen].flatten(1).requires_grad_()


trained, trained_reads = copy.deepcopy(reader.state_dict()), reads(reader)
died, fatal = adapt(steps)
print(f"digits read: {trained_reads}   NaN in step {len(died) - 1}   the last entropies: {died[-2]:.3f}, {died[-1]:.3f}")

# %% [markdown]
# ### Exercise: Who made the NaN?
#
# medium · 12 min
#
# Write `blame(steps, x)`. The dict `steps` maps names to functions: the first gets `x`, which requires a gradient; each
# later one gets the previous result; a step may return its own input.
#
# - Run them, call backward on the last result's sum, and leave no hook on `x`.
# - Return the guilty step's name: in backward, it got a finite gradient, and sent on a NaN or an infinity.
# - If several are guilty, return the first that backward reaches; if none, `None`.

# %% nbgrader={"grade": false, "grade_id": "blame_the_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def blame(steps: dict, x: torch.Tensor):
    """Return the name of the step that made the first bad gradient of a chain, or None."""
    # TODO: find the guilty step.
    ### BEGIN SOLUTION
    bad, handles = set(), []

    def look(name, grad):
        if not grad.isfinite().all():
            bad.add(name)

    for name, step in steps.items():
        handles.append(x.register_hook(partial(look, name)))
        x = step(x)
    x.sum().backward()
    for handle in handles:
        handle.remove()
    return next((name for name in reversed(steps) if name in bad), None)
    ### END SOLUTION


chain = {"triple": lambda t: 3 * t, "root": torch.sqrt, "half": lambda t: t / 2}
print(blame(chain, torch.tensor([0.0, 4.0], requires_grad=True)))  # root

# %% nbgrader={"grade": true, "grade_id": "test_blame_the_step", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("blame_the_step")

# %% [markdown]
# The next cell calls `blame` on the net that died, then again with a new `p log p`. How does the new step differ, and why does it
# help? And why was a `p` exactly 0?

# %%
def p_log_p(p):
    safe = torch.where(p > 0, p, 1.0)
    return torch.where(p > 0, p * safe.log(), 0.0)


cured = {**steps, "p log p": p_log_p}
for title, chain in {"as it was": steps, "cured": cured}.items():
    print(f"{title:9} blame returns", blame(chain, fatal))
print(f"the largest difference of two scores: {(reader(fatal).max(1).values - reader(fatal).min(1).values).max():.0f}")
curves = {}
for title, chain, lr in (("as it was, lr=4", steps, 4), ("cured, lr=4", cured, 4), ("as it was, lr=1", steps, 1)):
    reader.load_state_dict(trained)
    curves[title], _ = adapt(chain, lr)
    answers = reader(pictures.flatten(1)).argmax(dim=1).unique().tolist()
    print(f"{title:15} {len(curves[title]):3} steps, digits read: {reads(reader)}, answers that it gives: {answers}")
draw_curves(curves, title="Entropy of the second net")

# %% [markdown]
# <details><summary>What happened (open it when you have an answer)</summary>
#
# `where` chooses a *value*. Backward goes through both branches, and sends a gradient of 0 into the branch that was not chosen.
# In that branch the logarithm and its slope are infinite, and 0 times infinity is NaN. The cure replaces a `p` of 0 by a
# harmless 1 **before** the logarithm: an infinity that is never computed spoils no gradient.
#
# A `p` was 0 because the **learning rate** of 4 is too large: steps of this size drove two scores more than 104 apart, and in
# float32 `exp(-104)` is 0. So the cure only stops the NaN: cured or not, the net ends with one answer for all pictures. With a
# learning rate of 1, the old `p log p` makes no NaN, and the net still reads 87% of the digits.
#
# </details>
#
# ### In your own words: The wrong half of the network does not learn
#
# 5 min
#
# A network is `features`, then `h`, then `head`, then the loss. A colleague wants `head` to stop learning for a while, and
# `features` to go on. On `h`, the input of `head`, he puts a hook that returns zeros: "Then no gradient gets into the head any
# more." He trains with plain SGD and finds the opposite: `head` learns as before, and `features` does not learn.
#
# Explain to him what happened: in which order are the gradients computed, what did his hook change, and what was already
# computed when it ran? Where would a hook have to be to do what he wanted?

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_reach", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# Backward runs from the loss towards the inputs. It computes the gradients of the parameters of `head` from the gradient of the
# **output** of `head`, and the gradient of `h` too. What the hook on `h` returns reaches only what `h` was computed from:
# `features` gets zeros. To stop `head` he needs a hook that returns zeros on each parameter of `head` (or
# `requires_grad_(False)` on them, and `.grad` set to None).
#
# ### BEGIN MARK SCHEME
# - 2 points: the direction (backward goes from the loss to the inputs, so a hook reaches what was computed *before* the
#   tensor in forward), **and** that the gradients of `head` were there already or do not depend on the gradient of `h`. A
#   place that works.
# - 1 point: only the direction, or only a place that works with a reason.
# - Common wrong explanations, 0 points for that part: the hook changes the *value* of `h`; the hook ran too late because it was
#   registered too late; the gradient "flows through `h` into `head`".
# ### END MARK SCHEME
# ### END SOLUTION
# %% [markdown]
# ## Further 1: one branch, or all gradients together (35 minutes)
#
# The core path ends here.
#
# ### One branch only
#
# A hook on a clone changes the gradient from one use of `h` only, as the [gradient reversal
# layer](https://arxiv.org/abs/1505.07818) does. A network learns to read the digits of one scanner. It should also read a second
# scanner's digits: these have a black line at the top and at the left, and no labels. Another head names the scanner. This head's
# gradient, **reversed**, teaches the features to hide the scanner:
#
# ```
#  features h ──┬────────────────────── digit head     its gradient goes back as it is
#               └── reverse_gradient ── scanner head   its gradient goes back with the opposite sign
# ```
#
# ### Exercise: Reverse the gradient of one branch
#
# medium · 12 min · further
#
# Write `reverse_gradient(tensor)`, which returns a tensor with the same values. You may assume that nobody changes this tensor in
# place. Results computed from it send their gradient back to `tensor` with the opposite sign. Other uses of `tensor` send back
# unchanged gradients. Under `no_grad`, and for a tensor that needs no gradient, the function just returns the values.
#
# ```python
# h = torch.ones(2, requires_grad=True)
# (5 * reverse_gradient(h) + h).sum().backward()
# h.grad  # tensor([-4., -4.])
# ```

# %% nbgrader={"grade": false, "grade_id": "reverse_gradient", "locked": false, "schema_version": 3, "solution": true, "task": false}
def reverse_gradient(tensor: torch.Tensor) -> torch.Tensor:
    """Return the values of ``tensor``; the gradient that comes back through the returned tensor gets the opposite sign."""
    # TODO: a tensor of its own for this branch, and a hook on it if one is possible.
    ### BEGIN SOLUTION
    branch = tensor.clone()
    if branch.requires_grad:
        branch.register_hook(torch.neg)
    return branch
    ### END SOLUTION
# %% nbgrader={"grade": true, "grade_id": "test_reverse_gradient", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("reverse_gradient")
# %% [markdown]
# **Guess first:** what share of 397 new digits of the second scanner will each of three nets read?

# %%
framed = pictures.clone()
framed[:, :, 0] = framed[:, :, :, 0] = 1
scanners = torch.stack([pictures, framed]).flatten(2)   # scanner, picture, pixel


def train_on_both(branch):
    """Train with labels of the first scanner only; return how many digits of each are read."""
    torch.manual_seed(0)
    features, digit, scanner = nn.Sequential(nn.Linear(64, 32), nn.ReLU()), nn.Linear(32, 10), nn.Linear(32, 2)
    optimizer = torch.optim.SGD(nn.ModuleList([features, digit, scanner]).parameters(), lr=0.2)
    for first, second in torch.randint(1400, (500, 2, 64)):
        h = features(torch.cat([scanners[0, first], scanners[1, second]]))
        named = F.cross_entropy(scanner(branch(h)), torch.arange(2).repeat_interleave(64))
        optimizer.zero_grad()
        (F.cross_entropy(digit(h[:64]), labels[first]) + 0.2 * named).backward()
        optimizer.step()
    right = digit(features(scanners[:, 1400:])).argmax(dim=2) == labels[1400:]
    return [f"{share:.0%}" for share in right.float().mean(dim=1)]


for what, branch in {"as it is": torch.clone, "none": torch.detach, "reversed": reverse_gradient}.items():
    if branch(framed) is not None:
        print(f"scanner head's gradient {what:9} digits read from each scanner:", *train_on_both(branch))
# %% [markdown]
# ### Zeros are not the same as no gradient
#
# A hook that returns zeros stops a parameter from learning; so does `requires_grad_(False)`. Both have a catch:

# %%
def next_step(freeze, **settings):
    w = Parameter(torch.tensor([1.0, 1.0]))
    optimizer = torch.optim.SGD([w], lr=0.1, **settings)
    (w * 3).sum().backward()
    optimizer.step()
    freeze(w)
    if w.requires_grad:
        optimizer.zero_grad()
        (w * 3).sum().backward()
    before = w[0].item()
    optimizer.step()
    return f".grad {w.grad!s:18} the next step moves w by {w[0].item() - before:.3f}"


zeros = lambda w: w.register_hook(torch.zeros_like)
print("zeros:                           ", next_step(zeros))
print("zeros, weight decay:             ", next_step(zeros, weight_decay=0.1))
print("zeros, momentum:                 ", next_step(zeros, momentum=0.9))
print("requires_grad_(False), old .grad:", next_step(lambda w: w.requires_grad_(False)))
# %% [markdown]
# Zeros are a gradient: weight decay still moves the weights, and so does the momentum of earlier steps. And an old `.grad` still
# moves a frozen parameter. To freeze for good, freeze it *and* set `.grad` to None.
#
# ### A hook that waits for several gradients
#
# [`torch.autograd.graph.register_multi_grad_hook(tensors, function)`](https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.register_multi_grad_hook)
# waits. If a `backward()` reaches any of the tensors, PyTorch calls `function` once, with a list of their gradients, in the order
# of `tensors`. It does not wait for tensors that this pass does not reach: for these the list has None.

# %%
torch.manual_seed(0)
a, b, c, d = (torch.rand(2, requires_grad=True) for _ in range(4))


def look(grads):
    print("the hook gets", grads)
    print("is .grad there?", [tensor.grad is not None for tensor in (a, b, c, d)])


with torch.autograd.graph.register_multi_grad_hook([a, b, c, d], look):
    (a * b + b * c).sum().backward()   # does not reach d

# %% [markdown]
# Such a hook is for watching: what it returns is ignored. It gets the gradients of **this pass**, as changed by tensor hooks
# registered earlier. It runs when the last of the tensors gets its gradient, here `b`, as a tensor hook of this tensor. So
# `b.grad` is not yet written (the first `False` above): do not read it. A frozen tensor in the list raises an error; so does
# `torch.autograd.grad`, if you ask it for a leaf of the list.
#
# ### Exercise: Watch the total norm
#
# medium · 14 min · further
#
# Write `watch_norm(model)`. It returns an empty list immediately. Each later `backward()` through the model adds one number to
# the list (a Python number, or a tensor without dimensions): the norm of all gradients of this pass together, as if they were
# one long vector. Parameters that are frozen, or that a pass does not reach, do not count.

# %% nbgrader={"grade": false, "grade_id": "multi_grad", "locked": false, "schema_version": 3, "solution": true, "task": false}
def watch_norm(model: nn.Module) -> list:
    """Return a list that gets the total norm at each ``backward()``."""
    norms = []
    # TODO: one hook that waits for the gradients of all parameters.
    ### BEGIN SOLUTION

    def add_norm(grads):
        squares = [(grad**2).sum() for grad in grads if grad is not None]
        norms.append(sum(squares).item() ** 0.5)

    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    torch.autograd.graph.register_multi_grad_hook(trainable, add_norm)
    ### END SOLUTION
    return norms


net = nn.Linear(2, 1)
norms = watch_norm(net)
net(torch.tensor([2.0, 2.0])).backward()
print(norms)  # [3.0]: the gradients are 2, 2 and 1
# %% nbgrader={"grade": true, "grade_id": "test_multi_grad", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("multi_grad")
# %% [markdown]
# The net that died in step 76: did the norm of its gradients grow before that step?

# %%
net = new_net()
norms = watch_norm(net)
train(net, torch.sqrt)
draw_curves({"all gradients together": norms or []}, title="The norm up to the NaN")
# %% [markdown]
# No: nothing warned.
#
# ## Further 2: when hooks run, and at which place (25 minutes)
#
# ### As soon as `.grad` is written
#
# A post-accumulate hook is called with the leaf itself, and can move a finished `.grad` elsewhere *at once*.
#
# If the weights of a large model are in bfloat16, so is `.grad`, by default. That dtype keeps two to three decimal digits, enough
# for *one* gradient. But `.grad` is a sum of many:

# %%
w = torch.zeros(1, dtype=torch.bfloat16, requires_grad=True)
for _ in range(1000):
    (w * 1).backward(torch.ones(1, dtype=torch.bfloat16))
print("1000 passes, each with a gradient of 1. w.grad is", w.grad.item())
print("256, 257, 258 in bfloat16:", torch.tensor([256.0, 257.0, 258.0]).bfloat16().tolist())
# %% [markdown]
# After 256 the next number in bfloat16 is 258, so 256 + 1 stays 256.
#
# ### Exercise: Add up gradients in float32
#
# medium · 12 min · further
#
# Write `accumulate_in_float32(model)`. It returns a dict with a float32 tensor of zeros for each parameter that requires a
# gradient, under the parameter's name in `model.named_parameters()`. From then on each `backward()` adds its gradients to
# these sums; values that were in `.grad` before the call are not added. After backward `.grad` is None for these parameters;
# frozen ones stay as they are.

# %% nbgrader={"grade": false, "grade_id": "post_accumulate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def accumulate_in_float32(model: nn.Module) -> dict:
    """Return float32 sums of gradients, by parameter name."""
    sums = {}
    # TODO: for each parameter a sum, and a hook that runs as soon as .grad is written.
    ### BEGIN SOLUTION

    def move(total, parameter):
        total.add_(parameter.grad)
        parameter.grad = None

    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            sums[name] = torch.zeros_like(parameter, dtype=torch.float32)
            parameter.grad = None
            parameter.register_post_accumulate_grad_hook(partial(move, sums[name]))
    ### END SOLUTION
    return sums


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print(sums)  # 300 for both; bfloat16 would say 256
print(".grad:", [parameter.grad for parameter in layer.parameters()])
# %% nbgrader={"grade": true, "grade_id": "test_post_accumulate", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("post_accumulate")
# %% [markdown]
# ### Several hooks on one tensor
#
# Hooks of one kind run in the order of registration. Each *tensor* hook gets what the previous one has returned, or the same
# gradient, if that was `None`. The next cell has four hooks of two kinds, and `retain_grad`. **Stop and predict:** in which order
# do they run, and which number is in `h.grad` afterwards? (Without any hook it would be 2 · 6 = 12.)

# %%
w = torch.tensor(2.0, requires_grad=True)
h = w * 3


def note(name, argument, factor=None):
    print(f"{name:7} h.grad is there: {h.grad is not None}")
    return None if factor is None else factor * argument


w.register_post_accumulate_grad_hook(partial(note, "w.grad"))
w.register_hook(partial(note, "w"))
h.retain_grad()
h.register_hook(partial(note, "first", factor=10))
h.register_hook(partial(note, "second"))
(h**2).backward()
print("h.grad:", h.grad.item())

# %% [markdown]
# <details><summary>What ran, and why (open it when the cell has run)</summary>
#
# The tensor hooks run first, in the order of registration. Then `retain_grad` keeps the gradient of a non-leaf, however early
# you call it. At a leaf, the gradient is added to `.grad`, and then the post-accumulate hooks run, however early they were
# registered.
#
# </details>
#
# ### One tensor, two values
#
# `nn.ReLU(inplace=True)` writes its result into its input. This tensor is still the same Python object, but for autograd it is the
# output of another operation. Below, a hook and `retain_grad` come before the change. Which gradient does each get? In the last
# two lines, `h` is a **view**: it shares the memory of another tensor, its **base**, as a slice or a transpose does.

# %%
def change_after_registering(change, view=False):
    h = torch.tensor([1.0, -2.0, 3.0], requires_grad=True).clone()
    h = h.view(3) if view else h
    caught = []
    h.register_hook(lambda grad: caught.extend(grad.tolist()))
    h.retain_grad()
    change(h)
    (h * 10).sum().backward()
    return f"{h.grad_fn.name():20} {caught!s:20} {h.grad.tolist()}"


print("change                  h is made by         the hook gets        retain_grad keeps")
print("relu_()                ", change_after_registering(torch.relu_))
print("mul_(3)                ", change_after_registering(lambda h: h.mul_(3)))
print("under no_grad, mul_(3) ", change_after_registering(torch.no_grad()(lambda h: h.mul_(3))))
print("of a view, mul_(3)     ", change_after_registering(lambda h: h.mul_(3), view=True))
print("of its base, no_grad   ", change_after_registering(torch.no_grad()(lambda h: h._base.mul_(3)), view=True))
# %% [markdown]
# A hook is at a node of the **graph**. A recorded in-place operation makes a new node. The hook stays at the old node: it gets
# the gradient of **the value that the tensor held when the hook was registered**. A change that is not recorded, under `no_grad`
# or by an optimizer, makes no new node: hooks on parameters survive training. But after *any* change of a view or its base,
# backward may no longer reach the view's old node. Then the hook never runs, without an error. `retain_grad` follows the tensor:
# it keeps the gradient of the **new value**.
#
# ### Exercise: Before and after
#
# medium · 8 min · further
#
# Write `watch_around(tensor, change)`, where `change` is a function that changes its argument in place, as `torch.relu_` does.
# Call `change` once on `tensor`, which is not a view, and return two empty lists. Each later backward pass adds one gradient to
# each list: the first gets the gradient of the value before the change, the second the gradient of the value after it. Only
# watch: `tensor.grad` stays None.

# %% nbgrader={"grade": false, "grade_id": "after_in_place", "locked": false, "schema_version": 3, "solution": true, "task": false}
def watch_around(tensor: torch.Tensor, change) -> tuple:
    """Change ``tensor`` in place; return two lists for the gradients of its value before and after the change."""
    before, after = [], []
    # TODO: two hooks and the change, in the right order.
    ### BEGIN SOLUTION
    tensor.register_hook(lambda grad: before.append(grad.clone()))
    change(tensor)
    tensor.register_hook(lambda grad: after.append(grad.clone()))
    ### END SOLUTION
    return before, after


h = torch.tensor([1.0, -2.0], requires_grad=True) * 3
before, after = watch_around(h, torch.relu_)
(h * 10).sum().backward()
print(before, after)  # [tensor([10.,  0.])] [tensor([10., 10.])]
# %% nbgrader={"grade": true, "grade_id": "test_after_in_place", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("after_in_place")
# %% [markdown]
# ## Further 3: memory (20 minutes)
#
# ### What autograd saves for backward
#
# The slope of `exp` at `x` is `exp(x)` itself: backward needs the result of forward. So forward **saves** tensors in the graph.
# [A pair of functions](https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.saved_tensors_hooks) can change
# that: **pack** runs in forward, when a tensor is saved, and may store something else instead; **unpack** runs in backward, and
# must return the tensor.

# %%
def what_is_saved(function):
    saved = []

    def pack(tensor):
        saved.append(f"{tuple(tensor.shape)} {tensor.nbytes} bytes")
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        function()
    return saved or "nothing"


torch.manual_seed(0)
x = torch.rand(100, requires_grad=True)
layer = nn.Linear(25, 3)
print("x + 1      saves", what_is_saved(lambda: x + 1))
print("x.exp()    saves", what_is_saved(lambda: x.exp()))
print("x * x      saves", what_is_saved(lambda: x * x))
print("a layer    saves", what_is_saved(lambda: layer(x.view(4, 25))))
print("   on data saves", what_is_saved(lambda: layer(x.detach().view(4, 25))))
# %% [markdown]
# `x * x` saves `x` twice: pack is called each time. A linear layer saves its input, for the gradient of its weight, and its
# weight, transposed, for the gradient of its input.
#
# ### Counting memory
#
# A tensor's values lie in a piece of memory, its **storage**, which views and `detach()` share. Compare the addresses that
# `untyped_storage().data_ptr()` returns:

# %%
weight = Parameter(torch.rand(2, 3))
for name, tensor in {"t()": weight.t(), "[1:]": weight[1:], "clone()": weight.clone()}.items():
    storage = tensor.untyped_storage()
    same = storage.data_ptr() == weight.untyped_storage().data_ptr()
    print(f"weight.{name:8} the same storage: {same!s:6} bytes: {tensor.nbytes}, of the storage: {storage.nbytes()}")
# %% [markdown]
# So the transposed weight that a linear layer saves costs nothing. But `exp` saves its own result. This tensor holds its graph;
# the graph holds pack, pack's variables, and what pack returned. If pack returns or keeps the result itself, tensor and graph keep
# each other alive, and **are not freed** unless a backward pass frees the graph. So return `tensor.detach()`, which has no graph.

# %%
import gc
import weakref


def is_freed(pack, backward):
    x = torch.rand(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        y = x.exp()
    if backward:
        y.sum().backward()
    reference = weakref.ref(y)  # does not keep y in memory
    del y
    gc.collect()
    return reference() is None


print("tensor.detach(), no backward:", is_freed(lambda tensor: tensor.detach(), backward=False))
print("the tensor,      no backward:", is_freed(lambda tensor: tensor, backward=False))
print("the tensor,      backward:   ", is_freed(lambda tensor: tensor, backward=True))

# %% [markdown]
# ### Exercise: Count what is saved
#
# hard · 15 min · further
#
# Write `saved_bytes(model, x)`. It runs `model(x)` once, and returns the output and how many bytes autograd has saved; backward
# works as usual. Count each storage once, with all its bytes, but not the storages of the model's parameters. Do not copy the
# saved tensors; when the output is freed, they must be freed too (1 of the 4 points).

# %% nbgrader={"grade": false, "grade_id": "saved_tensors", "locked": false, "schema_version": 3, "solution": true, "task": false}
def saved_bytes(model: nn.Module, x: torch.Tensor) -> tuple:
    """Return ``model(x)`` and the number of bytes saved for backward."""
    # TODO: run the model between pack and unpack, and count.
    ### BEGIN SOLUTION
    parameters = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in parameters:
            storages[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        output = model(x)
    return output, sum(storages.values())
    ### END SOLUTION


# 144 bytes: the input, 3 x 4 numbers of 4 bytes, and the ReLU's output, 3 x 8
print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))
# %% nbgrader={"grade": true, "grade_id": "test_saved_tensors_bytes", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("saved_tensors", part="bytes")
# %% nbgrader={"grade": true, "grade_id": "test_saved_tensors_freed", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course import check
check("saved_tensors", part="freed")
# %% [markdown]
# ## Recap
#
# | you want to | use |
# | --- | --- |
# | look at a gradient in the middle, pass by pass | `tensor.register_hook(function)`, return nothing |
# | have the gradient in `.grad` after backward | `tensor.retain_grad()` |
# | change a gradient, and the gradients of all earlier tensors | a hook that returns a **new** tensor of the same shape and dtype |
# | watch or change what comes back through one use only | a tensor for this use, `h.clone()`, and a hook on it |
# | get rid of a hook | `handle.remove()`, or `with tensor.register_hook(...):` |
#
# **Next:** a tensor in the middle is new in each forward pass, and its hook is lost. Modules stay: see lesson 03.
#
# ## Where to go on
#
# - [Autograd mechanics](https://docs.pytorch.org/docs/stable/notes/autograd.html#backward-hooks-execution): the order of all hooks.
# - [Anomaly detection](https://docs.pytorch.org/docs/stable/autograd.html#anomaly-detection) names the line of
#   forward that made a NaN gradient.
#
# ### When this notebook is graded
#
# <!-- grading limits -->

# %%
progress()
