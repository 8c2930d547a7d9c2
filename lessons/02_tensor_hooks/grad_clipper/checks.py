import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from course.models import TestNet
from course.probing import tensor_hook_count
from course.truths import ANYTHING


def limits_of(case, name=""):
    """A floor and a cap: one below, one above zero, never symmetric."""
    floor = -0.1 * case.tensor("floor" + name, positive=True).item()
    return floor, 0.2 + 0.1 * case.tensor("cap" + name, positive=True).item()


def named_gradients(model):
    return {f"{name}.grad": parameter.grad for name, parameter in model.named_parameters()}


def run_backward(model, case, name="", shape=(1, 3, 8, 8)):
    output = model(2 * case.tensor("x" + name, *shape))
    output.backward(6 * case.tensor("upstream" + name, *output.shape))


class ClipsEveryParameter(Check):
    """After a backward pass each `.grad` is clamped to the limits; the model comes back."""

    poison = ("floor", "cap", "net", "w")
    blame = {"what grad_clipper returned": "returns_no_model", "parameters": "changes_parameters"}
    errors = {
        r"RuntimeError: Expected !nested_tensorlist": "no_hook_on_it",  # clip_grad_value_, before any .grad is there
        r"TypeError: clamp\(\)": "limits_come_first",
    }

    def probe(self, nb, case):
        net = case.build("net", TestNet)
        returned = nb.function("grad_clipper")(net, *limits_of(case))
        run_backward(net, case)
        return {
            "what grad_clipper returned": "the given model" if returned is net else "another object, or nothing",
            "parameters": {name: parameter.detach().clone() for name, parameter in net.named_parameters()},
            "gradients": named_gradients(net),
            "hooks on parameters": sum(tensor_hook_count(parameter) for parameter in net.parameters()),
        }

    def truth(self, case):
        free = case.build("net", TestNet)
        run_backward(free, case)
        return {
            "what grad_clipper returned": "the given model",
            "parameters": dict(free.named_parameters()),
            "gradients": {name: grad.clamp(*limits_of(case)) for name, grad in named_gradients(free).items()},
            "hooks on parameters": ANYTHING,
        }

    def mistakes(self, case):
        free = case.build("net", TestNet)
        run_backward(free, case)
        raw, (floor, cap) = named_gradients(free), limits_of(case)
        together = torch.cat([grad.flatten() for grad in raw.values()]).norm().item()

        def each(*changes, **fields):
            options = ({name: change(grad) for name, grad in raw.items()} for change in changes)
            return {"what grad_clipper returned": "the given model", "gradients": AnyOf(*options), **fields}

        some = {name: AnyOf(grad, grad.clamp(floor, cap)) for name, grad in raw.items()}
        return {
            "no_hook_on_it": each(lambda grad: grad, **{"hooks on parameters": 0}),
            "hook_returns_nothing": each(lambda grad: grad),
            "not_every_parameter": {"what grad_clipper returned": "the given model", "gradients": some},
            "one_limit_only": each(lambda grad: grad.clamp(min=floor), lambda grad: grad.clamp(max=cap)),
            "symmetric_limits": each(lambda grad: grad.clamp(-cap, cap), lambda grad: grad.clamp(floor, -floor)),
            "limits_swapped": each(lambda grad: grad.clamp(cap, floor)),
            "scales_to_norm": each(lambda grad: grad * min(1.0, cap / grad.norm().item()), lambda grad: grad * cap / together),
            "zeroes_outside": each(lambda grad: torch.where((grad < floor) | (grad > cap), 0.0, grad)),
            "keeps_the_tensor": {"gradients": {f"{name}.grad": p.clamp(floor, cap) for name, p in free.named_parameters()}},
            "clips_what_flows": {"gradients": self.clipped_between_the_layers(case)},
        }

    def clipped_between_the_layers(self, case):
        """The gradients if what flows from layer to layer is clamped, and the parameters' own gradients are not."""
        free = case.build("net", TestNet)
        h = free.relu(free.conv(2 * case.tensor("x", 1, 3, 8, 8)))
        h.register_hook(lambda grad: grad.clamp(*limits_of(case)))
        output = free.fc(free.flatten(h))
        output.backward(6 * case.tensor("upstream", *output.shape))
        return named_gradients(free)


class TwoBackwards(Check):
    """Two passes leave the sum of two clamped gradients; `torch.autograd.grad` returns clamped ones."""

    asked = "what torch.autograd.grad returns"

    def returned(self, net, case):
        return torch.autograd.grad((6 * net(case.tensor("x asked", 1, 3, 8, 8))).sum(), list(net.parameters()))

    def probe(self, nb, case):
        net = case.build("net", TestNet)
        nb.function("grad_clipper")(net, *limits_of(case))
        for name in "12":
            run_backward(net, case, name)
        return {**named_gradients(net), self.asked: self.returned(net, case)}

    def passes(self, case):
        """What each of the two passes brings."""
        free = case.build("net", TestNet)
        for name in "12":
            free.zero_grad()
            run_backward(free, case, name)
            yield named_gradients(free)

    def truth(self, case):
        (first, second), limits = self.passes(case), limits_of(case)
        asked = [grad.clamp(*limits) for grad in self.returned(case.build("net", TestNet), case)]
        return {**{name: first[name].clamp(*limits) + second[name].clamp(*limits) for name in first}, self.asked: asked}

    def mistakes(self, case):
        (first, second), limits = self.passes(case), limits_of(case)
        return {
            "clips_accumulated": {n: (first[n].clamp(*limits) + second[n]).clamp(*limits) for n in first},
            "runs_only_once": {n: first[n].clamp(*limits) + second[n] for n in first},
        }


class Nested(torch.nn.Module):
    """Parameters of its own, and in a container in a container. One, added at the end, gets the gradient that others get, too."""

    def __init__(self):
        super().__init__()
        self.scale, self.shift = torch.nn.Parameter(torch.rand(6) + 0.5), torch.nn.Parameter(torch.rand(4, 6))
        inner = torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Linear(6, 6, bias=False))
        self.body = torch.nn.Sequential(torch.nn.Linear(5, 6), inner)

    def forward(self, x):
        return self.body(x) * self.scale + self.shift


class TwoModels(Check):
    """Every parameter of nested models, each model with limits of its own."""

    names = ("first", "second")

    def probe(self, nb, case):
        nets = {name: case.build(name, Nested) for name in self.names}
        for name, net in nets.items():
            nb.function("grad_clipper")(net, *limits_of(case, name))
        for net in nets.values():
            run_backward(net, case, shape=(4, 5))
        return {f"{name} model": named_gradients(net) for name, net in nets.items()}

    def clamped(self, case, name, limits, in_place=False):
        free = case.build(name, Nested)
        output = free(2 * case.tensor("x", 4, 5))
        upstream = 6 * case.tensor("upstream", *output.shape)
        output.backward(upstream.clamp(*limits) if in_place else upstream)
        return {key: grad.clamp(*limits) for key, grad in named_gradients(free).items()}

    def truth(self, case):
        return {f"{name} model": self.clamped(case, name, limits_of(case, name)) for name in self.names}

    def mistakes(self, case):
        right, raw = self.truth(case)["first model"], self.clamped(case, "first", (None, torch.inf))
        return {
            "edits_in_place": {"first model": self.clamped(case, "first", limits_of(case, "first"), in_place=True)},
            "limits_shared": {"first model": self.clamped(case, "first", limits_of(case, "second"))},
            "not_every_parameter": {"first model": {name: AnyOf(raw[name], right[name]) for name in raw}},
        }

    errors = {r"AttributeError: 'NoneType' object has no attribute": "not_every_parameter"}


class FrozenParameter(Check):
    """A frozen parameter stays frozen, without a `.grad`; those of the others are clamped."""

    errors = {r"RuntimeError: cannot register a hook on a tensor that doesn't": "clips_frozen"}
    blame = {"body.0.weight.grad": "clips_frozen"}

    def build(self, case):
        net = case.build("net", Nested)
        net.body[0].weight.requires_grad_(False)
        return net

    def probe(self, nb, case):
        net = self.build(case)
        nb.function("grad_clipper")(net, *limits_of(case))
        run_backward(net, case, shape=(4, 5))
        return named_gradients(net)

    def truth(self, case):
        free = self.build(case)
        run_backward(free, case, shape=(4, 5))
        return {name: None if grad is None else grad.clamp(*limits_of(case)) for name, grad in named_gradients(free).items()}


check("grad_clipper", ClipsEveryParameter, TwoBackwards, TwoModels, FrozenParameter)


# --- Hidden checks: graders run them, learners do not get them. ---
class Scaled(torch.nn.Module):
    """Some layers in a container, and a scale of its own."""

    def __init__(self, width, depth):
        super().__init__()
        layers = [torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.Sigmoid()) for _ in range(depth)]
        self.scale, self.layers = torch.nn.Parameter(torch.rand(width) + 1), torch.nn.Sequential(*layers)
        self.shift = torch.nn.Parameter(torch.rand(6, width))

    def forward(self, x):
        return self.layers(x) * self.scale + self.shift


def two_models(case):
    """Two models of drawn width and depth, with limits of their own, which are read from the case."""
    width, depth = case.integer("hidden width", 3, 6), case.integer("hidden depth", 2, 4)
    nets = [case.build(f"hidden net {number}", Scaled, width, depth) for number in (1, 2)]
    limits = [(-case.integer(f"hidden floor {n}", 20, 40) / 1000, case.integer(f"hidden cap {n}", 50, 90) / 1000) for n in (1, 2)]
    return nets, limits, [case.tensor(f"hidden x{n}", 6, width) for n in range(case.integer("hidden passes", 2, 4))]


class SomePasses(Check):
    """Of two other models, each of some passes adds its own clamped gradients to `.grad`."""

    def probe(self, nb, case):
        nets, limits, batches = two_models(case)
        returned = [nb.function("grad_clipper")(net, *limit) for net, limit in zip(nets, limits)]
        for x in batches:
            for net in nets:
                (10 * net(x)).sum().backward()
        added = [[p.grad.clone() for p in net.parameters()] for net in nets]
        asked = [torch.autograd.grad((10 * net(batches[0])).sum(), list(net.parameters())) for net in nets]
        return [[model(batches[0]), *found] for model, *found in zip(returned, added, asked)]

    def truth(self, case):
        (nets, limits, batches), found = two_models(case), []
        for net, limit in zip(nets, limits):
            grads = [torch.autograd.grad((10 * net(x)).sum(), list(net.parameters())) for x in batches]
            clamped = [[grad.clamp(*limit) for grad in of_one] for of_one in grads]
            found.append([net(batches[0]), [sum(of_one) for of_one in zip(*clamped)], clamped[0]])
        return found


check("grad_clipper", SomePasses)
