import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from nbproof.values.evidence import snapshot
from course.probing import hook_counts, other_forward

ANYTHING = Matches(lambda got: None, "anything")


class FiveMore(Check):
    """Each call of `add(x1, x2)` returns `x1 + x2 + 5`."""

    poison = ("x1", "x2", "output")
    errors = {r"RecursionError": "recomputes_output"}

    def probe(self, nb, case):
        add = nb.module("add")
        x1, x2 = case.tensor("x1", 4), case.tensor("x2", 4)
        output = snapshot(add(x1, x2))
        hooks = hook_counts(add)
        again = add(case.tensor("y1", 2, 3), case.tensor("y2", 3))
        return {
            "output": output, "x1 afterwards": x1, "x2 afterwards": x2, "forward hooks on add": hooks["forward"],
            "hooks on add": sum(hooks.values()), "output of another call": again,
        }

    def truth(self, case):
        x1, x2 = case.tensor("x1", 4), case.tensor("x2", 4)
        return {
            "output": x1 + x2 + 5, "x1 afterwards": x1, "x2 afterwards": x2, "forward hooks on add": ANYTHING, "hooks on add": ANYTHING,
            "output of another call": case.tensor("y1", 2, 3) + case.tensor("y2", 3) + 5,
        }

    def mistakes(self, case):
        x1, x2 = case.tensor("x1", 4), case.tensor("x2", 4)
        again = self.truth(case)["output of another call"]
        return {
            "runs_only_once": {"output": x1 + x2 + 5, "output of another call": again - 5},
            "nothing_registered": {"output": x1 + x2, "x1 afterwards": x1, "x2 afterwards": x2, "hooks on add": 0},
            "hook_never_ran": {"output": x1 + x2, "x1 afterwards": x1, "x2 afterwards": x2, "forward hooks on add": 0},
            "five_to_an_input": AnyOf(
                {"x1 afterwards": x1 + 5}, {"x2 afterwards": x2 + 5}, {"output": x1 + x2 + 10, "forward hooks on add": 0}
            ),
            "rebinds_output": {"output": x1 + x2},
            "module_hook_twice": {"output": x1 + x2 + 10, "forward hooks on add": 2},
            "tuple_for_output": {"output": [x1 + x2 + 5]},
            "returns_only_five": {"output": AnyOf(5, 5.0, torch.full((4,), 5.0), torch.tensor(5.0), torch.tensor([5.0]))},
        }


class AnyForward(Check):
    """The hook adds 5 to what `forward` returned, whatever `forward` is."""

    poison = ("x1", "x2", "output")
    blame = {"output of a sum": "hook_changes_shape"}

    def probe(self, nb, case):
        with other_forward(nb.module("add"), lambda self, x1, x2: x1**2 * x2) as add:
            output = add(case.tensor("x1", 3), case.tensor("x2", 2, 3))
        with other_forward(nb.module("add"), lambda self, x1, x2: x1.sum() + x2.sum()) as add:
            return {"output": output, "output of a sum": add(case.tensor("x1", 3), case.tensor("x2", 2, 3))}

    def truth(self, case):
        x1, x2 = case.tensor("x1", 3), case.tensor("x2", 2, 3)
        return {"output": x1**2 * x2 + 5, "output of a sum": x1.sum() + x2.sum() + 5}

    def mistakes(self, case):
        x1, x2 = case.tensor("x1", 3), case.tensor("x2", 2, 3)
        return {
            "recomputes_output": {"output": x1 + x2 + 5},
            "five_to_an_input": {"output": AnyOf((x1 + 5) ** 2 * x2, x1**2 * (x2 + 5), (x1 + 5) ** 2 * (x2 + 5))},
        }


class AlwaysAndWithGradients(Check):
    """It does so in eval mode and under `no_grad` as well, and gradients still reach the inputs."""

    poison = ("x1", "x2", "output")
    blame = {
        "in eval mode": "only_in_training", "under no_grad": "only_in_training",
        "x1.grad": "cut_from_its_inputs", "an earlier output": "earlier_entries_lost",
    }

    def probe(self, nb, case):
        add = nb.module("add")
        x1, x2 = case.tensor("x1", 4, requires_grad=True), case.tensor("x2", 4)
        output = add(x1, x2)
        was_training = add.training
        add.eval()
        found = {"in eval mode": snapshot(add(x2, x2))}
        add.train(was_training)
        with torch.no_grad():
            found["under no_grad"] = snapshot(add(x2, x2 * 2))
        if output.requires_grad:
            output.backward(case.tensor("upstream", 4))
        return {**found, "an earlier output": output, "x1.grad": x1.grad}

    def truth(self, case):
        x1, x2 = case.tensor("x1", 4), case.tensor("x2", 4)
        return {
            "in eval mode": x2 + x2 + 5, "under no_grad": x2 + x2 * 2 + 5, "an earlier output": x1 + x2 + 5,
            "x1.grad": case.tensor("upstream", 4),
        }


check("add_five", FiveMore, AnyForward, AlwaysAndWithGradients)


# --- Hidden checks: graders run them, learners do not get them. ---
class OtherForwardsInAnyMode(Check):
    """The hook adds 5 to the very value that forward returned, in each call."""

    poison = ("x1", "x2", "output")

    def probe(self, nb, case):
        runs, seen, add = [], [], nb.module("add")
        was_training = add.training

        def counting(self, x1, x2):
            runs.append(1)
            return (x1 * x2).sum() * len(runs)

        x1, x2 = case.tensor("hidden x1", 3, requires_grad=True), case.tensor("hidden x2", 3)
        with add.register_forward_hook(lambda module, args, output: seen.append(output.detach().clone())), other_forward(add, counting):
            output = add(x1, x2)
            with torch.no_grad():
                add.eval()(x2, x2)
            add.train(was_training)
        if output.requires_grad:
            output.backward(case.tensor("hidden upstream"))
        return {"output": output, "a hook of others saw": seen, "x1.grad": x1.grad}

    def truth(self, case):
        x1, x2 = case.tensor("hidden x1", 3), case.tensor("hidden x2", 3)
        outputs = [(x1 * x2).sum() + 5, 2 * (x2 * x2).sum() + 5]
        return {"output": outputs[0], "a hook of others saw": outputs, "x1.grad": case.tensor("hidden upstream") * x2}

    def mistakes(self, case):
        x1, x2 = case.tensor("hidden x1", 3), case.tensor("hidden x2", 3)
        return {"recomputes_output": {"output": 2 * (x1 * x2).sum() + 5}}


check("add_five", OtherForwardsInAnyMode)
