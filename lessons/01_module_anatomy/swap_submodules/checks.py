from collections import OrderedDict
from contextlib import contextmanager

import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches


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
        self.act = kind(inplace=True) if kind is nn.ReLU else kind()
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


def _places(model):
    """What stands where below the model: 'blocks.0.act: Tanh'."""
    return [f"{name}: {type(part).__name__.lstrip('_')}" for name, part in model.named_modules(remove_duplicate=False) if name]


@contextmanager
def _another_tanh(case, in_eval):
    """What only a real nn.Tanh takes part in: its class computes something else meanwhile, and so much more in eval mode."""
    before, scale = nn.Tanh.forward, case.tensor("scale of another Tanh", 3)
    nn.Tanh.forward = lambda self, x: x * scale + (0 if self.training else in_eval)
    try:
        yield
    finally:
        nn.Tanh.forward = before


def _told(returned, model):
    """What came back, in words."""
    if returned is None:
        return "nothing"
    if returned is model:
        return "the model"
    if any(returned is part for part in model.modules()):
        return "a part of the model"
    return "another model" if isinstance(returned, nn.Module) else f"a {type(returned).__name__}"


class _OfTheSwap(Check):
    """What all checks of swap_relu have in common: the errors that only one misconception brings."""

    errors = {
        r"AttributeError: 'NoneType' object": "absent_is_none",
        r"TypeError: cannot assign 'torch\.nn\.modules\.": "anatomy_class_for_module",
        r"ValueError: .module. is not an nn.Module, found <class 'type'>": "anatomy_class_for_module",
        r"ValueError: .module. is not an nn.Module": "function_for_module",
        r"ValueError: (not enough|too many) values to unpack": "anatomy_parent_not_found",
        r"AttributeError: '\w+' object has no attribute '(|split|[\w.]*\.[\w.]*|\d+)'": "anatomy_parent_not_found",
        r"TypeError: '\w+' object (is not subscriptable|does not support item assignment)": "anatomy_parent_not_found",
        r"AttributeError: .* has no attribute `": "anatomy_parent_not_found",
        r"ValueError: Cannot set the submodule without a target": "anatomy_root_has_no_parent",
        r"RuntimeError: (OrderedDict mutated|dictionary)": "anatomy_changed_while_walking",
        r"KeyError: .module name can.?.?t contain": "dotted_setattr",
        r"(ValueError: invalid literal for int|TypeError: 'str' object cannot be inter)": "anatomy_parent_not_found",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
        r"AttributeError: module '\S+' has no attribute": "anatomy_misspelt_method",
        r"TypeError: swap_relu\(\) (takes|got|missing)": "anatomy_other_signature",
    }

    in_eval = 0

    def brought(self, model, case):
        """What stands where, and what follows from it."""
        x, found = case.tensor("x", 4, 3), {"the list of places": _places(model)}
        found["output"] = model(x)
        with _another_tanh(case, self.in_eval):
            found["output where every Tanh computes something else"] = model(x)
        return found


class EveryReluReplaced(_OfTheSwap):
    """Every ReLU, at any depth, is replaced in the model itself, and nothing else is."""

    claims = ("what swap_relu returned",)  # `is` belongs to the language
    blame = dict.fromkeys(("output", "gradients", "output of a ReLU that was replaced"), "anatomy_changes_the_rest")

    def gradients(self, model, case):
        output = model(case.tensor("x", 4, 3))
        if output.requires_grad:
            output.backward(case.tensor("upstream", 4, 3))
        return {name: one.grad for name, one in model.named_parameters()}

    def probe(self, nb, case):
        model = case.build("net", _ActNet, nn.ReLU)
        relu = model.act  # somebody else holds it, too
        returned = nb.function("swap_relu")(model)
        found = {"what swap_relu returned": _told(returned, model), **self.brought(model, case)}
        return {**found, "gradients": self.gradients(model, case), "output of a ReLU that was replaced": relu(case.tensor("z", 9))}

    def truth(self, case):
        model = case.build("net", _ActNet, nn.Tanh)
        found = {"what swap_relu returned": "the model", **self.brought(model, case)}
        return {**found, "gradients": self.gradients(model, case), "output of a ReLU that was replaced": case.tensor("z", 9).relu()}

    def mistakes(self, case):
        wanted, untouched = self.truth(case)["the list of places"], _places(_ActNet(nn.ReLU))
        children, named_act, dotted = (_ActNet(nn.ReLU) for _ in range(3))
        children.act, children.last = nn.Tanh(), nn.Tanh()
        for part in (named_act, *named_act.blocks):
            part.act = nn.Tanh()
        for name, part in list(dotted.named_modules()):
            if isinstance(part, nn.ReLU):
                setattr(dotted, name, nn.Tanh())
        others = [place.partition(": ")[0] for place in untouched if "ReLU" in place and not place.endswith(": ReLU")]

        def says(test):
            return {"the list of places": Matches(lambda found: None if test(found) else "something else", "this mistake")}

        def top(found):
            return {place.partition(": ")[0] for place in found if "." not in place}

        def changed(found):
            return [new.partition(": ")[2] for new, old in zip(found, untouched) if new != old]

        return {
            "not_started": {"the list of places": untouched, "what swap_relu returned": "nothing"},
            "copied_model": {"what swap_relu returned": "another model"},
            "rebinds_name": {"the list of places": untouched, "what swap_relu returned": "the model"},
            "first_level_only": {"the list of places": _places(children)},
            "anatomy_by_attribute_name": {"the list of places": _places(named_act)},
            "dotted_setattr": {"the list of places": _places(dotted)},
            "by_class_name": says(lambda found: any(f"{place}: Tanh" in found for place in others)),
            "returns_too_early": AnyOf(says(lambda found: len(changed(found)) == 1), {"what swap_relu returned": "a part of the model"}),
            "anatomy_parent_not_found": says(lambda found: top(found) > top(untouched)),
            "anatomy_wrapped_not_replaced": says(lambda found: len(found) > len(wanted)),
            "anatomy_moved_to_the_end": says(lambda found: sorted(found) == sorted(wanted)),
            "anatomy_another_class": says(lambda found: not {"ReLU", "Tanh"} & set(changed(found))),
            "anatomy_some_left": says(lambda found: all(f in (w, u) for f, w, u in zip(found, wanted, untouched))),
            "returns_nothing": {"the list of places": wanted, "what swap_relu returned": "nothing"},
        }


class SharedAndEmptyPlaces(_OfTheSwap):
    """A ReLU, or a block, at two places is replaced at both; an empty place stays empty."""

    blame = {"the list of places": "shared_place_missed"}

    def model(self, case, kind):
        model = case.build("net", _ActNet, kind, shared=True)
        model.blocks[1].register_module("later", None)
        return model

    def probe(self, nb, case):
        model = self.model(case, nn.ReLU)
        nb.function("swap_relu")(model)
        return self.brought(model, case)

    def truth(self, case):
        return self.brought(self.model(case, nn.Tanh), case)


class ModeKept(_OfTheSwap):
    """Each Tanh is in the mode of its ReLU."""

    in_eval = 1
    blame = {"training": "mode_lost", "the list of places": "anatomy_some_left"}

    def mixed(self, model):
        """In eval mode but for one activation of its own, and one block but for the activation in it."""
        model.eval()
        model.act.train()
        model.blocks[0].train()
        model.blocks[0].inner[1].eval()
        return model

    def probe(self, nb, case):
        model = self.mixed(case.build("net", _ActNet, nn.ReLU))
        nb.function("swap_relu")(model)
        training = {name: part.training for name, part in model.named_modules(remove_duplicate=False)}
        return {"training": training, **self.brought(model, case)}

    def truth(self, case):
        model = self.mixed(case.build("net", _ActNet, nn.Tanh))
        training = {name: part.training for name, part in model.named_modules(remove_duplicate=False)}
        return {"training": training, **self.brought(model, case)}


check("swap_submodules", EveryReluReplaced, SharedAndEmptyPlaces, ModeKept)


# --- Hidden checks: graders run them, learners do not get them. ---
def _garden(case):
    """Layers of which the seed draws depth, names and order, with a ReLU and a block at two places each, in mixed modes."""
    block, shared, deep = nn.Sequential(nn.Linear(3, 3), nn.ReLU().eval()), nn.ReLU(), nn.ReLU().eval()
    block[0].register_module("later", None)
    block[0].bias.requires_grad_(False)
    for level in range(case.integer("hidden depth", 2, 4)):
        pieces = case.shuffled(f"hidden level {level}", [deep, nn.LeakyReLU(2.0), nn.Linear(3, 3)])
        deep = nn.Sequential(OrderedDict(zip(case.words(f"hidden names {level}", 3), pieces)))
    pieces = case.shuffled("hidden pieces", [block, nn.Linear(3, 3), shared, block, deep, nn.PReLU(), shared])
    return nn.Sequential(OrderedDict(zip(case.words("hidden names", len(pieces)), pieces)))


class TrainedOn(Check):
    """One more model computes, and is trained on, with Tanh in the place of each ReLU."""

    def probe(self, nb, case):
        model, x, upstream = case.build("hidden garden", _garden, case), case.tensor("hidden x", 5, 3), case.tensor("hidden up", 5, 3)
        model(x).backward(upstream)
        returned = nb.function("swap_relu")(model)
        with _another_tanh(case, 1):
            model(x).backward(upstream)
            found = {"of another Tanh": model(x), "of what was returned": returned(x)}
        kinds = [type(part) is nn.Tanh for _, part in model.named_modules(remove_duplicate=False)]
        return {"output": model(x), "Tanh": kinds, **found, "gradients": {name: one.grad for name, one in model.named_parameters()}}

    def truth(self, case):
        model, x, upstream = case.build("hidden garden", _garden, case), case.tensor("hidden x", 5, 3), case.tensor("hidden up", 5, 3)
        model(x).backward(upstream)
        for parent in model.modules():
            for name, part in parent._modules.items():
                if type(part) is nn.ReLU:
                    parent._modules[name] = nn.Tanh().train(part.training)
        with _another_tanh(case, 1):
            model(x).backward(upstream)
            output = model(x)
        kinds = [type(part) is nn.Tanh for _, part in model.named_modules(remove_duplicate=False)]
        wanted = {"output": model(x), "Tanh": kinds, "of another Tanh": output, "of what was returned": output}
        return Close({**wanted, "gradients": {name: one.grad for name, one in model.named_parameters()}}, rtol=1e-4, atol=1e-4)


check("swap_submodules", TrainedOn)
