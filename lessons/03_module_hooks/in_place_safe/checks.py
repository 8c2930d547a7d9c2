import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches, is_same
from nbproof.values.evidence import snapshot
from course.probing import hook_counts, tensor_hook_count
from course.truths import ANYTHING, other_than, such_that

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
    """Before an in-place ReLU, the list gets the gradient of the output."""

    poison = POISON
    errors = ERRORS
    blame = {"output": "watcher_changes_output", "weight.grad": "watcher_changes_gradient"}

    def probe(self, nb, case):
        net = case.build("net", net_with_relu, True)
        gradients, counts = nb.function("output_gradients")(net[0]), []

        def count(layer, args, output):
            counts.extend(tensor_hook_count(tensor) for tensor in [output] if torch.is_tensor(tensor))

        with net[0].register_forward_hook(count):  # at once: an in-place operation takes the hooks off the tensor
            output = net(case.tensor("x", 5, 4))
        output.backward(case.tensor("upstream", 5, 2))
        return {
            "the list of gradients": snapshot(gradients), "output": output, "weight.grad": net[0].weight.grad.clone(),
            "hooks": sum(hook_counts(net).values()),
            "hooks on the output": sum(counts),
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
            "the list of gradients": [of_linear], "output": output, "weight.grad": of_weight, "hooks": ANYTHING,
            "hooks on the output": ANYTHING,
        }

    def mistakes(self, case):
        net, linear, relu, output = self.flow(case)
        upstream = case.tensor("upstream", 5, 2)
        of_relu, of_weight, of_bias = torch.autograd.grad(output, (relu, net[0].weight, net[0].bias), upstream)
        right = self.truth(case)["the list of gradients"][0]
        return {
            "shared_list": {"the list of gradients": such_that(lambda got: not is_same(got[0], right) and is_same(got[-1], right))},
            "numbers_for_tensors": {"the list of gradients": [such_that(lambda got: isinstance(got, float))]},
            "hook_never_ran": {"the list of gradients": [], "hooks": 0},
            "returns_nothing": {"the list of gradients": None, "hooks": 0},
            "returns_no_list": {"the list of gradients": NO_LIST},
            "in_place_behind": {"the list of gradients": [of_relu]},
            "keeps_the_tensor": {"the list of gradients": AnyOf([linear], [relu], [output])},
            "in_place_of_parameter": {"the list of gradients": AnyOf([of_weight], [of_bias], [of_weight, of_bias], [of_bias, of_weight])},
            "in_place_of_network": {"the list of gradients": [upstream]},
            "other_list_returned": {"the list of gradients": [], "hooks on the output": other_than(0)},
            "in_place_outside_of_graph": {"the list of gradients": []},
            "grad_not_there_yet": {"the list of gradients": [None]},
            "splits_gradient": {"the list of gradients": [*right]},
            "keeps_the_tuple": {"the list of gradients": [[right]]},
        }


class WithoutGradients(Check):
    """Under `torch.no_grad()`, or with a frozen layer on data, the model runs, and nothing is added."""

    claims = ("the list of gradients",)  # the answer itself
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
        net[0].requires_grad_(False)
        net[2](net[0](case.tensor("x", 5, 4))).sum().backward()  # the last layer learns
        return {
            "output": output, "the list of gradients": gradients, "weight.grad": weight.grad,
            "what a hook of others brought": of_others,
        }

    def truth(self, case):
        net, x = case.build("net", net_with_relu, False), case.tensor("x", 5, 4)
        return {
            "output": net(x), "the list of gradients": [], "weight.grad": (net[0](x) * case.tensor("upstream", 5, 6)).sum(dim=0),
            "what a hook of others brought": [case.tensor("of others", 3)] * 3,
        }

    def mistakes(self, case):
        return {"in_place_asks_for_more": {"the list of gradients": such_that(lambda got: len(got) > 0)}}


class Shift(nn.Module):
    """Its output's gradient reaches a leaf as it is: a kept alias of it would take part in the sum in the leaf's .grad."""

    def __init__(self):
        super().__init__()
        self.by = nn.Parameter(torch.randn(2, 2, 3))

    def forward(self, x):
        return x + self.by


class EachCallItsEntry(Check):
    """Each output of a layer has its entry, even one that is a view, and each layer its list."""

    poison = POISON
    errors = ERRORS

    def run(self, case, start, inplace):
        one, two = case.build("one", nn.Linear, 3, 3), case.build("two", Shift)
        lists = start(one), start(two)
        kept = [], []
        for number in ("first", "second"):
            h = case.tensor(f"x {number}", 2, 2, 3)  # of more than two dimensions nn.Linear makes a view
            for layer, outputs in ((two, kept[1]), (one, kept[0]), (one, kept[0])):
                h = layer(h)
                outputs.append(h)
                h = h.sigmoid_() if inplace else h.sigmoid()
            if inplace:
                h.backward(case.tensor(f"upstream {number}", 2, 2, 3))
            else:
                # Backward comes to the outputs of one forward in reverse order.
                for outputs, found in zip(kept, lists, strict=True):
                    upstream = case.tensor(f"upstream {number}", 2, 2, 3)
                    found += torch.autograd.grad(h, outputs[::-1], upstream, retain_graph=True)
                    outputs.clear()
        return {"the list of gradients of the layer used twice": lists[0], "the list of gradients of the other layer": lists[1]}

    def probe(self, nb, case):
        return self.run(case, nb.function("output_gradients"), True)

    def truth(self, case):
        return self.run(case, lambda layer: [], False)

    def mistakes(self, case):
        twice, once = self.truth(case).values()
        used, other = "the list of gradients of the layer used twice", "the list of gradients of the other layer"
        return {
            "keeps_last_only": AnyOf({used: twice[-1:]}, {used: [twice[0], twice[2]]}, {used: [twice[1], twice[3]]}, {used: twice[2:]}),
            "runs_only_once": AnyOf({used: twice[:1]}, {used: twice[1:2]}, {used: twice[:2]}),
            "in_place_view": {used: [], other: once},
            "kept_alias": {other: [once[0] + once[1], once[1]]},
            "in_place_forward_order": AnyOf(
                {used: [twice[1], twice[0], twice[3], twice[2]]}, {used: twice[::-1]}, {used: [*twice[2:], *twice[:2]]}
            ),
            "shared_list": {
                used: Matches(lambda got: None if len(got) > len(twice) else "short", "more entries"),
                other: other_than(once),
            },
        }


check("in_place_safe", InFrontOfReLU, WithoutGradients, EachCallItsEntry)


# --- Hidden checks: graders run them, learners do not get them. ---
KINDS = ["SiLU", "+=", "*=", "tanh_"]


def changed(h, kind, shift, inplace):
    """What comes of the output of the layer."""
    if kind == "SiLU":
        return nn.functional.silu(h, inplace=inplace)
    if kind == "+=":
        return h.add_(shift) if inplace else h + shift
    if kind == "*=":
        return h.mul_(shift) if inplace else h * shift
    return h.tanh_() if inplace else h.tanh()


class OtherInPlaceOperations(Check):
    """A layer that runs several times, with other operations behind it, in two passes and one without gradients."""

    poison = POISON
    errors = ERRORS

    def given(self, case):
        width = case.integer("hidden width", 3, 6)
        layer = case.build("hidden layer", nn.Linear, width, width)
        return layer, case.shuffled("hidden kinds", KINDS)[:3], case.tensor("hidden shift", width, positive=True)

    def probe(self, nb, case):
        layer, kinds, shift = self.given(case)
        entries = nb.function("output_gradients")(layer)
        with torch.no_grad():
            layer(case.tensor("hidden data", 2, len(shift)))
        for number in (1, 2):
            h = case.tensor(f"hidden x {number}", *[2] * number, len(shift))  # the second one becomes a view
            for way in kinds:
                h = changed(layer(h), way, shift, True)
            h.backward(case.tensor(f"hidden upstream {number}", *[2] * number, len(shift)))
        return {"the list of gradients": entries, "output": h, "weight.grad": layer.weight.grad}

    def truth(self, case):
        layer, kinds, shift = self.given(case)
        entries, of_weight = [], 0
        for number in (1, 2):
            h, outputs = case.tensor(f"hidden x {number}", *[2] * number, len(shift)), []
            for way in kinds:
                outputs.append(layer(h))
                h = changed(outputs[-1], way, shift, False)
            upstream = case.tensor(f"hidden upstream {number}", *[2] * number, len(shift))
            *grads, one = torch.autograd.grad(h, [*outputs[::-1], layer.weight], upstream)
            entries, of_weight = entries + grads, of_weight + one
        return {"the list of gradients": entries, "output": h, "weight.grad": of_weight}

    blame = {"the list of gradients": "in_place_relu_only"}


check("in_place_safe", OtherInPlaceOperations)
