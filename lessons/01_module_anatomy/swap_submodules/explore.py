from torch import nn

from course.drawn import nets, tensors
from nbproof.authoring.explorer import Beyond, Exploration


def places(model):
    return {name: [type(one).__name__, one.training] for name, one in model.named_modules(remove_duplicate=False)}


class AnyModel(Exploration):
    """A Tanh stands at each place of a ReLU, in its mode, and all else is as it was, whatever the model around it."""

    draws = {
        "model": nets("same", "nested", "residual", "repeated", "turned", "beside", "boxed", "keyword", "in_place", "shared_layer", "part_eval", "eval", "hooked", whole=("nn.Sequential({})", "{layer}")),
        "x": tensors(((1, 2), (2,))),
    }

    def probe(self, nb, case):
        model = nb.function("swap_relu")(case.drawn("model"))
        return {"the list of places": places(model), "model(x)": model.eval()(case.drawn("x"))}

    def truth(self, case):
        model = case.drawn("model")
        if isinstance(model, nn.ReLU):
            raise Beyond  # it has no place within the model
        wanted = {name: ["Tanh" if kind == "ReLU" else kind, mode] for name, (kind, mode) in places(model).items()}
        for one in model.modules():
            if isinstance(one, nn.ReLU):
                one.forward = nn.Tanh().forward
        return {"the list of places": wanted, "model(x)": model.eval()(case.drawn("x"))}
