from functools import partial

import torch
from torch import nn
from torch.utils.hooks import RemovableHandle

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close
from course.truths import ANYTHING


class Branches(nn.Module):
    """A container and all that is in it stand in two branches; the rest stands once."""

    def __init__(self):
        super().__init__()
        shared = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
        self.left = nn.Sequential(shared, nn.Linear(4, 2))
        self.right = nn.Sequential(shared, nn.Linear(4, 2), nn.Sequential(nn.Tanh()))

    def forward(self, x):
        return self.left(x) * self.right(x)


class HookingCheck(Check):
    """What the checks of this exercise share."""

    errors = {
        r"TypeError: .*(\.hook|<lambda>)\(\) (missing|takes) ": "hooked_as_another_kind",
        r"TypeError: unsupported operand type\(s\) for \*: 'NoneType'": "hook_called_at_once",
    }

    def hooks(self, model):
        return {name or "the model": len(module._forward_hooks) for name, module in model.named_modules()}

    def remove(self, handles):
        for handle in handles if isinstance(handles, (list, tuple)) else ():
            if isinstance(handle, RemovableHandle):
                handle.remove()

    def every_output_times(self, model, factor):
        """The same model without a hook, each module of which gives `factor` times as much."""

        def more(forward):
            return lambda x: forward(x) * factor

        for module in model.modules():
            module.forward = more(module.forward)
        return model


class OnceOnEach(HookingCheck):
    """Every module has the hook once, and the handles take all of them off again."""

    def probe(self, nb, case):
        model, factor, x = case.build("net", Branches), case.integer("factor", 2, 5), case.tensor("x", 5, 3)

        def hook(module, args, output):
            return output * factor

        handles = nb.function("hook_once")(model, hook)
        found = {"hook count": self.hooks(model), "output": model(x)}
        self.remove(handles)
        many = f"{len(handles)} x {type(handles[0]).__name__}" if isinstance(handles, (list, tuple)) and handles else ""
        returned = many or type(handles).__name__
        return {**found, "what is returned": returned, "hook count after removing": self.hooks(model), "output after removing": model(x)}

    def truth(self, case):
        model, factor, x = case.build("net", Branches), case.integer("factor", 2, 5), case.tensor("x", 5, 3)
        hooks, output = self.hooks(model), model(x)
        return {
            "hook count": dict.fromkeys(hooks, 1),
            "output": Close(self.every_output_times(model, factor)(x), rtol=1e-4, atol=1e-4),
            "what is returned": f"{len(hooks)} x RemovableHandle",
            "hook count after removing": dict.fromkeys(hooks, 0),
            "output after removing": output,
        }

    def mistakes(self, case):
        model = case.build("net", Branches)
        names, visits = {module: name or "the model" for name, module in model.named_modules()}, []
        model.apply(lambda module: visits.append(names[module]))
        per_visit, once = {name: visits.count(name) for name in names.values()}, dict.fromkeys(names.values(), 1)

        def only(test):
            return {"hook count": {name: int(test(module, name)) for module, name in names.items()}}

        first = {type(module): name for module, name in reversed(names.items())}
        first_visited = {type(module): name for name in reversed(visits) for module in names if names[module] == name}
        none = dict.fromkeys(names.values(), 0)
        output = self.truth(case)["output"]
        return {
            "hooked_per_visit": {"hook count": per_visit},
            "global_hook": {"hook count": none, "output": output},
            "hook_never_ran": {"hook count": none},
            "shared_left_out": only(lambda module, name: per_visit[name] == 1),
            "hooked_leaves_only": only(lambda module, name: not list(module.children())),
            "root_missing": only(lambda module, name: name != "the model"),
            "children_for_modules": AnyOf(
                only(lambda module, name: name in ("left", "right")), only(lambda module, name: name in ("left", "right", "the model"))
            ),
            "alike_taken_for_same": AnyOf(
                only(lambda module, name: name in first.values()), only(lambda module, name: name in first_visited.values())
            ),
            "hook_result_lost": {"hook count": once, "output": model(case.tensor("x", 5, 3))},
            "returns_nothing": {"hook count": once, "output": output, "what is returned": "NoneType"},
            "one_handle_kept": {"hook count": once, "output": output, "what is returned": AnyOf("RemovableHandle", "1 x RemovableHandle")},
        }


class HookedBefore(HookingCheck):
    """It works beside hooks of others, and again when its own are gone."""

    def probe(self, nb, case):
        model, x = case.build("net", Branches), case.tensor("x", 5, 3)
        hook_once, found = nb.function("hook_once"), {}
        theirs = model.right[1].register_forward_hook(lambda module, args, output: output * 7)
        for turn in ("first", "second"):
            factor = case.integer(f"{turn} factor", 2, 5)
            handles = hook_once(model, lambda module, args, output, factor=factor: output * factor)
            found[f"hook count, the {turn} time"] = self.hooks(model)
            found[f"output, the {turn} time"] = model(x)
            self.remove(handles)
        found["the hook of somebody else"] = "there" if model.right[1]._forward_hooks.pop(theirs.id, None) else "gone"
        return found

    def truth(self, case):
        found, x = {}, case.tensor("x", 5, 3)
        for turn in ("first", "second"):
            model = case.build("net", Branches)
            found[f"hook count, the {turn} time"] = {**dict.fromkeys(self.hooks(model), 1), "right.1": 2}
            linear = model.right[1].forward
            model.right[1].forward = lambda x, linear=linear: linear(x) * 7
            model = self.every_output_times(model, case.integer(f"{turn} factor", 2, 5))
            found[f"output, the {turn} time"] = Close(model(x), rtol=1e-4, atol=1e-4)
        return {**found, "the hook of somebody else": "there"}

    def mistakes(self, case):
        hooks = self.truth(case)["hook count, the first time"]
        one = dict.fromkeys(hooks, 1)
        none = {**dict.fromkeys(hooks, 0), "right.1": 1}
        return {
            "mark_outlives_hook": {"hook count, the first time": AnyOf(hooks, none), "hook count, the second time": none},
            "hooks_of_others_counted": {"hook count, the first time": one, "the hook of somebody else": "there"},
            "hooks_of_others_removed": {"hook count, the first time": one, "the hook of somebody else": ANYTHING},
        }


check("shared_modules", OnceOnEach, HookedBefore)


# --- Hidden checks: graders run them, learners do not get them. ---
def _meshed(case):
    """A layer, and a container with all that is in it, stand at several places, in an order of the seed."""
    layer, block = nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3), nn.Tanh())
    first, *rest = case.shuffled("hidden places", [layer, block, layer, block, nn.Linear(3, 3), nn.Softsign()])
    cut = case.integer("hidden cut", 1, 4)
    return nn.Sequential(first, *rest[:cut], nn.Sequential(layer, nn.Sequential(block), *rest[cut:]))


class TimesANumber(Check):
    """The hook works once on each module of one more model, and of no other, and again later."""

    def probe(self, nb, case):
        model, other = (case.build(f"hidden {name}", _meshed, case) for name in ("net", "neighbour"))
        x, found = case.tensor("hidden x", 4, 3), []
        model[0].register_forward_hook(lambda module, args, output: output * x[0])
        for turn in ("first", "second"):
            factor = case.tensor(f"hidden factor of the {turn}", 3, positive=True)
            handles = nb.function("hook_once")(model, lambda module, args, output, factor=factor: output * factor)
            found += [model(x), other(x)]
            for handle in handles:
                handle.remove()
            found.append(model(x))
        return {"outputs": found}

    def truth(self, case):
        x, found = case.tensor("hidden x", 4, 3), []
        other = case.build("hidden neighbour", _meshed, case)
        for turn in ("first", "second"):
            pair = []
            for factor in (case.tensor(f"hidden factor of the {turn}", 3, positive=True), torch.ones(3)):
                model = case.build("hidden net", _meshed, case)
                forward = model[0].forward
                model[0].forward = lambda x, forward=forward: forward(x) * case.tensor("hidden x", 4, 3)[0]
                for module in model.modules():
                    module.forward = partial(_times, module.forward, factor)
                pair.append(model(x))
            found += [pair[0], other(x), pair[1]]
        return Close({"outputs": found}, rtol=1e-3, atol=1e-3)


def _times(forward, factor, x):
    return forward(x) * factor


check("shared_modules", TimesANumber)
