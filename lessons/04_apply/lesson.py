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

from course import hint, progress, solution
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
# easy · 5 min · 2 points · `visit_order`
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
from course import check
check("visit_order")

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
# medium · 8 min · 2 points · `shared_modules`
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
from course import check
check("shared_modules")

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
# hard · 15 min · 4 points · `replace_modules`
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
from course import check
check("replace_modules")

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
# easy · 8 min · 2 points · `init_ones`
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
from course import check
check("init_ones")

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
# medium · 8 min · 3 points · `init_in_place`
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
from course import check
check("init_in_place")

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
# medium · 12 min · 3 points · `init_by_type`
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
from course import check
check("init_by_type")

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
# medium · 10 min · 3 points · `freeze_where`
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
from course import check
check("freeze_where")

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
# medium · 10 min · 3 points · `named_repr`
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
from course import check
check("named_repr")

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
# hard · 20 min · 4 points · `linear_everywhere`
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
from course import check
check("linear_everywhere")

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
# hard · 15 min · 4 points · `linear_any_weight`
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
from course import check
check("linear_any_weight")

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
