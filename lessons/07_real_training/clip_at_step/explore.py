import torch
from hypothesis import strategies as st

from nbproof.authoring.explorer import Exploration
from nbproof.values.compare import Close


class AnyGradients(Exploration):
    """Each step has the norm of all gradients of its optimizer together at most at the limit, whatever the gradients."""

    draws = {
        "grads": st.lists(st.one_of(st.none(), st.lists(st.sampled_from((0.0, 1.0, -3.0, 40.0, 1e-6)), min_size=1, max_size=3)), min_size=1, max_size=4),
        "most": st.sampled_from((0.5, 1.0, 100.0)),
        "groups": st.booleans(),
    }

    def step(self, case, clip):
        grads = case.drawn("grads")
        parameters = [torch.nn.Parameter(torch.zeros(len(grad or [0]))) for grad in grads]
        optimizer = torch.optim.SGD(parameters[:1] if case.drawn("groups") else parameters, lr=1.0)
        handle = clip(optimizer)
        for one in parameters[1:] if case.drawn("groups") else []:  # the optimizer gets it later
            optimizer.add_param_group({"params": [one]})
        for one, grad in zip(parameters, grads):
            one.grad = None if grad is None else torch.tensor(grad)
        optimizer.step()
        return [one.detach() for one in parameters], handle

    def probe(self, nb, case):
        return self.step(case, lambda optimizer: nb.function("clip_at_step")(optimizer, case.drawn("most")))[0]

    def truth(self, case):
        parameters, _ = self.step(case, lambda optimizer: None)
        norm = torch.cat(parameters).double().norm().item()
        factor = min(1.0, case.drawn("most") / norm) if norm else 1.0
        return [Close(one * factor, rtol=1e-4, atol=1e-6) for one in parameters]
