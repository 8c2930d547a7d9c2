import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from course.truths import such_that


def gradients_of_a_small_net(case, hook=None, on=""):
    """Forward, a hook on one tensor, backward: the gradients of w, b, y and loss."""
    w, b = case.tensor("w", 5, requires_grad=True), case.tensor("b", 3, requires_grad=True)
    y = case.tensor("x", 3, 5) @ w + b
    loss = (y**3).sum()
    tensors = {"w": w, "b": b, "y": y, "loss": loss}
    y.retain_grad()
    loss.retain_grad()
    if hook is not None:
        tensors[on].register_hook(hook)
    loss.backward(case.tensor("upstream"))
    return {f"{name}.grad": tensor.grad for name, tensor in tensors.items()}


def is_constant(got):
    """Whether all elements are equal; of a single one, whether it is a whole number."""
    elements = got.tensor().flatten().tolist()
    return len(set(elements)) == 1 and (len(elements) > 1 or elements[0] % 1 == 0)


class OnTheLoss(Check):
    """On `loss`, it doubles the gradients of `loss` and of everything earlier."""

    errors = {
        r"RuntimeError: zero-dimensional tensor .* cannot be concatenated": "hook_changes_shape",
        r"TypeError: unsupported operand .*NoneType": "reads_grad_early",
        r"TypeError: iteration over a 0-d": "hook_returns_no_tensor",
        r"RuntimeError: attempting to assign a gradient": "hook_writes_grad",
    }
    doubled = ("w", "b", "y", "loss")

    def probe(self, nb, case):
        return gradients_of_a_small_net(case, nb.function("func"), on="loss")

    def truth(self, case):
        # Backward is linear in the gradient that comes in: twice the one, twice the others.
        free = gradients_of_a_small_net(case)
        return {name: grad * (2 if name.removesuffix(".grad") in self.doubled else 1) for name, grad in free.items()}

    def mistakes(self, case):
        free = gradients_of_a_small_net(case)
        last = f"{self.doubled[-1]}.grad"
        return {
            "hook_returns_nothing": free,
            "doubles_again": {last: AnyOf(*(factor * free[last] for factor in (4, 3, 0.5, -1, -2)))},
            "squares_gradient": {last: free[last] ** 2},
            "adds_a_number": {last: AnyOf(free[last] + 1, free[last] + 2)},
            "ignores_argument": {last: such_that(is_constant)},
        }


class InTheMiddle(OnTheLoss):
    """On `y`, it doubles the gradients of `y`, `w` and `b`. The gradient of `loss`, which is later, stays."""

    doubled = ("w", "b", "y")

    def probe(self, nb, case):
        return gradients_of_a_small_net(case, nb.function("func"), on="y")


class OnALeaf(OnTheLoss):
    """On `w`, it doubles the gradient of `w` and no other."""

    doubled = ("w",)

    def probe(self, nb, case):
        return gradients_of_a_small_net(case, nb.function("func"), on="w")


class NeighboursInASum(Check):
    """In `b + c`, a hook on one leaves the other's gradient alone, and the one given."""

    blame = {"hook on b": "edits_in_place", "hook on c": "edits_in_place"}

    def probe(self, nb, case):
        found = {}
        for name in ("b", "c"):
            tensors = {one: case.tensor(one, 2, 3, requires_grad=True) for one in ("b", "c")}
            upstream = case.tensor("upstream", 2, 3)
            tensors[name].register_hook(nb.function("func"))
            (tensors["b"] + tensors["c"]).backward(upstream)
            grads = {f"{one}.grad": tensor.grad for one, tensor in tensors.items()}
            found[f"hook on {name}"] = {**grads, "the tensor given to backward": upstream}
        return found

    def truth(self, case):
        upstream = case.tensor("upstream", 2, 3)
        return {
            "hook on b": {"b.grad": 2 * upstream, "c.grad": upstream, "the tensor given to backward": upstream},
            "hook on c": {"b.grad": upstream, "c.grad": 2 * upstream, "the tensor given to backward": upstream},
        }


check("double_grad", OnTheLoss, InTheMiddle, OnALeaf, NeighboursInASum)


# --- Hidden checks: graders run them, learners do not get them. ---
class BesideAnotherWay(Check):
    """On a tensor in the middle, it doubles what goes on from there, in each pass, and nothing else."""

    def probe(self, nb, case):
        x, b, v = (case.tensor(f"hidden {name}", 4, 2, requires_grad=True) for name in "xbv")
        h = (x * v).tanh()
        h.register_hook(nb.function("func"))
        upstream, output = case.tensor("hidden upstream", 4, 2), (h + b) + x.exp()
        for _ in range(case.integer("hidden passes", 2, 4)):
            output.backward(upstream, retain_graph=True)
        return {"x.grad": x.grad, "v.grad": v.grad, "b.grad": b.grad, "the tensor given to backward": upstream}

    def truth(self, case):
        x, v = (case.tensor(f"hidden {name}", 4, 2, requires_grad=True) for name in "xv")
        upstream, passes = case.tensor("hidden upstream", 4, 2), case.integer("hidden passes", 2, 4)
        # Backward is linear: twice the gradient of h, as if what is computed from it counted twice.
        of_x, of_v = torch.autograd.grad(2 * (x * v).tanh() + x.exp(), (x, v), passes * upstream)
        return {"x.grad": of_x, "v.grad": of_v, "b.grad": passes * upstream, "the tensor given to backward": upstream}


check("double_grad", BesideAnotherWay)
