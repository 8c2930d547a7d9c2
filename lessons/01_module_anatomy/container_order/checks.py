import warnings
from itertools import permutations

import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from course.truths import ANYTHING
from course.traces import attributes_on, gradients_left


def _linear_steps(case, count):
    return [case.build(f"step{number}", nn.Linear, 3, 3) for number in range(count)]


def _ran(case, count, order, x):
    """What comes out of so many linear steps of the case in this order. Of no others: that would be an answer."""
    steps = _linear_steps(case, count)
    return nn.Sequential(*(steps[number] for number in order))(x)


class _Affine(nn.Module):
    """A step whose results can be followed in one's head."""

    def __init__(self, scale, shift):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.tensor(scale)), nn.Parameter(torch.tensor(shift))

    def forward(self, x):
        return x * self.scale + self.shift


class _OfTheChain(Check):
    """What all checks of the chain have in common: the errors that only one misconception brings."""

    errors = {
        r"TypeError: 'int' object is not callable": "anatomy_index_for_module",
        r"AttributeError: 'Chain' object has no attribute 'steps'": "attributes_missing",
        r"NameError: name '(order|steps)'": "anatomy_read_without_self",
        r"AttributeError: module '\S+' has no attribute": "anatomy_misspelt_method",
        r"TypeError: Chain\.\w+\(\) (takes|got|missing)": "anatomy_other_signature",
        r"TypeError: (ModuleList|ModuleDict|Sequential)\b": "anatomy_container_arguments",
        r"TypeError: \S+ is not a Module subclass": "anatomy_container_arguments",
        r"TypeError: module name should be a string": "anatomy_container_arguments",
        r"ValueError: ModuleDict": "anatomy_container_arguments",
        r"KeyError: ": "anatomy_container_arguments",
        r"ValueError: (too many|not enough) values to unpack": "anatomy_order_of_example",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
    }


class StepsAreRegistered(_OfTheChain):
    """The parameters of every step are found below the name `steps`, in the order in which they were handed in."""

    def probe(self, nb, case):
        chain = nb.function("Chain")(_linear_steps(case, 3), [2, 0, 1])
        return {
            "type(self.steps)": type(getattr(chain, "steps", None)).__name__,
            "parameters": dict(chain.named_parameters()),
        }

    def truth(self, case):
        steps = _linear_steps(case, 3)
        wanted = {f"steps.{i}.{name}": p for i in range(3) for name, p in steps[i].named_parameters()}
        return {"type(self.steps)": ANYTHING, "parameters": wanted}

    def mistakes(self, case):
        steps, wanted = _linear_steps(case, 3), self.truth(case)["parameters"]
        moved = [
            {f"steps.{i}.{name}": p for i, j in enumerate(order) for name, p in steps[j].named_parameters()}
            for order in list(permutations(range(3)))[1:]
        ]
        renamed = Matches(
            lambda found: None if found and set(found) != set(wanted) else "the same names", "other names"
        )
        return {
            "attributes_missing": {"type(self.steps)": "NoneType", "parameters": {}},
            "python_list": {"type(self.steps)": AnyOf("list", "tuple", "dict"), "parameters": {}},
            "anatomy_kept_on_the_class": {"parameters": {}},
            "registered_in_run_order": {"parameters": AnyOf(*moved)},
            "anatomy_other_names": {"parameters": renamed},
        }


class RunsInOrder(_OfTheChain):
    """The input goes through the steps in the given order."""

    numbers = ((2.0, 1.0), (3.0, 10.0), (-1.0, 100.0))

    def steps(self):
        return [_Affine(*pair) for pair in self.numbers]

    def followed(self, order, x):
        """What comes out, in numbers."""
        for number in order:
            scale, shift = self.numbers[number]
            x = x * scale + shift
        return x

    def order(self, case):
        return case.shuffled("which", [[2, 0, 1], [1, 2, 0]])[0]

    def x(self, case):
        return torch.tensor([float(case.integer(name, 2, 20)) for name in ("first", "second")], dtype=torch.float64)

    def probe(self, nb, case):
        chain = nb.function("Chain")(self.steps(), self.order(case))
        return {"output": chain(self.x(case))}

    def truth(self, case):
        return {"output": self.followed(self.order(case), self.x(case))}

    def mistakes(self, case):
        order, x = self.order(case), self.x(case)
        inverted = sorted(range(3), key=lambda number: order[number])
        several = Matches(lambda found: None if isinstance(found, list) else "one result", "a list")
        return {
            "returns_nothing": {"output": None},
            "given_order": {"output": self.followed(range(3), x)},
            "anatomy_reversed_order": {"output": self.followed(order[::-1], x)},
            "anatomy_inverted_order": {"output": self.followed(inverted, x)},
            "anatomy_order_of_example": {"output": self.followed([1, 0], x)},
            "returns_too_early": {"output": self.followed(order[:1], x)},
            "result_not_passed_on": {"output": AnyOf(self.followed(order[-1:], x), sum(step(x) for step in self.steps()))},
            "anatomy_all_results": {"output": several},
            "anatomy_wrong_dtype": {"output": self.followed(order, x.float())},
        }


class AnyOrderTwice(_OfTheChain):
    """A step may run twice or not at all, a chain may be called twice, and what it was given stays as it was."""

    blame = {
        "keeps the steps themselves": "copied_steps",
        "x after the call": "overwrites_input",
        "output of the second call": "consumes_order",
        "order after the calls": "anatomy_changes_callers_list",
        "len(steps) after the calls": "anatomy_changes_callers_list",
        "output in eval mode": "consumes_order",
        "x.grad in eval mode": "anatomy_input_cut",
        "gradient of a step in eval mode": "gradient_cut",
        "outputs of the steps in the list after the calls": "anatomy_changes_callers_list",
    }

    def order(self, case):
        """Longer than the list of steps: some of them twice, one not at all. Never the same backwards."""
        return [1, *case.shuffled("order", [3, 0, 1]), 3]

    def probe(self, nb, case):
        steps, order = _linear_steps(case, 4), self.order(case)
        handed_in = list(steps)
        chain = nb.function("Chain")(handed_in, order)
        x = case.tensor("x", 2, 3)
        first = chain(x)
        short = nb.function("Chain")(_linear_steps(case, 2), [0])(case.tensor("x", 2, 3))
        kept = {id(parameter) for parameter in chain.parameters()}
        return {
            "parameters": [name for name, _ in chain.named_parameters()],
            "keeps the steps themselves": all(id(p) in kept for step in steps for p in step.parameters()),
            "x after the call": x,
            "output of the first call": first,
            "output of the second call": chain(case.tensor("another x", 2, 5, 3)),
            "output of another chain": short,
            "order after the calls": order,
            "len(steps) after the calls": len(handed_in),
            "values of the parameters": dict(chain.named_parameters()),
            "the parameters, one after the other": list(chain.parameters()),
            "outputs of the steps in the list after the calls": [step(case.tensor("x", 2, 3)) for step in handed_in],
            **self.in_eval_mode(chain, chain.eval(), steps[1], case),
        }

    def in_eval_mode(self, owner, chain, step, case):
        """What a call brings then, and which gradients arrive."""
        x = case.tensor("x in eval mode", 2, 3, requires_grad=True)
        owner.zero_grad()
        output = chain(x)
        output.backward(case.tensor("upstream", 2, 3))
        left = gradients_left({"gradient of a step in eval mode": step.weight, "x.grad in eval mode": x}, case)
        return {"output in eval mode": output, **left}

    def truth(self, case):
        steps, order = _linear_steps(case, 4), self.order(case)
        whole = nn.Sequential(*(steps[number] for number in order))
        return {
            "parameters": [f"steps.{i}.{name}" for i in range(4) for name, _ in steps[i].named_parameters()],
            "keeps the steps themselves": True,
            "x after the call": case.tensor("x", 2, 3),
            "output of the first call": whole(case.tensor("x", 2, 3)),
            "output of the second call": whole(case.tensor("another x", 2, 5, 3)),
            "output of another chain": steps[0](case.tensor("x", 2, 3)),
            "order after the calls": order,
            "len(steps) after the calls": 4,
            "values of the parameters": {f"steps.{i}.{name}": p for i in range(4) for name, p in steps[i].named_parameters()},
            "the parameters, one after the other": [p for step in steps for p in step.parameters()],
            "outputs of the steps in the list after the calls": [step(case.tensor("x", 2, 3)) for step in steps],
            **self.in_eval_mode(nn.ModuleList(steps), whole, steps[1], case),
        }

    def mistakes(self, case):
        wanted, x, order = self.truth(case), case.tensor("x", 2, 3), self.order(case)
        once = _ran(case, 4, dict.fromkeys(order), x)
        moved = Matches(lambda found: None if sorted(found) == sorted(wanted["parameters"]) else "other names", "another order")
        return {
            "registered_in_run_order": {"parameters": moved},
            "steps_dropped": {
                "parameters": AnyOf(*([name for name in wanted["parameters"] if left_out not in name] for left_out in ("2", "3")))
            },
            "step_used_once": {"output of the first call": once},
            "anatomy_order_of_example": {"output of the first call": _ran(case, 4, order[:4], x)},
            "anatomy_kept_on_the_class": {
                "output of the second call": _ran(case, 1, [0], case.tensor("another x", 2, 5, 3))
            },
        }


class AnySteps(_OfTheChain):
    """Whatever the steps are, also one module twice, gradients reach all of them and `x`; they stay as they were."""

    blame = {
        "gradient of the frozen step": "anatomy_changes_the_rest",
        "gradient of the unused step": "anatomy_changes_the_rest",
        "gradient of an x that needs none": "anatomy_changes_the_rest",
        "gradient of an x that was computed": "anatomy_changes_the_rest",
        "outputs of the steps, by their names": "steps_dropped",
        "outputs of the steps in eval mode of the chain": "copied_steps",
        "attributes of the steps": "anatomy_changes_the_rest",
        "x.grad": "anatomy_input_cut",
    }

    def steps(self, case):
        """A layer at two places, batch norm in either mode, a frozen layer, and one that the order leaves out."""
        first, frozen, last, unused = _linear_steps(case, 4)
        unused.weight.grad = case.tensor("gradient from before", 3, 3)
        norms = [nn.BatchNorm1d(3), nn.BatchNorm1d(3).eval()]
        for number, norm in enumerate(norms):
            norm.running_mean.copy_(case.tensor(f"mean {number}", 3))
        return [first, norms[0], frozen.requires_grad_(False), norms[1], first, last, unused]

    def order(self, case):
        """Batch norm in training mode would hide what came before it: the one in eval mode comes later, then one step twice."""
        return [*case.shuffled("order", [0, 1, 2, 4]), 3, 5, 5]

    def truth(self, case):
        steps = self.steps(case)
        found = self.brought(steps, nn.Sequential(*(steps[number] for number in self.order(case))), case)
        return {**found, **self.by_themselves(nn.ModuleDict({"steps": nn.ModuleList(steps)}), steps, case)}

    def probe(self, nb, case):
        steps = self.steps(case)
        chain = nb.function("Chain")(list(steps), self.order(case))
        found = self.brought(steps, chain, case)
        return {**found, **self.by_themselves(chain, steps, case)}

    def by_themselves(self, chain, steps, case):
        """What the steps compute, those that the chain knows by name, and those that were handed in, while it is in eval mode."""
        named = self.alone(self.named(chain, len(steps)), case)
        chain.eval()
        return {
            "outputs of the steps, by their names": named,
            "outputs of the steps in eval mode of the chain": self.alone(steps, case),
        }

    def named(self, chain, count):
        """The modules under the names steps.0, steps.1 and so on, up to the first that is missing."""
        found = []
        try:
            for number in range(count):
                found.append(nn.Module.get_submodule(chain, f"steps.{number}"))
        except AttributeError:  # told by how many there are
            pass
        return found

    def alone(self, steps, case):
        with torch.no_grad():
            return [step(case.tensor("x", 4, 3)) for step in steps]

    def brought(self, steps, chain, case):
        x = case.tensor("x", 4, 3, requires_grad=True)
        output = chain(x)
        output.backward(case.tensor("upstream", 4, 3))
        needs_none = case.tensor("another x", 4, 3)
        chain(needs_none).backward(case.tensor("upstream", 4, 3))
        (steps[6](x) - x).sum().backward()
        computed = 2 * case.tensor("a third x", 4, 3, requires_grad=True)
        chain(computed).backward(case.tensor("upstream", 4, 3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # asked on purpose: what autograd does not keep
            kept = gradients_left({"gradient of an x that was computed": computed}, case)
        named = {"first": steps[0].weight, "frozen": steps[2].weight, "last": steps[5].weight, "unused": steps[6].weight}
        gradients = gradients_left(named, case)
        return {
            "output": output,
            **{f"gradient of the {name} step": gradient for name, gradient in gradients.items()},
            **gradients_left({"x.grad": x, "gradient of an x that needs none": needs_none}, case),
            **kept,
            "attributes of the steps": attributes_on(nn.ModuleList(steps), case),
        }

    def mistakes(self, case):
        def in_mode(training):
            steps = [step.train(training) for step in self.steps(case)]
            return {"output": nn.Sequential(*(steps[number] for number in self.order(case)))(case.tensor("x", 4, 3))}

        kept = list(dict.fromkeys(self.steps(case)))
        each_once = nn.Sequential(*(kept[number] for number in self.order(case)))(case.tensor("x", 4, 3))
        none = gradients_left({name: nn.Parameter(torch.empty(3, 3)) for name in ("first", "last")}, case)
        return {
            "gradient_cut": AnyOf(*({f"gradient of the {name} step": given} for name, given in none.items())),
            "anatomy_changes_the_rest": AnyOf(in_mode(True), in_mode(False)),
            "steps_dropped": {"output": each_once},
            "anatomy_other_names": {"outputs of the steps, by their names": []},
        }


check("container_order", StepsAreRegistered, RunsInOrder, AnyOrderTwice, AnySteps)


# --- Hidden checks: graders run them, learners do not get them. ---
def _rounds(case):
    """From 2 to 5 features and back again, some times over."""
    once = case.shuffled("hidden order", [[2, 1, 0], [2, 0, 1]])[0]
    return once * case.integer("hidden rounds", 2, 3)


class OtherWidths(Check):
    """Steps of different widths run in the given order, and gradients reach them."""

    def steps(self, case):
        return [case.build("hidden narrow", nn.Linear, 5, 2), nn.Tanh(), case.build("hidden wide", nn.Linear, 2, 5)]

    def probe(self, nb, case):
        chain = nb.function("Chain")(self.steps(case), _rounds(case))
        output = chain(case.tensor("hidden x", 4, 2))
        output.backward(case.tensor("hidden upstream", 4, 2))
        names = ("steps.0.weight", "steps.2.weight")
        return {"output": output, "gradients": {name: chain.get_parameter(name).grad for name in names}}

    def truth(self, case):
        steps, x = self.steps(case), case.tensor("hidden x", 4, 2)
        for number in _rounds(case):
            x = steps[number](x)
        weights = [steps[0].weight, steps[2].weight]
        narrow, wide = torch.autograd.grad(x, weights, case.tensor("hidden upstream", 4, 2))
        wanted = {"output": x, "gradients": {"steps.0.weight": narrow, "steps.2.weight": wide}}
        return Close(wanted, rtol=1e-4, atol=1e-4)


check("container_order", OtherWidths)
