import copy

import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from course.probing import tensor_hook_count
from course.truths import ANYTHING, other_than, such_that


class FillsTheList(Check):
    """The list is empty, then holds the gradient of `h`; `h.grad` stays empty."""

    poison = ("x", "h", "y", "grad", "loss", "output")

    def probe(self, nb, case):
        x = case.tensor("x", 3, 4, requires_grad=True)
        h = x * case.tensor("factor", 4)
        seen = nb.function("watch_gradient")(h)
        early = copy.copy(seen)
        (h**2 + h.sin()).backward(case.tensor("upstream", 3, 4))
        return {
            "the list before backward": early,
            "the list": seen,
            "h.retains_grad": h.retains_grad,
            "x.grad": x.grad,
            "hooks on h": tensor_hook_count(h),
            "h, plus its .grad if it has one,": h.detach() if h.grad is None else h.detach() + h.grad,
        }

    def gradients(self, case):
        x = case.tensor("x", 3, 4, requires_grad=True)
        h = x * case.tensor("factor", 4)
        return torch.autograd.grad(h**2 + h.sin(), (h, x), case.tensor("upstream", 3, 4))

    def truth(self, case):
        of_h, of_x = self.gradients(case)
        return {
            "the list before backward": [],
            "the list": [of_h],
            "h.retains_grad": False,
            "x.grad": of_x,
            "hooks on h": ANYTHING,
            "h, plus its .grad if it has one,": case.tensor("x", 3, 4) * case.tensor("factor", 4),
        }

    def mistakes(self, case):
        of_h, of_x = self.gradients(case)
        return {
            "uses_retain_grad": {"h.retains_grad": True},
            "hook_writes_grad": {
                "the list": [of_h],
                "h, plus its .grad if it has one,": other_than(case.tensor("x", 3, 4) * case.tensor("factor", 4)),
            },
            "returns_no_list": {"the list": Matches(lambda got: "one" if isinstance(got, list) else None, "no list")},
            "asks_too_early": AnyOf(
                {"the list before backward": [None]}, {"the list before backward": other_than([]), "x.grad": other_than(of_x)}
            ),
            "reads_grad_early": {"the list": [None]},
            "changes_gradient": {"x.grad": other_than(of_x)},
            "shared_list": {"the list before backward": other_than([])},
            "splits_gradient": {"the list": list(of_h)},
            "python_number": {"the list": [such_that(lambda got: not hasattr(got, "tensor"))]},
            "keeps_the_tensor": {"the list": [case.tensor("x", 3, 4) * case.tensor("factor", 4)]},
            "other_list_returned": {"the list": [], "hooks on h": other_than(0)},
        }


class TwoBackwards(Check):
    """Each pass adds the gradient of its own pass, and changes no earlier entry."""

    def probe(self, nb, case):
        # What cat sends back to x and to y lies in the memory of the gradient of h: without a clone, it takes part in their sums.
        h = torch.cat([case.tensor(name, 3, 4, requires_grad=True) for name in "xy"])
        seen, again = nb.function("watch_gradient")(h), nb.function("watch_gradient")(h)
        output = h**3
        for number in (1, 2):
            output.backward(case.tensor(f"upstream {number}", 6, 4), retain_graph=True)
        return {"the list": seen, "a second list": again}

    def gradients(self, case):
        h = torch.cat([case.tensor(name, 3, 4) for name in "xy"]).requires_grad_()
        upstream = (case.tensor(f"upstream {number}", 6, 4) for number in (1, 2))
        return [torch.autograd.grad(h**3, h, one)[0] for one in upstream]

    def truth(self, case):
        gradients = self.gradients(case)
        return {"the list": gradients, "a second list": gradients}

    def mistakes(self, case):
        first, second = self.gradients(case)
        return {
            "kept_alias": {"the list": [first + second, second]},
            "keeps_last_only": {"the list": [second]},
            "runs_only_once": {"the list": [first]},
            "accumulated_grad": {"the list": [first, first + second]},
            "shared_list": {"the list": [first, first, second, second]},
        }


check("intermediate_grad", FillsTheList, TwoBackwards)


# --- Hidden checks: graders run them, learners do not get them. ---
class InAnotherGraph(Check):
    """In another graph, each list gets the gradients of its own tensor, pass by pass, and nothing else changes."""

    def probe(self, nb, case):
        x = case.tensor("hidden x", 2, 5, requires_grad=True)
        h = torch.cat([x, case.tensor("hidden rows", 3, 5, requires_grad=True)])
        wave = h.sin()
        lists = [nb.function("watch_gradient")(tensor) for tensor in (h, wave)]
        early = [list(one) for one in lists]
        for number in range(case.integer("hidden passes", 2, 6)):
            output = wave.exp() * case.tensor(f"hidden weight {number}", 5)
            output.sum().backward(retain_graph=True)
        kept = [tensor.detach() if tensor.grad is None else tensor.grad for tensor in (h, wave)]
        return {"before": early, "of h": lists[0], "of the wave": lists[1], "x.grad": x.grad, "values, or .grad": kept}

    def truth(self, case):
        h = torch.cat([case.tensor("hidden x", 2, 5), case.tensor("hidden rows", 3, 5)]).requires_grad_()
        wave, found = h.sin(), []
        for number in range(case.integer("hidden passes", 2, 6)):
            output = wave.exp() * case.tensor(f"hidden weight {number}", 5)
            found.append(torch.autograd.grad(output.sum(), (h, wave), retain_graph=True))
        of_h, of_wave = ([one[place] for one in found] for place in (0, 1))
        return {"before": [[], []], "of h": of_h, "of the wave": of_wave, "x.grad": sum(of_h)[:2], "values, or .grad": [h, wave]}


check("intermediate_grad", InAnotherGraph)
