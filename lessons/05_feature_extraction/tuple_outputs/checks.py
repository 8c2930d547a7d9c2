from collections import OrderedDict

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, is_same
from nbproof.values.evidence import snapshot
from course.probing import hook_counts
from course.traces import gradients_from, what_runs
from course.truths import as_before, no_gradients_from, such_that

ERRORS = {
    r"AttributeError: 'tuple' object has no attribute": "feat_output_is_tuple",
    r"AttributeError: 'dict' object has no attribute '(detach|clone|data|cpu)'": "feat_dict_skipped",
    r"AttributeError: 'list' object has no attribute": "feat_lists_skipped",
    r"(AttributeError: '(NoneType|str|int|float)' object has no|TypeError: '(NoneType|int|float)' object is not iterable)": "feat_none_part",
    r"RecursionError": "feat_into_text",
    r"RuntimeError: Boolean value of Tensor with": "truth_of_tensor",
    r"TypeError: iteration over a 0-d tensor": "feat_tensor_apart",
    r"(TypeError: '\w+' object is not subscriptable|ValueError: (too many|not enough) values to unpack)": "feat_typed_in_form",
    r"(IndexError: tuple index out of range|TypeError: cannot unpack non-iterable NoneType)": "feat_typed_in_form",
    r"(AttributeError: '\w+' object has no attribute|KeyError:) '\w+(\.\w+)+'": "dotted_name",
}


class Reader(nn.Module):
    """Reads sentences: an LSTM, attention over its outputs, and a block with a linear layer in it."""

    def __init__(self, lstm, attention, block):
        super().__init__()
        self.names = (lstm, attention, block)
        self.add_module(lstm, nn.LSTM(4, 6, num_layers=2, batch_first=True))
        self.add_module(attention, nn.MultiheadAttention(6, 2, batch_first=True))
        self.add_module(block, nn.Sequential(nn.Linear(6, 3), nn.Tanh()))

    def forward(self, x):
        lstm, attention, block = (getattr(self, name) for name in self.names)
        output, _ = lstm(x)
        mixed, _ = attention(output, output, output)
        return block(mixed)


def close(tensors):
    return {name: Close(tensor, rtol=1e-4, atol=1e-4) for name, tensor in tensors.items()}


def reached_from(tensors, model, case):  # what a backward from the tensors leaves in the model
    return gradients_from(tensors.values() if isinstance(tensors, dict) else (), model, case)


def flaw(test):
    return {"tensors": such_that(lambda got: isinstance(got, dict) and test(got))}


class LstmAndAttention(Check):
    """Every tensor of an LSTM, of attention and of a linear layer is there, by its place."""

    errors = ERRORS
    blame = {"gradients of the model, from the tensors": "feat_graph", "the number of hooks on the model": "feat_hook_left"}

    def given(self, case):
        names = case.words("names", 3)
        model, x = case.build("net", Reader, *names), case.tensor("x", *case.shape("size", 2, 2, 5), 4)
        return model, [names[1], f"{names[2]}.0", names[0]], x

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        tensors = nb.function("every_tensor")(model, list(layers), x)
        return {
            "tensors": tensors, "the number of hooks on the model": sum(hook_counts(model).values()),
            "what runs in model(x) afterwards": what_runs(model, case, lambda: model(x).sum().backward()),
            "gradients of the model, from the tensors": reached_from(tensors, model, case),
        }

    def parts(self, case):
        """What the layers return, by hand."""
        model, _, x = self.given(case)
        lstm, attention, block = model.names
        found = getattr(model, lstm)(x)
        mixed = getattr(model, attention)(*[found[0]] * 3)
        return {attention: mixed, f"{block}.0": getattr(model, block)[0](mixed[0]), lstm: found}

    def truth(self, case):
        (attention, (mixed, weights)), (linear, output), (lstm, (steps, (h, c))) = self.parts(case).items()
        tensors = {f"{attention}.0": mixed, f"{attention}.1": weights, linear: output}
        tensors |= {f"{lstm}.0": steps, f"{lstm}.1.0": h, f"{lstm}.1.1": c}
        model, _, x = self.given(case)
        runs = as_before(what_runs(model, case, lambda: model(x).sum().backward()))
        return {
            "tensors": close(tensors), "the number of hooks on the model": 0, "what runs in model(x) afterwards": runs,
            "gradients of the model, from the tensors": no_gradients_from(model, case),
        }

    def mistakes(self, case):
        (attention, _), (linear, output), (lstm, (_, (h, c))) = self.parts(case).items()
        wanted = self.truth(case)["tensors"]

        def same(got, value):
            return is_same(got, Close(value, rtol=1e-4, atol=1e-4))

        return {
            "returns_nothing": {"tensors": None}, "nothing_kept": {"tensors": {}},
            "feat_lone_tensor": flaw(lambda got: same(got.get(f"{linear}.0"), output)),
            "feat_tensor_apart": flaw(lambda got: any(key.startswith(f"{linear}.") for key in got)),
            "feat_first_part": flaw(lambda got: same(got.get(linear), output[0]) or set(got) == {f"{attention}.0", linear, f"{lstm}.0"}),
            "feat_tuples_skipped": {"tensors": close({linear: output})}, "feat_one_level": flaw(lambda got: set(got) == set(wanted) - {f"{lstm}.1.0", f"{lstm}.1.1"}),
            "feat_flat_numbers": flaw(lambda got: {f"{lstm}.1", f"{lstm}.2"} < set(got) and len(got) == len(wanted)),
            "feat_parts_overwrite": flaw(lambda got: same(got.get(lstm), c) or same(got.get(f"{lstm}.0"), h)),
            "feat_nested_value": flaw(lambda got: set(got) == {attention, linear, lstm}),
            "feat_other_keys": flaw(lambda got: f"{attention}.2" in got or any(set("[/_") & {*key} or key[:2] < "a" for key in got)),
            "loop_variable": flaw(lambda got: lstm in got and {name.split(".")[0] for name in got} == {lstm}),
        }


class Mixed(nn.Module):
    """Returns tensors, and things that are none, in a dict with a list and a dict in it."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        score = self.fc(x)
        extra = [score * 2, None, (x + 1,), []]
        return {"score": score, "extra": extra, "name": "mixed", "size": 3, "more": OrderedDict(mean=score.mean(0), best=score.argmax(-1))}


class NoneAndDicts(Check):
    """Dicts and lists at any depth are opened; None, numbers and text are left out."""

    errors = ERRORS

    def given(self, case):
        one, two = case.words("names", 2)

        class Both(nn.Module):
            def __init__(self):
                super().__init__()
                self.add_module(one, nn.MultiheadAttention(4, 2, batch_first=True))
                self.add_module(two, Mixed())

            def forward(self, x):
                x, _ = getattr(self, one)(x, x, x, need_weights=False)
                return getattr(self, two)(x)["score"]

        return case.build("net", Both), [two, one], case.tensor("x", *case.shape("size", 2, 2, 5), 4)

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        return {"tensors": nb.function("every_tensor")(model, list(layers), x)}

    def truth(self, case):
        model, (mixed, attention), x = self.given(case)
        middle, _ = getattr(model, attention)(x, x, x)
        found = getattr(model, mixed)(middle)
        tensors = {
            f"{mixed}.score": found["score"], f"{mixed}.extra.0": found["score"] * 2, f"{mixed}.extra.2.0": middle + 1,
            f"{mixed}.more.mean": found["score"].mean(0), f"{mixed}.more.best": found["score"].argmax(-1), f"{attention}.0": middle,
        }
        return {"tensors": close(tensors)}

    def mistakes(self, case):
        (_, (mixed, attention), _), wanted = self.given(case), set(self.truth(case)["tensors"])
        return {
            "feat_dict_skipped": flaw(lambda got: set(got) == {f"{attention}.0"} or f"{mixed}.more.0" in got or f"{mixed}.0" in got),
            "feat_none_part": flaw(lambda got: wanted < set(got)),
            "feat_gaps_closed": flaw(lambda got: f"{mixed}.extra.1.0" in got),
            "feat_exact_kind": flaw(lambda got: set(got) == {key for key in wanted if ".more." not in key}),
            "feat_lists_skipped": flaw(lambda got: set(got) == {key for key in wanted if ".extra." not in key}),
            "feat_one_level": flaw(lambda got: set(got) < wanted and f"{mixed}.extra.2.0" not in got),
        }


class WritesBehind(nn.Module):
    """A pair, of which the caller overwrites both parts, and which tells how often it was made."""

    runs = 0

    def forward(self, x):
        self.runs += 1
        return x * 2, x + self.runs


class InPlaceAfterwards(Check):
    """A tensor inside a tuple is kept as it was in one run, whatever is written into it later."""

    errors = ERRORS

    def given(self, case):
        (name,) = case.words("name", 1)

        class Caller(nn.Module):
            def __init__(self):
                super().__init__()
                self.add_module(name, WritesBehind())

            def forward(self, x):
                one, two = getattr(self, name)(x)
                return one.relu_() + two.mul_(2)

        return Caller(), name, case.tensor("x", 3, 4)

    def probe(self, nb, case):
        model, name, x = self.given(case)
        return {"tensors": nb.function("every_tensor")(model, [name], x)}

    def truth(self, case):
        _, name, x = self.given(case)
        return {"tensors": {f"{name}.0": x * 2, f"{name}.1": x + 1}}

    def mistakes(self, case):
        _, name, x = self.given(case)
        first, second = (x * 2, (x * 2).relu()), (x + 1, (x + 1) * 2)
        flaws = [{f"{name}.0": one, f"{name}.1": two} for one in first for two in second][1:]
        return {"feat_alias": {"tensors": AnyOf(*flaws)}, "feat_runs_twice": {"tensors": {f"{name}.0": x * 2, f"{name}.1": x + 2}}}


check("tuple_outputs", LstmAndAttention, NoneAndDicts, InPlaceAfterwards)


# --- Hidden checks: graders run them, learners do not get them. ---
def plan_of(case, place, numbers, depth=0):
    """What a layer returns: tuples, lists and dicts in each other, as the seed says; the numbers stand for tensors."""
    if depth == 4 or (depth > 1 and case.integer(f"the end at {place}", 0, 1)):
        return next(numbers) if case.integer(f"a tensor at {place}", 0, 3) else case.shuffled(place, [None, 7.5, "seven"])[0]
    keys = case.words(f"keys at {place}", case.integer(f"parts at {place}", 2, 3))
    parts = {key: plan_of(case, f"{place} {key}", numbers, depth + 1) for key in keys}
    parts[keys[0]] = next(numbers) if depth else parts[keys[0]]
    return case.shuffled(f"kind at {place}", [parts, list(parts.values()), tuple(parts.values())])[0]


def packed(plan, tensors):
    if isinstance(plan, dict):
        return {key: packed(part, tensors) for key, part in plan.items()}
    if isinstance(plan, (list, tuple)):
        return type(plan)(packed(part, tensors) for part in plan)
    return tensors[plan] if isinstance(plan, int) else plan


def post(case):
    """A model whose layers pack what they compute into parcels of a form of their own, and write over it afterwards."""
    order = case.words("stops of the post", case.integer("how many stops", 2, 3))
    plans = {name: plan_of(case, name, iter(range(99))) for name in order}

    class Parcel(nn.Module):
        def __init__(self, plan):
            super().__init__()
            self.plan, self.fc, self.trips = plan, nn.Linear(3, 3), 0

        def forward(self, x):
            self.trips += 1
            self.goods = self.fc(x) * torch.arange(1.0, 99.0)[:, None, None] + self.trips
            return packed(self.plan, self.goods)

    class Post(nn.Module):
        def __init__(self):
            super().__init__()
            for name in case.shuffled("as they lie", order):
                self.add_module(name, Parcel(plans[name]))

        def forward(self, x):
            for name in order:
                self.get_submodule(name)(x)
                x = self.get_submodule(name).goods.mul_(2)[3].tanh()
            return x

    return case.build("the post", Post), [f"{order[0]}.fc", *order], plans, case.tensor("letters", 2, 3)


class PartsOfAParcel(Check):
    """Every tensor is there, under its place, as it was."""

    def probe(self, nb, case):
        model, stops, _, x = post(case)
        tensors = nb.function("every_tensor")(model, case.shuffled("stops", stops), x)
        ran = what_runs(model, case, lambda: model(x).sum().backward())
        return {"tensors": snapshot(tensors), "gradients": reached_from(tensors, model, case), "what runs afterwards": ran}

    def truth(self, case):
        model, _, plans, x = post(case)
        found, value = {}, x

        def open_up(place, plan, goods):
            if isinstance(plan, int):
                found[place] = goods[plan]
            elif isinstance(plan, (dict, list, tuple)):
                for key, part in plan.items() if isinstance(plan, dict) else enumerate(plan):
                    open_up(f"{place}.{key}", part, goods)

        for name, plan in plans.items():
            inner = model.get_submodule(name).fc(value)
            found.setdefault(f"{next(iter(plans))}.fc", inner)
            open_up(name, plan, inner * torch.arange(1.0, 99.0)[:, None, None] + 1)
            value = torch.tanh(inner * 8 + 2)
        ran = what_runs(model, case, lambda: model(x).sum().backward())
        return {"tensors": close(found), "gradients": no_gradients_from(model, case), "what runs afterwards": as_before(ran)}


check("tuple_outputs", PartsOfAParcel)
