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
# - **You will do** this: catch gradients while backward runs, change them, clip them, see what autograd keeps in memory.
# - **You will learn** what a tensor hook is for, when it runs and what it may return; how a hook differs from
#   `retain_grad` and from editing `.grad`; and the mistakes that people make with hooks.
# - **You need** to know what `requires_grad`, `backward()` and `.grad` are.
# - **Time** about 60 minutes, five exercises, 12 points.
# - **Out of scope** hooks on modules (lesson 03), hooks under `torch.compile`, hooks for gradients of gradients.
#
# <!-- grading limits -->

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter

from course.models import Model, TestNet

# %%
# What only the showing cells use.
import copy

from course.pictures.autograd_graph import draw_autograd_graph
from course.sources import show_source

# %% [markdown]
# ## Why hooks
#
# `backward()` computes the gradient of every tensor on its way. Then it throws most of them away: only *leaves*, the
# tensors that you made yourself and that require a gradient (parameters, some inputs), get their `.grad`.

# %%
x = torch.tensor([1.0, -2.0], requires_grad=True)
h = x * 3
loss = (h**2).sum()
loss.backward()

print("x is a leaf:", x.is_leaf, "  x.grad:", x.grad.tolist())
print("h is a leaf:", h.is_leaf, "  h keeps its gradient:", h.retains_grad)

# %% [markdown]
# But sometimes you want to **look** at a gradient in the middle (where does it vanish? where does it become NaN?), or
# to **change** it (clip it, reverse it, mask a part of it) and let backward go on with the changed one. And you want
# that without touching the code of the model.
#
# A **hook** is a function that you hand over to PyTorch, which then calls it at a fixed moment. A **tensor hook** is
# called with the gradient of its tensor, as soon as this gradient is complete. `tensor.register_hook(function)` hands it over.


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
# You may read that a tensor hook runs *after* backward. The prints say: it runs in the middle of it.
# Here is the graph that backward walked. **Forward goes down, the gradient goes up.** The dot shows where your hook hangs.

# %%
draw_autograd_graph(loss, {"x": x, "h": h, "loss": loss})

# %% [markdown]
# The gradient starts at `loss` and comes up to `h`. Before it goes into the box of `h`, and from there on to `x`,
# it passes the hook. Each box is an operation of the forward pass; `AccumulateGrad` stands for "add it to the `.grad` of this leaf".
#
# - There is no *forward* hook on a tensor: a tensor hook only ever runs in a backward pass.
# - The hook belongs to this one tensor object. The next forward pass makes a new `h`, without a hook. A parameter stays
#   the same object, so a hook on a parameter stays as well.

# %% [markdown]
# ## The argument is not `.grad`
#
# You may read that the hook gets "the gradient in `.grad`". It gets the gradient that **this** backward has just computed.
# `.grad` is written later, and it **accumulates**: it is the sum over all backward passes.
#
# If it is the sum that you want, leaves have a second kind of hook, which runs once `.grad` is written: the *post-accumulate* hook.
# It is called with the tensor, not with a gradient.

# %%
w = torch.tensor([1.0, 2.0], requires_grad=True)
w.register_hook(lambda grad: print("tensor hook: argument", grad.tolist(), "  w.grad now:", w.grad))
w.register_post_accumulate_grad_hook(lambda tensor: print("post-accumulate hook: .grad is", tensor.grad.tolist()))

for number in (1, 2):
    print("backward pass", number)
    (w * 3).sum().backward()

# %% [markdown]
# Now a model that you did not write. It has one parameter, `W`.

# %%
show_source(Model)

# %% [markdown]
# ### Exercise: Catch the gradient of a weight
#
# easy · 5 min · 2 points
#
# Write `tensor_hook(grad)` and register it on `model.W`. Each backward pass must add one entry to the list `answer`:
# the gradient, as a tensor, that this pass has computed for `W`. Watch only: `model.W.grad` must be the same as without your hook.

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
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf
from course.evidence import snapshot
from course.probing import ANYTHING, other_forward, other_than, tensor_hook_count


class CatchesTheGradient(Check):
    """After a backward pass, `answer` holds the gradient of `model.W`, and `model.W.grad` is untouched."""

    poison = ("x1", "x2", "x", "output", "loss", "grad", "W", "w")

    def probe(self, nb, case):
        nb.list("answer").clear()
        model = nb.module("model")
        model.W.grad = None
        x1, x2 = case.tensor("x1", 4, requires_grad=True), case.tensor("x2", 4, requires_grad=True)
        model(x1, x2).backward(case.tensor("upstream", 4))
        return {"answer": nb.list("answer"), "model.W.grad": model.W.grad, "hooks on W": tensor_hook_count(model.W)}

    def gradient(self, case):
        W = torch.tensor([5.0], requires_grad=True)
        output = case.tensor("x1", 4) * case.tensor("x2", 4) * W
        return torch.autograd.grad(output, W, case.tensor("upstream", 4))[0]

    def truth(self, case):
        gradient = self.gradient(case)
        # A list of the gradient's elements is fine: W has only one.
        return {"answer": AnyOf([gradient], list(gradient)), "model.W.grad": gradient, "hooks on W": ANYTHING}

    def mistakes(self, case):
        gradient = self.gradient(case)
        return {
            "reads_grad_early": {"answer": [None]},
            "registered_twice": {"answer": AnyOf([gradient] * 2, [*gradient, *gradient])},
            "python_number": {"answer": [gradient.item()]},
            "changes_gradient": {"model.W.grad": other_than(gradient)},
            "local_name": {"answer": [], "hooks on W": other_than(0)},
        }


check("weight_grad", CatchesTheGradient)


### BEGIN HIDDEN TESTS
class AnotherForward(Check):
    """The hook reads its argument, so it is right for any forward and any value of W."""

    def probe(self, nb, case):
        nb.list("answer").clear()
        model = nb.module("model")
        model.W.grad = None
        before = model.W.detach().clone()
        model.W.data.copy_(case.tensor("W", 1))
        try:
            with other_forward(model, lambda self, x1, x2: x1**2 * x2 * self.W**3):
                x1, x2 = case.tensor("x1", 2, 3, requires_grad=True), case.tensor("x2", 3, requires_grad=True)
                model(x1, x2).backward(case.tensor("upstream", 2, 3))
        finally:
            model.W.data.copy_(before)
        return {"answer": nb.list("answer")}

    def truth(self, case):
        W = case.tensor("W", 1, requires_grad=True)
        output = case.tensor("x1", 2, 3) ** 2 * case.tensor("x2", 3) * W**3
        (gradient,) = torch.autograd.grad(output, W, case.tensor("upstream", 2, 3))
        return {"answer": AnyOf([gradient], list(gradient))}

    blame = {"answer": "formula_not_argument"}


class TwoBackwards(Check):
    """Two backward passes give two entries: each the gradient of its own pass, not the sum in `.grad`."""

    def probe(self, nb, case):
        nb.list("answer").clear()
        model = nb.module("model")
        model.W.grad = None
        found = {}
        for number in ("one pass", "two passes"):
            model(case.tensor(f"x1, {number}", 3), case.tensor("x2", 3)).backward(case.tensor("upstream", 3))
            # Now, because the next pass may change an entry that shares memory with W.grad. That is allowed.
            found[f"answer after {number}"] = snapshot(nb.list("answer"))
        return found

    def gradients(self, case):
        W = torch.tensor([5.0], requires_grad=True)
        x1s = [case.tensor(f"x1, {number}", 3) for number in ("one pass", "two passes")]
        return [torch.autograd.grad(x1 * case.tensor("x2", 3) * W, W, case.tensor("upstream", 3))[0] for x1 in x1s]

    def truth(self, case):
        first, second = self.gradients(case)
        return {
            "answer after one pass": AnyOf([first], [*first]),
            "answer after two passes": AnyOf([ANYTHING, second], [ANYTHING, *second]),
        }

    def mistakes(self, case):
        first, second = self.gradients(case)
        after = "answer after two passes"
        return {
            "accumulated_grad": {after: AnyOf([ANYTHING, first + second], [ANYTHING, *(first + second)])},
            "keeps_last_only": {after: AnyOf([second], [*second])},
            "runs_only_once": {after: AnyOf([first], [*first])},
        }


check("weight_grad", AnotherForward, TwoBackwards)
### END HIDDEN TESTS

# %% [markdown]
# ## What a tensor hook may return
#
# So far the hooks returned nothing, that is None: the gradient goes on as it is. If a hook **returns a tensor, backward goes on
# with that tensor instead**. It must have the same shape and dtype. Anything else raises an error, in the middle of backward:


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
# Because then it is too late for all the tensors further up: their gradients have been computed already, from the old one.
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
# `grad.mul_(10)` writes into the tensor that PyTorch gave you. Are you the only one who holds it? For `b + c` the gradients of `b` and of `c`
# are equal, so autograd saves memory and hands *the same tensor* to both:


# %%
def siblings(hook):
    b = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.tensor([3.0, 4.0], requires_grad=True)
    b.register_hook(hook)
    start = torch.tensor([1.0, 1.0])
    (b + c).backward(start)
    return f"b.grad {b.grad.tolist()}   c.grad {c.grad.tolist()}   start {start.tolist()}"


print("a new tensor:", siblings(lambda grad: grad * 10))
print("in place:    ", siblings(lambda grad: grad.mul_(10)))

# %% [markdown]
# The hook hangs on `b`. Edited in place, it also changed the gradient of `c`, and the tensor that the caller gave to `backward`.
# Whether a sibling sees the edit depends on which of them runs first, so such a mistake can hide for a long time.
# And some gradients cannot be edited at all: `sum()` sends back one number that only looks like many.

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
# easy · 5 min · 2 points
#
# Write `func(grad)`, a tensor hook that doubles the gradient. The check registers it on all kinds of tensors: a loss, a leaf, a
# tensor in the middle, a neighbour in a sum, other shapes and dtypes. Everything further up must follow, everything else must stay as it is.


# %% nbgrader={"grade": false, "grade_id": "double_grad", "locked": false, "schema_version": 3, "solution": true, "task": false}
def func(grad):
    # TODO: make backward go on with twice the gradient.
    ### BEGIN SOLUTION
    return grad * 2
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_double_grad", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf


def gradients_of_a_small_net(case, hook=None, on=""):
    """Forward, a hook on one tensor, backward: the gradients of w, b, y and loss."""
    w, b = case.tensor("w", 5, requires_grad=True), case.tensor("b", 3, requires_grad=True)
    y = case.tensor("x", 3, 5) @ w + b
    loss = (y**3).sum()
    tensors = {"w": w, "b": b, "y": y, "loss": loss}
    y.retain_grad()
    loss.retain_grad()
    if hook is not None:
        tensors[on].register_hook(hook)
    loss.backward(case.tensor("upstream"))
    return {f"{name}.grad": tensor.grad for name, tensor in tensors.items()}


class OnTheLoss(Check):
    """On `loss`, it doubles the gradients of `loss` and of everything that `loss` was computed from."""

    doubled = ("w", "b", "y", "loss")

    def probe(self, nb, case):
        return gradients_of_a_small_net(case, nb.function("func"), on="loss")

    def truth(self, case):
        # Backward is linear in the gradient that comes in: twice the one, twice the others.
        free = gradients_of_a_small_net(case)
        return {name: grad * (2 if name.removesuffix(".grad") in self.doubled else 1) for name, grad in free.items()}

    def mistakes(self, case):
        free = gradients_of_a_small_net(case)
        last = f"{self.doubled[-1]}.grad"
        return {
            "hook_returns_nothing": free,
            "squares_gradient": {last: free[last] ** 2},
            "adds_a_number": {last: AnyOf(free[last] + 1, free[last] + 2)},
            "ignores_argument": {last: torch.full_like(free[last], 2.0)},
        }


class InTheMiddle(OnTheLoss):
    """On `y`, it doubles the gradients of `y`, `w` and `b`. The gradient of `loss`, further down, stays."""

    doubled = ("w", "b", "y")

    def probe(self, nb, case):
        return gradients_of_a_small_net(case, nb.function("func"), on="y")


class OnALeaf(OnTheLoss):
    """On `w`, it doubles the gradient of `w` and no other."""

    doubled = ("w",)

    def probe(self, nb, case):
        return gradients_of_a_small_net(case, nb.function("func"), on="w")


check("double_grad", OnTheLoss, InTheMiddle, OnALeaf)


### BEGIN HIDDEN TESTS
class NeighboursInASum(Check):
    """In `b + c`, a hook on one of the two leaves the gradient of the other alone, and the one given to `backward`."""

    blame = {"hook on b": "edits_in_place", "hook on c": "edits_in_place"}

    def probe(self, nb, case):
        found = {}
        for name in ("b", "c"):
            tensors = {one: case.tensor(one, 2, 3, requires_grad=True) for one in ("b", "c")}
            upstream = case.tensor("upstream", 2, 3)
            tensors[name].register_hook(nb.function("func"))
            (tensors["b"] + tensors["c"]).backward(upstream)
            grads = {f"{one}.grad": tensor.grad for one, tensor in tensors.items()}
            found[f"hook on {name}"] = {**grads, "given to backward": upstream}
        return found

    def truth(self, case):
        upstream = case.tensor("upstream", 2, 3)
        return {
            "hook on b": {"b.grad": 2 * upstream, "c.grad": upstream, "given to backward": upstream},
            "hook on c": {"b.grad": upstream, "c.grad": 2 * upstream, "given to backward": upstream},
        }


class OtherShapesAndDtypes(Check):
    """It works for a tensor of any shape and floating-point dtype."""

    shapes = ((torch.float64, (2, 3, 4)), (torch.float32, ()), (torch.bfloat16, (5, 1)))

    def probe(self, nb, case):
        found = {}
        for dtype, shape in self.shapes:
            x = case.tensor("x", *shape, dtype=dtype, requires_grad=True)
            h = x * 4
            h.register_hook(nb.function("func"))
            h.backward(case.tensor("upstream", *shape, dtype=dtype))
            found[f"x.grad, shape {shape}"] = x.grad
        return found

    def truth(self, case):
        # d(4x)/dx is 4; small integers times a number of few bits are exact in every dtype.
        return {f"x.grad, shape {s}": 8 * case.tensor("upstream", *s, dtype=d) for d, s in self.shapes}


check("double_grad", NeighboursInASum, OtherShapesAndDtypes)
### END HIDDEN TESTS

# %% [markdown]
# ## Looking: `retain_grad` or a hook?
#
# Both show you the gradient of a tensor in the middle. `retain_grad()` keeps it in `.grad`, where it adds up over backward passes,
# for as long as the tensor lives. A hook sees each pass on its own, and decides itself what to keep: the whole tensor, one number, or nothing.

# %%
x = torch.tensor([1.0, -2.0], requires_grad=True)
h = x * 3
h.retain_grad()
h.register_hook(lambda grad: print("the hook sees", grad.tolist(), "  norm", round(grad.norm().item(), 2)))

loss = (h**2).sum()
loss.backward(retain_graph=True)
loss.backward()
print("h.grad is  ", h.grad.tolist())

# %% [markdown]
# You may read that looking by a hook takes no memory. That is true for a hook that prints, or keeps a norm.
# A hook that puts the gradient into a list keeps it alive, just as `retain_grad` does.
#
# One trap when you keep the gradient of a *leaf*: `detach()` copies nothing. Autograd may use the memory of the first gradient
# as `.grad`, and later passes add to it. Keep the gradient itself, or a clone.


# %%
def kept_after_two_passes(keep):
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    kept = []
    w.register_hook(lambda grad: kept.append(keep(grad)))
    for _ in range(2):
        (w * 3).backward(torch.tensor([1.0, 10.0]))
    return [grad.tolist() for grad in kept]


print("the gradient itself:", kept_after_two_passes(lambda grad: grad))
print("grad.detach():      ", kept_after_two_passes(lambda grad: grad.detach()))
print("grad.clone():       ", kept_after_two_passes(lambda grad: grad.clone()))

# %% [markdown]
# ## A tensor that is used twice: one call, with the sum
#
# If two operations use `h`, two gradients come back: 10 from the left, 3 from the right. Autograd adds them up first.
# The hook runs **once** per backward pass, with the sum.

# %%
x = torch.tensor([1.0, -2.0], requires_grad=True)
h = x * 3
h.register_hook(lambda grad: print("called with", grad.tolist()))
left = h * 10
right = h * 3
output = left + right
output.backward(torch.tensor([1.0, 1.0]))

draw_autograd_graph(output, {"x": x, "h": h, "left": left, "right": right, "output": output})

# %% [markdown]
# ## Several hooks on one tensor
#
# They run in the order in which they were registered, and each sees what the one before it returned.
# `retain_grad` sees the final gradient, even if it was asked for first. Hooks on *different* tensors run in the order of backward: last tensor first.

# %%
x = torch.tensor([1.0, -2.0], requires_grad=True)
x.register_hook(lambda grad: print("hook on x:       ", grad.tolist()))
h = x * 3
h.retain_grad()
h.register_hook(lambda grad: print("first hook on h: ", grad.tolist()))
h.register_hook(lambda grad: grad * 10)
h.register_hook(lambda grad: print("third hook on h: ", grad.tolist()))
h.backward(torch.tensor([1.0, 1.0]))
print("h.grad:          ", h.grad.tolist())

# %% [markdown]
# ### Exercise: Watch a gradient in the middle
#
# medium · 8 min · 2 points
#
# Write `watch_gradient(tensor)`. It returns a list at once, still empty. Every later backward pass that reaches `tensor`
# adds one entry to this list: the gradient of `tensor` in that pass. All gradients stay as they are.
# Do it without `retain_grad`: autograd must not keep a gradient in `tensor.grad`. Each call has a list of its own.


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
# Run this cell to check your answer.
import copy

import torch

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.probing import ANYTHING, other_than, tensor_hook_count


class FillsTheList(Check):
    """The list is empty before backward; after it, it holds the gradient of `h`, which keeps no gradient itself."""

    poison = ("x", "h", "y", "grad", "loss", "output")

    def probe(self, nb, case):
        x = case.tensor("x", 3, 4, requires_grad=True)
        h = x * case.tensor("factor", 4)
        seen = nb.function("watch_gradient")(h)
        early = copy.copy(seen)
        (h**2 + h.sin()).backward(case.tensor("upstream", 3, 4))
        return {
            "the list before backward": early,
            "the list": seen,
            "h.retains_grad": h.retains_grad,
            "x.grad": x.grad,
            "hooks on h": tensor_hook_count(h),
        }

    def gradients(self, case):
        x = case.tensor("x", 3, 4, requires_grad=True)
        h = x * case.tensor("factor", 4)
        return torch.autograd.grad(h**2 + h.sin(), (h, x), case.tensor("upstream", 3, 4))

    def truth(self, case):
        of_h, of_x = self.gradients(case)
        return {
            "the list before backward": [],
            "the list": [of_h],
            "h.retains_grad": False,
            "x.grad": of_x,
            "hooks on h": ANYTHING,
        }

    def mistakes(self, case):
        of_h, of_x = self.gradients(case)
        return {
            "uses_retain_grad": {"h.retains_grad": True},
            "returns_no_list": {"the list": Matches(lambda got: "one" if isinstance(got, list) else None, "no list")},
            "asks_too_early": {"the list before backward": [None]},
            "reads_grad_early": {"the list": [None]},
            "changes_gradient": {"x.grad": other_than(of_x)},
            "shared_list": {"the list before backward": other_than([])},
            "splits_gradient": {"the list": list(of_h)},
            "keeps_the_tensor": {"the list": [case.tensor("x", 3, 4) * case.tensor("factor", 4)]},
            "other_list_returned": {"the list": [], "hooks on h": other_than(0)},
        }


check("intermediate_grad", FillsTheList)


### BEGIN HIDDEN TESTS
class TwoBackwards(Check):
    """Two backward passes give two entries, each the gradient of its own pass."""

    def probe(self, nb, case):
        h = case.tensor("x", 3, 4, requires_grad=True) * 2
        seen = nb.function("watch_gradient")(h)
        output = h**3
        output.backward(case.tensor("upstream 1", 3, 4), retain_graph=True)
        output.backward(case.tensor("upstream 2", 3, 4))
        return {"the list": seen, "h.retains_grad": h.retains_grad}

    def gradients(self, case):
        h = case.tensor("x", 3, 4, requires_grad=True) * 2
        return [torch.autograd.grad(h**3, h, case.tensor(f"upstream {number}", 3, 4))[0] for number in (1, 2)]

    def truth(self, case):
        return {"the list": self.gradients(case), "h.retains_grad": False}

    def mistakes(self, case):
        first, second = self.gradients(case)
        return {
            "keeps_last_only": {"the list": [second]},
            "runs_only_once": {"the list": [first]},
            "accumulated_grad": {"the list": AnyOf([first, first + second], [first + second] * 2)},
        }


class TwoTensors(Check):
    """Two halves of one tensor, watched at the same time: each list holds the gradient of its own half."""

    def probe(self, nb, case):
        first, second = (case.tensor("x", 4, 3, requires_grad=True) * 2).chunk(2)
        lists = [nb.function("watch_gradient")(half) for half in (first, second)]
        (first * second.exp()).backward(case.tensor("upstream", 2, 3))
        return {"the first list": lists[0], "the second list": lists[1]}

    def gradients(self, case):
        first, second = (case.tensor("x", 4, 3, requires_grad=True) * 2).chunk(2)
        return torch.autograd.grad(first * second.exp(), (first, second), case.tensor("upstream", 2, 3))

    def truth(self, case):
        of_first, of_second = self.gradients(case)
        return {"the first list": [of_first], "the second list": [of_second]}

    def mistakes(self, case):
        of_first, of_second = self.gradients(case)
        both = AnyOf([of_first, of_second], [of_second, of_first])
        return {
            "shared_list": {"the first list": both, "the second list": both},
            "hooks_the_operation": {"the first list": [of_first], "the second list": [of_first]},
        }


check("intermediate_grad", TwoBackwards, TwoTensors)
### END HIDDEN TESTS

# %% [markdown]
# ## Removing a hook
#
# A parameter lives long, and so does its hook. Run a notebook cell that registers one three times, and the hook runs three times:


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
# `register_hook` returns a **handle**, and `handle.remove()` takes the hook away. Keep the handle, or make the object afresh in the
# same cell, as the exercises of this course do. A handle also works in a `with` statement: then the hook is gone after the block, even after an error.
#
# (`_backward_hooks` is a private attribute, not a method. Good for a look while you debug, not for code that has to last.)

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
# - **By norm:** if the norm of *all* gradients together is too large, all of them are scaled by one factor. That needs all the gradients, so
#   it runs after backward: `nn.utils.clip_grad_norm_`. A hook knows only its own tensor and cannot do it.
#
# **Hooks fail late.** You may find this hook on the web, with a misspelt method and with limits that nobody has defined.
# Registering it works. Only backward finds out:

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
# medium · 8 min · 3 points
#
# Write `grad_clipper(model, floor, cap)`. From then on each backward pass clamps the gradient of every parameter of `model` to the
# range from `floor` to `cap`, **before** it is added to `.grad`. Two passes leave the sum of two clamped gradients. The parameters themselves stay as
# they are, and the function returns the model it was given.


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
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf
from course.models import TestNet
from course.probing import ANYTHING, tensor_hook_count


def limits_of(case, name=""):
    """A floor and a cap: one below, one above zero, never symmetric."""
    floor = -0.1 * case.tensor("floor" + name, positive=True).item()
    return floor, 0.2 + 0.1 * case.tensor("cap" + name, positive=True).item()


def named_gradients(model):
    return {f"{name}.grad": parameter.grad for name, parameter in model.named_parameters()}


def named(returned, model):
    """What a function returned, in words."""
    return "the given model" if returned is model else "None" if returned is None else "another object"


def run_backward(model, case, name="", shape=(1, 3, 8, 8)):
    output = model(2 * case.tensor("x" + name, *shape))
    output.backward(6 * case.tensor("upstream" + name, *output.shape))


class ClipsEveryParameter(Check):
    """After a backward pass each `.grad` is the gradient clamped to [floor, cap]; the model comes back as it was."""

    poison = ("floor", "cap", "net", "w")
    blame = {"what grad_clipper returned": "returns_no_model", "parameters": "changes_parameters"}

    def probe(self, nb, case):
        net = case.build("net", TestNet)
        returned = nb.function("grad_clipper")(net, *limits_of(case))
        run_backward(net, case)
        parameters = {name: parameter.detach() for name, parameter in net.named_parameters()}
        return {
            "what grad_clipper returned": named(returned, net),
            "parameters": parameters,
            "gradients": named_gradients(net),
            "hooks on parameters": sum(tensor_hook_count(parameter) for parameter in net.parameters()),
        }

    def truth(self, case):
        free = case.build("net", TestNet)
        run_backward(free, case)
        clamped = {name: grad.clamp(*limits_of(case)) for name, grad in named_gradients(free).items()}
        return {
            "what grad_clipper returned": "the given model",
            "parameters": dict(free.named_parameters()),
            "gradients": clamped,
            "hooks on parameters": ANYTHING,
        }

    def mistakes(self, case):
        free = case.build("net", TestNet)
        run_backward(free, case)
        raw, (floor, cap) = named_gradients(free), limits_of(case)

        def each(*changes, **fields):
            options = ({name: change(grad) for name, grad in raw.items()} for change in changes)
            return {"what grad_clipper returned": "the given model", "gradients": AnyOf(*options), **fields}

        some = {name: AnyOf(grad, grad.clamp(floor, cap)) for name, grad in raw.items()}
        return {
            "no_hook_on_it": each(lambda grad: grad, **{"hooks on parameters": 0}),
            "hook_returns_nothing": each(lambda grad: grad),
            "not_every_parameter": {"what grad_clipper returned": "the given model", "gradients": some},
            "one_limit_only": each(lambda grad: grad.clamp(min=floor), lambda grad: grad.clamp(max=cap)),
            "symmetric_limits": each(lambda grad: grad.clamp(-cap, cap), lambda grad: grad.clamp(floor, -floor)),
            "limits_swapped": each(lambda grad: grad.clamp(cap, floor)),
            "scales_to_norm": each(lambda grad: grad * min(1.0, cap / grad.norm().item())),
            "zeroes_outside": each(lambda grad: torch.where((grad < floor) | (grad > cap), 0.0, grad)),
        }


check("grad_clipper", ClipsEveryParameter)


### BEGIN HIDDEN TESTS
class Nested(torch.nn.Module):
    """Parameters of its own, and in a container in a container."""

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(6) + 0.5)
        inner = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.LayerNorm(6))
        self.body = torch.nn.Sequential(torch.nn.Linear(5, 6), torch.nn.Tanh(), inner)

    def forward(self, x):
        return self.body(x) * self.scale


class NestedModel(Check):
    """Every parameter: those of nested modules, and those that belong to the model itself."""

    def probe(self, nb, case):
        net = case.build("net", Nested)
        nb.function("grad_clipper")(net, *limits_of(case))
        run_backward(net, case, shape=(4, 5))
        return named_gradients(net)

    def raw(self, case):
        free = case.build("net", Nested)
        run_backward(free, case, shape=(4, 5))
        return named_gradients(free)

    def truth(self, case):
        return {name: grad.clamp(*limits_of(case)) for name, grad in self.raw(case).items()}

    def mistakes(self, case):
        raw, clamped = self.raw(case), self.truth(case)
        return {"not_every_parameter": {name: AnyOf(grad, clamped[name]) for name, grad in raw.items()}}


class TwoBackwards(Check):
    """Two backward passes leave the sum of two clamped gradients."""

    def probe(self, nb, case):
        net = case.build("net", TestNet)
        nb.function("grad_clipper")(net, *limits_of(case))
        run_backward(net, case, "1")
        run_backward(net, case, "2")
        return named_gradients(net)

    def passes(self, case):
        free = case.build("net", TestNet)
        for name in ("1", "2"):
            free.zero_grad()
            run_backward(free, case, name)
            yield named_gradients(free)

    def truth(self, case):
        first, second = self.passes(case)
        return {name: first[name].clamp(*limits_of(case)) + second[name].clamp(*limits_of(case)) for name in first}

    def mistakes(self, case):
        (first, second), (floor, cap) = self.passes(case), limits_of(case)
        total = {name: (first[name].clamp(floor, cap) + second[name]).clamp(floor, cap) for name in first}
        at_once = {name: (first[name] + second[name]).clamp(floor, cap) for name in first}
        once = {name: first[name].clamp(floor, cap) + second[name] for name in first}
        return {
            "clips_accumulated": {name: AnyOf(total[name], at_once[name]) for name in first},
            "runs_only_once": once,
        }


class TwoModels(Check):
    """Two models with limits of their own: each keeps to its own, whichever was set last."""

    def probe(self, nb, case):
        nets = {name: case.build(name, TestNet) for name in ("first", "second")}
        for name, net in nets.items():
            nb.function("grad_clipper")(net, *limits_of(case, name))
        for net in nets.values():
            run_backward(net, case)
        return {f"{name} model": named_gradients(net) for name, net in nets.items()}

    def clamped(self, case, name, limits):
        free = case.build(name, TestNet)
        run_backward(free, case)
        return {key: grad.clamp(*limits) for key, grad in named_gradients(free).items()}

    def truth(self, case):
        return {f"{name} model": self.clamped(case, name, limits_of(case, name)) for name in ("first", "second")}

    def mistakes(self, case):
        return {"limits_shared": {"first model": self.clamped(case, "first", limits_of(case, "second"))}}


check("grad_clipper", NestedModel, TwoBackwards, TwoModels)
### END HIDDEN TESTS

# %% [markdown]
# ## Hooks against `clip_grad_norm_`
#
# Can hooks that clip the *norm* replace `clip_grad_norm_`? Let each hook scale its own gradient down to norm 1, and compare.

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
# `clip_grad_norm_` keeps the direction (cosine 1) and brings the *total* norm to 1. Four hooks, one for each of the four parameters, let through
# a total norm of up to √4 = 2, and they turn the direction. That can be what you want. It is not gradient clipping by norm.

# %% [markdown]
# ## Where to hang a hook: at a leaf, or in the middle
#
# The last exercise works on a small network for images.

# %%
show_source(TestNet)

# %% [markdown]
# One hook hangs on `fc.bias`, and one on `h`, the output of the ReLU. Each multiplies its gradient by 100. Look at the picture before you read on: which gradients
# will change?

# %%
torch.manual_seed(0)
net = TestNet()
h = net.relu(net.conv(torch.rand(1, 3, 8, 8)))
loss = (1 - net.fc(net.flatten(h))).mean()

without_hooks = torch.autograd.grad(loss, list(net.parameters()), retain_graph=True)
handles = [tensor.register_hook(lambda grad: grad * 100) for tensor in (net.fc.bias, h)]
draw_autograd_graph(loss, {**dict(net.named_parameters()), "h": h, "loss": loss})

# %% [markdown]
# `fc.bias` is a leaf: nothing is above it, so only its own `.grad` can change. `h` stands in the middle: everything above it follows, here `conv.weight` and
# `conv.bias`. Nothing below it changes. (A linear layer is not one box, by the way, but `AddmmBackward0` with a
# transpose and views around it. A tensor hook does not care about layers, only about tensors.)

# %%
loss.backward()
for (name, parameter), before in zip(net.named_parameters(), without_hooks):
    print(f"{name:12} {parameter.grad.norm() / before.norm():4.0f} times the gradient without hooks")

# %% [markdown]
# A gradient of zeros is not the same as no gradient. `requires_grad_(False)` leaves `.grad` at None, and an optimizer skips such a parameter.
# With zeros it still takes its step, with its momentum and its weight decay:

# %%
w = Parameter(torch.tensor([1.0, 1.0]))
w.register_hook(lambda grad: grad * torch.tensor([1.0, 0.0]))
optimizer = torch.optim.AdamW([w], lr=0.1, weight_decay=0.1)
(w * 3).sum().backward()
optimizer.step()
print("gradient", w.grad.tolist(), "  weight after one step", [round(value, 3) for value in w.tolist()])

# %% [markdown]
# The second element had gradient 0, and still it moved: weight decay.
#
# ### Exercise: One hook on a leaf, one in the middle
#
# medium · 10 min · 3 points
#
# 1. `freeze_bias(net)`: from then on the gradient of `net.fc.bias` becomes a tensor of zeros in each backward pass. All other gradients, and all
#    parameters, stay as they are. `net` is a `TestNet`, perhaps with an `fc` of another size.
# 2. `clamp_downstream(tensor)`: from then on the gradient that flows back through `tensor` is never negative. Negative elements become 0, the others stay.
#    So everything above `tensor` follows, everything below it stays. `tensor` is any tensor in the middle of a graph, of any shape.
#
# What the two functions return does not matter.


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
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.models import TestNet
from course.probing import ANYTHING, other_than, tensor_hook_count


class FreezesTheBias(Check):
    """The gradient of `fc.bias` is zeros; the other gradients and all parameters are as without the hook."""

    outputs = 5

    def build(self, case):
        net = case.build("net", TestNet)
        net.fc = case.build("fc", torch.nn.Linear, 160, self.outputs)
        return net

    def backward(self, net, case):
        net(case.tensor("x", 1, 3, 8, 8)).backward(case.tensor("upstream", self.outputs))
        gradients = {f"{name}.grad": parameter.grad for name, parameter in net.named_parameters()}
        return {**gradients, "parameters": {name: p.detach() for name, p in net.named_parameters()}}

    def probe(self, nb, case):
        net = self.build(case)
        bias = net.fc.bias
        nb.function("freeze_bias")(net)
        return {**self.backward(net, case), "hooks on fc.bias": tensor_hook_count(bias)}

    def truth(self, case):
        free = self.backward(self.build(case), case)
        return {**free, "fc.bias.grad": torch.zeros(self.outputs), "hooks on fc.bias": ANYTHING}

    def mistakes(self, case):
        free = self.backward(self.build(case), case)
        others = {name: value for name, value in free.items() if name not in ("fc.bias.grad", "parameters")}
        return {
            "no_grad_is_not_zero": {"fc.bias.grad": None},
            "changes_parameters": {"parameters": other_than(free["parameters"])},
            "no_hook_on_it": {**others, "fc.bias.grad": free["fc.bias.grad"], "hooks on fc.bias": 0},
            "hook_returns_nothing": {**others, "fc.bias.grad": free["fc.bias.grad"]},
            "wrong_tensor": {"fc.bias.grad": free["fc.bias.grad"]},
        }

    blame = dict.fromkeys(("conv.weight.grad", "conv.bias.grad", "fc.weight.grad"), "hooks_too_much")


check("bias_and_clamp", FreezesTheBias)


### BEGIN HIDDEN TESTS
class AnotherSize(FreezesTheBias):
    """The same for a `net` whose `fc` has seven outputs."""

    outputs = 7


check("bias_and_clamp", AnotherSize)
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "test_bias_and_clamp_clamp", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.models import TestNet
from course.probing import ANYTHING, other_than, tensor_hook_count


class BehindTheReLU(Check):
    """On the output `h` of the ReLU: `conv` gets what a gradient without negative elements brings, `fc` stays."""

    def forward(self, case):
        net = case.build("net", TestNet)
        h = net.relu(net.conv(case.tensor("x", 1, 3, 8, 8)))
        return net, h, net.fc(net.flatten(h))

    def probe(self, nb, case):
        net = case.build("net", TestNet)
        h = net.relu(net.conv(case.tensor("x", 1, 3, 8, 8)))
        nb.function("clamp_downstream")(h)
        output = net.fc(net.flatten(h))
        output.backward(4 * case.tensor("upstream", 5))
        gradients = {f"{name}.grad": parameter.grad for name, parameter in net.named_parameters()}
        return {"output": output, **gradients, "hooks on h": tensor_hook_count(h)}

    def edited(self, case, change):
        """The gradients where the one of h is changed by hand before it goes on."""
        net, h, output = self.forward(case)
        upstream = 4 * case.tensor("upstream", 5)
        below, above = [net.fc.weight, net.fc.bias], [net.conv.weight, net.conv.bias]
        of_h, *of_fc = torch.autograd.grad(output, [h, *below], upstream, retain_graph=True)
        of_conv = torch.autograd.grad(h, above, change(of_h))
        names = ("conv.weight.grad", "conv.bias.grad", "fc.weight.grad", "fc.bias.grad")
        return {"output": output, **dict(zip(names, [*of_conv, *of_fc], strict=True))}

    def truth(self, case):
        return {**self.edited(case, lambda grad: grad.clamp(min=0)), "hooks on h": ANYTHING}

    def mistakes(self, case):
        nothing = self.edited(case, lambda grad: grad)
        return {
            "changes_the_value": {"output": other_than(nothing["output"])},
            "no_hook_on_it": {**nothing, "hooks on h": 0},
            "hook_without_effect": nothing,
            "makes_it_positive": self.edited(case, torch.abs),
            "wrong_sign": self.edited(case, lambda grad: grad.clamp(max=0)),
            "all_or_nothing": self.edited(case, torch.zeros_like),
            "clamps_both_ends": self.edited(case, lambda grad: grad.clamp(0, 1)),
            "clamps_too_late": {name: value.clamp(min=0) for name, value in nothing.items() if "conv" in name},
        }


check("bias_and_clamp", BehindTheReLU)


### BEGIN HIDDEN TESTS
class AnotherGraph(Check):
    """On a tensor of another shape and operation, used twice: the sum of what flows back is clamped."""

    def forward(self, case):
        x = case.tensor("x", 2, 3, 4, requires_grad=True)
        h = x * case.tensor("factor", 4)
        return x, h

    def backward(self, h, case):
        (h * case.tensor("a", 3, 4) + h**3).backward(case.tensor("upstream", 2, 3, 4))

    def probe(self, nb, case):
        x, h = self.forward(case)
        nb.function("clamp_downstream")(h)
        self.backward(h, case)
        return {"x.grad": x.grad}

    def of_h(self, case):
        h = self.forward(case)[1].detach().requires_grad_()
        self.backward(h, case)
        return h.grad

    def truth(self, case):
        x, h = self.forward(case)
        h.backward(self.of_h(case).clamp(min=0))
        return {"x.grad": x.grad}

    def mistakes(self, case):
        factor = case.tensor("factor", 4)
        return {"clamps_behind_the_operation": {"x.grad": (self.of_h(case) * factor).clamp(min=0)}}


check("bias_and_clamp", AnotherGraph)
### END HIDDEN TESTS

# %% [markdown]
# ## What autograd saves for backward
#
# To compute the gradient of `x.exp()`, backward needs the value of `x.exp()`. So the forward pass **saves** tensors in the graph, and they are often the largest part
# of the memory that training takes. A pair of functions can stand at that door: **pack** runs in forward, when a tensor is saved, and may store something else instead.
# **unpack** runs in backward, when it is needed again, and must give the tensor back.
#
# You may read that packing and unpacking is what tensor hooks are mainly for. It is another kind of hook: not `tensor.register_hook`, but the context manager
# `torch.autograd.graph.saved_tensors_hooks`. It sees *values*, not gradients. Let us count bytes.


# %%
def bytes_saved(function):
    saved = []

    def pack(tensor):
        saved.append(f"{tuple(tensor.shape)} {tensor.nbytes} bytes")
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        function()
    return saved or "nothing"


torch.manual_seed(0)
x = torch.rand(100, requires_grad=True)
print("x + 1      saves", bytes_saved(lambda: x + 1))
print("x.exp()    saves", bytes_saved(lambda: x.exp()))
print("x * 3      saves", bytes_saved(lambda: x * 3))
print("x * x      saves", bytes_saved(lambda: x * x))
print("under no_grad   ", bytes_saved(torch.no_grad()(lambda: x.exp())))

# %% [markdown]
# An addition needs nothing. A product with a number needs nothing of `x` either. `x * x` saves `x` twice: the hook is called for each, though both are the same memory.
#
# What is this good for? For example, save in half precision and pay with a little accuracy:

# %%
with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.half(), lambda packed: packed.float()):
    y = x.exp().sum()
y.backward()
error = (x.grad - x.detach().exp()).abs().max()
print(f"saved with 2 bytes per element, largest error of x.grad: {error:.5f}")

# %% [markdown]
# ## To take to work: who made the NaN?
#
# The loss is a fine number, and still the weights are NaN after the first step. A check of the *forward* values finds nothing, because the NaN is born in
# *backward*. Hooks on a few tensors find it. This tool removes its hooks by itself, and keeps no gradient alive.


# %%
class GradientReport:
    """Note norm and non-finite elements of the gradients of named tensors, within a ``with`` block."""

    def __init__(self, **tensors):
        self.tensors, self.lines, self.handles = tensors, [], []

    def __enter__(self):
        for name, tensor in self.tensors.items():
            self.handles.append(tensor.register_hook(partial(self.note, name)))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()

    def note(self, name, grad):
        bad = int((~grad.isfinite()).sum())
        self.lines.append(f"{name:6} norm {grad.norm().item():8.3f}   not finite: {bad} of {grad.numel()}")


x = torch.tensor([0.0, 1.0, 4.0], requires_grad=True)
root = x.sqrt()
scaled = root * torch.tensor([0.0, 1.0, 1.0])
loss = scaled.sum()

with GradientReport(x=x, root=root, scaled=scaled) as report:
    loss.backward()
print(f"the loss: {loss.item()}", *report.lines, sep="\n")

# %% [markdown]
# Read it from the top, in the order of backward: the gradient of `root` is fine, the gradient of `x` is not. So the culprit is the operation between them: `sqrt` at 0 has an infinite
# slope, and infinity times 0 is NaN.
#
# ## Recap
#
# | you want to | use |
# | --- | --- |
# | look at a gradient in the middle, pass by pass | `tensor.register_hook(function)`, return nothing |
# | have it in `.grad` after backward | `tensor.retain_grad()` |
# | change a gradient, and all that is above it | a hook that returns a **new** tensor of the same shape and dtype |
# | clip the norm of all gradients together | `nn.utils.clip_grad_norm_`, after backward |
# | do something once a leaf's `.grad` is written | `leaf.register_post_accumulate_grad_hook(function)` |
# | change what is saved between forward and backward | `torch.autograd.graph.saved_tensors_hooks(pack, unpack)` |
# | get rid of a hook | `handle.remove()`, or `with tensor.register_hook(...):` |
#
# A hook runs once per backward pass, with the gradient of this pass, the sum over all uses of the tensor. It runs before `.grad` is written.
# Hooks of one tensor run in the order of registration.
#
# **Next:** a tensor in the middle is made anew by each forward pass, and its hook is lost. Modules stay. Lesson 03 hangs hooks on modules.
