import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from course.truths import other_than


class TurnsTheSign(Check):
    """Same values; the earlier gradient changes its sign, the later one does not."""

    poison = ("h", "x", "w", "branch", "tensor", "grad")
    errors = {
        r"AttributeError: 'NoneType' object has no attribute": "reads_grad_early",
        r"TypeError: .*NoneType": "returns_nothing",
        r"(AttributeError|TypeError): .*RemovableHandle": "reverse_gradient_handle",
    }

    def forward(self, case, reverse):
        w, v = case.tensor("w", 4, 3, requires_grad=True), case.tensor("v", 3, 2, requires_grad=True)
        h = (case.tensor("x", 5, 4) @ w).tanh()
        branch = reverse(h)
        return w, v, h, branch, (branch**2 @ v).sin()

    def probe(self, nb, case):
        w, v, _, branch, output = self.forward(case, nb.function("reverse_gradient"))
        output.backward(case.tensor("upstream", 5, 2))
        return {"the returned tensor": branch, "w.grad": w.grad, "v.grad": v.grad}

    def edited(self, case, change=torch.clone, factor=1):
        """What comes of it if the gradient of the branch is changed by hand before it goes on to h."""
        w, v, h, branch, output = self.forward(case, lambda h: h * 1)
        of_branch, of_v = torch.autograd.grad(output, (branch, v), case.tensor("upstream", 5, 2), retain_graph=True)
        (of_w,) = torch.autograd.grad(h, w, factor * change(of_branch))
        return {"the returned tensor": branch, "w.grad": of_w, "v.grad": of_v}

    def truth(self, case):
        return self.edited(case, factor=-1)

    def mistakes(self, case):
        free = self.edited(case)
        others = (torch.zeros_like, torch.abs, lambda grad: -grad.abs())
        return {
            "changes_the_value": {"the returned tensor": other_than(free["the returned tensor"])},
            "gradient_cut_here": {"w.grad": None},
            "reverse_gradient_same_sign": free,
            "reverse_gradient_not_minus": AnyOf(*({"w.grad": self.edited(case, other)["w.grad"]} for other in others)),
        }


class OtherUses(Check):
    """Other uses of `h` send back what they always did, in each pass."""

    def run(self, case, reverse, of_branch=(1, 1), of_h=1):
        """Three passes: from one head, from the other, from their sum. The factors are those of the heads."""
        w = case.tensor("w", 3, requires_grad=True)
        h = w * case.tensor("x", 2, 3)
        branch = reverse(h)
        plain, reversed_ = (h * case.tensor("a", 2, 3)).sin() * of_h, branch**2 * case.tensor("b", 3)
        for output in (plain, reversed_ * of_branch[0], plain + reversed_ * of_branch[1]):
            output.backward(case.tensor("upstream", 2, 3), retain_graph=True)
        return w.grad

    def probe(self, nb, case):
        return {"w.grad": self.run(case, nb.function("reverse_gradient"))}

    def truth(self, case):
        # Backward is linear: a head times -1 sends the opposite gradient.
        return {"w.grad": self.run(case, lambda h: h * 1, of_branch=(-1, -1))}

    def mistakes(self, case):
        return {
            "reverse_gradient_all_uses": {"w.grad": self.run(case, lambda h: h * 1, (-1, -1), -1)},
            "runs_only_once": {"w.grad": self.run(case, lambda h: h * 1, (-1, 1))},
        }


class NeighboursInASum(Check):
    """In `branch + other`, the neighbour's gradient and the one given to `backward` stay."""

    blame = {"other.grad": "edits_in_place", "the tensor given to backward": "edits_in_place"}

    def probe(self, nb, case):
        h, other = (case.tensor(name, 2, 3, requires_grad=True) for name in ("h", "other"))
        upstream = case.tensor("upstream", 2, 3)
        (nb.function("reverse_gradient")(h) + other).backward(upstream)
        return {"h.grad": h.grad, "other.grad": other.grad, "the tensor given to backward": upstream}

    def truth(self, case):
        upstream = case.tensor("upstream", 2, 3)
        return {"h.grad": -upstream, "other.grad": upstream, "the tensor given to backward": upstream}


class NothingToLearn(Check):
    """Under `no_grad`, and for a tensor that needs no gradient, it returns the values."""

    claims = ("requires_grad of the result for a constant",)  # the answer itself
    blame = {"requires_grad of the result for a constant": "reverse_gradient_in_evaluation"}
    errors = {
        r"RuntimeError: cannot register a hook on a tensor that doesn't require": "reverse_gradient_in_evaluation",
        r"AttributeError: 'NoneType' object": "returns_nothing",
    }

    def probe(self, nb, case):
        reverse, h = nb.function("reverse_gradient"), case.tensor("h", 3, 2, requires_grad=True) * 2
        with torch.no_grad():
            evaluated = reverse(h)
        constant = reverse(case.tensor("picture", 2, 3))
        return {"under no_grad": evaluated, "a constant": constant, "requires_grad of the result for a constant": constant.requires_grad}

    def truth(self, case):
        constant = {"a constant": case.tensor("picture", 2, 3), "requires_grad of the result for a constant": False}
        return {"under no_grad": case.tensor("h", 3, 2) * 2, **constant}


check("reverse_gradient", TurnsTheSign, OtherUses, NeighboursInASum, NothingToLearn)


# --- Hidden checks: graders run them, learners do not get them. ---
class TwoHeads(Check):
    """In another graph, only what comes back by the returned tensor changes its sign, in training and evaluation."""

    errors = {r"RuntimeError: cannot register a hook on a tensor that doesn't require": "reverse_gradient_in_evaluation"}

    def probe(self, nb, case):
        x, v = case.tensor("hidden x", 2, 4, requires_grad=True), case.tensor("hidden v", 4, requires_grad=True)
        h, reverse, other = x.sin(), nb.function("reverse_gradient"), case.tensor("hidden other", 2, 4, requires_grad=True)
        branch = reverse(h)
        output, upstream = (branch * v).cos() + h.exp(), case.tensor("hidden upstream", 2, 4)
        for _ in range(case.integer("hidden passes", 2, 4)):
            output.backward(upstream, retain_graph=True)
        (reverse(x * 2) + other).backward(upstream)
        with torch.no_grad():
            evaluated = reverse(h * v)
        return [branch, x.grad, v.grad, other.grad, upstream, evaluated]

    def truth(self, case):
        x, v = case.tensor("hidden x", 2, 4, requires_grad=True), case.tensor("hidden v", 4, requires_grad=True)
        h, passes, upstream = x.sin(), case.integer("hidden passes", 2, 4), case.tensor("hidden upstream", 2, 4)
        reversed_head = (h * v).cos()
        # Backward is linear: a head times -1 sends the opposite gradient.
        (of_x,) = torch.autograd.grad(h.exp() - reversed_head, x, passes * upstream, retain_graph=True)
        (of_v,) = torch.autograd.grad(reversed_head, v, passes * upstream)
        return [h, of_x - 2 * upstream, of_v, upstream, upstream, (h * v).detach()]


check("reverse_gradient", TwoHeads)
