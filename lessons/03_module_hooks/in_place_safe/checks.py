import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches, is_same
from nbproof.values.evidence import snapshot
from course.probing import hook_counts
from course.truths import ANYTHING, other_than, such_that
from course.traces import full_hook_beside

POISON = ("layer", "net", "model", "x")
NO_LIST = Matches(lambda got: "a list" if isinstance(got, list) else None, "no list")
ERRORS = {
    r"AttributeError: '(?!Tensor|Parameter|NoneType)\w+' object has no attribute 'register_hook'": "register_hook_on_module",
    r"AttributeError: 'NoneType' object has no attribute 'register_(pre)?hook'": "no_gradient_needed",
    r"RuntimeError: can't retain_grad on Tensor that has requires_grad=False": "no_gradient_needed",
    r"AttributeError: 'Tensor' object has no attribute 'register_\w*(backward|forward)": "function_uses_global",
    r"AttributeError: 'tuple' object has no attribute": "grad_is_a_tuple",
    r"TypeError: .*must be Tensor, not": "watcher_changes_output",
    r"RuntimeError: a leaf Variable that requires grad is being used in an in-place": "cut_from_its_inputs",
}


def net_with_relu(inplace):
    return nn.Sequential(nn.Linear(4, 6), nn.ReLU(inplace=inplace), nn.Linear(6, 2))


class InFrontOfReLU(Check):
    """Right before an in-place ReLU, the list gets the gradient of what the layer put out."""

    poison = POISON
    errors = ERRORS
    blame = {"output": "watcher_changes_output", "weight.grad": "watcher_changes_gradient"}

    def probe(self, nb, case):
        net = case.build("net", net_with_relu, True)
        gradients = nb.function("output_gradients")(net[0])
        output = net(case.tensor("x", 5, 4))
        output.backward(case.tensor("upstream", 5, 2))
        return {
            "gradients": snapshot(gradients), "output": output, "weight.grad": net[0].weight.grad.clone(),
            "deprecated hook": net[0]._is_full_backward_hook is False, "hooks": sum(hook_counts(net).values()),
            "a full backward hook beside it": full_hook_beside(net[0], case),
        }

    def flow(self, case):
        net = case.build("net", net_with_relu, False)
        linear = net[0](case.tensor("x", 5, 4))
        relu = net[1](linear)
        return net, linear, relu, net[2](relu)

    def truth(self, case):
        net, linear, _, output = self.flow(case)
        of_linear, of_weight = torch.autograd.grad(output, (linear, net[0].weight), case.tensor("upstream", 5, 2))
        return {
            "gradients": [of_linear], "output": output, "weight.grad": of_weight, "deprecated hook": False,
            "hooks": ANYTHING, "a full backward hook beside it": [case.tensor("beside", 3)],
        }

    def mistakes(self, case):
        net, linear, relu, output = self.flow(case)
        upstream = case.tensor("upstream", 5, 2)
        of_relu, of_weight, of_bias = torch.autograd.grad(output, (relu, net[0].weight, net[0].bias), upstream)
        right = self.truth(case)["gradients"][0]
        return {
            "legacy_hook": {"deprecated hook": True},
            "shared_list": {"gradients": such_that(lambda got: not is_same(got[0], right) and is_same(got[-1], right))},
            "numbers_for_tensors": {"gradients": [such_that(lambda got: isinstance(got, float))]},
            "hook_never_ran": {"gradients": [], "hooks": 0},
            "returns_nothing": {"gradients": None, "hooks": 0},
            "returns_no_list": {"gradients": NO_LIST},
            "in_place_behind": {"gradients": AnyOf([of_relu], [relu])},
            "keeps_the_tensor": {"gradients": AnyOf([linear], [output])},
            "in_place_of_parameter": {"gradients": AnyOf([of_weight], [of_bias], [of_weight, of_bias], [of_bias, of_weight])},
            "in_place_of_network": {"gradients": [upstream]},
            "in_place_outside_of_graph": {"gradients": []},
            "grad_not_there_yet": {"gradients": [None]},
            "splits_gradient": {"gradients": [*right]},
            "keeps_the_tuple": {"gradients": [[right]]},
        }


class WithoutGradients(Check):
    """Under `torch.no_grad()` the model still runs, with the hooks of others, and nothing is added."""

    claims = ("gradients",)  # the answer itself
    poison = POISON
    errors = ERRORS
    blame = {"what a hook of others brought": "removes_other_hooks"}

    def probe(self, nb, case):
        net, of_others = case.build("net", net_with_relu, True), []
        net[0].register_forward_hook(lambda *whatever: of_others.append(case.tensor("of others", 3)))
        gradients = nb.function("output_gradients")(net[0])
        with torch.no_grad():
            output = net(case.tensor("x", 5, 4))
            data = net[0](case.tensor("x", 5, 4))
        weight = case.tensor("weight", 6, requires_grad=True)
        (data * weight).backward(case.tensor("upstream", 5, 6))  # goes on with the layer's output, as with any data
        return {
            "output": output, "gradients": gradients, "weight.grad": weight.grad,
            "what a hook of others brought": of_others,
        }

    def truth(self, case):
        net, x = case.build("net", net_with_relu, False), case.tensor("x", 5, 4)
        return {
            "output": net(x), "gradients": [], "weight.grad": (net[0](x) * case.tensor("upstream", 5, 6)).sum(dim=0),
            "what a hook of others brought": [case.tensor("of others", 3)] * 2,
        }

    def mistakes(self, case):
        return {"in_place_asks_for_more": {"gradients": such_that(lambda got: len(got) > 0)}}


class EachCallItsEntry(Check):
    """A layer that runs twice, two passes, two layers: each output has its entry, each layer its list."""

    poison = POISON
    errors = ERRORS

    def run(self, case, start, inplace):
        one, two = case.build("one", nn.Linear, 3, 3), case.build("two", nn.Linear, 3, 3)
        lists = start(one), start(two)
        kept = [], []
        for number in ("first", "second"):
            h = case.tensor(f"x {number}", 2, 3)
            for layer, outputs in ((one, kept[0]), (two, kept[1]), (one, kept[0])):
                h = layer(h)
                outputs.append(h)
                h = h.sigmoid_() if inplace else h.sigmoid()
            if inplace:
                h.backward(case.tensor(f"upstream {number}", 2, 3))
            else:
                # Backward comes to the outputs of one forward in reverse order.
                for outputs, found in zip(kept, lists, strict=True):
                    upstream = case.tensor(f"upstream {number}", 2, 3)
                    found += torch.autograd.grad(h, outputs[::-1], upstream, retain_graph=True)
                    outputs.clear()
        return {"gradients of the layer used twice": lists[0], "gradients of the other layer": lists[1]}

    def probe(self, nb, case):
        return self.run(case, nb.function("output_gradients"), True)

    def truth(self, case):
        return self.run(case, lambda layer: [], False)

    def mistakes(self, case):
        twice, once = self.truth(case).values()
        used, other = "gradients of the layer used twice", "gradients of the other layer"
        return {
            "keeps_last_only": AnyOf({used: twice[-1:]}, {used: [twice[0], twice[2]]}, {used: [twice[1], twice[3]]}, {used: twice[2:]}),
            "runs_only_once": AnyOf({used: twice[:1]}, {used: twice[1:2]}, {used: twice[:2]}),
            "in_place_forward_order": AnyOf(
                {used: [twice[1], twice[0], twice[3], twice[2]]}, {used: twice[::-1]}, {used: [*twice[2:], *twice[:2]]}
            ),
            "shared_list": {
                used: Matches(lambda got: None if len(got) > len(twice) else "short", "more entries"),
                other: other_than(once),
            },
        }


class Doubling(nn.Module):
    """A block: what it puts out is not what the layer in it puts out."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        return 2 * self.linear(x)


class AnyModeAnyPass(Check):
    """In any mode, dtype and shape, for a block, for special values, in any pass through one graph: each has its entry."""

    poison = POISON
    errors = ERRORS
    ways = {
        "in eval mode": "only_in_training", "in float64": "float64_lost", "of zeros": "value_taken_for_nothing",
        "with an infinite element": "value_taken_for_nothing", "of two passes through one graph": "runs_only_once",
        "of two equal passes": "first_layer_leaves_repetitions_out", "with create_graph": "create_graph_left_out",
        "of a block": "in_place_of_parts", "in the first of two lists": "first_list_taken_away", "of three dimensions": "in_place_other_shape",
    }
    blame = {**{f"gradients {way}": hint for way, hint in ways.items()}, "gradient of a gradient": "cut_from_its_inputs", "bias.grad with an infinite element": "watcher_changes_gradient"}

    def run(self, case, way, start=None):
        dtype = torch.float64 if way == "in float64" else torch.float32
        kinds = {"of a block": Doubling, "of three dimensions": lambda: nn.Conv1d(3, 4, 1)}
        layer = case.build(way, lambda: kinds.get(way, lambda: nn.Linear(3, 4))().to(dtype))
        layer.train(way != "in eval mode")
        shape = (1, 3, 5) if way == "of three dimensions" else (5, 3)
        entries = [] if start is None else start(layer)
        if start is not None and way == "in the first of two lists":
            start(layer)
        h = layer(case.tensor(f"x {way}", *shape, dtype=dtype))
        output = h.relu() if start is None else h.relu_()
        upstreams = [case.tensor(f"{number} upstream {way}", *h.shape, dtype=dtype) for number in ("first", "second")]
        if way == "of zeros":
            upstreams[0] = torch.zeros_like(upstreams[0])
        if way == "with an infinite element":
            upstreams[0][:, 1] = torch.inf
        if way == "of two equal passes":
            upstreams[1] = upstreams[0]
        if not way.startswith("of two"):
            del upstreams[1]
        for upstream in upstreams:
            if start is None:
                entries += torch.autograd.grad(output, h, upstream, retain_graph=True)
            elif way == "with create_graph":
                torch.autograd.grad(output, layer.weight, upstream, create_graph=True)
            else:
                output.backward(upstream, retain_graph=True)
        return entries

    def beyond(self, case, start):
        """What the layer's bias gets of a gradient with inf in it."""
        layer, upstream = case.build("beyond", nn.Linear, 3, 4), case.tensor("upstream beyond", 5, 4)
        upstream[0, 1], upstream[0, 2] = torch.inf, -torch.inf
        start(layer)
        layer(case.tensor("x beyond", 5, 3)).add_(1).backward(upstream)
        return layer.bias.grad

    def probe(self, nb, case):
        start = nb.function("output_gradients")
        found = {f"gradients {way}": snapshot(self.run(case, way, start)) for way in self.ways}
        beyond = self.beyond(case, start)
        return {**found, "gradient of a gradient": self.bend(case, start), "bias.grad with an infinite element": beyond}

    def bend(self, case, start):
        """What comes of a gradient that is differentiated once more."""
        layer, x = case.build("bent layer", nn.Linear, 3, 4), case.tensor("bent x", 5, 3, requires_grad=True)
        start(layer)
        (slope,) = torch.autograd.grad(layer(x).sigmoid_(), x, case.tensor("bent upstream", 5, 4), create_graph=True)
        return torch.autograd.grad((slope**2).sum() + (x * case.tensor("way around", 5, 3)).sum(), x)[0]

    def truth(self, case):
        found = {f"gradients {way}": self.run(case, way) for way in self.ways}
        beyond = self.beyond(case, lambda layer: None)
        return {
            **found, "gradient of a gradient": self.bend(case, lambda layer: None),
            "bias.grad with an infinite element": beyond,
        }


check("in_place_safe", InFrontOfReLU, WithoutGradients, EachCallItsEntry, AnyModeAnyPass)


# --- Hidden checks: graders run them, learners do not get them. ---
class OtherInPlaceOperations(Check):
    """Right before other in-place operations than ReLU: SiLU, an addition, a product."""

    poison = POISON
    errors = ERRORS
    places = ("SiLU", "+=", "*=")

    def run(self, case, start, name, inplace):
        layer = case.build(f"hidden {name}", nn.Linear, 3, 4)
        entries = start(layer)
        h = layer(case.tensor(f"hidden x {name}", 2, 3))
        kept = h if not inplace else None
        shift, upstream = case.tensor("hidden shift", 4), case.tensor(f"hidden upstream {name}", 2, 4)
        if name == "SiLU":
            h = nn.functional.silu(h, inplace=inplace)
        elif name == "+=":
            h = h.add_(shift).sigmoid_() if inplace else (h + shift).sigmoid()
        else:
            h = h.mul_(shift).tanh_() if inplace else (h * shift).tanh()
        if inplace:
            h.backward(upstream)
            return entries
        return [torch.autograd.grad(h, kept, upstream)[0]]

    def probe(self, nb, case):
        start = nb.function("output_gradients")
        return {f"gradients before {name}": self.run(case, start, name, True) for name in self.places}

    def truth(self, case):
        return {
            f"gradients before {name}": self.run(case, lambda layer: None, name, False) for name in self.places
        }

    blame = {f"gradients before {name}": "in_place_relu_only" for name in places}


check("in_place_safe", OtherInPlaceOperations)
