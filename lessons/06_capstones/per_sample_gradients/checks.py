import copy
from collections import OrderedDict
from contextlib import suppress

import torch
import torch.nn.functional as F
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches, is_same
from nbproof.values.evidence import TensorRecord
from course.probing import error_out_of, hook_counts
from course.traces import what_runs
from course.truths import as_before, such_that


class PlainNet(nn.Module):
    """Linear layers at two depths, one without bias, and a LayerNorm, which has a weight but is no Linear layer."""

    def __init__(self, body, head, first, second, classes):
        super().__init__()
        self.names = (body, head)
        self.add_module(body, nn.Sequential(nn.Linear(4, first), nn.LayerNorm(first), nn.Tanh(), nn.Linear(first, second), nn.Tanh()))
        self.add_module(head, nn.Linear(second, classes, bias=False))

    def forward(self, x):
        body, head = (getattr(self, name) for name in self.names)
        return head(body(x))


def linear_parameters(model):
    """The names of the weights and biases of all Linear layers."""
    layers = {name for name, module in model.named_modules() if isinstance(module, nn.Linear)}
    return [name for name, _ in model.named_parameters() if name.rpartition(".")[0] in layers]


def has(test):
    """The field `gradients` with a certain flaw: `test` gets the dict."""
    return {"gradients": Matches(lambda got: None if isinstance(got, dict) and test(got) else "no", "this flaw")}


def shaped(got, shapes):
    """Whether tensors of these names and shapes are there."""
    return all(isinstance(got.get(name), TensorRecord) and got[name].shape == tuple(shapes[name]) for name in shapes)


def near(one, other):
    return bool((one - other).abs().max() <= 1e-4 * one.abs().max())


def times_one_number(got, wanted):
    return near(got, wanted * (got * wanted).sum() / wanted.square().sum())


class OneBatch(Check):
    """`gradients` holds the gradient of each sample's own loss, for each Linear layer."""

    reduction = "mean"
    errors = {
        r"(KeyError: None|TypeError: unsupported operand .*'NoneType'|'NoneType' object has no attribute '(shape|size|clone|detach)')": "per_sample_no_bias",
        r"AttributeError: 'NoneType' object has no attribute 'gradients'": "tool_enter_returns_nothing",
        r"AttributeError: '(dict|list)' object has no attribute 'gradients'": "per_sample_no_object",
        r"(AttributeError: 'tuple' object has no attribute|TypeError: expected Tensor as element \d .*, but got tuple)": "per_sample_tuple",
        r"RuntimeError: The size of tensor a .* non-singleton dimension 0": "tool_shared_results",
        r"(TypeError|AttributeError): .*(context manager protocol|not an iterator|__e\w+__)": "tool_no_context",
    }

    def given(self, case):
        model = case.build("net", PlainNet, *case.words("names", 2), *case.shape("sizes", 3, 5, 8))
        return model, case.tensor("x", case.integer("samples", 9, 12), 4)

    def loss(self, case, output, part):
        return F.cross_entropy(output, (torch.arange(12) % 3)[part][: len(output)], reduction=self.reduction)

    def probe(self, nb, case):
        model, x = self.given(case)
        with nb.function("PerSampleGradients")(model, self.reduction) as per_sample:
            self.loss(case, model(x), slice(None)).backward()
        return {"gradients": per_sample.gradients}

    def each(self, case, model, x):
        """Autograd on the loss of each sample alone, on a model that no hook has ever been near."""
        names, rows = linear_parameters(model), []
        for n in range(len(x)):
            loss = self.loss(case, model(x[n : n + 1]), slice(n, n + 1))
            rows.append(torch.autograd.grad(loss, [model.get_parameter(name) for name in names]))
        return {name: torch.stack(parts) for name, parts in zip(names, zip(*rows))}

    def truth(self, case):
        return {"gradients": self.each(case, *self.given(case))}

    def mistakes(self, case):
        model, x = self.given(case)
        each, count = self.each(case, model, x), len(x)
        own, everything = set(each), {name for name, _ in model.named_parameters()}
        layer_of = {name: name.rpartition(".")[0] for name in everything}
        weights = {name for name in own if name.endswith("weight")}
        layers = list(dict.fromkeys(layer_of[name] for name in each))
        grown = {name: each[name] * float(count) ** layers[::-1].index(layer_of[name]) for name in each}
        emptied = {name: value if layer_of[name] == layers[-1] else torch.zeros_like(value) for name, value in each.items()}
        shapes = {name: value.shape for name, value in each.items()}
        weight_shapes = {name: shapes[name] for name in weights}

        def times(factor):
            return {name: value * factor(value) for name, value in each.items()}

        def keys(*sets):
            return has(lambda got: set(got) in sets and set(got) != own)

        def bias_shaped(shape):
            biases = {name: shape(shapes[name]) for name in own - weights}
            return has(lambda got: shaped(got, weight_shapes) and shaped(got, biases))

        return {
            "tool_nothing_collected": has(lambda got: not got), "per_sample_still_mean": {"gradients": times(lambda value: 1 / count)},
            "per_sample_factor_for_sum": has(lambda got: self.reduction == "sum" and is_same(got, times(lambda value: count))),
            "per_sample_divided_again": {"gradients": times(lambda value: count**-2)},
            "per_sample_changes_grad": {"gradients": AnyOf(Close(grown, 1e-3, 1e-3), emptied)},
            "per_sample_summed": has(lambda got: all(len(got[name].shape) == 2 for name in weights)),
            "per_sample_copies": has(lambda got: shaped(got, shapes) and all(near(got[name].tensor(), got[name].tensor()[:1]) for name in weights)),
            "per_sample_transposed": has(lambda got: shaped(got, {name: (count, *reversed(shapes[name][1:])) for name in weights})),
            "per_sample_bias_summed": bias_shaped(lambda shape: shape[1:]), "per_sample_bias_missing": keys(weights),
            "per_sample_bias_too_many": keys(own | {f"{layer_of[name]}.bias" for name in weights}),
            "per_sample_other_layers": has(lambda got: own < set(got) <= everything),
            "per_sample_first_layer": keys({name for name in own if layer_of[name] != layers[0]}),
            "per_sample_children_only": keys({name for name in own if name.count(".") < 2}),
            "per_sample_short_names": keys({".".join(name.split(".")[-2:]) for name in own}),
            "per_sample_layer_names": keys({layer_of[name] for name in weights}, {layer_of[name] for name in weights} | own - weights),
            "per_sample_other_side": has(lambda got: any(shaped(got, {name: (count, size, size)}) for name in weights for size in shapes[name][1:])),
            "per_sample_other_factor": has(lambda got: shaped(got, shapes) and all(times_one_number(got[name].tensor(), one) for name, one in each.items())),
            "loop_variable": keys({f"{layers[-1]}.weight"}, {f"{layers[-1]}.weight", f"{layers[-1]}.bias"}),
            "tool_shared_results": has(lambda got: own < set(got)), "per_sample_own_names": has(lambda got: not set(got) <= everything),
        }


class SummedLoss(OneBatch):
    """With `reduction="sum"` and another loss, each sample's gradient is its own, too."""

    reduction = "sum"

    def loss(self, case, output, part):
        return (output * case.tensor("upstream", 12, output.shape[1])[part][: len(output)]).sum()


class RecurrentNet(nn.Module):
    """One Linear layer, called three times on what it has made before, and once for nothing."""

    def __init__(self, cell, size):
        super().__init__()
        self.name, self.size = cell, size
        self.add_module(cell, nn.Linear(3 + size, size))

    def forward(self, x, cells=None):
        hidden = x.new_zeros(len(x), self.size)
        for cell in cells or [getattr(self, self.name)] * 3:
            hidden = torch.tanh(cell(torch.cat([x, hidden], 1)))
        getattr(self, self.name)(torch.cat([x, 1 + hidden], 1))  # somebody logs this output: it does not reach the loss
        return hidden


class ReusedLayer(OneBatch):
    """A layer runs often: a sample's gradient is the sum over the calls, and of one call the loss knows nothing."""

    errors = {r"RuntimeError: The size of tensor a": "per_sample_wrong_pairs", **OneBatch.errors}

    def given(self, case):
        model = case.build("net", RecurrentNet, *case.words("name", 1), case.integer("size", 4, 6))
        return model, case.tensor("x", case.integer("samples", 9, 12), 3)

    def mistakes(self, case):
        model, x = self.given(case)
        each, calls = self.each(case, model, x), [copy.deepcopy(getattr(model, model.name)) for _ in range(3)]
        rows = []
        for n in range(len(x)):
            loss = self.loss(case, model(x[n : n + 1], calls), slice(n, n + 1))
            rows.append(torch.autograd.grad(loss, [p for call in calls for p in call.parameters()]))
        parts = [torch.stack(parts) for parts in zip(*rows)]
        weight, bias = f"{model.name}.weight", f"{model.name}.bias"
        side_by_side = has(lambda got: got[weight].shape[-2:] == each[weight].shape[-2:] and got[weight].shape != each[weight].shape)
        return {
            **super().mistakes(case),
            "per_sample_one_call": AnyOf(*({"gradients": {weight: one, bias: other}} for one, other in zip(parts[::2], parts[1::2])), side_by_side),
            "per_sample_wrong_pairs": has(lambda got: shaped(got, {weight: each[weight].shape}) and is_same(got[bias], each[bias])),
        }


class LinearAlone(OneBatch):
    """A model that is one Linear layer."""

    def given(self, case):
        return case.build("net", nn.Linear, 4, 4), case.tensor("x", 9, 4)

    def mistakes(self, case):
        return {"per_sample_own_names": has(lambda got: set(got) - set(dict(self.given(case)[0].named_parameters())))}


class OneWeightTwice(LinearAlone):
    """Two layers share a weight, which has one name."""

    blame = {"gradients": "per_sample_own_names"}  # a layer alone is right

    def given(self, case):
        model = case.build("net", lambda: nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)))
        model[2].weight = model[0].weight
        return model, case.tensor("x", 9, 4)


class LeftAsItWas(OneBatch):
    """Each block has its own results, `.grad` is as without it, and its hooks are gone."""

    blame = {"parameter.grad": "per_sample_changes_grad", "gradients of the first block": "tool_shared_results", "what runs after an error": "not_as_before"}

    def given(self, case):
        model, x = super().given(case)
        model.get_submodule(model.names[1]).register_forward_hook(lambda module, args, output: None)  # somebody else's
        model.get_submodule(model.names[0])[4] = nn.ELU(inplace=True)
        return model, x

    def probe(self, nb, case):
        (model, x), tool = self.given(case), nb.function("PerSampleGradients")
        with tool(model) as one:
            self.loss(case, model(x), slice(None)).backward()
        grads = {name: None if p.grad is None else p.grad.clone() for name, p in model.named_parameters()}
        hooks, (other, _) = hook_counts(model), self.given(case)
        with tool(other, "sum") as two:
            self.loss(case, other(x[:1] + 1), slice(None)).backward()
        said = error_out_of(tool(model), *case.words("error", 1))
        return {
            "parameter.grad": grads, "gradients of the first block": one.gradients, "gradients of the second block": two.gradients,
            "hook count afterwards": hooks, "hook count after an error": hook_counts(model), "the error that comes out": said,
            "what runs after an error": what_runs(model, case, lambda: model(x).sum().backward()),
        }

    def truth(self, case):
        model, x = self.given(case)
        found = torch.autograd.grad(self.loss(case, model(x), slice(None)), list(model.parameters()))
        return {
            "parameter.grad": dict(zip(dict(model.named_parameters()), found)), "gradients of the first block": self.each(case, model, x),
            "gradients of the second block": self.each(case, model, x[:1] + 1),
            "hook count afterwards": hook_counts(model), "hook count after an error": hook_counts(model), "the error that comes out": case.words("error", 1)[0],
            "what runs after an error": as_before(what_runs(model, case, lambda: model(x).sum().backward())),
        }

    def mistakes(self, case):
        more = Matches(lambda got: None if sum(got.values()) > 1 else "no", "more hooks")
        right, before = self.truth(case)["gradients of the first block"], f"{self.given(case)[0].names[0]}.3."
        others = {name: one for name, one in right.items() if not name.startswith(before)}
        return {
            "per_sample_overwritten": {"gradients of the first block": such_that(lambda got: all(is_same(got.get(name), one) for name, one in others.items()))},
            "removes_other_hooks": {"hook count afterwards": {kind: 0 for kind in hook_counts(self.given(case)[0])}}, "feat_error_swallowed": {"the error that comes out": "nothing"},
            "tool_hooks_left": {"hook count afterwards": more}, "tool_not_after_error": {"hook count after an error": more},
        }


check("per_sample_gradients", OneBatch, SummedLoss, ReusedLayer, LeftAsItWas, LinearAlone, OneWeightTwice)


# --- Hidden checks: graders run them, learners do not get them. ---
class Walk(nn.Module):
    """A first layer, then several in an order in which some come twice, then a norm and a last layer."""

    def __init__(self, names, size, route):
        super().__init__()
        first, norm, last, path, *steps = self.names = names
        self.route = route
        layers = OrderedDict((step, nn.Linear(size, size, bias=number > 0)) for number, step in enumerate(steps))
        parts = {first: nn.Linear(3, size), norm: nn.LayerNorm(size), last: nn.Linear(size, 2), path: nn.Sequential(layers)}
        for name in sorted(parts):
            self.add_module(name, parts[name])

    def forward(self, x):
        first, norm, last, path, *_ = (self.get_submodule(name) for name in self.names[:4])
        x = torch.tanh(first(x))
        for step in self.route:
            x = x + torch.tanh(path[step](x))
        return last(norm(x))


class OfAWalk(Check):
    """`gradients` holds the gradient of each sample's own loss, under the parameters' names."""

    def walk(self, case):
        steps = case.integer("steps", 2, 4)
        names, size = case.words("walk", 4 + steps), case.integer("size of the walk", 3, 6)
        route = case.shuffled("route", [*range(steps), case.integer("twice", 0, steps - 1)])
        model, count = case.build("a walk", Walk, names, size, route), case.integer("walkers", 4, 8)
        model.get_submodule(names[0]).register_forward_hook(lambda module, args, output: None)
        return model, case.tensor("walkers", count, 3), case.tensor("aims", count, 2)

    def probe(self, nb, case):
        (model, x, aims), tool = self.walk(case), nb.function("PerSampleGradients")
        with tool(model) as per_sample:
            (model(x) - aims).square().sum(1).mean().backward()
        grads = {name: None if p.grad is None else p.grad.clone() for name, p in model.named_parameters()}
        with tool(model, "sum") as other:
            (model(x[1:]) - aims[1:]).square().sum().backward()
        found = {"gradients of a walk": per_sample.gradients, ".grad after it": grads, "gradients of another walk": other.gradients}
        with suppress(ArithmeticError), tool(model):
            raise ArithmeticError("lost")
        return {**found, "what runs afterwards": what_runs(model, case, lambda: model(x).sum().backward())}

    def truth(self, case):
        model, x, aims = self.walk(case)
        losses, named = (model(x) - aims).square().sum(1), dict(model.named_parameters())
        each = [torch.autograd.grad(loss, list(named.values()), retain_graph=True) for loss in losses]
        linear = {name: torch.stack(parts) for name, parts in zip(named, zip(*each)) if not name.startswith(f"{model.names[1]}.")}
        return {
            "gradients of a walk": {name: Close(one, rtol=1e-4, atol=1e-4) for name, one in linear.items()},
            ".grad after it": {name: Close(sum(one) / len(x), rtol=1e-4, atol=1e-5) for name, one in zip(named, zip(*each))},
            "gradients of another walk": {name: Close(one[1:], rtol=1e-4, atol=1e-4) for name, one in linear.items()},
            "what runs afterwards": as_before(what_runs(model, case, lambda: model(x).sum().backward())),
        }


check("per_sample_gradients", OfAWalk)
