import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches, is_same
from course.awkward import awkward_models, hooked_model
from course.probing import calls_of, hook_counts, statistics
from course.traces import gradients_from, gradients_of, what_runs
from course.truths import as_before, no_gradient_left, no_gradients_from


ERRORS = {
    r"AttributeError: 'tuple' object has no attribute": "feat_output_is_tuple",
    r"AttributeError: 'dict' object has no attribute '(detach|clone|data|cpu)'": "feat_dict_skipped",
    r"AttributeError: '(NoneType|str|int|float)' object has no attribute": "feat_none_part",
    r"TypeError: '(NoneType|int|float)' object is not iterable": "feat_none_part",
    r"TypeError: cannot unpack non-iterable NoneType": "feat_none_part",
    r"RecursionError": "feat_into_text",
    r"StopIteration": "feat_first_parameter",
    r"RuntimeError: Boolean value of Tensor with": "truth_of_tensor",
    r"TypeError: iteration over a 0-d tensor": "feat_tensor_apart",
    r"(TypeError: '\w+' object is not subscriptable|ValueError: (too many|not enough) values to unpack)": "feat_typed_in_form",
    r"IndexError: tuple index out of range": "feat_typed_in_form",
    r"AttributeError: '\w+' object has no attribute '\w+(\.\w+)+'": "dotted_name",
    r"KeyError: '\w+(\.\w+)+'": "dotted_name",
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


def attached(tensors):
    """The names of the tensors that require a gradient."""
    pairs = tensors.items() if isinstance(tensors, dict) else ()
    return sorted(str(name) for name, value in pairs if getattr(value, "requires_grad", False))


def reached_from(tensors, model, case):
    """What a backward from the tensors leaves in the model."""
    try:
        return gradients_from(tensors.values(), model, case)
    except AttributeError:  # no dict, and told as such
        return None


class LstmAndAttention(Check):
    """`every_tensor(model, layers, x)` holds every tensor of an LSTM, of attention and of a linear layer, by its place."""

    errors = ERRORS
    blame = {"tensors that require a gradient": "feat_graph", "what runs in model(x) afterwards": "changes_mode"}

    def given(self, case):
        names = case.words("names", 3)
        model = case.build("net", Reader, *names)
        getattr(model, names[2]).eval()  # as its owner wants it
        return model, [names[1], f"{names[2]}.0", names[0]], case.tensor("x", *case.shape("size", 2, 2, 5), 4)

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        tensors = nb.function("every_tensor")(model, list(layers), x)
        hooks = sum(hook_counts(model).values())
        return {
            "tensors": tensors, "tensors that require a gradient": attached(tensors), "hooks on the model": hooks,
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
            "tensors": close(tensors), "tensors that require a gradient": [], "hooks on the model": 0,
            "what runs in model(x) afterwards": runs,
            "gradients of the model, from the tensors": no_gradients_from(model, case),
        }

    def mistakes(self, case):
        (attention, _), (linear, output), (lstm, (_, (_, c))) = self.parts(case).items()
        wanted, (model, _, x) = self.truth(case)["tensors"], self.given(case)
        model.train()

        def flaw(test):
            return {"tensors": Matches(lambda got: None if isinstance(got, dict) and test(got) else "no", "this flaw")}

        def same(got, value):
            return is_same(got, Close(value, rtol=1e-4, atol=1e-4))

        return {
            "returns_nothing": {"tensors": None},
            "nothing_kept": {"tensors": {}},
            "feat_tensor_apart": flaw(lambda got: any(key.startswith(f"{linear}.") for key in got)),
            "feat_first_part": flaw(
                lambda got: same(got.get(linear), output[0]) or set(got) == {f"{attention}.0", linear, f"{lstm}.0"}
            ),
            "feat_tuples_skipped": {"tensors": close({linear: output})},
            "feat_one_level": flaw(lambda got: set(got) == set(wanted) - {f"{lstm}.1.0", f"{lstm}.1.1"}),
            "feat_flat_numbers": flaw(lambda got: {f"{lstm}.1", f"{lstm}.2"} < set(got) and len(got) == len(wanted)),
            "feat_parts_overwrite": flaw(lambda got: same(got.get(lstm), c)),
            "feat_nested_value": flaw(lambda got: set(got) == {attention, linear, lstm}),
            "feat_one_dict": flaw(lambda got: set(wanted) < set(got) and {key.split(".")[0] for key in got} - {*model.names}),
            "feat_other_keys": flaw(lambda got: len(got) == len(wanted) and any("[" in str(key) or "/" in str(key) or "_" in str(key) for key in got)),
            "loop_variable": flaw(lambda got: lstm in got and {name.split(".")[0] for name in got} == {lstm}),
            "feat_hook_left": {"hooks on the model": Matches(lambda got: None if got else "no", "some")},
            "feat_one_mode_for_all": {
                "what runs in model(x) afterwards": what_runs(model, case, lambda: model(x).sum().backward())
            },
        }


class Mixed(nn.Module):
    """Returns tensors, and things that are none, in a dict with a list and a dict in it."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        score = self.fc(x)
        extra = [score * 2, None, (x + 1,), []]
        return {"score": score, "extra": extra, "name": "mixed", "size": 3, "more": {"mean": score.mean(0), "best": score.argmax(-1)}}


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
            f"{mixed}.score": found["score"],
            f"{mixed}.extra.0": found["score"] * 2,
            f"{mixed}.extra.2.0": middle + 1,
            f"{mixed}.more.mean": found["score"].mean(0),
            f"{mixed}.more.best": found["score"].argmax(-1),
            f"{attention}.0": middle,
        }
        return {"tensors": close(tensors)}

    def mistakes(self, case):
        _, (mixed, attention), _ = self.given(case)
        wanted = set(self.truth(case)["tensors"])

        def flaw(test):
            return {"tensors": Matches(lambda got: None if test(set(got)) else "no", "this flaw")}

        return {
            "feat_dict_skipped": flaw(
                lambda got: got == {f"{attention}.0"} or f"{mixed}.more.0" in got or f"{mixed}.0" in got
            ),
            "feat_none_part": flaw(lambda got: wanted < got),
            "feat_lists_skipped": flaw(lambda got: got == {key for key in wanted if ".extra." not in key}),
            "feat_integers": flaw(lambda got: got == wanted - {f"{mixed}.more.best"}),
            "feat_one_level": flaw(lambda got: got < wanted and f"{mixed}.extra.2.0" not in got),
        }


class WritesBehind(nn.Module):
    """A pair, of which the caller overwrites the first part."""

    def forward(self, x):
        return x * 2, x * 3


class InPlaceAfterwards(Check):
    """A tensor inside a tuple is kept as it was, whatever is written into it later."""

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
        return {"tensors": {f"{name}.0": x * 2, f"{name}.1": x * 3}}

    def mistakes(self, case):
        _, name, x = self.given(case)
        first, second = (x * 2, (x * 2).relu()), (x * 3, x * 6)
        flaws = [{f"{name}.0": one, f"{name}.1": two} for one in first for two in second][1:]
        return {"feat_alias": {"tensors": AnyOf(*flaws)}}


class Odd(nn.Module):
    """Returns tensors that are easily overlooked."""

    def __init__(self):
        super().__init__()
        self.scale, self.norm = nn.Parameter(torch.ones(3)), nn.BatchNorm1d(3)

    def forward(self, x):
        self.norm(x)
        deep = {"a": [({"b": [(x + 3, {"c": x + 4})]},)]}
        twice = (x + 1, x + 1)
        return {"sum": x.sum(), "scale": self.scale, "none_left": x[:0], "which": x > 0, "twice": twice, "same": [x, x], "deep": deep}


class EveryPart(Check):
    """A parameter counts, and so does a tensor without dimensions or numbers; one tensor in two places has two keys; any depth."""

    cases = 1
    errors = ERRORS
    blame = {"statistics afterwards": "feat_runs_twice", "gradients of the tensors": "feat_graph"}

    def given(self, case):
        (name,) = case.words("name", 1)

        class Caller(nn.Module):
            def __init__(self):
                super().__init__()
                self.add_module(name, Odd())

            def forward(self, x):
                return getattr(self, name)(x)["sum"]

        return case.build("net", Caller), name, case.tensor("x", 2, 3)

    def probe(self, nb, case):
        model, name, x = self.given(case)
        tensors = nb.function("every_tensor")(model, [name], x)
        moved = statistics(model)
        return {"tensors": tensors, "gradients of the tensors": gradients_of(tensors, model, case), "statistics afterwards": moved}

    def truth(self, case):
        model, name, x = self.given(case)
        before = statistics(model)
        model(x)
        # Whoever looks in eval mode, and puts the modes back, moves none of them.
        once = {one: AnyOf(Close(value, 1e-4, 1e-4), before[one]) for one, value in statistics(model).items()}
        parts = {
            "sum": x.sum(), "scale": getattr(model, name).scale.detach(), "none_left": x[:0], "which": x > 0,
            "twice.0": x + 1, "twice.1": x + 1, "same.0": x, "same.1": x,
            "deep.a.0.0.b.0.0": x + 3, "deep.a.0.0.b.0.1.c": x + 4,
        }
        tensors = {f"{name}.{place}": tensor for place, tensor in parts.items()}
        gradients = {place: no_gradient_left(place, one, case) for place, one in tensors.items()}
        return {"tensors": tensors, "gradients of the tensors": gradients, "statistics afterwards": once}

    def mistakes(self, case):
        _, name, _ = self.given(case)
        wanted = {place.removeprefix(f"{name}.") for place in self.truth(case)["tensors"]}

        def missing(*places):
            def test(got):
                lacks = wanted - {place.removeprefix(f"{name}.") for place in got}
                return None if lacks and all(one.startswith(places) for one in lacks) else "no"

            return {"tensors": Matches(test, "without these")}

        def other_dtype(got):
            return None if set(got) == {f"{name}.{place}" for place in wanted} and got[f"{name}.which"].dtype != "bool" else "no"

        return {
            "feat_overlooked": missing("sum", "scale", "none_left"),
            "feat_digits_lost": {"tensors": Matches(other_dtype, "whole numbers for true and false")},
            "feat_one_place": missing("same", "twice"),
            "feat_one_level": missing("deep"),
        }


class AnyModel(Check):
    """Any model is looked into, whatever its names, dtypes and dimensions are; named tuples and ordered dicts are opened."""

    cases = 1
    kinds = (
        "shared", "called_twice", "tied", "partly_frozen", "in_place_behind", "norm_in_eval", "mixed_modes", "none_place",
        "one_dim", "three_dim", "float64", "namedtuple", "dictionary", "look_alike",
    )
    errors = {
        **ERRORS,
        r"AttributeError: 'NoneType' object has no attribute '(register_forward_hook|_modules|named_\w+|children)'": "feat_empty_place",
    }
    blame = {
        "tensors of a model in which a layer gives a named tuple": "feat_named_tuple",
        "tensors of a model in which a layer gives a dict": "feat_dict_skipped",
        "tensors of a model in float64": "feat_digits_lost",
        "tensors of a model with a hook of its owner": "feat_forward_called",
        "tensors of a model with names that look alike": "name_in_name",
    }

    def models(self, case):
        return {**awkward_models(case, *self.kinds), **hooked_model(case)}

    def parts(self, given):
        """By layer, for those that run once: what it returned, by place."""
        calls = calls_of(*given)
        names = [call.name for call in calls]
        asked = ("fc", "fc1", "my_block.fc") if "fc10" in names else [name for name in names if name]
        found = {}
        for call in calls:
            if call.name in asked and names.count(call.name) == 1:
                found[call.name] = self.by_place(call.name, call.output)
        return found

    def by_place(self, place, output):
        if isinstance(output, torch.Tensor):
            return {place: output.detach()}
        pairs = output.items() if isinstance(output, dict) else enumerate(output)
        return {f"{place}.{key}": part.detach() for key, part in pairs}

    def probe(self, nb, case):
        brought, spent = {}, self.models(case)
        for says, (model, x) in self.models(case).items():
            layers = case.shuffled(f"layers of {says}", list(self.parts(spent[says])))
            brought[f"tensors of {says}"] = nb.function("every_tensor")(model, layers, x)
        return brought

    def truth(self, case):
        wanted = {}
        for says, given in self.models(case).items():
            parts = self.parts(given)
            tensors = {place: one for found in parts.values() for place, one in found.items()}
            fields = {place.replace("halve.0", "halve.left").replace("halve.1", "halve.right"): one for place, one in tensors.items()}
            wanted[f"tensors of {says}"] = AnyOf(close(tensors), close(fields)) if "halve.0" in tensors else close(tensors)
        return wanted

    def mistakes(self, case):
        return {}


check("tuple_outputs", LstmAndAttention, NoneAndDicts, InPlaceAfterwards, EveryPart, AnyModel)


# --- Hidden checks: graders run them, learners do not get them. ---
class Parcel(nn.Module):
    """A layer that packs tensors in lists, dicts and tuples, under words of the seed."""

    def __init__(self, outer, inner):
        super().__init__()
        self.words, self.fc = (outer, inner), nn.Linear(5, 2)

    def forward(self, x):
        outer, inner = self.words
        score = self.fc(x)
        return [{outer: ("heavy", score, [None, x * 2])}, {inner: {outer: score.sum(1)}}]


class Post(nn.Module):
    """Two layers that return several things, and write over them afterwards."""

    def __init__(self, box, van, *words):
        super().__init__()
        self.names = (box, van)
        self.add_module(box, nn.GRU(3, 5, batch_first=True))
        self.add_module(van, Parcel(*words))

    def forward(self, x):
        steps, _ = getattr(self, self.names[0])(x)
        packed = getattr(self, self.names[1])(steps)
        return packed[0][self.get_submodule(self.names[1]).words[0]][1].mul_(2)


class PartsOfAParcel(Check):
    """Every tensor is there, under its place, as it was."""

    def post(self, case):
        model = case.build("the post", Post, *case.words("post", 4))
        return model, case.tensor("letters", *case.shape("letters", 2, 2, 5), 3)

    def probe(self, nb, case):
        model, x = self.post(case)
        return {"tensors": nb.function("every_tensor")(model, case.shuffled("stops", model.names), x)}

    def truth(self, case):
        model, x = self.post(case)
        box, van = model.names
        outer, inner = getattr(model, van).words
        steps, last = getattr(model, box)(x)
        score = getattr(model, van).fc(steps)
        tensors = {f"{box}.0": steps, f"{box}.1": last, f"{van}.0.{outer}.1": score}
        tensors |= {f"{van}.0.{outer}.2.1": steps * 2, f"{van}.1.{inner}.{outer}": score.sum(1)}
        return {"tensors": close(tensors)}


check("tuple_outputs", PartsOfAParcel)
