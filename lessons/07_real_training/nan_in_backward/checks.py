import itertools
import sys
from contextlib import contextmanager
from functools import partial

import torch
from torch import nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from course.truths import such_that

POISON = ("net", "x", "y", "z", "node", "names", "loss", "following")
ERRORS = {
    r"KeyError": "nan_key_error",
    r"AttributeError: 'NoneType' object has no attribute '(isfinite|isnan|isinf|abs|sum|register_hook|next_functions|name)'": "nan_entry_is_none",
    r"TypeError: .*(isfinite|isnan|isinf).* NoneType": "nan_entry_is_none",
    r"(IndexError: list index|TypeError: cannot unpack|UnboundLocalError|StopIteration)": "nan_none_found",
    r"RuntimeError: Function '\w+' returned nan values": "nan_anomaly_raises",
    r"RuntimeError: this walk visits a node again and again": "nan_again", r"(AssertionError|ValueError|ArithmeticError|FloatingPointError)": "nan_in_the_loss",
}
ROW = "the answer for two layers in a row"
OPERATIONS = {"sqrt": "SqrtBackward0", "where": "LogBackward0", "pow": "PowBackward0"}


class Fragile(nn.Module):
    """Sound in forward, but for a log. In its first column, where it is hurt, backward of its operation is not finite."""

    def __init__(self, kind, hurt):
        super().__init__()
        self.kind, self.hurt = kind, hurt

    def forward(self, x):
        keep = torch.ones(x.shape[-1])
        keep[0] = 0.0 if self.hurt else 1.0
        value = (x.tanh() + 2) * keep
        if self.kind in ("sqrt", "log"):
            return getattr(value, self.kind)()
        if self.kind == "pow":
            return value.pow(0.5)
        return torch.where(value > 0, value.log() if self.kind == "where" else torch.ones_like(x) / value, 0.0)


class Branches(nn.Module):
    """Two blocks whose outputs are added: the second way leads through the first block only."""

    def __init__(self, names, kinds, hurt):
        super().__init__()
        self.names = names
        for name, kind in zip(names, kinds):
            self.add_module(name, nn.Sequential(nn.Linear(4, 4), Fragile(kind, name in hurt)))

    def forward(self, x):
        first, *others = (getattr(self, name) for name in self.names)
        x = first(x)
        return x + sum(other(x) for other in others)


class HuntCheck(Check):
    """What the checks of this exercise share."""

    poison = POISON
    errors = ERRORS
    hurt = 1

    def names(self, case):
        return case.words("names", 3)

    def kinds(self, case):
        return case.shuffled("kinds", list(OPERATIONS))

    def which(self, case):
        """The places of those that are hurt, in the order of forward."""
        return [case.integer("hurt", 1, 2)]

    def given(self, case):
        names = self.names(case)
        return case.build("net", Branches, names, self.kinds(case), [names[place] for place in self.which(case)])

    def loss_of(self, case):
        weight = case.tensor("upstream", 5, 4).detach()
        return lambda output: (output * weight).sum()

    def probe(self, nb, case):
        hunt, x, loss_of = nb.function("nan_in_backward"), case.tensor("x", 5, 4), self.loss_of(case)
        row = nn.Sequential(case.build("row", nn.Linear, 4, 4), Fragile("log", True))  # here the loss is infinite, too
        return {"nan_in_backward(...)": hunt(self.given(case), x, loss_of), ROW: hunt(row, x, loss_of)}

    def pair(self, case, place):
        return [OPERATIONS[self.kinds(case)[place]], f"{self.names(case)[place]}.1"]

    def truth(self, case):
        return {"nan_in_backward(...)": self.pair(case, self.which(case)[-1]), ROW: ["LogBackward0", "1"]}

    def mistakes(self, case):
        field, (operation, module) = "nan_in_backward(...)", self.pair(case, self.which(case)[-1])

        def text(got):
            return isinstance(got, list) and len(got) == 2 and all(isinstance(one, str) for one in got)

        def too_late(where, first, name):
            return {where: such_that(lambda got: text(got) and got[0] != first and got[1] in (name, ""))}

        return {
            "nan_nothing_found": {field: None}, "nan_in_the_loss": {field: [operation, module], ROW: AnyOf(["SumBackward0", ""], None)},
            "nan_pair": {field: AnyOf([module, operation], operation, module, such_that(lambda got: isinstance(got[0], list)))},
            "class_or_name": {field: [operation, "Fragile"]},
            "nan_object": {field: such_that(lambda got: not text(got))},
            "nan_no_module": {field: [operation, ""]},
            "nan_module_above": {field: AnyOf(*([operation, part] for part in module.split(".")))},
            "nan_last": {field: AnyOf(such_that(lambda got: text(got) and got[0] == "TBackward0"), *(self.pair(case, place) for place in self.which(case)[:-1]))},
            "nan_first_way": {field: such_that(lambda got: text(got) and got[1] != module and got[0] != operation and "Accumulate" not in got[0] and self.upstream(case, got[1])), ROW: ["LogBackward0", "1"]},
            "nan_stale": {ROW: such_that(lambda got: text(got) and got[1].split(".")[0] in self.names(case))},
            "nan_late_binding": {ROW: such_that(lambda got: text(got) and "Accumulate" in got[0])},
            "nan_one_too_late": AnyOf(too_late(field, operation, module), too_late(ROW, "LogBackward0", "1")),
        }

    def upstream(self, case, name):
        """Whether the module of this name ran before the one that is hurt."""
        return name.split(".")[0] in [self.names(case)[place] for place in range(self.which(case)[-1])] or name.endswith(".0")


class OneIsHurt(HuntCheck):
    """It names the operation and its module, on any branch."""


class FirstOfTwo(HuntCheck):
    """Of two it names the one that backward reaches first."""

    def which(self, case):
        return [0, case.integer("hurt", 1, 2)]


class InTheLossOrNowhere(HuntCheck):
    """An operation of the loss has no module; if all is finite, it returns None."""

    claims = ("the answer when all is finite", "the answer for a NaN of the loss")  # answers themselves

    def which(self, case):
        return [0]

    def probe(self, nb, case):
        hunt, names = nb.function("nan_in_backward"), self.names(case)
        sound = case.build("net", Branches, names, self.kinds(case), [])
        fragile = Fragile("ratio", True)  # the first of its gradients is None
        return {
            "the answer for a NaN of the loss": hunt(nn.Sequential(sound), case.tensor("x", 5, 4), lambda output: fragile(output).sum()),
            "the answer when all is finite": hunt(sound, case.tensor("x", 5, 4), self.loss_of(case)),
            "the answer for a NaN of the model": hunt(self.given(case), case.tensor("x", 5, 4), self.loss_of(case)),
        }

    def truth(self, case):
        return {"the answer for a NaN of the loss": ["DivBackward0", ""], "the answer when all is finite": None, "the answer for a NaN of the model": self.pair(case, 0)}

    def mistakes(self, case):
        operation = "DivBackward0"
        return {
            "nan_one_too_late": {"the answer for a NaN of the loss": ["MulBackward0", ""], "the answer when all is finite": None},
            "nan_loss_forgotten": {"the answer for a NaN of the loss": such_that(lambda got: got is None or got[0] != operation), "the answer when all is finite": None},
            "nan_no_name": {"the answer for a NaN of the loss": such_that(lambda got: got[0] == operation and got[1] != "")},
            "nan_stale": {"the answer when all is finite": [operation, ""]},
            "nan_none_found": {"the answer when all is finite": Matches(lambda got: None if got is not None else "None", "something")},
        }


class InABox(Fragile):
    """Returns a dict."""

    def forward(self, x):
        return {"out": super().forward(x)}


class Boxes(nn.Module):
    """Its first layer returns a dict; its last one gets by keyword what the model itself has made of that."""

    def __init__(self, names, hurt):
        super().__init__()
        self.own = [Fragile("sqrt", hurt == "")]  # in a list: no module of the model
        for name, layer in zip(names, (InABox("sqrt", hurt == names[0]), nn.Linear(4, 4))):
            self.add_module(name, layer)

    def forward(self, x):
        first, last = self.children()
        return last(input=self.own[0](first(x)["out"]))


class DictsAndKeywords(HuntCheck):
    """It names the right module where one returns a dict, and the next one gets its input by keyword."""

    def probe(self, nb, case):
        names, found = self.names(case), {}
        for title, hurt in {"the answer for a layer that returns a dict": names[0], "the answer for the model itself": ""}.items():
            net, x = case.build("net", Boxes, names[:2], hurt), case.tensor("x", 5, 4, requires_grad=True)
            found[title] = nb.function("nan_in_backward")(net, x, self.loss_of(case))
        return found

    def truth(self, case):
        return {"the answer for a layer that returns a dict": ["SqrtBackward0", self.names(case)[0]], "the answer for the model itself": ["SqrtBackward0", ""]}

    def mistakes(self, case):
        name = self.names(case)[1]
        return {"nan_in_a_box": {"the answer for the model itself": ["SqrtBackward0", name]}, "nan_nothing_found": {"the answer for a layer that returns a dict": None}}


@contextmanager
def at_most(calls):
    """In the block no more than so many calls of functions: some walks would take years."""
    counter, before = itertools.count(), sys.getprofile()

    def count(frame, event, arg):
        if event in ("call", "c_call") and next(counter) > calls:
            raise RuntimeError("this walk visits a node again and again")

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)


class Shortcut(nn.Module):
    def __init__(self, hurt):
        super().__init__()
        self.inner = Fragile("sqrt", hurt)

    def forward(self, x):
        return x + self.inner(x)


class ManyWays(HuntCheck):
    """Of 40 blocks with a shortcut each, it names the one that is hurt: it goes to each node once."""

    def given(self, case):
        hurt = case.integer("hurt", 10, 30)
        return nn.Sequential(nn.Linear(4, 4), *(Shortcut(place == hurt) for place in range(1, 41)))

    def probe(self, nb, case):
        with at_most(300_000):
            return super().probe(nb, case)

    def pair(self, case, place):
        return ["SqrtBackward0", f"{case.integer('hurt', 10, 30)}.inner"]


check("nan_in_backward", OneIsHurt, FirstOfTwo, InTheLossOrNowhere, DictsAndKeywords, ManyWays)


# --- Hidden checks: graders run them, learners do not get them. ---
class Inner(nn.Module):
    """What it does itself lies between two layers of its own. Where it is hurt, it divides zero by zero in backward."""

    def __init__(self, kind, hurt):
        super().__init__()
        self.first, self.last, self.kind, self.hurt = nn.Linear(3, 3), nn.Linear(3, 3), kind, hurt

    def forward(self, x):
        x = self.first(x).sigmoid() * 0.5 + 0.2
        if self.hurt:
            x = x - x.detach() if self.kind != "asin" else x - x.detach() + 1
        x = {"sqrt": torch.sqrt, "asin": torch.asin, "pow": lambda one: one.pow(0.25)}[self.kind](x)
        return self.last(x) + x


class OtherNet(Check):
    """Three more models, hurt in places of the seed, or in the loss."""

    poison = POISON

    def given(self, case, turn):
        names = case.words(f"hidden names {turn}", case.integer(f"hidden depth {turn}", 3, 5))
        kinds = [("sqrt", "asin", "pow")[case.integer(f"hidden kind {turn} {name}", 0, 2)] for name in names]
        hurt = sorted(case.shuffled(f"hidden hurt {turn}", range(len(names)))[: turn % 3])
        outer = nn.Sequential()
        for place, (name, kind) in enumerate(zip(names, kinds)):
            outer.add_module(name, nn.Sequential(nn.Tanh(), case.build(f"hidden {turn} {name}", Inner, kind, place in hurt)))
        return outer, names, kinds, hurt

    def length(self, factor, output):
        return (output.square() * factor).sum().sqrt()

    def probe(self, nb, case):
        found = {}
        for turn in (1, 2, 3, 4, 6):
            model, *_ = self.given(case, turn)
            loss_of = partial(self.length, 0.0 if turn == 6 else 1.0)
            found[f"model {turn}"] = nb.function("nan_in_backward")(model, case.tensor(f"hidden x {turn}", 2, 3), loss_of)
        return found

    claims = ("model 3", "model 6")  # answers themselves

    def truth(self, case):
        wanted = {"model 3": None, "model 6": ["SqrtBackward0", ""]}
        operations = {"sqrt": "SqrtBackward0", "asin": "AsinBackward0", "pow": "PowBackward0"}
        for turn in (1, 2, 4):
            _, names, kinds, hurt = self.given(case, turn)
            wanted[f"model {turn}"] = [operations[kinds[hurt[-1]]], f"{names[hurt[-1]]}.1"]
        return wanted


check("nan_in_backward", OtherNet)
