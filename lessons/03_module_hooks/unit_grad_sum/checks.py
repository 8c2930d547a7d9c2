import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
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
    """Each backward divides both gradients by their sum; that of `W` stays."""

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
            "divides_by_upstream": either(
                fields,
                {"x1.grad": g1 / upstream, "x2.grad": g2 / upstream},
                {"x1.grad": g1 / upstream.sum(), "x2.grad": g2 / upstream.sum()},
            ),
            "uses_a_changed_value": either(
                fields,
                {"x1.grad": r1, "x2.grad": g2 / (r1 + g2)},
                {"x1.grad": g1 / (g1 + r2), "x2.grad": r2},
            ),
            "only_the_sum_is_right": sums_to_one(self.truth(case)),
        }


class MixedSigns(Check):
    """In eval mode, and where the two gradients differ in sign."""

    poison = ("x1", "x2", "output")

    def given(self, case):
        """One of the two is negative, and three times as large."""
        x1 = case.tensor("x1", 2, 3, positive=True)
        return x1.requires_grad_(), (-3 * x1.detach() * case.integer("factor", 2, 5)).requires_grad_()

    def probe(self, nb, case):
        (x1, x2), model = self.given(case), nb.module("model")
        was_training = model.training
        model.eval()(x1, x2).backward(case.tensor("upstream", 2, 3, positive=True))
        model.train(was_training)
        return {"x1.grad": x1.grad, "x2.grad": x2.grad}

    def truth(self, case):
        x1, x2 = (x.detach() for x in self.given(case))
        return {"x1.grad": x2 / (x1 + x2), "x2.grad": x1 / (x1 + x2)}

    def mistakes(self, case):
        (x1, x2), right = (x.detach() for x in self.given(case)), self.truth(case)
        upstream = case.tensor("upstream", 2, 3, positive=True)
        return {
            "sum_of_magnitudes": {"x1.grad": x2 / (x1 - x2)},
            "only_in_training": {"x1.grad": 5 * upstream * x2},
            "shares_clamped": {"x1.grad": right["x1.grad"].clamp(0, 1), "x2.grad": right["x2.grad"].clamp(0, 1)},
        }


check("unit_grad_sum", EachElementSumsToOne, MixedSigns)


# --- Hidden checks: graders run them, learners do not get them. ---
class AnotherForwardTwice(Check):
    """The hook divides what it is given, in two passes of another forward."""

    poison = ("x1", "x2", "output")

    def probe(self, nb, case):
        model, gain, seen = nb.module("model"), case.tensor("hidden gain", 2, 3, positive=True), []
        x1 = case.tensor("hidden x1", 2, 3, positive=True, requires_grad=True)
        x2 = case.tensor("hidden x2", 2, 3, positive=True, requires_grad=True)
        was_training, model.W.grad = model.training, None
        with model.register_forward_hook(lambda module, args, output: seen.append(output.detach() * gain)):
            with other_forward(model, lambda self, x1, x2: x1**2 * x2 * self.W):
                model(x1 * 2, x2 * 3).backward(case.tensor("hidden upstream", 2, 3, positive=True))
                model.eval()(x1 * 5, x2 * 7).backward(gain)
            model.train(was_training)
        return {"x1.grad": x1.grad, "x2.grad": x2.grad, "W.grad": model.W.grad, "hook of others: output * gain": seen}

    def truth(self, case):
        x1, x2 = case.tensor("hidden x1", 2, 3, positive=True), case.tensor("hidden x2", 2, 3, positive=True)
        upstream, gain = case.tensor("hidden upstream", 2, 3, positive=True), case.tensor("hidden gain", 2, 3, positive=True)
        calls = ((x1 * 2, x2 * 3, 2, 3, upstream), (x1 * 5, x2 * 7, 5, 7, gain))
        of_x1 = sum(factor * 2 * b / (2 * b + a) for a, b, factor, _, _ in calls)
        of_x2 = sum(factor * a / (2 * b + a) for a, b, _, factor, _ in calls)
        return {
            "x1.grad": of_x1, "x2.grad": of_x2, "W.grad": sum((a**2 * b * g).sum() for a, b, _, _, g in calls).reshape(1),
            "hook of others: output * gain": [5 * a**2 * b * gain for a, b, _, _, _ in calls],
        }

    def mistakes(self, case):
        x1, x2 = case.tensor("hidden x1", 2, 3, positive=True), case.tensor("hidden x2", 2, 3, positive=True)
        calls = ((x1 * 2, x2 * 3, 2, 3), (x1 * 5, x2 * 7, 5, 7))
        return {"formula_of_visible_forward": {"x1.grad": sum(factor * b / (a + b) for a, b, factor, _ in calls)}}


check("unit_grad_sum", AnotherForwardTwice)
