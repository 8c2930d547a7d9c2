import math

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.traces import gradients_from
from course.truths import such_that

OLD = 7.25


class Stem(nn.Module):
    """Convolutions and batch norms of all kinds, some without a bias."""

    def __init__(self):
        super().__init__()
        self.one = nn.Sequential(nn.Conv1d(24, 40, 5), nn.BatchNorm1d(40), nn.ReLU())
        self.two = nn.Sequential(nn.Conv2d(12, 36, 3, bias=False, groups=2), nn.BatchNorm2d(36), nn.ReLU(), nn.MaxPool2d(2))
        self.three = nn.Sequential(nn.Conv3d(6, 30, (3, 2, 3)), nn.BatchNorm3d(30))
        self.bare = nn.Sequential(nn.Conv1d(24, 40, 5, bias=False), nn.BatchNorm1d(40, affine=False))


class Net(nn.Module):
    """A stem, and two linear layers, one of them wide."""

    def __init__(self):
        super().__init__()
        self.stem = Stem()
        self.head = nn.ModuleDict({"wide": nn.Linear(20, 200), "out": nn.Linear(200, 20, bias=False)})


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
        weight = weight.detach().double()
        fans = [weight[0].numel(), weight.shape[0] * weight[0, 0].numel() if weight.dim() > 1 else weight.numel()]
        return {"mean": weight.mean().item(), "spread": weight.std().item(), "largest": weight.abs().max().item(), "fans": fans}

    def applied(self, nb, case, factory):
        model = case.build("net", factory)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.fill_(OLD)
        return model.apply(nb.function("init_by_type"))


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
    """Each layer, in a model or alone, has the weight and bias of the table; no weight or bias is added."""

    blame = {"numbers": "wrong_start", "weights": "init_not_by_table", "gradients": "init_not_trainable", "alone": "only_the_children"}

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
            "gradients": gradients_from((), model, case),
            "alone": self.told(self.applied(nb, case, lambda: nn.Linear(40, 50)).weight),
        }

    def truth(self, case):
        model = Net()
        layers, norms = self.layers(model, self.random), self.layers(model, self.norms)
        biases = {f"{name}.bias": part.bias for name, part in {**layers, **norms}.items()}
        ones = {f"{name}.weight": part.weight for name, part in norms.items()}
        return {
            "weights": {f"{name}.weight": random_weight(isinstance(part, nn.Linear)) for name, part in layers.items()},
            "numbers": {
                **{name: None if one is None else torch.zeros_like(one) for name, one in biases.items()},
                **{name: None if one is None else torch.ones_like(one) for name, one in ones.items()},
            },
            "gradients": gradients_from((), model, case),
            "alone": random_weight(True),
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

        numbers = truth["numbers"]

        def kept(end):
            """Numbers whose name ends like this are as they were."""
            return {n: AnyOf(one, torch.full_like(one, OLD)) if one is not None and n.endswith(end) else one for n, one in numbers.items()}

        return {
            "apply_changes_nothing": {
                **weights(lambda got: all(map(old, got.values()))),
                "numbers": {
                    name: right if right is None else torch.full_like(right, OLD) for name, right in numbers.items()
                },
            },
            "bias_left_out": {**weights(lambda got: all(is_right(*pair) for pair in got.items())), "numbers": kept("bias")},
            "init_type_missed": AnyOf(
                weights(lambda got: all(old(one) or is_right(name, one) for name, one in got.items())),
                {
                    **weights(lambda got: all(is_right(*pair) for pair in got.items())),
                    "numbers": kept(""),
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
        }


class Weighted(nn.Module):
    """A module of one's own, with names of parameters as layers have them."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(6, 4))
        self.bias = nn.Parameter(torch.rand(6))


class Projection(nn.Linear):
    """A linear layer under another name."""


class SameSize(nn.Conv2d):
    """A convolution under another name."""


class ConvLinearBatchNormBlock(nn.Module):
    """None of these itself, and a home for some of them, and for others."""

    def __init__(self):
        super().__init__()
        self.conv, self.out = SameSize(12, 36, 3), Projection(20, 200)
        others = [nn.Embedding(7, 6), nn.LayerNorm(6), nn.GroupNorm(2, 6), nn.InstanceNorm2d(6, affine=True), nn.PReLU(6), Weighted(), nn.Bilinear(3, 4, 5)]
        others += [nn.ConvTranspose1d(3, 4, 2), nn.ConvTranspose2d(4, 3, 2)]
        self.others = nn.ModuleDict({type(one).__name__: one for one in others})


class TypeNotName(ByTypeCheck):
    """Subclasses count; modules that only look or are called alike stay as they are."""

    blame = {"conv": "name_is_not_type", "out": "name_is_not_type", "others": "init_reaches_too_far"}

    def probe(self, nb, case):
        block = self.applied(nb, case, ConvLinearBatchNormBlock)
        return {
            "conv": [self.told(block.conv.weight), block.conv.bias],
            "out": [self.told(block.out.weight), block.out.bias],
            "others": dict(block.others.named_parameters()),
        }

    def truth(self, case):
        others = ConvLinearBatchNormBlock().others
        return {
            "conv": [random_weight(False), torch.zeros(36)],
            "out": [random_weight(True), torch.zeros(200)],
            "others": {name: torch.full_like(one, OLD) for name, one in others.named_parameters()},
        }


check("init_by_type", ByType, TypeNotName)


# --- Hidden checks: graders run them, learners do not get them. ---
class Steady(nn.Linear):
    """A linear layer by descent."""


def _some_of_each(case):
    """Layers of all kinds, in sizes and an order of the seed, and some that are in no row of the table."""
    n, m, k = (case.integer(f"hidden size {name}", 30, 60) for name in "nmk")
    layers = [nn.Linear(n, 2 * m), Steady(m, 2 * k, bias=False), nn.Conv1d(k, n, 3), nn.Conv2d(n // 3, m, 3, bias=False)]
    layers += [nn.Conv3d(n // 5, k, 2), nn.BatchNorm1d(n), nn.BatchNorm2d(m, affine=False), nn.BatchNorm3d(k)]
    layers += [nn.Embedding(k, 4), nn.LayerNorm(m), nn.InstanceNorm1d(n, affine=True), nn.ConvTranspose2d(n, 3, 2)]
    first, *rest = case.shuffled("hidden order", layers)
    return nn.Sequential(first, nn.Sequential(*rest[:5], nn.Sequential(*rest[5:])))


class TimesNumbers(Check):
    """In one more model each layer gets its initialisation, and the others keep their numbers."""

    def probe(self, nb, case):
        model, factor = case.build("hidden model", _some_of_each, case), case.integer("hidden factor", 2, 999)
        with torch.no_grad():
            for name, one in model.named_parameters():
                one.copy_(case.tensor(f"before {name}", *one.shape))
        model.apply(nb.function("init_by_type"))
        weights, numbers, others = [], [], []
        for part in model.modules():
            if isinstance(part, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)):
                deviation = part.weight.std()
                beyond = (part.weight.abs() > 2 * deviation).double().mean()
                weights.append([factor * deviation.item(), factor * beyond.item()])
                numbers.append(None if part.bias is None else part.bias + factor)
            elif isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
                numbers.append([None if one is None else one + factor for one in (part.weight, part.bias)])
            else:
                others += part.parameters(recurse=False)
        return {"spread and share beyond it, times a number": weights, "plus a number": numbers, "others": others}

    def truth(self, case):
        model, factor = _some_of_each(case), case.integer("hidden factor", 2, 999)
        weights, numbers, others = [], [], []
        named = {one: name for name, one in model.named_parameters()}
        for part in model.modules():
            if isinstance(part, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)):
                linear = isinstance(part, nn.Linear)
                spread = math.sqrt(2 / (sum(part.weight.shape) if linear else part.weight[0].numel()))
                beyond = 0.0 if linear else 0.0455  # a uniform number never lies so far out
                weights.append([Close(factor * spread, rtol=0.1), Close(factor * beyond, rtol=0.5)])
                numbers.append(None if part.bias is None else torch.full_like(part.bias, factor))
            elif isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
                sizes = (part.weight, part.bias)
                numbers.append([None if one is None else torch.full_like(one, factor + on) for one, on in zip(sizes, (1, 0))])
            else:
                others += [case.tensor(f"before {named[one]}", *one.shape) for one in part.parameters(recurse=False)]
        return {"spread and share beyond it, times a number": weights, "plus a number": numbers, "others": others}


check("init_by_type", TimesNumbers)
