from collections import OrderedDict

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close
from course.traces import gradients_left
from course.truths import such_that


class Scale(nn.Module):
    """Parameters of its own and a layer with more of them."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(4) + 0.5)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(x) * self.gain


class Net(nn.Module):
    """Batch norms and dropout on several levels."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(3, 4)
        self.features = nn.Sequential(nn.Linear(4, 4, bias=False), nn.BatchNorm1d(4), nn.Sequential(nn.Tanh(), Scale()))
        self.drop = nn.Dropout(0.0)
        self.norm = nn.BatchNorm1d(4)
        self.norm_out = nn.Linear(4, 2)  # begins as the name before

    def forward(self, x):
        return self.norm_out(self.norm(self.drop(self.features(self.stem(x)))))


def is_norm(module):
    return isinstance(module, nn.BatchNorm1d)


def is_branch(module):
    return isinstance(module, (nn.Sequential, nn.Dropout))


class FreezingCheck(Check):
    """What the checks of this exercise share."""

    errors = {
        r"AttributeError: '\w+' object has no attribute '(weight|bias|gain)'": "not_every_module_has_it",
        r"AttributeError: 'NoneType' object": "absent_bias",
        r"TypeError: .*freeze_where\(\) (got an unexpected|takes)": "no_way_back",
    }

    def told(self, model):
        return {
            "requires_grad": {name: one.requires_grad for name, one in model.named_parameters()},
            "training": {name or "the model": part.training for name, part in model.named_modules()},
        }

    def trained(self, model, case):
        """What a pass in training shows: gradients, and statistics of batch norms that moved or did not."""
        model.zero_grad()
        total = (model(case.tensor("x", 6, 3)) * case.tensor("upstream", 6, 2)).sum()
        for name, one in model.named_parameters():  # batch norm alone would leave some gradients next to 0
            total = total + (one * case.tensor(f"more of {name}", *one.shape)).sum()
        if total.requires_grad:  # else everything is frozen
            total.backward()
        statistics = {name: one.clone() for name, one in model.named_buffers() if one.dim()}
        return {"gradients": gradients_left(dict(model.named_parameters()), case), "statistics": statistics}

    def by_hand(self, model, chosen, frozen):
        """The definition: what is in a chosen module, or is one, changes."""
        for name, part in model.named_modules():
            if any(name == one or name.startswith(f"{one}.") for one in chosen):
                part.training = not frozen
                for parameter in part.parameters(recurse=False):
                    parameter.requires_grad = not frozen
        return model

    def wanted(self, model, case, chosen, *turns):
        found = {}
        for turn in turns:
            self.by_hand(model, chosen, turn == "frozen")
            told = self.told(model)
            trained = self.trained(model, case)
            for kind, value in {**told, "gradients": Close(trained["gradients"], 1e-4, 1e-4), "statistics": trained["statistics"]}.items():
                found.setdefault(kind, {})[turn] = value
        return found

    def brought(self, model, case, freeze_where, choose, *turns):
        found = {}
        for turn in turns:
            freeze_where(model, choose, frozen=turn == "frozen")
            for kind, value in {**self.told(model), **self.trained(model, case)}.items():
                found.setdefault(kind, {})[turn] = value
        return found


NORMS = ("features.1", "features.2.1.norm", "norm")


class FrozenAndBack(FreezingCheck):
    """Batch norms at any depth are frozen, and unfrozen again; the model is returned."""

    claims = ("what is returned",)  # `is` belongs to the language
    blame = {"gradients": "frozen_part_blocks"}  # parameters and modes are right: something cuts the graph

    def probe(self, nb, case):
        model, freeze_where, returned = case.build("net", Net), nb.function("freeze_where"), []

        def freeze(*args, **kwargs):
            returned.append(freeze_where(*args, **kwargs))

        found = self.brought(model, case, freeze, is_norm, "frozen", "unfrozen")
        told = "nothing" if returned[0] is None else "the model" if returned[0] is model else "something else"
        return {**found, "what is returned": told}

    def truth(self, case):
        return {**self.wanted(case.build("net", Net), case, NORMS, "frozen", "unfrozen"), "what is returned": "the model"}

    def mistakes(self, case):
        fresh, right = self.told(Net()), self.truth(case)
        grads, modes = right["requires_grad"]["frozen"], right["training"]["frozen"]

        def when(test, kind="requires_grad", **more):
            return {kind: such_that(lambda got: test(got["frozen"])), **more}

        def frozen_if(kept):
            return lambda got: got == {name: on if kept(name) else True for name, on in grads.items()}

        same = when(lambda got: got == grads)
        return {
            "not_started": {**{kind: dict.fromkeys(("frozen", "unfrozen"), fresh[kind]) for kind in fresh}, "what is returned": "nothing"},
            "freezes_names_alike": when(lambda got: got == {name: on and not name.startswith("norm") for name, on in grads.items()}),
            "flags_turned_around": {"requires_grad": {"frozen": fresh["requires_grad"], "unfrozen": grads}},
            "freezes_first_level": when(frozen_if(lambda name: name.startswith("norm."))),
            "freezes_weight_only": when(frozen_if(lambda name: not name.endswith("bias"))),
            "freezes_the_rest": when(lambda got: got == {name: not on for name, on in grads.items()}),
            "freezes_everything": when(lambda got: not any(got.values())),
            "no_way_back": {"requires_grad": {"frozen": grads, "unfrozen": grads}},
            "freezes_the_unchosen": {
                "requires_grad": {"frozen": AnyOf(grads, fresh["requires_grad"]), "unfrozen": such_that(lambda got: not all(got.values()))}
            },
            "freezes_nothing": when(lambda got: got == fresh["requires_grad"]),
            "frozen_in_training_mode": {**same, **when(lambda got: got == fresh["training"], "training")},
            "mode_of_everything": {**same, **when(lambda got: any(modes[name] and not on for name, on in got.items()), "training")},
            "thawed_in_eval_mode": {**same, "training": {"frozen": modes, "unfrozen": such_that(lambda got: not all(got.values()))}},
            "freezes_first_found": when(frozen_if(lambda name: name.startswith("features.1."))),
            "returns_nothing": {**same, "what is returned": "nothing"},
            "returns_not_the_model": {**same, "what is returned": "something else"},
        }


class WithAllInside(FreezingCheck):
    """A chosen module is frozen, and unfrozen, with everything inside it."""

    blame = {"requires_grad": "freezes_own_only", "training": "freezes_own_only"}

    def probe(self, nb, case):
        return self.brought(case.build("net", Net), case, nb.function("freeze_where"), is_branch, "frozen", "unfrozen")

    def truth(self, case):
        return self.wanted(case.build("net", Net), case, ("features", "drop"), "frozen", "unfrozen")


class OthersStay(FreezingCheck):
    """What is not chosen stays as it is: its parameters, and its mode."""

    blame = {"requires_grad": "freezes_the_unchosen", "training": "freezes_the_unchosen"}

    def model(self, case):
        model = case.build("net", Net)
        model.norm_out.weight.requires_grad_(False)
        model.features[0].requires_grad_(False)
        model.features.training = model.training = False
        model.drop.eval()
        return model

    def probe(self, nb, case):
        return self.brought(self.model(case), case, nb.function("freeze_where"), is_norm, "frozen", "unfrozen")

    def truth(self, case):
        return self.wanted(self.model(case), case, NORMS, "frozen", "unfrozen")


check("freeze_where", FrozenAndBack, WithAllInside, OthersStay)


# --- Hidden checks: graders run them, learners do not get them. ---
def _of_blocks(case):
    """Layers and blocks in an order of the seed; each block's name begins another name."""
    deep = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.BatchNorm1d(4), nn.Softsign()))
    blocks = [nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 4)), deep, nn.BatchNorm1d(4), nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))]
    layers = OrderedDict(first=nn.Linear(3, 4))
    for name, block in zip(case.words("hidden names", 4), case.shuffled("hidden blocks", blocks)):
        layers |= {name: block, f"{name}_after": nn.PReLU()}
    return nn.Sequential(layers | {"last": nn.Linear(4, 2)})


def _places(case):
    """Which block is chosen, and which another one had frozen before."""
    return case.shuffled("hidden choice", [1, 3, 5, 7])[:2]


class FrozenForOneStep(Check):
    """What is frozen for a while in training does not change meanwhile, and the rest learns."""

    def probe(self, nb, case):
        model, (chosen, before), found = case.build("hidden model", _of_blocks, case), _places(case), []
        model[before].requires_grad_(False).eval()
        for number, turn in enumerate(({}, {"frozen": False}, {"frozen": True})):
            model = nb.function("freeze_where")(model, lambda one: one is model[chosen], **turn)
            model.zero_grad()
            model(case.tensor(f"hidden x {number}", 6, 3)).backward(case.tensor(f"hidden upstream {number}", 6, 2))
            with torch.no_grad():
                for one in model.parameters():
                    one.sub_(0 if one.grad is None else 0.1 * one.grad)
            found.append({name: one.clone() for name, one in model.state_dict().items() if one.dim()})
        return {"after each step": found}

    def truth(self, case):
        model, (chosen, before), found = case.build("hidden model", _of_blocks, case), _places(case), []
        model[before].requires_grad_(False).eval()
        for number, frozen in enumerate((True, False, True)):
            model[chosen].requires_grad_(not frozen).train(not frozen)
            learning = [one for one in model.parameters() if one.requires_grad]
            output = model(case.tensor(f"hidden x {number}", 6, 3))
            gradients = torch.autograd.grad(output, learning, case.tensor(f"hidden upstream {number}", 6, 2))
            with torch.no_grad():
                for one, gradient in zip(learning, gradients):
                    one.sub_(0.1 * gradient)
            found.append({name: one.clone() for name, one in model.state_dict().items() if one.dim()})
        return Close({"after each step": found}, rtol=1e-4, atol=1e-4)


check("freeze_where", FrozenForOneStep)
