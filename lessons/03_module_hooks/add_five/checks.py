import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from nbproof.values.evidence import snapshot
from course.probing import hook_counts, other_forward

ANYTHING = Matches(lambda got: None, "anything")


def either(fields, *parts):
    """One of several partial results; the fields that a part leaves out may be anything."""
    return AnyOf(*({**dict.fromkeys(fields, ANYTHING), **part} for part in parts))


class FiveMore(Check):
    """Each call of `add(x1, x2)` returns `x1 + x2 + 5`, in the dtype of the sum, and leaves `x1` and `x2` as they were."""

    poison = ("x1", "x2", "output")
    blame = {"output in half precision": "five_loses_digits"}
    errors = {r"RecursionError": "recomputes_output"}

    def probe(self, nb, case):
        add = nb.module("add")
        x1, x2 = case.tensor("x1", 4), case.tensor("x2", 4)
        output = add(x1, x2)
        hooks = hook_counts(add)
        y1, y2 = (case.tensor(f"another {name}", 2, 3, dtype=torch.float64) for name in ("x1", "x2"))
        return {
            "output": output, "x1": x1, "x2": x2, "forward hooks on add": hooks["forward"],
            "hooks on add": sum(hooks.values()), "output of another call": add(y1, y2),
            "output in half precision": add(x1.half(), x2.half()),
        }

    def truth(self, case):
        x1, x2 = case.tensor("x1", 4), case.tensor("x2", 4)
        y1, y2 = (case.tensor(f"another {name}", 2, 3, dtype=torch.float64) for name in ("x1", "x2"))
        return {
            "output": x1 + x2 + 5, "x1": x1, "x2": x2, "forward hooks on add": ANYTHING,
            "hooks on add": ANYTHING, "output of another call": y1 + y2 + 5,
            "output in half precision": Close(x1.half() + x2.half() + 5, 1e-2, 1e-2),
        }

    def mistakes(self, case):
        x1, x2 = case.tensor("x1", 4), case.tensor("x2", 4)
        right = self.truth(case)["output of another call"]
        return {
            "runs_only_once": {"output": x1 + x2 + 5, "output of another call": right - 5},
            "five_loses_digits": {"output": x1 + x2 + 5, "output of another call": right.float()},
            "nothing_registered": {"output": x1 + x2, "x1": x1, "x2": x2, "hooks on add": 0},
            "hook_never_ran": {"output": x1 + x2, "x1": x1, "x2": x2, "forward hooks on add": 0},
            "five_to_an_input": either(
                self.truth(case), {"x1": x1 + 5}, {"x2": x2 + 5}, {"output": x1 + x2 + 10, "forward hooks on add": 0}
            ),
            "rebinds_output": {"output": x1 + x2},
            "module_hook_twice": {"output": x1 + x2 + 10, "forward hooks on add": 2},
            "tuple_for_output": {"output": [x1 + x2 + 5]},
            "returns_only_five": {
                "output": AnyOf(5, 5.0, torch.full((4,), 5.0), torch.tensor(5.0), torch.tensor([5.0]))
            },
        }


class FiveMoreThanAnyForward(Check):
    """The hook adds 5 to what forward returned, so it is right for any forward and any shapes."""

    poison = ("x1", "x2", "output")

    def probe(self, nb, case):
        with other_forward(nb.module("add"), lambda self, x1, x2: x1**2 * x2) as add:
            return {"output": add(case.tensor("x1", 3), case.tensor("x2", 2, 3))}

    def truth(self, case):
        return {"output": case.tensor("x1", 3) ** 2 * case.tensor("x2", 2, 3) + 5}

    def mistakes(self, case):
        x1, x2 = case.tensor("x1", 3), case.tensor("x2", 2, 3)
        return {
            "recomputes_output": {"output": x1 + x2 + 5},
            "five_to_an_input": {"output": AnyOf((x1 + 5) ** 2 * x2, x1**2 * (x2 + 5), (x1 + 5) ** 2 * (x2 + 5))},
        }


class FiveMoreInAnyCase(Check):
    """Also in eval mode, for zeros, inf, single numbers, data, and where forward hands an input through; gradients flow on."""

    poison = ("x1", "x2", "output")
    errors = {
        r"RuntimeError: output with shape .* doesn't match the broadcast shape": "five_written_into",
        r"RuntimeError: Can't call numpy\(\) on Tensor that requires grad": "five_asks_for_gradient",
    }
    blame = {
        "in eval mode": "only_in_training", "under no_grad": "only_in_training", "of zeros": "value_taken_for_nothing", "of infinities": "value_taken_for_nothing",
        "of single numbers": "hook_changes_shape", "of a sum": "hook_changes_shape",
        "x1, which forward hands through": "five_written_into", "x1, of which forward hands a view through": "five_written_into", "the output of x1, handed through": "five_written_into",
        "x1.grad": "cut_from_its_inputs", "x2.grad": "cut_from_its_inputs",
        "x1.grad, where forward hands x1 through": "cut_from_its_inputs",
        "x1.grad, where forward hands a view of x1 through": "cut_from_its_inputs",
        "an earlier output": "earlier_entries_lost",
    }

    def inputs(self, case, *names, **more):
        return [case.tensor(name, 4, **more) for name in names]

    def special(self, case):
        return case.tensor("x1", 4) + torch.tensor([0.0, -torch.inf, torch.inf, 0.0])

    def probe(self, nb, case):
        add = nb.module("add")
        x1, x2, y1, y2 = self.inputs(case, "x1", "x2", "y1", "y2")
        earlier = add(x1, x2)
        found = {"of zeros": snapshot(add(x1, -x1)), "of single numbers": snapshot(add(x1[0], x2[0]))}
        was_training = add.training
        add.eval()
        found["in eval mode"] = snapshot(add(y1, y2))
        add.train(was_training)
        with torch.no_grad():
            found["under no_grad"] = add(y1, y2) * 2
        found["an earlier output"] = earlier
        with other_forward(add, lambda self, x1, x2: x1):
            found["the output of x1, handed through"] = snapshot(add(y1, y2))
        found["x1, which forward hands through"] = y1
        with other_forward(add, lambda self, x1, x2: x1.view_as(x1)):
            add(y1, y2)
        found["x1, of which forward hands a view through"] = y1
        found["of infinities"] = add(self.special(case), x2)
        for what, forward in {"x1": lambda self, x1, x2: x1, "a view of x1": lambda self, x1, x2: x1.view_as(x1)}.items():
            (leaf,) = self.inputs(case, "x1", requires_grad=True)
            with other_forward(add, forward):
                output = add(leaf * 1, x2)
            if output.requires_grad:
                output.backward(case.tensor("upstream", 4))
            found[f"x1.grad, where forward hands {what} through"] = leaf.grad
        found["of data, by numpy"] = torch.from_numpy(add(x1, x2).numpy()) * 2
        with other_forward(add, lambda self, x1, x2: x1.sum() + x2.sum()):
            found["of a sum"] = snapshot(add(x1, x2))
        leaves = self.inputs(case, "x1", "x2", requires_grad=True)
        output = add(*leaves)
        if output.requires_grad:
            output.backward(case.tensor("upstream", 4))
        return {**found, "x1.grad": leaves[0].grad, "x2.grad": leaves[1].grad}

    def truth(self, case):
        x1, x2, y1, y2 = self.inputs(case, "x1", "x2", "y1", "y2")
        upstream = case.tensor("upstream", 4)
        return {
            "of zeros": x1 - x1 + 5, "of single numbers": x1[0] + x2[0] + 5, "in eval mode": y1 + y2 + 5,
            "under no_grad": (y1 + y2 + 5) * 2,
            "an earlier output": x1 + x2 + 5, "the output of x1, handed through": y1 + 5,
            "x1, which forward hands through": y1, "x1, of which forward hands a view through": y1,
            "of data, by numpy": (x1 + x2 + 5) * 2, "of a sum": x1.sum() + x2.sum() + 5,
            "x1.grad": upstream, "x2.grad": upstream, "of infinities": self.special(case) + x2 + 5,
            "x1.grad, where forward hands x1 through": upstream,
            "x1.grad, where forward hands a view of x1 through": upstream,
        }


check("add_five", FiveMore, FiveMoreThanAnyForward, FiveMoreInAnyCase)


# --- Hidden checks: graders run them, learners do not get them. ---
class ForwardRunsOnce(Check):
    """The hook adds 5 to the very value that forward returned; forward runs once a call, not once more in the hook."""

    def probe(self, nb, case):
        runs = []

        def counting(self, x1, x2):
            runs.append(1)
            return (x1 + x2) * len(runs)

        with other_forward(nb.module("add"), counting) as add:
            return {"output": add(case.tensor("hidden x1", 3), case.tensor("hidden x2", 3))}

    def truth(self, case):
        return {"output": case.tensor("hidden x1", 3) + case.tensor("hidden x2", 3) + 5}

    def mistakes(self, case):
        x1, x2 = case.tensor("hidden x1", 3), case.tensor("hidden x2", 3)
        return {"recomputes_output": {"output": (x1 + x2) * 2 + 5}}


check("add_five", ForwardRunsOnce)
