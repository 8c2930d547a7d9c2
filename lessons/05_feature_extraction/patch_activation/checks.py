from functools import partial

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close
from nbproof.values.evidence import snapshot
from course.models import TinyResNet
from course.probing import hook_counts
from course.traces import what_runs
from course.truths import as_before, such_that

ERRORS = {
    r"AttributeError: '\w+' object has no attribute '\w+(\.\w+)+'": "dotted_name",
    r"KeyError: '\w+(\.\w+)+'": "dotted_name",
    r"TypeError: .*(argument 'input'|some of the arguments have invalid types).*(tuple|list|dict)": "hook_replaces_output",
    r"IndexError: too many indices": "some_dimensions",
    r"IndexError: index \d+ is out of bounds for dimension 0": "feat_channel_dimension",
    r"(IndexError: The shape of the mask|RuntimeError: shape mismatch)": "feat_channel_dimension",
}


def run(model, layer, x, replace):
    """model(x) where `layer` returns replace(its input, its output), without any hook: its forward is wrapped for this run."""
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
    return Close(tensor.detach(), rtol=1e-4, atol=1e-4)


class Patched(Check):
    """With a whole layer patched, the model answers as if this layer had its clean output."""

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
        """What the model answers to the corrupted input where each layer in turn returns what `replace` says."""
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

        def always(value):
            return {"answers, by layer": dict.fromkeys(self.layers, value)}

        def less(x):  # what was patched less what was not
            wanted = self.truth(case)["answers, by layer"]
            return {"answers, by layer": {layer: close(one.value - model(x)) for layer, one in wanted.items()}}

        def shared(kept, numbers, module, given, output):
            return mixed(output, kept[2], numbers)

        def features(got):
            return all(got[layer].shape == shape for layer, shape in shapes.items())

        return {
            "returns_nothing": always(None),
            "feat_returns_feature": AnyOf({"answers, by layer": such_that(features)}, less(clean), less(corrupted), always(close(0 * model(clean)))),
            "feat_returns_clean": always(close(model(clean))),
            "feat_patch_never_ran": always(close(model(corrupted))),
            "feat_roles_swapped": AnyOf(swapped.truth(case), swapped.answers(case, shared)),
            "feat_alias": self.answers(case, shared),
        }


class SomeChannels(Patched):
    """Only the channels that are named are replaced; an empty list means none."""

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

        def of_rows(output, kept, numbers):
            output = output.clone()
            for number in numbers:
                output[number % len(output)] = kept[number % len(output)]
            return output

        def some(test):
            return self.answers(case, lambda kept, numbers, module, given, output: test(module, given, output, kept, numbers))

        return {
            **super().mistakes(case),
            "feat_none_or_empty": some(lambda module, given, output, kept, numbers: mixed(output, kept[1], numbers or None)),
            "feat_channels_ignored": some(lambda module, given, output, kept, numbers: kept[1]),
            "feat_channel_dimension": AnyOf(
                some(lambda module, given, output, kept, numbers: at_the_end(output, kept[1], numbers)),
                some(lambda module, given, output, kept, numbers: of_rows(output, kept[1], numbers)),
            ),
            "feat_channels_inverted": some(
                lambda module, given, output, kept, numbers: mixed(output, kept[1], others(output, numbers))
            ),
            "feat_zero_elsewhere": some(lambda module, given, output, kept, numbers: mixed(output * 0, kept[1], numbers)),
            "feat_last_channel": some(lambda module, given, output, kept, numbers: mixed(output, kept[1], numbers[-1:])),
            "feat_patches_input": some(
                lambda module, given, output, kept, numbers: type(module).forward(module, mixed(given, kept[0], numbers))
            ),
        }


class AsItWas(Patched):
    """Afterwards hooks, modes, and the two inputs are what they were before."""

    blame = {"model(corrupted) afterwards": "feat_hook_left", "clean and corrupted afterwards": "feat_writes_into_input"}

    def hooked(self, case):
        model, clean, corrupted = self.given(case)
        model.block.bn1.train()  # as its owner wants it; the model itself is in eval mode
        model.block.register_forward_hook(lambda module, args, output: None)
        return model, clean, corrupted

    def idle(self, case):
        return nn.Sequential(nn.Identity(), nn.Tanh()), case.tensor("clean row", 2, 4), case.tensor("corrupted row", 2, 4)

    def probe(self, nb, case):
        patch, (model, clean, corrupted) = nb.function("patch_activation"), self.hooked(case)
        patch(model, "block", clean, corrupted)
        idle, one, two = self.idle(case)
        answer = patch(idle, "0", one, two, [1, 3])
        return {
            "the number of hooks on the model (1 before)": sum(hook_counts(model).values()),
            "model(corrupted) afterwards": model(corrupted),
            "what runs in model(clean) afterwards": what_runs(model, case, lambda: model(clean).sum().backward()),
            "answer": snapshot(answer), "clean and corrupted afterwards": [one, two],
        }

    def truth(self, case):
        model, clean, corrupted = self.hooked(case)
        _, one, two = self.idle(case)
        output = model(corrupted)
        return {
            "the number of hooks on the model (1 before)": 1, "model(corrupted) afterwards": close(output),
            "what runs in model(clean) afterwards": as_before(what_runs(model, case, lambda: model(clean).sum().backward())),
            "answer": close(torch.tanh(mixed(two, one, [1, 3]))), "clean and corrupted afterwards": [one, two],
        }

    def mistakes(self, case):
        model, _, corrupted = self.given(case)
        one_mode = AnyOf(*(close(model.train(mode)(corrupted)) for mode in (False, True)))
        return {
            "changes_mode": {"the number of hooks on the model (1 before)": 1, "model(corrupted) afterwards": one_mode},
            "removes_other_hooks": {"the number of hooks on the model (1 before)": 0},
            "feat_hook_left": {"the number of hooks on the model (1 before)": such_that(lambda got: got > 1)},
        }


check("patch_activation", Patched, SomeChannels, AsItWas)


# --- Hidden checks: graders run them, learners do not get them. ---
def canyon(case):
    """Walls that a sound meets one after another, and goes around; how many, in which order, and their names, the seed says."""
    count = case.integer("walls", 3, 5)
    order = case.words("names of the walls", count)

    class Canyon(nn.Module):
        def __init__(self):
            super().__init__()
            for name in case.shuffled("as they stand", order):
                self.add_module(name, nn.Sequential(nn.Tanh(), nn.Conv1d(5, 5, 3, padding=1)))

        def forward(self, x):
            for name in order:
                x = x + self.get_submodule(name)(x).mul_(2)
            return x.mean(2)

    model = case.build("a canyon", Canyon).eval()
    one, two = case.shuffled("where it is patched", order)[:2]
    model.get_submodule(one)[0].train()
    model.get_submodule(two).register_forward_hook(lambda module, args, output: None)
    sounds, length = case.shape("sounds", 2, 3, 8)
    channels = case.shuffled("channels", range(5))
    asked = [(f"{one}.1", channels[:2]), (two, channels[2:]), (two, None), (one, [])]
    return model, asked, [case.tensor(f"sound {number}", sounds, 5, length) for number in range(3)]


class Echo(Check):
    """The answer is the corrupted run's, with the channels of the clean one in that layer; the model is as it was."""

    def probe(self, nb, case):
        model, asked, (corrupted, *cleans) = canyon(case)
        patch = nb.function("patch_activation")
        answers = [patch(model, layer, clean, corrupted, channels) for layer, channels in asked for clean in cleans]
        return {
            "answers": answers, "sounds": [corrupted, *cleans],
            "what runs afterwards": what_runs(model, case, lambda: model(corrupted).sum().backward()),
        }

    def truth(self, case):
        model, asked, (corrupted, *cleans) = canyon(case)
        answers, kept = [], []
        for layer, channels in asked:
            module, places = model.get_submodule(layer), list(range(5)) if channels is None else channels

            def patched(module, args, output, places=places):
                output = output.clone()
                output[:, places] = kept[-1][:, places]
                return output

            for clean in cleans:
                with module.register_forward_hook(lambda module, args, output: kept.append(output.clone())):
                    model(clean)
                with module.register_forward_hook(patched):
                    answers.append(close(model(corrupted)))
        return {
            "answers": answers, "sounds": [corrupted, *cleans],
            "what runs afterwards": as_before(what_runs(model, case, lambda: model(corrupted).sum().backward())),
        }


check("patch_activation", Echo)
