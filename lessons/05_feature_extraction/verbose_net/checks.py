import re

import course
import torch
from torch import nn
from torchvision.models import resnet18

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches, is_same
from course.awkward import awkward_models, hooked_model
from course.models import TinyResNet
from course.probing import calls_of, printed_lines, statistics
from course.truths import missing_lines, such_that
from course.traces import gradients_from


ERRORS = {
    r"AttributeError: '\w+' object has no attribute '(conv1|bn1|maxpool|layer[1-4]|avgpool)'": "typed_in_names",
    r"TypeError: .*some of the arguments have invalid types: \(!tuple of \(": "hook_replaces_output",
    r"AttributeError: 'NoneType' object has no attribute 'register_forward_hook'": "feat_empty_place",
    r"StopIteration": "feat_first_parameter",
}


class SkipNet(nn.Module):
    """Two convolutions, a skip connection and a mean. Running its children in a row gives something else."""

    def __init__(self, first, second, third):
        super().__init__()
        self.names = (first, second, third)
        self.add_module(first, nn.Conv2d(3, 5, 3))
        self.add_module(second, nn.Sequential(nn.Conv2d(5, 5, 1), nn.ReLU()))
        self.add_module(third, nn.Conv2d(5, 7, 1, stride=2))

    def forward(self, x):
        first, second, third = (getattr(self, name) for name in self.names)
        x = first(x)
        x = x + second(x)
        return third(x).mean((2, 3))


def step_by_step(model, x):
    """Input shape and output shape of each child, and the model's output, without any hook."""
    inputs, outputs = {}, {}

    def run(name, x):
        inputs[name] = tuple(x.shape)
        x = getattr(model, name)(x)
        outputs[name] = tuple(x.shape)
        return x

    if isinstance(model, SkipNet):
        first, second, third = model.names
        x = run(first, x)
        x = run(third, x + run(second, x)).mean((2, 3))
        return inputs, outputs, x
    for name in "conv1 bn1 relu maxpool layer1 layer2 layer3 layer4 avgpool".split():
        x = run(name, x)
    return inputs, outputs, run("fc", torch.flatten(x, 1))


def crowded(line, shapes):
    """Whether a line is about several children: two of their names, or more shapes of theirs than an input's and an output's."""
    names = [name for name in shapes if not name.isdigit() and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w|\.\w)", line)]
    return len(names) > 1 or len(shapes_in(line) & set(shapes.values())) > 2


def shapes_in(line):
    return {tuple(map(int, re.findall(r"\d+", one))) for one in re.findall(r"[(\[]((?:\d+, ?)+\d*)[)\]]", line)}


def lines_for(shapes):
    def wrong(got):
        many = [line for line in got if crowded(line, shapes)] if isinstance(got, list) and len(shapes) > 1 else []
        return f"{many[0]!r}, which is about several children" if many else missing_lines(got, shapes)

    says = f"one line, with name and output shape, for each of {list(shapes)}"
    return Matches(wrong, says if shapes else "no line, for there is no child")


def told(test):
    """Printed lines with a certain flaw: `test` gets the lines, and for each the words in it."""

    def flaw(got):
        if not isinstance(got, list) or not got or not all(isinstance(line, str) for line in got):
            return "something else"
        return None if test(got, [set(re.findall(r"\w+", line)) for line in got]) else "something else"

    return Matches(flaw, "this flaw")


def flaws(model, x, field="what calling it prints"):
    inputs, outputs, _ = step_by_step(model, x)
    names, count = set(outputs), len(outputs)
    kinds = {name: type(child).__name__ for name, child in model.named_children()}
    last_of_kind = {kind: name for name, kind in kinds.items()}
    nested = [name for name, _ in model.named_modules() if "." in name]
    one_sample = {name: shape[1:] for name, shape in outputs.items()}

    def more(got, words):  # the right lines, and others that name no child
        right = [line for line, w in zip(got, words) if w & names]
        return len(right) < len(got) and missing_lines(right, outputs) is None

    return {
        "nothing_printed": {field: []},
        "one_hook_for_all": {field: told(lambda got, words: len(got) == 1 and len(shapes_in(got[0]) & {*outputs.values()}) < 2)},
        "prints_again": {field: told(lambda got, words: len(got) > count == len(set(got)))},
        "children_or_modules": {field: told(lambda got, words: any(name in line for line in got for name in nested))},
        "extra_lines": {field: told(more)},
        "children_missing": {field: told(lambda got, words: len(got) < count and all(len(w & names) == 1 for w in words))},
        "loop_variable": {
            field: told(lambda got, words: len(got) == count and all(w & names == {list(outputs)[-1]} for w in words))
        },
        "name_on_the_class": {
            field: told(
                lambda got, words: [w & names for w in words] == [{last_of_kind[kinds[name]]} for name in outputs]
            )
        },
        "class_or_name": {field: told(lambda got, words: all(w & {*kinds.values()} and not w & names for w in words))},
        "line_without_name": {field: told(lambda got, words: not any(w & names for w in words))},
        "line_without_shape": {
            field: told(lambda got, words: not any(re.search(r"\d\s*[,x]\s*\d", line) for line in got))
        },
        "input_or_output": {field: Matches(lambda got: missing_lines(got, inputs), "the shapes of the inputs")},
        "one_sample": {field: Matches(lambda got: missing_lines(got, one_sample), "the shapes of one sample")},
        "line_about_all": {field: told(lambda got, words: any(crowded(line, outputs) for line in got))},
    }


class OneLineAChild(Check):
    """`VerboseNet(model)(x)` returns `model(x)` and prints one line per direct child: name and output shape."""

    errors = ERRORS
    claims = ("what building it prints",)  # what an answer prints is what it does
    blame = {"what building it prints": "prints_while_building"}

    def model(self, case):
        one, two = case.words("names", 2)
        return case.build("net", SkipNet, one, f"{one}0", f"{two}_{one}").eval(), case.tensor(
            "x", 2, 3, *case.shape("size", 2, 6, 9)
        )

    def probe(self, nb, case):
        model, x = self.model(case)
        with printed_lines() as building:
            verbose = nb.function("VerboseNet")(model)
        with printed_lines() as calling:
            output = verbose(x)
        return {"what building it prints": building, "what calling it prints": calling, "what it returns": output}

    def truth(self, case):
        _, shapes, output = step_by_step(*self.model(case))
        return {
            "what building it prints": [],
            "what calling it prints": lines_for(shapes),
            "what it returns": Close(output, rtol=1e-4, atol=1e-4),
        }

    def mistakes(self, case):
        model, x = self.model(case)
        in_a_row = x
        if isinstance(model, SkipNet):
            for child in model.children():
                in_a_row = child(in_a_row)
        printed = told(lambda got, words: True)
        return {
            "prints_while_building": {"what building it prints": printed},
            "children_in_a_row": {"what it returns": in_a_row},
            "returns_nothing": {"what it returns": None},
            **flaws(model, x),
        }


class OnResNet(OneLineAChild):
    """The same on ResNet-18: ten children, ten lines."""

    cases = 1

    def model(self, case):
        return case.build("net", resnet18, weights=None).eval(), case.tensor("x", 2, 3, 32, 32)


class CalledAgain(OneLineAChild):
    """Each further call prints one line per child again, for the new input."""

    def probe(self, nb, case):
        model, x = self.model(case)
        verbose = nb.function("VerboseNet")(model)
        brought = {}
        for number, one in (("first", x), ("second", x[:1, :, 1:]), ("third", x[:, :, :, 2:])):
            with printed_lines() as lines:
                output = verbose(one)
            brought |= {f"what the {number} call prints": lines, f"what the {number} call returns": output}
            self.learn(model)
        return brought

    def learn(self, model):
        """Between two calls the model's weights change."""
        with torch.no_grad():
            for weight in model.parameters():
                weight.mul_(1.25)

    def truth(self, case):
        model, x = self.model(case)
        wanted = {}
        for number, one in (("first", x), ("second", x[:1, :, 1:]), ("third", x[:, :, :, 2:])):
            _, shapes, output = step_by_step(model, one)
            wanted[f"what the {number} call prints"] = lines_for(shapes)
            wanted[f"what the {number} call returns"] = Close(output, rtol=1e-4, atol=1e-4)
            self.learn(model)
        return wanted

    def mistakes(self, case):
        model, x = self.model(case)
        again = flaws(model, x[:1, :, 1:], "what the second call prints")
        old = step_by_step(model, x[:1, :, 1:])[2]
        first = step_by_step(model, x)[1]
        kept = told(lambda got, words: len(got) > len(first) and missing_lines(got[: len(first)], first) is None)
        return {
            "hooks_pile_up": again["prints_again"],
            "silent_afterwards": again["nothing_printed"],
            "feat_runs_a_copy": {"what the second call returns": Close(old, rtol=1e-4, atol=1e-4)},
            "stale_result": {"what the second call prints": AnyOf(lines_for(first), kept)},
        }


class TwoAtOnce(OneLineAChild):
    """Two `VerboseNet` objects on two models do not disturb each other."""

    def models(self, case):
        words = case.words("names", 6)
        x = case.tensor("x", 2, 3, *case.shape("size", 2, 6, 9))
        return case.build("one", SkipNet, *words[:3]).eval(), case.build("two", SkipNet, *words[3:]).eval(), x

    def probe(self, nb, case):
        one, two, x = self.models(case)
        verbose = [nb.function("VerboseNet")(model) for model in (one, two)]
        brought = {}
        for number, index in (("first", 0), ("second", 1), ("first", 0)):
            with printed_lines() as lines:
                verbose[index](x)
            brought[f"what the {number} one prints"] = lines
        return brought

    def truth(self, case):
        one, two, x = self.models(case)
        shapes = [step_by_step(model, x)[1] for model in (one, two)]
        return {"what the first one prints": lines_for(shapes[0]), "what the second one prints": lines_for(shapes[1])}

    def mistakes(self, case):
        one, two, x = self.models(case)
        foreign = dict(zip(two.names, step_by_step(one, x)[1].values()))
        return {"shared_state": {"what the first one prints": lines_for(foreign)}}


class AnyModel(Check):
    """Any model is wrapped, whatever its modes, dtypes and dimensions, and gives what it gives in the modes that it is in."""

    cases = 1
    errors = {**ERRORS, r"ValueError: (not enough|too many) values to unpack": "some_dimensions"}
    blame = {
        "what it prints for a model on an input without a batch": "some_dimensions",
        "what it prints for a model on an input with three dimensions": "some_dimensions",
        "gradients from what it returns": "output_cut_off",
        "statistics of a model in training mode": "feat_runs_twice",
        "what it returns for a model with a hook of its owner": "feat_forward_called",
    }
    kinds = (
        "tied", "partly_frozen", "in_place_behind", "norm_in_eval", "mixed_modes", "none_place", "one_dim", "three_dim",
        "float64", "the_layer",
    )

    def models(self, case):
        trains = case.build("trains", TinyResNet).train(), case.tensor("x", 4, 3, *case.shape("size", 2, 6, 9))
        bare = nn.Sequential(nn.Tanh(), nn.Softsign()), case.tensor("x without parameters", 2, 4)
        return {
            "a model in training mode": trains, "a model without parameters": bare,
            **awkward_models(case, *self.kinds), **hooked_model(case),
        }

    def probe(self, nb, case):
        brought = {}
        for says, (model, x) in self.models(case).items():
            with printed_lines() as lines:
                output = nb.function("VerboseNet")(model)(x)
            brought |= {f"what it returns for {says}": output, f"what it prints for {says}": lines}
            if says == "a model in training mode":
                brought["gradients from what it returns"] = gradients_from([output], model, case)
                brought["statistics of a model in training mode"] = statistics(model)
        return brought

    def truth(self, case):
        wanted = {}
        for says, (model, x) in self.models(case).items():
            calls = {call.name: call.output for call in calls_of(model, x)}
            children = {name: tuple(calls[name].shape) for name, _ in model.named_children()}
            wanted[f"what it returns for {says}"] = Close(calls[""], rtol=1e-4, atol=1e-4)
            wanted[f"what it prints for {says}"] = lines_for(children)
        model, x = self.models(case)["a model in training mode"]
        gradients = gradients_from([model(x)], model, case)
        moved = {name: Close(one, rtol=1e-4, atol=1e-4) for name, one in statistics(model).items()}
        wanted["statistics of a model in training mode"] = moved
        return {**wanted, "gradients from what it returns": {name: Close(one, 1e-4, 1e-4) for name, one in gradients.items()}}

    def mistakes(self, case):
        model, x = self.models(case)["a model in training mode"]
        field, other = "what it returns for a model in training mode", "what it returns for a model whose block is in eval mode"
        block, given = self.models(case)["a model whose block is in eval mode"]
        as_it_is = Close(block(given), rtol=1e-4, atol=1e-4)
        changed = such_that(lambda got: got.shape == (*given.shape[:-1], 3) and not is_same(got, as_it_is))
        return {"changes_mode": AnyOf({field: Close(model.eval()(x), rtol=1e-4, atol=1e-4)}, {other: changed})}


check("verbose_net", OneLineAChild, OnResNet, CalledAgain, TwoAtOnce, AnyModel)


# --- Hidden checks: graders run them, learners do not get them. ---
class Bars(nn.Module):
    """A layer whose output is repeated as many times as somebody says."""

    def __init__(self):
        super().__init__()
        self.fc, self.times = nn.Linear(4, 11), 1

    def forward(self, x):
        return torch.cat([self.fc(x)] * self.times, -1)


class Gate(nn.Module):
    """Two layers side by side, whose outputs are as wide as somebody says, and a third on them, which is registered first."""

    def __init__(self, last, left, right):
        super().__init__()
        self.names = (last, left, right)
        self.add_module(last, nn.Linear(11, 3))
        self.add_module(left, Bars())
        self.add_module(right, nn.Sequential(Bars(), nn.Tanh()))

    def forward(self, x):
        last, left, right = (getattr(self, name) for name in self.names)
        return last(left(x)[..., :11] * right(x)[..., -11:])


class SideBySide(Check):
    """Each call prints one line for each child, and returns what the model returns, which is another one each time."""

    def gate(self, case):
        model = case.build("a gate", Gate, *case.words("children of the gate", 3))
        more, fewer = case.shape("rows", 2, 6, 19)
        return model, [case.tensor("more rows", more, 4), case.tensor("fewer rows", fewer, 2, 4)]

    def widen(self, case, model, number):
        """Before each call: so many times what the layers put out, for each of them."""
        bars = [one for one in model.modules() if isinstance(one, Bars)]
        for one, times in zip(bars, case.shape(f"bars of call {number}", 2, 7, 30)):
            one.times = times
        return [11 * one.times for one in bars]

    def probe(self, nb, case):
        model, inputs = self.gate(case)
        verbose, brought = nb.function("VerboseNet")(model), {}
        for number, x in enumerate(inputs):
            self.widen(case, model, number)
            with printed_lines() as lines:
                output = verbose(x)
            brought |= {f"what call {number} prints": lines, f"what call {number} returns": output}
        return brought

    def truth(self, case):
        model, inputs = self.gate(case)
        last, left, right = (getattr(model, name) for name in model.names)
        wanted = {}
        for number, x in enumerate(inputs):
            sizes = [(*x.shape[:-1], size) for size in (3, *self.widen(case, model, number))]
            output = last(left.fc(x) * torch.tanh(right[0].fc(x)))
            wanted[f"what call {number} prints"] = lines_for(dict(zip(model.names, sizes)))
            wanted[f"what call {number} returns"] = Close(output, rtol=1e-4, atol=1e-4)
        return wanted


check("verbose_net", SideBySide)
