import copy

import torch
import torch.nn.functional as F
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches, is_same
from nbproof.values.evidence import TensorRecord, snapshot
from course.awkward import awkward_models
from course.probing import hook_counts
from course.traces import attributes_on, what_runs
from course.truths import as_before, other_than, such_that


class Tanh(nn.Tanh):
    """Twice as strong in training mode."""

    def forward(self, x):
        return super().forward(x) * (2 if self.training else 1)


class PlainNet(nn.Module):
    """Linear layers at two depths, one without bias, and a LayerNorm, which has a weight but is no Linear layer."""

    def __init__(self, body, head, first, second, classes):
        super().__init__()
        self.names = (body, head)
        layers = nn.Linear(4, first), nn.LayerNorm(first), Tanh(), nn.Linear(first, second), nn.Tanh()
        self.add_module(body, nn.Sequential(*layers))
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


class OneBatch(Check):
    """After a block with one forward and one backward, `gradients` holds the gradient of each sample's own loss."""

    reduction = "mean"
    errors = {
        r"AttributeError: 'NoneType' object has no attribute 'shape'": "per_sample_no_bias",
        r"AttributeError: 'NoneType' object has no attribute 'gradients'": "tool_enter_returns_nothing",
        r"AttributeError: '(dict|list)' object has no attribute 'gradients'": "per_sample_no_object",
        r"AttributeError: 'tuple' object has no attribute": "per_sample_tuple",
        r"TypeError: expected Tensor as element \d in argument 1, but got tuple": "per_sample_tuple",
        r"TypeError: object of type 'NoneType' has no len": "per_sample_grad_input",
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
        sums = {name: value.sum(0) for name, value in each.items()}
        batch = sums if self.reduction == "sum" else {name: value / count for name, value in sums.items()}
        copies = {name: value.expand(shapes[name]) for name, value in batch.items()}

        def times(factor):
            return {name: value * factor(value) for name, value in each.items()}

        def keys(*sets):
            return has(lambda got: set(got) in sets and set(got) != own)

        def bias_shaped(shape):
            biases = {name: shape(shapes[name]) for name in own - weights}
            return has(lambda got: shaped(got, weight_shapes) and shaped(got, biases))

        return {
            "tool_nothing_collected": has(lambda got: not got),
            "per_sample_still_mean": {"gradients": times(lambda value: 1 / count)},
            "per_sample_factor_for_sum": {"gradients": times(lambda value: count)},
            "per_sample_divided_again": {"gradients": times(lambda value: count**-2)},
            "per_sample_factor_of_elements": {
                "gradients": AnyOf(times(lambda value: value.shape[1]), times(lambda value: value.shape[1] / count))
            },
            "per_sample_factor_on_one": {
                "gradients": {name: value / (1 if name in weights else count) for name, value in each.items()}
            },
            "per_sample_changes_grad": {"gradients": AnyOf(Close(grown, 1e-3, 1e-3), emptied)},
            "per_sample_summed": {"gradients": AnyOf(batch, {name: value * count for name, value in batch.items()})},
            "per_sample_copies": {"gradients": copies},
            "per_sample_transposed": has(
                lambda got: shaped(got, {name: (count, *reversed(shapes[name][1:])) for name in weights})
            ),
            "per_sample_output_for_input": has(
                lambda got: shaped(got, {name: (*shapes[name][:2], shapes[name][1]) for name in weights})
            ),
            "per_sample_norms": has(lambda got: shaped(got, dict.fromkeys(own, (count,)))),
            "per_sample_bias_row": bias_shaped(lambda shape: (*shape, 1)),
            "per_sample_bias_summed": bias_shaped(lambda shape: shape[1:]),
            "per_sample_bias_missing": keys(weights),
            "per_sample_bias_too_many": keys(own | {f"{layer_of[name]}.bias" for name in weights}),
            "per_sample_other_layers": has(lambda got: own < set(got) <= everything),
            "per_sample_first_layer": keys({name for name in own if layer_of[name] != layers[0]}),
            "per_sample_children_only": keys({name for name in own if name.count(".") < 2}),
            "per_sample_short_names": keys({".".join(name.split(".")[-2:]) for name in own}),
            "per_sample_layer_names": keys({layer_of[name] for name in weights}),
            "per_sample_object_keys": has(lambda got: any("(Parameter)" in key for key in got)),
            "loop_variable": keys({f"{layers[-1]}.weight"}, {f"{layers[-1]}.weight", f"{layers[-1]}.bias"}),
            "tool_shared_results": has(lambda got: own < set(got)),
        }


class SummedLoss(OneBatch):
    """With `reduction="sum"`, and a loss of another form, each sample's gradient is that of its own loss."""

    reduction = "sum"

    def loss(self, case, output, part):
        return (output * case.tensor("upstream", 12, output.shape[1])[part][: len(output)]).sum()


class RecurrentNet(nn.Module):
    """One Linear layer that is called three times, on what it has made before."""

    def __init__(self, cell, size):
        super().__init__()
        self.name, self.size = cell, size
        self.add_module(cell, nn.Linear(3 + size, size))

    def forward(self, x, cells=None):
        hidden = x.new_zeros(len(x), self.size)
        for cell in cells or [getattr(self, self.name)] * 3:
            hidden = torch.tanh(cell(torch.cat([x, hidden], 1)))
        return hidden


class ReusedLayer(OneBatch):
    """Where a layer is called three times in one forward, a sample's gradient is the sum over the calls."""

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
        weights_and_biases = [torch.stack(parts) for parts in zip(*rows)]
        pairs = zip(weights_and_biases[::2], weights_and_biases[1::2])
        weight, bias, count = f"{model.name}.weight", f"{model.name}.bias", len(x)
        again = [sum(value * count**call for call, value in enumerate(weights_and_biases[kind::2])) for kind in (0, 1)]
        three = {name: (3 * len(value), *value.shape[1:]) for name, value in each.items()}
        return {
            **super().mistakes(case),
            "per_sample_one_call": {"gradients": AnyOf(*({weight: one, bias: other} for one, other in pairs))},
            "per_sample_calls_listed": has(lambda got: shaped(got, three)),
            "per_sample_scaled_again": {"gradients": dict(zip((weight, bias), again))},
            "per_sample_wrong_pairs": has(
                lambda got: shaped(got, {weight: each[weight].shape}) and is_same(got[bias], each[bias])
            ),
        }


class Mixed(nn.Module):
    """A layer that somebody has written: a matrix and a bias, and no Linear layer."""

    def __init__(self, size):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(size, size)), nn.Parameter(torch.randn(size))

    def forward(self, x):
        return torch.tanh(x @ self.weight + self.bias)


def own_layer():
    return nn.Sequential(nn.Linear(4, 5), Mixed(5), nn.Linear(5, 3))


class AnyModel(OneBatch):
    """On models of other kinds, `gradients` holds the gradient of each sample's own loss, under the parameters' names."""

    def models(self, case):
        own = {"a model with a layer of its own": (case.build("own layer", own_layer), case.tensor("x of its own", 3, 4))}
        return own | awkward_models(
            case, "shared", "called_twice", "norm_in_eval", "mixed_modes", "none_place", "float64", "namedtuple", "dictionary",
            "look_alike",
        )

    def probe(self, nb, case):
        brought = {}
        for says, (model, x) in self.models(case).items():
            with nb.function("PerSampleGradients")(model) as per_sample:
                model(x).pow(2).sum(1).mean().backward()
            brought[f"gradients in {says}"] = per_sample.gradients
        return brought

    def truth(self, case):
        wanted = {}
        for says, (model, x) in self.models(case).items():
            names, rows = linear_parameters(model), []
            for one in x:
                loss = model(one[None]).pow(2).sum()
                rows.append(torch.autograd.grad(loss, [model.get_parameter(name) for name in names]))
            wanted[f"gradients in {says}"] = {name: torch.stack(parts) for name, parts in zip(names, zip(*rows))}
        return wanted

    def mistakes(self, case):
        shared = "gradients in a model with one layer under two names"
        own = "gradients in a model with a layer of its own"
        both = {f"body.2.{kind}" for kind in ("weight", "bias")}  # the other name of `first`
        return {
            "per_sample_names_of_one_layer": {shared: such_that(lambda got: both <= set(got))},
            "per_sample_other_layers": {own: such_that(lambda got: "1.weight" in got)},
            "tool_shared_results": {shared: such_that(lambda got: "my_block.fc1.weight" in got)},
        }


class LeftAsItWas(OneBatch):
    """It only looks: `.grad` is as without it, and it leaves nothing on the model, also after an error in the block."""

    errors = {r"RuntimeError: The size of tensor a \(0\) must match": "per_sample_changes_grad", **OneBatch.errors}
    blame = {
        "parameter.grad": "per_sample_changes_grad",
        "attributes left on modules and parameters": "tool_attributes_left",
        "the error in the block": "tool_swallows_error",
    }

    def with_hooks_of_others(self, case):
        model, x = self.given(case)
        for module in model.modules():
            module.register_forward_hook(lambda module, args, output: None)
            module.register_forward_pre_hook(lambda module, args: None)
        return model, x

    def probe(self, nb, case):
        model, x = self.with_hooks_of_others(case)
        owners = [*model.modules(), *model.parameters()]
        before = [set(vars(owner)) for owner in owners]

        def hooks():
            # An older torch, such as 2.6, has no function for this: there nothing is said of hooks for all modules.
            for_all = getattr(torch.nn.modules.module, "_has_any_global_hook", bool)()
            return {**hook_counts(model), "for all modules": int(bool(for_all))}

        for name, parameter in model.named_parameters():
            parameter.grad = case.tensor(f"before {name}", *parameter.shape)
        with nb.function("PerSampleGradients")(model) as per_sample:
            self.loss(case, model(x), slice(None)).backward()
            self.join(model)
        brought = {
            "parameter.grad": {
                name: None if parameter.grad is None else parameter.grad.clone()
                for name, parameter in model.named_parameters()
            },
            "hooks afterwards": hooks(),
            "what runs afterwards": self.runs(case, model, x),
            "the error in the block": None,
        }
        gathered = snapshot(per_sample.gradients)  # as they are now: what a later block does to them, TwoBlocks asks
        try:
            with nb.function("PerSampleGradients")(model):
                raise ArithmeticError(case.words("error", 1)[0])
        except ArithmeticError as error:
            brought["the error in the block"] = str(error)
        left = [name for owner, names in zip(owners, before) for name in set(vars(owner)) - names]
        return {
            **brought,
            "hooks after an error": hooks(),
            "attributes left on modules and parameters": sorted(left),
            "what runs after an error": self.runs(case, model, x),
            "the trace of all attributes": attributes_on(model, case),
            "gradients of the block, after a pass outside": gathered,
        }

    def join(self, model):
        """Somebody else registers a hook in the block."""
        model.get_submodule(model.names[1]).register_forward_hook(lambda module, args, output: None)

    def runs(self, case, model, x):
        return what_runs(model, case, lambda: self.loss(case, model(x), slice(None)).backward())

    def truth(self, case):
        model, x = self.given(case)
        found = torch.autograd.grad(self.loss(case, model(x), slice(None)), list(model.parameters()))
        gradients = dict(zip(dict(model.named_parameters()), found))
        model, _ = self.with_hooks_of_others(case)
        self.join(model)
        hooks = {**hook_counts(model), "for all modules": 0}
        runs = as_before(self.runs(case, model, x))
        return {
            "parameter.grad": {
                name: case.tensor(f"before {name}", *gradient.shape) + gradient for name, gradient in gradients.items()
            },
            "hooks afterwards": hooks,
            "what runs afterwards": runs,
            "the error in the block": case.words("error", 1)[0],
            "hooks after an error": hooks,
            "attributes left on modules and parameters": [],
            "what runs after an error": runs,
            "the trace of all attributes": attributes_on(model, case),
            "gradients of the block, after a pass outside": self.each(case, *self.given(case)),
        }

    def mistakes(self, case):
        hooks = self.truth(case)["hooks afterwards"]

        def more(got):
            return None if any(got[kind] > count for kind, count in hooks.items()) else "no"

        def fewer(got):
            return None if any(got[kind] < count for kind, count in hooks.items()) else "no"

        return {
            "removes_other_hooks": {"hooks afterwards": Matches(fewer, "fewer")},
            "tool_hooks_left": {"hooks afterwards": Matches(more, "more")},
            "tool_not_after_error": {"hooks after an error": Matches(more, "more")},
        }


class TwoBlocks(OneBatch):
    """A second block, with a single sample and the other reduction, gathers its own results and leaves those of the first alone."""

    def probe(self, nb, case):
        model, x = self.given(case)
        first, second = (nb.function("PerSampleGradients")(model, reduction) for reduction in ("mean", "sum"))
        with first as one:
            self.loss(case, model(x), slice(None)).backward()
        with second as two:
            self.loss(case, model(x[:1] + 1), slice(None)).backward()
        return {"gradients of the second": two.gradients, "gradients of the first": one.gradients}

    def truth(self, case):
        model, x = self.given(case)
        return {
            "gradients of the second": self.each(case, model, x[:1] + 1),
            "gradients of the first": self.each(case, model, x),
        }

    def mistakes(self, case):
        model, x = self.given(case)
        shapes = {name: model.get_parameter(name).shape for name in linear_parameters(model)}
        squeezed = {name: shape for name, shape in shapes.items() if name.endswith("weight")}
        return {
            "tool_shared_results": AnyOf(
                {"gradients of the first": self.each(case, model, x[:1] + 1)},
                {"gradients of the first": {name: one / len(x) for name, one in self.each(case, model, x).items()}},
            ),
            "per_sample_squeezed": {"gradients of the second": such_that(lambda got: shaped(got, squeezed))},
            "tool_before_the_block": {
                "gradients of the second": such_that(lambda got: shaped(got, {n: (len(x), *shapes[n]) for n in shapes})),
                "gradients of the first": self.each(case, model, x),
            },
        }


class CallsNet(nn.Module):
    """A layer whose first result takes the longer way to the sum; another one whose results are multiplied."""

    def __init__(self, twice, other, size):
        super().__init__()
        self.names = twice, other
        self.add_module(twice, nn.Linear(4, 4))
        self.add_module(other, nn.Linear(4, size))
        self.last = nn.Linear(size, 3)

    def forward(self, x):
        twice, other = (getattr(self, name) for name in self.names)
        x = twice(torch.tanh(twice(x))) + twice(x)
        found = torch.tanh(other(x)) * other(x + 1)
        return self.last(found)


class SeveralCalls(OneBatch):
    """Where calls of a layer go several ways, `gradients` holds the sums, and `.grad` and x are as they would be without the tool."""

    reduction = "sum"
    blame = {"gradient of x": "per_sample_flags_x"}

    def given(self, case):
        model = case.build("net", CallsNet, *case.words("names", 2), case.integer("size", 4, 6))
        return model, case.tensor("x", case.integer("samples", 9, 12), 4)

    def slope(self, case, x):
        """What a backward of the probe's own brings for x, and another tensor where x requires no gradient."""
        if not x.requires_grad:
            return case.tensor("no gradient", *x.shape)
        return torch.autograd.grad((x * case.tensor("weight", *x.shape)).sum(), x)[0]

    def probe(self, nb, case):
        model, x = self.given(case)
        with nb.function("PerSampleGradients")(model, self.reduction) as per_sample:
            self.loss(case, model(x), slice(None)).backward()
        return {
            "gradients": per_sample.gradients,
            "parameter.grad": {name: parameter.grad for name, parameter in model.named_parameters()},
            "gradient of x": self.slope(case, x),
        }

    def truth(self, case):
        model, x = self.given(case)
        found = torch.autograd.grad(self.loss(case, model(x), slice(None)), list(model.parameters()))
        return {
            "gradients": self.each(case, model, x),
            "parameter.grad": dict(zip(dict(model.named_parameters()), found)),
            "gradient of x": case.tensor("no gradient", *x.shape),
        }

    def mistakes(self, case):
        wanted = self.truth(case)
        return {
            "per_sample_changes_grad": {"parameter.grad": other_than(wanted["parameter.grad"])},
        }


check("per_sample_gradients", OneBatch, SummedLoss, ReusedLayer, AnyModel, LeftAsItWas, TwoBlocks, SeveralCalls)


# --- Hidden checks: graders run them, learners do not get them. ---
class Pair(nn.Module):
    """One layer looks at both halves of a sample, another one at the product of what it finds."""

    def __init__(self, look, judge, size):
        super().__init__()
        self.names = (look, judge)
        self.add_module(judge, nn.Linear(size, 2, bias=False))
        self.add_module(look, nn.Sequential(nn.Linear(3, size), nn.Softplus()))

    def forward(self, x):
        look, judge = (getattr(self, name) for name in self.names)
        one, other = x.chunk(2, 1)
        return judge(look(one) * look(other).square())


class OfAPair(Check):
    """`gradients` holds the gradient of each sample's own loss, under the parameters' names."""

    def pair(self, case):
        model = case.build("a pair", Pair, *case.words("pair", 2), case.integer("what it finds", 3, 6))
        count = case.integer("pairs", 4, 8)
        return model, case.tensor("both halves", count, 6), case.tensor("judgement", count, 2)

    def probe(self, nb, case):
        model, x, wanted = self.pair(case)
        with nb.function("PerSampleGradients")(model) as per_sample:
            (model(x) - wanted).square().sum(1).mean().backward()
        return {"gradients of a pair": per_sample.gradients}

    def truth(self, case):
        model, x, wanted = self.pair(case)
        losses = (model(x) - wanted).square().sum(1)
        each = [torch.autograd.grad(loss, list(model.parameters()), retain_graph=True) for loss in losses]
        gradients = [Close(torch.stack(parts), rtol=1e-4, atol=1e-4) for parts in zip(*each)]
        return {"gradients of a pair": {name: found for (name, _), found in zip(model.named_parameters(), gradients)}}


check("per_sample_gradients", OfAPair)
