# %% bias
import torch

from nbproof.checks.check import Check, check
from course.models import TestNet
from course.probing import tensor_hook_count
from course.truths import ANYTHING, other_than
from course.traces import gradients_left


class FreezesTheBias(Check):
    """In each backward pass `fc.bias` gets zeros. The other gradients, and all parameters, are as without the hook."""

    outputs = 7

    def build(self, case):
        net = case.build("net", TestNet)
        net.fc = case.build("fc", torch.nn.Linear, 160, self.outputs)
        return net

    def backward(self, net, case, passes=3):
        for number in range(passes):
            net(case.tensor(f"x{number}", 1, 3, 8, 8)).backward(case.tensor("upstream", self.outputs))
        gradients = {f"{name}.grad": parameter.grad for name, parameter in net.named_parameters()}
        return {**gradients, "parameters": {name: p.detach() for name, p in net.named_parameters()}}

    def probe(self, nb, case):
        net = self.build(case)
        bias = net.fc.bias
        nb.function("freeze_bias")(net)
        found = self.backward(net, case)
        return {**found, "gradient of the bias that the net came with": bias.grad, "hooks on fc.bias": tensor_hook_count(bias)}

    def truth(self, case):
        zeros = torch.zeros(self.outputs)
        return {
            **self.backward(self.build(case), case),
            "fc.bias.grad": zeros,
            "gradient of the bias that the net came with": zeros,
            "hooks on fc.bias": ANYTHING,
        }

    def mistakes(self, case):
        free = self.backward(self.build(case), case)
        last, without_first = (self.backward(self.build(case), case, passes=passes)["fc.bias.grad"] for passes in (1, 2))
        others = {name: value for name, value in free.items() if name not in ("fc.bias.grad", "parameters")}
        bias, zeros = free["fc.bias.grad"], torch.zeros(self.outputs)
        return {
            "new_bias": {"fc.bias.grad": zeros, "gradient of the bias that the net came with": None},
            "no_grad_is_not_zero": {"fc.bias.grad": None},
            "changes_parameters": {"parameters": other_than(free["parameters"])},
            "no_hook_on_it": {**others, "fc.bias.grad": bias, "hooks on fc.bias": 0},
            "hook_returns_nothing": {**others, "fc.bias.grad": bias},
            "wrong_tensor": {"fc.bias.grad": bias},
            "runs_only_once": {**others, "fc.bias.grad": without_first},
            "hook_writes_grad": {**others, "fc.bias.grad": last},
        }

    blame = {
        **dict.fromkeys(("conv.weight.grad", "conv.bias.grad", "fc.weight.grad"), "hooks_too_much"),
        "fc.bias.grad": "not_quite_zero",
    }


class TwoNets(Check):
    """Two nets, with as many outputs as `conv` has: in later passes each has zeros for its own bias; earlier `.grad` stay."""

    def build(self, case, name):
        net = case.build(name, TestNet)
        net.fc = case.build(f"{name} fc", torch.nn.Linear, 160, 10)
        return net

    def backward(self, net, case):
        for _ in range(2):
            net.zero_grad()
            net(case.tensor("x", 1, 3, 8, 8)).backward(case.tensor("upstream", 10))

    def probe(self, nb, case):
        nets = [self.build(case, name) for name in ("first", "second")]
        self.backward(nets[0], case)
        for net in nets:
            nb.function("freeze_bias")(net)
        earlier = gradients_left({name: one for name, one in nets[0].named_parameters() if name != "fc.bias"}, case)
        earlier = {name: grad.clone() for name, grad in earlier.items()}  # of fc.bias, it may be kept or emptied
        for net in nets:
            self.backward(net, case)
        return {
            ".grad of an earlier pass": earlier,
            "fc.bias.grad of both": [net.fc.bias.grad for net in nets],
            "fc.weight.grad": nets[0].fc.weight.grad,
            "conv.bias.grad": nets[0].conv.bias.grad,
        }

    def truth(self, case):
        free = self.build(case, "first")
        self.backward(free, case)
        zeros = [torch.zeros(10)] * 2
        return {
            ".grad of an earlier pass": {name: one.grad for name, one in free.named_parameters() if name != "fc.bias"},
            "fc.bias.grad of both": zeros,
            "fc.weight.grad": free.fc.weight.grad,
            "conv.bias.grad": free.conv.bias.grad,
        }

    def mistakes(self, case):
        return {"no_grad_is_not_zero": {"fc.bias.grad of both": [None, None]}}

    blame = {
        "fc.bias.grad of both": "earlier_call_forgotten",
        "conv.bias.grad": "hooks_too_much",
        ".grad of an earlier pass": "empties_grad",
    }


check("bias_and_clamp", FreezesTheBias, TwoNets)


# --- Hidden checks: graders run them, learners do not get them. ---
def net_to_train(case):
    """A net with three outputs, and its optimizer."""
    net = case.build("hidden net", TestNet)
    net.fc = case.build("hidden fc", torch.nn.Linear, 160, 3)
    return net, torch.optim.SGD(net.parameters(), lr=0.1)


class Trains(Check):
    """In training, `fc.bias` keeps its value, and the other parameters learn as ever."""

    def probe(self, nb, case):
        net, optimizer = net_to_train(case)
        nb.function("freeze_bias")(net)
        for number in (1, 2):
            optimizer.zero_grad()
            net(case.tensor(f"hidden x{number}", 1, 3, 8, 8)).tanh().backward(case.tensor("hidden upstream", 3))
            optimizer.step()
        return {name: parameter.detach() for name, parameter in net.named_parameters()}

    def truth(self, case):
        net, optimizer = net_to_train(case)
        for number in (1, 2):
            optimizer.zero_grad()
            net(case.tensor(f"hidden x{number}", 1, 3, 8, 8)).tanh().backward(case.tensor("hidden upstream", 3))
            net.fc.bias.grad = torch.zeros(3)
            optimizer.step()
        return {name: parameter.detach() for name, parameter in net.named_parameters()}


check("bias_and_clamp", Trains)

# %% clamp
import torch

from nbproof.checks.check import Check, check
from course.models import TestNet
from course.probing import tensor_hook_count
from course.traces import gradients_left
from course.truths import ANYTHING, no_gradient_left, other_than


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
            "all_or_nothing": self.edited(case, torch.zeros_like),
            "clamps_both_ends": self.edited(case, lambda grad: grad.clamp(0, 1)),
            "clamps_too_late": {name: value.clamp(min=0) for name, value in nothing.items() if "conv" in name},
        }

    errors = {r"AttributeError: 'NoneType' object has no attribute 'cl": "reads_grad_early"}
    blame = dict.fromkeys(("conv.weight.grad", "conv.bias.grad"), "clamps_otherwise")


class AnotherGraph(Check):
    """On a tensor `h` of another shape and operation, used twice: in each pass the sum of what flows back is clamped."""

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
        return {"x.grad": x.grad, ".grad of h": gradients_left({"h": h}, case)["h"]}

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
        of_x = self.edited(case, 0, 0)
        return {**of_x, ".grad of h": no_gradient_left("h", self.forward(case)[1], case)}

    blame = {".grad of h": "uses_retain_grad"}

    def mistakes(self, case):
        factor = case.tensor("factor", 4)
        return {
            "clamps_behind_the_operation": self.edited(case, 0, 0, factor=factor),
            "runs_only_once": self.edited(case, 0, -torch.inf),
        }


class OneOfTwoHalves(Check):
    """On one of two halves that one operation has made: what flows back through the other half stays."""

    def gradient(self, case, clamp_downstream):
        x = case.tensor("x", 4, 3, requires_grad=True)
        halves = (x * case.tensor("factor", 3)).chunk(2)
        clamp_downstream(halves[case.integer("which", 0, 1)])
        clamp_downstream(x.exp())  # of another branch, which is not used
        (halves[0] * case.tensor("a", 2, 3) + halves[1] * case.tensor("b", 2, 3)).backward(case.tensor("upstream", 2, 3))
        return x.grad

    def probe(self, nb, case):
        return {"x.grad": self.gradient(case, nb.function("clamp_downstream"))}

    def truth(self, case):
        grads = self.gradient(case, lambda half: None).chunk(2)
        which, factor = case.integer("which", 0, 1), case.tensor("factor", 3)
        return {"x.grad": torch.cat([(g / factor).clamp(min=0) * factor if i == which else g for i, g in enumerate(grads)])}

    def mistakes(self, case):
        return {"earlier_call_forgotten": {"x.grad": self.gradient(case, lambda half: None)}}

    blame = {"x.grad": "hooks_the_operation"}


class NoDimensions(Check):
    """On a tensor without dimensions, such as a loss: with a positive gradient and a negative one, ordinary, huge and tiny."""

    factors = (1, -1, 1e30, -1e30, 1e-30, -1e-30)

    def probe(self, nb, case):
        x = case.tensor("x", requires_grad=True)
        h = x * 4
        nb.function("clamp_downstream")(h)
        found = []
        for factor in self.factors:
            x.grad = None
            h.backward(factor * case.tensor("upstream", positive=True), retain_graph=True)
            found.append(x.grad if x.grad is None else x.grad / abs(factor))
        return {self.each: found}

    each = "x.grad after each pass, over the size of the gradient"

    def truth(self, case):
        grad = 4 * case.tensor("upstream", positive=True)
        return {self.each: [grad if factor > 0 else torch.zeros(()) for factor in self.factors]}

    blame = {each: "clamps_otherwise"}
    errors = {r"RuntimeError: hook .* has changed the size of value": "hook_changes_shape"}


check("bias_and_clamp", BehindTheReLU, AnotherGraph, OneOfTwoHalves, NoDimensions)


# --- Hidden checks: graders run them, learners do not get them. ---
class BehindAProduct(Check):
    """On another tensor in the middle: earlier gradients follow from the clamped one, others stay."""

    def probe(self, nb, case):
        x, v = case.tensor("hidden x", 5, 4, requires_grad=True), case.tensor("hidden v", 6, requires_grad=True)
        h = (x @ case.tensor("hidden w", 4, 6)).sigmoid()
        nb.function("clamp_downstream")(h)
        (h.cos() * v).backward(case.tensor("hidden upstream", 5, 6))
        return {"x.grad": x.grad, "v.grad": v.grad}

    def truth(self, case):
        x, v = case.tensor("hidden x", 5, 4, requires_grad=True), case.tensor("hidden v", 6, requires_grad=True)
        h = (x @ case.tensor("hidden w", 4, 6)).sigmoid()
        of_h, of_v = torch.autograd.grad(h.cos() * v, (h, v), case.tensor("hidden upstream", 5, 6))
        (of_x,) = torch.autograd.grad(h, x, of_h.clamp(min=0))
        return {"x.grad": of_x, "v.grad": of_v}


check("bias_and_clamp", BehindAProduct)
