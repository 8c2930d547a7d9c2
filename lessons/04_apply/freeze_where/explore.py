from hypothesis import strategies as st

from course.drawn import nets
from nbproof.authoring.explorer import Exploration
from nbproof.checks.case import Plan

CHOICES = ("isinstance(module, nn.Linear)", "isinstance(module, nn.Sequential)", "not list(module.children())", "not module.training", "False")


def state(model):
    needs = {name: one.requires_grad for name, one in model.named_parameters()}
    return {"requires_grad": needs, "training": {name: one.training for name, one in model.named_modules()}}


class AnyModel(Exploration):
    """What is chosen is frozen, or unfrozen, with all inside it, and the rest stays, whatever the model."""

    draws = {
        "model": nets("same", "nested", "residual", "beside", "norm", "frozen", "shared_layer", "shared_weight", "part_eval", "eval", whole=("nn.Sequential({})", "{layer}")),
        "choose": st.sampled_from(CHOICES).map(lambda text: Plan(f"from torch import nn\n_ = lambda module: {text}")),
        "frozen": st.booleans(),
    }

    def probe(self, nb, case):
        return state(nb.function("freeze_where")(case.drawn("model"), case.drawn("choose"), case.drawn("frozen")))

    def truth(self, case):
        model, choose, frozen = case.drawn("model"), case.drawn("choose"), case.drawn("frozen")
        for one in [one for one in model.modules() if choose(one)]:
            for parameter in one.parameters():
                parameter.requires_grad = not frozen
            for inner in one.modules():
                inner.training = not frozen
        return state(model)
