import itertools
import math
import warnings

import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches, is_same
from nbproof.values.evidence import TensorRecord, snapshot
from course.probing import hook_counts
from course.truths import ANYTHING, other_than, such_that

POISON = ("layer", "net", "x", "model")
NO_LIST = Matches(lambda got: "a list" if isinstance(got, list) else None, "no list")
ANOTHER_NUMBER = such_that(lambda got: isinstance(got, float) or got.shape == ())
ERRORS = {
    r"AttributeError: '(?!Tensor|Parameter|NoneType)\w+' object has no attribute 'register_hook'": "register_hook_on_module",
    r"AttributeError: 'NoneType' object has no attribute '(?!append|extend|insert)": "first_layer_none_as_tensor",
    r"TypeError: .*(must be Tensor, not NoneType|'NoneType')": "first_layer_none_as_tensor",
    r"AttributeError: 'tuple' object has no attribute": "grad_is_a_tuple",
    r"TypeError: .*must be Tensor, not tuple": "grad_is_a_tuple",
    r"RuntimeError: Backward hook for Modules where no input requires gradient": "watcher_changes_gradient",
    r"AttributeError: 'Tensor' object has no attribute 'register_\w*(backward|forward)": "function_uses_global",
}


def norm_of(tensor):
    return in_any_form(tensor.norm().item())


def in_any_form(value, *tolerance):
    """A norm, as a number or as a tensor of no dimension, in whichever precision it was computed."""
    tensors = (torch.tensor(value, dtype=dtype) for dtype in (torch.float32, torch.float64))
    return AnyOf(Close(value, *tolerance), *(Close(tensor, *tolerance) for tensor in tensors))


def norm_pairs(*gradients):
    return [(None if one is None else norm_of(one), norm_of(other)) for one, other in gradients]


def another_list_before(*right):
    """The right entries, after those of another layer: the list is not this layer's own."""

    def test(got):
        behind = len(got) > len(right) and all(is_same(*both) for both in zip(got[-len(right) :], right, strict=True))
        return None if behind and not is_same(got[0], right[0]) else "no list of several layers"

    return Matches(test, "entries of another layer, and the right ones")


def five_layer_net():
    return nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))


def flow_through(net, x):
    """Hook-free: what flows between the layers, from `x` to the output."""
    flow = [x]
    for layer in net:
        flow.append(layer(flow[-1]))
    return flow


class OnTheFirstLayer(Check):
    """The first layer meets data: the entry is `(None, number)`, and the data stays data."""

    poison = POISON
    errors = ERRORS
    claims = ("sizes",)  # the answer itself
    blame = {"x.requires_grad": "first_layer_asks_for_more", "weight.grad": "watcher_changes_gradient"}

    def probe(self, nb, case):
        net, x = case.build("net", five_layer_net), case.tensor("x", 3, 5)
        sizes = nb.function("gradient_sizes")(net[0])
        net(x).backward(case.tensor("upstream", 3, 2))
        slope = torch.zeros(x.shape) if x.grad is None else x.grad
        return {
            "sizes": sizes, "x.requires_grad": x.requires_grad, "weight.grad": net[0].weight.grad,
            "hooks": sum(hook_counts(net).values()), "x and its gradient": x.detach() + slope,
        }

    def gradients(self, case):
        net, x = case.build("net", five_layer_net), case.tensor("x", 3, 5, requires_grad=True)
        flow = flow_through(net, x)
        wanted = (x, flow[1], net[0].weight, net[0].bias)
        return torch.autograd.grad(flow[-1], wanted, case.tensor("upstream", 3, 2))

    def output(self, case):
        return case.build("net", five_layer_net)[0](case.tensor("x", 3, 5))

    def truth(self, case):
        _, of_output, of_weight, _ = self.gradients(case)
        return {
            "sizes": norm_pairs((None, of_output)), "x.requires_grad": False, "weight.grad": of_weight, "hooks": ANYTHING,
            "x and its gradient": case.tensor("x", 3, 5),
        }

    def mistakes(self, case):
        of_x, of_output, _, of_bias = self.gradients(case)
        out = norm_of(of_output)
        return {
            "module_hook_twice": {"sizes": [[None, out], [None, out]]},
            "shared_list": {"sizes": another_list_before((None, out))},
            "hook_never_ran": {"sizes": [], "hooks": 0},
            "returns_nothing": {"sizes": None, "hooks": 0},
            "returns_no_list": {"sizes": NO_LIST},
            "forward_instead_of_backward": {"sizes": norm_pairs((case.tensor("x", 3, 5), self.output(case)))},
            "first_layer_none_as_tensor": {"sizes": [(None, None)]},
            "first_layer_leaves_out": {"sizes": AnyOf([], [[out]], [out])},
            "first_layer_zero_for_none": {"sizes": AnyOf([[0.0, out]], [[torch.tensor(0.0), out]])},
            "first_layer_asks_for_more": {"sizes": norm_pairs((of_x, of_output))},
            "legacy_hook": {"sizes": norm_pairs((of_bias, of_output))},
            "takes_elements_apart": {"sizes": [None, out]},
            "wrong_order": {"sizes": [(out, None)]},
            "first_layer_gradient_for_size": {
                "sizes": AnyOf([[None, of_output]], [[[None], [of_output]]], [[None, [of_output]]])
            },
            "first_layer_other_size": {"sizes": [[None, ANOTHER_NUMBER]]},
        }


class InTheMiddle(Check):
    """A layer in the middle of a net: the entry is a pair of two numbers; all layers learn, and other hooks run, as before."""

    poison = POISON
    errors = ERRORS
    blame = {
        "output": "watcher_changes_output", "gradient of the first weight": "watcher_changes_gradient",
        "gradient of the layer's weight": "watcher_changes_gradient", "what a hook of others brought": "removes_other_hooks",
    }

    def probe(self, nb, case):
        net, x = case.build("net", five_layer_net), case.tensor("x", 3, 5)
        of_others = []
        net[2].register_full_backward_hook(lambda *whatever: of_others.append(case.tensor("of others", 3)))
        sizes = nb.function("gradient_sizes")(net[2])
        output = net(x)
        output.backward(case.tensor("upstream", 3, 2))
        return {
            "sizes": sizes, "output": output, "gradient of the first weight": net[0].weight.grad,
            "gradient of the layer's weight": net[2].weight.grad, "what a hook of others brought": of_others,
        }

    def truth(self, case):
        net = case.build("net", five_layer_net)
        flow = flow_through(net, case.tensor("x", 3, 5))
        wanted = (flow[2], flow[3], net[0].weight, net[2].weight)
        *both, of_first, of_layer = torch.autograd.grad(flow[-1], wanted, case.tensor("upstream", 3, 2))
        return {
            "sizes": norm_pairs(both), "output": flow[-1], "gradient of the first weight": of_first,
            "gradient of the layer's weight": of_layer, "what a hook of others brought": [case.tensor("of others", 3)],
        }

    def mistakes(self, case):
        ((of_input, of_output),) = self.truth(case)["sizes"]
        return {
            "module_hook_twice": {"sizes": [(of_input, of_output)] * 2},
            "shared_list": {"sizes": another_list_before((of_input, of_output))},
            "first_layer_always_none": {"sizes": [(None, of_output)]},
            "wrong_order": {"sizes": [(of_output, of_input)]},
        }


def net_for_words():
    return nn.Sequential(nn.Embedding(9, 4), nn.Tanh(), nn.Flatten(), nn.BatchNorm1d(12), nn.Linear(12, 2))


class EveryLayerOfAnother(Check):
    """All layers of another net at once, one of them an Embedding, whose input holds integers: each has its list."""

    poison = POISON
    errors = {
        **ERRORS,
        r"AttributeError: '(Embedding|Tanh|Flatten)' object has no attribute": "first_layer_formula",
        r"RuntimeError: (\w+: )?(mat1 and mat2|The size of tensor|size mismatch)": "first_layer_formula",
        r"RuntimeError: only Tensors of floating point": "first_layer_asks_for_more",
    }

    def probe(self, nb, case):
        net, words = case.build("net", net_for_words), case.tensor("words", 2, 3, dtype=torch.int64, positive=True)
        sizes = [nb.function("gradient_sizes")(layer) for layer in net]
        net(words).backward(case.tensor("upstream", 2, 2))
        lists = {f"list of {type(layer).__name__}": found for layer, found in zip(net, sizes, strict=True)}
        return {**lists, "training modes": [layer.training for layer in net]}

    def truth(self, case):
        net, words = case.build("net", net_for_words), case.tensor("words", 2, 3, dtype=torch.int64, positive=True)
        flow = flow_through(net, words)
        gradients = [None, *torch.autograd.grad(flow[-1], flow[1:], case.tensor("upstream", 2, 2))]
        both = itertools.pairwise(gradients)
        lists = {f"list of {type(layer).__name__}": norm_pairs(one) for layer, one in zip(net, both, strict=True)}
        return {**lists, "training modes": ANYTHING}

    def mistakes(self, case):
        right = self.truth(case)
        del right["training modes"]
        together = [pair for found in right.values() for pair in found]
        return {
            "changes_mode": {"training modes": other_than([True] * 5)},
            "shared_list": {"list of Embedding": together[::-1]},
            "first_layer_formula": {"list of Embedding": right["list of Embedding"]},
        }


class TwoPasses(Check):
    """Each pass through the first layer gives an entry of its own, whether the data needs a gradient or not."""

    poison = POISON
    errors = ERRORS

    def given(self, case):
        """The data of each pass; in which of them it needs a gradient, no answer can know. The last is like the second."""
        needs = case.shuffled("needs a gradient", [True, False, True, False, True, False])
        needs = [case.tensor(f"x {number}", 3, 5, requires_grad=needed) for number, needed in enumerate((False, *needs))]
        return [*enumerate(needs), (1, needs[1].detach().clone().requires_grad_(needs[1].requires_grad))]

    def probe(self, nb, case):
        net = case.build("net", five_layer_net)
        sizes = nb.function("gradient_sizes")(net[0])
        for number, x in self.given(case):
            net(x).backward(case.tensor(f"upstream {number}", 3, 2))
        return {"sizes": sizes}

    def truth(self, case):
        found = []
        for number, x in self.given(case):
            flow = flow_through(case.build("net", five_layer_net), x)
            wanted = (x, flow[1]) if x.requires_grad else (flow[1],)
            gradients = torch.autograd.grad(flow[-1], wanted, case.tensor(f"upstream {number}", 3, 2))
            found.append((gradients[0] if x.requires_grad else None, gradients[-1]))
        return {"sizes": norm_pairs(*found)}

    def mistakes(self, case):
        pairs = self.truth(case)["sizes"]
        guessed = [(None, ANYTHING), *((other_than(None), ANYTHING) for _ in pairs[1:])]
        return {
            "first_layer_leaves_repetitions_out": {"sizes": pairs[:-1]},
            "runs_only_once": {"sizes": pairs[:1]},
            "keeps_last_only": {"sizes": pairs[-1:]},
            "first_layer_from_weight": {"sizes": guessed},
        }


class TwiceInOneForward(Check):
    """A network of two layers that runs twice in one forward: two entries, and no weight of its own."""

    poison = POISON
    errors = {
        **ERRORS,
        r"AttributeError: 'Sequential' object has no attribute": "first_layer_formula",
        r"RuntimeError: (\w+: )?(mat1 and mat2|The size of tensor|size mismatch)": "first_layer_formula",
    }

    def build(self, case):
        return case.build("block", lambda: nn.Sequential(nn.Linear(3, 3), nn.Tanh()).double())

    def probe(self, nb, case):
        block, x = self.build(case), case.tensor("x", 3, requires_grad=True, dtype=torch.float64)
        sizes = nb.function("gradient_sizes")(block)
        block(block(x) * 2).backward(case.tensor("upstream", 3, dtype=torch.float64))
        return {"sizes": sizes}

    def truth(self, case):
        block, x = self.build(case), case.tensor("x", 3, requires_grad=True, dtype=torch.float64)
        once = block(x)
        between = once * 2
        twice = block(between)
        upstream = case.tensor("upstream", 3, dtype=torch.float64)
        of_between, of_once, of_x = torch.autograd.grad(twice, (between, once, x), upstream)
        return {"sizes": norm_pairs((of_between, upstream), (of_x, of_once))}

    def mistakes(self, case):
        pairs = self.truth(case)["sizes"]
        return {
            "first_layer_once_a_forward": {"sizes": AnyOf(pairs[:1], pairs[1:])},
            "in_place_of_parts": {"sizes": such_that(lambda got: len(got) == 3 * len(pairs))},
        }


class SmallAndLarge(Check):
    """Norms of 0, tiny ones and nan; eval mode, a frozen layer, passes through one graph or recorded; two lists of one layer."""

    claims = (
        "sizes in eval mode", "sizes of special gradients", "sizes of two forwards", "sizes in the first of two lists",
        "sizes of two passes through one graph", "sizes of a frozen layer", "sizes with create_graph",
    )  # the answer itself
    errors = ERRORS
    blame = {
        "sizes in eval mode": "only_in_training", "sizes of special gradients": "value_taken_for_nothing",
        "sizes of two forwards": "first_layer_of_another_pass", "sizes in the first of two lists": "first_list_taken_away",
        "sizes of two passes through one graph": "first_layer_leaves_repetitions_out",
        "sizes of a frozen layer": "frozen_pass_left_out", "gradient of a gradient": "cut_from_its_inputs",
        "sizes with create_graph": "create_graph_left_out", "x.grad of a pass with nan": "watcher_changes_gradient",
    }

    ways = (
        "in eval mode", "of special gradients", "of two forwards", "in the first of two lists",
        "of two passes through one graph", "of a frozen layer",
    )

    def bend(self, case, start):
        """What comes of a gradient that is differentiated once more, and the entries of the pass that brought it."""
        layer, x = case.build("bent layer", nn.Linear, 3, 4), case.tensor("bent x", 5, 3, requires_grad=True)
        sizes = start(layer)
        (slope,) = torch.autograd.grad(layer(x).tanh(), x, case.tensor("bent upstream", 5, 4), create_graph=True)
        sizes = snapshot(sizes)
        (bend,) = torch.autograd.grad((slope**2).sum() + (x * case.tensor("way around", 5, 3)).sum(), x)
        return {"gradient of a gradient": bend, "sizes with create_graph": sizes}

    def bent(self, case):
        """The gradients at both ends of the layer, in the pass with create_graph."""
        x = case.tensor("bent x", 5, 3, requires_grad=True)
        output = case.build("bent layer", nn.Linear, 3, 4)(x)
        return torch.autograd.grad(output.tanh(), (x, output), case.tensor("bent upstream", 5, 4))

    def run(self, case, start):
        found = self.bend(case, start)
        for name in self.ways:
            layer, x = case.build("layer", nn.Linear, 3, 2), case.tensor("x", 4, 3)
            layer.requires_grad_(name != "of a frozen layer")
            sizes = start(layer)
            needs = x.clone().requires_grad_()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a hook where no input requires a gradient
                if name == "in the first of two lists":
                    start(layer)
                    layer(needs).backward(case.tensor("upstream", 4, 2))
                elif name == "of a frozen layer":
                    layer(needs).backward(case.tensor("upstream", 4, 2))
                elif name == "of two passes through one graph":
                    output = layer(needs)
                    output.backward(case.tensor("upstream", 4, 2), retain_graph=True)
                    output.backward(2 * case.tensor("upstream", 4, 2))
                elif name == "in eval mode":
                    layer.eval()(needs).backward(case.tensor("upstream", 4, 2))
                elif name == "of two forwards":
                    outputs = [layer(x), layer(needs), layer(x)]
                    for output in (outputs[1], outputs[0], outputs[2]):
                        output.backward(case.tensor("upstream", 4, 2))
                else:
                    for factor in (0.0, 1e-12, float("nan")):
                        needs.grad = None
                        layer(needs).backward(torch.full((4, 2), factor))
                    found["x.grad of a pass with nan"] = needs.grad.isnan().all() * case.tensor("for nan", 3)
            found[f"sizes {name}"] = sizes
        return found

    def probe(self, nb, case):
        return self.run(case, nb.function("gradient_sizes"))

    def truth(self, case):
        layer = case.build("layer", nn.Linear, 3, 2)
        upstream, weight = case.tensor("upstream", 4, 2), layer.weight.detach()
        pair, without = (upstream @ weight, upstream), (None, upstream)
        special = []
        for factor in (0.0, 1e-12):
            out = torch.full((4, 2), factor)
            special.append([tiny(one.norm().item()) for one in (out @ weight, out)])
        special.append([Matches(no_number, "nan")] * 2)
        return {
            "sizes in eval mode": norm_pairs(pair), "sizes of special gradients": special,
            "sizes of two forwards": norm_pairs(pair, without, without), "sizes in the first of two lists": norm_pairs(pair),
            "sizes of two passes through one graph": norm_pairs(pair, [2 * one for one in pair]),
            "sizes of a frozen layer": norm_pairs(pair),
            "gradient of a gradient": self.bend(case, lambda layer: [])["gradient of a gradient"],
            "sizes with create_graph": norm_pairs(self.bent(case)), "x.grad of a pass with nan": case.tensor("for nan", 3),
        }


def tiny(value):
    """The same, without the tolerance for small numbers."""
    return in_any_form(value, 1e-4, 0.0)


def no_number(got):
    """Whether the norm is nan, as the gradients are."""
    value = got.tensor().item() if isinstance(got, TensorRecord) else got
    return None if isinstance(value, float) and math.isnan(value) else "a number"


check("first_layer", OnTheFirstLayer, InTheMiddle, EveryLayerOfAnother, TwoPasses, TwiceInOneForward, SmallAndLarge)


# --- Hidden checks: graders run them, learners do not get them. ---
def net_for_pictures():
    return nn.Sequential(nn.Conv2d(2, 3, 2), nn.Softplus(), nn.Flatten(), nn.Linear(12, 2))


class OnPictures(Check):
    """In a net for pictures, each list has the norms of each pass."""

    poison = POISON
    batches = (2, 1, 3)
    claims = ("sizes of Conv2d", "sizes of Softplus")  # the answer itself

    def probe(self, nb, case):
        net = case.build("hidden net", net_for_pictures)
        behind, first = nb.function("gradient_sizes")(net[1]), nb.function("gradient_sizes")(net[0])
        for batch in self.batches:
            pictures = case.tensor(f"hidden pictures {batch}", batch, 2, 3, 3)
            net(pictures).backward(case.tensor(f"hidden upstream {batch}", batch, 2))
        return {"sizes of Conv2d": first, "sizes of Softplus": behind}

    def truth(self, case):
        net = case.build("hidden net", net_for_pictures)
        first, behind = [], []
        for batch in self.batches:
            between = net[0](case.tensor(f"hidden pictures {batch}", batch, 2, 3, 3))
            later = net[1](between)
            upstream = case.tensor(f"hidden upstream {batch}", batch, 2)
            gradients = torch.autograd.grad(net[3](net[2](later)), (between, later), upstream)
            one, other = (in_any_form(gradient.norm().item(), 1e-4, 1e-6) for gradient in gradients)
            first.append((None, one))
            behind.append((one, other))
        return {"sizes of Conv2d": first, "sizes of Softplus": behind}


check("first_layer", OnPictures)
