import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from course.probing import nan_as_number
from course.traces import gradients_left
from course.truths import no_gradient_left, other_than


class TurnsTheSign(Check):
    """Same values; the gradient of `w`, earlier, has the opposite sign, that of `v`, later, is as without the function."""

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
        return {"the returned values": branch, "w.grad": w.grad, "v.grad": v.grad}

    def edited(self, case, change=torch.clone, factor=1):
        """What comes of it if the gradient of the branch is changed by hand before it goes on to h."""
        w, v, h, branch, output = self.forward(case, lambda h: h * 1)
        of_branch, of_v = torch.autograd.grad(output, (branch, v), case.tensor("upstream", 5, 2), retain_graph=True)
        (of_w,) = torch.autograd.grad(h, w, factor * change(of_branch))
        return {"the returned values": branch, "w.grad": of_w, "v.grad": of_v}

    def truth(self, case):
        return self.edited(case, factor=-1)

    def mistakes(self, case):
        right, free = self.truth(case), self.edited(case)
        others = (torch.zeros_like, torch.abs, lambda grad: -grad.abs(), lambda grad: 1 / grad, lambda grad: -1 / grad)
        others = (*others, lambda grad: -torch.ones_like(grad), lambda grad: -grad.sign(), lambda grad: grad - 1)
        return {
            "changes_the_value": {"the returned values": other_than(free["the returned values"])},
            "reverse_gradient_both": {"w.grad": free["w.grad"], "v.grad": -free["v.grad"]},
            "reverse_gradient_later": {"w.grad": right["w.grad"], "v.grad": -free["v.grad"]},
            "gradient_cut_here": {"w.grad": None},
            "reverse_gradient_same_sign": free,
            "reverse_gradient_not_minus": AnyOf(*({"w.grad": self.edited(case, other)["w.grad"]} for other in others)),
        }


class OtherUses(Check):
    """What other uses of `h` send back keeps its sign: `w` gets the one minus the other. In each backward pass."""

    def run(self, case, reverse, of_branch=(1, 1), of_h=1):
        """Three passes: from one head, from the other, from their sum. The factors are those of the heads."""
        w = case.tensor("w", 3, requires_grad=True)
        h = w * case.tensor("x", 2, 3)
        branch = reverse(h)
        plain, reversed_ = (h * case.tensor("a", 2, 3)).sin() * of_h, branch**2 * case.tensor("b", 3)
        for output in (plain, reversed_ * of_branch[0], plain + reversed_ * of_branch[1]):
            output.backward(case.tensor("upstream", 2, 3), retain_graph=True)
        return w.grad, h

    def probe(self, nb, case):
        gradient, h = self.run(case, nb.function("reverse_gradient"))
        return {"w.grad": gradient, ".grad of h": gradients_left({"h": h}, case)["h"]}

    def truth(self, case):
        # Backward is linear: a head times -1 sends the opposite gradient.
        gradient, _ = self.run(case, lambda h: h * 1, of_branch=(-1, -1))
        return {"w.grad": gradient, ".grad of h": no_gradient_left("h", case.tensor("x", 2, 3), case)}

    def mistakes(self, case):
        return {
            "reverse_gradient_all_uses": {"w.grad": self.run(case, lambda h: h * 1, (-1, -1), -1)[0]},
            "runs_only_once": {"w.grad": self.run(case, lambda h: h * 1, (-1, 1))[0]},
        }

    blame = {".grad of h": "uses_retain_grad"}


class NeighboursInASum(Check):
    """In float64: the values keep their digits; in `branch + other` the neighbour and what is given to `backward` stay."""

    blame = {
        "the returned values": "changes_the_value",
        "h.grad": "earlier_call_forgotten",
        "other.grad": "edits_in_place",
        "given to backward": "edits_in_place",
    }

    def probe(self, nb, case):
        found = {}
        for turn in ("first", "second"):
            h, other = (case.tensor(name, *self.shape, requires_grad=True, dtype=self.dtype) for name in ("h", "other"))
            upstream = case.tensor("upstream", *self.shape, dtype=self.dtype)
            branch = nb.function("reverse_gradient")(h)
            nb.function("reverse_gradient")(other * 1)  # another branch, which is not used
            (branch + other if turn == "first" else other + branch).backward(upstream)
            found[turn] = [branch, h.grad, other.grad, upstream]
        return {name: [found[turn][i] for turn in found] for i, name in enumerate(self.names)}

    names = ("the returned values", "h.grad", "other.grad", "given to backward")
    shape, dtype = (2, 1, 3), torch.float64

    def truth(self, case):
        upstream = case.tensor("upstream", *self.shape, dtype=self.dtype)
        values = case.tensor("h", *self.shape, dtype=self.dtype)
        return dict(zip(self.names, ([values] * 2, [-upstream] * 2, [upstream] * 2, [upstream] * 2)))


class NothingToLearn(Check):
    """Under `no_grad`, and for a tensor that needs no gradient, it returns the values and asks for no gradient."""

    def probe(self, nb, case):
        reverse = nb.function("reverse_gradient")
        h = case.tensor("h", 3, 2, requires_grad=True) * 2
        with torch.no_grad():
            evaluated = reverse(h)
        constant = reverse(case.tensor("picture", 2, 3))
        return {
            "under no_grad": evaluated,
            "a constant": constant,
            "a constant, requires_grad": constant.requires_grad,
            "a constant and its .grad after a backward": self.with_gradient(constant, case),
        }

    def with_gradient(self, constant, case):
        """A backward from the constant and from a weight beside it: a constant that needs no gradient gets none."""
        weight, rows = case.tensor("weight", 2, 3, requires_grad=True), case.tensor("rows", 2, 3)
        (constant * rows + weight).sum().backward()
        return [constant.detach(), gradients_left({"the constant": constant}, case)]

    def truth(self, case):
        return {
            "under no_grad": case.tensor("h", 3, 2) * 2,
            "a constant": case.tensor("picture", 2, 3),
            "a constant, requires_grad": False,
            "a constant and its .grad after a backward": [
                case.tensor("picture", 2, 3),
                gradients_left({"the constant": case.tensor("picture", 2, 3)}, case),
            ],
        }

    errors = {
        r"RuntimeError: cannot register a hook on a tensor that doesn't require": "reverse_gradient_in_evaluation"
    }
    blame = {
        "under no_grad": "reverse_gradient_in_evaluation",
        "a constant": "reverse_gradient_in_evaluation",
        "a constant, requires_grad": "reverse_gradient_in_evaluation",
        "a constant and its .grad after a backward": "reverse_gradient_in_evaluation",
    }


class TransposedAndWhole(Check):
    """A transposed tensor will do, and a gradient that is not finite; whole numbers, which need none, stay whole numbers."""

    def upstream(self, case):
        upstream = case.tensor("upstream", 3, 2)
        upstream[0, 0], upstream[2, 1] = torch.nan, torch.inf
        return upstream

    def probe(self, nb, case):
        reverse = nb.function("reverse_gradient")
        h = case.tensor("h", 2, 3, requires_grad=True)
        branch = reverse(h.t())
        branch.backward(self.upstream(case))
        whole = reverse(torch.tensor([case.integer(name, 1, 255) for name in ("a", "b", "c")]))
        (gradient,) = nan_as_number([h.grad])
        return {"the returned values": branch, "h.grad (31337: NaN)": gradient, "whole numbers": whole}

    def truth(self, case):
        return {
            "the returned values": case.tensor("h", 2, 3).t(),
            "h.grad (31337: NaN)": nan_as_number([-self.upstream(case).t()])[0],
            "whole numbers": torch.tensor([case.integer(name, 1, 255) for name in ("a", "b", "c")]),
        }

    errors = {r"RuntimeError: view size is not compatible": "hook_views_flat"}
    blame = {"whole numbers": "changes_the_value", "h.grad (31337: NaN)": "repairs_the_gradient"}


class LeafWithoutDimensions(Check):
    """A leaf without dimensions, used beside the branch as well: only what comes back through the branch is reversed."""

    def run(self, case, reverse, of_branch=1, of_w=1):
        w = case.tensor("w", requires_grad=True)
        branch = reverse(w)
        negative = -case.tensor("a", positive=True)
        output = of_branch * branch * negative + of_w * w * case.tensor("b")
        output.backward(case.tensor("upstream", positive=True))
        return {"the returned value": branch, "w.grad": w.grad}

    def probe(self, nb, case):
        return self.run(case, nb.function("reverse_gradient"))

    def truth(self, case):
        found = self.run(case, lambda w: w * 1, of_branch=-1)
        return {**found, "the returned value": case.tensor("w")}

    def mistakes(self, case):
        return {
            "reverse_gradient_all_uses": {"w.grad": self.run(case, lambda w: w * 1, -1, -1)["w.grad"]},
            "reverse_gradient_same_sign": {"w.grad": self.run(case, lambda w: w * 1)["w.grad"]},
        }

    errors = {r"IndexError: .*0-dim tensor": "no_dimensions"}


check(
    "reverse_gradient",
    TurnsTheSign,
    OtherUses,
    LeafWithoutDimensions,
    NeighboursInASum,
    NothingToLearn,
    TransposedAndWhole,
)


# --- Hidden checks: graders run them, learners do not get them. ---
class TwoHeads(Check):
    """In another graph, only what comes back by the returned tensor changes its sign."""

    def probe(self, nb, case):
        x, v = case.tensor("hidden x", 2, 4, requires_grad=True), case.tensor("hidden v", 4, requires_grad=True)
        h = x.sin()
        branch = nb.function("reverse_gradient")(h)
        output = (branch * v).cos() + h.exp()
        for number in (1, 2):
            output.backward(case.tensor(f"hidden upstream {number}", 2, 4), retain_graph=True)
        return {"the returned values": branch, "x.grad": x.grad, "v.grad": v.grad}

    def truth(self, case):
        x, v = case.tensor("hidden x", 2, 4, requires_grad=True), case.tensor("hidden v", 4, requires_grad=True)
        h = x.sin()
        reversed_head, head = (h * v).cos(), h.exp()
        of_x, of_v = torch.zeros(2, 4), torch.zeros(4)
        for number in (1, 2):
            upstream = case.tensor(f"hidden upstream {number}", 2, 4)
            # Backward is linear: a head times -1 sends the opposite gradient.
            of_x += torch.autograd.grad(head - reversed_head, x, upstream, retain_graph=True)[0]
            of_v += torch.autograd.grad(reversed_head, v, upstream, retain_graph=True)[0]
        return {"the returned values": h, "x.grad": of_x, "v.grad": of_v}


check("reverse_gradient", TwoHeads)
