from hypothesis import strategies as st

from course.drawn import nets
from nbproof.authoring.explorer import Beyond, Exploration
from nbproof.checks.case import Plan

WANTED = ("isinstance(module, nn.Linear)", "isinstance(module, (nn.ReLU, nn.Tanh))", "isinstance(module, nn.Sequential)", "not list(module.children())", "not module.training", "False")
MADE = ("nn.Tanh()", "old", "nn.Sequential(old, nn.Dropout().eval())", "nn.Linear(2, 2)", "Added(old)", "nn.Sequential(nn.Linear(2, 2), nn.Tanh()).eval()")


def shown(places):
    """By name: kind, mode, and a number that tells which names are of one object."""
    numbers = {}
    return {name: [type(one).__name__, mode, numbers.setdefault(one, len(numbers))] for name, one, mode in places}


class AnyModel(Exploration):
    """Each wanted module gives way to one that is made for it, in its mode, and all else stays, whatever the model."""

    draws = {
        "model": nets("same", "view", "nested", "residual", "repeated", "turned", "beside", "checkpointed", "boxed", "keyword", "norm", "shared_layer", "shared_weight", "part_eval", "eval", "hooked", whole=("nn.Sequential({})", "{layer}")),
        "wanted": st.sampled_from(WANTED).map(lambda text: Plan(f"from torch import nn\n_ = lambda module: {text}")),
        "make": st.sampled_from(MADE).map(lambda text: Plan(f"from torch import nn\nfrom course.drawn import Added\n_ = lambda old: {text}")),
    }

    def probe(self, nb, case):
        model, wanted, make, calls = case.drawn("model"), case.drawn("wanted"), case.drawn("make"), []
        found = nb.function("replace_modules")(model, wanted, lambda old: (calls.append(old), make(old))[1])
        return {"the list of places": shown((name, one, one.training) for name, one in model.named_modules(remove_duplicate=False)), "the number of calls of make": len(calls), "what is returned": found is model}

    def truth(self, case):
        model, wanted, make, made, places = case.drawn("model"), case.drawn("wanted"), case.drawn("make"), {}, []
        stand = dict(model.named_modules(remove_duplicate=False))
        gone = {name: one for name, one in stand.items() if name and wanted(one)}
        if wanted(model) or any(name.startswith(f"{other}.") for name in gone for other in gone):
            raise Beyond
        for name, one in stand.items():
            if name in gone:
                made[one] = made.get(one) or make(one)
                places += [(inner, part, one.training) for inner, part in made[one].named_modules(prefix=name, remove_duplicate=False)]
            elif not any(name.startswith(f"{other}.") for other in gone):
                places.append((name, one, one.training))
        return {"the list of places": shown(places), "the number of calls of make": len(made), "what is returned": True}
