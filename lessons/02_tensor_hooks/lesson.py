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
# - **You will do** this: catch gradients while backward runs, change them, clip them, reverse them, put them into
#   order, and count what autograd keeps in memory.
# - **You will learn** what a tensor hook is for, when it runs and what it may return; how a hook differs from
#   `retain_grad` and from editing `.grad`; which of several hooks runs when; and the mistakes that people make with
#   hooks.
# - **You need** to know what `requires_grad`, `backward()` and `.grad` are.
# - **Time** about 155 minutes: twelve exercises for 33 points, and one question in your own words, 2 points. Four parts:
#   watch, change, when, memory. Each is a good place for a pause.
# - **Out of scope** hooks on modules (lesson 03), hooks under `torch.compile`, hooks for gradients of gradients.
# - **Help** After a check that failed, `hint()` in any cell gives the next step of help. `hint("weight_grad")`, with
#   the id of an exercise, helps to begin.
#
# <!-- grading limits -->

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter

from course import hint, progress
from course.models import Model, TestNet

# %%
# What only the showing cells use.
import copy
import weakref

from course.pictures.autograd_graph import draw_autograd_graph
from course.sources import show_source

# %% [markdown]
# # Part 1: watch

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
# You may read that a tensor hook runs *after* backward. The prints say: it runs in the middle of it. Here is the graph
# that backward walked. **Forward goes down, the gradient goes up.** The dot shows where your hook hangs.

# %%
draw_autograd_graph(loss, {"x": x, "h": h, "loss": loss})

# %% [markdown]
# The gradient starts at `loss` and comes up to `h`. Before it goes into the box of `h`, and from there on to `x`, it
# passes the hook. Each box is an operation of the forward pass; `AccumulateGrad` stands for "add it to the `.grad` of
# this leaf".
#
# - There is no *forward* hook on a tensor: a tensor hook only ever runs in a backward pass.
# - The hook belongs to this one tensor object. The next forward pass makes a new `h`, without a hook. A parameter stays
#   the same object, so a hook on a parameter stays as well.

# %% [markdown]
# ## The argument is not `.grad`
#
# You may read that the hook gets "the gradient in `.grad`". It gets the gradient that **this** backward has just
# computed. `.grad` is written later, and it **accumulates**: it is the sum over all backward passes.
#
# If it is the sum that you want, leaves have a second kind of hook, which runs once `.grad` is written: the
# *post-accumulate* hook. It is called with the tensor, not with a gradient.

# %%
w = torch.tensor([1.0, 2.0], requires_grad=True)
w.register_hook(
    lambda grad: print("tensor hook: argument", grad.tolist(), "  w.grad now:", w.grad)
)
w.register_post_accumulate_grad_hook(
    lambda tensor: print("post-accumulate hook: .grad is", tensor.grad.tolist())
)

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
# the gradient, as a tensor, that this pass has computed for `W`. Watch only: `model.W.grad` must be the same as without
# your hook.

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
# You may read that looking by a hook takes no memory. That is true for a hook that prints, or keeps a norm.
# A hook that puts the gradient into a list keeps it alive, just as `retain_grad` does.
#
# One trap when you keep the gradient of a *leaf*: `detach()` copies nothing. Autograd may use the memory of the first
# gradient as `.grad`, and later passes add to it. Keep the gradient itself, or a clone.


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
# ### Exercise: Watch a gradient in the middle
#
# medium · 8 min · 2 points
#
# Write `watch_gradient(tensor)`. It returns a list at once, still empty. Every later backward pass that reaches
# `tensor` adds one entry to this list: the gradient of `tensor` in that pass. All gradients stay as they are. Do it
# without `retain_grad`: autograd must not keep a gradient in `tensor.grad`. Each call has a list of its own.


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
            "h, and its .grad where it has one": h.detach() if h.grad is None else h.detach() + h.grad,
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
            "h, and its .grad where it has one": case.tensor("x", 3, 4) * case.tensor("factor", 4),
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
# ## A tensor that is used twice
#
# Often one tensor goes into several operations: a residual connection, a shared weight, two losses on the same
# features. Then several gradients come back to it. Here `h` goes into `left` and into `right`. The orange dot is a hook
# on `h`.

# %%
w = torch.tensor(2.0, requires_grad=True)
h = w * 3
left = h * 10
right = h**2
loss = left + right

h.register_hook(lambda grad: None)
draw_autograd_graph(loss, {"w": w, "h": h, "left": left, "right": right, "loss": loss})

# %% [markdown]
# With `h = 6`, a gradient of 10 comes back by `left`, and one of 2 · 6 = 12 by `right`. **Stop and predict:** how often
# does one backward pass call the hook on `h`, and with what? Write it down before you run anything. Then let a hook
# tell.
#
# ### Exercise: How often, and with what?
#
# medium · 8 min · 3 points
#
# 1. `predicted`: a list with one number for each call of the hook on `h`, in the order of the calls: what it is called
#    with.
# 2. `log_gradients(tensors)`, to find out. `tensors` is a dict from names to tensors. Put a hook on each tensor, and
#    return a list, at once and still empty. From then on each call of a hook adds one pair to this list, in the form
#    `(name, gradient)`: the name of the hook's tensor, and the gradient as a tensor. Only watch: every gradient, and
#    every `.grad`, is the same as without the hooks.

# %% nbgrader={"grade": false, "grade_id": "fan_out", "locked": false, "schema_version": 3, "solution": true, "task": false}
# TODO: predict before you run this cell. One number for each call of a hook on h.
predicted = []
### BEGIN SOLUTION
predicted = [22.0]
### END SOLUTION


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
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf
from course.probing import undisclosed


class PredictsTheCalls(Check):
    """`predicted` lists, for each call of the hook on `h`, what it is called with."""

    secret = True

    def probe(self, nb, case):
        return {"predicted": nb.predicted}

    def parts(self):
        """The value of h, and what comes back to it by left and by right."""
        h = torch.tensor(2.0) * 3
        h.requires_grad_()
        return [h.item(), *(torch.autograd.grad(use, h)[0].item() for use in (h * 10, h**2))]

    def truth(self, case):
        w = torch.tensor(2.0, requires_grad=True)
        h = w * 3
        (gradient,) = torch.autograd.grad(h * 10 + h**2, h)
        right = AnyOf([gradient.item()], [gradient], [gradient.reshape(1)])
        return {"predicted": undisclosed(right, "a list with one number for each call")}

    def mistakes(self, case):
        value, left, right = self.parts()
        total = left + right
        each = ([left, right], [right, left], [left, total], [right, total], [left, value, value], [value, value, left])
        return {
            "fan_out_no_prediction": {"predicted": []},
            "fan_out_no_list": {"predicted": AnyOf(total, int(total), torch.tensor(total))},
            "fan_out_call_for_each_use": {"predicted": AnyOf(*each)},
            "fan_out_sum_at_each_call": {"predicted": AnyOf([total] * 2, [total] * 3)},
            "fan_out_one_use_counts": {"predicted": AnyOf([left], [right])},
            "fan_out_mean": {"predicted": AnyOf([total / 2], [total / 2] * 2)},
            "fan_out_gradient_of_the_leaf": {
                "predicted": AnyOf([3 * total], [3 * left, 3 * right], [3 * right, 3 * left])
            },
            "fan_out_value": {"predicted": AnyOf([value], [value] * 2)},
        }


check("fan_out", PredictsTheCalls)

# %% nbgrader={"grade": true, "grade_id": "test_fan_out_log", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.probing import ANYTHING, other_than, such_that, tensor_hook_count

NAMES = ("left", "h", "x", "right")


def two_ways(case):
    """x -> h, h -> left and right: these tensors by name, and what they end in."""
    x = case.tensor("x", 2, 3, requires_grad=True)
    h = x * case.tensor("factor", 3)
    left, right = h.sin(), h * h
    return {"left": left, "h": h, "x": x, "right": right}, left + right * case.tensor("weight", 2, 3)


def by_name(log, names):
    """A log of pairs, sorted by name: the order of hooks on different tensors is not asked for."""
    found = {name: [] for name in names}
    rest = []
    for entry in log if isinstance(log, list) else ():
        pair = isinstance(entry, (tuple, list)) and len(entry) == 2 and isinstance(entry[0], str) and entry[0] in found
        if pair:
            found[entry[0]].append(entry[1])
        else:
            rest.append(entry)
    return {"other entries of the list": rest, **{f"gradients logged for {name}": found[name] for name in names}}


class LogsEveryCall(Check):
    """One backward pass logs one pair for each tensor: its name, and the whole gradient that comes back to it."""

    poison = ("x", "w", "h", "left", "right", "loss", "grad", "tensor", "name")

    def probe(self, nb, case):
        tensors, output = two_ways(case)
        log = nb.function("log_gradients")(dict(tensors))
        early = list(log) if isinstance(log, list) else []
        output.backward(case.tensor("upstream", 2, 3))
        return {
            "what log_gradients returned": "a list" if isinstance(log, list) else type(log).__name__,
            "the list before backward": early,
            **by_name(log, NAMES),
            "hooks on the tensors": sum(tensor_hook_count(tensor) for tensor in tensors.values()),
        }

    def gradients(self, case):
        tensors, output = two_ways(case)
        return dict(zip(NAMES, torch.autograd.grad(output, list(tensors.values()), case.tensor("upstream", 2, 3))))

    def truth(self, case):
        logged = {f"gradients logged for {name}": [gradient] for name, gradient in self.gradients(case).items()}
        return {
            "what log_gradients returned": "a list",
            "the list before backward": [],
            "other entries of the list": [],
            **logged,
            "hooks on the tensors": ANYTHING,
        }

    def mistakes(self, case):
        gradients = self.gradients(case)
        field = {name: f"gradients logged for {name}" for name in NAMES}
        others = {field[name]: [] for name in NAMES[:-1]}
        nothing = {
            "the list before backward": [],
            "other entries of the list": [],
            **{key: [] for key in field.values()},
        }
        numbers = {field[name]: [gradient.tolist()] for name, gradient in gradients.items()}
        return {
            "returns_no_list": {"what log_gradients returned": other_than("a list")},
            "shared_list": {"the list before backward": other_than([])},
            "fan_out_loop_variable": {**others, field[NAMES[-1]]: such_that(lambda got: len(got) == len(NAMES))},
            "fan_out_not_pairs": {"other entries of the list": other_than([])},
            "other_list_returned": {**nothing, "hooks on the tensors": other_than(0)},
            "python_number": numbers,
            "reads_grad_early": {field["h"]: [None]},
            "fan_out_divided": {field["h"]: [gradients["h"] / 2]},
            "keeps_the_tensor": {field["h"]: [two_ways(case)[0]["h"]]},
            "changes_gradient": {field["left"]: [gradients["left"]], field["x"]: other_than([gradients["x"]])},
        }

    errors = {
        r"AttributeError: '(str|tuple)' object has no attribute 'register_hook'": "fan_out_names_for_tensors",
        r"TypeError: .*'NoneType' object is not callable": "fan_out_hook_called_at_once",
    }


check("fan_out", LogsEveryCall)


### BEGIN HIDDEN TESTS
class SeveralPasses(Check):
    """Each further pass that reaches a tensor adds one more pair; a pass that does not reach it adds none."""

    def forward(self, case):
        x = case.tensor("x", 3, 2, requires_grad=True)
        h = x.exp()
        aside = x * 2
        return {"h": h, "aside": aside}, (
            (h * h * h + h.sqrt()).sum(),
            (h * case.tensor("weight", 2)).sum() + aside.sum(),
        )

    def probe(self, nb, case):
        tensors, outputs = self.forward(case)
        log = nb.function("log_gradients")(dict(tensors))
        for output in outputs:
            output.backward(case.tensor("upstream"), retain_graph=True)
        return by_name(log, tensors)

    def gradients(self, case):
        tensors, (first, second) = self.forward(case)
        h, aside = tensors["h"], tensors["aside"]
        upstream = case.tensor("upstream")
        of_h = [torch.autograd.grad(output, h, upstream, retain_graph=True)[0] for output in (first, second)]
        return of_h, torch.autograd.grad(second, aside, upstream)[0]

    def truth(self, case):
        of_h, of_aside = self.gradients(case)
        return {
            "other entries of the list": [],
            "gradients logged for h": of_h,
            "gradients logged for aside": [of_aside],
        }

    def mistakes(self, case):
        (first, second), _ = self.gradients(case)
        return {
            "runs_only_once": {"gradients logged for h": [first]},
            "keeps_last_only": {"gradients logged for h": [second]},
            "accumulated_grad": {"gradients logged for h": [first, first + second]},
        }


class OnlyWatches(Check):
    """What ends up in `.grad` is the same as without the hooks."""

    def backward(self, case, log_gradients=None):
        tensors, output = two_ways(case)
        if log_gradients is not None:
            log_gradients(dict(tensors))
        output.backward(case.tensor("upstream", 2, 3))
        return {"x.grad": tensors["x"].grad}

    def probe(self, nb, case):
        return self.backward(case, nb.function("log_gradients"))

    def truth(self, case):
        return self.backward(case)

    blame = {"x.grad": "fan_out_writes_grad"}


check("fan_out", SeveralPasses, OnlyWatches)
### END HIDDEN TESTS

# %% [markdown]
# **Once, with the sum.** Autograd first waits until every use of `h` has sent its gradient back, and adds them up. Only
# then is the gradient of `h` known, and only then the hook runs. It does not matter how many uses there are, or whether
# one operation uses `h` at two places, as `h * h` does. One backward pass, one call.
#
# So how can you see what comes back by `right` alone? Not on `h`. Give `right` a tensor of its own to work on:
# `h.view_as(h)` has the same values, in the same memory, but it is a new tensor in the graph, with one use.

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
# # Part 2: change

# %% [markdown]
# ## What a tensor hook may return
#
# So far the hooks returned nothing, that is None: the gradient goes on as it is. If a hook **returns a tensor, backward
# goes on with that tensor instead**. It must have the same shape and dtype. Anything else raises an error, in the
# middle of backward:


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
# Because then it is too late for all the tensors further up: their gradients have been computed already, from the old
# one. `retain_grad()` in this cell asks autograd to keep the gradient of `h`, which is no leaf.


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
# The hook hangs on `b`. Edited in place, it also changed the gradient of `c`, and the tensor that the caller gave to
# `backward`. Whether a sibling sees the edit depends on which of them runs first, so such a mistake can hide for a long
# time. And some gradients cannot be edited at all: `sum()` sends back one number that only looks like many.

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
# Write `func(grad)`, a tensor hook that doubles the gradient. The check registers it on all kinds of tensors: a loss, a
# leaf, a tensor in the middle, a neighbour in a sum, other shapes and dtypes. Everything further up must follow,
# everything else must stay as it is.


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
            "doubles_again": {last: 4 * free[last]},
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
# ## Where to hang a hook: at a leaf, or in the middle
#
# Hooks that change a gradient have a reach. This small network for images shows how far.

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

# %% [markdown]
# `fc.bias` is a leaf: nothing is above it, so only its own `.grad` can change. `h` stands in the middle: everything
# above it follows, here `conv.weight` and `conv.bias`. Nothing below it changes. (A linear layer is not one box, by the
# way, but `AddmmBackward0` with a transpose and views around it. A tensor hook does not care about layers, only about
# tensors.)

# %%
loss.backward()
for (name, parameter), before in zip(net.named_parameters(), without_hooks):
    print(
        f"{name:12} {parameter.grad.norm() / before.norm():4.0f} times the gradient without hooks"
    )

# %% [markdown]
# A gradient of zeros is not the same as no gradient. `requires_grad_(False)` leaves `.grad` at None, and an optimizer
# skips such a parameter. With zeros it still takes its step, with its momentum and its weight decay:

# %%
w = Parameter(torch.tensor([1.0, 1.0]))
w.register_hook(lambda grad: grad * torch.tensor([1.0, 0.0]))
optimizer = torch.optim.AdamW([w], lr=0.1, weight_decay=0.1)
(w * 3).sum().backward()
optimizer.step()
print(
    "gradient",
    w.grad.tolist(),
    "  weight after one step",
    [round(value, 3) for value in w.tolist()],
)

# %% [markdown]
# The second element had gradient 0, and still it moved: weight decay.
#
# ### Exercise: One hook on a leaf, one in the middle
#
# medium · 10 min · 3 points
#
# 1. `freeze_bias(net)`: from then on the gradient of `net.fc.bias` becomes a tensor of zeros in each backward pass. All
#    other gradients, and all parameters, stay as they are. `net` is a `TestNet`, perhaps with an `fc` of another size.
# 2. `clamp_downstream(tensor)`: from then on the gradient that flows back through `tensor` is never negative. Negative
#    elements become 0, the others stay. So everything above `tensor` follows, everything below it stays. `tensor` is
#    any tensor in the middle of a graph, of any shape.
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

    errors = {r"AttributeError: 'NoneType' object has no attribute 'cl": "reads_grad_early"}


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
# ## One branch only
#
# A hook on `h` changes the sum of all that comes back, so it changes it for every use of `h`. Sometimes just one branch
# is to be changed. The best-known case: a network that learns to recognise digits and must *not* learn which scanner
# they came from. Two heads work on the same features. The second one learns to tell the scanners apart, and its
# gradient, **reversed**, teaches the features to hide that.
#
# ```
#  features h ──┬────────────────────── digit head     its gradient goes back as it is
#               └── reverse_gradient ── scanner head   its gradient goes back with a minus
# ```
#
# This is called a *gradient reversal layer*. Forward it does nothing at all. You have all that it takes: a tensor of
# its own for the branch, as in the last picture of part 1, and a hook that returns another gradient.
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
# medium · 12 min · 3 points
#
# Write `reverse_gradient(tensor)`. It returns a tensor with the same values. What is computed from the returned tensor
# sends its gradient back to `tensor` with the opposite sign. All the rest is as if the function were not there:
#
# - the gradients below, of everything that is computed from the returned tensor;
# - what other uses of `tensor` send back, also where they meet the reversed branch again in a sum;
# - evaluation: under `no_grad`, and for a tensor that needs no gradient, the function just returns the values. Then the
#   result of a tensor that needs no gradient needs none either.


# %% nbgrader={"grade": false, "grade_id": "reverse_gradient", "locked": false, "schema_version": 3, "solution": true, "task": false}
def reverse_gradient(tensor: torch.Tensor) -> torch.Tensor:
    """Return the values of ``tensor``; the gradient that comes back by the returned tensor changes its sign."""
    # TODO: a tensor of its own for this branch, and a hook on it, where one is possible.
    ### BEGIN SOLUTION
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        branch.register_hook(torch.neg)
    return branch
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_reverse_gradient", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf
from course.probing import other_than
from course.traces import gradients_left


class TurnsTheSign(Check):
    """Same values; the gradient of `w`, above, has the opposite sign, that of `v`, below, is as without the function."""

    poison = ("h", "x", "w", "branch", "tensor", "grad")
    errors = {
        r"AttributeError: 'NoneType' object has no attribute": "reads_grad_early",
        r"TypeError: .*NoneType": "returns_nothing",
        r"(AttributeError|TypeError): .*RemovableHandle": "reverse_gradient_handle",
    }

    def forward(self, case, reverse):
        w, v = case.tensor("w", 4, 3, requires_grad=True), case.tensor("v", 3, 2, requires_grad=True)
        h = (case.tensor("x", 5, 4) @ w).tanh()
        branch = reverse(h)
        return w, v, h, branch, (branch**2 @ v).sin()

    def probe(self, nb, case):
        w, v, _, branch, output = self.forward(case, nb.function("reverse_gradient"))
        output.backward(case.tensor("upstream", 5, 2))
        return {"the returned values": branch, "w.grad": w.grad, "v.grad": v.grad}

    def edited(self, case, change):
        """What comes of it where the gradient of the branch is changed by hand before it goes on to h."""
        w, v, h, branch, output = self.forward(case, lambda h: h * 1)
        of_branch, of_v = torch.autograd.grad(output, (branch, v), case.tensor("upstream", 5, 2), retain_graph=True)
        (of_w,) = torch.autograd.grad(h, w, change(of_branch))
        return {"the returned values": branch, "w.grad": of_w, "v.grad": of_v}

    def truth(self, case):
        return self.edited(case, lambda grad: -grad)

    def mistakes(self, case):
        right, free = self.truth(case), self.edited(case, lambda grad: grad)
        others = (torch.zeros_like, torch.abs, lambda grad: -grad.abs(), lambda grad: 1 / grad, lambda grad: -1 / grad)
        others = (*others, lambda grad: -torch.ones_like(grad), lambda grad: -grad.sign(), lambda grad: grad - 1)
        return {
            "changes_the_value": {"the returned values": other_than(free["the returned values"])},
            "reverse_gradient_both": {"w.grad": free["w.grad"], "v.grad": -free["v.grad"]},
            "reverse_gradient_below": {"w.grad": right["w.grad"], "v.grad": -free["v.grad"]},
            "gradient_cut_here": {"w.grad": None},
            "reverse_gradient_same_sign": free,
            "reverse_gradient_not_minus": AnyOf(*({"w.grad": self.edited(case, other)["w.grad"]} for other in others)),
        }


check("reverse_gradient", TurnsTheSign)


### BEGIN HIDDEN TESTS
class OtherUses(Check):
    """What other uses of `h` send back keeps its sign: `w` gets the one minus the other. In each backward pass."""

    def run(self, case, reverse, of_branch=(1, 1), of_h=1):
        """Three passes: from one head, from the other, from their sum. The factors are those of the heads."""
        w = case.tensor("w", 3, requires_grad=True)
        h = w * case.tensor("x", 2, 3)
        branch = reverse(h)
        plain, reversed_ = (h * case.tensor("a", 2, 3)).sin() * of_h, branch**2 * case.tensor("b", 3)
        for output in (plain, reversed_ * of_branch[0], plain + reversed_ * of_branch[1]):
            output.backward(case.tensor("upstream", 2, 3), retain_graph=True)
        return {"w.grad": w.grad}

    def probe(self, nb, case):
        return self.run(case, nb.function("reverse_gradient"))

    def truth(self, case):
        # Backward is linear: a head times -1 sends the opposite gradient.
        return self.run(case, lambda h: h * 1, of_branch=(-1, -1))

    def mistakes(self, case):
        return {
            "reverse_gradient_all_uses": self.run(case, lambda h: h * 1, of_branch=(-1, -1), of_h=-1),
            "runs_only_once": self.run(case, lambda h: h * 1, of_branch=(-1, 1)),
        }


class NeighboursInASum(Check):
    """In `branch + other`, the neighbour's gradient and the one that is given to `backward` stay as they are."""

    blame = {"other.grad": "edits_in_place", "given to backward": "edits_in_place"}

    def probe(self, nb, case):
        found = {}
        for turn in ("first", "second"):
            h, other = (case.tensor(name, 2, 3, requires_grad=True) for name in ("h", "other"))
            upstream = case.tensor("upstream", 2, 3)
            branch = nb.function("reverse_gradient")(h)
            (branch + other if turn == "first" else other + branch).backward(upstream)
            found[turn] = [h.grad, other.grad, upstream]
        return {name: [found[turn][i] for turn in found] for i, name in enumerate(self.names)}

    names = ("h.grad", "other.grad", "given to backward")

    def truth(self, case):
        upstream = case.tensor("upstream", 2, 3)
        return dict(zip(self.names, ([-upstream] * 2, [upstream] * 2, [upstream] * 2)))


class NothingToLearn(Check):
    """Under `no_grad`, and for a tensor that needs no gradient, it returns the values and asks for no gradient."""

    def probe(self, nb, case):
        reverse = nb.function("reverse_gradient")
        h = case.tensor("h", 3, 2, requires_grad=True) * 2
        with torch.no_grad():
            evaluated = reverse(h)
        constant = reverse(case.tensor("picture", 2, 3))
        return {
            "under no_grad": evaluated,
            "a constant": constant,
            "a constant, requires_grad": constant.requires_grad,
            "a constant and its .grad after a backward": self.with_gradient(constant, case),
        }

    def with_gradient(self, constant, case):
        """A backward from the constant and from a weight beside it: a constant that needs no gradient gets none."""
        weight, rows = case.tensor("weight", 2, 3, requires_grad=True), case.tensor("rows", 2, 3)
        (constant * rows + weight).sum().backward()
        return [constant.detach(), gradients_left({"the constant": constant}, case)]

    def truth(self, case):
        return {
            "under no_grad": case.tensor("h", 3, 2) * 2,
            "a constant": case.tensor("picture", 2, 3),
            "a constant, requires_grad": False,
            "a constant and its .grad after a backward": [
                case.tensor("picture", 2, 3),
                gradients_left({"the constant": case.tensor("picture", 2, 3)}, case),
            ],
        }

    errors = {
        r"RuntimeError: cannot register a hook on a tensor that doesn't require": "reverse_gradient_in_evaluation"
    }
    blame = {
        "under no_grad": "reverse_gradient_in_evaluation",
        "a constant": "reverse_gradient_in_evaluation",
        "a constant, requires_grad": "reverse_gradient_in_evaluation",
        "a constant and its .grad after a backward": "reverse_gradient_in_evaluation",
    }


check("reverse_gradient", OtherUses, NeighboursInASum, NothingToLearn)
### END HIDDEN TESTS

# %% [markdown]
# ## Removing a hook
#
# A parameter lives long, and so does its hook. Run a notebook cell that registers one three times, and the hook runs
# three times:


# %%
def triple(grad):
    return grad * 3


layer = nn.Linear(2, 1)
handles = []
for _ in range(3):  # as if you had run one cell three times
    handles.append(layer.weight.register_hook(triple))

layer(torch.ones(1, 2)).backward()
print(
    "three hooks:",
    layer.weight.grad.tolist(),
    "  PyTorch holds",
    len(layer.weight._backward_hooks),
)

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
# (`_backward_hooks` is a private attribute, not a method. Good for a look while you debug, not for code that has to
# last.)

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
# **Hooks fail late.** You may find this hook on the web, with a misspelt method and with limits that nobody has
# defined. Registering it works. Only backward finds out:

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
# Write `grad_clipper(model, floor, cap)`. From then on each backward pass clamps the gradient of every parameter of
# `model` to the range from `floor` to `cap`, **before** it is added to `.grad`. Two passes leave the sum of two clamped
# gradients. The parameters themselves stay as they are, and the function returns the model it was given.


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
    dtype = next(model.parameters()).dtype
    output = model(2 * case.tensor("x" + name, *shape, dtype=dtype))
    output.backward(6 * case.tensor("upstream" + name, *output.shape, dtype=dtype))


class ClipsEveryParameter(Check):
    """After a backward pass each `.grad` is the gradient clamped to [floor, cap]; the model comes back as it was."""

    poison = ("floor", "cap", "net", "w")
    blame = {"what grad_clipper returned": "returns_no_model", "parameters": "changes_parameters"}

    def probe(self, nb, case):
        net = case.build("net", TestNet)
        returned = nb.function("grad_clipper")(net, *limits_of(case))
        run_backward(net, case)
        parameters = {name: parameter.detach().clone() for name, parameter in net.named_parameters()}
        return {
            "what grad_clipper returned": named(returned, net),
            "parameters": parameters,
            "gradients": named_gradients(net),
            "hooks on parameters": sum(tensor_hook_count(parameter) for parameter in net.parameters()),
            "output of what came back, after a change of the model": self.changed(net, returned, case),
        }

    def changed(self, net, returned, case):
        """What the returned object computes once the weights of the given model are others: only the model knows."""
        with torch.no_grad():
            for name, parameter in net.named_parameters():
                parameter.add_(case.tensor(f"change of {name}", *parameter.shape))
        return returned(case.tensor("another x", 1, 3, 8, 8)) if callable(returned) else None

    def truth(self, case):
        free, changed = case.build("net", TestNet), case.build("net", TestNet)
        run_backward(free, case)
        clamped = {name: grad.clamp(*limits_of(case)) for name, grad in named_gradients(free).items()}
        return {
            "what grad_clipper returned": "the given model",
            "parameters": dict(free.named_parameters()),
            "gradients": clamped,
            "hooks on parameters": ANYTHING,
            "output of what came back, after a change of the model": self.changed(changed, changed, case),
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
            "clips_what_flows": {"gradients": self.clipped_between_the_layers(case)},
        }

    def clipped_between_the_layers(self, case):
        """The gradients where what flows from layer to layer is clamped, and the parameters' own gradients are not."""
        free = case.build("net", TestNet)
        h = free.relu(free.conv(2 * case.tensor("x", 1, 3, 8, 8)))
        h.register_hook(lambda grad: grad.clamp(*limits_of(case)))
        output = free.fc(free.flatten(h))
        output.backward(6 * case.tensor("upstream", *output.shape))
        return named_gradients(free)


check("grad_clipper", ClipsEveryParameter)


### BEGIN HIDDEN TESTS
class Nested(torch.nn.Module):
    """Parameters of its own, and in a container in a container."""

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(6) + 0.5)
        inner = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.LayerNorm(6))
        self.body = torch.nn.Sequential(torch.nn.Linear(5, 6), torch.nn.Tanh(), inner)
        # A LayerNorm may divide by little: in float32, sums in another order would differ visibly.
        self.double()

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
# four parameters, let through a total norm of up to √4 = 2, and they turn the direction. That can be what you want. It
# is not gradient clipping by norm.

# %% [markdown]
# ## A hook that waits for several gradients
#
# So can no hook ever see the total norm? One can: a hook that waits until the gradients of *several* tensors are there.
# `torch.autograd.graph.register_multi_grad_hook(tensors, function)` takes a list of tensors. Backward then calls
# `function` once, with one list: the gradients of the tensors, in their order. Those that this pass does not reach come
# as None, and nobody waits for them.

# %%
torch.manual_seed(0)
a, b, c, d = (torch.rand(2, requires_grad=True) for _ in range(4))


def tell_all(grads):
    print(
        "called with",
        [
            None if grad is None else [round(value, 2) for value in grad.tolist()]
            for grad in grads
        ],
    )


handle = torch.autograd.graph.register_multi_grad_hook([a, b, c, d], tell_all)
print("a pass that does not reach d")
(a * b + b * c).sum().backward()
print("a pass that reaches only d")
(d * 5).sum().backward()
handle.remove()

# %% [markdown]
# It can only look: each gradient has gone on before the last one came, so nothing is done with what the function
# returns. And it gets the gradients of **this pass**. `.grad` is no help here. While the function runs, some parameters
# have theirs already, the last one has not:

# %%
layer = nn.Linear(2, 1)
parameters = list(layer.parameters())
torch.autograd.graph.register_multi_grad_hook(
    parameters,
    lambda grads: print("while it runs:", [parameter.grad for parameter in parameters]),
)
layer(torch.ones(1, 2)).backward()
print("after backward:", [parameter.grad for parameter in parameters])

# %% [markdown]
# ### Exercise: Watch the total norm
#
# medium · 10 min · 3 points
#
# Write `watch_norm(model)`. It returns a list at once, still empty. Each later backward pass that reaches parameters of
# `model` adds one number to it: the norm of all gradients of this pass together, as if they were one long vector. This
# is what `clip_grad_norm_` calls the total norm. A Python number and a tensor without dimensions are both fine.
# Parameters that a pass does not reach count for nothing. All gradients stay as they are.


# %% nbgrader={"grade": false, "grade_id": "multi_grad", "locked": false, "schema_version": 3, "solution": true, "task": false}
def watch_norm(model: nn.Module) -> list:
    """Return an empty list that gets the total norm of the gradients of ``model`` at each backward pass."""
    norms = []
    # TODO: one hook that waits for the gradients of all parameters.
    ### BEGIN SOLUTION

    def add_norm(grads):
        squares = [(grad**2).sum() for grad in grads if grad is not None]
        norms.append(sum(squares) ** 0.5)

    torch.autograd.graph.register_multi_grad_hook(list(model.parameters()), add_norm)
    ### END SOLUTION
    return norms


net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
norms = watch_norm(net)
for batch in torch.randn(3, 8, 4):
    net(batch).mean().backward()
print("norms:", norms)

# %% nbgrader={"grade": true, "grade_id": "test_multi_grad", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf, Close
from course.probing import such_that


def small_net(case):
    return case.build("net", lambda: torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2)))


def run_pass(net, case, name=""):
    net(case.tensor(f"x{name}", 5, 4)).backward(3 * case.tensor(f"upstream{name}", 5, 2))


def gradients_of(net):
    return [parameter.grad for parameter in net.parameters() if parameter.grad is not None]


def total_norm(gradients):
    return torch.cat([gradient.flatten() for gradient in gradients]).norm()


def number(value):
    """A tensor without dimensions, or a Python number: both are fine."""
    return AnyOf(*(Close(one, rtol=1e-5) for one in (value.detach(), value.detach().double(), value.item())))


class OneNumberForAPass(Check):
    """One backward pass adds one number to the list: the norm of all gradients together."""

    poison = ("net", "batch", "model", "grads", "parameters", "layer", "a", "b", "c", "d")

    def probe(self, nb, case):
        net = small_net(case)
        norms = nb.function("watch_norm")(net)
        early = list(norms) if isinstance(norms, list) else type(norms).__name__
        run_pass(net, case)
        return {"the list before backward": early, "the list": norms}

    def gradients(self, case):
        net = small_net(case)
        run_pass(net, case)
        return gradients_of(net)

    def truth(self, case):
        return {"the list before backward": [], "the list": [number(total_norm(self.gradients(case)))]}

    def mistakes(self, case):
        gradients = self.gradients(case)
        total, norms = total_norm(gradients), [gradient.norm() for gradient in gradients]
        without_one = [total_norm(gradients[:i] + gradients[i + 1 :]) for i in range(len(gradients))]
        largest = max(gradient.abs().max() for gradient in gradients)
        count = len(gradients)

        def one_of(*values):
            return {"the list": AnyOf(*([number(value)] for value in values))}

        return {
            "shared_list": {"the list before backward": such_that(lambda got: isinstance(got, list) and len(got) > 0)},
            "returns_no_list": {"the list before backward": such_that(lambda got: isinstance(got, str))},
            "norm_watch_hook_for_each": {"the list": such_that(lambda got: len(got) == count)},
            "norm_watch_sum_of_norms": one_of(sum(norms), sum(norms) / count),
            "norm_watch_no_root": one_of(total**2),
            "norm_watch_reads_grad": one_of(*without_one),
            "norm_watch_one_parameter": one_of(*norms),
            "norm_watch_other_norm": one_of(largest, sum(gradient.abs().sum() for gradient in gradients)),
            "norm_watch_not_one_number": {
                "the list": such_that(lambda got: len(got) == 1 and isinstance(got[0], list))
            },
            "norm_watch_gradients_kept": {"the list": [AnyOf(*gradients)]},
        }

    errors = {
        r"TypeError: object of type 'generator' has no len": "norm_watch_generator",
        r"AttributeError: '(list|tuple)' object has no attribute": "norm_watch_gets_a_list",
        r"(AttributeError: 'NoneType' object|TypeError: .*NoneType)": "norm_watch_reads_grad",
        r"RuntimeError: stack expects each tensor to be equal size": "norm_watch_not_one_number",
        r"TypeError: .*\(\) (takes|missing) ": "norm_watch_gets_a_list",
    }


check("multi_grad", OneNumberForAPass)


### BEGIN HIDDEN TESTS
class TwoPasses(Check):
    """Two backward passes add two numbers, each from the gradients of its own pass."""

    def probe(self, nb, case):
        net = small_net(case)
        norms = nb.function("watch_norm")(net)
        for name in ("1", "2"):
            run_pass(net, case, name)
        return {"the list": norms}

    def passes(self, case):
        for name in ("1", "2"):
            net = small_net(case)
            run_pass(net, case, name)
            yield gradients_of(net)

    def truth(self, case):
        return {"the list": [number(total_norm(gradients)) for gradients in self.passes(case)]}

    def mistakes(self, case):
        first, second = self.passes(case)
        one, two = total_norm(first), total_norm(second)
        grown = [total_norm([a + b for a, b in zip(first, second)]), (one**2 + two**2).sqrt(), one + two]
        return {
            "runs_only_once": {"the list": [number(one)]},
            "keeps_last_only": {"the list": [number(two)]},
            "norm_watch_adds_up": {"the list": AnyOf(*([number(one), number(value)] for value in grown))},
        }


class TwoHeads(torch.nn.Module):
    """A body and two heads; a pass uses one of the heads."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 2)
        self.body = torch.nn.Linear(4, 3)
        self.second = torch.nn.Linear(3, 2)

    def forward(self, x, head):
        return getattr(self, head)(self.body(x).tanh())


class OneHeadAtATime(Check):
    """Parameters that a pass does not reach count for nothing, and nobody waits for them."""

    def net_after(self, case, head, watch=lambda net: None):
        """A fresh net after a pass through one head, and what watch made of the net before."""
        net = case.build("net", TwoHeads)
        watched = watch(net)
        net(case.tensor("x", 5, 4), head).backward(case.tensor("upstream", 5, 2))
        return net, watched

    def probe(self, nb, case):
        watch = nb.function("watch_norm")
        return {f"the list, {head} head used": self.net_after(case, head, watch)[1] for head in ("first", "second")}

    def truth(self, case):
        nets = {head: self.net_after(case, head)[0] for head in ("first", "second")}
        return {f"the list, {head} head used": [number(total_norm(gradients_of(net)))] for head, net in nets.items()}

    def mistakes(self, case):
        return {"norm_watch_waits_for_all": {"the list, first head used": []}}

    errors = {r"(TypeError|AttributeError): .*NoneType": "norm_watch_none"}


class OnlyWatches(Check):
    """Every `.grad` is the same as without the hook."""

    def probe(self, nb, case):
        net = small_net(case)
        nb.function("watch_norm")(net)
        run_pass(net, case)
        return {f"{name}.grad": parameter.grad for name, parameter in net.named_parameters()}

    def truth(self, case):
        free = small_net(case)
        run_pass(free, case)
        return {f"{name}.grad": parameter.grad for name, parameter in free.named_parameters()}

    blame = {f"{name}.grad": "changes_gradient" for name in ("0.weight", "0.bias", "2.weight", "2.bias")}


check("multi_grad", TwoPasses, OneHeadAtATime, OnlyWatches)
### END HIDDEN TESTS

# %% [markdown]
# # Part 3: when

# %% [markdown]
# ## Once `.grad` is written
#
# A tensor hook comes before the addition to `.grad`, the post-accumulate hook right after it. So that is the place for
# all that is to be done with a finished `.grad` *at once*, and not when backward is over: move it elsewhere, take an
# optimizer step with it, free its memory.
#
# It is called with the leaf itself, not with a gradient, and it has nothing to return. Whatever it does to `.grad`
# stays done:


# %%
def after(tensor):
    print("called with", tensor.tolist(), "  its .grad is", tensor.grad.tolist())
    tensor.grad = None


w = torch.tensor([1.0, 2.0], requires_grad=True)
w.register_post_accumulate_grad_hook(after)
(w * 3).sum().backward()
print("after backward, w.grad is", w.grad)

# %% [markdown]
# Here is a job for it. Large models are often trained in bfloat16: half the memory, and only about three decimal
# digits. That is enough for *one* gradient. But `.grad` is a sum over many small batches, in bfloat16 as well:

# %%
w = torch.zeros(1, dtype=torch.bfloat16, requires_grad=True)
for _ in range(1000):
    (w * 1).backward(torch.ones(1, dtype=torch.bfloat16))
print("1000 passes, each with a gradient of 1. w.grad is", w.grad.item())

# %% [markdown]
# After 256 the next number that bfloat16 knows is 258. 256 + 1 is rounded to 256, for ever. The cure, which large
# training programs use: add up in float32, and let `.grad` hold one pass at most.
#
# ### Exercise: Add up gradients in float32
#
# medium · 10 min · 3 points
#
# Write `accumulate_in_float32(model)`. It returns a dict with a float32 tensor for each parameter that requires a
# gradient: its name as the key, the parameter's shape, zeros at first. From then on each backward pass adds the
# gradients of this pass to these tensors. After backward `.grad` is None for all these parameters, so that nothing adds
# up in bfloat16. Frozen parameters (`requires_grad` is False) are left out, and left alone.


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
print(
    "300 passes, each with gradients of 1:",
    sums,
    "  .grad:",
    [parameter.grad for parameter in layer.parameters()],
)

# %% nbgrader={"grade": true, "grade_id": "test_post_accumulate", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf
from course.probing import ANYTHING, other_than, such_that
from course.traces import gradients_left, parameters_of


def half_size_net(case, name="net"):
    """Three layers with weights of one shape, in bfloat16, one of them in a container of its own."""

    def build():
        first, second, third = (torch.nn.Linear(3, 3, bias=False) for _ in range(3))
        return torch.nn.Sequential(first, torch.nn.Sequential(torch.nn.Tanh(), second), third)

    return case.build(name, build).to(torch.bfloat16)


def run_pass(net, case, name=""):
    x = case.tensor(f"x{name}", 4, 3).to(torch.bfloat16)
    net(x).backward(case.tensor(f"upstream{name}", 4, 3).to(torch.bfloat16))


def no_gradients_left(net, case):
    """Every `.grad` is None, as `gradients_left` tells it."""
    net.zero_grad()
    return gradients_left(dict(net.named_parameters()), case)


def take_gradients(net):
    """The gradients of one pass in float32; the net keeps none."""
    taken = {name: parameter.grad.float() for name, parameter in net.named_parameters() if parameter.grad is not None}
    net.zero_grad()
    return taken


class AddsUpOnePass(Check):
    """The sums are zeros first; after one pass they hold its gradients in float32, and no parameter has a `.grad`."""

    poison = ("layer", "w", "grad", "parameter")

    def probe(self, nb, case):
        net = half_size_net(case)
        sums = nb.function("accumulate_in_float32")(net)
        early = {name: value.clone() for name, value in sums.items()} if isinstance(sums, dict) else sums
        run_pass(net, case)
        return {
            "the sums before backward": early,
            "the sums": sums,
            ".grad after backward": {name: parameter.grad for name, parameter in net.named_parameters()},
            "post-accumulate hooks": sum(len(p._post_accumulate_grad_hooks or ()) for p in net.parameters()),
            "what .grad holds in the end": gradients_left(parameters_of(net), case),
        }

    def gradients(self, case):
        free = half_size_net(case)
        run_pass(free, case)
        return take_gradients(free)

    def truth(self, case):
        gradients = self.gradients(case)
        return {
            "the sums before backward": {name: torch.zeros(3, 3) for name in gradients},
            "the sums": gradients,
            ".grad after backward": dict.fromkeys(gradients),
            "post-accumulate hooks": ANYTHING,
            "what .grad holds in the end": no_gradients_left(half_size_net(case), case),
        }

    def mistakes(self, case):
        gradients = self.gradients(case)
        zeros = {name: torch.zeros(3, 3) for name in gradients}
        half = {name: gradient.to(torch.bfloat16) for name, gradient in gradients.items()}
        values = {name: parameter.float() for name, parameter in half_size_net(case).named_parameters()}
        last = list(gradients)[-1]
        one_for_all = [{**zeros, name: sum(gradients.values())} for name in (last, next(iter(gradients)))]
        kept = AnyOf(half, {name: AnyOf(half[name], None) for name in half})
        return {
            "float32_sums_shared": {"the sums before backward": such_that(lambda got: len(got) > len(gradients))},
            "returns_nothing": {"the sums before backward": None},
            "float32_sums_in_bfloat16": {"the sums before backward": {n: torch.zeros_like(g) for n, g in half.items()}},
            "float32_sums_zero_is_not_none": {
                "the sums": gradients,
                ".grad after backward": {name: torch.zeros_like(gradient) for name, gradient in half.items()},
            },
            "fan_out_loop_variable": {"the sums": AnyOf(*one_for_all)},
            "float32_sums_adds_the_parameter": {"the sums": values},
            "float32_sums_no_hook": {"the sums": zeros, "post-accumulate hooks": 0, ".grad after backward": half},
            "float32_sums_other_tensor": {"the sums": zeros, "post-accumulate hooks": other_than(0)},
            "float32_sums_keeps_grad": {"the sums": gradients, ".grad after backward": kept},
        }

    errors = {
        r"AttributeError: 'NoneType' object": "reads_grad_early",
        r"TypeError: .*NoneType": "reads_grad_early",
        r"RuntimeError: hook .* has changed the type of value": "float32_sums_other_tensor",
    }


check("post_accumulate", AddsUpOnePass)


### BEGIN HIDDEN TESTS
class TwoPasses(Check):
    """A second pass is added to the first, in float32, and leaves no `.grad` either."""

    def probe(self, nb, case):
        net = half_size_net(case)
        sums = nb.function("accumulate_in_float32")(net)
        for name in ("1", "2"):
            run_pass(net, case, name)
        return {"the sums": sums, ".grad after backward": {n: p.grad for n, p in net.named_parameters()}}

    def passes(self, case):
        free = half_size_net(case)
        for name in ("1", "2"):
            run_pass(free, case, name)
            yield take_gradients(free)

    def truth(self, case):
        first, second = self.passes(case)
        return {
            "the sums": {name: first[name] + second[name] for name in first},
            ".grad after backward": dict.fromkeys(first),
        }

    def mistakes(self, case):
        first, second = self.passes(case)
        rounded = {name: (first[name] + second[name]).to(torch.bfloat16).float() for name in first}
        return {
            "keeps_last_only": {"the sums": second},
            "runs_only_once": {"the sums": first},
            "float32_sums_rounded": {"the sums": rounded},
            "float32_sums_counts_twice": {"the sums": {name: 2 * first[name] + second[name] for name in first}},
        }


class FrozenParameters(Check):
    """A frozen parameter is left out of the dict; all the others, of any shape, have their sum."""

    def build(self, case):
        net = case.build(
            "net", lambda: torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.GELU(), torch.nn.Linear(3, 2))
        )
        net[0].requires_grad_(False)
        net[2].bias.requires_grad_(False)
        net[0].bias.requires_grad_(True)
        return net

    def backward(self, net, case):
        net(case.tensor("x", 5, 4)).backward(case.tensor("upstream", 5, 2))

    def probe(self, nb, case):
        net = self.build(case)
        sums = nb.function("accumulate_in_float32")(net)
        self.backward(net, case)
        return {"the sums": sums, "requires_grad": {n: p.requires_grad for n, p in net.named_parameters()}}

    def truth(self, case):
        free = self.build(case)
        self.backward(free, case)
        return {
            "the sums": take_gradients(free),
            "requires_grad": {n: p.requires_grad for n, p in free.named_parameters()},
        }

    errors = {r"RuntimeError: cannot register a hook on a tensor that doesn't": "float32_sums_frozen"}
    blame = {"the sums": "float32_sums_frozen", "requires_grad": "float32_sums_frozen"}


check("post_accumulate", TwoPasses, FrozenParameters)
### END HIDDEN TESTS

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
# Now all that you have met so far, in one backward pass: two hooks on `h`, `retain_grad()` on `h`, a tensor hook and a
# post-accumulate hook on the leaf `w`. They are registered in another order than the one in which they will run.

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
# ### Exercise: Which hook runs when?
#
# hard · 12 min · 3 points
#
# `log_order(w, h)` does five things, **in this order**, and returns a list, at once and still empty:
#
# 1. a post-accumulate hook on `w`, called `"w.grad"`;
# 2. a tensor hook on `w`, called `"w"`;
# 3. `h.retain_grad()`;
# 4. a tensor hook on `h`, called `"first"`, which returns ten times the gradient;
# 5. one more tensor hook on `h`, called `"second"`.
#
# `retain_grad` calls no function of yours. But each hook can look whether there is something in `h.grad` *yet*. So each
# hook, when it runs, adds a pair to the list: its name, and whether `h.grad` is there (`True` or `False`). The
# gradients change only as said in 4.
#
# **Predict first**, for the picture above and one backward pass from `loss`: `predicted`, the four pairs that the list
# will hold, and `predicted_h_grad`, the number in `h.grad` afterwards (without any hook it would be 2 · 6 = 12).

# %% nbgrader={"grade": false, "grade_id": "firing_order", "locked": false, "schema_version": 3, "solution": true, "task": false}
# TODO: predict before you run this cell: four pairs such as ("w", True), in the order of the calls, and a number.
predicted = []
predicted_h_grad = None
### BEGIN SOLUTION
predicted = [("first", False), ("second", False), ("w", True), ("w.grad", True)]
predicted_h_grad = 120.0
### END SOLUTION


def log_order(w: torch.Tensor, h: torch.Tensor) -> list:
    """Return an empty list; each call of one of the four hooks adds (name, whether ``h.grad`` is there)."""
    log = []
    # TODO: the five steps, in the order of the statement.
    ### BEGIN SOLUTION

    def note(name, argument):
        log.append((name, h.grad is not None))

    def first(grad):
        note("first", grad)
        return 10 * grad

    w.register_post_accumulate_grad_hook(partial(note, "w.grad"))
    w.register_hook(partial(note, "w"))
    h.retain_grad()
    h.register_hook(first)
    h.register_hook(partial(note, "second"))
    ### END SOLUTION
    return log


w = torch.tensor(2.0, requires_grad=True)
h = w * 3
log = log_order(w, h)
(h**2).backward()
print("predicted:", predicted, "  h.grad:", predicted_h_grad)
print("logged:   ", log, "  h.grad:", h.grad if h.retains_grad else None)

# %% nbgrader={"grade": true, "grade_id": "test_firing_order_prediction", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf
from course.probing import such_that, undisclosed


def what_the_engine_does():
    """The log of the five steps, as autograd's engine makes it, and the h.grad that it leaves."""
    w = torch.tensor(2.0, requires_grad=True)
    h, log = w * 3, []

    def noting(name, factor=None):
        def hook(argument):
            log.append([name, h.grad is not None])
            return None if factor is None else argument * factor

        return hook

    w.register_post_accumulate_grad_hook(noting("w.grad"))
    w.register_hook(noting("w"))
    h.retain_grad()
    h.register_hook(noting("first", 10))
    h.register_hook(noting("second"))
    (h**2).backward()
    return log, h.grad.item()


def names_in(got):
    return [pair[0] if isinstance(pair, list) else pair for pair in got]


def in_this_order(*names):
    """In `mistakes`: a prediction with the names in this order, whatever it says about h.grad."""
    return such_that(lambda got: names_in(got) == list(names))


class PredictsTheOrder(Check):
    """`predicted` lists the four pairs in the order of the calls."""

    secret = True

    def probe(self, nb, case):
        return {"predicted": nb.predicted}

    def truth(self, case):
        log, _ = what_the_engine_does()
        return {"predicted": undisclosed(log, "four pairs of a name and True or False")}

    def mistakes(self, case):
        log, _ = what_the_engine_does()
        names = [name for name, _ in log]
        of_w, of_h = names[2:], names[:2]
        return {
            "firing_order_no_prediction": {"predicted": []},
            "firing_order_no_pairs": {
                "predicted": such_that(
                    lambda got: not all(len(pair) == 2 and isinstance(pair[1], bool) for pair in got)
                )
            },
            "firing_order_as_registered": {"predicted": in_this_order(*of_w[::-1], *of_h)},
            "firing_order_last_first": {
                "predicted": AnyOf(*(in_this_order(*of_h[::-1], *leaf) for leaf in (of_w, of_w[::-1])))
            },
            "firing_order_forward": {"predicted": such_that(lambda got: names_in(got)[0] in of_w)},
            "firing_order_sum_before_hook": {"predicted": in_this_order(*of_h, *of_w[::-1])},
            "firing_order_retained_early": {
                "predicted": such_that(lambda got: names_in(got) == names and (got[0][1] or got[1][1]))
            },
            "firing_order_retained_late": {"predicted": such_that(lambda got: names_in(got) == names)},
        }


class PredictsTheGradient(Check):
    """`predicted_h_grad` is the number in `h.grad` after backward."""

    secret = True

    def probe(self, nb, case):
        return {"predicted_h_grad": nb.predicted_h_grad}

    def truth(self, case):
        _, grad = what_the_engine_does()
        return {"predicted_h_grad": undisclosed(AnyOf(grad, torch.tensor(grad)), "a number")}

    def mistakes(self, case):
        _, grad = what_the_engine_does()
        h = torch.tensor(6.0, requires_grad=True)
        (raw,) = torch.autograd.grad(h**2, h)
        return {
            "firing_order_no_prediction": {"predicted_h_grad": None},
            "firing_order_retained_early": {"predicted_h_grad": AnyOf(raw.item(), raw)},
            "firing_order_gradient_of_w": {"predicted_h_grad": AnyOf(3 * grad, torch.tensor(3 * grad), 3 * raw.item())},
            "firing_order_ten_times_twice": {"predicted_h_grad": AnyOf(10 * grad, 11 * raw.item(), 20 * raw.item())},
        }


check("firing_order", PredictsTheOrder, PredictsTheGradient)

# %% nbgrader={"grade": true, "grade_id": "test_firing_order_log", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.probing import ANYTHING, other_than, such_that, tensor_hook_count


def five_steps(w, h):
    """The five steps of the statement on any two tensors; autograd's engine makes the log."""
    log = []

    def noting(name, factor=None):
        def hook(argument):
            log.append([name, h.grad is not None])
            return None if factor is None else argument * factor

        return hook

    w.register_post_accumulate_grad_hook(noting("w.grad"))
    w.register_hook(noting("w"))
    h.retain_grad()
    h.register_hook(noting("first", 10))
    h.register_hook(noting("second"))
    return log


class LogsOnePass(Check):
    """One pass: each hook runs at its moment and tells what it sees; `first` makes the gradient ten times as large."""

    poison = ("w", "h", "loss", "grad", "x", "tensor")

    def run(self, case, log_order):
        w = case.tensor("w", 2, 3, requires_grad=True)
        h = w * case.tensor("factor", 3)
        log = log_order(w, h)
        early = list(log) if isinstance(log, list) else type(log).__name__
        (h**2).backward(case.tensor("upstream", 2, 3))
        found = {"the list before backward": early, "the list": log, "h.grad": h.grad, "w.grad": w.grad}
        return found, tensor_hook_count(w) + tensor_hook_count(h)

    def probe(self, nb, case):
        found, count = self.run(case, nb.function("log_order"))
        return {**found, "hooks on w and h": count}

    def truth(self, case):
        found, _ = self.run(case, five_steps)
        return {**found, "hooks on w and h": ANYTHING}

    def mistakes(self, case):
        right, _ = self.run(case, five_steps)
        log, grad = right["the list"], right["h.grad"]
        names = [name for name, _ in log]

        def such_names(*order, test=lambda got: True):
            return {"the list": such_that(lambda got: [pair[0] for pair in got] == list(order) and test(got))}

        return {
            "firing_order_no_hooks": {
                "the list before backward": other_than([]),
                "the list": such_that(lambda got: len(got) > 0),
                "hooks on w and h": such_that(lambda got: got < len(log)),
            },
            "shared_list": {"the list before backward": such_that(lambda got: isinstance(got, list) and len(got) > 0)},
            "returns_no_list": {"the list before backward": such_that(lambda got: isinstance(got, str))},
            "other_list_returned": {"the list": [], "hooks on w and h": other_than(0)},
            "firing_order_not_retained": {"the list": [[name, False] for name in names], "h.grad": None},
            "firing_order_keeps_it_itself": such_names(*names, test=lambda got: got[0][1] is True),
            "fan_out_loop_variable": {
                "the list": such_that(lambda got: len(got) > 1 and len({pair[0] for pair in got}) == 1)
            },
            "firing_order_other_registration": such_names(names[1], names[0], *names[2:]),
            "firing_order_second_tensor_hook": such_names(*names[:2], names[3], names[2]),
            "firing_order_not_ten_times": {"h.grad": grad / 10},
            "firing_order_flag_frozen": such_names(*names, test=lambda got: len({pair[1] for pair in got}) == 1),
            "firing_order_missing_hook": {"the list": such_that(lambda got: 0 < len(got) < len(log))},
            "firing_order_gradient_for_flag": such_names(*names, test=lambda got: not isinstance(got[0][1], bool)),
        }

    blame = {"h.grad": "firing_order_not_ten_times", "w.grad": "firing_order_not_ten_times"}


check("firing_order", LogsOnePass)


### BEGIN HIDDEN TESTS
class SecondPass(Check):
    """In further passes each hook runs again, and finds the `h.grad` that earlier ones left, unless it was emptied."""

    def run(self, case, log_order):
        w = case.tensor("w", 3, requires_grad=True)
        h = w * 2
        log, output = log_order(w, h), h.sin()
        # How many passes follow, and before which of them h.grad is emptied, no answer can know.
        for number in range(case.integer("passes", 2, 9)):
            if number > 1 and case.integer(f"emptied {number}", 0, 1):
                h.grad = None
            output.backward(case.tensor(f"upstream {number}", 3), retain_graph=True)
        return {"the list": log, "h.grad": h.grad}

    def probe(self, nb, case):
        return self.run(case, nb.function("log_order"))

    def truth(self, case):
        return self.run(case, five_steps)

    def mistakes(self, case):
        log = self.run(case, five_steps)["the list"]
        once = log[: log.index(["w.grad", True]) + 1]
        passes = len(log) // len(once)
        return {"firing_order_flag_typed_in": {"the list": once * passes}, "runs_only_once": {"the list": once}}


class PassThatMissesH(Check):
    """In passes that reach `w` but not `h`, only the two hooks on `w` run."""

    def run(self, case, log_order):
        w = case.tensor("w", 2, requires_grad=True)
        h = w * 2
        log = log_order(w, h)
        for _ in range(case.integer("passes", 1, 9)):
            (w * case.tensor("factor", 2)).sum().backward()
        return {"the list": log}

    def probe(self, nb, case):
        return self.run(case, nb.function("log_order"))

    def truth(self, case):
        return self.run(case, five_steps)

    blame = {"the list": "firing_order_hung_on_h"}


class OneMoreHook(Check):
    """Further tensor hooks on `w` still run before the post-accumulate hook; the tensor given to `backward` stays."""

    def run(self, case, log_order):
        w, upstream = case.tensor("w", 2, requires_grad=True), case.tensor("upstream", 2)
        h = w * 2
        log = log_order(w, h)
        for name in case.words("further hooks", case.integer("how many", 1, 5)):
            w.register_hook(lambda grad, name=name: log.append((name, h.grad is not None)))
        (h + case.tensor("other", 2)).backward(upstream)
        return {"the list": log, "given to backward": upstream}

    def probe(self, nb, case):
        return self.run(case, nb.function("log_order"))

    def truth(self, case):
        return self.run(case, five_steps)

    blame = {"the list": "firing_order_second_tensor_hook", "given to backward": "edits_in_place"}


check("firing_order", SecondPass, PassThatMissesH, OneMoreHook)
### END HIDDEN TESTS

# %% [markdown]
# Here is the way of a gradient, from the bottom of the picture to the top. For each tensor, the last one first:
#
# 1. The gradients of all its uses are added up. One sum, so one call of each hook.
# 2. Its tensor hooks run, in the order of registration. Each gets what the one before it has returned.
# 3. In the middle, `retain_grad` keeps what is left after **all** hooks, however early it was asked for. At a leaf,
#    the gradient is added to `.grad`, and then the post-accumulate hooks run, however early they were registered.
# 4. The gradient goes into the operation that made the tensor, and on to the tensors above.
#
# So the order of registration counts only among hooks of one kind on one tensor. For all the rest it is the graph that
# decides.

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
# So there are two gradients now: one of the value before, one of the value after. A hook belongs to **the value that
# the tensor held when the hook was registered**. A later in-place operation does not take it along.
#
# ### Exercise: Before and after
#
# medium · 6 min · 2 points
#
# Write `watch_around(tensor, change)`. `change` is a function that changes its argument in place, such as
# `torch.relu_`. Call it once, on `tensor`; what it returns does not matter. Return two lists, `before` and `after`,
# both still empty. Each later backward pass adds one gradient to each list: to `before` the gradient of the value that
# `tensor` held before the change, to `after` that of the value it holds now. All gradients stay as they are.


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
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf
from course.probing import ANYTHING, other_than, such_that


class BothValues(Check):
    """After one pass `before` holds the gradient of the old value of `h`, `after` that of the new one."""

    poison = ("x", "h", "before", "after", "tensor", "change", "grad")
    errors = {
        r"(TypeError|ValueError): .*(NoneType|not enough|too many|non-iterable|to unpack)": "in_place_watch_two_lists",
    }

    def start(self, case):
        x = case.tensor("x", 3, 4, requires_grad=True)
        return x, x * case.tensor("factor", 4)

    def output(self, h, case):
        return h**3 * case.tensor("weight", 3, 1)

    def probe(self, nb, case):
        x, h = self.start(case)
        before, after = nb.function("watch_around")(h, torch.cos_)
        early = [list(one) if isinstance(one, list) else type(one).__name__ for one in (before, after)]
        value = h.detach().clone()
        self.output(h, case).backward(case.tensor("upstream", 3, 4))
        return {
            "h after the change": value,
            "the two lists before backward": early,
            "before": before,
            "after": after,
            "x.grad": x.grad,
        }

    def values(self, case):
        _, old = self.start(case)
        new = old.cos()
        return old, new, torch.autograd.grad(self.output(new, case), (old, new), case.tensor("upstream", 3, 4))

    def truth(self, case):
        _, new, (of_old, of_new) = self.values(case)
        return {
            "h after the change": new,
            "the two lists before backward": [[], []],
            "before": [of_old],
            "after": [of_new],
            "x.grad": of_old * case.tensor("factor", 4),
        }

    def mistakes(self, case):
        old, new, (of_old, of_new) = self.values(case)
        return {
            "in_place_watch_not_changed": {"h after the change": old},
            "in_place_watch_changed_twice": {"h after the change": new.cos()},
            "in_place_watch_own_change": {"h after the change": other_than(new)},
            "in_place_watch_two_lists": {
                "the two lists before backward": such_that(lambda got: any(isinstance(one, str) for one in got))
            },
            "asks_too_early": {"the two lists before backward": such_that(lambda got: got != [[], []])},
            "in_place_watch_hidden_change": {
                "before": [of_new],
                "after": [of_new],
                "x.grad": of_new * case.tensor("factor", 4),
            },
            "in_place_watch_hooks_after": {"before": [of_new], "after": [of_new]},
            "in_place_watch_hooks_before": {"before": [of_old], "after": [of_old]},
            "in_place_watch_swapped": {"before": [of_new], "after": [of_old]},
            "in_place_watch_one_list": {"before": AnyOf([of_old, of_new], [of_new, of_old])},
            "keeps_the_tensor": {"after": AnyOf([new], [old])},
            "in_place_watch_copy": AnyOf({"before": [], "after": [of_new]}, {"before": [of_old], "after": []}),
            "reads_grad_early": AnyOf({"before": [None]}, {"after": [None]}),
            "changes_gradient": {"x.grad": other_than(of_old * case.tensor("factor", 4))},
        }


check("after_in_place", BothValues)


### BEGIN HIDDEN TESTS
class TwoPasses(BothValues):
    """Each further backward pass adds one more gradient to each list."""

    def probe(self, nb, case):
        _, h = self.start(case)
        before, after = nb.function("watch_around")(h, torch.Tensor.tanh_)
        output = self.output(h, case)
        for number in (1, 2):
            output.backward(case.tensor(f"upstream {number}", 3, 4), retain_graph=True)
        return {"before": before, "after": after}

    def truth(self, case):
        _, old = self.start(case)
        new = old.tanh()
        output, found = self.output(new, case), []
        for number in (1, 2):
            found.append(
                torch.autograd.grad(output, (old, new), case.tensor(f"upstream {number}", 3, 4), retain_graph=True)
            )
        return {"before": [of_old for of_old, _ in found], "after": [of_new for _, of_new in found]}

    def mistakes(self, case):
        right = self.truth(case)
        first, last = ({name: [grads[number]] for name, grads in right.items()} for number in (0, 1))
        return {
            "runs_only_once": AnyOf(first, {"before": first["before"]}, {"after": first["after"]}),
            "keeps_last_only": AnyOf(last, {"before": last["before"]}, {"after": last["after"]}),
        }


class ChangeReturnsNothing(BothValues):
    """It works for a `change` of another kind, which returns None: what counts is the tensor."""

    def probe(self, nb, case):
        x, h = self.start(case)
        factor = case.tensor("another factor", 3, 1)

        def scale(tensor):
            tensor.mul_(factor)

        before, after = nb.function("watch_around")(h, scale)
        self.output(h, case).backward(case.tensor("upstream", 3, 4))
        return {"before": before, "after": after, "x.grad": x.grad}

    def truth(self, case):
        _, old = self.start(case)
        new = old * case.tensor("another factor", 3, 1)
        of_old, of_new = torch.autograd.grad(self.output(new, case), (old, new), case.tensor("upstream", 3, 4))
        return {"before": [of_old], "after": [of_new], "x.grad": of_old * case.tensor("factor", 4)}

    def mistakes(self, case):
        return {}

    errors = {r"(AttributeError|TypeError): .*NoneType": "in_place_watch_return_value"}
    blame = {"before": "in_place_watch_return_value", "after": "in_place_watch_return_value"}


check("after_in_place", TwoPasses, ChangeReturnsNothing)
### END HIDDEN TESTS

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
# # Part 4: memory

# %% [markdown]
# ## What autograd saves for backward
#
# To compute the gradient of `x.exp()`, backward needs the value of `x.exp()`. So the forward pass **saves** tensors in
# the graph, and they are often the largest part of the memory that training takes. A pair of functions can stand at
# that door: **pack** runs in forward, when a tensor is saved, and may store something else instead. **unpack** runs in
# backward, when it is needed again, and must give the tensor back.
#
# You may read that packing and unpacking is what tensor hooks are mainly for. It is another kind of hook: not
# `tensor.register_hook`, but the context manager `torch.autograd.graph.saved_tensors_hooks`. It sees *values*, not
# gradients. What is saved?


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
print("x + 1      saves", what_is_saved(lambda: x + 1))
print("x.exp()    saves", what_is_saved(lambda: x.exp()))
print("x * 3      saves", what_is_saved(lambda: x * 3))
print("x * x      saves", what_is_saved(lambda: x * x))
print("under no_grad   ", what_is_saved(torch.no_grad()(lambda: x.exp())))

# %% [markdown]
# An addition needs nothing. A product with a number needs nothing of `x` either. `x * x` saves `x` twice: the hook is
# called for each.
#
# What is this good for? For example, save in half precision and pay with a little accuracy:

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
    print(
        f"{name:14}  the same object: {tensor is weight!s:5}  the same storage: {same!s:5}",
        end="  ",
    )
    print(f"bytes of the tensor {tensor.nbytes}, of the storage {storage.nbytes()}")

# %% [markdown]
# A linear layer saves a transposed view of its weight, for example. That costs nothing: the weight is in memory anyway.
#
# And one trap. A tensor holds its graph. The graph holds what pack has returned, and it holds pack itself, with all the
# variables that pack uses. If the tensor is among these, the two hold each other, and **nobody ever frees the memory**.
# That is why pack returns `tensor.detach()`, a tensor without a graph:


# %%
def returns_detached():
    return lambda tensor: tensor.detach()


def returns_the_tensor():
    return lambda tensor: tensor


def fills_a_list():
    saved = []  # a local list, but the function below goes on using it
    return lambda tensor: saved.append(tensor) or tensor.detach()


for make_pack in (returns_detached, returns_the_tensor, fills_a_list):
    x = torch.rand(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(make_pack(), lambda packed: packed):
        y = x.exp()
    reference = weakref.ref(y)  # tells whether y is in memory, and does not keep it there
    del y
    print(f"{make_pack.__name__:20} freed after use: {reference() is None}")

# %% [markdown]
# ### Exercise: Count what is saved
#
# hard · 14 min · 4 points
#
# Write `saved_bytes(model, x)`. It runs `model(x)` once, and returns the output, from which backward works as usual,
# and the number of bytes that autograd has saved in this forward pass:
#
# - each storage counts once, with all its bytes, however many tensors or slices of it are saved;
# - the storages of the model's parameters do not count, the storage of `x` counts like any other;
# - when the caller has let go of the output, nothing of what was saved stays in memory (1 of the 4 points).


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
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.probing import such_that


def saved_in(output):
    """All tensors that the graph behind ``output`` has saved, as each operation lists them."""
    nodes, seen, saved = [output.grad_fn], set(), []
    while nodes:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        names = [name for name in dir(node) if name.startswith("_saved_")]
        values = [getattr(node, name) for name in names]
        saved += [value for value in values if isinstance(value, torch.Tensor)]
        nodes += [following for following, _ in node.next_functions]
    return saved


def count(tensors, leave_out=()):
    """The bytes of their storages, each once."""
    outside = {tensor.untyped_storage().data_ptr() for tensor in leave_out}
    storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in tensors}
    return sum(size for address, size in storages.items() if address not in outside)


class CountsTheBytes(Check):
    """A network of two linear layers: output and gradients as always, each saved storage once, no parameters."""

    errors = {
        r"TypeError: Output of saved tensor unpack_hook expected to be a Tensor": "saved_bytes_unpack",
        r"TypeError: saved_tensors_hooks.__init__\(\) missing": "saved_bytes_two_functions",
        r"TypeError: _push_saved_tensors_default_hooks": "saved_bytes_two_functions",
        r"(TypeError|ValueError): .*(NoneType|not enough|too many|non-iterable|to unpack)": "saved_bytes_two_results",
        r"RuntimeError: (expected m1 and m2|mat1 and mat2|.*same dtype)": "saved_bytes_unpack",
    }

    def build(self, case):
        first, second, last = case.shape("sizes", 3, 4, 9)

        def layers():
            two = torch.nn.Linear(first, second), torch.nn.Linear(second, last)
            return torch.nn.Sequential(two[0], torch.nn.Sigmoid(), two[1], torch.nn.Tanh())

        return case.build("net", layers), case.tensor("x", case.integer("batch", 10, 13), first)

    def results(self, net, output, number, case):
        if output.requires_grad:
            output.backward(case.tensor("upstream", *output.shape))
        gradients = {f"{name}.grad": parameter.grad for name, parameter in net.named_parameters()}
        return {"the output": output, "bytes": number, **gradients}

    def probe(self, nb, case):
        net, x = self.build(case)
        calls, traces = [], [case.integer("before it runs", 1, 10**6)]
        net[0].register_forward_pre_hook(lambda module, args: calls.append(1))
        net[0].register_forward_pre_hook(lambda module, args: traces.append(self.traced(traces[-1], case)))
        output, number = nb.function("saved_bytes")(net, x)
        count, trace = len(calls), traces[-1]
        _, again = nb.function("saved_bytes")(net, x)
        found = self.results(net, output, number, case)
        both = {"bytes in each of two runs": [number, again]}
        return {"runs of the model": count, **found, **both, "the trace of its runs": trace}

    def traced(self, number, case):
        """What one run more makes of the number that the runs before it have left."""
        return (31 * number + case.integer("step", 1, 10**6)) % 999_983

    def truth(self, case):
        net, x = self.build(case)
        output = net(x)
        number = count(saved_in(output), net.parameters())
        found = self.results(net, output, number, case)
        trace = self.traced(case.integer("before it runs", 1, 10**6), case)
        return {
            "runs of the model": 1,
            **found,
            "bytes in each of two runs": [number, number],
            "the trace of its runs": trace,
        }

    def mistakes(self, case):
        net, x = self.build(case)
        output = net(x)
        saved, parameters = saved_in(output), list(net.parameters())
        own = {parameter.untyped_storage().data_ptr() for parameter in parameters}
        others = [tensor for tensor in saved if tensor.untyped_storage().data_ptr() not in own]
        outputs, value = [], x
        for layer in net:
            value = layer(value)
            outputs.append(value)
        return {
            "saved_bytes_runs_twice": {"runs of the model": such_that(lambda got: got != 1)},
            "saved_bytes_no_text": {"bytes": such_that(lambda got: not isinstance(got, int))},
            "saved_bytes_of_earlier_calls": {"bytes in each of two runs": such_that(lambda got: got[0] != got[1])},
            "saved_bytes_nothing": {"bytes": 0},
            "saved_bytes_each_time": {"bytes": sum(tensor.nbytes for tensor in others)},
            "saved_bytes_parameters": {"bytes": count(saved)},
            "saved_bytes_everything": {"bytes": sum(tensor.nbytes for tensor in saved)},
            "saved_bytes_elements": {"bytes": count(others) // 4},
            "saved_bytes_all_outputs": {"bytes": sum(tensor.nbytes for tensor in outputs)},
            "saved_bytes_without_x": {"bytes": count(others, [x])},
            "saved_bytes_minus_parameters": {"bytes": count(saved) - sum(p.nbytes for p in parameters)},
        }


check("saved_tensors", CountsTheBytes)


### BEGIN HIDDEN TESTS
class Gate(torch.nn.Module):
    """A third of what a linear layer computes is multiplied by another third, and the last third is added."""

    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 6)

    def forward(self, x):
        value, gate, rest = self.linear(x).chunk(3, dim=-1)
        return value * gate + rest


class SlicesOfOneStorage(Check):
    """Two slices of one tensor are saved: their storage counts once, with all its bytes."""

    def run(self, case, saved_bytes):
        width = case.integer("width", 4, 19)
        net = case.build("net", Gate, width)
        return net, saved_bytes(net, case.tensor("x", case.integer("batch", 3, 19), width))

    def probe(self, nb, case):
        return {"bytes": self.run(case, nb.function("saved_bytes"))[1][1]}

    def truth(self, case):
        net, output = self.run(case, lambda net, x: net(x))
        return {"bytes": count(saved_in(output), net.parameters())}

    def mistakes(self, case):
        net, output = self.run(case, lambda net, x: net(x))
        saved = saved_in(output)
        slices = [tensor for tensor in saved if tensor.nbytes != tensor.untyped_storage().nbytes()]
        others, one = count(saved, net.parameters()) - count(slices), slices[0].nbytes
        return {
            "saved_bytes_of_the_slice": {"bytes": others + one},
            "saved_bytes_address_of_the_slice": {
                "bytes": such_that(lambda got: got in (others + 2 * one, others + 2 * count(slices)))
            },
        }


class DoublePrecision(Check):
    """In float64 an element takes eight bytes."""

    def run(self, case, saved_bytes):
        net = case.build("net", lambda: torch.nn.Sequential(torch.nn.Linear(5, 3), torch.nn.Softplus()))
        return net, saved_bytes(net.double(), case.tensor("x", case.integer("batch", 4, 99), 5, dtype=torch.float64))

    def probe(self, nb, case):
        return {"bytes": self.run(case, nb.function("saved_bytes"))[1][1]}

    def truth(self, case):
        net, output = self.run(case, lambda net, x: net(x))
        return {"bytes": count(saved_in(output), net.parameters())}

    def mistakes(self, case):
        return {"saved_bytes_four_an_element": {"bytes": self.truth(case)["bytes"] // 2}}


check("saved_tensors", SlicesOfOneStorage, DoublePrecision)
### END HIDDEN TESTS

# %% nbgrader={"grade": true, "grade_id": "test_saved_tensors_freed", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from course.checking import Check, check
from course.storages import Storages, storages_left


class FreesTheMemory(Check):
    """When the output is gone, so is what the layers in between have computed."""

    def build(self, case):
        def layers():
            linear = [torch.nn.Linear(4, 3), torch.nn.Linear(3, 3), torch.nn.Linear(3, 2)]
            return torch.nn.Sequential(linear[0], torch.nn.Sigmoid(), linear[1], torch.nn.Tanh(), linear[2])

        return case.build("net", layers), case.tensor("x", 5, 4)

    def probe(self, nb, case):
        (net, x), storages, watched = self.build(case), [], Storages(case)
        for place in ("1", "3"):
            # A weak reference tells whether the memory is still there, and does not keep it there.
            net.get_submodule(place).register_forward_hook(
                lambda module, args, output: storages.append(StorageWeakRef(output.untyped_storage()))
            )
            net.get_submodule(place).register_forward_hook(
                lambda module, args, output, place=place: watched.watch(output, place)
            )
        results = nb.function("saved_bytes")(net, x)
        number = results[1]
        del results
        return {
            "bytes": number,
            "layers that ran": len(storages),
            "storages still in memory": sum(not storage.expired() for storage in storages),
            "the trace of memory that is freed": watched.left("at the end"),
        }

    def truth(self, case):
        # A linear layer saves its input (and its weight), Sigmoid and Tanh save their output: the next one's input.
        net, x = self.build(case)
        number = x.nbytes + net[:2](x).nbytes + net[:4](x).nbytes
        freed = storages_left(case, "at the end", freed=["1", "3"])
        return {
            "bytes": number,
            "layers that ran": 2,
            "storages still in memory": 0,
            "the trace of memory that is freed": freed,
        }

    blame = {"storages still in memory": "saved_bytes_leak", "layers that ran": "saved_bytes_runs_twice"}


check("saved_tensors", FreesTheMemory)

# %% [markdown]
# ## To take to work: who made the NaN?
#
# The loss is a fine number, and still the weights are NaN after the first step. A check of the *forward* values finds
# nothing, because the NaN is born in *backward*. Hooks on a few tensors find it. This tool removes its hooks by itself,
# and keeps no gradient alive.


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
        self.lines.append(
            f"{name:6} norm {grad.norm().item():8.3f}   not finite: {bad} of {grad.numel()}"
        )


x = torch.tensor([0.0, 1.0, 4.0], requires_grad=True)
root = x.sqrt()
scaled = root * torch.tensor([0.0, 1.0, 1.0])
loss = scaled.sum()

with GradientReport(x=x, root=root, scaled=scaled) as report:
    loss.backward()
print(f"the loss: {loss.item()}", *report.lines, sep="\n")

# %% [markdown]
# Read it from the top, in the order of backward: the gradient of `root` is fine, the gradient of `x` is not. So the
# culprit is the operation between them: `sqrt` at 0 has an infinite slope, and infinity times 0 is NaN.

# %% [markdown]
# ### In your own words: The wrong half of the network stands still
#
# 5 min · 2 points
#
# A network is `features`, then `h`, then `head`, then the loss. A colleague wants to stop `head` from learning for a while.
# He hangs a hook on `h`, the input of `head`, that returns a tensor of zeros: "Then no gradient gets into the head any more."
# He trains with plain SGD and finds the opposite: `head` learns as before, and `features` stands still.
#
# Explain to him what happened, so that he can predict it next time: in which order are the gradients computed, what did his
# hook change, and what was done already when it ran? Where would a hook have to be to do what he wanted?
#
# Where this notebook is handed in, a person reads your answer. No check looks at it, and `progress()` does not count it.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_reach", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# Backward runs from the loss to the front. The gradients of the parameters of `head` are computed from the gradient of its
# **output**, by the same operation that computes the gradient of `h`; the hook on `h` runs after that. What a hook returns
# goes on only to what comes later in backward, so to everything that `h` was computed from: `features` gets zeros. To stop
# `head` he needs a hook that returns zeros on each parameter of `head` (or `requires_grad_(False)` on them). A hook on the
# output of `head` would stop `head`, and `features` as well.
#
# ### BEGIN MARK SCHEME
# - 2 points: the direction (backward goes from the loss to the front, so a hook reaches what was computed *before* the tensor
#   in forward), **and** that the gradients of `head` were there already or do not depend on the gradient of `h`. A place that works.
# - 1 point: only the direction, or only a place that works with a reason.
# - Common wrong explanations, 0 points for that part: the hook changes the *value* of `h`; the hook ran too late because it was
#   registered too late; `head` got zeros, but the optimizer's momentum moved it (it is plain SGD); the gradient "flows through
#   `h` into `head`".
# ### END MARK SCHEME
# ### END SOLUTION

# %% [markdown]
# ## Recap
#
# | you want to | use |
# | --- | --- |
# | look at a gradient in the middle, pass by pass | `tensor.register_hook(function)`, return nothing |
# | have it in `.grad` after backward | `tensor.retain_grad()` |
# | change a gradient, and all that is above it | a hook that returns a **new** tensor of the same shape and dtype |
# | watch or change what comes back by one use only | a tensor of its own for it, `h.view_as(h)`, and a hook there |
# | see the gradients of several tensors together | `torch.autograd.graph.register_multi_grad_hook(tensors, function)` |
# | clip the norm of all gradients together | `nn.utils.clip_grad_norm_`, after backward |
# | do something once a leaf's `.grad` is written | `leaf.register_post_accumulate_grad_hook(function)` |
# | change what is saved between forward and backward | `torch.autograd.graph.saved_tensors_hooks(pack, unpack)` |
# | get rid of a hook | `handle.remove()`, or `with tensor.register_hook(...):` |
#
# A hook runs once per backward pass, with the gradient of this pass, the sum over all uses of the tensor. It runs
# before `.grad` is written. Hooks of one tensor run in the order of registration. A hook belongs to the value that the
# tensor held when it was registered.
#
# **Next:** a tensor in the middle is made anew by each forward pass, and its hook is lost. Modules stay. Lesson 03
# hangs hooks on modules.

# %%
progress()
