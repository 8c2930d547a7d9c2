import torch
import torch.nn as nn

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches


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
        r"TypeError: (module name should be a string|'\w+' object cannot be interpreted)": "anatomy_container_arguments",
        r"ValueError: ModuleDict": "anatomy_container_arguments",
        r"KeyError: .module name can.?.?t contain": "anatomy_other_names",
        r"KeyError: ": "anatomy_container_arguments",
        r"ValueError: (too many|not enough) values to unpack": "anatomy_order_of_example",
        r"(NameError|UnboundLocalError): ": "anatomy_name_not_there",
    }

    def steps(self, case, count):
        return [case.build(f"step{number}", nn.Linear, 3, 3) for number in range(count)]


class StepsAreRegistered(_OfTheChain):
    """The parameters of all steps are registered below `steps`, in the order that was passed."""

    def probe(self, nb, case):
        chain = nb.function("Chain")(self.steps(case, 4), [2, 0, 1])
        steps = getattr(chain, "steps", None)
        kind = "a module" if isinstance(steps, nn.Module) else type(steps).__name__
        return {"self.steps": kind, "parameters": dict(chain.named_parameters())}

    def truth(self, case):
        steps = self.steps(case, 4)
        wanted = {f"steps.{i}.{name}": one for i in range(4) for name, one in steps[i].named_parameters()}
        return {"self.steps": "a module", "parameters": wanted}

    def mistakes(self, case):
        wanted, steps = self.truth(case)["parameters"], self.steps(case, 4)
        in_run_order = {f"steps.{i}.{name}": one for i, j in enumerate([2, 0, 1]) for name, one in steps[j].named_parameters()}

        def says(test):
            return {"parameters": Matches(lambda found: None if test(found) else "something else", "this mistake")}

        return {
            "attributes_missing": {"self.steps": "NoneType", "parameters": AnyOf({}, wanted)},
            "python_list": {"self.steps": AnyOf("list", "tuple", "dict"), "parameters": AnyOf({}, wanted)},
            "anatomy_kept_on_the_class": {"parameters": {}},
            "registered_in_run_order": AnyOf({"parameters": in_run_order}, says(lambda found: set(found) == set(wanted))),
            "anatomy_order_of_example": says(lambda found: "steps.0.by" in found),
            "steps_dropped": says(lambda found: set(found) < set(wanted)),
            "anatomy_other_names": says(lambda found: found and set(found) != set(wanted)),
        }


class RunsInOrder(_OfTheChain):
    """The input goes through the steps in the given order, and nothing else happens to it."""

    numbers = ((2.0, 1.0), (3.0, 10.0), (-1.0, 100.0))

    def order(self, case):
        return case.shuffled("which", [[2, 0, 1], [1, 2, 0]])[0]

    def x(self, case):
        return torch.tensor([float(case.integer(name, 2, 20)) for name in ("first", "second")])

    def followed(self, order, x):
        """What comes out of steps that multiply and add."""
        for number in order:
            scale, shift = self.numbers[number]
            x = x * scale + shift
        return x

    def probe(self, nb, case):
        steps = [nn.Linear(1, 1) for _ in self.numbers]
        for step, (scale, shift) in zip(steps, self.numbers):
            step.load_state_dict({"weight": torch.tensor([[scale]]), "bias": torch.tensor([shift])})
        x = self.x(case)[:, None]
        output = nb.function("Chain")(steps, self.order(case))(x)
        return {"output": output[:, 0] if isinstance(output, torch.Tensor) else output, "x after the call": x[:, 0]}

    def truth(self, case):
        return {"output": self.followed(self.order(case), self.x(case)), "x after the call": self.x(case)}

    def mistakes(self, case):
        order, x = self.order(case), self.x(case)
        inverted = sorted(range(3), key=lambda number: order[number])
        several = Matches(lambda found: None if isinstance(found, list) else "one result", "a list")
        return {
            "overwrites_input": {"x after the call": AnyOf(self.followed(order, x), self.followed(order[:1], x))},
            "returns_nothing": {"output": None},
            "given_order": {"output": self.followed(range(3), x)},
            "anatomy_reversed_order": {"output": AnyOf(self.followed(order[::-1], x), self.followed(order[1::-1], x))},
            "anatomy_inverted_order": {"output": self.followed(inverted, x)},
            "anatomy_order_of_example": {"output": AnyOf(self.followed([1, 0], x), self.followed(order[:2], x))},
            "returns_too_early": {"output": self.followed(order[:1], x)},
            "result_not_passed_on": {"output": AnyOf(x, self.followed(order[-1:], x), sum(self.followed([one], x) for one in order))},
            "anatomy_all_results": {"output": several},
        }


class AnyOrderTwice(_OfTheChain):
    """A step may run twice or not at all, a chain may be called again, and gradients arrive."""

    blame = {
        "output of the second call": "consumes_order", "output of another chain": "anatomy_order_of_example",
        "gradients": "gradient_cut", "output after a step has changed": "copied_steps",
        "the order afterwards": "anatomy_changes_the_rest", "the list of steps afterwards": "anatomy_changes_the_rest",
    }

    def order(self, case):
        """Longer than the list of steps: some of them twice, one not at all."""
        return [1, *case.shuffled("order", [3, 0, 1]), 3]

    def probe(self, nb, case):
        steps, order, x = self.steps(case, 4), self.order(case), case.tensor("x", 2, 3)
        handed_in = list(steps)
        chain = nb.function("Chain")(handed_in, order)
        first, second = chain(x), chain(case.tensor("another x", 2, 5, 3))
        if second.requires_grad:
            second.backward(case.tensor("upstream", 2, 5, 3))
        gradients = {f"steps[{number}].weight": steps[number].weight.grad for number in (0, 1, 3)}
        with torch.no_grad():
            steps[1].weight.mul_(2)
        return {
            "output of the first call": first, "output of the second call": second,
            "output of another chain": nb.function("Chain")(self.steps(case, 2), [0])(x),
            "output after a step has changed": chain(x), "gradients": gradients,
            "the order afterwards": order, "the list of steps afterwards": [step(x) for step in handed_in],
        }

    def truth(self, case):
        steps, order, x = self.steps(case, 4), self.order(case), case.tensor("x", 2, 3)
        whole = nn.Sequential(*(steps[number] for number in order))
        first, second, used = whole(x), whole(case.tensor("another x", 2, 5, 3)), (0, 1, 3)
        weights = [steps[number].weight for number in used]
        gradients = torch.autograd.grad(second, weights, case.tensor("upstream", 2, 5, 3))
        with torch.no_grad():
            steps[1].weight.mul_(2)
        return {
            "output of the first call": first, "output of the second call": second, "output of another chain": steps[0](x),
            "output after a step has changed": whole(x),
            "gradients": {f"steps[{number}].weight": one for number, one in zip(used, gradients)},
            "the order afterwards": order, "the list of steps afterwards": [step(x) for step in steps],
        }

    def mistakes(self, case):
        steps, x, order = self.steps(case, 4), case.tensor("x", 2, 3), self.order(case)
        once = nn.Sequential(*(steps[number] for number in dict.fromkeys(order)))(x)
        short = nn.Sequential(*(steps[number] for number in order[:4]))(x)
        return {
            "step_used_once": {"output of the first call": once},
            "anatomy_order_of_example": {"output of the first call": short},
        }


check("container_order", StepsAreRegistered, RunsInOrder, AnyOrderTwice)


# --- Hidden checks: graders run them, learners do not get them. ---
def _hidden_steps(case):
    """Some layers, with an activation at a place that the seed draws."""
    layers = [case.build(f"hidden step {number}", nn.Linear, 3, 3) for number in range(case.integer("hidden count", 3, 5))]
    return [*layers[:1], *case.shuffled("hidden places", [*layers[1:], nn.Tanh()])]


def _hidden_order(case):
    """All steps but the first one, then one of them again."""
    order = case.shuffled("hidden order", range(1, len(_hidden_steps(case))))
    return [*order, order[0]]


def _hidden_values(case):
    """What a file holds for these steps."""
    named = nn.ModuleDict({"steps": nn.ModuleList(_hidden_steps(case))}).named_parameters()
    return {name: case.tensor(f"hidden {name}", *one.shape) for name, one in named}


class LoadedFromAFile(Check):
    """The chain computes with what was loaded from a file, call after call, and gradients arrive."""

    errors = _OfTheChain.errors

    def probe(self, nb, case):
        steps, x = _hidden_steps(case), case.tensor("hidden x", 4, 3, requires_grad=True)
        chain = nb.function("Chain")(list(steps), _hidden_order(case))
        nn.Module.load_state_dict(chain, _hidden_values(case), strict=False)
        first = chain(x)
        first.backward(case.tensor("hidden upstream", 4, 3))
        return {
            "first": first, "second": chain(case.tensor("hidden y", 2, 2, 3)), "steps": [step(x) for step in steps],
            "x": x, "x.grad": x.grad, "gradients": [one.grad for one in nn.ModuleList(steps).parameters()],
        }

    def truth(self, case):
        steps, x, y = _hidden_steps(case), case.tensor("hidden x", 4, 3, requires_grad=True), case.tensor("hidden y", 2, 2, 3)
        nn.ModuleDict({"steps": nn.ModuleList(steps)}).load_state_dict(_hidden_values(case))
        first = x
        for number in _hidden_order(case):
            first, y = steps[number](first), steps[number](y)
        leaves = [x, *nn.ModuleList(steps).parameters()]
        given, *gradients = torch.autograd.grad(first, leaves, case.tensor("hidden upstream", 4, 3), allow_unused=True)
        found = {"first": first, "second": y, "steps": [step(x) for step in steps], "x": x}
        return {**found, "x.grad": given, "gradients": gradients}


check("container_order", LoadedFromAFile)
