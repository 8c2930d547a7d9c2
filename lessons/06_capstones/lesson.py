# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Five tools made of hooks
#
# - **You will do** this: build five small tools that people use at work. One finds the layer in which a net breaks, one shows where a net looks, one
#   gives each sample's own gradient, one tells what fills the memory, and one trains without ever holding all gradients at once.
# - **You will learn** how to make a tool of hooks that somebody else can trust: it works on any model, cleans up after itself, and changes nothing
#   that it should only watch.
# - **You need** lessons 02, 03 and 05. The five parts do not build on each other: take them in any order.
# - **Time** about 155 minutes: five exercises for 21 points, and one question in your own words, 2 points. After each of the five is a good place for a break. The cells below an exercise put your
#   own tool to work, so they run once it is there.
# - **Stuck?** `hint()` in any cell gives the next step of help after a failed check; `hint("grad_cam")`, with an exercise's id, helps you to begin.
# - **Out of scope** several GPUs, `torch.compile`.
#
# <!-- grading limits -->

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import copy
from contextlib import contextmanager
from functools import partial

import course
import torch
import torch.nn as nn
import torch.nn.functional as F
from course import hint, progress
from torch.autograd.graph import saved_tensors_hooks
from torch.nn import Parameter

torch.set_num_threads(1)  # nets as small as these run fastest on one thread

# %% [markdown]
# ## Find the layer in which a net breaks
#
# The loss is `nan`. Or it stays where it is, epoch after epoch. One number cannot tell you why, because a net has many layers, and mostly one of them is at fault. So listen to all of
# them. Here are two nets of seven layers, untrained, and the gradients after one backward pass on handwritten digits:

# %%
from course.data import digits
from course.pictures.gradient_flow import draw_gradient_flow

pictures, labels = digits()
x, y = pictures[:128].flatten(1), labels[:128]


def deep_net(activation, norm):
    layers, width = [], 64
    for _ in range(6):
        layers += [nn.Linear(width, 32), norm(32), activation()]
        width = 32
    return nn.Sequential(*layers, nn.Linear(32, 10))


torch.manual_seed(0)
deep_nets = {
    "sigmoid": deep_net(nn.Sigmoid, lambda width: nn.Identity()),
    "BatchNorm, ReLU": deep_net(nn.ReLU, nn.BatchNorm1d),
}
weights = {}
for title, net in deep_nets.items():
    F.cross_entropy(net(x), y).backward()
    weights |= {f"{title}: {name}": p for name, p in net.named_parameters() if p.dim() == 2}
draw_gradient_flow(weights, title="Two nets, one backward pass each")

# %% [markdown]
# The slope of a sigmoid is at most 1/4, so each layer hands on a fraction of the gradient it gets. Six layers further up not even a hundred-thousandth of it is left (the axis is
# logarithmic): the first layers do not learn. This is the **vanishing gradient**. BatchNorm and ReLU cure it.
#
# ### A NaN that no forward check sees
#
# A net breaks in other ways too. This layer scales each row to length 1. The author has even thought of a division by zero:


# %%
class UnitLength(nn.Module):
    def forward(self, x):
        return x / (x.pow(2).sum(1, keepdim=True).sqrt() + 1e-6)


torch.manual_seed(0)
broken = nn.Sequential(nn.Linear(64, 32, bias=False), UnitLength(), nn.ReLU(), nn.Linear(32, 10))
blank = x.clone()
blank[5] = 0.0  # one picture of 128 is blank

loss = F.cross_entropy(broken(blank), y)
loss.backward()
print("loss:", loss.item())
for name, p in broken.named_parameters():
    print(f"{name:9} gradient finite: {p.grad.isfinite().all().item()}")

# %% [markdown]
# All values of the forward pass are finite, the loss is fine, and the next step of the optimizer makes every weight of layer `0` NaN. The slope of `sqrt` at 0 is infinite, and infinity
# times 0 is NaN. So a watcher has to listen in *both* directions. Lesson 03 has the tool for it: a forward hook that puts a tensor hook on the output, which works beside in-place
# operations as well ('Full backward hooks and in-place operations').

# %%
seen = []


def watch(name, module, args, output):
    output.register_hook(
        lambda grad: seen.append(
            f"output of {name}: gradient finite: {grad.isfinite().all().item()}"
        )
    )


handles = [
    child.register_forward_hook(partial(watch, name)) for name, child in broken.named_children()
]
F.cross_entropy(broken(blank), y).backward()
for handle in handles:
    handle.remove()
print(*seen, sep="\n")

# %% [markdown]
# Read it from the top, as backward went. The output of module `1` got a sound gradient, the output of module `0` did not: the fault lies between the two, in `UnitLength`.
#
# ### A unit that is always 0
#
# A ReLU hands back no gradient where it is 0. A **unit** (a feature of a linear layer, a channel of a convolution: an index of dimension 1) that is 0 for *every* sample of the batch
# gets no gradient at all, and learns nothing: it is **dead**. Being 0 for some samples is a ReLU's daily work.

# %%
units = torch.relu(torch.tensor([[3.0, -1.0, 0.5], [-2.0, -4.0, 1.0]]))  # 2 samples, 3 units
print(units, "\ndead:", (units == 0).all(0).tolist())

# %% [markdown]
# A convolution's output has the shape `(N, C, H, W)`. There a channel is dead if it is 0 for every sample *and* at every position.
#
# ### Exercise: What is wrong with this net?
#
# hard · 25 min · 5 points · `gradient_flow_debugger`
#
# Write the context manager `gradient_flow_debugger(model)`. In `with gradient_flow_debugger(model) as report:` one forward and one backward pass run. After the block, the dict
# `report` has these five entries:
#
# | key | value |
# | --- | --- |
# | `"bad_output"` | the name of the first module, in the order in which the modules *finish*, whose output holds a NaN or an infinity; `None` if there is none |
# | `"bad_gradient"` | the name of the first module, in the order of the *backward* pass, whose output gets a gradient that holds a NaN or an infinity; `None` if there is none |
# | `"dead"` | a dict: name of each `nn.ReLU` → the share of its units that are dead, from 0.0 to 1.0 |
# | `"no_gradient"` | a list: the names of the parameters whose `.grad` is `None` at the end of the block |
# | `"gradient_size"` | a dict: name of each other parameter → the mean absolute value of its `.grad` |
#
# - All of it is plain data (text, numbers, lists, dicts), so that it can go into a log. Names are those of `named_modules()` and `named_parameters()`, in their order; the model itself is `''`.
# - It works on any model: nested, with in-place ReLUs, with functions between its modules, with frozen layers (the output of a frozen first layer requires no gradient). In the tests every module runs once
#   and returns one tensor.
# - It only looks. Outputs and gradients are as without it, and after the block, also after an error in it, its hooks are gone and those of others are still there.


# %% nbgrader={"grade": false, "grade_id": "gradient_flow_debugger", "locked": false, "schema_version": 3, "solution": true, "task": false}
@contextmanager
def gradient_flow_debugger(model):
    """Watch a forward and a backward pass of `model` in the block; the yielded dict tells what went wrong where."""
    # TODO: register hooks, `yield` the dict, and whatever happens remove the hooks; then fill in what `.grad` tells.
    ### BEGIN SOLUTION
    report = {
        "bad_output": None,
        "bad_gradient": None,
        "dead": {},
        "no_gradient": [],
        "gradient_size": {},
    }

    def see_gradient(name, grad):
        if report["bad_gradient"] is None and not grad.isfinite().all():
            report["bad_gradient"] = name

    def see_output(name, module, args, output):
        if report["bad_output"] is None and not output.isfinite().all():
            report["bad_output"] = name
        if isinstance(module, nn.ReLU):
            silent = (output == 0).transpose(0, 1).flatten(1).all(1)
            report["dead"][name] = silent.float().mean().item()
        if output.requires_grad:
            output.register_hook(partial(see_gradient, name))

    handles = [
        module.register_forward_hook(partial(see_output, name))
        for name, module in model.named_modules()
    ]
    try:
        yield report
    finally:
        for handle in handles:
            handle.remove()
    for name, parameter in model.named_parameters():
        if parameter.grad is None:
            report["no_gradient"].append(name)
        else:
            report["gradient_size"][name] = parameter.grad.abs().mean().item()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_gradient_flow_debugger", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
from course import check
check("gradient_flow_debugger")

# %% [markdown]
# Your tool on the nets above. The sigmoids first: `gradient_size` says in numbers what the bars have shown.

# %%
sigmoids = deep_nets["sigmoid"]
sigmoids.zero_grad()
with gradient_flow_debugger(sigmoids) as report:
    F.cross_entropy(sigmoids(x), y).backward()

for name, size in report["gradient_size"].items():
    if name.endswith("weight"):
        print(f"{name:10} {size:.0e}")

# %% [markdown]
# Now a net with three faults: the hand-made layer, a first layer of which 20 of 32 units have only negative weights (and pixels are never negative), and a last layer that somebody
# forgot to unfreeze.

# %%
torch.manual_seed(0)
sick = nn.Sequential(
    nn.Linear(64, 32, bias=False),
    nn.ReLU(),
    nn.Linear(32, 32, bias=False),
    UnitLength(),
    nn.Linear(32, 10),
)
with torch.no_grad():
    sick[0].weight[:20] = -sick[0].weight[:20].abs()
sick[4].requires_grad_(False)

with gradient_flow_debugger(sick) as report:
    F.cross_entropy(sick(blank), y).backward()
for key, value in report.items():
    print(f"{key:13} {value}")

# %% [markdown]
# Every fault has its line. The output of module `2` is the first one to get a bad gradient, so look at what comes right after it in forward: module `3`, the `UnitLength`. `F.normalize` does the
# same without the NaN, because PyTorch's own `norm` has the slope 0 there.
#
# PyTorch has a detector of its own, `torch.autograd.set_detect_anomaly(True)`. It stops at the first NaN of backward, with the line of the forward pass that made it, and costs
# a lot of time. Yours is cheap, tells of all layers, and sees what is wrong before it is NaN. Use yours to watch, and PyTorch's to find the line.

# %% [markdown]
# ## See where a net looks
#
# A net says "3". Did it see the 3, or something beside it? Train one and ask it. Each picture of the training shows **one** digit, and the labels never say where.

# %%
from course.data import digits
from course.pictures.beside import beside
from course.pictures.feature_maps import draw_feature_maps
from course.pictures.heat import draw_heat

pictures, labels = digits()


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        for inside, outside, stride in [(1, 12, 1), (12, 24, 2), (24, 24, 1)]:
            layers += [
                nn.Conv2d(inside, outside, 3, stride, padding=1),
                nn.BatchNorm2d(outside),
                nn.ReLU(inplace=True),
            ]
        self.features = nn.Sequential(*layers)
        self.fc = nn.Linear(24, 10)

    def forward(self, x):
        return self.fc(self.features(x).mean((2, 3)))


framed = F.pad(pictures, (2, 2, 2, 2))  # 12 x 12, so that a digit can move
torch.manual_seed(0)
eye, steps = DigitNet(), 150
optimizer = torch.optim.Adam(eye.parameters())
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.02, total_steps=steps)
for _ in range(steps):
    chosen = torch.randint(0, 1500, (64,))
    moved = framed[chosen].roll(torch.randint(-2, 3, (2,)).tolist(), (2, 3))
    optimizer.zero_grad()
    F.cross_entropy(eye(moved), labels[chosen]).backward()
    optimizer.step()
    schedule.step()
eye.eval().zero_grad()
print(
    f"right on new digits: {(eye(framed[1500:]).argmax(1) == labels[1500:]).float().mean():.0%}"
)

# %% [markdown]
# Its `forward` ends in a mean over all positions, so it runs on a picture of any size. Here are four digits at once. What does the net have of them in front of that mean?

# %%
def board_of(*digits_wanted, skip=0):
    """Four digits that the net has not been trained on, in a square: shape (1, 1, 24, 24)."""
    found = [framed[1500:][labels[1500:] == digit][skip, 0] for digit in digits_wanted]
    return torch.cat([torch.cat(found[:2], 1), torch.cat(found[2:], 1)])[None, None]


board = board_of(3, 7, 0, 4, skip=3)
with torch.no_grad():
    maps = eye.features(board)
draw_feature_maps(
    {"the picture": board, "features": maps}, title="Each channel lights up at its own places"
)

# %% [markdown]
# ### The recipe
#
# Each channel answers to something, and knows where it is. Which channels speak for a 3? Ask autograd: *how much would the score of class 3 rise if this channel were a little stronger?*
# That is a gradient. **Grad-CAM** makes a heat map of it:
#
# | step | | shape |
# | --- | --- | --- |
# | 1 | `A`: the output of a layer | `(N, K, h, w)` |
# | 2 | `G`: the gradient of the score of the class, with respect to `A` | `(N, K, h, w)` |
# | 3 | the weight of each channel: the mean of `G` over all positions | `(N, K)` |
# | 4 | the sum over the channels of weight times `A` | `(N, h, w)` |
# | 5 | negative values become 0: they speak against the class | `(N, h, w)` |
#
# The score is what the model returns. Not its softmax: there a class can also rise because the others sink, and where the model is sure, the gradient is nearly 0.
#
# ### Two ways to get it wrong
#
# Here `features` ends in an in-place ReLU. What you keep of the BatchNorm in front of it is overwritten (lesson 05, 'A feature can change after your hook has ended'):

# %%
kept = []
with eye.features[7].register_forward_hook(lambda module, args, output: kept.append(output)):
    score = eye(board)[0, 3]
print(
    "kept of the BatchNorm: smallest value",
    kept[0].min().item(),
    "and made by",
    kept[0].grad_fn.name(),
)

# %% [markdown]
# Not one negative value, and the tensor now counts as the ReLU's: a gradient that you ask for later is the ReLU's, too. A tensor hook that is registered *inside* the forward hook belongs
# to the old value, and stays with it.
#
# And whoever calls `backward()` just to look leaves something behind:

# %%
score.backward()
print(
    "parameters with a gradient, just from looking:",
    sum(p.grad is not None for p in eye.parameters()),
)
eye.zero_grad()

(gradient,) = torch.autograd.grad(eye(board)[0, 3], eye.fc.weight)
print(
    f"autograd.grad returns a tensor {tuple(gradient.shape)}, and .grad is still",
    eye.fc.weight.grad,
)

# %% [markdown]
# Somebody who trains, and looks in between, would train on the sum of both. `torch.autograd.grad(score, tensor)` leaves every `.grad` alone. Tensor hooks on the way to `tensor` run
# all the same.
#
# ### Exercise: Grad-CAM
#
# medium · 15 min · 4 points · `grad_cam`
#
# Write `grad_cam(model, layer, x, targets)`. `layer` is the dotted name of a layer, `x` a batch of pictures, `targets` holds a class for each picture, shape `(N,)`. Return the heat maps
# of steps 1 to 5, shape `(N, h, w)`, not scaled in any way.
#
# - Each picture counts for itself, with the class of its own.
# - `A` is what the layer returned, and `G` the gradient with respect to that, also where a later layer works in place.
# - The model is in evaluation mode. It may be frozen: no parameter requires a gradient, and neither does `x`.
# - Nothing is left behind: your hooks are gone, also after an error, those of others are still there, and every `.grad` is as it was.


# %% nbgrader={"grade": false, "grade_id": "grad_cam", "locked": false, "schema_version": 3, "solution": true, "task": false}
def grad_cam(model, layer, x, targets):
    """Where in each picture of `x` the layer finds what speaks for the class in `targets`: heat maps, (N, h, w)."""
    # TODO: catch the layer's output and its gradient, then follow the recipe.
    ### BEGIN SOLUTION
    caught = {}

    def catch(module, args, output):
        caught["output"] = output.detach().clone()
        output.register_hook(partial(caught.__setitem__, "gradient"))

    x = x.detach().clone().requires_grad_()
    with model.get_submodule(layer).register_forward_hook(catch):
        scores = model(x).gather(1, targets[:, None])
        torch.autograd.grad(scores.sum(), x)
    weights = caught["gradient"].mean((2, 3), keepdim=True)
    return (weights * caught["output"]).sum(1).relu()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_grad_cam", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
from course import check
check("grad_cam")

# %% [markdown]
# Now ask the net for the 3, then for the 7. It has never been told where a digit is.

# %%
heats = {digit: grad_cam(eye, "features", board, torch.tensor([digit])) for digit in (3, 7)}
titles = {digit: f"What speaks for {digit}" for digit in heats}
beside(*((draw_heat(board, heats[digit], title), title) for digit, title in titles.items()))

# %% [markdown]
# Behind `features` come the mean and one linear layer. For such a net the gradient needs no autograd: it is the weight of the class, the same at each position. That is **CAM**, Grad-CAM's
# predecessor, and a test for your tool. Grad-CAM works in front of any layers.

# %%
with torch.no_grad():
    cam = torch.einsum("k,nkhw->nhw", eye.fc.weight[3], eye.features(board)).relu()
print("equal to CAM:", torch.allclose(heats[3] * heats[3][0].numel(), cam, atol=1e-5))

# %% [markdown]
# ### A heat map always shows something
#
# It is pretty, so people believe it. Measure instead: ask for each digit of 20 boards, and see how much of the heat lies on the quarter where that digit is. A net that knows nothing gets
# a quarter of it right, by chance.


# %%
def heat_on_the_digit(net):
    boards = torch.cat([board_of(3, 7, 0, 4, skip=skip) for skip in range(20)])
    shares = []
    for quarter, digit in enumerate((3, 7, 0, 4)):
        heat = grad_cam(net, "features", boards, torch.full((20,), digit))
        quarters = heat.view(20, 2, 6, 2, 6).sum((2, 4)).flatten(1)
        shares.append(quarters[:, quarter] / quarters.sum(1))
    return torch.stack(shares).nanmean().item()


print(f"trained:   {heat_on_the_digit(eye):.0%} of the heat on the right digit")
print(f"untrained: {heat_on_the_digit(DigitNet().eval()):.0%}")

# %% [markdown]
# Do the same with your own nets before you believe a picture: shuffle the weights, and the heat map has to fall apart.
#
# At work: `grad_cam(resnet18(weights="DEFAULT").eval(), "layer4", photo, targets)`. The last layer with positions is the usual choice: deep enough to know what it sees, early enough to know
# where. `draw_heat`, or `F.interpolate`, brings the small map to the picture's size.

# %% [markdown]
# ## One gradient for each sample
#
# After a backward, `weight.grad` holds one gradient for the whole batch. Which sample pulled how hard, and where to,
# has been averaged away. But people want to know: samples with huge gradients are often **mislabelled**; training with
# *differential privacy* limits what each single sample may contribute; how far the samples disagree says whether a
# larger batch would help.
#
# One could run the samples one by one. No need: everything is in the batch's own backward. Look at one `Linear` layer,
# `y = x @ W.T + b`. A forward hook sees its input, a tensor hook on its output sees the gradient that arrives there.
# Both have one row for each sample.

# %%
torch.manual_seed(0)
layer, x, y = nn.Linear(3, 2), torch.randn(4, 3), torch.tensor([0, 1, 1, 0])
seen = {}


def look(module, args, output):
    seen["input"] = args[0]
    output.register_hook(lambda grad: seen.update(grad=grad))


with layer.register_forward_hook(look):
    F.cross_entropy(layer(x), y).backward()
print("input", tuple(seen["input"].shape), "  gradient at the output", tuple(seen["grad"].shape))
print("weight.grad", tuple(layer.weight.grad.shape), "- no trace of the 4 samples")

alone = torch.autograd.grad(F.cross_entropy(layer(x[2:3]), y[2:3]), layer.weight)[
    0
]  # sample 2 on its own
print("gradient of sample 2 on its own:", alone.flatten())
print(
    "outer product of its two rows:  ", torch.outer(seen["grad"][2], seen["input"][2]).flatten()
)

# %% [markdown]
# The weight's gradient of a sample is the **outer product** of its row of the output's gradient with its row of the
# input. The bias is simply added, so its gradient is the row of the output's gradient itself.
#
# Almost: the first line above is 4 times the second. `cross_entropy` takes the **mean** over the batch of 4, so
# whatever flows back is already a quarter. With `reduction="sum"` it would not be. The hook cannot see which of the two
# it was. The user of your tool has to say.
#
# ### Exercise: Per-sample gradients
#
# hard · 25 min · 4 points · `per_sample_gradients`
#
# Write `PerSampleGradients(model, reduction="mean")`, a context manager:
#
# ```python
# with PerSampleGradients(model) as per_sample:
#     loss_function(model(x), y).backward()
# per_sample.gradients["body.0.weight"]      # shape (N, out, in): one gradient for each of the N samples
# ```
#
# - After the block, `gradients` is a dict. For the weight of each `nn.Linear` in the model, at any depth, and for its
#   bias if it has one, it holds the gradient of **each sample's own loss**. The keys are the names in
#   `model.named_parameters()`. Other layers get no entry.
# - `reduction` says what the loss is over the samples: their `"mean"` or their `"sum"`. With "mean",
#   `gradients[name].mean(0)` is the parameter's `.grad`; with "sum", `.sum(0)` is.
# - A layer may be called more than once in one forward. Then a sample's gradient is the sum over the calls.
# - It only looks. `.grad` becomes what it is without the tool. After the block the model carries no hook and no
#   attribute of yours, also where the block has raised an error; hooks of other people stay, and the error is passed
#   on.
# - Each block gathers its own results, and leaves the results of earlier ones alone.
#
# In a block there is one forward of the model and one backward. Inputs of the `Linear` layers have shape (N, in).


# %% nbgrader={"grade": false, "grade_id": "per_sample_gradients", "locked": false, "schema_version": 3, "solution": true, "task": false}
class PerSampleGradients:
    """Within the block, one forward and backward of `model` leave each sample's gradients in `gradients`.

    `gradients` maps the names of the weights and biases of all Linear layers to tensors of shape (N, *parameter.shape).
    `reduction` says whether the loss is the "mean" or the "sum" over the N samples.
    """

    def __init__(self, model: nn.Module, reduction: str = "mean") -> None:
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        # TODO: register what you need.
        ### BEGIN SOLUTION
        def look(name, layer, args, output):
            # The hook on this call's output knows this call's input, however often the layer is called.
            output.register_hook(partial(collect, name, layer, args[0].detach()))

        def collect(name, layer, x, grad):
            if self.reduction == "mean":
                grad = grad * len(grad)
            add(f"{name}.weight", torch.einsum("no,ni->noi", grad, x))
            if layer.bias is not None:
                add(f"{name}.bias", grad)

        def add(name, gradient):
            self.gradients[name] = self.gradients.get(name, 0) + gradient

        self.handles = [
            layer.register_forward_hook(partial(look, name))
            for name, layer in self.model.named_modules()
            if isinstance(layer, nn.Linear)
        ]
        ### END SOLUTION
        return self

    def __exit__(self, *error):
        # TODO: leave the model as it was.
        ### BEGIN SOLUTION
        for handle in self.handles:
            handle.remove()
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_per_sample_gradients", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
from course import check
check("per_sample_gradients")

# %% [markdown]
# Your tool at work. Below are 1,000 digits, and 20 of them, drawn at random, carry a wrong label. A small net learns
# from all of them for a moment. Then one more backward tells how hard each sample pulls at the net. In a red frame: the
# labels that we have spoilt.

# %%
from course.data import digits
from course.pictures.digits import draw_digits

torch.manual_seed(0)
pictures, labels = (part[:1000].clone() for part in digits())
spoilt = torch.randperm(1000)[:20]
labels[spoilt] = (labels[spoilt] + torch.randint(1, 10, (20,))) % 10

net = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(inplace=True), nn.Linear(32, 10))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(40):
    optimizer.zero_grad()
    F.cross_entropy(net(pictures), labels).backward()
    optimizer.step()

with PerSampleGradients(net) as per_sample:
    F.cross_entropy(net(pictures), labels).backward()

squares = [gradient.flatten(1).pow(2).sum(1) for gradient in per_sample.gradients.values()]
norms = (
    torch.stack(squares or [torch.zeros(1000)]).sum(0).sqrt()
)  # over all parameters of the net
top = norms.topk(20).indices
found = [place for place, sample in enumerate(top) if sample in spoilt]
print(f"Norm of a sample's gradient, median: {norms.median():.2f}")
draw_digits(
    pictures[top],
    [f"label {labels[sample]}\n{norms[sample]:.1f}" for sample in top],
    marked=found,
    title=f"The 20 largest gradients of 1,000: {len(found)} of them belong to the 20 wrong labels",
) if per_sample.gradients else "PerSampleGradients returns nothing yet."

# %% [markdown]
# Most samples pull hardly any more. Those that still pull hard are difficult to read, or wrong. This is how people
# clean data sets.
#
# The ReLU of this net works in place. A full backward hook on the layer before it would raise an error (lesson 03). A
# tensor hook on the layer's output does not mind.
#
# ### Without hooks: `vmap`
#
# For `Linear` layers the rule is short. For convolutions it is longer, and for your own layers nobody has written it
# down. `torch.func` needs no rule: `grad` makes a function that returns the gradient of one sample, `vmap` runs it for
# all samples at once.

# %%
from torch.func import functional_call, grad, vmap


def loss_of_one(parameters, x, y):
    return F.cross_entropy(functional_call(net, parameters, (x[None],)), y[None])


parameters = {name: parameter.detach() for name, parameter in net.named_parameters()}
each = vmap(grad(loss_of_one), in_dims=(None, 0, 0))(parameters, pictures, labels)
for name, gradient in each.items():
    mine = per_sample.gradients.get(name, torch.tensor(torch.nan))
    print(
        f"{name:9} {tuple(gradient.shape)!s:15} largest difference {(gradient - mine).abs().max():.0e}"
    )

# %% [markdown]
# | | one by one | hooks | `vmap(grad(...))` |
# | --- | --- | --- | --- |
# | time | slow | next to nothing, beside the backward that you run anyway | short |
# | layers | all | those you have written a rule for | nearly all |
# | your training loop | another one | stays as it is | another one |
# | memory | one gradient at a time | N times the parameters | N times the parameters |
#
# The package Opacus uses hooks, with rules for some dozen layers. It trains nets on data that must stay private.

# %% [markdown]
# ## What is the memory full of?
#
# Training runs out of memory where the same net, only used, does not. The parameters are not to blame: they are there
# in both cases. It is what autograd **saves** for backward. In lesson 02 you have counted those bytes for a whole
# model. At work the next question is: *where* do they come from? Which layer is it worth to change?
#
# No single kind of hook can tell. Hooks for saved tensors see the tensors, but not the layer. Module hooks see a layer
# begin and end, but not what is saved. Together:

# %%
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


def show(tensor):
    print(f"    saved {tuple(tensor.shape)!s:7} {tensor.nbytes:3} bytes")
    return tensor.detach()


handles = []
for name, module in net.named_modules():
    handles.append(
        module.register_forward_pre_hook(lambda module, args, name=name: print(f"begin {name!r}"))
    )
    handles.append(
        module.register_forward_hook(
            lambda module, args, output, name=name: print(f"end   {name!r}")
        )
    )
with saved_tensors_hooks(show, lambda kept: kept):
    loss = net(torch.randn(3, 4)).pow(2).sum()
for handle in handles:
    handle.remove()

# %% [markdown]
# 328 bytes together. But the rules of lesson 02 hold: each **storage** counts once, and in full; the storages of
# parameters do not count. Layer `1`, the ReLU, saves its result, and layer `2` saves its input: one storage of 96
# bytes, which layer `1` has saved first. And `(8, 2)` is a view of layer `2`'s weight. So this forward costs 48 bytes
# in layer `0`, 96 in layer `1`, and 24 outside of all layers, in the loss. Together **168 bytes**.
#
# Modules are nested: `''` is the net itself, and it is running all the time from its first line to its last. So at each
# moment several modules may have begun and not ended. What is saved goes to the **innermost** of them. In the loss it
# is none.
#
# ### Exercise: Activation memory
#
# hard · 25 min · 4 points · `activation_memory`
#
# Write `ActivationMemory(model)`, a context manager:
#
# ```python
# with ActivationMemory(model) as memory:
#     loss = loss_function(model(x), y)
# memory.bytes               # 168 for the net and the loss above
# memory.by_layer            # {"0": 48, "1": 96, "": 24}
# ```
#
# - After the block, `bytes` says how many bytes autograd has saved for backward in it: each storage once and in full;
#   storages of `model`'s parameters do not count, everything else does, also the input `x` where it is saved.
# - `by_layer` says where. A storage counts for the innermost module that is running when it is saved for the first
#   time. The keys are the names in `model.named_modules()`: with dots, and `""` for `model` itself. What is saved while
#   no module is running goes to `""` as well. Layers that save nothing may be missing, or have 0.
# - It only looks. The output is the same, and backward, after the block, brings the same gradients. The tool copies no
#   tensor, and it keeps none alive: once the graph is gone, so are the saved tensors, even if `memory` is still there.
# - After the block nothing is counted any more, and no hook of yours is left, also where the block has raised an error,
#   which is passed on. Hooks of other people stay. Each block begins at 0.
#
# In a block there is one forward of the model. A layer may be called more than once in it.


# %% nbgrader={"grade": false, "grade_id": "activation_memory", "locked": false, "schema_version": 3, "solution": true, "task": false}
class ActivationMemory:
    """After the block, `bytes` is the size of what autograd has saved for backward in it, `by_layer` says where.

    Each storage counts once and in full, for the innermost module that is running when it is saved for the first time;
    those of `model`'s parameters do not count.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.bytes = 0
        self.by_layer = {}

    def __enter__(self):
        # TODO: switch the counting on.
        ### BEGIN SOLUTION
        seen = {parameter.untyped_storage().data_ptr() for parameter in self.model.parameters()}
        running = [""]

        def begin(name, module, args):
            running.append(name)

        def end(module, args, output):
            running.pop()

        def pack(tensor):
            storage, layer = tensor.untyped_storage(), running[-1]
            if storage.data_ptr() not in seen:
                seen.add(storage.data_ptr())
                self.bytes += storage.nbytes()
                self.by_layer[layer] = self.by_layer.get(layer, 0) + storage.nbytes()
            return tensor.detach()

        self.handles = []
        for name, module in self.model.named_modules():
            self.handles.append(module.register_forward_pre_hook(partial(begin, name)))
            self.handles.append(module.register_forward_hook(end))
        self.hooks = saved_tensors_hooks(pack, lambda kept: kept)
        self.hooks.__enter__()
        ### END SOLUTION
        return self

    def __exit__(self, *error):
        # TODO: switch it off.
        ### BEGIN SOLUTION
        self.hooks.__exit__(*error)
        for handle in self.handles:
            handle.remove()
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_activation_memory", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
from course import check
check("activation_memory")

# %% [markdown]
# Your tool at work, on a small convolutional net for digits. Compare what each layer owns with what it saves.

# %%
from course.data import digits
from course.pictures.memory import draw_memory


def convolutions(channels, count):
    layers = [
        nn.Conv2d(channels if number == 0 else 16, 16, 3, padding=1) for number in range(count)
    ]
    return nn.Sequential(*[part for layer in layers for part in (layer, nn.ReLU())])


torch.manual_seed(0)
net = nn.Sequential(
    convolutions(1, 2),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(256, 128),
    nn.ReLU(),
    nn.Linear(128, 10),
)
pictures, labels = (part[:64].clone() for part in digits())

with ActivationMemory(net) as memory:
    F.cross_entropy(net(pictures), labels)

bars = {}
for name, layer in net.named_modules():
    if not list(layer.children()):
        own = sum(parameter.nbytes for parameter in layer.parameters())
        bars[f"{name} {type(layer).__name__}"] = {
            "parameters": own,
            "saved for backward": memory.by_layer.get(name, 0),
        }
bars["loss"] = {"parameters": 0, "saved for backward": memory.by_layer.get("", 0)}
draw_memory(bars, title="Who owns the parameters, and who fills the memory")

# %% [markdown]
# The first `Linear` layer owns nearly all of the parameters. But it is the ReLUs, which own nothing, that fill the
# memory: their results are as large as the feature maps. So the early layers, with large maps, are worth a change.
#
# What changes are there? Here is a deeper net. `checkpoint` saves only what goes into a part of the net, and computes
# the rest once more in backward.

# %%
from torch.utils.checkpoint import checkpoint

net = nn.Sequential(
    convolutions(1, 3),
    convolutions(16, 3),
    convolutions(16, 3),
    nn.Flatten(),
    nn.Linear(16 * 64, 10),
)


def with_checkpoints(x):
    for part in net[:3]:
        x = checkpoint(part, x, use_reentrant=False)
    return net[3:](x)


def bar(run, pictures):
    with ActivationMemory(net) as memory:
        run(pictures)
    parameters = list(net.parameters())
    return {
        "parameters": sum(p.nbytes for p in parameters),
        "gradients, after backward": sum(p.nbytes for p in parameters if p.requires_grad)
        * torch.is_grad_enabled(),
        "saved for backward": memory.bytes,
    }


bars = {"16 pictures": bar(net, pictures[:16]), "64 pictures": bar(net, pictures)}
bars["64, checkpoints"] = bar(with_checkpoints, pictures)
net[:2].requires_grad_(False)
bars["64, two parts frozen"] = bar(net, pictures)
net.requires_grad_(True)
with torch.no_grad():
    bars["64, no_grad"] = bar(net, pictures)
draw_memory(bars, title="Five ways to run a forward")

# %% [markdown]
# - What is saved grows with the batch. Parameters and gradients do not.
# - A **checkpoint** trades time for memory: one more forward of each part, but only one part at a time is in memory as
#   a whole.
# - Frozen layers at the front of a net save nothing. Frozen layers *behind* one that learns do: the gradient has to go
#   through them.
# - Under `no_grad` nothing is saved at all. Whoever forgets it in validation pays the full price.
#
# What the tool cannot see: tensors that an operation needs only for a moment, and the optimizer's own state.

# %% [markdown]
# ## Train without holding all gradients
#
# Backward, then `optimizer.step()`, then `zero_grad()`: so at one moment the gradients of **all** parameters are in
# memory, as much again as the model itself. But an optimizer never needs two of them together. It could treat each
# parameter as soon as its gradient is there, and throw the gradient away.
#
# For this moment there is a hook (lesson 02): `register_post_accumulate_grad_hook`. It is called with the *parameter*,
# right after `.grad` has been filled. A tensor hook comes too early. Look at what each of them finds:

# %%
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
net[2].weight = net[0].weight  # one weight, used twice


def early(name, parameter, grad):
    print(f"{name:8} tensor hook:          .grad is there: {parameter.grad is not None}")


def late(name, parameter):
    there = sum(one.grad is not None for one in net.parameters())
    print(
        f"{name:8} post-accumulate hook: .grad is there: {parameter.grad is not None}, gradients in memory: {there}"
    )


for name, parameter in net.named_parameters():
    parameter.register_hook(partial(early, name, parameter))
    parameter.register_post_accumulate_grad_hook(partial(late, name))
net(torch.randn(3, 4)).sum().backward()

# %% [markdown]
# The last layer comes first, and the number of gradients only grows. If the second hook of each pair took a step and
# set `.grad` to None, the number would stay at 1.
#
# Is it safe to change a weight in the middle of backward? Yes: when a parameter's gradient is complete, every operation
# that uses the parameter has done its part of the backward. This also holds for the weight that both layers share: its
# hooks run once, after both layers, and find the sum.
#
# ### Exercise: Optimizer in backward
#
# medium · 20 min · 4 points · `optimizer_in_backward`
#
# Write `OptimizerInBackward(model, make_optimizer)`, a context manager. `make_optimizer` makes an optimizer for a list
# of parameters:
#
# ```python
# with OptimizerInBackward(model, partial(torch.optim.SGD, lr=0.1, momentum=0.9)):
#     for x, y in batches:
#         loss_function(model(x), y).backward()       # this is all: no step, no zero_grad
# ```
#
# - After each backward in the block, the parameters are what an ordinary loop would have made them, with one optimizer
#   for the whole model. This holds for any optimizer that treats each parameter on its own: SGD, with momentum and
#   weight decay, Adam.
# - A parameter takes its step as soon as its gradient is complete, and the gradient is released at once: `.grad` is
#   None. There is never more than one parameter's gradient in memory.
# - Parameters that need no gradient stay as they are. A parameter that is used in two places takes one step.
# - After the block backward is what it was before: it fills `.grad` and changes no parameter. This also holds where the
#   block has raised an error, which is passed on. Hooks of other people stay.
#
# When the block begins, all `.grad` are None.


# %% nbgrader={"grade": false, "grade_id": "optimizer_in_backward", "locked": false, "schema_version": 3, "solution": true, "task": false}
class OptimizerInBackward:
    """Within the block, each backward of `model` takes the optimizer's steps, too, and releases each gradient at once.

    `make_optimizer(parameters)` makes an optimizer for a list of parameters.
    """

    def __init__(self, model: nn.Module, make_optimizer) -> None:
        self.model = model
        self.make_optimizer = make_optimizer

    def __enter__(self):
        # TODO: let each parameter take its step when its gradient is complete.
        ### BEGIN SOLUTION
        def step(optimizer, parameter):
            optimizer.step()
            parameter.grad = None

        self.handles = [
            parameter.register_post_accumulate_grad_hook(
                partial(step, self.make_optimizer([parameter]))
            )
            for parameter in self.model.parameters()
            if parameter.requires_grad
        ]
        ### END SOLUTION
        return self

    def __exit__(self, *error):
        # TODO: back to the ordinary backward.
        ### BEGIN SOLUTION
        for handle in self.handles:
            handle.remove()
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_optimizer_in_backward", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
from course import check
check("optimizer_in_backward")

# %% [markdown]
# Your tool at work. Two equal nets learn to tell digits apart, one in the usual way, one with your tool. Someone looks
# on, and notes how many bytes of gradients there are at most.

# %%
from course.data import digits
from course.pictures.memory import draw_memory

make_optimizer = partial(torch.optim.SGD, lr=0.1, momentum=0.9)
pictures, labels = (part[:256] for part in digits())
bars, results = {}, []

for way in ("backward, then step", "step in backward"):
    torch.manual_seed(0)
    hidden = [layer for _ in range(5) for layer in (nn.Linear(64, 64), nn.Tanh())]
    net = nn.Sequential(nn.Flatten(), *hidden, nn.Linear(64, 10))
    peak = 0

    def note(_):
        global peak
        peak = max(peak, sum(p.grad.nbytes for p in net.parameters() if p.grad is not None))

    for parameter in net.parameters():
        parameter.register_post_accumulate_grad_hook(note)

    if way == "backward, then step":
        optimizer = make_optimizer(net.parameters())
        for _ in range(10):
            F.cross_entropy(net(pictures), labels).backward()
            optimizer.step()
            optimizer.zero_grad()
    else:
        with OptimizerInBackward(net, make_optimizer):
            for _ in range(10):
                F.cross_entropy(net(pictures), labels).backward()

    size = sum(p.nbytes for p in net.parameters())
    bars[way] = {"parameters": size, "momentum": size, "gradients, at most": peak}
    results.append(torch.cat([p.detach().flatten() for p in net.parameters()]))

print("The parameters after ten steps are equal, bit by bit:", torch.equal(*results))
draw_memory(bars, title="A net in training: what the model and its optimizer need")

# %% [markdown]
# Of the gradients only the largest one is ever there. In a deep net with hundreds of layers, that is next to nothing.
#
# What does it cost?
#
# | you want | with an optimizer in backward |
# | --- | --- |
# | to clip each parameter's gradient | in the same hook, before the step |
# | to clip by the norm of *all* gradients | not possible: by the time the norm is known, the gradients are gone |
# | to add up the gradients of several batches | not possible, for the same reason |
# | a learning-rate schedule | keep the optimizers in a list, and make one schedule for each |
#
# PyTorch's FSDP, which trains large models on many GPUs, uses the same hook.

# %% [markdown]
# ### In your own words: Whose gradient is it?
#
# 5 min · 2 points
#
# `PerSampleGradients` is correct for the nets of this lesson. A colleague puts a `BatchNorm1d` between the layers, in training
# mode, and finds: the sum over the samples is still right, but the "gradient of sample 2" is another one when he exchanges
# sample 5. "Then your tool has a bug: I have not touched sample 2."
#
# Is it a bug? Say what the outer product of sample 2's rows assumes about the other samples, what the batch norm does to that,
# and whether another tool could compute what he wants. What would you tell him to change, in the net or in its mode?
#
# Where this notebook is handed in, a person reads your answer. No check looks at it, and `progress()` does not count it.

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_own_gradient", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# It is no bug of the tool: with a batch norm in training mode "the gradient of sample 2" does not exist. The normalisation uses
# mean and variance of the whole batch, so the loss of sample 2 depends on sample 5, and sample 5's on sample 2. The outer product
# of a sample's rows is its own gradient only where the rows do not meet on the way: then the gradient that arrives at row 2
# comes from sample 2's loss alone. Here it holds parts of all losses. Running sample 2 on its own computes something else (and
# fails with one value per channel). In eval mode the statistics are constants and it is right again; or use a norm that looks
# at one sample only, such as `LayerNorm` or `GroupNorm`.
#
# ### BEGIN MARK SCHEME
# - 2 points: with batch statistics the samples' losses depend on each other, so the question itself has no answer in training
#   mode, whatever the tool. A remedy: eval mode, or a norm within the sample.
# - 1 point: sees that the batch norm mixes the samples, but calls it a fault of the tool, or gives no remedy that works.
# - Common wrong explanations, 0 points for that part: `reduction` is set wrongly (then all samples would be off by one factor,
#   and the sum too); the hooks fire in another order; the running statistics are the reason (they are not used in training mode);
#   `vmap` would give the right answer.
# ### END MARK SCHEME
# ### END SOLUTION

# %% [markdown]
# ## What you take with you
#
# Five tools, one plan:
#
# | tool | hears | through | at work it answers |
# | --- | --- | --- | --- |
# | `gradient_flow_debugger` | outputs and their gradients | forward hooks, tensor hooks in them | where does it break? |
# | `grad_cam` | one output and its gradient | a forward hook, a tensor hook in it | where does it look? |
# | `PerSampleGradients` | inputs, and the gradients of outputs | forward hooks, tensor hooks in them | which sample pulls how hard? |
# | `ActivationMemory` | what autograd saves, and in which layer | saved-tensors hooks, forward hooks | what fills the memory? |
# | `OptimizerInBackward` | each `.grad`, once it is complete | post-accumulate hooks | how does it fit in? |
#
# And one list to go through before you give such a tool to a colleague:
#
# - **Which models?** Nested, with in-place operations, frozen in part, a layer used twice, no parameter at all.
# - **What does it leave behind?** Hooks, `.grad`, the mode, the random generator. Also after an error.
# - **Whose hooks does it remove?** Its own, by their handles.
# - **Is it right?** Compare with autograd on a copy without hooks, on small nets with odd shapes. The checks of this course do nothing else.

# %%
progress()
