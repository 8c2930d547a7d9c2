import warnings
from contextlib import ExitStack
from unittest.mock import patch

import torch
import torch.nn as nn
import torch.nn.modules.module as everywhere

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from course.awkward import KINDS, awkward_models
from course.probing import hook_counts
from course.truths import such_that

POISON = ("model", "net", "module", "x", "layer")
FOUR_KINDS = ("forward_pre", "forward", "backward_pre", "backward")
NO_LIST = Matches(lambda got: "a list" if isinstance(got, list) else None, "no list")
ERRORS = {
    r"AttributeError: '(?!Tensor|Parameter|NoneType)\w+' object has no attribute 'register_hook'": "register_hook_on_module",
    r"AttributeError: 'Tensor' object has no attribute '(named_\w+|modules|children|register_\w+)'": "function_uses_global",
    r"RuntimeError: (Backward hook|hook '.*' has changed)": "watcher_changes_gradient",
    r"TypeError: (.*must be Tensor, not|\w+\.forward\(\) takes)": "watcher_changes_output",
    r"TypeError: '(NoneType|tuple|str)' object is not callable": "event_log_calls_hook",
}


def nested_net():
    return nn.Sequential(nn.Sequential(nn.Linear(3, 4), nn.Tanh()), nn.Sequential(nn.Linear(4, 2), nn.Sigmoid()))


class OfTheLog(Check):
    """What all checks of event_log have in common: the log that they want is made by the four hooks for all modules at once."""

    def by_definition(self, case):
        """What a run brings if its logs hold, under the names in their model, whatever modules were called since each began.

        They are filled when the run is over: while it goes on, nobody has a list that grows.
        """
        begun, events = [], []

        def start(model):
            begun.append(({module: name for name, module in model.named_modules()}, len(events), []))
            return begun[-1][2]

        def writes(kind):
            return lambda module, *others: events.append((kind, module))

        with ExitStack() as hung, patch.object(everywhere, "_global_is_full_backward_hook", None):
            hung.enter_context(everywhere.register_module_forward_pre_hook(writes("forward_pre")))
            hung.enter_context(everywhere.register_module_forward_hook(writes("forward")))
            hung.enter_context(everywhere.register_module_full_backward_pre_hook(writes("backward_pre")))
            hung.enter_context(everywhere.register_module_full_backward_hook(writes("backward")))
            found = self.run(case, start)
        for names, first, log in begun:
            log.extend((kind, names[module]) for kind, module in events[first:] if module in names)
        return found


def log_without(log, *names):
    return [[kind, name] for kind, name in log if name not in names]


def log_of_kinds(log, *kinds):
    return [[kind, name] for kind, name in log if kind in kinds]


def same_but_for(log, index):
    """As many entries as wanted, right but for the kinds (0) or the names (1)."""

    def test(got):
        fits = len(got) == len(log) and [one[1 - index] for one in got] == [two[1 - index] for two in log]
        return None if fits and [tuple(one) for one in got] != log[::-1] else "another list"

    return Matches(test, "the same but for one part")


def in_another_order(log):
    """The wanted entries in another order."""
    entries = sorted([kind, name] for kind, name in log)
    return Matches(lambda got: None if sorted(got) == entries else "other entries", "another order")


class OneRun(OfTheLog):
    """One forward and one backward of a nested model are logged as they happen; a hook of others runs as before."""

    poison = POISON
    errors = ERRORS
    blame = {"output": "watcher_changes_output", "x.grad": "watcher_changes_gradient"}

    claims = ("log",)  # the answer itself

    def run(self, case, start):
        model, x = case.build("model", nested_net), case.tensor("x", 2, 3, requires_grad=True)
        model[1].register_forward_hook(lambda module, args, output: output * 2)  # of somebody else
        log = start(model)
        output = model(x)
        output.backward(case.tensor("upstream", 2, 2))
        return {"log": log, "output": output, "x.grad": x.grad, "hooks": sum(hook_counts(model).values())}

    def probe(self, nb, case):
        return self.run(case, nb.function("event_log"))

    def truth(self, case):
        return {**self.by_definition(case), "hooks": Matches(lambda got: None, "any number")}

    def mistakes(self, case):
        log, output = self.truth(case)["log"], self.truth(case)["output"]
        names = list(dict.fromkeys(name for _, name in log))
        return {
            "removes_other_hooks": {"output": output / 2},
            "hook_never_ran": {"log": [], "hooks": 1},
            "returns_nothing": {"log": None, "hooks": 1},
            "returns_no_list": {"log": NO_LIST},
            "event_log_first_level": {"log": AnyOf(log_without(log, *(n for n in names if n.count("."))), [
                [kind, name] for kind, name in log if name and not name.count(".")
            ])},
            "root_missing": {"log": log_without(log, "")},
            "event_log_leaves_only": {"log": log_without(log, "", "0", "1")},
            "event_log_kinds_missing": {
                "log": AnyOf(log_of_kinds(log, "forward_pre", "forward"), log_of_kinds(log, "backward_pre", "backward"),
                             log_of_kinds(log, "forward", "backward"), *(
                    log_of_kinds(log, *(kind for kind in FOUR_KINDS if kind != missing)) for missing in FOUR_KINDS
                ))
            },
            "event_log_late_binding": {
                "log": Matches(
                    lambda got: None if len(got) == len(log) and len({one[1] for one in got}) == 1 else "other names",
                    "one name throughout",
                )
            },
            "event_log_swaps_pair": {"log": [[name, kind] for kind, name in log]},
            "event_log_other_kinds": {"log": same_but_for(log, 0)},
            "event_log_other_names": {"log": same_but_for(log, 1)},
            "takes_elements_apart": {"log": [part for entry in log for part in entry]},
            "event_log_order": {"log": in_another_order(log)},
            "shared_list": {"log": such_that(lambda got: len(got) > len(log) and got == [*got[len(log) :], *map(list, log)])},
            "event_log_registered_again": {
                "log": Matches(
                    lambda got: None if len(got) > len(log) and {*map(tuple, got)} == set(log) else "other entries",
                    "the right entries, some more often",
                )
            },
        }


class ResidualModule(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)


def deep_net():
    net = nn.Sequential(
        nn.Linear(4, 3),
        ResidualModule(nn.Sequential(nn.Linear(3, 3), ResidualModule(nn.Tanh()))),
        nn.ReLU(),
        ResidualModule(nn.Linear(3, 3)),
    )
    net[1].register_module("later", None)  # a place that is known, and empty
    return net


def net_with_reuse():
    layer, act = nn.Linear(3, 3), nn.Tanh()
    return nn.Sequential(layer, act, nn.Sequential(layer, act), act)


class OnData(OfTheLog):
    """A deeper model with other names and an empty place, and a single layer, on data that requires no gradient."""

    claims = ("log", "log of a single layer")  # the answer itself
    poison = POISON
    errors = {**ERRORS, r"AttributeError: 'NoneType' object has no attribute": "event_log_empty_place"}

    def run(self, case, start):
        model = case.build("model", deep_net)
        log = start(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a hook where no input requires a gradient
            model(case.tensor("x", 2, 4)).sum().backward()
            layer = case.build("layer", nn.Linear, 4, 2)
            of_layer = start(layer)
            layer(case.tensor("x", 2, 4)).sum().backward()
        return {"log": log, "log of a single layer": of_layer}

    def probe(self, nb, case):
        return self.run(case, nb.function("event_log"))

    def truth(self, case):
        return self.by_definition(case)

    def mistakes(self, case):
        log = self.truth(case)["log"]
        return {
            "event_log_two_levels": {"log": [[kind, name] for kind, name in log if name.count(".") < 2]},
            "event_log_other_names": {"log": same_but_for(log, 1)},
            "event_log_order": {"log": in_another_order(log)},
            "shared_list": {"log": self.truth(case)["log of a single layer"]},
            "event_log_written_down": {"log": Matches(lambda got: None if got else "nothing", "other entries")},
        }


class ReusedModules(OfTheLog):
    """A module that runs several times appears each time; one that stands at two places is hooked once."""

    claims = ("log",)  # the answer itself
    poison = POISON
    errors = ERRORS

    def run(self, case, start):
        model = case.build("model", net_with_reuse)
        log = start(model)
        model(case.tensor("x", 2, 3, requires_grad=True)).sum().backward()
        return {"log": log}

    def probe(self, nb, case):
        return self.run(case, nb.function("event_log"))

    def truth(self, case):
        return self.by_definition(case)

    def mistakes(self, case):
        log = self.truth(case)["log"]
        first = list(dict.fromkeys(log))
        return {
            "event_log_keeps_first": {"log": AnyOf(first, in_another_order(first))},
            "event_log_hooks_twice": {"log": Matches(lambda got: None if len(got) > len(log) else "short", "more")},
            "event_log_other_names": {"log": same_but_for(log, 1)},
        }


class TwoModelsTwoRuns(OfTheLog):
    """The log grows with each run, and each model has a log of its own."""

    claims = ("log of the first model", "log of the second model")  # the answer itself
    poison = POISON
    errors = ERRORS

    def run(self, case, start):
        one, two = case.build("one", nested_net), case.build("two", nested_net)
        logs = start(one), start(two)
        for model in (one, two, one):
            model(case.tensor("x", 2, 3, requires_grad=True)).sum().backward()
        with torch.no_grad():
            two(case.tensor("x", 2, 3))
        return {"log of the first model": logs[0], "log of the second model": logs[1]}

    def probe(self, nb, case):
        return self.run(case, nb.function("event_log"))

    def truth(self, case):
        return self.by_definition(case)

    def mistakes(self, case):
        right = self.truth(case)
        two_runs = right["log of the first model"]
        log = two_runs[: len(two_runs) // 2]
        return {
            "runs_only_once": {"log of the first model": log, "log of the second model": log},
            "shared_list": {
                "log of the first model": Matches(
                    lambda got: None if len(got) > len(right["log of the first model"]) else "short", "more entries"
                )
            },
        }


UNTIDY = (
    "shared", "called_twice", "tied", "partly_frozen", "norm_in_eval", "mixed_modes", "none_place", "one_dim", "three_dim",
    "float64", "namedtuple", "dictionary", "look_alike", "the_layer",
)


class UntidyModels(OfTheLog):
    """Models as they are in real projects: shared, tied and frozen layers, other modes, names that look alike."""

    cases = 1  # a log does not depend on the weights
    poison = POISON
    errors = {**ERRORS, r"AttributeError: 'NoneType' object has no attribute": "event_log_empty_place"}

    def run(self, case, start):
        found = {}
        for says, (model, x) in awkward_models(case, *UNTIDY).items():
            log = start(model)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a hook where no input requires a gradient, or of a dict
                model(x).sum().backward()
            found[f"log of {says}"] = log
        return found

    claims = tuple(f"log of {KINDS[kind].says}" for kind in UNTIDY)  # the answer itself

    def probe(self, nb, case):
        return self.run(case, nb.function("event_log"))

    def truth(self, case):
        return self.by_definition(case)

    def mistakes(self, case):
        logs = self.truth(case)
        return {
            "event_log_other_names": AnyOf(*({says: same_but_for(log, 1)} for says, log in logs.items())),
        }


class SharedByTwoModels(OfTheLog):
    """One layer in two models, two logs of one model, a frozen layer, two equal events in a row: all are logged; modes stay."""

    claims = (
        "log of one model", "log of the other model", "log of two gradients of the weight", "first of two logs of one model",
        "log of a model that begins with a frozen layer", "log of a pass with create_graph",
    )  # the answer itself
    poison = POISON
    errors = ERRORS
    blame = {
        "log of one model": "event_log_name_of_another", "log of the other model": "event_log_name_of_another",
        "log of two gradients of the weight": "event_log_equal_neighbours", "output in eval mode": "event_log_changes_mode",
        "first of two logs of one model": "first_list_taken_away", "gradient of a gradient": "cut_from_its_inputs",
        "log of a model that begins with a frozen layer": "event_log_frozen_left_out",
        "log of a pass with create_graph": "create_graph_left_out",
    }

    def run(self, case, start):
        layer, x = case.build("layer", nn.Linear, 3, 3), case.tensor("x", 2, 3, requires_grad=True)
        one, other = nn.Sequential(nn.Tanh(), layer), nn.Sequential(layer, nn.Tanh())
        logs = start(one), start(other)
        one(x).sum().backward()
        other(x).sum().backward()
        single = case.build("single", nn.Linear, 3, 3)
        log = start(single)
        output = single(x).sum()
        for _ in range(2):  # backward comes to the layer's output, and stops at its weight, before it has come to the input
            torch.autograd.grad(output, single.weight, retain_graph=True)
        twice = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
        begun, _ = start(twice), start(twice)
        twice(x).sum().backward()
        frozen = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
        frozen[0].requires_grad_(False)
        of_frozen = start(frozen)
        frozen(x).sum().backward()
        quiet = nn.Sequential(case.build("before dropout", nn.Linear, 3, 3), nn.Dropout(0.5)).eval()
        start(quiet)
        # Of two equal models: what a backward through a backward calls is not asked, only what it brings.
        bent, again = (case.build("bent", lambda: nn.Sequential(nn.Linear(3, 3), nn.Tanh())) for _ in range(2))
        of_bent, _ = start(bent), start(again)
        _, (slope,) = (
            torch.autograd.grad(model(x), x, case.tensor("bent upstream", 2, 3), create_graph=True) for model in (bent, again)
        )
        (bend,) = torch.autograd.grad((slope**2).sum() + (x * case.tensor("way around", 2, 3)).sum(), x)
        return {
            "output in eval mode": quiet(x), "gradient of a gradient": bend, "log of a pass with create_graph": of_bent,
            "log of one model": logs[0], "log of the other model": logs[1], "log of two gradients of the weight": log,
            "first of two logs of one model": begun,
            "log of a model that begins with a frozen layer": of_frozen,
        }

    def probe(self, nb, case):
        return self.run(case, nb.function("event_log"))

    def truth(self, case):
        return self.by_definition(case)


check("event_log", OneRun, OnData, ReusedModules, TwoModelsTwoRuns, UntidyModels, SharedByTwoModels)


# --- Hidden checks: graders run them, learners do not get them. ---
def named_parts(names, *parts):
    net = nn.Sequential()
    for name, part in zip(names, parts, strict=True):
        net.add_module(name, part)
    return net


def brackets(module, name=""):
    """What one forward logs: each module is a pair of brackets around its parts."""
    inside = []
    for key, child in module.named_children():
        inside += brackets(child, f"{name}.{key}" if name else key)
    return [("forward_pre", name), *inside, ("forward", name)]


class NamesOfOthers(Check):
    """Two forwards, then two backwards, of a model with other names, are logged."""

    poison = POISON
    claims = ("log",)  # the answer itself

    def nested(self, case):
        names = case.words("hidden names", 6)
        inner = named_parts(names[:2], nn.Linear(4, 3), nn.Sigmoid())
        middle = named_parts(names[2:4], inner, nn.Linear(3, 4))
        return named_parts(names[4:], nn.Softplus(), middle)

    def probe(self, nb, case):
        model = self.nested(case)
        log = nb.function("event_log")(model)
        outputs = [model(case.tensor(f"hidden x {number}", 2, 4, requires_grad=True)) for number in (1, 2)]
        for output in outputs:
            output.sum().backward()
        return {"log": log}

    def truth(self, case):
        forward = brackets(self.nested(case))
        mirror = {"forward": "backward_pre", "forward_pre": "backward"}
        backward = [(mirror[kind], name) for kind, name in reversed(forward)]
        return {"log": forward * 2 + backward * 2}


check("event_log", NamesOfOthers)
