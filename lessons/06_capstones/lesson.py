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
# hard · 25 min · 5 points
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
# Run this cell to check your answer.
from collections.abc import Mapping

import torch
from torch import nn

from course.checking import Check, check
from course.compare import AnyOf, Close, Matches
from course.evidence import TensorRecord
from course.probing import hook_counts, other_than
from course.traces import as_before, what_runs

FUNCTIONS = {
    "sound": lambda x: x * 1,
    "zero": lambda x: x * 0,
    "log": lambda x: torch.log(x - 0.1),  # NaN at 0
    "root": lambda x: x + (x * 0).sqrt(),  # nothing to see in forward, NaN in backward
    "steep": torch.sqrt,  # an infinite slope at 0
}


def layer_of(conv, inside, outside):
    return nn.Conv2d(inside, outside, 3, padding=1) if conv else nn.Linear(inside, outside)


class Apply(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = FUNCTIONS[function]

    def forward(self, x):
        return self.function(x)


class Block(nn.Module):
    """A layer, a ReLU, a function as a module, a function that is none, and a skip connection around them."""

    def __init__(self, names, conv, inplace, function, after):
        super().__init__()
        self.names = names
        self.after = FUNCTIONS[after]
        for name, module in zip(names, (layer_of(conv, 6, 6), nn.ReLU(inplace), Apply(function))):
            self.add_module(name, module)

    def forward(self, x):
        layer, act, apply = (getattr(self, name) for name in self.names)
        return x + self.after(apply(act(layer(x))))


class Net(nn.Module):
    """A layer and a ReLU, a block, the mean over positions, a linear layer; and one layer that is never used."""

    def __init__(self, names, conv=False, inplace=False, function="sound", after="sound", dead=(1, 2)):
        super().__init__()
        self.names, self.conv = names, conv
        stem, body, head, layer, act, spare, apply = names
        self.add_module(stem, nn.Sequential())
        self.get_submodule(stem).add_module(layer, layer_of(conv, 3, 6))
        self.get_submodule(stem).add_module(act, nn.ReLU(inplace))
        self.add_module(body, Block((layer, act, apply), conv, inplace, function, after))
        self.add_module(head, nn.Linear(6, 4))
        self.add_module(spare, nn.Linear(2, 2))
        with torch.no_grad():
            for name, count in ((stem, dead[0]), (body, dead[1])):
                planted = self.get_submodule(f"{name}.{layer}")
                planted.weight[-count:], planted.bias[-count:] = 0.0, -1.0  # never active
                planted.weight[0], planted.bias[0] = 0.0, 1.0  # always active

    def forward(self, x):
        stem, body, head = (getattr(self, name) for name in self.names[:3])
        x = body(stem(x))
        return head(x.mean((2, 3)) if self.conv else x)


def walk(net, x):
    """(name, output) of every module in the order in which they finish, without a hook."""
    stem, body, head, layer, act, _, apply = net.names
    steps = []

    def run(name, x):
        x = net.get_submodule(name)(x)
        steps.append((name, x))
        return x

    x = run(f"{stem}.{act}", run(f"{stem}.{layer}", x))
    steps.append((stem, x))
    inner = run(f"{body}.{apply}", run(f"{body}.{act}", run(f"{body}.{layer}", x)))
    x = x + net.get_submodule(body).after(inner)
    steps.append((body, x))
    steps.append(("", run(head, x.mean((2, 3)) if net.conv else x)))
    return steps


def is_bad(tensor):
    return tensor is not None and not bool(tensor.isfinite().all())


class Passes:
    """One forward and one backward pass, step by step, on a net without hooks."""

    def __init__(self, net, x, upstream):
        self.net, self.steps = net, walk(net, x)
        loss = (self.steps[-1][1] * upstream).sum()
        parameters = [(name, p) for name, p in net.named_parameters() if p.requires_grad]
        outputs = [(name, output) for name, output in self.steps if output.requires_grad]
        wanted = [tensor for _, tensor in (*parameters, *outputs)]
        found = torch.autograd.grad(loss, wanted, allow_unused=True)
        self.of_parameter = dict(zip([name for name, _ in parameters], found))
        self.of_output = list(zip([name for name, _ in outputs], found[len(parameters) :]))[::-1]

    def bad_outputs(self):
        return [name for name, output in self.steps if is_bad(output)] or [None]

    def bad_gradients(self):
        return [name for name, grad in self.of_output if is_bad(grad)] or [None]

    def dead(self, share):
        return {name: share(output.detach()) for name, output in self.steps if name.split(".")[-1] == self.net.names[4]}

    def none(self):
        return [name for name, _ in self.net.named_parameters() if self.of_parameter.get(name) is None]

    def sizes(self, size):
        return {
            name: Close(float(size(self.of_parameter[name])), rtol=1e-4, atol=1e-8)
            for name, _ in self.net.named_parameters()
            if self.of_parameter.get(name) is not None
        }


def dead_units(output):
    """By the definition: the share of the indices of dimension 1 that are 0 everywhere."""
    return sum(not output[:, unit].any() for unit in range(output.shape[1])) / output.shape[1]


def entry(report, key):
    return report.get(key, "this entry is missing") if isinstance(report, Mapping) else report


OUTPUT, GRADIENT, DEAD, NONE, SIZE = (
    f'report["{key}"]' for key in ("bad_output", "bad_gradient", "dead", "no_gradient", "gradient_size")
)


def shares(wanted):
    return {name: Close(share, atol=1e-6) for name, share in wanted.items()}


class SoundNet(Check):
    """On a sound net: nothing bad, each ReLU's dead units, the unused parameters, the size of each gradient."""

    blame = {"output of the net": "watcher_changes_output", "gradients of the net": "watcher_changes_gradient"}
    errors = {
        r"TypeError: 'NoneType' object is not an iterator": "not_started",
        r"TypeError: gradient_flow_debugger\(\) missing \d+ required": "gfd_runs_model",
        r"TypeError: '\w+' object does not support the context manager": "gfd_no_context",
        r"RuntimeError: generator didn't (yield|stop)": "gfd_no_context",
        r"(TypeError|AttributeError): .*'?RemovableHandle'?": "hook_replaces_output",
        r"AttributeError: 'NoneType' object has no attribute '(abs|isfinite|norm|is\w+|mean|detach|max)'": "gfd_none_grad",
        r"TypeError: .*(isfinite|isnan|isinf)\(\): argument 'input' .* not NoneType": "gfd_none_grad",
    }

    def given(self, case):
        names = case.words("names", 7)
        dead = (case.integer("stem", 1, 2), case.integer("body", 3, 4))
        net = case.build("net", Net, names, **self.options(), dead=dead)
        x = case.tensor("x", 5, 3, *((5, 4) if net.conv else ()))
        return net, x, case.tensor("upstream", 5, 4)

    def options(self):
        return {}

    def probe(self, nb, case):
        net, x, upstream = self.given(case)
        with nb.function("gradient_flow_debugger")(net) as report:
            output = net(x)
            (output * upstream).sum().backward()
        keys = ("bad_output", "bad_gradient", "dead", "no_gradient", "gradient_size")
        return {
            "output of the net": output,
            "gradients of the net": {name: p.grad for name, p in net.named_parameters()},
            **{f'report["{key}"]': entry(report, key) for key in keys},
        }

    def truth(self, case):
        passes = Passes(*self.given(case))
        return {
            "output of the net": passes.steps[-1][1],
            "gradients of the net": {name: passes.of_parameter[name] for name, _ in passes.net.named_parameters()},
            OUTPUT: None,
            GRADIENT: None,
            DEAD: shares(passes.dead(dead_units)),
            NONE: passes.none(),
            SIZE: passes.sizes(lambda grad: grad.abs().mean()),
        }

    def mistakes(self, case):
        passes = Passes(*self.given(case))
        net = passes.net
        names = [name for name, _ in net.named_parameters()]
        counts = passes.dead(lambda output: round(dead_units(output) * output.shape[1]))
        tensors = Matches(
            lambda got: None if any(isinstance(value, TensorRecord) for value in got.values()) else "no", "tensors"
        )
        return {
            "gfd_filled_elsewhere": {
                SIZE: AnyOf("this entry is missing", {}),
                DEAD: AnyOf("this entry is missing", {}),
            },
            "gfd_too_early": AnyOf({NONE: names}, {SIZE: {name: 0.0 for name in names}}),
            "gfd_no_dead": {DEAD: {}},
            "loop_variable": {DEAD: Matches(lambda got: None if list(got) == [net.names[5]] else "no", "one name")},
            "class_or_name": {DEAD: Matches(lambda got: None if list(got) == ["ReLU"] else "no", "the class")},
            "dotted_name": {DEAD: Matches(lambda got: None if list(got) == [net.names[4]] else "no", "half a name")},
            "gfd_tensors_in_report": AnyOf({SIZE: tensors}, {DEAD: tensors}),
            "gfd_zeros_for_dead": {DEAD: shares(passes.dead(lambda output: float((output == 0).float().mean())))},
            "gfd_wrong_axis": AnyOf(
                {DEAD: shares(passes.dead(lambda output: float((output == 0).flatten(1).all(1).float().mean())))},
                {DEAD: shares(passes.dead(lambda output: float((output == 0).all(-1).float().mean())))},
            ),
            "gfd_positions_for_units": {
                DEAD: shares(passes.dead(lambda output: float((output == 0).all(0).float().mean())))
            },
            "gfd_count_for_share": {DEAD: AnyOf(counts, {name: value > 0 for name, value in counts.items()})},
            "gfd_all_for_first": AnyOf({OUTPUT: []}, {GRADIENT: []}),
            "gfd_unreached": {NONE: []},
            "gfd_layers_for_parameters": AnyOf(
                {NONE: [net.names[5]]},
                {SIZE: Matches(lambda got: "no" if any(name in names for name in got) else None, "other names")},
            ),
            "gfd_signed_mean": {SIZE: passes.sizes(lambda grad: grad.mean())},
            "gfd_other_size": AnyOf(
                {SIZE: passes.sizes(lambda grad: grad.norm())},
                {SIZE: passes.sizes(lambda grad: grad.abs().max())},
                {SIZE: passes.sizes(lambda grad: grad.abs().sum())},
                {SIZE: passes.sizes(lambda grad: grad.std(correction=0))},
                {SIZE: passes.sizes(lambda grad: grad.pow(2).mean().sqrt())},
            ),
        }


class FirstBadOutput(SoundNet):
    """A layer whose weights hold a NaN: `bad_output` is its name, not that of a layer after it."""

    def given(self, case):
        net, x, upstream = super().given(case)
        self.planted = f"{case.shuffled('where', net.names[:2])[0]}.{net.names[3]}"
        with torch.no_grad():
            net.get_submodule(self.planted).weight[0, 0] = float("nan")
        return net, x, upstream

    def probe(self, nb, case):
        return {OUTPUT: super().probe(nb, case)[OUTPUT]}

    def truth(self, case):
        return {OUTPUT: Passes(*self.given(case)).bad_outputs()[0]}

    def mistakes(self, case):
        passes = Passes(*self.given(case))
        bad = passes.bad_outputs()
        kinds = {type(module).__name__ for module in passes.net.modules()}
        known = {*passes.net.names, *kinds}
        return {
            "gfd_last_for_first": {OUTPUT: AnyOf(*bad[1:])},
            "dotted_name": {OUTPUT: bad[0].split(".")[-1]},
            "gfd_weights_for_outputs": {OUTPUT: f"{bad[0]}.weight"},
            "class_or_name": {OUTPUT: AnyOf(*sorted(kinds))},
            "gfd_all_for_first": {OUTPUT: bad},
            "shared_state": {
                OUTPUT: Matches(lambda got: None if got and not known & set(got.split(".")) else "no", "foreign")
            },
            "gfd_backward_only": {OUTPUT: None},
        }


class FirstBadGradient(SoundNet):
    """A sound forward pass, and a NaN born in backward: `bad_gradient` is the first module it reaches."""

    def options(self):
        return {"function": "root"}

    def probe(self, nb, case):
        brought = super().probe(nb, case)
        return {OUTPUT: brought[OUTPUT], GRADIENT: brought[GRADIENT]}

    def truth(self, case):
        passes = Passes(*self.given(case))
        return {OUTPUT: None, GRADIENT: passes.bad_gradients()[0]}

    def mistakes(self, case):
        passes = Passes(*self.given(case))
        bad, before = passes.bad_gradients(), passes.of_output
        names = [name for name, _ in before]
        parameters = [name for name, grad in passes.of_parameter.items() if is_bad(grad)]
        kinds = {type(module).__name__ for module in passes.net.modules()}
        return {
            "gfd_forward_only": {GRADIENT: None},
            "gfd_parameters_for_outputs": {GRADIENT: AnyOf(*parameters)},
            "gfd_last_for_first": {GRADIENT: AnyOf(*bad[1:])},
            "gfd_input_side": {GRADIENT: names[names.index(bad[0]) - 1]},
            "dotted_name": {GRADIENT: bad[0].split(".")[-1]},
            "class_or_name": {GRADIENT: AnyOf(*sorted(kinds))},
            "gfd_all_for_first": {GRADIENT: bad},
        }


check("gradient_flow_debugger", SoundNet, FirstBadOutput, FirstBadGradient)


### BEGIN HIDDEN TESTS
class Convolutions(SoundNet):
    """With convolutions and in-place ReLUs: a channel is dead if it is 0 for every sample at every position."""

    def given(self, case, inplace=True):
        names = case.words("names", 7)
        dead = (case.integer("stem", 1, 2), case.integer("body", 3, 4))
        net = case.build("net", Net, names, conv=True, inplace=inplace, dead=dead)
        return net, case.tensor("x", 3, 3, 5, 4), case.tensor("upstream", 3, 4)

    def truth(self, case):
        return {DEAD: shares(self.passes(case).dead(dead_units))}

    def probe(self, nb, case):
        return {DEAD: super().probe(nb, case)[DEAD]}

    def passes(self, case):
        return Passes(*self.given(case, inplace=False))

    def mistakes(self, case):
        passes = self.passes(case)

        def wrong(test):
            return {DEAD: shares(passes.dead(lambda output: float(test(output == 0).float().mean())))}

        return {
            "gfd_positions_for_units": wrong(lambda zero: zero.all(0)),
            "gfd_wrong_axis": AnyOf(
                wrong(lambda zero: zero.all(1)),
                wrong(lambda zero: zero.all(-1)),
                wrong(lambda zero: zero.flatten(1).all(1)),
                wrong(lambda zero: zero.flatten(2).all(2)),
                wrong(lambda zero: zero.flatten(0, -2).all(0)),
                wrong(lambda zero: zero.all(0).flatten(1).any(1)),
            ),
        }


class Infinities(SoundNet):
    """An infinity counts as bad as well: in an output, and in a gradient."""

    def forward_net(self, case):
        net, x, upstream = super().given(case)
        with torch.no_grad():
            net.get_submodule(f"{net.names[0]}.{net.names[3]}").bias[0] = float("inf")
        return net, x, upstream

    def backward_net(self, case):
        names = case.words("names", 7)
        net = case.build("steep net", Net, names, after="steep")
        return net, case.tensor("x", 5, 3), case.tensor("upstream", 5, 4)

    def probe(self, nb, case):
        brought = {}
        for way, (net, x, upstream) in (("output", self.forward_net(case)), ("gradient", self.backward_net(case))):
            with nb.function("gradient_flow_debugger")(net) as report:
                (net(x) * upstream).sum().backward()
            brought[f'report["bad_{way}"]'] = entry(report, f"bad_{way}")
        return brought

    def truth(self, case):
        forward, backward = Passes(*self.forward_net(case)), Passes(*self.backward_net(case))
        return {OUTPUT: forward.bad_outputs()[0], GRADIENT: backward.bad_gradients()[0]}

    def mistakes(self, case):
        forward, backward = Passes(*self.forward_net(case)), Passes(*self.backward_net(case))
        return {
            "gfd_nan_only": AnyOf(
                {OUTPUT: next((name for name, output in forward.steps if output.isnan().any()), None)},
                {GRADIENT: next((name for name, grad in backward.of_output if grad.isnan().any()), None)},
            )
        }


class BetweenModules(SoundNet):
    """A fault in what a block computes itself, after its children: the first module to finish with it is the block."""

    def options(self):
        return {"after": "log"}

    def probe(self, nb, case):
        return {OUTPUT: super().probe(nb, case)[OUTPUT]}

    def truth(self, case):
        return {OUTPUT: Passes(*self.given(case)).bad_outputs()[0]}

    def mistakes(self, case):
        bad = Passes(*self.given(case)).bad_outputs()
        return {"gfd_leaves_only": {OUTPUT: bad[1]}}


class FrozenParts(SoundNet):
    """A frozen first layer, a layer that is not used, and a gradient that is 0: the first two have no gradient."""

    errors = {
        **SoundNet.errors,
        r"RuntimeError: a (view of a )?leaf Variable that requires grad": "gfd_forces_grad",
    }

    def given(self, case, inplace=True):
        names = case.words("names", 7)
        net = case.build("net", Net, names, inplace=inplace, function="zero")
        for parameter in net.get_submodule(names[0]).parameters():
            parameter.requires_grad_(False)
        return net, case.tensor("x", 5, 3), case.tensor("upstream", 5, 4)

    def probe(self, nb, case):
        brought = super().probe(nb, case)
        return {NONE: brought[NONE], SIZE: brought[SIZE]}

    def truth(self, case):
        passes = Passes(*self.given(case, inplace=False))
        return {NONE: passes.none(), SIZE: passes.sizes(lambda grad: grad.abs().mean())}

    def mistakes(self, case):
        net, _, _ = self.given(case)
        zero = [f"{net.names[1]}.{net.names[3]}.{kind}" for kind in ("weight", "bias")]
        names = [name for name, _ in net.named_parameters()]
        stem, unused = [name for name in names if name.startswith(f"{net.names[0]}.")], f"{net.names[5]}."
        unused = [name for name in names if name.startswith(unused)]
        return {
            "gfd_zero_is_not_none": AnyOf(
                {NONE: [name for name in names if name in (*stem, *zero, *unused)]}, {NONE: zero}
            ),
            "gfd_unreached": {NONE: stem},
            "gfd_unused_only": {NONE: unused},
        }


def with_its_nan(wanted):
    """In a truth: just this gradient, with NaN where it has NaN; the usual comparison takes no NaN for right."""

    def test(got):
        same = isinstance(got, TensorRecord) and got.shape == wanted.shape and got.dtype == "float32"
        return None if same and torch.allclose(got.tensor(), wanted, 1e-4, 1e-6, equal_nan=True) else "another gradient"

    return None if wanted is None else Matches(test, "the gradient, with each NaN in its place")


class OnlyLooks(SoundNet):
    """NaN stays NaN; after the block, and after an error in it, its hooks are gone, those of others are not."""

    blame = {
        "which gradients are finite": "watcher_changes_gradient",
        "the error comes out of the block": "gfd_swallows_error",
    }

    def broken(self, case):
        names = case.words("names", 7)
        net = case.build("broken net", Net, names, function="root")
        return net, case.tensor("x", 5, 3), case.tensor("upstream", 5, 4)

    def probe(self, nb, case):
        net, x, upstream = self.hooked(case)
        watch = nb.function("gradient_flow_debugger")
        with watch(net):
            (net(x) * upstream).sum().backward()
        brought = {"hooks after the block": hook_counts(net), "what runs after the block": self.runs(case, net, x)}
        broken, x, upstream = self.broken(case)
        with watch(broken):
            (broken(x) * upstream).sum().backward()
        brought["which gradients are finite"] = [
            bool(p.grad.isfinite().all()) for p in broken.parameters() if p.grad is not None
        ]
        brought["gradients with their NaN"] = {name: p.grad for name, p in broken.named_parameters()}
        raised = "nothing"
        try:
            with watch(net):
                net(self.given(case)[1])
                raise KeyError(case.integer("error", 10**6, 10**9))
        except KeyError as error:
            raised = error.args[0]
        return {
            **brought, "hooks after an error": hook_counts(net), "the error comes out of the block": raised,
            "what runs after an error": self.runs(case, net, self.given(case)[1]),
        }  # fmt: skip

    def hooked(self, case):
        net, x, upstream = self.given(case)
        net.register_forward_hook(lambda module, args, output: None)
        net.get_submodule(net.names[1]).register_forward_hook(lambda module, args, output: None)
        return net, x, upstream

    def runs(self, case, net, x):
        return what_runs(net, case, lambda: net(x).sum().backward())

    def truth(self, case):
        net, x, _ = self.hooked(case)
        broken, runs = Passes(*self.broken(case)), as_before(self.runs(case, net, x))
        hooks = hook_counts(net)
        return {
            "hooks after the block": hooks,
            "what runs after the block": runs,
            "which gradients are finite": [
                bool(broken.of_parameter[name].isfinite().all())
                for name in broken.of_parameter
                if broken.of_parameter[name] is not None
            ],
            "gradients with their NaN": {
                name: with_its_nan(broken.of_parameter[name]) for name, _ in broken.net.named_parameters()
            },
            "hooks after an error": hooks,
            "the error comes out of the block": case.integer("error", 10**6, 10**9),
            "what runs after an error": runs,
        }

    def mistakes(self, case):
        def counted(test):
            return Matches(lambda got: None if test(sum(got.values())) else "no", "this count")

        hooks = self.truth(case)["hooks after the block"]
        return {
            "removes_other_hooks": {"hooks after the block": counted(lambda count: count < 2)},
            "gfd_leaves_hooks": {"hooks after the block": counted(lambda count: count > 2)},
            "gfd_no_finally": {"hooks after the block": hooks, "hooks after an error": other_than(hooks)},
        }


class TwoNets(SoundNet):
    """Used on one net and then on another one, it reports on each by itself."""

    def probe(self, nb, case):
        watch = nb.function("gradient_flow_debugger")
        net, x, upstream = self.broken(case)
        with watch(net) as one:
            (net(x) * upstream).sum().backward()
        net, x, upstream = self.given(case)
        with watch(net) as two:
            (net(x) * upstream).sum().backward()
        return {
            "first": {key: entry(one, key) for key in ("bad_output", "no_gradient")},
            "second": {key: entry(two, key) for key in ("bad_output", "dead", "no_gradient")},
        }

    def broken(self, case):
        net, x, upstream = self.given(case)
        with torch.no_grad():
            net.get_submodule(net.names[0])[0].weight[0, 0] = float("nan")
        return net, x, upstream

    def truth(self, case):
        one, two = Passes(*self.broken(case)), Passes(*self.given(case))
        return {
            "first": {"bad_output": one.bad_outputs()[0], "no_gradient": one.none()},
            "second": {"bad_output": None, "dead": shares(two.dead(dead_units)), "no_gradient": two.none()},
        }

    def mistakes(self, case):
        anything = Matches(lambda got: None, "anything")
        return {"shared_state": AnyOf({"first": anything}, {"second": anything})}


check("gradient_flow_debugger", Convolutions, Infinities, BetweenModules, FrozenParts, OnlyLooks, TwoNets)
### END HIDDEN TESTS

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
# medium · 15 min · 4 points
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
# Run this cell to check your answer.
import torch
from torch import nn

from course.checking import Check, check
from course.compare import AnyOf, Close, Matches
from course.evidence import TensorRecord
from course.probing import hook_counts, other_than
from course.traces import as_before, what_runs


class Cnn(nn.Module):
    """A body of two convolutions, then either the mean over positions or a tanh at each, then a linear layer."""

    def __init__(self, names, inplace=False, mean=False):
        super().__init__()
        self.names, self.mean = names, mean
        body, head, first, norm, act, second = names
        self.add_module(body, nn.Sequential())
        layers = (nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace), nn.Conv2d(4, 5, 2))
        for name, module in zip((first, norm, act, second), layers):
            self.get_submodule(body).add_module(name, module)
        self.add_module(head, nn.Linear(5 if mean else 30, 4))

    def forward(self, x):
        return self.rest(getattr(self, self.names[0])(x))

    def rest(self, x):
        return getattr(self, self.names[1])(x.mean((2, 3)) if self.mean else torch.tanh(x).flatten(1))


def scores_of(net, layer, x, from_layer=False):
    """The layer's output, and the scores; or, `from_layer`, the scores of what might be its output."""
    body, output = net.get_submodule(net.names[0]), None
    for name, module in body.named_children():
        if not from_layer:
            x = module(x)
        if name == layer.split(".")[-1]:
            output, from_layer = x, False
    return output, net.rest(x)


class Seen:
    """What the layer returned, and the gradient of a score with respect to it, on a net without hooks."""

    def __init__(self, net, layer, x, targets):
        self.net, self.layer, self.x, self.targets = net, layer, x, targets
        self.output = scores_of(net, layer, x)[0].detach()
        self.gradient = self.of(lambda scores: scores.gather(1, targets[:, None]))

    def of(self, chosen):
        """The gradient, with respect to the layer's output, of what `chosen` takes from the scores."""
        output = self.output.clone().requires_grad_()
        _, scores = scores_of(self.net, self.layer, output, from_layer=True)
        return torch.autograd.grad(chosen(scores).sum(), output)[0]


def heat_of(gradient, output):
    """The recipe, picture by picture and channel by channel."""
    maps = torch.zeros(output.shape[0], *output.shape[2:])
    for picture in range(output.shape[0]):
        for channel in range(output.shape[1]):
            maps[picture] += gradient[picture, channel].mean() * output[picture, channel]
    return maps.clamp(min=0)


def near(heat):
    return Close(heat, rtol=1e-4, atol=1e-6)


class HeatMaps(Check):
    """The heat maps of a batch, each for its picture's class; then, from another layer, that of a single picture."""

    errors = {
        r"TypeError: .*RemovableHandle": "hook_replaces_output",
        r"KeyError: '(output|gradient|activation|activations|gradients|a|g|A|G)'": "cam_never_caught",
        r"KeyError: '\w+\.\w+'": "dotted_name",
        r"AttributeError: '\w+' object has no attribute '\w+\.\w+'": "dotted_name",
        r"IndexError: list index out of range": "cam_never_caught",
        r"RuntimeError: element 0 of tensors does not require grad": "cam_no_graph",
        r"RuntimeError: cannot register a hook on a tensor that doesn't require": "cam_no_graph",
        r"RuntimeError: .*differentiated Tensor.* does not require grad": "cam_no_graph",
        r"RuntimeError: .*differentiated Tensor.* appears to not have been used": "cam_outside_the_graph",
        r"RuntimeError: Trying to backward through the graph a second time": "cam_graph_gone",
        r"RuntimeError: grad can be implicitly created only for scalar outputs": "cam_one_number",
        r"AttributeError: 'NoneType' object has no attribute '(mean|shape|sum|view)'": "cam_never_caught",
        r"TypeError: .*NoneType": "cam_never_caught",
        r"RuntimeError: The size of tensor": "cam_shape",
    }

    def net(self, case, **options):
        return case.build("net", Cnn, case.words("names", 6), **options).eval()

    def given(self, case):
        net = self.net(case)
        body, _, _, _, act, second = net.names
        x, targets = case.tensor("x", 3, 2, 6, 5), torch.tensor(case.shuffled("targets", range(4))[:3])
        return net, (f"{body}.{act}", f"{body}.{second}"), x, targets

    def probe(self, nb, case):
        net, layers, x, targets = self.given(case)
        brought = {"heat maps": nb.function("grad_cam")(net, layers[0], x.clone(), targets.clone())}
        heat = nb.function("grad_cam")(net, layers[1], x[:1] * 2, targets[1:2])
        return {**brought, "heat map of a single picture": heat}

    def truth(self, case):
        net, layers, x, targets = self.given(case)
        one, two = Seen(net, layers[0], x, targets), Seen(net, layers[1], x[:1] * 2, targets[1:2])
        return {
            "heat maps": near(heat_of(one.gradient, one.output)),
            "heat map of a single picture": near(heat_of(two.gradient, two.output)),
        }

    def mistakes(self, case):
        net, layers, x, targets = self.given(case)
        one, before = Seen(net, layers[0], x, targets), Seen(net, f"{net.names[0]}.{net.names[3]}", x, targets)
        return {
            **flaws(one),
            "cam_input_side": {"heat maps": near(heat_of(before.gradient, before.output))},
            "stale_result": {"heat map of a single picture": near(heat_of(one.gradient, one.output))},
            "cam_squeeze": {
                "heat map of a single picture": Matches(
                    lambda got: None if isinstance(got, TensorRecord) and len(got.shape) == 2 else "no", "two dimensions"
                )
            },
        }


def flaws(seen):
    """What a wrong recipe brings for `heat maps`."""
    output, gradient, targets = seen.output, seen.gradient, seen.targets
    heat = heat_of(gradient, output)
    weights = gradient.mean((2, 3), keepdim=True)
    signed = (weights * output).sum(1)
    size = output[0, 0].numel()

    def brings(*maps):
        return {"heat maps": AnyOf(*(near(one) for one in maps))}

    def by(chosen):
        return heat_of(seen.of(chosen), output)

    def own(scores):
        return scores.gather(1, targets[:, None])

    def scaled(got):
        good = isinstance(got, TensorRecord) and got.shape == heat.shape and float(got.tensor().max()) > 0
        return None if good and abs(float(got.tensor().max()) - 1.0) < 1e-3 else "not scaled"

    def of_shape(*shape):
        return Matches(lambda got: None if isinstance(got, TensorRecord) and got.shape == shape else "no", "shape")

    picture = seen.x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(own(scores_of(seen.net, seen.layer, picture)[1]).sum(), picture)
    height, width = heat.shape[1:]
    return {
        "returns_nothing": {"heat maps": None},
        "cam_no_relu": brings(signed),
        "cam_abs": brings(signed.abs()),
        "cam_relu_too_early": brings(
            (weights.relu() * output).sum(1),
            (weights.relu() * output).sum(1).relu(),
            (weights * output).relu().sum(1),
            (gradient.relu().mean((2, 3), keepdim=True) * output).sum(1).relu(),
        ),
        "cam_softmax": brings(
            by(lambda scores: own(scores.softmax(1))),
            by(lambda scores: own(scores.log_softmax(1))),
            by(lambda scores: -own(scores.log_softmax(1))),
            by(lambda scores: -own(scores.log_softmax(1)) / len(targets)),
        ),
        "cam_all_classes": brings(by(lambda scores: scores), by(lambda scores: scores[:, targets])),
        "cam_best_class": brings(by(lambda scores: scores.amax(1))),
        "cam_one_class_for_all": brings(
            by(lambda scores: scores[:, targets[0]]), by(lambda scores: scores[0, targets])
        ),
        "cam_mean_score": brings(heat / len(targets)),
        "cam_batch_mixed": brings(
            (gradient.mean((0, 2, 3), keepdim=True) * output).sum(1).relu(),
            (gradient.mean(0, keepdim=True) * output).sum(1).relu(),
        ),
        "cam_no_mean": brings((gradient * output).sum(1).relu(), (gradient * output).mean(1).relu()),
        "cam_mean_over_channels": brings(
            (gradient.mean(1, keepdim=True) * output).sum(1).relu(),
            (gradient.mean((1, 2, 3), keepdim=True) * output).sum(1).relu(),
        ),
        "cam_sum_or_mean": brings(heat * size, heat / output.shape[1]),
        "cam_other_pooling": brings(
            (gradient.amax((2, 3), keepdim=True) * output).sum(1).relu(),
            (gradient.abs().mean((2, 3), keepdim=True) * output).sum(1).relu(),
        ),
        "cam_one_factor": brings(
            gradient.sum(1).relu(),
            gradient.mean(1).relu(),
            gradient.abs().sum(1),
            gradient.abs().mean(1),
            output.sum(1).relu(),
            output.mean(1).relu(),
            output.mean(1),
            output.sum(1),
        ),
        "cam_scaled": {"heat maps": Matches(scaled, "scaled")},
        "cam_saliency": brings(
            slope.abs().amax(1),
            slope.abs().sum(1),
            slope.abs().mean(1),
            slope.relu().sum(1),
            slope.sum(1).relu(),
            slope.amax(1),
        ),
        "cam_resized": {"heat maps": AnyOf(of_shape(3, 6, 5), of_shape(3, 1, 6, 5))},
        "cam_keeps_dimension": {"heat maps": of_shape(3, 1, height, width)},
        "cam_no_sum": {"heat maps": of_shape(*output.shape)},
        "cam_first_picture_only": {"heat maps": AnyOf(of_shape(height, width), of_shape(1, height, width))},
    }


class EqualsCam(HeatMaps):
    """In front of a mean and a linear layer: A times the weights of the class, over the number of positions."""

    def given(self, case):
        net = self.net(case, mean=True)
        return (
            net,
            f"{net.names[0]}.{net.names[5]}",
            case.tensor("x", 2, 2, 6, 5),
            torch.tensor(case.shuffled("t", range(4))[:2]),
        )

    def probe(self, nb, case):
        return {"heat maps": nb.function("grad_cam")(*self.given(case))}

    def truth(self, case):
        net, layer, x, targets = self.given(case)
        with torch.no_grad():
            output, _ = scores_of(net, layer, x)
            rows = getattr(net, net.names[1]).weight[targets]
            return {"heat maps": near(torch.einsum("nk,nkhw->nhw", rows, output).relu() / output[0, 0].numel())}

    def mistakes(self, case):
        return flaws(Seen(*self.given(case)))


check("grad_cam", HeatMaps, EqualsCam)


### BEGIN HIDDEN TESTS
class OverwrittenLayer(HeatMaps):
    """A layer whose output an in-place ReLU overwrites: heat maps of what the layer itself returned."""

    def given(self, case, inplace=True):
        net = self.net(case, inplace=inplace)
        x, targets = case.tensor("x", 3, 2, 6, 5), torch.tensor(case.shuffled("targets", range(4))[:3])
        return net, f"{net.names[0]}.{net.names[3]}", x, targets

    def probe(self, nb, case):
        return {"heat maps": nb.function("grad_cam")(*self.given(case))}

    def truth(self, case):
        seen = Seen(*self.given(case, inplace=False))
        return {"heat maps": near(heat_of(seen.gradient, seen.output))}

    def mistakes(self, case):
        before = Seen(*self.given(case, inplace=False))
        net, _, x, targets = self.given(case, inplace=False)
        after = Seen(net, f"{net.names[0]}.{net.names[4]}", x, targets)
        pairs = [(before.gradient, after.output), (after.gradient, after.output), (after.gradient, before.output)]
        return {"cam_overwritten": {"heat maps": AnyOf(*(near(heat_of(*pair)) for pair in pairs))}}


class FrozenModel(HeatMaps):
    """The same heat maps from a model of which no parameter requires a gradient."""

    def given(self, case):
        net, layers, x, targets = super().given(case)
        return net.requires_grad_(False), layers, x, targets


class NothingLeft(HeatMaps):
    """Hooks and `.grad` are as before the call; after an error, the hooks are as well."""

    def given(self, case):
        net, layers, x, targets = super().given(case)
        with torch.no_grad():
            for number, parameter in enumerate(net.parameters()):
                if number % 2:
                    parameter.grad = case.tensor(f"gradient {number}", *parameter.shape)
        net.register_forward_hook(lambda module, args, output: None)
        net.get_submodule(layers[0]).register_forward_hook(lambda module, args, output: None)
        return net, layers, x, targets

    def probe(self, nb, case):
        net, layers, x, targets = self.given(case)
        nb.function("grad_cam")(net, layers[0], x, targets)
        brought = {
            "hooks after the call": hook_counts(net),
            ".grad of the parameters": {
                name: None if p.grad is None else p.grad.clone() for name, p in net.named_parameters()
            },
            "x.grad": x.grad,
            "x.requires_grad": x.requires_grad,
            "what runs after the call": self.runs(case, net, x),
            "gradients in a pass after the call": self.passed(case, net, x),
        }
        raised = "nothing"
        failing = net.register_forward_pre_hook(self.fail(case))
        try:
            nb.function("grad_cam")(net, layers[0], x, targets)
        except RuntimeError as error:
            raised = str(error)
        failing.remove()
        return {
            **brought,
            "hooks after an error": hook_counts(net),
            "the error is raised": raised,
            "what runs after an error": self.runs(case, net, x),
        }

    def fail(self, case):
        """A hook that lets the forward fail, in words that no answer can know."""

        def hook(module, args):
            raise RuntimeError(" ".join(case.words("error", 3)))

        return hook

    def runs(self, case, net, x):
        return what_runs(net, case, lambda: net(x).sum().backward())

    def passed(self, case, net, x):
        """Where x had kept a gradient, or the wish for one, it would show beside those of the parameters."""
        net.zero_grad()
        (net(x).sum() + (x * case.tensor("weight of x", *x.shape)).sum()).backward()
        found = {name: p.grad.clone() for name, p in net.named_parameters()}
        slope = torch.zeros(x.shape) if x.grad is None else x.grad.clone()
        net.zero_grad()
        return {**found, "x": slope + case.tensor("beside x", *x.shape)}

    def truth(self, case):
        net, _, x, _ = self.given(case)
        hooks = hook_counts(net)
        runs, passed = as_before(self.runs(case, net, x)), self.passed(case, net, x)
        net, _, _, _ = self.given(case)
        grads = {name: p.grad for name, p in net.named_parameters()}
        return {
            "hooks after the call": hooks,
            ".grad of the parameters": grads,
            "x.grad": None,
            "x.requires_grad": False,
            "what runs after the call": runs,
            "gradients in a pass after the call": passed,
            "hooks after an error": hooks,
            "the error is raised": " ".join(case.words("error", 3)),
            "what runs after an error": runs,
        }

    blame = {
        ".grad of the parameters": "cam_fills_grad",
        "x.grad": "cam_fills_grad",
        "x.requires_grad": "cam_changes_x",
        "the error is raised": "gfd_swallows_error",
    }

    def mistakes(self, case):
        def counted(test):
            return Matches(lambda got: None if test(sum(got.values())) else "no", "this count")

        hooks = self.truth(case)["hooks after the call"]
        return {
            "removes_other_hooks": {"hooks after the call": counted(lambda count: count < 2)},
            "gfd_leaves_hooks": {"hooks after the call": counted(lambda count: count > 2)},
            "gfd_no_finally": {"hooks after the call": hooks, "hooks after an error": other_than(hooks)},
        }


check("grad_cam", OverwrittenLayer, FrozenModel, NothingLeft)
### END HIDDEN TESTS

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
# hard · 25 min · 4 points
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
# Run this cell to check your answer.
import copy

import torch
import torch.nn.functional as F
from torch import nn

from course.checking import Check, check
from course.compare import AnyOf, Matches, is_same
from course.evidence import TensorRecord, snapshot
from course.probing import hook_counts
from course.traces import as_before, attributes_on, what_runs


class PlainNet(nn.Module):
    """Linear layers at two depths, one without bias, and a LayerNorm, which has a weight but is no Linear layer."""

    def __init__(self, body, head, first, second, classes):
        super().__init__()
        self.names = (body, head)
        layers = nn.Linear(4, first), nn.LayerNorm(first), nn.Tanh(), nn.Linear(first, second), nn.Tanh()
        self.add_module(body, nn.Sequential(*layers))
        self.add_module(head, nn.Linear(second, classes, bias=False))

    def forward(self, x):
        body, head = (getattr(self, name) for name in self.names)
        return head(body(x))


def linear_parameters(model):
    """The names of the weights and biases of all Linear layers."""
    layers = {name for name, module in model.named_modules() if isinstance(module, nn.Linear)}
    return [name for name, _ in model.named_parameters() if name.rpartition(".")[0] in layers]


def has(test):
    """The field `gradients` with a certain flaw: `test` gets the dict."""
    return {"gradients": Matches(lambda got: None if isinstance(got, dict) and test(got) else "no", "this flaw")}


def shaped(got, shapes):
    """Whether tensors of these names and shapes are there."""
    return all(isinstance(got.get(name), TensorRecord) and got[name].shape == tuple(shapes[name]) for name in shapes)


class OneBatch(Check):
    """After a block with one forward and one backward, `gradients` holds the gradient of each sample's own loss."""

    reduction = "mean"
    errors = {
        r"AttributeError: 'NoneType' object has no attribute 'shape'": "per_sample_no_bias",
        r"AttributeError: 'NoneType' object has no attribute 'gradients'": "tool_enter_returns_nothing",
        r"AttributeError: '(dict|list)' object has no attribute 'gradients'": "per_sample_no_object",
        r"AttributeError: 'tuple' object has no attribute": "per_sample_tuple",
        r"TypeError: expected Tensor as element \d in argument 1, but got tuple": "per_sample_tuple",
        r"TypeError: object of type 'NoneType' has no len": "per_sample_grad_input",
        r"RuntimeError: The size of tensor a .* non-singleton dimension 0": "tool_shared_results",
        r"(TypeError|AttributeError): .*(context manager protocol|not an iterator|__e\w+__)": "tool_no_context",
    }

    def given(self, case):
        model = case.build("net", PlainNet, *case.words("names", 2), *case.shape("sizes", 3, 5, 8))
        return model, case.tensor("x", case.integer("samples", 9, 12), 4)

    def loss(self, case, output, part):
        return F.cross_entropy(output, (torch.arange(12) % 3)[part][: len(output)], reduction=self.reduction)

    def probe(self, nb, case):
        model, x = self.given(case)
        with nb.function("PerSampleGradients")(model, self.reduction) as per_sample:
            self.loss(case, model(x), slice(None)).backward()
        return {"gradients": per_sample.gradients}

    def each(self, case, model, x):
        """Autograd on the loss of each sample alone, on a model that no hook has ever been near."""
        names, rows = linear_parameters(model), []
        for n in range(len(x)):
            loss = self.loss(case, model(x[n : n + 1]), slice(n, n + 1))
            rows.append(torch.autograd.grad(loss, [model.get_parameter(name) for name in names]))
        return {name: torch.stack(parts) for name, parts in zip(names, zip(*rows))}

    def truth(self, case):
        return {"gradients": self.each(case, *self.given(case))}

    def mistakes(self, case):
        model, x = self.given(case)
        each, count = self.each(case, model, x), len(x)
        own, everything = set(each), {name for name, _ in model.named_parameters()}
        layer_of = {name: name.rpartition(".")[0] for name in everything}
        weights = {name for name in own if name.endswith("weight")}
        layers = list(dict.fromkeys(layer_of[name] for name in each))
        grown = {name: each[name] * float(count) ** layers[::-1].index(layer_of[name]) for name in each}
        shapes = {name: value.shape for name, value in each.items()}
        weight_shapes = {name: shapes[name] for name in weights}
        sums = {name: value.sum(0) for name, value in each.items()}
        batch = sums if self.reduction == "sum" else {name: value / count for name, value in sums.items()}
        copies = {name: value.expand(shapes[name]) for name, value in batch.items()}

        def times(factor):
            return {name: value * factor(value) for name, value in each.items()}

        def keys(*sets):
            return has(lambda got: set(got) in sets and set(got) != own)

        def bias_shaped(shape):
            biases = {name: shape(shapes[name]) for name in own - weights}
            return has(lambda got: shaped(got, weight_shapes) and shaped(got, biases))

        return {
            "tool_nothing_collected": has(lambda got: not got),
            "per_sample_still_mean": {"gradients": times(lambda value: 1 / count)},
            "per_sample_factor_for_sum": {"gradients": times(lambda value: count)},
            "per_sample_divided_again": {"gradients": times(lambda value: count**-2)},
            "per_sample_factor_of_elements": {
                "gradients": AnyOf(times(lambda value: value.shape[1]), times(lambda value: value.shape[1] / count))
            },
            "per_sample_factor_on_one": {
                "gradients": {name: value / (1 if name in weights else count) for name, value in each.items()}
            },
            "per_sample_changes_grad": {"gradients": grown},
            "per_sample_summed": {"gradients": AnyOf(batch, {name: value * count for name, value in batch.items()})},
            "per_sample_copies": {"gradients": copies},
            "per_sample_transposed": has(
                lambda got: shaped(got, {name: (count, *reversed(shapes[name][1:])) for name in weights})
            ),
            "per_sample_output_for_input": has(
                lambda got: shaped(got, {name: (*shapes[name][:2], shapes[name][1]) for name in weights})
            ),
            "per_sample_norms": has(lambda got: shaped(got, dict.fromkeys(own, (count,)))),
            "per_sample_bias_row": bias_shaped(lambda shape: (*shape, 1)),
            "per_sample_bias_summed": bias_shaped(lambda shape: shape[1:]),
            "per_sample_bias_missing": keys(weights),
            "per_sample_bias_too_many": keys(own | {f"{layer_of[name]}.bias" for name in weights}),
            "per_sample_other_layers": has(lambda got: own < set(got) <= everything),
            "per_sample_first_layer": keys({name for name in own if layer_of[name] != layers[0]}),
            "per_sample_children_only": keys({name for name in own if name.count(".") < 2}),
            "per_sample_short_names": keys({".".join(name.split(".")[-2:]) for name in own}),
            "per_sample_layer_names": keys({layer_of[name] for name in weights}),
            "per_sample_object_keys": has(lambda got: any("(Parameter)" in key for key in got)),
            "loop_variable": keys({f"{layers[-1]}.weight"}, {f"{layers[-1]}.weight", f"{layers[-1]}.bias"}),
            "tool_shared_results": has(lambda got: own < set(got)),
        }


class SummedLoss(OneBatch):
    """With `reduction="sum"`, and a loss of another form, each sample's gradient is that of its own loss."""

    reduction = "sum"

    def loss(self, case, output, part):
        return (output * case.tensor("upstream", 12, output.shape[1])[part][: len(output)]).sum()


check("per_sample_gradients", OneBatch, SummedLoss)


### BEGIN HIDDEN TESTS
class RecurrentNet(nn.Module):
    """One Linear layer that is called three times, on what it has made before."""

    def __init__(self, cell, size):
        super().__init__()
        self.name, self.size = cell, size
        self.add_module(cell, nn.Linear(3 + size, size))

    def forward(self, x, cells=None):
        hidden = x.new_zeros(len(x), self.size)
        for cell in cells or [getattr(self, self.name)] * 3:
            hidden = torch.tanh(cell(torch.cat([x, hidden], 1)))
        return hidden


class ReusedLayer(OneBatch):
    """Where a layer is called three times in one forward, a sample's gradient is the sum over the calls."""

    errors = {r"RuntimeError: The size of tensor a": "per_sample_wrong_pairs", **OneBatch.errors}

    def given(self, case):
        model = case.build("net", RecurrentNet, *case.words("name", 1), case.integer("size", 4, 6))
        return model, case.tensor("x", case.integer("samples", 9, 12), 3)

    def mistakes(self, case):
        model, x = self.given(case)
        each, calls = self.each(case, model, x), [copy.deepcopy(getattr(model, model.name)) for _ in range(3)]
        rows = []
        for n in range(len(x)):
            loss = self.loss(case, model(x[n : n + 1], calls), slice(n, n + 1))
            rows.append(torch.autograd.grad(loss, [p for call in calls for p in call.parameters()]))
        weights_and_biases = [torch.stack(parts) for parts in zip(*rows)]
        pairs = zip(weights_and_biases[::2], weights_and_biases[1::2])
        weight, bias = f"{model.name}.weight", f"{model.name}.bias"
        three = {name: (3 * len(value), *value.shape[1:]) for name, value in each.items()}
        return {
            **super().mistakes(case),
            "per_sample_one_call": {"gradients": AnyOf(*({weight: one, bias: other} for one, other in pairs))},
            "per_sample_calls_listed": has(lambda got: shaped(got, three)),
            "per_sample_wrong_pairs": has(
                lambda got: shaped(got, {weight: each[weight].shape}) and is_same(got[bias], each[bias])
            ),
        }


class TwoBlocks(OneBatch):
    """A second block, with fewer samples, gathers its own results and leaves those of the first alone."""

    def probe(self, nb, case):
        model, x = self.given(case)
        with nb.function("PerSampleGradients")(model) as one:
            self.loss(case, model(x), slice(None)).backward()
        with nb.function("PerSampleGradients")(model) as two:
            self.loss(case, model(x[:4] + 1), slice(None)).backward()
        return {"gradients of the second": two.gradients, "gradients of the first": one.gradients}

    def truth(self, case):
        model, x = self.given(case)
        return {
            "gradients of the second": self.each(case, model, x[:4] + 1),
            "gradients of the first": self.each(case, model, x),
        }

    def mistakes(self, case):
        model, x = self.given(case)
        return {"tool_shared_results": {"gradients of the first": self.each(case, model, x[:4] + 1)}}


class LeftAsItWas(OneBatch):
    """It only looks: `.grad` is as without it, and it leaves nothing on the model, also after an error in the block."""

    blame = {
        "parameter.grad": "per_sample_changes_grad",
        "attributes left on modules and parameters": "tool_attributes_left",
        "the error in the block": "tool_swallows_error",
    }

    def with_hooks_of_others(self, case):
        model, x = self.given(case)
        for module in model.modules():
            module.register_forward_hook(lambda module, args, output: None)
            module.register_forward_pre_hook(lambda module, args: None)
        return model, x

    def probe(self, nb, case):
        model, x = self.with_hooks_of_others(case)
        owners = [*model.modules(), *model.parameters()]
        before = [set(vars(owner)) for owner in owners]

        def hooks():
            for_all = torch.nn.modules.module._has_any_global_hook()
            return {**hook_counts(model), "for all modules": int(bool(for_all))}

        with nb.function("PerSampleGradients")(model) as per_sample:
            self.loss(case, model(x), slice(None)).backward()
        brought = {
            "parameter.grad": {
                name: None if parameter.grad is None else parameter.grad.clone()
                for name, parameter in model.named_parameters()
            },
            "hooks afterwards": hooks(),
            "what runs afterwards": self.runs(case, model, x),
            "the error in the block": None,
        }
        gathered = snapshot(per_sample.gradients)  # as they are now: what a later block does to them, TwoBlocks asks
        try:
            with nb.function("PerSampleGradients")(model):
                raise ArithmeticError(case.words("error", 1)[0])
        except ArithmeticError as error:
            brought["the error in the block"] = str(error)
        left = [name for owner, names in zip(owners, before) for name in set(vars(owner)) - names]
        return {
            **brought,
            "hooks after an error": hooks(),
            "attributes left on modules and parameters": sorted(left),
            "what runs after an error": self.runs(case, model, x),
            "the trace of all attributes": attributes_on(model, case),
            "gradients of the block, after a pass outside": gathered,
        }

    def runs(self, case, model, x):
        return what_runs(model, case, lambda: self.loss(case, model(x), slice(None)).backward())

    def truth(self, case):
        model, x = self.given(case)
        gradients = torch.autograd.grad(self.loss(case, model(x), slice(None)), list(model.parameters()))
        model, _ = self.with_hooks_of_others(case)
        hooks = {**hook_counts(model), "for all modules": 0}
        runs = as_before(self.runs(case, model, x))
        return {
            "parameter.grad": {name: gradient for (name, _), gradient in zip(model.named_parameters(), gradients)},
            "hooks afterwards": hooks,
            "what runs afterwards": runs,
            "the error in the block": case.words("error", 1)[0],
            "hooks after an error": hooks,
            "attributes left on modules and parameters": [],
            "what runs after an error": runs,
            "the trace of all attributes": attributes_on(model, case),
            "gradients of the block, after a pass outside": self.each(case, *self.given(case)),
        }

    def mistakes(self, case):
        hooks = self.truth(case)["hooks afterwards"]

        def more(got):
            return None if any(got[kind] > count for kind, count in hooks.items()) else "no"

        def fewer(got):
            return None if any(got[kind] < count for kind, count in hooks.items()) else "no"

        return {
            "removes_other_hooks": {"hooks afterwards": Matches(fewer, "fewer")},
            "tool_hooks_left": {"hooks afterwards": Matches(more, "more")},
            "tool_not_after_error": {"hooks after an error": Matches(more, "more")},
        }


check("per_sample_gradients", ReusedLayer, LeftAsItWas, TwoBlocks)
### END HIDDEN TESTS

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
# hard · 25 min · 4 points
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
# Run this cell to check your answer.
import gc

import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.probing import ANYTHING, hook_counts, other_than
from course.storages import Storages, storages_left
from course.traces import as_before, what_runs


def address(tensor):
    return tensor.untyped_storage().data_ptr()


def in_full(tensors):
    return sum(tensor.untyped_storage().nbytes() for tensor in tensors)


def once(tensors, key=address):
    """The first tensor of each storage."""
    return list({key(tensor): tensor for tensor in reversed(list(tensors))}.values())


def saved_in(parts):
    """Truth: what each part of a hook-free forward has saved, read from the graph: a list of (layer, tensors)."""
    visited, found = set(), []
    for layer, tensor in parts:
        left, saved = [tensor.grad_fn], []
        while left:
            node = left.pop()
            if node is not None and node not in visited:
                visited.add(node)
                left += [edge for edge, _ in node.next_functions]
                values = [getattr(node, name) for name in dir(node) if name.startswith("_saved_")]
                saved += [value for value in values if isinstance(value, torch.Tensor)]
        found.append((layer, saved))
    return found


def layer_by_layer(saved, skip=()):
    """Bytes of each layer: storages that no layer before has saved, without those at the addresses to skip."""
    seen, sizes = set(skip), {}
    for layer, tensors in saved:
        new = [tensor for tensor in once(tensors) if address(tensor) not in seen]
        seen |= {address(tensor) for tensor in new}
        sizes[layer] = sizes.get(layer, 0) + in_full(new)
    return without_zeros(sizes)


def without_zeros(sizes):
    return {layer: size for layer, size in sizes.items() if size} if isinstance(sizes, dict) else sizes


def more_than_none(got):
    return None if isinstance(got, (int, float)) and got > 0 else "0"


def keys_of_objects(got):
    return None if isinstance(got, dict) and any(key.endswith(")") for key in got) else "names"


def one_storage_each(saved, own):
    """Sizes layer by layer, each that of a single storage."""
    sizes = {}
    for layer, tensors in saved:
        for tensor in tensors:
            if address(tensor) not in own:
                sizes.setdefault(layer, set()).add(in_full([tensor]))

    def test(got):
        return None if all(size in sizes[layer] for layer, size in got.items()) else "something else"

    return Matches(test, "the size of one storage for each layer")


def wrong_totals(model, saved, own, outputs):
    """Hint id -> totals that this misconception would bring."""
    every = [tensor for _, tensors in saved for tensor in tensors]
    others = [tensor for tensor in every if address(tensor) not in own]
    starts = {parameter.data_ptr() for parameter in model.parameters()}
    shapes = {parameter.shape for parameter in model.parameters()}
    trained = {address(parameter) for parameter in model.parameters() if parameter.requires_grad}
    begin, total = torch.Tensor.data_ptr, in_full(once(others))

    def size(tensors):
        return sum(tensor.nbytes for tensor in tensors)

    def elements(tensors):
        return sum(tensor.untyped_storage().nbytes() // tensor.element_size() for tensor in tensors)

    def only(test):
        return [tensor for tensor in every if test(tensor)]

    no_start = only(lambda tensor: begin(tensor) not in starts)
    no_shape = only(lambda tensor: tensor.shape not in shapes)
    no_leaf = only(lambda tensor: not (tensor.is_leaf and tensor.requires_grad))
    not_trained = only(lambda tensor: address(tensor) not in trained)
    return {
        "memory_nothing_counted": [0],
        "memory_tensor_not_storage": [
            *(of(once(tensors, begin)) for of in (size, in_full) for tensors in (others, no_start)),
            size(once(others)),
        ],
        "memory_counts_twice": [size(others), in_full(others)],
        "memory_counts_all": [size(every), in_full(every)],
        "memory_counts_parameters": [in_full(once(some)) for some in (every, no_shape, no_leaf, not_trained)],
        "memory_counts_elements": [elements(once(others)), *(sum(map(torch.numel, some)) for some in (every, others))],
        "memory_four_bytes": [4 * elements(once(others)), 4 * sum(map(torch.numel, once(others)))],
        "memory_leaves_out_input": [in_full(tensor for tensor in once(others) if tensor.requires_grad)],
        "memory_floats_only": [in_full(tensor for tensor in once(others) if tensor.is_floating_point())],
        "memory_by_shape": [of(once(others, lambda tensor: tensor.shape)) for of in (size, in_full)],
        "memory_counts_outputs": [size(outputs), size(outputs[1:])],
        "memory_unit": [total / 1024, total / 1024**2, total // 1024, total / 1000],
        "memory_last_only": [in_full([tensor]) for tensor in others],
    }


def wrong_layers(model, saved, own):
    """Hint id -> sizes layer by layer that this misconception would bring."""
    names = [name for name, _ in model.named_modules()]
    leaves = {name for name, module in model.named_modules() if not list(module.children())}
    class_of = {name: type(module).__name__ for name, module in model.named_modules()}
    sizes, in_model = layer_by_layer(saved, own), layer_by_layer(saved[:-1], own)

    def given_to(name):
        return layer_by_layer([(name(layer), tensors) for layer, tensors in saved], own)

    begun, not_left, running, cumulative, each = "", [], 0, {}, {}
    for layer, tensors in saved:
        begun = layer if layer in leaves else begun
        not_left.append((begun, tensors))
        for tensor in once(tensor for tensor in tensors if address(tensor) not in own):
            each[layer] = each.get(layer, 0) + in_full([tensor])
    for layer, size in sizes.items():
        cumulative[layer] = running = running + size
    with_children = {
        outer: sum(size for layer, size in in_model.items() if f"{layer}.".startswith(f"{outer}." if outer else ""))
        for outer in names
    }
    return {
        "memory_layers_missing": [{}],
        "memory_layer_outside_missing": [{layer: size for layer, size in sizes.items() if layer}],
        "memory_layer_not_left": [layer_by_layer(not_left, own)],
        "loop_variable": [given_to(lambda layer: names[-1]), given_to(lambda layer: names[-1] if layer else "")],
        "memory_layers_with_children": [
            with_children, with_children | {"": sum(sizes.values())}, with_children | {"": 0},
        ],
        "memory_layer_classes": [given_to(class_of.get), given_to(lambda layer: class_of[layer] if layer else "")],
        "memory_layer_short_names": [given_to(lambda layer: layer.rpartition(".")[2])],
        "memory_first_level": [given_to(lambda layer: layer.partition(".")[0])],
        "memory_outer_forgotten": [given_to(lambda layer: layer if layer in leaves else "")],
        "memory_outermost": [given_to(lambda layer: "")],
        "memory_layer_cumulative": [cumulative],
        "memory_layers_each": [each, layer_by_layer(saved)],
    }  # fmt: skip


def plain_net(first, second, third):
    middle = nn.Linear(second, second)
    return nn.Sequential(nn.Linear(first, second), nn.ReLU(), middle, nn.Tanh(), nn.Linear(second, third))


class OneForward(Check):
    """After a block with one forward, `bytes` and `by_layer` say what autograd has saved in it; backward works."""

    errors = {
        r"TypeError: Output of saved tensor unpack_hook expected to be a Tensor": "memory_nothing_packed",
        r"(TypeError: .*(context manager protocol|not an iterator)|AttributeError: __e)": "tool_no_context",
        r"AttributeError: 'NoneType' object has no attribute '(bytes|by_layer)'": "tool_enter_returns_nothing",
        r"TypeError: .*saved_tensors_hooks\.__init__\(\) missing": "memory_two_hooks",
        r"AttributeError: '(?!ActivationMemory)\w+' object has no attribute '(bytes|by_layer)'": "memory_no_object",
        r"TypeError: .*(must be Tensor, not (str|NoneType|list|int)|expected Tensor)": "hook_replaces_output",
        r"(AttributeError: '(str|list|int)' object|TypeError: .*'str').*": "hook_replaces_output",
        r"IndexError: (pop from empty list|list index out of range)": "memory_stack_empty",
    }

    def given(self, case):
        first, second, third = case.shape("sizes", 3, 3, 9)
        return case.build("net", plain_net, first, second, third), case.tensor(
            "x", case.integer("samples", 10, 14), first
        )

    def loss(self, output):
        return output.pow(2).sum()

    def parts(self, model, x):
        """The forward in parts, each with the innermost module that is running."""
        for name, layer in model.named_children():
            x = layer(x)
            yield name, x
        yield "", self.loss(x)

    def probe(self, nb, case):
        model, x = self.given(case)
        with nb.function("ActivationMemory")(model) as memory:
            begins = getattr(memory, "bytes", None)
            loss = self.loss(model(x))
        counted, by_layer = memory.bytes, without_zeros(memory.by_layer)
        loss.backward()
        return {
            "memory.bytes": counted,
            "memory.by_layer": by_layer,
            "parameter.grad": [parameter.grad for parameter in model.parameters()],
            "memory.bytes, as the block begins": begins,
        }

    def counted(self, case):
        model, x = self.given(case)
        return layer_by_layer(saved_in(self.parts(model, x)), {address(parameter) for parameter in model.parameters()})

    def truth(self, case):
        model, x = self.given(case)
        by_layer, trained = self.counted(case), [one for one in model.parameters() if one.requires_grad]
        gradient_of = dict(zip(trained, torch.autograd.grad(self.loss(model(x)), trained)))
        return {
            "memory.bytes": AnyOf(sum(by_layer.values()), float(sum(by_layer.values()))),
            "memory.by_layer": AnyOf(by_layer, {layer: float(size) for layer, size in by_layer.items()}),
            "parameter.grad": [gradient_of.get(parameter) for parameter in model.parameters()],
            "memory.bytes, as the block begins": ANYTHING,
        }

    def mistakes(self, case):
        model, x = self.given(case)
        parts = list(self.parts(model, x))
        outputs, saved = [tensor for layer, tensor in parts if layer], saved_in(parts)
        own = {address(parameter) for parameter in model.parameters()}
        totals, layers = wrong_totals(model, saved, own, [x, *outputs]), wrong_layers(model, saved, own)
        return {
            **{hint: {"memory.bytes": AnyOf(*values)} for hint, values in totals.items()},
            "tool_shared_results": {"memory.bytes, as the block begins": Matches(more_than_none, "more than 0")},
            **{hint: {"memory.by_layer": AnyOf(*map(without_zeros, values))} for hint, values in layers.items()},
            "memory_layer_objects": {"memory.by_layer": Matches(keys_of_objects, "objects as keys")},
            "memory_layer_replaced": {"memory.by_layer": one_storage_each(saved, own)},
            "memory_other_tensor": {"parameter.grad": other_than(OneForward.truth(self, case)["parameter.grad"])},
        }


class BlockAfterBlock(OneForward):
    """A second block counts from 0; nothing is counted outside of the blocks, and no hook stays, also after an error."""

    blame = {"the error in the block": "tool_swallows_error"}

    def with_hooks_of_others(self, case):
        model, x = self.given(case)
        for module in model.modules():
            module.register_forward_hook(lambda module, args, output: None)
            module.register_forward_pre_hook(lambda module, args: None)
        return model, x

    def probe(self, nb, case):
        model, x = self.with_hooks_of_others(case)
        with nb.function("ActivationMemory")(model) as one:
            kept = self.loss(model(x))
        first, hooks = one.bytes, hook_counts(model)
        kept.backward()
        self.loss(model(x + 1))
        outside = one.bytes
        with nb.function("ActivationMemory")(model) as two:
            kept = self.loss(model(x))
        second = two.bytes
        del kept
        brought = {
            "bytes of the first block": first,
            "bytes of the first block, after a forward outside": outside,
            "bytes of the second block": second,
            "bytes of the first block, after the second": one.bytes,
            "hooks on the model after a block": hooks,
            "the error in the block": None,
            "what runs after a block": self.runs(case, model, x),
        }
        try:
            with nb.function("ActivationMemory")(model) as three:
                kept = self.loss(model(x))
                raise ArithmeticError(case.words("error", 1)[0])
        except ArithmeticError as error:
            brought["the error in the block"] = str(error)
        self.loss(model(x + 1))
        del kept
        return {
            **brought,
            "bytes of a block that ended with an error, after a forward outside": three.bytes,
            "hooks on the model after a block with an error": hook_counts(model),
            "what runs after a block with an error": self.runs(case, model, x),
        }

    def runs(self, case, model, x):
        return what_runs(model, case, lambda: self.loss(model(x)).backward())

    def truth(self, case):
        model, x = self.with_hooks_of_others(case)
        counted, hooks = sum(self.counted(case).values()), hook_counts(model)
        runs = as_before(self.runs(case, model, x))
        return {
            "bytes of the first block": counted,
            "bytes of the first block, after a forward outside": counted,
            "bytes of the second block": counted,
            "bytes of the first block, after the second": counted,
            "hooks on the model after a block": hooks,
            "the error in the block": case.words("error", 1)[0],
            "bytes of a block that ended with an error, after a forward outside": counted,
            "hooks on the model after a block with an error": hooks,
            "what runs after a block": runs,
            "what runs after a block with an error": runs,
        }

    def mistakes(self, case):
        first, outside, second, again, after, _, error, after_error, *_ = wanted = self.truth(case)
        counted, hooks = wanted[first], wanted[after]

        def more(got):
            return None if any(got[kind] > count for kind, count in hooks.items()) else "no"

        def fewer(got):
            return None if any(got[kind] < count for kind, count in hooks.items()) else "no"

        return {
            "memory_counts_outside": {first: counted, outside: other_than(counted)},
            "tool_shared_results": AnyOf({second: other_than(counted)}, {again: other_than(counted)}),
            "removes_other_hooks": {after: Matches(fewer, "fewer")},
            "tool_hooks_left": {after: Matches(more, "more")},
            "tool_not_after_error": AnyOf({error: other_than(counted)}, {after_error: Matches(more, "more")}),
        }


check("activation_memory", OneForward, BlockAfterBlock)


### BEGIN HIDDEN TESTS
def pooling_net(first, second):
    pooled = nn.Conv1d(first, second, 3), nn.Tanh(), nn.MaxPool1d(2), nn.Flatten()
    return nn.Sequential(*pooled, nn.Linear(second * 3, 2))


class OtherTypes(OneForward):
    """A model in float64, with a max-pooling layer, which saves int64 indices, and with a frozen last layer."""

    def given(self, case):
        first, second = case.shape("channels", 2, 3, 6)
        model = case.build("net", pooling_net, first, second).double()
        model[-1].requires_grad_(False)
        return model, case.tensor("x", 5, first, 8, dtype=torch.float64)


class Attention(nn.Module):
    """Queries, keys, values and a shift are slices of one tensor; the scale is a slice of a parameter."""

    def __init__(self, size, width):
        super().__init__()
        self.qkv = nn.Linear(size, 4 * width, bias=False)
        self.scale = nn.Parameter(torch.rand(2 * width) + 0.5)

    def forward(self, x):
        return self.mixed(self.qkv(x))

    def mixed(self, slices):
        query, key, value, shift = slices.chunk(4, -1)
        weights = torch.softmax(query @ key.mT, -1)
        return (weights @ value + shift) * self.scale[len(self.scale) // 2 :]


class SlicesOfStorages(OneForward):
    """Saved slices of one tensor, and of a parameter: their storages count once and in full, or not at all."""

    def given(self, case):
        model = case.build("net", Attention, *case.shape("sizes", 2, 3, 6))
        return model, case.tensor("x", 4, 7, model.qkv.in_features)

    def loss(self, output):
        return output.sum()

    def parts(self, model, x):
        slices = model.qkv(x)
        yield "qkv", slices
        yield "", self.loss(model.mixed(slices))


class Gate(nn.Module):
    """Two branches, and a product of its own."""

    def __init__(self, size, left, right):
        super().__init__()
        self.names = (left, right)
        self.add_module(left, nn.Linear(size, size))
        self.add_module(right, nn.Sequential(nn.Linear(size, size), nn.Tanh()))

    def forward(self, x):
        left, right = (getattr(self, name) for name in self.names)
        return left(x) * right(x)


class GatedNet(nn.Module):
    """A Linear layer, one gate that is used twice, and an operation of its own."""

    def __init__(self, first, gate, left, right, inputs, size):
        super().__init__()
        self.names = (first, gate)
        self.add_module(first, nn.Linear(inputs, size))
        self.add_module(gate, Gate(size, left, right))

    def forward(self, x):
        first, gate = (getattr(self, name) for name in self.names)
        return gate(gate(first(x))).exp()


class NestedModules(OneForward):
    """Modules in modules: what a module saves itself, after its parts, counts for it; a reused layer's calls add up."""

    def given(self, case):
        model = case.build("net", GatedNet, *case.words("names", 4), *case.shape("sizes", 2, 3, 8))
        return model, case.tensor("x", case.integer("samples", 10, 14), getattr(model, model.names[0]).in_features)

    def parts(self, model, x):
        first, gate = model.names
        left, right = (f"{gate}.{name}" for name in getattr(model, gate).names)
        x = model.get_submodule(first)(x)
        yield first, x
        for _ in range(2):
            one = model.get_submodule(left)(x)
            yield left, one
            other = model.get_submodule(f"{right}.0")(x)
            yield f"{right}.0", other
            other = model.get_submodule(f"{right}.1")(other)
            yield f"{right}.1", other
            x = one * other
            yield gate, x
        yield "", self.loss(x.exp())


class KeepsNothingAlive(OneForward):
    """Once the graph is gone, the saved tensors are gone too, though the tool is still there."""

    def probe(self, nb, case):
        model, x = self.given(case)
        net = nn.Sequential(model[0], nn.Tanh(), model[2], nn.Softplus())
        storage_of, watched = {}, Storages(case)
        for name in ("1", "2"):
            net.get_submodule(name).register_forward_hook(
                lambda module, args, output: storage_of.update({module: StorageWeakRef(output.untyped_storage())})
            )
            net.get_submodule(name).register_forward_hook(
                lambda module, args, output, name=name: watched.watch(output, name)
            )
        with nb.function("ActivationMemory")(net) as memory:
            loss = net(x).sum()

        def in_memory():
            return [type(module).__name__ for module, storage in storage_of.items() if not storage.expired()]

        before, there = in_memory(), watched.left("while the graph is there")
        del loss
        if in_memory():
            gc.collect()
        return {
            "saved outputs, while the graph is there": before,
            "saved outputs, when the graph is gone": in_memory(),
            "the tool": None if memory is None else "still there",
            "the trace of memory, while the graph is there": there,
            "the trace of memory, when the graph is gone": watched.left("when the graph is gone"),
        }

    def truth(self, case):
        return {
            "saved outputs, while the graph is there": ["Tanh", "Linear"],
            "saved outputs, when the graph is gone": [],
            "the tool": "still there",
            "the trace of memory, while the graph is there": storages_left(
                case, "while the graph is there", there=["1", "2"]
            ),
            "the trace of memory, when the graph is gone": storages_left(
                case, "when the graph is gone", freed=["1", "2"]
            ),
        }

    def mistakes(self, case):
        return {
            "memory_copies": {"saved outputs, while the graph is there": []},
            "memory_circle": {"saved outputs, when the graph is gone": ["Tanh"]},
            "memory_keeps_tensors": {"saved outputs, when the graph is gone": ["Tanh", "Linear"]},
        }


check("activation_memory", KeepsNothingAlive, OtherTypes, SlicesOfStorages, NestedModules)
### END HIDDEN TESTS

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
# medium · 20 min · 4 points
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
# Run this cell to check your answer.
from functools import partial

import torch
from torch import nn

from course.checking import Check, check
from course.compare import AnyOf, Matches
from course.evidence import snapshot
from course.probing import hook_counts, other_than
from course.traces import as_before, gradients_left, parameters_of, what_runs


def plain_net(first, second, third):
    body = nn.Sequential(nn.Linear(first, second), nn.Tanh(), nn.Linear(second, second))
    return nn.Sequential(body, nn.Tanh(), nn.Linear(second, third))


def values(model):
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def with_gradient(model):
    """The names of the parameters that have a gradient; with a note where it is all zeros."""
    found = {name: parameter.grad for name, parameter in model.named_parameters() if parameter.grad is not None}
    return [name if gradient.any() else f"{name}: zeros" for name, gradient in found.items()]


class LikePlainSGD(Check):
    """Each of three backwards in a block makes the parameters what SGD would make them, and leaves no gradient."""

    errors = {
        r"TypeError: params argument given to the optimizer should be an iterable": "optimizer_needs_list",
        r"RuntimeError: cannot register a hook on a tensor that doesn't require gradient": "optimizer_frozen",
        r"RuntimeError: Tensor post accumulate grad hooks should return None": "optimizer_hook_returns",
        r"TypeError: expected Variable, but hook returned": "optimizer_hook_returns",
        r"RuntimeError: hook '.*' has changed the size": "optimizer_hook_returns",
        r"(TypeError: .*(context manager protocol|not an iterator)|AttributeError: __e)": "tool_no_context",
        r"(TypeError|AttributeError): .*'NoneType'": "optimizer_grad_is_none",
        r"RuntimeError: .*modified by an inplace operation": "optimizer_step_too_soon",
        r"ValueError: optimizer got an empty parameter list": "optimizer_empty_list",
    }

    def given(self, case):
        return case.build("net", plain_net, *case.shape("sizes", 3, 3, 6))

    def make(self, case):
        return partial(torch.optim.SGD, lr=case.integer("rate", 2, 5) / 100)

    def loss(self, case, model, step):
        sizes = model.get_submodule("0.0").in_features, list(model.parameters())[-1].shape[0]
        output = model(case.tensor(f"x{step}", 7, sizes[0]))
        return (output * case.tensor("upstream", 7, sizes[1])).sum()

    def probe(self, nb, case):
        model, brought = self.given(case), {}
        with nb.function("OptimizerInBackward")(model, self.make(case)):
            for step in (1, 2, 3):
                self.loss(case, model, step).backward()
                brought[f"gradients left after backward {step}"] = with_gradient(model)
                brought[f"parameters after backward {step}"] = values(model)
            left = gradients_left(parameters_of(model), case)
        return {**brought, "what .grad holds in the end": left}

    def loop(self, case, step_with):
        """The parameters before, and after each of three steps on a hook-free model; `step_with` gets the optimizer."""
        model = self.given(case)
        optimizer, history = self.make(case)(list(model.parameters())), [values(model)]
        for step in (1, 2, 3):
            self.loss(case, model, step).backward()
            step_with(optimizer, model)
            history.append(values(model))
        return history

    def plain(self, case):
        def step_with(optimizer, model):
            optimizer.step()
            optimizer.zero_grad()

        return self.loop(case, step_with)

    def truth(self, case):
        _, *after = self.plain(case)
        gradients = {f"gradients left after backward {step}": [] for step in (1, 2, 3)}
        parameters = {f"parameters after backward {step}": one for step, one in enumerate(after, 1)}
        each = {name: (gradients | parameters)[name] for pair in zip(gradients, parameters) for name in pair}
        return {**each, "what .grad holds in the end": gradients_left(parameters_of(self.given(case)), case)}

    def mistakes(self, case):
        model, make = self.given(case), self.make(case)
        names = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
        before, one, two, three = self.plain(case)

        def never_freed(optimizer, model):
            optimizer.step()

        def step_after_step(optimizer, model):
            # The last parameter is complete first. Each further one lets all complete ones take a step.
            gradients = {parameter: parameter.grad for parameter in model.parameters()}
            optimizer.zero_grad()
            for parameter in reversed(list(model.parameters())):
                parameter.grad = gradients[parameter]
                optimizer.step()

        def fresh(optimizer, model):
            make(list(model.parameters())).step()
            model.zero_grad()

        def formula(optimizer, model):
            for parameter in model.parameters():
                if parameter.grad is not None:
                    parameter.data -= make.keywords["lr"] * parameter.grad
            model.zero_grad()

        def shrunk(optimizer, model):
            for parameter in model.parameters():
                parameter.data -= make.keywords["lr"] * parameter.data
            model.zero_grad()

        def after(*steps):
            return {f"parameters after backward {step}": one for step, one in enumerate(steps, 1) if one is not None}

        def left(wanted, step=1):
            return {f"gradients left after backward {step}": wanted}

        def some(test):
            return left(Matches(lambda got: None if got and set(got) < set(names) and test(got) else "no", "some"))

        last = {name: one[name] if name == names[-1] else before[name] for name in names}
        first_layer = [name for name in names if name.startswith("0.0")]
        return {
            "optimizer_never_steps": {**left(names), **after(before, before, before)},
            "optimizer_too_early": {**left(names), **after(before), **left(names, 2)},
            "optimizer_freed_first": {**left([]), **after(before)},
            "optimizer_once": {**after(one, one), **left(names, 2)},
            "optimizer_zero_not_none": {**left([f"{name}: zeros" for name in names]), **after(one, two, three)},
            "optimizer_fills_grad_itself": {**left(names), **after(one, two, three)},
            "optimizer_not_freed": {**left(names), **after(*self.loop(case, never_freed)[1:])},
            "optimizer_steps_too_often": {**after(self.loop(case, step_after_step)[1])},
            "optimizer_late_binding": AnyOf({**left(names[:-1]), **after(last)}, {**left(names[:-1])}),
            "optimizer_module_hook": left(first_layer),
            "optimizer_misses_some": some(lambda got: True),
            "optimizer_parameter_for_gradient": after(self.loop(case, shrunk)[1]),
            "optimizer_state_lost": after(None, *self.loop(case, fresh)[2:]),
            "optimizer_own_formula": after(self.loop(case, formula)[1]),
        }


class WithMomentum(LikePlainSGD):
    """The same with momentum and weight decay."""

    def make(self, case):
        return partial(torch.optim.SGD, lr=case.integer("rate", 2, 5) / 100, momentum=0.9, weight_decay=0.3)


check("optimizer_in_backward", LikePlainSGD, WithMomentum)


### BEGIN HIDDEN TESTS
class SharedNet(nn.Module):
    """A frozen layer, then two layers with one weight, the first of them with a frozen bias."""

    def __init__(self, first, second):
        super().__init__()
        self.add_module("0", nn.Sequential(nn.Linear(first, second).requires_grad_(False)))
        self.one, self.two = nn.Linear(second, second), nn.Linear(second, second)
        self.two.weight = self.one.weight
        self.one.bias.requires_grad_(False)

    def forward(self, x):
        return self.two(torch.tanh(self.one(getattr(self, "0")(x))))


class FrozenAndShared(LikePlainSGD):
    """Frozen parameters stay as they are, and a weight that two layers share takes one step."""

    def given(self, case):
        return case.build("net", SharedNet, *case.shape("sizes", 2, 3, 6))

    def mistakes(self, case):
        def twice(optimizer, model):
            optimizer.step()
            model.two.bias.grad = None
            optimizer.step()
            model.zero_grad()

        thawed = self.given(case).requires_grad_(True)
        optimizer = self.make(case)(list(thawed.parameters()))
        self.loss(case, thawed, 1).backward()
        optimizer.step()
        return {
            "optimizer_shared_twice": {"parameters after backward 1": self.loop(case, twice)[1]},
            "optimizer_unfreezes": {"parameters after backward 1": values(thawed)},
            **super().mistakes(case),
        }


class OneGradientAtATime(LikePlainSGD):
    """During backward there is never more than one parameter's gradient in memory."""

    def probe(self, nb, case):
        model, counts, moments = self.given(case), [], {}
        named = parameters_of(model)

        def look(name, parameter):
            counts.append(len(with_gradient(model)))
            moments.setdefault(name, snapshot(gradients_left(named, case)))

        for name, parameter in named.items():
            parameter.register_post_accumulate_grad_hook(partial(look, name))
        with nb.function("OptimizerInBackward")(model, self.make(case)):
            for step in (1, 2):
                self.loss(case, model, step).backward()
        return {
            "gradients in memory at a time": max(counts),
            "parameters after backward 2": values(model),
            "what .grad holds, whenever one is complete": moments,
        }

    def truth(self, case):
        model = self.given(case)
        named = dict(model.named_parameters())
        none, found = gradients_left(named, case), torch.autograd.grad(self.loss(case, model, 1), list(named.values()))
        return {
            "gradients in memory at a time": 1,
            "parameters after backward 2": self.plain(case)[2],
            "what .grad holds, whenever one is complete": {
                name: {**none, name: gradient} for name, gradient in zip(named, found)
            },
        }

    def mistakes(self, case):
        return {"optimizer_all_at_the_end": {"gradients in memory at a time": other_than(1)}}


class AfterTheBlock(LikePlainSGD):
    """After the block backward fills `.grad` and changes no parameter, also after an error; hooks of others stay."""

    blame = {"the error in the block": "tool_swallows_error"}

    def with_hooks_of_others(self, case):
        model = self.given(case)
        for parameter in model.parameters():
            parameter.register_hook(lambda grad: None)
            parameter.register_post_accumulate_grad_hook(lambda parameter: None)
        return model

    def probe(self, nb, case):
        model = self.with_hooks_of_others(case)
        with nb.function("OptimizerInBackward")(model, self.make(case)):
            self.loss(case, model, 1).backward()
        self.loss(case, model, 2).backward()
        brought = {
            "hooks after the block": hook_counts(model),
            "parameters after a backward behind the block": values(model),
            "gradients of that backward": {
                name: None if one.grad is None else one.grad.clone() for name, one in model.named_parameters()
            },
            "the error in the block": None,
            "what runs after the block": self.runs(case, model),
        }
        model = self.with_hooks_of_others(case)
        try:
            with nb.function("OptimizerInBackward")(model, self.make(case)):
                raise ArithmeticError(case.words("error", 1)[0])
        except ArithmeticError as error:
            brought["the error in the block"] = str(error)
        return {
            **brought,
            "hooks after a block with an error": hook_counts(model),
            "what runs after a block with an error": self.runs(case, model),
        }

    def runs(self, case, model):
        return what_runs(model, case, lambda: self.loss(case, model, 3).backward())

    def truth(self, case):
        model, after = self.given(case), self.plain(case)[1]
        model.load_state_dict(after)
        gradients = torch.autograd.grad(self.loss(case, model, 2), list(model.parameters()))
        hooked = self.with_hooks_of_others(case)
        hooks, runs = hook_counts(hooked), as_before(self.runs(case, hooked))
        return {
            "hooks after the block": hooks,
            "parameters after a backward behind the block": after,
            "gradients of that backward": dict(zip(after, gradients)),
            "the error in the block": case.words("error", 1)[0],
            "hooks after a block with an error": hooks,
            "what runs after the block": runs,
            "what runs after a block with an error": runs,
        }

    def mistakes(self, case):
        hooks = hook_counts(self.with_hooks_of_others(case))

        def more(got):
            return None if any(got[kind] > count for kind, count in hooks.items()) else "no"

        def fewer(got):
            return None if any(got[kind] < count for kind, count in hooks.items()) else "no"

        return {
            "removes_other_hooks": {"hooks after the block": Matches(fewer, "fewer")},
            "tool_hooks_left": {"hooks after the block": Matches(more, "more")},
            "tool_not_after_error": {"hooks after a block with an error": Matches(more, "more")},
        }


check("optimizer_in_backward", FrozenAndShared, OneGradientAtATime, AfterTheBlock)
### END HIDDEN TESTS

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
