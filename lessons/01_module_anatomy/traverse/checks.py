from math import prod

import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from nbproof.values.evidence import TensorRecord, Unreadable
from course.awkward import KINDS, awkward_models
from course.traces import attributes_on, what_runs
from course.truths import as_before

_FIVE = ("children", "modules", "leaves", "parameters", "buffers")


class _Pair(nn.Module):
    """Two modules under two names: a branch of the tree that is no container of PyTorch's, and has a parameter itself."""

    def __init__(self, left, right):
        super().__init__()
        self.left, self.right = left, right
        self.balance = nn.Parameter(torch.ones(2))


class _Nested(nn.Module):
    """Four levels, with the given names; ``shared`` is None or a module for two places."""

    def __init__(self, names, shared=None, bias=True):
        super().__init__()
        first, second, third, fourth = names
        body = nn.Sequential(nn.Linear(4, 5, bias=bias), nn.BatchNorm1d(5))
        self.add_module(first, nn.ModuleDict({third: _Pair(body, shared or nn.ReLU()), fourth: shared or nn.Tanh()}))
        self.add_module(second, _Pair(nn.Linear(5, 2), nn.Sequential(nn.Sequential(nn.Dropout()), nn.Sequential(nn.ReLU()))))
        self.add_module("spare", _Pair(nn.ModuleList(), nn.Conv1d(2, 3, 4)))
        self.add_module("last", nn.Identity())
        self.register_parameter("gain", nn.Parameter(torch.ones(3), requires_grad=False))
        self.register_buffer("count", torch.zeros(2))


def _names(case):
    return sorted(case.words("names", 4), reverse=True)  # an inventory is in the model's order, not in the alphabet's


def _inventory(modules, parameters, buffers, names=()):
    """The five entries of a model, from names that are written down, each with its shape behind a colon: A to D are names of the case.

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
        "parameters": {name: tuple(map(int, sizes.split(",") if sizes else ())) for name, sizes in shapes},
        "buffers": words(buffers),
    }


def _is_leaf(module):
    return all(child is None for child in module._modules.values())


def _leaves_reached(module):
    """How many leaves a recursion through ``children()`` counts, which shows each child of one parent once."""
    return sum(_leaves_reached(child) for child in module.children()) or 1


def _says(test):
    """For mistakes: an entry, or the whole result, of which ``test`` says yes."""
    return Matches(lambda found: None if test(found) else "something else", "this mistake")


def _one_of(**entries):
    """For mistakes: one of these entries is as given, the others are not asked about."""
    return AnyOf(*({key: value} for key, value in entries.items()))


class FiveEntries(Check):
    """The five entries are right for a model with several levels. What has no children is a leaf, also an empty container."""

    claims = ("children", "modules", "leaves", "parameters", "buffers")  # the answer itself
    errors = {
        r"NameError: name '(net|shared|tiny|order|steps)'": "anatomy_notebooks_own_model",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
        r"TypeError: inventory\(\) (takes|got|missing)": "anatomy_other_signature",
    }

    bias = True
    modules = (
        "A A.C A.C.left A.C.left.0 A.C.left.1 A.C.right A.D "
        "B B.left B.right B.right.0 B.right.0.0 B.right.1 B.right.1.0 spare spare.left spare.right last"
    )
    parameters = (
        "gain:3 A.C.balance:2 A.C.left.0.weight:5,4 A.C.left.0.bias:5 A.C.left.1.weight:5 A.C.left.1.bias:5 "
        "B.balance:2 B.left.weight:2,5 B.left.bias:2 spare.balance:2 spare.right.weight:3,2,4 spare.right.bias:3"
    )
    buffers = "count A.C.left.1.running_mean A.C.left.1.running_var A.C.left.1.num_batches_tracked"

    def model(self, case):
        model = _Nested(_names(case), self.shared(), self.bias)
        self.change(model, case)
        return model

    def shared(self):
        """What stands at several places."""

    def change(self, model, case):
        """What makes the model one of another kind."""

    def probe(self, nb, case):
        return nb.function("inventory")(self.model(case))

    def truth(self, case):
        return _inventory(self.modules, self.parameters, self.buffers, _names(case))

    def mistakes(self, case):
        model, wanted = self.model(case), self.truth(case)
        children, modules, leaves = wanted["children"], wanted["modules"], wanted["leaves"]
        parameters, buffers = wanted["parameters"], wanted["buffers"]
        below = list(model.modules())[1:]
        kinds = [type(part).__name__ for part in below]
        sizes = {name: prod(shape) for name, shape in parameters.items()}
        containers = (nn.Sequential, nn.ModuleList, nn.ModuleDict)

        def last(names):
            return [name.rpartition(".")[2] for name in names]

        def other_order(names):
            return _says(lambda found: sorted(found) == sorted(names))

        lists = {
            key: _says(lambda found: isinstance(found, (dict, str, Unreadable)))
            for key in ("children", "modules", "buffers")
        }
        not_names = _says(lambda found: not all(isinstance(one, str) for one in found))
        return {
            "returns_nothing": None,
            "anatomy_entry_missing": _says(lambda found: isinstance(found, dict) and set(found) != set(_FIVE)),
            "anatomy_not_a_dict": _says(lambda found: not isinstance(found, dict)),
            "anatomy_notebooks_own_model": {"children": ["features", "heads"]},
            "iterator_not_list": _one_of(**lists),
            "anatomy_modules_for_names": AnyOf(
                *({key: not_names} for key in ("children", "modules", "buffers")),
                {"modules": AnyOf(kinds, [type(model).__name__, *kinds])},
            ),
            "counts_root": AnyOf(
                {"modules": _says(lambda found: "" in found)},
                {"children": _says(lambda found: "" in found)},
                {"children": children, "modules": modules, "leaves": leaves + 1},
            ),
            "anatomy_kept_between_calls": {
                "children": _says(lambda found: len(found) > len(children) and found[-len(children) :] == children)
            },
            "anatomy_looks_among_attributes": _one_of(children=[], modules=[], buffers=[]),
            "children_for_modules": {
                "modules": AnyOf(children, children + [name for name in modules if name.count(".") == 1])
            },
            "modules_for_children": {"children": AnyOf(modules, ["", *modules])},
            "name_without_path": AnyOf(
                {"modules": _says(lambda found: sorted(found) == sorted(last(modules)))},
                {"parameters": {name.rpartition(".")[2]: shape for name, shape in parameters.items()}},
                {"buffers": last(buffers)},
            ),
            "anatomy_another_order": _one_of(
                children=other_order(children), modules=other_order(modules), buffers=other_order(buffers)
            ),
            "anatomy_list_for_number": {"leaves": _says(lambda found: isinstance(found, list))},
            "anatomy_iterator_is_true": {"leaves": 0},
            "counts_branches": {"leaves": len(modules)},
            "anatomy_containers_for_branches": {
                "leaves": AnyOf(sum(not isinstance(part, containers) for part in below), leaves - 1)
            },
            "anatomy_leaves_with_parameters": {
                "leaves": AnyOf(
                    sum(_is_leaf(part) and any(True for _ in part.parameters()) for part in below),
                    sum(any(True for _ in part.parameters(recurse=False)) for part in model.modules()),
                    sum(any(True for _ in part.parameters(recurse=False)) for part in below),
                    sum(_is_leaf(part) or any(True for _ in part.parameters(recurse=False)) for part in below),
                )
            },
            "anatomy_leaves_by_name": {"leaves": sum("." in name for name in modules)},
            "frozen_left_out": {"parameters": {name: shape for name, shape in parameters.items() if name != "gain"}},
            "size_not_shape": {
                "parameters": AnyOf(
                    {name: p.numel() for name, p in model.named_parameters()},
                    {name: [p.numel()] for name, p in model.named_parameters()},
                    _says(lambda found: {name: prod(shape) for name, shape in found.items()} == sizes),
                )
            },
            "anatomy_frozen_as_buffer": {"buffers": _says(lambda found: "gain" in found)},
            "anatomy_buffers_among_parameters": {"parameters": _says(lambda found: "count" in found)},
            "anatomy_parameters_in_another_form": {
                "parameters": _says(
                    lambda found: (
                        not isinstance(found, dict)
                        or any(isinstance(shape, (str, TensorRecord)) for shape in found.values())
                    )
                )
            },
            "own_only": AnyOf(
                {"leaves": AnyOf(sum(_is_leaf(child) for child in model.children()), len(children))},
                {"parameters": {"gain": (3,)}},
                {"buffers": ["count"]},
            ),
        }


class SharedModule(FiveEntries):
    """A module, a parameter or a buffer that stands at two places counts once, under its first name."""

    modules = FiveEntries.modules.replace("A.D", "A.C.right.0 A.C.right.1").replace("spare ", "B.other spare ") + " box"
    parameters = FiveEntries.parameters.replace(
        "A.C.left.1.bias:5", "A.C.right.0.weight:1 A.C.right.1.weight:5 A.C.right.1.bias:5 B.other.weight:5 B.other.bias:5"
    ) + " last.mirror:2"
    buffers = FiveEntries.buffers + (
        " A.C.right.1.running_mean A.C.right.1.running_var A.C.right.1.num_batches_tracked"
        " B.other.running_var B.other.num_batches_tracked last.echo"
    )

    def truth(self, case):
        wanted = super().truth(case)
        wanted["children"].insert(-1, "apart")  # of the modules it is known under another name
        return {**wanted, "leaves": wanted["leaves"] - 1}  # what stands in the box is, too

    def shared(self):
        return nn.Sequential(nn.PReLU(), nn.BatchNorm1d(5))

    def change(self, model, case):
        linear, norm = model.get_submodule(f"{_names(case)[0]}.{_names(case)[2]}.left")
        norm.bias = linear.bias
        other = nn.BatchNorm1d(5)
        other.running_mean = norm.running_mean
        model.get_submodule(_names(case)[1]).add_module("other", other)
        model.add_module("twin", model.get_submodule(_names(case)[1]))
        model.last.register_parameter("mirror", nn.Parameter(model.spare.balance.data))  # an object of its own
        model.last.register_buffer("echo", model.count.view(-1))
        model.add_module("apart", model.spare.right)  # it stands deeper, too, and earlier
        model.add_module("box", nn.Sequential(model.spare.right))  # its only child has another name

    def mistakes(self, case):
        model = self.model(case)
        places = dict(model.named_modules(remove_duplicate=False))
        return {
            "anatomy_children_by_name": {"children": [name for name, _ in model.named_modules() if name and "." not in name]},
            "anatomy_leaves_by_name": {"leaves": self.truth(case)["leaves"] + 1},
            "anatomy_memory_for_object": _one_of(
                parameters=_says(lambda found: "last.mirror" not in found),
                buffers=_says(lambda found: "last.echo" not in found),
            ),
            "counts_twice": _one_of(
                modules=list(places)[1:],
                leaves=AnyOf(sum(_is_leaf(part) for part in places.values()), _leaves_reached(model)),
                children=[name for name in places if name and "." not in name],
                parameters=_says(lambda found: len(found) > len(dict(model.named_parameters()))),
                buffers=_says(lambda found: len(found) > len(dict(model.named_buffers()))),
            ),
        }


class EmptyAndUnsaved(FiveEntries):
    """An empty place is not listed; a buffer that is not saved is, and so are tensors with one number, or with none."""

    errors = {**FiveEntries.errors, r"AttributeError: 'NoneType' object": "absent_is_none"}
    blame = {"buffers": "unsaved_buffers_missing"}

    bias = False
    modules = FiveEntries.modules + " hull hull.0 shell shell.0 cover cover.0 room bare"
    parameters = FiveEntries.parameters.replace("A.C.left.0.bias:5 ", "") + " last.factor: last.rows:0,3"
    buffers = FiveEntries.buffers.replace("count", "count cache") + " last.seen"

    def change(self, model, case):
        model.register_buffer("cache", torch.ones(1), persistent=False)
        model.register_buffer("later", None)
        model.register_module("unused", None)
        model.get_submodule(_names(case)[1]).left.register_module("unused", None)
        model.last.register_parameter("factor", nn.Parameter(torch.tensor(2.0)))
        model.last.register_parameter("rows", nn.Parameter(torch.empty(0, 3)))
        model.last.register_buffer("seen", torch.empty(0))
        model.add_module("hull", nn.Sequential(nn.ModuleList()))
        model.add_module("shell", nn.Sequential(nn.Sequential()))
        model.add_module("cover", nn.Sequential(nn.ModuleDict()))
        model.add_module("room", nn.Sequential())
        model.add_module("bare", nn.Sequential())
        model.bare.register_module("unused", None)

    def mistakes(self, case):
        wanted = self.truth(case)
        return {
            "anatomy_empty_is_false": _one_of(
                children=[name for name in wanted["children"] if name != "room"],
                modules=_says(lambda found: "room" not in found),
                leaves=AnyOf(*(wanted["leaves"] + number for number in (1, 2, 3))),
            ),
            "absent_is_none": _one_of(
                children=_says(lambda found: "unused" in found),
                modules=_says(lambda found: any(name.endswith("unused") for name in found)),
                leaves=AnyOf(wanted["leaves"] - 1, wanted["leaves"] - 2, wanted["leaves"] - 3),
                buffers=_says(lambda found: "later" in found),
            ),
            "size_not_shape": {"parameters": _says(lambda found: found["last.factor"] != () and "last.rows" in found)},
            "anatomy_tensors_left_out": {
                "parameters": {name: shape for name, shape in wanted["parameters"].items() if name != "last.rows"}
            },
        }


class OtherModels(FiveEntries):
    """Models of other kinds, down to a single layer, which has no parts, and one that changes. Each stays as it was."""

    kinds = {
        "shared": "counts_twice",
        "tied": "counts_twice",
        "partly_frozen": "frozen_left_out",
        "none_place": "absent_is_none",
        "look_alike": "anatomy_leaves_by_name",
        "the_layer": "counts_root",
    }
    claims = (*(KINDS[kind].says for kind in kinds), "a model that has changed since the last call")
    written = {
        "shared": (
            "first relu body body.0 head",
            "first.weight:4,4 first.bias:4 body.0.weight:4,4 body.0.bias:4 head.weight:3,4 head.bias:3",
        ),
        "tied": ("encoder tanh decoder", "encoder.weight:4,4 encoder.bias:4 decoder.bias:4"),
        "partly_frozen": ("0 1 2 3 4", "0.weight:5,4 0.bias:5 2.weight:5,5 2.bias:5 4.weight:3,5 4.bias:3"),
        "none_place": ("enter relu leave", "enter.weight:5,4 enter.bias:5 leave.weight:3,5"),
        "look_alike": (
            "fc fc1 fc10 relu block block.fc block.relu1 my_block my_block.fc my_block.relu my_block.fc1",
            "fc.weight:4,4 fc.bias:4 fc1.weight:4,4 fc1.bias:4 fc10.weight:4,4 fc10.bias:4 block.fc.weight:4,4 "
            "block.fc.bias:4 my_block.fc.weight:4,4 my_block.fc.bias:4 my_block.fc1.weight:3,4 my_block.fc1.bias:3",
        ),
        "the_layer": ("", "weight:3,4 bias:3"),
        "mixed_modes": (
            "0 1 2 2.0 2.1 2.2 2.2.0 2.2.1 3",
            "0.weight:5,4 0.bias:5 2.0.weight:5,5 2.0.bias:5 2.2.1.weight:5,5 2.2.1.bias:5 3.weight:3,5 3.bias:3",
        ),
    }
    blame = {
        **{KINDS[kind].says: hint for kind, hint in kinds.items()},
        **{f"{what} afterwards": "anatomy_changes_the_rest" for what in ("outputs", "names", "attributes")},
        **{f"what runs afterwards in {KINDS[kind].says}": "anatomy_changes_the_rest" for kind in ("partly_frozen", "mixed_modes")},
        "a model that has changed since the last call": "anatomy_kept_between_calls",
    }

    def probe(self, nb, case):
        models = awkward_models(case, *self.written)
        found = {says: nb.function("inventory")(model) for says, (model, _) in models.items()}
        changing = self.model(case)
        nb.function("inventory")(changing)
        self.grow(changing)
        found["a model that has changed since the last call"] = nb.function("inventory")(changing)
        return {**found, **self.afterwards(models, case), **self.runs(models, case)}

    def grow(self, model):
        """An arm more, which reaches down to a seventh level."""
        arm = nn.Tanh()
        for _ in range(6):
            arm = nn.Sequential(arm)
        model.add_module("arm", arm)

    def truth(self, case):
        models = awkward_models(case, *self.written)
        wanted = {KINDS[kind].says: _inventory(*names, "") for kind, names in self.written.items()}
        grown = " ".join([self.modules, *(f"arm{number * '.0'}" for number in range(7))])
        changed = _inventory(grown, self.parameters, self.buffers, _names(case))
        wanted["a model that has changed since the last call"] = changed
        runs = {what: as_before(number) for what, number in self.runs(models, case).items()}
        return {**wanted, **self.afterwards(models, case), **runs}

    def afterwards(self, models, case):
        """What the models compute, and the names that they know, empty places too."""
        outputs = {says: model(x) for says, (model, x) in models.items()}
        names = {key: case.tensor(key, 2) for key in models[KINDS["none_place"].says][0]._modules}
        attributes = {says: attributes_on(model, case) for says, (model, _) in models.items()}
        return {"outputs afterwards": outputs, "names afterwards": names, "attributes afterwards": attributes}

    def runs(self, models, case):
        found = {}
        for kind in ("partly_frozen", "mixed_modes"):
            model, x = models[KINDS[kind].says]
            run = what_runs(model, case, lambda: model(x.detach().requires_grad_()).sum().backward())
            found[f"what runs afterwards in {KINDS[kind].says}"] = run
        return found

    def mistakes(self, case):
        deepest = "arm" + ".0" * 6
        misses = _says(lambda found: "arm.0" in found["modules"] and deepest not in found["modules"])
        return {"children_for_modules": {"a model that has changed since the last call": misses}}


check("traverse", FiveEntries, EmptyAndUnsaved, SharedModule, OtherModels)


# --- Hidden checks: graders run them, learners do not get them. ---
class _Attic(nn.Module):
    """Of two rooms the second holds something of the first one, and a row of layers."""

    def __init__(self, names, layers, size):
        super().__init__()
        first, second, third = names
        norm = nn.BatchNorm1d(size, track_running_stats=False)
        norm.register_buffer(third, torch.ones(2))
        self.add_module(first, nn.ModuleDict({second: nn.Sequential(norm), third: nn.Linear(3, size, bias=False)}))
        self.add_module(second, nn.ModuleList([norm, *(nn.ReLU() for _ in range(layers))]))


class AnotherModel(Check):
    """The five entries are right for one more model."""

    claims = ("children", "modules", "leaves", "parameters", "buffers")  # the answer itself

    def probe(self, nb, case):
        names, layers = case.words("hidden names", 3), case.integer("hidden layers", 3, 8)
        return nb.function("inventory")(_Attic(names, layers, case.integer("hidden size", 4, 40)))

    def truth(self, case):
        first, second, third = case.words("hidden names", 3)
        layers, size = case.integer("hidden layers", 3, 8), case.integer("hidden size", 4, 40)
        norm, linear = f"{first}.{second}.0", f"{first}.{third}"
        row = [f"{second}.{number}" for number in range(1, layers + 1)]
        return {
            "children": [first, second],
            "modules": [first, f"{first}.{second}", norm, linear, second, *row],
            "leaves": 2 + layers,
            "parameters": {f"{norm}.weight": (size,), f"{norm}.bias": (size,), f"{linear}.weight": (size, 3)},
            "buffers": [f"{norm}.{third}"],
        }


check("traverse", AnotherModel)
