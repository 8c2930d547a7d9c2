import itertools

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches, is_same
from nbproof.values.describe import in_words
from course import probing
from course.awkward import awkward_models, bare_model, hooked_model, own_parameter_model, whole_numbers_model
from course.models import Rounds, TinyResNet
from course.probing import hook_counts
from course.traces import gradients_from, gradients_of, what_runs
from course.truths import as_before, no_gradient_left, no_gradients_from, other_than


ERRORS = {
    r"TypeError: .*(argument 'input'|some of the arguments have invalid types).*tuple": "hook_replaces_output",
    r"AttributeError: 'tuple' object has no attribute 'dim'": "hook_replaces_output",
    r"StopIteration": "feat_first_parameter",
}


def times(case):
    """What each input is multiplied by."""
    return case.integer("times", 2, 5)


def calls_of(case, model, x):
    """Each call inside the model, without any hook: name, copy of the output, the output itself, its start."""
    calls = probing.calls_of(model, x * times(case))
    return [(call.name, call.output, call.later, call.begins) for call in calls if call.name]


def pairs(calls, part=1):
    return [[call[0], Close(call[part], rtol=1e-4, atol=1e-4)] for call in calls]


def flaws(calls, model, field="calls"):
    """What known misconceptions would bring for these calls."""
    names = [call[0] for call in calls]
    once = list(dict.fromkeys(names))
    last, first = {call[0]: call for call in calls}, {call[0]: call for call in reversed(calls)}
    kinds = {name: type(module).__name__ for name, module in model.named_modules()}
    parents = {name for name, module in model.named_modules() if list(module.children())}

    def told(test):
        def flaw(got):
            return None if test([pair[0] for pair in got]) else "no"

        return {field: Matches(flaw, "this flaw")}

    return {
        "returns_nothing": {field: None},
        "nothing_kept": {field: []},
        "feat_one_entry": {
            field: AnyOf(
                *(pairs([found[name] for name in order]) for found in (last, first) for order in (once, [*found]))
            )
        },
        "feat_grouped": {field: pairs([call for name in once for call in calls if call[0] == name])},
        "loop_variable": told(lambda got: len(got) >= len(names) and len(set(got)) == 1 < len(once)),
        "class_or_name": told(lambda got: got == [kinds[name] for name in names]),
        "feat_root_listed": told(lambda got: len(got) == len(names) + 1 and got[:-1] == names),
        "feat_numbered": told(lambda got: any(name not in names and name.rsplit("_", 1)[0] in names for name in got)),
        "feat_top_level": told(lambda got: got != names and got == [name for name in names if "." not in name]),
        "feat_no_containers": told(lambda got: got != names and got == [name for name in names if name not in parents]),
        "shape_for_output": {field: [[call[0], list(call[1].shape)] for call in calls]},
        "feat_alias": {field: pairs(calls, 2)},
        "feat_begins": {field: pairs(sorted(calls, key=lambda call: call[3]))},
        "feat_outputs_only": {field: [pair[1] for pair in pairs(calls)]},
        "feat_names_only": {field: names},
    }


def attached(calls):
    """The places of the outputs that require a gradient."""
    outputs = (
        [pair[-1] for pair in calls if isinstance(pair, (tuple, list)) and pair] if isinstance(calls, list) else []
    )
    return [place for place, output in enumerate(outputs) if getattr(output, "requires_grad", False)]


def reached_from(calls, model, case):
    """What a backward from the outputs leaves in the model."""
    try:
        return gradients_from([pair[-1] for pair in calls], model, case)
    except (TypeError, IndexError, KeyError):  # no list of pairs, and told as such
        return None


class Predicted(Check):
    """`predicted`, or else `what_ran`, holds the names of the modules of `Rounds()` in the order in which their hooks fire."""

    secret = True
    field = "[predicted, what_ran]"
    claims = (field,)

    def probe(self, nb, case):
        try:
            ran = nb.what_ran
        except Exception:  # as it is where somebody has taken the line out
            ran = None
        return {self.field: [nb.list("predicted"), ran]}

    def truth(self, case):
        names = [call[0] for call in calls_of(case, Rounds(), torch.ones(1, 3))]

        def wrong(got):
            return None if got[0] and is_same(got[1] or got[0], names) else in_words(got)

        return {
            self.field: Matches(
                wrong,
                "the names in the order in which the hooks fire, in the one that you wrote last. Keep your prediction as you made it, "
                "and write what ran into `what_ran`",
            )
        }

    def mistakes(self, case):
        names = [call[0] for call in calls_of(case, Rounds(), torch.ones(1, 3))]
        once = list(dict.fromkeys(names))
        functions = {"torch.relu", "F.relu", "relu", "sub", "rsub"}

        def test(says):  # what was written last is what somebody believes
            return {self.field: Matches(lambda got: None if says(got[1] if got[1] else got[0]) else "no", "this flaw")}

        return {
            "feat_no_prediction": {self.field: Matches(lambda got: "no" if got[0] else None, "no prediction")},
            "feat_one_entry": test(lambda got: got == once),
            "feat_grouped": test(
                lambda got: sorted(got) == sorted(names) and len([*itertools.groupby(got)]) == 3
            ),
            "feat_function_fires": test(
                lambda got: len(got) > len(names) and got[:6] == names and set(got[6:]) <= functions
            ),
            "feat_root_listed": test(lambda got: got[:6] == names and len(got) == 7),
            "class_or_name": test(lambda got: set(got) <= {"Linear", "ReLU", "Rounds"}),
            "feat_rounds_counted": test(lambda got: set(got) == {*names} and len(got) != len(names)),
            "feat_other_order": test(lambda got: sorted(got) == sorted(names)),
        }


class EveryCall(Check):
    """`record_calls(model, x)` is a list of `(name, output)`, one pair for each call, in the order of the calls."""

    errors = ERRORS
    blame = {"outputs that require a gradient": "feat_graph"}

    def given(self, case):
        return {"model": case.build("net", Rounds), "x": case.tensor("x", *case.shape("size", 1, 2, 5), 3)}

    def probe(self, nb, case):
        model, x = self.given(case).values()
        calls = nb.function("record_calls")(model, x * times(case))
        reached = reached_from(calls, model, case)
        return {
            "calls": calls, "outputs that require a gradient": attached(calls),
            "gradients of the model, from the outputs": reached,
        }

    def truth(self, case):
        model, x = self.given(case).values()
        return {
            "calls": pairs(calls_of(case, model, x)), "outputs that require a gradient": [],
            "gradients of the model, from the outputs": no_gradients_from(model, case),
        }

    def mistakes(self, case):
        model, x = self.given(case).values()
        return flaws(calls_of(case, model, x), model)


class Twins(nn.Module):
    """One layer, known under two names; another that runs twice in a row and brings the same; one that does nothing; one that is made on the spot."""

    def __init__(self, one, two, three):
        super().__init__()
        self.names = (one, two, three)
        self.add_module(one, nn.Sequential(nn.Linear(3, 3), nn.Tanh()))
        self.add_module(two, nn.Linear(3, 3))
        again = nn.ReLU()
        self.add_module(three, nn.Sequential(getattr(self, two), nn.Sigmoid(), again, again, nn.Identity()))

    def forward(self, x):
        for name in self.names:
            x = getattr(self, name)(x)
        return nn.Softsign()(x)  # not inside the model, so not to be recorded


class UnderTwoNames(EveryCall):
    """A module that is known under two names has one hook, and reports under the first name."""

    def given(self, case):
        return {"model": case.build("net", Twins, *case.words("names", 3)), "x": case.tensor("x", 2, 3)}

    def mistakes(self, case):
        model, x = self.given(case).values()
        calls = calls_of(case, model, x)

        def often(got):
            return None if len(got) > len(calls) else "no"

        def foreign(got):
            known = {name for name, _ in model.named_modules(remove_duplicate=False)}
            return None if {pair[0] for pair in got} - known else "no"

        pairs_of_calls = zip([None, *calls], calls)
        changed = [call for last, call in pairs_of_calls if not (last and last[0] == call[0] and torch.equal(last[1], call[1]))]
        idle = {name for name, module in model.named_modules() if isinstance(module, nn.Identity)}
        busy = [call for call in calls if call[0] not in idle]
        return {
            "feat_not_inside": {"calls": Matches(foreign, "a call of a module that the model does not have")},
            "feat_under_each_name": {"calls": Matches(often, "more calls")},
            "feat_equal_calls": {"calls": AnyOf(pairs(busy), pairs(changed))},
            **flaws(calls, model),
        }


class CalledAgain(EveryCall):
    """A second run brings its own calls only, an earlier list stays as it is, and no hook is left on the model."""

    blame = {"hooks on the model": "feat_hook_left", "calls of the first run, later": "feat_one_dict"}

    def probe(self, nb, case):
        model, x = self.given(case).values()
        first = nb.function("record_calls")(model, x * times(case))
        second = nb.function("record_calls")(model, -x * times(case))
        hooks = sum(hook_counts(model).values())
        return {
            "calls of the first run, later": first,
            "calls of the second run": second,
            "hooks on the model": hooks,
            "what runs in model(x) afterwards": what_runs(model, case, lambda: model(x).sum().backward()),
        }

    def truth(self, case):
        x = self.given(case)["x"]
        first, second = (calls_of(case, self.given(case)["model"], one) for one in (x, -x))
        fresh = self.given(case)["model"]
        return {
            "calls of the first run, later": pairs(first),
            "calls of the second run": pairs(second),
            "hooks on the model": 0,
            "what runs in model(x) afterwards": as_before(
                what_runs(fresh, case, lambda: fresh(self.given(case)["x"]).sum().backward())
            ),
        }

    def mistakes(self, case):
        return {"feat_hook_left": {"hooks on the model": other_than(0)}}


class NestedAndInPlace(EveryCall):
    """Nested modules report as well, a container after its parts, and every output is as it was when its call ended."""

    def given(self, case):
        return {"model": case.build("net", TinyResNet).eval(), "x": case.tensor("x", 2, 3, *case.shape("size", 2, 6, 9))}


class AnyModel(EveryCall):
    """Any model is recorded, whatever its names, dtypes and dimensions are, and it runs in the modes that it is in."""

    cases = 1
    kinds = (
        "shared", "called_twice", "tied", "partly_frozen", "in_place_behind", "norm_in_eval", "mixed_modes", "none_place",
        "one_dim", "three_dim", "float64", "look_alike",
    )
    errors = {
        **ERRORS,
        r"AttributeError: 'NoneType' object has no attribute '(register_forward_hook|_modules|named_\w+|children)'": "feat_empty_place",
        r"ValueError: (not enough|too many) values to unpack": "some_dimensions",
    }

    blame = {
        "calls in a model with a hook of its owner": "feat_forward_called",
        "calls in a model without parameters": "feat_digits_lost",
        "gradients of the outputs": "feat_graph",
        "calls in a model in which a layer gives whole numbers": "feat_digits_lost",
    }

    def models(self, case):
        return {
            **own_parameter_model(case), **bare_model(case),
            **awkward_models(case, *self.kinds), **hooked_model(case), **whole_numbers_model(case),
        }

    def probe(self, nb, case):
        record = nb.function("record_calls")
        brought = {f"calls in {says}": record(model, x * times(case)) for says, (model, x) in self.models(case).items()}
        says = "a model in which a layer gives its parameter"
        return {**brought, "gradients of the outputs": self.gradients(brought[f"calls in {says}"], self.models(case)[says][0], case)}

    def gradients(self, calls, model, case):
        try:
            return gradients_of(dict(calls), model, case)
        except (TypeError, ValueError):  # no list of pairs, and told as such
            return None

    def truth(self, case):
        wanted = {f"calls in {says}": pairs(calls_of(case, *given)) for says, given in self.models(case).items()}
        shift = calls_of(case, *self.models(case)["a model in which a layer gives its parameter"])
        return {**wanted, "gradients of the outputs": {call[0]: no_gradient_left(call[0], call[1], case) for call in shift}}

    def mistakes(self, case):
        return {}


class RunsOnce(EveryCall):
    """One call of `record_calls` runs the model once, in the mode that it is in: BatchNorm's statistics move once."""

    blame = {"statistics afterwards": "feat_runs_twice"}

    def given(self, case):
        return {"model": case.build("net", TinyResNet).train(), "x": case.tensor("x", 4, 3, *case.shape("size", 2, 6, 9))}

    def probe(self, nb, case):
        model, x = self.given(case).values()
        nb.function("record_calls")(model, x)
        return {"statistics afterwards": {name: one for name, one in model.named_buffers() if one.dim()}}

    def truth(self, case):
        model, x = self.given(case).values()
        model(x)
        return {"statistics afterwards": {name: Close(one) for name, one in model.named_buffers() if one.dim()}}

    def mistakes(self, case):
        model, _ = self.given(case).values()
        same = {name: Close(one) for name, one in model.named_buffers() if one.dim()}
        return {"changes_mode": {"statistics afterwards": same}}


check("reused_modules", Predicted, EveryCall, UnderTwoNames, RunsOnce, CalledAgain, NestedAndInPlace, AnyModel)


# --- Hidden checks: graders run them, learners do not get them. ---
class Stairs(nn.Module):
    """A flight of two layers that is climbed several times, with a rest now and then."""

    def __init__(self, flight, rest, times):
        super().__init__()
        self.names, self.times = (flight, rest), times
        self.add_module(rest, nn.ReLU(inplace=True))
        self.add_module(flight, nn.Sequential(nn.Linear(3, 3), nn.Tanh()))

    def forward(self, x):
        flight, rest = (getattr(self, name) for name in self.names)
        for _ in range(self.times):
            x = flight(flight(x)) * 2
            x = rest(input=x)
        return x


class UpTheStairs(Check):
    """There is one pair for each call, in the order in which the hooks fire."""

    def stairs(self, case):
        words, times = case.words("stairs", 2), case.integer("flights", 2, 9)
        return case.build("stairs", Stairs, *words, times), case.tensor("a climber", 2, 3)

    def probe(self, nb, case):
        return {"calls on the stairs": nb.function("record_calls")(*self.stairs(case))}

    def truth(self, case):
        model, x = self.stairs(case)
        (flight, rest), wanted = model.names, []
        first, _ = getattr(model, flight)
        for _ in range(model.times):
            for _ in range(2):
                inner = first(x)
                x = torch.tanh(inner)
                wanted += [(f"{flight}.0", inner), (f"{flight}.1", x), (flight, x)]
            x = torch.relu(x * 2)
            wanted.append((rest, x))
        return {"calls on the stairs": [[name, Close(value.detach(), rtol=1e-4, atol=1e-4)] for name, value in wanted]}


check("reused_modules", UpTheStairs)
