import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import Close
from course.truths import ANYTHING, such_that


class Block(nn.Module):
    """Two levels of layers."""

    def __init__(self, linear, norm):
        super().__init__()
        self.inner = nn.Sequential(linear(4, 4), norm(4), nn.ReLU())
        self.norm = norm(4)
        self.out = linear(4, 4)

    def forward(self, x):
        return self.out(self.norm(self.inner(x)))


class Net(nn.Module):
    """Linear layers and norms on three levels, in all kinds of containers."""

    def __init__(self, linear=nn.Linear, norm=nn.BatchNorm1d):
        super().__init__()
        self.stem = linear(3, 4)
        self.norm = norm(4)
        self.blocks = nn.ModuleList([Block(linear, norm), Block(linear, norm)])
        self.heads = nn.ModuleDict({"one": linear(4, 2), "two": nn.Sequential(nn.ReLU(), linear(4, 2))})

    def forward(self, x):
        x = self.norm(self.stem(x))
        for block in self.blocks:
            x = block(x)
        return self.heads["one"](x) * self.heads["two"](x)


def is_linear(module):
    return isinstance(module, nn.Linear)


def is_norm(module):
    return isinstance(module, nn.BatchNorm1d)


class Mode(nn.Module):
    """Shows in its output which mode it is in."""

    def forward(self, x):
        return torch.tanh(x) * (2 if self.training else 3)


def wrap(linear, last=nn.Softsign):
    return nn.Sequential(linear, nn.Sequential(last()))


class ReplacingCheck(Check):
    """What the checks of this exercise share."""

    claims = ("the number of calls of make", "what is returned")  # the probe's own function counts; `is` belongs to the language
    errors = {
        r"RecursionError: ": "replacement_replaced_again",
        r"KeyError: .*module name can.*t contain": "dotted_setattr",
        r"TypeError: '\w+' object does not support item assignment": "place_by_number",
        r"AttributeError: '\w+' object has no attribute '\w+\.[\w.]+'": "dotted_getattr",
        r"RuntimeError: (dictionary|OrderedDict) .*(changed|mutated)": "changes_while_walking",
    }

    def places(self, model):
        """What stands where: 'blocks.0.out: Linear'."""
        return [
            f"{name or 'the model'}: {type(module).__name__}"
            for name, module in model.named_modules(remove_duplicate=False)
        ]

    def counted(self, make):
        calls = []

        def counting(module):
            calls.append(module)
            if len(calls) > 100:
                raise RecursionError("`make` was called more than 100 times")
            return make(module)

        return counting, calls

    def told(self, returned, model):
        return "nothing" if returned is None else "the model" if returned is model else "something else"


class OthersInTheirPlace(ReplacingCheck):
    """Every batch norm, at any depth, is replaced; everything else is as it was."""

    def probe(self, nb, case):
        model = case.build("net", Net)
        parts = [(name, module) for name, module in model.named_modules() if not is_norm(module)]
        returned = nb.function("replace_modules")(model, is_norm, lambda old: nn.LayerNorm(old.num_features))
        found = {"the list of places": self.places(model), "what is returned": self.told(returned, model), "output": model(case.tensor("x", 5, 3))}
        self.give_other_weights(case, parts)
        return {**found, "output where what was kept has other weights": model(case.tensor("x", 5, 3))}

    def give_other_weights(self, case, parts):
        with torch.no_grad():
            for name, part in parts:
                for key, parameter in part.named_parameters(recurse=False):
                    parameter.copy_(case.tensor(f"other {name} {key}", *parameter.shape))

    def truth(self, case):
        model = case.build("net", Net, norm=nn.LayerNorm)
        found = {"the list of places": self.places(model), "what is returned": "the model", "output": model(case.tensor("x", 5, 3))}
        self.give_other_weights(case, [(name, one) for name, one in model.named_modules() if not isinstance(one, nn.LayerNorm)])
        return {**found, "output where what was kept has other weights": model(case.tensor("x", 5, 3))}

    def mistakes(self, case):
        right, old = self.truth(case)["the list of places"], self.places(Net())
        first = [place.replace("BatchNorm1d", "LayerNorm") if place.startswith("norm:") else place for place in old]
        return {
            "copied_model": {"the list of places": old, "what is returned": "something else"},
            "place_cannot_be_rebound": {"the list of places": old},
            "first_level_only": {"the list of places": first},
            "dotted_setattr": {"the list of places": such_that(lambda got: len(got) > len(right))},
            "order_of_places_lost": {"the list of places": such_that(lambda got: got != right and sorted(got) == sorted(right))},
            "returns_nothing": {"the list of places": right, "what is returned": "nothing"},
        }


class Meeting(nn.Module):
    """A layer stands three times: twice in one container, which two branches share, and once beside it."""

    def __init__(self, linear=nn.Linear):
        super().__init__()
        twice = linear(4, 4)
        shared = nn.Sequential(twice, nn.Tanh(), twice)
        self.left = nn.Sequential(shared, linear(4, 2))
        self.right = nn.ModuleDict({"shared": shared, "again": twice, "out": linear(4, 2)})

    def forward(self, x):
        return self.left(x) * self.right["out"](self.right["again"](self.right["shared"](x)))


def wrapped_linear(*sizes):
    return wrap(nn.Linear(*sizes))


def linear_with_mode(*sizes):
    return wrap(nn.Linear(*sizes), Mode)


class OneForAllPlaces(ReplacingCheck):
    """A shared module gets one replacement for all places, and no replacement is replaced again."""

    def probe(self, nb, case):
        model = case.build("net", Meeting)
        make, calls = self.counted(wrap)
        nb.function("replace_modules")(model, is_linear, make)
        return {"the list of places": self.places(model), "the number of calls of make": len(calls), "output": model(case.tensor("x", 5, 4))}

    def truth(self, case):
        model = case.build("net", Meeting, linear=wrapped_linear)
        return {"the list of places": self.places(model), "the number of calls of make": 3, "output": model(case.tensor("x", 5, 4))}

    def mistakes(self, case):
        right = self.truth(case)["the list of places"]

        def nested(got):
            """A wrapper stands right inside a wrapper."""
            return sum(place.endswith(": Softsign") for place in got) > 7

        def left_out(got):
            """A linear layer stands somewhere without a wrapper."""
            return sum(place.endswith(": Softsign") for place in got) < 7

        return {
            "replacement_replaced_again": {"the list of places": such_that(nested), "the number of calls of make": ANYTHING},
            "replaced_place_missed": {"the list of places": such_that(left_out)},
            "one_for_each_place": {"the list of places": right, "the number of calls of make": such_that(lambda got: got > 3)},
            "alike_taken_for_same": {"the list of places": right, "the number of calls of make": such_that(lambda got: got < 3)},
        }


class ModeKept(ReplacingCheck):
    """Each replacement, with all in it, is in the mode of what it replaces."""

    blame = {"training": "replaced_mode_lost"}

    def modes(self, model):
        model = model.eval()
        model.blocks[0].train()
        model.blocks[0].out.eval()
        model.heads["two"].train()
        return model

    def other_mode(self, old):
        made = wrap(old, Mode)
        made[1].train(not old.training)
        return made

    def brought(self, model, case):
        modes = {name or "the model": module.training for name, module in model.named_modules()}
        return {"training": modes, "output": model(case.tensor("x", 5, 3))}

    def probe(self, nb, case):
        model = self.modes(case.build("net", Net))
        nb.function("replace_modules")(model, is_linear, self.other_mode)
        return self.brought(model, case)

    def truth(self, case):
        return self.brought(self.modes(case.build("net", Net, linear=linear_with_mode)), case)

    def mistakes(self, case):
        right = self.truth(case)["training"]
        inside = [name for name in right if f"{name}.1.0" not in right and (name.endswith((".1", ".1.0")))]

        def only_inside(got):
            """What is wrong is inside a replacement, never its outermost module."""
            wrong = [name for name in right if got[name] != right[name]]
            return not all(right[name] for name in wrong) and all(name in inside for name in wrong)

        return {"mode_on_top_only": {"training": such_that(only_inside)}}


check("replace_modules", OthersInTheirPlace, OneForAllPlaces, ModeKept)


# --- Hidden checks: graders run them, learners do not get them. ---
class Shown(nn.Module):
    """A layer whose output depends on its mode."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x) * (1 if self.training else -2)


def _places_for(case, shared, alone):
    """A model with `shared` at three places and `alone` at one, in an order of the seed."""
    twice = nn.Sequential(shared, nn.Linear(3, 3), shared)
    items = [nn.Linear(3, 3), shared, twice, nn.Sequential(alone, nn.Linear(3, 3))]
    first, second, *rest = case.shuffled("hidden places", items)
    return nn.Sequential(first, nn.Sequential(second, nn.Sequential(*rest)))


class TrainedLater(Check):
    """In one more model the replacements work at all places, each in the mode of the old module."""

    def probe(self, nb, case):
        old = nn.Tanh(), nn.Tanh()
        model = case.build("hidden net", _places_for, case, *old)
        old[case.integer("hidden mode", 0, 1)].eval()
        made = {}

        def make(one):
            made[one] = Shown()
            return nn.Sequential(one, nn.Sequential(made[one]))

        returned = nb.function("replace_modules")(model, lambda module: isinstance(module, nn.Tanh), make)
        with torch.no_grad():
            for number, one in enumerate(old):
                made[one].linear.weight.copy_(case.tensor(f"hidden weight {number}", 3, 3))
                made[one].linear.bias.copy_(case.tensor(f"hidden bias {number}", 3))
        x = case.tensor("hidden x", 5, 3)
        return {"output": model(x), "output of what is returned, in training mode": returned.train()(x)}

    def truth(self, case):
        x = case.tensor("hidden x", 5, 3)
        model = case.build("hidden net", _places_for, case, nn.Tanh(), nn.Tanh())
        places = [name for name, one in model.named_modules(remove_duplicate=False) if isinstance(one, nn.Tanh)]
        olds = [model.get_submodule(name) for name in places]
        shared = next(one for one in olds if sum(one is other for other in olds) > 1)
        new = [nn.Sequential(nn.Tanh(), Shown()) for _ in range(2)]
        for number, one in enumerate(new):
            one[1].linear.weight.data = case.tensor(f"hidden weight {number}", 3, 3)
            one[1].linear.bias.data = case.tensor(f"hidden bias {number}", 3)
        for name, old in zip(places, olds):
            model.set_submodule(name, new[0] if old is shared else new[1])
        new[case.integer("hidden mode", 0, 1)].eval()
        wanted = {"output": model(x), "output of what is returned, in training mode": model.train()(x)}
        return Close(wanted, rtol=1e-3, atol=1e-3)


check("replace_modules", TrainedLater)
