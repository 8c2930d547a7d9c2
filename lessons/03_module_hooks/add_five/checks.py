import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Matches
from course.probing import hook_counts, other_forward

ANYTHING = Matches(lambda got: None, "anything")


def either(fields, *parts):
    """One of several partial results; the fields that a part leaves out may be anything."""
    return AnyOf(*({**dict.fromkeys(fields, ANYTHING), **part} for part in parts))


class FiveMore(Check):
    """`add(x1, x2)` returns `x1 + x2 + 5`, and leaves `x1` and `x2` as they were."""

    poison = ("x1", "x2", "output")

    def probe(self, nb, case):
        add = nb.module("add")
        x1, x2 = case.tensor("x1", 4), case.tensor("x2", 4)
        output = add(x1, x2)
        return {"output": output, "x1": x1, "x2": x2, "forward hooks on add": hook_counts(add)["forward"]}

    def truth(self, case):
        x1, x2 = case.tensor("x1", 4), case.tensor("x2", 4)
        return {"output": x1 + x2 + 5, "x1": x1, "x2": x2, "forward hooks on add": ANYTHING}

    def mistakes(self, case):
        x1, x2 = case.tensor("x1", 4), case.tensor("x2", 4)
        return {
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


check("add_five", FiveMore, FiveMoreThanAnyForward)


# --- Hidden checks: graders run them, learners do not get them. ---
class ForwardRunsOnce(Check):
    """The hook adds 5 to the very value that forward returned; forward runs once a call, not once more in the hook."""

    def probe(self, nb, case):
        runs = []

        def counting(self, x1, x2):
            runs.append(1)
            return (x1 + x2) * len(runs)

        with other_forward(nb.module("add"), counting) as add:
            return {"output": add(case.tensor("x1", 3), case.tensor("x2", 3))}

    def truth(self, case):
        return {"output": case.tensor("x1", 3) + case.tensor("x2", 3) + 5}

    def mistakes(self, case):
        x1, x2 = case.tensor("x1", 3), case.tensor("x2", 3)
        return {"recomputes_output": {"output": (x1 + x2) * 2 + 5}}


check("add_five", ForwardRunsOnce)
