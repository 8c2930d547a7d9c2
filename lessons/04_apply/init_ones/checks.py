import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.truths import ANYTHING
from course.tree import Function_A, Function_B, Function_C, Function_D, Model
from torch import nn


class InitCheck(Check):
    """What the checks of this exercise share."""

    errors = {
        r"TypeError: weight_initialization\(\) (takes|missing) ": "apply_argument",
        r"AttributeError: 'Function_[A-D]' object has no attribute '(data|fill_|copy_)'": "module_for_parameter",
        r"AttributeError: '(Layer_\w+|Model)' object has no attribute 'W'": "not_every_module_has_it",
    }


class EveryWIsOne(InitCheck):
    """In `model` and in a fresh tree every `W` is 1; `returned_module` is `model`."""

    claims = ("(returned_module is model)",)  # `is` belongs to the language

    def probe(self, nb, case):
        fresh = case.build("fresh", Model)
        fresh.apply(nb.function("weight_initialization"))
        return {
            "fresh": dict(fresh.named_parameters()),
            "model": dict(nb.module("model").named_parameters()),
            "(returned_module is model)": nb.returned_module is nb.model,
            "type of fresh.ab.a.W": type(getattr(fresh.ab.a, "W", None)).__name__,
        }

    def truth(self, case):
        ones = {name: torch.ones(1) for name, _ in Model().named_parameters()}
        return {"fresh": ones, "model": ones, "(returned_module is model)": True, "type of fresh.ab.a.W": ANYTHING}

    def mistakes(self, case):
        ones = self.truth(case)["fresh"]
        old = dict(case.build("fresh", Model).named_parameters())

        def when(test):
            return Matches(lambda got: None if test(list(got.values())) else "no", "")

        shape = when(lambda weights: any(weight.shape != (1,) for weight in weights))
        equal = when(lambda weights: len({weight.data for weight in weights}) == 1 and weights[0].tensor() != 1)
        none = when(lambda weights: len(weights) == 4 and not any(weight.tensor() for weight in weights))
        return {
            "apply_uses_global_model": {"fresh": old, "model": ones},
            "apply_changes_nothing": {"fresh": old},
            "wrong_return": {"fresh": ones, "model": ones, "(returned_module is model)": False},
            "not_applied": {"fresh": ones, "model": ANYTHING},
            "tensor_for_parameter": {"fresh": {}, "type of fresh.ab.a.W": "Tensor"},
            "shared_parameter": {"fresh": when(lambda weights: len(weights) == 1)},
            "init_shape": {"fresh": shape},
            "apply_misses_some": {"fresh": {name: AnyOf(ones[name], old[name]) for name in ones}},
            "another_constant": {"fresh": none},
            "equal_but_not_one": {"fresh": equal},
        }


class WhateverItWas(InitCheck):
    """Every `W` becomes 1, whatever it was before: zero, negative, infinity, NaN."""

    blame = {
        "fresh": "depends_on_old_value",
        "W, each set to a value of its own later": "memory_shared",
        "output where W has other values later": "not_in_the_output",
        "a single Function_A": "only_the_children",
    }

    def probe(self, nb, case):
        fresh = case.build("fresh", Model)
        for parameter, old in zip(fresh.parameters(), case.shuffled("old", [0.0, -3.5, torch.inf, torch.nan])):
            nn.init.constant_(parameter, old)
        fresh.apply(nb.function("weight_initialization"))
        brought = {"fresh": {name: one.detach().clone() for name, one in fresh.named_parameters()}}
        with torch.no_grad():
            for name, one in fresh.named_parameters():
                one.copy_(case.tensor(f"later {name}", 1, positive=True))
        brought["W, each set to a value of its own later"] = {n: one.detach().clone() for n, one in fresh.named_parameters()}
        brought["output where W has other values later"] = fresh(case.tensor("x", 3))
        alone = case.build("alone", Function_A, shape=(2, 3))
        alone.apply(nb.function("weight_initialization"))
        brought["a single Function_A"] = alone.W.detach().clone()
        return brought

    def truth(self, case):
        a, b, c, d = (case.tensor(f"later {name}", 1, positive=True) for name, _ in Model().named_parameters())
        return {
            "fresh": {name: torch.ones(1) for name, _ in Model().named_parameters()},
            "W, each set to a value of its own later": dict(zip(("ab.a.W", "ab.b.W", "cd.c.W", "cd.d.W"), (a, b, c, d))),
            "output where W has other values later": (case.tensor("x", 3) + a - b) * c / d,
            "a single Function_A": torch.ones(2, 3),
        }

    def mistakes(self, case):
        other_shape = Matches(lambda got: "no" if got.shape == (2, 3) else None, "")
        some = Matches(lambda got: None if bool((got.tensor() == 1).any()) else "no", "")
        return {
            "init_shape": {**self.truth(case), "a single Function_A": other_shape},
            "init_one_element": {"a single Function_A": some},
        }


class StillLearns(InitCheck):
    """Afterwards every `W` gets its gradient, and a step of SGD moves it."""

    blame = {
        "requires_grad": "init_not_trainable",
        "W.grad": "not_in_the_output",
        "W after a step of SGD": "memory_shared",
    }
    lr = 0.1

    def probe(self, nb, case):
        fresh = case.build("fresh", Model)
        fresh.apply(nb.function("weight_initialization"))
        output = fresh(case.tensor("x", 3, requires_grad=True))
        output.backward(case.tensor("upstream", 3))
        named = dict(fresh.named_parameters())
        grads = {name: None if one.grad is None else one.grad.clone() for name, one in named.items()}
        with torch.no_grad():  # what SGD does, without the second that its import takes
            for one in named.values():
                if one.grad is not None:
                    one.sub_(self.lr * one.grad)
        return {
            "requires_grad": {name: one.requires_grad for name, one in named.items()},
            "W.grad": grads,
            "W after a step of SGD": named,
        }

    def truth(self, case):
        names = ("ab.a.W", "ab.b.W", "cd.c.W", "cd.d.W")
        a, b, c, d = ones = [torch.ones(1, requires_grad=True) for _ in names]
        grads = torch.autograd.grad((case.tensor("x", 3) + a - b) * c / d, ones, case.tensor("upstream", 3))
        return {
            "requires_grad": dict.fromkeys(names, True),
            "W.grad": dict(zip(names, grads)),
            "W after a step of SGD": {name: 1 - self.lr * grad for name, grad in zip(names, grads)},
        }


check("init_ones", EveryWIsOne, WhateverItWas, StillLearns)


# --- Hidden checks: graders run them, learners do not get them. ---
def _another_tree(case):
    """Functions in an order of the seed, at another depth."""
    first, *rest = (kind(shape=(2, 3)) for kind in case.shuffled("hidden kinds", [Function_A, Function_B, Function_C, Function_D, Function_C]))
    cut = case.integer("hidden cut", 1, 3)
    return nn.Sequential(first, nn.Sequential(nn.Sequential(*rest[:cut]), *rest[cut:]))


class TimesANumber(Check):
    """In `model` and in one more tree each `W` begins with 1, can be changed, and gets its gradient."""

    def probe(self, nb, case):
        tree = case.build("hidden tree", _another_tree, case)
        tree.apply(nb.function("weight_initialization"))
        self.change(tree, case)
        output = tree(case.tensor("hidden x", 2, 3))
        output.backward(case.tensor("hidden upstream", 2, 3))
        model, before = nb.module("model"), [one.detach().clone() for one in nb.module("model").parameters()]
        try:
            self.change(model, case)
            returned = nb.module("returned_module")(case.tensor("hidden x", 2, 3)).detach()
        finally:
            for one, old in zip(model.parameters(), before):
                one.data = old
        return {"output": output, "W.grad": [one.grad for one in tree.parameters()], "output of returned_module": returned}

    def change(self, tree, case):
        with torch.no_grad():
            for number, one in enumerate(tree.parameters()):
                one.mul_(case.tensor(f"hidden W {number}", 1, positive=True))

    def truth(self, case):
        tree, model = _another_tree(case), Model()
        for each in (tree, model):
            with torch.no_grad():
                for number, one in enumerate(each.parameters()):
                    one.copy_(case.tensor(f"hidden W {number}", 1, positive=True))
        x = case.tensor("hidden x", 2, 3)
        output = tree(x)
        gradients = list(torch.autograd.grad(output, list(tree.parameters()), case.tensor("hidden upstream", 2, 3)))
        return Close({"output": output, "W.grad": gradients, "output of returned_module": model(x)}, rtol=1e-4, atol=1e-4)


check("init_ones", TimesANumber)
