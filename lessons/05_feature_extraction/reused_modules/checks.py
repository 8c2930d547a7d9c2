import itertools

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches, is_same
from nbproof.values.describe import in_words
from nbproof.values.evidence import snapshot
from course.models import Rounds, TinyResNet
from course.probing import hook_counts, statistics
from course.traces import gradients_from, what_runs
from course.truths import as_before, no_gradients_from, such_that

ERRORS = {
    r"TypeError: .*(argument 'input'|some of the arguments have invalid types).*tuple": "hook_replaces_output",
    r"AttributeError: 'tuple' object has no attribute 'dim'": "hook_replaces_output",
}
ORDER = ["enter", "relu", "mix", "relu", "mix", "relu"]


def written(nb):
    """What somebody predicted, and what they wrote after the run."""
    try:
        ran = nb.what_ran
    except Exception:  # as it is where somebody has taken the line out
        ran = None
    return [list(nb.predicted) if isinstance(nb.predicted, tuple) else nb.list("predicted"), list(ran) if isinstance(ran, tuple) else ran]


def believed():
    """The right names, in the list that was written last."""

    def wrong(got):
        return None if got[0] and is_same(got[1] or got[0], ORDER) else in_words(got)

    return Matches(wrong, "the names in the order in which the hooks fire, in the list that you wrote last")


class Predicted(Check):
    """`predicted`, or else `what_ran`, holds the names in the order in which the hooks fire."""

    secret = True
    field = "[predicted, what_ran]"
    claims = (field,)

    def probe(self, nb, case):
        return {self.field: written(nb)}

    def truth(self, case):
        return {self.field: believed()}

    def mistakes(self, case):
        functions = {"torch.relu", "F.relu", "relu", "sub", "rsub"}

        def test(says):  # what was written last is what somebody believes
            return {self.field: such_that(lambda got: got[0] and says(got[1] if got[1] else got[0]))}

        return {
            "feat_no_prediction": {self.field: such_that(lambda got: not got[0])},
            "feat_one_entry": test(lambda got: got == list(dict.fromkeys(ORDER))),
            "feat_grouped": test(lambda got: sorted(got) == sorted(ORDER) and len([*itertools.groupby(got)]) == 3),
            "feat_function_fires": test(lambda got: len(got) > 6 and got[:6] == ORDER and set(got[6:]) <= functions),
            "feat_root_listed": test(lambda got: got[:6] == ORDER and len(got) == 7),
            "class_or_name": test(lambda got: set(got) <= {"Linear", "ReLU", "Rounds"}),
            "feat_rounds_counted": test(lambda got: set(got) == {*ORDER} and len(got) != 6),
            "feat_other_order": test(lambda got: sorted(got) == sorted(ORDER)),
        }


def calls_in(net, x):
    """Each call inside TinyResNet, by hand: its name, its output, and what lies in that memory afterwards."""
    block = net.block
    one = net.conv1(x)
    two = net.bn1(one)
    three = two.relu()
    four = block.conv1(three)
    five = block.bn1(four)
    six = five.relu()
    seven = block.conv2(six)
    eight = block.bn2(seven)
    end = (eight + three).relu()
    pooled = net.pool(end)
    scores = net.fc(pooled.flatten(1))
    calls = [
        ("conv1", one, one), ("bn1", two, three), ("relu", three, three), ("block.conv1", four, four), ("block.bn1", five, six),
        ("block.relu", six, six), ("block.conv2", seven, seven), ("block.bn2", eight, end), ("block.relu", end, end),
        ("block", end, end), ("pool", pooled, pooled), ("fc", scores, scores),
    ]
    return [(name, output.detach(), later.detach()) for name, output, later in calls]


def pairs(calls, part=1):
    return [[call[0], Close(call[part], rtol=1e-4, atol=1e-4)] for call in calls]


def reached_from(calls, model, case):
    """What a backward from the outputs leaves in the model."""
    outputs = [pair[-1] for pair in calls if isinstance(pair, (tuple, list)) and pair] if isinstance(calls, list) else []
    return gradients_from(outputs, model, case)


class EveryCall(Check):
    """`record_calls(model, x)` has one pair `(name, output)` for each call, in order, as it was."""

    errors = ERRORS
    blame = {"gradients of the model, from the outputs": "feat_graph", "statistics afterwards": "feat_runs_twice"}

    def given(self, case):
        return case.build("net", TinyResNet).train(), case.tensor("x", 3, 3, *case.shape("size", 2, 6, 9))

    def probe(self, nb, case):
        model, x = self.given(case)
        calls = nb.function("record_calls")(model, x)
        moved = snapshot(statistics(model))
        reached = reached_from(calls, model, case)
        return {"the list of calls": calls, "statistics afterwards": moved, "gradients of the model, from the outputs": reached}

    def truth(self, case):
        model, x = self.given(case)
        calls = pairs(calls_in(model, x))
        moved = {name: Close(one, 1e-4, 1e-4) for name, one in statistics(model).items()}
        return {
            "the list of calls": calls, "statistics afterwards": moved,
            "gradients of the model, from the outputs": no_gradients_from(model, case),
        }

    def mistakes(self, case):
        model, x = self.given(case)
        calls = calls_in(model, x)
        names = [call[0] for call in calls]
        once = list(dict.fromkeys(names))
        last, first = {call[0]: call for call in calls}, {call[0]: call for call in reversed(calls)}
        kinds = {name: type(module).__name__ for name, module in model.named_modules()}
        begins = [*names[:3], "block", *names[3:9], *names[10:]]

        def told(test):
            return {"the list of calls": such_that(lambda got: test([pair[0] for pair in got]))}

        return {
            "returns_nothing": {"the list of calls": None},
            "nothing_kept": {"the list of calls": []},
            "feat_one_entry": {"the list of calls": AnyOf(*(pairs([found[name] for name in once]) for found in (last, first)))},
            "feat_grouped": told(lambda got: got != names and sorted(got) == sorted(names) and len([*itertools.groupby(got)]) == len(once)),
            "loop_variable": told(lambda got: len(got) >= len(names) and len(set(got)) == 1),
            "class_or_name": told(lambda got: got == [kinds[name] for name in names]),
            "feat_root_listed": told(lambda got: len(got) == len(names) + 1 and got[:-1] == names),
            "feat_numbered": told(lambda got: "block.relu_1" in got),
            "feat_top_level": told(lambda got: got == [name for name in names if "." not in name]),
            "feat_no_containers": told(lambda got: got == [name for name in names if name != "block"]),
            "feat_alias": {"the list of calls": pairs(calls, 2)},
            "feat_in_eval_mode": {"the list of calls": pairs(calls_in(self.given(case)[0].eval(), x))},
            "feat_begins": told(lambda got: got == begins),
            "feat_names_only": {"the list of calls": names},
            "feat_one_dict": told(lambda got: len(got) > len(names) and got[-len(names) :] == names),
            "shape_for_output": {"the list of calls": such_that(lambda got: all(type(size) is int for _, shape in got for size in shape))},
        }


class OneLayerTwoNames(Check):
    """A layer with two names has one hook, and reports under the first name."""

    errors = ERRORS
    blame = {"the list of calls": "feat_under_each_name"}

    def given(self, case):
        one, two = case.words("names", 2)

        class Cousins(nn.Module):
            def __init__(self):
                super().__init__()
                shared = nn.Linear(3, 3)
                self.add_module(one, nn.Sequential(shared))
                self.add_module(two, nn.Sequential(shared))

            def forward(self, x):
                return self.get_submodule(two)(self.get_submodule(one)(x))

        return case.build("net", Cousins), one, two, case.tensor("x", 2, 3)

    def probe(self, nb, case):
        model, _, _, x = self.given(case)
        return {"the list of calls": nb.function("record_calls")(model, x)}

    def truth(self, case):
        model, one, two, x = self.given(case)
        first = model.get_submodule(one)(x)
        second = model.get_submodule(two)(first)
        return {"the list of calls": pairs([(f"{one}.0", first.detach()), (one, first.detach()), (f"{one}.0", second.detach()), (two, second.detach())])}

    def mistakes(self, case):
        _, one, two, _ = self.given(case)
        return {"feat_last_name": {"the list of calls": such_that(lambda got: [pair[0] for pair in got] == [f"{two}.0", one, f"{two}.0", two])}}


class CalledAgain(Check):
    """Each run brings a list of its own, and no hook is left on the model."""

    errors = ERRORS
    blame = {"the number of hooks on the model": "feat_hook_left", "the list of calls of the first run, later": "feat_one_dict"}

    def given(self, case):
        return case.build("net", Rounds), case.tensor("x", *case.shape("size", 1, 2, 5), 3)

    def probe(self, nb, case):
        model, x = self.given(case)
        first = nb.function("record_calls")(model, x)
        second = nb.function("record_calls")(model, -x)
        return {
            "the number of hooks on the model": sum(hook_counts(model).values()), "the list of calls of the first run, later": first,
            "the list of calls of the second run": second,
            "what runs in model(x) afterwards": what_runs(model, case, lambda: model(x).sum().backward()),
        }

    def runs(self, case, x):
        model, calls = self.given(case)[0], []
        for name in ORDER:
            x = model.get_submodule(name)(x)
            calls.append((name, x.detach()))
        return pairs(calls)

    def truth(self, case):
        model, x = self.given(case)
        runs = as_before(what_runs(model, case, lambda: model(x).sum().backward()))
        return {
            "the number of hooks on the model": 0, "the list of calls of the first run, later": self.runs(case, x),
            "the list of calls of the second run": self.runs(case, -x), "what runs in model(x) afterwards": runs,
        }


check("reused_modules", Predicted, EveryCall, OneLayerTwoNames, CalledAgain)


# --- Hidden checks: graders run them, learners do not get them. ---
def tower(case):
    """Flights of stairs, some climbed several times and in no order of theirs, as the seed says; one layer is in all of them."""
    flights = case.words("flights", case.integer("how many flights", 2, 4))
    climbed = case.shuffled("climbed", [*flights, *flights, flights[0]])

    class Flight(nn.Module):
        def __init__(self, stair):
            super().__init__()
            self.stair, self.rest = stair, nn.ReLU(inplace=True)
            self.norm = nn.BatchNorm1d(3)

        def forward(self, x):
            return x + self.rest(self.norm(self.stair(x)))

    class Tower(nn.Module):
        def __init__(self):
            super().__init__()
            stair = nn.Linear(3, 3)
            for name in flights:
                self.add_module(name, Flight(stair))

        def forward(self, x):
            for name in climbed:
                x = self.get_submodule(name)(x)
            return x.tanh()

    return case.build("a tower", Tower), [case.tensor("in the morning", 5, 3), case.tensor("in the evening", 4, 3)]


class UpTheTower(Check):
    """There is one pair for each call, in the order in which the hooks fire; the model is as it was."""

    def probe(self, nb, case):
        model, inputs = tower(case)
        calls = [nb.function("record_calls")(model, x) for x in inputs]
        return {
            "the list of calls": snapshot(calls), "statistics": snapshot(statistics(model)), "written": written(nb),
            "what runs afterwards": what_runs(model, case, lambda: model(inputs[0]).sum().backward()),
            "gradients": [reached_from(one, model, case) for one in calls],
        }

    def truth(self, case):
        model, inputs = tower(case)
        found, calls = [], []
        hooks = [
            module.register_forward_hook(lambda m, a, output, name=name: calls.append((name, output.detach().clone())))
            for name, module in model.named_modules()
            if name
        ]
        for x in inputs:
            calls.clear()
            model(x)
            found.append(pairs(calls))
        for hook in hooks:
            hook.remove()
        moved = {name: Close(one, 1e-4, 1e-4) for name, one in statistics(model).items()}
        return {
            "the list of calls": found, "statistics": moved, "written": believed(),
            "what runs afterwards": as_before(what_runs(model, case, lambda: model(inputs[0]).sum().backward())),
            "gradients": [no_gradients_from(model, case)] * 2,
        }


check("reused_modules", UpTheTower)
