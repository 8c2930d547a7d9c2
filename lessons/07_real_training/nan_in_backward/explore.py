import torch
from hypothesis import strategies as st
from torch.overrides import TorchFunctionMode

from course.drawn import nets, tensors
from nbproof.authoring.explorer import Exploration
from nbproof.checks.case import Plan

LOSSES = ("lambda output: output.sum()", "lambda output: output.sqrt().sum()", "lambda output: (1 / output).mean()", "lambda output: output.pow(2).sum()")


class Notes(TorchFunctionMode):
    """Each node that an operation adds to the graph belongs to the module that runs at that moment."""

    def __init__(self):
        super().__init__()
        self.names, self.running = {}, [""]

    def __torch_function__(self, function, types, args=(), kwargs=None):
        found = function(*args, **kwargs or {})
        waiting = [found.grad_fn] if isinstance(found, torch.Tensor) else []
        while waiting:
            node = waiting.pop()
            if node is not None and node not in self.names:
                self.names[node] = self.running[-1]
                waiting += [one for one, _ in node.next_functions]
        return found

    def within(self, name, forward):
        def run(*args, **kwargs):
            self.running.append(name)
            try:
                return forward(*args, **kwargs)
            finally:
                self.running.pop()

        return run


class AnyModel(Exploration):
    """It names the operation that made the first bad gradient and the innermost module that it stands in, whatever the model."""

    draws = {
        "model": nets("bad", "same", "nested", "residual", "repeated", "turned", "beside", "boxed", "keyword", "norm", "frozen", "zero", "shared_layer", "eval", "hooked", "checkpointed"),
        "x": tensors(((1, 2), (3, 2), (2,)), requires_grad=True),
        "loss_of": st.sampled_from(LOSSES).map(lambda text: Plan(f"_ = {text}")),
    }

    def probe(self, nb, case):
        return {"nan_in_backward": nb.function("nan_in_backward")(case.drawn("model"), case.drawn("x"), case.drawn("loss_of"))}

    def truth(self, case):
        model, notes, found = case.drawn("model"), Notes(), []
        for name, one in model.named_modules():
            one.forward = notes.within(name, one.forward)
        with notes:
            loss = case.drawn("loss_of")(model(case.drawn("x")))

        def hook(node):
            def look(made, got):
                if not found and not all(one is None or one.isfinite().all() for one in made):
                    found.append((node.name(), notes.names.get(node, "")))

            return look

        for node in {loss.grad_fn, *notes.names}:
            node.register_hook(hook(node))
        loss.backward()
        return {"nan_in_backward": found[0] if found else None}
