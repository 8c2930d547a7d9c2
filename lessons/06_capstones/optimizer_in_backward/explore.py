from hypothesis import strategies as st

from course.drawn import fit, nets, tensors
from nbproof.authoring.explorer import Beyond, Exploration
from nbproof.checks.case import Plan
from nbproof.values.compare import Close

OPTIMIZERS = ("torch.optim.SGD, lr=0.1", "torch.optim.SGD, lr=0.1, momentum=0.9, weight_decay=0.1", "torch.optim.Adam, lr=0.1")


def backward(net, x):
    output = net(fit(x, net))
    if output.requires_grad:
        output.pow(2).sum().backward()


class AnyNet(Exploration):
    """Each backward leaves the parameters as an ordinary loop does, and no `.grad`, whatever the net."""

    draws = {
        "net": nets("same", "nested", "residual", "repeated", "turned", "beside", "checkpointed", "boxed", "norm", "frozen", "shared_layer", "shared_weight", "double", "eval", "hooked"),
        "make": st.sampled_from(OPTIMIZERS).map(lambda text: Plan(f"from functools import partial\nimport torch\n_ = partial({text})")),
        "x": tensors(((1, 2), (3, 2))),
        "passes": st.integers(0, 3),
    }

    def probe(self, nb, case):
        net = case.drawn("net")
        with nb.function("OptimizerInBackward")(net, case.drawn("make")):
            for _ in range(case.drawn("passes")):
                backward(net, case.drawn("x"))
        return {name: [one.detach(), one.grad] for name, one in net.named_parameters()}

    def truth(self, case):
        net = case.drawn("net")
        trained = [one for one in net.parameters() if one.requires_grad]
        if not trained:
            raise Beyond  # no optimizer takes an empty list
        optimizer = case.drawn("make")(trained)
        for _ in range(case.drawn("passes")):
            backward(net, case.drawn("x"))
            optimizer.step()
            optimizer.zero_grad()
        return {name: [Close(one.detach(), rtol=1e-5, atol=1e-6), None] for name, one in net.named_parameters()}
