import contextlib
import io
import itertools
import re

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.models import TinyResNet
from course.probing import statistics
from course.traces import gradients_from

ERRORS = {
    r"AttributeError: '\w+' object has no attribute '(conv1|bn1|maxpool|layer[1-4]|avgpool)'": "typed_in_names",
    r"TypeError: .*invalid combination of arguments - got \((torch\.Size|tuple|str)": "hook_replaces_output",
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

    first, second, third = model.names
    x = run(first, x)
    return inputs, outputs, run(third, x + run(second, x)).mean((2, 3))


@contextlib.contextmanager
def printed_lines():
    """What is printed within the block; the list is filled when it ends."""
    lines, stream = [], io.StringIO()
    with contextlib.redirect_stdout(stream):
        yield lines
    lines.extend(line for line in stream.getvalue().splitlines() if line.strip())


def tells(line, name, shape):
    """Whether a short line holds the shape, in whatever notation and with few others, and outside it the name as a word."""
    found, told, line = False, set(), re.sub(r"\x1b\[[0-9;]*m", "", line)  # terminal colours are no words
    between_commas = r"(?:torch\.Size\(\s*)?[(\[]?(?<![\w.])\d+(?:\s*[,x×]\s*\d+)*\s*,?[)\]]*"
    between_spaces = r"(?<![\w.])\d+(?: +\d+)+"
    for match in [found for kind in (between_commas, between_spaces) for found in re.finditer(kind, line[:2_000])]:
        told.add(tuple(map(int, re.findall(r"\d+", match[0]))))
        rest = f"{line[: match.start()]} {line[match.end() :]}"
        if tuple(map(int, re.findall(r"\d+", match[0]))) == tuple(shape):
            found = found or re.search(rf"(?<!\w){re.escape(name)}(?!\w|\.\w)", rest) is not None
    return found and len(told) <= 8 and len(line) <= 2_000


def missing_lines(lines, shapes):
    """What is wrong with printed lines that should give each name and its shape, one line a name; None if nothing is.

    A line that fits several names pairs none of them with its shape.
    """
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        return "not a list of lines"
    if len(lines) != len(shapes):
        return f"{len(lines)} line{'' if len(lines) == 1 else 's'}"
    owners = [[name for name, shape in shapes.items() if tells(line, name, shape)] for line in lines]
    odd = [line for line, names in zip(lines, owners) if len(names) != 1]
    if sorted(owners) == sorted([name] for name in shapes):
        return None
    return repr(odd[0]) if odd else "more than one line for a name"


def lines_for(shapes):
    return Matches(lambda got: missing_lines(got, shapes), f"one line, with name and output shape, for each of {list(shapes)}")


def told(test):
    """Printed lines with a certain flaw: `test` gets the lines, and for each the words in it."""

    def flaw(got):
        if not isinstance(got, list) or not got or not all(isinstance(line, str) for line in got):
            return "something else"
        return None if test(got, [set(re.findall(r"\w+", line)) for line in got]) else "something else"

    return Matches(flaw, "this flaw")


def flaws(model, x, field):
    inputs, outputs, _ = step_by_step(model, x)
    names, count = set(outputs), len(outputs)
    kinds = {type(child).__name__ for child in model.children()}
    nested = [name for name, _ in model.named_modules() if "." in name]
    one_sample = {name: shape[1:] for name, shape in outputs.items()}

    def more(got, words):  # the right lines, and others that name no child
        right = [line for line, w in zip(got, words) if w & names]
        return len(right) < len(got) and missing_lines(right, outputs) is None

    return {
        "nothing_printed": {field: []},
        "line_about_all": {field: told(lambda got, words: all(len({*re.findall(r"\d+(?:, \d+)+", line)}) > 1 for line in got))},
        "feat_runs_twice": {field: told(lambda got, words: got[:count] == got[count:])},
        "module_hook_twice": {field: told(lambda got, words: got[::2] == got[1::2])},
        "one_hook_for_all": {field: told(lambda got, words: len(got) == 1)},
        "children_or_modules": {field: told(lambda got, words: any(name in line for line in got for name in nested))},
        "extra_lines": {field: told(more)},
        "loop_variable": {field: told(lambda got, words: len(got) == count and all(w & names == {list(outputs)[-1]} for w in words))},
        "class_or_name": {field: told(lambda got, words: all(w & kinds and not w & names for w in words))},
        "line_without_name": {field: told(lambda got, words: not any(w & names for w in words))},
        "line_without_shape": {field: told(lambda got, words: "tensor(" in got[0] or not any(re.search(r"\d\s*[,x]\s*\d", line) for line in got))},
        "input_or_output": {field: lines_for(inputs)},
        "one_sample": {field: lines_for(one_sample)},
    }


class OneLineAChild(Check):
    """`VerboseNet(model)(x)` returns `model(x)`, and prints name and output shape of each child."""

    errors = ERRORS
    claims = ("what building it prints",)  # what an answer prints is what it does
    blame = {"what building it prints": "prints_while_building"}

    def given(self, case):
        one, two = case.words("names", 2)
        model = case.build("net", SkipNet, one, f"{one}0", f"{two}_{one}").eval()
        return model, case.tensor("x", 2, 3, *case.shape("size", 2, 6, 9))

    def probe(self, nb, case):
        model, x = self.given(case)
        with printed_lines() as building:
            verbose = nb.function("VerboseNet")(model)
        with printed_lines() as calling:
            output = verbose(x)
        return {"what building it prints": building, "what calling it prints": calling, "what it returns": output}

    def truth(self, case):
        _, shapes, output = step_by_step(*self.given(case))
        return {
            "what building it prints": [],
            "what calling it prints": lines_for(shapes),
            "what it returns": Close(output, rtol=1e-4, atol=1e-4),
        }

    def mistakes(self, case):
        model, x = self.given(case)
        in_a_row = x
        for child in model.children():
            in_a_row = child(in_a_row)
        return {
            "prints_while_building": {"what building it prints": told(lambda got, words: True)},
            "children_in_a_row": {"what it returns": in_a_row},
            "returns_nothing": {"what it returns": None},
            **flaws(model, x, "what calling it prints"),
        }


class CalledAgain(OneLineAChild):
    """A second call prints one line per child again, for the new input."""

    blame = {}
    claims = ()

    def probe(self, nb, case):
        model, x = self.given(case)
        verbose = nb.function("VerboseNet")(model)
        with printed_lines():
            verbose(x)
        with printed_lines() as lines:
            output = verbose(x[:1, :, 1:])
        return {"what the second call prints": lines, "what the second call returns": output}

    def truth(self, case):
        model, x = self.given(case)
        _, shapes, output = step_by_step(model, x[:1, :, 1:])
        return {"what the second call prints": lines_for(shapes), "what the second call returns": Close(output, 1e-4, 1e-4)}

    def mistakes(self, case):
        model, x = self.given(case)
        first = step_by_step(model, x)[1]
        count = len(first)
        kept = told(lambda got, words: len(got) > count and missing_lines(got[:count], first) is None)
        return {
            "silent_afterwards": {"what the second call prints": []},
            "stale_result": {"what the second call prints": AnyOf(lines_for(first), kept)},
            "hooks_pile_up": {"what the second call prints": told(lambda got, words: len(got) == 2 * count)},
        }


class LeftAsItIs(Check):
    """A model in training mode runs once, in that mode, and gradients still reach it."""

    errors = ERRORS
    blame = {"gradients from what it returns": "output_cut_off", "BatchNorm's statistics afterwards": "feat_runs_twice"}

    def given(self, case):
        model = case.build("trains", TinyResNet).train()
        model.register_forward_hook(lambda module, args, output: output * 2)  # model.forward(x) goes past it
        return model, case.tensor("x", 4, 3, *case.shape("size", 2, 6, 9))

    def probe(self, nb, case):
        model, x = self.given(case)
        with printed_lines():
            output = nb.function("VerboseNet")(model)(x)
        return {
            "what it returns": output, "gradients from what it returns": gradients_from([output], model, case),
            "BatchNorm's statistics afterwards": statistics(model),
        }

    def truth(self, case):
        model, x = self.given(case)
        output = model(x)
        gradients = {name: Close(one, 1e-4, 1e-4) for name, one in gradients_from([output], model, case).items()}
        return {
            "what it returns": Close(output, 1e-4, 1e-4), "gradients from what it returns": gradients,
            "BatchNorm's statistics afterwards": {name: Close(one, 1e-4, 1e-4) for name, one in statistics(model).items()},
        }

    def mistakes(self, case):
        model, x = self.given(case)
        return {"changes_mode": {"what it returns": Close(model.eval()(x), rtol=1e-4, atol=1e-4)}}


check("verbose_net", OneLineAChild, CalledAgain, LeftAsItIs)


# --- Hidden checks: graders run them, learners do not get them. ---
def caravan(case):
    """Layers that run in another order than they are registered in: how many, how wide and in which order, the seed says."""
    count = case.integer("waggons", 2, 4)
    order = case.words("names of the waggons", count)
    widths = [6, *case.shape("widths of the waggons", count, 7, 29)]
    sizes = dict(zip(order, itertools.pairwise(widths)))

    class Caravan(nn.Module):
        def __init__(self):
            super().__init__()
            for name in case.shuffled("registered", order):
                self.add_module(name, nn.Sequential(nn.Linear(*sizes[name]), nn.BatchNorm1d(sizes[name][1])))

        def forward(self, x):
            for name in order:
                x = torch.tanh(self.get_submodule(name)(x))
            return x

    return case.build("a caravan", Caravan), [case.tensor("first stop", 5, 6), case.tensor("second stop", 3, 6)]


class OnTheRoad(Check):
    """Each call prints one line for each child, and returns what the model returns, which is in training mode."""

    def probe(self, nb, case):
        (model, stops), found = caravan(case), {}
        with printed_lines() as building:
            verbose = nb.function("VerboseNet")(model)
        for number, x in enumerate(stops):
            with printed_lines() as lines:
                output = verbose(x)
            found[f"stop {number}"] = [lines, output, gradients_from([output], model, case)]
        return {"building": building, **found, "statistics": statistics(model)}

    def truth(self, case):
        (model, stops), wanted, shapes = caravan(case), {}, {}
        for name, child in model.named_children():
            child.register_forward_hook(lambda module, args, output, name=name: shapes.update({name: tuple(output.shape)}))
        for number, x in enumerate(stops):
            output = model(x)
            gradients = {name: Close(one, 1e-4, 1e-4) for name, one in gradients_from([output], model, case).items()}
            wanted[f"stop {number}"] = [lines_for(dict(shapes)), Close(output, 1e-4, 1e-4), gradients]
        return {"building": [], **wanted, "statistics": {name: Close(one, 1e-4, 1e-4) for name, one in statistics(model).items()}}


check("verbose_net", OnTheRoad)
