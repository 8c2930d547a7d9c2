from functools import partial

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import Close, is_same
from nbproof.values.evidence import TensorRecord, snapshot
from course.models import TinyResNet
from course.probing import hook_counts, statistics
from course.traces import gradients_from, what_runs
from course.truths import ANYTHING, as_before, no_gradients_from, such_that

ERRORS = {
    r"(AttributeError: '\w+' object has no attribute|KeyError:) '\w+(\.\w+)+'": "dotted_name",
    r"RuntimeError: Inference tensors cannot be saved for backward": "feat_inference",
    r"TypeError: .*(argument 'input'|some of the arguments have invalid types).*tuple": "hook_replaces_output",
}


def close(tensors):
    return {name: Close(tensor, rtol=1e-4, atol=1e-4) for name, tensor in tensors.items()}


def reached_from(features, model, case):
    """What a backward from a layer on the features leaves in the model; what cannot be saved for it raises an error."""
    values = [one for one in features.values() if isinstance(one, torch.Tensor)] if isinstance(features, dict) else []
    reached = gradients_from([one * torch.ones((), requires_grad=True) for one in values], model, case)
    return {**reached, "features that require one": sum(one.requires_grad for one in values)}


def steps_of(net, x):
    """What some layers of TinyResNet get and return, and what is in that memory afterwards."""
    with torch.no_grad():
        stem = net.conv1(x)
        norm = net.bn1(stem)
        first = norm.relu()
        inner = net.block.bn1(net.block.conv1(first))
        conv2 = net.block.conv2(inner.relu())
        bn2 = net.block.bn2(conv2)
        block = (bn2 + first).relu()
        pooled = net.pool(block).flatten(1)
        fc = net.fc(pooled)
    given = {"conv1": x, "bn1": stem, "block.bn1": net.block.conv1(first), "block.bn2": conv2, "block": first, "fc": pooled}
    output = {"conv1": stem, "bn1": norm, "block.bn1": inner, "block.bn2": bn2, "block": block, "fc": fc}
    return given, output, {**output, "bn1": first, "block.bn1": inner.relu(), "block.bn2": block}


class AsItWas(Check):
    """`safe_features(model, layers, x)` is `{name: output}`, as when that layer had just run."""

    errors = ERRORS
    blame = {
        "gradients of the model, from the features": "feat_graph", "BatchNorm's statistics afterwards": "feat_runs_twice",
    }

    def given(self, case):
        layers = case.shuffled("layers", ["conv1", "bn1", "block.bn1", "block.bn2", "block", "fc"])
        return case.build("net", TinyResNet).train(), layers, case.tensor("x", 4, 3, *case.shape("size", 2, 6, 9))

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        features = nb.function("safe_features")(model, list(layers), x)
        return {
            "features": snapshot(features), "BatchNorm's statistics afterwards": snapshot(statistics(model)),
            "gradients of the model, from the features": reached_from(features, model, case),
        }

    def truth(self, case):
        (model, layers, x), (ran, _, _) = self.given(case), self.given(case)
        ran(x)
        return {
            "features": close({name: steps_of(model, x)[1][name] for name in layers}),
            "BatchNorm's statistics afterwards": close(statistics(ran)),
            "gradients of the model, from the features": {**no_gradients_from(model, case), "features that require one": 0},
        }

    def mistakes(self, case):
        model, layers, x = self.given(case)
        (before, output, later), calm = steps_of(model, x), steps_of(self.given(case)[0].eval(), x)[1]

        def same(got, value):
            return is_same(got, Close(value, rtol=1e-4, atol=1e-4))

        def empty(value):
            return value is None or value == [] or (isinstance(value, TensorRecord) and not value.data)

        return {
            "returns_nothing": {"features": None},
            "output_for_features": {"features": such_that(lambda got: isinstance(got, list) and any(same(one, output["fc"]) for one in got))},
            "nothing_kept": {"features": such_that(lambda got: isinstance(got, dict) and all(map(empty, got.values())))},
            "loop_variable": {"features": such_that(lambda got: set(got) == {layers[-1]})},
            "python_number": {"features": such_that(lambda got: not any(isinstance(one, TensorRecord) for one in got.values()))},
            "feat_alias": {"features": such_that(lambda got: all(same(got[one], output[one]) or same(got[one], later[one]) for one in layers))},
            "input_or_output": {"features": close({name: before[name] for name in layers})},
            "changes_mode": {"features": close({name: calm[name] for name in layers}), "BatchNorm's statistics afterwards": ANYTHING},
            "copied_model": {"BatchNorm's statistics afterwards": close(statistics(self.given(case)[0]))},
        }


class TooHot(Exception):
    """What the model of the next check raises."""


class Fragile(nn.Module):
    """Runs its first layer, and raises before the second."""

    def __init__(self, first, second, says):
        super().__init__()
        self.first, self.says = first, says
        self.add_module(first, nn.Linear(4, 4))
        self.add_module(second, nn.Linear(4, 4))

    def forward(self, x):
        raise TooHot(f"{self.says}: stopped at {getattr(self, self.first)(x).shape}")


class HooksAfterwards(Check):
    """Afterwards the model has the hooks that it had before, even after an error."""

    errors = ERRORS
    blame = {"the error that came out": "feat_error_swallowed"}

    def given(self, case):
        names = case.words("names", 2)
        broken, x = case.build("net", Fragile, *names, *case.words("error", 1)), case.tensor("x", 2, 4)
        works = case.build("works", nn.Sequential, nn.Linear(4, 4), nn.Tanh())
        for layer in (broken.get_submodule(names[0]), works[0]):
            layer.register_forward_hook(lambda module, args, output: None)
        return works, broken, x

    def runs(self, case, works, broken, x):
        layer = broken.get_submodule(broken.first)
        return [
            what_runs(model, case, lambda run=run: run(x).sum().backward(), f"afterwards {number}")
            for number, (model, run) in enumerate([(works, works), (broken, layer)])
        ]

    def probe(self, nb, case):
        works, broken, x = self.given(case)
        nb.function("safe_features")(works, ["0", "1"], x)
        layers, reached = [name for name, _ in broken.named_children()], "nothing"
        for names in ([*layers, "misspelt"], layers):
            try:
                nb.function("safe_features")(broken, names, x)
            except (AttributeError, KeyError, TooHot) as error:
                reached = str(error)
        return {
            "the number of hooks on the model (1 before)": sum(hook_counts(works).values()),
            "the number of hooks after an error (1 before)": sum(hook_counts(broken).values()),
            "the error that came out": reached, "what runs afterwards": self.runs(case, works, broken, x),
        }

    def truth(self, case):
        works, broken, x = self.given(case)
        return {
            "the number of hooks on the model (1 before)": 1, "the number of hooks after an error (1 before)": 1,
            "the error that came out": f"{broken.says}: stopped at {broken.get_submodule(broken.first)(x).shape}",
            "what runs afterwards": [as_before(one) for one in self.runs(case, works, broken, x)],
        }

    def mistakes(self, case):
        more = such_that(lambda got: got > 1)
        return {
            "removes_other_hooks": {"the number of hooks on the model (1 before)": 0},
            "feat_hook_left": {"the number of hooks on the model (1 before)": more},
            "feat_error_skips": {"the number of hooks after an error (1 before)": more},
        }


class Fork(nn.Module):
    """One of two layers, by the sign of the input; then a third."""

    def __init__(self, left, right, last):
        super().__init__()
        self.names = (left, right, last)
        for name in self.names:
            self.add_module(name, nn.Linear(4, 4))

    def forward(self, x):
        left, right, last = (getattr(self, name) for name in self.names)
        return last(left(x) if x.sum() > 0 else right(x))


class OnlyWhatRan(Check):
    """Each dict holds the layers that ran in its call, and later calls change nothing in it."""

    errors = {**ERRORS, r"KeyError": "feat_not_run"}

    def given(self, case):
        names = case.words("names", 3)
        return case.build("net", Fork, *names), names, case.tensor("x", 2, 4, positive=True)

    def probe(self, nb, case):
        model, names, x = self.given(case)
        first = nb.function("safe_features")(model, list(names), x)
        at_once = snapshot(first)
        second = snapshot(nb.function("safe_features")(model, list(names), -x))
        return {"what the first call returns": at_once, "what the second call returns": second, "what the first call returned, later": first}

    def truth(self, case):
        model, (left, right, last), x = self.given(case)
        first, second = (
            close({name: model.get_submodule(name)(x) for name, x in ((one, x), (last, model.get_submodule(one)(x)))})
            for one, x in ((left, x), (right, -x))
        )
        return {"what the first call returns": first, "what the second call returns": second, "what the first call returned, later": first}

    def mistakes(self, case):
        _, (left, right, last), _ = self.given(case)
        every = such_that(lambda got: set(got) == {left, right, last})
        return {
            "feat_not_run": {"what the first call returns": every},
            "feat_one_dict": {"what the first call returned, later": such_that(lambda got: right in got)},
        }


check("safe_features", AsItWas, HooksAfterwards, OnlyWhatRan)


# --- Hidden checks: graders run them, learners do not get them. ---
class Spill(Exception):
    """What the model below raises when its bucket is full."""


def still(case):
    """Layers whose outputs are written into. Their number, their order and which are left out, the seed says."""
    count = case.integer("coppers", 4, 6)
    order = case.words("names of the coppers", count)
    left_out = case.integer("left out", 1, count - 2)

    class Still(nn.Module):
        limit = count

        def __init__(self):
            super().__init__()
            for name in case.shuffled("as they hang", order):
                self.add_module(name, nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)))

        def forward(self, x):
            for number, name in enumerate(order):
                if number == self.limit:
                    raise Spill(name)
                if number != left_out:
                    x = self.get_submodule(name)(x).mul_(2).tanh_()
            return x

    model = case.build("a still", Still).train()
    model.get_submodule(order[0]).register_forward_hook(lambda module, args, output: None)
    layers = case.shuffled("asked for", [*order, f"{order[0]}.0", f"{order[-1]}.1"])
    return model, layers, [case.tensor("first batch", 5, 3), case.tensor("second batch", 4, 3)]


class Distilled(Check):
    """Features are what the layers return at that moment, and stay so; hooks are gone, even after an error."""

    def probe(self, nb, case):
        model, layers, batches = still(case)
        found = [nb.function("safe_features")(model, list(layers), x) for x in batches]
        moved, model.limit, error = snapshot(statistics(model)), len(layers) - 3, "none"
        try:
            nb.function("safe_features")(model, list(layers), batches[0])
        except Spill as spilt:
            error = str(spilt)
        model.limit = len(layers)
        return {
            "features": snapshot(found), "statistics": moved, "error": error,
            "what runs afterwards": what_runs(model, case, lambda: model(batches[0]).sum().backward()),
            "gradients": [reached_from(one, model, case) for one in found],
        }

    def truth(self, case):
        model, layers, batches = still(case)
        features, found = [], {}

        def keep(name, module, args, output):
            found[name] = output.detach().clone()

        hooks = [model.get_submodule(name).register_forward_hook(partial(keep, name)) for name in layers]
        for x in batches:
            found = {}
            model(x)
            features.append(close(found))
        for hook in hooks:
            hook.remove()
        moved, model.limit, error = close(statistics(model)), len(layers) - 3, "none"
        try:
            model(batches[0])
        except Spill as spilt:
            error = str(spilt)
        model.limit = len(layers)
        return {
            "features": features, "statistics": moved, "error": error,
            "what runs afterwards": as_before(what_runs(model, case, lambda: model(batches[0]).sum().backward())),
            "gradients": [{**no_gradients_from(model, case), "features that require one": 0}] * 2,
        }


check("safe_features", Distilled)
