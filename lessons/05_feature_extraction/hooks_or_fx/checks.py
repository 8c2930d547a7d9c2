import contextlib

import course
import torch
from torch import nn
from torch.nn import functional

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches, is_same
from course.awkward import awkward_models, bare_model, whole_numbers_model
from course.models import TinyResNet
from course.probing import calls_of, hook_counts
from course.traces import what_runs
from course.truths import as_before


ERRORS = {
    r"AttributeError: \w+ has no attribute `\w+`": "feat_no_module_behind",
    r"KeyError: ": "feat_fx_own_names",
    r"ValueError: return_layers are not present in model": "dotted_name",
    r"RuntimeError: (\w+: )?mat1 and mat2 shapes": "children_in_a_row",
    r"TraceError: symbolically traced variables": "feat_cannot_be_traced",
    r"StopIteration": "feat_first_parameter",
    r"AttributeError: '\w+' object has no attribute '\w+(\.\w+)+'": "dotted_name",
    r"AttributeError: '(Picky|Functional|_\w+)' object has no attribute '(conv1|bn1|relu|block|pool|fc)'": "typed_in_names",
}


def passes(model, x):
    """Forward and backward; a hook that was left there may end it."""
    with contextlib.suppress(Exception):
        model(x).sum().backward()


class Steps(Check):
    """`value_at(model, step, x)` is the value of that step: of a layer, of a later call of a layer, of a sum or function."""

    cases = 1
    errors = ERRORS

    def given(self, case):
        steps = ["bn1", "block.bn2", "block.add", "block.relu", "block.relu_1", "flatten", "fc"]
        return case.build("net", TinyResNet).eval(), case.shuffled("steps", steps), case.tensor("x", 2, 3, 7, 9)

    def probe(self, nb, case):
        _, steps, x = self.given(case)
        models = {step: self.given(case)[0] for step in steps}  # one for each: a hook that stays must not spoil the next step
        model = next((one for step, one in models.items() if step in dict(one.named_modules())), models[steps[0]])
        values = {step: nb.function("value_at")(models[step], step, x) for step in steps}
        return {
            "values": values,
            "hooks on the model": sum(sum(hook_counts(one).values()) for one in models.values()),
            "what runs in model(x) afterwards": what_runs(model, case, lambda: passes(model, x)),
        }

    def by_hand(self, case):
        """Each step's value, from the model's forward, with nothing in place."""
        model, _, x = self.given(case)
        block, v = model.block, {}
        v["conv1"] = model.conv1(x)
        v["bn1"] = model.bn1(v["conv1"])
        v["relu"] = torch.relu(v["bn1"])
        v["block.bn1"] = block.bn1(block.conv1(v["relu"]))
        v["block.relu"] = torch.relu(v["block.bn1"])
        v["block.bn2"] = block.bn2(block.conv2(v["block.relu"]))
        v["block.add"] = v["block.bn2"] + v["relu"]
        v["block.relu_1"] = torch.relu(v["block.add"])
        v["flatten"] = model.pool(v["block.relu_1"]).flatten(1)
        v["fc"] = model.fc(v["flatten"])
        return v

    def truth(self, case):
        values, (model, steps, x) = self.by_hand(case), self.given(case)
        wanted = {step: Close(values[step].detach(), rtol=1e-4, atol=1e-4) for step in steps}
        runs = as_before(what_runs(model, case, lambda: passes(model, x)))
        return {"values": wanted, "hooks on the model": 0, "what runs in model(x) afterwards": runs}

    def mistakes(self, case):
        model, _, x = self.given(case)
        values = self.by_hand(case)
        train = model.train().conv1(x)

        def flaw(test):
            return {"values": Matches(lambda got: None if test(got) else "no", "this flaw")}

        def same(got, value):
            return is_same(got, Close(value.detach(), rtol=1e-4, atol=1e-4))

        return {
            "returns_nothing": flaw(lambda got: all(value is None for value in got.values())),
            "feat_no_module_behind": flaw(lambda got: got["block.add"] is None or got["flatten"] is None),
            "feat_dict_for_value": flaw(lambda got: any(isinstance(value, (dict, list)) for value in got.values())),
            "output_for_features": flaw(lambda got: same(got["bn1"], values["fc"])),
            "changes_mode": flaw(lambda got: same(got["bn1"], model.bn1(train))),
            "name_in_name": flaw(lambda got: same(got["block.relu"], values["relu"])),
            "feat_suffix": flaw(
                lambda got: same(got["block.relu"], values["block.relu"]) and same(got["block.relu_1"], values["block.relu"])
            ),
            "feat_last_call": flaw(lambda got: same(got["block.relu"], values["block.relu_1"])),
            "feat_alias": flaw(
                lambda got: any(
                    same(got[step], later)
                    for step, later in (("bn1", values["relu"]), ("block.bn2", values["block.relu_1"]),
                                        ("block.add", values["block.relu_1"]))
                )
            ),
            "feat_hook_left": {"hooks on the model": Matches(lambda got: None if got else "no", "some")},
        }


class Functional(nn.Module):
    """A layer that runs twice; between its calls, functions, an operator and a method, and an attribute called like a step."""

    def __init__(self, first, last):
        super().__init__()
        self.names, self.mul = (first, last), 3
        self.add_module(first, nn.Linear(4, 4))
        self.add_module(last, nn.Linear(8, 3))

    def forward(self, x):
        first, last = (getattr(self, name) for name in self.names)
        one = functional.relu(first(x))
        two = functional.relu(first(one)) * self.mul
        return last(torch.cat([one, two], 1)).mean(0)


class OtherFunctions(Steps):
    """Functions, operators and methods of any model are found, also a function that is called twice."""

    errors = {
        r"AttributeError: Functional has no attribute `relu`": "feat_call_number",
        r"AttributeError: 'int' object has no attribute": "feat_attribute_for_step",
        **ERRORS,
    }

    def given(self, case):
        first, last = case.words("names", 2)
        steps = ["relu", f"{first}_1", "relu_1", "mul", "cat", "mean"]
        return case.build("net", Functional, first, last).eval(), case.shuffled("steps", steps), case.tensor("x", 2, 4)

    def by_hand(self, case):
        model, _, x = self.given(case)
        first, last = (getattr(model, name) for name in model.names)
        v = {"relu": functional.relu(first(x))}
        v[f"{model.names[0]}_1"] = first(v["relu"])
        v["relu_1"] = functional.relu(v[f"{model.names[0]}_1"])
        v["mul"] = v["relu_1"] * 3
        v["cat"] = torch.cat([v["relu"], v["mul"]], 1)
        v["mean"] = last(v["cat"]).mean(0)
        return v

    def mistakes(self, case):
        return {}


def looks_on(module, args, output):
    """A hook that changes nothing."""


class Picky(nn.Module):
    """Asks a tensor how to go on, so it cannot be traced. One layer runs at least twice, another is called like a second call."""

    def __init__(self, first, second):
        super().__init__()
        self.names = (first, f"{first}_1", second)
        self.add_module(first, nn.Linear(4, 4))
        self.add_module(f"{first}_1", nn.Linear(4, 4))
        self.add_module(second, nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Tanh()))

    def forward(self, x):
        first, other, second = (getattr(self, name) for name in self.names)
        x = second(other(first(x)))
        while x.norm() < 1000:
            x = second(x) + x * 100
        return x


class NotTraceable(Check):
    """A module's output is found in a model that cannot be traced, too: the first call's. Hooks of its owner run, and stay."""

    errors = ERRORS
    blame = {"hooks of its owner afterwards": "removes_other_hooks"}

    def given(self, case):
        first, second = case.words("names", 2)
        steps = [f"{second}.0", first, second, f"{first}_1"]
        model = case.build("net", Picky, first, second).eval()
        model.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
        for name in steps:
            model.get_submodule(name).register_forward_hook(looks_on)
        return model, case.shuffled("steps", steps), case.tensor("x", 2, 4)

    def probe(self, nb, case):
        model, steps, x = self.given(case)
        values = {step: nb.function("value_at")(model, step, x) for step in steps}
        found = [looks_on in model.get_submodule(step)._forward_hooks.values() for step in steps]
        return {
            "values": values,
            "hooks of its owner afterwards": sum(found),
            "what runs in model(x) afterwards": what_runs(model, case, lambda: passes(model, x)),
        }

    def truth(self, case):
        model, _, x = self.given(case)
        runs = as_before(what_runs(model, case, lambda: passes(model, x)))
        return {**self.values(case, 2), "hooks of its owner afterwards": 4, "what runs in model(x) afterwards": runs}

    def values(self, case, times, training=False):
        model, steps, x = self.given(case)
        model.train(training)
        first, other, second = model.names
        x = x * times  # by the owner's hook
        values = {first: model.get_submodule(first)(x)}
        values[other] = model.get_submodule(other)(values[first])
        values[f"{second}.0"] = model.get_submodule(f"{second}.0")(values[other])
        values[second] = torch.tanh(model.get_submodule(f"{second}.1")(values[f"{second}.0"]))
        return {"values": {step: Close(values[step].detach(), rtol=1e-4, atol=1e-4) for step in steps}}

    def mistakes(self, case):
        return {"feat_forward_called": self.values(case, 1), "feat_left_in_training": self.values(case, 2, training=True)}


class AnotherInput(Check):
    """A second call runs the model on its own input."""

    cases = 1
    errors = ERRORS
    blame = {"values": "stale_result"}

    def given(self, case):
        first, last = case.words("names", 2)
        return case.build("net", Functional, first, last).eval(), [first, "mul"], [case.tensor(f"x{i}", 2, 4) for i in (1, 2)]

    def probe(self, nb, case):
        model, steps, inputs = self.given(case)
        return {"values": [[nb.function("value_at")(model, step, x) for step in steps] for x in inputs]}

    def truth(self, case):
        model, (first, _), inputs = self.given(case)
        layer = getattr(model, first)
        values = [[layer(x), functional.relu(layer(functional.relu(layer(x)))) * 3] for x in inputs]
        return {"values": [[Close(one.detach(), rtol=1e-4, atol=1e-4) for one in pair] for pair in values]}

    def mistakes(self, case):
        return {}


class AnyModel(Check):
    """Of any model, a module's output is found, whatever the model's names, dtypes and dimensions are."""

    cases = 1
    kinds = (
        "shared", "called_twice", "tied", "partly_frozen", "in_place_behind", "norm_in_eval", "mixed_modes", "none_place",
        "one_dim", "three_dim", "float64", "namedtuple", "dictionary", "look_alike",
    )
    errors = {
        **ERRORS,
        r"AttributeError: 'NoneType' object has no attribute '(register_forward_hook|_modules|named_\w+|children)'": "feat_empty_place",
        r"TraceError": "feat_cannot_be_traced",
    }
    blame = {
        "values in a model with names that look alike": "name_in_name",
        "values in a model in which a layer gives whole numbers": "feat_digits_lost",
        "values in a model without parameters": "feat_digits_lost",
        "values in a model with in-place operations behind its layers": "feat_alias",
    }

    def models(self, case):
        found = {**bare_model(case), **awkward_models(case, *self.kinds), **whole_numbers_model(case)}
        return {says: (model.eval(), x) for says, (model, x) in found.items()}

    def values(self, model, x):
        """Of each leaf that returns one tensor, the first call's: torchvision's tool takes a container's last leaf for it."""
        found = {}
        for call in calls_of(model, x):
            leaf = call.name and not list(model.get_submodule(call.name).children())
            if leaf and isinstance(call.output, torch.Tensor):
                found.setdefault(call.name, Close(call.output, rtol=1e-4, atol=1e-4))
        return found

    def probe(self, nb, case):
        brought, value_at, spent = {}, nb.function("value_at"), self.models(case)
        for says, (model, x) in self.models(case).items():
            brought[f"values in {says}"] = {step: value_at(model, step, x) for step in self.values(*spent[says])}
        return brought

    def truth(self, case):
        return {f"values in {says}": self.values(*given) for says, given in self.models(case).items()}

    def mistakes(self, case):
        return {}


check("hooks_or_fx", Steps, OtherFunctions, NotTraceable, AnotherInput, AnyModel)


# --- Hidden checks: graders run them, learners do not get them. ---
class Braid(nn.Module):
    """Two layers, one of which runs twice, and an operator that is used twice."""

    def __init__(self, left, right):
        super().__init__()
        self.names = (left, right)
        self.add_module(left, nn.Linear(3, 3))
        self.add_module(right, nn.Linear(3, 3))

    def forward(self, x):
        left, right = (getattr(self, name) for name in self.names)
        x = left(x) - right(x)
        return (x - left(x)).tanh()


class Knot(Braid):
    """The same layers the other way round, and a question to a tensor, so it cannot be traced."""

    def forward(self, x):
        left, right = (getattr(self, name) for name in self.names)
        x = right(x)
        return left(x if x.sum() > 0 else x * 2).relu_()


class BraidAndKnot(Check):
    """The value is that of the step that was named, be it a module or not."""

    def hair(self, case, kind):
        """A model of its own for each step: a hook that stays must not spoil the next one."""
        return case.build("hair", kind, *case.words("strands", 2)).eval(), case.tensor("hair", 4, 3)

    def probe(self, nb, case):
        left, right = case.words("strands", 2)
        values = {"values in a braid": {}, "values in a knot": {}}
        for step in case.shuffled("steps of a braid", [left, f"{left}_1", "sub", "sub_1", "tanh"]):
            braid, x = self.hair(case, Braid)
            values["values in a braid"][step] = nb.function("value_at")(braid, step, x)
        for step in (left, right):
            knot, x = self.hair(case, Knot)
            values["values in a knot"][step] = nb.function("value_at")(knot, step, x)
        return values

    def truth(self, case):
        model, x = self.hair(case, Braid)
        left, right = model.names
        one, two = (getattr(model, name) for name in model.names)
        minus = one(x) - two(x)
        braid = {left: one(x), "sub": minus, f"{left}_1": one(minus), "sub_1": minus - one(minus)}
        braid["tanh"] = torch.tanh(braid["sub_1"])
        first = two(x)
        knot = {right: first, left: one(first if first.sum() > 0 else first * 2)}
        return {"values in a braid": self.near(braid), "values in a knot": self.near(knot)}

    def near(self, values):
        return {step: Close(value.detach(), rtol=1e-4, atol=1e-4) for step, value in values.items()}


check("hooks_or_fx", BraidAndKnot)
