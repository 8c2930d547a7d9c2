from unittest.mock import patch

import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.awkward import KINDS, awkward_models
from course.traces import attributes_on, gradients_from, what_runs
from course.truths import ANYTHING, as_before, other_than



class _ActBlock(nn.Module):
    """Two layers, each with an activation after it."""

    def __init__(self, first, second):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), first, nn.LeakyReLU(), nn.ReLU6())
        self.linear = nn.Linear(3, 3)
        self.act = second

    def forward(self, x):
        return self.act(self.linear(self.inner(x)))


class _ActNet(nn.Module):
    """Activations on three levels. ``kind`` makes them; ``shared`` puts an object, and a whole block, at two places."""

    def __init__(self, kind, shared=False):
        super().__init__()
        one = kind()
        self.stem = nn.Linear(3, 3)
        self.act = kind()
        self.last = self.act if shared else kind()
        self.blocks = nn.ModuleList([_ActBlock(one, kind()), _ActBlock(one if shared else kind(), nn.PReLU())])
        if shared:
            self.again = self.blocks[0]
        self.stem.bias.requires_grad_(False)

    def forward(self, x):
        x = self.act(self.stem(x))
        for block in self.blocks:
            x = block(x)
        return self.last(x)


_Foreign = type("ReLU", (nn.Module,), {"forward": lambda self, x: 2 * x})
"""A class of somebody else's with the name of nn.ReLU."""


def _places(model):
    """What stands where below the model: 'blocks.0.act: Tanh'."""
    return [
        f"{name}: {'Tanh' if isinstance(module, nn.Tanh) else type(module).__name__.lstrip('_')}"
        for name, module in model.named_modules(remove_duplicate=False)
        if name
    ]


class _OfTheSwap(Check):
    """What all checks of swap_relu have in common: the errors that only one misconception brings."""

    errors = {
        r"AttributeError: 'NoneType' object": "absent_is_none",
        r"TypeError: cannot assign 'torch\.nn\.modules\.": "anatomy_class_for_module",
        r"ValueError: .module. is not an nn.Module, found <class 'type'>": "anatomy_class_for_module",
        r"ValueError: .module. is not an nn.Module": "function_for_module",
        r"ValueError: (not enough|too many) values to unpack": "anatomy_parent_not_found",
        r"AttributeError: '\w+' object has no attribute '(|[\w.]*\.[\w.]*|\d+)'": "anatomy_parent_not_found",
        r"AttributeError: .* has no attribute `": "anatomy_parent_not_found",
        r"ValueError: Cannot set the submodule without a target": "anatomy_root_has_no_parent",
        r"RuntimeError: (OrderedDict mutated|dictionary)": "anatomy_changed_while_walking",
        r"KeyError: .module name can.?.?t contain": "dotted_setattr",
        r"(ValueError: invalid literal for int|TypeError: 'str' object cannot be inter)": "anatomy_parent_not_found",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
        r"AttributeError: module '\S+' has no attribute": "anatomy_misspelt_method",
        r"TypeError: swap_relu\(\) (takes|got|missing)": "anatomy_other_signature",
    }

    def runs(self, model, case):
        return what_runs(model, case, lambda: model(case.tensor("another x", 4, 3)))

    def with_another_tanh(self, model, case):
        """What only a real nn.Tanh takes part in: its class computes something else meanwhile."""
        before, scale = nn.Tanh.forward, case.tensor("scale", 3)
        nn.Tanh.forward = lambda self, x: x * scale
        try:
            return model(case.tensor("x", 4, 3))
        finally:
            nn.Tanh.forward = before


class EveryReluReplaced(_OfTheSwap):
    """Every ReLU, at any depth, is replaced in the model itself; nothing else is."""

    claims = ("the returned value",)  # `is` belongs to the language
    blame = {
        "the returned value": "copied_model",
        "everything else is kept": "anatomy_changes_the_rest",
        "output": "anatomy_changes_the_rest",
    }

    def probe(self, nb, case):
        model = case.build("net", _ActNet, nn.ReLU)
        kept = [id(part) for part in model.modules() if type(part) is not nn.ReLU] + [id(p) for p in model.parameters()]
        returned = nb.function("swap_relu")(model)
        after = {id(part) for part in model.modules()} | {id(p) for p in model.parameters()}
        return {
            "places": _places(model),
            "the returned value": "nothing"
            if returned is None
            else "the model"
            if returned is model
            else "a part of the model"
            if any(returned is part for part in model.modules())
            else "something else",
            "everything else is kept": all(one in after for one in kept),
            "parameters that need a gradient": [name for name, p in model.named_parameters() if p.requires_grad],
            "output": model(case.tensor("x", 4, 3)),
            "output where every Tanh computes something else": self.with_another_tanh(model, case),
            "parameter.grad": gradients_from([model(case.tensor("x", 4, 3))], model, case),
        }

    def truth(self, case):
        model = case.build("net", _ActNet, nn.Tanh)
        return {
            "places": _places(model),
            "the returned value": "the model",
            "everything else is kept": True,
            "parameters that need a gradient": [name for name, p in model.named_parameters() if p.requires_grad],
            "output": model(case.tensor("x", 4, 3)),
            "output where every Tanh computes something else": self.with_another_tanh(model, case),
            "parameter.grad": gradients_from([model(case.tensor("x", 4, 3))], model, case),
        }

    def mistakes(self, case):
        wanted, untouched = self.truth(case)["places"], _places(_ActNet(nn.ReLU))
        children, named_act, dotted, names, begins = (_ActNet(nn.ReLU) for _ in range(5))
        children.act, children.last = nn.Tanh(), nn.Tanh()
        for part in (named_act, *named_act.blocks):
            part.act = nn.Tanh()
        for name, part in list(dotted.named_modules()):
            if isinstance(part, nn.ReLU):
                setattr(dotted, name, nn.Tanh())
        for name, part in list(names.named_modules()):
            if "ReLU" in type(part).__name__:
                names.set_submodule(name, nn.Tanh())
        for name, part in list(begins.named_modules()):
            if type(part).__name__.startswith("ReLU"):
                begins.set_submodule(name, nn.Tanh())

        def says(test):
            return {"places": Matches(lambda found: None if test(found) else "something else", "this mistake")}

        def only_the_first(found):
            return len(found) == len(wanted) and [f != u for f, u in zip(found, untouched)].count(True) == 1

        def another_class(found):
            kinds = {f.partition(": ")[2] for f, u in zip(found, untouched) if u.endswith(": ReLU")}
            same = all(f == u for f, u in zip(found, untouched) if not u.endswith(": ReLU"))
            return len(found) == len(wanted) and same and not kinds & {"ReLU", "Tanh"}

        return {
            "not_started": {"places": untouched, "the returned value": "nothing"},
            "copied_model": {"places": untouched, "the returned value": "something else"},
            "rebinds_name": {"places": untouched, "the returned value": "the model"},
            "first_level_only": {"places": _places(children)},
            "anatomy_by_attribute_name": {"places": _places(named_act)},
            "dotted_setattr": {"places": _places(dotted)},
            "by_class_name": {"places": AnyOf(_places(names), _places(begins))},
            "returns_too_early": AnyOf(says(only_the_first), {"the returned value": "a part of the model"}),
            "anatomy_wrapped_not_replaced": says(lambda found: len(found) > len(wanted)),
            "anatomy_moved_to_the_end": says(lambda found: sorted(found) == sorted(wanted)),
            "anatomy_another_class": says(another_class),
            "anatomy_some_left": says(lambda found: all(f in (w, u) for f, w, u in zip(found, wanted, untouched))),
            "returns_nothing": {"places": wanted, "the returned value": "nothing"},
            "anatomy_changes_the_rest": {
                "parameters that need a gradient": other_than(self.truth(case)["parameters that need a gradient"])
            },
        }


class SharedPlaces(_OfTheSwap):
    """A ReLU, or a block, that stands at two places is replaced at both."""

    blame = {"places": "shared_place_missed"}

    def probe(self, nb, case):
        model = case.build("net", _ActNet, nn.ReLU, shared=True)
        nb.function("swap_relu")(model)
        return self.brought(model, case)

    def truth(self, case):
        return self.brought(case.build("net", _ActNet, nn.Tanh, shared=True), case)

    def brought(self, model, case):
        return {
            "places": _places(model),
            "output": model(case.tensor("x", 4, 3)),
            "output where every Tanh computes something else": self.with_another_tanh(model, case),
        }


class ModeKept(_OfTheSwap):
    """Each ReLU, in whatever mode, gets a Tanh of its own, in the mode of that ReLU."""

    blame = {"places": "anatomy_some_left", "training": "mode_lost"}

    def mixed(self, model):
        """In eval mode but for one activation of its own, and one block but for the activation in it."""
        model.eval()
        model.act.train()
        model.blocks[0].train()
        model.blocks[0].inner[1].eval()
        return model

    def modes(self, model):
        return {name: part.training for name, part in model.named_modules(remove_duplicate=False)}

    def probe(self, nb, case):
        model = self.mixed(case.build("net", _ActNet, nn.ReLU))
        nb.function("swap_relu")(model)
        made = {id(part) for part in model.modules() if isinstance(part, nn.Tanh)}
        return {
            "different Tanh objects": len(made),
            "places": _places(model),
            "training": self.modes(model),
            "output where every Tanh computes something else": self.with_another_tanh(model, case),
            "what runs": self.runs(model, case),
        }

    def truth(self, case):
        model = self.mixed(case.build("net", _ActNet, nn.Tanh))
        runs = as_before(self.runs(model, case))
        return {
            "different Tanh objects": ANYTHING,
            "places": _places(model),
            "training": self.modes(model),
            "output where every Tanh computes something else": self.with_another_tanh(model, case),
            "what runs": runs,
        }

    def mistakes(self, case):
        places = _places(_ActNet(nn.Tanh))
        return {"anatomy_one_for_all": {"different Tanh objects": AnyOf(1, 2), "places": places}}


class OtherModels(_OfTheSwap):
    """In models of other kinds, too, every ReLU becomes a Tanh, and the rest stays as it was."""

    cases = 1  # many models
    kinds = {
        "shared": "shared_place_missed",
        "in_place_behind": "anatomy_by_what_it_prints",
        "none_place": "absent_is_none",
        "look_alike": "anatomy_parent_not_found",
        "mixed_modes": "mode_lost",
        "norm_in_eval": "mode_lost",
        "partly_frozen": "anatomy_changes_the_rest",
        "tied": "anatomy_changes_the_rest",
        "called_twice": "anatomy_changes_the_rest",
        "float64": "anatomy_changes_the_rest",
        "namedtuple": "anatomy_changes_the_rest",
        "dictionary": "anatomy_changes_the_rest",
        "the_layer": "anatomy_changes_the_rest",
    }
    blame = {
        **{
            f"{what} {KINDS[kind].says}": "anatomy_changes_the_rest"
            for kind in kinds
            for what in ("output of", "gradients in", "names in")
        },
        **{f"places in {KINDS[kind].says}": hint for kind, hint in kinds.items()},
        **{f"output of {KINDS[kind].says}": "mode_lost" for kind in ("mixed_modes", "norm_in_eval")},
    }

    def probe(self, nb, case):
        return self.brought(nb.function("swap_relu"), case)

    def truth(self, case):
        before = self.brought(lambda model: None, case)
        with patch.object(nn, "ReLU", lambda inplace=False: nn.Tanh()):  # the same models, built with Tanh
            after = self.brought(lambda model: None, case)
        return {what: before[what] if what.startswith("gradients") else one for what, one in after.items()}

    def brought(self, swap, case):
        found = {}
        for says, (model, x) in awkward_models(case, *self.kinds).items():
            for part in model.modules():
                if isinstance(part, nn.Linear):
                    part.register_forward_hook(lambda module, inputs, output: 2 * output)
            model(x).sum().backward()
            swap(model)
            found |= {f"places in {says}": _places(model), f"output of {says}": model(x)}
            found[f"names in {says}"] = {
                f"{name}.{key}": case.tensor(f"{name}.{key}", 2) for name, part in model.named_modules() for key in part._modules
            }
            found[f"gradients in {says}"] = {name: parameter.grad for name, parameter in model.named_parameters()}
        return found

class CalledAgain(_OfTheSwap):
    """A second call is right, too, for the same model and for another one; a model that was not handed in keeps its ReLU."""

    blame = {
        "places of the model": "anatomy_some_left",
        "output of the model": "anatomy_some_left",
        "places of a model that was not handed in": "anatomy_changes_the_rest",
        "output of a model that was not handed in": "anatomy_changes_the_rest",
        "attributes of all modules": "anatomy_changes_the_rest",
        "what runs in a model that was not handed in": "anatomy_changes_the_rest",
        "places of the second model": "anatomy_some_left",
        "what runs in the second model": "anatomy_one_for_all",
    }

    def make(self, kind):
        """Three models with one ReLU in common; the first has a ReLU deep down, too, and a layer that is only called so.

        ``kind`` stands in the two models that are handed in.
        """
        deep, common = kind(), nn.ReLU()
        in_first, in_second = (common, common) if kind is nn.ReLU else (kind(), kind())
        for _ in range(6):
            deep = nn.Sequential(deep)
        return nn.ModuleDict(
            {
                "first": nn.Sequential(nn.Linear(3, 3), in_first, _Foreign(), deep, nn.Sequential(nn.Linear(3, 3), kind())),
                "second": nn.Sequential(nn.Linear(3, 3), in_second),
                "not handed in": nn.Sequential(nn.Linear(3, 3), common),
            }
        )

    def probe(self, nb, case):
        return self.brought(nb.function("swap_relu"), nn.ReLU, case)

    def truth(self, case):
        found = self.brought(lambda model: None, nn.Tanh, case)
        return {what: as_before(one) if what.startswith("what runs") else one for what, one in found.items()}

    def brought(self, swap, kind, case):
        models = case.build("three models", self.make, kind)
        model, second, other = models.values()
        swap(model)
        before = _places(model)
        model[4].append(kind())
        swap(model)
        untouched = self.runs(other, case)
        other[1].eval()  # the ReLU that they have in common
        second[1].eval()
        swap(second)
        return {
            "places of the model after one call": before,
            "places of the model": _places(model),
            "output of the model": model(case.tensor("x", 4, 3)),
            "places of a model that was not handed in": _places(other),
            "output of a model that was not handed in": other(case.tensor("x", 4, 3)),
            "places of the second model": _places(second),
            "what runs in the second model": self.runs(second, case),
            "what runs in a model that was not handed in": untouched,
            "attributes of all modules": attributes_on(models, case),
        }

    def mistakes(self, case):
        wanted = self.truth(case)["places of the model after one call"]

        def says(test):
            return Matches(lambda found: None if test(found) else "something else", "this mistake")

        return {
            "by_class_name": {"places of the model after one call": says(lambda found: found[2] == "2: Tanh")},
            "anatomy_some_left": {
                "places of the model after one call": says(lambda found: found != wanted and found[2] == wanted[2])
            },
        }


check("swap_submodules", EveryReluReplaced, SharedPlaces, ModeKept, OtherModels, CalledAgain)


# --- Hidden checks: graders run them, learners do not get them. ---
class _Gated(nn.Module):
    """One branch of the model is multiplied by another one, which stands in a container."""

    def __init__(self, kind):
        super().__init__()
        self.narrow = nn.Sequential(nn.Linear(4, 2), kind())
        self.gates = nn.ModuleDict({"left": kind(), "right": nn.Sequential(nn.Linear(2, 2), kind())})

    def forward(self, x):
        x = self.narrow(x) - 0.5
        return self.gates["left"](x) * self.gates["right"](x)


class TrainedAfterwards(Check):
    """One more model computes, and is trained, with Tanh in the place of each ReLU."""

    def probe(self, nb, case):
        model = case.build("hidden net", _Gated, nn.ReLU)
        nb.function("swap_relu")(model)
        output = model(case.tensor("hidden x", 5, 4))
        output.backward(case.tensor("hidden upstream", 5, 2))
        return {"output": output, "gradients": {name: one.grad for name, one in model.named_parameters()}}

    def truth(self, case):
        model = case.build("hidden net", _Gated, nn.Tanh)
        output, named = model(case.tensor("hidden x", 5, 4)), dict(model.named_parameters())
        gradients = torch.autograd.grad(output, list(named.values()), case.tensor("hidden upstream", 5, 2))
        return Close({"output": output, "gradients": dict(zip(named, gradients))}, rtol=1e-4, atol=1e-4)


check("swap_submodules", TrainedAfterwards)
