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
# - **You will do** this: find out in which order `apply` visits; set every weight to 1; write names into the `repr`;
#   add a bias from outside and make every layer linear.
# - **You will learn** what `apply` does with your function, how to change a `Parameter` safely, how to put a method on
#   one object, two ways to replace a `forward`.
# - **You need** `Parameter` and `named_modules` from lesson 01, forward hooks from lesson 03.
# - **Time** about 60 minutes, four exercises, 11 points.
# - **Out of scope** which random initialisation is best; loading saved weights; compiled models.
#
# <!-- grading limits -->

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import copy
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter

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
print("visited by apply:   ", len(visited), "| the innermost one is among them:", innermost in visited)

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
beside((draw_module_tree(tree, met, title="the order of named_modules()"), f"named_modules() visits {met}"))

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
from course.compare import AnyOf, Matches, in_words
from course.evidence import Unreadable
from course.tree import Model


class VisitOrder(Check):
    """`answer` lists the class name of each module, in the order in which `apply` visits the tree."""

    secret = True
    cases = 1

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
    (draw_module_tree(tree, met, title="named_modules(): parent first"), f"named_modules() visits {met}"),
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
# One layer may hang in the tree twice, for example when weights are shared. `modules()` shows every object once.
# `apply` comes along once for each **parent**, so a layer with two parents is visited twice. Twice in one parent
# counts as once, because `children()` drops doubles. To initialise a layer twice is harmless. To register a hook
# twice is not.

# %%
shared = nn.Linear(2, 2)
twice = nn.ModuleDict({"left": nn.Sequential(shared), "right": nn.Sequential(shared)})
same_parent = nn.Sequential(shared, shared)

for where, model_with_doubles in (("two parents", twice), ("one parent", same_parent)):
    visited = []
    model_with_doubles.apply(visited.append)
    by_apply = sum(module is shared for module in visited)
    by_modules = sum(module is shared for module in model_with_doubles.modules())
    print(f"{where:<12} visits by apply: {by_apply}   by modules(): {by_modules}")

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
attempt("layer.W = Parameter(tensor([1]))", lambda: setattr(layer, "W", Parameter(torch.tensor([1]))))

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
# A fourth way makes a **new** Parameter: `layer.W = Parameter(torch.ones(1))`. The value is right, but it is
# another object. Whoever holds the old one is left with it. An optimizer that was made before trains a tensor that
# nobody uses any more, and the old tensor's hooks are gone. The cell does both ways, each time with one optimizer
# step.


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
    print(f"{initialise.__name__:<9} W after one step: {layer.W.item()}   calls of its hook: {len(calls)}")

# %% [markdown]
# So write in place. In the next exercise replacing earns full marks too, because nobody holds the old parameters
# there: the model is new. It becomes a bug on the day when somebody creates the optimizer first.
#
# One more trap, for those who write tests. A tempting check is "with all weights at 1 this model returns its input,
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


class EveryWIsOne(Check):
    """In `model`, and in a `fresh` tree, every parameter is called `W` and is 1; `returned_module` is `model`."""

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
        equal = when(
            lambda weights: len({weight.data for weight in weights}) == 1 and weights[0].tensor() not in (0, 1)
        )
        return {
            "apply_uses_global_model": {"fresh": old, "model": ones},
            "apply_changes_nothing": {"fresh": old},
            "wrong_return": {"fresh": ones, "model": ones, "(returned_module is model)": False},
            "not_applied": {"fresh": ones, "model": ANYTHING},
            "tensor_for_parameter": {"fresh": {}, "type of fresh.ab.a.W": "Tensor"},
            "shared_parameter": {"fresh": when(lambda weights: len(weights) == 1)},
            "init_shape": {"fresh": shape},
            "apply_misses_some": {"fresh": {name: AnyOf(ones[name], old[name]) for name in ones}},
            "equal_but_not_one": {"fresh": equal},
        }


check("init_ones", EveryWIsOne)

### BEGIN HIDDEN TESTS
from torch import nn


class WhateverItWas(Check):
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


class StillLearns(Check):
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
        attempt(f"{name}, {len(x)} elements:", lambda: print(f"{name}, {len(x)} elements:", layer(x).tolist()))

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
from course.compare import AnyOf, Matches, first_difference
from course.probing import ANYTHING
from course.tree import Model


class LinearTree(Check):
    """What the checks of this exercise share."""

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
            return same_shapes and first_difference(got["fresh"], right["values"]["fresh"]) is None

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
                "values": when(lambda got: first_difference(got["fresh"]["ab.a.W"], old) is None)
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
        right = self.truth(case)["output in model"]
        last = self.computed(case, "fresh", lambda X, W, b: X @ last_W + last_b)
        return {
            "apply_late_binding": {"output in fresh": last},
            "bias_on_columns": {"output in model": self.computed(case, "model", lambda X, W, b: X @ W + b[:, None])},
            "stale_weights": {"output in model": AnyOf(*(self.computed(case, "model", one) for one in stale))},
            "shares_between_trees": {"output in model": right, "output in fresh": ANYTHING},
        }


check("linear_everywhere", AnyWeights)
### END HIDDEN TESTS

# %% [markdown]
# ## A copy that remembers the original
#
# A short warning before you use this at work. Suppose a hook reads `module` from the function around it, and not
# from its own first argument. It works, until somebody copies the model: `deepcopy` copies the module, but a
# function goes into the copy as it is, and it still holds the **old** module. `partial` is safe, because its
# arguments are copied too.


# %%
def closing_over(module):
    module.register_forward_hook(lambda m, args, output: args[0] * module.W)  # from around the hook


def by_argument(module):
    module.register_forward_hook(lambda m, args, output: args[0] * m.W)  # the module that was called


def by_partial(module):
    module.forward = partial(lambda self, x: x * self.W, module)


for way in (closing_over, by_argument, by_partial):
    original = Function_A()
    nn.init.constant_(original.W, 2.0)
    way(original)
    clone = copy.deepcopy(original)
    nn.init.constant_(clone.W, 100.0)
    print(f"{way.__name__:<13} the copy has W = 100 and computes 1 * W = {clone(torch.ones(1)).item()}")

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
# ## In short
#
# - `model.apply(fn)` calls `fn(module)` on every module at any depth: children first, the model itself last. It
#   ignores what `fn` returns, and returns the model.
# - A layer that is shared by two parents is visited twice.
# - Your function chooses: `isinstance` first, a class name only if you must.
# - Set values in place, where autograd does not look: `torch.no_grad()` or `torch.nn.init`. A new `Parameter`
#   leaves the optimizer with the old one.
# - A method for one object needs its `self` fixed beforehand: `partial`. Names with two underscores are looked up
#   on the class.
# - Parameters can come from outside. A forward hook replaces the output, after the old `forward` has run; a
#   `forward` on the object replaces the computation.
# - In a hook, use the module that it is given.
#
# **Next:** lesson 05 looks inside a model that nobody lets you edit, ResNet-18.
