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
# A net of twenty hidden layers is put together correctly, trained correctly, and learns nothing at all. You will find out why,
# and cure it with one line, `net.apply(...)`, which calls one small function on every module of a net.
#
# - **You will** wake this net, and teach a trained net something new, with most of it frozen.
# - **You will learn** what `apply` does with your function, how to set a `Parameter` safely, and how to freeze layers.
# - **You need** lessons 01 and 03. **Out of scope:** loading saved weights, and compiled models.
# - **Time:** <!-- time and points -->. Do *Further* in three parts.
# - **Stuck?** Call `hint()` after a failed check, or `hint("visit_order")` before you begin.

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import copy
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter

from course import hint, progress, solution
from course.data import digits
from course.gpt import TinyGPT
from course.pictures.feature_maps import draw_digits
from course.pictures.gradient_flow import draw_gradient_flow
from course.pictures.module_tree import draw_module_tree
from course.sources import show_source
from course.tree import Function_A, Function_B, Function_C, Function_D, Layer_AB, Layer_CD, Model

torch.set_num_threads(1)  # nets as small as these run fastest on one thread

# %% [markdown]
# ## A net that does not learn
#
# Twenty hidden layers, each followed by a ReLU, learn to read 1,500 handwritten digits. Then the net is tested on 297 others.

# %%
pictures, labels = digits()
draw_digits(pictures[:10], [str(label.item()) for label in labels[:10]], title="What the net should learn to read")


# %%
def deep_net():
    torch.manual_seed(0)
    hidden = [nn.Sequential(nn.Linear(64, 64), nn.ReLU()) for _ in range(20)]
    return nn.Sequential(nn.Flatten(), *hidden, nn.Linear(64, 10))


def train(net, x=pictures, y=labels, n=1500, steps=100, lr=0.001, eps=1e-8):
    """Train what is not frozen on the first `n` pictures; return the share of right answers for the last 297."""
    torch.manual_seed(0)
    optimizer = torch.optim.Adam([one for one in net.parameters() if one.requires_grad], lr=lr, eps=eps)
    for _ in range(steps):
        batch = torch.randint(n, (64,))
        loss = F.cross_entropy(net(x[batch]), y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return right(net, x, y)


def right(net, x=pictures, y=labels):
    with torch.no_grad():
        return f"{(net.eval()(x[1500:]).argmax(dim=1) == y[1500:]).float().mean().item():.0%}"


print(f"read correctly after training: {train(deep_net())}   (guessing: 10%)")

# %% [markdown]
# Nothing raised an error. A layer learns from its gradient. `look` appends the size of a linear layer's weight gradient to `sizes`,
# and ignores other modules. **Write the line** that calls `look` on every module: use `net.apply`. Which layers get a gradient?


# %%
def first_gradients(net):
    F.cross_entropy(net(pictures[:64]), labels[:64]).backward()
    return net


sizes = []


def look(module):
    if isinstance(module, nn.Linear):
        sizes.append(module.weight.grad.norm().item())


net = first_gradients(deep_net())
# Your line here.

print([f"{size:.0e}" for size in sizes], "<- first layer to last, once your line is there")

# %% [markdown]
# One line that does it: `net.apply(look)`. Almost nothing arrives at the early layers. The fault is in the initial weights of
# `nn.Linear`. To set them, `apply` needs a function of yours. First see how `apply` calls a function, on a tree that is small
# enough to draw.
#
# ## The tree
#
# `Model` has two layers, each with two `Function_*` modules. Only a `Function_*` holds a parameter `W` and a plain attribute
# `name`.

# %%
show_source(Function_A, Layer_AB, Model)  # B subtracts W, C multiplies by W, and D divides by W
draw_module_tree(Model())

# %% [markdown]
# ## What apply does
#
# [`model.apply(fn)`](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.apply) calls
# `fn(module)` for **every** module of the tree, at any depth: a module after its children, and the model itself last.
#
# `apply` **ignores what your function returns**: the function can change the module that it gets, but cannot return a
# replacement. `apply` **returns its model**, so calls can be chained. And it gives your function **no name**: for dotted names,
# loop over `named_modules()`.

# %%
net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
returned = net.apply(lambda module: nn.Tanh())
print("is it the same object?", returned is net)
print(net)

# %% [markdown]
# ## Choosing modules
#
# `apply` does not choose. The first line of your function decides whether there is anything to do:
#
# | test | true for | take care |
# | --- | --- | --- |
# | `isinstance(module, nn.Linear)` | the class and its subclasses | the most reliable test |
# | `"Function" in type(module).__name__` | every class named like that | other names may contain it |
# | `hasattr(module, "W")` | every module with an attribute of that name | `W` may be `None`, or a **child** |

# %%
leaky = nn.LeakyReLU()
print('"ReLU" in its name:', "ReLU" in type(leaky).__name__, "| isinstance of nn.ReLU:", isinstance(leaky, nn.ReLU))
print("Layer_AB has an attribute b:", hasattr(Model().ab, "b"), "| it is the child", Model().ab.b)

# %% [markdown]
# ## Setting values without autograd
#
# The classic use of `apply` is initialisation. Three natural ways to set a `Parameter` fail:

# %%
layer = Function_A()


def attempt(what, act):
    try:
        act()
    except Exception as error:
        print(f"{what}\n    {type(error).__name__}: {error}")


attempt("layer.W.fill_(1.0)", lambda: layer.W.fill_(1.0))
attempt("layer.W = torch.ones(1)", lambda: setattr(layer, "W", torch.ones(1)))
attempt("layer.W = Parameter(torch.tensor([1]))", lambda: setattr(layer, "W", Parameter(torch.tensor([1]))))

# %% [markdown]
# - `W` is a **leaf that requires a gradient**, and autograd does not allow an in-place change of such a leaf. Switch autograd
#   off: `with torch.no_grad():`.
# - The name `W` is in the module's register of parameters. Only a `Parameter` (or `None`) may take its place.
# - `torch.tensor([1])` holds an integer, and integers have no gradients. Write `1.0`.
#
# The next cell shows two correct ways, and one from older code. The functions of [`torch.nn.init`](https://docs.pytorch.org/docs/stable/nn.init.html) do
# this for you:

# %%
layer = Function_A()
before = layer.W

with torch.no_grad():
    layer.W.fill_(1.0)  # in place, with autograd off
nn.init.constant_(layer.W, 1.0)  # the same, ready-made
layer.W.data.fill_(1.0)  # in older code; autograd does not notice this change, and cannot warn you

print(layer.W, "| still the same object:", layer.W is before)

# %% [markdown]
# ### Exercise: Every weight is 1
# easy · 6 min
#
# Write `weight_initialization(module)`: if `module` has a parameter `W`, of any shape, all elements of `W` become 1,
# **whatever they were before**, NaN included. `W` can still be trained.
#
# Apply the function to `model`, and keep what `apply` returns in `returned_module`. The check also uses other trees of
# `Function_*`.
#
# ```python
# model.cd.d.W  # Parameter containing: tensor([1.], requires_grad=True)
# ```

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
# ## Different layers, different initialisations
#
# Back to the net that does not learn. The weights of each layer multiply the size of the input by a factor. A deep net multiplies
# all these factors. `rms_of_layers` sends the digits through 20 layers with ReLU, without biases; the weights are random numbers
# with a standard deviation of gain / √64. **Find the gain** that keeps the size: add gains to the list.


# %%
def rms_of_layers(gain):
    """The size (root mean square) of what layers 1, 5, 10 and 20 return."""
    torch.manual_seed(0)
    x, found = pictures[:200].flatten(1), []
    for _ in range(20):
        x = torch.relu(x @ (torch.randn(64, 64) * gain / 8))
        found.append(x.square().mean().sqrt().item())
    return [found[0], found[4], found[9], found[19]]


print(f"size after layer {1:9} {5:9} {10:9} {20:9}")
for gain in (0.58, 1, 2):  # your turn: add gains
    print(f"gain {gain:<11}", *(f"{size:9.2g}" for size in rms_of_layers(gain)))

# %% [markdown]
# The gain is near 1.4. That is √2: a ReLU sets half of the values to 0, and so halves the mean of the squares; gain² = 2 doubles
# it again.
#
# - **Kaiming's** rule for ReLU is this: a standard deviation of √(2 / fan_in), where fan_in is the number of inputs.
# - **Xavier's** rule has gain 1 if a layer has as many outputs (fan_out) as inputs. The rule is made for layers without a ReLU.
#   If a ReLU follows, each layer keeps 70% of the size, so 20 layers keep about a thousandth.
# - **PyTorch's own**, uniform between ±1 / √fan_in, has gain √(1/3) ≈ 0.58: with a ReLU behind it, each layer loses more than half.
#
# The next exercise uses one rule for each type of layer. Linear layers get Xavier's rule, as in `nn.Transformer`: there, most
# linear layers have no ReLU behind them.
#
# A rule with fan_in needs a weight of at least two dimensions; the weight of a batch norm has one. A layer may have no bias, and
# a batch norm no weight: then the attribute is `None`.

# %%
norm, linear = nn.BatchNorm2d(4), nn.Linear(3, 2, bias=False)
attempt("nn.init.xavier_uniform_(norm.weight)", lambda: nn.init.xavier_uniform_(norm.weight))
print("without a bias:", linear.bias, "| with affine=False:", nn.BatchNorm2d(4, affine=False).weight)

# %% [markdown]
# ### Exercise: An initialisation for every type
# medium · 12 min
#
# Write `init_by_type(module)`, a function for `apply`: it initialises a weight and a bias, where they exist, in modules of the types
# below and of their subclasses; all other modules stay as they are.
#
# | module | weight | bias |
# | --- | --- | --- |
# | `nn.Linear` | `nn.init.xavier_uniform_`: uniform between ±√(6 / (fan_in + fan_out)) | 0 |
# | `nn.Conv1d`, `nn.Conv2d`, `nn.Conv3d` | `nn.init.kaiming_normal_` for ReLU: normal, with a standard deviation of √(2 / fan_in) | 0 |
# | `nn.BatchNorm1d`, `nn.BatchNorm2d`, `nn.BatchNorm3d` | 1 | 0 |
#
# ```python
# nn.Conv2d(3, 8, 3).apply(init_by_type).weight.std()  # about 0.27, which is √(2 / 27)
# ```


# %% nbgrader={"grade": false, "grade_id": "init_by_type", "locked": false, "schema_version": 3, "solution": true, "task": false}
def init_by_type(module: nn.Module) -> None:
    """Initialise this one module by its type: linear layers, convolutions and batch norms; leave others alone."""
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


net = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 10))
net.apply(init_by_type)
for name, parameter in net.named_parameters():
    print(f"{name:<9} from {parameter.min().item():6.3f} to {parameter.max().item():6.3f}")

# %% nbgrader={"grade": true, "grade_id": "test_init_by_type", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("init_by_type")

# %% [markdown]
# ## The net wakes up
#
# Now apply **your** function to the deep net. The *spread* is how much an output differs from picture to picture: its standard
# deviation, on average over all outputs. In the picture, compare the first layer of each net with its last.

# %%
print(f"read correctly after training: {train(deep_net().apply(init_by_type))}")
if deep_net().apply(init_by_type)[-1].bias.any():
    print("both nets are PyTorch's own, because init_by_type is not solved yet")

gradients = {}
for name, net in {"PyTorch's own": deep_net(), "yours": deep_net().apply(init_by_type)}.items():
    first_gradients(net)
    for number in (1, 5, 10, 15, 20):
        gradients[f"{name}, layer {number}"] = net[number][0].weight.grad
    x = net[:-1](pictures).detach()
    size, spread = x.square().mean().sqrt(), x.std(dim=0).mean()
    print(f"{name:13} after layer 20: size {size:.1g}, spread between pictures / size: {spread / size:.1g}")
draw_gradient_flow(gradients, title="gradients of the first backward pass")

# %% [markdown]
# In PyTorch's net the last layers get a gradient, and still learn nothing: all pictures look alike to these layers. The net's
# weights shrink the **differences** between pictures. The biases are the same for every picture, and keep the size up. In your
# net all layers get gradients, all equally small. That is enough for Adam, which divides each gradient by its usual size.
#
# But Xavier's rule loses 30% of the size at each ReLU. So at first the outputs are tiny, and so are the differences between
# pictures. About 25 of the 100 steps pass before the outputs differ. **Do better:** change one line of `my_init`, so that each
# layer has the gain that you found. Then the differences begin between 0.1 and 0.8, and 100 steps lead to about 70%, or more.


# %%
def my_init(module):
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)  # your turn
        nn.init.zeros_(module.bias)


for steps in (0, 20, 25, 40, 100):
    net = deep_net().apply(my_init)
    read = train(net, steps=steps)
    print(f"{steps:3} steps: differences between pictures {net(pictures).std(dim=0).mean():<8.2g} read correctly {read}")

# %% [markdown]
# One line that does it: `nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")`.
#
# ## Freezing
#
# To teach a trained net something new, one trains a part of it and **freezes** the rest. Freezing has two parts.
#
# **The parameters** must not need a gradient any more. If an optimizer already holds them, call `zero_grad()` first: it still uses a
# gradient that is left in `.grad`. (In the exercise below, the caller does this.) `module.requires_grad_(False)` reaches all
# parameters inside the module; a frozen layer still passes the gradient on to the layers before it. Without the underscore at the
# end you set a plain attribute, which PyTorch never reads:

# %%
layer = nn.Sequential(nn.Linear(2, 2))
layer.requires_grad = False
print("after layer.requires_grad = False: ", [one.requires_grad for one in layer.parameters()])
layer.requires_grad_(False)
print("after layer.requires_grad_(False): ", [one.requires_grad for one in layer.parameters()])

# %% [markdown]
# **The mode** is the other part. A batch norm in training mode moves its running statistics (buffers) at every call. So a frozen
# module should be in eval mode. Training loops set the whole tree to training mode by `model.train()`: freeze after this call.
#
# ### Exercise: Freeze and unfreeze
# medium · 10 min
#
# Write `freeze_where(model, choose, frozen=True)`, which returns the model. Every module for which `choose(module)` is true is
# frozen, with everything inside it: its parameters need no gradient any more, and it is in eval mode. With `frozen=False` it is
# unfrozen: its parameters need a gradient, and it is in training mode. Everything else stays as it is.
#
# ```python
# net = freeze_where(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)), lambda module: isinstance(module, nn.BatchNorm1d))
# [module.training for module in net]  # [True, False]
# ```


# %% nbgrader={"grade": false, "grade_id": "freeze_where", "locked": false, "schema_version": 3, "solution": true, "task": false}
def freeze_where(model: nn.Module, choose, frozen: bool = True) -> nn.Module:
    """Freeze every module for which `choose(module)` is true, with all inside it; unfreeze with `frozen=False`."""

    ### BEGIN SOLUTION
    def visit(module):
        if choose(module):
            module.requires_grad_(not frozen)
            module.train(not frozen)

    return model.apply(visit)
    ### END SOLUTION


for how in ("its parameters only", "freeze_where"):
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    net[1].requires_grad_(False)
    if how == "freeze_where":
        freeze_where(net, lambda module: isinstance(module, nn.BatchNorm1d))
    net(torch.randn(8, 2))
    print(f"a batch norm frozen by {how}: has one call moved its running mean?", net[1].running_mean.any().item())

# %% nbgrader={"grade": true, "grade_id": "test_freeze_where", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("freeze_where")

# %% [markdown]
# ## A trained net reads something new
#
# A net has learned to read, is frozen, and now gets **mirrored** digits. A module registers each `Parameter` that you assign to
# an attribute (lesson 01), and an optimizer made afterwards finds this `Parameter`. This lets us train something new beside
# frozen layers. Each hidden layer gets two matrices, `A` and `B` (1,024 new numbers in all), and a forward hook that adds
# `x @ A @ B` to its output. This is LoRA, a method for tuning large language models (lesson 07). **Write two lines:** in
# `with_addition`, return the new output; in `add`, register `with_addition`, and append its handle to `added`.


# %%
def with_addition(module, args, output):
    return output  # your first line, in place of this one; x is args[0]


def add(module):
    if isinstance(module, nn.Linear) and module.out_features == 64:
        module.A, module.B = Parameter(0.1 * torch.randn(64, 4)), Parameter(torch.zeros(4, 64))
        # Your second line here.


added = []
torch.manual_seed(0)
reader = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
print("upright digits:               ", train(reader, steps=150, lr=0.01))
mirrored = pictures.flip(3)
print("mirrored, before:             ", right(reader, mirrored))

reader.requires_grad_(False).apply(add)
attempt("is the hook registered, and does it add?", lambda: print("mirrored, with the addition:  ", train(reader, mirrored, steps=150, lr=0.01)))
for handle in added:
    handle.remove()
print("upright, without the addition:", right(reader), f"({len(added)} hooks removed)")
reader[5].requires_grad_(True)
print("mirrored, last layer trained: ", train(reader, mirrored, steps=150, lr=0.01))

# %% [markdown]
# Two lines that do it: `return output + args[0] @ module.A @ module.B`, and
# `added.append(module.register_forward_hook(with_addition))`.
#
# With the new matrices, the net reads mirrored digits nearly as well as it read upright digits before. Without the hooks, it is the
# old net again. The last layer alone learns much less: its inputs are still made for upright digits.
#
# The core path ends here. The three further parts can be done in any order.
#
# ## Further: train on (25 minutes)
#
# ### Other cures for the deep net

# %%
print(f"read correctly with a smaller eps: {train(deep_net(), eps=1e-16)}")

net = deep_net()
for layer in net[1:-1]:
    layer.register_forward_hook(lambda module, args, output: args[0] + output)
print("read correctly with skip connections:", train(net))

# %% [markdown]
# Adam divides each gradient by its usual size plus `eps`, which is 10⁻⁸. In the first layer, a norm of 10⁻⁸ belongs to 4,096 gradients:
# each is about 10⁻¹⁰, far below `eps`, so the weights hardly move. With a smaller `eps` the net learns a little. Another cure is a
# **skip connection**: it adds a layer's input to its output, here by a hook.
#
# A GPT has skip connections, and still gets its own initialisation. The next cell has a shortened form of the function that
# [nanoGPT](https://github.com/karpathy/nanoGPT) gives to `apply`. `TinyGPT` is a small, untrained GPT: for each token of a line,
# it gives scores to the 13 tokens that may come next. Its first loss should equal the loss of guessing. Does it?


# %%
def _init_weights(module):
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, mean=0.0, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


torch.manual_seed(0)
text = torch.randint(13, (64, 11))
for name, gpt in {"PyTorch's own": TinyGPT(), "_init_weights": TinyGPT().apply(_init_weights)}.items():
    with torch.no_grad():
        loss = F.cross_entropy(gpt(text)[:, :-1].flatten(0, 1), text[:, 1:].flatten())
    print(f"{name:14} first loss {loss:.3f}   guessing: {torch.tensor(13.0).log():.3f}")

# %% [markdown]
# With nanoGPT's rule, the first loss is nearly the loss of guessing: weights this small give all tokens nearly the same score.
#
# ### A new head
#
# A net has learned the ten digits and is frozen. The new question: is the digit odd? Only 40 pictures have a label.


# %%
def body():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU()
    )


def new_head(trunk, x=pictures):
    torch.manual_seed(1)
    return train(nn.Sequential(trunk, nn.Linear(32, 2)), x, labels % 2, n=40, lr=0.01)


trained, old_head = body(), nn.Linear(32, 10)
train(nn.Sequential(trained, old_head), lr=0.01)
trained.requires_grad_(False).eval()
print("odd or even, new head on the trained net:", new_head(copy.deepcopy(trained)))
print("the same on an untrained net:            ", new_head(body().requires_grad_(False).eval()))
print("all layers trained on the 40 pictures:   ", new_head(body()))

# %% [markdown]
# Forty labels are enough for a head of 66 numbers on a trained net.
#
# What does the wrong mode cost? We train the new head once more, on paler pictures. The old head never changes:

# %%
for mode in (True, False):
    trunk = copy.deepcopy(trained).train(mode)
    odd = new_head(trunk, 0.5 * pictures)
    old, pale = (right(nn.Sequential(trunk, old_head), shade * pictures) for shade in (1, 0.5))
    print(f"frozen net in {'training' if mode else 'eval'} mode: odd or even {odd}; with the old head: {old} of the old pictures, {pale} of the pale ones")

# %% [markdown]
# In training mode the statistics have moved: they fit the paler pictures. So the old head reads the pale pictures better, and the old
# ones worse. If no more old pictures come, this helps. But then it should be your decision, not an accident.

# %% [markdown]
# ### In your own words: The frozen part that drifts
# 5 min
#
# A colleague calls `model.backbone.requires_grad_(False)`. Then she trains a new `head` behind the backbone for one epoch. The
# optimizer got only the parameters of `head`. Before and after, she puts the same picture through the backbone alone, both times
# in eval mode. The two results differ. "An optimizer has changed parameters that it does not hold," she says, "or eval mode is
# random."
#
# Neither is true. Which numbers of the backbone changed, when, and what changed them? Why did neither `requires_grad_(False)` nor
# the choice of parameters for the optimizer prevent the change? What would prevent it?

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_frozen_batch_norm", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# The running mean and variance of the backbone's batch norms. They are buffers: in training mode the **forward** of a batch norm
# moves them at every call, by a rule that has nothing to do with gradients or optimizers. `requires_grad_(False)` is about
# parameters and backward, the optimizer's list is about steps; neither plays a part here. In eval mode the layer uses these
# numbers, so the same picture gives another result. The backbone has to be in eval mode during training: call `eval()` on it
# *after* `model.train()`, which sets the whole tree to training mode.
#
# ### BEGIN MARK SCHEME
# - 2 points: running statistics (buffers) are moved by **forward in training mode**, without gradient or optimizer; eval mode
#   for the backbone while the head is trained.
# - 1 point: names the running statistics or batch norm, but believes that a gradient or the optimizer has a part in it, or
#   offers no remedy that works.
# - Common wrong explanations, 0 points for that part: `requires_grad_(False)` came too late; a gradient was left over in
#   `.grad` (the optimizer does not hold these parameters); weight decay; dropout; `torch.no_grad()` around the backbone as the
#   remedy: the statistics move all the same.
# ### END MARK SCHEME
# ### END SOLUTION

# %% [markdown]
# ### Who else holds the parameter?
#
# Another way to set a value is a **new** Parameter, `layer.W = Parameter(torch.ones(1))`. Once training has begun, the optimizer
# still holds the old one, and tensor hooks stay on the old one.


# %%
def in_place(layer):
    nn.init.ones_(layer.W)


def replaced(layer):
    layer.W = Parameter(torch.ones(1))


def shared(layer):
    layer.W.data = values


values = torch.ones(1)
for initialise in (in_place, replaced, shared):
    layer, calls = Function_A(), []
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    layer.W.register_hook(calls.append)
    initialise(layer)
    layer(torch.tensor([2.0])).backward()
    optimizer.step()
    print(f"{initialise.__name__:<9} W after one step: {layer.W.item()}   calls of its hook: {len(calls)}")
print("values, which had to stay 1:", values.item())

# %% [markdown]
# After `layer.W.data = values`, `W` is still the same object, but it shares the memory of `values`. So **write into** the
# parameter: `copy_` takes values from any tensor that fits, and keeps the parameter's own memory and dtype.
#
# ### Exercise: New values during training
# medium · 8 min · further
#
# An optimizer already holds the parameters of `model`. Write `init_in_place(model, new)`: every parameter `p`, at any depth, takes
# the values of `new(p)`, a tensor of the same shape.
#
# - Each parameter stays the same object, and keeps its dtype and its `requires_grad`.
# - `new` is called once for each parameter, even for a shared one.
# - `new` may return one tensor several times; still, no two parameters share memory afterwards.
#
# ```python
# init_in_place(model, torch.ones_like)  # every parameter is full of ones
# ```


# %% nbgrader={"grade": false, "grade_id": "init_in_place", "locked": false, "schema_version": 3, "solution": true, "task": false}
def init_in_place(model: nn.Module, new) -> None:
    """Copy the values of `new(p)` into each parameter `p` of the model, which stays the same object."""
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
# ## Further: one layer, several places (35 minutes)
#
# ### In which order?
#
# `named_modules()` meets a parent before its children. Does `apply` go the same way? **Guess first**: write seven class names into
# `predicted` below.
#
# ### Exercise: The order of apply
# easy · 5 min · further
#
# Fill the list `answer` with the **class names** of the modules of `Model()`, as strings such as `"Function_A"`, in the order in
# which `apply` visits them. One entry per visit.

# %% nbgrader={"grade": false, "grade_id": "visit_order", "locked": false, "schema_version": 3, "solution": true, "task": false}
predicted = []  # your guess, before you run anything
model = Model()
answer = []


def collect(module):
    # TODO: put the class name of `module` into `answer`.
    ### BEGIN SOLUTION
    answer.append(module.__class__.__name__)
    ### END SOLUTION


# TODO: make `apply` call `collect` on every module of the model.
### BEGIN SOLUTION
model.apply(collect)
### END SOLUTION

print("predicted:", predicted)
print("happened: ", answer)

# %% nbgrader={"grade": true, "grade_id": "test_visit_order", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("visit_order")

# %% [markdown]
# The tree again, numbered in the order of `apply`. It is **post-order**: a module is visited after all its children.

# %%
tree, visited = Model(), []
names = {module: name for name, module in tree.named_modules()}
tree.apply(visited.append)
draw_module_tree(tree, {names[module]: number for number, module in enumerate(visited, 1)}, title="the order of apply()")

# %% [markdown]
# ### The same layer in two places
#
# Two branches use the same encoder, and so share its weights. `modules()` shows every object once. `apply` visits a layer once
# for each **path** from the model to the layer; if one parent holds the layer twice, this counts as one path.


# %% nbgrader={"grade": false, "grade_id": "setup_shared", "locked": true, "schema_version": 3, "solution": false, "task": false}
class TwoBranches(nn.Module):
    def __init__(self):
        super().__init__()
        encoder = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
        self.left = nn.Sequential(encoder, nn.Linear(4, 2))
        self.right = nn.Sequential(encoder, nn.Linear(4, 2))

    def forward(self, x):
        return self.left(x) - self.right(x)


# %%
branches = TwoBranches()
encoder, visited = branches.left[0], []
branches.apply(visited.append)
print("visits of the encoder:               ", visited.count(encoder))
print("the encoder among modules():         ", list(branches.modules()).count(encoder))
draw_module_tree(branches, title="one encoder, two places")

# %% [markdown]
# Setting weights to 1 twice is harmless, registering a hook twice is not. The encoder runs twice, so the log should have two
# lines from it:

# %%
calls = []
branches.apply(lambda module: module.register_forward_hook(lambda m, args, output: calls.append(m)))
branches(torch.ones(1, 3))
print("lines in the log from the encoder:", calls.count(encoder))

# %% [markdown]
# ### Exercise: Visited twice, hooked once
# easy · 5 min · further
#
# Write `hook_once(model, hook)`. It registers `hook` as a forward hook on every module of `model`, the model itself included: once
# on each, even if it appears in several places. It returns the list of the handles. After the handles have been removed, the
# caller may call `hook_once` again. You need not use `apply`.
#
# ```python
# act = nn.Tanh()
# len(hook_once(nn.Sequential(act, nn.Sequential(act)), hook))  # 3
# ```


# %% nbgrader={"grade": false, "grade_id": "shared_modules", "locked": false, "schema_version": 3, "solution": true, "task": false}
def hook_once(model: nn.Module, hook) -> list:
    """Register `hook` as a forward hook on every module of `model`, once on each; return the list of the handles."""
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
# ### Replacing modules
#
# A module cannot replace itself. Its place is an attribute of its **parent** (lesson 01, 'Replacing a part'), so a function that
# replaces modules gets a parent, and changes the parent's children. Here the replacement is a **wrapper**: it keeps the old
# layer, and adds dropout. What goes wrong in a loop over `modules()`, and with `apply`?


# %%
def wrap_children(parent):
    for name, child in parent.named_children():
        if isinstance(child, nn.Linear):
            setattr(parent, name, nn.Sequential(child, nn.Dropout()))


attempt("parents first:", lambda: [wrap_children(module) for module in TwoBranches().modules()])
print(TwoBranches().apply(wrap_children).left[0])

# %% [markdown]
# Both ways visited the new wrappers, too. `modules()` shows a parent first, then the children that it has by then: the layer in
# the wrapper is wrapped again, and so on. `apply` visits children first. But it comes to the shared encoder twice, and the second
# time one of the encoder's children is the wrapper from the first visit.
#
# So **first look, then change:** list all places before you change the tree. `named_children()` hides the second place of a module
# within one parent. And a new module is in training mode, even if the model is not:

# %%
act = nn.ReLU()
net = nn.Sequential(act, nn.Linear(2, 2), act).eval()
print("named_children():", [name for name, _ in net.named_children()])
print("named_modules():  ", [name for name, _ in net.named_modules(remove_duplicate=False)])

net[1] = nn.Sequential(net[1], nn.Dropout())
print("in training mode:", [name for name, module in net.named_modules() if module.training])

# %% [markdown]
# ### Exercise: Another module at every place
# hard · 20 min · further
#
# Write `replace_modules(model, wanted, make)`. It puts `make(module)` at every place in `model`, at any depth, where
# `wanted(module)` is true, and it returns the model. A module in several places gets **one** replacement, from one call of
# `make`. What `make` returns is not searched again. A replacement and all modules inside it get the old module's mode. Given:
# `wanted(model)` is never true, and no wanted module is inside another.
#
# ```python
# replace_modules(nn.Sequential(nn.ReLU()), lambda module: isinstance(module, nn.ReLU), lambda old: nn.Tanh())  # Sequential((0): Tanh())
# ```


# %% nbgrader={"grade": false, "grade_id": "replace_modules", "locked": false, "schema_version": 3, "solution": true, "task": false}
def replace_modules(model: nn.Module, wanted, make) -> nn.Module:
    """Put `make(module)` at every place of the model where `wanted(module)` is true, and return the model."""
    ### BEGIN SOLUTION
    made = {}
    for name, old in list(model.named_modules(remove_duplicate=False)):
        if wanted(old):
            if old not in made:
                made[old] = make(old).train(old.training)
            model.set_submodule(name, made[old])
    return model
    ### END SOLUTION


net = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 2), nn.Tanh()))
replace_modules(net, lambda module: isinstance(module, nn.Linear), lambda old: nn.Sequential(old, nn.Dropout()))
print(net)

# %% nbgrader={"grade": true, "grade_id": "test_replace_modules", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
from course import check
check("replace_modules")

# %% [markdown]
# Your function also cures the deep net: it puts a batch norm behind each hidden layer. (This takes 200 steps here.)

# %%
hidden = lambda module: isinstance(module, nn.Linear) and module.out_features == 64
norm_behind = lambda old: nn.Sequential(old, nn.BatchNorm1d(64))
attempt("not written yet?", lambda: print("read correctly:", train(replace_modules(deep_net(), hidden, norm_behind), steps=200)))

# %% [markdown]
# ## Further: methods on objects (30 minutes)
#
# ### Another forward
#
# There are two ways to change what a module computes, and keep the module. **A forward hook that returns a value** replaces the
# output.
#
# **A `forward` on the object**, `module.forward = ...`, hides the class's `forward`; hooks still run. A function stored on an
# object gets no `self`, so bind the object yourself: `partial(rounded, layer)` calls `rounded` with `layer` as first argument.
#
# The next cell lets a net compute with rounded weights. The weights of a layer have at most seven values: 3 bits each. Does the net
# still read? And which of the two ways still runs the old `forward`? The cell counts operations:

# %%
from torch.utils.flop_counter import FlopCounterMode


def rounded(self, x):
    step = self.weight.abs().max() / 3  # from -3 steps to 3
    return F.linear(x, (self.weight / step).round() * step, self.bias)


torch.manual_seed(0)
reader = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
train(reader, lr=0.01)
for way in ("as it was", "hook", "forward"):
    net = copy.deepcopy(reader)
    for layer in (net[1], net[3]):
        if way == "hook":
            layer.register_forward_hook(lambda module, args, output: rounded(module, args[0]))
        if way == "forward":
            layer.forward = partial(rounded, layer)
    with FlopCounterMode(display=False) as counter:
        read = right(net)
    print(f"{way:9} read correctly {read}   operations {counter.get_total_flops():,}")

# %% [markdown]
# Use a hook if you need the old output, and a `forward` if the old computation should not run. The next exercise asks *when* such
# a `forward` reads the parameters: they may be replaced after you have stored it.
#
# ### Exercise: Every Function_* becomes linear
# medium · 12 min · further
#
# `W` and `X` have shape (2, 2).
#
# - `add_bias(module)` gives every `Function_*` a `Parameter` of its own, `b`, of shape (2,).
# - `linear_transformation(module)` makes every `Function_*` return `X @ W + b`, or `X @ W.T + b`, even when `W` and `b`
#   change or are replaced later; the classes stay as they are.
# - Apply `add_bias`, `weight_initialization` and `linear_transformation` to `model`, in this order: then every element of `W` and
#   `b` is 1. Keep what the last `apply` returns in `returned_module`.
#
# ```python
# model.ab.a(torch.ones(2, 2))  # tensor([[3., 3.], [3., 3.]])
# ```

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
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        nn.init.ones_(module.W)
        nn.init.ones_(module.b)


def linear_transformation(module):
    # TODO: make every Function_* return X @ W + b.
    ### BEGIN SOLUTION
    def linear(self, X):
        return X @ self.W + self.b

    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        module.forward = partial(linear, module)
    ### END SOLUTION


# TODO: three calls of `apply`. What the last one returns goes into `returned_module`.
### BEGIN SOLUTION
model.apply(add_bias)
model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_linear_everywhere", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("linear_everywhere")

# %% [markdown]
# ### A string for repr
#
# `print` writes a module's `extra_repr()` between the parentheses (lesson 01). You can store this method on an **object**, too.
# But `print()` looks for `__repr__` only on the **class**. The next exercise changes no computation. It asks *which name* your
# method needs, so that `print` calls it.

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
# ### Exercise: Names in the repr
# easy · 5 min · further
#
# If `module` is a `Function_*`, its repr after `add_repr(module)` shows in its parentheses what `function_repr(module)` returns,
# also when its `name` has changed. Other modules, and the classes, stay as they are. Apply `add_repr` to `model`, and keep what
# `apply` returns in `returned_module`.
#
# ```python
# print(model.ab.a)  # Function_A(name=duck)
# ```

# %% nbgrader={"grade": false, "grade_id": "named_repr", "locked": false, "schema_version": 3, "solution": true, "task": false}
model = Model()
returned_module = None


def function_repr(self):
    return f"name={self.name}"


def add_repr(module):
    # TODO: make every Function_* use `function_repr` for its repr.
    ### BEGIN SOLUTION
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        module.extra_repr = partial(function_repr, module)
    ### END SOLUTION


# TODO: apply `add_repr` to `model`. What `apply` returns goes into `returned_module`.
### BEGIN SOLUTION
returned_module = model.apply(add_repr)
### END SOLUTION

print(model)

# %% nbgrader={"grade": true, "grade_id": "test_named_repr", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("named_repr")

# %% [markdown]
# This text can also show a gradient, here for the first and the last hidden layer of the deep net:


# %%
def with_gradient(self):
    return f"{nn.Linear.extra_repr(self)}, gradient {self.weight.grad.norm():.0e}"


def add_gradient(module):
    if isinstance(module, nn.Linear):
        module.extra_repr = partial(with_gradient, module)


sick = first_gradients(deep_net()).apply(add_gradient)
print(sick[1][0], sick[20][0], sep="\n")

# %% [markdown]
# ### A copy that remembers the original
#
# To average a model's weights over the steps of training, you first copy the model. Does the copy keep a changed `forward`?
# `deepcopy` does not look into functions: a closure over `module` still holds the **old** module. The arguments of a `partial` are
# copied too.


# %%
def closing_over(module):  # a closure over the module
    module.register_forward_hook(lambda m, args, output: args[0] * module.W)


def by_argument(module):  # reads the module that was called
    module.register_forward_hook(lambda m, args, output: args[0] * m.W)


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
# The last exercise asks what *lasts*: does a stored `forward` survive a second `apply` and a copy?
#
# ### Exercise: Linear, in a lasting way
# medium · 10 min · further
#
# Write one function for `apply`: `make_linear(module)`. It gives every `Function_*`, with a `W` of any shape `(n, m)`, a
# `Parameter` `b` of `m` zeros, and makes it compute `linear_forward`. **Applied again**, it changes nothing. A **copy** made with
# `copy.deepcopy` computes with its own `W` and `b`. Other modules, the classes and everything outside `model` stay as they are.
#
# ```python
# model = Model(shape=(3, 3)).apply(make_linear).apply(make_linear)
# copy.deepcopy(model)(torch.ones(1, 3)).shape  # torch.Size([1, 3])
# ```

# %% nbgrader={"grade": false, "grade_id": "linear_any_weight", "locked": false, "schema_version": 3, "solution": true, "task": false}
model = Model(shape=(3, 3))


def linear_forward(self, X):
    return X @ self.W + self.b


def make_linear(module: nn.Module) -> None:
    """Make a Function_* compute X @ W + b with a Parameter b of its own; leave every other module alone."""
    ### BEGIN SOLUTION
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if "b" not in module._parameters:
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = partial(linear_forward, module)
    ### END SOLUTION


model.apply(make_linear)
print(model(torch.ones(1, 3)).shape)

# %% nbgrader={"grade": true, "grade_id": "test_linear_any_weight", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("linear_any_weight")

# %% [markdown]
# ## In short
#
# - `model.apply(fn)` calls `fn(module)` on every module, children first. It ignores what `fn` returns, and returns the model.
# - Set values in place, with autograd off. If you assign a new `Parameter`, the optimizer still holds the old one.
# - In a deep net with ReLUs, the initialisation decides whether the numbers keep their size: with the gain √2 they roughly do.
# - A forward hook replaces the output, after the old `forward` has run; a `forward` on the object replaces the computation.
# - To freeze a layer, switch off its parameters' gradients, and put it into eval mode.
#
# ## Where to go on
#
# - [PEFT](https://huggingface.co/docs/peft/quicktour) adds LoRA to Hugging Face models.
# - PyTorch's [transfer learning tutorial](https://docs.pytorch.org/tutorials/beginner/transfer_learning_tutorial.html) puts a new
#   head on a frozen ResNet, with real photographs.
#
# **Next:** lesson 05 looks inside a model that nobody lets you edit, ResNet-18.
#
# ### When this notebook is graded
#
# <!-- grading limits -->

# %%
progress()
