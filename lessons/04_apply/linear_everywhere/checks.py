from contextlib import contextmanager

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, is_same
from course.probing import in_float32, parameters_in_float32
from course.traces import gradients_from
from course.truths import ANYTHING, such_that
from course.tree import FORWARDS, Function_A, Function_B, Function_C, Function_D, Layer_AB, Layer_CD, Model

PARTS = ("ab.a", "ab.b", "cd.c", "cd.d")


@contextmanager
def square(model):
    """Meanwhile each `W` that `Model()` made, of shape (1,), has the shape (2, 2): published solutions begin with `Model()`."""
    with parameters_in_float32(model):
        for part in model.modules():
            if "W" in part._parameters and part.W.shape == (1,):
                part.W.data = part.W.data.repeat(2, 2)
        yield model


class LinearTree(Check):
    """What the checks of this exercise share."""

    errors = {
        r"TypeError: (weight_initialization|add_bias|linear_transformation)\(\) (takes|missing) ": "apply_argument",
        r"TypeError: (?!.*hook\(\))[\w.<>]+\(\) missing 1 required positional argument: '(?!output)": "unbound_function",
        r"TypeError: unsupported operand type\(s\) for -: 'tuple'": "output_in_a_tuple",  # in the next Function_B
        r"AttributeError: 'Function_[A-D]' object has no attribute 'b'": "bias_missing",
        r"AttributeError: 'Layer_AB' object has no attribute 'W'": "child_of_that_name",
        r"AttributeError: 'Model' object has no attribute '(W|b)'": "not_every_module_has_it",
    }

    def fresh(self, nb, case, *steps):
        for kind, forward in FORWARDS.items():  # an earlier attempt may have changed the class
            kind.forward = forward
        tree = case.build("fresh", Model, shape=(2, 2))
        for step in steps:
            tree.apply(nb.function(step))
        for one in tree.parameters():
            one.data = in_float32(one.data)
        return tree


class AllOnes(LinearTree):
    """Beside each `W` there is a Parameter `b`, and all are 1."""

    claims = ("(returned_module is model)",)  # `is` belongs to the language

    def kind(self, module):
        for kind, register in (("a Parameter", module._parameters), ("a buffer", module._buffers)):
            if "b" in register:
                return kind
        return "a plain attribute" if hasattr(module, "b") else "not there"

    def probe(self, nb, case):
        fresh, model = self.fresh(nb, case, "add_bias", "weight_initialization"), nb.module("model")
        values = {"fresh": {name: one.detach().clone() for name, one in fresh.named_parameters()}}
        with square(model):
            values["model"] = {name: one.detach().clone() for name, one in model.named_parameters()}
            last = None
            if nb.returned_module is None:  # has an error stopped the cell?
                last = in_float32(model.cd.d(case.tensor("X", 2, 2)))
        return {
            "b": {"fresh.ab.a": self.kind(fresh.ab.a), "model.ab.a": self.kind(model.ab.a)},
            "values": values,
            "(returned_module is model)": nb.returned_module is model,
            "output of model.cd.d": last,
        }

    def truth(self, case):
        ones = {f"{part}.{name}": torch.ones(*size) for part in PARTS for name, size in (("W", (2, 2)), ("b", (2,)))}
        return {
            "b": {"fresh.ab.a": "a Parameter", "model.ab.a": "a Parameter"},
            "values": {"fresh": ones, "model": ones},
            "(returned_module is model)": True,
            "output of model.cd.d": ANYTHING,
        }

    def mistakes(self, case):
        right = self.truth(case)["values"]
        ones = right["fresh"]

        def values(test):
            return {"values": such_that(lambda got: test(got["fresh"]))}

        def of_kind(kind):
            return {"b": such_that(lambda got: kind in got.values())}

        return {
            "apply_uses_global_model": {"b": {"fresh.ab.a": "not there", "model.ab.a": "a Parameter"}},
            "bias_missing": of_kind("not there"),
            "tensor_for_parameter": of_kind("a plain attribute"),
            "buffer_for_parameter": of_kind("a buffer"),
            "touches_other_modules": values(lambda got: set(got) - set(ones)),
            "shared_parameter": values(lambda got: len(got) < len(ones)),
            "linear_bias_shape": values(lambda got: got["ab.a.b"].shape != (2,)),
            "stale_weights": {"values": such_that(lambda got: set(got["model"]) - set(ones))},
            "bias_not_one": {
                "values": such_that(lambda got: all(is_same(got[tree][f"{part}.W"], torch.ones(2, 2)) for tree in got for part in PARTS))
            },
            "cell_stopped": {"values": right, "output of model.cd.d": case.tensor("X", 2, 2)},  # it still divides, by 1
            "wrong_return": {"values": right, "(returned_module is model)": False},
            "not_applied": {"values": {"fresh": ones, "model": ANYTHING}},
        }


class LinearForAnyWeights(LinearTree):
    """Every `Function_*` of the tree returns `X @ W + b`, or `X @ W.T + b`, whatever `W` and `b` hold; one outside adds."""

    blame = {"outside": "forward_class_patched", "output in fresh with new Parameters": "stale_weights", "gradients in fresh": "gradient_cut"}

    def weights(self, case, tree):
        """Symmetric W, so that X @ W.T is right as well."""
        halves = {part: case.tensor(f"{tree} {part} W", 2, 2, positive=True) for part in PARTS}
        return {part: (half + half.T, case.tensor(f"{tree} {part} b", 2)) for part, half in halves.items()}

    def brought(self, tree, weights, X):
        before = {name: one.detach().clone() for name, one in tree.named_parameters()}
        try:
            for part, (W, b) in weights.items():
                tree.get_submodule(part).W.data.copy_(W)
                tree.get_submodule(part).b.data.copy_(b)
            outputs = {**{part: tree.get_submodule(part)(X) for part in PARTS}, "the whole": tree(X)}
            return {name: in_float32(output) for name, output in outputs.items()}
        finally:
            for name, one in tree.named_parameters():
                one.data.copy_(before[name])

    def outside(self, case, X):
        stranger = case.build("stranger", Function_A, shape=(2, 2))
        stranger.W.data = case.tensor("stranger W", 2, 2)
        try:
            return in_float32(stranger(X))
        except AttributeError:  # it has no b
            return None

    def probe(self, nb, case):
        fresh = self.fresh(nb, case, "add_bias", "weight_initialization", "linear_transformation")
        X = case.tensor("X", 2, 2)
        with square(nb.module("model")) as model:
            in_model = self.brought(model, self.weights(case, "model"), X)
        in_fresh = self.brought(fresh, self.weights(case, "fresh"), X)
        for part in map(fresh.get_submodule, PARTS):
            part.W, part.b = (nn.Parameter(one.detach().clone()) for one in (part.W, part.b))
        return {
            "output in fresh": in_fresh,
            "output in fresh with new Parameters": self.brought(fresh, self.weights(case, "model"), X),
            "output in model": in_model,
            "gradients in fresh": gradients_from([fresh.get_submodule(part)(X) * X for part in PARTS], fresh, case),
            "forward hooks on fresh.ab.a": len(fresh.ab.a._forward_hooks),
            "__call__ set on fresh.ab.a": "__call__" in vars(fresh.ab.a),
            "outside": self.outside(case, X),
        }

    def computed(self, case, tree):
        X = whole = case.tensor("X", 2, 2)
        outputs = {}
        for part, (W, b) in self.weights(case, tree).items():
            outputs[part] = X @ W + b
            whole = whole @ W + b
        return {**outputs, "the whole": Close(whole, rtol=1e-4, atol=1e-4)}

    def gradients(self, case):
        """With X upstream, they are the same for X @ W.T."""
        X = case.tensor("X", 2, 2)
        found = {f"{part}.{name}": grad for part in PARTS for name, grad in (("W", X.T @ X), ("b", X.sum(0)))}
        return {name: grad + case.tensor(f"weight of {name}", *grad.shape) for name, grad in found.items()}

    def truth(self, case):
        return {
            "output in fresh": self.computed(case, "fresh"),
            "output in fresh with new Parameters": self.computed(case, "model"),
            "output in model": self.computed(case, "model"),
            "gradients in fresh": Close(self.gradients(case), rtol=1e-4, atol=1e-4),
            "forward hooks on fresh.ab.a": ANYTHING,
            "__call__ set on fresh.ab.a": ANYTHING,
            "outside": case.tensor("X", 2, 2) + case.tensor("stranger W", 2, 2),
        }

    def mistakes(self, case):
        X, ones = case.tensor("X", 2, 2), torch.ones(2, 2)
        last_W, last_b = self.weights(case, "fresh")["cd.d"]
        steps = dict(zip(PARTS, (torch.add, torch.sub, torch.mul, torch.div)))

        def each(formula, tree="fresh"):
            made = {part: formula(steps[part], W, b) for part, (W, b) in self.weights(case, tree).items()}
            return {f"output in {tree}": {**made, "the whole": ANYTHING}}

        old = each(lambda step, W, b: step(X, W))
        return {
            "linear_hook_returns_nothing": {**old, "forward hooks on fresh.ab.a": such_that(bool)},
            "dunder_on_instance": {**old, "__call__ set on fresh.ab.a": True},
            "old_forward_runs": old,
            "not_applied": {"output in fresh": self.computed(case, "fresh"), "output in model": ANYTHING},
            "uses_old_output": each(lambda step, W, b: AnyOf(step(X, W) @ W + b, step(X, W) + b)),
            "elementwise_product": each(lambda step, W, b: X * W + b),
            "forgets_bias": each(lambda step, W, b: X @ W),
            "wrong_side": each(lambda step, W, b: W @ X + b),
            "pre_hook_keeps_forward": each(lambda step, W, b: step(X @ W + b, W)),
            "apply_misses_some": each(lambda step, W, b: AnyOf(X @ W + b, step(X, W))),
            "apply_late_binding": each(lambda step, W, b: X @ last_W + last_b),
            "bias_on_columns": each(lambda step, W, b: X @ W + b[:, None]),
            "stale_weights": each(lambda step, W, b: AnyOf(X @ ones + 1, X @ ones + b, X @ W + 1)),
        }


check("linear_everywhere", AllOnes, LinearForAnyWeights)


# --- Hidden checks: graders run them, learners do not get them. ---
def _another_tree(case):
    """Layers and functions in an order of the seed."""
    kinds = [Layer_AB, Layer_CD, Function_A, Function_B, Function_C, Function_D]
    first, *rest = (kind(shape=(2, 2)) for kind in case.shuffled("hidden kinds", kinds)[: case.integer("hidden length", 4, 6)])
    return nn.Sequential(first, nn.Sequential(*rest))


class TimesNumbers(Check):
    """In one more tree and in `model` every `Function_*` computes with its own `W` and `b`, which begin with 1."""

    def change(self, tree, case, kept):
        """Every parameter times numbers of the seed; in `kept` what it was."""
        with torch.no_grad():
            for name, one in tree.named_parameters():
                kept.append((one, one.detach().clone()))
                one.mul_(self.factor(case, name))

    def factor(self, case, name):
        half = case.tensor(f"hidden {name}", *((2, 2) if name.endswith("W") else (2,)), positive=True)
        return half + half.T if name.endswith("W") else half

    def probe(self, nb, case):
        tree, kept = case.build("hidden tree", _another_tree, case), []
        for name in ("add_bias", "weight_initialization", "linear_transformation"):
            tree.apply(nb.function(name))
        for one in tree.parameters():
            one.data = in_float32(one.data)
        self.change(tree, case, [])
        X = case.tensor("hidden X", 2, 2, positive=True)
        with square(nb.module("model")) as model:
            self.change(model, case, kept)
            try:
                returned = nb.module("returned_module")(X)
            finally:
                for one, old in kept:
                    one.data = old
        return {"output": in_float32(tree(X)), "b": [one for name, one in tree.named_parameters() if name.endswith("b")], "output of returned_module": in_float32(returned)}

    def truth(self, case):
        outputs = []
        for tree in (_another_tree(case), Model()):
            X, biases = case.tensor("hidden X", 2, 2, positive=True), []
            for name, part in tree.named_modules():
                if isinstance(part, (Function_A, Function_B, Function_C, Function_D)):
                    biases.append(self.factor(case, f"{name}.b"))
                    X = X @ self.factor(case, f"{name}.W") + biases[-1]
            outputs.append((X, biases))
        (output, biases), (returned, _) = outputs
        return Close({"output": output, "b": biases, "output of returned_module": returned}, rtol=1e-4, atol=1e-4)


check("linear_everywhere", TimesNumbers)
