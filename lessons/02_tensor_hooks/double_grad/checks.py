import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close
from course.probing import nan_as_number, odd_gradients


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


class OnTheLoss(Check):
    """On `loss`, it doubles the gradients of `loss` and of everything that `loss` was computed from."""

    errors = {
        r"RuntimeError: zero-dimensional tensor .* cannot be concatenated": "hook_changes_shape",
        r"RuntimeError: a Tensor with \d+ elements cannot be converted": "python_number",
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
            "doubles_again": {last: 4 * free[last]},
            "squares_gradient": {last: free[last] ** 2},
            "adds_a_number": {last: AnyOf(free[last] + 1, free[last] + 2)},
            "ignores_argument": {last: torch.full_like(free[last], 2.0)},
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
    """In `b + c`, a hook on one of the two leaves the gradient of the other alone, and the one given to `backward`."""

    blame = {"hook on b": "edits_in_place", "hook on c": "edits_in_place"}

    def probe(self, nb, case):
        found = {}
        for name in ("b", "c"):
            tensors = {one: case.tensor(one, 2, 3, requires_grad=True) for one in ("b", "c")}
            upstream = case.tensor("upstream", 2, 3)
            tensors[name].register_hook(nb.function("func"))
            (tensors["b"] + tensors["c"]).backward(upstream)
            grads = {f"{one}.grad": tensor.grad for one, tensor in tensors.items()}
            found[f"hook on {name}"] = {**grads, "given to backward": upstream}
        return found

    def truth(self, case):
        upstream = case.tensor("upstream", 2, 3)
        return {
            "hook on b": {"b.grad": 2 * upstream, "c.grad": upstream, "given to backward": upstream},
            "hook on c": {"b.grad": upstream, "c.grad": 2 * upstream, "given to backward": upstream},
        }


class OtherShapesAndDtypes(Check):
    """It works for a tensor of any shape and floating-point dtype, to the last digit."""

    shapes = ((torch.float64, (2, 3, 4)), (torch.float32, ()), (torch.bfloat16, (5, 1)), (torch.bfloat16, ()))

    def probe(self, nb, case):
        found = {}
        for dtype, shape in self.shapes:
            x = case.tensor("x", *shape, dtype=dtype, requires_grad=True)
            h = x * 4
            h.register_hook(nb.function("func"))
            h.backward(case.tensor("upstream", *shape, dtype=dtype))
            found[f"x.grad, shape {shape}"] = x.grad
        return found

    def truth(self, case):
        # d(4x)/dx is 4, and a factor of 8 is exact in every dtype: float64 shows digits that float32 has not.
        wanted = {f"x.grad, shape {s}": 8 * case.tensor("upstream", *s, dtype=d) for d, s in self.shapes}
        return {name: Close(grad, 1e-12, 1e-12) if grad.dtype == torch.float64 else grad for name, grad in wanted.items()}

    blame = {"x.grad, shape (2, 3, 4)": "digits_lost"}
    errors = {r"TypeError: .*BFloat16": "not_every_dtype"}


class TwoInOneGraph(Check):
    """On two tensors of one shape in one graph: what it returned for the one stays when it runs for the other."""

    def run(self, case, func, factor=1):
        x = case.tensor("x", 2, 3, requires_grad=True)
        first, second = x + case.tensor("shift", 3), x + case.tensor("another shift", 3)
        if func is not None:
            first.register_hook(func)
            second.register_hook(func)
        (first * case.tensor("a", 3) + second * case.tensor("b", 3)).backward(factor * case.tensor("upstream", 2, 3))
        return {"x.grad": x.grad}

    def probe(self, nb, case):
        return self.run(case, nb.function("func"))

    def truth(self, case):
        return self.run(case, None, factor=2)

    blame = {"x.grad": "one_tensor_for_all"}


class AnyGradient(Check):
    """Zeros are doubled, and infinite and NaN elements stay what they are; so does one that is transposed."""

    def probe(self, nb, case):
        found = []
        for upstream in odd_gradients(case):
            x = case.tensor("x", 3, 2, requires_grad=True)
            h = x * 4
            h.register_hook(nb.function("func"))
            h.backward(upstream.reshape(2, 3).t())
            found.append(x.grad)
        return {"x.grad after each pass (31337: NaN)": nan_as_number(found)}

    def truth(self, case):
        found = [8 * upstream.reshape(2, 3).t() for upstream in odd_gradients(case)]
        return {"x.grad after each pass (31337: NaN)": nan_as_number(found)}

    errors = {r"RuntimeError: view size is not compatible": "hook_views_flat"}
    blame = {"x.grad after each pass (31337: NaN)": "repairs_the_gradient"}


check(
    "double_grad", OnTheLoss, InTheMiddle, OnALeaf, NeighboursInASum, OtherShapesAndDtypes, AnyGradient, TwoInOneGraph
)


# --- Hidden checks: graders run them, learners do not get them. ---
class BesideAnotherWay(Check):
    """On a tensor in the middle, it doubles what goes on from there, and nothing else."""

    def probe(self, nb, case):
        x = case.tensor("hidden x", 4, 2, requires_grad=True)
        v = case.tensor("hidden v", 2, requires_grad=True)
        h = (x * v).tanh()
        h.register_hook(nb.function("func"))
        (h**2 + x.exp()).backward(case.tensor("hidden upstream", 4, 2))
        return {"x.grad": x.grad, "v.grad": v.grad}

    def truth(self, case):
        x = case.tensor("hidden x", 4, 2, requires_grad=True)
        v = case.tensor("hidden v", 2, requires_grad=True)
        # Backward is linear: twice the gradient of h, as if what is computed from it counted twice.
        output = 2 * (x * v).tanh() ** 2 + x.exp()
        of_x, of_v = torch.autograd.grad(output, (x, v), case.tensor("hidden upstream", 4, 2))
        return {"x.grad": of_x, "v.grad": of_v}


check("double_grad", BesideAnotherWay)
