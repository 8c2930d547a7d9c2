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
# A network trains for a while, the loss stays at 2.30, apart from one dip, and nothing tells you why. You cannot put a
# `print` into its code, because the code is not yours. In this lesson you look inside it all the same.
#
# - **You will do** this: collect what goes into a module and what comes out, change it on the way, do the same with
#   gradients, find out what is wrong with a hook that many old tutorials still use, and write a context manager that
#   leaves no hook behind. Whoever wants to go further also writes a recorder of every hook in a model, and a reader
#   for old checkpoints.
# - **You will learn** which hook gets what, what it may return, in which order hooks run in nested modules, how to
#   take them off again, and where they fail.
# - **You need** lesson 01 (what a module is made of) and lesson 02 (hooks on tensors).
# - **Time** <!-- time and points -->.
# - **Stuck?** `hint()` in any cell gives the next step of help after a failed check; `hint("add_five")`, with an
#   exercise's id, helps you to begin.
# - **Out of scope** the hooks for all modules at once (`register_module_forward_hook` and its sisters),
#   `torch.compile`, and feature extraction from big models, which is the subject of lesson 05.

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import contextlib
import warnings
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter

from course import hint, progress, solution
from course.models import Add, Model
from course.sources import show_source

# %% [markdown]
# ## Why hook a module
#
# Here is such a training run. The network is an `nn.Sequential`, a class of PyTorch's own, so there is no `forward` of
# yours into which a `print` could go. It learns to read handwritten digits, or rather, it should:

# %%
from course.data import digits

pictures, labels = digits()  # 1,797 handwritten digits, 8 x 8 pixels each


def digit_net():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(64, 32), nn.ReLU(),
        nn.Linear(32, 32), nn.ReLU(),
        nn.Linear(32, 10),
    )


def train(net, lr, steps=100):
    """Gradient descent on all digits at once. Returns the losses and the share of digits that are read correctly."""
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(net(pictures), labels)
        net.zero_grad()
        loss.backward()
        with torch.no_grad():
            for parameter in net.parameters():
                parameter -= lr * parameter.grad
        losses.append(loss.item())
    return losses, (net(pictures).argmax(dim=1) == labels).float().mean().item()


losses, correct = train(digit_net(), lr=3.0)
print("loss, every tenth step:", " ".join(f"{loss:.2f}" for loss in losses[9::10]))
print(f"guessing would cost:    {torch.tensor(10.0).log():.2f}, which is ln 10")
print(f"digits read correctly:  {correct:.0%}")

# %% [markdown]
# The network only guesses: that costs 2.30, and about one digit in ten comes out right. The loss tells you *that* it has
# stopped learning, but not *where* things went wrong.
#
# A *module hook* can tell. It is a function that you register on a module from outside, and that PyTorch calls each
# time the module runs. The module's code stays as it is. This one puts aside what each ReLU puts out, while the same
# training runs once more:

# %%
from course.pictures.activations import draw_activation_histograms

net = digit_net()
history = {net[2]: [], net[4]: []}


def put_aside(module, args, output):
    history[module].append(output.detach())


handles = [relu.register_forward_hook(put_aside) for relu in history]
train(net, lr=3.0)
for handle in handles:
    handle.remove()  # the network is as it was

draw_activation_histograms({"the first ReLU": history[net[2]], "the second ReLU": history[net[4]]})

# %% [markdown]
# There it is. The line shows the share of values that are exactly 0. It starts at about a half, and long before the end
# it has reached nearly everything: the ReLUs have died. A dead ReLU puts out 0 for every picture and lets no gradient
# through, so whatever comes earlier cannot learn any more. The learning rate was far too large. At the end of the core path you
# will come back to this network and measure that as well.
#
# Hooks run because you *call* the module. `module(x)` runs the forward pre-hooks, then `forward`, then the forward
# hooks. `module.forward(x)` goes straight to the method and skips them all, so always write `module(x)`:

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
# Four kinds of hooks run around a module's work. PyTorch calls them, so it is PyTorch that decides what they get:
#
# | register with | runs | the hook gets | it may return |
# | --- | --- | --- | --- |
# | `register_forward_pre_hook` | before `forward` | `module, args` | new `args` |
# | `register_forward_hook` | after `forward` | `module, args, output` | a new `output` |
# | `register_full_backward_pre_hook` | in backward, before the module's own part | `module, grad_output` | a new `grad_output` |
# | `register_full_backward_hook` | in backward, after the module's own part | `module, grad_input, grad_output` | a new `grad_input` |
#
# A hook that returns `None`, or nothing, leaves everything as it is. `args`, `grad_input` and `grad_output` are tuples,
# even if there is only one tensor in them. `output` is whatever `forward` returned, a tensor or anything else.
#
# Tutorials often list five kinds of module hooks. Here they are, with the places where you meet them:
#
# 1. *forward pre-hooks*: in 'What a forward pre-hook may return'
# 2. *forward hooks*: in the next exercise
# 3. *backward hooks*, registered with `register_backward_hook`, which is deprecated: in 'The deprecated hook'
# 4. *full backward hooks*, which replace them, and today also full backward pre-hooks: in 'Hooks on the backward pass'
# 5. *state-dict hooks*, which run when a model is saved or loaded: in 'State-dict hooks'
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
# A common belief is that a forward hook takes two arguments, `hook(module, output)`: published notes show it like
# that. It takes **three**. Nobody looks when you register the hook, so the mistake shows at the first call only:


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
# easy · 6 min
#
# Collect what `add` works with, from outside: whenever somebody calls `add(x1, x2)`, three tensors come to the end of the
# list `answer`, namely `x1`, `x2` and the output, in this order. Both hooks only watch. Take what you store from the hooks'
# arguments: the check gives `add` other forwards, too.
#
# ```python
# add(torch.tensor([1.0]), torch.tensor([2.0]))
# answer  # [tensor([1.]), tensor([2.]), tensor([3.])]
# ```

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
from course import check
check("forward_answer")

# %% [markdown]
# ## What a forward hook may return
#
# A forward hook can also act. If it returns `None`, the output stays. If it returns anything else, **that** becomes
# the output, and the next hook, the next layer and the caller get it. Giving the name `output` another value inside
# the hook does nothing, because the name is local to the function.


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
# Be careful with short lambdas. A lambda always returns the value of its expression, whether you want that or not.
# This one was only meant to watch, and yet it replaces the output by a tuple of two `None`:

# %%
log = []
print(output_with(lambda module, args, output: (log.append(output), log.append(output.shape))))

# %% [markdown]
# Writing *into* the output, as in `output *= 2`, does work without `return`: it changes the tensor that everybody
# holds. That is also the trouble with it. In the first example the same memory is the module's input as well; in the
# second one backward still needs the old values:


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
# So return a new tensor. A module may have several hooks of a kind. They run in the order in which they were
# registered, and each gets what the one before it has returned. `prepend=True` puts a new hook before those that are
# there already:

# %%
layer = nn.Identity()
layer.register_forward_hook(lambda module, args, output: output + 1)
layer.register_forward_hook(lambda module, args, output: output * 10)
print("first + 1, then * 10:   ", layer(torch.tensor([1.0, 2.0])))
layer.register_forward_hook(lambda module, args, output: output - 1, prepend=True)
print("and - 1 before the two: ", layer(torch.tensor([1.0, 2.0])))

# %% [markdown]
# ### Exercise: Five more
# easy · 6 min
#
# Write the forward hook `hook` and register it on `add`, so that each call of `add(x1, x2)` returns 5 more than before.
# Add the 5 to what `forward` has returned: the check gives `add` other forwards, too.
#
# ```python
# add(torch.tensor([1.0]), torch.tensor([2.0]))  # tensor([8.])
# ```

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
from course import check
check("add_five")

# %% [markdown]
# ## Hooks on the backward pass
#
# A *full backward hook* sees gradients. `grad_output` holds the gradient of the loss with respect to each output of
# the module, `grad_input` the gradient with respect to each positional input. Gradients of the weights are in
# neither of them: you find those in `weight.grad`, as always.

# %%
torch.manual_seed(0)
linear = nn.Linear(3, 2)


def print_gradients(module, grad_input, grad_output):
    print("grad_input: ", [tuple(grad.shape) for grad in grad_input], " the shape of x")
    print("grad_output:", [tuple(grad.shape) for grad in grad_output], " the shape of the output")


linear.register_full_backward_hook(print_gradients)
x = torch.ones(4, 3, requires_grad=True)
linear(x).sum().backward()
print("weight.grad:", tuple(linear.weight.grad.shape), "  the shape of the weight")

# %% [markdown]
# A common belief is that a module hook sees a single operation inside the module, and not the module as a whole. For
# the hooks in the table that is not so. The lesson's second module makes **two** multiplications. Its hook sees what
# autograd says about both together:

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
# medium · 8 min
#
# Collect the gradients of `model`: whenever a backward pass goes through `model(x1, x2)`, the full backward hook
# `module_hook` adds three tensors to the list `answer`, namely the gradient that this pass brings back through `model` for
# `x1`, the one for `x2`, and the one for the output, in this order. The hook only watches.
#
# ```python
# # x1 = [2.], x2 = [3.], W = [5.]
# model(x1, x2).backward()
# answer  # [tensor([15.]), tensor([10.]), tensor([1.])]
# ```

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
from course import check
check("backward_answer")

# %% [markdown]
# `grad_input` holds the gradients of **positional** inputs only. What the caller passes by name has no entry:

# %%
two_products = Model()
two_products.register_full_backward_hook(
    lambda module, grad_input, grad_output: print("entries in grad_input:", len(grad_input))
)
x1, x2 = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
two_products(x1, x2).sum().backward()
two_products(x1, x2=x2).sum().backward()

# %% [markdown]
# ## What a full backward hook may return
#
# A full backward hook may return new gradients for the inputs: a tuple with **one entry for each positional input**.
# They flow on to whatever made the inputs. The module's own parameters do not notice, because their gradients follow
# from `grad_output`.


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

# %% [markdown]
# ### Exercise: Gradients that sum to one
# medium · 10 min
#
# Write the full backward hook `module_hook` and register it on `model`. In each backward pass it divides both input
# gradients by their sum, element by element: of the gradients `g1` and `g2`, `x1.grad` becomes `g1 / (g1 + g2)` and
# `x2.grad` becomes `g2 / (g1 + g2)`. The gradient of `W` stays as it was.
#
# ```python
# # x1 = [2.], x2 = [3.], W = [5.]
# model(x1, x2).backward()
# x1.grad, x2.grad  # tensor([0.6000]), tensor([0.4000])
# ```

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
from course import check
check("unit_grad_sum")

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
for told in caught:  # an old PyTorch, such as 2.6, says nothing
    print(told.category.__name__ + ":", str(told.message).split(". ")[0])

first.requires_grad_(False)  # frozen; the layer that comes later still learns
nn.Linear(2, 1)(first(torch.ones(1, 3))).sum().backward()
print("frozen: not a word from the hook")

# %% [markdown]
# The hook runs as soon as the gradient of the **output** is there. It does not wait for anything else: not even
# `weight.grad` has been written yet. `grad_input` keeps its place for the input, and holds `None` there. PyTorch warns
# you, since a hook that expects a tensor at this place will fail in the middle of backward. So there are three cases:
#
# | the module's input | its output | the hook runs | `grad_input` |
# | --- | --- | --- | --- |
# | requires a gradient | requires a gradient | when the gradient of the input is there | `(gradient,)` |
# | requires none | requires a gradient, because of the parameters | when the gradient of the output is there | `(None,)` |
# | requires none | requires none, because its parameters are frozen or it has none | never | - |
#
# You meet `None` at other places as well: in `grad_output` for an output that nobody uses, and in `grad_input` for an
# argument that is not a tensor. Data **beside** an input that requires a gradient shows zeros:

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
# The next exercise needs a hook with a list of its own. PyTorch decides what a hook gets, so the list cannot come in as
# an argument. But a function that is defined **inside** another function keeps sight of the outer one's variables, even
# after the outer one has returned. This is called a *closure*. Each call of the outer function makes new variables, so
# each layer below has a list of its own:


# %%
def shapes_put_out_by(layer):
    shapes = []  # made anew in each call

    def note(module, args, output):
        shapes.append(tuple(output.shape))

    layer.register_forward_hook(note)
    return shapes


one, two = nn.Linear(3, 4), nn.Linear(4, 1)
shapes_of_one, shapes_of_two = shapes_put_out_by(one), shapes_put_out_by(two)
for batch in (5, 7):
    two(one(torch.ones(batch, 3)))
print("one:", shapes_of_one)
print("two:", shapes_of_two)

# %% [markdown]
# ### Exercise: How large are the gradients?
# easy · 8 min
#
# Do the gradients of a deep network vanish on their way back? Write `gradient_sizes(layer)`. It registers a full
# backward hook on `layer` and returns a list. Each time that backward comes through the layer, the list gets one entry,
# a tuple or list of two: the norm of the gradient of the layer's **input**, then the norm of the gradient of its
# **output**. A norm is a number, `grad.norm().item()`, however small or large; a tensor that holds just this number is as
# good. If the input needs no gradient, there is none: then the first entry of the pair is `None`.
#
# It works for any layer with one input and one output, at any place, and each layer has a list of its own. The hook only
# watches: the data that flows through the layer, all gradients and hooks of others stay as they are.
#
# <details><summary>Fine print</summary>
#
# The layer may stand first, in the middle or last, run twice in one forward, or be a whole network. It computes in float32
# or float64. No operation changes its output in place: later in this lesson you see what that does to full backward hooks.
#
# </details>


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
from course import check
check("first_layer")

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
# medium · 10 min
#
# Two models get the same inputs, `x1 = [2.]` and `x2 = [3.]`. Register `collect` as a deprecated hook on one and as a full
# backward hook on the other. It puts the `grad_input` that it gets into `answer`, so that at the end two entries are there,
# each a tuple or list of two tensors: first what the deprecated hook showed, then the true gradients of the inputs. The cell
# runs both models for you.

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
from course import check
check("legacy_autopsy")

# %% [markdown]
# This is what you have found, drawn from a run:

# %%
from course.pictures.legacy import draw_legacy_comparison

draw_legacy_comparison(Model(), torch.tensor([2.0]), torch.tensor([3.0]))

# %% [markdown]
# The deprecated hook hangs on the **last operation** of the module, and takes that operation's inputs for the module's.
# In `Model` they are the product and `W`, not `x1` and `x2`. So its numbers are true gradients, but of other tensors,
# and nothing about them looks wrong.
#
# That solves a puzzle from published notes. There somebody puts the deprecated hook on the two layers of a small
# network, and wonders: the Linear layer takes 160 numbers and puts out 5, so why does its `grad_input` have the shape
# (1, 5)? And why does that of Conv2d hold three entries, one of them None? Here is the same network with both hooks:


# %%
class MyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 10, 2, stride=2)
        self.relu = nn.ReLU()
        self.fc1 = nn.Linear(160, 5)

    def forward(self, x):
        x = self.relu(self.conv(x))
        return self.fc1(x.view(-1))


def shape_of(grad):
    return "None" if grad is None else str(tuple(grad.shape))


def tell_grad_input(module, grad_input, grad_output):
    print(f"   {type(module).__name__:7}", ", ".join(shape_of(grad) for grad in grad_input))


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for register in ("register_backward_hook", "register_full_backward_hook"):
        print(register)
        my_net = MyNet()
        getattr(my_net.conv, register)(tell_grad_input)
        getattr(my_net.fc1, register)(tell_grad_input)
        out = my_net(torch.randn(1, 3, 8, 8))
        (1 - out.mean()).backward()

print("\nthe last operation of fc1:", MyNet().fc1(torch.ones(160)).grad_fn.name())

# %% [markdown]
# The full backward hook shows one entry for one input: (160,) for the Linear layer, and None for the convolution, which
# meets data. The deprecated hook shows what the last operation takes. For this Linear layer that operation is a mere
# change of view, from (1, 5) to (5,), so you see the gradient of the result and nothing of the input. For Conv2d it is
# the convolution itself, which takes the input (data, so None), the weight and the bias.
#
# Notes that say "`grad_input` of Linear and Conv holds the gradients of weight and bias" come from this hook alone. And
# not even that is reliable: which operation comes last in a Linear layer depends on the shape of its input, and on
# whether it has a bias:


# %%
def legacy_shapes(layer, x):
    shapes = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layer.register_backward_hook(lambda module, grad_input, grad_output: shapes.extend(map(shape_of, grad_input)))
        layer(x).sum().backward()
    return ", ".join(shapes)


for name, x in {
    "(4, 3)": torch.ones(4, 3, requires_grad=True),
    "(4, 3), data": torch.ones(4, 3),
    "(3,)": torch.ones(3, requires_grad=True),
    "(2, 4, 3)": torch.ones(2, 4, 3, requires_grad=True),
}.items():
    print(f"Linear(3, 2), input {name:13}", legacy_shapes(nn.Linear(3, 2), x))
print(f"without bias, input {'(4, 3)':13}", legacy_shapes(nn.Linear(3, 2, bias=False), torch.ones(4, 3, requires_grad=True)))

# %% [markdown]
# ## Handles: hooks that come off again
#
# A hook stays until somebody removes it. A module does not notice that it has a function already: registering it again
# gives a second hook. That is what happens when you run a notebook cell again that registers on an old module. You can
# look for yourself, since each module keeps its hooks in dicts of its own, one for each kind:

# %%
adder = Add()


def one_more(module, args, output):
    return output + 1


handles = [adder.register_forward_hook(one_more) for _ in range(3)]
print("three times registered:", adder(torch.zeros(1), torch.zeros(1)))
print("adder._forward_hooks:  ", [hook.__name__ for hook in adder._forward_hooks.values()])
print("adder._backward_hooks: ", dict(adder._backward_hooks))
for handle in handles:
    handle.remove()
print("all removed:           ", adder(torch.zeros(1), torch.zeros(1)))
print("adder._forward_hooks:  ", dict(adder._forward_hooks))

# %% [markdown]
# Those dicts are PyTorch's own business: look, but do not touch. Every `register_...` returns a *handle*, and its
# `remove()` takes off just this one hook. A handle is also a context manager: `with` removes the hook at the end of
# the block, even if an error ends it. Prefer this form for anything temporary.

# %%
with contextlib.suppress(ZeroDivisionError), adder.register_forward_hook(one_more):
    print("inside:", adder(torch.zeros(1), torch.zeros(1)))
    1 / 0
print("after: ", adder(torch.zeros(1), torch.zeros(1)))

# %% [markdown]
# For many hooks at once you write a context manager of your own. Python has two ways: a class with `__enter__` and
# `__exit__`, or a generator function that `yield`s once. The block of `with` runs at the `yield`, and an error in the
# block comes out of it. So whatever must happen in any case stands in `finally`:


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
# Errors have one more side. If `forward` itself raises an error, forward hooks do not run, so a tool that notes what
# begins (in a pre-hook) and what ends (in a forward hook) loses count. Register with `always_call=True`, and the hook
# runs all the same, with `None` for the output:

# %%
linear = nn.Linear(3, 2)
linear.register_forward_pre_hook(lambda module, args: print("begins"))
linear.register_forward_hook(lambda module, args, output: print("an ordinary hook"))
linear.register_forward_hook(lambda module, args, output: print("always_call, output:", output), always_call=True)
try:
    linear(torch.ones(4))  # takes 3 numbers, not 4
except RuntimeError as error:
    print("RuntimeError:", str(error).split(" (")[0])

# %% [markdown]
# ### Exercise: Hooks that never stay behind
# medium · 12 min
#
# Write the context manager `hooked(modules, hook)`, a generator function or a class. Inside `with hooked(modules, hook):`
# each module in the list `modules` has the forward hook `hook`. After the block these hooks are gone in any case, also after
# an error or `KeyboardInterrupt`, the stop button, which comes out of the block. Hooks of others stay, even those of the same
# function.
#
# ```python
# with hooked([net[0], net[2]], hook):
#     net(x)  # hook runs twice
# net(x)  # hook does not run
# ```


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
from course import check
check("hook_lifecycle")

# %% [markdown]
# ## Back to the run that died
#
# Now you have all that it takes to examine the network from the beginning: forward hooks that count zeros, full
# backward hooks that measure gradients, and `with`, which takes them off again. Both networks below have been trained,
# the second one with a smaller learning rate:


# %%
def examine(net):
    def count_zeros(module, args, output):
        print(f"   a ReLU puts out {(output == 0).float().mean().item():.0%} zeros")

    def measure(module, grad_input, grad_output):
        print(f"   a Linear layer gets a gradient of size {grad_output[0].norm().item():.1e}")

    with contextlib.ExitStack() as hooks:
        for layer in net:
            if isinstance(layer, nn.ReLU):
                hooks.enter_context(layer.register_forward_hook(count_zeros))
            if isinstance(layer, nn.Linear):
                hooks.enter_context(layer.register_full_backward_hook(measure))
        F.cross_entropy(net(pictures.clone().requires_grad_()), labels).backward()


for lr in (3.0, 0.5):
    net = digit_net()
    losses, correct = train(net, lr)
    print(f"learning rate {lr}: loss {losses[-1]:.2f}, {correct:.0%} of the digits are right")
    examine(net)

# %% [markdown]
# Forward comes first, so you read the ReLUs in the order of the network, and then the Linear layers from the loss
# back. In the dead network the gradient shrinks to less than a hundredth on its way to the earlier layers: they learn
# next to nothing, however long you train. With the smaller learning rate the gradient reaches all of them.
#
# This is the end of the core path. You can collect, change and measure what flows through any module, in both
# directions, and you leave no hook behind. It is a good place for a break, or for lesson 04.

# %% [markdown]
# # Further
#
# What follows is for those who want to steer a network with hooks, or write tools for other people's models. You
# can read each section on its own, so pick what you need.
#
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
# or a **pair**: the new `args` (a tuple) and the new `kwargs` (a dict). The last hook below gives `x2` a default value,
# which `Add` itself does not have:

# %%
adder = Add()
adder.register_forward_pre_hook(lambda module, args: print("without:", args))
adder.register_forward_pre_hook(lambda module, args, kwargs: print("with:   ", args, kwargs), with_kwargs=True)
result = adder(torch.ones(1), x2=torch.zeros(1))


def default_for_x2(module, args, kwargs):
    return args, {"x2": torch.tensor([7.0]), **kwargs}


adder = Add()
adder.register_forward_pre_hook(default_for_x2, with_kwargs=True)
print(adder(torch.tensor([1.0])), adder(torch.tensor([1.0]), x2=torch.tensor([2.0])))

# %% [markdown]
# ### Exercise: Turn one input down
# medium · 10 min · further
#
# How much does a model depend on its second input? Write `rescale_argument(module, factor)`, for a module whose forward
# takes `x1` and `x2`, as that of `Add` does. From now on it works with `factor * x2`, whether the caller passes `x2` by place
# or by name. The caller's own tensors stay as they are, and gradients flow back to them through the factor. Return the
# handle.
#
# ```python
# handle = rescale_argument(add, 0.5)
# add(torch.tensor([1.0]), x2=torch.tensor([2.0]))  # tensor([2.])
# handle.remove()
# add(torch.tensor([1.0]), x2=torch.tensor([2.0]))  # tensor([3.])
# ```


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
from course import check
check("rescale_argument")

# %% [markdown]
# ## Before or after the module's own part
#
# Backward goes through a module in three steps. First the gradient of the output arrives. From it autograd computes
# the gradients of the module's own parameters, and that of the input. Then the gradient of the input travels on to the
# earlier layers. One kind of backward hook stands before this work, the other one after it:
#
# ```text
#   from the loss
#        │
#        ▼
#   grad_output ──► full backward PRE-hook ──► own part: W.grad
#                                                   │
#                                                   ▼
#   earlier layers ◄── grad_input ◄── full backward hook
# ```
#
# Both may replace what they get. A full backward **pre**-hook returns a new `grad_output`, again a tuple with one
# entry for each output. Multiply by 10 at either place, and compare who notices:

# %%
try_backward_hook("none", lambda module, grad_input, grad_output: None)
try_backward_hook(
    "full backward hook",
    lambda module, grad_input, grad_output: tuple(grad * 10 for grad in grad_input),
)
try_backward_hook(
    "pre-hook",
    lambda module, grad_output: tuple(grad * 10 for grad in grad_output),
    "register_full_backward_pre_hook",
)

# %% [markdown]
# ### Exercise: Who still learns?
# medium · 14 min · further
#
# Train only a part of a network, with one hook for each wish:
#
# - `stop_in_front(module)`: the module itself learns as before, but the earlier layers get gradients of zero through it.
# - `stop_from_here(module)`: the module's own parameters get gradients of zero as well, all of them.
#
# Both return the handle; once it is removed, everything learns as before. Gradients that take another way around the module,
# as in `x + module(x)`, stay.
#
# ```python
# net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
# handle = stop_in_front(net[1])
# net(x).sum().backward()
# net[0].weight.grad  # zeros, and net[1].weight.grad as without the hook
# ```


# %% nbgrader={"grade": false, "grade_id": "backward_pre_or_post", "locked": false, "schema_version": 3, "solution": true, "task": false}
def stop_in_front(module):
    """`module` learns, the earlier layers get gradients of zero through it. Returns the handle."""
    ### BEGIN SOLUTION

    def zero_what_leaves(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return module.register_full_backward_hook(zero_what_leaves)
    ### END SOLUTION


def stop_from_here(module):
    """`module` and the earlier layers get gradients of zero. Returns the handle."""
    ### BEGIN SOLUTION

    def zero_what_arrives(module, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

    return module.register_full_backward_pre_hook(zero_what_arrives)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_backward_pre_or_post", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("backward_pre_or_post")

# %% [markdown]
# ## The order in nested modules
#
# Modules contain modules, and each level may have hooks. Which one comes first? The picture below runs one forward and
# one backward of a real network, with hooks of all four kinds on every module, and numbers them as they run. Forward
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
# Tensor hooks from lesson 02 join in at the place of their tensor. If a tensor has several, they run in the order in
# which they were registered, although backward itself goes the other way. Here a network for small pictures, `TestNet`,
# has a full backward hook on each layer, and two tensor hooks on what the ReLU puts out:

# %%
from course.models import TestNet

test_net, order = TestNet(), []
for name, layer in test_net.named_children():
    layer.register_full_backward_hook(lambda module, grad_input, grad_output, name=name: order.append(name))


def two_tensor_hooks(module, args, output):
    output.register_hook(lambda grad: order.append("first tensor hook"))
    output.register_hook(lambda grad: order.append("second tensor hook"))


test_net.relu.register_forward_hook(two_tensor_hooks)
test_net(torch.ones(1, 3, 8, 8, requires_grad=True)).sum().backward()
print(" -> ".join(order))

# %% [markdown]
# Did you notice `name=name` in that lambda? A hook gets its module, but not the module's name, because names belong to
# the model. So the name has to be handed over when the hook is registered. Beware of loops when you do that: a function
# looks a variable up when it **runs**, and by then the loop is over. This is called *late binding*. There are two
# cures. A default value, as in `name=name`, is fixed when the function is defined. And `partial(function, value)` makes
# a function whose first argument is filled in already:

# %%
net, told = nn.Sequential(nn.Linear(3, 3), nn.Tanh()), []
for name, module in net.named_children():
    module.register_forward_hook(lambda module, args, output: told.append(name))
net(torch.ones(3))
print("the loop's variable:", told)


def tell(own_name, module, args, output):
    told.append(own_name)


net, told = nn.Sequential(nn.Linear(3, 3), nn.Tanh()), []
for name, module in net.named_children():
    module.register_forward_hook(partial(tell, name))
net(torch.ones(3))
print("by partial:         ", told)

# %% [markdown]
# ### Exercise: A flight recorder
# hard · 15 min · further
#
# Write your own recorder. `event_log(model)` registers hooks of all four kinds on every module, and on the model
# itself, and returns a list. The list then grows with each forward and each backward pass, by one entry each time a hook
# runs: a pair `(kind, name)`.
#
# - `kind` is one of `"forward_pre"`, `"forward"`, `"backward_pre"` and `"backward"`.
# - `name` is what `model.named_modules()` calls the module: `"0.fc"` for the picture's first layer, `""` for the model.
#
# So one forward of `nn.Sequential(nn.Tanh())` gives `("forward_pre", "")`, `("forward_pre", "0")`, `("forward", "0")`,
# `("forward", "")`. A module that runs twice appears twice. One that stands at two places of the model is one module
# still: one hook of each kind, under its first name. Each model has a list of its own, and works as it did before, with
# the hooks that others have put on it.
#
# <details><summary>Fine print</summary>
#
# The model may be of any depth, be a single layer, or have an empty place, which holds None. No operation in it works in
# place, for a reason that the next section shows.
#
# </details>


# %% nbgrader={"grade": false, "grade_id": "event_log", "locked": false, "schema_version": 3, "solution": true, "task": false}
def event_log(model):
    """A list to which each hook of each module of `model` adds `(kind, name)` when it runs."""
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
from course import check
check("event_log")

# %% [markdown]
# ## Full backward hooks and in-place operations
#
# A full backward hook wraps what goes into the module and what comes out. A wrapped tensor must not be changed in
# place. So the hook fails on `nn.ReLU(inplace=True)`, and on the layer right before it. ResNet-18, which you meet in
# lesson 05, is built like that:

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
# fresh from the layer, **before** the next operation writes into it. That moment matters. When autograd records an
# in-place operation, the tensor stands for a new value afterwards, and a tensor hook stays with the value for which it
# was registered. The same tensor, hooked before and after an in-place ReLU:

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
# The earlier operation has made `[-1., 2.]`, and the ReLU lets no gradient through to the -1. So the first line is what
# you want. The other two lines show the gradient of the ReLU's result.
#
# One more trap: under `torch.no_grad()` the model runs, too, and its tensors require no gradient. Registering a tensor
# hook on one of those raises an error:

# %%
with torch.no_grad():
    output = nn.Linear(3, 2)(torch.ones(3))
print("requires_grad:", output.requires_grad)
try:
    output.register_hook(print)
except RuntimeError as error:
    print("RuntimeError:", error)

# %% [markdown]
# ### Exercise: Right before an in-place ReLU
# medium · 10 min · further
#
# Write `output_gradients(layer)`. It returns a list, to which each backward pass adds the gradient of what `layer` has put
# out, before anybody changed that in place. If the layer runs several times, each of its outputs has an entry of its own, in
# the order in which backward comes to them. Running the model under `torch.no_grad()` adds nothing and still works.
#
# ```python
# net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 1))
# gradients = output_gradients(net[0])
# net(torch.ones(5, 3)).sum().backward()
# gradients  # one tensor of the shape (5, 4)
# ```


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
from course import check
check("in_place_safe")

# %% [markdown]
# ## State-dict hooks: read old checkpoints
#
# Hooks can also run when a model is saved or loaded. They have nothing to do with forward and backward. *Saving* is a call
# of `state_dict()`, *loading* one of `load_state_dict()`:
#
# | register with | runs | the hook gets |
# | --- | --- | --- |
# | `register_state_dict_pre_hook` | before saving | `module, prefix, keep_vars` |
# | `register_state_dict_post_hook` | after saving | `module, state_dict, prefix, local_metadata` |
# | `register_load_state_dict_pre_hook` | before loading | `module, state_dict, prefix, local_metadata, strict`, and three lists: `missing_keys, unexpected_keys, error_msgs` |
# | `register_load_state_dict_post_hook` | after loading | `module, incompatible_keys` |
#
# They return nothing. Those that get a `state_dict`, a dict of names and tensors, change it in place. In it, the names of
# the module's own tensors start with `prefix`, the module's place in the model. So a hook that looks at `prefix` works at
# any depth. These two are nearly always all that you need. `strict` tells you nothing: it is `True` even where the caller
# loads with `strict=False`.
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


def add_scale(module, state_dict, prefix, local_metadata, strict, *three_lists):
    print(f"prefix {prefix!r}, strict {strict}, keys {list(state_dict)}")
    state_dict.setdefault(prefix + "scale", torch.ones(1))


old = {"fc.weight": torch.ones(1, 2), "fc.bias": torch.zeros(1)}
print(Head().load_state_dict(old))
inside = {f"parts.head.{name}": tensor for name, tensor in old.items()}
whole = nn.ModuleDict({"parts": nn.ModuleDict({"head": Head()})})
print(whole.load_state_dict(inside, strict=False))

# %% [markdown]
# ### Exercise: It was called something else
# medium · 14 min · further
#
# A layer was called `linear` when somebody saved the model; today it is called `fc`. Write `accept_old_name(module, old, new)`:
# from now on, when `module` or a model around it loads a checkpoint, what is saved for the module's `old` goes into its
# `new`, a child or a parameter. Names that only look alike, such as `linear2`, stay. New checkpoints load as before, and
# what is missing or too much is still reported.
#
# ```python
# accept_old_name(model.parts.head, "linear", "fc")
# # model.load_state_dict reads "parts.head.linear.weight" as "parts.head.fc.weight"
# ```


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
from course import check
check("state_dict_hooks")

# %% [markdown]
# ## Take this to work
#
# One row for each tensor that a layer puts out: its shape, its mean absolute value, and that of the gradient that
# reaches it. A layer whose numbers are 0, huge or `nan` is where to look first. The report is safe with in-place
# operations and with layers that run twice, leaves `.grad` alone, and leaves no hook behind. It knows outputs that are
# tensors, tuples, lists or dicts of tensors. A layer that the model uses without calling it, as attention does with its
# last Linear layer, has no row, because no hook runs.


# %%
def tensors_in(output):
    if torch.is_tensor(output):
        return [output]
    parts = output.values() if isinstance(output, dict) else output if isinstance(output, (tuple, list)) else []
    return [tensor for part in parts for tensor in tensors_in(part)]


def layer_report(model, *inputs):
    rows = []

    def watch(name, module, args, output):
        for tensor in tensors_in(output):
            row = {"layer": name, "shape": str(tuple(tensor.shape))}
            row["output"] = tensor.detach().abs().float().mean().item()
            rows.append(row)
            if tensor.requires_grad:
                # row=row: late binding, once more
                tensor.register_hook(lambda grad, row=row: row.update(gradient=grad.abs().mean().item()))

    with contextlib.ExitStack() as hooks:
        for name, module in model.named_modules():
            if not list(module.children()):
                hooks.enter_context(module.register_forward_hook(partial(watch, name)))
        # A plain sum would not do: after a LayerNorm it is constant, and its gradient zero.
        loss = sum((tensor * torch.randn_like(tensor)).sum() for tensor in tensors_in(model(*inputs)))
        parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        torch.autograd.grad(loss, parameters, allow_unused=True)
    for row in rows:
        sizes = (f"{key} {row[key]:<10.4f}" for key in ("output", "gradient") if key in row)
        print(f"{row['layer']:22}{row['shape']:16}", *sizes)


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(144, 2))
layer_report(net, torch.randn(2, 3, 8, 8))
print()
layer_report(nn.LSTM(3, 4), torch.randn(5, 2, 3))
print()
layer_report(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), torch.randn(2, 5, 8))

# %% [markdown]
# ### In your own words: Frozen, and still it moves
#
# 5 min
#
# A colleague wants to freeze the middle one of three linear layers, and leaves the others in training. He registers a
# full backward hook on it that returns zeros for `grad_input`. "That is the gradient of the layer," he says. After one
# step of plain SGD the middle layer has changed, and the first one has not.
#
# What is `grad_input` the gradient of, and what is it not? Say why the layer's own weight learned as before, why the
# first layer stands still, and which of the hooks of this lesson would not help him either, although it does reach the
# weight.
#
# Where this notebook is handed in, a person reads your answer. No check looks at it, and `progress()` does not count it.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_grad_input", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# `grad_input` is the gradient of the loss with respect to what went **into** the layer, not with respect to its weight and
# bias. The layer's own gradients are computed from `grad_output` and the kept input, before the full backward hook runs, so
# they are as ever. What the hook returns goes on to the earlier layers: zeros, so the first layer has gradient 0. A full
# backward *pre*-hook that returns zeros for `grad_output` does reach the weight, but the gradient of the input is computed
# from the same zeros, so it stops the first layer as well. To freeze one layer: `requires_grad_(False)`, or tensor hooks on
# its parameters.
#
# ### BEGIN MARK SCHEME
# - 2 points: `grad_input` belongs to the input and not to the parameters, **and** the parameters' gradients come from
#   `grad_output` (or: are computed before the hook). Names the pre-hook, with its side effect on the earlier layers.
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
# - `args`, `grad_input` and `grad_output` are tuples. A returned tuple replaces the whole tuple. Only a hook that is
#   registered with `with_kwargs=True` sees arguments passed by name.
# - An entry of `grad_input` or `grad_output` may be `None`, as it is in the first layer.
# - Use `register_full_backward_hook`. The one without *full* reports the last operation.
# - Keep the handle, or better, use `with`.
# - *Further:* a full backward hook changes what leaves the module, a full backward pre-hook what arrives: only the second
#   one reaches the module's own parameters.
# - *Further:* hooks of nested modules run like brackets. Names belong to the model, so hand them over when you register.
# - *Further:* if operations work in place, put a tensor hook on the output instead of a full backward hook.
# - *Further:* hooks on loading repair old checkpoints. Mind the `prefix`.
#
# **Next:** lesson 04 visits every module of a model with `apply`, to initialise, extend and rewire it.
#
# #### When this notebook is graded
#
# <!-- grading limits -->

# %%
progress()
