from contextlib import suppress
from functools import partial

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.probing import hook_counts
from course.traces import what_runs
from course.truths import ANYTHING, as_before, other_than, such_that

POISON = ("net", "x", "part", "heard", "squares", "history", "layers", "model", "output")
ERRORS = {
    r"CheckpointError": "record_saves",
    r"TypeError: .*(context manager protocol|not an iterator)": "tool_no_context",
    r"AttributeError: __e": "tool_no_context",
    r"TypeError: .*NoneType": "record_hands_out_nothing",
    r"RuntimeError: element 0 of tensors does not require grad": "hook_replaces_output",
}


class Blocks(nn.Module):
    """Blocks by name, one behind the other. Those that are named are checkpointed."""

    def __init__(self, names, again, reentrant=False):
        super().__init__()
        self.again, self.reentrant = again, reentrant
        for name in names:
            self.add_module(name, nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)))

    def forward(self, x):
        for name, block in self.named_children():
            x = checkpoint(block, x, use_reentrant=self.reentrant) if name in self.again else block(x)
        return x


class RecorderCheck(Check):
    """What the checks of this exercise share."""

    poison = POISON
    errors = ERRORS
    reentrant = False

    def given(self, case, again=2):
        names = case.words("names", 3)
        return case.build("net", Blocks, names, case.shuffled("again", names)[:again], self.reentrant)

    def asked(self, case):
        return [f"{name}.{place}" for name in case.words("names", 3) for place in (1, 2)]

    def x(self, case, name):
        return case.tensor(f"x {name}", 5, 4, requires_grad=True)

    def entries(self, case, *inputs, of=lambda x, output: output.square()):
        """For the truth: the entries of each layer, by a walk through a model without checkpoints."""
        found = {name: [] for name in self.asked(case)}
        for name in inputs:
            x = self.x(case, name)
            for block, parts in self.given(case).named_children():
                for place, part in parts.named_children():
                    given, x = x, part(x)
                    if f"{block}.{place}" in found:
                        found[f"{block}.{place}"].append(of(given, x).mean().item())
        return found

    def of_all(self, entries, change):
        return Close({name: change(values) for name, values in entries.items()}, rtol=1e-4, atol=1e-6)

    def numbers(self, test):
        """Histories of which `test` is true for some layer."""
        return Matches(lambda got: None if isinstance(got, dict) and any(isinstance(one, list) and test(one) for one in got.values()) else "else", "")


class OneAStep(RecorderCheck):
    """Three steps of a checkpointed model leave three entries per layer."""

    def probe(self, nb, case):
        model = self.given(case)
        with nb.function("recorder")(model, self.asked(case)) as history:
            for step in range(3):
                model(self.x(case, step)).sum().backward()
        model(self.x(case, 0))
        return {"history": history}

    def truth(self, case):
        return {"history": self.of_all(self.entries(case, 0, 1, 2), list)}

    def mistakes(self, case):
        right, means = self.entries(case, 0, 1, 2), self.entries(case, 0, 1, 2, of=lambda x, output: output)

        def sums(values):
            return [20 * value for value in values]

        return {
            "input_or_output": {"history": self.of_all(self.entries(case, 0, 1, 2, of=lambda x, output: x.square()), list)},
            "record_no_squares": {"history": AnyOf(self.of_all(means, list), self.of_all(means, lambda values: [one**2 for one in values]))},
            "record_not_mean": {"history": AnyOf(self.of_all(right, sums), self.of_all(right, lambda values: [one**0.5 for one in sums(values)]))},
            "record_tensors": {"history": self.numbers(lambda got: any(not isinstance(one, (int, float)) for one in got))},
            "record_root": {"history": self.of_all(right, lambda values: [value**0.5 for value in values])},
            "record_list": {"history": such_that(lambda got: isinstance(got, list) or min(got.values()) == max(got.values()) != [])},
            "record_hands_out_nothing": {"history": None},
            "record_twice": {"history": self.numbers(lambda got: len(got) > 4)},
            "tool_hooks_left": {"history": self.numbers(lambda got: len(got) == 4)},
            "record_drops": {"history": self.numbers(lambda got: len(got) == 2)},
            "record_first_only": {"history": self.numbers(lambda got: len(got) == 1)},
            "record_flat": {"history": Matches(lambda got: None if isinstance(got, dict) and all(isinstance(one, float) for one in got.values()) else "lists", "numbers")},
            "record_nothing": {"history": {name: [] for name in right}},
            "loop_variable": {"history": self.numbers(lambda got: not got)},
            "record_other_number": {"history": such_that(lambda got: all(len(got[name]) == 3 for name in right))},
        }


class AnyOrder(RecorderCheck):
    """Two calls before one backward, the same call twice without a gradient, and one of a frozen model: all count."""

    reentrant = True

    def probe(self, nb, case):
        model = self.given(case)
        with nb.function("recorder")(model, self.asked(case)) as history:
            first, second = model(self.x(case, 0)), model(self.x(case, 1))
            second.sum().backward()
            first.sum().backward()
            with torch.no_grad():
                model.eval()(self.x(case, 2)), model(self.x(case, 2))
            model.train()(self.x(case, 3)).sum().backward()
            model.requires_grad_(False)(self.x(case, 4).detach())
            within = {name: [*history[name]] for name in self.asked(case)}
        return {"history": history, "history within the block": within}

    def truth(self, case):
        entries = self.of_all(self.entries(case, 0, 1, 2, 2, 3, 4), list)
        return {"history": entries, "history within the block": entries}

    def mistakes(self, case):
        def rounded(entry):
            return round(entry, 4) if isinstance(entry, float) else entry

        right = {rounded(one) for entries in self.entries(case, 0, 1, 2, 3, 4).values() for one in entries}
        return {
            "record_twice": {"history": self.numbers(lambda got: len(got) > 6)},
            "record_drops": {"history": self.numbers(lambda got: len(got) < 6)},
            "record_late": {"history within the block": {name: [] for name in self.asked(case)}},
            "record_overwrites": {"history": self.numbers(lambda got: len(got) == 6 and set(map(rounded, got)) < right)},
        }


class TheModelItself(RecorderCheck):
    """A model that is in a checkpoint, all of it, leaves one entry a call."""

    def probe(self, nb, case):
        model = self.given(case, again=0)
        with nb.function("recorder")(model, self.asked(case)) as history:
            for step, reentrant in enumerate((False, True)):
                checkpoint(model, self.x(case, step), use_reentrant=reentrant).sum().backward()
        return {"history": history}

    def truth(self, case):
        return {"history": self.of_all(self.entries(case, 0, 1), list)}

    def mistakes(self, case):
        return {"record_model_again": {"history": self.numbers(lambda got: len(got) > 2)}}


class NothingStays(RecorderCheck):
    """Afterwards, also after an error, no hook is left."""

    def probe(self, nb, case):
        models = [self.given(case), self.given(case)]
        with nb.function("recorder")(models[0], self.asked(case)):
            models[0](self.x(case, 0)).sum().backward()
        with suppress(ArithmeticError), nb.function("recorder")(models[1], self.asked(case)):
            raise ArithmeticError("in the block")
        return {
            "gradients": [parameter.grad for parameter in models[0].parameters()],
            "hooks left": [sum(hook_counts(model).values()) for model in models],
            "what runs afterwards": [self.runs(case, model) for model in models],
        }

    def runs(self, case, model):
        return what_runs(model, case, lambda: model(self.x(case, 1)))

    def truth(self, case):
        fresh, model = as_before(self.runs(case, self.given(case))), self.given(case)
        model(self.x(case, 0)).sum().backward()
        gradients = [parameter.grad for parameter in model.parameters()]
        return {"gradients": gradients, "hooks left": ANYTHING, "what runs afterwards": [fresh, fresh]}

    def mistakes(self, case):
        return {
            "tool_not_after_error": {"hooks left": Matches(lambda got: None if got[0] == 0 and got[1] else "else", "")},
            "tool_hooks_left": {"hooks left": other_than([0, 0])},
        }


check("one_entry_a_step", OneAStep, AnyOrder, TheModelItself, NothingStays)


# --- Hidden checks: graders run them, learners do not get them. ---
def _net(case, again):
    """A chain of blocks; names, kinds, depth and which of them are checkpointed come from the seed."""
    names = case.words("hidden names", case.integer("hidden depth", 3, 5))
    kinds = case.shuffled("hidden kinds", [nn.Tanh, nn.Sigmoid, nn.Softplus, nn.SiLU, nn.ELU])
    marked = case.shuffled("hidden again", names)[: 2 if again else 0]

    class Chain(nn.Module):
        def __init__(self):
            super().__init__()
            for name, kind in zip(names, kinds):
                inner = nn.Sequential(kind(), nn.Linear(3, 3))
                self.add_module(name, nn.Sequential(nn.Linear(3, 3), inner))

        def forward(self, x):
            for name, block in self.named_children():
                x = checkpoint(block, x, use_reentrant=False) if name in marked else block(x)
            return x

    return case.build("hidden net", Chain), [f"{name}.1.0" for name in names] + [f"{names[0]}.1.1"]


class WeightsChange(Check):
    """In one more model: calls, backwards and changes of the weights in an order of the seed."""

    poison = POISON

    def calls(self, case, moment):
        """Five inputs, and whether gradients are wanted: two of the calls are the same, without."""
        for number, train in enumerate(case.shuffled(f"hidden turns {moment}", [True, True, True, False, False])):
            yield case.tensor(f"hidden x {moment} {number if train else 9}", 2, 3, requires_grad=True), train

    def frozen_call(self, case, model, moment):
        """In eval mode, and with gradients on: no parameter and no input requires one."""
        model.requires_grad_(False).eval()(case.tensor(f"hidden frozen {moment}", 2, 3))
        model.requires_grad_(True).train()

    def change(self, case, model):
        for number, parameter in enumerate(model.parameters()):
            parameter.data = case.tensor(f"hidden weight {number}", *parameter.shape).detach()

    def probe(self, nb, case):
        model, layers = _net(case, True)
        with nb.function("recorder")(model, layers) as history:
            for moment in (1, 2):
                waiting = []
                for x, train in self.calls(case, moment):
                    with torch.set_grad_enabled(train):
                        loss = model(x).sum()
                    waiting += [loss] if train else []
                for loss in waiting[::-1]:
                    loss.backward()
                self.frozen_call(case, model, moment)
                self.change(case, model)
        runs = what_runs(model, case, lambda: model(case.tensor("hidden y", 2, 3)))
        return {"history": history, "gradients": [one.grad for one in model.parameters()], "what runs": runs}

    def note(self, entries, module, args, output):
        entries.append(output.detach().square().mean().item())

    def truth(self, case):
        model, layers = _net(case, False)
        history = {name: [] for name in layers}
        for name in layers:
            model.get_submodule(name).register_forward_hook(partial(self.note, history[name]))
        for moment in (1, 2):
            sum(model(x).sum() * train for x, train in self.calls(case, moment)).backward()
            self.frozen_call(case, model, moment)
            self.change(case, model)
        fresh = _net(case, True)[0]
        runs = what_runs(fresh, case, lambda: fresh(case.tensor("hidden y", 2, 3)))
        gradients = Close([one.grad for one in model.parameters()], rtol=1e-4, atol=1e-5)
        return {"history": Close(history, rtol=1e-4, atol=1e-6), "what runs": as_before(runs), "gradients": gradients}


check("one_entry_a_step", WeightsChange)
