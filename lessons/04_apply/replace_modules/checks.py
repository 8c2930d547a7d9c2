import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.awkward import awkward_models
from course.traces import what_runs
from course.truths import ANYTHING, as_before, such_that


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


def wrap(linear):
    return nn.Sequential(linear, nn.Softsign())


class ReplacingCheck(Check):
    """What the checks of this exercise share."""

    claims = ("calls of make", "returned")  # the probe's own function counts; `is` belongs to the language
    errors = {
        r"RecursionError: ": "replacement_replaced_again",
        r"(ValueError: Cannot set the submodule without|KeyError: 'attribute name can't be empty)": "root_has_no_place",
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

    def with_other_weights(self, case, model, x, parts):
        """The model's output where the weights of these parts, by the names that they had before, are others."""
        with torch.no_grad():
            for name, part in parts:
                for key, parameter in part._parameters.items():
                    if parameter is not None:
                        parameter.copy_(case.tensor(f"other {name} {key}", *parameter.shape))
        return model(x)

    def nested(self, places):
        """A wrapper stands right inside a wrapper."""
        return any(".0.0: Sequential" in place for place in places)

    def told(self, returned, model):
        return "nothing" if returned is None else "the model" if returned is model else "something else"


class OthersInTheirPlace(ReplacingCheck):
    """Every batch norm, at any depth, is replaced by what `make` returns for it; everything else is as it was."""

    def probe(self, nb, case):
        model = case.build("net", Net)
        kept = [module for module in model.modules() if not is_norm(module)]
        parts = [(name, module) for name, module in model.named_modules() if not is_norm(module)]
        make, calls = self.counted(lambda old: nn.LayerNorm(old.num_features))
        returned = nb.function("replace_modules")(model, is_norm, make)
        after = list(model.modules())
        return {
            "places": self.places(model),
            "returned": self.told(returned, model),
            "everything else is kept": all(any(one is other for other in after) for one in kept),
            "output": model(case.tensor("x", 5, 3)),
            "calls of make": len(calls),
            "output where what was kept has other weights": self.with_other_weights(
                case, model, case.tensor("x", 5, 3), parts
            ),
        }

    def truth(self, case):
        model = case.build("net", Net, norm=nn.LayerNorm)
        parts = [(name, part) for name, part in model.named_modules() if not isinstance(part, nn.LayerNorm)]
        return {
            "places": self.places(model),
            "returned": "the model",
            "everything else is kept": True,
            "output": model(case.tensor("x", 5, 3)),
            "calls of make": sum(map(is_norm, Net().modules())),
            "output where what was kept has other weights": self.with_other_weights(
                case, model, case.tensor("x", 5, 3), parts
            ),
        }

    def mistakes(self, case):
        right, untouched = self.places(Net(norm=nn.LayerNorm)), self.places(Net())
        first, dotted = Net(), Net()
        first.norm = nn.LayerNorm(4)
        for name, part in list(dotted.named_modules()):
            if is_norm(part):
                dotted._modules[name] = nn.LayerNorm(4)

        def moved(got):
            return None if got != right and sorted(got) == sorted(right) else "no"

        return {
            "not_started": {"places": untouched, "returned": "nothing"},
            "copied_model": {"places": untouched, "returned": "something else"},
            "place_cannot_be_rebound": {"places": untouched, "returned": "the model"},
            "first_level_only": {"places": self.places(first)},
            "dotted_setattr": {"places": self.places(dotted)},
            "order_of_places_lost": {"places": Matches(moved, "")},
            "returns_nothing": {"places": right, "returned": "nothing"},
        }


class WrappedInPlace(ReplacingCheck):
    """A replacement may hold the old module: every linear layer is wrapped once."""

    blame = {
        "the old modules are inside": "make_gets_a_copy",
        "output where the old modules have other weights": "make_gets_a_copy",
    }

    def probe(self, nb, case):
        model = case.build("net", Net)
        old = list(filter(is_linear, model.modules()))
        parts = [(name, part) for name, part in model.named_modules() if is_linear(part)]
        make, calls = self.counted(wrap)
        nb.function("replace_modules")(model, is_linear, make)
        inside = list(filter(is_linear, model.modules()))
        return {
            "places": self.places(model),
            "calls of make": len(calls),
            "the old modules are inside": all(any(one is other for other in inside) for one in old),
            "output": model(case.tensor("x", 5, 3)),
            "output where the old modules have other weights": self.with_other_weights(
                case, model, case.tensor("x", 5, 3), parts
            ),
        }

    def truth(self, case):
        model = case.build("net", Net, linear=lambda *sizes: wrap(nn.Linear(*sizes)))
        parts = [(name.removesuffix(".0"), part) for name, part in model.named_modules() if is_linear(part)]
        return {
            "places": self.places(model),
            "calls of make": sum(map(is_linear, Net().modules())),
            "the old modules are inside": True,
            "output": model(case.tensor("x", 5, 3)),
            "output where the old modules have other weights": self.with_other_weights(
                case, model, case.tensor("x", 5, 3), parts
            ),
        }

    def mistakes(self, case):
        return {"replacement_replaced_again": {"calls of make": ANYTHING, "places": such_that(self.nested)}}


class Tied(nn.Module):
    """One linear layer stands twice in one parent, another one in two parents."""

    def __init__(self, linear=nn.Linear):
        super().__init__()
        one, two = linear(4, 4), linear(4, 4)
        self.first = nn.Sequential(one, nn.Tanh(), one)
        self.second = nn.ModuleDict({"a": two})
        self.third = nn.Sequential(nn.ReLU(), two)

    def forward(self, x):
        return self.third(self.second["a"](self.first(x)))


def wrapped_linear(*sizes):
    return wrap(nn.Linear(*sizes))


class SharedStaysShared(ReplacingCheck):
    """A module that appears in several places gets one replacement, which goes to all of them."""

    net = Tied
    wanted_calls = 2

    def standing(self, model):
        """Each place, and the first place where the same object stands."""
        first = {}
        return {name: first.setdefault(part, name) for name, part in model.named_modules(remove_duplicate=False)}

    def brought(self, model, case):
        return {
            "places": self.places(model),
            "first place of the object": self.standing(model),
            "output": model(case.tensor("x", 5, 4)),
        }

    def probe(self, nb, case):
        model = case.build("net", self.net)
        make, calls = self.counted(wrap)
        nb.function("replace_modules")(model, is_linear, make)
        return {**self.brought(model, case), "calls of make": len(calls)}

    def truth(self, case):
        model = case.build("net", self.net, linear=wrapped_linear)
        return {**self.brought(model, case), "calls of make": self.wanted_calls}

    def mistakes(self, case):
        def places(*names):
            model = Tied()
            for name in names:
                model.set_submodule(name, wrapped_linear(4, 4))
            return {"places": self.places(model)}

        right = self.truth(case)["places"]
        return {
            "shared_place_missed": AnyOf(
                places("first.0", "second.a"), places("first.0", "second.a", "third.1"), places("first.2", "third.1")
            ),
            "one_for_each_place": {"places": right, "calls of make": AnyOf(3, 4)},
            "replacement_replaced_again": {"calls of make": ANYTHING, "places": such_that(self.nested)},
        }

class ModeKept(ReplacingCheck):
    """Each replacement, with everything in it, is in the mode of the module that it replaces."""

    blame = {"training": "mode_lost"}

    def modes(self, model):
        model = model.eval()
        model.blocks[0].train()
        model.blocks[0].out.eval()
        model.heads["two"].train()
        return {name or "the model": module.training for name, module in model.named_modules()}

    def with_dropout(self, linear):
        """Two levels, all that is new in the other mode than the linear layer."""
        new = nn.Sequential(linear, nn.Sequential(nn.Dropout()))
        new.training = new[1].training = new[1][0].training = not linear.training
        return new

    def probe(self, nb, case):
        model = case.build("net", Net)
        self.modes(model)
        nb.function("replace_modules")(model, is_linear, self.with_dropout)
        modes = {name or "the model": module.training for name, module in model.named_modules()}
        return {"training": modes, "what runs": self.runs(model, case)}

    def runs(self, model, case):
        return what_runs(model, case, lambda: model(case.tensor("another x", 5, 3)))

    def truth(self, case):
        model = Net(linear=lambda *sizes: self.with_dropout(nn.Linear(*sizes)))
        return {"training": self.modes(model), "what runs": as_before(self.runs(model, case))}

    def mistakes(self, case):
        right = self.truth(case)["training"]
        model = Net(linear=lambda *sizes: self.with_dropout(nn.Linear(*sizes)))
        dropout = {name for name, part in model.named_modules() if isinstance(part, nn.Dropout)}
        inside = dropout | {name.rpartition(".")[0] for name in dropout}
        left = ({name: on != (name in new) for name, on in right.items()} for new in (dropout, inside))
        return {"mode_on_top_only": {"training": AnyOf(*left)}}


class TwoParents(nn.Module):
    """A container stands in two places, and with it all that it holds."""

    def __init__(self, linear=nn.Linear):
        super().__init__()
        shared = nn.Sequential(linear(4, 4), nn.Tanh())
        self.left = nn.Sequential(shared, linear(4, 2))
        self.right = nn.Sequential(linear(4, 4), nn.ModuleDict({"shared": shared, "out": linear(4, 2)}))

    def forward(self, x):
        right = self.right[1]["out"](self.right[1]["shared"](self.right[0](x)))
        return self.left(x) * right


class NotOnceMore(SharedStaysShared):
    """What `make` has returned is not replaced again, even if two paths lead to its place."""

    net = TwoParents
    wanted_calls = 4

    def mistakes(self, case):
        places = self.truth(case)["places"]
        return {
            "replacement_replaced_again": {"calls of make": Matches(lambda got: None if got > 4 else "no", "")},
            "one_for_each_place": {"places": places, "calls of make": 5},
        }


class AnyModel(ReplacingCheck):
    """It works in any model: a layer with two names, tied weights, names that look alike, modes of its own, empty places."""

    cases = 1
    errors = {**ReplacingCheck.errors, r"AttributeError: 'NoneType' object has no attribute": "empty_place"}

    def wanted(self, module):
        return module._get_name() == "Linear"

    def every_place(self, model):
        """What stands where, `None` included, and where the same object stands first."""
        found, first = [], {}
        for name, part in model.named_modules(remove_duplicate=False):
            for key, child in part._modules.items():
                place = f"{name}.{key}" if name else key
                if child is None:
                    found.append(f"{place}: None")
                else:
                    mode = "training" if child.training else "eval"
                    found.append(f"{place}: {type(child).__name__}, first in {first.setdefault(child, place)}, {mode}")
        return found

    def models(self, case):
        return awkward_models(case, "shared", "tied", "mixed_modes", "none_place", "look_alike").items()

    def brought(self, case, models):
        found = {"places": {}, "output": {}, "a number from all places": {}}
        for says, (model, x) in models:
            places = found["places"][says] = self.every_place(model)
            found["a number from all places"][says] = sum(case.integer(place, 1, 10**6) for place in places)
            with case.seeded("dropout"):
                found["output"][says] = model(x)
        return found

    def probe(self, nb, case):
        models = self.models(case)
        for _, (model, _) in models:
            nb.function("replace_modules")(model, self.wanted, wrap)
        return self.brought(case, models)

    def truth(self, case):
        models = self.models(case)
        for _, (model, _) in models:
            named = list(model.named_modules(remove_duplicate=False))
            made = {old: wrap(old).train(old.training) for _, old in named if self.wanted(old)}
            for name, old in named:
                if old in made:
                    model.set_submodule(name, made[old])
        return self.brought(case, models)

    def mistakes(self, case):
        right = self.truth(case)["places"]

        def names(places):
            return {place.partition(":")[0] for place in places}

        return {
            "place_lost": {"places": such_that(lambda got: any(names(right[says]) - names(got[says]) for says in right))}
        }


class EmptyAndAgain(ReplacingCheck):
    """An empty container may be wanted, any true answer counts, what is new is not searched, and each call makes anew."""

    blame = {
        "where wanted is true for an empty container": "falsy_is_not_none",
        "where wanted returns a number": "true_taken_literally",
        "where another wanted module comes with the new one": "replacement_replaced_again",
        "where the same layer is replaced in two models": "one_for_each_call",
    }

    def scaled(self, case, name):
        """A layer that multiplies by a number of the seed."""
        layer = nn.Linear(4, 4, bias=False)
        with torch.no_grad():
            layer.weight.copy_(torch.eye(4) * case.integer(name, 2, 10**4))
        return layer

    def brought(self, case, replace_modules):
        x = torch.ones(1, 4)
        empty = nn.Sequential(nn.Sequential(), nn.Identity())
        is_empty = lambda module: type(module) is nn.Sequential and not len(module)  # noqa: E731
        replace_modules(empty, is_empty, lambda old: self.scaled(case, "for the empty one"))
        counted = nn.Sequential(nn.Identity(), nn.Tanh())
        as_number = lambda module: int(type(module) is nn.Tanh) * 2  # noqa: E731
        replace_modules(counted, as_number, lambda old: self.scaled(case, "for the number"))
        pair = nn.Sequential(nn.Identity(), self.scaled(case, "old"))
        replace_modules(pair, is_linear, lambda old: self.nested_twice(case, old) if len(self.made(old)) < 3 else nn.Tanh())
        layer = nn.Linear(4, 4)
        models, outputs = [nn.Sequential(layer), nn.Sequential(layer)], []
        for number, model in enumerate(models):
            replace_modules(model, is_linear, lambda old, number=number: self.scaled(case, f"for model {number}"))
            outputs.append(model(x))
        return {
            "where wanted is true for an empty container": empty(x),
            "where wanted returns a number": counted(x),
            "where another wanted module comes with the new one": pair(x),
            "where the same layer is replaced in two models": outputs,
        }

    def nested_twice(self, case, old):
        return nn.Sequential(nn.Sequential(old, self.scaled(case, "beside it")))

    def made(self, old):
        """Those for which a replacement was asked in this call; more than two would never end."""
        self.asked.append(old)
        return self.asked

    def probe(self, nb, case):
        self.asked = []
        return self.brought(case, nb.function("replace_modules"))

    def truth(self, case):
        self.asked = []

        def each_child(model, wanted, make):
            for name, child in [*model._modules.items()]:
                if wanted(child):
                    model._modules[name] = make(child)

        return self.brought(case, each_child)


check(
    "replace_modules", OthersInTheirPlace, WrappedInPlace, SharedStaysShared, ModeKept, NotOnceMore, AnyModel, EmptyAndAgain
)


# --- Hidden checks: graders run them, learners do not get them. ---
class Across(nn.Module):
    """One activation stands in two branches."""

    def __init__(self):
        super().__init__()
        act = nn.Tanh()
        self.left = nn.Sequential(nn.Linear(3, 3), act)
        self.right = nn.ModuleDict({"act": act, "out": nn.Linear(3, 3)})

    def forward(self, x):
        return self.left(x) + self.right["out"](self.right["act"](x))


class TrainedLater(Check):
    """In one more model the replacement works at both places, in the mode of the old module."""

    def probe(self, nb, case):
        model = case.build("hidden net", Across)
        model.left[1].eval()  # so that there is no dropout in what replaces it
        make = lambda old: nn.Sequential(old, nn.Linear(3, 3), nn.Dropout(0.9))  # noqa: E731
        nb.function("replace_modules")(model, lambda module: isinstance(module, nn.Tanh), make)
        with torch.no_grad():
            model.left[1][1].weight.copy_(case.tensor("hidden weight", 3, 3))
            model.left[1][1].bias.copy_(case.tensor("hidden bias", 3))
        return {"output": model(case.tensor("hidden x", 5, 3))}

    def truth(self, case):
        model, x = case.build("hidden net", Across), case.tensor("hidden x", 5, 3)
        weight, bias = case.tensor("hidden weight", 3, 3), case.tensor("hidden bias", 3)
        left, right = (nn.functional.linear(torch.tanh(one), weight, bias) for one in (model.left[0](x), x))
        return {"output": Close(left + model.right["out"](right), rtol=1e-4, atol=1e-4)}


check("replace_modules", TrainedLater)
