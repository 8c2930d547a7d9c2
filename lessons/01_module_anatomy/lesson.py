# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What an nn.Module is made of
#
# Welcome! This is the first lesson of a hands-on course on PyTorch hooks and `Module.apply`. With them you can look into
# a model, and change what it does, without touching its code. Before you hang something on a model, it helps to know
# what hangs there already. That is this lesson.
#
# - **You will do** this: take models apart, exchange their layers, and train a parameter that you add from outside.
# - **You will learn** what PyTorch registers in a module and what it does not see, and how to walk through any model.
# - **You need** Python classes, tensors, and `loss.backward()`. No GPU, no download.
# - **Time** about 75 minutes: seven exercises for 20 points, the first one takes five minutes, and one question in your
#   own words, 2 points.
# - **Out of scope** hooks (from lesson 02 on), how to design a network, how to make it fast.
#
# ## How this works
#
# A notebook is made of cells. Press **Shift+Enter**: it runs the cell you are in and goes on to the next one. Run every cell
# as you come to it, from the top; what it prints or draws appears below it. A `[*]` beside a cell says that it is still
# running. (The first one takes some seconds: it loads PyTorch.) Soon you meet an exercise:
#
# 1. **Fill in.** Below the text is a *TODO cell*: the beginning of an answer. Replace each line `pass  # TODO: your code` by
#    your own lines, as many as you like, and run the cell.
# 2. **Check.** Run the two lines below it. A panel says line by line what was checked,
#    ✓ or ✗. At the first ✗ it says what your code gave, what was wanted, and, where it knows the mistake, what it looks like.
# 3. **Ask.** Type `hint()` into any cell, such as a new one from the **+** in the toolbar, and run it. After a check that failed
#    you get a question; run it again for the idea, and again for where to read. It never shows the answer. You do not know how
#    to begin? Below each exercise's title stands what to type, such as `hint("container_order")`.
# 4. **Try again** as often as you like, it costs nothing. `progress()` shows what you have solved and where to go on.
#
# Nothing leaves your disk: not your code, not the results, not your progress. If something looks odd, *Run* → *Restart Kernel
# and Run up to Selected Cell…* makes everything above anew.
#
# At the end, the *Validate* button in the toolbar restarts everything and runs every check once more. When your notebook is
# graded, some more checks run: on other numbers, other shapes, a second call. They ask nothing that the text does not say.
# <!-- grading limits -->

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter

from course import hint, progress
from course.pictures.module_tree import draw_module_tree

# %% [markdown]
# ## A model is a tree
#
# Here is a small network. Like every module it is a class with two methods: `__init__` says what the module has,
# `forward` says what it does.


# %% nbgrader={"grade": false, "grade_id": "setup_models", "locked": true, "schema_version": 3, "solution": false, "task": false}
class TinyNet(nn.Module):
    """A convolution, then one linear layer for each of two tasks."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(),
        )
        self.heads = nn.ModuleDict({"animal": nn.Linear(8, 10), "size": nn.Linear(8, 1)})
        self.scale = Parameter(torch.ones(1))

    def forward(self, x, task: str):
        x = self.features(x).mean(dim=(2, 3))
        return self.heads[task](x) * self.scale


# %% [markdown]
# `draw_module_tree` draws any model. One box is one module: the name of the attribute, then the class. In the box stand
# the tensors that belong to this very module: **parameters** are trained, **buffers** are kept with it.

# %%
torch.manual_seed(0)
net = TinyNet()
draw_module_tree(net, title="TinyNet")

# %% [markdown]
# What is in this picture, PyTorch finds: to train it, to save it, to move it to a GPU. What is not in the picture it does
# not find. At the end of this lesson you know why each thing is there, and you can put other things in its place. Let us
# begin with the grey boxes.
#
# ## Containers: modules that hold modules
#
# A container keeps several modules under one name.
#
# | container | you reach a module by | does it run by itself? |
# | --- | --- | --- |
# | `nn.Sequential` | `seq[0]` | yes: one after the other, in the order they stand |
# | `nn.ModuleList` | `modules[0]` | no: your `forward` decides |
# | `nn.ModuleDict` | `modules["name"]` | no: your `forward` decides |
#
# Two very small modules show why the order matters: (3 + 1) · 2 is not 3 · 2 + 1.


# %% nbgrader={"grade": false, "grade_id": "setup_steps", "locked": true, "schema_version": 3, "solution": false, "task": false}
class Scale(nn.Module):
    """Multiplies by a number that can be trained."""

    def __init__(self, by: float):
        super().__init__()
        self.by = Parameter(torch.tensor(by))

    def forward(self, x):
        return x * self.by


class Shift(nn.Module):
    """Adds a number that can be trained."""

    def __init__(self, by: float):
        super().__init__()
        self.by = Parameter(torch.tensor(by))

    def forward(self, x):
        return x + self.by


# %%
x = torch.tensor(3.0)
print("shift, then scale:", nn.Sequential(Shift(1.0), Scale(2.0))(x).item())
print("scale, then shift:", nn.Sequential(Scale(2.0), Shift(1.0))(x).item())

steps = nn.ModuleList([Shift(1.0), Scale(2.0)])
print("your own order   :", steps[1](steps[0](steps[1](x))).item())
try:
    steps(x)
except NotImplementedError as error:
    print("a ModuleList by itself:", error)

# %% [markdown]
# Why not a plain python list? Because a module looks only at what is assigned to its attributes, not into lists. The
# list below would work in `forward`, so nothing seems wrong. But no optimizer ever sees these layers, and no file saves them.


# %%
class Steps(nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.steps = steps


for kind in (list, nn.ModuleList):
    model = Steps(kind([Shift(1.0), Scale(2.0)]))
    trained = [name for name, _ in model.named_parameters()]
    print(f"{kind.__name__:10} trained: {trained}  saved: {list(model.state_dict())}")

# %% [markdown]
# ### Exercise: A chain in any order
#
# easy · 5 min · 2 points · `container_order`
#
# Complete `Chain(steps, order)`. `steps` is a list of modules, `order` a list of indices: `order=[2, 0]` sends the input
# through `steps[2]` first, then through `steps[0]`. An index may appear twice, or not at all.
#
# - Keep *all* steps in `self.steps`, the modules themselves, in the order in which they were handed in. Their parameters are
#   registered: `named_parameters()` finds them under names that begin with `steps.0`, `steps.1` and so on.
# - `forward(x)` returns the result, through which gradients reach the steps. A chain can be called any number of times.
# - What was handed in stays as it was: `x`, and both lists.


# %% nbgrader={"grade": false, "grade_id": "container_order", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Chain(nn.Module):
    """Keeps `steps`, and sends its input through them in the given `order`."""

    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        # TODO: keep the steps in self.steps, in a container that registers them.
        ### BEGIN SOLUTION
        self.steps = nn.ModuleList(steps)
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # TODO: send x through the steps in the order of self.order, and return the result.
        ### BEGIN SOLUTION
        for index in self.order:
            x = self.steps[index](x)
        return x
        ### END SOLUTION


chain = Chain([Shift(1.0), Scale(2.0)], order=[1, 0])
print(chain)
print(chain(torch.tensor(3.0)))  # 3 * 2 + 1

# %% nbgrader={"grade": true, "grade_id": "test_container_order", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("container_order")

# %% [markdown]
# ## Parameters: what an optimizer may change
#
# A `Parameter` is a tensor that says: *I am here to be trained*. Assign one to an attribute of a module and the module
# registers it: `parameters()` lists it, and that list is what you hand to an optimizer. A plain tensor is not registered,
# not even with `requires_grad=True`:


# %%
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Parameter(torch.ones(2))
        self.second = torch.ones(2, requires_grad=True)


print([name for name, _ in Two().named_parameters()])

# %% [markdown]
# The place where this happens is built by `super().__init__()`. You may read that a class without this call is "an empty
# shell". Run this: it does not get that far.


# %%
class Forgetful(nn.Module):
    def __init__(self):
        self.layer = nn.Linear(3, 2)


try:
    Forgetful()
except AttributeError as error:
    print(error)

# %% [markdown]
# `nn.Linear(in_features, out_features)` holds two parameters. Note the shape of the weight: **out** comes first.

# %%
for name, parameter in nn.Linear(3, 2).named_parameters():
    print(name, tuple(parameter.shape))

# %% [markdown]
# ### Exercise: A linear layer from Parameters
#
# easy · 7 min · 2 points · `linear_from_parameters`
#
# Write `MyLinear(in_features, out_features)` yourself, with no `nn.Linear` inside and none as its base class:
#
# - two parameters of its own and nothing else: `weight` of shape `(out_features, in_features)` and `bias` of shape
#   `(out_features,)`, both filled with ones to start with (`torch.float32`);
# - `forward(x)` returns x · weightᵀ + bias, with the weight and the bias that the layer has at that moment. `x` has the shape
#   `(..., in_features)`: one row, a batch of rows, a batch of matrices. Gradients reach the weight, the bias and `x`.


# %% nbgrader={"grade": false, "grade_id": "linear_from_parameters", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MyLinear(nn.Module):
    """x · weightᵀ + bias, for x of shape (..., in_features)."""

    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        # TODO: the parameters self.weight and self.bias, filled with ones.
        ### BEGIN SOLUTION
        self.weight = Parameter(torch.ones(out_features, in_features))
        self.bias = Parameter(torch.ones(out_features))
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # TODO: return the result.
        ### BEGIN SOLUTION
        return x @ self.weight.T + self.bias
        ### END SOLUTION


print(MyLinear(3, 2)(torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 0.5]])))  # [[7, 7], [1.5, 1.5]]

# %% nbgrader={"grade": true, "grade_id": "test_linear_from_parameters", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("linear_from_parameters")

# %% [markdown]
# ## Parameter, Buffer, or just an attribute
#
# Not everything in a model is trained. There are four ways to keep a thing in a module, and three questions tell them
# apart: Shall an optimizer change it? Shall it be in a saved file? Shall it follow the model to another dtype or device?


# %%
class Kinds(nn.Module):
    def __init__(self):
        super().__init__()
        self.learned = Parameter(torch.ones(2))
        self.kept = nn.Buffer(torch.ones(2))
        self.remade = nn.Buffer(torch.ones(2), persistent=False)
        self.plain = torch.ones(2)


kinds = Kinds().double()
for name in ("learned", "kept", "remade", "plain"):
    print(
        f"{name:8}",
        f"to the optimizer: {name in dict(kinds.named_parameters())!s:6}",
        f"saved: {name in kinds.state_dict()!s:6}",
        f"follows .double(): {getattr(kinds, name).dtype == torch.float64}",
    )

# %% [markdown]
# - **Parameter**: what is learned.
# - **Buffer**: what belongs to the model's state, but is not learned: a measured mean, running statistics, a counter.
#   `self.register_buffer("kept", tensor)` is the older way to write the same.
# - **Buffer, `persistent=False`**: a tensor that `__init__` can compute again: a window, a mask, a table of positions.
# - **Plain attribute**: settings that are not tensors: a size, a rate, a name.
#
# You may read that all tensors inside a model's layers are parameters, or that a buffer is something temporary. Run this.
# A `BatchNorm` layer learns two tensors and keeps three buffers, and all five are in its `state_dict()`, which is what you
# save. (A Parameter that is "frozen" with `requires_grad=False` is still in `parameters()`. It is a parameter that rests,
# not a buffer.)

# %%
norm = nn.BatchNorm2d(8)
print("parameters:", [name for name, _ in norm.named_parameters()])
print("buffers   :", [name for name, _ in norm.named_buffers()])
print("saved     :", list(norm.state_dict()))

norm.weight.requires_grad_(False)
print("frozen, and still a parameter:", "weight" in dict(norm.named_parameters()))

# %% [markdown]
# ### Exercise: Parameter, buffer or attribute?
#
# medium · 8 min · 3 points · `buffer_or_parameter`
#
# `AudioFrame` prepares short pieces of sound, `n` samples each. Its `forward` is ready. In `__init__`, put each of the
# four things where it belongs, and register nothing else:
#
# | attribute | start value | what it is |
# | --- | --- | --- |
# | `gain` | `torch.ones(1)` | the loudness: to be learned |
# | `mean` | the argument `mean`, shape `(n,)` | measured on the training data: never trained, needed in a saved file |
# | `window` | `torch.hann_window(n)` | depends on `n` alone: not to be saved, but it follows `.double()` and `.to(device)` |
# | `rate` | the argument `rate`, an int | samples per second: a setting |


# %% nbgrader={"grade": false, "grade_id": "buffer_or_parameter", "locked": false, "schema_version": 3, "solution": true, "task": false}
class AudioFrame(nn.Module):
    """Removes the mean of a piece of sound, fades its ends, and scales it."""

    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        # TODO: self.gain, self.mean, self.window and self.rate.
        ### BEGIN SOLUTION
        self.gain = Parameter(torch.ones(1))
        self.mean = nn.Buffer(mean)
        self.window = nn.Buffer(torch.hann_window(n), persistent=False)
        self.rate = rate
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain


frame = AudioFrame(torch.tensor([0.1, 0.2, 0.3, 0.4]), rate=16_000)
print("parameters:", [name for name, _ in frame.named_parameters()])
print("buffers   :", [name for name, _ in frame.named_buffers()])
print("saved     :", list(frame.state_dict()))

# %% nbgrader={"grade": true, "grade_id": "test_buffer_or_parameter", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("buffer_or_parameter")

# %% [markdown]
# ## Walking through a model
#
# You get a model that somebody else has written. What is in it? Four methods walk through it. All give pairs of a
# *dotted name* and the thing: `features.1.weight` is the `weight` of the child `1` of the child `features`.
#
# | method | gives |
# | --- | --- |
# | `named_children()` | the modules one level below, and no deeper |
# | `named_modules()` | all modules of the tree, beginning with the model itself, under the name `''` |
# | `named_parameters()` | all parameters of the tree |
# | `named_buffers()` | all buffers of the tree, saved or not |
#
# With a dotted name you get the thing back: `get_submodule`, `get_parameter`, `get_buffer`.

# %%
print("children  :", [name for name, _ in net.named_children()])
print("modules   :", [name for name, _ in net.named_modules()])
print("parameters:", [name for name, _ in net.named_parameters()])
print(net.get_submodule("heads.size"), tuple(net.get_parameter("heads.size.weight").shape))

# %% [markdown]
# The numbers in the next picture are the order in which `named_modules()` visits the modules: a parent before its children.
# (`apply` goes the other way round. Lesson 04 is about that.)
#
# Two things need care. **One object can stand at two places.** Below, `act` is one single `ReLU` under two names.
# `named_modules()` lists an object once, under the first name it meets; so the second place has no number.
# **A place can be empty.** A convolution with `bias=False` still knows the name `bias`, and keeps `None` there. The methods
# above skip what is empty.


# %%
class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        act = nn.ReLU()
        self.one = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), act)
        self.two = nn.Sequential(nn.Conv2d(8, 8, 3), act)


shared = Shared()
print("kept under the name bias:", shared.one[0].bias)
order = {name: number for number, (name, _) in enumerate(shared.named_modules(), 1)}
draw_module_tree(shared, numbers=order, title="The order of named_modules()")

# %% [markdown]
# ### Exercise: An inventory of any model
#
# medium · 8 min · 3 points · `traverse`
#
# Write `inventory(model)`. It returns a dict with five entries. All names are dotted names, in the order in which the
# methods above give them. The model itself is not one of its parts, so a single layer has none. An object that stands at two
# places counts once.
#
# | key | value |
# | --- | --- |
# | `"children"` | list of the names of the modules one level below |
# | `"modules"` | list of the names of all modules below the model |
# | `"leaves"` | an int: how many of those `"modules"` have no children |
# | `"parameters"` | dict: name of each parameter → its shape, as a tuple |
# | `"buffers"` | list of the names of all buffers, saved or not |


# %% nbgrader={"grade": false, "grade_id": "traverse", "locked": false, "schema_version": 3, "solution": true, "task": false}
def inventory(model: nn.Module) -> dict[str, object]:
    """What is in a model: its children, modules, leaves, parameters and buffers."""
    # TODO: return a dict with the five entries.
    ### BEGIN SOLUTION
    parts = [(name, module) for name, module in model.named_modules() if module is not model]
    return {
        "children": [name for name, _ in model.named_children()],
        "modules": [name for name, _ in parts],
        "leaves": sum(1 for _, module in parts if not list(module.children())),
        "parameters": {name: tuple(tensor.shape) for name, tensor in model.named_parameters()},
        "buffers": [name for name, _ in model.named_buffers()],
    }
    ### END SOLUTION


inventory(TinyNet())

# %% nbgrader={"grade": true, "grade_id": "test_traverse", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("traverse")

# %% [markdown]
# ## Replacing a part
#
# A module is an attribute of its parent. To replace it, give the parent's attribute a new value; the register follows. A
# loop variable is not enough: it is only another name for the same module.
#
# `set_submodule` does it by a dotted name. `setattr` with a dotted name does *not*: it knows no path, raises no error, and
# adds a new child with a dot in its name. The old module stays where it was.

# %%
torch.manual_seed(0)
tiny = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), nn.ReLU())

for module in tiny.modules():
    if isinstance(module, nn.ReLU):
        module = nn.Tanh()
print("a new value for the loop variable:", [type(m).__name__ for m in tiny.modules()])

tiny.set_submodule("0.1", nn.Tanh())
print("set_submodule('0.1', ...)        :", [type(m).__name__ for m in tiny.modules()])

setattr(tiny, "0.0", nn.Identity())
print("setattr with '0.0'               :", [name for name, _ in tiny.named_children()])

# %% [markdown]
# Three things go wrong easily here, and none of them raises an error.
#
# - **The second place** of a shared module. `named_modules()` and `named_children()` show each object once;
#   `named_modules(remove_duplicate=False)` shows every place.
# - **The mode.** `model.eval()` sets a flag on each module that is there. A module made later starts in training mode.
# - **Too much.** `"ReLU" in type(m).__name__` also takes `LeakyReLU`. `isinstance(m, nn.ReLU)` asks for the class.

# %%
model = nn.Sequential(nn.Dropout(0.5)).eval()
model[0] = nn.Dropout(0.2)
print("mode of the model:", model.training, " mode of the new part:", model[0].training)
print("LeakyReLU is a ReLU:", isinstance(nn.LeakyReLU(), nn.ReLU))

# %% [markdown]
# ### Exercise: Every ReLU becomes a Tanh
#
# medium · 10 min · 3 points · `swap_submodules`
#
# Write `swap_relu(model)`. It changes the model itself and returns it. Afterwards an `nn.Tanh` stands at every place, at any
# depth, where an `nn.ReLU` stood. A ReLU that stands at two places is replaced at both. Each Tanh is in the mode (training
# or eval) of the ReLU that it replaces. Everything else stays as it was. (The model itself is not a ReLU.)


# %% nbgrader={"grade": false, "grade_id": "swap_submodules", "locked": false, "schema_version": 3, "solution": true, "task": false}
def swap_relu(model: nn.Module) -> nn.Module:
    """Put an nn.Tanh at every place where an nn.ReLU stands, and return the model."""
    # TODO: replace every nn.ReLU, and return the model.
    ### BEGIN SOLUTION
    for name, module in list(model.named_modules(remove_duplicate=False)):
        if isinstance(module, nn.ReLU):
            model.set_submodule(name, nn.Tanh().train(module.training))
    return model
    ### END SOLUTION


swap_relu(TinyNet())

# %% nbgrader={"grade": true, "grade_id": "test_swap_submodules", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("swap_submodules")

# %% [markdown]
# ## What print says about a module
#
# `print(model)` draws the tree in text. Between the brackets of `Linear(in_features=3, ...)` stands what the module's method
# `extra_repr()` returns. `nn.Module` calls it for each module, and draws names, brackets and indentation itself. Without an
# `extra_repr` of its own, a module shows nothing there:

# %%
print(nn.Linear(3, 2))
print(Scale(2.0))
print("Linear's own line:", nn.Linear(3, 2).extra_repr())

# %% [markdown]
# ### Exercise: A module that says what it is set to
#
# easy · 4 min · 2 points · `extra_repr`
#
# Write `extra_repr` for `Clip`, so that `print(Clip(-1, 2))` shows `Clip(low=-1, high=2)`. It shows the limits that this
# Clip has at the moment it is printed. Where a Clip stands in a model, or has submodules itself, print still shows the tree.
# The rest of the class stays as it is.


# %% nbgrader={"grade": false, "grade_id": "extra_repr", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Clip(nn.Module):
    """Keeps values between two limits."""

    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def extra_repr(self) -> str:
        # TODO: return the text between the brackets.
        ### BEGIN SOLUTION
        return f"low={self.low}, high={self.high}"
        ### END SOLUTION


print(nn.Sequential(nn.Linear(3, 2), Clip(-1, 2)))

# %% nbgrader={"grade": true, "grade_id": "test_extra_repr", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("extra_repr")

# %% [markdown]
# ## A parameter from outside
#
# Can a parameter be added to a model from outside, without a change of its class? Learners of an earlier course on this
# subject asked that, and got no answer. The answer is **yes**. It is one assignment: a module registers what it is given at
# any time, not only in `__init__`. But three things are left to you.

# %%
torch.manual_seed(0)
model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # built now, before the rest

model.offset = Parameter(torch.zeros(2))
model.plain = torch.zeros(2, requires_grad=True)
print("1. registered:", [name for name, _ in model.named_parameters()])

held = {id(p) for group in optimizer.param_groups for p in group["params"]}
print("2. held by the optimizer that was there before?", id(model.offset) in held)

x = torch.ones(1, 3)
with torch.no_grad():
    before = model(x)
    model.offset.fill_(100.0)
    print("3. does the output change with it?", not torch.equal(model(x), before))

# %% [markdown]
# 1. **It must be a `Parameter`.** The same rule holds as in `__init__`: `plain` is a tensor, and is not registered.
# 2. **The optimizer must be told.** It keeps the list it was given when it was built. Build the optimizer later; or, where it
#    already holds momentum that you want to keep, hand the new parameter to
#    [`optimizer.add_param_group({"params": [...]})`](https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.add_param_group.html).
#    A new group takes the optimizer's own settings for all that you do not give.
# 3. **Something must use it.** Registering a parameter does not bring it into `forward`. The code that uses it can also come
#    from outside. This one line is a *hook*, and what the next lessons are about:

# %%
handle = model.register_forward_hook(lambda module, inputs, output: output + module.offset)
print("with the hook   :", model(x).detach())
handle.remove()
print("without the hook:", model(x).detach())

# %% [markdown]
# ### Exercise: A parameter that joins the training
#
# hard · 12 min · 5 points · `parameter_from_outside`
#
# Training has begun, and the optimizer is there. Write `add_offset(model, size, optimizer)`:
#
# - it gives the model a new parameter `offset`: zeros, shape `(size,)`, `torch.float32`, registered under that name;
# - from then on the given `optimizer` trains it too, with the settings that the optimizer was built with;
# - all other parameters are trained on as if nothing had happened: their values, gradients and momentum stay.
#
# The function returns nothing, and leaves `forward` and the model's output alone: the check adds `model.offset` to the
# output itself.


# %% nbgrader={"grade": false, "grade_id": "parameter_from_outside", "locked": false, "schema_version": 3, "solution": true, "task": false}
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    """Give the model a parameter `offset`, zeros of shape (size,), for the optimizer to train."""
    # TODO: add the parameter, and let the optimizer train it.
    ### BEGIN SOLUTION
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset]})
    ### END SOLUTION


model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
add_offset(model, 2, optimizer)
print([name for name, _ in model.named_parameters()])
print([[tuple(p.shape) for p in group["params"]] for group in optimizer.param_groups])

# %% nbgrader={"grade": true, "grade_id": "test_parameter_from_outside", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
from course import check
check("parameter_from_outside")

# %% [markdown]
# One more consequence, for the day you save such a model: the file now holds a name that a freshly built model does not know.
# Add the parameter first, then load.

# %%
grown = nn.Linear(3, 2)
grown.offset = Parameter(torch.ones(2))
fresh = nn.Linear(3, 2)
try:
    fresh.load_state_dict(grown.state_dict())
except RuntimeError as error:
    print(str(error).splitlines()[-1].strip())
fresh.offset = Parameter(torch.zeros(2))
print(fresh.load_state_dict(grown.state_dict()), fresh.offset.data)

# %% [markdown]
# ## To take to work: what did I forget to register?
#
# The worst of this lesson's mistakes raise no error: a layer in a list, a tensor under a plain attribute. This function finds
# them in any model. Run it on the next model that you write.


# %%
def find_unregistered(model: nn.Module) -> list[str]:
    """Dotted names of attributes that hold tensors or modules which the model does not know."""
    known = {id(one) for one in (*model.modules(), *model.parameters(), *model.buffers())}
    internal = set(vars(nn.Module()))
    found = []
    for name, module in model.named_modules():
        for key, value in vars(module).items():
            if isinstance(value, dict):
                value = list(value.values())
            items = value if isinstance(value, (list, tuple)) else [value]
            tracked = [one for one in items if isinstance(one, (nn.Module, torch.Tensor))]
            if key not in internal and any(id(one) not in known for one in tracked):
                found.append(f"{name}.{key}" if name else key)
    return found


model = TinyNet()
model.extra = [nn.Linear(8, 8), nn.Linear(8, 8)]
model.features.mask = torch.ones(8)
print(find_unregistered(model))

# %% [markdown]
# ### In your own words: The layers that nobody missed
#
# 5 min · 2 points
#
# A colleague keeps two layers of her network in a plain python list, and a third one, `head`, in an attribute. `forward`
# goes through all three. She builds the optimizer from `net.parameters()`, trains, and the loss falls. "So it works," she
# says. "And if PyTorch did not know my layers, they would get no gradient. But look: `net.layers[0].weight.grad` is full of
# numbers."
#
# She is right about the gradient. How can a layer have a gradient and still not learn, why does the loss fall nevertheless,
# and what will she find when she saves the model and loads it into a new one?
#
# To answer, double-click the text below, write, and press Shift+Enter. Where this notebook is handed in, a person reads your
# answer. No check looks at it, and `progress()` does not count it.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_plain_list", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# Autograd follows the computation: whatever tensor with `requires_grad` took part in `forward` gets a gradient, registered
# or not. The optimizer knows only what `parameters()` listed when it was built, and that is what the register of the module
# holds. A list is not looked into, so the two layers are never stepped (their gradients are not even zeroed, they pile up).
# The loss falls because `head` learns on top of two random layers. `state_dict()` holds `head` alone: the loaded model has
# other random layers in the list, no error is raised, and its results are wrong.
#
# ### BEGIN MARK SCHEME
# - 2 points: says that autograd (what was computed) and the register (what was assigned to attributes) are two different
#   things, **and** that the optimizer or the file only knows the second. The loss falls because of `head`.
# - 1 point: one of the two halves, or only the remedy ("use a ModuleList") with a true reason.
# - Common wrong explanations, 0 points for that part: the layers get no gradient; the graph is cut by the list; the layers
#   learn, but slowly; loading raises an error about missing keys (nothing is missing: the names were never there).
# ### END MARK SCHEME
# ### END SOLUTION

# %% [markdown]
# ## What to remember
#
# - A module registers what is assigned to its attributes: modules, `Parameter`s, buffers. It does not look into lists.
# - `Sequential` runs by itself. With `ModuleList` and `ModuleDict` your `forward` decides.
# - Learned: Parameter. State, not learned: buffer. Can be computed again: buffer with `persistent=False`. Not a tensor: attribute.
# - `named_children` is one level; `named_modules` is the whole tree, with the model itself first, each object once.
# - Replace a part by an assignment to its parent. Think of shared modules and of the mode.
# - A parameter may come from outside, at any time. Tell the optimizer, and let something use it.
#
# **Next:** lesson 02 hangs the first hooks on tensors, and looks at gradients while they flow.

# %%
progress()
