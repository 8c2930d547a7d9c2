from contextlib import suppress

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close
from nbproof.values.evidence import snapshot
from course.models import TinyResNet
from course.probing import hook_counts, statistics
from course.traces import gradients_from, what_runs
from course.truths import ANYTHING, as_before, no_gradients_from, such_that

ERRORS = {
    r"TypeError: 'generator' object does not support the context manager": "feat_no_context_manager",
    r"AttributeError: __enter__": "feat_no_context_manager",
    r"TypeError: 'NoneType' object (is not an iterator|does not support the context manager)": "feat_no_yield",
    r"RuntimeError: generator didn't (yield|stop)": "feat_no_yield",
    r"AttributeError: '\w+' object has no attribute '\w+(\.\w+)+'": "dotted_name",
    r"KeyError: '\w+(\.\w+)+'": "dotted_name",
}
MISSPELT = "modes and the number of hooks (1 before) after a misspelt name"


def looks_on(module, args, output):
    """A hook that changes nothing."""


def training(model):
    """Whether each module is in training mode; the model itself is called "model"."""
    return {name or "model": module.training for name, module in model.named_modules()}


def close(tensors):
    return {name: Close(tensor, rtol=1e-4, atol=1e-4) for name, tensor in tensors.items()}


def state(model, x, case):
    """What a guest must leave as it was: what the model says, and what shows when it runs."""
    found = {
        "training after": training(model), "the number of hooks after it (1 before)": sum(hook_counts(model).values()),
        "torch.is_grad_enabled() after it": torch.is_grad_enabled(), "BatchNorm's statistics after": snapshot(statistics(model)),
    }
    with torch.enable_grad():
        return {**found, "what runs in model(x) after": what_runs(model, case, lambda: model(x).sum().backward())}


def recorded_in_no_grad(look, case):
    """What autograd records once a guest has gone, where the caller has switched it off."""
    model = case.build("silent", nn.Linear, 3, 2)
    with torch.no_grad():
        with look(model, {}):
            pass
        values = [2 * one for one in model.parameters()]
    return gradients_from(values, model, case)


class Inside(Check):
    """Inside the block the hooks run, every module is in eval mode, and autograd records nothing."""

    errors = ERRORS
    blame = {"requires_grad of model(x)": "feat_eval_is_not_no_grad", "what the hooks got": "feat_hooks_silent"}

    def given(self, case):
        return case.build("net", TinyResNet).train(), case.tensor("x", 2, 3, *case.shape("size", 2, 6, 9))

    def probe(self, nb, case):
        (model, x), got = self.given(case), {}
        hooks = {
            "conv1": lambda module, args, output: got.update(conv1=output.detach().clone()),
            "block.conv2": lambda module, args, output: got.update({"block.conv2": output.detach().clone()}),
        }
        with nb.function("looking_at")(model, hooks):
            modes, trainable = training(model), sum(one.requires_grad for one in model.parameters())
            output = model(x.requires_grad_())
        return {
            "training inside": modes, "model(x)": output, "requires_grad of model(x)": output.requires_grad,
            "trainable parameters inside": trainable, "what the hooks got": got,
        }

    def truth(self, case):
        model, x = self.given(case)
        model.eval()
        middle = torch.relu(model.bn1(model.conv1(x)))
        inner = torch.relu(model.block.bn1(model.block.conv1(middle)))
        features = {"conv1": model.conv1(x), "block.conv2": model.block.conv2(inner)}
        return {
            "training inside": dict.fromkeys(training(model), False),
            "model(x)": Close(model(x), rtol=1e-4, atol=1e-4), "requires_grad of model(x)": False,
            "trainable parameters inside": ANYTHING, "what the hooks got": close(features),
        }

    def mistakes(self, case):
        model, _ = self.given(case)

        def modes(test):
            return {"training inside": such_that(lambda got: test(got.values()))}

        return {
            "feat_on_a_copy": {"training inside": training(model), "what the hooks got": {}},
            "feat_no_grad_is_not_eval": modes(all),
            "feat_some_modules_only": modes(any),
            "feat_freezes": {"requires_grad of model(x)": True, "trainable parameters inside": 0},
        }


class Afterwards(Check):
    """After the block each module has its mode and its hooks again, and autograd records."""

    errors = ERRORS
    blame = {
        "training after": "feat_one_mode_for_all", "torch.is_grad_enabled() after it": "feat_grad_mode",
        "BatchNorm's statistics after": "feat_statistics",
    }

    def given(self, case):
        model = case.build("net", TinyResNet).train()
        model.conv1.requires_grad_(False)
        model.bn1.register_forward_hook(looks_on)
        for name in case.shuffled("frozen", ["bn1", "block.bn1", "block.bn2", "pool"])[:2]:
            model.get_submodule(name).eval()
        model.block.training = False  # and most of its children are in training mode
        model.block.relu = model.relu  # in two places: its other parent has another mode
        return model, case.tensor("x", 2, 3, *case.shape("size", 2, 6, 9))

    def probe(self, nb, case):
        model, x = self.given(case)
        with nb.function("looking_at")(model, dict.fromkeys(["bn1", "block.conv2", "fc"], looks_on)):
            model(x)
        return state(model, x, case)

    def truth(self, case):
        model, x = self.given(case)
        wanted = state(model, x, case)
        return {
            **wanted, "what runs in model(x) after": as_before(wanted["what runs in model(x) after"]),
            "BatchNorm's statistics after": close(wanted["BatchNorm's statistics after"]),
        }

    def mistakes(self, case):
        before = training(self.given(case)[0])
        return {
            "feat_one_mode_for_all": {"training after": {**before, "relu": False}},
            "feat_mode_lost": {"training after": such_that(lambda got: not any(got.values()))},
            "feat_some_modules_only": {"training after": such_that(lambda got: all(before[one] for one in got if got[one]))},
            "removes_other_hooks": {"the number of hooks after it (1 before)": 0},
            "feat_hook_left": {"the number of hooks after it (1 before)": such_that(lambda got: got > 1)},
        }


class AfterAnError(Afterwards):
    """After a misspelt name, and after a block's error, which reaches the caller, the model and autograd are as before."""

    errors = {**ERRORS, r"RuntimeError: element 0 of tensors does not require grad": "feat_error_skips"}
    blame = {**Afterwards.blame, "the error that reaches the caller": "feat_error_swallowed", "recorded in the caller's no_grad": "feat_grad_mode", MISSPELT: "feat_error_skips"}

    def probe(self, nb, case):
        model, x = self.given(case)
        reached, (other, _) = "nothing", self.given(case)
        with suppress(Exception), nb.function("looking_at")(other, dict.fromkeys(["bn1", "block.conv22"], looks_on)):
            pass
        try:
            with nb.function("looking_at")(model, dict.fromkeys(["bn1", "block.conv2", "fc"], looks_on)):
                raise ZeroDivisionError(case.words("error", 1)[0])
        except ZeroDivisionError as error:
            reached = str(error)
        recorded = recorded_in_no_grad(nb.function("looking_at"), case)
        found = {"the error that reaches the caller": reached, "recorded in the caller's no_grad": recorded, **state(model, x, case)}
        return {**found, MISSPELT: [training(other), sum(hook_counts(other).values())]}

    def truth(self, case):
        reached = case.words("error", 1)[0]
        recorded = no_gradients_from(case.build("silent", nn.Linear, 3, 2), case)
        found = {"the error that reaches the caller": reached, "recorded in the caller's no_grad": recorded, **super().truth(case)}
        return {**found, MISSPELT: [training(self.given(case)[0]), 1]}

    def mistakes(self, case):
        none = such_that(lambda got: not any(got.values()))
        more = such_that(lambda got: got > 1)
        return {"feat_error_skips": AnyOf({"training after": none}, {"the number of hooks after it (1 before)": more})}


check("untouched_model", Inside, Afterwards, AfterAnError)


# --- Hidden checks: graders run them, learners do not get them. ---
def inn(case):
    """Rooms in halls; how many, their names, and which of them are in training mode, the seed says."""
    halls = case.words("halls", case.integer("how many halls", 2, 4))
    rooms = case.words("rooms", 2)

    class Hall(nn.Module):
        def __init__(self):
            super().__init__()
            self.add_module(rooms[0], nn.Linear(4, 4))
            self.add_module(rooms[1], nn.BatchNorm1d(4))

        def forward(self, x):
            return torch.tanh(self.get_submodule(rooms[1])(self.get_submodule(rooms[0])(x)))

    class Inn(nn.Module):
        def __init__(self):
            super().__init__()
            for name in case.shuffled("as they were built", halls):
                self.add_module(name, Hall())

        def forward(self, x):
            for name in halls:
                x = x + self.get_submodule(name)(x)
            return x

    model = case.build("an inn", Inn)
    for name, module in model.named_modules():
        module.training = bool(case.integer(f"mode of {name}", 0, 1))
    model.training, model.get_submodule(halls[0]).training = True, False
    model.get_submodule(halls[1]).training = False
    shared = model.get_submodule(f"{halls[0]}.{rooms[1]}")
    shared.training = True
    setattr(model.get_submodule(halls[1]), rooms[1], shared)
    model.get_submodule(f"{halls[1]}.{rooms[0]}").register_forward_hook(looks_on)
    return model, [f"{halls[0]}.{rooms[0]}", halls[1]], case.tensor("what guests see", 6, 4)


class Guests(Check):
    """Inside, the hooks run in eval mode and nothing is recorded; afterwards the model is as it was."""

    def probe(self, nb, case):
        model, (one, two), x = inn(case)
        look, add, reached = nb.function("looking_at"), case.tensor("what a guest adds", 4), "nothing"
        with look(model, {one: lambda module, args, output: output + add, two: looks_on}):
            inside = model(x)
        recorded = gradients_from([inside], model, case)
        with suppress(Exception), look(model, {one: looks_on, f"{two}.{two}": looks_on}):
            pass
        try:
            with look(model, {two: lambda module, args, output: output * 3}):
                thrice = model(x)
                raise OSError(f"{one} burns")
        except OSError as stopped:
            reached = str(stopped)
        after = what_runs(model, case, lambda: gradients_from([model(x)], model, case), "after")
        return {
            "inside": snapshot(inside), "thrice": thrice, "recorded": recorded,
            "silent": recorded_in_no_grad(look, case), "reached": reached, "ran after": after,
            "gradients": gradients_from([model(x)], model, case), "statistics": statistics(model),
        }

    def truth(self, case):
        model, (one, two), x = inn(case)
        (guest, _, _), add = inn(case), case.tensor("what a guest adds", 4)
        guest.eval()
        with torch.no_grad():
            with guest.get_submodule(two).register_forward_hook(lambda module, args, output: output * 3):
                thrice = guest(x)
            guest.get_submodule(one).register_forward_hook(lambda module, args, output: output + add)
            guest.get_submodule(two).register_forward_hook(looks_on)
            inside = guest(x)
        after = what_runs(model, case, lambda: gradients_from([model(x)], model, case), "after")
        return {
            "inside": Close(inside, 1e-4, 1e-4), "thrice": Close(thrice, 1e-4, 1e-4), "recorded": no_gradients_from(model, case),
            "silent": no_gradients_from(case.build("silent", nn.Linear, 3, 2), case), "reached": f"{one} burns",
            "ran after": as_before(after), "gradients": close(gradients_from([model(x)], model, case)),
            "statistics": close(statistics(model)),
        }


check("untouched_model", Guests)
