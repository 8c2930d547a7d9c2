import torch

from course.drawn import chains, tensors
from nbproof.authoring.explorer import Beyond, Exploration


class AnyChain(Exploration):
    """It names the step to which a finite gradient came back, and which sent on another, whatever the chain."""

    draws = {"steps": chains(), "x": tensors(requires_grad=True)}

    def probe(self, nb, case):
        return {"blame(steps, x)": nb.function("blame")(case.drawn("steps"), case.drawn("x"))}

    def truth(self, case):
        steps, values = case.drawn("steps"), [case.drawn("x")]
        passed = []
        try:
            for step in steps.values():  # each by itself: what it is given is nobody's output
                passed.append(values[-1].detach().clone().requires_grad_())
                values.append(step(passed[-1]))
        except (RuntimeError, IndexError):
            raise Beyond from None  # a view of a number
        grad = torch.ones(()).expand_as(values[-1]).to(values[-1])
        for name, given, made in zip(reversed(steps), reversed(passed), reversed(values)):
            (back,) = torch.autograd.grad(made, given, grad)
            if grad.isfinite().all() and not back.isfinite().all():
                return {"blame(steps, x)": name}
            grad = back
        return {"blame(steps, x)": None}
