from functools import partial

import torch
from torch import nn
from torch.utils.hooks import RemovableHandle

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close
from course.awkward import awkward_models
from course.traces import what_runs
from course.truths import ANYTHING, as_before, such_that


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
        r"TypeError: .*\.hook\(\) (missing|takes) ": "hooked_as_another_kind",
        r"TypeError: 'NoneType' object is not callable": "hook_called_at_once",
    }

    def names(self, model):
        return {module: name or "the model" for name, module in model.named_modules()}

    def hooks(self, model):
        return {name: len(module._forward_hooks) for module, name in self.names(model).items()}

    def counter(self, model):
        """A forward hook, and the dict in which it counts the calls of each module."""
        names = self.names(model)
        calls = dict.fromkeys(names.values(), 0)

        def hook(module, args, output):
            calls[names[module]] += 1

        return hook, calls

    def remove(self, handles):
        for handle in handles if isinstance(handles, (list, tuple)) else ():
            if isinstance(handle, RemovableHandle):
                RemovableHandle.remove(handle)

    def runs(self, case):
        """How often each module runs when the model runs once, counted without hooks."""
        model = case.build("net", Branches)
        names = self.names(model)
        calls = dict.fromkeys(names.values(), 0)

        def counting(name, forward):
            def run(*args):
                calls[name] += 1
                return forward(*args)

            return run

        for module, name in names.items():
            module.forward = counting(name, module.forward)
        model(case.tensor("x", 5, 3))
        return calls

    def what_runs(self, case, model, moment="afterwards"):
        return what_runs(model, case, lambda: model(case.tensor("another x", 5, 3)).sum().backward(), moment)

    def hooked_so(self, case, moment, everywhere=0, more=()):
        """What runs with so many hooks on every module, and one more at these places."""
        model = case.build("net", Branches)
        modules = [*model.modules()] * everywhere + [model.get_submodule(name) for name in more]
        for module in modules:
            module.register_forward_hook(lambda module, args, output: None)
        return as_before(self.what_runs(case, model, moment))

    def each(self, case, number):
        return dict.fromkeys(self.names(case.build("net", Branches)).values(), number)


class OnceOnEach(HookingCheck):
    """Every module has the hook once, and removing the returned handles takes all of them off again."""

    def told(self, handles):
        if not isinstance(handles, (list, tuple)):
            return type(handles).__name__
        kinds = {type(handle).__name__ for handle in handles}
        return f"{len(handles)} x {' or '.join(sorted(kinds))}"

    def probe(self, nb, case):
        model = case.build("net", Branches)
        hook, calls = self.counter(model)
        handles = nb.function("hook_once")(model, hook)
        hooks = self.hooks(model)
        model(case.tensor("x", 5, 3))
        calls, ran = dict(calls), self.what_runs(case, model, "hooked")
        self.remove(handles)
        return {
            "hooks": hooks,
            "calls in one run": calls,
            "returned": self.told(handles),
            "hooks after removing": self.hooks(model),
            "what runs with the hooks": ran,
            "what runs after removing": self.what_runs(case, model),
        }

    def truth(self, case):
        once = self.each(case, 1)
        return {
            "hooks": once,
            "calls in one run": self.runs(case),
            "returned": f"{len(once)} x RemovableHandle",
            "hooks after removing": self.each(case, 0),
            "what runs with the hooks": self.hooked_so(case, "hooked", 1),
            "what runs after removing": self.hooked_so(case, "afterwards"),
        }

    def mistakes(self, case):
        model = case.build("net", Branches)
        names, once, none = self.names(model), self.each(case, 1), self.each(case, 0)
        per_visit, visits = dict(none), []
        model.apply(lambda module: visits.append(names[module]))
        for name in visits:
            per_visit[name] += 1

        def only(test, hooks=once):
            return {name: hooks[name] if test(module, name) else 0 for module, name in names.items()}

        def is_leaf(module, name):
            return not list(module.children())

        def first_of(key):
            first = {}
            for module, name in names.items():
                first.setdefault(key(module), name)
            last = {key(module): names[module] for module in names}
            post = {}
            for name in visits:
                post.setdefault(key(model.get_submodule(name if name != "the model" else "")), name)
            return [only(lambda module, name, kept=kept: name in kept.values()) for kept in (first, last, post)]

        top = [name for name, _ in model.named_children()]
        return {
            "hooked_per_visit": {"hooks": per_visit},
            "global_hook": {"hooks": none, "calls in one run": self.runs(case)},
            "hook_never_ran": {"hooks": none},
            "shared_left_out": {"hooks": only(lambda module, name: per_visit[name] == 1)},
            "hooked_leaves_only": {"hooks": AnyOf(only(is_leaf), only(is_leaf, per_visit))},
            "root_missing": {"hooks": only(lambda module, name: name != "the model")},
            "children_for_modules": {
                "hooks": AnyOf(only(lambda _, name: name in top), only(lambda _, name: name in (*top, "the model")))
            },
            "alike_taken_for_same": {
                "hooks": AnyOf(
                    *first_of(repr), *first_of(type), *first_of(lambda module: names[module].rpartition(".")[2])
                )
            },
            "returns_nothing": {"hooks": once, "returned": "NoneType"},
            "one_handle_kept": {"hooks": once, "returned": AnyOf("RemovableHandle", "1 x RemovableHandle")},
            "handles_not_in_a_list": {"hooks": once, "returned": such_that(lambda got: got in ("dict", "generator", "set", "dict_values"))},
            "hook_in_between": {"hooks": once, "returned": f"{len(once)} x RemovableHandle", "calls in one run": ANYTHING},
        }


class OthersHooksStay(HookingCheck):
    """If somebody else has hooked a module before, both hooks are there afterwards."""

    def probe(self, nb, case):
        model = case.build("net", Branches)
        theirs, their_calls = self.counter(model)
        model.left[0].register_forward_hook(theirs)
        model.right[1].register_forward_hook(theirs)
        hook, _ = self.counter(model)
        handles = nb.function("hook_once")(model, hook)
        hooks = self.hooks(model)
        model(case.tensor("x", 5, 3))
        their_calls, ran = dict(their_calls), self.what_runs(case, model, "hooked")
        self.remove(handles)
        return {
            "hooks": hooks,
            "hooks after removing": self.hooks(model),
            "calls of the other hook": their_calls,
            "what runs with both hooks": ran,
            "what runs after removing": self.what_runs(case, model),
        }

    def theirs(self, case, ours):
        return {**self.each(case, ours), "left.0": 1 + ours, "right.1": 1 + ours}

    def truth(self, case):
        runs = self.runs(case)
        return {
            "hooks": self.theirs(case, 1),
            "hooks after removing": self.theirs(case, 0),
            "calls of the other hook": {**self.each(case, 0), "left.0": runs["left.0"], "right.1": runs["right.1"]},
            "what runs with both hooks": self.hooked_so(case, "hooked", 1, ("left.0", "right.1")),
            "what runs after removing": self.hooked_so(case, "afterwards", 0, ("left.0", "right.1")),
        }

    def mistakes(self, case):
        return {
            "hooks_of_others_counted": {
                "hooks": self.each(case, 1),
                "calls of the other hook": self.truth(case)["calls of the other hook"],
            },
            "hooks_of_others_removed": {"hooks": self.each(case, 1)},
        }


class OnceMore(HookingCheck):
    """On a model that was hooked before, every module has the next hook once, whether the first hook was removed or not."""

    def probe(self, nb, case):
        hook_once, brought = nb.function("hook_once"), {}
        for first_hook in ("removed", "still there"):
            model = case.build("net", Branches)
            first, _ = self.counter(model)
            handles = hook_once(model, first)
            if first_hook == "removed":
                self.remove(handles)
                for module in model.modules():
                    module._forward_hooks.clear()
            second, calls = self.counter(model)
            hook_once(model, second)
            model(case.tensor("x", 5, 3))
            brought[f"calls of the second hook, the first one {first_hook}"] = dict(calls)
            brought[f"what runs, the first one {first_hook}"] = self.what_runs(case, model)
        model = case.build("net", Branches)
        again, calls = self.counter(model)
        self.remove(hook_once(model, again))
        hook_once(model, again)
        model(case.tensor("x", 5, 3))
        brought["calls of the same hook once more"] = dict(calls)
        brought["what runs, the same hook once more"] = self.what_runs(case, model)
        model = case.build("net", Branches)
        hook_once(model, lambda module, args, output: output * 3 if isinstance(module, nn.Linear) else None)
        brought["output in eval mode"] = model.eval()(case.tensor("x", 5, 3))
        model = case.build("net", Branches)
        handles = hook_once(model, lambda module, args, output: output * 2 if isinstance(module, nn.Linear) else None)
        hook_once(model, lambda module, args, output: output + 1 if isinstance(module, nn.Linear) else None)
        self.remove(handles)
        return {**brought, "output with the second hook, the first one taken off by its handles": model(case.tensor("x", 5, 3))}

    def tripled(self, case):
        """The output where every Linear gives three times as much."""
        model = case.build("net", Branches)
        with torch.no_grad():
            for module in model.modules():
                for one in module.parameters(recurse=False):
                    one *= 3
        return model(case.tensor("x", 5, 3))

    def truth(self, case):
        model = case.build("net", Branches)
        with torch.no_grad():
            for module in model.modules():
                if isinstance(module, nn.Linear):
                    module.bias += 1
        return {
            "calls of the second hook, the first one removed": self.runs(case),
            "what runs, the first one removed": self.hooked_so(case, "afterwards", 1),
            "calls of the second hook, the first one still there": self.runs(case),
            "what runs, the first one still there": self.hooked_so(case, "afterwards", 2),
            "calls of the same hook once more": self.runs(case),
            "what runs, the same hook once more": self.hooked_so(case, "afterwards", 1),
            "output in eval mode": self.tripled(case),
            "output with the second hook, the first one taken off by its handles": model(case.tensor("x", 5, 3)),
        }

    blame = {
        "output with the second hook, the first one taken off by its handles": "shared_list",
        "output in eval mode": "hook_in_between",
    }

    def mistakes(self, case):
        none = self.each(case, 0)
        return {
            "mark_outlives_hook": AnyOf(
                {"calls of the second hook, the first one removed": none},
                {"calls of the second hook, the first one still there": none},
                {"calls of the same hook once more": none, "what runs, the same hook once more": self.hooked_so(case, "afterwards")},
            )
        }


class Product(nn.Module):
    """Takes a pair of tensors."""

    def forward(self, pair):
        return pair[0] * pair[1]


class AnyForwardHook(HookingCheck):
    """`hook` gets what any forward hook gets, the module, its inputs and its output; what it returns replaces the output."""

    blame = {"output": "hook_in_between", "output where the hook makes a pair of a tensor": "hook_result_lost"}

    def hook(self, module, args, output):
        """Changes the output of a Linear by what it returns, and that of a Tanh in place."""
        if isinstance(module, nn.Linear):
            return output + args[0].mean() * module.in_features
        if isinstance(module, nn.Tanh):
            with torch.no_grad():
                output.mul_(3)
        return None

    def probe(self, nb, case):
        model = case.build("net", Branches)
        nb.function("hook_once")(model, self.hook)
        pairs, x = nn.Sequential(nn.Tanh(), Product()), case.tensor("x", 5, 3)
        nb.function("hook_once")(pairs, lambda module, args, output: (output, *args) if module is pairs[0] else None)
        return {"output": model(x), "output where the hook makes a pair of a tensor": pairs(x)}

    def output(self, case, linear, tanh):
        """The model's output where these are the forwards of its Linear layers and of its Tanhs."""
        model = case.build("net", Branches)
        for module in model.modules():
            if isinstance(module, nn.Linear):
                module.forward = partial(linear, module)
            if isinstance(module, nn.Tanh):
                module.forward = tanh
        return {"output": model(case.tensor("x", 5, 3))}

    def truth(self, case):
        def hooked(linear, x):
            return nn.Linear.forward(linear, x) + x.mean() * linear.in_features

        x = case.tensor("x", 5, 3)
        return {
            **self.output(case, hooked, lambda x: torch.tanh(x) * 3),
            "output where the hook makes a pair of a tensor": torch.tanh(x) * x,
        }

    def mistakes(self, case):
        return {"hook_result_lost": self.output(case, nn.Linear.forward, lambda x: torch.tanh(x) * 3)}


class AnyModel(HookingCheck):
    """It works on any model: a layer with two names, names that look alike, an empty place, two modes, one layer alone."""

    cases = 1
    blame = {"hooks": "module_left_out"}

    def hooked(self, case, hook_once):
        hooks, ran = {}, {}
        kinds = ("shared", "none_place", "look_alike", "mixed_modes", "the_layer")
        for says, (model, x) in awkward_models(case, *kinds).items():
            hook_once(model, lambda module, args, output: None)
            hooks[says] = self.hooks(model)
            ran[says] = what_runs(model, case, lambda: model(x))
        return {"hooks": hooks, "what runs": ran}

    def probe(self, nb, case):
        return self.hooked(case, nb.function("hook_once"))

    def truth(self, case):
        def on_each(model, hook):
            for module in model.modules():
                module.register_forward_hook(hook)

        wanted = self.hooked(case, on_each)
        return {**wanted, "what runs": {says: as_before(number) for says, number in wanted["what runs"].items()}}


check("shared_modules", OnceOnEach, OthersHooksStay, AnyForwardHook, OnceMore, AnyModel)


# --- Hidden checks: graders run them, learners do not get them. ---
class Thrice(nn.Module):
    """One layer stands at three places, on two levels."""

    def __init__(self):
        super().__init__()
        one = nn.Linear(3, 3)
        self.first = nn.Sequential(one, nn.Sequential(one))
        self.second = nn.ModuleDict({"one": one, "act": nn.Tanh()})

    def forward(self, x):
        return self.first(x) - self.second["act"](self.second["one"](x))


class TimesANumber(Check):
    """The hook works once on each module of one more model, and is gone with its handles."""

    def probe(self, nb, case):
        model, factor = case.build("hidden net", Thrice), case.tensor("hidden factor", 1, positive=True)
        handles = nb.function("hook_once")(model, lambda module, args, output: output * factor)
        hooked = model(case.tensor("hidden x", 4, 3))
        for handle in handles:
            handle.remove()
        return {"output": hooked, "output without the hook": model(case.tensor("hidden x", 4, 3))}

    def truth(self, case):
        model, factor = case.build("hidden net", Thrice), case.tensor("hidden factor", 1, positive=True)
        linear, x = model.second["one"], case.tensor("hidden x", 4, 3)
        once = linear(x) * factor
        first = linear(once) * factor**3  # by itself, in the inner Sequential, in the outer one
        hooked = (first - torch.tanh(once) * factor) * factor
        return Close({"output": hooked, "output without the hook": model(x)}, rtol=1e-3, atol=1e-3)


check("shared_modules", TimesANumber)
