import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from nbproof.values.evidence import TensorRecord
from course.models import Model
from course.probing import hook_counts, other_forward

ANYTHING = Matches(lambda got: None, "anything")


def either(fields, *parts):
    """One of several partial results; the fields that a part leaves out may be anything."""
    return AnyOf(*({**dict.fromkeys(fields, ANYTHING), **part} for part in parts))


def sums_to_one(right):
    """Gradients that sum to 1, but are not the right ones."""

    def test(got):
        grads = [got[name].tensor() for name in ("x1.grad", "x2.grad") if isinstance(got[name], TensorRecord)]
        one = len(grads) == 2 and {grad.shape for grad in grads} == {right["x1.grad"].shape}
        one = one and torch.allclose(sum(grads), torch.ones(()))
        return None if one and not torch.allclose(grads[0], right["x1.grad"]) else "another sum, or the right gradients"

    return Matches(test, "gradients that sum to 1")


class EachElementSumsToOne(Check):
    """In each backward `x1.grad` and `x2.grad` are divided by their sum; the gradient of `W` is as before."""

    poison = ("x1", "x2", "output")
    errors = {r"TypeError: object of type 'generator' has no len": "stop_generator"}
    blame = dict.fromkeys(("W.grad", "W.grad of another backward"), "changes_own_gradient")

    def upstream(self, case):
        return case.tensor("upstream", 4, positive=True) * torch.tensor([1.0, -1.0, 1.0, -1.0])

    def probe(self, nb, case):
        model = nb.module("model")
        model.W.grad = None
        x1 = case.tensor("x1", 4, positive=True, requires_grad=True)
        x2 = case.tensor("x2", 4, positive=True, requires_grad=True)
        model(x1, x2).backward(self.upstream(case))
        found = {"hooks on model": sum(hook_counts(model).values())}
        for name, tensor in {"x1.grad": x1, "x2.grad": x2, "W.grad": model.W}.items():
            found[name], tensor.grad = tensor.grad, None
        model(x1, x2).backward(2 * self.upstream(case))
        return {**found, "x1.grad of another backward": x1.grad, "W.grad of another backward": model.W.grad}

    def gradients(self, case):
        x1 = case.tensor("x1", 4, positive=True, requires_grad=True)
        x2 = case.tensor("x2", 4, positive=True, requires_grad=True)
        free = Model()
        return torch.autograd.grad(free(x1, x2), (x1, x2, free.W), self.upstream(case))

    def truth(self, case):
        g1, g2, g_w = self.gradients(case)
        return {
            "x1.grad": g1 / (g1 + g2), "x2.grad": g2 / (g1 + g2), "W.grad": g_w, "hooks on model": ANYTHING,
            "x1.grad of another backward": g1 / (g1 + g2), "W.grad of another backward": 2 * g_w,
        }

    def mistakes(self, case):
        g1, g2, _ = self.gradients(case)
        r1, r2, upstream = g1 / (g1 + g2), g2 / (g1 + g2), self.upstream(case)
        fields = self.truth(case)
        magnitude = g1.abs() + g2.abs()
        everything = g1.sum() + g2.sum()
        return {
            "runs_only_once": {"x1.grad": r1, "x2.grad": r2, "x1.grad of another backward": 2 * g1},
            "nothing_registered": {"x1.grad": g1, "x2.grad": g2, "hooks on model": 0},
            "computes_without_returning": {"x1.grad": g1, "x2.grad": g2},
            "swaps_gradients": {"x1.grad": r2, "x2.grad": r1},
            "sums_everything": either(
                fields,
                {"x1.grad": g1 / everything, "x2.grad": g2 / everything},
                {"x1.grad": g1 / g1.sum(), "x2.grad": g2 / g2.sum()},
            ),
            "sum_of_magnitudes": {"x1.grad": g1 / magnitude, "x2.grad": g2 / magnitude},
            "divides_by_upstream": {"x1.grad": g1 / upstream, "x2.grad": g2 / upstream},
            "uses_a_changed_value": either(
                fields,
                {"x1.grad": r1, "x2.grad": g2 / (r1 + g2)},
                {"x1.grad": g1 / (g1 + r2), "x2.grad": r2},
            ),
            "only_the_sum_is_right": sums_to_one(self.truth(case)),
        }


class SmallAndMixed(Check):
    """The shares are right for tiny gradients, mixed signs, beside a sum of 0 or inf, in float64, in each pass through one graph."""

    poison = ("x1", "x2", "output")
    blame = {
        "x1.grad of tiny gradients": "value_taken_for_nothing", "x1.grad of mixed signs": "shares_clamped",
        "x1.grad beside a sum of 0": "shares_all_or_nothing", "x1.grad with a frozen W": "frozen_pass_left_out",
        "x1.grad of a second pass through one graph": "runs_only_once",
        "gradient of x1 with create_graph": "create_graph_left_out",
    }

    def leaves(self, case, **more):
        return [case.tensor(name, 4, positive=True, requires_grad=True, **more) for name in ("x1", "x2")]

    def mixed(self, case):
        """One of the two is negative, and three times as large."""
        size = case.tensor("x", 4, positive=True)
        return [one.clone().requires_grad_() for one in (size, -3 * size)]

    def probe(self, nb, case):
        found, model = {}, nb.module("model")
        was_training = model.training
        model.eval()
        for name, (x1, x2), factor in self.given(case):
            model(x1, x2).backward(torch.full_like(x1, factor))
            found[f"x1.grad of {name}"], found[f"x2.grad of {name}"] = x1.grad, x2.grad
        model.train(was_training)
        x1, x2 = self.leaves(case)
        model.W.requires_grad_(False)
        try:
            model(x1, x2).backward(torch.full_like(x1, 3.0))
        finally:
            model.W.requires_grad_(True)
        found["x1.grad with a frozen W"] = x1.grad
        x1, x2 = self.with_a_sum_of_0(case)
        model(x1, x2).backward(torch.tensor([2.0, 2.0, 2.0, torch.inf]))
        found |= {"x1.grad beside a sum of 0": x1.grad[1:3], "x2.grad beside a sum of 0": x2.grad[1:3]}
        x1, x2 = self.leaves(case)
        output, ones = model(x1, x2), torch.ones(4)
        output.backward(ones, retain_graph=True)
        x1.grad = None
        output.backward(ones, retain_graph=True)
        found["x1.grad of a second pass through one graph"] = x1.grad
        found["gradient of x1 with create_graph"], _ = torch.autograd.grad(model(x1, x2), (x1, x2), ones, create_graph=True)
        return found

    def with_a_sum_of_0(self, case):
        """The gradients of the first element sum to 0; those of the last one are infinite."""
        x1, x2 = (x.detach() for x in self.leaves(case))
        x2[0] = -x1[0]
        return x1.requires_grad_(), x2.requires_grad_()

    def given(self, case):
        return [
            ("tiny gradients", self.leaves(case), 1e-12),
            ("mixed signs", self.mixed(case), 2.0),
            ("gradients in float64", self.leaves(case, dtype=torch.float64), 1.0),
        ]

    def truth(self, case):
        found = {}
        for name, (x1, x2), _ in self.given(case):
            x1, x2 = x1.detach(), x2.detach()
            shares = x2 / (x1 + x2), x1 / (x1 + x2)
            if "float64" in name:
                shares = [Close(share, 1e-12, 1e-14) for share in shares]
            found[f"x1.grad of {name}"], found[f"x2.grad of {name}"] = shares
        x1, x2 = (x.detach() for x in self.leaves(case))
        for where in ("x1.grad with a frozen W", "x1.grad of a second pass through one graph", "gradient of x1 with create_graph"):
            found[where] = x2 / (x1 + x2)
        x1, x2 = (x.detach()[1:3] for x in self.with_a_sum_of_0(case))
        return {**found, "x1.grad beside a sum of 0": x2 / (x1 + x2), "x2.grad beside a sum of 0": x1 / (x1 + x2)}

    def mistakes(self, case):
        right = self.truth(case)
        return {
            "nothing_registered": {"x1.grad of mixed signs": 10 * self.mixed(case)[1].detach()},
            "float64_lost": {name: ANYTHING if "float64" in name else value for name, value in right.items()},
        }


check("unit_grad_sum", EachElementSumsToOne, SmallAndMixed)


# --- Hidden checks: graders run them, learners do not get them. ---
class AnyForwardSumsToOne(Check):
    """The hook divides the gradients it is given, so it is right for any forward and any shape."""

    poison = ("x1", "x2", "output")

    def probe(self, nb, case):
        x1 = case.tensor("hidden x1", 2, 3, positive=True, requires_grad=True)
        x2 = case.tensor("hidden x2", 2, 3, positive=True, requires_grad=True)
        with other_forward(nb.module("model"), lambda self, x1, x2: x1**2 * x2 * self.W) as model:
            model(x1, x2).backward(case.tensor("hidden upstream", 2, 3))
        return {"x1.grad": x1.grad, "x2.grad": x2.grad}

    def truth(self, case):
        x1 = case.tensor("hidden x1", 2, 3, positive=True, requires_grad=True)
        x2 = case.tensor("hidden x2", 2, 3, positive=True, requires_grad=True)
        g1, g2 = torch.autograd.grad(x1**2 * x2 * Model().W, (x1, x2), case.tensor("hidden upstream", 2, 3))
        return {"x1.grad": g1 / (g1 + g2), "x2.grad": g2 / (g1 + g2)}

    def mistakes(self, case):
        x1, x2 = case.tensor("hidden x1", 2, 3, positive=True), case.tensor("hidden x2", 2, 3, positive=True)
        return {
            "formula_of_visible_forward": {"x1.grad": x2 / (x1 + x2), "x2.grad": x1 / (x1 + x2)},
            "only_the_sum_is_right": sums_to_one(self.truth(case)),
        }


check("unit_grad_sum", AnyForwardSumsToOne)
