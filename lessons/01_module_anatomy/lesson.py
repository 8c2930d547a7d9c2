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
# Welcome! A hook is a function of yours that runs inside somebody else's model. It reads or changes the data there, and the model's
# code stays as it is. So first: what is a [model](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html) made of?
#
# - **You will do:** repair a network, take models apart, replace their layers.
# - **You will learn:** what PyTorch registers in a module.
# - **You need:** Python classes, tensors, `loss.backward()`.
# - **Time:** <!-- time and points -->.
# - **Out of scope:** hooks, apart from a first look at the end of the core path (lesson 02).
#
# **Shift+Enter** runs a cell and goes on to the next one.

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter

from course import hint, progress, solution
from course.data import digits, reads, train_to_read
from course.pictures.curves import draw_curves
from course.pictures.feature_maps import draw_digits
from course.pictures.module_tree import draw_module_tree
from course.sources import show_source

torch.set_num_threads(1)  # nets as small as these run fastest on one thread

# %% [markdown]
# ## A network that forgets overnight
#
# This network learns to read digits. In the evening we save its *state dict*: a dict from names to those tensors of the network
# that PyTorch knows. The next morning, `load_state_dict` loads this dict into a new network.

# %% nbgrader={"grade": false, "grade_id": "setup_digit_net", "locked": true, "schema_version": 3, "solution": false, "task": false}
class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = [nn.Linear(64, 128), nn.Linear(128, 128)]
        self.head = nn.Linear(128, 10)

    def forward(self, x):
        for layer in self.hidden:
            x = F.relu(layer(x))
        return self.head(x)

# %%
torch.manual_seed(0)
net, next_morning = DigitNet(), DigitNet()
forgetful_losses = train_to_read(net, lr=0.02)
print(next_morning.load_state_dict(net.state_dict()))
print("digits read in the evening:", reads(net), "  the next morning:", reads(next_morning))

some = digits()[0][1400:1410]
told = [model(some.flatten(1)).argmax(dim=1).tolist() for model in (net, next_morning)]
captions = [f"evening: {first}\nmorning: {second}" for first, second in zip(*told)]
draw_digits(some, captions, title="What the network reads in the evening, and the next morning")

# %% [markdown]
# Guessing gives ten percent. Yet the loss fell, and no line raised an error. Look at how the network was trained, and which of
# its layers PyTorch knows:

# %%
show_source(train_to_read, reads)
print("in the state dict:", list(net.state_dict()))
draw_module_tree(net, title="DigitNet, as PyTorch sees it")

# %% [markdown]
# The hidden layers run, but PyTorch does not know them. A module *registers* each module that you assign to one of its
# attributes, and does not look into a Python list. The optimizer gets `net.parameters()`, which lists only what is registered.
# The state dict, too, holds only that: the hidden layers are neither trained nor saved. An
# [`nn.ModuleList`](https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html) is a module that works like a list.
#
# **How an exercise works**
#
# 1. Replace `pass  # TODO: your code` with your own lines, and run the cell.
# 2. Run the cell below. It says what it has checked, and which result it expected.
# 3. Stuck? Call `hint()` in any cell: at first it asks a question, at the next call it gives the idea.
# 4. `progress()` shows what you have solved.
#
# ### Exercise: The network that forgets
# easy · 3 min
#
# Repair the network, so that PyTorch registers all three layers. Do not change what `forward` computes.

# %% nbgrader={"grade": false, "grade_id": "forgetful_net", "locked": false, "schema_version": 3, "solution": true, "task": false}
class RepairedNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = [nn.Linear(64, 128), nn.Linear(128, 128)]
        self.head = nn.Linear(128, 10)
        # TODO: register the hidden layers.
        ### BEGIN SOLUTION
        self.hidden = nn.ModuleList(self.hidden)
        ### END SOLUTION

    def forward(self, x):
        for layer in self.hidden:
            x = F.relu(layer(x))
        return self.head(x)


print(RepairedNet())

# %% nbgrader={"grade": true, "grade_id": "test_forgetful_net", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("forgetful_net")

# %% [markdown]
# Once an exercise is solved, `solution("forgetful_net")` shows other correct solutions. Repeat the evening with your
# network. Will the loss fall faster than before?

# %%
torch.manual_seed(0)
trained, next_morning = RepairedNet(), RepairedNet()
losses = train_to_read(trained, lr=0.02)
next_morning.load_state_dict(trained.state_dict())
print("digits read in the evening:", reads(trained), "  the next morning:", reads(next_morning))
draw_curves({"DigitNet": forgetful_losses, "RepairedNet": losses}, title="Loss of the network, before and after the repair")

# %% [markdown]
# If your network is repaired, the loss falls faster: all three layers learn, not only the last.
#
# ## A model is a tree
#
# Here is a network with more kinds of parts. Each box shows a module: the name of the attribute, the class, and the module's own
# tensors. **Parameters** are trained; **buffers** are not, but belong to the module, too.

# %% nbgrader={"grade": false, "grade_id": "setup_models", "locked": true, "schema_version": 3, "solution": false, "task": false}
class TinyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU())
        self.heads = nn.ModuleDict({"animal": nn.Linear(8, 10), "size": nn.Linear(8, 1)})
        self.scale = Parameter(torch.ones(1))

    def forward(self, x, task: str):
        x = self.features(x).mean(dim=(2, 3))
        return self.heads[task](x) * self.scale

# %%
torch.manual_seed(0)
net = TinyNet()
draw_module_tree(net, title="TinyNet")

# %% [markdown]
# ## Containers: modules that hold modules
#
# The grey boxes are containers. Each keeps several modules under one name.
#
# | container | you reach a module by | does it have a `forward`? |
# | --- | --- | --- |
# | `nn.Sequential` | `seq[0]` | yes: one after the other, in their order |
# | `nn.ModuleList` | `modules[0]` | no: your `forward` decides |
# | `nn.ModuleDict` | `modules["name"]` | no: your `forward` decides |
#
# A `forward` of your own may leave a layer out, or run it several times. Two small modules:

# %% nbgrader={"grade": false, "grade_id": "setup_steps", "locked": true, "schema_version": 3, "solution": false, "task": false}
class Scale(nn.Module):
    def __init__(self, by: float):
        super().__init__()
        self.by = Parameter(torch.tensor(by))

    def forward(self, x):
        return x * self.by


class Shift(nn.Module):
    def __init__(self, by: float):
        super().__init__()
        self.by = Parameter(torch.tensor(by))

    def forward(self, x):
        return x + self.by

# %%
x = torch.tensor(3.0)
print("(3 + 1) * 2      :", nn.Sequential(Shift(1.0), Scale(2.0))(x).item())
pair = nn.ModuleList([Shift(1.0), Scale(2.0)])
print("(3 * 2 + 1) * 2  :", pair[1](pair[0](pair[1](x))).item())

# %% [markdown]
# ### Exercise: A chain in any order
# easy · 7 min
#
# Complete `Chain(steps, order)`, which sends its input through modules in any order.
#
# - `self.steps` is a container that holds all `steps`, unchanged and in the same order: the names of their parameters begin with
#   `steps.0`, `steps.1` and so on.
# - `forward(x)` sends `x` through the steps that `order` names, one after the other. An index may appear several times, or not
#   at all.
#
# ```python
# Chain([a, b, c], order=[2, 0])(x)   # a(c(x))
# ```

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
# A [`Parameter`](https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html) is a tensor meant for
# training. A module registers each `Parameter` among its attributes, and `parameters()` lists it for the optimizer. A plain
# tensor is not registered, not even with `requires_grad=True`.

# %%
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Parameter(torch.ones(2))
        self.second = torch.ones(2, requires_grad=True)


print([name for name, _ in Two().named_parameters()])
print({name: tuple(one.shape) for name, one in nn.Linear(3, 2).named_parameters()})  # (out, in)

# %% [markdown]
# ### Exercise: A linear layer from Parameters
# easy · 9 min
#
# Write `MyLinear(in_features, out_features)` yourself, without `nn.Linear`.
#
# - It has two parameters of ones: `weight` of shape `(out_features, in_features)` and `bias` of shape `(out_features,)`.
# - `forward(x)` returns x · weightᵀ + bias. The last dimension of `x` has size `in_features`; more dimensions may come before.
#
# ```python
# MyLinear(3, 2)(torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 0.5]]))   # [[7, 7], [1.5, 1.5]]
# ```

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
# Your layer's parameters have the same names as those of an `nn.Linear`, so your layer can load a trained one's:

# %%
learned = {layer.weight.shape: layer for layer in trained.modules() if isinstance(layer, nn.Linear)}
own = nn.Sequential(MyLinear(64, 128), nn.ReLU(), MyLinear(128, 128), nn.ReLU(), MyLinear(128, 10))
try:
    for mine in own[::2]:
        mine.load_state_dict(learned[mine.weight.shape].state_dict())
    print("digits read with your layers:", reads(own))
except (AttributeError, KeyError, RuntimeError, TypeError):
    print("not yet: solve the exercises above first")

# %% [markdown]
# ## Parameter, Buffer, or just an attribute
#
# Three questions decide how a module keeps a value. Should an optimizer change the value? Should a saved
# file hold it? Should it follow the model to another dtype or device?

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
    learns = name in dict(kinds.named_parameters())
    saved = name in kinds.state_dict()
    follows = getattr(kinds, name).dtype == torch.float64
    print(f"{name:8} to the optimizer: {learns!s:6} saved: {saved!s:6} follows .double(): {follows}")

# %% [markdown]
# - **Parameter**: what is learned.
# - **[Buffer](https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Buffer.html)**: state that is not learned, such
#   as a measured mean or a counter. `self.register_buffer("kept", tensor)` is the older way to register one.
# - **Buffer, `persistent=False`**: a tensor that `__init__` can compute again, such as a window or a mask.
# - **Plain attribute**: a setting that is not a tensor, such as a size or a rate.
#
# Not every tensor inside a layer is a parameter: `BatchNorm` also keeps three buffers. And a *frozen* parameter, one with
# `requires_grad=False`, does not become a buffer:

# %%
norm = nn.BatchNorm2d(8)
print("parameters:", [name for name, _ in norm.named_parameters()])
print("buffers   :", [name for name, _ in norm.named_buffers()])
norm.weight.requires_grad_(False)
print("frozen, and still a parameter:", "weight" in dict(norm.named_parameters()))

# %% [markdown]
# ### Exercise: Parameter, buffer or attribute?
# medium · 10 min
#
# `AudioFrame` prepares pieces of sound with `n` samples each. Its `forward` is ready. In `__init__`, store each of these four
# values in the right way.
#
# | attribute | initial value | what it is |
# | --- | --- | --- |
# | `gain` | `torch.ones(1)` | the loudness: to be learned |
# | `mean` | the argument `mean` | measured once, never trained; needed in a saved file |
# | `window` | `torch.hann_window(n)` | can be computed again: not saved, but follows `.double()` |
# | `rate` | the argument `rate` | samples per second: a setting |

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
# What is in a model that somebody else has written? Four methods yield pairs: a *dotted name*, and the module or tensor with that
# name. `features.1.weight` is the `weight` of child `1` in child `features`.
#
# | method | yields |
# | --- | --- |
# | `named_children()` | only the modules directly in this module |
# | `named_modules()` | all modules of the tree, beginning with the model itself, under the empty name `''` |
# | `named_parameters()` | all parameters of the tree |
# | `named_buffers()` | all buffers of the tree, saved or not |

# %%
net = TinyNet()
print("children  :", [name for name, _ in net.named_children()])
print("modules   :", [name for name, _ in net.named_modules()])
print("parameters:", [name for name, _ in net.named_parameters()][:3], "...")
print("and back  :", net.get_submodule("heads.size"), tuple(net.get_parameter("heads.size.weight").shape))

# %% [markdown]
# Two things need care:
#
# - **One object can be in two places.** Below, `act` is one `ReLU` under two names. The four methods list it once, under the first
#   name. Only `named_modules(remove_duplicate=False)` lists every place.
# - **A place can be empty.** A convolution with `bias=False` keeps `None` under the name `bias`; a module can be missing, too.
#   The four methods skip what is empty.
#
# The picture numbers the modules as `named_modules()` visits them: a parent before its children.

# %%
class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        act = nn.ReLU()
        self.one = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), act)
        self.two = nn.Sequential(nn.Conv2d(8, 8, 3), act)
        self.register_module("later", None)  # a place for a later module


shared = Shared()
print("kept under the names bias and later:", shared.one[0].bias, shared.later)
print("every place:", [name for name, _ in shared.named_modules(remove_duplicate=False)])
order = {name: number for number, (name, _) in enumerate(shared.named_modules(), 1)}
draw_module_tree(shared, numbers=order, title="The order of named_modules()")

# %% [markdown]
# ### Exercise: An inventory of any model
# medium · 11 min
#
# Write `inventory(model)` for any model. It returns a dict:
#
# - `"children"`: a list of the names of the modules directly in the model;
# - `"modules"`: a list of the names of all modules below the model; `"leaves"`: how many of these modules have no children;
# - `"parameters"`: a dict, name → shape; `"buffers"`: a list of names.
# - All names are as the methods yield them, in their order; list each object once, skip empty places.
#
# ```python
# inventory(nn.Sequential(nn.Flatten(), nn.BatchNorm1d(4, affine=False)))
# # {"children": ["0", "1"], "modules": ["0", "1"], "leaves": 2, "parameters": {},
# #  "buffers": ["1.running_mean", "1.running_var", "1.num_batches_tracked"]}
# ```

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
# Here is a real model, the ResNet-18 of lesson 05. Each of its eight blocks computes a ReLU twice, and one more ReLU runs before
# the blocks. **Stop and predict:** how many ReLU modules does your inventory list?

# %%
from torchvision.models import resnet18

found = inventory(resnet18(weights=None)) or {}
print([name for name in found.get("modules", ()) if name.endswith("relu")])

# %% [markdown]
# ## Replacing a part
#
# Your inventory lists nine ReLUs: each block has one, and calls it twice. To replace a module, give its parent's attribute a new
# value: `net.layer = new`, or `block[1] = new` in a container. For dotted names, `set_submodule` finds the parent.

# %%
tiny = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.Sigmoid()), nn.ReLU())
tiny.set_submodule("0.1", nn.ReLU())
print(tiny)

# %% [markdown]
# **Stop and predict:** which of these two attempts replaces a module?

# %%
for module in tiny.modules():
    if isinstance(module, nn.ReLU):
        module = nn.Tanh()
setattr(tiny, "0.0", nn.Identity())
print(tiny)

# %% [markdown]
# Neither, and neither raises an error. The loop gives a variable a new value; the model still holds the ReLU. `setattr` adds
# a child with a dot in its name. **Predict:** if `one.1` of `shared` becomes a Tanh, does `two.1` become one, too? A model is
# in eval mode and has an optimizer. It gets a new layer: is this layer in training mode? Does the optimizer hold its weight?

# %%
shared.set_submodule("one.1", nn.Tanh())
print("one.1 is now a", type(shared.one[1]).__name__, "and two.1 still a", type(shared.two[1]).__name__)

model = nn.Sequential(nn.Linear(2, 2)).eval()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model[0] = nn.Linear(2, 2)
print("the model is in training mode:", model.training, "  its new part:", model[0].training)
print("the optimizer holds the new weight:", any(p is model[0].weight for p in optimizer.param_groups[0]["params"]))

# %% [markdown]
# `set_submodule` changes one attribute of one parent. A new part keeps its own mode (training, unless you change it); an optimizer
# that was made before does not hold it.
#
# ### Exercise: Every ReLU becomes a Tanh
# medium · 13 min
#
# Write `swap_relu(model)`. It puts an `nn.Tanh` at every place below the model, at any depth, where there is an `nn.ReLU`, and
# returns the model.
#
# - A shared ReLU, or one in a shared block, is replaced everywhere.
# - Each Tanh has the mode (training or eval) of the ReLU that it replaces.
# - Everything else stays as it was.
#
# ```python
# swap_relu(nn.Sequential(nn.Linear(3, 2), nn.ReLU()))   # Linear, then Tanh
# ```

# %% nbgrader={"grade": false, "grade_id": "swap_submodules", "locked": false, "schema_version": 3, "solution": true, "task": false}
def swap_relu(model: nn.Module) -> nn.Module:
    """Put an nn.Tanh at every place where there is an nn.ReLU, and return the model."""
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
# ## The way to lesson 02: what a hook is
#
# Often you only want to see or slightly change the data that one part passes to the next.
#
# **A hook is a function of yours that somebody else's code calls.** That code decides *when* it calls the hook, *which arguments*
# the hook gets, and what happens to the value that the hook *returns*. Every module has [places for
# hooks](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_forward_hook). Each
# registration returns a handle, and `handle.remove()` takes the hook out again. If you replace a module, its hooks go with the old
# one:

# %%
def watch_output(module, inputs, output):
    print("   a hook sees an output of shape", tuple(output.shape))


net = nn.Sequential(nn.Linear(3, 2))
handle = net[0].register_forward_hook(watch_output)
y = net(torch.ones(4, 3))
handle.remove()
y = net(torch.ones(4, 3))  # no hook runs

net[0].register_forward_hook(watch_output)
net[0] = nn.Linear(3, 2)
y = net(torch.ones(4, 3))  # no hook runs

# %% [markdown]
# `DigitNet` trains for three steps. After each, the cell prints the size of a hidden layer's `.grad`. No line has reset it: what
# does it hold after three steps?

# %%
overlooked = DigitNet()
for _ in range(3):
    train_to_read(overlooked, steps=1)
    print("size of the gradient:", overlooked.hidden[0].weight.grad.norm().item())

# %% [markdown]
# ### In your own words: The layers that were overlooked
# 5 min
#
# A colleague builds the network from the beginning of this lesson and trains it. The loss falls. "So it works," she says. "And
# if PyTorch did not know my layers, they would get no gradient. But `net.hidden[0].weight.grad` is full of numbers."
#
# She is right about the gradient. How can a layer have a gradient and not learn? Why does the loss fall nevertheless? And why
# does `load_state_dict` raise no error the next morning?
#
# To answer, double-click the text in the next cell, write, and press Shift+Enter. A person reads your answer; no check does.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_plain_list", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# Autograd follows the computation back from the loss: every parameter that it reaches gets a gradient, registered or not. The
# optimizer knows only what `parameters()` listed when the optimizer was built: what is registered in the module. PyTorch does not
# look into a list, so the optimizer never changes the two layers, and `zero_grad()` never clears their gradients: they add up.
# The loss falls because `head` learns on top of two random layers. `state_dict()` holds `head` alone, and the new network asks for
# `head` alone, so the two agree and no error is raised. The loaded model has other random layers in its list, and its results are
# wrong.
#
# ### BEGIN MARK SCHEME
# - 2 points: says that autograd (what was computed) and registration (what was assigned to attributes) are two different
#   things, **and** that the optimizer or the file only knows the second. The loss falls because of `head`.
# - 1 point: one of the two halves, or only the remedy ("use a ModuleList") with a true reason.
# - Common wrong explanations, 0 points for that part: the layers get no gradient; the graph is cut by the list; the layers
#   learn, but slowly; loading raises an error about missing keys.
# ### END MARK SCHEME
# ### END SOLUTION

# %% [markdown]
# ## Further: printed names, new parameters, unregistered layers
#
# The core path ends here: read *What to remember* at the end, and go on with lesson 02.
#
# ### What print says about a module
#
# The text in the brackets of `Linear(in_features=3, ...)` is what the module's `extra_repr()` returns. `nn.Module` adds names,
# brackets and indentation. `Scale` defines none, so print hides its 2.0:

# %%
print(nn.Linear(3, 2))
print(Scale(2.0))
print("Linear's extra_repr:", nn.Linear(3, 2).extra_repr())

# %% [markdown]
# ### Exercise: A module that shows its settings
# easy · 5 min · further
#
# Write `extra_repr` for `Clip`. Wherever a Clip is printed, it shows its two current limits, as `print(low)` and `print(high)`
# write them.
#
# ```python
# print(Clip(-1, 2))   # Clip(low=-1, high=2)
# ```

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
        # TODO: return the string between the brackets.
        ### BEGIN SOLUTION
        return f"low={self.low}, high={self.high}"
        ### END SOLUTION


print(nn.Sequential(nn.Linear(3, 2), Clip(-1, 2)))

# %% nbgrader={"grade": true, "grade_id": "test_extra_repr", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course import check
check("extra_repr")

# %% [markdown]
# ### A parameter from outside
#
# One assignment adds a parameter to a model. What happens to it?

# %%
torch.manual_seed(0)
model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # made before the offset

model.offset = Parameter(torch.zeros(2))
print("1. is it registered?", [name for name, _ in model.named_parameters()])

print("2. does the existing optimizer hold it?", any(p is model.offset for p in optimizer.param_groups[0]["params"]))

x = torch.ones(1, 3)
with torch.no_grad():
    before = model(x)
    model.offset.fill_(100.0)
    print("3. does the output change with it?", not torch.equal(model(x), before))

# %% [markdown]
# 1. **Register it.** Only a `Parameter` is in `parameters()`.
# 2. **Add it to the optimizer**, which holds only the parameters that it was made with. A new optimizer would begin without the
#    old momentum. So give the old optimizer a new [parameter
#    group](https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.add_param_group.html): a dict with a list of
#    parameters, and settings. A setting that is not in the dict gets the value that the optimizer was built with.
# 3. **Use it.** A hook can do that: PyTorch replaces the output with the value that a forward hook returns, unless that value is
#    None.

# %%
def add_the_offset(module, inputs, output):
    return output + module.offset


handle = model.register_forward_hook(add_the_offset)
print("with the hook   :", model(x).detach())
handle.remove()
print("without the hook:", model(x).detach())

# %% [markdown]
# ### Exercise: A parameter that joins the training
# medium · 8 min · further
#
# Training has begun, without a learning-rate scheduler. Write `add_offset(model, size, optimizer)`.
#
# - It gives the model a parameter `offset`: zeros of shape `(size,)`.
# - From then on `optimizer` trains it, with the settings that the optimizer was built with.
# - The training of all other parameters goes on as if nothing had happened, with their gradients, momentum and settings.
# - No code uses `offset` yet: the check itself adds `model.offset` to the output.

# %% nbgrader={"grade": false, "grade_id": "parameter_from_outside", "locked": false, "schema_version": 3, "solution": true, "task": false}
def add_offset(model: nn.Module, size: int, optimizer: torch.optim.Optimizer) -> None:
    """Give the model a parameter `offset`, zeros of shape (size,), for the optimizer to train."""
    # TODO: add the parameter to the model and to the optimizer.
    ### BEGIN SOLUTION
    model.offset = Parameter(torch.zeros(size))
    optimizer.add_param_group({"params": [model.offset]})
    ### END SOLUTION


model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
add_offset(model, 2, optimizer)
print([[tuple(p.shape) for p in group["params"]] for group in optimizer.param_groups])

# %% nbgrader={"grade": true, "grade_id": "test_parameter_from_outside", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("parameter_from_outside")

# %% [markdown]
# ### For your work: what did I forget to register?
#
# Ordinary code leaves parts unregistered: a loop appends layers to a list, a dict keeps a layer for each task, a mask is a plain
# tensor. `forward` uses these parts, and often no line raises an error. But three methods miss them:

# %%
net = DigitNet()
print("parameters():", [name for name, _ in net.named_parameters()])
print("state_dict():", list(net.state_dict()))
print("to(float64):  head", net.to(torch.float64).head.weight.dtype, "| hidden", net.hidden[0].weight.dtype)

# %% [markdown]
# So the hidden layers are not trained, not saved, and stay in float32: a call of `net` now raises an error. `find_unregistered`
# looks in what each module's instance holds, also inside lists, tuples, sets and dicts, for modules and tensors that the model
# does not list. It does not look inside objects of other classes, nor at what a hook closes over:

# %%
def find_unregistered(model: nn.Module) -> list[str]:
    """Dotted names of attributes that hold tensors or modules which the model does not know."""
    registered = {id(one) for one in (*model.modules(), *model.parameters(), *model.buffers())}

    def unknown(value, around=()):
        if isinstance(value, (nn.Module, torch.Tensor)):
            return id(value) not in registered
        if not isinstance(value, (dict, list, tuple, set)) or id(value) in around:
            return False
        around = (*around, id(value))  # a list may hold itself
        return any(unknown(one, around) for one in (value.values() if isinstance(value, dict) else value))

    found = []
    for name, module in model.named_modules():
        for key, value in vars(module).items():
            if unknown(value):
                found.append(f"{name}.{key}" if name else key)
    return found


model = TinyNet()
model.extra = {"more": [nn.Linear(8, 8), nn.Linear(8, 8)]}
model.features.mask = torch.ones(8)

# %% [markdown]
# **Stop and predict:** what does the function find in the models below?

# %%
from torch.nn.utils import prune

encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, batch_first=True), 2)
pruned = prune.l1_unstructured(nn.Linear(3, 3), "weight", 0.3)
watched = nn.Linear(3, 2)
watched.last_output = watched(torch.ones(1, 3))  # a hook might store the output like this
real = {"ResNet-18": resnet18(weights=None), "encoder": encoder, "LSTM": nn.LSTM(3, 4)}
for name, one in {"DigitNet": DigitNet(), "TinyNet": model, **real, "pruned": pruned, "watched": watched}.items():
    print(f"{name:10}", find_unregistered(one))

# %% [markdown]
# The function also finds something in the last two models, though nothing is wrong: a pruned layer computes its `weight` again
# from registered tensors, and `last_output` was stored on purpose.
#
# ## What to remember
#
# - A module registers what is assigned to its attributes: modules, `Parameter`s, buffers. It does not look into lists.
# - What is learned is a Parameter. State that is not learned is a buffer, with `persistent=False` if it can be computed again.
# - `named_children` yields one level; `named_modules` yields the whole tree, beginning with the model itself, each object once.
# - To replace a part, assign the new module to its parent's attribute. Think of shared modules, the mode, and the optimizer.
# - A parameter may come from outside. Add it to the optimizer, and use it in some code.
#
# **Next:** lesson 02 attaches hooks to tensors, and looks at gradients while they flow.
#
# ## Where to go on
#
# - [Modules](https://docs.pytorch.org/docs/stable/notes/modules.html): PyTorch's own introduction.
# - [torchinfo](https://github.com/TylerYep/torchinfo): an inventory as a table, with the shape of each output.
#
# ### When this notebook is graded
#
# During grading, more checks may run: with other numbers, other shapes, or a second call. They test only what the exercise text
# says.
# <!-- grading limits -->

# %%
progress()
