import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close
from course.traces import gradients_from, gradients_left
from course.truths import such_that


class Gain(nn.Module):
    """Has a parameter of its own, and a layer inside."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(5))
        self.linear = nn.Linear(4, 5, bias=False)

    def forward(self, x):
        return self.linear(x) * self.gain


class Net(nn.Module):
    """Parameters of different shapes on three levels, and buffers."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4, affine=False), Gain())
        self.out = nn.Linear(5, 2, bias=False)
        self.offset = nn.Parameter(torch.rand(1, 2))
        self.scale = nn.Parameter(torch.tensor(1.5))

    def forward(self, x):
        return self.out(self.features(x)) * self.scale + self.offset


class InPlaceCheck(Check):
    """What the checks of this exercise share."""

    errors = {
        r"RuntimeError: Error\(s\) in loading state_dict": "state_dict_is_more",
        r"KeyError: .*parameter name can.*t contain": "parameter_replaced",
    }

    def fresh(self, case, shape):
        """New values for a parameter of this shape: every parameter of Net has one of its own."""
        return case.tensor(f"new {tuple(shape)}", *shape)

    def values(self, model):
        return {name: one.detach().clone() for name, one in model.named_parameters()}

    def after(self, nb, model, new):
        """What the model holds, and what the objects hold that were in it before."""
        held = dict(model.named_parameters())
        nb.function("init_in_place")(model, new)
        first = {name: one.detach().clone() for name, one in held.items()}
        return {"values": self.values(model), "values of the first objects": first}


class NewValues(InPlaceCheck):
    """Every parameter has its new values and is the same object; buffers stay."""

    blame = {"buffers": "buffers_overwritten"}

    def probe(self, nb, case):
        model = case.build("net", Net)
        found = self.after(nb, model, lambda parameter: self.fresh(case, parameter.shape))
        return {**found, "buffers": dict(model.named_buffers())}

    def truth(self, case):
        model = case.build("net", Net)
        values = {name: self.fresh(case, one.shape) for name, one in model.named_parameters()}
        return {"values": values, "values of the first objects": values, "buffers": dict(model.named_buffers())}

    def mistakes(self, case):
        old, right = dict(case.build("net", Net).named_parameters()), self.truth(case)["values"]

        def only(test):
            return {name: right[name] if test(name) else old[name] for name in old}

        def filled(got):
            return [one.tensor().unique().tolist() for one in got.values()]

        def one_number(got):
            """Each parameter is full of one number, and so are all together."""
            return all(len(one) == 1 for one in filled(got)) and len({one[0] for one in filled(got)}) == 1

        top = only(lambda name: "." not in name)
        weights = only(lambda name: name.endswith(("weight", "bias")))
        return {
            "new_values_rebound": {"values": old},
            "depends_on_old_value": {"values": {name: old[name] + right[name] for name in old}},
            "parameter_replaced": {"values": right, "values of the first objects": old},
            "new_values_ignored": {"values": such_that(one_number)},
            "one_number_for_tensor": {"values": such_that(lambda got: all(len(one) == 1 for one in filled(got)))},
            "not_only_weight_and_bias": {"values": weights},
            "new_values_for_matrices": {"values": AnyOf(only(lambda name: old[name].dim() > 1), only(lambda name: name.endswith("weight")))},
            "new_values_for_some": {
                "values": AnyOf(
                    top,
                    only(lambda name: "." not in name or name.startswith("out")),
                    only(lambda name: name.startswith("out")),
                )
            },
        }


class ValuesAreCopied(InPlaceCheck):
    """`new` may return one tensor again: each parameter has memory of its own."""

    blame = {"values after a change of one": "memory_shared", "what new returned": "memory_shared"}

    def probe(self, nb, case):
        model = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3)))
        start = {shape: case.tensor(f"start {shape}", *shape) for shape in ((3, 3), (3,))}
        nb.function("init_in_place")(model, lambda parameter: start[tuple(parameter.shape)])
        with torch.no_grad():
            model[0].weight.add_(1)
            model[0].bias.mul_(2)
        return {"values after a change of one": self.values(model), "what new returned": list(start.values())}

    def truth(self, case):
        weight, bias = case.tensor("start (3, 3)", 3, 3), case.tensor("start (3,)", 3)
        changed = {"0.weight": weight + 1, "0.bias": bias * 2, "1.0.weight": weight, "1.0.bias": bias}
        return {"values after a change of one": changed, "what new returned": [weight, bias]}


class StaysWhatItIs(InPlaceCheck):
    """Frozen parameters stay frozen, trained ones trained, and each keeps its dtype."""

    blame = {"gradients of a sum of all": "frozen_thawed"}

    def model(self, case):
        model = case.build("net", Net).double()
        model.features[0].weight.requires_grad_(False)
        model.offset.requires_grad_(False)
        return model

    def probe(self, nb, case):
        model = self.model(case)
        found = self.after(nb, model, lambda parameter: self.fresh(case, parameter.shape))
        return {"values": found["values"], "gradients of a sum of all": self.gradients(model, case)}

    def truth(self, case):
        model = self.model(case)
        values = {name: self.fresh(case, one.shape).double() for name, one in model.named_parameters()}
        return {"values": values, "gradients of a sum of all": self.gradients(model, case)}

    def gradients(self, model, case):
        gradients_from((), model, case)
        return gradients_left(dict(model.named_parameters()), case)

    def mistakes(self, case):
        right, old = self.truth(case), dict(self.model(case).named_parameters())
        kept = {name: value if old[name].requires_grad else old[name] for name, value in right["values"].items()}
        none = {name: case.tensor(f"no gradient of {name}", *one.shape).double() for name, one in old.items()}
        return {
            "frozen_not_initialised": {"values": kept},
            "dtype_taken_over": {"values": such_that(lambda got: any(one.dtype == "float32" for one in got.values()))},
            "init_not_trainable": {"values": right["values"], "gradients of a sum of all": none},
        }


class OnceForEach(InPlaceCheck):
    """`new` is called once for each parameter, also if layers share it."""

    blame = {"values": "new_asked_twice", "the number of calls of new": "new_asked_twice"}
    claims = ("the number of calls of new",)  # the probe's own function counts

    def model(self):
        block, tied = nn.Sequential(nn.Linear(3, 3)), nn.Linear(3, 3)
        tied.weight = block[0].weight
        return nn.Sequential(block, nn.Sequential(block, tied))

    def new(self, case, old):
        """Depends on what was there: who asks twice gets another answer."""
        return old.detach() / 3 + self.fresh(case, old.shape)

    def probe(self, nb, case):
        model, asked = case.build("net", self.model), []

        def new(parameter):
            asked.append(parameter)
            return self.new(case, parameter)

        return {"values": self.after(nb, model, new)["values"], "the number of calls of new": len(asked)}

    def truth(self, case):
        named = dict(case.build("net", self.model).named_parameters())
        return {"values": {name: self.new(case, one) for name, one in named.items()}, "the number of calls of new": len(named)}


check("init_in_place", NewValues, ValuesAreCopied, StaysWhatItIs, OnceForEach)


# --- Hidden checks: graders run them, learners do not get them. ---
def _some_layers(case):
    """Layers of several kinds in an order of the seed; one is shared, one frozen, one in double precision."""
    n = case.integer("hidden size", 3, 6)
    layers = [nn.Linear(n, n), nn.Conv1d(n, n, 1), nn.BatchNorm1d(n), nn.LayerNorm(n), nn.PReLU(n), nn.Bilinear(n, n, n)]
    shared, frozen, double, *rest = case.shuffled("hidden layers", layers)
    frozen.requires_grad_(False)
    return nn.Sequential(shared, frozen, nn.Sequential(shared, *rest, nn.Sequential(double.double())))


def _of(case, old):
    return case.tensor(f"hidden new {tuple(old.shape)}", *old.shape)


class WhoHoldsThem(Check):
    """Whoever holds the parameters of one more model finds new values there, and trains them apart."""

    def probe(self, nb, case):
        model = case.build("hidden net", _some_layers, case)
        held, returned = dict(model.named_parameters()), {}

        def new(old):
            key = tuple(old.shape)
            returned[key] = returned.get(key, _of(case, old))
            return returned[key]

        nb.function("init_in_place")(model, new)
        with torch.no_grad():
            for name, one in held.items():
                one.add_(case.tensor(f"hidden step {name}", *one.shape))
        nb.function("init_in_place")(model, lambda old: old * 2)
        gradients_from((), model, case)
        named, buffers = dict(model.named_parameters()), dict(model.named_buffers())
        return {"values": held, "registered": named, "gradients": gradients_left(held, case), "buffers": buffers}

    def truth(self, case):
        model = case.build("hidden net", _some_layers, case)
        gradients_from((), model, case)
        named, buffers, values = dict(model.named_parameters()), dict(model.named_buffers()), {}
        for name, one in named.items():
            values[name] = 2 * (_of(case, one).to(one.dtype) + case.tensor(f"hidden step {name}", *one.shape).to(one.dtype))
        values = Close(values, rtol=1e-4, atol=1e-4)
        return {"values": values, "registered": values, "gradients": gradients_left(named, case), "buffers": buffers}


check("init_in_place", WhoHoldsThem)
