import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from course.probing import hook_counts
from course.truths import ANYTHING, other_than

POISON = ("module", "model", "net", "x", "x1", "x2")
ERRORS = {
    r"AttributeError: 'tuple' object has no attribute '(register_hook|requires_grad|detach)": "stop_first_entry_only",
    r"AttributeError: '(?!Tensor|Parameter|NoneType)\w+' object has no attribute 'register_hook'": "register_hook_on_module",
    r"RuntimeError: Backward pre hook returned an invalid number of grad_output": "stop_pre_hook_return",
    r"RuntimeError: Backward hook for Modules where no input requires gradient": "stop_none_replaced",
    r"TypeError: .*(must be Tensor, not NoneType|'NoneType')": "first_layer_none_as_tensor",
    r"AttributeError: 'NoneType' object has no attribute 'remove'": "stop_no_handle",
    r"AttributeError: 'NoneType' object": "first_layer_none_as_tensor",
    r"AttributeError: 'tuple' object has no attribute": "grad_is_a_tuple",
    r"TypeError: .*must be Tensor, not tuple": "grad_is_a_tuple",
    r"TypeError: expected Variable, but hook returned": "stop_number_for_tensor",
    r"TypeError: object of type '(int|float)' has no len": "stop_number_for_tensor",
    r"TypeError: object of type 'generator' has no len": "stop_generator",
    r"AttributeError: 'Tensor' object has no attribute '(register_\w+|parameters)'": "function_uses_global",
}


def hooks_for_all_modules():
    module = torch.nn.modules.module
    forward = len(module._global_forward_hooks) + len(module._global_forward_pre_hooks)
    return forward + len(module._global_backward_hooks) + len(module._global_backward_pre_hooks)


def three_linear_net():
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3), nn.Tanh(), nn.Linear(3, 2))


def output_and_gradients(net, case):
    """Output and gradients of one forward and backward. The fields are named for their place in the network."""
    net.zero_grad()
    x = case.tensor("x", 6, 4, requires_grad=True)
    output = net(x)
    output.backward(case.tensor("upstream", 6, 2))
    return {
        "output": output,
        "later: net[4].weight.grad": net[4].weight.grad,
        "own: net[2].weight.grad": net[2].weight.grad,
        "own: net[2].bias.grad": net[2].bias.grad,
        "earlier: net[0].weight.grad": net[0].weight.grad,
        "earlier: x.grad": x.grad,
    }


def with_zeros_at(fields, *places):
    """The same with zeros for the gradients at these places."""
    return {
        name: torch.zeros_like(value) if name.split(":")[0] in places else value for name, value in fields.items()
    }


class StopBetween(Check):
    """Shared by the two checks that hook the layer in the middle of three."""

    function = ""
    places = ()
    poison = POISON
    errors = ERRORS
    blame = {
        "output": "changes_the_value",
        "own: net[2].bias.grad": "stop_some_parameters",
    }

    def probe(self, nb, case):
        net = case.build("net", three_linear_net)
        handle = nb.function(self.function)(net[2])
        found = output_and_gradients(net, case)
        found["what is returned"] = "a handle" if callable(getattr(handle, "remove", None)) else "no handle"
        found["hooks in the network"] = sum(hook_counts(net).values())
        found["hooks for all modules"] = hooks_for_all_modules()
        return found

    def truth(self, case):
        free = output_and_gradients(case.build("net", three_linear_net), case)
        return {
            **with_zeros_at(free, *self.places), "what is returned": "a handle",
            "hooks in the network": ANYTHING, "hooks for all modules": ANYTHING,
        }

    def mistakes(self, case):
        free = output_and_gradients(case.build("net", three_linear_net), case)
        front, own, of_x = "earlier: net[0].weight.grad", "own: net[2].weight.grad", "earlier: x.grad"
        missing = AnyOf({front: None}, {own: None}, {of_x: None})
        return {
            "global_hook": {"hooks for all modules": other_than(0)},
            "returns_nothing": {own: free[own], of_x: free[of_x], "what is returned": "no handle", "hooks in the network": 0},
            "no_grad_is_not_zero": missing,
            "stop_without_effect": {own: free[own], of_x: free[of_x]},
            "stop_own_only": {own: torch.zeros_like(free[own]), of_x: free[of_x]},
            "stop_no_handle": {**self.truth(case), "what is returned": "no handle"},
        }


class InFront(StopBetween):
    """`stop_in_front`: earlier layers get gradients of zero, the others learn."""

    function = "stop_in_front"
    places = ("earlier",)

    def mistakes(self, case):
        return {
            **super().mistakes(case),
            "stop_too_early": {"own: net[2].weight.grad": torch.zeros(3, 5), "earlier: x.grad": torch.zeros(6, 4)},
        }


class FromHere(StopBetween):
    """`stop_from_here`: the module and earlier layers get gradients of zero."""

    function = "stop_from_here"
    places = ("own", "earlier")

    def mistakes(self, case):
        free = output_and_gradients(case.build("net", three_linear_net), case)
        return {
            **super().mistakes(case),
            "stop_too_late": {
                "own: net[2].weight.grad": free["own: net[2].weight.grad"], "earlier: x.grad": torch.zeros(6, 4)
            },
        }


class Crossing(nn.Module):
    """Two inputs, one of which may be a number, and two outputs."""

    def __init__(self):
        super().__init__()
        self.W = nn.Parameter(torch.rand(3) + 0.5)

    def forward(self, a, b):
        return a * b * self.W, a + b * self.W


CROSSINGS = ("two tensors", "a number", "data in the first layer")


class SeveralInputs(Check):
    """Two inputs, one of them a number, or both data; and two outputs."""

    poison = POISON
    errors = {**ERRORS, r"RuntimeError: Backward hook returned an invalid number": "stop_first_entry_only"}

    def run(self, case, kind, stop):
        module = case.build("crossing", Crossing)
        stop(module)
        a, b = (case.tensor(name, 2, 3, requires_grad=kind != "data in the first layer") for name in "ab")
        one, two = module(a, case.integer("number", 2, 5) if kind == "a number" else b)
        ((one + two) * case.tensor("upstream", 2, 3)).sum().backward()
        return {f"W.grad, {kind}": module.W.grad, f"a.grad, {kind}": a.grad, f"b.grad, {kind}": b.grad}

    def probe(self, nb, case):
        found = {}
        for name in ("stop_in_front", "stop_from_here"):
            for kind in CROSSINGS:
                brought = self.run(case, kind, nb.function(name))
                found |= {f"{name}: {field}": grad for field, grad in brought.items()}
        return found

    def truth(self, case):
        found = {}
        for name in ("stop_in_front", "stop_from_here"):
            for kind in CROSSINGS:
                for field, grad in self.run(case, kind, lambda module: None).items():
                    zero = grad is not None and (name == "stop_from_here" or not field.startswith("W"))
                    found[f"{name}: {field}"] = torch.zeros_like(grad) if zero else grad
        return found

    def mistakes(self, case):
        free = self.run(case, "two tensors", lambda module: None)
        return {
            "stop_first_entry_only": AnyOf(
                {"stop_in_front: b.grad, two tensors": free["b.grad, two tensors"]},
                {"stop_from_here: W.grad, two tensors": other_than(torch.zeros(3))},
            ),
            "grad_not_there_yet": {"stop_from_here: W.grad, data in the first layer": free["W.grad, two tensors"]},
        }


class AroundAndRemoved(Check):
    """The way around in `h + module(h)` stays; without the handle everything learns."""

    poison = POISON
    errors = ERRORS

    def run(self, case, name, stop):
        """What two passes bring, the first stopped. `stop` gives the module's part of the first pass, and what ends it."""
        module, upstream = case.build(f"module {name}", nn.Linear, 3, 3), case.tensor("upstream", 4, 3)
        x = case.tensor("x", 4, 3, requires_grad=True)
        part, end = stop(module)
        h = x * 2
        (h + part(h)).backward(upstream)
        found = {f"{name}: x.grad": x.grad.clone(), f"{name}: the tensor given to backward": upstream.clone()}
        end()
        x.grad = module.weight.grad = None
        h = x * 2
        (h + module(h)).backward(case.tensor("upstream 2", 4, 3))
        return {**found, f"{name}: weight.grad, handle removed": module.weight.grad, f"{name}: x.grad, handle removed": x.grad}

    def probe(self, nb, case):
        return {
            field: value
            for name in ("stop_in_front", "stop_from_here")
            for field, value in self.run(case, name, lambda module: (module, nb.function(name)(module).remove)).items()
        }

    def truth(self, case):
        return {
            field: value
            for name in ("stop_in_front", "stop_from_here")
            for field, value in self.run(case, name, lambda module: (torch.zeros_like, lambda: None)).items()
        }

    blame = {
        f"{name}: {field}": hint
        for name in ("stop_in_front", "stop_from_here")
        for field, hint in (
            ("x.grad", "edits_in_place"), ("the tensor given to backward", "edits_in_place"),
            ("weight.grad, handle removed", "handle_of_another"), ("x.grad, handle removed", "handle_of_another"),
        )
    }

    def mistakes(self, case):
        zeros, given = torch.zeros(4, 3), case.tensor("upstream", 4, 3)
        return {"stop_all_uses": {"stop_in_front: x.grad": zeros, "stop_in_front: the tensor given to backward": given}}


check("backward_pre_or_post", InFront, FromHere, SeveralInputs, AroundAndRemoved)


# --- Hidden checks: graders run them, learners do not get them. ---
class Mixer(nn.Module):
    """Layers, as many as the case says; two inputs and a number go in."""

    def __init__(self, depth):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(depth))

    def forward(self, a, b, number):
        for layer in self.layers:
            a = torch.sigmoid(layer(a)) * number + b
        return a


def mixing_net(depth):
    return nn.ModuleDict({"one": nn.Linear(4, 3), "two": nn.Linear(4, 3), "mixer": Mixer(depth), "last": nn.Linear(3, 2)})


class StoppedTwice(Check):
    """Two passes are stopped at a module with a way around it, the third one is not."""

    poison = POISON

    def probe(self, nb, case):
        found = {}
        for name in ("stop_in_front", "stop_from_here"):
            net = case.build("hidden net", mixing_net, case.integer("hidden depth", 1, 3))
            handle, upstream = nb.function(name)(net["mixer"]), case.tensor("hidden upstream", 5, 2)
            for number in range(3):
                if number == 2:
                    handle.remove()
                x = case.tensor(f"hidden x {number}", 5, 4)
                a, b = net["one"](x), net["two"](x)
                net["last"](a + net["mixer"](a, b, number + 2)).backward(upstream)
                if number:
                    found |= {f"{name}, pass {number}: {key}": one.grad.clone() for key, one in net.named_parameters()}
        return found

    def truth(self, case):
        found = {}
        for name in ("stop_in_front", "stop_from_here"):
            net = case.build("hidden net", mixing_net, case.integer("hidden depth", 1, 3))
            total = {key: torch.zeros_like(one) for key, one in net.named_parameters()}
            for number in range(3):
                x = case.tensor(f"hidden x {number}", 5, 4)
                a, b = net["one"](x), net["two"](x)
                if number == 2:
                    part = net["mixer"](a, b, number + 2)
                else:
                    part = net["mixer"](a.detach(), b.detach(), number + 2)
                    part = part.detach() if name == "stop_from_here" else part
                output = net["last"](a + part)
                upstream = case.tensor("hidden upstream", 5, 2)
                grads = torch.autograd.grad(output, list(net.parameters()), upstream, allow_unused=True)
                for key, grad in zip(total, grads, strict=True):
                    total[key] = total[key] if grad is None else total[key] + grad
                if number:
                    found |= {f"{name}, pass {number}: {key}": one for key, one in total.items()}
        return found


check("backward_pre_or_post", StoppedTwice)
