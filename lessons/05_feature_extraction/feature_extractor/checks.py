import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches, is_same
from nbproof.values.evidence import snapshot
from course.probing import hook_counts, statistics
from course.traces import gradients_from, what_runs
from course.truths import same_both_times, such_that

ERRORS = {
    r"(AttributeError: '\w+' object has no attribute|KeyError:) '\w+\.\w+(\.\w+)*'": "dotted_name",
    r"AttributeError: '\w+' object has no attribute '(conv1|bn1|maxpool|layer[1-4]|avgpool)'": "typed_in_names",
    r"(TypeError: .*some of the arguments have invalid types: \(!tuple of \(|AttributeError: 'dict' object has .*'isfinite')": "hook_replaces_output",
    r"RuntimeError: element 0 of tensors does not require grad": "feat_grad_mode",
    r"TraceError: ": "feat_traced",
    r"AttributeError: 'FeatureExt' object has no attribute '\w+'": "feat_made_too_late",
}


class Block(nn.Module):
    """A convolution, a BatchNorm and a ReLU that works in a tensor of its own."""

    def __init__(self, name):
        super().__init__()
        self.name = name
        self.add_module(name, nn.Conv2d(3, 3, 3, padding=1))
        self.norm = nn.BatchNorm2d(3)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.norm(getattr(self, self.name)(x)))


class NestedNet(nn.Module):
    """A convolution, two blocks with a skip connection around them, a convolution, a mean. It cannot be traced."""

    def __init__(self, stem, body, head):
        super().__init__()
        self.names = (stem, body, head)
        self.add_module(stem, nn.Conv2d(3, 3, 3))
        self.add_module(body, nn.Sequential(Block(stem), Block(stem)))
        self.add_module(head, nn.Conv2d(3, 6, 1))

    def forward(self, x):
        stem, body, head = (getattr(self, name) for name in self.names)
        x = stem(x)
        if x.isfinite().all():  # a question about values
            x = x + body(x)
        return head(x).mean((2, 3))


def close(tensors):
    return {name: Close(tensor, rtol=1e-4, atol=1e-4) for name, tensor in tensors.items()}


def features_of(model, layers, x):
    """Truth, on a model that no hook has ever been near: layer by layer."""
    stem, body, head = model.names
    with torch.no_grad():
        outputs = {stem: getattr(model, stem)(x)}
        value = outputs[stem]
        for number, block in enumerate(getattr(model, body)):
            inner = outputs[f"{body}.{number}.{stem}"] = getattr(block, stem)(value)
            value = outputs[f"{body}.{number}"] = block.act(block.norm(inner))
        outputs[head] = getattr(model, head)(outputs[stem] + value)
    return {name: outputs[name] for name in layers}


class NestedNames(Check):
    """`FeatureExt(model, layers)(x)` is `{name: output of that layer}`, nested layers included."""

    errors = ERRORS

    def given(self, case):
        stem, body, head = case.words("names", 3)
        model = case.build("net", NestedNet, stem, body, head).eval()
        layers = [head, f"{body}.0.{stem}", stem, f"{body}.1"]
        return model, layers, case.tensor("x", 2, 3, *case.shape("size", 2, 6, 9))

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        return {"features": nb.function("FeatureExt")(model, list(layers))(x)}

    def truth(self, case):
        return {"features": close(features_of(*self.given(case)))}

    def mistakes(self, case):
        model, layers, x = self.given(case)
        stem, body, head = model.names
        block, second = f"{body}.0.{stem}", f"{body}.1"
        with torch.no_grad():
            wanted, output = features_of(model, layers, x), model(x)
            middle = getattr(model, body)[0](wanted[stem])
            namesake = getattr(getattr(model, body)[1], stem)(middle)
            inputs = {head: wanted[stem] + wanted[second], block: wanted[stem], stem: x, second: middle}
            in_a_row = getattr(model, head)(wanted[second])
            direct = {name: model.get_submodule(name)(x) for name in layers}
        in_order = [wanted[name] for name in (stem, block, second, head)]
        kinds = {type(module).__name__ for module in model.modules()}
        ends = {name.split(".")[-1] for name in layers}

        def flaw(test):
            return {"features": such_that(lambda got: isinstance(got, dict) and test(got))}

        def same(got, name, value):
            return is_same(got.get(name), Close(value, rtol=1e-4, atol=1e-4))

        def scaled(got):  # up to the first layer all is well
            return set(got) == set(layers) and [name for name in layers if same(got, name, wanted[name])] == [stem]

        return {
            "returns_nothing": {"features": None},
            "children_in_a_row": flaw(lambda got: same(got, head, in_a_row)),
            "one_sample": {"features": close({name: value[0] for name, value in wanted.items()})},
            "output_for_features": {"features": Close(output)},
            "feat_in_a_list": {"features": {name: [value] for name, value in close(wanted).items()}},
            "list_for_dict": {"features": AnyOf(list(wanted.values()), in_order)},
            "by_position": {"features": close(dict(zip(layers, in_order)))},
            "loop_variable": flaw(lambda got: same(got, layers[-1], wanted[head])),
            "shared_state": flaw(lambda got: set(layers) < set(got) and set(got) - {name for name, _ in model.named_modules()}),
            "name_in_name": flaw(
                lambda got: same(got, stem, namesake)
                or (set(layers) < set(got) and all(any(one in name for one in layers) for name in got))
            ),
            "all_layers": flaw(lambda got: set(layers) < set(got)),
            "class_or_name": flaw(lambda got: set(got) <= kinds),
            "dotted_name": flaw(lambda got: set(got) == ends),
            "feat_top_level": flaw(lambda got: set(got) == {stem, head}),
            "input_or_output": {"features": close(inputs)},
            "shape_for_output": {"features": {name: list(value.shape) for name, value in wanted.items()}},
            "layers_on_the_input": {"features": close(direct)},
            "changes_mode": {"features": close(features_of(model.train(), layers, x))},
            "changes_the_flow": flaw(scaled),
        }


class CalledAgain(NestedNames):
    """Each call returns the features of its own input, and adds no hooks."""

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        extractor = nb.function("FeatureExt")(model, list(layers))
        first = snapshot(extractor(x))  # a later call may change an earlier dict
        before = sum(hook_counts(model).values())
        ran = what_runs(model, case, lambda: model(x), "first")
        second = snapshot(extractor(x[:1, :, 1:]))
        return {
            "what the first call returns": first, "what the second call returns": second,
            "the number of hooks that the second call adds": sum(hook_counts(model).values()) - before,
            "what runs in model(x), before and after it": [ran, what_runs(model, case, lambda: model(x), "later")],
        }

    def truth(self, case):
        model, layers, x = self.given(case)
        return {
            "what the first call returns": close(features_of(model, layers, x)),
            "what the second call returns": close(features_of(model, layers, x[:1, :, 1:])),
            "the number of hooks that the second call adds": 0,
            "what runs in model(x), before and after it": same_both_times(case, "first", "later"),
        }

    def mistakes(self, case):
        model, layers, x = self.given(case)
        return {
            "stale_result": {"what the second call returns": close(features_of(model, layers, x))},
            "silent_afterwards": {"what the second call returns": such_that(lambda got: isinstance(got, dict) and not got)},
            "hooks_pile_up": {"the number of hooks that the second call adds": such_that(lambda got: got > 0)},
        }


class TwoAtOnce(NestedNames):
    """Two extractors on one model each return their own features."""

    def probe(self, nb, case):
        model, layers, x = self.given(case)
        one = nb.function("FeatureExt")(model, layers[:2])
        two = nb.function("FeatureExt")(model, [layers[3], layers[0], layers[2]])
        return {
            "what the first one returns": snapshot(one(x)), "what the second one returns": snapshot(two(x + 1)),
            "what the first one returns again": snapshot(one(x * 2)),
        }

    def truth(self, case):
        model, layers, x = self.given(case)
        return {
            "what the first one returns": close(features_of(model, layers[:2], x)),
            "what the second one returns": close(features_of(model, [layers[3], layers[0], layers[2]], x + 1)),
            "what the first one returns again": close(features_of(model, layers[:2], x * 2)),
        }

    def mistakes(self, case):
        layers = self.given(case)[1]
        more, less = such_that(lambda got: set(got) > set(layers[:2])), such_that(lambda got: set(got) < set(layers[:2]))
        shared = AnyOf({"what the first one returns": more}, {"what the first one returns again": more})
        return {"shared_state": shared, "removes_other_hooks": {"what the first one returns": less}}


class LeftAsItIs(NestedNames):
    """Each module stays in its mode; the model runs once, and returns what it returned before; no later call changes a feature."""

    blame = {
        "statistics afterwards": "feat_runs_twice", "model(x) afterwards": "changes_mode", "gradients from it": "changes_the_flow",
        "the same dict after another call": "feat_one_dict",
    }

    def trained(self, case):  # one norm is not
        model, layers, x = self.given(case)
        model.train().get_submodule(model.names[1])[0].norm.eval()
        return model, layers, x

    def probe(self, nb, case):
        model, layers, x = self.trained(case)
        extractor = nb.function("FeatureExt")(model, list(layers))
        features = extractor(x)
        found = {"features": snapshot(features), "statistics afterwards": snapshot(statistics(model)), "model(x) afterwards": model(x)}
        extractor(x + 1)
        output = found["model(x) afterwards"]
        return {**found, "the same dict after another call": features, "gradients from it": gradients_from([output], model, case)}

    def truth(self, case):
        model, layers, x = self.trained(case)
        features = close(features_of(model, layers, x))
        moved, output = close(statistics(model)), model(x)
        return {
            "features": features, "statistics afterwards": moved, "the same dict after another call": features,
            "model(x) afterwards": Close(output, rtol=1e-4, atol=1e-4), "gradients from it": close(gradients_from([output], model, case)),
        }

    def mistakes(self, case):
        model, layers, x = self.given(case)
        copied = {"statistics afterwards": close(statistics(model))}
        return {"changes_mode": {"features": close(features_of(model.eval(), layers, x))}, "copied_model": copied}


check("feature_extractor", NestedNames, CalledAgain, TwoAtOnce, LeftAsItIs)


# --- Hidden checks: graders run them, learners do not get them. ---
def castle(case):
    """Floors, each a layer with rooms; how many, in which order they are walked through, and which to ask for, the seed says."""
    count = case.integer("floors", 2, 4)
    order, room = case.words("floors of the castle", count), case.words("a room", 1)[0]

    class Floor(nn.Module):
        def __init__(self):
            super().__init__()
            self.add_module(room, nn.Linear(4, 4))
            self.ceiling = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))

        def forward(self, x):
            return x - self.ceiling(torch.tanh(self.get_submodule(room)(x)))

    class Castle(nn.Module):
        def __init__(self):
            super().__init__()
            for name in case.shuffled("as they were built", order):
                self.add_module(name, Floor())

        def forward(self, x):
            for name in order:
                x = self.get_submodule(name)(x)
            return x.sum(1)

    inner = [f"{name}.{one}" for name in order for one in (room, "ceiling.0", "ceiling")]
    layers = [order[0], *case.shuffled("asked for", inner), order[-1]]
    return case.build("a castle", Castle), layers, [case.tensor("by day", 6, 4), case.tensor("by night", 3, 4)]


class AroundTheCastle(Check):
    """Each call returns a dict of its own, with the outputs of the layers that were named for its input, in training mode."""

    def probe(self, nb, case):
        model, layers, (day, night) = castle(case)
        extractor, beside = (nb.function("FeatureExt")(model, [*names, layers[-1]]) for names in (layers[:4], layers[2:-1]))
        found = snapshot([snapshot(beside(night)), extractor(day), extractor(night)])
        ran = [what_runs(model, case, lambda: model(night), f"night {n}") for n in range(2) if n == 0 or extractor(day)]
        return {"features": found, "what ran": ran, "afterwards": model(day), "statistics": statistics(model)}

    def truth(self, case):
        model, layers, (day, night) = castle(case)
        found, wanted = {}, []
        hooks = [
            model.get_submodule(name).register_forward_hook(lambda m, a, output, name=name: found.update({name: output.clone()}))
            for name in layers
        ]
        for names, x in ((layers[2:], night), (layers[:4], day), (layers[:4], night)):
            model(x)
            wanted.append(close({name: found[name] for name in (*names, layers[-1])}))
        for hook in hooks:
            hook.remove()
        for x in (night, day, night, day):
            output = model(x)
        return {
            "features": wanted, "what ran": same_both_times(case, "night 0", "night 1"),
            "afterwards": Close(output, 1e-4, 1e-4), "statistics": close(statistics(model)),
        }


check("feature_extractor", AroundTheCastle)
