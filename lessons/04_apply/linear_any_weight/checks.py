import copy
from contextlib import contextmanager

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.probing import hook_counts
from course.traces import parameters_of, what_runs
from course.truths import ANYTHING, same_both_times
from course.tree import Function_A, Function_B, Function_C, Function_D, Layer_AB, Model

PARTS = ("ab.a", "ab.b", "cd.c", "cd.d")


class LinearCheck(Check):
    """What the checks of this exercise share."""

    square = False
    errors = {
        r"TypeError: .*make_linear\(\) (takes|missing) ": "apply_argument",
        r"TypeError: (\w+\.<locals>\.)*\w*\(\) missing 1 required positional": "unbound_function",
        r"TypeError: .*\(\) got multiple values for argument": "self_by_name",
        r"RuntimeError: the old forward runs": "old_forward_gets_it_first",
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
        tree = case.build("tree", Model)
        self.W = {part: nn.Parameter(W) for part, (W, _) in self.weights(case, "old").items()}
        for part, W in self.W.items():
            tree.get_submodule(part).W = W
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
    """Every `Function_*` has a Parameter `b` of zeros and returns `X @ W + b`, also when `W` and `b` change later."""

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
            "all parameters with their new values": parameters_of(tree),
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
            "all parameters with their new values": {
                f"{part}.{name}": value
                for part, values in self.weights(case, "new").items()
                for name, value in zip(("W", "b"), values)
            },
        }

    def mistakes(self, case):
        only_W = [f"{part}.W" for part in PARTS]
        last_W = self.weights(case, "new")["cd.d"][0]

        def bias(test):
            return {"b": Matches(lambda got: None if test(list(got.values())) else "no", "")}

        def names(test):
            return {"parameters": Matches(lambda got: None if any(map(test, got)) else "no", "")}

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
            "touches_other_modules": names(lambda name: name.rpartition(".")[0] not in PARTS),
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
            "stale_weights": {
                "output": {**{part: linear[part] + stale[part] for part in PARTS}, "the whole": ANYTHING}
            },
        }


class AnyShape(LinearCheck):
    """`W` may have any shape and `X` any number of rows; the old `forward` does not run."""

    @contextmanager
    def no_old_forward(self):
        """Meanwhile the forward of the four classes raises, and afterwards it is as before."""

        self.old_runs = runs = []

        def old(self, x):
            runs.append(x)
            raise RuntimeError("the old forward runs")

        classes = (Function_A, Function_B, Function_C, Function_D)
        before = [cls.forward for cls in classes]
        try:
            for cls in classes:
                cls.forward = old
            yield
        finally:
            for cls, forward in zip(classes, before):
                cls.forward = forward

    def probe(self, nb, case):
        with self.no_old_forward():
            tree = self.tree(nb, case)
            shapes = {part: list(getattr(tree.get_submodule(part), "b", torch.ones(())).shape) for part in PARTS}
            if any(shape != [tree.get_submodule(part).W.shape[1]] for part, shape in shapes.items()):
                return {"shape of b": shapes, **dict.fromkeys([*self.truth(case)][1:])}
            self.fill(tree, case, "new")
            output = self.outputs(tree, case)
            with torch.no_grad():  # into those that were there before: they should be there still
                for part, (W, _) in self.weights(case, "later").items():
                    self.W[part].copy_(W)
            later = {part: tree.get_submodule(part)(X) for part, X in self.inputs(case).items()}
            return {
                "shape of b": shapes,
                "output": output,
                "output where the first W have other values": later,
                "output for one row": {part: tree.get_submodule(part)(X[:1]) for part, X in self.inputs(case).items()},
                "a number from the runs of the old forward": self.number(case, len(self.old_runs)),
            }

    def truth(self, case):
        weights = self.weights(case, "new")
        return {
            "shape of b": {part: list(b.shape) for part, (_, b) in weights.items()},
            "output": self.computed(case, "new"),
            "output where the first W have other values": {
                part: X @ self.weights(case, "later")[part][0] + weights[part][1] for part, X in self.inputs(case).items()
            },
            "output for one row": {
                part: X[:1] @ self.weights(case, "later")[part][0] + weights[part][1]
                for part, X in self.inputs(case).items()
            },
            "a number from the runs of the old forward": self.number(case, 0),
        }

    def number(self, case, runs):
        return case.integer(f"runs of the old forward: {runs}", 1, 10**6)

    blame = {
        "output where the first W have other values": "parameter_replaced",
        "output for one row": "one_row",
        "a number from the runs of the old forward": "old_forward_gets_it_first",
    }

    def mistakes(self, case):
        shapes = self.truth(case)["shape of b"]
        return {
            "linear_bias_shape": {
                "shape of b": Matches(lambda got: None if got != shapes and all(got.values()) else "no", "")
            }
        }


class Gradients(LinearCheck):
    """After `backward` the gradients of every `W`, every `b` and of the input are those of `X @ W + b`."""

    blame = {"W.grad": "gradient_cut", "b.grad": "gradient_cut", "X.grad": "gradient_cut", "W.grad in eval mode": "gradient_cut"}

    def probe(self, nb, case):
        tree = self.tree(nb, case)
        self.fill(tree, case, "new")
        X = case.tensor("X", 9, self.sizes(case)[0], requires_grad=True)
        tree(X).backward(case.tensor("upstream", 9, self.sizes(case)[-1]))
        named = dict(tree.named_parameters())
        return {
            "W.grad": {part: named[f"{part}.W"].grad for part in PARTS},
            "b.grad": {part: named[f"{part}.b"].grad for part in PARTS},
            "X.grad": X.grad,
            "W.grad in eval mode": self.in_eval_mode(tree, case),
        }

    def in_eval_mode(self, tree, case):
        tree.eval().zero_grad()
        try:
            tree(case.tensor("X", 9, self.sizes(case)[0])).backward(case.tensor("upstream", 9, self.sizes(case)[-1]))
        except RuntimeError:  # no graph
            return None
        return {part: tree.get_submodule(part).W.grad for part in PARTS}

    def truth(self, case):
        X = output = case.tensor("X", 9, self.sizes(case)[0], requires_grad=True)
        weights = self.weights(case, "new")
        leaves = {"X": X}
        for part, (W, b) in weights.items():
            leaves[f"{part}.W"], leaves[f"{part}.b"] = W.requires_grad_(), b.requires_grad_()
            output = output @ W + b
        grads = torch.autograd.grad(output, list(leaves.values()), case.tensor("upstream", 9, self.sizes(case)[-1]))
        grads = {name: Close(grad, rtol=1e-4, atol=1e-4) for name, grad in zip(leaves, grads)}
        return {
            "W.grad": {part: grads[f"{part}.W"] for part in PARTS},
            "b.grad": {part: grads[f"{part}.b"] for part in PARTS},
            "X.grad": grads["X"],
            "W.grad in eval mode": {part: grads[f"{part}.W"] for part in PARTS},
        }


class TwiceIsOnce(LinearCheck):
    """Applied a second time, it changes nothing: the same `b` with its values, the same output, no second hook."""

    blame = {
        "same b": "second_time_anew",
        "b": "second_time_anew",
        "output": "second_time_on_top",
        "hooks": "second_time_on_top",
        "what runs, before and after": "second_time_on_top",
        "b, when the b of before has other values": "second_time_anew",
    }
    errors = {r"RuntimeError: ": "second_time_on_top"}

    def probe(self, nb, case):
        tree = self.tree(nb, case)
        self.fill(tree, case, "new")
        before, hooks = {part: tree.get_submodule(part).b for part in PARTS}, hook_counts(tree)
        ran = self.runs(tree, case, "first")
        tree.apply(nb.function("make_linear"))
        after = {part: tree.get_submodule(part).b for part in PARTS}
        brought = {
            "same b": {part: after[part] is before[part] for part in PARTS},
            "b": {part: one.detach().clone() for part, one in after.items()},
            "output": self.outputs(tree, case),
            "hooks": {kind: number - hooks[kind] for kind, number in hook_counts(tree).items()},
            "what runs, before and after": [ran, self.runs(tree, case, "second")],
        }
        with torch.no_grad():
            for part, (_, b) in self.weights(case, "later").items():
                before[part].copy_(b)
        return {**brought, "b, when the b of before has other values": after}

    def runs(self, tree, case, moment):
        return what_runs(tree, case, lambda: tree(self.inputs(case)["ab.a"]).sum().backward(), moment)

    def truth(self, case):
        return {
            "same b": dict.fromkeys(PARTS, True),
            "b": {part: b for part, (_, b) in self.weights(case, "new").items()},
            "output": self.computed(case, "new"),
            "hooks": dict.fromkeys(("forward_pre", "forward", "backward_pre", "backward", "tensor"), 0),
            "what runs, before and after": same_both_times(case, "first", "second"),
            "b, when the b of before has other values": {
                part: b for part, (_, b) in self.weights(case, "later").items()
            },
        }


class CopyIsItsOwn(LinearCheck):
    """A deep copy computes with its own `W` and `b`, also if the function is applied to it; the original goes on with its own."""

    blame = {
        "output of the copy": "copy_remembers_original",
        "output of the original": "copy_remembers_original",
        "output of the copy, to which the function was applied again": "second_time_anew",
    }
    errors = {
        **LinearCheck.errors,
        r"RuntimeError: Only Tensors created explicitly by the user": "copy_of_a_result",
        r"RuntimeError: (\w+: )?mat1 and mat2 shapes": "second_time_on_top",
    }

    def probe(self, nb, case):
        tree = self.tree(nb, case)
        self.fill(tree, case, "new")
        clone = copy.deepcopy(tree)
        self.fill(clone, case, "other")
        brought = {"output of the copy": self.outputs(clone, case), "output of the original": self.outputs(tree, case)}
        clone.apply(nb.function("make_linear"))
        return {**brought, "output of the copy, to which the function was applied again": self.outputs(clone, case)}

    def truth(self, case):
        return {
            "output of the copy": self.computed(case, "other"),
            "output of the original": self.computed(case, "new"),
            "output of the copy, to which the function was applied again": self.computed(case, "other"),
        }


class OutsideUnchanged(LinearCheck):
    """Outside the model everything computes what it did before: a `Function_*`, a layer, another tree; the classes are as they were."""

    blame = {"outside": "forward_class_patched", "methods of the classes": "forward_class_patched"}
    claims = ("methods of the classes",)  # a class says this of itself, and the statement asks for just this
    errors = {r"(AttributeError|RuntimeError): ": "forward_class_patched"}

    def probe(self, nb, case):
        self.tree(nb, case)
        outside = Model(shape=(4,))
        with torch.no_grad():
            for name, W in outside.named_parameters():
                W.copy_(case.tensor(name, 4))
        x = case.tensor("x", 3, 4)
        return {
            "outside": [outside.ab.a(x), outside.ab(x), outside(x)],
            "methods of the classes": self.methods(),
        }

    def methods(self):
        """Of each class its methods, each by the name that its code was written under."""
        return {
            cls.__name__: {name: one.__code__.co_qualname for name, one in vars(cls).items() if hasattr(one, "__code__")}
            for cls in (Function_A, Function_B, Function_C, Function_D)
        }

    def truth(self, case):
        x, (a, b, c, d) = case.tensor("x", 3, 4), (case.tensor(f"{part}.W", 4) for part in PARTS)
        written = {f"Function_{one}": ("__init__", "forward") for one in "ABCD"}  # typed in: at home these are the very classes that a cell has changed
        return {
            "outside": [x + a, x + a - b, (x + a - b) * c / d],
            "methods of the classes": {cls: {name: f"{cls}.{name}" for name in names} for cls, names in written.items()},
        }


class OneAlone(LinearCheck):
    """A single `Function_*` becomes linear as well: the model is then the module itself."""

    blame = {"output": "only_the_children"}

    def probe(self, nb, case):
        output = {}
        for cls, part in zip((Function_A, Function_B, Function_C, Function_D), PARTS):
            alone = case.build(part, cls, shape=(4, 4))
            alone.apply(nb.function("make_linear"))
            output[part] = alone(case.tensor("X", 4, 4))
        return {"output": output}

    def truth(self, case):
        classes = zip((Function_A, Function_B, Function_C, Function_D), PARTS)
        return {"output": {part: case.tensor("X", 4, 4) @ case.build(part, cls, shape=(4, 4)).W for cls, part in classes}}


check(
    "linear_any_weight", LinearWithAnyW, AnyShape, Gradients, CopyIsItsOwn, TwiceIsOnce, OutsideUnchanged, OneAlone
)


# --- Hidden checks: graders run them, learners do not get them. ---
class ACopyOfALayer(Check):
    """A copy of one more tree computes `X @ W + b`, and gets its gradients."""

    def probe(self, nb, case):
        n, m, k = case.shape("hidden sizes", dims=3)
        original = Layer_AB()
        original.a.W = nn.Parameter(case.tensor("hidden W of a", n, m))
        original.b.W = nn.Parameter(case.tensor("hidden W of b", m, k))
        layer, X = copy.deepcopy(original.apply(nb.function("make_linear"))), case.tensor("hidden X", 5, n)
        with torch.no_grad():
            layer.a.b.add_(case.tensor("hidden b of a", m))
            layer.b.b.add_(case.tensor("hidden b of b", k))
        output = layer(X)
        output.backward(case.tensor("hidden upstream", 5, k))
        return {
            "output": output,
            "W.grad": [layer.a.W.grad, layer.b.W.grad],
            "b.grad": [layer.a.b.grad, layer.b.b.grad],
        }

    def truth(self, case):
        n, m, k = case.shape("hidden sizes", dims=3)
        first, second = (
            case.tensor(f"hidden W of {one}", *sizes, requires_grad=True)
            for one, sizes in (("a", (n, m)), ("b", (m, k)))
        )
        one, two = (case.tensor(f"hidden b of {one}", size, requires_grad=True) for one, size in (("a", m), ("b", k)))
        output = (case.tensor("hidden X", 5, n) @ first + one) @ second + two
        gradients = torch.autograd.grad(output, (first, second, one, two), case.tensor("hidden upstream", 5, k))
        return Close({"output": output, "W.grad": gradients[:2], "b.grad": gradients[2:]}, rtol=1e-4, atol=1e-4)


check("linear_any_weight", ACopyOfALayer)
