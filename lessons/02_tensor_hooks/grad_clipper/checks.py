import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close
from course.awkward import awkward_models
from course.models import TestNet
from course.probing import nan_as_number, odd_gradients, tensor_hook_count
from course.truths import ANYTHING


def limits_of(case, name=""):
    """A floor and a cap: one below, one above zero, never symmetric."""
    floor = -0.1 * case.tensor("floor" + name, positive=True).item()
    return floor, 0.2 + 0.1 * case.tensor("cap" + name, positive=True).item()


def named_gradients(model):
    return {f"{name}.grad": parameter.grad for name, parameter in model.named_parameters()}


def named(returned, model):
    """What a function returned, in words."""
    return "the given model" if returned is model else "None" if returned is None else "another object"


def run_backward(model, case, name="", shape=(1, 3, 8, 8), factor=6.0):
    dtype = next(model.parameters()).dtype
    with case.seeded("dropout"):  # tells the mode
        output = model(2 * case.tensor("x" + name, *shape, dtype=dtype))
    output.backward(factor * case.tensor("upstream" + name, *output.shape, dtype=dtype))


class ClipsEveryParameter(Check):
    """After a backward pass each `.grad` is the gradient clamped to [floor, cap]; the model comes back as it was."""

    poison = ("floor", "cap", "net", "w")
    blame = {"what grad_clipper returned": "returns_no_model", "parameters": "changes_parameters"}
    errors = {r"RuntimeError: Expected !nested_tensorlist": "no_hook_on_it"}  # clip_grad_value_, before any .grad is there

    def probe(self, nb, case):
        net = case.build("net", TestNet)
        returned = nb.function("grad_clipper")(net, *limits_of(case))
        run_backward(net, case)
        parameters = {name: parameter.detach().clone() for name, parameter in net.named_parameters()}
        return {
            "what grad_clipper returned": named(returned, net),
            "parameters": parameters,
            "gradients": named_gradients(net),
            "hooks on parameters": sum(tensor_hook_count(parameter) for parameter in net.parameters()),
            "output of what came back, after a change of the model": self.changed(net, returned, case),
        }

    def changed(self, net, returned, case):
        """What the returned object computes once the weights of the given model are others: only the model knows."""
        with torch.no_grad():
            for name, parameter in net.named_parameters():
                parameter.add_(case.tensor(f"change of {name}", *parameter.shape))
        return returned(case.tensor("another x", 1, 3, 8, 8)) if callable(returned) else None

    def truth(self, case):
        free, changed = case.build("net", TestNet), case.build("net", TestNet)
        run_backward(free, case)
        clamped = {name: grad.clamp(*limits_of(case)) for name, grad in named_gradients(free).items()}
        return {
            "what grad_clipper returned": "the given model",
            "parameters": dict(free.named_parameters()),
            "gradients": clamped,
            "hooks on parameters": ANYTHING,
            "output of what came back, after a change of the model": self.changed(changed, changed, case),
        }

    def mistakes(self, case):
        free = case.build("net", TestNet)
        run_backward(free, case)
        raw, (floor, cap) = named_gradients(free), limits_of(case)

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
            "scales_to_norm": each(lambda grad: grad * min(1.0, cap / grad.norm().item())),
            "zeroes_outside": each(lambda grad: torch.where((grad < floor) | (grad > cap), 0.0, grad)),
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


class Nested(torch.nn.Module):
    """Parameters of its own, and in a container in a container."""

    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(6) + 0.5)
        self.factor = torch.nn.Parameter(torch.rand(()) + 0.5)
        inner = torch.nn.Sequential(torch.nn.Linear(6, 6, bias=False), torch.nn.LayerNorm(6))
        self.body = torch.nn.Sequential(torch.nn.Linear(5, 6), torch.nn.Tanh(), torch.nn.Dropout(0.3), inner)
        self.register_module("nothing", None)
        # A LayerNorm may divide by little: in float32, sums in another order would differ visibly.
        self.double()

    def forward(self, x):
        return self.body(x) * self.scale * self.factor


class NestedModel(Check):
    """Every parameter, of any shape: of nested modules, and of the model itself, which runs in the mode that it is in."""

    def probe(self, nb, case):
        net = case.build("net", Nested)
        nb.function("grad_clipper")(net, *limits_of(case))
        run_backward(net, case, shape=(4, 5))
        return named_gradients(net)

    def raw(self, case):
        free = case.build("net", Nested)
        run_backward(free, case, shape=(4, 5))
        return named_gradients(free)

    def truth(self, case):
        return {name: grad.clamp(*limits_of(case)) for name, grad in self.raw(case).items()}

    errors = {
        r"AttributeError: 'NoneType' object has no attribute": "not_every_parameter",
        r"(IndexError|TypeError): .*0-d(im)? tensor": "no_dimensions",
    }

    def mistakes(self, case):
        raw, clamped = self.raw(case), self.truth(case)
        return {"not_every_parameter": {name: AnyOf(grad, clamped[name]) for name, grad in raw.items()}}

    blame = dict.fromkeys(("scale.grad", "body.0.weight.grad", "body.0.bias.grad"), "switches_the_mode")


class TwoBackwards(Check):
    """Two backward passes leave the sum of two clamped gradients, on top of what `.grad` held before."""

    def build(self, case):
        net = case.build("net", TestNet)
        for name, parameter in net.named_parameters():
            parameter.grad = case.tensor(f"earlier gradient of {name}", *parameter.shape)
        return net

    def probe(self, nb, case):
        net = self.build(case)
        nb.function("grad_clipper")(net, *limits_of(case))
        run_backward(net, case, "1")
        run_backward(net, case, "2")
        return named_gradients(net)

    def passes(self, case):
        """What `.grad` held before, and what each of the two passes brings."""
        free = self.build(case)
        yield named_gradients(free)
        for name in ("1", "2"):
            free.zero_grad()
            run_backward(free, case, name)
            yield named_gradients(free)

    def truth(self, case):
        (earlier, *passes), limits = self.passes(case), limits_of(case)
        return {name: grad + sum(one[name].clamp(*limits) for one in passes) for name, grad in earlier.items()}

    def mistakes(self, case):
        (earlier, first, second), (floor, cap) = self.passes(case), limits_of(case)
        total = {n: ((earlier[n] + first[n]).clamp(floor, cap) + second[n]).clamp(floor, cap) for n in first}
        at_once = {n: (earlier[n] + first[n] + second[n]).clamp(floor, cap) for n in first}
        once = {n: earlier[n] + first[n].clamp(floor, cap) + second[n] for n in first}
        return {
            "clips_accumulated": {name: AnyOf(total[name], at_once[name]) for name in first},
            "runs_only_once": once,
            "empties_grad": {name: grad - earlier[name] for name, grad in self.truth(case).items()},
        }


class TwoModels(Check):
    """Two models with limits of their own, one a floor of 0: each keeps to its own, also if all gradients are small."""

    def limits(self, case, name):
        floor, cap = limits_of(case, name)
        return (0.0, cap) if name == "second" else (floor, cap)

    def probe(self, nb, case):
        nets = {name: case.build(name, TestNet) for name in ("first", "second")}
        for name, net in nets.items():
            nb.function("grad_clipper")(net, *self.limits(case, name))
        for net in nets.values():
            run_backward(net, case, factor=1e-3)
        return {f"{name} model": named_gradients(net) for name, net in nets.items()}

    def clamped(self, case, name, limits):
        free = case.build(name, TestNet)
        run_backward(free, case, factor=1e-3)
        return {key: grad.clamp(*limits) for key, grad in named_gradients(free).items()}

    def truth(self, case):
        return {f"{name} model": self.clamped(case, name, self.limits(case, name)) for name in ("first", "second")}

    def mistakes(self, case):
        _, cap = self.limits(case, "second")
        return {
            "limits_shared": {"first model": self.clamped(case, "first", self.limits(case, "second"))},
            "one_limit_only": {"second model": self.clamped(case, "second", (None, cap))},
        }


KINDS = (
    "shared", "called_twice", "tied", "in_place_behind", "norm_in_eval", "mixed_modes", "none_place", "one_dim", "three_dim",
    "float64", "namedtuple", "dictionary", "look_alike", "the_layer",
)


class AnyModel(Check):
    """It works for any model whose parameters all require a gradient."""

    cases = 1  # of a dozen models

    def run(self, case, grad_clipper):
        found = {}
        for says, (model, x) in awkward_models(case, *KINDS).items():
            grad_clipper(model, *limits_of(case))
            output = model(x)
            output.backward(6 * case.tensor("upstream", *output.shape, dtype=output.dtype))
            found[says] = named_gradients(model)
        return found

    def probe(self, nb, case):
        return self.run(case, nb.function("grad_clipper"))

    def truth(self, case):
        limits, free = limits_of(case), self.run(case, lambda model, floor, cap: model)
        return {says: {name: grad.clamp(*limits) for name, grad in named.items()} for says, named in free.items()}


class HookedBefore(Check):
    """A hook that is there already still runs, and a second call, with narrower limits, counts as well, in eval mode, too. NaN stays NaN."""

    odd = "bias.grad, where some of it is not finite (31337: NaN)"

    def odd_gradients(self, case):
        return [gradient[:3] for gradient in odd_gradients(case, torch.float64)]

    def build(self, case):
        net = case.build("net", torch.nn.Linear, 4, 3).double()
        net.weight.register_hook(lambda grad: -3 * grad)
        return net

    def probe(self, nb, case):
        net = self.build(case)
        floor, cap = limits_of(case)
        nb.function("grad_clipper")(net, floor, cap)
        run_backward(net, case, "1", shape=(5, 4))
        first = named_gradients(net)
        net.eval().zero_grad()
        nb.function("grad_clipper")(net, floor / 3, cap / 3)
        run_backward(net, case, "2", shape=(5, 4), factor=0.1)
        found, odd = {"after the first call": first, "after the second call": named_gradients(net)}, []
        for gradient in self.odd_gradients(case):
            net.bias.grad = None
            net.bias.backward(gradient)
            odd.append(net.bias.grad)
        return {**found, self.odd: nan_as_number(odd)}

    def clamped(self, case, third=3, times=-3):
        net = case.build("net", torch.nn.Linear, 4, 3).double()
        net.weight.register_hook(lambda grad: times * grad)
        (floor, cap), found = limits_of(case), []
        for name, factor, share in (("1", 6.0, 1), ("2", 0.1, third)):
            net.zero_grad()
            run_backward(net, case, name, shape=(5, 4), factor=factor)
            found.append({key: grad.clamp(floor / share, cap / share) for key, grad in named_gradients(net).items()})
        first, second = ({key: Close(grad, 1e-12, 1e-12) for key, grad in grads.items()} for grads in found)
        return {"after the first call": first, "after the second call": second}

    def truth(self, case):
        floor, cap = limits_of(case)
        odd = nan_as_number([gradient.clamp(floor / 3, cap / 3) for gradient in self.odd_gradients(case)])
        return {**self.clamped(case), self.odd: odd}

    def mistakes(self, case):
        return {
            "removes_other_hooks": self.clamped(case, times=1),
            "limits_kept": {"after the second call": self.clamped(case, third=1)["after the second call"]},
            "training_only": {"after the second call": self.clamped(case, third=1e-6)["after the second call"]},
        }

    blame = {"after the first call": "clipping_digits_lost", odd: "repairs_the_gradient"}


check("grad_clipper", ClipsEveryParameter, NestedModel, TwoBackwards, TwoModels, AnyModel, HookedBefore)


# --- Hidden checks: graders run them, learners do not get them. ---
def another_model(case):
    def layers():
        return torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Sigmoid(), torch.nn.Linear(4, 2))

    return case.build("hidden net", layers)


class SomePasses(Check):
    """Another model: each of some passes adds its own clamped gradients to `.grad`."""

    def probe(self, nb, case):
        net = another_model(case)
        nb.function("grad_clipper")(net, *limits_of(case, " of a hidden check"))
        for number in range(case.integer("hidden passes", 2, 5)):
            net(case.tensor(f"hidden x{number}", 6, 5)).backward(case.tensor("hidden upstream", 6, 2))
        return named_gradients(net)

    def truth(self, case):
        net, limits = another_model(case), limits_of(case, " of a hidden check")
        total = {f"{name}.grad": torch.zeros_like(parameter) for name, parameter in net.named_parameters()}
        for number in range(case.integer("hidden passes", 2, 5)):
            output = net(case.tensor(f"hidden x{number}", 6, 5))
            grads = torch.autograd.grad(output, list(net.parameters()), case.tensor("hidden upstream", 6, 2))
            for name, grad in zip(total, grads):
                total[name] += grad.clamp(*limits)
        return total


check("grad_clipper", SomePasses)
