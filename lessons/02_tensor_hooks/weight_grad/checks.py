import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from nbproof.values.evidence import snapshot
from course.probing import other_forward, tensor_hook_count
from course.truths import ANYTHING, other_than, such_that


class CatchesTheGradient(Check):
    """After a backward pass, `answer` holds the gradient of `model.W`; `model.W.grad` is untouched."""

    poison = ("x1", "x2", "x", "output", "loss", "grad", "W", "w")

    def probe(self, nb, case):
        nb.list("answer").clear()
        model = nb.module("model")
        model.W.grad = None
        x1, x2 = case.tensor("x1", 4, requires_grad=True), case.tensor("x2", 4, requires_grad=True)
        model(x1, x2).backward(self.upstream(case))
        return {"answer": nb.list("answer"), "model.W.grad": model.W.grad, "hooks on W": tensor_hook_count(model.W)}

    def upstream(self, case):
        """Such that the gradient is negative: some answers lose the sign."""
        upstream = case.tensor("upstream", 4)
        return -upstream if (case.tensor("x1", 4) * case.tensor("x2", 4) * upstream).sum() > 0 else upstream

    def gradient(self, case):
        W = torch.tensor([5.0], requires_grad=True)
        output = case.tensor("x1", 4) * case.tensor("x2", 4) * W
        return torch.autograd.grad(output, W, self.upstream(case))[0]

    def truth(self, case):
        gradient = self.gradient(case)
        # A list of the gradient's elements is fine: W has only one.
        return {"answer": AnyOf([gradient], list(gradient)), "model.W.grad": gradient, "hooks on W": ANYTHING}

    def mistakes(self, case):
        gradient = self.gradient(case)
        return {
            "reads_grad_early": {"answer": [None]},
            "registered_twice": {"answer": AnyOf([gradient] * 2, [*gradient, *gradient])},
            "keeps_the_tensor": {"answer": [torch.tensor([5.0])]},
            "python_number": {"answer": [such_that(lambda got: not hasattr(got, "tensor"))]},
            "changes_gradient": {"model.W.grad": other_than(gradient)},
            "local_name": {"answer": [], "hooks on W": other_than(0)},
        }


class TwoBackwards(Check):
    """Each backward pass adds the gradient of its own pass, and changes no earlier entry; `model.W.grad` has the sum."""

    def probe(self, nb, case):
        nb.list("answer").clear()
        model = nb.module("model")
        model.W.grad = None
        found = {}
        for number in (1, 2):
            model(case.tensor(f"x1 of pass {number}", 3), case.tensor("x2", 3)).backward(case.tensor("upstream", 3))
            found[f"answer after pass {number}"] = snapshot(nb.list("answer"))
        return {**found, "model.W.grad": model.W.grad}

    def gradients(self, case):
        W = torch.tensor([5.0], requires_grad=True)
        x1s = [case.tensor(f"x1 of pass {number}", 3) for number in (1, 2)]
        return [torch.autograd.grad(x1 * case.tensor("x2", 3) * W, W, case.tensor("upstream", 3))[0] for x1 in x1s]

    def truth(self, case):
        first, second = self.gradients(case)
        return {
            "answer after pass 1": AnyOf([first], [*first]),
            "answer after pass 2": AnyOf([first, second], [*first, *second]),
            "model.W.grad": first + second,
        }

    def mistakes(self, case):
        first, second = self.gradients(case)
        after = "answer after pass 2"
        return {
            "accumulated_grad": {after: AnyOf([ANYTHING, first + second], [ANYTHING, *(first + second)])},
            "kept_alias": {after: AnyOf([first + second, second], [*(first + second), *second])},
            "keeps_last_only": {after: AnyOf([second], [*second])},
            "runs_only_once": {after: AnyOf([first], [*first])},
            "hook_writes_grad": {"model.W.grad": other_than(first + second)},
        }


check("weight_grad", CatchesTheGradient, TwoBackwards)


# --- Hidden checks: graders run them, learners do not get them. ---
class AnotherForward(Check):
    """The hook reads its argument, so it is right for any forward, any value of W, and each pass."""

    blame = {"after each pass": "formula_not_argument"}

    def probe(self, nb, case):
        nb.list("answer").clear()
        model, found = nb.module("model"), []
        model.W.grad, before = None, model.W.detach().clone()
        model.W.data.copy_(case.tensor("hidden W", 1))
        try:
            with other_forward(model, lambda self, x1, x2: x1**2 * x2 * self.W**3):
                for number in range(case.integer("hidden passes", 2, 4)):
                    x1, x2 = case.tensor(f"hidden x1 {number}", 2, 3, requires_grad=True), case.tensor("hidden x2", 3)
                    model(x1, x2).backward(case.tensor("hidden upstream", 2, 3))
                    found.append([*snapshot(nb.list("answer")), model.W.grad.clone()])
        finally:
            model.W.data.copy_(before)
        return {"after each pass": found}

    def truth(self, case):
        W, total = case.tensor("hidden W", 1, requires_grad=True), torch.zeros(1)
        gradients, wanted = [], []
        for number in range(case.integer("hidden passes", 2, 4)):
            output = case.tensor(f"hidden x1 {number}", 2, 3) ** 2 * case.tensor("hidden x2", 3) * W**3
            (gradient,) = torch.autograd.grad(output, W, case.tensor("hidden upstream", 2, 3))
            total = total + gradient
            gradients.append(AnyOf(gradient, gradient[0]))
            wanted.append([*gradients, total])
        return {"after each pass": wanted}


check("weight_grad", AnotherForward)
