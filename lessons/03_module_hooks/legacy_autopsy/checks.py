import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from course.models import Model
from course.probing import in_float32


def at_other_inputs(got):
    """Whether the two reports fit together, as they do for any inputs of one element."""
    (weight, product), (first, second) = ([one.tensor() for one in report] for report in got)
    if any(one.shape != (1,) or one.dtype != torch.float32 for one in (weight, product, first, second)):
        return "other shapes or dtypes"  # their product could take any amount of memory
    W = Model().W.item()
    fit = weight.item() == W and torch.allclose(product * W**2, first * second)
    return None if fit else "something else"


class TwoReports(Check):
    """`answer` holds the `grad_input` that the deprecated hook showed, then the true gradients of `x1` and `x2`."""

    cases = 1  # the inputs are given
    secret = True

    def probe(self, nb, case):
        return {"answer": in_float32(nb.list("answer"))}

    def reports(self):
        x1, x2 = torch.tensor([2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)
        free = Model()
        true = list(torch.autograd.grad(free(x1, x2), (x1, x2)))
        product = (x1 * x2).detach().requires_grad_()  # the last operation alone: product * W
        last = list(torch.autograd.grad(product * free.W, (product, free.W)))
        return last, true

    def truth(self, case):
        return {"answer": list(self.reports())}

    def mistakes(self, case):
        last, true = self.reports()
        one = torch.ones(1)
        twice = [gradient * 2 for gradient in true]
        return {
            "autopsy_never_ran": {"answer": []},
            "autopsy_ran_again": {"answer": AnyOf([last, true, last, true], [last, last, true, true])},
            "grad_not_there_yet": {"answer": [[None, None], [None, None]]},
            "one_report_only": {"answer": AnyOf([last], [true])},
            "two_equal_reports": {"answer": AnyOf([last, last], [true, true])},
            "reports_swapped": {
                "answer": AnyOf([true, last], [last[::-1], true], [last, true[::-1]], [last[::-1], true[::-1]])
            },
            "gradients_of_the_output": {"answer": AnyOf([[one], [one]], [last, [one]], [[one], true])},
            "takes_elements_apart": {"answer": [*last, *true]},
            "autopsy_first_gradient": {"answer": [last[0], true[0]]},
            "adds_up_gradients": {"answer": [last, twice]},
            "numbers_for_tensors": {"answer": [[float(g) for g in last], [float(g) for g in true]]},
            "keeps_both_sides": {"answer": AnyOf([[last, [one]], [true, [one]]], [[*last, one], [*true, one]])},
            "autopsy_weight_gradient": {"answer": AnyOf(*([[*last, none], [*true, last[1]]] for none in (None, last[1])))},
            "autopsy_other_inputs": {"answer": Matches(at_other_inputs, "two reports that fit together")},
        }


check("legacy_autopsy", TwoReports)


# --- Hidden checks: graders run them, learners do not get them. ---
class BothReports(Check):
    """`answer` holds what the deprecated hook showed, then the true gradients of the inputs."""

    constant = "two reports at given inputs: whoever runs the given code sees them"
    cases = 1  # the inputs are given
    secret = True

    def probe(self, nb, case):
        return {"answer": in_float32(nb.list("answer"))}

    def truth(self, case):
        x1, x2, W = (torch.tensor([value]) for value in (2.0, 3.0, 5.0))
        of_product, of_W = W, x1 * x2  # by the product rule
        return {"answer": [[of_product, of_W], [x2 * W, x1 * W]]}


check("legacy_autopsy", BothReports)
