# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # `apply`: one function for every module
#
# A model is a tree of modules. `Module.apply` carries a function through the whole tree. In this lesson you use it
# to initialise a model, to give its parts a better `repr`, and to turn every layer into another one, without
# opening the file that defines the model.
#
# - **You will do** this: find out in which order `apply` visits; hook, replace, initialise and freeze the modules you
#   choose; write names into the `repr`; add a bias from outside and make every layer linear.
# - **You will learn** what `apply` does with your function, what a layer in two places means, how to change a `Parameter`
#   safely, how to put a method on one object, two ways to replace a `forward`.
# - **You need** `Parameter` and `named_modules` from lesson 01, forward hooks from lesson 03.
# - **Time** about 155 minutes: ten exercises for 30 points, and one question in your own words, 2 points. A good place for a
#   break is before 'A text for repr'.
# - **Out of scope** which random initialisation is best; loading saved weights; compiled models.
#
# After a check that failed, `hint()` in any cell gives the next step of help; `hint("visit_order")` helps you to begin that
# exercise, and so for every other.
#
# <!-- grading limits -->

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import copy
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter

from course import hint, progress
from course.pictures.beside import beside
from course.pictures.module_tree import draw_module_tree
from course.sources import show_source
from course.tree import Function_A, Function_B, Function_C, Function_D, Layer_AB, Layer_CD, Model

# %% [markdown]
# ## The tree
#
# Everything in this lesson happens to one small model. It has two layers, and each layer has two functions. Only
# the functions hold something: a parameter `W` and a plain attribute `name`.

# %%
show_source(Function_A, Layer_AB, Model)

# %% [markdown]
# `Function_B`, `Function_C` and `Function_D` are like `Function_A`, with another name and another operation.
# `Layer_CD` is like `Layer_AB`.

# %%
show_source(Function_B.forward, Function_C.forward, Function_D.forward, Layer_CD)

# %% [markdown]
# ## What apply is for
#
# Often you want to do the same small thing to many modules: initialise the linear layers, freeze the batch norms, put a
# hook on each convolution. Without help you would write a recursive function over `children()` each time.
# `model.apply(fn)` is that recursion. It calls `fn(module)` for **every** module of the tree, the model itself included,
# and hands it one argument: the module. A loop over `model.modules()` does nearly the same. The differences are the order,
# and what happens to a layer that hangs in two places: you will see both.
#
# You may read that `apply` goes over `children()` and so skips what is nested deeper. Run this: the innermost
# `Linear` is four levels down.

# %%
innermost = nn.Linear(2, 3)
deep = nn.Sequential(nn.Sequential(nn.Sequential(nn.Sequential(innermost))))
visited = []
deep.apply(visited.append)
print("modules in the tree:", len(list(deep.modules())))
print(
    "visited by apply:   ",
    len(visited),
    "| the innermost one is among them:",
    innermost in visited,
)

# %% [markdown]
# Three more facts. `apply` **ignores what your function returns**: you can change the module that you are given,
# you cannot hand back another one. `apply` itself **returns the model it was called on**, so calls can be chained.
# And it gives your function **no name**: where you need dotted names, loop over `named_modules()`.

# %%
net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
returned = net.apply(lambda module: nn.Tanh())
print("is it the same object?", returned is net)
print(net)

# %% [markdown]
# ## Choosing modules
#
# `apply` does not choose. The choice is the first line of your function. Three ways are common:
#
# | test | true for | take care |
# | --- | --- | --- |
# | `isinstance(module, nn.Linear)` | the class and its subclasses | the most reliable one |
# | `"Function" in type(module).__name__` | every class whose name says so | also true for a class that only happens to be called like that |
# | `hasattr(module, "W")` | every module with such an attribute | the attribute may be `None`, or a **child** of that name: our `Layer_AB` has a `b` |
#
# A class name is a weak sign. Some tools of PyTorch give an object a new class:

# %%
normed = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
print("class name:", type(normed).__name__)
print('its name is "Linear":', type(normed).__name__ == "Linear")
print("isinstance of nn.Linear:", isinstance(normed, nn.Linear))

# %% [markdown]
# ## In which order?
#
# The order matters as soon as one module's work depends on another's. You know one order from lesson 01:
# `modules()`. The numbers in the picture are the order in which the loop below met each module.

# %%
tree = Model()
met = {name: number for number, (name, module) in enumerate(tree.named_modules(), 1)}
beside(
    (
        draw_module_tree(tree, met, title="the order of named_modules()"),
        f"named_modules() visits {met}",
    )
)

# %% [markdown]
# Does `apply` go the same way? **Write your guess on paper**: seven class names. Then find out.
#
# ### Exercise: the order of apply
#
# easy · 5 min · 2 points
#
# Fill the list `answer` with the **class names** (text, such as `"Function_A"`) of the modules of `Model()`, in the
# order in which `apply` visits them. Let `apply` do the work: write a function that puts the class name of its
# module into `answer`, and give that function to `model.apply`. Each visit appears once.

# %% nbgrader={"grade": false, "grade_id": "visit_order", "locked": false, "schema_version": 3, "solution": true, "task": false}
model = Model()
answer = []


def collect(module):
    # TODO: put the class name of `module` into `answer`.
    ### BEGIN SOLUTION
    answer.append(module.__class__.__name__)
    ### END SOLUTION


# TODO: let `apply` carry `collect` through the model.
### BEGIN SOLUTION
model.apply(collect)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_visit_order", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.evidence import Unreadable
from course.tree import Model
from course.words import in_words


class VisitOrder(Check):
    """`answer` lists the class name of each module, in the order in which `apply` visits the tree."""

    secret = True
    cases = 1
    errors = {r"Unanswered: `answer` is a Model": "model_for_list"}

    def probe(self, nb, case):
        return {"answer": nb.list("answer")}

    def walk(self, module):
        """The definition of apply, as the documentation has it."""
        names = [name for child in module.children() for name in self.walk(child)]
        return [*names, type(module).__name__]

    def truth(self, case):
        def at_this_visit(name):
            return Matches(
                lambda got: None if got == name else in_words(got), "the class name of the module visited here"
            )

        return {"answer": [at_this_visit(name) for name in self.walk(Model())]}

    def mistakes(self, case):
        model, right = Model(), self.walk(Model())
        first = [type(module).__name__ for module in model.modules()]
        nested = [type(child).__name__ for child in model.children()]
        again = Matches(lambda got: None if len(got) > len(right) and set(got) == set(right) else "no", "")
        no_name = [*dict(model.named_modules()), *map(repr, model.modules())]
        other = Matches(
            lambda got: None if got and all(isinstance(x, Unreadable) or x in no_name for x in got) else "", ""
        )
        return {
            "nothing_collected": {"answer": []},
            "apply_pre_order": {"answer": first},
            "reversed_pre_order": {"answer": first[::-1]},
            "apply_skips_nested": {"answer": AnyOf(nested, [*nested, "Model"], ["Model", *nested])},
            "leaves_only": {"answer": [name for name in right if name.startswith("Function")]},
            "root_missing": {"answer": right[:-1]},
            "applied_twice": {"answer": right * 2},
            "recurses_again": {"answer": again},
            "not_class_names": {"answer": other},
        }


check("visit_order", VisitOrder)

# %% [markdown]
# ## Children before the parent
#
# Here is the same tree twice. The numbers come from what really ran: first `named_modules()`, then `apply`.

# %%
names = {module: name for name, module in tree.named_modules()}
visits = {}
tree.apply(lambda module: visits.setdefault(names[module], len(visits) + 1))

beside(
    (
        draw_module_tree(tree, met, title="named_modules(): parent first"),
        f"named_modules() visits {met}",
    ),
    (draw_module_tree(tree, visits, title="apply(): children first"), f"apply() visits {visits}"),
)

# %% [markdown]
# `apply` is **post-order**: a module comes when all of its children are done, and the model itself comes last. The
# reason is in its last lines, and they are worth reading once:

# %%
import inspect

print("".join(inspect.getsourcelines(nn.Module.apply)[0][-4:]))

# %% [markdown]
# Why does it matter? When your function sees a layer, everything inside that layer is finished. A function that
# sums up its children can rely on their sums. But a child that your function **adds** to its module is not visited:
# that module's children have had their turn.

# %%
visited = []


def add_a_child(module):
    visited.append(type(module).__name__)
    if isinstance(module, nn.Sequential):
        module.append(nn.Tanh())


print(nn.Sequential(nn.Linear(2, 2)).apply(add_a_child))
print("visited:", visited)

# %% [markdown]
# ### The same layer in two places
#
# One layer may hang in the tree twice: two branches use the same encoder, say, and so share its weights. `modules()`
# shows every object once. `apply` comes along once for each **parent**, so a layer with two parents is visited twice.
# Twice in one parent counts as once, because `children()` drops doubles.


# %% nbgrader={"grade": false, "grade_id": "setup_shared", "locked": true, "schema_version": 3, "solution": false, "task": false}
class TwoBranches(nn.Module):
    """One encoder in two branches, each with a head of its own."""

    def __init__(self):
        super().__init__()
        encoder = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
        self.left = nn.Sequential(encoder, nn.Linear(4, 2))
        self.right = nn.Sequential(encoder, nn.Linear(4, 2))

    def forward(self, x):
        return self.left(x) - self.right(x)


# %%
branches = TwoBranches()
draw_module_tree(branches, title="one encoder, two places")

# %%
encoder, visited = branches.left[0], []
branches.apply(visited.append)
print("the encoder is visited by apply:", visited.count(encoder), "times")
print("the encoder is among modules(): ", list(branches.modules()).count(encoder), "time")

same_parent, visited = nn.Sequential(encoder, encoder), []
same_parent.apply(visited.append)
print("twice in one parent, by apply:  ", visited.count(encoder), "time")

# %% [markdown]
# To initialise a layer twice is harmless. To register a hook twice is not: a module keeps no record of which functions
# it has already, so each call of the layer then runs the hook twice. Here the encoder works twice in one run of the
# model, once for each branch. That makes two lines in a log.

# %%
calls = []
branches.apply(
    lambda module: module.register_forward_hook(lambda m, args, output: calls.append(m))
)
branches(torch.ones(1, 3))
print("lines in the log from the encoder:", calls.count(encoder))

# %% [markdown]
# The same happens to everything that adds up: counts, sums, sizes. And the fix must not be a mark that stays on the
# module, because the next tool that comes along would find it.
#
# ### Exercise: visited twice, hooked once
#
# medium · 8 min · 2 points
#
# Write `hook_once(model, hook)`. It registers `hook` as a forward hook on every module of `model`, at any depth and
# the model itself included: exactly once on each, in however many places a module stands. It returns the **list of
# the handles**, one for each registration, so that the caller can take all the hooks off again.
#
# Hooks that somebody else has registered stay, and do not matter. A later call with another hook registers that one in the
# same way, also on a model that `hook_once` has seen before. With or without `apply`: as you like.


# %% nbgrader={"grade": false, "grade_id": "shared_modules", "locked": false, "schema_version": 3, "solution": true, "task": false}
def hook_once(model: nn.Module, hook) -> list:
    """Register `hook` as a forward hook on every module of `model`, once on each; return the list of the handles."""
    # TODO: register the hook, and return the handles.
    ### BEGIN SOLUTION
    handles, seen = [], set()

    def register(module):
        if module not in seen:
            seen.add(module)
            handles.append(module.register_forward_hook(hook))

    model.apply(register)
    return handles
    ### END SOLUTION


calls = []
branches = TwoBranches()
handles = hook_once(branches, lambda module, args, output: calls.append(type(module).__name__))
branches(torch.ones(1, 3))
print(calls)

# %% nbgrader={"grade": true, "grade_id": "test_shared_modules", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
from torch import nn
from torch.utils.hooks import RemovableHandle

from course.checking import Check, check
from course.compare import AnyOf
from course.traces import as_before, what_runs


class Branches(nn.Module):
    """A container and all that is in it stand in two branches; the rest stands once."""

    def __init__(self):
        super().__init__()
        shared = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
        self.left = nn.Sequential(shared, nn.Linear(4, 2))
        self.right = nn.Sequential(shared, nn.Linear(4, 2), nn.Sequential(nn.Tanh()))

    def forward(self, x):
        return self.left(x) * self.right(x)


class HookingCheck(Check):
    """What the checks of this exercise share."""

    errors = {
        r"TypeError: .*\.hook\(\) (missing|takes) ": "hooked_as_another_kind",
        r"TypeError: 'NoneType' object is not callable": "hook_called_at_once",
    }

    def names(self, model):
        return {module: name or "the model" for name, module in model.named_modules()}

    def hooks(self, model):
        return {name: len(module._forward_hooks) for module, name in self.names(model).items()}

    def counter(self, model):
        """A forward hook, and the dict in which it counts the calls of each module."""
        names = self.names(model)
        calls = dict.fromkeys(names.values(), 0)

        def hook(module, args, output):
            calls[names[module]] += 1

        return hook, calls

    def remove(self, handles):
        for handle in handles if isinstance(handles, (list, tuple)) else ():
            if isinstance(handle, RemovableHandle):
                RemovableHandle.remove(handle)

    def runs(self, case):
        """How often each module runs when the model runs once, counted without hooks."""
        model = case.build("net", Branches)
        names = self.names(model)
        calls = dict.fromkeys(names.values(), 0)

        def counting(name, forward):
            def run(*args):
                calls[name] += 1
                return forward(*args)

            return run

        for module, name in names.items():
            module.forward = counting(name, module.forward)
        model(case.tensor("x", 5, 3))
        return calls

    def what_runs(self, case, model, moment="afterwards"):
        return what_runs(model, case, lambda: model(case.tensor("another x", 5, 3)).sum().backward(), moment)

    def right(self, case, moment, everywhere=0, more=()):
        """What runs with so many hooks on every module, and one more at these places."""
        model = case.build("net", Branches)
        modules = [*model.modules()] * everywhere + [model.get_submodule(name) for name in more]
        for module in modules:
            module.register_forward_hook(lambda module, args, output: None)
        return as_before(self.what_runs(case, model, moment))

    def each(self, case, number):
        return dict.fromkeys(self.names(case.build("net", Branches)).values(), number)


class OnceOnEach(HookingCheck):
    """Every module has the hook once, and removing the returned handles takes all of them off again."""

    def told(self, handles):
        if not isinstance(handles, (list, tuple)):
            return type(handles).__name__
        kinds = {type(handle).__name__ for handle in handles}
        return f"{len(handles)} x {' or '.join(sorted(kinds))}"

    def probe(self, nb, case):
        model = case.build("net", Branches)
        hook, calls = self.counter(model)
        handles = nb.function("hook_once")(model, hook)
        hooks = self.hooks(model)
        model(case.tensor("x", 5, 3))
        calls, ran = dict(calls), self.what_runs(case, model, "hooked")
        self.remove(handles)
        return {
            "hooks": hooks,
            "calls in one run": calls,
            "returned": self.told(handles),
            "hooks after removing": self.hooks(model),
            "what runs with the hooks": ran,
            "what runs after removing": self.what_runs(case, model),
        }

    def truth(self, case):
        once = self.each(case, 1)
        return {
            "hooks": once,
            "calls in one run": self.runs(case),
            "returned": f"{len(once)} x RemovableHandle",
            "hooks after removing": self.each(case, 0),
            "what runs with the hooks": self.right(case, "hooked", 1),
            "what runs after removing": self.right(case, "afterwards"),
        }

    def mistakes(self, case):
        model = case.build("net", Branches)
        names, once, none = self.names(model), self.each(case, 1), self.each(case, 0)
        per_visit, visits = dict(none), []
        model.apply(lambda module: visits.append(names[module]))
        for name in visits:
            per_visit[name] += 1

        def only(test, hooks=once):
            return {name: hooks[name] if test(module, name) else 0 for module, name in names.items()}

        def is_leaf(module, name):
            return not list(module.children())

        def first_of(key):
            first = {}
            for module, name in names.items():
                first.setdefault(key(module), name)
            last = {key(module): names[module] for module in names}
            post = {}
            for name in visits:
                post.setdefault(key(model.get_submodule(name if name != "the model" else "")), name)
            return [only(lambda module, name, kept=kept: name in kept.values()) for kept in (first, last, post)]

        top = [name for name, _ in model.named_children()]
        return {
            "hooked_per_visit": {"hooks": per_visit},
            "global_hook": {"hooks": none, "calls in one run": self.runs(case)},
            "hook_never_ran": {"hooks": none},
            "shared_left_out": {"hooks": only(lambda module, name: per_visit[name] == 1)},
            "hooked_leaves_only": {"hooks": AnyOf(only(is_leaf), only(is_leaf, per_visit))},
            "root_missing": {"hooks": only(lambda module, name: name != "the model")},
            "children_for_modules": {
                "hooks": AnyOf(only(lambda _, name: name in top), only(lambda _, name: name in (*top, "the model")))
            },
            "alike_taken_for_same": {"hooks": AnyOf(*first_of(repr), *first_of(type))},
            "returns_nothing": {"hooks": once, "returned": "NoneType"},
            "one_handle_kept": {"hooks": once, "returned": AnyOf("RemovableHandle", "1 x RemovableHandle")},
        }


check("shared_modules", OnceOnEach)


### BEGIN HIDDEN TESTS
class OthersHooksStay(HookingCheck):
    """Where somebody else has hooked a module before, both hooks are there afterwards."""

    def probe(self, nb, case):
        model = case.build("net", Branches)
        theirs, their_calls = self.counter(model)
        model.left[0].register_forward_hook(theirs)
        model.right[1].register_forward_hook(theirs)
        hook, _ = self.counter(model)
        handles = nb.function("hook_once")(model, hook)
        hooks = self.hooks(model)
        model(case.tensor("x", 5, 3))
        their_calls, ran = dict(their_calls), self.what_runs(case, model, "hooked")
        self.remove(handles)
        return {
            "hooks": hooks,
            "hooks after removing": self.hooks(model),
            "calls of the other hook": their_calls,
            "what runs with both hooks": ran,
            "what runs after removing": self.what_runs(case, model),
        }

    def theirs(self, case, ours):
        return {**self.each(case, ours), "left.0": 1 + ours, "right.1": 1 + ours}

    def truth(self, case):
        runs = self.runs(case)
        return {
            "hooks": self.theirs(case, 1),
            "hooks after removing": self.theirs(case, 0),
            "calls of the other hook": {**self.each(case, 0), "left.0": runs["left.0"], "right.1": runs["right.1"]},
            "what runs with both hooks": self.right(case, "hooked", 1, ("left.0", "right.1")),
            "what runs after removing": self.right(case, "afterwards", 0, ("left.0", "right.1")),
        }

    def mistakes(self, case):
        return {
            "hooks_of_others_counted": {
                "hooks": self.each(case, 1),
                "calls of the other hook": self.truth(case)["calls of the other hook"],
            },
            "hooks_of_others_removed": {"hooks": self.each(case, 1)},
        }


class OnceMore(HookingCheck):
    """On a model that was hooked before, and whose hooks were removed, every module has the next hook once."""

    def probe(self, nb, case):
        model = case.build("net", Branches)
        hook_once = nb.function("hook_once")
        first, _ = self.counter(model)
        self.remove(hook_once(model, first))
        for module in model.modules():
            module._forward_hooks.clear()
        second, calls = self.counter(model)
        hook_once(model, second)
        model(case.tensor("x", 5, 3))
        calls = dict(calls)
        return {
            "hooks of the second call": self.hooks(model),
            "calls in one run": calls,
            "what runs": self.what_runs(case, model),
        }

    def truth(self, case):
        return {
            "hooks of the second call": self.each(case, 1),
            "calls in one run": self.runs(case),
            "what runs": self.right(case, "afterwards", 1),
        }

    def mistakes(self, case):
        return {"mark_outlives_hook": {"hooks of the second call": self.each(case, 0)}}


check("shared_modules", OthersHooksStay, OnceMore)
### END HIDDEN TESTS

# %% [markdown]
# ## Replacing modules
#
# What your function returns is ignored, so a module cannot replace itself. Its place is an attribute of its **parent**
# (lesson 01, 'Replacing a part'). So a function that replaces looks at the children of the module that it is given.
#
# At work a replacement is often a **wrapper**, which keeps the old module inside: a linear layer with dropout behind it,
# or a frozen layer with a small trainable one beside it. Now the order matters. This loop meets parents first. It wraps the
# linear layer, walks on into the wrapper, finds the linear layer in there, and wraps it again. Without the count it would
# never end:

# %%
net, wrapped = nn.Sequential(nn.Linear(2, 2)), 0
for parent in net.modules():
    for name, child in parent.named_children():
        if isinstance(child, nn.Linear) and wrapped < 3:
            setattr(parent, name, nn.Sequential(child, nn.Dropout()))
            wrapped += 1
print(net)

# %% [markdown]
# With `apply` the children have had their turn when the parent's comes, so the wrapper is not entered. Until a parent
# hangs in two places: on the second visit the wrapper is there already. What is always safe are two steps: **first
# look, then change.**
#
# Two more things that one sees only when they go wrong. `named_children()` drops doubles within one parent, so it hides
# the second place of a shared module; the dict `_modules` of a module shows every place, as does
# `named_modules(remove_duplicate=False)`. And a new module is in training mode, whatever the model is in:

# %%
act = nn.ReLU()
net = nn.Sequential(act, nn.Linear(2, 2), act).eval()
print("named_children():", [name for name, _ in net.named_children()])
print("_modules:        ", list(net._modules))

net[1] = nn.Sequential(net[1], nn.Dropout())
print("in training mode:", [name for name, module in net.named_modules() if module.training])

# %% [markdown]
# ### Exercise: another module at every place
#
# hard · 15 min · 4 points
#
# Write `replace_modules(model, wanted, make)`. At every place in `model`, at any depth, where a module stands for which
# `wanted(module)` is true, `make(module)` stands afterwards. The function changes `model` itself and returns it.
#
# - `make` is called once for each such module. A module that stands in several places gets **one** replacement, which then
#   stands in all of them: what was shared stays shared.
# - What `make` returns is not searched for more modules to replace, even if the old module is inside.
# - A replacement is in the mode, training or eval, of the module that it replaces, with everything inside.
# - Everything else stays: the same objects, in the same order.
#
# You may rely on this: `wanted` is not true for the model itself, nor for modules inside of a wanted one.


# %% nbgrader={"grade": false, "grade_id": "replace_modules", "locked": false, "schema_version": 3, "solution": true, "task": false}
def replace_modules(model: nn.Module, wanted, make) -> nn.Module:
    """Put `make(module)` at every place of the model where `wanted(module)` is true, and return the model."""
    # TODO: replace the wanted modules, and return the model.
    ### BEGIN SOLUTION
    places, made = [], {}

    def look(parent):
        for name, child in parent._modules.items():
            if child is not None and wanted(child):
                places.append((parent, name, child))

    model.apply(look)
    for parent, name, old in places:
        if old not in made:
            made[old] = make(old).train(old.training)
        setattr(parent, name, made[old])
    return model
    ### END SOLUTION


net = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 2), nn.Tanh()))
replace_modules(
    net,
    lambda module: isinstance(module, nn.Linear),
    lambda old: nn.Sequential(old, nn.Dropout()),
)
print(net)

# %% nbgrader={"grade": true, "grade_id": "test_replace_modules", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch
from torch import nn

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.probing import ANYTHING
from course.traces import as_before, what_runs


class Block(nn.Module):
    """Two levels of layers."""

    def __init__(self, linear, norm):
        super().__init__()
        self.inner = nn.Sequential(linear(4, 4), norm(4), nn.ReLU())
        self.norm = norm(4)
        self.out = linear(4, 4)

    def forward(self, x):
        return self.out(self.norm(self.inner(x)))


class Net(nn.Module):
    """Linear layers and norms on three levels, in all kinds of containers."""

    def __init__(self, linear=nn.Linear, norm=nn.BatchNorm1d):
        super().__init__()
        self.stem = linear(3, 4)
        self.norm = norm(4)
        self.blocks = nn.ModuleList([Block(linear, norm), Block(linear, norm)])
        self.heads = nn.ModuleDict({"one": linear(4, 2), "two": nn.Sequential(nn.ReLU(), linear(4, 2))})

    def forward(self, x):
        x = self.norm(self.stem(x))
        for block in self.blocks:
            x = block(x)
        return self.heads["one"](x) * self.heads["two"](x)


def is_linear(module):
    return isinstance(module, nn.Linear)


def is_norm(module):
    return isinstance(module, nn.BatchNorm1d)


def wrap(linear):
    return nn.Sequential(linear, nn.Softsign())


class ReplacingCheck(Check):
    """What the checks of this exercise share."""

    claims = ("calls of make", "returned")  # the probe's own function counts; `is` belongs to the language
    errors = {
        r"RecursionError: ": "replacement_replaced_again",
        r"(ValueError: Cannot set the submodule without|KeyError: 'attribute name can't be empty)": "root_has_no_place",
        r"KeyError: .*module name can.*t contain": "dotted_setattr",
        r"RuntimeError: (dictionary|OrderedDict) .*(changed|mutated)": "changes_while_walking",
    }

    def places(self, model):
        """What stands where: 'blocks.0.out: Linear'."""
        return [
            f"{name or 'the model'}: {type(module).__name__}"
            for name, module in model.named_modules(remove_duplicate=False)
        ]

    def counted(self, make):
        calls = []

        def counting(module):
            calls.append(module)
            if len(calls) > 100:
                raise RecursionError("`make` was called more than 100 times")
            return make(module)

        return counting, calls

    def with_other_weights(self, case, model, x, parts):
        """The model's output where the weights of these parts, by the names that they had before, are others."""
        with torch.no_grad():
            for name, part in parts:
                for key, parameter in part._parameters.items():
                    if parameter is not None:
                        parameter.copy_(case.tensor(f"other {name} {key}", *parameter.shape))
        return model(x)

    def told(self, returned, model):
        return "nothing" if returned is None else "the model" if returned is model else "something else"


class OthersInTheirPlace(ReplacingCheck):
    """Every batch norm, at any depth, is replaced by what `make` returns for it; everything else is as it was."""

    def probe(self, nb, case):
        model = case.build("net", Net)
        kept = [module for module in model.modules() if not is_norm(module)]
        parts = [(name, module) for name, module in model.named_modules() if not is_norm(module)]
        make, calls = self.counted(lambda old: nn.LayerNorm(old.num_features))
        returned = nb.function("replace_modules")(model, is_norm, make)
        after = list(model.modules())
        return {
            "places": self.places(model),
            "returned": self.told(returned, model),
            "everything else is kept": all(any(one is other for other in after) for one in kept),
            "output": model(case.tensor("x", 5, 3)),
            "calls of make": len(calls),
            "output where what was kept has other weights": self.with_other_weights(
                case, model, case.tensor("x", 5, 3), parts
            ),
        }

    def truth(self, case):
        model = case.build("net", Net, norm=nn.LayerNorm)
        parts = [(name, part) for name, part in model.named_modules() if not isinstance(part, nn.LayerNorm)]
        return {
            "places": self.places(model),
            "returned": "the model",
            "everything else is kept": True,
            "output": model(case.tensor("x", 5, 3)),
            "calls of make": sum(map(is_norm, Net().modules())),
            "output where what was kept has other weights": self.with_other_weights(
                case, model, case.tensor("x", 5, 3), parts
            ),
        }

    def mistakes(self, case):
        right, untouched = self.places(Net(norm=nn.LayerNorm)), self.places(Net())
        first, dotted = Net(), Net()
        first.norm = nn.LayerNorm(4)
        for name, part in list(dotted.named_modules()):
            if is_norm(part):
                dotted._modules[name] = nn.LayerNorm(4)

        def moved(got):
            return None if got != right and sorted(got) == sorted(right) else "no"

        return {
            "not_started": {"places": untouched, "returned": "nothing"},
            "copied_model": {"places": untouched, "returned": "something else"},
            "place_cannot_be_rebound": {"places": untouched, "returned": "the model"},
            "first_level_only": {"places": self.places(first)},
            "dotted_setattr": {"places": self.places(dotted)},
            "order_of_places_lost": {"places": Matches(moved, "")},
            "returns_nothing": {"places": right, "returned": "nothing"},
        }


class WrappedInPlace(ReplacingCheck):
    """A replacement may hold the old module: every linear layer is wrapped once."""

    blame = {
        "the old modules are inside": "make_gets_a_copy",
        "output where the old modules have other weights": "make_gets_a_copy",
    }

    def probe(self, nb, case):
        model = case.build("net", Net)
        old = list(filter(is_linear, model.modules()))
        parts = [(name, part) for name, part in model.named_modules() if is_linear(part)]
        make, calls = self.counted(wrap)
        nb.function("replace_modules")(model, is_linear, make)
        inside = list(filter(is_linear, model.modules()))
        return {
            "places": self.places(model),
            "calls of make": len(calls),
            "the old modules are inside": all(any(one is other for other in inside) for one in old),
            "output": model(case.tensor("x", 5, 3)),
            "output where the old modules have other weights": self.with_other_weights(
                case, model, case.tensor("x", 5, 3), parts
            ),
        }

    def truth(self, case):
        model = case.build("net", Net, linear=lambda *sizes: wrap(nn.Linear(*sizes)))
        parts = [(name.removesuffix(".0"), part) for name, part in model.named_modules() if is_linear(part)]
        return {
            "places": self.places(model),
            "calls of make": sum(map(is_linear, Net().modules())),
            "the old modules are inside": True,
            "output": model(case.tensor("x", 5, 3)),
            "output where the old modules have other weights": self.with_other_weights(
                case, model, case.tensor("x", 5, 3), parts
            ),
        }


check("replace_modules", OthersInTheirPlace, WrappedInPlace)


### BEGIN HIDDEN TESTS
class Tied(nn.Module):
    """One linear layer stands twice in one parent, another one in two parents."""

    def __init__(self, linear=nn.Linear):
        super().__init__()
        one, two = linear(4, 4), linear(4, 4)
        self.first = nn.Sequential(one, nn.Tanh(), one)
        self.second = nn.ModuleDict({"a": two})
        self.third = nn.Sequential(nn.ReLU(), two)

    def forward(self, x):
        return self.third(self.second["a"](self.first(x)))


class TwoParents(nn.Module):
    """A container stands in two places, and with it all that it holds."""

    def __init__(self, linear=nn.Linear):
        super().__init__()
        shared = nn.Sequential(linear(4, 4), nn.Tanh())
        self.left = nn.Sequential(shared, linear(4, 2))
        self.right = nn.Sequential(linear(4, 4), nn.ModuleDict({"shared": shared, "out": linear(4, 2)}))

    def forward(self, x):
        right = self.right[1]["out"](self.right[1]["shared"](self.right[0](x)))
        return self.left(x) * right


def wrapped_linear(*sizes):
    return wrap(nn.Linear(*sizes))


class SharedStaysShared(ReplacingCheck):
    """A module that stands in several places gets one replacement, which stands in all of them."""

    net = Tied
    wanted_calls = 2

    def standing(self, model):
        """Each place, and the first place where the same object stands."""
        first = {}
        return {name: first.setdefault(part, name) for name, part in model.named_modules(remove_duplicate=False)}

    def brought(self, model, case):
        return {
            "places": self.places(model),
            "first place of the object": self.standing(model),
            "output": model(case.tensor("x", 5, 4)),
        }

    def probe(self, nb, case):
        model = case.build("net", self.net)
        make, calls = self.counted(wrap)
        nb.function("replace_modules")(model, is_linear, make)
        return {**self.brought(model, case), "calls of make": len(calls)}

    def truth(self, case):
        model = case.build("net", self.net, linear=wrapped_linear)
        return {**self.brought(model, case), "calls of make": self.wanted_calls}

    def mistakes(self, case):
        def places(*names):
            model = Tied()
            for name in names:
                model.set_submodule(name, wrapped_linear(4, 4))
            return {"places": self.places(model)}

        right = self.truth(case)["places"]
        return {
            "shared_place_missed": AnyOf(
                places("first.0", "second.a"), places("first.0", "second.a", "third.1"), places("first.2", "third.1")
            ),
            "one_for_each_place": {"places": right, "calls of make": AnyOf(3, 4)},
            "replacement_replaced_again": {"calls of make": ANYTHING, "places": Matches(self.nested, "")},
        }

    def nested(self, got):
        return None if any(".0.0: Sequential" in place for place in got) else "no"


class NotOnceMore(SharedStaysShared):
    """What `make` has returned is not replaced again, also where the walk comes along twice."""

    net = TwoParents
    wanted_calls = 4

    def mistakes(self, case):
        places = self.truth(case)["places"]
        return {
            "replacement_replaced_again": {"calls of make": Matches(lambda got: None if got > 4 else "no", "")},
            "one_for_each_place": {"places": places, "calls of make": 5},
        }


class ModeKept(ReplacingCheck):
    """Each replacement, with everything in it, is in the mode of the module that it replaces."""

    blame = {"training": "mode_lost"}

    def modes(self, model):
        model = model.eval()
        model.blocks[0].train()
        model.heads["two"].train()
        return {name or "the model": module.training for name, module in model.named_modules()}

    def with_dropout(self, linear):
        return nn.Sequential(linear, nn.Dropout())

    def probe(self, nb, case):
        model = case.build("net", Net)
        self.modes(model)
        nb.function("replace_modules")(model, is_linear, self.with_dropout)
        modes = {name or "the model": module.training for name, module in model.named_modules()}
        return {"training": modes, "what runs": self.runs(model, case)}

    def runs(self, model, case):
        return what_runs(model, case, lambda: model(case.tensor("another x", 5, 3)))

    def truth(self, case):
        model = Net(linear=lambda *sizes: self.with_dropout(nn.Linear(*sizes)))
        return {"training": self.modes(model), "what runs": as_before(self.runs(model, case))}

    def mistakes(self, case):
        right = self.truth(case)["training"]
        model = Net(linear=lambda *sizes: self.with_dropout(nn.Linear(*sizes)))
        inside = {name for name, part in model.named_modules() if isinstance(part, nn.Dropout)}
        return {"mode_on_top_only": {"training": {name: on or name in inside for name, on in right.items()}}}


check("replace_modules", SharedStaysShared, NotOnceMore, ModeKept)
### END HIDDEN TESTS

# %% [markdown]
# ## Setting values without autograd
#
# The classic use of `apply` is initialisation. First, how does one set a `Parameter` at all? Three natural
# attempts, and what they say:

# %%
layer = Function_A()


def attempt(what, act):
    try:
        act()
    except Exception as error:
        print(f"{what}\n    {type(error).__name__}: {error}")


attempt("layer.W.fill_(1.0)", lambda: layer.W.fill_(1.0))
attempt("layer.W = torch.ones(1)", lambda: setattr(layer, "W", torch.ones(1)))
attempt(
    "layer.W = Parameter(tensor([1]))", lambda: setattr(layer, "W", Parameter(torch.tensor([1])))
)

# %% [markdown]
# - `W` is a **leaf that requires a gradient**. Autograd refuses to record that it is overwritten. An initial value
#   is not part of the computation of the model, so tell autograd to look away: `with torch.no_grad():`.
# - The name `W` is in the module's register of parameters. Only a `Parameter` (or `None`) may take its place.
# - `tensor([1])` holds integers, and only floating point numbers have gradients. Write `1.0`.
#
# These ways are right. The functions of `torch.nn.init` do the first one for you:

# %%
layer = Function_A()
before = layer.W

with torch.no_grad():
    layer.W.fill_(1.0)  # in place, autograd looks away
nn.init.constant_(layer.W, 1.0)  # the same, ready-made
layer.W.data.fill_(1.0)  # the same in older code

print(layer.W, "| still the same object:", layer.W is before)

# %% [markdown]
# A trap for those who write tests: a tempting check is "with all weights at 1 this model returns its input,
# because ((x + 1) − 1) · 1 / 1 = x". The check proves little:

# %%
wrong = Model()
with torch.no_grad():
    for parameter in wrong.parameters():
        parameter.fill_(2.75)
x = torch.tensor([3.0])
print("input:", x, "| output:", wrong(x), "| W:", wrong.ab.a.W.data)

# %% [markdown]
# Look at what you have changed, not at a number that follows from it.
#
# ### Exercise: every weight is 1
#
# easy · 8 min · 2 points
#
# Write `weight_initialization(module)`: where `module` has a parameter `W`, every element of `W` becomes 1,
# **whatever it was before**. The rest of the model stays as it is: the shape of `W`, its dtype, and that it can be
# trained. Apply the function to `model`, and keep what `apply` returns in `returned_module`.
#
# The function uses the module that it is given. The check applies it to another tree as well.

# %% nbgrader={"grade": false, "grade_id": "init_ones", "locked": false, "schema_version": 3, "solution": true, "task": false}
model = Model()
returned_module = None


def weight_initialization(module):
    # TODO: set W to 1 in every module that has a W.
    ### BEGIN SOLUTION
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        nn.init.ones_(module.W)
    ### END SOLUTION


# TODO: apply it to `model`. What `apply` returns goes into `returned_module`.
### BEGIN SOLUTION
returned_module = model.apply(weight_initialization)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_init_ones", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.probing import ANYTHING
from course.tree import Model


class InitCheck(Check):
    """What the checks of this exercise share."""

    errors = {
        r"TypeError: weight_initialization\(\) (takes|missing) ": "apply_argument",
        r"AttributeError: '(Layer_\w+|Model)' object has no attribute 'W'": "not_every_module_has_it",
    }


class EveryWIsOne(InitCheck):
    """In `model`, and in a `fresh` tree, every parameter is called `W` and is 1; `returned_module` is `model`."""

    claims = ("(returned_module is model)",)  # `is` belongs to the language

    def probe(self, nb, case):
        fresh = case.build("fresh", Model)
        fresh.apply(nb.function("weight_initialization"))
        return {
            "fresh": dict(fresh.named_parameters()),
            "model": dict(nb.module("model").named_parameters()),
            "(returned_module is model)": nb.returned_module is nb.model,
            "type of fresh.ab.a.W": type(getattr(fresh.ab.a, "W", None)).__name__,
        }

    def truth(self, case):
        ones = {name: torch.ones(1) for name, _ in Model().named_parameters()}
        return {"fresh": ones, "model": ones, "(returned_module is model)": True, "type of fresh.ab.a.W": ANYTHING}

    def mistakes(self, case):
        ones = self.truth(case)["fresh"]
        old = dict(case.build("fresh", Model).named_parameters())

        def when(test):
            return Matches(lambda got: None if test(list(got.values())) else "no", "")

        shape = when(lambda weights: any(weight.shape != (1,) for weight in weights))
        equal = when(lambda weights: len({weight.data for weight in weights}) == 1 and weights[0].tensor() != 1)
        none = when(lambda weights: len(weights) == 4 and not any(weight.tensor() for weight in weights))
        return {
            "apply_uses_global_model": {"fresh": old, "model": ones},
            "apply_changes_nothing": {"fresh": old},
            "wrong_return": {"fresh": ones, "model": ones, "(returned_module is model)": False},
            "not_applied": {"fresh": ones, "model": ANYTHING},
            "tensor_for_parameter": {"fresh": {}, "type of fresh.ab.a.W": "Tensor"},
            "shared_parameter": {"fresh": when(lambda weights: len(weights) == 1)},
            "init_shape": {"fresh": shape},
            "apply_misses_some": {"fresh": {name: AnyOf(ones[name], old[name]) for name in ones}},
            "another_constant": {"fresh": none},
            "equal_but_not_one": {"fresh": equal},
        }


check("init_ones", EveryWIsOne)

### BEGIN HIDDEN TESTS
from torch import nn


class WhateverItWas(InitCheck):
    """Every `W` becomes 1, whatever it was before: zero, negative, large."""

    blame = {"fresh": "depends_on_old_value"}

    def probe(self, nb, case):
        fresh = case.build("fresh", Model)
        for parameter, old in zip(fresh.parameters(), case.shuffled("old", [0.0, -3.5, 40.0, -0.25])):
            nn.init.constant_(parameter, old)
        fresh.apply(nb.function("weight_initialization"))
        return {"fresh": dict(fresh.named_parameters())}

    def truth(self, case):
        return {"fresh": {name: torch.ones(1) for name, _ in Model().named_parameters()}}


class StillLearns(InitCheck):
    """After the initialisation every `W` still gets its gradient."""

    blame = {"requires_grad": "init_not_trainable", "W.grad": "not_in_the_output"}

    def probe(self, nb, case):
        fresh = case.build("fresh", Model)
        fresh.apply(nb.function("weight_initialization"))
        output = fresh(case.tensor("x", 3, requires_grad=True))
        output.backward(case.tensor("upstream", 3))
        named = dict(fresh.named_parameters())
        return {
            "requires_grad": {name: one.requires_grad for name, one in named.items()},
            "W.grad": {name: one.grad for name, one in named.items()},
        }

    def truth(self, case):
        names = ("ab.a.W", "ab.b.W", "cd.c.W", "cd.d.W")
        a, b, c, d = ones = [torch.ones(1, requires_grad=True) for _ in names]
        grads = torch.autograd.grad((case.tensor("x", 3) + a - b) * c / d, ones, case.tensor("upstream", 3))
        return {"requires_grad": dict.fromkeys(names, True), "W.grad": dict(zip(names, grads))}


check("init_ones", WhateverItWas, StillLearns)
### END HIDDEN TESTS

# %% [markdown]
# ## Who else holds the parameter?
#
# A fourth way to set a value makes a **new** Parameter: `layer.W = Parameter(torch.ones(1))`. In the exercise above it
# earns full marks, because the model is new and nobody else holds its parameters. But once training has begun, somebody
# does: the optimizer keeps the objects it was given, and hooks hang on them. It would go on training a tensor that nobody
# uses any more. The cell does both ways, each time with one optimizer step.


# %%
def in_place(layer):
    nn.init.ones_(layer.W)


def replaced(layer):
    layer.W = Parameter(torch.ones(1))


for initialise in (in_place, replaced):
    layer, calls = Function_A(), []
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    layer.W.register_hook(calls.append)
    initialise(layer)
    layer(torch.tensor([2.0])).backward()
    optimizer.step()
    print(
        f"{initialise.__name__:<9} W after one step: {layer.W.item()}   calls of its hook: {len(calls)}"
    )

# %% [markdown]
# `layer.W.data = tensor` stands in between. The Parameter stays the same object, so the optimizer is content. But the
# memory behind it is now that of `tensor`, as it comes: nobody compares shape or dtype, and whoever else holds `tensor`
# shares its fate.

# %%
start = torch.ones(1)
first, second = Function_A(), Function_A()
first.W.data = start
second.W.data = start
with torch.no_grad():
    first.W.mul_(7)
print("first:", first.W.data, "| second:", second.W.data, "| start:", start)

second.W.data = torch.ones(2, 3, dtype=torch.float64)
print("second:", tuple(second.W.shape), second.W.dtype)

# %% [markdown]
# So **write into** the parameter: `copy_`, `fill_`, `mul_`, the functions of `nn.init`. `copy_` takes values from any
# tensor that fits, and keeps the parameter's own memory and dtype.
#
# ### Exercise: a new start in mid-training
#
# medium · 8 min · 3 points
#
# An optimizer, some hooks and perhaps other people hold the parameters of `model`. Write `init_in_place(model, new)`:
# every parameter `p` of the model, at any depth, takes the **values** of the tensor `new(p)`, which has the shape of `p`.
#
# - It stays the same Parameter object, with its dtype, its hooks and its optimizer.
# - One that is frozen (`requires_grad=False`) gets new values too, and stays frozen. One that is trained stays so.
# - What `new` returns may be used again by whoever wrote `new`, for another parameter even: take a copy.
# - Buffers are not touched. The function returns nothing.


# %% nbgrader={"grade": false, "grade_id": "init_in_place", "locked": false, "schema_version": 3, "solution": true, "task": false}
def init_in_place(model: nn.Module, new) -> None:
    """Copy the values of `new(p)` into each parameter `p` of the model, which stays the same object."""
    # TODO: give every parameter its new values.
    ### BEGIN SOLUTION
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(new(parameter))
    ### END SOLUTION


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
init_in_place(model, torch.ones_like)
print([parameter.item() for parameter in model.parameters()])

# %% nbgrader={"grade": true, "grade_id": "test_init_in_place", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
from contextlib import suppress

import torch
from torch import nn

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.probing import ANYTHING
from course.traces import as_before, what_runs


class Gain(nn.Module):
    """Has a parameter of its own, and a layer below it."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(5))
        self.linear = nn.Linear(4, 5, bias=False)

    def forward(self, x):
        return self.linear(x) * self.gain


class Net(nn.Module):
    """Parameters of different shapes on three levels, and buffers."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4, affine=False), Gain())
        self.out = nn.Linear(5, 2, bias=False)
        self.offset = nn.Parameter(torch.rand(1, 2))

    def forward(self, x):
        return self.out(self.features(x)) + self.offset


class InPlaceCheck(Check):
    """What the checks of this exercise share."""

    errors = {
        r"RuntimeError: Error\(s\) in loading state_dict": "state_dict_is_more",
        r"AttributeError: 'NoneType' object has no attribute": "absent_is_none",
    }

    def fresh(self, case, shape):
        """New values for a parameter of this shape: every parameter of Net has one of its own."""
        return case.tensor(f"new {tuple(shape)}", *shape)

    def values(self, model):
        return {name: one.detach().clone() for name, one in model.named_parameters()}

    def same(self, model, before):
        after = dict(model.named_parameters())
        return {name: after.get(name) is one for name, one in before.items()}


class NewValues(InPlaceCheck):
    """Every parameter has the values of `new(p)` and is the same object as before; buffers are as they were."""

    blame = {"requires_grad": "init_not_trainable"}

    def probe(self, nb, case):
        model = case.build("net", Net)
        before = dict(model.named_parameters())
        nb.function("init_in_place")(model, lambda parameter: self.fresh(case, parameter.shape))
        return {
            "values": self.values(model),
            "same Parameter object": self.same(model, before),
            "requires_grad": {name: one.requires_grad for name, one in model.named_parameters()},
            "buffers": dict(model.named_buffers()),
        }

    def truth(self, case):
        model = case.build("net", Net)
        return {
            "values": {name: self.fresh(case, one.shape) for name, one in model.named_parameters()},
            "same Parameter object": {name: True for name, _ in model.named_parameters()},
            "requires_grad": {name: True for name, _ in model.named_parameters()},
            "buffers": dict(model.named_buffers()),
        }

    def mistakes(self, case):
        old, right = dict(case.build("net", Net).named_parameters()), self.truth(case)["values"]

        def only(test):
            return {name: right[name] if test(name) else old[name] for name in old}

        def constant(same):
            def test(got):
                found = [one.tensor().unique().tolist() for one in got.values()]
                numbers = {one[0] for one in found if len(one) == 1}
                return (
                    None if len(found) == sum(len(one) == 1 for one in found) and (len(numbers) == 1) == same else "no"
                )

            return {"values": Matches(test, "")}

        same = self.truth(case)["same Parameter object"]
        top, weights = (only(lambda name: "." not in name), only(lambda name: name.endswith(("weight", "bias"))))
        return {
            "new_values_rebound": {"values": old},
            "depends_on_old_value": {
                "values": AnyOf(*({n: f(old[n], right[n]) for n in old} for f in (torch.add, torch.mul)))
            },
            "parameter_replaced": {"values": right, "same Parameter object": dict.fromkeys(old, False)},
            "new_values_for_some": {"values": AnyOf(top, only(lambda name: name.count(".") < 2))},
            "not_only_weight_and_bias": {"values": AnyOf(weights, only(lambda name: name.endswith("weight")))},
            "tensor_in_parameters": {"values": {}},
            "new_values_ignored": constant(True),
            "one_number_for_tensor": constant(False),
            "buffers_overwritten": {"values": right, "same Parameter object": same, "buffers": ANYTHING},
        }


class TrainingGoesOn(InPlaceCheck):
    """An optimizer and a hook that were there before go on with the parameters: one step before, one after."""

    lr, momentum = 0.1, 0.9

    def backward(self, model, case, name):
        model.zero_grad()
        model(case.tensor(f"x {name}", 6, 3)).backward(case.tensor(f"upstream {name}", 6, 2))

    def probe(self, nb, case):
        model, calls = case.build("net", Net), []
        optimizer = torch.optim.SGD(model.parameters(), lr=self.lr, momentum=self.momentum)
        model.out.weight.register_hook(lambda grad: calls.append(grad))
        self.backward(model, case, "one")
        optimizer.step()
        nb.function("init_in_place")(model, lambda parameter: self.fresh(case, parameter.shape))
        self.backward(model, case, "two")
        optimizer.step()
        return {"values after a step": self.values(model), "calls of a hook": len(calls)}

    def truth(self, case):
        model = case.build("net", Net)
        names = [name for name, _ in model.named_parameters()]
        one = self.gradients(model, dict(model.named_parameters()), case, "one")
        new = {name: self.fresh(case, value.shape).requires_grad_() for name, value in model.named_parameters()}
        two = self.gradients(model, new, case, "two")
        moved = {name: new[name] - self.lr * (self.momentum * one[name] + two[name]) for name in names}
        return {"values after a step": moved, "calls of a hook": 2}

    def mistakes(self, case):
        not_moved = {name: self.fresh(case, one.shape) for name, one in case.build("net", Net).named_parameters()}
        return {"parameter_replaced": AnyOf({"values after a step": not_moved}, {"calls of a hook": 1})}

    def gradients(self, model, parameters, case, name):
        out = torch.func.functional_call(model, parameters, (case.tensor(f"x {name}", 6, 3),))
        grads = torch.autograd.grad(out, list(parameters.values()), case.tensor(f"upstream {name}", 6, 2))
        return dict(zip(parameters, grads))


check("init_in_place", NewValues, TrainingGoesOn)


### BEGIN HIDDEN TESTS
class ValuesAreCopied(InPlaceCheck):
    """`new` may return one and the same tensor again: each parameter has memory of its own."""

    blame = {"values after a change of one": "memory_shared", "what new returned": "memory_shared"}

    def probe(self, nb, case):
        model = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3)))
        start = {shape: case.tensor(f"start {shape}", *shape) for shape in ((3, 3), (3,))}
        nb.function("init_in_place")(model, lambda parameter: start[tuple(parameter.shape)])
        with torch.no_grad():
            model[0].weight.add_(1)
            model[0].bias.mul_(2)
        return {"values after a change of one": self.values(model), "what new returned": list(start.values())}

    def truth(self, case):
        weight, bias = case.tensor("start (3, 3)", 3, 3), case.tensor("start (3,)", 3)
        changed = {"0.weight": weight + 1, "0.bias": bias * 2, "1.0.weight": weight, "1.0.bias": bias}
        return {"values after a change of one": changed, "what new returned": [weight, bias]}


class StaysWhatItIs(InPlaceCheck):
    """Frozen parameters stay frozen, trained ones trained, and double precision stays double precision."""

    blame = {"requires_grad": "frozen_thawed"}

    def model(self, case):
        model = case.build("net", Net).double()
        model.features[0].weight.requires_grad_(False)
        model.offset.requires_grad_(False)
        return model

    def probe(self, nb, case):
        model = self.model(case)
        nb.function("init_in_place")(model, lambda parameter: self.fresh(case, parameter.shape))
        return {
            "values": self.values(model),
            "requires_grad": {name: one.requires_grad for name, one in model.named_parameters()},
            "what runs": self.runs(model, case),
        }

    def runs(self, model, case):
        """Which parameters a gradient reaches: all of them where none is frozen, in whatever dtype."""


        def run():
            with suppress(AttributeError):  # all are frozen
                sum(one.double().sum() for one in model.parameters() if one.requires_grad).backward()

        return what_runs(model, case, run)

    def truth(self, case):
        model = self.model(case)
        named = dict(model.named_parameters())
        return {
            "values": {name: self.fresh(case, one.shape).double() for name, one in named.items()},
            "requires_grad": {name: one.requires_grad for name, one in named.items()},
            "what runs": as_before(self.runs(model, case)),
        }

    def mistakes(self, case):
        old, right = dict(self.model(case).named_parameters()), self.truth(case)["values"]
        kept = {name: right[name] if one.requires_grad else one for name, one in old.items()}
        single = Matches(lambda got: None if any(one.dtype != "float64" for one in got.values()) else "no", "")
        return {"frozen_not_initialised": {"values": kept}, "dtype_taken_over": {"values": single}}


check("init_in_place", ValuesAreCopied, StaysWhatItIs)
### END HIDDEN TESTS

# %% [markdown]
# ## Different layers, different starts
#
# Which start values are good depends on the layer. A linear layer or a convolution multiplies the spread of what goes in
# by a factor that its weights decide. In a deep network these factors are multiplied with each other, and then slightly too small
# is nothing and slightly too large is everything. Here are 20 layers, each with a ReLU behind it, under three starts:


# %%
def spread_by_layer(init):
    torch.manual_seed(0)
    layers = nn.Sequential(
        *[nn.Sequential(nn.Linear(64, 64, bias=False), nn.ReLU()) for _ in range(20)]
    )
    layers.apply(lambda module: init(module.weight) if isinstance(module, nn.Linear) else None)
    x, spread = torch.randn(100, 64), []
    with torch.no_grad():
        for layer in layers:
            x = layer(x)
            spread.append(x.std().item())
    return spread


starts = {
    "all N(0, 0.05²)": partial(nn.init.normal_, std=0.05),
    "Kaiming": partial(nn.init.kaiming_normal_, nonlinearity="relu"),
    "all N(0, 0.5²)": partial(nn.init.normal_, std=0.5),
}
for name, init in starts.items():
    spread = spread_by_layer(init)
    print(
        f"{name:<16} spread after layer 1, 5, 10, 20:",
        *(f"{spread[i]:9.2g}" for i in (0, 4, 9, 19)),
    )

# %% [markdown]
# So an initialisation goes by type, and `apply` is made for it. Two things stop most first attempts. The functions that
# look at the size of a layer need at least two dimensions, and the weight of a batch norm has one. And a layer may do
# without a bias: then the attribute is there, and it is `None`.

# %%
norm, linear = nn.BatchNorm2d(4), nn.Linear(3, 2, bias=False)
attempt("nn.init.xavier_uniform_(norm.weight)", lambda: nn.init.xavier_uniform_(norm.weight))
attempt("nn.init.zeros_(linear.bias)", lambda: nn.init.zeros_(linear.bias))
print("has a bias:", hasattr(linear, "bias"), "| what it is:", linear.bias)

plain = nn.BatchNorm2d(4, affine=False)
print("a batch norm with affine=False: weight", plain.weight, "| bias", plain.bias)

# %% [markdown]
# Remember also 'Choosing modules': a class may be a subclass of the one you mean, and another class may carry its name.
# The output projection of an attention layer is a `Linear` by descent, not by name:

# %%
projection = nn.MultiheadAttention(4, 2).out_proj
print(type(projection).__name__, "| isinstance of nn.Linear:", isinstance(projection, nn.Linear))

# %% [markdown]
# ### Exercise: a start for every type
#
# medium · 12 min · 3 points
#
# Write `init_by_type(module)`, a function for `apply`. It initialises the module that it is given:
#
# | module | weight | bias |
# | --- | --- | --- |
# | `nn.Linear` | `nn.init.xavier_uniform_`: uniform, as far as ±√(6 / (fan_in + fan_out)) | 0 |
# | `nn.Conv1d`, `nn.Conv2d`, `nn.Conv3d` | `nn.init.kaiming_normal_` for ReLU: normal, with a spread of √(2 / fan_in) | 0 |
# | `nn.BatchNorm1d`, `nn.BatchNorm2d`, `nn.BatchNorm3d` | 1 | 0 |
#
# Subclasses of these classes count. A weight or a bias that is not there stays away. The parameters of all other modules
# (`nn.LayerNorm`, `nn.Embedding`, your own classes) stay as they are, whatever their class is called. What could be trained
# before can be trained afterwards.


# %% nbgrader={"grade": false, "grade_id": "init_by_type", "locked": false, "schema_version": 3, "solution": true, "task": false}
def init_by_type(module: nn.Module) -> None:
    """Initialise this one module by its type: linear layers, convolutions and batch norms; leave others alone."""
    # TODO: initialise the module.
    ### BEGIN SOLUTION
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        if module.weight is not None:
            nn.init.ones_(module.weight)
    else:
        return
    if module.bias is not None:
        nn.init.zeros_(module.bias)
    ### END SOLUTION


net = nn.Sequential(
    nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 10)
)
net.apply(init_by_type)
for name, parameter in net.named_parameters():
    print(f"{name:<9} from {parameter.min().item():6.3f} to {parameter.max().item():6.3f}")

# %% nbgrader={"grade": true, "grade_id": "test_init_by_type", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import math
from contextlib import suppress

import torch
from torch import nn

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.traces import as_before, what_runs

OLD = 7.25


class Stem(nn.Module):
    """Convolutions of all three kinds, with and without a bias, and batch norms."""

    def __init__(self):
        super().__init__()
        self.one = nn.Sequential(nn.Conv1d(24, 40, 5), nn.BatchNorm1d(40), nn.ReLU())
        self.two = nn.Sequential(nn.Conv2d(12, 36, 3, bias=False), nn.BatchNorm2d(36), nn.ReLU(), nn.MaxPool2d(2))
        self.three = nn.Sequential(nn.Conv3d(6, 30, (3, 2, 3)), nn.BatchNorm3d(30))


class Net(nn.Module):
    """A stem, and two linear layers, one of them wide."""

    def __init__(self):
        super().__init__()
        self.stem = Stem()
        self.head = nn.ModuleDict({"wide": nn.Linear(20, 200), "out": nn.Linear(200, 20)})


class ByTypeCheck(Check):
    """What the checks of this exercise share."""

    errors = {
        r"ValueError: Fan in and fan out": "init_needs_two_dimensions",
        r"AttributeError: 'NoneType' object": "absent_bias",
        r"TypeError: .*init_by_type\(\) (takes|missing) ": "apply_argument",
        r"(AttributeError|ModuleAttributeError): '\w*(Conv|Linear|Norm)\w*' object has no attribute": "name_is_not_type",
        r"AttributeError: '\w+' object has no attribute '(weight|bias)'": "not_every_module_has_it",
    }

    def told(self, weight):
        """What the statement asks about a weight, in numbers that do not depend on chance by much."""
        if weight is None:
            return None
        weight = weight.detach().double()
        fan_in = weight[0].numel()
        fan_out = weight.shape[0] * weight[0, 0].numel() if weight.dim() > 1 else fan_in
        spread = weight.std().item()
        return {
            "mean": weight.mean().item(),
            "spread": spread,
            "largest": weight.abs().max().item(),
            "fans": [fan_in, fan_out],
        }

    def applied(self, nb, case, factory):
        model = case.build("net", factory)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.fill_(OLD)
        model.apply(nb.function("init_by_type"))
        return model


def random_weight(xavier):
    """The test of a weight's distribution: what is wrong with it, or None."""

    def test(got):
        fan_in, fan_out = got["fans"]
        limit = math.sqrt(6 / (fan_in + fan_out))
        spread = limit / math.sqrt(3) if xavier else math.sqrt(2 / fan_in)
        if got["spread"] == 0:
            return f"everywhere {got['mean']:.4g}"
        if abs(got["mean"]) > 0.1 * spread:
            return f"around {got['mean']:.4g}, not around 0"
        if abs(got["spread"] / spread - 1) > 0.06:
            return f"spread by {got['spread']:.4g}, not by {spread:.4g}"
        # Of a thousand normal numbers some lie beyond 2.6 times the spread; uniform ones end at 1.73 times.
        if (got["largest"] > limit * 1.0001) if xavier else (got["largest"] < 2.4 * spread):
            return f"as far as {got['largest']:.4g}, with a spread of {got['spread']:.4g}"
        return None

    kind = "uniform between ±√(6 / (fan_in + fan_out))" if xavier else "normal, with a spread of √(2 / fan_in)"
    return Matches(test, kind)


class ByType(ByTypeCheck):
    """In a net with layers on several levels, every layer has the weight and the bias that the table asks for."""

    blame = {"numbers": "wrong_start", "weights": "init_not_by_table", "requires_grad": "init_not_trainable"}

    def layers(self, model, kinds):
        return {name: part for name, part in model.named_modules() if isinstance(part, kinds)}

    random = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
    norms = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)

    def probe(self, nb, case):
        model = self.applied(nb, case, Net)
        layers, norms = self.layers(model, self.random), self.layers(model, self.norms)
        numbers = {f"{name}.bias": part.bias for name, part in {**layers, **norms}.items()}
        return {
            "weights": {f"{name}.weight": self.told(part.weight) for name, part in layers.items()},
            "numbers": {**numbers, **{f"{name}.weight": part.weight for name, part in norms.items()}},
            "requires_grad": {name: one.requires_grad for name, one in model.named_parameters()},
            "what runs": self.runs(model, case),
        }

    def runs(self, model, case):
        """Which parameters a gradient reaches."""


        def run():
            with suppress(AttributeError):  # all are frozen
                sum(one.sum() for one in model.parameters() if one.requires_grad).backward()

        return what_runs(model, case, run)

    def truth(self, case):
        model = Net()
        layers, norms = self.layers(model, self.random), self.layers(model, self.norms)
        numbers = {
            f"{name}.bias": None if part.bias is None else torch.zeros_like(part.bias)
            for name, part in {**layers, **norms}.items()
        }
        return {
            "weights": {f"{name}.weight": random_weight(isinstance(part, nn.Linear)) for name, part in layers.items()},
            "numbers": {**numbers, **{f"{name}.weight": torch.ones_like(part.weight) for name, part in norms.items()}},
            "requires_grad": {name: True for name, _ in model.named_parameters()},
            "what runs": as_before(self.runs(model, case)),
        }

    def mistakes(self, case):
        truth = self.truth(case)
        xavier, kaiming = random_weight(True), random_weight(False)

        def weights(test):
            return {"weights": Matches(lambda got: None if test(got) else "no", "")}

        def of(name, xavier):
            return (name.startswith("head")) == xavier

        def old(one):
            return one["spread"] == 0 and abs(one["mean"] - OLD) < 1e-3

        def is_right(name, one):
            return truth["weights"][name].test(one) is None

        def by_fan_out(one):
            return kaiming.test({**one, "fans": one["fans"][::-1]}) is None

        def other_form(name, one):
            # The spread that is asked for, in the other distribution.
            fan_in, fan_out = one["fans"]
            spread = math.sqrt(2 / (fan_in + fan_out)) if of(name, True) else math.sqrt(2 / fan_in)
            return not is_right(name, one) and abs(one["spread"] / spread - 1) < 0.06 and abs(one["mean"]) < spread / 10

        def bias(name, right):
            layer = (
                name.endswith("bias") and right is not None and isinstance(Net().get_submodule(name[:-5]), self.random)
            )
            return AnyOf(right, torch.full_like(right, OLD)) if layer else right

        def norm(name, right):
            layer = isinstance(Net().get_submodule(name.rpartition(".")[0]), self.norms)
            return AnyOf(right, torch.full_like(right, OLD)) if layer else right

        numbers = truth["numbers"]
        return {
            "apply_changes_nothing": {
                **weights(lambda got: all(map(old, got.values()))),
                "numbers": {
                    name: right if right is None else torch.full_like(right, OLD) for name, right in numbers.items()
                },
            },
            "init_type_missed": AnyOf(
                weights(lambda got: all(old(one) or is_right(name, one) for name, one in got.items())),
                {
                    **weights(lambda got: all(is_right(*pair) for pair in got.items())),
                    "numbers": {name: norm(name, right) for name, right in numbers.items()},
                },
            ),
            "one_start_for_all_types": weights(
                lambda got: (
                    all(xavier.test(one) is None for one in got.values())
                    or all(kaiming.test(one) is None for one in got.values())
                    or all((kaiming if of(name, True) else xavier).test(one) is None for name, one in got.items())
                )
            ),
            "init_by_fan_out": weights(
                lambda got: all(
                    is_right(name, one) or (of(name, False) and by_fan_out(one)) for name, one in got.items()
                )
            ),
            "init_other_distribution": weights(
                lambda got: all(is_right(name, one) or other_form(name, one) for name, one in got.items())
            ),
            "init_all_equal": weights(lambda got: any(one["spread"] == 0 and not old(one) for one in got.values())),
            "absent_bias": {
                "numbers": Matches(
                    lambda got: None if any(got[n] is not None for n in numbers if numbers[n] is None) else "no", ""
                )
            },
            "bias_left_out": {"numbers": {name: bias(name, right) for name, right in numbers.items()}},
        }


check("init_by_type", ByType)


### BEGIN HIDDEN TESTS
class Bare(nn.Module):
    """Layers without a bias, batch norms without weight and bias."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(24, 40, 5, bias=False)
        self.norm = nn.BatchNorm1d(40, affine=False)
        self.out = nn.Sequential(nn.BatchNorm3d(4, affine=False), nn.Linear(20, 200, bias=False))


class NothingIsAdded(ByTypeCheck):
    """A weight or a bias that is not there stays away."""

    def probe(self, nb, case):
        model = self.applied(nb, case, Bare)
        return {
            "parameters": [name for name, _ in model.named_parameters()],
            "weights": {name: self.told(one) for name, one in model.named_parameters()},
        }

    def truth(self, case):
        names = ["conv.weight", "out.1.weight"]
        return {"parameters": names, "weights": {name: random_weight(name == "out.1.weight") for name in names}}

    def mistakes(self, case):
        return {"absent_bias": {"parameters": Matches(lambda got: None if len(got) > 2 else "no", "")}}


class Weighted(nn.Module):
    """A module of one's own, with names of parameters as layers have them."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(6, 4))
        self.bias = nn.Parameter(torch.rand(6))


class Others(nn.Module):
    """Modules that are none of the three types, and one that is."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(7, 6)
        self.norms = nn.ModuleList([nn.LayerNorm(6), nn.GroupNorm(2, 6), nn.InstanceNorm1d(6, affine=True)])
        self.act = nn.PReLU(6)
        self.pair = nn.Bilinear(3, 4, 5)
        self.own = Weighted()
        self.out = nn.Linear(20, 200)


class OthersStay(ByTypeCheck):
    """The parameters of all other modules stay as they are."""

    blame = {"others": "init_reaches_too_far"}

    def others(self, model):
        return {name: one for name, one in model.named_parameters() if not name.startswith("out.")}

    def probe(self, nb, case):
        return {"others": self.others(self.applied(nb, case, Others))}

    def truth(self, case):
        return {"others": {name: torch.full_like(one, OLD) for name, one in self.others(Others()).items()}}


class Projection(nn.Linear):
    """A linear layer under another name."""


class SameSize(nn.Conv2d):
    """A convolution under another name."""


class Steady(nn.BatchNorm1d):
    """A batch norm under another name."""


class ConvLinearBatchNormBlock(nn.Module):
    """None of these itself, and a home for all of them."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.out = SameSize(12, 36, 3), Steady(36), Projection(20, 200)


class TypeNotName(ByTypeCheck):
    """Subclasses count, and a class that is only called like one of the types does not."""

    def probe(self, nb, case):
        block = self.applied(nb, case, ConvLinearBatchNormBlock)
        return {
            "conv": [self.told(block.conv.weight), block.conv.bias],
            "norm": [block.norm.weight, block.norm.bias],
            "out": [self.told(block.out.weight), block.out.bias],
        }

    def truth(self, case):
        return {
            "conv": [random_weight(False), torch.zeros(36)],
            "norm": [torch.ones(36), torch.zeros(36)],
            "out": [random_weight(True), torch.zeros(200)],
        }

    blame = {"conv": "name_is_not_type", "norm": "name_is_not_type", "out": "name_is_not_type"}


check("init_by_type", NothingIsAdded, OthersStay, TypeNotName)
### END HIDDEN TESTS

# %% [markdown]
# ## Freezing
#
# To fine-tune a model one trains a part of it and leaves the rest as it is. The rest is **frozen**. Which part that is,
# a condition says: all batch norms, or everything in the backbone. That is work for `apply` again, and it has two halves.
#
# **The parameters** must not need a gradient. A module has a method for it, `requires_grad_(False)`, which reaches
# all parameters below. Mind the underscore at the end. Without it you set an attribute that nobody reads:

# %%
layer = nn.Sequential(nn.Linear(2, 2))
layer.requires_grad = False
print(
    "after layer.requires_grad = False: ",
    [parameter.requires_grad for parameter in layer.parameters()],
)
layer.requires_grad_(False)
print(
    "after layer.requires_grad_(False): ",
    [parameter.requires_grad for parameter in layer.parameters()],
)

# %% [markdown]
# A frozen layer still passes the gradient on to the layers in front of it. It only keeps none for itself:

# %%
front, frozen = nn.Linear(2, 2), nn.Linear(2, 2).requires_grad_(False)
net = nn.Sequential(front, frozen)
net(torch.ones(1, 2)).sum().backward()
print("a gradient in front of the frozen layer:", front.weight.grad is not None)
print("a gradient in the frozen layer:         ", frozen.weight.grad is not None)
draw_module_tree(net, title="the second layer is frozen")

# %% [markdown]
# **The mode** is the other half. A batch norm in training mode moves its running statistics at every call. They are
# buffers, so no optimizer and no gradient has a part in it. Dropout goes on dropping. What is frozen belongs into eval
# mode. And `model.train()`, which training loops call at the start of each epoch, turns that back for the whole tree: freeze
# after it, not before.

# %%
net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).requires_grad_(False)
x = torch.tensor([[1.0, 2.0], [30.0, 40.0]])
for what, set_mode in (
    ("in training mode", net.train),
    ("in eval mode", net[1].eval),
    ("after net.train()", net.train),
):
    set_mode()
    net[1].reset_running_stats()
    net(x)
    print(
        f"{what:<18} the running mean of the frozen batch norm has moved:",
        bool(net[1].running_mean.any()),
    )

# %% [markdown]
# ### Exercise: freeze, and thaw again
#
# medium · 10 min · 3 points
#
# Write `freeze_where(model, choose, frozen=True)`. For every module of the model, at any depth, for which
# `choose(module)` is true:
#
# - all parameters of the module, and of everything inside it, no longer need a gradient,
# - the module, and everything inside it, is in eval mode.
#
# With `frozen=False` it is the way back: they need a gradient, and they are in training mode. All other parameters and
# modules stay as they are, **whatever** they are: frozen or not, in training or in eval mode. What the model computes stays
# the same, and so does the way of the gradient to what is not frozen. The function returns the model.


# %% nbgrader={"grade": false, "grade_id": "freeze_where", "locked": false, "schema_version": 3, "solution": true, "task": false}
def freeze_where(model: nn.Module, choose, frozen: bool = True) -> nn.Module:
    """Freeze every module for which `choose(module)` is true, with all inside it; thaw with `frozen=False`."""

    # TODO: freeze or thaw the chosen modules, and return the model.
    ### BEGIN SOLUTION
    def visit(module):
        if choose(module):
            module.requires_grad_(not frozen)
            module.train(not frozen)

    return model.apply(visit)
    ### END SOLUTION


net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1))
freeze_where(net, lambda module: isinstance(module, nn.BatchNorm1d))
print("trained:", [name for name, parameter in net.named_parameters() if parameter.requires_grad])

# %% nbgrader={"grade": true, "grade_id": "test_freeze_where", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
from contextlib import suppress

import torch
from torch import nn

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.traces import as_before, what_runs


class Scale(nn.Module):
    """Parameters of its own and a layer with more of them."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(4) + 0.5)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(x) * self.gain


class Net(nn.Module):
    """Batch norms and dropout on several levels."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(3, 4)
        self.features = nn.Sequential(nn.Linear(4, 4, bias=False), nn.BatchNorm1d(4), nn.Sequential(nn.Tanh(), Scale()))
        self.drop = nn.Dropout(0.0)
        self.norm = nn.BatchNorm1d(4)
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return self.out(self.norm(self.drop(self.features(self.stem(x)))))


def is_norm(module):
    return isinstance(module, nn.BatchNorm1d)


def is_branch(module):
    return isinstance(module, (nn.Sequential, nn.Dropout))


class FreezingCheck(Check):
    """What the checks of this exercise share."""

    errors = {
        r"AttributeError: '\w+' object has no attribute '(weight|bias|gain)'": "not_every_module_has_it",
        r"AttributeError: 'NoneType' object": "absent_bias",
        r"TypeError: .*freeze_where\(\) (got an unexpected|takes)": "no_way_back",
        r"RuntimeError: you can only change requires_grad flags of leaf": "gradient_cut",
    }

    def told(self, model):
        return {
            "requires_grad": {name: one.requires_grad for name, one in model.named_parameters()},
            "training": {name or "the model": part.training for name, part in model.named_modules()},
        }

    def runs(self, model, case):
        """In which modes the modules run, and which parameters a gradient reaches."""

        def run():
            model(case.tensor("another x", 6, 3))
            with suppress(AttributeError):  # everything is frozen
                sum(one.sum() for one in model.parameters() if one.requires_grad).backward()

        return what_runs(model, case, run)

    def right(self, case, states):
        """What runs in a model whose parameters and modules are in these states."""
        model = Net()
        for name, one in model.named_parameters():
            one.requires_grad_(states["requires_grad"][name])
        for name, part in model.named_modules():
            part.training = states["training"][name or "the model"]
        return as_before(self.runs(model, case))

    def wanted(self, before, choose, frozen):
        """By name: what is in a chosen module, or is one, changes; the rest is as ``before``."""
        model = Net()
        chosen = [name for name, part in model.named_modules() if choose(part)]

        def after(name, state):
            return (not frozen) if any(name == one or name.startswith(f"{one}.") for one in chosen) else state

        return {kind: {name: after(name, state) for name, state in states.items()} for kind, states in before.items()}


class Frozen(FreezingCheck):
    """The batch norms at any depth are frozen: no gradient for their parameters, and eval mode; the model is returned."""

    claims = ("returned",)  # `is` belongs to the language
    blame = {"what runs": "frozen_part_blocks"}  # parameters and modes are right: something cuts the graph

    def probe(self, nb, case):
        model = case.build("net", Net)
        returned = nb.function("freeze_where")(model, is_norm)
        told = "nothing" if returned is None else "the model" if returned is model else "something else"
        return {**self.told(model), "returned": told, "what runs": self.runs(model, case)}

    def truth(self, case):
        wanted = self.wanted(self.told(Net()), is_norm, True)
        return {**wanted, "returned": "the model", "what runs": self.right(case, wanted)}

    def mistakes(self, case):
        fresh, right = self.told(Net()), self.truth(case)
        grads, modes = right["requires_grad"], right["training"]

        def some(kind, kept):
            return {name: on if kept(name) else fresh[kind][name] for name, on in right[kind].items()}

        def of(test):
            return AnyOf(
                {"requires_grad": some("requires_grad", test), "training": some("training", test)},
                {"requires_grad": some("requires_grad", test), "training": modes},
                {"requires_grad": some("requires_grad", test), "training": fresh["training"]},
            )

        everything = dict.fromkeys(modes, False)
        return {
            "not_started": {**fresh, "returned": "nothing"},
            "freezes_nothing": {"requires_grad": fresh["requires_grad"]},
            "freezes_first_level": of(lambda name: name.split(".")[0] == "norm"),
            "freezes_weight_only": {"requires_grad": some("requires_grad", lambda name: not name.endswith("bias"))},
            "freezes_the_rest": {"requires_grad": {name: not on for name, on in grads.items()}},
            "freezes_everything": {"requires_grad": dict.fromkeys(grads, False)},
            "frozen_in_training_mode": {"requires_grad": grads, "training": fresh["training"]},
            "mode_of_everything": {"requires_grad": grads, "training": everything},
            "parameter_no_more": {"requires_grad": {name: on for name, on in grads.items() if on}},
            "returns_nothing": {"requires_grad": grads, "training": modes, "returned": "nothing"},
        }


class AndBack(FreezingCheck):
    """With `frozen=False` what was frozen needs a gradient again, and is in training mode again."""

    def probe(self, nb, case):
        model, freeze_where = case.build("net", Net), nb.function("freeze_where")
        freeze_where(model, is_norm)
        freeze_where(model, is_norm, frozen=False)
        return {**self.told(model), "what runs": self.runs(model, case)}

    def truth(self, case):
        fresh = self.told(Net())
        return {**fresh, "what runs": self.right(case, fresh)}

    def mistakes(self, case):
        fresh = self.told(Net())
        frozen = self.wanted(fresh, is_norm, True)
        return {
            "no_way_back": {"requires_grad": frozen["requires_grad"]},
            "thawed_in_eval_mode": {
                "requires_grad": fresh["requires_grad"],
                "training": Matches(lambda got: None if not all(got.values()) else "no", ""),
            },
        }


check("freeze_where", Frozen, AndBack)


### BEGIN HIDDEN TESTS
class WithAllInside(FreezingCheck):
    """A chosen module is frozen, and thawed, with everything inside it."""

    blame = {"requires_grad": "freezes_own_only", "training": "freezes_own_only"}

    def probe(self, nb, case):
        model, freeze_where = case.build("net", Net), nb.function("freeze_where")
        freeze_where(model, is_branch)
        frozen = {**self.told(model), "what runs": self.runs(model, case)}
        freeze_where(model, is_branch, False)
        thawed = {**self.told(model), "what runs": self.runs(model, case)}
        return {kind: {"frozen": frozen[kind], "thawed again": thawed[kind]} for kind in frozen}

    def truth(self, case):
        fresh = self.told(Net())
        frozen = self.wanted(fresh, is_branch, True)
        states = {kind: {"frozen": frozen[kind], "thawed again": fresh[kind]} for kind in fresh}
        return {**states, "what runs": {"frozen": self.right(case, frozen), "thawed again": self.right(case, fresh)}}


class OthersStay(FreezingCheck):
    """What is not chosen stays as it is: frozen or not, in training or in eval mode."""

    blame = {"requires_grad": "freezes_the_unchosen", "training": "freezes_the_unchosen"}

    def model(self, case):
        model = case.build("net", Net)
        model.out.weight.requires_grad_(False)
        model.features[0].requires_grad_(False)
        model.stem.eval()
        model.features.training = False
        model.drop.eval()
        return model

    def probe(self, nb, case):
        model, freeze_where = self.model(case), nb.function("freeze_where")
        freeze_where(model, is_norm)
        frozen = {**self.told(model), "what runs": self.runs(model, case)}
        freeze_where(model, is_norm, False)
        thawed = {**self.told(model), "what runs": self.runs(model, case)}
        return {kind: {"frozen": frozen[kind], "thawed again": thawed[kind]} for kind in frozen}

    def truth(self, case):
        before = self.told(self.model(case))
        frozen, thawed = (self.wanted(before, is_norm, on) for on in (True, False))
        states = {kind: {"frozen": frozen[kind], "thawed again": thawed[kind]} for kind in before}
        return {**states, "what runs": {"frozen": self.right(case, frozen), "thawed again": self.right(case, thawed)}}


class GradientPassesThrough(FreezingCheck):
    """The output, and the gradients of what is not frozen, are those of the same model with its batch norms in eval mode."""

    blame = {"output": "freezing_changes_output", "gradients": "frozen_part_blocks"}

    def model(self, case):
        """A net whose batch norms have been trained for a while."""
        model = case.build("net", Net)
        with torch.no_grad():
            for name, part in model.named_modules():
                if is_norm(part):
                    part.weight.copy_(case.tensor(f"weight of {name}", 4))
                    part.running_mean.copy_(case.tensor(f"mean of {name}", 4))
        return model

    def probe(self, nb, case):
        model = self.model(case)
        nb.function("freeze_where")(model, is_norm)
        output = model(case.tensor("x", 6, 3))
        output.backward(case.tensor("upstream", 6, 2))
        return {
            "output": output,
            "gradients": {name: one.grad for name, one in model.named_parameters() if one.grad is not None},
            "running mean": model.features[1].running_mean,
        }

    def truth(self, case):
        model = self.model(case)
        norms = [name for name, part in model.named_modules() if is_norm(part)]
        for name in norms:
            model.get_submodule(name).eval()
        named = {name: one for name, one in model.named_parameters() if name.rpartition(".")[0] not in norms}
        output = model(case.tensor("x", 6, 3))
        grads = torch.autograd.grad(output, list(named.values()), case.tensor("upstream", 6, 2))
        return {
            "output": output,
            "gradients": dict(zip(named, grads)),
            "running mean": case.tensor("mean of features.1", 4),
        }


check("freeze_where", WithAllInside, OthersStay, GradientPassesThrough)
### END HIDDEN TESTS

# %% [markdown]
# ## A text for repr
#
# `print(model)` is the first thing that people do with a model. For each module PyTorch writes the class name, and
# between the parentheses whatever the method `extra_repr()` returns. `nn.Linear` uses it to show its sizes; our
# functions have a name, and hide it:

# %%
for layer in (nn.Linear(2, 3), Function_A()):
    print(f"extra_repr() returns {layer.extra_repr()!r}")
    print(f"so it is shown as    {layer}")

# %% [markdown]
# If the class is yours, define `extra_repr` in it. If it is not, `apply` can put a method onto each **object**.
# Python has two surprises here. First: a function that you store on an object is a plain function. Nobody passes
# `self` to it. Second: the built-in functions `repr()` and `print()` look for `__repr__` on the **class**, never on
# the object.

# %%
layer = Function_A("amber")


def shout(self):
    return self.name.upper()


layer.extra_repr = shout
attempt("a plain function as extra_repr of the object:", lambda: repr(layer))

layer = Function_A("amber")
layer.__repr__ = lambda: "never shown"
print("a __repr__ on the object:\n   ", layer)

# %% [markdown]
# So the function needs its `self` fixed beforehand. That is what `functools.partial` is for: `partial(shout,
# layer)` is a callable that puts `layer` in front of whatever arguments come.

# %%
shout_of_layer = partial(shout, layer)
print(shout_of_layer())

# %% [markdown]
# A `lambda` can do the same, with a trap. It does not keep the **value** of a variable, it looks the variable up
# when it runs. In a loop, all of them then see the last value. With `apply` each call of your function has
# variables of its own, so there the trap is closed.

# %%
by_lambda, by_partial = {}, {}
for layer in (Function_A("amber"), Function_B("birch"), Function_C("cedar")):
    by_lambda[layer.name] = lambda: shout(layer)
    by_partial[layer.name] = partial(shout, layer)
print("lambda: ", {name: text() for name, text in by_lambda.items()})
print("partial:", {name: text() for name, text in by_partial.items()})

# %% [markdown]
# ### Exercise: names in the repr
#
# medium · 10 min · 3 points
#
# Make every `Function_*` of `model` show its own name: `Function_A(name=duck)`, without quotes or spaces.
#
# - `function_repr(self)` returns the text between the parentheses for the object `self`.
# - `add_repr(module)` puts it onto `module`, if that is a `Function_*`.
# - Apply `add_repr` to `model`, and keep what `apply` returns in `returned_module`.
#
# The repr of the other modules stays. So does that of every `Function_*` outside `model`: do not change the
# classes. The check applies `add_repr` to other trees as well, with other names.

# %% nbgrader={"grade": false, "grade_id": "named_repr", "locked": false, "schema_version": 3, "solution": true, "task": false}
model = Model()
returned_module = None


def function_repr(self):
    # TODO: return the text name=..., with the name of `self`.
    ### BEGIN SOLUTION
    return f"name={self.name}"
    ### END SOLUTION


def add_repr(module):
    # TODO: let every Function_* use `function_repr` for its repr.
    ### BEGIN SOLUTION
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        module.extra_repr = partial(function_repr, module)
    ### END SOLUTION


# TODO: apply `add_repr` to `model`. What `apply` returns goes into `returned_module`.
### BEGIN SOLUTION
returned_module = model.apply(add_repr)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_named_repr", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
from contextlib import contextmanager

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.probing import ANYTHING
from course.tree import Function_A, Function_B, Function_C, Function_D, Model


class NamesInRepr(Check):
    """In `model`, and in a `fresh` tree, every `Function_*` shows `name=` and its name; other modules are as before."""

    errors = {
        r"TypeError: add_repr\(\) (takes|missing) ": "apply_argument",
        r"TypeError: function_repr\(\) takes ": "repr_arguments",
        r"TypeError: (\w+\.<locals>\.)*\w*repr\w*\(\) missing 1 required": "unbound_function",
        r"TypeError: 'str' object is not callable": "text_for_method",
        r"AttributeError: '(Layer_\w+|Model)' object has no attribute 'name'": "not_every_module_has_it",
    }
    # What repr() returns is the answer itself; `is` belongs to the language.
    claims = ("repr in fresh", "repr in model", "(returned_module is model)", "outside")
    names = ("duck", "goose", "heron", "swan")
    layout = (
        "Model(\n  (ab): Layer_AB(\n    (a): {}\n    (b): {}\n  )\n  (cd): Layer_CD(\n    (c): {}\n    (d): {}\n  )\n)"
    )

    @contextmanager
    def clean_classes(self):
        """What an attempt did to the classes themselves is undone, so that the next attempt starts afresh."""
        try:
            yield
        finally:
            for cls in (Function_A, Function_B, Function_C, Function_D):
                for name in {"extra_repr", "__repr__", "__str__"} & set(vars(cls)):
                    delattr(cls, name)

    def shown(self, tree):
        parts = {"ab.a": tree.ab.a, "ab.b": tree.ab.b, "cd.c": tree.cd.c, "cd.d": tree.cd.d}
        return {**{name: repr(part) for name, part in parts.items()}, "the whole": repr(tree)}

    def wanted(self, names=names, text="Function_{}(name={})"):
        parts = [text.format(letter, name) for letter, name in zip("ABCD", names)]
        return {**dict(zip(("ab.a", "ab.b", "cd.c", "cd.d"), parts)), "the whole": self.layout.format(*parts)}

    def probe(self, nb, case):
        with self.clean_classes():
            fresh = case.build("fresh", Model)
            before = set(vars(fresh.ab.a))
            fresh.apply(nb.function("add_repr"))
            return {
                "repr in fresh": self.shown(fresh),
                "repr in model": self.shown(nb.module("model")),
                "(returned_module is model)": nb.returned_module is nb.model,
                "new on fresh.ab.a": sorted(set(vars(fresh.ab.a)) - before),
            }

    def truth(self, case):
        right = self.wanted()
        return {
            "repr in fresh": right,
            "repr in model": right,
            "(returned_module is model)": True,
            "new on fresh.ab.a": ANYTHING,
        }

    def mistakes(self, case):
        right, old = self.wanted(), self.wanted(text="Function_{}()")
        others = ("Function_{}(name='{}')", "Function_{}(name = {})", "Function_{}(name: {})", "Function_{}({})")
        some = {name: AnyOf(right[name], old[name]) for name in right if name != "the whole"}
        some["the whole"] = ANYTHING
        functions_right = {**right, "the whole": ANYTHING}
        set_something = Matches(lambda got: None if got else "nothing", "")
        return {
            "dunder_on_instance": {"repr in fresh": old, "new on fresh.ab.a": AnyOf(["__repr__"], ["__str__"])},
            "repr_returns_nothing": {"repr in fresh": old, "new on fresh.ab.a": ["extra_repr"]},
            "unread_attribute": {"repr in fresh": old, "new on fresh.ab.a": set_something},
            "apply_changes_nothing": {"repr in fresh": old},
            "not_applied": {"repr in fresh": right, "repr in model": old},
            "wrong_return": {"repr in fresh": right, "repr in model": right, "(returned_module is model)": False},
            "other_repr_changed": {"repr in fresh": functions_right},
            "apply_misses_some": {"repr in fresh": some},
            "apply_late_binding": {"repr in fresh": self.wanted(self.names[-1:] * 4)},
            "repeats_class": {"repr in fresh": self.wanted(text="Function_{0}(Function_{0}(name={1}))")},
            "repr_notation": {"repr in fresh": AnyOf(*(self.wanted(text=text) for text in others))},
        }


check("named_repr", NamesInRepr)


### BEGIN HIDDEN TESTS
class OtherNames(NamesInRepr):
    """The name comes from the object, so it is right for any name."""

    def probe(self, nb, case):
        with self.clean_classes():
            fresh = case.build("fresh", Model)
            for part, name in zip((fresh.ab.a, fresh.ab.b, fresh.cd.c, fresh.cd.d), case.words("names", 4)):
                part.name = name
            fresh.apply(nb.function("add_repr"))
            return {"repr in fresh": self.shown(fresh)}

    def truth(self, case):
        return {"repr in fresh": self.wanted(case.words("names", 4))}

    def mistakes(self, case):
        return {"repr_typed_in_names": {"repr in fresh": self.wanted()}}


class OutsideUnchanged(NamesInRepr):
    """A `Function_*` that is not in the model keeps its repr."""

    blame = {"outside": "repr_class_patched"}

    def probe(self, nb, case):
        with self.clean_classes():
            older = Function_A("older")
            case.build("fresh", Model).apply(nb.function("add_repr"))
            return {
                "outside": [repr(older), *(repr(cls()) for cls in (Function_A, Function_B, Function_C, Function_D))]
            }

    def truth(self, case):
        return {"outside": ["Function_A()", *(f"Function_{letter}()" for letter in "ABCD")]}

    def mistakes(self, case):
        return {}


check("named_repr", OtherNames, OutsideUnchanged)
### END HIDDEN TESTS

# %% [markdown]
# ## A Parameter from outside
#
# Can one add a parameter to a model from outside, without its class knowing? Yes. Assigning a `Parameter` to an
# attribute registers it, whoever does it and whenever. `apply` does it for a whole tree. The `forward` of the model
# does not use the newcomer yet, and an optimizer made before does not know it (lesson 01).
#
# A plain tensor under a new name would be stored as well, but not registered: no optimizer, no `state_dict` and no
# `.to(...)` finds it. The cell adds one of each to every `Function_A`, then makes the model double precision.


# %%
def add_two(module):
    if isinstance(module, Function_A):
        module.gain = Parameter(torch.ones(1))
        module.plain = torch.ones(1)


grown = Model().apply(add_two).double()
print("parameters:", [name for name, _ in grown.named_parameters()])
print("state_dict:", list(grown.state_dict()))
print("dtypes: gain", grown.ab.a.gain.dtype, "| plain", grown.ab.a.plain.dtype)

# %% [markdown]
# ## Another forward
#
# Now let the newcomer take part. There are two ways to make an existing module compute something else.
#
# **A forward hook that returns a value.** What it returns replaces the output. The old `forward` still runs first,
# and its result is thrown away. So the input must be one that the old `forward` can digest.
#
# **A `forward` on the object.** `module.forward = ...` hides the `forward` of the class for this one object. The
# old one does not run. Hooks still fire, because they are called around whatever `forward` is. As with
# `extra_repr`, a function stored on an object gets no `self`: use `partial` (or a closure).
#
# The cell multiplies by a gain, once in each way. To see whether the old `forward` runs, it is also given an input
# that it cannot add to `W`.


# %%
def with_gain(self, x):
    return x * self.gain


hooked, rewired = Function_A(shape=(2,)), Function_A(shape=(2,))
for layer in (hooked, rewired):
    layer.gain = Parameter(torch.tensor(3.0))

hooked.register_forward_hook(lambda module, args, output: args[0] * module.gain)
rewired.forward = partial(with_gain, rewired)

for x in (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0, 3.0])):  # W has 2 elements
    for name, layer in (("hook", hooked), ("forward", rewired)):
        attempt(
            f"{name}, {len(x)} elements:",
            lambda: print(f"{name}, {len(x)} elements:", layer(x).tolist()),
        )

# %% [markdown]
# Note `args[0]`: a hook gets the positional inputs as a **tuple**. And a `__call__` on the object does nothing, for
# the same reason as `__repr__`: `layer(x)` looks for it on the class. The last cell before the exercise shows it,
# and that a hook still fires around a replaced `forward`.

# %%
rewired.__call__ = lambda x: "never called"
rewired.register_forward_hook(lambda module, args, output: print("a hook sees", output.tolist()))
seen = rewired(torch.tensor([1.0, 2.0]))

# %% [markdown]
# ### Exercise: every function becomes linear
#
# hard · 20 min · 4 points
#
# `W` now has shape (2, 2). Turn every `Function_*` of `model` into a linear transformation of its input `X`, a
# tensor of shape (2, 2): the matrix product `X @ W`, with `b` added to each row. In short: `X @ W + b`.
#
# Write three functions and apply each of them:
#
# - `add_bias(module)` registers a `Parameter` called `b` of shape (2,) on every `Function_*`, with any values.
# - `weight_initialization(module)` sets every element of `W` and of `b` to 1.
# - `linear_transformation(module)` makes every `Function_*` return `X @ W + b`, with the values that `W` and `b`
#   have at the moment of the call.
# - Keep what the last `apply` returns in `returned_module`.
#
# A hook or a new `forward`: as you like. The input has the shape of `W`, so that the old `forward`, which a hook does not
# stop, has nothing to complain about.
#
# The check applies your functions, in this order, to a fresh tree as well, and changes `W` and `b` in place to other values.
# It uses symmetric `W`, so `X @ W.T + b`, which is what `nn.Linear` computes, is right too.

# %% nbgrader={"grade": false, "grade_id": "linear_everywhere", "locked": false, "schema_version": 3, "solution": true, "task": false}
model = Model(shape=(2, 2))
returned_module = None


def add_bias(module):
    # TODO: give every Function_* a Parameter b of shape (2,).
    ### BEGIN SOLUTION
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        module.b = Parameter(torch.rand(2))
    ### END SOLUTION


def weight_initialization(module):
    # TODO: set every W and every b to 1.
    ### BEGIN SOLUTION
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        nn.init.ones_(module.W)
        nn.init.ones_(module.b)
    ### END SOLUTION


def linear_transformation(module):
    # TODO: make every Function_* return X @ W + b.
    ### BEGIN SOLUTION
    def hook(module, args, output):
        (X,) = args
        return X @ module.W + module.b

    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        module.register_forward_hook(hook)
    ### END SOLUTION


# TODO: three calls of `apply`. What the last one returns goes into `returned_module`.
### BEGIN SOLUTION
model.apply(add_bias)
model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_linear_everywhere", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import torch

from course.checking import Check, check
from course.compare import AnyOf, Matches, is_same
from course.probing import ANYTHING
from course.tree import Model


class LinearTree(Check):
    """What the checks of this exercise share."""

    errors = {
        r"TypeError: (weight_initialization|add_bias|linear_transformation)\(\) (takes|missing) ": "apply_argument",
        r"TypeError: (\w+\.<locals>\.)*\w*(forward|linear)\w*\(\) missing 1 required": "unbound_function",
        r"AttributeError: 'Function_[A-D]' object has no attribute 'b'": "bias_missing",
        r"AttributeError: 'Function_[A-D]' object has no attribute '(data|fill_|copy_)'": "child_of_that_name",
        r"AttributeError: '(Layer_\w+|Model)' object has no attribute '(W|b)'": "not_every_module_has_it",
    }
    parts = ("ab.a", "ab.b", "cd.c", "cd.d")

    def fresh(self, nb, case, *steps):
        tree = case.build("fresh", Model, shape=(2, 2))
        for step in steps:
            tree.apply(nb.function(step))
        return tree

    def outputs(self, tree, X):
        return {name: tree.get_submodule(name)(X) for name in self.parts}


class AllOnes(LinearTree):
    """In `model`, and in a `fresh` tree, `b` is a Parameter of shape (2,) beside each `W`, and all of them are 1."""

    claims = ("(returned_module is model)",)  # `is` belongs to the language

    def kind(self, module):
        for kind, register in (("a Parameter", module._parameters), ("a buffer", module._buffers)):
            if "b" in register:
                return kind
        return "a plain attribute" if hasattr(module, "b") else "not there"

    def probe(self, nb, case):
        fresh = self.fresh(nb, case, "add_bias", "weight_initialization")
        model = nb.module("model")
        return {
            "b": {"fresh.ab.a": self.kind(fresh.ab.a), "model.ab.a": self.kind(model.ab.a)},
            "values": {"fresh": dict(fresh.named_parameters()), "model": dict(model.named_parameters())},
            "(returned_module is model)": nb.returned_module is model,
        }

    def truth(self, case):
        ones = {f"{part}.W": torch.ones(2, 2) for part in self.parts} | {
            f"{part}.b": torch.ones(2) for part in self.parts
        }
        return {
            "b": {"fresh.ab.a": "a Parameter", "model.ab.a": "a Parameter"},
            "values": {"fresh": ones, "model": ones},
            "(returned_module is model)": True,
        }

    def mistakes(self, case):
        right = self.truth(case)
        old = case.build("fresh", Model, shape=(2, 2)).ab.a.W
        trees = ("fresh", "model")

        def when(test):
            return Matches(lambda got: None if test(got) else "no", "")

        def is_one(record):
            return bool((record.tensor() == 1).all())

        def only_b_wrong(got):
            parts = [(got[tree].get(f"{part}.W"), got[tree].get(f"{part}.b")) for tree in trees for part in self.parts]
            return all(W and b and is_one(W) for W, b in parts) and not all(is_one(b) for _, b in parts)

        def any_shape(got):
            return any(b.shape != (2,) for tree in trees for name, b in got[tree].items() if name.endswith(".b"))

        def only_model_wrong(got):
            same_shapes = all(got["model"][name].shape == one.shape for name, one in got["fresh"].items())
            return same_shapes and is_same(got["fresh"], right["values"]["fresh"])

        def shared(got):
            return any(len(got[tree]) < 2 * len(self.parts) for tree in trees)

        def other_modules(got):
            return any(name.rpartition(".")[0] not in self.parts for tree in trees for name in got[tree])

        return {
            "apply_uses_global_model": {"b": {"fresh.ab.a": "not there", "model.ab.a": "a Parameter"}},
            "bias_missing": {"b": when(lambda got: "not there" in got.values())},
            "tensor_for_parameter": {"b": when(lambda got: "a plain attribute" in got.values())},
            "buffer_for_parameter": {"b": when(lambda got: "a buffer" in got.values())},
            "touches_other_modules": {"values": when(other_modules)},
            "shared_parameter": {"values": when(shared)},
            "linear_bias_shape": {"values": when(any_shape)},
            "apply_changes_nothing": {
                "values": when(lambda got: is_same(got["fresh"]["ab.a.W"], old))
            },
            "bias_not_one": {"values": when(only_b_wrong)},
            "wrong_return": {"values": right["values"], "(returned_module is model)": False},
            "not_applied": {"values": when(only_model_wrong)},
        }


class LinearAtOnes(LinearTree):
    """In `model`, and in a `fresh` tree, every `Function_*` returns `X @ W + b`, and so does the whole, one after another."""

    def probe(self, nb, case):
        fresh = self.fresh(nb, case, "add_bias", "weight_initialization", "linear_transformation")
        model, X = nb.module("model"), case.tensor("X", 2, 2)
        return {
            "output": {"fresh": self.outputs(fresh, X), "model": self.outputs(model, X)},
            "model(X)": model(X),
            "forward hooks on fresh.ab.a": len(fresh.ab.a._forward_hooks),
            "__call__ set on fresh.ab.a": "__call__" in vars(fresh.ab.a),
        }

    def truth(self, case):
        X, W, b = case.tensor("X", 2, 2), torch.ones(2, 2), torch.ones(2)
        whole = X
        for _ in self.parts:
            whole = whole @ W + b
        each = dict.fromkeys(self.parts, X @ W + b)
        return {
            "output": {"fresh": each, "model": each},
            "model(X)": whole,
            "forward hooks on fresh.ab.a": ANYTHING,
            "__call__ set on fresh.ab.a": ANYTHING,
        }

    def mistakes(self, case):
        X, W, b = case.tensor("X", 2, 2), torch.ones(2, 2), torch.ones(2)
        right = dict.fromkeys(self.parts, X @ W + b)

        def before(X):
            return dict(zip(self.parts, (X + W, X - W, X * W, X / W)))

        hooked = Matches(lambda got: None if got else "none", "")

        def fresh(brought):
            return {"output": {"fresh": brought, "model": ANYTHING}}

        def each(values):
            return fresh(dict(zip(self.parts, values)))

        old = before(X)
        return {
            "linear_hook_returns_nothing": {**fresh(old), "forward hooks on fresh.ab.a": hooked},
            "dunder_on_instance": {**fresh(old), "__call__ set on fresh.ab.a": True},
            "old_forward_runs": fresh(old),
            "not_applied": {"output": {"fresh": right, "model": old}},
            "uses_old_output": fresh({part: AnyOf(old[part] @ W + b, old[part] + b) for part in self.parts}),
            "elementwise_product": each([X * W + b] * 4),
            "forgets_bias": each([X @ W] * 4),
            "wrong_side": each([W @ X + b] * 4),
            "pre_hook_keeps_forward": fresh(before(X @ W + b)),
            "apply_misses_some": fresh({part: AnyOf(X @ W + b, old[part]) for part in self.parts}),
        }


check("linear_everywhere", AllOnes, LinearAtOnes)

### BEGIN HIDDEN TESTS
from course.compare import Close


class AnyWeights(LinearTree):
    """`X @ W + b` holds for any symmetric `W` and any `b`, which may change after the functions were applied."""

    def weights(self, case, tree):
        def symmetric(name):
            half = case.tensor(name, 2, 2) / 2
            return half + half.T

        return {part: (symmetric(f"{tree} {part} W"), case.tensor(f"{tree} {part} b", 2)) for part in self.parts}

    def brought(self, tree, weights, X):
        before = {name: one.detach().clone() for name, one in tree.named_parameters()}
        try:
            for part, (W, b) in weights.items():
                module = tree.get_submodule(part)
                module.W.data.copy_(W)
                module.b.data.copy_(b)
            return {**self.outputs(tree, X), "the whole": tree(X)}
        finally:
            for name, one in tree.named_parameters():
                one.data.copy_(before[name])

    def probe(self, nb, case):
        fresh = self.fresh(nb, case, "add_bias", "weight_initialization", "linear_transformation")
        X = case.tensor("X", 2, 2)
        return {
            "output in model": self.brought(nb.module("model"), self.weights(case, "model"), X),
            "output in fresh": self.brought(fresh, self.weights(case, "fresh"), X),
        }

    def computed(self, case, tree, formula):
        X = whole = case.tensor("X", 2, 2)
        outputs = {}
        for part, (W, b) in self.weights(case, tree).items():
            outputs[part] = formula(X, W, b)
            whole = formula(whole, W, b)
        return {**outputs, "the whole": Close(whole, rtol=1e-4, atol=1e-4)}

    def truth(self, case):
        return {
            f"output in {tree}": self.computed(case, tree, lambda X, W, b: X @ W + b) for tree in ("model", "fresh")
        }

    def mistakes(self, case):
        (last_W, last_b), ones = self.weights(case, "fresh")["cd.d"], torch.ones(2, 2)
        stale = (lambda X, W, b: X @ ones + 1, lambda X, W, b: X @ ones + b, lambda X, W, b: X @ W + 1)
        one_number = (
            lambda X, W, b: X.sum(1, keepdim=True) * W.mean() + b,
            lambda X, W, b: X.sum(1, keepdim=True) * W[0, 0] + b,
            lambda X, W, b: X.sum(1, keepdim=True) * W[0] + b,
            lambda X, W, b: X @ W + b.mean(),
            lambda X, W, b: X @ W + b[0],
        )
        right = self.truth(case)["output in model"]
        last = self.computed(case, "fresh", lambda X, W, b: X @ last_W + last_b)
        return {
            "apply_late_binding": {"output in fresh": last},
            "bias_on_columns": {"output in model": self.computed(case, "model", lambda X, W, b: X @ W + b[:, None])},
            "stale_weights": {"output in model": AnyOf(*(self.computed(case, "model", one) for one in stale))},
            "right_for_equal_weights": {
                "output in model": AnyOf(*(self.computed(case, "model", f) for f in one_number))
            },
            "shares_between_trees": {"output in model": right, "output in fresh": ANYTHING},
        }


check("linear_everywhere", AnyWeights)
### END HIDDEN TESTS

# %% [markdown]
# ## A copy that remembers the original
#
# Does all this hold at work? Suppose a hook, or a `forward` on the object, reads `module` from the function around it,
# and not from an argument. It works, until somebody copies the model: `deepcopy` copies the module, but a function goes
# into the copy as it is, and it still holds the **old** module. `partial` is safe, because its arguments are copied too.


# %%
def closing_over(module):
    module.register_forward_hook(
        lambda m, args, output: args[0] * module.W
    )  # from around the hook


def by_argument(module):
    module.register_forward_hook(
        lambda m, args, output: args[0] * m.W
    )  # the module that was called


def by_partial(module):
    module.forward = partial(lambda self, x: x * self.W, module)


for way in (closing_over, by_argument, by_partial):
    original = Function_A()
    nn.init.constant_(original.W, 2.0)
    way(original)
    clone = copy.deepcopy(original)
    nn.init.constant_(clone.W, 100.0)
    print(
        f"{way.__name__:<13} the copy has W = 100 and computes 1 * W = {clone(torch.ones(1)).item()}"
    )

# %% [markdown]
# ### Exercise: linear, for good
#
# hard · 15 min · 4 points
#
# Once more every `Function_*` becomes linear, this time so that it holds at work. Write one function for `apply`,
# `make_linear(module)`. `W` has any shape `(n, m)`, and its values are those that it has: nothing is initialised. After
# `model.apply(make_linear)` every `Function_*` in `model`
#
# - has a `Parameter` called `b`, zeros of shape `(m,)`, and no other new parameter,
# - returns `X @ W + b` for an `X` of shape `(rows, n)`, with any number of rows. The old `forward` cannot digest that, so it
#   must not run any more.
# - `W`, `b` and `X` get their gradients.
#
# And it holds for good:
#
# - **Applied again**, it changes nothing. A `b` that is there stays, the same object with its values.
# - **Copied** with `copy.deepcopy`, the copy computes with its own `W` and `b`.
# - A `Function_*` outside `model` computes what it did before. So do the layers and the model itself.

# %% nbgrader={"grade": false, "grade_id": "linear_any_weight", "locked": false, "schema_version": 3, "solution": true, "task": false}
model = Model(shape=(3, 3))


def make_linear(module: nn.Module) -> None:
    """Let a Function_* compute X @ W + b with a Parameter b of its own; leave every other module alone."""
    # TODO: give the module its b and its new forward.
    ### BEGIN SOLUTION
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if "b" not in module._parameters:
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = partial(linear_forward, module)


def linear_forward(self, X):
    return X @ self.W + self.b
    ### END SOLUTION


model.apply(make_linear)
print(model(torch.ones(1, 3)).shape)  # one row in, one row out

# %% nbgrader={"grade": true, "grade_id": "test_linear_any_weight", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
# Run this cell to check your answer.
import copy
from contextlib import contextmanager

import torch
from torch import nn

from course.checking import Check, check
from course.compare import AnyOf, Close, Matches
from course.probing import ANYTHING, hook_counts
from course.traces import parameters_of, same_both_times, what_runs
from course.tree import Function_A, Function_B, Function_C, Function_D, Model

PARTS = ("ab.a", "ab.b", "cd.c", "cd.d")


class LinearCheck(Check):
    """What the checks of this exercise share."""

    square = False
    errors = {
        r"TypeError: .*make_linear\(\) (takes|missing) ": "apply_argument",
        r"TypeError: (\w+\.<locals>\.)*\w*\(\) missing 1 required positional": "unbound_function",
        r"RuntimeError: the old forward runs": "old_forward_gets_it_first",
        r"RuntimeError: mat1 and mat2 shapes": "weight_turned_over",
        r"AttributeError: 'Function_[A-D]' object has no attribute 'b'": "bias_missing",
        r"AttributeError: '(Layer_\w+|Model)' object has no attribute 'W'": "not_every_module_has_it",
        r"AttributeError: 'Function_[A-D]' object has no attribute 'shape'": "child_of_that_name",
    }

    def sizes(self, case):
        """Of each W the two sides, in a row: all alike, or no two alike."""
        return (4,) * 5 if self.square else case.shape("sizes", dims=5, low=2, high=7)

    def weights(self, case, name):
        """Part -> its W and b."""
        sizes = self.sizes(case)
        return {
            part: (case.tensor(f"{name} W {part}", n, m), case.tensor(f"{name} b {part}", m))
            for part, n, m in zip(PARTS, sizes, sizes[1:])
        }

    def tree(self, nb, case):
        """A tree whose W have other shapes than its class gave them, rewired by the learner."""
        tree = case.build("tree", Model)
        for part, (W, _) in self.weights(case, "old").items():
            tree.get_submodule(part).W = nn.Parameter(W)
        return tree.apply(nb.function("make_linear"))

    def fill(self, tree, case, name):
        with torch.no_grad():
            for part, (W, b) in self.weights(case, name).items():
                tree.get_submodule(part).W.copy_(W)
                tree.get_submodule(part).b.copy_(b)

    def inputs(self, case):
        rows = 4 if self.square else 9
        return {part: case.tensor(f"X {part}", rows, n) for part, n in zip(PARTS, self.sizes(case))}

    def outputs(self, tree, case):
        each = {part: tree.get_submodule(part)(X) for part, X in self.inputs(case).items()}
        return {**each, "the whole": tree(self.inputs(case)["ab.a"])}

    def each(self, case, name, formula):
        weights = self.weights(case, name)
        return {part: formula(X, *weights[part]) for part, X in self.inputs(case).items()}

    def computed(self, case, name, formula=lambda X, W, b: X @ W + b):
        whole = self.inputs(case)["ab.a"]
        for W, b in self.weights(case, name).values():
            whole = formula(whole, W, b)
        return {**self.each(case, name, formula), "the whole": Close(whole, rtol=1e-4, atol=1e-4)}


class LinearWithAnyW(LinearCheck):
    """Every `Function_*` has a Parameter `b` of zeros and returns `X @ W + b`, also when `W` and `b` change later."""

    square = True

    def probe(self, nb, case):
        tree = self.tree(nb, case)
        b = {part: copy.deepcopy(getattr(tree.get_submodule(part), "b", None)) for part in PARTS}
        brought = {"parameters": [name for name, _ in tree.named_parameters()], "b": b}
        if [getattr(one, "shape", None) for one in b.values()] == [(4,)] * 4:
            brought["output with b = 0"] = self.outputs(tree, case)
            self.fill(tree, case, "new")
            brought["output"] = self.outputs(tree, case)
        return {
            **brought,
            "__call__ set on ab.a": "__call__" in vars(tree.ab.a),
            "b in the notebook's model": self.notebook_has_b(nb),
            "all parameters with their new values": parameters_of(tree),
        }

    def notebook_has_b(self, nb):
        try:
            return "b" in nb.model.ab.a._parameters
        except Exception:
            return False

    def truth(self, case):
        return {
            "parameters": [f"{part}.{name}" for part in PARTS for name in ("W", "b")],
            "b": {part: torch.zeros(4) for part in PARTS},
            "output with b = 0": self.computed(case, "old", lambda X, W, b: X @ W),
            "output": self.computed(case, "new"),
            "__call__ set on ab.a": ANYTHING,
            "b in the notebook's model": ANYTHING,
            "all parameters with their new values": {
                f"{part}.{name}": value
                for part, values in self.weights(case, "new").items()
                for name, value in zip(("W", "b"), values)
            },
        }

    def mistakes(self, case):
        only_W = [f"{part}.W" for part in PARTS]
        last_W = self.weights(case, "new")["cd.d"][0]

        def bias(test):
            return {"b": Matches(lambda got: None if test(list(got.values())) else "no", "")}

        def names(test):
            return {"parameters": Matches(lambda got: None if any(map(test, got)) else "no", "")}

        def any_of(*formulas):
            return AnyOf(
                *(
                    {field: {**self.each(case, state, formula), "the whole": ANYTHING}}
                    for formula in formulas
                    for field, state in (("output", "new"), ("output with b = 0", "old"))
                )
            )

        def before(values, name="old"):
            """What the four old forwards make of the part's value."""
            steps = (torch.add, torch.sub, torch.mul, torch.div)
            weights = self.weights(case, name)
            return {part: step(values[part], weights[part][0]) for part, step in zip(PARTS, steps)}

        def old(values):
            return {"output with b = 0": {**values, "the whole": ANYTHING}}

        X, W = self.inputs(case), {part: W for part, (W, _) in self.weights(case, "old").items()}
        linear = {part: X[part] @ W[part] for part in PARTS}
        untouched = before(X)
        stale = self.each(case, "new", lambda X, W, b: b)
        return {
            "apply_uses_global_model": {"parameters": only_W, "b in the notebook's model": True},
            "bias_missing": bias(lambda got: any(one is None for one in got)),
            "tensor_for_parameter": {"parameters": only_W, **bias(lambda got: all(one is not None for one in got))},
            "linear_inside": names(lambda name: name.count(".") > 2),
            "touches_other_modules": names(lambda name: name.rpartition(".")[0] not in PARTS),
            "linear_bias_shape": bias(lambda got: any(one.shape != (4,) for one in got)),
            "wrong_start": bias(lambda got: any(bool(one.tensor().any()) for one in got)),
            "dunder_on_instance": {**old(untouched), "__call__ set on ab.a": True},
            "old_forward_runs": old(untouched),
            "uses_old_output": old({part: untouched[part] @ W[part] for part in PARTS}),
            "pre_hook_keeps_forward": old(before(linear)),
            "elementwise_product": any_of(lambda X, W, b: X * W + b, lambda X, W, b: X * W),
            "weight_turned_over": any_of(lambda X, W, b: X @ W.T + b, lambda X, W, b: W @ X + b),
            "apply_late_binding": any_of(lambda X, W, b: X @ last_W + b),
            "forgets_bias": any_of(lambda X, W, b: X @ W),
            "stale_weights": {
                "output": {**{part: linear[part] + stale[part] for part in PARTS}, "the whole": ANYTHING}
            },
        }


class AnyShape(LinearCheck):
    """`W` may have any shape and `X` any number of rows; the old `forward` does not run."""

    @contextmanager
    def no_old_forward(self):
        """Meanwhile the forward of the four classes raises, and afterwards it is as before."""

        def old(self, x):
            raise RuntimeError("the old forward runs")

        classes = (Function_A, Function_B, Function_C, Function_D)
        before = [cls.forward for cls in classes]
        try:
            for cls in classes:
                cls.forward = old
            yield
        finally:
            for cls, forward in zip(classes, before):
                cls.forward = forward

    def probe(self, nb, case):
        with self.no_old_forward():
            tree = self.tree(nb, case)
            shapes = {part: list(getattr(tree.get_submodule(part), "b", torch.ones(())).shape) for part in PARTS}
            if any(shape != [tree.get_submodule(part).W.shape[1]] for part, shape in shapes.items()):
                return {"shape of b": shapes, "output": None}
            self.fill(tree, case, "new")
            return {"shape of b": shapes, "output": self.outputs(tree, case)}

    def truth(self, case):
        weights = self.weights(case, "new")
        return {
            "shape of b": {part: list(b.shape) for part, (_, b) in weights.items()},
            "output": self.computed(case, "new"),
        }

    def mistakes(self, case):
        shapes = self.truth(case)["shape of b"]
        return {
            "linear_bias_shape": {
                "shape of b": Matches(lambda got: None if got != shapes and all(got.values()) else "no", "")
            }
        }


class Gradients(LinearCheck):
    """After `backward` the gradients of every `W`, every `b` and of the input are those of `X @ W + b`."""

    blame = {"W.grad": "gradient_cut", "b.grad": "gradient_cut", "X.grad": "gradient_cut"}

    def probe(self, nb, case):
        tree = self.tree(nb, case)
        self.fill(tree, case, "new")
        X = case.tensor("X", 9, self.sizes(case)[0], requires_grad=True)
        tree(X).backward(case.tensor("upstream", 9, self.sizes(case)[-1]))
        named = dict(tree.named_parameters())
        return {
            "W.grad": {part: named[f"{part}.W"].grad for part in PARTS},
            "b.grad": {part: named[f"{part}.b"].grad for part in PARTS},
            "X.grad": X.grad,
        }

    def truth(self, case):
        X = output = case.tensor("X", 9, self.sizes(case)[0], requires_grad=True)
        weights = self.weights(case, "new")
        leaves = {"X": X}
        for part, (W, b) in weights.items():
            leaves[f"{part}.W"], leaves[f"{part}.b"] = W.requires_grad_(), b.requires_grad_()
            output = output @ W + b
        grads = torch.autograd.grad(output, list(leaves.values()), case.tensor("upstream", 9, self.sizes(case)[-1]))
        grads = {name: Close(grad, rtol=1e-4, atol=1e-4) for name, grad in zip(leaves, grads)}
        return {
            "W.grad": {part: grads[f"{part}.W"] for part in PARTS},
            "b.grad": {part: grads[f"{part}.b"] for part in PARTS},
            "X.grad": grads["X"],
        }


check("linear_any_weight", LinearWithAnyW, AnyShape, Gradients)


### BEGIN HIDDEN TESTS
class TwiceIsOnce(LinearCheck):
    """Applied a second time, it changes nothing: the same `b` with its values, the same output, no second hook."""

    blame = {
        "same b": "second_time_anew",
        "b": "second_time_anew",
        "output": "second_time_on_top",
        "hooks": "second_time_on_top",
        "what runs, before and after": "second_time_on_top",
        "b, when the b of before has other values": "second_time_anew",
    }
    errors = {r"RuntimeError: ": "second_time_on_top"}

    def probe(self, nb, case):
        tree = self.tree(nb, case)
        self.fill(tree, case, "new")
        before, hooks = {part: tree.get_submodule(part).b for part in PARTS}, hook_counts(tree)
        ran = self.runs(tree, case, "first")
        tree.apply(nb.function("make_linear"))
        after = {part: tree.get_submodule(part).b for part in PARTS}
        brought = {
            "same b": {part: after[part] is before[part] for part in PARTS},
            "b": {part: one.detach().clone() for part, one in after.items()},
            "output": self.outputs(tree, case),
            "hooks": {kind: number - hooks[kind] for kind, number in hook_counts(tree).items()},
            "what runs, before and after": [ran, self.runs(tree, case, "second")],
        }
        with torch.no_grad():
            for part, (_, b) in self.weights(case, "later").items():
                before[part].copy_(b)
        return {**brought, "b, when the b of before has other values": after}

    def runs(self, tree, case, moment):
        return what_runs(tree, case, lambda: tree(self.inputs(case)["ab.a"]).sum().backward(), moment)

    def truth(self, case):
        return {
            "same b": dict.fromkeys(PARTS, True),
            "b": {part: b for part, (_, b) in self.weights(case, "new").items()},
            "output": self.computed(case, "new"),
            "hooks": dict.fromkeys(("forward_pre", "forward", "backward_pre", "backward", "tensor"), 0),
            "what runs, before and after": same_both_times(case, "first", "second"),
            "b, when the b of before has other values": {
                part: b for part, (_, b) in self.weights(case, "later").items()
            },
        }


class CopyIsItsOwn(LinearCheck):
    """A deep copy computes with its own `W` and `b`, and the original goes on with its own."""

    blame = {"output of the copy": "copy_remembers_original", "output of the original": "copy_remembers_original"}

    def probe(self, nb, case):
        tree = self.tree(nb, case)
        self.fill(tree, case, "new")
        clone = copy.deepcopy(tree)
        self.fill(clone, case, "other")
        return {"output of the copy": self.outputs(clone, case), "output of the original": self.outputs(tree, case)}

    def truth(self, case):
        return {
            "output of the copy": self.computed(case, "other"),
            "output of the original": self.computed(case, "new"),
        }


class OutsideUnchanged(LinearCheck):
    """A `Function_*` that is not in the model, and the other modules' own forward, are as before."""

    blame = {"outside": "forward_class_patched"}
    errors = {r"(AttributeError|RuntimeError): ": "forward_class_patched"}

    def probe(self, nb, case):
        self.tree(nb, case)
        outside = Function_A(shape=(4,))
        with torch.no_grad():
            outside.W.copy_(case.tensor("W", 4))
        return {"outside": outside(case.tensor("x", 3, 4))}

    def truth(self, case):
        return {"outside": case.tensor("x", 3, 4) + case.tensor("W", 4)}


check("linear_any_weight", TwiceIsOnce, CopyIsItsOwn, OutsideUnchanged)
### END HIDDEN TESTS

# %% [markdown]
# ## To take to work
#
# A census of a model, made with `apply`: how many modules of each class, and how many parameters they hold
# themselves. It counts a shared module once. Reading it before you write an initialisation tells you which classes
# you must not forget.


# %%
def census(model):
    """Class name -> [number of modules, number of elements in their own parameters]. Shared modules count once."""
    counts, seen = {}, set()

    def count(module):
        if module in seen:
            return
        seen.add(module)
        entry = counts.setdefault(type(module).__name__, [0, 0])
        entry[0] += 1
        entry[1] += sum(parameter.numel() for parameter in module.parameters(recurse=False))

    model.apply(count)
    return counts


for name, (modules, elements) in census(nn.TransformerDecoderLayer(d_model=16, nhead=2)).items():
    print(f"{name:<28} {modules:>2} modules {elements:>7,} elements")

# %% [markdown]
# ### In your own words: The frozen part that drifts
#
# 5 min · 2 points
#
# `model.backbone.requires_grad_(False)`, then a new `head` behind it is trained for one epoch, with an optimizer that got only
# the parameters of `head`. Before and after, a colleague puts the same picture through the backbone alone, both times in eval
# mode. The two results differ. "An optimizer that does not know the backbone has changed it," she says, "or eval mode is random."
#
# Neither. Which numbers of the backbone changed, at which moment, and who changed them? Why did neither `requires_grad_(False)`
# nor the choice of parameters for the optimizer prevent it, and what does?
#
# Where this notebook is handed in, a person reads your answer. No check looks at it, and `progress()` does not count it.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_frozen_batch_norm", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# The running mean and variance of the backbone's batch norms. They are buffers: in training mode the **forward** of a batch
# norm moves them at every call, by a rule that has nothing to do with gradients or optimizers. `requires_grad_(False)` is
# about parameters and backward, the optimizer's list is about steps; both are never asked. In eval mode the layer uses these
# numbers, so the same picture gives another result. The backbone has to be in eval mode during training, put there *after*
# `model.train()`, which sets the whole tree to training mode.
#
# ### BEGIN MARK SCHEME
# - 2 points: running statistics (buffers) are moved by **forward in training mode**, without gradient or optimizer; eval mode
#   for the backbone while the head is trained.
# - 1 point: names the running statistics or batch norm, but believes that a gradient or the optimizer has a part in it, or
#   offers no remedy that works.
# - Common wrong explanations, 0 points for that part: `requires_grad_(False)` came too late; weight decay; dropout (eval mode
#   switches it off in both measurements); `torch.no_grad()` around the backbone as the remedy: the statistics move all the same.
# ### END MARK SCHEME
# ### END SOLUTION

# %% [markdown]
# ## In short
#
# - `model.apply(fn)` calls `fn(module)` on every module at any depth: children first, the model itself last. It
#   ignores what `fn` returns, and returns the model.
# - A layer that is shared by two parents is visited twice. What adds up, such as a hook, must be done once.
# - Your function chooses: `isinstance` first, a class name only if you must. Remember what may be `None`.
# - A module is replaced in its parent. First look, then change.
# - Set values in place, where autograd does not look: `torch.no_grad()` or `torch.nn.init`. A new `Parameter`
#   leaves the optimizer with the old one.
# - To freeze is two things: no gradient for the parameters, eval mode for the modules.
# - A method for one object needs its `self` fixed beforehand: `partial`. Names with two underscores are looked up
#   on the class.
# - Parameters can come from outside. A forward hook replaces the output, after the old `forward` has run; a
#   `forward` on the object replaces the computation.
# - In a hook, use the module that it is given. A copy of the model is glad of it.
#
# **Next:** lesson 05 looks inside a model that nobody lets you edit, ResNet-18.

# %%
progress()
