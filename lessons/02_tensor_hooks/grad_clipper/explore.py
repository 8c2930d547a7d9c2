import torch

from course.drawn import fit, nets, tensors
from hypothesis import strategies as st
from nbproof.authoring.explorer import Exploration


class AnyModel(Exploration):
    """What each pass adds to `.grad` of every parameter lies in the range, whatever the model."""

    draws = {
        "model": nets("same", "nested", "residual", "repeated", "turned", "beside", "checkpointed", "norm", "frozen", "old_grad", "shared_layer", "shared_weight", "double", "bfloat16", "hooked", "eval"),
        "x": tensors(((1, 2), (3, 2), (2,)), requires_grad=None),
        "floor": st.sampled_from((-0.5, -2.0, 0.0)),
        "cap": st.sampled_from((0.25, 1.0, 0.0)),
        "passes": st.integers(0, 2),
    }

    def probe(self, nb, case):
        model = nb.function("grad_clipper")(case.drawn("model"), case.drawn("floor"), case.drawn("cap"))
        for _ in range(case.drawn("passes")):
            output = model(fit(case.drawn("x"), model))
            if output.requires_grad:
                output.sum().backward()
        return {name: one.grad for name, one in model.named_parameters()}

    def truth(self, case):
        model = case.drawn("model")
        found = {name: one.grad for name, one in model.named_parameters()}
        trained = {name: one for name, one in model.named_parameters() if one.requires_grad}
        for _ in range(case.drawn("passes")):
            output = model(fit(case.drawn("x"), model))
            if not output.requires_grad or not trained:
                continue
            for name, grad in zip(trained, torch.autograd.grad(output.sum(), list(trained.values()), allow_unused=True)):
                if grad is not None:
                    clamped = grad.clamp(case.drawn("floor"), case.drawn("cap"))
                    found[name] = clamped if found[name] is None else found[name] + clamped
        return found
