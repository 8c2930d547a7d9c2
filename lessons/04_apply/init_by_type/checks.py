import math
from contextlib import suppress
from functools import partial

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.awkward import awkward_models
from course.traces import what_runs
from course.truths import as_before, such_that

OLD = 7.25


class Stem(nn.Module):
    """Convolutions of all three kinds, with and without a bias, and batch norms."""

    def __init__(self):
        super().__init__()
        self.one = nn.Sequential(nn.Conv1d(24, 40, 5), nn.BatchNorm1d(40), nn.ReLU())
        self.two = nn.Sequential(nn.Conv2d(12, 36, 3, bias=False), nn.BatchNorm2d(36), nn.ReLU(), nn.MaxPool2d(2))
        self.three = nn.Sequential(nn.Conv3d(6, 30, (3, 2, 3)), nn.BatchNorm3d(30))


class Net(nn.Module):
    """A stem, and two linear layers, one of them wide."""

    def __init__(self):
        super().__init__()
        self.stem = Stem()
        self.head = nn.ModuleDict({"wide": nn.Linear(20, 200), "out": nn.Linear(200, 20)})


class ByTypeCheck(Check):
    """What the checks of this exercise share."""

    errors = {
        r"ValueError: Fan in and fan out": "init_needs_two_dimensions",
        r"AttributeError: 'NoneType' object": "absent_bias",
        r"TypeError: .*init_by_type\(\) (takes|missing) ": "apply_argument",
        r"(AttributeError|ModuleAttributeError): '\w*(Conv|Linear|Norm)\w*' object has no attribute": "name_is_not_type",
        r"AttributeError: '\w+' object has no attribute '(weight|bias)'": "not_every_module_has_it",
    }

    def told(self, weight):
        """What the statement asks about a weight, in numbers that do not depend on chance by much."""
        if weight is None:
            return None
        weight = weight.detach().double()
        fan_in = weight[0].numel()
        fan_out = weight.shape[0] * weight[0, 0].numel() if weight.dim() > 1 else fan_in
        spread = weight.std().item()
        return {
            "mean": weight.mean().item(),
            "spread": spread,
            "largest": weight.abs().max().item(),
            "fans": [fan_in, fan_out],
        }

    def applied(self, nb, case, factory):
        model = case.build("net", factory)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.fill_(OLD)
        model.apply(nb.function("init_by_type"))
        return model


def random_weight(xavier):
    """The test of a weight's distribution: what is wrong with it, or None."""

    def test(got):
        fan_in, fan_out = got["fans"]
        limit = math.sqrt(6 / (fan_in + fan_out))
        spread = limit / math.sqrt(3) if xavier else math.sqrt(2 / fan_in)
        if got["spread"] == 0:
            return f"everywhere {got['mean']:.4g}"
        if abs(got["mean"]) > 0.1 * spread:
            return f"around {got['mean']:.4g}, not around 0"
        if abs(got["spread"] / spread - 1) > 0.06:
            return f"spread by {got['spread']:.4g}, not by {spread:.4g}"
        # Of a thousand normal numbers some lie beyond 2.6 times the spread; uniform ones end at 1.73 times.
        if (got["largest"] > limit * 1.0001) if xavier else (got["largest"] < 2.4 * spread):
            return f"as far as {got['largest']:.4g}, with a spread of {got['spread']:.4g}"
        return None

    kind = "uniform between ±√(6 / (fan_in + fan_out))" if xavier else "normal, with a spread of √(2 / fan_in)"
    return Matches(test, kind)


class ByType(ByTypeCheck):
    """In a net with layers on several levels, every layer has the weight and the bias that the table asks for."""

    blame = {"numbers": "wrong_start", "weights": "init_not_by_table", "requires_grad": "init_not_trainable"}

    def layers(self, model, kinds):
        return {name: part for name, part in model.named_modules() if isinstance(part, kinds)}

    random = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
    norms = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)

    def probe(self, nb, case):
        model = self.applied(nb, case, Net)
        layers, norms = self.layers(model, self.random), self.layers(model, self.norms)
        numbers = {f"{name}.bias": part.bias for name, part in {**layers, **norms}.items()}
        return {
            "weights": {f"{name}.weight": self.told(part.weight) for name, part in layers.items()},
            "numbers": {**numbers, **{f"{name}.weight": part.weight for name, part in norms.items()}},
            "requires_grad": {name: one.requires_grad for name, one in model.named_parameters()},
            "what runs": self.runs(model, case),
        }

    def runs(self, model, case):
        """Which parameters a gradient reaches."""


        def run():
            with suppress(AttributeError):  # all are frozen
                sum(one.sum() for one in model.parameters() if one.requires_grad).backward()

        return what_runs(model, case, run)

    def truth(self, case):
        model = Net()
        layers, norms = self.layers(model, self.random), self.layers(model, self.norms)
        numbers = {
            f"{name}.bias": None if part.bias is None else torch.zeros_like(part.bias)
            for name, part in {**layers, **norms}.items()
        }
        return {
            "weights": {f"{name}.weight": random_weight(isinstance(part, nn.Linear)) for name, part in layers.items()},
            "numbers": {**numbers, **{f"{name}.weight": torch.ones_like(part.weight) for name, part in norms.items()}},
            "requires_grad": {name: True for name, _ in model.named_parameters()},
            "what runs": as_before(self.runs(model, case)),
        }

    def mistakes(self, case):
        truth = self.truth(case)
        xavier, kaiming = random_weight(True), random_weight(False)

        def weights(test):
            return {"weights": Matches(lambda got: None if test(got) else "no", "")}

        def of(name, xavier):
            return (name.startswith("head")) == xavier

        def old(one):
            return one["spread"] == 0 and abs(one["mean"] - OLD) < 1e-3

        def is_right(name, one):
            return truth["weights"][name].test(one) is None

        def by_fan_out(one):
            return kaiming.test({**one, "fans": one["fans"][::-1]}) is None

        def other_form(name, one):
            # The spread that is asked for, in the other distribution.
            fan_in, fan_out = one["fans"]
            spread = math.sqrt(2 / (fan_in + fan_out)) if of(name, True) else math.sqrt(2 / fan_in)
            return not is_right(name, one) and abs(one["spread"] / spread - 1) < 0.06 and abs(one["mean"]) < spread / 10

        def bias(name, right):
            layer = (
                name.endswith("bias") and right is not None and isinstance(Net().get_submodule(name[:-5]), self.random)
            )
            return AnyOf(right, torch.full_like(right, OLD)) if layer else right

        def norm(name, right):
            layer = isinstance(Net().get_submodule(name.rpartition(".")[0]), self.norms)
            return AnyOf(right, torch.full_like(right, OLD)) if layer else right

        numbers = truth["numbers"]
        return {
            "apply_changes_nothing": {
                **weights(lambda got: all(map(old, got.values()))),
                "numbers": {
                    name: right if right is None else torch.full_like(right, OLD) for name, right in numbers.items()
                },
            },
            "init_type_missed": AnyOf(
                weights(lambda got: all(old(one) or is_right(name, one) for name, one in got.items())),
                {
                    **weights(lambda got: all(is_right(*pair) for pair in got.items())),
                    "numbers": {name: norm(name, right) for name, right in numbers.items()},
                },
            ),
            "one_start_for_all_types": weights(
                lambda got: (
                    all(xavier.test(one) is None for one in got.values())
                    or all(kaiming.test(one) is None for one in got.values())
                    or all((kaiming if of(name, True) else xavier).test(one) is None for name, one in got.items())
                )
            ),
            "init_by_fan_out": weights(
                lambda got: all(
                    is_right(name, one) or (of(name, False) and by_fan_out(one)) for name, one in got.items()
                )
            ),
            "init_other_distribution": weights(
                lambda got: all(is_right(name, one) or other_form(name, one) for name, one in got.items())
            ),
            "init_all_equal": weights(lambda got: any(one["spread"] == 0 and not old(one) for one in got.values())),
            "absent_bias": {
                "numbers": Matches(
                    lambda got: None if any(got[n] is not None for n in numbers if numbers[n] is None) else "no", ""
                )
            },
            "bias_left_out": {"numbers": {name: bias(name, right) for name, right in numbers.items()}},
        }


class Bare(nn.Module):
    """Layers without a bias, batch norms without weight and bias."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(24, 40, 5, bias=False)
        self.norm = nn.BatchNorm1d(40, affine=False)
        self.out = nn.Sequential(nn.BatchNorm3d(4, affine=False), nn.Linear(20, 200, bias=False))


class NothingIsAdded(ByTypeCheck):
    """A weight or a bias that is not there stays away."""

    def probe(self, nb, case):
        model = self.applied(nb, case, Bare)
        return {
            "parameters": [name for name, _ in model.named_parameters()],
            "weights": {name: self.told(one) for name, one in model.named_parameters()},
        }

    def truth(self, case):
        names = ["conv.weight", "out.1.weight"]
        return {"parameters": names, "weights": {name: random_weight(name == "out.1.weight") for name in names}}

    def mistakes(self, case):
        return {"absent_bias": {"parameters": Matches(lambda got: None if len(got) > 2 else "no", "")}}


class Weighted(nn.Module):
    """A module of one's own, with names of parameters as layers have them."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(6, 4))
        self.bias = nn.Parameter(torch.rand(6))


class Others(nn.Module):
    """Modules that are none of the three types, and one that is."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(7, 6)
        norms = (nn.LayerNorm(6), nn.GroupNorm(2, 6), nn.InstanceNorm1d(6, affine=True), nn.SyncBatchNorm(6))
        self.norms = nn.ModuleList(norms)
        self.act = nn.PReLU(6)
        self.pair = nn.Bilinear(3, 4, 5)
        self.own = Weighted()
        self.up = nn.ModuleList([nn.ConvTranspose1d(3, 4, 2), nn.ConvTranspose2d(4, 3, 2)])
        self.out = nn.Linear(20, 200)


class OthersStay(ByTypeCheck):
    """The parameters of all other modules stay as they are."""

    blame = {"others": "init_reaches_too_far"}

    def others(self, model):
        return {name: one for name, one in model.named_parameters() if not name.startswith("out.")}

    def probe(self, nb, case):
        return {"others": self.others(self.applied(nb, case, Others))}

    def truth(self, case):
        return {"others": {name: torch.full_like(one, OLD) for name, one in self.others(Others()).items()}}


class Projection(nn.Linear):
    """A linear layer under another name."""


class SameSize(nn.Conv2d):
    """A convolution under another name."""


class Steady(nn.BatchNorm1d):
    """A batch norm under another name."""


class ConvLinearBatchNormBlock(nn.Module):
    """None of these itself, and a home for all of them."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.out = SameSize(12, 36, 3), Steady(36), Projection(20, 200)


class TypeNotName(ByTypeCheck):
    """Subclasses count, and a class that is only called like one of the types does not."""

    def probe(self, nb, case):
        block = self.applied(nb, case, ConvLinearBatchNormBlock)
        return {
            "conv": [self.told(block.conv.weight), block.conv.bias],
            "norm": [block.norm.weight, block.norm.bias],
            "out": [self.told(block.out.weight), block.out.bias],
        }

    def truth(self, case):
        return {
            "conv": [random_weight(False), torch.zeros(36)],
            "norm": [torch.ones(36), torch.zeros(36)],
            "out": [random_weight(True), torch.zeros(200)],
        }

    blame = {"conv": "name_is_not_type", "norm": "name_is_not_type", "out": "name_is_not_type"}


class EachKind(nn.Sequential):
    """A small layer of each kind."""

    def __init__(self):
        convs = nn.Conv1d(3, 4, 2), nn.Conv2d(3, 4, (2, 1)), nn.Conv3d(2, 3, 2)
        norms = nn.BatchNorm1d(3), nn.BatchNorm2d(4), nn.BatchNorm3d(2), nn.BatchNorm1d(3, track_running_stats=False)
        super().__init__(nn.Linear(4, 3), *convs, *norms)


class AnyModel(ByTypeCheck):
    """Shape and dtype stay; whatever it held, a layer is initialised: frozen, in eval mode, shared, or the model itself."""

    cases = 1
    blame = {
        "shapes and dtypes": "init_dtype_lost", "weights": "init_frozen_left_out", "numbers": "init_frozen_left_out",
        "one layer's weight minus another's": "init_same_numbers",
    }

    held_nan = "a layer of each kind, each of which held NaN"

    def models(self, case):
        kinds = awkward_models(case, "float64", "partly_frozen", "shared", "none_place", "the_layer")
        own = {
            "a layer of each kind in float64": case.build("each kind", EachKind).double(),
            "a layer of each kind, frozen, in eval mode": case.build("each kind", EachKind).requires_grad_(False).eval(),
            self.held_nan: case.build("each kind", EachKind),
        }
        return {**{says: model for says, (model, _) in kinds.items()}, **own}

    def probe(self, nb, case):
        forms, weights, numbers = {}, {}, {}
        for says, model in self.models(case).items():
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.fill_(math.nan if says == self.held_nan else OLD)
            model.apply(nb.function("init_by_type"))
            named = dict(model.named_parameters())
            forms[says] = {name: f"{tuple(one.shape)} {one.dtype}" for name, one in named.items()}
            weights[says] = {name: one for name, one in named.items() if one.dim() > 1}
            numbers[says] = {name: one for name, one in named.items() if one.dim() == 1}
        pairs = [nn.Sequential(kind(4, 4), kind(4, 4)) for kind in (nn.Linear, partial(nn.Conv1d, kernel_size=2))]
        apart = [pair.apply(nb.function("init_by_type"))[0].weight - pair[1].weight for pair in pairs]
        return {"shapes and dtypes": forms, "weights": weights, "numbers": numbers, "one layer's weight minus another's": apart}

    def truth(self, case):
        forms, weights, numbers = {}, {}, {}
        for says, model in self.models(case).items():
            named = dict(model.named_parameters())
            forms[says] = {name: f"{tuple(one.shape)} {one.dtype}" for name, one in named.items()}
            weights[says] = {name: a_start(one) for name, one in named.items() if one.dim() > 1}
            norms = {f"{name}.weight" for name, part in model.named_modules() if isinstance(part, ByType.norms)}
            numbers[says] = {
                name: torch.full_like(one, float(name in norms)) for name, one in named.items() if one.dim() == 1
            }
        apart = [Matches(lambda got: None if got.tensor().any() else "zero everywhere", "not zero")] * 2
        return {"shapes and dtypes": forms, "weights": weights, "numbers": numbers, "one layer's weight minus another's": apart}

    def mistakes(self, case):
        def only_nan_is_left(got):
            """A layer that held NaN still does; nothing else has kept what it held."""
            kept = any((one.tensor() == OLD).all() for named in got.values() for one in named.values())
            return not kept and any(one.tensor().isnan().any() for one in got[self.held_nan].values())

        still_nan = such_that(only_nan_is_left)
        return {"depends_on_old_value": AnyOf({"weights": still_nan}, {"numbers": still_nan})}


def a_start(weight):
    """The test of a weight that is too small for statistics: of its dtype, inside the limits if there are any, not all equal."""
    dtype = str(weight.dtype).removeprefix("torch.")
    limit = math.sqrt(6 / sum(weight.shape)) * 1.0001 if weight.dim() == 2 else math.inf

    def test(got):
        values = got.tensor()
        if got.dtype != dtype:
            return f"of {got.dtype}, not of {dtype}"
        return None if values.abs().max() <= limit and values.std() > 0 else f"as far as {values.abs().max():.4g}"

    return Matches(test, "uniform between ±√(6 / (fan_in + fan_out))" if weight.dim() == 2 else "random numbers")


class Adapted(nn.Linear):
    """A linear layer with another one inside, as adapters have it."""

    def __init__(self):
        super().__init__(4, 4)
        self.adapter = nn.Linear(4, 2)


class ThisOneModule(ByTypeCheck):
    """Called for a container or a layer, it leaves what is inside alone; called again, it starts anew; groups count in fan_in."""

    blame = {
        "layers inside a container": "init_reaches_too_far", "a layer inside a layer": "init_reaches_too_far",
        "numbers after a second call": "init_only_once",
        "weight with groups": "init_ignores_groups",
    }

    def probe(self, nb, case):
        init_by_type = nb.function("init_by_type")
        container = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Sequential(nn.Conv1d(4, 2, 3)))
        grouped, norm, adapted = nn.Conv2d(32, 64, 3, groups=4), nn.BatchNorm1d(5), Adapted()
        with torch.no_grad():
            for name, one in container.named_parameters():
                one.copy_(case.tensor(name, *one.shape))
            for name, one in adapted.adapter.named_parameters():
                one.copy_(case.tensor(f"adapter {name}", *one.shape))
            init_by_type(container)
            init_by_type(adapted)
            init_by_type(grouped)
            init_by_type(norm)
            norm.weight.copy_(case.tensor("trained weight", 5))
            norm.bias.copy_(case.tensor("trained bias", 5))
        init_by_type(norm)
        return {
            "layers inside a container": dict(container.named_parameters()),
            "a layer inside a layer": dict(adapted.adapter.named_parameters()),
            "numbers after a second call": [norm.weight, norm.bias],
            "weight with groups": self.told(grouped.weight),
        }

    def truth(self, case):
        container = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Sequential(nn.Conv1d(4, 2, 3)))
        return {
            "layers inside a container": {n: case.tensor(n, *one.shape) for n, one in container.named_parameters()},
            "a layer inside a layer": {"weight": case.tensor("adapter weight", 2, 4), "bias": case.tensor("adapter bias", 2)},
            "numbers after a second call": [torch.ones(5), torch.zeros(5)],
            "weight with groups": random_weight(False),
        }


check("init_by_type", ByType, NothingIsAdded, TypeNotName, OthersStay, AnyModel, ThisOneModule)


# --- Hidden checks: graders run them, learners do not get them. ---
def _one_of_each():
    return nn.ModuleList([nn.Linear(30, 150), nn.Conv1d(20, 50, 4), nn.BatchNorm1d(6), nn.Embedding(3, 4)])


class TimesNumbers(Check):
    """Of one more model each layer gets its start, and the others keep their numbers."""

    def probe(self, nb, case):
        model, factor = case.build("hidden model", _one_of_each), case.integer("hidden factor", 2, 999)
        with torch.no_grad():
            for name, one in model.named_parameters():
                one.copy_(case.tensor(f"before {name}", *one.shape))
        linear, conv, norm, embedding = model.apply(nb.function("init_by_type"))
        return {
            "spread of the weights, times a number": [factor * one.weight.std().item() for one in (linear, conv)],
            "biases, plus a number": [one.bias + factor for one in (linear, conv, norm)],
            "weight of the batch norm, times a number": norm.weight * factor,
            "weight of the embedding": embedding.weight,
        }

    def truth(self, case):
        factor = case.integer("hidden factor", 2, 999)
        spreads = [factor * math.sqrt(2 / (30 + 150)), factor * math.sqrt(2 / (20 * 4))]
        return {
            "spread of the weights, times a number": Close(spreads, rtol=0.1),  # of 4,000 random numbers
            "biases, plus a number": [torch.full((size,), float(factor)) for size in (150, 50, 6)],
            "weight of the batch norm, times a number": torch.full((6,), float(factor)),
            "weight of the embedding": case.tensor("before 3.weight", 3, 4),
        }


check("init_by_type", TimesNumbers)
