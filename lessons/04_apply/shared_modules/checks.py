from torch import nn
from torch.utils.hooks import RemovableHandle

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf
from course.traces import as_before, what_runs


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

    def right(self, case, moment, everywhere=0, more=()):
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
            "what runs with the hooks": self.right(case, "hooked", 1),
            "what runs after removing": self.right(case, "afterwards"),
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
            "alike_taken_for_same": {"hooks": AnyOf(*first_of(repr), *first_of(type))},
            "returns_nothing": {"hooks": once, "returned": "NoneType"},
            "one_handle_kept": {"hooks": once, "returned": AnyOf("RemovableHandle", "1 x RemovableHandle")},
        }


class OthersHooksStay(HookingCheck):
    """Where somebody else has hooked a module before, both hooks are there afterwards."""

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
            "what runs with both hooks": self.right(case, "hooked", 1, ("left.0", "right.1")),
            "what runs after removing": self.right(case, "afterwards", 0, ("left.0", "right.1")),
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
    """On a model that was hooked before, and whose hooks were removed, every module has the next hook once."""

    def probe(self, nb, case):
        model = case.build("net", Branches)
        hook_once = nb.function("hook_once")
        first, _ = self.counter(model)
        self.remove(hook_once(model, first))
        for module in model.modules():
            module._forward_hooks.clear()
        second, calls = self.counter(model)
        hook_once(model, second)
        model(case.tensor("x", 5, 3))
        calls = dict(calls)
        return {
            "hooks of the second call": self.hooks(model),
            "calls in one run": calls,
            "what runs": self.what_runs(case, model),
        }

    def truth(self, case):
        return {
            "hooks of the second call": self.each(case, 1),
            "calls in one run": self.runs(case),
            "what runs": self.right(case, "afterwards", 1),
        }

    def mistakes(self, case):
        return {"mark_outlives_hook": {"hooks of the second call": self.each(case, 0)}}


check("shared_modules", OnceOnEach, OthersHooksStay, OnceMore)
