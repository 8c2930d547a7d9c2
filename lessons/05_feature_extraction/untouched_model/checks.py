import contextlib

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.awkward import awkward_models
from course.models import TinyResNet
from course.probing import hook_counts, single_calls
from course.traces import what_runs
from course.truths import ANYTHING, as_before

ERRORS = {
    r"TypeError: 'generator' object does not support the context manager": "feat_no_context_manager",
    r"AttributeError: __enter__": "feat_no_context_manager",
    r"TypeError: 'NoneType' object (is not an iterator|does not support the context manager)": "feat_no_yield",
    r"RuntimeError: generator didn't (yield|stop)": "feat_no_yield",
    r"AttributeError: '\w+' object has no attribute '\w+(\.\w+)+'": "dotted_name",
    r"KeyError: '\w+(\.\w+)+'": "dotted_name",
    r"AttributeError: 'NoneType' object has no attribute '(register_forward_hook|_modules|training|eval|train|modules|children)'": "feat_empty_place",
}
AFTER = {
    "in training mode after": "feat_mode_lost",
    "buffers after": "feat_statistics",
    "requires_grad after": "feat_freezes",
    "autograd records after": "feat_grad_mode",
}


def looks_on(module, args, output):
    """A hook that changes nothing."""


def training(model):
    """Whether each module is in training mode; the model itself is called "model"."""
    return {name or "model": module.training for name, module in model.named_modules()}


def state(model, x, case, known=lambda number: number):
    """What a guest must leave as it was: what the model says, and what shows when it runs."""
    return {
        "in training mode after": training(model),
        "hooks after, 1 before": sum(hook_counts(model).values()),
        "buffers after": {name: buffer.clone() for name, buffer in model.named_buffers()},
        "requires_grad after": {name: one.requires_grad for name, one in model.named_parameters()},
        "autograd records after": torch.is_grad_enabled(),
        "what runs in model(x) after": known(what_runs(model, case, lambda: passes(model, x))),
    }


def passes(model, x):
    """Forward, and backward as far as autograd records."""
    output = model(x)
    with contextlib.suppress(RuntimeError):  # nothing was recorded
        output.sum().backward()


class Inside(Check):
    """Within `with looking_at(model, hooks):` the hooks run, every module is in eval mode, and autograd records nothing."""

    errors = ERRORS
    blame = {"model(x) requires a gradient": "feat_eval_is_not_no_grad", "what the hooks got": "feat_hooks_silent"}

    def given(self, case):
        return case.build("net", TinyResNet).train(), case.tensor("x", 2, 3, *case.shape("size", 2, 6, 9))

    def probe(self, nb, case):
        model, x = self.given(case)
        got = {}
        hooks = {
            "conv1": lambda module, args, output: got.update(conv1=output.detach().clone()),
            "block.conv2": lambda module, args, output: got.update({"block.conv2": output.detach().clone()}),
        }
        with nb.function("looking_at")(model, hooks):
            modes, trainable = training(model), sum(one.requires_grad for one in model.parameters())
            ran = what_runs(model, case, lambda: passes(model, x.requires_grad_()))
            got.clear()
            output = model(x)
        return {
            "in training mode inside": modes,
            "model(x)": output,
            "model(x) requires a gradient": output.requires_grad,
            "trainable parameters inside": trainable,
            "what the hooks got": got,
            "what runs inside": ran,
        }

    def runs(self, case):
        """What runs with two hooks, in eval mode, and without autograd."""
        model, x = self.given(case)
        for name in ("conv1", "block.conv2"):
            model.get_submodule(name).register_forward_hook(lambda module, args, output: None)
        model.eval()
        with torch.no_grad():
            return what_runs(model, case, lambda: passes(model, x.requires_grad_()))

    def truth(self, case):
        model, x = self.given(case)
        model.eval()
        middle = torch.relu(model.bn1(model.conv1(x)))
        inner = torch.relu(model.block.bn1(model.block.conv1(middle)))
        features = {"conv1": model.conv1(x), "block.conv2": model.block.conv2(inner)}
        return {
            "in training mode inside": dict.fromkeys(training(model), False),
            "model(x)": Close(model(x), rtol=1e-4, atol=1e-4),
            "model(x) requires a gradient": False,
            "trainable parameters inside": ANYTHING,
            "what the hooks got": {name: Close(value, rtol=1e-4, atol=1e-4) for name, value in features.items()},
            "what runs inside": as_before(self.runs(case)),
        }

    def mistakes(self, case):
        model, _ = self.given(case)
        everything = training(model)

        def modes(test):
            return {"in training mode inside": Matches(lambda got: None if test(got.values()) else "no", "these modes")}

        return {
            "feat_on_a_copy": {"in training mode inside": everything, "what the hooks got": {}},
            "feat_no_grad_is_not_eval": modes(all),
            "feat_some_modules_only": modes(any),
            "feat_freezes": {"model(x) requires a gradient": True, "trainable parameters inside": 0},
        }


class Afterwards(Check):
    """After the block the model's modes, hooks, buffers and `requires_grad` are what they were before."""

    errors = ERRORS
    blame = AFTER

    def given(self, case):
        model = case.build("net", TinyResNet).train()
        model.conv1.requires_grad_(False)
        return model, case.tensor("x", 2, 3, *case.shape("size", 2, 6, 9))

    def probe(self, nb, case):
        model, x = self.hooked(case)
        with nb.function("looking_at")(model, dict.fromkeys(["bn1", "block.conv2", "fc"], looks_on)):
            model(x)
        return state(model, x, case)

    def hooked(self, case):
        model, x = self.given(case)
        model.bn1.register_forward_hook(lambda module, args, output: None)
        return model, x

    def truth(self, case):
        return state(*self.hooked(case), case, as_before)

    def mistakes(self, case):
        return {
            "removes_other_hooks": {"hooks after, 1 before": 0},
            "feat_hook_left": {"hooks after, 1 before": Matches(lambda got: None if got > 1 else "no", "more")},
        }


class EachInItsOwnMode(Afterwards):
    """If modules were in different modes, each one is in its own again."""

    blame = {**AFTER, "in training mode after": "feat_one_mode_for_all"}

    def given(self, case):
        model, x = super().given(case)
        names = case.shuffled("frozen", ["bn1", "block.bn1", "block.bn2", "block.relu", "pool"])
        for name in names[:2]:
            model.get_submodule(name).eval()
        model.block.training = False  # and most of its children are in training mode
        return model, x


class AfterAnError(Afterwards):
    """If the block ends with an error, it reaches the caller, and the model is as it was all the same."""

    blame = {**AFTER, "the error reaches the caller": "feat_error_swallowed"}

    def probe(self, nb, case):
        model, x = self.hooked(case)
        reached = "nothing"
        try:
            with nb.function("looking_at")(model, dict.fromkeys(["bn1", "block.conv2", "fc"], looks_on)):
                model(x)
                raise ZeroDivisionError(case.words("error", 1)[0])
        except ZeroDivisionError as error:
            reached = str(error)
        return {"the error reaches the caller": reached, **state(model, x, case)}

    def truth(self, case):
        return {"the error reaches the caller": case.words("error", 1)[0], **super().truth(case)}

    def mistakes(self, case):
        more = Matches(lambda got: None if got > 1 else "no", "more")
        none = Matches(lambda got: "no" if any(got.values()) else None, "no module in training mode")
        return {
            "removes_other_hooks": {"hooks after, 1 before": 0},
            "feat_error_skips": AnyOf({"in training mode after": none}, {"hooks after, 1 before": more}),
        }


def two_layers():
    return nn.Sequential(nn.Linear(4, 5), nn.Sequential(nn.Tanh(), nn.Dropout(0.5)), nn.Linear(5, 3))


class WhatTheBlockDoes(Check):
    """A hook's value replaces the output; modes that the block sets are put back; a hook that somebody adds meanwhile stays."""

    cases = 1
    errors = ERRORS
    blame = {**AFTER, "model(x), where a hook doubles an output": "hook_returns_nothing", "hooks after": "removes_other_hooks"}

    def given(self, case):
        model = case.build("net", two_layers).train()
        model[1].eval()
        return model, case.tensor("x", 3, 4)

    def probe(self, nb, case):
        model, x = self.given(case)
        with nb.function("looking_at")(model, {"0": lambda module, args, output: output * 2}):
            output = model(x)
            model.train()
            model[2].register_forward_hook(looks_on)
        return {"model(x), where a hook doubles an output": output, **self.after(model, x, case)}

    def after(self, model, x, case, known=lambda number: number):
        found = state(model, x, case, known)
        return {"hooks after": found.pop("hooks after, 1 before"), **found}

    def truth(self, case):
        model, x = self.given(case)
        model[2].register_forward_hook(looks_on)
        output = model[2](torch.tanh(model[0](x) * 2)).detach()
        return {"model(x), where a hook doubles an output": output, **self.after(model, x, case, as_before)}

    def mistakes(self, case):
        return {"feat_hook_left": {"hooks after": Matches(lambda got: None if got > 1 else "no", "more")}}


class AnyError(Check):
    """Whatever the error is, it reaches the caller, and the model is as it was."""

    cases = 1
    errors = ERRORS
    kinds = (KeyError, AttributeError, ValueError, TypeError, RuntimeError, StopIteration, KeyboardInterrupt)

    def given(self, case):
        return case.build("net", two_layers).train(), case.tensor("x", 3, 4)

    def probe(self, nb, case):
        reached, model, x = {}, *self.given(case)
        for kind, word in zip(self.kinds, case.words("errors", len(self.kinds))):
            reached[kind.__name__] = "nothing"
            try:
                with nb.function("looking_at")(model, {"0": looks_on, "1.0": looks_on}):
                    raise kind(word)
            except kind as error:
                reached[kind.__name__] = error.args[0]
        return {"what reaches the caller": reached, **state(model, x, case)}

    def truth(self, case):
        words = case.words("errors", len(self.kinds))
        reached = {kind.__name__: word for kind, word in zip(self.kinds, words)}
        return {"what reaches the caller": reached, **state(*self.given(case), case, as_before)}

    def mistakes(self, case):
        more = Matches(lambda got: None if got else "no", "more")
        silent = Matches(lambda got: None if "nothing" in got.values() else "no", "nothing")
        return {
            "feat_error_swallowed": {"what reaches the caller": silent},
            "feat_error_skips": {"hooks after, 1 before": more},
        }


class WhereNothingIsRecorded(Afterwards):
    """If autograd did not record before the block, it does not record after it."""

    def probe(self, nb, case):
        model, x = self.hooked(case)
        with torch.no_grad():
            with nb.function("looking_at")(model, dict.fromkeys(["bn1", "block.conv2", "fc"], looks_on)):
                model(x)
            return state(model, x, case)

    def truth(self, case):
        with torch.no_grad():
            return super().truth(case)


class AnyModel(Afterwards):
    """Any model is looked at and left alone, whatever its names, dtypes and dimensions are, also if a layer has two names."""

    cases = 1
    kinds = (
        "shared", "called_twice", "tied", "partly_frozen", "in_place_behind", "norm_in_eval", "mixed_modes", "none_place",
        "one_dim", "three_dim", "float64", "namedtuple", "dictionary", "look_alike", "the_layer",
    )
    blame = {
        "after a model with one layer under two names": "feat_shared_mode",
        "what the hooks got in a model with names that look alike": "name_in_name",
    }

    def probe(self, nb, case):
        brought, spent = {}, awkward_models(case, *self.kinds)
        for says, (model, x) in awkward_models(case, *self.kinds).items():
            got, names = {}, single_calls(*spent[says])
            hooks = {name: self.keeping(got, name) for name in names if name != "fc10"}
            with nb.function("looking_at")(model, hooks):
                model(x)
            brought |= {f"what the hooks got in {says}": got, f"after {says}": state(model, x, case)}
        return brought

    @staticmethod
    def keeping(got, name):
        return lambda module, args, output: got.update({name: output.detach().clone()})

    def truth(self, case):
        wanted, spent = {}, awkward_models(case, *self.kinds)
        for says, (model, x) in awkward_models(case, *self.kinds).items():
            calls = single_calls(spent[says][0].eval(), x)
            outputs = {name: Close(call.output, rtol=1e-4, atol=1e-4) for name, call in calls.items() if name != "fc10"}
            wanted |= {f"what the hooks got in {says}": outputs, f"after {says}": state(model, x, case, as_before)}
        return wanted

    def mistakes(self, case):
        return {}


class UsedAgain(Afterwards):
    """One block within another, and a further one later, leave the model as each of them found it."""

    cases = 1
    blame = {
        "after the inner block": "feat_once_only", "after the outer block": "feat_once_only", "after another block": "feat_once_only",
        "what the hooks of one dict got in two blocks": "feat_hooks_used_up",
    }

    def probe(self, nb, case):
        model, x = self.given(case)
        look = nb.function("looking_at")
        with look(model, {"conv1": looks_on, "block": looks_on}):
            with look(model, {"block.bn1": looks_on}):
                model(x)
            inner = state(model, x, case)
        outer = state(model, x, case)
        self.owner_trains(model)
        with look(model, {"pool": looks_on}):
            model(x)
        another, got, fresh = state(model, x, case), [], self.given(case)[0]
        hooks = {"fc": lambda module, args, output: got.append(output.detach().clone())}
        for given in (x, -x):
            with look(fresh, hooks):
                fresh(given)
        return {
            "after the inner block": inner, "after the outer block": outer, "after another block": another,
            "what the hooks of one dict got in two blocks": got,
        }

    def owner_trains(self, model):
        model.train()
        model.block.bn2.eval()
        model.conv1.requires_grad_(True)

    def truth(self, case):
        model, x = self.given(case)
        outer = state(model, x, case, as_before)
        self.owner_trains(model)
        another = state(model, x, case, as_before)
        looked_at = self.given(case)[0].eval()
        for name in ("conv1", "block"):
            looked_at.get_submodule(name).register_forward_hook(looks_on)
        with torch.no_grad():
            inner = state(looked_at, x, case, as_before)
        fresh = self.given(case)[0].eval()
        return {
            "after the inner block": inner, "after the outer block": outer, "after another block": another,
            "what the hooks of one dict got in two blocks": [Close(fresh(given), 1e-4, 1e-4) for given in (x, -x)],
        }

    def mistakes(self, case):
        return {}


check("untouched_model", Inside, Afterwards, EachInItsOwnMode, AfterAnError, WhatTheBlockDoes, AnyError, WhereNothingIsRecorded, AnyModel, UsedAgain)


# --- Hidden checks: graders run them, learners do not get them. ---
class TwoGuests(Check):
    """Inside, the hooks run in eval mode; after each block the model is as the block found it."""

    def hosts(self, case):
        model = case.build(
            "a host", lambda: nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.BatchNorm1d(5), nn.Linear(5, 3))
        )
        model[2].eval()
        return model, case.tensor("what the guests see", 6, 4), case.tensor("what the hosts see", 7, 4)

    def probe(self, nb, case):
        model, seen, later = self.hosts(case)
        add, look = case.tensor("what a guest adds", 5), nb.function("looking_at")
        with look(model, {"0": lambda module, args, output: output + add}):
            with look(model, {"3": lambda module, args, output: output * 3}):
                both = model(seen)
            one = model(seen)
        output = model(later)
        if output.requires_grad:
            output.backward(case.tensor("what the hosts ask", 7, 3))
        return {
            "with both guests": both,
            "with one guest": one,
            "afterwards": output,
            "gradient afterwards": model[0].weight.grad,
        }

    def truth(self, case):
        model, seen, later = self.hosts(case)
        add = case.tensor("what a guest adds", 5)
        with torch.no_grad():
            value = (model[0](seen) + add) / (
                1 + model[1].eps
            )  # twice 1 / sqrt(1 + eps), as no statistics have been gathered
            one = model[3](value)
        output = model(later)
        (gradient,) = torch.autograd.grad(output, model[0].weight, case.tensor("what the hosts ask", 7, 3))
        close = {
            "with both guests": one * 3,
            "with one guest": one,
            "afterwards": output,
            "gradient afterwards": gradient,
        }
        return {field: Close(value.detach(), rtol=1e-4, atol=1e-4) for field, value in close.items()}


check("untouched_model", TwoGuests)
