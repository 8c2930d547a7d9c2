import torch
from hypothesis import strategies as st

from course.drawn import fit, listening, nets, picked, tensors
from nbproof.authoring.explorer import Beyond, Exploration
from nbproof.values.compare import Close


class AnyNet(Exploration):
    """Each value is what the layer returned at that moment, whatever the net that it stands in."""

    draws = {
        "net": nets("same", "view", "nested", "residual", "repeated", "turned", "beside", "checkpointed", "boxed", "keyword", "in_place", "norm", "frozen", "shared_layer", "shared_weight", "part_eval", "eval", "double", "hooked"),
        "numbers": st.lists(st.integers(0, 9), max_size=4),
        "x": tensors(((1, 2), (3, 2), (2,)), requires_grad=None),
    }

    def probe(self, nb, case):
        net = case.drawn("net")
        x = fit(case.drawn("x"), net)
        features = nb.function("safe_features")(net, picked(net, case.drawn("numbers")), x * 1)
        return {"features": features, "hooks": [len(one._forward_hooks) for one in net.modules()]}

    def truth(self, case):
        net, found = case.drawn("net"), {}
        x = fit(case.drawn("x"), net)
        wanted = picked(net, case.drawn("numbers"))
        layers = [net.get_submodule(name) for name in wanted]
        hooks = [len(one._forward_hooks) for one in net.modules()]

        def keep(module, output):
            if module in layers and (module in found or not isinstance(output, torch.Tensor)):
                raise Beyond
            found[module] = output.clone() if module in layers else None

        with listening(keep), torch.no_grad():
            net(x * 1)
        features = {name: found[one] for name, one in zip(wanted, layers) if one in found}
        return {"features": {name: Close(one, rtol=1e-5, atol=1e-6) for name, one in features.items()}, "hooks": hooks}
