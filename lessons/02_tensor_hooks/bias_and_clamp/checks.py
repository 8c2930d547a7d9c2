# %% bias
import torch

from nbproof.checks.check import Check, check
from course.models import TestNet
from course.probing import ANYTHING, other_than, tensor_hook_count


class FreezesTheBias(Check):
    """The gradient of `fc.bias` is zeros; the other gradients and all parameters are as without the hook."""

    outputs = 5

    def build(self, case):
        net = case.build("net", TestNet)
        net.fc = case.build("fc", torch.nn.Linear, 160, self.outputs)
        return net

    def backward(self, net, case):
        net(case.tensor("x", 1, 3, 8, 8)).backward(case.tensor("upstream", self.outputs))
        gradients = {f"{name}.grad": parameter.grad for name, parameter in net.named_parameters()}
        return {**gradients, "parameters": {name: p.detach() for name, p in net.named_parameters()}}

    def probe(self, nb, case):
        net = self.build(case)
        bias = net.fc.bias
        nb.function("freeze_bias")(net)
        return {**self.backward(net, case), "hooks on fc.bias": tensor_hook_count(bias)}

    def truth(self, case):
        free = self.backward(self.build(case), case)
        return {**free, "fc.bias.grad": torch.zeros(self.outputs), "hooks on fc.bias": ANYTHING}

    def mistakes(self, case):
        free = self.backward(self.build(case), case)
        others = {name: value for name, value in free.items() if name not in ("fc.bias.grad", "parameters")}
        return {
            "no_grad_is_not_zero": {"fc.bias.grad": None},
            "changes_parameters": {"parameters": other_than(free["parameters"])},
            "no_hook_on_it": {**others, "fc.bias.grad": free["fc.bias.grad"], "hooks on fc.bias": 0},
            "hook_returns_nothing": {**others, "fc.bias.grad": free["fc.bias.grad"]},
            "wrong_tensor": {"fc.bias.grad": free["fc.bias.grad"]},
        }

    blame = dict.fromkeys(("conv.weight.grad", "conv.bias.grad", "fc.weight.grad"), "hooks_too_much")


check("bias_and_clamp", FreezesTheBias)


# --- Hidden checks: graders run them, learners do not get them. ---
class AnotherSize(FreezesTheBias):
    """The same for a `net` whose `fc` has seven outputs."""

    outputs = 7


check("bias_and_clamp", AnotherSize)

# %% clamp
import torch

from nbproof.checks.check import Check, check
from course.models import TestNet
from course.probing import ANYTHING, other_than, tensor_hook_count


class BehindTheReLU(Check):
    """On the output `h` of the ReLU: `conv` gets what a gradient without negative elements brings, `fc` stays."""

    def forward(self, case):
        net = case.build("net", TestNet)
        h = net.relu(net.conv(case.tensor("x", 1, 3, 8, 8)))
        return net, h, net.fc(net.flatten(h))

    def probe(self, nb, case):
        net = case.build("net", TestNet)
        h = net.relu(net.conv(case.tensor("x", 1, 3, 8, 8)))
        nb.function("clamp_downstream")(h)
        output = net.fc(net.flatten(h))
        output.backward(4 * case.tensor("upstream", 5))
        gradients = {f"{name}.grad": parameter.grad for name, parameter in net.named_parameters()}
        return {"output": output, **gradients, "hooks on h": tensor_hook_count(h)}

    def edited(self, case, change):
        """The gradients where the one of h is changed by hand before it goes on."""
        net, h, output = self.forward(case)
        upstream = 4 * case.tensor("upstream", 5)
        below, above = [net.fc.weight, net.fc.bias], [net.conv.weight, net.conv.bias]
        of_h, *of_fc = torch.autograd.grad(output, [h, *below], upstream, retain_graph=True)
        of_conv = torch.autograd.grad(h, above, change(of_h))
        names = ("conv.weight.grad", "conv.bias.grad", "fc.weight.grad", "fc.bias.grad")
        return {"output": output, **dict(zip(names, [*of_conv, *of_fc], strict=True))}

    def truth(self, case):
        return {**self.edited(case, lambda grad: grad.clamp(min=0)), "hooks on h": ANYTHING}

    def mistakes(self, case):
        nothing = self.edited(case, lambda grad: grad)
        return {
            "changes_the_value": {"output": other_than(nothing["output"])},
            "no_hook_on_it": {**nothing, "hooks on h": 0},
            "hook_without_effect": nothing,
            "makes_it_positive": self.edited(case, torch.abs),
            "wrong_sign": self.edited(case, lambda grad: grad.clamp(max=0)),
            "all_or_nothing": self.edited(case, torch.zeros_like),
            "clamps_both_ends": self.edited(case, lambda grad: grad.clamp(0, 1)),
            "clamps_too_late": {name: value.clamp(min=0) for name, value in nothing.items() if "conv" in name},
        }

    errors = {r"AttributeError: 'NoneType' object has no attribute 'cl": "reads_grad_early"}


class AnotherGraph(Check):
    """On a tensor of another shape and operation, used twice: the sum of what flows back is clamped."""

    def forward(self, case):
        x = case.tensor("x", 2, 3, 4, requires_grad=True)
        h = x * case.tensor("factor", 4)
        return x, h

    def backward(self, h, case):
        (h * case.tensor("a", 3, 4) + h**3).backward(case.tensor("upstream", 2, 3, 4))

    def probe(self, nb, case):
        x, h = self.forward(case)
        nb.function("clamp_downstream")(h)
        self.backward(h, case)
        return {"x.grad": x.grad}

    def of_h(self, case):
        h = self.forward(case)[1].detach().requires_grad_()
        self.backward(h, case)
        return h.grad

    def truth(self, case):
        x, h = self.forward(case)
        h.backward(self.of_h(case).clamp(min=0))
        return {"x.grad": x.grad}

    def mistakes(self, case):
        factor = case.tensor("factor", 4)
        return {"clamps_behind_the_operation": {"x.grad": (self.of_h(case) * factor).clamp(min=0)}}


check("bias_and_clamp", BehindTheReLU, AnotherGraph)

