import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.awkward import KINDS, awkward_models, several_groups
from course.traces import gradients_left, what_runs
from course.truths import ANYTHING, as_before, other_than



def _sgd(parameters, case):
    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9)


def _train_step(model, offset, optimizers, case, name):
    """One step of training on data called ``name``; the offset, where there is one, is added to the output."""
    output = model(case.tensor(f"x {name}", 5, 3))
    loss = ((output if offset is None else output + offset) * case.tensor(f"upstream {name}", 5, 2)).sum()
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()


def _trained_by_learner(nb, case, make):
    """A model after one step without the offset and two steps with it, its optimizer, and a gradient in between."""
    model = case.build("model", nn.Linear, 3, 2)
    optimizer = make(model.parameters(), case)
    _train_step(model, None, [optimizer], case, "one")
    nb.function("add_offset")(model, 2, optimizer)
    gradient = None if model.weight.grad is None else model.weight.grad.clone()
    for name in ("two", "three"):
        _train_step(model, model.offset, [optimizer], case, name)
    return model, optimizer, gradient


def _trained_apart(case, make, times=1, extra_step=False):
    """The same, by an optimizer for the old parameters and another, of the same kind, for the offset.

    The options are mistakes: the offset is added more than once; one step more is made.
    """
    model = case.build("model", nn.Linear, 3, 2)
    offset = nn.Parameter(torch.zeros(2))
    old, new = make(model.parameters(), case), make([offset], case)
    _train_step(model, None, [old], case, "one")
    gradient = model.weight.grad.clone()
    if extra_step:
        old.step()
    for name in ("two", "three"):
        _train_step(model, times * offset, [old, new], case, name)
    return model, offset, gradient


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
    """The model has a parameter `offset`: zeros, of the given size, which needs a gradient."""

    blame = {
        "isinstance(model.offset, Parameter)": "unregistered_from_outside",
        "offset of size 1": "offset_shape",
    }

    def probe(self, nb, case):
        size = case.integer("size", 3, 9)
        model = self.model(case)
        nb.function("add_offset")(model, size, torch.optim.SGD(model.parameters(), lr=0.1))
        offset = getattr(model, "offset", None)
        return {
            "model.offset": offset,
            "parameters": sorted(name for name, _ in model.named_parameters()),
            "offset.requires_grad": getattr(offset, "requires_grad", None),
            "isinstance(model.offset, Parameter)": isinstance(offset, nn.Parameter),
            "values of the parameters": dict(model.named_parameters()),
            "offset, asked for what only a Parameter has": self.asked_as_parameter(offset, case),
            "offset of size 1": self.of_size_one(nb.function("add_offset")),
        }

    def of_size_one(self, add_offset):
        model = nn.Linear(3, 1)
        add_offset(model, 1, torch.optim.SGD(model.parameters(), lr=0.1))
        return getattr(model, "offset", None)

    def asked_as_parameter(self, offset, case):
        """What only a real Parameter has: its class has a method more meanwhile."""
        nn.Parameter.in_this_check = lambda self: self.detach() + case.tensor("only a Parameter", *self.shape)
        try:
            return offset.in_this_check()
        except AttributeError:
            return None
        finally:
            del nn.Parameter.in_this_check

    def model(self, case):
        """A part of it has a parameter of that name already, at another place."""
        inside = nn.ParameterDict({"offset": case.tensor("inside", 2)})
        return case.build("model", lambda: nn.Sequential(nn.Linear(3, case.integer("size", 3, 9)), inside))

    def truth(self, case):
        offset = torch.zeros(case.integer("size", 3, 9))
        return {
            "model.offset": torch.zeros(case.integer("size", 3, 9)),
            "parameters": ["0.bias", "0.weight", "1.offset", "offset"],
            "offset.requires_grad": True,
            "isinstance(model.offset, Parameter)": True,
            "values of the parameters": {"offset": offset, **dict(self.model(case).named_parameters())},
            "offset, asked for what only a Parameter has": case.tensor("only a Parameter", *offset.shape),
            "offset of size 1": torch.zeros(1),
        }

    def mistakes(self, case):
        size = case.integer("size", 3, 9)

        def says(test):
            return {"model.offset": Matches(lambda found: None if test(found) else "something else", "this mistake")}

        return {
            "attributes_missing": {"model.offset": None, "parameters": ["0.bias", "0.weight", "1.offset"]},
            "anatomy_other_names": AnyOf(
                {"model.offset": None},
                {"parameters": Matches(lambda found: None if "offset.0" in found else "something else", "offset.0")},
            ),
            "sizes_of_example": {"model.offset": torch.zeros(2)},
            "offset_shape": says(lambda found: found.shape != (size,)),
            "anatomy_wrong_dtype": says(lambda found: found.dtype != "float32"),
            "wrong_start": {"model.offset": other_than(torch.zeros(size))},
            "unregistered_from_outside": {"parameters": ["0.bias", "0.weight", "1.offset"]},
            "gradient_cut": {"parameters": ["0.bias", "0.weight", "1.offset", "offset"], "offset.requires_grad": False},
        }


class JoinsTheTraining(_OfTheOffset):
    """The optimizer that was there before trains `offset`."""

    blame = {"model.offset": "anatomy_settings_typed_in"}

    def probe(self, nb, case):
        return {"model.offset": _trained_by_learner(nb, case, _sgd)[0].offset}

    def truth(self, case):
        return {"model.offset": _trained_apart(case, _sgd)[1]}

    def mistakes(self, case):
        return {
            "optimizer_does_not_know": {"model.offset": torch.zeros(2)},
            "offset_used_twice": {"model.offset": _trained_apart(case, _sgd, times=2)[1]},
        }


class OthersGoOn(_OfTheOffset):
    """The other parameters are trained on as if nothing had happened: values, gradients and momentum stay."""

    blame = {
        "model.weight": "group_replaced",
        "model.bias": "group_replaced",
        "model.weight.grad after the call": "anatomy_gradients_thrown_away",
    }

    def probe(self, nb, case):
        model, optimizer, gradient = _trained_by_learner(nb, case, _sgd)
        held = [id(p) for group in optimizer.param_groups for p in group["params"]]
        return {
            "model.weight": model.weight,
            "model.bias": model.bias,
            "model.weight.grad after the call": gradient,
            "times the optimizer holds model.weight": held.count(id(model.weight)),
        }

    def truth(self, case):
        model, _, gradient = _trained_apart(case, _sgd)
        return {
            "model.weight": model.weight,
            "model.bias": model.bias,
            "model.weight.grad after the call": gradient,
            "times the optimizer holds model.weight": ANYTHING,
        }

    def mistakes(self, case):
        return {
            "parameter_in_two_groups": {"times the optimizer holds model.weight": 2},
            "anatomy_one_step_more": {"model.weight": _trained_apart(case, _sgd, extra_step=True)[0].weight},
        }


class AnotherOptimizer(_OfTheOffset):
    """The same with another optimizer and another learning rate."""

    blame = {"model.offset": "anatomy_settings_typed_in"}

    def make(self, parameters, case):
        return torch.optim.AdamW(parameters, lr=case.integer("lr", 2, 9) / 100, weight_decay=0.5)

    def probe(self, nb, case):
        return {"model.offset": _trained_by_learner(nb, case, self.make)[0].offset}

    def truth(self, case):
        return {"model.offset": _trained_apart(case, self.make)[1]}


class AnyModelAnyGroups(_OfTheOffset):
    """In any model, also if the optimizer's groups have settings of their own: `offset` gets the optimizer's, the rest keeps its own."""

    cases = 1  # many models
    kinds = ("shared", "tied", "partly_frozen", "mixed_modes", "none_place", "look_alike", "the_layer", "float64")
    blame = {
        f"{what} of {KINDS[kind].says}": "anatomy_settings_typed_in" if what == "offset" else "anatomy_changes_the_rest"
        for kind in kinds
        for what in ("offset", "parameters", "gradients", "run")
    }

    def optimizer(self, parameters):
        return torch.optim.SGD(parameters, lr=0.25, momentum=0.9)

    def trained(self, model, x, add_offset, case):
        """The offset and the rest after a step without the offset, the call, and two steps with it; what runs then."""
        optimizers, offset = [self.optimizer(several_groups(model))], None
        for part in model.modules():
            if isinstance(part, nn.Linear):
                part.register_forward_hook(lambda module, inputs, output: output / 2)
        for step in range(3):
            output = model(x) if offset is None else model(x) + offset
            for optimizer in optimizers:
                optimizer.zero_grad()
            (output * case.tensor(f"upstream {step}", *output.shape, dtype=output.dtype)).sum().backward()
            for optimizer in optimizers:
                optimizer.step()
            if step == 0:
                offset, optimizers = add_offset(model, output.shape[-1], optimizers)
        rest = {name: one for name, one in model.named_parameters() if name != "offset"}
        return offset, rest, gradients_left(rest, case), what_runs(model, case, lambda: model(x))

    def brought(self, add_offset, case):
        found = {}
        for says, (model, x) in awkward_models(case, *self.kinds).items():
            for what, one in zip(("offset", "parameters", "gradients", "run"), self.trained(model, x, add_offset, case)):
                found[f"{what} of {says}"] = one
        return found

    def probe(self, nb, case):
        def by_learner(model, size, optimizers):
            nb.function("add_offset")(model, size, optimizers[0])
            return model.offset, optimizers

        return self.brought(by_learner, case)

    def truth(self, case):
        def apart(model, size, optimizers):
            offset = nn.Parameter(torch.zeros(size))
            return offset, [*optimizers, self.optimizer([offset])]

        wanted = self.brought(apart, case)
        return {name: as_before(one) if name.startswith("run of") else one for name, one in wanted.items()}

    def mistakes(self, case):
        def like_a_group(number):
            def add(model, size, optimizers):
                offset, settings = nn.Parameter(torch.zeros(size)), dict(optimizers[0].param_groups[number])
                return offset, [*optimizers, torch.optim.SGD([{**settings, "params": [offset]}])]

            return add

        def in_one_group(lr):
            def joined(model, size, optimizers):
                offset, (optimizer,) = nn.Parameter(torch.zeros(size)), optimizers
                for group in optimizer.param_groups:
                    group.update(lr=lr, weight_decay=0)
                return offset, [optimizer, torch.optim.SGD([offset], lr=lr, momentum=0.9)]

            return joined

        tied = KINDS["tied"].says

        def of(add_offset, what):
            offset, parameters, *_ = self.trained(*awkward_models(case, "tied")[tied], add_offset, case)
            return {f"{what} of {tied}": offset if what == "offset" else parameters}

        float64 = f"offset of {KINDS['float64'].says}"
        return {
            "anatomy_wrong_dtype": {float64: Matches(lambda found: None if found.dtype == "float64" else "float32", "float64")},
            "anatomy_groups_made_one": AnyOf(of(in_one_group(0.1), "parameters"), of(in_one_group(0.25), "parameters")),
            "anatomy_settings_of_a_group": AnyOf(*(of(like_a_group(number), "offset") for number in (0, -1))),
        }


class OneOptimizerForAll(_OfTheOffset):
    """One group with a rate of its own, which holds a part of a model, and three offsets, one of a model that is all frozen."""

    settings = {"lr": 0.25, "momentum": 0.5, "weight_decay": 0.2, "nesterov": True}
    names = ("a model in part frozen and in part not held", "a frozen model", "a model without parameters")
    blame = {
        **{f"offset of {name}": "optimizer_does_not_know" for name in names},
        "parameters": "anatomy_changes_the_rest",
        "gradients": "anatomy_changes_the_rest",
    }

    def make(self):
        parts = nn.Sequential(nn.Linear(3, 3).requires_grad_(False), nn.Linear(3, 3), nn.Linear(3, 2))
        return nn.ModuleList([parts, nn.Linear(3, 2).requires_grad_(False), nn.Tanh()])

    def trained(self, add_offsets, case):
        """The offsets and all parameters: two steps after the call, the rate of the first group has changed before and after it."""
        models = case.build("three models", self.make)
        held = [*models[0][0].parameters(), *models[0][2].parameters()]
        optimizer = torch.optim.SGD([{"params": held, "lr": 0.3}], **self.settings)
        optimizer.param_groups[0]["initial_lr"] = 0.3  # as a scheduler notes it
        optimizers, offsets = [optimizer], [0, 0, 0]
        for step in range(3):
            optimizer.param_groups[0]["lr"] = 0.3 / (step + 1)
            if step == 1:
                optimizer.param_groups[0]["lr"] = 0.2
                offsets, optimizers = add_offsets(models, optimizer)
                optimizer.param_groups[0]["lr"] = 0.1
            total = 0
            for number, (model, offset) in enumerate(zip(models, offsets)):
                output = model(case.tensor(f"x {step}", 5, 3)) + offset
                total = total + (output * case.tensor(f"upstream {step} {number}", *output.shape)).sum()
            for one in optimizers:
                one.zero_grad()
            total.backward()
            for one in optimizers:
                one.step()
        rest = {name: one for name, one in models.named_parameters() if not name.endswith("offset")}
        found = {f"offset of {name}": offset for name, offset in zip(self.names, offsets)}
        return {**found, "parameters": rest, "gradients": gradients_left(rest, case)}

    def probe(self, nb, case):
        def by_learner(models, optimizer):
            for model, size in zip(models, (2, 2, 3)):
                nb.function("add_offset")(model, size, optimizer)
            return [model.offset for model in models], [optimizer]

        return self.trained(by_learner, case)

    def apart(self, **settings):
        def add(models, optimizer):
            offsets = [nn.Parameter(torch.zeros(size)) for size in (2, 2, 3)]
            return offsets, [optimizer, torch.optim.SGD(offsets, **{**self.settings, **settings})]

        return add

    def truth(self, case):
        return self.trained(self.apart(), case)

    def mistakes(self, case):
        key, last = (f"offset of {self.names[number]}" for number in (0, 2))
        slow, wanted = self.trained(self.apart(lr=0.1), case), self.truth(case)
        group = [{key: self.trained(self.apart(lr=lr), case)[key]} for lr in (0.2, 0.3)]
        return {
            "anatomy_settings_of_a_group": AnyOf({key: slow[key]}, *group),
            "anatomy_settings_typed_in": {key: self.trained(self.apart(momentum=0.9), case)[key]},
            "anatomy_changes_the_rest": {key: wanted[key], last: slow[last]},
        }


check(
    "parameter_from_outside",
    OffsetIsRegistered,
    JoinsTheTraining,
    OthersGoOn,
    AnotherOptimizer,
    AnyModelAnyGroups,
    OneOptimizerForAll,
)


# --- Hidden checks: graders run them, learners do not get them. ---
def _settings(case):
    return {
        "lr": case.integer("hidden lr", 1, 9) / 50,
        "momentum": case.integer("hidden momentum", 1, 9) / 10,
        "maximize": True,
    }


class UpTheHill(Check):
    """One more optimizer, with other settings, trains `offset` as it trains the rest."""

    def after_two_steps(self, model, offset, optimizers, case):
        for name in ("hidden one", "hidden two"):
            _train_step(model, offset, optimizers, case, name)
        return {"model.offset": offset, "model.weight": model.weight, "model.bias": model.bias}

    def probe(self, nb, case):
        model = case.build("hidden model", nn.Linear, 3, 2)
        optimizer = torch.optim.SGD(model.parameters(), **_settings(case))
        nb.function("add_offset")(model, 2, optimizer)
        return self.after_two_steps(model, model.offset, [optimizer], case)

    def truth(self, case):
        model, offset = case.build("hidden model", nn.Linear, 3, 2), torch.zeros(2, requires_grad=True)
        optimizers = [torch.optim.SGD(held, **_settings(case)) for held in (model.parameters(), [offset])]
        return Close(self.after_two_steps(model, offset, optimizers, case), rtol=1e-4, atol=1e-4)


check("parameter_from_outside", UpTheHill)
