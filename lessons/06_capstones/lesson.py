# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Tools made of hooks
#
# - **You will do:** build a tool that shows why a net fails, and one that shows where a net looks. *Further* has three more tools.
# - **You will learn:** to make tools that work on any model, or report that they cannot.
# - **You need:** lessons 02, 03 and 05.
# - **Time:** <!-- time and points -->.
# - **Out of scope:** several GPUs, `torch.compile`.

# %% nbgrader={"grade": false, "grade_id": "setup_imports", "locked": true, "schema_version": 3, "solution": false, "task": false}
import copy
from contextlib import contextmanager, nullcontext
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from course import hint, progress, solution
from course.data import digits
from course.patient import Reader, SoundUnitLength, UnitLength, is_written, scans_of_digits, tensors_in, train
from torch.autograd.graph import saved_tensors_hooks
from torch.nn import Parameter
from torch.utils.checkpoint import checkpoint

torch.set_num_threads(1)  # nets as small as these run fastest on one thread

# %% [markdown]
# ## Find the layer in which a net breaks
#
# This net reads digits. Its loss falls. Then, from one step to the next, the loss is NaN. The **patient** is the net just before the
# step that breaks it. `x` is the batch of this step; its loss is still finite:

# %%
scans, answers = scans_of_digits()
batches = torch.randint(0, 1500, (130, 32), generator=torch.Generator().manual_seed(0))
torch.manual_seed(0)
patient = Reader()
losses = train(patient, scans, answers, batches[:109])
x, y = scans[batches[109]], answers[batches[109]]
losses += train(copy.deepcopy(patient), scans, answers, batches[109:112])
print("the last losses:", [round(loss, 2) for loss in losses[-5:]])

# %% [markdown]
# Which layer broke it? Look in *both* directions. A forward hook sees the output, a tensor hook on the output sees the gradient. But a view
# that is changed in place later loses its hook (lesson 03). So return a clone from the forward hook, and register the tensor hook on the
# clone. Full backward hooks and full backward *pre*-hooks raise an error where a ReLU works in place.
#
# ### Exercise: What is wrong with this net?
#
# hard · 30 min
#
# Write the context manager `gradient_flow_debugger(model)`. It yields a dict of plain data, changes nothing in the model, and leaves none
# of its hooks on the model, even after an error.
#
# **Step 1** (3 points): where does it break?
#
# | key | value |
# | --- | --- |
# | `"bad_output"` | name of the first module to *finish* with NaN or infinity in its output, or `None` |
# | `"bad_gradient"` | name of the first module, in *backward*, with NaN or infinity in the gradient with respect to its output, or `None` |
#
# - In the checks each module returns one tensor (some without gradient), and ReLUs work in place. For other models, `tensors_in(output)`
#   looks into tuples, lists and dicts.
# - If a block and its last layer return the same tensor, either name is right.
#
# ```python
# with gradient_flow_debugger(patient) as report:
#     F.cross_entropy(patient(x), y).backward()
# report["bad_output"]        # a name, or None
# ```

# %% nbgrader={"grade": false, "grade_id": "gradient_flow_debugger", "locked": false, "schema_version": 3, "solution": true, "task": false}
@contextmanager
def gradient_flow_debugger(model):
    """Watch a forward and a backward pass of `model` in the block; the yielded dict says what went wrong where."""
    # TODO: step 1: register hooks, `yield` the dict, and always remove the hooks. Step 2 is further down.
    ### BEGIN SOLUTION
    report = {"bad_output": None, "bad_gradient": None, "dead": {}, "no_gradient": [], "gradient_size": {}}
    handles, called = [], []

    def see_gradient(name, grad):
        if report["bad_gradient"] is None and not grad.isfinite().all():
            report["bad_gradient"] = name

    def see_output(name, module, args, output):
        called.append(name)
        if isinstance(output, torch.Tensor):
            output = output.clone()  # a hook would get lost on a view, and stay on a leaf
        for tensor in tensors_in(output):
            if report["bad_output"] is None and not tensor.detach().isfinite().all():  # a checkpoint records what is not detached
                report["bad_output"] = name
            if tensor.requires_grad:
                handles.append(tensor.register_hook(partial(see_gradient, name)))
        if isinstance(module, nn.ReLU):
            units = output.transpose(0, 1).flatten(1)
            report["dead"][name] = (units == 0).all(1).float().mean().item()
        return output

    try:
        for name, module in model.named_modules():
            handles.append(module.register_forward_hook(partial(see_output, name)))
        yield report
    finally:
        for handle in handles:
            handle.remove()
    if not called:
        raise RuntimeError("no hook was called: has this model run?")
    for name, parameter in model.named_parameters():
        if parameter.grad is None:
            report["no_gradient"].append(name)
        else:
            report["gradient_size"][name] = parameter.grad.abs().mean().item()
    ### END SOLUTION
# %% nbgrader={"grade": true, "grade_id": "test_gradient_flow_debugger_breaks", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course import check
check("gradient_flow_debugger", part="breaks")
# %% [markdown]
# Run the next cell: it prints the layer's name and the code. Before you read on: which line breaks, and for which row of its input?

# %%
from course.sources import show_source

if is_written(gradient_flow_debugger, patient):
    with gradient_flow_debugger(patient) as report:
        F.cross_entropy(patient(x), y).backward()
    print("bad output:  ", report["bad_output"], "\nbad gradient:", report["bad_gradient"])
show_source(UnitLength, Reader)

# %% [markdown]
# The output of `embed` is the first to get a bad gradient. The next module in forward, `UnitLength`, made this gradient. In a row of zeros,
# the root is 0. In backward, `sqrt` gets a gradient of 0, and divides 0 by twice the root. 0 / 0 is NaN. The `1e-6` comes after the root:
# too late. For a row of zeros, how large is the gradient in each of four versions?

# %%
ways = {
    "x / (sqrt(sum) + 1e-6)": UnitLength(),
    "F.normalize(x)": F.normalize,
    "F.normalize(x, eps=1e-3)": partial(F.normalize, eps=1e-3),
    "x / sqrt(sum + 1e-6)": SoundUnitLength(),
}
for title, way in ways.items():
    row = torch.zeros(1, 32, requires_grad=True)
    patient.head(way(row)).sum().backward()
    print(f"{title:26} largest gradient: {row.grad.abs().max():.1e}")

# %% [markdown]
# `F.normalize` divides by its `eps`, 1e-12: the gradient is finite and huge. The last two versions divide by 1e-3. Does the
# last one cure the patient?

# %%
from course.pictures.curves import draw_curves

torch.manual_seed(0)
cured = Reader(SoundUnitLength)
runs = {"as it was": losses, "cured": train(cured, scans, answers, batches)}
right = (cured(scans[1500:]).argmax(1) == answers[1500:]).float().mean()
draw_curves(runs, title=f"Loss. The cured net reads {right:.0%} of new digits")

# %% [markdown]
# ### Step 2: what does not learn?
#
# Another fault is silent. Where a ReLU's output is 0, no gradient goes back through it. A **unit** is a feature or a channel: one index
# of dimension 1. It is **dead** in a batch if its output is 0 for *every* sample, at every position. (You may assume inputs `(N, features)` or
# `(N, channels, h, w)`, and that each ReLU runs once.)
#
# Go back to your tool, and add three entries (2 points). For the patient, `"dead"` is `{"features.1": 0.0, "features.3": 0.2083}`.
#
# | key | value |
# | --- | --- |
# | `"dead"` | dict: name of each `nn.ReLU` → share of its units that are dead |
# | `"no_gradient"` | list: names of parameters with `.grad` still `None` after the block |
# | `"gradient_size"` | dict: name of each other parameter → mean absolute value of its `.grad` |

# %% nbgrader={"grade": true, "grade_id": "test_gradient_flow_debugger_learns", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course import check
check("gradient_flow_debugger", part="learns")
# %% [markdown]
# ### A gradient that gets lost on the way
#
# The slope of a sigmoid is at most 1/4, so each of six sigmoids makes the gradient smaller. This is called the **vanishing gradient**. The
# default weights make it smaller, too. The picture shows four untrained nets, each in one backward pass; the ratios above it come from your
# tool:

# %%
from course.pictures.gradient_flow import draw_gradient_flow

pictures, labels = digits()
inputs, wanted = pictures[:128].flatten(1), labels[:128]


def deep_net(activation, norm=nn.Identity):
    torch.manual_seed(0)
    layers, width = [], 64
    for _ in range(6):
        layers += [nn.Linear(width, 32), norm(32), activation()]
        width = 32
    return nn.Sequential(*layers, nn.Linear(32, 10))


nets = {"no activation": (nn.Identity,), "sigmoid": (nn.Sigmoid,)}
nets |= {"BatchNorm, sigmoid": (nn.Sigmoid, nn.BatchNorm1d), "BatchNorm, ReLU": (nn.ReLU, nn.BatchNorm1d)}
weights, written = {}, is_written(gradient_flow_debugger, patient)
for title, kind in nets.items():
    net = deep_net(*kind)
    with gradient_flow_debugger(net) if written else nullcontext({}) as report:
        F.cross_entropy(net(inputs), wanted).backward()
    if sizes := report.get("gradient_size"):
        print(f"{title:20} gradient_size of the first layer / of the last: {sizes['0.weight'] / sizes['18.weight']:.1g}")
    weights |= {f"{title}: layer {place}": net[place].weight for place in (0, 9, 18)}
draw_gradient_flow(weights, title="The first, a middle and the last linear layer of four nets")

# %% [markdown]
# Without activations, the first layer's gradient is 1/5 of the last layer's, with sigmoids less than 1/100,000.
# BatchNorm cures that, even between sigmoids.
#
# ### Three faults at once
#
# This net has a `UnitLength`, and somebody forgot to unfreeze its last layer. In its first layer, 20 of 32 units have only negative
# weights, and pixels are never negative. Does your report show all three?

# %%
blank = inputs.clone()
blank[5] = 0.0  # one picture of 128 is blank

torch.manual_seed(0)
first, second, last = nn.Linear(64, 32, bias=False), nn.Linear(32, 32, bias=False), nn.Linear(32, 10)
sick = nn.Sequential(first, nn.ReLU(), second, UnitLength(), last)
with torch.no_grad():
    first.weight[:20] = -first.weight[:20].abs()
last.requires_grad_(False)

if is_written(gradient_flow_debugger, sick):
    with gradient_flow_debugger(sick) as report:
        F.cross_entropy(sick(blank), wanted).backward()
    for key, value in report.items():
        print(f"{key:13} {value}")
# %% [markdown]
# Layer `2`, before the `UnitLength`, gets the bad gradient; 20 of 32 units are dead; layer `4` is frozen, so its `.grad` stays `None`.
# `0.weight` gets no NaN: for the blank picture, every ReLU returns 0 and passes no gradient back.
#
# ## See where a net looks
#
# A net gives a picture a score for class 3. Does this score come from the 3, or from something beside it? This net learned from pictures of
# **one** digit each. The labels never say where the digit is.

# %%
from course.pictures.canvas import beside
from course.pictures.feature_maps import draw_feature_maps
from course.pictures.heat import draw_heat


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


pictures, labels = digits()
framed = F.pad(pictures, (2, 2, 2, 2))  # 12 x 12, so that a digit can move
torch.manual_seed(0)
eye, steps = DigitNet(), 140
optimizer = torch.optim.Adam(eye.parameters())
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.02, total_steps=steps)
for _ in range(steps):
    chosen = torch.randint(0, 1500, (48,))
    moved = framed[chosen].roll(torch.randint(-2, 3, (2,)).tolist(), (2, 3))
    optimizer.zero_grad()
    F.cross_entropy(eye(moved), labels[chosen]).backward()
    optimizer.step()
    schedule.step()
eye.eval().zero_grad()
right = (eye(framed[1500:]).argmax(1) == labels[1500:]).float().mean()
print(f"right on new digits: {right:.0%}")
# %% [markdown]
# Before the last layer, the net takes the mean over all positions, so a picture may have any size. Here are four digits, and the net's
# features just before that mean:

# %%
def board_of(*digits_wanted, skip=0):
    """Four digits that the net has not been trained on, in a square: shape (1, 1, 24, 24)."""
    found = [framed[1500:][labels[1500:] == digit][skip, 0] for digit in digits_wanted]
    return torch.cat([torch.cat(found[:2], 1), torch.cat(found[2:], 1)])[None, None]


board = board_of(3, 7, 0, 4, skip=3)
with torch.no_grad():
    maps = eye.features(board)
draw_feature_maps({"the picture": board, "features": maps}, title="Each channel lights up at its own positions")
# %% [markdown]
# ### The recipe
#
# Which channels support a 3? Ask autograd: *how much would the score of class 3 rise if this channel were a little stronger?* That is a
# gradient. **Grad-CAM** computes a heat map from it:
#
# | step | | shape |
# | --- | --- | --- |
# | 1 | `A`: the output of a layer | `(N, K, h, w)` |
# | 2 | `G`: the gradient of the score of the class, with respect to `A` | `(N, K, h, w)` |
# | 3 | the weight of each channel: the mean of `G` over all positions | `(N, K)` |
# | 4 | the sum over the channels of weight times `A` | `(N, h, w)` |
# | 5 | negative values become 0: they count against the class | `(N, h, w)` |
#
# The score is the model's output, and not the softmax: if the model is sure, the softmax's gradient is nearly 0. Here is the new picture
# with the highest score:

# %%
scores = eye(framed[1694:1695])
for title, value in (("score", scores), ("softmax", scores.softmax(1))):
    (slope,) = torch.autograd.grad(value.max(), scores, retain_graph=True)
    print(f"{title:8} {value.max():6.3f}   largest gradient at the scores: {slope.abs().max():.4f}")
# %% [markdown]
# ### Two ways to get it wrong
#
# First: you keep only a layer's output. The in-place ReLU after the last BatchNorm overwrites the BatchNorm's output (lesson 05, 'A feature
# can change after your hook has ended'). Second: to look at a gradient, you call `backward()`, which fills `.grad`.

# %%
kept = []
with eye.features[7].register_forward_hook(lambda module, args, output: kept.append(output)):
    score = eye(board)[0, 3]
print("the kept BatchNorm output: smallest value", kept[0].min().item(), "  made by", kept[0].grad_fn.name())

score.backward()
print("parameters that now have a `.grad`:", sum(p.grad is not None for p in eye.parameters()))
eye.zero_grad()

(gradient,) = torch.autograd.grad(eye(board)[0, 3], eye.fc.weight)
print("autograd.grad returns a tensor", tuple(gradient.shape), "and .grad is still", eye.fc.weight.grad)

# %% [markdown]
# The kept tensor now holds the ReLU's output. So keep a clone of the output. For the gradient, register a tensor hook on the output (if it
# is no view) *inside* the forward hook: the tensor hook gets the gradient with respect to the value at that moment. Or keep a copy of the
# output, and return a clone of this copy to the model. `torch.autograd.grad(score, tensor)` changes no leaf's `.grad`.
#
# ### Exercise: Grad-CAM
#
# medium · 20 min
#
# Write `grad_cam(model, layer, x, targets)`, which returns the heat maps of steps 1 to 5, not scaled, shape `(N, h, w)`. `layer` is the
# dotted name of a layer that runs once and returns a new tensor, not its input.
#
# - Each picture has its own class in `targets`, and no other picture changes its map.
# - `A` is what the layer returned, even if a later layer overwrites it in place.
# - It also works on a frozen model, with an `x` that requires no gradient; in training mode it raises an error, or returns the maps of eval mode.
# - Afterwards your hooks are gone, even after an error, and every `.grad`, `requires_grad` and mode is as it was.
#
# ```python
# grad_cam(eye, "features", board.expand(2, -1, -1, -1), torch.tensor([3, 7])).shape  # two maps: (2, 12, 12)
# ```

# %% nbgrader={"grade": false, "grade_id": "grad_cam", "locked": false, "schema_version": 3, "solution": true, "task": false}
def grad_cam(model, layer, x, targets):
    """Where in each picture of `x` the layer finds what supports the class in `targets`: heat maps, (N, h, w)."""
    # TODO: catch the layer's output and its gradient, then follow the recipe.
    ### BEGIN SOLUTION
    if any(module.training for module in model.modules()):
        raise ValueError("grad_cam needs a model in evaluation mode: call model.eval() first")
    caught = []

    def catch(module, args, output):
        if not (isinstance(output, torch.Tensor) and output.dim() == 4):
            raise ValueError(f"grad_cam needs a layer that returns one tensor (N, K, h, w), {layer!r} does not")
        caught.append(output.detach().clone().requires_grad_())
        return caught[-1].clone()  # the model goes on with the clone, and may overwrite it

    with torch.enable_grad(), model.get_submodule(layer).register_forward_hook(catch):
        score = model(x).gather(1, targets[:, None]).sum()
    if not caught:
        raise ValueError(f"grad_cam needs a layer that runs, {layer!r} does not")
    features = caught[-1]
    (gradient,) = torch.autograd.grad(score, features)
    weights = gradient.mean((2, 3), keepdim=True)
    return (weights * features).sum(1).relu().detach()
    ### END SOLUTION
# %% nbgrader={"grade": true, "grade_id": "test_grad_cam", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
from course import check
check("grad_cam")
# %% [markdown]
# Where does the net see a 3, and where a 7? You may ask for any class, not only for the net's answer.

# %%
heats = {digit: grad_cam(eye, "features", board, torch.tensor([digit])) for digit in (3, 7)}
written = heats[3] is not None
row = (draw_heat(board, heat, f"What supports a {digit}") for digit, heat in heats.items())
beside(*row) if written else print("grad_cam is not written yet")
# %% [markdown]
# The upper bar of the 7 supports a 3, too: a 3 has such a bar. How far can you trust these maps? Measure on 20 boards: how much heat does a
# class get, and what share of it lies on each digit? How do the scores change if a digit is wiped out?

# %%
boards = torch.cat([board_of(3, 7, 0, 4, skip=skip) for skip in range(20)])
places = {3: (0, 0), 7: (0, 12), 0: (12, 0), 4: (12, 12)}
for asked in (*places, 1) if written else ():
    heat = grad_cam(eye, "features", boards, torch.full((20,), asked))
    quarters = heat.view(20, 2, 6, 2, 6).sum((2, 4)).flatten(1)
    shares = (quarters / quarters.sum(1, keepdim=True)).mean(0)
    where = ", ".join(f"{share:3.0%} on the {digit}" for digit, share in zip(places, shares, strict=True))
    print(f"class {asked}: heat {quarters.sum(1).mean():.1f}, {where}")
for digit, (top, left) in places.items():
    wiped = boards.clone()
    wiped[:, :, top : top + 12, left : left + 12] = 0
    change = (eye(wiped) - eye(boards)).mean(0)
    scores = ", ".join(f"score of {one} {change[one]:+.2f}" for one in dict.fromkeys((digit, 3)))
    print(f"without the {digit}, change of the {scores}")
# %% [markdown]
# - Most heat for a digit on the board lies on this digit; without this digit its score falls.
# - But nearly a third of the heat for a 3 lies on the 7, and without the 7 the score of 3 changes little.
# - No board has a 1, but the map of 1 is not empty.
#
# So a map is no sure sign that the class is there, and does not say how much a place counts in total.
#
# ## Further
#
# The core path ends here. Three parts follow, in any order. After them, you try your tools:
#
# - *Train without holding all gradients* (25 minutes)
# - *One gradient for each sample* (45 minutes)
# - *What is the memory full of?* (35 minutes)
# - *Your tools on models from practice* (5 minutes)
#
# ## Train without holding all gradients
#
# Between backward and `zero_grad()` the gradients of **all** parameters are in memory, as large as the parameters. But
# SGD or Adam could update each parameter as soon as its gradient is there, and throw the gradient away. Which hook comes at the right
# moment?

# %%
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
net[2].weight = net[0].weight  # one weight, used twice


def early(name, parameter, grad):
    print(f"{name:8}  tensor hook           .grad is there: {parameter.grad is not None}")


def late(name, parameter):
    there = sum(one.grad is not None for one in net.parameters())
    print(f"{name:8}  post-accumulate hook  .grad is there: {parameter.grad is not None}, gradients in memory: {there}")


for name, parameter in net.named_parameters():
    parameter.register_hook(partial(early, name, parameter))
    parameter.register_post_accumulate_grad_hook(partial(late, name))
net(torch.randn(3, 4)).sum().backward()
# %% [markdown]
# The tensor hook comes too early, the post-accumulate hook (lesson 02) at the right moment. The hooks of the shared weight run once. Is it
# safe to change a weight in the middle of backward? Yes, if a gradient flows from each use of the weight back to the weight. Then the
# weight's gradient is complete only when backward has passed all its uses, and backward does not read the weight again.
#
# ### Exercise: Optimizer in backward
#
# medium · 20 min · further
#
# Write the context manager `OptimizerInBackward(model, make_optimizer)`; `make_optimizer` makes an optimizer for a list of parameters.
#
# - After each backward in the block, the parameters are equal to those of an ordinary loop, with any optimizer that updates parameters
#   independently.
# - The optimizer updates a parameter as soon as its gradient is complete, and `.grad` becomes None immediately.
# - Frozen parameters stay as they are, and a shared one is updated once.
# - After the block, even after an error, backward works as before.
#
# ```python
# with OptimizerInBackward(model, partial(torch.optim.SGD, lr=0.1, momentum=0.9)):
#     for x, y in batches:
#         loss_function(model(x), y).backward()       # this is all: no step, no zero_grad
# ```

# %% nbgrader={"grade": false, "grade_id": "optimizer_in_backward", "locked": false, "schema_version": 3, "solution": true, "task": false}
class OptimizerInBackward:
    """In the block, each backward also updates the parameters of `model`, and releases each gradient immediately."""

    def __init__(self, model: nn.Module, make_optimizer) -> None:
        self.model = model
        self.make_optimizer = make_optimizer
        self.optimizers = {}

    def __enter__(self):
        # TODO: update each parameter when its gradient is complete.
        ### BEGIN SOLUTION
        def step(parameter):
            self.optimizers[parameter].step()
            parameter.grad = None

        self.handles = []
        for parameter in self.model.parameters():
            if parameter.requires_grad:
                if parameter not in self.optimizers:  # a second block keeps the momentum
                    self.optimizers[parameter] = self.make_optimizer([parameter])
                self.handles.append(parameter.register_post_accumulate_grad_hook(step))
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
# Two equal nets learn to read digits, one with your tool. How many bytes of gradients are there at most?

# %%
from course.pictures.memory import draw_memory

make_optimizer = partial(torch.optim.SGD, lr=0.1, momentum=0.9)


def trained(with_tool):
    """The parameters after ten steps, and the most bytes of gradients in memory."""
    torch.manual_seed(0)
    hidden = [layer for _ in range(5) for layer in (nn.Linear(64, 64), nn.Tanh())]
    net, sizes = nn.Sequential(nn.Flatten(), *hidden, nn.Linear(64, 10)), []
    for parameter in net.parameters():
        parameter.register_post_accumulate_grad_hook(
            lambda _: sizes.append(sum(p.grad.nbytes for p in net.parameters() if p.grad is not None))
        )
    optimizer = make_optimizer(net.parameters())
    with OptimizerInBackward(net, make_optimizer) if with_tool else nullcontext():
        for _ in range(10):
            F.cross_entropy(net(pictures[:256]), labels[:256]).backward()
            optimizer.step()  # does nothing with your tool
            optimizer.zero_grad()
    return torch.cat([p.detach().flatten() for p in net.parameters()]), max(sizes)


(ordinary, most), (early, less) = trained(False), trained(True)
works, size = less < most, ordinary.nbytes
peaks = {"backward, then step": most, "step in backward": less}
bars = {way: {"parameters": size, "gradients": peak, "momentum": size} for way, peak in peaks.items()}
if works:
    print("The parameters after ten steps are equal, bit for bit:", torch.equal(ordinary, early))
title = "A net in training: what the model and its optimizer need"
draw_memory(bars, title=title) if works else print("OptimizerInBackward is not written yet")
# %% [markdown]
# But you cannot clip by the norm of *all* gradients, or add up gradients of several batches. And if a use sends no gradient back
# to the weight, backward may still need the weight's old value:

# %%
uses = {
    "weight.detach()": lambda x, weight: x @ weight.detach(),
    "weight.data": lambda x, weight: x @ weight.data,
    "a reentrant checkpoint": lambda x, weight: checkpoint(lambda x: x @ weight, x, use_reentrant=True),
}
rows = torch.randn(4, 3)
for title, use in uses.items() if works else ():
    torch.manual_seed(0)
    first, last = net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    loss_of = lambda: (use(first(rows), last.weight) @ last.weight).sum()  # last.weight is used twice
    loss_of().backward()
    by_step = first.weight - first.weight.grad
    net.zero_grad()
    try:
        with OptimizerInBackward(net, partial(torch.optim.SGD, lr=1.0)):
            loss_of().backward()
        print(f"{title}: the first layer's weight is off by {(first.weight - by_step).abs().max():.2f}")
    except RuntimeError as error:
        print(f"{title}: RuntimeError: {str(error)[:86]} ...")
# %% [markdown]
# The result of `detach()` shares the weight's version counter, so autograd notices the change and raises an error. `.data` has its own
# counter. A reentrant checkpoint, the older kind, connects the weight to the graph only in backward. Both give a wrong gradient silently.
#
# ## One gradient for each sample
#
# `weight.grad` holds one gradient for the whole batch. To find the sample that broke the patient, you need one for each sample. A forward
# hook sees the input of a `Linear` layer. A tensor hook on the layer's output sees the output's gradient.

# %%
torch.manual_seed(0)
layer, rows, classes = nn.Linear(3, 2), torch.randn(4, 3), torch.tensor([0, 1, 1, 0])
seen = {}


def look(module, args, output):
    seen["input"] = args[0]
    output.register_hook(lambda grad: seen.update(grad=grad))


with layer.register_forward_hook(look):
    F.cross_entropy(layer(rows), classes).backward()
print("input", tuple(seen["input"].shape), "  gradient of the output", tuple(seen["grad"].shape))
print("weight.grad", tuple(layer.weight.grad.shape), "- no trace of the 4 samples")

loss_alone = F.cross_entropy(layer(rows[2:3]), classes[2:3])  # sample 2 alone
(alone,) = torch.autograd.grad(loss_alone, layer.weight)
outer = torch.outer(seen["grad"][2], seen["input"][2])
print("gradient of sample 2 alone:     ", alone.flatten())
print("outer product of its two rows:  ", outer.flatten())
# %% [markdown]
# A sample has a row in the output's gradient and a row in the input. The weight gradient is their **outer product**: each number of the one
# row times each number of the other. The bias gradient is the row of the output's gradient.
#
# But the gradient of sample 2 alone is 4 times this product: `cross_entropy` takes the **mean** of 4 losses, so each gradient falls to 1/4.
# Your tool's user must say if the loss is a mean, and put the samples first. Your tool may refuse inputs of three dimensions: of `(T, N,
# d)`, time first, it would take the T steps for samples.
#
# ### Exercise: Per-sample gradients
#
# hard · 30 min · further
#
# Write the context manager `PerSampleGradients(model, reduction="mean")`. The block contains one forward and one backward. You may assume
# that Linear layers get inputs `(N, d)`, and are not frozen.
#
# - `gradients` is a dict. The keys are the names in `named_parameters()` of all weights and biases of `nn.Linear` layers, at any depth; the
#   values are the gradients of **each sample's own loss**.
# - `reduction` says whether the loss is the `"mean"` or the `"sum"` over the samples.
# - A layer may run more than once in a forward: then a sample's gradient is the sum over the calls that reach the loss.
# - `.grad` is the same as without the tool.
# - After the block, even after an error, its hooks are gone.
#
# ```python
# with PerSampleGradients(model) as per_sample:
#     loss_function(model(x), y).backward()
# per_sample.gradients["body.0.weight"]      # shape (N, out, in): one gradient for each of the N samples
# ```

# %% nbgrader={"grade": false, "grade_id": "per_sample_gradients", "locked": false, "schema_version": 3, "solution": true, "task": false}
class PerSampleGradients:
    """`gradients` maps the names of Linear layers' weights and biases to tensors (N, *parameter.shape)."""

    def __init__(self, model: nn.Module, reduction: str = "mean") -> None:
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        # TODO: register what you need.
        ### BEGIN SOLUTION
        layers = [module for module in self.model.modules() if isinstance(module, nn.Linear)]
        name_of = {p: name for name, p in self.model.named_parameters()}
        linear = {p for layer in layers for p in layer.parameters()}
        for module in self.model.modules():
            if module not in layers and not linear.isdisjoint(module.parameters(recurse=False)):
                raise ValueError(f"{type(module).__name__} shares a parameter with a Linear layer: its part is unknown")
        gradients = self.gradients = {}

        def look(layer, args, output):
            output = output.clone()  # for inputs (N, T, d) the output is a view, which would lose its hook
            output.register_hook(partial(collect, layer, args[0].detach()))  # each call's hook knows its input
            return output

        def collect(layer, x, grad):
            if self.reduction == "mean":
                grad = grad * len(grad)
            add(layer.weight, torch.einsum("n...o,n...i->noi", grad, x))
            if layer.bias is not None:
                add(layer.bias, torch.einsum("n...o->no", grad))

        def add(parameter, gradient):
            name = name_of[parameter]
            gradients[name] = gradients.get(name, 0) + gradient

        self.handles = [layer.register_forward_hook(look) for layer in layers]
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
# Which of the 32 scans broke the patient?

# %%
patient.train().zero_grad()
with PerSampleGradients(patient) as per_sample:
    F.cross_entropy(patient(scans[batches[109]]), answers[batches[109]]).backward()
for sample, gradient in enumerate(per_sample.gradients.get("embed.weight", [])):
    if not gradient.isfinite().all():
        scan = batches[109][sample].item()
        print(f"sample {sample}, which is scan {scan}: sum of its pixels {scans[scan].sum():.0f}")
# %% [markdown]
# One scan of 1,500 is blank; its NaN makes the whole sum NaN.
#
# Now 20 of 1,000 digits get a wrong label. After some training, how large are the gradients of samples with right and with wrong labels?

# %%
torch.manual_seed(0)
mixed, mixed_labels = (part[:1000].clone() for part in digits())
spoilt = torch.randperm(1000)[:20]
mixed_labels[spoilt] = (mixed_labels[spoilt] + torch.randint(1, 10, (20,))) % 10
net = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = torch.optim.Adam(net.parameters(), lr=0.03)
for _ in range(20):
    optimizer.zero_grad()
    F.cross_entropy(net(mixed), mixed_labels).backward()
    optimizer.step()
with PerSampleGradients(net) as per_sample:
    F.cross_entropy(net(mixed), mixed_labels).backward()
gradients = per_sample.gradients
squares = [gradient.flatten(1).pow(2).sum(1) for gradient in gradients.values()]
norms = sum(squares, torch.zeros(1000)).sqrt()  # of each sample, over all parameters
wrong = torch.isin(torch.arange(1000), spoilt)
sizes = f"median norm: {norms[~wrong].median():.2f} with right labels, {norms[wrong].median():.2f} with wrong ones"
print(sizes if norms.any() else "PerSampleGradients is not written yet")
# %% [markdown]
# With these norms you can clip each sample's gradient, to 1 for example: then no sample adds more than a gradient of norm 1 to the sum.
# *Differential privacy* clips like this, and adds noise.
#
# ### Without hooks: `vmap`
#
# `torch.func` needs no formula for a layer: `grad` makes a function that returns the gradient of one
# sample, `vmap` runs it for all samples at once. Are the gradients the same?

# %%
from torch.func import functional_call, grad, vmap


def loss_of_one(parameters, x, y):
    return F.cross_entropy(functional_call(net, parameters, (x[None],)), y[None])


parameters = {name: parameter.detach() for name, parameter in net.named_parameters()}
by_vmap = vmap(grad(loss_of_one), in_dims=(None, 0, 0))(parameters, mixed, mixed_labels)
for name, gradient in gradients.items():
    print(f"{name:9} {tuple(gradient.shape)!s:15} largest difference {(gradient - by_vmap[name]).abs().max():.0e}")

# %% [markdown]
# They are equal, except for rounding.
#
# ### In your own words: Whose gradient is it?
#
# 5 min
#
# A colleague uses `PerSampleGradients` on a net with a `BatchNorm1d` in training mode. The sum over the samples is still right, but the
# "gradient of sample 2" changes if he replaces sample 5. He says: "Your tool has a bug: I have not touched sample 2."
#
# Is it a bug? What does the outer product of sample 2's rows assume about the other samples? What does the batch norm do to this
# assumption? What could he mean by "the gradient of sample 2"? Could another tool compute that? What should he change? (A person reads your
# answer, no check does.)

# %% [markdown] nbgrader={"grade": true, "grade_id": "explain_own_gradient", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# ### BEGIN SOLUTION
# It is no bug. The outer product of sample 2's rows is the sample's own gradient if row 2 gets its gradient from sample 2's loss alone. In
# training mode a batch norm uses mean and variance of the whole batch, so every loss depends on every sample: in a layer before the norm,
# row 2 gets a part of each loss. He may mean the derivative of sample 2's loss in this batch: one backward for each loss computes it. It
# has the same sum, and changes with sample 5, too. In eval mode the statistics are constants, and both meanings are the same; or use a norm
# within the sample, such as `LayerNorm`.
#
# ### BEGIN MARK SCHEME
# - 2 points: batch statistics mix the samples, so the tool's row 2 has parts of other losses. The derivative of sample 2's loss in this
#   batch is something else: another tool can compute it, and it changes with sample 5, too. A remedy: eval mode, or a norm within the sample.
# - 1 point: sees that the batch norm mixes the samples, but calls it a fault of the tool, or says that sample 2's loss has no
#   derivative, or gives no remedy that works.
# - Common wrong explanations, 0 points for that part: `reduction` is set wrongly (then all samples would be off by one factor,
#   and the sum too); the running statistics are the reason (they are not used in training mode);
#   `vmap`, or sample 2 alone, gives the answer (in training mode both raise an error).
# ### END MARK SCHEME
# ### END SOLUTION
# %% [markdown]
# ## What is the memory full of?
#
# Training holds parameters, gradients, the optimizer's state, and what autograd **saves** for backward. *Where* do those bytes (lesson
# 02) come from? Hooks for saved tensors see no layer; module hooks see a layer begin and end. Use them together:

# %%
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


def begin(name, module, args):
    print(f"begin {name!r}")


def end(name, module, args, output):
    print(f"end   {name!r}")


def show(tensor):
    print(f"    saved {tuple(tensor.shape)!s:7} {tensor.nbytes:3} bytes")
    return tensor.detach()


handles = []
for name, module in net.named_modules():
    handles.append(module.register_forward_pre_hook(partial(begin, name)))
    handles.append(module.register_forward_hook(partial(end, name)))
with saved_tensors_hooks(show, lambda kept: kept):
    loss = net(torch.randn(3, 4)).pow(2).sum()
for handle in handles:
    handle.remove()
# %% [markdown]
# Not all 328 bytes count. `(8, 2)` is a view of layer `2`'s weight, and parameters are there anyway. Layer `1`, the ReLU, saves its result;
# layer `2` saves this result as its input: it is the same **storage**. It counts once, 96 bytes, for layer `1`. With 48 bytes in layer `0`
# and 24 in the loss, that makes **168**. As long as the graph lives, you recognise a storage by its address (lesson 02, 'Counting memory').
#
# ### Exercise: Activation memory
#
# hard · 30 min · further
#
# Write the context manager `ActivationMemory(model)`. The block contains one forward, and keeps the whole graph.
#
# - `bytes` says how many bytes autograd has saved for backward: each storage once and in full, without storages of parameters.
# - `by_layer` says where, under the names in `named_modules()`: a storage counts for the innermost module that is running when the storage
#   is first saved. `""` means: in no layer, so in the model's own forward or outside of it.
# - Backward, after the block, gives the same gradients as without the tool.
# - It copies no tensor and keeps none alive: once the graph is gone, so are the saved tensors.
# - After the block, even after an error, its hooks are gone and nothing is counted.
#
# ```python
# with ActivationMemory(model) as memory:
#     loss = loss_function(model(x), y)
# memory.bytes               # 168 for the net and the loss above
# memory.by_layer            # {"0": 48, "1": 96, "": 24}
# ```

# %% nbgrader={"grade": false, "grade_id": "activation_memory", "locked": false, "schema_version": 3, "solution": true, "task": false}
class ActivationMemory:
    """`bytes` is the size of what autograd saved for backward in the block, `by_layer` says where."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.bytes = 0
        self.by_layer = {}

    def __enter__(self):
        # TODO: switch the counting on.
        ### BEGIN SOLUTION
        self.bytes, self.by_layer = 0, {}
        seen = {parameter.untyped_storage().data_ptr() for parameter in self.model.parameters()}
        running = [""]

        def begin(name, module, args):
            running.append(name)

        def end(name, module, args, output):
            if running[-1] == name:  # false if the layer failed before it began
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
            self.handles.append(module.register_forward_hook(partial(end, name), always_call=True))
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
# What does each layer own, and what does it save?

# %%
from course.pictures.memory import draw_memory


def digit_net():
    torch.manual_seed(0)
    part = lambda channels: nn.Sequential(nn.Conv2d(channels, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU())
    return nn.Sequential(part(1), part(16), nn.Flatten(), nn.Linear(16 * 64, 10))


def memory_of(net, run=None, count=64):
    with ActivationMemory(net) as memory:
        F.cross_entropy((run or net)(few[:count]), few_labels[:count])
    return memory

# %%
net = digit_net()
few, few_labels = (part[:64].clone() for part in digits())
memory = memory_of(net)
bars = {}
for name, layer in net.named_modules():
    if not list(layer.children()):
        own = sum(parameter.nbytes for parameter in layer.parameters())
        bars[f"{name} {type(layer).__name__}"] = {"parameters": own, "saved for backward": memory.by_layer.get(name, 0)}
bars["loss"] = {"parameters": 0, "saved for backward": memory.by_layer.get("", 0)}
title = "What owns the parameters, what fills the memory"
draw_memory(bars, title=title) if memory.bytes else print("ActivationMemory is not written yet")
# %% [markdown]
# Saved maps fill almost all memory. Each map counts for the layer that saves it *first*.
#
# What helps? `checkpoint` saves only what goes into a part of the net, and computes the rest again in backward. **Stop and
# predict**: which keeps fewer bytes for backward: checkpoints for both parts, or a frozen first part?

# %%
bars = {}


def add_bar(title, run=None, count=64):
    learns = [p.nbytes for p in net.parameters() if p.requires_grad]
    memory = memory_of(net, run, count)
    size = sum(p.nbytes for p in net.parameters())
    bars[title] = {"parameters": size, "gradients": sum(learns), "saved for backward": memory.bytes}


add_bar("16 pictures", count=16)
add_bar("64 pictures")
add_bar("64, checkpoints", lambda x: net[2:](checkpoint(net[1], checkpoint(net[0], x, use_reentrant=False), use_reentrant=False)))
net[0].requires_grad_(False)
add_bar("64, first part frozen")
title = "Four ways to run a forward"
draw_memory(bars, title=title) if memory.bytes else print("ActivationMemory is not written yet")

# %% [markdown]
# Checkpoints: half is left. The frozen part saves nothing, but only a quarter is gone: the layer behind it now saves the map between the
# parts. Saved tensors grow with the batch, parameters and gradients do not. The bars count what is saved when forward ends. In backward,
# each checkpoint computes and saves its part again. So the *peak*, the most memory at one time, falls less than the bar.
#
# ## Your tools on models from practice
#
# These models go beyond what the exercises ask. An error is better than a wrong number. Compare your lines with the table.

# %%
from torchvision.models import resnet18


def tried(title, tool, *args):
    try:
        print(f"{title:28}", tool(*args))
    except Exception as error:
        print(f"{title:28} {type(error).__name__}: {str(error)[:90]}")


def faults(model, run, x):
    with gradient_flow_debugger(model) as report:
        tensors_in(run(x))[0].pow(2).mean().backward()
    return f"bad output: {report['bad_output']!r}, bad gradient: {report['bad_gradient']!r}"


def each_sample(model, x):
    with PerSampleGradients(model) as per_sample:
        model(x).exp().mean().backward()
    return f"gradients of {[*per_sample.gradients]}"


torch.manual_seed(0)
resnet, lstm = resnet18(), nn.LSTM(16, 8, num_layers=2, batch_first=True)
lstm.weight_ih_l1.data[0, 0] = torch.nan
language = nn.Sequential(nn.Embedding(9, 16), nn.Linear(16, 9, bias=False))
language[1].weight = language[0].weight  # as in GPT-2
photos, words, targets = torch.rand(2, 3, 64, 64), torch.randn(3, 5, 16), torch.tensor([1, 7])

if is_written(gradient_flow_debugger, resnet):
    tried("ResNet-18, in-place ReLUs", faults, resnet, resnet, photos)
    tried("LSTM, returns tuples", faults, lstm, lstm, words)
    tried("a model that never ran", faults, lstm, resnet, photos)
tried("Grad-CAM in training mode", grad_cam, resnet, "layer4.1", photos, targets)
tried("samples: tied Embedding", each_sample, language, torch.arange(8))

# %% [markdown]
# | line | should print | why |
# | --- | --- | --- |
# | ResNet-18 | twice `None` | In-place ReLUs disturb no tensor hook on a clone. |
# | LSTM | twice `''` | A weight holds a NaN. The LSTM is the whole model: its name is `''`. |
# | never ran | an error | An empty report would look like good news. |
# | training mode | an error, or the maps of eval mode | A BatchNorm mixes the pictures. |
# | tied Embedding, for `PerSampleGradients` | an error | No hook on the Linear layer sees the Embedding's part. |
#
# ## What you take with you
#
# Before you give a hook tool to a colleague:
#
# - **Which models?** Does it work with nested and partly frozen models, in-place operations, tied weights, a layer used twice, outputs
#   that are tuples, half precision? For others, raise an error.
# - **Is everything as before?** Check hooks, `.grad`, mode, random generator, even after an error.
# - **Is it right?** Compare with autograd on a copy without hooks.
#
# ## Where to go on
#
# - [Captum](https://captum.ai): Grad-CAM and many other attributions.
# - [Step in backward](https://docs.pytorch.org/tutorials/intermediate/optimizer_step_in_backward_tutorial.html): shows the memory.
# - [Opacus](https://opacus.ai): per-sample gradients of many layers.
#
# ### When this notebook is graded
#
# <!-- grading limits -->

# %%
progress()
