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
#   gradients, write a recorder that logs every hook of any model, a context manager that leaves no hook behind, and a
#   reader for old checkpoints. And you find out what is wrong with a hook that many old tutorials still use.
# - **You will learn** which hook gets what, what it may return, in which order hooks fire in nested modules, how to
#   take them off again, and where they fail.
# - **You need** lesson 01 (what a module is made of) and lesson 02 (hooks on tensors).
# - **Time** about 170 minutes: twelve exercises for 29 points, and one question in your own words, 2 points. A good
#   place for a break is after the exercise "Who still learns?", when you have met all four kinds of hooks.
# - **Stuck?** `hint()` in any cell gives the next step of help after a failed check; `hint("add_five")`, with an
#   exercise's id, helps to begin.
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

from course import hint, progress
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
from course.compare import AnyOf, Close, Matches
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
            "numbers_for_tensors": {"answer": [Close(one.tolist()) for one in (x1, x2, output)]},
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
            "tuple_for_output": {"output": [x1 + x2 + 5]},
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
try_pre_hook("a tuple of two", lambda module, args: (args[0] + 100, args[1]))
try_pre_hook("one tensor", lambda module, args: args[0] + 100)
try_pre_hook("a list of two", lambda module, args: [args[0] + 100, args[1]])

# %% [markdown]
# Arguments that the caller passes **by name** are not in `args`: an ordinary pre-hook neither sees nor changes them.
# Register with `with_kwargs=True`, and the hook gets a dict of them as well, right after `args`. It then returns `None`
# or a **pair**: the new `args` (a tuple) and the new `kwargs` (a dict). This one gives `x2` a default value, which
# `Add` does not have:

# %%
adder = Add()
adder.register_forward_pre_hook(lambda module, args: print("without:", args))
adder.register_forward_pre_hook(
    lambda module, args, kwargs: print("with:   ", args, kwargs), with_kwargs=True
)
result = adder(torch.ones(1), x2=torch.zeros(1))

adder = Add()
adder.register_forward_pre_hook(
    lambda module, args, kwargs: (args, {"x2": torch.tensor([7.0]), **kwargs}), with_kwargs=True
)
print(adder(torch.tensor([1.0])), adder(torch.tensor([1.0]), x2=torch.tensor([2.0])))

# %% [markdown]
# ### Exercise: Turn one input down
# medium · 8 min · 2 points
#
# You want to know how much a model depends on its second input, so you turn that input down, from outside. Write
# `rescale_argument(module, factor)`. It takes a module whose forward has two arguments, `x1` and `x2`, as `Add` and
# `Model` have, and registers a hook. From then on the module works with `factor * x2`, **however the caller passes**
# `x2`: by place as in `module(x1, x2)`, or by name as in `module(x1, x2=x2)` or `module(x2=x2, x1=x1)`.
#
# `x1` arrives as it is. The caller's own tensors stay as they are, and gradients flow back to them through the factor.
# Return the handle, so that the caller can turn the input up again.


# %% nbgrader={"grade": false, "grade_id": "rescale_argument", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rescale_argument(module, factor):
    """From now on `module` works with `factor * x2`, passed by place or by name. Returns the hook's handle."""
    ### BEGIN SOLUTION

    def scale_x2(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": factor * kwargs["x2"]}
        x1, x2 = args
        return (x1, factor * x2), kwargs

    return module.register_forward_pre_hook(scale_x2, with_kwargs=True)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_rescale_argument", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf
from course.models import Add
from course.probing import ANYTHING, hook_counts, other_forward, other_than


def rescale_inputs(case, *shape):
    """`x1`, `x2`, and a factor between 0.2 and 0.9."""
    return case.tensor("x1", *shape), case.tensor("x2", *shape), case.integer("factor", 2, 9) / 10


# Errors that tell what the hook does not expect.
ERRORS = {
    r"IndexError: (tuple|list) index out of range": "rescale_by_place_only",
    r"ValueError: not enough values to unpack": "rescale_by_place_only",
    r"KeyError: 'x[12]'": "rescale_by_name_only",
    r"TypeError: .*got multiple values for argument": "rescale_handed_over_twice",
    r"RuntimeError: forward pre-hook must return None or a tuple of": "rescale_no_pair",
    r"TypeError: .*argument after \*\* must be a mapping": "rescale_no_pair",
    r"RuntimeError: a (view of a )?leaf Variable that requires grad": "rescale_writes_into_x2",
    r"AttributeError: 'Tensor' object has no attribute '(register_\w+|forward)'": "function_uses_global",
}


class ByPlace(Check):
    """`module(x1, x2)` works with `factor * x2` until the handle is removed; the caller's tensors stay as they were."""

    poison = ("module", "model", "add", "x1", "x2")
    errors = ERRORS

    def probe(self, nb, case):
        x1, x2, factor = rescale_inputs(case, 4)
        module = Add()
        handle = nb.function("rescale_argument")(module, factor)
        found = {"output": module(x1, x2), "x1": x1, "x2": x2, "hooks": sum(hook_counts(module).values())}
        found["a handle is returned"] = callable(getattr(handle, "remove", None))
        if found["a handle is returned"]:
            handle.remove()
            found["output after handle.remove()"] = module(x1, x2)
        return found

    def truth(self, case):
        x1, x2, factor = rescale_inputs(case, 4)
        return {
            "output": x1 + factor * x2, "x1": x1, "x2": x2, "hooks": ANYTHING, "a handle is returned": True,
            "output after handle.remove()": x1 + x2,
        }  # fmt: skip

    def mistakes(self, case):
        x1, x2, factor = rescale_inputs(case, 4)
        return {
            "returns_nothing": {"output": x1 + x2, "hooks": 0, "a handle is returned": False},
            "hook_never_ran": {"output": x1 + x2, "hooks": 0},
            "rescale_writes_into_x2": {"x2": other_than(x2)},
            "rescale_other_argument": {
                "output": AnyOf(factor * x1 + x2, factor * (x1 + x2), x1 + x2 + factor, x1 * factor)
            },
            "rescale_without_effect": {"output": x1 + x2},
            "rescale_other_forward": {"output": x1 + factor * x2, "hooks": 0},
            "rescale_no_handle": {"a handle is returned": False},
            "handle_of_another": {"output after handle.remove()": x1 + factor * x2},
        }


class ByName(Check):
    """`module(x1, x2=x2)`, `module(x1=x1, x2=x2)` and `module(x2=x2, x1=x1)` work with `factor * x2` as well."""

    poison = ("module", "model", "add", "x1", "x2")
    errors = ERRORS

    def probe(self, nb, case):
        x1, x2, factor = rescale_inputs(case, 4)
        module = Add()
        nb.function("rescale_argument")(module, factor)
        return {
            "module(x1, x2=x2)": module(x1, x2=x2),
            "module(x1=x1, x2=x2)": module(x1=x1, x2=x2),
            "module(x2=x2, x1=x1)": module(x2=x2, x1=x1),
            "x2": x2,
        }

    def truth(self, case):
        x1, x2, factor = rescale_inputs(case, 4)
        output = x1 + factor * x2
        names = ("module(x1, x2=x2)", "module(x1=x1, x2=x2)", "module(x2=x2, x1=x1)")
        return {**dict.fromkeys(names, output), "x2": x2}

    def mistakes(self, case):
        x1, x2, factor = rescale_inputs(case, 4)
        return {
            "rescale_writes_into_x2": {"x2": other_than(x2)},
            "rescale_by_place_only": {"module(x1, x2=x2)": x1 + x2},
            "rescale_other_argument": {
                "module(x2=x2, x1=x1)": AnyOf(factor * x1 + x2, factor * (x1 + x2), x1 * factor + x2 * factor)
            },
        }


check("rescale_argument", ByPlace, ByName)


### BEGIN HIDDEN TESTS
class AnyForwardWithGradients(Check):
    """Right for any forward of `x1` and `x2`, and the gradient of `x2` takes the factor into account."""

    poison = ("module", "model", "add", "x1", "x2")
    errors = ERRORS

    def run(self, case, call):
        factor = case.integer("factor", 2, 9) / 10
        x1, x2 = case.tensor("x1", 2, 3, requires_grad=True), case.tensor("x2", 3, requires_grad=True)
        output = call(x1, x2, factor)
        output.backward(case.tensor("upstream", 2, 3))
        return {"output": output, "x1.grad": x1.grad, "x2.grad": x2.grad}

    def probe(self, nb, case):
        def call(x1, x2, factor):
            with other_forward(Add(), lambda self, x1, x2: x1**2 * x2**3) as module:
                nb.function("rescale_argument")(module, factor)
                return module(x1, x2=x2) if case.seed % 2 else module(x1, x2)

        return self.run(case, call)

    def truth(self, case):
        return self.run(case, lambda x1, x2, factor: x1**2 * (factor * x2) ** 3)

    def mistakes(self, case):
        x1, x2, factor = case.tensor("x1", 2, 3), case.tensor("x2", 3), case.integer("factor", 2, 9) / 10
        right = self.truth(case)
        return {
            "formula_of_visible_forward": {
                "output": AnyOf(x1 + factor * x2, x1**2 * x2**3 - (1 - factor) * x2),
            },
            "rescale_cuts_gradient": {"output": right["output"], "x2.grad": other_than(right["x2.grad"])},
        }


class EachModuleItsFactor(Check):
    """Two modules have two factors, and a third one has none."""

    poison = ("module", "model", "add", "x1", "x2")
    errors = ERRORS

    def probe(self, nb, case):
        x1, x2, factor = rescale_inputs(case, 3)
        first, second, third = Add(), Add(), Add()
        nb.function("rescale_argument")(first, factor)
        nb.function("rescale_argument")(second, factor + 1)
        return {
            "the first module": first(x1, x2), "the second module": second(x1, x2), "another module": third(x1, x2)
        }  # fmt: skip

    def truth(self, case):
        x1, x2, factor = rescale_inputs(case, 3)
        return {
            "the first module": x1 + factor * x2, "the second module": x1 + (factor + 1) * x2,
            "another module": x1 + x2,
        }  # fmt: skip

    def mistakes(self, case):
        x1, x2, factor = rescale_inputs(case, 3)
        return {
            "rescale_everywhere": {"another module": other_than(x1 + x2)},
            "rescale_last_factor": {
                "the first module": x1 + (factor + 1) * x2, "the second module": x1 + (factor + 1) * x2
            },
        }  # fmt: skip


check("rescale_argument", AnyForwardWithGradients, EachModuleItsFactor)
### END HIDDEN TESTS

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
two_products.register_full_backward_hook(
    lambda module, grad_input, grad_output: print("hook:    ", grad_input)
)
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
        g_w, output = last[1], x1 * x2 * 5
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
            "parameter_instead_of_module": {"answer": AnyOf([g_w], [g_w, g_w, g_w], list(g_w))},
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
# `grad_input` holds positional inputs only. What was passed by name is not there, like in `args`:

# %%
two_products = Model()
two_products.register_full_backward_hook(
    lambda module, grad_input, grad_output: print(len(grad_input), "entry")
)
two_products(
    torch.ones(2, requires_grad=True), x2=torch.ones(2, requires_grad=True)
).sum().backward()

# %% [markdown]
# ## The first layer: no input needs a gradient
#
# The first layer of nearly every network meets **data**, and data requires no gradient. So nobody computes the
# gradient of this layer's input. What becomes of its hook?

# %%
first = nn.Linear(3, 2)


def tell(module, grad_input, grad_output):
    print("grad_input: ", grad_input)
    print("grad_output:", grad_output[0].tolist())
    print("weight.grad:", module.weight.grad)


first.register_full_backward_hook(tell)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    first(torch.ones(1, 3)).sum().backward()
print(caught[0].category.__name__ + ":", str(caught[0].message).split(". ")[0])

first.requires_grad_(False)  # frozen; the layer behind it still learns
nn.Linear(2, 1)(first(torch.ones(1, 3))).sum().backward()
print("frozen: not a word from the hook")

# %% [markdown]
# It runs as soon as the gradient of the **output** is there. It does not wait for anything else: not even `weight.grad`
# has been written yet. `grad_input` keeps its place for the input, and holds `None` there. PyTorch warns, because
# a hook that takes the entry for a tensor ends with an error, in the middle of backward. So there are three cases:
#
# | the module's input | its output | the hook runs | `grad_input` |
# | --- | --- | --- | --- |
# | requires a gradient | requires a gradient | when the gradient of the input is there | `(gradient,)` |
# | requires none | requires a gradient, because of the parameters | when the gradient of the output is there | `(None,)` |
# | requires none | requires none: its parameters are frozen | never | - |
#
# You meet `None` at other places as well: in `grad_output` for an output that nobody uses, and in `grad_input` for an
# argument that is no tensor. Data **beside** an input that requires a gradient shows zeros:

# %%
two_products = Model()
two_products.register_full_backward_hook(
    lambda module, grad_input, grad_output: print("grad_input:", grad_input)
)
x1 = torch.ones(2, requires_grad=True)
for name, x2 in {"x2 is a number, ": 3.0, "x2 is data,     ": torch.ones(2)}.items():
    print(name, end="")
    two_products(x1, x2).sum().backward()

gru = nn.GRU(2, 3)
gru.register_full_backward_hook(
    lambda module, grad_input, grad_output: print("h is not used,  grad_output:", grad_output)
)
output, h = gru(torch.ones(1, 1, 2, requires_grad=True))
output.sum().backward()

# %% [markdown]
# ### Exercise: How large are the gradients?
# easy · 8 min · 2 points
#
# Do the gradients of a deep network vanish on their way back? Write `gradient_sizes(layer)`. It registers a full
# backward hook on `layer`, a module with one input and one output, and returns a list. Each backward pass through the
# layer adds one entry to the list, a pair: the norm of the gradient of the layer's **input**, then the norm of the
# gradient of its **output**. A norm is a number, `grad.norm().item()`.
#
# It has to work for any layer at any place. Where the input needs no gradient there is none: then the first number is
# `None`. The hook only watches: the data that flows through the layer, and all gradients, stay as they are.


# %% nbgrader={"grade": false, "grade_id": "first_layer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def gradient_sizes(layer):
    """A list to which each backward adds `(norm of the input's gradient or None, norm of the output's gradient)`."""
    ### BEGIN SOLUTION
    sizes = []

    def size(grad):
        return None if grad is None else grad.norm().item()

    def measure(module, grad_input, grad_output):
        sizes.append((size(grad_input[0]), size(grad_output[0])))

    layer.register_full_backward_hook(measure)
    return sizes
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_first_layer", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import itertools

import torch
import torch.nn as nn

from course.checking import Check, check
from course.compare import AnyOf, Close, Matches
from course.probing import ANYTHING, hook_counts, other_than

POISON = ("layer", "net", "x", "model")
NO_LIST = Matches(lambda got: "a list" if isinstance(got, list) else None, "no list")
ANOTHER_NUMBER = Matches(lambda got: None if isinstance(got, float) else "no number", "a number")
ERRORS = {
    r"AttributeError: 'NoneType' object has no attribute '(?!append|extend|insert)": "first_layer_none_as_tensor",
    r"TypeError: .*(must be Tensor, not NoneType|'NoneType')": "first_layer_none_as_tensor",
    r"AttributeError: 'tuple' object has no attribute": "grad_is_a_tuple",
    r"TypeError: .*must be Tensor, not tuple": "grad_is_a_tuple",
    r"RuntimeError: Backward hook for Modules where no input requires gradient": "watcher_changes_gradient",
    r"AttributeError: 'Tensor' object has no attribute 'register_\w*(backward|forward)": "function_uses_global",
}


def norm_of(tensor):
    """The norm of a tensor, as a number or as a tensor of no dimension."""
    return AnyOf(Close(tensor.norm().item()), tensor.norm())


def norm_pairs(*gradients):
    return [(None if one is None else norm_of(one), norm_of(other)) for one, other in gradients]


def five_layer_net():
    return nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))


def flow_through(net, x):
    """Hook-free: what flows between the layers, `x` in front and the output at the end."""
    flow = [x]
    for layer in net:
        flow.append(layer(flow[-1]))
    return flow


class OnTheFirstLayer(Check):
    """The first layer meets data: the entry is `(None, number)`, and the data stays data."""

    poison = POISON
    errors = ERRORS
    claims = ("sizes",)  # the answer itself
    blame = {"x.requires_grad": "first_layer_asks_for_more", "weight.grad": "watcher_changes_gradient"}

    def probe(self, nb, case):
        net, x = case.build("net", five_layer_net), case.tensor("x", 3, 5)
        sizes = nb.function("gradient_sizes")(net[0])
        net(x).backward(case.tensor("upstream", 3, 2))
        slope = torch.zeros(x.shape) if x.grad is None else x.grad
        return {
            "sizes": sizes, "x.requires_grad": x.requires_grad, "weight.grad": net[0].weight.grad,
            "hooks": sum(hook_counts(net).values()), "x and its gradient": x.detach() + slope,
        }  # fmt: skip

    def gradients(self, case):
        net, x = case.build("net", five_layer_net), case.tensor("x", 3, 5, requires_grad=True)
        flow = flow_through(net, x)
        wanted = (x, flow[1], net[0].weight, net[0].bias)
        return torch.autograd.grad(flow[-1], wanted, case.tensor("upstream", 3, 2))

    def output(self, case):
        return case.build("net", five_layer_net)[0](case.tensor("x", 3, 5))

    def truth(self, case):
        _, of_output, of_weight, _ = self.gradients(case)
        return {
            "sizes": norm_pairs((None, of_output)), "x.requires_grad": False, "weight.grad": of_weight, "hooks": ANYTHING,
            "x and its gradient": case.tensor("x", 3, 5),
        }  # fmt: skip

    def mistakes(self, case):
        of_x, of_output, _, of_bias = self.gradients(case)
        out = norm_of(of_output)
        return {
            "hook_never_ran": {"sizes": [], "hooks": 0},
            "returns_nothing": {"sizes": None, "hooks": 0},
            "returns_no_list": {"sizes": NO_LIST},
            "forward_instead_of_backward": {"sizes": norm_pairs((case.tensor("x", 3, 5), self.output(case)))},
            "first_layer_leaves_out": {"sizes": AnyOf([], [[out]], [out])},
            "first_layer_zero_for_none": {"sizes": AnyOf([[0.0, out]], [[torch.tensor(0.0), out]])},
            "first_layer_asks_for_more": {"sizes": norm_pairs((of_x, of_output))},
            "legacy_hook": {"sizes": norm_pairs((of_bias, of_output))},
            "takes_elements_apart": {"sizes": [None, out]},
            "swaps_gradients": {"sizes": [(out, None)]},
            "first_layer_gradient_for_size": {
                "sizes": AnyOf([[None, of_output]], [[[None], [of_output]]], [[None, [of_output]]])
            },
            "first_layer_other_size": {"sizes": [[None, ANOTHER_NUMBER]]},
        }


class InTheMiddle(Check):
    """A layer in the middle of a net: the entry is a pair of two numbers."""

    poison = POISON
    errors = ERRORS

    def probe(self, nb, case):
        net, x = case.build("net", five_layer_net), case.tensor("x", 3, 5)
        sizes = nb.function("gradient_sizes")(net[2])
        net(x).backward(case.tensor("upstream", 3, 2))
        return {"sizes": sizes}

    def truth(self, case):
        flow = flow_through(case.build("net", five_layer_net), case.tensor("x", 3, 5))
        return {"sizes": norm_pairs(torch.autograd.grad(flow[-1], (flow[2], flow[3]), case.tensor("upstream", 3, 2)))}

    def mistakes(self, case):
        ((of_input, of_output),) = self.truth(case)["sizes"]
        return {
            "first_layer_always_none": {"sizes": [(None, of_output)]},
            "swaps_gradients": {"sizes": [(of_output, of_input)]},
        }


check("first_layer", OnTheFirstLayer, InTheMiddle)


### BEGIN HIDDEN TESTS
def net_for_words():
    return nn.Sequential(nn.Embedding(9, 4), nn.Tanh(), nn.Flatten(), nn.Linear(12, 2))


class EveryLayerOfAnother(Check):
    """All layers of another net at once, one of them an Embedding, whose input holds integers: each has its list."""

    poison = POISON
    errors = {
        **ERRORS,
        r"AttributeError: '(Embedding|Tanh|Flatten)' object has no attribute": "first_layer_formula",
        r"RuntimeError: (mat1 and mat2|The size of tensor|size mismatch)": "first_layer_formula",
        r"RuntimeError: only Tensors of floating point": "first_layer_asks_for_more",
    }

    def probe(self, nb, case):
        net, words = case.build("net", net_for_words), case.tensor("words", 2, 3, dtype=torch.int64, positive=True)
        sizes = [nb.function("gradient_sizes")(layer) for layer in net]
        net(words).backward(case.tensor("upstream", 2, 2))
        return {f"list of {type(layer).__name__}": found for layer, found in zip(net, sizes, strict=True)}

    def truth(self, case):
        net, words = case.build("net", net_for_words), case.tensor("words", 2, 3, dtype=torch.int64, positive=True)
        flow = flow_through(net, words)
        gradients = [None, *torch.autograd.grad(flow[-1], flow[1:], case.tensor("upstream", 2, 2))]
        both = itertools.pairwise(gradients)
        return {f"list of {type(layer).__name__}": norm_pairs(one) for layer, one in zip(net, both, strict=True)}

    def mistakes(self, case):
        right = self.truth(case)
        together = [pair for found in right.values() for pair in found]
        return {
            "shared_list": {"list of Embedding": together[::-1]},
            "first_layer_formula": {"list of Embedding": right["list of Embedding"]},
        }


class TwoPasses(Check):
    """Passes through the first layer, in some of which the data needs a gradient: each gives an entry of its own."""

    poison = POISON
    errors = ERRORS

    def given(self, case):
        """The data of each pass; in which of them it needs a gradient, no answer can know."""
        needs = case.shuffled("needs a gradient", [True, False, True, False, True, False])
        return [case.tensor(f"x {number}", 3, 5, requires_grad=needed) for number, needed in enumerate((False, *needs))]

    def probe(self, nb, case):
        net = case.build("net", five_layer_net)
        sizes = nb.function("gradient_sizes")(net[0])
        for number, x in enumerate(self.given(case)):
            net(x).backward(case.tensor(f"upstream {number}", 3, 2))
        return {"sizes": sizes}

    def truth(self, case):
        found = []
        for number, x in enumerate(self.given(case)):
            flow = flow_through(case.build("net", five_layer_net), x)
            wanted = (x, flow[1]) if x.requires_grad else (flow[1],)
            gradients = torch.autograd.grad(flow[-1], wanted, case.tensor(f"upstream {number}", 3, 2))
            found.append((gradients[0] if x.requires_grad else None, gradients[-1]))
        return {"sizes": norm_pairs(*found)}

    def mistakes(self, case):
        pairs = self.truth(case)["sizes"]
        guessed = [(None, ANYTHING), *((other_than(None), ANYTHING) for _ in pairs[1:])]
        return {
            "runs_only_once": {"sizes": pairs[:1]},
            "keeps_last_only": {"sizes": pairs[-1:]},
            "first_layer_from_weight": {"sizes": guessed},
        }


check("first_layer", EveryLayerOfAnother, TwoPasses)
### END HIDDEN TESTS

# %% [markdown]
# ## What a full backward hook may return
#
# A full backward hook may return new gradients for the inputs: a tuple with **one entry for each positional input**.
# They flow on to whatever made the inputs. The module's own parameters do not notice: their gradients follow from
# `grad_output`.


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
try_backward_hook(
    "two gradients", lambda module, grad_input, grad_output: (grad_input[0] * 10, grad_input[1])
)
try_backward_hook("one tensor", lambda module, grad_input, grad_output: grad_input[0] * 10)
try_backward_hook(
    "another shape", lambda module, grad_input, grad_output: (torch.ones(2), torch.ones(2))
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
# ## Before or after the module's own part
#
# Backward goes through a module in three steps. The gradient of the output arrives. From it autograd computes the
# gradients of the module's own parameters, and that of the input. Then the gradient of the input travels on. Of the
# two kinds of backward hooks one stands in front of this work, the other one behind it:
#
# ```text
#   from the loss
#        │
#        ▼
#   grad_output ──► full backward PRE-hook ──► own part: W.grad
#                                                   │
#                                                   ▼
#   layers in front ◄── grad_input ◄── full backward hook
# ```
#
# Both may replace what they get. A full backward **pre**-hook returns a new `grad_output`, again a tuple with one
# entry for each output. Multiply by 10 at either place, and compare who notices:

# %%
try_backward_hook("none", lambda module, grad_input, grad_output: None)
try_backward_hook(
    "full backward hook",
    lambda module, grad_input, grad_output: tuple(g * 10 for g in grad_input),
)
try_backward_hook(
    "pre-hook",
    lambda module, grad_output: tuple(g * 10 for g in grad_output),
    "register_full_backward_pre_hook",
)

# %% [markdown]
# ### Exercise: Who still learns?
# medium · 12 min · 3 points
#
# You want to train only a part of a network, and steer it from outside, with one hook for each wish:
#
# - `stop_in_front(module)`: the module itself still learns as before, but the layers in front of it get gradients of
#   **zero** through it.
# - `stop_from_here(module)`: the module's own parameters get gradients of zero as well.
#
# Both return the handle; once it is removed, everything learns as before. What comes out of the network does not
# change, nor do gradients that do not come through the module: those of the layers behind it, and those that take
# another way around it, as in `x + module(x)`.
#
# Write zeros, tensors of zeros and not `None`, whatever the gradient was: also where it was `inf` or `nan`. The module
# may have several inputs and outputs, and an entry that **is** `None` must stay `None`.


# %% nbgrader={"grade": false, "grade_id": "backward_pre_or_post", "locked": false, "schema_version": 3, "solution": true, "task": false}
def stop_in_front(module):
    """`module` learns, the layers in front of it get gradients of zero through it. Returns the handle."""
    ### BEGIN SOLUTION

    def zero_what_leaves(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return module.register_full_backward_hook(zero_what_leaves)
    ### END SOLUTION


def stop_from_here(module):
    """`module` and the layers in front of it get gradients of zero. Returns the handle."""
    ### BEGIN SOLUTION

    def zero_what_arrives(module, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

    return module.register_full_backward_pre_hook(zero_what_arrives)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_backward_pre_or_post", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch
import torch.nn as nn

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.probing import ANYTHING, hook_counts, other_than
from course.traces import full_hook_beside

POISON = ("module", "model", "net", "x", "x1", "x2")
ERRORS = {
    r"RuntimeError: Backward pre hook returned an invalid number of grad_output": "stop_pre_hook_return",
    r"RuntimeError: Backward hook for Modules where no input requires gradient": "stop_none_replaced",
    r"TypeError: .*(must be Tensor, not NoneType|'NoneType')": "first_layer_none_as_tensor",
    r"AttributeError: 'NoneType' object has no attribute 'remove'": "stop_no_handle",
    r"AttributeError: 'NoneType' object": "first_layer_none_as_tensor",
    r"AttributeError: 'tuple' object has no attribute": "grad_is_a_tuple",
    r"TypeError: .*must be Tensor, not tuple": "grad_is_a_tuple",
    r"TypeError: expected Variable, but hook returned": "stop_number_for_tensor",
    r"TypeError: object of type '(int|float)' has no len": "stop_number_for_tensor",
    r"TypeError: object of type 'generator' has no len": "stop_generator",
    r"AttributeError: 'Tensor' object has no attribute '(register_\w+|parameters)'": "function_uses_global",
}


def three_linear_net():
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3), nn.Tanh(), nn.Linear(3, 2))


def output_and_gradients(net, case):
    """Output and gradients of one forward and backward. The fields are named for their place in the network."""
    net.zero_grad()
    x = case.tensor("x", 6, 4, requires_grad=True)
    output = net(x)
    output.backward(case.tensor("upstream", 6, 2))
    return {
        "output": output,
        "behind: net[4].weight.grad": net[4].weight.grad,
        "own: net[2].weight.grad": net[2].weight.grad,
        "own: net[2].bias.grad": net[2].bias.grad,
        "in front: net[0].weight.grad": net[0].weight.grad,
        "in front: x.grad": x.grad,
    }  # fmt: skip


def with_zeros_at(fields, *places):
    """The same with zeros for the gradients at these places."""
    return {
        name: torch.zeros_like(value) if name.split(":")[0] in places else value for name, value in fields.items()
    }  # fmt: skip


class StopBetween(Check):
    """Shared by the two checks that hook the layer in the middle of three."""

    function = ""
    places = ()
    poison = POISON
    errors = ERRORS
    blame = {
        "output": "changes_the_value",
        "behind: net[4].weight.grad": "global_hook",
        "own: net[2].bias.grad": "stop_some_parameters",
    }

    def probe(self, nb, case):
        net = case.build("net", three_linear_net)
        handle = nb.function(self.function)(net[2])
        found = output_and_gradients(net, case)
        found["a handle is returned"] = callable(getattr(handle, "remove", None))
        found["deprecated hook"] = net[2]._is_full_backward_hook is False
        found["hooks in the network"] = sum(hook_counts(net).values())
        found["a full backward hook beside it"] = full_hook_beside(net[2], case)
        return found

    def truth(self, case):
        free = output_and_gradients(case.build("net", three_linear_net), case)
        return {
            **with_zeros_at(free, *self.places), "a handle is returned": True, "deprecated hook": False,
            "hooks in the network": ANYTHING, "a full backward hook beside it": [case.tensor("beside", 3)],
        }  # fmt: skip

    def mistakes(self, case):
        free = output_and_gradients(case.build("net", three_linear_net), case)
        front, own, of_x = "in front: net[0].weight.grad", "own: net[2].weight.grad", "in front: x.grad"
        missing = AnyOf({front: None}, {own: None}, {of_x: None})
        return {
            "legacy_hook": {"deprecated hook": True},
            "global_hook": {"hooks in the network": 0, of_x: torch.zeros(6, 4), "output": free["output"]},
            "returns_nothing": {own: free[own], of_x: free[of_x], "a handle is returned": False, "hooks in the network": 0},
            "no_grad_is_not_zero": missing,
            "stop_without_effect": {own: free[own], of_x: free[of_x]},
            "stop_own_only": {own: torch.zeros_like(free[own]), of_x: free[of_x]},
            "stop_no_handle": {**self.truth(case), "a handle is returned": False},
        }


class InFront(StopBetween):
    """`stop_in_front`: the module and what is behind it learn as before; gradients in front of it are zero."""

    function = "stop_in_front"
    places = ("in front",)

    def mistakes(self, case):
        return {
            **super().mistakes(case),
            "stop_too_early": {"own: net[2].weight.grad": torch.zeros(3, 5), "in front: x.grad": torch.zeros(6, 4)},
        }


class FromHere(StopBetween):
    """`stop_from_here`: what is behind the module learns as before; its own gradients, and those in front, are zero."""

    function = "stop_from_here"
    places = ("own", "in front")

    def mistakes(self, case):
        free = output_and_gradients(case.build("net", three_linear_net), case)
        return {
            **super().mistakes(case),
            "stop_too_late": {
                "own: net[2].weight.grad": free["own: net[2].weight.grad"], "in front: x.grad": torch.zeros(6, 4)
            },
        }  # fmt: skip


check("backward_pre_or_post", InFront, FromHere)


### BEGIN HIDDEN TESTS
class CrossingModule(nn.Module):
    """Two inputs, two outputs."""

    def __init__(self):
        super().__init__()
        self.W = nn.Parameter(torch.rand(3) + 0.5)

    def forward(self, a, b):
        return a * b * self.W, a + b * self.W


def through_crossing(module, case, entries):
    """Gradients after a backward from the first output, or from both, where one input may be data."""
    a = case.tensor("a", 2, 3, requires_grad=True)
    b = case.tensor("b", 2, 3, requires_grad=entries != "one input is data")
    one, two = module(a * 1, b * 1)
    loss = (one * case.tensor("upstream 1", 2, 3)).sum()
    if entries != "one output is not used":
        loss = loss + (two * case.tensor("upstream 2", 2, 3)).sum()
    loss.backward()
    return {"W.grad": module.W.grad, "a.grad": a.grad, "b.grad": b.grad}


CROSSINGS = ("all are used", "one output is not used", "one input is data")


class SeveralInputsAndOutputs(Check):
    """Modules with two inputs and two outputs: each entry is dealt with, and one that is None stays None."""

    poison = POISON
    errors = {**ERRORS, r"RuntimeError: Backward hook returned an invalid number": "stop_first_entry_only"}

    def probe(self, nb, case):
        found = {}
        for name in ("stop_in_front", "stop_from_here"):
            for entries in CROSSINGS:
                module = case.build("crossing", CrossingModule)
                nb.function(name)(module)
                for field, grad in through_crossing(module, case, entries).items():
                    found[f"{name}, {entries}: {field}"] = grad
            layer = case.build("layer", nn.Linear, 3, 2)
            nb.function(name)(layer)
            layer(case.tensor("data", 4, 3)).backward(case.tensor("upstream", 4, 2))
            found[f"{name}, first layer: weight.grad"] = layer.weight.grad
        return found

    def truth(self, case):
        found = {}
        for name in ("stop_in_front", "stop_from_here"):
            for entries in CROSSINGS:
                free = through_crossing(case.build("crossing", CrossingModule), case, entries)
                stopped = ("a.grad", "b.grad") if name == "stop_in_front" else ("W.grad", "a.grad", "b.grad")
                for field, grad in free.items():
                    zero = field in stopped and grad is not None
                    found[f"{name}, {entries}: {field}"] = torch.zeros_like(grad) if zero else grad
            layer = case.build("layer", nn.Linear, 3, 2)
            layer(case.tensor("data", 4, 3)).backward(case.tensor("upstream", 4, 2))
            grad = layer.weight.grad
            zero = name == "stop_from_here"
            found[f"{name}, first layer: weight.grad"] = torch.zeros_like(grad) if zero else grad
        return found

    def mistakes(self, case):
        free = through_crossing(case.build("crossing", CrossingModule), case, "all are used")
        return {
            "stop_first_entry_only": AnyOf(
                {"stop_in_front, all are used: b.grad": free["b.grad"]},
                {"stop_from_here, all are used: W.grad": other_than(torch.zeros(3))},
            )
        }


class AroundTheModule(Check):
    """`h + module(h)`: the gradient that goes around the module stays as it is, and so does the caller's tensor."""

    poison = POISON
    errors = ERRORS

    def run(self, case, way):
        """The gradient of h, and what the caller handed to backward. `way(h)` is the module's part."""
        x, upstream = case.tensor("x", 4, 3, requires_grad=True), case.tensor("upstream", 4, 3)
        h = x * 2
        (h + way(h)).backward(upstream)
        return {"x.grad": x.grad, "the tensor given to backward": upstream}

    def probe(self, nb, case):
        found = {}
        for name in ("stop_in_front", "stop_from_here"):
            module = case.build("module", nn.Linear, 3, 3)
            nb.function(name)(module)
            shift = nn.Identity()
            nb.function(name)(shift)
            found |= {f"{name}: {field}": value for field, value in self.run(case, module).items()}
            found |= {f"{name}, Identity: {field}": value for field, value in self.run(case, shift).items()}
        return found

    def truth(self, case):
        around = self.run(case, torch.zeros_like)
        places = ("stop_in_front", "stop_in_front, Identity", "stop_from_here", "stop_from_here, Identity")
        return {f"{place}: {field}": value for place in places for field, value in around.items()}

    def mistakes(self, case):
        right, zero = self.truth(case), torch.zeros(4, 3)
        places = ("stop_in_front", "stop_in_front, Identity", "stop_from_here", "stop_from_here, Identity")
        others = [
            {f"{place}: x.grad": zero, f"{place}: the tensor given to backward": case.tensor("upstream", 4, 3)}
            for place in places
        ]
        return {
            "stop_hooks_the_tensor": AnyOf(*({**right, **one} for one in others)),
            "edits_in_place": AnyOf(*({name: zero} for name in right)),
        }


class InfinityAndRemoval(Check):
    """Zero also where the gradient was inf or nan; once the handle is removed, everything learns as before."""

    poison = POISON
    errors = ERRORS
    first = "the gradient is infinite"

    def probe(self, nb, case):
        found = {}
        for name in ("stop_in_front", "stop_from_here"):
            layer, x = case.build("layer", nn.Linear, 3, 2), case.tensor("x", 4, 3, requires_grad=True)
            handle = nb.function(name)(layer)
            layer(x).backward(torch.full((4, 2), float("inf")))
            found[f"{name}: x.grad, {self.first}"] = x.grad
            for moment, upstream in (("again", "upstream 2"), ("handle removed", "upstream 3")):
                x.grad = layer.weight.grad = None
                if moment == "handle removed":
                    handle.remove()
                layer(x).backward(case.tensor(upstream, 4, 2))
                found[f"{name}: x.grad, {moment}"] = x.grad
                found[f"{name}: weight.grad, {moment}"] = layer.weight.grad
        return found

    def truth(self, case):
        found = {}
        for name in ("stop_in_front", "stop_from_here"):
            layer, x = case.build("layer", nn.Linear, 3, 2), case.tensor("x", 4, 3, requires_grad=True)
            found[f"{name}: x.grad, {self.first}"] = torch.zeros(4, 3)
            for moment, upstream in (("again", "upstream 2"), ("handle removed", "upstream 3")):
                of_x, of_weight = torch.autograd.grad(layer(x), (x, layer.weight), case.tensor(upstream, 4, 2))
                if moment == "again":
                    of_x = torch.zeros_like(of_x)
                    of_weight = torch.zeros_like(of_weight) if name == "stop_from_here" else of_weight
                found[f"{name}: x.grad, {moment}"] = of_x
                found[f"{name}: weight.grad, {moment}"] = of_weight
        return found

    def mistakes(self, case):
        functions = ("stop_in_front", "stop_from_here")
        layer, x = case.build("layer", nn.Linear, 3, 2), case.tensor("x", 4, 3, requires_grad=True)
        (plain,) = torch.autograd.grad(layer(x), x, case.tensor("upstream 2", 4, 2))
        nan = Matches(lambda got: None if got.tensor().isnan().all() else "numbers", "nan")
        return {
            "stop_times_zero": AnyOf(*({f"{name}: x.grad, {self.first}": nan} for name in functions)),
            "runs_only_once": AnyOf(*({f"{name}: x.grad, again": plain} for name in functions)),
            "handle_of_another": AnyOf(
                *({f"{name}: x.grad, handle removed": torch.zeros(4, 3)} for name in functions)
            ),
        }


check("backward_pre_or_post", SeveralInputsAndOutputs, AroundTheModule, InfinityAndRemoval)
### END HIDDEN TESTS

# %% [markdown]
# ## The order in nested modules
#
# Modules contain modules, and each level may have hooks. Which one comes first? The picture below runs one forward and
# one backward of a real network, with hooks of all four kinds on every module, and numbers them as they fire. Forward
# is the left half, backward the right half. Indented names are inner modules; a bar reaches from the hook that opens
# a module to the one that closes it.

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
# the same in the other direction: the block that ran last comes first.
#
# Now the same network with an input that requires no gradient. Look at what happens to number 16, and to the block
# that meets the data first: their hooks do not wait for the inner modules any more. You know the reason from the
# first layer.

# %%
draw_hook_timeline(
    nn.Sequential(Block(), Block()),
    torch.ones(2, 3),
    title="The same, but the input requires no gradient",
)

# %% [markdown]
# A hook knows its module, but not the module's name: names belong to the model. So the name must be handed over when
# the hook is registered. Beware of loops. A function looks a variable up when it **runs**, and by then the loop is over:

# %%
net = nn.Sequential(nn.Linear(3, 3), nn.Tanh())

print("the loop's variable:  ", end="")
handles = []
for name, module in net.named_children():
    handles.append(
        module.register_forward_hook(lambda module, args, output: print(name, end=" "))
    )
result = net(torch.ones(3))
for handle in handles:
    handle.remove()

print("\nits value, by partial:", end=" ")
for name, module in net.named_children():
    module.register_forward_hook(
        partial(lambda own_name, module, args, output: print(own_name, end=" "), name)
    )
result = net(torch.ones(3))

# %% [markdown]
# ### Exercise: A flight recorder
# hard · 15 min · 3 points
#
# Write your own recorder, for any model. `event_log(model)` registers hooks of all four kinds on every module, and on
# the model itself, and returns a list. The list then grows with each forward and each backward pass, an entry each
# time a hook fires: a pair `(kind, name)`.
#
# - `kind` is one of `"forward_pre"`, `"forward"`, `"backward_pre"` and `"backward"`.
# - `name` is what `model.named_modules()` calls the module: `"0.fc"` for the picture's first layer, `""` for the model.
#
# So one forward of `nn.Sequential(nn.Tanh())` gives `("forward_pre", ""), ("forward_pre", "0"), ("forward", "0"),
# ("forward", "")`. A module that is used twice appears twice. One that stands at two places of the model is one
# module still: one hook of each kind, under its first name.


# %% nbgrader={"grade": false, "grade_id": "event_log", "locked": false, "schema_version": 3, "solution": true, "task": false}
def event_log(model):
    """A list to which each hook of each module of `model` adds `(kind, name)` when it fires."""
    ### BEGIN SOLUTION
    log = []

    def note(kind, name, *whatever_the_hook_gets):
        log.append((kind, name))

    for name, module in model.named_modules():
        module.register_forward_pre_hook(partial(note, "forward_pre", name))
        module.register_forward_hook(partial(note, "forward", name))
        module.register_full_backward_pre_hook(partial(note, "backward_pre", name))
        module.register_full_backward_hook(partial(note, "backward", name))
    return log
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_event_log", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import warnings

import torch
import torch.nn as nn

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.probing import hook_counts

POISON = ("model", "net", "module", "x", "layer")
FOUR_KINDS = ("forward_pre", "forward", "backward_pre", "backward")
NO_LIST = Matches(lambda got: "a list" if isinstance(got, list) else None, "no list")
ERRORS = {
    r"AttributeError: 'Tensor' object has no attribute '(named_\w+|modules|children|register_\w+)'": "function_uses_global",
    r"RuntimeError: (Backward hook|hook '.*' has changed)": "watcher_changes_gradient",
    r"TypeError: .*must be Tensor, not": "watcher_changes_output",
    r"TypeError: '(NoneType|tuple|str)' object is not callable": "event_log_calls_hook",
}


def nested_net():
    return nn.Sequential(nn.Sequential(nn.Linear(3, 4), nn.Tanh()), nn.Sequential(nn.Linear(4, 2), nn.Sigmoid()))


def log_by_definition(model):
    """All four hooks on each module of a hook-free copy, in the plainest way: the definition of the order."""
    log = []

    def hooks_of(name):
        return (
            lambda module, args: log.append(("forward_pre", name)),
            lambda module, args, output: log.append(("forward", name)),
            lambda module, grad_output: log.append(("backward_pre", name)),
            lambda module, grad_input, grad_output: log.append(("backward", name)),
        )

    for name, module in model.named_modules():
        forward_pre, forward, backward_pre, backward = hooks_of(name)
        module.register_forward_pre_hook(forward_pre)
        module.register_forward_hook(forward)
        module.register_full_backward_pre_hook(backward_pre)
        module.register_full_backward_hook(backward)
    return log


def log_without(log, *names):
    return [[kind, name] for kind, name in log if name not in names]


def log_of_kinds(log, *kinds):
    return [[kind, name] for kind, name in log if kind in kinds]


def same_but_for(log, index):
    """As many entries as wanted, right but for the kinds (0) or the names (1)."""

    def test(got):
        fits = len(got) == len(log) and [one[1 - index] for one in got] == [two[1 - index] for two in log]
        return None if fits and [tuple(one) for one in got] != log[::-1] else "another list"

    return Matches(test, "the same but for one part")


def in_another_order(log):
    """The wanted entries in another order."""
    entries = sorted([kind, name] for kind, name in log)
    return Matches(lambda got: None if sorted(got) == entries else "other entries", "another order")


class OneRun(Check):
    """One forward and one backward of a nested model are logged as they happen, with the names of all modules."""

    poison = POISON
    errors = ERRORS
    blame = {"output": "watcher_changes_output", "x.grad": "watcher_changes_gradient"}

    claims = ("log",)  # the answer itself

    def run(self, case, start):
        model, x = case.build("model", nested_net), case.tensor("x", 2, 3, requires_grad=True)
        log = start(model)
        output = model(x)
        output.backward(case.tensor("upstream", 2, 2))
        return {"log": log, "output": output, "x.grad": x.grad, "hooks": sum(hook_counts(model).values())}

    def probe(self, nb, case):
        return self.run(case, nb.function("event_log"))

    def truth(self, case):
        return {**self.run(case, log_by_definition), "hooks": Matches(lambda got: None, "any number")}

    def mistakes(self, case):
        log = self.truth(case)["log"]
        names = list(dict.fromkeys(name for _, name in log))
        return {
            "hook_never_ran": {"log": [], "hooks": 0},
            "returns_nothing": {"log": None, "hooks": 0},
            "returns_no_list": {"log": NO_LIST},
            "event_log_first_level": {"log": AnyOf(log_without(log, *(n for n in names if n.count("."))), [
                [kind, name] for kind, name in log if name and not name.count(".")
            ])},
            "root_missing": {"log": log_without(log, "")},
            "event_log_leaves_only": {"log": log_without(log, "", "0", "1")},
            "event_log_kinds_missing": {
                "log": AnyOf(log_of_kinds(log, "forward_pre", "forward"), log_of_kinds(log, "backward_pre", "backward"),
                             log_of_kinds(log, "forward", "backward"), *(
                    log_of_kinds(log, *(kind for kind in FOUR_KINDS if kind != missing)) for missing in FOUR_KINDS
                ))
            },
            "loop_variable": {
                "log": Matches(
                    lambda got: None if len(got) == len(log) and len({one[1] for one in got}) == 1 else "other names",
                    "one name throughout",
                )
            },
            "event_log_swaps_pair": {"log": [[name, kind] for kind, name in log]},
            "event_log_other_kinds": {"log": same_but_for(log, 0)},
            "event_log_other_names": {"log": same_but_for(log, 1)},
            "takes_elements_apart": {"log": [part for entry in log for part in entry]},
            "event_log_order": {"log": in_another_order(log)},
            "event_log_registered_again": {
                "log": Matches(
                    lambda got: None if len(got) > len(log) and {*map(tuple, got)} == set(log) else "other entries",
                    "the right entries, some more often",
                )
            },
        }  # fmt: skip


check("event_log", OneRun)


### BEGIN HIDDEN TESTS
class ResidualModule(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)


def deep_net():
    return nn.Sequential(
        nn.Linear(4, 3),
        ResidualModule(nn.Sequential(nn.Linear(3, 3), ResidualModule(nn.Tanh()))),
        nn.ReLU(),
        ResidualModule(nn.Linear(3, 3)),
    )


def net_with_reuse():
    layer, act = nn.Linear(3, 3), nn.Tanh()
    return nn.Sequential(layer, act, nn.Sequential(layer, act), act)


class OnData(Check):
    """Another, deeper model with other names, on data that requires no gradient."""

    claims = ("log",)  # the answer itself
    poison = POISON
    errors = ERRORS

    def run(self, case, start):
        model = case.build("model", deep_net)
        log = start(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a hook where no input requires a gradient
            model(case.tensor("x", 2, 4)).sum().backward()
        return {"log": log}

    def probe(self, nb, case):
        return self.run(case, nb.function("event_log"))

    def truth(self, case):
        return self.run(case, log_by_definition)

    def mistakes(self, case):
        log = self.truth(case)["log"]
        return {
            "event_log_two_levels": {"log": [[kind, name] for kind, name in log if name.count(".") < 2]},
            "event_log_other_names": {"log": same_but_for(log, 1)},
            "event_log_order": {"log": in_another_order(log)},
            "event_log_written_down": {"log": Matches(lambda got: None if got else "nothing", "other entries")},
        }


class ReusedModules(Check):
    """A module that runs several times appears each time; one that stands at two places is hooked once."""

    claims = ("log",)  # the answer itself
    poison = POISON
    errors = ERRORS

    def run(self, case, start):
        model = case.build("model", net_with_reuse)
        log = start(model)
        model(case.tensor("x", 2, 3, requires_grad=True)).sum().backward()
        return {"log": log}

    def probe(self, nb, case):
        return self.run(case, nb.function("event_log"))

    def truth(self, case):
        return self.run(case, log_by_definition)

    def mistakes(self, case):
        log = self.truth(case)["log"]
        first = list(dict.fromkeys(log))
        return {
            "event_log_keeps_first": {"log": AnyOf(first, in_another_order(first))},
            "event_log_hooks_twice": {"log": Matches(lambda got: None if len(got) > len(log) else "short", "more")},
            "event_log_other_names": {"log": same_but_for(log, 1)},
        }


class TwoModelsTwoRuns(Check):
    """The log grows with each run, and each model has a log of its own."""

    claims = ("log of the first model", "log of the second model")  # the answer itself
    poison = POISON
    errors = ERRORS

    def run(self, case, start):
        one, two = case.build("one", nested_net), case.build("two", nested_net)
        logs = start(one), start(two)
        for model in (one, two, one):
            model(case.tensor("x", 2, 3, requires_grad=True)).sum().backward()
        with torch.no_grad():
            two(case.tensor("x", 2, 3))
        return {"log of the first model": logs[0], "log of the second model": logs[1]}

    def probe(self, nb, case):
        return self.run(case, nb.function("event_log"))

    def truth(self, case):
        return self.run(case, log_by_definition)

    def mistakes(self, case):
        right = self.truth(case)
        run = case.build("one", nested_net)
        log = log_by_definition(run)
        run(case.tensor("x", 2, 3, requires_grad=True)).sum().backward()
        return {
            "runs_only_once": {"log of the first model": log, "log of the second model": log},
            "shared_list": {
                "log of the first model": Matches(
                    lambda got: None if len(got) > len(right["log of the first model"]) else "short", "more entries"
                )
            },
        }


check("event_log", OnData, ReusedModules, TwoModelsTwoRuns)
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
from course.compare import AnyOf, Matches
from course.models import Model


def at_other_inputs(got):
    """Whether the two reports fit together, as they do for any inputs."""
    (weight, product), (first, second) = ([one.tensor() for one in report] for report in got)
    fit = torch.equal(weight, torch.tensor([5.0])) and torch.allclose(product * 25, first * second)
    return None if fit else "something else"


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
            "autopsy_weight_gradient": {"answer": AnyOf(*([[*last, none], [*true, last[1]]] for none in (None, last[1])))},
            "autopsy_other_inputs": {"answer": Matches(at_other_inputs, "two reports that fit together")},
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
    hook = lambda module, grad_input, grad_output: shapes.extend(
        tuple(grad.shape) for grad in grad_input
    )
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
# The cure comes from lesson 02: a *tensor hook* wraps nothing. A forward hook is the place where you meet the tensor,
# fresh from the layer, **before** the next operation writes into it. That moment matters. A tensor hook belongs to the
# value that the tensor has when you register it. The same tensor, hooked before and after an in-place ReLU:

# %%
x = torch.tensor([-1.0, 2.0], requires_grad=True)
tensor, seen = x * 1, {}
tensor.register_hook(lambda grad: seen.update(before=grad.tolist()))
tensor.relu_()
tensor.register_hook(lambda grad: seen.update(after=grad.tolist()))
tensor.retain_grad()  # at whatever moment you ask for it, it means the last value
tensor.backward(torch.tensor([5.0, 7.0]))

print("hooked before, gradient of [-1., 2.]:", seen["before"])
print("hooked after, gradient of [0., 2.]:  ", seen["after"])
print("retain_grad:                         ", tensor.grad.tolist())

# %% [markdown]
# The layer in front has made `[-1., 2.]`, and the ReLU lets no gradient through to the -1. So the first line is what
# you want. The other two tell the gradient of the ReLU's result.
#
# One more trap: under `torch.no_grad()` the model runs, too, and its tensors require no gradient. A tensor hook cannot
# be registered on those, it raises an error.
#
# ### Exercise: In front of an in-place ReLU
# medium · 8 min · 2 points
#
# Write `output_gradients(layer)`. It returns a list, to which each backward pass adds the gradient of what `layer` has
# put out, as a tensor: of the value that came out of the layer, before anybody changed it in place. It works in front
# of any in-place operation. If the layer runs several times, each of its outputs has an entry of its own, in the order
# in which backward comes to them. Running the model under `torch.no_grad()` adds nothing and still works.
#
# What the model puts out does not change. The deprecated hook does not count.


# %% nbgrader={"grade": false, "grade_id": "in_place_safe", "locked": false, "schema_version": 3, "solution": true, "task": false}
def output_gradients(layer):
    """A list to which each backward adds the gradient of the output of `layer`, as it was before in-place changes."""
    ### BEGIN SOLUTION
    gradients = []

    def meet_output(module, args, output):
        if output.requires_grad:
            output.register_hook(gradients.append)

    layer.register_forward_hook(meet_output)
    return gradients
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_in_place_safe", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch
import torch.nn as nn

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.evidence import snapshot
from course.probing import ANYTHING, hook_counts, other_than
from course.traces import full_hook_beside

POISON = ("layer", "net", "model", "x")
NO_LIST = Matches(lambda got: "a list" if isinstance(got, list) else None, "no list")
ERRORS = {
    r"AttributeError: 'NoneType' object has no attribute 'register_(pre)?hook'": "no_gradient_needed",
    r"RuntimeError: can't retain_grad on Tensor that has requires_grad=False": "no_gradient_needed",
    r"AttributeError: 'Tensor' object has no attribute 'register_\w*(backward|forward)": "function_uses_global",
    r"AttributeError: 'tuple' object has no attribute": "grad_is_a_tuple",
    r"TypeError: .*must be Tensor, not": "watcher_changes_output",
}


def net_with_relu(inplace):
    return nn.Sequential(nn.Linear(4, 6), nn.ReLU(inplace=inplace), nn.Linear(6, 2))


class InFrontOfReLU(Check):
    """In front of an in-place ReLU, the list gets the gradient of what the layer put out."""

    poison = POISON
    errors = ERRORS
    blame = {"output": "watcher_changes_output", "weight.grad": "watcher_changes_gradient"}

    def probe(self, nb, case):
        net = case.build("net", net_with_relu, True)
        gradients = nb.function("output_gradients")(net[0])
        output = net(case.tensor("x", 5, 4))
        output.backward(case.tensor("upstream", 5, 2))
        return {
            "gradients": snapshot(gradients), "output": output, "weight.grad": net[0].weight.grad.clone(),
            "deprecated hook": net[0]._is_full_backward_hook is False, "hooks": sum(hook_counts(net).values()),
            "a full backward hook beside it": full_hook_beside(net[0], case),
        }  # fmt: skip

    def flow(self, case):
        net = case.build("net", net_with_relu, False)
        linear = net[0](case.tensor("x", 5, 4))
        relu = net[1](linear)
        return net, linear, relu, net[2](relu)

    def truth(self, case):
        net, linear, _, output = self.flow(case)
        of_linear, of_weight = torch.autograd.grad(output, (linear, net[0].weight), case.tensor("upstream", 5, 2))
        return {
            "gradients": [of_linear], "output": output, "weight.grad": of_weight, "deprecated hook": False,
            "hooks": ANYTHING, "a full backward hook beside it": [case.tensor("beside", 3)],
        }  # fmt: skip

    def mistakes(self, case):
        net, linear, relu, output = self.flow(case)
        upstream = case.tensor("upstream", 5, 2)
        of_relu, of_weight, of_bias = torch.autograd.grad(output, (relu, net[0].weight, net[0].bias), upstream)
        right = self.truth(case)["gradients"][0]
        return {
            "legacy_hook": {"deprecated hook": True},
            "hook_never_ran": {"gradients": [], "hooks": 0},
            "returns_nothing": {"gradients": None, "hooks": 0},
            "returns_no_list": {"gradients": NO_LIST},
            "in_place_behind": {"gradients": AnyOf([of_relu], [relu])},
            "keeps_the_tensor": {"gradients": AnyOf([linear], [output])},
            "in_place_of_parameter": {"gradients": AnyOf([of_weight], [of_bias], [of_weight, of_bias], [of_bias, of_weight])},
            "in_place_of_network": {"gradients": [upstream]},
            "in_place_outside_of_graph": {"gradients": AnyOf([], [None])},
            "splits_gradient": {"gradients": [*right]},
            "keeps_the_tuple": {"gradients": [[right]]},
        }


check("in_place_safe", InFrontOfReLU)


### BEGIN HIDDEN TESTS
class OtherInPlaceOperations(Check):
    """In front of other in-place operations than ReLU: SiLU, an addition, a product."""

    poison = POISON
    errors = ERRORS
    places = ("SiLU", "+=", "*=")

    def run(self, case, start, name, inplace):
        layer = case.build(name, nn.Linear, 3, 4)
        entries = start(layer)
        h = layer(case.tensor(f"x {name}", 2, 3))
        kept = h if not inplace else None
        shift, upstream = case.tensor("shift", 4), case.tensor(f"upstream {name}", 2, 4)
        if name == "SiLU":
            h = nn.functional.silu(h, inplace=inplace)
        elif name == "+=":
            h = h.add_(shift).sigmoid_() if inplace else (h + shift).sigmoid()
        else:
            h = h.mul_(shift).tanh_() if inplace else (h * shift).tanh()
        if inplace:
            h.backward(upstream)
            return entries
        return [torch.autograd.grad(h, kept, upstream)[0]]

    def probe(self, nb, case):
        start = nb.function("output_gradients")
        return {f"gradients in front of {name}": self.run(case, start, name, True) for name in self.places}

    def truth(self, case):
        return {
            f"gradients in front of {name}": self.run(case, lambda layer: None, name, False) for name in self.places
        }

    blame = {f"gradients in front of {name}": "in_place_relu_only" for name in places}


class WithoutGradients(Check):
    """Under `torch.no_grad()` the model still runs, and nothing is added."""

    poison = POISON
    errors = ERRORS

    def probe(self, nb, case):
        net = case.build("net", net_with_relu, True)
        gradients = nb.function("output_gradients")(net[0])
        with torch.no_grad():
            output = net(case.tensor("x", 5, 4))
        return {"output": output, "gradients": gradients}

    def truth(self, case):
        return {"output": case.build("net", net_with_relu, False)(case.tensor("x", 5, 4)), "gradients": []}


class EachCallItsEntry(Check):
    """A layer that runs twice, two passes, two layers: each output has its entry, each layer its list."""

    poison = POISON
    errors = ERRORS

    def run(self, case, start, inplace):
        one, two = case.build("one", nn.Linear, 3, 3), case.build("two", nn.Linear, 3, 3)
        lists = start(one), start(two)
        kept = [], []
        for number in ("first", "second"):
            h = case.tensor(f"x {number}", 2, 3)
            for layer, outputs in ((one, kept[0]), (two, kept[1]), (one, kept[0])):
                h = layer(h)
                outputs.append(h)
                h = h.sigmoid_() if inplace else h.sigmoid()
            if inplace:
                h.backward(case.tensor(f"upstream {number}", 2, 3))
            else:
                # Backward comes to the outputs of one forward in reverse order.
                for outputs, found in zip(kept, lists, strict=True):
                    upstream = case.tensor(f"upstream {number}", 2, 3)
                    found += torch.autograd.grad(h, outputs[::-1], upstream, retain_graph=True)
                    outputs.clear()
        return {"gradients of the layer used twice": lists[0], "gradients of the other layer": lists[1]}

    def probe(self, nb, case):
        return self.run(case, nb.function("output_gradients"), True)

    def truth(self, case):
        return self.run(case, lambda layer: [], False)

    def mistakes(self, case):
        twice, once = self.truth(case).values()
        used, other = "gradients of the layer used twice", "gradients of the other layer"
        return {
            "keeps_last_only": AnyOf({used: twice[-1:]}, {used: [twice[0], twice[2]]}, {used: [twice[1], twice[3]]}, {used: twice[2:]}),
            "runs_only_once": AnyOf({used: twice[:1]}, {used: twice[1:2]}, {used: twice[:2]}),
            "shared_list": {
                used: Matches(lambda got: None if len(got) > len(twice) else "short", "more entries"),
                other: other_than(once),
            },
        }


check("in_place_safe", WithoutGradients, EachCallItsEntry, OtherInPlaceOperations)
### END HIDDEN TESTS

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
# For many hooks at once you write a context manager of your own. Python has two ways: a class with `__enter__` and
# `__exit__`, or a generator function that `yield`s once. The block of `with` runs at the `yield`, and an error in the
# block comes out of it. So what must happen in any case stands in `finally`:


# %%
@contextlib.contextmanager
def announced(name):
    print("begin", name)
    try:
        yield
    finally:
        print("end", name)


with contextlib.suppress(ZeroDivisionError), announced("the block"):
    1 / 0

# %% [markdown]
# ### Exercise: Hooks that never stay behind
# medium · 12 min · 3 points
#
# Write the context manager `hooked(modules, hook)`. The cell begins a generator function; a class of this name is as
# good. `with hooked(modules, hook):` puts the forward hook `hook` on each module in the list `modules`, for the block
# only:
#
# - Inside the block each of them calls `hook`. After it, these hooks are gone **in any case**: also after an error,
#   and after `KeyboardInterrupt`, which is what the stop button raises. The error itself must come out of the block.
# - It removes its **own** hooks and nothing else. Others may have hooks on the same modules, even the same function,
#   and may register more of them while the block runs.
# - If an entry of `modules` turns out not to be a module, the error comes out before the block begins, and the hooks
#   that are already registered come off again.


# %% nbgrader={"grade": false, "grade_id": "hook_lifecycle", "locked": false, "schema_version": 3, "solution": true, "task": false}
@contextlib.contextmanager
def hooked(modules, hook):
    """While the block of `with` runs, and never afterwards, `hook` is a forward hook on each of `modules`."""
    ### BEGIN SOLUTION
    with contextlib.ExitStack() as stack:
        for module in modules:
            stack.enter_context(module.register_forward_hook(hook))
        yield
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_hook_lifecycle", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch
import torch.nn as nn

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.probing import ANYTHING, hook_counts, other_than
from course.traces import as_before, what_runs

POISON = ("modules", "module", "adder", "net")
ERRORS = {
    r"TypeError: '?[\w.]+'? object does not support the context manager protocol": "hooked_no_context_manager",
    r"AttributeError: __(enter|exit)__": "hooked_no_context_manager",
    r"TypeError: 'NoneType' object is not an iterator": "hooked_no_yield",
    r"RuntimeError: generator didn't yield": "hooked_no_yield",
    r"RuntimeError: generator didn't stop": "hooked_yields_again",
    r"TypeError: .*__exit__\(\) takes": "hooked_exit_arguments",
    r"AttributeError: 'Tensor' object has no attribute 'register_\w+'": "function_uses_global",
    r"TypeError: iteration over a 0-d tensor": "function_uses_global",
    r"ValueError: list.remove\(x\)": "hooked_by_function",
}


class StopButton(KeyboardInterrupt):
    """Somebody stops the kernel."""


def counts_on(modules):
    return [len(module._forward_hooks) for module in modules]


def three_modules(case):
    return [case.build(name, nn.Linear, 3, 3) for name in ("one", "two", "three")]


def runs(case, modules, moment="afterwards"):
    """What runs when the modules do, one after the other."""
    net = nn.Sequential(*modules)
    return what_runs(net, case, lambda: net(case.tensor("another x", 2, 3)), moment)


class InsideAndAfterwards(Check):
    """Inside the block each of the modules calls the hook, and puts out what it returns; after it none does."""

    poison = POISON
    errors = ERRORS

    def probe(self, nb, case):
        first, second, other = three_modules(case)
        called, x = [], case.tensor("x", 2, 3)
        names = {first: "first", second: "second", other: "another module"}

        def hook(module, args, output):
            called.append(names.get(module, "another module"))
            return output * 2

        outside, ran_before = counts_on([first, second, other]), runs(case, [first, second, other], "before")
        with nb.function("hooked")([first, second], hook):
            inside, of_all_kinds = counts_on([first, second, other]), hook_counts(first)
            output = other(second(first(x)))
            calls, ran_inside = list(called), runs(case, [first, second, other], "inside")
        called.clear()
        other(second(first(x)))
        return {
            "calls inside": calls, "output inside": output, "hooks inside": inside,
            "hooks of other kinds inside": sum(of_all_kinds.values()) - of_all_kinds["forward"],
            "hooks before": outside, "hooks after": counts_on([first, second, other]),
            "calls after": called, "what runs before": ran_before, "what runs inside": ran_inside,
            "what runs after": runs(case, [first, second, other]),
        }  # fmt: skip

    def truth(self, case):
        first, second, other = three_modules(case)
        x = case.tensor("x", 2, 3)
        return {
            "calls inside": ["first", "second"], "output inside": other(second(first(x) * 2) * 2),
            "hooks inside": ANYTHING, "hooks of other kinds inside": ANYTHING,
            "hooks before": [0, 0, 0], "hooks after": [0, 0, 0], "calls after": [],
            "what runs before": as_before(runs(case, three_modules(case), "before")),
            "what runs inside": as_before(runs(case, self.hooked(case), "inside")),
            "what runs after": as_before(runs(case, three_modules(case))),
        }  # fmt: skip

    def hooked(self, case):
        """The modules as they should be inside the block."""
        first, second, other = three_modules(case)
        for module in (first, second):
            module.register_forward_hook(lambda module, args, output: None)
        return [first, second, other]

    def mistakes(self, case):
        first, second, other = three_modules(case)
        plain = other(second(first(case.tensor("x", 2, 3))))
        return {
            "hooked_return_lost": {"calls inside": ["first", "second"], "output inside": plain},
            "hooked_other_kind": {"calls inside": [], "hooks of other kinds inside": other_than(0)},
            "hook_never_ran": {"calls inside": [], "hooks inside": [0, 0, 0]},
            "hooked_too_many": {"calls inside": ["first", "second", "another module"]},
            "hooked_one_only": {"calls inside": AnyOf(["first"], ["second"])},
            "module_hook_twice": {"calls inside": ["first", "first", "second", "second"]},
            "hooked_last_handle": {"hooks after": AnyOf([1, 0, 0], [0, 1, 0])},
            "hooked_stays": {"hooks after": AnyOf([1, 1, 0], [1, 1, 1], [2, 2, 0])},
        }


class AfterAnError(Check):
    """After an error in the block the hooks are gone, and the error has come out."""

    poison = POISON
    errors = ERRORS

    def ended_by(self, nb, case, error):
        """What came out of the block that this error ended, and the hooks that are left."""
        modules = three_modules(case)
        came_out = "nothing"
        try:
            with nb.function("hooked")(modules, lambda module, args, output: None):
                raise error
        except type(error) as caught:
            came_out = str(caught)
        return {
            "the error that came out": came_out, "hooks after": counts_on(modules), "what runs after": runs(case, modules)
        }  # fmt: skip

    def says(self, case):
        """The text of the error: it is not the same twice."""
        return f"an error in the block: {case.words('error', 1)[0]}"

    def probe(self, nb, case):
        return self.ended_by(nb, case, ZeroDivisionError(self.says(case)))

    def truth(self, case):
        return {
            "the error that came out": self.says(case), "hooks after": [0, 0, 0],
            "what runs after": as_before(runs(case, three_modules(case))),
        }  # fmt: skip

    def mistakes(self, case):
        return {
            "hooked_swallows_error": {"the error that came out": "nothing"},
            "hooked_no_finally": {"hooks after": other_than([0, 0, 0])},
        }


check("hook_lifecycle", InsideAndAfterwards, AfterAnError)


### BEGIN HIDDEN TESTS
class AfterTheStopButton(AfterAnError):
    """After KeyboardInterrupt the hooks are gone as well, and it has come out."""

    def probe(self, nb, case):
        return self.ended_by(nb, case, StopButton(self.says(case)))

    def mistakes(self, case):
        return {
            "hooked_swallows_error": {"the error that came out": "nothing"},
            "hooked_some_errors_only": {"hooks after": other_than([0, 0, 0])},
        }


class OnlyItsOwn(Check):
    """Hooks of others stay: those from before, those that come while the block runs, and the same function elsewhere."""

    poison = POISON
    errors = ERRORS

    def probe(self, nb, case):
        hooked = nb.function("hooked")
        first, second, _ = three_modules(case)
        called = []
        ours, theirs = case.tensor("ours", 3), case.tensor("theirs", 3)

        def hook(module, args, output):
            called.append("hook")
            return output * ours

        def of_others(module, args, output):
            called.append("of others")
            return output * theirs

        first.register_forward_hook(hook)
        first.register_forward_hook(of_others)
        found = {}
        with hooked([first, second], hook):
            second.register_forward_hook(of_others)
            with hooked([first, second], hook):
                first(case.tensor("x", 3))
                found["calls in the inner block"] = sorted(called)
                ran_inside = runs(case, [first, second], "inside")
            calls = len(called)
            first(case.tensor("x", 3))
            found["calls behind the inner block"] = sorted(called[calls:])
            ran_behind = runs(case, [first, second], "behind")
        calls = len(called)
        first(case.tensor("x", 3))
        found["calls of the first module afterwards"], calls = sorted(called[calls:]), len(called)
        second(case.tensor("x", 3))
        found["calls of the second module afterwards"] = sorted(called[calls:])
        return {
            **found, "what runs in the inner block": ran_inside, "what runs behind the inner block": ran_behind,
            "what runs afterwards": runs(case, [first, second]),
            "outputs afterwards": [first(case.tensor("x", 3)), second(case.tensor("x", 3))],
        }  # fmt: skip

    def right(self, case, of_first, of_second):
        """What runs with so many hooks on the two modules."""
        first, second, _ = three_modules(case)
        for module, count in ((first, of_first), (second, of_second)):
            for _ in range(count):
                module.register_forward_hook(lambda module, args, output: None)
        return [first, second]

    def truth(self, case):
        first, second, _ = three_modules(case)
        x, theirs = case.tensor("x", 3), case.tensor("theirs", 3)
        return {
            "calls in the inner block": ["hook", "hook", "hook", "of others"],
            "calls behind the inner block": ["hook", "hook", "of others"],
            "calls of the first module afterwards": ["hook", "of others"],
            "calls of the second module afterwards": ["of others"],
            "what runs in the inner block": as_before(runs(case, self.right(case, 4, 3), "inside")),
            "what runs behind the inner block": as_before(runs(case, self.right(case, 3, 2), "behind")),
            "what runs afterwards": as_before(runs(case, self.right(case, 2, 1))),
            "outputs afterwards": [first(x) * case.tensor("ours", 3) * theirs, second(x) * theirs],
        }

    def mistakes(self, case):
        def fewer_than(count):
            return Matches(lambda got: None if len(got) < count else "as many", "fewer calls")

        right = self.truth(case)
        second = "calls of the second module afterwards"
        return {
            "hooked_shared_handles": {"calls behind the inner block": ["hook", "of others"], second: ["of others"]},
            "removes_other_hooks": AnyOf(
                {second: ["hook"]}, *({name: fewer_than(len(calls))} for name, calls in right.items() if isinstance(calls, list))
            ),
        }

    blame = {
        "calls behind the inner block": "hooked_shared_handles",
        "calls of the first module afterwards": "hooked_shared_handles",
        "calls of the second module afterwards": "hooked_shared_handles",
    }


class NotAModule(Check):
    """Where the last entry is no module, the error comes out, the block does not run, and no hook is left."""

    poison = POISON
    errors = ERRORS

    def probe(self, nb, case):
        modules = three_modules(case)
        ran, came_out = False, "nothing"
        try:
            with nb.function("hooked")([*modules, "no module"], lambda module, args, output: None):
                ran = True
        except Exception as error:
            came_out = type(error).__name__
        return {
            "the error that came out": came_out, "the block ran": ran, "hooks after": counts_on(modules),
            "what runs after": runs(case, modules),
        }  # fmt: skip

    def truth(self, case):
        return {
            "the error that came out": Matches(lambda got: "no error" if got == "nothing" else None, "an error"),
            "the block ran": False, "hooks after": [0, 0, 0],
            "what runs after": as_before(runs(case, three_modules(case))),
        }  # fmt: skip

    def mistakes(self, case):
        return {
            "hooked_half_registered": {"hooks after": other_than([0, 0, 0])},
            "hooked_swallows_error": {"the error that came out": "nothing"},
        }


check("hook_lifecycle", AfterTheStopButton, OnlyItsOwn, NotAModule)
### END HIDDEN TESTS

# %% [markdown]
# ## State-dict hooks: read old checkpoints
#
# Hooks can also sit around saving and loading. They have nothing to do with forward and backward. *Saving* is a call
# of `state_dict()`, *loading* one of `load_state_dict()`:
#
# | register with | runs | the hook gets |
# | --- | --- | --- |
# | `register_state_dict_pre_hook` | before saving | `module, prefix, keep_vars` |
# | `register_state_dict_post_hook` | after saving | `module, state_dict, prefix, local_metadata` |
# | `register_load_state_dict_pre_hook` | before loading | `module, state_dict, prefix, local_metadata, strict`, and three lists: `missing_keys, unexpected_keys, error_msgs` |
# | `register_load_state_dict_post_hook` | after loading | `module, incompatible_keys` |
#
# They return nothing, they act in place: on `state_dict`, which is a dict of names and tensors. Its keys start with
# `prefix`, the module's own place in the model. So a hook that looks at `prefix` works at any depth.
#
# Say your class has got a buffer `scale` that old checkpoints know nothing of. A pre-hook of loading adds what is
# missing, before anything is compared:


# %%
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)
        self.register_buffer("scale", torch.ones(1))
        self.register_load_state_dict_pre_hook(add_scale)


def add_scale(module, state_dict, prefix, *the_rest):
    print(f"prefix {prefix!r}, keys {list(state_dict)}")
    state_dict.setdefault(prefix + "scale", torch.ones(1))


old = {"fc.weight": torch.ones(1, 2), "fc.bias": torch.zeros(1)}
print(Head().load_state_dict(old))
inside = {f"parts.head.{name}": tensor for name, tensor in old.items()}
print(nn.ModuleDict({"parts": nn.ModuleDict({"head": Head()})}).load_state_dict(inside))

# %% [markdown]
# ### Exercise: It was called something else
# medium · 12 min · 2 points
#
# Checkpoints outlive names. A layer was called `linear` when somebody saved the model; today it is called `fc`. Write
# `accept_old_name(module, old, new)`: from now on, when `module` or any model around it loads a checkpoint, what is
# saved there for the module's `old` goes into its `new`. `old` and `new` name a child of `module`, with all that is
# inside it, or one of its own parameters.
#
# - `module` may stand anywhere in a model, under any name. What other modules call `old` is none of its business, and
#   neither are names that only look alike, such as `linear2`.
# - New checkpoints load as before, and what `state_dict()` saves has the new names.
# - Whatever else is missing in a checkpoint, or too much, is still reported. The caller's checkpoint stays as it is.
#
# For example: `accept_old_name(head, "linear", "fc")`, and the key `"parts.head.linear.weight"` is read as
# `"parts.head.fc.weight"`.


# %% nbgrader={"grade": false, "grade_id": "state_dict_hooks", "locked": false, "schema_version": 3, "solution": true, "task": false}
def accept_old_name(module, old, new):
    """When `module` is loaded, what a checkpoint has under `old` goes into `new`, a child or parameter of `module`."""
    ### BEGIN SOLUTION

    def rename(module, state_dict, prefix, *the_rest):
        for key in list(state_dict):
            if key == prefix + old or key.startswith(prefix + old + "."):
                state_dict[prefix + new + key.removeprefix(prefix + old)] = state_dict.pop(key)

    module.register_load_state_dict_pre_hook(rename)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_state_dict_hooks", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import re

import torch
import torch.nn as nn

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.probing import ANYTHING, other_than

POISON = ("module", "head")
ERRORS = {
    r"RuntimeError: (OrderedDict|dictionary) (mutated|changed)": "old_name_dict_in_loop",
    r"KeyError: ": "old_name_taken_for_granted",
    r"TypeError: .*takes \d+ positional arguments? but \d+ (was|were) given": "old_name_hook_arguments",
    r"TypeError: .*missing \d+ required positional argument": "old_name_hook_arguments",
    r"AttributeError: 'Tensor' object has no attribute '(register_\w+|state_dict|named_\w+)'": "function_uses_global",
    r"(AttributeError|TypeError): '(_IncompatibleKeys|list)' object": "old_name_too_late",
    r"AttributeError: 'Parameter' object has no attribute '(\w*parameters|state_dict|\w*modules)'": "old_name_one_kind",
}


class ModuleOfToday(nn.Module):
    """The names of today: a child `fc`, another child, and a parameter."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.norm = nn.LayerNorm(2)
        self.gain = nn.Parameter(torch.rand(2))


def new_checkpoint(case, model):
    """New tensors under the names of today."""
    return {
        key: case.tensor(key, *value.shape, dtype=value.dtype) for key, value in model.state_dict().items()
    }  # fmt: skip


def with_old_names(saved, pattern, old):
    """The checkpoint with another name where the pattern fits."""
    return {re.sub(pattern, old, key): value for key, value in saved.items()}


def load_and_say(model, saved):
    """What `load_state_dict` says, and the tensors that the model holds then."""
    try:
        says = str(model.load_state_dict(saved))
    except RuntimeError as error:
        if "Error(s) in loading state_dict" not in str(error):
            raise
        says = " ".join(str(error).split())
    return {"load_state_dict says": says, "state_dict": dict(model.state_dict())}


FINE = "<All keys matched successfully>"
MISSING, UNEXPECTED = r"Missing key\(s\) in state_dict: [^:]*\.", r"Unexpected key\(s\) in state_dict: [^:]*\."


def complaint(*patterns):
    """`load_state_dict` complains of these, in this order, and of nothing else."""
    wanted = r"Error\(s\) in loading state_dict for \w+: " + " ".join(patterns)
    return Matches(lambda got: None if re.fullmatch(wanted, got) else "something else", wanted)


class OldCheckpoint(Check):
    """A checkpoint with the old name loads into the module, and stays as it was itself."""

    poison = POISON
    errors = ERRORS
    blame = {"keys of the checkpoint": "old_name_edits_checkpoint"}

    def probe(self, nb, case):
        model = case.build("model", ModuleOfToday)
        saved = with_old_names(new_checkpoint(case, model), "fc[.]", "linear.")
        nb.function("accept_old_name")(model, "linear", "fc")
        hooks = len(model._load_state_dict_pre_hooks)
        brought = {**load_and_say(model, saved), "keys of the checkpoint": list(saved), "load hooks": hooks}
        return {**brought, "the checkpoint": dict(saved)}

    def truth(self, case):
        free = case.build("model", ModuleOfToday)
        return {
            "load_state_dict says": FINE, "state_dict": new_checkpoint(case, free),
            "keys of the checkpoint": list(with_old_names(new_checkpoint(case, free), "fc[.]", "linear.")), "load hooks": ANYTHING,
            "the checkpoint": with_old_names(new_checkpoint(case, free), "fc[.]", "linear."),
        }  # fmt: skip

    def mistakes(self, case):
        says, state = "load_state_dict says", self.truth(case)["state_dict"]
        linear = Matches(lambda got: None if "linear.weight" in got else "not there", "the old name")
        return {
            "old_name_renames_module": {"state_dict": linear},
            "old_name_not_started": {says: complaint(MISSING, UNEXPECTED), "load hooks": 0},
            "old_name_without_effect": {says: complaint(MISSING, UNEXPECTED)},
            "old_name_kept_as_well": {says: complaint(UNEXPECTED)},
            "old_name_only_dropped": {says: complaint(MISSING)},
            "old_name_not_loaded": {says: other_than("an error"), "state_dict": other_than(state)},
        }


class InsideAModel(Check):
    """A model around the module loads its old checkpoint as well: there the keys begin with the module's place."""

    poison = POISON
    errors = ERRORS

    def build(self, case):
        parts = nn.ModuleDict({"body": nn.Linear(3, 3), "head": case.build("head", ModuleOfToday)})
        return nn.ModuleDict({"parts": parts})

    def probe(self, nb, case):
        model = self.build(case)
        saved = with_old_names(new_checkpoint(case, model), "fc[.]", "linear.")
        nb.function("accept_old_name")(model["parts"]["head"], "linear", "fc")
        return load_and_say(model, saved)

    def truth(self, case):
        return {"load_state_dict says": FINE, "state_dict": new_checkpoint(case, self.build(case))}

    def mistakes(self, case):
        return {"old_name_no_prefix": {"load_state_dict says": AnyOf(complaint(MISSING, UNEXPECTED), complaint(MISSING))}}


check("state_dict_hooks", OldCheckpoint, InsideAModel)


### BEGIN HIDDEN TESTS
class LookAlikes(Check):
    """The old name is also the name of the module's place, of a layer elsewhere, and the beginning of another name."""

    poison = POISON
    errors = ERRORS

    def build(self, case):
        inner = nn.ModuleDict({"linear": nn.Linear(2, 2), "fc": nn.Linear(2, 2)})
        reader = case.build("reader", ModuleOfToday)
        reader.inner, reader.linear2 = inner, nn.Linear(2, 2)
        return nn.ModuleDict({"linear": reader, "other": nn.ModuleDict({"linear": nn.Linear(2, 2)})})

    def probe(self, nb, case):
        model = self.build(case)
        saved = with_old_names(new_checkpoint(case, model), "^linear[.]fc[.]", "linear.linear.")
        nb.function("accept_old_name")(model["linear"], "linear", "fc")
        return load_and_say(model, saved)

    def truth(self, case):
        return {"load_state_dict says": FINE, "state_dict": new_checkpoint(case, self.build(case))}

    blame = {"load_state_dict says": "old_name_anywhere"}


class ParameterAndDeepChild(Check):
    """The old name may be that of a parameter, or of a child with children of its own; two old names go together."""

    poison = POISON
    errors = {**ERRORS, r"KeyError: ": "old_name_one_kind"}

    def build(self, case):
        reader = case.build("reader", ModuleOfToday)
        reader.fc = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.ModuleList([nn.Linear(2, 2)]))
        return nn.Sequential(nn.Tanh(), reader)

    def probe(self, nb, case):
        model = self.build(case)
        saved = with_old_names(new_checkpoint(case, model), "^1[.]gain$", "1.scale")
        saved = with_old_names(saved, "^1[.]fc[.]", "1.layers.")
        nb.function("accept_old_name")(model[1], "scale", "gain")
        nb.function("accept_old_name")(model[1], "layers", "fc")
        return load_and_say(model, saved)

    def truth(self, case):
        return {"load_state_dict says": FINE, "state_dict": new_checkpoint(case, self.build(case))}

    blame = {"load_state_dict says": "old_name_one_kind", "state_dict": "old_name_one_kind"}


class NewAndBroken(Check):
    """A new checkpoint loads as well, and a broken one is still refused, with all that is wrong about it."""

    poison = POISON
    errors = ERRORS

    def run(self, case, prepare):
        found = {}
        for name in ("new", "broken"):
            model = nn.Sequential(case.build("model", ModuleOfToday))
            prepare(model[0])
            saved = new_checkpoint(case, model)
            if name == "broken":
                saved = with_old_names(saved, "fc[.]", "linear.")
                missing, stranger, extra = self.wrong(case)
                del saved[missing]
                saved |= {stranger: torch.ones(1), f"0.linear.{extra}": torch.ones(1)}
            found[name] = load_and_say(model, saved)["load_state_dict says"]
        return {f"load_state_dict says, {name} checkpoint": said for name, said in found.items()}

    def probe(self, nb, case):
        return self.run(case, lambda module: nb.function("accept_old_name")(module, "linear", "fc"))

    def wrong(self, case):
        """What the broken checkpoint lacks, and what it has too much: a stranger, and something beside the weights."""
        stranger, extra = case.words("too much", 2)
        return case.shuffled("missing", ["0.gain", "0.norm.weight", "0.norm.bias"])[0], f"0.{stranger}.weight", extra

    def truth(self, case):
        missing, stranger, extra = self.wrong(case)

        def told(got):
            keys = [set(re.findall('"([^"]+)"', part)) for part in got.split("Unexpected key(s) in state_dict: ")]
            right = [[{missing}, {stranger, f"0.{name}.{extra}"}] for name in ("fc", "linear")]
            return None if keys in right else repr(got)[:200]

        says = f'an error that tells of "{missing}", "{stranger}" and "0.fc.{extra}", and of nothing else'
        said = Matches(told, says)
        return {"load_state_dict says, new checkpoint": FINE, "load_state_dict says, broken checkpoint": said}

    blame = {
        "load_state_dict says, new checkpoint": "old_name_taken_for_granted",
        "load_state_dict says, broken checkpoint": "old_name_hides_errors",
    }


check("state_dict_hooks", LookAlikes, NewAndBroken, ParameterAndDeepChild)
### END HIDDEN TESTS

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
        row = {
            "layer": name,
            "shape": tuple(output.shape),
            "output": output.detach().abs().mean().item(),
        }
        rows.append(row)
        if output.requires_grad:
            output.register_hook(lambda grad: row.update(gradient=grad.abs().mean().item()))

    with contextlib.ExitStack() as hooks:
        for name, module in model.named_modules():
            if not list(module.children()):
                hooks.enter_context(module.register_forward_hook(partial(watch, name)))
        loss = model(*inputs).sum()
        torch.autograd.grad(
            loss, [p for p in model.parameters() if p.requires_grad], allow_unused=True
        )
    for row in rows:
        sizes = "".join(
            f"{key} {row[key]:<10.4f}" for key in ("output", "gradient") if key in row
        )
        print(f"{row['layer']:4}{row['shape']!s:15}{sizes}")


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(144, 2))
layer_report(net, torch.randn(2, 3, 8, 8))

# %% [markdown]
# ### In your own words: Frozen, and still it moves
#
# 5 min · 2 points
#
# A colleague wants to freeze the middle one of three linear layers, and leaves the others in training. He registers a full
# backward hook on it that returns zeros for `grad_input`. "That is the gradient of the layer," he says. After one step of
# plain SGD the middle layer has changed, and the first one has not.
#
# What is `grad_input` the gradient of, and what is it not? Say why the layer's own weight learned as before, why the first
# layer stands still, and which of the hooks of this lesson would not help him either, although it does reach the weight.
#
# Where this notebook is handed in, a person reads your answer. No check looks at it, and `progress()` does not count it.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_grad_input", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# `grad_input` is the gradient of the loss with respect to what went **into** the layer, not with respect to its weight and
# bias. The layer's own gradients are computed from `grad_output` and the kept input, before the full backward hook runs, so
# they are as ever. What the hook returns goes on to the layers in front: zeros, so the first layer has gradient 0. A full
# backward *pre*-hook that returns zeros for `grad_output` does reach the weight, but the gradient of the input is computed
# from the same zeros, so it stops the first layer as well. To freeze one layer: `requires_grad_(False)`, or tensor hooks on
# its parameters.
#
# ### BEGIN MARK SCHEME
# - 2 points: `grad_input` belongs to the input and not to the parameters, **and** the parameters' gradients come from
#   `grad_output` (or: are computed before the hook). Names the pre-hook, with its side effect on the layers in front.
# - 1 point: `grad_input` told apart from the parameters' gradient, without the reason or without the pre-hook.
# - Common wrong explanations, 0 points for that part: `grad_input` holds the weight's gradient at another index (what the
#   deprecated hook seemed to show); the hook's return value is ignored; the optimizer's weight decay or momentum moved the
#   weight; the hook came too late because the optimizer had stepped.
# ### END MARK SCHEME
# ### END SOLUTION

# %% [markdown]
# ## Recap
#
# - Hooks run when you call `module(x)`. A forward hook takes three arguments, and acts by what it **returns**.
# - `args`, `grad_input` and `grad_output` are tuples. A returned tuple replaces all of it. What was passed by name is
#   seen `with_kwargs=True` only.
# - A full backward hook changes what leaves the module, a full backward pre-hook what arrives: only the second one
#   reaches the module's own parameters. An entry of their tuples may be `None`, as in the first layer.
# - Hooks of nested modules fire like brackets. The names belong to the model: hand them over when you register.
# - Use `register_full_backward_hook`. The one without *full* reports the last operation.
# - Where operations work in place, put a tensor hook on the output instead.
# - Keep the handle, or better: use `with`.
# - Hooks on loading repair old checkpoints. Mind the `prefix`.
#
# **Next:** lesson 04 visits every module of a model with `apply`, to initialise, extend and rewire it.

# %%
progress()
