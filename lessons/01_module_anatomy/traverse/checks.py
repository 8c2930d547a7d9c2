from math import prod

import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from nbproof.values.evidence import TensorRecord, Unreadable

_FIVE = ("children", "modules", "leaves", "parameters", "buffers")


class _Pair(nn.Module):
    """Two modules under two names: a branch that is no container of PyTorch's, and has a parameter itself."""

    def __init__(self, left, right):
        super().__init__()
        self.left, self.right = left, right
        self.balance = nn.Parameter(torch.ones(2))


class _Nested(nn.Module):
    """Four levels, with the given names; ``shared`` stands at two places of the first."""

    def __init__(self, names, shared=None):
        super().__init__()
        first, second, third, fourth = names
        body = nn.Sequential(nn.Linear(4, 5, bias=shared is not None), nn.BatchNorm1d(5))
        self.add_module(first, nn.ModuleDict({third: _Pair(body, shared or nn.ReLU()), fourth: shared or nn.Tanh()}))
        self.add_module(second, _Pair(nn.Linear(5, 2), nn.Sequential(nn.Dropout(), nn.Sequential(nn.ReLU()))))
        self.add_module("last", nn.Conv1d(2, 3, 4))
        self.last.bias.requires_grad_(False)
        self.last.register_buffer("seen", torch.zeros(2), persistent=False)
        self.gain, self.count = nn.Parameter(torch.ones(3)), nn.Buffer(torch.zeros(2))


def _inventory(modules, parameters, buffers, names):
    """The five entries, from names that are written down, each with its shape behind a colon: A to D are names of the case.

    Of written names, because whatever walks through a model to see what is there would be an answer.
    """
    known = dict(zip("ABCD", names))

    def words(text):
        return [".".join(known.get(part, part) for part in word.split(".")) for word in text.split()]

    modules, shapes = words(modules), [word.split(":") for word in words(parameters)]
    return {
        "children": [name for name in modules if "." not in name],
        "modules": modules,
        "leaves": sum(not any(other.startswith(f"{name}.") for other in modules) for name in modules),
        "parameters": {name: tuple(map(int, sizes.split(","))) for name, sizes in shapes},
        "buffers": words(buffers),
    }


def _is_leaf(module):
    return all(child is None for child in module._modules.values())


def _says(test):
    """For mistakes: an entry, or the whole result, of which ``test`` says yes."""
    return Matches(lambda found: None if test(found) else "something else", "this mistake")


def _one_of(**entries):
    """For mistakes: one of these entries is as given, the others are not asked about."""
    return AnyOf(*({key: value} for key, value in entries.items()))


class FiveEntries(Check):
    """The five entries are right for a model with several levels."""

    claims = _FIVE  # the answer itself
    errors = {
        r"AttributeError: 'NoneType' object": "absent_is_none",
        r"NameError: name '(net|shared|tiny|order|steps)'": "anatomy_notebooks_own_model",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
        r"TypeError: inventory\(\) (takes|got|missing)": "anatomy_other_signature",
    }

    modules = "A A.C A.C.left A.C.left.0 A.C.left.1 A.C.right A.D B B.left B.right B.right.0 B.right.1 B.right.1.0 last"
    parameters = (
        "gain:3 A.C.balance:2 A.C.left.0.weight:5,4 A.C.left.1.weight:5 A.C.left.1.bias:5 "
        "B.balance:2 B.left.weight:2,5 B.left.bias:2 last.weight:3,2,4 last.bias:3"
    )
    buffers = "count A.C.left.1.running_mean A.C.left.1.running_var A.C.left.1.num_batches_tracked last.seen"

    def names(self, case):
        return sorted(case.words("names", 4), reverse=True)  # an inventory is in the model's order, not in the alphabet's

    def model(self, case):
        return _Nested(self.names(case))

    def probe(self, nb, case):
        return nb.function("inventory")(self.model(case))

    def truth(self, case):
        return _inventory(self.modules, self.parameters, self.buffers, self.names(case))

    def mistakes(self, case):
        model, wanted = self.model(case), self.truth(case)
        children, modules, parameters, buffers = (wanted[key] for key in ("children", "modules", "parameters", "buffers"))
        below, sizes = list(model.modules())[1:], {name: prod(shape) for name, shape in parameters.items()}
        containers = (nn.Sequential, nn.ModuleList, nn.ModuleDict)

        def last(names):
            return [name.rpartition(".")[2] for name in names]

        def other_order(names):
            return _says(lambda found: sorted(found) == sorted(names))

        no_list = _says(lambda found: isinstance(found, (dict, str, Unreadable)))
        no_names = _says(lambda found: not all(isinstance(one, str) for one in found))
        no_shapes = _says(
            lambda found: not isinstance(found, dict) or any(isinstance(one, (str, TensorRecord)) for one in found.values())
        )
        return {
            "returns_nothing": None,
            "anatomy_not_a_dict": _says(lambda found: not isinstance(found, dict)),
            "anatomy_entry_missing": _says(lambda found: set(found) != set(_FIVE)),
            "anatomy_notebooks_own_model": {"children": ["features", "heads"]},
            "anatomy_list_for_number": {"leaves": _says(lambda found: isinstance(found, list))},
            "iterator_not_list": _one_of(children=no_list, modules=no_list, buffers=no_list),
            "anatomy_modules_for_names": AnyOf(
                *({key: no_names} for key in ("children", "modules", "buffers")),
                {"children": [type(part).__name__ for part in model.children()]},
                {"modules": [type(part).__name__ for part in model.modules()]},
            ),
            "counts_root": AnyOf({"modules": _says(lambda found: "" in found)}, {"leaves": wanted["leaves"] + 1}),
            "children_for_modules": {"modules": AnyOf(children, [name for name in modules if name.count(".") < 2])},
            "modules_for_children": {"children": AnyOf(modules, ["", *modules])},
            "name_without_path": AnyOf(
                {"modules": _says(lambda found: sorted(found) == sorted(last(modules)))},
                {"parameters": {name.rpartition(".")[2]: shape for name, shape in parameters.items()}},
                {"buffers": last(buffers)},
            ),
            "anatomy_another_order": _one_of(
                children=other_order(children), modules=other_order(modules), buffers=other_order(buffers)
            ),
            "counts_branches": {"leaves": len(modules)},
            "anatomy_containers_for_branches": {"leaves": sum(not isinstance(part, containers) for part in below)},
            "anatomy_leaves_with_parameters": {
                "leaves": AnyOf(
                    sum(_is_leaf(part) and any(True for _ in part.parameters()) for part in below),
                    sum(any(True for _ in part.parameters(recurse=False)) for part in below),
                    sum(any(True for _ in part.parameters(recurse=False)) for part in model.modules()),
                )
            },
            "frozen_left_out": {"parameters": {name: shape for name, shape in parameters.items() if name != "last.bias"}},
            "anatomy_root_left_out": AnyOf(
                {"parameters": {name: shape for name, shape in parameters.items() if name != "gain"}}, {"buffers": buffers[1:]}
            ),
            "size_not_shape": {
                "parameters": AnyOf(sizes, _says(lambda found: {key: prod(one) for key, one in found.items()} == sizes))
            },
            "anatomy_parameters_in_another_form": {"parameters": no_shapes},
            "unsaved_buffers_missing": {"buffers": buffers[:-1]},
            "own_only": AnyOf(
                {"leaves": sum(_is_leaf(child) for child in model.children())},
                {"parameters": {"gain": (3,)}},
                {"buffers": ["count"]},
            ),
        }


class SharedAndEmpty(FiveEntries):
    """An object at two places counts once, under its first name, and an empty place does not."""

    modules = FiveEntries.modules.replace("A.D", "A.C.right.0 A.C.right.1")
    parameters = FiveEntries.parameters.replace(
        "A.C.left.1.weight", "A.C.left.0.bias:5 A.C.left.1.weight"
    ).replace("A.C.left.1.bias:5", "A.C.right.0.weight:1 A.C.right.1.weight:5 A.C.right.1.bias:5")
    buffers = FiveEntries.buffers.replace(
        "last", "A.C.right.1.running_mean A.C.right.1.running_var A.C.right.1.num_batches_tracked last"
    )

    def model(self, case):
        model = _Nested(self.names(case), nn.Sequential(nn.PReLU(), nn.BatchNorm1d(5)))
        linear, norm = model.get_submodule(f"{self.names(case)[0]}.{self.names(case)[2]}.left")
        norm.bias = linear.bias
        model.register_buffer("later", None)
        model.add_module("corner", linear)
        model.add_module("again", model.last)
        model.register_module("unused", None)
        model.last.register_module("unused", None)
        return model

    def truth(self, case):
        wanted = super().truth(case)
        return {**wanted, "children": [*wanted["children"], "corner"]}

    def mistakes(self, case):
        model, wanted = self.model(case), self.truth(case)
        places = dict(model.named_modules(remove_duplicate=False))
        leaves = sum(_is_leaf(part) for part in places.values())
        return {
            "absent_is_none": _one_of(
                children=_says(lambda found: "unused" in found),
                modules=_says(lambda found: any(name.endswith("unused") for name in found)),
                leaves=wanted["leaves"] - 1,
                buffers=_says(lambda found: "later" in found),
            ),
            "anatomy_child_met_before": {"children": wanted["children"][:-1]},
            "counts_twice": _one_of(
                children=[*wanted["children"], "again"],
                modules=list(places)[1:],
                leaves=AnyOf(leaves, leaves - 1),  # who walks through children() meets "again" once
                parameters=_says(lambda found: len(found) > len(wanted["parameters"])),
                buffers=_says(lambda found: len(found) > len(wanted["buffers"])),
            ),
        }


class OneLayer(FiveEntries):
    """A single layer has no modules below it, and so no leaves."""

    modules, parameters, buffers = "", "weight:2,5 bias:2", ""

    def model(self, case):
        return nn.Linear(5, 2)

    def mistakes(self, case):
        return {"counts_root": {"leaves": 1}}


check("traverse", FiveEntries, SharedAndEmpty, OneLayer)


# --- Hidden checks: graders run them, learners do not get them. ---
def _attic(case):
    """A tree of which the seed draws depth, names, sizes and order; two things stand at two places, and some are empty."""
    size, model = case.integer("hidden size", 4, 40), nn.Module()
    norm, linear = nn.BatchNorm1d(size), nn.Linear(3, size, bias=False)
    linear.register_parameter("scale", norm.weight)
    inner = nn.ReLU()
    deep = nn.Sequential(norm, inner)
    for level in range(case.integer("hidden depth", 2, 5)):
        deep = nn.Sequential(*case.shuffled(f"hidden level {level}", [deep, nn.Dropout(), nn.PReLU(level + 1)]))
    deep.register_parameter("bias", nn.Parameter(torch.ones(size)))
    pieces = case.shuffled("hidden pieces", [deep, norm, linear, nn.ModuleDict({"inner": nn.Conv1d(2, size, 3)})])
    for name, piece in zip(case.words("hidden names", 4), pieces):
        model.add_module(name, piece)
    model.add_module("corner", inner)
    model.register_module("later", None)
    linear.register_module("later", None)
    model.register_buffer("unsaved", torch.ones(2), persistent=False)
    model.register_buffer("later_buffer", None)
    model.register_parameter("frozen", nn.Parameter(torch.ones(size, 2), requires_grad=False))
    return model


class AnotherModel(Check):
    """The five entries are right for one more model."""

    claims = ("children", "modules", "leaves", "parameters", "buffers")  # the answer itself

    def probe(self, nb, case):
        return nb.function("inventory")(_attic(case))

    def truth(self, case):
        model = _attic(case)
        parts = list(model.named_modules())[1:]
        return {
            "children": [name for name, _ in model.named_children()],
            "modules": [name for name, _ in parts],
            "leaves": sum(not list(part.children()) for _, part in parts),
            "parameters": {name: tuple(one.shape) for name, one in model.named_parameters()},
            "buffers": [name for name, _ in model.named_buffers()],
        }


check("traverse", AnotherModel)
