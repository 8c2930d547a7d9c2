import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from nbproof.values.evidence import snapshot
from course.probing import nan_as_number, other_forward, tensor_hook_count
from course.truths import ANYTHING, other_than, such_that


class CatchesTheGradient(Check):
    """After a backward pass, `answer` holds the gradient of `model.W`, and `model.W.grad` is untouched."""

    poison = ("x1", "x2", "x", "output", "loss", "grad", "W", "w")
    errors = {r"TypeError: .*'(NoneType|Tensor)' object is not callable": "tensor_hook_called_at_once"}

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
            "python_number": {"answer": [gradient.item()]},
            "norm_for_gradient": {"answer": AnyOf([gradient.norm()], [gradient.abs()])},
            "gradient_of_the_output": {"answer": AnyOf([self.upstream(case)], [[self.upstream(case)]])},
            "changes_gradient": {"model.W.grad": other_than(gradient)},
            "local_name": {"answer": [], "hooks on W": other_than(0)},
        }


class SeveralBackwards(Check):
    """Each backward pass adds one entry: the gradient of its own pass, even if it is an old one again. `.grad` has the sum."""

    passes = ("first", "second", "second")

    def probe(self, nb, case):
        nb.list("answer").clear()
        model = nb.module("model")
        model.W.grad = None
        found = {}
        for number, name in enumerate(self.passes, 1):
            model(case.tensor(f"x1, {name}", 3), case.tensor("x2", 3)).backward(case.tensor("upstream", 3))
            # Now, because the next pass may change an entry that shares memory with W.grad. That is allowed.
            found[f"answer after pass {number}"] = snapshot(nb.list("answer"))
        return {**found, "model.W.grad": model.W.grad}

    def gradients(self, case):
        W = torch.tensor([5.0], requires_grad=True)
        x1s = [case.tensor(f"x1, {name}", 3) for name in self.passes]
        return [torch.autograd.grad(x1 * case.tensor("x2", 3) * W, W, case.tensor("upstream", 3))[0] for x1 in x1s]

    def truth(self, case):
        first, second, again = self.gradients(case)
        return {
            "answer after pass 1": AnyOf([first], [*first]),
            "answer after pass 2": AnyOf([ANYTHING, second], [ANYTHING, *second]),
            "answer after pass 3": AnyOf([ANYTHING, ANYTHING, again], [ANYTHING, ANYTHING, *again]),
            "model.W.grad": first + second + again,
        }

    def mistakes(self, case):
        first, second, again = self.gradients(case)
        after = "answer after pass 2"
        return {
            "accumulated_grad": {after: AnyOf([ANYTHING, first + second], [ANYTHING, *(first + second)])},
            "norm_for_gradient": {
                "answer after pass 1": AnyOf([first.norm()], [first.abs()]),
                after: AnyOf([ANYTHING, second.norm()], [ANYTHING, second.abs()]),
            },
            "keeps_last_only": {after: AnyOf([second], [*second])},
            "runs_only_once": {after: AnyOf([first], [*first])},
            "hook_writes_grad": {"model.W.grad": other_than(first + second + again)},
            "drops_an_entry": {"answer after pass 3": AnyOf([first, second], [second, again], [*first, *second])},
        }


class AnyGradient(Check):
    """A gradient of zero, an infinite one and NaN are gradients, too; an entry stays what it was when it was added."""

    factors = (1.0, 0.0, -1e6, torch.inf, torch.nan, 2.0)

    def probe(self, nb, case):
        nb.list("answer").clear()
        model, found = nb.module("model"), []
        for factor in self.factors:
            model.W.grad = None  # what the passes before have left stays as it is
            x1, x2 = case.tensor("x1", 1, requires_grad=True), case.tensor("x2", 1, requires_grad=True)
            model(x1, x2).backward(factor * case.tensor("upstream", 1))
            found.append(model.W.grad)
        answer = nan_as_number(nb.list("answer"))
        return {"answer (31337: NaN)": answer, "model.W.grad after each pass (31337: NaN)": nan_as_number(found)}

    def gradients(self, case):
        product = case.tensor("x1", 1) * case.tensor("x2", 1)
        return nan_as_number([factor * case.tensor("upstream", 1) * product for factor in self.factors])

    def truth(self, case):
        gradients = self.gradients(case)
        return {"answer (31337: NaN)": AnyOf(gradients, list(torch.cat(gradients))), "model.W.grad after each pass (31337: NaN)": gradients}

    def mistakes(self, case):
        gradients = self.gradients(case)
        last = [gradients[-1]] * len(gradients)
        return {
            "drops_an_entry": {"answer (31337: NaN)": such_that(lambda got: 0 < len(got) < len(gradients))},
            "one_tensor_for_all": {"answer (31337: NaN)": AnyOf(last, list(torch.cat(last)))},
            "changes_gradient": {"model.W.grad after each pass (31337: NaN)": other_than(gradients)},
        }


check("weight_grad", CatchesTheGradient, SeveralBackwards, AnyGradient)


# --- Hidden checks: graders run them, learners do not get them. ---
class AnotherForward(Check):
    """The hook reads its argument, so it is right for any forward and any value of W."""

    def probe(self, nb, case):
        nb.list("answer").clear()
        model = nb.module("model")
        model.W.grad = None
        before = model.W.detach().clone()
        model.W.data.copy_(case.tensor("hidden W", 1))
        try:
            with other_forward(model, lambda self, x1, x2: x1**2 * x2 * self.W**3):
                x1, x2 = case.tensor("hidden x1", 2, 3, requires_grad=True), case.tensor("hidden x2", 3, requires_grad=True)
                model(x1, x2).backward(case.tensor("hidden upstream", 2, 3))
        finally:
            model.W.data.copy_(before)
        return {"answer": nb.list("answer")}

    def truth(self, case):
        W = case.tensor("hidden W", 1, requires_grad=True)
        output = case.tensor("hidden x1", 2, 3) ** 2 * case.tensor("hidden x2", 3) * W**3
        (gradient,) = torch.autograd.grad(output, W, case.tensor("hidden upstream", 2, 3))
        return {"answer": AnyOf([gradient], list(gradient))}

    blame = {"answer": "formula_not_argument"}


check("weight_grad", AnotherForward)
