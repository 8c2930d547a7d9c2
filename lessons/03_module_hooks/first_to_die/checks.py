import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches, is_same
from nbproof.values.describe import in_words
from course.probing import hook_counts
from course.traces import what_runs
from course.truths import ANYTHING, as_before, other_than, such_that

POISON = ("net", "train", "relu", "history")
ERRORS = {
    r"AttributeError: '\w+' object has no attribute 'register_hook'": "register_hook_on_module",
    r"KeyError": "loop_variable",
    r"(TypeError: .*NoneType|IndexError: list index|StopIteration|ValueError: min\(\))": "died_none_died",
}
ROWS, WIDE = 10, 12
RETURNED = "what first_to_die returned"


def pair(name, step):
    """In a truth: this pair. A list, as evidence has it, is not what a learner was asked for."""
    return Matches(lambda got: None if is_same(got, [name, step]) else in_words(got), f"the pair ({name!r}, {step})")


def all_but_one(layer, x):
    """Set the layer's bias so that of all its values for `x` a single one is positive."""
    layer.bias.fill_(-1e4)
    layer.bias[0] = -(x @ layer.weight[0]).topk(2).values.mean()


def stack(names):
    """Linear layers of 12 units, a ReLU of each name behind one, hooks of somebody else; the last layer returns zeros."""
    net = nn.Sequential()
    for number, name in enumerate(names):
        net.add_module(f"layer{number}", nn.Linear(WIDE, WIDE))
        net.add_module(name, nn.ReLU())
    net.add_module("head", nn.Linear(WIDE, 3))
    nn.init.zeros_(net.head.weight)
    nn.init.zeros_(net.head.bias)
    net.register_forward_pre_hook(lambda module, args: None)
    net.get_submodule(names[0]).register_forward_hook(lambda module, args, output: None)
    return net


class Stack(Check):
    """A net of three ReLUs, trained: at given steps given ReLUs return zeros, one of them in all but one unit before."""

    poison = POISON
    errors = ERRORS
    steps = 9

    def given(self, case):
        names = case.words("names", 3)
        return case.build("net", stack, names), names

    def when(self, case):
        """The place of the ReLU that dies first, and of one in front of it that dies later; the step of the first death, counted from 0."""
        return 1, 0, case.integer("step", 3, 6)

    def train(self, case, net):
        """Step after step: nearly dead at step 1, tiny at step 2, then the first death, which does not last, and the second."""
        first, second, step = self.when(case)
        biases = [net.get_parameter(f"layer{number}.bias") for number in range(3)]
        before, batch = [bias.detach().clone() for bias in biases], case.tensor("batch", ROWS, WIDE)
        for now in range(self.steps):
            with torch.no_grad():
                for bias, value in zip(biases, before):
                    bias.copy_(value)
                if now == 2:
                    [bias.zero_() for bias in biases]
                if now == 1:
                    all_but_one(net.get_submodule(f"layer{second}"), batch.roll(now, 0))
                if now == step:
                    biases[first].fill_(-1e4)
                if now > step + 1:
                    biases[second].fill_(-1e4)
            net(batch.roll(now, 0) * (1e-9 if now == 2 else 1))

    def found(self, nb, case):
        (net, _), runs = self.given(case), []
        answer = nb.function("first_to_die")(net, lambda net: (runs.append(1), self.train(case, net)))
        return net, answer, len(runs)


class FirstToDie(Stack):
    """The pair names the ReLU that was all zeros first, and the step."""

    def probe(self, nb, case):
        _, answer, runs = self.found(nb, case)
        return {RETURNED: answer, "runs of train": runs}

    def truth(self, case):
        names = case.words("names", 3)
        first, _, step = self.when(case)
        return {RETURNED: pair(names[first], step), "runs of train": 1}

    def mistakes(self, case):
        names, (first, second, step), field = case.words("names", 3), self.when(case), RETURNED
        right = names[first]

        def another_layer(got):
            return None if isinstance(got, list) and isinstance(got[0], str) and got[0] not in names and got[1] < step else "a ReLU"

        return {
            "died_not_trained": {"runs of train": 0},
            "died_trains_again": {"runs of train": Matches(lambda got: None if got > 1 else "once", "more than once")},
            "died_later_one": {field: AnyOf(*([names[second], now] for now in range(step + 1, self.steps)), [right, self.steps - 1])},
            "died_not_all_zeros": {field: AnyOf(*([name, now] for name in names for now in range(3)))},
            "died_any_layer": {field: Matches(another_layer, "another layer")},
            "died_counts_calls": {field: AnyOf([right, step + 1], [right, step * 3 + first], [right, step * 3 + first + 1], *([right, step * k] for k in (2, 3)))},
            "loop_variable": {field: AnyOf(*([name, step] for name in (*names, "head") if name != right))},
            "died_wrong_pair": {field: AnyOf([step, right], right, step, ["ReLU", step])},
            "died_finds_nobody": {field: None},
        }


def nested(names):
    """One ReLU on top, one inside a block."""
    inner = nn.Sequential()
    inner.add_module("fc", nn.Linear(4, 4))
    inner.add_module(names[1], nn.ReLU())
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    net.add_module(names[0], inner)
    nn.init.constant_(net[0].bias, 10)
    nn.init.constant_(inner.fc.bias, 100)  # so that no ReLU dies by chance
    return net


class InABlock(Check):
    """Names are dotted, as `named_modules()` gives them."""

    poison = POISON
    errors = ERRORS

    def train(self, case, net, block):
        for now in range(6):
            if now == case.integer("step", 1, 4):
                nn.init.constant_(net.get_submodule(block).fc.bias, -1e4)
            net(case.tensor(f"batch {now}", 5, 4))

    def probe(self, nb, case):
        names = case.words("names", 2)
        net = case.build("net", nested, names)
        return {RETURNED: nb.function("first_to_die")(net, lambda net: self.train(case, net, names[0]))}

    def truth(self, case):
        return {RETURNED: pair(".".join(case.words("names", 2)), case.integer("step", 1, 4))}

    def mistakes(self, case):
        names, step = case.words("names", 2), case.integer("step", 1, 4)
        return {
            "died_trains_again": {RETURNED: [".".join(names), 0]},
            "died_later_one": {RETURNED: [".".join(names), 5]},
            "died_upper_levels": {RETURNED: AnyOf(None, [names[1], step], [names[0], step])},
        }


class Turned(nn.Module):
    """Of its ReLUs the last one of the alphabet, which is also registered last, runs first."""

    def __init__(self, names):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        nn.init.constant_(self.fc.weight, 0.1)
        for name in sorted(names):
            self.add_module(name, nn.ReLU())

    def forward(self, x):
        return nn.Sequential(*(nn.Sequential(self.fc, relu) for relu in reversed(list(self.children())[1:])))(x)


class SeveralInOneStep(Check):
    """Of several that die in one step, it names the one that runs first."""

    poison = POISON

    def train(self, case, net):
        for now in range(6):
            nn.init.constant_(net.fc.bias, -1e4 if now == case.integer("step", 2, 4) else 10)
            net(case.tensor("batch", 5, 4))

    def probe(self, nb, case):
        return {RETURNED: nb.function("first_to_die")(case.build("net", Turned, case.words("names", 3)), lambda net: self.train(case, net))}

    def truth(self, case):
        return {RETURNED: pair(max(case.words("names", 3)), case.integer("step", 2, 4))}

    def mistakes(self, case):
        return {"died_in_one_step": {RETURNED: AnyOf(*([name, case.integer("step", 2, 4)] for name in sorted(case.words("names", 3))[:-1]))}}


class NothingStays(Stack):
    """If no ReLU dies, it returns None; in each case its hooks are gone afterwards, and hooks of others stay."""

    claims = ("first_to_die(a net that lives)",)  # the answer itself

    def probe(self, nb, case):
        net, _ = self.given(case)
        alive = nb.function("first_to_die")(net, lambda net: [net(case.tensor("x", ROWS, WIDE)) for _ in range(3)])
        after, _, _ = self.found(nb, case)
        return {
            "first_to_die(a net that lives)": alive, "what runs afterwards": [self.runs(case, net), self.runs(case, after)],
            "hooks left": sum(hook_counts(net).values()) + sum(hook_counts(after).values()),
        }

    def runs(self, case, net):
        return what_runs(net, case, lambda: net(case.tensor("another x", ROWS, WIDE)))

    def truth(self, case):
        fresh = as_before(self.runs(case, self.given(case)[0]))
        return {"first_to_die(a net that lives)": None, "hooks left": ANYTHING, "what runs afterwards": [fresh, fresh]}

    def mistakes(self, case):
        return {
            "died_hooks_stay": {"first_to_die(a net that lives)": None, "hooks left": such_that(lambda got: got > 4)},
            "removes_other_hooks": {"first_to_die(a net that lives)": None, "hooks left": such_that(lambda got: got < 4)},
            "died_none_died": {"first_to_die(a net that lives)": other_than(None)},
        }


check("first_to_die", FirstToDie, InABlock, SeveralInOneStep, NothingStays)


# --- Hidden checks: graders run them, learners do not get them. ---
def blocks(names):
    """A chain of blocks: in each a layer, a ReLU, a layer that starts with zeros and what it is added to."""

    class Block(nn.Module):
        def __init__(self, name):
            super().__init__()
            self.fc, self.out, self.name = nn.Linear(12, 12), nn.Linear(12, 12), name
            self.add_module(name, nn.ReLU())
            nn.init.zeros_(self.out.weight)
            nn.init.zeros_(self.out.bias)
            self.get_submodule(name).register_forward_hook(lambda module, args, output: None)

        def forward(self, x):
            return x + self.out(self.get_submodule(self.name)(self.fc(x)))

    return nn.Sequential(*(Block(name) for name in names))


class Blocks(Check):
    """In a chain of blocks one ReLU dies for a while, others later; none dies in another one."""

    poison = POISON
    claims = ("alive",)  # the answer itself

    def net(self, case, which):
        return case.build(f"hidden {which}", blocks, case.words(f"hidden {which}", case.integer(f"hidden depth {which}", 3, 6)))

    def when(self, case, which):
        """Which block dies first, which one later, and the steps of both."""
        first = case.integer(f"hidden first {which}", 1, case.integer(f"hidden depth {which}", 3, 6) - 2)
        step = case.integer(f"hidden step {which}", 2, 8)
        return first, case.integer(f"hidden later {which}", 0, first - 1), step, step + case.integer(f"hidden wait {which}", 1, 4)

    def train(self, case, net, which, dies):
        first, later, step, then = self.when(case, which)
        weights, batch = [block.fc.bias.detach().clone() for block in net], case.tensor(f"hidden batch {which}", 10, 12)
        for now in range(then + 3):
            with torch.no_grad():
                for block, weight in zip(net, weights):
                    block.fc.bias.copy_(weight if now else 0 * weight)
                if 0 < now < step:
                    all_but_one(net[later].fc, batch.roll(now, 0))
                if now == step and dies:
                    net[first].fc.bias.fill_(-1e4)
                if now >= then and dies:
                    net[later].fc.bias.fill_(-1e4)
            net(batch.roll(now, 0) * (1 if now else 1e-9))

    def probe(self, nb, case):
        found = {}
        for which, dies in (("one", True), ("two", True), ("alive", False)):
            net, times = self.net(case, which), []

            def train(net):
                times.append(case.integer("hidden time", 1, 10**6))
                self.train(case, net, which, dies)

            found[which] = nb.function("first_to_die")(net, train)
            found[f"{which}, runs of train"] = times
            found[f"{which}, what runs afterwards"] = what_runs(net, case, lambda: net(case.tensor("hidden x", 12)))
        return found

    def truth(self, case):
        found = {}
        for which, dies in (("one", True), ("two", True), ("alive", False)):
            net = self.net(case, which)
            first, _, step, _ = self.when(case, which)
            name = case.words(f"hidden {which}", len(net))[first]
            found[which] = [f"{first}.{name}", step] if dies else None
            found[f"{which}, runs of train"] = [case.integer("hidden time", 1, 10**6)]
            found[f"{which}, what runs afterwards"] = as_before(what_runs(net, case, lambda: net(case.tensor("hidden x", 12))))
        return found


check("first_to_die", Blocks)
