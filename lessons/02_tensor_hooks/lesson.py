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
# - **You will do** this: find out why a network dies in training, catch gradients while backward runs, double them,
#   clip them, and set some of them to zero. Further on you reverse gradients, add them up in another precision, and
#   count what autograd keeps in memory.
# - **You will learn** what a tensor hook is for, when it runs and what it may return; how a hook differs from
#   `retain_grad` and from editing `.grad`; how far a changed gradient reaches; and the mistakes that people make with
#   hooks.
# - **You need** to know what `requires_grad`, `backward()` and `.grad` are.
# - **Time** <!-- time and points -->. The core path has three parts: the first hooks, tensors in the middle, a whole
#   model. The end of each is a good place for a pause.
# - **Out of scope** are hooks on modules (lesson 03), hooks under `torch.compile`, and hooks for gradients of gradients.
# - **Help** After a check that failed, `hint()` in any cell gives the next step of help. `hint("weight_grad")`, with
#   the id of an exercise, helps you to begin.

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter

from course import hint, progress, solution
from course.models import Model, TestNet

# %% [markdown]
# # Part 1: the first hooks
#
# ## A net that dies in training
#
# Here is a small network for handwritten digits. It turns each picture into eight numbers, and it learns from pairs of
# pictures: those of the same digit are to come close to each other, those of two digits to stay at least 2 apart. It
# trains well, for a while.

# %%
import copy
import gc
import weakref

from course.data import digits
from course.pictures.autograd_graph import draw_autograd_graph
from course.sources import show_source

pictures, labels = digits()
torch.manual_seed(0)
embed = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 8))
optimizer = torch.optim.SGD(embed.parameters(), lr=0.1)


def forward(first, second, root=torch.sqrt):
    """One forward pass for pairs of pictures: every tensor on the way to the loss, by name."""
    a, b = embed(pictures[first]), embed(pictures[second])
    squared = ((a - b) ** 2).sum(dim=1)
    distance = root(squared)
    same_digit = labels[first] == labels[second]
    loss = torch.where(same_digit, distance, F.relu(2 - distance)).mean()
    return {"a": a, "b": b, "squared": squared, "distance": distance, "loss": loss}


for step in range(1, 201):
    alive = copy.deepcopy(embed.state_dict())     # the weights before this step
    pairs = torch.randint(len(labels), (2, 16))   # 16 pairs of pictures
    loss = forward(*pairs)["loss"]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    dead = any(parameter.isnan().any() for parameter in embed.parameters())
    if step % 15 == 1 or dead:
        print(f"step {step:3}   loss {loss.item():.3f}", "  weights: NaN" if dead else "")
    if dead:
        break

# %% [markdown]
# In the last step the loss was an ordinary number. After it the weights are NaN, "not a number", and nothing can be
# learned any more. Let us go back to the weights from before that step, and look at every tensor of its forward pass.

# %%
embed.load_state_dict(alive)
last_step = forward(*pairs)
for name, tensor in last_step.items():
    print(f"{name:10} all finite: {bool(tensor.isfinite().all())}")

# %% [markdown]
# Everything is finite. So it went wrong in *backward*, somewhere between the loss and the weights, and the gradients in
# between are not kept anywhere. We have to look at them **while** backward runs. That is what this lesson is about, and
# in a few minutes you will know what killed this net.

# %% [markdown]
# ## Why hooks
#
# `backward()` computes the gradient of every tensor on its way. Then it throws most of them away: only *leaves* get
# their `.grad`. Leaves are the tensors that you made yourself and that require a gradient: parameters, and some inputs.

# %%
x = torch.tensor([1.0, -2.0], requires_grad=True)
h = x * 3
loss = (h**2).sum()
loss.backward()

print("x is a leaf:", x.is_leaf, "  x.grad:", x.grad.tolist())
print("h is a leaf:", h.is_leaf, "  h keeps its gradient:", h.retains_grad)

# %% [markdown]
# But sometimes you want to **look** at a gradient in the middle, to see where it vanishes or where it becomes NaN. Or you
# want to **change** it, to clip it, reverse it or mask a part of it, and let backward go on with the changed one. And you
# want all that without touching the code of the model.
#
# A **hook** is a function that you hand over to PyTorch, which then calls it at a fixed moment. A **tensor hook** is
# called with the gradient of its tensor, as soon as this gradient is complete. `tensor.register_hook(function)` hands
# it over.


# %%
def tell(grad):
    print("   the hook runs: the gradient of h is", grad.tolist())


x = torch.tensor([1.0, -2.0], requires_grad=True)
h = x * 3
h.register_hook(tell)
loss = (h**2).sum()

print("forward is done, backward starts")
loss.backward()
print("backward is done")

# %% [markdown]
# A common belief is that a tensor hook runs *after* backward. The prints show that it runs in the middle of it. Here is
# the graph that backward walked. The picture begins with the earliest tensor, `x`, and ends with the loss. Forward
# computed it in this order. **The gradient goes the other way, along the arrows, from the loss back to `x`.** The dot
# shows where your hook is.

# %%
draw_autograd_graph(loss, {"x": x, "h": h, "loss": loss})

# %% [markdown]
# The gradient starts at `loss` and comes back to `h`. Before it enters the box of `h`, and from there goes on to `x`, it
# passes the hook. Each box is an operation of the forward pass; `AccumulateGrad` stands for "add it to the `.grad` of
# this leaf".
#
# You can walk through this graph yourself. Every tensor that an operation has computed has a **`grad_fn`**, the step of
# backward that its gradient enters. Each step lists in its **`next_functions`** the steps to which it hands the result.
# That is all that backward needs to find its way:

# %%
step = loss.grad_fn
while step is not None:
    following = [function for function, _ in step.next_functions if function is not None]
    print(f"{step.name():32} hands its result to {[function.name() for function in following]}")
    step = following[0] if following else None
print("grad_fn of the leaf x:", x.grad_fn)

# %% [markdown]
# Throughout this lesson, **earlier** means earlier in forward, towards the inputs and parameters, and **later** means
# towards the loss. Two things about tensor hooks are worth keeping in mind:
#
# - There is no *forward* hook on a tensor: a tensor hook only ever runs in a backward pass.
# - The next forward pass makes a new `h`, which has no hook. A parameter stays the same object from pass to pass, so a
#   hook on a parameter stays as well.
#
# ## Back to the net that died
#
# Now we can look. A hook on each tensor of the fatal step tells how many elements of its gradient are infinite, and how
# many are NaN. (`name=name` lets each hook know its own name. Part 2 explains why it is needed.)

# %%
for name, tensor in last_step.items():
    tensor.register_hook(
        lambda grad, name=name: print(
            f"gradient of {name:9} infinite: {int(grad.isinf().sum())}   NaN: {int(grad.isnan().sum())}"
        )
    )
last_step["loss"].backward()

first, second = pairs
print("pairs of one picture with itself:", int((first == second).sum()), "of", len(first))
print("the smallest squared distance:   ", last_step["squared"].min().item())

# %% [markdown]
# The lines come in the order of backward. The gradient of `distance` is fine, the gradient of `squared` has one infinite
# element. So the operation between them did it: the square root, whose slope at 0 is infinite. And there was a 0 among
# the squared distances, because one of the 16 pairs was a picture *with itself*. One operation earlier the infinite
# gradient is multiplied by `a - b`, which is 0 as well, and infinity times 0 is NaN. At the end of part 3 this search
# becomes a tool, and the net is mended.

# %% [markdown]
# ## The argument is not `.grad`
#
# A common belief is that the hook gets "the gradient in `.grad`". It gets the gradient that **this** backward has just
# computed. `.grad` is written later, and it **accumulates**: it is the sum over all backward passes.
#
# If you want the sum, leaves have a second kind of hook, which runs once `.grad` is written: the *post-accumulate* hook.
# It is called with the tensor, not with a gradient.

# %%
w = torch.tensor([1.0, 2.0], requires_grad=True)
w.register_hook(
    lambda grad: print("   tensor hook: argument", grad.tolist(), "  w.grad now:", w.grad)
)
w.register_post_accumulate_grad_hook(
    lambda tensor: print("   post-accumulate hook: .grad is", tensor.grad.tolist())
)

for number in (1, 2):
    print("backward pass", number)
    (w * 3).sum().backward()

# %% [markdown]
# Now it is your turn, with a model that you did not write. It has one parameter, `W`.

# %%
show_source(Model)

# %% [markdown]
# ### Exercise: Catch the gradient of a weight
#
# easy · 5 min
#
# Write `tensor_hook(grad)` and register it on `model.W`. Each backward pass adds one entry to the list `answer`: the
# gradient, as a tensor, that this pass has computed for `W`. Only watch: `model.W.grad` stays what it is without your hook.
#
# ```python
# model(torch.tensor([2.0]), torch.tensor([3.0])).backward()
# answer  # [tensor([6.])]
# ```


# %% nbgrader={"grade": false, "grade_id": "weight_grad", "locked": false, "schema_version": 3, "solution": true, "task": false}
model = Model()
answer = []


def tensor_hook(grad):
    # TODO: add the gradient to `answer`.
    ### BEGIN SOLUTION
    answer.append(grad)
    ### END SOLUTION


# TODO: register tensor_hook on model.W.
### BEGIN SOLUTION
model.W.register_hook(tensor_hook)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_weight_grad", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("weight_grad")

# %% [markdown]
# ## What a tensor hook may return
#
# So far the hooks returned nothing, that is None, and the gradient went on as it was. If a hook **returns a tensor,
# backward goes on with that tensor instead**. It must have the same shape and dtype. Anything else raises an error, in
# the middle of backward:


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
print("returns zeros         ", backward_with(lambda grad: torch.zeros_like(grad)))
print("returns another shape ", backward_with(lambda grad: grad.sum()))
print("returns another dtype ", backward_with(lambda grad: grad.double()))
print("returns a number      ", backward_with(lambda grad: 0))

# %% [markdown]
# ## Why not simply change `.grad` afterwards?
#
# Because then it is too late for all earlier tensors: their gradients have been computed already, from the old one.
# `retain_grad()` in this cell asks autograd to keep the gradient of `h`, which is no leaf.


# %%
def grads(with_hook):
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    h = x * 3
    h.retain_grad()
    if with_hook:
        h.register_hook(lambda grad: grad * 100)
    h.backward(torch.tensor([1.0, 1.0]))
    if not with_hook:
        h.grad = h.grad * 100
    return f"h.grad {h.grad.tolist()}   x.grad {x.grad.tolist()}"


print("changed after backward:", grads(with_hook=False))
print("changed by a hook:     ", grads(with_hook=True))

# %% [markdown]
# In the first line `h` says 100, and `x` does not know. In the second line `x` follows: 3 × 100.
#
# ## Never edit the gradient in place
#
# `grad.mul_(10)` writes into the tensor that PyTorch gave you. Are you the only one who holds it? For `b + c` the
# gradients of `b` and of `c` are equal, so autograd saves memory and hands *the same tensor* to both:


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
# The hook on `b` that edits in place also changed the gradient of `c`. The one on `c` came too late for `b`, and both of
# them changed the tensor that the caller had given to `backward`. Whether a sibling sees the edit depends on which of
# the two runs first, so such a mistake can hide for a long time. And some gradients cannot be edited at all: `sum()`
# sends back one number that only looks like many.

# %%
x = torch.tensor([1.0, 2.0], requires_grad=True)
x.register_hook(lambda grad: grad.mul_(10))
try:
    x.sum().backward()
except RuntimeError as error:
    print("RuntimeError:", str(error)[:100], "...")

# %% [markdown]
# **Return a new tensor.**
#
# ### Exercise: Double a gradient
#
# easy · 5 min
#
# Write `func(grad)`, a tensor hook that doubles the gradient. It may hang on any tensor: a loss, a leaf, or one of two
# tensors that are added. The gradients of all earlier tensors follow. Everything else stays as it is.
#
# ```python
# x = torch.tensor([1.0, 2.0], requires_grad=True)
# x.register_hook(func)
# (x * 3).sum().backward()
# x.grad  # tensor([6., 6.])
# ```


# %% nbgrader={"grade": false, "grade_id": "double_grad", "locked": false, "schema_version": 3, "solution": true, "task": false}
def func(grad):
    # TODO: make backward go on with twice the gradient.
    ### BEGIN SOLUTION
    return grad * 2
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_double_grad", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("double_grad")

# %% [markdown]
# # Part 2: tensors in the middle

# %% [markdown]
# ## Functions that remember
#
# PyTorch calls your hook with the gradient, and with nothing else. Often the hook needs more than that: a list to write
# into, a name to print, a limit. It has to bring these along, and there are two ways to make such a function.
#
# The first is a function inside a function. It goes on using the variables of the function around it, even after that
# one has returned. This is called a **closure**.


# %%
def make_collector():
    seen = []

    def remember(value):
        seen.append(value)

    return seen, remember


seen, remember = make_collector()
others, remember_other = make_collector()
remember(3)
remember(4)
remember_other(5)
print("the first list:", seen, "  the second list:", others)

# %% [markdown]
# `make_collector` had returned an empty list before anything was remembered. Whoever holds the list sees it fill up
# later, and each call makes a list of its own.
#
# A closure looks a variable up **when it runs**, not when it is made. In a loop that is a trap: all functions share the
# one loop variable, and when they run, the loop is over.

# %%
late = [lambda: name for name in ("left", "right")]
print("looked up when they run:       ", [function() for function in late])

# %% [markdown]
# The cure is to give each function a value of its own at the moment when it is made. A **default value** does that, and
# so does `partial`, the second way to bring something along: `partial(function, first)` is a function that waits for the
# remaining arguments.


# %%
def describe(name, grad):
    return f"{name} has the gradient {grad}"


by_default = [lambda name=name: name for name in ("left", "right")]
by_partial = [partial(describe, name) for name in ("left", "right")]
print("fixed by a default value:      ", [function() for function in by_default])
print("fixed by partial, called with 5:", [function(5) for function in by_partial])

# %% [markdown]
# ## Looking: `retain_grad` or a hook?
#
# Both show you the gradient of a tensor in the middle. `retain_grad()` keeps it in `.grad`, where it adds up over
# backward passes, for as long as the tensor lives. A hook sees each pass on its own, and decides itself what to keep:
# the whole tensor, one number, or nothing.

# %%
x = torch.tensor([1.0, -2.0], requires_grad=True)
h = x * 3
h.retain_grad()
h.register_hook(
    lambda grad: print("the hook sees", grad.tolist(), "  norm", round(grad.norm().item(), 2))
)

loss = (h**2).sum()
loss.backward(retain_graph=True)
loss.backward()
print("h.grad is  ", h.grad.tolist())

# %% [markdown]
# There is one trap when a hook keeps a gradient: `detach()` and `.data` copy nothing. If the gradient reaches a leaf as
# it is, autograd may use its memory as the leaf's `.grad`, and later passes add to it. Then the entry that you kept
# changes behind your back. Keep the gradient itself, which autograd does not touch while you hold it, or a clone.


# %%
def kept_after_two_passes(keep):
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    kept = []
    for _ in range(2):
        h = w + 5                                       # the gradient of h reaches w as it is
        h.register_hook(lambda grad: kept.append(keep(grad)))
        (h * 3).backward(torch.tensor([1.0, 10.0]))
    return [grad.tolist() for grad in kept]


print("the gradient itself:", kept_after_two_passes(lambda grad: grad))
print("grad.detach():      ", kept_after_two_passes(lambda grad: grad.detach()))
print("grad.clone():       ", kept_after_two_passes(lambda grad: grad.clone()))

# %% [markdown]
# ### Exercise: Watch a gradient in the middle
#
# medium · 8 min
#
# Write `watch_gradient(tensor)`, for a tensor in the middle of a graph. It returns a list at once, still empty. Every later
# backward pass adds one entry to it: the gradient of `tensor` in that pass, which no later pass changes. Only watch:
# nothing is kept in `tensor.grad`, and each call has a list of its own.
#
# ```python
# h = torch.ones(2, requires_grad=True) * 3
# seen = watch_gradient(h)
# (h * 5).sum().backward()
# seen  # [tensor([5., 5.])]
# ```


# %% nbgrader={"grade": false, "grade_id": "intermediate_grad", "locked": false, "schema_version": 3, "solution": true, "task": false}
def watch_gradient(tensor: torch.Tensor) -> list:
    """Return an empty list that gets the gradient of ``tensor`` (not a leaf) at each backward pass."""
    # TODO: make the list, register a hook that fills it, return the list.
    ### BEGIN SOLUTION
    seen = []

    def remember(grad):
        seen.append(grad)

    tensor.register_hook(remember)
    return seen
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_intermediate_grad", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("intermediate_grad")

# %% [markdown]
# ## A tensor that is used twice
#
# Often one tensor goes into several operations: in a residual connection, as a shared weight, or as the features on which
# two losses work. Then several gradients come back to it. Here `h` goes into `left` and into `right`. The orange dot is a
# hook on `h`.

# %%
w = torch.tensor(2.0, requires_grad=True)
h = w * 3
left = h * 10
right = h**2
loss = left + right

h.register_hook(lambda grad: None)
draw_autograd_graph(loss, {"w": w, "h": h, "left": left, "right": right, "loss": loss})

# %% [markdown]
# With `h = 6`, a gradient of 10 comes back through `left`, and one of 2 · 6 = 12 through `right`. **Stop and predict:**
# how often does one backward pass call the hook on `h`, and with what?
#
# ### Exercise: How often, and with what?
#
# medium · 10 min
#
# 1. `predicted`: one number for each call of the hook on `h`, in order: what it is called with. If the run shows something
#    else, keep your prediction and write what ran into `what_ran`: it earns the same point.
# 2. `log_gradients(tensors)`, where `tensors` is a dict from names to tensors, returns a list at once, still empty. From then
#    on each call of a hook on one of them adds one pair, `(name, gradient)`, and changes nothing.
#
# ```python
# log = log_gradients({"w": w, "h": h})
# (h * 2).backward()
# log  # [("h", tensor(2.)), ("w", tensor(6.))]
# ```


# %% nbgrader={"grade": false, "grade_id": "fan_out", "locked": false, "schema_version": 3, "solution": true, "task": false}
# TODO: predict before you run this cell. One number for each call of a hook on h.
predicted = []
### BEGIN SOLUTION
predicted = [22.0]
### END SOLUTION
what_ran = None  # if something else ran, write it here, and keep your prediction


def log_gradients(tensors: dict) -> list:
    """Return an empty list that gets a pair (name, gradient) at each call of a hook on one of ``tensors``."""
    log = []
    # TODO: a hook on each tensor, which knows the name of its tensor.
    ### BEGIN SOLUTION
    for name, tensor in tensors.items():
        tensor.register_hook(lambda grad, name=name: log.append((name, grad)))
    ### END SOLUTION
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
left = h * 10
right = h**2
log = log_gradients({"w": w, "h": h, "left": left, "right": right})
(left + right).backward()
print("predicted for h:", predicted)
print("logged:", *log, sep="\n   ")

# %% nbgrader={"grade": true, "grade_id": "test_fan_out_prediction", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course import check
check("fan_out", part="prediction")

# %% nbgrader={"grade": true, "grade_id": "test_fan_out_log", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("fan_out", part="log")

# %% [markdown]
# <details><summary>What ran, and why (open it when your check has passed)</summary>
#
# **Once, with the sum.** Autograd first waits until every use of `h` has sent its gradient back, and adds them up. Only
# then is the gradient of `h` known, and only then does the hook run. It does not matter how many uses there are, or
# whether one operation uses `h` at two places, as `h * h` does. One backward pass makes one call.
#
# </details>
#
# ## Where to hang a hook: at a leaf, or in the middle
#
# A hook that changes a gradient changes more than its own tensor's. How much more depends on where it hangs. This small
# network for images shows it.

# %%
show_source(TestNet)

# %% [markdown]
# One hook hangs on `fc.bias`, and one on `h`, the output of the ReLU. Each multiplies its gradient by 100. Look at the
# picture before you read on: which gradients will change?

# %%
torch.manual_seed(0)
net = TestNet()
h = net.relu(net.conv(torch.rand(1, 3, 8, 8)))
loss = (1 - net.fc(net.flatten(h))).mean()

without_hooks = torch.autograd.grad(loss, list(net.parameters()), retain_graph=True)
handles = [tensor.register_hook(lambda grad: grad * 100) for tensor in (net.fc.bias, h)]
draw_autograd_graph(loss, {**dict(net.named_parameters()), "h": h, "loss": loss})

# %%
loss.backward()
for (name, parameter), before in zip(net.named_parameters(), without_hooks):
    times = parameter.grad.norm() / before.norm()
    print(f"{name:12} {times:4.0f} times the gradient without hooks")

# %% [markdown]
# `fc.bias` is a leaf. Nothing is earlier than a leaf, so only its own `.grad` has changed. `h` is in the middle, and all
# earlier gradients have followed, here those of `conv.weight` and `conv.bias`. `fc.weight` has not changed: its gradient
# is computed from that of the output of `fc`, which is later than `h`. (In the picture a linear layer is not one box, but
# `AddmmBackward0` with a transpose and views around it. A tensor hook knows tensors, and nothing of layers.)
#
# ### Zeros are not the same as no gradient
#
# You can stop a parameter from learning by a hook that returns zeros, or by `requires_grad_(False)`. Each has a catch.
# Zeros are a gradient like any other: an optimizer takes its step, with momentum and weight decay. And
# `requires_grad_(False)` only stops *new* gradients: a `.grad` from an earlier backward pass is still there, and the next
# `step()` uses it.


# %%
def moved(freeze, make_optimizer, clear=False):
    w = Parameter(torch.tensor([1.0, 1.0]))
    optimizer = make_optimizer([w])
    (w * 3).sum().backward()                            # an earlier backward pass
    if clear:
        optimizer.zero_grad()
    freeze(w)
    if w.requires_grad:
        optimizer.zero_grad()
        (w * 3).sum().backward()
    grad = "None" if w.grad is None else w.grad.tolist()
    optimizer.step()
    return f".grad {grad!s:12} weight after step() {[round(value, 3) for value in w.tolist()]}"


sgd = partial(torch.optim.SGD, lr=0.1)
adamw = partial(torch.optim.AdamW, lr=0.1, weight_decay=0.1)
zeros = lambda w: w.register_hook(torch.zeros_like)
frozen = lambda w: w.requires_grad_(False)

print("zeros, SGD:                         ", moved(zeros, sgd))
print("zeros, AdamW with weight decay:     ", moved(zeros, adamw))
print("requires_grad_(False), old .grad:   ", moved(frozen, sgd))
print("requires_grad_(False), .grad is None:", moved(frozen, sgd, clear=True))

# %% [markdown]
# In the second line the gradient was zero, and the weights moved: weight decay. In the third line they were frozen, and
# moved by the old gradient. To freeze a parameter for good, freeze it *and* set its `.grad` to None.
#
# ### Exercise: One hook on a leaf, one in the middle
#
# medium · 10 min
#
# 1. `freeze_bias(net)`: from then on each backward pass makes the gradient of `net.fc.bias` a tensor of zeros. Everything
#    else stays as it is.
# 2. `clamp_downstream(tensor)`: from then on each backward pass sets the negative elements of the gradient that flows back
#    through `tensor` to 0. Everything earlier than `tensor` follows, everything else stays.
#
# ```python
# h = torch.ones(2, requires_grad=True) * 3
# clamp_downstream(h)
# h.backward(torch.tensor([1.0, -1.0]))  # 1 and 0 flow on
# ```


# %% nbgrader={"grade": false, "grade_id": "bias_and_clamp", "locked": false, "schema_version": 3, "solution": true, "task": false}
def freeze_bias(net: nn.Module) -> None:
    """Make the gradient of ``net.fc.bias`` zeros in each backward pass."""
    # TODO: a hook on the right parameter.
    ### BEGIN SOLUTION
    net.fc.bias.register_hook(torch.zeros_like)
    ### END SOLUTION


def clamp_downstream(tensor: torch.Tensor) -> None:
    """Set the negative elements of the gradient that flows back through ``tensor`` to 0."""
    # TODO: a hook on the tensor.
    ### BEGIN SOLUTION
    tensor.register_hook(lambda grad: grad.clamp(min=0))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_bias_and_clamp_bias", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course import check
check("bias_and_clamp", part="bias")

# %% nbgrader={"grade": true, "grade_id": "test_bias_and_clamp_clamp", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("bias_and_clamp", part="clamp")

# %% [markdown]
# # Part 3: a whole model

# %% [markdown]
# ## Removing a hook
#
# A parameter lives long, and so does its hook. If you run a notebook cell three times that registers one, the hook runs
# three times in each pass:


# %%
def triple(grad):
    return grad * 3


layer = nn.Linear(2, 1)
handles = []
for _ in range(3):  # as if you had run one cell three times
    handles.append(layer.weight.register_hook(triple))

layer(torch.ones(1, 2)).backward()
print("three hooks:", layer.weight.grad.tolist(), "  PyTorch holds", len(layer.weight._backward_hooks))

for handle in handles:
    handle.remove()
layer.weight.grad = None
layer(torch.ones(1, 2)).backward()
print("removed:    ", layer.weight.grad.tolist())

# %% [markdown]
# `register_hook` returns a **handle**, and `handle.remove()` takes the hook away. Keep the handle, or make the object
# afresh in the same cell, as the exercises of this course do. A handle also works in a `with` statement: then the hook
# is gone after the block, even after an error.
#
# (`_backward_hooks` is a private attribute. It is good for a look while you debug, and not for code that has to last.)

# %%
h = torch.ones(2, requires_grad=True) * 3
with h.register_hook(lambda grad: print("   the hook runs")):
    print("inside the block")
    h.sum().backward(retain_graph=True)
print("outside")
h.sum().backward()

# %% [markdown]
# ## Clipping gradients
#
# One huge gradient can ruin a model in one step. *Clipping* limits it. There are two ways, and they are not the same:
#
# - **By value:** each element is clamped to a range. A hook on each parameter can do that, while backward runs.
# - **By norm:** if the norm of *all* gradients together is too large, all of them are scaled by one factor. That needs
#   all the gradients, so it runs after backward: `nn.utils.clip_grad_norm_`. A tensor hook knows only its own tensor
#   and cannot do it.
#
# **Hooks fail late.** This hook is copied from the web. Its method is misspelt, and nobody has defined its limits.
# Registering it works all the same. Only backward finds out:

# %%
w = torch.tensor([1.0, 2.0], requires_grad=True)
w.register_hook(lambda grad: grad.climp_(floor, cap))
print("registered, no complaint")
try:
    (w * 3).sum().backward()
except (AttributeError, NameError) as error:
    print(f"{type(error).__name__}: {error}")

# %% [markdown]
# ### Exercise: Clip every gradient of a model
#
# medium · 8 min
#
# Write `grad_clipper(model, floor, cap)`. From then on each backward pass clamps the gradient of every parameter of `model`
# to the range from `floor` to `cap`, before it is added to `.grad`. Another model may have limits of its own. The function
# returns the model.
#
# ```python
# net = grad_clipper(nn.Linear(2, 1), -0.5, 1.0)
# net(torch.tensor([3.0, -3.0])).backward()
# net.weight.grad  # tensor([[ 1.0000, -0.5000]])
# ```


# %% nbgrader={"grade": false, "grade_id": "grad_clipper", "locked": false, "schema_version": 3, "solution": true, "task": false}
def grad_clipper(model: nn.Module, floor: float, cap: float) -> nn.Module:
    """Clamp the gradient of every parameter to [floor, cap] during each backward pass; return ``model``."""
    # TODO: one hook for each parameter; return the model.
    ### BEGIN SOLUTION
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad.clamp(floor, cap))
    return model
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_grad_clipper", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("grad_clipper")

# %% [markdown]
# ## To take to work: who made the NaN?
#
# In part 1 you saw by hand what killed the net. Here is the same search as a tool. It notes the gradients of named
# tensors within a `with` block, gives each hook its name by `partial`, keeps no gradient alive, and removes its hooks by
# itself, even if backward raises.


# %%
class GradientReport:
    """Note norm and non-finite elements of the gradients of named tensors, within a ``with`` block."""

    def __init__(self, **tensors):
        self.tensors, self.lines, self.handles = tensors, [], []

    def __enter__(self):
        for name, tensor in self.tensors.items():
            if tensor.requires_grad:  # data has no gradient to report
                self.handles.append(tensor.register_hook(partial(self.note, name)))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

    def note(self, name, grad):
        if grad is None:  # "An operation with several results", further on, tells when
            return
        bad = int((~grad.isfinite()).sum())
        self.lines.append(f"{name:9} norm {grad.norm().item():8.3f}   not finite: {bad} of {grad.numel()}")


embed.load_state_dict(alive)
last_step = forward(*pairs)
with GradientReport(**last_step) as report:
    last_step["loss"].backward()
print(*report.lines, sep="\n")

# %% [markdown]
# The lines come in the order of backward. Look for the first one that is not finite: the trouble began between this line
# and the one before. Here it is the square root at 0, and there are two common cures: add a tiny number below the root,
# or use PyTorch's own norm, whose gradient at 0 is defined as 0. Clipping is no cure, because NaN stays NaN in any range.

# %%
def gradient_at_0(distance, hook=None):
    difference = torch.zeros(1, 8, requires_grad=True)   # a picture beside itself
    if hook is not None:
        difference.register_hook(hook)
    distance(difference).sum().backward()
    return "NaN" if difference.grad.isnan().any() else difference.grad.abs().max().item()


root_of_sum = lambda d: (d**2).sum(dim=1).sqrt()
print("square root:                  ", gradient_at_0(root_of_sum))
print("square root, gradient clipped:", gradient_at_0(root_of_sum, lambda grad: grad.clamp(-1, 1)))
print("square root of (sum + 1e-12): ", gradient_at_0(lambda d: ((d**2).sum(dim=1) + 1e-12).sqrt()))
print("torch.linalg.vector_norm:     ", gradient_at_0(lambda d: torch.linalg.vector_norm(d, dim=1)))

embed.load_state_dict(alive)
for _ in range(200):                                     # the fatal pairs first, then new ones
    loss = forward(*pairs, root=lambda squared: (squared + 1e-12).sqrt())["loss"]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    pairs = torch.randint(len(labels), (2, 16))
dead = any(parameter.isnan().any() for parameter in embed.parameters())
print(f"200 more steps with the tiny number: loss {loss.item():.3f}, weights {'NaN' if dead else 'fine'}")

# %% [markdown]
# ### In your own words: The wrong half of the network stands still
#
# 5 min
#
# A network is `features`, then `h`, then `head`, then the loss. A colleague wants to stop `head` from learning for a
# while. He hangs a hook on `h`, the input of `head`, that returns a tensor of zeros: "Then no gradient gets into the head
# any more." He trains with plain SGD and finds the opposite: `head` learns as before, and `features` stands still.
#
# Explain to him what happened, so that he can predict it next time: in which order are the gradients computed, what did
# his hook change, and what was done already when it ran? Where would a hook have to be to do what he wanted?
#
# If this notebook is handed in, a person reads your answer. No check looks at it, and `progress()` does not count it.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_reach", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# Backward runs from the loss towards the inputs. The gradients of the parameters of `head` are computed from the gradient
# of its **output**, and so is the gradient of `h`. What the hook on `h` returns goes on only to what comes next in
# backward, to everything that `h` was computed from: `features` gets zeros. To stop `head` he needs a hook that returns
# zeros on each parameter of `head` (or `requires_grad_(False)` on them, and `.grad` set to None). A hook on the output of
# `head` would stop `head`, and `features` as well.
#
# ### BEGIN MARK SCHEME
# - 2 points: the direction (backward goes from the loss to the inputs, so a hook reaches what was computed *before* the
#   tensor in forward), **and** that the gradients of `head` were there already or do not depend on the gradient of `h`. A
#   place that works.
# - 1 point: only the direction, or only a place that works with a reason.
# - Common wrong explanations, 0 points for that part: the hook changes the *value* of `h`; the hook ran too late because it was
#   registered too late; `head` got zeros, but the optimizer's momentum moved it (it is plain SGD); the gradient "flows through
#   `h` into `head`".
# ### END MARK SCHEME
# ### END SOLUTION

# %% [markdown]
# This is the end of the core path. You can go on with lesson 03, and come back for the rest.

# %% [markdown]
# # Further
#
# Each section from here on can be read by itself: one branch of a graph, the norm of all gradients, sums in another
# precision, the order of hooks, operations with several results, in-place operations, memory.

# %% [markdown]
# ## One branch only
#
# A hook on `h` changes the sum of all that comes back, so it changes it for every use of `h`. How can you see, or change,
# what comes back through one use alone? Not on `h`. Give that use a tensor of its own to work on: `h.view_as(h)` has the
# same values, in the same memory, but it is a new tensor in the graph, with one use. (If the branch begins with an in-place
# operation, take `h.clone()`.)

# %%
w = torch.tensor(2.0, requires_grad=True)
h = w * 3
for_right = h.view_as(h)
left = h * 10
right = for_right**2
loss = left + right

h.register_hook(lambda grad: print("hook on h:        ", grad.item()))
for_right.register_hook(lambda grad: print("hook on for_right:", grad.item()))
loss.backward()
draw_autograd_graph(
    loss, {"w": w, "h": h, "for_right": for_right, "left": left, "right": right, "loss": loss}
)

# %% [markdown]
# Here is a famous use. A network learns to recognise digits and must *not* learn which scanner they came from. Two heads
# work on the same features. The second one learns to tell the scanners apart, and its gradient, **reversed**, teaches the
# features to hide that.
#
# ```
#  features h ──┬────────────────────── digit head     its gradient goes back as it is
#               └── reverse_gradient ── scanner head   its gradient goes back with a minus
# ```
#
# This is called a *gradient reversal layer*. In forward it does nothing at all. You have all that it takes: a tensor of
# its own for the branch, and a hook that returns another gradient.
#
# A hook that only matters in training must not break evaluation: `register_hook` refuses a tensor that needs no
# gradient.

# %%
w = torch.ones(2, requires_grad=True)
with torch.no_grad():
    h = w * 3
print("h needs a gradient:", h.requires_grad)
try:
    h.register_hook(lambda grad: grad)
except RuntimeError as error:
    print("RuntimeError:", error)

# %% [markdown]
# ### Exercise: Reverse the gradient of one branch
#
# medium · 12 min · further
#
# Write `reverse_gradient(tensor)`, which returns a tensor with the same values. What is computed from the returned tensor
# sends its gradient back to `tensor` with the opposite sign. Other uses of `tensor` send back what they always did. Under
# `no_grad`, and for a tensor that needs no gradient, it just returns the values.
#
# ```python
# h = torch.ones(2, requires_grad=True)
# (5 * reverse_gradient(h) + h).sum().backward()
# h.grad  # tensor([-4., -4.])
# ```


# %% nbgrader={"grade": false, "grade_id": "reverse_gradient", "locked": false, "schema_version": 3, "solution": true, "task": false}
def reverse_gradient(tensor: torch.Tensor) -> torch.Tensor:
    """Return the values of ``tensor``; the gradient that comes back by the returned tensor changes its sign."""
    # TODO: a tensor of its own for this branch, and a hook on it if one is possible.
    ### BEGIN SOLUTION
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        branch.register_hook(torch.neg)
    return branch
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_reverse_gradient", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("reverse_gradient")

# %% [markdown]
# ## Hooks against `clip_grad_norm_`
#
# Can hooks that clip the *norm* replace `clip_grad_norm_`? Let each hook scale its own gradient down to norm 1, and
# compare.

# %%
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
batch, target = torch.randn(16, 4), 10 * torch.randn(16, 1)


def all_gradients(net):
    ((net(batch) - target) ** 2).mean().backward()
    return torch.cat([parameter.grad.flatten() for parameter in net.parameters()])


raw = all_gradients(copy.deepcopy(net))

by_norm = copy.deepcopy(net)
all_gradients(by_norm)
nn.utils.clip_grad_norm_(by_norm.parameters(), max_norm=1.0)

by_hooks = copy.deepcopy(net)  # each tensor scaled down to norm 1 on its own
for parameter in by_hooks.parameters():
    parameter.register_hook(lambda grad: grad / max(1.0, grad.norm().item()))
all_gradients(by_hooks)

print(f"not clipped          total norm {raw.norm():.2f}")
for name, clipped_net in {"clip_grad_norm_": by_norm, "one hook per tensor": by_hooks}.items():
    clipped = torch.cat([parameter.grad.flatten() for parameter in clipped_net.parameters()])
    cosine = F.cosine_similarity(clipped, raw, dim=0).item()
    print(f"{name:20} total norm {clipped.norm():.2f}   cosine to the true gradient {cosine:.3f}")

# %% [markdown]
# `clip_grad_norm_` keeps the direction (cosine 1) and brings the *total* norm to 1. Four hooks, one for each of the
# four parameters, let through a total norm of up to √4 = 2, and they turn the direction. That may be what you want, but
# it is another thing than clipping by norm.

# %% [markdown]
# ## A hook that waits for several gradients
#
# So can no hook ever see the total norm? One can: a hook that waits until the gradients of *several* tensors are there.
# `torch.autograd.graph.register_multi_grad_hook(tensors, function)` takes a list of tensors. Backward then calls
# `function` once, with one list: the gradients of the tensors, in their order. Tensors that this pass does not reach are
# not waited for; None stands in their place.

# %%
torch.manual_seed(0)
a, b, c, d = (torch.rand(2, requires_grad=True) for _ in range(4))


def tell_all(grads):
    rounded = [None if grad is None else [round(value, 2) for value in grad.tolist()] for grad in grads]
    print("   called with", rounded)


handle = torch.autograd.graph.register_multi_grad_hook([a, b, c, d], tell_all)
print("a pass that does not reach d")
(a * b + b * c).sum().backward()
print("a pass that reaches only d")
(d * 5).sum().backward()
handle.remove()

print("a pass that begins at a tensor of the list")
e = a * 2
with torch.autograd.graph.register_multi_grad_hook([a, e], tell_all):
    e.backward(torch.ones(2))

# %% [markdown]
# The last pass called the function twice. A multi-grad hook waits for what comes back from later operations, and a tensor
# at which backward begins has none: the function then runs once too often, or, if no other tensor is in the list, not at
# all. So let backward begin elsewhere. And `torch.autograd.grad` refuses leaves that have such a hook.
#
# Such a hook can only watch: when the last gradient comes, the others have gone on already, so what the function returns
# is ignored. It gets the gradients of **this pass**. Do not look into `.grad` instead: while the function runs, some
# parameters have theirs already, and the last one has not.

# %%
layer = nn.Linear(2, 1)
parameters = list(layer.parameters())
torch.autograd.graph.register_multi_grad_hook(
    parameters,
    lambda grads: print("while it runs: ", [parameter.grad for parameter in parameters]),
)
layer(torch.ones(1, 2)).backward()
print("after backward:", [parameter.grad for parameter in parameters])

# %% [markdown]
# One thing to know before you use it on real models: a multi-grad hook accepts only tensors that require a gradient. A
# frozen parameter in its list raises an error:

# %%
layer.bias.requires_grad_(False)
try:
    torch.autograd.graph.register_multi_grad_hook(list(layer.parameters()), print)
except (AssertionError, RuntimeError) as error:
    print(f"{type(error).__name__}: {error}")

# %% [markdown]
# ### Exercise: Watch the total norm
#
# medium · 12 min · further
#
# Write `watch_norm(model)`. It returns a list at once, still empty. Each later backward pass adds one number to it: the norm
# of all gradients of this pass together, as if they were one long vector. Parameters that are frozen, or that a pass does not
# reach, count for nothing.
#
# ```python
# net = nn.Linear(2, 1)
# norms = watch_norm(net)
# net(torch.tensor([2.0, 2.0])).backward()  # gradients 2, 2 and 1
# norms  # [3.0]
# ```


# %% nbgrader={"grade": false, "grade_id": "multi_grad", "locked": false, "schema_version": 3, "solution": true, "task": false}
def watch_norm(model: nn.Module) -> list:
    """Return an empty list that gets the total norm of the gradients of ``model`` at each backward pass."""
    norms = []
    # TODO: one hook that waits for the gradients of all parameters.
    ### BEGIN SOLUTION

    def add_norm(grads):
        squares = [(grad**2).sum() for grad in grads if grad is not None]
        norms.append(sum(squares) ** 0.5)

    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    torch.autograd.graph.register_multi_grad_hook(trainable, add_norm)
    ### END SOLUTION
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% nbgrader={"grade": true, "grade_id": "test_multi_grad", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("multi_grad")

# %% [markdown]
# ## Once `.grad` is written
#
# A tensor hook runs before the addition to `.grad`, a post-accumulate hook right after it. So this is the place to do
# something with a finished `.grad` *at once*, before backward is over: move it elsewhere, take an optimizer step with
# it, free its memory.
#
# A post-accumulate hook is called with the leaf itself, not with a gradient. It returns nothing: with anything but None,
# backward raises an error. Whatever it does to `.grad` stays done:


# %%
def after(tensor):
    print("called with", tensor.tolist(), "  its .grad is", tensor.grad.tolist())
    tensor.grad = None


w = torch.tensor([1.0, 2.0], requires_grad=True)
w.register_post_accumulate_grad_hook(after)
(w * 3).sum().backward()
print("after backward, w.grad is", w.grad)

# %% [markdown]
# Here is a job for it. Large models are often trained in bfloat16, which takes half the memory and keeps only two to
# three decimal digits. That is enough for *one* gradient. But `.grad` is a sum over many small batches, in bfloat16 as
# well:

# %%
w = torch.zeros(1, dtype=torch.bfloat16, requires_grad=True)
for _ in range(1000):
    (w * 1).backward(torch.ones(1, dtype=torch.bfloat16))
print("1000 passes, each with a gradient of 1. w.grad is", w.grad.item())
print("256, 257, 258 in bfloat16:", torch.tensor([256.0, 257.0, 258.0]).bfloat16().tolist())

# %% [markdown]
# After 256 the next number that bfloat16 knows is 258, and 256 + 1 is rounded to 256, again and again. Large training
# programs cure this by adding up in float32, while `.grad` never holds more than one pass.
#
# ### Exercise: Add up gradients in float32
#
# medium · 12 min · further
#
# Write `accumulate_in_float32(model)`. It returns a dict with a float32 tensor of zeros for each parameter that requires a
# gradient, under its name in `model.named_parameters()`. From then on each backward pass adds its gradients to these sums.
# After backward `.grad` is None for these parameters; frozen ones are left alone.
#
# ```python
# layer = nn.Linear(1, 1, dtype=torch.bfloat16)
# sums = accumulate_in_float32(layer)
# for _ in range(300):
#     layer(torch.ones(1, dtype=torch.bfloat16)).backward()
# sums["bias"]  # tensor([300.]); bfloat16 would say 256
# ```


# %% nbgrader={"grade": false, "grade_id": "post_accumulate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def accumulate_in_float32(model: nn.Module) -> dict:
    """Return float32 sums of gradients by parameter name; each backward pass adds to them and leaves no ``.grad``."""
    sums = {}
    # TODO: for each parameter a sum, and a hook that runs once .grad is written.
    ### BEGIN SOLUTION

    def move(total, parameter):
        total.add_(parameter.grad)
        parameter.grad = None

    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            sums[name] = torch.zeros_like(parameter, dtype=torch.float32)
            parameter.register_post_accumulate_grad_hook(partial(move, sums[name]))
    ### END SOLUTION
    return sums


layer = nn.Linear(1, 1, dtype=torch.bfloat16)
sums = accumulate_in_float32(layer)
for _ in range(300):
    layer(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
print("300 passes, each with gradients of 1:", sums)
print(".grad:", [parameter.grad for parameter in layer.parameters()])

# %% nbgrader={"grade": true, "grade_id": "test_post_accumulate", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("post_accumulate")

# %% [markdown]
# ## Several hooks on one tensor
#
# They run in the order in which they were registered, and each of them gets what the one before it has returned.

# %%
x = torch.tensor([1.0, -2.0], requires_grad=True)
h = x * 3
h.register_hook(lambda grad: print("first: ", grad.tolist()))
h.register_hook(lambda grad: grad * 10)
h.register_hook(lambda grad: print("third: ", grad.tolist()))
h.backward(torch.tensor([1.0, 1.0]))

# %% [markdown]
# Now everything that you have met so far comes together in one backward pass: two hooks on `h`, `retain_grad()` on `h`,
# a tensor hook and a post-accumulate hook on the leaf `w`. They are registered in another order than the one in which
# they will run.

# %%
w = torch.tensor(2.0, requires_grad=True)
h = w * 3
loss = h**2
w.register_post_accumulate_grad_hook(lambda tensor: None)
w.register_hook(lambda grad: None)
h.retain_grad()
h.register_hook(lambda grad: grad * 10)
h.register_hook(lambda grad: None)
draw_autograd_graph(loss, {"w": w, "h": h, "loss": loss})

# %% [markdown]
# **Stop and predict:** in which order do the four hooks run in one backward pass from `loss`, at which of them is `h.grad`
# there already, and which number is in it afterwards? (Without any hook it would be 2 · 6 = 12.) Then run this cell:

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
# The gradient passes the tensors from the loss to the leaf. For each of them:
#
# 1. The gradients of all its uses are added up. One sum, so one call of each hook.
# 2. Its tensor hooks run, in the order of registration. Each gets what the one before it has returned.
# 3. In the middle, `retain_grad` keeps what is left after **all** hooks, however early it was asked for. At a leaf,
#    the gradient is added to `.grad`, and then the post-accumulate hooks run, however early they were registered.
# 4. The gradient goes into the operation that made the tensor, and on to the earlier tensors.
#
# So the order of registration counts only among hooks of one kind on one tensor. For all the rest it is the graph that
# decides.
#
# </details>

# %% [markdown]
# ## An operation with several results
#
# `unbind`, `split` and `torch.std_mean` return several tensors, all of them results of one operation. In backward this
# operation runs as soon as one of its results has a gradient. The hooks of the other results run as well, and where
# no gradient has come back, the hook is called with **None**:

# %%
x = torch.tensor([1.0, 2.0], requires_grad=True)
left, right = (x * 3).unbind()
left.register_hook(lambda grad: print("hook on left: ", grad))
right.register_hook(lambda grad: print("hook on right:", grad))
left.backward()

# %% [markdown]
# A hook that computes with None fails, in the middle of backward. So a hook that may come upon such a tensor begins with
# `if grad is None: return`. The exercises of this lesson do not ask for it.

# %% [markdown]
# ## One tensor, two values
#
# `nn.ReLU(inplace=True)` is in many networks for images. It saves memory: it writes its result into the tensor that it
# was given. After that the tensor is still the same Python object, but it holds another value, and for autograd it has
# become the output of another operation:

# %%
x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
the_object = h
print("before:", h.tolist(), h.grad_fn.name())
h.relu_()
print("after: ", h.tolist(), h.grad_fn.name(), "  the same object:", h is the_object)

# %% [markdown]
# So there are two gradients now: one of the value before, one of the value after. Which one does a hook get that was
# registered before the change? That depends on whether autograd **recorded** the change:


# %%
def change_after_registering(change):
    h = torch.tensor([1.0, -2.0, 3.0], requires_grad=True) * 2
    caught = []
    h.register_hook(caught.append)
    change(h)
    h.retain_grad()                  # the gradient of the value that h holds now
    (h * 10).sum().backward()
    return f"the hook gets {caught[0].tolist()}, the new value has {h.grad.tolist()}"


def not_recorded(h):
    with torch.no_grad():
        h.mul_(3)


print("recorded, relu_():        ", change_after_registering(torch.relu_))
print("recorded, mul_(3):        ", change_after_registering(lambda h: h.mul_(3)))
print("under no_grad, mul_(3):   ", change_after_registering(not_recorded))

weight = Parameter(torch.tensor([1.0, 2.0]))
calls = []
weight.register_hook(calls.append)
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(3):
    (weight**2).sum().backward()
    optimizer.step()                 # changes the weight in place, under no_grad
print("a parameter, three steps:  the hook ran", len(calls), "times")

# %% [markdown]
# A hook hangs at a place in the **graph**: where the gradient comes out of the later operations and goes into the one that
# made the tensor. A recorded in-place operation is a new operation, with a new place, and the hook stays at the old
# one. It goes on to get the gradient of **the value that the tensor held when the hook was registered**. There is one
# exception: on a view of another tensor, such as `h[0]`, the hook is lost. A change that is not recorded, under `no_grad` or by an optimizer, makes
# no new place, and the hook runs as before. That is why hooks on parameters survive training.
#
# ### Exercise: Before and after
#
# medium · 8 min · further
#
# Write `watch_around(tensor, change)`, which calls `change` once on `tensor`: a function that changes its argument in place,
# as `torch.relu_` does. It returns two lists, still empty. Each later backward pass adds one gradient to each: to the first
# that of the value that `tensor` held before the change, to the second that of the value it holds since. Only watch.
#
# ```python
# h = torch.ones(2, requires_grad=True) * 3
# before, after = watch_around(h, lambda tensor: tensor.mul_(2))
# (h * 5).sum().backward()
# before, after  # ([tensor([10., 10.])], [tensor([5., 5.])])
# ```


# %% nbgrader={"grade": false, "grade_id": "after_in_place", "locked": false, "schema_version": 3, "solution": true, "task": false}
def watch_around(tensor: torch.Tensor, change) -> tuple:
    """Change ``tensor`` in place; return two lists for the gradients of its value before and after the change."""
    before, after = [], []
    # TODO: two hooks and the change, in the right order.
    ### BEGIN SOLUTION
    tensor.register_hook(before.append)
    change(tensor)
    tensor.register_hook(after.append)
    ### END SOLUTION
    return before, after


x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
before, after = watch_around(h, torch.relu_)
(h * 10).backward(torch.ones(3))
print("h:", h.tolist(), "  before:", before, "  after:", after)

# %% nbgrader={"grade": true, "grade_id": "test_after_in_place", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("after_in_place")

# %% [markdown]
# `retain_grad` is different: it stays with the tensor, and keeps the gradient of the value that the tensor holds in the
# end.

# %%
x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
h = x * 2
h.retain_grad()
h.register_hook(lambda grad: print("hook from before the ReLU:", grad.tolist()))
h.relu_()
(h * 10).backward(torch.ones(3))
print("h.grad:                   ", h.grad.tolist())

# %% [markdown]
# ## What autograd saves for backward
#
# To compute the gradient of `x.exp()`, backward needs the value of `x.exp()`. So the forward pass **saves** tensors in
# the graph, and they often take the largest part of the memory in training. A pair of functions can stand at the door
# of that store. **pack** runs in forward, when a tensor is saved, and may store something else instead. **unpack** runs
# in backward, when the tensor is needed again, and must give it back.
#
# This is another kind of hook than `tensor.register_hook`: a context manager,
# `torch.autograd.graph.saved_tensors_hooks`. It sees *values*, not gradients. What is saved?


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
print("x * 3      saves", what_is_saved(lambda: x * 3))
print("x * x      saves", what_is_saved(lambda: x * x))
print("a layer    saves", what_is_saved(lambda: layer(x.view(4, 25))))
print("   on data saves", what_is_saved(lambda: layer(x.detach().view(4, 25))))
print("under no_grad   ", what_is_saved(torch.no_grad()(lambda: x.exp())))

# %% [markdown]
# An addition needs nothing. A product with a number needs nothing of `x` either. `x * x` saves `x` twice: the hook is
# called for each. A linear layer saves its input, for the gradient of its weight, and its weight, transposed, for the
# gradient of its input. Plain data needs no gradient, so there the weight is not saved.
#
# What is this good for? For example, you can save in half precision and pay with a little accuracy:

# %%
with torch.autograd.graph.saved_tensors_hooks(
    lambda tensor: tensor.half(), lambda packed: packed.float()
):
    y = x.exp().sum()
y.backward()
error = (x.grad - x.detach().exp()).abs().max()
print(f"saved with 2 bytes per element, largest error of x.grad: {error:.5f}")

# %% [markdown]
# ## Counting memory
#
# To count the memory, each piece may be counted only once. A tensor is a *view* of a piece of memory, its **storage**.
# Slices, transposes and `detach()` make new tensor objects on the same storage. Its address,
# `untyped_storage().data_ptr()`, tells whether two tensors share it:

# %%
weight = Parameter(torch.rand(2, 3))
tensors = {
    "weight": weight,
    "weight.t()": weight.t(),
    "weight[1:]": weight[1:],
    "weight.clone()": weight.clone(),
}
for name, tensor in tensors.items():
    storage = tensor.untyped_storage()
    same = storage.data_ptr() == weight.untyped_storage().data_ptr()
    print(f"{name:14}  the same object: {tensor is weight!s:5}  the same storage: {same!s:5}", end="  ")
    print(f"bytes of the tensor {tensor.nbytes}, of the storage {storage.nbytes()}")

# %% [markdown]
# So the transposed weight that a linear layer saves costs nothing: it is the memory of the weight, which is there anyway.
#
# And there is one trap. A tensor holds its graph. The graph holds what pack has returned, and it holds pack itself, with
# all the variables that pack uses. If the tensor is among these, the two hold each other, and **nobody ever frees the
# memory**, not even Python's garbage collector. That is why pack returns `tensor.detach()`, a tensor without a graph. (It has
# a price: autograd no longer notices if a saved tensor is changed in place before backward, and the gradient is wrong
# without an error.)


# %%
def returns_detached():
    return lambda tensor: tensor.detach()


def returns_the_tensor():
    return lambda tensor: tensor


def fills_a_list():
    saved = []  # a local list, but the function on the next line goes on using it
    return lambda tensor: saved.append(tensor) or tensor.detach()


references = {}
for make_pack in (returns_detached, returns_the_tensor, fills_a_list):
    x = torch.rand(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(make_pack(), lambda packed: packed):
        y = x.exp()
    references[make_pack.__name__] = weakref.ref(y)  # tells whether y is in memory, and does not keep it there
    del y

gc.collect()  # Python's garbage collector
for name, reference in references.items():
    print(f"{name:20} freed after use: {reference() is None}")

# %% [markdown]
# ### Exercise: Count what is saved
#
# hard · 15 min · further
#
# Write `saved_bytes(model, x)`. It runs `model(x)` once, and returns the output and how many bytes autograd has saved for
# backward, which works as usual. Each storage counts once, with all its bytes; those of the model's parameters do not
# count. What is saved is not copied, and gone once the caller has let go of the output (1 of the 4 points).
#
# ```python
# net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
# output, number = saved_bytes(net, torch.rand(3, 4))
# number  # 144: the input, 3 x 4 numbers of 4 bytes, and what the ReLU puts out, 3 x 8
# ```


# %% nbgrader={"grade": false, "grade_id": "saved_tensors", "locked": false, "schema_version": 3, "solution": true, "task": false}
def saved_bytes(model: nn.Module, x: torch.Tensor) -> tuple:
    """Return ``model(x)`` and the number of bytes saved for backward: each storage once, parameters left out."""
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


print(saved_bytes(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), torch.rand(3, 4)))

# %% nbgrader={"grade": true, "grade_id": "test_saved_tensors_bytes", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("saved_tensors", part="bytes")

# %% nbgrader={"grade": true, "grade_id": "test_saved_tensors_freed", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course import check
check("saved_tensors", part="freed")

# %% [markdown]
# # Recap
#
# | you want to | use |
# | --- | --- |
# | look at a gradient in the middle, pass by pass | `tensor.register_hook(function)`, return nothing |
# | have it in `.grad` after backward | `tensor.retain_grad()` |
# | change a gradient, and those of all earlier tensors | a hook that returns a **new** tensor of the same shape and dtype |
# | watch or change what comes back through one use only | a tensor of its own for it, `h.view_as(h)`, and a hook there |
# | see the gradients of several tensors together | `torch.autograd.graph.register_multi_grad_hook(tensors, function)` |
# | clip the norm of all gradients together | `nn.utils.clip_grad_norm_`, after backward |
# | do something once a leaf's `.grad` is written | `leaf.register_post_accumulate_grad_hook(function)` |
# | change what is saved between forward and backward | `torch.autograd.graph.saved_tensors_hooks(pack, unpack)` |
# | get rid of a hook | `handle.remove()`, or `with tensor.register_hook(...):` |
#
# A tensor hook runs once in each backward pass that reaches its tensor (and is called with None if the pass reaches only
# another result of the same operation). It gets the gradient of this pass, summed over all
# uses of the tensor, before anything is written to `.grad`. Hooks of one tensor run in the order of registration. A hook
# hangs at a place in the graph: a recorded in-place operation leaves it behind with the old value, a step of an optimizer
# does not.
#
# **Next:** a tensor in the middle is made anew by each forward pass, and its hook is lost. Modules stay. Lesson 03
# hangs hooks on modules.

# %%
progress()

# %% [markdown]
# ### When this notebook is graded
#
# <!-- grading limits -->
