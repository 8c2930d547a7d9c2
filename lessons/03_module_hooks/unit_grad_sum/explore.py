import torch
from hypothesis import strategies as st

from course.drawn import tensors
from course.models import Model
from nbproof.authoring.explorer import Beyond, Exploration
from nbproof.values.compare import Close

VALUES = (1.0, -1.0, 2.0, 0.5, -3.0, 0.0)


class AnyInputs(Exploration):
    """Each backward adds both shares to what is there, and `W` gets its own gradient, whatever the inputs."""

    draws = {
        "x1": tensors(((2,),), VALUES, ("float32", "float64"), requires_grad=True),
        "x2": tensors(((2,), (1,)), VALUES, ("float32", "float64"), requires_grad=True),
        "upstream": tensors(((2,),), VALUES),
        "passes": st.integers(0, 3),
        "eval": st.booleans(),
        "scaled": st.booleans(),
    }

    def probe(self, nb, case):
        model = nb.module("model").train(not case.drawn("eval"))
        x1, x2 = case.drawn("x1"), case.drawn("x2")
        for _ in range(case.drawn("passes")):
            output = model(x1 * 3, x2) if case.drawn("scaled") else model(x1, x2)
            output.backward(case.drawn("upstream").to(output.dtype))
        return {"x1.grad": x1.grad, "x2.grad": x2.grad, "W.grad": model.W.grad}

    def truth(self, case):
        x1, x2, model = case.drawn("x1"), case.drawn("x2"), Model()
        for _ in range(case.drawn("passes")):
            inputs = [(x1 * 3 if case.drawn("scaled") else x1).detach().requires_grad_(), x2.detach().requires_grad_()]
            output = model(*inputs)
            g1, g2, g_w = torch.autograd.grad(output, [*inputs, model.W], case.drawn("upstream").to(output.dtype))
            if g1.shape != g2.shape or g1.dtype != g2.dtype or ((g1 + g2) == 0).any():
                raise Beyond
            for one, grad in ((x1, g1 / (g1 + g2) * (3 if case.drawn("scaled") else 1)), (x2, g2 / (g1 + g2)), (model.W, g_w)):
                one.grad = grad if one.grad is None else one.grad + grad
        return {name: None if one.grad is None else Close(one.grad, rtol=1e-5, atol=1e-6) for name, one in (("x1.grad", x1), ("x2.grad", x2), ("W.grad", model.W))}
