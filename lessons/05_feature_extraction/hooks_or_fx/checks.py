import contextlib

import torch
from torch import nn
from torch.nn import functional

from nbproof.checks.check import Check, check
from nbproof.values.compare import Close, is_same
from course.models import TinyResNet
from course.probing import hook_counts
from course.traces import what_runs
from course.truths import as_before, such_that

ERRORS = {
    r"AttributeError: \w+ has no attribute `\w+`": "feat_no_module_behind",
    r"AttributeError: 'str' object has no attribute 'items'": "feat_string_for_list",
    r"KeyError: ": "feat_fx_own_names",
    r"RuntimeError: mat1 and mat2 shapes cannot be multiplied \(\d+x1 and": "children_in_a_row",
    r"RuntimeError: (running_mean should contain|Given groups=1, weight of size|mat1 and mat2 shapes)": "layers_on_the_input",
    r"TraceError: symbolically traced variables": "feat_cannot_be_traced",
    r"AttributeError: '\w+' object has no attribute '\w+(\.\w+)+'": "dotted_name",
}


def near(values):
    return {step: Close(value.detach(), rtol=1e-4, atol=1e-4) for step, value in values.items()}


class Steps(Check):
    """`value_at` gives the value of a layer, of its later call, of a sum and of a function."""

    cases = 1
    errors = ERRORS

    def given(self, case):
        steps = ["bn1", "block.bn2", "block.add", "block.relu", "block.relu_1", "flatten", "fc"]
        return case.build("net", TinyResNet).eval(), case.shuffled("steps", steps), case.tensor("x", 2, 3, 7, 9)

    def probe(self, nb, case):
        _, steps, x = self.given(case)
        models = {step: self.given(case)[0] for step in steps}  # one for each: a hook that stays must not spoil the next step
        values = {step: nb.function("value_at")(models[step], step, x) for step in steps}

        def run():
            with contextlib.suppress(Exception):  # a hook that was left there may end it
                models["bn1"](x)

        return {
            "values": values, "the number of hooks on the model": sum(sum(hook_counts(one).values()) for one in models.values()),
            "what runs in model(x) afterwards": what_runs(models["bn1"], case, run),
        }

    def by_hand(self, case, training=False):
        """Each step's value, from the model's forward, with nothing in place."""
        model, _, x = self.given(case)
        block, v = model.train(training).block, {}
        v["bn1"] = model.bn1(model.conv1(x))
        relu = torch.relu(v["bn1"])
        v["block.relu"] = torch.relu(block.bn1(block.conv1(relu)))
        v["block.bn2"] = block.bn2(block.conv2(v["block.relu"]))
        v["block.add"] = v["block.bn2"] + relu
        v["block.relu_1"] = torch.relu(v["block.add"])
        v["flatten"] = model.pool(v["block.relu_1"]).flatten(1)
        return {**v, "fc": model.fc(v["flatten"])}

    def truth(self, case):
        values, (model, steps, x) = self.by_hand(case), self.given(case)
        runs = as_before(what_runs(model, case, lambda: model(x)))
        return {
            "values": near({step: values[step] for step in steps}), "the number of hooks on the model": 0,
            "what runs in model(x) afterwards": runs,
        }

    def mistakes(self, case):
        values = self.by_hand(case)
        trained, top = self.by_hand(case, training=True), torch.relu(values["bn1"])
        later = {"bn1": top, "block.bn2": values["block.relu_1"], "block.add": values["block.relu_1"]}

        def flaw(test):
            return {"values": such_that(test)}

        def same(got, value):
            return is_same(got, Close(value.detach(), rtol=1e-4, atol=1e-4))

        return {
            "returns_nothing": flaw(lambda got: all(value is None for value in got.values())),
            "feat_no_module_behind": flaw(lambda got: got["block.add"] is None or got["flatten"] is None),
            "feat_dict_for_value": flaw(lambda got: any(isinstance(value, (dict, list)) for value in got.values())),
            "output_for_features": flaw(lambda got: same(got["bn1"], values["fc"])),
            "feat_first_part": flaw(lambda got: same(got["fc"], values["fc"][0])),
            "name_in_name": flaw(lambda got: same(got["block.relu"], top)),
            "changes_mode": flaw(lambda got: any(same(got[step], trained[step]) for step in ("bn1", "block.add", "flatten"))),
            "input_or_output": flaw(lambda got: same(got["fc"], values["flatten"])),
            "feat_suffix": flaw(
                lambda got: same(got["block.relu"], values["block.relu"]) and same(got["block.relu_1"], values["block.relu"])
            ),
            "feat_last_call": flaw(lambda got: same(got["block.relu"], values["block.relu_1"])),
            "feat_alias": flaw(lambda got: any(same(got[step], value) for step, value in later.items())),
            "feat_hook_left": {"the number of hooks on the model": such_that(lambda got: got > 0)},
        }


class Functional(nn.Module):
    """A layer that runs twice; between its calls, functions, an operator and a method."""

    def __init__(self, first, last):
        super().__init__()
        self.names = (first, last)
        self.add_module(first, nn.Linear(4, 4))
        self.add_module(last, nn.Linear(8, 3))

    def forward(self, x):
        first, last = (getattr(self, name) for name in self.names)
        one = functional.relu(first(x))
        two = functional.relu(first(one)) * 3
        return last(torch.cat([one, two], 1)).mean(0)


class OtherFunctions(Check):
    """Functions and operators of any model are found, also a function that is called twice."""

    cases = 1
    errors = {r"AttributeError: Functional has no attribute `relu`": "feat_call_number", **ERRORS}

    def given(self, case):
        first, last = case.words("names", 2)
        steps = ["relu", f"{first}_1", "relu_1", "mul", "cat", "mean"]
        return case.build("net", Functional, first, last).eval(), case.shuffled("steps", steps), case.tensor("x", 2, 4)

    def probe(self, nb, case):
        model, steps, x = self.given(case)
        return {"values": {step: nb.function("value_at")(model, step, x) for step in steps}}

    def truth(self, case):
        model, _, x = self.given(case)
        first, last = (getattr(model, name) for name in model.names)
        v = {"relu": functional.relu(first(x))}
        v[f"{model.names[0]}_1"] = first(v["relu"])
        v["relu_1"] = functional.relu(v[f"{model.names[0]}_1"])
        v["mul"] = v["relu_1"] * 3
        v["cat"] = torch.cat([v["relu"], v["mul"]], 1)
        return {"values": near({**v, "mean": last(v["cat"]).mean(0)})}


def looks_on(module, args, output):
    """A hook that changes nothing."""


class Picky(nn.Module):
    """Asks a tensor how to go on, so it cannot be traced. One layer runs twice."""

    def __init__(self, first, second):
        super().__init__()
        self.names = (first, second)
        self.add_module(first, nn.Linear(4, 4))
        self.add_module(second, nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Tanh()))

    def forward(self, x):
        first, second = (getattr(self, name) for name in self.names)
        x = second(first(x))
        return second(x) if x.norm() < 1e6 else x


class NotTraceable(Check):
    """In a model that cannot be traced, a module's first output is found as well."""

    errors = ERRORS
    blame = {"the number of its owner's hooks afterwards": "removes_other_hooks"}

    def given(self, case):
        first, second = case.words("names", 2)
        steps = [f"{second}.0", first, second]
        model = case.build("net", Picky, first, second).eval()
        for name in steps:
            model.get_submodule(name).register_forward_hook(looks_on)
        return model, case.shuffled("steps", steps), case.tensor("x", 2, 4)

    def probe(self, nb, case):
        model, steps, x = self.given(case)
        values = {step: nb.function("value_at")(model, step, x) for step in steps}
        found = [looks_on in model.get_submodule(step)._forward_hooks.values() for step in steps]
        ran = what_runs(model, case, lambda: model(x))
        return {"values": values, "the number of its owner's hooks afterwards": sum(found), "what runs in model(x) afterwards": ran}

    def truth(self, case):
        model, _, x = self.given(case)
        runs = as_before(what_runs(model, case, lambda: model(x)))
        return {"values": self.values(case), "the number of its owner's hooks afterwards": 3, "what runs in model(x) afterwards": runs}

    def values(self, case, training=False, calls=1):
        model, _, x = self.given(case)
        first, second = model.train(training).names
        values = {first: model.get_submodule(first)(x)}
        values[second] = values[first]
        for _ in range(calls):
            values[f"{second}.0"] = model.get_submodule(f"{second}.0")(values[second])
            values[second] = torch.tanh(model.get_submodule(f"{second}.1")(values[f"{second}.0"]))
        return near(values)

    def mistakes(self, case):
        in_training = [self.values(case, training=True, calls=calls) for calls in (1, 2)]
        return {
            "feat_left_in_training": {"values": such_that(lambda got: any(is_same(got, values) for values in in_training))},
            "feat_last_call": {"values": self.values(case, calls=2)},
        }


class Aside(nn.Sequential):
    def forward(self, x):
        x = x * 2
        x.neg_()  # nobody uses what this call returns, so fx leaves it out
        return super().forward(x)


class LeftOut(OtherFunctions):
    """Where fx leaves out a call, a module's first output is still the one that the model computes."""

    def given(self, case):
        model = case.build("net", lambda: Aside(nn.Linear(4, 4), nn.Linear(4, 4))).eval()
        return model, case.shuffled("steps", ["0", "1"]), case.tensor("x", 2, 4)

    def truth(self, case):
        model, _, x = self.given(case)
        return {"values": near({"0": model[:1](x), "1": model(x)})}

    def mistakes(self, case):
        model, _, x = self.given(case)
        one = model[0](2 * x)
        return {"feat_fx_leaves_out": {"values": near({"0": one, "1": model[1](one)})}}


check("hooks_or_fx", Steps, OtherFunctions, NotTraceable, LeftOut)


# --- Hidden checks: graders run them, learners do not get them. ---
def braid(case, picky):
    """Layers and operations in an order of the seed's, some of them several times; a picky model cannot be traced."""
    left, norm, right = case.words("strands", 3)
    pieces = [[left, norm, right], [left], [norm], ["sub"], ["sub"], ["tanh"], ["tanh"], ["mul"]]
    steps = [step for piece in case.shuffled("plaited", pieces) for step in piece]

    class Braid(nn.Module):
        def __init__(self):
            super().__init__()
            for name, layer in ((left, nn.Linear(3, 3)), (norm, nn.BatchNorm1d(3)), (right, nn.ReLU(inplace=True))):
                self.add_module(name, layer)

        def forward(self, x):
            start = x
            if picky and x.sum() > 1e6:
                return x
            for step in steps:
                if step == "sub":
                    x = x - start
                elif step == "mul":
                    x = x * start
                else:
                    x = x.tanh() if step == "tanh" else self.get_submodule(step)(x)
            return x + start

    model = case.build("hair", Braid).eval()
    if picky:
        model.get_submodule(left).register_forward_hook(looks_on)
    return model, steps, case.tensor("hair", 4, 3)


class Plaited(Check):
    """The value is that of the step that was named, be it a module or not; no hook stays."""

    cases = 1

    def probe(self, nb, case):
        found = {"values": {}, "picky": {}, "ran": []}
        for step in case.shuffled("steps of a braid", range(10)):
            model, steps, x = braid(case, picky=False)  # a hook that stays must not spoil the next one
            times = steps[:step].count(steps[step])
            name = f"{steps[step]}_{times}" if times else steps[step]
            found["values"][name] = nb.function("value_at")(model, name, x)
        model, steps, x = braid(case, picky=True)
        for name in dict.fromkeys(step for step in steps if step not in ("sub", "mul", "tanh")):
            found["picky"][name] = nb.function("value_at")(model, name, x)
        return {**found, "ran": what_runs(model, case, lambda: model(x))}

    def truth(self, case):
        model, steps, x = braid(case, picky=False)
        start, value, values, first = x, x, {}, {}
        for number, step in enumerate(steps):
            if step in ("sub", "mul"):
                value = value - start if step == "sub" else value * start
            else:
                value = torch.tanh(value) if step == "tanh" else model.get_submodule(step)(value.clone())
            times = steps[:number].count(step)
            values[f"{step}_{times}" if times else step] = value
            if step not in ("sub", "mul", "tanh"):
                first.setdefault(step, value)
        owned, _, x = braid(case, picky=True)
        return {"values": near(values), "picky": near(first), "ran": as_before(what_runs(owned, case, lambda: owned(x)))}


check("hooks_or_fx", Plaited)
