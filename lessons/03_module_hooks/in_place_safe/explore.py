import torch
from torch import nn

from course.drawn import nets, tensors
from hypothesis import strategies as st
from nbproof.authoring.explorer import Beyond, Exploration


def layer_of(net):
    return next((one for one in net.modules() if isinstance(one, nn.Linear)), None)


class AnyNet(Exploration):
    """Each backward adds the gradient of each output of the layer, as it was before in-place changes, whatever the net."""

    draws = {
        "net": nets("in_place", "same", "nested", "residual", "repeated", "turned", "beside", "boxed", "keyword", "norm", "frozen", "eval", "hooked"),
        "x": tensors(((2,), (1, 2), (3, 2), (2, 3, 2)), requires_grad=None),
        "passes": st.integers(0, 2),
    }

    def probe(self, nb, case):
        net = case.drawn("net")
        gradients = nb.function("output_gradients")(layer_of(net)) if layer_of(net) else []
        with torch.no_grad():
            net(case.drawn("x").clone())
        for _ in range(case.drawn("passes")):
            output = net(case.drawn("x").clone())
            if output.requires_grad:
                output.sum().backward()
        return {"the list of gradients": gradients}

    def truth(self, case):
        net, found = case.drawn("net"), []
        if layer_of(net) is None:
            raise Beyond
        for _ in range(case.drawn("passes")):
            added = []  # what is added to an output has its gradient

            def run(x, added=added):
                output = nn.Linear.forward(layer_of(net), x)
                if not output.requires_grad:
                    return output
                added.append(torch.zeros_like(output, requires_grad=True))
                return output + added[-1]

            layer_of(net).forward = run
            output = net(case.drawn("x").clone())
            if output.requires_grad:
                try:
                    output.sum().backward()
                except RuntimeError:
                    raise Beyond from None  # a part changes in place what backward needs
                found += [one.grad for one in reversed(added) if one.grad is not None]
        return {"the list of gradients": found}
