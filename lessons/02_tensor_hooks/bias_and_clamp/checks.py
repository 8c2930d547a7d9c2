# %% bias
import torch

from nbproof.checks.check import Check, check
from course.models import TestNet
from course.probing import tensor_hook_count
from course.truths import ANYTHING, other_than


class FreezesTheBias(Check):
    """Each backward pass gives `fc.bias` zeros; all the rest is as without the hook."""

    outputs = 7

    def build(self, case, name="net"):
        net = case.build(name, TestNet)
        net.fc = case.build(f"{name} fc", torch.nn.Linear, 160, self.outputs)
        return net

    def backward(self, net, case, passes=2):
        for number in range(passes):
            net(case.tensor(f"x{number}", 1, 3, 8, 8)).backward(case.tensor("upstream", self.outputs))
        gradients = {f"{name}.grad": parameter.grad for name, parameter in net.named_parameters()}
        return {**gradients, "parameters": {name: p.detach() for name, p in net.named_parameters()}}

    def probe(self, nb, case):
        net = self.build(case)
        nb.function("freeze_bias")(net)
        nb.function("freeze_bias")(self.build(case, "another net"))
        return {**self.backward(net, case), "hooks on fc.bias": tensor_hook_count(net.fc.bias)}

    def truth(self, case):
        zeros = torch.zeros(self.outputs)
        return {**self.backward(self.build(case), case), "fc.bias.grad": zeros, "hooks on fc.bias": ANYTHING}

    def mistakes(self, case):
        free = self.backward(self.build(case), case)
        first = self.backward(self.build(case), case, passes=1)["fc.bias.grad"]
        others = {name: value for name, value in free.items() if name not in ("fc.bias.grad", "parameters")}
        bias = free["fc.bias.grad"]
        return {
            "no_grad_is_not_zero": {"fc.bias.grad": None},
            "changes_parameters": {"parameters": other_than(free["parameters"])},
            "no_hook_on_it": {**others, "fc.bias.grad": bias, "hooks on fc.bias": 0},
            "hook_returns_nothing": {**others, "fc.bias.grad": bias},
            "wrong_tensor": {"fc.bias.grad": bias},
            "runs_only_once": {**others, "fc.bias.grad": bias - first},
        }

    blame = {
        **dict.fromkeys(("conv.weight.grad", "conv.bias.grad", "fc.weight.grad"), "hooks_too_much"),
        "fc.bias.grad": "not_quite_zero",
    }


check("bias_and_clamp", FreezesTheBias)


# --- Hidden checks: graders run them, learners do not get them. ---
def net_to_train(case):
    """A net with some outputs, and its optimizer."""
    net = case.build("hidden net", TestNet)
    net.fc = case.build("hidden fc", torch.nn.Linear, 160, case.integer("hidden outputs", 6, 9))
    return net, torch.optim.SGD(net.parameters(), lr=0.1)


class Trains(Check):
    """In training, `fc.bias` gets zeros and keeps its value, and the other parameters learn as ever."""

    def probe(self, nb, case):
        net, optimizer = net_to_train(case)
        nb.function("freeze_bias")(net)
        for number in range(case.integer("hidden steps", 2, 4)):
            optimizer.zero_grad()
            net(case.tensor(f"hidden x{number}", 1, 3, 8, 8)).tanh().sum().backward()
            optimizer.step()
        return {name: [parameter.detach(), parameter.grad] for name, parameter in net.named_parameters()}

    def truth(self, case):
        net, optimizer = net_to_train(case)
        for number in range(case.integer("hidden steps", 2, 4)):
            optimizer.zero_grad()
            net(case.tensor(f"hidden x{number}", 1, 3, 8, 8)).tanh().sum().backward()
            net.fc.bias.grad = torch.zeros_like(net.fc.bias)
            optimizer.step()
        return {name: [parameter.detach(), parameter.grad] for name, parameter in net.named_parameters()}


check("bias_and_clamp", Trains)

# %% clamp
import torch

from nbproof.checks.check import Check, check
from course.models import TestNet
from course.probing import tensor_hook_count
from course.truths import ANYTHING, other_than


class BehindTheReLU(Check):
    """On the output of the ReLU, the clamp changes the gradients of `conv`, and not those of `fc`."""

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

    def edited(self, case, change=torch.clone, least=-torch.inf):
        """The gradients if the one of h is changed by hand, to numbers from ``least`` on, before it goes on."""
        net, h, output = self.forward(case)
        upstream = 4 * case.tensor("upstream", 5)
        later, earlier = [net.fc.weight, net.fc.bias], [net.conv.weight, net.conv.bias]
        of_h, *of_fc = torch.autograd.grad(output, [h, *later], upstream, retain_graph=True)
        of_conv = torch.autograd.grad(h, earlier, change(of_h).clamp(min=least))
        names = ("conv.weight.grad", "conv.bias.grad", "fc.weight.grad", "fc.bias.grad")
        return {"output": output, **dict(zip(names, [*of_conv, *of_fc], strict=True))}

    def truth(self, case):
        return {**self.edited(case, least=0), "hooks on h": ANYTHING}

    def mistakes(self, case):
        nothing = self.edited(case)
        return {
            "changes_the_value": {"output": other_than(nothing["output"])},
            "no_hook_on_it": {**nothing, "hooks on h": 0},
            "hook_without_effect": nothing,
            "makes_it_positive": self.edited(case, torch.abs),
            "wrong_sign": self.edited(case, lambda grad: grad.clamp(max=0)),
            "clamps_too_late": {name: value.clamp(min=0) for name, value in nothing.items() if "conv" in name},
        }

    errors = {r"AttributeError: 'NoneType' object has no attribute 'cl": "reads_grad_early"}
    blame = dict.fromkeys(("conv.weight.grad", "conv.bias.grad"), "clamps_otherwise")


class AnotherGraph(Check):
    """On a tensor used twice, each pass clamps the sum of what flows back."""

    def forward(self, case):
        x = case.tensor("x", 2, 3, 4, requires_grad=True)
        h = x * case.tensor("factor", 4)
        return x, h

    def backward(self, h, case, passes=2):
        output = h * case.tensor("a", 3, 4) + h**3
        for number in range(passes):
            output.backward(case.tensor(f"upstream {number}", 2, 3, 4), retain_graph=True)

    def probe(self, nb, case):
        x, h = self.forward(case)
        nb.function("clamp_downstream")(h)
        self.backward(h, case)
        return {"x.grad": x.grad}

    def edited(self, case, *least, factor=1):
        """x.grad after one pass for each bound: the gradient of h is clamped by hand, or what it is times a factor."""
        x, h = self.forward(case)
        for number, bound in enumerate(least):
            alone = h.detach().requires_grad_()
            output = alone * case.tensor("a", 3, 4) + alone**3
            (of_h,) = torch.autograd.grad(output, alone, case.tensor(f"upstream {number}", 2, 3, 4))
            h.backward((of_h * factor).clamp(min=bound) / factor, retain_graph=True)
        return {"x.grad": x.grad}

    def truth(self, case):
        return self.edited(case, 0, 0)

    def mistakes(self, case):
        factor = case.tensor("factor", 4)
        return {
            "clamps_behind_the_operation": self.edited(case, 0, 0, factor=factor),
            "runs_only_once": self.edited(case, 0, -torch.inf),
        }


class BesideASibling(Check):
    """A tensor that is added to the clamped one gets its gradient as it is."""

    def forward(self, case):
        x, y = (case.tensor(name, 3, 4, requires_grad=True) for name in "xy")
        return x, y, x * 2, y * 3

    def probe(self, nb, case):
        x, y, h, sibling = self.forward(case)
        nb.function("clamp_downstream")(h)
        upstream = case.tensor("upstream", 3, 4)
        (sibling + h).backward(upstream)
        return {"x.grad": x.grad, "y.grad": y.grad, "upstream": upstream}

    def truth(self, case):
        upstream = case.tensor("upstream", 3, 4)
        return {"x.grad": 2 * upstream.clamp(min=0), "y.grad": 3 * upstream, "upstream": upstream}

    def mistakes(self, case):
        upstream = case.tensor("upstream", 3, 4)
        return {"clamps_in_place": {"x.grad": 2 * upstream.clamp(min=0), "upstream": other_than(upstream)}}


check("bias_and_clamp", BehindTheReLU, AnotherGraph, BesideASibling)


# --- Hidden checks: graders run them, learners do not get them. ---
class BehindAProduct(Check):
    """On another tensor in the middle: in each pass earlier gradients follow from the clamped one, others stay."""

    def probe(self, nb, case):
        x, v = case.tensor("hidden x", 5, 4, requires_grad=True), case.tensor("hidden v", 6, requires_grad=True)
        h = (x @ case.tensor("hidden w", 4, 6)).sigmoid()
        nb.function("clamp_downstream")(h)
        output = h.cos() * v + h
        for number in range(case.integer("hidden passes", 2, 4)):
            output.backward(case.tensor(f"hidden upstream {number}", 5, 6), retain_graph=True)
        return {"output": output, "x.grad": x.grad, "v.grad": v.grad}

    def truth(self, case):
        x, v = case.tensor("hidden x", 5, 4, requires_grad=True), case.tensor("hidden v", 6, requires_grad=True)
        h = (x @ case.tensor("hidden w", 4, 6)).sigmoid()
        output, total = h.cos() * v + h, [torch.zeros(5, 4), torch.zeros(6)]
        for number in range(case.integer("hidden passes", 2, 4)):
            upstream = case.tensor(f"hidden upstream {number}", 5, 6)
            of_h, of_v = torch.autograd.grad(output, (h, v), upstream, retain_graph=True)
            (of_x,) = torch.autograd.grad(h, x, of_h.clamp(min=0), retain_graph=True)
            total = [total[0] + of_x, total[1] + of_v]
        return {"output": output, "x.grad": total[0], "v.grad": total[1]}


check("bias_and_clamp", BehindAProduct)
