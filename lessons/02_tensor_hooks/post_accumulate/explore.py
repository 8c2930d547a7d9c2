import torch

from course.drawn import fit, nets, tensors
from hypothesis import strategies as st
from nbproof.authoring.explorer import Exploration


def backward(model, x, passes):
    for _ in range(passes):
        output = model(fit(x, model))
        if output.requires_grad:
            output.sum().backward()


class AnyModel(Exploration):
    """It sums what each pass brings, in float32, and leaves no `.grad`, whatever the model."""

    draws = {
        "model": nets("same", "nested", "residual", "repeated", "turned", "beside", "checkpointed", "norm", "frozen", "old_grad", "shared_layer", "shared_weight", "bfloat16", "hooked", "eval"),
        "x": tensors(((1, 2), (3, 2))),
        "passes": st.integers(1, 3),
    }

    def probe(self, nb, case):
        model = case.drawn("model")
        sums = nb.function("accumulate_in_float32")(model)
        backward(model, case.drawn("x"), case.drawn("passes"))
        return {"sums": sums, ".grad": {name: one.grad for name, one in model.named_parameters()}}

    def truth(self, case):
        model = case.drawn("model")
        left = {name: None if one.requires_grad else one.grad for name, one in model.named_parameters()}
        trained = {name: one for name, one in model.named_parameters() if one.requires_grad}
        sums = {name: torch.zeros(one.shape) for name, one in trained.items()}
        for _ in range(case.drawn("passes") if trained else 0):
            output = model(fit(case.drawn("x"), model))
            for name, grad in zip(trained, torch.autograd.grad(output.sum(), list(trained.values()), allow_unused=True) if output.requires_grad else ()):
                sums[name] += 0 if grad is None else grad
        return {"sums": sums, ".grad": left}
