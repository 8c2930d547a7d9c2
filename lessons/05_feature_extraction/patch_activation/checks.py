from collections import OrderedDict
from functools import partial

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.models import TinyResNet
from course.awkward import awkward_models, hooked_model
from course.probing import hook_counts, single_calls
from course.traces import what_runs
from course.truths import as_before


ERRORS = {
    r"AttributeError: '\w+' object has no attribute '\w+(\.\w+)+'": "dotted_name",
    r"KeyError: '\w+(\.\w+)+'": "dotted_name",
    r"TypeError: .*(argument 'input'|some of the arguments have invalid types).*(tuple|list|dict)": "hook_replaces_output",
    r"IndexError: too many indices": "some_dimensions",
    r"IndexError: index \d+ is out of bounds for dimension 0": "feat_channel_dimension",
    r"(IndexError: The shape of the mask|RuntimeError: shape mismatch)": "feat_channel_dimension",
    r"StopIteration": "feat_first_parameter",
}


def run(model, layer, x, replace):
    """model(x) where `layer` puts out replace(its input, its output), without any hook: its forward is wrapped for this run."""
    module = model.get_submodule(layer)
    forward = module.forward
    module.forward = lambda given: replace(given, forward(given))
    try:
        with torch.no_grad():
            return model(x)
    finally:
        module.forward = forward


def kept_at(model, layer, x):
    """Copies of the input and of the output of `layer` in model(x), and the output's memory after the run."""
    found = []

    def keep(given, output):
        found.extend([given.clone(), output.clone(), output])
        return output

    run(model, layer, x, keep)
    return found


def mixed(now, kept, numbers):
    """The corrupted output with these channels of the clean one: what patching means."""
    return kept if numbers is None else now.index_copy(1, torch.tensor(numbers, dtype=torch.long), kept[:, numbers])


def close(tensor):
    tolerance = 1e-10 if tensor.dtype == torch.float64 else 1e-4  # the digits that float32 does not have count as well
    return Close(tensor.detach(), rtol=tolerance, atol=tolerance)


class Patched(Check):
    """With a whole layer patched, the answer is the one that the model gives where this layer has its clean output."""

    errors = ERRORS
    layers: tuple[str, ...] = ("bn1", "block.bn2", "block", "fc")

    def given(self, case):
        model, size = case.build("net", TinyResNet).eval(), case.shape("size", 2, 6, 9)
        return model, case.tensor("clean", 2, 3, *size), case.tensor("corrupted", 2, 3, *size)

    def numbers(self, case, layer):
        return None

    def probe(self, nb, case):
        answers = {}
        for layer in self.layers:
            (model, clean, corrupted), numbers = self.given(case), self.numbers(case, layer)
            more = () if numbers is None else (numbers,)
            answers[layer] = nb.function("patch_activation")(model, layer, clean, corrupted, *more)
        return {"answers, by layer": answers}

    def answers(self, case, replace):
        """What the model answers to the corrupted input where each layer in turn puts out what `replace` says."""
        model, clean, corrupted = self.given(case)
        found = {}
        for layer in self.layers:
            put = partial(replace, kept_at(model, layer, clean), self.numbers(case, layer), model.get_submodule(layer))
            found[layer] = close(run(model, layer, corrupted, put))
        return {"answers, by layer": found}

    def truth(self, case):
        return self.answers(case, lambda kept, numbers, module, given, output: mixed(output, kept[1], numbers))

    def mistakes(self, case):
        model, clean, corrupted = self.given(case)
        swapped = type(self)()
        swapped.given = lambda case: (model, corrupted, clean)
        shapes = {layer: tuple(kept_at(model, layer, clean)[1].shape) for layer in self.layers}

        def features(got):
            return None if all(got[layer].shape == shape for layer, shape in shapes.items()) else "no"

        return {
            "returns_nothing": {"answers, by layer": dict.fromkeys(self.layers, None)},
            "feat_returns_feature": {"answers, by layer": Matches(features, "outputs of the layers")},
            "feat_returns_clean": {"answers, by layer": dict.fromkeys(self.layers, close(model(clean)))},
            "feat_patch_never_ran": {"answers, by layer": dict.fromkeys(self.layers, close(model(corrupted)))},
            "feat_roles_swapped": swapped.truth(case),
            "feat_adds": self.answers(
                case, lambda kept, numbers, module, given, output: mixed(output, output + kept[1], numbers)
            ),
            "feat_alias": self.answers(
                case, lambda kept, numbers, module, given, output: mixed(output, kept[2], numbers)
            ),
        }


class NoHookLeft(Patched):
    """Afterwards the model has the hooks that it had before, each module its own mode, and it answers as it did before."""

    blame = {"model(corrupted) afterwards": "feat_hook_left"}

    def probe(self, nb, case):
        model, clean, corrupted = self.hooked(case)
        nb.function("patch_activation")(model, "block", clean, corrupted)
        return {
            "hooks on the model, 1 before": sum(hook_counts(model).values()),
            "model(corrupted) afterwards": model(corrupted),
            "what runs in model(clean) afterwards": what_runs(model, case, lambda: model(clean).sum().backward()),
        }

    def hooked(self, case):
        model, clean, corrupted = self.given(case)
        model.train().block.bn1.eval()  # as its owner wants it
        model.block.register_forward_hook(lambda module, args, output: None)
        return model, clean, corrupted

    def truth(self, case):
        model, clean, corrupted = self.hooked(case)
        return {
            "hooks on the model, 1 before": 1,
            "model(corrupted) afterwards": close(model(corrupted)),
            "what runs in model(clean) afterwards": as_before(
                what_runs(model, case, lambda: model(clean).sum().backward())
            ),
        }

    def mistakes(self, case):
        model, _, corrupted = self.given(case)
        return {
            "changes_mode": {"hooks on the model, 1 before": 1, "model(corrupted) afterwards": close(model(corrupted))},
            "feat_one_mode_for_all": {"model(corrupted) afterwards": close(model.train()(corrupted))},
            "removes_other_hooks": {"hooks on the model, 1 before": 0},
            "feat_hook_left": {"hooks on the model, 1 before": Matches(lambda got: None if got > 1 else "no", "more")},
        }


class SomeChannels(Patched):
    """Only the channels that are named are replaced; `None` means all of them, an empty list none."""

    layers = ("block.conv1", "block.bn2", "conv1", "fc")

    def numbers(self, case, layer):
        if layer == "conv1":
            return []
        return case.shuffled(f"channels of {layer}", range(3))[: 2 if layer == "block.bn2" else 1]

    def mistakes(self, case):
        def others(output, numbers):
            return [number for number in range(output.shape[1]) if number not in numbers]

        def at_the_end(output, kept, numbers):
            output = output.clone()
            output[..., numbers] = kept[..., numbers]
            return output

        def some(test):
            return self.answers(
                case, lambda kept, numbers, module, given, output: test(module, given, output, kept, numbers)
            )

        return {
            **super().mistakes(case),
            "feat_none_or_empty": some(
                lambda module, given, output, kept, numbers: mixed(output, kept[1], numbers or None)
            ),
            "feat_channels_ignored": some(lambda module, given, output, kept, numbers: kept[1]),
            "feat_channel_dimension": some(
                lambda module, given, output, kept, numbers: at_the_end(output, kept[1], numbers)
            ),
            "feat_channels_inverted": some(
                lambda module, given, output, kept, numbers: mixed(output, kept[1], others(output, numbers))
            ),
            "feat_zero_elsewhere": some(
                lambda module, given, output, kept, numbers: mixed(output * 0, kept[1], numbers)
            ),
            "feat_counted_channels": some(
                lambda module, given, output, kept, numbers: mixed(output, kept[1], range(len(numbers)))
            ),
            "feat_adds": some(lambda module, given, output, kept, numbers: mixed(output, output + kept[1], numbers)),
            "feat_last_channel": some(
                lambda module, given, output, kept, numbers: mixed(output, kept[1], numbers[-1:])
            ),
            "feat_patches_input": some(
                lambda module, given, output, kept, numbers: type(module).forward(
                    module, mixed(given, kept[0], numbers)
                )
            ),
        }


class EachCallItsOwn(Patched):
    """A further call on the same model patches with its own clean input, and with what the model makes of it now."""

    blame = {"the second answer": "stale_result", "the third answer, after the weights have changed": "stale_result"}

    def probe(self, nb, case):
        model, clean, corrupted = self.given(case)
        patch = nb.function("patch_activation")
        brought = {
            "the first answer": patch(model, "block", clean, corrupted),
            "the second answer": patch(model, "block", clean * 2, corrupted),
        }
        self.learn(model)
        return {**brought, "the third answer, after the weights have changed": patch(model, "block", clean, corrupted)}

    def learn(self, model):
        with torch.no_grad():
            for weight in model.parameters():
                weight.mul_(1.25)

    def truth(self, case):
        model, clean, _ = self.given(case)
        wanted = {"the first answer": close(model(clean)), "the second answer": close(model(clean * 2))}
        self.learn(model)
        return {**wanted, "the third answer, after the weights have changed": close(model(clean))}

    def mistakes(self, case):
        return {}


class AnyModel(Patched):
    """Any model is patched, whatever its names, dtypes and dimensions are, and whatever its other layers return."""

    cases = 1
    kinds = (
        "shared", "called_twice", "tied", "partly_frozen", "in_place_behind", "norm_in_eval", "mixed_modes", "none_place",
        "three_dim", "float64", "namedtuple", "dictionary", "look_alike",
    )
    errors = {
        **ERRORS,
        r"AttributeError: 'NoneType' object has no attribute '(register_forward_hook|_modules|named_\w+|children)'": "feat_empty_place",
        r"ValueError: (not enough|too many) values to unpack": "some_dimensions",
    }
    blame = {
        "answers of a model with names that look alike": "name_in_name",
        "answers of a model with a hook of its owner": "feat_forward_called",
        "answers of a model in float64": "feat_digits_lost",
    }

    def models(self, case):
        bare = nn.Sequential(nn.Tanh(), nn.Softsign()), case.tensor("x without parameters", 2, 4)
        return {"a model without parameters": bare, **awkward_models(case, *self.kinds), **hooked_model(case)}

    def asked(self, case):
        """For each kind: the model, two inputs, what two layers that run once put out for the first one."""
        spent = self.models(case)
        for says, (model, x) in self.models(case).items():
            calls = single_calls(*spent[says])
            layers = ("fc", "fc1") if "fc1" in calls else list(calls)[:2]
            kept = {layer: calls[layer].output for layer in layers}
            yield says, model, x, case.tensor(f"corrupted for {says}", *x.shape, dtype=x.dtype), kept

    def probe(self, nb, case):
        brought, patch = {}, nb.function("patch_activation")
        for says, model, clean, corrupted, kept in self.asked(case):
            brought[f"answers of {says}"] = {
                f"{layer}, channels={channels}": patch(model, layer, clean, corrupted, channels)
                for layer in kept for channels in (None, [1])
            }
        return brought

    def truth(self, case):
        wanted = {}
        for says, model, _, corrupted, kept in self.asked(case):
            answers = wanted[f"answers of {says}"] = {}
            for layer, output in kept.items():
                for channels in (None, [1]):
                    put = partial(lambda kept, numbers, given, now: mixed(now, kept.clone(), numbers), output, channels)
                    answers[f"{layer}, channels={channels}"] = close(run(model, layer, corrupted, put))
        return wanted

    def mistakes(self, case):
        return {}


class InputsAsTheyWere(Patched):
    """`clean` and `corrupted` hold afterwards what they held before, also where a layer hands on its own input."""

    blame = {"clean afterwards": "feat_writes_into_input", "corrupted afterwards": "feat_writes_into_input"}

    def given(self, case):
        one, two = case.words("names", 2)
        model = case.build("net", lambda: nn.Sequential(OrderedDict([(one, nn.Identity()), (two, nn.Linear(4, 3))])))
        return model, one, case.tensor("clean", 2, 4), case.tensor("corrupted", 2, 4)

    def probe(self, nb, case):
        model, layer, clean, corrupted = self.given(case)
        answer = nb.function("patch_activation")(model, layer, clean, corrupted, [1, 3])
        return {"answer": answer, "clean afterwards": clean, "corrupted afterwards": corrupted}

    def truth(self, case):
        model, _, clean, corrupted = self.given(case)
        answer = close(model(mixed(corrupted, clean, [1, 3])))
        return {"answer": answer, "clean afterwards": clean, "corrupted afterwards": corrupted}

    def mistakes(self, case):
        return {}


class Around(nn.Module):
    """A layer that hands on its own input, and a skip connection around it."""

    def __init__(self, first, idle, last):
        super().__init__()
        self.names = (first, idle, last)
        self.add_module(first, nn.Linear(4, 4))
        self.add_module(idle, nn.Dropout())
        self.add_module(last, nn.Linear(4, 3))

    def forward(self, x):
        first, idle, last = (getattr(self, name) for name in self.names)
        x = first(x)
        return last(idle(x)) + x[:, 1:]


class OnlyThatOutput(Patched):
    """Nothing but the layer's output is replaced, channels that hold inf as well: what goes around the layer is the corrupted run's."""

    blame = {"answer, of a model that goes around the layer": "feat_changes_around", "answer, where inf is replaced": "feat_blends"}

    def given(self, case):
        model = case.build("net", Around, *case.words("names", 3)).eval()
        clean, corrupted = case.tensor("clean", 2, 4), case.tensor("corrupted", 2, 4)
        endless = corrupted.clone()
        endless[0, 1] = float("inf")
        return model, clean, corrupted, endless

    def probe(self, nb, case):
        model, clean, corrupted, endless = self.given(case)
        patch, head = nb.function("patch_activation"), nn.Sequential(nn.Identity(), getattr(model, model.names[2]))
        return {
            "answer, of a model that goes around the layer": patch(model, model.names[1], clean, corrupted, [1, 3]),
            "answer, where inf is replaced": patch(head, "0", clean, endless, [1, 3]),
        }

    def truth(self, case):
        model, clean, corrupted, endless = self.given(case)
        first, _, last = (getattr(model, name) for name in model.names)
        inside = mixed(first(corrupted), first(clean), [1, 3])
        return {
            "answer, of a model that goes around the layer": close(last(inside) + first(corrupted)[:, 1:]),
            "answer, where inf is replaced": close(last(mixed(endless, clean, [1, 3]))),
        }

    def mistakes(self, case):
        return {}


check("patch_activation", Patched, NoHookLeft, SomeChannels, EachCallItsOwn, InputsAsTheyWere, OnlyThatOutput, AnyModel)


# --- Hidden checks: graders run them, learners do not get them. ---
class Echo(nn.Module):
    """A sound goes through one layer, and through a second one and around it; what the second one puts out is written over."""

    def __init__(self, source, wall, ear):
        super().__init__()
        self.names = (source, wall, ear)
        self.add_module(source, nn.Conv1d(2, 5, 3, padding=1))
        self.add_module(wall, nn.Sequential(nn.Conv1d(5, 5, 1)))
        self.add_module(ear, nn.Linear(5, 3))

    def forward(self, x):
        source, wall, ear = (getattr(self, name) for name in self.names)
        sound = source(input=x)
        return ear((wall(sound).mul_(4) + sound).mean(2))


class PatchedEcho(Check):
    """The answer is the corrupted run's, with the channels of the clean one in that layer."""

    def echo(self, case):
        source, ear = case.words("places", 2)
        # Two names of which one begins like the other.
        model, size = case.build("an echo", Echo, source, f"{source}s", ear), case.shape("sounds", 2, 3, 8)
        channels = case.shuffled("channels of the echo", range(5))
        return (
            model,
            case.tensor("a clean sound", size[0], 2, size[1]),
            case.tensor("a corrupted sound", size[0], 2, size[1]),
            channels,
        )

    def probe(self, nb, case):
        model, clean, corrupted, channels = self.echo(case)
        source, wall, _ = model.names
        patch = nb.function("patch_activation")
        return {
            "answer, by the second layer": patch(model, f"{wall}.0", clean, corrupted, channels[:2]),
            "answer, by the first layer": patch(model, source, clean, corrupted, channels[2:]),
        }

    def truth(self, case):
        model, clean, corrupted, channels = self.echo(case)
        source, wall, ear = (getattr(model, name) for name in model.names)
        sound, second = source(corrupted), wall(source(corrupted))
        second[:, channels[:2]] = wall(source(clean))[:, channels[:2]]
        first = source(corrupted)
        first[:, channels[2:]] = source(clean)[:, channels[2:]]
        return {
            "answer, by the second layer": close(ear((second * 4 + sound).mean(2))),
            "answer, by the first layer": close(ear((wall(first) * 4 + first).mean(2))),
        }


check("patch_activation", PatchedEcho)
