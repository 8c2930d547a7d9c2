import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.truths import ANYTHING, other_than


class _OfTheOffset(Check):
    """What all checks of add_offset have in common: the errors that only one misconception brings."""

    errors = {
        r"TypeError: param_group must be a dict": "anatomy_group_in_another_form",
        r"TypeError: optimizer can only optimize Tensors": "anatomy_group_in_another_form",
        r"ValueError: can't optimize a non-leaf": "optimizer_does_not_know",
        r"ValueError: loaded state dict": "group_replaced",
        r"KeyError: '(lr|momentum|weight_decay|maximize|foreach|fused|betas)'": "anatomy_group_without_settings",
        r"KeyError: '(step|exp_avg|momentum_buffer)'": "anatomy_settings_typed_in",
        r"TypeError: \w+\.__init__\(\) got an unexpected keyword": "group_replaced",
        r"TypeError: (parameter|buffer) name should be a string": "anatomy_register_arguments",
        r"AttributeError: 'Linear' object has no attribute 'offset'": "attributes_missing",
        r"KeyError: .attribute 'offset' already exists": "anatomy_name_taken",
        r"RuntimeError: Only Tensors of floating point": "anatomy_whole_numbers",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
        r"AttributeError: module '\S+' has no attribute": "anatomy_misspelt_method",
        r"TypeError: add_offset\(\) (takes|got|missing)": "anatomy_other_signature",
    }


class OffsetIsRegistered(_OfTheOffset):
    """The model has a parameter `offset`: zeros, of the given size."""

    def probe(self, nb, case):
        size = case.integer("size", 3, 9)
        model = case.build("model", nn.Linear, 3, size)
        nb.function("add_offset")(model, size, torch.optim.SGD(model.parameters(), lr=0.1))
        offset = getattr(model, "offset", None)
        needs = getattr(offset, "requires_grad", None)
        return {"model.offset": offset, "offset.requires_grad": needs, "parameters": dict(model.named_parameters())}

    def truth(self, case):
        size = case.integer("size", 3, 9)
        named = dict(case.build("model", nn.Linear, 3, size).named_parameters())
        return {"model.offset": torch.zeros(size), "offset.requires_grad": True, "parameters": {**named, "offset": torch.zeros(size)}}

    def mistakes(self, case):
        size = case.integer("size", 3, 9)

        def says(test):
            return {"model.offset": Matches(lambda found: None if test(found) else "something else", "this mistake")}

        missing = {"parameters": Matches(lambda found: None if set(found) == {"weight", "bias"} else "others", "no offset")}
        return {
            "attributes_missing": {"model.offset": None, **missing},
            "anatomy_other_names": {"model.offset": None},
            "sizes_of_example": {"model.offset": torch.zeros(2)},
            "offset_shape": says(lambda found: found.shape != (size,)),
            "anatomy_wrong_dtype": says(lambda found: found.dtype != "float32"),
            "wrong_start": {"model.offset": other_than(torch.zeros(size))},
            "unregistered_from_outside": missing,
            "anatomy_frozen_parameter": {"offset.requires_grad": False},
        }


def _train_step(model, offset, optimizers, case, name):
    """One step of training on data called ``name``; the offset, where there is one, is added to the output."""
    output = model(case.tensor(f"x {name}", 5, 3))
    loss = ((output if offset is None else output + offset) * case.tensor(f"upstream {name}", 5, 2)).sum()
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()


class JoinsTheTraining(_OfTheOffset):
    """The optimizer trains `offset`, and trains the others on as before."""

    blame = {
        "model.offset": "anatomy_settings_typed_in", "model.weight": "group_replaced", "model.bias": "group_replaced",
        "model.weight.grad after the call": "anatomy_gradients_thrown_away",
    }

    def make(self, parameters, case):
        return torch.optim.SGD(parameters, lr=0.1, momentum=0.9)

    def groups(self, model):
        """What the optimizer is handed."""
        return model.parameters()

    def probe(self, nb, case):
        model = case.build("model", nn.Linear, 3, 2)
        optimizer = self.make(self.groups(model), case)
        _train_step(model, None, [optimizer], case, "one")
        nb.function("add_offset")(model, 2, optimizer)
        gradient = None if model.weight.grad is None else model.weight.grad.clone()
        for name in ("two", "three"):
            _train_step(model, model.offset, [optimizer], case, name)
        held = [id(p) for group in optimizer.param_groups for p in group["params"]]
        return {
            "times the optimizer holds model.weight": held.count(id(model.weight)), "model.weight.grad after the call": gradient,
            "model.offset": model.offset, "model.weight": model.weight, "model.bias": model.bias,
        }

    def truth(self, case):
        return self.trained_apart(case)

    def trained_apart(self, case, times=1, extra_step=False, one_group=False, **of_the_offset):
        """The same, by another optimizer of the same kind for the offset. The options are mistakes."""
        model, offset = case.build("model", nn.Linear, 3, 2), nn.Parameter(torch.zeros(2))
        old, new = self.make(self.groups(model), case), self.make([{"params": [offset], **of_the_offset}], case)
        _train_step(model, None, [old], case, "one")
        gradient = model.weight.grad.clone()
        if extra_step:
            old.step()
        for group in old.param_groups if one_group else ():
            group.update(lr=old.defaults["lr"], weight_decay=old.defaults["weight_decay"])
        for name in ("two", "three"):
            _train_step(model, times * offset, [old, new], case, name)
        return {
            "times the optimizer holds model.weight": ANYTHING, "model.weight.grad after the call": gradient,
            "model.offset": offset, "model.weight": model.weight, "model.bias": model.bias,
        }

    def mistakes(self, case):
        def only(field, **options):
            return {field: self.trained_apart(case, **options)[field]}

        return {
            "optimizer_does_not_know": {"model.offset": torch.zeros(2)},
            "parameter_in_two_groups": {"times the optimizer holds model.weight": 2},
            "offset_used_twice": only("model.offset", times=2),
            "anatomy_one_step_more": only("model.weight", extra_step=True),
        }


class SettingsOfItsOwn(JoinsTheTraining):
    """If the optimizer's groups have settings of their own, `offset` still gets those that the optimizer was built with."""

    def make(self, parameters, case):
        return torch.optim.AdamW(parameters, lr=case.integer("lr", 2, 9) / 100, weight_decay=0.5)

    def groups(self, model):
        return [{"params": [model.weight], "lr": 0.3}, {"params": [model.bias], "weight_decay": 0.0}]

    def mistakes(self, case):
        def offset(**settings):
            return {"model.offset": self.trained_apart(case, **settings)["model.offset"]}

        lr = case.integer("lr", 2, 9) / 100
        rebuilt = self.trained_apart(case, one_group=True)
        return {
            "anatomy_settings_of_a_group": AnyOf(offset(lr=0.3), offset(lr=lr, weight_decay=0.0)),
            "anatomy_groups_made_one": {"model.bias": rebuilt["model.bias"]},
        }


check("parameter_from_outside", OffsetIsRegistered, JoinsTheTraining, SettingsOfItsOwn)


# --- Hidden checks: graders run them, learners do not get them. ---
def _hidden_model(case):
    """As many layers as the seed says, and how many outputs they have."""
    size, depth = case.integer("hidden size", 3, 6), case.integer("hidden depth", 1, 3)
    return nn.Sequential(*(case.build(f"hidden layer {number}", nn.Linear, size, size) for number in range(depth))), size


def _hidden_optimizer(case, groups):
    """One that climbs."""
    lr, momentum = case.integer("hidden lr", 1, 9) / 50, case.integer("hidden momentum", 1, 9) / 10
    return torch.optim.SGD(groups, lr=lr, momentum=momentum, maximize=True)


class UpTheHill(Check):
    """One more optimizer, with other settings, trains `offset`, and goes on training the rest."""

    errors = _OfTheOffset.errors

    def probe(self, nb, case):
        model, size = _hidden_model(case)
        optimizer = _hidden_optimizer(case, [{"params": model[0].weight, "lr": 0.3}, {"params": model[0].bias, "momentum": 0.05}])
        for step in range(4):
            output = model(case.tensor(f"hidden x {step}", 5, size))
            output = output + model.offset if step > 1 else output
            output.backward(case.tensor(f"hidden upstream {step}", 5, size))
            if step == 1:
                nb.function("add_offset")(model, size, optimizer)
            optimizer.step()
            optimizer.zero_grad()
        return {name: [one, one.grad] for name, one in nn.Module.named_parameters(model)}

    def truth(self, case):
        model, size = _hidden_model(case)
        offset = nn.Parameter(torch.zeros(size))
        held = [{"params": model[0].weight, "lr": 0.3}, {"params": model[0].bias, "momentum": 0.05}]
        optimizers = [_hidden_optimizer(case, held), _hidden_optimizer(case, [offset])]
        for step in range(4):
            output = model(case.tensor(f"hidden x {step}", 5, size)) + (offset if step > 1 else 0)
            output.backward(case.tensor(f"hidden upstream {step}", 5, size))
            for one in optimizers:
                one.step()
                one.zero_grad()
        named = {**dict(model.named_parameters()), "offset": offset}
        return Close({name: [one, one.grad] for name, one in named.items()}, rtol=1e-4, atol=1e-4)


check("parameter_from_outside", UpTheHill)
