import copy
from itertools import pairwise

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close
from course.truths import ANYTHING, such_that
from course.tree import FORWARDS, Function_A, Function_B, Function_C, Function_D, Model

PARTS = ("ab.a", "ab.b", "cd.c", "cd.d")


class LinearCheck(Check):
    """What the checks of this exercise share."""

    square = False
    errors = {
        r"TypeError: .*make_linear\(\) (takes|missing) ": "apply_argument",
        r"TypeError: [\w.<>]+\(\) missing 1 required positional": "unbound_function",
        r"TypeError: .*\(\) got multiple values for argument": "self_by_name",
        r"RuntimeError: The size of tensor a .* dimension 0": "linear_bias_shape",  # written into b
        r"RuntimeError: The size of tensor a": "old_forward_gets_it_first",
        r"RuntimeError: (\w+: )?mat1 and mat2 shapes": "weight_turned_over",
        r"AttributeError: 'Function_[A-D]' object has no attribute 'b'": "bias_missing",
        r"AttributeError: '(Layer_\w+|Model)' object has no attribute 'W'": "not_every_module_has_it",
        r"AttributeError: 'Function_[A-D]' object has no attribute 'shape'": "child_of_that_name",
    }

    def sizes(self, case):
        """Of each W the two sides, in a row: all alike, or no two alike."""
        return (4,) * 5 if self.square else case.shape("sizes", dims=5, low=2, high=7)

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
        rows = 4 if self.square else 9
        return {part: case.tensor(f"X {part}", rows, n) for part, n in zip(PARTS, self.sizes(case))}

    def outputs(self, tree, case):
        each = {part: tree.get_submodule(part)(X) for part, X in self.inputs(case).items()}
        return {**each, "the whole": tree(self.inputs(case)["ab.a"])}

    def each(self, case, name, formula):
        weights = self.weights(case, name)
        return {part: formula(X, *weights[part]) for part, X in self.inputs(case).items()}

    def computed(self, case, name, formula=lambda X, W, b: X @ W + b):
        whole = self.inputs(case)["ab.a"]
        for W, b in self.weights(case, name).values():
            whole = formula(whole, W, b)
        return {**self.each(case, name, formula), "the whole": Close(whole, rtol=1e-4, atol=1e-4)}


class LinearWithAnyW(LinearCheck):
    """Every `Function_*` has a `b` of zeros and returns `X @ W + b`."""

    square = True

    def probe(self, nb, case):
        tree = self.tree(nb, case)
        b = {part: copy.deepcopy(getattr(tree.get_submodule(part), "b", None)) for part in PARTS}
        brought = {"parameters": [name for name, _ in tree.named_parameters()], "b": b}
        if [getattr(one, "shape", None) for one in b.values()] == [(4,)] * 4:
            brought["output with b = 0"] = self.outputs(tree, case)
            self.fill(tree, case, "new")
            brought["output"] = self.outputs(tree, case)
        return {
            **brought,
            "__call__ set on ab.a": "__call__" in vars(tree.ab.a),
            "b in the notebook's model": self.notebook_has_b(nb),
        }

    def notebook_has_b(self, nb):
        try:
            return "b" in nb.model.ab.a._parameters
        except Exception:
            return False

    def truth(self, case):
        return {
            "parameters": [f"{part}.{name}" for part in PARTS for name in ("W", "b")],
            "b": {part: torch.zeros(4) for part in PARTS},
            "output with b = 0": self.computed(case, "old", lambda X, W, b: X @ W),
            "output": self.computed(case, "new"),
            "__call__ set on ab.a": ANYTHING,
            "b in the notebook's model": ANYTHING,
        }

    def mistakes(self, case):
        only_W = [f"{part}.W" for part in PARTS]
        last_W = self.weights(case, "new")["cd.d"][0]

        def bias(test):
            return {"b": such_that(lambda got: test(list(got.values())))}

        def names(test):
            return {"parameters": such_that(lambda got: any(map(test, got)))}

        def any_of(*formulas):
            return AnyOf(
                *(
                    {field: {**self.each(case, state, formula), "the whole": ANYTHING}}
                    for formula in formulas
                    for field, state in (("output", "new"), ("output with b = 0", "old"))
                )
            )

        def before(values, name="old"):
            """What the four old forwards make of the part's value."""
            steps = (torch.add, torch.sub, torch.mul, torch.div)
            weights = self.weights(case, name)
            return {part: step(values[part], weights[part][0]) for part, step in zip(PARTS, steps)}

        def old(values):
            return {"output with b = 0": {**values, "the whole": ANYTHING}}

        X, W = self.inputs(case), {part: W for part, (W, _) in self.weights(case, "old").items()}
        linear = {part: X[part] @ W[part] for part in PARTS}
        untouched = before(X)
        stale = self.each(case, "new", lambda X, W, b: b)
        return {
            "apply_uses_global_model": {"parameters": only_W, "b in the notebook's model": True},
            "bias_missing": bias(lambda got: any(one is None for one in got)),
            "tensor_for_parameter": {"parameters": only_W, **bias(lambda got: all(one is not None for one in got))},
            "linear_inside": names(lambda name: name.count(".") > 2),
            "linear_bias_shape": bias(lambda got: any(one.shape != (4,) for one in got)),
            "wrong_start": bias(lambda got: any(bool(one.tensor().any()) for one in got)),
            "dunder_on_instance": {**old(untouched), "__call__ set on ab.a": True},
            "old_forward_runs": old(untouched),
            "uses_old_output": old({part: untouched[part] @ W[part] for part in PARTS}),
            "pre_hook_keeps_forward": old(before(linear)),
            "elementwise_product": any_of(lambda X, W, b: X * W + b, lambda X, W, b: X * W),
            "weight_turned_over": any_of(lambda X, W, b: X @ W.T + b, lambda X, W, b: W @ X + b),
            "apply_late_binding": any_of(lambda X, W, b: X @ last_W + b),
            "forgets_bias": {"output": {**self.each(case, "new", lambda X, W, b: X @ W), "the whole": ANYTHING}},
            "stale_weights": {"output": {**{part: linear[part] + stale[part] for part in PARTS}, "the whole": ANYTHING}},
        }


class AnyShape(LinearCheck):
    """`W` may have any shape, `X` any number of rows; gradients reach all three."""

    blame = {"gradients": "gradient_cut"}

    def probe(self, nb, case):
        tree = self.tree(nb, case)
        self.fill(tree, case, "new")
        each = self.outputs(tree, case)
        X = case.tensor("X", 9, self.sizes(case)[0], requires_grad=True)
        tree(X).backward(case.tensor("upstream", 9, self.sizes(case)[-1]))
        named = dict(tree.named_parameters())
        grads = {f"{part}.{name}": named[f"{part}.{name}"].grad for part in PARTS for name in ("W", "b")}
        return {"output": each, "gradients": {"X": X.grad, **grads}}

    def truth(self, case):
        X = output = case.tensor("X", 9, self.sizes(case)[0], requires_grad=True)
        leaves = {"X": X}
        for part, (W, b) in self.weights(case, "new").items():
            leaves[f"{part}.W"], leaves[f"{part}.b"] = W.requires_grad_(), b.requires_grad_()
            output = output @ W + b
        grads = torch.autograd.grad(output, list(leaves.values()), case.tensor("upstream", 9, self.sizes(case)[-1]))
        return {"output": self.computed(case, "new"), "gradients": Close(dict(zip(leaves, grads)), rtol=1e-4, atol=1e-4)}


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


check("linear_any_weight", LinearWithAnyW, AnyShape, CopyIsItsOwn, TwiceIsOnce, OutsideUnchanged)


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
