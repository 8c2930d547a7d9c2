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
# A network learns to read digits. Then its loss explodes, falls to the level of guessing, and stays there. Without touching its code, you
# will find out which layer died, when, and why. Then a hook keeps the net alive.
#
# - **You will do:** read and change what flows through modules.
# - **You will learn:** what each kind of hook gets.
# - **You need:** lessons 01 and 02.
# - **Time:** <!-- time and points -->.
# - **Stuck?** Call `hint()` after a failed check, or `hint("add_five")` before you begin.
# - **Out of scope:** hooks for all modules at once, and `torch.compile`.

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import contextlib
import warnings
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F

from course import hint, progress, solution
from course.gpt import Block, TinyGPT
from course.models import Add, Model
from course.pictures.curves import draw_curves
from course.pictures.feature_maps import draw_digits
from course.sources import show_source

torch.set_num_threads(1)  # nets as small as these run fastest on one thread

# %% [markdown]
# ## A net that dies

# %%
from course.data import digit_batches

pictures, labels = next(iter(digit_batches()))  # the first of a hundred batches, always the same
draw_digits(pictures[:10], [str(label.item()) for label in labels[:10]], title="What the net learns to read")


# %%
def digit_net(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(64, 64), nn.ReLU(),
        nn.Linear(64, 64), nn.ReLU(),
        nn.Linear(64, 10),
    )


def train(net, forget_after=None, layer=0):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for step, (pictures, labels) in enumerate(digit_batches()):
        loss = F.cross_entropy(net(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step == forget_after:
            for parameter in net[layer].parameters():
                optimizer.state.pop(parameter)  # this layer's momentum starts again from 0
    return losses


losses = train(digit_net())
print("loss, every tenth step:", " ".join(f"{loss:.2f}" for loss in losses[9::10]))
print(f"guessing would give:    {torch.tensor(10.0).log():.2f}, which is ln 10")

# %% [markdown]
# The loss says *that* the net has stopped, not *where*. A *module hook* can tell: you register a function on a module,
# and PyTorch calls it each time the module runs.
#
# ## Which hook gets what
#
# A module has four places for hooks:
#
# ```text
#                ┌───────────────────── module ─────────────────────┐
#   args ───────►│ pre-hook ──►         forward         ──►    hook │───────► output
#                │                                                  │
#   grad_input ◄─│ hook  ◄── gradients of its weights ◄──  pre-hook │◄─ grad_output
#                └──────────────────────────────────────────────────┘
# ```
#
# | register with | the hook gets | it may return |
# | --- | --- | --- |
# | [`register_forward_pre_hook`](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_forward_pre_hook) | `module, args` | new `args` |
# | [`register_forward_hook`](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_forward_hook) | `module, args, output` | a new `output` |
# | [`register_full_backward_pre_hook`](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_pre_hook) | `module, grad_output` | a new `grad_output` |
# | [`register_full_backward_hook`](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook) | `module, grad_input, grad_output` | a new `grad_input` |
#
# A hook that returns `None` lets the value through. `args`, `grad_input` and `grad_output` are tuples.
#
# Here is one run of a small net, forward and backward, with a hook of each kind on each module. The numbers give the order of the
# hooks. A star shows when the gradient of a weight is ready. The input requires a gradient. Which hook runs last?

# %%
from course.pictures.timeline import draw_hook_timeline

net = nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1))
draw_hook_timeline(net, torch.ones(1, 3, requires_grad=True), weights=True)

# %%
show_source(Add)

# %% [markdown]
# ### Exercise: What goes in, what comes out
# easy · 6 min
#
# With hooks, collect the inputs and the output of `add`: each call `add(x1, x2)` appends three tensors to the list `answer`,
# namely `x1`, `x2` and the output, in this order. Both hooks only watch. Store what the hooks get, compute nothing: the check also
# tries a different `forward` in `add`.
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
# Hooks run because you *call* the module. `module.forward(x)` goes straight to the method and skips them:

# %%
net, calls = digit_net(), []
net[4].register_forward_hook(lambda module, args, output: calls.append(f"{(output > 0).float().mean():.0%} of its outputs are not 0"))
inside = net[:4](pictures)
net[4](inside)
print("net[4](inside):        ", calls)
calls.clear()
net[4].forward(inside)
print("net[4].forward(inside):", calls)

# %% [markdown]
# ## Which layer died, and when?
#
# A ReLU that returns only zeros lets no gradient through. If it stays so, it is *dead*. You need `named_modules`, closures,
# `partial` and handles.
#
# ### Exercise: Which layer died, and when?
# medium · 12 min
#
# Write `first_to_die(net, train)`. In each step, `train` runs `net` and each of its ReLUs once. The function runs `train(net)`
# once, and returns a pair: the name of the ReLU that was the first to return only zeros (for one batch), and the step, counted
# from 0. If several die in one step, name the one that runs first. If none dies, return `None`. Afterwards none of the function's
# hooks is left; other hooks stay.
#
# ```python
# first_to_die(digit_net(), train)  # a pair, such as ("2", 17)
# ```


# %% nbgrader={"grade": false, "grade_id": "first_to_die", "locked": false, "schema_version": 3, "solution": true, "task": false}
def first_to_die(net, train):
    """The name of the ReLU that is the first to return only zeros while `train(net)` runs, and the step."""
    ### BEGIN SOLUTION
    steps, died = [], []

    def look(name, module, args, output):
        if not output.any():
            died.append((name, len(steps) - 1))

    with contextlib.ExitStack() as hooks:
        hooks.enter_context(net.register_forward_pre_hook(lambda module, args: steps.append("begun")))
        for name, module in net.named_modules():
            if isinstance(module, nn.ReLU):
                hooks.enter_context(module.register_forward_hook(partial(look, name)))
        train(net)
    return died[0] if died else None
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_first_to_die", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("first_to_die")

# %%
first_to_die(digit_net(), train) or "first_to_die is not solved yet"  # which layer died first, and in which step?

# %% [markdown]
# Here is what hooks on the two ReLUs see. Values above 6 are drawn as 6:

# %%
from course.pictures.activations import draw_activation_histograms

dead = digit_net()
history = {dead[2]: [], dead[4]: []}


def put_aside(module, args, output):
    history[module].append(output.detach().clamp(max=6))


with dead[2].register_forward_hook(put_aside), dead[4].register_forward_hook(put_aside):
    losses = train(dead)

draw_activation_histograms({"2, the first ReLU": history[dead[2]], "4, the second ReLU": history[dead[4]]})

# %% [markdown]
# Something must have happened a few steps before the death. What would you look at?

# %%
largest = [pictures.max().item() for pictures, labels in digit_batches()]
print({step: value for step, value in enumerate(largest) if value != 1})

# %% [markdown]
# The pixels of one batch go up to 255, not 1. Is that the cause? A forward **pre-hook** may return new arguments, here a repaired
# batch. The dead net gets this hook, too:


# %%
def divide(module, args):
    (batch,) = args
    return batch / 255 if batch.max() > 1 else None


alive = digit_net()
with alive.register_forward_pre_hook(divide):
    in_time = train(alive)
with dead.register_forward_pre_hook(divide):
    too_late = train(dead)
runs = {"as it was": losses, "the batch repaired": in_time, "the dead net, with the batch repaired": too_late}
draw_curves(runs, title="Loss of each step", most=3)

# %% [markdown]
# That batch was the cause: once it is repaired, the net learns. How does the batch kill the second ReLU, behind layer 3?
# Hooks on layer 3 show the norm of its weight's gradient, the mean of its inputs, and the share of its positive outputs. The ReLU
# is silent from step 64 on (it returns only zeros), so from then on the gradient is 0. **Stop and predict:** do the inputs still
# grow?

# %%
def watch_layer_3(train):
    watched, gradients, inputs, positive = digit_net(), [], [], []
    watched[3].weight.register_hook(lambda grad: gradients.append(grad.norm().item()))
    watched[3].register_forward_hook(lambda module, args, output: inputs.append(args[0].mean().item()))
    watched[3].register_forward_hook(lambda module, args, output: positive.append((output > 0).float().mean().item()))
    losses = train(watched)
    for step in range(59, 67):
        print(f"step {step}: gradient {gradients[step]:<6.2g} inputs {inputs[step]:<6.2f} positive {positive[step]:.0%}")
    print(f"loss of the last step: {losses[-1]:.2f}")


watch_layer_3(train)

# %% [markdown]
# - **Step 60:** the inputs are 240 times as large as in step 59, and the gradient 300 times.
# - **Steps 61 to 63:** the batches are good again. But step 60 has moved the weights so far that the inputs and the gradients are
#   still too large, and fewer and fewer outputs are positive.
# - **Step 64:** no output is positive for any picture, and the ReLU sends back only zeros.
# - **Step 65:** the inputs are still growing, although step 64 had a gradient of 0: **momentum** repeats the earlier pushes.
#
# Momentum repeats the large push of step 60 in each layer. Which layer's repeated push silences the ReLU? Eight such nets, with other
# random weights, train four times each: once as before, then with one layer that forgets its push.

# %%
def silent(train):
    return sum(bool(first_to_die(digit_net(seed), train)) for seed in range(8))


print(f"no layer forgets: in {silent(train)} of 8 nets a ReLU falls silent")
for layer in (1, 3, 5):
    print(f"layer {layer} forgets:  in {silent(partial(train, forget_after=60, layer=layer))} of 8 nets")
if not first_to_die(digit_net(), train):
    print("0 each time, because first_to_die is not solved yet")
print("if layer 1 forgets:")
watch_layer_3(partial(train, forget_after=60, layer=1))

# %% [markdown]
# It is the repeated push of **layer 1**, which makes the inputs of layer 3. If layer 1 forgets its push, these inputs shrink, and no
# ReLU falls silent in any of the eight nets; if layer 5 forgets, in four; if layer 3 forgets, in all eight. Without the push of
# layer 1, too, the net has lost what it had learned (its loss is that of guessing), but it still has gradients. Why does the dead net
# not recover with good batches?
#
# ## Hooks on the backward pass
#
# A *full backward hook* sees gradients: `grad_output` has one for each output of the module, `grad_input` one for each positional
# input. Neither has the gradients of the weights. Here `measure` is on each Linear layer of both nets. **Write the line** that
# prints `name` and the norm of the gradient that arrives at the layer's output. Where is the norm 0?


# %%
def gradient_sizes(net):
    def measure(name, module, grad_input, grad_output):
        pass  # Your line here.

    net.zero_grad()
    layers = [(name, layer) for name, layer in net.named_children() if isinstance(layer, nn.Linear)]
    handles = [layer.register_full_backward_hook(partial(measure, name)) for name, layer in layers]
    with warnings.catch_warnings(action="ignore"):  # about layer 1: see 'The first layer'
        F.cross_entropy(net(pictures), labels).backward()
    for handle in handles:
        handle.remove()


print("the net that lives, from the loss back")
gradient_sizes(alive)
print("the dead net")
gradient_sizes(dead)
print("its last layer learns: weight", dead[5].weight.grad.any().item(), "| bias", dead[5].bias.grad.any().item())

# %% [markdown]
# One line that does it: `print(name, grad_output[0].norm().item())`. The dead ReLU returns zeros for every picture, so each layer
# before it gets a gradient of exactly 0. `train(dead)` made a new optimizer, without the old momentum: these layers do not
# change. The last layer gets a gradient, but its inputs are all zeros: it can only learn its bias, that is, how often each digit
# occurs.
#
# A full backward hook sees a module as a whole. This module has two products:

# %%
show_source(Model)

# %% [markdown]
# ### Exercise: Gradients at both ends
# medium · 8 min
#
# Each backward pass through `model(x1, x2)` calls the full backward hook `module_hook`. The hook appends three gradients to the
# list `answer`, in this order: what comes back through `model` for `x1`, what comes back for `x2`, and the gradient of the output.
# The hook only watches.
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
# ## The first layer: no input needs a gradient
#
# The first layer of nearly every network gets **data**, which requires no gradient. Here is the picture of the hooks' order again,
# with data as input. When does the full backward hook of `Sequential` run now?

# %%
draw_hook_timeline(nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1)), torch.ones(1, 3), weights=True)

# %% [markdown]
# It is number 10, and runs before the backward of all modules inside. The next cell runs one layer three times. **Stop and
# predict:** in which runs does the hook print, what is in `grad_input`, and is there a `weight.grad` by then?

# %%
first = nn.Linear(3, 2)


def tell(module, grad_input, grad_output):
    print("grad_input: ", grad_input)
    print("grad_output:", grad_output[0].tolist())
    print("weight.grad:", module.weight.grad)


first.register_full_backward_hook(tell)
with warnings.catch_warnings(action="ignore"):
    print("1. data")
    first(torch.ones(1, 3)).sum().backward()
    first.zero_grad()
    print("2. an input that requires a gradient, passed by keyword")
    first(input=torch.ones(1, 3, requires_grad=True)).sum().backward()

print("3. data, a frozen layer; the next layer learns")
first.requires_grad_(False)
nn.Linear(2, 1)(first(torch.ones(1, 3))).sum().backward()

# %% [markdown]
# | the module's input | its output | the hook runs | `grad_input` |
# | --- | --- | --- | --- |
# | requires a gradient | requires a gradient | when the gradient of the input is ready (never, if backward does not compute it) | `(gradient,)` |
# | requires none | requires a gradient, because of the parameters | as soon as the **output** gradient is ready, before `weight.grad` | `(None,)` |
# | any | requires none (frozen parameters and data, or `no_grad`) | never | - |
#
# An argument passed by keyword is no input here: `grad_input` has no entry for it.
#
# ## What a forward hook may return
#
# If a forward hook returns a value other than `None`, that value becomes the output, and the next hook gets it.
# `output = ...` only rebinds a local name: the caller does not notice. `watch` below should only watch, but a lambda returns
# the value of its expression, here a tuple. All these hooks are on the second ReLU of the net that lives:


# %%
def loss_with(*hooks):
    with contextlib.ExitStack() as stack:
        for hook in hooks:
            stack.enter_context(alive[4].register_forward_hook(hook))
        return f"loss {F.cross_entropy(alive(pictures), labels).item():.2f}"


def only_rebinds_the_name(module, args, output):
    output = torch.zeros_like(output)


log = []
watch = lambda module, args, output: (log.append(output), log.append(output.shape))
print("no hook:          ", loss_with())
print("zeros are a value:", loss_with(lambda module, args, output: 0 * output))
print("* 0, then + 1:    ", loss_with(lambda module, args, output: 0 * output, lambda module, args, output: output + 1))
print("name rebound:     ", loss_with(only_rebinds_the_name))
try:
    loss_with(watch)
except TypeError as error:
    print("meant to watch:   ", error)

# %% [markdown]
# Writing *into* the output, as in `output *= 2`, needs no `return`. But it changes the tensor for everybody who holds it. If
# backward needs the old values, backward raises an error. Return a new tensor.
#
# In a faulty net the bias of layer 3 is 5 too low. Which ReLU dies, and when?


# %%
def faulty_net():
    net = digit_net()
    with torch.no_grad():
        net[3].bias -= 5
    net.register_forward_pre_hook(divide)
    return net


print("the first ReLU to die:", first_to_die(faulty_net(), train) or "(first_to_die is not solved yet)")

# %% [markdown]
# A hook that adds 5 to the output of layer 3 can repair this net. Write the hook for `Add` first.
#
# ### Exercise: Five more
# easy · 6 min
#
# Write the forward hook `hook` and register it on `add`, so that each call `add(x1, x2)` returns 5 more than before. Add the 5 to
# what `forward` has returned: the check also tries a different `forward` in `add`.
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

# %%
faulty, repaired = faulty_net(), faulty_net()
with repaired[3].register_forward_hook(hook):
    runs = {"as it is": train(faulty), "with your hook": train(repaired)}
print(f"afterwards, without the hook: loss {F.cross_entropy(repaired(pictures), labels).item():.2f}")
if runs["as it is"] == runs["with your hook"]:
    print("both curves are the same, because add_five is not solved yet")
draw_curves(runs, title="Loss of a net with a bias 5 too low")

# %% [markdown]
# The hook has repaired the outputs, not the net: without the hook, nearly all outputs of the second ReLU are 0.
#
# ## What a full backward hook may return
#
# A full backward hook may return new gradients for the inputs: a tuple with **one entry for each positional input**. They flow on
# to the operations that made the inputs. They do not change the gradients that this call adds to the module's own parameters:
# autograd computes these from `grad_output`, which a pre-hook can change. Return new tensors: for a sum, both entries are *one*
# tensor, so writing into it changes both.


# %%
def try_backward_hook(name, hook, module, register="register_full_backward_hook"):
    getattr(module, register)(hook)
    x1, x2 = torch.tensor([2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)
    module(x1, x2).backward()
    tensors = {"x1": x1, "x2": x2, **dict(module.named_parameters())}
    print(f"{name:22}", "   ".join(f"{key}.grad {tensor.grad.item():5}" for key, tensor in tensors.items()))


def returns(module, grad_input, grad_output):
    return grad_input[0] * 10, grad_input[1]


def writes(module, grad_input, grad_output):
    grad_input[0].mul_(10)


try_backward_hook("None", lambda module, grad_input, grad_output: None, Model())
try_backward_hook("pre-hook", lambda module, grad_output: (grad_output[0] * 10,), Model(), "register_full_backward_pre_hook")
try_backward_hook("two gradients", returns, Model())
try_backward_hook("two gradients, Add", returns, Add())
try_backward_hook("written into, Add", writes, Add())

# %% [markdown]
# A **gated** layer multiplies a value by a gate between 0 and 1, as `Model` can. Which of the two gets more of the gradient? If
# they get `g1` and `g2`, the value's share is `g1 / (g1 + g2)`. No value and no gate is negative here, so `g1` and `g2` have the
# same sign, and a share is between 0 and 1. Your hook returns the shares in place of the gradients. A second hook then averages
# them.
#
# ### Exercise: Gradients that sum to one
# medium · 10 min
#
# Write the full backward hook `module_hook` and register it on `model`. In each backward pass it divides both input gradients `g1`
# and `g2` by their sum, element by element: `x1.grad` becomes `g1 / (g1 + g2)` and `x2.grad` becomes `g2 / (g1 + g2)`. The
# gradient of `W` stays as it was. Both inputs have the same shape and dtype; no sum is 0.
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

# %%
torch.manual_seed(0)
value, gate, multiply, scores, shares = nn.Linear(64, 64), nn.Linear(64, 64), Model(), nn.Linear(64, 10), []
multiply.register_full_backward_hook(module_hook)  # yours first: the next hook gets what it returns
multiply.register_full_backward_hook(lambda module, grad_input, grad_output: shares.extend(grad.mean() for grad in grad_input))
x = pictures.flatten(1)
F.cross_entropy(scores(multiply(value(x).relu(), gate(x).sigmoid())), labels).backward()
print("shares, on average: value {:.0%}, gate {:.0%}".format(*shares))
if sum(shares) < 0.9:
    print("no shares, because unit_grad_sum is not solved yet")

# %% [markdown]
# In a product, each factor gets the gradient times the *other* factor. Half of the values are 0: there, the value gets 100%. Most
# other values are smaller than their gates, so there, too, the value gets more: 73% on average. Together: 87%.
#
# ## Hook the output tensor
#
# Here is a small GPT. Which of its modules run, but never call their full backward hook?

# %%
show_source(Block, TinyGPT)

# %%
gpt, tokens = TinyGPT(), torch.tensor([[4, 0, 7, 2, 9]])
ran, heard = [], []
for name, module in gpt.named_modules():
    module.register_forward_hook(lambda module, args, output, name=name: ran.append(name))
    module.register_full_backward_hook(lambda module, grad_input, grad_output, name=name: heard.append(name))

with warnings.catch_warnings(record=True, action="always") as caught:
    gpt(tokens).sum().backward()
print(f"{len(ran)} modules ran; silent:", [name for name in ran if name not in heard])
print("only a warning:", *{str(one.message).split(" but ")[0] for one in caught if "dict" in str(one.message)})

# %% [markdown]
# The blocks are silent: they return a dict. `nn.LSTM` returns a tuple in a tuple, `(output, (h, c))`. Does PyTorch warn here?

# %%
lstm, heard = nn.LSTM(3, 4), []
lstm.register_full_backward_hook(lambda module, grad_input, grad_output: heard.append(module))
for loss_uses in ("output", "h"):
    with warnings.catch_warnings(record=True, action="always") as caught:
        output, (h, c) = lstm(torch.ones(5, 3, requires_grad=True))
    {"output": output, "h": h}[loss_uses].sum().backward()
    print(f"loss of {loss_uses}: calls of the hook so far {len(heard)}, warnings {len(caught)}")

# %% [markdown]
# A full backward hook works for tensors that the module returns directly, or directly in a **tuple**. For a tuple in a tuple,
# PyTorch does not even warn. One cure fits every container: in a forward hook, put a tensor hook on the tensor, if it requires a
# gradient. **Write the line** that registers `tell_shape` on `output["hidden"]`. Each block prints `(1, 5, 32)`.


# %%
def hook_what_is_inside(name, module, args, output):
    def tell_shape(grad):
        print(name, tuple(grad.shape))

    # Your line here.


gpt = TinyGPT()  # a new one, without the hooks from above
for name, block in gpt.blocks.named_children():
    block.register_forward_hook(partial(hook_what_is_inside, f"blocks.{name}"))
gpt(tokens).sum().backward()

# %% [markdown]
# One line that does it: `output["hidden"].register_hook(tell_shape)`.
#
# ## Handles: how to remove hooks
#
# A handle is also a context manager. For many hooks, write one of your own: a class with `__enter__`
# and `__exit__`, or a [generator function](https://docs.python.org/3/library/contextlib.html#contextlib.contextmanager) that
# `yield`s once. The block of `with` runs at the `yield`, and its errors are raised there. Code that must always run goes into
# `finally`:


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
# medium · 12 min
#
# Write the context manager `hooked(modules, hook)`, a generator function or a class. Inside `with hooked(modules, hook):` each
# module in the list `modules` has the forward hook `hook`. After the block these hooks are always gone, even after an error or a
# `KeyboardInterrupt` (the stop button); the caller still gets that error. Other hooks stay, even those with the same function.
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
    # If you write a class, delete the line with @.
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
# ### In your own words: Frozen, and still it moves
#
# 5 min
#
# A colleague wants to freeze the middle one of three linear layers and to train the others. On this layer he registers a full
# backward hook that returns zeros for `grad_input`. "That is the gradient of the layer," he says. After one step of plain SGD the
# middle layer has changed, and the first one has not.
#
# Which gradient is in `grad_input`, and which one does he expect there? Why did the layer's own weight learn as before, and why
# did the first layer not learn? Which other kind of module hook changes the weight's gradient, but would still not help him?

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_grad_input", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# `grad_input` is the gradient of the loss with respect to what went **into** the layer, not with respect to its weight and bias.
# The layer's own gradients are computed from `grad_output` and the kept input, before the full backward hook runs, so they do not
# change. The hook returns zeros. These go on to the earlier layers, so the first layer has gradient 0. A full backward *pre*-hook
# that returns zeros for `grad_output` does reach the weight, but the gradient of the input is computed from the same zeros, so
# the first layer stops as well. To freeze one layer: `requires_grad_(False)`, or tensor hooks on its parameters.
#
# ### BEGIN MARK SCHEME
# - 2 points: `grad_input` belongs to the input and not to the parameters, **and** the parameters' gradients come from
#   `grad_output` (or: are computed before the hook). Names the pre-hook, with its side effect on the earlier layers.
# - 1 point: `grad_input` told apart from the parameters' gradient, without the reason or without the pre-hook.
# - Common wrong explanations, 0 points for that part: `grad_input` holds the weight's gradient at another index; the hook's
#   return value is ignored; the optimizer's weight decay or momentum moved the weight.
# ### END MARK SCHEME
# ### END SOLUTION

# %% [markdown]
# ## Further: a report of any model
#
# The core path ends here.
#
# | part | it helps when | minutes |
# | --- | --- | --- |
# | a report of any model | you ask which layers are ill | 3 |
# | what goes in, what goes back | you change what a module gets, or which part learns | 30 |
# | layers that write in place | a backward hook raises an error, or is silent | 14 |
# | old tutorials, old checkpoints | you read what was written for another version | 23 |
#
# In a colleague's GPT, `layer_report` puts the hook below on each module without children, and calls your function `compute_loss`
# once. For each tensor that a module returns, the report has a row: the mean absolute values of the tensor and of its gradient.
# **Two things are wrong. Where, and how?**

# %%
from course.patient import ill_gpt, layer_report, watch_tensors

show_source(watch_tensors)

# %%
gpt = ill_gpt()
layer_report(gpt, lambda: F.cross_entropy(gpt(tokens)[0, :-1], tokens[0, 1:]))

# %% [markdown]
# The GELU `mlp.1` is dead: the bias of `mlp.0` is 30 too low. The modules in `heads.1` get no gradient: a forgotten forward hook
# detaches the head's output. It is in `gpt.blocks[0].heads[1]._forward_hooks`.
#
# The report changes no `.grad`, and leaves no hook behind. But in training mode a run updates BatchNorm's statistics. So make a
# deep copy first, pass the copy to `layer_report`, and let `compute_loss` run the copy, too.
#
# ## Further: what goes in, what goes back
#
# ### What a forward pre-hook may return
#
# What a pre-hook returns replaces **all** positional arguments: two inputs need a tuple of two. A single tensor counts as one
# argument:

# %%
for new in (lambda x1, x2: (x1 + 100, x2), lambda x1, x2: x1 + 100):
    adder = Add()
    adder.register_forward_pre_hook(lambda module, args: new(*args))
    try:
        print("a tuple of two:", adder(torch.tensor([1.0]), torch.tensor([10.0])))
    except TypeError as error:
        print("one tensor:     TypeError:", error)

# %% [markdown]
# Arguments that the caller passes **by keyword** are not in `args`. If you register a pre-hook with `with_kwargs=True`, it also
# gets a dict of these. It then returns `None` or a **pair**: the new `args` and the new `kwargs`.

# %%
adder = Add()
adder.register_forward_pre_hook(lambda module, args: print("without:", args))
adder.register_forward_pre_hook(lambda module, args, kwargs: print("with:   ", args, kwargs), with_kwargs=True)
_ = adder(torch.ones(1), x2=torch.zeros(1))

# %% [markdown]
# ### Exercise: Scale one input
# medium · 12 min · further
#
# How much does a model depend on its second input? Write `rescale_argument(module, factor)` for a module that takes `x1` and `x2`,
# as `Add` does. After the call, the module works with `factor * x2`, whether the caller passes `x2` by position or by keyword. The
# caller's own tensors stay as they are, and gradients flow back to them through the factor. Return the handle.
#
# ```python
# handle = rescale_argument(add, 0.5)
# add(torch.tensor([1.0]), x2=torch.tensor([2.0]))  # tensor([2.])
# handle.remove()
# add(torch.tensor([1.0]), x2=torch.tensor([2.0]))  # tensor([3.])
# ```


# %% nbgrader={"grade": false, "grade_id": "rescale_argument", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rescale_argument(module, factor):
    """From now on `module` works with `factor * x2`, passed by position or by keyword. Returns the hook's handle."""
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
# ### Before or after the module's backward
#
# A full backward pre-hook runs before autograd computes the gradients of the module's parameters and inputs. A full backward hook
# usually runs after that, if an input needs a gradient. `grad_output` then holds
#
# - a gradient for each output that the loss uses,
# - `None` for any other output.
#
# `grad_input` holds
#
# - a gradient for each input that needs one,
# - zeros for any other tensor,
# - `None` for anything that is not a tensor.
#
# Keep each `None`. In a pre-hook, a tensor in its place changes the result:


# %%
class TwoOutputs(nn.Module):
    def forward(self, x):
        return 2 * x, 3 * x


for second in (None, torch.ones(1)):
    module, x = TwoOutputs(), torch.ones(1, requires_grad=True)
    module.register_full_backward_pre_hook(lambda module, grad_output, second=second: (grad_output[0], second))
    module(x)[0].backward()
    print(f"second entry {second}: x.grad {x.grad.item()}")

# %% [markdown]
# ### Exercise: Who still learns?
# medium · 14 min · further
#
# Train only a part of a network, with one hook for each case:
#
# - `stop_in_front(module)`: the module itself learns as before, but the earlier layers get gradients of zero through the module.
# - `stop_from_here(module)`: all of the module's own parameters get gradients of zero, and so do the earlier layers.
#
# Both return the handle: after `handle.remove()`, everything learns as before. Gradients that bypass the module, as in `x +
# module(x)`, do not change. All gradients are finite.
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
# ## Further: layers that write in place
#
# ### Full backward hooks and in-place operations
#
# Full backward hooks and pre-hooks wrap the module's inputs and outputs, and a wrapped tensor must not be changed in place. So
# where gradients are needed, these hooks fail on `nn.ReLU(inplace=True)`. They also fail on an earlier layer, if the ReLU changes
# that layer's output or a view of it. ResNet-18 has such layers:

# %%
net, x = nn.Sequential(nn.Linear(3, 4), nn.Identity(), nn.ReLU(inplace=True), nn.Linear(4, 1)), torch.ones(5, 3)
for layer in net:
    with layer.register_full_backward_hook(lambda *arguments: None), warnings.catch_warnings(action="ignore"):
        try:
            net(x).sum().backward()
            print(f"a hook on {layer} is fine")
        except RuntimeError as error:
            print(f"a hook on {layer} RuntimeError:", str(error).split(". ")[0])

# %% [markdown]
# A full backward pre-hook has the same four results. Hook the output tensor, **before** the next operation writes into it. But a
# hook on a view may never run (lesson 02), and a Linear layer with a bias usually returns a view for a batch of sequences:


# %%
def hook_the_output(module, args, output):
    output.register_hook(lambda grad: print("   the hook ran"))


for x in (torch.ones(5, 3), torch.ones(2, 5, 3)):
    print("an input of shape", tuple(x.shape))
    with net[0].register_forward_hook(hook_the_output):
        net(x).sum().backward()

# %% [markdown]
# A clone is never a view, and a forward hook may return a clone.
#
# ### Exercise: Right before an in-place ReLU
# medium · 12 min · further
#
# Write `output_gradients(layer)`: it returns a list. Each backward pass appends the gradient of the output as it was before any
# in-place change, even if the output is a view. If the layer runs several times, each output has its own entry, in the order of
# backward. Under `torch.no_grad()`, or if a frozen layer gets data, the model still runs, and nothing is appended.
#
# ```python
# net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 1))
# gradients = output_gradients(net[0])
# net(torch.ones(5, 3)).sum().backward()
# gradients  # one tensor of the shape (5, 4)
# ```


# %% nbgrader={"grade": false, "grade_id": "in_place_safe", "locked": false, "schema_version": 3, "solution": true, "task": false}
def output_gradients(layer):
    """A list: each backward adds the gradient of the output of `layer`, as it was before in-place changes."""
    ### BEGIN SOLUTION
    gradients = []

    def meet_output(module, args, output):
        if output.requires_grad:
            copy = output.clone()  # no view
            copy.register_hook(lambda grad: gradients.append(grad.clone()))
            return copy

    layer.register_forward_hook(meet_output)
    return gradients
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_in_place_safe", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("in_place_safe")

# %% [markdown]
# ## Further: old tutorials, old checkpoints
#
# ### The deprecated hook
#
# Old tutorials use the deprecated `register_backward_hook`, without *full*. What is wrong with it?
#
# ### Exercise: An autopsy
# easy · 6 min · further
#
# Two models get the same inputs, `x1 = [2.]` and `x2 = [3.]`. Register `collect` as a deprecated hook on one and as a full
# backward hook on the other. `collect` appends its `grad_input` to `answer`. At the end, `answer` has two entries (each a tuple
# or list of two tensors): first what the deprecated hook showed, then the true gradients of the inputs. The cell runs both models
# for you.

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

# %% nbgrader={"grade": true, "grade_id": "test_legacy_autopsy", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("legacy_autopsy")

# %% [markdown]
# In `Model`, the deprecated hook shows the gradients of the **last operation**'s inputs, which are the product and `W`.
#
# ### State-dict hooks: read old checkpoints
#
# You rename a layer, and `load_state_dict` no longer reads old checkpoints. Register a hook with
# [`register_load_state_dict_pre_hook`](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_load_state_dict_pre_hook):
# it runs before its module is loaded, and gets `module, state_dict, prefix, local_metadata, strict` and three lists,
# `missing_keys, unexpected_keys, error_msgs`. It returns nothing, and changes its arguments in place:
#
# - `prefix` is the module's name in the model, with a dot at its end; for the model itself it is empty. Keys of the module's own
#   tensors start with this prefix, and a child's hook gets no other keys.
# - `state_dict` is a shallow copy of the caller's dict: put new tensors into it, and never write into the old ones.
# - `strict` is `True` even if the caller passes `strict=False`, so do not rely on it.
#
# This pre-hook adds a buffer that old checkpoints lack:


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
inside = {"body.weight": torch.ones(1, 1), **{f"head.{name}": tensor for name, tensor in old.items()}}
whole = nn.ModuleDict({"body": nn.Linear(1, 1, bias=False), "head": Head()})
print(whole.load_state_dict(inside, strict=False))

# %% [markdown]
# ### Exercise: A layer had another name
# medium · 14 min · further
#
# A layer was called `linear` when somebody saved the model; today it is called `fc`. Write `accept_old_name(module, old, new)`. It
# changes how `module`, alone or inside a model, loads a checkpoint: entries saved under the name `old` go into the child or
# parameter `new`. Names that are only similar, such as `linear2`, do not change. New checkpoints load as before, and missing or
# unexpected keys are still reported.
#
# ```python
# accept_old_name(model.parts.head, "linear", "fc")
# # model.load_state_dict reads "parts.head.linear.weight" as "parts.head.fc.weight"
# ```


# %% nbgrader={"grade": false, "grade_id": "state_dict_hooks", "locked": false, "schema_version": 3, "solution": true, "task": false}
def accept_old_name(module, old, new):
    """When `module` is loaded, the entries of a checkpoint under `old` go into `new`, a child or parameter of `module`."""
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
# ## Recap
#
# - Hooks run when you call `module(x)`. A forward hook takes three arguments, and acts by what it **returns**.
# - `args`, `grad_input` and `grad_output` are tuples, and an entry may be `None`, as in the first layer.
# - A full backward hook misses tensors in a dict, a list or a nested tuple. Hook the output tensor.
# - A full backward hook changes what leaves the module. A full backward pre-hook also reaches the module's own parameters.
#
# ## Where to go on
#
# - [Visualizing Gradients](https://docs.pytorch.org/tutorials/intermediate/visualizing_gradients_tutorial.html) compares a net with
#   and without batch norm.
#
# **Next:** lesson 04 visits every module of a model with `apply`, to initialise, extend and rewire it.
#
# ### When this notebook is graded
#
# <!-- grading limits -->

# %%
progress()
