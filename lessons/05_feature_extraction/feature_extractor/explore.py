import torch
from hypothesis import strategies as st

from course.drawn import fit, listening, nets, picked, tensors
from nbproof.authoring.explorer import Beyond, Exploration
from nbproof.values.compare import Close


def runs_elsewhere(net, name):
    """Whether a part of this layer is a part of something else as well."""
    parts = set(net.get_submodule(name).modules())
    places = [place for place, module in net.named_modules(remove_duplicate=False) if module in parts]
    return not all(f"{place}.".startswith(f"{name}.") for place in places)


class AnyNet(Exploration):
    """Each of two extractors on one net returns the outputs of its layers for its own input, whatever the net."""

    draws = {
        "net": nets("same", "view", "nested", "residual", "repeated", "turned", "beside", "checkpointed", "boxed", "keyword", "norm", "frozen", "shared_layer", "shared_weight", "part_eval", "eval", "double", "hooked"),
        "numbers": st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=3), min_size=1, max_size=2),
        "x": tensors(((1, 2), (3, 2), (2,)), requires_grad=None),
        "other": tensors(((1, 2), (2,))),
    }

    def probe(self, nb, case):
        net = case.drawn("net")
        inputs = [fit(case.drawn("x"), net), fit(case.drawn("other"), net)]
        extractors = [nb.function("FeatureExt")(net, picked(net, numbers)) for numbers in case.drawn("numbers")]
        found = [dict(extractor(x)) for extractor in extractors for x in inputs]
        return {"features": found, "output": net(inputs[0])}

    def truth(self, case):
        net, features = case.drawn("net"), []
        inputs = [fit(case.drawn("x"), net), fit(case.drawn("other"), net)]
        for wanted in [picked(net, numbers) for numbers in case.drawn("numbers")]:
            for x in inputs:
                ran = []
                with listening(lambda module, output, ran=ran: ran.append((module, output))):
                    net(x)
                outputs = {name: [output for module, output in ran if module is net.get_submodule(name)] for name in wanted}
                if any(len(one) != 1 or not isinstance(one[0], torch.Tensor) for one in outputs.values()):
                    raise Beyond
                if len({id(output) for (output,) in outputs.values()}) < len(outputs):
                    raise Beyond  # torchvision has one name for what a layer hands on unchanged from its last part
                if any(runs_elsewhere(net, name) for name in wanted):
                    raise Beyond  # torchvision takes what the last part of a layer returned, though that ran outside it
                features.append({name: Close(one, rtol=1e-5, atol=1e-6) for name, (one,) in outputs.items()})
        return {"features": features, "output": Close(net(inputs[0]), rtol=1e-5, atol=1e-6)}
