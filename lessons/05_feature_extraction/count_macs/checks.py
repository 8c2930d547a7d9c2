import numbers
from math import prod as numel

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close
from nbproof.values.evidence import snapshot
from course.models import TinyResNet
from course.probing import hook_counts, statistics
from course.traces import what_runs
from course.truths import ANYTHING, as_before, such_that


def macs_of_one(model, x, beside=torch.ops.aten.bmm):
    """The MACs of the first example of a batch, by torch's own count, without products that are not a layer's."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(x[:1])
    flops = counter.get_flop_counts()["Global"]
    return sum(count for kind, count in flops.items() if kind is not beside) // 2  # a multiplication and an addition each


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
    by_torch, calls = x.shape[0] * macs_of_one(model, x, None), calls_of(model, x)
    weighty = [call for call in calls if isinstance(call[0], (nn.Linear, nn.Conv2d))]

    def total(of, calls=weighty):
        return sum(of(*call) for call in calls)

    def macs(m, i, o):
        return numel(o) * taps(m)

    def size(m, i=None, o=None):
        return m.weight.numel()

    def on_input(m, i, o):
        return macs(m, i, o) if isinstance(m, nn.Linear) else i[0] * size(m) * numel(i[2:])

    def of_outputs(m, i, o):
        return numel(o) * (m.out_features if isinstance(m, nn.Linear) else taps(m))

    def one_vector(m, i, o):
        return i[0] * size(m) if isinstance(m, nn.Linear) else macs(m, i, o)

    def numbers_of(*kinds):
        return total(lambda m, i, o: numel(o), [call for call in calls if isinstance(call[0], kinds)])

    exact, biased = total(macs), total(lambda m, i, o: macs(m, i, o) + numel(o) * (m.bias is not None))
    layers = [m for m in model.modules() if isinstance(m, (nn.Linear, nn.Conv2d))]
    norms, relus = numbers_of(nn.BatchNorm2d), numbers_of(nn.ReLU)
    tables = sum(m.embedding_dim**2 for m in model.modules() if isinstance(m, nn.Embedding))  # one row is looked up
    no_kinds = total(macs, [call for call in weighty if type(call[0]) in (nn.Linear, nn.Conv2d)])
    return {
        **({"feat_subclass": [no_kinds]} if no_kinds != exact else {}),
        "feat_batch_forgotten": [exact // x.shape[0]],
        "feat_flops": [2 * exact],
        "feat_bias": [biased, exact + biased],
        "feat_parameters": [
            total(size), sum(map(size, layers)),
            sum(one.numel() for one in model.parameters()),
            sum(one.numel() for m in layers for one in m.parameters()),
        ],
        "feat_input_size": [total(on_input), total(lambda m, i, o: numel(i) * taps(m)), total(lambda m, i, o: on_input(m, i, o) * (1 if isinstance(m, nn.Linear) else i[1])), total(lambda m, i, o: numel(i) * len(m.weight))],
        "feat_groups": [total(lambda m, i, o: numel(o) * taps(m, groups=False, sides=sides)) for sides in ((0, 1), (0, 0), (1, 1))],
        "feat_square": [total(lambda m, i, o: numel(o) * taps(m, sides=sides)) for sides in ((0, 0), (1, 1))],
        "feat_tokens": [total(one_vector)],
        "feat_positions": [total(lambda m, i, o: o[0] * size(m))],
        "feat_once_each": [total(macs, {id(call[0]): call for call in weighty}.values())],
        "feat_one_kind": [total(macs, [call for call in weighty if isinstance(call[0], k)]) for k in (nn.Linear, nn.Conv2d)],
        "feat_top_level": [total(macs, [call for call in weighty if call[0] in list(model.children())])],
        **({"feat_products": [by_torch]} if by_torch != exact else {}),
        "feat_other_layers": [exact + norms, exact + relus, exact + norms + relus, *([exact + tables] if tables else [])],
        "feat_outputs_only_counted": [numbers_of(nn.Linear, nn.Conv2d), numbers_of(nn.Module), total(of_outputs)],
        "feat_whole_weight": [total(lambda m, i, o: numel(o) * size(m))],
        "feat_one_output_channel": [total(lambda m, i, o: macs(m, i, o) // o[1])],
    }


def whole(number):
    """A number of any library as Python's own; everything else as it is."""
    if isinstance(number, numbers.Integral):
        return int(number)
    return float(number) if isinstance(number, numbers.Real) else number


def close(model):  # a run in eval mode moves no statistics, and counts as well as one in the model's own mode
    return {name: Close(one, 1e-4, 1e-4) for name, one in statistics(model).items()}


class WholeBatch(Check):
    """`count_macs(model, x)` is the MACs of all linear and convolution layers, for the whole batch."""

    field = "count_macs(model, x)"
    errors = {
        r"(AttributeError: '(int|float)' object has no attribute|TypeError: .*invalid types: \(!(int|float)!)": "hook_replaces_output",
        r"AttributeError: '(ReLU|BatchNorm2d|AdaptiveAvgPool2d|Residual|TinyResNet|Sequential|Tanh)' object has no attribute": "feat_every_module",
    }

    def given(self, case):
        height, width = case.shape("size", 2, 5, 12)
        model = case.build("net", TinyResNet, 4 + case.integer("more", 0, 3))
        return {"model": model, "x": case.tensor("x", self.batch(case), 3, height, width)}

    def batch(self, case):
        """Never the number that the case draws: whoever hands out something of ``x`` in its place counts another batch."""
        return 1 + case.integer("batch", 3, 9)

    def probe(self, nb, case):
        model, x = self.given(case).values()
        first, second = (whole(nb.function("count_macs")(model, x)) for _ in range(2))
        both = all(isinstance(count, (int, float)) for count in (first, second))
        return {
            self.field: first, "the same call again": second,
            "how much more the same call counts again": (second - first or 0) if both else 0,
        }

    def truth(self, case):
        macs = self.batch(case) * macs_of_one(*self.given(case).values())
        right = AnyOf(macs, float(macs))
        return {self.field: right, "the same call again": right, "how much more the same call counts again": ANYTHING}

    def mistakes(self, case):
        counts = {hint: AnyOf(*found, *map(float, found)) for hint, found in mistaken(**self.given(case)).items()}
        return {
            "returns_nothing": {self.field: None},
            "feat_not_summed": {self.field: such_that(lambda got: isinstance(got, (list, dict)) or hasattr(got, "tensor"))},
            "feat_goes_on": {"how much more the same call counts again": such_that(lambda got: got != 0)},
            **{hint: {self.field: count} for hint, count in counts.items()},
        }


class AnyConvolution(WholeBatch):
    """Strides, padding, groups and windows that are not square are counted by the output."""

    def given(self, case):
        one, two = case.integer("one", 2, 3), case.integer("two", 4, 5)

        def net():
            return nn.Sequential(
                nn.Conv2d(4, 8, (one, two), stride=(2, 1), padding=1, groups=2),
                nn.Conv2d(8, 8, 3, groups=8, dilation=2, padding=2, bias=False),
                nn.Sequential(nn.Tanh(), nn.Conv2d(8, 3, 1)),
            )

        return {"model": case.build("net", net), "x": case.tensor("x", self.batch(case), 4, 9, 11)}


class Mine(nn.Linear):
    """A kind of nn.Linear."""


class Rare(nn.Module):
    """A layer on inputs of more than two dimensions that runs three times, and one that never runs; an Embedding, and a product."""

    def __init__(self):
        super().__init__()
        self.spare, self.again, self.table = nn.Conv2d(3, 5, 3), Mine(6, 6), nn.Embedding(9, 6)

    def forward(self, x):
        for _ in range(3):
            x = self.again(x)
        x = x + self.table(torch.tensor([4]))
        return x.mT @ x


class UsedOrNot(WholeBatch):
    """Each call counts, for each vector of its input; a layer that is not used, and what is no layer, count as 0."""

    def given(self, case):
        return {"model": case.build("net", Rare), "x": case.tensor("x", self.batch(case), *case.shape("size", 2, 3, 5), 6)}


class LayerItself(WholeBatch):
    """The model may be such a layer itself."""

    blame = {"count_macs(model, x)": "feat_root_forgotten"}

    def given(self, case):
        return {"model": case.build("net", nn.Linear, 7, 4), "x": case.tensor("x", self.batch(case), 7)}

    def mistakes(self, case):
        return {}


class NothingLeft(WholeBatch):
    """The model runs once, and no hook is left on it."""

    blame = {"the number of hooks on the model": "feat_hook_left", "statistics afterwards": "feat_runs_twice"}

    def probe(self, nb, case):
        model, x = self.given(case).values()
        count = whole(nb.function("count_macs")(model, x[2:]))
        return {
            "the count": count, "statistics afterwards": snapshot(statistics(model)),
            "the number of hooks on the model": sum(hook_counts(model).values()),
            "what runs in model(x) afterwards": what_runs(model, case, lambda: model(x).sum().backward()),
        }

    def truth(self, case):
        model, x = self.given(case).values()
        macs, moved, kept = (self.batch(case) - 2) * macs_of_one(model, x), self.given(case)["model"], self.given(case)["model"]
        moved(x[2:])
        return {
            "the count": AnyOf(macs, float(macs)),
            "statistics afterwards": AnyOf(close(moved), close(kept)),
            "the number of hooks on the model": 0,
            "what runs in model(x) afterwards": as_before(what_runs(moved, case, lambda: moved(x).sum().backward())),
        }

    def mistakes(self, case):
        return {}


check("count_macs", WholeBatch, AnyConvolution, UsedOrNot, LayerItself, NothingLeft)


# --- Hidden checks: graders run them, learners do not get them. ---
def camera(case):
    """Lenses of many kinds, a film that is exposed several times, and one that is not; what and how often, the seed says."""
    count, rows, times = case.integer("lenses", 1, 3), case.integer("rows", 2, 5), case.integer("times", 2, 5)
    columns = rows + case.integer("more columns", 1, 4)
    lenses, channels = [], 4
    for number in range(count):
        window, wider = case.shape(f"window {number}", 2, 1, 4), 2 * case.integer(f"channels {number}", 2, 7)
        options = {"stride": case.shape(f"stride {number}", 2, 1, 2), "dilation": case.shape(f"dilation {number}", 2, 1, 2)}
        lenses.append((channels, wider, window, {**options, "groups": case.integer(f"groups {number}", 1, 2) if number else 2, "padding": 3}))
        channels = wider

    class Camera(nn.Module):
        def __init__(self):
            super().__init__()
            made = [nn.Conv2d(one, two, window, **options) for one, two, window, options in lenses]
            self.front = nn.Sequential(*made, nn.BatchNorm2d(channels), nn.AdaptiveAvgPool2d((rows, columns)))
            self.film, self.spare = nn.Linear(columns, columns), nn.Linear(columns, 4)

        def forward(self, x):
            x = self.front(x)
            for _ in range(times):
                x = torch.tanh(self.film(x))
            return x

    return case.build("a camera", Camera), case.tensor("what it sees", case.integer("pictures", 3, 9), 4, 9, 11)


class Pictures(Check):
    """The number is that of all MACs of one call, for the whole batch; the model is as it was."""

    def probe(self, nb, case):
        model, x = camera(case)
        counts = [whole(nb.function("count_macs")(model, one)) for one in (x, x[:2])]
        moved = snapshot(statistics(model))
        ran = what_runs(model, case, lambda: model(x).sum().backward())
        return {"MACs of a camera": counts, "statistics": moved, "what runs afterwards": ran}

    def truth(self, case):
        (model, x), (kept, _) = camera(case), camera(case)
        counts = []
        for one in (x, x[:2]):
            with FlopCounterMode(display=False) as counter:
                model(one)
            macs = counter.get_total_flops() // 2
            counts.append(AnyOf(macs, float(macs)))
        return {
            "MACs of a camera": counts,
            "statistics": AnyOf(close(model), close(kept)),
            "what runs afterwards": as_before(what_runs(model, case, lambda: model(x).sum().backward())),
        }


check("count_macs", Pictures)
