import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from course.probing import hook_counts
from course.truths import ANYTHING, other_than
from course.traces import full_hook_beside, gradients_left

POISON = ("module", "model", "net", "x", "x1", "x2")
ERRORS = {
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
        found["a handle is returned"] = callable(getattr(handle, "remove", None))
        found["deprecated hook"] = net[2]._is_full_backward_hook is False
        found["hooks in the network"] = sum(hook_counts(net).values())
        found["hooks for all modules"] = hooks_for_all_modules()
        found["a full backward hook beside it"] = full_hook_beside(net[2], case)
        return found

    def truth(self, case):
        free = output_and_gradients(case.build("net", three_linear_net), case)
        return {
            **with_zeros_at(free, *self.places), "a handle is returned": True, "deprecated hook": False,
            "hooks in the network": ANYTHING, "hooks for all modules": ANYTHING, "a full backward hook beside it": [case.tensor("beside", 3)],
        }

    def mistakes(self, case):
        free = output_and_gradients(case.build("net", three_linear_net), case)
        front, own, of_x = "earlier: net[0].weight.grad", "own: net[2].weight.grad", "earlier: x.grad"
        missing = AnyOf({front: None}, {own: None}, {of_x: None})
        return {
            "legacy_hook": {"deprecated hook": True},
            "global_hook": {"hooks for all modules": other_than(0)},
            "returns_nothing": {own: free[own], of_x: free[of_x], "a handle is returned": False, "hooks in the network": 0},
            "no_grad_is_not_zero": missing,
            "stop_without_effect": {own: free[own], of_x: free[of_x]},
            "stop_own_only": {own: torch.zeros_like(free[own]), of_x: free[of_x]},
            "stop_no_handle": {**self.truth(case), "a handle is returned": False},
        }


class InFront(StopBetween):
    """`stop_in_front`: the module and later layers learn as before; earlier layers get gradients of zero."""

    function = "stop_in_front"
    places = ("earlier",)

    def mistakes(self, case):
        return {
            **super().mistakes(case),
            "stop_too_early": {"own: net[2].weight.grad": torch.zeros(3, 5), "earlier: x.grad": torch.zeros(6, 4)},
        }


class FromHere(StopBetween):
    """`stop_from_here`: later layers learn as before; the module and earlier layers get gradients of zero."""

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


class CrossingModule(nn.Module):
    """Two inputs, two outputs."""

    def __init__(self):
        super().__init__()
        self.W = nn.Parameter(torch.rand(3) + 0.5)

    def forward(self, a, b):
        return a * b * self.W, a + b * self.W


def through_crossing(module, case, entries):
    """Gradients after a backward from the first output, or from both; one input may be data."""
    a = case.tensor("a", 2, 3, requires_grad=True)
    b = case.tensor("b", 2, 3, requires_grad=entries != "one input is data")
    one, two = module(a * 1, case.integer("number", 2, 5) if entries == "one input is a number" else b * 1)
    loss = (one * case.tensor("upstream 1", 2, 3)).sum()
    if entries != "one output is not used":
        loss = loss + (two * case.tensor("upstream 2", 2, 3)).sum()
    loss.backward()
    return {"W.grad": module.W.grad, "a.grad": a.grad, "b.grad": b.grad}


def one_hidden_layer():
    return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))


CROSSINGS = ("all are used", "one output is not used", "one input is data", "one input is a number")


class SeveralInputsAndOutputs(Check):
    """Modules with two inputs and two outputs: each entry is dealt with, and one that is None stays None."""

    poison = POISON
    errors = {**ERRORS, r"RuntimeError: Backward hook returned an invalid number": "stop_first_entry_only"}

    def probe(self, nb, case):
        found = {}
        for name in ("stop_in_front", "stop_from_here"):
            for entries in CROSSINGS:
                module = case.build("crossing", CrossingModule)
                nb.function(name)(module)
                for field, grad in through_crossing(module, case, entries).items():
                    found[f"{name}, {entries}: {field}"] = grad
            layer = case.build("layer", nn.Linear, 3, 2)
            nb.function(name)(layer)
            layer(case.tensor("data", 4, 3)).backward(case.tensor("upstream", 4, 2))
            found[f"{name}, first layer: weight.grad"] = layer.weight.grad
            block = case.build("block", one_hidden_layer)
            nb.function(name)(block)
            block(case.tensor("data", 4, 3, requires_grad=True)).backward(case.tensor("upstream", 4, 2))
            found[f"{name}, a block: weight.grad of its first layer"] = block[0].weight.grad
        return found

    def truth(self, case):
        found = {}
        for name in ("stop_in_front", "stop_from_here"):
            for entries in CROSSINGS:
                free = through_crossing(case.build("crossing", CrossingModule), case, entries)
                stopped = ("a.grad", "b.grad") if name == "stop_in_front" else ("W.grad", "a.grad", "b.grad")
                for field, grad in free.items():
                    zero = field in stopped and grad is not None
                    found[f"{name}, {entries}: {field}"] = torch.zeros_like(grad) if zero else grad
            layer = case.build("layer", nn.Linear, 3, 2)
            layer(case.tensor("data", 4, 3)).backward(case.tensor("upstream", 4, 2))
            grad = layer.weight.grad
            zero = name == "stop_from_here"
            found[f"{name}, first layer: weight.grad"] = torch.zeros_like(grad) if zero else grad
            block = case.build("block", one_hidden_layer)
            block(case.tensor("data", 4, 3)).backward(case.tensor("upstream", 4, 2))
            grad = block[0].weight.grad
            found[f"{name}, a block: weight.grad of its first layer"] = torch.zeros_like(grad) if zero else grad
        return found

    def mistakes(self, case):
        free = through_crossing(case.build("crossing", CrossingModule), case, "all are used")
        number = through_crossing(case.build("crossing", CrossingModule), case, "one input is a number")
        layer = case.build("layer", nn.Linear, 3, 2)
        layer(case.tensor("data", 4, 3)).backward(case.tensor("upstream", 4, 2))
        return {
            "stop_by_hand": {
                "stop_from_here, first layer: weight.grad": layer.weight.grad,
                "stop_from_here, all are used: a.grad": torch.zeros(2, 3),
            },
            "stop_gives_up_at_none": {"stop_in_front, one input is a number: a.grad": number["a.grad"]},
            "stop_some_parameters": {"stop_from_here, a block: weight.grad of its first layer": other_than(torch.zeros(5, 3))},
            "stop_in_the_parts": {"stop_in_front, a block: weight.grad of its first layer": torch.zeros(5, 3)},
            "stop_first_entry_only": AnyOf(
                {"stop_in_front, all are used: b.grad": free["b.grad"]},
                {"stop_from_here, all are used: W.grad": other_than(torch.zeros(3))},
            )
        }


class AroundTheModule(Check):
    """`h + module(h)`: the gradient that goes around the module, the caller's tensor and hooks of others stay."""

    poison = POISON
    errors = ERRORS
    others = "what a hook of others brought"
    blame = {f"stop_{place}: what a hook of others brought": "removes_other_hooks" for place in ("in_front", "from_here")}

    def run(self, case, way):
        """The gradient of h, and what the caller handed to backward. `way(h)` is the module's part."""
        x, upstream = case.tensor("x", 4, 3, requires_grad=True), case.tensor("upstream", 4, 3)
        h = x * 2
        (h + way(h)).backward(upstream)
        return {"x.grad": x.grad, "the tensor given to backward": upstream}

    def probe(self, nb, case):
        found = {}
        for name in ("stop_in_front", "stop_from_here"):
            module, of_others = case.build("module", nn.Linear, 3, 3), []
            for register in (module.register_full_backward_hook, module.register_full_backward_pre_hook):
                register(lambda *whatever, found=of_others: found.append(case.tensor(self.others, 3)))
            nb.function(name)(module)
            found[f"{name}: {self.others}"] = of_others
            shift = nn.Identity()
            nb.function(name)(shift)
            found |= {f"{name}: {field}": value for field, value in self.run(case, module).items()}
            found |= {f"{name}, Identity: {field}": value for field, value in self.run(case, shift).items()}
        return found

    def truth(self, case):
        around = self.run(case, torch.zeros_like)
        places = ("stop_in_front", "stop_in_front, Identity", "stop_from_here", "stop_from_here, Identity")
        stay = {f"{name}: {self.others}": [case.tensor(self.others, 3)] * 2 for name in ("stop_in_front", "stop_from_here")}
        return {f"{place}: {field}": value for place in places for field, value in around.items()} | stay

    def mistakes(self, case):
        right, zero = self.truth(case), torch.zeros(4, 3)
        places = ("stop_in_front", "stop_in_front, Identity", "stop_from_here", "stop_from_here, Identity")
        others = [
            {f"{place}: x.grad": zero, f"{place}: the tensor given to backward": case.tensor("upstream", 4, 3)}
            for place in places
        ]
        return {
            "stop_hooks_the_tensor": AnyOf({"stop_in_front: x.grad": zero}, *({**right, **one} for one in others)),
            "edits_in_place": AnyOf(*({name: zero} for name in right)),
        }


class InfinityAndRemoval(Check):
    """In float64, with a frozen bias: zero even for inf or nan; once the handle is removed, all learns as before."""

    poison = POISON
    errors = ERRORS
    blame = {f"{name}: bias.grad of the frozen bias": "handle_of_another" for name in ("stop_in_front", "stop_from_here")}
    first = "the gradient is infinite"

    def given(self, case):
        x = case.tensor("x", 4, 3, requires_grad=True, dtype=torch.float64)
        layer = case.build("layer", lambda: nn.Linear(3, 2).double())
        layer.bias.requires_grad_(False)
        return layer, x

    def upstream(self, case, name):
        return case.tensor(name, 4, 2, dtype=torch.float64)

    def probe(self, nb, case):
        found = {}
        for name in ("stop_in_front", "stop_from_here"):
            layer, x = self.given(case)
            handle = nb.function(name)(layer)
            layer(x).backward(torch.full((4, 2), float("inf"), dtype=torch.float64))
            found[f"{name}: x.grad, {self.first}"] = x.grad
            for moment, upstream in (("again", "upstream 2"), ("handle removed", "upstream 3")):
                x.grad = layer.weight.grad = None
                if moment == "handle removed":
                    handle.remove()
                layer(x).backward(self.upstream(case, upstream))
                found[f"{name}: x.grad, {moment}"] = x.grad
                found[f"{name}: weight.grad, {moment}"] = layer.weight.grad
            (found[f"{name}: bias.grad of the frozen bias"],) = gradients_left({"bias": layer.bias}, case).values()
        return found

    def truth(self, case):
        found = {}
        for name in ("stop_in_front", "stop_from_here"):
            layer, x = self.given(case)
            found[f"{name}: x.grad, {self.first}"] = torch.zeros_like(x)
            for moment, upstream in (("again", "upstream 2"), ("handle removed", "upstream 3")):
                of_x, of_weight = torch.autograd.grad(layer(x), (x, layer.weight), self.upstream(case, upstream))
                if moment == "again":
                    of_x = torch.zeros_like(of_x)
                    of_weight = torch.zeros_like(of_weight) if name == "stop_from_here" else of_weight
                found[f"{name}: x.grad, {moment}"] = of_x
                found[f"{name}: weight.grad, {moment}"] = of_weight
            (found[f"{name}: bias.grad of the frozen bias"],) = gradients_left({"bias": layer.bias}, case).values()
        return found

    def mistakes(self, case):
        functions = ("stop_in_front", "stop_from_here")
        layer, x = self.given(case)
        (plain,) = torch.autograd.grad(layer(x), x, self.upstream(case, "upstream 2"))
        nan = Matches(lambda got: None if got.tensor().isnan().all() else "numbers", "nan")
        return {
            "stop_times_zero": AnyOf(*({f"{name}: x.grad, {self.first}": nan} for name in functions)),
            "runs_only_once": AnyOf(*({f"{name}: x.grad, again": plain} for name in functions)),
            "handle_of_another": AnyOf(
                *({f"{name}: x.grad, handle removed": torch.zeros_like(x)} for name in functions)
            ),
        }


class TwoOutputs(nn.Module):
    """Two outputs of one shape."""

    def forward(self, x):
        return x * 2, x + 1


class ExactlyZero(Check):
    """Zero to the last digit, in eval mode and in any pass; an unused output keeps None; removing one handle leaves other hooks."""

    poison = POISON
    errors = ERRORS
    blame = {
        f"{name}: {field}": hint
        for name in ("stop_in_front", "stop_from_here")
        for field, hint in {
            "x.grad in eval mode": "only_in_training", "x.grad, enlarged": "stop_nearly_zero",
            "gradient of an output that is not used": "stop_none_replaced",
            "bias.grad in front of the other module, one handle removed": "handle_of_another",
            "bias.grad in a block, handle removed": "handle_of_another",
            "x.grad of a second pass through one graph": "runs_only_once", "gradient of x with create_graph": "create_graph_left_out",
            "what other hooks bring after the removal": "removes_other_hooks",
        }.items()
    }

    def probe(self, nb, case):
        found = {}
        for name in ("stop_in_front", "stop_from_here"):
            stop = nb.function(name)
            layer, x = case.build("layer", nn.Linear, 3, 2).eval(), case.tensor("x", 4, 3, requires_grad=True)
            of_others = []
            for register in (layer.register_full_backward_hook, layer.register_full_backward_pre_hook):
                register(lambda *whatever, found=of_others: found.append(case.tensor("of others", 3)))
            handle = stop(layer)
            layer(x).backward(case.tensor("upstream", 4, 2))
            shift = case.tensor("shift", 4, 3)
            found[f"{name}: x.grad in eval mode"], found[f"{name}: x.grad, enlarged"] = x.grad + shift, x.grad * 1e34 + shift
            output, x.grad = layer(x), None
            output.backward(case.tensor("upstream", 4, 2), retain_graph=True)
            x.grad = None
            output.backward(case.tensor("upstream", 4, 2))
            found[f"{name}: x.grad of a second pass through one graph"] = x.grad + shift
            (slope,) = torch.autograd.grad(layer(x), x, case.tensor("upstream", 4, 2), create_graph=True)
            found[f"{name}: gradient of x with create_graph"] = slope + shift
            of_others.clear()
            handle.remove()
            layer(x).backward(case.tensor("upstream", 4, 2))
            found[f"{name}: what other hooks bring after the removal"] = of_others
            net = case.build("net", lambda: nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2)))
            ours, _ = stop(net[0]), stop(net[1])
            ours.remove()
            net(case.tensor("x", 3)).backward(case.tensor("upstream", 2))
            found[f"{name}: bias.grad in front of the other module, one handle removed"] = net[0].bias.grad + shift[0]
            block = case.build("block", one_hidden_layer)
            stop(block).remove()
            block(case.tensor("x", 3)).backward(case.tensor("upstream", 2))
            found[f"{name}: bias.grad in a block, handle removed"] = block[2].bias.grad
            module, seen = TwoOutputs(), []
            stop(module)
            module.register_full_backward_pre_hook(lambda module, grads, seen=seen: seen.append(self.second(case, grads)))
            module(case.tensor("x", 4, 3, requires_grad=True))[0].backward(shift)
            found[f"{name}: gradient of an output that is not used"] = seen
        return found

    def truth(self, case):
        shift = case.tensor("shift", 4, 3)
        fields = {
            "x.grad in eval mode": shift, "x.grad, enlarged": shift, "x.grad of a second pass through one graph": shift,
            "gradient of x with create_graph": shift,
            "what other hooks bring after the removal": [case.tensor("of others", 3)] * 2,
            "bias.grad in front of the other module, one handle removed": shift[0],
            "bias.grad in a block, handle removed": case.tensor("upstream", 2),
            "gradient of an output that is not used": [self.second(case, (shift, None))],
        }
        return {f"{name}: {field}": value for name in ("stop_in_front", "stop_from_here") for field, value in fields.items()}

    def second(self, case, grads):
        """The second gradient, or a tensor that stands for None."""
        return case.tensor("None", 4, 3) if grads[1] is None else grads[1]


check("backward_pre_or_post", InFront, FromHere, SeveralInputsAndOutputs, AroundTheModule, InfinityAndRemoval, ExactlyZero)


# --- Hidden checks: graders run them, learners do not get them. ---
def block_in_a_net():
    block = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.Linear(3, 3))
    return nn.Sequential(nn.Linear(4, 3), block, nn.Linear(3, 2))


class StoppedOnce(Check):
    """One pass is stopped at a block, the next, without the hook, is not."""

    poison = POISON

    def learn(self, case, number, net, block):
        """A backward pass through `net`, in which there is a way around the block."""
        h = net[0](case.tensor(f"hidden x {number}", 5, 4))
        net[2](h + block(h)).backward(case.tensor(f"hidden upstream {number}", 5, 2))

    def probe(self, nb, case):
        found = {}
        for name in ("stop_in_front", "stop_from_here"):
            net = case.build("hidden net", block_in_a_net)
            handle = nb.function(name)(net[1])
            self.learn(case, 1, net, net[1])
            handle.remove()
            self.learn(case, 2, net, net[1])
            found |= {f"{name}: net.{key}.grad": one.grad for key, one in net.named_parameters()}
        return found

    def truth(self, case):
        in_front, from_here = (case.build("hidden net", block_in_a_net) for _ in range(2))
        self.learn(case, 1, in_front, lambda h: in_front[1](h.detach()))
        self.learn(case, 1, from_here, lambda h: from_here[1](h).detach())
        found = {}
        for name, net in {"stop_in_front": in_front, "stop_from_here": from_here}.items():
            self.learn(case, 2, net, net[1])
            found |= {f"{name}: net.{key}.grad": one.grad for key, one in net.named_parameters()}
        return found


check("backward_pre_or_post", StoppedOnce)
