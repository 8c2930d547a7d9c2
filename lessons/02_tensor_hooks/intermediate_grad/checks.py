import copy

import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from course.probing import nan_as_number, odd_gradients, tensor_hook_count
from course.truths import ANYTHING, other_than, such_that


def no_tensor(entry):
    """An array of NumPy, or a list of numbers."""
    return isinstance(entry, list) or "ndarray" in getattr(entry, "what", "")


class FillsTheList(Check):
    """The list is empty before backward; after it, it holds the gradient of `h`. `h.grad` stays empty."""

    poison = ("x", "h", "y", "grad", "loss", "output")
    errors = {r"RuntimeError: a Tensor with \d+ elements cannot be converted": "python_number"}

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
            "h, and its .grad where it has one": h.detach() if h.grad is None else h.detach() + h.grad,
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
            "h, and its .grad where it has one": case.tensor("x", 3, 4) * case.tensor("factor", 4),
        }

    def mistakes(self, case):
        of_h, of_x = self.gradients(case)
        return {
            "uses_retain_grad": {"h.retains_grad": True},
            "hook_writes_grad": {
                "the list": [of_h],
                "h, and its .grad where it has one": other_than(case.tensor("x", 3, 4) * case.tensor("factor", 4)),
            },
            "returns_no_list": {"the list": Matches(lambda got: "one" if isinstance(got, list) else None, "no list")},
            "asks_too_early": {"the list before backward": [None]},
            "reads_grad_early": {"the list": [None]},
            "changes_gradient": {"x.grad": other_than(of_x)},
            "shared_list": {"the list before backward": other_than([])},
            "splits_gradient": {"the list": list(of_h)},
            "numbers_for_tensors": {"the list": such_that(lambda got: len(got) == 1 and no_tensor(got[0]))},
            "keeps_the_tensor": {"the list": [case.tensor("x", 3, 4) * case.tensor("factor", 4)]},
            "other_list_returned": {"the list": [], "hooks on h": other_than(0)},
        }


class SeveralBackwards(Check):
    """Each backward pass gives one entry, the gradient of its own pass. No pass changes an earlier entry."""

    passes = (1, 2, 2)

    def probe(self, nb, case):
        # The gradient of h reaches x as it is: a kept alias of it would take part in the sum in x.grad.
        h = case.tensor("x", 3, 4, requires_grad=True, dtype=torch.float64) + 1
        seen, again = nb.function("watch_gradient")(h), nb.function("watch_gradient")(h)
        output = h**3
        for number in self.passes:
            output.backward(case.tensor(f"upstream {number}", 3, 4, dtype=torch.float64), retain_graph=True)
        return {"the list": seen, "a second list": again, "h.retains_grad": h.retains_grad}

    def gradients(self, case):
        h = (case.tensor("x", 3, 4, dtype=torch.float64) + 1).requires_grad_()
        upstream = (case.tensor(f"upstream {number}", 3, 4, dtype=torch.float64) for number in self.passes)
        return [torch.autograd.grad(h**3, h, one)[0] for one in upstream]

    def truth(self, case):
        gradients = self.gradients(case)
        return {"the list": gradients, "a second list": gradients, "h.retains_grad": False}

    def mistakes(self, case):
        first, second, again = self.gradients(case)
        two = first + second
        return {
            "kept_alias": {"the list": [two + again, second, again]},
            "keeps_last_only": {"the list": [again]},
            "runs_only_once": {"the list": [first]},
            "accumulated_grad": {"the list": [first, two, two + again]},
            "drops_an_entry": {"the list": AnyOf([first, second], [second, again])},
            "digits_lost": {"the list": [grad.float() for grad in (first, second, again)]},
            "shared_list": {"the list": [first, first, second, second, again, again]},
        }


class TwoTensors(Check):
    """Two halves of one tensor, watched at the same time: each list holds the gradient of its own half."""

    def probe(self, nb, case):
        first, second = (case.tensor("x", 4, 3, requires_grad=True) * 2).chunk(2)
        lists = [nb.function("watch_gradient")(half) for half in (first, second)]
        (first * second.exp()).backward(case.tensor("upstream", 2, 3))
        return {"the first list": lists[0], "the second list": lists[1]}

    def gradients(self, case):
        first, second = (case.tensor("x", 4, 3, requires_grad=True) * 2).chunk(2)
        return torch.autograd.grad(first * second.exp(), (first, second), case.tensor("upstream", 2, 3))

    def truth(self, case):
        of_first, of_second = self.gradients(case)
        return {"the first list": [of_first], "the second list": [of_second]}

    def mistakes(self, case):
        of_first, of_second = self.gradients(case)
        both = AnyOf([of_first, of_second], [of_second, of_first])
        return {
            "shared_list": {"the first list": both, "the second list": both},
            "hooks_the_operation": {"the first list": [of_first], "the second list": [of_first]},
        }


class AnyGradient(Check):
    """Also where backward begins at the tensor, in bfloat16, with one row: zeros, infinity and NaN are gradients, too."""

    def run(self, case, watch=None):
        x = case.tensor("x", 1, 6, dtype=torch.bfloat16, requires_grad=True)
        h, left = x * 4, []
        seen = [] if watch is None else watch(h)
        for number, upstream in enumerate(odd_gradients(case, torch.bfloat16)):
            x.grad = None
            (h * 2 if number == 0 else h).backward(upstream[None].clone(), retain_graph=True)
            left.append(x.grad)
        return {"the list (31337: NaN)": seen, "x.grad after each pass (31337: NaN)": nan_as_number(left)}

    def probe(self, nb, case):
        found = self.run(case, nb.function("watch_gradient"))
        return {**found, "the list (31337: NaN)": nan_as_number(found["the list (31337: NaN)"])}

    def truth(self, case):
        first, *others = (upstream[None] for upstream in odd_gradients(case, torch.bfloat16))
        return {**self.run(case), "the list (31337: NaN)": nan_as_number([2 * first, *others])}

    def mistakes(self, case):
        right = self.truth(case)
        gradients = right["the list (31337: NaN)"]
        return {
            "drops_an_entry": {"the list (31337: NaN)": [gradient for gradient in gradients if gradient.any()]},
            "begins_at_the_tensor": {"the list (31337: NaN)": gradients[:1]},
            "hook_changes_shape": {"the list (31337: NaN)": [gradient.squeeze() for gradient in gradients]},
            "repairs_the_gradient": {"x.grad after each pass (31337: NaN)": other_than(right["x.grad after each pass (31337: NaN)"])},
        }

    errors = {r"TypeError: Got unsupported ScalarType": "not_every_dtype"}


class TensorLetGo(Check):
    """As in a function that returns only the loss: nobody holds the tensor, one number, any more when backward runs."""

    def loss(self, case, watch):
        h = case.tensor("x", requires_grad=True) * 4
        return watch(h), h * 3  # neither operation saves h

    def probe(self, nb, case):
        seen, loss = self.loss(case, nb.function("watch_gradient"))
        for number in (1, 2):
            loss.backward(case.tensor(f"upstream {number}"), retain_graph=True)
        return {"the list": seen}

    def truth(self, case):
        return {"the list": [3 * case.tensor(f"upstream {number}") for number in (1, 2)]}

    def mistakes(self, case):
        return {"needs_the_tensor": {"the list": []}}

    errors = {r"(IndexError|TypeError): .*0-d(im)? tensor": "no_dimensions"}


check("intermediate_grad", FillsTheList, SeveralBackwards, TwoTensors, AnyGradient, TensorLetGo)


# --- Hidden checks: graders run them, learners do not get them. ---
class InAnotherGraph(Check):
    """In another graph, each pass adds its own gradient of the tensor to the list."""

    def probe(self, nb, case):
        h = case.tensor("hidden x", 2, 5, requires_grad=True).sin()
        seen = nb.function("watch_gradient")(h)
        for number in range(case.integer("hidden passes", 2, 6)):
            output = h.exp() * case.tensor(f"hidden weight {number}", 5)
            output.sum().backward(retain_graph=True)
        return {"the list": seen}

    def truth(self, case):
        h = case.tensor("hidden x", 2, 5).sin().requires_grad_()
        gradients = []
        for number in range(case.integer("hidden passes", 2, 6)):
            output = h.exp() * case.tensor(f"hidden weight {number}", 5)
            gradients += torch.autograd.grad(output.sum(), h)
        return {"the list": gradients}


check("intermediate_grad", InAnotherGraph)
