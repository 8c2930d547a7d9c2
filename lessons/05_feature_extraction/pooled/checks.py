from dataclasses import replace

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close
from nbproof.values.evidence import snapshot
from course.models import TinyResNet
from course.probing import hook_counts
from course.traces import what_runs
from course.truths import as_before

ERRORS = {
    r"(TypeError|AttributeError): .*tuple": "hook_replaces_output",
    r"(IndexError: list index|KeyError: |UnboundLocalError)": "hook_never_ran",
}


def close(tensor):
    return Close(tensor.detach(), rtol=1e-4, atol=1e-4)


def somebody(module, args, output):
    """A hook of other people: it looks on."""


class WhatPoolPutsOut(Check):
    """`pooled(net, pictures)` is what `net.pool` returns while `net` runs."""

    errors = ERRORS
    field = "pooled(net, pictures)"

    def given(self, case):
        net = case.build("net", TinyResNet, places=2)
        net.bn1 = net._modules.pop("bn1")  # the order of the children is not that of forward
        net.pool.register_forward_hook(somebody)
        return net, case.tensor("pictures", 4, 3, *case.shape("size", 2, 6, 9))

    def probe(self, nb, case):
        return {self.field: nb.function("pooled")(*self.given(case))}

    def by_hand(self, net, x, norm=None):
        block, stem = net.block, torch.relu((norm or net.bn1)(net.conv1(x)))
        inner = block.bn2(block.conv2(torch.relu(block.bn1(block.conv1(stem)))))
        before = torch.relu(inner + stem)
        return before, net.pool(before)

    def truth(self, case):
        return {self.field: close(self.by_hand(*self.given(case))[1])}

    def mistakes(self, case):
        (net, x), (before, output) = self.given(case), self.by_hand(*self.given(case))
        return {
            "returns_nothing": {self.field: None},
            "output_for_features": {self.field: close(net(x))},
            "input_or_output": {self.field: AnyOf(close(before), [close(before)])},
            "layers_on_the_input": {self.field: close(net.pool(x))},
            "feat_in_a_list": {self.field: [close(output)]},
            "one_sample": {self.field: close(output[0])},
            "feat_flattened": {self.field: close(output.flatten(1))},
            "children_in_a_row": {self.field: close(self.by_hand(net, x, nn.Identity())[1])},
            "changes_mode": {self.field: close(self.by_hand(self.given(case)[0].eval(), x)[1])},
            "stale_result": {self.field: WhatPoolPutsOut.truth(self, replace(case, seed=case.seed - 1))[self.field]},  # of the case before
        }


class Again(WhatPoolPutsOut):
    """A second call is about its own pictures; no hook is left but that of somebody else."""

    blame = {"the number of hooks on the net": "feat_hook_left"}

    def probe(self, nb, case):
        net, x = self.given(case)
        pooled = nb.function("pooled")
        first = snapshot(pooled(net, x))
        second = snapshot(pooled(net, x[1:] * 2))
        ran = what_runs(net, case, lambda: net(x))
        return {
            "first call": first, "second call": second, "the number of hooks on the net": sum(hook_counts(net).values()),
            "what runs in net(x) afterwards": ran,
        }

    def truth(self, case):
        net, x = self.given(case)
        first, second = (close(self.by_hand(net, given)[1]) for given in (x, x[1:] * 2))
        return {
            "first call": first, "second call": second, "the number of hooks on the net": 1,
            "what runs in net(x) afterwards": as_before(what_runs(net, case, lambda: net(x))),
        }

    def mistakes(self, case):
        return {
            "stale_result": {"second call": self.truth(case)["first call"]},
            "removes_other_hooks": {"the number of hooks on the net": 0},
        }


check("pooled", WhatPoolPutsOut, Again)


# --- Hidden checks: graders run them, learners do not get them. ---
def aquarium(case):
    """A net with a pool somewhere among other layers; how many, and in which order they run, the seed says."""
    count = case.integer("basins", 2, 4)
    order = case.shuffled("filled", [*case.words("basins", count), "pool"])

    class Aquarium(nn.Module):
        def __init__(self):
            super().__init__()
            for name in case.shuffled("built", order):
                self.add_module(name, nn.Sequential(nn.Linear(5, 5), nn.BatchNorm1d(5)))

        def forward(self, x):
            for name in order:
                x = torch.tanh(self.get_submodule(name)(x) + x)
            return x.sum(1)

    net = case.build("an aquarium", Aquarium)
    net.pool.register_forward_hook(somebody)
    return net, [case.tensor("fish", 6, 5), case.tensor("frogs", 3, 5)]


class InTheAquarium(Check):
    """It is what this net's pool returns, for each call; the net is as it was."""

    def probe(self, nb, case):
        net, animals = aquarium(case)
        found = [snapshot(nb.function("pooled")(net, x)) for x in animals]
        return {"pooled": found, "ran": what_runs(net, case, lambda: net(animals[0]).sum().backward())}

    def truth(self, case):
        net, animals = aquarium(case)
        found = []
        with net.pool.register_forward_hook(lambda module, args, output: found.append(close(output))):
            for x in animals:
                net(x)
        ran = as_before(what_runs(net, case, lambda: net(animals[0]).sum().backward()))
        return {"pooled": found, "ran": ran}


check("pooled", InTheAquarium)
