# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Hooks on modules
#
# - **You will do** this: collect what goes into a module and what comes out, change it on the way, do the same with
#   gradients, and find out what is wrong with a hook that many old tutorials still use.
# - **You will learn** which hook gets what, what it may return, in which order hooks fire in nested modules, how to
#   take them off again, and where they fail.
# - **You need** lesson 01 (what a module is made of) and lesson 02 (hooks on tensors).
# - **Time** about 75 minutes, five exercises, 12 points.
# - **Out of scope** the hooks for all modules at once (`register_module_forward_hook` and its sisters),
#   `torch.compile`, and feature extraction from big models, which is lesson 05.
#
# <!-- grading limits -->

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import contextlib
import warnings
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter

from course.models import Add, Model
from course.sources import show_source

# %% [markdown]
# ## Why hook a module
#
# Somebody else wrote a network, and you want to know what flows through it. You could copy its source and add prints.
# A *module hook* does it from outside: it is a function that you register on a module, and that PyTorch calls each
# time the module runs. The module's source stays as it is.

# %%
net = nn.Sequential(nn.Linear(8, 4), nn.Tanh(), nn.Linear(4, 2))


def print_shapes(module, args, output):
    print(f"{type(module).__name__:7} {tuple(args[0].shape)} -> {tuple(output.shape)}")


handles = [layer.register_forward_hook(print_shapes) for layer in net]
result = net(torch.ones(3, 8))
for handle in handles:
    handle.remove()  # the network is as before

# %% [markdown]
# Hooks run because you *call* the module. `module(x)` runs the forward pre-hooks, then `forward`, then the forward
# hooks. `module.forward(x)` goes straight to the method and skips all of them: always write `module(x)`.

# %%
linear, calls = nn.Linear(3, 2), []
linear.register_forward_hook(lambda module, args, output: calls.append("the hook ran"))
linear(torch.ones(3))
print("after linear(x):        ", calls)
linear.forward(torch.ones(3))
print("after linear.forward(x):", calls)

# %% [markdown]
# ## Which hook gets what
#
# Four kinds of hooks go around a module. PyTorch calls them, so it decides what they get:
#
# | register with | runs | the hook gets | it may return |
# | --- | --- | --- | --- |
# | `register_forward_pre_hook` | before `forward` | `module, args` | new `args` |
# | `register_forward_hook` | after `forward` | `module, args, output` | a new `output` |
# | `register_full_backward_pre_hook` | in backward, before the module's own part | `module, grad_output` | a new `grad_output` |
# | `register_full_backward_hook` | in backward, after the module's own part | `module, grad_input, grad_output` | a new `grad_input` |
#
# Returning `None` (or nothing) always means: leave it as it is. `args`, `grad_input` and `grad_output` are tuples,
# also where there is only one tensor. `output` is what `forward` returned, a tensor or anything else.
#
# The lesson's first module has two inputs, so the tuples have two entries:

# %%
show_source(Add)

# %%
adder = Add()
adder.register_forward_pre_hook(lambda module, args: print("pre-hook:", args))
adder.register_forward_hook(lambda module, args, output: print("hook:    ", args, output))
result = adder(torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0]))

# %% [markdown]
# A forward hook takes **three** arguments. You may read that two are enough, `hook(module, output)`. Run this:


# %%
def two_arguments(module, output):
    output += 5


adder = Add()
adder.register_forward_hook(two_arguments)  # nothing is checked here ...
try:
    adder(torch.ones(2), torch.ones(2))  # ... but at the first call
except TypeError as error:
    print("TypeError:", error)

# %% [markdown]
# Arguments that the caller passes by name are not in `args`. Register with `with_kwargs=True` to see them: then the
# hook gets a dict as well, right after `args`.

# %%
adder = Add()
adder.register_forward_pre_hook(lambda module, args: print("without:", args))
adder.register_forward_pre_hook(lambda module, args, kwargs: print("with:   ", args, kwargs), with_kwargs=True)
result = adder(torch.ones(1), x2=torch.zeros(1))

# %% [markdown]
# ### Exercise: What goes in, what comes out
# easy · 5 min · 2 points
#
# Collect what `add` works with, from outside. Whenever somebody calls `add(x1, x2)`, the list `answer` shall get
# three new entries: `x1`, `x2` and the output, in this order. `pre_hook` is a forward pre-hook and stores the inputs,
# `hook` is a forward hook and stores the output. Both only watch: `add(x1, x2)` still returns what it returned
# before.

# %% nbgrader={"grade": false, "grade_id": "forward_answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
add = Add()
answer = []


def pre_hook(module, args):
    # TODO: put the inputs x1 and x2 into `answer`.
    ### BEGIN SOLUTION
    answer.extend(args)
    ### END SOLUTION


def hook(module, args, output):
    # TODO: put the output into `answer`.
    ### BEGIN SOLUTION
    answer.append(output)
    ### END SOLUTION


# TODO: register both hooks on `add`.
### BEGIN SOLUTION
pre_handle = add.register_forward_pre_hook(pre_hook)
handle = add.register_forward_hook(hook)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_forward_answer", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.evidence import TensorRecord
from course.probing import hook_counts, other_forward


ANY_COUNT = Matches(lambda got: None, "any number")
SOME = Matches(lambda got: None if got else "none", "some")


def holds_nan(got):
    """Whether the hook read one of the notebook's variables, which are NaN meanwhile."""
    found = [one for one in got if isinstance(one, TensorRecord) and one.tensor().isnan().any()]
    return None if found else "no NaN"


class InputsThenOutput(Check):
    """After a call of `add(x1, x2)`, `answer` holds `[x1, x2, output]`, and the call returned the sum."""

    poison = ("x1", "x2", "output")
    blame = {"output": "watcher_changes_output"}

    def probe(self, nb, case):
        nb.list("answer").clear()
        add = nb.module("add")
        output = add(case.tensor("x1", 4), case.tensor("x2", 4))
        return {"answer": nb.list("answer"), "output": output, "hooks on add": sum(hook_counts(add).values())}

    def truth(self, case):
        x1, x2 = case.tensor("x1", 4), case.tensor("x2", 4)
        return {"answer": [x1, x2, x1 + x2], "output": x1 + x2, "hooks on add": ANY_COUNT}

    def mistakes(self, case):
        x1, x2, output = self.truth(case)["answer"]
        return {
            "stores_nothing": {"answer": [], "hooks on add": SOME},
            "reads_globals": {"answer": Matches(holds_nan, "NaN")},
            "one_side_missing": {"answer": AnyOf([x1, x2], [output])},
            "keeps_the_tuple": {"answer": AnyOf([[x1, x2], output], [[x1, x2], [output]])},
            "module_hook_twice": {"answer": AnyOf([x1, x2, x1, x2, output, output], [x1, x2, output, output])},
            "takes_elements_apart": {"answer": [*x1, *x2, *output]},
        }


check("forward_answer", InputsThenOutput)


### BEGIN HIDDEN TESTS
class OtherForwardOtherShapes(Check):
    """The hooks take inputs and output from their arguments, so `answer` is right for any forward and any shapes."""

    poison = ("x1", "x2", "output")
    blame = {"output": "watcher_changes_output"}

    def probe(self, nb, case):
        nb.list("answer").clear()
        with other_forward(nb.module("add"), lambda self, x1, x2: x1**2 * x2) as add:
            output = add(case.tensor("x1", 2, 3), case.tensor("x2", 3))
        return {"answer": nb.list("answer"), "output": output}

    def truth(self, case):
        x1, x2 = case.tensor("x1", 2, 3), case.tensor("x2", 3)
        return {"answer": [x1, x2, x1**2 * x2], "output": x1**2 * x2}

    def mistakes(self, case):
        x1, x2, _ = self.truth(case)["answer"]
        return {
            "formula_of_visible_forward": {"answer": [x1, x2, x1 + x2]},
            "reads_globals": {"answer": Matches(holds_nan, "NaN")},
        }


check("forward_answer", OtherForwardOtherShapes)
### END HIDDEN TESTS

# %% [markdown]
# ## What a forward hook may return
#
# A forward hook can also act. If it returns `None`, the output stays. If it returns anything else, **that** becomes
# the output, and the next hook, the next layer and the caller get it. Giving the name `output` another value inside
# the hook does nothing: the name is local to the function.


# %%
def output_with(hook):
    layer = nn.Identity()
    layer.register_forward_hook(hook)
    return layer(torch.tensor([1.0, 2.0]))


def gives_a_new_value_back(module, args, output):
    return output * 2


def only_moves_the_name(module, args, output):
    output = output * 2


print("returned:         ", output_with(gives_a_new_value_back))
print("name moved:       ", output_with(only_moves_the_name))
print("zeros are a value:", output_with(lambda module, args, output: torch.zeros(2)))

# %% [markdown]
# Careful with short lambdas: a lambda always returns the value of its expression, whether you want it or not. This
# one was meant to watch only:

# %%
log = []
print(output_with(lambda module, args, output: (log.append(output), log.append(output.shape))))

# %% [markdown]
# Writing *into* the output, as in `output *= 2`, does work without `return`: it changes the tensor that everybody
# holds. That is the trouble with it. Here the same memory is also the module's input, or is needed by backward:


# %%
class Exp(nn.Module):
    def forward(self, x):
        return x.exp()


def writes_into_it(module, args, output):
    output *= 2


layer, x = nn.Identity(), torch.tensor([1.0, 2.0])
layer.register_forward_hook(writes_into_it)
layer(x)
print("the caller's x was [1., 2.], now it is", x)

layer, x = Exp(), torch.tensor([1.0, 2.0], requires_grad=True)
layer.register_forward_hook(writes_into_it)
try:
    layer(x).sum().backward()  # the derivative of exp is its output, which is gone
except RuntimeError as error:
    print("RuntimeError:", str(error).split(":")[0])

# %% [markdown]
# So: return a new tensor.
#
# ### Exercise: Five more
# easy · 5 min · 2 points
#
# Write the forward hook `hook` and register it on `add`, so that `add(x1, x2)` returns 5 more than before. The hook
# adds 5 to whatever value `forward` has returned: it neither computes that value again nor touches the inputs.

# %% nbgrader={"grade": false, "grade_id": "add_five", "locked": false, "schema_version": 3, "solution": true, "task": false}
add = Add()


def hook(module, args, output):
    # TODO: make the output 5 larger.
    ### BEGIN SOLUTION
    return output + 5
    ### END SOLUTION


# TODO: register the hook on `add`.
### BEGIN SOLUTION
handle = add.register_forward_hook(hook)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_add_five", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.probing import hook_counts, other_forward

ANYTHING = Matches(lambda got: None, "anything")


def either(fields, *parts):
    """One of several partial results; the fields that a part leaves out may be anything."""
    return AnyOf(*({**dict.fromkeys(fields, ANYTHING), **part} for part in parts))


class FiveMore(Check):
    """`add(x1, x2)` returns `x1 + x2 + 5`, and leaves `x1` and `x2` as they were."""

    poison = ("x1", "x2", "output")

    def probe(self, nb, case):
        add = nb.module("add")
        x1, x2 = case.tensor("x1", 4), case.tensor("x2", 4)
        output = add(x1, x2)
        return {"output": output, "x1": x1, "x2": x2, "forward hooks on add": hook_counts(add)["forward"]}

    def truth(self, case):
        x1, x2 = case.tensor("x1", 4), case.tensor("x2", 4)
        return {"output": x1 + x2 + 5, "x1": x1, "x2": x2, "forward hooks on add": ANYTHING}

    def mistakes(self, case):
        x1, x2 = case.tensor("x1", 4), case.tensor("x2", 4)
        return {
            "hook_never_ran": {"output": x1 + x2, "x1": x1, "x2": x2, "forward hooks on add": 0},
            "five_to_an_input": either(
                self.truth(case), {"x1": x1 + 5}, {"x2": x2 + 5}, {"output": x1 + x2 + 10, "forward hooks on add": 0}
            ),
            "rebinds_output": {"output": x1 + x2},
            "module_hook_twice": {"output": x1 + x2 + 10, "forward hooks on add": 2},
            "returns_only_five": {
                "output": AnyOf(5, 5.0, torch.full((4,), 5.0), torch.tensor(5.0), torch.tensor([5.0]))
            },
        }


check("add_five", FiveMore)


### BEGIN HIDDEN TESTS
class FiveMoreThanAnyForward(Check):
    """The hook adds 5 to what forward returned, so it is right for any forward and any shapes."""

    poison = ("x1", "x2", "output")

    def probe(self, nb, case):
        with other_forward(nb.module("add"), lambda self, x1, x2: x1**2 * x2) as add:
            return {"output": add(case.tensor("x1", 3), case.tensor("x2", 2, 3))}

    def truth(self, case):
        return {"output": case.tensor("x1", 3) ** 2 * case.tensor("x2", 2, 3) + 5}

    def mistakes(self, case):
        x1, x2 = case.tensor("x1", 3), case.tensor("x2", 2, 3)
        return {
            "recomputes_output": {"output": x1 + x2 + 5},
            "five_to_an_input": {"output": AnyOf((x1 + 5) ** 2 * x2, x1**2 * (x2 + 5), (x1 + 5) ** 2 * (x2 + 5))},
        }


class ForwardRunsOnce(Check):
    """The hook adds 5 to the very value that forward returned; forward runs once a call, not once more in the hook."""

    def probe(self, nb, case):
        runs = []

        def counting(self, x1, x2):
            runs.append(1)
            return (x1 + x2) * len(runs)

        with other_forward(nb.module("add"), counting) as add:
            return {"output": add(case.tensor("x1", 3), case.tensor("x2", 3))}

    def truth(self, case):
        return {"output": case.tensor("x1", 3) + case.tensor("x2", 3) + 5}

    def mistakes(self, case):
        x1, x2 = case.tensor("x1", 3), case.tensor("x2", 3)
        return {"recomputes_output": {"output": (x1 + x2) * 2 + 5}}


check("add_five", FiveMoreThanAnyForward, ForwardRunsOnce)
### END HIDDEN TESTS

# %% [markdown]
# ## What a forward pre-hook may return
#
# A pre-hook's return value replaces **all** the positional arguments at once. So a module with two inputs needs a
# tuple of two. A single tensor counts as one argument, and so does a list:


# %%
def try_pre_hook(name, hook):
    adder = Add()
    adder.register_forward_pre_hook(hook)
    try:
        print(f"{name:15}", adder(torch.tensor([1.0]), torch.tensor([10.0])))
    except TypeError as error:
        print(f"{name:15} TypeError: {error}")


try_pre_hook("None", lambda module, args: None)
try_pre_hook("a tuple of two", lambda module, args: (args[0], args[1] * 3))
try_pre_hook("one tensor", lambda module, args: args[1] * 3)
try_pre_hook("a list of two", lambda module, args: [args[0], args[1] * 3])

# %% [markdown]
# With `with_kwargs=True` a pre-hook returns `None` or a pair: the new `args` (a tuple) and the new `kwargs` (a dict).
# This one gives `x2` a default value that `Add` does not have:

# %%
adder = Add()
adder.register_forward_pre_hook(
    lambda module, args, kwargs: (args, {"x2": torch.tensor([7.0]), **kwargs}), with_kwargs=True
)
print(adder(torch.tensor([1.0])), adder(torch.tensor([1.0]), x2=torch.tensor([2.0])))

# %% [markdown]
# ## Hooks on the backward pass
#
# A *full backward hook* sees gradients. `grad_output` holds the gradient of the loss with respect to each output of
# the module, `grad_input` the gradient with respect to each positional input. Gradients of the weights are in
# neither: those are in `weight.grad`, as always.

# %%
torch.manual_seed(0)
linear = nn.Linear(3, 2)


def print_gradients(module, grad_input, grad_output):
    print("grad_input: ", [tuple(grad.shape) for grad in grad_input], " as x")
    print("grad_output:", [tuple(grad.shape) for grad in grad_output], " as the output")


linear.register_full_backward_hook(print_gradients)
x = torch.ones(4, 3, requires_grad=True)
linear(x).sum().backward()

# %% [markdown]
# You may read that a module hook only sees a single operation inside the module, not the module as a whole. For the
# hooks in the table above that is not so. The lesson's second module makes **two** multiplications. Its hook sees
# what autograd says about the whole:

# %%
show_source(Model)

# %%
two_products = Model()
two_products.register_full_backward_hook(lambda module, grad_input, grad_output: print("hook:    ", grad_input))
x1 = torch.tensor([1.0, 4.0], requires_grad=True)
x2 = torch.tensor([3.0, 2.0], requires_grad=True)
two_products(x1, x2).backward(torch.tensor([1.0, 10.0]))
print("autograd:", (x1.grad, x2.grad))

# %% [markdown]
# ### Exercise: Gradients at both ends
# medium · 8 min · 2 points
#
# Collect the gradients of `model` in backward. Whenever a backward pass goes through `model(x1, x2)`, where both
# inputs require a gradient, the list `answer` shall get three new entries: the gradients that the pass brings for
# `x1`, for `x2` and for the output, in this order (tensors, no tuples). `module_hook` is a full backward hook. It
# only watches: no gradient changes.

# %% nbgrader={"grade": false, "grade_id": "backward_answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
model = Model()
answer = []


def module_hook(module, grad_input, grad_output):
    # TODO: put the gradients of x1, x2 and the output into `answer`.
    ### BEGIN SOLUTION
    answer.extend(grad_input)
    answer.extend(grad_output)
    ### END SOLUTION


# TODO: register the hook on `model`.
### BEGIN SOLUTION
handle = model.register_full_backward_hook(module_hook)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_backward_answer", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.evidence import TensorRecord
from course.models import Model
from course.probing import hook_counts, other_forward


ANY_COUNT = Matches(lambda got: None, "any number")
SOME = Matches(lambda got: None if got else "none", "some")


def holds_nan(got):
    """Whether the hook read one of the notebook's variables, which are NaN meanwhile."""
    found = [one for one in got if isinstance(one, TensorRecord) and one.tensor().isnan().any()]
    return None if found else "no NaN"


class GradientsAtBothEnds(Check):
    """After one backward, `answer` holds the gradients of `x1`, `x2` and the output, and no gradient was changed."""

    poison = ("x1", "x2", "output")
    blame = {"x1.grad": "watcher_changes_gradient", "x2.grad": "watcher_changes_gradient"}

    def probe(self, nb, case):
        nb.list("answer").clear()
        x1, x2 = case.tensor("x1", 4, requires_grad=True), case.tensor("x2", 4, requires_grad=True)
        model = nb.module("model")
        model(x1, x2).backward(case.tensor("upstream", 4))
        hooks = sum(hook_counts(model).values())
        return {"answer": nb.list("answer"), "x1.grad": x1.grad, "x2.grad": x2.grad, "hooks on model": hooks}

    def truth(self, case):
        x1, x2 = case.tensor("x1", 4, requires_grad=True), case.tensor("x2", 4, requires_grad=True)
        upstream = case.tensor("upstream", 4)
        g1, g2 = torch.autograd.grad(Model()(x1, x2), (x1, x2), upstream)
        return {"answer": [g1, g2, upstream], "x1.grad": g1, "x2.grad": g2, "hooks on model": ANY_COUNT}

    def mistakes(self, case):
        g1, g2, upstream = self.truth(case)["answer"]
        x1, x2, W = case.tensor("x1", 4), case.tensor("x2", 4), torch.tensor([5.0])
        product = (x1 * x2).requires_grad_()
        W.requires_grad_()
        last = torch.autograd.grad(product * W, (product, W), upstream)
        output = x1 * x2 * 5
        return {
            "stores_nothing": {"answer": [], "hooks on model": SOME},
            "grad_not_there_yet": {"answer": AnyOf([None, None, upstream], [None, None, None])},
            "reads_globals": {"answer": Matches(holds_nan, "NaN")},
            "one_side_missing": {"answer": AnyOf([g1, g2], [upstream])},
            "keeps_the_tuple": {
                "answer": AnyOf(
                    [g1, g2, [upstream]], [[g1, g2], upstream], [[g1, g2], [upstream]], [[g1, g2, upstream]]
                )
            },
            "legacy_hook": {"answer": AnyOf([*last, upstream], [*last, [upstream]])},
            "forward_instead_of_backward": {"answer": AnyOf([x1, x2, output], [x1, x2, output[0]], [x1, x2, *output])},
            "module_hook_twice": {"answer": [g1, g2, upstream, g1, g2, upstream]},
            "takes_elements_apart": {"answer": AnyOf([*g1, *g2, *upstream], [g1, g2, *upstream])},
        }


check("backward_answer", GradientsAtBothEnds)


### BEGIN HIDDEN TESTS
class GradientsOfAnyForward(Check):
    """The gradients come from the hook's arguments, so they are right for any forward, any shapes, any upstream."""

    poison = ("x1", "x2", "output")
    blame = {"x1.grad": "watcher_changes_gradient", "x2.grad": "watcher_changes_gradient"}

    def probe(self, nb, case):
        nb.list("answer").clear()
        x1, x2 = case.tensor("x1", 2, 3, requires_grad=True), case.tensor("x2", 3, requires_grad=True)
        with other_forward(nb.module("model"), lambda self, x1, x2: x1**2 * x2 * self.W) as model:
            model(x1, x2).backward(case.tensor("upstream", 2, 3))
        return {"answer": nb.list("answer"), "x1.grad": x1.grad, "x2.grad": x2.grad}

    def truth(self, case):
        x1, x2 = case.tensor("x1", 2, 3, requires_grad=True), case.tensor("x2", 3, requires_grad=True)
        upstream = case.tensor("upstream", 2, 3)
        g1, g2 = torch.autograd.grad(x1**2 * x2 * Model().W, (x1, x2), upstream)
        return {"answer": [g1, g2, upstream], "x1.grad": g1, "x2.grad": g2}

    def mistakes(self, case):
        x1, x2, upstream = case.tensor("x1", 2, 3), case.tensor("x2", 3), case.tensor("upstream", 2, 3)
        return {
            "reads_globals": {"answer": Matches(holds_nan, "NaN")},
            "formula_of_visible_forward": {"answer": [upstream * x2 * 5, upstream * x1 * 5, upstream]},
        }


check("backward_answer", GradientsOfAnyForward)
### END HIDDEN TESTS

# %% [markdown]
# What if **no** input requires a gradient, as in the first layer of nearly every network, whose input is data? Then
# there is nothing to wait for: the hook runs as soon as the gradient of the output is there, `grad_input` holds
# `None`, and PyTorch warns.

# %%
first = nn.Linear(3, 2)
first.register_full_backward_hook(
    lambda module, grad_input, grad_output: print("grad_input:", grad_input, " grad_output:", grad_output[0].shape)
)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    first(torch.ones(4, 3)).sum().backward()
print(caught[0].category.__name__ + ":", str(caught[0].message).split(". ")[0])

# %% [markdown]
# `grad_input` holds positional inputs only. What was passed by name is not there, like in `args`:

# %%
two_products = Model()
two_products.register_full_backward_hook(lambda module, grad_input, grad_output: print(len(grad_input), "entry"))
two_products(torch.ones(2, requires_grad=True), x2=torch.ones(2, requires_grad=True)).sum().backward()

# %% [markdown]
# ## The order in nested modules
#
# Modules contain modules, and each level may have hooks. The picture below runs one forward and one backward of a
# real network, with hooks of all four kinds on every module, and numbers them as they fire. Forward is the left half,
# backward the right half. Indented names are inner modules.

# %%
from course.pictures.timeline import draw_hook_timeline


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.act = nn.Tanh()

    def forward(self, x):
        return self.act(self.fc(x))


draw_hook_timeline(nn.Sequential(Block(), Block()), torch.ones(2, 3, requires_grad=True))

# %% [markdown]
# Read it like brackets. A pre-hook opens, a hook closes: the outer module opens first and closes last. Backward does
# the same in the other direction. Now the same network with an input that requires no gradient. Look at what happens
# to number 16, and to the block that meets the data first: their hooks do not wait for the inner modules any more.

# %%
draw_hook_timeline(
    nn.Sequential(Block(), Block()), torch.ones(2, 3), title="The same, but the input requires no gradient"
)

# %% [markdown]
# ## What a full backward hook may return
#
# A full backward hook may return new gradients for the inputs: a tuple with **one entry for each positional input**.
# They flow on to whatever made the inputs. The module's own parameters do not notice: their gradients follow from
# `grad_output`. (To change those too, return a new `grad_output` from a full backward **pre**-hook.)


# %%
def try_backward_hook(name, hook, register="register_full_backward_hook"):
    two_products = Model()
    getattr(two_products, register)(hook)
    x1, x2 = torch.tensor([2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)
    try:
        two_products(x1, x2).backward()
        grads = {"x1.grad": x1.grad, "x2.grad": x2.grad, "W.grad": two_products.W.grad}
        print(f"{name:22}", "   ".join(f"{key} {value.item():5}" for key, value in grads.items()))
    except RuntimeError as error:
        print(f"{name:22} RuntimeError: {error}")


try_backward_hook("None", lambda module, grad_input, grad_output: None)
try_backward_hook("two gradients", lambda module, grad_input, grad_output: (grad_input[0] * 10, grad_input[1]))
try_backward_hook("one tensor", lambda module, grad_input, grad_output: grad_input[0] * 10)
try_backward_hook("another shape", lambda module, grad_input, grad_output: (torch.ones(2), torch.ones(2)))
try_backward_hook(
    "pre-hook, grad_output", lambda module, grad_output: (grad_output[0] * 10,), "register_full_backward_pre_hook"
)

# %% [markdown]
# ### Exercise: Gradients that sum to one
# medium · 10 min · 3 points
#
# Write the full backward hook `module_hook` and register it on `model`. In backward it divides each of the two input
# gradients by the sum of both, element by element. So with the gradients `g1` and `g2` of two inputs of equal shape,
# `x1.grad` becomes `g1 / (g1 + g2)` and `x2.grad` becomes `g2 / (g1 + g2)`: together they are 1 at every element. The
# gradient of `W` stays as it was.

# %% nbgrader={"grade": false, "grade_id": "unit_grad_sum", "locked": false, "schema_version": 3, "solution": true, "task": false}
model = Model()


def module_hook(module, grad_input, grad_output):
    # TODO: divide both input gradients by their sum.
    ### BEGIN SOLUTION
    g1, g2 = grad_input
    total = g1 + g2
    return g1 / total, g2 / total
    ### END SOLUTION


# TODO: register the hook on `model`.
### BEGIN SOLUTION
handle = model.register_full_backward_hook(module_hook)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_unit_grad_sum", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.evidence import TensorRecord
from course.models import Model
from course.probing import hook_counts, other_forward

ANYTHING = Matches(lambda got: None, "anything")


def either(fields, *parts):
    """One of several partial results; the fields that a part leaves out may be anything."""
    return AnyOf(*({**dict.fromkeys(fields, ANYTHING), **part} for part in parts))


def sums_to_one(right):
    """Gradients that sum to 1, but are not the right ones."""

    def test(got):
        grads = [got[name].tensor() for name in ("x1.grad", "x2.grad") if isinstance(got[name], TensorRecord)]
        one = len(grads) == 2 and torch.allclose(sum(grads), torch.ones(()))
        return None if one and not torch.allclose(grads[0], right["x1.grad"]) else "another sum, or the right gradients"

    return Matches(test, "gradients that sum to 1")


class EachElementSumsToOne(Check):
    """`x1.grad` and `x2.grad` are the two gradients divided by their sum; the gradient of `W` is as before."""

    poison = ("x1", "x2", "output")
    blame = {"W.grad": "changes_own_gradient"}

    def upstream(self, case):
        return case.tensor("upstream", 4, positive=True) * torch.tensor([1.0, -1.0, 1.0, -1.0])

    def probe(self, nb, case):
        model = nb.module("model")
        model.W.grad = None
        x1 = case.tensor("x1", 4, positive=True, requires_grad=True)
        x2 = case.tensor("x2", 4, positive=True, requires_grad=True)
        model(x1, x2).backward(self.upstream(case))
        return {
            "x1.grad": x1.grad, "x2.grad": x2.grad, "W.grad": model.W.grad,
            "backward hooks on model": hook_counts(model)["backward"],
        }  # fmt: skip

    def gradients(self, case):
        x1 = case.tensor("x1", 4, positive=True, requires_grad=True)
        x2 = case.tensor("x2", 4, positive=True, requires_grad=True)
        free = Model()
        return torch.autograd.grad(free(x1, x2), (x1, x2, free.W), self.upstream(case))

    def truth(self, case):
        g1, g2, g_w = self.gradients(case)
        return {
            "x1.grad": g1 / (g1 + g2), "x2.grad": g2 / (g1 + g2), "W.grad": g_w, "backward hooks on model": ANYTHING,
        }  # fmt: skip

    def mistakes(self, case):
        g1, g2, _ = self.gradients(case)
        r1, r2, upstream = g1 / (g1 + g2), g2 / (g1 + g2), self.upstream(case)
        fields = self.truth(case)
        magnitude = g1.abs() + g2.abs()
        everything = g1.sum() + g2.sum()
        return {
            "hook_never_ran": {"x1.grad": g1, "x2.grad": g2, "backward hooks on model": 0},
            "computes_without_returning": {"x1.grad": g1, "x2.grad": g2},
            "swaps_gradients": {"x1.grad": r2, "x2.grad": r1},
            "sums_everything": either(
                fields,
                {"x1.grad": g1 / everything, "x2.grad": g2 / everything},
                {"x1.grad": g1 / g1.sum(), "x2.grad": g2 / g2.sum()},
            ),
            "sum_of_magnitudes": {"x1.grad": g1 / magnitude, "x2.grad": g2 / magnitude},
            "divides_by_upstream": {"x1.grad": g1 / upstream, "x2.grad": g2 / upstream},
            "uses_a_changed_value": either(
                fields,
                {"x1.grad": r1, "x2.grad": g2 / (r1 + g2)},
                {"x1.grad": g1 / (g1 + r2), "x2.grad": r2},
            ),
            "only_the_sum_is_right": sums_to_one(self.truth(case)),
        }


check("unit_grad_sum", EachElementSumsToOne)


### BEGIN HIDDEN TESTS
class AnyForwardSumsToOne(Check):
    """The hook divides the gradients it is given, so it is right for any forward and any shape."""

    poison = ("x1", "x2", "output")

    def probe(self, nb, case):
        x1 = case.tensor("x1", 2, 3, positive=True, requires_grad=True)
        x2 = case.tensor("x2", 2, 3, positive=True, requires_grad=True)
        with other_forward(nb.module("model"), lambda self, x1, x2: x1**2 * x2 * self.W) as model:
            model(x1, x2).backward(case.tensor("upstream", 2, 3))
        return {"x1.grad": x1.grad, "x2.grad": x2.grad}

    def truth(self, case):
        x1 = case.tensor("x1", 2, 3, positive=True, requires_grad=True)
        x2 = case.tensor("x2", 2, 3, positive=True, requires_grad=True)
        g1, g2 = torch.autograd.grad(x1**2 * x2 * Model().W, (x1, x2), case.tensor("upstream", 2, 3))
        return {"x1.grad": g1 / (g1 + g2), "x2.grad": g2 / (g1 + g2)}

    def mistakes(self, case):
        x1, x2 = case.tensor("x1", 2, 3, positive=True), case.tensor("x2", 2, 3, positive=True)
        return {
            "formula_of_visible_forward": {"x1.grad": x2 / (x1 + x2), "x2.grad": x1 / (x1 + x2)},
            "only_the_sum_is_right": sums_to_one(self.truth(case)),
        }


check("unit_grad_sum", AnyForwardSumsToOne)
### END HIDDEN TESTS

# %% [markdown]
# ## The deprecated hook
#
# Old tutorials register backward hooks with `register_backward_hook`, without *full*. It still exists, it takes the
# same three arguments, and it is deprecated. One module cannot have both kinds:

# %%
layer = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    layer.register_backward_hook(lambda module, grad_input, grad_output: None)
    layer(torch.ones(4, 3))
print(caught[-1].category.__name__ + ":", str(caught[-1].message).split(". ")[0], "...")
try:
    layer.register_full_backward_hook(lambda module, grad_input, grad_output: None)
except RuntimeError as error:
    print("RuntimeError:", error)

# %% [markdown]
# So what is wrong with it? Look at what it reports.
#
# ### Exercise: An autopsy
# medium · 10 min · 3 points
#
# Two models, the same inputs: `x1 = [2.]`, `x2 = [3.]`, `W = 5`. Register a deprecated backward hook on one and a
# full backward hook on the other, run forward and backward once, and let both hooks put the `grad_input` they get
# into `answer`. At the end `answer` holds two entries: first what the deprecated hook showed, then the true gradients
# of the inputs. Each is a tuple (or list) of two tensors. The cell silences the warning that you have just seen.

# %% nbgrader={"grade": false, "grade_id": "legacy_autopsy", "locked": false, "schema_version": 3, "solution": true, "task": false}
answer = []
legacy_model, full_model = Model(), Model()


def collect(module, grad_input, grad_output):
    # TODO: put grad_input into `answer`, as one entry.
    ### BEGIN SOLUTION
    answer.append(grad_input)
    ### END SOLUTION


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    # TODO: register `collect` as a deprecated hook on legacy_model, and as a full backward hook on full_model.
    ### BEGIN SOLUTION
    legacy_model.register_backward_hook(collect)
    full_model.register_full_backward_hook(collect)
    ### END SOLUTION
    for model in (legacy_model, full_model):
        x1 = torch.tensor([2.0], requires_grad=True)
        x2 = torch.tensor([3.0], requires_grad=True)
        model(x1, x2).backward()

# %% nbgrader={"grade": true, "grade_id": "test_legacy_autopsy", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf
from course.models import Model


class TwoReports(Check):
    """`answer` holds the `grad_input` that the deprecated hook showed, then the true gradients of `x1` and `x2`."""

    cases = 1  # the inputs are given
    secret = True

    def probe(self, nb, case):
        return {"answer": nb.list("answer")}

    def reports(self):
        x1, x2 = torch.tensor([2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)
        free = Model()
        true = list(torch.autograd.grad(free(x1, x2), (x1, x2)))
        product = (x1 * x2).detach().requires_grad_()  # the last operation alone: product * W
        last = list(torch.autograd.grad(product * free.W, (product, free.W)))
        return last, true

    def truth(self, case):
        return {"answer": list(self.reports())}

    def mistakes(self, case):
        last, true = self.reports()
        one = torch.ones(1)
        twice = [gradient * 2 for gradient in true]
        return {
            "autopsy_never_ran": {"answer": []},
            "one_report_only": {"answer": AnyOf([last], [true])},
            "two_equal_reports": {"answer": AnyOf([last, last], [true, true])},
            "reports_swapped": {
                "answer": AnyOf([true, last], [last[::-1], true], [last, true[::-1]], [last[::-1], true[::-1]])
            },
            "gradients_of_the_output": {"answer": [[one], [one]]},
            "takes_elements_apart": {"answer": [*last, *true]},
            "adds_up_gradients": {"answer": [last, twice]},
            "numbers_for_tensors": {"answer": [[float(g) for g in last], [float(g) for g in true]]},
            "keeps_both_sides": {"answer": AnyOf([[last, [one]], [true, [one]]], [[*last, one], [*true, one]])},
        }


check("legacy_autopsy", TwoReports)

# %% [markdown]
# What you have found, drawn from a run:

# %%
from course.pictures.legacy import draw_legacy_comparison

draw_legacy_comparison(Model(), torch.tensor([2.0]), torch.tensor([3.0]))

# %% [markdown]
# The deprecated hook hangs on the **last operation** of the module, and takes that operation's inputs for the module's.
# In `Model` they are the product and `W`, not `x1` and `x2`. So its numbers are true gradients, but of other tensors, and
# nothing about them looks wrong.
#
# Two notes that you may read come from this hook alone. One is "a module hook only sees single operations". The other
# is "`grad_input` of Linear and Conv holds the gradients of weight and bias". Run both hooks:


# %%
def grad_input_shapes(layer, x, register):
    shapes = []
    hook = lambda module, grad_input, grad_output: shapes.extend(tuple(grad.shape) for grad in grad_input)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(layer, register)(hook)
        layer(x.requires_grad_()).sum().backward()
    return shapes


for register in ("register_backward_hook", "register_full_backward_hook"):
    print(register)
    print("   Linear", grad_input_shapes(nn.Linear(3, 2), torch.ones(4, 3), register))
    print("   Conv2d", grad_input_shapes(nn.Conv2d(3, 10, 2), torch.ones(1, 3, 8, 8), register))

# %% [markdown]
# The full backward hook shows one gradient, that of the input. The deprecated one shows whatever the layer's last
# operation takes: for Linear the bias, the input and the transposed weight, in this order. That is an accident of how
# the layer is computed.

# %% [markdown]
# ## Full backward hooks and in-place operations
#
# A full backward hook wraps what goes into the module and what comes out. A wrapped tensor must not be changed in
# place. So the hook fails on `nn.ReLU(inplace=True)`, and on the layer **in front of it**, as in most image models:

# %%
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 1))
x = torch.randn(5, 3)

for position in (0, 1, 2):
    with net[position].register_full_backward_hook(lambda module, grad_input, grad_output: None):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                net(x).sum().backward()
            print(position, net[position], "is fine")
        except RuntimeError as error:
            print(position, net[position], "RuntimeError:", str(error).split(". ")[0])

# %% [markdown]
# The cure: a forward hook that puts a *tensor hook* (lesson 02) on the output. It wraps nothing. Compared with the
# same network without in-place operations, it brings the right gradient:


# %%
def gradient_of_first_output(net):
    seen = []

    def watch(module, args, output):
        if output.requires_grad:  # not under torch.no_grad()
            output.register_hook(lambda grad: seen.append(grad))

    with net[0].register_forward_hook(watch):
        net(x).sum().backward()
    return seen[0]


without = nn.Sequential(net[0], nn.ReLU(), net[2])
print(torch.equal(gradient_of_first_output(net), gradient_of_first_output(without)))

# %% [markdown]
# ## Handles: hooks that come off again
#
# A hook stays until somebody removes it. A module does not notice that it has a function already: registering it again
# gives a second hook. That is what happens when you run a notebook cell again that registers on an old module.

# %%
adder = Add()


def one_more(module, args, output):
    return output + 1


handles = [adder.register_forward_hook(one_more) for _ in range(3)]
print("three times registered:", adder(torch.zeros(1), torch.zeros(1)))
for handle in handles:
    handle.remove()
print("all removed:           ", adder(torch.zeros(1), torch.zeros(1)))

# %% [markdown]
# Every `register_...` returns a *handle*, and a handle is also a context manager. `with` removes the hook at the end
# of the block, also when an error ends it. Prefer this form for anything temporary.

# %%
with contextlib.suppress(ZeroDivisionError), adder.register_forward_hook(one_more):
    print("inside:", adder(torch.zeros(1), torch.zeros(1)))
    1 / 0
print("after: ", adder(torch.zeros(1), torch.zeros(1)))

# %% [markdown]
# ## State-dict hooks: read old checkpoints
#
# Hooks can also sit around saving and loading. They have nothing to do with forward and backward:
#
# | register with | runs | the hook gets |
# | --- | --- | --- |
# | `register_state_dict_pre_hook` | before saving | `module, prefix, keep_vars` |
# | `register_state_dict_post_hook` | after saving | `module, state_dict, prefix, local_metadata` |
# | `register_load_state_dict_pre_hook` | before loading | `module, state_dict, prefix, local_metadata, strict`, three lists |
# | `register_load_state_dict_post_hook` | after loading | `module, incompatible_keys` |
#
# They return nothing, they act in place. *Saving* is a call of `state_dict()`, *loading* one
# of `load_state_dict()`.
#
# Say a checkpoint was saved when the layer `fc` was still called `linear`. A pre-hook of loading renames the keys,
# before anything is compared. Keys start with `prefix`, the module's own place in the model: so this works at any
# depth.


# %%
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.register_load_state_dict_pre_hook(rename_old_keys)
        self.register_load_state_dict_post_hook(lambda module, keys: print("loaded, missing:", keys.missing_keys))
        self.register_state_dict_pre_hook(lambda module, prefix, keep_vars: print("saving, prefix:", prefix))
        self.register_state_dict_post_hook(lambda module, state, prefix, metadata: print("saved:", list(state)))


def rename_old_keys(module, state, prefix, metadata, strict, missing, unexpected, errors):
    for key in list(state):
        if key.startswith(prefix + "linear."):
            state[prefix + "fc." + key.removeprefix(prefix + "linear.")] = state.pop(key)


old = {"head.linear.weight": torch.ones(2, 3), "head.linear.bias": torch.zeros(2)}
network = nn.ModuleDict({"head": Head()})
network.load_state_dict(old)
new = network.state_dict()

# %% [markdown]
# ## Take this to work
#
# One row for each layer that ran: its output's shape, the mean absolute value of the output, and that of the gradient
# that reaches it. A layer whose numbers are 0, huge or `nan` is where to look first. It is safe with in-place
# operations and reused layers, leaves `.grad` alone, and leaves no hook behind.


# %%
def layer_report(model, *inputs):
    rows = []

    def watch(name, module, args, output):
        if not isinstance(output, torch.Tensor):
            return
        row = {"layer": name, "shape": tuple(output.shape), "output": output.detach().abs().mean().item()}
        rows.append(row)
        if output.requires_grad:
            output.register_hook(lambda grad: row.update(gradient=grad.abs().mean().item()))

    with contextlib.ExitStack() as hooks:
        for name, module in model.named_modules():
            if not list(module.children()):
                hooks.enter_context(module.register_forward_hook(partial(watch, name)))
        loss = model(*inputs).sum()
        torch.autograd.grad(loss, [p for p in model.parameters() if p.requires_grad], allow_unused=True)
    for row in rows:
        sizes = "".join(f"{key} {row[key]:<10.4f}" for key in ("output", "gradient") if key in row)
        print(f"{row['layer']:4}{row['shape']!s:15}{sizes}")


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(144, 2))
layer_report(net, torch.randn(2, 3, 8, 8))

# %% [markdown]
# ## Recap
#
# - Hooks run when you call `module(x)`. A forward hook takes three arguments, and acts by what it **returns**.
# - `args`, `grad_input` and `grad_output` are tuples. A returned tuple replaces all of it.
# - Use `register_full_backward_hook`. The one without *full* reports the last operation.
# - Where operations work in place, put a tensor hook on the output instead.
# - Keep the handle, or better: use `with`.
#
# **Next:** lesson 04 visits every module of a model with `apply`, to initialise, extend and rewire it.
