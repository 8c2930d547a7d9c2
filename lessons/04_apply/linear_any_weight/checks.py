import copy
from itertools import pairwise

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import Close
from course.truths import such_that
from course.tree import FORWARDS, Function_A, Function_B, Function_C, Function_D, Model

PARTS = ("ab.a", "ab.b", "cd.c", "cd.d")


class LinearCheck(Check):
    """What the checks of this exercise share."""

    errors = {
        r"TypeError: .*make_linear\(\) (takes|missing) ": "apply_argument",
        r"TypeError: [\w.<>]+\(\) missing 1 required positional": "unbound_function",
        r"TypeError: .*\(\) got multiple values for argument": "self_by_name",
        r"RuntimeError: The size of tensor a": "old_forward_gets_it_first",
        r"AttributeError: '(Layer_\w+|Model)' object has no attribute 'W'": "not_every_module_has_it",
    }

    def sizes(self, case):
        """Of each W the two sides, in a row: no two alike."""
        return case.shape("sizes", dims=5, low=2, high=7)

    def weights(self, case, name):
        """Part -> its W and b."""
        sizes = self.sizes(case)
        return {
            part: (case.tensor(f"{name} W {part}", n, m), case.tensor(f"{name} b {part}", m))
            for part, n, m in zip(PARTS, sizes, sizes[1:])
        }

    def tree(self, nb, case):
        """A tree whose W have other shapes than its class gave them, rewired by the learner."""
        for kind, forward in FORWARDS.items():  # an earlier attempt may have changed the class
            kind.forward = forward
        tree = case.build("tree", Model)
        for part, (W, _) in self.weights(case, "old").items():
            tree.get_submodule(part).W = nn.Parameter(W)
        return tree.apply(nb.function("make_linear"))

    def fill(self, tree, case, name):
        with torch.no_grad():
            for part, (W, b) in self.weights(case, name).items():
                tree.get_submodule(part).W.copy_(W)
                tree.get_submodule(part).b.copy_(b)

    def inputs(self, case):
        return {part: case.tensor(f"X {part}", 9, n) for part, n in zip(PARTS, self.sizes(case))}

    def outputs(self, tree, case):
        each = {part: tree.get_submodule(part)(X) for part, X in self.inputs(case).items()}
        return {**each, "the whole": tree(self.inputs(case)["ab.a"])}

    def computed(self, case, name):
        weights, whole = self.weights(case, name), self.inputs(case)["ab.a"]
        for W, b in weights.values():
            whole = whole @ W + b
        each = {part: X @ weights[part][0] + weights[part][1] for part, X in self.inputs(case).items()}
        return {**each, "the whole": Close(whole, rtol=1e-4, atol=1e-4)}


class LinearWithAnyW(LinearCheck):
    """Every `Function_*` has a `b` of zeros and returns `X @ W + b`, for `W` of any shape; gradients reach `W` and `b`."""

    blame = {"gradients": "gradient_cut"}

    def zeros(self, case):
        return {part: torch.zeros(m) for part, m in zip(PARTS, self.sizes(case)[1:])}

    def probe(self, nb, case):
        tree = self.tree(nb, case)
        b = {part: copy.deepcopy(getattr(tree.get_submodule(part), "b", None)) for part in PARTS}
        brought = {"parameters": [name for name, _ in tree.named_parameters()], "b": b}
        if all(getattr(b[part], "shape", None) == zeros.shape for part, zeros in self.zeros(case).items()):
            self.fill(tree, case, "new")
            brought["output"] = self.outputs(tree, case)
            brought["output"]["the whole"].sum().backward()
            brought["gradients"] = [one.grad for one in tree.parameters()]
        return brought

    def truth(self, case):
        names = [f"{part}.{name}" for part in PARTS for name in ("W", "b")]
        whole, leaves = self.inputs(case)["ab.a"], []
        for pair in self.weights(case, "new").values():
            W, b = (one.requires_grad_() for one in pair)
            leaves += [W, b]
            whole = whole @ W + b
        gradients = Close(list(torch.autograd.grad(whole.sum(), leaves)), rtol=1e-4, atol=1e-4)
        return {"parameters": names, "b": self.zeros(case), "output": self.computed(case, "new"), "gradients": gradients}

    def mistakes(self, case):
        zeros = self.zeros(case)

        def bias(test):
            return {"b": such_that(lambda got: any(test(part, one) for part, one in got.items()))}

        return {
            "bias_missing": bias(lambda part, one: one is None),
            "tensor_for_parameter": {"parameters": [f"{part}.W" for part in PARTS]},
            "linear_bias_shape": bias(lambda part, one: one.shape != zeros[part].shape),
            "wrong_start": bias(lambda part, one: bool(one.tensor().any())),
        }


class TwiceIsOnce(LinearCheck):
    """Applied a second time, here to a copy, it changes nothing: the same `b`, the same output."""

    blame = {"b": "second_time_anew", "output": "second_time_on_top", "output where the first b have other values": "second_time_anew"}
    errors = {r"RuntimeError: ": "second_time_on_top"}

    def probe(self, nb, case):
        tree = copy.deepcopy(self.tree(nb, case))
        self.fill(tree, case, "new")
        before = {part: tree.get_submodule(part).b for part in PARTS}
        tree.apply(nb.function("make_linear"))
        found = {"b": {part: tree.get_submodule(part).b.detach().clone() for part in PARTS}, "output": self.outputs(tree, case)}
        with torch.no_grad():
            for part, (_, b) in self.weights(case, "later").items():
                before[part].copy_(b)
        return {**found, "output where the first b have other values": {part: tree.get_submodule(part)(X) for part, X in self.inputs(case).items()}}

    def truth(self, case):
        new, later = self.weights(case, "new"), self.weights(case, "later")
        others = {part: X @ new[part][0] + later[part][1] for part, X in self.inputs(case).items()}
        found = {"b": {part: b for part, (_, b) in new.items()}, "output": self.computed(case, "new")}
        return {**found, "output where the first b have other values": others}


class CopyIsItsOwn(LinearCheck):
    """A deep copy and its original each compute with their own `W` and `b`."""

    blame = {"output of the copy": "copy_remembers_original", "output of the original": "copy_remembers_original"}

    def probe(self, nb, case):
        tree = self.tree(nb, case)
        self.fill(tree, case, "new")
        clone = copy.deepcopy(tree)
        self.fill(clone, case, "other")
        return {"output of the copy": self.outputs(clone, case), "output of the original": self.outputs(tree, case)}

    def truth(self, case):
        return {"output of the copy": self.computed(case, "other"), "output of the original": self.computed(case, "new")}


class OutsideUnchanged(LinearCheck):
    """Other modules, and everything outside the model, compute what they did before."""

    blame = {"outside": "forward_class_patched", "a Tanh that has a W": "true_for_others"}
    errors = {r"(AttributeError|RuntimeError): ": "forward_class_patched"}

    def probe(self, nb, case):
        self.tree(nb, case)
        tanh = nn.Tanh()
        tanh.name, tanh.W = "tanh", nn.Parameter(case.tensor("W of a Tanh", 4, 4))
        tanh.apply(nb.function("make_linear"))
        outside, x = Model(shape=(4,)), case.tensor("x", 3, 4)
        with torch.no_grad():
            for name, W in outside.named_parameters():
                W.copy_(case.tensor(name, 4))
        return {"outside": [outside.ab.a(x), outside.ab(x), outside(x)], "a Tanh that has a W": tanh(x)}

    def truth(self, case):
        x, (a, b, c, d) = case.tensor("x", 3, 4), (case.tensor(f"{part}.W", 4) for part in PARTS)
        return {"outside": [x + a, x + a - b, (x + a - b) * c / d], "a Tanh that has a W": torch.tanh(x)}


check("linear_any_weight", LinearWithAnyW, CopyIsItsOwn, TwiceIsOnce, OutsideUnchanged)


# --- Hidden checks: graders run them, learners do not get them. ---
def _chain(case):
    """Functions in an order and in sizes of the seed, at several depths."""
    kinds = case.shuffled("hidden kinds", [Function_A, Function_B, Function_C, Function_D])
    sizes = case.shape("hidden sizes", dims=5, low=2, high=7)
    first, second, *rest = (kind(shape=pair) for kind, pair in zip(kinds, pairwise(sizes)))
    return nn.Sequential(first, nn.Sequential(second, nn.Sequential(*rest)))


class ACopyOfAChain(Check):
    """In one more tree, and in its copy, all is linear, also after a second time; nothing outside is."""

    def probe(self, nb, case):
        tree = case.build("hidden tree", _chain, case).apply(nb.function("make_linear"))
        outside = case.build("hidden outside", Function_A, shape=(4,)), case.build("hidden outside too", Function_C, shape=(4,))
        functions = [part for part in tree.modules() if "W" in part._parameters]
        with torch.no_grad():
            for number, part in enumerate(functions):
                part.b.add_(case.tensor(f"hidden b {number}", *part.b.shape))
        tree.apply(nb.function("make_linear"))
        clone = copy.deepcopy(tree)
        with torch.no_grad():
            for one in clone.parameters():
                one.mul_(case.integer("hidden factor", 2, 5))
        X = case.tensor("hidden X", 5, case.shape("hidden sizes", dims=5, low=2, high=7)[0])
        output, x = clone(X), case.tensor("hidden x", 3, 4)
        output.sum().backward()
        gradients = [one.grad for one in clone.parameters()]
        found = {"output of the copy": output, "gradients in the copy": gradients, "output of the original": tree(X)}
        return {**found, "outside": [one(x) for one in outside]}

    def truth(self, case):
        outside = case.build("hidden outside", Function_A, shape=(4,)), case.build("hidden outside too", Function_C, shape=(4,))
        Ws = list(case.build("hidden tree", _chain, case).parameters())
        outputs, x = [], case.tensor("hidden x", 3, 4)
        for factor in (1, case.integer("hidden factor", 2, 5)):
            X, leaves = case.tensor("hidden X", 5, len(Ws[0])), []
            for number, W in enumerate(Ws):
                pair = [factor * W.detach(), factor * case.tensor(f"hidden b {number}", W.shape[1])]
                leaves += [one.requires_grad_() for one in pair]
                X = X @ leaves[-2] + leaves[-1]
            outputs.append(X)
        gradients = list(torch.autograd.grad(outputs[1].sum(), leaves))
        wanted = {"output of the copy": outputs[1], "gradients in the copy": gradients, "output of the original": outputs[0]}
        return Close({**wanted, "outside": [x + outside[0].W, x * outside[1].W]}, rtol=1e-3, atol=1e-3)


check("linear_any_weight", ACopyOfAChain)
