import contextlib
import math
import numbers
from functools import partial

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.awkward import awkward_models, whole_numbers_model
from course.models import TinyResNet
from course.probing import hook_counts, statistics
from course.traces import what_runs
from course.truths import ANYTHING, as_before, other_than


def macs_of_one(model, x):
    """The MACs of the first example of a batch, by torch's own count, below the modules."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(x[:1])
    return counter.get_total_flops() // 2  # of each MAC it counts a multiplication and an addition


def calls_of(model, x):
    """(layer, input shape, output shape) of each call of a layer with a weight, without any hook."""
    calls = []

    def wrapped(module, forward):
        def run(x):
            output = forward(x)
            calls.append((module, x.shape, output.shape))
            return output

        return run

    for module in list(model.modules()):
        if isinstance(module, (nn.Linear, nn.Conv2d, nn.BatchNorm2d, nn.ReLU)):
            module.forward = wrapped(module, module.forward)
    model(x)
    return calls


def taps(module, groups=True, sides=(0, 1)):
    """Products for one number of the output; the last two arguments are for what people get wrong."""
    if isinstance(module, nn.Linear):
        return module.in_features
    window = module.kernel_size[sides[0]] * module.kernel_size[sides[1]]
    return module.in_channels // (module.groups if groups else 1) * window


def mistaken(model, x):
    """Counts that known misconceptions bring: hint id -> numbers."""
    calls = calls_of(model, x)
    weighty = [call for call in calls if isinstance(call[0], (nn.Linear, nn.Conv2d))]
    numel = math.prod

    def total(of, calls=weighty):
        return sum(of(*call) for call in calls)

    def macs(m, i, o):
        return numel(o) * taps(m)

    def size(m, i=None, o=None):
        return m.weight.numel()

    def on_input(m, i, o):
        return macs(m, i, o) if isinstance(m, nn.Linear) else i[0] * size(m) * numel(i[2:])

    def own_formula(m, i, o):
        if isinstance(m, nn.Linear):
            return macs(m, i, o)
        stops = ((n + 2 * p - k) // s + 1 for n, p, k, s in zip(i[2:], m.padding, m.kernel_size, m.stride))
        return i[0] * size(m) * numel(stops)

    def squared(m, i, o, side):
        return macs(m, i, o) if isinstance(m, nn.Linear) else numel(o[:2]) * o[side] ** 2 * taps(m)

    def one_vector(m, i, o):
        return i[0] * size(m) if isinstance(m, nn.Linear) else macs(m, i, o)

    def off_the_edge(m, i, o):
        if isinstance(m, nn.Linear):
            return macs(m, i, o)
        ones = torch.ones(1, 1, *i[2:]), torch.ones(1, 1, *m.kernel_size)
        hits = nn.functional.conv2d(*ones, None, m.stride, m.padding, m.dilation)
        return int(hits.sum()) * o[0] * o[1] * m.weight.shape[1]

    def numbers_of(*kinds):
        return total(lambda m, i, o: numel(o), [call for call in calls if isinstance(call[0], kinds)])

    exact, biased = total(macs), total(lambda m, i, o: macs(m, i, o) + numel(o) * (m.bias is not None))
    layers = [m for m in model.modules() if isinstance(m, (nn.Linear, nn.Conv2d))]
    used = {id(call[0]): call for call in weighty}
    spare, once = sum(size(m) for m in layers if id(m) not in used), total(macs, used.values())
    norms, relus = numbers_of(nn.BatchNorm2d), numbers_of(nn.ReLU)
    return {
        "feat_batch_forgotten": [exact // x.shape[0]],
        "feat_flops": [2 * exact],
        "feat_bias": [biased, exact + biased],
        "feat_parameters": [
            total(size),
            sum(map(size, layers)),
            sum(one.numel() for one in model.parameters()),
            sum(one.numel() for m in layers for one in m.parameters()),
        ],
        "feat_input_size": [total(on_input), total(own_formula)],
        "feat_padding": [total(off_the_edge)],
        "feat_square_output": [total(partial(squared, side=side)) for side in (2, 3)],
        "feat_groups": [total(lambda m, i, o: numel(o) * taps(m, groups=False))],
        "feat_square": [total(lambda m, i, o: numel(o) * taps(m, sides=sides)) for sides in ((0, 0), (1, 1))],
        "feat_tokens": [total(one_vector)],
        "feat_once_each": [once],
        "feat_unused": [counted + spare * times for counted in (once, exact) for times in (1, x.shape[0])],
        "feat_one_kind": [
            total(macs, [call for call in weighty if type(call[0]) is k]) for k in (nn.Linear, nn.Conv2d)
        ],
        "feat_top_level": [total(macs, [call for call in weighty if call[0] in list(model.children())])],
        "feat_other_layers": [exact + norms, exact + relus, exact + norms + relus],
        "feat_outputs_only_counted": [numbers_of(nn.Linear, nn.Conv2d), numbers_of(nn.Module)],
        "feat_one_output_channel": [total(lambda m, i, o: macs(m, i, o) // o[1])],
    }


def whole(number):
    """A number of any library as Python's own; everything else as it is."""
    if isinstance(number, numbers.Integral):
        return int(number)
    return float(number) if isinstance(number, numbers.Real) else number


class WholeBatch(Check):
    """`count_macs(model, x)` is the number of MACs of all linear and convolution layers, for the whole batch."""

    field = "count_macs(model, x)"
    errors = {
        r"StopIteration": "feat_first_parameter",
        r"(AttributeError: '(int|float)' object has no attribute|TypeError: .*invalid types: \(!(int|float)!)": "hook_replaces_output",
        r"RuntimeError: (\w+: )?(shape|The size|mat1|Given)": "shapes_do_not_fit",
        r"KeyError: (Conv2d|Linear)\(": "feat_unused",
        r"AttributeError: '(ReLU|BatchNorm2d|AdaptiveAvgPool2d|Residual|TinyResNet|Sequential|Tanh)' object has no attribute": "feat_every_module",
    }

    def given(self, case):
        height, width = case.shape("size", 2, 5, 12)
        model = case.build("net", TinyResNet, 4 + case.integer("more", 0, 3))
        return {"model": model, "x": case.tensor("x", self.batch(case), 3, height, width)}

    def batch(self, case):
        """Never the number that the case draws: whoever hands out something of ``x`` in its place counts another batch."""
        return 1 + case.integer("batch", 3, 9)

    def macs(self, case):
        """Of the whole batch, of which the truth counts one example."""
        return self.batch(case) * macs_of_one(*self.given(case).values())

    def probe(self, nb, case):
        model, x = self.given(case).values()
        first, second = (whole(nb.function("count_macs")(model, x)) for _ in range(2))
        both = all(isinstance(count, (int, float)) for count in (first, second))
        return {
            self.field: first, "the same call again": second,
            "how much more the same call counts again": (second - first or 0) if both else 0,
        }

    def truth(self, case):
        macs = self.macs(case)
        right = AnyOf(macs, float(macs))
        return {self.field: right, "the same call again": right, "how much more the same call counts again": ANYTHING}

    def mistakes(self, case):
        counts = {hint: AnyOf(*found, *map(float, found)) for hint, found in mistaken(**self.given(case)).items()}
        millions = self.macs(case) / 1e6
        return {
            "returns_nothing": {self.field: None},
            "feat_millions": {self.field: Matches(_near(millions), "millions")},
            "feat_not_summed": {self.field: Matches(_parts, "parts")},
            "feat_goes_on": {"how much more the same call counts again": other_than(0)},
            **{hint: {self.field: count} for hint, count in counts.items()},
        }


def _near(millions):
    return lambda got: None if isinstance(got, float) and got and abs(got - millions) < 0.06 else "no"


def _parts(got):
    return None if isinstance(got, (list, dict)) else "no"


class AnyConvolution(WholeBatch):
    """Strides, padding, dilation, groups and windows that are not square are counted by the output that they bring."""

    def given(self, case):
        one, two = case.integer("one", 2, 3), case.integer("two", 4, 5)

        def net():
            return nn.Sequential(
                nn.Conv2d(4, 8, (one, two), stride=(2, 1), padding=1, groups=2),
                nn.Conv2d(8, 8, 3, groups=8, dilation=2, padding=2, bias=False),
                nn.Sequential(nn.Tanh(), nn.Conv2d(8, 3, 1)),
            )

        return {"model": case.build("net", net), "x": case.tensor("x", self.batch(case), 4, 9, 11)}


class Rare(nn.Module):
    """One layer that runs three times, and one that never runs."""

    def __init__(self):
        super().__init__()
        self.spare = nn.Conv2d(3, 5, 3)
        self.again = nn.Conv2d(3, 3, 3)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        for _ in range(3):
            x = self.again(x)
        return self.head(x.mean((2, 3)))


class UsedOrNot(WholeBatch):
    """Each call counts, also where a layer is used several times; a layer that is not used counts as 0."""

    def given(self, case):
        return {"model": case.build("net", Rare), "x": case.tensor("x", self.batch(case), 3, *case.shape("size", 2, 9, 14))}


class NoHookLeft(WholeBatch):
    """A later call counts its own input, and no hook is left on the model."""

    blame = {"hooks on the model": "feat_hook_left", "statistics after two counts": "feat_runs_twice"}

    def probe(self, nb, case):
        model, x = self.given(case).values()
        nb.function("count_macs")(model, x)
        count = whole(nb.function("count_macs")(model, x[2:]))
        return {
            "the second count": count,
            "statistics after two counts": statistics(model),
            "hooks on the model": sum(hook_counts(model).values()),
            "what runs in model(x) afterwards": what_runs(model, case, lambda: model(x).sum().backward()),
        }

    def truth(self, case):
        model, x = self.given(case).values()
        macs, before = (self.batch(case) - 2) * macs_of_one(model, x), statistics(self.given(case)["model"])
        runs = as_before(what_runs(model, case, lambda: model(x).sum().backward()))
        moved, batches = self.given(case)["model"], (x, x[2:])
        for batch in batches:
            moved(batch)
        # Whoever counts in eval mode, and puts the modes back, moves none of them.
        once = {name: AnyOf(Close(one, 1e-4, 1e-4), before[name]) for name, one in statistics(moved).items()}
        return {
            "the second count": AnyOf(macs, float(macs)),
            "statistics after two counts": once,
            "hooks on the model": 0,
            "what runs in model(x) afterwards": runs,
        }

    def mistakes(self, case):
        macs = self.macs(case)
        return {"stale_result": {"the second count": AnyOf(macs, float(macs))}}


def interrupted(x):
    """What a layer does when somebody presses the stop button."""
    raise KeyboardInterrupt


class AfterAnError(WholeBatch):
    """No hook is left either if the model raises an error or is interrupted, and the model stays in its mode."""

    cases = 1
    blame = {
        "hooks on the model after an error": "feat_error_skips", "what runs in model(x) after an error": "changes_mode",
        "the next count": "feat_goes_on",
    }

    def given(self, case):
        def net():
            return nn.Sequential(nn.Linear(4, 3), nn.Sequential(nn.Tanh()), nn.Linear(3, 2))

        return {"model": case.build("net", net), "x": case.tensor("x", self.batch(case), 4)}

    def probe(self, nb, case):
        model, x = self.given(case).values()
        model[1].eval()
        with contextlib.suppress(RuntimeError):  # the shape does not fit
            nb.function("count_macs")(model, torch.cat([x, x], 1))
        model[1].forward = interrupted
        with contextlib.suppress(KeyboardInterrupt):
            nb.function("count_macs")(model, x)
        del model[1].forward
        hooks = sum(hook_counts(model).values())
        runs = what_runs(model, case, lambda: model(x).sum().backward())
        count = whole(nb.function("count_macs")(model, x))
        return {"hooks on the model after an error": hooks, "what runs in model(x) after an error": runs, "the next count": count}

    def truth(self, case):
        model, x = self.given(case).values()
        model[1].eval()
        runs = as_before(what_runs(model, case, lambda: model(x).sum().backward()))
        macs = self.macs(case)
        right = AnyOf(macs, float(macs))
        return {"hooks on the model after an error": 0, "what runs in model(x) after an error": runs, "the next count": right}

    def mistakes(self, case):
        model, x = self.given(case).values()
        runs = what_runs(model, case, lambda: model(x).sum().backward())
        return {"feat_one_mode_for_all": {"what runs in model(x) after an error": runs}}


class Turn(nn.Module):
    """Its numbers say which of two layers runs."""

    def __init__(self):
        super().__init__()
        self.wide, self.narrow = nn.Linear(4, 5), nn.Linear(4, 2, bias=False)

    def forward(self, x):
        return self.wide(x) if x.sum() > 0 else self.narrow(x)


class EachCallAfresh(WholeBatch):
    """What runs is counted at each call, also for another input of the same shape."""

    cases = 1
    blame = {"count for -x, after that for x": "stale_result"}

    def given(self, case):
        return {"model": case.build("net", Turn), "x": case.tensor("x", self.batch(case), 4, positive=True)}

    def probe(self, nb, case):
        model, x = self.given(case).values()
        first, second = (whole(nb.function("count_macs")(model, one)) for one in (x, -x))
        return {"count for x": first, "count for -x, after that for x": second}

    def truth(self, case):
        model, x = self.given(case).values()
        counts = [self.batch(case) * macs_of_one(model, one) for one in (x, -x)]
        first, second = (AnyOf(macs, float(macs)) for macs in counts)
        return {"count for x": first, "count for -x, after that for x": second}

    def mistakes(self, case):
        return {}


class BigNumbers(WholeBatch):
    """A big count is exact as well: more than 16,777,216, from where float32 leaves out every other number."""

    cases = 1

    def given(self, case):
        return {"model": case.build("net", lambda: nn.Sequential(nn.Linear(257, 257))), "x": case.tensor("x", self.batch(case), 257)}

    def batch(self, case):
        return 257 + 2 * case.integer("batch", 0, 9)

    def truth(self, case):
        macs = self.macs(case)
        exact = Matches(lambda got: None if got == macs else f"{got}", f"just {macs}")  # a tolerance would let it be rounded
        return {**super().truth(case), self.field: exact, "the same call again": exact}

    def mistakes(self, case):
        macs = self.macs(case)
        near = Matches(lambda got: None if 0 < abs(got - macs) < 10 else "no", "a rounded count")
        return {"feat_rounded": {self.field: near}, **super().mistakes(case)}


class ManyTokens(WholeBatch):
    """A linear layer on inputs with more than two dimensions works for each of the vectors."""

    def given(self, case):
        def net():
            return nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 3, bias=False))

        return {"model": case.build("net", net), "x": case.tensor("x", self.batch(case), *case.shape("size", 2, 3, 7), 5)}


class AnyModel(WholeBatch):
    """The layers of any model are counted, whatever its names, dtypes and dimensions are, also if it is itself the layer."""

    cases = 1
    kinds = (
        "shared", "called_twice", "tied", "partly_frozen", "in_place_behind", "norm_in_eval", "mixed_modes", "none_place",
        "one_dim", "three_dim", "float64", "namedtuple", "dictionary", "look_alike", "the_layer",
    )
    errors = {
        **WholeBatch.errors,
        r"AttributeError: 'NoneType' object has no attribute": "feat_empty_place",
        r"AttributeError: '\w+' object has no attribute '(shape|numel|size|dim)'": "feat_every_module",
        r"(ValueError: (not enough|too many) values to unpack|IndexError)": "some_dimensions",
    }
    blame = {
        "MACs of a model that is one layer itself": "feat_root_forgotten",
        "MACs of a model with tied weights": "feat_tied_once",
        "MACs of a model in which a layer gives whole numbers": "feat_other_layers",
        "MACs of a model with one layer under two names": "feat_under_each_name",
    }

    def probe(self, nb, case):
        count, found = nb.function("count_macs"), {}
        for number, (says, (model, x)) in enumerate(self.models(case).items()):
            found[f"MACs of {says}"] = whole(count(model, torch.cat([x] * self.times(case, number, x))))
        return found

    def models(self, case):
        bare = nn.Sequential(nn.Tanh(), nn.Flatten()), case.tensor("x without parameters", 2, 4)
        return {**awkward_models(case, *self.kinds), **whole_numbers_model(case), "a model without parameters": bare}

    def times(self, case, number, x):
        """Each on a batch that follows from the seed, or else the number would say nothing."""
        return 1 if x.dim() == 1 else case.integer(f"times {number}", 2, 5)

    def truth(self, case):
        wanted = {}
        for number, (says, (model, x)) in enumerate(self.models(case).items()):
            batch = x[None] if x.dim() == 1 else x
            macs = self.times(case, number, x) * len(batch) * macs_of_one(model, batch)
            wanted[f"MACs of {says}"] = AnyOf(macs, float(macs))
        return wanted

    def mistakes(self, case):
        return {}


check(
    "count_macs", WholeBatch, AnyConvolution, UsedOrNot, NoHookLeft, AfterAnError, EachCallAfresh, BigNumbers, ManyTokens, AnyModel
)


# --- Hidden checks: graders run them, learners do not get them. ---
class Camera(nn.Module):
    """A convolution of its own kind with a norm behind it, a layer that runs several times, and one that does not run."""

    def __init__(self, channels, size, times):
        super().__init__()
        lens = nn.Conv2d(4, 2 * channels, (2, 3), stride=2, padding=1, dilation=(1, 2), groups=2, bias=False)
        self.front, self.times = nn.Sequential(lens, nn.BatchNorm2d(2 * channels), nn.ReLU()), times
        self.film, self.spare = nn.Linear(size, size), nn.Linear(size, 4)

    def forward(self, x):
        x = self.front(x)
        for _ in range(self.times):
            x = torch.tanh(self.film(x))
        return x


class Pictures(Check):
    """The number is that of all MACs of one call, for the whole batch."""

    def sizes(self, case):
        """Never as many rows as columns: whoever takes one for the other counts something else."""
        names = {"pictures": (3, 19), "channels": (3, 17), "rows": (2, 13), "more columns": (1, 9), "times": (2, 7)}
        return [case.integer(f"{name} of the camera", *ends) for name, ends in names.items()]

    def probe(self, nb, case):
        pictures, channels, rows, more, times = self.sizes(case)
        model = case.build("a camera", Camera, channels, rows + more, times)
        x = case.tensor("what it sees", pictures, 4, 2 * rows - 2, 2 * (rows + more) + 1)
        return {"MACs of a camera": whole(nb.function("count_macs")(model, x))}

    def truth(self, case):
        pictures, channels, rows, more, times = self.sizes(case)
        places = pictures * 2 * channels * rows * (rows + more)
        macs = places * (2 * 2 * 3) + times * places * (rows + more)
        return {"MACs of a camera": AnyOf(macs, float(macs))}


check("count_macs", Pictures)
