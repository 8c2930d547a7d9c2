import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import AnyOf, Close, Matches
from nbproof.values.evidence import TensorRecord, snapshot
from course.probing import hook_counts, other_forward

ANY_COUNT = Matches(lambda got: None, "any number")
SOME = Matches(lambda got: None if got else "none", "some")


def holds_nan(got):
    """Whether the hook read one of the notebook's variables, which are NaN meanwhile."""
    found = [one for one in got if isinstance(one, TensorRecord) and one.tensor().isnan().any()]
    return None if found else "no NaN"


class InputsThenOutput(Check):
    """After each call, `answer` ends with `x1`, `x2` and the output."""

    poison = ("x1", "x2", "output")
    blame = {"output": "watcher_changes_output"}
    errors = {r"RecursionError": "recomputes_output"}

    def probe(self, nb, case):
        nb.list("answer").clear()
        add = nb.module("add")
        output = add(case.tensor("x1", 4), case.tensor("x2", 4))
        after_one_call = list(nb.list("answer"))
        add(case.tensor("y1", 2, 3), case.tensor("y2", 2, 3))
        return {
            "answer": after_one_call,
            "output": output,
            "hooks on add": sum(hook_counts(add).values()),
            "answer after another call": nb.list("answer"),
        }

    def truth(self, case):
        x1, x2 = case.tensor("x1", 4), case.tensor("x2", 4)
        y1, y2 = case.tensor("y1", 2, 3), case.tensor("y2", 2, 3)
        first = [x1, x2, x1 + x2]
        return {
            "answer": first,
            "output": x1 + x2,
            "hooks on add": ANY_COUNT,
            "answer after another call": [*first, y1, y2, y1 + y2],
        }

    def mistakes(self, case):
        right = self.truth(case)
        (x1, x2, output), both = right["answer"], right["answer after another call"]
        return {
            "nothing_registered": {"answer": [], "hooks on add": 0},
            "stores_nothing": {"answer": [], "hooks on add": SOME},
            "reads_globals": {"answer": Matches(holds_nan, "NaN")},
            "one_side_missing": {"answer": AnyOf([x1, x2], [output], [x1, output], [x2, output])},
            "inputs_stored_twice": {"answer": [x1, x2, x1, x2, output]},
            "keeps_the_tuple": {"answer": AnyOf([[x1, x2], output], [[x1, x2], [output]])},
            "module_hook_twice": {"answer": AnyOf([x1, x2, x1, x2, output, output], [x1, x2, output, output])},
            "runs_only_once": {"answer": [x1, x2, output], "answer after another call": [x1, x2, output]},
            "earlier_entries_lost": {"answer": [x1, x2, output], "answer after another call": both[3:]},
            "takes_elements_apart": {"answer": AnyOf([*x1, *x2, *output], [x1, x2, *output])},
            "numbers_for_tensors": {"answer": [Close(one.tolist()) for one in (x1, x2, output)]},
        }


class AnyForward(Check):
    """Inputs and output are right for other forwards too, and nothing changes them."""

    poison = ("x1", "x2", "output")
    blame = {"x1.grad": "cut_from_its_inputs"}

    def probe(self, nb, case):
        nb.list("answer").clear()
        x1, x2 = case.tensor("x1", 2, 3, requires_grad=True), case.tensor("x2", 3)
        runs = []
        with other_forward(nb.module("add"), lambda self, x1, x2: x1 * x2**2 * (runs.append(1) or len(runs))) as add:
            output = add(x1, x2)
        if output.requires_grad:
            output.backward(case.tensor("upstream", 2, 3))
        return {"answer": snapshot(nb.list("answer")), "x1.grad": x1.grad}

    def truth(self, case):
        x1, x2 = case.tensor("x1", 2, 3), case.tensor("x2", 3)
        return {"answer": [x1, x2, x1 * x2**2], "x1.grad": case.tensor("upstream", 2, 3) * x2**2}

    def mistakes(self, case):
        x1, x2 = case.tensor("x1", 2, 3), case.tensor("x2", 3)
        second = AnyOf({"answer": [x1, x2, 2 * x1 * x2**2]}, {"x1.grad": 2 * case.tensor("upstream", 2, 3) * x2**2})
        return {"formula_of_visible_forward": {"answer": [x1, x2, x1 + x2]}, "recomputes_output": second}


class EvalAndNoGrad(Check):
    """Calls in eval mode and under `no_grad` count as well."""

    def probe(self, nb, case):
        nb.list("answer").clear()
        add = nb.module("add")
        was_training = add.training
        add.eval()
        add(case.tensor("x1", 4), case.tensor("x2", 4))
        add.train(was_training)
        with torch.no_grad():
            add(case.tensor("y1", 4), case.tensor("y2", 4))
        return {"answer": nb.list("answer")}

    def truth(self, case):
        x1, x2, y1, y2 = (case.tensor(name, 4) for name in ("x1", "x2", "y1", "y2"))
        return {"answer": [x1, x2, x1 + x2, y1, y2, y1 + y2]}

    def mistakes(self, case):
        entries = self.truth(case)["answer"]
        return {"only_in_training": {"answer": AnyOf(entries[:3], entries[3:])}}


check("forward_answer", InputsThenOutput, AnyForward, EvalAndNoGrad)


# --- Hidden checks: graders run them, learners do not get them. ---
class TwoCallsOfAnotherForward(Check):
    """The hooks see two calls of another forward, one of them under `no_grad` in eval mode."""

    poison = ("x1", "x2", "output")

    def probe(self, nb, case):
        nb.list("answer").clear()
        seen, add, gain = [], nb.module("add"), case.tensor("hidden gain", 3)
        was_training = add.training
        x1, x2 = case.tensor("hidden x1", 2, 3, requires_grad=True), case.tensor("hidden x2", 3)
        handle = add.register_forward_hook(lambda module, args, output: seen.append(output.detach() * gain))
        with handle, other_forward(add, lambda self, x1, x2: x1**2 * x2 - x2):
            output = add(x1, x2)
            with torch.no_grad():
                add.eval()(x2, case.tensor("hidden y", 3))
            add.train(was_training)
        if output.requires_grad:
            output.backward(case.tensor("hidden upstream", 2, 3))
        return {"answer": nb.list("answer"), "hook of others: output * gain": seen, "x1.grad": x1.grad}

    def truth(self, case):
        x1, x2, y = case.tensor("hidden x1", 2, 3), case.tensor("hidden x2", 3), case.tensor("hidden y", 3)
        outputs = [x1**2 * x2 - x2, x2**2 * y - y]
        return {
            "answer": [x1, x2, outputs[0], x2, y, outputs[1]],
            "hook of others: output * gain": [one * case.tensor("hidden gain", 3) for one in outputs],
            "x1.grad": case.tensor("hidden upstream", 2, 3) * 2 * x1 * x2,
        }

    def mistakes(self, case):
        x1, x2, y = case.tensor("hidden x1", 2, 3), case.tensor("hidden x2", 3), case.tensor("hidden y", 3)
        return {
            "formula_of_visible_forward": {"answer": [x1, x2, x1 + x2, x2, y, x2 + y]},
            "reads_globals": {"answer": Matches(holds_nan, "NaN")},
        }


check("forward_answer", TwoCallsOfAnotherForward)
