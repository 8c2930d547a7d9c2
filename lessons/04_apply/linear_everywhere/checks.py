from contextlib import contextmanager

import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches, is_same
from course.truths import ANYTHING
from course.tree import Model
from nbproof.values.compare import Close


@contextmanager
def square(model):
    """Meanwhile each `W` that `Model()` made, of shape (1,), has the shape (2, 2): published solutions begin with `Model()`."""
    small = [part.W for part in model.modules() if "W" in part._parameters and part.W.shape == (1,)]
    before = [W.data for W in small]
    for W in small:
        W.data = W.data.repeat(2, 2)
    try:
        yield model
    finally:
        for W, data in zip(small, before):
            W.data = data


class LinearTree(Check):
    """What the checks of this exercise share."""

    errors = {
        r"TypeError: (weight_initialization|add_bias|linear_transformation)\(\) (takes|missing) ": "apply_argument",
        r"TypeError: (\w+\.<locals>\.)*\w*(forward|linear)\w*\(\) missing 1 required": "unbound_function",
        r"TypeError: unsupported operand type\(s\) for -: 'tuple'": "output_in_a_tuple",  # in the next Function_B
        r"AttributeError: 'Function_[A-D]' object has no attribute 'b'": "bias_missing",
        r"AttributeError: 'Function_[A-D]' object has no attribute '(data|fill_|copy_)'": "child_of_that_name",
        r"AttributeError: '(Layer_\w+|Model)' object has no attribute '(W|b)'": "not_every_module_has_it",
    }
    parts = ("ab.a", "ab.b", "cd.c", "cd.d")

    def fresh(self, nb, case, *steps):
        tree = case.build("fresh", Model, shape=(2, 2))
        for step in steps:
            tree.apply(nb.function(step))
            if step == "add_bias":
                self.write_into(tree, case)
        return tree

    def write_into(self, tree, case):
        """Any values, a zero among them, which are those of the seed and not those that somebody chose for `b`."""
        with torch.no_grad():
            for name, one in tree.named_parameters():
                one.copy_(case.tensor(f"before {name}", *one.shape))
                one[-1] = 0

    def outputs(self, tree, X):
        return {name: tree.get_submodule(name)(X) for name in self.parts}


class AllOnes(LinearTree):
    """In `model`, and in a `fresh` tree, `b` is a Parameter of shape (2,) beside each `W`, and all of them are 1."""

    claims = ("(returned_module is model)",)  # `is` belongs to the language

    def kind(self, module):
        if "W" not in module._parameters:
            return "another module stands there"
        for kind, register in (("a Parameter", module._parameters), ("a buffer", module._buffers)):
            if "b" in register:
                return kind
        return "a plain attribute" if hasattr(module, "b") else "not there"

    def probe(self, nb, case):
        fresh = self.fresh(nb, case, "add_bias", "weight_initialization")
        model = nb.module("model")
        with square(model):
            values = {tree: self.values(one) for tree, one in (("fresh", fresh), ("model", model))}
        return {
            "b": {"fresh.ab.a": self.kind(fresh.ab.a), "model.ab.a": self.kind(model.ab.a)},
            "values": values,
            "(returned_module is model)": nb.returned_module is model,
        }

    def values(self, tree):
        return {name: one.detach().clone() for name, one in tree.named_parameters()}

    def truth(self, case):
        ones = {f"{part}.W": torch.ones(2, 2) for part in self.parts} | {
            f"{part}.b": torch.ones(2) for part in self.parts
        }
        return {
            "b": {"fresh.ab.a": "a Parameter", "model.ab.a": "a Parameter"},
            "values": {"fresh": ones, "model": ones},
            "(returned_module is model)": True,
        }

    def mistakes(self, case):
        right = self.truth(case)
        old = case.tensor("before ab.a.W", 2, 2)
        old[-1] = 0
        trees = ("fresh", "model")

        def when(test):
            return Matches(lambda got: None if test(got) else "no", "")

        def is_one(record):
            return bool((record.tensor() == 1).all())

        def only_b_wrong(got):
            parts = [(got[tree].get(f"{part}.W"), got[tree].get(f"{part}.b")) for tree in trees for part in self.parts]
            return all(W and b and is_one(W) for W, b in parts) and not all(is_one(b) for _, b in parts)

        def any_shape(got):
            return any(b.shape != (2,) for tree in trees for name, b in got[tree].items() if name.endswith(".b"))

        def only_model_wrong(got):
            same_shapes = all(got["model"][name].shape == one.shape for name, one in got["fresh"].items())
            return same_shapes and is_same(got["fresh"], right["values"]["fresh"])

        def shared(got):
            return any(len(got[tree]) < 2 * len(self.parts) for tree in trees)

        def other_modules(got):
            return any(name.rpartition(".")[0] not in self.parts for tree in trees for name in got[tree])

        return {
            "apply_uses_global_model": {"b": {"fresh.ab.a": "not there", "model.ab.a": "a Parameter"}},
            "module_replaced": {"b": when(lambda got: "another module stands there" in got.values())},
            "bias_missing": {"b": when(lambda got: "not there" in got.values())},
            "tensor_for_parameter": {"b": when(lambda got: "a plain attribute" in got.values())},
            "buffer_for_parameter": {"b": when(lambda got: "a buffer" in got.values())},
            "touches_other_modules": {"values": when(other_modules)},
            "shared_parameter": {"values": when(shared)},
            "linear_bias_shape": {"values": when(any_shape)},
            "apply_changes_nothing": {
                "values": when(lambda got: is_same(got["fresh"]["ab.a.W"], old))
            },
            "depends_on_old_value": {
                "values": when(lambda got: not all(one.tensor().isfinite().all() for one in got["fresh"].values()))
            },
            "bias_not_one": {"values": when(only_b_wrong)},
            "wrong_return": {"values": right["values"], "(returned_module is model)": False},
            "not_applied": {"values": when(only_model_wrong)},
        }


class LinearAtOnes(LinearTree):
    """In `model`, and in a `fresh` tree, every `Function_*` returns `X @ W + b`, and the whole tree runs one after another."""

    def probe(self, nb, case):
        fresh = self.fresh(nb, case, "add_bias", "weight_initialization", "linear_transformation")
        model, X = nb.module("model"), case.tensor("X", 2, 2)
        with square(model):
            outputs, whole = {"fresh": self.outputs(fresh, X), "model": self.outputs(model, X)}, model(X)
        return {
            "output": outputs,
            "model(X)": whole,
            "forward hooks on fresh.ab.a": len(fresh.ab.a._forward_hooks),
            "__call__ set on fresh.ab.a": "__call__" in vars(fresh.ab.a),
        }

    def truth(self, case):
        X, W, b = case.tensor("X", 2, 2), torch.ones(2, 2), torch.ones(2)
        whole = X
        for _ in self.parts:
            whole = whole @ W + b
        each = dict.fromkeys(self.parts, X @ W + b)
        return {
            "output": {"fresh": each, "model": each},
            "model(X)": whole,
            "forward hooks on fresh.ab.a": ANYTHING,
            "__call__ set on fresh.ab.a": ANYTHING,
        }

    def mistakes(self, case):
        X, W, b = case.tensor("X", 2, 2), torch.ones(2, 2), torch.ones(2)
        right = dict.fromkeys(self.parts, X @ W + b)

        def before(X):
            return dict(zip(self.parts, (X + W, X - W, X * W, X / W)))

        hooked = Matches(lambda got: None if got else "none", "")

        def fresh(brought):
            return {"output": {"fresh": brought, "model": ANYTHING}}

        def each(values):
            return fresh(dict(zip(self.parts, values)))

        old = before(X)
        return {
            "linear_hook_returns_nothing": {**fresh(old), "forward hooks on fresh.ab.a": hooked},
            "dunder_on_instance": {**fresh(old), "__call__ set on fresh.ab.a": True},
            "old_forward_runs": fresh(old),
            "not_applied": {"output": {"fresh": right, "model": old}},
            "uses_old_output": fresh({part: AnyOf(old[part] @ W + b, old[part] + b) for part in self.parts}),
            "elementwise_product": each([X * W + b] * 4),
            "forgets_bias": each([X @ W] * 4),
            "wrong_side": each([W @ X + b] * 4),
            "pre_hook_keeps_forward": fresh(before(X @ W + b)),
            "apply_misses_some": fresh({part: AnyOf(X @ W + b, old[part]) for part in self.parts}),
        }


class AnyWeights(LinearTree):
    """`X @ W + b` holds for any symmetric `W` and any `b`, which may change after the functions were applied."""

    def weights(self, case, tree):
        def symmetric(name):
            half = case.tensor(name, 2, 2) / 2
            half[1, 1] = 0  # who gets X back from what the old forward made of it divides by this
            return half + half.T

        return {part: (symmetric(f"{tree} {part} W"), case.tensor(f"{tree} {part} b", 2)) for part in self.parts}

    def brought(self, tree, weights, X):
        before = {name: one.detach().clone() for name, one in tree.named_parameters()}
        try:
            for part, (W, b) in weights.items():
                module = tree.get_submodule(part)
                module.W.data.copy_(W)
                module.b.data.copy_(b)
            return {**self.outputs(tree, X), "the whole": tree(X)}
        finally:
            for name, one in tree.named_parameters():
                one.data.copy_(before[name])

    def probe(self, nb, case):
        fresh = self.fresh(nb, case, "add_bias", "weight_initialization", "linear_transformation")
        X = case.tensor("X", 2, 2)
        with square(nb.module("model")) as model:
            return {
                "output in model": self.brought(model, self.weights(case, "model"), X),
                "output in fresh": self.brought(fresh, self.weights(case, "fresh"), X),
            }

    def computed(self, case, tree, formula):
        X = whole = case.tensor("X", 2, 2)
        outputs = {}
        for part, (W, b) in self.weights(case, tree).items():
            outputs[part] = formula(X, W, b)
            whole = formula(whole, W, b)
        return {**outputs, "the whole": Close(whole, rtol=1e-4, atol=1e-4)}

    def truth(self, case):
        return {
            f"output in {tree}": self.computed(case, tree, lambda X, W, b: X @ W + b) for tree in ("model", "fresh")
        }

    def mistakes(self, case):
        (last_W, last_b), ones = self.weights(case, "fresh")["cd.d"], torch.ones(2, 2)
        stale = (lambda X, W, b: X @ ones + 1, lambda X, W, b: X @ ones + b, lambda X, W, b: X @ W + 1)
        one_number = (
            lambda X, W, b: X.sum(1, keepdim=True) * W.mean() + b,
            lambda X, W, b: X.sum(1, keepdim=True) * W[0, 0] + b,
            lambda X, W, b: X.sum(1, keepdim=True) * W[0] + b,
            lambda X, W, b: X @ W + b.mean(),
            lambda X, W, b: X @ W + b[0],
        )
        right = self.truth(case)["output in model"]

        def not_finite(got):
            """Something was divided by the zero in W; where no division is needed, all is right."""
            return is_same(got["ab.a"], right["ab.a"]) and not got["cd.c"].tensor().isfinite().all()

        b_of_last = self.weights(case, "model")["cd.d"][1]
        last = self.computed(case, "fresh", lambda X, W, b: X @ last_W + last_b)
        return {
            "apply_late_binding": {"output in fresh": last},
            "memory_shared": {"output in model": self.computed(case, "model", lambda X, W, b: X @ W + b_of_last)},
            "bias_on_columns": {"output in model": self.computed(case, "model", lambda X, W, b: X @ W + b[:, None])},
            "stale_weights": {"output in model": AnyOf(*(self.computed(case, "model", one) for one in stale))},
            "right_for_equal_weights": {
                "output in model": AnyOf(*(self.computed(case, "model", f) for f in one_number))
            },
            "needs_the_old_output": {"output in model": Matches(lambda got: None if not_finite(got) else "no", "")},
            "shares_between_trees": {"output in model": right, "output in fresh": ANYTHING},
        }


check("linear_everywhere", AllOnes, LinearAtOnes, AnyWeights)


# --- Hidden checks: graders run them, learners do not get them. ---
def _symmetric(case, part):
    half = case.tensor(f"hidden W of {part}", 2, 2, positive=True)
    return half + half.T


class TimesNumbers(Check):
    """In one more tree, too, every `Function_*` computes with its own `W` and `b`, which begin with 1."""

    def probe(self, nb, case):
        tree = case.build("hidden tree", Model, shape=(2, 2))
        for name in ("add_bias", "weight_initialization", "linear_transformation"):
            tree.apply(nb.function(name))
        with torch.no_grad():
            for part in ("ab.a", "ab.b", "cd.c", "cd.d"):
                tree.get_submodule(part).W.mul_(_symmetric(case, part))
                tree.get_submodule(part).b.mul_(case.tensor(f"hidden b of {part}", 2, positive=True))
        X = case.tensor("hidden X", 2, 2, positive=True)
        return {"output": tree(X), "output of tree.ab": tree.ab(X)}

    def truth(self, case):
        X, outputs = case.tensor("hidden X", 2, 2, positive=True), []
        for part in ("ab.a", "ab.b", "cd.c", "cd.d"):
            X = X @ _symmetric(case, part) + case.tensor(f"hidden b of {part}", 2, positive=True)
            outputs.append(X)
        return Close({"output": outputs[3], "output of tree.ab": outputs[1]}, rtol=1e-4, atol=1e-4)


check("linear_everywhere", TimesNumbers)
