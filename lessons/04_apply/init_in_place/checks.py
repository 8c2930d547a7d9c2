from contextlib import suppress

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches, is_same
from course.awkward import awkward_models
from course.traces import what_runs
from course.truths import ANYTHING, as_before, such_that


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
        r"AttributeError: 'NoneType' object has no attribute": "absent_is_none",
        r"IndexError: .*0-dim": "number_is_a_tensor",
        r"KeyError: .*parameter name can.*t contain": "parameter_replaced",
        r"TypeError: Got unsupported ScalarType": "dtype_without_numpy",
    }

    def fresh(self, case, shape):
        """New values for a parameter of this shape: every parameter of Net has one of its own."""
        return case.tensor(f"new {tuple(shape)}", *shape)

    def values(self, model):
        return {name: one.detach().clone() for name, one in model.named_parameters()}

    def same(self, model, before):
        after = dict(model.named_parameters())
        return {name: after.get(name) is one for name, one in before.items()}


class NewValues(InPlaceCheck):
    """Every parameter has the values of `new(p)` and is the same object as before; buffers are as they were."""

    blame = {"requires_grad": "init_not_trainable"}

    def probe(self, nb, case):
        model = case.build("net", Net)
        before = dict(model.named_parameters())
        nb.function("init_in_place")(model, lambda parameter: self.fresh(case, parameter.shape))
        return {
            "values": self.values(model),
            "same Parameter object": self.same(model, before),
            "requires_grad": {name: one.requires_grad for name, one in model.named_parameters()},
            "buffers": dict(model.named_buffers()),
        }

    def truth(self, case):
        model = case.build("net", Net)
        return {
            "values": {name: self.fresh(case, one.shape) for name, one in model.named_parameters()},
            "same Parameter object": {name: True for name, _ in model.named_parameters()},
            "requires_grad": {name: True for name, _ in model.named_parameters()},
            "buffers": dict(model.named_buffers()),
        }

    def mistakes(self, case):
        old, right = dict(case.build("net", Net).named_parameters()), self.truth(case)["values"]

        def only(test):
            return {name: right[name] if test(name) else old[name] for name in old}

        def constant(same):
            def test(got):
                found = [one.tensor().unique().tolist() for one in got.values()]
                numbers = {one[0] for one in found if len(one) == 1}  # one per parameter, if each is filled
                return (
                    None if len(found) == sum(len(one) == 1 for one in found) and (len(numbers) == 1) == same else "no"
                )

            return {"values": Matches(test, "")}

        same = self.truth(case)["same Parameter object"]
        top, weights = (only(lambda name: "." not in name), only(lambda name: name.endswith(("weight", "bias"))))
        return {
            "new_values_rebound": {"values": old},
            "depends_on_old_value": {
                "values": AnyOf(*({n: f(old[n], right[n]) for n in old} for f in (torch.add, torch.mul)))
            },
            "parameter_replaced": {"values": right, "same Parameter object": dict.fromkeys(old, False)},
            "new_values_for_some": {
                "values": AnyOf(top, only(lambda name: name.count(".") < 2), only(lambda name: "." in name))
            },
            "not_only_weight_and_bias": {"values": AnyOf(weights, only(lambda name: name.endswith("weight")))},
            "tensor_in_parameters": {"values": {}},
            "new_values_ignored": constant(True),
            "one_number_for_tensor": constant(False),
            "buffers_overwritten": {"values": right, "same Parameter object": same, "buffers": ANYTHING},
        }


class TrainingGoesOn(InPlaceCheck):
    """An optimizer and a hook that were there before go on with the parameters: one step before, one after."""

    lr, momentum = 0.1, 0.9

    def backward(self, model, case, name):
        model.zero_grad()
        model(case.tensor(f"x {name}", 6, 3)).backward(case.tensor(f"upstream {name}", 6, 2))

    def probe(self, nb, case):
        model, calls = case.build("net", Net), []
        optimizer = torch.optim.SGD(model.parameters(), lr=self.lr, momentum=self.momentum)
        model.out.weight.register_hook(lambda grad: calls.append(grad))
        self.backward(model, case, "one")
        optimizer.step()
        nb.function("init_in_place")(model, lambda parameter: self.fresh(case, parameter.shape))
        self.backward(model, case, "two")
        optimizer.step()
        return {"values after a step": self.values(model), "calls of a hook": len(calls)}

    def truth(self, case):
        model = case.build("net", Net)
        names = [name for name, _ in model.named_parameters()]
        one = self.gradients(model, dict(model.named_parameters()), case, "one")
        new = {name: self.fresh(case, value.shape).requires_grad_() for name, value in model.named_parameters()}
        two = self.gradients(model, new, case, "two")
        moved = {name: new[name] - self.lr * (self.momentum * one[name] + two[name]) for name in names}
        return {"values after a step": moved, "calls of a hook": 2}

    def mistakes(self, case):
        not_moved = {name: self.fresh(case, one.shape) for name, one in case.build("net", Net).named_parameters()}
        return {"parameter_replaced": AnyOf({"values after a step": not_moved}, {"calls of a hook": 1})}

    def gradients(self, model, parameters, case, name):
        out = torch.func.functional_call(model, parameters, (case.tensor(f"x {name}", 6, 3),))
        grads = torch.autograd.grad(out, list(parameters.values()), case.tensor(f"upstream {name}", 6, 2))
        return dict(zip(parameters, grads))


class ValuesAreCopied(InPlaceCheck):
    """`new` may return one and the same tensor again: each parameter has memory of its own."""

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

    def mistakes(self, case):
        model = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3)))
        shapes = {name: one.shape for name, one in model.named_parameters()}
        starts = {name: case.tensor(f"start {tuple(shape)}", *shape) for name, shape in shapes.items()}
        changed = self.truth(case)["values after a change of one"]

        def left_out(got):
            """Some hold neither what they should nor what comes of it in a memory that they share."""
            return any(
                not any(is_same(got[name], one) for one in (changed[name], starts[name], starts[name] + 1, starts[name] * 2))
                for name in starts
            )

        return {
            "new_values_for_some": {
                "values after a change of one": such_that(left_out),
                "what new returned": list(self.truth(case)["what new returned"]),
            }
        }


class StaysWhatItIs(InPlaceCheck):
    """Frozen parameters stay frozen, trained ones trained, and each keeps its dtype, of more digits or fewer."""

    blame = {"requires_grad": "frozen_thawed"}
    errors = {**InPlaceCheck.errors, r"RuntimeError: Can't call numpy\(\) on Tensor that requires grad": "dtype_without_numpy"}

    def model(self, case):
        model = case.build("net", Net).double()
        model.out.bfloat16()
        model.features[0].weight.requires_grad_(False)
        model.offset.requires_grad_(False)
        return model

    def probe(self, nb, case):
        model = self.model(case)
        nb.function("init_in_place")(model, lambda parameter: self.fresh(case, parameter.shape))
        return {
            "values": self.values(model),
            "requires_grad": {name: one.requires_grad for name, one in model.named_parameters()},
            "what runs": self.runs(model, case),
            "values where new computes with the parameter": self.computed_with(nb.function("init_in_place"), case),
        }

    def computed_with(self, init_in_place, case):
        """What `new` returns has the dtype of the parameter here, and may have a graph behind it."""
        model = self.model(case)
        init_in_place(model, lambda parameter: parameter * 2)
        return self.values(model)

    def runs(self, model, case):
        """Which parameters a gradient reaches: all of them where none is frozen, in whatever dtype."""


        def run():
            with suppress(AttributeError):  # all are frozen
                sum(one.double().sum() for one in model.parameters() if one.requires_grad).backward()

        return what_runs(model, case, run)

    def truth(self, case):
        model = self.model(case)
        named = dict(model.named_parameters())
        return {
            "values": {name: self.fresh(case, one.shape).to(one.dtype) for name, one in named.items()},
            "requires_grad": {name: one.requires_grad for name, one in named.items()},
            "what runs": as_before(self.runs(model, case)),
            "values where new computes with the parameter": {name: 2 * one.detach() for name, one in named.items()},
        }

    def mistakes(self, case):
        old, right = dict(self.model(case).named_parameters()), self.truth(case)["values"]
        kept = {name: right[name] if one.requires_grad else one for name, one in old.items()}
        single = Matches(lambda got: None if any(one.dtype == "float32" for one in got.values()) else "no", "")
        zeros = {name: torch.zeros_like(one) for name, one in right.items()}
        return {
            "frozen_not_initialised": {"values": kept},
            "dtype_taken_over": {"values": single},
            "cleared_before_new": {"values": right, "values where new computes with the parameter": zeros},
        }


class OnceForEach(InPlaceCheck):
    """In any model `new` is called once for each parameter, also if layers share it, or if a layer has two names."""

    cases = 1
    claims = ("calls of new",)  # the probe's own function counts
    kinds = ("shared", "tied", "partly_frozen", "norm_in_eval", "none_place", "float64", "look_alike", "the_layer")

    def new(self, case, parameter):
        """Depends on what was there: who asks twice gets another answer."""
        old = parameter.detach()
        return old / 3 + case.tensor(f"new {tuple(old.shape)}", *old.shape, dtype=old.dtype)

    def probe(self, nb, case):
        values, calls = {}, {}
        for says, (model, _) in awkward_models(case, *self.kinds).items():
            asked = []

            def new(parameter):
                asked.append(parameter)
                return self.new(case, parameter)

            nb.function("init_in_place")(model, new)
            values[says] = {**self.values(model), **dict(model.named_buffers())}
            calls[says] = len(asked)
        return {"values in": values, "calls of new": calls}

    def truth(self, case):
        values, calls = {}, {}
        for says, (model, _) in awkward_models(case, *self.kinds).items():
            named = dict(model.named_parameters())
            wanted = {name: self.new(case, one) for name, one in named.items()} | dict(model.named_buffers())
            doubles = next(iter(wanted.values())).dtype == torch.float64  # whose digits float32 does not hold
            values[says] = Close(wanted, rtol=1e-12, atol=1e-12) if doubles else wanted
            calls[says] = len(named)
        return {"values in": values, "calls of new": calls}

    def mistakes(self, case):
        right = self.truth(case)
        wanted, values = right["calls of new"], right["values in"]

        def of_doubles(got):
            """All that is wrong is that of models in float64."""
            return all(is_same(got[says], one) or type(one) is Close for says, one in values.items())

        def of_zeros(got):
            """`new` found zeros in the parameters."""
            return all(
                is_same(got[says][name], self.new(case, torch.zeros_like(one)))
                for says, (model, _) in awkward_models(case, *self.kinds).items()
                for name, one in model.named_parameters()
            )

        def of_buffers(got):
            return any(
                not is_same(got[says][name], one)
                for says, (model, _) in awkward_models(case, *self.kinds).items()
                for name, one in model.named_buffers()
            )

        return {
            "cleared_before_new": {"values in": such_that(of_zeros), "calls of new": wanted},
            "digits_lost_in_place": {"values in": such_that(of_doubles), "calls of new": wanted},
            "buffers_overwritten": {"values in": such_that(of_buffers), "calls of new": wanted},
            "new_values_for_some": {
                "calls of new": such_that(lambda got: any(got[says] < number for says, number in wanted.items()))
            },
            "new_asked_twice": {
                "calls of new": such_that(lambda got: any(got[says] > number for says, number in wanted.items()))
            }
        }


class Transposed(nn.Module):
    """Its weight lies in memory column by column; another parameter of the same shape lies row by row."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(4, 3).t())
        self.other = nn.Parameter(torch.rand(3, 4))


class TheParameterItself(InPlaceCheck):
    """`new` gets the parameter itself; what that held, how it or the new one lies in memory, and an earlier call do not matter."""

    blame = {
        "where new looks up its argument": "new_gets_another_tensor",
        "where it held NaN": "depends_on_old_value",
        "where it lies column by column": "written_into_a_copy",
        "where it gets new values again": "new_values_only_once",
        "where what new returns lies column by column": "new_lies_in_another_way",
    }
    errors = {**InPlaceCheck.errors, r"RuntimeError: view size is not compatible": "new_lies_in_another_way"}

    def probe(self, nb, case):
        init_in_place = nb.function("init_in_place")
        model, wanted = case.build("net", Net), {}
        for one in model.parameters():
            wanted[one] = self.fresh(case, one.shape)
        init_in_place(model, lambda got: wanted.get(got, torch.zeros_like(got)))
        not_a_number, transposed = case.build("net", Net), case.build("transposed", Transposed)
        with torch.no_grad():
            not_a_number.offset.fill_(float("nan"))
            not_a_number.features[0].weight.fill_(float("-inf"))
        for one in (not_a_number, transposed):
            init_in_place(one, lambda got: self.fresh(case, got.shape))
        looked_up = self.values(model)
        init_in_place(model, lambda got: -self.fresh(case, got.shape))
        column_by_column = case.build("net", Net)
        init_in_place(column_by_column, lambda got: self.fresh(case, got.shape).t().contiguous().t())
        return {
            "where new looks up its argument": looked_up,
            "where it gets new values again": self.values(model),
            "where what new returns lies column by column": self.values(column_by_column),
            "where it held NaN": self.values(not_a_number),
            "where it lies column by column": self.values(transposed),
        }

    def truth(self, case):
        values = {name: self.fresh(case, one.shape) for name, one in case.build("net", Net).named_parameters()}
        return {
            "where new looks up its argument": values,
            "where it gets new values again": {name: -one for name, one in values.items()},
            "where what new returns lies column by column": values,
            "where it held NaN": values,
            "where it lies column by column": dict.fromkeys(("weight", "other"), self.fresh(case, (3, 4))),
        }


check(
    "init_in_place", NewValues, TrainingGoesOn, ValuesAreCopied, StaysWhatItIs, OnceForEach, TheParameterItself
)


# --- Hidden checks: graders run them, learners do not get them. ---
def _filter_net():
    return nn.Sequential(nn.Conv1d(2, 3, 2), nn.Softsign(), nn.Flatten(), nn.Linear(12, 4))


class WhoHoldsThem(Check):
    """In one more model, whoever holds the parameters finds the new values and their gradients there."""

    def probe(self, nb, case):
        model = case.build("hidden net", _filter_net)
        held = dict(model.named_parameters())
        nb.function("init_in_place")(model, lambda got: case.tensor(f"hidden {tuple(got.shape)}", *got.shape))
        model(case.tensor("hidden x", 5, 2, 5)).backward(case.tensor("hidden upstream", 5, 4))
        return {"values": held, "gradients": {name: one.grad for name, one in held.items()}}

    def truth(self, case):
        shapes = {"0.weight": (3, 2, 2), "0.bias": (3,), "3.weight": (4, 12), "3.bias": (4,)}
        values = {name: case.tensor(f"hidden {shape}", *shape, requires_grad=True) for name, shape in shapes.items()}
        kernel, shift, weight, bias = values.values()
        filtered = nn.functional.conv1d(case.tensor("hidden x", 5, 2, 5), kernel, shift)
        output = nn.functional.linear(nn.functional.softsign(filtered).flatten(1), weight, bias)
        gradients = torch.autograd.grad(output, list(values.values()), case.tensor("hidden upstream", 5, 4))
        return {"values": values, "gradients": Close(dict(zip(values, gradients)), rtol=1e-4, atol=1e-4)}


check("init_in_place", WhoHoldsThem)
