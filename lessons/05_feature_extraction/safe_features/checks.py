import contextlib
from collections import OrderedDict

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches, is_same
from nbproof.values.evidence import TensorRecord, snapshot
from course.models import TinyResNet
from course.awkward import awkward_models, bare_model, hooked_model, own_parameter_model, whole_numbers_model
from course.probing import calls_of, hook_counts, single_calls, statistics
from course.traces import gradients_from, gradients_of, what_runs
from course.truths import as_before, no_gradient_left, no_gradients_from


ERRORS = {
    r"AttributeError: '\w+' object has no attribute '\w+(\.\w+)+'": "dotted_name",
    r"KeyError: '\w+(\.\w+)+'": "dotted_name",
    r"AttributeError: '(Fork|Fragile|Sequential|_\w+)' object has no attribute '(conv1|bn1|relu|block|pool|fc)'": "typed_in_names",
    r"RuntimeError: Only Tensors created explicitly by the user .*deepcopy": "feat_deepcopy",
    r"RuntimeError: you can only change requires_grad flags of leaf": "feat_graph",
    r"TypeError: .*(argument 'input'|some of the arguments have invalid types).*tuple": "hook_replaces_output",
    r"AttributeError: 'tuple' object has no attribute 'dim'": "hook_replaces_output",
    r"StopIteration": "feat_first_parameter",
}


def close(tensors):
    return {name: Close(tensor, rtol=1e-4, atol=1e-4) for name, tensor in tensors.items()}


def attached(features):
    """The names of the features that require a gradient."""
    pairs = features.items() if isinstance(features, dict) else ()
    return sorted(str(name) for name, value in pairs if getattr(value, "requires_grad", False))


def reached_from(features, model, case):
    """What a backward from the features leaves in the model."""
    try:
        return gradients_from(features.values(), model, case)
    except AttributeError:  # no dict, and told as such
        return None


class AsItWas(Check):
    """`safe_features(model, layers, x)` is `{name: output}`, each value as it was when that layer had just run."""

    errors = ERRORS
    blame = {"features that require a gradient": "feat_graph"}

    def given(self, case):
        model = case.build("net", TinyResNet).eval()
        names = ["conv1", "bn1", "relu", "block.bn1", "block.conv2", "block.bn2", "block", "fc"]
        return model, case.shuffled("layers", names), case.tensor("x", 2, 3, *case.shape("size", 2, 6, 9))

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        features = nb.function("safe_features")(model, list(layers), x)
        brought = {"features": snapshot(features), "features that require a gradient": attached(features)}
        return {**brought, "gradients of the model, from the features": reached_from(features, model, case)}

    def truth(self, case):
        model, layers, x = self.given(case)
        seen = {call.name: call for call in reversed(calls_of(model, x))}
        return {
            "features": close({name: seen[name].output for name in layers}),
            "features that require a gradient": [],
            "gradients of the model, from the features": no_gradients_from(model, case),
        }

    def mistakes(self, case):
        model, layers, x = self.given(case)
        seen = {call.name: call for call in reversed(calls_of(model, x))}
        given, later = {name: seen[name].given for name in layers}, {name: seen[name].later for name in layers}

        def flaw(test):
            return {"features": Matches(lambda got: None if test(got) else "no", "this flaw")}

        def empty(value):
            return value is None or value == [] or (isinstance(value, TensorRecord) and not value.data)

        def same(got, value):
            return is_same(got, Close(value, rtol=1e-4, atol=1e-4))

        def pair(got):
            return any(same(one, seen[""].output) for one in got)

        return {
            "returns_nothing": {"features": None},
            "output_for_features": flaw(lambda got: (isinstance(got, list) and pair(got)) or pair([got])),
            "nothing_kept": flaw(lambda got: isinstance(got, dict) and all(map(empty, got.values()))),
            "loop_variable": flaw(lambda got: set(got) == {layers[-1]}),
            "name_in_name": flaw(lambda got: same(got["conv1"], seen["block.conv1"].output)),
            "all_layers": flaw(lambda got: set(got) > set(layers)),
            "dotted_name": flaw(lambda got: set(got) == {name.split(".")[-1] for name in layers}),
            "feat_alias": flaw(
                lambda got: all(same(got[name], seen[name].output) or same(got[name], later[name]) for name in layers)
            ),
            "input_or_output": {
                "features": AnyOf(close(given), {name: [Close(value)] for name, value in given.items()})
            },
        }


class AnyModel(AsItWas):
    """Any model is looked into, whatever its names, dtypes and dimensions are, and it runs in the modes that it is in."""

    cases = 1
    kinds = (
        "shared", "called_twice", "tied", "partly_frozen", "in_place_behind", "norm_in_eval", "mixed_modes", "none_place",
        "one_dim", "three_dim", "float64", "namedtuple", "dictionary", "look_alike",
    )
    errors = {
        **ERRORS,
        r"AttributeError: 'NoneType' object has no attribute '(register_forward_hook|_modules|named_\w+|children)'": "feat_empty_place",
        r"ValueError: (not enough|too many) values to unpack": "some_dimensions",
    }
    blame = {
        "features of a model in training mode, in another call": "changes_mode",
        "statistics of a model in training mode": "feat_runs_twice",
        "features of a model with batch norm in eval mode": "changes_mode",
        "features of a model with in-place operations behind its layers": "feat_alias",
        "features of a model in float64": "feat_digits_lost",
        "features of a model without parameters": "feat_digits_lost",
        "gradients of the features": "feat_graph",
        "features of a model with a hook of its owner": "feat_forward_called",
        "features of a model in which a layer gives whole numbers": "feat_digits_lost",
        "features of a model with names that look alike": "name_in_name",
    }

    def models(self, case):
        trains = case.build("trains", TinyResNet).train(), case.tensor("x", 4, 3, *case.shape("size", 2, 6, 9))
        return {
            "a model in training mode": trains, **bare_model(case), **own_parameter_model(case),
            **awkward_models(case, *self.kinds), **hooked_model(case), **whole_numbers_model(case),
        }

    def outputs(self, model, x):
        calls = single_calls(model, x)
        asked = ("fc", "fc1", "my_block.fc") if "fc1" in calls else calls
        return {name: calls[name].output for name in asked}

    def probe(self, nb, case):
        brought, safe, spent = {}, nb.function("safe_features"), self.models(case)
        for says, (model, x) in self.models(case).items():
            layers = case.shuffled(f"layers of {says}", list(self.outputs(*spent[says])))
            features = safe(model, layers, x)
            brought[f"features of {says}"] = snapshot(features)
            if says == "a model in which a layer gives its parameter":
                brought["gradients of the features"] = gradients_of(features, model, case)
            if says == "a model in training mode":
                brought[f"features of {says}, in another call"] = snapshot(safe(model, layers, x * 2))
                brought[f"statistics of {says}"] = statistics(model)
        return brought

    def truth(self, case):
        wanted = {f"features of {says}": close(self.outputs(*given)) for says, given in self.models(case).items()}
        says = "a model in training mode"
        model, x = self.models(case)[says]
        model(x)
        wanted[f"features of {says}, in another call"] = close(self.outputs(model, x * 2))
        shift = self.outputs(*self.models(case)["a model in which a layer gives its parameter"])
        gradients = {name: no_gradient_left(name, one, case) for name, one in shift.items()}
        return {**wanted, f"statistics of {says}": close(statistics(model)), "gradients of the features": gradients}

    def mistakes(self, case):
        model, x = self.models(case)["a model in training mode"]
        calm = {name: call.output for name, call in single_calls(model.eval(), x).items()}
        return {"changes_mode": {"features of a model in training mode": close(calm)}}


class NoHookLeft(AsItWas):
    """Afterwards the model has the hooks that it had before, and no others."""

    def hooked(self, case):
        model, layers, x = self.given(case)
        for name in ("bn1", "block"):
            model.get_submodule(name).register_forward_hook(lambda module, args, output: None)
        return model, layers, x

    def probe(self, nb, case):
        model, layers, x = self.hooked(case)
        nb.function("safe_features")(model, list(layers), x)
        return {
            "hooks on the model, 2 before": sum(hook_counts(model).values()),
            "what runs in model(x) afterwards": what_runs(model, case, lambda: model(x).sum().backward()),
        }

    def truth(self, case):
        model, _, x = self.hooked(case)
        return {
            "hooks on the model, 2 before": 2,
            "what runs in model(x) afterwards": as_before(
                what_runs(model, case, lambda: model(x).sum().backward())
            ),
        }

    def mistakes(self, case):
        return {
            "removes_other_hooks": {
                "hooks on the model, 2 before": Matches(lambda got: None if got < 2 else "no", "few")
            },
            "feat_hook_left": {"hooks on the model, 2 before": Matches(lambda got: None if got > 2 else "no", "more")},
        }


class TooHot(Exception):
    """What the model of the next check raises."""


class Fragile(nn.Module):
    """Runs its first layer, and raises before the second, or is interrupted there."""

    kind: type[BaseException] = TooHot

    def __init__(self, first, second, says):
        super().__init__()
        self.first, self.says = first, says
        self.add_module(first, nn.Linear(4, 4))
        self.add_module(second, nn.Linear(4, 4))

    def forward(self, x):
        raise self.kind(f"{self.says}: stopped at {getattr(self, self.first)(x).shape}")


class GoneAfterAnError(Check):
    """If the model raises an error or is interrupted, it reaches the caller, and the hooks are gone all the same."""

    errors = ERRORS
    blame = {
        "the model's error reaches the caller": "feat_error_swallowed", "what runs after an interrupt": "feat_error_skips",
    }

    def given(self, case):
        names = case.words("names", 2)
        model, x = case.build("net", Fragile, *names, *case.words("error", 1)), case.tensor("x", 2, 4)
        model.get_submodule(names[0]).register_forward_hook(lambda module, args, output: None)
        return model, names, x

    def runs(self, case, model, x):
        def run():
            with contextlib.suppress(TooHot):
                model(x)
            model.get_submodule(model.first)(x).sum().backward()

        return what_runs(model, case, run)

    def probe(self, nb, case):
        model, names, x = self.given(case)
        reached = "nothing"
        try:
            nb.function("safe_features")(model, names, x)
        except TooHot as error:
            reached = str(error)
        interrupted = self.given(case)[0]
        interrupted.kind = KeyboardInterrupt
        with contextlib.suppress(KeyboardInterrupt):
            nb.function("safe_features")(interrupted, names, x)
        interrupted.kind = TooHot
        return {
            "the model's error reaches the caller": reached != "nothing",
            "hooks on the model, 1 before": sum(hook_counts(model).values()),
            "what runs in the model afterwards": self.runs(case, model, x),
            "what runs after an interrupt": self.runs(case, interrupted, x),
            "the error that came out": reached,
        }

    def truth(self, case):
        model, _, x = self.given(case)
        return {
            "the model's error reaches the caller": True,
            "hooks on the model, 1 before": 1,
            "what runs in the model afterwards": as_before(self.runs(case, model, x)),
            "what runs after an interrupt": as_before(self.runs(case, model, x)),
            "the error that came out": f"{case.words('error', 1)[0]}: stopped at {model.get_submodule(model.first)(x).shape}",
        }

    def mistakes(self, case):
        return {
            "removes_other_hooks": {"hooks on the model, 1 before": 0},
            "feat_error_skips": {
                "hooks on the model, 1 before": Matches(lambda got: None if got > 1 else "no", "more")
            },
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
    """Each call's dict holds the layers that ran in this call, and no others."""

    errors = {**ERRORS, r"KeyError": "feat_not_run"}

    def given(self, case):
        names = case.words("names", 3)
        return case.build("net", Fork, *names), names, case.tensor("x", 2, 4, positive=True)

    def probe(self, nb, case):
        model, names, x = self.given(case)
        # A later call may change an earlier dict, so each is copied at once.
        first = snapshot(nb.function("safe_features")(model, list(names), x))
        second = snapshot(nb.function("safe_features")(model, list(names), -x))
        hooks = sum(hook_counts(model).values())
        return {
            "features of the first call": first, "features of the second call": second, "hooks on the model": hooks,
            "what runs in model(x) afterwards": self.runs(case, model, x),
        }

    def runs(self, case, model, x):
        return what_runs(model, case, lambda: (model(x) + model(-x)).sum().backward())

    def truth(self, case):
        model, (left, right, last), x = self.given(case)
        first, second = (
            {name: model.get_submodule(name)(x) for name, x in ((one, x), (last, model.get_submodule(one)(x)))}
            for one, x in ((left, x), (right, -x))
        )
        return {
            "features of the first call": close(first),
            "features of the second call": close(second),
            "hooks on the model": 0,
            "what runs in model(x) afterwards": as_before(self.runs(case, model, x)),
        }

    def mistakes(self, case):
        _, (left, right, last), _ = self.given(case)

        def keys(*names):
            return Matches(lambda got: None if set(got) == set(names) else "no", "these keys")

        return {
            "stale_result": {
                "features of the first call": keys(left, last),
                "features of the second call": keys(left, right, last),
            },
            "feat_not_run": {"features of the first call": keys(left, right, last)},
            "feat_hook_left": {"hooks on the model": Matches(lambda got: None if got else "no", "some")},
        }


class StaysTrue(Check):
    """The features of a call stay as they are when the model runs again, and when somebody writes into `x`."""

    errors = ERRORS

    def given(self, case):
        one, two = case.words("names", 2)
        layers = [(one, nn.Identity()), (two, nn.Linear(4, 4))]
        model = case.build("net", lambda: nn.Sequential(OrderedDict([(one, nn.Identity()), (two, nn.Linear(4, 4))])))
        return model, [name for name, _ in layers], case.tensor("x", 2, 4)

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        first = nb.function("safe_features")(model, list(layers), x)
        nb.function("safe_features")(model, list(layers), x * 2)
        again = snapshot(first)
        x.zero_()
        return {"features, after another call": again, "features, after x was set to 0": first}

    def truth(self, case):
        model, (one, two), x = self.given(case)
        features = close({one: x, two: model.get_submodule(two)(x)})
        return {"features, after another call": features, "features, after x was set to 0": features}

    def mistakes(self, case):
        model, (one, two), x = self.given(case)
        later = {one: x * 2, two: model.get_submodule(two)(x * 2)}
        zero = Matches(lambda got: None if not got[one].tensor().any() else "no", "zeros")
        return {
            "feat_one_dict": {"features, after another call": close(later)},
            "feat_alias": {"features, after x was set to 0": zero},
        }


check("safe_features", AsItWas, AnyModel, NoHookLeft, GoneAfterAnError, OnlyWhatRan, StaysTrue)


# --- Hidden checks: graders run them, learners do not get them. ---
class Draft(nn.Module):
    """Writes into what its layers put out. One of two layers runs, and which one says the batch. Another is not asked for."""

    def __init__(self, first, odd, even, other):
        super().__init__()
        self.names = (first, odd, even)
        for name in (*self.names, other):
            self.add_module(name, nn.Linear(3, 3))

    def forward(self, x):
        first, odd, even, other = self.children()
        x = first(input=other(x)).mul_(3)
        return (odd(x) if len(x) % 2 else even(x)).sub_(1).relu_()


class Rewritten(Check):
    """Features are what the layers put out at that moment, and stay so."""

    def draft(self, case):
        model = case.build("a draft", Draft, *case.words("layers of the draft", 4))
        return model, [case.tensor(f"draft of {rows} rows", rows, 3) for rows in (2, 5)]

    def edit(self, case, model, x):
        """Other weights before each call."""
        with torch.no_grad():
            for name, one in model.named_parameters():
                one += case.tensor(f"{name} for {len(x)} rows", *one.shape)

    def probe(self, nb, case):
        model, inputs = self.draft(case)
        layers, found = case.shuffled("layers of the draft, asked for", model.names), []
        for x in inputs:
            self.edit(case, model, x)
            found.append(nb.function("safe_features")(model, layers, x))
        for x in inputs:
            x.fill_(7)
        model(inputs[0])
        return {"features of both calls": found}

    def truth(self, case):
        model, inputs = self.draft(case)
        first, odd, even, other = model.children()
        wanted = []
        for x, last in zip(inputs, (even, odd)):
            self.edit(case, model, x)
            begun = first(other(x))
            name = model.names[1 + (last is even)]
            wanted.append(close({model.names[0]: begun.clone(), name: last(begun * 3)}))
        return {"features of both calls": wanted}


check("safe_features", Rewritten)
