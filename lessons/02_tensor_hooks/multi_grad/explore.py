import torch

from course.drawn import fit, nets, tensors
from hypothesis import strategies as st
from nbproof.authoring.explorer import Beyond, Exploration
from nbproof.values.compare import AnyOf, Close


def backward(model, inputs):
    for x in inputs:
        output = model(fit(x, model))
        if output.requires_grad:
            output.sum().backward()


class AnyModel(Exploration):
    """Each backward pass adds the norm of all its gradients, a number or a tensor, whatever the model."""

    draws = {
        "model": nets("same", "nested", "residual", "repeated", "turned", "beside", "checkpointed", "norm", "frozen", "old_grad", "shared_layer", "shared_weight", "double", "hooked", "eval"),
        "x": tensors(((1, 2), (3, 2)), requires_grad=None),
        "passes": st.integers(0, 3),
    }

    def probe(self, nb, case):
        model = case.drawn("model")
        norms = nb.function("watch_norm")(model)
        backward(model, [case.drawn("x") * (number + 1) for number in range(case.drawn("passes"))])
        return {"norms": norms}

    def truth(self, case):
        model, norms = case.drawn("model"), []
        trained = [one for one in model.parameters() if one.requires_grad]
        for number in range(case.drawn("passes")):
            output = model(fit(case.drawn("x") * (number + 1), model))
            if output.requires_grad:
                grads = torch.autograd.grad(output.sum(), trained, allow_unused=True) if trained else ()
                reached = [grad.flatten() for grad in grads if grad is not None]
                if not reached:
                    raise Beyond  # a pass without any gradient of the model: nobody waits for it
                norm = torch.cat(reached).double().norm()
                norms.append(AnyOf(*(Close(one, rtol=1e-5) for one in (norm.item(), norm, norm.float()))))
        return {"norms": norms}
